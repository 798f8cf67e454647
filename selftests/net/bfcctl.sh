#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# bfcctl's command line: what it refuses, and that it says why; what it prints; what
# it leaves behind.
#
#   a --e0-- b

# shellcheck source=selftests/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"
# shellcheck source=selftests/bfcctl.sh
. "$top/selftests/bfcctl.sh"

group=/sys/fs/cgroup/bfcctl

topology() {
	host a 10.0.0.1/24
	host b 10.0.0.2/24
	cable a e0 b e0
}

unregistered() {
	! grep -q "$1" /proc/sys/net/ipv4/tcp_available_congestion_control
}

test_usage() {
	refuses 2 'what is "nonsense"' nonsense
	refuses 2 'missing after "stamp"' stamp
	refuses 2 'what is "nonsense"' nonsense --cgroup={1,2,3,4,5,6,7,8}
	refuses 2 'what is "stamp nonsense"' stamp nonsense
	refuses 2 'missing after "attach"' stamp attach
	refuses 2 'what is "nonsense"' stamp attach lo nonsense
	refuses 2 'illegal "maybe" for "int": give on, off or strip' stamp attach lo int maybe
	refuses 2 'illegal "-1" for "node": give a number from 0 to 4294967295' \
		stamp attach lo node -1
	refuses 2 'illegal "4294967296" for "node"' stamp attach lo node 4294967296
	refuses 2 'illegal "0" for "every": give a number from 1 to 65536' \
		stamp attach lo every 0
	refuses 2 'illegal "65536" for "port": give a number from 1 to 65535' \
		stamp attach lo port 65536
	refuses 2 'illegal "" for "port"' stamp attach lo port ''
	refuses 2 'illegal "4791" for "port": .* have no INT' stamp attach lo port 4791
	refuses 2 'missing after "port"' stamp attach lo port
	refuses 2 'what is "more"' stamp detach lo more
	refuses 2 'give a device, or --cgroup' int attach
	refuses 2 'give a device, or --cgroup' int attach lo --cgroup /tmp
	refuses 2 'illegal "5" for "hops": give a number from 1 to 4' \
		int attach --cgroup /tmp hops 5
	refuses 2 'illegal "1x" for "every"' int attach --cgroup /tmp every 1x
	refuses 2 '"every" and "hops" are for --cgroup' int attach lo every 2
	refuses 2 'illegal "1.2.3" for "to"' int attach lo to 1.2.3
	refuses 2 'what is "to"' int detach lo to 10.0.0.0/8
	refuses 2 'what is "every"' int detach lo every 2
	refuses 2 'interval needs a unit, as 1us or 1ms' watch interval 1
	refuses 2 'illegal "1us" for "interval": give a time from 10ms to 3600s' \
		watch interval 1us
	refuses 2 'what is "monitr"\? Did you mean "monitor"\?' monitr
	refuses 2 'illegal "1d" for "interval"' watch interval 1d
	refuses 2 'illegal "nan" for "interval"' watch interval nan
	refuses 2 'illegal "0" for "count"' watch count 0
	refuses 2 'illegal "0" for "count"' monitor count 0
	refuses 2 'what is "f"' monitor e f
	refuses 2 'illegal "61s" for "events": give a time from 0ns to 60s' report events 61s
	refuses 2 'missing after "events"' report events
	refuses 2 'illegal "1ms" for "interval": give a time from 10ms to 3600s' top interval 1ms
	refuses 2 'what is "f"' top lo f
	refuses 2 'prints JSON with --once alone' -j top
	refuses 1 'no such device: none' top none --once
	refuses 2 'what is "f"' report e f
	refuses 2 'give a device or "all-nsid"' monitor e all-nsid
	refuses 2 'illegal "a123456789012345": .* 15 characters' monitor a123456789012345
	refuses 2 'what is "f"' stamp show e f
	refuses 2 'what is "f"' int show e f
}

# Help and version as words or options; those of all commands anywhere. The version is
# the module's.
test_options() {
	local words all version
	all=$(bfcctl --help) || fail "--help"
	check "no help" grep -q '^usage: bfcctl' <<<"$all"
	for words in help "help stamp" "stamp help" "stamp --help" \
		     "stamp attach -h" "-h stamp"; do
		# shellcheck disable=SC2086
		bfcctl $words >"$scratch/out" 2>"$scratch/err" ||
			fail "$words: $(cat "$scratch/err")"
		check "$words: no help" grep -q '^  stamp attach' "$scratch/out"
		equal "$words: lines on hpcc" "$(grep -c '^  hpcc on' \
			"$scratch/out")" "$((${#words} == 4))"
	done
	equal "help" "$(bfcctl help)" "$all"
	for words in version --version -V "stamp --version"; do
		# shellcheck disable=SC2086
		version=$(bfcctl $words 2>&1)
		equal "$words" "$version" "bfcctl $(cat /sys/module/sch_bfc/version)"
	done
	check "\"$version\" is no number" grep -qE '^bfcctl [0-9]+\.[0-9]+' <<<"$version"
	topology
	bfc a e0 role nic
	for words in "-j -n a stamp show" "stamp show -j -n a" \
		     "stamp -jna show e0" "stamp show e0 --netns a --json" \
		     "stamp --netns=a show --bpffs=/sys/fs/bpf -vj --"; do
		# shellcheck disable=SC2086
		equal "$words" "$(bfcctl $words 2>&1)" '[{"dev":"e0","stamp":"native"}]'
	done
	refuses 2 'what is "--nonsense"' stamp --nonsense
	refuses 2 'what is "-x"' -x stamp show
	refuses 2 'what is "--js"' stamp show --js
	refuses 2 'what is "-jx"' stamp show -jx
	refuses 2 '"--json" has no value' --json=yes stamp show
	refuses 2 'missing after "--netns"' stamp show --netns
	refuses 2 'missing after "-jn"' stamp show -jn
	refuses 2 'what is "-j"' -- -j
	refuses 2 'what is "nonsense"' help nonsense
	refuses 2 'what is "more"' help stamp more
	refuses 2 'what is "more"' version more
	refuses 1 'cgroup -j: No such file' int detach --cgroup -j
	refuses 1 'cgroup -j: No such file' int detach --cgroup=-j
}

