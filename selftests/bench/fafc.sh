#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# In the machine: what a packet costs that leaves a port with FAFC whose queue is over
# its threshold and grows, while packets of all ports wait at all other ports, too:
# each asks for pauses, with as many victims to be looked for as can be.
#
#   bench fafc-dequeue ports=N cycles=MEAN median=MEDIAN
#
# The mean has the packets that find a new T_hop in it (100 us, 20 times a burst or so).

set -u

top=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd -P)
export TC_LIB_DIR=$top/build/tc
run=/sys/module/test_bench/parameters/run
options=(fc fafc queues 512 hrtt 200us thop 100us threshold 10kb congested 5kb
	xoff 100mb max 200mb limit 1g)

fail() { echo "bench: $*" >&2; exit 1; }

# add DEV [OPTIONS]: bfc warns that a dummy has no speed
add() {
	local dev=$1 said
	shift
	said=$(tc qdisc replace dev "$dev" root bfc "${options[@]}" "$@" 2>&1) ||
		fail "$dev: $said"
}

stat() { tc -s -j qdisc show dev "$1" root | jq -r ".[0].$2"; }

modprobe -a sch_bfc test_bench || fail "no modules: scripts/build-modules sim"
for ports in 8 48 64; do
	for ((i = 0; i < ports; i++)); do
		echo "link add p$i type dummy"
		echo "link set p$i up"
	done | ip -batch -
	add p0
	for ((i = 1; i < ports; i++)); do
		add "p$i" rate 8kbit
	done
	for ((i = 1; i < ports; i++)); do
		echo "p$i 1 $((ports * 16)) 0 p $ports" >$run ||
			fail "nothing queued at p$i"
		# Runs the qdisc: it is when a packet leaves that a queue is found long.
		tc qdisc change dev "p$i" root bfc ecn off
	done
	sleep 0.01
	echo "p0 1 20000 20 p $ports" >$run || fail "$ports ports: no result"
	read -r mean median _ <$run
	[ "$(stat p0 solved)" -gt 10000 ] || fail "too few allocations"
	[ "$(stat "p$((ports - 1))" backlog)" -gt 5120 ] || fail "not congested"
	echo "bench fafc-dequeue ports=$ports cycles=$mean median=$median"
	for ((i = 0; i < ports; i++)); do
		echo "link del p$i"
	done | ip -batch -
done
