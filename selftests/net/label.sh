#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# incast: packets with a label share one queue of a port (BFC App. A.7).
#
#   h1 --p1-\                  /-- r
#            sw1 --x-->--x-- sw2
#   h2 --p2-/                  \-- h3
#
# All links 20 Mbit/s. h1 sends what is labelled, h2 what is not.

# shellcheck source=selftests/lib.sh disable=SC2086,SC2119
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"

dscp=46
tos=$((dscp << 2))

topology() {
	local port
	two_switches
	for port in "${ports_of_two_switches[@]}"; do
		case $port in
		*' e0')	bfc ${port} role nic queues 128 hrtt 4ms ;;
		*)	bfc ${port} hrtt 4ms "$@" ;;
		esac
	done
	peers_up
	meet 10.0.0.100 h1 h2
	meet 10.0.0.3 h1
	used_from
}

# queues_used NS PORT: numbers of those that have sent more than a few packets since
# used_from, each once
queues_used() {
	classes "$1" "$2" | awk -v from="${from["$1 $2"]-}" '
		BEGIN	{ n = split(from, f); for (i = 1; i < n; i += 2) was[f[i]] = f[i + 1] }
		$3 - was[$1] > 20 { print $1 }'
}
count_used() { queues_used "$@" | wc -l; }
declare -A from
used_from() {
	local port
	for port in "sw1 x" "sw2 r0"; do
		from[$port]=$(classes ${port} | awk '{ printf "%s %d ", $1, $3 }')
	done
}

# traffic TOS: eight flows from h1 to r and eight to h3, and one from h2 to r
traffic() {
	local receivers=() sent=()
	receive r 5000 -t 30 -i 2
	receivers+=("$bg")
	receive h3 5000 -t 30 -i 2
	receivers+=("$bg")
	send h1 10.0.0.100 5000 -f 8 -F 10 -t 2 -T "$1"
	sent+=("$bg")
	send h1 10.0.0.3 5000 -f 8 -F 20 -t 2 -T "$1"
	sent+=("$bg")
	send h2 10.0.0.100 5000 -F 1 -t 2
	sent+=("$bg")
	finish "${sent[@]}" "${receivers[@]}"
	equal "lost" "$(received r 5000 .lost) $(received h3 5000 .lost)" "0 0"
	equal "reordered" "$(received r 5000 .reordered) $(received h3 5000 .reordered)" "0 0"
	all_idle
}

# of_one: the part of x that the flow without a label had, per cent
of_one() {
	received r 5000 '.flows[] | select(.id == 1) |
		100 * .packets * 1042 * 8 / .seconds / 20e6 | floor'
}

test_dscp() {
	topology incast dscp:$dscp
	traffic "$tos"
	say "part of the flow without a label: $(of_one) %"
	equal "queues of x" "$(count_used sw1 x)" 2
	equal "queues of r0" "$(count_used sw2 r0)" 2
	at_least "part of the flow without a label, %" "$(of_one)" 45
	at_least "labelled" "$(stat sw1 x labelled)" 500
	equal "labelled at both switches" "$(stat sw1 x labelled)" \
		$(($(stat sw2 r0 labelled) + $(stat sw2 p3 labelled)))
	at_least "pauses of h1" "$(stat h1 e0 pause_rx)" 1
}

# The same DSCP is no label without the option, and another is none with it.
test_no_label() {
	topology
	traffic "$tos"
	equal "labelled" "$(sum_stat labelled)" 0
	at_least "queues of x" "$(count_used sw1 x)" 10
	at_most "part of the flow that is alone, %" "$(of_one)" 12
	tc -n sw1 qdisc change dev x root bfc incast dscp:$((dscp + 1))
	used_from
	traffic "$tos"
	equal "labelled" "$(sum_stat labelled)" 0
	at_least "queues of x" "$(count_used sw1 x)" 10
}

