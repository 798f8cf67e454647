#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# wireshark/bfc.lua on what ports really send: it finds as many tags and control frames
# as these have counted, the telemetry that they wrote, and the sizes that they read.
#
#   h1 --p1-\                  /-- r
#            sw1 --x-->--x-- sw2
#   h2 --p2-/                  \-- h3

# shellcheck source=selftests/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"

command -v tshark >/dev/null || skip_all "no tshark: scripts/install-deps guest"

PATH=$top/build/bpf:$PATH
group=/sys/fs/cgroup/dissect

# capture NS DEV: all that comes and goes from now on
capture() {
	rm -f "$scratch/pcap"	# the last test's would look as if tcpdump had begun
	ip netns exec "$1" tcpdump -i "$2" -n -U -Z root -B 16384 -w "$scratch/pcap" \
		2>"$scratch/tcpdump" &
	capturing=$!
	pids+=("$capturing")
	check "tcpdump does not start" wait_for 10 test -s "$scratch/pcap"
}

# captured: no more
captured() {
	sleep 1.5	# frames wait in a buffer for a second at most
	kill -INT "$capturing"
	wait "$capturing" 2>/dev/null
	check "tcpdump lost frames" grep -q '^0 packets dropped by kernel' "$scratch/tcpdump"
}

# dissected FILTER FIELD...: of each frame a line; for "no_complaints", what tshark says of it
dissected() {
	local filter=$1 field fields=()
	shift
	for field; do
		fields+=(-e "$field")
	done
	"$top/selftests/tools/tshark-bfc" -Y "$filter" -T fields "${fields[@]}" \
		<"$scratch/pcap" 2>>"$scratch/tshark" || echo "tshark: exit code $?" >>"$scratch/tshark"
}

# no_complaints: tshark and the script went through to the end each time
no_complaints() { equal "tshark" "$(grep -iE 'lua|tshark:' "$scratch/tshark")" ""; }

# of_both FIELD...: sum of statistics of the port that is captured
of_both() {
	local field sum=0
	for field; do
		((sum += $(stat sw1 x "$field")))
	done
	echo "$sum"
}

# frames_and_tags SECONDS: of traffic
frames_and_tags() {
	# shellcheck disable=SC2119
	two_switches
	bfc sw1 p1 hrtt 4ms
	bfc sw1 p2 hrtt 4ms
	bfc sw2 r0 hrtt 4ms queues 8
	meet 10.0.0.100 h1 h2 h3
	capture sw1 x
	bfc sw1 x hrtt 4ms
	bfc sw2 x hrtt 4ms queues 16
	wait_for 20 peer_up sw1 x || fail "not up"
	wait_for 20 peer_up sw2 x || fail "not up"
	flood "$1" h1 h2 h3	# h3 is on the same switch as r: x is paused
	flood_ends
	wait_for 15 drained sw2 r0
	tc -n sw2 qdisc del dev x root
	# Its goodbye is counted if the port still listens. One of this port's own, which it sends
	# if it has heard none, passes what tcpdump sees.
	wait_for 5 peer_not_up sw1 x || fail "no goodbye"
	# Now it is silent, too.
	tc -n sw1 qdisc change dev x root bfc peer off
	captured
	at_least "pauses" "$(stat sw1 x frames_rx)" 10
	equal "PAUSE frames" "$(dissected 'bfc.type == 2' bfc.seq | wc -l)" \
		"$(of_both frames_rx frames_tx)"
	equal "HELLOs" "$(dissected 'bfc.type == 1' bfc.seq | wc -l)" \
		"$(of_both hello_rx hello_tx)"
	equal "tags" "$(dissected bfc.upstreamq bfc.upstreamq | wc -l)" \
		"$(of_both tagged_rx tagged_tx)"
	equal "queues of the ports" "$(dissected 'bfc.type == 1' bfc.hello.queues | sort -nu | tr '\n' ' ')" \
		"16 32 "
	equal "goodbyes" "$(dissected bfc.hello.bye==1 bfc.hello.queues)" 16
	# What is paused is a queue that packets came from.
	equal "queues that are paused, but that no packet left" \
		"$(comm -13 <(dissected bfc.upstreamq bfc.upstreamq | sort -u) \
			<(dissected 'bfc.pause.npaused > 0' bfc.pause.paused | tr ',' '\n' | sort -u))" ""
	equal "complaints" "$(dissected 'bfc && _ws.expert' frame.number)" ""
	no_complaints
}

test_frames_and_tags() { frames_and_tags 2; }
test_few_frames() { frames_and_tags 0.2; }

