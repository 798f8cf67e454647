#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# stamp: upstreamQ natively and by an eBPF program, INT (HPCC §4.1), and programs
# that do what they should not.
#
# The switches are those of selftests/stamp.sh; in the tests of INT the link from sw2 to
# sw3 has 2 Mbit/s, so that a queue builds even if the machine is too slow to send more.

# shellcheck source=selftests/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"
# shellcheck source=selftests/stamp.sh
. "$top/selftests/stamp.sh"

odd=$top/build/tools/stamp_odd.bpf.o

# one_switch [OPTIONS]: h1 -- sw -- r, with bfc OPTIONS on r0
one_switch() {
	host h1 10.0.0.1/24
	host r 10.0.0.100/24
	switch sw
	cable sw p1 h1 e0
	cable sw r0 r e0
	in_ns r ethtool -K e0 gro off >/dev/null
	bfc sw r0 hrtt 4ms "$@"
	bfc r e0 role nic hrtt 4ms
	peers_up
	meet 10.0.0.100 h1
}

# load_odd: all programs of stamp_odd.bpf.c, at $pins/odd/NAME
load_odd() {
	bpftool prog loadall "$odd" "$pins/odd" pinmaps "$pins/odd-maps" \
		>"$scratch/load" 2>&1 ||
		fail "bpftool: $(tail -n 3 "$scratch/load")"
}

# pinned NS PORT PATH
pinned() { tc -n "$1" qdisc change dev "$2" root bfc stamp pinned "$pins/$3"; }

# programs: of the type that stamps, in the kernel
programs() { bpftool -j prog show | jq '[.[] | select(.type == "sched_cls")] | length'; }
no_programs() { [ "$(programs)" -eq 0 ]; }

# ---- upstreamQ ----

# What the neighbour gets, tags and all, must not depend on who writes them.
frames_of_all_kinds() {
	flow h1:e0 r:e0 wait=1 carrier=plain + version=6 + vlan=7 + stag=9 + \
		stag=9 vlan=7 + ethertype=0x806 + ethertype=0x806 stag=9 + \
		ethertype=0x806 vlan=7 + ethertype=0x1234 + carrier=tcp + \
		size=1400 sum=partial
	came '[.[][] | {tags, hex}]' >"$scratch/$1"
	equal "$1: packets" "$(came '[.[][]] | length')" 11
}

test_same_tags() {
	local tpid prog runs
	one_switch queues 1
	load a 1 0 0 1
	load_odd
	for tpid in 88a8 8100; do
		bfc sw r0 queues 1 hrtt 4ms tpid "$tpid" stamp native
		bfc r e0 role nic hrtt 4ms tpid "$tpid"
		peers_up
		frames_of_all_kinds native
		runs=$(stat sw r0 stamp_runs)
		# The first pushes its tag, the second has the qdisc write it.
		for prog in odd/odd_facts a/prog; do
			pinned sw r0 $prog || fail "tc refuses $prog"
			frames_of_all_kinds pinned
			check "$tpid: $prog: not the same on the wire" \
				cmp "$scratch/native" "$scratch/pinned"
			at_least "$tpid: $prog: tagged" "$(came '
				[.[][] | select(.tags[0][1] == 1)] | length')" 5
			equal "$tpid: $prog: untagged" \
				"$(stat sw r0 stamp_untagged)" 0
			at_least "$tpid: $prog: runs" \
				"$(($(stat sw r0 stamp_runs) - runs))" 11
			runs=$(stat sw r0 stamp_runs)
		done
	done
	# Nothing agreed, nothing written, whatever the program asks for.
	tc -n sw qdisc change dev r0 root bfc peer off
	frames_of_all_kinds quiet
	equal "tags without a neighbour" \
		"$(came '[.[][] | select(.tags[0][1] == 1)] | length')" 0
	unload
}

# ---- the facts ----

