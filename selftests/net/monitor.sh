#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# What the module tells programs that listen: bfcctl monitor.
#
#   a --e0--e0-- b		h --ph-- sw --pn-- n	n is made of Python
#
# All links 20 Mbit/s, delay 100 us.

# shellcheck source=selftests/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"

PATH=$top/build/bpf:$PATH

# listen NAME NS WORDS...: "told NAME JQ" is what the events from now on say, in $said
declare -A listener
listen() {
	local name=$1 ns=$2
	shift 2
	bfcctl -v -j -n "$ns" monitor "$@" >"$scratch/$name" 2>"$scratch/$name.err" &
	bg=$!
	pids+=("$bg")
	listener[$name]=$bg
	listens "$name"
}

listens() {
	wait_for 10 grep -q listening "$scratch/$1.err" ||
		fail "$1 does not listen: $(cat "$scratch/$1.err")"
}

# told NAME [JQ]: each event in a word
told() {
	jq -r "${2:-.event}" "$scratch/$1" | tr '\n' ' ' | sed 's/ $//'
}
tells() { [ "$(told "$1" "$3")" = "$2" ]; }
told_last() { told "$1" | sed 's/.* //'; }
tells_last() { [ "$(told_last "$1")" = "$2" ]; }
tells_so_many() { [ "$(told "$1" | wc -w)" = "$2" ]; }

# tell_all NAME EVENTS [JQ]: just these come, and each is a line of its own
tell_all() {
	wait_for 5 tells "$1" "$2" "${3:-.event}"
	sleep 0.2
	equal "events" "$(told "$1" "${3:-.event}")" "$2"
	jq -e -n -R '[inputs | fromjson | type] | all(. == "object")' "$scratch/$1" >/dev/null ||
		fail "not an object a line: $(cat "$scratch/$1")"
}

pair() {
	host a 10.0.0.1/24
	host b 10.0.0.2/24
	cable a e0 b e0
}

test_neighbour() {
	local now
	pair
	listen a a
	bfc a e0
	bfc b e0 queues 8
	peers_up
	tell_all a "neighbour_up 8" '.event, .queues'
	now=$(date +%s)
	between "s since the event" $((now - $(told a '.time | floor'))) 0 30
	equal "of device" "$(told a '.dev, .ifindex')" \
		"e0 $(in_ns a cat /sys/class/net/e0/ifindex)"
	tc -n b qdisc del dev e0 root
	tell_all a "neighbour_up neighbour_down"
	bfc b e0
	tell_all a "neighbour_up neighbour_down neighbour_up"
	ip -n a link set e0 down
	tell_all a "neighbour_up neighbour_down neighbour_up neighbour_down"
	ip -n a link set e0 up
	peers_up
	tell_all a "neighbour_up neighbour_down neighbour_up neighbour_down neighbour_up"
	tc -n a qdisc change dev e0 root bfc peer off
	tc -n a qdisc change dev e0 root bfc peer auto
	peers_up
	tell_all a "$(printf 'neighbour_up neighbour_down %.0s' {1..3})neighbour_up"
	# What waits to be told when the device goes is told.
	ip -n a link del e0
	tell_all a "$(printf 'neighbour_up neighbour_down %.0s' {1..4} | sed 's/ $//')"
}

# It starts over with another number of queues, and says so in a HELLO that proves it: it does
# not go down.
test_other_queues() {
	line_to_n fc fafc
	listen sw sw
	frames set n queues=8
	frames talk n 0.3
	wait_for 5 tells sw neighbour_up .event || fail "not up"
	frames talk n 0
	frames hello n nonce=77 queues=16
	tell_all sw "neighbour_up 8 neighbour_up 16" '.event, .queues'
}

# Before it has said HELLO it counts as having the queues of the port.
test_peer_on() {
	pair
	listen a a
	bfc a e0 queues 16 peer on
	tell_all a "neighbour_up 16" '.event, .queues'
	bfc b e0 queues 8
	wait_for 5 peer_up a e0 || fail "not up"
	tell_all a "neighbour_up 16 neighbour_up 8" '.event, .queues'
}

