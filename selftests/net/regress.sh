#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# One test for each bug that reviews and other tests have found.
#
#   a (e0) --- (e0) b		two hosts, a plain link
#
#   s ---> (p1) sw (r0) ---> r	one congested egress; p1 and r0 are its ports

# shellcheck source=selftests/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"

pair() {
	host a 10.0.0.1/24
	host b 10.0.0.2/24
	cable a e0 b e0
}

# one_switch [RATE]: of the egress
one_switch() {
	switch sw
	host s 10.0.0.1/24
	host r 10.0.0.2/24
	cable s e0 sw p1 rate 50mbit delay 100us ring 8
	cable sw r0 r e0 rate "${1-5mbit}" delay 100us ring 8
}

rx_packets() {
	ip -n "$1" -s -j link show dev "$2" | jq '.[0].stats64.rx.packets'
}

# The pop threw the customer's own tag away: frames of VLAN 10 came in untagged.
test_customer_vlan_survives() {
	local ns
	pair
	for ns in a b; do
		ip -n "$ns" link add link e0 name e0.10 type vlan id 10
		ip -n "$ns" link set e0.10 up
	done
	ip -n a addr add 10.1.0.1/24 dev e0.10
	ip -n b addr add 10.1.0.2/24 dev e0.10
	bfc a e0
	bfc b e0
	peers_up
	in_ns a ping -q -c 10 -i 0.05 -w 10 10.1.0.2 >/dev/null
	at_least "packets that reached the VLAN device" "$(rx_packets b e0.10)" 10
	at_least "tagged" "$(stat a e0 tagged_tx)" 10
}

# A count held at one egress pointed at an ingress port that was gone.
test_ingress_port_vanishes() {
	local sender receiver
	one_switch 1mbit
	bfc sw p1 hrtt 4ms
	bfc sw r0 hrtt 4ms
	bfc s e0 role nic hrtt 4ms
	bfc r e0 role nic
	peers_up
	meet 10.0.0.2 s
	receive r 5000 -t 60 -i 60
	receiver=$bg
	send s 10.0.0.2 5000 -f 4 -t 60
	sender=$bg
	check "nothing was counted" wait_for 10 counted sw r0
	check "no packets wait" wait_for 5 waiting sw r0
	ip -n sw link del p1
	check "packets still wait" wait_for 10 drained sw r0
	kill "$sender" "$receiver" 2>/dev/null
	all_idle
}

counted() { [ "$(stat "$1" "$2" counted)" -gt 20 ]; }
waiting() { [ "$(stat "$1" "$2" backlog)" -gt 0 ]; }

# BYE was sent into the noop qdisc of a device between two qdiscs.
test_bye_arrives() {
	pair
	bfc a e0
	bfc b e0
	peers_up
	tc -n a qdisc del dev e0 root
	check "b has not noticed within a second" wait_for 1 peer_not_up b e0
}

# A two-gigabyte MTU made the quantum negative, and DRR turn for ever.
test_enormous_mtu() {
	new_ns a
	ip -n a -batch - <<-END
		link add d0 type dummy
		link set d0 mtu 2147483634
		link set d0 up
		addr add 10.9.0.1/24 dev d0
		neigh add 10.9.0.2 lladdr 02:00:00:00:00:02 dev d0
	END
	tc -n a qdisc add dev d0 root bfc peer off 2>/dev/null
	in_ns a ping -q -c 2 -i 0.1 -W 1 10.9.0.2 >/dev/null
	at_least "packets sent" "$(stat a d0 packets)" 2
}

# A size table can do the same to one packet.
test_enormous_packet_by_stab() {
	host a 10.0.0.1/24
	host b 10.0.0.2/24
	cable a e0 b e0
	meet 10.0.0.2 a
	tc -n a qdisc add dev e0 root stab overhead 2000000000 linklayer ethernet \
		bfc peer off
	in_ns a ping -q -c 5 -i 0.1 -w 5 10.0.0.2 >/dev/null ||
		fail "no answer"
}

