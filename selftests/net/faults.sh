#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# What breaks, and how long that lasts: for each fault, with pauses of queues and with plain
# PFC, the longest stall of a flow that crosses the faulty link, the longest time in which
# nothing of any arrives, packets lost, and the time until that link carries as much as before
# and its ends agree again. "make faults" prints the rows as the table of docs/reliability.md,
# which says where each bound comes from.
#
#   FAULTS=all: with each mode, and more faults; FAULTS_FLAPS: how many of these, 300
#
#   h1 --p1-\
#            sw1 --x-->--x-- sw2 --r0-- r
#   h2 --p2-/
#
# Links of 50 Mbit/s, that of r 25 Mbit/s, 50 us, with rings of two frames, so that HRTT is
# within 1 ms. h1 and h2 send all they can to r, so that sw2 pauses sw1, and that them, all the
# time. The faulty link is x.

# jq has variables of its own.
# shellcheck disable=SC2016
# shellcheck source=selftests/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"

default_link=(rate 50mbit delay 50us ring 2)	# pauses do not stop what is in a ring
window=0.02		# seconds in which packets are counted
least=30		# packets at r in it, without a fault
flows=2			# of each host
sizes=(1400 1400)	# of the packets of h1, h2: no larger ones
load=()
flaps=${FAULTS_FLAPS:-300}
protocol=		# of control frames
fair=yes		# has a flow its share whatever others do?
declare -A options=(
	[bfc]="fc bfc hrtt 1ms"
	[pfc]="fc pfc hrtt 1ms"
	[pfifo]=''		# what the kernel does without flow control
)
modes="bfc"
[ "${FAULTS-}" != all ] || modes="bfc pfc"

# What bounds a stall or a recovery, in ms; where it is documented
#
# A queue holds what two HRTT of x bring at most, and has a quarter of r's link, which is half as
# fast: h1 and h2 have two flows each (tc-bfc(8), threshold).
calm=16
hold=50			# tc-bfc(8), hold: the least that auto is
watchdog=1342		# tc-bfc(8), watchdog: what the link takes for 8 MB
fast=100		# docs/wire-format.md: HELLOs, while a side is not up
slow=1000		# likewise, after 2 s of these
carrier=1000		# the kernel tells of a carrier once a second (net/core/link_watch.c)
look=40			# two windows: recoveries are no nearer, for its counters

# at_line_rate MS LINKS: packets that links carry in that time, if all are small ones
at_line_rate() { calc "$1 * $2 * 50000 / 8 / (${sizes[1]} + 42)" | sed 's/\..*//'; }

topology() {
	local port role
	# shellcheck disable=SC2119
	two_switches
	ip -n sw2 link set dev r0 type wire rate 25mbit
	ip -n r link set dev e0 type wire rate 25mbit
	[ -z "${boxed-}" ] || put_box_in
	for port in "${ports_of_two_switches[@]}"; do
		[[ $port == sw* ]] && role=switch || role=nic
		# shellcheck disable=SC2086
		if [ "$1" = pfifo ]; then
			tc -n "${port% *}" qdisc replace dev "${port#* }" root pfifo limit 100
		else
			bfc $port role "$role" ${options[$1]}
		fi
	done
	protocol=8808
	[ "$1" != bfc ] || { peers_up; protocol=88b5; }
	meet 10.0.0.100 h1 h2
	# Its /sys is that of r.
	background ip netns exec r "$(type -P sleep)" 100000
	counter=/proc/$bg/root/sys/class/net/e0/statistics/rx_packets
	check "no /sys of r" wait_for 5 test -e "$counter"
}

# put_box_in: x is two cables, with a box between them that adds nothing to what it passes on.
# Two more have both ends in it: for what is to come later than the rest.
#
#   sw1 --x-->--x1-- box --x2-->--x-- sw2
put_box_in() {
	local near far
	ip -n sw1 link del x
	host box
	cable sw1 x box x1
	cable box x2 sw2 x
	cable box soon box soon2 rate 50mbit delay 12ms
	cable box late box late2 rate 50mbit delay 24ms
	for near in x1 x2 soon2 late2; do
		[ "$near" = x1 ] && far=x2 || far=x1
		tc -n box qdisc add dev "$near" clsact
		passes "$near" 2 all "$far"
	done
	ip -n box link set dev x1 type wire rate 100gbit delay 0
	ip -n box link set dev x2 type wire rate 100gbit delay 0
}

