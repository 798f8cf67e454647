#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# sched srf: shortest remaining flow first (BFC App. A.2).
#
#   h1 --p1-\
#   h2 --p2--> sw1 --x-->--x-- sw2 --r0-- r
#   h3 --p3-/                     \--r2-- r2
#
# All links 20 Mbit/s. Packets tell sizes themselves, in UDP.

# shellcheck source=selftests/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"

# srf_net [OPTIONS of the switches' ports]
srf_net() {
	local i port
	switch sw1
	switch sw2
	host r 10.0.0.100/24
	host r2 10.0.0.102/24
	cable sw2 r0 r e0
	cable sw2 r2 r2 e0
	cable sw1 x sw2 x
	for i in 1 2 3; do
		host "h$i" "10.0.0.$i/24"
		cable sw1 "p$i" "h$i" e0
		bfc sw1 "p$i" hrtt 4ms
		bfc "h$i" e0 role nic queues 128 hrtt 4ms sched srf
	done
	for port in "sw1 x" "sw2 x" "sw2 r0" "sw2 r2"; do
		# shellcheck disable=SC2086
		bfc $port hrtt 4ms sched srf "$@"
	done
	bfc r e0 role nic hrtt 4ms
	bfc r2 e0 role nic hrtt 4ms
	peers_up
	meet 10.0.0.100 h1 h2 h3
	meet 10.0.0.102 h1 h3
}

# of_flow NS PORT FLOW FIELD
of_flow() { received "$1" "$2" ".flows[] | select(.id == $3) | .$4"; }

# in_order NS...: all that was sent to port 5000 there came, each flow's as it was sent
in_order() {
	local ns
	for ns; do
		equal "lost to $ns" "$(received "$ns" 5000 .lost)" 0
		equal "reordered to $ns" "$(received "$ns" 5000 .reordered)" 0
	done
}

# short_among_long: how long the 30 packets of a short flow took, s, in $took
short_among_long() {
	local receiver sent=()
	receive r 5000 -n 1830 -t 60 -i 3
	receiver=$bg
	send h1 10.0.0.100 5000 -F 10 -f 2 -n 450 -R 0
	sent+=("$bg")
	send h3 10.0.0.100 5000 -F 30 -f 2 -n 450 -R 0
	sent+=("$bg")
	sleep 0.2
	send h2 10.0.0.100 5000 -F 20 -n 30 -R 0
	sent+=("$bg")
	finish "${sent[@]}" "$receiver"
	in_order r
	equal "packets" "$(received r 5000 .packets)" 1830
	took=$(of_flow r 5000 20 seconds)
}

# 30 packets of 1042 bytes take 12.1 ms from the first to the last where nothing else is sent;
# with turns, five times as long.
test_short_overtakes() {
	local port
	srf_net
	short_among_long
	say "srf: $took s"
	at_most "srf, s" "$took" 0.016
	at_least "pauses" "$(sum_stat pause_rx)" 5
	equal "packets dropped by any port" "$(sum_stat drops)" 0
	at_least "packets that told a size" "$(stat sw1 x sized)" 1830
	all_idle
	for port in "sw1 x" "sw2 r0"; do
		# shellcheck disable=SC2086
		bfc $port sched drr
	done
	short_among_long
	say "drr: $took s"
	at_least "drr, s" "$took" 0.03
	all_idle
}

# Of two long flows the shorter one is done before the other goes on.
test_longer_waits() {
	local receiver sent=()
	srf_net
	receive r 5000 -n 1600 -t 60 -i 3
	receiver=$bg
	send h1 10.0.0.100 5000 -F 1 -n 800 -R 100000000
	sent+=("$bg")
	sleep 0.1
	send h3 10.0.0.100 5000 -F 3 -n 800 -R 0
	sent+=("$bg")
	finish "${sent[@]}" "$receiver"
	# 800 packets take 333 ms: in 360 no more than 64 of the longer one's can be among them.
	say "shorter $(of_flow r 5000 3 seconds) s, longer $(of_flow r 5000 1 seconds) s"
	at_most "the shorter one, s" "$(of_flow r 5000 3 seconds)" 0.36
	at_least "the longer one, s" "$(of_flow r 5000 1 seconds)" 0.6
	in_order r
	all_idle
}

# Two flows of one size share the link until one of them is ahead by 1/16, and then go on one
# after the other: they never both wait.
test_same_size_takes_turns() {
	local receiver sent=()
	srf_net
	receive r 5000 -n 1600 -t 60 -i 3
	receiver=$bg
	send h1 10.0.0.100 5000 -F 1 -n 800 -R 0
	sent+=("$bg")
	send h3 10.0.0.100 5000 -F 3 -n 800 -R 0
	sent+=("$bg")
	finish "${sent[@]}" "$receiver"
	in_order r
	at_most "both, s" "$(received r 5000 .seconds)" 0.72
	all_idle
}

