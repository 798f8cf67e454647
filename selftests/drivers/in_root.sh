#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# A card that only the QEMU of a newer release of Debian emulates: run.sh and two.sh in a root
# of that release, on the same kernels. To be run on the host.
#
#   selftests/drivers/in_root.sh SUITE MODEL
#
# Exit code: theirs, and 4 if there is no such root (skip)

set -u

top=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd -P)
cd "$top" || exit 1
[ $# -eq 2 ] || { sed -n '7,7s/^# *//p' "$0" >&2; exit 2; }

inside() { scripts/debian-root --sets "build vm guest unit" "$suite" "$@"; }

suite=$1 model=$2
export WERROR=1
for kernel in stock newest; do
	inside scripts/build-modules "$kernel" || exit
done
inside make -s plugin bpf tools || exit
failed=0
inside selftests/drivers/run.sh "$model" || failed=$?
inside selftests/drivers/two.sh "$model" || failed=$?
exit "$failed"
