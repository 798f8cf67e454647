# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Tests of boot_guest.sh with NetworkManager and the examples for it, which the package has:
# they stand in docs/deployment.md's table. Sourced.

# shellcheck disable=SC2154  # dir is the caller's

examples=/usr/share/doc/bfc-tools/examples/NetworkManager
connections=/etc/NetworkManager/system-connections

in_bridge() { ip -o link show dev "$1" | grep -q '[<,]UP[,>].* master br0 '; }
has_address() { ip address show dev br0 | grep -q 'inet 192\.0\.2\.1/24 '; }
handle() { tc qdisc show dev "$1" root | cut -d ' ' -f 1-3; }

# bridged DEV N: as the examples and bfc.conf say
bridged() {
	check "$1 is not up in br0: $(ip -o link show dev "$1") $(nmcli device 2>&1 | tr '\n' ' ')" \
		soon in_bridge "$1"
	check "br0 has no address" soon has_address
	port "$1" switch swp1,swp3,swp6
	check "no agreement of $1: $(shown "$1")" soon has_met "$1"
	check "no frame through $1" passes "$2"
}

# A port that is there when it starts
test_nm_started() {
	local before
	plug swp6 06
	port swp6 switch swp1,swp3,swp6
	before=$(handle swp6)
	install -m 600 "$examples"/{br0,swp}.nmconnection "$connections"
	check "it does not start" systemctl enable --now --quiet NetworkManager
	bridged swp6 06
	equal "qdisc of swp6" "$(handle swp6)" "$before"
	equal "qdisc of br0" "$(handle br0)" "qdisc noqueue 0:"
}
