#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Two switches and a host at cables between network cards of a real driver, in a VM with
# two pairs of cards (scripts/vm --pair), for selftests/drivers/run.sh:
#
#   h1 --\
#         sw1 --x======x-- sw2 --r0======e0-- r
#   h2 --/
#
# === cards, --- test wires of 20 Mbit/s. The cards send as fast as they are emulated:
# sw1 x has 30 Mbit/s by `rate`, sw2 r0 10.
#
# Usage: DRIVER=MODULE cards.sh [TEST...]

# shellcheck source=selftests/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"
# shellcheck source=selftests/drivers/card.sh
. "$top/selftests/drivers/card.sh"

# in_slot N NS PORT: card N is a port
in_slot() {
	local end
	end=c1:$(printf %02x "$1")
	check "no card $1" wait_for 10 has_card "$end"
	pci[$1]=$(pci_of "$(card "$end")")
	becomes_port "$end" "$2" "$3"
}
pci=()

# pci_of DEV: its address; virtio has a device of its own in between
pci_of() {
	readlink -f "/sys/class/net/$1/device" | grep -oE '[0-9a-f]{4}(:[0-9a-f]{2}){2}\.[0-9]' |
		tail -n 1
}

# topology [OPTIONS]
topology() {
	switch sw1
	switch sw2
	host h1 10.0.0.1/24
	host h2 10.0.0.2/24
	host r 10.0.0.100/24
	cable sw1 p1 h1 e0
	cable sw1 p2 h2 e0
	in_slot 0 sw1 x
	in_slot 1 sw2 x
	in_slot 2 sw2 r0
	in_slot 3 r e0
	# shellcheck disable=SC2046
	bfc h1 e0 role nic $(of_nic "$@")
	# shellcheck disable=SC2046
	bfc h2 e0 role nic $(of_nic "$@")
	bfc sw1 p1 "$@"
	bfc sw1 p2 "$@"
	bfc sw1 x rate 30mbit "$@"
	bfc sw2 x rate 30mbit "$@"
	bfc sw2 r0 rate 10mbit "$@"
	# shellcheck disable=SC2046
	bfc r e0 role nic rate 100mbit $(of_nic "$@")
	check "r does not answer" wait_for 90 in_ns h1 ping -q -c 1 -w 1 10.0.0.100
	meet 10.0.0.100 h1 h2
}

# incast [PACKETS [OPTIONS]]: of h1 and h2 to r, each with three flows; all of them come
incast() {
	local packets=${1:-300} ns sent=()
	shift
	receive r 5000 -t 100 -i 5
	sent=("$bg")
	for ns in h1 h2; do
		send $ns 10.0.0.100 5000 -f 3 -F "${ns#h}0" -n "$packets" "$@"
		sent+=("$bg")
	done
	finish "${sent[@]}"
	equal "packets received" "$(received r 5000 .packets)" $((6 * packets))
	equal "out of order" "$(received r 5000 .reordered)" 0
}

# paused: the last hop has paused the one before, that has paused hosts, and nothing is lost
paused() {
	at_least "queues of sw1 x paused" "$(stat sw1 x pause_rx)" 5
	at_least "queues of h1 paused" "$(stat h1 e0 pause_rx)" 1
	equal "drops" "$(sum_stat drops)" 0
	all_idle
}

# ---- tests ----

# Tags and frames of the port cross the cable: the hop before is paused, nothing is lost.
test_pauses() {
	topology
	peers_up
	incast
	at_least "packets with an upstreamQ" "$(stat sw2 x tagged_rx)" 1000
	paused
	# No packet that a PAUSE crosses: shorter than a packet takes with that rate.
	at_least "HELLO's round trip, ns" "$(stat sw2 x hello_rtt)" 1
	say "round trip of HELLOs on the cards' link $(stat sw2 x hello_rtt) ns," \
		"on a wire $(stat sw1 p1 hello_rtt)"
	say "TX queues: $(in_ns sw1 sh -c 'ls -d /sys/class/net/x/queues/tx-*' | wc -l)," \
		"BQL's limit $(in_ns sw1 cat /sys/class/net/x/queues/tx-0/byte_queue_limits/limit)"
}

# A card that filters VLAN ids lets tags in. r is no port of a bridge, so that nothing else
# makes its card promiscuous. Most filter C-tags only.
test_vlan_filter() {
	local ns port
	topology tpid 8100
	in_ns r ethtool -K e0 rx-vlan-filter on >/dev/null 2>&1
	say "$(in_ns r ethtool -k e0 | grep rx-vlan-filter | tr -d '\t')"
	peers_up
	incast
	at_least "packets with an upstreamQ" "$(stat r e0 tagged_rx)" 1800
	for port in "sw1 x" "sw2 x" "sw2 r0" "r e0"; do
		ns=${port% *} port=${port#* }
		in_ns "$ns" ethtool -K "$port" rxvlan off txvlan off >/dev/null 2>&1
	done
	peers_up
	incast
	at_least "packets with an upstreamQ, tags not offloaded" "$(stat r e0 tagged_rx)" 3600
	paused
}

# ring NS PORT max|min: those of the driver
ring() {
	local ns=$1 port=$2 max
	max=$(in_ns "$ns" ethtool -g "$port" 2>/dev/null | awk '/^TX:/ { print $2; exit }')
	case $3 in
	max)	in_ns "$ns" ethtool -G "$port" rx "$max" tx "$max" ;;
	min)	in_ns "$ns" ethtool -G "$port" tx 80 || in_ns "$ns" ethtool -G "$port" tx 128 ;;
	esac 2>/dev/null
}

