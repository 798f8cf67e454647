#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# FAFC: pauses for a computed time.
#
#   s1 ---\
#   ...    >-- sw (br0) --- r, r2	All links 20 Mbit/s, delay 1 ms.
#   s6 ---/

# shellcheck source=selftests/lib.sh disable=SC2046
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"

senders=6
simulated || senders=3
link=(rate 20mbit delay 1ms ring 2)
mode=(fc fafc hrtt 6ms thop 3ms threshold 60kb queues 128)

# star OPTIONS...: of the switch's ports
star() {
	local i
	switch sw
	host r 10.0.0.100/24
	host r2 10.0.0.101/24
	cable sw r0 r e0 "${link[@]}"
	cable sw r1 r2 e0 "${link[@]}"
	for ((i = 1; i <= senders; i++)); do
		host "s$i" "10.0.0.$i/24"
		cable sw "p$i" "s$i" e0 "${link[@]}"
		bfc sw "p$i" "${mode[@]}" "$@"
		bfc "s$i" e0 role nic "${mode[@]}"
	done
	bfc sw r0 "${mode[@]}" "$@"
	bfc sw r1 "${mode[@]}" "$@"
	meet 10.0.0.100 $(seq -f s%g $senders)
	meet 10.0.0.101 $(seq -f s%g $senders)
}

# within_5_percent TEXT GOT WANTED
within_5_percent() {
	at_least "$1" "$(calc "$2 / $3")" 0.95
	at_most "$1" "$(calc "$2 / $3")" 1.05
}

neighbours_up() {
	local i
	for ((i = 1; i <= senders; i++)); do
		wait_for 10 peer_up sw "p$i" || fail "p$i has no neighbour"
	done
}

test_incast() {
	star
	neighbours_up
	flood 4 $(seq -f s%g "$senders")
	sleep 2
	local backlog
	backlog=$(stat sw r0 backlog)
	flood_ends
	equal "dropped by the switch" "$(stat sw r0 drops)" 0
	equal "packets received" "$(received r 5000 .packets)" \
		"$(jq -s 'map(.sent) | add' "$scratch"/s?.sent.5000.json)"
	equal "reordered" "$(received r 5000 .reordered)" 0
	at_least "allocations" "$(stat sw r0 solved)" 10
	at_least "frames" "$(stat sw p1 frames_tx)" 10
	equal "PFC frames to a BFC neighbour" "$(stat sw p1 pfc_tx)" 1
	at_least "ms for which s1 was paused" \
		"$(($(stat s1 e0 'prios[0].paused_time') / 1000000))" 200
	# Alg. 1 pauses a queue that grows, not one that is long: the backstop
	# (XOFF 120 KB) is what bounds it.
	at_most "held of s1 at most" "$(stat sw p1 'prios[0].peak')" \
		$((122880 + $(stat sw p1 headroom)))
	at_least "throughput of 4 s (packets)" "$(received r 5000 .packets)" 8000
	say "backlog $backlog, $(stat sw p1 frames_tx) frames," \
		"$(stat sw r0 solved) solved, $(stat sw r0 unsolved) unsolved"
	all_idle
}

# Two senders with 60 % of the link each, and a backstop out of reach. Rates that are
# decreased, because a pause was a moment ago (Alg. 2 line 9), are less than the link
# together: they ask for no pause. The next ones, 4 T_hop = 12 ms later, do.
test_pauses_again() {
	local i receiver sent=()
	star xoff 4Mb limit 32Mb fdec 0.5
	neighbours_up
	receive r 5000 -t 60 -i 3
	receiver=$bg
	for i in 1 2; do
		send "s$i" 10.0.0.100 5000 -F "$i" -t 4 -r 12000000
		sent+=("$bg")
	done
	finish "${sent[@]}" "$receiver"
	at_least "pauses of s1 in 4 s" "$(stat sw p1 pause_tx)" 200
	at_least "ms for which s1 was paused" \
		"$(($(stat s1 e0 'prios[0].paused_time') / 1000000))" 100
	equal "dropped" "$(sum_stat drops)" 0
	say "backlog of $(stat sw r0 backlog_peak), $(stat sw p1 pause_tx) pauses"
	all_idle
}

