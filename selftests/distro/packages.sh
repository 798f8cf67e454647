#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The Debian packages (scripts/build-deb), as their users have them: those of the last release
# (scripts/version --released) and of these sources, built and installed on a release of Debian
# (scripts/debian-root), on whose own kernel packages_guest.sh then uses, upgrades and removes
# them (scripts/vm --kernel root); restarted with systemd, ports
# are what bfc.conf(5) says (boot_guest.sh); a newer kernel that is installed gets its
# module, and a machine that has started with it its ports; after "purge" no file is left.
#
# Usage: packages.sh bookworm|trixie
# Exit code: 0, 1 a test failed, 2 usage, 4 not possible here (skip)

set -u

top=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd -P)
cd "$top" || exit 1

suite=${1-}
case $suite in
bookworm)	newer=(linux-image-6.12-amd64 linux-headers-6.12-amd64) ;;
trixie)		newer=(-t trixie-backports linux-image-amd64 linux-headers-amd64) ;;
*)		sed -n '11s/^# //p' "$0" >&2; exit 2 ;;
esac

topic=$suite
export LC_ALL=C		# sort and comm agree
# shellcheck source=selftests/tap.sh
. "$top/selftests/tap.sh"

inside() { scripts/debian-root --sets "deb user" "$suite" "$@"; }

# All that happens from here on is in an overlay, which goes with this mount namespace:
# the root stays as it is, for the next call and for run.sh.
if [ -z "${PACKAGES_DIR:-}" ]; then
	root=$(scripts/debian-root --sets "deb user" "$suite")
	rc=$?
	[ "$rc" -ne 4 ] || skip_all "no root of $suite"
	[ "$rc" -eq 0 ] || bail_out "scripts/debian-root $suite"
	# Both of one version, for a root of some days ago may have older headers.
	inside sh -c 'apt-get -q update && apt-get -qy install linux-image-amd64 \
		linux-headers-amd64 systemd-sysv udev &&
		apt-get -qy --no-install-recommends install network-manager \
			prometheus-node-exporter &&
		systemctl disable NetworkManager prometheus-node-exporter' \
		>"$root.log" 2>&1 ||
		bail_out "no kernel, systemd, NetworkManager of $suite (log: $root.log)"
	dir=$(mktemp -d "$root.packages.XXXXXX") || exit 1
	mkdir "$dir/up" "$dir/work" || exit 1
	PACKAGES_DIR=$dir unshare --mount -- "$0" "$suite"
	rc=$?
	rm -rf "$dir"
	exit "$rc"
fi
dir=$PACKAGES_DIR
root=$top/build/debian/$suite
mount -t overlay -o "lowerdir=$root,upperdir=$dir/up,workdir=$dir/work" overlay "$root" ||
	skip_all "no overlay on $root"