# The flow with the smallest size is paused by sw2, whose port to r is slow: what goes elsewhere
# does not wait for it.
test_paused_is_passed() {
	local receivers=() sent=()
	srf_net
	bfc sw2 r0 hrtt 4ms sched srf rate 4mbit
	receive r 5000 -n 300 -t 60 -i 3
	receivers+=("$bg")
	receive r2 5000 -n 600 -t 60 -i 3
	receivers+=("$bg")
	send h1 10.0.0.100 5000 -F 1 -n 300 -R 0
	sent+=("$bg")
	sleep 0.1
	send h3 10.0.0.102 5000 -F 3 -n 600 -R 100000000
	sent+=("$bg")
	finish "${sent[@]}" "${receivers[@]}"
	at_least "pauses of sw1" "$(stat sw1 x pause_rx)" 2
	# 250 ms alone; the other takes a fifth of the link.
	say "past a paused one: $(received r2 5000 .seconds) s"
	at_most "past a paused one, s" "$(received r2 5000 .seconds)" 0.36
	in_order r r2
	all_idle
}

# What tells no size waits for all that does; among themselves they take turns.
test_without_a_size() {
	local receiver sent=()
	srf_net
	receive r 5000 -n 1200 -t 60 -i 3
	receiver=$bg
	send h1 10.0.0.100 5000 -F 10 -f 2 -n 200
	sent+=("$bg")
	sleep 0.05
	send h3 10.0.0.100 5000 -F 30 -n 800 -R 100000000
	sent+=("$bg")
	finish "${sent[@]}" "$receiver"
	at_most "with a size, s" "$(of_flow r 5000 30 seconds)" 0.36
	at_least "without, s" "$(of_flow r 5000 10 seconds)" 0.4
	at_least "without, the other, s" "$(of_flow r 5000 11 seconds)" 0.4
	in_order r
	all_idle
}

# ACKs tell no size, but they are not to wait: h1 gets what r sends at the speed of the link while
# h3 fills the way of the ACKs.
test_acks_do_not_wait() {
	local server receiver
	srf_net
	background ip netns exec r tcpask serve -p 80
	server=$bg
	check "no server" wait_for 10 tcp_listens r 80
	receive r2 5000 -t 60 -i 2
	receiver=$bg
	send h3 10.0.0.102 5000 -F 3 -f 2 -n 2500 -R 0
	sleep 0.2
	in_ns h1 tcpask ask -d 10.0.0.100 -p 80 -t 1 -w 0.2 -s 1000000000 >"$scratch/asked"
	kill "$server"
	finish "$bg" "$receiver"
	at_least "packets queued on the way of the ACKs" "$(stat sw1 x backlog_peak)" 10000
	at_least "goodput, Mbit/s" "$(jq '.mbit // (.bytes * 8 / .seconds / 1e6)' \
		"$scratch/asked")" 15
	equal "lost" "$(received r2 5000 .lost)" 0
}

# A change of `sched` under traffic: packets that are queued keep their order, and none is lost.
test_changes_under_way() {
	local receiver sent=() i
	srf_net
	receive r 5000 -n 2400 -t 60 -i 3
	receiver=$bg
	for i in 1 2 3; do
		send "h$i" 10.0.0.100 5000 -F "${i}0" -f 2 -n 400 -R $((i * 100000))
		sent+=("$bg")
	done
	for i in drr srf drr srf; do
		sleep 0.12
		at_least "bytes queued" "$(stat sw1 x backlog)" 1000
		check "sched $i" tc -n sw1 qdisc change dev x root bfc sched $i
		check "sched $i" tc -n sw2 qdisc change dev r0 root bfc sched $i
		check "sched $i" tc -n h1 qdisc change dev e0 root bfc sched $i
	done
	finish "${sent[@]}" "$receiver"
	equal "packets" "$(received r 5000 .packets)" 2400
	equal "reordered" "$(received r 5000 .reordered)" 0
	equal "packets dropped by any port" "$(sum_stat drops)" 0
	all_idle
}

