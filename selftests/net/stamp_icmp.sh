#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# ICMP errors quote packets that hops have written into: an edge takes INT out of these,
# too, and hosts still know which connection an error is about.
#
# The switches are those of selftests/stamp.sh.

# Only stamp.sh gives three_hops arguments.
# shellcheck disable=SC2119

# shellcheck source=selftests/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"
# shellcheck source=selftests/stamp.sh
. "$top/selftests/stamp.sh"

# sum and addresses are right, no record and no pathID is quoted, nor that INT is wanted
errors_good() {
	equal "errors" "$(came '[.[] | length] | unique | tojson')" '[1]'
	equal "wrong checksums" "$(came '
		[.[][] | select((.ip_ok and (.sum | IN("ok", "partial"))) | not)] | length')" 0
	equal "quoted options" "$(came '[.[][].quote.option // empty] | length')" 0
	equal "quoted records" "$(came '[.[][].quote | (.hops // [])[] | .speed + .ts + .tx + .qlen] |
		add // 0')" 0
	equal "quoted pathIDs" "$(came '[.[][].quote | select(.option | not) | .path // 0] |
		add // 0')" 0
}

# changed_within FROM TO: only these bytes of the quoted transport header, or its checksum
changed_within() {
	equal "changed elsewhere" "$(came "[.[][].changed[] |
		select((. >= $1 and . < $2 or . == 16 or . == 17) | not)] | unique | tojson")" '[]'
}

# What the router sw3 and the host r say of packets from h1: edge is the port to h1.
edge_at_h1() {
	local ns
	three_hops
	load edge 9000 0 0 2
	bfc sw1 p1 hrtt 4ms stamp pinned "$pins/edge/prog"
	ip -n h1 addr add fd00::1/64 dev e0 nodad
	ip -n r addr add fd00::100/64 dev e0 nodad
	ip -n sw3 -batch - <<-END
		link set w nomaster
		link set r0 nomaster mtu 1300
		addr add 10.0.9.9/32 dev w
		addr add fd00::9/128 dev w nodad
		route add 10.0.0.1 dev w
		route add 10.0.0.100 dev r0
		route add fd00::1 dev w
		route add fd00::100 dev r0
		neigh replace 10.0.0.1 lladdr $(mac h1 e0) dev w
		neigh replace 10.0.0.100 lladdr $(mac r e0) dev r0
		neigh replace fd00::1 lladdr $(mac h1 e0) dev w
		neigh replace fd00::100 lladdr $(mac r e0) dev r0
	END
	ip -n r neigh replace 10.0.0.1 lladdr "$(mac sw3 r0)" dev e0
	ip -n r neigh replace fd00::1 lladdr "$(mac sw3 r0)" dev e0
	ip -n h1 neigh replace 10.0.0.100 lladdr "$(mac sw3 w)" dev e0
	ip -n h1 neigh replace fd00::100 lladdr "$(mac sw3 w)" dev e0
	for ns in sw3 r; do
		in_ns $ns sysctl -qw net.ipv4.icmp_ratelimit=0 net.ipv6.icmp.ratelimit=0 \
			net.ipv4.ip_forward=1 net.ipv6.conf.all.forwarding=1
	done
	ip -n r route replace fd00::/64 dev e0
}

# As a traceroute would: hop by hop, or from the end of the path.
test_stranger() {
	edge_at_h1
	flow h1:e0 h1:e0 sw3:w:w ttl=1 + ts=1 + version=6 + version=6 ts=1 + nops=1 ipopts=2 + \
		carrier=udp + carrier=udp version=6 + carrier=udp ttl=64 + \
		carrier=udp ttl=64 nhop=5 + version=6 ttl=64 size=1400 + version=6 ttl=64 size=1400 ts=1
	errors_good
	equal "kinds of errors" "$(came '[.[][].icmp] | tojson')" '[11,11,3,3,11,11,3,3,3,2,2]'
	equal "nHop of UDP" "$(came '[.[5:9][][].quote.nhop] | tojson')" '[2,2,3,8]'
	equal "errors that INT was taken out of" "$(count edge 4)" 11
	equal "dropped" "$(count edge 3)" 0
	unload
}

# A socket hears of its packets that are too long for the path, or come to a closed port. (With
# IPv6 Linux drops what has no checksum and comes to a closed port.)
test_sockets() {
	edge_at_h1
	in_ns h1 timeout 60 python3 - >"$scratch/out" <<-'END'
		import socket
		import time
		for family, level, host, discover, mtu, (plain, unsummed) in (
		        (socket.AF_INET, socket.IPPROTO_IP, "10.0.0.100", 10, 14, (socket.SOL_SOCKET, 11)),
		        (socket.AF_INET6, socket.IPPROTO_IPV6, "fd00::100", 23, 24, (socket.IPPROTO_UDP, 101))):
		    with socket.socket(family, socket.SOCK_DGRAM) as sock:
		        sock.setsockopt(level, discover, 2)
		        sock.setsockopt(plain, unsummed, 1)
		        sock.connect((host, 49089))
		        sock.send(bytes(1380))
		        time.sleep(1)
		        print(sock.getsockopt(level, mtu))
		        sock.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
		        sock.send(bytes(100))
		        time.sleep(1)
		        try:
		            sock.send(bytes(100))
		        except ConnectionRefusedError:
		            print("refused")
	END
	equal "MTU, and closed port" "$(tr '\n' ' ' <"$scratch/out")" "1300 refused 1300 "
	equal "errors that INT was taken out of" "$(count edge 4)" 3
	equal "dropped" "$(count edge 3)" 0
	unload
}

