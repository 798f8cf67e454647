#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# bfcctl apply: ports as bfc.conf(5) says, again and again, live and by a replacement.
#
#   h1 --p1- sw -p2-- h2		and devices d0, d1, ... of a namespace x

# shellcheck source=selftests/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"

# shellcheck source=selftests/apply.sh
. "$top/selftests/apply.sh"

group=/sys/fs/cgroup/apply

test_first_and_second() {
	devices d0 d1 e0
	conf '# ports of a switch
[port d*]
	limit 1mb  queues 64   # two on a line
	rate 1gbit
	hrtt 50us
[port e0 d1]
	role nic
'
	apply 0
	says "d0: added bfc queues 64 hrtt 50us rate 1Gbit limit 1Mb" \
		"d1: added bfc role nic queues 64 hrtt 50us rate 1Gbit limit 1Mb" \
		"e0: added bfc role nic"
	warns 'bfc.conf:6: e0: link speed unknown, thresholds assume 1 Gbit/s'
	equal "messages" "$(wc -l <"$scratch/err")" 1
	equal "d1" "$(stat x d1 options.role) $(stat x d1 options.queues) \
$(stat x d1 options.hrtt) $(stat x d1 options.limit)" "nic 64 50000 1048576"
	without_news apply 0
	says "d0: nothing to do" "d1: nothing to do" "e0: nothing to do"
	without_news apply 0 --dry-run
	without_news apply 0 --replace
	says "d0: nothing to do" "d1: nothing to do" "e0: nothing to do"
	# By hand or by apply: the same
	tc -n x qdisc replace dev e0 root handle 7: bfc role nic
	without_news apply 0
}

# What the file does not give is the default, whatever it was, and in whichever mode.
test_back_to_the_default() {
	local default
	devices d0
	conf "[port d0]"
	apply 0
	default=$(shown d0)
	conf "[port d0]
		fc fafc thop 20us alpha 0.5 prio dscp map 46:5,48:7 ecn 40kb
		strict 7 lossless 3,4 xoff 1mb buffer b size 1mb share 12.5% reserve 10kb
		watchdog off sticky 1ms split-gso off tpid 88a8 rate 1gbit elide lo"
	apply 0
	silent
	without_news apply 0
	conf "[port d0]"
	apply 0
	silent
	equal "d0" "$(shown d0)" "$default"
	without_news apply 0
	conf "[port d0]
		fc bfc tpid 8100 accept-pause on resume drained dst-prefix 24
		assign dynamic elide lo"
	apply 1
	warns "bfc.conf:2: d0: dst-prefix: used by fc bfc with assign destination or root only"
	check "says $(cat "$scratch/out")" grep -q \
		'^d0: cannot change assign destination -> dynamic, dst-prefix 32' \
		"$scratch/out"
	equal "d0" "$(shown d0)" "$default"
	conf "[port d0]
		tpid 8100 accept-pause on resume drained dst-prefix 24 elide lo"
	apply 0
	conf "[port d0]
		fc pfc"
	apply 0
	conf "[port d0]"
	apply 0
	equal "d0" "$(shown d0)" "$default"
}

# Words and numbers mean what they mean to tc.
test_as_tc_reads_it() {
	local words by_tc
	devices d0
	for words in "rate 10gbit" "rate 1.5mbit" "rate 1000Bps" "rate 2Mibit" \
		"rate 12345678bit" "limit 70000b" "limit 1.5mb" "limit 1024k" \
		"limit 8mbit" "limit 1g" "hrtt 12.345us" "hrtt 200ns" "hrtt 0.25us" \
		"hrtt 1msec" "hrtt 1s" "hrtt 12usecs" "quantum 3000b hrtt auto" \
		"sticky 0" "sticky auto" "flows 4000 ways 2" "flows auto ways 1" \
		"fc pfc lossless 3,4 watchdog 5ms" "fc pfc lossless none strict all" \
		"fc capfc-cal cut 33% warn 20kb egress-xoff 50kb" \
		"fc fafc alpha 0.123 beta .9" "fc pfc prio dscp map 46:5,48:7" \
		"elide lo" "elide d0,lo" "fc pfc buffer b size 2mb dynamic 12.5%" \
		"peer off tpid 8100"; do
		# shellcheck disable=SC2086
		tc -n x qdisc add dev d0 root bfc $words 2>"$scratch/err" ||
			fail "tc refuses $words: $(cat "$scratch/err")"
		by_tc=$(shown d0)
		conf "[port d0]
			$words"
		apply 0
		says "d0: nothing to do"
		tc -n x qdisc del dev d0 root
		apply 0
		equal "$words" "$(shown d0 | sed 's/.* refcnt //')" \
			"${by_tc#* refcnt }"
		tc -n x qdisc del dev d0 root
	done
}

