#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Queues are shared by root: PAUSE tells where the congestion is (assign root).

# shellcheck source=selftests/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"

plenty="flows 100000 hrtt 4ms"

# ---- what is told, and what is made of it ----
#
#   n e0 --- p1 sw p2 --- e0 r	n and r are fake neighbours; r's link is slow
#
# n is before p2's queues, and r behind them.

start() {	# [OPTIONS of p1 and p2]
	switch sw
	host n 10.0.0.1/24
	host r 10.0.0.2/24
	without_ipv6 sw n r
	cable sw p1 n e0 rate 20mbit delay 100us ring 8
	cable sw p2 r e0 rate 2mbit delay 100us ring 4
	# shellcheck disable=SC2086
	{
		bfc sw p1 $plenty refresh 50ms queues 32 "$@"
		bfc sw p2 $plenty refresh 50ms queues 8 sticky 1ms peer on "$@"
	}
	frames open n n e0
	frames open r r e0
	mac_r=$(mac r e0)
	ip -n n neigh replace 10.0.0.2 dev e0 lladdr "$mac_r"
	frames talk n 0.3
	check "p1 is not up" wait_for 10 peer_up sw p1
}

# fill QUEUE TO [SPORT]: packets that left this queue of n wait in a queue of p2
fill() {
	frames udp n dst="$mac_r" from=10.0.0.1 to="$2" sport="${3-$1}" size=1000 \
		count=40 tags="88a8:$(($1 + 1))"
}

# told QUEUES IDS: the frames that n gets pause these queues, for these roots
told() {
	frames clear n
	frames wait n 5 2 kind=pause
	equal "paused queues" "$(answered '.[-1].bits | tostring')" "[$1]"
	equal "what they wait for" "$(answered '.[-1].roots | tostring')" "[$2]"
}

# roots NS DEV: "QUEUE ROOT" of each queue that is paused for a root that was told
roots() {
	tc -n "$1" -s class show dev "$2" | awk '
		$1 == "class"	{ split($3, id, ":") }
		$1 == "paused"	{ for (i = 1; i < NF; i++)
					if ($i == "root" && $(i + 1))
						printf "%d %s ", "0x" id[2], $(i + 1) }'
}

test_what_is_told() {
	local mac_r here there
	start assign root
	fill 5 10.0.0.2
	frames clear n
	frames wait n 5 2 kind=pause
	equal "paused" "$(answered '.[-1].bits | tostring')" "[5]"
	equal "length" "$(answered '.[-1] | [.len, .length, .flags, .first] | tostring')" \
		"[98,98,1,0]"
	here=$(answered '.[-1].roots[0]')
	at_least "id of the port" "$here" 1
	# Another queue of n waits in another one of p2, for the same port.
	fill 9 10.0.0.3
	told 5,9 "$here,$here"

	# The next hop pauses that: it says for what, and what it says goes upstream.
	frames keep r 0.1 queues=8 bits=0,1,2,3,4,5,6,7 roots=77,77,77,77,77,77,77,77 \
		hold=4000000000
	check "root of p2's queues" wait_for 5 all_paused_for_one
	fill 5 10.0.0.2
	fill 9 10.0.0.3
	# Not that number: with it r could name the root of what is sent to others.
	there=$(roots sw p2 | awk '{ print $2 }')
	at_least "id of the root" "$there" 1
	equal "as the neighbour says" "$((there == 77 || there == here))" 0
	told 5,9 "$there,$there"
	# It says that it does not know for what.
	frames keep r 0.1 queues=8 bits=0,1,2,3,4,5,6,7 hold=4000000000 \
		roots=0,0,0,0,0,0,0,0
	sleep 0.5
	equal "no root in the dump" "$(roots sw p2)" ""
	fill 5 10.0.0.2
	told 5,9 "0,$there"
	frames keep r 0.1 queues=8 hold=4000000000
	check "not drained" wait_for 30 drained sw p2
	frames clear n
	frames wait n 5 1 kind=pause npaused=0
	equal "nothing is paused" "$(answered '.[-1] | [.length, .flags] | tostring')" "[90,0]"
	equal "counters" "$(stat sw p1 counters)" 0
	equal "refused" "$(refused sw p2)" 0
	frames close
}
all_paused_for_one() {
	[ "$(roots sw p2 | tr ' ' '\n' | awk 'NR % 2 == 0' | sort | uniq -c | awk '{ print $1 }')" = 8 ]
}
refused() { tc -n "$1" -s -j qdisc show dev "$2" | jq '[.[0] | to_entries[] |
	select(.key | startswith("bad_")) | .value] | add'; }