# passes FROM PREFERENCE PROTOCOL TO...: the box does, to each of these
passes() {
	local from=$1 pref=$2 what=$3 to how=mirror actions=()
	shift 3
	for to; do
		[ "$to" != "${*: -1}" ] || how=redirect
		actions+=(action mirred egress "$how" dev "$to")
	done
	tc -n box filter add dev "$from" ingress pref "$pref" protocol "$what" matchall \
		"${actions[@]}"
}

begin_load() {
	local i
	receive r 5000 -t 100000 -i 100000
	receiver=$bg
	began=$EPOCHREALTIME
	senders=()
	for i in 1 2; do
		send "h$i" 10.0.0.100 5000 -F "${i}0" -f "$flows" -t 100000 -s "${sizes[i - 1]}" \
			"${load[@]}"
		senders+=("$bg")
	done
}

arrived() { read -r packets <"$counter"; }

# carries PACKETS: x does so in a window
carries() {
	local before
	arrived
	before=$packets
	sleep "$window"
	arrived
	[ $((packets - before)) -ge "$1" ]
}

# since SECONDS: ms, less those of two windows
since() {
	local ms
	ms=$(calc "($EPOCHREALTIME - $1) * 1000 - $look")
	[[ $ms == -* ]] && echo 0 || echo "${ms%.*}"
}

# recovers: ms until x carries $usual again, in two windows one after the other
recovers() {
	local start=$EPOCHREALTIME i
	for i in {1..400}; do
		! carries "$usual" || ! carries "$usual" || break
	done
	[ "$i" -lt 400 ] || fail "x never carries as much as before"
	recovery=$(since "$start")
	agreed=-
	[ -n "$agrees" ] || return 0
	poll=0.02 wait_for 10 both_up || fail "no agreement: $(stat sw1 x peer_state) $(stat sw2 x peer_state)"
	agreed=$(since "$start")
}
both_up() { peer_up sw1 x && peer_up sw2 x; }

# fault NAME MODE SECONDS BEGIN END STALL LOST RECOVERY [AGREED]: commands, what they break
# lasts for so long; bounds, or -. Of an agreement only if that is to come again. STALL is of
# each flow; where nothing is $fair to flows, of all together. LOST may be "rest": all but what
# r's link carries, less the fifth that recovers() allows, before and after the fault
fault() {
	local name=$1 mode=$2 seconds=$3 begin=$4 end=$5 before sent began took each out
	local most=("${@:6}") agrees=${9-}
	[ -n "$fair" ] && [ "$mode" != pfifo ] && each=${most[0]} || each=-
	topology "$mode"
	begin_load
	sleep 0.3
	arrived
	before=$packets
	sleep 0.3
	arrived
	usual=$(calc "($packets - $before) / 0.3 * $window * 0.8")
	usual=${usual%.*}
	at_least "$mode: packets in a window" "$usual" "$least"
	$begin
	sleep "$seconds"
	$end
	recovers
	# What comes then is to be more than what the outage took.
	[ "${most[1]}" != rest ] || sleep 2
	sleep 0.2
	kill "${senders[@]}"
	took=$(calc "($EPOCHREALTIME - $began) * 1000")
	finish "${senders[@]}"
	sleep 0.5
	kill "$receiver"
	finish "$receiver"
	sent=$(jq -s 'map(.sent) | add' "$scratch"/h?.sent.5000.json)
	lost=$((sent - $(received r 5000 .packets)))
	# A flow that does not come back stands still to the end of the load.
	stall=$(stall_of ".flows[]")
	silence=$(stall_of .)
	if [ "${most[1]}" = rest ]; then
		out=$((seconds * 1000 + recovery + look))
		[ "$silence" -le "$out" ] || out=$silence
		most[1]=$((sent - $(at_line_rate $((${took%.*} - out)) 0.4)))
	fi
	equal "$mode: flows that arrive" "$(received r 5000 '.flows | length')" $((2 * flows))
	row "$stall" "$lost" "$recovery" "$agreed"
	[ "$each" = - ] || at_most "$name, $mode: longest stall (ms)" "$stall" "$each"
	[ "${most[0]}" = - ] || at_most "$name, $mode: nothing arrives (ms)" "$silence" "${most[0]}"
	[ "${most[1]}" = - ] || at_most "$name, $mode: packets lost" "$lost" "${most[1]}"
	at_most "$name, $mode: recovery (ms)" "$recovery" "${most[2]}"
	[ -z "$agrees" ] || at_most "$name, $mode: agreement (ms)" "$agreed" "$agrees"
	all_idle
	clean_up
}