# INT of a connection from h1 to r over a link of 10 Mbit/s
test_telemetry() {
	local stamped
	switch sw1
	host h1 10.0.0.1/24
	host r 10.0.0.100/24
	cable sw1 p1 h1 e0 rate 100mbit delay 100us ring 8
	cable sw1 x r e0 rate 10mbit delay 100us ring 8
	bfc sw1 p1 hrtt 4ms
	bfc sw1 x hrtt 4ms
	meet 10.0.0.100 h1
	ctl -n sw1 stamp attach x node 7
	mkdir -p "$group"
	ctl int attach --cgroup "$group"
	head -c 200000 /dev/zero >"$scratch/sent"
	capture sw1 x
	bash -c "echo \$\$ >$group/cgroup.procs
		exec ip netns exec r busybox nc -l -p 5001" >"$scratch/got" &
	pids+=($!)
	check "no TCP receiver" wait_for 5 tcp_listens r 5001
	bash -c "echo \$\$ >$group/cgroup.procs
		exec ip netns exec h1 bash -c 'cat >/dev/tcp/10.0.0.100/5001'" <"$scratch/sent"
	wait_for 20 cmp -s "$scratch/sent" "$scratch/got" || fail "not all data came"
	captured
	end_background
	ctl int detach --cgroup "$group"
	rmdir "$group"
	stamped=$(dissected 'bfc.int.kind == "record" && bfc.int.nhop == 1' frame.number | wc -l)
	at_least "records" "$stamped" 100
	equal "segments with data without a record" \
		"$(dissected 'tcp.dstport == 5001 && tcp.len > 0 && !bfc.int.hop' frame.number)" ""
	equal "speeds" "$(dissected bfc.int.hop bfc.int.speed | sort -u)" 1
	at_least "longest queue" \
		"$(dissected 'bfc.int.kind == "record"' bfc.int.qlen | sort -n | tail -n 1)" 10000
	at_least "echoes" "$(dissected 'bfc.int.kind == "echo" && bfc.int.nhop == 1' frame.number |
		wc -l)" 10
	no_complaints
}

# segments NS DEV MAC OPTIONS...: TCP from there to 10.0.0.100, a byte of data in each; options are
# hexadecimal
segments() {
	ip netns exec "$1" python3 - "${@:2}" <<'END'
import socket, struct, sys

dev, to, *options = sys.argv[1:]
sock = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
sock.bind((dev, 0))
for text in options:
    extra = bytes.fromhex(text)
    extra += bytes(-len(extra) % 4)
    tcp = struct.pack("!HHIIBBHHH", 4000, 5001, 1, 1, (20 + len(extra)) << 2, 0x10, 100, 0, 0)
    ip = struct.pack("!BBHHHBBH4s4s", 0x45, 0, 41 + len(extra), 1, 0, 64, 6, 0,
                     socket.inet_aton("10.0.0.1"), socket.inet_aton("10.0.0.100"))
    total = sum(struct.unpack("!10H", ip))
    total = ~((total & 0xffff) + (total >> 16)) & 0xffff
    sock.send(bytes.fromhex(to.replace(":", "")) + sock.getsockname()[4] + b"\x08\0" +
              ip[:10] + struct.pack("!H", total) + ip[12:] + tcp + extra + b"x")
END
}

# As bfcctl size writes them and udpflow sends them. The port, with sched srf, has read as many
# sizes; what they stand for is of docs/wire-format.md.
test_sizes() {
	local mac_r receiver
	switch sw1
	host h1 10.0.0.1/24
	host r 10.0.0.100/24
	cable sw1 p1 h1 e0
	cable sw1 x r e0
	bfc sw1 x hrtt 4ms sched srf
	meet 10.0.0.100 h1
	mac_r=$(mac r e0)
	capture sw1 x
	receive r 5000 -n 30
	receiver=$bg
	send h1 10.0.0.100 5000 -n 30 -s 1000 -R 5000
	finish "$bg" "$receiver"
	segments h1 e0 "$mac_r" fd06bfc30000 fd06bfc307ff fd06bfc31000 fd06bfc3fffe \
		0101080a0000000100000002fd06bfc31801 0101fd06bfc3000a fd0cbfc10000000000000000fd06bfc3000b \
		fd06bfc3ffff fd06bfc40001 fe06bfc30001 fd05bfc300 00fd06bfc30001 fd08bfc300010000
	check "not all segments" wait_for 10 drained sw1 x
	captured
	# From 4096 on in steps of two, from 8192 on of four, ...
	equal "sizes in UDP" "$(dissected 'bfc.size.carrier == "UDP"' bfc.size.bytes)" \
		"$(awk 'BEGIN { for (i = 0; i < 30; i++) {
			step = 1; v = 5000 + (30 - i) * 1000
			while (v / step >= 4096) step *= 2
			print int(v / step) * step } }')"
	equal "sizes in TCP" "$(dissected 'bfc.size.carrier == "TCP"' bfc.size.bytes | tr '\n' ' ')" \
		"0 2047 4096 4395899027456 8196 10 11  "
	equal "that are none" "$(dissected 'bfc.size.code && !bfc.size.bytes' bfc.size.code)" 0xffff
	equal "packets that told a size" "$(stat sw1 x sized)" \
		"$(dissected bfc.size.bytes frame.number | wc -l)"
	no_complaints
}

# tshark takes long in the simulator.
run_tests few_frames -- frames_and_tags telemetry sizes
