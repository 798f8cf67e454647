#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# sample: a share of the packets is in flow table and pause counters (BFC App. A.8).
#
#   h1 --p1-\
#             sw --r0-- r
#   h2 --p2-/
#
# All links 20 Mbit/s; the option is at r0.

# shellcheck source=selftests/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"

# Of so many packets the share differs by as much once in a million runs.
test_share() {
	local per_cent before left_out packets=3000
	hosts_to_r 2
	for per_cent in 1 50 99 100; do
		check "$per_cent %" tc -n sw qdisc change dev r0 root bfc sample "$per_cent%"
		before=$(stat sw r0 unsampled)
		receive r 5000 -n "$packets" -t 30 -i 3
		all_send $((packets / 2)) h1 h2
		left_out=$(($(stat sw r0 unsampled) - before))
		say "$per_cent %: $left_out of $packets left out"
		at_most "off the share" "$(awk -v n="$packets" -v out="$left_out" \
			-v p="$per_cent" 'BEGIN { p /= 100; d = out - n * (1 - p);
				print (d < 0 ? -d : d) / (sqrt(n * p * (1 - p)) + 1) }')" 5
		equal "lost" "$(received r 5000 .lost)" 0
	done
	equal "left out of 100 %" "$left_out" 0
	all_idle
}

# Flows whose packets alternate are both paused: chance decides, not every other packet.
test_by_chance() {
	local i
	hosts_to_r 2 sample 50%
	receive r 5000 -n 3000 -t 30 -i 3
	all_send 1500 h1 h2
	for i in 1 2; do
		at_least "pauses of h$i" "$(stat "h$i" e0 pause_rx)" 5
	done
	equal "lost" "$(received r 5000 .lost)" 0
	# with ARP and ping
	at_most "counted" "$(stat sw r0 counted)" $((3020 - $(stat sw r0 unsampled)))
	at_least "counted" "$(stat sw r0 counted)" 100
	all_idle
}

# What is counted gives its count back, whatever the option says by then.
test_changes_under_way() {
	local receiver sent=() share i
	hosts_to_r 2 sample 10%
	receive r 5000 -t 60 -i 3
	receiver=$bg
	for i in 1 2; do
		send "h$i" 10.0.0.100 5000 -f 8 -F "${i}0" -t 3
		sent+=("$bg")
	done
	for share in 100 1 60 2 100 1; do
		sleep 0.4
		at_least "bytes queued" "$(stat sw r0 backlog)" 1000
		check "$share %" tc -n sw qdisc change dev r0 root bfc sample "$share%"
	done
	finish "${sent[@]}" "$receiver"
	equal "lost" "$(received r 5000 .lost)" 0
	at_least "pauses of h1" "$(stat h1 e0 pause_rx)" 5
	at_least "counted" "$(stat sw r0 counted)" 100
	all_idle
}

# A reset, too: packets of both kinds are in the queues.
test_reset() {
	local i
	hosts_to_r 2 sample 50%
	receive r 5000 -t 30 -i 3
	for i in 1 2; do
		send "h$i" 10.0.0.100 5000 -f 4 -F "${i}0" -t 1
	done
	sleep 0.5
	at_least "bytes queued" "$(stat sw r0 backlog)" 1000
	ip -n sw link set r0 down
	equal "bytes queued" "$(stat sw r0 backlog)" 0
	equal "pause counters" "$(sum_stat counters)" 0
	ip -n sw link set r0 up
	finish "$bg"
	all_idle
}

# A queue that ran empty with a packet that was left out is free again after the sticky time:
# flows to one destination need not share then.
test_queues_are_free_again() {
	local i
	host s 10.0.0.1/24
	host n 10.0.0.2/24
	cable s e0 n e0 rate 5mbit delay 100us ring 8
	meet 10.0.0.2 s
	bfc s e0 queues 8 flows 100000 hrtt 4ms sticky 100ms sample 1%
	for i in 1 2 3 4 5 6 7 8 9 10; do
		send s 10.0.0.2 $((6000 + i)) -n 1
		finish "$bg"
		sleep 0.1
	done
	sleep 0.2
	at_least "left out" "$(stat s e0 unsampled)" 8
	send s 10.0.0.2 5000 -f 3 -t 1
	sleep 0.5
	equal "queues with packets" "$(stat s e0 occupied)" 3
	equal "told to share" "$(stat s e0 told_to_share)" 0
	finish "$bg"
}

test_refused() {
	local fc
	hosts_to_r 2
	for fc in none pfc capfc-max capfc-cal fafc; do
		tc_refuses "sample: used by fc bfc only" \
			-n sw qdisc change dev r0 root bfc fc "$fc" sample 50%
	done
	tc_refuses "sample: 1 to 100 per cent" -n sw qdisc change dev r0 root bfc sample 0%
	tc_refuses "sample: 1 to 100 per cent" -n sw qdisc change dev r0 root bfc sample 101%
	# Another mode gives it up, and says so.
	check "a share" tc -n sw qdisc change dev r0 root bfc sample 30%
	check "another mode" tc -n sw qdisc change dev r0 root bfc fc none
	equal "the share" "$(stat sw r0 options.sample)" 1
}

run_tests share by_chance changes_under_way reset queues_are_free_again refused
