#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# HPCC as a sender: what it does to a bottleneck's queue, and whether all its front
# ends compute the same.
#
#   h1 -- p1 --+
#              sw -- r0 -- r
#   h2 -- p2 --+
#
# 100 Mbit/s, a speed that INT has a code for, and 1 ms each: 4.2 ms for a packet and
# its ACK. In the simulator HPCC runs as a sockops program, elsewhere as struct_ops;
# there the last link has 10 Mbit/s, which an emulated machine can carry. $full packets
# are less than the window of a single sender there.

# shellcheck source=selftests/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"

PATH=$top/build/bpf:$top/build/hpcc:$PATH
group=/sys/fs/cgroup/hpcc
mbit=100
rtt=4500us
busy=75 samples=100 full=31 slow=16 steps=3
simulated || { mbit=10 rtt=8ms busy=30 samples=25 full=6 slow=5 steps=2; }
link=(rate 100mbit delay 1ms ring 4)
on=() receivers=() senders=()

# start [QDISC of r0, with options]
start() {
	local h
	host h1 10.0.0.1/24
	host h2 10.0.0.2/24
	host r 10.0.0.100/24
	switch sw
	cable sw p1 h1 e0 "${link[@]}"
	cable sw p2 h2 e0 "${link[@]}"
	cable sw r0 r e0 rate "${mbit}mbit" delay 1ms ring 4
	[ $# -gt 0 ] || set -- bfc fc none limit 4Mb
	tc -n sw qdisc replace dev r0 root "$@" || fail "tc refuses $*"
	# What TCP sends at once must not be more than a packet.
	for h in h1 h2 r; do
		ip -n "$h" link set e0 gso_max_segs 1
		in_ns "$h" sysctl -qw net.ipv4.tcp_no_metrics_save=1
	done
	meet 10.0.0.100 h1 h2
	mkdir -p "$group"
}

# hpcc_on PARAMETERS
hpcc_on() {
	ctl -n sw stamp attach r0 node 1
	if simulated; then
		modprobe bfc_simcc
		on=(sockops)
	fi
	ctl int attach --cgroup "$group"
	ctl hpcc on --cgroup "$group" rate 100mbit rtt "$rtt" "${on[@]}" "$@"
}

struct_ops() { ! simulated || { say "no struct_ops in this kernel"; false; }; }

hpcc_off() {
	ctl hpcc off --cgroup "$group"
	# Whether it is registered still or not
	equal "what is shown of it" "$(bfcctl -j hpcc show 2>&1)" "bfcctl: HPCC is off"
	[ -n "${on[*]}" ] || ctl hpcc off
	ctl int detach --cgroup "$group"
	! simulated || check "a socket uses bfc_simcc" \
		wait_for 5 modprobe -qr bfc_simcc
	ctl -n sw stamp detach r0
}

# in_group NS COMMAND...: with sockets that take part; in the background only
in_group() {
	local ns=$1
	shift
	# shellcheck disable=SC2016
	exec bash -c 'echo $$ >"$0/cgroup.procs" && exec "$@"' "$group" \
		ip netns exec "$ns" "$@"
}

# flow NS PORT [SENDER...]: as much as it can, until it is stopped
flow() {
	in_group r busybox nc -l -p "$2" >/dev/null </dev/null &
	pids+=($!)
	receivers+=($!)
	check "no TCP receiver" wait_for 20 tcp_listens r "$2"
	[ $# -gt 2 ] ||
		set -- "$@" bash -c "exec cat /dev/zero >/dev/tcp/10.0.0.100/$2"
	in_group "$1" "${@:3}" 2>/dev/null &
	pids+=($!)
	senders+=($!)
}

# stop [N]: all flows but the first N
# The receivers first: then the senders get a RST, and nothing is left behind.
stop() {
	local keep=${1:-0}
	kill "${receivers[@]:keep}"
	wait "${receivers[@]:keep}" 2>/dev/null
	sleep 0.2
	kill "${senders[@]:keep}" 2>/dev/null
	wait "${senders[@]:keep}" 2>/dev/null
	receivers=("${receivers[@]:0:keep}") senders=("${senders[@]:0:keep}")
}

# queue SAMPLES: backlog of the bottleneck, every 20 ms: mean and longest
queue() {
	local i
	for ((i = 0; i < $1; i++)); do
		stat sw r0 backlog
		sleep 0.02
	done | awk '{ sum += $1; if ($1 > most) most = $1 }
		END { printf "%d %d\n", sum / NR, most }'
}

sent() { stat sw r0 bytes; }

# measured: mean and longest queue, used in percent
measured() {
	local before from now
	before=$(sent)
	from=$(date +%s%N)
	read -r mean most < <(queue "$samples")
	now=$(date +%s%N)
	used=$((($(sent) - before) * 800 * 1000 / ((now - from) * mbit)))
	say "queue: mean $mean, at most $most bytes; link $used %"
}

# two_flows: measured after two seconds
two_flows() {
	flow h1 5001
	flow h2 5002
	sleep 2
	measured
}

# What either front end has recorded is gone through as well: what struct_ops made of it
# is what comes out where there are sockops only, and the other way round.
test_arithmetic() {
	check "eBPF and C differ" replay bpf "$top/build/hpcc/replay.bpf.o" \
		"$top"/selftests/hpcc/{struct_ops,sockops}.int \
		>"$scratch/replay" || grep -v '^ok' "$scratch/replay"
}

near_zero() {
	at_most "mean queue" "$mean" 5000
	at_most "longest queue" "$most" 12000
	at_least "use of the link" "$used" "$busy"
}

test_near_zero() {
	start
	hpcc_on
	two_flows
	near_zero
	stop
	hpcc_off
}

# A hop behind sw's says that the queue is long where there is none: senders believe it. (That there is
# none is less of a lie: records have what was sent, too.)
test_false_records() {
	local h
	simulated || return 0
	start
	ip -n sw link del r0
	new_ns liar
	cable sw r0 liar b1 rate "${mbit}mbit" delay 500us ring 4
	cable liar b2 r e0 rate 1gbit delay 500us ring 4
	tc -n sw qdisc replace dev r0 root bfc fc none limit 4Mb
	ip -n r link set e0 gso_max_segs 1
	for h in h1 h2; do
		ip -n "$h" neigh flush dev e0	# r has another address
	done
	hpcc_on
	lies
	at_least "use of the link, with the truth" "$used" "$busy"
	lies 4095
	at_most "use of the link, with a queue that is not there" "$used" 50
	lies 0
	at_least "use of the link, with none told" "$used" "$busy"
	hpcc_off
}
# lies [QLEN]: measured beside these
lies() {
	local liar
	background "$top/selftests/tools/intliar.py" liar b1 b2 "$@"
	liar=$bg
	meet 10.0.0.100 h1 h2
	two_flows
	stop
	kill "$liar"
}

# cc NAME [QDISC-OPTIONS]
other() {
	modprobe -q "tcp_$1"
	# else namespaces may not have it
	sysctl -qw net.ipv4.tcp_allowed_congestion_control="reno cubic $1"
	start "${@:2}"
	for ns in h1 h2 r; do
		in_ns "$ns" sysctl -qw net.ipv4.tcp_ecn=1 \
			"net.ipv4.tcp_congestion_control=$1" ||
			fail "no congestion control $1"
	done
	two_flows
	at_least "mean queue" "$mean" 20000
	at_least "use of the link" "$used" "$busy"
	stop
}

test_cubic() { other cubic; }
# as in HPCC §5.1: 30 KB at 10 Gbit/s, but here no less than twenty packets
test_dctcp() {
	other dctcp red limit 4Mb min 30000 max 60000 probability 1 \
		avpkt 1000 burst 41 bandwidth 100mbit ecn
}

# Two hops, since the hosts stamp, too. RECORD: a file for the ACKs, as those that
# test_arithmetic reads. They were made by
#	scripts/sim --out DIR --env RECORD=DIR/sockops.int -- \
#		selftests/net/hpcc.sh same_windows
# and by scripts/vm --icount, struct_ops.int.
test_same_windows() {
	local reader h
	start
	for h in h1 h2; do
		bfc "$h" e0 fc none
		ctl -n "$h" stamp attach e0 node "1${h#h}"
	done
	hpcc_on trace
	replay trace /sys/fs/bpf/bfc/hpcc_trace 400 60 ${RECORD:+"$RECORD"} \
		>"$scratch/replay" &
	reader=$!
	pids+=("$reader")
	flow h1 5001
	flow h2 5002
	wait "$reader" || fail "windows differ: $(grep '^#' "$scratch/replay")"
	say "$(sed -n 's/^# acks/acks/p' "$scratch/replay")"
	stop
	for h in h1 h2; do
		ctl -n "$h" stamp detach e0
	done
	hpcc_off
}

# What a socket has set holds for bfc_hpcc as well. (In the simulator it is how the
# pace comes in.)
test_limits() {
	local limited
	struct_ops || return 0
	start
	hpcc_on
	limited="import socket
s = socket.socket()
s.setsockopt(socket.SOL_SOCKET, 47, 250000)	# SO_MAX_PACING_RATE
s.connect(('10.0.0.100', 5002))
while True:
	s.sendall(bytes(65536))"
	flow h2 5002 python3 -c "$limited"
	check "no window" wait_for 30 has_window h2
	sleep 1
	at_most "pace" "$(bfcctl -n h2 -j hpcc show |
		jq '.[0].flows[0].pacing_rate')" 2000000
	stop
	hpcc_off
}

cwnd() { bfcctl -n h1 -j hpcc show | jq '.[0].flows[0].cwnd'; }

cwnd_is() { test "$(cwnd)" "$@"; }

# has_window NS: an ACK with INT has come. (A slow machine takes seconds to connect.)
has_window() {
	bfcctl -n "$1" -j hpcc show |
		jq -e '[.[].flows[].window] | length > 0 and all'
}

# least_cwnd SECONDS
least_cwnd() {
	local end=$((SECONDS + $1))
	while [ $SECONDS -lt $end ]; do
		cwnd
	done | grep -x '[0-9]*' | sort -n | head -n 1
}

# Without INT bfc_hpcc is Reno: it grows until there are losses, then takes half and
# grows again. When INT comes, it is HPCC. (W_init is 66 packets.)
test_without_int() {
	local before least
	struct_ops || return 0
	start
	hpcc_on
	ctl -n sw stamp detach r0
	flow h1 5001
	check "the window does not grow" wait_for 30 cwnd_is -ge 80
	before=$(cwnd)
	equal "losses" "$(stat sw r0 drops)" 0
	tc -n sw qdisc change dev r0 root bfc limit 64Kb
	least=$(least_cwnd 4)
	say "window $before, then at least $least"
	at_least "losses" "$(stat sw r0 drops)" 1
	at_most "window after a loss" "$least" $((before * 3 / 4))
	tc -n sw qdisc change dev r0 root bfc limit 4Mb
	check "the window does not grow again" \
		wait_for 30 cwnd_is -ge $((before * 3 / 4 + 10))
	ctl -n sw stamp attach r0 node 1
	check "the window stays with INT" wait_for 10 cwnd_is -le 66
	stop
	hpcc_off
}

# The program that stands in for struct_ops, left at a cgroup where there are some:
# it knows that the connections are not its.
test_one_front_end() {
	local fs=/sys/fs/bpf name maps=() pace
	struct_ops || return 0
	start
	hpcc_on
	for name in int_sk hpcc_sk hpcc_net hpcc_trace; do
		maps+=(map name "bfc_$name" pinned "$fs/bfc/$name")
	done
	check "program" bpftool prog load "$top/build/bpf/hpcc_sockops.bpf.o" \
		"$fs/sockops" type sockops "${maps[@]}" 2>"$scratch/err" ||
		say "$(tail -n 1 "$scratch/err")"
	check "attach" bpftool cgroup attach "$group" sock_ops \
		pinned "$fs/sockops" multi
	flow h1 5001
	check "no window" wait_for 30 has_window h1
	sleep 1
	pace=$(bfcctl -n h1 -j hpcc show | jq '.[0].flows[0] |
		.pacing_rate / (.window * 8)')
	say "pace $pace windows per second"
	# 1/T, but for headers
	at_least "windows per second" "$pace" 60
	stop
	bpftool cgroup detach "$group" sock_ops pinned "$fs/sockops"
	rm "$fs/sockops"
	hpcc_off
}

# Each cgroup has its parameters, which the others' do not change.
test_cgroups() {
	local first other=$group.other
	start
	hpcc_on
	flow h1 5001
	sleep 1
	first=$(bfcctl -j hpcc show | jq '.[0].initial_window')
	mkdir -p "$other"
	ctl hpcc on --cgroup "$other" rate 10mbit rtt "$rtt" "${on[@]}"
	group=$other flow h2 5002
	check "no window" wait_for 30 has_window h2
	check "no window" wait_for 30 has_window h1
	sleep 1
	equal "initial windows" "$(bfcctl -j hpcc show |
		jq -c '[.[].initial_window] | sort')" "[$((first / 10)),$first]"
	equal "connections of the first cgroup" "$(bfcctl -n h1 -j hpcc show |
		jq -c "[.[] | select(.initial_window == $first) | .flows[].remote_port]")" \
		'[5001]'
	equal "connections of the other" "$(bfcctl -n h2 -j hpcc show |
		jq -c "[.[] | select(.initial_window != $first) | .flows[].remote_port]")" \
		'[5002]'
	at_most "window in the other" "$(bfcctl -n h2 -j hpcc show |
		jq '.[].flows[].window')" $((first / 10))
	# Elsewhere a tenth of this is what the bottleneck has room for.
	! simulated || at_least "window in the first" "$(bfcctl -n h1 -j hpcc show |
		jq '.[].flows[].window')" $((first / 4))
	ctl hpcc off --cgroup "$other"
	equal "parameters left" "$(bfcctl -j hpcc show | jq length)" 1
	stop
	ctl int detach --cgroup "$other"
	check "the cgroup is in use" wait_for 5 rmdir "$other"
	hpcc_off
}