# pauses_of_two: s1 sends to r, s2 half its packets to r2; ms for which each was
# paused, in $one and $two
pauses_of_two() {
	local sent=() receiver other
	receive r 5000 -t 60 -i 3
	receiver=$bg
	receive r2 6000 -t 60 -i 3
	other=$bg
	send s1 10.0.0.100 5000 -F 1 -t 4
	sent+=("$bg")
	send s2 10.0.0.100 5000 -F 2 -t 4
	sent+=("$bg")
	send s2 10.0.0.101 6000 -F 3 -t 4
	sent+=("$bg")
	finish "${sent[@]}" "$receiver" "$other"
	one=$(calc "$(stat sw p1 'prios[0].pausing_time') / 1e6")
	two=$(calc "$(stat sw p2 'prios[0].pausing_time') / 1e6")
	at_least "ms that s1 was paused" "$one" 50
	equal "dropped" "$(sum_stat drops)" 0
	say "s1 $one ms, s2 $two ms"
}

# One of two ports sends half its packets to another port: pausing the other costs
# less (FAFC Fig. 2). The backstop, which knows nothing of it, is out of reach.
test_least_harm() {
	star xoff 4Mb limit 32Mb
	neighbours_up
	pauses_of_two
	at_most "pauses of s2, with a victim, to s1's" "$(calc "$two / $one")" 0.6
	below_xoff
	all_idle
}
below_xoff() {
	at_most "held of s1" "$(stat sw p1 'prios[0].peak')" $((4 << 20))
	at_most "held of s2" "$(stat sw p2 'prios[0].peak')" $((4 << 20))
}

# No victims where the queue is long: all of it, q_*k of equation (9), which is long
# here because of the switch's own packets, and not what s2 has in it, the q_ik that
# Alg. 2 line 6 prints.
test_no_harm_to_a_long_queue() {
	star xoff 4Mb limit 32Mb
	tc -n sw qdisc change dev r1 root bfc threshold 8mb congested 60kb
	neighbours_up
	ip -n sw addr add 10.0.0.200/24 dev br0
	send sw 10.0.0.101 7000 -F 9 -t 6 -b 400000
	local own=$bg
	wait_for 3 is_long || fail "the queue to r2 is short: $(stat sw r1 backlog)"
	pauses_of_two
	at_least "pauses of s2 to s1's" "$(calc "$two / $one")" 0.85
	finish "$own"
	below_xoff
	all_idle
}
is_long() { [ "$(stat sw r1 backlog)" -ge 100000 ]; }

# beside OPTIONS...: n, made of Python, does not obey
beside() {
	local port
	switch sw
	host n 10.0.0.1/24
	host h 10.0.0.2/24
	host r 10.0.0.100/24
	cable sw pn n e0 "${link[@]}"
	cable sw ph h e0 "${link[@]}"
	cable sw r0 r e0 "${link[@]}"
	meet 10.0.0.100 n h
	meet 10.0.0.1 h
	frames open n n e0
	for port in pn ph r0; do
		bfc sw "$port" "${mode[@]}" "$@"
	done
}

# Towards any other neighbour: PFC frames with the quanta that it takes.
test_quanta_for_others() {
	beside
	local dst receiver
	dst=$(mac r e0)
	receive r 5000 -t 20 -i 2
	receiver=$bg
	send h 10.0.0.100 5000 -F 1 -t 2
	frames udp n dst="$dst" from=10.0.0.1 to=10.0.0.100 dport=5000 \
		size=1000 count=150
	frames wait n 5 1 kind=pfc paused=1
	finish "$bg" "$receiver"
	frames seen n kind=pfc paused=1
	# at most 2 T_hop = 6 ms = 234 quanta of 25.6 us
	at_most "longest pause (quanta)" "$(answered '[.[].quanta[0]] | max')" 235
	at_least "pauses" "$(answered length)" 1
	all_idle
}

# pauses PRIORITY: those that n was told, as jq sees them: [when, ns], and [when, ns]
# of the one before
pauses() {
	echo "[.[] | [.t * 1e9, .prio$1]] as \$f | [range(1; \$f | length) |
		\$f[.] + \$f[. - 1]]"
}