line() {
	switch sw
	host h1 10.0.0.1/24
	host h2 10.0.0.2/24
	cable sw p1 h1 e0
	cable sw p2 h2 e0 rate 2mbit delay 100us ring 1
}

queued() { [ "$(stat sw p2 backlog)" -gt 20000 ]; }

# Under traffic a live change takes nothing: packets, statistics, handle, neighbour.
test_live() {
	local handle_was sent backlog receiver
	line
	ns=sw
	conf "[port p?]
		hrtt 4ms limit 4mb"
	apply 0
	bfc h1 e0 role nic hrtt 4ms
	bfc h2 e0 role nic hrtt 4ms
	peers_up
	meet 10.0.0.2 h1
	receive h2 5000 -t 100 -i 3
	receiver=$bg
	send h1 10.0.0.2 5000 -f 8 -n 100
	wait_for 10 queued
	handle_was=$(stat sw p2 handle)
	sent=$(stat sw p2 bytes)
	conf "[port p?]
		hrtt 3ms limit 8mb quantum 3000b"
	apply 0
	says "p1: changed hrtt 4ms -> 3ms, limit 4Mb -> 8Mb, quantum auto -> 3000b" \
		"p2: changed hrtt 4ms -> 3ms, limit 4Mb -> 8Mb, quantum auto -> 3000b"
	backlog=$(stat sw p2 backlog)
	check "queued before, not any more: $backlog" [ "$backlog" -gt 10000 ]
	equal "handle" "$(stat sw p2 handle)" "$handle_was"
	check "statistics begin anew" [ "$(stat sw p2 bytes)" -ge "$sent" ]
	equal "neighbour" "$(stat sw p2 peer_state)" up
	without_news apply 0
	finish "$bg" "$receiver"
	all_idle
	equal "arrived" "$(received h2 5000 .packets)" 800
	equal "drops" "$(sum_stat drops)" 0
	ns=x
}

test_replacement() {
	local before
	devices d0
	conf "[port d0]
		rate 1gbit"
	apply 0
	conf "[port d0]
		rate 1gbit limit 2mb queues 64 ways 2"
	before=$(stat x d0 handle)
	apply 3
	says "d0: changed limit 16Mb -> 2Mb; needs a replacement: queues 32 -> 64, ways 4 -> 2 (--replace; that drops the packets that wait in the port's queues, starts its statistics at 0 and agrees anew with the neighbour)"
	equal "limit and queues" "$(stat x d0 options.limit) $(stat x d0 options.queues)" \
		"2097152 32"
	without_news apply 3
	without_news apply 3 --dry-run --replace
	says "d0: would replace by bfc queues 32 -> 64, ways 4 -> 2"
	equal "handle" "$(stat x d0 handle)" "$before"
	apply 0 --replace
	says "d0: replaced by bfc queues 32 -> 64, ways 4 -> 2"
	check "the handle is $before still" [ "$(stat x d0 handle)" != "$before" ]
	equal "limit, queues, ways" "$(stat x d0 options.limit) \
$(stat x d0 options.queues) $(stat x d0 options.ways)" "2097152 64 2"
	without_news apply 0
	# A qdisc that was chosen is not taken away, one that the kernel chose is.
	tc -n x qdisc replace dev d0 root handle 5: tbf rate 1gbit burst 10kb limit 10kb
	apply 3
	check "says $(cat "$scratch/out")" grep -q \
		'^d0: needs a replacement: it has tbf 5: .*(--replace; ' "$scratch/out"
	check "tbf has gone" grep -q 'tbf 5:' <(shown d0)
	apply 0 --replace
	without_news apply 0
	# Modes for which a port of several TX queues has to be made anew
	ip -n x link add v0 numtxqueues 4 type veth peer name v1
	conf "[port v0]"
	apply 0
	check "no scheduler for each TX queue" [ "$(stat x v0 txqs)" = 4 ]
	conf "[port v0]
		fc pfc"
	apply 0
	says "v0: changed fc bfc -> pfc"
	equal "schedulers" "$(stat x v0 txqs)" 4
	conf "[port v0]
		fc fafc"
	apply 3
	check "says $(cat "$scratch/out")" grep -q \
		'^v0: needs a replacement: [^b].*one scheduler.*: fc pfc -> fafc' "$scratch/out"
	apply 0 --replace
	equal "fc, schedulers" "$(stat x v0 options.fc) $(stat x v0 txqs)" "fafc 0"
	without_news apply 0
}

