#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# bfcctl stamp: at which UDP port a switch looks for INT, and what is told of a program that
# is pinned for a port when another one is in effect or when it cannot be looked at.
#
#   h1 --p1- sw -r0-- r

# shellcheck source=selftests/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"
# shellcheck source=selftests/bfcctl.sh
. "$top/selftests/bfcctl.sh"

topology() {
	switch sw
	host h1 10.0.0.1/24
	host r 10.0.0.100/24
	cable sw p1 h1 e0
	cable sw r0 r e0
	in_ns r ethtool -K e0 gro off >/dev/null
	bfc sw r0 hrtt 4ms
	bfc r e0 role nic hrtt 4ms
	peers_up
}

# stamped: the same, and r0 stamps by a program, which is at $pin
stamped() {
	topology
	ctl -n sw stamp attach r0 node 7
	pin=$(pin_of sw r0)
}

# hops JQ FIELD=VALUE...: of packets with INT in UDP, to several ports
hops() {
	local jq=$1
	shift
	"$top/selftests/tools/intflow.py" h1:e0 r:e0 carrier=udp "$@" >"$scratch/flow" \
		2>"$scratch/err" || fail "intflow: $(tail -n 1 "$scratch/err")"
	jq -c "$jq" "$scratch/flow"
}
nhop='[.[][0].nhop]'
# Other packets with INT have records of zeroes.
blank='[.[][0].hops | map(.ts + .tx + .qlen) | add == 0]'

attached() { bfcctl -n sw -j stamp show r0 | jq -c '.[0] | [.port, .node, .id]'; }

# INT is behind the UDP header of packets to this port, to no other; 49089 if nothing is said.
test_port() {
	local before port
	topology
	ctl -n sw stamp attach r0
	equal "shown" "$(bfcctl -n sw -j stamp show r0 | jq '.[0].port')" 49089
	equal "nHop at 49089, 5005" "$(hops "$nhop" + port=5005)" '[1,0]'
	ctl -n sw stamp attach r0 port 5005 node 7
	equal "nHop at 49089, 5005, 36101" "$(hops "$nhop" + port=5005 + port=36101 + \
		port=5005 version=6)" '[0,1,0,1]'
	check "text" grep -q ' port 5005: hop id ' <(bfcctl -n sw stamp show r0)
	# An edge takes out what those wrote whose port it has.
	ctl -n sw stamp attach r0 port 5005 int strip
	equal "taken out at 49089, 5005" "$(hops "$blank" nhop=2 + nhop=2 port=5005)" '[false,true]'
	# The least, the greatest, and those beside RoCEv2's own
	for port in 1 4790 4792 65535; do
		ctl -n sw stamp attach r0 port "$port"
		equal "nHop at $port, 5005" "$(hops "$nhop" port="$port" + port=5005)" '[1,0]'
	done
	ctl -n sw stamp attach r0 port 5005 node 7
	before=$(attached)
	for port in 0 65536 4294972301 -1 5005x 0x138d 5005.0 ''; do
		refuses 2 "illegal \"$port\" for \"port\": give a number from 1 to 65535" \
			-n sw stamp attach r0 port "$port"
	done
	refuses 2 "illegal \"4791\" for \"port\": it is RoCEv2's own, whose packets have no INT" \
		-n sw stamp attach r0 port 4791
	refuses 2 'missing after "port"' -n sw stamp attach r0 port
	refuses 2 'what is "5006"' -n sw stamp attach r0 port 5005 5006
	equal "port, node and program after what was refused" "$(attached)" "$before"
	equal "nHop at 49089, 5005" "$(hops "$nhop" + port=5005)" '[0,1]'
	# What is not said has its default again.
	ctl -n sw stamp attach r0
	equal "nHop at 49089, 5005" "$(hops "$nhop" + port=5005)" '[1,0]'
	ctl -n sw stamp detach r0
}

