#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Neighbours that do not speak BFC, stop to, or change: no host gets a tag that
# it does not take off.
#
#   h1 --p1-\                  /-- r (pfifo)
#            sw1 --x-->--x-- sw2
#   h2 --p2-/                  \-- h3
#
# All links 20 Mbit/s. r has no BFC, so sw2 sends it no tags: one that arrives
# there came through sw2's bridge, as S-tags that sw2 does not expect do. It is
# looked for on the wire (tcpdump), and its packet is missed by the receiver.

# shellcheck source=selftests/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"

topology() {
	local host
	# shellcheck disable=SC2119
	two_switches
	bfc sw1 x hrtt 4ms
	bfc sw2 p3 hrtt 4ms
	bfc sw2 r0 hrtt 4ms
	# The default qdisc may be one that drops.
	for host in h1 h2 h3; do
		bfc "$host" e0 role nic queues 128 hrtt 4ms
	done
	for host in "r e0" "sw1 p1" "sw1 p2"; do
		tc -n "${host% *}" qdisc replace dev "${host#* }" \
			root pfifo limit 10000
	done
	meet 10.0.0.100 h1 h2 h3
}

state() { stat "$1" "$2" peer_state; }
is_off() { [ "$(state "$1" "$2")" = off ]; }
up() {
	check "$1 $2 is $(state "$1" "$2"), not up" wait_for 15 peer_up "$1" "$2"
}

# capture NS PORT: from now on; "tags NS PORT" stops and counts tagged frames, and prints
# nothing if there are no frames at all
capture() {
	ip netns exec "$1" tcpdump -i "$2" -n -U -s 64 -Z root \
		-w "$scratch/$1.$2.pcap" 2>/dev/null &
	capturing=$!
	pids+=("$capturing")
	check "tcpdump does not start" wait_for 10 test -s "$scratch/$1.$2.pcap"
}
tags() {
	# Frames wait in a buffer for a second at most.
	sleep 1.5
	kill "$capturing"
	wait "$capturing" 2>/dev/null
	tcpdump -n -e -r "$scratch/$1.$2.pcap" 2>/dev/null |
		awk '/802\.1Q|vlan/ { tagged++ } END { if (NR) print tagged + 0 }'
	rm -f "$scratch/$1.$2.pcap"
}

# load [SECONDS]: h1 and h2 to r, as fast as they can, through x; h3 as well
load() {
	local i
	note_drops
	receive r 5000 -t 100 -i 4
	receiver=$bg
	senders=()
	for i in 1 2 3; do
		send "h$i" 10.0.0.100 5000 -F "${i}0" -f 4 -t "$1"
		senders+=("$bg")
	done
}

# all_arrived: of the last load, what was sent and not dropped by a qdisc
all_arrived() {
	local sent
	finish "${senders[@]}" "$receiver"
	sent=$(jq -s 'map(.sent) | add' "$scratch"/h?.sent.5000.json)
	equal "packets received" "$(received r 5000 .packets)" \
		$((sent - $(new_drops)))
	equal "reordered" "$(received r 5000 .reordered)" 0
}

test_plain_neighbour() {
	topology
	capture sw2 x
	load 4
	in_ns r ping -q -c 3 -i 0.3 -w 10 10.0.0.1 >/dev/null ||
		fail "no answer from h1"
	all_arrived
	equal "tags at a plain switch" "$(tags sw2 x)" 0
	equal "sent with a tag" "$(stat sw1 x tagged_tx)" 0
	equal "state" "$(state sw1 x)" searching
	equal "pauses sent to a plain switch" "$(stat sw1 x frames_tx)" 0
	equal "state towards the plain host" "$(state sw2 r0)" searching
	# It appears, and only now there are tags: the capture can see them.
	bfc sw2 x hrtt 4ms
	up sw1 x
	up sw2 x
	capture sw2 x
	capture_x=$capturing
	capture r e0
	load 2
	all_arrived
	equal "tags at a plain host" "$(tags r e0)" 0
	capturing=$capture_x
	at_least "tags at a neighbour with BFC" "$(tags sw2 x)" 100
	all_idle
}

test_neighbour_loses_its_qdisc() {
	local tagged
	topology
	bfc sw2 x hrtt 4ms
	up sw1 x
	capture r e0
	load 11
	sleep 2
	at_least "tags before" "$(stat sw1 x tagged_tx)" 100
	tc -n sw2 qdisc del dev x root
	sleep 1
	tagged=$(stat sw1 x tagged_tx)
	check "sw1 still thinks sw2 is up" peer_not_up sw1 x
	# Longer than the port lingers.
	sleep 6
	equal "tags after the goodbye" \
		"$(($(stat sw1 x tagged_tx) - tagged))" 0
	all_arrived
	equal "tags that went through sw2" "$(tags r e0)" 0
	at_most "longest gap (ms)" \
		"$(received r 5000 '[.flows[].max_gap_ms] | max')" 1500
	all_idle
}