# What GSO was split into counted without the size table: a shaper for ATM sent 53/48
# and more of its rate. 1514 bytes and 1000 of overhead are 53 cells of 53 bytes.
test_stab_counts_for_segments() {
	local size packets mean
	for size in "overhead 1000 linklayer ethernet:2514" \
		"overhead 1000 linklayer atm:2809"; do
		host a 10.0.0.1/24
		host b 10.0.0.2/24
		cable a e0 b e0
		meet 10.0.0.2 a
		# shellcheck disable=SC2086
		tc -n a qdisc add dev e0 root stab ${size%:*} bfc peer off \
			hrtt 4ms || fail "tc refuses stab ${size%:*}"
		background ip netns exec a tcpask serve -p 80
		check "no listener" wait_for 5 tcp_listens a 80
		in_ns b tcpask ask -d 10.0.0.1 -p 80 -t 1 -s 1000000000 \
			>/dev/null
		# Both at once: there is traffic yet.
		read -r packets mean < <(tc -n a -s -j qdisc show dev e0 root |
			jq -r '.[0] | "\(.packets) \(.bytes / .packets)"')
		at_least "packets" "$packets" 500
		# But for the handshake
		at_least "bytes a packet, ${size%:*}" "$mean" \
			"$(calc "${size#*:} * 0.99")"
		at_most "bytes a packet, ${size%:*}" "$mean" "${size#*:}"
		clean_up
	done
}

# A port of role nic sent pauses when another port of the box counted.
test_nic_role_never_pauses() {
	one_switch
	bfc sw p1 role nic hrtt 4ms
	bfc sw r0 hrtt 4ms
	bfc s e0 hrtt 4ms
	bfc r e0 role nic
	peers_up
	meet 10.0.0.2 s
	receive r 5000 -n 400 -t 20 -i 2
	local receiver=$bg
	send s 10.0.0.2 5000 -f 2 -n 200
	finish "$bg" "$receiver"
	equal "received" "$(received r 5000 .packets)" 400
	equal "pauses sent" "$(stat sw p1 pause_tx)" 0
	equal "packets counted" "$(stat sw r0 counted)" 0
}

# A higher rate took effect only when the old rate's timer had run out.
test_rate_change_wakes() {
	pair
	ip -n a link set e0 mtu 9000
	ip -n b link set e0 mtu 9000
	meet 10.0.0.2 a
	bfc a e0 rate 8kbit peer off
	receive b 5000 -n 20 -t 30
	local receiver=$bg start
	send a 10.0.0.2 5000 -n 20 -s 8900	# 9 s a packet
	local sender=$bg
	check "nothing was sent" wait_for 5 holds_over a 100000
	start=$(date +%s%N)
	tc -n a qdisc change dev e0 root bfc rate 10mbit
	finish "$sender" "$receiver"
	equal "received" "$(received b 5000 .packets)" 20
	at_most "ms until all were there" \
		$((($(date +%s%N) - start) / 1000000)) 6000
}

# A lowered limit was enforced by the next packet, one scan of all queues for
# each that was too many.
test_lower_limit_trims() {
	host a 10.0.0.1/24
	host b 10.0.0.2/24
	cable a e0 b e0
	meet 10.0.0.2 a
	bfc a e0 rate 100kbit peer off limit 4mb
	send a 10.0.0.2 5000 -f 8 -n 80
	check "no backlog" wait_for 5 holds_over a 300000
	tc -n a qdisc change dev e0 root bfc limit 64kb
	at_most "truesize held" "$(stat a e0 memory)" 65536
	at_least "dropped from the longest" "$(stat a e0 drop_limit)" 1
}

holds_over() { [ "$(stat "$1" e0 memory)" -gt "$2" ]; }

# hellos COUNT GAP: makes $scratch/hellos, a program that sends them through e0, with
# ever new nonces, as a neighbour with 1024 queues
hellos() {
	cat >"$scratch/hellos" <<-END
		import socket, struct, time
		s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
		s.bind(("e0", 0))
		mac = bytes.fromhex("0200000000aa")
		for n in range(1, $1):
		    body = struct.pack("!BBHBBHHQIIIQQQ", 0, 0, 1024, 1, 0, 0xffff, 0,
		                       0xaa, n, 0, 1, 0, 0, 0)
		    s.send(bytes.fromhex("0180c200000e") + mac +
		           struct.pack("!HIBBHII", 0x88b5, 0x42464331, 1, 1, 84, n, n) +
		           body)
		    time.sleep($2)
	END
}

# another_comes_up NS: a port there gets handles for a neighbour with 1024 queues
another_comes_up() {
	host c 10.0.1.1/24
	cable "$1" another c e0
	bfc "$1" another queues 1024
	bfc c e0 queues 1024
	wait_for 15 peer_up "$1" another
	equal "state of another port" "$(stat "$1" another peer_state)" up
}

# Each took handles, and old ones come back once a second.
test_handles_are_not_used_up() {
	pair
	bfc b e0
	hellos 400 0.002
	in_ns a python3 "$scratch/hellos"
	# All handles of the namespace would be gone by now: 63 x 1025.
	another_comes_up b
}

# In a buffer a port has one also for a neighbour that is not counted for.
test_buffered_handles_are_not_used_up() {
	local i refused=0
	pair
	bfc b e0 buffer x
	hellos 100000 0.0002
	background ip netns exec a python3 "$scratch/hellos"
	for i in {1..20}; do
		sleep 0.15
		ip -n b link add "d$i" type dummy
		ip -n b link set "d$i" up
		bfc b "d$i" rate 1gbit peer on
		[ "$(stat b "d$i" peer_state)" = up ] || ((refused++))
	done
	at_least "HELLOs" "$(stat b e0 hello_rx)" 200	# of so many more that came
	equal "other ports that got no handles" "$refused" 0
	kill "$bg"
	wait "$bg" 2>/dev/null
}

# Each second there may be another one; and its queues have packets that do not leave.
test_stuck_handles_are_not_used_up() {
	local n
	one_switch 10kbit
	bfc sw p1 rate 50mbit
	bfc sw r0 rate 10mbit limit 16mb threshold 1kb
	frames open s s e0
	# A packet of each layout is counted behind those of the one before.
	for n in {1..20}; do
		frames hello s id=0xaa nonce="$n" queues=1024
		frames udp s dst="$(mac r e0)" from=10.0.0.1 to=10.0.0.2 count=20 \
			size=1400 tags=88a8:7
		sleep 1.1
	done
	at_least "counted" "$(stat sw r0 counted)" 60
	equal "why the neighbour is refused" "$(stat sw p1 peer_refused)" wait
	another_comes_up sw
}

# one_share: s may have a tenth of what is free of the buffer; nearly all that it sends waits
one_share() {
	one_switch 10kbit
	bfc sw p1 rate 50mbit buffer b size 1mb share 10%
	bfc sw r0 rate 10mbit limit 16mb threshold 1kb buffer b
	frames open s s e0
}
# fill COUNT: frames of s
fill() {
	frames udp s dst="$(mac r e0)" from=10.0.0.1 to=10.0.0.2 count="$1" size=1400
}
# used_at_most BYTES: of the buffer
used_at_most() {
	local used
	used=$(stat sw r0 buffer_used)
	say "used of the buffer $used"
	at_most "used of the buffer" "$used" "$1"
}

# A neighbour that comes and goes has one share of the buffer: it gets no new counters, each with
# a share of its own, once HELLOs of other layouts have none.
test_byes_take_no_buffer() {
	local n
	one_share
	for n in {1..40}; do
		frames hello s id=0xaa nonce="$n" queues=32
		frames hello s id=0xaa nonce="$n" queues=32 flags=1
		fill 20
	done
	sleep 0.5
	used_at_most 600000
}

# A neighbour has one share of the buffer however it changes its queues, once a second at most.
test_layouts_take_no_buffer() {
	local n
	one_share
	for n in {1..20}; do
		frames hello s id=0xaa nonce="$n" queues=7
		fill 20
		sleep 1.1
	done
	used_at_most 120000
	at_least "what is held of the port" "$(stat sw p1 buffer_port)" 80000
}

# Nor may a priority of a neighbour hold MAX, or headroom, once more each time that the link was
# down. Both of them once, and what is not charged, are less than 60000.
test_flaps_take_no_buffer() {
	local n held
	one_switch 10kbit
	bfc sw p1 fc pfc max 50kb
	bfc sw r0 rate 10mbit limit 16mb
	frames open s s e0
	for n in {1..5}; do
		fill 60
		sleep 0.3
		ip -n s link set e0 down
		check "p1 has a carrier" wait_for 5 no_carrier sw p1
		ip -n s link set e0 up
		check "p1 has no carrier" wait_for 5 carrier sw p1
	done
	held=$(stat sw r0 backlog_peak)
	say "held of the port $held"
	at_most "held of the port" "$held" 60000
	at_least "held of the port" "$held" 40000
}
carrier() { ip -n "$1" link show dev "$2" | grep -q LOWER_UP; }
no_carrier() { ! carrier "$@"; }

# Eight neighbours that claim what the format of a HELLO allows took all handles of the
# namespace, and those on other ports were refused.
test_claims_are_capped() {
	local i
	switch sw
	for i in {1..8}; do
		host "h$i"
		cable sw "p$i" "h$i" e0
		bfc sw "p$i"
		frames open "h$i" "h$i" e0
		frames hello "h$i" id="$i" nonce="$i" queues=4094
	done
	check "no refusal" wait_for 5 refused_for sw p8 queues
	check "no reason in the text" grep -q "refused (more queues than" \
		<<<"$(tc -n sw -s qdisc show dev p8)"
	another_comes_up sw
}

# Those of a neighbour that had said BYE stayed taken, until the next one came to the same port.
test_bye_gives_handles_back() {
	local dev
	switch sw
	host h
	cable sw p1 h e0
	bfc sw p1
	frames open h h e0
	frames set h queues=1024
	frames talk h 0.3	# taking handles lasts longer than a neighbour may be silent
	check "not its queues" wait_for 5 its_queues_are 1024
	take_handles sw
	for dev in $took; do	# those that got none would get these
		[ "$(stat sw "$dev" peer_state)" != refused ] || ip -n sw link del "$dev"
	done
	ip -n sw link add another type dummy
	ip -n sw link set another up
	bfc sw another peer on flows 16 queues 512
	equal "why another is refused" "$(stat sw another peer_refused)" handles
	its_queues_are 1024 || fail "the neighbour has gone before it says so"
	frames talk h 0
	frames hello h flags=1
	check "still refused" wait_for 5 peer_up sw another
	frames close
}
its_queues_are() { [ "$(stat sw p1 peer_queues)" = "$1" ]; }


# links NS PREFIX FROM TO PEER-NS PEER-PREFIX: so many cables
links() {
	local i
	for ((i = $3; i <= $4; i++)); do
		echo "link add name $2$i netns $1 type wire rate 20mbit delay 100us ring 8" \
			"peer name $6$i netns $5"
	done | ip -batch -
	for ((i = $3; i <= $4; i++)); do
		echo "link set $2$i up"
	done | ip -n "$1" -batch -
	for ((i = $3; i <= $4; i++)); do
		echo "link set $6$i up"
	done | ip -n "$5" -batch -
}

# ports_that JQ: of namespace x, how many
ports_that() {
	tc -n x -s -j qdisc show |
		jq "[.[] | select(.kind == \"bfc\") | select($1)] | length"
}

# claim I [LESS]: neighbour I claims as many queues as there can be, one that came late a
# little less; and so many less
claim() {
	local most=1024
	[ "$1" -le 55 ] || most=895
	frames set "e$1" id=$((0xaa00 + $1)) nonce=$((++nonces)) queues=$((most - ${2:-0}))
	frames hello "e$1"
}

# come_later TEXT FROM TO: ports d of x come, and all of them are up
come_later() {
	qdiscs x d "$2" "$3" queues 32
	qdiscs y f "$2" "$3" queues 128
	sleep 3
	equal "$1, up" "$(ports_that '.options.queues == 32 and .peer_queues == 128 and
		.peer_state == "up"')" "$3"
}

# Each port had a part of the table by the number of ports that there were when it came,
# and 64 hostile neighbours all of it but a few: the 2nd port after them was refused.
test_hostile_neighbours_leave_handles() {
	local i n turn nonces=0
	new_ns x
	new_ns y
	links x p 1 64 y e
	links x d 1 20 y f
	# They come one by one.
	for i in {1..64}; do
		qdiscs x p "$i" "$i"
		frames open "e$i" y "e$i"
		claim "$i"
		frames talk "e$i" 1
		sleep 0.01
	done
	n=$(ports_that '.peer_queues == 1024 and .peer_refused == null')
	n="$n, then $(stat x p49 peer_refused)"
	come_later "ports that come later" 1 10
	# And they change their claims, and do it again.
	for turn in 1 2 3; do
		for i in {1..64}; do
			claim "$i" $((turn % 2 * 8))
		done
		sleep 1.2
	done
	come_later "and after claims have changed" 11 20
	# docs/deployment.md
	equal "ports of neighbours with 1024 queues" "$n" "48, then handles"
	frames close
}

# What a port does whose neighbour gets no handles: it says so, and queues fairly.
test_handles_run_out() {
	local n before
	new_ns x
	host a 10.0.0.1/24
	host b 10.0.0.2/24
	is_switch[x]=1
	ip -n x link add br0 type bridge
	ip -n x link set br0 up
	cable x p1 a e0
	cable x p2 b e0
	dummies x 63
	qdiscs x d 1 63 rate 1gbit peer on queues 1024
	sleep 5		# the log takes ten such lines in 5 s, of all ports
	before=$(dmesg | grep -c "p1: cannot count for .* handles of this namespace")
	bfc x p1
	bfc a e0 queues 1024
	bfc x p2
	check "no refusal" wait_for 10 refused_for x p1 handles
	check "no reason in the text" grep -q "refused (no handles left" \
		<<<"$(tc -n x -s qdisc show dev p1)"
	at_least "the log says so" "$(dmesg |
		grep -c "p1: cannot count for .* handles of this namespace")" $((before + 1))
	meet 10.0.0.2 a
	receive b 5000 -n 200 -t 20
	send a 10.0.0.2 5000 -f 4 -n 50
	finish "$bg"
	equal "packets that came" "$(snmp b Udp InDatagrams)" 200
	equal "tags for the neighbour" "$(stat x p1 tagged_tx)" 0
	equal "pauses" "$(stat x p1 pause_tx)" 0
	# A refusal ends with the neighbour, and the next one is told again.
	before=$(dmesg | grep -c "p1: cannot count for .* handles of this namespace")
	tc -n a qdisc del dev e0 root
	check "refused, and there is no neighbour" \
		wait_for 2 peer_searches x p1
	sleep 5
	bfc a e0 queues 1024
	check "no refusal again" wait_for 10 refused_for x p1 handles
	at_least "the log says so again" "$(dmesg |
		grep -c "p1: cannot count for .* handles of this namespace")" $((before + 1))
	for n in {1..63}; do
		echo "link del d$n"
	done | ip -n x -batch -
	check "not up when handles are back" wait_for 10 peer_up x p1
	meet 10.0.0.1 b
	at_least "tags then" "$(stat x p1 tagged_tx)" 1
}

