#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# A virtio card that is to fail over to a card of hardware has two devices: one on top, with the
# card's name and its parent, and one below, which has the neighbour. To be run in a VM with such a
# card (scripts/vm --pair virtio-net-pci,failover=on), for selftests/drivers/run.sh.

# shellcheck source=selftests/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"

below() {
	ip -j link show | jq -r '[.[] | select(.master)][0] | "\(.ifname // "") \(.master // "")"'
}
has_two() { [ "$(below)" != " " ]; }

test_failover() {
	local lower upper
	modprobe virtio_net
	check "no such card" wait_for 10 has_two || return
	read -r lower upper <<<"$(below)"
	tc_refuses "only fc none here: the device below has the neighbour" \
		qdisc replace dev "$upper" root bfc rate 1gbit
	check "fair queueing" tc qdisc replace dev "$upper" root bfc fc none rate 1gbit
	check "a port" tc qdisc replace dev "$lower" root bfc rate 1gbit
	tc qdisc del dev "$upper" root
	tc qdisc del dev "$lower" root
}

run_tests failover