# The place of another kind: any handle that is free there
test_replacement_of_a_tree() {
	devices d0
	conf "[port d0]
		rate 1gbit"
	tc -n x qdisc add dev d0 root handle 5: tbf rate 1gbit burst 10kb limit 10kb
	tc -n x qdisc add dev d0 parent 5:1 handle 6: pfifo limit 10
	apply 3
	apply 0 --replace
	says "d0: replaced by bfc rate 1Gbit"
	without_news apply 0
}

test_patterns_and_later_ports() {
	devices d0 d1 eth0
	ip -n x link set lo up
	conf "[port *]
		limit 2mb
[port d1 d7]
		limit 3mb elide d0,d8
[port eth* mark]
		ignore
[port swp*]
		limit 1mb"
	apply 0
	says "d0: added bfc limit 2Mb" "d1: added bfc limit 3Mb elide d0"
	warns 'bfc.conf:3: no device is called d7 yet'
	warns 'bfc.conf:5: no device is called mark yet'
	warns 'bfc.conf:7: no device is called swp\* yet'
	warns 'bfc.conf:4: d1: elide d8: no such device yet'
	equal "messages" "$(grep -vc 'link speed unknown' "$scratch/err")" 4
	equal "lines of lo and eth0 with bfc" "$( (shown lo; shown eth0) |
		grep -c bfc)" 0
	# One of udev's, others are left alone
	plugged d7
	tc -n x qdisc change dev d0 root bfc limit 5mb
	apply 0 d7
	says "d7: added bfc limit 3Mb elide d0"
	equal "limit of d0" "$(stat x d0 options.limit)" $((5 << 20))
	# It is in the lists of others.
	plugged d8
	apply 0 d8
	says "d1: changed elide d0 -> d0,d8" "d7: changed elide d0 -> d0,d8" \
		"d8: added bfc limit 2Mb"
	silent
	apply 0 d8 d0
	says "d0: changed limit 5Mb -> 2Mb" "d1: nothing to do" "d7: nothing to do" \
		"d8: nothing to do"
	apply 0 eth0
	says "eth0: not in the file: left alone"
	apply 1 d9
	warns '^bfcctl: no such device: d9$'
	# It comes back with another number.
	ip -n x link del d8
	plugged d8
	apply 0 d8
	equal "elided" "$(stat x d1 options.elide | jq -c .)" '["d0","d8"]'
	without_news apply 0
}

old_apply() { LD_PRELOAD=$top/build/tools/oldmodule.so apply "$@"; }

# A module that is older than bfcctl, and in use still, knows hrtt-max not.
test_old_module() {
	devices d0
	conf "[port d0]
		rate 1gbit"
	old_apply 0
	says "d0: added bfc rate 1Gbit"
	old_apply 0
	says "d0: nothing to do"
	conf "[port d0]
		rate 1gbit limit 2mb queues 8"
	old_apply 3
	equal "limit" "$(stat x d0 options.limit)" $((2 << 20))
	old_apply 0 --replace
	says "d0: replaced by bfc queues 32 -> 8"
	old_apply 0
	says "d0: nothing to do"
	conf "[port d0]
		rate 1gbit limit 2mb queues 8 hrtt-max 1ms"
	old_apply 1
	warns 'bfc.conf:1: d0: Unknown attribute type'
	apply 0
	says "d0: changed hrtt-max auto -> 1ms"
}

# A port that does not work keeps no other from it; the message names the line.
test_one_fails() {
	devices d0 d1 d2
	conf "[port d*]
		rate 1gbit
		hrtt 1ms
[port d1]
		queues 4096"
	apply 1
	warns 'bfc.conf:5: d1: queues: 1 to 1024$'
	says "d0: added bfc hrtt 1ms rate 1Gbit" \
		"d1: cannot add bfc queues 4096 hrtt 1ms rate 1Gbit" \
		"d2: added bfc hrtt 1ms rate 1Gbit"
	conf "[port d*]
		hrtt 2ms
[port d1]
		hrtt 2s"
	apply 1
	warns 'bfc.conf:4: d1: hrtt: 100 ns to 1 s.*'
	equal "hrtt" "$(stat x d0 options.hrtt) $(stat x d2 options.hrtt)" \
		"2000000 2000000"
	conf "[port d*]
		hrtt 3ms
[port d1]
		stamp pinned id 4294967295"
	apply 1 -j
	warns 'bfc.conf:4: d1: "stamp": there is no program 4294967295 any more: .*'
	equal "JSON" "$(jq -c 'map([.dev, .action, .failed])' "$scratch/out")" \
		'[["d0","change",false],["d1","none",true],["d2","change",false]]'
	equal "hrtt" "$(stat x d0 options.hrtt) $(stat x d2 options.hrtt)" \
		"3000000 3000000"
}