# A port with another assign tells none, and obeys who tells some: as one that knows no ids
# of roots does, which reads the frame up to the bitmap's end.
test_who_does_not_know() {
	local mac_r
	start assign destination
	fill 5 10.0.0.2
	frames clear n
	frames wait n 5 2 kind=pause
	equal "frame" "$(answered '.[-1] | [.length, .flags, .roots] | tostring')" "[90,0,null]"
	frames keep r 0.1 queues=8 bits=0,1,2,3,4,5,6,7 roots=77,77,77,77,77,77,77,77 \
		hold=4000000000
	check "not paused" wait_for 5 paused_now 8
	equal "roots in the dump" "$(roots sw p2)" ""
	equal "refused" "$(refused sw p2)" 0

	# From then on that port asks, and p1, which tells none, has a neighbour that does.
	check "change" tc -n sw qdisc change dev p2 root bfc assign root
	sleep 0.3
	at_least "roots in the dump" "$(roots sw p2 | wc -w)" 2
	fill 5 10.0.0.2
	frames clear n
	frames wait n 5 2 kind=pause
	equal "frame" "$(answered '.[-1] | [.length, .flags, .roots] | tostring')" "[90,0,null]"
	frames close
}
paused_now() { [ "$(stat sw p2 paused)" = "$1" ]; }

# What is too short, too long or forged does no harm to others than its sender.
test_refused() {
	local mac_r all=0,1,2,3,4,5,6,7 i
	start assign root
	frames pause r queues=8 bits=1,2 roots=7,8 length=98	# of 99: bad_short
	frames pause r queues=8 bits=1,2 flags=1		# no list: bad_short
	frames pause r queues=8 bits=1,2 flags=1 cut=89 length=89	# half of its head: bad_short
	frames pause r queues=8 bits=1,2 roots=7 nroots=65535	# bad_short
	frames pause r queues=8 bits=1,2 roots=7,8,9		# bad_range
	frames pause r queues=8 bits=1,2 roots=7,8 first=2	# bad_range
	frames pause r queues=8 bits=1,2 roots=7 first=65535	# bad_range
	frames pause r queues=8 roots=7				# bad_range
	sleep 0.3
	equal "refused" "$(tc -n sw -s -j qdisc show dev p2 root |
		jq -r '.[0] | "\(.bad_short) \(.bad_range) \(.frames_rx)"')" "4 4 0"
	equal "paused" "$(stat sw p2 paused)" 0
	# Flags that are not known, and ids behind none
	frames pause r queues=8 bits=1,2 flags=0xfffe hold=4000000000
	check "unknown flags" wait_for 2 paused_now 2
	frames pause r queues=8 roots= hold=4000000000
	check "no ids" wait_for 2 paused_now 0

	# A thousand frames with ids of its own: its queues share, and n's others do not care.
	send n 10.0.0.2 5000 -f 8 -t 2 -r 4000000
	for i in {1..40}; do
		frames pause r queues=8 bits=$all hold=100000000 count=5 \
			roots="$RANDOM,$RANDOM,4294967295,0,$RANDOM,1,$i,$i"
		frames pause r queues=8 bits=0,$((i % 8)) roots="$i" first=$((i % 8)) \
			hold=100000000
	done
	finish "$bg"
	equal "refused" "$(refused sw p2)" 8
	frames pause r queues=8 hold=4000000000
	check "not drained" wait_for 30 drained sw p2
	equal "counters of n" "$(stat sw p1 counters)" 0
	all_are_free
	frames close
}

