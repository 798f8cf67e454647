# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Tests of boot_guest.sh with systemd-networkd, which has started with the machine, and the
# examples for it, which the package has: they stand in docs/deployment.md's table. Sourced.

# shellcheck disable=SC2154  # dir is the caller's

ports_file=/etc/systemd/network/30-swp.network

# taken DEV: it is up in br0, and has its qdisc
taken() {
	soon in_bridge "$1" ||
		fail "$1 is not up in br0: $(networkctl 2>&1 | tr '\n' ' ')"
	port "$1" switch swp1,swp3,swp6
}

test_networkd_started() {
	equal "systemd-networkd" "$(unit systemd-networkd.service ActiveState)" active
	check "swp1 is not in br0" soon in_bridge swp1
	check "swp1 has $(handle swp1)" has_bfc swp1
	far_end 06
	# A card that comes later
	plug swp6 06
	bridged swp6 06
	taken swp1
	equal "qdisc of br0" "$(handle br0)" "qdisc noqueue 0:"
}

# networkd_keeps COMMAND...
networkd_keeps() {
	keeps "$@"
	taken swp1
}

test_networkd_reload() {
	networkd_keeps networkctl reload
	# It configures those again whose file has changed.
	printf '[Link]\nMTUBytes=1400\n' >>"$ports_file"
	networkd_keeps networkctl reload
	check "not configured again" soon grep -qx 1400 /sys/class/net/swp6/mtu
	networkd_keeps networkctl reconfigure swp6
	networkctl down swp6
	check "swp6 is up" soon eval '! in_bridge swp6'
	networkd_keeps networkctl up swp6
}

test_networkd_restart() {
	ip link set swp6 nomaster
	networkd_keeps systemctl restart systemd-networkd
}

test_networkd_pulled_out() {
	pull swp6
	plug swp6 06
	bridged swp6 06
}

# What the example warns of
test_networkd_parent_root() {
	cp "$ports_file" "$dir/file"
	printf '[FairQueueing]\nParent=root\n' >>"$ports_file"
	networkctl reload
	wants_replacement fq
	cp "$dir/file" "$ports_file"
	networkctl reload
	apply --replace
	networkd_keeps networkctl reconfigure swp6
	equal "failed units" "$(failed_units)" 0
}