# Where HPCC was switched off, connections that ask for it by name have the general parameters.
test_by_name() {
	struct_ops || return
	start
	ctl -n sw stamp attach r0 node 1
	ctl int attach --cgroup "$group"
	ctl hpcc on rate 100mbit rtt "$rtt"
	ctl hpcc on --cgroup "$group" rate 10mbit rtt "$rtt"
	ctl hpcc off --cgroup "$group"
	flow h1 5001 python3 -c "import socket
s = socket.socket()
s.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, b'bfc_hpcc')
s.connect(('10.0.0.100', 5001))
while True:
	s.send(bytes(10000))"
	check "no window" wait_for 30 has_window h1
	equal "connections" "$(bfcctl -n h1 -j hpcc show | jq -c '[.[].flows[].remote_port]')" \
		'[5001]'
	stop
	ctl hpcc off
	ctl int detach --cgroup "$group"
	ctl -n sw stamp detach r0
}

# Windows and utilization, as the connections themselves show what they are: two of
# them share 95 % of what the link carries in T (56 KB), less what a hundred W_AI are.
test_shown() {
	local h shown packets windows=0
	start
	hpcc_on
	flow h1 5001
	flow h2 5002
	sleep 2
	for h in h1 h2; do
		shown=$(bfcctl -n $h -j hpcc show |
			jq -r '.[0].flows[0] | "\(.window // 0) \(.utilization // 0) \(.cwnd) \(.pacing_rate)"')
		read -r window u cwnd pace <<<"$shown"
		windows=$((windows + window))
		# Elsewhere records are late, and ACKs come between two readings.
		simulated || continue
		packets=$(((window + 1513) / 1514))
		# W/T in bits per second, of which headers and options take some
		at_most "pace of $h" "$pace" $((window * 8000000 / 4500))
		at_least "pace of $h" "$pace" $((window * 7200000 / 4500))
		equal "packets that $h's window of $window is" "$packets" "$cwnd"
		at_least "utilization that $h knows of" "$u" 0.8
		at_most "utilization that $h knows of" "$u" 1.1
	done
	at_least "windows of both" "$windows" 3028
	! simulated || at_least "windows of both" "$windows" 40000
	! simulated || at_most "windows of both" "$windows" 60000
	say "windows of both $windows, utilization $u"
	check "not in the text" grep -Eq \
		'^  ports [0-9]+ 5002 .* window [0-9.]+Kb  utilization [01]\.[0-9]{3}$' \
		<(bfcctl -n h2 hpcc show)
	stop
	hpcc_off
}

