# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# The network cards that are tested, and their drivers: sourced by what runs VMs with them.

declare -A driver_of=(
	[virtio-net-pci]=virtio_net
	[e1000]=e1000
	[e1000e]=e1000e
	[igb]=igb
	[vmxnet3]=vmxnet3
)
models=(virtio-net-pci e1000 e1000e igb vmxnet3)

# each_model COMMAND [MODEL [TEST...]]: COMMAND MODEL DRIVER [TEST...] for the model, or for
# all that this QEMU has. Exits with 0, what the last one said that failed, or 4 if there is
# no such card.
each_model() {
	local command=$1 have model rc failed=0 run=0
	shift
	if [ $# -gt 0 ]; then
		models=("$1")
		shift
	fi
	have=$(qemu-system-x86_64 -device help 2>/dev/null) ||
		{ echo "1..0 # SKIP no QEMU"; exit 4; }
	for model in "${models[@]}"; do
		if [ -z "${driver_of[$model]-}" ]; then
			echo "drivers: no test of $model; there are: ${!driver_of[*]}" >&2
			exit 2
		fi
		if ! grep -q "^name \"$model\"" <<<"$have"; then
			echo "# $model: this QEMU has none"
			continue
		fi
		echo "# $model"
		run=$((run + 1))
		"$command" "$model" "${driver_of[$model]}" "$@"
		rc=$?
		[ "$rc" -eq 0 ] || failed=$rc
	done
	[ "$run" -gt 0 ] || { echo "1..0 # SKIP no such card"; exit 4; }
	exit "$failed"
}
