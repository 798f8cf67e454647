#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# bfcctl at hosts: options of congestion control and the peers that INT is for, as they are
# taken, refused and shown.

# shellcheck source=selftests/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"
# shellcheck source=selftests/bfcctl.sh
. "$top/selftests/bfcctl.sh"

group=/sys/fs/cgroup/host_options
conf=/sys/fs/bpf/bfc

# of_hpcc JQ
of_hpcc() { bfcctl -j hpcc show | jq -c ".[0] | $1"; }

# maxStage of HPCC: 5 if nothing is said, 0 for none; what it does to a window: hpcc.sh
test_stage() {
	local on=(hpcc on rate 10gbit rtt 10us) stage wanted
	mkdir -p "$group"
	on+=(--cgroup "$group")
	if simulated; then
		modprobe bfc_simcc
		on+=(sockops)
	elif ! struct_ops; then
		skip="no struct_ops in this kernel"
		return
	fi
	for stage in "" 0 1 7 1000; do
		wanted=${stage:-5}
		# shellcheck disable=SC2086
		ctl "${on[@]}" ${stage:+stage $stage}
		equal "stage ${stage:-that is not given}" "$(of_hpcc .stage)" "$wanted"
		check "text: $(bfcctl hpcc show)" grep -q "  stage $wanted  react both  " \
			<(bfcctl hpcc show)
	done
	for stage in 1001 4294967296 -1 1.5 5x ''; do
		refuses 2 "illegal \"$stage\" for \"stage\": give a number from 0 to 1000" \
			"${on[@]}" stage "$stage"
	done
	refuses 2 'missing after "stage"' "${on[@]}" stage
	printf '[host]\n%s stage 1001\n' "${on[*]}" >"$scratch/bfc.conf"
	refuses 2 'bfc.conf:2: illegal "1001" for "stage": give a number from 0 to 1000' \
		apply --file "$scratch/bfc.conf"
	equal "stage after what was refused" "$(of_hpcc .stage)" 1000
	# What else is asked for is another matter.
	ctl "${on[@]}" stage 3 flows 10
	equal "stage, reaction" "$(of_hpcc '[.stage, .react]')" '[3,"both"]'
	ctl hpcc off --cgroup "$group"
	simulated || ctl hpcc off
	ctl int detach --cgroup "$group"
	! simulated || check "a socket uses bfc_simcc" wait_for 5 modprobe -qr bfc_simcc
	nothing_pinned
	rmdir "$group"
}

# first_window [CONTROL]: of a connection that asks for CONTROL, or has the default, in packets
first_window() {
	python3 -c '
import socket, struct, sys
server = socket.create_server(("127.0.0.1", 0))
s = socket.socket()
if sys.argv[1]:
	s.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, sys.argv[1].encode())
s.connect(server.getsockname())
print(struct.unpack_from("I", s.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 104), 80)[0])' \
		"${1-}"
}

# Windows are counted in packets of so many bytes: 12500 bytes are in flight here.
test_packet() {
	local on=(delay on rate 10gbit rtt 10us) packet windows row
	for packet in 63 0 65536 4294968796 -1 1514.5 1514b ''; do
		refuses 2 "illegal \"$packet\" for \"packet\": give a number from 64 to 65535" \
			"${on[@]}" packet "$packet"
	done
	refuses 2 'missing after "packet"' "${on[@]}" packet
	printf '[host]\n%s packet 63\n' "${on[*]}" >"$scratch/bfc.conf"
	refuses 2 'bfc.conf:2: illegal "63" for "packet": give a number from 64 to 65535' \
		apply --file "$scratch/bfc.conf"
	nothing_pinned
	struct_ops || { skip="no struct_ops in this kernel"; return; }
	# bytes, the first window and the largest one, which is 2.5 times that
	for row in "64 195.312 488.281" "1000 12.5 31.25" "1250 10 25" "65535 2 5"; do
		read -r packet windows <<<"$row"
		ctl "${on[@]}" packet "$packet"
		equal "windows of packets of $packet bytes" "$(bfcctl -j delay show |
			jq -r '.[0] | "\(.initial_window) \(.largest_window)"')" "$windows"
		equal "first window of a connection" "$(first_window bfc_delay)" \
			"${windows%%[. ]*}"
	done
	# Those of Ethernet, if nothing is said
	ctl "${on[@]}"
	between "windows of packets of 1514 bytes" "$(bfcctl -j delay show |
		jq '.[0].initial_window')" 8.25 8.26
	check "text: $(bfcctl delay show)" grep -q 'initial window 8.26 packets  largest 20.64$' \
		<(bfcctl delay show)
	ctl delay off
	nothing_pinned
}