# grows STAGE: by how much the window of one of two flows grows in a second when the other one
# has ended, in percent
grows() {
	local before
	hpcc_on stage "$1"
	flow h1 5001
	flow h2 5002
	sleep 2
	before=$(window)
	stop 1
	sleep 1
	growth=$(calc "($(window) - $before) / $before * 100")
	say "stage $1: window $before, $growth % more"
	stop
	hpcc_off
}
window() { bfcctl -n h1 -j hpcc show | jq '.[0].flows[0].window'; }

# Half of the link becomes free. What of it is taken at once is taken after so many additive
# increases, of 28 bytes (W_AI) and one in each round trip: some 200 in a second.
test_stage() {
	local growth
	exact_clock || return 0
	start
	grows 0
	at_least "growth without such increases, percent" "$growth" 60
	grows 5
	at_least "growth after five, percent" "$growth" 60
	grows 1000
	between "growth after a thousand, percent" "$growth" 5 40
}

# A hundred flows leave each a window of less than its packets need to be told from
# a silence, and less than a packet: they use the link all the same, whatever ACKs are
# delayed. The one that stays comes back.
test_one_of_many() {
	local i
	start
	hpcc_on
	for ((i = 1; i <= 100; i++)); do
		flow "h$((1 + i % 2))" $((5000 + i))
	done
	sleep 6
	measured
	at_most "longest queue of a hundred flows" "$most" 200000
	at_least "use of the link by a hundred flows" "$used" "$busy"
	stop 1
	sleep 4
	measured
	at_least "use of the link by one flow" "$used" "$busy"
	stop
	hpcc_off
}

