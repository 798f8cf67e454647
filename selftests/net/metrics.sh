#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# bfcctl metrics: what Prometheus reads is what tc shows.
#
#   h --ph-- sw --pn-- n	20 Mbit/s, 100 us

# shellcheck source=selftests/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"

PATH=$top/build/bpf:$PATH
promtool=$top/build/promtool/usr/bin/promtool	# where scripts/promtool has put it
[ -x "$promtool" ] || promtool=$(command -v promtool)	# or says that it is

topology() {
	switch sw
	host h 10.0.0.1/24
	host n 10.0.0.2/24
	cable sw ph h e0
	cable sw pn n e0
	bfc sw ph hrtt 6ms "$@"
	bfc sw pn hrtt 6ms "$@"
	bfc n e0 hrtt 6ms "$@"
	bfc h e0 hrtt 6ms "$@"
	meet 10.0.0.2 h
}

# scrape: to $scratch/prom
scrape() { bfcctl -n sw metrics >"$scratch/prom" || fail "no metrics"; }

# metric NAME LABELS: its value
metric() {
	awk -v want="bfc_$1{netns=\"sw\",$2}" '$1 == want { print $2 }' "$scratch/prom"
}

# as_tc NAME FIELD: of pn
as_tc() { equal "$1" "$(metric "$1" 'device="pn"')" "$(stat sw pn "$2")"; }

# seconds NAME LABELS: in ns
seconds() { metric "$1" "$2" | tr -d . | sed 's/^0*//'; }

# spread DEVICE: how many pauses took up to so many seconds, without those that took less
spread() {
	awk -v want="bfc_pause_duration_seconds_bucket{netns=\"sw\",device=\"$1\",le=" '
		index($1, want) == 1 {
			split(substr($1, length(want) + 1), le, "\"")
			if ($2 != before)
				printf "%s%s:%d", sep, le[2], $2 - before
			if ($2 != before)
				sep = " "
			before = $2
		}' "$scratch/prom"
}

# times DEVICE: the same of tc, in ns
times() {
	tc -n sw -s -j qdisc show dev "$1" root |
		jq -r '[.[0].pause_times[] | "\(.up_to):\(.pauses)"] | join(" ")'
}

# paused_in_all DEVICE: pauses that have ended, and their ns
paused_in_all() {
	echo "$(metric pause_duration_seconds_count "device=\"$1\"")" \
		"$(seconds pause_duration_seconds_sum "device=\"$1\"")"
}

is_clean() {
	[ -x "$promtool" ] || fail "no promtool: scripts/promtool"
	"$promtool" check metrics <"$scratch/prom" >"$scratch/said" 2>&1 ||
		fail "promtool: $(head -n 1 "$scratch/said")"
	[ ! -s "$scratch/said" ] || fail "promtool: $(head -n 1 "$scratch/said")"
}

test_queues() {
	topology
	peers_up
	tc -n n qdisc del dev e0 root
	frames open n n e0
	frames set n epoch=9
	tc -n sw qdisc change dev pn root bfc peer on
	send h 10.0.0.2 3000 -r 10000000 -t 1
	frames pause n bits=0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15 epoch=9 hold=200000000
	finish "$bg"
	sleep 0.5
	scrape
	is_clean
	as_tc sent_packets_total packets
	as_tc sent_bytes_total bytes
	as_tc drops_total drops
	as_tc backlog_bytes backlog
	as_tc flows_assigned_total assigned
	as_tc pauses_received_total pause_rx
	as_tc pauses_expired_total expired
	as_tc pause_frames_received_total frames_rx
	as_tc hellos_sent_total hello_tx
	as_tc neighbour_queues peer_queues
	as_tc threshold_bytes threshold
	equal "pauses" "$(metric pauses_received_total 'device="pn"')" 16
	equal "ns that queues were paused" "$(seconds queue_paused_seconds_total 'device="pn"')" \
		$((16 * 200000000))
	equal "pauses by their length" "$(spread pn)" 0.268435456:16
	equal "pauses of the histogram, and their ns" "$(paused_in_all pn)" \
		"16 $((16 * 200000000))"
	equal "pauses of a port that was not paused" "$(spread ph)$(paused_in_all ph)" "0 "
	equal "buckets" "$(grep -c '^bfc_pause_duration_seconds_bucket.*device="pn"' \
		"$scratch/prom")" 22
	equal "hrtt" "$(seconds hrtt_seconds 'device="pn"')" 6000000
	equal "up" "$(metric neighbour_up 'device="ph"') $(metric neighbour_up 'device="pn"')" "1 1"
	equal "no drops" "$(metric dropped_packets_total 'device="pn",reason="limit"')" 0
	equal "priorities of a mode that has none" "$(grep -c priority "$scratch/prom")" 0
	equal "names without help" "$(comm -13 <(awk '/^# HELP/ { print $3 }' "$scratch/prom" | sort) \
		<(sed -n -e 's/^\(bfc_[a-z_]*\)[{ ].*/\1/' -e 's/^\(bfc_pause_duration_seconds\)_.*/\1/' \
			-e '/^bfc/p' "$scratch/prom" | sort -u))" ""
}

