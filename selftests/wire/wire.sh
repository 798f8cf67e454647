#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Tests of the test wire (test_wire.ko and link_wire.so).
#
#	+--------------+              +--------------+
#	| netns $a     |   the wire   | netns $b     |
#	|   wa 10.9.0.1+--------------+10.9.0.2 wb   |
#	+--------------+              +--------------+
#
# Usage: wire.sh [TEST...]      run as root; default: all tests
# Environment:
#   IP_LIB_DIR	where link_wire.so is (default: build/ at the top)
#   WIRE_KO	module file, if modprobe does not find it
#   WIRE_SLOW	factor for the limits of polling waits, for debug kernels
#
# Times are wall clock, and the machine may be an emulated one whose timers are
# 100s of microseconds late: rates are low and the rings that must not run dry
# are long. Only lower bounds on time are sharp.
# Exit code: 0, 1 a test failed, 4 cannot run here.

# Tests are called by name; conditions are quoted for wait_for to evaluate.
# shellcheck disable=SC2016,SC2317

set -u

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)
export IP_LIB_DIR=${IP_LIB_DIR:-$(cd "$here/../.." && pwd -P)/build}
a=wire-a-$$
b=wire-b-$$
scratch=
frames_pid=
pids=()
why=

skip_all() { echo "1..0 # SKIP $*"; exit 4; }

# check TEXT COMMAND...: the test fails with TEXT unless COMMAND succeeds.
check() {
	local text=$1
	shift
	"$@" || { why=${why:-$text}; return 1; }
}

# equal TEXT GOT WANTED, between TEXT GOT LOW HIGH (integers)
equal() { check "$1: $2 instead of $3" [ "$2" = "$3" ]; }
between() { check "$1: $2, not in $3..$4" test "$2" -ge "$3" -a "$2" -le "$4"; }

# wait_for SECONDS COMMAND...: poll until COMMAND succeeds.
wait_for() {
	local end=$((SECONDS + $1 * ${WIRE_SLOW:-1}))
	shift
	until "$@" >/dev/null 2>&1; do
		[ "$SECONDS" -lt "$end" ] || return 1
		sleep 0.05
	done
}

# frames COMMAND...: have frames.py do it; prints the result
frames() {
	local status result
	echo "$*" >&"$to_frames"
	read -r -t 120 status result <&"$from_frames"
	echo "$result"
	check "frames.py $*: $result" [ "$status" = ok ]
}
# sent NS DEV TYPE COUNT LEN: send frames
sent() { frames send "$@" >/dev/null; }
# In the background only
flood() { exec python3 "$here/frames.py" flood "$@"; }

