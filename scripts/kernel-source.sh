# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# What scripts/debug-kernel and scripts/sim-kernel share: they make a kernel of
# the source of Debian 12's kernel, configured by a fragment. The caller defines
# say, die and mk (make in the tree), and sets top.

# shellcheck disable=SC2154

# shellcheck source=scripts/apt.sh
. "$top/scripts/apt.sh"

pkg=linux-source-6.1

# fetch_source DIR: the package's tarball there, and its version in DIR/version. It
# stays: a newer one would be another kernel.
fetch_source() {
	local lock
	mkdir -p "$1"
	exec {lock}>"$1/.lock"
	flock "$lock"
	if ! [ -e "$1/version" ]; then
		(
			cd "$1" && rm -rf ./*.deb unpacked &&
			apt_download bookworm "$pkg" &&
			dpkg -x ./*.deb unpacked &&
			mv "unpacked/usr/src/$pkg.tar.xz" . &&
			dpkg-deb -f ./*.deb Version >version.tmp &&
			rm -rf ./*.deb unpacked && mv version.tmp version
		) || return 1
	fi
	exec {lock}>&-
}

# find_source: $tarball of the source, $package_version and $version; exit code 4
# where there is none. If the package is installed, that is it.
find_source() {
	local dir=$top/build/source/$pkg
	tarball=/usr/src/$pkg.tar.xz
	# shellcheck disable=SC2016
	if [ -e "$tarball" ]; then
		package_version=$(dpkg-query -W -f '${Version}' "$pkg")
	elif fetch_source "$dir"; then
		tarball=$dir/$pkg.tar.xz
		package_version=$(cat "$dir/version")
	else
		say "SKIP: no $pkg here"
		exit 4
	fi
	# shellcheck disable=SC2034
	version=${package_version%%-*}
}

# source_hash FILE...: what decides how the result looks, apart from $version: a
# change of any builds another kernel. Comments in fragments do not count.
source_hash() {
	local file
	{
		printf '%s' "$package_version"
		gcc --version | head -n 1
		for file in "$@"; do
			case $file in
			*.config) grep -v '^ *#' "$file" ;;
			*) cat "$file" ;;
			esac
		done
	} | sha256sum | cut -c 1-8
}

# unpack_source TREE PROGRAM...: once
unpack_source() {
	local tree=$1 tool
	shift
	for tool in gcc make flex bison bc perl "$@"; do
		command -v "$tool" >/dev/null ||
			die "no $tool here: scripts/install-deps"
	done
	[ ! -e "$tree/.unpacked" ] || return 0
	say "unpacking $tarball"
	rm -rf "$tree"
	mkdir -p "$tree"
	tar -C "$tree" --strip-components=1 -xf "$tarball"
	touch "$tree/.unpacked"
}

# configure TREE FRAGMENT LOCALVERSION: allnoconfig with the fragment as the
# start: what it does not name, and what that does not imply, is off.
configure() {
	local tree=$1 fragment=$2 missing
	mk KCONFIG_ALLCONFIG="$fragment" allnoconfig >"$tree/.build.log" 2>&1 ||
		{ tail -n 20 "$tree/.build.log" >&2; die "configuration failed"; }
	"$tree/scripts/config" --file "$tree/.config" \
		--set-str LOCALVERSION "$3" --disable LOCALVERSION_AUTO
	mk olddefconfig >>"$tree/.build.log" 2>&1

	# An option that was silently dropped (renamed, or a dependency is
	# missing) would be a check that is believed to be made.
	missing=$(grep -E '^CONFIG_[A-Z0-9_]+=[^n]' "$fragment" |
		grep -vxFf "$tree/.config" || true)
	if [ -n "$missing" ]; then
		say "not accepted by this kernel:"
		echo "$missing" >&2
		exit 1
	fi
}