test_priorities() {
	topology fc pfc prio dscp
	tc -n n qdisc del dev e0 root
	frames open n n e0
	send h 10.0.0.2 3000 -r 400000 -T 96 -t 1
	frames pfc n 8 2000
	finish "$bg"
	scrape
	is_clean
	equal "pauses of 3" \
		"$(metric priority_pauses_received_total 'device="pn",priority="3"')" 1
	# 2000 quanta of 25.6 us
	equal "ns that 3 was paused" \
		"$(seconds priority_paused_seconds_total 'device="pn",priority="3"')" 51200000
	equal "pauses by their length" "$(spread pn)" 0.067108864:1
	equal "pauses of the histogram, and their ns" "$(paused_in_all pn)" "1 51200000"
	equal "pauses of 4" \
		"$(metric priority_pauses_received_total 'device="pn",priority="4"')" 0
	as_tc pfc_frames_received_total pfc_rx
}

# paused_by_n OPTIONS...: n pauses queues or priorities of pn, which has these options
paused_by_n() {
	line_to_n "$@"
	[ "$1" != fc ] || return
	frames talk n 0.3
	wait_for 10 peer_up sw pn || fail "not up"
}

# Each pause falls where it belongs when it ends, by a resume or by itself, and nothing is
# counted while it lasts.
test_pause_times() {
	exact_clock || return
	paused_by_n queues 8
	frames pause n bits=0,1,2,3,4,5,6,7 hold=100000000
	sleep 0.005
	equal "counted while it lasts" "$(stat sw pn paused) $(times pn)" "8 "
	sleep 0.005
	frames pause n bits=0,1,2 hold=30000000	# five are resumed after 10 ms
	sleep 0.05	# three end by themselves, after 40
	scrape
	equal "pauses by their length" "$(spread pn)" "0.016777216:5 0.067108864:3"
	equal "as tc has them" "$(times pn)" "16777216:5 67108864:3"
	equal "pauses that have ended" "$(stat sw pn resume_rx)" 8
	equal "ns that they took" "$(paused_in_all pn)" "8 $(stat sw pn paused_time)"
	at_least "ns that they took" "$(stat sw pn paused_time)" $((5 * 10000000 + 3 * 40000000))
	at_least "ns, and not more than that and what the commands took" \
		$((5 * 16777216 + 3 * 50000000)) "$(stat sw pn paused_time)"
	equal "and of queues" "$(stat sw pn paused_time)" \
		"$(seconds queue_paused_seconds_total 'device="pn"')"
}

# A pause that a change of mode ends is counted once, as what it was.
test_other_mode() {
	exact_clock || return
	paused_by_n queues 8
	frames pause n bits=0,1,2,3,4,5,6,7 hold=1000000000
	sleep 0.003
	tc -n sw qdisc change dev pn root bfc fc pfc prio dscp
	equal "pauses of queues that PFC ends" "$(times pn)" "4194304:8"
	frames pfc n 24 65535	# two of 65535 quanta of 25.6 us
	sleep 0.02
	equal "paused" "$(stat sw pn paused)" 2
	tc -n sw qdisc change dev pn root bfc fc bfc
	equal "and two of priorities that BFC ends" "$(stat sw pn paused) $(times pn)" \
		"0 4194304:8 33554432:2"
}

# A pause of a priority is one, however many TX queues obey it.
test_tx_queues() {
	tx_queues=4 paused_by_n fc pfc prio dscp
	equal "TX queues with a scheduler" "$(stat sw pn txqs)" 4
	frames pfc n 8 2000	# 51.2 ms
	sleep 0.1
	equal "pauses of 3" "$(stat sw pn prios[3].pause_rx)" 1
	equal "pauses by their length" "$(times pn)" 67108864:1
	equal "ns that they took" "$(stat sw pn paused_time)" 51200000
}