# What a person reads; one device's; so many.
test_text() {
	pair
	bfcctl -v -n a monitor e0 count 2 >"$scratch/text" 2>"$scratch/text.err" &
	pids+=($!)
	listen other a e1
	listens text
	bfc a e0
	bfc b e0 queues 8
	peers_up
	tc -n b qdisc del dev e0 root
	check "does not end" wait_for 5 gone "${pids[0]}"
	# shellcheck disable=SC2016
	check "not as it should be: $(cat "$scratch/text")" \
		awk '$1 !~ /^20[0-9][0-9]-[01][0-9]-[0-3][0-9]$/ { exit 1 }
			$2 !~ /^[0-2][0-9]:[0-5][0-9]:[0-5][0-9]\.[0-9][0-9][0-9][0-9][0-9][0-9]$/ { exit 1 }
			NR == 1 && $0 !~ / e0 neighbour_up queues 8$/ { exit 1 }
			NR == 2 && $0 !~ / e0 neighbour_down$/ { exit 1 }
			END { exit NR != 2 }' "$scratch/text"
	equal "events of another device" "$(told other)" ""
}

# A port that comes later, and the only message is that it is not there.
test_later_port() {
	host a 10.0.0.1/24
	host b 10.0.0.2/24
	listen later a e0
	equal "messages" "$(cat "$scratch/later.err")" \
		"bfcctl: no device is called e0 yet: waiting for it"$'\n'"bfcctl: listening"
	cable a e0 b e0
	listen now a e0
	equal "messages" "$(cat "$scratch/now.err")" "bfcctl: listening"
	bfc a e0
	bfc b e0
	peers_up
	tell_all later neighbour_up
}

# storm PRIORITY: a PFC frame of n, 1.68 s at 20 Mbit/s
storm() { frames pfc n $((1 << $1)) 65535; }

is_at_least() { [ "$(stat sw pn "$1")" -ge "$2" ]; }

test_storm_and_restore() {
	line_to_n fc pfc prio dscp watchdog 100ms
	# Quanta are times at the speed of the link.
	simulated || ip -n sw link set dev pn type wire rate 2mbit
	listen sw sw
	send h 10.0.0.2 3000 -r 400000 -T 96 -t 3
	storm 3
	sleep 0.05
	storm 3
	wait_for 2 is_at_least storms 1 || fail "no storm"
	wait_for 3 is_at_least restored 1 || fail "not restored"
	# The neighbour of fc pfc says no HELLO: there is none that comes or goes.
	wait_for 5 tells sw "storm restore" .event
	equal "first events" "$(told sw | cut -d ' ' -f 1,2)" "storm restore"
	equal "the storm" "$(jq -s -c '.[0] | [.dev, .prio, .holdoff]' "$scratch/sw")" \
		'["pn",3,200000000]'
	finish "$bg"
}

# Each storm ends for those that listen, also with the qdisc; one of queues has no priority.
test_storm_ends_with_the_qdisc() {
	line_to_n fc bfc peer on assign single watchdog 300ms
	frames set n epoch=9
	listen sw sw
	send h 10.0.0.2 3000 -r 400000 -t 3
	frames keep n 0.1 bits=0 epoch=9 hold=2000000000 drained=6000
	wait_for 5 is_at_least storms 1 || fail "no storm"
	tc -n sw qdisc del dev pn root
	frames keep n 0
	tell_all sw "storm null restore null neighbour_down null" '.event, .prio'
	finish "$bg"
}

# two_txqs: storms of both TX queues of a, whose neighbour n is made of Python
two_txqs() {
	local watchdog=100ms tx_queues=2
	simulated || watchdog=300ms
	host a 10.0.0.1/24
	host n 10.0.0.2/24
	cable a e0 n e0 rate 4mbit delay 100us ring 16
	meet 10.0.0.2 a
	frames open n n e0
	frames set n epoch=9 queues=16
	bfc a e0 queues 8 peer on hrtt 4ms sticky 10s watchdog $watchdog
	listen a a
	send a 10.0.0.2 5000 -f 40 -t 2 -b 20000
	sleep 0.3
	# 8 queues each
	frames keep n 0.01 bits=0,1,2,3,4,5,6,7 hold=2000000000 drained=6000
	sleep 0.1
	frames keep n 0.01 bits=0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15 hold=2000000000 \
		drained=6000
	wait_for 2 storms_are storms 2 || fail "no storm of both"
}

# told_are EVENTS: of a, besides that n has come
told_are() { [ "$(told a | tr ' ' '\n' | grep -v neighbour_up | paste -sd ' ')" = "$1" ]; }

