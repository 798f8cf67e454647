#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Partial deployment (BFC §5, App. A.8): hosts without BFC, islands that plain switches
# join, a network that gets BFC port by port while it is in use.
#
#   h1 --p1-\                                  /-- r
#            sw1 --e-->--w-- sw2 --e-->--w-- sw3
#   h2 --p2-/                 \--p4-- h4       \-- h3
#
# All links 20 Mbit/s.

# shellcheck source=selftests/lib.sh disable=SC2086
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"

ports=("sw1 p1" "sw1 p2" "sw1 e" "sw2 w" "sw2 e" "sw2 p4" "sw3 w" "sw3 p3" "sw3 r0")
hosts=("h1 e0" "h2 e0" "h3 e0" "h4 e0" "r e0")

topology() {
	local i at
	switch sw1
	switch sw2
	switch sw3
	for i in 1 2 3 4; do
		host "h$i" "10.0.0.$i/24"
	done
	host r 10.0.0.100/24
	cable sw1 p1 h1 e0
	cable sw1 p2 h2 e0
	cable sw1 e sw2 w
	cable sw2 p4 h4 e0
	cable sw2 e sw3 w
	cable sw3 p3 h3 e0
	cable sw3 r0 r e0
	for at in "${ports[@]}" "${hosts[@]}"; do
		plain ${at}
	done
}

# plain NS PORT: as before BFC
plain() { tc -n "$1" qdisc replace dev "$2" root pfifo limit 1000; }

with_bfc() { bfc "$1" "$2" hrtt 4ms; }
host_bfc() { bfc "$1" "$2" role nic queues 128 hrtt 4ms; }

switches_bfc() {
	local at
	for at in "${ports[@]}"; do
		with_bfc ${at}
	done
}

all_bfc() {
	local at
	switches_bfc
	for at in "${hosts[@]}"; do
		host_bfc ${at}
	done
}

state() { stat "$1" "$2" peer_state; }
up() { check "$1 $2 is $(state "$1" "$2"), not up" wait_for 15 peer_up "$1" "$2"; }

# capture NS PORT; then "tagged NS PORT" ends it and counts frames with a tag, "hellos NS PORT"
# those of BFC's EtherType
declare -A capturing
capture() {
	ip netns exec "$1" tcpdump -i "$2" -n -U -s 64 -Z root \
		-w "$scratch/$1.$2.pcap" 2>/dev/null &
	capturing["$1 $2"]=$!
	pids+=("$!")
	check "tcpdump does not start" wait_for 10 test -s "$scratch/$1.$2.pcap"
}
end_capture() {
	sleep 1.5	# frames wait in a buffer for a second at most
	kill "${capturing["$1 $2"]}"
	wait "${capturing["$1 $2"]}" 2>/dev/null
}
seen() { tcpdump -n -e -r "$scratch/$1.$2.pcap" 2>/dev/null | grep -cE "$3"; }
tagged() { seen "$1" "$2" '802\.1Q|vlan'; }
hellos() { seen "$1" "$2" '0x88b5'; }

# ---- hosts without BFC ----

# peak: most that sw3's port to r has held
peak() { stat sw3 r0 backlog_peak; }

# tcp_send NS BYTES PORT: to r
tcp_send() {
	background in_ns "$1" bash -c "exec head -c $2 /dev/zero >/dev/tcp/10.0.0.100/$3"
}

# tcp_incast: eight connections to r, four each from h1 and h2
tcp_incast() {
	local i clients=()
	for i in 1 2 3 4 5 6 7 8; do
		ip netns exec r busybox nc -l -p $((7000 + i)) </dev/null \
			>"$scratch/tcp.$i" &
		clients+=("$!")
		pids+=("$!")
		check "no listener" wait_for 5 tcp_listens r $((7000 + i))
	done
	for i in 1 2 3 4 5 6 7 8; do
		tcp_send "h$((1 + i % 2))" 500000 $((7000 + i))
	done
	finish "${clients[@]}"
	for i in 1 2 3 4 5 6 7 8; do
		equal "bytes of connection $i" "$(stat_size "$scratch/tcp.$i")" 500000
	done
}
stat_size() { wc -c <"$1"; }