# Towards a BFC neighbour: what remains, in ns, of the pause of each priority, whatever it
# was told before.
test_ns_for_ours() {
	exact_clock || return 0
	local prio sent=() receivers=() told late	# late: when pauses came, ns
	beside prio dscp xoff 16Mb limit 64Mb
	tc -n sw qdisc change dev pn root bfc peer on
	bfc h e0 role nic "${mode[@]}" prio dscp
	wait_for 10 peer_up sw ph || fail "ph has no neighbour"
	for prio in 3 5; do
		receive r 500$prio -t 20 -i 2
		receivers+=("$bg")
		send n 10.0.0.100 500$prio -F 1 -t 1 -T $((prio << 5))
		sent+=("$bg")
		send h 10.0.0.100 500$prio -F 2 -t 1 -T $((prio << 5))
		sent+=("$bg")
	done
	finish "${sent[@]}" "${receivers[@]}"
	frames seen n
	late=$(answered '[[.[:-1], .[1:]] | transpose[] | select(.[0].kind == "hello" and
		.[1].kind == "pause" and .[1].t - .[0].t < 40e-6) | .[1].t * 1e9]')
	frames seen n kind=pause
	equal "ns of other priorities" "$(answered \
		'[.[] | .prio0, .prio1, .prio2, .prio4, .prio6, .prio7] | max')" 0
	at_least "frames about both" \
		"$(answered 'map(select(.prio3 > 0 and .prio5 > 0)) | length')" 3
	for prio in 3 5; do
		at_most "longest pause of $prio: 2 T_hop (ns)" \
			"$(answered "map(.prio$prio) | max")" 6000000
		# Another one that comes before it is over ends no sooner; one that is
		# about the other priority changes nothing. (Arrivals are in us. One that a
		# HELLO went ahead of is late by 84 bytes at 20 Mbit/s, 33.6 us.)
		at_least "ns by which a pause of $prio is cut" "$(answered "$(pauses $prio) |
			map(select(.[0] < .[2] + .[3] and ([.[2]] - $late | length > 0)) |
				.[0] + .[1] - .[2] - .[3]) | min")" -2000
		at_least "frames that repeat a pause of $prio" "$(answered "$(pauses $prio) |
			map(select(.[1] > 0 and .[0] < .[2] + .[3]) |
				.[0] + .[1] - .[2] - .[3] |
				select(. < 2000)) | length")" 3
		# All of them together are what the switch has counted, and what h,
		# which obeys, was paused for.
		told=$(answered "$(pauses $prio) |
			map([0, .[0] + .[1] - ([.[0], .[2] + .[3]] | max)] | max) | add")
		within_5_percent "ns of $prio that n was told, to those counted" \
			"$told" "$(stat sw pn "prios[$prio].pausing_time")"
		# h slows down, and sees the end of a pause with its next packet.
		told=$(calc "$(stat h e0 "prios[$prio].paused_time") / \
$(stat sw ph "prios[$prio].pausing_time")")
		at_least "ns of $prio that h was paused, to those counted" "$told" 0.95
		at_most "ns of $prio that h was paused, to those counted" "$told" 1.25
		say "$prio: $(stat sw pn "prios[$prio].pause_tx") and" \
			"$(stat sw ph "prios[$prio].pause_tx") pauses"
	done
	all_idle
}

test_marks() {
	local sent=() i receiver
	star ecn 30kb
	neighbours_up
	receive r 5000 -t 60 -i 3
	receiver=$bg
	# ECN-capable, but not s1.
	for i in 1 2 3; do
		send "s$i" 10.0.0.100 5000 -F "$i" -t 2 -T $((i > 1 ? 2 : 0))
		sent+=("$bg")
	done
	finish "${sent[@]}" "$receiver"
	at_least "packets marked" "$(stat sw r0 ecn_mark)" 100
	at_most "packets marked" "$(stat sw r0 ecn_mark)" \
		"$(jq -s 'map(.sent) | add' "$scratch"/s[23].sent.5000.json)"
	equal "dropped" "$(sum_stat drops)" 0
	all_idle
}

# burst HOST PACKETS: ECN-capable, of priority 3
burst() { send "$1" 10.0.0.1 5000 -n "$2" -T $((3 << 5 | 2)); }

