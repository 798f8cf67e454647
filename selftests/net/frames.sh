#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# A neighbour made of Python (bfcframe.py) against a real port: what the port
# says, what it obeys, what it refuses, when it stamps.
#
#                        sw (br0)
#   n e0 ---- 4 Mbit/s ---- p1  p2 ---- 20 Mbit/s ---- e0 r
#
# The qdisc is on p1; n speaks for itself; r sends to n through p1.

# jq has variables of its own.
# shellcheck disable=SC2016
# shellcheck source=selftests/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"

# ---- the port ----

mac_n=
mac_r=
rate_n=4mbit
rate_r=20mbit
bridge=

# start [OPTIONS]: everything, and the qdisc with these options
start() {
	host n 10.0.0.1/24
	host r 10.0.0.2/24
	switch sw "$bridge"
	cable sw p1 n e0 rate "$rate_n" delay 100us ring 4
	cable sw p2 r e0 rate "$rate_r" delay 100us ring 4
	meet 10.0.0.1 r
	bfc sw p1 hrtt 4ms sticky 10s flows 1000000 watchdog off "$@"
	frames open n n e0
	mac_n=$(answered .mac)
	mac_r=$(mac r e0)
}

port() { stat sw p1 "$1"; }
port_is() { [ "$(port "$1")" = "$2" ]; }
state() { wait_for "$1" port_is peer_state "$2" ||
	fail "${3:-state} $(port peer_state) instead of $2"; }

# agree: n is there, and so is the port
agree() {
	frames talk n 0.3
	state 10 up "after our HELLO"
}

# stamped TEXT TAGS VIDS: twenty packets for n come with this number of tags,
# and the outermost one's VLAN id satisfies VIDS (jq)
stamped() {
	frames clear n
	send r 10.0.0.1 5000 -n 20 -r 3000000
	finish "$bg"
	frames wait n 15 20 flow=0
	equal "$1: packets" "$(answered length)" 20 ||
		say "$1: $(answered 'map(.flow_seq) | tostring') dropped $(port drops) queued $(port qlen)"
	equal "$1: tags" "$(answered 'map(.ntags) | unique | tostring')" "[$2]"
	equal "$1: VLAN ids" "$(answered "map(.vid) | all($3)")" true
}
plain() { stamped "$1" 0 '. == null'; }
tagged() { stamped "$1" 1 '. >= 1 and . <= 32'; }

done_with() { frames close; }

# ---- HELLO ----

