#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Two switches that are machines of their own, each with its own kernel, at a cable between
# network cards that QEMU emulates. To be run on the host.
#
#   selftests/drivers/two.sh [MODEL [TEST...]]
#	MODEL	as QEMU names it; default: all of models.sh that this QEMU has
#
# KERNELS="A B": theirs (scripts/vm --kernel), "stock newest". boxes.sh is one end, with the
# tests; far.sh is the other.
#
# Exit code: 0, 1 a test failed, 4 no such card here (skip), or what scripts/vm says.

set -u

top=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd -P)
# shellcheck source=selftests/two_vms.sh
. "$top/selftests/two_vms.sh"
# shellcheck source=selftests/drivers/models.sh
. "$top/selftests/drivers/models.sh"

read -r near far <<<"${KERNELS:-stock newest}"

# shellcheck disable=SC2034,SC2317	# each_model calls it; arrays for run_two
two_boxes() {
	local model=$1 driver=$2 dir vm rc
	shift 2
	dir=$(mktemp -d)
	vm=(--cpus 1 --mem 1024 --timeout 1500 --env "DRIVER=$driver")
	# A QEMU that listens stands still when the other end does not read, which the far box
	# does not while its card is down.
	local boxes=("${vm[@]}" --kernel "$near" --link "connect:$dir/control"
		--link "connect:$dir/cable,$model" -- selftests/drivers/boxes.sh "$@")
	local other=("${vm[@]}" --kernel "$far" --link "listen:$dir/control"
		--link "listen:$dir/cable,$model" -- selftests/drivers/far.sh)
	run_two boxes other
	rc=$?
	rm -rf "$dir"
	return "$rc"
}

each_model two_boxes "$@"