# All that may be quoted; nothing else of an error changes.
test_quotes() {
	local n kinds=()
	three_hops
	configure 3 3000 0 0 2
	flow h1:e0 r:e0 icmp=11 nhop=3 junk=1 + icmp=3 + icmp=4 ts=1 + icmp=5 nops=1 + icmp=12 nops=3 + \
		vlan=5 + stag=9 vlan=5 ts=1 + ipopts=3 ts=1 nops=1 slots=2 + ipopts=10 + cut=500 size=400 + \
		sum=partial ts=1 + echoes=2 ts=1 slots=2 + fragment=1 + version=6 icmp=1 + version=6 icmp=2 ts=1 + \
		version=6 icmp=3 nops=1 vlan=7 + version=6 icmp=4 + version=6 icmp=100 + \
		version=6 icmp=137 + version=6 icmp=2 cut=1100 size=1100 + version=6 icmp=3 sum=partial
	errors_good
	changed_within 20 60
	equal "kinds that are as they were sent" "$(came '[.[][] | select(.changed == [])] | length')" 0
	equal "errors that INT was taken out of" "$(count 3 4)" 21
	flow h1:e0 r:e0 icmp=11 carrier=udp nhop=3 path=77 + nhop=5 + nhop=13 records=5 + vlan=5 + ipopts=3 + \
		sum=partial + version=6 icmp=1 + version=6 icmp=137 nhop=5 + version=6 icmp=3 sum=partial
	errors_good
	equal "changed elsewhere" "$(came '[.[][].changed[] | select(. < 8 or . >= 50)] | tojson')" '[]'
	equal "nHop" "$(came '[.[][].quote.nhop] | tojson')" '[3,5,13,3,3,3,3,5,3]'
	equal "errors that INT was taken out of" "$(count 3 4)" 30
	# As much as there is: Linux quotes more, but 8 bytes are enough.
	for n in 25 26 27 28 29 31 33 34 36 40 43 47; do
		kinds+=(+ "cut=$n" + "cut=$n" version=6 icmp=3)
	done
	flow h1:e0 r:e0 icmp=11 nhop=3 junk=1 cut=48 "${kinds[@]}"
	errors_good
	changed_within 20 48
	equal "errors that INT was taken out of" "$(count 3 4)" 55
	flow h1:e0 r:e0 icmp=11 carrier=udp nhop=5 path=77 cut=49 "${kinds[@]}" + cut=10 + cut=11 + \
		cut=17 version=6 icmp=1
	errors_good
	equal "changed elsewhere" "$(came '[.[][].changed[] | select(. < 8 or . >= 50)] | tojson')" '[]'
	equal "errors that INT was taken out of" "$(count 3 4)" 83
	equal "dropped" "$(count 3 3)" 0
	unload
}

# What quotes no INT, or is no error, stays as it is.
test_not_quotes() {
	local n short=()
	three_hops
	configure 3 3000 0 0 2
	for n in 0 1 8 12 13 16 20 21 23; do
		short+=(+ "cut=$n" + "cut=$n" version=6 icmp=1)
	done
	flow h1:e0 r:e0 icmp=8 nhop=3 + icmp=0 + icmp=13 + version=6 icmp=128 + version=6 icmp=129 + \
		icmp=11 exid=0xbfc3 + icmp=11 kind=252 + icmp=11 slots=2 optlen=28 + \
		icmp=11 carrier=plain + icmp=11 carrier=udp port=49090 + icmp=11 carrier=udp cut=9 + \
		icmp=11 carrier=udp cut=8 + version=6 icmp=1 proto=44 + icmp=11 proto=47
	equal "errors" "$(came '[.[] | length] | unique | tojson')" '[1]'
	equal "wrong checksums" "$(came '[.[][] | select(.sum != "ok")] | length')" 0
	equal "what has changed" "$(came '[.[][].changed[]] | tojson')" '[]'
	flow h1:e0 r:e0 icmp=11 nhop=3 doff=5 "${short[@]}"
	equal "what has changed of short ones" "$(came '[.[][].changed[]] | tojson')" '[]'
	flow h1:e0 r:e0 icmp=11 nhop=3 cut=8 "${short[@]}"
	equal "errors" "$(came '[.[] | length] | unique | tojson')" '[1]'
	equal "what has changed of short ones" "$(came '[.[][].changed[]] | tojson')" '[]'
	equal "errors that INT was taken out of" "$(count 3 4)" 0
	equal "dropped" "$(count 3 3)" 0
	unload
}

# Behind the ICMP header, up to 68 bytes more come before what hops write into.
test_fragments() {
	three_hops
	configure 3 3000 0 0 2
	cuts_at_sw3 200
	flow h1:e0 r:e0 sw3:w:r0 icmp=11 nhop=3 junk=1 size=500 cut=400 + ipopts=2 + ts=1
	errors_good
	changed_within 20 60
	equal "fragments" "$(came '[.[][].pieces | length] | tojson')" '[3,3,3]'
	equal "dropped" "$(count 3 3)" 0
	# The first fragment ends within the quoted header; what follows is dropped.
	ip -n sw3 link set r0 mtu 88
	flow h1:e0 r:e0 sw3:w:r0 icmp=11 nhop=3 junk=1 wait=1 size=500 cut=400 + carrier=udp nhop=5
	equal "where the first fragments that came begin" "$(came '[.[][].pieces[:2]] | tojson')" \
		'[[0,192],[0,192]]'
	equal "quoted records" "$(came '[.[][].quote | (.hops // [])[] | .speed + .ts + .tx + .qlen] |
		add // 0')" 0
	equal "dropped" "$(count 3 3)" 4
	unload
}

run_tests stranger sockets quotes not_quotes fragments