# fact OFFSET: a word of struct odd_facts
fact() {
	bpftool -j map dump pinned "$pins/odd-maps/odd_facts_map" | jq -r "
		.[0].value[$((4 * $1)):$((4 * $1 + 4))] | [to_entries[] |
		 (.value | ltrimstr(\"0x\") | explode |
		  map(if . > 96 then . - 87 else . - 48 end) | .[0] * 16 + .[1]) *
		 pow(256; .key)] | add"
}

test_facts() {
	local before after
	one_switch queues 8 rate 10mbit
	load_odd
	pinned sw r0 odd/odd_facts || fail "tc refuses the program"
	before=$(stat sw r0 bytes)
	flow h1:e0 r:e0 carrier=plain tos=4 size=500 count=20
	all_good
	after=$(stat sw r0 bytes)
	equal "packets" "$(fact 6)" 20
	equal "length" "$(fact 5)" 542
	equal "backlog behind the last one" "$(fact 1)" 0
	# The port's count until the last packet, which is not in it; a HELLO may be.
	at_least "bytes sent" "$(fact 2)" $((before + 19 * 542))
	at_most "bytes sent" "$(fact 2)" $((after - 542))
	equal "bytes sent, high half" "$(fact 3)" 0
	equal "speed" $(($(fact 0) >> 20 & 15)) 1
	equal "a tag is due" $(($(fact 0) >> 24 & 1)) 1
	at_least "VLAN id" $(($(fact 0) & 0xfff)) 1
	at_most "VLAN id" $(($(fact 0) & 0xfff)) 8
	tc -n sw qdisc change dev r0 root bfc rate 100mbit peer off tpid 8100
	flow h1:e0 r:e0 carrier=plain tos=4
	equal "speed after a change" $(($(fact 0) >> 20 & 15)) 2
	equal "a tag is due after a change" $(($(fact 0) >> 24 & 3)) 2
	unload
}

# ---- INT ----

bytes_of() {
	sent=("$(stat sw1 x bytes)" "$(stat sw2 x bytes)" "$(stat sw3 r0 bytes)")
}

# Each hop's record is what its qdisc counts.
test_values() {
	local carrier i before rate
	three_hops 0 2mbit
	# With timestamps, as Linux has them, the option need not be looked for.
	for carrier in tcp "tcp ts=1" udp; do
		bytes_of
		before=("${sent[@]}")
		# shellcheck disable=SC2086
		flow h1:e0 r:e0 carrier=$carrier size=1000 count=30
		bytes_of
		all_good
		equal "$carrier: packets" "$(came '.[0] | length')" 30
		equal "$carrier: nHop" "$(came '[.[0][].nhop] | unique | tojson')" '[3]'
		equal "$carrier: paths" "$(came '[.[0][].path] | unique | length')" 1
		equal "$carrier: speeds" "$(came '[.[0][] | [.hops[].speed]] |
			unique | tojson')" '[[1,1,1]]'
		for i in 0 1 2; do
			at_least "$carrier: hop $i: txBytes of the first" \
				"$(came ".[0][0].hops[$i].tx * 128")" \
				$((before[i] - 127))
			at_most "$carrier: hop $i: txBytes of the last" \
				"$(came ".[0][-1].hops[$i].tx * 128")" \
				$((sent[i] - 1000))
			at_least "$carrier: hop $i: txBytes from first to last" \
				"$(came ".[0] | (.[-1].hops[$i].tx -
					.[0].hops[$i].tx) * 128")" \
				$((29 * 1000))
		done
		# The queue is where the link is slow, and goes down to nothing.
		at_least "$carrier: qLen at the slow link" \
			"$(came '[.[0][].hops[1].qlen] | max * 80')" 8000
		at_most "$carrier: qLen at the slow link" \
			"$(came '[.[0][].hops[1].qlen] | max * 80')" \
			"$(stat sw2 x backlog_peak)"
		equal "$carrier: last qLen" "$(came '.[0][-1].hops[1].qlen')" 0
		at_most "$carrier: qLen behind it" \
			"$(came '[.[0][].hops[2].qlen] | max * 80')" 2300
		# HPCC's txRate, from the records: that of the link
		rate=$(came '[.[0][5:25][].hops[1]] | (.[-1].tx - .[0].tx) * 128 /
			([.[1:], .[:-1]] | transpose |
			 map((.[0].ts - .[1].ts + 16777216) % 16777216) |
			 add) * 8000')
		say "$carrier: $(printf '%.3f' "$rate") Mbit/s of 2"
		at_least "$carrier: rate of the slow link, Mbit/s" "$rate" 1.8
		at_most "$carrier: rate of the slow link, Mbit/s" "$rate" 2.1
	done
	unload
}

# A hop with several TX queues, all of which have much to send: records of each flow tell of the
# port, in whichever TX queue it is. What the port has sent never goes back.
test_values_of_tx_queues() {
	local tx_queues=4 i rate rest queued senders=()
	line 10mbit
	load 2 2000
	# A flow's packets are not so far apart that the time in records wraps.
	bfc sw2 x hrtt 4ms quantum 300b stamp pinned "$pins/2/prog"
	meet 10.0.0.100 h1
	equal "TX queues" "$(stat sw2 x txqs)" 4
	spread
	of_txqs sw2 x .packets >"$scratch/before"
	flow h1:e0 r:e0 carrier=tcp size=300 count=60 + version=6 + carrier=udp version=4 + \
		carrier=udp version=6
	at_least "TX queues that the flows take" "$(of_txqs sw2 x .packets | paste "$scratch/before" - |
		awk '$2 - $1 >= 60' | wc -l)" 3
	# All together nearly fill h1's link: else one of them may have most of its FIFO.
	for i in 1 2 3 4; do
		send h1 10.0.0.100 $((6000 + i)) -f 3 -t 4 -b 24000 -s 300 -r 4000000
		senders+=("$bg")
	done
	sleep 1
	queued=$(stat sw2 x backlog)
	at_most "bytes that a single TX queue has" "$(of_txqs sw2 x .backlog | sort -n | tail -n 1)" \
		$((queued * 9 / 10))
	flow h1:e0 r:e0 carrier=tcp size=300 count=60 + version=6 + carrier=udp version=4 + \
		carrier=udp version=6
	all_good
	for i in 0 1 2 3; do
		equal "flow $i: packets" "$(came ".[$i] | length")" 60
		equal "flow $i: steps of txBytes, units of 128 bytes, that go back" \
			"$(came "$(steps "$i") | map(select(.tx > 500000)) | length")" 0
		rate=$(came "$(steps "$i") | (map(.tx) | add) * 128 * 8000 / (map(.ts) | add)")
		between "flow $i: rate of the link, Mbit/s" "$rate" 9 10.1
		at_least "flow $i: qLen" "$(came "[.[$i][].hops[0].qlen] | min * 80")" \
			$((queued * 95 / 100))
		at_most "flow $i: qLen" "$(came "[.[$i][].hops[0].qlen] | max * 80")" \
			"$(stat sw2 x backlog_peak)"
		say "flow $i: $(printf '%.2f' "$rate") Mbit/s of 10"
	done
	finish "${senders[@]}"
	wait_for 5 drained sw2 x
	flow h1:e0 r:e0 carrier=tcp
	rest=$(($(stat sw2 x bytes) - $(came '.[0][0].hops[0].tx * 128')))
	between "bytes of the port after those of the last record" "$rest" 100 2000
	unload
}
# spread: what takes which of x's TX queues, as it comes into sw2: by a hash most of it may
# take the same
spread() {
	local i
	tc -n sw2 qdisc add dev x clsact
	for i in 1 2 3 4; do
		takes $i $i "ip u32 match ip dport $((6000 + i)) 0xffff"
	done
	takes 5 1 "ip u32 match ip protocol 6 0xff"
	takes 6 2 "ipv6 u32 match ip6 protocol 6 0xff"
	takes 7 3 "ip u32 match ip protocol 17 0xff"
	takes 8 4 "ipv6 u32 match ip6 protocol 17 0xff"
}

# takes PREF TXQ MATCH
takes() {
	# shellcheck disable=SC2086
	check "filter $3" tc -n sw2 filter add dev x egress pref "$1" protocol $3 \
		action skbedit queue_mapping "$2"
}

# steps FLOW: from each record to the next
steps() {
	echo "[.[$1][].hops[0]] | [.[1:], .[:-1]] | transpose | map({
		tx: ((.[0].tx - .[1].tx + 1048576) % 1048576),
		ts: ((.[0].ts - .[1].ts + 16777216) % 16777216)})"
}

