#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# PFC and CaPFC: a priority of a port is paused, until it is told to go on.
#
#   s1 ---\
#   ...    >-- sw (br0) --- r		All links 20 Mbit/s, delay 100 us.
#   s8 ---/

# shellcheck source=selftests/lib.sh disable=SC2046
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"

# Long enough for a pause to take effect here, ring of the wires included.
hrtt=6ms
senders=8
packets=250
# That of star(): where a pause may come late
slow_hrtt=$hrtt
simulated || slow_hrtt=40ms senders=3

# So that only the algorithm of the mode pauses a port
egress=(xoff 10mb max 20mb egress-xoff 30kb egress-xon 20kb)
predict=(thop 3ms threshold 60kb xoff 4mb limit 32mb queues 128)

# star OPTIONS...: h1 ... h8 and r at one switch
star() {
	local i
	switch sw
	host r 10.0.0.100/24
	cable sw r0 r e0
	bfc sw r0 hrtt "$slow_hrtt" "$@"
	# shellcheck disable=SC2046
	bfc r e0 role nic hrtt "$slow_hrtt" $(of_nic "$@")
	for ((i = 1; i <= senders; i++)); do
		host "s$i" "10.0.0.$i/24"
		cable sw "p$i" "s$i" e0
		bfc sw "p$i" hrtt "$slow_hrtt" "$@"
		# shellcheck disable=SC2046
		bfc "s$i" e0 role nic hrtt "$slow_hrtt" $(of_nic "$@")
	done
}

# incast: all senders at once
incast() {
	meet 10.0.0.100 $(seq -f s%g "$senders")
	receive r 5000 -n $((senders * packets)) -t 60 -i 3
	all_send "$packets" $(seq -f s%g "$senders")
}

loses_nothing() {
	star "$@"
	incast
	equal "packets received" "$(received r 5000 .packets)" $((senders * packets))
	equal "packets dropped by any port" "$(sum_stat drops)" 0
	equal "reordered" "$(received r 5000 .reordered)" 0
	# Emulated hosts do not send all at once: a pause and its end is enough there.
	at_least "PFC frames sent" "$(sum_stat pfc_tx)" "$(simulated && echo 8 || echo 2)"
	say "$(sum_stat pfc_tx) PFC frames, peak memory $(stat sw r0 memory_peak)"
	all_idle
}

test_pfc_loses_nothing() { loses_nothing fc pfc; }
test_capfc_max_loses_nothing() { loses_nothing fc capfc-max; }
test_capfc_cal_loses_nothing() { loses_nothing fc capfc-cal; }

# Without a handle nothing is charged to a port, and no port was ever paused, even when
# there were handles again.
test_handles_come_later() {
	local port senders=3
	star fc pfc
	for port in r0 p1 p2 p3; do
		tc -n sw qdisc del dev "$port" root
	done
	sleep 2		# their handles come back
	take_handles sw
	for port in r0 p1 p2 p3; do
		bfc sw "$port" hrtt "$slow_hrtt" fc pfc
	done
	incast
	equal "PFC frames sent" "$(sum_stat pfc_tx)" 0
	give_handles sw
	# Handles that no port holds come back within a second, and ports try every second.
	sleep 4
	incast
	at_least "PFC frames sent" "$(sum_stat pfc_tx)" 3
	all_idle
}

# CaPFC and FAFC tell 64 ports apart: the 65th is refused, and is PFC's.
test_too_many_ports() {
	local i said mode
	host x
	dummies x 65
	for i in {1..64}; do
		echo "qdisc add dev d$i root bfc fc fafc queues 8 rate 1gbit"
	done | tc -n x -batch - || fail "less than 64 ports"
	bfc x d65 fc pfc role switch queues 8 rate 1gbit
	for mode in capfc-max capfc-cal fafc; do
		said=$(tc -n x qdisc change dev d65 root bfc fc $mode 2>&1) &&
			fail "$mode is taken"
		[[ $said == *"at most 64 ports of a namespace"* ]] || fail "said: $said"
		equal "mode" "$(stat x d65 options.fc)" pfc
		# A host tells none apart.
		bfc x d65 fc $mode role nic queues 8 rate 1gbit
		bfc x d65 fc pfc role switch queues 8 rate 1gbit
	done
	# When another one has gone it is told apart.
	ip -n x link del d7
	tc -n x qdisc change dev d65 root bfc fc fafc || fail "refused for good"
	ip -n x link add d7 type dummy
	bfc x d7 fc pfc queues 8 rate 1gbit
	tc -n x qdisc change dev d7 root bfc fc fafc 2>/dev/null &&
		fail "65 are told apart"
}

# So that the tests above can fail: frames that were on their way are lost.
test_too_little_headroom_loses() {
	star fc pfc xoff 20kb xon 10kb headroom 1600b max 24kb
	incast
	at_least "packets over max" "$(sum_stat drop_max)" 1
	equal "received and dropped" \
		$(($(received r 5000 .packets) + $(sum_stat drops))) \
		$((senders * packets))
	all_idle
}

