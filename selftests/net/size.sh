#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# bfcctl size: TCP tells what it has yet to send (bpf/bfc_size.bpf.c), for ports with
# `sched srf`.
#
#   h1 -- p1 -- sw -- r0 -- r
#
# The program reads the kernel's types (BTF), which the simulator's kernel has not.

# shellcheck source=selftests/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"

PATH=$top/build/bpf:$PATH
group=/sys/fs/cgroup/size

# in_group NS COMMAND...: with sockets that tell sizes; in the background only
in_group() {
	local ns=$1
	shift
	# shellcheck disable=SC2016
	exec bash -c 'echo $$ >"$0/cgroup.procs" && exec "$@"' "$group" \
		ip netns exec "$ns" "$@"
}

# sizes NS DEV: of each TCP segment with data that leaves there for port 5001, until the FIN, a
# line: bytes of data in it, what it tells or "none", what follows it until the end of the flow, and
# how many bytes of INT it has room for. The decoder is written from docs/wire-format.md.
sizes() {
	ip netns exec "$1" python3 - "$2" <<'END'
import socket, struct, sys, time
from typing import List, Optional, Tuple

sock = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
sock.bind((sys.argv[1], 0))
sock.settimeout(0.1)
print("ready", flush=True)
end, fin = time.monotonic() + 100, False
seen: List[Tuple[int, int, Optional[int], int]] = []
while time.monotonic() < end and not fin:
    try:
        p, where = sock.recvfrom(70000)
    except socket.timeout:
        continue
    if p[12:14] in (b"\x88\xa8", b"\x81\0"):  # upstreamQ
        p = p[:12] + p[16:]
    if where[2] != socket.PACKET_OUTGOING or p[12:14] != b"\x08\0" or p[23] != 6:
        continue
    tcp = p[14 + (p[14] & 15) * 4:14 + struct.unpack("!H", p[16:18])[0]]
    hlen = (tcp[12] >> 4) * 4
    if tcp[2:4] != struct.pack("!H", 5001):
        continue
    fin = bool(tcp[13] & 1)
    if len(tcp) == hlen:
        continue
    told, room, at = None, 0, 20
    while at < hlen and tcp[at]:
        if tcp[at] == 1:
            at += 1
            continue
        if tcp[at:at + 4] == b"\xfd\x06\xbf\xc3":
            code = struct.unpack("!H", tcp[at + 4:at + 6])[0]
            e, m = code >> 11, code & 2047
            told = (2048 + m) << (e - 1) if e else m
        if tcp[at:at + 1] == b"\xfd" and tcp[at + 2:at + 4] in (b"\xbf\xc1", b"\xbf\xc2"):
            room = tcp[at + 1]
        at += tcp[at + 1]
    seen.append((struct.unpack("!I", tcp[4:8])[0], len(tcp) - hlen, told, room))
last = max(((seq - seen[0][0]) % 2**32 + n for seq, n, _, _ in seen), default=0)
for seq, n, told, room in seen:
    print(n, "none" if told is None else told, last - (seq - seen[0][0]) % 2**32, room)
END
}

start() {
	host h1 10.0.0.1/24
	host r 10.0.0.100/24
	switch sw
	cable sw p1 h1 e0
	cable sw r0 r e0 rate 5mbit delay 100us ring 8
	bfc sw r0 hrtt 4ms sched srf assign similar
	bfc h1 e0 role nic hrtt 4ms sched srf
	ip -n h1 link set e0 gso_max_segs 1
	meet 10.0.0.100 h1
	mkdir -p "$group"
}

ready() { grep -q ready "$1"; }

# transfer NS PORT BYTES: in the background, at once in the socket's buffer
transfer() {
	in_group "$1" python3 -c "import socket, time
s = socket.socket()
s.setsockopt(socket.SOL_SOCKET, 32, $3 * 3)	# SO_SNDBUFFORCE
start = time.monotonic()
s.connect(('10.0.0.100', $2))
s.sendall(b'x' * $3)
s.shutdown(socket.SHUT_WR)
s.recv(1)
print(time.monotonic() - start)" >"$scratch/$1.$2" &
	bg=$!
	pids+=("$bg")
}

