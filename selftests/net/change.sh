#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Change, replace and removal under load: nothing stalls, and all counts are
# given back.
#
#   h1 --p1-\                  /-- r
#            sw1 --x-->--x-- sw2
#   h2 --p2-/                  \-- h3
#
# All links 20 Mbit/s, all to r without a pause: the queues towards r are over
# their thresholds and hold counts of x and p3 all the time.

# shellcheck source=selftests/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"

topology() {
	local port
	# shellcheck disable=SC2119
	two_switches
	for port in "${ports_of_two_switches[@]}"; do
		# shellcheck disable=SC2086
		bfc_port $port
	done
	peers_up
	meet 10.0.0.100 h1 h2 h3
}

# bfc_port NS PORT [OPTIONS]: with the options that it had at first
bfc_port() {
	local ns=$1 port=$2
	shift 2
	[ -n "${is_switch[$ns]-}" ] || set -- role nic queues 128 "$@"
	bfc "$ns" "$port" hrtt 4ms "$@"
}

# load: 8 flows of each sender, until stop_load
load() {
	local i
	receive r 5000 -t 1000 -i 3
	receiver=$bg
	senders=()
	for i in 1 2 3; do
		send "h$i" 10.0.0.100 5000 -F "${i}00" -f 8 -t 1000 2>/dev/null
		senders+=("$bg")
	done
	flowing "the start"
}

stop_load() {
	kill "${senders[@]}" 2>/dev/null
	finish "${senders[@]}" "$receiver"
}

arrived() {
	local text
	text=$(in_ns r cat /sys/class/net/e0/statistics/rx_packets) && echo "$text"
}
# carries PACKETS: so many arrive in a sixth of a second
carries() {
	local before
	before=$(arrived) || return
	sleep 0.166
	[ $(($(arrived) - before)) -ge "$1" ]
}

# flowing WHEN: r gets a quarter of the link's rate at least, which an emulated processor cannot
# keep up with
flowing() {
	local least=100
	simulated || least=7
	check "too little arrives after $1" wait_for 5 carries "$least"
}

# change "NS PORT,NS PORT..." OPTION...: one command each, on all ports
change() {
	local at port
	IFS=, read -r -a at <<<"$1"
	shift
	for port in "${at[@]}"; do
		check "$port: change $*" tc -n "${port% *}" -batch - < <(
			printf "qdisc change dev ${port#* } root bfc %s\n" "$@")
	done
	flowing "$*"
}

# no_counts: the load is over and nothing is left of it
no_counts() {
	stop_load
	all_idle
}

test_options_that_keep_the_neighbour() {
	local lost drops busy="sw2 r0,sw1 x"
	topology
	load
	change "$busy" "threshold 2000b" "hrtt 20ms" "resume drained" \
		"sticky 50ms" "quantum 300b" "rate 10mbit" "refresh 20ms" \
		"hold 70ms" "assign single" "avoid-paused off" "split-gso off" \
		"elide x" "accept-pause on" "assign destination" "dst-prefix 0" \
		"dst-prefix6 0" "dst-prefix 24 dst-prefix6 64" "fc none" "fc bfc"
	change "$busy" "threshold 200k" "hrtt 100us" "resume early" "sticky 0" \
		"quantum 20000b" "rate 100mbit" "refresh 1ms" "hold 30ms" \
		"assign stochastic" "elide none" "assign dynamic"
	change "$busy" "threshold auto" "hrtt 4ms" "sticky auto" \
		"quantum auto" "rate link" "refresh auto" "hold auto" \
		"assign destination" "dst-prefix 32 dst-prefix6 128" \
		"avoid-paused on" "split-gso on" \
		"accept-pause off"
	drops=$(sum_stat drops)
	equal "drops" "$drops" 0
	# Less than is held: what is too much goes at the next packet.
	change "$busy" "threshold 500k"
	sleep 1
	say "held $(stat sw2 r0 memory)"
	at_least "held before the limit shrinks" "$(stat sw2 r0 memory)" 80000
	change "$busy" "limit 64k"
	at_most "held under the new limit" "$(stat sw2 r0 memory)" $((65536 + 8192))
	at_least "drops by the new limit" "$(stat sw2 r0 drops)" 1
	change "$busy" "limit 16M" "threshold auto"
	no_counts
	# What is missing was dropped by a qdisc, not lost on the way.
	lost=$(received r 5000 .lost) drops=$(sum_stat drops)
	at_most "lost beyond what was dropped" $((lost - drops)) 0
	say "dropped $drops"
}