# One table of handles for all namespaces, in runs of 32, was too small for the ports of
# a fabric: 33 handles took two runs, and other namespaces than the first had half.
test_namespaces_have_handles_of_their_own() {
	local ns i
	for ns in v w x y; do
		new_ns "$ns"
		dummies "$ns" 140
		qdiscs "$ns" d 1 140 peer on rate 1gbit
	done
	equal "ports with handles" "$(snapshot 'map(select(.peer_state == "up")) | length')" \
		$((4 * 140))
}

# softirqs NAME: that ran so far
softirqs() {
	awk -v name="$1:" '$1 == name { for (i = 2; i <= NF; i++) n += $i; print n }' \
		/proc/softirqs
}

# A port that is down has no neighbour to pause: its timer ran on and on where the driver
# keeps the carrier.
test_down_is_quiet() {
	local mode before
	new_ns x
	ip -n x link add d0 type dummy
	ip -n x link set d0 up
	for mode in "fc pfc" "fc fafc" "fc bfc peer on" "fc pfc lossless none"; do
		# shellcheck disable=SC2086
		bfc x d0 rate 1gbit $mode
		# The last one never pauses.
		[ "${mode##* }" = none ] || ip -n x link set d0 down
		before=$(softirqs NET_TX)
		sleep 2
		at_most "$mode: times that NET_TX ran" \
			$(($(softirqs NET_TX) - before)) 200
		ip -n x link set d0 up
		tc -n x qdisc del dev d0 root
	done
}