test_dry_run() {
	local before words
	devices d0 d1
	conf "[port d*]
		limit 2mb"
	before=$(tc -n x qdisc show)
	without_news apply 3 --dry-run
	says "d0: would add bfc limit 2Mb" "d1: would add bfc limit 2Mb"
	equal "qdiscs" "$(tc -n x qdisc show)" "$before"
	apply 0 d0
	conf "[port d*]
		limit 3mb queues 8"
	before=$(tc -n x qdisc show)
	without_news apply 3 --dry-run
	check "says $(cat "$scratch/out")" grep -q \
		'^d0: would change limit 2Mb -> 3Mb; needs a replacement: queues 32 -> 8 (' \
		"$scratch/out"
	equal "qdiscs" "$(tc -n x qdisc show)" "$before"
	apply 3 --dry-run -j
	equal "JSON" "$(jq -c 'map([.dev, .action, .needs_replace, .failed,
		(.changes | map([.option, .from, .to, .fixed]))])' "$scratch/out")" \
		'[["d0","change",true,false,[["queues","32","8",true],["limit","2Mb","3Mb",false]]],["d1","add",false,false,[["queues",null,"8",false],["limit",null,"3Mb",false]]]]'
	apply 0 --replace
	apply 0 -j
	equal "JSON" "$(jq -c 'map([.dev, .action, .changes])' "$scratch/out")" \
		'[["d0","none",[]],["d1","none",[]]]'
	# What the kernel alone knows, as bfcctl(8) says
	ip -n x link add link d0 name v0 type vlan id 10
	for words in "limit 1kb" "fc bfc xoff 10kb" "fc bfc"; do
		conf "[port v0]
			$words"
		apply 3 --dry-run
		check "says $(cat "$scratch/out")" grep -q '^v0: would add bfc' "$scratch/out"
		apply 1
	done
	conf "[port v0]
		fc none"
	apply 0
}

