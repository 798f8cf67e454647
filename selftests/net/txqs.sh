#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# A device with several TX queues: a scheduler for each, one port.
#
#   s1 ---\
#   s2 ---- sw (br0) --- r	All links 20 Mbit/s, 4 TX queues at each end.
#   s3 ---/

# shellcheck source=selftests/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"

tx_queues=4

star() {
	local i
	switch sw
	host r 10.0.0.100/24
	cable sw r0 r e0
	bfc sw r0 hrtt 6ms
	bfc r e0 role nic hrtt 6ms
	for i in 1 2 3; do
		host "s$i" "10.0.0.$i/24"
		cable sw "p$i" "s$i" e0
		bfc sw "p$i" hrtt 6ms
		bfc "s$i" e0 role nic hrtt 6ms
	done
	peers_up
	meet 10.0.0.100 s1 s2 s3
}

# refuses TEXT TC-ARGS...: in the namespace s, with these words
refuses() {
	local text=$1 said
	shift
	said=$(tc -n s "$@" 2>&1) && fail "tc takes $*"
	[[ $said == *"$text"* ]] || fail "tc $* said: $said"
}

pair() {
	host s 10.0.0.1/24
	host r 10.0.0.2/24
	cable s e0 r e0 "$@"
}

# by_port N: what s sends to port 5000 + t leaves through TX queue t, below N
by_port() {
	local txq
	tc -n s qdisc add dev e0 clsact
	for ((txq = 0; txq < $1; txq++)); do
		check "filter of TX queue $txq" tc -n s filter add dev e0 egress \
			pref $((1 + txq)) protocol ip u32 match ip dport $((5000 + txq)) 0xffff \
			action skbedit queue_mapping $txq
	done
}

# root HANDLE OPTIONS...: a new one on s
root() {
	local handle=$1
	shift
	check "tc refuses bfc $*" tc -n s qdisc replace dev e0 root handle "$handle:" bfc "$@"
}

# shape_of HANDLE QDISCS OPTIONS...: so many below the root that this makes by itself
shape_of() {
	root "$1" "${@:3}"
	equal "qdiscs below ${*:3}" "$(children s e0)" "$2"
}

test_shape() {
	pair
	root 5 queues 16 role nic
	equal "handle" "$(tc -n s -j qdisc show dev e0 root | jq -r '.[0].handle')" 5:
	equal "parents" "$(tc -n s -j qdisc show dev e0 |
		jq -r '[.[] | select(.parent) | .parent] | sort | join(" ")')" \
		"5:1 5:2 5:3 5:4"
	equal "TX queues" "$(stat s e0 txqs)" 4
	equal "classes" "$(tc -n s class show dev e0 | grep -c '^class bfc')" $((4 + 4 * 16))
	equal "numbers of queues" "$(tc -n s class show dev e0 |
		sed -n 's/^class bfc :\([0-9a-f]*\) .*/\1/p' | sort -u | wc -l)" 64
	refuses "change the root" qdisc add dev e0 parent 5:1 fq
	refuses "txqs one" qdisc change dev e0 root bfc fc fafc
	refuses "txqs one" qdisc change dev e0 root bfc fc capfc-max role switch
	refuses "txqs cannot change" qdisc change dev e0 root bfc txqs one
	tc -n s qdisc change dev e0 parent 5:1 bfc hrtt 1ms 2>/dev/null &&
		fail "the qdisc of a TX queue can be changed"
	tc -n s qdisc change dev e0 root bfc hrtt 1ms || fail "the root cannot be changed"
	root 6 txqs one role nic
	equal "qdiscs below one" "$(children s e0)" 0
	equal "TX queues with one scheduler" "$(stat s e0 txqs)" 0
	refuses "txqs one" qdisc replace dev e0 root handle 7: bfc fc capfc-cal txqs each
	shape_of 8 4 fc none
	shape_of 9 4 fc pfc
	shape_of 10 4 fc pfc role nic
	shape_of 11 4 fc capfc-max role nic
	shape_of 12 0 fc capfc-max
	shape_of 13 0 fc fafc
	shape_of 14 0 fc fafc role nic
	shape_of 15 0 fc pfc strict 6
	shape_of 16 4 fc pfc
	refuses "txqs one" qdisc change dev e0 root bfc strict 6
	tc -n s qdisc del dev e0 root
	equal "bfc that is left" "$(tc -n s -j qdisc show dev e0 |
		jq '[.[] | select(.kind == "bfc")] | length')" 0
	# Half made: the schedulers are there, but not configured.
	refuses "too small" qdisc add dev e0 root bfc buffer b size 64kb reserve 64kb
	ip -n s link add many numtxqueues 64 type dummy
	tc -n s qdisc add dev many root bfc queues 1024 || fail "too many are refused"
	equal "qdiscs where queues would be too many" "$(children s many)" 0
	tc -n s qdisc del dev many root
	refuses "at most 8192" qdisc add dev many root bfc queues 1024 txqs each
	tc -n s qdisc add dev many root bfc flows 100000 || fail "too many flows are refused"
	equal "qdiscs where flow tables would be too long" "$(children s many)" 0
	tc -n s qdisc del dev many root
	refuses "flows: at most 4194304 with those of all TX queues" \
		qdisc add dev many root bfc flows 100000 txqs each
	# The frame has 1024 numbers: 32 TX queues have theirs, the others the same again.
	tc -n s qdisc add dev many root bfc queues 32 || fail "64 TX queues are refused"
	equal "classes of many" "$(tc -n s class show dev many | grep -c '^class bfc :')" \
		$((64 * 32))
	equal "numbers of many" "$(tc -n s class show dev many |
		sed -n 's/^class bfc :\([0-9a-f]*\) .*/\1/p' | sort -u | wc -l)" 1024
}

