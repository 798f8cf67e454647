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

run_tests refused_speed_stays{,_with_hrtt_auto}