# Both start over with each other: but no frame may get lost meanwhile.
test_options_that_start_over() {
	local option busy="sw2 x,sw2 r0,sw1 x" gap=1500
	# An emulated machine takes longer for each command.
	simulated || gap=4000
	topology
	load
	for option in "role nic" "role switch" "peer off" "peer auto" \
		"fc none" "fc bfc"; do
		change "$busy" "$option"
	done
	peers_up
	flowing "the last option"
	no_counts
	at_most "lost beyond what was dropped" \
		$(($(received r 5000 .lost) - $(sum_stat drops))) 0
	at_most "longest gap of a flow (ms)" \
		"$(received r 5000 '[.flows[].max_gap_ms] | max | floor')" "$gap"
	say "lost $(received r 5000 .lost)"
}

# The two ends have to agree about TPID and `peer on`; frames between the two
# commands are lost.
test_tpid_and_forced_peer() {
	local option both="sw1 x,sw2 x"
	topology
	load
	for option in "tpid 8100" "tpid 88a8" "peer on" "peer auto"; do
		change "$both" "$option"
	done
	peers_up
	no_counts
}

# refused OPTIONS MESSAGE: on the dummy d0
refused() {
	local said
	# shellcheck disable=SC2086
	said=$(tc -n x qdisc change dev d0 root bfc $1 2>&1) && fail "taken: $1"
	[[ $said == *"bfc: $2."* ]] || fail "$1: said: $said"
}

