#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# split-gso: which packets of segmentation offload are cut before they are queued.
#
#   h1 --veth--\
#               sw (br0) --x 50 Mbit/s-- r
#   h2 ---------/ /
#   h3 ----------/
#
# A veth leaves h1's TCP segments of up to 64 KB as they are. Such a one takes x 10.5 ms, a
# frame 0.25 ms: h3's datagrams tell which of them they had to wait for.

# shellcheck source=selftests/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"

bytes=2000000

# topology BFC-OPTIONS of x
topology() {
	switch sw
	host r 10.0.0.100/24
	host h1 10.0.0.1/24
	host h2 10.0.0.2/24
	host h3 10.0.0.3/24
	cable sw x r e0 rate 50mbit delay 10us ring 2
	cable sw p2 h2 e0 rate 100mbit delay 10us ring 2
	cable sw p3 h3 e0 rate 100mbit delay 10us ring 2
	ip link add name p1 netns sw type veth peer name e0 netns h1
	plug sw p1
	plug h1 e0
	bfc sw x peer off "$@"
	meet 10.0.0.100 h1 h2 h3
}

# load: h1's TCP begins
load() {
	ip netns exec r busybox nc -l -p 5001 </dev/null >"$scratch/tcp" &
	tcp=$!
	pids+=("$tcp")
	check "no TCP receiver" wait_for 5 tcp_listens r 5001
	background in_ns h1 bash -c \
		"exec head -c $bytes /dev/zero >/dev/tcp/10.0.0.100/5001"
}

# loaded: and has ended
loaded() {
	finish "$tcp"
	equal "TCP bytes" "$(wc -c <"$scratch/tcp")" "$bytes"
}

# probe COUNT: so many small datagrams of h3, 100 a second; $wait is what the worst of
# them took to r, ms
probe() {
	local receiver
	receive r 5009 -n "$1" -t 60
	receiver=$bg
	send h3 10.0.0.100 5009 -n "$1" -s 100 -r 80000
	finish "$bg" "$receiver"
	equal "datagrams" "$(received r 5009 .packets)" "$1"
	wait=$(calc "$(received r 5009 .p99_us) / 1000")
	say "$wait ms"
}

# longest BFC-OPTIONS: how long others wait for h1's TCP
longest() {
	topology "$@"
	load
	sleep 0.05
	probe 20
	loaded
}

# Th is 125 KB, then 6 KB: h1's flow is alone in x.
test_auto_keeps_what_th_holds() {
	longest hrtt 20ms
	between "the longest wait" "$wait" 3 12
}

test_auto_cuts_what_exceeds_th() {
	longest hrtt 1ms
	at_most "the longest wait" "$wait" 1.5
}

test_auto_with_a_threshold() {
	longest hrtt 20ms threshold 6000b
	at_most "the longest wait" "$wait" 1.5
}

test_on_cuts_all() {
	longest hrtt 20ms split-gso on
	at_most "the longest wait" "$wait" 1.5
}

test_off_cuts_none() {
	longest hrtt 1ms split-gso off
	between "the longest wait" "$wait" 3 12
}

# large BYTES: h1 sends 50 datagrams that UDP_SEGMENT has cut, 20 KB of which take x 3.3 ms
large() {
	local sender
	background in_ns h1 python3 -c '
import socket, time
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.setsockopt(socket.IPPROTO_UDP, 103, 1400)
for _ in range(50):
    s.sendto(bytes('"$1"'), ("10.0.0.100", 5003))
    time.sleep(0.01)'
	sender=$bg
	probe 50
	finish "$sender"
}

# Th is 31 KB for a queue that is alone, 6 KB for each of five.
test_auto_shares_th() {
	topology hrtt 5ms
	large 20000
	between "the longest wait, alone" "$wait" 2.5 4
	receive r 5002 -t 60 -i 3
	send h2 10.0.0.100 5002 -f 4 -t 2
	sleep 0.3
	large 20000
	at_most "the longest wait beside four flows" "$wait" 1.5
}

# A datagram of 60 KB takes more of a limit of 64 KB than there is: frames of it fit.
test_auto_with_a_small_limit() {
	topology hrtt 20ms limit 64kb
	large 60000
	at_least "bytes" "$(stat sw x bytes)" 1000000
	at_most "the longest wait" "$wait" 1
}

# More than the port that brings it may hold, MAX: frames of it fit, up to that.
test_auto_with_a_max() {
	topology fc pfc hrtt 20ms
	bfc sw p1 fc pfc hrtt 20us xoff 20kb max 60kb
	large 63000
	at_least "bytes" "$(stat sw x bytes)" 2000000
	at_most "the longest wait" "$wait" 1.5
}

