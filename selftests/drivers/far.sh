#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The other box: the switch sw2 and what is behind it, as boxes.sh draws them. It does what
# that wants.

# shellcheck source=selftests/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"
# shellcheck source=selftests/drivers/card.sh
. "$top/selftests/drivers/card.sh"
# shellcheck source=selftests/two_vms.sh
. "$top/selftests/two_vms.sh"

tc_stays=	# boxes.sh asks
modprobe -a sch_bfc test_wire "$DRIVER" || exit
quiet_namespaces
ip -batch - <<-'END'
	addr add 10.9.0.2/24 dev eth0
	link set eth0 up
END
switch sw2
host r 10.0.0.100/24
cable sw2 r0 r e0 rate 10mbit delay 100us ring 8
becomes_port c0:03 sw2 x
[ -z "$why" ] || { echo "$why" >&2; exit 1; }
take_commands
clean_up
