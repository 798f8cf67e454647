#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Run the KUnit suites of bfc_kunit.ko: to be started in a guest whose kernel has
# KUnit.
#
#   scripts/sim -- selftests/kunit/run.sh
#   scripts/vm --kernel debug -- selftests/kunit/run.sh
#
# KUnit reports to the kernel log, three levels deep (suite, case, parameter);
# here the parameters, which are what selftests/unit calls cases, become KTAP.
# Exit code: 0, 1 a test failed, 4 this kernel has no KUnit.

set -u

modinfo bfc_kunit >/dev/null 2>&1 || { echo "1..0 # SKIP no bfc_kunit"; exit 4; }

files=("${BASH_SOURCE[0]%/*}"/{../unit,.}/test_*.c)
before=$(dmesg | wc -l)
modprobe bfc_kunit || { echo "Bail out! bfc_kunit does not load"; exit 1; }

echo "TAP version 13"
dmesg -t | tail -n +$((before + 1)) | awk -v expected=${#files[@]} '
	/^ *# Subtest: bfc_/ { suites++ }
	/^        (not )?ok / {
		text = $0
		sub(/^ *(not )?ok [0-9]+ (- )?/, "", text)
		bad = /^ *not ok/
		failed += bad
		print (bad ? "not ok " : "ok ") ++n " - kunit: " text
		next
	}
	# A suite or case that failed by itself, or was skipped
	/^ *not ok / || /# SKIP/ { odd = 1 }
	/^ *#/ { sub(/^ */, ""); print }
	END {
		print "1.." n
		if (suites != expected || !n)
			print "not ok " ++n " - kunit: " suites " suites of " \
				expected
		exit failed || odd || suites != expected
	}'
rc=$?
rmmod bfc_kunit
exit $rc