# Each TX queue has a watchdog: the storm of the port ends with the last of theirs.
test_storms_of_two_txqs() {
	two_txqs
	equal "events while both last" "$(told a)" storm
	frames keep n 0
	frames pause n bits= drained=7000
	wait_for 2 storms_are restored 2 || fail "not restored"
	tell_all a "storm restore"
	equal "storms" "$(stat a e0 storms)" 2
	finish "$bg"
}
storms_are() { [ "$(stat a e0 "$1")" = "$2" ]; }

# That of a TX queue which is not used any more has ended, too.
test_storm_of_a_removed_txq() {
	two_txqs
	check "ethtool -L" in_ns a ethtool -L e0 tx 1
	frames keep n 0
	frames pause n bits= drained=7000
	wait_for 5 told_are "storm restore" || fail "events: $(told a)"
	finish "$bg"
}

# 40 flows in 4 queues: a message a second, all of them counted
test_queues_exhausted() {
	local n
	line_to_n fc none queues 4 assign dynamic
	tc -n sw qdisc change dev pn root bfc rate 1mbit
	listen sw sw
	send h 10.0.0.2 3000 -f 40 -t 3
	finish "$bg"
	wait_for 20 drained sw pn
	sleep 1.5
	n=$(told sw | wc -w)
	equal "other events" "$(told sw | tr -d ' ' | sed 's/queues_exhausted//g')" ""
	at_least "messages" "$n" 2
	jq -e -s '[.[].time] | [.[1:], .[:-1]] | transpose | all(.[0] - .[1] > 0.99)' \
		"$scratch/sw" >/dev/null || fail "two within a second: $(told sw .time)"
	equal "flows" "$(jq -s 'map(.flows) | add' "$scratch/sw")" "$(stat sw pn collisions)"
}

# Flows to one destination share on purpose: nothing has run out.
test_shared_queues_are_not_exhausted() {
	line_to_n fc none queues 8 assign destination rate 1mbit
	listen sw sw
	send h 10.0.0.2 3000 -f 40 -t 2
	finish "$bg"
	at_least "flows that share" "$(stat sw pn told_to_share)" 10
	sleep 1.2
	equal "events" "$(told sw)" ""
}

test_handles_exhausted() {
	new_ns x
	dummies x 65
	listen x x
	qdiscs x d 1 65 rate 1gbit peer on queues 1024
	wait_for 5 tells x 'd64 d65' 'select(.event == "handles_exhausted").dev'
	equal "ports without handles" \
		"$(told x 'select(.event == "handles_exhausted").dev')" "d64 d65"
	equal "ports with a neighbour" \
		"$(told x 'select(.event == "neighbour_up").dev' | wc -w)" 63
}

# A refusal ends with the neighbour: that of the next one is another.
test_handles_exhausted_again() {
	local n
	new_ns x
	host a 10.0.0.1/24
	cable x p1 a e0
	dummies x 63
	qdiscs x d 1 63 rate 1gbit peer on queues 1024
	listen p1 x p1
	bfc x p1
	for n in 1 2; do
		bfc a e0 queues 1024
		check "refusal $n" wait_for 10 refused_for x p1 handles
		check "refusal $n is not told" wait_for 5 tells_so_many p1 $n
		tc -n a qdisc del dev e0 root
		check "the neighbour is there" wait_for 5 peer_searches x p1
	done
	tell_all p1 "handles_exhausted handles_exhausted"
}

# A neighbour that comes and goes as often as it may.
test_flood_is_bounded() {
	local n begun took	# with fc bfc it is let in once a second only
	line_to_n fc fafc
	listen sw sw
	frames talk n 0.3
	wait_for 5 peer_up sw pn || fail "not up"
	frames talk n 0
	begun=$(date +%s%N)
	for n in {1..150}; do
		frames hello n flags=1
		sleep 0.015
		frames hello n
		sleep 0.015
	done
	frames hello n
	peer_up sw pn || fail "not up at the end"
	took=$(($(date +%s%N) - begun))
	sleep 1
	n=$(told sw | wc -w)
	say "$n messages in $((took / 1000000)) ms"
	at_most "messages" "$n" $((17 + 2 * (took / 1000000000 + 2)))
	at_least "messages" "$n" 17
	equal "the last one" "$(told_last sw)" neighbour_up
	at_least "changes" "$(jq -s 'map(1 + (.held // 0)) | add' "$scratch/sw")" 250
	# One that comes late finds room again.
	sleep 3
	frames hello n flags=1
	wait_for 2 peer_not_up sw pn
	sleep 0.1
	equal "the last one then" "$(told_last sw)" neighbour_down
}

