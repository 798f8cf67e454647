#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# No head-of-line blocking (BFC Fig. 6, Fig. 8): a flow that shares a congested
# flow's path, but not its bottleneck, is not held back with it.
#
#   h1 --v--\                       /-- r1
#            sw1 --x-->--x-- sw2 --<
#   h2 --c--/               /       \-- r2
#                     h3 --/
#
# All links 5 Mbit/s. v: one flow from h1 to r1. c: two flows from h2 to r2,
# which meets two more from h3 at sw2 -> r2. sw2 pauses sw1's queues of c, which
# shares sw1 -> sw2 with v.
#
# Max-min: c's flows get a quarter of sw2 -> r2 each, v what they leave of x.
# The fair rate is measured, in the same run: h2 sends what of c got through x,
# at that pace and without h3, so that nothing is congested; what v has then is
# its fair rate.

# shellcheck source=selftests/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"

seconds=8	# of v; c starts before and ends after it

# The switches' ports and the wires hold less than a pause loop takes here.
hrtt=40ms
link=(rate 5mbit delay 100us ring 8)

# topology [OPTIONS of the switches' qdiscs]
topology() {
	local port
	switch sw1
	switch sw2
	host h1 10.0.0.1/24
	host h2 10.0.0.2/24
	host h3 10.0.0.3/24
	host r1 10.0.0.11/24
	host r2 10.0.0.12/24
	cable sw1 p1 h1 e0 "${link[@]}"
	cable sw1 p2 h2 e0 "${link[@]}"
	cable sw2 p3 h3 e0 "${link[@]}"
	cable sw2 r1 r1 e0 "${link[@]}"
	cable sw2 r2 r2 e0 "${link[@]}"
	cable sw1 x sw2 x "${link[@]}"
	for port in "sw1 p1" "sw1 p2" "sw1 x" "sw2 p3" "sw2 r1" "sw2 r2" "sw2 x"; do
		# shellcheck disable=SC2086
		bfc $port hrtt $hrtt "$@"
	done
	for port in h1 h2 h3 r1 r2; do
		bfc "$port" e0 role nic queues 128 hrtt $hrtt
	done
	peers_up
	meet 10.0.0.11 h1
	meet 10.0.0.12 h2 h3
}

# victim PORT: send v while others send
victim() {
	local receiver
	sleep 1
	receive r1 "$1" -t 40 -i 3
	receiver=$bg
	send h1 10.0.0.11 "$1" -t "$seconds"
	finish "$bg" "$receiver"
}

# traffic: v with c, then v alone with what c took of x
traffic() {
	local c sent=() through
	receive r2 5001 -t 60 -i 3
	c=$bg
	send h3 10.0.0.12 5001 -f 2 -F 10 -t $((seconds + 3))
	sent+=("$bg")
	send h2 10.0.0.12 5001 -f 2 -F 20 -t $((seconds + 3))
	sent+=("$bg")
	victim 5002
	finish "${sent[@]}" "$c"
	through=$(received r2 5001 '
		[.flows[] | select(.id >= 20)] |
		(map(.bytes) | add) / (map(.seconds) | max)')
	pauses=$(stat sw1 x pause_rx)

	receive r2 5003 -t 60 -i 3
	sent=("$bg")
	send h2 10.0.0.12 5003 -f 2 -t $((seconds + 3)) \
		-r "$(calc "$through * 8")"
	c=$bg
	victim 5004
	finish "$c" "${sent[@]}"
	share=$(calc "$(rate r1 5002) / $(rate r1 5004)")
	say "of the fair rate: $share, v $(rate r1 5002) B/s, c through x $through B/s"
	say "pauses of x $pauses"
	equal "lost of v" "$(received r1 5002 .lost)" 0
	equal "lost of c" "$(received r2 5001 .lost)" 0
	# Else there was nothing to be blocked by.
	at_least "pauses of sw1's queues towards sw2" "$pauses" 20
}

# rate NS PORT
rate() { received "$1" "$2" '.bytes / .seconds | floor'; }

test_victim_has_its_fair_rate() {
	topology assign destination
	traffic
	at_least "victim of its fair rate" "$share" 0.95
	# Each of c has its quarter, too.
	at_least "the least of c's flows, of a quarter" "$(received r2 5001 '
		([.flows[].bytes] | min) / (.bytes / 4)')" 0.7
	all_idle
}

test_single_queue_blocks_the_victim() {
	topology assign single
	traffic
	at_most "victim of its fair rate" "$share" 0.85
	all_idle
}

run_tests victim_has_its_fair_rate single_queue_blocks_the_victim
