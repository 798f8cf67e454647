#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Which queue a flow is put into (BFC §3.3.1). How destinations share: dest.sh.
#
#   s e0 --------- e0 r      5 Mbit/s; the qdisc is on s, and r is a fake
#                            neighbour where pauses are needed

# shellcheck source=selftests/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"

# So many that flows share an entry once in thousands of runs.
plenty="flows 1000000 hrtt 4ms"

topology() {
	host s 10.0.0.1/24 fd00::1/64
	host r 10.0.0.2/24 fd00::2/64
	# Slower than any sender, so that packets wait
	cable s e0 r e0 rate 5mbit delay 100us ring 8
	meet 10.0.0.2 s
}

# ---- queues ----

# fresh [OPTIONS]: a new qdisc, with all counters at zero
fresh() {
	tc -n s qdisc del dev e0 root 2>/dev/null
	bfc s e0 "$@"
}

# queues: of s, one line each: number, packets sent, packets queued
queues() { classes s e0 | awk '{ print n++ + 0, $3, $6 }'; }
# used: numbers of the queues that got packets
used() { queues | awk '$2 + $3 { print $1 }'; }
count_used() { used | wc -l; }

# backlog FLOWS [OPTIONS]: send and wait until all is as it will stay
backlog() {
	local flows=$1
	shift
	send s 10.0.0.2 5000 -f "$flows" -t 4 "$@"
	sleep 2
}

test_a_queue_for_every_flow() {
	topology
	# shellcheck disable=SC2086
	bfc s e0 queues 32 $plenty
	receive r 5000 -t 30 -i 2
	local receiver=$bg
	backlog 16
	equal "queues with packets" "$(stat s e0 occupied)" 16
	finish "$receiver"
	equal "collisions" "$(stat s e0 collisions)" 0
	at_least "assigned" "$(stat s e0 assigned)" 16
	equal "flows received" "$(received r 5000 '.flows | length')" 16
	# DRR over equal packets: no flow got much more than another.
	at_most "most against least bytes of a flow" "$(received r 5000 \
		'.flows | map(.bytes) | max / min')" 1.3
}

test_more_flows_than_queues() {
	topology
	# shellcheck disable=SC2086
	bfc s e0 queues 8 $plenty sticky 0 assign dynamic
	receive r 5000 -t 30 -i 2
	local receiver=$bg
	backlog 24
	at_least "queues with packets" "$(stat s e0 occupied)" 6
	at_least "collisions" "$(stat s e0 collisions)" 4
	finish "$receiver"
	equal "flows received" "$(received r 5000 '.flows | length')" 24
	at_least "least packets of a flow" "$(received r 5000 \
		'.flows | map(.packets) | min')" 10
	equal "lost" "$(received r 5000 .lost)" 0
	equal "reordered" "$(received r 5000 .reordered)" 0
}

# Sixteen flows in sixteen queues by hash: all apart once in 880 000 runs.
test_stochastic() {
	topology
	# shellcheck disable=SC2086
	bfc s e0 queues 16 $plenty sticky 0 assign stochastic
	backlog 16
	at_most "queues with packets" "$(stat s e0 occupied)" 15
	local first=$bg
	# Those that come now find hardly a queue empty.
	send s 10.0.0.2 5000 -f 16 -F 100 -t 1
	sleep 0.5
	at_least "collisions" "$(stat s e0 collisions)" 1
	finish "$bg" "$first"

	# Up to twelve new assignments of one flow
	# shellcheck disable=SC2086
	fresh queues 16 $plenty assign stochastic sticky 1ms
	send s 10.0.0.2 5000 -n 12 -r 160000
	finish "$bg"
	at_least "assigned" "$(stat s e0 assigned)" 3
	equal "queues of one flow" "$(count_used)" 1
}

test_single() {
	topology
	# shellcheck disable=SC2086
	bfc s e0 queues 8 $plenty assign single
	backlog 12
	equal "queues with packets" "$(used | tr '\n' ' ')" "0 "
	at_least "collisions" "$(stat s e0 collisions)" 1
}

