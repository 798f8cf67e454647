#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The two resume rules side by side: with `drained` (the paper's) a congested
# queue runs dry for an HRTT, with `early` the link stays full.
#
#   s1 --\
#         sw --- r		all links 10 Mbit/s, delay 1 ms
#   s2 --/

# shellcheck source=selftests/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"

link=(rate 10mbit delay 1ms ring 2)

# run_rule RULE: sets share, the part of the link that two flows got
share=0
run_rule() {
	local rule=$1 port receiver
	switch sw
	host r 10.0.0.3/24
	host s1 10.0.0.1/24
	host s2 10.0.0.2/24
	cable sw r0 r e0 "${link[@]}"
	cable sw p1 s1 e0 "${link[@]}"
	cable sw p2 s2 e0 "${link[@]}"
	for port in r0 p1 p2; do
		bfc sw "$port" hrtt 5ms resume "$rule"
	done
	for port in r s1 s2; do
		bfc "$port" e0 role nic hrtt 5ms
	done
	peers_up
	meet 10.0.0.3 s1 s2
	receive r 5000 -t 30 -i 2
	receiver=$bg
	send s1 10.0.0.3 5000 -F 1 -t 6
	send s2 10.0.0.3 5000 -F 2 -t 6
	finish "$receiver"
	# 1000 bytes of payload are 1042 on the wire.
	share=$(received r 5000 '.bytes * 1.042 * 8 / .seconds / 1e7')
	equal "lost with $rule" "$(received r 5000 .lost)" 0
	say "$rule: $share of the link," \
		"peak $(stat sw r0 backlog_peak) bytes," \
		"pauses $(sum_stat pause_tx)"
	all_idle
	clean_up
}

test_early_keeps_the_link_full() {
	local drained
	run_rule drained
	drained=$share
	run_rule early
	at_least "share with early" "$share" 0.98
	simulated || return
	at_least "early minus drained" "$(calc "$share - $drained")" 0.01
}

run_tests early_keeps_the_link_full
