# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Packages of any Debian release on any other: an apt configuration of its own for
# each suite, below build/apt/, which neither uses nor changes the system's. Nothing
# is installed, and no root is needed. Sourced; the caller sets top.
#
#   apt_suite SUITE              the arguments for apt-get and apt-cache, in
#                                apt_options; fetches the lists the first time
#   apt_update SUITE             fetches the lists again
#   apt_depends PACKAGE          what PACKAGE of the last apt_suite depends on, one a line; of
#                                alternatives the first, of which Debian installs either
#   apt_download SUITE PACKAGE   the .deb of PACKAGE, into the current directory
#   apt_unpack SUITE PACKAGE DIR what PACKAGE would install, below DIR; its version in
#                                apt_version
#
# All return 1 on failure, with apt's own words on stderr, and apt_unpack 2 if the
# package cannot be unpacked. The lists stay as they are
# until apt_update: two steps of one test run must see the same packages.
# DEBIAN_MIRROR and DEBIAN_SECURITY_MIRROR name other places than deb.debian.org.

# shellcheck disable=SC2154

# apt_sources SUITE: sources.list(5). Unstable has no security archive.
apt_sources() {
	local mirror=${DEBIAN_MIRROR:-http://deb.debian.org/debian}
	local security=${DEBIAN_SECURITY_MIRROR:-http://deb.debian.org/debian-security}
	local signed='[signed-by=/usr/share/keyrings/debian-archive-keyring.gpg]'

	echo "deb $signed $mirror $1 main"
	case $1 in
	sid|unstable|experimental) ;;
	*)	echo "deb $signed $security $1-security main" ;;
	esac
}

# apt_configure SUITE: apt_options, without fetching anything. Another program may be
# reading the same files: sources.list is replaced as a whole, and only if it changes.
apt_configure() {
	local dir=$top/build/apt/$1 new

	command -v apt-get >/dev/null || {
		echo "apt: no apt-get here (not a Debian system)" >&2
		return 1
	}
	mkdir -p "$dir"/{empty,{lists,cache/archives}/partial}
	if ! apt_sources "$1" | cmp -s - "$dir/sources.list"; then
		new=$(mktemp "$dir/.sources.XXXXXX") && apt_sources "$1" >"$new" &&
			mv "$new" "$dir/sources.list" || return 1
	fi
	# As if nothing were installed: otherwise an installed version that is newer
	# would be the candidate.
	[ -e "$dir/status" ] || touch "$dir/status"
	apt_options=(
		-o "Dir::Etc::sourcelist=$dir/sources.list"
		-o Dir::Etc::sourceparts=-
		-o "Dir::Etc::preferencesparts=$dir/empty" -o Dir::Etc::preferences=/dev/null
		-o "Dir::State::lists=$dir/lists"
		-o "Dir::State::status=$dir/status"
		-o "Dir::Cache=$dir/cache"
		# apt drops root for the user _apt, which may not be able to write here.
		-o APT::Sandbox::User=
		-o APT::Get::List-Cleanup=false
		-o Acquire::Languages=none -o Acquire::Retries=2 -o Acquire::http::Timeout=20
	)
}

apt_update() {
	apt_configure "$1" || return 1
	# Any list that cannot be fetched is an error, not a warning.
	apt-get -q "${apt_options[@]}" -o APT::Update::Error-Mode=any update >&2 ||
		return 1
	touch "$top/build/apt/$1/.updated"
}

apt_suite() {
	local rc=0 lock

	apt_configure "$1" || return 1
	[ ! -e "$top/build/apt/$1/.updated" ] || return 0
	# Of two callers the second waits and finds the lists.
	exec {lock}>"$top/build/apt/$1/.lock"
	flock "$lock"
	[ -e "$top/build/apt/$1/.updated" ] || apt_update "$1" || rc=1
	exec {lock}>&-
	return $rc
}

# apt-cache translates "Depends". "|Depends" is the first half of an alternative.
apt_depends() {
	LC_ALL=C apt-cache "${apt_options[@]}" depends "$1" 2>/dev/null |
		sed -n 's/^ *|\{0,1\}Depends: *\([^<]\)/\1/p'
}

# A package may have been replaced since the lists were fetched.
apt_download() {
	apt_suite "$1" || return 1
	apt-get -q "${apt_options[@]}" download "$2" >&2 && return 0
	apt_update "$1" && apt-get -q "${apt_options[@]}" download "$2" >&2
}

apt_unpack() {
	local tmp rc=0
	mkdir -p "$3" && tmp=$(mktemp -d "$3/.download.XXXXXX") || return 2
	if ! (cd "$tmp" && apt_download "$1" "$2"); then
		rc=1
	elif ! dpkg -x "$tmp"/*.deb "$3"; then
		rc=2
	fi
	# shellcheck disable=SC2034  # for the caller
	[ "$rc" -ne 0 ] || apt_version=$(dpkg-deb -f "$tmp"/*.deb Version) || rc=2
	[ "$rc" -ne 0 ] || touch "$3/.unpacked.$2"
	rm -rf "$tmp"
	return $rc
}
