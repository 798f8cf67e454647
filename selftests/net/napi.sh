#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Threaded NAPI: packets come in, and hooks run, in a kernel thread of each device, not in
# softirq. Pauses, resumes and HELLOs work as ever.
#
#   h1 --p1-\
#             sw --r0-- r
#   h2 --p2-/
#
# All links 20 Mbit/s.

# shellcheck source=selftests/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"

# threaded NS DEV
threaded() {
	in_ns "$1" sh -c "echo 1 >/sys/class/net/$2/threaded"
}

test_threaded() {
	local fc i
	hosts_to_r 2
	for i in "sw p1" "sw p2" "sw r0" "h1 e0" "h2 e0" "r e0"; do
		# shellcheck disable=SC2086
		check "threaded $i" threaded $i
	done
	at_least "threads" "$(pgrep -c '^napi/')" 6
	for fc in bfc pfc; do
		for i in "sw p1" "sw p2" "sw r0" "h1 e0" "h2 e0" "r e0"; do
			# shellcheck disable=SC2086
			tc -n ${i% *} qdisc change dev ${i#* } root bfc fc $fc ||
				fail "$i: no fc $fc"
		done
		[ $fc != bfc ] || peers_up
		receive r 5000 -n 2000 -t 30 -i 3
		all_send 1000 h1 h2
		equal "lost, $fc" "$(received r 5000 .lost)" 0
		at_least "pauses of h1, $fc" "$(stat h1 e0 pause_rx)" 1
		at_least "resumes of h1, $fc" "$(stat h1 e0 resume_rx)" 1
		all_idle
	done
}

run_tests threaded
