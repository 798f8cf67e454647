# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Shared by the network selftests: namespaces, cables, traffic. KTAP and the checks are
# in tap.sh.
#
# A test file draws its topology, sources this file, defines test_NAME
# functions and ends with "run_tests NAME...". A test starts from nothing: it
# makes its own namespaces with host, switch and cable; they go when it ends.
# A test fails by a check that fails; it need not stop there.
#
# The machine may be emulated, with timers 100s of microseconds late: rates
# are 10..50 Mbit/s, and HRTT is given in ms.

# Functions are called by name.
# shellcheck disable=SC2317

set -u

top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)
export TC_LIB_DIR=${TC_LIB_DIR:-$top/build/tc}
export IP_LIB_DIR=${IP_LIB_DIR:-$top/build}
PATH=$top/build/tools:$PATH

# shellcheck source=selftests/tap.sh
. "$top/selftests/tap.sh"

scratch=
bg=
namespaces=()
pids=()

# simulated: true if the clock is exact; an emulated machine is ms late when it is busy
simulated() { grep -q 'User Mode Linux' /proc/cpuinfo; }

# exact_clock: skip the rest of a test, which is about times, where the clock is not
# exact: "exact_clock || return". A simulator of several processors has the host's.
exact_clock() {
	grep -q time-travel= /proc/cmdline || {
		skip="timers are exact in the simulator alone"
		false
	}
}

# ---- waiting ----

# wait_for SECONDS COMMAND...: poll until COMMAND succeeds
wait_for() {
	local end=$((SECONDS + $1))
	shift
	until "$@" >/dev/null 2>&1; do
		[ "$SECONDS" -lt "$end" ] || return 1
		sleep "$poll"
	done
}

# sleep SECONDS: without a process
sleep() { read -rt "$1" -u "$never" || [ $? -gt 128 ]; }
exec {never}<> <(:)

# seconds between polls; checks that ask all ports poll more rarely
poll=0.1

# ---- topology ----

# Every process costs some 50 ms in an emulated machine: hence the batches.

declare -A address is_switch

# host NAME [ADDRESS/LEN]...: its only port will be e0
host() {
	local ns=$1
	shift
	new_ns "$ns"
	address[$ns]="$*"
}

# switch NAME [BRIDGE-OPTIONS]: a bridge br0 in a namespace of its own
switch() {
	local ns=$1
	shift
	new_ns "$ns"
	is_switch[$ns]=1
	ip -n "$ns" -batch - <<-END
		link add br0 type bridge mcast_snooping 0 $*
		link set br0 up
	END
}

# new_ns NAME: a namespace that sends nothing by itself (quiet_namespaces)
new_ns() {
	ip netns add "$1" && namespaces+=("$1")
	tc_start "$1"
}

# quiet_namespaces: new ones inherit these settings from the machine's own
quiet_namespaces() {
	local conf=/proc/sys/net/ipv6/conf/default
	echo 0 >$conf/accept_dad
	echo 0 >$conf/router_solicitations
	echo 1 >/proc/sys/net/core/devconf_inherit_init_net
}

# del_ns NAME: before the end of the test
del_ns() {
	tc_end "$1"
	ip netns del "$1"
	forget "$1"
}

# forget NS: clean_up() does not delete it any more
forget() {
	local name left=()
	for name in "${namespaces[@]}"; do
		[ "$name" = "$1" ] || left+=("$name")
	done
	namespaces=("${left[@]}")
}

in_ns() {
	local ns=$1
	shift
	ip netns exec "$ns" "$@"
}

# ctl ARGS...: bfcctl, which must succeed
ctl() { check "bfcctl $*" bfcctl "$@"; }

# dummies NS N: devices d1 to dN, up
dummies() {
	local i
	for ((i = 1; i <= $2; i++)); do
		echo "link add d$i type dummy"
		echo "link set d$i up"
	done | ip -n "$1" -batch -
}

# qdiscs NS PREFIX FROM TO OPTIONS
qdiscs() {
	local ns=$1 prefix=$2 from=$3 to=$4 i
	shift 4
	for ((i = from; i <= to; i++)); do
		echo "qdisc add dev $prefix$i root bfc flows 16 $*"
	done | tc -n "$ns" -batch - || fail "tc refuses bfc $* on $ns $prefix$from"
}

