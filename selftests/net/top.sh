#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# bfcctl top: which port pauses which, the deepest queues, destinations; one frame, and live.
#
#   h1 --p1-\
#            sw --r0-- r		20 Mbit/s, 100 us; r0 is congested
#   h2 --p2-/

# shellcheck source=selftests/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"

PATH=$top/build/bpf:$PATH

topology() {
	local i
	switch sw
	host r 10.0.0.100/24
	cable sw r0 r e0
	for i in 1 2; do
		host "h$i" "10.0.0.$i/24"
		cable sw "p$i" "h$i" e0
		bfc sw "p$i" hrtt 2ms queues 16
		bfc "h$i" e0 hrtt 2ms role nic
	done
	bfc sw r0 hrtt 2ms queues 16
	meet 10.0.0.100 h1 h2
}

# congest SECONDS: h1 and h2 send four flows each to r, more than r0 takes
congest() {
	local i
	for i in 1 2; do
		send "h$i" 10.0.0.100 5000 -f 4 -F $((10 * i)) -r 16000000 -t "$1"
	done
	sleep 0.5
}

# once NS [ARGUMENTS]: a frame in JSON, in $scratch/top; got JQ: out of it
once() {
	local ns=$1
	shift
	bfcctl -j -n "$ns" top --once interval 200ms "$@" >"$scratch/top" ||
		fail "no frame of $ns"
}
got() { jq -r "$1" "$scratch/top"; }

test_who_pauses() {
	local i
	topology
	poll=0.3 wait_for 20 hosts_up || fail "no agreement"
	congest 3
	once sw
	equal "ports" "$(got '[.ports[] | "\(.dev) \(.neighbour)"] | join(", ")')" \
		"p1 up host, p2 up host, r0 searching"
	for i in 1 2; do
		equal "what p$i pauses, and for which port" "$(got ".pauses[] | select(.dev == \"p$i\") |
			\"\\(.by) \\(.neighbour) \\(.for | join(\" \"))\"")" "dev $(mac "h$i" e0) r0"
		at_least "pauses a second of p$i" \
			"$(got ".pauses[] | select(.dev == \"p$i\") | .rate | floor")" 1
	done
	equal "pauses of r0" "$(got '[.pauses[] | select(.dev == "r0")] | length')" 0
	at_least "flows that wait at r0" "$(got '.queues | length')" 4
	equal "queues, the deepest first" "$(got '[.queues[].backlog] | . == (sort | reverse)')" true
	equal "queues" "$(got '[.queues[] | "\(.dev) \(.dst)"] | unique | join(", ")')" "r0 10.0.0.100"
	equal "ports that they came in through" "$(got '[.queues[].from] | unique | join(" ")')" "p1 p2"
	equal "destinations" "$(got '.destinations | map(.dst) | join(" ")')" 10.0.0.100
	equal "queues of the destination" "$(got '.destinations[0].queues')" "$(got '.queues | length')"
	equal "bytes of the destination" "$(got '.destinations[0].backlog')" \
		"$(got '[.queues[].backlog] | add')"
	at_least "Mbit/s that leave through r0" \
		"$(got '.ports[] | select(.dev == "r0") | .rate / 1e6 | floor')" 15
	at_least "and through its queues" "$(got '[.queues[].rate] | add / 1e6 | floor')" 10

	# The same from the other end
	once h1
	equal "who pauses h1" "$(got '.pauses[] | "\(.dev) \(.by) \(.neighbour)"')" \
		"e0 neighbour $(mac sw p1)"
	at_least "part of the time that a queue was paused, in percent" \
		"$(got '[.queues[].paused_part] | max * 100 | floor')" 20
	equal "and came from" "$(got '[.queues[].from // "here"] | unique | join(" ")')" here

	# For people
	bfcctl -n sw top --once interval 200ms >"$scratch/text"
	check "p1 pauses h1 for r0: $(cat "$scratch/text")" \
		grep -qE "^p1 +$(mac h1 e0) +[0-9]+ +[0-9]+ r0$" "$scratch/text"
	check "a queue of r0" grep -qE '^r0:[0-9]+ .* p[12] +10\.0\.0\.100$' "$scratch/text"
	check "the destination" grep -qE '^ +[0-9]+ +[0-9.]+K?b 10\.0\.0\.100$' "$scratch/text"
	at_least "columns" 80 "$(awk 'length > n { n = length } END { print n }' "$scratch/text")"
	bfcctl -n sw top p1 --once interval 10ms >"$scratch/text"
	equal "one port" "$(grep -cE '^(p1|p2|r0) +up ' "$scratch/text")" 1
	# What p1 has brought waits at another one.
	once sw p1
	equal "p1 alone" "$(got '[.ports, .pauses | map(.dev)] | tostring')" '[["p1"],["p1"]]'
	equal "what it pauses for" "$(got '.pauses[0].for | join(" ")')" r0
	equal "queues and destinations of others" "$(got '.queues + .destinations | length')" 0
	finish "$bg"
}

