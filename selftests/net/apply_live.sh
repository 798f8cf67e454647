#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# bfcctl apply: what ports share, what a refused change leaves, and ports that go and come.
#
# Devices d0, d1, ... of a namespace x

# shellcheck source=selftests/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"

# shellcheck source=selftests/bfcctl.sh
. "$top/selftests/bfcctl.sh"
# shellcheck source=selftests/apply.sh
. "$top/selftests/apply.sh"

# reserves SIZE PORT RESERVE: a buffer, whose size one port gives
reserves() {
	conf "[port d*]
		fc pfc rate 1gbit lossless none buffer b reserve $3
[port $2]
		size $1"
}

sizes() {
	local i
	for i in 0 1 2; do
		stat x "d$i" options.size
	done | tr '\n' ' '
}

# The reserves of eight priorities of three ports fit a buffer at any time, whichever
# port gives its size.
test_buffer_size() {
	devices d0 d1 d2
	# A new one has 16 MB.
	reserves 64mb d2 2mb
	apply 0
	silent
	equal "sizes" "$(sizes)" "67108864 67108864 67108864 "
	without_news apply 0
	# Smaller, when the reserves are
	reserves 4mb d0 100kb
	without_news apply 3 --dry-run
	says "d0: would change reserve 2Mb -> 100Kb" "d1: would change reserve 2Mb -> 100Kb" \
		"d2: would change reserve 2Mb -> 100Kb, size 64Mb -> 4Mb"
	apply 0
	silent
	says "d0: changed reserve 2Mb -> 100Kb" "d1: changed reserve 2Mb -> 100Kb" \
		"d2: changed reserve 2Mb -> 100Kb, size 64Mb -> 4Mb"
	equal "sizes" "$(sizes)" "4194304 4194304 4194304 "
	without_news apply 0
	# "keep" is what it has, at one port or beside a size at another.
	reserves keep d1 100kb
	without_news apply 0
	conf "[port d*]
		fc pfc rate 1gbit lossless none buffer b reserve 100kb size keep"
	without_news apply 0 --dry-run
	without_news apply 0
	says "d0: nothing to do" "d1: nothing to do" "d2: nothing to do"
	conf "[port d*]
		fc pfc rate 1gbit lossless none buffer b reserve 100kb size keep
		[port d1]
		size 4mb"
	without_news apply 0
	reserves 3mb d1 100kb
	apply 0
	says "d0: nothing to do" "d1: nothing to do" "d2: changed size 4Mb -> 3Mb"
	# Larger, before they are
	reserves 64mb d1 2mb
	apply 0
	silent
	without_news apply 0
	# What does not fit, however it is gone about
	reserves 4mb d1 1mb
	apply 1
	warns 'bfc.conf:4: d2: buffer: too small for '
	says "d0: changed reserve 2Mb -> 1Mb" "d1: changed reserve 2Mb -> 1Mb" \
		"d2: changed reserve 2Mb -> 1Mb; a command has failed"
	# The last one is of another kind; it comes to the buffer later.
	tc -n x qdisc replace dev d2 root handle 5: tbf rate 1gbit burst 10kb limit 10kb
	reserves 1mb d1 0b
	apply 3
	equal "sizes" "$(stat x d0 options.size) $(stat x d1 options.size)" "1048576 1048576"
	apply 0 --replace
	says "d0: nothing to do" "d1: nothing to do" \
		"d2: replaced by bfc fc pfc rate 1Gbit lossless none buffer b size 1Mb"
	without_news apply 0
	# One port alone
	reserves 2mb d2 0b
	apply 0 d0
	says "d0: changed size 1Mb -> 2Mb"
	reserves 1mb d2 0b
	apply 0 d0
	says "d0: changed size 2Mb -> 1Mb"
	without_news apply 0
}

program() { stat x d0 options.stamp_id; }

# A port that stays as it was goes on stamping by its program.
test_refused_change() {
	local first words
	devices d0
	conf "[port d0]
		stamp attach"
	apply 0
	first=$(program)
	conf "[port d0]
		assign dynamic dst-prefix 24"
	apply 1
	says "d0: cannot change assign destination -> dynamic, dst-prefix 32 -> 24"
	equal "program" "$(program)" "$first"
	conf "[port d0]
		queues 4096"
	apply 1 --replace
	equal "program, after a replacement was refused" "$(program)" "$first"
	conf "[port d0]
		stamp attach"
	apply 0
	says "d0: nothing to do"
	# One that is replaced does not.
	bpftool prog load "$top/build/bpf/bfc_stamp.bpf.o" /sys/fs/bpf/mine \
		type classifier >"$scratch/load" 2>&1 || fail "$(cat "$scratch/load")"
	for words in attach "pinned /sys/fs/bpf/mine"; do
		conf "[port d0]
			queues 32
			stamp $words"
		apply 0 --replace
		conf "[port d0]
			queues 8"
		apply 0 --replace
		says "d0: replaced by bfc queues 32 -> 8; stamp detach"
		silent
		equal "stamp" "$(stat x d0 options.stamp)" native
		without_news apply 0
	done
	rm /sys/fs/bpf/mine
	nothing_pinned
}

