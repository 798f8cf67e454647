#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The watchdog: a neighbour that holds us paused and gets nowhere is not obeyed for
# a while; one that is only slow is.
#
#   h --ph-- sw --pn-- n		n is made of Python
#
# All links 20 Mbit/s, delay 100 us.

# shellcheck source=selftests/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"

mode=pfc

# storm PRIORITY QUANTA: a PFC frame of n, or with FAFC a PAUSE: quanta of 25.6 us
storm() {
	if [ "$mode" = fafc ]; then
		frames pause n epoch=9 queues=0 "prio$1=$(($2 * 25600))"
	else
		frames pfc n $((1 << $1)) "$2"
	fi
}

is() { [ "$(stat sw pn "$1")" = "$2" ]; }
is_at_least() { [ "$(stat sw pn "$1")" -ge "$2" ]; }

storms() {
	line_to_n fc "$mode" prio dscp watchdog 100ms
	[ "$mode" != fafc ] || tc -n sw qdisc change dev pn root bfc peer on
	# Quanta are times at the speed of the link: 1.68 s, or 16.8 s where it takes
	# long to look.
	simulated || ip -n sw link set dev pn type wire rate 2mbit
	storm 3 65535
	send h 10.0.0.2 3000 -r 400000 -T 96 -t 3
	local sender=$bg
	send h 10.0.0.2 4000 -r 400000 -T 128 -t 3
	# Again, so that it is known that there is something to send.
	sleep 0.05
	storm 3 65535
	wait_for 2 is_at_least storms 1 || fail "no storm"
	simulated && { wait_for 1 is 'prios[3].paused' false ||
		fail "still obeyed"; }
	sleep 0.1
	storm 3 65535
	frames seen n dport=3000
	at_least "packets during the storm" "$(answered length)" 2
	wait_for 2 is_at_least restored 1 || fail "not restored"
	simulated && { wait_for 1 is 'prios[3].paused' true ||
		fail "not obeyed again"; }
	# It goes on: the next hold-off is twice as long.
	wait_for 2 is_at_least storms 2 || fail "no second storm"
	at_least "packets sent meanwhile" "$(stat sw pn storm_tx)" 5
	finish "$sender" "$bg"
	frames seen n dport=4000
	at_least "packets of the other priority" "$(answered length)" 100
	frames seen n dport=3000
	at_most "packets sent meanwhile, of that priority" "$(stat sw pn storm_tx)" \
		"$(answered length)"
	# 0.1 s until it is one, then 0.2, 0.4, 0.8 and 1.6 s of peace
	at_most "storms in 3 s" "$(stat sw pn storms)" "$(simulated && echo 4 || echo 6)"
}

test_pfc_storm() { storms; }
test_capfc_storm() { mode=capfc-max storms; }
test_fafc_storm() { mode=fafc storms; }

# XON and XOFF in one breath are no end of a pause: nothing leaves in between while the shaper holds
# back another priority's packet.
test_pulses_are_a_storm() {
	local i senders
	line_to_n fc pfc prio dscp watchdog 100ms rate 10mbit
	storm 3 65535
	send h 10.0.0.2 3000 -r 8000000 -T 96 -t 2
	senders=("$bg")
	send h 10.0.0.2 4000 -r 12000000 -T 128 -t 2
	senders+=("$bg")
	for i in {1..25}; do
		sleep 0.06
		storm 3 0
		storm 3 65535
	done
	at_least "storms" "$(stat sw pn storms)" 2
	frames seen n dport=3000
	at_least "packets sent in spite of it" "$(answered length)" 100
	finish "${senders[@]}"
	frames close
}

# Of what does not fit, only that of the priority whose pauses are ignored is dropped
# because of the storm, and only as long as they are.
test_drops_of_a_storm() {
	local sent=() before
	line_to_n fc pfc prio dscp watchdog 100ms
	ip -n sw link set dev pn type wire rate 2mbit
	for port in 3000 4000; do
		send h 10.0.0.2 $port -r 3000000 -t 1 -T $((port / 1000 << 5))
		sent+=("$bg")
	done
	sleep 0.2
	equal "dropped in a storm, without one" "$(stat sw pn storm_drops)" 0
	before=$(drops_of 3)
	at_least "dropped of 3" "$before" 10
	storm 3 65535
	wait_for 2 is_at_least storms 1 || fail "no storm"
	wait_for 2 is_at_least restored 1 || fail "not restored"
	finish "${sent[@]}"
	at_least "dropped in a storm" "$(stat sw pn storm_drops)" 10
	at_most "dropped in a storm" "$(stat sw pn storm_drops)" \
		$(($(drops_of 3) - before - 10))
	at_least "dropped of 4" "$(drops_of 4)" 10
	say "$(stat sw pn storm_drops) of $(drops_of 3) and $(drops_of 4)"
}
# drops_of PRIORITY
drops_of() {
	classes sw pn | awk -v prio="$1" '(NR - 1) % 8 == prio { n += $4 }
		END { print n + 0 }'
}

