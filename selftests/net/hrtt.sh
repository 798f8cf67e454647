#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# hrtt auto: the HRTT that ports measure, against the one that the cable has.
#
#   h1 --p1-\                  /-- r
#            sw1 --x-->--x-- sw2		all links 20 Mbit/s, ring 2
#   h2 --p2-/                  \-- h3
#
# sw2 pauses queues of sw1's end of x. Its loop: the PAUSE and the last packet need the
# cable's delay each; sw1 has two packets in its ring, and one on the way out or not.

# Functions are called by name.
# shellcheck disable=SC2317

# shellcheck source=selftests/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"

frame_us=418		# 1046 bytes at 20 Mbit/s: udpflow's
ring=2

# cables DELAY-OF-X-US
rate=20mbit
short_us=20
cables() {
	local default_link=(rate "$rate" delay "${short_us}us" ring "$ring")
	two_switches rate "$rate" delay "${1}us" ring "$ring"
}

# topology DELAY-OF-X-US [OPTIONS...]: for each port; with PFC there are no HELLOs
hellos=1
topology() {
	local delay=$1 port
	shift
	cables "$delay"
	for port in "sw1 p1" "sw1 p2" "sw1 x" "sw2 x" "sw2 p3" "sw2 r0"; do
		# shellcheck disable=SC2086
		bfc $port "$@"
	done
	for port in h1 h2 h3 r; do
		bfc "$port" e0 role nic queues 128 "$@"
	done
	[ -z "$hellos" ] || peers_up
	meet 10.0.0.100 h1 h2 h3
}

# All links 100 Gbit/s, 1 us: the loop of x, in ns.
test_data_center() {
	local rate=100gbit short_us=1
	exact_clock || return
	topology 1 hrtt auto
	sleep 1
	# 2 us, a HELLO each way, a full frame: 121 ns
	at_least "before" "$(stat sw2 x hrtt)" 2121
	at_most "before" "$(stat sw2 x hrtt)" 2160
	receive r 5000 -t 60 -i 3
	all_send 20000 h1 h2 h3
	say "measured $(stat sw2 x hrtt_measured) ns"
	at_least "samples" "$(stat sw2 x hrtt_samples)" 20
	# a PAUSE, and the neighbour's ring and packet on the way: 84 ns each
	at_least "measured" "$(stat sw2 x hrtt_measured)" 2000
	at_most "measured" "$(stat sw2 x hrtt_measured)" 2500
	sleep 0.5
	at_most "in use" "$(stat sw2 r0 hrtt)" 2600
	all_idle
}

# load SECONDS: r0 is full, and pauses reach sw1's end of x
load() { flood "$1" h1 h2 h3; }

us() { calc "$(stat "$1" "$2" "$3") / 1000"; }

# What a cable of a delay makes, us, with 10 % around it
least() { calc "(2 * $1 + ($ring - 1) * $frame_us) * 0.9"; }
most() { calc "(2 * $1 + ($ring + 1.5) * $frame_us + 50) * 1.1"; }

# close_to WHAT US DELAY-US
close_to() {
	say "$1: $2 us, the cable's delay $3 us"
	at_least "$1, delay $3 us" "$2" "$(least "$3")"
	at_most "$1, delay $3 us" "$2" "$(most "$3")"
}

# is_close NS DELAY-US
is_close() {
	awk -v us="$(calc "$1 / 1000")" -v least="$(least "$2")" -v most="$(most "$2")" \
		'BEGIN { exit !(us >= least && us <= most) }'
}
uses() { is_close "$(stat sw2 r0 hrtt)" "$1"; }

# What is measured does not depend on what is asked for.
test_measured() {
	local delay
	for delay in 20 1000 10000; do
		topology "$delay" hrtt 5ms
		load 3
		flood_ends
		close_to "measured" "$(us sw2 x hrtt_measured)" "$delay"
		at_least "samples" "$(stat sw2 x hrtt_samples)" 20
		equal "in use" "$(stat sw2 x hrtt)" 5000000
		all_idle
		clean_up
	done
}

# Frames in the neighbour's ring are sent although it is paused: each is part of the loop, and
# Th, headroom and the buffer in use follow.
test_rings() {
	local ring
	for ring in 2 8 32; do
		topology 20 hrtt auto hrtt-max 200ms
		load 6
		flood_ends
		close_to "ring $ring" "$(us sw2 x hrtt_measured)" 20
		say "backlog of r0 at most $(stat sw2 r0 backlog_peak)"
		equal "lost" "$(received r 5000 .lost)" 0
		all_idle
		clean_up
	done
}

