#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Rounds of random acts on ports under traffic: options, qdiscs, links, namespaces, devices, control
# frames that are lost or late, hosts, containers and switches that send what they should not, the
# module. After some rounds all is put in order but
# for the modes of the ports, the load ends, and then traffic gets through, nothing is queued,
# counted or paused any more, and the kernel has nothing to complain of; at times also no handle
# is missing, and the module goes.
#
#   h1 e0 --- p1 \				     / p3 --- box --- e0 h3
#		  sw1 (br0) x === x sw2 (br0)
#   v  e0 ~~~ p2 /				     \ r0 --- e0 r	slow
#
# === has 4 TX queues at each end, ~~~ is a veth with 2. h1 and r have VLAN 10 as well. The box
# passes on what comes, some of it later than the rest.
#
#   CHURN_ROUNDS: how many, 40; CHURN_SEED: which, 1
#   CHURN_SECONDS: as many rounds as so long takes, instead of CHURN_ROUNDS
#   CHURN_MBIT: what links carry, 50 Mbit/s; fewer where the processor is slow
#   CHURN_BOUND: seconds until traffic gets through, 10
#   CHURN_FROM: the round to begin with, 1. A round's act follows from seed and round, and
#	the ports as they are. Each act is told in the kernel's log, too: what is before a
#	complaint there has caused it. In the simulator a run can be repeated as a whole.

# shellcheck source=selftests/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"

tc_stays=		# it would keep namespaces, which go at any time
rounds=${CHURN_ROUNDS:-40}
seconds=${CHURN_SECONDS:-}
seed=${CHURN_SEED:-1}
from=${CHURN_FROM:-1}
mbit=${CHURN_MBIT:-50}
every=20		# rounds between checks
rarely=5		# checks between those of handles and of the module
enough=1000		# rounds, from which on each act and each option must have been taken
bound=${CHURN_BOUND:-10}

hosts=(h1 v h3 r)
declare -A address_of=([h1]=10.0.0.1 [v]=10.0.0.2 [h3]=10.0.0.3 [r]=10.0.0.100)
declare -A vlan_of=([h1]=10.1.0.1/24 [r]=10.1.0.100/24)
nodes=(sw1 sw2 box "${hosts[@]}")
cables=("sw1 p1 h1 e0" "sw1 p2 v e0" "sw1 x sw2 x" "sw2 p3 box b1" "box b2 h3 e0" "sw2 r0 r e0")
ports=("sw1 p1" "h1 e0" "sw1 p2" "v e0" "sw1 x" "sw2 x" "sw2 p3" "h3 e0" "sw2 r0" "r e0")
modes=("fc bfc" "fc bfc assign root" "fc bfc sched srf txqs one" "fc none" "fc pfc"
	"fc pfc prio dscp buffer b" "fc capfc-max" "fc capfc-cal" "fc fafc" "fc bfc role nic"
	"fc pfc role nic" "fc fafc role nic" "fc bfc classes 4 txqs one" "fc bfc hrtt 4ms")
others=("pfifo_fast" "fq_codel" "mq" "pfifo limit 50" "sfq" "fq" "cake" "prio"
	"tbf rate 5mbit burst 5k limit 30k" "noqueue")

# ---- chance ----

# one_of WORD...: in $picked. Not from a subshell, which has chances of its own
one_of() { picked=${*:RANDOM % $# + 1:1}; }
port_by_chance() {
	one_of "${ports[@]}"
	port=$picked ns=${picked% *} dev=${picked#* }
}
happens() { [ $((RANDOM % 100)) -lt "$1" ]; }	# PER-CENT
# rest: up to 50 ms
rest() { sleep "0.0$((RANDOM % 5))$((RANDOM % 10))"; }

# ---- the network ----

# of_port PORT: options that it has besides those of a mode
of_port() {
	case $1 in
	"sw1 p2" | "v e0") echo "rate ${mbit}mbit" ;;	# a veth is as fast as the processor
	*) echo "rate link" ;;
	esac
}

has_bonds() { ip link add churn type bond 2>/dev/null && ip link del churn; }

# ready NAME: a namespace, with what is in it but for the cables
ready() {
	case $1 in
	sw*) switch "$1" ;;
	box)
		host box
		without_ipv6 box
		cable box soon box soon2 rate "${mbit}mbit" delay 2ms
		cable box late box late2 rate "${mbit}mbit" delay 4ms
		;;
	*) host "$1" "${address_of[$1]}/24" ;;
	esac
}

