#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# How many PAUSE frames a port sends: hosts that send as fast as they can through a switch to
# one, on links of 10 Gbit/s.
#
#   h1 --p1-\
#   ...       sw --r0-- r
#   hN --pN-/
#
#   bench frames senders=N resume=RULE frames_per_s=F of_link=P% most_per_s=M
#
# F and M: of a port of the switch, the mean and the most; P: the part of its link that F takes.

# shellcheck source=selftests/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"

default_link=(rate 10gbit delay 1us ring 16)
packets=4000		# of each sender
frame=90		# bytes, with the FCS and the gap 24 more; 32 queues

# sent: PAUSE frames of each port that faces a sender
sent() { snapshot '.[] | select(.dev | test("^p")) | .frames_tx'; }

# rule RESUME HOST...: at all ports of the switch
rule() {
	local resume=$1 host
	shift
	for host in "$@"; do
		tc -n "$host" qdisc change dev e0 root bfc hrtt 10us || fail "$host: refused"
		tc -n sw qdisc change dev "p${host#h}" root bfc hrtt 10us resume "$resume" ||
			fail "p${host#h}: refused"
	done
	tc -n sw qdisc change dev r0 root bfc hrtt 10us resume "$resume" || fail "r0: refused"
}

# measure SENDERS RESUME HOST...
measure() {
	local n=$1 resume=$2 before after seconds
	shift 2
	rule "$resume" "$@"
	receive r 5000 -n $((n * packets)) -t 30 -i 3
	before=$(sent)
	all_send $packets "$@"
	after=$(sent)
	seconds=$(received r 5000 .seconds)
	equal "lost" "$(received r 5000 .lost)" 0
	paste <(echo "$before") <(echo "$after") | awk -v n="$n" -v resume="$resume" \
		-v seconds="$seconds" -v bits=$((8 * (frame + 24))) '
		{ f = ($2 - $1) / seconds; sum += f; if (f > most) most = f }
		END { printf "bench frames senders=%d resume=%s frames_per_s=%d " \
			"of_link=%.2f%% most_per_s=%d\n", n, resume, sum / NR,
			sum / NR * bits / 1e8, most }'
}

test_frames() {
	local n i hosts
	for n in 2 8; do
		hosts_to_r "$n"
		hosts=()
		for ((i = 1; i <= n; i++)); do
			hosts+=("h$i")
		done
		measure "$n" early "${hosts[@]}"
		measure "$n" drained "${hosts[@]}"
		clean_up
	done
}

run_tests frames