# of_x COMMAND...: at both ends of x
of_x() { in_ns sw1 "$@" && in_ns sw2 "$@"; }

# Frames wait for an interrupt: a PAUSE for sw1's, if another was a short time ago, and the packets
# for sw2's.
test_moderated() {
	local wait took
	for wait in 0 1000 5000; do
		topology 20 hrtt auto hrtt-max 50ms
		check "ethtool" of_x ethtool -C x rx-usecs $wait
		load 4
		flood_ends
		took=$(us sw2 x hrtt_measured)
		say "rx-usecs $wait: $took us, backlog of r0 at most $(stat sw2 r0 backlog_peak)"
		between "loop with rx-usecs $wait" "$took" "$(calc "$(least 20) + $wait / 2")" \
			"$(calc "$(most 20) + 2 * $wait")"
		equal "lost" "$(received r 5000 .lost)" 0
		all_idle
		clean_up
	done
}

# bql on|off TX-USECS: of both ends of x
bql() {
	check "bql" of_x ip link set x down
	check "bql" of_x ethtool --set-priv-flags x bql "$1"
	check "tx-usecs" of_x ethtool -C x tx-usecs "$2"
	check "bql" of_x ip link set x up
	peers_up
	meet 10.0.0.100 h1 h2 h3
}

# BQL keeps a long ring to what the link sends between two interrupts, or some of these.
test_bql() {
	local ring=64 of took
	for of in "off 0" "on 0" "on 5000"; do
		topology 20 hrtt auto hrtt-max 200ms
		[ -e /sys/class/net/lo/queues/tx-0/byte_queue_limits/limit ] ||
			{ skip="this kernel has no BQL"; return; }
		# shellcheck disable=SC2086
		bql $of
		load 6
		flood_ends
		took=$(us sw2 x hrtt_measured)
		say "ring $ring, bql ${of% *}, tx-usecs ${of#* }: $took us," \
			"backlog of r0 at most $(stat sw2 r0 backlog_peak)"
		case $of in
		off*)	close_to "without BQL" "$took" 20 ;;
		*)	at_most "with BQL" "$took" "$((8 * frame_us + 4 * ${of#* }))" ;;
		esac
		equal "lost" "$(received r 5000 .lost)" 0
		all_idle
		clean_up
	done
}

# set_delay US: of both ends
set_delay() { ip -n sw1 link set x type wire delay "${1}us" &&
	ip -n sw2 link set x type wire delay "${1}us"; }

# A longer cable shows with the second pause, a shorter one when the longer is out of the window;
# then all ports are looked at.
test_follows() {
	local delay start
	# The cable is much too long for what is believed by default.
	topology 3000 hrtt auto hrtt-max 50ms
	load 12
	for delay in 3000 8000 2000; do
		check "delay" set_delay "$delay"
		start=$(date +%s%N)
		poll=0.02 wait_for 3 uses "$delay"
		at_most "ms until a delay of $delay us is in use" \
			$((($(date +%s%N) - start) / 1000000)) 1000
		close_to "in use" "$(us sw2 r0 hrtt)" "$delay"
	done
	equal "all ports of a box" "$(stat sw2 x hrtt)" "$(stat sw2 r0 hrtt)"
	equal "sticky" "$(stat sw2 r0 sticky)" $((2 * $(stat sw2 r0 hrtt)))
	flood_ends
	equal "lost" "$(received r 5000 .lost)" 0
	all_idle
}

# A tenth of the PAUSEs gets lost. The time until they are repeated is none of the loop's,
# but what comes within half of that is not told apart.
test_lost_pauses() {
	topology 1000 hrtt auto
	ip -n sw2 link set x type wire drop 88b5 10%
	load 4
	flood_ends
	at_least "frames dropped" "$(ip -n sw2 -s -d -j link show x |
		jq '.[].linkinfo.info_xstats.drops[0].dropped')" 5
	say "measured: $(us sw2 x hrtt_measured) us"
	at_least "measured" "$(us sw2 x hrtt_measured)" "$(least 1000)"
	at_most "measured" "$(us sw2 x hrtt_measured)" \
		"$(calc "$(most 1000) + $(us sw2 x refresh) / 2")"
	ip -n sw2 link set x type wire drop none
	all_idle
}