# They were kept in silence: fc pfc with thop, fc bfc with xoff and xon.
test_options_of_other_modes() {
	local option mode before port="pfc, capfc-max, capfc-cal and fafc"
	new_ns x
	ip -n x link add d0 type dummy
	bfc x d0 rate 1gbit
	before=$(tc -n x -d qdisc show dev d0)
	for option in "xoff 10kb" "xon 20kb" "max 1mb" "dynamic 11%" "lossless 3" \
		"ecn 40kb" "headroom 64kb"; do
		for mode in bfc none; do
			refused "fc $mode $option" "${option% *}: used by fc $port only"
		done
	done
	for option in "kmax 400kb" "ecn 100kb kmax 400kb"; do
		for mode in bfc none fafc; do
			[[ $option == kmax* || $mode == fafc ]] || continue
			refused "fc $mode $option" \
				"kmax: used by fc pfc, capfc-max and capfc-cal with ecn only"
		done
	done
	for mode in pfc capfc-max capfc-cal; do
		refused "fc $mode kmax 400kb" \
			"kmax: used by fc pfc, capfc-max and capfc-cal with ecn only"
		refused "fc $mode ecn 100kb pmax 20%" \
			"pmax: used by fc pfc, capfc-max and capfc-cal with kmax only"
		for option in "ecn 400kb kmax 400kb" "ecn 400kb kmax 100kb"; do
			refused "fc $mode $option" "kmax must be above ecn, or off"
		done
		refused "fc $mode ecn 100kb kmax 400kb pmax 0%" \
			"pmax: 0.0001% to 100% with at most four decimals"
		refused "fc $mode ecn 100kb kmax 400kb pmax 100.0001%" \
			"pmax: 0.0001% to 100% with at most four decimals"
	done
	for option in "prio dscp" "map 1:3"; do
		for mode in bfc none; do
			refused "fc $mode $option" \
				"${option% *}: not used by fc bfc and none without a buffer or classes"
			refused "fc $mode strict 7" \
				"strict: not used by fc bfc and none without classes"
		done
	done
	for option in "egress-xoff 50kb" "egress-xon 10kb" "egress-max 1mb" "warn 20kb"; do
		for mode in bfc none pfc fafc; do
			refused "fc $mode $option" \
				"${option% *}: used by fc capfc-max and capfc-cal only"
		done
	done
	for mode in bfc none pfc fafc capfc-max; do
		refused "cut 50% fc $mode" "cut: used by fc capfc-cal only"
	done
	for option in "thop 10us" "alpha 0.5" "beta 0.5" "fdec 0.5" "congested 10kb"; do
		for mode in bfc none pfc capfc-max capfc-cal; do
			refused "fc $mode $option" "${option% *}: used by fc fafc only"
		done
	done
	# A NIC sends no pauses.
	for option in "pfc xoff 10kb" "capfc-max xon 20kb" "capfc-cal max 1mb" "pfc dynamic 11%" \
		"fafc headroom 64kb" "capfc-max egress-xoff 50kb" "capfc-cal egress-xon 10kb" \
		"capfc-max egress-max 1mb" "capfc-cal warn 20kb" "capfc-cal cut 50%" \
		"fafc alpha 0.5" "fafc beta 0.5" "fafc fdec 0.5" "fafc congested 10kb"; do
		mode=${option#* }
		refused "role nic fc $option" "${mode% *}: not used by role nic, which sends no pauses"
	done
	refused "role nic resume drained" "resume: not used by role nic, which sends no pauses"
	for mode in none pfc capfc-max capfc-cal fafc; do
		refused "fc $mode resume drained" "resume: used by fc bfc only"
		refused "fc $mode tpid 8100" "tpid: used by fc bfc only"
	done
	for mode in none pfc capfc-max capfc-cal; do
		refused "fc $mode threshold 20kb" "threshold: used by fc bfc and fafc only"
		refused "fc $mode accept-pause on" \
			"accept-pause: used by fc bfc and fafc only"
	done
	for option in "dst-prefix 24" "dst-prefix6 64"; do
		for mode in "fc "{none,pfc,capfc-max,capfc-cal,fafc} \
			"assign "{dynamic,stochastic,single}; do
			refused "$mode $option" \
				"${option% *}: used by fc bfc with assign destination or root only"
		done
	done
	refused "dst-prefix 33" "dst-prefix: 0 to 32"
	refused "dst-prefix6 129" "dst-prefix6: 0 to 128"
	for option in "reserve 1kb" "share 50%"; do
		for mode in bfc none pfc capfc-max fafc; do
			refused "fc $mode $option" "${option% *}: used with a buffer only"
		done
	done
	refused "fc fafc sync 1ms" "sync: not used by fc fafc"
	refused "fc none elide lo" "elide: not used by fc none without a buffer"
	for option in "refresh 2ms" "hold 60ms" "watchdog 90ms"; do
		refused "fc none $option" "${option% *}: not used by fc none"
	done
	for option in "peer on" "peer off"; do
		refused "fc none $option" "${option% *}: not used by fc none"
	done
	for option in "fc none" "fc bfc hrtt 1ms" "fc pfc hrtt 1ms"; do
		refused "$option hrtt-max 3ms" \
			"hrtt-max: not used by fc none, nor beside a fixed hrtt"
	done
	for mode in pfc capfc-max capfc-cal; do
		refused "fc $mode peer on" "peer: on is used by fc bfc and fafc only"
	done
	for mode in none pfc capfc-max capfc-cal fafc; do
		refused "fc $mode assign root" "assign: root is used by fc bfc only"
	done
	for mode in bfc none; do
		refused "fc $mode sched srf new-first off" "new-first: not used by sched srf"
	done
	# The present mode counts, if none is given; nothing was changed so far.
	refused "queues 32 thop 10us" "thop: used by fc fafc only"
	equal "options" "$(tc -n x -d qdisc show dev d0)" "$before"
}

# shown DEV [-d]: the options that tc shows, as it shows them
shown() { tc -n x ${2:+"$2"} qdisc show dev "$1" | sed 's/.*refcnt [0-9]* //'; }

# gives_up "OPTION..." CHANGE...: which are told in the kernel's log, and that there is
# such in tc's warning
gives_up() {
	local options=$1 said log
	shift
	dmesg -C
	said=$(tc -n x qdisc change dev d0 root bfc "$@" 2>&1) || fail "$*: refused: $said"
	log=$(dmesg | sed -n 's/.* d0: bfc: \([a-z0-9-]*\): .*: it has its default again$/\1/p')
	equal "$*: given up" "${log//$'\n'/ }" "$options"
	[ -z "$options" ] || [[ $said == *"have their defaults again"* ]] ||
		fail "$*: said: $said"
	[ -n "$options" ] || [ -z "$said" ] || fail "$*: said: $said"
	# What tc shows is all there is: with it another port has the same.
	# shellcheck disable=SC2046
	bfc x d1 $(shown d0)
	equal "$*: options of another port" "$(shown d1 -d)" "$(shown d0 -d)"
	tc -n x qdisc del dev d1 root
}

# What a mode does not use has its default there, and afterwards.
test_options_are_given_up() {
	local said
	new_ns x
	ip -n x link add d0 type dummy
	ip -n x link add d1 type dummy
	bfc x d0 rate 1gbit threshold 20kb resume drained elide d1 hold 60ms dst-prefix 24
	gives_up "" hrtt 1ms
	gives_up dst-prefix assign dynamic
	gives_up "" dst-prefix 32 accept-pause on
	gives_up "threshold resume accept-pause" fc pfc
	equal "fc pfc" "$(shown d0)" "fc pfc assign dynamic hrtt 1ms rate 1Gbit hold 60ms elide d1 "
	gives_up "hold elide" fc none
	gives_up "" fc fafc hold 60ms threshold 30kb thop 20us prio dscp map 46:5 ecn 40kb
	# Nothing is given up for what is refused.
	dmesg -C
	refused "fc capfc-max egress-xon 10kb warn 30kb egress-xoff 20kb" \
		"egress-xoff must be above warn"
	refused "fc capfc-max egress-xon 10kb rate 20mbit" \
		"egress-xoff must be above egress-xon; auto is what the rate needs"
	equal "told" "$(dmesg | grep -c 'default again')" 0
	equal "fc fafc" "$(shown d0)" "fc fafc assign dynamic hrtt 1ms threshold 30Kb rate 1Gbit \
hold 60ms prio dscp map 46:5 thop 20us ecn 40Kb "
	gives_up "" threshold auto
	gives_up "thop" fc capfc-cal cut 50%
	gives_up "prio map cut ecn" fc bfc
	# With a buffer there are priorities in all modes, and shares of it.
	gives_up "" buffer b prio skb map 3:4 reserve 1kb share 50%
	gives_up "hold" fc none
	gives_up "prio map reserve share" buffer none
	equal "fc none" "$(shown d0)" "fc none assign dynamic hrtt 1ms rate 1Gbit "
	gives_up "" sched srf assign similar
	gives_up "assign sched" fc pfc
	gives_up "" fc bfc sched srf assign similar
	gives_up "assign" fc pfc sched drr
	equal "fc pfc" "$(shown d0)" "fc pfc hrtt 1ms rate 1Gbit "
	gives_up "" xoff 2mb headroom 1mb lossless 3
	gives_up "xoff headroom" role nic
	gives_up "" ecn 100kb kmax 400kb pmax 20%
	dmesg -C
	refused "ecn 400kb" "kmax must be above ecn, or off"
	equal "told" "$(dmesg | grep -c 'default again')" 0
	gives_up pmax kmax off
	gives_up "" kmax 400kb pmax 1%
	gives_up "kmax pmax" ecn off
	gives_up "" ecn 100kb kmax 400kb
	gives_up "kmax" fc fafc
	gives_up "" fc pfc ecn off
	gives_up "lossless" role switch fc none assign dynamic
	gives_up "" fc bfc resume drained threshold 20kb hrtt auto hrtt-max 3ms
	gives_up "hrtt-max" hrtt 1ms
	gives_up "resume" role nic
	equal "fc bfc of a host" "$(shown d0)" \
		"role nic assign dynamic hrtt 1ms threshold 20Kb rate 1Gbit "
	gives_up "threshold" role switch fc none
	# What is given its default together with the mode is not worth a word.
	gives_up "" fc bfc threshold 20kb resume drained
	gives_up "resume" fc none threshold auto
	gives_up "" fc bfc peer on assign root new-first off hrtt auto hrtt-max 3ms
	gives_up assign fc fafc
	gives_up peer fc pfc
	gives_up "" peer off
	gives_up "peer hrtt-max" fc none
	gives_up new-first sched srf
	equal "fc none" "$(shown d0)" "fc none rate 1Gbit sched srf "
	# The default may be given, whatever the mode.
	# shellcheck disable=SC2046
	bfc x d0 $(shown d0 -d)
}

# user_changes TIMES FC...: root of a user namespace gives a bfc each of these modes, so often
user_changes() {
	local times=$1 i
	shift
	{
		echo "qdisc add dev d0 root bfc rate 1gbit"
		for ((i = 0; i < times; i++)); do
			printf 'qdisc change dev d0 root bfc fc %s\n' "$@"
		done
	} | unshare --user --map-root-user --net sh -c \
		'ip link add d0 type dummy && tc -batch - 2>/dev/null' || fail "tc"
}

# Any user may be root of a user namespace, and then cannot fill the log.
test_log_of_a_user_namespace() {
	local begun lines
	[ -e /proc/self/ns/user ] || { skip="no user namespaces in this kernel"; return; }
	dmesg -C
	begun=$SECONDS
	user_changes 300 "bfc resume drained" none
	lines=$(dmesg | grep -c 'd0: bfc: resume: .*: it has its default again$')
	at_least "lines in the log" "$lines" 1
	at_most "lines in the log" "$lines" $((10 * (2 + (SECONDS - begun) / 5)))
}

# Nor can that user have all processors patch the kernel's code for what only its ports use: the
# code stays switched on for a second.
test_keys_of_a_user_namespace() {
	local tracing=/sys/kernel/tracing patches=arch_jump_label_transform_apply begun times
	local buffer=$tracing/instances/bfc-$$
	[ -e /proc/self/ns/user ] || { skip="no user namespaces in this kernel"; return; }
	[ -e $tracing/available_tracers ] || mount -t tracefs tracefs $tracing 2>/dev/null
	grep -qsw function $tracing/available_tracers || {
		skip="this kernel cannot trace functions"
		return
	}
	mkdir "$buffer"
	echo $patches >"$buffer/set_ftrace_filter" || fail "no $patches"
	echo function >"$buffer/current_tracer"
	begun=$SECONDS
	user_changes 50 pfc bfc
	begun=$((SECONDS - begun))
	times=$(grep -c $patches "$buffer/trace")
	echo nop >"$buffer/current_tracer"
	rmdir "$buffer"
	at_least "patches of the kernel's code" "$times" 1
	# On and off once a second, and what else there is.
	at_most "patches of the kernel's code in $begun s" "$times" $((2 * begun + 12))
}

# What a user may have of the kernel's memory is what its cgroup may have.
test_memory_of_a_cgroup() {
	local group=/sys/fs/cgroup/bfc-test dev before after
	grep -qsw memory /sys/fs/cgroup/cgroup.controllers || {
		skip="no memory controller in this kernel"
		return
	}
	echo +memory >/sys/fs/cgroup/cgroup.subtree_control
	mkdir $group
	new_ns x
	dummies x 2
	in_cgroup tc -n x qdisc show
	before=$(kernel_memory)
	# A port, and the handles of its namespace
	in_cgroup tc -n x qdisc add dev d1 root bfc rate 1gbit flows 16
	after=$(kernel_memory)
	say "handles and a port $((after - before))"
	at_least "bytes of handles and a port" $((after - before)) 16384
	# 16 bytes for each flow
	in_cgroup tc -n x qdisc add dev d2 root bfc rate 1gbit flows 1048576
	say "flows $(($(kernel_memory) - after))"
	at_least "bytes of flows" $(($(kernel_memory) - after)) $((16 << 20))
	for dev in d1 d2; do
		tc -n x qdisc del dev $dev root
	done
	# The handles are there until the port has gone, and pages of slabs may be.
	check "not given back" wait_for 20 memory_at_most $((before + 262144))
	check "the cgroup is in use" rmdir $group
	echo -memory >/sys/fs/cgroup/cgroup.subtree_control
}
# in_cgroup COMMAND...
in_cgroup() {
	# shellcheck disable=SC2016
	check "$*" sh -c 'echo $$ >"$0/cgroup.procs" && exec "$@"' "$group" "$@" >/dev/null
}
# memory.stat is brought up to date every two seconds
kernel_memory() {
	sleep 3
	sed -n 's/^kernel //p' "$group/memory.stat"
}
memory_at_most() { [ "$(kernel_memory)" -le "$1" ]; }

test_replace() {
	local handle queues
	topology
	load
	for queues in 8 64 1 1024 32; do
		handle=$((queues + 100)):
		for port in "sw2 r0" "sw2 x" "sw1 x"; do
			# shellcheck disable=SC2086
			set -- $port
			check "replace by $queues queues" tc -n "$1" qdisc \
				replace dev "$2" root handle $handle bfc \
				hrtt 4ms queues $queues
		done
		flowing "replace by $queues queues"
	done
	peers_up
	# Old counters, which no statistic shows, may still be held here.
	no_counts
}

test_other_qdisc_and_back() {
	local i
	topology
	load
	for i in 1 2; do
		for port in "sw2 r0" "sw1 x"; do
			# shellcheck disable=SC2086
			set -- $port
			check "pfifo" tc -n "$1" qdisc replace dev "$2" root \
				pfifo limit 50
		done
		flowing "pfifo"
		bfc_port sw2 r0
		bfc_port sw1 x
		flowing "back to bfc"
		tc -n sw2 qdisc del dev x root
		flowing "deletion"
		bfc_port sw2 x queues 16
		flowing "another one"
	done
	peers_up
	no_counts
}

# Packets of x wait in the queue of r0 and hold its counts.
test_wire_goes() {
	topology
	load
	at_least "counts of x" "$(stat sw2 x upstream_paused)" 1
	# What h1 and h2 send goes nowhere then.
	bridge -n sw1 link set dev p1 flood off
	bridge -n sw1 link set dev p2 flood off
	ip -n sw1 link del x
	flowing "deletion of x"
	all_idle_but_load
	ip -n sw2 link del r0
	sleep 1
	no_counts
}

# all_idle_but_load: the switch whose only inputs are gone
all_idle_but_load() {
	check "sw1 still counts" wait_for 5 sw1_empty
}
sw1_empty() {
	[ "$(snapshot 'map(select(.ns == "sw1") | .backlog + .counters + .upstream_paused) |
		add // 1')" = 0 ]
}

test_namespace_goes() {
	topology
	load
	del_ns sw1
	flowing "deletion of sw1"
	no_counts
	namespaces=(sw2 h1 h2 h3 r)
}

# A device that moves is a new one; its old counts are still held by r0.
test_port_moves() {
	topology
	load
	new_ns elsewhere
	ip -n sw2 link set p3 netns elsewhere
	flowing "move of p3"
	ip -n elsewhere link set p3 up
	bfc elsewhere p3 hrtt 4ms
	ip -n sw2 link set x netns elsewhere
	ip -n elsewhere -batch - <<-END
		link add br0 type bridge mcast_snooping 0
		link set br0 up
		link set x master br0
		link set p3 master br0
		link set x up
	END
	bfc elsewhere x hrtt 4ms
	peers_up
	# Back, so that there is a way to r.
	ip -n elsewhere link set x netns sw2
	ip -n sw2 link set x master br0
	ip -n sw2 link set x up
	bfc_port sw2 x
	peers_up
	flowing "the return of x"
	no_counts
}

# Unloading takes the hooks of ports that have no qdisc any more, but frames
# all the time.
test_module_goes() {
	local port
	topology
	load
	for port in "${ports_of_two_switches[@]}"; do
		# shellcheck disable=SC2086
		set -- $port
		tc -n "$1" qdisc del dev "$2" root
	done
	check "the module does not go" wait_for 10 modprobe -r sch_bfc
	flowing "unloading"
	check "the module does not come" modprobe sch_bfc
	for port in "${ports_of_two_switches[@]}"; do
		# shellcheck disable=SC2086
		bfc_port $port
	done
	peers_up
	flowing "loading"
	no_counts
	# The namespaces of the switches go under load, and the hosts' ports with
	# the wires; and at once the module.
	load
	del_ns sw1
	del_ns sw2
	check "the module does not go after its namespaces" \
		wait_for 15 modprobe -r sch_bfc
	modprobe sch_bfc
}

# "tc monitor" hears of it: the kernel puts both qdiscs into one message, and if that is
# too long there is none.
test_replace_is_told() {
	local port elide i heard
	switch sw
	printf 'link add d%d type dummy\n' {1..64} | ip -n sw -batch -
	elide=$(printf ',d%d' {1..64})
	ip -n sw link add d0 type dummy
	ip -n sw link set d0 up
	background tc -n sw monitor >"$scratch/monitor"
	sleep 0.5
	for port in "fc pfc" "fc fafc buffer b" "fc bfc elide ${elide#,}"; do
		: >"$scratch/monitor"
		for i in 1 2; do
			# shellcheck disable=SC2086
			tc -n sw qdisc replace dev d0 root handle $i: bfc \
				rate 1gbit queues $((32 * i)) $port || fail "refused"
		done
		for heard in 'deleted qdisc bfc 1:' 'qdisc bfc 2:'; do
			check "$port: not told: $heard" wait_for 3 \
				grep -qF "$heard" "$scratch/monitor"
		done
		tc -n sw qdisc del dev d0 root
	done
}

run_tests options_that_keep_the_neighbour options_that_start_over \
	tpid_and_forced_peer options_of_other_modes options_are_given_up log_of_a_user_namespace \
	keys_of_a_user_namespace memory_of_a_cgroup replace other_qdisc_and_back wire_goes \
	namespace_goes port_moves module_goes replace_is_told