# both CODE PATTERN RATE RTT: hpcc and delay
both() {
	refuses "$1" "$2" hpcc on --cgroup /nonsense rate "$3" rtt "$4"
	refuses "$1" "$2" delay on rate "$3" rtt "$4" --bpffs /nonsense
}

# ports WORD...: which the command prints
ports() { bfcctl -n x -j "$@" | jq -c '[.ports[].dev]'; }

# A device may be called as an option, a keyword or a command: behind "--" it is meant.
test_names() {
	local dev
	new_ns x
	for dev in count interval to help --cgroup --once; do
		ip -n x link add name "$dev" type dummy
		bfc x "$dev"
	done
	for dev in count interval help --once; do
		equal "top $dev" "$(ports top interval 10ms --once -- "$dev")" "[\"$dev\"]"
		equal "watch $dev" "$(ports watch count 1 interval 10ms -- "$dev")" "[\"$dev\"]"
		# What comes behind it is no name.
		equal "watch $dev" "$(ports watch interval 10ms -- "$dev" count 1)" "[\"$dev\"]"
	done
	for dev in to help --cgroup; do
		ctl -n x int attach -- "$dev"
		ctl -n x int detach -- "$dev"
		ctl -n x stamp attach -- "$dev" every 2
		equal "stamp show $dev" "$(bfcctl -n x -j stamp show -- "$dev" |
			jq -c 'map([.dev, .every])')" "[[\"$dev\",2]]"
		ctl -n x stamp detach -- "$dev"
	done
	refuses 2 'what is "f"' monitor -- count f
	refuses 2 'what is "f"' monitor -- all-nsid f
	refuses 2 'what is "f"' report -- events f
	refuses 2 'what is "--addresses"' report f -- --addresses
	refuses 2 'what is "--cgroup"' size on -- --cgroup /tmp
	refuses 2 'what is "--cgroup"' hpcc off -- --cgroup /tmp
	refuses 2 'what is "--cgroup"' hpcc on rate 10gbit rtt 50us -- --cgroup /tmp
	refuses 1 'box: No such file' topology -- box
	refuses 1 'help: No such file' topology -- help
}

# What bfcctl prints and what the papers write is what it reads.
test_values() {
	local value
	for value in 10Gbit 10GBIT 9.5gbit 10000000000bit \
		     10000000Kbit 0.01Tbit; do
		both 1 'No such file' "$value" 10us
	done
	both 2 'illegal "9mbit" for "rate": give a rate from 10mbit to 800gbit' \
		9mbit 10us
	both 2 'illegal "10gb" for "rate"' 10gb 10us
	both 2 'illegal "801Gbit" for "rate"' 801Gbit 10us
	for value in 10us 10US 10000ns 0.01ms; do
		both 1 'No such file' 10gbit "$value"
	done
	refuses 2 'illegal "10000us" for "rtt": give a time from 100ns to 8.388607ms' \
		hpcc on rate 10gbit rtt 10000us
	# Bare numbers, as tc's plugin
	both 2 'rtt needs a unit, as 10us or 10ms' 10gbit 10
	both 2 'rtt needs a unit, as .5us or .5ms' 10gbit .5
	both 2 'rate needs a unit, as 10mbit or 10gbit' 10 10us
	both 2 'rate needs a unit, as 10000000000mbit or 10000000000gbit' 10000000000 10us
	both 2 'illegal "nan" for "rtt"' 10gbit nan
	for value in 0.95 .95 950 1 1.0 0.01; do
		refuses 1 'No such file' hpcc on --cgroup /nonsense \
			rate 10gbit rtt 10us eta "$value" wai 10
	done
	for value in 0 2 1.1 1001 950.5 0.95x .; do
		refuses 2 "illegal \"$value\" for \"eta\": give a ratio from 0.01 to 1, or thousandths from 10 to 1000" \
			hpcc on rate 10gbit rtt 10us eta "$value"
	done
	# No window is below wai, nor above what rate and rtt make.
	refuses 1 'No such file' hpcc on --cgroup /nonsense rate 10gbit rtt 50us wai 62500
	for value in 62501 100000 2147483648 18446744073709551615 -1 1.5 x; do
		refuses 2 "illegal \"$value\" for \"wai\": give a number from 0 to 62500" \
			hpcc on rate 10gbit wai "$value" rtt 50us
	done
	printf '[host]\nhpcc on rate 10gbit rtt 50us wai 100000\n' >"$scratch/bfc.conf"
	refuses 2 'bfc.conf:2: illegal "100000" for "wai": give a number from 0 to 62500' \
		apply --file "$scratch/bfc.conf"
	refuses 2 'illegal "5" for "target": rtt x target may be at most 4.294967295s' \
		delay on rate 10gbit rtt 1s target 5
	refuses 1 'No such file' --bpffs /nonsense \
		delay on rate 10gbit rtt 10us target 2.5
	refuses 2 'illegal "1" for "target": give a ratio from 1.001 to 100' \
		delay on rate 10gbit rtt 10us target 1
}

# Who reads a file is to know that it is not whole.
test_full_disk() {
	local words
	for words in "-j stamp show" "-j watch interval 10ms count 1" --help \
		     --version; do
		# shellcheck disable=SC2086
		bfcctl $words >/dev/full 2>"$scratch/err"
		equal "exit code of \"$words\"" $? 1
		check "\"$words\" says: $(cat "$scratch/err")" grep -q \
			'^bfcctl: output: ' "$scratch/err"
	done
}

test_reasons() {
	topology
	refuses 1 'no such device: nonsense' stamp attach nonsense
	refuses 1 'no such device: nonsense' int show nonsense
	refuses 1 'no such device: nonsense' int attach nonsense
	refuses 1 'no such network namespace: nonsense' -n nonsense stamp show
	refuses 1 'e0 has (no qdisc|[a-z_]*)' -n a stamp attach e0
	tc -n a qdisc replace dev e0 root pfifo
	refuses 1 'not a bfc qdisc: e0 has pfifo' -n a stamp attach e0
	refuses 1 'not a bfc qdisc: e0 has pfifo' -n a stamp detach e0
	sysctl -qw net.core.default_qdisc=bfc
	tc -n a qdisc del dev e0 root
	refuses 1 'e0 has bfc as the kernel.s default, which .*: tc qdisc replace dev e0 root bfc' \
		-n a stamp attach e0
	check "stamp show" grep -qx 'e0: stamps natively' <(bfcctl -n a stamp show e0)
	sysctl -qw net.core.default_qdisc=pfifo_fast
	bfc a e0
	refuses 1 'e0 stamps natively already' -n a stamp detach e0
	# A filter of another program is where those of bfcctl belong.
	tc -n a qdisc add dev e0 clsact
	tc -n a filter add dev e0 ingress pref 1 protocol ip u32 match u32 0 0
	refuses 1 'e0: .*priority 1' -n a int attach e0
	tc -n a qdisc del dev e0 clsact
	refuses 1 'e0: the UDP programs are not attached' -n a int detach e0
	refuses 1 'No such file' int attach --cgroup /sys/fs/cgroup/nonsense
	refuses 1 'not a cgroup of version 2' int attach --cgroup /tmp
	refuses 1 'not a cgroup of version 2' \
		hpcc on --cgroup /tmp rate 10gbit rtt 10us
	check "registered" unregistered bfc_hpcc
	mkdir -p "$group"
	refuses 1 'the TCP program is not attached' int detach --cgroup "$group"
	rmdir "$group"
	refuses 1 '/tmp is not a bpf file system.*mount -t bpf' \
		--bpffs /tmp stamp show
	refuses 1 'No such file' --bpffs /nonsense stamp show
	run=(setarch --uname-2.6)
	refuses 1 'this kernel is too old: it is 2\.6, the programs need 6\.1' \
		stamp show
	run=(setpriv --reuid 65534 --regid 65534 --clear-groups)
	refuses 1 'not permitted' stamp show
	# Root of a container that may do nothing
	run=(setpriv --bounding-set -all --inh-caps -all)
	refuses 1 'not permitted' int attach --cgroup /sys/fs/cgroup
	run=()
	nothing_pinned
}

# Another user was there first: what is pinned would be that user's.
test_squatted() {
	local other=$scratch/bpf dir=$scratch/bpf/bfc
	local user=(setpriv --reuid 65534 --regid 65534 --clear-groups)
	topology
	bfc a e0 role nic
	chmod 711 "$scratch"
	mkdir "$other"
	mount -t bpf none "$other"
	check "others can write there" "${user[@]}" mkdir "$dir"
	refuses 1 "$dir belongs to user 65534: remove it, .* mode=0700" \
		--bpffs "$other" -n a stamp attach e0
	refuses 1 "$dir belongs to user 65534" --bpffs "$other" stamp show
	rmdir "$dir"
	"${user[@]}" ln -s /sys/fs/bpf "$dir"
	refuses 1 "$dir is no directory" --bpffs "$other" -n a stamp attach e0
	rm "$dir"
	mkdir -m 1777 "$dir"
	refuses 1 "$dir has mode 1777, other users may write there" \
		--bpffs "$other" -n a stamp attach e0
	chmod 755 "$dir"
	equal "stamp" "$(stat a e0 options.stamp)" native
	ctl --bpffs "$other" -n a stamp attach e0
	ctl --bpffs "$other" -n a stamp detach e0
	equal "left" "$(ls "$other")" ""
	umount "$other"
	nothing_pinned
}

# Frames of the host itself count, too: none left before the pretty one and after it.
shown_twice_alike() {
	bfcctl -n a -j stamp show e0 >"$scratch/show"
	bfcctl -n a -p stamp show >"$scratch/pretty"
	bfcctl -n a -j stamp show e0 | cmp -s "$scratch/show"
}

test_stamp() {
	local pin
	topology
	bfc a e0 role nic
	equal "before" "$(bfcctl -n a -j stamp show e0)" \
		'[{"dev":"e0","stamp":"native"}]'
	check "text" grep -qx 'e0: stamps natively' <(bfcctl -n a stamp show)
	check "attach" bfcctl -n a stamp attach e0 node 7 every 3 port 1234
	bfcctl -n a -j stamp show e0 >"$scratch/show"
	equal "shown" "$(jq -c '.[0] | [.stamp, .name, .node, .int, .every, .port]' \
		"$scratch/show")" '["pinned","bfc_stamp",7,true,3,1234]'
	check "text of it" grep -q 'node 7 int on every 3 port 1234' \
		<(bfcctl -n a stamp show e0)
	check "counters do not move" wait_for 5 shown_twice_alike
	equal "pretty JSON" "$(jq -c . "$scratch/pretty")" "$(jq -c . "$scratch/show")"
	at_least "its lines" "$(wc -l <"$scratch/pretty")" 5
	# Again, with other parameters: another program
	check "attach again" bfcctl -n a stamp attach e0 int off
	equal "shown" "$(bfcctl -n a -j stamp show | jq -c \
		'.[0] | [.int, .every, .port, .id != '"$(jq '.[0].id' \
		"$scratch/show")"']')" '[false,1,49089,true]'
	check "detach" bfcctl -n a stamp detach e0
	equal "after" "$(bfcctl -n a -j stamp show)" \
		'[{"dev":"e0","stamp":"native"}]'
	nothing_pinned
	# What does not work out changes nothing.
	pin=$(pin_of a e0)
	mkdir -p "$pin-count"
	refuses 1 'Is a directory' -n a stamp attach e0
	equal "after a failure" "$(bfcctl -n a -j stamp show)" \
		'[{"dev":"e0","stamp":"native"}]'
	equal "left in the bpf file system" "$(ls /sys/fs/bpf/bfc)" \
		"${pin##*/}-count"
	rmdir "$pin-count"
	check "attach" bfcctl -n a stamp attach e0 node 7
	rm "$pin-count"
	mkdir "$pin-count"
	refuses 1 'Is a directory' -n a stamp attach e0 node 8
	equal "node after a failure" "$(bpftool -j map dump pinned \
		"$pin-config" | jq -r '.[0].value[0]')" 0x07
	# The qdisc first: the pins say no more than they did.
	refuses 1 'Is a directory' -n a stamp detach e0
	equal "after detaching by half" "$(bfcctl -n a -j stamp show)" \
		'[{"dev":"e0","stamp":"native"}]'
	rmdir "$pin-count" "${pin%/*}"
	# The qdisc went first.
	check "attach once more" bfcctl -n a stamp attach e0
	tc -n a qdisc del dev e0 root
	equal "without a qdisc" "$(pins -n a)" '["e0","no_bfc",false]'
	check "detach without a qdisc" bfcctl -n a stamp detach e0
	nothing_pinned
}

# Two that attach at once were mixed up: the program of one, and what the other was told.
test_at_once() {
	local i pid all=() asked=() lock words node
	topology
	bfc a e0 role nic
	for i in {1..6}; do
		bfcctl -n a stamp attach e0 node "$i" >"$scratch/out.$i" 2>&1 &
		all+=($!)
	done
	for pid in "${all[@]}"; do
		wait "$pid" || fail "exit code $?: $(cat "$scratch"/out.*)"
	done
	bfcctl -n a -j stamp show e0 >"$scratch/show"
	# The port is shown with its node only if it stamps by the program that is pinned.
	node=$(jq '.[0].node' "$scratch/show")
	check "node of the port: $node" [ "$node" -ge 1 ]
	equal "node that is pinned" "$(bpftool -j map dump pinned "$(pin_of a e0)-config" |
		jq -r '.[0].value[0]')" "0x0$node"
	equal "what waits yet" "$(find /sys/fs/bpf/bfc -name '*-new')" ""
	# What changes something waits; what does not, does not.
	exec {lock}>/run/bfcctl.lock
	flock "$lock"
	printf '[port e0]\nrole nic\n' >"$scratch/bfc.conf"
	all=()
	for words in "stamp attach e0" "stamp detach e0" "stamp restore" "int attach e0" \
		"int detach e0" {int\ attach,int\ detach,size\ on,size\ off}" --cgroup /nonsense" \
		"hpcc on rate 10gbit rtt 10us" "hpcc off" "delay on rate 10gbit rtt 10us" \
		"delay off" "apply --file $scratch/bfc.conf"; do
		# shellcheck disable=SC2086
		bfcctl -n a $words >/dev/null 2>&1 &
		all+=($!)
		asked+=("$words")
	done
	check "show" bfcctl -n a stamp show >/dev/null
	timeout 10 bfcctl -n a apply --dry-run --file "$scratch/bfc.conf" >/dev/null
	check "a dry run waits" [ "$?" -ne 124 ]
	sleep 1
	for i in "${!all[@]}"; do
		check "does not wait: ${asked[i]}" kill -0 "${all[i]}"
	done
	equal "the program, meanwhile" "$(bfcctl -n a -j stamp show e0 | jq '.[0].id')" \
		"$(jq '.[0].id' "$scratch/show")"
	flock -u "$lock"
	exec {lock}>&-
	for pid in "${all[@]}"; do
		wait "$pid"
	done
	for words in "stamp detach e0" "int detach e0" "hpcc off" "delay off"; do
		# shellcheck disable=SC2086
		bfcctl -n a $words 2>/dev/null
	done
	nothing_pinned
}

