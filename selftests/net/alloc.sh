#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# No memory: tc is refused and nothing is left behind, or it works; and traffic
# goes on when control frames cannot be allocated.
#
#   h1 --\
#         sw --r0-- r
#   h2 --/
#
# Needs a kernel with fault injection (scripts/vm --kernel debug).

# shellcheck source=selftests/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"

knobs=/sys/kernel/debug/failslab
[ -d $knobs ] || skip_all "no failslab in this kernel (CONFIG_FAILSLAB)"

topology() {
	switch sw
	host h1 10.0.0.1/24
	host h2 10.0.0.2/24
	host r 10.0.0.100/24
	cable sw p1 h1 e0
	cable sw p2 h2 e0
	cable sw r0 r e0
	meet 10.0.0.100 h1 h2
}

# every_nth NS DEV: RTM_NEWQDISC and RTM_DELQDISC of a bfc root qdisc, while the
# first, second, ... allocation of the request fails, until none is left to
# fail; says how many requests were refused and how many worked
every_nth() {
	in_ns "$1" python3 - "$2" <<-'END'
		import errno, os, socket, struct, sys

		index = socket.if_nametoindex(sys.argv[1])
		s = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0)
		s.bind((0, 0))

		def attr(kind, data):
		    return struct.pack("HH", 4 + len(data), kind) + \
		        data.ljust((len(data) + 3) & ~3, b"\0")

		def request(kind, flags, nth=0):
		    """0 or an errno; was the failure injected?"""
		    # struct tcmsg: parent TC_H_ROOT; TCA_KIND, TCA_OPTIONS
		    body = struct.pack("BxxxiIII", 0, index, 0, 0xffffffff, 0)
		    if kind == 36:
		        body += attr(1, b"bfc\0") + attr(2, b"")
		    message = struct.pack("IHHII", 16 + len(body), kind,
		                          flags | 5, 1, 0) + body
		    knob = os.open("/proc/self/fail-nth", os.O_RDWR)
		    if nth:
		        os.write(knob, b"%d" % nth)
		    try:
		        s.send(message)
		        error = 0
		    except OSError as e:
		        error = e.errno
		    left = int(os.pread(knob, 20, 0)) if nth else 0
		    if left:
		        os.write(knob, b"0")
		    os.close(knob)
		    try:
		        if not error:
		            error = -struct.unpack_from("i", s.recv(65536), 16)[0]
		    except OSError as e:        # the answer found no memory
		        error = e.errno
		    return error, not left

		refused = worked = 0
		for nth in range(1, 1000):
		    error, injected = request(36, 0x500, nth)
		    if error not in (0, errno.ENOMEM, errno.ENOBUFS):
		        sys.exit(f"allocation {nth}: " + os.strerror(error))
		    refused += error != 0
		    worked += error == 0
		    request(37, 0)
		    if not injected:
		        break
		print(refused, worked)
	END
}

# failslab KNOB=VALUE...; writing may itself be what fails
failslab() {
	local knob
	for knob; do
		check "failslab $knob" wait_for 5 \
			write_knob "${knob%%=*}" "${knob#*=}"
	done
}
write_knob() { echo "$2" >"$knobs/$1"; }

test_setup_without_memory() {
	local result
	topology
	failslab ignore-gfp-wait=N verbose=0
	result=$(every_nth sw r0) || fail "every_nth"
	# shellcheck disable=SC2086
	set -- $result
	say "refused ${1-}, worked ${2-}"
	# Queues, flows, thresholds, bitmaps, port, hook ...
	at_least "refused for want of memory" "${1:-0}" 5
	at_least "worked" "${2:-0}" 1
	bfc sw r0 hrtt 4ms
	equal "kind" "$(stat sw r0 kind)" bfc
	check "no answer" in_ns h1 ping -q -c 1 -w 5 10.0.0.100 >/dev/null
	all_idle
}

# One in ten atomic allocations of a softirq fails: frames, pause counters.
test_traffic_without_memory() {
	local i receiver
	topology
	for i in p1 p2 r0; do
		bfc sw $i hrtt 4ms
	done
	for i in h1 h2; do
		bfc $i e0 role nic queues 128 hrtt 4ms
	done
	failslab interval=1 times=-1 space=0 task-filter=N ignore-gfp-wait=Y \
		verbose=0 probability=10
	receive r 5000 -t 60 -i 10
	all_send 300 h1 h2
	failslab probability=0
	at_least "packets received" "$(received r 5000 .packets)" 100
	# All is well again.
	receive r 5001 -t 30 -i 3
	receiver=$bg
	send h1 10.0.0.100 5001 -n 200
	finish "$bg" "$receiver"
	equal "packets received" "$(received r 5001 .packets)" 200
	all_idle
}

run_tests setup_without_memory traffic_without_memory
