# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# The steps of a long run of tests, one after the other or two side by side: for
# scripts/check, sourced.
#
# The caller sets: out, the directory of NAME.log and NAME.rc (exit code and seconds);
# only, the names to run (none: all); resume, not empty to leave out steps that passed
# before. Results: passed, failed, skipped, step_seconds; found, the names in only that
# exist. scripts/tested counts the results in out with it.

# shellcheck disable=SC2034,SC2154  # the caller's
passed=0 failed=0 skipped=0 step_seconds=0
found=()
running=()		# steps under way in the background

wanted() {
	[ ${#only[@]} -gt 0 ] || return 0
	[[ " ${only[*]} " == *" $1 "* ]] && found+=("$1")
}

# step NAME COMMAND...
step() {
	local name=$1
	shift
	wanted "$name" || return 0
	run "$name" "$@"
	verdict "$name"
}

# done_before NAME: true if the step has passed in this run, or in one that this one
# resumes
done_before() {
	local rc

	[ -n "$resume" ] && [ -e "$out/$1.rc" ] || return 1
	case $1 in packages | build-* | tc-testing | promtool | ifupdown) return 1 ;; esac
	read -r rc _ <"$out/$1.rc"
	[ "$rc" = 0 ]
}

# run NAME COMMAND...: leaves NAME.log and NAME.rc
run() {
	local name=$1 start=$SECONDS
	shift
	! done_before "$name" || return 0
	"$@" >"$out/$name.log" 2>&1 </dev/null
	echo "$? $((SECONDS - start))" >"$out/$name.tmp"
	mv "$out/$name.tmp" "$out/$name.rc"
}

# counts NAME: results of a step that has ended, in the caller's good, bad, skip and
# seconds. Its KTAP lines count. A command that fails without "not ok" counts as one
# failure, exit code 4 as one skip. A step that left no exit code, or an empty file for
# it (the disk may be full), counts as a failure. So does one with fewer lines than its
# plans (1..N) promise: it ended in the middle, or lines were lost.
counts() {
	local log=$out/$1.log rc='' planned
	seconds=''
	read -r rc seconds 2>/dev/null <"$out/$1.rc"
	[[ "$rc $seconds" =~ ^[0-9]+\ [0-9]+$ ]] || rc=1 seconds=0
	[ -e "$log" ] || log=/dev/null
	skip=$(grep -ciE '^ok .*# skip|^1\.\.0 # skip' "$log")
	good=$(($(grep -cE '^ok ' "$log") - $(grep -ciE '^ok .*# skip' "$log")))
	bad=$(grep -cE '^not ok ' "$log")
	planned=$(awk -F '[. ]+' '/^1\.\.[0-9]/ { sum += $2 } END { print sum + 0 }' "$log")
	[ $((good + bad + skip)) -ge "$planned" ] || rc=1
	if [ "$rc" -eq 4 ] && [ "$skip" -eq 0 ]; then
		skip=1
	elif [ "$rc" -ne 0 ] && [ "$rc" -ne 4 ] && [ "$bad" -eq 0 ]; then
		bad=1
	elif [ "$rc" -eq 0 ] && [ $((good + bad + skip)) -eq 0 ]; then
		good=1
	fi
}

# verdict NAME: print a line of results, and what failed
verdict() {
	local name=$1 log=$out/$1.log good bad skip seconds
	counts "$name"
	[ -e "$log" ] || log=/dev/null
	printf '== %-16s %4d passed %3d failed %3d skipped %5d s\n' \
		"$name" "$good" "$bad" "$skip" "$seconds"
	[ "$skip" -eq 0 ] || grep -iE '# skip|not available' "$log" | tail -n 3
	if [ "$bad" -gt 0 ]; then
		grep -E '^(not ok|Bail out)' "$log"
		tail -n 12 "$log" | sed 's/^/  | /'
	fi
	step_seconds=$((step_seconds + seconds))
	passed=$((passed + good)) failed=$((failed + bad))
	skipped=$((skipped + skip))
}

# beside NAME COMMAND...: in the background, two at a time
beside() {
	wanted "$1" || return 0
	while [ ${#running[@]} -ge 2 ]; do
		collect
	done
	# The file of an earlier call would look as if the step had ended before it
	# began.
	done_before "$1" || rm -f "$out/$1.rc"
	run "$@" &
	running+=("$1")
}

# collect: wait for one, and say how it went
collect() {
	local name left=() none=''
	wait -n
	# 127: no child is left: a step without an exit code will never have one.
	[ $? -ne 127 ] || none=1
	for name in "${running[@]}"; do
		if [ -e "$out/$name.rc" ] || [ -n "$none" ]; then
			verdict "$name"
		else
			left+=("$name")
		fi
	done
	running=("${left[@]}")
}

collect_all() {
	while [ ${#running[@]} -gt 0 ]; do
		collect
	done
}
