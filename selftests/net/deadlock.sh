#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Deadlock (BFC App. B): three switches in a ring, each of which is paused by the next.
# With the lists that "bfcctl topology" prints for this ring nothing is.
#
#          h1                h2
#           | p            p |
#          s1 --x------>--y s2
#            y             x
#             \           /
#              ^         v
#               x       y
#                 s3 --p-- h3
#
# Routers. All packets go round clockwise, two cables of the ring far: h1 to h3, h2 to h1,
# h3 to h2; each cable is to carry the packets of two hosts. 40 flows of each host share
# four queues, so that a queue that is paused for the sake of flows that go on holds
# flows, too, which would leave at the next switch.

# shellcheck source=selftests/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"

PATH=$top/build/bpf:$PATH
flows=40 packets=30
host_options=(role nic queues 128 hrtt 4ms watchdog off)

# of the cables that begin at s1, s2 and s3
rate=('' 20mbit 20mbit 20mbit)

# router N: s<N>, whose own host is h<N>
router() {
	new_ns "s$1"
	in_ns "s$1" sysctl -qw net.ipv4.ip_forward=1
	host "h$1" "10.0.$1.2/24"
	cable "s$1" p "h$1" e0
	ip -n "s$1" addr add "10.0.$1.1/24" dev p
	ip -n "h$1" route add default via "10.0.$1.1"
}

# ring OPTIONS...: of bfc, at the switches
ring() {
	local n next last
	for n in 1 2 3; do
		router "$n"
	done
	for n in 1 2 3; do
		next=$((n % 3 + 1))
		cable "s$n" x "s$next" y rate "${rate[n]}" delay 100us ring 8
		ip -n "s$n" addr add "10.1.$n.1/24" dev x
		ip -n "s$next" addr add "10.1.$n.2/24" dev y
	done
	for n in 1 2 3; do
		next=$((n % 3 + 1)) last=$((next % 3 + 1))
		ip -n "s$n" route add "10.0.$next.0/24" via "10.1.$n.2"
		ip -n "s$n" route add "10.0.$last.0/24" via "10.1.$n.2"
		bfc "s$n" x "$@"
		bfc "s$n" y "$@"
		bfc "s$n" p "$@"
		bfc "h$n" e0 "${host_options[@]}"
	done
	# PFC does without an agreement.
	[ "$2" = pfc ] || peers_up
	for n in 1 2 3; do
		meet "10.0.$(((n + 1) % 3 + 1)).2" "h$n"
	done
}

# as_told LINE...: what bfcctl prints for each switch of the ring is run there; elided
# has the turns then
as_told() {
	local n lines
	{
		echo "switch s1 s2 s3"
		echo "host h1 h2 h3"
		for n in 1 2 3; do
			echo "link s$n:x s$((n % 3 + 1)):y"
			echo "link s$n:p h$n:e0"
		done
		printf '%s\n' "$@"
	} >"$scratch/ring"
	elided=''
	for n in 1 2 3; do
		lines=$(ctl topology "$scratch/ring" box "s$n")
		check "s$n: $lines" in_ns "s$n" bash -e -c "$lines"
		elided+=$(awk -v box="s$n" '$NF != "none" { print box, $NF "-" $5 ";" }' \
			<<<"$lines")
	done
}

# all_go: each host sends what it has; until the senders have ended, or two seconds later
all_go() {
	local n
	receivers=() senders=()
	for n in 1 2 3; do
		receive "h$n" 5000 -t 50 -i 8
		receivers+=("$bg")
	done
	for n in 1 2 3; do
		send "h$n" "10.0.$(((n + 1) % 3 + 1)).2" 5000 -f "$flows" -n "$packets"
		senders+=("$bg")
	done
}

# progress: packets that the switches have sent around the ring so far; PAUSE frames and
# the like are not among them
progress() {
	local n
	for n in 1 2 3; do
		classes "s$n" x
	done | awk '{ sum += $3 } END { print sum + 0 }'
}

