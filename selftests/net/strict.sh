#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Strict priorities: they go first, the highest before the others.
#
#   s e0 --------- e0 r      10 Mbit/s; the qdisc is on s

# shellcheck source=selftests/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"

pids_of=()

# topology OPTIONS...: three senders with more than the link takes, of the
# priorities 1 (port 5001), 4 (5004) and 6 (5006), as DSCP
topology() {
	local prio
	pids_of=()
	host s 10.0.0.1/24
	host r 10.0.0.2/24
	cable s e0 r e0 rate 10mbit delay 100us ring 1
	meet 10.0.0.2 s
	bfc s e0 fc pfc peer off prio dscp queues 8 limit 32mb "$@"
	for prio in 1 4 6; do
		receive r "500$prio" -t 20 -i 2
		pids_of+=("$bg")
		send s 10.0.0.2 "500$prio" -F "$prio" -s 1000 -t 8 \
			-b 10000 -T $((prio << 5))
	done
	sleep 1
}

# sent PRIO: packets of a priority that have left so far
sent() { classes s e0 | awk -v id="$(printf %x $(($1 + 1)))" '$1 == id { print $3 }'; }

# rates NAME: packets of the three in half a second, in $low $middle $high
rates() {
	local before after
	before="$(sent 1) $(sent 4) $(sent 6)"
	sleep 0.5
	after="$(sent 1) $(sent 4) $(sent 6)"
	read -r low middle high < <(awk '{ print $4 - $1, $5 - $2, $6 - $3 }' \
		<<<"$before $after")
	say "$1 $low/$middle/$high"
}

all_alike() {
	at_least "packets of 1, $1" "$low" "$((middle * 9 / 10))"
	at_most "packets of 1, $1" "$low" "$((middle * 11 / 10 + 2))"
	at_least "packets of 6, $1" "$high" "$((middle * 9 / 10))"
	at_most "packets of 6, $1" "$high" "$((middle * 11 / 10 + 2))"
	at_least "packets, $1" "$low" 100
}

only_high() {
	equal "packets of 1, $1" "$low" 0
	equal "packets of 4, $1" "$middle" 0
	at_least "packets of 6, $1" "$high" 500
}

change() { tc -n s qdisc change dev e0 root bfc "$@" || fail "refused: $*"; }

test_none_is_in_turn() {
	topology
	rates none
	all_alike none
}

test_the_highest_goes_first() {
	topology strict 4,6
	rates 4,6
	only_high 4,6
}

# What is not strict shares what the strict ones leave: here nothing, until they are
# done.
test_the_rest_gets_the_rest() {
	topology strict 4
	rates 4
	equal "packets of 1" "$low" 0
	equal "packets of 6" "$high" 0
	at_least "packets of 4" "$middle" 500
}

# Packets that wait are lined up anew.
test_changes_under_traffic() {
	topology
	change strict 6
	rates 6
	only_high 6
	change strict none
	rates none
	all_alike none
	change strict all
	rates all
	only_high all
	# Queues without priorities, and back; what is in them stays there.
	change fc bfc
	sleep 0.3
	change fc capfc-cal prio dscp strict all
	sleep 0.1
	change strict none
	sleep 0.3
	change strict all
	rates capfc-cal
	only_high capfc-cal
	change strict none
	finish "${pids_of[@]}"
}

# With several queues a priority, its queues take turns: hosts have one for each
# flow.
test_queues_of_a_strict_priority() {
	host s 10.0.0.1/24
	host r 10.0.0.2/24
	cable s e0 r e0 rate 10mbit delay 100us ring 1
	meet 10.0.0.2 s
	bfc s e0 fc pfc role nic peer off prio dscp queues 64 strict 6 limit 32mb
	receive r 5006 -t 10 -i 2
	local receiver=$bg
	send s 10.0.0.2 5006 -f 4 -F 1 -s 1000 -t 3 -b 10000 -T 192
	finish "$receiver"
	equal "flows" "$(received r 5006 '.flows | length')" 4
	at_least "share of the least" "$(received r 5006 \
		'[.flows[].bytes] | min / max')" 0.9
}

run_tests none_is_in_turn the_highest_goes_first the_rest_gets_the_rest \
	changes_under_traffic queues_of_a_strict_priority
