#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# In-band telemetry in TCP options, end to end: switches stamp by eBPF, hosts leave
# room for it, echo it and read it.
#
# The switches are those of selftests/int.sh.

# shellcheck source=selftests/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"
# shellcheck source=selftests/int.sh
. "$top/selftests/int.sh"

peer=10.0.0.100		# r, as h1 calls it
declare -A groups=()	# of namespaces whose sockets have another one

# in_group NS COMMAND...: with sockets that take part
in_group() {
	local ns=$1
	shift
	# shellcheck disable=SC2016
	bash -c 'echo $$ >"$0/cgroup.procs" && exec "$@"' \
		"${groups[$ns]:-$group}" ip netns exec "$ns" "$@"
}

# outside NS COMMAND...: with sockets that do not
outside() { ip netns exec "$@"; }

# make_data BYTES: what is sent
make_data() {
	size=$1
	head -c "$size" /dev/urandom >"$scratch/sent"
}

# server in_group|outside: what it gets is in $scratch/got, what it says in
# $scratch/answer; pid in $server
server() {
	[ -e "$scratch/answer" ] || : >"$scratch/answer"
	"$1" r busybox nc -l -p 5001 <"$scratch/answer" >"$scratch/got" &
	server=$!
	pids+=("$server")
	check "no TCP receiver" wait_for 5 tcp_listens r 5001
}

# client in_group|outside: sends all data, and holds the connection until
# $scratch/end is there; pid in $client
client() {
	rm -f "$scratch/end"
	"$1" h1 bash -c "exec 3<>/dev/tcp/$peer/5001 || exit
		cat <&3 >$scratch/got_back &
		cat $scratch/sent >&3
		until [ -e $scratch/end ]; do sleep 0.1; done
		kill \$! 2>/dev/null" &
	client=$!
	pids+=("$client")
}

all_here() { [ "$(wc -c <"$scratch/got")" -ge "$size" ]; }

# transfer in_group|outside in_group|outside: from client to server, and wait
transfer() {
	server "$2"
	client "$1"
	check "not all data came: $(wc -c <"$scratch/got")" \
		wait_for 60 all_here
	# the last ACK
	sleep 0.3
}

# hang_up: it was what had been sent
hang_up() {
	touch "$scratch/end"
	finish "$client" "$server"
	check "other data came" cmp "$scratch/sent" "$scratch/got"
	rm -f "$scratch/answer"
}

# flow NS JQ: of the connection's direction h1 -> r, as NS sees it
flow() {
	bfcctl -n "$1" -j int show e0 |
		jq -r "[.[] | select(.dport == 5001)][0] | $2"
}

flows() { bfcctl -n "$1" -j int show | jq length; }

# both: do both ends take part?
both() {
	local ns n
	for ns in h1 r; do
		n=$(flows "$ns")
		echo -n "$((n > 0))"
	done
}

# hop_counts I NS PORT: the last record's count of bytes against the qdisc's own
hop_counts() {
	local i=$1 ns=$2 port=$3 said bytes after
	said=$(flow h1 ".hops[$i].tx_bytes")
	bytes=$(stat "$ns" "$port" bytes)
	# Modulo 128 MB; since then that packet itself and some HELLOs have gone.
	after=$(((bytes - said + 134217728) % 134217728))
	at_least "hop $((i + 1)): bytes of the qdisc after those of the record" \
		"$after" 100
	at_most "hop $((i + 1)): bytes of the qdisc after those of the record" \
		"$after" "$(simulated && echo 16000 || echo 64000)"
}

# view HOST: the newest record, as far as both ends must agree
view() { flow "$1" '"\(.path_id) \(.hops[2].tx_bytes)"'; }
same_view() { [ "$(view h1)" = "$(view r)" ]; }