# A NIC pauses no port, and took handles for the queues of its switch all the same.
test_nic_takes_no_handles() {
	local i
	host c
	host d
	# A switch has 1025 handles for each of these ports: 63 of them fit.
	for ((i = 0; i < 65; i++)); do
		cable c "e$i" d "e$i"
		bfc c "e$i" role nic queues 1024 flows 16
	done
	cable c x d x
	bfc c x queues 1024 flows 16
	bfc d x queues 1024 flows 16
	for ((i = 0; i < 65; i++)); do
		bfc d "e$i" role nic queues 1024 flows 16
	done
	wait_for 15 peer_up d e64
	equal "state of the last NIC" "$(stat d e64 peer_state)" up
	wait_for 15 peer_up c x
	equal "state of a switch port" "$(stat c x peer_state)" up
}

# The timer that repeats pauses went on for ever on a port that was told to be a
# NIC meanwhile: it has nothing to repeat, and so nothing ended it.
test_nic_repeats_nothing() {
	pair
	bfc a e0 refresh 1s hold 4s
	bfc b e0
	wait_for 15 peer_up a e0
	tc -n a qdisc change dev e0 root bfc hrtt 200us	# starts it
	at_least "timers" "$(grep -c bfc_refresh_timer /proc/timer_list)" 1
	tc -n a qdisc change dev e0 root bfc role nic
	sleep 0.5
	wait_for 15 peer_up a e0
	equal "state" "$(stat a e0 peer_state)" up
	sleep 3
	equal "timers" "$(grep -c bfc_refresh_timer /proc/timer_list)" 0
}

