#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Tests of the test wire (test_wire.ko and link_wire.so).
#
#	+--------------+              +--------------+
#	| netns a      |   the wire   | netns b      |
#	|   wa 10.9.0.1+--------------+10.9.0.2 wb   |
#	+--------------+              +--------------+
#
# Times are wall clock, and the machine may be an emulated one whose timers are
# 100s of microseconds late: rates are low and the rings that must not run dry
# are long. Only lower bounds on time are sharp.
#
# Usage: wire.sh [TEST...]. Exit code: as with selftests/net.

# Tests are called by name; conditions are quoted for wait_for to evaluate.
# shellcheck disable=SC2016,SC2317

# shellcheck source=selftests/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"

frames_program=("$top/selftests/wire/frames.py" serve)

# flood_frames NS DEV LEN: until the device is gone; in the background only
flood_frames() {
	exec python3 "${frames_program[0]}" flood "$@" >/dev/null 2>&1
}

link() { ip -n "$1" -j -d -s link show dev "$2" | jq -r "$3"; }
# moved NS DEV rx|tx FIELD: a counter of the device, without the cost of starting jq
moved() {
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

# Without IPv6 only what a test sends is on the wire.
make_namespaces() {
	local ns
	for ns in a b; do
		[ ! -e "/run/netns/$ns" ] || continue
		new_ns "$ns"
		in_ns "$ns" sysctl -qw net.ipv6.conf.all.disable_ipv6=1 \
			net.ipv6.conf.default.disable_ipv6=1
	done
}

# pair [OPTIONS] type KIND [OPTIONS]: wa and wb, as in the drawing, without addresses
pair() {
	make_namespaces
	ip link add name wa netns a "$@" peer name wb netns b || fail "no pair: $*"
}
wire() { pair type wire "$@"; }

up() {
	ip -n a link set dev wa up
	ip -n b link set dev wb up
	check "wa is not up" wait_for 5 ready a wa &&
		check "wb is not up" wait_for 5 ready b wb
}

addresses() {
	ip -n a addr replace 10.9.0.1/24 dev wa
	ip -n b addr replace 10.9.0.2/24 dev wb
	ip -n a neigh replace 10.9.0.2 dev wa nud permanent lladdr \
		"$(link b wb '.[0].address')"
	ip -n b neigh replace 10.9.0.1 dev wb nud permanent lladdr \
		"$(link a wa '.[0].address')"
}

# ping_min COUNT: the smallest round trip in whole microseconds; fails if a
# packet is lost
ping_min() {
	local out
	out=$(in_ns a ping -q -c "$1" -i 0.05 -W 5 10.9.0.2) || return 1
	grep -q ' 0% packet loss' <<<"$out" || return 1
	sed -n 's/^rtt[^=]*= \([0-9]*\)\.\([0-9]*\).*/\1\2/p' <<<"$out"
}

test_create_delete() {
	wire rate 2.5gbit delay 1500ns ring 3 overhead 24 seed 7 \
		drop 88b5 0.5% drop any pattern 0110 || return
	equal "parameters at the near end" \
		"$(link a wa '.[0].linkinfo.info_data | tostring')" \
		'{"rate":2500000000,"delay_ns":1500,"ring":3,"overhead":24,"seed":7,"drops":[{"ethertype":"88b5","percent":0.5},{"ethertype":"any","pattern":"0110"}]}'
	equal "both ends are alike" \
		"$(link a wa '.[0].linkinfo.info_data | tostring')" \
		"$(link b wb '.[0].linkinfo.info_data | tostring')"
	check "text form" grep -q \
		'wire rate 2500mbit delay 1500ns ring 3 overhead 24 seed 7 drop 88b5 0.5% drop any pattern 0110' \
		<<<"$(ip -n a -d link show dev wa)"
	equal "speed" "$(in_ns a cat /sys/class/net/wa/speed \
		2>/dev/null)" ""
	check "change" ip -n a link set dev wa type wire rate 1mbit drop none
	equal "only one direction changes" \
		"$(link a wa '.[0].linkinfo.info_data.rate'),$(link b wb \
		'.[0].linkinfo.info_data.rate')" 1000000,2500000000
	equal "drop none clears" \
		"$(link a wa '.[0].linkinfo.info_data.drops | length')" 0
	equal "carrier while down" "$(carrier a wa)" false
	ip -n a link set dev wa up
	sleep 0.1
	equal "carrier with one end up" "$(carrier a wa)" false
	equal "speed without a carrier" "$(in_ns a cat /sys/class/net/wa/speed)" -1
	ip -n b link set dev wb up
	check "carrier with both up" wait_for 5 eval \
		'[ "$(carrier a wa)$(carrier b wb)" = truetrue ]'
	equal "speed" "$(in_ns a cat /sys/class/net/wa/speed)" 1
	ip -n b link set dev wb down
	check "carrier after the far end went down" wait_for 5 eval \
		'[ "$(carrier a wa)" = false ]'
	ip -n b link del dev wb
	check "the other end is gone, too" eval '! has_link a wa'
	check "default names" ip -n a link add type wire
	check "default names" has_link a wire1
}

test_bad_input() {
	local args text out

	make_namespaces
	ip -n a link add name wa type wire peer name wb || { fail "no pair"; return; }
	while IFS='|' read -r args text; do
		# shellcheck disable=SC2086
		out=$(ip -n a link set dev wa type wire $args 2>&1) &&
			{ fail "$args accepted"; continue; }
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
		"$(link a wa '.[0].linkinfo.info_data | tostring')" \
		'{"rate":1000000000,"delay_ns":0,"ring":8,"overhead":0,"seed":1,"drops":[]}'
	out=$(ip -n a link add name wx type wire rate 1 2>&1) &&
		fail "add with rate 1 accepted"
	check "a refused add leaves nothing" eval '! has_link a wx'
	check "nor its peer" eval '! has_link a wire0'
	# The names clash only when the second device is registered.
	ip -n a link add name wy type wire peer name wb 2>/dev/null &&
		fail "clash of names accepted"
	check "a failed add leaves nothing" eval '! has_link a wy'
}

test_netns() {
	make_namespaces
	ip link add name wa-$$ type wire rate 50mbit peer name wb-$$ ||
		{ fail "no pair"; return; }
	ip link set dev wa-$$ netns a name wa
	ip link set dev wb-$$ netns b name wb
	addresses
	up || return
	check "ping after the move" ping_min 3 >/dev/null
	# Back into one namespace and out again, up and in use
	background flood_frames a wa 300
	wait_for 10 eval '[ "$(moved b wb rx packets)" -gt 20 ]'
	check "move in use" ip -n b link set dev wb netns a
	check "carrier is lost" equal x "$(carrier a wa)" false
	check "move back" ip -n a link set dev wb netns b
	end_background
	addresses
	up
	check "ping after moving twice" ping_min 3 >/dev/null
	del_ns b
	check "the end in a deleted namespace takes the other along" \
		wait_for 10 eval '! has_link a wa'
}

test_ping() {
	wire rate 100mbit delay 20ms || return
	addresses
	up
	check "lossless ping" ping_min 5 >"$scratch/rtt"
	# 98 bytes at 100 Mbit/s twice: 15.68 us
	between "round trip in us" "$(cat "$scratch/rtt")" 40015 80000
	ip -n a link set dev wa type wire delay 0
	check "lossless ping" ping_min 5 >"$scratch/rtt"
	between "round trip in us, delay one way only" \
		"$(cat "$scratch/rtt")" 20015 60000
}

test_rate_frames() {
	local n ns
	# The ring spans 400 * 0.8 ms = 320 ms of late timers
	wire rate 10mbit ring 400 || return
	up
	# The default may be one that drops, as fq_codel
	in_ns a tc qdisc replace dev wa root pfifo limit 2000
	frames span a wa b wb 1001 1000
	read -r n ns <<<"$reply"
	equal "frames arrived" "$n" 1001
	between "us from first to last, 1000 frames of 800 us" $((ns / 1000)) \
		775000 825000
	ip -n a link set dev wa type wire overhead 250
	frames span a wa b wb 801 1000
	read -r n ns <<<"$reply"
	equal "frames arrived" "$n" 801
	between "us from first to last, 800 frames of 1000 us" $((ns / 1000)) \
		775000 825000
	equal "tx bytes do not count overhead" "$(moved a wa tx bytes)" \
		$((1802 * 1000))
	equal "rx bytes" "$(moved b wb rx bytes)" $((1802 * 1000))
	equal "rx packets" "$(moved b wb rx packets)" 1802
}

# TCP keeps only a few frames below itself, however long the ring: late timers
# cost rate, and on a busy host a try may fail.
test_rate_tcp() {
	local rate gro try
	wire rate 2mbit ring 100 || return
	addresses
	up
	for gro in on off; do
		in_ns b ethtool -K wb gro "$gro"
		for try in 1 2 3; do
			frames tcp a b 10.9.0.2 400000 1448
			rate=$reply
			[ "${rate:-0}" -lt 215000 ] || break
			echo "# TCP goodput, gro $gro, try $try: $rate"
		done
		# 1348 to 1448 of 1414 to 1514 bytes are payload: 238 to 239
		# kB/s, and a little more as the clock starts late
		between "TCP goodput in bytes/s, gro $gro" "${rate:-0}" \
			215000 250000
	done
	equal "wire drops" "$(moved a wa tx dropped)" 0
}

# TCP sends clones of what it may have to send again; receiving them must not
# change the original.
test_tcp_integrity() {
	local gro
	wire rate 50mbit delay 1ms ring 64 drop any 3% || return
	addresses
	up
	for gro in on off; do
		in_ns b ethtool -K wb gro "$gro"
		frames tcp a b 10.9.0.2 600000 1000
	done
	check "there were losses" [ "$(xstat a wa drops[0].dropped)" -gt 5 ]
}

# drop RULE...: sets lost to how many of 70 frames the rules drop, judged by what arrives
# and, if they say otherwise, by the counters
drop() {
	local before count
	lost=
	ip -n a link set dev wa type wire "$@" || return
	before=$(moved b wb rx packets)
	frames send a wa 88b5 70 60
	wait_for 5 eval '[ "$(($(moved b wb rx packets) +
		$(xstat a wa "drops | map(.dropped) | add")))" = \
		'$((before + 70))' ]'
	lost=$((70 - $(moved b wb rx packets) + before))
	count=$(xstat a wa 'drops | map(.dropped) | add')
	[ "$lost" = "$count" ] || lost+=" (counted $count)"
}