# The link down and up with packets in all places: what is freed is in no bucket any more.
test_reset() {
	local i
	srf_net queues 8
	receive r 5000 -t 30 -i 3
	for i in 1 2 3; do
		send "h$i" 10.0.0.100 5000 -F "${i}0" -f 8 -n 200 -R $((i * 100000))
	done
	sleep 0.3
	at_least "bytes queued" "$(stat sw1 x backlog)" 1000
	ip -n sw1 link set x down
	equal "bytes queued" "$(stat sw1 x backlog)" 0
	ip -n sw1 link set x up
	finish "$bg"
	all_idle
}

# sent_by NS PORT: packets that each of its queues has sent
sent_by() { classes "$1" "$2" | awk '{ print $3 }'; }

# joined: s has 4 queues, and sends a flow of another size in each, then 20 packets that have
# nearly the size of the second. Flow k has 100 + k packets: so it shows in $joined whose queue
# these went to.
joined() {
	local i receiver before sent=() more=(0 1000000 30000000 1000000000)
	receive n 5000 -n 430 -t 60 -i 3
	receiver=$bg
	before=$(sent_by s e0)
	for i in 1 2 3 4; do
		send s 10.0.0.2 5000 -F "$i" -n $((100 + i)) -R "${more[i - 1]}"
		sent+=("$bg")
	done
	check "not in four queues" wait_for 2 four_queues
	sleep 0.02
	send s 10.0.0.2 5000 -F 5 -n 20 -R 1000000
	sent+=("$bg")
	finish "${sent[@]}" "$receiver"
	in_order n
	joined=$(paste <(echo "$before") <(sent_by s e0) |
		awk '$2 - $1 > 115 { print $2 - $1 - 120 }')
}

four_queues() { [ "$(stat s e0 occupied)" = 4 ]; }

test_join_similar() {
	local i seen=
	host s 10.0.0.1/24
	host n 10.0.0.2/24
	cable s e0 n e0 rate 5mbit delay 100us ring 8
	meet 10.0.0.2 s
	bfc s e0 queues 4 flows 10000 hrtt 4ms sched srf assign similar
	for i in 1 2 3 4; do
		joined
		equal "joined the queue of flow" "$joined" 2
		sleep 0.05
	done
	# The paper's: any.
	bfc s e0 queues 4 flows 10000 hrtt 4ms sched srf assign dynamic
	for i in 1 2 3 4 5 6 7 8; do
		joined
		seen+=" $joined"
		sleep 0.05
	done
	say "at random: the queue of flow$seen"
	at_least "queues joined" "$(tr ' ' '\n' <<<"${seen# }" | sort -u | wc -l)" 2
}

# A queue that is paused is joined, too, if its size is nearer than that of one that may send; then
# it has to be found when it is resumed, and when it is emptied. Flow k has 100 + 10 k packets,
# and there may be one of ARP or so.
test_join_paused() {
	local receivers=() sent=() i before
	srf_net queues 4 flows 10000 assign similar
	bfc sw2 r0 queues 4 flows 10000 hrtt 4ms sched srf assign similar rate 4mbit
	# Slower than a host, or the queue of the fourth flow, which goes past, has no packet
	# now and then, and is free.
	bfc sw1 x queues 4 flows 10000 hrtt 4ms sched srf assign similar rate 20mbit
	receive r 5000 -n 360 -t 60 -i 3
	receivers+=("$bg")
	receive r2 5000 -n 450 -t 60 -i 3
	receivers+=("$bg")
	before=$(sent_by sw1 x)
	for i in 1 2 3; do
		send "h$i" 10.0.0.100 5000 -F "$i" -n $((100 + 10 * i)) -R $((i * 1000000))
		sent+=("$bg")
	done
	send h1 10.0.0.102 5000 -F 4 -n 400 -R 1000000000
	sent+=("$bg")
	# As long as the first one goes to r the others are paused, once all have begun.
	sleep 0.05
	poll=0.01 check "two queues are not paused" wait_for 2 two_paused
	send h2 10.0.0.102 5000 -F 5 -n 50 -R 2000000
	sent+=("$bg")
	finish "${sent[@]}" "${receivers[@]}"
	at_least "collisions" "$(stat sw1 x collisions)" 1
	in_order r r2
	equal "packets" "$(received r 5000 .packets) $(received r2 5000 .packets)" "360 450"
	equal "joined the queue of flow" "$(paste <(echo "$before") <(sent_by sw1 x) |
		awk '$2 - $1 > 145 && $2 - $1 < 390 { print int(($2 - $1 - 145) / 10) }')" 2
	all_idle
}
two_paused() { [ "$(stat sw1 x paused)" -ge 2 ] && [ "$(stat sw1 x occupied)" = 4 ]; }