# of_old MAP: as if another version of bfcctl had loaded what this belongs to: object_id()
# is the last of it
of_old() {
	# shellcheck disable=SC2046
	check "no map $1" bpftool map update pinned "$1" key 0 0 0 0 value hex $(
		bpftool -j map dump pinned "$1" | jq -r '.[0].value |
			(.[:-8] + [range(8) | "00"])[] | ltrimstr("0x")')
}

program() { stat "$ns" p2 options.stamp_id; }

test_programs() {
	local first words
	line
	ns=sw
	conf "[port p2]
		stamp attach node 7 every 3
		int attach"
	apply 3 --dry-run
	says "p2: would add bfc; would stamp attach node 7 every 3; would int attach"
	apply 0
	says "p2: added bfc; stamp attach node 7 every 3; int attach"
	silent
	first=$(program)
	equal "shown" "$(bfcctl -n sw -j stamp show p2 | jq -c '.[] | [.node, .every]')" \
		'[7,3]'
	without_news apply 0
	says "p2: nothing to do"
	equal "program" "$(program)" "$first"
	# An upgrade of bfcctl: nothing else may differ
	of_old /sys/fs/bpf/bfc/stamp-*-dev
	apply 0
	says "p2: stamp attach node 7 every 3"
	check "the program is that of before" [ "$(program)" != "$first" ]
	first=$(program)
	of_old /sys/fs/bpf/bfc/int-*-object
	apply 3 --dry-run
	says "p2: would int attach"
	apply 0
	says "p2: int attach"
	without_news apply 0
	says "p2: nothing to do"
	equal "program" "$(program)" "$first"
	conf "[port p2]
		stamp attach node 7 every 3
		int attach to 10.0.0.0/8 to fd00::/8"
	apply 3 --dry-run
	says "p2: would int attach to 10.0.0.0/8 to fd00::/8"
	apply 0
	says "p2: int attach to 10.0.0.0/8 to fd00::/8"
	without_news apply 0
	says "p2: nothing to do"
	# Another change leaves it.
	conf "[port p2]
		limit 1mb
		stamp attach every 3 node 7"
	apply 0
	says "p2: changed limit 16Mb -> 1Mb"
	equal "program" "$(program)" "$first"
	conf "[port p2]
		limit 1mb queues 8
		stamp attach node 8
		int detach"
	apply 3
	apply 0 --replace
	equal "shown" "$(bfcctl -n sw -j stamp show p2 | jq -c '.[] | [.node, .every]')" \
		'[8,1]'
	without_news apply 0
	# The qdisc was deleted: all of it again
	tc -n sw qdisc del dev p2 root
	apply 0
	says "p2: added bfc queues 8 limit 1Mb; stamp attach node 8"
	# No word of it: natively
	conf "[port p2]
		limit 1mb queues 8"
	apply 0
	says "p2: stamp detach"
	equal "stamp" "$(stat sw p2 options.stamp)" native
	without_news apply 0
	nothing_pinned
	# tc's own way
	bpftool prog load "$top/build/bpf/bfc_stamp.bpf.o" /sys/fs/bpf/mine \
		type classifier >"$scratch/load" 2>&1 || fail "$(cat "$scratch/load")"
	conf "[port p2]
		limit 1mb queues 8
		stamp pinned /sys/fs/bpf/mine"
	apply 0
	equal "stamp" "$(stat sw p2 options.stamp)" pinned
	first=$(program)
	without_news apply 0
	equal "program" "$(program)" "$first"
	# As tc shows it
	words=$(tc -n sw qdisc show dev p2 | grep -o "id $first name [^ ]* tag [^ ]*")
	for words in "$words" "id $first"; do
		conf "[port p2]
			limit 1mb queues 8
			stamp pinned $words"
		without_news apply 0
		says "p2: nothing to do"
	done
	conf "[port p2]
		limit 1mb queues 8
		stamp pinned id $first tag 0123456789abcdef"
	apply 1
	warns "bfc.conf:3: p2: .*program $first is another one now: .*"
	equal "program" "$(program)" "$first"
	conf "[port p2]
		limit 1mb queues 8
		stamp pinned /sys/fs/bpf/mine"
	rm /sys/fs/bpf/mine
	apply 1
	warns 'bfc.conf:3: p2: .*cannot get the program at "/sys/fs/bpf/mine": No such file'
	conf "[port p2]
		limit 1mb queues 8
		stamp native"
	apply 0
	equal "stamp" "$(stat sw p2 options.stamp)" native
	without_news apply 0
	ns=x
}

# A qdisc that was deleted, or replaced, has left the pins.
test_program_of_a_deleted_qdisc() {
	local other
	devices d0 d1
	for other in none tbf; do
		conf "[port d0]
			stamp attach"
		apply 0 --replace
		tc -n x qdisc del dev d0 root
		[ "$other" = none ] ||
			tc -n x qdisc add dev d0 root handle 5: tbf rate 1gbit burst 10kb limit 10kb
		conf "[port d*]"
		apply 3 --dry-run --replace
		check "says $(cat "$scratch/out")" grep -qE \
			'^d0: would (add|replace by) bfc; would stamp detach$' "$scratch/out"
		apply 0 --replace
		check "says $(cat "$scratch/out")" grep -qE \
			'^d0: (added|replaced by) bfc; stamp detach$' "$scratch/out"
		nothing_pinned
		bfcctl -n x stamp restore
		equal "stamp" "$(stat x d0 options.stamp)" native
		without_news apply 0
		says "d0: nothing to do" "d1: nothing to do"
	done
}

# dumps N COMMAND...: it asks N times for all qdiscs, and each answer has all of them
dumps() {
	local n=$1
	shift
	: >"$scratch/asked"
	ASKED=$scratch/asked LD_PRELOAD=$top/build/tools/asked.so "$@"
	equal "dumps of $*" "$(grep -cx 38 "$scratch/asked")" "$n"
}

# The time for a box is not the square of its ports'.
test_dumps() {
	local i all=()
	for ((i = 0; i < 12; i++)); do
		all+=("d$i")
	done
	devices "${all[@]}"
	conf "[port d*]
		limit 1mb
		stamp attach"
	apply 0
	dumps 1 apply 0
	says "${all[@]/%/: nothing to do}"
	dumps 1 apply 0 d0
	conf "[port d*]
		limit 1mb
		stamp attach every 2"
	# One for each attachment, which is a command of its own
	dumps $((1 + 12)) apply 0
	dumps 1 bfcctl -n x stamp restore
	dumps 2 bfcctl -n x -j stamp show >"$scratch/out"
	equal "ports" "$(jq 'map(select(.every == 2)) | length' "$scratch/out")" 12
	ip -n x link del d0
	dumps 0 bfcctl -n x sweep
	equal "pins" "$(find /sys/fs/bpf/bfc -name 'stamp-*-dev' | wc -l)" 11
	conf "[port d*]
		limit 1mb"
	apply 0
	nothing_pinned
}

# A program stamps what leaves through any TX queue, and needs no other qdisc.
test_program_of_tx_queues() {
	local tx_queues=4 by
	line
	ns=sw
	conf "[port p2]
		limit 32mb
		stamp attach"
	apply 0
	says "p2: added bfc limit 32Mb; stamp attach"
	silent
	equal "schedulers" "$(stat sw p2 txqs)" 4
	without_news apply 0
	says "p2: nothing to do"
	bpftool prog load "$top/build/bpf/bfc_stamp.bpf.o" /sys/fs/bpf/mine \
		type classifier >"$scratch/load" 2>&1 || fail "$(cat "$scratch/load")"
	for by in attach "pinned /sys/fs/bpf/mine"; do
		conf "[port p2]
			limit 32mb"
		apply 0
		check "says $(cat "$scratch/out")" grep -qE '^p2: stamp (detach|[0-9]+ -> native)$' \
			"$scratch/out"
		equal "stamp" "$(stat sw p2 options.stamp)" native
		conf "[port p2]
			limit 1mb
			stamp $by"
		apply 0
		check "says $(cat "$scratch/out")" grep -qE "^p2: changed limit 32Mb -> 1Mb\
(, stamp native -> [0-9]+|; stamp attach)\$" "$scratch/out"
		silent
		equal "stamp" "$(stat sw p2 options.stamp)" pinned
		equal "schedulers" "$(stat sw p2 txqs)" 4
		without_news apply 0
		conf "[port p2]
			limit 32mb
			stamp $by"
		apply 0
		without_news apply 0
	done
	rm /sys/fs/bpf/mine
	# With one scheduler, as well
	conf "[port p2]
		txqs one
		stamp attach"
	apply 3
	equal "schedulers" "$(stat sw p2 txqs)" 4
	apply 0 --replace
	equal "schedulers" "$(stat sw p2 txqs)" 0
	equal "stamp" "$(stat sw p2 options.stamp)" pinned
	without_news apply 0
	# A mode that needs one has it by "auto".
	tc -n sw qdisc del dev p2 root
	conf "[port p2]
		fc pfc
		stamp attach"
	apply 0
	equal "schedulers" "$(stat sw p2 txqs)" 4
	conf "[port p2]
		fc fafc
		stamp attach"
	apply 3
	apply 0 --replace
	equal "schedulers" "$(stat sw p2 txqs)" 0
	equal "mode, stamp" "$(stat sw p2 options.fc) $(stat sw p2 options.stamp)" "fafc pinned"
	without_news apply 0
	# "auto" that has come to one
	conf "[port p2]
		fc fafc
		txqs one
		stamp attach"
	apply 0
	says "p2: nothing to do"
	# It takes a program when it has bfc.
	tc -n sw qdisc replace dev p2 root handle 5: tbf rate 1gbit burst 10kb limit 10kb
	conf "[port p2]
		stamp attach"
	for by in "" --dry-run; do
		# shellcheck disable=SC2086
		apply 3 $by
		check "says $(cat "$scratch/out")" grep -q \
			'^p2: needs a replacement: it has tbf 5: (--replace; [^)]*)$' \
			"$scratch/out"
		silent
	done
	apply 0 --replace
	says "p2: replaced by bfc; stamp attach"
	without_news apply 0
	conf "[port p2]
		stamp native"
	apply 0
	equal "stamp" "$(stat sw p2 options.stamp)" native
	ns=x
}

config_id() { bpftool -j map show pinned /sys/fs/bpf/bfc/cgroup-*/config | jq .id; }

test_host() {
	local first hpcc=()
	devices d0
	mkdir -p "$group"
	if simulated; then
		modprobe bfc_simcc
		hpcc=(sockops)
	fi
	conf "[host]
		int attach --cgroup $group every 4 to 10.0.0.0/8 to fd00::/8
		hpcc on --cgroup $group rate 10gbit rtt 50us ${hpcc[*]}
[port d0]"
	apply 3 --dry-run
	nothing_pinned
	apply 0
	says "d0: added bfc" \
		"host: int attach --cgroup $group every 4 to 10.0.0.0/8 to fd00::/8: done" \
		"host: hpcc on --cgroup $group rate 10gbit rtt 50us${hpcc:+ sockops}: done"
	first=$(config_id)
	apply 0
	equal "what was done" "$(grep -c ': nothing to do$' "$scratch/out")" 3
	equal "configuration" "$(config_id)" "$first"
	of_old /sys/fs/bpf/bfc/cgroup-*/object
	apply 0
	check "says $(cat "$scratch/out")" grep -qx "host: int attach .*: done" "$scratch/out"
	check "the program is that of before" [ "$(config_id)" != "$first" ]
	if simulated; then
		of_old /sys/fs/bpf/bfc/cgroup-*/hpcc_object
		apply 0
		check "says $(cat "$scratch/out")" grep -qx "host: hpcc on .*: done" \
			"$scratch/out"
	fi
	apply 0
	equal "what was done" "$(grep -c ': nothing to do$' "$scratch/out")" 3
	apply 0 d0
	says "d0: nothing to do"
	conf "[host]
		int attach --cgroup $group every 4 to 10.0.0.0/8 to fd00::/8
		hpcc on --cgroup $group rate 10gbit rtt 60us ${hpcc[*]}
		int attach --cgroup /sys/fs/cgroup/nonsense"
	apply 1
	warns 'bfc.conf:4: cgroup /sys/fs/cgroup/nonsense: No such file'
	equal "what was done" "$(sed 's/.*: //' "$scratch/out")" \
		$'nothing to do\ndone\nfailed'
	equal "rtt" "$(bfcctl -j hpcc show | jq '.[0].rtt_ns')" 60000
	ctl hpcc off --cgroup "$group"
	ctl int detach --cgroup "$group"
	! simulated || modprobe -r bfc_simcc
	rmdir "$group"
	struct_ops || return
	conf "[host]
		delay on rate 10gbit rtt 50us"
	apply 0
	apply 0
	equal "what was done" "$(sed 's/.*: //' "$scratch/out")" "nothing to do"
	ctl delay off
}

# A bfcctl that was killed when the kernel had its program, and before the pins were those of it
test_killed() {
	local what pin line
	devices d0
	mkdir -p "$group"
	conf "[host]
		int attach --cgroup $group to 10.0.0.0/8
[port d0]
		int attach to 10.0.0.0/8
		stamp attach int strip"
	apply 0
	apply 0
	equal "what was done" "$(grep -c ': nothing to do$' "$scratch/out")" 2
	for what in "int attach --cgroup $group to 10.0.0.0/16" "int attach d0 to 10.0.0.0/16" \
		"stamp attach d0 int on"; do
		case $what in
		stamp*)	pin=$(echo /sys/fs/bpf/bfc/stamp-*-config) line="d0: stamp attach .*" ;;
		*d0*)	pin=$(echo /sys/fs/bpf/bfc/int-*-config) line="d0: int attach .*" ;;
		*)	pin=$(echo /sys/fs/bpf/bfc/cgroup-*/config) line="host: .*: done" ;;
		esac
		check "pin of before" bpftool map pin pinned "$pin" /sys/fs/bpf/before
		# shellcheck disable=SC2086
		ctl -n x $what
		rm "$pin"
		mv /sys/fs/bpf/before "$pin"
		apply 0
		equal "$what: what was done" "$(grep -cx "$line" "$scratch/out")" 1
	done
	apply 0
	equal "what was done" "$(grep -c ': nothing to do$' "$scratch/out")" 2
	ctl int detach --cgroup "$group"
	ctl -n x int detach d0
	ctl -n x stamp detach d0
	rmdir "$group"
}

