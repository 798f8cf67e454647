#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# A port appears: udev's rule (bpf/systemd/bfc.rules) asks systemd for a unit, and the unit
# (bfc@.service) calls bfcctl apply, with the name that the port has. Here their command lines
# are run without either: udev's part and systemd's are those of their manuals (the properties of
# the device in the environment, $$ and \" in rules; %i, %I and ":" in units).
# selftests/distro boots the real ones.

# shellcheck source=selftests/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"

PATH=$top/build/bpf:$PATH
rules=$top/bpf/systemd/bfc.rules
unit_file=$top/bpf/systemd/bfc@.service

# Legal are all bytes but blanks, "/" and ":"; "%" only as %d, for a number. None of them may
# reach a shell, or end a word.
# shellcheck disable=SC1003,SC2016,SC2054
legal=(swp1 swp+1 swp-1 e0.100 a@b a,b a=b a_b '#1' '-x' '--' '~' '*' '?' '[a]' '{a,b}' '!x' '^x' 'a&b'
	'a;b' 'a|b' 'a<b' 'a>b' '(a)' "a'b" 'a"b' 'a\b' 'a\x2db' 'a\' '$HOME' '${HOME}' '$$' '$(id)'
	'`id`' $'a\e[31m' $'a\xc3\xa4' $'a\xffb' abcdefghijklmno
	--replace --dry-run --file --json -n help version)