# The port stamps by a program that is not the pinned one, as tc was told.
test_other_program() {
	local pin other=/run/bpf/other id
	stamped
	bpftool prog load "$top/build/bpf/bfc_stamp.bpf.o" "$other" type classifier \
		2>"$scratch/err" ||
		fail "bpftool: $(tail -n 1 "$scratch/err")"
	check "tc" tc -n sw qdisc change dev r0 root bfc stamp pinned "$other"
	id=$(bpftool -j prog show pinned "$other" | jq .id)
	equal "pins" "$(pins -n sw)" '["r0","other_program",false]'
	equal "pins, from elsewhere" "$(pins)" '["r0","other_program",false]'
	equal "program of the port, node that is told of it" \
		"$(bfcctl -n sw -j stamp show r0 | jq -c '.[0] | [.id, .node]')" "[$id,null]"
	check "text: $(bfcctl -n sw stamp show)" grep -qxF \
		"$pin: not in effect: r0 stamps by another program (bfcctl stamp detach r0)" \
		<(bfcctl -n sw stamp show)
	check "text: $(bfcctl stamp show)" grep -qxF \
		"$pin: not in effect: r0 of network namespace sw stamps by another program (bfcctl -n sw stamp detach r0)" \
		<(bfcctl stamp show)
	# It is another's to say that this ends.
	refuses 1 "r0 stamps by another program, $id\$" -n sw stamp restore r0
	equal "restore, of all" "$(bfcctl -n sw stamp restore 2>&1)" ""
	equal "program of the port" "$(stat sw r0 options.stamp_id)" "$id"
	# By its name what is not in effect goes, and the port stays as it is.
	ctl stamp detach "${pin##*/}"
	equal "pins" "$(pins)" ""
	equal "program of the port" "$(stat sw r0 options.stamp_id)" "$id"
	ctl -n sw stamp attach r0 node 8
	equal "pins" "$(pins)" '["r0","in_effect",true]'
	check "tc" tc -n sw qdisc change dev r0 root bfc stamp pinned "$other"
	ctl -n sw stamp detach r0
	equal "stamp" "$(stat sw r0 options.stamp)" native
	rm "$other"
	nothing_pinned
}

# What another version has pinned beside the program: which device and namespace it is for
# is not told, so no more is known than that it is there.
test_another_version() {
	local pin
	stamped
	rm "$pin-dev"
	check "map" bpftool map create "$pin-dev" type array key 4 value 4 entries 1 name other
	equal "pins" "$(pins -n sw)" '[null,"unknown",false]'
	check "text: $(bfcctl -n sw stamp show)" grep -qx \
		"$pin: device ${pin##*-} cannot be looked at" <(bfcctl -n sw stamp show)
	refuses 1 'another version of bfcctl has pinned the program of r0 .bfcctl stamp attach r0' \
		-n sw stamp restore r0
	equal "restore, of all" "$(bfcctl -n sw stamp restore 2>&1)" ""
	# It is no rest of a device that is gone.
	ctl -n sw sweep
	check "swept" [ -e "$pin" ]
	# As the message says
	ctl -n sw stamp attach r0 node 8
	equal "pins" "$(pins)" '["r0","in_effect",true]'
	rm "$pin-dev"
	equal "pins without a map" "$(pins)" '[null,"unknown",false]'
	ctl -n sw stamp detach r0
	nothing_pinned
}

# Counters of another layout, as those of another version may be, are not read.
test_other_counters() {
	local pin
	stamped
	rm "$pin-count"
	check "map" bpftool map create "$pin-count" type percpu_array key 4 value 4096 entries 8 \
		name other
	check "stamp show" bfcctl -n sw -j stamp show r0 >"$scratch/out"
	equal "shown" "$(jq -c '.[0] | [.dev, .stamp, .no_room]' "$scratch/out")" \
		'["r0","pinned",null]'
	ctl -n sw stamp detach r0
	nothing_pinned
}

# A port that takes no program keeps none of the others from theirs.
test_restore_all() {
	local dev other
	topology
	for dev in p1 r0; do
		other=$([ $dev = r0 ] && echo p1 || echo r0)
		bfc sw p1 hrtt 4ms
		bfc sw r0 hrtt 4ms
		ctl -n sw stamp attach p1
		ctl -n sw stamp attach r0
		sysctl -qw net.core.default_qdisc=bfc
		tc -n sw qdisc del dev $dev root
		sysctl -qw net.core.default_qdisc=pfifo_fast
		tc -n sw qdisc del dev "$other" root
		bfc sw "$other" hrtt 4ms
		bfcctl -n sw stamp restore >"$scratch/out" 2>"$scratch/err"
		equal "exit code" "$?" 1
		equal "said" "$(cat "$scratch/err")" "bfcctl: $dev has bfc as the kernel's default,$(:
			) which takes no options: tc qdisc replace dev $dev root bfc"
		equal "restored" "$(sed 's/[0-9]* again/N again/' "$scratch/out")" \
			"$other: stamps by program N again"
	done
	ctl -n sw stamp detach p1
	ctl -n sw stamp detach r0
}