# A HELLO or PAUSE that came between the moment when a qdisc took a port and that
# when it told it what to do met a port without thresholds. To see that takes another
# processor, or interrupts: not the simulator.
test_frames_before_configuration() {
	local i flood
	pair
	bfc b e0
	ip netns exec a python3 - <<-'END' &
		import itertools, socket, struct
		s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
		s.bind(("e0", 0))
		head = bytes.fromhex("0180c200000e0200000000aa")
		for n in itertools.count(1):
		    body = struct.pack("!BBHBBHHQIIIQQQ", 0, 0, 32, 1, 0, 0xffff, 0,
		                       0xaa, n, 0, 1, 0, 0, 0)
		    try:
		        s.send(head + struct.pack("!HIBBHII", 0x88b5, 0x42464331, 1,
		                                  1, 84, n, n) + body)
		    except OSError:
		        pass	# more than the wire takes
	END
	flood=$!
	pids+=("$flood")
	wait_for 10 hellos_came b || fail "no HELLO came"
	for ((i = 0; i < 100; i++)); do
		echo "qdisc del dev e0 root"
		echo "qdisc add dev e0 root bfc queues $((i % 2 ? 32 : 64))"
	done | tc -n b -batch - || fail "tc fails"
	wait_for 10 hellos_came b || fail "no HELLO came after that"
	kill "$flood"
}
hellos_came() { [ "$(stat "$1" e0 hello_rx)" -gt 10 ]; }