# counts_as LEN: so long is each packet of s that is sent now, a datagram of 942 bytes without a table
counts_as() {
	local before
	before=$(tc -n s -s -j qdisc show dev e0 root | jq '.[0].bytes')
	send s 10.0.0.2 5000 -n 10 -s 900
	finish "$bg"
	equal "bytes of ten packets" \
		"$(tc -n s -s -j qdisc show dev e0 root | jq ".[0].bytes - $before")" $((10 * $1))
}

# `tc qdisc change` replaces the size table of the root, or removes it, behind the qdisc's back.
test_size_table() {
	local overhead table
	pair
	meet 10.0.0.2 s
	without_ipv6 s r
	tc -n s qdisc replace dev e0 root handle 5: stab overhead 1000 bfc fc none
	counts_as 1942
	for overhead in 500 0 200; do
		table="stab overhead $overhead"
		((overhead)) || table=
		# shellcheck disable=SC2086
		check "$overhead" tc -n s qdisc change dev e0 root handle 5: $table bfc limit 8mb
		sleep 0.1
		counts_as $((942 + overhead))
	done
}

# Only the root speaks of the port's neighbour.
test_statistics() {
	pair
	bfc s e0
	bfc r e0
	peers_up
	equal "lines of the neighbour" "$(tc -n s -s qdisc show dev e0 | grep '^  peer ' |
		cut -d ' ' -f 3-4)" "peer up"
	equal "neighbours in JSON" "$(tc -n s -s -j qdisc show dev e0 |
		jq -c '[.[] | .peer_state]')" '["up",null,null,null,null]'
	equal "last line of the root" "$(tc -n s -s qdisc show dev e0 root | tail -n 1 |
		cut -d ' ' -f 3-4)" "peer up"
}