# The hops' ids: another path is another number, the same one stays.
test_path() {
	local path
	three_hops
	flow h1:e0 r:e0 count=3
	path=$(came '.[0][0].path')
	equal "paths" "$(came '[.[0][].path] | unique | length')" 1
	configure 2 77
	flow h1:e0 r:e0
	check "same number for another path" [ "$(came '.[0][0].path')" != "$path" ]
	configure 2 2000
	flow h1:e0 r:e0
	equal "path as before" "$(came '.[0][0].path')" "$path"
	# A hop less
	tc -n sw2 qdisc change dev x root bfc stamp native
	flow h1:e0 r:e0
	equal "nHop without sw2" "$(came '.[0][0].nhop')" 2
	check "same number without sw2" [ "$(came '.[0][0].path')" != "$path" ]
	unload
}

# Whatever stands around the option: the checksum stays right, all else as it is.
test_tcp() {
	local n kinds=()
	three_hops
	for n in 1 2 3; do
		kinds+=(+ "slots=$n" + "slots=$n" nops=1 + "slots=$n" nops=2 + \
			"slots=$n" nops=3 + "slots=$n" version=6 nops=1 + \
			"slots=$n" vlan=5 + "slots=$n" ipopts=3 nops=1 + \
			"slots=$n" ts=1)
	done
	flow h1:e0 r:e0 slots=4 "${kinds[@]}" + slots=4 nops=3 + slots=2 nops=15
	all_good
	equal "kinds that came" "$(came '[.[] | select(length == 1)] | length')" 27
	equal "nHop, or one more than records" "$(came '[.[][] |
		select(.nhop != ([3, (.hops | length) + 1] | min))] | length')" 0
	equal "records" "$(came '[.[][] | .hops | length] | unique | tojson')" \
		'[1,2,3,4]'
	equal "empty records among the first three" "$(came '
		[.[][].hops[:3][] | select(.speed == 0)] | length')" 0
	equal "fourth record" "$(came '[.[0][0].hops[3][]] | add')" 0
	# More hops than records; that is told once.
	flow h1:e0 r:e0 slots=1 + slots=2 nhop=1 + slots=3 nhop=3 + \
		slots=3 nhop=3 exid=0xbfc2
	all_good
	equal "nHop with too many hops" "$(came '[.[][0].nhop] | tojson')" \
		'[2,3,4,4]'
	equal "records kept" "$(came '.[1][0].hops | map(.speed) | tojson')" '[0,1]'
	at_least "counted as without room" "$(count 3 0)" 4
	unload
}

