#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Another release of Debian: with its compilers, libbpf, tc and python all is built
# and tested there (scripts/debian-root), and on its kernel a little of everything.
#
# Usage: run.sh [--short] SUITE [KERNEL]
#	SUITE	bookworm, trixie, sid
#	KERNEL	of scripts/vm (default: of the release's series: stock, 6.12, newest)
#	--short	what a user builds there: packages, and the module for the release's own
#		kernel, which is not booted
# Exit code: 0, 1 a test failed, 2 usage, 4 not possible here (skip)

set -u

top=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd -P)
cd "$top" || exit 1

short=''
if [ "${1-}" = --short ]; then
	short=1
	shift
fi
suite=${1-}
case $suite in
bookworm)	kernel=stock ;;
trixie)		kernel=6.12 ;;
sid)		kernel=newest ;;
*)		sed -n '7,11s/^# //p' "$0" >&2; exit 2 ;;
esac
kernel=${2-$kernel}

topic=$suite
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
# shellcheck source=selftests/tap.sh
. "$top/selftests/tap.sh"

sets="build guest unit deb"
inside() { scripts/debian-root --sets "$sets" "$suite" "$@"; }

root=$(scripts/debian-root --sets "$sets" "$suite")
rc=$?
[ "$rc" -ne 4 ] || skip_all "no root of $suite"
plan $((short ? 8 : 10))
result "scripts/install-deps" [ "$rc" -eq 0 ]
[ "$rc" -eq 0 ] || exit 1
# shellcheck disable=SC2016  # for the shell there
inside sh -c '. /etc/os-release; echo "# $PRETTY_NAME"; tc -V; clang --version | head -n 1
	gcc --version | head -n 1; echo "libbpf $(pkg-config --modversion libbpf)"
	python3 --version' | sed 's/^[^#]/# &/'
export WERROR=1
result "make plugin" inside make -s plugin
result "make bpf" inside make -s bpf
result "make tools" inside make -s tools
result "tc with the plugin" inside python3 selftests/tc/plugin_test.py \
	${short:+--fuzz 2000}
result "packages are built, lintian is silent" inside scripts/build-deb --lint
# At the same path there, for the guest has no network to get it by.
tdc=$(scripts/tc-testing) && mkdir -p "$root/srv/build/tc-testing" &&
	cp -rT "$tdc" "$root/srv/build/tc-testing/${tdc##*/}" || exit 1
# User-Mode Linux loads aligned words only: its verifier asks more of the compiler.
result "tc and eBPF in the simulator" scripts/sim --root "$root" \
	--env TC_TESTING="$tdc" -- selftests/distro/guest.sh

if [ -n "$short" ]; then
	# shellcheck disable=SC2016  # for the shell there
	result "module for its own kernel" inside sh -c \
		'exec scripts/build-modules --product /lib/modules/*-amd64/build'
	all_passed
	exit
fi
result "unit tests" inside make -s -C selftests/unit check
result "modules for the kernel $kernel" inside scripts/build-modules "$kernel"
result "tc and eBPF on the kernel $kernel" scripts/vm --cpus 1 --kernel "$kernel" \
	--root "$root" --timeout 900 --env TC_TESTING="$tdc" -- selftests/distro/guest.sh
all_passed