# What the kernel's types are needed for, that is done and kept, is in size.sh.
test_host_sizes() {
	mkdir -p "$group"
	devices d0
	conf "[host]
		size on --cgroup $group to 10.0.0.0/8
		size off --cgroup /sys/fs/cgroup"
	apply 3 --dry-run
	says "host: size on --cgroup $group to 10.0.0.0/8: would be done" \
		"host: size off --cgroup /sys/fs/cgroup: nothing to do"
	nothing_pinned
	conf "[host]
		size on --cgroup /tmp"
	apply 1
	warns 'bfc.conf:2: /tmp is not a cgroup of version 2'
	rmdir "$group"
}

struct_ops() { [ -e /sys/kernel/btf/vmlinux ]; }

# Devices that go while apply looks: the kernel's list leaves others out then.
test_gone_in_the_list() {
	local n=400
	new_ns x
	seq "$n" | sed 's/.*/link add d& type dummy/' | ip -n x -batch -
	seq "$n" | sed 's/.*/qdisc add dev d& root pfifo/' | tc -n x -batch -
	conf "[port d*]"
	LD_PRELOAD=$top/build/tools/midlist.so MIDLIST="ip -n x link del d1; ip -n x link del d2" \
		apply 3 --dry-run
	equal "ports that need a replacement" "$(grep -c '^d[0-9]*: needs a replacement: it has pfifo' \
		"$scratch/out")" $((n - 2))
	equal "other ports" "$(grep -vc 'needs a replacement' "$scratch/out")" 0
	equal "devices" "$(ip -n x -o link show type dummy | wc -l)" $((n - 2))
}