# drops TEXT WANTED RULE...
drops() {
	drop "${@:3}"
	equal "$1" "$lost" "$2"
}

test_drop_rules() {
	local first
	wire rate 100mbit ring 64 || return
	up
	drops "every 7" 10 drop 88b5 every 7
	drops "every 71" 0 drop 88b5 every 71
	drops "next 5" 5 drop 88b5 next 5
	drops "pattern 0010001" 20 drop 88b5 pattern 0010001
	drops "100%" 70 drop any 100%
	drops "0%" 0 drop any 0%
	drops "another EtherType" 0 drop 0800 100%
	drops "rules in order until one drops" 20 \
		drop 88b5 every 7 drop 88b6 100% drop any every 6
	equal "matched, rule by rule" "$(xstat a wa \
		'drops | map(.matched) | tostring')" '[70,0,60]'
	drop seed 5 drop 88b5 40%
	first=$lost
	between "40%" "${first%% *}" 14 42
	drops "the same seed again" "$first" seed 5 drop 88b5 40%
	equal "a frame dropped on the cable was sent" \
		"$(moved a wa tx dropped)" 0
}

pfifo() { in_ns a tc -s -j qdisc show dev wa root | jq ".[0].$1"; }

# The qdisc above sees back-pressure: it fills, and nothing is lost.
test_back_pressure() {
	wire rate 10kbit ring 4 || return
	up
	in_ns a tc qdisc replace dev wa root pfifo limit 1000
	# 0.8 s a frame
	frames send a wa 88b5 60 1000
	between "frames in the qdisc" "$(pfifo qlen)" 20 56
	between "frames sent" "$(moved a wa tx packets)" 0 36
	# Those in the ring keep their times.
	ip -n a link set dev wa type wire rate 100mbit
	check "drained" wait_for 10 eval '[ "$(moved b wb rx packets)" = 60 ]'
	equal "qdisc drops" "$(pfifo drops)" 0
	between "requeues" "$(pfifo requeues)" 0 2
	between "stops" "$(xstat a wa stops)" 10 60

	ip -n a link set dev wa type wire ring 1
	frames send a wa 88b5 100 1000
	check "drained through a ring of one" wait_for 10 eval \
		'[ "$(moved b wb rx packets)" = 160 ]'

	# A ring that grows wakes its queue.
	ip -n a link set dev wa type wire rate 10kbit ring 4
	frames send a wa 88b5 60 1000
	between "frames in the qdisc" "$(pfifo qlen)" 20 56
	ip -n a link set dev wa type wire ring 400
	check "the longer ring takes them" wait_for 5 eval '[ "$(pfifo qlen)" = 0 ]'
	# One that shrinks stops it, and is left as full as it is.
	ip -n a link set dev wa type wire ring 4
	frames send a wa 88b5 5 1000
	equal "frames in the qdisc" "$(pfifo qlen)" 5
	equal "qdisc drops" "$(pfifo drops)" 0
	equal "wire drops" "$(moved a wa tx dropped)" 0
}