# A program stamps what leaves through any TX queue; the bfc that replaces another goes on with
# it, whether that has one scheduler or several.
test_program() {
	local prog=/run/bpf/txqs
	pair
	meet 10.0.0.2 s
	check "bpftool" bpftool prog load "$top/build/bpf/bfc_stamp.bpf.o" $prog \
		type classifier
	root 5
	check "no program" tc -n s qdisc change dev e0 root bfc stamp pinned $prog
	rm -f $prog
	runs_everywhere 4
	root 6 txqs one
	runs_everywhere 0
	root 7
	runs_everywhere 4
	in_ns s ethtool -L e0 tx 2
	in_ns s ethtool -L e0 tx 4
	runs_everywhere 4
	check "still a program" tc -n s qdisc change dev e0 root bfc stamp native
	equal "stamp" "$(stat s e0 options.stamp)" native
	check "the program stays" wait_for 5 no_programs
	send s 10.0.0.2 5000 -f 40 -n 2
	finish "$bg"
	equal "runs without it" "$(stat s e0 stamp_runs)" "$(cat "$scratch/runs")"
}
no_programs() { bpftool -j prog show | jq -e 'all(.type != "sched_cls")'; }
# runs_everywhere TXQS: of so many schedulers below the root
runs_everywhere() {
	local before
	equal "qdiscs below a program" "$(children s e0)" "$1"
	equal "stamp" "$(stat s e0 options.stamp)" pinned
	before=$(stat s e0 stamp_runs)
	send s 10.0.0.2 5000 -f 40 -n 2
	finish "$bg"
	wait_for 5 drained s e0
	stat s e0 stamp_runs >"$scratch/runs"
	between "runs" $(($(cat "$scratch/runs") - before)) 80 90
	equal "TX queues where it ran" \
		"$(of_txqs s e0 '.stamp_runs // 0' | awk '$1' | wc -l)" "$1"
}

# Nothing is lost and nothing overtakes, by pauses of queues of all TX queues.
test_incast() {
	star
	equal "queues that the switch hears of" "$(stat sw p1 peer_queues)" 128
	receive r 5000 -n 900 -t 60 -i 3
	local receiver=$bg all=() i
	for i in 1 2 3; do
		send "s$i" 10.0.0.100 5000 -F $((i * 100)) -f 10 -n 30
		all+=("$bg")
	done
	finish "${all[@]}" "$receiver"
	equal "packets received" "$(received r 5000 .packets)" 900
	equal "reordered" "$(received r 5000 .reordered)" 0
	equal "drops" "$(sum_stat drops)" 0
	at_least "pauses sent" "$(sum_stat pause_tx)" 10
	at_least "TX queues of s1 that sent" "$(stat s1 e0 txqs_sent)" 2
	# A HELLO may leave in the middle of the dump.
	between "packets of all TX queues beyond the root's" "$(tc -n s1 -s -j qdisc show \
		dev e0 | jq '([.[] | select(.parent) | .packets] | add) - .[0].packets')" 0 1
	all_idle
}

# The neighbour pauses queues of the third TX queue, number 2 x 8 and on: flows of the
# others go on.
test_paused_there() {
	local total
	pair rate 4mbit delay 100us ring 16
	meet 10.0.0.2 s
	bfc s e0 queues 8 peer on hrtt 4ms sticky 10s
	frames open r r e0
	send s 10.0.0.2 5000 -f 40 -t 20 -b 20000
	sleep 2
	frames pause r queues=32 bits=16,17,18,19,20,21,22,23 hold=3000000000
	sleep 0.5
	numbers_17_to_24 >"$scratch/before"
	total=$(stat s e0 bytes)
	sleep 2
	numbers_17_to_24 >"$scratch/after"
	equal "packets of paused queues" "$(cat "$scratch/before")" "$(cat "$scratch/after")"
	at_least "bytes of others" $(($(stat s e0 bytes) - total)) 900000
	equal "paused" "$(stat s e0 paused)" 8
	sleep 2
	equal "paused behind the hold time" "$(stat s e0 paused)" 0
	cmp -s <(numbers_17_to_24) "$scratch/after" && fail "they do not go on"
	frames close
}
# numbers_17_to_24: packets that these queues have sent
numbers_17_to_24() { classes s e0 | awk '$1 ~ /^1[1-8]$/ { print $1, $3 }'; }

