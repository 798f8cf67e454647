#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# A buffer that ports share: who may take how much of it.
#
#   s1 --p1-\
#   s2 --p2-->-- sw (br0) --r0-- r	All links 20 Mbit/s, delay 100 us.
#   s3 --p3-/

# shellcheck source=selftests/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"

hrtt=6ms
ports=(p1 p2 p3 r0)

# topology OPTIONS...: of the switch's ports
topology() {
	local i port
	switch sw
	host r 10.0.0.100/24
	cable sw r0 r e0
	for i in 1 2 3; do
		host "s$i" "10.0.0.$i/24"
		cable sw "p$i" "s$i" e0
	done
	for port in "${ports[@]}"; do
		bfc sw "$port" hrtt $hrtt "$@"
	done
	meet 10.0.0.100 s1 s2 s3
}

# nics FC: the senders obey pauses
nics() {
	local i
	for i in 1 2 3; do
		bfc "s$i" e0 role nic hrtt $hrtt fc "$1"
	done
}

ended() {
	flood_ends
	all_idle
	equal "bytes left in the buffer" "$(sum_stat buffer_used)" 0
}

test_dynamic_xoff() {
	topology fc pfc buffer b size 900kb dynamic 11%
	nics pfc
	flood 3 s1 s2 s3
	sleep 2
	# alpha / (1 + alpha n) of what is to share, for n ports.
	at_least "taken" "$(stat sw p1 buffer_used)" 20000
	at_most "XOFF" "$(stat sw p1 xoff)" \
		"$(($(stat sw p1 buffer_size) * 11 / 100))"
	# The static one would be 18750.
	at_least "XOFF" "$(stat sw p1 xoff)" \
		"$(($(stat sw p1 buffer_size) * 7 / 100))"
	equal "all ports see it" "$(stat sw p2 buffer_size)" \
		"$(stat sw p1 buffer_size)"
	ended
	equal "dropped" "$(sum_stat drops)" 0
	at_least "most taken" "$(stat sw p1 buffer_peak)" 20000
	at_most "most taken" "$(stat sw p1 buffer_peak)" \
		"$(stat sw p1 buffer_size)"
}

# Without pauses the buffer runs full: no port gets more than its share.
test_share() {
	topology fc none buffer b size 200kb share 100%
	flood 2 s1 s2 s3
	sleep 1
	local i used
	used=$(stat sw p1 buffer_used)
	at_most "taken" "$used" 204800
	at_least "taken" "$used" 102400
	for i in 1 2 3; do
		# Half of it, with one who takes part; a quarter with three.
		at_most "of s$i" "$(stat sw "p$i" buffer_port)" 105000
		at_least "of s$i" "$(stat sw "p$i" buffer_port)" 30000
	done
	ended
	at_least "packets that found no room" "$(stat sw r0 drop_buffer)" 100
}

# A reserve is there whatever the others do.
test_reserve() {
	local mine
	topology fc none buffer b size 300kb share 102400%
	tc -n sw qdisc change dev p3 root bfc reserve 20kb
	flood 3 s1 s2
	sleep 1.5
	at_least "taken" "$(stat sw p1 buffer_used)" \
		"$(($(stat sw p1 buffer_size) - 3000))"
	receive r 6000 -t 20 -i 2
	mine=$bg
	send s3 10.0.0.100 6000 -n 15	# 15 630 bytes
	finish "$bg" "$mine"
	equal "came through the reserve" "$(received r 6000 .packets)" 15
	flood_ends
	all_idle
}

# A host holds nothing, nor does a device above a port: no memory is kept for them.
test_reserve_of_no_use() {
	topology fc none buffer b size 1mb
	bfc s1 e0 role nic buffer b size 1mb reserve 64kb
	equal "to share with a host" "$(stat s1 e0 buffer_size)" 1048576
	ip -n s1 link add link e0 name e0.5 type vlan id 5
	ip -n s1 link set e0.5 up
	bfc s1 e0.5 fc none buffer b reserve 64kb
	equal "and with a VLAN device" "$(stat s1 e0.5 buffer_size)" 1048576
}

# What was charged by one reserve is given back by it.
test_reserve_changes_under_traffic() {
	local i port
	topology fc none buffer b size 300kb share 102400%
	flood 6 s1 s2 s3
	for ((i = 0; i < 20; i++)); do
		for port in p1 p2 p3; do
			tc -n sw qdisc change dev $port root bfc \
				reserve $((i % 2 ? 0 : 8))kb
		done
		sleep 0.1
	done
	flood_ends
	all_idle
	# All of it can be taken, and no more.
	for port in p1 p2 p3; do
		tc -n sw qdisc change dev $port root bfc reserve 0
	done
	flood 2 s1 s2
	sleep 1.5
	at_least "taken" "$(stat sw p1 buffer_used)" $((307200 - 3000))
	at_most "taken" "$(stat sw p1 buffer_used)" 307200
	equal "taken, and held of the ports" "$(stat sw p1 buffer_used)" \
		$(($(stat sw p1 buffer_port) + $(stat sw p2 buffer_port)))
	ended
}