# TX queues have rings of their own and share the rate.
test_queues() {
	pair numtxqueues 3 type wire rate 1mbit ring 2 || return
	equal "the peer has as many" "$(link b wb '.[0].num_tx_queues')" 3
	addresses
	up
	in_ns a tc qdisc replace dev wa root handle 1: mq
	in_ns a tc qdisc replace dev wa parent 1:3 pfifo limit 1000
	in_ns a tc qdisc add dev wa clsact
	in_ns a tc filter add dev wa egress protocol 0x88b5 \
		matchall action skbedit queue_mapping 2
	in_ns a tc filter add dev wa egress protocol ip \
		matchall action skbedit queue_mapping 0
	# 900 frames of 12 ms wait in queue 2. In queue 0 a ping waits for the
	# two in its ring.
	frames send a wa 88b5 900 1500
	check "ping" ping_min 3 >"$scratch/rtt"
	between "round trip in us" "$(cat "$scratch/rtt")" 1560 200000
	between "frames left in queue 2" "$(in_ns a tc -s -j \
		qdisc show dev wa | jq 'map(select(.parent == "1:3"))[0].qlen')" \
		1 898
	check "ethtool -L" in_ns a ethtool -L wa tx 1
	in_ns a ethtool -L wa tx 4 2>/dev/null &&
		fail "ethtool -L beyond the maximum accepted"
	check "ping on the queue left" ping_min 3 >/dev/null
}

