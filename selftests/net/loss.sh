#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Control frames that get lost: pauses, resumes and HELLOs (the wires
# drop only BFC's frames, not the traffic).
#
#   h1 --p1-\                  /-- r
#            sw1 --x-->--x-- sw2
#   h2 --p2-/                  \-- h3
#
# All links 20 Mbit/s, all to r: sw2 pauses sw1 and h3, sw1 pauses h1 and h2.

# shellcheck source=selftests/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"

hold=60		# ms
slack=440	# of an emulated machine, and of fair queueing between the flows

# topology [WIRE-OPTIONS of x]
topology() {
	local port
	two_switches "$@"
	for port in "${ports_of_two_switches[@]}"; do
		set -- hrtt 4ms hold ${hold}ms refresh 4ms
		[[ $port == sw* ]] || set -- "$@" role nic queues 128
		# shellcheck disable=SC2086
		bfc $port "$@"
	done
	peers_up
	meet 10.0.0.100 h1 h2 h3
}

# lose RULES...: on all wires, both directions, at once; the generators differ
lose() {
	local port n=0 ns
	for port in "${ports_of_two_switches[@]}"; do
		n=$((n + 1))
		echo "link set dev ${port#* } type wire" \
			"seed $((seed * 100 + n)) $*" >>"$scratch/${port% *}.lose"
	done
	for ns in "${namespaces[@]}"; do
		ip -n "$ns" -batch "$scratch/$ns.lose"
	done
	rm -f "$scratch"/*.lose
}

# wire_rules NS PORT WIRE-OPTIONS...: of the direction in which PORT sends
wire_rules() {
	local ns=$1 port=$2
	shift 2
	ip -n "$ns" link set dev "$port" type wire "$@"
}

# control_lost: frames that the rules dropped
control_lost() {
	local ns
	for ns in "${namespaces[@]}"; do
		ip -n "$ns" -j -d -s link show type wire
	done | jq -s '[.[][].linkinfo.info_xstats.drops[]?.dropped] | add // 0'
}

flows=2 packets=900	# of each flow

# incast [SEND-OPTIONS]: from h1, h2 and h3, in the background; pids in
# $senders and $receiver
incast() {
	local i
	receive r 5000 -t 60 -i 2
	receiver=$bg
	senders=()
	for i in 1 2 3; do
		send "h$i" 10.0.0.100 5000 -F "${i}0" -f "$flows" "$@"
		senders+=("$bg")
	done
}

# all_came: what the senders sent and no qdisc dropped came, in order
all_came() {
	local sent
	sent=$(jq -s 'map(.sent) | add' "$scratch"/h?.sent.5000.json)
	equal "packets received" "$(received r 5000 .packets)" \
		$((sent - $(new_drops)))
	equal "reordered" "$(received r 5000 .reordered)" 0
}

# nothing_lost: all that the senders sent came, in order
nothing_lost() {
	all_came
	equal "dropped by a qdisc" "$(new_drops)" 0
}

no_stall() {
	local gap
	gap=$(received r 5000 '[.flows[].max_gap_ms] | max')
	at_most "longest gap of a flow (ms)" "$gap" $((hold + slack))
	say "gap $gap ms"
}

test_a_third_lost() {
	local lost
	topology
	for seed in 1 2 3; do
		lose drop 88b5 33.3%
		incast -n "$packets"
		finish "${senders[@]}" "$receiver"
		lost=$(control_lost)
		say "seed $seed: lost $lost"
		at_least "control frames lost" "$lost" 50
		equal "flows" "$(received r 5000 '.flows | length')" \
			$((3 * flows))
		equal "packets of all flows" "$(received r 5000 .packets)" \
			$((3 * flows * packets))
		nothing_lost
		no_stall
	done
	at_least "pauses" "$(sum_stat pause_rx)" 30
	say "pauses $(sum_stat pause_rx), expired $(sum_stat expired)"
	# Still without a third of the frames.
	all_idle
}

# Pauses that were in force when the last control frame got through end with
# their hold time; the neighbours give each other up after 3.5 s, and from then
# on no port stamps.
test_all_lost() {
	local start seconds tags
	seed=4
	topology
	incast -t 12
	sleep 2
	at_least "queues paused" "$(sum_stat pause_rx)" 10
	lose drop 88b5 100%
	start=$EPOCHREALTIME
	at_least "ports that think at once that they are alone" \
		"$(still_up | wc -l)" 1
	check "a port thinks that its neighbour lives" \
		wait_for 10 is_empty still_up
	seconds=$(calc "$EPOCHREALTIME - $start")
	# Silent for 3.5 s, the last HELLO being up to 1 s old; and wait_for is
	# slow.
	at_least "seconds until the neighbours are dead" "$seconds" 1.5
	at_most "seconds until the neighbours are dead" "$seconds" 12
	tags=$(sum_stat tagged_tx)
	sleep 1
	equal "tags sent to dead neighbours" \
		"$(($(sum_stat tagged_tx) - tags))" 0
	equal "queues still paused" "$(sum_stat paused)" 0
	at_least "pauses that expired" "$(sum_stat expired)" 1
	finish "${senders[@]}" "$receiver"
	# No queue is paused any more: the congested port drops.
	all_came
	no_stall
	note_drops
	say "dead after $seconds s, expired $(sum_stat expired)," \
		"dropped $drops_before"
	# And back again.
	lose drop none
	peers_up
	incast -n 200
	finish "${senders[@]}" "$receiver"
	nothing_lost
	all_idle
}

still_up() { snapshot '.[] | select(.peer_state == "up") | "\(.ns) \(.dev)"'; }

# Only what sw2 says gets lost: sw1 gives it up, sw2 hears sw1 well. What sw2
# has stamped when sw1 gives it up must be understood nevertheless.
test_silent_in_one_direction() {
	seed=5
	# So many frames are on their way that some certainly are.
	topology rate 20mbit delay 20ms ring 64
	receive h1 5000 -t 60 -i 2
	receiver=$bg
	send r 10.0.0.1 5000 -t 9
	senders=("$bg")
	sleep 1
	at_least "tags of sw2" "$(stat sw2 x tagged_tx)" 100
	wire_rules sw2 x drop 88b5 100%
	check "sw1 thinks that sw2 lives" wait_for 8 gave_up sw1 x
	sleep 2
	# It hears that sw1 does not hear it.
	equal "sw2's state" "$(stat sw2 x peer_state)" heard
	finish "${senders[@]}" "$receiver"
	equal "packets received" "$(received h1 5000 .packets)" \
		"$(jq .sent "$scratch/r.sent.5000.json")"
	wire_rules sw2 x drop none
	peers_up
	all_idle
}

gave_up() { [ "$(stat "$1" "$2" peer_state)" = searching ]; }

# How long until all agree, when a share of HELLOs gets lost: from the start, so the
# times are those of ten links.
test_agreement() {
	local share seconds start port most=1 times=
	# An emulated machine takes 0.5 s to look at ten ports.
	simulated || most=3
	for share in 30 50; do
		for seed in 1 2 3 4; do
			two_switches
			lose drop 88b5 $share%
			for port in "${ports_of_two_switches[@]}"; do
				# shellcheck disable=SC2086
				bfc $port hrtt 4ms
			done
			start=$EPOCHREALTIME
			poll=0.05 becomes_empty 20 "no agreement" not_up
			seconds=$(calc "$EPOCHREALTIME - $start")
			times="$times $seconds"
			clean_up
		done
		say "$share %:$times s"
		at_most "s to agree with $share % lost, mean" \
			"$(calc "(${times// / + }) / 4")" $most
		times=
	done
}

run_tests a_third_lost all_lost silent_in_one_direction agreement