# stall_of JQ: of these, to the end of the load
stall_of() { received r 5000 "[$1 | .max_gap_ms, $took - .seconds * 1000] | max | ceil"; }

row() {
	echo "# | $name | \`$mode\` | $1 ($each) | $silence (${most[0]}) |" \
		"$2 of $sent (${most[1]}) |" \
		"$(received r 5000 .reordered) | $3 (${most[2]}) | $4 (${agrees:--}) |"
	say "$mode: stall $1 ms, lost $2, recovery $3 ms${agrees:+, agreement $4 ms}"
}

in_each_mode() {
	local mode
	for mode in $modes; do
		"$@"
	done
}

# plus MS...: their sum
plus() { (IFS=+; calc "$*") | sed 's/\..*//'; }

# rules WIRE-OPTIONS...: both directions of x
rules() {
	ip -n sw1 link set dev x type wire "$@"
	ip -n sw2 link set dev x type wire "$@"
}
heal() { rules drop none; }
nothing() { :; }

none() { fault "none" "$mode" 1 nothing nothing $calm 0 $look; }
test_none() {
	in_each_mode none
	[ "$modes" = bfc ] || fault "none" pfifo 1 nothing nothing - - $look
}

# A flow waits for the frame that resumes it. The last one is repeated three times: where all
# get lost, the pause ends with its hold. The headroom of PFC is for an HRTT, in which XOFF is
# repeated four times: it is exceeded where all of these get lost.
lose() { rules seed 1 drop "$protocol" "$share%"; }
lossy() {
	local share=$1 lost=0
	[ "$mode" = bfc ] || lost=$(calc "$(at_line_rate 3000 1) * ($share / 100)^4")
	fault "$share % of control frames lost, 3 s" "$mode" 3 lose heal \
		"$(plus $calm $hold)" "${lost%.*}" $look
}
test_control_frames_lost() {
	[ "$modes" = bfc ] || in_each_mode lossy 30
	in_each_mode lossy 50
}

# The control frames that sw2 sends to sw1 come later than data: all by 24 ms, or by 12 and by
# 24 in turn, so that these are overtaken. HRTT is 25 ms then.
late() { passes x2 1 "0x$protocol" late; }
in_turn() {
	ip -n box link set dev soon type wire drop "$protocol" pattern 10
	ip -n box link set dev late type wire drop "$protocol" pattern 01
	passes x2 1 "0x$protocol" soon late
}
in_time() {
	local cable
	tc -n box filter del dev x2 ingress pref 1
	for cable in $late_by; do
		at_least "$mode: late frames by $cable" "$(rx_packets box "${cable}2")" 20
	done
	[ "$mode" = bfc ] || return
	if [ "$late_by" = late ]; then
		equal "overtaken" "$(stat sw1 x bad_seq)" 0
	else
		at_least "overtaken" "$(stat sw1 x bad_seq)" 20
	fi
}
rx_packets() { ip -n "$1" -s -j link show dev "$2" | jq '.[0].stats64.rx.packets'; }

