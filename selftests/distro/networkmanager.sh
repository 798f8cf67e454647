# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Tests of boot_guest.sh with NetworkManager and the examples for it, which the package has:
# they stand in docs/deployment.md's table. Sourced.

# shellcheck disable=SC2154  # dir is the caller's

nm_examples=/usr/share/doc/bfc-tools/examples/NetworkManager
connections=/etc/NetworkManager/system-connections

# A port that is there when it starts
test_nm_started() {
	local before
	[ -e /run/netns/box06 ] || far_end 06
	plug swp6 06
	port swp6 switch swp1,swp3,swp6
	before=$(handle swp6)
	install -m 600 "$nm_examples"/{br0,swp}.nmconnection "$connections"
	check "it does not start" systemctl enable --now --quiet NetworkManager
	bridged swp6 06
	equal "qdisc of swp6" "$(handle swp6)" "$before"
	equal "qdisc of br0" "$(handle br0)" "qdisc noqueue 0:"
	say "$(nmcli --version)"
}

test_nm_reload() {
	keeps nmcli general reload
	keeps nmcli connection reload
	keeps nmcli device reapply swp6
	# What it sets anew without bringing the connection down
	keeps nmcli connection modify swp ethernet.mtu 1400
	keeps nmcli device reapply swp6
	check "not applied: mtu $(cat /sys/class/net/swp6/mtu)" soon \
		grep -qx 1400 /sys/class/net/swp6/mtu
}

test_nm_up() {
	local said
	keeps nmcli connection up swp ifname swp6
	said=$(nmcli device disconnect swp6 2>&1) || fail "disconnect: $said"
	check "swp6 is in br0 yet" soon eval '! in_bridge swp6'
	port swp6 switch swp1,swp3,swp6
	keeps nmcli connection up swp ifname swp6
}

test_nm_restart() {
	keeps systemctl restart NetworkManager
	ip link set swp6 nomaster
	keeps nmcli connection up swp ifname swp6
}

test_nm_pulled_out() {
	pull swp6
	plug swp6 06
	bridged swp6 06
}

# up_with LINE...: the connection comes up with a section [tc] of these lines
up_with() {
	install -m 600 "$nm_examples/swp.nmconnection" "$connections"
	printf '%s\n' '[tc]' "$@" >>"$connections/swp.nmconnection"
	keeps nmcli connection reload
	nmcli connection up swp ifname swp6 >"$dir/said" 2>&1 || fail "up: $(cat "$dir/said")"
}

# What the example warns of
test_nm_tc() {
	up_with qdisc.root=fq_codel
	wants_replacement fq_codel
	apply --replace
	# A section with nothing in it
	up_with
	check "NetworkManager leaves $(handle swp6)" soon lacks_bfc swp6
	apply
	nmcli device disconnect swp6 >"$dir/said" 2>&1 || fail "down: $(cat "$dir/said")"
	check "NetworkManager leaves $(handle swp6)" soon lacks_bfc swp6
	install -m 600 "$nm_examples/swp.nmconnection" "$connections"
	nmcli connection reload
	apply
	keeps nmcli connection up swp ifname swp6
}
