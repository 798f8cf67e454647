# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# What scripts/debug-kernel and scripts/sim-kernel share: they make a kernel of
# Debian's kernel source, configured by a fragment. The caller defines say, die
# and mk (make in the tree), and sets top.

# shellcheck disable=SC2154

pkg=linux-source-6.1
tarball=/usr/src/$pkg.tar.xz

# find_source SET: $version of the source; exit code 4 where there is none.
find_source() {
	[ -e "$tarball" ] || "$top/scripts/install-deps" "$1" >&2 || true
	if ! [ -e "$tarball" ]; then
		say "SKIP: no $tarball: scripts/install-deps $1, as root"
		exit 4
	fi
	# shellcheck disable=SC2016,SC2034
	version=$(dpkg-query -W -f '${source:Upstream-Version}' "$pkg")
}

# source_hash FILE...: what decides how the result looks, apart from $version: a
# change of any builds another kernel. Comments in fragments do not count.
source_hash() {
	local file
	{
		# shellcheck disable=SC2016
		dpkg-query -W -f '${Version}' "$pkg"
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
