#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# bfcctl report: the archive has everything, and no addresses unless they are asked for.
#
#   h --ph-- sw --enx02000000beef-- n	20 Mbit/s, 100 us

# shellcheck source=selftests/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"

PATH=$top/build/bpf:$PATH
long=enx02000000beef	# what systemd calls a card by its address

topology() {
	host h 10.0.0.1/24 2001:db8::1/64
	host n 10.0.0.2/24
	switch sw
	cable sw ph h e0
	cable sw "$long" n e0
	ip -n sw link set "$long" address 02:00:00:00:be:ef
	bfc sw ph hrtt 6ms
	bfc sw "$long" hrtt 6ms
	bfc n e0 hrtt 6ms
	bfc h e0 hrtt 6ms
	meet 10.0.0.2 h
	peers_up
}

# take ARGUMENTS...: a report of sw, unpacked to $dir
take() {
	rm -rf "$scratch/got" "$scratch/r.tar.gz"
	check "bfcctl report $*" bfcctl -n sw report "$scratch/r.tar.gz" "$@" \
		>"$scratch/said" 2>"$scratch/err"
	mkdir "$scratch/got"
	check "not an archive" tar -C "$scratch/got" -xzf "$scratch/r.tar.gz"
	equal "directories of the archive" "$(find "$scratch/got" -mindepth 1 -maxdepth 1 \
		-name 'bfc-report-*' | wc -l)" 1
	dir=$(echo "$scratch/got/"*)
}

# of FILE JQ: out of the archive
of() { jq -r "$2" "$dir/$1"; }

test_complete() {
	local port file
	topology
	take events 100ms
	equal "mode" "$(mode_of "$scratch/r.tar.gz")" 600
	equal "errors" "$(cat "$scratch/err")" ""
	for port in ph enxmac1; do
		equal "$port: its qdisc, with statistics and all options" \
			"$(of "ports/$port/qdisc.json" \
				'.[0] | "\(.kind) \(.peer_state) \(.options.fdec)"')" \
			"bfc up 0.8"
		equal "$port: classes" "$(grep -c '^class bfc ' "$dir/ports/$port/class.txt")" 32
		check "$port: driver" grep -q '^driver: ' "$dir/ports/$port/ethtool-i.txt"
		check "$port: features" grep -q 'segmentation' "$dir/ports/$port/ethtool-k.txt"
		for file in ethtool-g ethtool-l; do	# a test wire has neither
			check "$port: $file" [ -e "$dir/ports/$port/$file.txt" ]
		done
	done
	equal "ports" "$(find "$dir/ports" -mindepth 1 -maxdepth 1 | wc -l)" 2
	equal "devices" "$(of link.json '[.[].ifname] | sort | join(" ")')" "br0 enxmac1 lo ph"
	check "kernel" grep -qF "$(uname -r)" "$dir/kernel.txt"
	equal "name of the box" "$(grep -cwF "$(uname -n)" "$dir/kernel.txt")" 0
	check "metrics" grep -q '^bfc_sent_packets_total{device="ph"} [1-9]' "$dir/metrics.txt"
	check "metrics before" grep -q '^bfc_build_info' "$dir/metrics-before.txt"
	for file in stamp int hpcc delay top; do
		check "$file: $(cat "$dir/$file.json")" jq -e . "$dir/$file.json" >/dev/null
	done
	# No file that the table of contents does not name, and all that it does
	equal "contents" "$(grep -v '^	' "$dir/contents.txt" | tail -n +4 | sort)" \
		"$(cd "$dir" && find . -type f ! -name contents.txt | sed 's,^\./,,' | sort)"
	check "said: $(cat "$scratch/said")" grep -qF "$scratch/r.tar.gz: $(find "$dir" -type f |
		wc -l) files, addresses replaced." "$scratch/said"
}

# addresses: all of the network, as ip writes them, and without colons
addresses() {
	local ns
	for ns in h n sw; do
		ip -n "$ns" -j addr | jq -r '.[] | .address, .addr_info[].local'
	done | grep -vxE '00:00:00:00:00:00|127\.0\.0\.1|::1' | sort -u | tee "$scratch/addresses"
	tr -d : <"$scratch/addresses" | grep -xE '[0-9a-f]{12}'
}

