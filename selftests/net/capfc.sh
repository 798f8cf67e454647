#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# CaPFC: what an egress queue of a priority may hold (egress-max), and what is dropped beyond
# (drop_max); where a pause ends (egress-xon), and from where on packets are counted (warn). Who
# is paused: pfc.sh.
#
#   h --ph-- sw --pn-- n		n is made of Python; h obeys no pauses

# shellcheck source=selftests/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"

# Ten frames of 1042 bytes make a queue so long: nine fit.
egress=(egress-xon 3000b egress-xoff 6000b egress-max 10420b)

# topology MODE: what the ingress side may hold is no matter here
topology() {
	line_to_n fc "$1" prio dscp watchdog off xoff 10mb max 20mb "${egress[@]}"
	ip -n sw address add 10.0.0.9/24 dev br0
	meet 10.0.0.2 sw
}

# burst NS COUNT [TOS]: frames of priority 3, and how many more were dropped and wait, by what
# pn says, in $dropped and $waiting
burst() {
	local before waited
	before=$(stat sw pn drop_max) waited=$(stat sw pn qlen)
	send "$1" 10.0.0.2 3000 -n "$2" -s 1000 -T "${3:-96}"
	finish "$bg"
	sleep 0.1
	dropped=$(($(stat sw pn drop_max) - before))
	waiting=$(($(stat sw pn qlen) - waited))
}

# Exactly what would make the queue as long as egress-max, of no other priority, and counted
# once, as that alone.
egress_max() {
	local dropped waiting counter
	topology "$1"
	hold_prio n sw pn 65535
	burst h 20
	equal "$1: waiting, dropped of 20" "$waiting $dropped" "9 11"
	burst h 5
	equal "$1: waiting, dropped of 5 more" "$waiting $dropped" "0 5"
	equal "$1: bytes that wait" "$(stat sw pn backlog)" $((9 * 1042))
	burst h 20 128
	equal "$1: waiting, dropped of priority 4" "$waiting $dropped" "0 0"
	for counter in drop_limit drop_cap drop_buffer storm_drops; do
		equal "$1: $counter" "$(stat sw pn $counter)" 0
	done
	equal "$1: dropped, all" "$(stat sw pn drops)" 16
	equal "$1: dropped by the ingress port" "$(stat sw ph drop_max)" 0
	# There is room again for what is sent.
	hold_prio n sw pn 0
	wait_for 5 drained sw pn
	hold_prio n sw pn 65535
	burst h 20
	equal "$1: waiting, dropped of 20 again" "$waiting $dropped" "9 11"
	hold_prio n sw pn 0
	wait_for 5 drained sw pn
	frames seen n dport=3000
	equal "$1: came" "$(answered length)" $((9 + 20 + 9))
	all_idle
	clean_up
}
test_egress_max() {
	egress_max capfc-max
	egress_max capfc-cal
}

# What the switch sends itself no pause keeps away: it is dropped if all that waits is too
# much, and takes no room from what had it promised.
test_room_that_was_promised() {
	local dropped waiting
	topology capfc-max
	hold_prio n sw pn 65535
	burst sw 20
	equal "of the switch: waiting, dropped of 20" "$waiting $dropped" "9 11"
	burst h 20
	equal "of h: waiting, dropped of 20" "$waiting $dropped" "9 11"
	hold_prio n sw pn 0
	wait_for 5 drained sw pn
	hold_prio n sw pn 65535
	burst h 9
	equal "of h: waiting, dropped of 9" "$waiting $dropped" "9 0"
	burst sw 5
	equal "of the switch: waiting, dropped of 5" "$waiting $dropped" "0 5"
	hold_prio n sw pn 0
	all_idle
}

# What elide exempts no pause keeps away either, though the port's priority is lossless.
test_room_of_elided() {
	local dropped waiting mode
	for mode in capfc-max capfc-cal; do
		topology $mode
		tc -n sw qdisc change dev pn root bfc elide ph
		hold_prio n sw pn 65535
		burst h 20
		equal "$mode: waiting, dropped of 20" "$waiting $dropped" "9 11"
		at_least "$mode: elided" "$(stat sw pn elided)" 9
		burst h 5
		equal "$mode: waiting, dropped of 5 more" "$waiting $dropped" "0 5"
		hold_prio n sw pn 0
		all_idle
		clean_up
	done
}