# Another cable, another neighbour: what was measured is not true any more.
test_forgotten() {
	topology 1000 hrtt auto
	load 2
	flood_ends
	at_least "samples" "$(stat sw2 x hrtt_samples)" 1
	ip -n sw1 link set x down
	check "carrier gone" wait_for 5 peer_not_up sw2 x
	ip -n sw1 link set x up
	peers_up
	equal "samples after a new cable" "$(stat sw2 x hrtt_samples)" 0
	equal "measured after a new cable" "$(stat sw2 x hrtt_measured)" 0
}

# neighbour ROLE [OPTIONS]: one with 100 Mbit/s that says HELLOs alone; r0 has 20 Mbit/s
neighbour() {
	local role=$1
	shift
	switch sw
	new_ns n
	host r 10.0.0.2/24
	cable sw p1 n e0 rate 100mbit delay 200us ring 2
	cable sw r0 r e0 rate 20mbit delay 200us ring 2
	bfc sw p1 hrtt auto "$@"
	bfc sw r0 hrtt auto "$@"
	bfc r e0 role nic hrtt auto
	frames open n n e0
	frames set n id=7 nonce=77 epoch=777 role="$role" queues=32
	frames talk n 0.1
	peers_up
	sleep 2
	before=$(stat sw r0 hrtt)
}

# disobeys ROLE [OPTIONS]: the same, and it obeys no pause
disobeys() {
	local i
	neighbour "$@"
	# A single one would not count.
	for ((i = 0; i < 4; i++)); do
		frames udp n dst="$(mac r e0)" from=10.0.0.9 to=10.0.0.2 sport=7 dport=7 \
			count=200 size=1000 tags=88a8:6
		sleep 0.2
	done
	at_least "pauses" "$(stat sw p1 pause_tx)" 4
	at_least "measured (ns)" "$(stat sw p1 hrtt_measured)" 10000000
}

hrtt_is() { [ "$(stat "$1" "$2" hrtt)" = "$3" ]; }

# The loop looks as long as 200 packets take.
test_not_believed() {
	local before
	disobeys 0 hrtt-max 7ms
	check "in use" wait_for 3 hrtt_is sw r0 7000000
	bfc sw p1 hrtt auto hrtt-max 4ms
	check "in use with another bound" wait_for 3 hrtt_is sw r0 4000000
	frames close
	clean_up
	disobeys 1
	at_most "in use with a host" "$(stat sw r0 hrtt)" $((before * 17 / 16))
	# It goes: then it is no host any more, but what it did is forgotten.
	frames talk n 0
	frames hello n flags=1
	check "gone" wait_for 5 peer_not_up sw p1
	equal "measured" "$(stat sw p1 hrtt_measured)" 0
	sleep 1
	at_most "in use after a host" "$(stat sw r0 hrtt)" $((before * 17 / 16))
	frames close
}

# A host may say that it answers at once, and answer late. It is believed 100 us and 16 frames, of
# 1514 bytes, as a long cable, but for hrtt-max.
test_late_host_is_not_believed() {
	local before
	neighbour 1
	frames set n held=0
	frames talk n 0.25
	sleep 5
	at_most "in use" "$(stat sw r0 hrtt)" $((100000 + 16 * 121120))
	bfc sw p1 hrtt auto hrtt-max 7ms
	check "in use, with hrtt-max" wait_for 3 hrtt_is sw r0 7000000
	frames close
}

shorter_than() { [ "$(stat sw2 r0 hrtt)" -lt "$1" ]; }

# A port that was given a time counts with it; none is known without it.
test_given() {
	cables 20
	bfc sw2 r0 fc pfc hrtt auto
	equal "nothing is known" "$(stat sw2 r0 hrtt)" 100000
	bfc sw2 x hrtt 7ms
	check "given" wait_for 3 hrtt_is sw2 r0 7000000
	bfc sw2 x hrtt 5ms
	check "another" wait_for 3 hrtt_is sw2 r0 5000000
	bfc sw1 x hrtt auto
	bfc sw2 x hrtt auto
	check "measured" wait_for 3 shorter_than 2100000
	equal "by all" "$(stat sw2 r0 hrtt)" "$(stat sw2 x hrtt)"
}

# What does not fit another HRTT stays as it is, and can be changed otherwise.
test_does_not_fit() {
	cables 20
	bfc sw2 x hrtt 1ms
	bfc sw2 r0 fc pfc hrtt auto buffer b size 200kb
	check "1 ms" wait_for 3 hrtt_is sw2 r0 1000000
	# headroom for eight priorities is more than the buffer
	bfc sw2 x hrtt 900ms
	sleep 1
	equal "in use" "$(stat sw2 r0 hrtt)" 1000000
	check "another option" tc -n sw2 qdisc change dev r0 root bfc fc pfc ecn 20kb
	bfc sw2 x hrtt 2ms
	check "2 ms" wait_for 3 hrtt_is sw2 r0 2000000
}