test_three_hops() {
	local i
	topology 3
	# A label is no other device.
	ip -n h1 addr del 10.0.0.1/24 dev e0
	ip -n h1 addr add 10.0.0.1/24 dev e0 label e0:one
	# Where there are several TX queues the connection takes one of them.
	send h1 "$peer" 6000 -f 20 -n 3
	finish "$bg"
	make_data 600000
	transfer in_group in_group
	equal "hops" "$(flow h1 '"\(.nhop) \(.hops | length)"')" "3 3"
	# The last ACK may have been delayed. On a busy emulated machine records are 8.4 ms
	# apart now and then, and the last one may look older than that before it: then
	# hop_counts has to do.
	wait_for 5 same_view || ! simulated ||
		equal "sender's view" "$(view h1)" "$(view r)"
	equal "sender's path" "$(flow h1 .path_id)" "$(flow r .path_id)"
	equal "sender's side" "$(flow h1 .side)" sender
	equal "receiver's view" "$(flow r .side)" receiver
	equal "speeds" "$(flow h1 '[.hops[].speed] | @text')" \
		'[100000000,100000000,10000000]'
	for i in 0 1 2; do
		# shellcheck disable=SC2086
		hop_counts "$i" ${hops[i]}
	done
	# One clock; serialization at 100 Mbit/s and 100 us are between two hops.
	at_least "ns from hop 1 to hop 2" \
		"$(flow h1 '(.hops[1].ts - .hops[0].ts + 16777216) % 16777216')" \
		100000
	# As many as there are ACKs: fewer where GRO makes much of each
	at_least "records" "$(flow h1 .records)" 50
	equal "records without room" "$(flow h1 .overflows)" 0
	equal "sent again" "$(snmp h1 Tcp RetransSegs)" 0
	hang_up
	all_idle
	clean_group
}

# All that hops tell is of the port, whichever of its TX queues a packet takes.
test_three_hops_of_tx_queues() {
	local tx_queues=4
	test_three_hops
}

# While it flows: rates and queues are those of the ports.
test_congested() {
	local peak bytes=3000000
	# An emulated machine takes 0.2 s for a jq, and has a dozen of them here.
	simulated || bytes=8000000
	topology 3
	make_data $bytes
	server in_group
	client in_group
	sleep 1
	flow h1 . >"$scratch/flow.json"
	at_least "rate of the last hop" \
		"$(jq '.hops[2].rate' "$scratch/flow.json")" 9500000
	at_most "rate of the last hop" \
		"$(jq '.hops[2].rate' "$scratch/flow.json")" 10100000
	at_least "utilization" \
		"$(jq '.hops[2].utilization' "$scratch/flow.json")" 0.95
	at_least "queue of the last hop" \
		"$(jq '.hops[2].qlen' "$scratch/flow.json")" 1500
	peak=$(stat sw3 r0 backlog_peak)
	at_most "queue of the last hop" \
		"$(jq '.hops[2].qlen' "$scratch/flow.json")" "$peak"
	say "qlen $(jq '.hops[2].qlen' "$scratch/flow.json")" \
		"rate $(jq '.hops[2].rate' "$scratch/flow.json")"
	bfcctl -n sw3 -j watch r0 interval 200ms count 2 | tail -n 1 \
		>"$scratch/watch.json"
	equal "ports watched" "$(jq -r '[.ports[].dev] | @text' \
		"$scratch/watch.json")" '["r0"]'
	at_least "rate watched" "$(jq '.ports[0].rate' "$scratch/watch.json")" \
		9000000
	check "not all data came" wait_for 20 all_here
	hang_up
	clean_group
}

test_overflow() {
	topology 4
	make_data 100000
	echo thanks >"$scratch/answer"
	transfer in_group in_group
	equal "hops, and those told of" \
		"$(flow h1 '"\(.nhop) \(.hops | length)"')" "4 3"
	at_least "records with too many hops" "$(flow h1 .overflows)" 20
	equal "of the other direction" "$(bfcctl -n h1 -j int show e0 |
		jq '.[] | select(.side == "receiver") | .overflows')" 0
	check "text does not tell" grep -q "no room" \
		<(bfcctl -n h1 int show e0)
	hang_up
	# Without timestamps there is room for one more.
	in_ns h1 sysctl -qw net.ipv4.tcp_timestamps=0
	transfer in_group in_group
	equal "hops without timestamps, and those told of" \
		"$(flow h1 '"\(.nhop) \(.hops | length)"')" "4 4"
	equal "records with too many hops" "$(flow h1 .overflows)" 0
	hang_up
	clean_group
}

# Who does not take part is left alone.
test_peer_without() {
	topology 3
	make_data 100000
	transfer in_group outside
	equal "flows of the client" "$(flows h1)" 0
	hang_up
	transfer outside in_group
	equal "flows of the server" "$(flows r)" 0
	hang_up
	# A SYN cookie remembers nothing.
	check "no SYN cookies" in_ns r sysctl -qw net.ipv4.tcp_syncookies=2
	transfer in_group in_group
	equal "flows with SYN cookies" "$(flows h1) $(flows r)" "0 0"
	hang_up
	clean_group
}

