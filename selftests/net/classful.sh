#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Traffic classes (BFC App. A.3): each has a range of the queues. What tc shows of queues as
# its classes: classes.sh.
#
#   s e0 --------- e0 r      10 Mbit/s; the qdisc is on s
#
# Class c is DSCP 8c, sent to port 5000 + c, unless a test says otherwise.

# Functions are called by name.
# shellcheck disable=SC2317
# shellcheck source=selftests/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"

pids_of=()

# topology OPTIONS...: twelve queues
topology() {
	pids_of=()
	host s 10.0.0.1/24
	host r 10.0.0.2/24
	without_ipv6 s
	cable s e0 r e0 rate 10mbit delay 100us ring 1
	meet 10.0.0.2 s
	bfc s e0 peer off prio dscp queues 12 limit 32mb "$@"
}

# flood_class CLASS [OPTIONS]: more than the link takes
flood_class() {
	local class=$1
	shift
	send s 10.0.0.2 "500$class" -F "$class" -t 8 -b 10000 -T $((class << 5)) -s 1000 "$@"
	pids_of+=("$bg")
}

# of_queues NS PORT FIELD FIRST COUNT: sum over queues, counted from 0; 2 bytes sent, 3 packets,
# 6 queued, 8 pauses
of_queues() {
	classes "$1" "$2" | awk -v f="$3" -v a="$4" -v n="$5" \
		'NR > a && NR <= a + n { sum += $f } END { print sum + 0 }'
}