# Flows to r share among themselves, so that a short one to r2 finds a queue of its own.
test_join_by_destination() {
	local receivers=() sent=()
	srf_net queues 8 flows 10000 assign destination
	receive r 5000 -n 3200 -t 60 -i 3
	receivers+=("$bg")
	receive r2 5000 -n 30 -t 60 -i 5
	receivers+=("$bg")
	send h1 10.0.0.100 5000 -F 10 -f 16 -n 100 -R 1000000
	sent+=("$bg")
	send h2 10.0.0.100 5000 -F 40 -f 16 -n 100 -R 1000000
	sent+=("$bg")
	sleep 0.3
	send h3 10.0.0.102 5000 -F 3 -n 30 -R 0
	sent+=("$bg")
	finish "${sent[@]}" "${receivers[@]}"
	at_least "told to share" "$(stat sw1 x told_to_share)" 1
	at_most "the short one, s" "$(received r2 5000 .seconds)" 0.02
	in_order r r2
	all_idle
}

# All queues are taken, all but the last are paused: flows to others go to that one.
test_share_one_that_may_send() {
	local i since
	host s 10.0.0.1/24
	host n 10.0.0.2/24
	cable s e0 n e0 rate 5mbit delay 100us ring 8
	for i in 3 4 5 6 7 8 9 10 11; do
		ip -n n addr add "10.0.0.$i/24" dev e0
		meet "10.0.0.$i" s
	done
	meet 10.0.0.2 s
	bfc s e0 queues 4 flows 10000 hrtt 4ms sched srf peer on
	frames open n n e0
	for i in 2 3 4 5; do
		ip netns exec s udpflow send -d "10.0.0.$i" -p 5000 -n 1500 -b 24000 -R 1000000 \
			>/dev/null &
		pids+=($!)
	done
	check "not in four queues" wait_for 2 four_queues
	frames pause n queues=4 bits=0,1,2 epoch=99 seq=5 hold=4000000000
	check "paused" wait_for 2 three_paused
	since=$EPOCHREALTIME
	for i in 6 7 8 9 10 11; do
		send s "10.0.0.$i" $((5000 + i)) -F "$i" -n 3 -R 1000000
		finish "$bg"
		frames wait n 15 3 dport=$((5000 + i))
	done
	say "six flows: $(calc "$EPOCHREALTIME - $since") s"
	at_most "s for six flows" "$(calc "$EPOCHREALTIME - $since")" 3
	at_least "flows that shared" "$(stat s e0 collisions)" 6
	frames close
}

three_paused() { [ "$(stat s e0 paused)" = 3 ]; }

test_refused() {
	local fc
	hosts_to_r 2
	for fc in pfc capfc-max capfc-cal fafc; do
		tc_refuses "sched: used by fc bfc and none only" \
			-n sw qdisc change dev r0 root bfc fc "$fc" sched srf
		tc_refuses "assign: similar is used by fc bfc and none with sched srf only" \
			-n sw qdisc change dev r0 root bfc fc "$fc" sched srf assign similar
	done
	tc_refuses "sched: srf is not for classes" \
		-n sw qdisc change dev r0 root bfc classes 2 sched srf
	tc_refuses "assign: similar is used by fc bfc and none with sched srf only" \
		-n sw qdisc change dev r0 root bfc assign similar
	check "srf" tc -n sw qdisc change dev r0 root bfc sched srf assign similar
	tc_refuses "sched: srf is not for classes" -n sw qdisc change dev r0 root bfc classes 2
	tc_refuses "assign: similar is used by fc bfc and none with sched srf only" \
		-n sw qdisc change dev r0 root bfc sched drr
	check "fc none" tc -n sw qdisc change dev r0 root bfc fc none
	equal "sched" "$(stat sw r0 options.sched)" srf
	# A port-level mode gives it up, and what goes with it.
	check "fc pfc" tc -n sw qdisc change dev r0 root bfc fc pfc
	equal "sched" "$(stat sw r0 options.sched)" drr
	equal "assign" "$(stat sw r0 options.assign)" destination
	# Cards serve TX queues in turn.
	tx_queues=4
	host m 10.0.1.1/24
	host o 10.0.1.2/24
	cable m e0 o e0
	tc_refuses "sched: cards serve TX queues in turn" \
		-n m qdisc add dev e0 root bfc sched srf txqs each
	check "txqs auto" tc -n m qdisc add dev e0 root bfc sched srf
	equal "schedulers" "$(children m e0)" 0
}

run_tests short_overtakes longer_waits same_size_takes_turns paused_is_passed without_a_size \
	acks_do_not_wait changes_under_way reset join_paused join_by_destination \
	share_one_that_may_send refused -- join_similar
