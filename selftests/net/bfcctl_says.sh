#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# What bfcctl says to mistakes, with its exit code: 2 for words, 1 for what it finds. Each message
# names what is wrong, and what to give instead where that can be said. See also bfcctl.sh.
#
#   a --e0-- b

# shellcheck source=selftests/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"
# shellcheck source=selftests/bfcctl.sh
. "$top/selftests/bfcctl.sh"

test_words() {
	local command
	for command in hpcc delay int size; do
		refuses 2 "what is \"$command nonsense\"\? \(bfcctl --help\)" "$command" nonsense
	done
	refuses 2 '"metrics" has a format of its own, not JSON' -j metrics
	refuses 2 'give --cgroup and a directory' size on
}

# Congestion control: which parameter it lacks, and which words it takes
test_congestion_control() {
	local on words
	refuses 2 'give "rate", .* and "rtt", slightly more than the longest RTT' \
		hpcc on rate 10gbit
	refuses 2 'give "rate", .* and "rtt", slightly more than the longest RTT' hpcc on rtt 20us
	refuses 2 'give "rate", .* and "rtt", that of the empty network' delay on rtt 20us
	refuses 2 '"sockops" needs --cgroup' hpcc on rate 10gbit rtt 20us sockops
	refuses 2 'illegal "sometimes" for "react": give one of both, per-ack, per-rtt' \
		hpcc on rate 10gbit rtt 20us react sometimes
	# W_AI counts 1/256 byte: 1250 bytes x 0.05 / 16000 is the last. None: only if it is given.
	on=(hpcc on --cgroup /nonsense rate 100mbit rtt 100us)
	for words in "eta 1" "eta 1000 flows 1" "flows 16001" "flows 1000000"; do
		# shellcheck disable=SC2086
		refuses 2 'no additive increase is left .* lower "flows" or "eta", or give "wai"' \
			"${on[@]}" $words
		# shellcheck disable=SC2086
		refuses 1 'No such file' "${on[@]}" $words wai 0
	done
	refuses 1 'No such file' "${on[@]}" flows 16000
	printf '[host]\nhpcc on rate 100mbit rtt 100us eta 1\n' >"$scratch/conf"
	refuses 2 "$scratch/conf:2: no additive increase is left" apply --file "$scratch/conf"
}

# Without a file of the administrator's nothing is applied, rather than nothing wanted.
test_nothing_to_apply() {
	no_conf || return 0
	host a 10.0.0.1/24
	host b 10.0.0.2/24
	cable a e0 b e0
	bfc a e0 role nic hrtt 6ms
	refuses 1 "nothing to apply: neither /etc/bfc.conf nor /etc/bfc.d/\*.conf is there: \
bfc.conf\(5\)" -n a apply
	equal "hrtt of e0" "$(stat a e0 options.hrtt)" 6000000
}

# A line of a file is named with the message.
test_lines_of_a_file() {
	local words conf=$scratch/conf
	printf -v words 'e%s ' {1..128}
	printf '[port e0]\n%s\n' "queues $words" >"$conf"
	refuses 2 "$conf:2: more than 128 words" apply --file "$conf"
	printf '[host]\n\nint nonsense\n' >"$conf"
	refuses 2 "$conf:3: what is \"int nonsense\"" apply --file "$conf"
}

# The priority that the UDP program needs belongs to a filter of the administrator's: that stays,
# and nothing of bfcctl's is left.
test_filter_of_another_kind() {
	local filters
	host a 10.0.0.1/24
	host b 10.0.0.2/24
	cable a e0 b e0
	tc -n a qdisc add dev e0 clsact
	tc -n a filter add dev e0 ingress protocol all prio 1 matchall action ok
	filters=$(tc -n a filter show dev e0 ingress)
	refuses 1 "e0: cannot attach the UDP program at ingress: a filter of another kind seems to \
have priority 1, which it needs \(tc filter show dev e0 ingress\)" -n a int attach e0
	equal "filters" "$(tc -n a filter show dev e0 ingress)" "$filters"
	equal "filters at egress" "$(tc -n a filter show dev e0 egress)" ""
	nothing_pinned
	tc -n a filter del dev e0 ingress
	ctl -n a int attach e0
	ctl -n a int detach e0
	nothing_pinned
}

# The UDP programs look for IP behind an Ethernet header, which the loopback device's packets have.
test_no_ethernet() {
	new_ns x
	ctl -n x int attach lo
	ctl -n x int detach lo
	ip -n x link add name t0 type ipip local 10.9.9.1 remote 10.9.9.2 2>"$scratch/err" || {
		skip="this kernel has no ipip"
		return
	}
	refuses 1 't0 is no Ethernet device' -n x int attach t0
	equal "qdiscs" "$(tc -n x qdisc show dev t0 | grep -c clsact)" 0
	nothing_pinned
}

run_tests words congestion_control nothing_to_apply lines_of_a_file filter_of_another_kind \
	no_ethernet
