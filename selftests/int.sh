# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# A row of switches that stamp, between two hosts; for the tests of INT, sourced behind
# lib.sh.
#
#   h1 -- p1 sw1 x12 -- x12 sw2 x23 -- x23 sw3 r0 -- r
#
# 100 Mbit/s, the last link 10 Mbit/s. From h1 to r, hop 1 is sw1's x12, hop 2 sw2's
# x23, hop 3 sw3's r0.

# Functions are called by name.
# shellcheck disable=SC2317,SC2154

PATH=$top/build/bpf:$PATH
group=/sys/fs/cgroup/int

# topology SWITCHES: so many in a row
topology() {
	local n=$1 i
	host h1 10.0.0.1/24
	host r 10.0.0.100/24
	for ((i = 1; i <= n; i++)); do
		switch "sw$i"
	done
	cable sw1 p1 h1 e0 rate 100mbit delay 100us ring 8
	for ((i = 1; i < n; i++)); do
		cable "sw$i" "x$i" "sw$((i + 1))" "y$i" rate 100mbit \
			delay 100us ring 8
	done
	cable "sw$n" r0 r e0 rate 10mbit delay 100us ring 8
	hops=()
	for ((i = 1; i < n; i++)); do
		hops+=("sw$i x$i")
		bfc "sw$i" "x$i" hrtt 4ms
		bfc "sw$((i + 1))" "y$i" hrtt 4ms
	done
	hops+=("sw$n r0")
	bfc sw1 p1 hrtt 4ms
	bfc "sw$n" r0 hrtt 8ms
	bfc h1 e0 role nic hrtt 4ms
	bfc r e0 role nic hrtt 8ms
	peers_up
	meet 10.0.0.100 h1
	stamp "${hops[@]}"
	# shellcheck disable=SC2086
	equal "TX queues" "$(stat ${hops[0]} txqs)" "${tx_queues:-0}"
	mkdir -p "$group"
	ctl int attach --cgroup "$group"
}

# stamp "NS PORT"...: by the program
stamp() {
	local hop
	for hop in "$@"; do
		ctl -n "${hop% *}" stamp attach "${hop#* }" node "${hop//[!0-9]/}"
	done
}

clean_group() {
	ctl int detach --cgroup "$group"
	check "the cgroup is in use" rmdir "$group"
	for hop in "${hops[@]}"; do
		bfcctl -n "${hop% *}" stamp detach "${hop#* }" 2>/dev/null
	done
	equal "left in the bpf file system" "$(ls /sys/fs/bpf/bfc 2>/dev/null)" ""
}