# pfc_topology DELAY-OF-X-US [OPTIONS...]: neighbours say no HELLO
pfc_rate=200mbit
pfc_short_us=2
pfc_topology() {
	local rate=$pfc_rate short_us=$pfc_short_us hellos=
	topology "$1" fc pfc limit 16mb "${@:2}"
}

# pfc_load PACKETS [OPTION]: three senders to r at once; every packet has to arrive, or with
# loses some have not to
pfc_load() {
	local got
	receive r 5000 -n $((3 * $1)) -t 60 -i 1
	all_send "$1" h1 h2 h3
	got=$(received r 5000 .packets)
	if [ "${2-}" = loses ]; then
		at_most "packets received" "$got" $((3 * $1 - 1))
	else
		equal "packets received" "$got" $((3 * $1))
	fi
}

# No frame is lost on 1, 10 and 100 km: not before the loop is known, and not with what
# follows from it.
test_pfc_distance() {
	local us loop before
	exact_clock || return
	for us in 5 50 500; do
		pfc_topology $us hrtt auto
		equal "measured before" "$(stat sw2 x hrtt_measured)" 0
		# 2 ms and 16 frames of 1514 bytes, and three more
		before=$(stat sw2 x headroom)
		at_least "headroom before" "$before" 74224
		pfc_load 1000
		loop=$(stat sw2 x hrtt_measured)
		say "$us us: measured $loop ns, p1 $(stat sw1 p1 hrtt_measured) ns"
		# the ring has two frames of 1046 bytes, and one may be on its way out
		at_least "measured" "$loop" $((2 * us * 1000))
		# A gap that sw1's own pauses make may be taken for the end of a short one.
		at_most "measured" "$loop" $((2 * us * 1000 + 10 * 42000))
		sleep 1.5
		# 25 bytes a us; three full frames and the PFC frame, and a sixteenth. It is
		# for the longest of late, which such a gap may make longer yet.
		at_least "headroom" "$(stat sw2 x headroom)" $((loop * 17 / 640 + 4600))
		at_most "headroom" "$(stat sw2 x headroom)" "$before"
		pfc_load 1000
		at_least "queued beyond XOFF" "$(stat sw2 x prios[0].peak)" \
			"$(stat sw2 x xoff)"
		equal "dropped" "$(sum_stat drops)" 0
		all_idle
		clean_up
	done
	# Not for nothing: with room for 100 us there are losses.
	pfc_topology 500 hrtt 100us
	pfc_load 1000 loses
	at_least "dropped" "$(stat sw2 r0 drops)" 1
	all_idle
}

headroom_of_x_is() { [ "$(stat sw2 x headroom)" = "$1" ]; }

# Another neighbour may have a longer cable: there is room for the longest again.
test_pfc_replugged() {
	local before
	exact_clock || return
	pfc_topology 5 hrtt auto
	before=$(stat sw2 x headroom)
	pfc_load 1000
	sleep 1.5
	at_most "headroom" "$(stat sw2 x headroom)" $((before - 1))
	# Down and up at once, as one event or two
	ip -n sw1 link set x down
	ip -n sw1 link set x up
	check "headroom as before" wait_for 3 headroom_of_x_is "$before"
	equal "measured" "$(stat sw2 x hrtt_measured)" 0
	all_idle
}

# room NAMESPACE DEVICE: for what comes after XOFF, bytes
room() { echo $(($(stat "$1" "$2" headroom) + $(stat "$1" "$2" beyond))); }