test_three_way_hello() {
	local id
	start
	frames wait n 5 3 kind=hello
	equal "HELLOs" "$(answered 'length >= 3')" true
	equal "what the first HELLOs say" "$(answered 'map([.dst, .ethertype,
		.len >= 60, .length, .version, .role, .flags, .queues,
		.classes, .reserved, .incast, .reserved2, .modes, .echo,
		.echo_sent, .held, .ntags]) | unique[0] | tostring')" \
		'["01:80:c2:00:00:0e","88b5",true,84,1,0,0,32,1,0,65535,0,1,0,0,0,0]'
	equal "different first HELLOs" "$(answered 'map([.id, .epoch, .nonce,
		.src, .role, .queues]) | unique | length')" 1
	equal "nonce 0" "$(answered '.[0].nonce == 0')" false
	equal "sequence" "$(answered 'map(.seq) as $s |
		$s == [range($s[0]; $s[0] + length)]')" true
	# Its clock has the rate of the local one.
	at_most "sent and received apart in s" "$(answered '
		((.[-1].sent - .[0].sent) / 1e9 - (.[-1].t - .[0].t)) | fabs')" \
		0.5
	id=$(ip -n sw -j link show dev p1 | jq -r '.[0] |
		.address + ":" + (.ifindex | tostring)')
	equal "id" "$(answered '.[0].id')" "$(printf '%s%04x' \
		"$(tr -d : <<<"${id%:*}")" "${id##*:}")"
	state 1 searching
	plain "before we spoke"

	frames clear n
	frames hello n echo=0
	state 3 heard "after a HELLO without echo"
	frames wait n 3 1 kind=hello
	frames set n queues=32
	id=$(answered .nonce)
	frames wait n 3 1 kind=hello echo="$id"
	at_least "HELLOs that echo our nonce" "$(answered length)" 1
	equal "our time, echoed" "$(answered '.[0].echo_sent > 0')" true
	at_most "s between hearing and echoing" \
		"$(answered '.[0].held / 1e9')" 1.5
	frames hello n echo=12345
	plain "with the nonce of another port echoed"
	equal "tagged" "$(port tagged_tx)" 0
	frames hello n
	state 3 up "after a HELLO with echo"
	frames talk n 0.3
	tagged "agreed"
	# And what the kernel may have to say: multicast listener reports
	at_least "tagged" "$(port tagged_tx)" 20
	at_most "tagged" "$(port tagged_tx)" 24
	equal "the neighbour's queues" "$(port peer_queues)" 32
	at_least "HELLO round trip in ns" "$(port hello_rtt)" 200000
	done_with
}

test_bye() {
	start
	agree
	tagged "agreed"
	frames talk n 0
	frames hello n flags=1
	state 1 searching "after BYE"
	plain "after BYE"
	done_with
}

test_silence() {
	start
	agree
	frames talk n 0
	sleep 2
	state 1 up "after 2 s of silence"
	state 5 searching "after silence"
	plain "after silence"
	done_with
}

test_carrier_loss() {
	local nonce
	start
	agree
	tagged "agreed"
	frames wait n 3 1 kind=hello
	nonce=$(answered '.[0].nonce')
	frames talk n 0
	frames clear n
	ip -n n link set e0 down
	state 3 off "without carrier"
	ip -n n link set e0 up
	state 3 searching "carrier is back"
	plain "after carrier loss"
	frames wait n 3 1 kind=hello
	equal "another nonce" "$(answered ".[-1].nonce != $nonce")" true
	frames talk n 0.3
	state 5 up "talking again"
	tagged "agreed again"
	done_with
}

test_two_talkers() {
	local since
	start
	agree
	tagged "agreed"
	frames open m n e0
	frames talk m 0.5
	state 3 conflict "two talkers"
	plain "two talkers"
	state 1 conflict "they go on"
	frames talk m 0
	since=$EPOCHREALTIME
	state 10 up "the other one is silent"
	at_least "s to believe it" "$(calc "$EPOCHREALTIME - $since")" 2.9
	tagged "agreed again"
	done_with
}

test_peer_on() {
	start peer on
	tagged "peer on"
	equal "the neighbour's queues, role and id" \
		"$(port peer_queues) $(port peer_role) $(port peer_id)" "32 null 0000000000000000"
	equal "what is known of it" "$(tc -n sw -s qdisc show dev p1 root |
		grep -o '^  peer .*')" "  peer up queues 32"
	at_most "HELLOs heard" "$(port hello_rx)" 0
	frames pause n bits=3 epoch=99 seq=5 hold=2000000000
	check "pause of a neighbour that said no HELLO" wait_for 2 \
		port_is paused 1
	done_with
}

# What comes back by a loop or a mirror is no neighbour's, though `peer on` asks for no HELLO.
test_own_pause_with_peer_on() {
	start peer on
	frames wait n 5 1 kind=hello
	frames pause n bits=3 epoch="$(answered '.[-1].epoch')" seq=1000 hold=2000000000
	check "the port's own PAUSE is not refused" wait_for 2 port_is bad_loop 1
	equal "queues paused" "$(port paused)" 0
	frames pause n bits=3 epoch=99 seq=5 hold=2000000000
	check "pause of a neighbour" wait_for 2 port_is paused 1
	done_with
}

test_peer_off() {
	start peer off
	frames open r r e0
	frames talk n 0.3
	plain "peer off"
	sleep 1
	frames seen n kind=hello
	equal "HELLOs" "$(answered length)" 0
	frames pause n bits=0,1,2 hold=2000000000
	frames udp n dst="$mac_r" from=10.0.0.1 to=10.0.0.2 sport=77 \
		tags=88a8:5
	frames wait r 5 1 sport=77
	equal "tag left alone" "$(answered '.[0].tags | tostring')" \
		'[["88a8",5,0]]'
	equal "paused" "$(port paused)" 0
	equal "frames accepted" "$(port frames_rx)" 0
	equal "state" "$(port peer_state)" off
	done_with
}

# ---- PAUSE, received ----

# arrivals FLOW: packets of a flow in a second
arrivals() {
	sleep 0.3
	frames clear n
	sleep 1
	frames seen n flow="$1"
	answered length
}

