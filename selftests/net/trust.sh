#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Which packet pauses which port: a handle in skb->tc_index counts only if the packet did come in
# through the port that it names (sch_bfc/bfc_switch.c).
#
#   v (e0) --- (p1) ------ sw ------ (r0) --- (e0) r	v: the victim, idle
#   u (e0) --- (p2) ------/  \------ (s0) --- (e0) s	s: a monitor, slow
#			   |
#			 c0  veth, no bfc
#			   |
#			 ce  c: a container, with all rights in its own namespace
#
# c floods r, and has a filter write into its packets each handle that v's port might
# have. r's link is slow, so that packets wait at r0.

# shellcheck source=selftests/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"

mode=

# network: everything but c
network() {
	local port
	switch sw
	host v 10.0.0.1/24
	host u 10.0.0.2/24
	host r 10.0.0.100/24
	host s
	cable sw p1 v e0
	cable sw p2 u e0
	cable sw r0 r e0 rate 5mbit delay 100us ring 4
	cable sw s0 s e0 rate 1mbit delay 100us ring 4
	for port in p1 p2 r0 s0; do
		# shellcheck disable=SC2086
		bfc sw "$port" hrtt 4ms $mode
	done
	for port in v u r; do
		# shellcheck disable=SC2046,SC2086
		bfc "$port" e0 role nic queues 128 hrtt 4ms $(of_nic $mode)
	done
	case $mode in *pfc*) ;; *) agreed ;; esac
}

# s has no bfc
agreed() { poll=0.3 becomes_empty 20 "no agreement" strangers; }
strangers() { not_up | sed '/ s0$/d'; }

# container NS DEV: its own namespace, and a device in it with an address
container() {
	ip -n "$1" addr add "${3-10.0.0.3/24}" dev "$2"
	ip -n "$1" link set "$2" up
	ip -n "$1" link set lo up
}

# beside: a veth from sw's bridge to a container
beside() {
	new_ns c
	ip -n sw link add c0 type veth peer name ce netns c
	ip -n sw link set c0 master br0 up
	container c ce
}

# attack NS [ADDRESS]: 512 flows of forged packets
attack() {
	local ns=$1 to=${2-10.0.0.100}
	meet "$to" "$ns"
	send "$ns" "$to" 5000 -f 512 -n 10 -s 200
	finish "$bg"
}

# untouched: no port was paused, counted for, or charged
untouched() {
	at_least "packets that waited at r0" "$(stat sw r0 backlog_peak)" 20000
	equal "pauses sent" "$(sum_stat pause_tx)" 0
	equal "counted" "$(sum_stat counted)" 0
	case $mode in *pfc*) # what v says of itself to its neighbours is little
		at_most "peak held of p1" "$(stat sw p1 'prios[0].peak')" 1000 ;;
	esac
}

# works: v's own packets are counted, and v is paused; nothing gets lost
works() {
	local before drops
	before=$(stat sw p1 pause_tx)
	drops=$(sum_stat drops)
	meet "${1-10.0.0.100}" v u
	send v "${1-10.0.0.100}" 5000 -n 150 -s 1400
	local first=$bg
	send u "${1-10.0.0.100}" 5001 -n 150 -s 1400
	finish "$first" "$bg"
	at_least "pauses of v for what it sends" "$(($(stat sw p1 pause_tx) - before))" 1
	equal "drops" "$(sum_stat drops)" "$drops"
}

test_veth() {
	network
	beside
	forge c ce
	attack c
	untouched
	works
	all_idle
}

# The same for the accounts of priorities.
test_veth_pfc() {
	mode="fc pfc xoff 20kb xon 10kb" test_veth
}

# Through the address of the bridge: what received the packet last is the bridge, which
# p1 is a port of, too.
test_veth_routed() {
	routed
	beside
	ip -n c route add default via 10.0.0.254
	forge c ce
	attack c 10.0.9.2
	untouched
	works 10.0.9.2
	all_idle
}

# routed: sw routes from its bridge to r0, which is no port of that
routed() {
	network
	subnet_of_r r0
	ip -n v route add default via 10.0.0.254
	ip -n u route add default via 10.0.0.254
}