# More than an egress queue may hold: frames of it fit.
test_auto_with_an_egress_max() {
	topology fc capfc-max hrtt 20ms egress-max 60kb
	large 63000
	at_least "bytes" "$(stat sw x bytes)" 2000000
	at_most "the longest wait" "$wait" 1.5
}

# A packet that is not what it claims to be cannot be cut: it is dropped as that. Here it is one of
# TCP, but IP says of another protocol, which has no segments.
test_cannot_be_cut() {
	local split
	topology hrtt 20ms
	for split in on auto; do
		tc -n sw qdisc change dev x root bfc split-gso $split threshold 6000b
		note_cuts
		segments count=5 proto=99
		equal "$split: segments, drop_gso, drops" "$segments $cannot $lost" "0 5 5"
		note_cuts
		segments count=5
		equal "$split: segments of good ones, drop_gso, drops" \
			"$segments $cannot $lost" "50 0 0"
	done
	# Whole ones are not looked into; nor can the device cut them.
	tc -n sw qdisc change dev x root bfc split-gso off
	note_cuts
	segments count=5 proto=99
	equal "off: segments, drop_gso, drops" "$segments $cannot $lost" "0 0 0"
	for counter in drop_limit drop_cap drop_max drop_buffer; do
		equal "$counter" "$(stat sw x $counter)" 0
	done
	all_idle
}

# Segments of a few bytes: their number takes time under the root lock, and memory.
test_tiny_segments() {
	topology hrtt 20ms split-gso on
	note_cuts
	segments count=5 mss=8 size=60000
	equal "segments, drop_gso, drops" "$segments $cannot $lost" "0 5 5"
	note_cuts
	segments count=1 mss=88 size=60000
	equal "segments of the least that TCP may be told, drop_gso, drops" \
		"$segments $cannot $lost" "682 0 0"
	all_idle
}
note_cuts() { cannot=$(stat sw x drop_gso) lost=$(stat sw x drops); }
# segments FIELD=VALUE...: how many come of packets of 10 segments each, which go out of x, and
# what was counted since note_cuts, in $segments, $cannot and $lost
segments() {
	"$top/selftests/tools/intflow.py" sw:x r:e0 sum=gso mss=1000 size=10000 wait=1 "$@" \
		>"$scratch/flow" 2>"$scratch/err" || fail "intflow: $(tail -n 1 "$scratch/err")"
	segments=$(jq '.[0] | length' "$scratch/flow")
	cannot=$(($(stat sw x drop_gso) - cannot))
	lost=$(($(stat sw x drops) - lost))
}

# h1's flow owes 41 quanta for its first datagram, which is not cut. Others' rounds pay for that
# before its second: it goes first, as any that comes back does.
test_debt_is_paid() {
	topology hrtt 20ms threshold 125kb
	receive r 5002 -t 60 -i 3
	send h2 10.0.0.100 5002 -f 4 -t 2
	background in_ns r python3 -c '
import socket, struct, time
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.bind(("10.0.0.100", 5003))
while True:
    p = s.recv(2000)
    if len(p) == 100:
        print(1000 * (time.monotonic() - struct.unpack("d", p[:8])[0]))
        break' >"$scratch/late"
	local receiver=$bg
	check "no receiver" wait_for 5 udp_listens r 5003
	sleep 0.3
	in_ns h1 python3 -c '
import socket, struct, time
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.setsockopt(socket.IPPROTO_UDP, 103, 1400)
s.sendto(bytes(60000), ("10.0.0.100", 5003))
time.sleep(0.3)
s.setsockopt(socket.IPPROTO_UDP, 103, 0)
s.sendto(struct.pack("d", time.monotonic()) + bytes(92), ("10.0.0.100", 5003))'
	finish "$receiver"
	wait=$(cat "$scratch/late")
	say "$wait ms"
	at_most "the wait" "$wait" 3
}

# What is cut and what is not, of one flow: segments stay in order, nothing is left over.
test_change_under_traffic() {
	topology hrtt 20ms
	background bash -c "while sleep 0.02; do
		for o in off on auto 'auto threshold 20kb' 'auto threshold auto'; do
			tc -n sw qdisc change dev x root bfc split-gso \$o
		done
	done"
	load
	loaded
	equal "drops" "$(stat sw x drops)" 0
	equal "segments out of order" "$(snmp r TcpExt TCPOFOQueue)" 0
	all_idle
}

run_tests auto_keeps_what_th_holds auto_cuts_what_exceeds_th auto_with_a_threshold \
	auto_shares_th on_cuts_all off_cuts_none auto_with_a_small_limit \
	auto_with_a_max auto_with_an_egress_max cannot_be_cut tiny_segments \
	debt_is_paid change_under_traffic
