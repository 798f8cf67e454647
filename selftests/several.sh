#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Tests of several files of net/ in one machine, since booting takes as long as many a
# test.
#
# Usage: several.sh FILE:TEST,TEST... ...
#	e.g. several.sh order:early incast:bfc_loses_nothing
# Exit code: 0, 1 a test failed. A file that leaves namespaces behind is named.

set -u

net=$(cd "$(dirname "${BASH_SOURCE[0]}")/net" && pwd -P)
# shellcheck source=selftests/tap.sh
. "$net/../tap.sh"
for arg in "$@"; do
	IFS=, read -ra tests <<<"${arg#*:}"
	echo "# ${arg%%:*}.sh"
	"$net/${arg%%:*}.sh" "${tests[@]}"
	case $? in
	0|4)	;;	# a skip has been counted
	*)	tests_failed=$((tests_failed + 1)) ;;
	esac
	for ns in /run/netns/*; do
		[ ! -e "$ns" ] || report 1 "${arg%%:*}.sh left ${ns##*/}"
	done
done
all_passed
