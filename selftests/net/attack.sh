#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Two hosts that have nothing to do with an attacker on the same switch keep their
# throughput, whatever it sends (docs/trust.md).
#
#   a e0 --- pa \        / pb --- e0 b		a sends to b
#   m e0 --- pm -- sw --- pr --- e0 r		m attacks, u sends to m; r is slow
#   u e0 --- pu /   |
#                  c0 veth ce c			a container
#
# All links 20 Mbit/s, r's 5 Mbit/s. m's frames are made by bfcframe.py, at the rate of its
# link.

# jq has variables of its own.
# shellcheck disable=SC2016
# shellcheck source=selftests/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"

PATH=$top/build/bpf:$PATH
seconds=2
ports="pa pb pm pr pu"

# network [OPTIONS]: of the ports of sw; a and b are hosts with bfc, m is made of Python
network() {
	local port host n=0
	# group_fwd_mask: LLDP is forwarded
	switch sw group_fwd_mask 0x4000
	for host in a b m r u; do
		n=$((n + 1))
		host "$host" "10.0.0.$n/24"
	done
	for port in pa pb pm pu; do
		cable sw "$port" "${port#p}" e0
	done
	cable sw pr r e0 rate 5mbit delay 100us ring 8
	for port in $ports; do
		bfc sw "$port" hrtt 4ms "$@"
	done
	for host in a b r u; do
		bfc "$host" e0 role nic hrtt 4ms "${fc[@]}"
	done
	tc -n m qdisc replace dev e0 root pfifo limit 100000
	in=pm slow='' size=60
	mac_r=$(mac r e0)
	[ ${#fc[@]} -gt 0 ] || wait_for 10 up_but_pm || fail "no agreement"
	meet 10.0.0.2 a
	meet 10.0.0.3 u
	meet 10.0.0.4 m
	frames open m m e0
	mac_m=$(answered .mac)
	mac_b=$(mac b e0)
	alone
}
alone() {
	clean=$(throughput) clean_slow=$(throughput -r 8000000)
	at_least "packets of the pair alone" "$clean" 4000
	at_least "packets of the pair alone, at 8 Mbit/s" "$clean_slow" 1800
	say "alone $clean $clean_slow"
}
fc=()
up_but_pm() { ! not_up | grep -qv ' pm$'; }

# throughput [SEND-OPTIONS]: packets from a to b
throughput() {
	pair "$@"
	finish "$sender" "$receiver"
	received b 5000 .packets
}

pair() {
	receive b 5000 -t 60 -i 1
	receiver=$bg
	send a 10.0.0.2 5000 -t "$seconds" "$@"
	sender=$bg
}

arrived_at() { in_ns sw cat "/sys/class/net/$1/statistics/${2-rx}_packets"; }

# besides NAME FRAMES COMMAND...: what a and b have while the attack goes on, of which so
# many frames must have come in through $in ("PORT tx": gone out). Frames that go to b's port,
# too, may have their fair part of it: then a sends at 8 Mbit/s ($slow).
besides() {
	local name=$1 frames=$2 before want=$clean
	shift 2
	# shellcheck disable=SC2086
	before=$(arrived_at $in)
	[ -z "$slow" ] || want=$clean_slow
	pair ${slow:+-r 8000000}
	"$@"
	finish "$sender" "$receiver"
	# shellcheck disable=SC2086
	at_least "$name: frames that came in" $(($(arrived_at $in) - before)) "$frames"
	at_least "$name: packets of the pair, alone $want" "$(received b 5000 .packets)" \
		$((want * ${percent:-95} / 100))
	equal "$name: reordered" "$(received b 5000 .reordered)" 0
	say "$name $(received b 5000 .packets)"
}

# unpaused: no port but m's had to do with it
unpaused() {
	equal "queues of a and b paused" \
		"$(stat sw pa upstream_paused) $(stat sw pb upstream_paused)" "0 0"
	equal "neighbours" "$(stat sw pa peer_state) $(stat sw pb peer_state)" "up up"
}

# frame DST TYPE [REST]: from m, in hexadecimal, 60 bytes or $size
frame() {
	local hex
	hex=$(tr -d : <<<"$1$mac_m")$2${3-}
	printf '%s%0*d' "$hex" $((2 * size - ${#hex})) 0
}

# pfc [DST [TAGS]]: each priority, as long as can be
pfc() { frame "${1-0180c2000001}" "${2-}8808" "010100ff$(printf 'ffff%.0s' {1..8})"; }

# m is a host without bfc, or one that says nothing: what it sends is as good as data.
test_floods_of_a_host() {
	local host=fe80000000000000
	network
	slow=1 size=1000
	besides ARP 4000 frames raw m "$(frame ffffffffffff 0806 \
		0001080006040001)" 5500
	besides ND 4000 frames raw m "$(frame 3333ff000001 86dd \
		"6000000003b23aff${host}0000000000000001${host}0000000000000002870000000000")" 5500
	besides LLDP 4000 frames raw m "$(frame 0180c200000e 88cc)" 5500
	besides "unknown destinations" 4000 frames raw m "$(frame 02feedbeef00 0800 45)" 5500
	besides "provider tags" 4000 frames raw m "$(frame "$mac_b" 88a8 00050800)" 5500
	besides "own tags" 4000 frames udp m dst="$mac_b" from=10.0.0.3 to=10.0.0.2 \
		count=5500 size=950 tags=88a8:5,88a8:6,8100:7
	besides "provider tags of control" 4000 frames raw m "$(frame ffffffffffff 88a8 \
		000508060001080006040001)" 5500
	ctl -n b int attach e0
	besides "UDP to INT's port" 4000 frames udp m dst="$mac_b" from=203.0.113.7 to=10.0.0.2 \
		count=5500 size=950 dport=49089
	ctl -n b int detach e0
	# Without STP a bridge forwards these.
	size=60
	besides STP 20000 frames raw m "$(frame 0180c2000000 0027 424203)" 60000
	slow=''
	besides PFC 20000 frames raw m "$(pfc)" 60000
	besides PAUSE 20000 frames raw m "$(frame 0180c2000001 8808 0001ffff)" 60000
	besides "cut frames" 20000 frames hello m count=60000 cut=60
	at_least "refused" "$(stat sw pm bad_short)" 20000
	besides "frames to their own source" 4000 frames udp m dst="$mac_m" src="$mac_m" \
		from=10.0.0.3 to=10.0.0.2 count=5500 size=950 tags=88a8:5
	unpaused
	equal "frames obeyed" "$(stat sw pm frames_rx) $(stat sw pm pfc_rx)" "0 0"
	equal "tags taken off" "$(stat sw pm tagged_rx)" 0
	# Of a stranger where the neighbour has no bfc
	besides "HELLOs and PAUSEs without a proof" 15000 unproved
	unpaused
	equal "paused at pm" "$(stat sw pm frames_rx) $(stat sw pm paused)" "0 0"
	frames close
	all_idle
}

# Flows of m to r, a thousand at most, whose port is slow. Where they go to b, too, a flow of a has
# one turn of as many as there are queues.
test_flows_of_a_host() {
	local few=5000
	network
	box_routes
	to_r "flows to everywhere" span=1000 count=5
	to_r "flows to everywhere, MAC addresses that are forged" span=1000 count=5 src=random
	to_r "flows one after the other" span=400 gap=0.005
	to_r "a's flow" from=10.0.0.1 to=10.0.0.2 along=sport sport=30000 span=$few dport=5000
	to_r "flows to b's address" from=10.0.0.3 to=10.0.0.2 along=sport span=$few
	to_r "flows to b in tunnels" from=10.0.0.1 to=10.0.0.2 along=sport span=$few wrap=ipip \
		via=10.8.0.1
	to_r "frames to their own source" dst="$mac_sw" src="$mac_sw" span=$few
	answers_in_sw
	to_r "requests of forged sources" dst="$mac_sw" from=10.8.0.1 to=10.0.0.254 along=from \
		span=$few dport=53
	# What leaves to r is a quarter of what comes, and what its sockets hold is little.
	at_least "answers" "$(snmp sw Udp OutDatagrams)" 50
	besides "pings of forged sources" 2000 forged_pings
	at_least "echo replies" "$(snmp sw Icmp OutEchoReps)" 50
	unpaused
	percent=3 besides "flows to everywhere, through b's port" 4000 frames udp m \
		dst="$mac_b" from=10.9.0.1 to=10.8.0.1 size=900 span=1000 count=5
	unpaused
	frames close
	all_idle
}
# to_r NAME FIELDS...
to_r() {
	local name=$1
	shift
	besides "$name" 350 frames udp m dst="$mac_r" from=10.9.0.1 to=10.8.0.1 size=900 "$@"
}
# box_routes: sw does, and r has many addresses
box_routes() {
	mac_sw=$(mac sw br0)
	in_ns sw sysctl -qw net.ipv4.ip_forward=1
	routes_to_r 10.0.0.254 10.0.0.4
}
answers_in_sw() {
	background in_ns sw python3 -c '
import socket
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.bind(("10.0.0.254", 53))
while True:
    s.sendto(*s.recvfrom(2000))'
	check "no daemon" wait_for 10 udp_listens sw 53
}
forged_pings() {
	ip -n m route add local 10.8.0.0/16 dev lo
	ip -n m neigh replace 10.0.0.254 dev e0 lladdr "$mac_sw"
	in_ns m python3 -c '
import socket
for i in range(5000):
    s = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP)
    s.bind(("10.8.%d.%d" % (i // 200, 1 + i % 200), 0))
    s.sendto(b"\x08\0\xf7\xff" + bytes(896), ("10.0.0.254", 0))'
}

# A user of a opens flows to everywhere behind r, and has packets of each waiting all the time. What
# another user of a sends to b has the same card, and nothing else to do with it.
test_user_of_a_host() {
	local as=1001
	network
	box_routes
	ip -n a route add 10.8.0.0/16 via 10.0.0.254
	slow=1 in="pr tx"
	besides "flows to everywhere of a user" 350 user_sprays
	at_least "flows that have had a queue of a's card" "$(stat a e0 assigned)" 500
	frames close
	all_idle
}
user_sprays() {
	in_ns a setpriv --reuid 65534 --clear-groups python3 -c '
import socket, time
end = time.monotonic() + 2
flows = []
for i in range(900):
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    s.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4096)
    s.setblocking(False)
    s.connect(("10.8.%d.%d" % (i // 200, 1 + i % 200), 5000))
    flows.append(s)
while time.monotonic() < end:
    for s in flows:
        try:
            s.send(bytes(900))
        except (BlockingIOError, ConnectionRefusedError):
            pass
    time.sleep(0.005)'
}

unproved() {
	frames hello m echo=4711 nonce=random count=12500
	frames pause m bits=0,1,2,3 epoch=4711 hold=4000000000 count=12500
}

# m agrees, and may pause what is sent to it.
agree() {
	frames talk m 0.3
	wait_for 10 peer_up sw pm || fail "no agreement with m"
}

# new_layouts: other queues each time, as many as there may be
new_layouts() {
	local n
	for n in 1 2 3; do
		frames hello m nonce="$n" queues=$((1024 - n)) count=7000
	done
}

# refused: PAUSE frames that were old, or too many
refused() { echo $(($(stat sw pm bad_seq) + $(stat sw pm bad_rate))); }

test_attacks_of_a_neighbour() {
	local all old crowd
	network
	frames set m queues=1024
	agree
	all=$(seq -s, 0 31)
	# What u sends to m waits for ever.
	background ip netns exec u udpflow send -d 10.0.0.3 -p 7 -f 20 -t 60
	crowd=$bg
	besides "pauses" 15000 frames pause m bits="$all" hold=4000000000 count=25000
	at_least "obeyed" "$(stat sw pm frames_rx)" 1000
	at_least "more than are read" "$(stat sw pm bad_rate)" 1000
	at_least "queues paused at pm" "$(stat sw pm paused)" 1
	frames set m seq=100000
	frames pause m
	old=$(refused)
	besides "replay" 15000 frames pause m bits="$all" hold=4000000000 seq=99990 \
		count=25000
	at_least "refused of these" $(($(refused) - old)) 15000
	equal "paused by them" "$(stat sw pm paused)" 0
	besides "layouts" 15000 new_layouts
	frames talk m 0
	frames set m epoch=77 nonce=78 seq=0
	agree
	# All of m's queues, counted at a slow port
	besides "upstreamQ" 1000 frames udp m dst="$(mac r e0)" from=10.0.0.3 to=10.0.0.4 \
		span=1000 along=sport count=2 size=900 tags=88a8:1000
	at_least "counted" "$(stat sw pr counted)" 100
	at_least "pauses of m" "$(stat sw pm pause_tx)" 1
	unpaused
	kill "$crowd"
	frames close
}

# What a neighbour may say that is no pause: m has 1024 queues.
test_more_of_a_neighbour() {
	local all crowd
	network assign root
	frames set m queues=1024
	agree
	all=$(seq -s, 0 31)
	slow=1
	besides "tags beyond its queues" 4000 frames udp m dst="$mac_b" from=10.0.0.3 to=10.0.0.2 \
		count=5500 size=950 tags=88a8:2000
	at_least "tags beyond" "$(stat sw pm bad_tag)" 4000
	slow=''
	background ip netns exec u udpflow send -d 10.0.0.3 -p 7 -f 20 -t 100 -r 10000000 >/dev/null
	crowd=$bg
	besides "pauses with ids of roots" 15000 frames pause m bits="$all" hold=1000000 \
		roots="$(seq -s, 1000 1031)" count=25000
	besides "slow drain" 30 slow_drain
	at_least "obeyed" "$(stat sw pm frames_rx)" 30
	at_least "packets that m lets pass" "$(stat sw pm packets)" 20
	frames keep m 0
	kill "$crowd"
	frames set m seq=100000
	besides "replay of HELLOs" 15000 frames hello m seq=5 count=25000
	# Of HELLOs a hundred a second are looked at.
	at_least "refused of these" "$(stat sw pm bad_seq)" 100
	besides "its own frames" 15000 frames loop m 25000
	at_least "loops" "$(stat sw pm bad_loop)" 100
	besides "HELLOs of another session" 15000 frames hello m epoch=66 nonce=67 seq=5 count=25000
	besides "claims of 4094 queues" 15000 frames hello m queues=4094 count=25000
	unpaused
	frames close
}
# slow_drain: all is paused, but for 3 ms in 100
slow_drain() {
	local i
	for ((i = 0; i < 10 * seconds; i++)); do
		frames pause m bits="$all" hold=4000000000
		sleep 0.097
		frames pause m drained=$((i * 10000))
		sleep 0.003
	done
	frames pause m bits="$all" hold=4000000000
}

# m says what makes all ports of the box think that loops are long: it answers late, and later it is
# a switch that goes on although it is paused.
test_long_loops() {
	local port before
	network
	for port in $ports; do
		bfc sw "$port" hrtt auto
	done
	frames set m role=1
	agree
	alone
	before=$(stat sw pa hrtt)
	frames set m held=0
	frames talk m 0.25
	besides "late answers" 5 sleep $seconds
	frames set m role=0 nonce=78 epoch=79 seq=0
	besides "a loop that looks long" 800 long_loop
	at_least "pauses of m" "$(stat sw pm pause_tx)" 2
	at_least "HRTT in use, ns, before $before" "$(stat sw pa hrtt)" $((2 * before))
	besides "and after that" 1 sleep $seconds
	unpaused
	frames close
}
long_loop() {
	local i
	wait_for 5 peer_up sw pm || fail "no agreement with m"
	for ((i = 0; i < 4; i++)); do
		frames udp m dst="$mac_r" from=10.0.0.3 to=10.0.0.4 sport=7 dport=7 count=200 \
			size=1000 tags=88a8:6
		sleep 0.3
	done
}

# A second talker that does not hear what sw says, then one that does
test_strangers() {
	network
	agree
	frames open s m e0
	besides "HELLOs" 15000 frames hello s nonce=random echo=4711 count=25000
	equal "agreement with m" "$(stat sw pm peer_state)" up
	besides "PAUSEs" 15000 frames pause s bits=0,1,2,3 epoch=4711 count=25000
	equal "paused at pm" "$(stat sw pm paused)" 0
	# In m's name, as its container with a macvlan device does
	frames set s src="$mac_m" id="$(answered_id m)" role=0
	besides "HELLOs in the name of m" 15000 frames hello s nonce=random echo=4711 count=25000
	equal "agreement with m" "$(stat sw pm peer_state)" up
	besides "conflict" 10000 frames hello s count=20000
	equal "state at pm" "$(stat sw pm peer_state)" conflict
	unpaused
	frames close
}

answered_id() {
	frames set "$1"
	answered .id
}

# A second talker that hears what sw says, and says it is u
test_stranger_with_the_id_of_a_neighbour() {
	local id sent received
	network
	id=$(tc -n sw -s qdisc show dev pu | sed -n 's/.* id \([0-9a-f]*\).*/\1/p')
	frames open s u e0
	frames set s id="0x$id" queues=1 role=1
	in=pu
	meet 10.0.0.4 u
	receive r 5001 -t 60 -i 1
	received=$bg
	send u 10.0.0.4 5001 -t 4 -r 4000000 -f 40
	sent=$bg
	frames talk s 0.05
	besides "id of a neighbour" 100 sleep 1
	equal "state at pu" "$(stat sw pu peer_state)" refused
	finish "$sent" "$received"
	equal "what u sent meanwhile" "$(received r 5001 .packets)" \
		"$(jq .sent "$scratch/u.sent.5001.json")"
	unpaused
	frames close
	check "no agreement afterwards" wait_for 10 up_but_pm
	all_idle
}

# container: c beside the ports in sw's bridge
container() {
	new_ns c
	ip -n sw link add c0 type veth peer name ce netns c
	ip -n sw link set c0 master br0 up
	ip -n c -batch - <<-END
		addr add 10.0.0.66/24 dev ce
		link set ce up
		link set lo up
	END
	# A veth is as fast as the processor.
	bfc c ce fc none rate 20mbit limit 64mb
}

# from_container SEND-OPTIONS: to r, by its address $to
to=10.0.0.4
from_container() {
	local pair=$sender
	send c "$to" 5000 "$@"
	finish "$bg"
	sender=$pair
}

test_container() {
	network
	container
	forge c ce
	meet 10.0.0.4 c
	in=c0
	besides "tc_index" 5000 from_container -f 512 -n 15 -s 200 -b 1000000
	equal "counted, pauses of a" "$(sum_stat counted) $(stat sw pa pause_tx)" "0 0"
	frames open c c ce
	mac_m=$(mac c ce)
	# group_fwd_mask has the bridge forward these.
	slow=1
	besides "control frames" 20000 frames hello c count=30000
	slow=''
	besides PFC 20000 frames raw c "$(pfc)" 30000
	besides "frames to their own source" 4000 frames udp c dst="$mac_m" src="$mac_m" \
		from=10.0.0.66 to=10.0.0.2 count=5000 size=950 tags=88a8:5
	besides "flows to everywhere" 4000 frames udp c dst="$mac_r" from=10.0.0.66 to=10.8.0.1 \
		along=to span=1000 count=5 size=950
	unpaused
	frames close
	all_idle
}

# What sw routes to r comes from its bridge, not from a port of that, or from a container's VLAN
# device on top of r's port.
test_containers_on_a_router() {
	local to=10.0.9.2
	network
	container
	subnet_of_r pr
	ip -n sw link add link pr name top type vlan id 5
	ip -n c route add default via 10.0.0.254
	forge c ce
	meet 10.0.9.2 c
	in=c0
	besides "through the bridge's address" 5000 from_container -f 512 -n 15 -s 200 -b 1000000
	counted_none
	# The filter is the box' own: m chooses what it looks at.
	tc -n c qdisc del dev ce clsact
	forge sw br0 ingress
	in=pm
	besides "a filter above the port" 4000 frames udp m dst="$(mac sw br0)" from=10.0.0.3 \
		to=10.0.9.2 along=sport span=512 count=10 size=900
	counted_none
	check "filter" tc -n sw qdisc del dev br0 clsact
	new_ns d
	ip -n sw link set top netns d
	ip -n d -batch - <<-END
		addr add 10.7.0.3/24 dev top
		neigh add 10.7.0.9 lladdr $mac_r dev top
		link set top up
	END
	forge d top
	in="pr tx"
	besides "a device on top of the port" 400 on_top
	counted_none
	at_least "untrusted" "$(stat sw pr untrusted)" 100
	del_ns d
	all_idle
}
counted_none() {
	equal "counted, pauses of a" "$(sum_stat counted) $(stat sw pa pause_tx)" "0 0"
	unpaused
}
on_top() {
	local pair=$sender
	send d 10.7.0.9 5000 -f 512 -n 15 -s 200 -b 1000000
	finish "$bg"
	sender=$pair
}

# What u sends to m is mirrored to r's port, which is slow, and must not pause u.
test_mirrors() {
	local where crowd
	network
	in="pr tx"
	for where in "pu ingress" "pm egress"; do
		tc -n sw qdisc add dev "${where% *}" clsact
		check "mirror" tc -n sw filter add dev "${where% *}" "${where#* }" protocol all matchall \
			action mirred egress mirror dev pr
		background ip netns exec u udpflow send -d 10.0.0.3 -p 7 -f 20 -t 60 -r 10000000 >/dev/null
		crowd=$bg
		besides "mirror at $where" 700 sleep $seconds
		equal "counted, pauses of u" "$(stat sw pr counted) $(stat sw pu pause_tx)" "0 0"
		kill "$crowd"
		tc -n sw qdisc del dev "${where% *}" clsact
	done
	unpaused
	frames close
	all_idle
}

# With pauses of priorities m's frames need no agreement: sw stops sending to m, what u
# sends to it fills what it may of a buffer that all ports share, and u is paused.
endless() {
	local mode=$1 crowd
	shift
	fc=(fc "$mode")
	network fc "$mode" "$@"
	background ip netns exec u udpflow send -d 10.0.0.3 -p 7 -f 20 -t 60
	crowd=$bg
	besides "endless pause" 15000 frames raw m "$(pfc)" 60000
	at_least "pauses of u" "$(stat sw pu pfc_tx)" 1
	kill "$crowd"
	frames close
}

test_pfc_from_a_host() { endless pfc buffer b size 2mb; }

# With FAFC m says how long its T_hop is, and a BYE before each of its pauses is found to be a storm.
test_pauses_of_fafc() {
	local crowd fc=(fc fafc)
	network fc fafc
	frames set m modes=2
	agree
	background ip netns exec u udpflow send -d 10.0.0.3 -p 7 -f 20 -t 100 >/dev/null
	crowd=$bg
	besides "a T_hop that it does not have" 15000 frames pause m queues=0 hold=4000000000 \
		prio0=3000000 count=25000
	besides "endless pauses with BYEs" 30 byes
	at_least "pauses of u" "$(stat sw pu pause_tx)" 1
	kill "$crowd"
	frames close
}
byes() {
	local i
	for ((i = 0; i < 5 * seconds; i++)); do
		frames hello m
		frames pause m queues=0 hold=1000000 prio0=4000000000
		sleep 0.15
		frames hello m flags=1
		frames hello m
		sleep 0.05
	done
}

# Packets that come although their priority is paused, for a buffer that the ports share
test_packets_in_a_pause() {
	local port fc=(fc pfc)
	network fc pfc buffer b size 2mb
	for port in $ports; do
		check "$port" tc -n sw qdisc change dev "$port" root bfc fc pfc hrtt auto
	done
	besides "packets although they are paused" 4000 frames udp m dst="$mac_r" from=10.0.0.3 \
		to=10.0.0.4 count=5500 size=950
	at_least "pauses of m" "$(stat sw pm pfc_tx)" 1
	frames close
	all_idle
}

# A bridge forwards PFC that is sent to a host's own address, and takes a tag off that hides it.
test_pfc_to_a_host() {
	local victim tag
	fc=(fc pfc)
	network fc pfc
	ip -n sw link set br0 type bridge vlan_filtering 1
	meet 10.0.0.2 a
	container
	victim=$(mac a e0)
	for tag in "" 81000000 81000001; do
		in=pm
		besides "PFC of a host, tag '$tag'" 10000 frames raw m "$(pfc "$victim" $tag)" 20000
	done
	frames open c c ce
	mac_m=$(mac c ce) in=c0
	besides "PFC of a container" 10000 frames raw c "$(pfc "$victim")" 20000
	frames close
	all_idle
	equal "PFC frames that a obeyed" "$(stat a e0 pfc_rx)" "$(stat sw pa pfc_tx)"
}

# Hosts without bfc obey it: no port hands it on, of whatever mode.
test_pfc_through_the_switch() {
	local victim tags
	network
	agree
	ip -n sw link set br0 type bridge vlan_filtering 1
	bridge -n sw link set dev pm learning off	# u's address stays at pu
	container
	frames open s u e0
	frames open c c ce
	victim=$(mac u e0)
	for tags in "" 81000000 81000001 88a8000581000001; do
		frames raw m "$(pfc "$victim" $tags)" 5
	done
	frames raw m "$(mac_m=$victim pfc "$victim")" 5
	frames raw m "$(frame "$victim" 0800 45)"
	mac_m=$(mac c ce)
	for tags in "" 81000000 81000001; do
		frames raw c "$(pfc "$victim" $tags)" 5
	done
	frames raw c "$(frame "$victim" 0800 45)"
	frames wait s 5 2 ethertype=0800 dst="$victim"
	frames seen s ethertype=8808
	equal "MAC control frames that u got" "$(answered length)" 0
	frames close
}

# What a user without rights does as root of namespaces of its own; sw has the other end of
# its veth, a port. It prints what it should not have been able to do, and what was refused
# for another reason than its want of rights.
inside='
	refused() {
		text=$1
		shift
		if said=$("$@" 2>&1); then
			echo "can: $*"
		elif ! echo "$said" | grep -qF "$text"; then
			echo "$*: $said"
		fi
	}
	until ip link set u0 up 2>/dev/null; do sleep 0.1; done
	ip link add d0 type dummy
	tc qdisc add dev d0 root bfc rate 1gbit || echo "no qdisc of its own"
	tc qdisc add dev u0 root bfc queues 1024 || echo "no port of its own"
	! ip link show | grep p1 || echo "sees the port of the host"
	refused "cannot load the stamping program: not permitted" bfcctl stamp attach d0
	refused "cannot load the UDP programs: not permitted" bfcctl int attach u0
	refused "Operation not permitted" python3 -c "$load"
	refused "/proc/1/ns/net: Permission denied" nsenter --target 1 --net true
	refused "Permission denied" sh -c "echo 7 >/proc/sys/kernel/printk"
	echo "and no more"
	exec sleep 60'
# The shortest program for tc: BPF_PROG_LOAD, BPF_PROG_TYPE_SCHED_CLS, r0 = 0, exit
export load='
import ctypes, os, struct, sys
libc = ctypes.CDLL(None, use_errno=True)
code = ctypes.create_string_buffer(bytes([0xb7] + 7 * [0] + [0x95] + 7 * [0]))
licence = ctypes.create_string_buffer(b"GPL")
attr = struct.pack("=IIQQ", 3, 2, ctypes.addressof(code), ctypes.addressof(licence))
if libc.syscall(321, 5, attr.ljust(128, bytes(1)), 128) < 0:
	sys.exit(os.strerror(ctypes.get_errno()))'

# Before a command: a user without rights, as root of namespaces of its own
user_ns=(setpriv --reuid 65534 --regid 65534 --clear-groups
	unshare --user --map-root-user --net)

# in_user_ns COMMAND...: in the background, in namespaces of a user without rights; its veth to
# sw is u0, the other end is h0
in_user_ns() {
	background "${user_ns[@]}" "$@"
	user=$bg
	check "no namespace" wait_for 10 elsewhere "$user"
	ip -n sw link add h0 type veth peer name u0 netns "$user"
	ip -n sw link set h0 up
}
elsewhere() { [ "$(readlink "/proc/$1/ns/net")" != "$(readlink /proc/self/ns/net)" ]; }

test_user_namespace() {
	local said=$scratch/inside
	[ -e /proc/self/ns/user ] || { skip="no user namespaces in this kernel"; return; }
	switch sw
	host a 10.0.0.1/24
	cable sw p1 a e0
	bfc sw p1
	bfc a e0 role nic
	in_user_ns sh -c "$inside" >"$said" 2>&1
	bfc sw h0 rate 20mbit
	check "it does not end: $(cat "$said")" wait_for 30 grep -q "and no more" "$said"
	equal "what it could" "$(grep -vx "and no more" "$said")" ""
	check "no agreement: $(stat sw h0 peer_state)" wait_for 10 peer_up sw h0
	equal "its queues" "$(stat sw h0 peer_queues)" 1024
	equal "the other port" "$(stat sw p1 peer_state)" up
	kill "$user"
}

# The kernel loads the module for such a user, unless modprobe.d says that it is not to.
test_user_namespace_loads_the_module() {
	local conf=/run/modprobe.d/bfc-test.conf
	[ -e /proc/self/ns/user ] || { skip="no user namespaces in this kernel"; return; }
	check "the module does not go" modprobe -r sch_bfc
	equal "qdisc" "$(asks_for_bfc)" bfc
	check "the module is not there" test -e /sys/module/sch_bfc
	check "the module does not go" wait_for 10 modprobe -r sch_bfc
	mkdir -p /run/modprobe.d
	echo "install sch_bfc /bin/false" >$conf
	equal "qdisc, with install /bin/false" "$(asks_for_bfc)" none
	check "the module is there" test ! -e /sys/module/sch_bfc
	rm $conf
	check "the module does not come" modprobe sch_bfc
}
# asks_for_bfc: the root qdisc of the user's dummy afterwards
asks_for_bfc() {
	"${user_ns[@]}" sh -c 'ip link add d0 type dummy
		tc qdisc add dev d0 root bfc rate 1gbit 2>/dev/null
		tc -j qdisc show dev d0' | jq -r '.[0].kind // "none"'
}

# as_user COMMAND...: in its namespaces, with the rights that it has there
as_user() { nsenter --target "$user" --user --net "$@"; }

# The user attacks: forged handles, first into the bridge, then to a port; HELLOs and PAUSE
# frames to that port. a and b are hosts with bfc; sw routes to r, which is slow: what received the
# packets last is the bridge then, which the ports of a and b are below.
test_user_namespace_attacks() {
	local n
	[ -e /proc/self/ns/user ] || { skip="no user namespaces in this kernel"; return; }
	switch sw
	host a 10.0.0.1/24
	host b 10.0.0.2/24
	host r 10.0.9.2/24
	cable sw pa a e0
	cable sw pb b e0
	cable sw pr r e0 rate 5mbit delay 100us ring 8
	for n in a b r; do
		bfc sw "p$n" hrtt 4ms
		bfc "$n" e0 role nic hrtt 4ms
	done
	subnet_of_r pr
	ip -n a route add default via 10.0.0.254
	ip -n b route add default via 10.0.0.254
	peers_up
	in_user_ns sleep 300
	ip -n sw link set h0 master br0
	as_user ip link set u0 up
	as_user ip addr add 10.0.0.66/24 dev u0
	as_user ip route add default via 10.0.0.254
	check "it cannot forge" as_user tc qdisc add dev u0 clsact
	for n in {1..511}; do
		printf 'filter add dev u0 egress protocol ip pref 1 u32 match u16 %d 0x1ff at 20 flowid 1:%x\n' \
			"$n" "$n"
	done | as_user tc -batch - || fail "it cannot forge"
	meet 10.0.9.2 a b
	forged "a container's"
	bfc sw h0 rate 20mbit hrtt 4ms
	forged "a neighbour's"
	# As h0 does what a neighbour asks for.
	ip netns attach inside "$user"
	namespaces+=(inside)
	frames open i inside u0
	frames hello i id=1 nonce=1 queues=4094
	check "4094 queues are not refused" wait_for 5 refused_for sw h0 queues
	for n in 1 2 3; do
		frames hello i nonce="$n" queues=$((1024 - n)) count=300
	done
	frames set i queues=1024 nonce=78
	frames talk i 0.3
	check "no agreement: $(stat sw h0 peer_state)" wait_for 15 peer_up sw h0
	ip -n a neigh replace 10.0.0.66 lladdr "$(mac inside u0)" dev e0
	background ip netns exec a udpflow send -d 10.0.0.66 -p 7 -f 20 -t 60 -r 4000000 >/dev/null
	frames keep i 0.1 bits="$(seq -s, 0 31)" hold=4000000000
	check "its pause is not obeyed" wait_for 10 waits_at_h0
	meet 10.0.9.2 b
	equal "states of other ports" \
		"$(stat sw pa peer_state) $(stat sw pb peer_state) $(stat sw pr peer_state)" "up up up"
	equal "PAUSE frames obeyed, queues paused there" \
		"$(stat sw pb frames_rx) $(stat sw pb paused) $(stat sw pr frames_rx) $(stat sw pr paused)" \
		"0 0 0 0"
	frames close
	kill "$user"
}
waits_at_h0() { [ "$(stat sw h0 paused)" -gt 0 ] && [ "$(stat sw h0 qlen)" -gt 10 ]; }

# forged WHOSE: 512 flows to r, of which each says another handle; no port but h0 is paused
forged() {
	check "$1: r does not answer" as_user ping -q -c 1 -w 10 10.0.9.2 >/dev/null
	as_user udpflow send -d 10.0.9.2 -p 5000 -f 512 -n 10 -s 200 >/dev/null ||
		fail "$1: it cannot send"
	at_least "$1: packets that wait" "$(stat sw pr qlen)" 100
	equal "$1: pauses of a and b, counted" \
		"$(stat sw pa pause_tx) $(stat sw pb pause_tx) $(stat sw pr counted)" "0 0 0"
	wait_for 20 drained sw pr || fail "$1: packets stay"
}

# A container's macvlan device on top of a host's port: it speaks for the host to the switch. What
# the host's own neighbour says goes to the host alone, so that it has to guess; but PFC has no
# proof. h is the host, c the container.
test_macvlan_in_the_hosts_name() {
	local id sender size=60
	simulated && { skip="no macvlan in this kernel"; return; }
	switch sw
	host a 10.0.0.1/24
	host h 10.0.0.2/24
	cable sw pa a e0
	cable sw ph h e0
	for id in a h; do
		bfc sw "p$id" hrtt 4ms
		bfc "$id" e0 role nic hrtt 4ms
	done
	ip -n h link add link e0 name top type macvlan mode bridge
	new_ns c
	ip -n h link set top netns c
	ip -n c link set top up
	peers_up
	meet 10.0.0.2 a
	id=$(tc -n h -s qdisc show dev e0 | sed -n 's/.* id \([0-9a-f]*\).*/\1/p')
	frames open c c top
	frames set c src="$(mac h e0)" id="0x$id" queues=32 role=1
	sleep 1.5
	frames hello c nonce=random echo=4711 count=300
	frames hello c nonce=random flags=1 count=300
	frames pause c bits=0,1,2,3 epoch=4711 hold=4000000000 count=300
	frames raw c "$(pfc_of_c)" 20
	sleep 0.5
	at_least "frames that came in" "$(arrived_at ph)" 900
	frames seen c ethertype=88b5
	equal "what c hears of the switch" "$(answered length)" 0
	equal "agreement" "$(stat sw ph peer_state)" up
	equal "what was obeyed" \
		"$(stat sw ph frames_rx) $(stat sw ph paused) $(stat sw ph pfc_rx)" "0 0 0"
	# With pauses of priorities
	for id in a h; do
		bfc sw "p$id" fc pfc watchdog 100ms
		bfc "$id" e0 role nic fc pfc
	done
	meet 10.0.0.2 a
	frames keep c 0.1 pfc=255
	check "the pause is not obeyed" wait_for 5 prio_paused_is sw ph true
	send a 10.0.0.2 4000 -r 400000 -t 10
	sender=$bg
	check "no storm" wait_for 10 storm_at_ph
	finish "$sender"
	frames keep c 0
	check "it does not end" wait_for 20 drained sw ph
	equal "paused at the other port" "$(stat sw pa pfc_rx)" 0
	frames close
}
storm_at_ph() { [ "$(stat sw ph storms)" -ge 1 ] && [ "$(stat sw ph storm_tx)" -ge 1 ]; }
pfc_of_c() { mac_m=$(mac c top) pfc; }

run_tests user_namespace user_namespace_attacks user_namespace_loads_the_module \
	floods_of_a_host flows_of_a_host user_of_a_host attacks_of_a_neighbour \
	more_of_a_neighbour long_loops \
	strangers stranger_with_the_id_of_a_neighbour container containers_on_a_router mirrors \
	pfc_from_a_host pauses_of_fafc packets_in_a_pause \
	pfc_to_a_host pfc_through_the_switch macvlan_in_the_hosts_name