# One flow, a packet every 50 ms, or a few at once if the machine stood still
test_sticky() {
	topology
	# shellcheck disable=SC2086
	bfc s e0 queues 32 $plenty sticky 3s
	send s 10.0.0.2 5000 -n 20 -r 160000
	finish "$bg"
	equal "assigned" "$(stat s e0 assigned)" 1
	equal "queues of a flow that pauses for less than sticky" \
		"$(count_used)" 1

	# shellcheck disable=SC2086
	fresh queues 32 $plenty sticky 5ms
	send s 10.0.0.2 5000 -n 20 -r 160000
	finish "$bg"
	at_least "assigned after longer pauses" "$(stat s e0 assigned)" 5
}

# An empty queue is not taken again at once: the search goes round.
test_rotating() {
	local avoid
	topology
	for avoid in on off; do
		# shellcheck disable=SC2086
		fresh queues 32 $plenty sticky 5ms assign dynamic \
			avoid-paused "$avoid"
		send s 10.0.0.2 5000 -f 20 -n 1 -r 160000
		finish "$bg"
		equal "assigned, avoid-paused $avoid" "$(stat s e0 assigned)" 20
		equal "queues used, avoid-paused $avoid" "$(count_used)" 20
	done
}

# A flow that comes back finds its old queue, unless another was there since. By the
# paper's rules (avoid-paused off) it gets the next one.
test_the_same_again() {
	local avoid assigned
	topology
	for avoid in on off; do
		# shellcheck disable=SC2086
		fresh queues 32 $plenty sticky 5ms assign dynamic \
			avoid-paused "$avoid"
		send s 10.0.0.2 5000 -f 4 -n 5 -r 160000
		finish "$bg"
		assigned=$(stat s e0 assigned)
		at_least "assigned, avoid-paused $avoid" "$assigned" 10
		at_most "assigned, avoid-paused $avoid" "$assigned" 20
		[ "$avoid" = on ] && assigned=4
		equal "queues of four flows, avoid-paused $avoid" \
			"$(count_used)" "$assigned"
	done
	# Three take turns at two queues: each finds its own used.
	# shellcheck disable=SC2086
	fresh queues 2 $plenty sticky 5ms assign dynamic avoid-paused off
	send s 10.0.0.2 5000 -f 3 -n 10 -r 160000
	finish "$bg"
	at_least "assigned" "$(stat s e0 assigned)" 20
	equal "queues of three flows" "$(count_used)" 2
	at_most "difference of their packets" "$(queues | awk '
		{ n = $2 - n } END { print n < 0 ? -n : n }')" 6
}

# Queue 5 of 8 is paused, and empty.
test_avoid_paused() {
	local avoid sent queued
	topology
	frames open r r e0
	for avoid in on off; do
		# shellcheck disable=SC2086
		fresh queues 8 $plenty sticky 1ms peer on role nic \
			assign dynamic avoid-paused "$avoid"
		frames keep r 0.5 queues=8 bits=5 hold=4000000000
		send s 10.0.0.2 5000 -f 24 -n 1 -r 400000
		sleep 1
		queues >"$scratch/queues"
		equal "paused" "$(stat s e0 paused)" 1
		read -r _ sent queued _ < <(grep '^5 ' "$scratch/queues")
		equal "sent from the paused queue" "$sent" 0
		if [ "$avoid" = on ]; then
			equal "packets for the paused queue" "$queued" 0
			equal "queues used" "$(count_used)" 7
		else
			at_least "packets for the paused queue, avoid-paused off" \
				"$queued" 1
		fi
		finish "$bg"
	done
	frames close
}

# All empty queues are paused: one of them is better than a collision.
test_all_paused() {
	topology
	frames open r r e0
	# shellcheck disable=SC2086
	bfc s e0 queues 4 $plenty peer on role nic assign dynamic
	frames keep r 0.5 queues=4 bits=0,1,2,3 hold=4000000000
	send s 10.0.0.2 5000 -f 4 -n 5
	sleep 1
	equal "queues with packets" "$(stat s e0 occupied)" 4
	equal "active" "$(stat s e0 active)" 0
	equal "collisions" "$(stat s e0 collisions)" 0
	frames close
	finish "$bg"
}