test_hop_without() {
	topology 3
	ctl -n sw2 stamp detach x2
	make_data 100000
	transfer in_group in_group
	equal "hops" "$(flow h1 .nhop)" 2
	hang_up
	# A bridge that knows nothing of all this
	tc -n sw2 qdisc del dev x2 root
	tc -n sw2 qdisc del dev y1 root
	transfer in_group in_group
	equal "hops past a plain bridge" "$(flow h1 .nhop)" 2
	hang_up
	# No switch stamps: the connection knows that INT could come.
	ctl -n sw1 stamp detach x1
	ctl -n sw3 stamp detach r0
	transfer in_group in_group
	equal "records without hops" "$(flow h1 '"\(.nhop) \(.records)"')" "0 1"
	hang_up
	clean_group
}

# SYN-ACKs are sent again with the option.
test_syn_ack_lost() {
	topology 3
	make_data 20000
	ip -n r link set dev e0 type wire drop 88a8 next 1
	transfer in_group in_group
	at_least "SYN-ACKs sent again" "$(snmp r TcpExt TCPSynRetrans)" 1
	equal "hops" "$(flow h1 .nhop)" 3
	hang_up
	clean_group
}

# The option is for private addresses, or for those that are named.
test_scope() {
	local prefix
	topology 1
	ip -n h1 addr add 203.0.113.1/24 dev e0
	ip -n r addr add 203.0.113.100/24 dev e0
	make_data 50000
	peer=203.0.113.100
	transfer in_group in_group
	equal "flows to a public address" "$(both)" 00
	hang_up
	# One end asks, and is not answered.
	groups[h1]=$group.h1
	mkdir -p "${groups[h1]}"
	ctl int attach --cgroup "${groups[h1]}" to any
	transfer in_group in_group
	equal "flows from a public address" "$(both)" 00
	hang_up
	ctl int attach --cgroup "$group" to 2001:db8::/32 to 203.0.113.1/31
	transfer in_group in_group
	equal "flows of named addresses" "$(both)" 11
	hang_up
	peer=10.0.0.100
	transfer in_group in_group
	equal "flows of others" "$(both)" 00
	hang_up
	ctl int detach --cgroup "${groups[h1]}"
	check "the cgroup is in use" rmdir "${groups[h1]}"
	groups=()
	for prefix in 10.0.0.0/33 fd00::/129 10.0.0/8 10.0.0.0/ /8; do
		! bfcctl int attach --cgroup "$group" to "$prefix" \
			2>"$scratch/err" || fail "to $prefix is taken"
		check "message about $prefix: $(cat "$scratch/err")" \
			grep -q '"to"' "$scratch/err"
	done
	clean_group
}

# drop_option NS FLAGS: a box before NS that drops segments with these flags and 24
# bytes of options, 4 of them INT's; without it they are 20
drop_option() {
	tc -n "$1" qdisc add dev e0 clsact 2>/dev/null
	tc -n "$1" filter add dev e0 ingress prio 1 protocol all u32 \
		match u8 0xb0 0xf0 at 32 match u8 "$2" 0x3f at 33 action drop ||
		fail "no filter"
}

syns() { snmp h1 TcpExt TCPSynRetrans; }

# Boxes that drop SYNs with options that they do not know: the next SYN has none, and
# for some time those of other connections.
test_syn_dropped() {
	local again
	topology 1
	make_data 20000
	transfer in_group in_group
	equal "flows" "$(both)" 11
	hang_up
	drop_option r 0x02
	transfer in_group in_group
	equal "flows past the box" "$(both)" 00
	equal "SYNs sent again" "$(syns)" 1
	hang_up
	transfer in_group in_group
	equal "SYNs sent again for another connection" "$(syns)" 1
	hang_up
	tc -n r filter del dev e0 ingress
	sleep 10
	transfer in_group in_group
	equal "flows without the box" "$(both)" 11
	equal "SYNs sent again without the box" "$(syns)" 1
	hang_up
	# SYN-ACKs are sent again with it once, since losses happen.
	drop_option h1 0x12
	transfer in_group in_group
	equal "flows past a box on the way back" "$(both)" 00
	hang_up
	again=$(syns)
	transfer in_group in_group
	equal "SYNs sent again for one more connection" "$(syns)" "$again"
	hang_up
	clean_group
}

