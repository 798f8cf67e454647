#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# What a packet costs in bfc and in other qdiscs, what a port costs in memory, FAFC's
# pauses, TCP through a box that forwards, and what two processors carry (make bench).
#
# Cycles are those of the host's TSC in the simulated machine, whose kernel's code
# runs at the host's speed, the least of many bursts: what the code takes when
# nothing comes in between. They depend on the processor: compare those of one run
# only. Instructions are counted by QEMU (scripts/vm --icount), in Debian's kernel,
# and repeat exactly. Pause times are measured on the host itself, beside GLPK.

set -euo pipefail

top=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd -P)
cd "$top"
out=$top/build/bench
mkdir -p "$out"

scripts/sim --real-time -- selftests/bench/inside.sh 3 60 >"$out/cycles"
scripts/vm --icount --cpus 1 --mem 1024 --timeout 1200 -- \
	selftests/bench/inside.sh 1 2 >"$out/instructions"
selftests/bench/report.py "$out/cycles" "$out/instructions"
scripts/sim --real-time -- selftests/bench/fafc.sh
scripts/vm --icount --cpus 1 --mem 1024 --timeout 3600 -- selftests/bench/forward.sh 2
make -s -C selftests/bench
"$out/alloc_bench"
# Last, as it builds a kernel, once
scripts/build-modules sim-newest-cores >/dev/null
scripts/sim --kernel newest --flavour cores -- selftests/bench/cores.py 5 200
