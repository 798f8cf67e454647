#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Which priority a packet has: by its VLAN tag, its DSCP or what Linux gave it.
#
#   h --ph-- sw --pn-- n		h and n are made of Python
#
# All links 20 Mbit/s, delay 100 us.

# Functions are called by name.
# shellcheck disable=SC2317
# shellcheck source=selftests/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"

# With a queue for each priority a class is one.
mode=(fc pfc hrtt 6ms watchdog off queues 8)

# line OPTIONS...: of the switch's ports
line() {
	switch sw
	host h 10.0.0.1/24
	host n 10.0.0.2/24
	without_ipv6 sw h n
	cable sw ph h e0
	cable sw pn n e0 rate 2mbit delay 100us ring 8	# 65535 quanta: 16 s
	meet 10.0.0.2 h
	frames open h h e0
	frames open n n e0
	bfc sw ph "${mode[@]}" "$@"
	bfc sw pn "${mode[@]}" "$@"
	port=(sw pn)
	dst=$(mac n e0)
}

# left: packets of each priority that have left
left() { classes "${port[@]}" | awk '{ printf "%s%d", (NR > 1 ? " " : ""), $3 }'; }
left_is() { [ "$(left)" = "$1" ]; }

# held: what came in and waits, by priority: 1 if any
held() {
	tc -n sw -s -j qdisc show dev ph root |
		jq -r '[.[0].prios[] | if .held > 0 then 1 else 0 end] | join(" ")'
}

# give_all: so many frames of each value that no two priorities get as many
give_all() {
	local pair
	for pair in "${pairs[@]}"; do
		"$give" "${pair%:*}" $((${pair%:*} % 7 + 1)) $((3000 + ${pair%:*}))
	done
}

