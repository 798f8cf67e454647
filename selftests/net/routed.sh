#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Ways through a Linux box: bridge, VLANs, bridge netfilter, IPv4 and IPv6
# forwarding, VLAN devices. On each of them a packet must arrive at the egress
# knowing which upstream queue it came from.
#
#   h1 --p1-\    /-- r1
#            sw <
#   h2 --p2-/    \-- r2
#
# All links 20 Mbit/s. c: h1 and h2 both to r1, congested. v: h1 to r2, 2 Mbit/s
# and alone there. h1's queue of c is paused, h1's queue of v is not.

# shellcheck source=selftests/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"

hosts=(h1 h2 r1 r2)
declare -A port=([h1]=p1 [h2]=p2 [r1]=r1 [r2]=r2)

# ports: qdiscs everywhere. The long sticky time keeps a flow in its queue.
ports() {
	local h
	for h in "${hosts[@]}"; do
		bfc sw "${port[$h]}" hrtt 4ms
		bfc "$h" e0 role nic queues 128 hrtt 4ms sticky 5s
	done
	peers_up
}

# bridged [BRIDGE-OPTIONS]: h1 10.0.0.1, h2 10.0.0.2, r1 10.0.0.3, r2 10.0.0.4
bridged() {
	local h n=0
	switch sw "$@"
	for h in "${hosts[@]}"; do
		n=$((n + 1))
		host "$h" "10.0.0.$n/24"
		cable sw "${port[$h]}" "$h" e0
	done
}

# tagged_hosts: in VLAN 10 as 10.1.0.1 and so on
tagged_hosts() {
	local h n=0
	for h in "${hosts[@]}"; do
		n=$((n + 1))
		ip -n "$h" -batch - <<-END
			link add link e0 name e0.10 type vlan id 10
			addr add 10.1.0.$n/24 dev e0.10
			link set e0.10 up
		END
	done
}

# routed: h1 in 10.0.1.0/24 and fd00:1::/64, h2 in 10.0.2.0/24, ...
routed() {
	local h n=0
	new_ns sw
	in_ns sw sysctl -qw net.ipv4.ip_forward=1 net.ipv6.conf.all.forwarding=1
	for h in "${hosts[@]}"; do
		n=$((n + 1))
		host "$h" "10.0.$n.2/24" "fd00:$n::2/64"
		cable sw "${port[$h]}" "$h" e0
		ip -n sw addr add "10.0.$n.1/24" dev "${port[$h]}"
		ip -n sw addr add "fd00:$n::1/64" dev "${port[$h]}"
		ip -n "$h" route add default via "10.0.$n.1"
		ip -n "$h" route add default via "fd00:$n::1"
	done
}

# traffic R1 R2: c and v to these addresses
traffic() {
	local c v sent=()
	meet "$1" h1 h2
	meet "$2" h1
	receive r1 5000 -t 40 -i 3
	c=$bg
	receive r2 5000 -t 40 -i 3
	v=$bg
	send h1 "$2" 5000 -r 2000000 -t 5
	sent+=("$bg")
	# Their results are in one file, but v's is not needed.
	send h2 "$1" 5000 -F 2 -t 4
	sent+=("$bg")
	ip netns exec h1 udpflow send -d "$1" -p 5000 -F 1 -t 4 >/dev/null &
	pids+=("$!")
	sent+=("$!")
	finish "${sent[@]}" "$c" "$v"
	equal "flows" "$(received r1 5000 '.flows | length')" 2
}

# congest R1 R2: the same, and nothing gets lost
congest() {
	note_drops
	traffic "$@"
	equal "lost" "$(received r1 5000 .lost) $(received r2 5000 .lost)" "0 0"
	equal "drops" "$(new_drops)" 0
}

# queue_pauses NS: pauses of the queues that sent 200 packets or more, sorted
queue_pauses() {
	classes "$1" e0 | awk '$3 >= 200 { print $8 }' | sort -n | tr '\n' ' '
}

