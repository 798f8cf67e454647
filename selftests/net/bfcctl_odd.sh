#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# bfcctl where its caller, its files or the pinned objects are odd: descriptors that are closed,
# signals that are ignored, devices in place of files, maps of other versions.

# shellcheck source=selftests/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"
# shellcheck source=selftests/bfcctl.sh
. "$top/selftests/bfcctl.sh"

group=/sys/fs/cgroup/bfcctl_odd
conf=/sys/fs/bpf/bfc

# ignoring SIGNAL COMMAND...: run by a caller that ignores the signal
ignoring() {
	# shellcheck disable=SC2016	# perl's
	perl -e '$SIG{shift @ARGV} = "IGNORE"; exec @ARGV' "$@"
}

dummy() {
	new_ns a
	ip -n a link add d0 type dummy
	ip -n a link set d0 up
}

# Children whose end the caller does not want to know
test_children_are_waited_for() {
	mkdir -p "$group" "$group.2"
	printf '[host]\nint attach --cgroup %s\nint attach --cgroup %s\n' "$group" "$group.2" \
		>"$scratch/conf"
	check "apply" ignoring CHLD bfcctl apply --file "$scratch/conf" >"$scratch/out"
	equal "cgroups with INT" "$(find "$conf" -name config | wc -l)" 2
	ctl int detach --cgroup "$group"
	ctl int detach --cgroup "$group.2"
	rmdir "$group" "$group.2"
	check "report: $(ignoring CHLD bfcctl report "$scratch/r.tar.gz" events 0 2>&1)" \
		gzip -t "$scratch/r.tar.gz"
	nothing_pinned
}

test_closed_descriptors() {
	local n
	dummy
	for n in 0 1; do
		# shellcheck disable=SC1083
		eval "bfcctl report $scratch/r$n.tar.gz events 0 $n>&- 2>$scratch/err"
		check "without descriptor $n: $(cat "$scratch/err")" gzip -t "$scratch/r$n.tar.gz"
	done
	# What apply reports goes to no file that it opens.
	printf '[port d0]\nqueues 8\n[port nothing*]\n' >"$scratch/conf"
	: >/run/bfcctl.lock
	bfcctl -n a apply --file "$scratch/conf" >&-
	printf '[port d0]\nlimit 1\n' >"$scratch/conf"
	bfcctl -n a apply --file "$scratch/conf" 2>&-
	equal "bytes in the lock" "$(wc -c </run/bfcctl.lock)" 0
}

no_monitor() { ! pgrep -f '/proc/self/exe.* monitor'; }

test_report_is_ended() {
	background bfcctl report "$scratch/ended.tar.gz" events 60s
	check "no monitor" wait_for 10 eval '! no_monitor'
	kill "$bg"
	check "the report does not end" wait_for 5 gone "$bg"
	check "its monitor goes on" wait_for 5 no_monitor
	[ ! -e "$scratch/ended.tar.gz" ] || fail "half a report is left"
	background ignoring TERM bfcctl report "$scratch/ended.tar.gz" events 1s
	check "the report does not end where SIGTERM is ignored" wait_for 20 gone "$bg"
	kill -KILL "$bg" 2>/dev/null
	check "no report" gzip -t "$scratch/ended.tar.gz"
}

# kind FILE
kind() { command stat -c %F "$1"; }

# What is no file stays what it is, and gets the metrics.
test_metrics_into() {
	local to=$scratch/to
	dummy
	mkdir "$to"
	mknod "$to/null" c 1 3
	mkfifo "$to/pipe"
	ln -s target "$to/link"
	ln -s nothing/there "$to/dangling"
	: >"$to/target"
	check "device" bfcctl -n a metrics "$to/null"
	cat "$to/pipe" >"$to/read" &
	pids+=($!)
	check "pipe" bfcctl -n a metrics "$to/pipe"
	check "link" bfcctl -n a metrics "$to/link"
	equal "kinds" "$(kind "$to/null"), $(kind "$to/pipe"), $(kind "$to/link")" \
		"character special file, fifo, symbolic link"
	check "nothing in the pipe" wait_for 5 grep -q ^bfc_build_info "$to/read"
	check "nothing in what the link names" grep -q ^bfc_build_info "$to/target"
	refuses 1 "dangling: No such file" -n a metrics "$to/dangling"
	ln -s link "$to/chain"
	: >"$to/target"
	check "link to a link" bfcctl -n a metrics "$to/chain"
	check "nothing in what the link to a link names" grep -q ^bfc_build_info "$to/target"
	ln -s loop "$to/loop"
	refuses 1 "loop: Too many levels" -n a metrics "$to/loop"
	refuses 1 "to/: " -n a metrics "$to/"
	bfcctl -n a metrics /dev/stdout >"$to/stdout" || fail "standard output"
	check "nothing on standard output" grep -q ^bfc_build_info "$to/stdout"
	equal "files left" "$(find "$to" -name '*.*')" ""
}