# What the rule runs, as words: udev takes quotes for the shell's, and has no other characters
# of it outside of them.
rule_words() {
	local value
	value=$(sed -n 's/^RUN+="\(.*\)"$/\1/p' "$rules")
	value=${value//'\"'/'"'}
	value=${value//'$$'/'$'}
	[[ $value =~ ^[a-z/\ -]+\'[^\']+\'$ ]] || fail "more than quotes: $value"
	eval "rule=($value)"
}

fake_systemctl() {
	mkdir -p "$scratch/fake"
	cat >"$scratch/fake/systemctl" <<-'END'
		#!/bin/sh
		printf '%s\n' "$@" >"$ASKED"
	END
	chmod +x "$scratch/fake/systemctl"
}

# expand LINE INSTANCE NAME: as systemd does it
expand() {
	local line=${1//%i/"$2"}
	printf '%s' "${line//%I/"$3"}"
}

test_names_of_any_kind() {
	local name instance line exec conditions paths=()
	local -a rule words asked
	command -v systemd-escape >/dev/null || { skip="no systemd-escape here"; return; }
	fake_systemctl
	rule_words
	new_ns x
	exec=$(sed -n 's/^ExecStart=//p' "$unit_file")
	mapfile -t conditions < <(sed -n 's/^ConditionPathExists=\([^|]\)/\1/p' "$unit_file")
	# Else ${HOME} would be what systemd's environment says.
	equal "before the program" "${exec%%/*}" ":"
	printf '[port *]\n\tlimit 1mb\n' >"$scratch/bfc.conf"
	for name in "${legal[@]}"; do
		check "$name: no such device" ip -n x link add name "$name" type dummy
	done
	for name in "${legal[@]}"; do
		check "$name: the rule" env -i PATH="$scratch/fake:/usr/bin:/bin" LC_ALL=C ACTION=add \
			SUBSYSTEM=net INTERFACE="$name" ASKED="$scratch/asked" "${rule[@]}"
		mapfile -t asked <"$scratch/asked"
		rm "$scratch/asked"
		equal "$name: words" "${asked[*]:0:3}, ${#asked[@]}" "--no-block start --, 4"
		line=${asked[3]}
		[[ $line =~ ^bfc@([A-Za-z0-9:_.]|\\x[0-9a-f]{2})+\.service$ ]] ||
			fail "$name: $line is no unit"
		instance=${line#bfc@} instance=${instance%.service}
		equal "$name: the unit's" "$(systemd-escape --unescape --instance -- "$line")" "$name"
		for line in "${conditions[@]}"; do
			paths+=("$(expand "$line" "$instance" "$name")")
		done
		words=()
		for line in ${exec#:}; do
			words+=("$(expand "$line" "$instance" "$name")")
		done
		equal "$name: program" "${words[*]:0:2}" "/usr/sbin/bfcctl apply"
		check "$name: apply" bfcctl -n x apply --file "$scratch/bfc.conf" "${words[@]:2}" \
			>"$scratch/out" 2>/dev/null
		mapfile -t asked <"$scratch/out"
		[[ ${#asked[@]} = 1 && ${asked[0]} == *": added bfc limit 1Mb" ]] ||
			fail "$name: ${asked[*]}"
	done
	# One each: so each has it.
	equal "ports" "$(tc -n x qdisc show | LC_ALL=C grep -ac '^qdisc bfc .* limit 1Mb')" "${#legal[@]}"
	at_least "conditions" "${#paths[@]}" "${#legal[@]}"
	# shellcheck disable=SC2016
	equal "paths that are not there" "$(ip netns exec x bash -c 'for path; do
		[ -e "$path" ] || echo "$path"
	done' bash "${paths[@]}")" ""
}

# before_udev ARGUMENTS: apply in the network namespace that udev looks after, of the usual file
before_udev() { bfcctl apply "$@" >"$scratch/out" 2>"$scratch/err"; }
waits() { grep -c "^bfcctl: /etc/bfc.conf:1: $1: udev has yet to name it" "$scratch/err"; }

# The names of before udev are not taken for those of ports.
test_name_of_before_udev() {
	local dev
	if [ -e /run/udev ] || [ -e /etc/bfc.conf ]; then
		skip="not a machine of its own"
		return
	fi
	for dev in d0 d1; do
		ip link add "$dev" type dummy
	done
	printf '[port d?]\nelide d0,d1\n' >/etc/bfc.conf
	mkdir -p /run/udev/data
	touch /run/udev/control
	echo "I:12345678" >"/run/udev/data/n$(</sys/class/net/d0/ifindex)"
	# As it is while udev works on it
	echo "E:ID_RENAMING=1" >"/run/udev/data/n$(</sys/class/net/d1/ifindex)"
	check "apply fails" before_udev
	equal "output" "$(cat "$scratch/out")" "d0: added bfc elide d0"
	equal "notes about d1, d0, lo" "$(waits d1) $(waits d0) $(waits lo)" "1 0 0"
	equal "d1 with bfc" "$(tc qdisc show dev d1 | grep -c bfc)" 0
	check "apply d0 fails" before_udev d0
	equal "output" "$(cat "$scratch/out")" "d0: nothing to do"
	# What is asked for is done, and what only this call knows of.
	check "apply d1 fails" before_udev d1
	equal "output" "$(cat "$scratch/out")" "d0: nothing to do
d1: added bfc elide d0"
	tc qdisc del dev d1 root
	check "apply --file fails" before_udev --file /etc/bfc.conf
	equal "output" "$(cat "$scratch/out")" "d0: changed elide d0 -> d0,d1
d1: added bfc elide d0,d1"
	# udev looks after no other network namespace.
	new_ns x
	ip -n x link add d9 type dummy
	check "apply in x fails" bfcctl -n x apply >"$scratch/out" 2>"$scratch/err"
	equal "output" "$(cat "$scratch/out")" "d9: added bfc"
	# Now it has its name.
	echo "I:12345679" >>"/run/udev/data/n$(</sys/class/net/d1/ifindex)"
	check "apply fails" before_udev
	equal "output" "$(cat "$scratch/out")" "d0: nothing to do
d1: nothing to do"
	rm -r /run/udev /etc/bfc.conf
	ip link del d0
	ip link del d1
}

test_rule_is_sound() {
	udevadm verify --help >/dev/null 2>&1 || { skip="no udevadm verify here"; return; }
	check "udevadm verify" udevadm verify "$rules"
}

run_tests names_of_any_kind name_of_before_udev rule_is_sound