# The box adds nothing to what it passes on.
box_in_order() {
	local from
	for from in b1 b2; do
		echo "qdisc del dev $from clsact"
		echo "qdisc add dev $from clsact"
		passes_on "$from" "b$((3 - ${from#b}))" 2 all
		ip -n box link set dev "$from" type wire rate 100gbit delay 0
	done | tc -n box -force -batch - 2>/dev/null
}
# passes_on FROM TO PREFERENCE PROTOCOL
passes_on() {
	echo "filter add dev $1 ingress pref $3 protocol $4 matchall" \
		"action mirred egress redirect dev $2"
}

# wired SWITCH PORT NS DEV
wired() {
	local rate=${mbit}mbit
	case "$1 $2" in
	"sw1 p2")
		ip link add name "$2" netns "$1" numtxqueues 2 numrxqueues 2 type veth \
			peer name "$4" netns "$3" numtxqueues 2 numrxqueues 2
		plug "$1" "$2"
		plug "$3" "$4"
		;;
	"sw1 x") tx_queues=4 cable "$@" rate "$rate" delay 100us ring 8 ;;
	*)
		[ "$2" != r0 ] || rate=$((mbit * 400))kbit
		cable "$@" rate "$rate" delay 100us ring 8
		;;
	esac
	if [ -n "${vlan_of[$3]-}" ]; then
		ip -n "$3" -batch - <<-END
			link add link e0 name e0.10 type vlan id 10
			addr add ${vlan_of[$3]} dev e0.10
			link set e0.10 up
		END
	fi
}

# In order again: namespaces, devices, links; not the qdiscs.
declare -A away=() ethtooled=() bonded=() contained=()
in_order() {
	local name cable at port now
	for name in "${nodes[@]}"; do
		[ -e "/run/netns/$name" ] || ready "$name"
	done
	for name in "${!contained[@]}"; do
		ip -n "$name" link del c0 2>/dev/null
	done
	for port in "${!away[@]}"; do
		ip -n elsewhere link set "${port#* }" netns "${port% *}" 2>/dev/null
	done
	for name in "${!bonded[@]}"; do
		ip -n "$name" link del bond0 2>/dev/null
	done
	now=$(for name in "${nodes[@]}"; do
		ip -n "$name" -br link show | sed "s/^\([^@ ]*\).*/|$name \1|/"
	done)
	for cable in "${cables[@]}"; do
		read -ra at <<<"$cable"
		[[ $now != *"|${at[*]:0:2}|"* || $now != *"|${at[*]:2}|"* ]] || continue
		ip -n "${at[0]}" link del "${at[1]}" 2>/dev/null
		ip -n "${at[2]}" link del "${at[3]}" 2>/dev/null
		ip -n elsewhere link del "${at[1]}" 2>/dev/null
		ip -n elsewhere link del "${at[3]}" 2>/dev/null
		wait_for 5 wired "${at[@]}" || fail "no cable ${at[*]}"
	done
	for name in sw1 sw2 "${hosts[@]}"; do
		for port in "${ports[@]}"; do
			[ "${port% *}" != "$name" ] || links_of "$name" "${port#* }"
		done | ip -n "$name" -force -batch - 2>/dev/null
	done
	for port in "${!ethtooled[@]}"; do
		eval "${ethtooled[$port]}" >/dev/null 2>&1
	done
	box_in_order
	away=() ethtooled=() bonded=() contained=() disorder=''
}

# links_of NS DEV: as it should be
links_of() {
	echo "link set $2 mtu 1500"
	[[ $1 != sw* ]] || echo "link set $2 master br0"
	echo "link set $2 up"
	[[ $1 == sw* ]] || {
		echo "addr replace ${address_of[$1]}/24 dev $2"
		echo "link set $2.10 mtu 1500 up"
		echo "neigh flush all"
	}
	[[ "$1 $2" == "sw1 p2" || $1 == v ]] || echo "link set $2 type wire drop none"
}

# ---- load ----

# keep NS COMMAND...: there, begun again when it ends and when the namespace comes
keep() {
	while :; do
		ip netns exec "$@" >/dev/null 2>&1
		sleep 0.05
	done 2>/dev/null &
	pids+=("$!")
}

