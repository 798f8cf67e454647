# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Two VMs with cables between them, and a shell of the one in the other: sourced by what
# runs them on the host (run_two), and by the tests in the first one (b).

# Functions are called by name; top and b_address are the caller's.
# shellcheck disable=SC2154,SC2317

# run_two MAIN PEER: arrays of scripts/vm's arguments. The first one's command tells the
# other one's to end. Exit code: the first one's, or the other's if that was 0.
run_two() {
	local -n main_of=$1 peer_of=$2
	local i rc peer_rc
	peer='' main=''
	trap end_two EXIT
	trap 'exit 143' HUP INT TERM
	"$top/scripts/vm" "${peer_of[@]}" >&2 &
	peer=$!
	"$top/scripts/vm" "${main_of[@]}" &
	main=$!
	wait "$main"
	rc=$?
	main=''
	for ((i = 0; i < 300; i++)); do
		kill -0 "$peer" 2>/dev/null || break
		sleep 0.1
	done
	if kill -0 "$peer" 2>/dev/null; then
		echo "# the other VM does not end"
		end_two
		return $((rc ? rc : 1))
	fi
	wait "$peer"
	peer_rc=$?
	peer=''
	[ "$peer_rc" -eq 0 ] || echo "# the other VM: exit code $peer_rc"
	return $((rc ? rc : peer_rc))
}

end_two() {
	local pid
	for pid in $main $peer; do
		kill "$pid" 2>/dev/null
	done
	wait
	main='' peer=''
}

# take_commands: in the other VM, until there is /tmp/end: commands for a shell, one script
# each TCP connection
take_commands() {
	busybox nc -ll -p 7000 -e /bin/bash &
	until [ -e /tmp/end ]; do
		sleep 0.2
	done
	kill $!
}

# b COMMAND...: of a shell in the other VM, at $b_address, which has sourced $b_has
b_has=/dev/null
b() {
	local answer
	answer=$(printf '. %q\n%s\necho "rc $?"\n' "$b_has" "$*" |
		timeout 100 busybox nc -w 5 "$b_address" 7000)
	sed '$d' <<<"$answer"
	[ "${answer##*$'\n'}" = "rc 0" ]
}
