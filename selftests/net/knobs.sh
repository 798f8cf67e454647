#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# limit and sync: what they cost and gain, for the table of docs/tuning.md, which has the other
# options' from other files.
#
#   s1 ---\
#   ...    >-- sw (br0) --- r	limit: all links 20 Mbit/s
#   s8 ---/
#
#   s --- r			sync

# shellcheck source=selftests/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"

hrtt_us=4000
packets=60	# of each flow, 1042 bytes on the wire

# incast SENDERS OPTIONS...: of r0
incast() {
	local n=$1 i
	shift
	senders=()
	switch sw
	host r 10.0.0.100/24
	cable sw r0 r e0
	bfc sw r0 hrtt ${hrtt_us}us "$@"
	bfc r e0 role nic hrtt ${hrtt_us}us
	for ((i = 1; i <= n; i++)); do
		senders+=("s$i")
		host "s$i" "10.0.0.$i/24"
		cable sw "p$i" "s$i" e0
		bfc sw "p$i" hrtt ${hrtt_us}us
		bfc "s$i" e0 role nic hrtt ${hrtt_us}us queues 32
	done
	peers_up
	meet 10.0.0.100 "${senders[@]}"
}

# all_at_once FLOWS: of each sender
all_at_once() {
	local ns receiver sent=()
	receive r 5000 -n $((${#senders[@]} * $1 * packets)) -t 60 -i 2
	receiver=$bg
	for ns in "${senders[@]}"; do
		send "$ns" 10.0.0.100 5000 -F "${ns#s}00" -f "$1" -n "$packets"
		sent+=("$bg")
	done
	finish "${sent[@]}" "$receiver"
}

# The worst case of docs/deployment.md is that neighbours' queues send one after the other: it is
# enough, and ten elevenths of it are not.
test_limit() {
	local flows=4 n=8 limit lost worst
	# A packet of 1042 bytes on the wire has a truesize of 2304, and a queue may have eight
	# ninths of the buffer: the flows that were moved to one of them need no more.
	worst=$((n * flows * 20 * hrtt_us * 2304 * 9 / (8 * 1042 * 8)))
	say "worst case $((worst / 1024)) KB"
	for limit in 128 256 512 704 800; do
		incast "$n" limit "${limit}kb"
		all_at_once "$flows"
		lost=$(($(stat sw r0 drop_limit) + $(stat sw r0 drop_cap)))
		say "limit $limit KB: $lost of $((n * flows * packets)) lost," \
			"memory at most $(($(stat sw r0 memory_peak) / 1024)) KB"
		if [ $((limit * 1024)) -ge "$worst" ]; then
			equal "lost with $limit KB" "$lost" 0
		elif [ $((limit * 1024 * 11)) -le $((worst * 10)) ]; then
			at_least "lost with $limit KB" "$lost" 1
		fi
		clean_up
	done
}

# With a rate the flows of all TX queues get the same, once each TX queue knows of the others'.
# What one does not know yet is not left unused. Seven short flows beside a long one in another TX
# queue end when the 160 packets of all eight have left, and one beside sixty that end is done when
# the 1600 packets of all have, if looks are not seconds apart.
test_sync() {
	local i sync began ended began_fair ended_fair
	exact_clock || return
	began_fair=$(calc "160 * 1042 * 8 / 50e3") ended_fair=$(calc "1600 * 1042 * 8 / 50e3")
	say "ms if all get the same $began_fair, $ended_fair"
	for sync in 10us 200us 10ms 100ms 1s; do
		host s 10.0.0.1/24
		host r 10.0.0.2/24
		tx_queues=2 cable s e0 r e0 rate 100mbit delay 10us ring 4
		bfc s e0 fc none rate 50mbit queues 64 flows 10000 sync "$sync"
		meet 10.0.0.2 s
		tc -n s qdisc add dev e0 clsact
		for i in 0 1; do
			check "no filter" tc -n s filter add dev e0 egress pref $((1 + i)) \
				protocol ip u32 match ip dport $((5000 + i)) 0xffff \
				action skbedit queue_mapping "$i"
		done
		send s 10.0.0.2 5000 -t 1 -b 60000
		sleep 0.3
		receive r 5001 -n 140 -t 5 -i 1
		send s 10.0.0.2 5001 -f 7 -F 10 -n 20
		wait_for 5 received_all 5001 140 || fail "not all came"
		began=$(calc "$(received r 5001 .seconds) * 1000")
		sleep 1
		receive r 5000 -n 400 -t 5 -i 2
		send s 10.0.0.2 5001 -f 60 -F 20 -n 20
		send s 10.0.0.2 5000 -n 400
		wait_for 10 received_all 5000 400 || fail "not all came"
		ended=$(calc "$(received r 5000 .seconds) * 1000")
		say "sync $sync: $began, $ended"
		[ "$sync" = 1s ] ||
			at_most "short, ms with sync $sync" "$began" "$(calc "$began_fair * 1.1")"
		at_most "long, ms with sync $sync" "$ended" "$(calc "$ended_fair * 1.1")"
		clean_up
	done
}
received_all() { [ "$(received r "$1" .packets)" = "$2" ]; }

run_tests sync -- limit