# A loss is no congestion: INT would have told.
test_losses() {
	start
	ip -n sw link set dev r0 type wire drop 0800 every 29
	ip -n r link set dev e0 type wire drop 0800 every 31
	hpcc_on
	two_flows
	near_zero
	at_least "sent again" "$(snmp h1 Tcp RetransSegs)" $((samples / 5))
	stop
	hpcc_off
}

# A switch before the one with INT lets packets of h1 pass each other, as it has 3/10
# of the speed; h2 has the rest.
test_reordering() {
	start
	switch sw0
	cable sw0 x sw y rate $((mbit * 3 / 10))mbit ring 4
	ip -n h1 link del e0
	cable sw0 p1 h1 e0 "${link[@]}"
	ip -n h1 link set e0 gso_max_segs 1
	meet 10.0.0.100 h1
	let_overtake sw0 x
	hpcc_on
	two_flows
	near_zero
	at_least "segments out of order" "$(snmp r TcpExt TCPOFOQueue)" 20
	stop
	hpcc_off
}

# The records of another path say nothing about this one: windows stay, and go on
# from the second record.
test_path_change() {
	local id before
	start
	hpcc_on
	two_flows
	before=$used
	for id in 2 3; do
		ctl -n sw stamp detach r0
		ctl -n sw stamp attach r0 node "$id"
		# What was sent without telemetry in between has to leave.
		simulated || sleep 2
		measured
		near_zero
		at_least "use of the link" "$used" $((before * 4 / 5))
	done
	stop
	hpcc_off
}