# A mark is what a rule of this box gives: of sw1 here; sw2 knows nothing of it. tc's filters at
# ingress see the tag of upstreamQ: for them these packets are not of IP.
test_mark() {
	topology
	tc -n sw1 qdisc change dev x root bfc incast mark:0x30/0xf0
	tc -n sw1 qdisc add dev p1 clsact
	tc -n sw1 filter add dev p1 ingress pref 1 protocol ip flower ip_proto udp \
		action skbedit mark 0x4a
	tc -n sw1 filter add dev p1 ingress pref 2 protocol 802.1ad flower vlan_ethtype ipv4 \
		ip_proto udp action skbedit mark 0x3a
	tc -n sw1 qdisc add dev p2 clsact
	tc -n sw1 filter add dev p2 ingress matchall action skbedit mark 0x4a
	traffic 0
	equal "queues of x" "$(count_used sw1 x)" 2
	at_least "queues of r0" "$(count_used sw2 r0)" 5
	at_least "labelled" "$(stat sw1 x labelled)" 500
	equal "labelled at sw2" "$(stat sw2 r0 labelled)" 0
}

# Where flows to r have to share the few queues, it is not with those that have the label,
# although these go to r as well.
test_apart_when_short() {
	local receiver sent=() label
	topology queues 4 incast dscp:$dscp
	receive r 5000 -t 30 -i 2
	receiver=$bg
	send h1 10.0.0.100 5000 -f 8 -F 10 -t 2 -T "$tos"
	sent+=("$bg")
	sleep 0.5
	label=$(queues_used sw1 x)
	equal "queues of the label" "$(wc -w <<<"$label")" 1
	send h2 10.0.0.100 5000 -f 8 -F 30 -t 1
	sent+=("$bg")
	finish "${sent[@]}" "$receiver"
	equal "lost" "$(received r 5000 .lost)" 0
	at_most "queues" "$(count_used sw1 x)" 3
	at_least "labelled" "$(stat sw1 x labelled)" 500
	# This queue had all that is labelled, and nothing else since.
	equal "packets in it" "$(classes sw1 x | awk -v label="$label" -v from="${from["sw1 x"]}" '
		$1 == label { n = split(from, f)
			      for (i = 1; i < n; i += 2)
				      if (f[i] == label) $3 -= f[i + 1]
			      print $3 }')" "$(stat sw1 x labelled)"
	all_idle
}

# On and off while packets wait: none is lost, no count stays.
test_changes() {
	local label receivers=() sent=()
	topology
	receive r 5000 -t 60 -i 3
	receivers+=("$bg")
	send h1 10.0.0.100 5000 -f 8 -F 10 -t 3 -T "$tos"
	sent+=("$bg")
	send h2 10.0.0.100 5000 -f 2 -F 1 -t 3
	sent+=("$bg")
	for label in dscp:$dscp off dscp:1 mark:1 dscp:$dscp; do
		sleep 0.5
		check "$label" tc -n sw1 qdisc change dev x root bfc incast $label
	done
	finish "${sent[@]}" "${receivers[@]}"
	equal "lost" "$(received r 5000 .lost)" 0
	at_least "labelled" "$(stat sw1 x labelled)" 100
	all_idle
}

test_refused() {
	local text="incast: used by fc bfc with assign destination or dynamic only" other
	topology
	for other in "fc none" "fc pfc" "fc fafc" "assign root" "assign single" "assign stochastic"; do
		# shellcheck disable=SC2086
		tc_refuses "$text" -n sw1 qdisc change dev x root bfc $other incast dscp:1
	done
	for other in dscp:64 mark:0 mark:0/0xff mark:0x11/0xf0; do
		tc_refuses "incast: a DSCP from 1 to 63, or a mark that is not 0 and in its mask" \
			-n sw1 qdisc change dev x root bfc incast "$other"
	done
	check "dynamic" tc -n sw1 qdisc change dev x root bfc assign dynamic incast mark:7
	equal "shown" "$(stat sw1 x options.incast)" mark:0x7
}

run_tests dscp no_label mark apart_when_short changes refused
