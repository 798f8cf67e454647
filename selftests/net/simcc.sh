#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Congestion controls that only the simulator has (lab/simcc): RDMA's, DCQCN and TIMELY,
# and go-back-N.
#
#   h1 -- p1 --+
#              sw -- r0 -- r
#   h2 -- p2 --+
#
# 100 Mbit/s and 1 ms each: 4.2 ms for a packet and its ACK, 52 KB. Times are a hundred
# times those of 10 Gbit/s.

# shellcheck source=selftests/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"

simulated || skip_all "only the simulator has these congestion controls"

receivers=() senders=()
module=(rate=12500000 base_ns=4200000 packet=1514)

# start CONTROL QDISC [PARAMETER...]: of bfc_simcc
start() {
	local h
	modprobe bfc_simcc "${module[@]}" "${@:3}" || fail "bfc_simcc does not take ${*:3}"
	host h1 10.0.0.1/24
	host h2 10.0.0.2/24
	host r 10.0.0.100/24
	switch sw
	cable sw p1 h1 e0 rate 100mbit delay 1ms ring 4
	cable sw p2 h2 e0 rate 100mbit delay 1ms ring 4
	cable sw r0 r e0 rate 100mbit delay 1ms ring 4
	# shellcheck disable=SC2086 # many words
	tc -n sw qdisc replace dev r0 root $2 || fail "tc refuses $2"
	for h in h1 h2 r; do
		ip -n "$h" link set e0 gso_max_segs 1
		ip -n "$h" route change 10.0.0.0/24 dev e0 quickack 1
		in_ns "$h" sysctl -qw net.ipv4.tcp_no_metrics_save=1 \
			net.ipv4.tcp_congestion_control="$1"
	done
	meet 10.0.0.100 h1 h2
}

unload() {
	local h
	for h in h1 h2 r; do
		in_ns "$h" sysctl -qw net.ipv4.tcp_congestion_control=reno
	done
	check "a socket uses bfc_simcc" wait_for 5 modprobe -qr bfc_simcc
}

# receiver PORT FILE
receiver() {
	ip netns exec r busybox nc -l -p "$1" >"$2" </dev/null &
	pids+=($!)
	receivers+=($!)
	check "no TCP receiver" wait_for 20 tcp_listens r "$1"
}

# flow NS PORT: as much as it can, until it is stopped
flow() {
	receiver "$2" /dev/null
	ip netns exec "$1" bash -c "exec cat /dev/zero >/dev/tcp/10.0.0.100/$2" 2>/dev/null &
	pids+=($!)
	senders+=($!)
}

stop() {
	kill "${receivers[@]}"
	wait "${receivers[@]}" 2>/dev/null
	sleep 0.2
	kill "${senders[@]}" 2>/dev/null
	wait "${senders[@]}" 2>/dev/null
	receivers=() senders=()
}

# two_flows: what the bottleneck holds, every 20 ms, and in percent what is used of it
# and what the second flow has of what the first has
two_flows() {
	local i before from now shares
	flow h1 5001
	flow h2 5002
	sleep 2
	before=$(stat sw r0 bytes)
	shares=("$(stat h1 e0 bytes)" "$(stat h2 e0 bytes)")
	from=$(date +%s%N)
	read -r mean most < <(
		for ((i = 0; i < 75; i++)); do
			stat sw r0 backlog
			sleep 0.02
		done | awk '{ sum += $1; if ($1 > most) most = $1 }
			END { printf "%d %d\n", sum / NR, most }'
	)
	now=$(date +%s%N)
	used=$((($(stat sw r0 bytes) - before) * 800 * 1000 / ((now - from) * 100)))
	share=$((($(stat h2 e0 bytes) - shares[1]) * 100 / ($(stat h1 e0 bytes) - shares[0])))
	say "queue: mean $mean, at most $most bytes; link $used %; second flow $share %"
	stop
}