# Eight flows to as many addresses have a queue each; if any was lost they would share.
all_are_free() {
	local i before
	check "change" tc -n sw qdisc change dev p2 root bfc rate 64kbit assign dynamic
	check "change" tc -n sw qdisc change dev p2 root bfc assign root
	sleep 0.5
	before=$(stat sw p2 told_to_share)
	for i in {1..6}; do
		frames udp n dst="$mac_r" from=10.0.0.1 to="10.0.1.$i" sport="$i" size=1000 \
			count=2
	done
	sleep 0.05
	equal "queues at the end" "$(stat sw p2 occupied)" 6
	equal "told to share" "$(stat sw p2 told_to_share)" "$before"
}

# Of six flows to six addresses each has a queue. All are paused, for one root: they are
# joined, and more flows to these addresses, when there is nothing in the way any more,
# share; one to another address finds a queue.
test_shares() {
	local i mac_r assign before
	for assign in root destination; do
		start assign "$assign"
		check "change" tc -n sw qdisc change dev p2 root bfc rate 64kbit
		for i in 1 2 3 4 5 6; do
			frames udp n dst="$mac_r" from=10.0.0.1 to="10.0.1.$i" sport="$i" \
				size=1000 count=3
		done
		sleep 0.1
		equal "$assign: queues" "$(stat sw p2 occupied)" 6
		frames keep r 0.1 queues=8 bits=0,1,2,3,4,5,6,7 hold=4000000000 \
			roots=77,77,77,77,77,77,77,77
		sleep 0.5
		if [ "$assign" = destination ]; then
			equal "$assign: joined" "$(stat sw p2 joined)" 0
			equal "$assign: learned" "$(stat sw p2 learned)" 0
			frames close
			clean_up
			continue
		fi
		at_least "joined" "$(stat sw p2 joined)" 3
		at_least "learned" "$(stat sw p2 learned)" 6
		at_most "queues with packets" "$(stat sw p2 occupied)" 3
		before=$(stat sw p2 occupied)
		for i in 1 2 3 4 5 6; do
			frames udp n dst="$mac_r" from=10.0.0.1 to="10.0.1.$i" sport="7$i" \
				size=1000 count=3
		done
		sleep 0.1
		equal "no more queues for them" "$(stat sw p2 occupied)" "$before"
		at_least "told to share" "$(stat sw p2 told_to_share)" 6
		equal "bytes of the queues" "$(classes sw p2 | awk '{ n += $5 } END { print n }')" \
			"$(stat sw p2 backlog)"
		frames keep r 0.1 queues=8 hold=4000000000
		check "change" tc -n sw qdisc change dev p2 root bfc rate 2mbit
		check "not drained" wait_for 30 drained sw p2
		sleep 0.1
		all_are_free
		frames close
		clean_up
	done
}