link() { ip -n "$1" -j -d -s link show dev "$2" | jq -r "$3"; }
# stat NS DEV rx|tx FIELD, without the cost of starting jq
stat() {
	[[ $(ip -n "$1" -j -s link show dev "$2") =~ \"$3\":\{[^}]*\"$4\":([0-9]+) ]] &&
		echo "${BASH_REMATCH[1]}"
}
xstat() { link "$1" "$2" ".[0].linkinfo.info_xstats.$3"; }
# The link is up and the kernel has noticed: before, the qdisc is one that drops.
ready() {
	[ "$(link "$1" "$2" '.[0].operstate')" = UP ]
}
carrier() { link "$1" "$2" '.[0].flags | index("LOWER_UP") != null'; }
has_link() { ip -n "$1" link show dev "$2" >/dev/null 2>&1; }

# background COMMAND...: end it with stop
background() { "$@" >/dev/null 2>&1 & pids+=($!); }
stop() {
	local pid
	for pid in "${pids[@]}"; do
		kill "$pid" 2>/dev/null
		wait "$pid" 2>/dev/null
	done
	pids=()
}

# wire OPTIONS...: make the pair, as in the drawing, without addresses
wire() {
	ip link add name wa netns "$a" type wire "$@" peer name wb netns "$b"
}

up() {
	ip -n "$a" link set dev wa up && ip -n "$b" link set dev wb up &&
		wait_for 5 ready "$a" wa && wait_for 5 ready "$b" wb
}

# Without these only what a test sends is on the wire.
quiet() {
	ip netns exec "$1" sysctl -qw net.ipv6.conf.all.disable_ipv6=1 \
		net.ipv6.conf.default.disable_ipv6=1
}

addresses() {
	ip -n "$a" addr replace 10.9.0.1/24 dev wa
	ip -n "$b" addr replace 10.9.0.2/24 dev wb
	ip -n "$a" neigh replace 10.9.0.2 dev wa nud permanent lladdr \
		"$(link "$b" wb '.[0].address')"
	ip -n "$b" neigh replace 10.9.0.1 dev wb nud permanent lladdr \
		"$(link "$a" wa '.[0].address')"
}

# ping_min COUNT: the smallest round trip in whole microseconds; fails if a
# packet is lost
ping_min() {
	local out
	out=$(ip netns exec "$a" ping -q -c "$1" -i 0.05 -W 5 10.9.0.2) ||
		return 1
	grep -q ' 0% packet loss' <<<"$out" || return 1
	sed -n 's/^rtt[^=]*= \([0-9]*\)\.\([0-9]*\).*/\1\2/p' <<<"$out"
}

setup() {
	ip netns add "$a" && ip netns add "$b" && quiet "$a" && quiet "$b"
}

teardown() {
	stop
	local ns
	for ns in "$a" "$b"; do
		[ ! -e "/run/netns/$ns" ] || ip netns del "$ns"
	done
}

test_create_delete() {
	wire rate 2.5gbit delay 1500ns ring 3 overhead 24 seed 7 \
		drop 88b5 0.5% drop any pattern 0110 || return 1
	equal "parameters at the near end" \
		"$(link "$a" wa '.[0].linkinfo.info_data | tostring')" \
		'{"rate":2500000000,"delay_ns":1500,"ring":3,"overhead":24,"seed":7,"drops":[{"ethertype":"88b5","percent":0.5},{"ethertype":"any","pattern":"0110"}]}'
	equal "both ends are alike" \
		"$(link "$a" wa '.[0].linkinfo.info_data | tostring')" \
		"$(link "$b" wb '.[0].linkinfo.info_data | tostring')"
	check "text form" grep -q \
		'wire rate 2500mbit delay 1500ns ring 3 overhead 24 seed 7 drop 88b5 0.5% drop any pattern 0110' \
		<<<"$(ip -n "$a" -d link show dev wa)"
	equal "speed" "$(ip netns exec "$a" cat /sys/class/net/wa/speed \
		2>/dev/null)" ""
	check "change" ip -n "$a" link set dev wa type wire rate 1mbit drop none
	equal "only one direction changes" \
		"$(link "$a" wa '.[0].linkinfo.info_data.rate'),$(link "$b" wb \
		'.[0].linkinfo.info_data.rate')" 1000000,2500000000
	equal "drop none clears" \
		"$(link "$a" wa '.[0].linkinfo.info_data.drops | length')" 0
	equal "carrier while down" "$(carrier "$a" wa)" false
	ip -n "$a" link set dev wa up
	sleep 0.1
	equal "carrier with one end up" "$(carrier "$a" wa)" false
	ip -n "$b" link set dev wb up
	check "carrier with both up" wait_for 5 eval \
		'[ "$(carrier "$a" wa)$(carrier "$b" wb)" = truetrue ]'
	equal "speed" "$(ip netns exec "$a" cat /sys/class/net/wa/speed)" 1
	ip -n "$b" link set dev wb down
	check "carrier after the far end went down" wait_for 5 eval \
		'[ "$(carrier "$a" wa)" = false ]'
	ip -n "$b" link del dev wb
	check "the other end is gone, too" eval '! has_link "$a" wa'
	check "default names" ip -n "$a" link add type wire
	check "default names" has_link "$a" wire1
}

test_bad_input() {
	local args text out

	ip -n "$a" link add name wa type wire peer name wb || return 1
	while IFS='|' read -r args text; do
		# shellcheck disable=SC2086
		out=$(ip -n "$a" link set dev wa type wire $args 2>&1) &&
			{ check "$args accepted" false; continue; }
		check "$args: said \"$out\"" grep -qF "$text" <<<"$out"
	done <<-'END'
	rate 0|wire: rate must be 10kbit to 800gbit
	rate 9999|wire: rate must be 10kbit to 800gbit
	rate 801gbit|wire: rate must be 10kbit to 800gbit
	rate fast|Illegal "rate"
	rate -5mbit|Illegal "rate"
	delay 11s|wire: delay must be 0 to 10s
	delay -1|Illegal "delay"
	ring 0|wire: ring must be 1 to 4096 frames
	ring 4097|wire: ring must be 1 to 4096 frames
	ring -1|Illegal "ring"
	overhead 1025|wire: overhead must be 0 to 1024 bytes
	drop any 101%|Illegal "drop PERCENT"
	drop 10000 1%|Illegal "drop ETHERTYPE"
	drop any every 0|drop every and next must be at least 1
	drop any next 0|drop every and next must be at least 1
	drop any pattern 012|drop pattern must be 1 to 64 digits 0 or 1
	drop any often 3|Illegal "drop RULE"
	drop any 1% drop any 1% drop any 1% drop any 1% drop any 1% drop any 1% drop any 1% drop any 1% drop any 1%|at most 8 drop rules
	colour blue|unknown option "colour"
	END
	equal "nothing was changed" \
		"$(link "$a" wa '.[0].linkinfo.info_data | tostring')" \
		'{"rate":1000000000,"delay_ns":0,"ring":8,"overhead":0,"seed":1,"drops":[]}'
	out=$(ip -n "$a" link add name wx type wire rate 1 2>&1) &&
		check "add with rate 1 accepted" false
	check "a refused add leaves nothing" eval '! has_link "$a" wx'
	check "nor its peer" eval '! has_link "$a" wire0'
	# The names clash only when the second device is registered.
	ip -n "$a" link add name wy type wire peer name wb 2>/dev/null &&
		check "clash of names accepted" false
	check "a failed add leaves nothing" eval '! has_link "$a" wy'
}

test_netns() {
	ip link add name wa-$$ type wire rate 50mbit peer name wb-$$ || return 1
	ip link set dev wa-$$ netns "$a" name wa
	ip link set dev wb-$$ netns "$b" name wb
	addresses
	up || { check "no carrier after the move" false; return; }
	check "ping after the move" ping_min 3 >/dev/null
	# Back into one namespace and out again, up and in use
	background flood "$a" wa 300
	wait_for 10 eval '[ "$(stat "$b" wb rx packets)" -gt 20 ]'
	check "move in use" ip -n "$b" link set dev wb netns "$a"
	check "carrier is lost" equal x "$(carrier "$a" wa)" false
	check "move back" ip -n "$a" link set dev wb netns "$b"
	stop
	addresses
	up
	check "ping after moving twice" ping_min 3 >/dev/null
	ip netns del "$b"
	check "the end in a deleted namespace takes the other along" \
		wait_for 10 eval '! has_link "$a" wa'
}

test_ping() {
	wire rate 100mbit delay 20ms || return 1
	addresses
	up
	check "lossless ping" ping_min 5 >"$scratch/rtt"
	# 98 bytes at 100 Mbit/s twice: 15.68 us
	between "round trip in us" "$(cat "$scratch/rtt")" 40015 80000
	ip -n "$a" link set dev wa type wire delay 0
	check "lossless ping" ping_min 5 >"$scratch/rtt"
	between "round trip in us, delay one way only" \
		"$(cat "$scratch/rtt")" 20015 60000
}

test_rate_frames() {
	local n ns
	# The ring spans 400 * 0.8 ms = 320 ms of late timers
	wire rate 10mbit ring 400 || return 1
	up
	# The default may be one that drops, as fq_codel
	ip netns exec "$a" tc qdisc replace dev wa root pfifo limit 2000
	read -r n ns < <(frames span "$a" wa "$b" wb 1001 1000)
	equal "frames arrived" "$n" 1001
	between "us from first to last, 1000 frames of 800 us" $((ns / 1000)) \
		775000 825000
	ip -n "$a" link set dev wa type wire overhead 250
	read -r n ns < <(frames span "$a" wa "$b" wb 801 1000)
	equal "frames arrived" "$n" 801
	between "us from first to last, 800 frames of 1000 us" $((ns / 1000)) \
		775000 825000
	equal "tx bytes do not count overhead" "$(stat "$a" wa tx bytes)" \
		$((1802 * 1000))
	equal "rx bytes" "$(stat "$b" wb rx bytes)" $((1802 * 1000))
	equal "rx packets" "$(stat "$b" wb rx packets)" 1802
}

# TCP keeps only a few frames below itself, however long the ring: late timers
# cost rate, and on a busy host a try may fail.
test_rate_tcp() {
	local rate gro try
	wire rate 2mbit ring 100 || return 1
	addresses
	up
	for gro in on off; do
		ip netns exec "$b" ethtool -K wb gro "$gro"
		for try in 1 2 3; do
			rate=$(frames tcp "$a" "$b" 10.9.0.2 400000 1448)
			[ "${rate:-0}" -lt 215000 ] || break
			echo "# TCP goodput, gro $gro, try $try: $rate"
		done
		# 1348 to 1448 of 1414 to 1514 bytes are payload: 238 to 239
		# kB/s, and a little more as the clock starts late
		between "TCP goodput in bytes/s, gro $gro" "${rate:-0}" \
			215000 250000
	done
	equal "wire drops" "$(stat "$a" wa tx dropped)" 0
}

# TCP sends clones of what it may have to send again; receiving them must not
# change the original.
test_tcp_integrity() {
	local gro
	wire rate 50mbit delay 1ms ring 64 drop any 3% || return 1
	addresses
	up
	for gro in on off; do
		ip netns exec "$b" ethtool -K wb gro "$gro"
		frames tcp "$a" "$b" 10.9.0.2 600000 1000 >/dev/null
	done
	check "there were losses" [ "$(xstat "$a" wa drops[0].dropped)" -gt 5 ]
}

# dropped RULE...: how many of 70 frames the rules drop, judged by what arrives
# and, if they say otherwise, by the counters
dropped() {
	local before lost count
	ip -n "$a" link set dev wa type wire "$@" || return 1
	before=$(stat "$b" wb rx packets)
	sent "$a" wa 88b5 70 60
	wait_for 5 eval '[ "$(($(stat "$b" wb rx packets) +
		$(xstat "$a" wa "drops | map(.dropped) | add")))" = \
		'$((before + 70))' ]'
	lost=$((70 - $(stat "$b" wb rx packets) + before))
	count=$(xstat "$a" wa 'drops | map(.dropped) | add')
	[ "$lost" = "$count" ] && echo "$lost" || echo "$lost (counted $count)"
}