# What is pinned and what stamps part when the qdisc, the device or its namespace goes.
test_pins() {
	local pin first
	topology
	bfc a e0 role nic
	ctl -n a stamp attach e0 node 7 every 3
	pin=$(pin_of a e0)
	equal "pin" "$(bfcctl -n a -j stamp show | jq -r '.[].pin')" "$pin"
	equal "from elsewhere" "$(bfcctl -j stamp show | jq -c \
		'.[] | [.netns, .dev, .in_effect]')" '["a","e0",true]'
	check "text" grep -qx "$pin: e0 of network namespace a stamps by it" \
		<(bfcctl stamp show)

	tc -n a qdisc del dev e0 root
	bfc a e0 role nic
	equal "added anew" "$(pins -n a)" '["e0","native",false]'
	check "text: $(bfcctl -n a stamp show e0)" grep -qx "$pin: not in effect: e0 stamps natively (bfcctl stamp restore e0, or bfcctl stamp detach e0)" \
		<(bfcctl -n a stamp show e0)
	equal "restore" "$(bfcctl -n a stamp restore | sed 's/[0-9]* again/N again/')" \
		"e0: stamps by program N again"
	equal "restored" "$(bfcctl -n a -j stamp show e0 | jq -c \
		'.[] | [.node, .every]')" '[7,3]'
	equal "restore again" "$(bfcctl -n a stamp restore e0)" ""
	bfc b e0 role nic
	refuses 1 'nothing is pinned for e0 .bfcctl stamp attach e0' \
		-n b stamp restore e0
	refuses 1 'e0 stamps by .*: bfcctl -n a stamp detach e0' \
		stamp detach "${pin##*/}"
	refuses 1 'nothing is pinned there' stamp detach stamp-4026530000-1

	ip -n a link del e0
	equal "device gone" "$(pins -n a)" '["e0","no_device",false]'
	equal "of its name" "$(bfcctl -n a -j stamp show e0 | jq -c \
		'.[] | [.pin, .state]')" "[\"$pin\",\"no_device\"]"
	# Another of its name is not taken for it.
	cable a e0 b e0
	bfc a e0 role nic
	first=$pin
	pin=$(pin_of a e0)
	equal "both" "$(bfcctl -n a -j stamp show e0 | jq -c \
		'.[] | [.stamp, .state]')" $'["native",null]\n[null,"no_device"]'
	ctl -n a stamp attach e0
	check "swept" [ ! -e "$first" ]
	check "attached" [ -e "$pin" ]
	ip -n a link del e0
	ctl -n a stamp detach e0
	nothing_pinned
	refuses 1 'no such device: e0' -n a stamp detach e0

	cable a e0 b e0
	bfc b e0 role nic
	ctl -n b stamp attach e0
	pin=$(pin_of b e0)
	del_ns b
	check "namespace is there" wait_for 20 netns_gone
	check "text: $(bfcctl stamp show)" grep -qx "$pin: not in effect: e0 is gone with its network namespace (bfcctl stamp detach ${pin##*/})" \
		<(bfcctl stamp show)
	ctl -n a stamp detach "${pin##*/}"
	nothing_pinned
}

