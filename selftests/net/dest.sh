#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Queues are shared by destination as they run short (assign destination).
#
#   s e0 --------- e0 r      the qdisc is on s, so slow that all waits; r is a fake
#                            neighbour where pauses are needed

# shellcheck source=selftests/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"

plenty="flows 100000 hrtt 4ms"

topology() {
	host s 10.0.0.1/24 fd00::1/64
	host r 10.0.0.2/24 fd00::2/64
	cable s e0 r e0 rate 5mbit delay 100us ring 8
	ip -n r addr add 10.0.0.3/24 dev e0
	meet 10.0.0.2 s
	meet 10.0.0.3 s
}

# fresh [OPTIONS]: a new qdisc, with all counters at zero
fresh() {
	tc -n s qdisc del dev e0 root 2>/dev/null
	# shellcheck disable=SC2086
	bfc s e0 queues 8 $plenty "$@"
}

# by_hand OPTIONS...: `frames` is to send what s sends, to mac_r, and to say what r pauses
by_hand() {
	topology
	without_ipv6 s r
	mac_r=$(mac r e0)
	frames open r r e0
	frames open s s e0
	fresh "$@"
}

# of a host to r: FIELDS of `frames udp`
flow_to_r() { frames udp s size=1000 dst="$mac_r" from=10.0.0.1 to=10.0.0.2 "$@"; }
# keeps_paused QUEUES: of $of, or eight, from now on
keeps_paused() {
	frames keep r 0.2 queues="${of:-8}" bits="$1" hold=4000000000
	check "paused" wait_for 5 paused_are "$(tr -cd , <<<",$1" | wc -c)"
}
paused_are() { [ "$(stat s e0 paused)" = "$1" ]; }
queues_in_use() { [ "$(stat s e0 occupied)" = "$1" ]; }

# With 24 flows to one address, a flow to another finds a queue for itself; by the
# paper's rules it finds none.
test_another_finds_a_queue() {
	local assign before
	topology
	for assign in destination dynamic; do
		fresh assign "$assign" sticky 1ms
		send s 10.0.0.2 5000 -f 24 -t 4
		sleep 1
		before=$(stat s e0 occupied)
		send s 10.0.0.3 5001 -n 200 -r 4000000
		sleep 0.5
		say "$assign: $before queues, then $(stat s e0 occupied)"
		if [ "$assign" = destination ]; then
			at_least "told to share" "$(stat s e0 told_to_share)" 10
			at_most "queues with packets" "$before" 7
			equal "one more" "$(stat s e0 occupied)" $((before + 1))
		else
			equal "told to share" "$(stat s e0 told_to_share)" 0
			equal "queues with packets" "$before" 8
		fi
		finish "$bg"
		fresh
	done
}