test_too_small() {
	topology fc bfc
	local said
	said=$(tc -n sw qdisc change dev p1 root bfc fc pfc buffer b size 100kb 2>&1) &&
		fail "taken"
	[[ $said == *"bfc: buffer: too small"* ]] || fail "said: $said"
	equal "mode" "$(stat sw p1 options.fc)" bfc
	said=$(tc -n sw qdisc change dev p1 root bfc fc pfc dynamic 11% 2>&1) &&
		fail "taken without a buffer"
	[[ $said == *"dynamic is a share of a buffer"* ]] || fail "said: $said"
	# The second port is the one too many.
	tc -n sw qdisc change dev p1 root bfc fc pfc lossless 0 headroom 60kb \
		buffer b size 100kb || fail "refused"
	said=$(tc -n sw qdisc change dev p2 root bfc fc pfc lossless 0 \
		headroom 60kb buffer b 2>&1) && fail "taken twice"
	[[ $said == *"bfc: buffer: too small"* ]] || fail "said: $said"
	equal "to share" "$(stat sw p1 buffer_size)" $((102400 - 61440))
}

# Names are those of a namespace, and end with the last port.
test_namespaces() {
	topology fc none buffer b size 1mb
	bfc s1 e0 fc none buffer b size 200kb
	equal "of this namespace" "$(stat sw p1 buffer_size)" 1048576
	equal "another's" "$(stat s1 e0 buffer_size)" 204800
	local port
	for port in "${ports[@]}"; do
		tc -n sw qdisc change dev "$port" root bfc buffer none
	done
	bfc sw p1 fc none buffer b size keep
	equal "a new one" "$(stat sw p1 buffer_size)" $((16 << 20))
	del_ns s1
	bfc sw p2 fc none buffer b size keep
	equal "still of this namespace" "$(stat sw p2 buffer_size)" $((16 << 20))
}

test_join_and_leave_under_traffic() {
	local port to
	topology fc pfc buffer b size 2mb
	nics pfc
	flood 5 s1 s2 s3
	for to in c b none b c none b; do
		for port in "${ports[@]}"; do
			tc -n sw qdisc change dev "$port" root bfc buffer $to ||
				fail "$port: refused $to"
		done
		sleep 0.4
	done
	for to in bfc none pfc; do
		for port in "${ports[@]}"; do
			tc -n sw qdisc change dev "$port" root bfc fc $to || fail "$port: no fc $to"
		done
		sleep 0.4
	done
	ip -n sw link del p2
	ended
}

# BFC takes from the same buffer, and loses nothing in it.
test_bfc_in_a_buffer() {
	topology fc bfc buffer b size 500kb
	nics bfc
	peers_of_switch_up
	flood 3 s1 s2 s3
	sleep 1.5
	at_least "taken" "$(stat sw p1 buffer_used)" 3000
	ended
	equal "dropped" "$(sum_stat drops)" 0
	at_least "pauses" "$(stat sw p1 pause_tx)" 10
}
peers_of_switch_up() {
	local port
	for port in p1 p2 p3; do
		wait_for 10 peer_up sw $port || fail "$port has no neighbour"
	done
}

# MAX is what it may hold, there as elsewhere: the headroom reaches up to it.
test_max() {
	topology fc pfc lossless 0 buffer b size 2mb xoff 20kb max 400kb
	flood 3 s1 s2 s3
	sleep 2.5
	at_least "most held of p1" "$(stat sw p1 'prios[0].peak')" 350000
	at_most "most held of p1" "$(stat sw p1 'prios[0].peak')" 409600
	ended
}

# burst NS PORT COUNT: frames of priority 3, which wait at r0
burst() {
	send "$1" 10.0.0.100 "$2" -n "$3" -T 96
	finish "$bg"
	sleep 0.1
}

# lossy_ports: the priority is lossless at p1 and where all leaves, but not at p2 and p3; r has
# it paused
lossy_ports() {
	local port
	topology fc pfc prio dscp lossless 3 xoff 1mb max 2mb watchdog off limit 300kb \
		buffer b size 8mb
	for port in p2 p3; do
		tc -n sw qdisc change dev $port root bfc lossless none xoff auto max auto ||
			fail "$port: refused"
	done
	frames open r r e0
	hold_prio r sw r0 65535
}

# What a lossy port brought is charged to the buffer, too, but had no room promised: it pays if
# memory runs out.
test_limit_spares_lossless() {
	local lossless
	lossy_ports
	receive r 6000 -t 60 -i 3
	lossless=$bg
	burst s2 5000 40
	burst s3 5000 40
	equal "dropped below the limit" "$(sum_stat drops)" 0
	burst s1 6000 100
	at_least "dropped at the limit" "$(stat sw r0 drop_limit)" 20
	hold_prio r sw r0 0
	finish "$lossless"
	equal "lossless packets received" "$(received r 6000 .packets)" 100
	all_idle
}

# Nor does it take all memory if its queue does not drain.
test_cap_of_lossy() {
	lossy_ports
	burst s2 5000 300
	at_least "dropped at the cap" "$(stat sw r0 drop_cap)" 100
	at_most "memory" "$(stat sw r0 memory)" $((300 * 1024 * 9 / 10))
	burst s1 6000 10
	equal "dropped at the limit" "$(stat sw r0 drop_limit)" 0
	hold_prio r sw r0 0
	all_idle
}

run_tests dynamic_xoff share reserve reserve_of_no_use reserve_changes_under_traffic \
	too_small namespaces join_and_leave_under_traffic bfc_in_a_buffer max \
	limit_spares_lossless cap_of_lossy
