#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# A host sends what looks like the packets of another one's flow, or like packets to its
# destination, and goes somewhere else: it is another flow, and another destination.

# shellcheck source=selftests/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"

plenty="flows 100000 hrtt 4ms"
another=02:00:00:00:00:77	# a MAC address
victim='from=10.0.0.2 sport=7 to=10.0.0.100'
victim6='from=fd00::2 sport=7 to=fd00::100'

# ---- one port ----
#
#   s e0 --------- e0 r      the qdisc is on s, so slow that all waits

topology() {
	host s 10.0.0.1/24
	host r 10.0.0.100/24
	without_ipv6 s r
	cable s e0 r e0 rate 5mbit delay 100us ring 8
	mac_r=$(mac r e0)
	frames open s s e0
}

# fresh [OPTIONS]: a new qdisc, with all counters at zero
fresh() {
	tc -n s qdisc del dev e0 root 2>/dev/null
	# shellcheck disable=SC2086
	bfc s e0 rate 64kbit $plenty "$@"
}

# apart TEXT NUMBER FIELD=VALUE.../FIELD=VALUE...: these are so many flows
apart() {
	local text=$1 number=$2 one
	shift 2
	fresh queues 32
	for one in "$@"; do
		# shellcheck disable=SC2086
		frames udp s count=2 dst="$mac_r" $one
	done
	equal "$text: queues" "$(stat s e0 occupied)" "$number"
}

test_flows() {
	local mac_r v
	topology
	for v in "$victim" "$victim6"; do
		apart "$v" 1 "$v" "$v"
		apart "$v, MAC address" 2 "$v" "$v dst=$another"
		apart "$v, MAC address, slow path" 2 "$v options=1" "$v options=1 dst=$another"
		apart "$v, both paths" 2 "$v dst=$another" "$v options=1" "$v options=1 dst=$another"
		apart "$v, IPIP" 2 "$v" "$v wrap=ipip via=10.9.0.1"
		apart "$v, in IPv6" 2 "$v" "$v wrap=ipip via=fd00::9"
		apart "$v, GRE" 2 "$v" "$v wrap=gre via=10.9.0.1"
		apart "$v, GRE over IPv6" 2 "$v" "$v wrap=gre via=fd00::9"
		apart "$v, PPPoE" 2 "$v" "$v wrap=pppoe"
		apart "$v, batman-adv" 3 "$v" "$v wrap=batadv via=02:00:00:00:00:08" \
			"$v wrap=batadv via=02:00:00:00:00:09"
		apart "$v, tunnels" 6 "$v wrap=ipip via=10.9.0.1" "$v wrap=ipip via=10.9.0.2" \
			"$v wrap=gre via=fd00::8" "$v wrap=gre via=fd00::9" \
			"$v wrap=ipip via=a09:1::" "$v wrap=pppoe"
		apart "$v, tag" 2 "$v" "$v tags=8100:10"
		apart "$v, inner tag" 3 "$v tags=88a8:5,8100:10" "$v tags=88a8:5,8100:11" \
			"$v tags=88a8:5"
		apart "$v, tags the other way round" 2 "$v tags=88a8:5,8100:10" \
			"$v tags=88a8:10,8100:5"
		apart "$v, third tag" 2 "$v tags=88a8:5,8100:10,8100:1" \
			"$v tags=88a8:5,8100:10,8100:2"
	done
	# What a tunnel carries are as many flows as without it.
	for v in "wrap=ipip via=10.9.0.1" "wrap=gre via=fd00::9" "wrap=pppoe" \
		"wrap=batadv via=$another"; do
		apart "flows, $v" 4 "$victim $v" "$victim $v sport=8" "$victim6 $v" \
			"$victim6 $v sport=8"
		apart "one flow, $v" 1 "$victim $v" "$victim $v"
		apart "in VLANs, $v" 2 "$victim $v tags=88a8:5,8100:10" \
			"$victim $v tags=88a8:5,8100:11"
	done
	frames close
}

# An MPLS router forwards by the label: so many flows as labels. TTL and traffic class are no part
# of it.
test_labels() {
	local mac_r head zeroes label
	topology
	head=$(tr -d : <<<"$mac_r")0200000000018847
	zeroes=$(printf '%092d' 0)
	fresh queues 32
	for label in 00010140 00011140 00010740 0001013f; do
		frames raw s "$head$label$zeroes"
	done
	equal "queues" "$(stat s e0 occupied)" 2
	frames close
}