# held COMMAND...: apply waits, with d0 made, for room to tell of d1; then COMMAND. It runs with
# $with in front and $options, and ends with $code.
with=()
options=()
code=0
held() {
	local pipe pid
	mkfifo "$scratch/pipe"
	exec {pipe}<>"$scratch/pipe"
	head -c 65536 /dev/zero >&"$pipe"
	"${with[@]}" bfcctl "${options[@]}" -n x apply --file "$scratch/bfc.conf" \
		>"$scratch/out" 2>&"$pipe" &
	pid=$!
	check "apply does not begin" wait_for 10 has_bfc d0
	"$@"
	head -c 65536 <&"$pipe" >/dev/null
	wait "$pid"
	equal "exit code" $? "$code"
	echo end >&"$pipe"
	sed -n '/^end$/q; p' <&"$pipe" >"$scratch/err"
	exec {pipe}>&-
	rm "$scratch/pipe"
}
has_bfc() { shown "$1" | grep -q bfc; }

# Ports that go, or get another name
test_gone() {
	devices d0 d1 d2 d3
	conf "[port d*]
		rate 1gbit
[port d1]
		elide d9"
	held others_go
	warns 'bfc.conf:1: d2: has gone in the meantime, or has another name$'
	warns 'bfc.conf:1: d3: has gone in the meantime, or has another name$'
	says "d0: added bfc rate 1Gbit" "d1: added bfc rate 1Gbit"
	equal "e3" "$(shown e3 | grep -c bfc)" 0
}
others_go() {
	ip -n x link del d2
	ip -n x link set d3 name e3
}

# Another device under the same name, and it is in a list
test_comes_again() {
	devices d0 d1 d2 d3
	conf "[port d*]
		rate 1gbit
[port d0]
		elide d2
[port d1]
		elide d9"
	held another_comes
	equal "messages" "$(sed 's/.*bfc.conf:[0-9]*: //' "$scratch/err")" \
		"d1: elide d9: no such device yet
d3: has gone in the meantime, or has another name"
	says "d0: added bfc rate 1Gbit elide d2" "d1: added bfc rate 1Gbit" \
		"d0: changed elide none -> d2" "d2: added bfc rate 1Gbit"
	plugged d3
	apply 0 d3
	without_news apply 0
}
another_comes() {
	ip -n x link del d2
	plugged d2
	ip -n x link del d3
}

# A device goes that is in the list of a port which is not made yet.
test_elided_goes() {
	devices d0 d1 e9
	conf "[port d*]
		rate 1gbit
[port d1]
		elide d9,e9,d0"
	held ip -n x link del e9
	warns 'bfc.conf:4: d1: elide d9: no such device yet$'
	warns 'bfc.conf:4: d1: elide e9: no such device yet$'
	says "d0: added bfc rate 1Gbit" "d1: added bfc rate 1Gbit elide d0"
}

# A port that is made goes, and another one takes its name: systemd does not start its unit once
# more while that runs.
test_made_comes_again() {
	devices d0 d1 d2
	conf "[port d*]
		rate 1gbit
[port d2]
		elide d9"
	held made_ones_go
	# One that goes for good was made.
	says "d0: added bfc rate 1Gbit" "d1: added bfc rate 1Gbit" "d2: added bfc rate 1Gbit" \
		"d0: added bfc rate 1Gbit"
	equal "messages" "$(grep -v 'link speed unknown' "$scratch/err")" \
		"bfcctl: $scratch/bfc.conf:4: d2: elide d9: no such device yet"
	without_news apply 0
}
made_ones_go() {
	check "d1 is not made" wait_for 10 has_bfc d1
	ip -n x link del d0
	ip -n x link del d1
	plugged d0
}

# What the kernel has not listed to the end is not the list.
test_error_at_the_end_of_a_list() {
	devices d0
	conf "[port d*]"
	LD_PRELOAD=$top/build/tools/dumperr.so apply 1 --dry-run
	equal "messages" "$(cat "$scratch/err")" \
		"bfcctl: cannot list the devices: No buffer space available"
	equal "output" "$(cat "$scratch/out")" ""
}

# What is printed then is JSON all the same.
test_error_in_the_midst() {
	local with options code=1
	devices d0 d1 d2 d3
	conf "[port d*]
		rate 1gbit
[port d1]
		elide d9"
	# apply lists the devices twice, and again when another one has the name of d2.
	with=(env "LD_PRELOAD=$top/build/tools/dumperr.so" DUMPERR=18:3)
	options=(-j)
	held another_comes
	warns '^bfcctl: cannot list the devices: No buffer space available$'
	equal "ports" "$(jq -c '[.[].dev]' "$scratch/out" 2>&1)" '["d0","d1"]'
	options=(-p)
	tc -n x qdisc del dev d0 root
	plugged d3
	held another_comes
	equal "ports, for people" "$(jq -c '[.[].dev]' "$scratch/out" 2>&1)" '["d0","d1"]'
}

# Another bfcctl has the lock while the file is written anew: what counts is what it says when it is
# this one's turn, or an apply that began before would put the old options back.
test_file_of_its_turn() {
	devices d0
	conf "[port d0]
		limit 1mb"
	apply 0
	behind_lock /run/bfcctl.lock -n x apply --file "$scratch/bfc.conf"
	conf "[port d0]
		limit 2mb"
	lock_ends
	equal "limit" "$(stat x d0 options.limit)" 2097152
}

run_tests buffer_size refused_change gone comes_again elided_goes made_comes_again \
	error_at_the_end_of_a_list error_in_the_midst file_of_its_turn
