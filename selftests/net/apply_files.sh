#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# bfcctl apply: which files make no sense, and how odd ones are read.
#
# Devices d0, d1, ... of a namespace x

# shellcheck source=selftests/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"

# shellcheck source=selftests/apply.sh
. "$top/selftests/apply.sh"

# bad LINE PATTERN TEXT: the file makes no sense, and nothing is done
bad() {
	conf "$3"
	apply 2
	check "\"$(tr '\n' ' ' <<<"$3")\" says: $(cat "$scratch/err")" grep -qE -- \
		"^bfcctl: $scratch/bfc.conf:$1: $2\$" "$scratch/err"
	equal "lines of \"$3\"" "$(wc -l <"$scratch/err")" 1
	equal "d0" "$(shown d0)" "$untouched"
}

test_bad_files() {
	devices d0
	local untouched good=$'[port d0]\nlimit 1mb\n'
	untouched=$(shown d0)
	bad 3 'unknown option "quues": the nearest is "queues"' "${good}quues 3"
	bad 3 'unknown option "xyzzyxyzzy"' "${good}xyzzyxyzzy 3"
	bad 3 'unknown option "stmap": the nearest is "stamp"' "${good}stmap native"
	bad 3 'no value for "queues"' "${good}rate 1gbit queues"
	bad 3 'illegal "queues" value "many": give 1 to 1024' "${good}queues many"
	bad 3 'illegal "role" value "host": give switch or nic' "${good}role host"
	bad 3 'illegal "hrtt" value "5 ?days": give 100 ns to 1 s, or auto' "${good}hrtt 5days"
	bad 3 '"limit" is given for the second time: see line 2' "${good}limit 2mb"
	bad 3 'illegal "elide" value "a,,b": give none, or names.*' "${good}elide a,,b"
	bad 3 'illegal "map" value "1:9": give auto or VALUE:PRIO.*' "${good}map 1:9"
	bad 3 'unknown section "prot": the nearest is "port"' "${good}[prot d1]"
	bad 3 '"\[port\]" without names: .*' "${good}[port]"
	bad 3 'no "\]" at the end' "${good}[port d1"
	bad 3 'no "\]" at the end of the pattern "swp\[1-4"' "${good}[port swp[1-4]"
	bad 3 'no "\]" at the end of the pattern "swp\[\]"' "${good}[port swp[]]"
	bad 3 'a section is .*' "${good}[]"
	bad 3 '"\[host\]" has no names' "${good}[host h1]"
	bad 3 'no device can have the name "abcdefghijklmnop"' \
		"${good}[port abcdefghijklmnop]"
	bad 1 '"limit" before the first section: .*' "limit 1mb"
	bad 3 '"ignore" stands alone' "${good}ignore limit"
	bad 3 'illegal "stamp" value "eagerly": give native, attach .*' \
		"${good}stamp eagerly"
	bad 3 '"stamp" begins a line of its own' "${good}queues 3 stamp native"
	bad 3 'something is missing after "pinned"' "${good}stamp pinned"
	bad 3 'something is missing after "stamp pinned id"' "${good}stamp pinned id"
	bad 3 'illegal "none" for "stamp pinned id": give a number from 1 to 4294967295' \
		"${good}stamp pinned id none"
	bad 3 'something is missing after "tag"' "${good}stamp pinned id 3 name x tag"
	bad 3 'what is "more"\?' "${good}stamp pinned id 3 name x tag 0 more"
	bad 3 'what is "more"\?' "${good}stamp pinned ./id more"
	bad 3 'illegal "0" for "every": give a number from 1 to 65536' \
		"${good}stamp attach every 0"
	bad 4 '"stamp" is given for the second time: see line 3' \
		"${good}stamp native"$'\nstamp attach'
	bad 3 'give "int attach" or "int detach".*' "${good}int attach --cgroup /tmp"
	bad 3 'give "int attach" or "int detach".*' "${good}int detach to 10.0.0.0/8"
	bad 3 'illegal "33" for "to".*' "${good}int attach to 10.0.0.0/33"
	bad 4 'unknown command "hpc": the nearest is "hpcc"' "${good}[host]"$'\nhpc on'
	bad 4 'illegal "hpcc off": give "hpcc on" and its parameters' \
		"${good}[host]"$'\nhpcc off'
	bad 4 'give "rate", .*' "${good}[host]"$'\nhpcc on'
	bad 4 'illegal "1us" for "rate": give a rate from 10mbit to 800gbit' \
		"${good}[host]"$'\ndelay on rate 1us'
	bad 4 '"int attach" of a device belongs to its \[port\]' \
		"${good}[host]"$'\nint attach d0'
	bad 4 'unknown command "sizes": the nearest is "size"' "${good}[host]"$'\nsizes on'
	bad 4 'what is "size maybe"\?' "${good}[host]"$'\nsize maybe'
	bad 4 'give --cgroup and a directory' "${good}[host]"$'\nsize on'
	bad 4 'what is "to"\?' "${good}[host]"$'\nsize off --cgroup /tmp to 10.0.0.0/8'
	bad 4 'illegal "33" for "to": give a number from 0 to 32' \
		"${good}[host]"$'\nsize on --cgroup /tmp to 10.0.0.0/33'
	# They would take turns each time.
	bad 5 '"int" is given for the second time: see .*/bfc.conf:4' \
		"${good}[host]"$'\nint attach --cgroup /tmp every 2\nint detach --cgroup /tmp/'
	bad 5 '"int detach" takes away what "hpcc on" attaches .*: see .*/bfc.conf:4' \
		"${good}[host]"$'\nint detach --cgroup /tmp/\nhpcc on --cgroup /tmp rate 10gbit rtt 50us'
	bad 5 '"int detach" takes away what "hpcc on" attaches .*: see .*/bfc.conf:4' \
		"${good}[host]"$'\nhpcc on --cgroup /tmp rate 10gbit rtt 50us\nint detach --cgroup /tmp'
	plugged d1
	conf $'[port d0]\nfc pfc buffer b size 1mb\n[port d1]\nfc pfc buffer b size 1024Kb'
	apply 3 --dry-run
	silent
	printf '%slimit\0 1mb\n' "$good" >"$scratch/bfc.conf"
	apply 2
	warns ':3: a zero byte$'
	rm "$scratch/bfc.conf"
	apply 1
	warns '^bfcctl: .*/bfc.conf: No such file or directory$'
	mkdir "$scratch/bfc.conf"
	apply 1
	warns '^bfcctl: .*/bfc.conf: no \*.conf there$'
	# As other systems' editors write it
	printf '\xef\xbb\xbf[port d*]\r\nlimit 1mb\r\n' >"$scratch/bfc.conf/10-all.conf"
	printf '[port d1]\nlimit 2mb\n' >"$scratch/bfc.conf/20-d1.conf"
	printf 'nonsense\n' >"$scratch/bfc.conf/30-d1.conf.dpkg-old"
	apply 0
	says "d0: added bfc limit 1Mb" "d1: added bfc limit 2Mb"
	printf 'nonsense\n' >"$scratch/bfc.conf/15-x.conf"
	apply 2
	warns '/bfc.conf/15-x.conf:1: "nonsense" before the first section'
	rm "$scratch/bfc.conf/15-x.conf"
	# The name of a directory is no pattern.
	mv "$scratch/bfc.conf" "$scratch/[d]"
	mkdir "$scratch/d"
	echo nonsense >"$scratch/d/x.conf"
	check "a directory by its name" bfcctl -n x apply --file "$scratch/[d]" >"$scratch/out"
	says "d0: nothing to do" "d1: nothing to do"
	rm -r "$scratch/[d]" "$scratch/d"
}