# Marks are for the queue that will be there in two T_hop: it grows by 7.5 KB in each, which
# is also how often it is looked at. So it has to get longer than 51 - 15 + 7.5 KB.
test_marks_ahead() {
	exact_clock || return 0
	star ecn 50kb threshold 1mb xoff 4Mb limit 32Mb
	local i sent=()
	for i in 1 2; do
		send "s$i" 10.0.0.100 5000 -n 46 -T 2
		sent+=("$bg")
	done
	finish "${sent[@]}"
	wait_for 2 drained sw r0 || fail "not sent"
	at_least "packets marked" "$(stat sw r0 ecn_mark)" 5
	at_most "longest queue" "$(stat sw r0 backlog_peak)" 49000
	at_least "longest queue" "$(stat sw r0 backlog_peak)" 44000
}

# What piled up while n held us paused is no congestion (Alg. 4), until it has left; and
# it is that of the same priority.
test_no_marks_for_pauses() {
	exact_clock || return 0
	local load
	beside prio dscp ecn 30kb threshold 1mb xoff 4Mb limit 32Mb
	tc -n sw qdisc change dev pn root bfc peer on
	frames set n epoch=7
	send h 10.0.0.1 5000 -r 8000000 -t 0.5 -T $((3 << 5 | 2))
	load=$bg
	sleep 0.1
	frames pause n epoch=7 queues=0 prio3=60000000
	finish "$load"
	at_least "longest queue" "$(stat sw pn backlog_peak)" 50000
	equal "packets marked after a pause" "$(stat sw pn ecn_mark)" 0
	at_least "ms of pauses" "$(($(stat sw pn 'prios[3].paused_time') / 1000000))" 59
	# As long a queue, and another priority is paused.
	frames pause n epoch=7 queues=0 prio4=500000000
	burst h 60
	load=$bg
	burst r 60
	finish "$load" "$bg"
	wait_for 2 drained sw pn || fail "not sent"
	at_most "longest queue" "$(stat sw pn backlog_peak)" 75000
	at_least "packets marked without one" "$(stat sw pn ecn_mark)" 5
	say "marked $(stat sw pn ecn_mark)"
	equal "pauses of 3" "$(stat sw pn 'prios[3].pause_rx')" 1
}

# Ports get equal parts of the link (FAFC section IV), whatever they bring, in however
# many flows and in packets of whatever size.
test_ports_share() {
	local sent=() receiver one two
	switch sw
	host r 10.0.0.100/24
	host s1 10.0.0.1/24
	host s2 10.0.0.2/24
	cable sw r0 r e0 "${link[@]}"
	cable sw p1 s1 e0 rate 40mbit delay 1ms ring 2
	cable sw p2 s2 e0 rate 14mbit delay 1ms ring 2
	for port in r0 p1 p2; do
		bfc sw "$port" "${mode[@]}" threshold 32mb xoff 64Mb limit 128Mb
	done
	meet 10.0.0.100 s1 s2
	receive r 5000 -t 1
	receiver=$bg
	send s1 10.0.0.100 5000 -F 10 -f 3 -t 2
	sent+=("$bg")
	send s2 10.0.0.100 5000 -F 20 -s 250 -t 2
	sent+=("$bg")
	finish "$receiver"
	equal "allocations" "$(stat sw r0 solved)" 0
	kill "${sent[@]}"
	# with what is before the payload: 42 bytes
	one=$(received r 5000 '[.flows[] | select(.id < 20).packets] | add * 1042')
	two=$(received r 5000 '[.flows[] | select(.id == 20).packets] | add * 292')
	say "$one and $two bytes"
	within_5_percent "bytes of s1 to those of s2" "$one" "$two"
	at_least "bytes" $((one + two)) 2000000
}

# paced_host OPTIONS...: h is one, n is what pauses it. It is back at full speed after
# 32 T_hop, 192 ms.
paced_host() {
	host n 10.0.0.1/24
	host h 10.0.0.2/24
	cable n e0 h e0 "${link[@]}"
	meet 10.0.0.1 h
	bfc h e0 role nic "${mode[@]}" thop 6ms peer on "$@"
	frames open n n e0
	frames set n epoch=7 hold=6000000	# its T_hop
}

