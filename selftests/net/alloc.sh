#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# No memory: tc is refused and nothing is left behind, or it works; and traffic
# goes on when control frames cannot be allocated, and with a device that had no guard for a while.
#
#   h1 --\
#         sw --r0-- r
#   h2 --/
#
# Needs a kernel with fault injection (scripts/sim, scripts/vm --kernel debug).

# shellcheck source=selftests/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"

knobs=/sys/kernel/debug/failslab
[ -d $knobs ] || skip_all "no failslab in this kernel (CONFIG_FAILSLAB)"

topology() {
	switch sw
	host h1 10.0.0.1/24
	host h2 10.0.0.2/24
	host r 10.0.0.100/24
	cable sw p1 h1 e0
	cable sw p2 h2 e0
	cable sw r0 r e0
	meet 10.0.0.100 h1 h2
}

# no_memory LEAST [--percpu] [BEFORE...] REQUEST: at least so many allocations can have the request
# refused beyond those of a pfifo, which are the kernel's own: 8 in 6.1, 5 in 6.12
no_memory() {
	local least=$1 request=${*: -1}
	shift
	fails "$@"
	at_least "$request: for want of all from one on" "$((all - own[${request%% *}]))" "$least"
}
declare -A own		# of a pfifo's, by verb

# fails [--percpu] [BEFORE...] REQUEST: what nomem.py found, in x: $refused for want of one
# allocation, $all for want of all from one on. Not by "ip netns exec", which hides debugfs
fails() {
	local result one later
	result=$(nsenter --net=/run/netns/x "$top/selftests/tools/nomem.py" "$@" 2>&1)
	say "${*: -1}: $result"
	refused=0 all=0
	if ! [[ $result =~ ^[0-9]+\ [0-9]+\ [0-9]+\ [0-9]+$ ]]; then
		fail "${*: -1}: $result"
		return
	fi
	read -r refused one all later <<<"$result"
	at_least "${*: -1}: refused for want of one allocation" "$refused" 1
	equal "${*: -1}: worked at last" "$((one > 0)) $((later > 0))" "1 1"
}

# d0 has 4 TX queues, d2 is a port that shares buffers with others
devices() {
	new_ns x
	ip -n x -batch - <<-END
		link add d0 numtxqueues 4 type dummy
		link add d1 type dummy
		link add d2 type dummy
		link add br0 type bridge
	END
	bfc x d2 rate 1gbit fc pfc buffer b size 2mb
	fails "add dev d1 root handle 1: pfifo limit 9"
	own[add]=$all own[replace]=$all
	fails "add dev d1 root handle 1: pfifo limit 9" "change dev d1 root handle 1: pfifo limit 8"
	own[change]=$all
	ip netns exec x tc qdisc del dev d1 root
}
size_again="change dev d2 root bfc size 2mb"

# bfc_on DEV OPTIONS [VERB [HANDLE]]
bfc_on() { echo "${3-add} dev $1 root handle ${4-1}: bfc rate 1gbit $2"; }

# failslab KNOB=VALUE...; writing may itself be what fails
failslab() {
	local knob
	for knob; do
		check "failslab $knob" wait_for 5 \
			write_knob "${knob%%=*}" "${knob#*=}"
	done
}
write_knob() { echo "$2" >"$knobs/$1"; }

# A root where there was none, and in the place of another one; with and without a port
test_new() {
	devices
	no_memory 9 "$(bfc_on d1 "")"
	no_memory 9 "$(bfc_on br0 "fc none")"
	no_memory 9 "$(bfc_on d1 "stamp pinned /shim/prog")"
	no_memory 8 "$(bfc_on d1 "queues 32")" "$(bfc_on d1 "queues 64" replace 2)"
	no_memory 7 "$(bfc_on d1 "")" "$(bfc_on d1 "flows 4096" replace 2)"
	no_memory 11 "$size_again" "$(bfc_on d1 "fc capfc-max")" \
		"$(bfc_on d1 "fc fafc buffer b size 4mb" replace 2)"
}

