# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# A row of switches whose ports run the program that stamps, as bpftool loads it, and what
# comes through them; sourced behind lib.sh.
#
#   h1 --p1- sw1 -x---w- sw2 -x---w- sw3 -r0-- r
#
# All links 20 Mbit/s, but for what a test says of the one from sw2 to sw3.

# Functions are called by name.
# shellcheck disable=SC2317,SC2154

object=$top/build/bpf/bfc_stamp.bpf.o
pins=/run/bpf

line() {
	local i
	host h1 10.0.0.1/24
	host r 10.0.0.100/24
	for i in 1 2 3; do
		switch "sw$i"
	done
	cable sw1 p1 h1 e0
	cable sw1 x sw2 w
	cable sw2 x sw3 w rate "${1:-20mbit}" delay 100us ring 1
	cable sw3 r0 r e0
	# One packet from the wire is one packet for the test.
	in_ns r ethtool -K e0 gro off >/dev/null
}

# le NUMBER BYTES: its bytes, lowest first, for bpftool
le() {
	local v=$1 n=$2
	while [ "$n" -gt 0 ]; do
		printf '%d ' $((v & 255))
		v=$((v >> 8)) n=$((n - 1))
	done
}

# load NAME NODE [EVERY [PORT [MODE]]]: an instance of the program, at $pins/NAME/prog
load() {
	mkdir -p "$pins/$1"
	bpftool prog load "$object" "$pins/$1/prog" type classifier \
		pinmaps "$pins/$1" >"$scratch/load" 2>&1 ||
		fail "bpftool: $(tail -n 3 "$scratch/load")"
	configure "$@"
}

configure() {
	# shellcheck disable=SC2046
	bpftool map update pinned "$pins/$1/bfc_stam_data" key 0 0 0 0 value \
		$(le "$2" 4) $(le "${3:-0}" 4) $(le "${4:-0}" 2) "${5:-0}" 0 ||
		fail "bpftool: no configuration"
}

unload() { rm -rf "${pins:?}"/*; }

# count NAME WHAT: of bfc_stamp_count, all processors
count() {
	bpftool -j map dump pinned "$pins/$1/bfc_stamp_count" | jq "
		[.[] | select(.key[0] == \"0x0$2\") | .values[].value |
		 [to_entries[] | (.value | ltrimstr(\"0x\") |
		  explode | map(if . > 96 then . - 87 else . - 48 end) |
		  .[0] * 16 + .[1]) * pow(256; .key)] | add] | add"
}

# flow FROM TO FIELD=VALUE...: what came is in $scratch/flow
flow() {
	"$top/selftests/tools/intflow.py" "$@" >"$scratch/flow" 2>"$scratch/err" ||
		fail "intflow: $(tail -n 1 "$scratch/err")"
}

# came JQ: about the packets that came, an array of arrays
came() { jq -r "$1" "$scratch/flow"; }

# all_good: each packet came as it was sent, but for what hops wrote
all_good() {
	equal "packets that are not as they were sent" "$(came '
		[.[][] | select((.payload_ok and .ip_ok and
			(.sum | IN("ok", "none", "partial"))) | not)] | length')" 0
}

# three_hops [EVERY [RATE]]: INT on all three switches
three_hops() {
	local i
	line "${2:-}"
	for i in 1 2 3; do
		load "$i" $((i * 1000)) "${1:-0}"
	done
	bfc sw1 x hrtt 4ms stamp pinned "$pins/1/prog"
	bfc sw2 x hrtt 4ms stamp pinned "$pins/2/prog"
	bfc sw3 r0 hrtt 4ms stamp pinned "$pins/3/prog"
	meet 10.0.0.100 h1
}

# cuts_at_sw3 MTU: sw3 is a router, and its port to r takes packets of this length
cuts_at_sw3() {
	ip -n sw3 -batch - <<-END
		link set w nomaster
		link set r0 nomaster mtu $1
		route add 10.0.0.1 dev w
		route add 10.0.0.100 dev r0
		neigh add 10.0.0.100 lladdr $(mac r e0) dev r0
	END
	in_ns sw3 sysctl -qw net.ipv4.ip_forward=1
}

[ -e "$object" ] || skip_all "no $object: make bpf"
command -v bpftool >/dev/null || skip_all "no bpftool"
