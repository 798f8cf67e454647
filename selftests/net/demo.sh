#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# make demo HOST=1 shows the module of these sources, or says that it cannot.

# shellcheck source=selftests/lib.sh
. "$(dirname "$0")/../lib.sh"

built=/lib/modules/$(uname -r)/extra

host() { "$top/scripts/demo.d/host" "$@" >"$scratch/said" 2>&1; }

test_takes_what_is_loaded() {
	check "refused" host load "$built"
	equal "loaded by it" "$(cat "$scratch/said")" ""
	modprobe -r sch_bfc
	check "refused" host load "$built"
	equal "loaded by it" "$(cat "$scratch/said")" sch_bfc
	check "not unloaded" host unload sch_bfc
	[ ! -d /sys/module/sch_bfc ] || fail "sch_bfc is still there"
	modprobe sch_bfc
}

# A module of other sources, as of the package of an earlier version
test_another_is_loaded() {
	mkdir "$scratch/other"
	cp "$built/test_wire.ko" "$scratch/other"
	cp "$built/test_wire.ko" "$scratch/other/sch_bfc.ko"
	host load "$scratch/other"
	equal "exit code" $? 4
	check "not said why: $(cat "$scratch/said")" \
		grep -q "another sch_bfc is loaded" "$scratch/said"
}

run_tests takes_what_is_loaded another_is_loaded