# A device with several TX queues, however its qdisc comes and goes; the kernel may also
# make it by itself, and then attaches it in another way.
test_tx_queues_and_default_qdisc() {
	local queues default
	pair
	ip -n a link add v0 numtxqueues 4 type veth peer name v1
	ip -n a link set v0 up
	ip -n a link set v1 up
	for queues in 32 64 128; do
		tc -n a qdisc replace dev v0 root handle "$((queues + 1)):" \
			bfc queues "$queues" txqs one || fail "refused"
		tc -n a qdisc replace dev v0 root handle "$queues:" \
			bfc queues "$queues" || fail "refused"
		equal "queues" "$(stat a v0 options.queues)" "$queues"
	done
	ip -n a link set v0 down
	tc -n a qdisc replace dev v0 root handle 9: bfc || fail "refused"
	ip -n a link set v0 up
	wait_for 5 hello_sent a v0 || fail "no HELLO sent"
	tc -n a qdisc del dev v0 root
	default=$(sysctl -n net.core.default_qdisc)
	sysctl -qw net.core.default_qdisc=bfc
	host c 10.0.1.1/24
	host d 10.0.1.2/24
	cable c e0 d e0
	sysctl -qw "net.core.default_qdisc=$default"
	meet 10.0.1.2 c
	wait_for 15 peer_up c e0
	equal "state between default qdiscs" "$(stat c e0 peer_state)" up
	bfc c e0 role nic queues 16
	wait_for 15 peer_up d e0
	wait_for 10 peer_has d 16 || fail "the neighbour has not noticed"
}
hello_sent() { [ "$(stat "$1" "$2" hello_tx)" -ge 1 ]; }
peer_has() { [ "$(stat "$1" e0 peer_queues)" = "$2" ]; }

# promiscuous NS
promiscuous() { [ "$(ip -n "$1" -j -d link show dev e0 | jq '.[0].promiscuity')" -gt 0 ]; }