# The same behind timestamps, where the option is taken for granted: what is there, and
# what looks like it.
test_tcp_usual() {
	three_hops
	flow h1:e0 r:e0 ts=1 count=20 + version=6 + slots=2 + slots=1 size=4 + \
		slots=1 size=4 version=6 + size=4 + size=4 version=6 + sum=partial + \
		sum=partial version=6 + vlan=5 + ipopts=2 + tos=8
	all_good
	equal "packets" "$(came '[.[][]] | length')" 240
	equal "nHop, or one more than records" "$(came '[.[][] |
		select(.nhop != ([3, (.hops | length) + 1] | min))] | length')" 0
	equal "paths" "$(came '[.[0, 1, 5, 6, 7, 8, 9, 10, 11][].path] | unique |
		length')" 1
	equal "first records not of this port" "$(came '
		[.[][].hops[0] | select(.speed != 1)] | length')" 0
	equal "with room, not all" "$(came '[.[0, 1, 5, 6, 7, 8][].hops[] |
		select(.speed != 1)] | length')" 0
	# Junk where there is no hop to write is not changed.
	flow h1:e0 r:e0 ts=1 nhop=3 + nhop=1 slots=1 + nhop=3 version=6 + \
		junk=1 nhop=2
	all_good
	equal "nHop with too many hops" "$(came '[.[][0].nhop] | tojson')" \
		'[4,2,4,4]'
	equal "records without room" "$(came '[.[:3][][].hops[][]] | add')" 0
	flow h1:e0 r:e0 ts=1 syn=1 + kind=254 + kind=252 + optlen=27 + optlen=29 + \
		optlen=36 + slots=2 optlen=28 + fragment=1 + slots=0 + \
		kind=254 version=6
	equal "kinds that came" "$(came '[.[] | select(length == 1)] | length')" 10
	equal "bad checksums" "$(came '[.[][] | select(.sum == "bad")] | length')" 0
	equal "other than sent" "$(came '[.[][] | select(.payload_ok | not)] | length')" 0
	equal "nHop of others" "$(came '[.[][] | .nhop // 0] | unique | tojson')" '[0]'
	unload
}

# An option that is not INT stays as it is, bit by bit.
test_tcp_not_ours() {
	local i
	three_hops
	flow h1:e0 r:e0 syn=1 + kind=254 + kind=252 + slots=0 + optlen=27 + \
		optlen=29 + optlen=0 + optlen=1 + optlen=255 + slots=2 optlen=28 + \
		fragment=1 + slots=1 nops=17
	equal "kinds that came" "$(came '[.[] | select(length == 1)] | length')" 12
	equal "bad checksums" "$(came '[.[][] | select(.sum == "bad")] | length')" 0
	equal "other than sent" "$(came '[.[][] | select(.payload_ok | not)] | length')" 0
	equal "nHop" "$(came '[.[][] | .nhop // 0] | unique | tojson')" '[0]'
	# Experiments of others, of the same kind and length (RFC 6994)
	flow h1:e0 r:e0 exid=0xf989 + exid=0xbfc0 + exid=0xbfc3 version=6 + \
		ts=1 exid=0xbfc3 + exid=0x00c1 + exid=0xbf00 version=6
	equal "bad checksums" "$(came '[.[][] | select(.sum == "bad")] | length')" 0
	equal "their options" "$(came '[.[][].option[4:]] | join(" ")')" \
		"$(printf '%s%048d ' f989 0 bfc0 0 bfc3 0 bfc3 0 00c1 0 bf00 0 |
			sed 's/ $//')"
	unload
}

# What leaves through an edge says nothing of the hops inside, nor that INT is wanted:
# in both directions, and the SYN as well. Others' options stay.
test_strip() {
	three_hops
	configure 3 3000 0 0 2
	flow h1:e0 r:e0 carrier=tcp + ts=1 + version=6 + version=6 ts=1 + kind=254 + \
		syn=1 + vlan=5 + stag=9 vlan=5 + nops=1 + ts=1 nops=1 slots=2 + sum=partial + \
		version=6 sum=partial ts=1 + slots=1 + slots=4
	all_good
	equal "kinds that came" "$(came '[.[] | select(length == 1)] | length')" 14
	equal "options" "$(came '[.[][].option // empty] | length')" 0
	equal "packets that INT was taken out of" "$(count 3 4)" 14
	flow sw1:x r:e0 sum=gso mss=1000 size=10000 count=2 + version=6
	all_good
	equal "options of segments" "$(came '[.[][].option // empty] | length')" 0
	flow h1:e0 r:e0 carrier=udp + version=6
	all_good
	equal "records" "$(came '[.[][].hops[] | .ts + .tx + .qlen] | add')" 0
	equal "pathIDs" "$(came '[.[][].path] | tojson')" '[0,0]'
	flow h1:e0 r:e0 exid=0xf989 + exid=0xbfc3 version=6 ts=1 + carrier=plain
	all_good
	equal "options of others" "$(came '[.[][].option // empty | .[4:8]] | tojson')" \
		'["f989","bfc3"]'
	unload
}