# lands GIVE VALUE:PRIO...: what "GIVE VALUE NUMBER DPORT" sends has that priority,
# and waits if n pauses it, which is done to the first one
lands() {
	local give=$1 pair prio number want seen='' ports='' waits=''
	shift
	local pairs=("$@") stop=${1#*:} twice
	read -ra want <<<"$(left)"
	twice=("${want[@]}")
	for pair in "$@"; do
		prio=${pair#*:} number=$((${pair%:*} % 7 + 1))
		want[prio]=$((want[prio] + number))
		twice[prio]=$((twice[prio] + 2 * number))
		ports+="${ports:+,}\"$((3000 + ${pair%:*}))\""
		seen+="${seen:+ }$((prio == stop ? 0 : number))"
	done
	give_all
	wait_for 3 left_is "${want[*]}" ||
		fail "$give: packets by priority: $(left) instead of ${want[*]}"
	frames pfc n $((1 << stop)) 65535
	wait_for 2 paused "$stop" || fail "$stop is not paused"
	frames clear n
	give_all
	sleep 0.3
	frames count n dport
	equal "$give: frames of $ports while $stop is paused" \
		"$(answered "[.[$ports] | . // 0] | join(\" \")")" "$seen"
	if [ "${port[0]}" = sw ]; then
		for prio in {0..7}; do
			waits+="${waits:+ }$((prio == stop))"
		done
		equal "$give: priorities held of h" "$(held)" "$waits"
	fi
	frames pfc n $((1 << stop)) 0
	wait_for 3 left_is "${twice[*]}" ||
		fail "$give: packets by priority at last: $(left) instead of ${twice[*]}"
}
paused() { [ "$(stat "${port[@]}" "prios[$1].paused")" = true ]; }

# What GIVE of lands() can be
udp() {
	frames udp h dst="$dst" from=10.0.0.1 to=10.0.0.2 count="$2" dport="$3" \
		size=40 "${@:4}"
}
tagged() { udp "$1" "$2" "$3" tags=8100:$(($1 << 13 | 5)); }
twice_tagged() {
	udp "$1" "$2" "$3" tags=88a8:$(($1 << 13 | 6)),8100:$(((7 - $1) << 13 | 5))
}
dscp() { udp "$1" "$2" "$3" tos=$(($1 << 2 | 3)); }
dscp6() {
	udp "$1" "$2" "$3" tos=$(($1 << 2 | 3)) from=fd00::1 to=fd00::2 label=0xfffff
}
dscp_tagged() { udp "$1" "$2" "$3" tos=$(($1 << 2)) tags=8100:$((3 << 13 | 5)); }
dscp_twice_tagged() {
	udp "$1" "$2" "$3" tos=$(($1 << 2)) \
		tags=88a8:$((3 << 13 | 6)),8100:$((2 << 13 | 5))
}
dscp6_thrice_tagged() {
	udp "$1" "$2" "$3" tos=$(($1 << 2)) from=fd00::1 to=fd00::2 \
		tags=88a8:$((3 << 13 | 6)),88a8:7,8100:$((2 << 13 | 5))
}

pcps=(3:3 0:0 1:1 2:2 4:4 5:5 6:6 7:7)
# The class selector is the priority.
dscps=(26:3 0:0 7:0 10:1 18:2 34:4 46:5 48:6 63:7)

test_pcp() {
	line prio pcp
	lands tagged "${pcps[@]}"
	lands twice_tagged "${pcps[@]}"
	lands udp 0:0
}

test_dscp() {
	line prio dscp
	lands dscp "${dscps[@]}"
	lands dscp6 "${dscps[@]}"
	lands dscp_tagged "${dscps[@]}"
	lands dscp_twice_tagged "${dscps[@]}"
	lands dscp6_thrice_tagged "${dscps[@]}"
}

# What is not listed is as without a map.
test_map() {
	line prio dscp map 46:3,0:7,26:0
	set -- 46:3 0:7 26:0 24:3 8:1 7:0 63:7
	lands dscp "$@"
	lands dscp6 "$@"
	tc -n sw qdisc change dev pn root bfc prio pcp map 0:5,5:0,7:1
	tc -n sw qdisc change dev ph root bfc prio pcp map 0:5,5:0,7:1
	lands tagged 5:0 0:5 7:1 1:1 2:2 3:3 4:4 6:6
	lands udp 0:5
	# None takes the place of the last one.
	tc -n sw qdisc change dev pn root bfc map auto
	lands tagged "${pcps[@]}"
}

# As tc has set it: 7 is TC_PRIO_CONTROL, which no queue gets.
by_filter() { udp "$1" "$2" "$3"; }
test_skb() {
	local value
	line prio skb
	tc -n sw qdisc add dev ph clsact
	for value in {0..16}; do
		echo "filter add dev ph ingress protocol ip flower ip_proto udp" \
			"dst_port $((3000 + value)) action skbedit" \
			"priority $(printf %x "$value")"
	done | tc -n sw -batch -
	lands by_filter 3:3 0:0 1:1 2:2 4:4 5:5 6:6 8:7 15:7 16:0
	tc -n sw qdisc change dev pn root bfc map 8:5,15:3,3:4
	lands by_filter 15:3 3:4 8:5 4:4 9:7
	# Never paused
	frames pfc n 0xff 65535
	wait_for 2 paused 7 || fail "7 is not paused"
	by_filter 7 3 3007
	frames wait n 2 3 dport=3007
	equal "frames of control" "$(answered length)" 3
}

# A host has one queue for each flow, by priority; what Python sends is tagged already.
by_socket() {
	send h 10.0.0.2 "$3" -P "$1" -n "$2" -s 40
	finish "$bg"
}
test_host() {
	host h 10.0.0.1/24
	host n 10.0.0.2/24
	without_ipv6 h n
	cable h e0 n e0 rate 2mbit delay 100us ring 8
	meet 10.0.0.2 h
	frames open h h e0
	frames open n n e0
	bfc h e0 role nic "${mode[@]}" prio skb map 8:7
	port=(h e0)
	dst=$(mac n e0)
	lands by_socket 3:3 1:1 2:2 4:4 5:5 6:6 8:7 9:7
	tc -n h qdisc change dev e0 root bfc prio pcp map auto
	lands twice_tagged "${pcps[@]}"
	tc -n h qdisc change dev e0 root bfc prio dscp
	lands dscp6 "${dscps[@]}"
}

# marks MODE VID TOS [FIELDS...]: a frame with two tags keeps all but its ECN bits
marks() {
	local said
	tc -n sw qdisc change dev pn root bfc fc "$1" ecn 2kb
	said=$(stat sw pn ecn_mark)
	frames clear n
	frames pfc n 0xff 65535
	wait_for 2 paused 0 || fail "$1: not paused"
	udp 0 60 3000 size=300 tags=88a8:6,8100:"$2" tos="$3" "${@:4}"
	frames pfc n 0xff 0
	check "$1: not resumed" wait_for 5 drained sw pn
	sleep 0.2
	frames seen n
	equal "$1: inner VLANs" \
		"$(answered '[.[] | select(.ntags == 2) | .tags[1][1]] | unique | join(" ")')" \
		"$2"
	equal "$1: frames" "$(answered 'map(select(.dport == 3000)) | length')" 60
	equal "$1: with a wrong checksum" \
		"$(answered 'map(select(.sound == false)) | length')" 0
	said=$(($(stat sw pn ecn_mark) - said))
	at_least "$1: marked" "$said" 5
	equal "$1: marks that came" \
		"$(answered "map(select(.tos == $(($3 | 3)))) | length")" "$said"
}

# Of a bridged frame with two tags the kernel takes the inner one for the IP header.
test_ecn_behind_two_tags() {
	local mode modes=(pfc)
	# What FAFC predicts of an emulated machine's queue may be that it ends.
	! simulated || modes+=(fafc)
	line
	for mode in "${modes[@]}"; do
		marks "$mode" 2 2
		marks "$mode" 16 41 from=fd00::1 to=fd00::2
	done
}

# burst COUNT SIZE TOS: so many frames to n, which wait
burst() { udp 0 "$1" 3000 size="$2" tos="$3"; }

waiting() { [ "$(stat sw pn qlen)" -ge "$1" ]; }

# ramp TEXT BASE: fills the queue, which is paused, to so many bytes; then 500 frames that can be
# marked. Each is with the probability of the queue that it meets: the marks are as many as
# these are together, to 4 sigma of the sum of so many draws.
ramp() {
	local name=$1 base=$2 marks from to n=500
	while from=$(stat sw pn backlog) && [ "$from" -lt $((base - 1442)) ]; do
		burst $(((base - from) / 1442)) 1400 0
		sleep 0.5
	done
	marks=$(stat sw pn ecn_mark)
	burst $n 58 2
	sleep 0.3
	to=$(stat sw pn backlog)
	equal "$name: bytes that came" "$(((to - from) % n)) $((to - from > 0))" "0 1"
	marks=$(($(stat sw pn ecn_mark) - marks))
	say "$name: $from to $to bytes, $marks marks of $n"
	ramp_says "$from" "$to" $n "${kmin:?}" "${kmax:?}" "${pmax:?}" >"$scratch/line"
	read -r least most <"$scratch/line"
	at_least "$name: marks" "$marks" "$least"
	at_most "$name: marks" "$marks" "$most"
}

# ramp_says FROM TO FRAMES KMIN KMAX PMAX: marks that are to be expected, at least and at most
ramp_says() {
	awk -v from="$1" -v to="$2" -v n="$3" -v kmin="$4" -v kmax="$5" -v pmax="$6" 'BEGIN {
		for (i = 1; i <= n; i++) {
			bytes = from + (to - from) * i / n
			p = bytes <= kmin ? 0 : bytes > kmax ? 1 : pmax * (bytes - kmin) / (kmax - kmin)
			mean += p
			var += p * (1 - p)
		}
		least = mean - 4 * sqrt(var)
		up = int(least) < least
		print int(least) + up, int(mean + 4 * sqrt(var))
	}'
}

# Marks as a ramp: none below Kmin, the line between, all beyond Kmax; and as it is changed
# while the queue stands.
test_ecn_ramp() {
	local kmin=100000 kmax=450000 pmax=0.5 least most
	mode+=(xoff 4mb limit 64mb)
	line ecn ${kmin}b kmax ${kmax}b pmax 50%
	frames pfc n 0xff 65535
	wait_for 2 paused 0 || fail "not paused"
	ramp "below Kmin" 30000
	equal "marks below Kmin" "$(stat sw pn ecn_mark)" 0
	ramp "at its foot" 120000
	frames pfc n 0xff 65535
	ramp "half way" 250000
	ramp "near the top" 380000
	frames pfc n 0xff 65535
	ramp "beyond Kmax" 460000
	tc -n sw qdisc change dev pn root bfc kmax 1000000b pmax 10%
	kmax=1000000 pmax=0.1
	ramp "another ramp" 520000
	frames pfc n 0xff 65535
	tc -n sw qdisc change dev pn root bfc kmax off pmax 100%
	kmax=0 pmax=1
	ramp "a step" 560000
	tc -n sw qdisc change dev pn root bfc ecn off
	kmin=100000000 kmax=100000001
	ramp "off" 600000
	equal "still paused" "$(stat sw pn 'prios[0].paused')" true
	equal "lost" "$(stat sw pn drops)" 0
}

run_tests pcp dscp map skb host ecn_behind_two_tags ecn_ramp