# The least free number is taken, by a namespace and then by its files in /proc: namespaces of the
# test before are to be gone, so that the one that goes next has the least again.
numbers_settle() {
	local i number last=
	for ((i = 0; i < 40; i++)); do
		ip netns add probe
		number=$(in_ns probe stat -Lc %i /proc/self/ns/net)
		ip netns del probe
		[ "$number" != "$last" ] || return 0
		last=$number
		sleep 0.5
	done
	return 1
}

# The kernel gives the number of a namespace that is gone to another one, and numbers of
# devices begin anew in each.
test_another_netns() {
	local pin i ns
	check "numbers of namespaces do not settle" numbers_settle
	sleep 0.5
	new_ns g
	ip -n g link add e0 type dummy
	bfc g e0 role nic
	ctl -n g stamp attach e0 int off
	pin=$(pin_of g e0)
	del_ns g
	check "namespace is there" wait_for 20 netns_gone
	for ((i = 0; i < 12; i++)); do
		ns=g$i
		new_ns "$ns"
		ip -n "$ns" link add e0 type dummy
		[ "$(pin_of "$ns" e0)" != "$pin" ] || break
	done
	equal "pin of a namespace with the same number" "$(pin_of "$ns" e0)" "$pin"
	bfc "$ns" e0 role nic
	refuses 1 'nothing is pinned for e0 .bfcctl stamp attach e0' -n "$ns" stamp restore e0
	equal "restored" "$(bfcctl -n "$ns" stamp restore)" ""
	equal "stamp" "$(stat "$ns" e0 options.stamp)" native
	equal "pins" "$(pins)" '["e0","no_netns",false]'
	ctl -n "$ns" stamp attach e0
	equal "restored after an attachment" "$(bfcctl -n "$ns" -j stamp show e0 | jq -c \
		'.[] | [.stamp, .int]')" '["pinned",true]'
	tc -n "$ns" qdisc del dev e0 root
	bfc "$ns" e0 role nic
	ctl -n "$ns" stamp restore e0 >"$scratch/out"
	equal "restored after an attachment" "$(stat "$ns" e0 options.stamp)" pinned
	ctl -n "$ns" stamp detach e0
	nothing_pinned
}