# All that hops write into is taken out, not only what hosts send: an option behind as
# many NOPs as there can be, or before others; paths of more hops than records; a header
# that is longer than its packet. An option that is too long for its header stays as it
# is: no hop writes there.
test_strip_all() {
	three_hops
	configure 3 3000 0 0 2
	flow h1:e0 r:e0 slots=1 nops=16 + echoes=2 nops=0 + echoes=7 nops=0 + \
		echoes=7 nops=0 version=6 + ts=1 nops=13 + ts=1 nops=15
	all_good
	equal "kinds that came" "$(came '[.[] | select(length == 1)] | length')" 6
	equal "options" "$(came '[.[][].option // empty] | length')" 0
	flow h1:e0 r:e0 carrier=udp nhop=4 + nhop=5 + nhop=4 version=6
	all_good
	equal "nHop" "$(came '[.[][].nhop] | tojson')" '[6,7,6]'
	equal "records" "$(came '[.[][].hops[] | .speed + .ts + .tx + .qlen] | add')" 0
	# What claims more records than there are: a hop of another version may have written pathID.
	flow h1:e0 r:e0 carrier=udp path=291 records=0 size=4 nhop=5 + nhop=1 + nhop=15 version=6
	equal "pathIDs of what is too short" "$(came '[.[][].path] | tojson')" '[0,0,0]'
	equal "nHop of what is too short" "$(came '[.[][].nhop] | tojson')" '[5,1,15]'
	flow h1:e0 r:e0 slots=2 optlen=28 + optlen=255 + optlen=3 + optlen=2
	all_good
	equal "what is no option" "$(came '[.[][].option[:8]] | tojson')" \
		'["fd1cbfc1","fdffbfc1","fd03bfc1","fd02bfc1"]'
	flow h1:e0 r:e0 wait=1 slots=1 size=4 doff=15 + version=6
	equal "headers longer than their packets" "$(came '[.[][]] | length')" 0
	unload
}

# A router at the edge cuts what hops have written into: the first fragment has the
# headers. What begins later, and in them, does not leave.
test_strip_fragments() {
	three_hops
	cuts_at_sw3 1000
	flow h1:e0 r:e0 sw3:w:r0 size=1400
	all_good
	equal "nHop" "$(came '.[0][0].nhop')" 2
	configure 3 3000 0 0 2
	flow h1:e0 r:e0 sw3:w:r0 size=1400 + ts=1 + nops=1 + size=100 + sum=partial + \
		ipopts=2 + carrier=udp + carrier=plain
	all_good
	equal "fragments" "$(came '[.[] | .[0].pieces | length] | tojson')" '[2,2,2,0,2,2,2,2]'
	equal "options" "$(came '[.[][].option // empty] | length')" 0
	equal "records" "$(came '[.[6][].hops[] | .ts + .tx + .qlen] | add')" 0
	equal "packets that INT was taken out of" "$(count 3 4)" 7
	equal "dropped" "$(count 3 3)" 0
	# Fragments of 48 bytes: the header is longer.
	ip -n sw3 link set r0 mtu 68
	flow h1:e0 r:e0 sw3:w:r0 wait=1 ts=1 size=300 + carrier=udp nhop=4
	equal "where fragments begin" "$(came '[.[] | .[0].pieces[0]] | tojson')" '[96,96]'
	at_least "dropped" "$(count 3 3)" 4
	unload
}

# Checksums left to a device, and segments of a device's making.
test_offload() {
	three_hops
	flow h1:e0 r:e0 sum=partial + version=6 + nops=1
	all_good
	equal "nHop" "$(came '[.[][].nhop] | unique | tojson')" '[3]'
	# The last port's device does it in software, where we say it is.
	in_ns sw3 ethtool -K r0 tx off >/dev/null
	flow h1:e0 r:e0 sum=partial + version=6 + nops=1
	all_good
	equal "checksums" "$(came '[.[][].sum] | unique | tojson')" '["ok"]'
	equal "nHop" "$(came '[.[][].nhop] | unique | tojson')" '[3]'
	for gso in on off; do
		tc -n sw1 qdisc change dev x root bfc split-gso "$gso"
		flow sw1:x r:e0 sum=gso mss=1000 size=10000 count=2 + version=6
		all_good
		equal "split $gso: segments" "$(came '[.[] | length] | tojson')" \
			'[20,20]'
		equal "split $gso: bytes" "$(came '[.[][].bytes] | add')" 40000
		equal "split $gso: nHop" "$(came '[.[][].nhop] | unique | tojson')" \
			'[3]'
	done
	unload
}

# merged NS PORT: what receive offload hands on of more than 2 KB
merged() {
	tc -n "$1" -s -j filter show dev "$2" ingress pref 2 |
		jq '[.[].options.actions // [] | .[].stats.packets] | add // 0'
}

# told_apart ACTION...: it is done with what has come in through sw's p1, for merged()
told_apart() {
	tc -n sw filter del dev p1 ingress
	tc -n sw filter add dev p1 ingress pref 1 protocol all u32 match u16 0 0xf800 at 2 action "$@"
	tc -n sw filter add dev p1 ingress pref 2 protocol all matchall action "$@"
}

