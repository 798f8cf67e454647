#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# In the machine: feed packets to bfc and to other qdiscs and print what the TSC
# says, for selftests/bench/run.sh, which starts it in two kinds of machine.
#
#   inside.sh PASSES BURSTS [NAME...]
#	PASSES	over everything, so that a slow moment of the host hits none for
#		good
#	BURSTS	of each measurement at least; small ones are more. A burst is two
#		packets of each flow, and 64 at least, all of them queued before the
#		first leaves
#	NAME	of the rows below: only these, and no memory, unless that is named as well
#
# Prints the least of all bursts:
#
#   packet NAME QUEUES FLOWS HASH ENQUEUE DEQUEUE	(QUEUES 0: not bfc)
#   full NAME QUEUES FLOWS ENQUEUE	into a buffer that is full, of some 650 packets
#   memory NAME QUEUES BYTES	of a port; bfc-txqs: with 8 TX queues and a scheduler for each
#   jit				programs were compiled, else interpreted
#
# HASH is known (packets bring that of their flow, as from RSS and local sockets) or
# erased (a classifier that wants one has to dissect them).
#
# bfc-none is bfc as a fair queueing scheduler; bfc-tags has neighbours on either
# side: packets come with upstreamQs, are counted, and leave with one. bfc-sample and
# bfc-label, if they are named, are the same with `sample 50%`, and with `incast` and packets
# without that label.
#
# What stamping costs is measured with TCP packets that have timestamps and room for
# INT of three hops, and come without upstreamQs: by bfc-stamp-none (fc none),
# bfc-stamp-off (fc bfc, and no neighbour to stamp for), bfc-stamp-native (upstreamQ by the
# qdisc), bfc-stamp-ebpf (by bfc_stamp.bpf.c), bfc-stamp-int (by it, and INT).
# Where the kernel has no JIT, as in the simulator, programs are interpreted.

set -u

top=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd -P)
export TC_LIB_DIR=$top/build/tc
run=/sys/module/test_bench/parameters/run
int_hops=/sys/module/test_bench/parameters/int_hops
hash=/sys/module/test_bench/parameters/hash
fill=/sys/module/test_bench/parameters/fill
jit=/proc/sys/net/core/bpf_jit_enable
object=$top/build/bpf/bfc_stamp.bpf.o
pins=/run/bpf
[ $# -ge 2 ] || { echo "bench: inside.sh PASSES BURSTS [NAME...]" >&2; exit 2; }
passes=$1 bursts=$2
shift 2
only=" $* "

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
	[bfc-sample]='bfc fc bfc peer on limit 128m sample 50%'
	[bfc-label]='bfc fc bfc peer on limit 128m incast dscp:46'
	[bfc-stamp-none]='bfc fc none limit 128m'
	[bfc-stamp-off]='bfc fc bfc peer off limit 128m'
	[bfc-stamp-native]='bfc fc bfc peer on limit 128m'
	[bfc-stamp-ebpf]="bfc fc bfc peer on limit 128m stamp pinned $pins/bench"
	[bfc-stamp-int]="bfc fc bfc peer on limit 128m stamp pinned $pins/bench"
)
stamps=(bfc-stamp-none bfc-stamp-off bfc-stamp-native bfc-stamp-ebpf bfc-stamp-int)
declare -A full=(
	[fq_codel]='fq_codel limit 100000 memory_limit 1500Kb target 10s interval 100s'
	[cake]='cake unlimited rtt 100s memlimit 1500k'
	[bfc-none]='bfc fc none limit 1500k'
	[bfc-tags]='bfc fc bfc peer on limit 1500k'
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

# mode 0|1: does the program write INT?
mode() {
	bpftool map update pinned $pins/bench-maps/bfc_stam_data \
		key 0 0 0 0 value 1 0 0 0 0 0 0 0 0 0 "$1" 0 ||
		fail "bpftool: no configuration"
}

declare -A enqueue dequeue overload
# measure NAME QUEUES FLOWS HASH [IN]
measure() {
	local key="$1 $2 $3 $4" options=${qdisc[$1]} burst=$((2 * $3)) e d rounds
	local stamped in=${5:-}
	[ "$2" = 0 ] || options+=" queues $2"
	[ "$burst" -ge 64 ] || burst=64
	# shellcheck disable=SC2086
	add bench0 $options
	rounds=$((bursts + 10000 / burst))
	[ "$4" = known ]
	echo $((! $?)) >$hash
	echo "bench0 $3 $burst $rounds $in" >$run || fail "$key: no result"
	read -r e d stamped <$run
	# Else it has not measured what it says.
	if [ -n "$in" ]; then
		stat_above_zero tagged_tx || fail "$key: nothing tagged"
		stat_above_zero counted || fail "$key: nothing counted"
	fi
	case $1 in
	bfc-stamp-native) stat_above_zero tagged_tx || fail "$key: nothing tagged" ;;
	bfc-stamp-ebpf|bfc-stamp-int)
		stat_above_zero stamp_runs || fail "$key: the program has not run"
		stat_above_zero tagged_tx || fail "$key: nothing tagged"
		! stat_above_zero stamp_untagged || fail "$key: not all tagged"
		;;
	esac
	case $1 in
	bfc-stamp-int) [ "$stamped" -eq $((rounds * burst)) ] ;;
	*) [ "$stamped" -eq 0 ] ;;
	esac || fail "$key: $stamped of $((rounds * burst)) packets have INT"
	tc qdisc del dev bench0 root
	[ "$e" -ge "${enqueue[$key]:-$e}" ] || enqueue[$key]=$e
	[ "$d" -ge "${dequeue[$key]:-$d}" ] || dequeue[$key]=$d
	: "${enqueue[$key]:=$e}" "${dequeue[$key]:=$d}"
}