test_drop_rules() {
	local first
	wire rate 100mbit ring 64 || return 1
	up
	equal "every 7" "$(dropped drop 88b5 every 7)" 10
	equal "every 71" "$(dropped drop 88b5 every 71)" 0
	equal "next 5" "$(dropped drop 88b5 next 5)" 5
	equal "pattern 0010001" "$(dropped drop 88b5 pattern 0010001)" 20
	equal "100%" "$(dropped drop any 100%)" 70
	equal "0%" "$(dropped drop any 0%)" 0
	equal "another EtherType" "$(dropped drop 0800 100%)" 0
	equal "rules in order until one drops" \
		"$(dropped drop 88b5 every 7 drop 88b6 100% drop any every 6)" 20
	equal "matched, rule by rule" "$(xstat "$a" wa \
		'drops | map(.matched) | tostring')" '[70,0,60]'
	first=$(dropped seed 5 drop 88b5 40%)
	between "40%" "${first%% *}" 14 42
	equal "the same seed again" "$(dropped seed 5 drop 88b5 40%)" "$first"
	equal "a frame dropped on the cable was sent" \
		"$(stat "$a" wa tx dropped)" 0
}

pfifo() { ip netns exec "$a" tc -s -j qdisc show dev wa root | jq ".[0].$1"; }