# A device on top of the egress port, in the container's namespace: its packets are not
# received here, and the container chooses what they say of their origin. on_top DEV
# LINK-OPTIONS
on_top() {
	local p1
	routed	# a port of a bridge has no macvlan
	new_ns c
	p1=$(ip -n sw -j link show dev p1 | jq '.[0].ifindex')
	ip -n sw link add link r0 name top "$@"
	ip -n sw link set top netns c
	container c top 10.7.0.3/24
	# Forwarded in the container, from a device with the number of p1
	ip -n c link add name fake index "$p1" type veth peer name in
	new_ns d
	ip -n c link set in netns d
	ip -n c addr add 10.8.0.1/24 dev fake
	ip -n c link set fake up
	in_ns c sysctl -qw net.ipv4.ip_forward=1 net.ipv4.conf.all.rp_filter=0
	container d in 10.8.0.2/24
	ip -n d route add default via 10.8.0.1
	ip -n c neigh add 10.7.0.9 lladdr "$(mac r e0)" dev top
	forge c top
	send d 10.7.0.9 5000 -f 512 -n 10 -s 200
	sleep 0.5
	at_least "packets that wait" "$(stat sw r0 qlen)" 10
	equal "where they say that they came in" "$(froms sw r0)" none
	finish "$bg"
	untouched
	at_least "untrusted" "$(stat sw r0 untrusted)" 1
	del_ns d
	ip -n c link del top
	works 10.0.9.2
	all_idle
}

# froms NS PORT: devices that the oldest packets of the queues came in through; none: a queue is
# empty, or it is not known
froms() {
	tc -n "$1" -s class show dev "$2" | sed -n 's/.* from \([^ ]*\).*/\1/p' | sort -u | paste -sd ' '
}

test_vlan_of_a_container() { on_top type vlan id 5; }
test_macvlan_of_a_container() { on_top type macvlan mode bridge; }

# beside_host TYPE...: a device of that type on p1 in the container, and another one in sw, through
# which sw routes. The container's packets come from one to the other, without a reception at p1
# or with one, and say of their origin what it chose.
beside_host() {
	routed
	ip -n sw -batch - <<-END
		link set p1 nomaster
		addr add 10.1.0.254/24 dev p1
		link add link p1 name top type $*
		addr add 10.7.0.254/24 dev top
		link set top up
		link add link p1 name ct type $*
	END
	ip -n v addr add 10.1.0.1/24 dev e0
	ip -n v route replace default via 10.1.0.254 src 10.1.0.1
	new_ns c
	ip -n sw link set ct netns c
	container c ct 10.7.0.3/24
	ip -n c route add default via 10.7.0.254
	meet 10.0.9.2 sw
	# ipvlan hands over what goes to an address of the other device. This one is also r's, as
	# if there were a rule for DNAT.
	if [ "$1" = ipvlan ]; then
		ip -n sw addr add 10.0.9.2/32 dev top noprefixroute
		ip -n sw route del local 10.0.9.2 dev top table local
	fi
	forge c ct
	meet 10.7.0.254 c
	send c 10.0.9.2 5000 -f 512 -n 10 -s 200
	finish "$bg"
	[ "$1" != ipvlan ] || ip -n sw addr del 10.0.9.2/32 dev top
	untouched
	at_least "untrusted" "$(stat sw r0 untrusted)" 1
	# What comes in through the port itself does count.
	works 10.0.9.2
	all_idle
}

test_ipvlan_beside_a_container() { beside_host ipvlan mode l2; }
test_macvlan_beside_a_container() {
	mode="fc pfc xoff 20kb xon 10kb" beside_host macvlan mode bridge
}

# One line in the log for each time that a device of another namespace came: a user may
# have both in namespaces of its own, and as many of these as it likes.
test_log_of_devices_on_top() {
	local i lines
	mode="fc pfc" network	# each packet is looked at
	new_ns c
	dmesg -C
	for i in {1..40}; do
		ip -n sw link add link r0 name top type vlan id "$i"
		ip -n sw link set top netns c
		meet 10.0.0.100 v
		ip -n c link del top
		meet 10.0.0.100 v
	done
	lines=$(dmesg | grep -c 'a device of another namespace')
	at_least "lines" "$lines" 1
	at_most "lines for 40 devices" "$lines" 20
}

# A copy has a genuine handle. The monitor's port is slow, and must not pause v.
mirrored() {
	network
	tc -n sw qdisc add dev "$1" clsact
	check "mirror" tc -n sw filter add dev "$1" "$2" protocol all matchall \
		action mirred egress mirror dev s0
	send v 10.0.0.100 5000 -n 150 -s 1000 -r 3000000
	finish "$bg"
	equal "counted there" "$(stat sw s0 counted)" 0
	equal "pauses of v" "$(stat sw p1 pause_tx)" 0
	at_least "packets that waited at the monitor's port" \
		"$(stat sw s0 backlog_peak)" 20000
}

test_mirror_at_ingress() { mirrored p1 ingress; }
test_mirror_at_egress() { mirrored r0 egress; }

# What VLAN, bridge, bond and VRF devices on top of a port receive has come in there.
test_bridge_address() {
	routed
	works 10.0.9.2
	equal "untrusted" "$(sum_stat untrusted)" 0
	all_idle
}