# without_ipv6 NS...: they send no reports and solicitations, which take queues like any
# other packet
without_ipv6() {
	local ns
	for ns in "$@"; do
		in_ns "$ns" sysctl -qw net.ipv6.conf.all.disable_ipv6=1 \
			net.ipv6.conf.default.disable_ipv6=1
	done
}

# cable A PORT B PORT [WIRE-OPTIONS]: a test wire (default $default_link)
# between two ports, with $tx_queues TX queues each if that is set; ports of a switch
# join its bridge, a host's take its addresses
tx_queues=
default_link=(rate 20mbit delay 100us ring 8)
cable() {
	local a=$1 pa=$2 b=$3 pb=$4
	shift 4
	[ $# -gt 0 ] || set -- "${default_link[@]}"
	ip link add name "$pa" netns "$a" ${tx_queues:+numtxqueues $tx_queues} \
		type wire "$@" \
		peer name "$pb" netns "$b" ${tx_queues:+numtxqueues $tx_queues} || return 1
	plug "$a" "$pa"
	plug "$b" "$pb"
}

plug() {
	local ns=$1 port=$2 addr
	{
		if [ -n "${is_switch[$ns]-}" ]; then
			echo "link set $port master br0"
		elif [ "$port" = e0 ]; then
			for addr in ${address[$ns]-}; do
				echo "addr add $addr dev e0"
			done
		fi
		echo "link set $port up"
	} | ip -n "$ns" -batch -
}

# two_switches [WIRE-OPTIONS of x]: the topology of several test files
#
#   h1 --p1-\                  /-- r
#            sw1 --x-->--x-- sw2
#   h2 --p2-/                  \-- h3
two_switches() {
	local i
	switch sw1
	switch sw2
	for i in 1 2 3; do
		host "h$i" "10.0.0.$i/24"
	done
	host r 10.0.0.100/24
	cable sw1 p1 h1 e0
	cable sw1 p2 h2 e0
	cable sw2 p3 h3 e0
	cable sw2 r0 r e0
	cable sw1 x sw2 x "$@"
}
# shellcheck disable=SC2034
ports_of_two_switches=("sw1 p1" "sw1 p2" "sw1 x" "sw2 x" "sw2 p3" "sw2 r0"
	"h1 e0" "h2 e0" "h3 e0" "r e0")

# hosts_to_r N [OPTIONS]: a switch between h1 to hN and r, with OPTIONS at its port r0
hosts_to_r() {
	local n=$1 i hosts=()
	shift
	switch sw
	host r 10.0.0.100/24
	cable sw r0 r e0
	bfc r e0 role nic hrtt 4ms
	for ((i = 1; i <= n; i++)); do
		host "h$i" "10.0.0.$i/24"
		cable sw "p$i" "h$i" e0
		bfc sw "p$i" hrtt 4ms
		bfc "h$i" e0 role nic queues 128 hrtt 4ms
		hosts+=("h$i")
	done
	bfc sw r0 hrtt 4ms "$@"
	peers_up
	meet 10.0.0.100 "${hosts[@]}"
}

#   a e0 --- p1 sw x0 --- e0 r	x0 so slow that all waits
#   b e0 --- p2 /
#   ...
#
# behind_ports QUEUES RATE NAME...: x0 with so many queues and $plenty, and a host of
# each name, the first one is a. $plain: hosts have no bfc; $options: of the ports p1,
# p2 ...
behind_ports() {
	local queues=$1 rate=$2 n=0 name
	shift 2
	switch sw
	host r 10.0.0.100/24
	without_ipv6 sw r
	cable sw x0 r e0
	# shellcheck disable=SC2086
	bfc sw x0 queues "$queues" rate "$rate" peer off $plenty
	for name in "$@"; do
		((++n))
		host "$name" "10.0.0.$n/24"
		without_ipv6 "$name"
		cable sw "p$n" "$name" e0
		# shellcheck disable=SC2086
		bfc sw "p$n" hrtt 4ms ${options-}
		[ -n "${plain-}" ] || bfc "$name" e0 role nic queues 128 hrtt 4ms
	done
	[ -n "${plain-}" ] || check "not all are up" wait_for 15 all_but_x0_up
	meet 10.0.0.100 "$@"
	for name in "$@"; do
		frames open "$name" "$name" e0
	done
	mac_r=$(mac r e0)
}
all_but_x0_up() { [ "$(not_up)" = "sw x0" ]; }

# line_to_n OPTIONS...: a switch between a host and n, with OPTIONS at both ports; the
# test sends n's frames
line_to_n() {
	switch sw
	host h 10.0.0.1/24
	host n 10.0.0.2/24
	cable sw ph h e0
	cable sw pn n e0
	meet 10.0.0.2 h
	frames open n n e0
	bfc sw ph hrtt 6ms "$@"
	bfc sw pn hrtt 6ms "$@"
}

# bfc NS PORT [OPTIONS]: the qdisc on a port
bfc() {
	local ns=$1 port=$2
	shift 2
	tc -n "$ns" qdisc replace dev "$port" root bfc "$@" ||
		fail "tc refuses bfc $* on $ns $port"
}

# of_nic OPTIONS...: the ones that role nic takes, which sends no pauses
of_nic() {
	while [ $# -gt 0 ]; do
		case $1 in
		resume | xoff | xon | max | dynamic | headroom | egress-* | warn | cut | alpha | beta | fdec | congested) ;;
		*) echo "$1 $2" ;;
		esac
		shift 2
	done
}

