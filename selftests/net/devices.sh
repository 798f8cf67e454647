#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Which network devices can be ports, which take nothing but fair queueing, and which take
# no bfc at all: the table in docs/deployment.md.
#
#   s --p1- sw (br0) --r0- r
#           sw --t0- t
#
# A kernel has not all kinds of devices, the simulator's only some: what it lacks is said.

# shellcheck source=selftests/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"

odd=$top/selftests/tools/odddev.py

# What "ip link add u" is told, why it is no port
below="the device below has the neighbour"
ports="the ports of this device have neighbours"
tunnel="this tunnel may have many neighbours"
uppers=(
	"link t0 type vlan id 10|$below"
	"link t0 type macvlan|$below"
	"link t0 type macvtap|$below"
	"link t0 type ipvlan|$below"
	"link t0 type ipvtap|$below"
	"link t0 type macsec|$below"
	"type hsr slave1 h1 slave2 h2|$below"
	"type bridge|$ports"
	"type bond|$ports"
	"type team|$ports"
	"type vrf table 9|$ports"
	"type batadv|$ports"
	"type vxlan id 1 dstport 4789|$tunnel"
	"type vxlan external dstport 4789|$tunnel"
	"type geneve id 1 remote 10.9.9.9|$tunnel"
	"type geneve external|$tunnel"
	"type gretap external|$tunnel"
	"type gretap local 10.9.9.1 key 5|$tunnel"
	"type gretap local 10.9.9.1 remote 239.1.1.1|$tunnel"
	"type ip6gretap external|$tunnel"
	"type ip6gretap local fd00::1|$tunnel"
	"type erspan external|$tunnel"
	"type ip6erspan external|$tunnel"
	"type ifb|an ifb has no cable, its packets come in again"
)

no_ethernet=(
	"type gre local 10.9.9.1 remote 10.9.9.2"
	"type ipip local 10.9.9.1 remote 10.9.9.2"
	"type sit local 10.9.9.1 remote 10.9.9.2"
	"type ip6tnl local fd00::1 remote fd00::2"
	"type ip6gre local fd00::1 remote fd00::2"
	"type vti local 10.9.9.1 remote 10.9.9.2 key 7"
	"type xfrm dev lo if_id 1"
	"type wireguard"
	"type vcan"
	"type nlmon"
)

one_switch() {
	switch sw
	host s 10.0.0.1/24
	host r 10.0.0.2/24
	cable s e0 sw p1 rate 50mbit delay 100us ring 8
	cable sw r0 r e0 rate 50mbit delay 100us ring 8
	for port in p1 r0; do
		bfc sw "$port"
	done
	bfc s e0 role nic
	bfc r e0 role nic
	peers_up
}

# On a bridge bfc flooded HELLOs to the neighbours of all ports, which saw two talkers
# and gave BFC up; on a bond or a macvlan device it does the same to one.
test_uppers() {
	local kind mode lacks=''
	one_switch
	# Devices with a taker for what comes in do not stand on a bridge's port.
	host t
	cable sw t0 t e0
	ip -n sw link set t0 nomaster
	bfc sw t0
	bfc t e0 role nic
	peers_up
	ip -n sw link add h1 type dummy
	ip -n sw link add h2 type dummy
	for kind in "${uppers[@]}"; do
		# shellcheck disable=SC2086
		ip -n sw link add name u ${kind%|*} 2>/dev/null || {
			lacks+="$(kind_of "$kind") "
			continue
		}
		ip -n sw link set u up 2>/dev/null
		for mode in "" "fc pfc" "fc fafc peer on" "peer off"; do
			# shellcheck disable=SC2086
			tc_refuses "only fc none here: ${kind#*|}" \
				-n sw qdisc replace dev u root bfc $mode
		done
		bfc sw u fc none rate 100mbit
		tc_refuses "only fc none here: ${kind#*|}" \
			-n sw qdisc change dev u root bfc fc bfc
		equal "fc of ${kind%|*}" "$(stat sw u options.fc)" none
		equal "state of ${kind%|*}" "$(stat sw u peer_state)" off
		check "${kind%|*}: $(not_up)" is_empty not_up_but_none
		ip -n sw link del u
	done
	has_but "$lacks" "hsr "
}