# The goodbye does not get through: sw1 goes on stamping until sw2 has been
# silent for 3.5 s, and sw2's port lingers for longer than that.
test_goodbye_gets_lost() {
	topology
	bfc sw2 x hrtt 4ms
	up sw1 x
	capture r e0
	load 9
	sleep 1
	ip -n sw2 link set dev x type wire drop 88b5 100%
	tc -n sw2 qdisc del dev x root
	at_least "tags before" "$(stat sw1 x tagged_tx)" 100
	check "sw1 still thinks sw2 is up" wait_for 10 peer_not_up sw1 x
	all_arrived
	equal "tags that went through sw2" "$(tags r e0)" 0
	all_idle
}

test_other_number_of_queues() {
	local n
	topology
	for n in 3 1024; do
		tc -n sw2 qdisc replace dev x root handle "$n": bfc \
			queues "$n" hrtt 4ms
		up sw1 x
		up sw2 x
		equal "neighbour's queues" "$(stat sw1 x peer_queues)" "$n"
		equal "neighbour's queues" "$(stat sw2 x peer_queues)" 32
		n=$(stat sw1 x pause_rx)
		load 3
		all_arrived
		at_least "pauses" $(($(stat sw1 x pause_rx) - n)) 5
		# The other way round: sw2's many or few queues are paused.
		meet 10.0.0.1 r
		receive h1 5001 -t 30 -i 3
		n=$bg
		send r 10.0.0.1 5001 -f 8 -t 2
		finish "$bg" "$n"
		equal "lost on the way back" "$(received h1 5001 .lost)" 0
	done
	equal "bad frames and tags" "$(sum_stat bad_range)+$(sum_stat bad_tag)" 0+0
	all_idle
}

# The new layout comes while frames with tags of the old one are on their way.
test_neighbour_restarts_under_load() {
	local n
	topology
	bfc sw2 x hrtt 4ms
	up sw1 x
	capture r e0
	load 8
	sleep 1
	for n in 8 64; do
		tc -n sw2 qdisc replace dev x root handle "$n": bfc \
			queues "$n" hrtt 4ms
		up sw1 x
		up sw2 x
		sleep 1
		equal "neighbour's queues" "$(stat sw1 x peer_queues)" "$n"
	done
	all_arrived
	equal "tags that went through sw2" "$(tags r e0)" 0
	all_idle
}

test_link_down_and_up() {
	local i
	dmesg -C
	topology
	bfc sw2 x hrtt 4ms
	up sw1 x
	capture r e0
	load 90			# ended below
	for i in sw1 sw2; do
		sleep 1
		ip -n "$i" link set x down
		sleep 0.5
		# The kernel tells of a carrier once a second.
		wait_for 3 is_off sw1 x
		equal "state" "$(state sw1 x)" off
		ip -n "$i" link set x up
		up sw1 x
		up sw2 x
	done
	i=$(stat sw1 x tagged_tx)
	sleep 1
	at_least "tags after all" $(($(stat sw1 x tagged_tx) - i)) 50
	# One line for each of the two ports, not one for each agreement
	equal "lines in the log" "$(dmesg | grep -c " x: bfc $(cat /sys/module/sch_bfc/version): \
the neighbour has [0-9]* queues\$")" 2
	kill "${senders[@]}"
	finish "${senders[@]}" "$receiver"
	# What was on its way to sw1's ring (of 8) waits for the link to come back, with
	# its old tag: twice.
	at_most "tags that went through sw2" "$(tags r e0)" 16
	all_idle
}

