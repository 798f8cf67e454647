# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# For tests of bfcctl apply: sourced behind lib.sh.

# Functions are called by name.
# shellcheck disable=SC2317,SC2154

PATH=$top/build/bpf:$PATH

# devices NAME...: dummies in a new namespace x
devices() {
	new_ns x
	plugged "$@"
}

plugged() {
	local dev
	for dev; do
		ip -n x link add name "$dev" type dummy
	done
}

# conf TEXT: the file
conf() { printf '%s\n' "$1" >"$scratch/bfc.conf"; }

# apply CODE [ARGUMENTS]: must end with CODE; its output is in $scratch/out, messages
# are in $scratch/err
ns=x
apply() {
	local code=$1 rc
	shift
	bfcctl -n "$ns" apply --file "$scratch/bfc.conf" "$@" \
		>"$scratch/out" 2>"$scratch/err"
	rc=$?
	equal "exit code of \"apply $*\" ($(tr '\n' ' ' <"$scratch/out")$(
		cat "$scratch/err"))" "$rc" "$code"
}

# says LINE...: on standard output, and nothing else
says() { equal "output" "$(cat "$scratch/out")" "$(printf '%s\n' "$@")"; }

# warns PATTERN: on standard error
warns() { check "\"$1\" in: $(cat "$scratch/err")" grep -qE -- "$1" "$scratch/err"; }
# silent: no messages, but for the kernel's about dummies, which have no speed
silent() { equal "messages" "$(grep -v 'link speed unknown' "$scratch/err")" ""; }

shown() { tc -n x qdisc show dev "$1"; }

# without_news COMMAND...: the kernel notifies of no change of a qdisc during COMMAND,
# but of one afterwards
without_news() {
	local pid
	tc -n "$ns" monitor >"$scratch/news" 2>&1 &
	pid=$!
	pids+=("$pid")
	ip -n "$ns" link add mark type dummy
	check "tc monitor does not start" wait_for 10 told 1
	"$@"
	tc -n "$ns" qdisc replace dev mark root pfifo limit 77
	check "tc monitor has ended" wait_for 10 grep -q 'dev mark .*limit 77p' \
		"$scratch/news"
	equal "what the kernel tells" "$(grep -c '^qdisc bfc\|deleted' \
		"$scratch/news")" 0
	kill "$pid"
	wait "$pid" 2>/dev/null
	ip -n "$ns" link del mark
}
told() {
	tc -n "$ns" qdisc replace dev mark root pfifo limit 66
	[ "$(grep -c 'dev mark' "$scratch/news")" -ge "$1" ]
}
