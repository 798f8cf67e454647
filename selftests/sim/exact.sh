#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Is the simulator exact, and are its runs alike? To be run on the host.
#
#	+---------+  100 Gbit/s, 1 us  +---------+  100 Gbit/s, 1 us  +---------+
#	| netns a +--------------------+ bridge  +--------------------+ netns c |
#	|      e0 | wire               | netns b |               wire | e0      |
#	+---------+                    +---------+                    +---------+
#
# On the first cable a 1000-byte frame takes 80 + 1000 ns, to the bridge's own
# address (10.0.0.2); to the far host (10.0.0.3) it takes twice that.
#
# Usage: exact.sh [--no-debug] [6.1|6.12|newest]
# Exit code: 0, 1 a test failed, 4 cannot run here.

# Functions are called by name.
# shellcheck disable=SC2317

set -u

top=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd -P)

# ---- in the guest ----

mac() { echo "02:00:00:00:00:0$1"; }

# host NS DEV NUMBER: address and, since asking takes time, neighbours
host() {
	local n
	{
		echo "link set $2 address $(mac "$3")"
		echo "addr add 10.0.0.$3/24 dev $2"
		echo "link set $2 up"
		for n in 1 2 3; do
			[ "$n" = "$3" ] || echo \
				"neigh add 10.0.0.$n dev $2 lladdr $(mac "$n") nud permanent"
		done
	} | ip -n "$1" -batch -
}

# network RING
network() {
	local ns wire="type wire rate 100gbit delay 1us ring $1"
	for ns in a b c; do
		ip netns add $ns
		ip netns exec $ns sysctl -qw net.ipv6.conf.all.disable_ipv6=1 \
			net.ipv6.conf.default.disable_ipv6=1
	done
	ip -n b link add br0 type bridge mcast_snooping 0
	# shellcheck disable=SC2086
	ip link add name e0 netns a $wire peer name p1 netns b
	# shellcheck disable=SC2086
	ip link add name e0 netns c $wire peer name p2 netns b
	host b br0 2
	host a e0 1
	host c e0 3
	ip -n b link set p1 master br0 up
	ip -n b link set p2 master br0 up
	for ns in 1 3; do
		ip netns exec b bridge fdb replace "$(mac $ns)" master static \
			dev p$(((ns + 1) / 2))
	done
	sleep 0.1
}

# flow NAME FROM TO NUMBER OPTIONS...: from one to another netns; what came in
# goes to $out/NAME
flow() {
	local name=$1 from=$2 to=$3 number=$4 start pid
	shift 4
	start=$((($(date +%s) + 1) * 1000000000))
	ip netns exec "$to" udpstamp recv -p 1000 -0 $start "$@" >"$out/$name" &
	pid=$!
	ip netns exec "$from" udpstamp send -d "10.0.0.$number" -p 1000 \
		-0 $start "$@"
	wait $pid
}

guest() {
	export IP_LIB_DIR=$top/build
	PATH=$top/build/tools:$PATH
	out=$1
	modprobe test_wire || exit 1
	network 8
	flow one a b 2 -n 1
	flow burst a b 2 -n 20000
	flow odd a b 2 -n 20000 -s 1003
	flow paced a b 2 -n 1000 -g 12345
	flow two_hops a c 3 -n 1000
	for ns in a b c; do
		ip netns del $ns
	done
	sleep 1
	network 1
	flow ring_of_one a b 2 -n 20000
	# What all tests begin with takes random numbers as well, the same with each
	# address of the stack.
	for n in {1..60}; do
		pad=$(printf "%$((16 * n))d") bash -c \
			'. selftests/lib.sh; test_none() { :; }; run_tests none' >/dev/null
		cat /proc/sys/kernel/random/uuid
	done >"$out/random"
	# What a timer, a failed system call and a clock read take: nothing.
	python3 - >"$out/costs" <<-'END'
		import os, time
		def now() -> int: return time.clock_gettime_ns(time.CLOCK_MONOTONIC)
		t = now()
		for _ in range(100):
		    try: os.stat("/nonexistent")
		    except OSError: pass
		print("100 failures:", now() - t)
		t = now()
		for _ in range(100): now()
		print("100 clock reads:", now() - t)
		t = now()
		time.sleep(0.000001001)
		print("sleep:", now() - t)
	END
	for ns in a b c; do
		ip netns del $ns
	done
}