# A cap of one BDP bounds what hosts that obey no pause have in the switches: 20 Mbit/s take
# 8 full segments in the 5 ms that they need to cross four links and for the ACK to come
# back. What a switch holds of them is that for each flow at most; without it TCP fills what
# there is. What a receiver offers is the cap.
test_hosts_at_one_bdp() {
	local cap=$((8 * 1448)) frames=$((8 * 8 * 1514)) free capped rmem
	topology
	switches_bfc
	up sw1 e
	up sw3 w
	meet 10.0.0.100 h1 h2
	rmem=$(in_ns r sysctl -n net.ipv4.tcp_rmem)
	in_ns r sysctl -qw net.ipv4.tcp_rmem="4096 $((2 * cap)) $((2 * cap))"
	tcp_incast
	capped=$(stat sw1 e backlog_peak)
	say "capped: first switch holds $capped bytes, last $(peak)"
	at_most "bytes in the first switch" "$capped" $frames
	at_most "bytes in the last switch" "$(peak)" $frames
	equal "dropped by bfc" "$(sum_stat drops)" 0
	equal "state towards a plain host" "$(state sw1 p1)" searching
	in_ns r sysctl -qw net.ipv4.tcp_rmem="$rmem"
	tcp_incast
	free=$(stat sw1 e backlog_peak)
	say "without: first switch $free bytes"
	at_least "bytes in the first switch" "$free" $((2 * frames))
	all_idle
}

# Between the switches BFC works although no host has it: what r's port is too slow for waits
# at sw1, as far back as it gets, and none of it is dropped.
test_switches_alone() {
	topology
	switches_bfc
	up sw1 e
	up sw2 e
	meet 10.0.0.100 h1 h3
	capture h1 e0
	capture r e0
	receive r 5000 -t 30 -i 3
	receivers=("$bg")
	send h1 10.0.0.100 5000 -F 1 -t 2
	send h3 10.0.0.100 5000 -F 3 -t 2
	finish "${receivers[@]}"
	at_least "pauses from sw3 to sw2" "$(stat sw2 e pause_rx)" 1
	at_least "pauses from sw2 to sw1" "$(stat sw1 e pause_rx)" 1
	equal "pauses towards a host" "$(stat sw1 p1 pause_tx)" 0
	equal "dropped by bfc" "$(sum_stat drops)" 0
	end_capture h1 e0
	end_capture r e0
	equal "tags at hosts" "$(tagged h1 e0) $(tagged r e0)" "0 0"
	at_least "the HELLOs that a host gets instead" "$(hellos r e0)" 1
	all_idle
}

# ---- islands ----

# sw1 and its hosts, sw3 and its hosts; sw2 in the middle forwards no HELLO.
test_islands() {
	local at
	topology
	for at in "sw1 p1" "sw1 p2" "sw1 e" "sw3 w" "sw3 p3" "sw3 r0"; do
		with_bfc ${at}
	done
	for at in "h1 e0" "h2 e0" "h3 e0" "r e0"; do
		host_bfc ${at}
	done
	up h1 e0
	up h3 e0
	meet 10.0.0.100 h1 h2 h3
	capture sw2 w
	capture sw3 w
	capture h4 e0
	receive r 5000 -t 30 -i 3
	receivers=("$bg")
	receive h4 5000 -t 30 -i 3
	receivers+=("$bg")
	for at in 1 2 3; do
		send "h$at" 10.0.0.100 5000 -F "$at" -t 2 -r 5000000
	done
	send h1 10.0.0.4 5000 -F 9 -t 2 -r 2000000
	finish "${receivers[@]}"
	equal "states" "$(state sw1 e) $(state sw3 w)" "searching searching"
	end_capture sw2 w
	end_capture sw3 w
	end_capture h4 e0
	equal "tags at the plain switch" "$(tagged sw2 w)" 0
	equal "tags behind it" "$(tagged sw3 w) $(tagged h4 e0)" "0 0"
	at_least "HELLOs at the plain switch" "$(hellos sw2 w)" 1
	equal "HELLOs behind it" "$(seen sw3 w "$(mac sw1 e).*0x88b5")" 0
	equal "HELLOs at its hosts" "$(hellos h4 e0)" 0
	equal "lost" "$(received r 5000 .lost)" 0
	# Each island has its own backpressure: two hosts are too much for sw1's port.
	receive r 6000 -t 30 -i 3
	receivers=("$bg")
	send h1 10.0.0.100 6000 -F 1 -t 2
	send h2 10.0.0.100 6000 -F 2 -t 2
	finish "${receivers[@]}"
	at_least "pauses of h1" "$(stat h1 e0 pause_rx)" 1
	at_least "pauses of h2" "$(stat h2 e0 pause_rx)" 1
	equal "dropped by bfc" "$(sum_stat drops)" 0
	equal "lost" "$(received r 6000 .lost)" 0
	all_idle
}