begin_load() {
	local name
	for name in "${hosts[@]}"; do
		keep "$name" tcpask serve -p 80
	done
	keep h1 udpflow send -d 10.0.0.100 -p 9 -f 8 -t 1000 -b 30000
	keep v udpflow send -d 10.0.0.100 -p 9 -f 8 -F 100 -t 1000 -b 30000 -T 96 \
		-r $((mbit * 2000000))
	keep r udpflow send -d 10.0.0.1 -p 9 -f 4 -t 1000 -b 30000 -r $((mbit * 300000))
	keep h1 udpflow send -d 10.1.0.100 -p 9 -f 4 -t 1000 -b 30000 -r $((mbit * 100000))
	# To connect may take two minutes.
	keep h3 timeout 3 tcpask ask -d 10.0.0.100 -p 80 -t 2 -s 300000 -c 2
	keep r timeout 3 tcpask ask -d 10.0.0.1 -p 80 -t 2 -s 300000 -c 2
	keep h1 timeout 3 tcpask ask -d 10.0.0.2 -p 80 -t 2 -s 3000 -c 2
	keep h3 ping -q -b -i 0.05 -w 5 10.0.0.255
}

stop_load() {
	local name
	end_background
	for name in "${hosts[@]}"; do
		kill_all_in "$name"
	done
}

# flowing: what has come to r so far, of UDP, TCP and VLAN
flowing() {
	# shellcheck disable=SC2016	# variables of awk
	in_ns r awk '
		FNR == 1 && FILENAME ~ /rx_packets$/ { vlan = $1 }
		$1 == "Udp:" { udp = $3 }
		$1 == "Tcp:" { tcp = $11 }
		END { print udp "\n" tcp "\n" vlan }' \
		/proc/net/snmp /sys/class/net/e0.10/statistics/rx_packets
}

declare -A came=([UDP]=0 [TCP]=0 [VLAN]=0) had=([UDP]=0 [TCP]=0 [VLAN]=0)

# count_traffic: what came since the last time; also before r goes, which takes its counters along
count_traffic() {
	local kind now
	mapfile -t now < <(flowing)
	for kind in UDP TCP VLAN; do
		# Another r counts from zero.
		[ "${now[0]:-0}" -ge "${had[$kind]}" ] || had[$kind]=0
		came[$kind]=$((came[$kind] + ${now[0]:-0} - had[$kind]))
		had[$kind]=${now[0]:-0}
		now=("${now[@]:1}")
	done
}
sum_pauses() { snapshot 'map(.paused + ([.prios[]? | select(.paused)] | length)) | add // 0'; }

# ---- acts ----

# Each is said before it is done. A refusal is no failure: what an act meets depends on
# the ones before.
declare -A taken=()
act='' round=0 made=0 disorder=''

# try COMMAND...
try() {
	echo "# $round $act: $*"
	echo "churn $round $act: $*" >/dev/kmsg
	if "$@" >"$scratch/said" 2>&1; then
		taken[$act]=$((${taken[$act]-0} + 1))
		return 0
	fi
	read -r said <"$scratch/said"
	echo "#	refused: ${said:-with $?}"
	return 1
}

new_handle() { printf -v handle %x: $((0x100 + ++made % 0x7000)); }

# "KEYWORD|OPTIONS": these, and the samples of spec/bfc.yaml
samples=("xon|fc pfc xoff 40kb xon 20kb" "dynamic|fc pfc buffer b0 dynamic 11%" "dynamic|dynamic off"
	"egress-xoff|fc capfc-max egress-xoff 50kb" "egress-xon|fc capfc-max egress-xon 10kb"
	"warn|fc capfc-cal egress-xon 10kb warn 20kb egress-xoff 60kb"
	"size|fc pfc buffer b0 size 2mb" "size|size keep")
declare -A optioned=()

# A flow table of 4 million entries, and one for each TX queue, is more than there is memory.
read_samples() {
	local name all=" "
	mapfile -t -O ${#samples[@]} samples < <(jq -r '.[] | .cmdUnderTest | capture(
		" qdisc (add|change) dev [^ ]+ handle 1: root bfc (?<o>.+)$") | .o' \
		"$top/selftests/tc/bfc-spec.json" | sed 's/flows 4194304/flows 65536/' | sort -u |
		sed -E 's/^((fc [a-z-]+ |buffer b0 |classes 4 )?([a-z0-9-]+) .*)$/\3|\1/')
	program=/run/bpf/churn
	if [ -d /run/bpf ] && bpftool prog load "$top/build/bpf/bfc_stamp.bpf.o" $program \
			type classifier 2>/dev/null; then
		samples+=("stamp|stamp pinned $program" "stamp|stamp native")
	else
		samples+=("stamp|stamp native")
	fi
	printf -v all ' %s' "${samples[@]%%|*}"
	while read -r name; do
		[[ "$all " == *" $name "* ]] || fail "no sample of $name"
	done < <(sed -n "/^KEYWORDS/,/^]/s/^ *'\(.*\)',/\1/p" "$top/selftests/tc/bfc_spec.py")
}

