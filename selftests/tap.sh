# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# KTAP for the tests that are shell scripts, and the checks that they make. A script
# sources this file and does one of:
#
#   - it defines functions test_NAME, which check(), and calls "run_each NAME...";
#   - it calls "plan COUNT" and COUNT times "result TEXT COMMAND...";
#   - it calls "plan COUNT" and COUNT times report().
#
# It ends with "all_passed".

# topic and dir are the caller's
# shellcheck disable=SC2034,SC2154

tests_run=0 tests_failed=0

# Of the present test: the first check that failed, figures to show, and why the rest
# of the test cannot run here
why='' note='' skip=''

skip_all() { echo "1..0 # SKIP $*"; exit 4; }

bail_out() { echo "Bail out! $*"; exit 1; }

plan() { printf 'TAP version 13\n1..%d\n' "$1"; }

# report STATUS NAME [REMARK]: the line of one test; a STATUS of 0 means that it passed
report() {
	local verdict=ok
	[ "$1" = 0 ] || { verdict="not ok"; tests_failed=$((tests_failed + 1)); }
	tests_run=$((tests_run + 1))
	echo "$verdict $tests_run $2${3:+ # $3}"
}

all_passed() { [ "$tests_failed" -eq 0 ]; }

# result TEXT COMMAND...: a test of $topic that is one command. What it prints goes to
# $dir/said, and is shown if it fails.
result() {
	local text=$1 status=0
	shift
	"$@" >"$dir/said" 2>&1 || status=$?
	[ "$status" -eq 0 ] || tail -n 40 "$dir/said" | sed 's/^/# /'
	report "$status" "- $topic: $text"
}

# end_test: what ends each test of run_each, if a script has something to do then
end_test() { :; }

# run_each NAME...: the functions test_NAME
run_each() {
	local name remark
	plan $#
	for name; do
		why='' note='' skip=''
		if declare -F "test_$name" >/dev/null; then
			"test_$name"
		else
			fail "there is no such test"
		fi
		end_test
		remark=${why:-${skip:+SKIP $skip}}
		[ -z "$remark" ] || [ -z "$note" ] || remark+="; "
		report "${#why}" "$name" "$remark$note"
	done
}

# ---- checks ----

# fail TEXT: the first failure of a test is reported. TEXT may be empty, if it is the
# output of a program.
fail() { why=${why:-${*:-a check fails, and there is nothing to say}}; return 1; }

# check TEXT COMMAND...
check() {
	local text=$1
	shift
	"$@" || fail "$text"
}

# equal TEXT GOT WANTED; at_least, at_most TEXT GOT BOUND; between TEXT GOT LOW HIGH:
# numbers
equal() { [ "$2" = "$3" ] || fail "$1: $2 instead of $3"; }
at_least() { numbers "$@" && { compare "$2 >= $3" || fail "$1: $2, less than $3"; }; }
at_most() { numbers "$@" && { compare "$2 <= $3" || fail "$1: $2, more than $3"; }; }
between() { at_least "$1" "$2" "$3" && at_most "$1" "$2" "$4"; }
# numbers TEXT VALUE...: fail unless all are numbers: awk takes a word, such as null,
# for 0
numbers() {
	local value
	for value in "${@:2}"; do
		[[ $value =~ ^-?([0-9]+\.?[0-9]*|\.[0-9]+)(e[-+]?[0-9]+)?$ ]] || {
			fail "$1: \"$value\" is no number"
			return 1
		}
	done
}
# Whole numbers need no process.
compare() {
	if [[ $1 =~ ^-?(0|[1-9][0-9]{0,17})\ [\<\>]=\ -?(0|[1-9][0-9]{0,17})$ ]]; then
		(($1))
	else
		awk "BEGIN { exit !($1) }"
	fi
}
calc() { awk "BEGIN { printf \"%.3f\", $1 }"; }

# say TEXT: a figure worth seeing, shown behind the result
say() { note="$note${note:+, }$*"; }
