#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Makes devices that Debian's "ip" cannot make: for devices.sh, without the programs for them.

  odddev.py ovs NAME PORT...    an Open vSwitch datapath with these ports: what comes in through
                                one leaves through all others. NAME is its device.
  odddev.py team NAME           gives a team without ports the mode roundrobin
  odddev.py ppp COMMAND...      while the command runs, there is ppp0
"""

import fcntl
import os
import socket
import struct
import subprocess
import sys
from pathlib import Path
from typing import Dict, List

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tc"))
sys.dont_write_bytecode = True

from bfc_uapi import attr, attrs, nest, u32  # noqa: E402

NETLINK_GENERIC = 16
NLM_F_REQUEST, NLM_F_ACK = 0x1, 0x4
NLMSG_ERROR = 2
GENL_ID_CTRL, CTRL_CMD_GETFAMILY, CTRL_ATTR_FAMILY_ID, CTRL_ATTR_FAMILY_NAME = 16, 3, 1, 2
# linux/openvswitch.h
OVS_NEW = 1                     # OVS_DP_CMD_NEW, OVS_VPORT_CMD_NEW, OVS_FLOW_CMD_NEW
OVS_DP_ATTR_NAME, OVS_DP_ATTR_UPCALL_PID = 1, 2
OVS_VPORT_ATTR_PORT_NO, OVS_VPORT_ATTR_TYPE, OVS_VPORT_ATTR_NAME = 1, 2, 3
OVS_VPORT_ATTR_UPCALL_PID, OVS_VPORT_TYPE_NETDEV = 5, 1
OVS_FLOW_ATTR_KEY, OVS_FLOW_ATTR_ACTIONS, OVS_FLOW_ATTR_MASK = 1, 2, 7
OVS_KEY_ATTR_IN_PORT, OVS_KEY_ATTR_ETHERNET, OVS_ACTION_ATTR_OUTPUT = 3, 4, 1
# linux/if_team.h; the type is a kernel's NLA_STRING
TEAM_CMD_OPTIONS_SET, TEAM_ATTR_TEAM_IFINDEX, TEAM_ATTR_LIST_OPTION = 1, 1, 2
TEAM_ATTR_ITEM_OPTION, TEAM_ATTR_OPTION_NAME = 1, 1
TEAM_ATTR_OPTION_TYPE, TEAM_ATTR_OPTION_DATA, NLA_STRING = 3, 4, 5
PPPIOCNEWUNIT = 0xc004743e


def number(kind: int, value: int) -> bytes:
    """An attribute that is a number."""
    return attr(kind, u32(value))


def text(kind: int, value: str) -> bytes:
    """An attribute that is a string."""
    return attr(kind, value.encode() + b"\0")


class Generic:
    """A NETLINK_GENERIC socket."""

    def __init__(self) -> None:
        self.socket = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, NETLINK_GENERIC)
        self.socket.bind((0, 0))
        self.families: Dict[str, int] = {}

    def request(self, family: int, command: int, payload: bytes) -> List[bytes]:
        """The answers, without netlink's header. Raises OSError."""
        head = struct.pack("=IHHII", 20 + len(payload), family, NLM_F_REQUEST | NLM_F_ACK, 1, 0)
        self.socket.send(head + struct.pack("=BBH", command, 1, 0) + payload)
        answers: List[bytes] = []
        while True:
            data = self.socket.recv(1 << 16)
            while data:
                length, kind = struct.unpack_from("=IH", data)
                if kind == NLMSG_ERROR:
                    error = -struct.unpack_from("=i", data, 16)[0]
                    if error:
                        raise OSError(error, os.strerror(error))
                    return answers
                answers.append(data[16:length])
                data = data[(length + 3) & ~3:]

    def family(self, name: str) -> int:
        """The number of a family."""
        if name not in self.families:
            answer = self.request(GENL_ID_CTRL, CTRL_CMD_GETFAMILY,
                                  text(CTRL_ATTR_FAMILY_NAME, name))[0]
            self.families[name], = struct.unpack("=H", dict(attrs(answer[4:]))[CTRL_ATTR_FAMILY_ID])
        return self.families[name]


def ovs(name: str, ports: List[str]) -> None:
    """A datapath, whose device is port 0. It has a flow for each other port."""
    netlink = Generic()

    def new(family: str, datapath: int, *more: bytes) -> None:
        netlink.request(netlink.family(family), OVS_NEW,
                        struct.pack("=i", datapath) + b"".join(more))

    new("ovs_datapath", 0, text(OVS_DP_ATTR_NAME, name), number(OVS_DP_ATTR_UPCALL_PID, 0))
    datapath = socket.if_nametoindex(name)
    numbers = range(1, len(ports) + 1)
    for n, port in zip(numbers, ports):
        new("ovs_vport", datapath, number(OVS_VPORT_ATTR_PORT_NO, n),
            number(OVS_VPORT_ATTR_TYPE, OVS_VPORT_TYPE_NETDEV), text(OVS_VPORT_ATTR_NAME, port),
            number(OVS_VPORT_ATTR_UPCALL_PID, 0))
    no_matter = attr(OVS_KEY_ATTR_ETHERNET, bytes(12))
    for n in numbers:
        new("ovs_flow", datapath,
            nest(OVS_FLOW_ATTR_KEY, number(OVS_KEY_ATTR_IN_PORT, n) + no_matter),
            nest(OVS_FLOW_ATTR_MASK, number(OVS_KEY_ATTR_IN_PORT, 0xffffffff) + no_matter),
            nest(OVS_FLOW_ATTR_ACTIONS, b"".join(number(OVS_ACTION_ATTR_OUTPUT, other)
                                                 for other in numbers if other != n)))


def team(name: str) -> None:
    """Without a mode a team sends nothing. Once the mode is set the kernel tells listeners, and
    returns ESRCH if there are none."""
    netlink = Generic()
    option = nest(TEAM_ATTR_ITEM_OPTION, text(TEAM_ATTR_OPTION_NAME, "mode") +
                  attr(TEAM_ATTR_OPTION_TYPE, bytes([NLA_STRING])) +
                  text(TEAM_ATTR_OPTION_DATA, "roundrobin"))
    try:
        netlink.request(netlink.family("team"), TEAM_CMD_OPTIONS_SET,
                        number(TEAM_ATTR_TEAM_IFINDEX, socket.if_nametoindex(name)) +
                        nest(TEAM_ATTR_LIST_OPTION, option))
    except ProcessLookupError:
        pass


def ppp(command: List[str]) -> int:
    """The device goes with the file."""
    if not os.path.exists("/dev/ppp"):
        os.mknod("/dev/ppp", 0o20600, os.makedev(108, 0))
    with open("/dev/ppp", "rb+", buffering=0) as file:
        fcntl.ioctl(file, PPPIOCNEWUNIT, struct.pack("=i", 0))
        return subprocess.run(command, check=False).returncode


def main() -> int:
    """Returns the exit code."""
    if len(sys.argv) > 2 and sys.argv[1] == "ovs":
        ovs(sys.argv[2], sys.argv[3:])
    elif len(sys.argv) == 3 and sys.argv[1] == "team":
        team(sys.argv[2])
    elif len(sys.argv) > 2 and sys.argv[1] == "ppp":
        return ppp(sys.argv[2:])
    else:
        print(__doc__, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
