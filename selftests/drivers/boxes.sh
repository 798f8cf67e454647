#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Two switches in two machines with a kernel each, at a cable between network cards of a real
# driver. Started by two.sh:
#
#   h1 --p1-\               :
#            sw1 --x======= : =======x-- sw2 --r0-- r
#   h2 --p2-/               :
#          this VM                 far.sh's
#
# === cards, --- test wires of 20 Mbit/s, that of r 10. The cards send as fast as they are
# emulated: the ports called x have 30 Mbit/s by `rate`. No clock is shared, and a port that
# goes down at one end has its carrier at the other.
#
# One network is for all tests, as making it takes longer than most of them.
#
# Usage: DRIVER=MODULE boxes.sh [TEST...]

# Functions are called by name.
# shellcheck disable=SC2317

# shellcheck source=selftests/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"
# shellcheck source=selftests/drivers/card.sh
. "$top/selftests/drivers/card.sh"
# shellcheck source=selftests/two_vms.sh
. "$top/selftests/two_vms.sh"

# shellcheck disable=SC2034	# for b
b_address=10.9.0.2
after_test=end_background
ports=("h1 e0" "h2 e0" "sw1 p1" "sw1 p2" "sw1 x")
far_ports=("sw2 x" "sw2 r0" "r e0")

network() {
	[ ${#namespaces[@]} -eq 0 ] || return
	ip -batch - <<-'END'
		addr add 10.9.0.1/24 dev eth0
		link set eth0 up
	END
	switch sw1
	host h1 10.0.0.1/24
	host h2 10.0.0.2/24
	cable sw1 p1 h1 e0
	cable sw1 p2 h2 e0
	becomes_port c0:04 sw1 x
	check "the other box does not answer" wait_for 400 b true
	say "Linux $(uname -r) and $(b uname -r)"
}

# options_of PORT [OPTIONS]: what bfc has there
options_of() {
	local port=$1
	shift
	case $port in
	*" e0") echo "role nic $(of_nic "$@" | tr '\n' ' ')" ;;
	*" x")	echo "rate 30mbit $*" ;;
	*)	echo "$*" ;;
	esac
}

# with [OPTIONS]: the network, with these at each port, and no option of before
with() {
	local port
	network
	for port in "${ports[@]}"; do
		tc -n "${port% *}" qdisc del dev "${port#* }" root 2>/dev/null
		# shellcheck disable=SC2046,SC2086
		bfc $port $(options_of "$port" "$@")
	done
	far_bfc "$@" || fail "bfc $* at the other box"
	check "r does not answer" wait_for 60 in_ns h1 ping -q -c 1 -w 1 10.0.0.100
	meet 10.0.0.100 h1 h2
}

far_bfc() {
	local port commands=true
	for port in "${far_ports[@]}"; do
		commands+="; tc -n ${port% *} qdisc del dev ${port#* } root 2>/dev/null"
		commands+="; tc -n ${port% *} qdisc add dev ${port#* } root bfc $(
			options_of "$port" "$@") || failed=1"
	done
	b "$commands; [ -z \"\${failed-}\" ]"
}

# far PORT FIELD: of sw2's port
far() { b "tc -n sw2 -s -j qdisc show dev $1 root" | jq -r ".[0].$2"; }

all_up() { peers_up; check "sw2: no agreement" wait_for 20 far_is x peer_state up; }
far_is() { [ "$(far "$1" "$2")" = "$3" ]; }

# nothing_left: at both boxes
nothing_left() {
	local port
	all_idle
	for port in x r0; do
		check "sw2 $port is not back at zero" wait_for 15 far_is "$port" \
			"backlog, .[0].occupied, .[0].paused, .[0].counters" "$(printf '0\n0\n0\n0')"
	done
}

# lossless: all that was sent came, and no port dropped anything
lossless() {
	equal "drops" "$(sum_stat drops)" 0
	equal "drops at sw2" "$(far x drops) $(far r0 drops)" "0 0"
}

# expect_packets: r receives, until nothing has come for 5 s; came_in FIELD: what did
expect_packets() {
	b 'rm -f /tmp/came
	ip netns exec r udpflow recv -p 5000 -t 100 -i 5 </dev/null >/tmp/came 2>&1 &
	until ip netns exec r ss -Huln "sport = :5000" | grep -q .; do sleep 0.2; done' ||
		fail "no receiver"
}
packets_came() {
	b 'until [ -s /tmp/came ]; do sleep 0.2; done; cat /tmp/came' >"$scratch/came"
}
came() { jq -r ".$1" "$scratch/came"; }