# A flow that comes back while the neighbour pauses its old queue, empty for longer
# than the sticky time, waits there; others are kept away from it.
test_waits_in_its_paused_queue() {
	local mine queued sender
	topology
	frames open r r e0
	# shellcheck disable=SC2086
	fresh queues 8 $plenty sticky 1ms peer on role nic assign dynamic
	send s 10.0.0.2 5000 -n 30 -r 80000	# a packet each 0.1 s
	sender=$bg
	sleep 0.55
	mine=$(used)
	frames keep r 0.5 queues=8 bits="$mine" hold=4000000000
	sleep 1
	send s 10.0.0.2 5001 -f 6 -n 1
	finish "$bg"
	queues >"$scratch/queues"
	equal "paused" "$(stat s e0 paused)" 1
	read -r _ _ queued < <(grep "^$mine " "$scratch/queues")
	at_least "packets that wait in the paused queue" "$queued" 5
	at_most "packets that wait in the paused queue" "$queued" 20
	equal "queues used" "$(count_used)" 7
	equal "collisions" "$(stat s e0 collisions)" 0
	frames close
	finish "$sender"
}

# 16 entries, and four overflow entries that the rest shares.
test_tiny_table() {
	topology
	bfc s e0 queues 64 flows 16 hrtt 4ms
	backlog 48
	at_most "queues with packets" "$(stat s e0 occupied)" 20
	at_least "queues with packets" "$(stat s e0 occupied)" 8
	equal "collisions" "$(stat s e0 collisions)" 0
}

# 60 flows in a table of 100 with one entry where each can be: some meet. 40 in
# one of 1000 with four: none does (5 in 250 sets do once in 6000 runs).
test_ways() {
	topology
	# Of 60 flows in 128 entries 12 or so meet others. (With "destination", those that
	# come after the first such one find no entry either, and are not counted.)
	bfc s e0 queues 64 flows 100 ways 1 assign dynamic hrtt 4ms
	backlog 60
	at_least "entries shared, one way" "$(stat s e0 shared)" 5
	at_most "queues with packets" "$(stat s e0 occupied)" 55
	wait_for 30 idle
	fresh queues 64 flows 1000 ways 4 hrtt 4ms
	backlog 40
	equal "entries shared, four ways" "$(stat s e0 shared)" 0
	equal "queues with packets" "$(stat s e0 occupied)" 40
}

# Many more flows than entries, each with a packet or two here at a time: a flow
# that shares an entry must not find a free one while it has packets.
test_shared_in_order() {
	topology
	bfc s e0 queues 64 flows 16 sticky 0 hrtt 4ms
	receive r 5000 -n 2400 -t 60 -i 5
	local receiver=$bg
	send s 10.0.0.2 5000 -f 80 -n 30 -s 400 -b 2304
	finish "$bg" "$receiver"
	equal "packets" "$(received r 5000 .packets)" 2400
	at_least "entries shared" "$(stat s e0 shared)" 4
	equal "reordered" "$(received r 5000 .reordered)" 0
}