# right_queue: c's queue was paused again and again, v's was not
right_queue() {
	local pauses
	pauses=$(queue_pauses h1)
	say "pauses of h1's two queues: $pauses"
	# shellcheck disable=SC2086
	set -- $pauses
	equal "queues in use" $# 2
	[ $# -eq 2 ] || return
	at_least "pauses of c's queue" "$2" 10
	# One, should the machine have stood still for long enough.
	at_most "pauses of v's queue" $(($1 * 5)) "$2"
	at_least "pauses of h2" "$(stat h2 e0 pause_rx)" 10
	equal "untrusted" "$(sum_stat untrusted)" 0
	all_idle
}

test_bridge() {
	bridged
	ports
	congest 10.0.0.3 10.0.0.4
	right_queue
}

test_bridge_carries_vlans() {
	bridged
	ports
	tagged_hosts
	congest 10.1.0.3 10.1.0.4
	right_queue
}

test_bridge_filters_vlans() {
	local p
	bridged vlan_filtering 1
	ports
	tagged_hosts
	for p in "${port[@]}"; do
		bridge -n sw vlan add dev "$p" vid 10
	done
	congest 10.1.0.3 10.1.0.4
	right_queue
	# Untagged is VLAN 1.
	meet 10.0.0.3 h1
}

test_bridge_netfilter() {
	local loaded=
	[ -d /sys/module/br_netfilter ] && loaded=1
	if ! modprobe br_netfilter 2>/dev/null; then
		say "SKIP no br_netfilter here"
		return
	fi
	bridged
	in_ns sw sysctl -qw net.bridge.bridge-nf-call-iptables=1
	ports
	congest 10.0.0.3 10.0.0.4
	right_queue
	clean_up
	[ -n "$loaded" ] || wait_for 5 modprobe -r br_netfilter
}

test_vlan_devices_on_the_ports() {
	local p
	bridged
	ports
	tagged_hosts
	for p in "${port[@]}"; do
		ip -n sw -batch - <<-END
			link set $p nomaster
			link add link $p name $p.10 type vlan id 10
			link set $p.10 master br0
			link set $p.10 up
		END
	done
	congest 10.1.0.3 10.1.0.4
	right_queue
}

test_ipv4_hop() {
	routed
	ports
	congest 10.0.3.2 10.0.4.2
	right_queue
}

test_ipv6_hop() {
	routed
	ports
	congest fd00:3::2 fd00:4::2
	right_queue
}

# A filter at clsact egress writes the class it found to where the upstream
# queue was noted: 1:21 would be a handle.
test_egress_filter_is_not_trusted() {
	local before
	bridged
	ports
	tc -n sw qdisc add dev r1 clsact
	check "filter" tc -n sw filter add dev r1 egress matchall classid 1:21
	# No sender is paused, so senders that are fast enough lose packets.
	traffic 10.0.0.3 10.0.0.4
	at_least "untrusted" "$(stat sw r1 untrusted)" 10
	equal "counted" "$(stat sw r1 counted)" 0
	equal "pauses" "$(sum_stat pause_tx)" 0
	# It goes, and the notes are good again.
	tc -n sw qdisc del dev r1 clsact
	before=$(stat sw r1 untrusted)
	congest 10.0.0.3 10.0.0.4
	equal "untrusted without the filter" \
		$(($(stat sw r1 untrusted) - before)) 0
	at_least "counted" "$(stat sw r1 counted)" 10
	at_least "pauses" "$(sum_stat pause_tx)" 10
	all_idle
}

tests=(bridge bridge_carries_vlans bridge_filters_vlans
	vlan_devices_on_the_ports ipv4_hop ipv6_hop egress_filter_is_not_trusted)
# Its kernel has no br_netfilter.
simulated || tests+=(bridge_netfilter)
run_tests "${tests[@]}"
