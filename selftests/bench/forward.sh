#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# In the machine: TCP with segmentation and receive offload through a box that forwards,
# as fast as the processor can, under several qdiscs, and packets one by one; for
# selftests/bench/run.sh, in a machine whose clock counts instructions, 10^9 a second.
#
#   h --veth-- box --veth-- r
#
# forward.sh SECONDS [NAME...]: prints, for all or these and fq_codel,
#
#   bench forward-NAME flows=N hrtt=TIME mbit=M ratio_fq_codel=R
#   bench packets-NAME size=N instructions=I ratio_fq_codel=R
#	of a UDP packet on its whole way: made by pktgen at h, routed, thrown away at r;
#	of 64 flows in turn, with nothing queued
#
# Both ports of the box have the qdisc; a veth hands on packets of up to 64 KB as they are.
# bfc-tags has neighbours: h and r have bfc too (role nic). HRTT decides what
# split-gso auto cuts: at a veth's 10 Gbit/s 50 KB drain in 40 us, 125 KB in 100 us.
# Where nothing is queued fq_codel, like pfifo, is passed by without an enqueue.

set -u

top=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd -P)
export TC_LIB_DIR=$top/build/tc
[ $# -ge 1 ] || { echo "bench: forward.sh SECONDS [NAME...]" >&2; exit 2; }
seconds=$1
shift
only=" $* "

fail() { echo "bench: $*" >&2; exit 1; }

box() {
	local ns
	for ns in h box r; do
		ip netns add $ns
		ip -n $ns link set lo up
	done
	ip netns exec box sysctl -qw net.ipv4.ip_forward=1
	ip link add name e0 netns h type veth peer name a netns box
	ip link add name e0 netns r type veth peer name b netns box
	ip -n h addr add 10.0.1.1/24 dev e0
	ip -n box addr add 10.0.1.2/24 dev a
	ip -n box addr add 10.0.2.2/24 dev b
	ip -n r addr add 10.0.2.1/24 dev e0
	for ns in "h e0" "box a" "box b" "r e0"; do
		ip -n "${ns% *}" link set dev "${ns#* }" up
	done
	ip -n h route add default via 10.0.1.2
	ip -n r route add default via 10.0.2.2
}

# put NS DEV QDISC...: a new one, with the defaults of what is not said. Without a handle of its
# own "replace" would change the options that are said of a qdisc of the same kind.
handle=1
put() {
	local ns=$1 dev=$2 said
	shift 2
	handle=$((handle + 1))
	said=$(tc -n "$ns" qdisc replace dev "$dev" root handle "$handle:" "$@" 2>&1) ||
		fail "$ns $dev: $*: $said"
}

# agreed DEV...: the neighbours of the box there speak BFC
agreed() {
	local dev
	for dev; do
		for _ in $(seq 50); do
			! tc -n box -s -j qdisc show dev "$dev" root | grep -q '"up"' || continue 2
			sleep 0.1
		done
		fail "$dev: no neighbour"
	done
}
# tagged DEV: packets that it has sent with a tag
tagged() {
	tc -n box -s -j qdisc show dev "$1" root | jq 'first(.. | .tagged_tx? // empty)'
}

# hosts QDISC...
hosts() {
	put h e0 "$@"
	put r e0 "$@"
}

# measure NAME FLOWS HRTT QDISC...
measure() {
	local name=$1 flows=$2 hrtt=$3 mbit
	shift 3
	[[ "$only" =~ ^\ *$ || "$only" == *" $name "* || "$name" = fq_codel ]] ||
		return 0
	put box a "$@"
	put box b "$@"
	[ "$name" != bfc-tags ] || agreed a b
	mbit=$(ip netns exec h iperf3 -c 10.0.2.1 -P "$flows" -t "$seconds" -O 1 -J |
		jq '.end.sum_received.bits_per_second / 1e6') || fail "$name: iperf3"
	[ "$name" != bfc-tags ] || [ "$(tagged b)" -ge 1000 ] || fail "$name: no tags"
	[ "$name" != fq_codel ] || peer=$mbit
	awk -v mbit="$mbit" -v peer="$peer" -v name="$name" -v flows="$flows" \
		-v hrtt="$hrtt" 'BEGIN {
			printf "bench forward-%s flows=%d %smbit=%.0f ratio_fq_codel=%.2f\n",
				name, flows, hrtt ? "hrtt=" hrtt "us " : "", mbit, mbit / peer }'
}

# pktgen FILE COMMAND...
pktgen() {
	local file=/proc/net/pktgen/$1
	shift
	printf '%s\n' "$@" | while read -r line; do
		ip netns exec h sh -c "echo '$line' >$file" || fail "pktgen: $line"
	done
}

# packets NAME SIZE QDISC...
packets() {
	local name=$1 size=$2 before came per
	shift 2
	[[ "$only" =~ ^\ *$ || "$only" == *" $name "* || "$name" = fq_codel ]] ||
		return 0
	put box b "$@"
	[ "$name" != bfc-tags ] || agreed b
	before=$(cat_r rx_packets)
	pktgen e0 "pkt_size $size" "count 20000"
	ip netns exec h sh -c "echo start >/proc/net/pktgen/pgctrl" || fail "pktgen: start"
	came=$(($(cat_r rx_packets) - before))
	[ "$came" -ge 19900 ] || fail "$name: $came of 20000 packets came"
	per=$(ip netns exec h sed -n 's/.*OK: \([0-9]*\)(.*/\1/p' /proc/net/pktgen/e0)
	per=$((per * 1000 / 20000))
	[ "$name" != bfc-tags ] || [ "$(tagged b)" -ge 19900 ] || fail "$name: no tags"
	[ "$name" != fq_codel ] || peer=$per
	awk -v per="$per" -v peer="$peer" -v name="$name" -v size="$size" 'BEGIN {
		printf "bench packets-%s size=%d instructions=%d ratio_fq_codel=%.2f\n",
			name, size, per, per / peer }'
}
cat_r() { ip netns exec r cat "/sys/class/net/e0/statistics/$1"; }

box
ip netns exec r iperf3 -s -D >/dev/null || fail "iperf3 -s"
sleep 0.5
for flows in 1 8; do
	hosts pfifo limit 1000
	measure fq_codel "$flows" 0 fq_codel
	measure pfifo "$flows" 0 pfifo limit 1000
	for hrtt in 40 100; do
		for split in auto on off; do
			measure "bfc-none-$split" "$flows" $hrtt \
				bfc fc none hrtt ${hrtt}us split-gso $split
		done
	done
	hosts bfc role nic hrtt 100us
	measure bfc-tags "$flows" 100 bfc hrtt 100us
done
modprobe pktgen || fail "no pktgen"
pktgen kpktgend_0 "add_device e0"
pktgen e0 "clone_skb 0" "dst 10.0.2.1" "flag UDPSRC_RND" "udp_src_min 1" "udp_src_max 64" \
	"dst_mac $(ip -n box -j link show a | jq -r '.[0].address')"
for size in 60 1514; do
	hosts pfifo limit 1000
	packets fq_codel $size fq_codel
	packets pfifo $size pfifo limit 1000
	packets bfc-none $size bfc fc none
	hosts bfc role nic
	packets bfc-tags $size bfc
done
pktgen kpktgend_0 rem_device_all
# Its server ends with its namespace's processes.
for pid in $(ip netns pids r); do
	kill "$pid"
done
for ns in h box r; do
	ip netns del $ns
done
