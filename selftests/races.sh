#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# A file of net/ on a kernel with KCSAN, which delays what it looks at: rates and times that the tests
# measure say nothing there. What counts is that all of them came to an end and that the kernel saw no
# data race.
#
# Usage: races.sh FILE
#	e.g. races.sh txqs

set -u

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)
# shellcheck source=selftests/tap.sh
. "$here/tap.sh"
log=$(mktemp)
"$here/net/$1.sh" >"$log" 2>&1
sed 's/^/# /' "$log"
plan 1
planned=$(sed -n 's/^1\.\.//p' "$log")
ended=$(grep -cE '^(not )?ok ' "$log")
races=$(dmesg | grep -c 'BUG: KCSAN')
[ "$planned" -gt 0 ] && [ "$ended" -eq "$planned" ] && [ "$races" -eq 0 ]
report $? "$1" "$ended of $planned tests ended, $races data races"
rm "$log"
all_passed
