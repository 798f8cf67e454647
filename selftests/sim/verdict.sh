#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Does scripts/sim say what happened? To be run on the host.
#
# Exit code: 0, 1 a test failed, 4 cannot run here.

# Functions are called by name.
# shellcheck disable=SC2317

set -u

top=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd -P)
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

topic=verdict
# shellcheck source=selftests/tap.sh
. "$top/selftests/tap.sh"

sim() { "$top/scripts/sim" --log "$dir/log" "$@" >"$dir/out" 2>"$dir/err"; }

# ends CODE ARGS...: scripts/sim exits with it
ends() {
	local want=$1 code=0
	shift
	sim "$@" || code=$?
	[ "$code" = "$want" ] || { echo "$code, not $want"; return 1; }
}

passes_output() {
	sim -- sh -c 'echo "to  stdout"; echo to stderr >&2; echo more >/dev/stderr' &&
		[ "$(cat "$dir/out")" = "to  stdout" ] &&
		grep -qx "to stderr" "$dir/err" && grep -qx more "$dir/err"
}

passes_arguments() {
	# shellcheck disable=SC2016
	sim --env "V=a b'c" -- sh -c 'echo "$1|$V|$PWD"' sh 'x  "y' &&
		[ "$(cat "$dir/out")" = "x  \"y|a b'c|$top" ]
}

writes_out_only() {
	rm -f "$top/build/sim/leak"
	sim --out "$dir/o" -- sh -c "echo 1 >$dir/o/f && echo 1 >build/sim/leak" &&
		[ "$(cat "$dir/o/f")" = 1 ] && [ ! -e "$top/build/sim/leak" ]
}

# Neither in the guest nor, where all of them are processes, too, on the host;
# there they are known by an odd amount of memory.
leaves_no_process() {
	sim --mem 517 -- \
		sh -c 'sleep 1000000 & setsid sleep 1000000 & exit 0' &&
		! pgrep -f "^$top/build/sim/.* mem=517M " >/dev/null
}

# Most of a day passes in no time.
sleeps() { ends 0 --timeout 60 -- sleep 80000; }

"$top/scripts/sim-kernel" >/dev/null || {
	[ $? -eq 4 ] || exit 1
	skip_all "no kernel source"
}

# verdict TEXT COMMAND...: a test; if it fails, what the simulator said last is shown
verdict() { result "$1" shown "${@:2}"; }
shown() { "$@" || { cat "$dir/err"; false; }; }

plan 11
verdict "success" ends 0 -- true
verdict "the exit code of the command" ends 7 -- sh -c 'exit 7'
verdict "stdout and stderr, apart" passes_output
verdict "arguments and environment as they are" passes_arguments
verdict "only --out is written" writes_out_only
verdict "processes left behind end" leaves_no_process
verdict "sleeping takes no time" sleeps
verdict "a namespace left behind" ends 70 -- ip netns add left
verdict "... is allowed with --no-unload" ends 0 --no-unload -- ip netns add left
verdict "the machine turned off by the command" ends 71 -- busybox poweroff -f
verdict "polling without a pause" ends 124 --timeout 8 -- \
	sh -c 'while :; do :; done'
all_passed
