#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# What packages.sh runs on the release's own kernel: the packages of version OLD, which
# are installed, are used, upgraded to NEW (build/deb) and removed, with traffic:
#
#   v0 (bfc) ---- v1 (bfc, in the network namespace "box")
#
# Usage: packages_guest.sh OLD NEW

set -u

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)
cd "$here/../.." || exit 1
old=$1 new=$2
# shellcheck disable=SC2034  # for tap.sh
topic=packages
dir=$(mktemp -d) || exit 1
# shellcheck source=selftests/tap.sh
. "$here/../tap.sh"
export DEBIAN_FRONTEND=noninteractive

kernel=$(uname -r)
loaded() { cat /sys/module/sch_bfc/version 2>/dev/null || echo none; }
on_disk() { modinfo -F version sch_bfc 2>/dev/null || echo none; }

# has FILE TEXT: as a line of it
has() {
	! grep -qxF -- "$2" "$1" || return 0
	[ -n "$why" ] || sed 's/^/# /' "$1"
	fail "no line \"$2\""
}

# passes: frames do, through both qdiscs
passes() {
	local before after
	before=$(cat /sys/class/net/v0/statistics/rx_packets)
	# To an address that is not there: it asks who has it, and these frames come out
	# at the other end.
	ip netns exec box bash -c 'for i in 1 2 3; do
		echo >/dev/udp/192.0.2.9/9; sleep 0.1; done' 2>/dev/null
	for ((i = 0; i < 50; i++)); do
		after=$(cat /sys/class/net/v0/statistics/rx_packets)
		[ "$after" -eq "$before" ] || return 0
		sleep 0.1
	done
	fail "no frame came through"
}

is_bfc() { tc qdisc show dev v0 | grep -q '^qdisc bfc .* root'; }