# Queues are longer in proportion. The headroom of PFC is for 1 ms: what x brings in the 24 ms
# between an XOFF and its arrival is too much, and half of that is lost at most. As long it
# brings nothing after an XON. What finds no room in a FIFO may be of one flow each time: see
# one_way().
delayed() {
	local late_by=$1 boxed=yes fair=yes lost=0 stall=$((loop * calm))
	if [ "$mode" = pfc ]; then
		fair='' stall=$((loop + calm)) lost=$(at_line_rate 3000 0.25)
	fi
	fault "control frames $2, 3 s" "$mode" 3 "$3" in_time "$stall" "$lost" \
		$((look + loop + calm))
}
told_so() {
	local loop=25 boxed=yes late_by=late
	local -A options=([pfc]="fc pfc hrtt ${loop}ms")
	fault "control frames 24 ms late, 3 s, with \`hrtt ${loop}ms\`" pfc 3 late in_time \
		$((loop * calm)) 0 $((look + loop + calm))
}
test_control_frames_late() {
	local loop=25
	in_each_mode delayed late "24 ms late" late
	[ "$modes" = bfc ] || told_so
	in_each_mode delayed "soon late" "12 and 24 ms late in turn, which reorders them" in_turn
}

# Its bfc dies with all queues of sw1 paused, and says no good-bye: it is another switch
# then, without flow control: what the link of r cannot take, half of what x brings, may be
# lost until the load ends, a second later at most.
dies() {
	check "nothing was paused" wait_for 5 pausing
	rules drop "$protocol" 100%
	tc -n sw2 qdisc replace dev x root pfifo limit 1000
}
pausing() {
	if [ "$mode" = bfc ]; then
		[ "$(stat sw1 x paused)" -gt 0 ]
	else
		[ "$(stat sw1 x 'prios[0].paused')" = true ]
	fi
}
dying() {
	fault "bfc at the peer dies while it pauses" "$mode" 0 dies nothing \
		"$(plus $calm $hold)" "$(at_line_rate 1000 0.5)" "$(plus $look $hold)"
}
test_peer_dies_while_pausing() { in_each_mode dying; }

# The link is down for a second, and its end another one when it is up again. Meanwhile the
# bridge forwards nothing to it: what h1 and h2 send is lost.
unplug() { ip -n sw2 link set x down; }
other_layout() {
	# shellcheck disable=SC2086
	tc -n sw2 qdisc replace dev x root handle 77: bfc $layout
	ip -n sw2 link set x up
}
rebooting() {
	local layout=$1 out
	out=$(plus 1000 $carrier $calm)
	fault "the peer reboots, 1 s, with $2" "$mode" 1 unplug other_layout \
		"$out" rest "$(plus $look $carrier $calm)" \
		${3:+"$(plus $look $carrier $fast $calm)"}
}
test_peer_reboots() {
	local mode=bfc
	rebooting "${options[bfc]} queues 8" "8 queues" yes
	[ "$modes" != bfc ] || return
	rebooting "${options[bfc]} queues 256" "256 queues" yes
	rebooting "${options[pfc]}" "\`fc pfc\`"
	mode=pfc
	rebooting "${options[pfc]} xoff 4000b xon 2000b" "another XOFF"
	rebooting "${options[bfc]}" "\`fc bfc\`"
}

# A host behind sw1 holds it paused for ever, and h2 sends to that, too: what crosses x
# has nothing to do with it.
pauser() {
	host n 10.0.0.9/24
	cable sw1 pn n e0
	# shellcheck disable=SC2086
	bfc sw1 pn ${options[$mode]}
	meet 10.0.0.9 h2
	frames open n n e0
	if [ "$mode" = bfc ]; then
		frames talk n 0.3
		wait_for 10 peer_up sw1 pn || fail "no agreement with n"
		frames keep n 0.1 bits="$(seq -s, 0 31)" hold=4000000000
	else
		frames keep n 0.1 pfc=255
	fi
	background ip netns exec h2 udpflow send -d 10.0.0.9 -p 9 -f 4 -t 100 >/dev/null
	to_n=$bg
}
pauser_goes() {
	if [ "$mode" = bfc ]; then
		at_least "pauses of n" "$(stat sw1 pn pause_rx)" 1
		frames talk n 0
	else
		at_least "pauses of n" "$(stat sw1 pn pfc_rx)" 1
	fi
	frames keep n 0
	kill "$to_n"
	frames close
	ip -n sw1 link del pn
}
# PFC stops all that h2 sends, until the watchdog of sw1's port takes it for a storm.
paused_for_ever() {
	local stall=$calm
	[ "$mode" = bfc ] || stall=$(plus $calm $watchdog)
	fault "another neighbour pauses for ever, 4 s" "$mode" 4 pauser pauser_goes \
		"$stall" 0 $look
}
test_endless_pauser() { in_each_mode paused_for_ever; }