# ten_pauses PRIO: of half a T_hop each: the rate goes down to 1/32, the floor
ten_pauses() {
	for _ in {1..10}; do
		frames pause n epoch=7 "prio$1=3000000" queues=0
		sleep 0.0033
	done
}

# seen_by_n SECONDS DPORT...: packets to each, in $seen
seen_by_n() {
	local port
	seen=()
	frames clear n
	sleep "$1"
	for port in "${@:2}"; do
		frames seen n "dport=$port"
		seen+=("$(answered length)")
	done
}

# A host that is paused sends less, and comes back by itself (Alg. 3).
test_host_slows_down() {
	local before
	paced_host
	send h 10.0.0.1 5000 -F 1 -t 4
	sleep 1
	ten_pauses 0
	# An event of the device, which says nothing about pauses. (Its carrier is one as
	# well, up to a second late.)
	ip -n h link set dev e0 mtu 1400
	sleep 0.02
	seen_by_n 0.04 5000
	before=${seen[0]}
	sleep 0.5
	seen_by_n 0.04 5000
	finish "$bg"
	at_most "packets in 40 ms after pauses" "$before" "$((seen[0] * 3 / 4))"
	at_least "packets in 40 ms half a second later" "${seen[0]}" 60
	say "$before packets, then ${seen[0]}"
}

# Which pauses are FAFC's, and how much less a host sends, depends on T_hop of the switch, which has
# cables longer than the host's.
test_host_knows_t_hop() {
	paced_host thop 1ms
	send h 10.0.0.1 5000 -F 1 -t 2
	sleep 1
	ten_pauses 0
	sleep 0.02
	seen_by_n 0.04 5000
	finish "$bg"
	at_most "packets in 40 ms after pauses" "${seen[0]}" 40
}

# One second is the longest T_hop, whatever is told: it keeps a host that was paused slow for 32 s.
test_false_t_hop() {
	exact_clock || return 0
	paced_host
	send h 10.0.0.1 5000 -F 1 -t 40
	sleep 1
	ten_pauses 0
	frames pause n epoch=7 queues=0 hold=4000000000
	sleep 0.5
	seen_by_n 0.04 5000
	at_most "packets in 40 ms after half a second" "${seen[0]}" 40
	sleep 32.5
	seen_by_n 0.04 5000
	at_least "packets in 40 ms after 33 s" "${seen[0]}" 60
	finish "$bg"
}

# What did not prove that it hears the port may pause it as PFC could: for 65535 quanta, 1.68 s, and
# no rate follows from that.
test_unproved_t_hop() {
	exact_clock || return 0
	paced_host peer auto
	send h 10.0.0.1 5000 -F 1 -t 10
	frames hello n echo=0 modes=2
	frames pause n epoch=7 queues=0 hold=1000000000 prio0=1000000000
	sleep 0.1
	check "not paused" stat_is h e0 'prios[0].paused' true
	sleep 1.4
	seen_by_n 0.04 5000
	at_least "packets in 40 ms after a pause of a stranger" "${seen[0]}" 60
	frames hello n echo=0 modes=2
	frames pause n epoch=7 queues=0 prio0=4000000000
	sleep 1.6
	check "not paused any more" stat_is h e0 'prios[0].paused' true
	sleep 0.2
	seen_by_n 0.04 5000
	at_least "packets in 40 ms after the longest" "${seen[0]}" 60
	finish "$bg"
}
stat_is() { [ "$(stat "$1" "$2" "$3")" = "$4" ]; }

# The T_hop of a neighbour goes with it: no PFC frame is as short as twice that, and none is a pause
# of FAFC.
test_t_hop_ends_with_the_neighbour() {
	exact_clock || return 0
	paced_host peer auto
	frames set n modes=2
	frames talk n 0.3
	wait_for 5 peer_up h e0 || fail "not up"
	send h 10.0.0.1 5000 -F 1 -t 10
	frames pause n queues=0 hold=1000000000 prio0=3000000
	frames talk n 0
	frames hello n flags=1
	wait_for 2 peer_not_up h e0 || fail "no end"
	frames pfc n 1 65535
	sleep 0.1
	frames pfc n 1 0
	seen_by_n 0.04 5000
	at_least "packets in 40 ms after PFC of another" "${seen[0]}" 60
	finish "$bg"
}