# A device may have any name: none of it is for the terminal, and JSON is UTF-8.
test_names() {
	local red=$'a\e[31mb' byte=$'a\xffb' csi=$'a\xc2\x9bm' del=$'a\x7f' umlaut=$'a\xc3\xa4'
	devices "$red" "$byte" "$csi" "$del" "$umlaut"
	conf "[port a*]
		elide nothere"
	apply 0
	equal "odd bytes on standard output" "$(odd_bytes "$scratch/out")" "c3 a4"
	equal "odd bytes on standard error" "$(grep -v "^bfcctl: .*: $umlaut: " "$scratch/err" |
		odd_bytes)" ""
	warns 'bfc.conf:2: a\?\[31mb: elide nothere: no such device yet'
	apply 0 -j
	equal "odd bytes in JSON" "$(odd_bytes "$scratch/out")" "c3 a4"
	equal "names in JSON" "$(python3 -c 'import json, sys
print(*sorted(ascii(port["dev"]) for port in json.load(sys.stdin)))' <"$scratch/out")" \
		"'a\\ufffdb' 'a\\x1b[31mb' 'a\\x7f' 'a\\x9bm' 'a\\xe4'"
	bfcctl -n x metrics >"$scratch/metrics"
	check "metrics are no UTF-8" iconv -f UTF-8 -t UTF-8 "$scratch/metrics" >"$scratch/out"
	equal "odd bytes in metrics" "$(odd_bytes "$scratch/metrics" | tr ' ' '\n' | sort -u |
		xargs)" "a4 c3"
	check "no metrics of it" grep -qF 'device="a\\xffb"' "$scratch/metrics"
	bfcctl -n x stamp detach "$red" 2>"$scratch/err"
	warns '^bfcctl: a\?\[31mb stamps natively already$'
}