# one_sample: one by chance; each second time one of an option that was not taken yet, if there is
# any: chance alone leaves some out
one_sample() {
	local sample new=()
	for sample in "${samples[@]}"; do
		[ -n "${optioned[${sample%%|*}]-}" ] || new+=("$sample")
	done
	[ ${#new[@]} -gt 0 ] && happens 50 || new=("${samples[@]}")
	one_of "${new[@]}"
}

# What does not go with the mode is tried with another one, at last with a new qdisc, which has
# the port's rate: thresholds that go with no other one would be refused when configure() gives it.
act_option() {
	local options name at_rate
	port_by_chance
	at_rate=$(of_port "$port")
	one_sample
	options=${picked#*|} name=${picked%%|*}
	[[ " $options" != *" rate "* ]] || at_rate=
	one_of "fc bfc" "fc bfc" "fc pfc" "fc none" "fc fafc"
	new_handle
	# shellcheck disable=SC2086
	try tc -n "$ns" qdisc change dev "$dev" root bfc $options ||
	try tc -n "$ns" qdisc change dev "$dev" root bfc $picked $options ||
	try tc -n "$ns" qdisc replace dev "$dev" root handle $handle bfc $at_rate $options ||
	try tc -n "$ns" qdisc replace dev "$dev" root handle $handle bfc $at_rate $options \
		txqs one ||
		return 0
	optioned[$name]=1
}

act_hrtt() {
	port_by_chance
	one_of 100ns 10us 1ms 4ms 50ms 1s auto "auto hrtt-max 3ms"
	# shellcheck disable=SC2086
	try tc -n "$ns" qdisc change dev "$dev" root bfc fc bfc hrtt $picked
}

# mode PORT: another one, on what there is or as a new qdisc
mode() {
	local how=(replace dev "${1#* }" root) new
	one_of "${modes[@]}"
	new=$picked
	new_handle
	one_of 8 32 128
	! happens 50 || how+=(handle "$handle") new+=" queues $picked"
	# shellcheck disable=SC2046,SC2086
	try tc -n "${2-${1% *}}" qdisc "${how[@]}" bfc $(of_port "$1") $new
}
act_mode() { port_by_chance; mode "$port"; }

act_other_qdisc() {
	port_by_chance
	if happens 20; then
		try tc -n "$ns" qdisc del dev "$dev" root
	else
		one_of "${others[@]}"
		# shellcheck disable=SC2086
		try tc -n "$ns" qdisc replace dev "$dev" root $picked
	fi
	rest
	mode "$port"
}

act_link() {
	port_by_chance
	try ip -n "$ns" link set "$dev" down
	disorder=1
	rest
	happens 30 || try ip -n "$ns" link set "$dev" up
}

# The wire loses control frames, or all of them, in one direction.
act_deaf() {
	port_by_chance
	one_of "88b5 100%" "88b5 50%" "8808 100%" "any 100%" "any 20%"
	# shellcheck disable=SC2086
	try ip -n "$ns" link set dev "$dev" type wire drop $picked
	disorder=1
}

# The box has control frames wait, which data overtakes then, or each second one longer than the
# other, so that they overtake each other.
act_late() {
	local from to
	one_of 1 2
	from=b$picked to=b$((3 - picked))
	one_of 0x88b5 0x8808
	{
		for dev in soon2 late2; do
			echo "qdisc replace dev $dev clsact"
			echo "filter del dev $dev ingress"
			passes_on $dev "$to" 1 all
		done
		passes_on "$from" late 1 "$picked"
	} >"$scratch/late"
	if happens 60; then
		act+=" in turn"
		sed -i '$s/redirect dev late/mirror dev soon action mirred egress &/' "$scratch/late"
		ip -n box -batch - <<-END
			link set dev soon type wire drop any pattern 10
			link set dev late type wire drop any pattern 01
		END
	else
		ip -n box link set dev late type wire drop none
	fi
	try tc -n box -force -batch "$scratch/late"
	disorder=1
	rest
	happens 50 || box_in_order
}

act_peer() {
	port_by_chance
	one_of off on auto
	try tc -n "$ns" qdisc change dev "$dev" root bfc fc bfc peer "$picked"
}

act_namespace() {
	local pids
	one_of h1 v h3 r h1 v h3 r sw1 sw2 box
	[ "$picked" != r ] || count_traffic
	mapfile -t pids < <(ip netns pids "$picked")
	try ip netns del "$picked"
	[ ${#pids[@]} -eq 0 ] || kill "${pids[@]}" 2>/dev/null
	forget "$picked"
	disorder=1
	happens 50 || rest
	! happens 70 || in_order
}

act_move() {
	one_of "sw1 p1" "sw1 p2" "sw1 x" "sw2 x" "sw2 p3" "sw2 r0"
	port=$picked
	try ip -n "${port% *}" link set "${port#* }" netns elsewhere || return 0
	away[$port]=1 disorder=1
	ip -n elsewhere link set "${port#* }" up
	! happens 70 || mode "$port" elsewhere
	rest
	! happens 70 || in_order
}

act_ethtool() {
	port_by_chance
	case $((RANDOM % 4)) in
	0)
		act+=" -L"
		one_of 1 2 3 4
		try in_ns "$ns" ethtool -L "$dev" tx "$picked"
		ethtooled[$port]+="in_ns $ns ethtool -L $dev tx 4 || in_ns $ns ethtool -L $dev tx 2;"
		;;
	1)
		act+=" -G"
		one_of 1 2 8 64
		try in_ns "$ns" ethtool -G "$dev" tx "$picked"
		ethtooled[$port]+="in_ns $ns ethtool -G $dev tx 8;"
		;;
	*)
		act+=" -K"
		one_of gro tx txvlan rxvlan tx-vlan-stag-hw-insert rx-vlan-stag-hw-parse \
			rx-vlan-filter rx-vlan-stag-filter tso gso sg
		try in_ns "$ns" ethtool -K "$dev" "$picked" off
		rest
		happens 30 || try in_ns "$ns" ethtool -K "$dev" "$picked" on
		case $picked in
		*filter) ethtooled[$port]+="in_ns $ns ethtool -K $dev $picked off;" ;;
		*) ethtooled[$port]+="in_ns $ns ethtool -K $dev $picked on;" ;;
		esac
		;;
	esac
	disorder=1
}