test_pause_obeyed() {
	local q
	start
	agree
	background ip netns exec r udpflow send -d 10.0.0.1 -p 5000 -f 3 -t 60 \
		-r 1500000
	frames wait n 15 5 flow=1
	q=$(answered '.[0].vid // 0')
	at_least "tag of a stamped packet" "$q" 1 || { done_with; return; }
	q=$((q - 1))
	frames keep n 0.5 bits=$q hold=4000000000
	sleep 0.3
	equal "packets of the paused queue" "$(arrivals 1)" 0
	frames seen n flow=0
	at_least "packets of another queue" "$(answered length)" 10
	frames seen n flow=2
	at_least "packets of a third" "$(answered length)" 10
	equal "queues paused" "$(port paused)" 1
	equal "classes paused" "$(classes sw p1 | grep -c ' on$')" 1

	frames clear n
	frames keep n 0
	frames pause n
	frames wait n 15 20 flow=1
	at_least "packets after the resume" "$(answered length)" 20
	equal "in order" "$(answered 'map(.flow_seq) | . == sort')" true
	equal "expired" "$(port expired)" 0
	equal "pauses, resumes" "$(port pause_rx) $(port resume_rx)" "1 1"

	# No resume comes: the hold time ends it.
	frames clear n
	frames wait n 5 3 flow=1
	frames pause n bits=$q hold=3000000000
	check "not paused" wait_for 2 port_is paused 1
	check "hold time did not end the pause" wait_for 6 port_is paused 0
	sleep 0.5
	frames seen n flow=1
	at_least "s of silence" "$(answered '[.[1:], .[:-1]] | transpose |
		map(.[0].t - .[1].t) | max')" 2.8
	equal "in order" "$(answered 'map(.flow_seq) | . == sort')" true
	equal "expired" "$(port expired)" 1
	kill "$bg"
	done_with
}

# Nothing to send, so nothing that would notice the end of the hold time.
test_hold_ends_on_an_idle_port() {
	start peer on
	frames pause n bits=2 hold=300000000
	sleep 0.05
	check "not paused" port_is paused 1
	sleep 0.35
	equal "queues paused" "$(port paused)" 0
	equal "of class 3" "$(tc -n sw -s class show dev p1 |
		awk '/class bfc [0-9a-f]*:3 /, /paused_time/ { print }' |
		grep -o 'paused off pauses 1 paused_time [^ ]*')" \
		"paused off pauses 1 paused_time 300ms"
	done_with
}

# A queue that stands still has eight times what is free of the buffer at most, 8/9 of it all,
# and leaves room for others.
test_cap_of_a_paused_queue() {
	local limit=$((512 * 1024)) held
	rate_n=20mbit
	start peer on assign dynamic limit ${limit}b queues 2
	without_ipv6 sw n r	# what it sends would be in the other queue
	frames keep n 0.2 bits=0,1 hold=4000000000
	sleep 0.3
	equal "memory before" "$(port memory)" 0
	send r 10.0.0.1 5000 -n 600 -s 1000
	finish "$bg"
	held=$(port memory)
	between "held by one queue" "$held" $((limit * 8 / 9 - 2304)) $((limit * 8 / 9 + 2304))
	at_least "dropped beyond it" "$(port drop_cap)" 1
	send r 10.0.0.1 5001 -F 9 -n 10 -s 1000
	finish "$bg"
	at_least "held of another flow" "$(port memory)" $((held + 10000))
	equal "dropped at the limit" "$(port drop_limit)" 0
	frames keep n 0
	done_with
}

# A queue that was paused when the mode changed had been so for 2^64 ns.
test_mode_change_ends_a_pause() {
	start peer on
	frames pause n bits=2 hold=2000000000
	sleep 0.1
	check "not paused" port_is paused 1
	tc -n sw qdisc change dev p1 root bfc fc pfc || fail "refused"
	sleep 0.1
	equal "queues paused" "$(port paused)" 0
	check "time of class 3: $(tc -n sw -s class show dev p1 | grep -o 'pauses 1 .*')" \
		grep -q 'pauses 1 paused_time [0-9.]*ms' \
		<<<"$(tc -n sw -s class show dev p1)"
	done_with
}

test_refused() {
	start
	agree
	frames set n seq=1000
	sleep 0.5
	frames pause n bits=1 hold=1000000 seq=3000
	frames pause n bits=2 seq=3000			# bad_seq
	frames pause n bits=2 seq=2999			# bad_seq
	frames hello n seq=7				# bad_seq
	frames pause n bits=2 epoch=1 seq=3001		# bad_epoch
	frames pause n bits=2 queues=33 seq=3001	# bad_range
	frames pause n bits=2 hold=4000000001 seq=3001	# bad_range
	frames hello n queues=0				# bad_range
	frames hello n queues=4095			# bad_range
	frames hello n role=2				# bad_range
	frames hello n nonce=0				# bad_range
	frames hello n classes=0			# bad_range
	frames hello n incast=32			# bad_range
	frames pause n bits=2 cut=70 seq=3001		# bad_short
	frames pause n bits=2 cut=20 seq=3001		# bad_short
	frames pause n bits=2 length=86 seq=3001	# bad_short
	frames pause n bits=2 length=91 seq=3001	# bad_short
	frames hello n cut=83				# bad_short
	frames pause n bits=2 version=2 seq=3001	# bad_version
	frames pause n bits=2 type=3 seq=3001		# bad_version
	frames hello n version=0			# bad_version
	frames loop n					# bad_loop
	frames pause n bits=3 hold=1000000 seq=3001
	sleep 0.5
	equal "refused" "$(tc -n sw -s -j qdisc show dev p1 root | jq -r '.[0] |
		"seq \(.bad_seq) epoch \(.bad_epoch) range \(.bad_range) " +
		"short \(.bad_short) version \(.bad_version) " +
		"loop \(.bad_loop) role \(.bad_role) rate \(.bad_rate) " +
		"obeyed \(.frames_rx)"')" \
		"seq 3 epoch 1 range 8 short 5 version 3 loop 1 role 0 rate 0 obeyed 2"
	at_most "queues paused" "$(port pause_rx)" 2
	state 1 up "after all that"
	done_with
}