# told TEXT NUMBER NAME FIELD=VALUE.../FIELD=VALUE...: of so many flows, whose packets
# all wait, so many had to share. Of eight queues six are for any destination.
# $options: of the qdisc. It is a host's, where root may have all queues.
told() {
	local text=$1 number=$2 name=$3 one
	shift 3
	# shellcheck disable=SC2086
	fresh role nic rate 64kbit $options
	for one in "$@"; do
		# shellcheck disable=SC2086
		frames udp "$name" count=2 size=1000 dst="$mac_r" $one
	done
	equal "$text: told to share" "$(stat s e0 told_to_share)" "$number"
	equal "$text: queues" "$(stat s e0 occupied)" $(($# - number))
}

# eight TEXT NUMBER FIELDS [LAST]: flows that differ by these, where @ is 1 to 8; the
# last one has other fields
eight() {
	local text=$1 number=$2 fields=$3 i flows=()
	for i in {1..8}; do
		flows+=("${fields//@/$i}")
	done
	[ -z "${4-}" ] || flows[7]=${4//@/8}
	told "$text" "$number" s "${flows[@]}"
}

test_what_a_destination_is() {
	local mac_r options='' v4='from=10.0.0.1 sport=@' v6='from=fd00::1 sport=@'
	topology
	mac_r=$(mac r e0)
	frames open s s e0
	eight "IPv4, one address" 2 "$v4 to=10.0.0.2"
	eight "IPv4, eight addresses" 0 "$v4 to=10.0.0.1@"
	eight "IPv6, one address" 2 "$v6 to=fd00::2"
	eight "IPv6, eight addresses" 0 "$v6 to=fd00::1@"
	eight "one VLAN" 2 "$v4 to=10.0.0.2 tags=8100:10"
	eight "eight VLANs" 0 "$v4 to=10.0.0.2 tags=8100:1@"

	# The seventh shares, and so does the eighth, unless it goes elsewhere.
	options="dst-prefix 22"
	eight "/22" 2 "$v4 to=10.0.3.1@"
	eight "/22, one of another" 1 "$v4 to=10.0.3.1@" "$v4 to=10.0.4.18"
	eight "/22, eight of these" 0 "$v4 to=10.0.@0.1"
	eight "/22, in one VLAN" 2 "$v4 to=10.0.3.1@ tags=8100:10"
	eight "/22, in VLANs" 0 "$v4 to=10.0.3.1@ tags=8100:1@"
	eight "/22 of IPv4 only" 0 "$v6 to=fd00::1@"
	options="dst-prefix6 60"
	eight "/60" 2 "$v6 to=fd00:0:0:@::1"
	eight "/60, one of another" 1 "$v6 to=fd00:0:0:@::1" "$v6 to=fd00:0:0:18::1"
	eight "/60, eight of these" 0 "$v6 to=fd00:0:0:@0::1"
	eight "/60, in one VLAN" 2 "$v6 to=fd00:0:0:@::1 tags=8100:10"
	eight "/60 of IPv6 only" 0 "$v4 to=10.0.0.1@"
	options="dst-prefix6 112"
	eight "/112" 2 "$v6 to=fd00::9:@"
	eight "/112, one of another" 1 "$v6 to=fd00::9:@" "$v6 to=fd00::8:8"
	options="dst-prefix 0 dst-prefix6 0"
	eight "IPv4, all are one" 2 "$v4 to=@0.0.0.1"
	eight "IPv4, all are one in each VLAN" 0 "$v4 to=@0.0.0.1 tags=8100:1@"
	eight "IPv6, all are one" 2 "$v6 to=@d00::1"
	frames close
}

# waiting COUNT: so many flows to as many addresses of a /24
waiting() {
	local i
	for ((i = 1; i <= $1; i++)); do
		frames udp s count=3 size=1000 dst="$mac_r" from=10.0.0.1 sport="$i" \
			to="10.0.0.1$i"
	done
}

# all_are_free WHEN: of eight flows to one destination two have to share; if less queues
# were free it would be more
all_are_free() {
	local before
	options_now rate 64kbit dst-prefix 24
	before=$(stat s e0 told_to_share)
	waiting 8
	equal "$1: queues at the end" "$(stat s e0 occupied)" 6
	equal "$1: told to share" $(($(stat s e0 told_to_share) - before)) 2
}

# options_now OPTION...: of the qdisc that is there
options_now() { check "$*" tc -n s qdisc change dev e0 root bfc "$@"; }

# Flows that were idle for longer than sticky begin as new ones do: together they get no more queues
# than others, although each left one that is free yet.
test_idle_flows_come_back() {
	local mac_r i
	topology
	mac_r=$(mac r e0)
	frames open s s e0
	fresh sticky 1ms dst-prefix 24
	for i in {1..8}; do
		frames udp s size=1000 dst="$mac_r" from=10.0.0.1 sport="$i" to="10.0.0.1$i"
		sleep 0.05
	done
	equal "queues so far" "$(stat s e0 assigned)" 8
	equal "told to share so far" "$(stat s e0 told_to_share)" 0
	all_are_free "all at once"
	frames close
}

# A frame resumes one queue of a destination and pauses another: what is in this one does not join
# the first, and stays.
test_pauses_are_swapped() {
	local mac_r
	by_hand peer on role nic sticky 1ms rate 64kbit
	frames udp s count=8 size=1000 dst="$mac_r" from=10.0.0.1 to=10.0.0.3 sport=7
	flow_to_r count=8 sport=1
	flow_to_r count=8 sport=2
	frames pause r queues=8 bits=1 hold=4000000000
	check "queue 1 is not paused" wait_for 5 paused_are 1
	sleep 0.3
	frames clear r
	frames pause r queues=8 bits=2 hold=4000000000
	sleep 0.2
	equal "paused" "$(stat s e0 paused)" 1
	equal "joined" "$(stat s e0 joined)" 0
	sleep 2.5
	frames count r sport
	equal "packets of queue 2" "$(answered '."2" // 0')" 0
	at_least "packets of queue 1" "$(answered '."1" // 0')" 5
	frames close
}

# A queue with one flow, when it is paused, goes to the end of another one of its
# destination. What were one before a change are two after it. Nothing of that is
# forgotten: when all is idle there are as many free queues as at first.
test_prefix_changes() {
	local mac_r change
	topology
	mac_r=$(mac r e0)
	frames open r r e0
	frames open s s e0
	for change in "rate 64kbit" "dst-prefix 32" "dst-prefix 25" "dst-prefix6 64"; do
		fresh peer on role nic sticky 1ms rate 64kbit dst-prefix 24
		waiting 6
		equal "$change: queues" "$(stat s e0 occupied)" 6
		# shellcheck disable=SC2086
		options_now $change
		frames keep r 0.2 queues=8 bits=0,1,2,3,4,5,6,7 hold=4000000000
		sleep 0.3
		equal "$change: paused" "$(stat s e0 paused)" 8
		say "$change: joined $(stat s e0 joined)"
		if [ "$change" = "rate 64kbit" ]; then
			at_least "$change: joined" "$(stat s e0 joined)" 3
		else
			equal "$change: joined" "$(stat s e0 joined)" 0
		fi
		frames keep r 0.2 queues=8 hold=4000000000
		options_now rate 5mbit
		all_idle
		sleep 0.1
		all_are_free "$change"
		equal "$change: drops" "$(stat s e0 drops)" 0
	done
	frames close
}

# The same with connections, and many changes.
test_prefix_changes_under_traffic() {
	local i mac_r senders=()
	topology
	mac_r=$(mac r e0)
	fresh sticky 1ms
	for i in 2 3; do
		send s 10.0.0.$i 5000 -f 12 -t 4
		senders+=("$bg")
	done
	sleep 0.5
	for i in {1..20}; do
		options_now dst-prefix $((i % 3 * 12)) dst-prefix6 $((i % 2 * 64))
		options_now dst-prefix 32
		[ $((i % 5)) != 0 ] || options_now assign dynamic
		options_now assign destination
		[ $((i % 7)) != 0 ] || options_now fc none
		options_now fc bfc
		sleep 0.1
	done
	at_least "told to share" "$(stat s e0 told_to_share)" 10
	finish "${senders[@]}"
	equal "drops" "$(stat s e0 drops)" 0
	all_idle
	sleep 0.1
	frames open s s e0
	all_are_free "after all that"
	frames close
}

# All queues are paused: those with one flow go to the end of another. What they leave
# is of no use until it is resumed. (That flows stay in order: order.sh.)
test_joined() {
	local sender
	topology
	frames open r r e0
	fresh peer on role nic sticky 1ms
	send s 10.0.0.2 5000 -f 6 -n 100 -r 16000000
	sender=$bg
	sleep 0.5
	frames keep r 0.2 queues=8 bits=0,1,2,3,4,5,6,7 hold=4000000000
	sleep 1
	at_least "joined" "$(stat s e0 joined)" 3
	at_most "queues with packets" "$(stat s e0 occupied)" 3
	equal "paused" "$(stat s e0 paused)" 8
	equal "active" "$(stat s e0 active)" 0
	equal "bytes of the queues" "$(classes s e0 | awk '{ n += $5 } END { print n }')" \
		"$(stat s e0 backlog)"
	equal "packets of the queues" "$(classes s e0 | awk '{ n += $6 } END { print n }')" \
		"$(stat s e0 qlen)"
	frames keep r 0.2 queues=8 hold=4000000000
	finish "$sender"
	all_idle
	at_least "packets sent" "$(classes s e0 | awk '{ n += $3 } END { print n }')" 600
	equal "paused at the end" "$(stat s e0 paused)" 0
	equal "drops" "$(stat s e0 drops)" 0
	frames close
}

# 24 of 32 queues are in use, two of them for one destination and paused: its third flow gets one of
# the eight that are free, and does not wait with those.
test_borrows_a_free_queue() {
	local mac_r of=32
	by_hand queues 32 peer on role nic sticky 1ms rate 64kbit
	flow_to_r span=2 along=sport count=3
	keeps_paused 0,1
	frames udp s span=22 count=3 size=1000 dst="$mac_r" from=10.1.0.1 to=10.2.0.1
	equal "queues in use" "$(stat s e0 occupied)" 24
	flow_to_r sport=99
	equal "told to share" "$(stat s e0 told_to_share)" 0
	equal "queues in use then" "$(stat s e0 occupied)" 25
	frames close
}

# Of eight queues a destination holds six, three of them paused with packets, three empty. A new flow
# to it gets one of the empty ones, and does not wait in a paused one.
test_borrows_its_own_queue() {
	local mac_r
	by_hand peer on sticky 10s rate 64kbit
	flow_to_r count=4 span=3 along=sport sport=1
	keeps_paused 0,1,2
	flow_to_r span=3 along=sport sport=4
	check "those are sent" wait_for 5 queues_in_use 3
	flow_to_r sport=99
	equal "told to share" "$(stat s e0 told_to_share)" 0
	check "it is sent" wait_for 5 queues_in_use 3
	frames close
}

# Of eight queues a destination holds five. The first is paused with packets, the last has packets,
# too, and the one that ran empty the longest ago was for another destination. A new flow gets that,
# as few queues have packets.
test_borrows_while_few_have_packets() {
	local mac_r
	by_hand peer on role nic sticky 10s rate 64kbit
	flow_to_r count=4 sport=1
	keeps_paused 0
	frames udp s size=1000 dst="$mac_r" from=10.1.0.1 to=10.2.0.1
	check "that to another is sent" wait_for 5 queues_in_use 1
	flow_to_r span=4 along=sport sport=2
	check "those are sent" wait_for 5 queues_in_use 1
	flow_to_r count=20 sport=9
	flow_to_r sport=99
	equal "told to share" "$(stat s e0 told_to_share)" 0
	check "it is sent" wait_for 5 queues_in_use 2
	frames close
}

# most_are_paused QUEUES [OPTIONS]: so many are paused for a destination, and all of these but one are
# empty: there is no other that it could borrow
most_are_paused() {
	local number=$1
	shift
	fresh peer on sticky 10s rate 64kbit "$@"
	flow_to_r count=4 sport=1
	keeps_paused 0
	flow_to_r span=$((number - 1)) along=sport sport=2
	check "those are sent" wait_for 9 queues_in_use 1
	keeps_paused "$(seq -s , 0 $((number - 1)))"
}

# Of eight queues the free ones are for others; of 32 all but four may be borrowed, and those of one
# source are four fifths at most.
test_leaves_free_queues() {
	local mac_r of=8
	by_hand
	most_are_paused 6 role nic
	flow_to_r sport=99
	equal "of 8: told to share" "$(stat s e0 told_to_share)" 1
	equal "of 8: queues in use" "$(stat s e0 occupied)" 1
	of=32
	most_are_paused 24 queues 32 role nic
	flow_to_r count=3 span=6 along=sport sport=99
	equal "of 32: told to share" "$(stat s e0 told_to_share)" 2
	equal "of 32: queues in use" "$(stat s e0 occupied)" 5
	most_are_paused 24 queues 32
	flow_to_r count=3 span=6 along=sport sport=99
	equal "of 32, one source: told to share" "$(stat s e0 told_to_share)" 4
	equal "of 32, one source: queues in use" "$(stat s e0 occupied)" 3
	frames close
}

# Seven of eight queues are paused, the other one just got its first packet: flows that find no
# queue go there, as it may send.
test_shares_one_that_may_send() {
	local mac_r
	by_hand peer on role nic sticky 1ms rate 64kbit
	frames udp s span=7 count=6 size=1000 dst="$mac_r" from=10.1.0.1 to=10.2.0.1
	sleep 1
	keeps_paused 0,1,2,3,4,5,6
	frames udp s count=3 size=1000 dst="$mac_r" from=10.3.0.1 to=10.4.0.1
	frames udp s span=8 size=100 dst="$mac_r" from=10.5.0.1 to=10.6.0.1
	at_least "packets in the queue that may send" \
		"$(classes s e0 | awk '$1 == 8 { print $6 }')" 8
	frames close
}

# Two elephants of a host are paused. Six of eight queues are free, be that counted or not: no new
# flow has come since four short ones left. So they are not joined.
test_counts_what_is_free() {
	local mac_r
	by_hand peer on role nic sticky 1ms rate 64kbit
	flow_to_r span=2 along=sport count=12
	frames udp s span=4 size=1000 dst="$mac_r" from=10.1.0.1 to=10.2.0.1
	equal "queues" "$(stat s e0 occupied)" 6
	check "short flows are there yet" wait_for 5 queues_in_use 2
	sleep 0.1
	keeps_paused 0,1,2,3,4,5,6,7
	equal "joined" "$(stat s e0 joined)" 0
	frames close
}

# a sends to forty addresses, from forged ones, IP and MAC, another of each in every
# packet: one port, so four fifths of the queues at most. b's flows find others.
sprays() {
	local mac_r
	behind_ports 16 64kbit a b
	frames udp a span=40 size=1000 dst="$mac_r" src=random from=10.9.0.1 to=10.8.0.1
	sleep 0.2
	say "the sprayer has $(stat sw x0 occupied) of 16"
	at_least "queues that it has" "$(stat sw x0 occupied)" 8
	at_most "queues that it has" "$(stat sw x0 occupied)" 13
	at_least "told to share" "$(stat sw x0 told_to_share)" 20
	local collisions before
	collisions=$(stat sw x0 collisions)
	before=$(stat sw x0 occupied)
	frames udp b span=2 size=1000 dst="$mac_r" from=10.0.0.2 to=10.7.0.1
	sleep 0.1
	equal "collisions of the other host's flows" \
		"$(($(stat sw x0 collisions) - collisions))" 0
	at_least "queues" "$(stat sw x0 occupied)" $((before + 1))
	frames close
}

test_a_sprayer() { sprays; }

# What comes in through a port is told apart whatever its neighbour speaks.
test_a_sprayer_among_plain_hosts() {
	local plain=1 options
	for options in "" "peer off" "fc none"; do
		say "ports with: $options"
		sprays
		clean_up
	done
}

# A host that opens its flows one after the other, each when the one before has left its queue and
# that is free again, gets back no more queues than it may have when all of them come at once.
test_a_patient_sprayer() {
	local mac_r all=(udp a span=16 size=1000 from=10.9.0.1 to=10.8.0.1)
	behind_ports 16 10mbit a b
	frames "${all[@]}" dst="$mac_r" gap=0.1
	at_least "queues that it got" "$(stat sw x0 assigned)" 16
	equal "told to share by then" "$(stat sw x0 told_to_share)" 0
	check "slow" tc -n sw qdisc change dev x0 root bfc rate 64kbit
	frames "${all[@]}" dst="$mac_r" count=3
	sleep 0.2
	say "the sprayer has $(stat sw x0 occupied) of 16"
	at_least "queues that it has" "$(stat sw x0 occupied)" 8
	at_most "queues that it has" "$(stat sw x0 occupied)" 13
	frames close
}

# Queues that a port holds are its own, be there packets in them or not: the newest of these is the
# one to share.
test_a_sprayer_that_leaves_nothing() {
	local mac_r
	behind_ports 16 10mbit a b
	check "sticky" tc -n sw qdisc change dev x0 root bfc sticky 900ms
	frames udp a span=40 gap=0.01 size=1000 dst="$mac_r" from=10.9.0.1 to=10.8.0.1
	at_least "flows that got a queue" "$(stat sw x0 assigned)" 40
	at_most "queues that they got" "$(classes sw x0 | awk '$2 > 1000' | wc -l)" 13
	frames close
}

# Flows that have a queue alone, one after the other, share none.
test_an_empty_queue_is_not_shared() {
	local mac_r
	topology
	without_ipv6 s r
	mac_r=$(mac r e0)
	frames open s s e0
	fresh sticky 900ms
	frames udp s span=20 along=sport gap=0.02 size=100 dst="$mac_r" from=10.0.0.1 \
		to=10.0.0.2
	at_least "flows that got a queue" "$(stat s e0 assigned)" 20
	at_most "told to share" "$(stat s e0 told_to_share)" "$(stat s e0 collisions)"
	frames close
}

# The same from a container on a VLAN device of the port: what it sends came in nowhere, and is not
# what this box sends.
test_a_sprayer_on_the_port() {
	local mac_r
	behind_ports 16 64kbit b
	host c 10.0.0.9/24
	without_ipv6 c
	ip -n sw link add link x0 name x0.5 type vlan id 5
	ip -n sw link set x0.5 netns c
	ip -n c link set x0.5 up
	frames open c c x0.5
	frames udp c span=40 size=1000 dst="$mac_r" src=random from=10.9.0.1 to=10.8.0.1
	sleep 0.2
	say "the container has $(stat sw x0 occupied) of 16"
	at_least "queues that it has" "$(stat sw x0 occupied)" 8
	at_most "queues that it has" "$(stat sw x0 occupied)" 13
	frames close
}

# had_to_share NS PORT: flows that got no queue of their own
had_to_share() { echo $(($(stat "$1" "$2" told_to_share) + $(stat "$1" "$2" collisions))); }

# A container behind a veth sends to a hundred addresses. Four others have queues for their flows:
# at most one of them has, by its hash, the share of the first.
test_a_sprayer_among_containers() {
	local mac_r name before harmed=0
	behind_ports 32 64kbit
	for name in c1 c2 c3 c4 c5; do
		host "$name" "10.0.0.1${name#c}/24"
		without_ipv6 "$name"
		cable sw "v$name" "$name" e0
		frames open "$name" "$name" e0
	done
	frames udp c1 span=100 dst="$mac_r" from=10.0.0.11 to=10.8.0.1 along=to
	sleep 0.2
	say "the first container has $(stat sw x0 occupied) of 32"
	at_least "queues that it has" "$(stat sw x0 occupied)" 16
	at_most "queues that it has" "$(stat sw x0 occupied)" 26
	for name in c2 c3 c4 c5; do
		before=$(had_to_share sw x0)
		frames udp "$name" size=1000 dst="$mac_r" from="10.0.0.1${name#c}" to="10.7.0.${name#c}"
		sleep 0.1
		[ "$(had_to_share sw x0)" = "$before" ] || ((++harmed))
	done
	at_most "containers whose flow had to share a queue" "$harmed" 1
	frames close
}

# leaves_some WHO [MOST]: so many queues at most are in use, and the next flow of b finds one
leaves_some() {
	local before
	say "$1: $(stat sw x0 occupied) of 32"
	at_least "$1: queues" "$(stat sw x0 occupied)" 16
	at_most "$1: queues" "$(stat sw x0 occupied)" "${2-26}"
	before=$(stat sw x0 collisions)
	frames udp b span=2 size=1000 dst="$mac_r" from=10.0.0.2 to=10.7.0.1
	sleep 0.1
	equal "$1: collisions of another's flows" "$(($(stat sw x0 collisions) - before))" 0
}

# Frames to their own source, which a router takes for its own, count for the device that they came
# in through: a second port, so that a has more queues than one port may. Some are left.
test_a_sprayer_to_its_own_source() {
	local mac_r mac_sw alone
	behind_ports 32 8kbit a b
	routes_to_r 10.0.0.200 10.0.0.100
	in_ns sw sysctl -qw net.ipv4.ip_forward=1
	mac_sw=$(mac sw br0)
	frames udp a span=100 size=1000 dst="$mac_sw" from=10.9.0.1 to=10.8.0.1
	sleep 0.2
	alone=$(stat sw x0 occupied)
	leaves_some "those of the port"
	frames udp a span=100 size=1000 dst="$mac_sw" src="$mac_sw" from=10.9.1.1 to=10.8.1.1
	sleep 0.2
	say "the port's $alone of 32, with those to their own source $(stat sw x0 occupied)"
	at_least "queues of both" "$(stat sw x0 occupied)" $((alone + 1))
	leaves_some "both" 29
	frames close
}

# m has the box reply to a hundred forged addresses, to pings and SYNs. These replies have the bound
# of a port, and so has what a user of the box sends.
test_replies_to_forged_sources() {
	local mac_r
	behind_ports 32 8kbit b m
	routes_to_r 10.0.0.200 10.0.0.100
	ip -n m route add local 10.8.0.0/16 dev lo
	ip -n m neigh replace 10.0.0.200 dev e0 lladdr "$(mac sw br0)"
	in_ns m python3 -c '
import socket
for i in range(100):
    s = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP)
    s.bind(("10.8.0.%d" % (1 + i), 0))
    s.sendto(b"\x08\0\xf7\xff" + bytes(996), ("10.0.0.200", 0))'
	sleep 0.2
	leaves_some "pings"
	drain_x0
	background ip netns exec sw python3 -c '
import socket, time
s = socket.create_server(("10.0.0.200", 7000), backlog=100)
time.sleep(60)'
	check "no listener" wait_for 10 tcp_listens sw 7000
	in_ns m python3 -c '
import socket
held = []
for i in range(100):
    s = socket.socket()
    s.bind(("10.8.1.%d" % (1 + i), 0))
    s.setblocking(False)
    s.connect_ex(("10.0.0.200", 7000))
    held.append(s)'
	sleep 0.2
	leaves_some "SYN-ACKs"
	drain_x0
	sprays_as sw 0
	leaves_some "a user of the box"
	frames close
}
drain_x0() {
	check "fast" tc -n sw qdisc change dev x0 root bfc rate 10mbit
	check "not drained" wait_for 10 drained sw x0
	sleep 0.1
	check "slow" tc -n sw qdisc change dev x0 root bfc rate 8kbit
}

# sprays_as NS USER: a packet to each of a hundred addresses
sprays_as() {
	in_ns "$1" setpriv --reuid "$2" --clear-groups python3 -c '
import socket
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
for i in range(100):
    s.sendto(bytes(100), ("10.8.2.%d" % (1 + i), 9))'
}

# At a host a user is what a port is at a switch, but for root. Of four others at most one has, by
# its hash, the share of the first.
test_users_of_a_host() {
	local mac_r user before harmed=0
	topology
	without_ipv6 s r
	mac_r=$(mac r e0)
	fresh queues 32 role nic rate 8kbit
	ip -n s route add 10.0.0.0/8 via 10.0.0.2
	sprays_as s 65534
	sleep 0.2
	say "the first user has $(stat s e0 occupied) of 32"
	at_least "queues that it has" "$(stat s e0 occupied)" 16
	at_most "queues that it has" "$(stat s e0 occupied)" 26
	for user in 0 1001 1002 1003; do
		before=$(had_to_share s e0)
		in_ns s setpriv --reuid "$user" --clear-groups python3 -c '
import socket, sys
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.sendto(bytes(1000), ("10.7.0." + sys.argv[1][-1], 9))' "$user"
		[ "$(had_to_share s e0)" = "$before" ] || ((++harmed))
	done
	at_most "users whose flow had to share a queue" "$harmed" 1
	fresh queues 32 role nic rate 8kbit
	sprays_as s 0
	at_least "queues of root" "$(stat s e0 occupied)" 29
}

# A flow table of 64 entries, and a has packets of a thousand flows, to an address each:
# all entries where a flow of d can be are in use. Those that d has its entries beside
# have nothing to do with a's. By the paper's rule they are in a's queues.
test_a_full_flow_table() {
	local i mac_r assign shared plenty="flows 64 hrtt 4ms"
	for assign in dynamic destination; do
		behind_ports 32 1mbit a d
		check "assign" tc -n sw qdisc change dev x0 root bfc assign "$assign"
		frames udp a span=1000 size=1000 dst="$mac_r" from=10.9.0.1 to=10.8.0.1
		sleep 2
		shared=$(stat sw x0 shared)
		at_least "entries shared" "$shared" 1
		[ "$assign" = dynamic ] ||
			at_most "queues that a got" "$(stat sw x0 assigned)" 64
		for i in {1..6}; do
			ip -n r addr add "10.0.0.10$i/24" dev e0
			ip -n d neigh replace "10.0.0.10$i" dev e0 lladdr "$mac_r"
		done
		short_flows 5000
		say "$assign: $shared entries shared, ms until the last short flow $ms"
		if [ "$assign" = destination ]; then
			at_most "ms" "$ms" 200
		else
			at_least "ms" "$ms" 1000
		fi
		frames close
		clean_up
	done
}

# Of flows that find no entry those to other destinations have a queue beside those to one: three
# do, as there are four overflow entries; a fourth waits with one of them. A set that is not full
# while another one was, 64 sticky times ago or less, stays as it is: so the table fills by turns.
test_few_in_a_full_flow_table() {
	local i n before mac_r plenty="flows 16 ways 8 hrtt 4ms"
	topology
	without_ipv6 s r
	mac_r=$(mac r e0)
	frames open s s e0
	for i in {1..8}; do
		fresh queues 32 rate 8kbit
		for n in {1..4}; do
			frames udp s span=20 along=sport sport="${n}00" size=1000 dst="$mac_r" \
				from=10.9.0.1 to="10.8.0.$i"
			sleep 0.7
		done
		before=$(stat s e0 occupied)
		for n in 1 2 3 3; do
			frames udp s dst="$mac_r" from=10.9.0.1 to="10.7.$n.$i"
			equal "queues of $n other destinations" \
				$(($(stat s e0 occupied) - before)) "$n"
		done
		before=$(stat s e0 occupied)
		for n in {4..9}; do
			frames udp s dst="$mac_r" from=10.9.0.1 to="10.7.$n.$i"
		done
		# Some packets have left, and with them entries.
		at_most "queues of six more" $(($(stat s e0 occupied) - before)) 2
	done
	frames close
}

# When a has gone again, d's new flows have entries, and queues, of their own, although
# some that began meanwhile, and found none, go on.
test_after_a_full_flow_table() {
	local mac_r before plenty="flows 64 hrtt 4ms"
	behind_ports 32 1mbit a d
	frames udp a count=10 span=100 size=1000 dst="$mac_r" from=10.9.0.1 to=10.8.0.1
	check "no entry shared" wait_for 5 shares
	send d 10.0.0.100 5001 -f 8 -t 60 -s 1000 -r 2000000
	sleep 1
	check "packets that a has yet" wait_for 30 few_packets
	sleep 1		# 64 sticky times, until the table counts as one with room
	before=$(stat sw x0 assigned)
	send d 10.0.0.100 5000 -f 6 -F 100 -n 6 -s 100
	finish "$bg"
	sleep 0.5
	at_least "flows that got a queue" $(($(stat sw x0 assigned) - before)) 2
	frames close
}
shares() { [ "$(stat sw x0 shared)" -gt 0 ]; }
few_packets() { [ "$(stat sw x0 qlen)" -le 150 ]; }

# short_flows PORT: of d, to six addresses at once; $ms: until the last packet was there
short_flows() {
	local i receiver sent=()
	receive r "$1" -n 6 -t 20 -i 15
	receiver=$bg
	for i in {1..6}; do
		send d "10.0.0.10$i" "$1" -F "$i" -n 1 -s 100
		sent+=("$bg")
	done
	finish "${sent[@]}" "$receiver"
	equal "short flows that came" "$(received r "$1" .packets)" 6
	ms=$(received r "$1" '.p99_us / 1000 | floor')
}

# Three that spray hold four fifths together, and no twelve thirteenths: d's short flows
# have a queue each, and none waits for a round of all queues, 0.4 s.
test_three_sprayers() {
	local i name mac_r ms alone held
	behind_ports 64 1mbit a b c d
	for i in {1..6}; do
		ip -n r addr add "10.0.0.10$i/24" dev e0
		meet "10.0.0.10$i" d
	done
	short_flows 5000
	alone=$ms
	for i in 0 1 2 3; do
		for name in a b c; do
			frames udp "$name" span=10 count=6 size=1000 dst="$mac_r" \
				src=random from=10.9.0.1 to="10.$((16#$name)).$i.1"
		done
	done
	sleep 1.5	# that long all queues are new, and go first
	held=$(stat sw x0 occupied)
	at_least "queues of those that spray" "$held" 45
	at_most "queues of those that spray" "$held" 54
	short_flows 5001
	say "ms: alone $alone, beside those that spray, with $held of 64 queues, $ms"
	at_most "ms until the last of the short flows" "$ms" $((alone + 100))
	frames close
}

#              /-- r	1 Mbit/s
#   h ---- sw <
#              \-- v
#
# busy ASSIGN [NUMBER PAUSED]: h has so many flows to r, which have so many of its queues
# paused, and sends short ones to v; $p99: the latency of these, us
busy() {
	local assign=$1 number=${2-0} paused=${3-} port
	switch sw
	host h 10.0.0.1/24
	host r 10.0.0.2/24
	host v 10.0.0.3/24
	cable sw p1 h e0
	cable sw r0 r e0 rate 1mbit delay 100us ring 4
	cable sw v0 v e0
	for port in p1 r0 v0; do
		bfc sw "$port" hrtt 4ms assign "$assign"
	done
	bfc h e0 role nic queues 128 hrtt 4ms assign "$assign"
	check "h is not up" wait_for 15 peer_up h e0
	meet 10.0.0.2 h
	meet 10.0.0.3 h
	if [ "$number" -gt 0 ]; then
		frames open h h e0
		frames udp h span="$number" count=2 along=sport size=1000 \
			dst="$(mac r e0)" from=10.0.0.1 to=10.0.0.2
		sleep 2
		# One that is free is enough for all of the short flows, in turn.
		equal "paused queues of h" "$(stat h e0 paused)" "$paused"
	fi
	receive v 5001 -n 200 -t 50 -i 40
	local receiver=$bg
	send h 10.0.0.3 5001 -f 20 -n 10 -s 500 -r 1000000
	finish "$bg" "$receiver"
	equal "packets to v" "$(received v 5001 .packets)" 200
	p99=$(received v 5001 '.p99_us | floor')
	[ "$number" = 0 ] || say "$assign: $(stat h e0 occupied) of 128 queues in use," \
		"$(stat h e0 paused) paused, drops $(stat h e0 drops)"
	frames close
	clean_up
}

# A host with two thousand flows to a peer that is congested, so that its switch pauses
# them, and some to another. By the paper's rules these get paused queues: their packets
# wait for a resume, 10 s and more.
test_a_busy_host() {
	local p99 alone
	busy destination
	alone=$p99
	busy destination 2000 1
	say "p99 to another peer $alone us, beside the flows $p99 us"
	at_most "p99, us" "$p99" $((alone + 10000))
	busy dynamic 2000 128
	say "with dynamic $p99 us"
	at_least "p99 with dynamic, us" "$p99" 1000000
}

# elephants FLOWS: so many next to a host; the least and the most that one of them got, in
# packets, in $least and $most
elephants() {
	local i running=()
	for ((i = 0; i < $1; i++)); do
		receive r $((5000 + i)) -t 60 -i 4
		running+=("$bg")
	done
	for ((i = 0; i < $1; i++)); do
		send s 10.0.0.2 $((5000 + i)) -F "$i" -t 12
		running+=("$bg")
	done
	finish "${running[@]}"
	read -r least most < <(for ((i = 0; i < $1; i++)); do
		received r $((5000 + i)) .packets
	done | sort -n | sed -n '1p;$p' | paste -s -d ' ')
	say "$1 flows: $least to $most packets, $(stat s e0 joined) joined"
}

# Elephants share a queue when half of the queues are in use, so that new flows find one. Few
# have as much there as those that have a queue alone; of many the queue has one turn, and all are
# there.
test_elephants_next_to_a_host() {
	local least most n
	topology
	bfc r e0 role nic hrtt 4ms
	fresh queues 16
	check "not up" wait_for 10 peer_up s e0
	elephants 12
	at_least "joined" "$(stat s e0 joined)" 1
	at_least "the least of 12, of the most" "$(calc "$least / $most")" 0.7
	# More than others have queues: then they all are in that queue, and take turns there.
	for n in 15 20; do
		fresh queues 16
		check "not up" wait_for 10 peer_up s e0
		elephants $n
		at_least "the least of $n, of the most" "$(calc "$least / $most")" 0.7
	done
	fresh queues 16
	check "not up" wait_for 10 peer_up s e0
	elephants 60
	at_most "the least of 60, of the most" "$(calc "$least / $most")" 0.3
	all_idle
}

run_tests another_finds_a_queue what_a_destination_is idle_flows_come_back pauses_are_swapped \
	prefix_changes prefix_changes_under_traffic joined borrows_a_free_queue borrows_its_own_queue \
	borrows_while_few_have_packets leaves_free_queues shares_one_that_may_send \
	counts_what_is_free an_empty_queue_is_not_shared a_sprayer \
	a_sprayer_among_plain_hosts a_patient_sprayer a_sprayer_that_leaves_nothing \
	a_sprayer_on_the_port a_sprayer_among_containers a_sprayer_to_its_own_source \
	replies_to_forged_sources users_of_a_host three_sprayers a_full_flow_table few_in_a_full_flow_table \
	a_busy_host -- elephants_next_to_a_host after_a_full_flow_table