# told TEXT NUMBER FIELDS: of eight flows that differ by these, where @ is 1 to 8, so many
# had to share; of eight queues six are for any destination. $options: of the qdisc. It is a
# host's, where root may have all queues.
told() {
	local text=$1 number=$2 fields=$3 i
	# shellcheck disable=SC2086
	fresh role nic queues 8 $options
	for i in {1..8}; do
		# shellcheck disable=SC2086
		frames udp s count=2 dst="$mac_r" sport="$i" ${fields//@/$i}
	done
	equal "$text: told to share" "$(stat s e0 told_to_share)" "$number"
}

test_destinations() {
	local mac_r v options
	topology
	for options in "" "assign root"; do
		for v in "from=10.0.0.2 to=10.7.0.1" "from=fd00::2 to=fd00::7"; do
			told "$v" 2 "$v"
			told "$v, MAC addresses" 0 "$v dst=02:00:00:00:00:0@"
			told "$v, upper half" 0 "$v dst=0@:00:00:00:00:02"
			told "$v, inner tags" 0 "$v tags=88a8:5,8100:1@"
			told "$v, outer tags" 0 "$v tags=88a8:1@,8100:5"
			told "$v, the same tags" 2 "$v tags=88a8:5,8100:10"
		done
	done
	# A router's neighbours are told apart by their MAC address, what is behind one by address.
	options=""
	told "behind a router" 0 "from=10.0.0.2 to=10.7.0.1@"
	# A prefix is what is behind one router: the MAC address is no part of it.
	options="dst-prefix 24 dst-prefix6 64"
	told "/24" 2 "from=10.0.0.2 to=10.7.0.1@ dst=02:00:00:00:00:0@"
	told "/64" 2 "from=fd00::2 to=fd00::7@ dst=02:00:00:00:00:0@"
	frames close
}

# What the neighbour says of packets to a MAC address is not learned of another that has the
# same IP address.
test_root() {
	local mac_r
	topology
	frames open r r e0
	fresh queues 8 assign root peer on role nic sticky 1ms
	# shellcheck disable=SC2086
	frames udp s count=2 dst="$another" $victim
	frames keep r 0.1 queues=8 roots=77,77,77,77,77,77,77,77 bits=0,1,2,3,4,5,6,7 \
		hold=4000000000
	sleep 0.3
	equal "paused" "$(stat s e0 paused)" 8
	frames keep r 0.1 queues=8 hold=4000000000 roots=77 bits="$(classes s e0 |
		awk '$6 { printf "%s%d", sep, n } { n++ }')"
	sleep 0.3
	equal "paused" "$(stat s e0 paused)" 1
	frames udp s span=5 count=2 dst="$mac_r" from=10.6.0.1 to=10.6.1.1
	equal "queues" "$(stat s e0 occupied)" 6
	# shellcheck disable=SC2086
	frames udp s count=2 dst="$another" $victim sport=8
	equal "told to share, of the same MAC address" "$(stat s e0 told_to_share)" 1
	# shellcheck disable=SC2086
	frames udp s count=2 dst="$mac_r" $victim sport=9
	equal "told to share, of another one" "$(stat s e0 told_to_share)" 1
	frames keep r 0
	frames close
}

# ---- two hosts ----

# a's packets go through x0 (behind_ports), to a MAC address of its own choice.
test_beside_a_host() {
	local mac_r
	behind_ports 8 64kbit a b
	bridge -n sw fdb add "$another" dev x0 master static
	# shellcheck disable=SC2086
	{
		frames udp b count=5 dst="$mac_r" $victim
		frames udp a count=5 dst="$another" $victim
		sleep 0.1
		equal "queues, one flow of each host" "$(stat sw x0 occupied)" 2
		# b's very flow, to where that goes
		frames udp a count=5 dst="$mac_r" $victim
		sleep 0.1
		equal "queues, and b's flow from a" "$(stat sw x0 occupied)" 2
		frames udp a count=5 dst="$mac_r" wrap=ipip via=10.9.0.1 $victim
		sleep 0.1
		equal "queues, and IPIP" "$(stat sw x0 occupied)" 3
		# Of what came in, the first tag is in metadata.
		frames udp b count=5 dst="$mac_r" tags=88a8:5,8100:10 $victim
		frames udp a count=5 dst="$mac_r" tags=88a8:5,8100:11 $victim
		sleep 0.1
		equal "queues, and two inner VLANs" "$(stat sw x0 occupied)" 5
	}
	frames close
}