# One scheduler serves all TX queues, and goes on while the first of them is full.
test_resume_beside_a_full_queue() {
	local qn txq came
	exact_clock || return
	tx_queues=2 pair rate 100kbit delay 100us ring 2
	without_ipv6 s r
	ip -n r link set dev e0 type wire rate 20mbit
	meet 10.0.0.2 s
	bfc s e0 txqs one queues 8 peer on hrtt 4ms assign dynamic watchdog off
	by_port 2
	frames open r r e0
	# A HELLO a second from then on, and none in what follows
	sleep 4
	said=$(stat s e0 hello_tx)
	poll=0.01 wait_for 3 has_said_more || fail "no HELLO"
	sleep 0.1
	frames pause r bits=0,1,2,3,4,5,6,7 hold=3000000000
	sleep 0.01
	send s 10.0.0.2 5001 -s 100 -n 1
	poll=0.002 finish "$bg"
	qn=$(classes s e0 | awk '$6 { print $1 - 1 }')
	frames pause r bits="$qn" hold=3000000000
	sleep 0.01
	came=$(rx_packets r)
	send s 10.0.0.2 5000 -s 1400 -f 2 -n 1
	poll=0.002 finish "$bg"
	equal "packets that wait" "$(stat s e0 qlen)" 1
	frames pause r bits= hold=3000000000
	sleep 0.02
	equal "packets that wait, resumed" "$(stat s e0 qlen)" 0
	equal "packets that have left the other TX queue" $(($(rx_packets r) - came)) 0
	frames close
}
has_said_more() { [ "$(stat s e0 hello_tx)" -gt "$said" ]; }
rx_packets() { in_ns "$1" cat /sys/class/net/e0/statistics/rx_packets; }

# mbit SECONDS: what leaves s through e0 meanwhile, Mbit/s
mbit() {
	local bytes
	bytes=$(stat s e0 bytes)
	sleep "$1"
	calc "($(stat s e0 bytes) - $bytes) * 8 / $1e6"
}