# told_by BYTES: what the segments of a transfer of h1 tell, a line each, in the file $told
told_by() {
	local watch
	sizes h1 e0 >"$told" &
	watch=$!
	check "not watching" wait_for 60 ready "$told"
	transfer h1 5001 "$1"
	finish "$bg" "$watch"
	sed -i 1d "$told"
}

# sink PORT [COMMAND]
sink() {
	${2:-ip netns exec} r python3 -c "import socket
l = socket.socket()
l.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
l.bind(('', $1))
l.listen()
while True:
	s = l.accept()[0]
	while s.recv(65536):
		pass
	s.close()" &
	pids+=("$!")
	check "no server" wait_for 60 tcp_listens r "$1"
}

# What is told is what follows, from each segment to the last byte that was written.
test_unsent_bytes() {
	local told=$scratch/told
	start
	ctl size on --cgroup "$group"
	sink 5001
	told_by 100000
	say "$(wc -l <"$told") segments, the first tells $(awk 'NR == 1 { print $2 }' "$told")"
	at_least "segments with data" "$(wc -l <"$told")" 60
	equal "that tell none" "$(grep -c none "$told")" 0
	# TCP begins to send before the application has written all; what it tells then is less.
	equal "that tell more than follows" "$(awk '$2 > $3' "$told" | wc -l)" 0
	equal "of the second half, that tell less, by 1/2048" "$(awk '{ off[NR] = ($3 - $2) * 2048 > $3 }
		END { for (i = NR / 2; i <= NR; i++) n += off[int(i)]; print n + 0 }' "$told")" 0
	at_least "packets that told a size" "$(stat sw r0 sized)" 60
	ctl size off --cgroup "$group"
}

# Two programs at one cgroup, in either order: both write what they have to say, and sizes
# are told also if the peer takes no part in INT.
test_beside_int() {
	local first peer server with_room told=$scratch/told
	start
	for first in int size; do
		[ "$first" = int ] || ctl size on --cgroup "$group"
		ctl int attach --cgroup "$group" hops 2
		[ "$first" = size ] || ctl size on --cgroup "$group"
		for peer in in out; do
			if [ "$peer" = in ]; then
				sink 5001 in_group
			else
				sink 5001
			fi
			server=$!
			told_by 50000
			kill "$server"
			at_least "$first, $peer: segments with data" "$(wc -l <"$told")" 30
			equal "$first, $peer: that tell none" "$(grep -c none "$told")" 0
			with_room=0
			[ "$peer" = out ] || with_room=$(wc -l <"$told")
			equal "$first, $peer: that have room for INT" "$(grep -c ' 20$' "$told")" \
				"$with_room"
		done
		ctl int detach --cgroup "$group"
		ctl size off --cgroup "$group"
	done
}

# The peer's records have three hops, and there is room for two beside sizes: then segments with
# data have room for records of their own, if not for the echo of three.
test_beside_longer_int() {
	local told=$scratch/told watch
	start
	mkdir -p "$group.r"
	ctl size on --cgroup "$group"
	ctl int attach --cgroup "$group" hops 2
	ctl int attach --cgroup "$group.r"
	group=$group.r in_group r python3 -c "import socket
l = socket.socket()
l.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
l.bind(('', 5001))
l.listen()
s = l.accept()[0]
s.sendall(bytes(20000))
while s.recv(65536):
	pass" &
	pids+=("$!")
	check "no server" wait_for 60 tcp_listens r 5001
	sizes h1 e0 >"$told" &
	watch=$!
	check "not watching" wait_for 60 ready "$told"
	in_group h1 python3 -c "import socket
s = socket.create_connection(('10.0.0.100', 5001))
got = 0
while got < 20000:
	got += len(s.recv(65536))
s.sendall(bytes(50000))
s.shutdown(socket.SHUT_WR)
s.recv(1)" &
	pids+=("$!")
	finish "$!" "$watch"
	sed -i 1d "$told"
	at_least "segments with data" "$(wc -l <"$told")" 30
	equal "that tell no size" "$(grep -c none "$told")" 0
	equal "that have room for INT" "$(grep -c ' 20$' "$told")" "$(wc -l <"$told")"
	ctl int detach --cgroup "$group"
	ctl int detach --cgroup "$group.r"
	ctl size off --cgroup "$group"
	check "the cgroup is in use" wait_for 5 rmdir "$group.r"
}

