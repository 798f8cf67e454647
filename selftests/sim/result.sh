# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# What the tests of the simulator share. The caller sets topic.

# The caller's variables
# shellcheck disable=SC2154,SC2034

number=0 failed=0
# result TEXT COMMAND...
result() {
	local text=$1
	number=$((number + 1))
	shift
	if "$@"; then
		echo "ok $number - $topic: $text"
	else
		echo "not ok $number - $topic: $text"
		failed=1
		[ ! -s "$dir/err" ] || sed 's/^/# /' "$dir/err"
	fi
}
