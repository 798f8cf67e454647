# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Network cards that a test plugs into its VM and pulls out while that runs, by QEMU's
# monitor (scripts/vm --monitor). Sourced.
#
#   plug_card ID MAC CABLE   a card of this address; the cards at one CABLE, a number of two digits,
#                            hear each other
#   pull_card ID             returns when the guest has let go of it
#
# Return: 1 on failure, with QEMU's last word in qmp_said.

qmp_fd='' qmp_said=''

# qmp_read PATTERN: the next line of this kind, or of an error
qmp_read() {
	while IFS= read -r -t 60 -u "$qmp_fd" qmp_said; do
		# shellcheck disable=SC2053
		[[ $qmp_said != $1 ]] || return 0
		[[ $qmp_said != '{"error"'* ]] || return 1
	done
	qmp_said="no $1"
	return 1
}

# qmp COMMAND ARGUMENTS: the latter a JSON object
qmp() {
	echo "{\"execute\": \"$1\", \"arguments\": $2}" >&"$qmp_fd"
	qmp_read '{"return"*'
}

# The port has no name below /dev before udev has come by.
qmp_open() {
	local name
	name=$(grep -lx monitor /sys/class/virtio-ports/*/name) || return 1
	name=${name%/name}
	exec {qmp_fd}<>"/dev/${name##*/}" || return 1
	# Another script of this VM may have asked before.
	qmp qmp_capabilities '{}' || [[ $qmp_said == *CommandNotFound* ]]
}

plug_card() {
	[ -n "$qmp_fd" ] || qmp_open || return 1
	qmp netdev_add "{\"type\": \"hubport\", \"id\": \"$1-end\", \"hubid\": $((10#$3))}" &&
		qmp device_add "{\"driver\": \"virtio-net-pci\", \"id\": \"$1\", \"mac\": \"$2\",
			\"netdev\": \"$1-end\", \"romfile\": \"\"}"
}

pull_card() {
	qmp device_del "{\"id\": \"$1\"}" &&
		qmp_read "*\"DEVICE_DELETED\"*\"device\": \"$1\"*" &&
		qmp netdev_del "{\"id\": \"$1-end\"}"
}