# An S-tag crosses, in metadata or in the frame, and is what drop rules see.
test_tags() {
	local off ns dev n
	wire rate 100mbit || return
	up
	for ns in a b; do
		dev=wb
		[ "$ns" = b ] || dev=wa
		ip -n "$ns" link add link "$dev" name s type vlan proto 802.1ad id 5
		ip -n "$ns" link add link s name c type vlan proto 802.1Q id 6
		ip -n "$ns" link set dev s up
		ip -n "$ns" link set dev c up
	done
	ip -n a addr add 10.9.0.1/24 dev c
	ip -n b addr add 10.9.0.2/24 dev c
	ip -n a link set dev wa type wire drop 8100 100% drop 0800 100% \
		drop 88a8 every 1000
	check "ping with S- and C-tag" ping_min 3 >/dev/null
	n=$(xstat a wa drops[2].matched)
	between "frames with an outer S-tag" "$n" 3 20
	for off in tx-vlan-stag-hw-insert tx-vlan-offload; do
		check "ethtool -K $off" in_ns a ethtool -K wa "$off" off
		check "ping with $off off" ping_min 3 >/dev/null
	done
	equal "taken for another type" "$(xstat a wa \
		'drops[:2] | map(.matched) | add')" 0
	# Both tags fit on top of the MTU: 1500 - 28 bytes
	check "full frames with two tags" in_ns a ping -q -c 2 \
		-i 0.05 -s 1472 -M "do" 10.9.0.2 >/dev/null
	equal "receive errors" "$(moved b wb rx errors)" 0
}

