#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The pipeline behind the ends of a test wire (wire_pipe.c). Times are looked at to
# the nanosecond: for the simulator (scripts/sim selftests/wire/pipe.sh).
#
#   h1 e0 --- p1 \         / p3 --- e0 h3
#                 > router <			pipelines behind p1, p2 and p3
#   h2 e0 --- p2 /
#
# Host N is 10.0.N.1. Exit code: as with selftests/net.

# shellcheck source=selftests/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"

# router RATE-OF-p3 OPTIONS...: all links but p3's 100 Gbit/s and 1 us; the options
# are those of the pipeline
router() {
	local n=1 rate=$1
	shift
	new_ns router
	in_ns router sysctl -qw net.ipv4.ip_forward=1
	for n in 1 2 3; do
		new_ns "h$n"
		ip link add name "p$n" netns router type wire rate 100gbit \
			delay 1us ring 1 peer name e0 netns "h$n"
		[ "$n" != 3 ] ||
			ip -n router link set p3 type wire rate "$rate"
		ip -n router link set "p$n" type wire "$@"
		ip -n router -batch - <<-END
			link set p$n address 02:00:00:00:00:0$n
			addr add 10.0.$n.254/24 dev p$n
			link set p$n up
			neigh add 10.0.$n.1 dev p$n nud permanent lladdr 02:00:00:00:01:0$n
		END
		ip -n "h$n" -batch - <<-END
			link set e0 address 02:00:00:00:01:0$n
			addr add 10.0.$n.1/24 dev e0
			link set e0 up
			neigh add 10.0.$n.254 dev e0 nud permanent lladdr 02:00:00:00:00:0$n
			route add default via 10.0.$n.254
		END
	done
	sleep 4		# IPv6 is silent then
}

# flow FROM PACKETS PORT: from a host to h3, when it is 1 s later; what came in goes
# to $scratch/PORT: number, sent, received
flow() {
	local start
	start=$((($(date +%s) + 1) * 1000000000))
	ip netns exec h3 timeout 5 stdbuf -oL udpstamp recv -p "$3" -n "$2" -0 $start \
		>"$scratch/$3" & pids+=("$!")
	receivers+=("$!")
	ip netns exec "$1" udpstamp send -d 10.0.3.1 -p "$3" -n "$2" \
		-s 1000 -0 $start & pids+=("$!")
	receivers+=("$!")
}
receivers=()
arrived() {
	local pid
	for pid in "${receivers[@]}"; do
		wait "$pid" 2>/dev/null
	done
	receivers=()
}

# counter PORT NAME: of the pipeline behind it
counter() {
	ip -n router -j -d -s link show dev "$1" |
		jq ".[0].linkinfo.info_xstats.$2"
}

# Two links of 80 + 1000 ns, and the pipeline between them.
test_delay() {
	router 100gbit pipe 1000000 pipe-delay 25us
	flow h1 1 1001
	arrived
	equal "ns" "$(cat "$scratch/1001")" "0 0 27160"
}

test_off_costs_nothing() {
	router 100gbit pipe 0
	flow h1 1 1001
	arrived
	equal "ns" "$(cat "$scratch/1001")" "0 0 2160"
	equal "pipe_drops" "$(counter p1 pipe_drops)" null
}

# A frame every 1/3 us: the rest of a nanosecond is not lost.
test_rate() {
	router 100gbit pipe 3000000
	flow h1 3001 1001
	arrived
	equal "frames" "$(wc -l <"$scratch/1001")" 3001
	equal "ns from the first to the last" "$(awk 'NR == 1 { a = $3 }
		END { print $3 - a }' "$scratch/1001")" 1000000
	at_least "bytes that waited" "$(counter p1 pipe_peak)" 2000000
	equal "lost" "$(counter p1 pipe_drops)" 0
}