# No limit, and one that comes when more waits already: that stays.
test_egress_max_changes() {
	local dropped waiting
	topology capfc-max
	tc -n sw qdisc change dev pn root bfc egress-max auto egress-xon auto egress-xoff auto
	hold_prio n sw pn 65535
	burst h 60
	equal "auto: waiting, dropped of 60" "$waiting $dropped" "60 0"
	tc -n sw qdisc change dev pn root bfc "${egress[@]}"
	burst h 5
	equal "waiting, dropped of 5" "$waiting $dropped" "0 5"
	equal "packets that wait" "$(stat sw pn qlen)" 60
	hold_prio n sw pn 0
	wait_for 5 drained sw pn
	frames seen n dport=3000
	equal "came" "$(answered length)" 60
	all_idle
}

paused_by() { [ "$(stat sw "$1" 'prios[3].pausing')" = "$2" ]; }

# The pause of h ends when pn's queue is down to egress-xon, with the frame that makes it so: 20
# frames of 1042 bytes wait, pn sends one in 0.2 s.
test_egress_xon() {
	local dropped waiting xon
	topology capfc-max
	for xon in 3000 9000; do
		tc -n sw qdisc change dev pn root bfc egress-max auto egress-xoff 12000b \
			warn 9000b egress-xon ${xon}b rate 40kbit ||
			fail "egress-xon $xon is refused"
		hold_prio n sw pn 65535
		burst h 20
		equal "$xon: waiting, dropped of 20" "$waiting $dropped" "20 0"
		check "$xon: h is not paused" paused_by ph true
		hold_prio n sw pn 0
		poll=0.01 check "$xon: h stays paused" wait_for 20 paused_by ph false
		waiting=$(stat sw pn backlog)
		say "egress-xon $xon: h is released at $waiting bytes"
		at_most "$xon: bytes that waited when the pause ended" "$waiting" $xon
		at_least "$xon: bytes that waited when the pause ended" "$waiting" \
			$((xon - 1042 + 1))
		check "$xon: not sent" wait_for 10 drained sw pn
	done
	all_idle
}

# An option that these pauses do not depend on, and an event of the device, end none of them: the
# queue is longer than egress-xon. Other thresholds begin anew.
test_pause_outlives_changes() {
	local dropped waiting mode end
	for mode in "capfc-max egress-xon 2000b" "capfc-cal egress-xon 2000b" "capfc-max elide ph"; do
		read -r mode end <<<"$mode"
		topology "$mode"
		hold_prio n sw pn 65535
		burst h 9
		check "$mode: h is not paused" paused_by ph true
		tc -n sw qdisc change dev pn root bfc limit 8mb
		check "$mode: limit ends the pause" paused_by ph true
		ip -n sw link set dev pn mtu 1400
		check "$mode: an MTU ends the pause" paused_by ph true
		# shellcheck disable=SC2086
		tc -n sw qdisc change dev pn root bfc $end
		check "$mode: $end does not end the pause" paused_by ph false
		hold_prio n sw pn 0
		all_idle
		clean_up
	done
}

# Stop-Max pauses the port that brought most of what was counted, from warn on. g sends 8 frames,
# then h 5, of which the fourth makes the queue longer than egress-xoff. From 3000 bytes on, g's
# third frame, these are 6 of g and 5 of h; from 9000 on, which g does not reach, all are h's.
test_warn() {
	local dropped waiting warn blamed
	topology capfc-max
	host g 10.0.0.3/24
	cable sw pg g e0
	bfc sw pg hrtt 6ms fc capfc-max prio dscp watchdog off xoff 10mb max 20mb
	meet 10.0.0.2 g
	for warn in 3000 9000; do
		tc -n sw qdisc change dev pn root bfc egress-max auto egress-xoff 12000b \
			warn ${warn}b || fail "warn $warn is refused"
		hold_prio n sw pn 65535
		burst g 8
		equal "$warn: g is paused alone" "$(stat sw pg 'prios[3].pausing')" false
		burst h 5
		equal "$warn: waiting, dropped of h's" "$waiting $dropped" "5 0"
		blamed="false true"
		[ $warn = 9000 ] || blamed="true false"
		equal "$warn: who is paused, g, h" "$(stat sw pg 'prios[3].pausing') \
$(stat sw ph 'prios[3].pausing')" "$blamed"
		hold_prio n sw pn 0
		check "$warn: not sent" wait_for 5 drained sw pn
		sleep 0.1
	done
	equal "pauses of g" "$(stat sw pg 'prios[3].pause_tx')" 1
	equal "pauses of h" "$(stat sw ph 'prios[3].pause_tx')" 1
	all_idle
}

