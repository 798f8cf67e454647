#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# What run.sh runs on a release's kernel: some of what tc can say and show, and each
# eBPF object through the verifier: bfcctl loads them as a user does.

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)
selftests=$here/..
export TC_LIB_DIR=$selftests/../build/tc

uname -r
modprobe sch_bfc || { echo "Bail out! sch_bfc does not load"; exit 1; }
rc=0
# Create, all options, refuse, change, classes, statistics, JSON
"$selftests/tc/run.sh" -e fc2d 9133 64f0 16ee 150b ac92 fa6c 702a babe \
	9f92 ed48 2157 f5ad 57a1 57a2 57a8 || rc=1
"$selftests/several.sh" stamp:tcp int:three_hops bfcctl:stamp,hpcc,delay || rc=1
exit $rc