# The same addresses in other namespaces are others' peers, whose boxes say nothing of these.
test_syn_dropped_elsewhere() {
	topology 1
	host g1 10.0.0.1/24
	host g2 10.0.0.100/24
	cable g1 e0 g2 e0
	meet 10.0.0.100 g1
	drop_option g2 0x02
	in_group g2 busybox nc -l -p 5001 </dev/null >"$scratch/got" &
	pids+=("$!")
	check "no TCP receiver" wait_for 5 tcp_listens g2 5001
	in_group g1 bash -c "echo hello >/dev/tcp/10.0.0.100/5001"
	check "no data past the box" wait_for 5 grep -q hello "$scratch/got"
	equal "SYNs sent again past the box" "$(snmp g1 TcpExt TCPSynRetrans)" 1
	make_data 20000
	transfer in_group in_group
	equal "flows of the same addresses" "$(both)" 11
	hang_up
	clean_group
}

# echoes_of_h1: the newest frame with an echo that has come to h1, as hex digits from its IP header
# on, each time that a line is read
echoes_of_h1='
import select, socket, sys
sock = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
sock.bind(("e0", 0))
newest = b""
print("ready", flush=True)
while True:
	for ready in select.select([sock, sys.stdin], [], [])[0]:
		if ready is sys.stdin:
			if not sys.stdin.readline():
				sys.exit()
			print(newest.hex(), flush=True)
			continue
		frame = sock.recv(2000)
		at = 18 if frame[12:14] == b"\x88\xa8" else 14
		ip = frame[at:]
		if ip[:1] == b"\x45" and ip[9] == 6 and b"\xfe\x0c\xbf\xc1" in ip[40:]:
			newest = ip[:int.from_bytes(ip[2:4], "big")]
'

# forged ECHO MAC SHIFT: m sends it, of another path, with so much added to its ACK
forged() {
	in_ns m python3 -c 'import socket, struct, sys
def checksum(data):
	total = sum(struct.unpack(f"!{len(data) // 2}H", data))
	while total >> 16:
		total = (total & 0xffff) + (total >> 16)
	return struct.pack("!H", ~total & 0xffff)
ip = bytearray.fromhex(sys.argv[1])
tcp = ip[20:]
ack = int.from_bytes(tcp[8:12], "big") + int(sys.argv[3])
tcp[8:12] = struct.pack("!I", ack & 0xffffffff)
at = tcp.index(b"\xfe\x0c\xbf\xc1", 20)
tcp[at + 11] ^= 3 if tcp[at + 11] & 15 != 3 else 1	# of the id that a hop has
tcp[16:18] = bytes(2)
pseudo = ip[12:20] + struct.pack("!BBH", 0, 6, len(tcp))
tcp[16:18] = checksum(pseudo + tcp + bytes(len(tcp) % 2))
sock = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
sock.bind(("e0", 0))
mac = bytes.fromhex(sys.argv[2].replace(":", ""))
sock.send(mac + sock.getsockname()[4] + b"\x08\0" + ip[:20] + tcp)' "$@"
	sleep 0.3
}

# A third host that knows all of a connection but what it acknowledges is not believed.
test_forged_echo() {
	local records mac frame
	topology 1
	host m 10.0.0.66/24
	cable sw1 pm m e0
	mac=$(mac h1 e0)
	coproc SEEN { in_ns h1 python3 -c "$echoes_of_h1"; }
	# shellcheck disable=SC2153
	pids+=("$SEEN_PID")
	read -r -t 30 _ <&"${SEEN[0]}"
	make_data 50000
	transfer in_group in_group
	echo >&"${SEEN[1]}"
	read -r -t 10 frame <&"${SEEN[0]}"
	records=$(flow h1 .records)
	at_least "records" "$records" 5
	forged "$frame" "$mac" 1000000
	equal "records, and one with an ACK of what was not sent" "$(flow h1 .records)" "$records"
	forged "$frame" "$mac" -2000000000
	equal "records, and one with an ACK of long ago" "$(flow h1 .records)" "$records"
	# The frame is right otherwise.
	forged "$frame" "$mac" 0
	equal "records, and one with the right ACK" "$(flow h1 .records)" $((records + 1))
	hang_up
	clean_group
}