# A switch that has been told to forward these frames makes two islands neighbours, and what
# hangs on it gets tags: with a third one that speaks BFC they find out, and are off.
test_a_switch_that_forwards_hello() {
	topology
	in_ns sw2 sh -c 'echo 0x4000 >/sys/class/net/br0/bridge/group_fwd_mask'
	with_bfc sw1 e
	with_bfc sw3 w
	up sw1 e
	host_bfc h4 e0
	check "three on one link are not off" wait_for 15 all_in_conflict
}
all_in_conflict() { [ "$(state sw1 e) $(state sw3 w)" = "conflict conflict" ]; }

# ---- upgrade ----

# lost_by COMMAND...: of 1000 packets/s that cross all switches, those that went when it ran
lost_by() {
	receive r 5000 -t 30 -i 2
	local receiver=$bg
	send h1 10.0.0.100 5000 -F 1 -n 1000 -r 8000000
	local sender=$bg
	sleep 0.4
	"$@"
	finish "$sender" "$receiver"
	lost=$((1000 - $(received r 5000 .packets)))
}

# The bytes of a connection that sends some each 0.1 s, until $scratch/enough is there
trickle() {
	local n=0
	exec >/dev/tcp/10.0.0.100/7000
	until [ -e "$scratch/enough" ]; do
		head -c 10000 /dev/zero || return
		sleep 0.1
		((++n))
	done
	echo $((n * 10000)) >"$scratch/trickled"
}

# Port by port, in an order in which BFC and plain ports are next to each other in all ways.
# What a replacement loses is the kernel's: any qdisc takes a device out of use for a grace
# period, and drops what the old one holds. That is nothing at 44 % load, and where time stands
# still meanwhile one packet at most comes; none at a port that the packets do not leave through.
# bfc drops nothing, and nothing is lost after it.
test_hop_by_hop() {
	local at all=0 order
	order=("sw3 r0" "sw1 e" "sw2 e" "sw3 w" "sw2 w" "sw1 p1" "sw2 p4" "sw1 p2" "sw3 p3")
	topology
	meet 10.0.0.100 h1 h2 h3
	meet 10.0.0.4 h2
	# All the time: a connection, which may not break, and packets that must not be tagged.
	ip netns exec r busybox nc -l -p 7000 </dev/null >"$scratch/tcp" &
	local server=$!
	pids+=("$server")
	check "no listener" wait_for 5 tcp_listens r 7000
	background ip netns exec h2 bash -c "scratch=$scratch; $(declare -f trickle); trickle"
	local client=$bg
	capture h4 e0
	lost_by plain sw2 e
	say "pfifo by pfifo: $lost lost"
	local kernel=$lost
	for at in "${order[@]}"; do
		lost_by with_bfc ${at}
		say "$at: $lost"
		all=$((all + lost))
		if [[ " sw1 e sw2 e sw3 r0 " != *" $at "* ]]; then
			equal "lost when $at was replaced" "$lost" 0
		elif simulated; then
			at_most "lost when $at was replaced" "$lost" 1
		fi
		equal "dropped by bfc" "$(sum_stat drops)" 0
		# Nothing goes missing once it is there.
		lost_by true
		equal "lost after $at" "$lost" 0
	done
	for at in "${hosts[@]}"; do
		host_bfc ${at}
	done
	peers_up
	say "all: $all, by pfifo $kernel a port"
	lost_by true
	equal "lost when all have BFC" "$lost" 0
	check "the connection is broken" kill -0 "$client"
	touch "$scratch/enough"
	finish "$client" "$server"
	equal "bytes of the connection" "$(stat_size "$scratch/tcp")" "$(cat "$scratch/trickled")"
	# Now an overload is none: h1 and h3 to r.
	receive r 6000 -t 30 -i 3
	receivers=("$bg")
	send h1 10.0.0.100 6000 -F 1 -t 2
	send h3 10.0.0.100 6000 -F 3 -t 2
	finish "${receivers[@]}"
	equal "lost of an overload" "$(received r 6000 .lost)" 0
	at_least "pauses of h1" "$(stat h1 e0 pause_rx)" 1
	equal "dropped by bfc" "$(sum_stat drops)" 0
	end_capture h4 e0
	all_idle
}