# Those who do not fill the queue are not paused by capfc; pfc pauses who holds
# most of a buffer, at whatever egress.
test_capfc_finds_who_fills_the_egress() {
	local slow_hrtt=$hrtt
	star fc capfc-max "${egress[@]}"
	meet 10.0.0.100 s1 s2 s3
	receive r 5000 -t 60 -i 3
	local receiver=$bg sent=()
	# 20 + 20 Mbit/s to r; s3 sends a packet now and then.
	send s1 10.0.0.100 5000 -F 1 -t 3
	sent+=("$bg")
	send s2 10.0.0.100 5000 -F 2 -t 3
	sent+=("$bg")
	send s3 10.0.0.100 5000 -F 3 -t 3 -r 200000
	sent+=("$bg")
	finish "${sent[@]}" "$receiver"
	at_least "pauses of s1" "$(stat s1 e0 pause_rx)" 10
	at_least "pauses of s2" "$(stat s2 e0 pause_rx)" 10
	equal "pauses of s3" "$(stat s3 e0 pause_rx)" 0
	equal "packets dropped by any port" "$(sum_stat drops)" 0
	all_idle
}

# The egress gets 20 + 8 Mbit/s, 71 % of it from s1: capfc-max blames that alone, capfc-cal as many
# as have brought cut.
test_capfc_blames_by_share() {
	local mode seen slow_hrtt=$hrtt senders=2
	for mode in "capfc-max" "capfc-cal" "capfc-cal cut 50%"; do
		# shellcheck disable=SC2086
		star fc $mode "${egress[@]}"
		meet 10.0.0.100 s1 s2
		receive r 5000 -t 60 -i 3
		local receiver=$bg sent=()
		send s1 10.0.0.100 5000 -F 1 -t 2
		sent+=("$bg")
		send s2 10.0.0.100 5000 -F 2 -t 2 -r 8000000
		sent+=("$bg")
		finish "${sent[@]}" "$receiver"
		seen=$(stat s2 e0 pause_rx)
		at_least "pauses of s1, $mode" "$(stat s1 e0 pause_rx)" 10
		if [ "$mode" = capfc-cal ]; then
			at_least "pauses of s2, $mode" "$seen" 10
		else
			equal "pauses of s2, $mode" "$seen" 0
		fi
		all_idle
		clean_up
	done
}

# Memory runs out because of others, whose queues are shorter: they pay.
test_limit_spares_lossless() {
	star fc pfc prio dscp lossless 3 queues 64 xoff 60kb limit 300kb
	meet 10.0.0.100 $(seq -f s%g "$senders")
	tc -n s1 qdisc change dev e0 root bfc limit 8mb
	flood 3 $(seq -f s%g 2 "$senders")
	lossless_is_spared -f 1
	at_least "pauses of s1" "$(stat s1 e0 pause_rx)" 1
	all_idle
}

# The queue of the priority is one for all: what others have in there may be ahead of what is
# lossless, or behind it. A change of what is lossless begins anew.
test_limit_spares_lossless_in_one_queue() {
	local i limit=300kb
	star fc pfc queues 8 xoff 60kb xon 10kb limit $limit
	ip -n sw link set dev r0 type wire rate 5mbit
	meet 10.0.0.100 $(seq -f s%g "$senders")
	for ((i = 2; i <= senders; i++)); do
		tc -n sw qdisc replace dev "p$i" root pfifo
	done
	tc -n s1 qdisc change dev e0 root bfc limit 8mb
	flood 3 $(seq -f s%g 2 "$senders")
	lossless_is_spared -f 1
	at_least "pauses of s1" "$(stat s1 e0 pause_rx)" 1
	at_least "dropped at the limit" "$(stat sw r0 drop_limit)" 20
	for i in none all; do
		flood 1 $(seq -f s%g "$senders")
		sleep 0.5
		tc -n sw qdisc change dev r0 root bfc lossless $i limit 200kb
		sleep 0.2
		tc -n sw qdisc change dev r0 root bfc fc bfc
		sleep 0.2
		tc -n sw qdisc change dev r0 root bfc fc pfc limit $limit
		flood_ends
	done
	all_idle
}

# ---- one priority and another ----

# line OPTIONS...: n, made of Python, behind a port that it can pause
line() {
	switch sw
	host h1 10.0.0.1/24
	host n 10.0.0.2/24
	cable sw p1 h1 e0
	cable sw pn n e0
	meet 10.0.0.2 h1
	frames open n n e0
	bfc sw p1 hrtt $hrtt watchdog off "$@"
	bfc sw pn hrtt $hrtt watchdog off "$@"
	# shellcheck disable=SC2046
	bfc h1 e0 role nic hrtt $hrtt $(of_nic "$@")
}

# to_h1 [FIELDS...]: n sends that
to_h1() { frames udp n dst="$(mac h1 e0)" from=10.0.0.2 to=10.0.0.1 dport=9 "$@"; }

