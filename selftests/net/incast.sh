#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Incast: eight senders, one receiver. BFC loses nothing in a buffer in which
# pfifo drops.
#
#   s1 ---\
#   ...    >-- sw (br0) --- r
#   s8 ---/
#
# All links 20 Mbit/s: eight times as much arrives as can leave.

# shellcheck source=selftests/lib.sh disable=SC2046
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"

senders=8
packets=250		# of each sender, 1042 bytes on the wire
limit=512000		# truesize: less than half of what is sent at once

topology() {
	local i
	switch sw
	host r 10.0.0.100/24
	cable sw r0 r e0
	for ((i = 1; i <= senders; i++)); do
		host "s$i" "10.0.0.$i/24"
		cable sw "p$i" "s$i" e0
	done
}

traffic() {
	meet 10.0.0.100 $(seq -f s%g $senders)
	receive r 5000 -n $((senders * packets)) -t 60 -i 3
	all_send "$packets" $(seq -f s%g $senders)
}

test_bfc_loses_nothing() {
	local i
	topology
	bfc sw r0 limit "${limit}b" hrtt 4ms
	bfc r e0 role nic hrtt 4ms
	for ((i = 1; i <= senders; i++)); do
		bfc sw "p$i" limit "${limit}b" hrtt 4ms
		bfc "s$i" e0 role nic queues 128 hrtt 4ms
	done
	peers_up
	traffic
	equal "packets received" "$(received r 5000 .packets)" $((senders * packets))
	equal "packets dropped by any port" "$(sum_stat drops)" 0
	equal "reordered" "$(received r 5000 .reordered)" 0
	at_least "pauses sent" "$(sum_stat pause_tx)" 8
	say "peak memory $(stat sw r0 memory_peak) of $limit"
	say "pauses $(sum_stat pause_tx)"
	all_idle
}

test_pfifo_drops_with_the_same_limit() {
	topology
	# As many packets as fit the same truesize: 2304 bytes each.
	tc -n sw qdisc replace dev r0 root pfifo limit $((limit / 2304))
	traffic
	at_least "packets dropped" "$(stat sw r0 drops)" 1
	at_most "packets received" "$(received r 5000 .packets)" \
		$((senders * packets - 1))
	say "dropped $(stat sw r0 drops)"
}

run_tests bfc_loses_nothing pfifo_drops_with_the_same_limit