version=$(scripts/version)
release=$(scripts/version --released) || bail_out "which release is before $version?"
old=${release% *} commit=${release#* }
modules=$root/lib/modules
packages=(bfc-dkms bfc-tools)

# released: the packages of the last release, by its own scripts. It has no warning to fail for
# that a compiler had learned since.
released() {
	mkdir -p "$root/srv/build/released" &&
		git archive "$commit" | tar -x -C "$root/srv/build/released" || return 1
	inside env -u WERROR build/released/scripts/build-deb --out build/deb-old
}

# files: names of all that there is, but for what a package manager keeps, dkms's own key,
# and what a kernel's package, depmod and the initramfs make of it (depmod's is looked into).
files() {
	(cd "$root" && find . -xdev \( -path ./srv/build -o -path ./tmp -o -path ./run \
		-o -path ./proc -o -path "./${top#/}" -o -path ./var/cache \
		-o -path ./var/log -o -path ./var/lib/apt -o -path ./var/lib/dpkg \) -prune \
		-o ! -path './boot/*' ! -path './vmlinuz*' ! -path './initrd.img*' \
		! -path './var/lib/dkms/mok.*' \
		! -path '*/lib/modules/*/modules.*' -print | sort)
}

# install DIR: the packages there
install() { inside sh -c "apt-get -qy install ./$1/bfc-dkms_*.deb ./$1/bfc-tools_*.deb"; }

# built KERNEL VERSION: DKMS has made this module for it and no other, without a
# warning, and modprobe would find it. With BTF of another pahole or none, which depends on
# the headers, so do the remarks about it.
built() {
	local found wanted log=$root/var/lib/dkms/bfc/$2/$1/x86_64/log/make.log
	found=$(cd "$modules/$1" && find updates -type f)
	[[ $found =~ ^updates/dkms/sch_bfc\.ko(\.xz)?$ ]] ||
		{ echo "in updates of $1: $found"; return 1; }
	found=$(find "$root/var/lib/dkms/bfc/$2/$1/" -name '*.ko*' | wc -l)
	[ "$found" -eq 1 ] || { echo "$found modules are built for $1"; return 1; }
	found=$(inside modinfo -k "$1" sch_bfc)
	for wanted in "version: *$2" "vermagic: *$1 .*"; do
		grep -qx "$wanted" <<<"$found" || { echo "$found"; return 1; }
	done
	grep -q '^sch_bfc\|updates/dkms/sch_bfc' "$modules/$1/modules.dep" ||
		{ echo "$1: not in modules.dep"; return 1; }
	[ -s "$log" ] || { echo "no $log"; return 1; }
	! grep -iE 'warning|error:' "$log" | grep -vE '(compiler|version) differs from the one'
}

pages() { inside man -w tc-bfc tc-bfc-stamp bfcctl bfc.conf && inside bfcctl version; }

# complete WORD...: what bash offers in a new shell for the last one
complete() {
	# shellcheck disable=SC2016  # for the shell there
	inside bash -c '. /usr/share/bash-completion/bash_completion
		COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMP_LINE="$*"
		COMP_POINT=${#COMP_LINE}
		for try in 1 2; do
			complete -p "$1" >/dev/null 2>&1 || _completion_loader "$1"
			name=$(complete -p "$1" | sed "s/.*-F \([^ ]*\).*/\1/")
			"$name" "$1" "${!#}" "${@: -2:1}"
			[ $? -eq 124 ] || break
		done
		printf "%s\n" "${COMPREPLY[@]}"' bash "$@"
}
completions() {
	complete tc qdisc add dev lo root bf | grep -x 'bfc *' &&
		complete tc qdisc add dev lo root bfc assi | grep -x 'assign *' &&
		complete tc qdisc add dev lo root fq_code | grep -x 'fq_codel *' &&
		complete bfcctl stam | grep -x 'stamp *'
}

# by_hand: without packages, as on other distributions. What it compiles is used later.
by_hand() {
	inside sh -ec "make -s install-dkms DESTDIR=
		dkms install bfc/$version -k $kernel" && built "$kernel" "$version" &&
		inside sh -ec "dkms mktarball bfc/$version -k $kernel \
			--archive $top/build/deb/compiled.tar.gz
		dkms remove bfc/$version --all; rm -r /usr/src/bfc-$version"
}

# beside_another: a module of "make install", which DKMS would not replace, stops the
# installation before it begins.
beside_another() {
	local file=$modules/$kernel/extra/sch_bfc.ko said=$dir/install rc=0
	mkdir "${file%/*}" && touch "$file" || return 1
	! install build/deb-old >"$said" 2>&1 || rc=1
	tr -d '\r' <"$said" | grep -xF "  rm ${file#"$root"}" || rc=1	# apt's terminal
	[ "$rc" -eq 0 ] || cat "$said"
	rm -r "${file%/*}"
	inside apt-get -qy purge "${packages[@]}" || rc=1	# what was unpacked meanwhile
	return $rc
}

# boot TEST...: of boot_guest.sh, with systemd
boot() {
	scripts/vm --kernel root --root "$root" --systemd --monitor --timeout 1200 \
		--cpus 1 --env "KERNEL=${other:-$kernel}" -- \
		selftests/distro/boot_guest.sh "$@" | sed -u 's/^/  /'
	return "${PIPESTATUS[0]}"
}

# starts UNIT TARGET: with the next machine, as "systemctl enable" has it, which leaves more
starts() { ln -sf "$1" "$root/etc/systemd/system/$2.target.wants/${1##*/}"; }

# networkd_starts: with a bridge of all ports
networkd=(20-br0.netdev 20-br0.network 30-swp.network)
networkd_starts() {
	(cd "$root/usr/share/doc/bfc-tools/examples/systemd-networkd" &&
		cp "${networkd[@]}" "$root/etc/systemd/network") &&
		starts /usr/lib/systemd/system/systemd-networkd.service multi-user
}

# metrics_start: each 15 s for the node exporter
metrics_start() {
	cp "$root/usr/share/doc/bfc-tools/examples/prometheus/"bfc-metrics.* \
		"$root/etc/systemd/system" &&
		starts /etc/systemd/system/bfc-metrics.timer timers
}

# restart WHAT TEST...: with a bfc.conf, and two ports that are there when it starts, and
# what function WHAT does
ports=(etc/bfc.conf etc/modules-load.d/ports.conf etc/modprobe.d/zz-ports.conf
	etc/udev/rules.d/70-ports.rules srv/named_late etc/systemd/network/10-swp6.link)
restart() {
	local rc=0 what=$1
	shift
	cat >"$root/etc/bfc.conf" <<-END
		[port swp*]
			limit 32mb  rate 1gbit
			elide swp1,swp3,swp6
		[port swp6]
			rate 5mbit
			stamp attach
			int attach
		[port up*]
			limit 32mb  rate 1gbit
			elide swp1,swp3
		[port swp3 up[1-4]]
			role nic
		[port dummy*]
			limit 32mb
	END
	echo dummy >"$root/etc/modules-load.d/ports.conf"
	# systemd has an option of it as well, and the last one holds.
	echo options dummy numdummies=3 >"$root/etc/modprobe.d/zz-ports.conf"
	cat >"$root/etc/udev/rules.d/70-ports.rules" <<-'END'
		SUBSYSTEM=="net", KERNEL=="dummy0", NAME="swp1"
		SUBSYSTEM=="net", KERNEL=="dummy1", NAME="swp2"
		SUBSYSTEM=="net", KERNEL=="dummy2", PROGRAM="/srv/named_late", NAME="mgmt0"
	END
	# udev gives up after three minutes.
	cat >"$root/srv/named_late" <<-'END'
		#!/bin/sh
		for i in $(seq 120); do
			! systemctl -q is-active bfc.service || break
			sleep 1
		done
	END
	chmod +x "$root/srv/named_late"
	# The name of a card as the example has it
	sed 's/00:00:01$/00:00:06/; s/swp1/swp6/' \
		"$root/usr/share/doc/bfc-tools/examples/10-swp1.link" \
		>"$root/etc/systemd/network/10-swp6.link"
	mkdir -p "$root/etc/systemd/system/"{timers,multi-user}.target.wants
	"$what" && boot "$@" || rc=1
	(cd "$root" && rm "${ports[@]}") || rc=1
	(cd "$root/etc/systemd" && rm -f system/{,timers.target.wants/}bfc-metrics.* \
		system/multi-user.target.wants/systemd-networkd.service &&
		cd network && rm -f "${networkd[@]}") || rc=1
	return $rc
}

# prune KERNEL: it has most drivers no more. The guest's processor is emulated, and depmod
# reads all modules each time: so it has a quarter of them to read.
prune() {
	find "$modules/$1/kernel" \( -path '*/drivers/*' -o -path '*/sound/*' \) -name '*.ko*' \
		! -name 'veth.ko*' ! -name 'dummy.ko*' ! -name 'virtio*' \
		! -name 'net_failover.ko*' -delete
	inside depmod "$1"
}

newer_kernel() {
	if [ "${newer[0]}" = -t ]; then
		sed "s/ $suite main/ $suite-backports main/" "$root/etc/apt/sources.list" |
			grep backports >"$root/etc/apt/sources.list.d/backports.list" &&
			inside apt-get -q update || return 1
	fi
	inside apt-get -qy --no-install-recommends install "${newer[@]}" || return 1
	rm -f "$root/etc/apt/sources.list.d/backports.list"
	other=$(find "$modules" -mindepth 1 -maxdepth 1 ! -name "$kernel" -printf '%f\n')
	[ "$(printf '%s\n' "$kernel" "$other" | sort -V | tail -n 1)" = "$other" ] ||
		{ echo "not newer than $kernel: $other"; return 1; }
	prune "$other" && built "$other" "$version" && built "$kernel" "$version"
}

# owned: names of what packages have
owned() {
	sed -E 's,^/(bin|lib|lib64|sbin)/,/usr/\1/,; s,^,.,' "$root"/var/lib/dpkg/info/*.list |
		sort -u
}

# purged: no file, nothing that depmod knows, no word of it in dpkg's or dkms's state.
# What came meanwhile, with the newer kernel's headers, has a package; what went then had one.
purged() {
	local left
	files >"$dir/after"
	owned >"$dir/owned"
	# shellcheck disable=SC2016  # for dpkg-query
	left=$(comm -13 "$dir/before" "$dir/after" | comm -23 - "$dir/owned" |
			sed 's/^/left: /'
		comm -23 "$dir/before" "$dir/after" |
			comm -23 - <(comm -23 "$dir/owned_before" "$dir/owned") |
			sed 's/^/missing: /'
		grep -l sch_bfc "$modules"/*/modules.*
		find "$root/var/lib/dpkg" -name 'bfc-*'
		inside dpkg-query -W -f '${db:Status-Status} ${Package}\n' 'bfc*' 2>/dev/null |
			grep -v '^not-installed'
		inside dkms status)
	[ -z "$left" ] || { echo "$left"; return 1; }
}

kernel=$(find "$modules" -mindepth 1 -maxdepth 1 -printf '%f\n' | sort -V | tail -n 1)
prune "$kernel" || bail_out "depmod"

plan 19
result "packages are built, lintian is silent" inside scripts/build-deb --lint
text="packages of the last release, $old, are built"
if git cat-file -e "$commit^{commit}" 2>/dev/null; then
	result "$text" released
else
	old=$version~old	# sorts before it
	inside scripts/build-deb --version "$old" --out build/deb-old ||
		bail_out "packages of an older version"
	report 0 "- $topic: $text" "SKIP $commit is not in this clone (shallow?): instead of it \
these sources as $old"
fi
files >"$dir/before"
owned >"$dir/owned_before"
result "from the source tree with dkms, without packages" by_hand
result "no file is left of that" purged
result "not installed beside a module of \"make install\"" beside_another
result "the older version is installed" install build/deb-old
result "DKMS has built the module for $kernel" built "$kernel" "$old"
result "man pages, bfcctl" pages
result "bash completion" completions
scripts/vm --kernel root --root "$root" --timeout 1200 --cpus 1 -- \
	selftests/distro/packages_guest.sh "$old" "$version" | sed -u 's/^/  /'
result "used there, upgraded and removed while in use" [ "${PIPESTATUS[0]}" -eq 0 ]
result "upgraded" install build/deb
result "DKMS has built the new module" built "$kernel" "$version"
if inside udevadm verify --help >/dev/null 2>&1; then
	result "udev finds nothing wrong with the rule" \
		inside udevadm verify /usr/lib/udev/rules.d/90-bfc.rules
else
	report 0 "- $topic: udev finds nothing wrong with the rule" "SKIP no udevadm verify here"
fi
other=''
result "restarted without bfc.conf, nothing happens" boot without_file
result "restarted with bfc.conf, its ports are so, and those that come later" restart \
	metrics_start \
	started metrics named_late plugged renamed again other_ports needs_replacement bad_file \
	card card_pulled_out card_again card_moved card_in_and_out card_renamed \
	nm_started nm_reload nm_up nm_restart nm_pulled_out nm_tc
result "a newer kernel is installed: it has the module" newer_kernel
result "started with $other and systemd-networkd, ports are the same" restart \
	networkd_starts started plugged renamed networkd_started networkd_reload \
	networkd_restart networkd_pulled_out networkd_parent_root
result "purged" inside apt-get -qy purge "${packages[@]}"
result "no file is left" purged
all_passed