# overflow: "small" has stopped, with more events of a than its socket has room for
overflow() {
	local n room
	room=$(sysctl -n net.core.rmem_default)
	pair
	sysctl -qw net.core.rmem_default=2304
	listen small a
	sysctl -qw net.core.rmem_default="$room"
	listen other a
	kill -STOP "${listener[small]}"
	bfc a e0
	for n in {1..8}; do
		bfc b e0
		wait_for 5 peer_up a e0
		tc -n b qdisc del dev e0 root
		wait_for 5 peer_not_up a e0
	done
	wait_for 5 tells_so_many other 16
}

# Events wait in a socket until there is no room; the others go on.
test_reader_that_does_not_read() {
	overflow
	kill -CONT "${listener[small]}"
	check "the loss is not told: $(told small)" wait_for 5 grep -q '"event":"lost"' \
		"$scratch/small"
	equal "events that the other got" "$(told other | wc -w)" 16
	# And it goes on.
	bfc b e0
	wait_for 5 tells_last small neighbour_up
	equal "the last one" "$(told_last small)" neighbour_up
}

ends_with() { [[ "$(told "$1")" = *"$2" ]]; }

# What is lost may be that the module went, or that it came back: with another number, and without
# those who listened.
test_reload_behind_a_loss() {
	overflow
	tc -n a qdisc del dev e0 root
	modprobe -r sch_bfc || fail "not unloaded"
	modprobe sch_bfc || fail "not loaded"
	kill -CONT "${listener[small]}"
	wait_for 5 grep -q '"event":"lost"' "$scratch/small"
	bfc a e0
	bfc b e0
	peers_up
	wait_for 5 ends_with small " unloaded loaded neighbour_up" ||
		fail "the last ones: $(told small)"
	equal "losses" "$(told small | tr ' ' '\n' | grep -c lost)" 1
}

test_unload_behind_a_loss() {
	overflow
	tc -n a qdisc del dev e0 root
	modprobe -r sch_bfc || fail "not unloaded"
	kill -CONT "${listener[small]}"
	wait_for 5 tells_last small unloaded || fail "the last one: $(told small)"
	modprobe sch_bfc || fail "not loaded"
	wait_for 5 ends_with small " unloaded loaded" || fail "the last ones: $(told small)"
}

# unprivileged COMMAND: in namespace a
unprivileged() {
	ip netns exec a setpriv --reuid 65534 --regid 65534 --clear-groups \
		--inh-caps=-all "$@"
}

test_namespaces() {
	local said
	pair
	new_ns z
	ip -n z netns set a 5
	listen a a
	listen z z
	listen all z all-nsid
	# Any user may listen in the own namespace, but nowhere else.
	unprivileged "$top/build/bpf/bfcctl" -v -j monitor >"$scratch/unprivileged" \
		2>"$scratch/unprivileged.err" &
	pids+=($!)
	listens unprivileged
	said=$(unprivileged "$top/build/bpf/bfcctl" monitor all-nsid 2>&1)
	equal "exit code of all-nsid by uid 65534" "$?" 1
	equal "all-nsid by uid 65534" "$said" "bfcctl: all-nsid: Operation not permitted"
	bfc a e0
	bfc b e0
	peers_up
	tell_all a neighbour_up
	tell_all unprivileged neighbour_up
	tell_all all "neighbour_up 5" '.event, .nsid'
	equal "events of another namespace" "$(told z)" ""
}

# The module can be unloaded while programs listen; they hear of it when it comes back.
test_unload() {
	pair
	listen a a
	modprobe -r sch_bfc || fail "not unloaded"
	listen later a
	check "nothing said of the module: $(cat "$scratch/later.err")" \
		grep -q "sch_bfc is not loaded: waiting for it" "$scratch/later.err"
	modprobe sch_bfc || fail "not loaded"
	bfc a e0
	bfc b e0
	peers_up
	tell_all a "unloaded loaded neighbour_up"
	tell_all later "loaded neighbour_up"
}

run_tests neighbour other_queues peer_on text later_port storm_and_restore storm_ends_with_the_qdisc \
	storms_of_two_txqs storm_of_a_removed_txq queues_exhausted shared_queues_are_not_exhausted \
	handles_exhausted handles_exhausted_again flood_is_bounded reader_that_does_not_read \
	reload_behind_a_loss unload_behind_a_loss namespaces unload
