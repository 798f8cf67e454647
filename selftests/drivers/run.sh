#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Drivers of network cards that QEMU emulates, a VM for each. To be run on the host.
#
#   selftests/drivers/run.sh [MODEL [TEST...]]
#	MODEL	as QEMU names it; default: all of models.sh that this QEMU has
#
# Exit code: 0, 1 a test failed, 4 no such card here (skip), or what scripts/vm says.

set -u

top=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd -P)
# shellcheck source=selftests/drivers/models.sh
. "$top/selftests/drivers/models.sh"

# shellcheck disable=SC2317	# each_model calls it
with_pairs() {
	local model=$1 driver=$2
	shift 2
	"$top/scripts/vm" --icount --cpus 1 --timeout 1500 --pair "$model" --pair "$model" \
		--env "DRIVER=$driver" -- selftests/drivers/cards.sh "$@"
}

failed=0
if [ $# -eq 0 ]; then
	echo "# virtio-net-pci,failover=on"
	"$top/scripts/vm" --icount --cpus 1 --timeout 600 --pair virtio-net-pci,failover=on \
		-- selftests/drivers/failover.sh || failed=$?
fi
(each_model with_pairs "$@")
rc=$?
[ "$rc" -eq 0 ] || failed=$rc
exit "$failed"