# Nothing but the frame crosses. The same probe does see tc_index across veth.
test_scrub() {
	local kind seen
	for kind in veth wire; do
		pair type "$kind" || return
		up
		in_ns a tc qdisc add dev wa clsact
		in_ns b tc qdisc add dev wb clsact
		in_ns a tc filter add dev wa egress prio 1 \
			protocol all matchall action skbedit priority 6 \
			mark 7 continue
		in_ns a tc filter add dev wa egress prio 2 \
			protocol all matchall classid 1:5 action pass
		in_ns b tc filter add dev wb ingress prio 1 \
			protocol all basic match 'meta(tc_index eq 5)' \
			action continue
		in_ns b tc filter add dev wb ingress prio 2 \
			protocol all basic match \
			'meta(nf_mark eq 7) or meta(priority eq 6)' \
			action continue
		frames send a wa 88b5 10 100
		wait_for 5 eval '[ "$(moved b wb rx packets)" = 10 ]'
		# Not -j: tc prints an ematch as text there, too
		seen=$(in_ns b tc -s filter show dev wb ingress |
			sed -n 's/.*Sent [0-9]* bytes \([0-9]*\) pkt.*/\1/p' |
			tr '\n' ' ')
		ip -n a link del dev wa
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
	wire rate 1mbit delay 10s ring 20 || return
	up
	# 30 frames of 8 ms: at the cut some are in flight, some in the ring,
	# some in the qdisc
	frames send a wa 88b5 30 1000
	ip -n b link set dev wb down
	between "cut" "$(xstat a wa cut)" 1 30
	equal "all that was sent was cut" "$(xstat a wa cut)" \
		"$(moved a wa tx packets)"
	equal "received" "$(moved b wb rx packets)" 0
	ip -n a link set dev wa type wire delay 0
	ip -n b link set dev wb up
	check "carrier is back" wait_for 5 ready a wa
	frames send a wa 88b5 5 1000
	check "frames arrive again" wait_for 5 eval \
		'[ "$(moved b wb rx packets)" -ge 5 ]'
	# The stack sends frames of its own, one perhaps between two of these looks.
	check "nothing is unaccounted for" wait_for 5 eval \
		'[ "$(moved a wa tx packets)" -eq \
		   "$(($(moved b wb rx packets) + $(xstat a wa cut)))" ]'
}

# ethtool -G has the link go and come, as of a NIC that makes its rings anew.
test_ring_by_ethtool() {
	local downs
	wire rate 1mbit delay 10s ring 4 || return
	up
	downs=$(in_ns b cat /sys/class/net/wb/carrier_down_count)
	in_ns a ethtool -G wa tx 4097 2>/dev/null && fail "a longer ring than there is"
	frames send a wa 88b5 3 1000
	check "ethtool -G" in_ns a ethtool -G wa tx 9
	equal "ring" "$(link a wa '.[0].linkinfo.info_data.ring')" 9
	equal "that of the other end" "$(link b wb '.[0].linkinfo.info_data.ring')" 4
	equal "frames sent that were cut" "$(xstat a wa cut)" "$(moved a wa tx packets)"
	at_least "times that wb had no carrier" \
		"$(in_ns b cat /sys/class/net/wb/carrier_down_count)" $((downs + 1))
	ip -n a link set dev wa type wire delay 0
	check "carrier is back" wait_for 5 ready a wa
	frames send a wa 88b5 5 1000
	check "frames arrive again" wait_for 5 eval '[ "$(moved b wb rx packets)" -ge 5 ]'
}