# call ADDRESS [TIMEOUT]: of h1, from port 50000; held until ring_off, by a reset, which leaves the
# port free. If it fails, that is no error.
call() {
	rm -f "$scratch/up" "$scratch/end"
	in_group h1 python3 -c "import os, socket, struct, time
s = socket.socket()
s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack('ii', 1, 0))
s.bind(('', 50000))
s.settimeout(${2-20})
try:
	s.connect(('$1', 5001))
	s.sendall(bytes(5000))
	open('$scratch/up', 'w')
	while not os.path.exists('$scratch/end'):
		time.sleep(0.05)
except socket.timeout:
	pass" &
	caller=$!
	pids+=("$caller")
}

ring_off() {
	touch "$scratch/end"
	finish "$caller"
}

# calls ADDRESS WHAT: both ends take part in this connection
calls() {
	call "$1"
	check "no connection $2" wait_for 20 [ -e "$scratch/up" ]
	equal "flows $2" "$(both)" 11
	ring_off
	# A SYN-ACK that is sent again would be so late.
	sleep 0.6
}

# answer COUNT: r takes so many connections, one after the other; pid in $answering
answer() {
	in_group r python3 -c "import socket
s = socket.create_server(('', 5001))
for _ in range($1):
	with s.accept()[0] as c:
		try:
			while c.recv(65536):
				pass
		except ConnectionResetError:
			pass" &
	answering=$!
	pids+=("$answering")
	check "no TCP receiver" wait_for 5 tcp_listens r 5001
}

# A new connection's SYN-ACK is not that of one before it, sent again.
test_same_port() {
	local i
	topology 1
	answer 4
	for i in 1 2 3 4; do
		calls 10.0.0.100 "of connection $i"
	done
	finish "$answering"
	clean_group
}

# Nor is that of another address.
test_other_address() {
	topology 1
	ip -n r addr add 10.0.0.101/24 dev e0
	tc -n h1 qdisc add dev e0 clsact
	check "filter" tc -n h1 filter add dev e0 ingress prio 1 protocol all u32 \
		match ip src 10.0.0.100 match u8 0x12 0x3f at 33 action drop
	answer 1
	call 10.0.0.100 6
	finish "$caller"
	check "a connection without SYN-ACKs" [ ! -e "$scratch/up" ]
	at_least "SYN-ACKs sent again" "$(snmp r TcpExt TCPSynRetrans)" 2
	calls 10.0.0.101 "to another address"
	finish "$answering"
	clean_group
}

# syn_options ADDRESS: that the SYN of a connection of h1 to r has, as r's listener got it
syn_options() {
	outside r python3 -c "import socket
s = socket.socket()
s.setsockopt(socket.IPPROTO_TCP, 27, 1)		# TCP_SAVE_SYN
s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
s.bind(('', 5001))
s.listen()
s.settimeout(20)
print(s.accept()[0].getsockopt(socket.IPPROTO_TCP, 28, 200)[40:].hex())" >"$scratch/syn" &
	local listener=$!
	pids+=("$listener")
	check "no TCP receiver" wait_for 5 tcp_listens r 5001
	check "no connection" in_group h1 bash -c "exec 3<>/dev/tcp/$1/5001"
	finish "$listener"
	cat "$scratch/syn"
}

# An application that keeps SYNs with their link header gets them so, and INT as well.
test_saved_syn() {
	topology 1
	make_data 20000
	: >"$scratch/got"
	in_group r python3 -c "import socket
s = socket.socket()
s.setsockopt(socket.IPPROTO_TCP, 27, 2)		# TCP_SAVE_SYN
s.bind(('', 5001))
s.listen()
c = s.accept()[0]
open('$scratch/syn', 'w').write(c.getsockopt(socket.IPPROTO_TCP, 28, 200).hex())
with open('$scratch/got', 'wb', 0) as got:
	while data := c.recv(65536):
		got.write(data)" &
	server=$!
	pids+=("$server")
	check "no TCP receiver" wait_for 5 tcp_listens r 5001
	client in_group
	check "not all data came" wait_for 20 all_here
	equal "flows" "$(both)" 11
	hang_up
	equal "behind the link addresses of the SYN" \
		"$(cut -c 25-30 "$scratch/syn")" 080045
	clean_group
}