# The qdisc above sees back-pressure: it fills, and nothing is lost.
test_back_pressure() {
	wire rate 10kbit ring 4 || return 1
	up
	ip netns exec "$a" tc qdisc replace dev wa root pfifo limit 1000
	# 0.8 s a frame
	sent "$a" wa 88b5 60 1000
	between "frames in the qdisc" "$(pfifo qlen)" 20 56
	between "frames sent" "$(stat "$a" wa tx packets)" 0 36
	# Those in the ring keep their times.
	ip -n "$a" link set dev wa type wire rate 100mbit
	check "drained" wait_for 10 eval '[ "$(stat "$b" wb rx packets)" = 60 ]'
	equal "qdisc drops" "$(pfifo drops)" 0
	between "requeues" "$(pfifo requeues)" 0 2
	between "stops" "$(xstat "$a" wa stops)" 10 60

	ip -n "$a" link set dev wa type wire ring 1
	sent "$a" wa 88b5 100 1000
	check "drained through a ring of one" wait_for 10 eval \
		'[ "$(stat "$b" wb rx packets)" = 160 ]'

	# A ring that grows wakes its queue.
	ip -n "$a" link set dev wa type wire rate 10kbit ring 4
	sent "$a" wa 88b5 60 1000
	between "frames in the qdisc" "$(pfifo qlen)" 20 56
	ip -n "$a" link set dev wa type wire ring 400
	check "the longer ring takes them" wait_for 5 eval '[ "$(pfifo qlen)" = 0 ]'
	# One that shrinks stops it, and is left as full as it is.
	ip -n "$a" link set dev wa type wire ring 4
	sent "$a" wa 88b5 5 1000
	equal "frames in the qdisc" "$(pfifo qlen)" 5
	equal "qdisc drops" "$(pfifo drops)" 0
	equal "wire drops" "$(stat "$a" wa tx dropped)" 0
}