# Ports take turns: each gets half of it, whichever has more.
test_ports_take_turns() {
	router 100gbit pipe 1000000
	flow h1 2000 1001
	flow h2 1000 1002
	arrived
	equal "frames" "$(cat "$scratch/1001" "$scratch/1002" | wc -l)" 3000
	# Both come at once, and which one is first depends on the kernel.
	between "us until all of h2's were there" "$(tail -n 1 "$scratch/1002" |
		awk '{ print int($3 / 1000) }')" 2000 2001
	between "h1's by then" "$(awk -v end="$(tail -n 1 "$scratch/1002" |
		cut -d' ' -f3)" '$3 <= end' "$scratch/1001" | wc -l)" 999 1000
}

test_buffer_overflows() {
	router 100gbit pipe 1000000 pipe-buffer 100000
	flow h1 1000 1001
	arrived
	equal "received and lost" $(($(wc -l <"$scratch/1001") +
		$(counter p1 pipe_drops))) 1000
	# 80 us of traffic, of which 80 frames could leave
	between "lost" "$(counter p1 pipe_drops)" 810 830
	equal "waited at most" "$(counter p1 pipe_peak)" 100000
}

# A full priority does not take the room of another.
test_priorities_are_apart() {
	router 100gbit pipe 1000000 pipe-buffer 20000
	receive h3 3000 -t 5 -i 1
	local low=$bg
	receive h3 5000 -t 5 -i 1
	local high=$bg sent
	send h1 10.0.3.1 3000 -n 400 -s 1000
	sent=$bg
	send h1 10.0.3.1 5000 -n 10 -s 1000 -T 160
	finish "$bg" "$sent" "$low" "$high"
	at_least "of priority 0 lost" "$(counter p1 pipe_drops)" 100
	equal "of priority 5 received" "$(received h3 5000 .packets)" 10
}

# The MAC pauses the host before the buffer is full.
test_pfc() {
	router 100gbit pipe 1000000 pipe-buffer 200000 pipe-xoff 100000 \
		pipe-xon 50000
	bfc h1 e0 fc pfc role nic hrtt 10us
	flow h1 2000 1001
	arrived
	equal "frames" "$(wc -l <"$scratch/1001")" 2000
	equal "lost" "$(counter p1 pipe_drops)" 0
	at_least "PFC frames" "$(counter p1 pipe_pfc)" 10
	at_most "waited at most" "$(counter p1 pipe_peak)" 150000
	# It was never idle meanwhile.
	equal "us from the first to the last" "$(awk 'NR == 1 { a = $3 }
		END { print int(($3 - a) / 1000) }' "$scratch/1001")" 1999
}

# The qdisc of p1 pauses priority 0, because of what it holds of it (p3 is slow), and
# the pipeline does not let go by its own XON: nothing is lost at p3.
test_both_pause() {
	router 1gbit pipe 1000000 pipe-buffer 200000 pipe-xoff 20000 pipe-xon 3000
	bfc h1 e0 fc pfc role nic hrtt 10us
	bfc router p1 fc pfc hrtt 10us xoff 200000b xon 100000b headroom 300kb
	bfc router p3 fc pfc hrtt 10us limit 64mb
	flow h1 4000 1001
	arrived
	equal "frames" "$(wc -l <"$scratch/1001")" 4000
	equal "dropped" "$(stat router p3 drops)" 0
	at_least "pauses of the pipeline" "$(counter p1 pipe_pfc)" 5
	at_least "pauses of the qdisc" "$(stat router p1 pause_tx)" 2
	# XOFF, and what comes until it takes effect
	at_most "bytes held" "$(stat router p3 backlog_peak)" 320000
}

# With a full egress the pipeline stands still, and what is not for it waits as well.
test_stall() {
	router 1gbit pipe 10000000 pipe-stall 20000
	tc -n router qdisc replace dev p3 root bfc fc none
	flow h1 100 1001
	# h1 to h2, which is idle; sent when the others fill the pipeline
	local start
	start=$((($(date +%s) + 1) * 1000000000))
	ip netns exec h2 timeout 5 stdbuf -oL udpstamp recv -p 1002 -n 1 \
		-0 $((start + 50000)) >"$scratch/1002" & receivers+=("$!")
	ip netns exec h1 udpstamp send -d 10.0.2.1 -p 1002 -n 1 -s 1000 \
		-0 $((start + 50000)) & receivers+=("$!")
	arrived
	equal "frames" "$(wc -l <"$scratch/1001")" 100
	equal "dropped" "$(stat router p3 drops)" 0
	at_most "bytes held" "$(stat router p3 backlog_peak)" 20000
	at_least "stalls" "$(counter p3 pipe_stalls)" 70
	at_least "us of them" "$(($(counter p3 pipe_stall_ns) / 1000))" 600
	at_least "us that the other frame took" \
		"$(awk '{ print int($3 / 1000) }' "$scratch/1002")" 500
	# 100 frames of 8 us
	equal "us from the first to the last" "$(awk 'NR == 1 { a = $3 }
		END { print int(($3 - a) / 1000) }' "$scratch/1001")" 792
}

