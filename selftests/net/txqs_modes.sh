#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Modes that pause priorities on a device with several TX queues: a scheduler for each, and one
# account of what is held of a port.
#
#   s1 ---\
#   ...    >-- sw (br0) --- r	All links 20 Mbit/s, 4 TX queues at each end.
#   s4 ---/

# shellcheck source=selftests/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"

tx_queues=4
senders=(s1 s2 s3 s4)
# What is in the rings of all TX queues comes behind a pause.
default_link=(rate 20mbit delay 100us ring 2)
# Long enough for a pause to take effect here, rings of the wires included
hrtt=6ms
simulated || hrtt=40ms senders=(s1 s2 s3)

# star OPTIONS...: of all ports
star() {
	local ns
	switch sw
	host r 10.0.0.100/24
	cable sw r0 r e0
	bfc sw r0 hrtt $hrtt "$@"
	# shellcheck disable=SC2046
	bfc r e0 role nic hrtt $hrtt $(of_nic "$@")
	for ns in "${senders[@]}"; do
		host "$ns" "10.0.0.${ns#s}/24"
		cable sw "p${ns#s}" "$ns" e0
		bfc sw "p${ns#s}" hrtt $hrtt "$@"
		# shellcheck disable=SC2046
		bfc "$ns" e0 role nic hrtt $hrtt $(of_nic "$@")
	done
	meet 10.0.0.100 "${senders[@]}"
}

