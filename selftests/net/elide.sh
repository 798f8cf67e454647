#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# elide: packets from the ingress ports listed are not counted (BFC App. B).
#
#   h1 --p1-\
#   h2 --p2--> sw --r0-- r
#   h3 --p3-/
#
# All links 20 Mbit/s, incast to r.

# shellcheck source=selftests/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"

# incast: afterwards pauses[i] is how often h<i>'s queues were paused by it
incast() {
	local i receiver sent=() before=()
	receive r 5000 -t 40 -i 3
	receiver=$bg
	for i in 1 2 3; do
		before[i]=$(stat "h$i" e0 pause_rx)
	done
	elided=$(stat sw r0 elided) counted=$(stat sw r0 counted)
	for i in 1 2 3; do
		send "h$i" 10.0.0.100 5000 -F "$i" -t 2
		sent+=("$bg")
	done
	finish "${sent[@]}" "$receiver"
	equal "lost" "$(received r 5000 .lost)" 0
	elided=$(($(stat sw r0 elided) - elided))
	counted=$(($(stat sw r0 counted) - counted))
	for i in 1 2 3; do
		pauses[i]=$(($(stat "h$i" e0 pause_rx) - before[i]))
	done
	say "pauses ${pauses[*]}, elided $elided, counted $counted"
	all_idle
}

test_one_port() {
	hosts_to_r 3 elide p1
	incast
	equal "pauses of h1" "${pauses[1]}" 0
	equal "pauses that p1 sent" "$(stat sw p1 pause_tx)" 0
	at_least "pauses of h2" "${pauses[2]}" 5
	at_least "pauses of h3" "${pauses[3]}" 5
	at_least "elided" "$elided" 10
	at_least "counted" "$counted" 10
}

test_two_ports() {
	hosts_to_r 3 elide p1,p3
	incast
	equal "pauses of h1 and h3" "${pauses[1]} ${pauses[3]}" "0 0"
	at_least "pauses of h2" "${pauses[2]}" 5
	at_least "elided" "$elided" 10
}

test_list_changes() {
	hosts_to_r 3
	incast
	equal "elided without a list" "$elided" 0
	at_least "pauses of h1" "${pauses[1]}" 5
	tc -n sw qdisc change dev r0 root bfc elide p2
	incast
	equal "pauses of h2" "${pauses[2]}" 0
	at_least "pauses of h1" "${pauses[1]}" 5
	# Another list replaces the first, another option leaves it alone.
	tc -n sw qdisc change dev r0 root bfc elide p1
	tc -n sw qdisc change dev r0 root bfc hrtt 5ms
	incast
	equal "pauses of h1" "${pauses[1]}" 0
	at_least "pauses of h2" "${pauses[2]}" 5
	tc -n sw qdisc change dev r0 root bfc elide none
	incast
	equal "elided after none" "$elided" 0
	at_least "pauses of h1" "${pauses[1]}" 5
}

test_listed_device_goes() {
	local index shown
	hosts_to_r 3 elide p1,p2
	index=$(ip -n sw -j link show p1 | jq '.[].ifindex')
	ip -n sw link del p1
	equal "list without it" "$(stat sw r0 options.elide)" '["p2"]'
	check "another option" tc -n sw qdisc change dev r0 root bfc hrtt 5ms
	# What tc shows can be given back.
	shown=$(tc -n sw qdisc show dev r0 | sed 's/.* refcnt [0-9]* //')
	# shellcheck disable=SC2086
	check "given back: $shown" tc -n sw qdisc replace dev r0 root handle 77: bfc $shown
	# Its number is another device's then, here and in the next list.
	ip -n sw link add p9 index "$index" type dummy
	equal "list with another of that number" "$(stat sw r0 options.elide)" '["p2"]'
	tc -n sw qdisc change dev r0 root bfc elide p9,p2,p3
	ip -n sw link set p9 netns h2
	equal "list without one in another namespace" "$(stat sw r0 options.elide)" '["p2","p3"]'
	tc -n sw qdisc change dev r0 root bfc elide p2
	# Another one of the same name is another device.
	cable sw p1 h1 e0
	bfc sw p1 hrtt 4ms
	bfc h1 e0 role nic queues 128 hrtt 4ms
	peers_up
	meet 10.0.0.100 h1
	incast
	at_least "pauses of the new p1's neighbour" "${pauses[1]}" 5
	equal "pauses of h2" "${pauses[2]}" 0
	at_least "pauses of h3" "${pauses[3]}" 5
	check "a new list" tc -n sw qdisc change dev r0 root bfc elide p3
	equal "list" "$(stat sw r0 options.elide)" '["p3"]'
}

# What is never over Th is not exempted from anything, be there a mode that pauses priorities in
# another namespace or not.
test_beside_a_mode_of_another_namespace() {
	hosts_to_r 1 elide p1
	host x
	ip -n x link add d0 type dummy
	check "fc pfc" tc -n x qdisc add dev d0 root bfc fc pfc
	send h1 10.0.0.100 5000 -n 10 -r 100000
	finish "$bg"
	equal "elided" "$(stat sw r0 elided)" 0
}

pauses=()
run_tests one_port two_ports beside_a_mode_of_another_namespace listed_device_goes -- list_changes