# ethtool -C: slots are given back, and frames taken in, no more often than that; with BQL too.
test_interrupts() {
	local start
	wire rate 100mbit ring 8 || return
	up
	in_ns a ethtool --set-priv-flags wa bql on 2>/dev/null && fail "bql while it is up"
	ip -n a link set dev wa down
	check "bql" in_ns a ethtool --set-priv-flags wa bql on
	ip -n a link set dev wa up
	check "carrier is back" wait_for 5 ready a wa
	check "tx-usecs" in_ns a ethtool -C wa tx-usecs 20000
	check "rx-usecs" in_ns b ethtool -C wb rx-usecs 30000
	equal "of wa" "$(usecs a wa)" "0 20000"
	equal "of wb" "$(usecs b wb)" "30000 0"
	start=$(date +%s%N)
	frames send a wa 88b5 40 1000
	check "frames arrive" wait_for 5 eval '[ "$(moved b wb rx packets)" -ge 40 ]'
	# five rings: four interrupts apart
	at_least "ns for 40 frames" $(($(date +%s%N) - start)) 80000000
}
usecs() { in_ns "$1" ethtool -c "$2" | awk '/^rx-usecs:/ { rx = $2 } /^tx-usecs:/ { print rx, $2 }'; }

# A receiver with a smaller MTU drops giants and says so.
test_mtu() {
	pair mtu 9000 type wire rate 100mbit || return
	equal "the peer's MTU" "$(link b wb '.[0].mtu')" 9000
	up
	frames send a wa 88b5 3 9014
	check "jumbo frames" wait_for 5 eval '[ "$(moved b wb rx packets)" = 3 ]'
	ip -n b link set dev wb mtu 1500
	frames send a wa 88b5 4 1523
	frames send a wa 88b5 5 1522
	check "frames of MTU + 22" wait_for 5 eval \
		'[ "$(moved b wb rx packets)" = 8 ]'
	equal "longer ones" "$(moved b wb rx errors)" 4
}

test_delete_in_use() {
	local i
	for i in 1 2 3 4; do
		wire rate 50mbit delay 5ms ring $((i * i)) || return
		addresses
		up
		background ip netns exec a ping -q -f 10.9.0.2 >/dev/null 2>&1
		background flood_frames a wa 1000
		background flood_frames b wb 100
		check "traffic flows" wait_for 10 eval \
			'[ "$(moved a wa rx packets)" -gt 50 ]'
		case $i in
		1|2)	check "delete one end" ip -n a link del dev wa ;;
		3)	check "delete the other" ip -n b link del dev wb ;;
		4)	ip -n b link set dev wb down
			check "delete while down" ip -n a link del dev wa ;;
		esac
		check "nothing is left" eval \
			'! { has_link a wa || has_link b wb; }'
		end_background
	done
	# A namespace lives as long as a socket in it: traffic from outside only
	wire rate 50mbit delay 5ms || return
	up
	background flood_frames a wa 1000
	check "traffic flows" wait_for 10 eval \
		'[ "$(moved b wb rx packets)" -gt 50 ]'
	del_ns b
	check "the end in a deleted namespace takes the other along" \
		wait_for 10 eval '! has_link a wa'
}

test_unload() {
	ip link show type wire 2>/dev/null | grep -q . &&
		{ skip="the host has wires of its own"; return; }
	wire rate 50mbit delay 100ms ring 100 || return
	addresses
	up
	ip -n b link add name second type wire
	background flood_frames a wa 1000
	background flood_frames b wb 100
	check "traffic flows" wait_for 10 eval \
		'[ "$(moved a wa rx packets)" -gt 50 ]'
	check "rmmod with pairs in use" rmmod test_wire
	check "the devices are gone" eval '! has_link a wa'
	end_background
	check "load again" modprobe test_wire
}

run_tests create_delete bad_input netns ping rate_frames rate_tcp tcp_integrity \
	drop_rules back_pressure queues tags scrub link_down ring_by_ethtool interrupts mtu \
	delete_in_use unload