# pfc ENABLE QUANTA...: n sends it
pfc() { frames pfc n "$@"; }

# came DPORT: datagrams to that port that n has seen
came() {
	frames seen n dport="$1"
	answered length
}

paused_is() { [ "$(stat sw pn "prios[$1].paused")" = "$2" ]; }

test_pfc_frames_are_obeyed() {
	local since
	line fc pfc prio dscp
	pfc 0x08 20000			# 512 ms
	since=$EPOCHREALTIME
	wait_for 2 paused_is 3 true || fail "not paused"
	send h1 10.0.0.2 3000 -n 10 -T 96
	send h1 10.0.0.2 4000 -n 10 -T 128
	finish "$bg"
	wait_for 1 paused_is 4 false
	sleep 0.2
	equal "of priority 3, while it is paused" "$(came 3000)" 0
	equal "of priority 4" "$(came 4000)" 10
	frames wait n 2 10 dport=3000
	at_least "s until the pause was over" \
		"$(calc "$EPOCHREALTIME - $since")" 0.45
	at_most "s until the pause was over" \
		"$(calc "$EPOCHREALTIME - $since")" 1.2
	equal "ended by their quanta" "$(stat sw pn expired)" 4
	at_least "ms of pauses" \
		"$(($(stat sw pn 'prios[3].paused_time') / 1000000))" 500
}

# What ran out on an idle port was told, and counted, as paused until the next packet,
# or for ever; the time between two pauses was a pause as well.
test_pauses_end_on_an_idle_port() {
	local ns=$((20000 * 25600))	# 512 bits at 20 Mbit/s
	local late=0			# a processor's time from the frame to the pause
	simulated || late=100000
	line fc pfc prio dscp
	pfc 0x08 20000
	wait_for 2 paused_is 3 true || fail "not paused"
	sleep 0.6
	equal "paused, though its quanta are over" "$(stat sw pn 'prios[3].paused')" false
	equal "queues paused" "$(stat sw pn paused)" 0
	at_most "ns of the pause" "$(stat sw pn 'prios[3].paused_time')" "$ns"
	at_least "ns of the pause" "$(stat sw pn 'prios[3].paused_time')" $((ns - late))
	equal "queues that ran out" "$(stat sw pn expired)" 4
	sleep 0.3
	pfc 0x08 20000
	wait_for 2 paused_is 3 true || fail "not paused again"
	sleep 0.6
	pfc 0x08 0
	at_most "ns of both pauses" "$(stat sw pn 'prios[3].paused_time')" $((2 * ns))
	at_least "ns of both pauses" "$(stat sw pn 'prios[3].paused_time')" \
		$((2 * (ns - late)))
	equal "pauses" "$(stat sw pn 'prios[3].pause_rx')" 2
	frames close
}

# A frame is about those priorities alone that it enables; zero quanta end a pause.
obeys_priorities_apart() {
	line fc "$1" prio dscp
	ip -n sw link set dev pn type wire rate 2mbit	# 65535 quanta: 16 s
	pfc 0x08 65535
	wait_for 5 paused_is 3 true || fail "not paused"
	send h1 10.0.0.2 3000 -n 10 -T 96
	send h1 10.0.0.2 4000 -n 10 -T 128
	finish "$bg"
	frames wait n 5 10 dport=4000
	equal "of priority 3, while it is paused" "$(came 3000)" 0
	equal "of priority 4" "$(came 4000)" 10
	pfc 0x10 0 0 0 0 65535 0 0 0
	wait_for 5 paused_is 4 true || fail "4 is not paused"
	paused_is 3 true || fail "3 was resumed by a frame about 4"
	pfc 0x18 0
	wait_for 5 paused_is 3 false || fail "not resumed"
	frames wait n 5 10 dport=3000
	equal "frames" "$(stat sw pn pfc_rx)" 3
	equal "ended by their quanta" "$(stat sw pn expired)" 0
	frames close
}

# Priority 3 fills the queue, of 4 there is a packet now and then: no port pauses that.
pauses_priorities_apart() {
	local i sent=() receivers=() senders=3
	star fc "$1" prio dscp "${@:2}"
	meet 10.0.0.100 s1 s2 s3
	receive r 3000 -t 60 -i 2
	receivers+=("$bg")
	receive r 4000 -t 60 -i 2
	receivers+=("$bg")
	for i in 1 2 3; do
		send "s$i" 10.0.0.100 3000 -F "$i" -t 1 -T 96
		sent+=("$bg")
		send "s$i" 10.0.0.100 4000 -F "$i" -t 1 -T 128 -r 200000
		sent+=("$bg")
	done
	finish "${sent[@]}" "${receivers[@]}"
	for i in 1 2 3; do
		at_least "$1: pauses of 3 that s$i obeyed" \
			"$(stat "s$i" e0 'prios[3].pause_rx')" "$(simulated && echo 5 || echo 1)"
		equal "$1: pauses of all that s$i was told" "$(stat sw "p$i" pause_tx)" \
			"$(stat sw "p$i" 'prios[3].pause_tx')"
		equal "$1: ns that 4 of s$i was paused" \
			"$(stat "s$i" e0 'prios[4].paused_time')" 0
	done
	equal "$1: dropped" "$(sum_stat drops)" 0
	at_least "$1: packets of 4" "$(received r 4000 .packets)" 72
	all_idle
}

