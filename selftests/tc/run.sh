#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Netlink input of the qdisc: what tc can say (bfc.json, bfc-port.json of the
# port-level modes and bfc-stamp.json of programs, in the format of the kernel's
# tdc), and what it cannot (raw_netlink.py).

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)
export TC_LIB_DIR=${TC_LIB_DIR:-$here/../../build/tc}

modprobe sch_bfc || { echo "Bail out! sch_bfc does not load"; exit 1; }
rc=0
echo "# tdc"
python3 "$here/tdc_run.py" "$here/bfc.json" "$here/bfc-port.json" \
	"$here/bfc-stamp.json" || rc=1
echo "# raw netlink"
python3 "$here/raw_netlink.py" || rc=1
exit $rc
