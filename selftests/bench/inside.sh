#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# In the machine: feed packets to bfc and to other qdiscs and print what the TSC
# says, for selftests/bench/run.sh, which starts it in two kinds of machine.
#
#   inside.sh PASSES BURSTS
#	PASSES	over everything, so that a slow moment of the host hits none for
#		good
#	BURSTS	of each measurement at least; small ones are more. A burst is two
#		packets of each flow, and 64 at least, all of them queued before the
#		first leaves
#
# Prints the least of all bursts:
#
#   packet NAME QUEUES FLOWS ENQUEUE DEQUEUE	(QUEUES 0: not bfc)
#   memory NAME QUEUES BYTES	of a port
#
# bfc-none is bfc as a fair queueing scheduler; bfc-tags has neighbours on either
# side: packets come with upstreamQs, are counted, and leave with one.

set -u

top=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd -P)
export TC_LIB_DIR=$top/build/tc
run=/sys/module/test_bench/parameters/run
[ $# -eq 2 ] || { echo "bench: inside.sh PASSES BURSTS" >&2; exit 2; }
passes=$1 bursts=$2

fail() { echo "bench: $*" >&2; exit 1; }

# Enough room that nothing is dropped: a dropped packet costs another way.
declare -A qdisc=(
	[pfifo]='pfifo limit 40000'
	[sfq]='sfq limit 40000 flows 1024'
	[fq_codel]='fq_codel limit 40000 memory_limit 128Mb target 10s interval 100s'
	[fq]='fq limit 40000 flow_limit 2000'
	[cake]='cake unlimited rtt 100s memlimit 128m'
	[bfc-none]='bfc fc none limit 128m'
	[bfc-tags]='bfc fc bfc peer on limit 128m'
)
others=(pfifo sfq fq_codel fq cake)
flows=(1 32 1024 10000)
queues=(32 128 1024)

# add DEV QDISC...: bfc warns that a dummy has no speed
add() {
	local dev=$1 said
	shift
	said=$(tc qdisc replace dev "$dev" root "$@" 2>&1) ||
		fail "$dev: $*: $said"
}

# stat_above_zero NAME
stat_above_zero() {
	tc -s -j qdisc show dev bench0 root | grep -q "\"$1\": *[1-9]"
}

declare -A enqueue dequeue
# measure NAME QUEUES FLOWS [IN]
measure() {
	local key="$1 $2 $3" options=${qdisc[$1]} burst=$((2 * $3)) e d
	[ "$2" = 0 ] || options+=" queues $2"
	[ "$burst" -ge 64 ] || burst=64
	# shellcheck disable=SC2086
	add bench0 $options
	echo "bench0 $3 $burst $((bursts + 20000 / burst)) ${4:-}" >$run ||
		fail "$key: no result"
	read -r e d <$run
	# Else it has not measured what it says.
	if [ -n "${4:-}" ]; then
		stat_above_zero tagged_tx || fail "$key: nothing tagged"
		stat_above_zero counted || fail "$key: nothing counted"
	fi
	tc qdisc del dev bench0 root
	[ "$e" -ge "${enqueue[$key]:-$e}" ] || enqueue[$key]=$e
	[ "$d" -ge "${dequeue[$key]:-$d}" ] || dequeue[$key]=$d
	: "${enqueue[$key]:=$e}" "${dequeue[$key]:=$d}"
}

free_bytes() { echo $((1024 * $(sed -n 's/^MemFree: *\([0-9]*\) kB/\1/p' /proc/meminfo))); }

# memory NAME QUEUES OPTIONS...
memory() {
	local key="$1 $2" ports=64 before after i
	shift 2
	for ((i = 0; i < ports; i++)); do
		echo "link add port$i type dummy"
		echo "link set port$i up"
	done | ip -batch -
	sleep 0.5
	before=$(free_bytes)
	for ((i = 0; i < ports; i++)); do
		add "port$i" "$@"
	done
	after=$(free_bytes)
	echo "memory $key $(((before - after) / ports))"
	for ((i = 0; i < ports; i++)); do
		echo "link del port$i"
	done | ip -batch -
	sleep 0.5
}

modprobe -a sch_bfc test_bench || fail "no modules: scripts/build-modules sim"
for dev in bench0 bench1; do
	ip link add $dev type dummy
	ip link set $dev up
done
# The port where tagged packets come in
add bench1 bfc fc bfc peer on

for ((pass = 0; pass < passes; pass++)); do
	for n in "${flows[@]}"; do
		for name in "${others[@]}"; do
			measure "$name" 0 "$n"
		done
		for q in "${queues[@]}"; do
			measure bfc-none "$q" "$n"
			measure bfc-tags "$q" "$n" bench1
		done
	done
done
for key in "${!enqueue[@]}"; do
	echo "packet $key ${enqueue[$key]} ${dequeue[$key]}"
done
ip link del bench0
ip link del bench1
memory fq_codel 0 fq_codel
for q in "${queues[@]}"; do
	memory bfc "$q" bfc queues "$q"
done