# Receive offload makes a list of segments that each keep their header (rx-gro-list; UDP, and TCP
# from Linux 6.10 on): a program is run on each of them.
test_segment_lists() {
	local split n runs
	one_switch
	load a 1000
	pinned sw r0 a/prog || fail "tc refuses the program"
	in_ns sw ethtool -K p1 gro on rx-gro-list on >/dev/null || fail "no rx-gro-list"
	echo 50000000 | in_ns sw tee /sys/class/net/p1/gro_flush_timeout >/dev/null
	echo 100 | in_ns sw tee /sys/class/net/p1/napi_defer_hard_irqs >/dev/null
	tc -n sw qdisc add dev p1 clsact
	told_apart ok
	for split in on off auto; do
		tc -n sw qdisc change dev r0 root bfc split-gso "$split"
		n=$(merged sw p1)
		flow h1:e0 r:e0 size=1000 count=20 + ts=1
		all_good
		at_least "split-gso $split: merged" "$(($(merged sw p1) - n))" 2
		equal "split-gso $split: packets" "$(came '[.[] | length] | tojson')" '[20,20]'
		equal "split-gso $split: nHop" "$(came '[.[][].nhop] | unique | tojson')" '[1]'
	done
	n=$(merged sw p1) runs=$(stat sw r0 stamp_runs)
	flow h1:e0 r:e0 size=1000 count=20 carrier=udp sum=ok + version=6
	all_good
	at_least "UDP: merged" "$(($(merged sw p1) - n))" 2
	equal "UDP: packets" "$(came '[.[] | length] | tojson')" '[20,20]'
	at_least "UDP: runs" "$(($(stat sw r0 stamp_runs) - runs))" 40
	# The control band, too: these are its kind.
	told_apart skbedit priority 7
	n=$(merged sw p1) runs=$(stat sw r0 stamp_runs)
	flow h1:e0 r:e0 size=1000 count=20 carrier=udp sum=ok + version=6
	all_good
	at_least "priority 7: merged" "$(($(merged sw p1) - n))" 2
	at_least "priority 7: runs" "$(($(stat sw r0 stamp_runs) - runs))" 40
	configure a 1000 0 0 2
	n=$(merged sw p1)
	flow h1:e0 r:e0 size=1000 count=20 + ts=1
	all_good
	at_least "merged" "$(($(merged sw p1) - n))" 2
	equal "packets" "$(came '[.[] | length] | tojson')" '[20,20]'
	equal "options" "$(came '[.[][].option // empty] | length')" 0
	unload
}

# A record more at each hop, up to five, behind the UDP header.
test_udp() {
	three_hops
	flow h1:e0 r:e0 carrier=udp + version=6 + tos=4 + nhop=1 + nhop=2 + \
		nhop=3 + nhop=4 + nhop=5 + nhop=13 records=5 + vlan=5 + \
		stag=9 vlan=5 + count=20
	all_good
	equal "nHop" "$(came '[.[][0].nhop] | tojson')" \
		'[3,3,3,4,5,6,7,8,15,3,0,3]'
	equal "lengths of frames" "$(came '[.[][0] | .len] | tojson')" \
		'[168,188,168,176,184,184,184,184,184,168,148,168]'
	equal "wrong lengths" "$(came '[.[][] | select(.udp_len_ok | not)] | length')" 0
	equal "records of others" "$(came '.[4][0].hops[:2] | map(.speed) | tojson')" \
		'[0,2]'
	at_least "runs that made it longer" "$(stat sw3 r0 stamp_grown)" 25
	# The MTU: two records fit, the third does not, the packet comes through.
	flow h1:e0 r:e0 carrier=udp size=$((1500 - 28 - 2 - 16))
	all_good
	equal "nHop at the MTU" "$(came '.[0][0].nhop')" 2
	equal "length at the MTU" "$(came '.[0][0].len')" 1514
	equal "too long" "$(count 3 1)" 1
	equal "dropped" "$(sum_stat stamp_bad_len)" 0
	# Not INT: another port, too short to be
	flow h1:e0 r:e0 carrier=plain + fragment=1 carrier=udp + \
		ipopts=2 carrier=udp + carrier=udp nhop=3 records=0 size=4
	equal "packets" "$(came '[.[][]] | length')" 4
	equal "bad checksums" "$(came '[.[][] | select(.sum == "bad")] | length')" 0
	equal "nHop of what is not plain" "$(came '.[2][0].nhop')" 0
	# Too short for the records that it claims, which are all of them
	flow h1:e0 r:e0 carrier=udp records=0 size=4 nhop=5 + nhop=14 + nhop=5 version=6
	equal "pathIDs of what is too short" "$(came '[.[][].path] | tojson')" '[0,0,0]'
	equal "nHop of what is too short" "$(came '[.[][].nhop] | tojson')" '[5,14,5]'
	unload
}

# An answer to a client that drew our port from those that Linux gives out. It has a
# checksum, unlike RoCEv2, and stays as it is.
test_udp_not_ours() {
	three_hops
	flow h1:e0 r:e0 carrier=udp sum=ok + version=6 + nhop=2 + nhop=5 + \
		nhop=15 records=5 + sum=partial + sum=partial version=6 nhop=5
	all_good
	equal "packets" "$(came '[.[][]] | length')" 7
	equal "nHop" "$(came '[.[][0].nhop] | tojson')" '[0,0,2,5,15,0,5]'
	equal "lengths of frames" "$(came '[.[][0] | .len] | tojson')" \
		'[144,164,160,184,184,144,204]'
	equal "longer" "$(stat sw3 r0 stamp_grown)" 0
	equal "without room" "$(count 3 0)" 0
	unload
}

