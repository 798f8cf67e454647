#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Tracepoints of sch_bfc: each one fires when it should, and tells what is so. Those of pauses are
# what latency.sh measures by.
#
#   h --ph-- sw --pn (index 901)-- n		n is made of Python, in the test of a storm
#
# The simulator's kernel has no tracing.

# shellcheck source=selftests/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"

tracing=/sys/kernel/tracing
buffer=$tracing/instances/bfc-$$

[ -d $tracing/events ] || mount -t tracefs tracefs $tracing 2>/dev/null
[ -d $tracing/events ] || skip_all "no tracefs"

# Numbers that no other device has: the events do not name namespaces.
port=901 far=902

# numbered NS PORT NS PORT: a cable whose ends have these numbers
numbered() {
	ip link add name "$2" index $port netns "$1" type wire "${default_link[@]}" \
		peer name "$4" index $far netns "$3" || fail "no cable"
	plug "$1" "$2"
	plug "$3" "$4"
}

line() {
	switch sw
	host h 10.0.0.1/24
	host n 10.0.0.2/24
	without_ipv6 sw h n
	cable sw ph h e0
	numbered sw pn n e0
	meet 10.0.0.2 h
}

# trace EVENT: from now on, of the port and of its neighbour
trace() {
	mkdir "$buffer"
	echo "ifindex == $port || ifindex == $far" >"$buffer/events/bfc/$1/filter"
	echo 1 >"$buffer/events/bfc/$1/enable"
}

# traced [IFINDEX]: what was, of the port: fields and values
traced() {
	sed -n "s/^[^#].* bfc_[a-z_]*: ifindex=${1:-$port} //p" "$buffer/trace"
}

trace_ends() {
	echo 0 >"$buffer/events/enable"
	rmdir "$buffer"
}

# probe KPROBE...: from now on, calls of these functions of the kernel
probe() {
	printf '%s\n' "$@" >"$tracing/kprobe_events" || fail "no kprobe"
	mkdir "$buffer"
	echo 1 >"$buffer/events/kprobes/enable"
}

probe_ends() {
	trace_ends
	echo >"$tracing/kprobe_events"
}

# values FIELD...: of each event that is read, on a line
values() {
	sed -E "$(printf 's/(^| )%s=/\\1=/;' "$@")"' s/[a-z_]+=[^ ]*//g; s/=//g; s/  +/ /g
		s/^ | $//g'
}

waiting() { [ "$(stat sw pn qlen)" = "$1" ]; }

# A packet of each of five flows: one leaves, the others wait.
assigned() {
	tc -n sw qdisc del dev pn root 2>/dev/null
	bfc sw pn queues "$1" peer off assign dynamic rate 8kbit
	trace bfc_assign
	send h 10.0.0.2 3000 -F 10 -f 5 -n 1
	finish "$bg"
	check "packets that wait: $(stat sw pn qlen)" wait_for 10 waiting 4
	# At once: the next one leaves within a second, and an emulated machine is slow.
	classes sw pn >"$scratch/classes"
	traced >"$scratch/assigned"
	trace_ends
	equal "$1 queues: events" "$(wc -l <"$scratch/assigned")" 5
	equal "$1 queues: assigned" "$(stat sw pn assigned)" 5
	# The first one's may be another's by then.
	equal "$1 queues: entries of the flow table of those that wait" \
		"$(tail -n 4 "$scratch/assigned" | values flow | sort -nu | wc -l)" 4
	at_most "$1 queues: the last one" \
		"$(values flow <"$scratch/assigned" | sort -n | tail -n 1)" $(($1 * 100 - 1))
	# Those that wait are where the event says.
	equal "$1 queues: the ones that hold packets" "$(awk '$6 > 0 { print $1 }' "$scratch/classes" |
		while read -r id; do echo $((0x$id - 1)); done | sort -n | tr '\n' ' ')" \
		"$(tail -n 4 "$scratch/assigned" | values queue | sort -nu | tr '\n' ' ')"
}

collisions() { values collision occupied <"$scratch/assigned" | tr '\n' ,; }

test_assign() {
	line
	assigned 8
	equal "collision, queues in use" "$(collisions)" "0 0,0 0,0 1,0 2,0 3,"
	assigned 2
	equal "collision, queues in use" "$(collisions)" "0 0,0 0,0 1,1 2,1 2,"
	equal "collisions" "$(stat sw pn collisions)" 2
}

# State, queues of the neighbour, whether it is tagged and whether its tags are taken off: what
# it was at last
peer_is() { [ "$(traced "$1" | tail -n 1)" = "$2" ]; }
peers() {
	check "$1: $(traced "$2" | tail -n 1)" wait_for 20 peer_is "$2" "$3"
}

test_peer() {
	host a 10.0.0.1/24
	host b 10.0.0.2/24
	numbered a e0 b e0
	trace bfc_peer
	bfc a e0 queues 16 hrtt 4ms
	bfc b e0 queues 24 hrtt 4ms
	peers_up
	peers "agreed, a" $port "state=3 queues=24 stamp=1 pop=1"
	peers "agreed, b" $far "state=3 queues=16 stamp=1 pop=1"
	# b's qdisc says BYE. It may have tagged what is on its way.
	tc -n b qdisc del dev e0 root
	peers "b has gone" $port "state=1 queues=0 stamp=0 pop=1"
	bfc b e0 queues 40 hrtt 4ms
	peers_up
	peers "b is back" $port "state=3 queues=40 stamp=1 pop=1"
	say "$(traced | wc -l) events of a"
	trace_ends
}

