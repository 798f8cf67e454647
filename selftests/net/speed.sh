#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The speed of the link: unknown until there is a carrier, another one after that, one whose
# thresholds are refused.
#
#   h1 --p1-- sw (br0) --p2-- h2		40 Gbit/s, but for what tests say

# shellcheck source=selftests/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"

default_link=(rate 40gbit delay 1us ring 8)

topology() {
	local i
	switch sw
	for i in 1 2; do
		host "h$i" "10.0.0.$i/24"
		cable sw "p$i" "h$i" e0
	done
}

# speed_of N WIRE-RATE: of both ends of pN's cable
speed_of() {
	ip -n sw link set "p$1" type wire rate "$2" && ip -n "h$1" link set e0 type wire rate "$2"
}

# link N up|down: at the other end; the kernel tells of carriers once a second
link() {
	ip -n "h$1" link set e0 "$2"
	sleep 2.1
}

# Thresholds that do not fit another speed stay, and the port knows the speed all the same: quanta
# are times at that. What else makes it configure itself anew does not go back to the speed before.
test_refused_speed_stays() {
	local refresh
	topology
	speed_of 1 10mbit
	ip -n sw link add d0 type dummy
	bfc sw p1 hrtt 1ms fc pfc max 100kb elide d0
	refresh=$(stat sw p1 refresh)
	speed_of 1 10gbit
	equal "rate that thresholds are for" "$(stat sw p1 link_rate)" 1250000
	equal "rate that is refused" "$(stat sw p1 refused_rate)" 1250000000
	at_most "ns from one frame to the next" "$(stat sw p1 refresh)" $((refresh / 10))
	refresh=$(stat sw p1 refresh)
	ip -n sw link del d0
	equal "devices that are elided" "$(stat sw p1 'options.elide')" "[]"
	equal "ns from one frame to the next without d0" "$(stat sw p1 refresh)" "$refresh"
	equal "rate that is refused without d0" "$(stat sw p1 refused_rate)" 1250000000
	speed_of 1 10mbit
	equal "rate that is refused at 10 Mbit/s" "$(stat sw p1 refused_rate)" 0
}

# Nor does a measured HRTT, which is looked at when the link comes up.
test_refused_speed_stays_with_hrtt_auto() {
	local refresh
	topology
	speed_of 1 10gbit
	bfc sw p1 fc pfc xon 100kb
	speed_of 1 1gbit
	equal "rate that is refused" "$(stat sw p1 refused_rate)" 125000000
	refresh=$(stat sw p1 refresh)
	link 1 down
	link 1 up
	equal "ns from one frame to the next" "$(stat sw p1 refresh)" "$refresh"
	equal "rate that thresholds are for" "$(stat sw p1 link_rate)" 1250000000
	equal "rate that is refused" "$(stat sw p1 refused_rate)" 125000000
	tc -n sw qdisc change dev p1 root bfc xon auto || fail "xon auto is refused"
	equal "rate that thresholds are for" "$(stat sw p1 link_rate)" 125000000
	equal "rate that is refused" "$(stat sw p1 refused_rate)" 0
}

# How long a pause lasts is a number of quanta in a PFC frame: at most 65535, of 512 bits each.
test_hold_in_effect() {
	topology
	speed_of 1 80gbit
	bfc sw p1 fc pfc
	equal "ns that a pause lasts, 80 Gbit/s" "$(stat sw p1 hold)" $((65535 * 64 / 10))
	tc -n sw qdisc change dev p1 root bfc fc bfc
	equal "and of queues" "$(stat sw p1 hold)" 50000000
}

# Headroom of 100 us: 500 KB at 40 Gbit/s, 12 KB at 1 Gbit/s. There is room for one such port.
in_buffer=(hrtt 100us fc pfc lossless 0 xoff 20kb buffer b size 800kb)

has_headroom() { [ "$(stat sw "$1" headroom)" -ge 500000 ]; }

