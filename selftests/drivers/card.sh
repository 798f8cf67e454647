# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Network cards of a VM by their addresses, which scripts/vm gives: sourced behind lib.sh.

: "${DRIVER:=virtio_net}"

# card END: the name of the card whose address ends so (a pattern); those of a namespace
# that ended come back to the first one
card() {
	grep -l "^52:54:00:bf:$1$" /sys/class/net/*/address 2>/dev/null | cut -d / -f 5
}
has_card() { [ -n "$(card "$1")" ]; }

# becomes_port END NS PORT: the card is a port there
becomes_port() {
	check "no card $1" wait_for 10 has_card "$1"
	ip link set "$(card "$1")" netns "$2" name "$3" || fail "card $1: no port of $2"
	# It takes S-tags off, too, and says that they were C-tags.
	[ "$DRIVER" != vmxnet3 ] || in_ns "$2" ethtool -K "$3" rxvlan off
	plug "$2" "$3"
}
