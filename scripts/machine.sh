# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Shared by scripts/vm and scripts/sim: modules and an initramfs for a guest that has
# the host's root, and a verdict that only the guest's successful end can give. The
# caller defines top, say and die, and sets dir: a directory of its own for this run,
# build: what was built for the guest, and guest_root: empty if that is the host's.

# These are the callers' variables.
# shellcheck disable=SC2154,SC2034

# field NAME TEXT: the value of NAME in lines of NAME=VALUE
field() { sed -n "s/^$1=//p" <<<"$2"; }

# need TOOL...: in this machine, or say which packages have them
need() {
	local tool
	PATH=$PATH:/usr/sbin:/sbin
	# "busybox" must be the static one: it runs before there is a C library.
	for tool in busybox cpio depmod modprobe timeout setpriv "$@"; do
		command -v "$tool" >/dev/null ||
			die "no $tool here: scripts/install-deps"
	done
}

# same_sources DIRECTORY: true if scripts/build-modules built it, to the end, from the
# present sources
same_sources() {
	local file
	[ -e "$1/.sources" ] || return 1
	while read -r file; do
		cmp -s "$top/$file" "$1/$file" || return 1
	done <"$1/.sources"
}

# stage_modules RELEASE MODDIR: $dir/modules holds this repository's in extra/ and the
# indices of both; in the guest it is laid over the kernel's own directory. It is
# a copy, so that a build meanwhile does not disturb the guest. $own: names of
# those of this repository. Before pack_initramfs the indices are in $dir/depmod.
stage_modules() {
	local release=$1 moddir=$2 ko f name lock
	modules=$dir/modules module_root=$dir/depmod
	lib=$module_root/lib/modules/$release
	mkdir -p "$lib/extra"
	own=''
	if [ -d "$build/modules/$release" ]; then
		# Not while they are built
		exec {lock}>"$build/modules/.lock.$release"
		flock -s "$lock"
		same_sources "$build/modules/$release" ||
			die "build/modules/$release is of other sources: scripts/build-modules"
		while IFS= read -r -d '' ko; do
			cp "$ko" "$lib/extra/"
			name=$(basename "$ko" .ko)
			own+=" ${name//-/_}"
		done < <(find "$build/modules/$release" -name '*.ko' \
				-print0 | sort -z)
		exec {lock}>&-
	fi
	[ ! -d "$moddir/kernel" ] || ln -s "$moddir/kernel" "$lib/kernel"
	# A kernel without modules of its own has none of these.
	for f in modules.order modules.builtin modules.builtin.modinfo; do
		if [ -e "$moddir/$f" ]; then
			cp "$moddir/$f" "$lib/"
		else
			touch "$lib/$f"
		fi
	done
	depmod -b "$dir/depmod" "$release" || die "depmod failed"
}

# root_modules: use the modules of the guest's root as they are; the guest can change
# them
root_modules() {
	modules='' module_root=$guest_root own=sch_bfc
}

