#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Netlink messages and frames that are nearly right (selftests/tools/{nlfuzz,framefuzz}.c),
# under traffic: whatever comes, the kernel has nothing to complain of (scripts/sim looks at
# its log), and ports work afterwards.
#
#   FUZZ_MESSAGES, FUZZ_FRAMES: how many, 20 000 and 60 000; FUZZ_SEED: which, 1
#
#   y e0 --- w0 \
#                x (br0)  d0, d1 (dummy)  w4, v0 (several TX queues)	netlink: of x's
#   z e0 --- w4 /
#
#   n e0 --- p1 -- sw -- p2 --- e0 r		frames: n sends them

# shellcheck source=selftests/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"

PATH=$top/build/bpf:$PATH
messages=${FUZZ_MESSAGES:-20000}
frames=${FUZZ_FRAMES:-60000}
seed=${FUZZ_SEED:-1}
fast=(rate 10gbit delay 1us ring 64)

# ended WHAT PID: the fuzzer is done, and what it printed is in $scratch/WHAT
ended() {
	wait "$2" || fail "$1: $(tail -n 1 "$scratch/$1.err")"
	[ -s "$scratch/$1" ] || fail "$1 printed nothing"
	say "$1 $(jq -c . "$scratch/$1")"
}
fuzzed() { jq -r "$2" "$scratch/$1"; }

test_netlink() {
	local dev traffic devices=(d0 d1 w0 w4 v0)
	switch x
	host y 10.0.0.1/24
	host z 10.0.0.2/24
	cable x w0 y e0 "${fast[@]}"
	tx_queues=4 cable x w4 z e0 "${fast[@]}"
	for dev in d0 d1; do
		ip -n x link add "$dev" type dummy
		ip -n x link set "$dev" up
	done
	ip -n x link add v0 numtxqueues 2 type veth peer name v1
	ip -n x link set v0 up
	ip -n x link set v1 up
	for dev in "${devices[@]}"; do
		bfc x "$dev" rate 1gbit
	done
	bfc y e0 role nic
	bfc z e0 role nic txqs one
	meet 10.0.0.2 y
	# until it is killed, whatever becomes of links and routes
	background bash -c "while :; do ip netns exec y udpflow send -d 10.0.0.2 \
		-p 9 -f 50 -t 100 -r 300000000 >/dev/null 2>&1; read -rt 0.01 <> <(:); done"
	traffic=$bg
	background ip netns exec x nlfuzz "$messages" "$seed" "${devices[@]}" \
		>"$scratch/nlfuzz" 2>"$scratch/nlfuzz.err"
	ended nlfuzz "$bg"
	at_least "taken" "$(fuzzed nlfuzz .taken)" $((messages / 20))
	at_least "refused for what they say" "$(fuzzed nlfuzz .refused.EINVAL)" \
		$((messages / 20))
	at_least "options given back" "$(fuzzed nlfuzz .twins)" $((messages / 1000))
	kill "$traffic"
	kill_all_in y
	# Messages with another byte somewhere have found the bridge as well.
	for dev in br0 "${devices[@]}"; do
		ip -n x link set "$dev" mtu 1500
		ip -n x link set "$dev" up
		tc -n x qdisc del dev "$dev" root 2>/dev/null
	done
	bfc x w0
	bfc x w4
	poll=0.3 wait_for 20 both_up || fail "no agreement afterwards"
	works y 10.0.0.2 z
	all_idle
}
both_up() { peer_up x w0 && peer_up x w4 && peer_up y e0 && peer_up z e0; }

# works FROM ADDRESS TO: packets arrive, all of them
works() {
	meet "$2" "$1"
	receive "$3" 5000 -n 400 -t 20 -i 2
	local receiver=$bg
	send "$1" "$2" 5000 -f 4 -n 100 -r 100000000
	finish "$bg" "$receiver"
	equal "received from $1" "$(received "$3" 5000 .packets)" 400
}

# frames_to OPTIONS...: of sw's ports
frames_to() {
	local mac traffic
	switch sw
	host n 10.0.0.1/24
	host r 10.0.0.2/24
	cable sw p1 n e0 "${fast[@]}"
	cable sw p2 r e0 "${fast[@]}"
	bfc sw p1 "$@"
	bfc sw p2 rate 100mbit "$@"
	tc -n n qdisc replace dev e0 root pfifo limit 200
	ctl -n sw stamp attach p1
	ctl -n sw stamp attach p2 int strip
	ctl -n r int attach e0
	meet 10.0.0.1 r
	mac=$(mac r e0)
	background ip netns exec r udpflow send -d 10.0.0.1 -p 9 -f 50 -t 10000 \
		-r 300000000 -b 10000
	traffic=$bg
	background ip netns exec n framefuzz e0 "$((frames / 4))" "$seed" "$mac" \
		>"$scratch/framefuzz" 2>"$scratch/framefuzz.err"
	ended framefuzz "$bg"
	[ "$2" = pfc ] || at_least "HELLOs heard" "$(fuzzed framefuzz .heard)" 1
	at_least "frames" "$(in_ns sw cat /sys/class/net/p1/statistics/rx_packets)" \
		$((frames / 5))
	kill "$traffic"
	wait "$traffic" 2>/dev/null
	# Another neighbour is there now, that speaks the truth.
	bfc n e0 "$@"
	bfc r e0 "$@"
	if [ "$2" = pfc ]; then
		sleep 2
	else
		peers_up
	fi
	ip -n sw neigh flush all
	works r 10.0.0.1 n
	works n 10.0.0.2 r
	all_idle
}

# bad: frames of p1 that were refused
bad() {
	tc -n sw -s -j qdisc show dev p1 root | jq '.[0] |
		.bad_short + .bad_version + .bad_epoch + .bad_seq + .bad_range + .bad_rate'
}

test_frames_bfc() {
	frames_to fc bfc
	at_least "refused" "$(bad)" $((frames / 100))
	at_least "PAUSEs obeyed" "$(stat sw p1 frames_rx)" 10
}
test_frames_root() {
	frames_to fc bfc assign root queues 64 hrtt 50us buffer b
	at_least "PAUSEs obeyed" "$(stat sw p1 frames_rx)" 10
}
test_frames_fafc() {
	frames_to fc fafc
	at_least "PFC obeyed" "$(stat sw p1 pfc_rx)" 10
}
test_frames_pfc() {
	frames_to fc pfc buffer b prio dscp
	at_least "PFC obeyed" "$(stat sw p1 pfc_rx)" 10
	at_least "PFC refused" "$(stat sw p1 pfc_bad)" 10
}

run_tests netlink frames_bfc frames_root frames_fafc frames_pfc