# TX queues have rings of their own and share the rate.
test_queues() {
	ip link add name wa netns "$a" numtxqueues 3 type wire rate 1mbit \
		ring 2 peer name wb netns "$b" || return 1
	equal "the peer has as many" "$(link "$b" wb '.[0].num_tx_queues')" 3
	addresses
	up
	ip netns exec "$a" tc qdisc replace dev wa root handle 1: mq
	ip netns exec "$a" tc qdisc replace dev wa parent 1:3 pfifo limit 1000
	ip netns exec "$a" tc qdisc add dev wa clsact
	ip netns exec "$a" tc filter add dev wa egress protocol 0x88b5 \
		matchall action skbedit queue_mapping 2
	ip netns exec "$a" tc filter add dev wa egress protocol ip \
		matchall action skbedit queue_mapping 0
	# 900 frames of 12 ms wait in queue 2. In queue 0 a ping waits for the
	# two in its ring.
	sent "$a" wa 88b5 900 1500
	check "ping" ping_min 3 >"$scratch/rtt"
	between "round trip in us" "$(cat "$scratch/rtt")" 1560 200000
	between "frames left in queue 2" "$(ip netns exec "$a" tc -s -j \
		qdisc show dev wa | jq 'map(select(.parent == "1:3"))[0].qlen')" \
		1 898
	check "ethtool -L" ip netns exec "$a" ethtool -L wa tx 1
	ip netns exec "$a" ethtool -L wa tx 4 2>/dev/null &&
		check "ethtool -L beyond the maximum accepted" false
	check "ping on the queue left" ping_min 3 >/dev/null
}

# An S-tag crosses, in metadata or in the frame, and is what drop rules see.
test_tags() {
	local off ns dev n
	wire rate 100mbit || return 1
	up
	for ns in "$a" "$b"; do
		dev=wb
		[ "$ns" = "$b" ] || dev=wa
		ip -n "$ns" link add link "$dev" name s type vlan proto 802.1ad id 5
		ip -n "$ns" link add link s name c type vlan proto 802.1Q id 6
		ip -n "$ns" link set dev s up
		ip -n "$ns" link set dev c up
	done
	ip -n "$a" addr add 10.9.0.1/24 dev c
	ip -n "$b" addr add 10.9.0.2/24 dev c
	ip -n "$a" link set dev wa type wire drop 8100 100% drop 0800 100% \
		drop 88a8 every 1000
	check "ping with S- and C-tag" ping_min 3 >/dev/null
	n=$(xstat "$a" wa drops[2].matched)
	between "frames with an outer S-tag" "$n" 3 20
	for off in tx-vlan-stag-hw-insert tx-vlan-offload; do
		check "ethtool -K $off" ip netns exec "$a" ethtool -K wa "$off" off
		check "ping with $off off" ping_min 3 >/dev/null
	done
	equal "taken for another type" "$(xstat "$a" wa \
		'drops[:2] | map(.matched) | add')" 0
	# Both tags fit on top of the MTU: 1500 - 28 bytes
	check "full frames with two tags" ip netns exec "$a" ping -q -c 2 \
		-i 0.05 -s 1472 -M "do" 10.9.0.2 >/dev/null
	equal "receive errors" "$(stat "$b" wb rx errors)" 0
}

