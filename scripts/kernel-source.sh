# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# The source of Debian's kernels: scripts/debug-kernel and scripts/sim-kernel make a
# kernel of it, configured by a fragment; scripts/tc-testing and scripts/check-style
# take some files. The caller defines say, and for a kernel die and mk (make in the
# tree), and sets top.

# shellcheck disable=SC2154

# shellcheck source=scripts/apt.sh
. "$top/scripts/apt.sh"

# newest_source: the package that linux-source of Debian unstable depends on. It is
# looked up only once, since that package is fetched only once.
newest_source() {
	local note=$top/build/source/newest

	if ! [ -s "$note" ]; then
		apt_suite sid || return 1
		mkdir -p "${note%/*}"
		apt_depends linux-source | grep -x 'linux-source-[0-9.]*' >"$note.$$"
		mv "$note.$$" "$note"
	fi
	grep -m 1 . "$note"
}

# fetch_source SUITE DIR: the package's tarball there, and its version in DIR/version.
# It stays: a newer one would be another kernel. "rm -r build/source" asks for that.
fetch_source() {
	local suite=$1 lock
	shift
	mkdir -p "$1"
	exec {lock}>"$1/.lock"
	flock "$lock"
	if ! [ -e "$1/version" ]; then
		apt_unpack "$suite" "$pkg" "$1/unpacked" &&
			mv "$1/unpacked/usr/src/$pkg.tar.xz" "$1" &&
			rm -rf "$1/unpacked" &&
			echo "$apt_version" >"$1/version" || return 1
	fi
	exec {lock}>&-
}

# find_source 6.1|6.12|newest: $tarball of the source, $package_version and $version;
# exit code 4 where there is none. If the package is installed, its tarball is used. 6.1
# and 6.12 are what Debian 12 offers, as for scripts/kernel.
find_source() {
	local dir suite=bookworm
	case $1 in
	newest)	suite=sid
		pkg=$(newest_source) || {
			say "SKIP: cannot ask which is Debian unstable's kernel source"
			exit 4
		} ;;
	*)	pkg=linux-source-$1 ;;
	esac
	dir=$top/build/source/$pkg
	tarball=/usr/src/$pkg.tar.xz
	# shellcheck disable=SC2016
	if [ -e "$tarball" ]; then
		package_version=$(dpkg-query -W -f '${Version}' "$pkg")
	elif fetch_source "$suite" "$dir"; then
		tarball=$dir/$pkg.tar.xz
		package_version=$(cat "$dir/version")
	else
		say "SKIP: no $pkg here"
		exit 4
	fi
	# shellcheck disable=SC2034
	version=${package_version%%-*}
}

# source_hash FILE...: a hash of all that the kernel is made of, apart from $version: if
# any of it changes, another kernel is built. Comments in fragments do not count.
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

# extract_source DIR STRIP MEMBER...: these of the source's files, as tar(1) names them,
# with the first STRIP parts of their names left out. Once: to find them in the tarball
# takes some 20 s. DIR exists only when it is complete.
extract_source() {
	local new
	[ ! -e "$1" ] || return 0
	mkdir -p "${1%/*}"
	new=$(mktemp -d "$1.XXXXXX")
	chmod 755 "$new"
	tar -C "$new" --strip-components="$2" -xf "$tarball" --wildcards "${@:3}" || {
		rm -rf "$new"
		return 1
	}
	# Another call may have been faster.
	mv -T "$new" "$1" 2>/dev/null || rm -rf "$new"
	[ -e "$1" ]
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

# configure TREE FRAGMENT LOCALVERSION: allnoconfig with the fragment as the start:
# options that it neither names nor implies are off.
configure() {
	local tree=$1 fragment=$2 missing
	mk KCONFIG_ALLCONFIG="$fragment" allnoconfig >"$tree/.build.log" 2>&1 ||
		{ tail -n 20 "$tree/.build.log" >&2; die "configuration failed"; }
	"$tree/scripts/config" --file "$tree/.config" \
		--set-str LOCALVERSION "$3" --disable LOCALVERSION_AUTO
	mk olddefconfig >>"$tree/.build.log" 2>&1

	# A silently dropped option (renamed, or a dependency is missing) would be a
	# check that seems to be made, but is not.
	missing=$(grep -E '^CONFIG_[A-Z0-9_]+=[^n]' "$fragment" |
		grep -vxFf "$tree/.config" || true)
	if [ -n "$missing" ]; then
		say "not accepted by this kernel:"
		echo "$missing" >&2
		exit 1
	fi
}
