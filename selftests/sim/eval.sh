#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The evaluation at its quick sizes: does every experiment run, is a run
# repeated bit by bit, and are the results what BFC promises? To be run on the
# host; each run is a simulation of its own (eval/run, scripts/sim).
#
# Bounds are wide: the quick sizes are small samples. The figures themselves are
# in docs/results.md.
#
# Usage: eval.sh [TEST...]
# Exit code: 0, 1 a test failed, 4 cannot run here.

# Functions are called by name.
# shellcheck disable=SC2317

set -u

top=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd -P)
cd "$top" || exit 1
tests=(unit fig7 fig8 table1 clos schemes repeat)
out=$(mktemp -d "${TMPDIR:-/tmp}/bfc-eval.XXXXXX")
trap 'rm -rf "$out"' EXIT
why='' note='' line=''

fail() { why=${why:-$*}; }

# experiment NAME OPTIONS...: its last line is left in $line
experiment() {
	if ! timeout 900 eval/run "$@" --out "$out" >"$out/stdout" \
			2>"$out/stderr"; then
		sed 's/^/# /' "$out/stderr"
		fail "eval/run $1 failed"
	fi
	line=$(tail -n 1 "$out/stdout")
	note=${line#*: }
}

# bound NAME OPERATOR VALUE: of a metric in $line
bound() {
	local value
	value=$(tr ' ' '\n' <<<"$line" | sed -n "s/^$1=//p")
	if [ -z "$value" ]; then
		fail "no $1 in \"$line\""
	elif ! awk "BEGIN { exit !($value $2 $3) }"; then
		fail "$1 is $value, wanted $2 $3"
	fi
}

test_unit() {
	make -s -C eval/net >"$out/make" 2>&1 || fail "make -C eval/net"
	/usr/bin/python3 eval/tests/test_eval.py >"$out/unit" 2>&1 || {
		sed 's/^/# /' "$out/unit"
		fail "eval/tests/test_eval.py"
	}
	note=$(grep -E '^Ran' "$out/unit")
}

# Two flows: a full link and short queues with "resume early"; with the paper's
# rule a link that now and then runs dry.
test_fig7() {
	experiment bfc-fig7 --set th=2 --set seeds=1
	bound util_pct_at_2us '>=' 99
	bound avg_queue_kb_at_2us '<=' 15
	bound paper_util_pct_at_2us '>=' 80
	bound paper_util_pct_at_2us '<=' 97
	bound drops == 0
}

# Group 1 does not notice as long as there are queues enough.
test_fig8() {
	experiment bfc-fig8 --set seeds=2 --set group2=4 --set at=4
	bound dynamic_mean_us '<=' 450
	bound dynamic_sd_us '<=' 20
	bound dynamic_paper_mean_us '<=' 450
	bound single_mean_us '>=' 1200
	bound drops == 0
}

test_table1() {
	experiment bfc-table1
	bound throughput_pct '>=' 95
	bound bfc_paper_throughput_pct '>=' 85
	bound delay_p99_us '<=' 4
	bound drops == 0
}

# BFC close to ideal fair queueing, with a small network and no loss.
test_clos() {
	experiment bfc-fig10 --set ms=0.2
	bound bfc_short_p99 '<=' 1.5
	bound ideal_fq_short_p99 '<=' 1.5
	bound drops == 0
	bound unfinished == 0
}

# Every source and every qdisc, TCP included: all flows arrive.
test_schemes() {
	experiment bfc-fig11 --set clos=2,4,2 --set ms=0.2 \
		--set schemes=stochastic,dctcp,fq_codel,pfifo-gbn,bfc-cubic
	bound unfinished == 0
}

# Same seed, same nanoseconds; another seed, other ones.
test_repeat() {
	local run seed
	for run in 1 2 3; do
		seed=$((run == 3 ? 2 : 1))
		experiment bfc-fig8 --seed $seed --set seeds=1 --set group2=4 \
			--set assign=dynamic
		cp "$out/bfc-fig8/runs/dynamic-4-0/flows.csv" "$out/flows.$run"
	done
	cmp -s "$out/flows.1" "$out/flows.2" || fail "two runs differ"
	! cmp -s "$out/flows.1" "$out/flows.3" || fail "the seed does nothing"
	note=''
}

[ $# -eq 0 ] || tests=("$@")
[ -e /usr/src/linux-source-6.1.tar.xz ] || {
	echo "1..0 # SKIP no kernel source: scripts/install-deps sim"
	exit 4
}
echo "TAP version 13"
echo "1..${#tests[@]}"
number=0 bad=0
for name in "${tests[@]}"; do
	number=$((number + 1))
	why='' note=''
	"test_$name"
	if [ -z "$why" ]; then
		echo "ok $number $name${note:+ # $note}"
	else
		echo "not ok $number $name # $why${note:+; $note}"
		bad=$((bad + 1))
	fi
done
[ "$bad" -eq 0 ]