# A stranger that does not hear the neighbour would have to guess its sequence, too: the
# epoch alone is guessed in minutes at 10 Gbit/s.
test_sequence_far_ahead() {
	local seq
	start
	frames wait n 5 1 kind=hello
	at_least "the port's first sequence" "$(answered '.[0].seq')" 10000
	frames set n seq=5000000
	agree
	for seq in 6200000 2000000000 4900000; do
		frames pause n bits=1 hold=4000000000 seq=$seq
	done
	sleep 0.3
	equal "paused by what is far ahead" "$(port paused)" 0
	equal "refused" "$(port bad_seq)" 3
	frames pause n bits=1 hold=4000000000 seq=5900000
	check "what is near enough" wait_for 2 port_is paused 1
	# Many pauses may get lost; HELLOs tell how far it is.
	frames talk n 0
	frames set n seq=9000000
	frames hello n
	frames pause n bits=1,2 hold=4000000000
	check "near a HELLO" wait_for 2 port_is paused 2
	done_with
}

# A second talker that guessed the nonce, but does not hear the time that goes with it
test_guessed_nonce() {
	local echo
	start
	agree
	frames wait n 3 1 kind=hello
	echo=$(answered '.[-1].nonce')
	frames open m n e0
	frames hello m echo="$echo" echo_sent=12345 held=0
	frames hello m echo="$echo" echo_sent=0 held=0 flags=2
	frames hello m echo="$echo" echo_sent=0 held=0 flags=1
	sleep 0.3
	equal "state" "$(port peer_state)" up
	at_least "refused" "$(port bad_epoch)" 3
	tagged "nevertheless"
	frames wait m 3 1 kind=hello
	frames hello m
	state 3 conflict "one that does hear"
	done_with
}

# A neighbour without bfc, and one that does not hear the port and speaks for it.
test_unproved_pause() {
	start
	frames hello n echo=0
	state 3 heard "after a HELLO without echo"
	frames pause n bits=0,1 hold=4000000000
	sleep 0.3
	equal "queues paused" "$(port paused)" 0
	equal "refused" "$(port bad_epoch)" 1
	plain "nevertheless"
	agree
	frames pause n bits=0,1 hold=4000000000
	check "not paused by one that has proved itself" wait_for 2 port_is paused 2
	done_with
}

test_nic_role() {
	start
	frames set n role=1
	agree
	equal "role" "$(port peer_role)" nic
	frames pause n bits=1 hold=4000000000
	sleep 0.3
	equal "paused by a NIC" "$(port paused)" 0
	equal "bad_role" "$(port bad_role)" 1
	bfc sw p1 accept-pause on
	frames pause n bits=1 hold=4000000000
	check "accept-pause on" wait_for 2 port_is paused 1
	equal "bad_role" "$(port bad_role)" 1
	done_with
}

# What a host was allowed to pause ends with that: its resumes are refused from then on.
test_pauses_end_with_accept_pause() {
	local mode
	for mode in "fc bfc" "fc fafc"; do
		start
		# shellcheck disable=SC2086
		bfc sw p1 $mode accept-pause on
		frames set n role=1 modes=3
		agree
		frames pause n bits=1 prio0=4000000000 hold=4000000000
		check "$mode: not paused" wait_for 2 holds_back
		bfc sw p1 accept-pause off
		check "$mode: paused by a host that may not" wait_for 1 holds_nothing_back
		done_with
		clean_up
	done
}
holds_back() { [ "$(port paused)" -gt 0 ]; }
holds_nothing_back() { ! holds_back; }