# What devices have left that are gone goes, and nothing else.
test_sweep() {
	local dev pin
	topology
	ip -n a link add x type dummy
	for dev in e0 x; do
		bfc a $dev role nic
		ctl -n a stamp attach $dev
		ctl -n a int attach $dev
	done
	ip -n a link del x
	equal "pins of x" "$(pins -n a)" '["x","no_device",false]'
	pin=$(pin_of a e0)
	ls /sys/fs/bpf/bfc >"$scratch/both"
	ctl -n b sweep
	equal "pins, after another namespace's" "$(ls /sys/fs/bpf/bfc)" "$(cat "$scratch/both")"
	ctl -n a sweep
	equal "pins of x" "$(pins -n a)" ""
	equal "pins of e0" "$(ls /sys/fs/bpf/bfc)" \
		"$(grep -E "^int_|-${pin##*-}(-|$)" "$scratch/both")"
	# A new device is looked at by its own number; an old one's INT ends with it.
	ip -n a link add x type dummy
	bfc a x
	ctl -n a int attach x
	ip -n a link del x
	ctl -n a int attach e0
	equal "pins of INT" "$(find /sys/fs/bpf/bfc -name 'int-*' | wc -l)" 3
	ctl -n a stamp detach e0
	ip -n a link del e0
	ctl -n a sweep
	nothing_pinned
	ctl -n a sweep
}

# complete WORD...: what Tab would offer for the last one
complete_words() {
	# shellcheck disable=SC2016
	bash -c '. "$0"
		line=("$@")
		_init_completion() {
			words=("${line[@]}") cword=$((${#line[@]} - 1))
			cur=${line[-1]} prev=${line[-2]}
		}
		_available_interfaces() { COMPREPLY=(); }
		_bfcctl
		printf "%s\n" "${COMPREPLY[@]}"' "$top/bpf/bash-completion/bfcctl" bfcctl "$@"
}

# Names that another user may have put there are none of bfcctl's, and no commands.
test_completion() {
	mkdir -p /sys/fs/bpf/bfc/stamp-4026531840-{2,30,2-count}
	# shellcheck disable=SC2016
	mkdir '/sys/fs/bpf/bfc/stamp-$(touch${IFS}$PWNED)' '/sys/fs/bpf/bfc/stamp-1-`id`'
	PWNED=$scratch/pwned complete_words stamp detach "" >"$scratch/out" 2>"$scratch/err"
	equal "offered" "$(sort "$scratch/out" | tr '\n' ' ')" \
		"stamp-4026531840-2 stamp-4026531840-30 "
	equal "said" "$(cat "$scratch/err")" ""
	check "a name was run" [ ! -e "$scratch/pwned" ]
	equal "offered for stamp-4026531840-3" "$(complete_words stamp detach stamp-4026531840-3)" \
		stamp-4026531840-30
	rmdir /sys/fs/bpf/bfc/* /sys/fs/bpf/bfc
	equal "offered behind --" "$(complete_words apply -- --; complete_words watch -- "")" ""
}

netns_gone() { [ "$(pins)" = '["e0","no_netns",false]' ]; }

test_cgroups() {
	local other=$group.other config
	mkdir -p "$group" "$other"
	check "attach" bfcctl int attach --cgroup "$group"
	check "attach another" bfcctl int attach --cgroup "$other" every 4 hops 2
	check "attach again" bfcctl int attach --cgroup "$group" every 2
	equal "programs attached" "$(bpftool -j cgroup tree /sys/fs/cgroup 2>/dev/null |
		jq '[.[].programs[]] | length')" 2
	equal "flows" "$(bfcctl -j int show)" '[]'
	# HPCC has said which congestion control
	config=/sys/fs/bpf/bfc/cgroup-$(command stat -c %i "$group")/config
	# shellcheck disable=SC2046
	check "no configuration" bpftool map update pinned "$config" \
		key 0 0 0 0 value 1 0 0 0 0 0 0 0 114 101 110 111 \
		$(printf '0 %.0s' {1..540})	# up to its 552 bytes
	check "attach once more" bfcctl int attach --cgroup "$group" every 3
	equal "every, congestion control" "$(bpftool -j map dump pinned "$config" |
		jq -c '.[0].value | [.[0, 8, 9, 10, 11, 12]]')" \
		'["0x03","0x72","0x65","0x6e","0x6f","0x00"]'
	check "detach" bfcctl int detach --cgroup "$group"
	check "the other one's storage went" [ -e /sys/fs/bpf/bfc/int_sk ]
	check "detach another" bfcctl int detach --cgroup "$other"
	nothing_pinned
	rmdir "$group" "$other"
}

let_go() { [ "$(bpftool -j link show pinned "$1" | jq .cgroup_id)" = 0 ]; }

# What was pinned for a cgroup that was removed goes as well.
test_removed_cgroup() {
	local other=$group.other pins
	mkdir -p "$group" "$other"
	pins=/sys/fs/bpf/bfc/cgroup-$(command stat -c %i "$group")
	ctl int attach --cgroup "$group"
	ctl int attach --cgroup "$other"
	rmdir "$group"
	check "the kernel holds it still" wait_for 20 let_go "$pins/link"
	ctl int attach --cgroup "$other" every 2
	check "left of the removed cgroup: $(ls "$pins" 2>/dev/null)" \
		[ ! -e "$pins" ]
	if struct_ops; then
		# What is new is not taken for what is left.
		pins=/sys/fs/bpf/bfc/cgroup-$(command stat -c %i "$other")
		rmdir "$other"
		check "the kernel holds it still" wait_for 20 let_go "$pins/link"
		mkdir "$other"
		ctl hpcc on --cgroup "$other" rate 10gbit rtt 10us
		check "HPCC has lost its maps" bfcctl hpcc show >"$scratch/out"
		check "INT has lost its map" [ -e /sys/fs/bpf/bfc/int_sk ]
		ctl hpcc off
	fi
	pins=/sys/fs/bpf/bfc/cgroup-$(command stat -c %i "$other")
	rmdir "$other"
	check "the kernel holds it still" wait_for 20 let_go "$pins/link"
	refuses 1 'No such file' int detach --cgroup "$other"
	nothing_pinned
}

# An ingress qdisc has one list of filters for both ways.
test_ingress() {
	topology
	tc -n a qdisc add dev e0 ingress
	refuses 1 'not a clsact qdisc: e0 has ingress .*qdisc add dev e0 clsact' \
		-n a int attach e0
	equal "filters" "$(tc -n a filter show dev e0 ingress)" ""
	nothing_pinned
}

# What fails when all is loaded already leaves nothing behind, either.
test_undone() {
	local way filter=(prio 1 protocol ip u32 match u32 0 0 action ok)
	local on=(rate 10gbit rtt 10us) other=$scratch/bpf
	topology
	tc -n a qdisc add dev e0 clsact
	for way in ingress egress; do
		tc -n a filter add dev e0 $way "${filter[@]}"
		refuses 1 "cannot attach the UDP program at $way" \
			-n a int attach e0
		tc -n a filter del dev e0 $way prio 1
		equal "filters" "$(tc -n a filter show dev e0 ingress)" ""
		equal "left by a filter at $way" "$(ls /sys/fs/bpf)" ""
	done

	mkdir -p "$group"
	bpftool prog load "$top/build/bpf/bfc_int_tcp.bpf.o" \
		/sys/fs/bpf/exclusive type sockops 2>"$scratch/err"
	check "exclusive program" bpftool cgroup attach "$group" sock_ops \
		pinned /sys/fs/bpf/exclusive
	refuses 1 'excludes others' int attach --cgroup "$group"
	refuses 1 'the TCP program is not attached' int detach --cgroup "$group"
	if simulated; then
		modprobe bfc_simcc
		refuses 1 'excludes others' hpcc on --cgroup "$group" \
			"${on[@]}" sockops
		modprobe -r bfc_simcc
	fi
	refuses 1 'HPCC is off' hpcc show
	if struct_ops; then
		refuses 1 'excludes others' hpcc on --cgroup "$group" "${on[@]}"
		check "registered all the same" unregistered bfc_
	fi
	bpftool cgroup detach "$group" sock_ops pinned /sys/fs/bpf/exclusive
	rm /sys/fs/bpf/exclusive
	rmdir "$group"
	equal "left beside an exclusive program" "$(ls /sys/fs/bpf)" ""

	struct_ops || return 0
	mkdir "$other"
	mount -t bpf none "$other"
	ctl hpcc on "${on[@]}"
	ctl delay on "${on[@]}"
	for way in hpcc delay; do
		refuses 1 'another has this name' --bpffs "$other" "$way" on \
			"${on[@]}"
		refuses 1 'is off' --bpffs "$other" "$way" show
		ctl "$way" show
		ctl "$way" off
	done >"$scratch/shown"
	equal "left of a name that was taken" "$(ls "$other")" ""
	umount "$other"
}

# A map of another size, as another version of bfcctl has left it
test_other_version() {
	mkdir -p "$group" /sys/fs/bpf/bfc
	check "map" bpftool map create /sys/fs/bpf/bfc/int_sk type array \
		key 4 value 8 entries 1 name other
	refuses 1 'cannot load the TCP program: .*int_sk.*parameter mismatch; another version of bfcctl .*"detach"' \
		int attach --cgroup "$group"
	equal "left in the bpf file system" "$(ls /sys/fs/bpf/bfc)" int_sk
	rm -r /sys/fs/bpf/bfc
	rmdir "$group"
}

# What HPCC keeps goes with the last that has it.
test_hpcc() {
	local on=(rate 10gbit rtt 10us sockops) other=$group.other
	mkdir -p "$group" "$other"
	refuses 1 'HPCC is off' hpcc show
	refuses 1 'no congestion control bfc_window.*without "sockops"' \
		hpcc on --cgroup "$group" "${on[@]}"
	simulated || { rmdir "$group" "$other"; return; }
	modprobe bfc_simcc
	check "hpcc on" bfcctl hpcc on --cgroup "$group" "${on[@]}"
	check "hpcc on in another" bfcctl hpcc on --cgroup "$other" "${on[@]}"
	equal "shown" "$(bfcctl -j hpcc show | jq -c '.[0] | [.rtt_ns, .flows]')" \
		'[10000,[]]'
	check "hpcc off" bfcctl hpcc off --cgroup "$group"
	check "the other one's went" bfcctl -j hpcc show >/dev/null
	check "hpcc off in another" bfcctl hpcc off --cgroup "$other"
	refuses 1 'HPCC is off' hpcc show
	refuses 1 'does not use HPCC' hpcc off --cgroup "$group"
	# INT takes it along.
	check "hpcc on again" bfcctl hpcc on --cgroup "$group" "${on[@]}"
	check "detach" bfcctl int detach --cgroup "$group"
	check "detach another" bfcctl int detach --cgroup "$other"
	nothing_pinned
	rmdir "$group" "$other"
	modprobe -r bfc_simcc
}

first_of_cc() { bpftool -j map dump pinned "$1" | jq -r '.[0].value[8]'; }

# The storage that bfc_hpcc looks into is that of all connections to come.
test_storage() {
	local before config on=(rate 10gbit rtt 10us)
	if ! struct_ops; then
		skip="no struct_ops in this kernel"
		refuses 1 'this kernel has no BTF' hpcc on rate 10gbit rtt 10us
		nothing_pinned
		return
	fi
	mkdir -p "$group"
	check "hpcc on" bfcctl hpcc on rate 10gbit rtt 10us
	check "attach" bfcctl int attach --cgroup "$group"
	before=$(bpftool -j map show pinned /sys/fs/bpf/bfc/int_sk | jq .id)
	check "detach" bfcctl int detach --cgroup "$group"
	check "attach again" bfcctl int attach --cgroup "$group"
	equal "storage" "$(bpftool -j map show pinned /sys/fs/bpf/bfc/int_sk |
		jq .id)" "$before"
	# What is off is no longer selected.
	config=/sys/fs/bpf/bfc/cgroup-$(command stat -c %i "$group")/config
	check "hpcc on in the cgroup" bfcctl hpcc on --cgroup "$group" "${on[@]}"
	equal "its congestion control" "$(first_of_cc "$config")" 0x62
	check "hpcc off" bfcctl hpcc off
	equal "its congestion control after that" "$(first_of_cc "$config")" 0x00
	check "detach at last" bfcctl int detach --cgroup "$group"
	nothing_pinned
	rmdir "$group"
}

# The delay-based control moves data, and what is shown is what was asked for.
test_delay() {
	local on=(rate 20mbit rtt 1ms) send before
	refuses 1 'bfc_delay is off' delay show
	refuses 1 'bfc_delay is not registered' delay off
	if ! struct_ops; then
		skip="no struct_ops in this kernel"
		refuses 1 'this kernel has no BTF' delay on "${on[@]}"
		nothing_pinned
		return
	fi
	topology
	ctl delay on "${on[@]}" target 2000
	equal "shown" "$(bfcctl -j delay show | jq -c '.[0] | [.target_ns]')" \
		'[2000000]'
	before=$(bpftool -j map show pinned /sys/fs/bpf/bfc/delay_ops | jq .id)
	ctl delay on "${on[@]}"
	equal "registered once more" "$(bpftool -j map show pinned \
		/sys/fs/bpf/bfc/delay_ops | jq .id)" "$before"
	check "text" grep -q '^target 2.50ms ' <(bfcctl delay show)

	in_ns b busybox nc -l -p 5001 </dev/null >"$scratch/moved" &
	pids+=($!)
	check "no TCP receiver" wait_for 20 tcp_listens b 5001
	send="import socket
s = socket.socket()
s.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, b'bfc_delay')
s.connect(('10.0.0.2', 5001))
print(s.getsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, 16))
s.sendall(bytes(500000))"
	check "the sender" in_ns a timeout 30 python3 -c "$send" >"$scratch/sender"
	check "uses it" grep -q bfc_delay "$scratch/sender"
	check "the receiver waits" wait_for 20 [ ! -e "/proc/${pids[-1]}" ]
	equal "bytes moved" "$(wc -c <"$scratch/moved")" 500000

	ctl delay off
	check "registered still" unregistered bfc_delay
	refuses 1 'bfc_delay is off' delay show
	nothing_pinned
}

# ops_id WAY: of what is pinned as registered
ops_id() { bpftool -j map show pinned "/sys/fs/bpf/bfc/$1_ops" | jq .id; }

# What another version of bfcctl has registered gives way, and all users may ask for it,
# in all network namespaces.
test_upgrade() {
	local on=(rate 20mbit rtt 1ms) way before ask
	if ! struct_ops; then
		skip="no struct_ops in this kernel"
		return
	fi
	topology
	for way in hpcc delay; do
		ctl "$way" on "${on[@]}"
		before=$(ops_id "$way")
		ctl "$way" on "${on[@]}"
		equal "$way: the same program" "$(ops_id "$way")" "$before"
		ask="import socket
s = socket.socket()
s.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, b'bfc_$way')"
		check "$way: refused to users" in_ns a setpriv --reuid 65534 \
			--regid 65534 --clear-groups python3 -c "$ask"
		check "$way: refused as default of a namespace" in_ns a sysctl -qw \
			net.ipv4.tcp_congestion_control="bfc_$way"
		in_ns a sysctl -qw net.ipv4.tcp_congestion_control=reno

		rm -f "/sys/fs/bpf/bfc/${way}_object"
		check "$way on, again" bfcctl "$way" on "${on[@]}" \
			2>"$scratch/err"
		check "$way: said $(cat "$scratch/err")" grep -q \
			"^bfcctl: bfc_$way .* is replaced" "$scratch/err"
		check "$way: not replaced" [ "$(ops_id "$way")" != "$before" ]
		check "$way: not registered" grep -q "bfc_$way" \
			/proc/sys/net/ipv4/tcp_available_congestion_control
		before=$(ops_id "$way")
		ctl "$way" on "${on[@]}"
		equal "$way: replaced once" "$(ops_id "$way")" "$before"
		ctl "$way" show >"$scratch/shown"
		ctl "$way" off
		check "$way: registered still" unregistered "bfc_$way"
	done
	nothing_pinned
}

test_watch() {
	topology
	bfc a e0 role nic
	bfc b e0 role nic
	bfcctl -n a -j watch interval 50ms count 3 >"$scratch/out"
	equal "objects" "$(wc -l <"$scratch/out")" 3
	equal "ports" "$(jq -c '[.ports[].dev]' "$scratch/out" | sort -u)" '["e0"]'
	equal "pretty objects" "$(bfcctl -n a -p watch interval 50ms count 2 |
		jq -c '[.ports[].dev]')" $'["e0"]\n["e0"]'
	equal "lines of text" "$(bfcctl -n a watch e0 interval 50ms count 2 |
		grep -c '^e0 .*backlog')" 2
}

# The name of a directory is no pattern.
test_odd_bpffs() {
	local dir="$scratch/b[1]*\\?" other="$scratch/b1x"
	mkdir "$dir" "$other"
	mount -t bpf -o mode=0700 none "$dir"
	mount -t bpf -o mode=0700 none "$other"
	topology
	bfc a e0
	ctl -n a stamp attach e0
	ctl --bpffs "$dir" -n a stamp attach e0
	equal "pins" "$(pins --bpffs "$dir")" '["e0","in_effect",true]'
	equal "pins elsewhere" "$(pins)" '["e0","other_program",false]'
	ctl --bpffs "$dir" -n a stamp detach e0
	equal "left there" "$(ls "$dir")" ""
	ctl -n a stamp detach e0
	umount "$dir" "$other"
	nothing_pinned
}

run_tests usage options names values full_disk reasons odd_bpffs squatted stamp at_once pins sweep another_netns completion cgroups removed_cgroup ingress undone \
	other_version hpcc storage delay upgrade watch