# A port whose counters were made anew, with the handles of the old ones, is paused as any other
# while the queue still waits that the old ones were blamed for.
test_blame_of_new_counters() {
	local dropped waiting
	topology capfc-cal
	host g 10.0.0.3/24
	cable sw pg g e0
	bfc sw pg hrtt 6ms fc capfc-cal prio dscp watchdog off xoff 10mb max 20mb
	meet 10.0.0.2 g
	tc -n sw qdisc change dev pn root bfc egress-max auto egress-xoff 12000b egress-xon 3000b \
		cut 100% rate 80kbit || fail "refused"
	burst h 20
	burst g 80
	check "h is not paused" paused_by ph true
	tc -n sw qdisc del dev ph root
	sleep 4		# h's packets leave, and the handles are free again
	bfc sw ph hrtt 6ms fc capfc-cal prio dscp watchdog off xoff 10mb max 20mb
	sleep 0.5
	at_least "bytes that wait" "$(stat sw pn backlog)" 12000
	burst h 5
	check "h is not paused once more" wait_for 1 paused_by ph true
	check "not sent" wait_for 20 drained sw pn
	all_idle
}

# fan MODE N OPTIONS...: h1 to hN, each of which fills the link to r, with OPTIONS at its port, and sends
# for three times as long as the queue needs to be long and short again. Nothing is counted before
# almost all waits that may until a pause.
fan() {
	local mode=$1 senders=$2 common i hosts=()
	shift 2
	common=(hrtt 7ms fc "$mode" prio dscp watchdog off xoff 10mb max 20mb)
	switch sw
	host r 10.0.0.100/24
	cable sw r0 r e0 rate 20mbit delay 3ms ring 1
	bfc sw r0 "${common[@]}" egress-xon 3000b warn 95000b egress-xoff 100000b "$@"
	for ((i = 1; i <= senders; i++)); do
		host "h$i" "10.0.0.$i/24"
		cable sw "p$i" "h$i" e0 rate 20mbit delay 3ms ring 1
		bfc sw "p$i" "${common[@]}"
		bfc "h$i" e0 role nic fc pfc prio dscp hrtt 7ms
		hosts+=("h$i")
	done
	meet 10.0.0.100 "${hosts[@]}"
	flood 0.5 "${hosts[@]}"
	flood_ends
}

# Stop-Max holds one port responsible, and another one when that has been overtaken (Alg. 1 line
# 11): its pause must have taken effect, a loop later. So of N senders N - 1 fill the queue for a
# loop, then N - 2, and so on: N (N - 1) / 2 loops of a link beyond egress-xoff, where
# Stop-Calibrate, which blames all of them at once, needs N - 1. Three are the smallest number
# for which that makes a difference. With room for the latter the former drops.
test_one_by_one() {
	local loop=0 mode n loops beyond room
	exact_clock || return
	for n in 2 3 4; do
		for mode in capfc-max capfc-cal; do
			fan $mode $n egress-max auto
			beyond=$(($(stat sw r0 backlog_peak) - 100000))
			[ "$loop" != 0 ] || loop=$beyond
			loops=$((n - 1))
			[ $mode = capfc-cal ] || loops=$((n * (n - 1) / 2))
			say "$mode, $n senders: $beyond bytes beyond egress-xoff"
			between "$mode, $n: bytes beyond egress-xoff" "$beyond" \
				$((loops * loop * 85 / 100)) $((loops * loop * 115 / 100))
			equal "$mode, $n: dropped" "$(stat sw r0 drop_max)" 0
			all_idle
			clean_up
		done
	done
	room=$((100000 + 5 * loop / 2))
	for mode in capfc-max capfc-cal; do
		fan $mode 3 egress-max ${room}b
		say "$mode, egress-max $room: $(stat sw r0 drop_max) dropped"
		if [ $mode = capfc-max ]; then
			at_least "$mode: dropped" "$(stat sw r0 drop_max)" 1
		else
			equal "$mode: dropped" "$(stat sw r0 drop_max)" 0
		fi
		all_idle
		clean_up
	done
}

run_tests egress_max room_that_was_promised room_of_elided egress_max_changes egress_xon warn \
	pause_outlives_changes blame_of_new_counters one_by_one