# of_class NAME CLASS FIELD: as tc has it
of_class() {
	equal "$1 of class $2" "$(metric "$1" "device=\"pn\",class=\"$2\"")" \
		"$(stat sw pn "classes[$2].$3")"
}

# Totals only grow: those of TX queues that are not in use any more count as well.
test_fewer_tx_queues() {
	local before
	tx_queues=4 paused_by_n queues 8
	frames pause n bits=24,25 hold=20000000	# of the last one
	sleep 0.1
	scrape
	before=$(seconds queue_paused_seconds_total 'device="pn"')
	equal "ns that queues were paused" "$before" 40000000
	in_ns sw ethtool -L pn tx 1 || fail "not one queue"
	scrape
	equal "the same with one TX queue" "$(seconds queue_paused_seconds_total 'device="pn"')" \
		"$before"
}

test_classes() {
	local class
	topology queues 12 classes 3 class-queues 2,4,6 prio dscp
	peers_up
	tc -n sw qdisc change dev pn root bfc rate 10mbit limit 100kb
	send h 10.0.0.2 3000 -r 15000000 -t 1 -f 6 -T 32
	finish "$bg"
	send h 10.0.0.2 3000 -r 1000000 -t 0.2
	finish "$bg"
	wait_for 10 drained sw pn || fail "not drained"
	scrape
	is_clean
	for class in 0 1 2; do
		of_class class_sent_packets_total $class packets
		of_class class_sent_bytes_total $class bytes
		of_class class_dropped_packets_total $class drops
		of_class class_backlog_bytes $class backlog
		of_class class_queues $class queues
		of_class class_queues_occupied $class occupied
		of_class class_queues_paused $class paused
		of_class class_queues_exhausted_total $class exhausted
		of_class class_queue_pauses_total $class pauses
	done
	equal "queues" "$(metric class_queues 'device="pn",class="1"') $(
		metric class_queues 'device="ph",class="2"')" "4 6"
	at_least "packets of class 1" \
		"$(metric class_sent_packets_total 'device="pn",class="1"')" 500
	equal "packets of class 2" "$(metric class_sent_packets_total 'device="pn",class="2"')" 0
	tc -n sw qdisc change dev ph root bfc classes 1
	scrape
	is_clean
	equal "classes of a port that has none" "$(grep -c 'device="ph",class=' "$scratch/prom")" 0
	equal "and of one that has" "$(grep -c 'class_queues{.*device="pn",class=' "$scratch/prom")" 3
	tc -n sw qdisc change dev pn root bfc classes 1
	scrape
	is_clean
	equal "lines about classes" "$(grep -c class "$scratch/prom")" 0
}

# as_table: of metrics, as in docs/monitoring.md
as_table() {
	awk '/^# HELP/ { name = $3; help = $0; sub(/^# HELP [^ ]* /, "", help) }
		/^# TYPE/ { type = $4; fresh = 1 }
		/^bfc/ && fresh {
			fresh = 0
			labels = $0
			sub(/^[^{]*\{/, "", labels)
			gsub(/="[^"]*"/, "", labels)
			sub(/\}.*/, "", labels)
			gsub(/(netns|device),?/, "", labels)
			printf "| `%s` | %s | %s | %s |\n", name, type, labels, help
		}'
}

# A name that is not in the table of the page, and one that is there alone
test_documented() {
	new_ns sw
	dummies sw 2
	bfc sw d1 rate 1gbit classes 3
	bfc sw d2 rate 1gbit fc pfc
	scrape
	as_table <"$scratch/prom" >"$scratch/table"
	at_least "names" "$(wc -l <"$scratch/table")" 50
	# shellcheck disable=SC2016
	grep -E '^\| `bfc_[a-z_]*` \| (counter|gauge|histogram) ' "$top/docs/monitoring.md" |
		diff - "$scratch/table" >"$scratch/said" ||
		fail "docs/monitoring.md: $(sed -n 2p "$scratch/said")"
}

# Any bytes may be a name, of a namespace any line: no two of them are one series.
test_odd_names() {
	local dev odd=($'a\xfe' $'a\xff' 'a\xfe' 'a\x' $'a\x01' $'a\x7f' $'a\xc2\x9b' $'a\xc3\xa4')
	new_ns sw
	for dev in "${odd[@]}"; do
		ip -n sw link add "$dev" type dummy
		ip -n sw link set "$dev" up
		bfc sw "$dev" rate 1gbit
	done
	scrape
	is_clean
	equal "devices" "$(sed -n 's/^bfc_neighbour_up{.*device="\(.*\)"} .*/\1/p' "$scratch/prom" |
		sort | tr '\n' ' ')" \
		'a\\x01 a\\x5cx a\\x5cxfe a\\x7f a\\xc2\\x9b a\\xfe a\\xff '$'a\xc3\xa4 '
	ip netns add $'two\nlines'
	bfcctl -n $'two\nlines' metrics >"$scratch/prom" || fail "no metrics"
	ip netns del $'two\nlines'
	is_clean
	equal "lines of it" "$(grep -cF 'bfc_build_info{netns="two\nlines",' "$scratch/prom")" 1
}