test_configuration() {
	local out args text
	new_ns router
	ip -n router link add name p1 type wire peer name p2
	check "off, it is not shown" equal x "$(ip -n router -j -d link show dev \
		p1 | jq '.[0].linkinfo.info_data.pipe')" null
	while IFS='|' read -r args text; do
		# shellcheck disable=SC2086
		out=$(ip -n router link set dev p1 type wire $args 2>&1) &&
			fail "$args accepted"
		check "$args: said \"$out\"" grep -qF "$text" <<<"$out"
	done <<-'END'
	pipe 1000000001|wire: pipe must be 1 to 1000000000 frames/s, or 0 for none
	pipe -1|Illegal "pipe"
	pipe fast|Illegal "pipe"
	pipe 1000 pipe-delay 11s|wire: pipe-delay must be 0 to 10s
	pipe 1000 pipe-delay -1us|Illegal "pipe-delay"
	pipe 1000 pipe-buffer 1073741825|must be 0 to 1073741824 bytes
	pipe 1000 pipe-stall 4294967295|must be 0 to 1073741824 bytes
	pipe 1000 pipe-xoff 10 pipe-xon 10|wire: pipe-xon must be below pipe-xoff
	pipe 1000 pipe-xoff 10 pipe-xon 1 pipe-buffer 10|wire: pipe-xoff must be below pipe-buffer
	END
	ip -n router link set p1 type wire pipe 1000000 pipe-delay 25us \
		pipe-buffer 60000 pipe-xoff 50000 pipe-xon 40000 pipe-stall 60000
	equal "parameters" "$(ip -n router -j -d link show dev p1 |
		jq -c '.[0].linkinfo.info_data.pipe')" \
		'{"rate":1000000,"delay_ns":25000,"buffer":60000,"xoff":50000,"xon":40000,"stall":60000}'
	equal "the other end" "$(ip -n router -j -d link show dev \
		p2 | jq '.[0].linkinfo.info_data.pipe')" null
	ip -n router link set p1 up
	out=$(ip -n router link set p1 type wire pipe 0 2>&1) &&
		fail "changed while up"
	check "said \"$out\"" grep -q "cannot change while the device is up" \
		<<<"$out"
	ip -n router link set p1 type wire rate 1mbit || fail "rate refused"
	ip -n router link set p1 down
	ip -n router link set p1 type wire pipe 0 || fail "off refused"
}

# Ends go while frames are on their way, and come back; nothing is left behind.
test_ends_go_in_use() {
	router 100gbit pipe 10000 pipe-delay 10ms
	flow h1 500 1001
	flow h2 500 1002
	sleep 1.02
	at_least "bytes wait" "$(counter p1 pipe_peak)" 100000
	ip -n router link set p1 down
	sleep 0.2
	ip -n router link set p1 up
	ip -n router link set p1 down
	ip -n router link set p1 type wire pipe 0
	ip -n router link set p1 up
	arrived
	equal "of h2" "$(wc -l <"$scratch/1002")" 500
	at_most "of h1" "$(wc -l <"$scratch/1001")" 200
	flow h2 500 1002
	sleep 1.02
	del_ns router
	arrived
	at_most "of h2, without a router" "$(wc -l <"$scratch/1002")" 200
}

run_tests delay off_costs_nothing rate ports_take_turns buffer_overflows \
	priorities_are_apart pfc both_pause stall configuration ends_go_in_use