# A pause of the backstop is longer than any that FAFC computes, also where it is more than the
# quanta of a PFC frame.
test_backstop_lasts() {
	beside thop 1s threshold 8mb xoff 20kb
	ip -n sw link set dev r0 type wire rate 1mbit
	tc -n sw qdisc change dev pn root bfc peer on
	frames udp n dst="$(mac r e0)" from=10.0.0.1 to=10.0.0.100 dport=5000 size=1000 count=60
	frames wait n 5 1 kind=pause
	sleep 0.1
	frames seen n kind=pause
	at_least "ns of the longest pause" "$(answered '[.[].prio0] | max')" 3000000000
	equal "T_hop that it tells, ns" "$(answered '[.[].hold] | unique | .[]')" 1000000000
	check "not sent" wait_for 10 drained sw r0
}

# What was not sent during a pause is not made up for.
test_host_bursts_not() {
	local i most=0
	exact_clock || return 0
	paced_host
	send h 10.0.0.1 5000 -F 1 -t 2
	sleep 1
	ten_pauses 0
	sleep 0.06
	for i in 1 2; do
		# longer than any of FAFC's: the pace stays
		frames pause n epoch=7 prio0=8000000 queues=0
		sleep 0.0104
		seen_by_n 0.0026 5000
		at_least "packets after pause $i" "${seen[0]}" 1
		[ "${seen[0]}" -le "$most" ] || most=${seen[0]}
	done
	finish "$bg"
	# Else it would be four or more.
	at_most "packets in 2.6 ms after a pause" "$most" 3
	say "at most $most packets"
}

# But what has another priority does not; it has what is left of the link.
test_host_slows_one_priority() {
	local sent=() strict
	exact_clock || return 0
	paced_host prio skb
	send h 10.0.0.1 3000 -F 1 -t 5 -P 3
	sent+=("$bg")
	send h 10.0.0.1 5000 -F 2 -t 5 -P 5
	sent+=("$bg")
	for strict in none 3; do
		tc -n h qdisc change dev e0 root bfc strict "$strict"
		sleep 0.5
		ten_pauses 3
		sleep 0.005
		seen_by_n 0.04 3000 5000
		say "strict $strict: ${seen[0]} and ${seen[1]} packets"
		at_most "strict $strict: packets that were paused" "${seen[0]}" 30
		at_least "strict $strict: packets that were not" "${seen[1]}" 45
		at_least "strict $strict: of both" $((seen[0] + seen[1])) 60
	done
	tc -n h qdisc change dev e0 root bfc strict none
	sleep 0.5
	seen_by_n 0.04 3000 5000
	say "later: ${seen[0]} and ${seen[1]} packets"
	at_least "packets of 3, half a second later" "${seen[0]}" 27
	finish "${sent[@]}"
}