# Marks from 60 KB on: there is a queue up to that and beyond, and then less is sent.
test_dcqcn() {
	local times=(dcqcn_alpha_ns=500000 dcqcn_cut_ns=500000 dcqcn_timer_ns=5500000)
	start bfc_dcqcn "bfc fc pfc lossless none ecn 60kb limit 64Mb" "${times[@]}"
	two_flows
	at_least "marks" "$(stat sw r0 ecn_mark)" 50
	at_least "use of the link" "$used" 50
	at_most "mean queue" "$mean" 100000
	at_least "longest queue" "$most" 60000
	unload
}

# T_low of 10 ms: 5.8 ms more than without a queue, 72 KB.
test_timely() {
	start bfc_timely "bfc fc pfc lossless none limit 64Mb" timely_low=10000000 \
		timely_high=100000000 timely_min_rtt=4200000
	two_flows
	at_least "use of the link" "$used" 60
	at_most "mean queue" "$mean" 300000
	at_least "longest queue" "$most" 30000
	unload
}

# At line rate whatever the RTT, with a fixed window.
windowed=(timely_low=100000000 timely_high=200000000 window=2)

# The window: what one has under way is what the empty network has under way.
test_windows() {
	start bfc_timely "bfc fc pfc lossless none limit 64Mb" "${windowed[@]}"
	two_flows
	at_least "use of the link" "$used" 95
	at_most "longest queue" "$most" 60000
	at_least "longest queue" "$most" 40000
	at_least "share of the second flow" "$share" 80
	at_most "share of the second flow" "$share" 125
	unload
}

# transfer: 3 MB of h1's to r, of which the link to r loses a hundredth; sets resent, of
# the sender, kept, out of order by the receiver, and late, time-outs
transfer() {
	receiver 5001 "$scratch/got"
	head -c 3000000 /dev/urandom >"$scratch/given"
	ip -n sw link set dev r0 type wire drop 0800 1%
	in_ns h1 bash -c "exec cat '$scratch/given' >/dev/tcp/10.0.0.100/5001" ||
		fail "could not send"
	check "the receiver has not ended" wait_for 60 gone "${receivers[0]}"
	receivers=()
	ip -n sw link set dev r0 type wire drop none
	check "something else arrived" cmp "$scratch/given" "$scratch/got"
	resent=$(snmp h1 Tcp RetransSegs)
	kept=$(snmp r TcpExt TCPOFOQueue)
	late=$(snmp h1 TcpExt TCPTimeouts)
	say "$resent packets sent again, $kept kept out of order, $late time-outs"
}

# go_back [PARAMETER...]
go_back() {
	start bfc_timely "bfc fc pfc lossless none limit 64Mb" "${windowed[@]}" "$@"
	in_ns h1 sysctl -qw net.ipv4.tcp_sack=0 net.ipv4.tcp_reordering=1 \
		net.ipv4.tcp_max_reordering=1 net.ipv4.tcp_frto=0
	in_ns r sysctl -qw net.ipv4.tcp_sack=0
	transfer
	unload
}

# All behind a loss is sent again: most of the window's 35 packets each time, of 20 or
# so. One that is lost again is asked for again, too: hardly a time-out.
test_go_back() {
	go_back gbn=1
	[ "$kept" -eq 0 ] || fail "the receiver kept $kept packets that were out of order"
	at_least "packets sent again" "$resent" 300
	at_most "time-outs" "$late" 3
}

# NewReno's way without it: one packet a loss.
test_without_it() {
	go_back
	at_least "packets kept out of order" "$kept" 100
	at_most "packets sent again" "$resent" 100
}

test_refusals() {
	local one
	for one in window=3 base_ns=99 packet=63 min_rate=12500001 dcqcn_g=65537 \
		timely_high=49999 rate=0; do
		dmesg -C
		! modprobe bfc_simcc "${module[@]}" "$one" 2>/dev/null ||
			{ fail "$one is taken"; modprobe -r bfc_simcc; }
		dmesg | grep -q "bfc_simcc: ${one%%=*} .*out of range" ||
			fail "$one: no reason in the kernel's log"
	done
}

run_tests dcqcn timely windows go_back without_it refusals