# One in four, the same four at all hops.
test_every() {
	three_hops 4
	flow h1:e0 r:e0 count=200
	all_good
	equal "nHop" "$(came '[.[0][].nhop] | unique | tojson')" '[0,3]'
	at_least "stamped of 200" "$(came '[.[0][] | select(.nhop > 0)] | length')" 30
	at_most "stamped of 200" "$(came '[.[0][] | select(.nhop > 0)] | length')" 70
	equal "paths" "$(came '[.[0][] | select(.nhop > 0) | .path] | unique |
		length')" 1
	flow h1:e0 r:e0 ts=1 count=200
	equal "nHop behind timestamps" "$(came '[.[0][].nhop] | unique | tojson')" \
		'[0,3]'
	# What an earlier hop has begun is gone on with.
	flow h1:e0 r:e0 count=50 nhop=1
	equal "nHop of those begun" "$(came '[.[0][].nhop] | unique | tojson')" '[4]'
	unload
}

# ---- programs that do what they should not ----

# odd PROGRAM COUNTER: packets that come of 10, and what is counted
odd() {
	local drops
	pinned sw r0 "odd/$1" || fail "tc refuses $1"
	drops=$(stat sw r0 drops)
	odd_before=$(stat sw r0 "$2")
	odd_bytes=$(stat sw r0 bytes)
	flow h1:e0 r:e0 carrier=plain tos=4 count=10 size=1000 wait=0.5
	odd_came=$(came '.[0] | length')
	odd_counted=$(($(stat sw r0 "$2") - odd_before))
	odd_dropped=$(($(stat sw r0 drops) - drops))
	all_idle
}

test_odd_programs() {
	local name
	one_switch
	load_odd
	for name in drop:drops redirect:redirects stolen:redirects \
		    grow_long:bad_len; do
		odd "odd_${name%:*}" "stamp_${name#*:}"
		equal "$name: came" "$odd_came" 0
		equal "$name: counted" "$odd_counted" 10
		equal "$name: dropped" "$odd_dropped" 10
		# Not sent, not counted as sent (a HELLO may have been)
		at_most "$name: bytes" $(($(stat sw r0 bytes) - odd_bytes)) 3000
	done
	for name in grow:grown shrink:shrunk verdict:unknown queue:unknown \
		    clone:unknown silent:untagged; do
		odd "odd_${name%:*}" "stamp_${name#*:}"
		equal "$name: came" "$odd_came" 10
		equal "$name: counted" "$odd_counted" 10
		equal "$name: dropped" "$odd_dropped" 0
		case $name in
		grow:*)	equal "grown" "$(came '.[0][0].len')" 1052 ;;
		shrink:*) equal "shrunk" "$(came '.[0][0].len')" 1032 ;;
		esac
	done
	# The shaper is not paid by what is dropped, and nothing gets stuck.
	tc -n sw qdisc change dev r0 root bfc rate 1mbit
	odd odd_drop stamp_drops
	equal "dropped with a shaper" "$odd_counted" 10
	tc -n sw qdisc change dev r0 root bfc stamp native rate link
	flow h1:e0 r:e0 carrier=plain tos=4 count=10
	equal "came natively" "$(came '.[0] | length')" 10
	unload
}

# refused TEXT COMMAND...: with a message that has TEXT
refused() {
	local text=$1
	shift
	if "$@" >"$scratch/out" 2>&1; then
		fail "not refused: $*"
	else
		check "$*: $(tail -n 1 "$scratch/out")" \
			grep -q "$text" "$scratch/out"
	fi
}

test_refused() {
	local before
	one_switch
	load_odd
	load a 1
	refused "not a program of type SCHED_CLS" pinned sw r0 odd/odd_xdp
	refused "not a program of type SCHED_CLS" pinned sw r0 odd-maps/odd_facts_map
	refused "cannot get the program" pinned sw r0 nothing
	equal "stamp" "$(stat sw r0 options.stamp)" native
	before=$(stat sw p1 kind)
	refused "not a program" tc -n sw qdisc replace dev p1 root bfc \
		stamp pinned "$pins/odd/odd_xdp"
	equal "p1 is as it was" "$(stat sw p1 kind)" "$before"
	pinned sw r0 a/prog || fail "tc refuses the program"
	refused "not a program" pinned sw r0 odd/odd_xdp
	refused "queues cannot change" tc -n sw qdisc change dev r0 root bfc \
		queues 5 stamp pinned "$pins/odd/odd_drop"
	equal "stays" "$(stat sw r0 options.stamp_name)" bfc_stamp
	equal "id" "$(stat sw r0 options.stamp_id)" \
		"$(bpftool -j prog show pinned "$pins/a/prog" | jq .id)"
	equal "tag" "$(stat sw r0 options.stamp_tag)" \
		"$(bpftool -j prog show pinned "$pins/a/prog" | jq -r .tag)"
	# Another option leaves it alone; a program lives as long as a port has it.
	tc -n sw qdisc change dev r0 root bfc hrtt 5ms
	equal "stays" "$(stat sw r0 options.stamp_name)" bfc_stamp
	unload
	equal "programs" "$(programs)" 1
	tc -n sw qdisc change dev r0 root bfc stamp native
	check "the program stays" wait_for 10 no_programs
	equal "stamp" "$(stat sw r0 options.stamp)" native
}

