#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# RDMA over switches that stamp, on two machines: soft-RoCE lives in the first network
# namespace only, so each end needs a VM of its own. To be run on the host.
#
#   selftests/roce/run.sh [TEST...]
#
# roce.sh is one end, the switches and the tests; peer.sh is the other end.
#
# Exit code: 0, 1 a test failed, 4 cannot run here, or what scripts/vm says.

# Functions are called by name.
# shellcheck disable=SC2317

set -u

top=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd -P)
vm=("$top/scripts/vm" --cpus 1 --mem 1024 --timeout 1500)

peer='' main=''
dir=$(mktemp -d)
finish() {
	local pid
	for pid in $main $peer; do
		kill "$pid" 2>/dev/null
	done
	wait
	rm -rf "$dir"
}
trap finish EXIT
trap 'exit 143' HUP INT TERM

"${vm[@]}" --link "connect:$dir/link" -- selftests/roce/peer.sh >&2 &
peer=$!
"${vm[@]}" --link "listen:$dir/link" -- selftests/roce/roce.sh "$@" &
main=$!
wait "$main"
rc=$?
main=''

# The tests have told it to end.
for ((i = 0; i < 300; i++)); do
	kill -0 "$peer" 2>/dev/null || break
	sleep 0.1
done
if kill -0 "$peer" 2>/dev/null; then
	echo "# the other VM does not end"
	exit $((rc ? rc : 1))
fi
wait "$peer"
peer_rc=$?
peer=''
[ "$peer_rc" -eq 0 ] || echo "# the other VM: exit code $peer_rc"
exit $((rc ? rc : peer_rc))