# In a shared buffer headroom for 100 us and 16 frames at most is set aside. What a longer cable
# brings is queued all the same while the buffer has room for it.
test_pfc_in_a_buffer() {
	local options=(fc pfc limit 16mb lossless 0 buffer b) pfc_rate=2gbit pfc_short_us
	local us dynamic port loop before
	exact_clock || return
	while read -r us pfc_short_us dynamic; do
		pfc_topology "$us" hrtt auto
		for port in x p3; do
			# shellcheck disable=SC2086  # none, or an option and its value
			bfc sw2 $port "${options[@]}" size 2mb $dynamic
		done
		# 2 ms and 16 frames of 1514 bytes, without 100 us and these
		at_least "beyond before" "$(stat sw2 x beyond)" 475000
		before=$(room sw2 x)
		pfc_load 2000
		sleep 1.5
		loop=$(stat sw2 x hrtt_measured)
		say "$us us $dynamic: measured $loop ns, pool $(stat sw2 x buffer_peak)"
		at_least "measured" "$loop" $((2 * us * 1000))
		at_most "headroom" "$(stat sw2 x headroom)" 55000
		# a sixteenth more, of a loop that may be as much shorter: bfc_hrtt_differs()
		at_least "room" "$(room sw2 x)" $((loop / 4 + 4600))
		# the longest of late, as in pfc_distance
		at_most "room" "$(room sw2 x)" $((before - 1))
		[ "$us" = 500 ] || equal "beyond" "$(stat sw2 x beyond)" 0
		# of which all ports bear 100 us and 16 frames
		at_most "HRTT of the box" "$(stat sw2 r0 hrtt)" 197000
		pfc_load 2000
		equal "dropped" "$(sum_stat drops)" 0
		all_idle
		clean_up
	done <<-END
		5 2
		50 2
		500 2
		500 500
		500 500 dynamic 2%
	END
	# Not for nothing: headroom alone does not do.
	pfc_short_us=2
	pfc_topology 500 hrtt auto
	bfc sw2 x "${options[@]}" size 2mb headroom 54kb
	equal "beyond" "$(stat sw2 x beyond)" 0
	pfc_load 2000 loses
	at_least "dropped" "$(stat sw2 r0 drop_buffer)" 1
	# What a small buffer has no room for is lost, and counted.
	clean_up
	pfc_topology 500 hrtt auto
	bfc sw2 x "${options[@]}" size 100kb
	pfc_load 2000 loses
	at_least "dropped" "$(stat sw2 r0 drop_buffer)" 1
	# Set aside on request
	bfc sw2 x "${options[@]}" size 2mb hrtt-max 5ms
	sleep 1.5
	loop=$(stat sw2 x hrtt_measured)
	at_least "headroom" "$(stat sw2 x headroom)" $((loop / 4 + 4600))
	equal "beyond" "$(stat sw2 x beyond)" 0
	receive r 5000 -n 6000 -t 60 -i 1
	all_send 2000 h1 h2 h3
	equal "received" "$(received r 5000 .packets)" 6000
	all_idle
}