test_loads() {
	check "modprobe fails" modprobe sch_bfc
	equal "loaded version" "$(loaded)" "$old"
	[[ $(modinfo -n sch_bfc) == */"$kernel"/updates/dkms/* ]] ||
		fail "it is $(modinfo -n sch_bfc)"
}

test_qdisc() {
	ip netns add box
	ip link add v0 type veth peer name v1 netns box
	ip address add 192.0.2.1/24 dev v0
	ip -n box address add 192.0.2.2/24 dev v1
	check "tc qdisc add" tc qdisc add dev v0 root bfc hrtt 100us queues 64 &&
		check "tc qdisc add in box" tc -n box qdisc add dev v1 root bfc hrtt 100us
	ip link set v0 up
	ip -n box link set v1 up
	tc -s qdisc show dev v0 >"$dir/shown"
	check "tc does not show its options" grep -q '^qdisc bfc .*queues 64' "$dir/shown"
	check "tc does not show its statistics" grep -q 'peer' "$dir/shown"
	passes
}

# The eBPF objects are loaded by the verifier of this kernel.
test_bfcctl() {
	equal "bfcctl version" "$(bfcctl version)" "bfcctl $old"
	check "bfcctl stamp attach" bfcctl stamp attach v0
	check "bfcctl stamp show" grep -q v0 <<<"$(bfcctl stamp show)"
	passes
}

# An emulated processor would compile for half an hour: the module is compiled already, and
# where DKMS looks for such ones. The rest is as ever.
test_upgrade_in_use() {
	mkdir -p /usr/share/bfc-dkms
	cp build/deb/compiled.tar.gz "/usr/share/bfc-dkms/bfc-$new.dkms.tar.gz" ||
		fail "no compiled module"
	dpkg -i build/deb/bfc-dkms_*.deb build/deb/bfc-tools_*.deb >"$dir/said" 2>&1 || {
		sed 's/^/# /' "$dir/said"
		fail "dpkg -i fails"
		return
	}
	has "$dir/said" \
		"bfc-dkms: the module sch_bfc $old is in use and stays in the kernel."
	has "$dir/said" "  v0"
	has "$dir/said" "  v1 (network namespace box)"
	rm -r /usr/share/bfc-dkms
	equal "loaded version" "$(loaded)" "$old"
	equal "installed version" "$(on_disk)" "$new"
	check "the qdisc is gone" is_bfc
	passes
	# The new programs on the old module, and on what the old ones have attached
	equal "bfcctl version" "$(bfcctl version)" "bfcctl $new"
	tc -s qdisc show dev v0 >"$dir/shown"
	check "tc does not show its options" grep -q '^qdisc bfc .*queues 64' "$dir/shown"
	check "tc does not show its statistics" grep -q 'peer' "$dir/shown"
	check "tc qdisc change" tc qdisc change dev v0 root bfc limit 8mb
	check "bfcctl metrics" grep -q '^bfc_.*device="v0"' <<<"$(bfcctl metrics)"
	check "bfcctl stamp show" grep -q v0 <<<"$(bfcctl stamp show)"
}

# as_told: what the message says
as_told() {
	tc qdisc del dev v0 root
	tc -n box qdisc del dev v1 root
	# The last references go with RCU.
	for ((i = 0; i < 50; i++)); do
		! rmmod sch_bfc 2>"$dir/rmmod" || return 0
		sleep 0.1
	done
	fail "rmmod: $(cat "$dir/rmmod")"
}

test_new_version() {
	bfcctl stamp detach v0 >/dev/null
	as_told
	check "tc qdisc add" tc qdisc add dev v0 root bfc
	equal "loaded version" "$(loaded)" "$new"
	tc -n box qdisc add dev v1 root bfc
	passes
}

# The same module: nothing to say
test_installed_again() {
	/usr/libexec/bfc-dkms/notice upgrade >"$dir/said" || fail "notice fails"
	equal "bytes said" "$(wc -c <"$dir/said")" 0
	equal "loaded version" "$(loaded)" "$new"
}

# One that no qdisc uses does not stay.
test_not_in_use() {
	tc qdisc del dev v0 root
	tc -n box qdisc del dev v1 root
	for ((i = 0; i < 50 && $(cat /sys/module/sch_bfc/refcnt); i++)); do
		sleep 0.1
	done
	/usr/libexec/bfc-dkms/notice remove >"$dir/said" || fail "notice fails"
	equal "bytes said" "$(wc -c <"$dir/said")" 0
	equal "loaded version" "$(loaded)" none
	tc qdisc add dev v0 root bfc
	tc -n box qdisc add dev v1 root bfc
}

# The plugin goes first: tc does not know what the options mean.
test_remove_in_use() {
	bfcctl stamp attach v0
	sysctl -q net.core.default_qdisc=bfc 2>/dev/null ||
		echo bfc >/proc/sys/net/core/default_qdisc
	dpkg -r bfc-tools >"$dir/tools" 2>&1 || fail "dpkg -r bfc-tools"
	check "not said that v0 is stamped" grep -q '^  .*v0' "$dir/tools"
	dpkg -r bfc-dkms >"$dir/said" 2>&1 || fail "dpkg -r bfc-dkms"
	has "$dir/said" \
		"bfc-dkms: the module sch_bfc $new is in use and stays in the kernel."
	has "$dir/said" "  v0"
	has "$dir/said" "  v1 (network namespace box)"
	has "$dir/said" "New devices get it as well: sysctl net.core.default_qdisc."
	equal "loaded version" "$(loaded)" "$new"
	equal "installed version" "$(on_disk)" none
	check "the qdisc is gone" is_bfc
	passes
	echo pfifo_fast >/proc/sys/net/core/default_qdisc
	rm -r /sys/fs/bpf/bfc
	as_told
	equal "loaded version" "$(loaded)" none
}

test_purge() {
	local left
	dpkg -P bfc-tools bfc-dkms >"$dir/said" 2>&1 || {
		sed 's/^/# /' "$dir/said"
		fail "dpkg -P"
	}
	# But libfc.h is Fibre Channel's.
	left=$(find /usr/src /etc /usr/lib /usr/libexec /usr/sbin /usr/share /var/lib/dkms \
		"/lib/modules/$kernel/updates" -name '*bfc*' ! -name '*libfc*' 2>/dev/null)
	check "left: $left" [ -z "$left" ]
	check "depmod knows it" [ -z "$(grep -l sch_bfc "/lib/modules/$kernel"/modules.*)" ]
}

# The index of the manual, after each of these, is a minute of an emulated processor.
rm -f /var/lib/man-db/auto-update
run_each loads qdisc bfcctl upgrade_in_use new_version installed_again not_in_use remove_in_use purge
ip netns del box
all_passed
