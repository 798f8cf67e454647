#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# What the pages tell their readers to type works: README's "Use it on your box" as a whole, each
# tc command of all pages, and each bfc.conf. What an option does is for other tests.
#
#   sw swp1 ---- eth0 h		sw swp2 to swp4: dummies

# shellcheck source=selftests/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"

PATH=$top/build/bpf:$PATH
cd "$top" || exit 1
pages=(README.md docs/*.md tc_bfc/*.8 bpf/*.[58])
group=/sys/fs/cgroup

# tc commands that cannot run here, and why
declare -A cannot=(
	["stamp pinned /sys/fs/bpf/bfc/prog"]="the program is the reader's"
	["bfc queues …"]="so is the number"
)

# each WHAT COMMAND FILE...: COMMAND FILE:LINE TEXT for each piece that doccmds.py finds. $pieces
# counts them.
each() {
	local what=$1 command=$2 piece
	shift 2
	selftests/tools/doccmds.py "$what" "$@" >"$scratch/pieces" || fail "doccmds.py"
	pieces=0
	while IFS= read -rd '' piece; do
		"$command" "${piece%%$'\n'*}" "${piece#*$'\n'}"
		((++pieces))
	done <"$scratch/pieces"
}

# with_sockops TEXT: the simulator's kernel has no struct_ops, so HPCC needs another front end
with_sockops() {
	if simulated && [[ $1 == *"hpcc on "* ]]; then
		echo "${1/rtt 50us/rtt 50us sockops}"
	else
		echo "$1"
	fi
}

undo_host() {
	ctl hpcc off --cgroup "$group"
	ctl int detach --cgroup "$group"
}

# statement WHERE TEXT: of README; where its text says, or its device
statement() {
	local text in=(in_ns sw)
	case $2 in
	apt-get* | make*) return ;;	# packages: selftests/distro
	*eth0*) in=(in_ns h) ;;
	bfcctl\ top* | bfcctl\ monitor*) ends_by_itself "$@"; return ;;
	bfcctl*) in=() ;;		# "ip netns exec" hides the bpffs
	esac
	text=$(with_sockops "${2/bfcctl stamp/bfcctl -n sw stamp}")
	"${in[@]}" bash -euc "$text" >"$scratch/out" 2>"$scratch/err" ||
		fail "$1: $(tail -n 1 "$scratch/err")"
	[ ! -s "$scratch/err" ] || fail "$1 says: $(tail -n 1 "$scratch/err")"
	ran=$((ran + 1))
	# "after a second or two"
	[[ $2 != *eth0*" bfc role nic"* ]] || check "$1: not up" wait_for 10 peer_up sw swp1
}

# ends_by_itself WHERE COMMAND: one that does not
ends_by_itself() {
	local command=${2%%#*}
	[[ $command != "bfcctl top"* ]] || command+=--once
	in_ns sw timeout -s INT 2 bash -c "exec $command" >"$scratch/out" 2>"$scratch/err"
	[ ! -s "$scratch/err" ] || fail "$1: $(tail -n 1 "$scratch/err")"
	ran=$((ran + 1))
}

test_readme() {
	local ran=0 i
	new_ns sw
	new_ns h
	cable sw swp1 h eth0 rate 100mbit delay 100us ring 8
	for i in 2 3 4; do
		ip -n sw link add "swp$i" type wire rate 100mbit peer name "peer$i"
		ip -n sw link set "peer$i" up
	done
	! simulated || modprobe bfc_simcc
	each blocks statement README.md
	at_least "statements" "$ran" 10
	equal "mode of swp4" "$(stat sw swp4 options.fc)" pfc
	equal "mode of eth0" "$(stat h eth0 options.fc) $(stat h eth0 options.role)" "pfc nic"
	equal "ports of br0" "$(ip -n sw -o link show master br0 | wc -l)" 4
	equal "rtt of HPCC" "$(bfcctl -j hpcc show | jq '.[0].rtt_ns')" 50000
	ctl -n sw stamp detach swp1
	undo_host
	! simulated || modprobe -r bfc_simcc
}

# mentioned WHERE COMMAND: a port that is there before, as the page assumes, and not afterwards
mentioned() {
	local command=$2 dev reason
	[[ $command == *" dev "* ]] || return	# "tc qdisc replace" is a word for it
	for reason in "${!cannot[@]}"; do
		[[ $command != *"$reason"* ]] || { unset "left[$reason]"; return; }
	done
	command=$(sed 's/ …//; s/\$\(p\|port\|d\)\>/swp1/' <<<"$command")
	dev=${command#* dev }
	dev=${dev%% *}
	case $command in
	*" change "* | *"qdisc del "*) tc -n x qdisc replace dev "$dev" root bfc rate 1gbit ;;
	*" filter "*) tc -n x qdisc add dev "$dev" ingress 2>/dev/null ;;
	esac
	# shellcheck disable=SC2086
	tc -n x ${command#tc } >"$scratch/out" 2>"$scratch/err" ||
		fail "$1: $command: $(head -n 1 "$scratch/err")"
	! grep -v 'link speed unknown' "$scratch/err" | grep -q . ||
		fail "$1: $command says: $(head -n 1 "$scratch/err")"
	tc -n x qdisc del dev "$dev" root 2>/dev/null
	ran=$((ran + 1))
}

# names_of_devices: of all tc commands, and those of their lists
names_of_devices() {
	selftests/tools/doccmds.py tc "${pages[@]}" | tr '\0' '\n' |
		grep -oE ' (dev|elide) [a-zA-Z0-9,]+' | awk '{ print $2 }' | tr ',' '\n' |
		grep -v none | sort -u
}

test_tc_commands() {
	local ran=0 name
	local -A left=()
	for name in "${!cannot[@]}"; do
		left[$name]=1
	done
	new_ns x
	{ names_of_devices; echo swp1; } | sort -u |
		sed 's/.*/link add & type dummy\nlink set & up/' | ip -n x -batch -
	each tc mentioned "${pages[@]}"
	at_least "commands" "$ran" 45
	equal "exceptions that no page has" "${!left[*]}" ""
	say "$ran commands"
}

# conf WHERE TEXT
conf() {
	with_sockops "$2" >"$scratch/conf"
	bfcctl -n x apply --replace --file "$scratch/conf" >"$scratch/out" 2>"$scratch/err" ||
		fail "$1: $(cat "$scratch/err" "$scratch/out" | tail -n 1)"
	bfcctl -n x apply --file "$scratch/conf" >"$scratch/out" 2>&1
	! grep -v ': nothing to do$' "$scratch/out" | grep -q . ||
		fail "$1: again: $(grep -v ': nothing to do$' "$scratch/out" | head -n 1)"
}

test_bfc_conf() {
	local pieces
	new_ns x
	printf 'link add %s type dummy\n' swp{1..8} eth{0,1} | ip -n x -batch -
	! simulated || modprobe bfc_simcc
	each conf conf "${pages[@]}"
	at_least "files" "$pieces" 4
	undo_host
	: >"$scratch/conf"
	bfcctl -n x apply --file "$scratch/conf" >"$scratch/out" 2>&1
	! simulated || modprobe -r bfc_simcc
}

run_tests readme tc_commands bfc_conf