# A link that is down may come back: no other port gets what is set aside for it.
test_down_keeps_its_part() {
	local headroom
	topology
	bfc sw p1 "${in_buffer[@]}"
	check "no headroom for 40 Gbit/s" has_headroom p1
	headroom=$(stat sw p1 headroom)
	link 1 down
	equal "headroom while it is down" "$(stat sw p1 headroom)" "$headroom"
	tc_refuses "too small" -n sw qdisc replace dev p2 root bfc "${in_buffer[@]}"
	tc -n sw qdisc change dev p1 root bfc limit 8mb || fail "a change is refused"
	equal "headroom after a change" "$(stat sw p1 headroom)" "$headroom"
	tc -n sw qdisc replace dev p1 root handle 77: bfc "${in_buffer[@]}" queues 64 ||
		fail "another qdisc is refused"
	equal "headroom of another qdisc" "$(stat sw p1 headroom)" "$headroom"
	link 1 up
	equal "headroom when it is back" "$(stat sw p1 headroom)" "$headroom"
	equal "rate that is refused" "$(stat sw p1 refused_rate)" 0
	# The next cable may be slower.
	link 1 down
	speed_of 1 1gbit
	link 1 up
	at_most "headroom at 1 Gbit/s" "$(stat sw p1 headroom)" 20000
	bfc sw p2 "${in_buffer[@]}"
}

# Links that are faster than what was assumed while they were down: one of them finds no room
# until the other leaves it.
test_room_comes_later() {
	topology
	link 1 down
	link 2 down
	bfc sw p1 "${in_buffer[@]}"
	bfc sw p2 "${in_buffer[@]}"
	at_most "headroom while it is down" "$(stat sw p2 headroom)" 20000
	link 1 up
	check "no headroom for 40 Gbit/s" has_headroom p1
	link 2 up
	at_most "headroom without room" "$(stat sw p2 headroom)" 20000
	equal "rate that is refused" "$(stat sw p2 refused_rate)" 5000000000
	tc -n sw qdisc del dev p1 root
	check "no headroom when there is room" wait_for 3 has_headroom p2
	equal "rate that is refused" "$(stat sw p2 refused_rate)" 0
	# And where others make the buffer larger
	link 2 down
	speed_of 2 80gbit
	bfc sw p1 "${in_buffer[@]}" size 1100kb
	link 2 up
	equal "rate that is refused" "$(stat sw p2 refused_rate)" 10000000000
	tc -n sw qdisc change dev p1 root bfc fc pfc buffer b size 2mb
	check "refused for good" wait_for 3 equal_rate p2 0
	at_least "headroom for 80 Gbit/s" "$(stat sw p2 headroom)" 1000000
}
equal_rate() { [ "$(stat sw "$1" refused_rate)" = "$2" ]; }

# rates NS DEV: that its qdiscs of TX queues assume
rates() { of_txqs "$1" "$2" .link_rate | sort -u | tr '\n' ' '; }
rates_are() { [ "$(rates "$1" "$2")" = "$3 " ]; }

# Fair queueing below mq is there before the carrier is; a bond has none until it has a port.
test_fair_queueing_learns_the_speed() {
	local default
	default=$(sysctl -n net.core.default_qdisc)
	sysctl -qw net.core.default_qdisc=bfc
	new_ns c
	new_ns d
	ip link add name e0 netns c numtxqueues 4 type wire rate 10gbit delay 1us ring 8 \
		peer name e0 netns d numtxqueues 4
	ip -n c link set e0 up
	equal "qdiscs" "$(children c e0)" 4
	equal "rate without a carrier" "$(rates c e0)" "125000000 "
	ip -n d link set e0 up
	poll=1 wait_for 4 rates_are c e0 1250000000 || fail "rate $(rates c e0)"
	ip -n c link set e0 type wire rate 20gbit
	equal "another rate" "$(rates c e0)" "2500000000 "
	ip -n d link set e0 down
	sleep 2.1
	equal "rate while it is down" "$(rates c e0)" "2500000000 "
	sysctl -qw "net.core.default_qdisc=$default"

	# A port that has gone, but is not forgotten yet
	tc -n c qdisc replace dev e0 root bfc
	sysctl -qw net.core.default_qdisc=bfc
	tc -n c qdisc del dev e0 root
	sysctl -qw "net.core.default_qdisc=$default"
	equal "qdiscs after a port" "$(children c e0)" 4
	ip -n d link set e0 up
	poll=1 wait_for 4 rates_are c e0 2500000000 || fail "rate $(rates c e0)"

	# The root itself
	ip -n c link add br0 type bridge
	ip -n c link set br0 up
	tc -n c qdisc replace dev br0 root bfc fc none
	equal "rate of a bridge without ports" "$(stat c br0 link_rate)" 125000000
	ip -n c link set e0 master br0
	poll=1 wait_for 4 bridge_knows || fail "rate $(stat c br0 link_rate)"
}
bridge_knows() { [ "$(stat c br0 link_rate)" = 2500000000 ]; }

run_tests refused_speed_stays{,_with_hrtt_auto} down_keeps_its_part room_comes_later hold_in_effect \
	fair_queueing_learns_the_speed