# Root writes into a directory of another user's, as Debian's /var/lib/prometheus is: what that user
# makes a link to stays as it is, and so does a file's mode if it changes while it is written.
test_metrics_of_another_user() {
	local to=$scratch/others name
	dummy
	mkdir "$to"
	chown 1234:1234 "$to"
	echo secret >"$scratch/secret"
	chmod 600 "$scratch/secret"
	mkfifo "$scratch/fifo"
	ln -s "$scratch/secret" "$to/prom"
	ln -s "$scratch/fifo" "$to/pipe"
	ln -s prom "$to/own"
	chown -h 1234:1234 "$to"/*
	chown -h 0:0 "$to/own"
	for name in prom pipe own; do
		refuses 1 "$name: a link of user 1234 is not followed" -n a metrics "$to/$name"
	done
	equal "the file" "$(command stat -c '%a %u ' "$scratch/secret")$(cat "$scratch/secret")" \
		"600 0 secret"
	rm "$to/prom"
	echo old >"$to/prom"
	chown 1234:4321 "$to/prom"
	chmod 4640 "$to/prom"
	check "file" bfcctl -n a metrics "$to/prom"
	equal "mode and owner" "$(command stat -c '%a %u %g' "$to/prom")" "640 1234 4321"
	equal "files" "$(find "$to" -type f)" "$to/prom"
}

# A file of the administrator's that is there, but cannot be read
test_dangling_configuration() {
	no_conf || return 0
	dummy
	mkdir /etc/bfc.d
	printf '[port d0]\nqueues 8\n' >/etc/bfc.d/10.conf
	ln -s /nowhere /etc/bfc.conf
	refuses 1 "/etc/bfc.conf: No such file" -n a apply
	equal "qdisc" "$(tc -n a qdisc show dev d0 | grep -c bfc)" 0
	rm -r /etc/bfc.conf /etc/bfc.d
}

# The configuration of a cgroup that another version of bfcctl has pinned: what it says is not
# known, so that nothing is written in its place.
test_int_of_another_version() {
	local pin
	mkdir -p "$group"
	ctl int attach --cgroup "$group" to 10.9.0.0/16 every 4
	pin=$(find "$conf" -name config)
	rm "$pin"
	check "map" bpftool map create "$pin" type array key 4 value 8 entries 1 name other
	refuses 1 "INT is that of another version of bfcctl.* first" int attach --cgroup "$group"
	if simulated; then
		modprobe bfc_simcc
		refuses 1 "INT is that of another version of bfcctl.* first" \
			hpcc on --cgroup "$group" rate 10gbit rtt 10us sockops
		modprobe -r bfc_simcc
	fi
	printf '[host]\nint detach --cgroup %s\n' "$group" >"$scratch/conf"
	check "detached" bfcctl apply --file "$scratch/conf" >"$scratch/out"
	nothing_pinned
	rmdir "$group"
}

# A value that a newer version may have, and a map with a value for each CPU
test_hpcc_of_another_version() {
	local value=()
	mkdir -p "$conf"
	check "ops" bpftool map create "$conf/hpcc_ops" type array key 4 value 4 entries 1 name ops
	check "map" bpftool map create "$conf/hpcc_net" type hash key 8 value 64 entries 4 name net
	mapfile -t value < <(yes 0 | head -n 64)
	value[44]=200
	check "element" bpftool map update pinned "$conf/hpcc_net" key 0 0 0 0 0 0 0 0 \
		value "${value[@]}"
	equal "react" "$(bfcctl -j hpcc show | jq -r '.[0].react')" unknown
	rm "$conf/hpcc_net"
	check "map" bpftool map create "$conf/hpcc_net" type percpu_hash key 8 value 64 entries 4 \
		name net
	refuses 1 "HPCC is that of another version of bfcctl" hpcc show
	rm -r "$conf"
}

# The reason is the map, not what is there already, and may be.
test_reason_is_the_map() {
	dummy
	ip -n a link add d1 type dummy
	ctl -n a int attach d1
	tc -n a qdisc add dev d0 clsact
	rm "$conf/int_udp"
	check "map" bpftool map create "$conf/int_udp" type hash key 256 value 1024 entries 4 \
		name other
	refuses 1 "another version of bfcctl has pinned it" -n a int attach d0
	ctl -n a int detach d1
	nothing_pinned
}

command -v bpftool >/dev/null || skip_all "no bpftool"
# "off" was killed between its two steps: the congestion control is taken out, and its pins are left
test_killed_within_off() {
	local way on=(rate 10gbit rtt 50us)
	struct_ops || { skip="no struct_ops in this kernel"; return; }
	for way in hpcc delay; do
		ctl "$way" on "${on[@]}"
		check "taken out" bpftool map delete pinned "$conf/${way}_ops" key 0 0 0 0
		refuses 1 'is off' "$way" show
		printf '[host]\n%s on %s\n' "$way" "${on[*]}" >"$scratch/conf"
		ctl apply --file "$scratch/conf"
		check "not registered by apply" registered "bfc_$way"
		check "taken out" bpftool map delete pinned "$conf/${way}_ops" key 0 0 0 0
		ctl "$way" on "${on[@]}" 2>"$scratch/err"
		check "not registered by on" registered "bfc_$way"
		equal "said" "$(cat "$scratch/err")" ""
		ctl "$way" off
		nothing_pinned
	done
}
registered() { grep -qw "$1" /proc/sys/net/ipv4/tcp_available_congestion_control; }

run_tests children_are_waited_for closed_descriptors report_is_ended metrics_into \
	metrics_of_another_user dangling_configuration int_of_another_version \
	hpcc_of_another_version reason_is_the_map killed_within_off