# smoothed TEXT OPTIONS...: 100 frames of 1042 bytes come at once, within 44 ms, and leave one in
# 21 ms. T_hop is 200 ms: so nine leave in one, and what waits is Q = 104 KB for a while. When
# n got the frames, from the first one that came, ms: $marked those with a mark.
smoothed() {
	local text=$1 default_link=(rate 20mbit delay 100us ring 1)
	shift
	line_to_n fc fafc thop 200ms lossless none threshold 1mb xoff 4mb limit 32mb "$@"
	ip -n sw link set dev pn type wire rate 400kbit
	send h 10.0.0.2 3000 -n 100 -s 1000 -T 2
	finish "$bg"
	check "$text: not sent" wait_for 10 drained sw pn
	sleep 0.1
	frames seen n dport=3000
	equal "$text: came" "$(answered length)" 100
	# shellcheck disable=SC2016
	mapfile -t marked < <(answered '.[0].t as $since |
		.[] | select(.tos % 4 == 3) | (.t - $since) * 1000 | floor')
	equal "$text: marked" "$(stat sw pn ecn_mark)" ${#marked[@]}
	say "$text: ${#marked[@]} marks${marked:+, ms ${marked[0]} to ${marked[-1]}}"
	all_idle
	clean_up
}

# With alpha 1 the length is that of the last step, which comes within a T_hop. With alpha and beta
# 0.1 the lengths are 0.1, 0.28 and 0.43 Q after one, two and three steps, and the rates 0.1, 0.09
# and 0.081 Q: what is predicted, the length and two of the rates, is 0.3, 0.46 and 0.6 Q. So it is
# over 0.54 Q in the third step, which comes two T_hop after the first one.
test_weight_of_the_length() {
	exact_clock || return 0
	local marked
	smoothed "alpha 1" ecn 56320b alpha 1 beta 0.1
	# a T_hop from the last frame on, until the next one leaves, and is sent
	at_most "alpha 1: ms until the first mark" "${marked[0]-never}" $((44 + 200 + 2 * 22))
	smoothed "alpha 0.1" ecn 56320b alpha 0.1 beta 0.1
	at_least "alpha 0.1: ms until the first mark" "${marked[0]-never}" 400
}

# With beta 1 the growth of one T_hop is taken for that of the next two, and what is predicted is
# Q + 2 Q; in the step after that nothing grows. With 0.1 it is Q + 0.2 Q at most. (Where a step
# parts the burst, one of the two has 1.8 Q.)
test_weight_of_the_rate() {
	exact_clock || return 0
	local marked
	smoothed "beta 1" ecn 153600b alpha 1 beta 1	# 1.47 Q
	# all that leave in a step, or in both
	at_least "beta 1: marks" ${#marked[@]} 8
	at_most "beta 1: marks" ${#marked[@]} 20
	smoothed "beta 0.1" ecn 153600b alpha 1 beta 0.1
	equal "beta 0.1: marks" ${#marked[@]} 0
}

test_parameters_change_under_traffic() {
	local i option
	star
	neighbours_up
	flood 5 $(seq -f s%g "$senders")
	for option in "thop 1ms" "alpha 0.5 beta 1" "threshold 20kb" \
		"fdec 0.3 congested 10kb" "fc pfc" "fc fafc" "thop 2ms" \
		"lossless none" "lossless all"; do
		sleep 0.3
		for i in r0 $(seq -f p%g $senders); do
			# shellcheck disable=SC2086
			tc -n sw qdisc change dev "$i" root bfc $option ||
				fail "refused: $option"
		done
	done
	# The port that pauses goes, and comes back.
	tc -n sw qdisc del dev p1 root
	sleep 0.3
	bfc sw p1 "${mode[@]}"
	ip -n sw link del p2
	flood_ends
	all_idle
}

# s3 obeys nothing, sends nonsense and fills the link; s1 and s2, which do obey, lose
# nothing. Timers of an emulated machine are up to 100 ms late: 34 of 15 000 packets were
# lost there with headroom for 8 ms, and none with room for that.
test_beside_a_hostile_neighbour() {
	local i receiver hostile sent=()
	# shellcheck disable=SC2046
	star $(simulated || echo headroom 300kb)
	neighbours_up
	bfc s3 e0 fc none
	frames open n s3 e0
	receive r 5000 -t 60 -i 4
	receiver=$bg
	send s3 10.0.0.100 6000 -F 9 -t 60
	hostile=$bg
	for i in 1 2; do
		send "s$i" 10.0.0.100 5000 -F "$i" -n 2500 -r 4000000
		sent+=("$bg")
	done
	for i in {1..5}; do
		frames fuzz n 300 "$i"
		sleep 0.5
	done
	finish "${sent[@]}" "$receiver"
	kill "$hostile"
	equal "packets received" "$(received r 5000 .packets)" 5000
	at_least "packets that s3 lost" "$(stat sw r0 drops)" 1000
	say "s3 lost $(stat sw r0 drops)"
	frames close
}

run_tests incast least_harm quanta_for_others ns_for_ours marks marks_ahead no_marks_for_pauses \
	weight_of_the_{length,rate} ports_share host_slows_down host_bursts_not \
	host_slows_one_priority host_knows_t_hop unproved_t_hop t_hop_ends_with_the_neighbour \
	parameters_change_under_traffic -- \
	backstop_lasts false_t_hop beside_a_hostile_neighbour no_harm_to_a_long_queue pauses_again
