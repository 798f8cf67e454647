#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# A port that pauses priorities is changed while it does, or would.
#
#   h --ph-- sw (br0) --pn-- n		All links 20 Mbit/s, delay 100 us.

# shellcheck source=selftests/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"

# line OPTIONS...: of the ports of sw; h obeys
line() {
	switch sw
	host h 10.0.0.1/24
	host n 10.0.0.2/24
	cable sw ph h e0
	cable sw pn n e0
	bfc sw ph hrtt 6ms watchdog off "$@"
	bfc sw pn hrtt 6ms watchdog off "$@"
	bfc h e0 role nic hrtt 6ms watchdog off fc pfc
	meet 10.0.0.2 h
}

pausing() { [ "$(stat sw ph 'prios[0].pausing')" = true ]; }
paused() { [ "$(stat h e0 'prios[0].paused')" = true ]; }
not_paused() { ! paused; }

# A port whose priorities are all lossy holds nothing; once they are lossless it does at once, and
# its first XOFF waits for no repetition.
test_lossless_at_once() {
	exact_clock || return 0
	line fc pfc lossless none refresh 900ms hold 3s
	ip -n sw link set dev pn type wire rate 2mbit
	send h 10.0.0.2 9 -t 2
	sleep 0.4
	equal "held of lossy priorities" "$(stat sw ph 'prios[0].held')" 0
	tc -n sw qdisc change dev ph root bfc lossless all
	sleep 0.05
	check "no pause after 50 ms: $(stat sw ph 'prios[0].held') bytes held" pausing
	check "h is not paused" paused
	finish "$bg"
	all_idle
}

# A priority that becomes lossy while it is paused goes on at once, also if the first frame that says
# so gets lost.
test_lossy_at_once() {
	exact_clock || return 0
	line fc pfc refresh 900ms hold 3s
	frames open n n e0
	ip -n sw link set dev ph type wire rate 2mbit
	frames udp n dst="$(mac h e0)" from=10.0.0.2 to=10.0.0.1 dport=9 size=1000 count=300
	check "n is not paused" wait_for 5 n_paused
	frames clear n
	tc -n sw qdisc change dev pn root bfc lossless 3
	sleep 0.1
	check "n stays paused" n_not_paused
	frames seen n kind=pfc
	at_least "frames that end the pause" \
		"$(answered 'map(select(.enable % 2 == 1 and .quanta[0] == 0)) | length')" 3
	check "not sent" wait_for 10 drained sw ph
	all_idle
}
n_paused() { [ "$(stat sw pn 'prios[0].pausing')" = true ]; }
n_not_paused() { ! n_paused; }

# There is no handle for what becomes lossless: it is counted when there is one.
test_handles_come_later() {
	line fc pfc lossless none
	take_handles sw
	tc -n sw qdisc change dev ph root bfc lossless all
	ip -n sw link set dev pn type wire rate 2mbit
	send h 10.0.0.2 9 -t 20
	sleep 1
	equal "held without a handle" "$(stat sw ph 'prios[0].held')" 0
	give_handles sw
	check "nothing pauses h" wait_for 8 pausing
	finish "$bg"
	# What came until then, for 2 to 4 s, would take pn up to 19 s.
	ip -n sw link set dev pn type wire rate 20mbit
	all_idle
}

# The same for what a plain host brings into a buffer, with `fc bfc`
test_buffer_without_handles() {
	line fc pfc
	take_handles sw
	tc -n h qdisc del dev e0 root
	bfc sw ph fc bfc buffer b
	give_handles sw
	sleep 3
	ip -n sw link set dev pn type wire rate 2mbit
	send h 10.0.0.2 9 -n 60
	check "not charged" wait_for 2 charged
	finish "$bg"
	all_idle
}
charged() { [ "$(stat sw ph 'prios[0].held')" -gt 0 ]; }

# The mode ends while h is paused, and the ring of the port is full: what ends the pause has to
# leave all the same, behind what the ring and the qdisc had before. A pause lasts 2 s. With
# `peer on` the frames that the port repeats from then on pause queues, and end no pause of PFC.
test_mode_ends_under_load() {
	local i next
	exact_clock || return 0
	line fc pfc hold 2s
	ip -n sw link set dev pn type wire rate 2mbit
	ip -n sw link set dev ph type wire rate 10mbit
	send n 10.0.0.1 9 -t 60
	send h 10.0.0.2 9 -t 60
	for next in "fc none" "fc bfc peer on"; do
		for i in 1 2 3; do
			check "$next, round $i: h is not paused" wait_for 5 paused
			# shellcheck disable=SC2086
			tc -n sw qdisc change dev ph root bfc $next
			sleep 0.1
			check "$next, round $i: h is paused, and the mode has ended" not_paused
			sleep 0.2
			tc -n sw qdisc change dev ph root bfc fc pfc peer auto hold 2s
		done
	done
	end_background
	ip -n sw link set dev pn type wire rate 100mbit
	ip -n sw link set dev ph type wire rate 100mbit
	all_idle
}

# A port that builds no frames any more pauses nothing, and says so.
test_ends_with_the_frames() {
	local before after
	for before in pfc capfc-max; do
		after="fc $before role nic"
		[ $before = pfc ] || after="fc pfc lossless none"
		line fc $before
		ip -n sw link set dev pn type wire rate 2mbit
		send h 10.0.0.2 9 -t 5
		check "$before: nothing pauses h" wait_for 8 paused
		at_least "$before: paused" "$(stat sw ph upstream_paused)" 1
		# shellcheck disable=SC2086
		check "$after" tc -n sw qdisc change dev ph root bfc $after
		equal "$after: paused" "$(stat sw ph upstream_paused)" 0
		finish "$bg"
		clean_up
	done
}

# The neighbour does not know that the port starts over, and may have no room: what it has paused
# stays paused.
test_stays_paused() {
	local what leave
	for what in "ecn 100kb" "buffer b size 4mb" "fc capfc-max" "peer off"; do
		line fc pfc
		frames open n n e0
		frames pfc n 0x01 65535	# 1.68 s
		check "$what: not paused" wait_for 2 pn_is_paused
		send h 10.0.0.2 3000 -n 30
		finish "$bg"
		# shellcheck disable=SC2086
		check "$what" tc -n sw qdisc change dev pn root bfc $what
		sleep 0.2
		frames seen n dport=3000
		leave=0
		[ "$what" != "peer off" ] || leave=30
		equal "$what: packets while paused" "$(answered length)" $leave
		frames close
		clean_up
	done
}
pn_is_paused() { [ "$(stat sw pn 'prios[0].paused')" = true ]; }

# What a port has paused is resumed when its link goes.
test_resumes_match() {
	line fc pfc
	ip -n sw link set dev pn type wire rate 2mbit
	send h 10.0.0.2 9 -t 5
	check "nothing pauses h" wait_for 4 pausing
	ip -n h link set e0 down
	sleep 0.3
	ip -n h link set e0 up
	end_background
	all_idle
	equal "pauses and resumes" "$(stat sw ph resume_tx)" "$(stat sw ph pause_tx)"
}

run_tests stays_paused resumes_match ends_with_the_frames lossless_at_once lossy_at_once handles_come_later \
	buffer_without_handles mode_ends_under_load