# Room that another program has reserved is that program's: in SYNs and SYN-ACKs to peers that INT
# is not for, and in those that are sent again.
test_other_program() {
	local pin=/run/bpf/syn_opt other=fe041234 peer=203.0.113.100
	topology 1
	ip -n h1 addr add 203.0.113.1/24 dev e0
	ip -n r addr add 203.0.113.100/24 dev e0
	check "no program" bpftool prog load "$top/build/tools/syn_opt.bpf.o" "$pin" type sockops
	check "not attached" bpftool cgroup attach "$group" sock_ops pinned "$pin" multi
	has_options "SYN to a peer inside" "$(syn_options 10.0.0.100)" fd04bfc1 "$other"
	has_options "SYN to a peer outside" "$(syn_options "$peer")" - "$other"
	ip -n h1 link set dev e0 type wire drop 88a8 next 1
	has_options "SYN that is sent again" "$(syn_options 10.0.0.100)" - "$other"
	equal "SYNs sent again" "$(syns)" 1
	# r is asked by a peer that it does not answer.
	groups[h1]=$group.h1
	mkdir -p "${groups[h1]}"
	ctl int attach --cgroup "${groups[h1]}" to any
	make_data 20000
	transfer in_group in_group
	equal "flows from outside" "$(both)" 00
	hang_up
	ctl int detach --cgroup "${groups[h1]}"
	check "the cgroup is in use" rmdir "${groups[h1]}"
	groups=()
	check "not detached" bpftool cgroup detach "$group" sock_ops pinned "$pin"
	rm "$pin"
	clean_group
}

# has_options WHAT OPTIONS INT OTHER: INT is - if there is to be none
has_options() {
	local int=
	[[ $2 != *bfc1* ]] || int=fd04bfc1
	equal "$1: INT" "${int:--}" "$3"
	check "$1: no option of the other program: $2" [ "${2#*"$4"}" != "$2" ]
}

test_loss() {
	topology 3
	make_data 400000
	ip -n sw2 link set dev x2 type wire drop 88a8 every 29
	ip -n sw2 link set dev y1 type wire drop 88a8 every 31
	transfer in_group in_group
	at_least "sent again" "$(snmp h1 Tcp RetransSegs)" 5
	at_least "SACKs received" "$(snmp h1 TcpExt TCPSackRecovery)" 1
	equal "hops" "$(flow h1 .nhop)" 3
	at_least "records" "$(flow h1 .records)" 50
	hang_up
	clean_group
}

# What was overtaken tells nothing new.
test_reordering() {
	topology 3
	# sw2 does not stamp, but lets packets pass each other
	ip -n sw2 link set dev x2 type wire rate 5mbit
	let_overtake sw2 x2
	make_data 300000
	transfer in_group in_group
	at_least "segments out of order" "$(snmp r TcpExt TCPOFOQueue)" 5
	equal "hops" "$(flow h1 .nhop)" 2
	at_least "records that were older" "$(flow r .stale)" 5
	say "older records $(flow r .stale)"
	hang_up
	clean_group
}

# Another way through the network has another id.
test_path_change() {
	local before bytes=3000000
	simulated || bytes=8000000
	topology 3
	make_data $bytes
	server in_group
	client in_group
	sleep 0.5
	before=$(flow h1 .path_id)
	cable sw1 z sw2 z rate 100mbit delay 100us ring 8
	ip -n sw1 link set x1 nomaster
	ip -n sw2 link set y1 nomaster
	bfc sw1 z hrtt 4ms
	bfc sw2 z hrtt 4ms
	stamp "sw1 z"
	check "not all data came" wait_for 60 all_here
	sleep 0.3
	equal "hops" "$(flow h1 .nhop)" 3
	check "same path id $before" [ "$(flow h1 .path_id)" != "$before" ]
	hang_up
	hops+=("sw1 z")
	clean_group
}

# Data both ways: segments take turns in taking echoes along.
test_both_ways() {
	topology 3
	stamp "sw1 p1" "sw2 y1" "sw3 y2"
	make_data 400000
	head -c 400000 /dev/urandom >"$scratch/answer"
	transfer in_group in_group
	equal "hops" "$(flow h1 .nhop)" 3
	equal "hops back" "$(bfcctl -n r -j int show e0 |
		jq '.[] | select(.side == "sender") | .nhop')" 3
	at_least "records" "$(flow h1 .records)" 50
	at_least "records back" "$(bfcctl -n r -j int show e0 |
		jq '.[] | select(.side == "sender") | .records')" 50
	check "other data came back" cmp "$scratch/got_back" "$scratch/answer"
	hang_up
	hops+=("sw1 p1" "sw2 y1" "sw3 y2")
	clean_group
}