# alloc_percpu() has pages set aside, and fails where these are used up: of the port itself
test_percpu() {
	local refused before
	devices
	no_memory 9 "$(bfc_on d1 "")"
	before=$refused
	no_memory 9 --percpu "$(bfc_on d1 "")"
	# Where kmemleak and KASAN allocate as well, now and then, the numbers do not tell.
	[ -e /sys/kernel/debug/kmemleak ] ||
		at_least "refused for want of per-CPU data, too" "$refused" $((before + 1))
}

# A change of one that is there
test_change() {
	local least options
	devices
	while read -r least options; do
		no_memory "$least" "$size_again" "$(bfc_on d1 "buffer b")" \
			"$(bfc_on d1 "$options" change)"
	done <<-END
		3 fc pfc buffer b size 4mb
		5 fc fafc buffer b size 4mb
		4 fc capfc-max
		6 fc capfc-cal buffer c size 4mb
		3 assign root
		3 sched srf
		4 classes 4
		5 classes 4 assign root
		2 elide d0,d2
		2 stamp pinned /shim/prog
	END
}

# A scheduler for each TX queue
test_tx_queues() {
	devices
	no_memory 31 "$(bfc_on d0 "")"
	no_memory 31 "$(bfc_on d0 "")" "$(bfc_on d0 "queues 64" replace 2)"
	no_memory 31 "$(bfc_on d0 "txqs one")" "$(bfc_on d0 "" replace 2)"
	no_memory 31 "$(bfc_on d0 "stamp pinned /shim/prog")"
	no_memory 6 "$(bfc_on d0 "")" "$(bfc_on d0 "assign root" change)"
	no_memory 4 "$size_again" "$(bfc_on d0 "")" \
		"$(bfc_on d0 "fc pfc buffer b size 4mb" change)"
}

# A device that comes when there is no memory for its guard: for a second what comes in there, and
# is routed from its bridge, may say that it came through another port of that.
test_guard() {
	local i counted
	exact_clock || return
	switch sw
	host h1 10.0.0.1/24
	host r 10.0.9.2/24
	cable sw p1 h1 e0
	cable sw r0 r e0 rate 5mbit delay 100us ring 8
	subnet_of_r r0
	for i in "sw p1" "sw r0" "h1 e0 role nic" "r e0 role nic"; do
		# shellcheck disable=SC2086
		bfc $i hrtt 4ms
	done
	peers_up
	new_ns c
	check "no device without a guard" nsenter --net=/run/netns/sw \
		"$top/selftests/tools/nomem.py" --unguarded c0 c ce
	ip -n sw link set c0 master br0 up
	ip -n c -batch - <<-END
		addr add 10.0.0.66/24 dev ce
		link set ce up
		route add default via 10.0.0.254
	END
	meet 10.0.9.2 c
	forge c ce
	forged
	counted=$(stat sw r0 counted)
	at_least "counted without a guard" "$counted" 10
	sleep 1
	forged
	equal "counted with one" "$(stat sw r0 counted)" "$counted"
	all_idle
}
# forged: packets of c that name each handle, more than r0 sends at once
forged() {
	send c 10.0.9.2 5000 -f 512 -n 4 -s 200
	finish "$bg"
}

# One in ten atomic allocations of a softirq fails: frames, pause counters.
test_traffic_without_memory() {
	local i receiver
	topology
	for i in p1 p2 r0; do
		bfc sw $i hrtt 4ms
	done
	for i in h1 h2; do
		bfc $i e0 role nic queues 128 hrtt 4ms
	done
	failslab interval=1 times=-1 space=0 task-filter=N ignore-gfp-wait=Y \
		verbose=0 probability=10
	receive r 5000 -t 60 -i 10
	all_send 300 h1 h2
	failslab probability=0
	at_least "packets received" "$(received r 5000 .packets)" 100
	# All is well again.
	receive r 5001 -t 30 -i 3
	receiver=$bg
	send h1 10.0.0.100 5001 -n 200
	finish "$bg" "$receiver"
	equal "packets received" "$(received r 5001 .packets)" 200
	all_idle
}

run_tests new percpu change tx_queues guard traffic_without_memory