# r has no qdisc: r0 searches for ever
hosts_up() { peer_up sw p1 && peer_up sw p2 && peer_up h1 e0 && peer_up h2 e0; }

# Classes are there where a port has some.
test_classes() {
	local i
	topology
	tc -n sw qdisc change dev r0 root bfc classes 2 prio dscp strict 1
	for i in 1 2; do
		send "h$i" 10.0.0.100 5000 -f 4 -F $((10 * i)) -r 16000000 -t 3
		send "h$i" 10.0.0.100 5000 -F $((50 + i)) -r 4000000 -t 3 -T 32
	done
	sleep 0.5
	once sw
	equal "classes" "$(got '[.classes[] | "\(.dev) \(.class) \(.queues)"] | join(", ")')" \
		"r0 0 8, r0 1 8"
	at_least "Mbit/s of class 1" "$(got '.classes[1].rate / 1e6 | floor')" 7
	at_most "Mbit/s of class 1" "$(got '.classes[1].rate / 1e6 | floor')" 9
	at_least "Mbit/s of class 0" "$(got '.classes[0].rate / 1e6 | floor')" 9
	at_least "bytes of class 0 that wait" "$(got '.classes[0].backlog')" 2000
	at_least "queues of class 0 in use" "$(got '.classes[0].occupied')" 1
	bfcctl -n sw top --once interval 200ms >"$scratch/text"
	check "class 1: $(cat "$scratch/text")" \
		grep -qE '^r0 +1 +[0-9.]+Mbit +[0-9.]+K?b +[0-9]+ +0 +8 +0 +[0-9]+$' "$scratch/text"
	equal "headings" "$(grep -c '^PORT  *CLASS ' "$scratch/text")" 1
	at_least "columns" 80 "$(awk 'length > n { n = length } END { print n }' "$scratch/text")"
	tc -n sw qdisc change dev r0 root bfc classes 1
	once sw
	equal "none" "$(got '.classes | length')" 0
	bfcctl -n sw top --once interval 10ms >"$scratch/text"
	equal "headings without classes" "$(grep -c CLASS "$scratch/text")" 0
	finish "$bg"
}

# Where others' packets go is told to those who may configure the port.
test_privileges() {
	topology
	send h1 10.0.0.100 5000 -f 4 -r 16000000 -t 2
	send h2 10.0.0.100 5000 -f 4 -F 20 -r 16000000 -t 2
	sleep 0.5
	in_ns sw tc -s class show dev r0 >"$scratch/root"
	in_ns sw setpriv --reuid 65534 --regid 65534 --clear-groups --bounding-set -all \
		--inh-caps -all "$(command -v tc)" -s class show dev r0 >"$scratch/other" 2>&1
	at_least "queues that root sees the destination of" \
		"$(grep -c ' from p[12] dst 10\.0\.0\.100 *$' "$scratch/root")" 2
	equal "queues that another user sees" "$(grep -c '^class bfc ' "$scratch/other")" 16
	at_least "and where their packets came in" "$(grep -c ' from p[12] *$' "$scratch/other")" 2
	equal "addresses that another user sees" "$(grep -c 'dst\|10\.0\.0' "$scratch/other")" 0
	finish "$bg"
}