# kind_of "ARGS|TEXT": of "ip link add"
kind_of() {
	local kind=${1#*type }
	kind=${kind%%|*}
	echo "${kind%% *}"
}

# has_but "KIND..." "KIND...": what this kernel lacks, and what Debian's may lack
has_but() {
	[ -z "$1" ] || say "without $1"
	simulated || [ -z "${1#"$2"}" ] || fail "not tried: $1"
}

not_up_but_none() {
	snapshot '.[] | select(.peer_state != "up" and .options.fc != "none") |
		"\(.ns) \(.dev)"'
}

# A bridge with traffic of its own, whose ports are bfc's
test_bridge() {
	one_switch
	bfc sw br0 fc none rate 100mbit
	ip -n sw addr add 10.0.0.9/24 dev br0
	in_ns sw ping -q -c 3 -i 0.5 -w 5 10.0.0.1 >/dev/null || fail "no way through br0"
	at_least "packets that br0 has sent" "$(stat sw br0 packets)" 3
	check "$(not_up)" is_empty not_up_but_none
	# A longer frame there is a longer turn.
	ip -n sw link set br0 mtu 1000
	bfc sw br0 quantum auto
	ip -n sw link del p1
	bfc sw br0 fc none
}

# No udev here makes the node.
has_tun() {
	modprobe -q tun && mkdir -p /dev/net &&
		{ [ -e /dev/net/tun ] || mknod /dev/net/tun c 10 200; }
}

test_no_ethernet() {
	local kind said lacks=''
	new_ns x
	tc_refuses "works on Ethernet devices only" -n x qdisc replace dev lo root bfc fc none
	for kind in "${no_ethernet[@]}"; do
		# shellcheck disable=SC2086
		ip -n x link add name u $kind 2>/dev/null || {
			lacks+="$(kind_of "$kind") "
			continue
		}
		tc_refuses "works on Ethernet devices only" \
			-n x qdisc replace dev u root bfc fc none
		ip -n x link del u
	done
	if has_tun && ip -n x tuntap add dev t mode tun; then
		tc_refuses "works on Ethernet devices only" -n x qdisc replace dev t root bfc
		ip -n x tuntap add dev p mode tap
		bfc x p rate 1gbit
	else
		lacks+="tun "
	fi
	if modprobe -q ppp_generic; then
		said=$(in_ns x "$odd" ppp tc qdisc add dev ppp0 root bfc 2>&1) && fail "taken: ppp0"
		[[ $said == *"works on Ethernet devices only"* ]] || fail "ppp0: said: $said"
	else
		lacks+="ppp "
	fi
	has_but "$lacks" ""
}

# slow_host: sw -- r, slower than what comes to sw
slow_host() {
	switch sw
	host r 10.0.0.2/24
	cable sw r0 r e0 rate 5mbit delay 100us ring 8
	bfc sw r0
	bfc r e0 role nic
}

# s pauses, and loses nothing: $1 is the port of s, $2 that of sw
pauses() {
	wait_for 10 peer_up s "$1" || fail "state of $1 $(stat s "$1" peer_state)"
	meet 10.0.0.2 s
	receive r 5000 -t 20 -i 2
	send s 10.0.0.2 5000 -f 4 -n 200
	finish "$bg"
	at_least "pauses" "$(stat s "$1" pause_rx)" 1
	equal "drops" "$(sum_stat drops)" 0
}

# Nothing but a rate makes it a link.
test_veth() {
	slow_host
	host s 10.0.0.1/24
	ip link add name e0 netns s type veth peer name p1 netns sw
	plug s e0
	plug sw p1
	bfc s e0 role nic rate 20mbit
	bfc sw p1 rate 20mbit
	pauses e0 p1
}

# tunnel KIND OPTIONS...: with one end to each side, over a cable
tunnel() {
	slow_host
	host s 10.0.0.1/24
	ip link add name w netns s type wire rate 50mbit delay 100us ring 8 \
		peer name w netns sw
	ip -n s addr add 10.9.9.1/24 dev w
	ip -n sw addr add 10.9.9.2/24 dev w
	ip -n s link set w up
	ip -n sw link set w up
	if [ "$1" = l2tp ]; then
		pseudowire s 1 2 e0
		pseudowire sw 2 1 p1
	else
		ip -n s link add e0 type "$@" local 10.9.9.1 remote 10.9.9.2
		ip -n sw link add p1 type "$@" local 10.9.9.2 remote 10.9.9.1
	fi
	plug s e0
	plug sw p1
	ip -n sw link set r0 mtu "$(mtu_of sw p1)"
	bfc s e0 role nic rate 20mbit
	bfc sw p1 rate 20mbit
	pauses e0 p1
}
test_gretap() { tunnel gretap; }
test_erspan() { tunnel erspan seq key 30 erspan_ver 1 erspan 123; }
test_l2tp() { tunnel l2tp; }

mtu_of() { in_ns "$1" cat "/sys/class/net/$2/mtu"; }

# pseudowire NS ID PEER-ID NAME
pseudowire() {
	ip -n "$1" l2tp add tunnel tunnel_id "$2" peer_tunnel_id "$3" encap ip \
		local "10.9.9.$2" remote "10.9.9.$3"
	ip -n "$1" l2tp add session name "$4" tunnel_id "$2" session_id "$2" peer_session_id "$3"
}

# Ports of Open vSwitch are ports; its own device takes fair queueing.
test_ovs() {
	slow_host
	host s 10.0.0.1/24
	cable sw p1 s e0
	bfc sw p1
	bfc s e0 role nic
	ip -n sw link set p1 nomaster
	ip -n sw link set r0 nomaster
	check "no datapath" in_ns sw "$odd" ovs ovs0 p1 r0 || return
	ip -n sw link set ovs0 up
	tc_refuses "only fc none here: $ports" -n sw qdisc replace dev ovs0 root bfc
	bfc sw ovs0 fc none
	pauses e0 p1
}

# Each of a bond's or a team's ports is a port; the bond takes fair queueing.
slaves() {
	local i ns
	slow_host
	host s
	for ns in s sw; do
		# shellcheck disable=SC2086
		ip -n "$ns" link add up0 type $1
		[ "$1" != team ] || check "no mode" in_ns "$ns" "$odd" team up0
	done
	for i in 0 1; do
		ip link add name "l$i" netns s type wire rate 20mbit delay 100us ring 8 \
			peer name "l$i" netns sw
		for ns in s sw; do
			ip -n "$ns" link set "l$i" master up0 || fail "no port of $1"
			ip -n "$ns" link set "l$i" up
		done
		bfc s "l$i" role nic
		bfc sw "l$i"
	done
	ip -n sw link set up0 master br0 up
	ip -n s addr add 10.0.0.1/24 dev up0
	ip -n s link set up0 up
	bfc s up0 fc none
	wait_for 10 peer_up s l1 || fail "state of l1 $(stat s l1 peer_state)"
	pauses l0 l0
}
test_bond() { slaves "bond mode balance-rr miimon 100"; }
test_team() { slaves team; }

# An ifb is what is there to shape what comes in.
test_ifb() {
	local receiver
	host s 10.0.0.1/24
	host r 10.0.0.2/24
	cable s e0 r e0
	meet 10.0.0.2 s
	ip -n r link add i0 type ifb
	ip -n r link set i0 up
	bfc r i0 fc none rate 5mbit
	tc -n r qdisc add dev e0 clsact
	tc -n r filter add dev e0 ingress protocol ip matchall action mirred egress redirect dev i0 ||
		fail "no redirection"
	receive r 5000 -n 200 -t 20 -i 2
	receiver=$bg
	send s 10.0.0.2 5000 -f 4 -n 50
	finish "$bg" "$receiver"
	at_least "packets through the ifb" "$(stat r i0 packets)" 200
	equal "received" "$(received r 5000 .packets)" 200
}

test_wireless() {
	modprobe mac80211_hwsim radios=1 || fail "no radio"
	tc_refuses "only fc none here: a wireless device may have many neighbours" \
		qdisc replace dev wlan0 root bfc
	check "fair queueing" tc qdisc replace dev wlan0 root bfc fc none rate 50mbit
	check "removal" tc qdisc del dev wlan0 root
	modprobe -r mac80211_hwsim
}

tests=(uppers bridge no_ethernet veth ifb)
# The simulator's kernel has none of these.
simulated || tests+=(gretap erspan l2tp bond team ovs wireless)
run_tests "${tests[@]}"