# The rate is the port's, and flows of all TX queues get the same of it.
test_rate() {
	local mbit shares n
	pair rate 50mbit delay 100us ring 8
	bfc s e0 queues 32 hrtt 4ms rate 8mbit flows 10000
	meet 10.0.0.2 s
	for n in 1 24; do
		receive r $((5000 + n)) -t 60 -i 3
		local receiver=$bg
		send s 10.0.0.2 $((5000 + n)) -f "$n" -t 8 -b 20000
		sleep 2
		mbit=$(mbit 4)
		say "$n flows: $mbit Mbit/s, TX queues $(stat s e0 txqs_sent)"
		between "rate with $n flows" "$mbit" 7.85 8.15
		finish "$bg" "$receiver"
	done
	shares=$(received r 5024 '.flows | map(.bytes) | "\(min) \(max)"')
	say "bytes of flows $shares"
	at_most "most against least" "$(calc "${shares#* } / ${shares% *}")" 1.2
}

# TX queues that the neighbour holds paused, all the time or now and then, take of the rate what they
# send: what goes elsewhere has the rest.
test_rate_beside_paused() {
	local tx_queues=16 slow mbit txq
	for slow in 200kbit 6mbit; do
		switch sw
		host s 10.0.0.1/24
		host r 10.0.0.2/24
		host fast 10.0.0.3/24
		cable sw p s e0 rate 50mbit delay 100us ring 2
		cable sw r0 r e0 rate 50mbit delay 100us ring 2
		cable sw fast0 fast e0 rate 50mbit delay 100us ring 2
		bfc sw p hrtt 6ms
		bfc sw r0 hrtt 6ms rate $slow
		bfc sw fast0 hrtt 6ms
		bfc s e0 role nic hrtt 6ms rate 10mbit
		check "no agreement" wait_for 20 peer_up s e0
		meet 10.0.0.2 s
		meet 10.0.0.3 s
		by_port 16
		for ((txq = 0; txq < 16; txq++)); do
			send s "10.0.0.$((txq ? 2 : 3))" $((5000 + txq)) -t 5 -b 200000
		done
		sleep 2
		mbit=$(mbit 2)
		say "beside $slow: $mbit Mbit/s"
		between "rate beside $slow" "$mbit" 9.7 10.1
		at_least "pauses" "$(stat s e0 pause_rx)" 15
		"$after_test"
	done
}

# sixteen RATE: a port with so much, where port numbers choose one of 16 TX queues
sixteen() {
	local tx_queues=16
	pair rate 50mbit delay 100us ring 2
	bfc s e0 role nic hrtt 6ms rate "$1"
	meet 10.0.0.2 s
	by_port 16
}

# flood_all SECONDS: through each of them, more than the rate
flood_all() {
	local txq
	for ((txq = 0; txq < 16; txq++)); do
		send s 10.0.0.2 $((5000 + txq)) -t "$1" -b 200000
	done
}

# rate_is SECONDS LOW HIGH: Mbit/s, over so long
rate_is() {
	local mbit
	mbit=$(mbit "$1")
	say "$mbit Mbit/s"
	between "rate" "$mbit" "$2" "$3"
}

# So do those that send a short packet now and then.
test_rate_beside_short_packets() {
	local txq
	sixteen 10mbit
	send s 10.0.0.2 5000 -t 4 -b 200000
	for ((txq = 1; txq < 16; txq++)); do
		send s 10.0.0.2 $((5000 + txq)) -t 4 -s 100 -r 64000
	done
	sleep 1
	rate_is 2 9.7 10.1
}

# A change of something else, such as an HRTT that was measured anew, takes no turn away.
test_rate_through_changes() {
	sixteen 1mbit
	flood_all 8
	sleep 1
	background changes
	sleep 1
	rate_is 4 0.95 1.01
}
changes() {
	local ms
	while :; do
		for ms in 4 5; do
			tc -n s qdisc change dev e0 root bfc hrtt ${ms}ms
			sleep 0.1
		done
	done
}

# A lower rate leaves nothing behind that a higher one would wait for.
test_rate_rises() {
	sixteen 10kbit
	flood_all 8
	sleep 2
	tc -n s qdisc change dev e0 root bfc rate 10mbit
	sleep 0.1
	rate_is 2 9.5 10.1
}

# Where a turn has no room for more than one queue's quantum, TX queues with more queues have
# more of them.
test_low_rate() {
	local flows=(1 3 2 1) txq
	pair rate 50mbit delay 100us ring 8
	bfc s e0 queues 32 hrtt 100ms rate 1mbit flows 10000
	meet 10.0.0.2 s
	by_port 4
	for txq in 0 1 2 3; do
		send s 10.0.0.2 $((5000 + txq)) -f "${flows[txq]}" -t 14 -b 60000
	done
	sleep 3
	of_txqs s e0 'select(.kind == "bfc") | .bytes' >"$scratch/before"
	sleep 10
	of_txqs s e0 'select(.kind == "bfc") | "\(.bytes) \(.active)"' | tr -d '"' | paste "$scratch/before" - |
		awk '{ print ($2 - $1), $3, $3 ? ($2 - $1) / $3 : 0 }' >"$scratch/shares"
	say "bytes, active queues: $(awk '{ print $1, $2 }' "$scratch/shares" | tr '\n' ';')"
	equal "active queues" "$(cut -d ' ' -f 2 "$scratch/shares" | tr '\n' ' ')" "${flows[*]} "
	at_most "a queue's bytes, most against least" "$(awk '{ print $3 }' "$scratch/shares" |
		sort -n | sed -n '1p;$p' | paste -s | awk '{ print $2 / $1 }')" 1.15
	between "kbit/s" "$(awk '{ n += $1 } END { print n * 8 / 1e4 }' "$scratch/shares")" 960 1010
}

# Packets longer than a turn
test_long_packets() {
	local kbit
	pair rate 50mbit delay 100us ring 8
	bfc s e0 queues 32 hrtt 100ms rate 800kbit quantum 256b flows 10000
	meet 10.0.0.2 s
	send s 10.0.0.2 5000 -f 10 -t 9 -b 20000
	sleep 2
	kbit=$(calc "$(mbit 6) * 1000")
	say "$kbit kbit/s, TX queues $(stat s e0 txqs_sent)"
	between "rate" "$kbit" 760 840
}