# All of a's many flows to b's destination, by its IP address, wait for another host. b's has a
# queue.
test_destination_of_another() {
	local mac_r collisions
	behind_ports 8 64kbit a b
	bridge -n sw fdb add "$another" dev x0 master static
	frames udp a span=40 along=sport sport=1 from=10.0.0.1 to=10.7.0.1 dst="$another"
	sleep 0.2
	collisions=$(stat sw x0 collisions)
	frames udp b from=10.0.0.2 to=10.7.0.1 dst="$mac_r"
	sleep 0.1
	equal "collisions of b" "$(($(stat sw x0 collisions) - collisions))" 0
	frames close
}

#   a e0 --- pa \                 / m0 --- e0 m	256 kbit/s
#                sw1 x --- x sw2
#   b e0 --- pb /                 \ d0 --- e0 d
#
# sw2 is a bridge, or a router: of the first host's /24, m's, d's.
#
# behind_a_slow_host KIND
behind_a_slow_host() {
	local name
	switch sw1
	host a 10.0.0.1/24
	host b 10.0.0.2/24
	if [ "$1" = bridge ]; then
		switch sw2
		host m 10.0.0.3/24
		host d 10.0.0.4/24
	else
		new_ns sw2
		in_ns sw2 sysctl -qw net.ipv4.ip_forward=1
		host m 10.0.3.2/24
		host d 10.0.4.2/24
	fi
	without_ipv6 sw1 sw2 a b m d
	cable sw1 pa a e0
	cable sw1 pb b e0
	cable sw1 x sw2 x
	cable sw2 m0 m e0
	cable sw2 d0 d e0
	if [ "$1" = router ]; then
		ip -n sw2 -batch - <<-END
			addr add 10.0.0.254/24 dev x
			addr add 10.0.3.1/24 dev m0
			addr add 10.0.4.1/24 dev d0
		END
		meet 10.0.3.2 sw2
		meet 10.0.4.2 sw2
	fi
	for name in "sw1 pa" "sw1 pb" "sw1 x" "sw2 x" "sw2 m0 rate 256kbit" "sw2 d0"; do
		# shellcheck disable=SC2086
		bfc $name $plenty
	done
	check "x is not up" wait_for 10 peer_up sw1 x
	for name in a b d; do
		frames open $name $name e0
	done
}

# idle_host TEXT TO DST FIELDS...: a packet of b to this address comes within 0.3 s although those
# of a, with these fields, wait for m
idle_host() {
	local text=$1 to=$2 dst=$3
	shift 3
	frames udp a from=10.0.0.2 sport=7 to="$to" count=100 "$@"
	check "$text: nothing of a waits" wait_for 3 waits_at_sw1
	frames clear d
	frames udp b from=10.0.0.2 sport=7 to="$to" dst="$dst" size=100
	sleep 0.3
	frames seen d sport=7
	equal "$text: packets that came at once" "$(answered length)" 1
	check "$text: a's have left" wait_for 30 drained sw2 m0
	check "$text: a's have left" wait_for 30 drained sw1 x
}
waits_at_sw1() { [ "$(stat sw1 x paused)" -gt 0 ] && [ "$(stat sw1 x qlen)" -gt 2 ]; }

test_idle_host_behind_a_bridge() {
	local mac_d mac_m
	behind_a_slow_host bridge
	mac_d=$(mac d e0) mac_m=$(mac m e0)
	meet 10.0.0.4 b
	meet 10.0.0.3 a
	idle_host "MAC address" 10.0.0.4 "$mac_d" dst="$mac_m"
	idle_host "PPPoE" 10.0.0.4 "$mac_d" dst="$mac_m" wrap=pppoe
	frames close
}

test_idle_host_behind_a_router() {
	local mac_x
	behind_a_slow_host router
	mac_x=$(mac sw2 x)
	idle_host "IPIP" 10.0.4.2 "$mac_x" dst="$mac_x" wrap=ipip via=10.0.3.2
	idle_host "GRE" 10.0.4.2 "$mac_x" dst="$mac_x" wrap=gre via=10.0.3.2
	frames close
}

run_tests flows labels destinations root beside_a_host destination_of_another \
	idle_host_behind_a_bridge idle_host_behind_a_router