# A cgroup and one around it: one option in each segment, and room for as many records of INT as beside
# one. The peer may be of either.
test_nested() {
	local outer=$group told=$scratch/told
	start
	mkdir -p "$outer/in"
	ctl size on --cgroup "$outer"
	ctl size on --cgroup "$outer/in"
	ctl int attach --cgroup "$outer" hops 2
	sink 5001 in_group
	group=$outer/in
	told_by 50000
	at_least "segments with data" "$(wc -l <"$told")" 30
	equal "that tell no size" "$(grep -c none "$told")" 0
	equal "that have room for INT" "$(grep -c ' 20$' "$told")" "$(wc -l <"$told")"
	ctl size on --cgroup "$outer/in" to 203.0.113.0/24
	told_by 20000
	equal "that tell no size to a peer of the outer one" "$(grep -c none "$told")" 0
	ctl size off --cgroup "$outer/in"
	told_by 20000
	equal "that tell no size, with the outer one alone" "$(grep -c none "$told")" 0
	group=$outer
	ctl size off --cgroup "$outer"
	ctl int detach --cgroup "$outer"
	nothing_pinned
	check "the cgroup is in use" wait_for 5 rmdir "$outer/in"
}

# TCP-AO signs options before programs write theirs: such connections have neither sizes nor INT.
# (The SYN with INT is not answered: the next one has none.)
test_tcp_ao() {
	local ao
	start
	ao="import socket, struct, sys
def sign(s, peer):
	key = b'a key of sixteen'
	addr = struct.pack('HH4s', socket.AF_INET, 0, socket.inet_aton(peer)).ljust(128, bytes(1))
	s.setsockopt(socket.IPPROTO_TCP, 38, (addr + b'hmac(sha1)'.ljust(64, bytes(1)) + struct.pack(
		'iIHBBBBBB', 0, 0, 0, 32, 1, 1, 12, 0, len(key)) + key).ljust(288, bytes(1)))
s = socket.socket()"
	if ! python3 -c "$ao; sign(s, '10.0.0.100')" 2>"$scratch/err"; then
		skip="no TCP-AO in this kernel: $(tail -n 1 "$scratch/err")"
		return
	fi
	ctl size on --cgroup "$group"
	ctl int attach --cgroup "$group"
	in_group r python3 -c "$ao
s.bind(('', 5001))
sign(s, '10.0.0.1')
s.listen()
c, got = s.accept()[0], 0
while part := c.recv(65536):
	got += len(part)
print(got)" >"$scratch/got" &
	pids+=("$!")
	check "no server" wait_for 60 tcp_listens r 5001
	in_group h1 python3 -c "$ao
sign(s, '10.0.0.100')
s.settimeout(60)
s.connect(('10.0.0.100', 5001))
s.sendall(bytes(50000))" &
	pids+=("$!")
	finish "$!"
	check "no end of the data" wait_for 20 [ -s "$scratch/got" ]
	equal "bytes that came" "$(cat "$scratch/got")" 50000
	equal "segments whose signature was wrong" "$(snmp r TcpExt TCPAOBad)" \
		"$(snmp h1 TcpExt TCPSynRetrans)"
	ctl int detach --cgroup "$group"
	ctl size off --cgroup "$group"
}

# Peers elsewhere do not see the option; what is wrong is said.
test_scope_and_refusals() {
	local told=$scratch/told
	start
	sink 5001
	ctl size on --cgroup "$group" to 192.0.2.0/24
	told_by 20000
	at_least "segments with data" "$(wc -l <"$told")" 10
	equal "that tell a size" "$(grep -vc none "$told")" 0
	ctl size off --cgroup "$group"
	[[ $(bfcctl size off --cgroup "$group" 2>&1) == *"do not tell sizes"* ]] ||
		fail "size off twice"
	[[ $(bfcctl size on 2>&1) == *"give --cgroup and a directory"* ]] || fail "size on"
	[[ $(bfcctl size on --cgroup "$group" to 10.0.0.0/33 2>&1) == *'"33" for "to"'* ]] ||
		fail "a prefix"
	[[ $(bfcctl size maybe 2>&1) == *'what is "size maybe"?'* ]] || fail "size maybe"
	[ -z "$(ls /sys/fs/bpf/bfc 2>/dev/null)" ] || fail "pins are left"
}