# incast PACKETS [OPTIONS]: of h1 and h2 to r, each with three flows; all of them come
incast() {
	local packets=$1 i sent=()
	shift
	expect_packets
	for i in 1 2; do
		send "h$i" 10.0.0.100 5000 -f 3 -F "${i}0" -n "$packets" "$@"
		sent+=("$bg")
	done
	finish "${sent[@]}"
	packets_came
	equal "packets received" "$(came packets)" $((6 * packets)) ||
		say "dropped here $(sum_stat drops), at sw2 $(far x drops) and $(far r0 drops)"
	equal "out of order" "$(came reordered)" 0
}

# under_load COMMAND...: while h1 and h2 send for 8 s
under_load() {
	local i sent=()
	for i in 1 2; do
		send "h$i" 10.0.0.100 6000 -f 3 -F "${i}0" -t 8
		sent+=("$bg")
	done
	sleep 1
	"$@"
	finish "${sent[@]}"
}

# ---- tests ----

# What one kernel says the other obeys: tags, PAUSE, and the port before in turn.
test_pauses() {
	with
	all_up
	incast 300
	at_least "packets with an upstreamQ at sw2" "$(far x tagged_rx)" 1000
	at_least "queues of sw1 x paused" "$(stat sw1 x pause_rx)" 5
	at_least "queues of h1 paused" "$(stat h1 e0 pause_rx)" 1
	lossless
	nothing_left
	say "HRTT measured at sw1 x $(stat sw1 x hrtt) ns, at sw2 x $(far x hrtt)," \
		"round trips of HELLOs $(stat sw1 x hello_rtt) and $(far x hello_rtt)"
}

# Ids of roots cross the cable, too.
test_roots() {
	with assign root
	all_up
	incast 300
	at_least "queues of sw1 x paused" "$(stat sw1 x pause_rx)" 5
	lossless
	nothing_left
}

# Frames of IEEE 802.1Qbb. An emulated machine obeys within 2 ms, or 10: headroom that was
# measured may be too little for the next pause.
test_pfc() {
	with fc pfc prio dscp lossless 3 xoff 20kb hrtt 20ms
	incast 300 -T 96
	at_least "pauses of sw1 x" "$(stat sw1 x pause_rx)" 3
	at_least "pauses of h1" "$(stat h1 e0 pause_rx)" 1
	lossless
	nothing_left
}

test_fafc() {
	with fc fafc hrtt 20ms	# as for PFC
	all_up
	incast 300
	at_least "pauses of sw1 x" "$(stat sw1 x pause_rx)" 1
	lossless
	nothing_left
}

# The other box says BYE, loses its module, and is back, while it pauses this one.
test_module_goes() {
	with
	all_up
	under_load module_of_far
	all_up
	nothing_left
	incast 100
}
module_of_far() {
	local port commands=true
	at_least "queues of sw1 x paused" "$(stat sw1 x pause_rx)" 1
	for port in "${far_ports[@]}"; do
		commands+=" && tc -n ${port% *} qdisc del dev ${port#* } root"
	done
	b "$commands && modprobe -r sch_bfc" || fail "the other box's module does not go"
	check "sw1 x does not notice" wait_for 5 peer_not_up sw1 x
	check "still paused" wait_for 5 stat_is sw1 x paused 0
	b modprobe sch_bfc || fail "the other box's module does not come"
	far_bfc || fail "bfc at the other box"
}
stat_is() { [ "$(stat "$1" "$2" "$3")" = "$4" ]; }

# The other box falls silent while it pauses this one, and this one keeps its carrier.
test_silence() {
	with
	all_up
	under_load far_is_silent
	all_up
	nothing_left
	incast 100
}
far_is_silent() {
	at_least "queues of sw1 x paused" "$(stat sw1 x pause_rx)" 1
	b ip -n sw2 link set x down || fail "x of the other box"
	equal "carrier" "$(in_ns sw1 cat /sys/class/net/x/carrier)" 1
	check "sw1 x waits for ever" wait_for 10 stat_is sw1 x paused 0
	check "sw1 x does not notice" wait_for 10 peer_not_up sw1 x
	b ip -n sw2 link set x up || fail "x of the other box"
}

# Another layout at the other box, one that this one has to learn
test_other_queues() {
	local queues
	with
	all_up
	for queues in 8 128; do
		b "tc -n sw2 qdisc replace dev x root handle $queues: bfc rate 30mbit queues $queues" ||
			fail "queues $queues at the other box"
		all_up
		wait_for 10 stat_is sw1 x peer_queues "$queues"
		equal "queues that sw1 x knows" "$(stat sw1 x peer_queues)" "$queues"
		incast 100
		nothing_left
	done
}

modprobe "$DRIVER" || bail_out "no driver $DRIVER"
run_tests pauses roots pfc fafc module_goes silence other_queues
rc=$?
b touch /tmp/end
exit "$rc"
