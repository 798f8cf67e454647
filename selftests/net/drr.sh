#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Who may send: deficit round robin, pauses, the control band, the shaper; and whose
# packets are lost if there is no room.
#
#   s e0 --------- e0 r      4 Mbit/s; the qdisc is on s. For the shaper a
#                            veth instead, which never says "stop"

# shellcheck source=selftests/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"

plenty="flows 1000000 hrtt 4ms sticky 10s"

topology() {
	host s 10.0.0.1/24
	host r 10.0.0.2/24
	cable s e0 r e0 rate 4mbit delay 100us ring 32
	meet 10.0.0.2 s
}

# sent: bytes that each queue has sent, one line a queue that has sent any
sent() {
	classes s e0 | awk '$3 { print $2 }'
}

# shares: of flows that stay backlogged for 4 s: the bytes each queue sent
# between two looks, sorted
shares() {
	sent >"$scratch/before"
	sleep 4
	sent >"$scratch/after"
	paste "$scratch/before" "$scratch/after" |
		awk '{ print $2 - $1 }' | sort -n
}

# Packets of 242, 642 and 1442 bytes
test_equal_bytes() {
	local size all
	topology
	# shellcheck disable=SC2086
	bfc s e0 queues 32 $plenty
	for size in 200 600 1400; do
		send s 10.0.0.2 5000 -s "$size" -t 20
	done
	sleep 2
	all=$(shares | tr '\n' ' ')
	equal "queues" "$(wc -w <<<"$all")" 3
	say "bytes $all"
	# shellcheck disable=SC2086
	set -- $all
	at_most "most against least bytes" "$(calc "$3 / $1")" 1.05
	at_least "bytes in all" "$(calc "$1 + $2 + $3")" 1000000
}

# With assign single the same flows share as a FIFO does: by what their sockets
# may have queued, some 130 small packets or 43 large ones.
test_fifo_does_not() {
	local size
	topology
	# shellcheck disable=SC2086
	bfc s e0 queues 32 $plenty assign single
	receive r 5000 -t 20 -i 2
	local receiver=$bg
	for size in 200 1400; do
		send s 10.0.0.2 5000 -F "$size" -s "$size" -t 4 -b 100000
	done
	finish "$receiver"
	at_least "bytes of large against small packets" "$(received r 5000 \
		'.flows | map(.bytes) | .[1] / .[0]')" 1.2
}