# 100 km to a slower port: XON has to come before the queue there is empty. In a shared buffer XOFF
# is for 100 us and 16 frames, unless more is asked for.
test_pfc_keeps_a_long_link_busy() {
	local pfc_rate=2gbit least most option port begin end mbit
	exact_clock || return
	while read -r least most option; do
		pfc_topology 500 hrtt auto
		ip -n sw2 link set dev r0 type wire rate 1gbit
		for port in x p3; do
			# shellcheck disable=SC2086  # none, or an option and its value
			bfc sw2 $port fc pfc limit 16mb lossless 0 buffer b size 4mb $option
		done
		pfc_load 1500
		sleep 1.5
		receive r 5000 -t 60 -i 1
		send h1 10.0.0.100 5000 -F 1 -t 0.1
		send h2 10.0.0.100 5000 -F 2 -t 0.1
		sleep 0.03
		begin=$(sent_by_r0)
		sleep 0.05
		end=$(sent_by_r0)
		mbit=$(((${end% *} - ${begin% *}) * 8000 / (${end#* } - ${begin#* })))
		say "${option:-as it is}: XOFF $(stat sw2 x xoff), $mbit Mbit/s"
		at_least "Mbit/s, $option" "$mbit" "$least"
		at_most "Mbit/s, $option" "$mbit" "$most"
		equal "dropped" "$(sum_stat drops)" 0
		sleep 1.5
		all_idle
		clean_up
	done <<-END
		700 950
		990 1000 hrtt-max 5ms
		990 1000 dynamic 25%
	END
}
# sent_by_r0: bytes, and when, ns
sent_by_r0() {
	in_ns sw2 cat /sys/class/net/r0/statistics/tx_bytes | tr '\n' ' '
	date +%s%N
}

# Pauses for a time, which end without a frame: the loop is the same.
test_fafc() {
	local rate=200mbit short_us=2 loop
	exact_clock || return
	topology 50 fc fafc hrtt auto limit 16mb
	pfc_load 1000
	loop=$(stat sw2 x hrtt_measured)
	say "measured $loop ns of $(stat sw2 x hrtt_samples) pauses"
	at_least "samples" "$(stat sw2 x hrtt_samples)" 4
	at_least "measured" "$loop" 100000
	at_most "measured" "$loop" $((100000 + 4 * 42000))
	all_idle
}

# A HELLO that proves nothing makes no host of a neighbour that sends PFC: what its loop has been
# measured to be holds for the box.
test_stranger_is_no_host() {
	local rate=200mbit short_us=2 hellos="" before
	exact_clock || return
	topology 500 fc fafc hrtt auto limit 16mb
	bfc sw1 x fc pfc hrtt auto limit 16mb
	pfc_load 1000
	sleep 1.5
	before=$(stat sw2 r0 hrtt)
	at_least "in use" "$before" 1000000
	frames open n sw1 x
	frames hello n id=7 role=1 echo=0 modes=2
	sleep 2
	equal "state" "$(stat sw2 x peer_state)" heard
	at_least "in use beside a stranger" "$(stat sw2 r0 hrtt)" "$before"
	frames close
}

room_is() { [ "$(room sw p1)" = "$1" ]; }

# obeys_nothing OPTIONS BURSTS PACKETS [HRTT BYTES]: BYTES with what the box knows of others
obeys_nothing() {
	local before after i
	switch sw
	new_ns n
	host r 10.0.0.2/24
	cable sw p1 n e0 rate 100mbit delay 200us ring 2
	cable sw r0 r e0 rate 20mbit delay 200us ring 2
	# shellcheck disable=SC2086  # none, or an option and its value
	bfc sw p1 fc pfc hrtt auto $1
	bfc sw r0 fc pfc hrtt "${4-auto}"
	frames open n n e0
	sleep 0.5
	before=$(room sw p1)
	for ((i = 0; i < $2; i++)); do
		frames udp n dst="$(mac r e0)" from=10.0.0.9 to=10.0.0.2 sport=7 dport=7 \
			count="$3" size=1000
		sleep 0.3
	done
	at_least "pauses" "$(stat sw p1 pause_tx)" "$2"
	equal "measured" "$(stat sw p1 hrtt_measured)" 0
	sleep 1.5
	after=$(room sw p1)
	say "room before $before, after $after"
	# 2 ms and 16 frames; 100 us; and three frames
	at_least "room before" "$before" 49000
	at_most "room after" "$after" "${5-6000}"
	equal "beyond" "$(stat sw p1 beyond)" 0
	# Another neighbour may obey.
	ip -n n link set e0 down
	sleep 0.5
	ip -n n link set e0 up
	check "as before" wait_for 5 room_is "$before"
	frames close
	clean_up
}

# A neighbour that obeys no pause gets no room for a loop, whatever it looks like.
test_pfc_obeys_nothing() {
	obeys_nothing "" 6 200
	obeys_nothing "buffer b size 2mb" 6 200
	# one pause, which never ends
	obeys_nothing "buffer b size 2mb" 1 900
	# 100 us and 16 frames
	obeys_nothing "buffer b size 2mb" 1 900 5ms 31000
}

longer_than() { [ "$(stat sw2 r0 hrtt)" -gt "$1" ]; }

# XOFF of a port with PFC that has not paused its neighbour yet is for the box' loop.
test_port_level() {
	cables 10
	bfc sw1 x hrtt auto
	bfc sw2 x hrtt auto
	bfc sw2 r0 fc pfc hrtt auto
	check "neighbour" wait_for 5 peer_up sw2 x
	sleep 2
	# HELLOs, and a full frame of 1514 bytes: 606 us
	at_least "without a pause" "$(stat sw2 x hrtt)" 626000
	at_most "without a pause" "$(stat sw2 x hrtt)" 760000
	equal "of all ports" "$(stat sw2 r0 hrtt)" "$(stat sw2 x hrtt)"
	at_most "XOFF" "$(stat sw2 r0 xoff)" 6500
	check "delay" set_delay 3000
	check "longer cable" wait_for 3 longer_than 6600000
	# 5/4 of 6.6 ms of 20 Mbit/s
	at_least "XOFF" "$(stat sw2 r0 xoff)" 20625
}

run_tests data_center measured follows lost_pauses forgotten not_believed \
	late_host_is_not_believed given does_not_fit port_level pfc_replugged pfc_in_a_buffer \
	fafc stranger_is_no_host pfc_obeys_nothing -- pfc_distance pfc_keeps_a_long_link_busy \
	rings moderated bql
