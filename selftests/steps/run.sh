#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# How scripts/check counts (scripts/steps.sh): nothing that went wrong may pass.

# shellcheck disable=SC2317,SC2016
set -u

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)
top=${here%/*/*}
# shellcheck source=selftests/tap.sh
. "$top/selftests/tap.sh"
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

# steps TEXT: the commands, with a time-out, in a shell that has the steps; then what counts
steps() {
	# shellcheck disable=SC2016
	timeout 20 bash -uo pipefail -c 'out=$1 only=() resume=""; . "$2"; eval "$3"
		echo "$passed passed, $failed failed, $skipped skipped"' \
		steps "$dir" "$top/scripts/steps.sh" "$1" 2>&1 | tail -n 1
	rm -f "$dir"/*.rc "$dir"/*.log
}

test_counts() {
	equal "a command that says nothing" "$(steps 'step a true')" \
		"1 passed, 0 failed, 0 skipped"
	equal "one that fails" "$(steps 'step a false')" "0 passed, 1 failed, 0 skipped"
	equal "exit code 4" "$(steps 'step a sh -c "exit 4"')" "0 passed, 0 failed, 1 skipped"
	equal "lines" "$(steps 'step a printf "%s\n" "ok 1" "ok 2 # SKIP x" "not ok 3"')" \
		"1 passed, 1 failed, 1 skipped"
	equal "lines, and a failure that they do not tell" \
		"$(steps 'step a sh -c "echo ok 1; exit 1"')" "1 passed, 1 failed, 0 skipped"
	equal "a plan" "$(steps 'step a printf "%s\n" 1..2 "ok 1" "ok 2 # SKIP x"')" \
		"1 passed, 0 failed, 1 skipped"
	equal "two, and one line too few" \
		"$(steps 'step a printf "%s\n" 1..2 "ok 1" "ok 2" 1..3 "ok 1" "ok 2"')" \
		"4 passed, 1 failed, 0 skipped"
	equal "a plan and no line" "$(steps 'step a echo 1..5')" "0 passed, 1 failed, 0 skipped"
	equal "none are planned" "$(steps 'step a echo "1..0 # SKIP x"')" \
		"0 passed, 0 failed, 1 skipped"
}

test_side_by_side() {
	equal "three of them" \
		"$(steps 'beside a sleep 0.2; beside b false; beside c true; collect_all')" \
		"2 passed, 1 failed, 0 skipped"
}

# As on a full disk, or when the shell that runs it is killed.
test_no_exit_code() {
	equal "an empty one" "$(steps ': >"$out/a.rc"; : >"$out/a.log"; verdict a')" \
		"0 passed, 1 failed, 0 skipped"
	equal "none, nor a log" "$(steps 'verdict a')" "0 passed, 1 failed, 0 skipped"
	equal "killed" "$(steps 'beside a sh -c "kill -9 \$PPID; sleep 1"; beside b true
		collect_all')" "1 passed, 1 failed, 0 skipped"
}

test_resumed() {
	equal "one that passed, one that failed, one with no exit code" "$(steps '
		for name in a b c; do echo "ok 1" >"$out/$name.log"; done
		echo "0 1" >"$out/a.rc"; echo "1 1" >"$out/b.rc"; : >"$out/c.rc"
		resume=1
		step a false; step b echo "ok 1"; step c echo "ok 1"')" \
		"3 passed, 0 failed, 0 skipped"
}

test_names() {
	equal "some, and one that there is not" "$(steps 'only=(a c x)
		step a true; step b false; beside c true; collect_all
		[ "${found[*]}" = "a c" ] || failed=9')" "2 passed, 0 failed, 0 skipped"
}

run_each counts side_by_side no_exit_code resumed names
all_passed
