#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The other end: host b, with an RDMA device at the cable between the VMs. It does what
# roce.sh wants.

set -eu

top=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd -P)
# shellcheck source=selftests/two_vms.sh
. "$top/selftests/two_vms.sh"
export TC_LIB_DIR=$top/build/tc PATH=$top/build/bpf:$PATH

modprobe rdma_rxe
modprobe rdma_ucm
modprobe sch_bfc
sysctl -qw net.ipv6.conf.eth0.accept_dad=0
ip -batch - <<-'END'
	addr add 10.0.0.2/24 dev eth0
	addr add fd00::2/64 dev eth0
	link set eth0 up
END
tc qdisc replace dev eth0 root bfc role nic rate 100mbit hrtt 8ms
rdma link add rxe0 type rxe netdev eth0

take_commands
rdma link del rxe0
tc qdisc del dev eth0 root