declare -A filter_of=([c]=rx-vlan-filter [s]=rx-vlan-stag-filter)

# filters NS c|s on|off: the NIC drops VLAN ids that it has not been told
filters() {
	in_ns "$1" ethtool -K e0 "${filter_of[$2]}" "$3" || fail "no filter of $2-tags"
}

# NICs that filter VLAN ids took nothing any more as soon as neighbours had agreed. And
# where drivers have a lock of their own around their ops (6.15 on; the wire has, on 7.2),
# asking the device for its speed, or to be promiscuous, waited for that lock for ever.
test_vlan_filters() {
	local ns soon=2
	! simulated || soon=0	# no such lock: at once
	pair
	for ns in a b; do
		filters $ns c on
		bfc $ns e0
		wait_for $soon promiscuous $ns || fail "$ns may filter S-tags with C-tags"
		filters $ns c off
		wait_for $soon not_promiscuous $ns || fail "$ns is promiscuous without a filter"
		filters $ns s on
		wait_for $soon promiscuous $ns || fail "$ns filters S-tags"
	done
	peers_up
	in_ns a ping -q -c 5 -i 0.1 -w 5 10.0.0.2 >/dev/null || fail "no S-tag comes through"
	at_least "tagged" "$(stat b e0 tagged_rx)" 5
	for ns in a b; do
		bfc $ns e0 tpid 8100
		wait_for $soon not_promiscuous $ns || fail "$ns is promiscuous without need"
		filters $ns c on
		wait_for $soon promiscuous $ns || fail "$ns filters C-tags"
	done
	peers_up
	in_ns b ping -q -c 5 -i 0.1 -w 5 10.0.0.1 >/dev/null || fail "no C-tag comes through"
	filters a c off
	wait_for $soon not_promiscuous a || fail "still promiscuous without a filter"
	filters a c on
	bfc a e0 fc none
	tc -n b qdisc del dev e0 root
	# As long as tags may still come.
	promiscuous b || fail "b filters at once"
	for ns in a b; do
		wait_for 10 not_promiscuous $ns || fail "$ns is promiscuous for ever"
	done
}
not_promiscuous() { ! promiscuous "$1"; }

# From 6.19 on the kernel counts what a packet says of itself: the port's own said none.
test_own_frames_are_counted() {
	local sent
	pair
	bfc a e0
	bfc b e0
	peers_up
	sent=$(stat a e0 hello_tx)
	at_least "HELLOs" "$sent" 1
	at_least "packets" "$(stat a e0 packets)" "$sent"
}

# Fair queueing on a VLAN device of a port must not hide from the port below it where
# packets came in: their neighbour was not paused any more.
test_fair_queueing_above_a_port() {
	local receiver
	new_ns sw
	host s 10.0.0.1/24
	host r
	cable s e0 sw p1 rate 50mbit delay 100us ring 8
	cable sw r0 r e0 rate 5mbit delay 100us ring 8
	ip -n sw link add link r0 name r0.10 type vlan id 10
	ip -n r link add link e0 name e0.10 type vlan id 10
	in_ns sw sysctl -qw net.ipv4.ip_forward=1
	ip -n sw -batch - <<-END
		addr add 10.0.0.254/24 dev p1
		addr add 10.1.0.254/24 dev r0.10
		link set r0.10 up
	END
	ip -n r addr add 10.1.0.2/24 dev e0.10
	ip -n r link set e0.10 up
	ip -n r route add default via 10.1.0.254
	ip -n s route add default via 10.0.0.254
	bfc sw p1 hrtt 4ms
	bfc sw r0 hrtt 4ms
	bfc s e0 role nic hrtt 4ms
	bfc r e0 role nic
	peers_up
	bfc sw r0.10 fc none
	meet 10.1.0.2 s
	receive r 5000 -n 400 -t 20 -i 2
	receiver=$bg
	send s 10.1.0.2 5000 -f 2 -n 200
	finish "$bg" "$receiver"
	equal "received" "$(received r 5000 .packets)" 400
	at_least "packets through r0.10" "$(stat sw r0.10 packets)" 400
	at_least "packets counted by r0" "$(stat sw r0 counted)" 20
	at_least "pauses" "$(stat sw p1 pause_tx)" 1
}