# A file is there as a whole or not at all; odd names of devices; no port at all.
test_file() {
	new_ns sw
	bfcctl -n sw metrics "$scratch/prom" || fail "no file"
	equal "lines without a port" "$(grep '^bfc' "$scratch/prom" | sed 's/version="[^"]*"/V/')" \
		'bfc_build_info{netns="sw",V} 1'
	is_clean
	ip -n sw link add 'a"\b' type dummy
	ip -n sw link set 'a"\b' up
	bfc sw 'a"\b' rate 1gbit
	mkdir "$scratch/dir"
	bfcctl -n sw metrics "$scratch/dir/prom" || fail "no file"
	mv "$scratch/dir/prom" "$scratch/prom"
	is_clean
	equal "ports" "$(grep -F 'neighbour_up{netns="sw",device="a\"\\b"}' "$scratch/prom")" \
		'bfc_neighbour_up{netns="sw",device="a\"\\b"} 0'
	equal "files left" "$(ls "$scratch/dir")" ""
	(umask 077; bfcctl -n sw metrics "$scratch/dir/prom") || fail "no file"
	equal "mode of a new file" "$(mode_of "$scratch/dir/prom")" 644
	chmod 640 "$scratch/dir/prom"
	bfcctl -n sw metrics "$scratch/dir/prom" || fail "no file"
	equal "mode of an old file" "$(mode_of "$scratch/dir/prom")" 640
	rm "$scratch/dir/prom"
	bfcctl -n sw metrics "$scratch/dir/none/prom" >"$scratch/said" 2>&1
	equal "exit code" "$?" 1
	check "$(cat "$scratch/said")" grep -q '^bfcctl: .*none/prom.*: No such file' "$scratch/said"
	mkdir "$scratch/dir/busy"
	bfcctl -n sw metrics "$scratch/dir/busy" >"$scratch/said" 2>&1
	equal "exit code" "$?" 1
	equal "what is left" "$(ls "$scratch/dir")" busy
	bfcctl -j metrics >"$scratch/said" 2>&1
	equal "exit code with -j" "$?" 2
}

# Devices that go while bfcctl reads the kernel's list, which leaves others out then
test_gone_in_the_list() {
	local n=200
	new_ns sw
	seq "$n" | sed 's/.*/link add d& type dummy/' | ip -n sw -batch -
	seq "$n" | sed 's/.*/qdisc add dev d& root bfc rate 1gbit/' | tc -n sw -batch -
	midlist 1 metrics >"$scratch/prom"
	equal "ports with metrics" "$(grep -c '^bfc_neighbour_up{' "$scratch/prom")" $((n - 1))
	midlist 2 -j stamp show >"$scratch/said"
	equal "ports that are shown" "$(jq length "$scratch/said")" $((n - 2))
	midlist 3 -j watch interval 10ms count 1 >"$scratch/said"
	equal "ports that are watched" "$(jq '.ports | length' "$scratch/said")" $((n - 3))
	equal "devices" "$(ip -n sw -o link show type dummy | wc -l)" $((n - 3))
}

# midlist N COMMAND...: bfcctl does it, and dN goes meanwhile
midlist() {
	local i=$1
	shift
	LD_PRELOAD=$top/build/tools/midlist.so MIDLIST="ip -n sw link del d$i" bfcctl -n sw "$@" ||
		fail "bfcctl $*: exit code $?"
}

run_tests queues priorities pause_times other_mode tx_queues fewer_tx_queues classes documented \
	odd_names file gone_in_the_list
