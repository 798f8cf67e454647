# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# For tests of bfcctl: sourced behind lib.sh.

# Functions are called by name.
# shellcheck disable=SC2317,SC2154,SC2034

PATH=$top/build/bpf:$PATH

# refuses CODE PATTERN ARGUMENTS...: ends with CODE and a message that matches,
# prints nothing
refuses() {
	local code=$1 pattern=$2 rc
	shift 2
	"${run[@]}" bfcctl "$@" >"$scratch/out" 2>"$scratch/err"
	rc=$?
	equal "exit code of \"$*\"" "$rc" "$code"
	check "\"$*\" says: $(head -n 1 "$scratch/err")" \
		grep -qE -- "^bfcctl: .*$pattern" "$scratch/err"
	equal "lines that \"$*\" says" "$(wc -l <"$scratch/err")" 1
	equal "bytes that \"$*\" prints" "$(wc -c <"$scratch/out")" 0
}
run=()

# behind_lock FILE ARGUMENTS...: bfcctl ARGUMENTS waits, in the background, for the lock of FILE
behind_lock() {
	exec {locked}<"$1"
	flock "$locked"
	shift
	bfcctl "$@" >/dev/null 2>&1 &
	waiting=$!
	sleep 1
	check "\"$*\" does not wait" kill -0 "$waiting"
}

# lock_ends: what waited has to succeed
lock_ends() {
	flock -u "$locked"
	exec {locked}<&-
	wait "$waiting" || fail "exit code $?"
}

# no_conf: "no_conf || return" skips the rest of a test where bfcctl has a file of the box
no_conf() {
	[ ! -e /etc/bfc.conf ] && [ ! -e /etc/bfc.d ] && return
	skip="there is a bfc.conf"
	return 1
}

struct_ops() { [ -e /sys/kernel/btf/vmlinux ]; }

# pin_of NS DEV: where the program of a port is pinned
pin_of() {
	echo "/sys/fs/bpf/bfc/stamp-$(in_ns "$1" stat -Lc %i /proc/self/ns/net)-$(
		ip -n "$1" -j link show dev "$2" | jq '.[0].ifindex')"
}

# pins [OPTIONS]: device, state and whether it is in effect of what is pinned
pins() {
	bfcctl "$@" -j stamp show | jq -c '.[] | select(.state) |
		[.dev, .state, .in_effect]'
}