# mq's children were refused, for they are not the root, and the card had no queue.
test_default_qdisc_of_many_queues() {
	local default queues i
	default=$(sysctl -n net.core.default_qdisc)
	sysctl -qw net.core.default_qdisc=bfc
	host c 10.0.1.1/24
	host d 10.0.1.2/24
	ip link add name e0 netns c numtxqueues 4 type wire rate 20mbit delay 100us ring 8 \
		peer name e0 netns d numtxqueues 4
	plug c e0
	plug d e0
	queues='[.[] | select(.kind == "bfc" and .options.fc == "none")] | length'
	equal "fair queues" "$(tc -n c -j qdisc show dev e0 | jq "$queues")" 4
	equal "root" "$(tc -n c -j qdisc show dev e0 root | jq -r '.[0].kind')" mq
	meet 10.0.1.2 c
	receive d 5000 -n 400 -t 20 -i 2
	i=$bg
	send c 10.0.1.2 5000 -f 8 -n 50
	finish "$bg" "$i"
	equal "received" "$(received d 5000 .packets)" 400
	at_least "packets by all children" "$(tc -n c -s -j qdisc show dev e0 |
		jq '[.[] | select(.kind == "bfc") | .packets] | add')" 400
	at_least "children that were used" "$(tc -n c -s -j qdisc show dev e0 |
		jq '[.[] | select(.kind == "bfc" and .packets > 20)] | length')" 2

	# The same below an mq that has a handle. Default qdiscs have none, and so tc takes a
	# change for a new qdisc.
	tc -n c qdisc replace dev e0 root handle 1: mq
	tc_refuses "must be the root qdisc" -n c qdisc replace dev e0 parent 1:2 bfc fc pfc
	tc_refuses "must be the root qdisc" -n c qdisc add dev e0 parent 1:2 handle 20: bfc
	tc_refuses "not found" -n c qdisc change dev e0 parent 1:2 bfc quantum 3000b
	equal "fair queues" "$(tc -n c -j qdisc show dev e0 | jq "$queues")" 4
	in_ns c ethtool -L e0 tx 2 || fail "not two queues"
	equal "fair queues for two" "$(tc -n c -j qdisc show dev e0 | jq "$queues")" 2
	in_ns c ethtool -L e0 tx 4 || fail "not four queues"
	ip -n c link set e0 down
	ip -n c link set e0 up
	in_ns c ping -q -c 3 -i 0.2 -w 5 10.0.1.2 >/dev/null || fail "no way through mq"

	# And the way to a port that is told in the kernel's log.
	tc -n c qdisc replace dev e0 root bfc || fail "not taken at the root"
	tc -n d qdisc replace dev e0 root bfc
	wait_for 15 peer_up c e0 || fail "state $(stat c e0 peer_state)"
	tc -n c qdisc del dev e0 root
	equal "fair queues again" "$(tc -n c -j qdisc show dev e0 | jq "$queues")" 4
	sysctl -qw "net.core.default_qdisc=$default"
	ip -n d link del e0
}

# The link went while its other end was paused: no port says afterwards that it pauses it.
test_nothing_is_paused_without_a_neighbour() {
	hosts_to_r 2
	flood 2 h1 h2
	check "h1 is not paused" wait_for 5 pauses_h1
	ip -n h1 link set e0 down
	check "sw p1 has a neighbour" wait_for 5 peer_not_up sw p1
	flood_ends
	equal "queues of h1 that are paused" "$(stat sw p1 upstream_paused)" 0
	all_idle
}
pauses_h1() { [ "$(stat sw p1 upstream_paused)" -gt 0 ]; }

run_tests customer_vlan_survives ingress_port_vanishes bye_arrives \
	nothing_is_paused_without_a_neighbour enormous_mtu enormous_packet_by_stab stab_counts_for_segments \
	nic_role_never_pauses rate_change_wakes lower_limit_trims \
	{,buffered_,stuck_}handles_are_not_used_up {byes,layouts,flaps}_take_no_buffer bye_gives_handles_back \
	claims_are_capped \
	hostile_neighbours_leave_handles handles_run_out \
	namespaces_have_handles_of_their_own down_is_quiet \
	nic_takes_no_handles nic_repeats_nothing frames_before_configuration \
	tx_queues_and_default_qdisc default_qdisc_of_many_queues \
	own_frames_are_counted vlan_filters fair_queueing_above_a_port
