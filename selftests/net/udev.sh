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

test_rule_is_sound() {
	udevadm verify --help >/dev/null 2>&1 || { skip="no udevadm verify here"; return; }
	check "udevadm verify" udevadm verify "$rules"
}

run_tests names_of_any_kind rule_is_sound