# least_window: of h1's flow, in a second
least_window() {
	local i
	for ((i = 0; i < 50; i++)); do
		window
		sleep 0.02
	done | sort -n | head -n 1
}

# Another scheduler at the port counts from zero: that is no rate at which the link sends, and
# windows stay.
test_replaced() {
	local before least
	exact_clock || return 0
	start
	hpcc_on
	flow h1 5001
	flow h2 5002
	check "no window" wait_for 30 has_window h1
	sleep 2
	before=$(window)
	tc -n sw qdisc replace dev r0 root handle 7: bfc fc none limit 4Mb 2>"$scratch/err" ||
		fail "tc refuses another bfc: $(cat "$scratch/err")"
	least=$(least_window)
	equal "stamp" "$(stat sw r0 options.stamp)" pinned
	say "window $before, then at least $least"
	at_least "window" "$least" $((before / 2))
	stop
	hpcc_off
}

# cwnd_flow [PYTHON]: a flow that does PYTHON with its socket s first, and writes what
# its window becomes to $scratch/cwnd
cwnd_flow() {
	rm -f "$scratch/cwnd"
	flow h1 5001 python3 -c "import socket, struct, time
s = socket.socket()
${1-}
s.connect(('10.0.0.100', 5001))
s.setblocking(False)
last = 0
while True:
	try:
		s.send(bytes(65536))
	except BlockingIOError:
		time.sleep(0.0005)
	cwnd = struct.unpack_from('I', s.getsockopt(
		socket.IPPROTO_TCP, socket.TCP_INFO, 104), 80)[0]
	if cwnd != last:
		print(cwnd, flush=True, file=open('$scratch/cwnd', 'a'))
	last = cwnd"
	check "no connection" wait_for 30 [ -s "$scratch/cwnd" ]
}

