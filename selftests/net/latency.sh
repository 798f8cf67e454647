#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# How long do a pause and a resume take? From the moment that a counter leaves
# or reaches zero to the frame, and from the frame to the moment that the
# scheduler of the upstream port obeys. From the tracepoints:
#
#   h1 --p1-\
#   h2 --p2--> sw1 --x (index 901)-->--x (index 902)-- sw2 -- r
#                                               h3 -----/
#
#   bfc_pause_tx at 902   latency_ns: since the oldest change it reports
#   bfc_pause_rx at 901   the same sequence number: the hook has it
#   bfc_paused, bfc_resumed at 901   the next dequeue acts on it
#
# All links 20 Mbit/s. The figures are those of this machine, emulated or not;
# only what would be absurd fails.

# shellcheck source=selftests/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"

tracing=/sys/kernel/tracing
down=902 up=901		# the ends of x

[ -d $tracing/events ] || mount -t tracefs tracefs $tracing 2>/dev/null
[ -d $tracing/events ] || skip_all "no tracefs"

topology() {
	local i port
	switch sw1
	switch sw2
	host r 10.0.0.100/24
	for i in 1 2 3; do
		host "h$i" "10.0.0.$i/24"
	done
	cable sw1 p1 h1 e0
	cable sw1 p2 h2 e0
	cable sw2 p3 h3 e0
	cable sw2 r0 r e0
	# Numbers that no other device has: the events do not name namespaces.
	ip link add name x index $up netns sw1 type wire rate 20mbit \
		delay 100us ring 8 peer name x index $down netns sw2
	plug sw1 x
	plug sw2 x
	for port in "sw1 p1" "sw1 p2" "sw1 x" "sw2 x" "sw2 p3" "sw2 r0"; do
		# shellcheck disable=SC2086
		bfc $port hrtt 4ms
	done
	for port in h1 h2 h3 r; do
		bfc "$port" e0 role nic queues 128 hrtt 4ms
	done
	peers_up
	meet 10.0.0.100 h1 h2 h3
}

# trace_start, trace_stop: in an instance of our own
trace_start() {
	buffer=$tracing/instances/bfc-$$
	mkdir "$buffer"
	trap 'rmdir "$buffer" 2>/dev/null; clean_up; rm -rf "$scratch"' EXIT
	echo mono >"$buffer/trace_clock"
	echo 8192 >"$buffer/buffer_size_kb"
	echo "ifindex == $down" >"$buffer/events/bfc/bfc_pause_tx/filter"
	for event in bfc_pause_rx bfc_paused bfc_resumed; do
		echo "ifindex == $up" >"$buffer/events/bfc/$event/filter"
	done
	for event in bfc_pause_tx bfc_pause_rx bfc_paused bfc_resumed; do
		echo 1 >"$buffer/events/bfc/$event/enable"
	done
	# What a drop monitor would show of the ports' own frames
	echo "protocol == $((0x88b5))" >"$buffer/events/skb/kfree_skb/filter"
	echo 1 >"$buffer/events/skb/kfree_skb/enable"
}

trace_stop() {
	echo 0 >"$buffer/tracing_on"
	cp "$buffer/trace" "$scratch/trace"
	echo 0 >"$buffer/events/enable"
	rmdir "$buffer"
}

# One line "KIND ns" for each measurement.
measure() {
	awk '
	function field(name, i, v) {
		for (i = 1; i <= NF; i++)
			if (split($i, v, "=") == 2 && v[1] == name)
				return v[2]
		return ""
	}
	/^#/ { next }
	{
		event = time = ""
		for (i = 1; i < NF && event == ""; i++)
			if ($i ~ /^[0-9]+\.[0-9]+:$/) {
				time = $i + 0
				event = $(i + 1)
			}
	}
	event == "bfc_pause_tx:" {
		sent[field("seq")] = time
		if (field("changed") > 0)
			print "change_to_frame", field("latency_ns")
	}
	event == "bfc_pause_rx:" {
		tx = sent[field("seq")]
		if (tx)
			printf "frame_to_hook %.0f\n", (time - tx) * 1e9
		paused = resumed = 0
	}
	event == "bfc_paused:" && tx && !paused++ {
		printf "frame_to_pause %.0f\n", (time - tx) * 1e9
	}
	event == "bfc_resumed:" && tx && !resumed++ {
		printf "frame_to_resume %.0f\n", (time - tx) * 1e9
	}' "$scratch/trace" >"$scratch/times"
}

# percentile KIND P: in us; "none" if never seen
percentile() {
	awk -v kind="$1" '$1 == kind { print $2 }' "$scratch/times" |
		sort -n | awk -v p="$2" '
		{ v[NR] = $1 }
		END {
			i = int(NR * p / 100) + 1
			if (i > NR)
				i = NR
			if (NR)
				printf "%.0f", v[i] / 1000
			else
				print "none"
		}'
}

test_pause_and_resume() {
	local i kind n p50 receiver sent=()
	topology
	receive r 5000 -t 40 -i 3
	receiver=$bg
	trace_start
	for i in 1 2 3; do
		send "h$i" 10.0.0.100 5000 -F "${i}0" -f 4 -t 5
		sent+=("$bg")
	done
	finish "${sent[@]}" "$receiver"
	trace_stop
	equal "lost" "$(received r 5000 .lost)" 0
	equal "control frames that count as dropped" \
		"$(grep -c ' kfree_skb: ' "$scratch/trace")" 0
	measure
	for kind in change_to_frame frame_to_hook frame_to_pause frame_to_resume; do
		n=$(grep -c "^$kind " "$scratch/times")
		p50=$(percentile $kind 50)
		echo "# $kind: p50 $p50 us, p99 $(percentile $kind 99) us, $n times"
		at_least "$kind: events" "$n" 20
		[ "$n" -gt 0 ] || continue
		at_most "$kind: p50 (us)" "$p50" 10000
	done
	# It has crossed the wire: 100 us and 90 bytes.
	at_least "frame_to_hook: p50 (us)" "$(percentile frame_to_hook 50)" 100
	at_most "change_to_frame: p50 (us)" \
		"$(percentile change_to_frame 50)" 5000
	all_idle
}

run_tests pause_and_resume
