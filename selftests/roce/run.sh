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

set -u

top=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd -P)
# shellcheck source=selftests/two_vms.sh
. "$top/selftests/two_vms.sh"

dir=$(mktemp -d)
vm=(--cpus 1 --mem 1024 --timeout 1500)
# shellcheck disable=SC2034	# for run_two
switches=("${vm[@]}" --link "listen:$dir/link" -- selftests/roce/roce.sh "$@")
# shellcheck disable=SC2034
other=("${vm[@]}" --link "connect:$dir/link" -- selftests/roce/peer.sh)
run_two switches other
rc=$?
rm -rf "$dir"
exit "$rc"