# stand_still: every port of the ring has packets and sends none
stand_still() {
	local n before
	before=$(progress)
	sleep 0.3
	[ "$(progress)" = "$before" ] || return 1
	for n in 1 2 3; do
		[ "$(stat "s$n" x backlog)" -gt 0 ] || return 1
	done
}

# stuck: for seconds, with all queues of the ring paused
stuck() {
	local n before
	check "no deadlock" wait_for 10 stand_still || return
	before=$(progress)
	sleep 3
	equal "sent in 3 s" "$(($(progress) - before))" 0
	for n in 1 2 3; do
		equal "queues paused at s$n" "$(stat "s$n" x paused)" 4
	done
	say "$before of $((6 * flows * packets)) sent round, then none"
}

# all_come: everything is sent and has arrived, but for what was dropped
all_come() {
	local n sum=0 dropped
	finish "${senders[@]}" "${receivers[@]}"
	for n in 1 2 3; do
		sum=$((sum + $(received "h$n" 5000 .packets)))
	done
	dropped=$(sum_stat drops)
	equal "arrived or dropped" $((sum + dropped)) $((3 * flows * packets))
	at_least "arrived" "$sum" $((2 * flows * packets))
	all_idle
	say "$dropped dropped"
}

# mended: a watchdog lets everything go
mended() {
	local n
	for n in 1 2 3; do
		tc -n "s$n" qdisc change dev x root bfc watchdog 100ms
	done
	all_come
	at_least "storms" "$(sum_stat storms)" 1
}

# flows_on: nothing stands still, without any watchdog, and what is elided is in use
flows_on() {
	all_go
	all_come
	at_least "packets elided" "$(sum_stat elided)" 10
	say "elided at $elided"
}

bfc_ring=(fc bfc queues 4 assign dynamic hrtt 4ms watchdog off)

test_bfc() {
	ring "${bfc_ring[@]}"
	all_go
	stuck
	mended
}

test_bfc_as_told() {
	ring "${bfc_ring[@]}"
	as_told
	equal "turns" "$(grep -o ';' <<<"$elided" | wc -l)" 2
	flows_on
}

# The routes are listed, none of them the other way round: one turn does.
test_bfc_routes_told() {
	ring "${bfc_ring[@]}"
	as_told "path h1 s1 s2 s3 h3" "path h2 s2 s3 s1 h1" "path h3 s3 s1 s2 h2"
	equal "turns" "$(grep -o ';' <<<"$elided" | wc -l)" 1
	flows_on
}

# The same number of turns, all the other way round, does not help.
test_bfc_other_turns() {
	local n
	ring "${bfc_ring[@]}"
	for n in 1 2 3; do
		tc -n "s$n" qdisc change dev y root bfc elide x
	done
	all_go
	stuck
	equal "elided" "$(sum_stat elided)" 0
	mended
}

# PFC: a port is paused for each that leads there.
pfc_ring=(fc pfc hrtt 4ms watchdog off)

test_pfc() {
	local host_options=(fc pfc role nic hrtt 4ms watchdog off)
	ring "${pfc_ring[@]}"
	all_go
	stuck
	mended
}

test_pfc_as_told() {
	local host_options=(fc pfc role nic hrtt 4ms watchdog off)
	ring "${pfc_ring[@]}"
	as_told
	flows_on
}

# What is lost where too much is elided for what leaves there, and there alone
test_dropped_at_turns() {
	local all here rate=('' 5mbit 20mbit 20mbit)
	local host_options=(role nic queues 4 hrtt 4ms watchdog off)
	ring "${bfc_ring[@]}" limit 500kb
	as_told
	packets=60 all_go
	packets=60 all_come
	all=$(sum_stat drops) here=$(stat s1 x drops)
	at_least "dropped" "$all" 10
	equal "dropped at s1, where y-x is elided" "$here" "$all"
}

run_tests dropped_at_turns pfc pfc_as_told bfc bfc_as_told bfc_routes_told bfc_other_turns
