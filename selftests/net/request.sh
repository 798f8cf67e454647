#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Requests and responses beside bulk transfers: what a web server's clients see.
#
#   h1 --p1-\                  /-- r	r asks h1, 10 connections, and again
#            sw1 --x-->--x-- sw2	when the response has come
#   h2 --p2-/                  \-- h3	h3 takes all it can get from h2, 16
#
# All links 20 Mbit/s. Each of the 26 flows may have 1/26 of x. A connection that
# waits for its response has one packet on its way: it gets its part only if a queue
# that runs empty keeps the rest of its quantum for what comes in the same round.
# fq_codel is the measure, in the same run.

# shellcheck source=selftests/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"

asking=10 bulk=16

# ask_with SIZE KIND: with this qdisc everywhere; results in KIND.json, KIND.bulk.json
ask_with() {
	local size=$1 kind=$2 port pid
	two_switches rate 20mbit delay 100us ring 8
	for port in "${ports_of_two_switches[@]}"; do
		# shellcheck disable=SC2086
		set -- $port
		case $kind,$2 in
		bfc,e0)	bfc "$@" role nic hrtt 4ms queues 128 ;;
		bfc,*)	bfc "$@" hrtt 4ms ;;
		*)	tc -n "$1" qdisc replace dev "$2" root "$kind" ;;
		esac
	done
	[ "$kind" != bfc ] || peers_up
	meet 10.0.0.1 r
	meet 10.0.0.2 h3
	for port in h1 h2; do
		background ip netns exec "$port" tcpask serve -p 80
		check "$port does not listen" wait_for 5 tcp_listens "$port" 80
	done
	ip netns exec h3 tcpask ask -d 10.0.0.2 -p 80 -w 1 -t 3 -c $bulk \
		-s 1000000000 >"$scratch/$kind.bulk.json" &
	pid=$!
	pids+=("$pid")
	ip netns exec r tcpask ask -d 10.0.0.1 -p 80 -w 1 -t 3 -c $asking \
		-s "$size" >"$scratch/$kind.json"
	finish "$pid"
	say "$kind $(got "$kind" .per_second)/s, p99 $(got "$kind" .p99_us) us," \
		"bulk $(got "$kind.bulk" .mbits) Mbit/s"
	[ "$kind" != bfc ] || equal "drops" "$(sum_stat drops)" 0
	clean_up
}

# got KIND JQ
got() { jq -r "$2" "$scratch/$1.json"; }

# as_many SIZE: as with fq_codel, or more. Which turn of the round is whose is by a hash of the
# flows: up to half a per cent either way.
as_many() {
	exact_clock || return
	ask_with "$1" fq_codel
	ask_with "$1" bfc
	at_least "requests a second, of fq_codel's" \
		"$(calc "$(got bfc .per_second) / $(got fq_codel .per_second)")" 0.995
}

# in_all KIND: Mbit/s of payload, requests and bulk
in_all() { calc "$(got "$1" .mbits) + $(got "$1.bulk" .mbits)"; }

# Two responses are more than a quantum: the third waits for the next round.
test_page() {
	as_many 850 || return
	# Nor is the link idle for it: fq_codel's sum is 18.9 to 19.3 Mbit/s by its hash.
	at_least "Mbit/s in all, of fq_codel's" \
		"$(calc "$(in_all bfc) / $(in_all fq_codel)")" 0.97
}

# A key-value store's: all fit into a quantum.
test_value() {
	as_many 100 || return
	at_most "p99, of fq_codel's" \
		"$(calc "$(got bfc .p99_us) / $(got fq_codel .p99_us)")" 1
}

run_tests page value