# vlan NS DEV ADDRESS: VLAN 7 on it
vlan() {
	ip -n "$1" -batch - <<-END
		link add link $2 name $2.7 type vlan id 7
		addr add $3 dev $2.7
		link set $2.7 up
	END
}

test_vlan_on_top() {
	network
	local ns n=0
	in_ns sw sysctl -qw net.ipv4.ip_forward=1
	for ns in v u r; do
		n=$((n + 1))
		vlan "$ns" e0 "10.7.$n.2/24"
		ip -n "$ns" route add default via "10.7.$n.1"
	done
	n=0
	for ns in p1 p2 r0; do
		n=$((n + 1))
		ip -n sw link set "$ns" nomaster
		vlan sw "$ns" "10.7.$n.1/24"
	done
	works 10.7.3.2
	equal "untrusted" "$(sum_stat untrusted)" 0
	all_idle
}

test_vrf_on_top() {
	routed
	ip -n sw -batch - <<-END
		link add red type vrf table 10
		link set red up
		link set br0 master red
		link set r0 master red
	END
	works 10.0.9.2
	equal "untrusted" "$(sum_stat untrusted)" 0
	all_idle
}

# A filter at the ingress of a device on top of ports runs between hook and guard, and leaves its
# result where the handle was: a class id, which may be a handle of any port, or none. What comes
# through there is known to be lost.
test_filter_above() {
	local before
	routed
	dmesg -C
	forge sw br0 ingress
	attack v 10.0.9.2
	untouched
	at_least "untrusted of those with a class" "$(stat sw r0 untrusted)" 1
	before=$(stat sw r0 untrusted)
	check "filter" tc -n sw filter del dev br0 ingress
	pass_all br0
	attack v 10.0.9.2
	untouched
	at_least "untrusted of those without" $(($(stat sw r0 untrusted) - before)) 1
	equal "lines in the log" "$(dmesg | grep -c 'br0: bfc: a filter at the ingress')" 1
	check "filter" tc -n sw qdisc del dev br0 clsact
	before=$(stat sw r0 untrusted)
	works 10.0.9.2
	# What has a filter beside the ports had no handle to lose.
	beside
	ip -n c route add default via 10.0.0.254
	tc -n sw qdisc add dev c0 clsact
	pass_all c0
	attack c 10.0.9.2
	equal "untrusted without a filter above" $(($(stat sw r0 untrusted) - before)) 0
	all_idle
}
pass_all() { check "filter" tc -n sw filter add dev "$1" ingress matchall action ok; }

test_filter_above_pfc() {
	mode="fc pfc xoff 20kb xon 10kb" test_filter_above
}

# The guard of a device above that one does not know better.
test_filter_below_a_vlan() {
	routed
	vlan sw br0 10.7.1.1/24
	vlan v e0 10.7.1.2/24
	ip -n v route replace default via 10.7.1.1
	tc -n sw qdisc add dev br0 clsact
	pass_all br0
	attack v 10.0.9.2
	untouched
	at_least "untrusted" "$(stat sw r0 untrusted)" 1
	all_idle
}

# At the egress of a device above the port that it leaves through, no guard follows: what came in
# through the bridge may name any port that is below the bridge, and no other one. v comes in
# through p1; p2 is not in the bridge.
test_filter_above_the_egress() {
	routed
	ip -n sw -batch - <<-END
		link set p2 nomaster
		addr add 10.1.0.254/24 dev p2
	END
	vlan sw r0 10.7.1.1/24
	vlan r e0 10.7.1.2/24
	meet 10.7.1.2 sw
	forge sw r0.7
	attack v 10.7.1.2
	at_least "packets that waited at r0" "$(stat sw r0 backlog_peak)" 20000
	at_least "counted" "$(stat sw r0 counted)" 1
	at_least "untrusted" "$(stat sw r0 untrusted)" 1
	equal "pauses of u" "$(stat sw p2 pause_tx)" 0
	all_idle
	# docs/trust.md says so.
	check "p2" ip -n sw link set p2 master br0
	ip -n v neigh flush dev e0	# br0's address may be p2's now
	attack v 10.7.1.2
	at_least "pauses of u, from below the bridge" "$(stat sw p2 pause_tx)" 1
	all_idle
}

# A clsact without a filter at egress leaves alone what is sent.
test_clsact_without_filters() {
	network
	tc -n sw qdisc add dev r0 clsact
	pass_all r0
	works
	equal "untrusted" "$(sum_stat untrusted)" 0
	all_idle
}