# A neighbour that starts over holds nothing paused, and need not say so; one that is a host by then
# may not even.
test_pauses_end_with_the_epoch() {
	start
	agree
	frames pause n bits=1 hold=4000000000
	check "not paused" wait_for 2 port_is paused 1
	frames talk n 0
	frames set n role=1 epoch=12 nonce=13
	frames hello n
	sleep 0.3
	equal "role" "$(port peer_role)" nic
	state 1 up "after a restart"
	equal "queues paused by the neighbour's last epoch" "$(port paused)" 0
	done_with
}

# With `peer on` a PAUSE may come before the first HELLO of its epoch.
test_pauses_before_the_hello() {
	start peer on
	frames set n epoch=12 nonce=13
	frames pause n bits=1 hold=4000000000
	check "not paused" wait_for 2 port_is paused 1
	frames hello n
	wait_for 2 port_is hello_rx 1 || fail "no HELLO"
	sleep 0.1
	equal "queues paused" "$(port paused)" 1
	done_with
}

# 2000 frames at once; the port takes 10 000 a second.
test_flood() {
	start
	agree
	tc -n n qdisc replace dev e0 root pfifo limit 5000
	ip -n n link set e0 type wire rate 10kbit
	frames pause n count=2000 bits=1
	ip -n n link set e0 type wire rate 10gbit ring 4000
	check "flood not noticed" wait_for 5 flooded
	say "refused $(port bad_rate)"
	sleep 1
	frames pause n bits=4,5 hold=3000000000
	check "pause after the flood" wait_for 3 port_is paused 2
	state 5 up "after the flood"
	done_with
}
flooded() { [ "$(port bad_rate)" -gt 0 ]; }

# 5000 HELLOs with new nonces: of strangers that do not hear us, and of one who does
test_hello_flood() {
	local before
	start
	agree
	tagged "agreed"
	tc -n n qdisc replace dev e0 root pfifo limit 20000
	before=$(port hello_tx)
	# in 0.84 s
	frames hello n id=4711 nonce=random echo=0 count=5000
	state 1 up "after HELLOs of a stranger"
	# They say to be n.
	frames hello n epoch=1 nonce=random echo=815 count=5000
	state 1 up "after HELLOs in n's name"
	frames hello n epoch=1 nonce=815 echo=815 flags=1
	sleep 1.5
	state 1 up "after a BYE in n's name"
	tagged "after that"
	say "answers $(($(port hello_tx) - before)) to 10000"
	at_most "answers" "$(($(port hello_tx) - before))" 600
	at_least "refused" "$(port bad_rate)" 9000
	at_least "not the neighbour's" "$(port bad_epoch)" 50
	before=$(port hello_tx)
	frames hello n nonce=random count=5000
	sleep 2
	say "$(($(port hello_tx) - before)) to 5000 that echo our nonce"
	at_most "answers" "$(($(port hello_tx) - before))" 400
	# The true one is there all the time.
	frames set n epoch=12 nonce=13
	state 10 up "in the end"
	done_with
}

