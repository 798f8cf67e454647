#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The control band: what is never paused, tagged or counted is first, but has no
# more than its share of the link.
#
#   a e0 --- p1 \
#                sw (br0) r0 ---> e0 r
#   b e0 --- p2 /
#
# All links 20 Mbit/s; the qdisc is on r0. a floods, b sends 8 Mbit/s to r.

# jq has variables of its own.
# shellcheck disable=SC2016
# shellcheck source=selftests/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"

topology() {
	# group_fwd_mask: LLDP is forwarded
	switch sw group_fwd_mask 0x4000
	host a 10.0.0.1/24
	host b 10.0.0.2/24
	host r 10.0.0.100/24
	cable sw p1 a e0
	cable sw p2 b e0
	cable sw r0 r e0
	meet 10.0.0.100 a b
	frames open a a e0
	mac_a=$(answered .mac)
	mac_r=$(mac r e0)
	tc -n a qdisc replace dev e0 root pfifo limit 20000
}

# frame DST-MAC REST: in hexadecimal, from a, padded to 1000 bytes
frame() {
	local hex
	hex=$(tr -d : <<<"$1$mac_a")$2
	printf '%s%0*d' "$hex" $((2000 - ${#hex})) 0
}

# kinds of control frames
arp() { frame "$mac_r" 0806000108000604000100000000000000000000000000000000; }
# Hop limit 255, ICMPv6, neighbour solicitation
nd() {
	local host=fe80000000000000
	frame "$mac_r" "86dd6000000003b23aff${host}0000000000000001${host}000000000000000287"
}
lldp() { frame 01:80:c2:00:00:0e 88cc; }

# crowd FRAME: a sends these at line rate for 4 s, b 8 Mbit/s for 3 s to r
# meanwhile; sets $came and $offered
crowd() {
	local receiver sender
	receive r 5000 -t 30 -i 2
	receiver=$bg
	send b 10.0.0.100 5000 -t 3 -r 8000000
	sender=$bg
	frames raw a "$1" 10000
	finish "$sender" "$receiver"
	came=$(received r 5000 .packets)
	offered=$(jq .sent "$scratch/b.sent.5000.json")
}

# flooded_by KIND: fq_codel first, to compare with
flooded_by() {
	local fair
	topology
	tc -n sw qdisc replace dev r0 root fq_codel
	crowd "$("$1")"
	fair=$came
	bfc sw r0
	bfc r e0 role nic queues 128
	peers_up
	crowd "$("$1")"
	say "$came of $offered came, fq_codel $fair"
	at_least "packets beside the flood" "$came" $((offered * 95 / 100))
	at_least "packets, fq_codel $fair" "$came" $((fair * 95 / 100))
	at_least "excess" "$(stat sw r0 ctrl_excess)" 1000
	equal "neighbour" "$(stat sw r0 peer_state)" up
	equal "neighbour of r" "$(stat r e0 peer_state)" up
	frames close
}

test_arp_flood() { flooded_by arp; }
test_nd_flood() { flooded_by nd; }
test_lldp_flood() { flooded_by lldp; }

# An ingress filter, a VLAN's map or a container's own socket may set it.
test_priority_flood() {
	local receivers
	topology
	tc -n sw qdisc add dev p1 clsact
	tc -n sw filter add dev p1 ingress matchall action skbedit priority 7
	bfc sw r0
	bfc r e0 role nic queues 128
	peers_up
	receive r 5000 -t 30 -i 2
	receivers=$bg
	receive r 5001 -t 30 -i 2
	receivers="$receivers $bg"
	send a 10.0.0.100 5001 -t 4
	receivers="$receivers $bg"
	send b 10.0.0.100 5000 -t 3 -r 8000000
	# shellcheck disable=SC2086
	finish $receivers "$bg"
	came=$(received r 5000 .packets)
	offered=$(jq .sent "$scratch/b.sent.5000.json")
	say "$came of $offered came, $(received r 5001 .packets) of priority 7"
	at_least "packets beside the flood" "$came" $((offered * 95 / 100))
	at_least "excess" "$(stat sw r0 ctrl_excess)" 1000
	# A flow that is partly in the band and partly not keeps its order.
	at_least "packets of priority 7" "$(received r 5001 .packets)" 1000
	equal "reordered" "$(received r 5001 .reordered)" 0
	frames close
}

run_tests arp_flood priority_flood -- lldp_flood nd_flood