priorities_are_apart() {
	obeys_priorities_apart "$1"
	"$after_test"
	pauses_priorities_apart "$@"
}

capfc_priorities_are_apart() {
	local slow_hrtt=$hrtt	# or these thresholds are too low for it
	priorities_are_apart "capfc-$1" "${egress[@]}"
}

test_pfc_priorities_are_apart() { priorities_are_apart pfc; }
test_capfc_max_priorities_are_apart() { capfc_priorities_are_apart max; }
test_capfc_cal_priorities_are_apart() { capfc_priorities_are_apart cal; }
test_fafc_priorities_are_apart() { priorities_are_apart fafc "${predict[@]}"; }

test_lossy_priorities_are_not_paused() {
	line fc pfc prio dscp lossless 4,5
	pfc 0xff 65535
	wait_for 2 paused_is 4 true || fail "4 is not paused"
	paused_is 3 false || fail "3 is paused"
}

test_bad_frames() {
	line fc pfc prio dscp
	local dst=0180c2000001 src
	src=$(mac n e0)
	src=${src//:/}
	frames raw n "${dst}${src}880801010008ffff"	# truncated
	frames raw n "${dst}${src}88080001ffff$(printf '00%.0s' {1..42})"
	frames raw n "${dst}${src}88080102ffff$(printf '00%.0s' {1..42})"
	frames raw n "${dst}${src}8808"
	dst=$(mac sw pn)
	frames raw n "${dst//:/}${src}8808010100ff$(printf 'ffff%.0s' {1..8})"
	to_h1
	wait_for 2 mac_pause_seen || fail "PAUSE frames: $(stat sw pn mac_pause_rx)"
	equal "PFC frames refused" "$(stat sw pn pfc_bad)" 1
	equal "PFC frames obeyed" "$(stat sw pn pfc_rx)" 0
	equal "paused" "$(stat sw pn paused)" 0
}
mac_pause_seen() { [ "$(stat sw pn mac_pause_rx)" = 1 ]; }

# What we send: frames of IEEE 802.1Qbb, repeated before the quanta run out, and
# zero quanta in the end.
test_pfc_frames_that_we_send() {
	line fc pfc prio dscp hold 90ms
	ip -n sw link set dev p1 type wire rate 2mbit
	to_h1 size=1000 count=30
	frames wait n 3 1 kind=pfc paused=1
	check "not resumed" wait_for 5 drained sw p1
	sleep 0.2
	frames seen n kind=pfc
	equal "destination" "$(answered '[.[].dst] | unique | join(" ")')" \
		01:80:c2:00:00:01
	equal "length" "$(answered '[.[].len] | unique | join(" ")')" 60
	equal "enabled" "$(answered '[.[].enable] | unique | join(" ")')" 255
	equal "quanta" "$(answered '[.[].quanta[0]] | unique | join(" ")')" \
		"0 3516"		# 90 ms of 25.6 us
	equal "the last one" "$(answered '.[-1].paused')" 0
	# shellcheck disable=SC2016
	at_most "longest time without a frame while paused (ms)" "$(answered '
		. as $f | [range(1; length) | select($f[. - 1].paused > 0) |
		$f[.].t - $f[. - 1].t] | max * 1000')" 31
	equal "dropped" "$(sum_stat drops)" 0
}

# A new qdisc tells its neighbour that nothing is paused, though the device had
# another when it was made: or no later pause would be sent.
test_first_frame_is_sent() {
	switch sw
	host h 10.0.0.1/24
	cable sw p1 h e0
	sleep 3			# until IPv6 is without_ipv6
	bfc sw p1 fc pfc
	wait_for 1 first_frame || fail "PFC frames: $(stat sw p1 pfc_tx)"
}
first_frame() { [ "$(stat sw p1 pfc_tx)" -ge 1 ]; }

# What is not lossless any more is let go, and nothing is repeated.
test_lossy_while_paused() {
	local before
	line fc pfc prio dscp
	ip -n sw link set dev p1 type wire rate 50kbit
	to_h1 size=1000 count=30
	wait_for 2 pausing_is pn true || fail "not pausing"
	tc -n sw qdisc change dev pn root bfc lossless none
	wait_for 1 pausing_is pn false || fail "still pausing"
	sleep 0.001	# on its way
	frames seen n kind=pfc
	equal "the last frame" "$(answered '.[-1].paused')" 0
	sleep 0.3
	before=$(stat sw pn pfc_tx)
	sleep 0.5
	equal "frames after that" "$(stat sw pn pfc_tx)" "$before"
	# The other direction: what the neighbour said of it before is void.
	tc -n sw qdisc change dev pn root bfc lossless all
	pfc 0x08 65535
	wait_for 2 paused_is 3 true || fail "not paused"
	tc -n sw qdisc change dev pn root bfc lossless none
	wait_for 1 paused_is 3 false || fail "still paused"
}
pausing_is() { [ "$(stat sw "$1" 'prios[0].pausing')" = "$2" ]; }

# Priorities have queues of their own, lossless or not.
test_lossy_priorities_are_apart() {
	line fc pfc prio dscp lossless none
	tc -n h1 qdisc replace dev e0 root pfifo
	send h1 10.0.0.2 3000 -n 20 -T 96
	finish "$bg"
	wait_for 1 drained sw pn
	at_least "bytes of priority 3 in its queues" "$(classes sw pn |
		awk '$1 ~ /^(4|c|14|1c)$/ { n += $2 } END { print n + 0 }')" 20000
}