# told PATTERN COMMAND...: bfcctl does it, and says one line that matches, or nothing
told() {
	local pattern=$1
	shift
	ctl "$@" 2>"$scratch/err"
	equal "lines that \"$*\" says" "$(wc -l <"$scratch/err")" $((${#pattern} > 0))
	[ -z "$pattern" ] || check "\"$*\" says: $(cat "$scratch/err")" \
		grep -qE "^bfcctl: $pattern" "$scratch/err"
}

# The kernel keeps a default that is not registered any more: with the parameters that it had.
test_default() {
	local sysctl=net.ipv4.tcp_congestion_control before way
	struct_ops || { skip="no struct_ops in this kernel"; return; }
	before=$(sysctl -n $sysctl)
	for way in hpcc delay; do
		told "" "$way" on rate 10gbit rtt 10us
		sysctl -qw "$sysctl=bfc_$way"
		told "" "$way" on rate 10gbit rtt 20us
		told "bfc_$way is still the default .* sysctl -w $sysctl=reno" "$way" off
		equal "default" "$(sysctl -n $sysctl)" "bfc_$way"
		[ $way = hpcc ] || equal "first window" "$(first_window)" 16
		told "the default .* is the bfc_$way that was on before.* $sysctl=bfc_$way$" \
			"$way" on rate 10gbit rtt 50us
		[ $way = hpcc ] || equal "first window" "$(first_window)" 16
		sysctl -qw "$sysctl=bfc_$way"
		[ $way = hpcc ] || equal "first window" "$(first_window)" 41
		sysctl -qw "$sysctl=$before"
		told "" "$way" off
	done
	nothing_pinned
}

# to N: so many of them, which have none of the peers here
to() { printf 'to 192.0.2.%d/32 ' $(seq "$1"); }

# as_pinned FILE: the parameters there
as_pinned() { bpftool -j map dump pinned "$conf/$1" | jq -c '.[0].value'; }

# Sixteen prefixes, and no more, wherever they can be given: what is refused changes nothing.
test_prefixes() {
	local what id before words
	mkdir -p "$group"
	host a 10.0.0.1/24
	host b 10.0.0.2/24
	cable a e0 b e0
	id=$(command stat -c %i "$group")
	# shellcheck disable=SC2046
	{
		ctl int attach --cgroup "$group" $(to 16)
		ctl -n a int attach e0 $(to 16)
	}
	for what in "cgroup-$id/config" "$(cd "$conf" && ls int-*-config)"; do
		before=$(as_pinned "$what")
		for words in "$(to 17)" "$(to 16)to any" "to ::/0 $(to 16)"; do
			# shellcheck disable=SC2086
			if [[ $what == cgroup* ]]; then
				refuses 2 'more than 16 of "to"' int attach --cgroup "$group" $words
			else
				refuses 2 'more than 16 of "to"' -n a int attach e0 $words
			fi
		done
		equal "parameters after what was refused" "$(as_pinned "$what")" "$before"
	done
	# shellcheck disable=SC2046
	refuses 2 'more than 16 of "to"' size on --cgroup "$group" $(to 17)
	# In a file it is known where, and before anything is done.
	for words in "int attach --cgroup $group" "size on --cgroup $group"; do
		printf '[host]\n%s %s\n' "$words" "$(to 17)" >"$scratch/bfc.conf"
		refuses 2 'bfc.conf:2: more than 16 of "to"' apply --file "$scratch/bfc.conf"
	done
	printf '[port e0]\nrole nic\nint attach %s\n' "$(to 17)" >"$scratch/bfc.conf"
	refuses 2 'bfc.conf:3: more than 16 of "to"' -n a apply --file "$scratch/bfc.conf"
	printf '[port e0]\nrole nic\nint attach %s\n' "$(to 16)" >"$scratch/bfc.conf"
	check "apply" bfcctl -n a apply --file "$scratch/bfc.conf" >"$scratch/out"
	equal "done" "$(cat "$scratch/out")" "e0: added bfc role nic"
	ctl int detach --cgroup "$group"
	ctl -n a int detach e0
	nothing_pinned
	rmdir "$group"
}

# bytes N BYTE: as bpftool takes them
bytes() { yes "$2" | head -n "$1"; }

# The parameters of another layout are not those of this version of bfcctl.
test_other_parameters() {
	local id key=() i
	mkdir -p "$group"
	id=$(command stat -c %i "$group")
	for i in {0..7}; do
		key+=($((id >> 8 * i & 255)))
	done
	ctl int attach --cgroup "$group"
	check "map" bpftool map create "$conf/hpcc_net" type hash key 8 value 4096 entries 4 \
		name other
	# shellcheck disable=SC2046
	check "element" bpftool map update pinned "$conf/hpcc_net" key "${key[@]}" \
		value $(bytes 4096 255)
	ctl int detach --cgroup "$group"
	nothing_pinned
	rmdir "$group"
}

# "hpcc off" is for all: also for a cgroup whose congestion control is a program.
test_off_for_all() {
	simulated || { skip="sockops is for kernels without struct_ops"; return; }
	modprobe bfc_simcc
	mkdir -p "$group" "$group.2"
	refuses 1 'HPCC is off$' hpcc off
	ctl hpcc on --cgroup "$group" rate 10gbit rtt 10us sockops
	ctl hpcc on --cgroup "$group.2" rate 10gbit rtt 20us sockops
	ctl hpcc off
	refuses 1 'HPCC is off$' hpcc show
	equal "pins of HPCC" "$(find "$conf" -name 'hpcc*')" ""
	refuses 1 'HPCC is off$' hpcc off
	# INT stays.
	ctl int detach --cgroup "$group"
	ctl int detach --cgroup "$group.2"
	nothing_pinned
	rmdir "$group" "$group.2"
	check "a socket uses bfc_simcc" wait_for 5 modprobe -qr bfc_simcc
}

command -v bpftool >/dev/null || skip_all "no bpftool"
run_tests stage packet default prefixes other_parameters off_for_all