# What makes a flow. Sticky is long: a flow has one queue, however it is sent.
# tell_apart NAME QUEUES NAME FIELD=VALUE.../FIELD=VALUE...
tell_apart() {
	local text=$1 apart=$2 name=$3 one
	shift 3
	# shellcheck disable=SC2086
	fresh queues 32 $plenty sticky 10s
	for one in "$@"; do
		# shellcheck disable=SC2086
		frames udp "$name" count=3 size=100 dst="$mac_r" $one
	done
	check "$text: not sent" wait_for 5 idle
	equal "$text: queues" "$(count_used)" "$apart"
	equal "$text: packets" "$(queues | awk '{ n += $2 } END { print n }')" \
		$((3 * $#))
}
idle() { [ "$(stat s e0 qlen)" = 0 ]; }

test_flow_identifier() {
	local mac_r name v4='from=10.0.0.1 to=10.0.0.2'
	local v6='from=fd00::1 to=fd00::2'
	topology
	ip -n s -batch - <<-END
		link add link e0 name v10 type vlan id 10
		link add link e0 name v11 type vlan id 11
		link set v10 up
		link set v11 up
	END
	mac_r=$(mac r e0)
	frames open s s e0
	frames open v10 s v10
	frames open v11 s v11
	tell_apart "IPv4, one flow" 1 s "$v4" "$v4"
	tell_apart "IPv4, by ports and addresses" 4 s "$v4" "$v4 sport=1001" \
		"$v4 dport=10" "from=10.0.0.3 to=10.0.0.2"
	tell_apart "IPv6, by ports and addresses" 4 s "$v6" "$v6 sport=1001" \
		"$v6 dport=10" "from=fd00::3 to=fd00::2"
	tell_apart "IPv6, flow label" 1 s "$v6" "$v6 label=0x12345" \
		"$v6 label=0xfffff"
	# The hash has a short way for plain headers. Both must lead to the same.
	tell_apart "IPv4, options" 2 s "$v4" "$v4 options=1" "$v4 options=10" \
		"$v4 sport=1001 options=1" "$v4 sport=1001"
	tell_apart "IPv6, extension header" 2 s "$v6" "$v6 options=1" \
		"$v6 sport=1001 options=1" "$v6 sport=1001"
	# VLANs: the tag is in metadata, as behind a bridge
	# shellcheck disable=SC2086
	fresh queues 32 $plenty sticky 10s
	# shellcheck disable=SC2086
	for name in v10 v11 v10; do
		frames udp "$name" count=3 size=100 dst="$mac_r" $v4
	done
	check "not sent" wait_for 5 idle
	equal "VLAN devices: queues" "$(count_used)" 2

	# Neither IP nor ARP: addresses and type
	# shellcheck disable=SC2086
	fresh queues 32 $plenty sticky 10s
	local zeroes
	zeroes=$(printf '%092d' 0)
	frames raw s "02000000000202000000000188b6$zeroes" 3
	frames raw s "02000000000202000000000188b6$zeroes" 3
	frames raw s "02000000000202000000000388b6$zeroes" 3
	frames raw s "02000000000402000000000188b6$zeroes" 3
	frames raw s "02000000000202000000000188b7$zeroes" 3
	check "not sent" wait_for 5 idle
	equal "not IP: queues" "$(count_used)" 4
	equal "not IP: packets" "$(queues | awk '{ n += $2 } END { print n }')" \
		15
	frames close
}

# A packet socket that sends tagged frames has the tag in the frame, and the
# network header behind it. The priority in the tag is not the flow's.
# A flow is its addresses and ports, not skb->hash: that is another one after each
# connect(), and unknown without, as it changes when TCP retransmits.
test_hash_changes() {
	topology
	# shellcheck disable=SC2086
	bfc s e0 queues 32 $plenty sticky 10s
	receive r 5000 -t 30 -i 2
	local receiver=$bg
	in_ns s python3 - <<-'END'
		import socket
		peer = ("10.0.0.2", 5000)
		s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
		s.bind(("10.0.0.1", 4000))
		for i in range(20):
		    s.connect(peer)
		    s.send(bytes(1000))
		    if i % 4 == 3:
		        s.close()
		        s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
		        s.bind(("10.0.0.1", 4000))
		        s.sendto(bytes(1000), peer)
	END
	finish "$receiver"
	equal "queues of one flow" "$(count_used)" 1
	equal "packets" "$(queues | awk '{ n += $2 } END { print n }')" 25
	equal "assigned" "$(stat s e0 assigned)" 1
}

test_tag_in_the_frame() {
	local mac_r v4='from=10.0.0.1 to=10.0.0.2'
	topology
	mac_r=$(mac r e0)
	frames open s s e0
	tell_apart "priority" 1 s "$v4 tags=8100:10" "$v4 tags=8100:0x600a"
	tell_apart "VLAN" 3 s "$v4" "$v4 tags=8100:10" "$v4 tags=8100:11"
	tell_apart "ports behind the tag" 2 s "$v4 tags=8100:10" \
		"$v4 tags=8100:10 sport=1001"
	frames close
}

# Datagrams of 4000 bytes in three fragments each: only the first has ports.
test_fragments_in_order() {
	topology
	frames open r r e0
	# shellcheck disable=SC2086
	bfc s e0 queues 32 $plenty
	receive r 5000 -n 90 -t 20 -i 3
	local receiver=$bg
	send s 10.0.0.2 5000 -f 3 -n 30 -s 4000
	finish "$bg" "$receiver"
	equal "datagrams" "$(received r 5000 .packets)" 90
	equal "reordered" "$(received r 5000 .reordered)" 0
	frames seen r kind=data
	equal "fragments" "$(jq 'map(select(.fragment != null)) | length' \
		"$answer")" 270
	equal "fragments that overtook one before" "$(jq '
		map(select(.fragment != null)) | group_by(.ipid) |
		map(map(.fragment) | select(. != sort)) | length' "$answer")" 0
	frames close
}

run_tests a_queue_for_every_flow more_flows_than_queues stochastic single \
	sticky rotating the_same_again avoid_paused all_paused \
	waits_in_its_paused_queue tiny_table \
	ways shared_in_order \
	flow_identifier hash_changes tag_in_the_frame fragments_in_order