# tc_refuses TEXT TC-ARGS...: tc must fail, with TEXT in its message
tc_refuses() {
	local text=$1 said
	shift
	said=$(tc "$@" 2>&1) && fail "taken: tc $*"
	[[ $said == *"$text"* ]] || fail "tc $*: said: $said"
}

# ---- what qdiscs say ----

# A process takes longer to start than the work of most of them: so one jq answers all
# questions about statistics, and one tc for each namespace reads them. Only one process
# at a time may ask. That tc keeps a deleted namespace alive, unless del_ns() deletes
# it.
#
# jq reads objects, and what tc prints of the qdiscs of a namespace:
#	{"ns": NS, "get": [DEV, FIELD]}, qdiscs	the field of DEV's root qdisc, "!" if there is none
#	{"ns": NS}, qdiscs				"."; those of kind bfc are kept
#	{"tell": NAME, "field": FIELD}		of the ones kept, which then are so no more
# shellcheck disable=SC2016
jq_program='
	def path_of: . / "." | map(scan("[^][]+") | tonumber? // .);
	def not_up: select(.peer_state != "up") | "\(.ns) \(.dev)";
	def not_idle:
		select(.backlog + .occupied + .paused + .counters +
			.upstream_paused + .memory + (.buffer_port // 0) > 0) |
		"\(.ns) \(.dev): backlog \(.backlog) occupied \(.occupied) paused \(.paused) " +
		"upstream \(.upstream_paused) counters \(.counters) memory \(.memory) " +
		"held \(.buffer_port // 0)";
	foreach inputs as $x ({all: []};
		del(.said) |
		if $x | type == "array" then
			if .get then
				.get as [$dev, $field] |
				.said = ([$x[] | select(.root and .dev == $dev)][0] |
					if . then try getpath($field | path_of) catch null
					else "!" end)
			else
				.ns as $ns | .said = "." |
				.all += [$x[] | select(.kind == "bfc" and .root) | .ns = $ns]
			end
		elif $x.tell then
			.said = (.all |
				if $x.tell == "not_up" then map(not_up) | join(";")
				elif $x.tell == "not_idle" then map(not_idle) | join(";")
				else map(getpath($x.field | path_of)) | add // 0 end) |
			.all = []
		else .ns = $x.ns | .get = $x.get end;
		if has("said") then .said else empty end)'
declare -A tc_pid=() tc_of=()
tc_stays=1

jq_start() {
	mkfifo "$scratch/to_jq" "$scratch/from_jq"
	jq -nrc --unbuffered "$jq_program" <"$scratch/to_jq" >"$scratch/from_jq" &
	jq_pid=$!
	exec {to_jq}>"$scratch/to_jq" {from_jq}<"$scratch/from_jq"
}

# tc_start NS: a tc that prints the qdiscs of NS to jq each time that it is asked, and
# writes each line at once
tc_start() {
	local fd
	[ -n "$tc_stays" ] && [ -e $line_by_line ] && [ "$BASHPID" = $$ ] &&
		[ -z "${tc_pid[$1]-}" ] || return 0
	exec {fd}> >(_STDBUF_O=L LD_PRELOAD=$line_by_line exec tc -n "$1" -s -j \
		-force -batch - >&"$to_jq")
	tc_pid[$1]=$! tc_of[$1]=$fd
}
line_by_line=/usr/libexec/coreutils/libstdbuf.so

tc_end() {
	local fd=${tc_of[$1]-}
	[ -n "$fd" ] || return 0
	kill "${tc_pid[$1]}" 2>/dev/null
	wait "${tc_pid[$1]}" 2>/dev/null
	exec {fd}>&-
	unset "tc_pid[$1]" "tc_of[$1]"
}

# ask TEXT [NS]: give TEXT, and the qdiscs of NS, to jq; its answer is in $answer
ask() {
	echo "$1" >&"$to_jq"
	if [ -z "${2-}" ]; then
		:
	elif [ -n "${tc_of[$2]-}" ] && kill -0 "${tc_pid[$2]}" 2>/dev/null; then
		echo "qdisc show" >&"${tc_of[$2]}"
	else
		tc -n "$2" -s -j qdisc show >&"$to_jq" || echo "[]" >&"$to_jq"
	fi
	IFS= read -r -t 100 answer <&"$from_jq" || { echo "jq has ended" >&2; return 1; }
}

# stat NS PORT FIELD: of the root qdisc, e.g. pause_tx, options.queues, prios[0].peak
stat() {
	local answer
	ask "{\"ns\":\"$1\",\"get\":[\"$2\",\"$3\"]}" "$1" || return
	[ "$answer" != ! ] && echo "$answer"
}

# mode_of FILE: its permissions
mode_of() { command stat -c %a "$1"; }

# tell NAME [FIELD]: jq's answer about the bfc roots of all namespaces, a line each
tell() {
	local ns answer
	for ns in "${namespaces[@]}"; do
		ask "{\"ns\":\"$ns\"}" "$ns" || return
	done
	ask "{\"tell\":\"$1\",\"field\":\"${2-}\"}" && echo "${answer//;/$'\n'}"
}
not_up() { tell not_up; }
not_idle() { tell not_idle; }
sum_stat() { tell sum "$1"; }	# over all bfc ports

# of_txqs NS PORT JQ: of each TX queue's qdisc below the root, in their order
of_txqs() {
	tc -n "$1" -s -j qdisc show dev "$2" |
		jq -c "[.[] | select(.parent)] | sort_by(.parent)[] | $3"
}

# children NS PORT: number of these qdiscs
children() { of_txqs "$1" "$2" . | wc -l; }

# take_handles NS: use up all handles of the namespace, down to the last run, by ports,
# which are in $took
take_handles() {
	local queues i=0
	took=''
	for queues in 1024 16 4; do
		while ((++i < 200)); do
			ip -n "$1" link add "d$i" type dummy
			ip -n "$1" link set "d$i" up
			bfc "$1" "d$i" peer on flows 16 queues "$queues"
			took+=" d$i"
			[ "$(stat "$1" "d$i" peer_state)" != refused ] || break
		done
	done
	at_most "ports that took all handles" "$i" 199
}
# give_handles NS: give them back
give_handles() {
	local dev
	for dev in $took; do
		ip -n "$1" link del "$dev"
	done
}

# subnet_of_r PORT: sw routes from its bridge, 10.0.0.254, to r, 10.0.9.2, behind this port, which
# is no port of the bridge any more
subnet_of_r() {
	in_ns sw sysctl -qw net.ipv4.ip_forward=1
	ip -n sw -batch - <<-END
		link set $1 nomaster
		addr add 10.0.0.254/24 dev br0
		addr add 10.0.9.1/24 dev $1
	END
	ip -n r -4 addr flush dev e0
	ip -n r addr add 10.0.9.2/24 dev e0
	ip -n r route add default via 10.0.9.1
}

# routes_to_r BRIDGE R: sw, whose bridge has this address, sends what is for 10.8.0.0/16 to r, R,
# behind a port of the bridge; $mac_r
routes_to_r() {
	ip -n sw -batch - <<-END
		addr add $1/24 dev br0
		route add 10.8.0.0/16 via $2
		neigh replace $2 dev br0 lladdr $mac_r
	END
}

# forge NS DEV [ingress]: the low 9 bits of the UDP source port become the class, and so the
# handle of a port. Flows of consecutive ports have all of them.
forge() {
	local n
	tc -n "$1" qdisc add dev "$2" clsact
	for n in {1..511}; do
		printf 'filter add dev %s %s protocol ip pref 1 u32 match u16 %d 0x1ff at 20 flowid 1:%x\n' \
			"$2" "${3-egress}" "$n" "$n"
	done | tc -n "$1" -batch - || fail "$1 cannot forge"
}

# mac NS PORT
mac() { ip -n "$1" -j link show dev "$2" | jq -r '.[0].address'; }

# tc rounds what is within 16 bytes of a whole number of Kb.
awk_size='
	function size(s) {
		return s * (s ~ /Kb/ ? 1024 : s ~ /Mb/ ? 1048576 : 1)
	}'

# classes NS PORT: the queues, one line each: number (from 1 on, hex), bytes
# and packets sent, dropped, bytes and packets queued, peak, pauses, on or off
# (tc 6.1 prints classes as text, -j or not)
classes() {
	tc -n "$1" -s class show dev "$2" | awk "$awk_size"'
		{ gsub(/[(,)]/, "") }
		$1 == "class"	{ split($3, id, ":") }
		$1 == "Sent"	{ sent = $2 " " $4 " " $7 }
		$1 == "backlog"	{ queued = size($2) " " $3 + 0 }
		$1 == "paused"	{ for (i = 1; i < NF; i++)
					if ($i == "backlog_peak")
						peak = size($(i + 1))
				  print id[2], sent, queued, peak, $4, $2 }'
}

# figure DEV NAME: a statistic of a device of the machine's own namespace
figure() { tc -s -j qdisc show dev "$1" root | jq "[.. | .$2? // empty] | add // 0"; }

# snapshot JQ: over the array of all bfc roots of all namespaces; each has its
# namespace as .ns
snapshot() {
	local ns
	for ns in "${namespaces[@]}"; do
		echo "\"$ns\""
		tc -n "$ns" -s -j qdisc show
	done | jq -n -r "[foreach inputs as \$x ({};
		if (\$x | type) == \"string\" then {ns: \$x}
		else {ns: .ns, q: \$x} end;
		select(.q) | .ns as \$ns | .q[] | select(.kind == \"bfc\" and .root) |
		.ns = \$ns)] | $1"
}

# is_empty COMMAND...: it succeeds and prints nothing; what it prints is in $left
is_empty() { left=$("$@") && [ -z "$left" ]; }

# becomes_empty SECONDS TEXT COMMAND...: within these, or fail with what it printed last
becomes_empty() {
	local left=''
	wait_for "$1" is_empty "${@:3}" || fail "$2: ${left//$'\n'/ }"
}

# Programs and maps of bfcctl
nothing_pinned() { equal "left in the bpf file system" "$(ls /sys/fs/bpf)" ""; }

peer_up() { [ "$(stat "$1" "$2" peer_state)" = up ]; }
peer_not_up() { ! peer_up "$@"; }
peer_searches() { [ "$(stat "$1" "$2" peer_state)" = searching ]; }
# refused_for NS PORT WHY
refused_for() { [ "$(stat "$1" "$2" peer_refused)" = "$3" ]; }

# peers_up: every bfc port of all namespaces has agreed
peers_up() { poll=0.3 becomes_empty 20 "no agreement with the neighbour" not_up; }

# all_idle: nothing is queued, counted or paused anywhere any more
all_idle() { poll=0.3 becomes_empty 15 "not back at zero" not_idle; }

# drained NS PORT: nothing is queued there
drained() { [ "$(stat "$1" "$2" backlog)" = 0 ]; }

# let_overtake NS PORT: TCP segments with bit 0x800 in their sequence number go first
let_overtake() {
	tc -n "$1" qdisc replace dev "$2" root handle 1: prio bands 2 \
		priomap 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1
	tc -n "$1" filter add dev "$2" parent 1: protocol ip u32 \
		match u8 6 0xff at 9 match u32 0x800 0x800 at 24 flowid 1:1
}

# snmp NS GROUP NAME: a counter of the namespace, e.g. Tcp RetransSegs
snmp() {
	in_ns "$1" awk -v group="$2:" -v name="$3" "$awk_snmp" /proc/net/snmp \
		/proc/net/netstat
}
# shellcheck disable=SC2016
awk_snmp='
	$1 != group	{ next }
	$2 ~ /[A-Z]/	{ for (i in names) delete names[i]
			  n = split($0, names); next }
			{ for (i = 1; i <= n; i++)
				if (names[i] == name) print $i }'

# note_drops: new_drops counts the drops from now on
drops_before=0
note_drops() { drops_before=$(sum_stat drops); }
new_drops() { echo $(($(sum_stat drops) - drops_before)); }

# ---- a neighbour made of Python ----

answer=
reply=
frames_pid=
# Another program that reads commands and answers "ok REPLY" or "error TEXT"
frames_program=()

# frames COMMAND...: see selftests/tools/bfcframe.py; one process for all tests. What
# it answers is left in $reply.
frames() {
	local status='no answer'
	reply=
	frames_start
	echo "$*" >&"$to_frames"
	# An emulated machine may take minutes to load scapy.
	read -r -t 600 status reply <&"$from_frames"
	[ "$status" = ok ] || fail "${frames_program[0]##*/} $1 $2: $status $reply"
}

frames_start() {
	[ -z "$frames_pid" ] || return 0
	answer=$scratch/answer
	[ ${#frames_program[@]} -gt 0 ] ||
		frames_program=("$top/selftests/tools/bfcframe.py" "$answer")
	coproc FRAMES { exec python3 "${frames_program[@]}"; }
	# shellcheck disable=SC2153
	frames_pid=$FRAMES_PID
	exec {to_frames}>&"${FRAMES[1]}" {from_frames}<&"${FRAMES[0]}"
}

# hold_prio NAME NS DEV QUANTA: the neighbour NAME of DEV in NS has its priority 3 paused for so
# many times 512 bits of the link; 0: it may go on
hold_prio() {
	local paused=true
	[ "$4" != 0 ] || paused=false
	frames pfc "$1" 8 "$4"
	check "the pause is not obeyed" wait_for 5 prio_paused_is "$2" "$3" "$paused"
}
prio_paused_is() { [ "$(stat "$1" "$2" 'prios[3].paused')" = "$3" ]; }

# answered JQ: out of the answer
answered() { jq -r "$1" "$answer"; }

# ---- traffic ----

# background COMMAND...: ended with the test at the latest; pid in $bg
background() { "$@" & bg=$!; pids+=("$bg"); }

# meet ADDRESS NS...: resolve the address: packets sent before that are not all queued
meet() {
	local addr=$1 ns
	shift
	for ns in "$@"; do
		check "$ns: no answer from $addr" in_ns "$ns" \
			ping -q -c 1 -w 10 "$addr" >/dev/null
	done
}

# receive NS PORT [OPTIONS]: result in $scratch/NS.PORT.json
receive() {
	local ns=$1 port=$2
	shift 2
	ip netns exec "$ns" udpflow recv -p "$port" "$@" \
		>"$scratch/$ns.$port.json" &
	bg=$!
	pids+=("$bg")
	check "receiver $ns $port did not start" \
		wait_for 10 udp_listens "$ns" "$port"
}

# udp_listens, tcp_listens NS PORT
udp_listens() { in_ns "$1" ss -Huln "sport = :$2" | grep -q .; }
tcp_listens() { in_ns "$1" ss -Htln "sport = :$2" | grep -q .; }

# send NS ADDRESS PORT [OPTIONS], in the background; by user $as, root if that is empty
as=
send() {
	local ns=$1 dst=$2 port=$3
	shift 3
	# shellcheck disable=SC2086
	ip netns exec "$ns" ${as:+setpriv --reuid $as --clear-groups} \
		udpflow send -d "$dst" -p "$port" "$@" \
		>"$scratch/$ns.sent.$port.json" &
	bg=$!
	pids+=("$bg")
}

# all_send PACKETS NS...: so many each to r, 10.0.0.100, until all of them and the
# receiver, $bg, have ended
all_send() {
	local packets=$1 ns receiver=$bg sent=()
	shift
	for ns in "$@"; do
		send "$ns" 10.0.0.100 5000 -F "${ns//[^0-9]/}" -n "$packets"
		sent+=("$bg")
	done
	finish "${sent[@]}" "$receiver"
}

flooding=()

# flood SECONDS NS...: as fast as they can to r, 10.0.0.100, in the background
flood() {
	local seconds=$1 ns receiver
	shift
	receive r 5000 -t 60 -i 3
	receiver=$bg
	flooding=()
	for ns in "$@"; do
		send "$ns" 10.0.0.100 5000 -F "${ns//[^0-9]/}" -t "$seconds"
		flooding+=("$bg")
	done
	flooding+=("$receiver")
}

flood_ends() { finish "${flooding[@]}"; }

# lossless_is_spared [OPTIONS]: s1 sends packets of a lossless priority, DSCP 24, beside
# a flood that has begun: all of these arrive, many of the flood do not
lossless_is_spared() {
	receive r 6000 -t 60 -i 3
	flooding+=("$bg")
	sleep 0.5
	send s1 10.0.0.100 6000 -t 2 -T 96 "$@"
	flooding+=("$bg")
	flood_ends
	equal "lossless packets received" "$(received r 6000 .packets)" \
		"$(jq .sent "$scratch/s1.sent.6000.json")"
	at_least "lossless packets" "$(received r 6000 .packets)" 100
	at_least "dropped of the others" "$(stat sw r0 drops)" 500
}

# received NS PORT JQ
received() { jq -r "$3" "$scratch/$1.$2.json"; }

# finish PID...: wait, at most a minute each
finish() {
	local pid
	for pid in "$@"; do
		if ! wait_for 60 gone "$pid"; then
			fail "process $pid does not end"
			kill "$pid" 2>/dev/null
		fi
		wait "$pid" 2>/dev/null
	done
}

gone() { ! kill -0 "$1"; }

# kill_all_in NS: kill the processes there, and wait until they have ended
kill_all_in() {
	local pid in_it
	tc_end "$1"
	mapfile -t in_it < <(ip netns pids "$1" 2>/dev/null)
	[ ${#in_it[@]} -gt 0 ] || return 0
	kill "${in_it[@]}" 2>/dev/null
	for pid in "${in_it[@]}"; do
		wait_for 10 gone "$pid"
	done
}

end_background() {
	local pid
	for pid in "${pids[@]}"; do
		kill "$pid" 2>/dev/null
		wait "$pid" 2>/dev/null
	done
	pids=()
}

# What a test leaves behind is removed by this command.
after_test=clean_up

# end_test: run_each calls it
end_test() {
	"$after_test"
	drops_before=0
	check "the process behind stat has ended" kill -0 "$jq_pid"
}

clean_up() {
	local ns
	end_background
	for ns in "${namespaces[@]}"; do
		tc_end "$ns"
		ip netns del "$ns" 2>/dev/null
	done
	namespaces=()
	address=()
	is_switch=()
}

# run_tests NAME... [-- NAME...]: all, or those that the command line names.
# TESTS=short: without those behind --; TESTS=rest: only those
run_tests() {
	local names=() name part=short
	for name; do
		if [ "$name" = -- ]; then
			part=rest
		elif [ "${TESTS:-$part}" = $part ]; then
			names+=("$name")
		fi
	done
	[ "$(id -u)" -eq 0 ] || skip_all "needs root"
	modprobe sch_bfc || bail_out "sch_bfc does not load"
	modprobe test_wire || bail_out "test_wire does not load"
	# Not mktemp: how many random numbers that takes depends on where its stack is,
	# and so on the length of this directory's name: in the simulator a test would
	# not be the same in every clone.
	scratch=${TMPDIR:-/tmp}/bfc.$$
	mkdir -m 700 "$scratch" || bail_out "no directory $scratch"
	trap 'clean_up; rm -rf "$scratch"' EXIT
	quiet_namespaces
	jq_start
	if [ ${#wanted[@]} -gt 0 ]; then
		names=("${wanted[@]}")
	fi
	run_each "${names[@]}"
	all_passed
}

wanted=("$@")
