#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Queues as classes: all of them are shown, and they add up.
#
#   s e0 --------- e0 r      10 Mbit/s; the qdisc is on s

# Conditions are quoted for eval.
# shellcheck disable=SC2016
# shellcheck source=selftests/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"

topology() {
	host s 10.0.0.1/24
	host r 10.0.0.2/24
	cable s e0 r e0 rate 10mbit delay 100us ring 4
	meet 10.0.0.2 s
}

# total COLUMN: over all classes
total() { classes s e0 | awk -v c="$1" '{ n += $c } END { print n + 0 }'; }

test_numbers() {
	topology
	bfc s e0 queues 37
	equal "classes" "$(classes s e0 | wc -l)" 37
	equal "their numbers" "$(classes s e0 | cut -d' ' -f1 | tr '\n' ' ')" \
		"$(for i in {1..37}; do printf '%x ' "$i"; done)"
	equal "traffic before there was any" "$(total 2)" 0
	# Only to be looked at. The kernel's answer to "add" is not asked for: the plugin knows.
	check "a class can be added" eval '! tc -n s class add dev e0 \
		parent "$(stat s e0 handle)" classid "$(stat s e0 handle)28" bfc 2>"$scratch/add"'
	check "why it cannot: $(cat "$scratch/add")" grep -q "^bfc: classes" "$scratch/add"
	check "a class can be deleted" eval '! tc -n s class del dev e0 \
		classid "$(stat s e0 handle)1" 2>/dev/null'
	equal "classes" "$(classes s e0 | wc -l)" 37
}

test_sums() {
	topology
	# The port's control band, which is no class, must stay empty
	# while packets wait: no HELLO, no ARP, nothing of IPv6.
	in_ns s sysctl -qw net.ipv6.conf.e0.disable_ipv6=1
	ip -n s neigh replace 10.0.0.2 lladdr "$(mac r e0)" dev e0 \
		nud permanent
	ip -n r neigh replace 10.0.0.1 lladdr "$(mac s e0)" dev e0 \
		nud permanent
	bfc s e0 queues 16 flows 1000000 hrtt 4ms limit 300kb peer off
	ip -n s link set e0 type wire rate 10kbit	# 0.8 s a packet
	# More than fits: there are drops
	send s 10.0.0.2 5000 -f 6 -n 300
	send s 10.0.0.2 5001 -f 2 -n 50 -s 200
	sleep 2
	local before after sums
	for _ in {1..10}; do
		{ read -r before; read -r after; read -r sums; } < <(look)
		[ "$before" != "$after" ] || break
	done
	equal "backlog while it was looked at" "$after" "$before"
	equal "packets queued, queues occupied" "${sums#* }" "${before#* }"
	# Each figure may be rounded; less than the smallest packet in all
	at_most "difference of bytes queued" \
		"$(calc "sqrt((${sums%% *} - ${before%% *}) ^ 2)")" 200
	at_least "queues occupied" "${before##* }" 6
	ip -n s link set e0 type wire rate 10mbit
	finish "${pids[@]}"
	check "not drained" wait_for 20 port_is_empty

	equal "drops" "$(total 4)" "$(stat s e0 drops)"
	at_most "largest peak of a queue against the port's" \
		"$(classes s e0 | awk '$7 > n { n = $7 } END { print n }')" \
		"$(stat s e0 backlog_peak)"
	at_least "largest peak of a queue" \
		"$(classes s e0 | awk '$7 > n { n = $7 } END { print n }')" 1042
	# The port has sent a few of its control band besides.
	equal "packets sent" "$(awk -v all="$(stat s e0 packets)" \
		-v queues="$(total 3)" '
		BEGIN { print (all - queues >= 0 && all - queues <= 10) }')" 1
	at_least "packets sent" "$(total 3)" 100
	say "dropped $(total 4)"
}
# look: bytes, packets and queues occupied of the port, the same once more when
# its classes have been shown, and the sums of the classes; by a single tc
look() {
	printf '%s show dev e0\n' qdisc class qdisc | tc -n s -s -batch - |
		tr -d '(,)' | awk "$awk_size"'
		$1 == "qdisc"		{ class = 0 }
		$1 == "class"		{ class = 1 }
		$1 == "backlog" && class {
			bytes += size($2); packets += $3; queues += !!($3 + 0)
		}
		$1 == "backlog" && !class { held = size($2) " " $3 + 0 }
		$1 == "occupied"	{ print held " " $2 }
		END			{ print bytes, packets, queues }'
}
port_is_empty() { [ "$(stat s e0 qlen)" = 0 ]; }

run_tests numbers sums