# A device may be called as an option or a keyword of the command line.
test_names_of_words() {
	local dev all=(to every help --cgroup --replace)
	devices "${all[@]}"
	conf "[port *]
		int attach
		stamp attach"
	for dev in "${all[@]}"; do
		apply 0 -- "$dev"
		says "$dev: added bfc; stamp attach; int attach"
		apply 0 -- "$dev"
		says "$dev: nothing to do"
	done
	conf "[port *]
		int detach"
	apply 0 -- "${all[@]}"
	equal "what was done" "$(sed 's/.*: //' "$scratch/out" | sort -u)" \
		"stamp detach; int detach"
	nothing_pinned
	plugged none
	conf "[port to]
		elide none,nothere"
	apply 0 -- to
	equal "elided" "$(stat x to options.elide | jq -c unique)" '["none"]'
	apply 0 -- to
	says "to: nothing to do"
}

# odd_bytes [FILE]: all but ASCII that can be printed, and ends of lines
odd_bytes() { LC_ALL=C tr -d '\11\12\40-\176' <"${1:-/dev/stdin}" | od -An -v -tx1 | sed 's/^ //'; }

# The boot's and udev's for each port
test_at_once() {
	local i pid all=()
	devices d0 d1 d2 d3
	conf "[port d*]
		limit 2mb elide d0,d1"
	for i in "" d0 d1 d2 d3; do
		# shellcheck disable=SC2086
		bfcctl -n x apply --file "$scratch/bfc.conf" $i \
			>"$scratch/out.$i" 2>&1 &
		all+=($!)
	done
	for pid in "${all[@]}"; do
		wait "$pid" || fail "exit code $?: $(cat "$scratch"/out.*)"
	done
	equal "added" "$(cat "$scratch"/out.* | grep -c added)" 4
	without_news apply 0
}

# Its reader has seen enough, as grep -q does: the ports that are left are done all the same.
test_reader_ends() {
	devices d0 d1 d2 d3
	conf "[port d*]"
	{ sleep 0.2; bfcctl -n x apply --file "$scratch/bfc.conf" 2>&1; } | :
	equal "exit code" "${PIPESTATUS[0]}" 1
	equal "ports" "$(tell sum options.queues)" $((4 * 32))
}

run_tests first_and_second back_to_the_default as_tc_reads_it live replacement \
	replacement_of_a_tree patterns_and_later_ports old_module one_fails dry_run programs \
	program_of_a_deleted_qdisc dumps program_of_tx_queues host killed host_sizes gone_in_the_list \
	names names_of_words at_once reader_ends