# Nothing but the frame crosses. The same probe does see tc_index across veth.
test_scrub() {
	local kind seen
	for kind in veth wire; do
		ip link add name wa netns "$a" type "$kind" peer name wb \
			netns "$b" || return 1
		up
		ip netns exec "$a" tc qdisc add dev wa clsact
		ip netns exec "$b" tc qdisc add dev wb clsact
		ip netns exec "$a" tc filter add dev wa egress prio 1 \
			protocol all matchall action skbedit priority 6 \
			mark 7 continue
		ip netns exec "$a" tc filter add dev wa egress prio 2 \
			protocol all matchall classid 1:5 action pass
		ip netns exec "$b" tc filter add dev wb ingress prio 1 \
			protocol all basic match 'meta(tc_index eq 5)' \
			action continue
		ip netns exec "$b" tc filter add dev wb ingress prio 2 \
			protocol all basic match \
			'meta(nf_mark eq 7) or meta(priority eq 6)' \
			action continue
		sent "$a" wa 88b5 10 100
		wait_for 5 eval '[ "$(stat "$b" wb rx packets)" = 10 ]'
		# Not -j: tc prints an ematch as text there, too
		seen=$(ip netns exec "$b" tc -s filter show dev wb ingress |
			sed -n 's/.*Sent [0-9]* bytes \([0-9]*\) pkt.*/\1/p' |
			tr '\n' ' ')
		ip -n "$a" link del dev wa
		case $kind in
		veth)	check "the probe works on veth: $seen" \
				[ "${seen%% *}" = 10 ] ;;
		wire)	equal "tc_index, mark or priority crossed" "$seen" \
				"0 0 " ;;
		esac
	done
}

# Frames in the ring and on the cable are lost with the link, and counted.
test_link_down() {
	wire rate 1mbit delay 10s ring 20 || return 1
	up
	# 30 frames of 8 ms: at the cut some are in flight, some in the ring,
	# some in the qdisc
	sent "$a" wa 88b5 30 1000
	ip -n "$b" link set dev wb down
	between "cut" "$(xstat "$a" wa cut)" 1 30
	equal "all that was sent was cut" "$(xstat "$a" wa cut)" \
		"$(stat "$a" wa tx packets)"
	equal "received" "$(stat "$b" wb rx packets)" 0
	ip -n "$a" link set dev wa type wire delay 0
	ip -n "$b" link set dev wb up
	check "carrier is back" wait_for 5 ready "$a" wa
	sent "$a" wa 88b5 5 1000
	check "frames arrive again" wait_for 5 eval \
		'[ "$(stat "$b" wb rx packets)" -ge 5 ]'
	# The stack sends frames of its own, one perhaps between two of these looks.
	check "nothing is unaccounted for" wait_for 5 eval \
		'[ "$(stat "$a" wa tx packets)" -eq \
		   "$(($(stat "$b" wb rx packets) + $(xstat "$a" wa cut)))" ]'
}

# A receiver with a smaller MTU drops giants and says so.
test_mtu() {
	ip link add name wa netns "$a" mtu 9000 type wire rate 100mbit \
		peer name wb netns "$b" || return 1
	equal "the peer's MTU" "$(link "$b" wb '.[0].mtu')" 9000
	up
	sent "$a" wa 88b5 3 9014
	check "jumbo frames" wait_for 5 eval '[ "$(stat "$b" wb rx packets)" = 3 ]'
	ip -n "$b" link set dev wb mtu 1500
	sent "$a" wa 88b5 4 1523
	sent "$a" wa 88b5 5 1522
	check "frames of MTU + 22" wait_for 5 eval \
		'[ "$(stat "$b" wb rx packets)" = 8 ]'
	equal "longer ones" "$(stat "$b" wb rx errors)" 4
}

