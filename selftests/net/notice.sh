#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# debian/notice: which module an upgrade of bfc-dkms leaves in the kernel. What is in the file
# system is for a modinfo of this test to say. And when its postinst starts bfc.service.

# shellcheck source=selftests/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"

loaded=/sys/module/sch_bfc

# unused: no qdisc is left of the test before
unused() { [ "$(cat $loaded/refcnt)" -eq 0 ]; }

# notice VERSION SRCVERSION: as after an upgrade to that; "" "": to none for this kernel.
# Prints what it says.
notice() {
	mkdir -p "$scratch/bin"
	cat >"$scratch/bin/modinfo" <<-END
		#!/bin/sh
		[ -n '$1' ] || { echo "modinfo: ERROR: Module sch_bfc not found." >&2; exit 1; }
		case \$2 in
		version) echo '$1' ;;
		srcversion) echo '$2' ;;
		esac
	END
	chmod +x "$scratch/bin/modinfo"
	PATH=$scratch/bin:$PATH "$top/debian/notice" upgrade
}

# load: what tc does with the first qdisc
load() { [ -d $loaded ] || check "modprobe" modprobe sch_bfc; }

test_none_for_this_kernel() {
	local said
	load
	check "the module is in use" wait_for 5 unused
	said=$(notice "" "") || fail "exit code $?"
	check "the module is gone: $said" [ -d $loaded ]
	check "said: $said" grep -q "no new module for this kernel, $(uname -r)" <<<"$said"
	check "said: $said" grep -q "apt-get install linux-headers-$(uname -r)" <<<"$said"
	# In use: what to do is the same, and not to unload it.
	new_ns x
	ip -n x link add d0 type dummy
	bfc x d0 rate 1gbit
	said=$(notice "" "") || fail "exit code $?"
	check "said: $said" grep -q "no new module for this kernel" <<<"$said"
	equal "advice to unload it" "$(grep -c 'rmmod' <<<"$said")" 0
}

test_same() {
	local said
	load
	check "the module is in use" wait_for 5 unused
	said=$(notice "$(cat $loaded/version)" "$(cat $loaded/srcversion)") || fail "exit code $?"
	equal "said" "$said" ""
	check "the module is gone" [ -d $loaded ]
}

test_another() {
	local said
	new_ns x
	ip -n x link add d0 type dummy
	bfc x d0 rate 1gbit
	said=$(notice 77 0123456789ABCDEF01234567) || fail "exit code $?"
	check "the module is gone" [ -d $loaded ]
	check "said: $said" grep -qx "  d0 (network namespace x)" <<<"$said"
	tc -n x qdisc del dev d0 root
	check "the module is in use" wait_for 5 unused
	said=$(notice 77 0123456789ABCDEF01234567) || fail "exit code $?"
	equal "said" "$said" ""
	check "an unused module stays" [ ! -d $loaded ]
	load
}

# It may be removed from another network namespace than the first, as in a container.
test_in_a_namespace() {
	local said
	new_ns x
	ip -n x link add d0 type dummy
	bfc x d0 rate 1gbit
	said=$(in_ns x "$top/debian/notice" remove) || fail "exit code $?"
	check "said: $said" grep -q "in use and stays" <<<"$said"
	check "advice: $said" grep -q "tc qdisc del dev DEVICE root" <<<"$said"
}

# What has it by default cannot be deleted. (A dummy has no qdisc by default.)
test_default() {
	local said was
	was=$(cat /proc/sys/net/core/default_qdisc)
	load
	sysctl -qw net.core.default_qdisc=bfc
	new_ns x
	new_ns y
	cable x e0 y f0
	check "e0 has no bfc by default" wait_for 5 by_default x e0
	bfc y f0 rate 1gbit
	said=$(notice 77 0123456789ABCDEF01234567) || fail "exit code $?"
	check "said: $said" grep -qx "  e0, by default (network namespace x)" <<<"$said"
	check "said: $said" grep -qx "  f0 (network namespace y)" <<<"$said"
	equal "advice" "$(grep -E '^  (sysctl|tc|rmmod) ' <<<"$said" | sed 's/ *#.*//')" \
		"  sysctl -w net.core.default_qdisc=fq_codel
  tc qdisc replace dev DEVICE root fq_codel
  tc qdisc del dev DEVICE root
  rmmod sch_bfc"
	check "sysctl" as_told "$said" sysctl
	check "replace" as_told "$said" "tc qdisc replace" x e0
	check "del" as_told "$said" "tc qdisc del" y f0
	check "rmmod" wait_for 5 as_told "$said" rmmod
	sysctl -qw net.core.default_qdisc="$was"
	load
}
by_default() { tc -n "$1" qdisc show dev "$2" | grep -q '^qdisc bfc 0: '; }

# as_told TEXT COMMAND [NS DEVICE]: do what a line of it says that begins so
as_told() {
	local words in=()
	read -ra words < <(sed -n "s/DEVICE/${4-}/; s/ *#.*//; s/^  \($2 .*\)/\1/p" <<<"$1")
	[ ${#words[@]} -gt 0 ] || return
	[ $# -eq 2 ] || in=(in_ns "$3")
	"${in[@]}" "${words[@]}" >/dev/null 2>&1
}

# postinst STATE: of bfc-dkms, as after its first installation, where bfc.service is in STATE;
# prints what it has systemd do
postinst() {
	cat >"$scratch/bin/systemctl" <<-END
		#!/bin/sh
		[ "\$1 \$2 \$3" = "--quiet is-failed bfc.service" ] && [ $1 = failed ]
	END
	cat >"$scratch/bin/deb-systemd-invoke" <<-END
		#!/bin/sh
		echo "\$*"
		exit 1
	END
	chmod +x "$scratch/bin/systemctl" "$scratch/bin/deb-systemd-invoke"
	PATH=$scratch/bin:$PATH sh "$top/debian/bfc-dkms.postinst" configure ""
}

# bfc-tools may have been configured before DKMS had built the module.
test_service() {
	local said state
	mkdir -p "$scratch/bin" /run/systemd
	mv /run/systemd/system "$scratch/system" 2>/dev/null
	said=$(postinst failed) || fail "exit code $?"
	equal "done without systemd" "$said" ""
	mkdir /run/systemd/system
	for state in active inactive; do
		said=$(postinst "$state") || fail "exit code $?"
		equal "done if it is $state" "$said" ""
	done
	# Whatever comes of it
	said=$(postinst failed) || fail "exit code $?"
	equal "done if it has failed" "$said" "start bfc.service"
	rmdir /run/systemd/system
	! [ -d "$scratch/system" ] || mv "$scratch/system" /run/systemd/system
}

run_tests none_for_this_kernel same another in_a_namespace default service