# What a TX queue was told of others that have ended meanwhile does not keep it back.
test_others_end() {
	local i
	pair rate 50mbit delay 100us ring 8
	bfc s e0 queues 32 hrtt 100ms rate 1mbit flows 10000 sync 1s
	meet 10.0.0.2 s
	send s 10.0.0.2 5000 -f 6 -t 14 -b 60000
	send s 10.0.0.2 6000 -f 60 -F 100 -t 3 -b 4000
	finish "$bg"
	wait_for 10 active_are 6 || fail "the many do not end"
	send s 10.0.0.2 7000 -F 200 -t 7 -b 60000
	sleep 1		# for one sync it may not know that they have ended
	for i in 1 2 3 4; do
		of_txqs s e0 '"\(.active) \(.bytes)"' | tr -d '"' >"$scratch/before"
		sleep 1
		of_txqs s e0 '"\(.active) \(.bytes)"' | tr -d '"' >"$scratch/after"
		# shellcheck disable=SC2016
		check "second $i: $(paste "$scratch/before" "$scratch/after" | tr '\n' ' ')" \
			awk 'NR == FNR { active[FNR] = $1; sent[FNR] = $2; next }
			     active[FNR] && $2 - sent[FNR] < active[FNR] * 5000 { exit 1 }' \
			"$scratch/before" "$scratch/after"
	done
}
active_are() { [ "$(stat s e0 active)" -le "$1" ]; }

# Th is that of all queues that share the link: TX queues that have something to send take
# turns there, or with a rate all their queues do.
test_threshold() {
	local rate options
	pair rate 4mbit delay 100us ring 16
	for rate in '' 2mbit; do
		options=(queues 32 flows 10000 hrtt 100ms ${rate:+rate $rate})
		root 5 "${options[@]}"
		meet 10.0.0.2 s
		send s 10.0.0.2 5000 -f 12 -t 5 -b 100000
		sleep 2
		of_txqs s e0 '[.active, .threshold, .parent]' >"$scratch/txqs"
		kill "$bg"
		wait "$bg" 2>/dev/null
		say "rate $rate: $(tr '\n' ' ' <"$scratch/txqs")"
		# shellcheck disable=SC2016
		check "Th: $(tr '\n' ' ' <"$scratch/txqs")" awk -F'[],[]' -v "rate=${rate%mbit}" '
			{ active[NR] = $2; th[NR] = $3; all += $2; busy += $2 > 0 }
			END { for (i in active) {
				n = rate ? all : active[i] * busy
				bdp = (rate ? rate : 4) * 1e6 / 8 * 0.1
				if (active[i] && (th[i] < int(bdp / n) || th[i] > int(bdp / n) + 1))
					exit 1
			      }
			      exit !(busy > 1 && all == 12) }' "$scratch/txqs"
		tc -n s qdisc del dev e0 root
	done
}
# The limit is the port's. A flow alone may fill most of it; then others find room in
# their TX queues.
test_limit() {
	local memory txq
	pair rate 2mbit delay 100us ring 4
	bfc s e0 queues 32 fc none limit 512kb
	meet 10.0.0.2 s
	send s 10.0.0.2 5000 -t 12 -b 4000000 -s 1000
	sleep 2
	memory=$(stat s e0 memory)
	say "one flow holds $memory"
	between "bytes of one flow" "$memory" $((512 * 1024 * 3 / 4)) $((512 * 1024 + 16384))
	send s 10.0.0.2 6000 -f 30 -F 50 -t 6 -b 4000000 -s 1000
	sleep 3
	memory=$(stat s e0 memory)
	say "31 flows hold $memory"
	between "bytes of many flows" "$memory" $((512 * 1024 * 4 / 5)) $((512 * 1024 + 65536))
	of_txqs s e0 .packets >"$scratch/before"
	sleep 2
	of_txqs s e0 .packets >"$scratch/after"
	for txq in 1 2 3 4; do
		at_least "packets of TX queue $txq" "$(paste "$scratch/before" "$scratch/after" |
			awk -v n="$txq" 'NR == n { print $2 - $1 }')" 30
	done
	tc -n s qdisc change dev e0 root bfc limit 64kb
	at_most "bytes behind a lower limit" "$(stat s e0 memory)" $((80 * 1024))
	tc -n s qdisc del dev e0 root
}