# One that goes on is ignored for twice the watchdog's time, and then for twice that.
test_storm() {
	line
	# Slow enough for packets to wait when the pause comes, which is for 17 s
	ip -n sw link set dev pn type wire rate 2mbit
	frames open n n e0
	bfc sw pn hrtt 6ms fc pfc prio dscp watchdog 200ms
	trace bfc_storm
	send h 10.0.0.2 3000 -r 400000 -T 96 -t 3
	sleep 0.2
	frames pfc n 8 65535
	wait_for 10 grep -q holdoff=8 "$buffer/trace" || fail "no event of a second one"
	finish "$bg"
	equal "the first events" "$(traced | head -n 3)" "$(printf 'prio=3 storm=%s\n' \
		"1 holdoff=400000000" "0 holdoff=400000000" "1 holdoff=800000000")"
	equal "events of storms" "$(traced | grep -c storm=1)" "$(stat sw pn storms)"
	equal "events of their ends" "$(traced | grep -c storm=0)" "$(stat sw pn restored)"
	trace_ends
}

# 2 x 20 Mbit/s to a port of 20: whenever the answer is looked for, the port's queue is predicted
# to be longer than the threshold.
test_fafc_solve() {
	local i left mode=(fc fafc hrtt 6ms thop 3ms threshold 60kb queues 128) receiver sent=()
	switch sw
	host n 10.0.0.100/24
	numbered sw pn n e0
	without_ipv6 sw n
	for i in 1 2; do
		host "s$i" "10.0.0.$i/24"
		without_ipv6 "s$i"
		cable sw "p$i" "s$i" e0
		bfc sw "p$i" "${mode[@]}"
		bfc "s$i" e0 role nic "${mode[@]}"
	done
	bfc sw pn "${mode[@]}" prio dscp
	for i in 1 2; do
		check "p$i has no neighbour" wait_for 20 peer_up sw "p$i"
	done
	meet 10.0.0.100 s1 s2
	trace bfc_fafc_solve
	receive n 5000 -t 60 -i 3
	receiver=$bg
	for i in 1 2; do
		send "s$i" 10.0.0.100 5000 -F "$i" -t 1 -T 64
		sent+=("$bg")
	done
	finish "${sent[@]}" "$receiver"
	traced >"$scratch/solved"
	trace_ends
	at_least "events" "$(wc -l <"$scratch/solved")" 5
	equal "events" "$(wc -l <"$scratch/solved")" "$(stat sw pn solved)"
	equal "priorities" "$(values prio <"$scratch/solved" | sort -u)" 2
	equal "ports, 1 or 2" "$(values ports <"$scratch/solved" | grep -cv '^[12]$')" 0
	equal "of both ports" "$(values ports <"$scratch/solved" | sort -n | tail -n 1)" 2
	at_least "bytes predicted, the least" "$(values predicted <"$scratch/solved" | sort -n |
		head -n 1)" 61440
	at_most "bytes predicted, the most" "$(values predicted <"$scratch/solved" | sort -n |
		tail -n 1)" 1000000
	# Less than a byte is told as none.
	left=$(values left <"$scratch/solved" | grep -cv '^0$')
	between "events with bytes left" "$left" "$(calc "$(stat sw pn unsolved) * 0.9")" \
		"$(stat sw pn unsolved)"
	say "$(wc -l <"$scratch/solved") events"
}

# walks: how often the devices on top of one were looked at
walks() { grep -c ' bfc_walk: ' "$buffer/trace"; }

# What any user may do in a namespace of his own costs packets of others nothing: what is on top of a
# port is looked at when that changes, and not for each packet that comes after it.
test_restacked() {
	local i
	line
	bfc sw ph hrtt 4ms
	bfc sw pn hrtt 4ms
	bfc h e0 role nic hrtt 4ms
	bfc n e0 role nic hrtt 4ms
	peers_up
	new_ns x
	probe 'p:bfc_walk netdev_walk_all_upper_dev_rcu'
	for ((i = 0; i < 20; i++)); do
		ip -n x link add x0 type dummy
		ip -n x link add link x0 name x0.5 type vlan id 5
		send h 10.0.0.2 3000 -F "$i" -n 20
		finish "$bg"
		ip -n x link del x0
	done
	at_least "packets" "$(stat sw pn packets)" 400
	equal "looks at what is on top" "$(walks)" 0
	ip -n sw link add link pn name pn.5 type vlan id 5
	at_least "looks at what is new" "$(walks)" 1
	probe_ends
}

# removals: ports removed in one hold of RTNL, of each hold
removals() {
	awk '/ bfc_unplug: / { n++ } / bfc_rtnl: / { if (n) print n; n = 0 }' "$buffer/trace"
}

# Any user may leave many ports behind in a namespace of his own. Each waits for grace periods, and
# nothing else can be configured while RTNL is held.
test_removed_in_parts() {
	local i
	new_ns x
	for ((i = 0; i < 40; i++)); do
		echo "link add d$i type dummy"
	done | ip -n x -batch -
	for ((i = 0; i < 40; i++)); do
		echo "qdisc add dev d$i root bfc rate 1gbit"
	done | tc -n x -batch -
	probe 'p:bfc_unplug bfc_port_unplug' 'p:bfc_rtnl rtnl_unlock'
	for ((i = 0; i < 40; i++)); do
		echo "qdisc del dev d$i root"
	done | tc -n x -batch -
	check "still ports" wait_for 20 removed 40
	at_most "ports removed at a time" "$(removals | sort -n | tail -n 1)" 16
	probe_ends
}

# removed N: so many ports have been
removed() { [ "$(removals | awk '{ n += $1 } END { print n + 0 }')" = "$1" ]; }

run_tests assign peer storm fafc_solve restacked removed_in_parts