# It pauses for ever, but lets something pass now and then.
test_slow_is_no_storm() {
	local i
	line_to_n fc pfc prio dscp watchdog 150ms
	storm 3 65535
	send h 10.0.0.2 3000 -r 400000 -T 96 -t 2
	for i in {1..15}; do
		sleep 0.09
		storm 3 0
		sleep 0.003
		storm 3 65535
	done
	equal "storms" "$(stat sw pn storms)" 0
	storm 3 0
	finish "$bg"
	at_least "pauses" "$(stat sw pn 'prios[3].pause_rx')" 10
}

test_watchdog_off() {
	line_to_n fc pfc prio dscp watchdog off
	send h 10.0.0.2 3000 -r 400000 -T 96 -t 1
	storm 3 65535
	sleep 0.05
	storm 3 65535
	sleep 0.7
	is 'prios[3].paused' true || fail "not paused any more"
	equal "storms" "$(stat sw pn storms)" 0
	finish "$bg"
}

# BFC: the neighbour says what it has drained.
test_bfc_storm() {
	local i watchdog=100ms
	# An emulated machine takes that long for a look.
	simulated || watchdog=300ms
	line_to_n fc bfc peer on assign single watchdog $watchdog
	frames set n epoch=9
	send h 10.0.0.2 3000 -r 400000 -t 3
	# Drains, however slowly: no storm.
	for i in {1..6}; do
		frames pause n bits=0 epoch=9 hold=2000000000 drained=$((i * 1000))
		sleep 0.08
	done
	equal "storms of one that drains" "$(stat sw pn storms)" 0
	is paused 1 || fail "not paused"
	# Stands still.
	for i in {1..3}; do
		frames pause n bits=0 epoch=9 hold=2000000000 drained=6000
		sleep 0.05
	done
	wait_for 2 is storms 1 || fail "no storm"
	wait_for 1 is paused 0 || fail "still paused"
	wait_for 1 is restored 1 || fail "not restored"
	wait_for 1 is paused 1 || fail "not obeyed again"
	finish "$bg"
}

# One PAUSE of a queue that has packets, and then silence: the neighbour is dead.
test_bfc_storm_of_one_frame() {
	local watchdog=100ms
	simulated || watchdog=300ms
	line_to_n fc bfc peer on assign single watchdog $watchdog
	frames set n epoch=9
	ip -n sw link set dev pn type wire rate 2mbit
	send h 10.0.0.2 3000 -r 4000000 -t 3
	sleep 0.3
	frames pause n bits=0 epoch=9 hold=4000000000 drained=1
	wait_for 1 is storms 1 || fail "no storm"
	check "still paused" wait_for 1 is paused 0
	finish "$bg"
}

# A storm, here of 4 s at least, is that of the neighbour: the next one, whose pauses have a reason,
# is obeyed.
test_hold_off_ends_with_the_link() {
	exact_clock || return 0
	line_to_n fc pfc prio dscp watchdog 2s
	send h 10.0.0.2 3000 -r 400000 -T 96 -t 30
	frames keep n 0.5 pfc=8
	wait_for 4 is storms 1 || fail "no storm"
	frames keep n 0
	ip -n n link set e0 down
	sleep 1.2
	ip -n n link set e0 up
	sleep 1.2
	storm 3 65535
	sleep 0.2
	check "the next neighbour is not obeyed" is 'prios[3].paused' true
	equal "storms restored by their hold-off" "$(stat sw pn restored)" 0
}

# With FAFC pauses outlast a BYE, and so does the watch of them.
test_byes_hide_no_storm() {
	exact_clock || return 0
	local mode=pfc i
	line_to_n fc fafc prio dscp watchdog 2s
	frames set n modes=2
	send h 10.0.0.2 3000 -r 400000 -T 96 -t 30
	for ((i = 0; i < 5; i++)); do
		frames talk n 0.1
		wait_for 5 peer_up sw pn || fail "not up"
		frames keep n 0.1 prio3=4000000000 queues=0
		sleep 0.6
		frames keep n 0
		frames talk n 0
		frames hello n flags=1
		wait_for 2 peer_not_up sw pn || fail "no end"
	done
	at_least "storms" "$(stat sw pn storms)" 1
}

run_tests pfc_storm capfc_storm fafc_storm pulses_are_a_storm drops_of_a_storm slow_is_no_storm \
	watchdog_off bfc_storm bfc_storm_of_one_frame hold_off_ends_with_the_link byes_hide_no_storm
