#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Drivers of network cards that QEMU emulates, a VM for each. To be run on the host.
#
#   selftests/drivers/run.sh [MODEL [TEST...]]
#	MODEL	as QEMU names it; default: all below that this QEMU has
#
# Exit code: 0, 1 a test failed, 4 no such card here (skip), or what scripts/vm says.

set -u

top=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd -P)
declare -A driver=(
	[virtio-net-pci]=virtio_net
	[e1000]=e1000
	[e1000e]=e1000e
	[igb]=igb
	[vmxnet3]=vmxnet3
)
models=(virtio-net-pci e1000 e1000e igb vmxnet3)
[ $# -eq 0 ] || models=("$1")
shift

have=$(qemu-system-x86_64 -device help 2>/dev/null) || { echo "1..0 # SKIP no QEMU"; exit 4; }
failed=0 run=0
for model in "${models[@]}"; do
	if [ -z "${driver[$model]-}" ]; then
		echo "drivers: no test of $model; there are: ${!driver[*]}" >&2
		exit 2
	fi
	if ! grep -q "^name \"$model\"" <<<"$have"; then
		echo "# $model: this QEMU has none"
		continue
	fi
	echo "# $model"
	run=$((run + 1))
	"$top/scripts/vm" --icount --cpus 1 --timeout 1500 --pair "$model" --pair "$model" \
		--env "DRIVER=${driver[$model]}" -- selftests/drivers/cards.sh "$@"
	rc=$?
	[ "$rc" -eq 0 ] || failed=$rc
done
[ "$run" -gt 0 ] || { echo "1..0 # SKIP no such card"; exit 4; }
exit "$failed"