test_addresses() {
	local neighbour
	topology
	take events 0
	neighbour=$(mac n e0 | tr -d :)
	addresses >"$scratch/all"
	at_least "addresses of the network" "$(wc -l <"$scratch/all")" 12
	equal "addresses in the report" "$(grep -rhoiFf "$scratch/all" "$dir")" ""
	equal "or in names" "$(find "$dir" | grep -iFf "$scratch/all")" ""
	equal "one address, one name" \
		"$(of link.json '.[] | select(.ifname == "enxmac1") | .address')" mac1
	take events 0 --addresses
	check "the neighbour's id has no address" grep -qF "$neighbour" "$dir/ports/$long/qdisc.json"
	equal "address of ph" "$(of link.json '.[] | select(.ifname == "ph") | .address')" \
		"$(mac sw ph)"
	check "says: $(cat "$scratch/said")" grep -qF "with addresses" "$scratch/said"
}

# What happens meanwhile
test_events() {
	topology
	(sleep 0.3; tc -n n qdisc del dev e0 root) &
	pids+=($!)
	echo "kern of something else" >/dev/kmsg
	take events 1s
	equal "events" "$(of events.json 'select(.dev == "enxmac1") | .event')" neighbour_down
	check "log" grep -q 'bfc' "$dir/dmesg.txt"
	equal "lines of the log that do not name bfc" "$(grep -cv 'bfc' "$dir/dmesg.txt")" 0
	# As long as commands may take that are to end by themselves
	take events 10s
	equal "the monitor ends" "$(grep 'monitor' "$dir/contents.txt")" "	bfcctl -j monitor"
}

# What cannot be had is said, and the rest is there all the same.
test_missing() {
	local now
	topology
	mkdir "$scratch/empty"
	# ethtool and modinfo are there, tc and ip need not be.
	unshare -m sh -c "mount --bind '$scratch/empty' /usr/sbin && PATH=/usr/bin:/bin \
		'$top/build/bpf/bfcctl' -j -n sw report '$scratch/m.tar.gz' events 0" \
		>"$scratch/said" 2>"$scratch/err"
	equal "exit code" "$?" 1
	check "says: $(cat "$scratch/err")" grep -qx 'bfcctl: report: there is no ethtool: .* (Debian: apt-get install ethtool)' \
		"$scratch/err"
	equal "times that it says so" "$(grep -c 'no ethtool' "$scratch/err")" 1
	equal "and in JSON" "$(jq '.missing | index("ethtool") != null' "$scratch/said")" true
	equal "metrics and contents" "$(tar -xzOf "$scratch/m.tar.gz" --wildcards '*/metrics.txt' \
		'*/contents.txt' | grep -cE '^bfc_neighbour_up|^There is no ethtool')" 3
	bfcctl report "$scratch/m.tar.gz" events 0 >"$scratch/said" 2>&1
	equal "exit code of one that is there" "$?" 1
	equal "says" "$(cat "$scratch/said")" "bfcctl: $scratch/m.tar.gz: File exists"
	now=$SECONDS
	bfcctl report "$scratch/none/m.tar.gz" events 60s >"$scratch/said" 2>&1
	equal "exit code of a directory that is not there" "$?" 1
	at_most "seconds until it is refused" $((SECONDS - now)) 10
	check "says: $(cat "$scratch/said")" grep -qx "bfcctl: .*none/m.tar.gz: No such file or directory" \
		"$scratch/said"
}

# What ends before it is written leaves nothing.
test_ended() {
	local pid
	new_ns sw
	bfcctl -n sw report "$scratch/e.tar.gz" events 60s >"$scratch/said" 2>&1 &
	pid=$!
	pids+=("$pid")
	check "no file" wait_for 10 [ -e "$scratch/e.tar.gz" ]
	kill "$pid"
	wait "$pid"
	equal "exit code" "$?" 143
	check "the file is there" [ ! -e "$scratch/e.tar.gz" ]
	mkdir "$scratch/none"
	ln -s /bin/false "$scratch/none/gzip"
	PATH=$scratch/none:$PATH bfcctl -n sw report "$scratch/e.tar.gz" events 0 \
		>"$scratch/said" 2>&1
	equal "exit code" "$?" 1
	equal "says" "$(tail -n 1 "$scratch/said")" \
		"bfcctl: $scratch/e.tar.gz: cannot be written"
	check "the file is there" [ ! -e "$scratch/e.tar.gz" ]
}

# A box without the module, or without ports, has a report, too.
test_no_port() {
	new_ns sw
	take events 0
	check "no ports" [ ! -e "$dir/ports" ]
	check "devices" jq -e . "$dir/link.json" >/dev/null
	check "contents" grep -q '^metrics.txt$' "$dir/contents.txt"
}

run_tests complete addresses events missing ended no_port