# A frame that is addressed to its own source: ipvlan turns those of a container round, so
# that they come in at the port below. It names an upstream queue, or pauses, as if the
# neighbour had.
test_turned_round() {
	mode="fc pfc" network
	frames open v v e0
	frames raw v "$(printf '%s' 0180c2000001 0180c2000001 8808 0101 00ff \
		ffffffffffffffffffffffffffffffff)$(printf '00%.0s' {1..26})" 5
	sleep 0.2
	equal "PFC frames obeyed" "$(stat sw p1 pfc_rx)" 0
	bfc sw p1 hrtt 4ms fc bfc
	tc -n v qdisc del dev e0 root
	frames talk v 0.1
	check "the port does not know its neighbour" wait_for 15 peer_up sw p1
	frames udp v src="$(mac sw p1)" dst="$(mac sw p1)" from=10.0.0.1 to=10.0.0.100 \
		tags=88a8:3 count=5
	sleep 0.2
	equal "packets with an upstreamQ" "$(stat sw p1 tagged_rx)" 0
	frames udp v dst="$(mac r e0)" from=10.0.0.1 to=10.0.0.100 tags=88a8:3 count=5
	sleep 0.2
	equal "packets with an upstreamQ of the neighbour" "$(stat sw p1 tagged_rx)" 5
	frames close
}

# A new qdisc looked at as many queues as there are by default, whatever it had. (KASAN)
test_few_queues() {
	new_ns x
	ip -n x link add d0 type dummy
	ip -n x link set d0 up
	for _ in {1..20}; do
		bfc x d0 rate 1gbit fc fafc queues 8 flows 16
		tc -n x qdisc del dev d0 root
	done
}

# hold NS [DEV]: a request in the kernel holds the qdisc of the device; without DEV it
# gives it back
hold() { in_ns "$1" sh -c "echo ${2-} >/sys/module/test_wire/parameters/hold"; }

# A device changes its namespace while a request holds its qdisc: what the qdisc has in
# the namespace's tables must go from there. KASAN sees what is left: d1 looks at the
# queues of other ports of its namespace, and d0's was long.
test_port_moves_while_held() {
	local mode dev
	for mode in "fc fafc thop 50ms threshold 3kb congested 3kb" "fc capfc-cal" \
		"fc bfc peer on"; do
		mode="rate 2mbit $mode buffer b"
		new_ns x
		new_ns z
		for dev in d0 d1; do
			ip -n x link add "$dev" type dummy
			ip -n x link set "$dev" up
			# shellcheck disable=SC2086
			bfc x "$dev" $mode size 4mb
		done
		burst x d0 10.0.0
		hold x d0
		ip -n x link set d0 netns z
		ip -n z link set d0 up
		# shellcheck disable=SC2086
		bfc z d0 $mode size 8mb
		equal "buffers" "$(stat x d1 options.size) $(stat z d0 options.size)" \
			"4194304 8388608"
		hold z
		burst x d1 10.0.1
		finish "$bg"
		hold x d1
		del_ns x
		hold z
		clean_up
	done
}

# A request holds the qdisc of a port that is deleted: the default one that comes in its place
# has the port all the same.
test_default_root_while_held() {
	local default
	default=$(sysctl -n net.core.default_qdisc)
	sysctl -qw net.core.default_qdisc=bfc
	host x 10.0.0.1/24
	host y 10.0.0.2/24
	cable x e0 y e0
	bfc x e0 fc pfc
	bfc y e0
	hold x e0
	tc -n x qdisc del dev e0 root
	equal "default" "$(stat x e0 options.fc)" bfc
	hold x
	check "no agreement" wait_for 10 peer_up x e0
	sysctl -qw "net.core.default_qdisc=$default"
}

# burst NS DUMMY NET: more than it can send at once
burst() {
	ip -n "$1" addr add "$3.1/24" dev "$2"
	ip -n "$1" neigh add "$3.2" lladdr 02:00:00:00:00:02 dev "$2"
	send "$1" "$3.2" 5000 -f 4 -n 50
	wait_for 5 holds_much "$1" "$2" || fail "$2 holds too little"
	sleep 0.3	# some T_hop
}
holds_much() { [ "$(stat "$1" "$2" backlog)" -gt 10000 ]; }

tests=(veth_pfc veth veth_routed vlan_of_a_container log_of_devices_on_top mirror_at_ingress
	mirror_at_egress filter_above filter_above_pfc filter_below_a_vlan
	filter_above_the_egress clsact_without_filters
	turned_round few_queues bridge_address vlan_on_top port_moves_while_held
	default_root_while_held)
# The simulator's kernel has none of these.
simulated || tests+=(macvlan_of_a_container ipvlan_beside_a_container
	macvlan_beside_a_container vrf_on_top)
run_tests "${tests[@]}"