# Eight queues: one of these has a flow behind 88, one (the pool) six flows to other addresses
# behind 77. The next hop says 88 of the pool, too, as it does if one of its six flows goes
# to another port there: then the pool is of none, and what waits for 88 does not go there.
test_a_pool_of_another_root() {
	local try i mac_r z pool others
	# The table has four sets of four destinations: once in twenty times more than four of these
	# seven fall into one, and the queue of one without a place joins none. Others may fit.
	for try in 1 2 3; do
		start assign root
		check "change" tc -n sw qdisc change dev p2 root bfc rate 64kbit
		frames udp n dst="$mac_r" from=10.0.0.1 to="10.0.$try.9" sport=9 size=1000 count=40
		sleep 0.05
		z=$(with_packets)
		for i in 1 2 3 4 5 6; do
			frames udp n dst="$mac_r" from=10.0.0.1 to="10.0.$try.$i" sport="$i" \
				size=1000 count=3
		done
		sleep 0.05
		others=$(printf '%s\n' {0..7} | grep -vx "$z" | paste -sd,)
		frames keep r 0.1 queues=8 bits="$others" roots=77,77,77,77,77,77,77 \
			hold=4000000000
		sleep 0.3
		[ "$(stat sw p2 joined)" -lt 5 ] || break
		[ $try = 3 ] || { frames close; clean_up; }
	done
	equal "joined" "$(stat sw p2 joined)" 5
	pool=$(with_packets | grep -vx "$z")
	frames keep r 0.1 queues=8 bits="$(except "$pool")" roots=77,77,77,77,77,77 \
		hold=4000000000
	sleep 0.2
	frames keep r 0.1 queues=8 bits="$others" roots="$(all_but "$z" "$pool")" \
		hold=4000000000
	sleep 0.2
	frames keep r 0.1 queues=8 bits=0,1,2,3,4,5,6,7 roots="$(all_but "" "$z|$pool")" \
		hold=4000000000
	sleep 0.2
	equal "paused" "$(stat sw p2 paused)" 8
	equal "one of them joined the other" "$(stat sw p2 joined)" 5
	equal "queues with packets" "$(with_packets | sort)" "$(printf '%s\n' "$z" "$pool" | sort)"
	frames keep r 0.1 queues=8 hold=4000000000
	check "change" tc -n sw qdisc change dev p2 root bfc rate 2mbit
	check "not drained" wait_for 30 drained sw p2
	equal "counters of n" "$(stat sw p1 counters)" 0
	all_are_free
	frames close
}
# with_packets: numbers of p2's queues that have some
with_packets() { tc -n sw -s class show dev p2 | tr -d '(,)' | awk '
	$1 == "class"	{ split($3, id, ":") }
	$1 == "backlog" && $3 + 0 { print id[2] }' | while read -r i; do echo $((0x$i - 1)); done; }
except() { printf '%s\n' {0..7} | grep -vxE "$z|$1" | paste -sd,; }
# all_but NOT 88S: an id for each queue but NOT, 88 for these and 77 for others
all_but() {
	local i ids=()
	for i in {0..7}; do
		[ "$i" = "$1" ] && continue
		[[ $i =~ ^($2)$ ]] && ids+=(88) || ids+=(77)
	done
	(IFS=,; echo "${ids[*]}")
}

# ---- a full link between two switches ----
#
#   p1 ... p3 --- sw1 x --- x sw2 y ----- y sw3 --- r	r has 24 more addresses; y is slow
#                             \-- v			v has four
#
# chain ASSIGN [ASSIGN OF SW2]
chain() {
	local i port
	for i in 1 2 3; do
		switch "sw$i"
	done
	host r 10.0.0.100/24
	host v 10.0.0.200/24
	for i in 1 2 3; do
		host "p$i" "10.0.0.$i/24"
		cable sw1 "p$i" "p$i" e0 rate 20mbit delay 100us ring 8
	done
	cable sw1 x sw2 x rate 20mbit delay 100us ring 8
	cable sw2 v v e0 rate 20mbit delay 100us ring 8
	cable sw2 y sw3 y rate 4mbit delay 100us ring 8
	cable sw3 r r e0 rate 20mbit delay 100us ring 8
	for port in "sw1 p1" "sw1 p2" "sw1 p3" "sw1 x" "sw3 y" "sw3 r"; do
		# shellcheck disable=SC2086
		bfc $port queues 16 $plenty assign "$1"
	done
	for port in x v y; do
		# shellcheck disable=SC2086
		bfc sw2 $port queues 16 $plenty assign "${2-$1}"
	done
	for port in p1 p2 p3 r v; do
		# shellcheck disable=SC2086
		bfc "$port" e0 role nic queues 64 $plenty assign "$1"
	done
	peers_up
	mac_r=$(mac r e0)
	for i in {1..24}; do
		ip -n r addr add "10.0.0.$((100 + i))/24" dev e0
	done
	for i in {201..203}; do
		ip -n v addr add "10.0.0.$i/24" dev e0
	done
	for i in 1 2 3; do
		for port in {200..203}; do
			meet "10.0.0.$port" "p$i"
		done
		for port in {1..24}; do
			echo "neigh replace 10.0.0.$((100 + port)) dev e0 lladdr $mac_r"
		done | ip -n "p$i" -batch -
	done
}

# beside: flows to all of r's addresses, and short ones to those of v: which of these find a queue by
# destination is chance; $p99: the latency of the short ones, us
beside() {
	local i a receiver senders=()
	for i in 1 2 3; do
		for a in {1..24}; do
			send "p$i" "10.0.0.$((100 + a))" 5000 -F $((100 * i + a)) -t 2 -r 400000
			senders+=("$bg")
		done
	done
	sleep 1
	receive v 5001 -n 360 -t 50 -i 20
	receiver=$bg
	for i in 1 2 3; do
		for a in {200..203}; do
			send "p$i" "10.0.0.$a" 5001 -f 10 -F $((10 * i)) -n 3 -s 500 -r 25000
			senders+=("$bg")
		done
	done
	finish "${senders[@]}" "$receiver"
	for i in 1 2 3; do
		check "p$i is not drained" wait_for 60 drained "p$i" e0
	done
	all_idle
	equal "packets to v" "$(received v 5001 .packets)" 360
	p99=$(received v 5001 '.p99_us | floor')
	say "$1: p99 to v $p99 us, of x $(stat sw1 x joined) joined, $(stat sw1 x learned) learned"
}

# Of 24 destinations behind y each holds a queue of x, or two, and v's flows wait behind
# paused ones; but not if sw2 tells that all of them wait for y. A switch that tells none
# leaves it as it was.
test_a_full_link() {
	local p99 mac_r by_root
	chain root
	beside root
	by_root=$p99
	at_least "joined" "$(stat sw1 x joined)" 10
	at_least "learned" "$(stat sw1 x learned)" 10
	equal "refused" "$(refused sw1 x)" 0
	clean_up
	chain destination
	beside destination
	equal "learned" "$(stat sw1 x learned)" 0
	clean_up
	at_least "times as long by destination" "$(calc "$p99 / $by_root")" 5
}

test_a_switch_that_does_not_know() {
	local p99 mac_r
	chain root destination
	beside "sw2 does not know"
	equal "learned" "$(stat sw1 x learned)" 0
	equal "refused" "$(sum_stat bad_short) $(sum_stat bad_range)" "0 0"
}

# Nothing is lost, reordered or left behind.
test_change_under_traffic() {
	local a i mac_r receiver senders=() ports=(
		"sw1 x" "sw2 y" "sw2 x" "sw1 p1" "sw1 p2"
	)
	chain root
	receive r 5000 -t 60 -i 5
	receiver=$bg
	for i in 1 2 3; do
		for a in {1..6}; do
			send "p$i" "10.0.0.$((100 + a))" 5000 -f 4 -F $((100 * i + 4 * a)) \
				-t 3 -r 400000
			senders+=("$bg")
		done
	done
	sleep 0.5
	for i in {1..10}; do
		for a in destination root dynamic root single root; do
			# shellcheck disable=SC2086
			check "$a" tc -n ${ports[i % 5]/ / qdisc change dev } root bfc \
				assign "$a"
			sleep 0.02
		done
	done
	finish "${senders[@]}" "$receiver"
	equal "lost" "$(received r 5000 .lost)" 0
	equal "reordered" "$(received r 5000 .reordered)" 0
	say "$(sum_stat joined) joined, $(sum_stat learned) learned"
	at_least "joined" "$(sum_stat joined)" 3
	at_least "learned" "$(sum_stat learned)" 10
	all_idle
	equal "counters" "$(sum_stat counters)" 0
	equal "drops" "$(sum_stat drops)" 0
}

run_tests what_is_told who_does_not_know refused shares a_switch_that_does_not_know \
	change_under_traffic a_pool_of_another_root -- a_full_link
