#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# In-band telemetry in RoCEv2 packets, end to end; the switches are those of
# selftests/int.sh.

# shellcheck source=selftests/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"
# shellcheck source=selftests/int.sh
. "$top/selftests/int.sh"

# udp send|other|forged COUNT ADDRESS...: what came of COUNT packets to each is in
# $scratch/udp.json
udp() {
	local what=$1 count=$2 receiver other=() port=4791
	shift 2
	if [ "$what" != send ]; then
		other=(other) port=49089
	fi
	in_ns r timeout 60 python3 "$top/selftests/tools/udpint.py" receive \
		$((count * $#)) "${other[@]}" >"$scratch/udp.json" &
	receiver=$!
	pids+=("$receiver")
	check "no UDP receiver" wait_for 20 udp_listens r "$port"
	check "sender" in_ns h1 python3 "$top/selftests/tools/udpint.py" "$what" \
		"$count" "$@"
	finish "$receiver"
	equal "packets, and those that are as they were sent" \
		"$(jq -r '"\(.packets) \(.intact)"' "$scratch/udp.json")" \
		"$((count * $#)) $((count * $#))"
}

ifindex() { ip -n "$1" -j link show dev e0 | jq '.[0].ifindex'; }

# RoCEv2's packets, but for what is in them: UDP to port 4791 without a checksum.
test_packets() {
	topology 3
	ip -n h1 addr add fd00::1/64 dev e0 nodad
	ip -n r addr add fd00::100/64 dev e0 nodad
	ctl -n r int attach e0
	ctl -n h1 int attach e0
	udp send 100 10.0.0.100 fd00::100
	equal "flows" "$(bfcctl -n r -j int show e0 | jq -c \
		'[.[] | [.carrier, .src, .nhop, (.hops | length), .records]] | sort')" \
		'[["udp","10.0.0.1",3,3,100],["udp","fd00::1",3,3,100]]'
	equal "speeds" "$(bfcctl -n r -j int show e0 | jq -c \
		'[.[0].hops[].speed]')" '[100000000,100000000,10000000]'
	# The map is that of all namespaces, and a device's number is its own's.
	equal "number of h1's e0" "$(ifindex h1)" "$(ifindex r)"
	equal "flows to h1" "$(bfcctl -n h1 -j int show e0)" '[]'
	equal "flows to h1, all devices" "$(bfcctl -n h1 -j int show)" '[]'
	# Flows of another program that drew the same port
	udp other 20 10.0.0.100 fd00::100
	equal "records" "$(bfcctl -n r -j int show e0 | jq -c \
		'[.[].records]')" '[100,100]'
	ctl -n h1 int detach e0
	ctl -n r int detach e0
	clean_group
}

# records: of INT in UDP that came to r from these addresses
records() {
	bfcctl -n r -j int show e0 | jq -c '[.[] | [.src, .records]] | sort'
}

# Peers are private addresses, or those that are named. What others send to INT's port does not
# become RoCEv2, and they are sent no INT.
test_scope() {
	local ns prefix
	topology 1
	ctl -n sw1 stamp detach r0
	ip -n h1 -batch - <<-END
		addr add 203.0.113.1/24 dev e0
		addr add fd00::1/64 dev e0 nodad
		addr add 2001:db8::1/64 dev e0 nodad
	END
	ip -n r -batch - <<-END
		addr add 203.0.113.100/24 dev e0
		addr add fd00::100/64 dev e0 nodad
		addr add 2001:db8::100/64 dev e0 nodad
	END
	ctl -n r int attach e0
	udp forged 20 203.0.113.100 2001:db8::100
	equal "records from outside" "$(records)" '[]'
	ctl -n h1 int attach e0
	udp send 20 203.0.113.100 2001:db8::100
	# What is sent inside by an address that is not would stay at INT's port there.
	ip -n h1 route add 10.0.0.100/32 dev e0 src 203.0.113.1
	udp send 20 10.0.0.100
	ip -n h1 route del 10.0.0.100/32
	# IPv4 in an IPv6 header is not IPv4.
	frames open h1 h1 e0
	frames udp h1 dst="$(mac r e0)" from=::ffff:10.0.0.1 to=2001:db8::100 \
		sport=50000 dport=49089 size=40 count=20
	frames close
	equal "records of what is none of these" "$(records)" '[]'
	ctl -n r int attach e0 to any
	udp send 20 203.0.113.100 2001:db8::100
	equal "records of what goes outside" "$(records)" '[]'
	ctl -n r int attach e0
	udp send 20 10.0.0.100 fd00::100
	equal "records from private addresses" "$(records)" '[["10.0.0.1",20],["fd00::1",20]]'
	for ns in h1 r; do
		ctl -n "$ns" int attach e0 to 203.0.113.0/28 to 203.0.113.96/28 to 2001:db8::/32
	done
	udp send 20 203.0.113.100 2001:db8::100
	udp forged 20 10.0.0.100 fd00::100
	equal "records from named addresses" "$(records)" \
		'[["10.0.0.1",20],["2001:db8::1",20],["203.0.113.1",20],["fd00::1",20]]'
	for prefix in 10.0.0.0/33 fd00::/129 10.0.0/8; do
		! bfcctl -n r int attach e0 to "$prefix" 2>"$scratch/err" ||
			fail "to $prefix is taken"
		check "message about $prefix: $(cat "$scratch/err")" grep -q '"to"' "$scratch/err"
	done
	ctl -n h1 int detach e0
	ctl -n r int detach e0
	clean_group
}

# The last of sixteen prefixes counts as the first one does.
test_sixteenth_prefix() {
	local ns i others=()
	topology 1
	ctl -n sw1 stamp detach r0
	for i in {1..15}; do
		others+=(to "192.0.2.$i/32")
	done
	for ns in h1 r; do
		ctl -n "$ns" int attach e0 "${others[@]}" to 192.0.2.16/32
	done
	udp send 20 10.0.0.100
	equal "records of no prefix" "$(records)" '[]'
	for ns in h1 r; do
		ctl -n "$ns" int attach e0 "${others[@]}" to 10.0.0.0/24
	done
	udp send 20 10.0.0.100
	equal "records of the last prefix" "$(records)" '[["10.0.0.1",20]]'
	ctl -n h1 int detach e0
	ctl -n r int detach e0
	clean_group
}

# The device of a VLAN has INT; the one below it leaves the VLAN's packets alone,
# which come in with upstreamQ's tag around the VLAN's.
test_vlan() {
	local ns
	topology 3
	for ns in h1 r; do
		ip -n "$ns" link add link e0 name e0.5 type vlan id 5
		ip -n "$ns" link set e0.5 up
		ctl -n "$ns" int attach e0
	done
	ip -n h1 addr add 10.5.0.1/24 dev e0.5
	ip -n r addr add 10.5.0.100/24 dev e0.5
	udp send 50 10.5.0.100
	equal "flows" "$(bfcctl -n r -j int show)" '[]'
	for ns in h1 r; do
		ctl -n "$ns" int attach e0.5
	done
	udp send 50 10.5.0.100
	equal "flows of the VLAN" "$(bfcctl -n r -j int show e0.5 | jq -c \
		'[.[] | [.carrier, .src, .nhop, .records]]')" \
		'[["udp","10.5.0.1",3,50]]'
	for ns in h1 r; do
		ctl -n "$ns" int detach e0
		ctl -n "$ns" int detach e0.5
	done
	clean_group
}

# A map of another layout, as another version of bfcctl may have pinned it, is left alone.
test_other_map() {
	local pin=/sys/fs/bpf/bfc/int_udp
	host r 10.0.0.100/24
	mkdir /sys/fs/bpf/bfc
	check "map" bpftool map create "$pin" type hash key 256 value 1024 entries 4 name other
	# shellcheck disable=SC2046
	check "element" bpftool map update pinned "$pin" key $(yes 1 | head -n 256) \
		value $(yes 255 | head -n 1024)
	for _ in 1 2; do
		check "int show" bfcctl -n r -j int show >"$scratch/out" 2>"$scratch/err"
		equal "flows" "$(jq -c . "$scratch/out")" '[]'
		equal "message" "$(cat "$scratch/err")" "bfcctl: UDP flows are left out: $pin \
is that of another version of bfcctl"
	done
	rm -r /sys/fs/bpf/bfc
}

run_tests packets scope sixteenth_prefix vlan other_map
