#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# scripts/apt.sh: programs that run side by side, as the two VMs of "make demo", have one
# apt configuration, and one of them may read it while the other one comes.
#
#   selftests/distro/apt.sh
#
# Prints KTAP. Exit code: 0 passed, 1 failed, 4 cannot be told here.

set -u

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)
topic=apt
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
# shellcheck source=selftests/tap.sh
. "$here/../tap.sh"
# shellcheck source=scripts/apt.sh
. "$here/../../scripts/apt.sh"
command -v apt-get >/dev/null || skip_all "not a Debian system"

top=$dir
list=$dir/build/apt/bookworm/sources.list
same() {
	local before
	apt_configure bookworm || return 1
	before=$(stat -c '%i %z' "$list") && sleep 0.1
	apt_configure bookworm && [ "$(stat -c '%i %z' "$list")" = "$before" ]
}

# What has the file open goes on with the old one.
whole() {
	local before old
	before=$(cat "$list") && exec {old}<"$list" || return 1
	DEBIAN_MIRROR=http://mirror.example apt_configure bookworm || return 1
	grep -q http://mirror.example "$list" && [ "$(cat <&"$old")" = "$before" ]
}

plan 2
result "a sources.list that is right is not written again" same
result "another one takes its place as a whole" whole
all_passed
