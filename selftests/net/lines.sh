#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# CPUs that send through different TX queues of a port write no cache line of each other's for
# each packet. The module test_lines says which lines change (selftests/bench/lines.c): of
# lines0, which has two TX queues; some packets came in through lines1.

# shellcheck source=selftests/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"

run=/sys/module/test_lines/parameters/run
packets=400

modprobe test_lines || skip_all "no module test_lines: scripts/build-modules"

# ports OPTIONS...: of lines0
ports() {
	ip link del lines0 2>/dev/null
	ip link del lines1 2>/dev/null
	ip link add lines0 numtxqueues 2 type dummy
	ip link add lines1 type dummy
	ip link set lines0 up
	ip link set lines1 up
	check "bfc $*" tc qdisc add dev lines0 root bfc "$@" 2>/dev/null
	check "bfc" tc qdisc add dev lines1 root bfc peer on 2>/dev/null
}

# written OFTEN [IN]: some lines of each TX queue, and none of both so often
written() {
	local first second shared often
	echo "lines0 $packets ${2:-}" >$run || fail "no result"
	read -r first second shared often <$run
	say "lines of the first TX queue $first, of the second $second, of both $shared"
	at_least "lines of the first" "$first" 8
	at_least "lines of the second" "$second" 8
	at_most "changes of a line of both" "$often" "$1"
}

remove() {
	ip link del lines0
	ip link del lines1
}

# Bitmaps of few queues are short: they must not lie side by side.
test_empty_queues() {
	local queues
	for queues in 1 4 32 128; do
		say "queues $queues"
		ports fc none limit 10m queues $queues
		written 0
		ports peer off limit 10m queues $queues
		written 0
	done
	remove
}

# Over Th, each packet of the neighbour's is counted, and gives its count back.
test_counted() {
	ports peer on limit 10m threshold 2kb
	# How much both hold is told when it has changed by a part of the limit.
	written $((packets / 100)) lines1
	at_least "counted" "$(figure lines0 counted)" $((packets * 2))
	equal "counters" "$(figure lines1 counters)" 0
	remove
}

run_tests empty_queues counted