# wanted NAME
wanted() { [[ $only = "  " || $only = *" $1 "* ]]; }

# measure_full NAME QUEUES FLOWS: what a packet takes that finds no room. Not for pfifo and fq, which
# drop it at once, and sfq, which may have no more than 127 packets of a flow
measure_full() {
	local key="$1 $2 $3" options=${full[$1]} burst=$((2 * $3)) e before
	[ "$2" = 0 ] || options+=" queues $2"
	[ "$burst" -ge 64 ] || burst=64
	before=$burst
	[ "$before" -ge 2000 ] || before=2000
	# shellcheck disable=SC2086
	add bench0 $options
	echo 1 >$hash
	echo "$before" >$fill
	echo "bench0 $3 $burst $((bursts + 10000 / burst))" >$run ||
		fail "$key: no result with a full buffer"
	echo 0 >$fill
	read -r e _ <$run
	tc qdisc del dev bench0 root
	[ "$e" -ge "${overload[$key]:-$e}" ] || overload[$key]=$e
	: "${overload[$key]:=$e}"
}

# measure_overload FLOWS
measure_overload() {
	local name q
	for name in fq_codel cake; do
		! wanted "$name" || measure_full "$name" 0 "$1"
	done
	for q in "${queues[@]}"; do
		for name in bfc-none bfc-tags; do
			! wanted "$name" || measure_full "$name" "$q" "$1"
		done
	done
}

# measure_packets FLOWS HASH
measure_packets() {
	local name q
	for name in "${others[@]}"; do
		! wanted "$name" || measure "$name" 0 "$1" "$2"
	done
	for q in "${queues[@]}"; do
		! wanted bfc-none || measure bfc-none "$q" "$1" "$2"
		! wanted bfc-tags || measure bfc-tags "$q" "$1" "$2" bench1
	done
	# Not in the tables: only by name
	for name in bfc-sample bfc-label; do
		[[ $only != *" $name "* ]] || measure "$name" 32 "$1" "$2" bench1
	done
}

# measure_stamps FLOWS
measure_stamps() {
	local name
	echo 3 >$int_hops
	for name in "${stamps[@]}"; do
		wanted "$name" || continue
		case $name in
		bfc-stamp-ebpf)	mode 1 ;;
		bfc-stamp-int)	mode 0 ;;
		esac
		measure "$name" 32 "$1" erased
	done
	echo 0 >$int_hops
}

free_bytes() { echo $((1024 * $(sed -n 's/^MemFree: *\([0-9]*\) kB/\1/p' /proc/meminfo))); }

# memory NAME QUEUES TXQS OPTIONS...
memory() {
	local key="$1 $2" txqs=$3 ports=64 before after i
	shift 3
	for ((i = 0; i < ports; i++)); do
		echo "link add port$i numtxqueues $txqs type dummy"
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
	sleep 3	# some of it is freed a second later
}

modprobe -a sch_bfc test_bench || fail "no modules: scripts/build-modules sim"
for dev in bench0 bench1; do
	ip link add $dev type dummy
	ip link set $dev up
done
# The port where tagged packets come in
add bench1 bfc fc bfc peer on
[ ! -e $jit ] || echo 1 >$jit
bpftool prog load "$object" $pins/bench type classifier \
	pinmaps $pins/bench-maps || fail "$object: not loaded"

for ((pass = 0; pass < passes; pass++)); do
	for n in "${flows[@]}"; do
		measure_packets "$n" known
		measure_packets "$n" erased
		measure_stamps "$n"
		measure_overload "$n"
	done
done
for key in "${!enqueue[@]}"; do
	echo "packet $key ${enqueue[$key]} ${dequeue[$key]}"
done
for key in "${!overload[@]}"; do
	echo "full $key ${overload[$key]}"
done
[ ! -e $jit ] || echo jit
ip link del bench0
ip link del bench1
rm -r $pins/bench $pins/bench-maps
wanted memory || exit 0
memory fq_codel 0 1 fq_codel
for q in "${queues[@]}"; do
	memory bfc "$q" 1 bfc queues "$q"
done
memory bfc-txqs 32 8 bfc queues 32