# incast PACKETS [OPTIONS...]: ten flows of each sender, so many packets of each
incast() {
	local packets=$1 ns receiver all=()
	shift
	receive r 5000 -t 60 -i 3
	receiver=$bg
	for ns in "${senders[@]}"; do
		send "$ns" 10.0.0.100 5000 -F $((${ns#s} * 100)) -f 10 -n "$packets" "$@"
		all+=("$bg")
	done
	finish "${all[@]}" "$receiver"
}

all_have_four() {
	local port
	equal "$1: schedulers of s1" "$(children s1 e0)" 4
	for port in r0 p1 p2; do
		equal "$1: schedulers of $port" "$(children sw $port)" 4
	done
}

# own_frames NS PORT TXQ: packets of a TX queue that were in none of its queues
own_frames() {
	local sent
	sent=$(tc -n "$1" -s -j qdisc show dev "$2" |
		jq ".[] | select(.parent // \"\" | endswith(\":$3\")) | .packets")
	classes "$1" "$2" | awk -v sent="$sent" -v first=$((($3 - 1) * 32)) '
		{ number = 0
		  for (i = 1; i <= length($1); i++)
			number = number * 16 + index("0123456789abcdef", substr($1, i, 1)) - 1 }
		number > first && number <= first + 32 { sent -= $3 }
		END { print sent }'
}

loses_nothing() {
	local ns n=$((${#senders[@]} * 300)) packets=30
	star "$@"
	all_have_four "$*"
	incast $packets
	equal "$*: packets received" "$(received r 5000 .packets)" "$n"
	equal "$*: reordered" "$(received r 5000 .reordered)" 0
	equal "$*: drops" "$(sum_stat drops)" 0
	at_least "$*: PFC frames" "$(sum_stat pfc_tx)" "$(simulated && echo 50 || echo 2)"
	for ns in "${senders[@]}"; do
		at_least "$*: pauses of $ns" "$(stat "$ns" e0 'prios[0].pause_rx')" 1
		simulated && equal "$*: pauses that $ns has seen" \
			"$(stat "$ns" e0 'prios[0].pause_rx')" \
			"$(stat sw "p${ns#s}" 'prios[0].pause_tx')"
	done
	at_least "$*: TX queues of s1 that sent" "$(stat s1 e0 txqs_sent)" 2
	equal "$*: TX queues of r0 that sent" "$(stat sw r0 txqs_sent)" 4
	say "$*: $(sum_stat pfc_tx) PFC frames, held at most $(stat sw p1 'prios[0].peak')"
	# all that was held is given back
	all_idle
}

test_pfc_loses_nothing() {
	loses_nothing fc pfc
	"$after_test"
	loses_nothing fc pfc lossless 0 buffer b size 400kb dynamic 25%
}

# So that the test above can fail
test_too_little_headroom_loses() {
	star fc pfc xoff 20kb xon 10kb headroom 1600b max 24kb
	incast 30
	at_least "packets over max" "$(sum_stat drop_max)" 1
	equal "received and dropped" $(($(received r 5000 .packets) + $(sum_stat drops))) \
		$((${#senders[@]} * 300))
	all_idle
}

# Frames of PFC have no number: if an XON could overtake an XOFF, packets would be lost. So
# they leave through one TX queue, also while all of them have much to send.
test_frames_in_order() {
	local ns all=() receivers=() txq
	star fc pfc
	for ns in "${senders[@]}"; do
		receive "$ns" 6000 -t 60 -i 2
		receivers+=("$bg")
		send r "10.0.0.${ns#s}" 6000 -F $((${ns#s} * 100)) -f 10 -t 2
		all+=("$bg")
	done
	incast 30
	finish "${all[@]}" "${receivers[@]}"
	at_least "PFC frames of p1" "$(stat sw p1 pfc_tx)" "$(simulated && echo 50 || echo 2)"
	equal "drops" "$(sum_stat drops)" 0
	at_least "TX queues of p1 that sent" "$(stat sw p1 txqs_sent)" 3
	at_least "frames through the first TX queue" "$(own_frames sw p1 1)" \
		"$(stat sw p1 pfc_tx)"
	for txq in 2 3 4; do
		# ARP and the like
		at_most "frames through TX queue $txq" "$(own_frames sw p1 $txq)" 10
	done
	all_idle
}

# pair OPTIONS...: h with bfc, n made of Python
pair() {
	host h 10.0.0.1/24
	host n 10.0.0.2/24
	cable h e0 n e0 rate 4mbit delay 100us ring 4
	meet 10.0.0.2 h
	frames open n n e0
	bfc h e0 hrtt $hrtt queues 8 "$@"
}

# sent_of PRIORITY: packets of its queues, of all TX queues
sent_of() {
	classes h e0 | awk -v prio="$1" '
		{ last = index("0123456789abcdef", substr($1, length($1))) - 1 }
		(last + 7) % 8 == prio { print $3 }'
}

# What the neighbour says of a priority holds for all TX queues, and for no other priority.
test_pause_of_a_priority() {
	local mode ns=$((13000 * 128000))	# 512 bits at 4 Mbit/s
	for mode in "pfc role switch" "pfc role nic" "capfc-max role nic"; do
		# shellcheck disable=SC2086
		pair fc $mode prio dscp
		equal "$mode: schedulers" "$(children h e0)" 4
		send h 10.0.0.2 3000 -f 40 -t 5 -T 96 -b 20000
		send h 10.0.0.2 4000 -f 40 -t 5 -T 128 -b 20000
		sleep 1
		equal "$mode: TX queues" "$(stat h e0 txqs_sent)" 4
		frames pfc n 0x08 13000			# 1.66 s
		sleep 0.5
		sent_of 3 >"$scratch/3"
		sent_of 4 >"$scratch/4"
		sleep 0.8
		equal "$mode: queues of priority 3 that have sent something" \
			"$(awk '$1 > 0' "$scratch/3" | wc -l)" 4
		equal "$mode: of priority 3, while it is paused" "$(sent_of 3)" \
			"$(cat "$scratch/3")"
		equal "$mode: queues of priority 4 that go on" \
			"$(paste "$scratch/4" <(sent_of 4) | awk '$2 > $1' | wc -l)" 4
		equal "$mode: paused" "$(stat h e0 'prios[3].paused')" true
		equal "$mode: paused" "$(stat h e0 'prios[4].paused')" false
		equal "$mode: queues paused" "$(stat h e0 paused)" 4
		sleep 1
		equal "$mode: queues of priority 3 that go on" \
			"$(paste "$scratch/3" <(sent_of 3) | awk '$2 > $1' | wc -l)" 4
		equal "$mode: paused at the end" "$(stat h e0 'prios[3].paused')" false
		# Once, and as long as one TX queue is.
		equal "$mode: pauses" "$(stat h e0 'prios[3].pause_rx')" 1
		between "$mode: ns of it" "$(stat h e0 'prios[3].paused_time')" \
			$((ns - 20000000)) "$ns"
		finish "${pids[@]: -2}"
		frames close
		"$after_test"
	done
}

# A priority that has nothing to send where it is paused is no storm there; the port's storm
# is one, and the priority's.
test_storm() {
	pair fc pfc prio dscp watchdog 200ms
	send h 10.0.0.2 3000 -f 40 -t 2 -T 96 -b 20000
	sleep 0.3
	frames pfc n 0x08 30000				# 3.8 s
	wait_for 2 storms_are 4 || fail "storms: $(stat h e0 storms)"
	sent_of 3 >"$scratch/3"
	sleep 0.15
	equal "queues that go on" "$(paste "$scratch/3" <(sent_of 3) |
		awk '$2 > $1' | wc -l)" 4
	at_least "packets meanwhile" "$(stat h e0 storm_tx)" 10
	finish "$bg"
	frames close
}
storms_are() { [ "$(stat h e0 storms)" = "$1" ]; }

# Memory runs out because of what others hold, in other TX queues, too: they pay.
test_limit_spares_lossless() {
	local ns
	star fc pfc prio dscp lossless 3 queues 64 xoff 60kb limit 300kb
	for ns in "${senders[@]}"; do
		tc -n "$ns" qdisc change dev e0 root bfc limit 8mb
	done
	flood_many 3 "${senders[@]:1}"
	lossless_is_spared -f 20 -b 20000
	say "$(received r 6000 .packets) lossless packets, memory $(stat sw r0 memory_peak)"
	all_idle
}

# The same if all is of that priority, and what others hold came in through lossy ports.
test_limit_spares_lossless_in_a_buffer() {
	local ns
	star fc pfc prio dscp lossless 3 queues 64 xoff 60kb limit 300kb buffer b size 8mb
	for ns in "${senders[@]}"; do
		tc -n "$ns" qdisc change dev e0 root bfc limit 8mb
	done
	flooding=()
	for ns in "${senders[@]:1}"; do
		check "p${ns#s}: refused" tc -n sw qdisc change dev "p${ns#s}" root bfc \
			lossless none xoff auto
		send "$ns" 10.0.0.100 5000 -F $((${ns#s} * 100)) -f 10 -t 3 -T 96
		flooding+=("$bg")
	done
	sleep 0.5
	# A packet is queued before another one is dropped.
	at_most "memory that lossy ports take" "$(stat sw r0 memory)" $((310 * 1024))
	lossless_is_spared -f 20 -b 20000
	all_idle
}

# The threshold is that of the port: none is marked while the TX queues hold half of it, most
# while they hold much more, though no TX queue does by itself. One is taken to hold its part of that,
# as the card serves all in turn: so none may have but a few of the flows.
test_ecn() {
	local each marks sent
	host h 10.0.0.1/24
	host r 10.0.0.2/24
	cable h e0 r e0 rate 4mbit delay 100us ring 2
	meet 10.0.0.2 h
	for each in one each; do
		bfc h e0 hrtt $hrtt fc pfc role switch ecn 160kb txqs $each
		send h 10.0.0.2 5000 -f 40 -t 1 -T 2 -b 2304
		finish "$bg"
		say "$each: at most $(stat h e0 backlog_peak) bytes, $(stat h e0 ecn_mark) marks"
		equal "$each: marks below the threshold" "$(stat h e0 ecn_mark)" 0
		wait_for 10 drained h e0
		sent=$(stat h e0 packets)
		send h 10.0.0.2 5000 -f 80 -t 2 -T 2 -b 8000
		finish "$bg"
		wait_for 10 drained h e0
		marks=$(stat h e0 ecn_mark)
		sent=$(($(stat h e0 packets) - sent))
		say "$each: at most $(stat h e0 backlog_peak) bytes, $marks marks of $sent"
		at_least "$each: marks" "$marks" $((sent / 2))
		# As a ramp: one in ten at most, as the queues of all reach half of the way up to kmax.
		tc -n h qdisc change dev e0 root bfc kmax 1800kb pmax 10%
		sent=$(stat h e0 packets)
		send h 10.0.0.2 5000 -f 80 -t 2 -T 2 -b 8000
		finish "$bg"
		wait_for 10 drained h e0
		marks=$(($(stat h e0 ecn_mark) - marks))
		sent=$(($(stat h e0 packets) - sent))
		say "$each: a ramp: $marks marks of $sent"
		at_least "$each: marks of a ramp" "$marks" 1
		at_most "$each: marks of a ramp" "$marks" $((sent / 10))
		equal "$each: TX queues" "$(stat h e0 txqs_sent)" \
			"$([ $each = one ] && echo 0 || echo 4)"
		tc -n h qdisc del dev e0 root
	done
}

# With fewer TX queues, more, and one; held is right all the time.
test_channels() {
	local n port
	star fc pfc
	flood_many 9
	for n in 2 1 3 4; do
		sleep 1
		for port in r0 p1; do
			in_ns sw ethtool -L "$port" tx "$n" || fail "no $n TX queues"
		done
		in_ns s1 ethtool -L e0 tx "$n" || fail "no $n TX queues"
		sleep 0.5
		equal "TX queues" "$(stat sw r0 txqs) $(stat s1 e0 txqs)" "$n $n"
	done
	flood_ends
	all_idle
	note_drops
	incast 20
	equal "packets behind it" "$(received r 5000 .packets)" $((${#senders[@]} * 200))
	equal "drops behind it" "$(new_drops)" 0
	all_idle
}
# flood_many SECONDS [NS...]: as flood, ten flows of each
flood_many() {
	local ns seconds=$1
	shift
	[ $# -gt 0 ] || set -- "${senders[@]}"
	receive r 5000 -t 60 -i 3
	flooding=("$bg")
	for ns in "$@"; do
		send "$ns" 10.0.0.100 5000 -F $((${ns#s} * 100)) -f 10 -t "$seconds"
		flooding=("$bg" "${flooding[@]}")
	done
}

# Modes come and go while packets wait; those that need one scheduler say so.
test_modes_change() {
	local ns mode other
	star fc pfc
	flood_many 5
	for mode in bfc pfc none "pfc buffer b size 4mb" bfc "pfc lossless 0,1,2" "pfc xoff 20kb"; do
		sleep 0.5
		for ns in "${senders[@]}"; do
			# shellcheck disable=SC2086
			check "sw: no $mode" tc -n sw qdisc change dev "p${ns#s}" root bfc fc $mode
			check "$ns: no $mode" tc -n "$ns" qdisc change dev e0 root bfc \
				fc "${mode%% *}"
		done
		# shellcheck disable=SC2086
		check "r0: no $mode" tc -n sw qdisc change dev r0 root bfc fc $mode
		for other in capfc-max capfc-cal fafc; do
			tc_refuses "need one scheduler" -n sw qdisc change dev r0 root bfc fc $other
		done
		tc_refuses "needs one scheduler" -n s1 qdisc change dev e0 root bfc fc fafc
	done
	flood_ends
	equal "received and dropped" $(($(received r 5000 .packets) + $(sum_stat drops))) \
		"$(jq -s 'map(.sent) | add' "$scratch"/s?.sent.5000.json)"
	all_idle
}

# Schedulers and devices go while packets wait.
test_devices_go() {
	local mode i=0
	star fc pfc
	flood_many 8
	for mode in one each; do
		sleep 0.5
		check "txqs $mode" tc -n sw qdisc replace dev r0 root handle $((++i)): bfc fc pfc \
			hrtt $hrtt txqs $mode
		sleep 0.5
		ip -n sw link set r0 down
		sleep 0.1
		ip -n sw link set r0 up
		sleep 0.5
		tc -n sw qdisc del dev p1 root
		sleep 0.1
		bfc sw p1 hrtt $hrtt fc pfc
	done
	sleep 0.5
	ip -n sw link del p2
	flood_ends
	del_ns s2
	all_idle
	flood_many 2 s1 s3
	sleep 1
	ip -n sw link del r0
	flood_ends
	del_ns r
	all_idle
}

run_tests pfc_loses_nothing too_little_headroom_loses frames_in_order storm \
	limit_spares_lossless limit_spares_lossless_in_a_buffer modes_change devices_go -- \
	pause_of_a_priority channels ecn