# pack_initramfs MACHINE RELEASE MODDIR MODULE...: only what it takes to mount
# the host's root: busybox and, unless they are built in, a few modules,
# numbered in the order of loading. The caller has set out, unload, envs (array),
# command (array), verdict_to, stdout_to and stderr_to.
pack_initramfs() {
	local machine=$1 release=$2 moddir=$3 root=$dir/initramfs
	local n=10 mod verb file
	local -A have=()
	shift 3

	mkdir -p "$root"/{bin,mod,proc,dev,low,tmpfs,modlow,new,hold}
	cp "$(command -v busybox)" "$root/bin/busybox"
	cp "$top/scripts/guest/init" "$root/init"

	for mod in "$@"; do
		# Lines of "insmod FILE" or "builtin NAME".
		while read -r verb file _; do
			if [ "$verb" != insmod ] || [ -n "${have[$file]:-}" ]; then
				continue
			fi
			have[$file]=1
			case $file in
			*.xz)	xz -dc "$file" >"$root/mod/$n.$(basename "$file" .xz)" ;;
			*)	cp "$file" "$root/mod/$n.${file##*/}" ;;
			esac
			n=$((n + 1))
		done < <(modprobe -C /dev/null -d "$module_root" -S "$release" \
				--show-depends "$mod")
	done
	if [ -n "$modules" ]; then
		rm -f "$lib/kernel"
		mv "$lib" "$modules"
	fi

	# What this run is about, sourced by the guest's scripts. (The nonce has a fixed
	# length, like everything that may differ between two runs: in the simulator the
	# guest's memory is then laid out alike.)
	nonce=$(printf '%05d%05d%05d' $RANDOM $RANDOM $RANDOM)
	{
		printf 'machine=%q\n' "$machine"
		printf 'repo=%q\n' "$top"
		[ -z "$guest_root" ] || printf 'guest_root=%q\n' "$guest_root"
		printf 'out=%q\n' "$out"
		printf 'release=%q\n' "$release"
		printf 'moddir=%q\n' \
			"$([ ! -d "$moddir/kernel" ] || echo "$moddir")"
		printf 'modules=%q\n' "$modules"
		printf 'host_dir=%q\n' "$dir"
		printf 'own=%q\n' "$own"
		printf 'unload=%q\n' "$unload"
		[ -z "${systemd:-}" ] || printf 'systemd=%q\n' "$systemd"
		printf 'nonce=%q\n' "$nonce"
		printf 'verdict_to=%q\n' "$verdict_to"
		printf 'stdout_to=%q\n' "$stdout_to"
		printf 'stderr_to=%q\n' "$stderr_to"
	} >"$root/config"
	# Bash only: %q may use $'...', which busybox understands as well.
	{
		echo '#!/bin/bash'
		[ ${#envs[@]} -eq 0 ] || printf 'export %q\n' "${envs[@]}"
		printf 'exec'
		printf ' %q' "${command[@]}"
		echo
	} >"$root/command"
	cp "$top/scripts/guest/run" "$root/run"
	chmod +x "$root/init" "$root/command" "$root/run"
	(cd "$root" && find . | sort |
		cpio -o -H newc -R 0:0 --quiet) >"$dir/initrd"
}

# What the kernel says about faults, if it does not panic_on_warn. Left out: ref_tracker
# says that it stops for lack of memory, since alloc.sh lets allocations fail.
bad='WARNING: |BUG: |Oops|Kernel panic|general protection fault|Call Trace:.*<IRQ>'
bad+='|[Ss]uspicious RCU|possible (circular|recursive|irq lock)|inconsistent lock state'
bad+='|bad unlock balance|lock held when returning|held lock freed|INFO: (task|rcu)'
bad+='|sleeping function called|scheduling while atomic|KASAN: |UBSAN: |ODEBUG: '
bad+='|refcount_t: |corruption|kmemleak: [0-9]+ new|unregister_netdevice: waiting'
bad+='|ref_tracker: ([^m]|m[^e])|detected stall|self-detected|blocked for more than|DEBUG_LOCKS_WARN'
bad+='|INVALID wait context|Invalid wait context|NOHZ tick-stop error|kfree.*invalid'
bad+='|on deprecated workqueue'

keep_log() {
	if [ -z "$log" ]; then
		log=${out:-$top/build/$1}
		mkdir -p "$log"
		log=$log/kernel-$2-$$.log
	fi
	cp "$dir/kernel.log" "$log" 2>/dev/null || true
	say "kernel log: $log"
}

# excerpt: what the log says around the first complaint, else its end.
excerpt() {
	if ! grep -aE -m 1 -B 3 -A 45 "$bad" "$dir/kernel.log"; then
		tail -n 20 "$dir/kernel.log"
	fi | tr -d '\r' | sed 's/^/  | /' >&2
}

# judge MACHINE FLAVOUR RC LIMIT: end with the exit code that scripts/vm and
# scripts/sim document; RC is how the machine (under "timeout") ended.
judge() {
	local machine=$1 flavour=$2 rc=$3 limit=$4 code complaints
	code=$(sed -n "s/^verdict $nonce \([0-9]*\)\r*$/\1/p" \
		"$dir/verdict" 2>/dev/null || true)
	complaints=$(sed -n 's/^complaint: //p' "$dir/verdict" 2>/dev/null || true)

	if [ -z "$code" ] && { [ "$rc" -eq 124 ] || [ "$rc" -eq 137 ]; }; then
		say "TIME-OUT after $limit s"
		excerpt
		keep_log "$machine" "$flavour"
		exit 124
	fi
	if [ -z "$code" ]; then
		[ ! -s "$dir/machine.log" ] || sed 's/^/  | /' "$dir/machine.log" >&2
		if [ -s "$dir/kernel.log" ]; then
			say "the kernel died before the command's end (exit code $rc)"
			excerpt
			keep_log "$machine" "$flavour"
			exit 71
		fi
		die "the machine did not start (exit code $rc)"
	fi
	if grep -qaE "$bad" "$dir/kernel.log"; then
		say "the kernel complained; the command's exit code was $code"
		excerpt
		[ -z "$complaints" ] || say "$complaints"
		keep_log "$machine" "$flavour"
		exit 70
	fi
	if [ -n "$complaints" ]; then
		say "left behind; the command's exit code was $code"
		printf '%s\n' "$complaints" | sed 's/^/  | /' >&2
		keep_log "$machine" "$flavour"
		exit 70
	fi
	if [ "$code" -ne 0 ] || [ -n "$log" ]; then
		keep_log "$machine" "$flavour"
	fi
	exit "$code"
}