test_rings() {
	local which port done=0
	topology
	for which in min max; do
		for port in "sw1 x" "sw2 x" "sw2 r0" "r e0"; do
			# shellcheck disable=SC2086
			! ring $port $which || done=$((done + 1))
		done
		say "$which: $(in_ns sw1 ethtool -g x 2>/dev/null | awk '/^TX:/ { t = $2 } END { print t }') frames"
		poll=0.3 wait_for 30 in_ns h1 ping -q -c 1 -w 1 10.0.0.100
		peers_up
		incast
		paused
	done
	[ "$done" -gt 0 ] || skip="the driver's rings have one size"
}

# TCP with and without offloads: all bytes come, none twice.
test_offloads() {
	local state ns port
	topology
	peers_up
	for state in on off; do
		for port in "sw1 x" "sw2 x" "sw2 r0" "r e0"; do
			ns=${port% *} port=${port#* }
			for feature in tx rx sg tso gso gro; do
				in_ns "$ns" ethtool -K "$port" $feature $state
			done >/dev/null 2>&1
		done
		say "$state: $(in_ns sw2 ethtool -k r0 |
			awk '/^(tx-checksumming|tcp-segmentation|generic-receive)/ {
				printf "%s %s ", $1, $2 }')"
		tcp 1500000
	done
	# For they were late; none was lost.
	at_most "segments sent again of 2000" "$(snmp h1 Tcp RetransSegs)" 20
	paused
}
# tcp BYTES: from h1 to r, compared
tcp() {
	head -c "$1" /dev/urandom >"$scratch/sent"
	ip netns exec r busybox nc -l -p 7000 <&"$never" >"$scratch/came" &
	bg=$!
	pids+=("$bg")
	check "no server" wait_for 10 tcp_listens r 7000
	in_ns h1 timeout 60 busybox nc 10.0.0.100 7000 <"$scratch/sent" || fail "nc at h1: $?"
	finish "$bg"
	cmp "$scratch/sent" "$scratch/came" || fail "other bytes came"
}

# A port goes down and up again while others send: the neighbours agree again, nothing stays
# paused, and all that is sent then comes.
test_flap() {
	local i sent=()
	topology
	peers_up
	for i in 1 2; do
		send h$i 10.0.0.100 6000 -f 3 -F ${i}0 -t 8
		sent+=("$bg")
	done
	for i in 1 2 3; do
		sleep 1
		ip -n sw2 link set x down
		sleep 0.5
		ip -n sw2 link set x up
	done
	finish "${sent[@]}"
	peers_up
	all_idle
	incast
	all_idle
}

# The card is pulled out under traffic, and put in again.
test_hotplug() {
	local sent=() i
	topology
	peers_up
	for i in 1 2; do
		send h$i 10.0.0.100 6000 -f 3 -F ${i}0 -t 4
		sent+=("$bg")
	done
	sleep 1
	echo 1 >"/sys/bus/pci/devices/${pci[0]}/remove"
	check "x is there yet" wait_for 5 gone_from sw1 x
	finish "${sent[@]}"
	echo 1 >/sys/bus/pci/rescan
	in_slot 0 sw1 x
	bfc sw1 x rate 30mbit
	peers_up
	poll=0.3 wait_for 30 in_ns h1 ping -q -c 1 -w 1 10.0.0.100
	incast
	all_idle
}
gone_from() { ! ip -n "$1" link show dev "$2"; }

# Frames of IEEE 802.1Qbb leave and arrive: lossless priority, nothing lost.
test_pfc() {
	local ports=("sw1 p1" "sw1 p2" "sw1 x" "sw2 x" "sw2 r0") port
	topology fc pfc prio dscp lossless 3 xoff 20kb
	incast 300 -T 96
	at_least "pauses of sw1 x" "$(stat sw1 x pause_rx)" 3
	at_least "pauses of h1" "$(stat h1 e0 pause_rx)" 1
	for port in "${ports[@]}"; do
		# shellcheck disable=SC2086
		equal "drops of $port" "$(stat $port drops)" 0
	done
}

modprobe "$DRIVER" || bail_out "no driver $DRIVER"
run_tests pauses vlan_filter rings offloads flap hotplug pfc