# Backpressure can be cut (BFC App. B): ports that are never paused from here.
test_elide() {
	star fc pfc
	tc -n sw qdisc change dev r0 root bfc elide p1
	incast
	equal "pauses of s1" "$(stat s1 e0 pause_rx)" 0
	at_least "pauses of s2" "$(stat s2 e0 pause_rx)" 4
	at_least "packets not charged" "$(stat sw r0 elided)" 100
	all_idle
}

# Who sends no resume any more has gone: its pause is void.
test_link_down_ends_pauses() {
	line fc pfc prio dscp
	pfc 0xff 65535
	wait_for 2 paused_is 3 true || fail "not paused"
	ip -n n link set e0 down
	sleep 0.1
	ip -n n link set e0 up
	wait_for 1 paused_is 3 false || fail "still paused"
}

# ---- lost frames, changes ----

# Of ten frames one is lost: those that pause are repeated while there is headroom,
# and those that resume before the pause would end by itself.
lost_frames() {
	local i before type=$1
	shift
	star refresh 4ms hold 600ms headroom 150kb "$@"
	for ((i = 1; i <= senders; i++)); do
		ip -n sw link set dev "p$i" type wire seed "$i" drop "$type" 10%
	done
	incast
	equal "packets received" "$(received r 5000 .packets)" $((senders * packets))
	equal "dropped" "$(sum_stat drops)" 0
	at_least "frames lost" "$(ip -n sw -j -d -s link show type wire |
		jq '[.[].linkinfo.info_xstats.drops[]?.dropped] | add')" 10
	at_most "longest gap (ms)" \
		"$(received r 5000 '[.flows[].max_gap_ms] | max')" 400
	say "longest gap $(received r 5000 '[.flows[].max_gap_ms] | max') ms," \
		"$(sum_stat refresh_tx) repeated"
	all_idle
}

test_pfc_lost_frames() { lost_frames 8808 fc pfc; }
test_capfc_max_lost_frames() { lost_frames 8808 fc capfc-max; }
test_capfc_cal_lost_frames() { lost_frames 8808 fc capfc-cal; }
# Those of the backstop; then those that FAFC computes, which end by themselves.
test_fafc_lost_frames() {
	lost_frames 88b5 fc fafc thop 3ms threshold 4mb xoff 20kb queues 128
	"$after_test"
	lost_frames 88b5 fc fafc thop 3ms threshold 30kb queues 128
}

# A third of the PFC frames gets lost, with the default times. A pause lasts 50 ms
# without another frame, and each change is repeated eight times within two HRTTs:
# there is headroom for as many.
third_lost() {
	local i senders=2 slow_hrtt=$hrtt packets=2000 gap
	star "$@"
	for i in 1 2; do
		ip -n sw link set dev "p$i" type wire seed "$i" drop 8808 33.3%
	done
	incast
	equal "$*: packets received" "$(received r 5000 .packets)" 4000
	equal "$*: dropped" "$(sum_stat drops)" 0
	at_least "$*: frames lost" "$(ip -n sw -j -d -s link show type wire |
		jq '[.[].linkinfo.info_xstats.drops[]?.dropped] | add')" 100
	gap=$(received r 5000 '[.flows[].max_gap_ms] | max')
	at_most "$*: longest gap (ms)" "$gap" 60
	# 3 % of the link, with 84 bytes each
	at_most "$*: PFC frames in a second" \
		"$(calc "$(stat sw p1 pfc_tx) / $(received r 5000 .seconds)")" 890
	say "$*: longest gap $gap ms, $(stat sw p1 pfc_tx) frames," \
		"$(stat sw p1 refresh_tx) of them repeated, in $(received r 5000 .seconds) s"
	all_idle
	"$after_test"
}
test_a_third_lost() {
	exact_clock || return 0
	third_lost fc pfc headroom 50kb
	third_lost fc capfc-max headroom 50kb
}