test_peer_on_and_off() {
	local frames tagged
	topology
	# No HELLO is sent, and none is answered.
	bfc sw2 x hrtt 4ms peer off
	load 2
	all_arrived
	equal "state of peer off" "$(state sw2 x)" off
	equal "HELLOs of peer off" "$(stat sw2 x hello_tx)" 0
	equal "PAUSE frames of peer off" "$(stat sw2 x frames_tx)" 0
	equal "tags sent" "$(stat sw1 x tagged_tx)" 0
	equal "state of its neighbour" "$(state sw1 x)" searching
	# Both are told.
	bfc sw2 x hrtt 4ms peer on
	bfc sw1 x hrtt 4ms peer on
	frames=$(stat sw1 x pause_rx)
	tagged=$(stat sw1 x tagged_tx)
	capture r e0
	load 4
	all_arrived
	equal "tags that went through sw2" "$(tags r e0)" 0
	at_least "tags of peer on" $(($(stat sw1 x tagged_tx) - tagged)) 200
	at_least "pauses of peer on" $(($(stat sw1 x pause_rx) - frames)) 5
	all_idle
	# Against a plain neighbour peer on is a mistake, and visible as one.
	tc -n sw2 qdisc del dev x root
	tagged=$(stat sw1 x tagged_tx)
	in_ns h1 ping -q -c 2 -i 0.3 -w 2 10.0.0.100 >/dev/null
	at_least "tags regardless of the neighbour" \
		$(($(stat sw1 x tagged_tx) - tagged)) 1
}

# lone_port: sw p1, which stays up with an MTU that is too small for IPv6
lone_port() {
	host h 10.0.0.1/24
	switch sw
	cable sw p1 h e0
	in_ns sw sysctl -qw net.ipv6.conf.p1.disable_ipv6=1
}

# refused_with_mtu MTU: sw p1 asks for more counters than a pause of that size could tell of
refused_with_mtu() {
	lone_port
	ip -n sw link set p1 mtu "$1"
	bfc sw p1 peer on queues 1024
	equal "state with an MTU of $1" "$(state sw p1)" refused
}

# A port that was refused its counters gets them when there is room, without a HELLO as well.
test_refused_is_not_for_good() {
	refused_with_mtu 100
	ip -n sw link set p1 mtu 1500
	up sw p1
}

# And one that has them is refused when its MTU gets too small for its pauses.
test_refused_later() {
	lone_port
	bfc sw p1 peer on queues 1024
	up sw p1
	ip -n sw link set p1 mtu 100
	equal "state with an MTU of 100" "$(state sw p1)" refused
	ip -n sw link set p1 mtu 1500
	up sw p1
}

# One that says HELLO is tried with each of them, but looked at once a second: what is said of the
# cause, in tc and the log, is the same in between.
test_refused_says_why() {
	local causes=() before
	lone_port
	ip -n sw link set p1 mtu 100
	bfc sw p1
	bfc h e0 role nic queues 1024
	check "not refused" wait_for 5 refused_for sw p1 mtu
	# until it is not looked at with each HELLO any more
	sleep 3
	before=$(dmesg | grep -c "p1: cannot count for")
	for _ in {1..16}; do
		causes+=("$(stat sw p1 peer_refused)")
		sleep 0.25
	done
	equal "why it is refused" "$(printf '%s\n' "${causes[@]}" | sort -u | paste -sd ' ')" mtu
	equal "lines in the log meanwhile" $(($(dmesg |
		grep -c "p1: cannot count for") - before)) 0
}

# Neither is it tried again for a port whose qdisc has gone, or has just come.
test_refused_and_gone() {
	refused_with_mtu 76
	ip netns exec sw tc qdisc del dev p1 root
	ip -n sw link set p1 mtu 1500
	sleep 3
	bfc sw p1 peer on queues 1024
	up sw p1
}

# One that changes its queues too often is refused for a second, even where it need not say
# HELLO. What it gets then are counters for its queues, not for as many as the port has.
test_refused_gets_its_own_queues() {
	topology
	tc -n h1 qdisc del dev e0 root
	bfc h1 e0 role nic queues 8 hrtt 4ms
	bfc sw1 p1 peer on queues 32 hrtt 4ms
	up sw1 p1
	up h1 e0
	# Each time it is another one.
	for _ in {1..5}; do
		bfc h1 e0 role nic queues 8 hrtt 4ms peer on
		bfc h1 e0 role nic queues 8 hrtt 4ms peer auto
		sleep 0.01
	done
	check "not refused" wait_for 5 refused_for sw1 p1 wait
	wait_for 5 peer_up sw1 p1
	sleep 2
	load 2
	all_arrived
	at_least "pauses" "$(stat h1 e0 pause_rx)" 5
	equal "frames that h1 did not take" "$(stat h1 e0 bad_range)" 0
	all_idle
}

run_tests neighbour_loses_its_qdisc -- plain_neighbour goodbye_gets_lost other_number_of_queues \
	neighbour_restarts_under_load link_down_and_up peer_on_and_off refused_is_not_for_good \
	refused_later refused_says_why refused_and_gone refused_gets_its_own_queues