# A port with a backlog loses that when its qdisc is replaced, and no more: two hosts are too
# much for it, and go on as before.
test_replace_loses_the_backlog() {
	local held
	topology
	all_bfc
	peers_up
	meet 10.0.0.100 h1 h2
	receive r 5000 -t 30 -i 3
	receivers=("$bg")
	send h1 10.0.0.100 5000 -f 2 -F 10 -t 2
	send h2 10.0.0.100 5000 -f 2 -F 20 -t 2
	sleep 1
	held=$(stat sw1 e qlen)
	check "another one" tc -n sw1 qdisc replace dev e root handle 77: bfc hrtt 4ms queues 16
	sleep 0.5
	at_least "pauses of h1 by the new one" "$(stat h1 e0 pause_rx)" 1
	finish "${receivers[@]}"
	lost=$(received r 5000 .lost)
	say "$held packets held, $lost lost"
	at_least "packets held" "$held" 4
	# As many may have come while tc was at it.
	at_most "packets lost" "$lost" $((2 * held))
	equal "dropped by bfc" "$(sum_stat drops)" 0
	all_idle
}

# upgrade: the module is replaced on all ports while they are in use, as deployment.md has it
upgrade() {
	local at
	for at in "${ports[@]}" "${hosts[@]}"; do
		tc -n ${at% *} qdisc del dev ${at#* } root
	done
	# The last references go with RCU.
	check "rmmod" wait_for 5 rmmod sch_bfc
	check "modprobe" modprobe sch_bfc
	all_bfc
}

# Ports that stand in no backlog lose next to nothing; one before a bottleneck what it holds,
# and what a queue of the kernel's has no room for until all have BFC again.
test_upgrade() {
	local held most
	topology
	all_bfc
	peers_up
	meet 10.0.0.100 h1 h2
	lost_by upgrade
	say "at 40 % load $lost of 1000 lost"
	# Where it takes no time: those that come to one of the four ports on the way at that moment
	at_most "packets lost" "$lost" "$(simulated && echo 4 || echo 20)"
	peers_up
	lost_by true
	equal "lost after it" "$lost" 0

	receive r 6000 -t 30 -i 3
	receivers=("$bg")
	send h1 10.0.0.100 6000 -f 2 -F 10 -t 4
	send h2 10.0.0.100 6000 -f 2 -F 20 -t 4
	sleep 1
	held=$(sum_stat qlen)
	upgrade
	finish "${receivers[@]}"
	lost=$(received r 6000 .lost)
	# Twice what the link carries
	most=$(($(received r 6000 .packets) + held))
	# Where it takes no time: what the ports held, once with the old qdisc and once, since the
	# sockets' buffers were emptied, with the kernel's; and what each of two senders writes to a
	# port that is out of use, until udpflow rests for longer than that (UNBLOCKED_MAX). In the
	# three seconds after that there are pauses again.
	simulated && most=$((2 * held + 2 * 1002))
	at_most "packets lost of an overload" "$lost" $most
	at_least "pauses of h1 after it" "$(stat h1 e0 pause_rx)" 1
	at_least "pauses of h2 after it" "$(stat h2 e0 pause_rx)" 1
	say "overload: $held held by all ports, $lost of $(received r 6000 '.packets + .lost') lost"
	peers_up
	equal "dropped by bfc" "$(sum_stat drops)" 0
	all_idle
}

lost=0
receivers=()
run_tests hosts_at_one_bdp switches_alone islands a_switch_that_forwards_hello hop_by_hop \
	replace_loses_the_backlog upgrade