test_delete_in_use() {
	local i
	for i in 1 2 3 4; do
		wire rate 50mbit delay 5ms ring $((i * i)) || return 1
		addresses
		up
		background ip netns exec "$a" ping -q -f 10.9.0.2
		background flood "$a" wa 1000
		background flood "$b" wb 100
		check "traffic flows" wait_for 10 eval \
			'[ "$(stat "$a" wa rx packets)" -gt 50 ]'
		case $i in
		1|2)	check "delete one end" ip -n "$a" link del dev wa ;;
		3)	check "delete the other" ip -n "$b" link del dev wb ;;
		4)	ip -n "$b" link set dev wb down
			check "delete while down" ip -n "$a" link del dev wa ;;
		esac
		check "nothing is left" eval \
			'! { has_link "$a" wa || has_link "$b" wb; }'
		stop
	done
	# A namespace lives as long as a socket in it: traffic from outside only
	wire rate 50mbit delay 5ms || return 1
	up
	background flood "$a" wa 1000
	check "traffic flows" wait_for 10 eval \
		'[ "$(stat "$b" wb rx packets)" -gt 50 ]'
	ip netns del "$b"
	check "the end in a deleted namespace takes the other along" \
		wait_for 10 eval '! has_link "$a" wa'
}

test_unload() {
	ip link show type wire 2>/dev/null | grep -q . &&
		{ echo "# SKIP the host has wires of its own"; return; }
	wire rate 50mbit delay 100ms ring 100 || return 1
	addresses
	up
	ip -n "$b" link add name second type wire
	background flood "$a" wa 1000
	background flood "$b" wb 100
	check "traffic flows" wait_for 10 eval \
		'[ "$(stat "$a" wa rx packets)" -gt 50 ]'
	check "rmmod with pairs in use" rmmod test_wire
	check "the devices are gone" eval '! has_link "$a" wa'
	stop
	check "load again" load
}

load() {
	modprobe test_wire 2>/dev/null ||
		{ [ -n "${WIRE_KO:-}" ] && insmod "$WIRE_KO"; }
}

# Run one test and print its line. It sets why when it fails.
run() {
	local rc=0 start=$SECONDS
	why=
	if setup; then
		"test_$2"
		rc=$?
		[ -z "$why" ] || rc=1
	else
		rc=1 why="set-up failed"
	fi
	teardown
	if [ $rc = 0 ]; then
		echo "ok $1 $2 # time=$((SECONDS - start))s"
		return 0
	fi
	echo "not ok $1 $2"
	echo "# $2: ${why:-failed}"
	return 1
}

[ "$(id -u)" = 0 ] || skip_all "needs root"
for tool in ip tc jq ping python3 ethtool; do
	command -v $tool >/dev/null || skip_all "no $tool"
done
[ -e "$IP_LIB_DIR/link_wire.so" ] ||
	skip_all "no link_wire.so in $IP_LIB_DIR: make -C selftests/wire"
was_loaded=$(grep -c '^test_wire ' /proc/modules)
[ "$was_loaded" = 1 ] || load || skip_all "cannot load test_wire.ko"

finish() {
	teardown
	[ -z "$frames_pid" ] || kill "$frames_pid"
	[ -z "$scratch" ] || rm -rf "$scratch"
	[ "$was_loaded" = 1 ] || rmmod test_wire 2>/dev/null
}
trap finish EXIT
trap 'exit 1' INT TERM
scratch=$(mktemp -d)
coproc python3 "$here/frames.py" serve
exec {from_frames}<&"${COPROC[0]}" {to_frames}>&"${COPROC[1]}"
frames_pid=$COPROC_PID

if [ $# -gt 0 ]; then
	tests=("$@")
else
	mapfile -t tests < <(sed -n 's/^test_\([a-z_]*\)() {$/\1/p' "$0")
fi

echo "TAP version 13"
echo "1..${#tests[@]}"
failed=0
for i in "${!tests[@]}"; do
	run $((i + 1)) "${tests[$i]}" || failed=1
done
exit $failed