# A socket that is used again tells its new peer nothing if that is elsewhere.
test_reconnect() {
	local client watch told=$scratch/told
	start
	ip -n r addr add 10.0.0.101/24 dev e0
	sink 5001
	ip netns exec r busybox nc -l -p 5002 </dev/null >/dev/null 2>&1 &
	pids+=("$!")
	check "no TCP receiver" wait_for 60 tcp_listens r 5002
	ctl size on --cgroup "$group" to 10.0.0.100/32
	sizes h1 e0 >"$told" &
	watch=$!
	check "not watching" wait_for 60 ready "$told"
	client="import ctypes, socket, time
s = socket.socket()
s.connect(('10.0.0.100', 5002))
s.sendall(bytes(50000))
time.sleep(2)
# AF_UNSPEC: disconnected
ctypes.CDLL(None).connect(s.fileno(), bytes(16), 16)
s.connect(('10.0.0.101', 5001))
s.sendall(bytes(50000))
s.shutdown(socket.SHUT_WR)
s.recv(1)"
	in_group h1 python3 -c "$client" &
	pids+=("$!")
	finish "${pids[-1]}" "$watch"
	sed -i 1d "$told"
	at_least "packets that told the first peer a size" "$(stat sw r0 sized)" 10
	at_least "segments with data for the second" "$(wc -l <"$told")" 30
	equal "that tell a size" "$(grep -vc none "$told")" 0
	ctl size off --cgroup "$group"
}

# applied CODE WHAT [OPTION]: bfcctl apply, what it says of the host's only command
applied() {
	local rc
	bfcctl apply --file "$scratch/bfc.conf" "${@:3}" >"$scratch/applied" 2>&1
	rc=$?
	equal "exit code, of: $(cat "$scratch/applied")" "$rc" "$1"
	equal "what is said" "$(sed 's/.*: //' "$scratch/applied")" "$2"
}
size_map() { bpftool -j map show pinned "$(echo /sys/fs/bpf/bfc/size-*-config)" | jq .id; }

# By bfc.conf(5): once, again if something is another now, and no more.
test_applied() {
	local first told=$scratch/told
	start
	sink 5001
	printf '[host]\nsize on --cgroup %s to 10.0.0.0/8\n' "$group" >"$scratch/bfc.conf"
	applied 3 "would be done" --dry-run
	[ -z "$(ls /sys/fs/bpf/bfc 2>/dev/null)" ] || fail "a dry run pins something"
	applied 0 "done"
	first=$(size_map)
	applied 0 "nothing to do"
	applied 0 "nothing to do" --dry-run
	equal "map" "$(size_map)" "$first"
	told_by 20000
	at_least "segments with data" "$(wc -l <"$told")" 10
	equal "that tell none" "$(grep -c none "$told")" 0
	printf '[host]\nsize on --cgroup %s to 192.0.2.0/24\n' "$group" >"$scratch/bfc.conf"
	applied 3 "would be done" --dry-run
	applied 0 "done"
	applied 0 "nothing to do"
	check "no other map" [ "$(size_map)" != "$first" ]
	# Another version of bfcctl has attached it.
	check "no object" bpftool map update pinned "$(echo /sys/fs/bpf/bfc/size-*-object)" \
		key 0 0 0 0 value 1 2 3 4 5 6 7 8
	applied 0 "done"
	applied 0 "nothing to do"
	printf '[host]\nsize off --cgroup %s\n' "$group" >"$scratch/bfc.conf"
	applied 3 "would be done" --dry-run
	applied 0 "done"
	applied 0 "nothing to do"
	[ -z "$(ls /sys/fs/bpf/bfc 2>/dev/null)" ] || fail "pins are left"
}

run_tests unsent_bytes beside_int beside_longer_int nested tcp_ao scope_and_refusals reconnect applied