test_fuzz() {
	local bad
	rate_n=50mbit
	start
	rate_n=4mbit
	agree
	background ip netns exec r udpflow send -d 10.0.0.1 -p 5000 -f 3 -t 60 \
		-r 1500000
	tc -n n qdisc replace dev e0 root pfifo limit 25000
	frames fuzz n 20000 $RANDOM
	sleep 1
	bad=$(tc -n sw -s -j qdisc show dev p1 root | jq -r '.[0] |
		.bad_short + .bad_version + .bad_epoch + .bad_seq + .bad_range')
	at_least "refused" "$bad" 2000
	say "refused $bad, obeyed $(port frames_rx)"
	kill "$bg"
	wait "$bg" 2>/dev/null
	# A neighbour that starts over
	frames set n epoch=4711 nonce=815 seq=0
	state 15 up "after the noise"
	frames pause n
	check "still paused" wait_for 5 port_is paused 0
	check "not drained" wait_for 15 port_is qlen 0
	tagged "after the noise"
	frames pause n bits=7 hold=3000000000
	check "pause after the noise" wait_for 3 port_is paused 1
	done_with
}

# ---- PAUSE, sent ----

# Three of n's queues meet a full queue at p2; a fourth sends one packet.
test_pause_sent() {
	local flow='from=10.0.0.1 to=10.0.0.2 size=1000' epoch hold before
	rate_n=20mbit rate_r=2mbit
	start refresh 50ms
	rate_n=4mbit rate_r=20mbit
	bfc sw p2 hrtt 4ms flows 1000000 queues 32
	agree
	hold=$(port hold)
	frames wait n 3 1 kind=hello
	epoch=$(answered '.[-1].epoch')
	before=$(port frames_tx)
	frames clear n
	# shellcheck disable=SC2086
	{
		frames udp n dst="$mac_r" $flow sport=5 tags=88a8:6 count=60
		frames udp n dst="$mac_r" $flow sport=9 tags=88a8:10 count=60
		frames udp n dst="$mac_r" $flow sport=20 tags=88a8:21 count=60
		frames udp n dst="$mac_r" $flow sport=12 tags=88a8:13
		frames udp n dst="$mac_r" $flow sport=13 count=10
	}
	sleep 0.2
	frames wait n 5 1000 kind=pause
	equal "queues ever paused" "$(answered 'map(.bits) | add | unique |
		tostring')" "[5,9,20]"
	equal "all three at once" "$(answered 'any(.bits == [5,9,20])')" true
	equal "nothing paused in the end" "$(answered '.[-1].npaused')" 0
	equal "what the frames say" "$(answered 'map([.dst, .ethertype, .ntags,
		.len, .length, .version, .queues, .flags, .hold, .limit,
		.prio0 + .prio1 + .prio2 + .prio3 + .prio4 + .prio5 + .prio6 +
		.prio7, .epoch]) | unique | tostring')" \
		"[[\"01:80:c2:00:00:0e\",\"88b5\",0,90,90,1,32,0,$hold,0,0,$epoch]]"
	equal "sequence goes up" "$(answered 'map(.seq) | . == (unique)')" true
	equal "drained goes up" "$(answered 'map(.drained) | . == sort and
		.[-1] > .[0]')" true
	# Refresh: the same set again after 50 ms, or late
	at_least "refreshes" "$(port refresh_tx)" 4
	at_least "s to a refresh, median" "$(answered '[.[1:], .[:-1]] |
		transpose | map(select(.[0].bits == .[1].bits) |
		.[0].t - .[1].t) | sort | .[length / 2 | floor]')" 0.045
	at_most "longest s without a frame while paused" "$(answered '
		[.[1:], .[:-1]] | transpose | map(select(.[1].npaused > 0) |
		.[0].t - .[1].t) | max')" 0.25
	equal "frames sent" $(($(port frames_tx) - before)) \
		"$(answered length)"
	equal "paused less resumed" $(($(port pause_tx) - $(port resume_tx))) 0
	equal "nothing counted" "$(port counters)" 0
	equal "repetitions of the last resume" "$(answered '. as $f |
		length - 1 - ([range(length) | select($f[.].npaused > 0)] |
		max) - 1')" 3
	done_with
}

# PAUSE frames take a tenth of the link at most, whatever `refresh` is.
test_refresh_leaves_the_link() {
	local flow='from=10.0.0.1 to=10.0.0.2 size=1000'
	rate_r=1mbit
	start refresh 10us
	rate_r=20mbit
	bfc sw p2 hrtt 4ms flows 1000000 queues 32
	agree
	frames open r r e0
	# shellcheck disable=SC2086
	{
		frames udp n dst="$mac_r" $flow sport=5 tags=88a8:6 count=60
		frames udp n dst="$mac_r" $flow sport=9 tags=88a8:10 count=60
	}
	sleep 0.2
	at_least "queues of n that are paused" "$(port upstream_paused)" 1
	frames clear n
	frames udp r dst="$mac_n" from=10.0.0.2 to=10.0.0.1 sport=300 size=100 count=50
	sleep 0.3
	frames seen n sport=300
	at_least "packets beside PAUSE frames, of 50" "$(answered length)" 45
	done_with
}

# `hold` must last until the next PAUSE has come, but one that was taken stays when the link gets
# slower.
test_hold_fits_the_link() {
	local said
	rate_n=10mbit
	start
	rate_n=4mbit
	said=$(tc -n sw qdisc change dev p1 root bfc hold 1ms 2>&1) && fail "hold 1ms is taken"
	[[ $said == *"bfc: hold: "* ]] || fail "said: $said"
	bfc sw p1 hold 4ms
	ip -n sw link set dev p1 type wire rate 1gbit
	bfc sw p1 hold 1ms
	bfc sw p1 hold 1ms refresh 500us
	bfc sw p1 hold auto refresh 10us
	bfc sw p1 hold 1ms
	ip -n sw link set dev p1 type wire rate 10mbit
	bfc sw p1 limit 8mb
	equal "ns in effect at 10 Mbit/s" "$(port hold)" 1000000
	agree
	# a host sends none
	bfc sw p1 role nic
	bfc sw p1 hold 2ms
	done_with
}