if [ "${1:-}" = --guest ]; then
	guest "$2"
	exit
fi

# ---- on the host ----

topic=exact
# shellcheck source=selftests/tap.sh
. "$top/selftests/tap.sh"

# Lines are: number of the packet, sent, received.
one() { [ "$(cat "$dir/a/one")" = "0 0 1080" ]; }
# spaced NAME COUNT NS DELAY: frames of NS/100 ns each, the first one
# after DELAY more; the rest of a nanosecond is not lost
spaced() {
	awk -v count="$2" -v ns="$3" -v delay="$4" '
		$1 != n || $3 != delay + int(++n * ns / 100) { bad = NR; exit }
		END {
			if (bad)
				print "line " bad ": " $0
			exit bad || n != count
		}' "$dir/a/$1"
}
paced() {
	awk '$2 != n++ * 12345 || $3 != $2 + 1080 { print; bad = 1; exit }
		END { exit bad || n != 1000 }' "$dir/a/paced"
}
costs() {
	diff "$dir/a/costs" - <<-'END'
		100 failures: 0
		100 clock reads: 0
		sleep: 1001
	END
}
alike() { diff -rq "$dir/a" "$dir/$1"; }
alike_but_random() { diff -rq -x random "$dir/a" "$dir/$1"; }
other_seed() { ! cmp -s "$dir/a/random" "$dir/seed2/random"; }
# machine NAME OPTIONS...: its results go to $dir/NAME
machine() {
	local name=$1
	shift
	"$at/scripts/sim" --kernel "$kernel" "$@" --out "$place" -- \
		selftests/sim/exact.sh --guest "$place" &&
		mv "$place" "$dir/$name"
}

debug=1
if [ "${1:-}" = --no-debug ]; then
	debug=''
	shift
fi
kernel=${1:-6.1}
sim=sim-$kernel

# build SIM: of scripts/build-modules
build() {
	"$top/scripts/build-modules" "$1" >/dev/null && return
	[ $? -eq 4 ] || exit 1
	skip_all "no kernel source"
}

build "${sim%-6.1}"
[ -z "$debug" ] || build "${sim%-6.1}-debug"
make -s -C "$top/selftests/tools" >&2 || exit 1
make -s -C "$top/lab/wire" >&2 || exit 1
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
place=$dir/out
at=$top
deep=$dir$(printf '/%d' {1..40})

# in_a_clone NAME: a run of what is here under a longer name
# shellcheck disable=SC2016
in_a_clone() {
	local at=$dir/${deep////-}
	mkdir "$at" && export -f machine && export at dir kernel place &&
		unshare -m bash -c 'mount --bind "$0" "$at" && machine "$1"' "$top" "$1"
}

plan $((11 + (debug ? 2 : 0)))
result "a run" machine a
result "1000 bytes at 100 Gbit/s and 1 us arrive after 1080 ns" one
result "20000 frames back to back are 80 ns apart" spaced burst 20000 8000 1000
result "and through a ring of one" spaced ring_of_one 20000 8000 1000
result "parts of a nanosecond add up: 1003 bytes are 80.24 ns" \
	spaced odd 20000 8024 1000
result "senders wake up in their nanosecond" paced
result "1000 frames through a bridge" spaced two_hops 1000 8000 2080
result "computing takes no time, sleeping what was asked for" costs
place=$deep result "another run, elsewhere, in a clone elsewhere" in_a_clone b
result "is the same to the bit" alike b
result "another seed is another one in random numbers only" eval \
	'machine seed2 --seed 2 && alike_but_random seed2 && other_seed'
if [ -n "$debug" ]; then
	result "a run with KASAN, lockdep and kmemleak" \
		machine debug --flavour debug
	result "is the same" alike_but_random debug
fi
all_passed
