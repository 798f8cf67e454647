#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Pauses over two switches: what becomes of a flow that goes elsewhere, and what
# neighbours of different modes make of each other.
#
#   h1 --p1-\                   /--r0-- r	congested
#            sw1 --x-->--x-- sw2 --v0-- v	not: what h1 sends to v is the victim
#   h2 --p2-/                 | \
#                            p3  p4--- h4
#			      \--- h3
#
# Links 20 Mbit/s, x 40 Mbit/s, delay 1 ms.

# shellcheck source=selftests/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"

# What modes() takes by name
ms=(hrtt 6ms queues 128)
# shellcheck disable=SC2034
fafc=("${ms[@]}" fc fafc thop 3ms threshold 60kb)
# shellcheck disable=SC2034
pfc=("${ms[@]}" fc pfc)
seconds=4

topology() {
	local i link=(delay 1ms ring 2)
	switch sw1
	switch sw2
	for i in 1 2 3 4; do
		host "h$i" "10.0.0.$i/24"
	done
	host r 10.0.0.100/24
	host v 10.0.0.101/24
	cable sw1 p1 h1 e0 rate 20mbit "${link[@]}"
	cable sw1 p2 h2 e0 rate 20mbit "${link[@]}"
	cable sw2 p3 h3 e0 rate 20mbit "${link[@]}"
	cable sw2 p4 h4 e0 rate 20mbit "${link[@]}"
	cable sw2 r0 r e0 rate 20mbit "${link[@]}"
	cable sw2 v0 v e0 rate 20mbit "${link[@]}"
	cable sw1 x sw2 x rate 40mbit "${link[@]}"
}

# modes SW1 SW2 HOST: names of the arrays above
modes() {
	local -n one=$1 two=$2 nics=$3
	local port
	for port in p1 p2 x; do
		bfc sw1 "$port" "${one[@]}"
	done
	for port in x p3 p4 r0 v0; do
		bfc sw2 "$port" "${two[@]}"
	done
	for port in h1 h2 h3 h4; do
		bfc "$port" e0 role nic "${nics[@]}"
	done
	meet 10.0.0.100 h2 h3 h4
	meet 10.0.0.101 h1
}

up() {
	local port
	for port in "$@"; do
		# shellcheck disable=SC2086
		wait_for 10 peer_up $port || fail "$port has no neighbour"
	done
}

# load: the victim, and three to r; until all has arrived
load() {
	local i receivers=() senders=()
	receive r 5000 -t 60 -i 3
	receivers+=("$bg")
	receive v 6000 -t 60 -i 3
	receivers+=("$bg")
	for i in 2 3 4; do
		send "h$i" 10.0.0.100 5000 -F "$i" -t $seconds
		senders+=("$bg")
	done
	send h1 10.0.0.101 6000 -F 1 -t $seconds
	senders+=("$bg")
	finish "${senders[@]}" "${receivers[@]}"
	equal "dropped" "$(sum_stat drops)" 0
	equal "packets received" \
		$(($(received r 5000 .packets) + $(received v 6000 .packets))) \
		"$(jq -s 'map(.sent) | add' "$scratch"/h?.sent.?000.json)"
	equal "reordered" "$(received r 5000 .reordered)" 0
	all_idle
}

# paused NS PORT: ms, as the one that obeys counts them
paused() { echo $(($(stat "$1" "$2" 'prios[0].paused_time') / 1000000)); }

# What v could get: frames of 1066 bytes with all that the wire adds
whole=$((20000000 * seconds / 8 / 1066))

# figures: what became of the victim; x, h3 and h4: for how long they were paused
figures() {
	victim=$(received v 6000 .packets)
	x=$(paused sw1 x)
	h3=$(paused h3 e0)
	h4=$(paused h4 e0)
	say "victim $victim of $whole packets; paused: x $x ms," \
		"h3 and h4 $h3 and $h4 ms"
}

# ---- the victim ----

# PFC pauses all that comes through x (FAFC Fig. 1): the victim, which could have all
# of its link, gets about what h2 gets.
test_pfc_stops_a_victim() {
	topology
	modes pfc pfc pfc
	load
	figures
	at_most "packets of the victim" "$victim" $((whole * 60 / 100))
	at_least "ms for which x was paused" "$x" 1000
	at_least "ms for which h3 was paused" "$h3" 1000
}

# FAFC pauses x, where there is a victim, for the shortest time of all (FAFC Fig. 2).
test_fafc_spares_the_victim() {
	topology
	modes fafc fafc fafc
	up "sw1 x" "sw2 x" "sw1 p1" "sw2 p3" "sw2 p4"
	load
	figures
	at_least "packets of the victim" "$victim" $((whole * 62 / 100))
	at_most "pauses of x to those of h3" "$(calc "$x / $h3")" 0.5
	at_most "pauses of x to those of h4" "$(calc "$x / $h4")" 0.5
}

# BFC pauses h2's queue at x, and no other.
test_bfc_has_no_victim() {
	# shellcheck disable=SC2034
	local bfc=("${ms[@]}" fc bfc)
	topology
	modes bfc bfc bfc
	up "sw1 x" "sw2 x" "sw1 p1" "sw2 p3" "sw2 p4"
	load
	victim=$(received v 6000 .packets)
	say "victim $victim of $whole packets"
	at_least "packets of the victim" "$victim" $((whole * 95 / 100))
	at_least "pauses" "$(stat sw1 x pause_rx)" 10
}

# ---- different modes ----

# ieee FROM PORT TO PORT: so FROM has paused TO
ieee() {
	at_least "PFC frames from $1" "$(stat "$1" "$2" pfc_tx)" 10
	equal "frames of our own from $1" "$(stat "$1" "$2" frames_tx)" 0
	# A port's first frame, which ends all pauses, comes before $3 has a qdisc
	# if the machine is slow.
	at_most "PFC frames that $3 obeyed" "$(stat "$3" "$4" pfc_rx)" \
		"$(stat "$1" "$2" pfc_tx)"
	at_least "PFC frames that $3 obeyed" "$(stat "$3" "$4" pfc_rx)" \
		$(($(stat "$1" "$2" pfc_tx) - 1))
	equal "PFC frames that $3 refused" "$(stat "$3" "$4" pfc_bad)" 0
	at_least "ms for which $3 was paused" "$(paused "$3" "$4")" 100
}

# h1, h2 and sw1 have PFC: sw2 tells sw1, h3 and h4 in quanta what it has computed,
# and sw1 passes the pressure on.
test_fafc_before_pfc() {
	topology
	modes pfc fafc pfc
	load
	figures
	at_least "allocations" "$(stat sw2 r0 solved)" 10
	ieee sw2 x sw1 x
	ieee sw2 p3 h3 e0
	ieee sw1 p2 h2 e0
}

# The other way round: sw1 obeys PFC, and tells its hosts in frames of our own.
test_pfc_before_fafc() {
	topology
	modes fafc pfc fafc
	up "sw1 p1" "sw1 p2"
	load
	figures
	ieee sw2 x sw1 x
	ieee sw2 p3 h3 e0
	at_least "allocations" "$(stat sw1 x solved)" 10
	at_least "frames of our own from sw1" "$(stat sw1 p2 frames_tx)" 10
	at_most "PFC frames from sw1" "$(stat sw1 p2 pfc_tx)" 1
	at_least "ms for which h2 was paused" "$(paused h2 e0)" 50
}

run_tests pfc_stops_a_victim fafc_spares_the_victim bfc_has_no_victim \
	fafc_before_pfc pfc_before_fafc