# Packets in a row in a queue hold one count, and the last of them gives it back: neither before,
# nor not at all.
test_counts_of_a_row() {
	local flow='from=10.0.0.1 to=10.0.0.2 size=1000'
	rate_n=20mbit rate_r=2mbit
	start
	rate_n=4mbit rate_r=20mbit
	# A packet of something else ends a row.
	without_ipv6 n r sw
	bfc sw p2 hrtt 4ms flows 1000000 queues 1
	agree
	# shellcheck disable=SC2086
	{
		frames udp n dst="$mac_r" $flow sport=5 tags=88a8:6 count=80
		frames udp n dst="$mac_r" $flow sport=9 tags=88a8:10 count=80
		frames udp n dst="$mac_r" $flow sport=5 tags=88a8:6 count=80
	}
	check "not 3 counts" wait_for 3 port_is counters 3
	equal "queues of n that are paused" "$(port upstream_paused)" 2
	# Both rows of the first: it is paused until the second has left.
	check "not 2 counts" wait_for 3 port_is counters 2
	equal "queues of n that are paused" "$(port upstream_paused)" 2
	check "not 1 count" wait_for 3 port_is counters 1
	check "not 1 queue" wait_for 3 port_is upstream_paused 1
	check "not 0 counts" wait_for 3 port_is counters 0
	check "not 0 queues" wait_for 3 port_is upstream_paused 0
	at_least "packets counted" "$(stat sw p2 counted)" 235
	done_with
}

# ---- tags ----

# crossing TEXT FROM TO PORT TAGS SEEN: a datagram with these tags
crossing() {
	local from=10.0.0.1 to=10.0.0.2 dst=$mac_r
	[ "$2" = n ] || from=10.0.0.2 to=10.0.0.1 dst=$mac_n
	frames udp "$2" dst="$dst" from=$from to=$to sport="$4" size=100 \
		tags="$5"
	frames wait "$3" 4 1 sport="$4"
	equal "$1" "$(answered "map(.tags | $6) | tostring")" "[$7]"
}
# The outermost tag of what n gets is upstreamQ's: its number is checked, not shown.
own_tag='if .[0][0] == "88a8" and .[0][1] > 0 and .[0][1] < 33
	then .[1:] else "not stamped" end'

test_tags_of_others() {
	start
	frames open r r e0
	agree
	crossing "none" n r 100 "" . '[]'
	crossing "own tag" n r 101 88a8:5 . '[]'
	crossing "beyond our queues" n r 102 88a8:33 . '[["88a8",33,0]]'
	crossing "provider's in the own tag" n r 103 88a8:5,88a8:100 . \
		'[["88a8",100,0]]'
	crossing "customer's in the own tag" n r 104 88a8:32,8100:0x6007 . \
		'[["8100",7,3]]'
	crossing "provider's in none" n r 105 88a8:0,88a8:9 . '[["88a8",9,0]]'
	crossing "customer's alone" n r 106 8100:7 . '[["8100",7,0]]'
	equal "tagged" "$(port tagged_rx)" 3
	equal "bad tags" "$(port bad_tag)" 1

	crossing "stamp" r n 200 "" "$own_tag" '[]'
	crossing "stamp over a provider's" r n 201 88a8:100 "$own_tag" \
		'[["88a8",100,0]]'
	crossing "stamp over a customer's" r n 202 8100:0x6007 "$own_tag" \
		'[["8100",7,3]]'
	crossing "stamp over both" r n 203 88a8:100,8100:7 "$own_tag" \
		'[["88a8",100,0],["8100",7,0]]'

	# The control band carries no number; ARP with a tag of its own
	local arp zeroes
	arp=$(tr -d : <<<"ffffffffffff$mac_r")
	zeroes=$(printf '%092d' 0)
	frames clear n
	frames raw r "${arp}88a800640806$zeroes"
	frames raw r "${arp}810000070806$zeroes"
	frames wait n 4 2 ethertype=0806
	equal "control band" "$(answered 'map(.tags) | tostring')" \
		'[[["88a8",0,0],["88a8",100,0]],[["8100",7,0]]]'
	done_with
}

test_vlan_bridge() {
	local p
	bridge='vlan_filtering 1'
	start
	bridge=
	for p in p1 p2; do
		bridge -n sw vlan add dev $p vid 7
	done
	frames open r r e0
	agree
	crossing "VLAN 7 in the own tag" n r 100 88a8:5,8100:7 . '[["8100",7,0]]'
	crossing "VLAN 1 in the own tag" n r 101 88a8:5 . '[]'
	frames udp n dst="$mac_r" from=10.0.0.1 to=10.0.0.2 sport=102 \
		tags=88a8:5,8100:8
	crossing "stamp over VLAN 7" r n 200 8100:7 "$own_tag" '[["8100",7,0]]'
	frames seen r sport=102
	equal "frames of a VLAN that is not there" "$(answered length)" 0
	equal "tagged" "$(port tagged_rx)" 3
	done_with
}