act_mtu() {
	port_by_chance
	one_of 68 256 600 1400 1504 9000 60000
	try ip -n "$ns" link set "$dev" mtu "$picked"
	disorder=1
}

act_master() {
	one_of "sw1 p1" "sw1 p2" "sw1 x" "sw2 x" "sw2 p3" "sw2 r0"
	ns=${picked% *} dev=${picked#* }
	try ip -n "$ns" link set "$dev" nomaster
	disorder=1
	rest
	happens 30 || try ip -n "$ns" link set "$dev" master br0
}

# fuzzed NS DEV FRAMES: frames that are nearly right, and data for all hosts that looks as if it had
# come through others (fuzz.sh)
fuzzed() {
	local name macs=()
	for name in "${hosts[@]}"; do
		macs+=("$(mac "$name" e0 2>/dev/null)")
	done
	# shellcheck disable=SC2068	# some may be missing
	try in_ns "$1" timeout 5 framefuzz "$2" "$3" $RANDOM ${macs[@]}
}

# A host or a switch speaks for its port, beside the qdisc that does.
act_attack() {
	one_of "${hosts[@]/%/ e0}" "sw1 x" "sw2 x"
	fuzzed "${picked% *}" "${picked#* }" 2000
}

# A switch whose port has no bfc, and which agrees all the same, and then storms: HELLOs, BYEs and
# PAUSEs are those that its neighbour waits for, but for some.
act_neighbour() {
	one_of "sw1 x" "sw2 x" "sw2 r0"
	port=$picked
	tc -n "${port% *}" qdisc replace dev "${port#* }" root pfifo 2>/dev/null || return 0
	fuzzed "${port% *}" "${port#* }" 4000
	mode "$port"
}

# A container beside the ports names the handle of each port in packets, and sends to all hosts, and
# to the groups that bridges forward.
act_container() {
	one_of sw1 sw2
	ns=$picked
	ip -n c link del ce 2>/dev/null
	ip -n "$ns" link add c0 type veth peer name ce netns c 2>/dev/null || return 0
	contained[$ns]=1 disorder=1
	ip -n "$ns" link set c0 master br0 up 2>/dev/null
	ip -n c -batch - <<-END
		addr add 10.0.0.66/24 dev ce
		link set ce up
	END
	forge c ce
	in_ns c ping -q -c 1 -W 1 10.0.0.100 >/dev/null
	try in_ns c timeout 5 udpflow send -d 10.0.0.100 -p 9 -f 512 -n 4 -s 200
	fuzzed c ce 1000
	happens 30 || ip -n "$ns" link del c0
}

# A VLAN device on a port, which has fair queueing
act_upper() {
	port_by_chance
	ip -n "$ns" link add link "$dev" name upper type vlan id 5 2>/dev/null
	try tc -n "$ns" qdisc replace dev upper root bfc fc none rate 100mbit
	ip -n "$ns" link set upper up 2>/dev/null
	rest
	try ip -n "$ns" link del upper
}

act_bond() {
	one_of "sw1 p1" "sw1 p2" "sw1 x" "sw2 x" "sw2 p3" "sw2 r0"
	ns=${picked% *} dev=${picked#* }
	ip -n "$ns" link set "$dev" nomaster 2>/dev/null
	ip -n "$ns" link set "$dev" down 2>/dev/null
	ip -n "$ns" link add bond0 type bond mode balance-rr miimon 100 2>/dev/null
	bonded[$ns]=1 disorder=1
	try ip -n "$ns" link set "$dev" master bond0
	ip -n "$ns" -batch - 2>/dev/null <<-END
		link set bond0 master br0 up
		link set $dev up
	END
	rest
	happens 30 || try ip -n "$ns" link set "$dev" nomaster
}

act_unload_in_use() {
	tc -n sw1 qdisc replace dev br0 root bfc fc none rate 100mbit
	! try modprobe -r sch_bfc || fail "the module goes while it is in use"
	taken[$act]=$((${taken[$act]-0} + 1))
	tc -n sw1 qdisc del dev br0 root
}

act_unload() {
	in_order
	taken[$act]=$((${taken[$act]-0} + 1))
	unloads
	configure
}

acts=(option option option option option option option option hrtt mode mode mode
	other_qdisc other_qdisc other_qdisc link link deaf late late peer namespace move move ethtool
	ethtool mtu master upper unload_in_use attack attack neighbour container)

# ---- checks ----

# unloads: no qdisc, no module; and it comes again
unloads() {
	local name
	for name in sw1 sw2 "${hosts[@]}" elsewhere; do
		tc -n "$name" -j qdisc show | jq -r '.[] | select(.kind == "bfc" and .root) |
			"qdisc del dev \(.dev) root"' | tc -n "$name" -force -batch -
	done
	check "the module does not go: $(grep ^sch_bfc /proc/modules)" \
		wait_for "$bound" modprobe -r sch_bfc
	check "the module does not come" modprobe sch_bfc
}

# configure: what is no bfc port is one, and nothing forbids that traffic gets through
configure() {
	local name port have
	have=$(snapshot 'map("|\(.ns) \(.dev)|") | add')
	for name in sw1 sw2 "${hosts[@]}"; do
		for port in "${ports[@]}"; do
			[ "${port% *}" = "$name" ] || continue
			if [[ $have == *"|$port|"* ]]; then
				echo "qdisc change dev ${port#* } root bfc peer auto tpid 88a8" \
					"limit 16mb $(of_port "$port")"
			else
				echo "qdisc replace dev ${port#* } root bfc $(of_port "$port")"
			fi
		done | tc -n "$name" -batch - 2>"$scratch/said" ||
			fail "$name: tc: $(grep -m 1 Error "$scratch/said")"
	done
}

# asks NS NS: over TCP, and has an answer
asks() {
	local n
	n=$(in_ns "$1" timeout 3 tcpask ask -d "${address_of[$2]}" -p 80 -t 0.2 -s 20000 |
		jq -r .requests) && [ "${n:-0}" -gt 0 ]
}
pings() { in_ns "$1" ping -q -c 1 -W 1 "$2"; }

# moves: says what is queued where, and how much of it leaves in two seconds: whether it stands or is slow
moves() {
	local what='.[] | select(.backlog > 0) |
		"\(.ns) \(.dev) \(.fc): backlog \(.backlog), sent \(.packets), HELLOs \(.hello_tx)"'
	snapshot "$what" | sed 's/^/# now: /'
	sleep 2
	snapshot "$what" | sed 's/^/# 2 s later: /'
}

standstill() {
	moves
	fail "$1"
}

# passes: traffic gets through, in both directions
passes() {
	local name asking=() pid i=0 pairs=("h1 r" "r v" "h3 h1" "v h3")
	for name in "${hosts[@]}"; do
		background ip netns exec "$name" tcpask serve -p 80
	done
	for name in "${pairs[@]}"; do
		# shellcheck disable=SC2086
		wait_for "$bound" asks $name &
		asking+=("$!")
	done
	wait_for "$bound" pings h1 10.1.0.100 || standstill "VLAN 10 does not get through"
	for pid in "${asking[@]}"; do
		wait "$pid" || standstill "traffic does not get through: ${pairs[i]}"
		i=$((i + 1))
	done
	end_background
}

prios_paused() {
	snapshot '.[] | select([.prios[]? | select(.paused)] | length > 0) | "\(.ns) \(.dev);"'
}
backlog() { snapshot 'map(.backlog) | add // 0'; }
# idle: nothing is queued, counted or paused. What is queued leaves first, however long that takes:
# where time is the host's, links may carry less than their rate.
idle() {
	local was now
	now=$(backlog)
	for ((was = now + 1; now > 0 && now < was;)); do
		sleep 3
		was=$now now=$(backlog)
	done
	((now == 0)) || moves
	all_idle
	poll=0.3 becomes_empty 5 "paused for ever" prios_paused
}

kernel_log() { dmesg; }
complaints=$(bash -c '. "$1"; echo "$bad"' - "$top/scripts/machine.sh")
quiet_log() {
	local said
	said=$(kernel_log | grep -aE -m 1 "$complaints") &&
		fail "the kernel: $said"
	return 0
}

kmemleak=/sys/kernel/debug/kmemleak
# no_leak: an object is reported when it is 5 s old and two scans found no pointer to it
no_leak() {
	[ -w $kmemleak ] || return 0
	sleep 6
	echo scan >$kmemleak
	echo scan >$kmemleak
	[ -z "$(head -c 1 "$kmemleak" | tr -d '\0')" ] ||
		fail "kmemleak: $(head -n 20 "$kmemleak" | tr '\n' ' ')"
}

# handles NS: how many ports more get 1025 each, of all that the namespace has
handles() {
	local n
	dummies "$1" 64
	for n in {1..64}; do
		echo "qdisc add dev d$n root bfc flows 16 rate 1gbit peer on queues 1024"
	done | tc -n "$1" -batch - 2>/dev/null
	tc -n "$1" -s -j qdisc show | jq '[.[] | select(.kind == "bfc") |
		select(.dev[:1] == "d" and .peer_state == "up")] | length'
	for n in {1..64}; do
		echo "link del d$n"
	done | ip -n "$1" -batch -
}

declare -A spare=()
# no_handle_is_missing: all are there that were at first, but for what gaps between those of
# ports are too small for
no_handle_is_missing() {
	local name now
	# What has gone gives its own back in the next second.
	sleep 2.5
	for name in sw1 sw2; do
		now=$(handles "$name")
		: "${spare[$name]:=$now}"
		at_least "$name: handles for more ports" "$now" $((spare[$name] - 2))
	done
}

# at_first: all ports with the options that they begin with
at_first() {
	local port
	for port in "${ports[@]}"; do
		new_handle
		# shellcheck disable=SC2046,SC2086
		check "$port: no bfc" tc -n "${port% *}" qdisc replace dev "${port#* }" root \
			handle "$handle" bfc hrtt 4ms $(of_port "$port")
	done
	peers_up
}

# all_is_well [all]: the checks of a calm network; with those that take long
all_is_well() {
	in_order
	configure
	stop_load
	idle
	passes
	if [ "${1-}" = all ]; then
		at_first
		no_handle_is_missing
		unloads
		! simulated || no_leak
		at_first
	fi
	quiet_log
}

begin() {
	new_ns elsewhere
	new_ns c
	in_order
	at_first
	no_handle_is_missing
}

# another_round: is one to come?
another_round() {
	[ -z "$why" ] || return
	if [ -n "$seconds" ]; then
		[ $((SECONDS - begun)) -lt "$seconds" ]
	else
		[ "$round" -lt $((from + rounds)) ]
	fi
}

test_churn() {
	local checks=0 name begun
	with_pauses=0
	! has_bonds || acts+=(bond bond)
	read_samples
	begin
	begin_load
	rest
	begun=$SECONDS
	for ((round = from; ; round++)); do
		another_round || break
		RANDOM=$((seed * 10007 + round))
		: $RANDOM $RANDOM	# the first ones of neighbouring seeds are alike
		one_of "${acts[@]}"
		act=$picked
		[ $((round % 97)) -ne 50 ] || act=unload
		"act_$act"
		rest
		[ -z "$disorder" ] || ! happens 30 || in_order
		[ $((round % every)) -eq 0 ] || continue
		checks=$((checks + 1))
		count_traffic
		[ "$(sum_pauses)" = 0 ] || with_pauses=$((with_pauses + 1))
		if [ $((checks % rarely)) -eq 0 ]; then
			all_is_well all
		else
			all_is_well
		fi
		begin_load
	done
	if [ -n "$why" ]; then
		why="seed $seed, up to round $((round - 1)): $why"
	else
		count_traffic
		all_is_well all
	fi
	stop_load
	rm -f "${program-}"
	for name in "${!came[@]}"; do
		at_least "$name packets" "${came[$name]}" $((checks * 20))
	done
	at_least "checks before which queues were paused" "$with_pauses" $((checks / 4))
	rounds=$((round - from))
	[ "$rounds" -lt "$enough" ] || all_was_tried
	say "$rounds rounds of seed $seed, ${#optioned[@]} options"
	for name in "${!came[@]}"; do
		say "${came[$name]} $name packets"
	done
	for name in "${!taken[@]}"; do
		say "$name ${taken[$name]}"
	done
}

all_was_tried() {
	local name
	for name in "${acts[@]/#ethtool/ethtool -K}" "ethtool -L" "ethtool -G" "late in turn" unload; do
		at_least "$name, taken" "${taken[$name]-0}" 3
	done
	for name in "${samples[@]%%|*}"; do
		[ -n "${optioned[$name]-}" ] || fail "$name was never taken"
	done
}

# finds WHAT CHECK...: the check fails
finds() {
	local what=$1 before=$why
	shift
	why=''
	"$@"
	if [ -n "$why" ]; then
		why=$before
	else
		why=${before:-"$1 does not find $what"}
	fi
}

# A host that has its priorities paused for ever
pauser='
import socket, time
s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
s.bind(("e0", 0))
frame = bytes.fromhex("0180c20000010200000000aa8808010100ff" + "ffff" * 8)
while True:
	s.send(frame.ljust(60, bytes(1)))
	time.sleep(0.1)'

# What the checks of test_churn are for is broken on purpose, one after the other.
# shellcheck disable=SC2317	# kernel_log() is called by quiet_log()
test_checks_find() {
	local n
	begin
	passes
	idle
	for n in "sw1 x" "r e0"; do
		ip -n "${n% *}" link set dev "${n#* }" type wire drop any 100%
		finds "a deaf $n" passes
		in_order
	done
	bfc sw2 p3 fc pfc watchdog off
	background ip netns exec h3 python3 -c "$pauser"
	n=$bg
	check "no pause" wait_for 10 pfc_came
	background ip netns exec r udpflow send -d 10.0.0.3 -p 9 -n 40 >/dev/null
	finds "an endless pause" idle
	kill "$n"
	check "no end of the pause" wait_for 10 is_empty not_idle
	end_background
	for n in "WARNING: CPU: 0" "BUG: KASAN: use-after-free" "kmemleak: 1 new suspected" \
			"WARNING: possible circular locking" "INFO: task tc blocked"; do
		kernel_log() { echo "[    1.000000] $n"; }
		finds "$n" quiet_log
	done
	kernel_log() { dmesg; }
	for n in 1 2 3; do
		ip -n sw2 link add "k$n" type dummy
		ip -n sw2 link set "k$n" up
		bfc sw2 "k$n" rate 1gbit peer on queues 1024
	done
	finds "3075 handles that are in use" no_handle_is_missing
	for n in 1 2 3; do
		ip -n sw2 link del "k$n"
	done
	no_handle_is_missing
	new_ns hidden
	ip -n hidden link add d0 type dummy
	bfc hidden d0 rate 1gbit
	bound=2 finds "a module in use" unloads
	del_ns hidden
	unloads
	echo "unreferenced object" >"$scratch/kmemleak"
	kmemleak=$scratch/kmemleak finds "a leak" no_leak
}
pfc_came() { [ "$(stat sw2 p3 pfc_rx)" -gt 0 ]; }

run_tests churn -- checks_find