# after_timeout: all is lost for so long that the window goes down to one packet, and
# then it does not come back at once
after_timeout() {
	sleep 1
	ip -n sw link set dev r0 type wire drop 0800 100%
	check "no timeout" wait_for 10 grep -qx 1 "$scratch/cwnd"
	ip -n sw link set dev r0 type wire drop none
	check "no data after the timeout" \
		wait_for 20 grown "$(wc -l <"$scratch/cwnd")"
	say "$(tail -n +2 "$scratch/cwnd" | sed '1,/^1$/d' | head -n 12 |
		paste -sd ' ')"
	at_least "windows from 2 to $slow packets before that of $full" \
		"$(sed '1,/^1$/d' "$scratch/cwnd" | awk -v full=$full -v slow=$slow \
			'$1 >= full { exit } $1 >= 2 && $1 <= slow { n++ }
			END { print n + 0 }')" "$steps"
}

# HPCC after a silence of the network: what it knew of the links is void.
test_timeout() {
	start
	hpcc_on
	cwnd_flow
	after_timeout
	stop
	hpcc_off
}

# delay_on RTT: of the empty network, in a machine that is emulated
delay_on() {
	if simulated; then
		modprobe bfc_simcc rate=12500000 base_ns=4200000
	else
		ctl delay on rate 10mbit rtt "$1"
	fi
}

delay_off() {
	if simulated; then
		check "a socket uses bfc_simcc" wait_for 5 modprobe -qr bfc_simcc
	else
		ctl delay off
	fi
}

# The delay-based control starts slowly as well, and does not send half its window at
# once. (Its largest is 86 packets, of BDPs of 35 and 41.)
test_delay_timeout() {
	start
	delay_on 50ms
	cwnd_flow "s.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, b'bfc_delay')"
	after_timeout
	stop
	delay_off
}

# The delay-based control where the other end takes longer to answer than the target: the
# windows shrink as far as they can, and have to grow again when there is much to send. (A
# segment alone is acknowledged after 40 ms.)
test_delay_after_rpc() {
	local seconds most=0.5
	simulated || most=1.5	# of 10 Mbit/s
	start
	delay_on 8ms
	in_ns r python3 -c "import socket, time
s, _ = socket.create_server(('10.0.0.100', 5001)).accept()
for i in range(100):
	s.recv(1)
	time.sleep(0.03)
	s.sendall(b'x')
left = 1000000
while left:
	left -= len(s.recv(left))
s.sendall(b'x')" &
	pids+=($!)
	check "no TCP receiver" wait_for 20 tcp_listens r 5001
	seconds=$(in_ns h1 python3 -c "import socket, time
s = socket.socket()
s.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, b'bfc_delay')
s.connect(('10.0.0.100', 5001))
for i in range(100):
	s.sendall(b'x')
	s.recv(1)
before = time.monotonic()
s.sendall(bytes(1000000))
s.recv(1)
print(time.monotonic() - before)")
	say "1 MB after a hundred requests: $seconds s"
	at_most "seconds for 1 MB" "$seconds" $most
	delay_off
}

# grown LINES: have windows been printed since then, more than the first?
grown() { [ "$(tail -n "+$1" "$scratch/cwnd" | sort -n | tail -n 1)" -ge "$full" ]; }

run_tests arithmetic near_zero false_records cubic dctcp same_windows limits cgroups by_name \
	shown stage one_of_many one_front_end without_int losses reordering path_change timeout delay_timeout \
	delay_after_rpc replaced