test_modes_change_under_traffic() {
	local i mode
	star fc pfc
	meet 10.0.0.100 $(seq -f s%g $senders)
	flood 5 $(seq -f s%g "$senders")
	for mode in capfc-max bfc fafc capfc-cal pfc fafc none pfc bfc pfc; do
		sleep 0.5
		for ((i = 1; i <= senders; i++)); do
			tc -n sw qdisc change dev "p$i" root bfc fc $mode
			tc -n "s$i" qdisc change dev e0 root bfc fc $mode
		done
		tc -n sw qdisc change dev r0 root bfc fc $mode
		equal "ports that are not $mode" \
			"$(snapshot "map(select(.ns != \"r\" and .options.fc != \"$mode\")) | length")" 0
	done
	flood_ends
	equal "received and dropped" \
		$(($(received r 5000 .packets) + $(sum_stat drops))) \
		"$(jq -s 'map(.sent) | add' "$scratch"/s?.sent.5000.json)"
	all_idle
}

test_thresholds_change_under_traffic() {
	local i port
	star fc pfc
	meet 10.0.0.100 s1 s2 s3
	flood 3 s1 s2 s3
	for i in 9kb 200kb 10kb 90kb; do
		sleep 0.5
		for port in p1 p2 p3; do
			tc -n sw qdisc change dev $port root bfc xoff $i || fail "$port: no xoff $i"
		done
	done
	flood_ends
	equal "dropped" "$(sum_stat drops)" 0
	all_idle
}

# XOFF was far away, and then MAX was exceeded all at once.
test_lower_xoff() {
	local port xoff=300
	# An emulated machine takes 0.1 s for a look, in which a port gets 150 KB.
	simulated || xoff=900
	star fc pfc xoff ${xoff}kb
	meet 10.0.0.100 s1 s2 s3
	flood 1 s1 s2 s3
	for port in p1 p2 p3; do
		wait_for 5 holds "$port" 80000 || fail "$port does not fill"
	done
	equal "pauses" "$(stat sw p1 pause_tx)" 0
	for port in p1 p2 p3; do
		tc -n sw qdisc change dev $port root bfc xoff 10kb
	done
	flood_ends
	equal "dropped" "$(sum_stat drops)" 0
	at_most "held later" "$(stat sw p1 'prios[0].peak')" $((xoff * 1024 + 3000))
	all_idle
}

holds() { [ "$(stat sw "$1" 'prios[0].held')" -ge "$2" ]; }

# The neighbour of a port that is told to be a NIC meanwhile was left paused.
test_role_ends_pauses() {
	line fc pfc hold 2s
	ip -n sw link set dev p1 type wire rate 2mbit
	to_h1 size=1000 count=60
	frames wait n 3 1 kind=pfc paused=1
	tc -n sw qdisc change dev pn root bfc role nic
	sleep 0.05
	frames seen n kind=pfc
	equal "the last frame" "$(answered '.[-1].paused')" 0
	equal "pausing" "$(stat sw pn 'prios[0].pausing')" false
}

# Another qdisc comes and goes at the ingress side: the device is deactivated for a
# moment, and what wanted to pause in it was never told. (In the simulator it takes
# no time.)
test_xoff_while_deactivated() {
	local i churn
	line fc pfc xoff 20kb headroom 200kb
	# Anything that leaves through p1 would take the frame along.
	without_ipv6 sw n
	receive n 3000 -t 100 -i 100
	for i in {1..99}; do
		printf 'qdisc %s dev p1 clsact\n' add del
	done >"$scratch/churn"
	for i in {1..12}; do
		ip -n sw link set dev pn type wire rate 100kbit
		background tc -n sw -batch "$scratch/churn"
		churn=$bg
		send h1 10.0.0.2 3000 -n 70
		finish "$bg" "$churn"
		wait_for 2 pausing_is p1 true ||
			fail "round $i: $(stat sw p1 'prios[0].held') bytes held, and no pause"
		ip -n sw link set dev pn type wire rate 20mbit
		check "round $i: not resumed" wait_for 10 drained sw pn
	done
}

# The same at the egress side: it has packets and is allowed to send, but nothing makes it go on,
# since no other packet comes from a host that is paused because of these. (Newer kernels, in a VM.)
test_backlog_while_deactivated() {
	local i receiver churn
	line fc pfc xoff 20kb headroom 200kb
	without_ipv6 sw n
	receive n 3000 -t 60 -i 3
	receiver=$bg
	for i in {1..99}; do
		printf 'qdisc %s dev pn clsact\n' add del
	done >"$scratch/churn"
	ip -n sw link set dev pn type wire rate 10mbit
	send h1 10.0.0.2 3000 -n 3000
	for i in {1..10}; do
		background tc -n sw -batch "$scratch/churn"
		churn=$bg
		finish "$churn"
	done
	finish "$receiver"
	# What arrives while there is no qdisc is lost. Before, all that came after it was.
	at_least "packets" "$(received n 3000 .packets)" 2000
	at_least "pauses" "$(stat h1 e0 pfc_rx)" 2
}

# PFC frames take no more than a tenth of the link, nor any of what it is shaped to.
test_refresh_leaves_room() {
	local said before since
	line fc pfc xoff 20kb headroom 1mb
	ip -n sw link set dev pn type wire rate 50kbit
	ip -n sw link set dev p1 type wire rate 10mbit
	said=$(tc -n sw qdisc change dev p1 root bfc hold 2ms 2>&1) && fail "hold 2ms is taken"
	[[ $said == *"bfc: hold: "* ]] || fail "said: $said"
	# Taken at the speed of that time
	ip -n sw link set dev p1 type wire rate 1gbit
	tc -n sw qdisc change dev p1 root bfc hold 2ms || fail "hold 2ms is refused"
	ip -n sw link set dev p1 type wire rate 10mbit
	to_h1
	send h1 10.0.0.2 3000 -n 100
	finish "$bg"
	wait_for 3 pausing_is p1 true || fail "p1 does not pause"
	since=$EPOCHREALTIME
	before=$(stat sw p1 pfc_tx)
	sleep 1
	before=$(($(stat sw p1 pfc_tx) - before))
	# A tenth of 10 Mbit/s, 84 bytes each
	at_most "PFC frames in a second" \
		"$(calc "$before / ($EPOCHREALTIME - $since)")" 1500
	tc -n sw qdisc change dev p1 root bfc limit 8mb ||
		fail "other options are refused meanwhile"
	check "not resumed" wait_for 20 drained sw pn
	# 65535 quanta of 1 Gbit/s, in time: 43 kbit/s
	tc -n sw qdisc change dev p1 root bfc hold auto rate 40kbit
	ip -n sw link set dev p1 type wire rate 1gbit
	send h1 10.0.0.2 3000 -n 100
	finish "$bg"
	wait_for 3 pausing_is p1 true || fail "p1 does not pause"
	before=$(snmp h1 Udp NoPorts)
	to_h1 size=958 count=40
	sleep 5
	# 25 of 1000 bytes
	at_least "packets through the shaper" $(($(snmp h1 Udp NoPorts) - before)) 20
	pausing_is p1 true || fail "p1 does not pause any more"
}

# Pauses of a mode that has none any more, and while there is no link
test_mode_change_ends_pauses() {
	local way
	line fc pfc prio dscp xoff 20kb headroom 200kb
	ip -n sw link set dev pn type wire rate 2mbit
	ip -n sw link set dev p1 type wire rate 2mbit
	to_h1 size=1000 count=60
	frames wait n 3 1 kind=pfc paused=1
	pfc 0x08 65535
	wait_for 2 paused_is 3 true || fail "not paused"
	tc -n sw qdisc change dev pn root bfc fc bfc buffer b
	sleep 2
	equal "paused" "$(stat sw pn 'prios[3].paused')" false
	equal "pausing" "$(stat sw pn 'prios[0].pausing')" false
	tc -n sw qdisc change dev pn root bfc fc pfc xoff 20kb headroom 200kb
	sleep 0.5
	frames clear n
	at_most "ms paused" "$(($(stat sw pn 'prios[3].paused_time') / 1000000))" 1000
	at_most "ms pausing" "$(($(stat sw pn 'prios[0].pausing_time') / 1000000))" 1000
	to_h1 size=1000 count=120
	frames wait n 3 1 kind=pfc paused=1
	ip -n n link set e0 down
	sleep 2
	equal "pausing without a link" "$(stat sw pn 'prios[0].pausing')" false
	at_most "ms pausing" "$(($(stat sw pn 'prios[0].pausing_time') / 1000000))" 1500
	# And on other ways out of the mode
	ip -n n link set e0 up
	for way in "change dev pn root bfc peer off" \
		   "replace dev pn root handle 99: bfc fc bfc buffer b queues 64"; do
		tc -n sw qdisc change dev pn root bfc fc pfc peer auto \
			xoff 20kb headroom 200kb
		sleep 0.5
		frames clear n
		to_h1 size=1000 count=120
		frames wait n 3 1 kind=pfc paused=1
		# shellcheck disable=SC2086
		tc -n sw qdisc $way || fail "$way: refused"
		equal "$way: pausing" "$(stat sw pn 'prios[0].pausing')" false
	done
}

test_ingress_port_vanishes() {
	star fc pfc
	meet 10.0.0.100 s1 s2
	flood 2 s1 s2
	sleep 0.5
	at_least "held of s1" "$(stat sw p1 'prios[0].held')" 1000
	ip -n sw link del p1
	flood_ends
	all_idle
}

# all_to_r N: h1, h2 and h3 of two_switches, N packets each
all_to_r() {
	meet 10.0.0.100 h1 h2 h3
	receive r 5000 -t 60 -i 3
	all_send "$1" h1 h2 h3
}

# sw2 pauses sw1, which has room on all its links but for that, and so its hosts.
spreads() {
	local port
	two_switches rate 40mbit delay 100us ring 8
	for port in "${ports_of_two_switches[@]}"; do
		# shellcheck disable=SC2046,SC2086
		bfc $port hrtt $hrtt fc "$1" $([[ $port == sw* ]] || echo role nic)
	done
	all_to_r 700
	equal "packets received" "$(received r 5000 .packets)" 2100
	equal "dropped" "$(sum_stat drops)" 0
	at_least "pauses of sw1" "$(stat sw1 x 'prios[0].pause_rx')" 3
	for port in p1 p2; do
		at_least "pauses by sw1 of $port" "$(stat sw1 "$port" pause_tx)" 3
	done
	at_least "ms of pauses of h1" \
		"$(($(stat h1 e0 'prios[0].paused_time') / 1000000))" 50
	say "x $(stat sw1 x 'prios[0].pause_rx') pauses, h1 $(stat h1 e0 'prios[0].pause_rx')"
	all_idle
}

test_pfc_spreads() { spreads pfc; }
test_capfc_max_spreads() { spreads capfc-max; }
test_capfc_cal_spreads() { spreads capfc-cal; }

# A neighbour of another mode takes no notice, and is not harmed.
test_mixed_modes() {
	two_switches rate 20mbit delay 100us ring 8
	local port
	for port in "${ports_of_two_switches[@]}"; do
		set -- hrtt $hrtt fc pfc
		[[ $port == sw1* ]] && set -- hrtt $hrtt fc bfc
		[[ $port == sw2* ]] && set -- hrtt $hrtt fc capfc-cal
		[[ $port == h1* ]] && set -- hrtt $hrtt fc none
		[[ $port == sw* ]] || set -- "$@" role nic
		# shellcheck disable=SC2086
		bfc $port "$@"
	done
	all_to_r 500
	equal "received and dropped" \
		$(($(received r 5000 .packets) + $(sum_stat drops))) 1500
	equal "pauses that sw1 obeyed" "$(stat sw1 x pause_rx)" 0
	at_least "pauses that h3 obeyed" "$(stat h3 e0 pause_rx)" 1
	all_idle
}

# shares_with WHO MODE OPTIONS...: s1, s2 and WHO, which cannot be paused, to r, as fast
# as they can: s3 behind a port without bfc, or the switch itself. A third for each.
shares_with() {
	local who=$1 receiver i all slow_hrtt=$hrtt senders=2
	shift
	star fc "$@"
	host s3 10.0.0.3/24
	cable sw p3 s3 e0
	ip -n sw addr add 10.0.0.200/24 dev br0
	meet 10.0.0.100 s1 s2 s3 sw
	receive r 5000 -t 4
	receiver=$bg
	send s1 10.0.0.100 5000 -F 1 -t 5
	send s2 10.0.0.100 5000 -F 2 -t 5
	send "$who" 10.0.0.100 5000 -F 3 -t 5 -b 400000
	finish "$receiver"
	# shellcheck disable=SC2016
	all=$(received r 5000 '.packets as $all | .flows | sort_by(.id) |
		map(.packets * 1000 / $all | round / 10) | join(" ")')
	say "$1 with $who: $all %"
	# CaPFC pauses s1 and s2 in phases: 4 s of them are 29.5 to 32.5 % of the one.
	for i in $all; do
		at_least "$1 with $who: % of the link" "$i" 28
		at_most "$1 with $who: % of the link" "$i" 38.5
	done
	at_most "$1 with $who: longest gap of a flow (ms)" \
		"$(received r 5000 '[.flows[].max_gap_ms] | max')" 100
	equal "$1 with $who: dropped of what can be paused" \
		"$(stat sw r0 drop_max)" 0
	"$after_test"
}

# What cannot be paused fills its own queue, not that of the others, and no other is
# paused for it.
test_shares_with_a_port_without() {
	exact_clock || return 0
	shares_with s3 pfc
	shares_with s3 capfc-max
	shares_with s3 capfc-cal
	shares_with s3 fafc queues 128
}

test_shares_with_the_switch() {
	exact_clock || return 0
	shares_with sw pfc
	shares_with sw capfc-max
	shares_with sw capfc-cal
	shares_with sw fafc queues 128
}

run_tests pfc_loses_nothing capfc_max_loses_nothing capfc_cal_loses_nothing \
	too_little_headroom_loses capfc_finds_who_fills_the_egress pfc_frames_are_obeyed \
	pauses_end_on_an_idle_port {pfc,capfc_max,capfc_cal,fafc}_priorities_are_apart \
	lossy_priorities_are_not_paused bad_frames pfc_frames_that_we_send link_down_ends_pauses \
	pfc_lost_frames {pfc,capfc_max,capfc_cal}_spreads modes_change_under_traffic \
	thresholds_change_under_traffic ingress_port_vanishes mixed_modes first_frame_is_sent \
	lossy_while_paused lossy_priorities_are_apart elide lower_xoff role_ends_pauses \
	too_many_ports limit_spares_lossless xoff_while_deactivated backlog_while_deactivated \
	mode_change_ends_pauses -- shares_with_a_port_without shares_with_the_switch \
	handles_come_later limit_spares_lossless_in_one_queue \
	{capfc_max,capfc_cal,fafc}_lost_frames capfc_blames_by_share refresh_leaves_room \
	a_third_lost
