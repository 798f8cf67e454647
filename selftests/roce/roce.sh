#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# RDMA over switches that stamp: soft-RoCE at both ends, unmodified tools, and INT in
# their packets. Started by run.sh; b is another VM.
#
#	rxe0                                                        rxe0
#	a e0 -- p1 sw1 x1 -- y1 sw2 x2 -- y2 sw3 eth0 ======== eth0 b
#
# 100 Mbit/s, sw3's eth0 2 Mbit/s: less than emulated machines make of RDMA. a is this
# VM's first namespace. From a to b, hop 1 is sw1's x1, hop 2 sw2's x2, hop 3 sw3's
# eth0; back it is y2, y1, p1.
#
# One network is for all tests, as making it takes longer than most of them. They leave
# it as it was.

# Functions are called by name.
# shellcheck disable=SC2317

# shellcheck source=selftests/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"
# shellcheck source=selftests/roce/side.sh
. "$top/selftests/roce/side.sh"
# shellcheck source=selftests/two_vms.sh
. "$top/selftests/two_vms.sh"

b_address=10.0.0.2 b_has=$top/selftests/roce/side.sh
PATH=$top/build/bpf:$PATH
after_test=end_background
patience=200	# seconds for a transfer
# There, and back
hops=("sw1 x1" "sw2 x2" "sw3 eth0" "sw3 y2" "sw2 y1" "sw1 p1")

# both_int attach|detach: that counts from 0
both_int() {
	rm -f "$scratch"/*.after
	bfcctl int "$1" e0 || fail "int $1 at a"
	b bfcctl int "$1" eth0 || fail "int $1 at b"
}

network() {
	local i
	[ ${#namespaces[@]} -eq 0 ] || return
	ip netns attach a $$ && namespaces+=(a)
	address[a]="10.0.0.1/24 fd00::1/64"
	switch sw1
	switch sw2
	switch sw3
	cable sw1 p1 a e0 rate 100mbit delay 100us ring 8
	cable sw1 x1 sw2 y1 rate 100mbit delay 100us ring 8
	cable sw2 x2 sw3 y2 rate 100mbit delay 100us ring 8
	ip link set eth0 netns sw3
	plug sw3 eth0
	check "the other VM does not answer" wait_for 400 b true
	bfc a e0 role nic hrtt 4ms
	for i in "sw1 p1" "sw1 x1" "sw2 y1" "sw2 x2" "sw3 y2"; do
		bfc "${i% *}" "${i#* }" hrtt 4ms
	done
	bfc sw3 eth0 hrtt 8ms rate 2mbit
	peers_up
	for i in "${hops[@]}"; do
		bfcctl -n "${i% *}" stamp attach "${i#* }" node "${i:2:1}" ||
			fail "stamp attach at $i"
	done
	rdma link add rxe0 type rxe netdev e0 || fail "no RDMA device"
	both_int attach
}

# ---- what has been counted ----

# look before|after: at both ends, and at the switches, whose ports say how many
# packets have grown
look() {
	local ns
	{
		counters e0
		for ns in sw1 sw2 sw3; do
			tc -n "$ns" -s qdisc show
		done | awk '
			/^qdisc/		{ port = $5 }
			/stamp_grown/		{ sub(/.*stamp_grown /, "")
						  print port ":" $1 }
			/dropped/		{ sub(/.*dropped /, "")
						  drops += $0 }
			END			{ print "drops_on_way:" drops + 0 }'
	} >"$scratch/a.$1"
	b counters eth0 >"$scratch/b.$1"
}

# from_now: what was after is before, if nothing has happened since then
from_now() {
	if [ -e "$scratch/a.after" ]; then
		mv "$scratch/a.after" "$scratch/a.before"
		mv "$scratch/b.after" "$scratch/b.before"
	else
		look before
	fi
}

# new a|b NAME...: until look after; switches' ports belong to a
new() {
	local end=$1
	shift
	awk -F : -v names="$*" '
		NR == FNR	{ before[$1] = $2; next }
				{ new[$1] = $2 - before[$1] }
		END {
			n = split(names, name, " ")
			for (i = 1; i <= n; i++)
				printf "%s%s", name[i] in new ? new[name[i]] : "?",
					i < n ? " " : "\n"
		}' "$scratch/$end.before" "$scratch/$end.after"
}

# What must not happen; the RDMA device counts packets that were missing, came twice or
# had to be sent again.
wrong=(unmarked bad failed no_ports drops completer_retry_err duplicate_request
	out_of_seq_request rcvd_seq_err rcvd_rnr_err send_rnr_err
	retry_exceeded_err retry_rnr_exceeded_err send_err)
none=${wrong[*]/*/0}