# Newer kernels look at the carrier of a link whose index ip asks for (linkwatch_sync_dev() in
# rtnl_getlink()): here they find it down before it is set up, and up after that.
flap() {
	ip -n sw1 link set x down
	sleep 0.05
	ip -n sw1 link set x up
	ip -n sw1 link show x >/dev/null
}
flap_each_second() {
	local i
	between_looks
	for ((i = 1; i < times; i++)); do
		flap
		sleep 0.95
	done
	flap
}
# Linux looks at carriers once a second: it may find a link that flaps as often down each time,
# and carry nothing until a second after the last one, with any qdisc. Here it looks in
# between: what is lost is what comes while the link is down, and until the ends have agreed
# again.
between_looks() {
	ip -n r link add look type dummy
	sleep 1.1
	ip -n r link set look carrier off	# has it look at once
	sleep 0.5
}
flapping() {
	local lost=-
	[ "$mode" = pfifo ] || lost=$(at_line_rate $((times * (50 + calm))) 2)
	fault "the link flaps for 50 ms, each second, $times times" "$mode" 0 flap_each_second \
		nothing "$(plus 50 $calm)" "$lost" "$(plus $look $calm)" \
		${1:+"$(plus $look $fast $calm)"}
}
test_link_flaps() {
	local mode=bfc times=3
	[ "$modes" = bfc ] || times=5
	flapping yes
	[ "$modes" != bfc ] || return
	for mode in pfc pfifo; do
		flapping
	done
}

# Nothing is paused any more, and r's link takes half of what x's brings. With PFC that is in
# one FIFO, and lost is what finds it full. Where packets of two hosts come in turn, in just half
# the time that one takes to leave, those of one host find room each time, and those of the
# other never: what arrives is bounded, but not what arrives of a flow. Packets of two sizes
# come out of step: one of a flow finds room as often as not, and 70 in turn are 66 ms.
deaf() { ip -n sw2 link set dev x type wire drop any 100%; }
one_way() {
	fault "nothing comes back from the peer, 6 s${2-}" "$mode" 6 deaf heal \
		"$(plus $calm $hold)" "$(at_line_rate 7000 0.5)" $look ${1:+"$(plus $look $slow $fast)"}
}
test_one_way_link() {
	local mode=bfc
	one_way yes
	[ "$modes" != bfc ] || return
	mode=pfc
	fair='' one_way
	local sizes=(1400 1000)
	one_way '' ", packets of two sizes"
}

# ip reads many commands at once, which takes no simulated time; then frames have some.
flap_many() {
	local i start=$EPOCHREALTIME
	for ((i = 0; i < flaps; i += 20)); do
		for _ in {1..20}; do
			echo "link set x down"
			echo "link set x up"
		done | ip -n sw1 -batch - || fail "ip ends"
		sleep 0.005
	done
	flapped=$(calc "($EPOCHREALTIME - $start) * 1000" | sed 's/\..*//')
}
# It is down as long as that goes on: what a stall is bounded by begins then.
many() {
	local least=10 window=0.2 load=(-r 800000) look=400
	fault "$flaps flaps" "$mode" 0 flap_many nothing - - "$(plus $look $carrier $calm)" \
		${1:+"$(plus $look $carrier $fast $calm)"}
	at_most "stall, less the $flapped ms of the flaps" $((stall - flapped)) $((carrier + calm))
	at_most "packets lost" "$lost" \
		"$(calc "($flapped + $carrier + $calm) / 1000 * 2 * 800000 / 8 / 1400")"
}
test_many_flaps() {
	local mode=bfc
	many yes
	[ "$modes" != bfc ] || return
	mode=pfc
	many
}

names=(none control_frames_lost peer_dies_while_pausing peer_reboots link_flaps -- one_way_link many_flaps)
[ "${FAULTS-}" != all ] || names+=(control_frames_late endless_pauser)
run_tests "${names[@]}"
