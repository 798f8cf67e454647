#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# For run.sh, in the simulator: what "bfcctl metrics" writes of two ports, before (1.prom) and
# after traffic (2.prom), and what tc has then (2.json); and of its neighbour h (h.prom).
#
#   h --ph-- sw --pn-- n	20 Mbit/s, 100 us
#
# Usage: PROMETHEUS_DIR=DIR ports.sh

# shellcheck source=selftests/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"

PATH=$top/build/bpf:$PATH
dir=$PROMETHEUS_DIR

test_written() {
	local port
	switch sw
	host h 10.0.0.1/24
	host n 10.0.0.2/24
	cable sw ph h e0
	cable sw pn n e0
	for port in "sw ph" "sw pn" "h e0" "n e0"; do
		# shellcheck disable=SC2086	# two words
		bfc $port hrtt 6ms classes 2 prio dscp
	done
	meet 10.0.0.2 h
	peers_up
	ctl -n sw metrics "$dir/1.prom"
	send h 10.0.0.2 3000 -r 10000000 -t 1
	finish "$bg"
	ctl -n sw metrics "$dir/2.prom"
	ctl -n h metrics "$dir/h.prom"
	tc -n sw -s -j qdisc show >"$dir/2.json" || fail "tc -j"
}

run_tests written
