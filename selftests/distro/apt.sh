#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# scripts/apt.sh: programs that run side by side, as the two VMs of "make demo", have one
# apt configuration, and one of them may read it while the other one comes. And what was
# interrupted while it made something below build/ begins again.
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

# A repository with scripts alone, and packages without a mirror
half=$dir/half
mkdir -p "$half/bin"
cp -r "$here/../../scripts" "$half"
cat >"$half/bin/apt-get" <<-'END'
	#!/bin/bash
	[[ " $* " == *" download "* ]] || exit 0
	mkdir -p p/DEBIAN p/sbin
	printf '%s\n' "Package: ${*: -1}" Version:\ 1 Architecture:\ all Maintainer:\ n \
		Description:\ n >p/DEBIAN/control
	echo all of it >p/sbin/ifup
	dpkg-deb -b p p.deb >&2
END
printf '#!/bin/bash\nexit 1\n' >"$half/bin/debootstrap"
chmod +x "$half"/bin/*
in_half() { PATH=$half/bin:$PATH "$half/scripts/$1" "${@:2}"; }

half_a_package() {
	mkdir -p "$half/build/ifupdown/sbin" && echo half >"$half/build/ifupdown/sbin/ifup" &&
		chmod +x "$half/build/ifupdown/sbin/ifup" &&
		[ "$(in_half ifupdown)" = "$half/build/ifupdown/sbin" ] &&
		[ "$(cat "$half/build/ifupdown/sbin/ifup")" = "all of it" ]
}

half_a_root() {
	mkdir -p "$half/build/debian/sid"
	touch "$half/build/debian/sid/.complete" "$half/build/debian/sid/.installing"
	in_half debian-root sid 2>&1 | grep "debootstrap sid"
}

half_of_the_modules() {
	local modules=$half/build/modules/1 kdir=$half/kdir
	mkdir -p "$kdir/include/generated" "$modules"
	echo '#define UTS_RELEASE "1"' >"$kdir/include/generated/utsrelease.h"
	touch "$half/Kbuild"
	echo 'modules: ; test ! -e fails' >"$kdir/Makefile"
	"$half/scripts/build-modules" "$kdir" && [ -e "$modules/.sources" ] || return 1
	touch "$kdir/fails"
	! "$half/scripts/build-modules" "$kdir" && [ ! -e "$modules/.sources" ]
}

plan 5
result "a sources.list that is right is not written again" same
result "another one takes its place as a whole" whole
result "half of a package is unpacked again" half_a_package
if [ "$(id -u)" -eq 0 ]; then
	result "half of a root is made again" half_a_root
else
	report 0 "half of a root is made again" "SKIP needs root"
fi
result "modules of which half is built are not taken for those of these sources" \
	half_of_the_modules
all_passed