# Keys, sizes, and all ends: screen.py looks at what is drawn.
test_live() {
	topology
	poll=0.3 wait_for 20 hosts_up || fail "no agreement"
	congest 20
	screen 24x80 see 'by backlog' see 'every 1s' see 10.0.0.100 see "$(mac h1 e0)" see 'r0:' \
		key r see 'by rate' key p see 'by paused' key n see 'by name' key b see 'by backlog' \
		key + see 'every 2s' key - key - see 'every 500ms' key ' ' see 'p2 ' key x see 'p1 ' \
		key q ends 0
	# Each part keeps its heading, and as many lines as there is room for.
	screen 24x80 see 'r0:' size 12x40 see 'QUEUES  BACKLOG DESTINATION' see 10.0.0.100 \
		size 8x30 see 'bfcctl top' size 40x120 see 'DROPS/s' see 'r0:' see 10.0.0.100 \
		size 1x1 size 2x20 see bfcctl key ^C ends 0
	screen 24x80 see 'p1 ' signal SIGTERM ends 0
	screen 24x80 see 'p1 ' signal SIGHUP ends 0
}

# screen SIZE STEPS...: of bfcctl top in sw
screen() {
	python3 "$top/selftests/tools/screen.py" "$@" -- bfcctl -n sw top >"$scratch/said" 2>&1 ||
		fail "$(cat "$scratch/said")"
}

# An error while it has the terminal gives that back first; the message can be read.
test_errors() {
	new_ns sw
	bfcctl -n sw top </dev/null >"$scratch/said" 2>&1
	equal "exit code without a terminal" "$?" 1
	equal "says" "$(cat "$scratch/said")" \
		"bfcctl: top: standard input and output are no terminal (--once prints one frame)"
	bfcctl -n sw top --once interval 10ms >"$scratch/said" || fail "no frame without a port"
	equal "lines without a port" "$(wc -l <"$scratch/said")" 5
	once sw
	equal "ports" "$(got '.ports | length')" 0
	screen 24x80 see 'ports 0' run 'prlimit --pid {pid} --nofile=3:3' ends 1 \
		said 'bfcctl: netlink socket: Too many open files'
}

# A port that goes, and one that is made anew, while it looks.
test_changes() {
	topology
	(sleep 0.1; tc -n sw qdisc replace dev p1 root handle 77: bfc hrtt 2ms queues 8
		ip -n sw link del p2) &
	pids+=($!)
	once sw interval 500ms
	equal "ports" "$(got '[.ports[] | "\(.dev) \(has("rate"))"] | join(", ")')" \
		"p1 false, r0 true"
}

# A neighbour that says nothing of itself, as with PFC, has no address here.
test_no_address() {
	local i
	topology
	for i in 1 2; do
		tc -n sw qdisc replace dev "p$i" root bfc fc pfc
		tc -n "h$i" qdisc replace dev e0 root bfc fc pfc
	done
	tc -n sw qdisc replace dev r0 root bfc fc pfc
	congest 3
	once sw
	at_least "pairs" "$(got '.pauses | length')" 1
	equal "neighbours" "$(got '[.pauses[].neighbour] | unique | tostring')" '[null]'
	bfcctl -n sw top --once interval 200ms >"$scratch/text"
	check "$(cat "$scratch/text")" grep -qE '^p[12] +its neighbour ' "$scratch/text"
	finish "$bg"
}

# Queues that the kernel has not listed to the end are not all queues.
test_error_at_the_end_of_a_list() {
	new_ns sw
	ip -n sw link add d0 type dummy
	tc -n sw qdisc add dev d0 root bfc
	LD_PRELOAD=$top/build/tools/dumperr.so DUMPERR=42:1 bfcctl -j -n sw top --once \
		interval 10ms >"$scratch/top" 2>"$scratch/said"
	equal "exit code" "$?" 1
	equal "says" "$(cat "$scratch/said")" \
		"bfcctl: cannot list the queues of d0: No buffer space available"
	equal "output" "$(cat "$scratch/top")" ""
}

run_tests who_pauses classes privileges live errors changes no_address \
	error_at_the_end_of_a_list