# ---- under traffic ----

test_swap() {
	local i receiver
	one_switch rate 10mbit
	load a 1
	load b 2
	receive r 5000 -t 30 -i 2
	receiver=$bg
	send h1 10.0.0.100 5000 -f 4 -t 4 -s 400 -r 4000000
	for i in 1 2 3 4 5 6 7 8; do
		sleep 0.2
		pinned sw r0 a/prog || fail "tc refuses a"
		sleep 0.1
		pinned sw r0 b/prog || fail "tc refuses b"
		tc -n sw qdisc change dev r0 root bfc stamp native
	done
	finish "$bg" "$receiver"
	equal "lost" "$(received r 5000 .lost)" 0
	equal "reordered" "$(received r 5000 .reordered)" 0
	at_least "runs" "$(stat sw r0 stamp_runs)" 100
	equal "untagged" "$(stat sw r0 stamp_untagged)" 0
	all_idle
	unload
	check "a program stays" wait_for 10 no_programs
}

# The verifier gives up after a million; in an emulated machine half of that takes 20 s.
test_steps() {
	local steps
	load a 1
	steps=$("$top/selftests/tools/bpfsteps.py" "$pins/a/prog")
	at_least "instructions that the verifier has looked at" "$steps" 500
	at_most "instructions that the verifier has looked at" "$steps" 100000
	say "$steps instructions"
	unload
}

test_device_goes() {
	one_switch rate 10mbit
	load a 1
	pinned sw r0 a/prog || fail "tc refuses the program"
	unload
	send h1 10.0.0.100 5000 -f 4 -t 2 -s 1000
	sleep 0.5
	equal "programs" "$(programs)" 1
	ip -n sw link del r0
	check "the program outlives its port" wait_for 10 no_programs
	finish "$bg"
	# Another qdisc in its place
	cable sw r0 r e0
	load a 1
	bfc sw r0 stamp pinned "$pins/a/prog"
	unload
	tc -n sw qdisc replace dev r0 root pfifo
	check "the program outlives its qdisc" wait_for 10 no_programs
}

# Other queues take another qdisc, which is to stamp as the one before; but not if it says
# otherwise, nor after a qdisc of another kind.
test_replaced() {
	local again=(tc -n sw qdisc replace dev r0 root)
	one_switch queues 8
	load a 1
	pinned sw r0 a/prog || fail "tc refuses the program"
	check "replace" "${again[@]}" handle 7: bfc queues 16 2>"$scratch/err"
	equal "queues" "$(stat sw r0 options.queues)" 16
	equal "program" "$(stat sw r0 options.stamp_name)" bfc_stamp
	check "said: $(cat "$scratch/err")" grep -q \
		'Warning: bfc: stamp: goes on with the program of the qdisc before' \
		"$scratch/err"
	peers_up
	flow h1:e0 r:e0 carrier=plain count=20
	at_least "runs" "$(stat sw r0 stamp_runs)" 20
	refused "cannot get the program" "${again[@]}" handle 8: bfc stamp pinned \
		"$pins/nothing"
	equal "after a failure" "$(stat sw r0 options.stamp_name)" bfc_stamp
	check "replace" "${again[@]}" handle 9: bfc stamp native 2>"$scratch/err"
	equal "stamp" "$(stat sw r0 options.stamp)" native
	equal "warnings" "$(grep -c stamp "$scratch/err")" 0
	pinned sw r0 a/prog || fail "tc refuses the program"
	unload
	"${again[@]}" pfifo
	"${again[@]}" bfc 2>/dev/null
	equal "stamp" "$(stat sw r0 options.stamp)" native
	check "a program stays" wait_for 10 no_programs
}

# What tc shows can be given back: by its number a program that is pinned yet, and no other.
test_given_back() {
	local shown
	one_switch queues 8
	load a 1
	pinned sw r0 a/prog || fail "tc refuses the program"
	shown=$(tc -n sw qdisc show dev r0 | sed 's/.* refcnt [0-9]* //')
	check "shown: $shown" grep -q 'stamp pinned id [0-9]* name bfc_stamp tag [0-9a-f]* $' \
		<<<"$shown"
	tc -n sw qdisc del dev r0 root
	# shellcheck disable=SC2086
	check "given back: $shown" tc -n sw qdisc add dev r0 root bfc $shown
	equal "shown again" "$(tc -n sw qdisc show dev r0 | sed 's/.* refcnt [0-9]* //')" "$shown"
	# shellcheck disable=SC2086
	refused "another one now" tc -n sw qdisc change dev r0 root bfc ${shown% tag *} tag 0123456789abcdef
	unload
	tc -n sw qdisc del dev r0 root
	check "the program stays" wait_for 10 no_programs
	# shellcheck disable=SC2086
	refused "there is no program [0-9]* any more" tc -n sw qdisc add dev r0 root bfc $shown
}

sent=()
run_tests same_tags facts values path tcp tcp_usual tcp_not_ours strip strip_all strip_fragments \
	offload segment_lists udp udp_not_ours every odd_programs refused swap steps device_goes replaced \
	given_back -- values_of_tx_queues