# in_buffer PORT SIZE: a section
in_buffer() {
	printf '[port %s]\nfc pfc rate 1gbit lossless none buffer b size %s\n' "$1" "$2"
}

# A port that comes later, with another size for the buffer: only that one has no bfc, and the
# first size in the files counts, whichever port the kernel lists first.
test_two_sizes() {
	local args
	devices d0 d1
	conf "$(in_buffer 'd[01]' 4mb; in_buffer d2 8mb)"
	apply 0
	plugged d2
	for args in '' --replace d2; do
		# shellcheck disable=SC2086
		apply 1 $args
		equal "messages with \"$args\"" "$(cat "$scratch/err")" "bfcctl: $scratch/bfc.conf:4: \
d2: buffer \"b\" has another size, 4mb, in $scratch/bfc.conf:2"
		check "output with \"$args\": $(cat "$scratch/out")" grep -qx 'd2: failed' \
			"$scratch/out"
		equal "other ports with \"$args\"" "$(grep -v d2 "$scratch/out" | sort -u)" \
			"$([ "$args" = d2 ] || printf '%s\n' 'd0: nothing to do' 'd1: nothing to do')"
	done
	equal "sizes" "$(stat x d0 options.size) $(shown d2 | grep -c bfc)" "4194304 0"
	bfcctl -j -n x apply --file "$scratch/bfc.conf" >"$scratch/out" 2>"$scratch/err"
	equal "JSON" "$(jq -c '.[] | [.dev, .failed, .why[:29]]' "$scratch/out" | tr '\n' ' ')" \
		'["d0",false,null] ["d1",false,null] ["d2",true,"buffer \"b\" has another size, "] '
	# Smaller at the last of the others
	conf "$(in_buffer 'd[01]' 2mb; in_buffer d2 8mb)"
	apply 1
	says "d0: nothing to do" "d1: changed size 4Mb -> 2Mb" "d2: failed"
	conf "$(in_buffer d2 8mb; in_buffer 'd[01]' 4mb)"
	apply 1
	warns ':4: d0: buffer "b" has another size, 8mb, in .*/bfc.conf:2$'
	warns ':4: d1: buffer "b" has another size, 8mb, in .*/bfc.conf:2$'
	check "output: $(cat "$scratch/out")" grep -q '^d2: added bfc .* size 8Mb$' "$scratch/out"
	conf "$(in_buffer 'd[01]' 4mb; in_buffer d2 keep)"
	apply 0
	silent
}

# A name that would begin a comment
test_hash() {
	devices '#1' d0
	conf "[port [#]1] #1
	limit 1mb
[port d0]
	elide d0,#1"
	apply 0
	says "#1: added bfc limit 1Mb" "d0: added bfc elide d0,#1"
	without_news apply 0
	without_news apply 0 '#1'
}

run_tests bad_files two_sizes hash
