#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# What packages.sh runs on a machine that has started with systemd (scripts/vm --systemd):
# ports have the qdiscs of /etc/bfc.conf, those that were there and those that come later.
#
# Usage: boot_guest.sh TEST...

set -u

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)
# shellcheck disable=SC2034  # for tap.sh
topic=boot
dir=$(mktemp -d) || exit 1
# shellcheck source=selftests/tap.sh
. "$here/../tap.sh"

# soon COMMAND...: within a minute; an emulated processor takes its time
soon() {
	local end=$((SECONDS + 60))
	until "$@" >/dev/null 2>&1; do
		[ "$SECONDS" -lt "$end" ] || return 1
		sleep 0.5
	done
}

lacks_bfc() { ! has_bfc "$1"; }
has_bfc() { tc qdisc show dev "$1" root | grep -q '^qdisc bfc '; }

# is DEV nic|switch ELIDE
is() {
	local shown role=switch
	shown=$(tc qdisc show dev "$1" root)
	[[ $shown != *" role nic "* ]] || role=nic
	[[ $shown == "qdisc bfc "*" limit 32Mb "* && $role == "$2" ]] &&
		[[ $shown == *" elide $3 "* ]]
}

# port DEV nic|switch ELIDE: it has these soon
port() {
	soon is "$@" || fail "$1 has $(tc qdisc show dev "$1"); $(
		systemctl status --no-pager bfc.service "bfc@$1.service" 2>&1 |
			tail -n 30 | tr '\n' ' ')"
}

unit() { systemctl show -P "$2" "$1"; }
settled() { udevadm settle && [ -z "$(systemctl list-jobs --no-legend 'bfc*')" ]; }
failed_units() { systemctl list-units --failed --no-legend 'bfc*' | wc -l; }

test_without_file() {
	equal "bfc.service is enabled" "$(systemctl is-enabled bfc.service)" enabled
	equal "condition of bfc.service" "$(unit bfc.service ConditionResult)" no
	ip link add swp1 type dummy
	check "udev is busy" soon settled
	equal "units of ports" "$(systemctl list-units --all --no-legend 'bfc@*' | wc -l)" 0
	equal "failed units" "$(failed_units)" 0
	check "the module is loaded" [ ! -e /sys/module/sch_bfc ]
	ip link del swp1
}

test_started() {
	equal "bfc.service" "$(unit bfc.service ActiveState) $(unit bfc.service Result)" \
		"active success"
	port swp1 switch swp1
	port swp2 switch swp1
	equal "failed units" "$(failed_units)" 0
}

test_plugged() {
	ip link add swp3 type veth peer name far
	port swp3 nic swp1,swp3
	# It is in the lists of the others.
	port swp1 switch swp1,swp3
	check "bfc@swp3.service is busy" soon settled
	equal "bfc@swp3.service" "$(unit bfc@swp3.service Result)" success
	# Nothing is left to do, by hand.
	bfcctl apply >"$dir/said" || fail "bfcctl apply: $? $(cat "$dir/said")"
	equal "bfcctl apply" "$(grep -c ': nothing to do$' "$dir/said")" 3
}

test_renamed() {
	ip link add x1 type dummy
	check "udev is busy" soon settled
	check "x1 has bfc" lacks_bfc x1
	ip link set x1 name swp4
	port swp4 switch swp1,swp3
}

# A port that was taken out and put back
test_again() {
	ip link del swp3
	ip link add swp3 type veth peer name far
	port swp3 nic swp1,swp3
	port swp4 switch swp1,swp3
}

test_other_ports() {
	ip link add eth9 type dummy
	check "udev is busy" soon settled
	check "eth9 has bfc" lacks_bfc eth9
	check "far has bfc" lacks_bfc far
	equal "failed units" "$(failed_units)" 0
}

says_where() { journalctl --no-pager -u bfc@swp5.service | grep -F '/etc/bfc.conf:6: '; }

test_bad_file() {
	echo nonsense 1 >>/etc/bfc.conf
	ip link add swp5 type dummy
	check "the journal does not say where" soon says_where
	check "swp5 has bfc" lacks_bfc swp5
	sed -i '$d' /etc/bfc.conf
	check "systemctl reload bfc" systemctl reload bfc.service
	port swp5 switch swp1,swp3
}

run_each "$@"
all_passed