test_tpid_8100() {
	start tpid 8100
	frames open r r e0
	agree
	frames clear n
	crossing "own tag" n r 100 8100:5 . '[]'
	crossing "customer's in the own tag" n r 101 8100:5,8100:7 . '[["8100",7,0]]'
	crossing "another type" n r 102 88a8:5 . '[["88a8",5,0]]'
	crossing "stamp" r n 200 "" '.[0][0]' '"8100"'
	crossing "stamp over a customer's" r n 201 8100:7 '.[1:]' \
		'[["8100",7,0]]'
	done_with
}

# Counters that rise and fall before a frame is built need none: bursts pass through a port whose Th
# is less than a packet, and each empties its queues.
test_nothing_new() {
	local before run=/sys/module/test_bench/parameters/run
	modprobe test_bench || fail "no module test_bench: scripts/build-modules"
	ip link add burst0 type dummy
	ip link add burst1 type dummy
	ip link set burst0 up
	ip link set burst1 up
	check "bfc" tc qdisc add dev burst0 root bfc peer on limit 10m threshold 100b 2>/dev/null
	check "bfc" tc qdisc add dev burst1 root bfc peer on refresh 500ms 2>/dev/null
	sleep 3		# the first frame
	before=$(figure burst1 frames_tx)
	for _ in {1..20}; do
		echo "burst0 8 64 1 burst1" >$run || fail "no result"
	done
	at_least "counted" "$(figure burst0 counted)" $((20 * 64))
	at_most "frames" $(($(figure burst1 frames_tx) - before)) 2
	equal "pauses" "$(figure burst1 pause_tx)" 0
	ip link del burst0
	ip link del burst1
}

# The EtherType is for experiments.
test_not_ours() {
	local to zeroes
	start
	frames open r r e0
	agree
	to=$(tr -d : <<<"$mac_r$mac_n")
	zeroes=$(printf '%0120d' 0)
	frames raw n "${to}88b54246433200000000$zeroes"	# BFC2
	frames raw n "${to}88b542464331010200${zeroes}"	# not to the group
	frames raw n "${to}88b5${zeroes}"
	frames wait r 4 3 ethertype=88b5
	equal "frames that pass" "$(answered length)" 3
	equal "their tags" "$(answered 'map(.ntags) | add')" 0
	equal "refused" "$(tc -n sw -s -j qdisc show dev p1 root | jq '.[0] |
		.bad_short + .bad_version + .bad_seq + .bad_epoch + .frames_rx')" 0
	done_with
}

# A neighbour with several TX queues lowers its number of queues: its HELLO overtakes a packet that
# it has tagged before.
test_hello_overtakes_tags() {
	start
	frames open r r e0
	agree
	frames set n queues=8 epoch=77 nonce=78
	frames hello n
	check "8 queues" wait_for 3 port_is peer_queues 8
	crossing "tagged before the HELLO" n r 101 88a8:20 . '[]'
	equal "refused" "$(port bad_tag)" 0
	sleep 7
	crossing "long after" n r 102 88a8:20 . '[["88a8",20,0]]'
	done_with
}

# Without HELLOs, and after a neighbour with fewer queues has said BYE
test_peer_on_after_bye() {
	local flow='from=10.0.0.1 to=10.0.0.2 size=1000 tags=88a8:20 count=60' before
	rate_r=1mbit
	start peer on
	rate_r=20mbit
	bfc sw p2 hrtt 4ms flows 1000000 queues 32 peer off
	frames set n queues=8
	frames wait n 3 1 kind=hello
	frames hello n
	check "8 queues" wait_for 3 port_is peer_queues 8
	frames hello n flags=1
	check "32 queues again" wait_for 3 port_is peer_queues 32
	before=$(stat sw p2 counted)
	# shellcheck disable=SC2086
	frames udp n dst="$mac_r" $flow sport=6
	sleep 0.2
	at_least "counted" $(($(stat sw p2 counted) - before)) 20
	done_with
}

run_tests three_way_hello bye silence carrier_loss two_talkers peer_on own_pause_with_peer_on \
	peer_on_after_bye hello_overtakes_tags \
	peer_off pause_obeyed hold_ends_on_an_idle_port cap_of_a_paused_queue \
	mode_change_ends_a_pause refused sequence_far_ahead guessed_nonce unproved_pause nic_role \
	pauses_end_with_accept_pause pauses_end_with_the_epoch pauses_before_the_hello flood \
	hello_flood pause_sent refresh_leaves_the_link hold_fits_the_link counts_of_a_row nothing_new \
	tags_of_others vlan_bridge tpid_8100 not_ours fuzz