# rates NAME RANGE...: bytes that left queues FIRST:COUNT in half a second, in the array $rate
rates() {
	local name=$1 range before=() i
	shift
	for range; do
		before+=("$(of_queues s e0 2 "${range%:*}" "${range#*:}")")
	done
	sleep 0.5
	rate=()
	for range; do
		i=${#rate[@]}
		rate+=($(($(of_queues s e0 2 "${range%:*}" "${range#*:}") - before[i])))
	done
	say "$name ${rate[*]}"
}

change() { tc -n s qdisc change dev e0 root bfc "$@" || fail "tc refuses change $*"; }

# ---- between classes ----

test_strict_goes_first() {
	topology classes 3 strict 1,2
	flood_class 0
	flood_class 1 -f 3
	sleep 0.3
	rates "0 and 1" 0:4 4:4 8:4
	equal "bytes of 0 beside 1" "${rate[0]}" 0
	at_least "bytes of 1" "${rate[1]}" 500000
	flood_class 2
	sleep 0.3
	rates "beside 2" 0:4 4:4 8:4
	equal "bytes of 0" "${rate[0]}" 0
	equal "bytes of 1" "${rate[1]}" 0
	at_least "bytes of 2" "${rate[2]}" 500000
}

# A packet of a strict class waits for the one that is on the wire, and no other: latency.
test_strict_is_at_once() {
	exact_clock || return
	topology classes 2 strict 1
	flood_class 0 -f 6
	sleep 0.5
	receive r 5001 -t 10 -n 50
	local receiver=$bg
	send s 10.0.0.2 5001 -T 32 -s 100 -n 50 -r 100000
	finish "$receiver"
	equal "packets" "$(received r 5001 .packets)" 50
	# two frames of 1042 bytes at 10 Mbit/s, in the wire's ring of one, and the delay
	# of 50 packets the slowest
	at_most "latency, us" "$(received r 5001 .p99_us)" 2200
}

# within TEXT VALUE WANT: 10 %
within() {
	at_least "$1" "$2" $(($3 * 9 / 10))
	at_most "$1" "$2" $(($3 * 11 / 10))
}

# Bytes, whatever the packets' sizes and the number of flows.
test_weights_hold() {
	topology classes 3 weights 1,2,4
	flood_class 0 -f 4
	flood_class 1 -s 300
	flood_class 2 -f 2 -s 700
	sleep 0.5
	rates 1,2,4 0:4 4:4 8:4
	within "class 1 against 0" "${rate[1]}" $((2 * rate[0]))
	within "class 2 against 0" "${rate[2]}" $((4 * rate[0]))
	at_least "bytes" $((rate[0] + rate[1] + rate[2])) 560000
	change weights 5,1,1
	sleep 0.2
	rates 5,1,1 0:4 4:4 8:4
	within "class 0 against 1" "${rate[0]}" $((5 * rate[1]))
	within "class 2 against 1" "${rate[2]}" "${rate[1]}"
	change weights equal
	sleep 0.2
	rates equal 0:4 4:4 8:4
	within "class 0 against 1" "${rate[0]}" "${rate[1]}"
	within "class 2 against 1" "${rate[2]}" "${rate[1]}"
}

# Weights are for what strict classes leave: here 4 Mbit/s.
test_weights_beside_a_strict_class() {
	topology classes 3 strict 2 weights 1,3,1
	flood_class 0
	flood_class 1
	flood_class 2 -r 6000000
	sleep 0.5
	rates "strict 2" 0:4 4:4 8:4
	within "class 1 against 0" "${rate[1]}" $((3 * rate[0]))
	within "strict class" "${rate[2]}" 390000
	at_least "bytes" $((rate[0] + rate[1] + rate[2])) 560000
}

# A class that sends now and then, less than its part, gets all of it, and soon.
test_a_class_that_comes_and_goes() {
	topology classes 2 weights 1,1
	flood_class 0 -f 6
	receive r 5001 -t 10 -i 2
	local receiver=$bg
	send s 10.0.0.2 5001 -T 32 -s 500 -t 3 -r 3000000
	finish "$receiver"
	equal "lost" "$(received r 5001 .lost)" 0
	at_least "packets" "$(received r 5001 .packets)" 2200
	simulated || return
	at_most "latency, us" "$(received r 5001 .p99_us)" 4000
}

# ---- queues ----

# sent_by_class: packets that left the queues of each of the classes 0 to 2
sent_by_class() {
	echo "$(of_queues s e0 3 0 "$1") $(of_queues s e0 3 "$1" "$2")" \
		"$(of_queues s e0 3 $(($1 + $2)) "$3")"
}
all_sent_are() { [ "$(sent_by_class "$1" "$2" "$3")" = "$4" ]; }

# ranges_hold A B C OPTIONS...: flows of three classes, many more than queues
ranges_hold() {
	local a=$1 b=$2 c=$3
	shift 3
	tc -n s qdisc del dev e0 root
	bfc s e0 peer off prio dscp limit 32mb queues $((a + b + c)) classes 3 \
		class-queues "$a,$b,$c" "$@"
	send s 10.0.0.2 5000 -f 7 -F 0 -s 500 -n 20
	send s 10.0.0.2 5001 -f 60 -F 1 -s 500 -n 20 -T 32
	send s 10.0.0.2 5002 -f 30 -F 2 -s 500 -n 20 -T 64
	sleep 0.3
	occupied=$(stat s e0 occupied)
	wait_for 20 all_sent_are "$a" "$b" "$c" "140 1200 600" ||
		fail "$*: packets by class $(sent_by_class "$a" "$b" "$c")"
	equal "$*: dropped" "$(stat s e0 drops)" 0
}

# Also when a range, or the flow table, is used up.
test_ranges_hold() {
	local how
	topology classes 3
	for how in dynamic destination root stochastic single; do
		ranges_hold 4 6 2 assign "$how"
		[ "$how" = single ] && at_most "queues in use" "$occupied" 3
	done
	ranges_hold 1 1 1
	ranges_hold 4 6 2 flows 16 ways 1
	ranges_hold 4 6 2 flows 16 ways 1 assign dynamic
	ranges_hold 4 6 2 assign dynamic new-first off avoid-paused off strict 1
	at_least "queues in use" "$occupied" 11
}

# What is left over goes to the lowest, and priorities above the last class are of that.
test_even_and_the_last_class() {
	topology classes 5
	local prio
	for prio in {0..7}; do
		send s 10.0.0.2 5000 -n $((prio + 1)) -s 100 -T $((prio << 5))
	done
	sleep 1
	equal "packets by class" "$(of_queues s e0 3 0 3) $(of_queues s e0 3 3 3) $(
		of_queues s e0 3 6 2) $(of_queues s e0 3 8 2) $(of_queues s e0 3 10 2)" \
		"1 2 3 4 26"
}

# By a map, and by skb->priority
test_prio_and_map() {
	topology classes 4 map 46:3,0:1
	send s 10.0.0.2 5000 -n 5 -s 100 -T $((46 << 2))
	send s 10.0.0.2 5000 -n 7 -s 100
	sleep 0.5
	equal "by DSCP" "$(of_queues s e0 3 3 3) $(of_queues s e0 3 9 3)" "7 5"
	change prio skb map auto
	send s 10.0.0.2 5000 -n 9 -s 100 -P 2
	sleep 0.5
	equal "by skb" "$(of_queues s e0 3 6 3)" 9
}

# Many flows to r take no more than the share of one destination, of their class only; and those
# to r2 find a queue for themselves.
test_shares_are_of_a_class() {
	topology classes 2 queues 32 hrtt 4ms
	ip -n r addr add 10.0.0.3/24 dev e0
	meet 10.0.0.3 s
	flood_class 0 -f 3
	flood_class 1 -f 60
	sleep 0.5
	local busy told
	busy=$(stat s e0 occupied) told=$(stat s e0 told_to_share)
	# of 16: held * 4 >= free from 12 or 13 on
	at_least "queues of r" "$busy" $((3 + 10))
	at_most "queues of r" "$busy" $((3 + 14))
	at_least "told to share" "$told" 40
	send s 10.0.0.3 5003 -F 3 -t 3 -T 32 -s 1000 -b 10000
	sleep 0.5
	equal "queues with r2" "$(stat s e0 occupied)" $((busy + 1))
	equal "told to share" "$(stat s e0 told_to_share)" "$told"
	send s 10.0.0.3 5004 -f 5 -F 4 -t 3 -s 1000 -b 10000
	sleep 0.5
	equal "queues with class 0 of r2" "$(stat s e0 occupied)" $((busy + 6))
}

# ---- change ----

test_change_under_traffic() {
	local n receiver sent=()
	topology classes 3
	receive r 5009 -t 60 -i 4
	receiver=$bg
	for n in 0 1 2 3; do
		send s 10.0.0.2 5009 -f 6 -F $((10 * n)) -t 5 -s 500 -b 10000 -T $((n << 5))
		sent+=("$bg")
	done
	for n in 4 2 8 3 1 4; do
		if [ "$n" = 1 ]; then
			change classes 1
		else
			change classes "$n" prio dscp strict none
		fi
		sleep 0.2
		[ "$n" = 1 ] || change strict $((n - 1)) weights equal
		sleep 0.2
	done
	change strict none
	sleep 0.3
	rates "at last" 0:3 3:3 6:3 9:3
	for n in 1 2 3; do
		within "class $n against 0" "${rate[n]}" "${rate[0]}"
	done
	change class-queues 1,2,3,6
	sleep 0.5
	rates "other ranges" 0:1 1:2 3:3 6:6
	for n in 1 2 3; do
		within "class $n against 0" "${rate[n]}" "${rate[0]}"
	done
	finish "${sent[@]}" "$receiver"
	equal "lost" "$(received r 5009 .lost)" 0
	equal "dropped" "$(stat s e0 drops)" 0
	all_idle
}

# A change of something else leaves the turns as they are. Before, each began with the class
# of the first queue: 10 changes in the time of a packet gave it the whole link.
test_change_of_something_else() {
	local i before
	topology classes 3 weights 1,2,4
	flood_class 0 -f 4
	flood_class 1 -f 4
	flood_class 2 -f 4
	sleep 0.3
	before=("$(of_queues s e0 2 0 4)" "$(of_queues s e0 2 4 4)" "$(of_queues s e0 2 8 4)")
	for ((i = 0; i < 500; i++)); do
		change sticky "$((10 + i % 2))us"
		sleep 0.001
	done
	rate=()
	for i in 0 1 2; do
		rate+=($(($(of_queues s e0 2 $((4 * i)) 4) - before[i])))
	done
	say "1,2,4 ${rate[*]}"
	within "class 1 against 0" "${rate[1]}" $((2 * rate[0]))
	within "class 2 against 0" "${rate[2]}" $((4 * rate[0]))
}

# Queues become those of another class while flows have packets there: what is free is counted
# right after that, so that flows share when queues are short, and not before.
test_queues_of_another_class() {
	local i told sent=()
	topology classes 2 class-queues 8,4 hrtt 1ms
	# They have nothing left soon: four queues of class 0 are free again.
	for i in 1 2 3 4; do
		send s 10.0.0.2 5000 -F "$i" -n 2 -s 1000
		finish "$bg"
	done
	wait_for 5 drained s e0
	for i in 5 6 7 8; do
		send s 10.0.0.2 5000 -F "$i" -t 3 -b 10000 -s 1000
		sent+=("$bg")
	done
	sleep 1
	at_least "packets in what is to be of class 1" "$(of_queues s e0 6 4 4)" 8
	change class-queues 4,8
	finish "${sent[@]}"
	wait_for 10 drained s e0
	sleep 0.1
	told=$(stat s e0 told_to_share)
	send s 10.0.0.2 5000 -f 8 -F 20 -t 2 -b 10000 -s 1000
	finish "$bg"
	at_least "flows that share four queues" $(($(stat s e0 told_to_share) - told)) 4
}

# What has no entry of its own in the flow table stays where it is when priorities take the place
# of classes. (KASAN saw a write behind the table.)
test_overflow_and_priorities() {
	local prio sent=()
	topology classes 2
	tc -n s qdisc del dev e0 root
	bfc s e0 peer off queues 16 limit 32mb flows 16 ways 1
	send s 10.0.0.2 5000 -f 60 -t 4 -b 6000 -s 1000
	sent+=("$bg")
	sleep 1
	at_least "flows that share entries" "$(stat s e0 shared)" 1
	change fc pfc prio dscp
	for prio in 1 5 7; do
		send s 10.0.0.2 5001 -f 20 -F $((prio * 100)) -n 3 -T $((prio << 5)) -s 1000
		sent+=("$bg")
	done
	finish "${sent[@]}"
	wait_for 20 drained s e0
	equal "drops" "$(stat s e0 drops)" 0
}

# To and from modes that have no classes, or others
test_change_of_mode() {
	local mode
	topology classes 3 strict 2 queues 16	# 6, 5 and 5
	flood_class 0 -f 4
	flood_class 2 -f 4
	for mode in pfc bfc capfc-cal none bfc; do
		change fc "$mode"
		sleep 0.1
		[ "$mode" = pfc ] || [ "$mode" = capfc-cal ] ||
			change classes 3 prio dscp strict 2
		sleep 0.2
	done
	rates "at last" 0:6 6:5 11:5
	equal "bytes of 0" "${rate[0]}" 0
	at_least "bytes of 2" "${rate[2]}" 500000
}

# ---- hops ----

# two_hops OPTIONS...: hosts tell a class by SO_PRIORITY, which is in no packet; x is as fast as
# two hosts, r2's link slow
#
#   h1 --p1-\                  /--r1-- r1
#            sw1 --x-->--x-- sw2
#   h2 --p2-/                  \--r2-- r2
two_hops() {
	local i
	switch sw1
	switch sw2
	for i in 1 2; do
		host "h$i" "10.0.0.$i/24"
		host "r$i" "10.0.0.10$i/24"
		cable sw1 "p$i" "h$i" e0
	done
	cable sw2 r1 r1 e0
	cable sw2 r2 r2 e0 rate 2mbit delay 100us ring 2
	cable sw1 x sw2 x rate 40mbit delay 100us ring 8
	for i in "sw1 p1" "sw1 p2" "sw1 x" "sw2 x" "sw2 r1" "sw2 r2"; do
		# shellcheck disable=SC2086
		bfc $i hrtt 6ms queues 16 "$@"
	done
	for i in h1 h2 r1 r2; do
		bfc "$i" e0 role nic hrtt 6ms queues 16 "$@" prio skb
	done
	peers_up
	meet 10.0.0.101 h1 h2
	meet 10.0.0.102 h1 h2
}

# Class 1 is paused on both hops; class 0 from the same host has the rest of its link.
test_a_pause_is_of_one_class() {
	local r1 r2
	two_hops classes 2
	receive r1 5000 -t 30 -i 2
	r1=$bg
	receive r2 5000 -t 30 -i 2
	r2=$bg
	send h1 10.0.0.102 5000 -f 4 -F 0 -t 4 -s 1000 -P 1
	send h2 10.0.0.102 5000 -f 4 -F 10 -t 4 -s 1000 -P 1
	sleep 0.5
	send h1 10.0.0.101 5000 -f 2 -F 20 -t 2 -s 1000
	finish "$bg" "$r1" "$r2"
	equal "lost" "$(received r1 5000 .lost) $(received r2 5000 .lost)" "0 0"
	equal "dropped" "$(sum_stat drops)" 0
	# 20 Mbit/s for two seconds are 5 MB; h1 sends its half of 2 Mbit/s as well
	at_least "bytes of class 0" "$(received r1 5000 '[.flows[].bytes] | add')" 4000000
	local port
	for port in "h1 e0" "sw1 x"; do
		# shellcheck disable=SC2086
		equal "pauses of class 0 at $port" "$(of_queues $port 8 0 8)" 0
		# shellcheck disable=SC2086
		at_least "pauses of class 1 at $port" "$(of_queues $port 8 8 8)" 2
	done
	# The class is that of the host, two switches later.
	equal "packets of class 0 to r2" "$(of_queues sw2 r2 3 0 8)" "$(echoes r2)"
	at_least "packets of class 1 to r2" "$(of_queues sw2 r2 3 8 8)" 700
	equal "packets of class 1 to r1" "$(of_queues sw2 r1 3 8 8)" 0
	all_idle
}

# echoes HOST: what meet() and neighbour discovery sent it that is no flow's: all but the flows'
echoes() {
	echo $(($(of_queues sw2 "$1" 3 0 16) - $(received "$1" 5000 .packets)))
}

# With a shared buffer the packet's own priority is charged: its class, if no other was told
test_a_class_is_charged() {
	local port
	line_to_n buffer b size 1mb queues 8 classes 2 prio dscp
	tc -n sw qdisc change dev pn root bfc rate 1mbit
	send h 10.0.0.2 5000 -t 3 -s 1000 -T 32 -r 5000000
	sleep 1
	at_least "held of class 1" "$(stat sw ph 'prios[1].held')" 20000
	equal "held of class 0" "$(stat sw ph 'prios[0].held')" 0
	at_least "queued" "$(of_queues sw pn 6 4 4)" 20
	end_background
	for port in ph pn; do
		tc -n sw qdisc change dev $port root bfc rate link
	done
	wait_for 5 drained sw pn || fail "not drained"
	equal "held at last" "$(stat sw ph 'prios[1].held')" 0
	frames close
}

# A class that is told by the tag alone is not: these packets have priority 0.
test_a_told_class_is_not_charged() {
	two_hops classes 2 buffer b size 2mb
	send h1 10.0.0.102 5000 -f 4 -t 2 -s 1000 -P 1
	sleep 1
	at_least "queued of class 1" "$(of_queues sw2 r2 6 8 8)" 4
	at_least "held of priority 0" "$(stat sw2 x 'prios[0].held')" 4000
	equal "held of priority 1" "$(stat sw2 x 'prios[1].held')" 0
	finish "$bg"
	all_idle
}

# The same through routers: skb->priority is lost there, as IP sets it by TOS.
test_a_class_goes_through_a_router() {
	host h 10.0.1.1/24
	host r 10.0.2.1/24
	new_ns rt
	in_ns rt sysctl -qw net.ipv4.ip_forward=1
	cable rt ra h e0
	cable rt rb r e0
	ip -n rt addr add 10.0.1.2/24 dev ra
	ip -n rt addr add 10.0.2.2/24 dev rb
	ip -n h route add default via 10.0.1.2
	ip -n r route add default via 10.0.2.2
	bfc h e0 role nic hrtt 6ms queues 8 classes 2 prio skb
	bfc r e0 role nic hrtt 6ms queues 8 classes 2 prio skb
	bfc rt ra hrtt 6ms queues 8 classes 2
	bfc rt rb hrtt 6ms queues 8 classes 2
	peers_up
	meet 10.0.2.1 h
	send h 10.0.2.1 5000 -n 30 -s 100 -P 1
	send h 10.0.2.1 5000 -n 20 -s 100
	sleep 1
	equal "packets of class 1" "$(of_queues rt rb 3 4 4)" 30
	at_least "packets of class 0" "$(of_queues rt rb 3 0 4)" 20
}

# More classes there than here, and none
test_other_numbers_of_classes() {
	two_hops classes 8
	tc -n sw2 qdisc change dev r2 root bfc classes 2
	send h1 10.0.0.102 5000 -n 30 -s 100 -P 5
	sleep 1
	equal "packets of class 5 to r2" "$(of_queues sw2 r2 3 8 8)" 30
	tc -n sw2 qdisc change dev r2 root bfc classes 1
	send h1 10.0.0.102 5000 -n 30 -s 100 -P 5
	sleep 1
	equal "neighbour" "$(stat sw2 r2 peer_state)" up
	equal "bad tags" "$(sum_stat bad_tag)" 0
	tc -n sw2 qdisc change dev r2 root bfc classes 8
	# Now sw1 has none, and tells none: a packet has that of its DSCP.
	tc -n sw1 qdisc change dev x root bfc classes 1
	tc -n sw2 qdisc change dev r2 root bfc prio dscp
	sleep 1
	local before
	before=$(of_queues sw2 r2 3 6 2)
	send h1 10.0.0.102 5000 -n 25 -s 100 -P 5 -T 96
	sleep 1
	equal "packets of class 3" $(($(of_queues sw2 r2 3 6 2) - before)) 25
}

# ---- on the wire ----

# n is made of Python.
fake() {
	line_to_n "$@"
	mac_h=$(mac h e0)
	frames talk n 0.3
	wait_for 10 peer_up sw pn || fail "no agreement with n"
}
from_n() {
	frames udp n dst="$mac_h" from=10.0.0.2 to=10.0.0.1 count=10 size=40 dport=9 \
		tags="88a8:$(($1 << 13 | 3))"
	sleep 0.5
}

test_the_tag_tells_the_class() {
	fake queues 8 classes 4 prio dscp
	frames seen n kind=hello
	equal "classes in HELLO" "$(answered 'map(.classes) | unique | tostring')" '[4]'
	frames clear n
	local class
	for class in 0 1 2 3; do
		send h 10.0.0.2 5000 -n 5 -s 100 -F "$class" -T $((class << 5))
	done
	sleep 1
	for class in 0 1 2 3; do
		frames seen n flow=$class
		equal "tag of class $class" "$(answered \
			'[length, (map(.tags[0][2]) | unique),
			  (map((.tags[0][1] - 1) / 2 | floor) | unique)] | tostring')" \
			"[5,[$class],[$class]]"
	done
	frames close
}

test_a_class_is_taken_if_it_is_told() {
	fake queues 8 classes 4 prio dscp
	# An old one, whose PCP says nothing
	from_n 2
	equal "class 2, not told" "$(of_queues sw ph 3 4 2)" 0
	frames set n classes=4
	sleep 0.7
	from_n 2
	equal "class 2" "$(of_queues sw ph 3 4 2)" 10
	from_n 7
	equal "class 7 is the last" "$(of_queues sw ph 3 6 2)" 10
	tc -n sw qdisc change dev pn root bfc keep-class off
	from_n 2
	equal "class 2, not believed" "$(of_queues sw ph 3 4 2)" 10
	tc -n sw qdisc change dev pn root bfc keep-class on
	from_n 2
	equal "class 2, believed again" "$(of_queues sw ph 3 4 2)" 20
	frames set n classes=1
	sleep 0.7
	from_n 1
	equal "class 1, not told any more" "$(of_queues sw ph 3 2 2)" 0
	frames close
}

# ---- thresholds ----

# Th by the class's part of the link: 10 Mbit/s x 40 ms are 50 kB, and of these a quarter and
# three quarters; both are reached, and little more.
test_thresholds_are_of_a_class() {
	exact_clock || return
	switch sw
	host h1 10.0.0.1/24
	host h2 10.0.0.2/24
	host r 10.0.0.100/24
	cable sw p1 h1 e0 rate 100mbit delay 20us ring 1
	cable sw p2 h2 e0 rate 100mbit delay 20us ring 1
	cable sw r0 r e0 rate 10mbit delay 20us ring 1
	local port
	for port in "sw p1" "sw p2" "sw r0" "h1 e0 role nic" "h2 e0 role nic" "r e0 role nic"; do
		# shellcheck disable=SC2086
		bfc $port hrtt 40ms queues 8 classes 2 weights 1,3 prio dscp
	done
	peers_up
	meet 10.0.0.100 h1 h2
	send h1 10.0.0.100 5000 -t 2 -s 1000 -b 20000
	send h2 10.0.0.100 5000 -t 2 -s 1000 -b 20000 -T 32
	sleep 2
	low=$(classes sw r0 | awk 'NR <= 4 && $7 > most { most = $7 } END { print most + 0 }')
	high=$(classes sw r0 | awk 'NR > 4 && $7 > most { most = $7 } END { print most + 0 }')
	say "peaks $low $high"
	within "peak of class 1" "$high" 40000
	# What came before class 1 did was alone.
	at_most "peak of class 0" "$low" 56000
	sleep 0.5
}

# ---- what is refused ----

test_refused() {
	host s 10.0.0.1/24
	host r 10.0.0.2/24
	tx_queues=4
	cable s e0 r e0
	tx_queues=
	tc_refuses "classes: 1 to 8" -n s qdisc add dev e0 root bfc classes 9
	tc_refuses "at most as many as queues" -n s qdisc add dev e0 root bfc classes 4 queues 3
	tc_refuses "classes: cards serve TX queues in turn" -n s qdisc add dev e0 root bfc \
		classes 2 txqs each
	bfc s e0 classes 2
	equal "schedulers" "$(children s e0)" 0
	tc -n s qdisc del dev e0 root
	bfc s e0 txqs each
	tc_refuses "classes: cards serve TX queues in turn" -n s qdisc change dev e0 root bfc \
		classes 2
	tc -n s qdisc del dev e0 root
	local mode
	for mode in pfc capfc-max capfc-cal fafc; do
		tc_refuses "classes: used by fc bfc and none only" -n s qdisc add dev e0 root \
			bfc fc $mode classes 2
	done
	tc_refuses "weights: used with classes only" -n s qdisc add dev e0 root bfc weights 1,2
	tc_refuses "class-queues: used with classes only" -n s qdisc add dev e0 root bfc \
		class-queues 16,16
	tc_refuses "strict: not used by fc bfc and none without classes" -n s qdisc add dev e0 \
		root bfc strict 1
	tc_refuses "class-queues: a number for each of classes" -n s qdisc add dev e0 root bfc \
		classes 2 class-queues 16,15
	tc_refuses "class-queues: a number for each of classes" -n s qdisc add dev e0 root bfc \
		classes 2 class-queues 16,8,8
	tc_refuses "weights: 1 to 255 for each of classes" -n s qdisc add dev e0 root bfc \
		classes 3 weights 1,2
	tc_refuses "weights: 1 to 255 for each of classes" -n s qdisc add dev e0 root bfc \
		classes 2 weights 1,256
	tc_refuses "strict: 0 to classes - 1" -n s qdisc add dev e0 root bfc classes 2 strict 2
	bfc s e0 classes 4 weights 1,2,3,4 txqs one
	tc_refuses "weights: 1 to 255 for each of classes" -n s qdisc change dev e0 root bfc \
		classes 2
	equal "classes" "$(stat s e0 options.classes)" 4
}

# of_class NS PORT CLASS FIELDS: of a class by the statistics of the port, in JSON
of_class() {
	tc -n "$1" -s -j qdisc show dev "$2" root |
		jq -r --argjson c "$3" "[.[0].classes[\$c] | $4] | join(\" \")"
}

# of_its_queues FIRST COUNT: the same of its queues at s: packets, bytes, drops, queued, pauses
of_its_queues() {
	local field sums=()
	for field in 3 2 4 6 8; do
		sums+=("$(of_queues s e0 "$field" "$1" "$2")")
	done
	echo "${sums[*]}"
}

# as_its_queues NAME CLASS:FIRST:COUNT...
as_its_queues() {
	local name=$1 range
	shift
	for range; do
		# shellcheck disable=SC2046
		equal "$name: class ${range%%:*}" \
			"$(of_class s e0 "${range%%:*}" '.packets, .bytes, .drops, .qlen, .pauses')" \
			"$(of_its_queues $(tr : ' ' <<<"${range#*:}"))"
	done
}

# of_all FIELD: sum over the classes of s
of_all() { tc -n s -s -j qdisc show dev e0 root | jq "[.[0].classes[].$1] | add"; }

# What a class has is what its queues have; queues that change their class leave it what they
# have counted.
test_statistics() {
	local class before packets drops
	topology classes 3 limit 300kb assign dynamic
	for class in 1 2; do
		send s 10.0.0.2 "500$class" -F $((10 * class)) -f $((2 * class)) -T $((class << 5)) \
			-n 200 -s $((500 * class)) -r 20000000
		pids_of+=("$bg")
	done
	send s 10.0.0.2 5000 -n 200 -s 200 -r 1000000
	finish "$bg" "${pids_of[@]}"
	wait_for 20 drained s e0 || fail "not drained"
	as_its_queues "drained" 0:0:4 1:4:4 2:8:4
	equal "packets of class 0" "$(of_class s e0 0 '.packets, .drops, .queues')" "200 0 4"
	at_least "packets of class 1" "$(of_class s e0 1 .packets)" 100
	at_least "drops of class 2" "$(of_class s e0 2 .drops)" 1
	equal "drops" "$(of_all drops)" "$(stat s e0 drops)"
	equal "backlog" "$(of_all backlog)" 0
	equal "none was without a queue" "$(of_all exhausted)" 0

	before=$(of_class s e0 1 '.packets, .bytes, .drops, .pauses')
	packets=$(of_all packets) drops=$(of_all drops)
	change class-queues 2,9,1
	equal "class 1 with other queues" "$(of_class s e0 1 '.packets, .bytes, .drops, .pauses')" \
		"$before"
	equal "all classes" "$(of_all packets) $(of_all drops)" "$packets $drops"
	equal "queues" "$(of_class s e0 1 .queues)" 9
	change classes 2 class-queues even
	equal "two classes" "$(of_class s e0 1 '.packets, .bytes, .drops, .pauses')" "$before"
	change classes 1
	equal "none" "$(stat s e0 classes)" null
	send s 10.0.0.2 5000 -n 50 -s 100
	finish "$bg"
	wait_for 20 drained s e0 || fail "not drained"
	change classes 3 prio dscp
	equal "three again" "$(of_class s e0 1 '.packets, .bytes, .drops, .pauses')" "$before"
	equal "all that were sent while there were classes" "$(of_all packets)" "$packets"
}

# As text, with a backlog, and what is paused and for how long.
test_statistics_of_what_waits() {
	local class ns text
	line_to_n queues 9 classes 3 prio dscp assign dynamic
	frames talk n 0.3
	wait_for 10 peer_up sw pn || fail "not up"
	frames pause n bits=0,3,4,5,6 hold=1000000000
	wait_for 2 is_paused 5 || fail "not paused"
	for class in 0 1 2; do
		send h 10.0.0.2 5000 -F $((10 * class)) -f 5 -n 1 -s 400 -T $((class << 5))
	done
	sleep 0.3
	equal "queues that are paused" "$(of_class sw pn 0 .paused) $(of_class sw pn 1 .paused) $(
		of_class sw pn 2 .paused)" "1 3 1"
	equal "packets that wait in class 1" "$(of_class sw pn 1 '.qlen, .occupied')" "5 3"
	equal "their bytes" "$(of_class sw pn 1 .backlog)" $((5 * 442))
	# Five flows, three queues
	equal "flows of class 1 that found none" "$(of_class sw pn 1 .exhausted)" 2
	equal "pauses" "$(of_class sw pn 1 .pauses)" 3
	ns=$(of_class sw pn 1 .paused_time)
	sleep 0.1
	ns=$(($(of_class sw pn 1 .paused_time) - ns))
	at_least "ns that three queues wait meanwhile" "$ns" 300000000
	text=$(tc -n sw -s qdisc show dev pn | grep '^  class 1 ')
	[[ $text == "  class 1 queues 3 occupied 3 paused 3 backlog 2210b qlen 5 "* ]] || fail "says $text"
	# Three of five queues get another class amid their pause.
	ns=$(of_class sw pn 1 .paused_time)
	tc -n sw qdisc change dev pn root bfc class-queues 6,1,2
	ns=$(($(of_class sw pn 1 .paused_time) - ns))
	at_least "ns of class 1, whose one queue is paused" "$ns" 0
	at_most "ns of class 1, whose one queue is paused" "$ns" 500000000
	equal "pauses" "$(of_class sw pn 0 .pauses) $(of_class sw pn 1 .pauses)" "1 3"
	end_background
}
is_paused() { [ "$(stat sw pn paused)" = "$1" ]; }

run_tests strict_goes_first strict_is_at_once weights_hold weights_beside_a_strict_class \
	a_class_that_comes_and_goes even_and_the_last_class prio_and_map shares_are_of_a_class \
	change_under_traffic queues_of_another_class overflow_and_priorities change_of_mode \
	a_pause_is_of_one_class a_class_is_charged a_told_class_is_not_charged \
	a_class_goes_through_a_router other_numbers_of_classes the_tag_tells_the_class \
	a_class_is_taken_if_it_is_told thresholds_are_of_a_class refused statistics \
	statistics_of_what_waits -- ranges_hold change_of_something_else