# exchange: data both ways; no segment is longer than the MTU, echoes and all
exchange() {
	head -c 400000 /dev/urandom >"$scratch/answer"
	make_data 400000
	transfer in_group in_group
	check "not all data came back" wait_for 60 answered
	check "other data came back" cmp "$scratch/got_back" "$scratch/answer"
	at_least "records" "$(flow h1 .records)" 50
	at_least "records back" "$(bfcctl -n r -j int show e0 |
		jq '.[] | select(.side == "sender") | .records')" 50
	equal "segments longer than the MTU" \
		"$(snmp h1 Ip FragFails) $(snmp r Ip FragFails)" "0 0"
}

answered() { [ "$(wc -c <"$scratch/got_back")" -ge 400000 ]; }

# The records that come are longer than those that go.
test_longer_echoes() {
	topology 3
	stamp "sw1 p1" "sw2 y1" "sw3 y2"
	groups[h1]=$group.h1
	mkdir -p "${groups[h1]}"
	ctl int attach --cgroup "${groups[h1]}" hops 1
	exchange
	equal "hops, one for all that lack, and those told of" \
		"$(flow h1 '"\(.nhop) \(.hops | length)"')" "2 1"
	equal "hops told of back" "$(bfcctl -n r -j int show e0 |
		jq -r '.[] | select(.side == "sender") |
			"\(.nhop) \(.hops | length)"')" "3 3"
	equal "sent again" \
		"$(snmp h1 Tcp RetransSegs) $(snmp r Tcp RetransSegs)" "0 0"
	hang_up
	ctl int detach --cgroup "${groups[h1]}"
	check "the cgroup is in use" rmdir "${groups[h1]}"
	groups=()
	hops+=("sw1 p1" "sw2 y1" "sw3 y2")
	clean_group
}

# A cgroup and one in it: sockets run the programs of both, and take part once, as the
# inner one says.
test_nested() {
	local inner=$group/in
	topology 3
	mkdir -p "$inner"
	ctl int attach --cgroup "$inner" hops 2
	groups=([h1]=$inner [r]=$inner)
	make_data 400000
	transfer in_group in_group
	at_least "records" "$(flow h1 .records)" 50
	equal "hops, and those told of" \
		"$(flow h1 '"\(.nhop) \(.hops | length)"')" "3 2"
	hang_up
	# The outer one is that of one end only.
	groups=([h1]=$inner)
	transfer in_group in_group
	at_least "records to the outer one" "$(flow h1 .records)" 50
	hang_up
	ctl int detach --cgroup "$inner"
	transfer in_group in_group
	at_least "records of the outer one" "$(flow h1 .records)" 50
	equal "hops told of" "$(flow h1 '.hops | length')" 3
	hang_up
	check "the cgroup is in use" rmdir "$inner"
	groups=()
	clean_group
}

# listen_on in_group|outside PORT: who reads what comes, and ends with the connection
listen_on() {
	"$1" r busybox nc -l -p "$2" </dev/null >/dev/null 2>&1 &
	pids+=($!)
	check "no TCP receiver" wait_for 5 tcp_listens r "$2"
}

# A socket that is used again begins anew.
test_reconnect() {
	local client
	topology 1
	listen_on in_group 5001
	listen_on outside 5002
	client="import ctypes, os, socket, time
s = socket.socket()
for port in 5001, 5002:
	s.connect(('10.0.0.100', port))
	s.sendall(bytes(50000))
	open(f'$scratch/connected.{port}', 'w')
	while not os.path.exists(f'$scratch/end.{port}'):
		time.sleep(0.05)
	# AF_UNSPEC: disconnected
	ctypes.CDLL(None).connect(s.fileno(), bytes(16), 16)"
	in_group h1 python3 -c "$client" &
	pids+=($!)
	check "no connection" wait_for 20 [ -e "$scratch/connected.5001" ]
	sleep 0.3
	at_least "records" "$(flow h1 .records)" 5
	touch "$scratch/end.5001"
	check "no connection again" wait_for 20 [ -e "$scratch/connected.5002" ]
	equal "flows to a peer without INT" "$(flows h1)" 0
	touch "$scratch/end.5002"
	finish "${pids[-1]}"
	clean_group
}