# agree PACKETS: at least so many went to b. All had INT, it has been taken off so that
# the ICRC was right, and none was lost.
agree() {
	local p q
	look after
	p=$(new a sent_pkts) q=$(new b sent_pkts)
	at_least "packets to b" "$p" "$1"
	equal "to b: marked, grown thrice" "$(new a marked x1 x2 eth0)" \
		"$p $p $p $p"
	equal "to b: INT taken off, ICRC right, records" \
		"$(new b stripped rcvd_pkts records)" "$p $p $p"
	at_least "packets to a" "$q" 1
	equal "to a: marked" "$(new b marked)" "$q"
	equal "to a: grown thrice, INT taken off, ICRC right, records" \
		"$(new a y2 y1 p1 stripped rcvd_pkts records)" "$q $q $q $q $q $q"
	equal "at a: ${wrong[*]}" "$(new a "${wrong[@]}" drops_on_way)" "$none 0"
	equal "at b: ${wrong[*]}" "$(new b "${wrong[@]}")" "$none"
	say "$p packets and $q"
}

# ---- traffic ----

# serve_b TOOL...: at b, until a client has come
serve_b() { b "serve $*" >/dev/null || fail "no server: $*"; }

# client TOOL...: what both ends say is in $scratch/client and $scratch/server, the
# exit code in $rc
client() {
	timeout "$patience" "$@" >"$scratch/client" 2>&1
	rc=$?
	b served >"$scratch/server"
}

# ended_well: client and server
ended_well() {
	equal "client: $(tail -n 1 "$scratch/client"): exit code" "$rc" 0
	check "server: $(tail -n 2 "$scratch/server" | tr '\n' ' ')" \
		grep -qx "exit code 0" "$scratch/server"
}

# perftest GID TOOL OPTIONS...: from a to b. -u: 8.6 s until a packet is sent again, so
# that none is because a machine is slow
perftest() {
	local gid=$1
	shift
	set -- "$@" -u 21 -d rxe0 -F
	serve_b "$* -x \$(gid $gid)"
	client "$@" -x "$(gid "$gid")" 10.0.0.2
}

# column N: of the client's table
column() {
	awk -v n="$1" '/^ *#bytes/ { getline; print $n }' "$scratch/client"
}

# ---- tests ----

# bytes_each: that b got for one packet of RDMA
bytes_each() { calc "$(new b rx_bytes) / $(new b rcvd_pkts)"; }

test_write_bw() {
	network
	from_now
	perftest 0a00: ib_write_bw -s 65536 -n 10
	ended_well
	agree 640
	with_int=$(bytes_each)
}

# To and fro, over IPv6
test_write_lat() {
	network
	from_now
	perftest fd00: ib_write_lat -s 64 -n 50
	ended_well
	agree 50
	say "median $(column 5) us"
}

# b reads what a has, writes it back, and a compares all bytes.
test_content() {
	network
	from_now
	serve_b rping -s -a 10.0.0.2 -V -C 5 -S 60000
	client rping -c -a 10.0.0.2 -V -C 5 -S 60000
	ended_well
	agree 300
}

mtu() {
	local i
	ip link set e0 mtu "$1"
	for i in 1 2 3; do
		# shellcheck disable=SC2086,SC2059
		printf "link set %s mtu $1\n" ${ports[i]} |
			ip -n "sw$i" -batch -
	done
	b ip link set eth0 mtu "$1" || fail "MTU of the other end"
}
ports=("" "p1 x1" "y1 x2" "y2 eth0")

# 4096 bytes in a packet
test_jumbo() {
	network
	mtu 9000
	from_now
	perftest 0a00: ib_write_bw -s 65536 -n 5
	ended_well
	check "RDMA's MTU" grep -q 'Mtu *: 4096' "$scratch/client"
	agree 80
	mtu 1500
}