# However many TX queues share it, none keeps another from sending.
test_small_limit() {
	local txq
	tx_queues=32 pair rate 2mbit delay 100us ring 4
	bfc s e0 fc none limit 64kb
	meet 10.0.0.2 s
	by_port 32
	send s 10.0.0.2 5000 -t 6 -b 4000000 -s 1400
	sleep 1
	for txq in 1 2 3 4 5 6 20 30; do
		send s 10.0.0.2 $((5000 + txq)) -t 5 -b 4000000 -s 1400
	done
	sleep 3
	of_txqs s e0 'select(.kind == "bfc") | .packets' >"$scratch/packets"
	say "packets: $(paste -s -d ' ' "$scratch/packets")"
	equal "TX queues that sent 30" "$(awk '$1 >= 30' "$scratch/packets" | wc -l)" 9
	at_most "memory" "$(stat s e0 memory)" $((80 * 1024))
}

# With fewer TX queues the port has fewer queues; what waits in those that go is dropped,
# and counted for no neighbour any more.
test_channels() {
	local n
	star
	flood 12 s1 s2 s3
	for n in 2 1 3 4; do
		sleep 1
		in_ns sw ethtool -L r0 tx "$n" || fail "no $n TX queues"
		in_ns s1 ethtool -L e0 tx "$n" || fail "no $n TX queues"
		sleep 1
		equal "TX queues" "$(stat sw r0 txqs) $(stat s1 e0 txqs)" "$n $n"
		equal "qdiscs" "$(children sw r0) $(children s1 e0)" "$n $n"
		check "s1 has not told of its queues" wait_for 10 hears_of sw p1 $((n * 32))
	done
	flood_ends
	peers_up
	all_idle
	check "nothing sent behind it" incast_again
}
hears_of() { [ "$(stat "$1" "$2" peer_queues)" = "$3" ]; }
incast_again() {
	receive r 5000 -n 90 -t 60 -i 3
	all_send 30 s1 s2 s3
	[ "$(received r 5000 .packets)" = 90 ]
}

# Whatever happens to the device and the qdisc while packets wait in all TX queues
test_churn() {
	local i
	star
	flood 14 s1 s2 s3
	for i in 1 2; do
		sleep 0.5
		ip -n sw link set r0 down
		sleep 0.2
		ip -n sw link set r0 up
		sleep 0.5
		tc -n sw qdisc replace dev r0 root handle 6: bfc hrtt 6ms txqs one ||
			fail "refused"
		sleep 0.5
		tc -n sw qdisc replace dev r0 root handle 7: bfc hrtt 6ms || fail "refused"
		sleep 0.3
		tc -n sw qdisc change dev r0 root bfc rate 10mbit limit 1mb || fail "refused"
		sleep 0.5
		tc -n sw qdisc change dev r0 root bfc fc none || fail "refused"
		tc -n sw qdisc change dev r0 root bfc fc bfc rate link || fail "refused"
		tc -n s1 qdisc del dev e0 root
		bfc s1 e0 role nic hrtt 6ms queues 64
		sleep 0.5
		tc -n sw qdisc replace dev r0 root handle 8: fq
		bfc sw r0 hrtt 6ms
	done
	ip -n sw link del p2
	flood_ends
	del_ns s2
	all_idle
}

run_tests shape size_table statistics program incast paused_there resume_beside_a_full_queue rate rate_beside_paused \
	rate_beside_short_packets rate_through_changes rate_rises low_rate long_packets others_end \
	threshold small_limit churn -- limit channels