# SACK has taken the place that the MSS would have left for an echo of one hop.
test_echoes_beside_sack() {
	topology 1
	stamp "sw1 p1"
	ip -n h1 link set dev e0 type wire drop 88a8 every 29
	ip -n r link set dev e0 type wire drop 88a8 every 31
	exchange
	at_least "SACKs received" "$(snmp h1 TcpExt TCPSackRecovery)" 1
	at_least "SACKs received back" "$(snmp r TcpExt TCPSackRecovery)" 1
	hang_up
	hops+=("sw1 p1")
	clean_group
}

# Programs are replaced while packets go through them.
test_swap() {
	local i
	topology 3
	make_data 2000000
	server in_group
	client in_group
	for i in 1 2 3 4 5 6 7 8 9 10; do
		ctl -n sw3 stamp attach r0 node $((i + 100)) every $((i % 3 + 1))
		ctl int attach --cgroup "$group" every $((i % 2 + 1))
		[ $((i % 3)) -gt 0 ] || ctl -n sw3 stamp detach r0
		sleep 0.1
	done
	stamp "sw3 r0"
	ctl int attach --cgroup "$group"
	check "not all data came" wait_for 60 all_here
	sleep 0.3
	equal "sent again" "$(snmp h1 Tcp RetransSegs)" 0
	equal "hops" "$(flow h1 .nhop)" 3
	hang_up
	equal "drops" "$(sum_stat drops)" 0
	clean_group
}

# merging HOP-EVERY SENDER-EVERY: segments that GRO makes one packet of, at r
merging() {
	local segs packets i
	for i in "sw1 x1" "sw2 x2" "sw3 r0"; do
		ctl -n "${i% *}" stamp attach "${i#* }" every "$1"
	done
	ctl int attach --cgroup "$group" every "$2"
	segs=$(snmp r IpExt InNoECTPkts) packets=$(snmp r Ip InReceives)
	transfer "${3-in_group}" in_group
	segs=$(($(snmp r IpExt InNoECTPkts) - segs))
	packets=$(($(snmp r Ip InReceives) - packets))
	records=$(flow h1 .records)
	hang_up
	merged=$(calc "$segs / $packets")
}

# gro_holds "NS PORT": packets wait up to 500 us for others of their flow
gro_holds() {
	# shellcheck disable=SC2016
	in_ns "${1% *}" bash -c 'echo 500000 >/sys/class/net/$0/gro_flush_timeout
		echo 1000 >/sys/class/net/$0/napi_defer_hard_irqs' "${1#* }"
}

# What GRO needs is that segments are alike. Offloads are on at both hosts; GRO
# holds packets for 500 us, for in simulated time they come one by one.
test_offloads() {
	local port
	topology 3
	for port in "sw1 p1" "sw1 x1" "sw2 y1" "sw2 x2" "sw3 y2" "sw3 r0" "h1 e0" \
		    "r e0"; do
		ip -n "${port% *}" link set dev "${port#* }" type wire rate 1gbit \
			delay 10us ring 8
	done
	gro_holds "r e0"
	make_data 6000000
	merging 1 1 outside
	say "without INT $merged"
	at_least "merged without INT" "$merged" 4
	merging 1 1
	say "each segment $merged ($records records)"
	at_most "merged with each segment stamped" "$merged" 2
	merging 16 1
	say "one in 16 at hops $merged ($records records)"
	at_least "merged with one in 16 stamped" "$merged" 3
	at_least "records" "$records" 40
	merging 1 16
	say "one in 16 at the sender $merged ($records records)"
	at_least "merged with one in 16 asked for" "$merged" 3
	for port in "sw1 p1" "sw2 y1" "sw3 y2"; do
		gro_holds "$port"
	done
	merging 1 1
	say "each packet, merged at each hop, $merged ($records records)"
	at_least "merged with each packet stamped" "$merged" 6
	at_least "records" "$records" 100
	clean_group
}

tests=(three_hops three_hops_of_tx_queues congested overflow peer_without hop_without scope
	syn_ack_lost syn_dropped syn_dropped_elsewhere forged_echo same_port other_address
	other_program saved_syn loss reordering path_change both_ways longer_echoes nested reconnect
	echoes_beside_sack swap offloads)
run_tests "${tests[@]}"