# While much is sent: where the queue is, how fast the last hop is. (One record may find
# an empty queue, and two may be too far apart to tell a rate.) RDMA's sender is paused.
test_shown() {
	local pauses qlen rate
	network
	pauses=$(stat a e0 pause_rx)
	from_now
	b 'until [ -e /tmp/enough ]; do
		bfcctl -j int show eth0
		sleep 0.2
	done </dev/null >/tmp/shown 2>&1 &' || fail "cannot watch"
	perftest 0a00: ib_write_bw -s 65536 -n 15
	b touch /tmp/enough
	ended_well
	agree 960
	b cat /tmp/shown | jq -c 'select(length > 0) | min_by(.age) |
		[.nhop, [.hops[].speed / 1000000], .hops[2].qlen, .hops[2].rate]' \
		>"$scratch/shown"
	equal "hops to b, their Mbit/s" "$(jq -c .[:2] "$scratch/shown" | sort -u)" \
		'[3,[100,100,10]]'
	# A record's way to here takes now longer and now shorter: the median rate.
	read -r qlen rate < <(jq -r -s '"\(map(.[2]) | max) " +
		"\(map(.[3] // empty) | sort | .[length / 2 | floor] // 0)"' \
		"$scratch/shown")
	at_least "queue at the last hop" "$qlen" 1000
	at_least "its rate" "$rate" 1000000
	at_most "its rate" "$rate" 2500000
	equal "hops to a, their Mbit/s" "$(bfcctl -j int show e0 | jq -c 'min_by(.age) |
		[.nhop, [.hops[].speed / 1000000]]')" '[3,[100,100,100]]'
	pauses=$(($(stat a e0 pause_rx) - pauses))
	at_least "pauses that a got" "$pauses" 1
	say "qlen $qlen, $rate bit/s, $pauses pauses"
}

# sending PACKETS
sending() {
	[ "$(cat /sys/class/infiniband/rxe0/ports/1/hw_counters/sent_pkts)" -ge \
		$(($(sed -n 's/^sent_pkts://p' "$scratch/a.before") + $1)) ]
}

# From hosts without INT switches leave RoCEv2 as it is. What INT costs are the bytes
# that come: two of the head and eight a hop, of 1086.
test_without() {
	local p
	network
	both_int detach
	from_now
	perftest 0a00: ib_write_bw -s 65536 -n 10
	ended_well
	look after
	p=$(new a sent_pkts)
	at_least "packets" "$p" 640
	equal "ICRC right" "$(new b rcvd_pkts)" "$p"
	equal "grown" "$(new a x1 x2 eth0 y2 y1 p1)" "0 0 0 0 0 0"
	if [ -n "${with_int-}" ]; then
		at_least "bytes a packet, with INT and without" "$with_int" \
			"$(calc "1.01 * $(bytes_each)")"
		say "$with_int bytes a packet with INT, $(bytes_each) without"
	fi
	both_int attach
}

# never: a's packets come to b, and RDMA does not get them. (The client does not give up:
# perftest asks for 7 times, which to soft-RoCE means for ever.)
never() {
	local p
	from_now
	serve_b "ib_write_bw -s 1024 -n 5 -u 21 -d rxe0 -F -x \$(gid 0a00:)"
	background ib_write_bw -s 1024 -n 5 -u 21 -d rxe0 -F -x "$(gid 0a00:)" \
		10.0.0.2 >"$scratch/client" 2>&1
	check "nothing is sent" wait_for "$patience" sending 5
	sleep 2
	check "the client has ended" kill -0 "$bg"
	end_background
	b served >"$scratch/server"
	look after
	p=$(new a sent_pkts)
	equal "to b: marked, grown thrice" "$(new a marked x1 x2 eth0)" \
		"$p $p $p $p"
	equal "ICRC right" "$(new b rcvd_pkts)" 0
}

# If INT is not taken off: no socket takes such packets.
test_not_taken_off() {
	network
	rm -f "$scratch"/*.after
	b bfcctl int detach eth0 || fail "int at b"
	never
	equal "for no port" "$(new b no_ports)" "$(new a sent_pkts)"
	rm -f "$scratch"/*.after
	b bfcctl int attach eth0 || fail "int at b"
}

# Another byte of data, behind where INT is taken off: the ICRC is looked at. (protocol:
# upstreamQ's tag is still there.)
test_icrc() {
	network
	b 'tc filter add dev eth0 ingress pref 2 protocol all u32 \
		match ip protocol 17 0xff match ip dport 4791 0xffff \
		action pedit munge offset 60 u8 invert' || fail "no filter"
	never
	equal "INT taken off" "$(new b stripped)" "$(new a sent_pkts)"
	b tc filter del dev eth0 ingress pref 2 || fail "no filter"
}

test_leaves_nothing() {
	local i
	network
	all_idle
	for i in "${hops[@]}"; do
		bfcctl -n "${i% *}" stamp show "${i#* }" >"$scratch/stamp"
		equal "$i: what went wrong" "$(grep -oE "($went_wrong) [1-9][0-9]*" \
			"$scratch/stamp" | tr '\n' ' ')" ""
		bfcctl -n "${i% *}" stamp detach "${i#* }" ||
			fail "stamp detach at $i"
	done
	both_int detach
	rdma link del rxe0 || fail "the RDMA device is in use"
	equal "left in the bpf file system" "$(ls /sys/fs/bpf)" ""
	equal "left at b" "$(b ls /sys/fs/bpf)" ""
}
went_wrong='dropped|redirects|bad_len|unknown|no_room|too_long|not_plain|failed'

for tool in ib_write_bw ib_write_lat rping rdma bpftool; do
	command -v "$tool" >/dev/null || skip_all "no $tool: scripts/install-deps vm"
done
if ! modprobe rdma_rxe || ! modprobe rdma_ucm; then
	skip_all "no soft-RoCE in this kernel"
fi
run_tests write_bw write_lat content jumbo shown without not_taken_off icrc \
	leaves_nothing
rc=$?
b touch /tmp/end
exit "$rc"