# A queue sends its quantum before the next one's turn comes: 10 packets of
# 1042 bytes in a row with 10 000 bytes, one or two with 1514.
test_quantum() {
	local quantum runs
	topology
	frames open r r e0
	for quantum in 1514 10000; do
		tc -n s qdisc del dev e0 root 2>/dev/null
		# shellcheck disable=SC2086
		bfc s e0 queues 32 $plenty quantum "${quantum}b"
		send s 10.0.0.2 5000 -f 2 -t 30
		sleep 1
		frames clear r
		frames wait r 10 300 kind=data
		kill "$bg"
		wait "$bg" 2>/dev/null
		# Packets in a row, on average
		runs=$(jq 'map(.flow | select(. != null)) | length /
			([.[1:], .[:-1]] | transpose |
			map(select(.[0] != .[1])) | length + 1)' "$answer")
		say "quantum $quantum: $runs"
		if [ "$quantum" = 1514 ]; then
			at_most "packets in a row, quantum 1514" "$runs" 2
		else
			at_least "packets in a row, quantum 10000" "$runs" 8
		fi
	done
	frames close
}

# fill FLOWS: long flows, backlogged from now on
fill() {
	send s 10.0.0.2 5000 -f "$1" -F 100 -s 1400 -t 30 -b 20000
	sleep 2
}

# A packet now and then, beside 16 long flows: without new-first it waits for one
# of each, 16 x 2.9 ms.
test_new_first() {
	local option
	local -A late
	topology
	for option in off on; do
		tc -n s qdisc del dev e0 root 2>/dev/null
		# shellcheck disable=SC2086
		bfc s e0 queues 32 $plenty new-first "$option"
		fill 16
		local long=$bg
		receive r 5001 -n 20 -t 20
		local receiver=$bg
		send s 10.0.0.2 5001 -n 20 -s 100 -r 8000
		finish "$bg" "$receiver"
		kill "$long"
		wait "$long" 2>/dev/null
		late[$option]=$(received r 5001 .p50_us)
	done
	# The ring comes on top of it.
	say "us in turn ${late[off]}, as a new one ${late[on]}"
	at_least "us less" "$(calc "${late[off]} - ${late[on]}")" 25000
}

# A flow that sends at two thirds of the link: always first, it would be served at
# once each time and its queue be empty again. It gets its third beside two long
# ones.
test_new_is_not_always_first() {
	local share
	topology
	# shellcheck disable=SC2086
	bfc s e0 queues 32 $plenty
	fill 2
	receive r 5001 -t 12 -i 3
	local receiver=$bg
	send s 10.0.0.2 5001 -s 1400 -r 2600000 -t 8
	finish "$bg" "$receiver"
	share=$(calc "$(received r 5001 '.bytes / .seconds') * 8 / 4000000")
	say "share $share"
	at_most "share of the link" "$share" 0.4
	at_least "share of the link" "$share" 0.25
}

# A paused queue sends nothing, and the link is not idle for that.
test_paused_gets_nothing() {
	local all q
	topology
	frames open r r e0
	# shellcheck disable=SC2086
	bfc s e0 queues 8 $plenty peer on role nic refresh 200ms hold 4s
	send s 10.0.0.2 5000 -f 3 -t 20
	frames wait r 20 5 flow=1
	q=$(jq '.[-1].vid // 0' "$answer")
	at_least "tag of a stamped packet" "$q" 1 || { frames close; return; }
	q=$((q - 1))
	sleep 1
	frames keep r 0.5 queues=8 bits=$q hold=4000000000
	sleep 0.5
	sent >"$scratch/before"
	sleep 3
	sent >"$scratch/after"
	equal "paused" "$(stat s e0 paused)" 1
	all=$(paste "$scratch/before" "$scratch/after" |
		awk '{ print $2 - $1 }' | sort -n | tr '\n' ' ')
	say "bytes $all"
	# shellcheck disable=SC2086
	set -- $all
	equal "queues" $# 3
	equal "bytes of the paused queue" "$1" 0
	at_most "most against least bytes of the others" \
		"$(calc "$3 / ($2 + 1)")" 1.05
	at_least "bytes of the others" "$(calc "$2 + $3")" 1050000
	frames close
}

# in_turn NAME PAUSE RESUME: three flows that are all paused again after every other
# packet, both by a frame of r; the bytes that each of them sent meanwhile
in_turn() {
	local all
	fill 3
	sent >"$scratch/before"
	for _ in {1..100}; do
		# shellcheck disable=SC2086
		frames $2
		sleep 0.003
		# shellcheck disable=SC2086
		frames $3
		sleep 0.0012	# two packets
	done
	sent >"$scratch/after"
	kill "$bg"
	wait "$bg" 2>/dev/null
	all=$(paste "$scratch/before" "$scratch/after" |
		awk '$2 > $1 { print $2 - $1 }' | sort -n | tr '\n' ' ')
	say "$1: bytes $all"
	# shellcheck disable=SC2086
	set -- "$1" $all
	equal "$1: flows that sent anything" $(($# - 1)) 3 || return
	at_most "$1: most against least bytes" "$(calc "$4 / ($2 + 1)")" 1.1
	at_least "$1: bytes" "$(calc "$2 + $3 + $4")" 100000
}

# After a pause the round goes on where it was: those at its end would not get a
# turn before the next pause, time and again.
test_pauses_keep_the_round() {
	exact_clock || return 0
	topology
	ip -n s link set e0 type wire rate 20mbit ring 1
	frames open r r e0
	# shellcheck disable=SC2086
	bfc s e0 queues 8 $plenty peer on role nic assign dynamic
	in_turn resume "pause r queues=8 bits=0,1,2,3,4,5,6,7 hold=1000000000" \
		"pause r queues=8 hold=1000000000"
	# Pauses that end by themselves
	in_turn hold "pause r queues=8 bits=0,1,2,3,4,5,6,7 hold=3000000" \
		"clear r"
	tc -n s qdisc del dev e0 root
	# shellcheck disable=SC2086
	bfc s e0 queues 32 $plenty role nic fc pfc
	in_turn pfc "pfc r 1 60000" "pfc r 1 0"
	frames close
}

# A port with many queues does not search all of them for each packet that finds no room, and finds
# the longest one all the same: flows of one packet each fill the buffer that a long one has half
# of, and at most one of them is lost for each look at 32 queues until it is found.
test_longest_pays() {
	local lost long
	host s 10.0.0.1/24
	host r 10.0.0.2/24
	cable s e0 r e0 rate 100kbit delay 100us ring 2
	meet 10.0.0.2 s
	bfc s e0 fc none queues 1024 rate 100kbit hrtt 4ms limit 1mb
	send s 10.0.0.2 5000 -f 100 -n 1
	finish "$bg"
	send s 10.0.0.2 5001 -n 200 -b 1000000
	finish "$bg"
	send s 10.0.0.2 5002 -f 350 -n 1
	finish "$bg"
	lost=$(stat s e0 drop_limit)
	long=$(classes s e0 | awk '$4 > most { most = $4 } END { print most + 0 }')
	say "$lost lost, of these $long of the long flow"
	at_least "lost" "$lost" 60
	at_most "lost of other flows" $((lost - long)) $((1024 / 32))
}

# Behind 3 s of backlog
test_control_band() {
	local fast slow
	topology
	# shellcheck disable=SC2086
	bfc s e0 queues 2 $plenty
	ip -n s link set e0 type wire rate 1mbit ring 4
	receive r 5001 -n 10 -t 20 -i 3
	fast=$bg
	receive r 5002 -n 10 -t 20 -i 8
	slow=$bg
	send s 10.0.0.2 5000 -f 4 -t 5
	sleep 1
	send s 10.0.0.2 5001 -n 10 -P 7
	send s 10.0.0.2 5002 -n 10
	finish "$fast" "$slow"
	equal "packets of priority 7" "$(received r 5001 .packets)" 10
	equal "packets without" "$(received r 5002 .packets)" 10
	# Ten packets and four in the ring take 120 ms.
	at_most "us with priority 7" "$(received r 5001 .p99_us)" 500000
	at_least "us without" "$(received r 5002 .p50_us)" 500000
	say "us: $(received r 5001 .p99_us) and $(received r 5002 .p50_us)"
}

# The shaper makes up for timers that fire late.
veth() {
	host s 10.0.0.1/24
	host r 10.0.0.2/24
	ip link add e0 netns s type veth peer name e0 netns r
	plug s e0
	plug r e0
	meet 10.0.0.2 s
}

# pace TEXT: what leaves in 5 s, against 8 Mbit/s. Where the machine stands
# still for longer than the shaper makes up for, a try may fail.
pace() {
	local before t0 share
	for _ in 1 2 3; do
		before=$(stat s e0 bytes)
		t0=$EPOCHREALTIME
		sleep 5
		share=$(calc "($(stat s e0 bytes) - $before) / \
			($EPOCHREALTIME - $t0) / 1e6")
		say "$1 $share"
		! compare "$share > 0.97 && $share < 1.03" || return 0
	done
	fail "$1: $share of the rate"
}

test_rate_udp() {
	veth
	# shellcheck disable=SC2086
	bfc s e0 rate 8mbit queues 32 $plenty
	equal "rate" "$(stat s e0 link_rate)" 1000000
	send s 10.0.0.2 5000 -f 2 -t 60
	sleep 1
	pace "UDP"
}

test_rate_tcp() {
	veth
	# shellcheck disable=SC2086
	bfc s e0 rate 8mbit queues 32 $plenty
	background ip netns exec r python3 -c '
import socket
with socket.create_server(("10.0.0.2", 5001)) as s:
    c = s.accept()[0]
    while c.recv(65536):
        pass'
	check "no TCP receiver" wait_for 10 tcp_listens r 5001
	background ip netns exec s python3 -c '
import socket
with socket.create_connection(("10.0.0.2", 5001)) as s:
    while True:
        s.sendall(bytes(65536))'
	check "TCP does not start" wait_for 10 tcp_runs
	sleep 2
	pace "TCP"
}
tcp_runs() { [ "$(stat s e0 bytes)" -gt 100000 ]; }

run_tests equal_bytes fifo_does_not quantum new_first \
	new_is_not_always_first paused_gets_nothing pauses_keep_the_round \
	longest_pays control_band rate_udp rate_tcp