# What a bfcctl that was killed has pinned, but not moved to its place, goes with the next change.
test_killed() {
	local dir=/sys/fs/bpf/bfc name
	mkdir -p "$dir/cgroup-77" "$dir/cgroup-78" "$dir/cgroup-79"
	for name in hpcc_ops-new delay_conf-new stamp-7-8-config-new cgroup-77/config-new \
		cgroup-78/link-new cgroup-78/config; do
		check "map" bpftool map create "$dir/$name" type array key 4 value 4 entries 1 \
			name other
	done
	check "stamp show" bfcctl stamp show
	equal "pins that wait" "$(find "$dir" -name '*-new' | wc -l)" 5
	ctl sweep
	equal "left" "$(cd "$dir" && find . -mindepth 1 | sort | xargs)" \
		"./cgroup-78 ./cgroup-78/config"
	rm -r "$dir"
}

# A container with a /run of its own, and so another lock, may have pins in this bpf file system. But
# where any user may open that, any user could hold its lock.
test_lock_of_the_pins() {
	local pin mode holder
	mode=$(command stat -c %a /sys/fs/bpf)
	stamped
	chmod 700 /sys/fs/bpf
	behind_lock /sys/fs/bpf -n sw stamp detach r0
	check "no pin" [ -e "$pin" ]
	lock_ends
	nothing_pinned
	chmod 1777 /sys/fs/bpf
	setpriv --reuid 1234 --clear-groups python3 -c "import fcntl, os, time
fcntl.flock(os.open('/sys/fs/bpf', os.O_RDONLY), fcntl.LOCK_EX)
time.sleep(100)" &
	holder=$!
	pids+=("$holder")
	check "not held" wait_for 5 held /sys/fs/bpf
	check "it waits for a lock of user 1234" timeout 20 bfcctl -n sw stamp attach r0
	check "still held" held /sys/fs/bpf
	ctl -n sw stamp detach r0
	kill "$holder"
	chmod "$mode" /sys/fs/bpf
	nothing_pinned
}

# held FILE: another has its lock
held() { ! flock -n "$1" true; }

# To look into another namespace takes CAP_SYS_ADMIN.
test_no_permission() {
	local pin
	stamped
	run=(setpriv --bounding-set -sys_admin --inh-caps -sys_admin)
	equal "pins" "$("${run[@]}" bfcctl -j stamp show | jq -c '.[] |
		[.dev, .netns, .state, .in_effect, .id > 0]')" '["r0","sw","unknown",false,true]'
	check "text: $("${run[@]}" bfcctl stamp show)" grep -qx \
		"$pin: r0 of network namespace sw cannot be looked at" \
		<("${run[@]}" bfcctl stamp show)
	run=()
	equal "pins" "$(pins)" '["r0","in_effect",true]'
	ctl -n sw stamp detach r0
	nothing_pinned
}

# The number of the switch is made of an id that not each box has.
test_no_machine_id() {
	local node id
	topology
	ctl -n sw stamp attach r0 2>"$scratch/err"
	equal "said" "$(cat "$scratch/err")" ""
	node=$(bfcctl -n sw -j stamp show r0 | jq '.[0].node')
	check "attach" without_etc bfcctl -n sw stamp attach r0 2>"$scratch/err"
	check "said: $(cat "$scratch/err")" grep -q \
		'^bfcctl: r0: there is no id in /etc/machine-id: .*: give "node"$' "$scratch/err"
	check "number: as with the id" \
		[ "$(bfcctl -n sw -j stamp show r0 | jq '.[0].node')" != "$node" ]
	check "attach" without_etc bfcctl -n sw stamp attach r0 node 7 2>"$scratch/err"
	equal "said with a node" "$(cat "$scratch/err")" ""
	# What images have, to get an id at their first boot
	for id in '' uninitialized 0123456789abcdef 0123456789abcdef0123456789abcdef0; do
		check "attach" with_id "$id" bfcctl -n sw stamp attach r0 2>"$scratch/err"
		check "said with id \"$id\": $(cat "$scratch/err")" grep -q 'no id in' "$scratch/err"
	done
	check "attach" with_id 0123456789abcdef0123456789abcdef bfcctl -n sw stamp attach r0 \
		2>"$scratch/err"
	equal "said with an id" "$(cat "$scratch/err")" ""
	ctl -n sw stamp detach r0
}

# with_id ID COMMAND...
with_id() {
	# shellcheck disable=SC2016
	unshare -m bash -c 'mount -t tmpfs none /etc && echo "$1" >/etc/machine-id && shift &&
		exec "$@"' - "$@"
}

# without_etc COMMAND...
without_etc() {
	# shellcheck disable=SC2016
	unshare -m bash -c 'mount -t tmpfs none /etc && exec "$@"' - "$@"
}

command -v bpftool >/dev/null || skip_all "no bpftool"
run_tests port other_program another_version other_counters restore_all killed \
	lock_of_the_pins no_permission no_machine_id
