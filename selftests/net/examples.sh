#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# docs/examples for ifupdown and systemd-networkd: both configure a bridge of two ports, of
# which one comes later, and leave the ports' qdiscs alone. (Without udev, and NetworkManager is
# not here.) And bfc-host.conf, which configures a host.
#
#   sw swp1 ---- e0 h1, sw swp2 ---- e0 h2

# shellcheck source=selftests/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"

PATH=$top/build/bpf:$PATH
examples=$top/docs/examples
unpacked=$top/build/ifupdown/sbin	# by scripts/ifupdown
networkd=/lib/systemd/systemd-networkd

# topology: swp1 is there, down; plug_in: swp2 too
topology() {
	mkdir -p /run/network /etc/network/if-{pre-up,up,down,post-down}.d /etc/systemd/network \
		/run/systemd/netif/{links,leases}
	cp "$examples/bfc.conf" /etc/bfc.conf
	new_ns sw
	new_ns h1
	new_ns h2
	cable sw swp1 h1 e0
	ip -n sw link set swp1 down
}

# As a new card it is down from the beginning: it is for networkd to set it up.
plug_in() {
	# shellcheck disable=SC2154  # lib.sh's
	ip link add name swp2 netns sw type wire "${default_link[@]}" peer name e0 netns h2
	plug h2 e0
}

handle() { tc -n sw qdisc show dev "$1" root | cut -d ' ' -f 1-3; }
has_bfc() { [[ $(tc -n sw qdisc show dev "$1" root) == "qdisc bfc "*" limit 32Mb "* ]]; }
in_bridge() { ip -n sw -o link show dev "$1" | grep -q '[<,]UP[,>].* master br0 '; }
has_address() { ip -n sw address show dev br0 | grep -q 'inet 192\.0\.2\.1/24 '; }

# works PORT: as the examples say
works() {
	check "$1 is not up in br0: $(ip -n sw -o link show dev "$1")" wait_for 10 in_bridge "$1"
	check "$1 has $(tc -n sw qdisc show dev "$1")" has_bfc "$1"
	check "br0 has no address" wait_for 10 has_address
}

ifupdown() { in_ns sw timeout 20 "$@" >"$scratch/said" 2>&1; }

test_ifupdown() {
	local before
	if ! [ -x "$unpacked/ifup" ]; then
		skip="no ifupdown: scripts/ifupdown"
		return
	fi
	topology
	cp "$examples/ifupdown/interfaces" /etc/network/interfaces
	# The stanzas' commands are looked for there alone; of this machine nothing stays.
	cp "$unpacked"/{ifup,ifdown} "$top/build/bpf/bfcctl" /usr/sbin
	# A port before its bridge, as udev may have it
	check "ifup swp1" ifupdown ifup --allow=hotplug swp1
	works swp1
	check "ifup -a" ifupdown ifup -a
	plug_in
	check "ifup swp2" ifupdown ifup --allow=hotplug swp2
	works swp2
	before=$(handle swp1)
	check "ifdown swp1" ifupdown ifdown swp1
	check "swp1 is up" [ "$(ip -n sw -o link show dev swp1 | grep -c '[<,]UP[,>]')" -eq 0 ]
	check "ifup swp1 again" ifupdown ifup --allow=hotplug swp1
	works swp1
	equal "qdisc of swp1" "$(handle swp1)" "$before"
	# One that has to be replaced does not keep the port down.
	ifupdown ifdown swp2
	tc -n sw qdisc replace dev swp2 root handle 7: bfc queues 8
	check "ifup swp2 with other queues" ifupdown ifup --allow=hotplug swp2
	check "swp2 is not up" in_bridge swp2
}

# start_networkd: again, if it runs. Where /sys cannot be written it does not wait for udev.
start_networkd() {
	if [ -n "$running" ]; then
		kill "$running"
		finish "$running"
	fi
	background in_ns sw sh -c "mount -o remount,ro /sys; exec $networkd" 2>"$scratch/said"
	running=$bg
}

is_fq() { tc -n sw qdisc show dev "$1" root | grep -q '^qdisc fq '; }

test_networkd() {
	local before running=''
	if ! [ -x "$networkd" ]; then
		skip="no $networkd"
		return
	fi
	topology
	rm -f /etc/systemd/network/*
	cp "$examples"/systemd-networkd/* /etc/systemd/network
	start_networkd
	ctl -n sw apply swp1 >"$scratch/apply"
	works swp1
	plug_in
	ctl -n sw apply swp2 >"$scratch/apply"
	works swp2
	before=$(handle swp1)$(handle swp2)
	ip -n sw link set swp1 nomaster
	start_networkd
	works swp1
	works swp2
	equal "qdiscs after a restart" "$(handle swp1)$(handle swp2)" "$before"
	# What the examples warn of
	printf '[FairQueueing]\nParent=root\n' >>/etc/systemd/network/30-swp.network
	start_networkd
	check "networkd leaves $(handle swp1)" wait_for 10 is_fq swp1
	bfcctl -n sw apply >"$scratch/apply" 2>&1
	equal "exit code of apply" $? 3
	check "$(cat "$scratch/apply")" grep -q '^swp1: needs a replacement: it has fq' \
		"$scratch/apply"
}

# Without struct_ops, as in the simulator, HPCC needs another front end. Parameters and words stay.
test_host() {
	local file=$scratch/bfc-host.conf said=$scratch/apply
	new_ns h
	ip -n h link add eth0 type dummy
	cp "$examples/bfc-host.conf" "$file"
	if simulated; then
		modprobe bfc_simcc
		sed -i 's/^\thpcc on .*/& sockops/' "$file"
	fi
	bfcctl -n h apply --file "$file" >"$said"
	equal "exit code of apply" $? 0
	check "$(cat "$said")" grep -q '^eth0: added bfc role nic$' "$said"
	check "$(cat "$said")" grep -q '^host: hpcc on --cgroup /sys/fs/cgroup .*: done$' "$said"
	equal "role" "$(stat h eth0 options.role)" nic
	equal "rtt" "$(bfcctl -j hpcc show | jq '.[0].rtt_ns')" 50000
	ctl -n h apply --file "$file" >"$said"
	equal "what a second one does" "$(grep -vc ': nothing to do$' "$said")" 0
	ctl hpcc off --cgroup /sys/fs/cgroup
	ctl int detach --cgroup /sys/fs/cgroup
	! simulated || modprobe -r bfc_simcc
}

run_tests ifupdown networkd host
