#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Sends the bfc qdisc what tc would never send.

Attributes of a wrong length, unknown words and attributes, broken nests, values
at the ends of the types, random bytes: each is to be refused with a text that
says why, must not leave half a qdisc behind, and must not change one that is
there. Runs as root where the module can be loaded; prints KTAP, and for each
case the kernel's answer. Exit code 4: the qdisc is not available here.

  raw_netlink.py [--fuzz REQUESTS] [--seed N]
"""

import argparse
import ctypes
import errno
import os
import random
import re
import socket
import struct
import subprocess
import sys
from pathlib import Path
from typing import Dict, List, NamedTuple, Optional, Tuple

from bfc_spec import OPTIONS
from bfc_uapi import (N, NLA_F_NESTED, RTM_NEWQDISC, TCA_KIND, TCA_OPTIONS, TCA_RATE, TCA_STAB,
                      TCA_STATS2, TCA_STATS_APP, Ktap, attr, attrs, nest, of_classes, tc_message,
                      u8, u16, u32, u64)

CLONE_NEWNET = 0x40000000
RTM_DELQDISC = 37
RTM_GETQDISC = 38
NLM_F_REQUEST, NLM_F_ACK, NLM_F_DUMP = 0x1, 0x4, 0x300
NLM_F_REPLACE, NLM_F_EXCL, NLM_F_CREATE = 0x100, 0x200, 0x400
NLM_F_CAPPED, NLM_F_ACK_TLVS = 0x100, 0x200
NLMSG_ERROR, NLMSG_DONE = 2, 3
NLMSGERR_ATTR_MSG = 1
SOL_NETLINK, NETLINK_CAP_ACK, NETLINK_EXT_ACK = 270, 10, 11
SKIP = 4
DEVICE = "dummy1"


class Answer(NamedTuple):
    error: int          # 0 or errno
    text: str           # extack

    def __str__(self) -> str:
        name = errno.errorcode.get(self.error, str(self.error)) if self.error else "success"
        return f"{name}: {self.text}" if self.text else name


class Route:
    """A NETLINK_ROUTE socket."""

    def __init__(self) -> None:
        self.socket = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0)
        self.socket.bind((0, 0))
        self.socket.settimeout(10)
        self.socket.setsockopt(SOL_NETLINK, NETLINK_EXT_ACK, 1)
        self.socket.setsockopt(SOL_NETLINK, NETLINK_CAP_ACK, 1)
        self.sequence = 0

    def messages(self) -> List[Tuple[int, int, bytes]]:
        """One datagram: type, flags and payload of its messages."""
        data = self.socket.recv(1 << 20)
        found = []
        while len(data) >= 16:
            length, kind, flags, _, _ = struct.unpack_from("=IHHII", data)
            found.append((kind, flags, data[16:length]))
            data = data[(length + 3) & ~3:]
        return found

    def request(self, message: bytes) -> Answer:
        self.sequence += 1
        message = message[:8] + struct.pack("=I", self.sequence) + message[12:]
        self.socket.send(message)
        while True:
            for kind, flags, payload in self.messages():
                if kind != NLMSG_ERROR:
                    continue
                error, = struct.unpack_from("=i", payload)
                text = ""
                if flags & NLM_F_ACK_TLVS:
                    # CAP_ACK: of the request only the header comes back.
                    for number, value in attrs(payload[4 + 16:]):
                        if number == NLMSGERR_ATTR_MSG:
                            text = value.rstrip(b"\0").decode()
                return Answer(-error, text)

    def options(self, ifindex: int) -> Optional[bytes]:
        """TCA_OPTIONS of the bfc on this device, None if there is none."""
        top = self.qdisc(ifindex)
        return None if top is None else top.get(TCA_OPTIONS, b"")

    def stats(self, ifindex: int) -> Dict[int, bytes]:
        """TCA_BFC_STATS_* of the bfc on this device."""
        top = self.qdisc(ifindex) or {}
        return dict(attrs(dict(attrs(top.get(TCA_STATS2, b""))).get(TCA_STATS_APP, b"")))

    def qdisc(self, ifindex: int) -> Optional[Dict[int, bytes]]:
        """What the kernel tells of the bfc on this device, None if there is none."""
        self.sequence += 1
        self.socket.send(tc_message(RTM_GETQDISC, [], ifindex, handle=0, parent=0,
                                    flags=NLM_F_REQUEST | NLM_F_DUMP, seq=self.sequence))
        found: Optional[Dict[int, bytes]] = None
        while True:
            for kind, _, payload in self.messages():
                if kind == NLMSG_DONE:
                    return found
                if kind != RTM_NEWQDISC or struct.unpack_from("=i", payload, 4)[0] != ifindex:
                    continue
                top = dict(attrs(payload[20:]))
                if top[TCA_KIND] == b"bfc\0":
                    found = top


class Case(NamedTuple):
    name: str
    top: bytes                  # what follows TCA_KIND
    expect: str = ""            # regular expression for the text; "" = must succeed


def options(*inner: bytes) -> bytes:
    return nest(TCA_OPTIONS, b"".join(inner))


def bfc(name: str, payload: bytes, flags: int = 0) -> bytes:
    return attr(N["TCA_BFC_" + name] | flags, payload)


ANY = "."               # any text, but there has to be one
ANY_OR_NONE = "^"

# Attributes of a fixed length that are no numbers with a range, and their length.
LENGTHS = {"TPID": 2, "PRIO_MAP": N["BFC_PRIO_VALUES"], "STAMP_FD": 4}
MAX64 = (1 << 64) - 1


def out_of_range() -> List[Case]:
    """Each option's nearest values outside of its range, and the type's largest."""
    out = []
    for o in OPTIONS:
        largest = (1 << 8 * o.width) - 1
        values = {o.low - 1, o.high + 1, largest}
        for value in sorted(values):
            if (value < 0 or value > largest or o.low <= value <= o.high or value == o.also
                    or (o.or_zero and value == 0)):
                continue
            out.append(Case(f"{o.keyword} {value}",
                            options(attr(o.attr, value.to_bytes(o.width, sys.byteorder))),
                            f"^{re.escape(o.message)}$"))
    return out


def cases() -> List[Case]:
    ifindex = N["TCA_BFC_ELIDE_IFINDEX"]
    out = [
        Case("no options", b""),
        Case("empty options", options()),
    ]
    out += out_of_range()
    lengths = [(o.keyword, o.attr, o.width) for o in OPTIONS]
    lengths += [(name, N["TCA_BFC_" + name], width) for name, width in LENGTHS.items()]
    for name, number, width in lengths:
        for length in sorted({0, width - 1, width + 1, width * 2, 64} - {width}):
            out.append(Case(f"{name} of {length} bytes, not {width}",
                            options(attr(number, bytes(length))), ANY))
    out += [
        Case("TPID 0", options(bfc("TPID", u16(0))), "^bfc: tpid: 88a8 or 8100$"),
        Case("TPID in network order", options(bfc("TPID", struct.pack(">H", 0x88A8))),
             "^bfc: tpid: 88a8 or 8100$"),
        Case("HRTT 2^32 + 100us", options(bfc("HRTT", u64((1 << 32) + 100000))),
             "^bfc: hrtt: 100 ns to 1 s, or auto$"),
        Case("STICKY 2^64-1 is auto", options(bfc("STICKY", u64(MAX64)))),
        Case("STICKY 2^64-2", options(bfc("STICKY", u64(MAX64 - 1))), "^bfc: sticky: at most 10 s, or auto$"),
        Case("STICKY 2^63", options(bfc("STICKY", u64(1 << 63))), "^bfc: sticky: at most 10 s, or auto$"),
        Case("HOLD 2^32 + 50ms", options(bfc("HOLD", u64((1 << 32) + 50_000_000))), "^bfc: hold: "),
        Case("THRESHOLD 2^31", options(bfc("THRESHOLD", u32(1 << 31))), "^bfc: threshold: "),
        Case("QUANTUM 2^31", options(bfc("QUANTUM", u32(1 << 31))), "^bfc: quantum: "),
        Case("INCAST 63 is a DSCP", options(bfc("INCAST", u64(63)))),
        Case("INCAST 64", options(bfc("INCAST", u64(64))), "^bfc: incast: "),
        Case("INCAST with a mark of 0", options(bfc("INCAST", u64(0xFF << 32))), "^bfc: incast: "),
        Case("INCAST beyond its mask", options(bfc("INCAST", u64(0xF0 << 32 | 0x1F))),
             "^bfc: incast: "),
        Case("INCAST 2^64-1", options(bfc("INCAST", u64(MAX64)))),
        # port-level modes
        Case("T_HOP 2^32 + 100us", options(bfc("T_HOP", u64((1 << 32) + 100_000))), "^bfc: thop: "),
        Case("WATCHDOG 2^64-1 is auto", options(bfc("WATCHDOG", u64(MAX64)))),
        Case("WATCHDOG 2^64-2", options(bfc("WATCHDOG", u64(MAX64 - 1))), "^bfc: watchdog: "),
        Case("XOFF without its mode", options(bfc("XOFF", u32(70_000))),
             "^bfc: xoff: used by fc pfc, capfc-max, capfc-cal and fafc only$"),
        Case("XOFF, its default, without its mode", options(bfc("XOFF", u32(0)))),
        Case("KMAX of another mode", options(bfc("KMAX", u32(70_000))),
             "^bfc: kmax: used by fc pfc, capfc-max and capfc-cal with ecn only$"),
        Case("KMAX without ECN", options(bfc("FC", u8(N["BFC_FC_PFC"])), bfc("KMAX", u32(70_000))),
             "^bfc: kmax: used by fc pfc, capfc-max and capfc-cal with ecn only$"),
        Case("PMAX without KMAX", options(bfc("FC", u8(N["BFC_FC_PFC"])), bfc("ECN", u32(1)),
                                          bfc("PMAX", u32(1))),
             "^bfc: pmax: used by fc pfc, capfc-max and capfc-cal with kmax only$"),
        Case("KMAX that is ECN", options(bfc("FC", u8(N["BFC_FC_PFC"])), bfc("ECN", u32(70_000)),
                                         bfc("KMAX", u32(70_000))),
             "^bfc: kmax must be above ecn, or off$"),
        Case("KMAX and PMAX at their ends",
             options(bfc("FC", u8(N["BFC_FC_PFC"])), bfc("ECN", u32(1)),
                     bfc("KMAX", u32(1 << 30)), bfc("PMAX", u32(1)))),
        Case("TPID without its mode", options(bfc("FC", u8(N["BFC_FC_PFC"])), bfc("TPID", u16(0x8100))),
             "^bfc: tpid: used by fc bfc only$"),
        Case("RESERVE without a buffer", options(bfc("RESERVE", u32(1000))),
             "^bfc: reserve: used with a buffer only$"),
        *(Case(f"{name} without a mode that uses it", options(bfc("FC", u8(N["BFC_FC_NONE"])), bfc(name, value)),
               f"^bfc: {keyword}: not used by fc none(, nor beside a fixed hrtt)?$")
          for name, keyword, value in (("PEER", "peer", u8(N["BFC_PEER_ON"])),
                                       ("PEER", "peer", u8(N["BFC_PEER_OFF"])),
                                       ("HRTT_MAX", "hrtt-max", u64(1_000_000)))),
        Case("PEER on, where no neighbour is asked",
             options(bfc("FC", u8(N["BFC_FC_PFC"])), bfc("PEER", u8(N["BFC_PEER_ON"]))),
             "^bfc: peer: on is used by fc bfc and fafc only$"),
        Case("PEER off, where no neighbour is asked",
             options(bfc("FC", u8(N["BFC_FC_PFC"])), bfc("PEER", u8(N["BFC_PEER_OFF"])))),
        Case("PEER, its default, with none",
             options(bfc("FC", u8(N["BFC_FC_NONE"])), bfc("PEER", u8(N["BFC_PEER_AUTO"])))),
        Case("ASSIGN root of another mode",
             options(bfc("FC", u8(N["BFC_FC_NONE"])), bfc("ASSIGN", u8(N["BFC_ASSIGN_ROOT"]))),
             "^bfc: assign: root is used by fc bfc only$"),
        Case("NEW_FIRST with srf", options(bfc("SCHED", u8(1)), bfc("NEW_FIRST", u8(0))),
             "^bfc: new-first: not used by sched srf$"),
        Case("HRTT 0 is auto", options(bfc("HRTT", u64(0)))),
        Case("HRTT_MAX with HRTT 0", options(bfc("HRTT", u64(0)), bfc("HRTT_MAX", u64(3_000_000)))),
        Case("HRTT_MAX beside HRTT", options(bfc("HRTT", u64(1_000_000)), bfc("HRTT_MAX", u64(3_000_000))),
             "^bfc: hrtt-max: not used by fc none, nor beside a fixed hrtt$"),
        Case("RESUME of a host", options(bfc("ROLE", u8(N["BFC_ROLE_NIC"])), bfc("RESUME", u8(N["BFC_RESUME_DRAINED"]))),
             "^bfc: resume: not used by role nic, which sends no pauses$"),
        Case("THRESHOLD of a host", options(bfc("ROLE", u8(N["BFC_ROLE_NIC"])), bfc("THRESHOLD", u32(20_000)))),
        Case("PRIO_MAP, all automatic", options(bfc("PRIO_MAP", b"\xff" * N["BFC_PRIO_VALUES"]))),
        Case("PRIO_MAP with priority 8", options(bfc("PRIO_MAP", b"\7" * 63 + b"\10")), "^bfc: map: "),
        Case("PRIO_MAP with priority 254", options(bfc("PRIO_MAP", b"\xfe" + b"\7" * 63)),
             "^bfc: map: "),
        Case("CLASSES 2^32 - 1", options(bfc("CLASSES", u32(0xFFFFFFFF))), "^bfc: classes: 1 to 8$"),
        Case("CLASSES 0", options(bfc("CLASSES", u32(0))), "^bfc: classes: 1 to 8$"),
        Case("CLASSES 1 is none", options(bfc("CLASSES", u32(1)))),
        Case("CLASSES more than queues", options(bfc("QUEUES", u32(7)), bfc("CLASSES", u32(8))),
             "^bfc: classes: at most as many as queues$"),
        Case("CLASSES of another mode", options(bfc("FC", u8(N["BFC_FC_PFC"])), bfc("CLASSES", u32(2))),
             "^bfc: classes: used by fc bfc and none only$"),
        Case("WEIGHTS, all automatic, without classes", options(bfc("WEIGHTS", bytes(16)))),
        Case("WEIGHTS without classes", options(bfc("WEIGHTS", of_classes(1))),
             "^bfc: weights: used with classes only$"),
        *(Case(f"{name} of {len(value)} bytes", options(bfc("CLASSES", u32(2)), bfc(name, value)), ANY)
          for name in ("WEIGHTS", "CLASS_QUEUES") for value in (b"", bytes(4), bytes(15), bytes(17), bytes(64))),
        *(Case(f"WEIGHTS {w}", options(bfc("CLASSES", u32(2)), bfc("WEIGHTS", of_classes(*w))),
               "^bfc: weights: 1 to 255 for each of classes; or equal$")
          for w in ([1], [1, 256], [1, 65535], [0, 1], [1, 1, 1], [1, 1, 0, 0, 0, 0, 0, 1], [0, 0, 1])),
        *(Case(f"CLASS_QUEUES {n}", options(bfc("CLASSES", u32(2)), bfc("QUEUES", u32(16)),
                                            bfc("CLASS_QUEUES", of_classes(*n))),
               "^bfc: class-queues: a number for each of classes, and queues in all; or even$")
          for n in ([16], [16, 1], [15, 2], [0, 16], [8, 4, 4], [65535, 17], [0, 0, 16])),
        Case("CLASS_QUEUES and WEIGHTS that fit",
             options(bfc("CLASSES", u32(2)), bfc("QUEUES", u32(16)), bfc("WEIGHTS", of_classes(255, 1)),
                     bfc("CLASS_QUEUES", of_classes(15, 1)))),
        Case("SCHED srf with classes", options(bfc("SCHED", u8(1)), bfc("CLASSES", u32(2))),
             "^bfc: sched: srf is not for classes$"),
        Case("SCHED srf of another mode", options(bfc("FC", u8(N["BFC_FC_PFC"])), bfc("SCHED", u8(1))),
             "^bfc: sched: used by fc bfc and none only$"),
        Case("ASSIGN similar without srf", options(bfc("ASSIGN", u8(N["BFC_ASSIGN_SIMILAR"]))),
             "^bfc: assign: similar is used by fc bfc and none with sched srf only$"),
        Case("ASSIGN similar", options(bfc("ASSIGN", u8(N["BFC_ASSIGN_SIMILAR"])), bfc("SCHED", u8(1)))),
        Case("STRICT of a class that there is not", options(bfc("CLASSES", u32(2)), bfc("STRICT", u8(4))),
             "^bfc: strict: 0 to classes - 1, or all$"),
        Case("STRICT all, of two classes", options(bfc("CLASSES", u32(2)), bfc("STRICT", u8(255)))),
        Case("BUFFER empty", options(bfc("BUFFER", b"\0"))),
        Case("BUFFER of 15 characters", options(bfc("BUFFER", b"x" * 15 + b"\0"))),
        Case("BUFFER of 16 characters", options(bfc("BUFFER", b"x" * 16 + b"\0")), ANY),
        Case("BUFFER without an end", options(bfc("BUFFER", b"x" * 15)), ANY_OR_NONE),
        Case("BUFFER without an end, too long", options(bfc("BUFFER", b"x" * 64)), ANY),
        Case("BUFFER of no bytes", options(bfc("BUFFER", b"")), ANY_OR_NONE),
        Case("STAMP pinned without a program", options(bfc("STAMP", u8(1))),
             "^bfc: stamp: pinned needs a program$"),
        Case("STAMP_FD without pinned", options(bfc("STAMP_FD", u32(0))),
             "^bfc: stamp: a program is for pinned only$"),
        Case("STAMP_FD that is not open",
             options(bfc("STAMP", u8(1)), bfc("STAMP_FD", u32(9999))),
             "^bfc: stamp: no such program$"),
        Case("STAMP_FD that is no program",
             options(bfc("STAMP", u8(1)), bfc("STAMP_FD", u32(0))),
             "^bfc: stamp: not a program of type SCHED_CLS"),
        Case("STAMP_FD 2^32-1", options(bfc("STAMP", u8(1)), bfc("STAMP_FD", u32(0xFFFFFFFF))),
             "^bfc: stamp: no file descriptor$"),
        *(Case(f"{name} is for reading", options(bfc(name, value)), ANY) for name, value in
          [("STAMP_ID", u32(1)), ("STAMP_TAG", bytes(8)), ("STAMP_NAME", b"x\0")]),
        # the frame of the attributes
        Case("unknown attribute, next after the last",
             options(attr(N["__TCA_BFC_MAX"], u32(1))), ANY),
        Case("unknown attribute, last of all", options(attr(0x3FFF, u32(1))), ANY),
        Case("attribute 0", options(attr(0, u32(1))), ANY_OR_NONE),
        Case("PAD is skipped", options(attr(N["TCA_BFC_PAD"], b""), bfc("QUEUES", u32(8))),
             ANY_OR_NONE),
        Case("number with the nest flag", options(bfc("QUEUES", u32(8), NLA_F_NESTED)),
             ANY_OR_NONE),
        Case("number that is a nest", options(nest(N["TCA_BFC_HRTT"], attr(1, u32(1)))),
             ANY_OR_NONE),
        Case("options without the nest flag", attr(TCA_OPTIONS, bfc("QUEUES", u32(8))), ANY_OR_NONE),
        Case("options of one byte", nest(TCA_OPTIONS, b"\1"), ANY),
        Case("options of zeroes", nest(TCA_OPTIONS, bytes(8)), ANY_OR_NONE),
        Case("options of 0xff", nest(TCA_OPTIONS, b"\xff" * 64), ANY),
        Case("options of another qdisc", nest(TCA_OPTIONS, b"fq_codel" * 8), ANY),
        Case("attribute longer than its nest",
             options(struct.pack("=HHI", 400, N["TCA_BFC_QUEUES"], 8)), ANY),
        Case("attribute shorter than its header",
             options(struct.pack("=HHI", 3, N["TCA_BFC_QUEUES"], 8)), ANY),
        Case("rest behind the last attribute", options(bfc("QUEUES", u32(8)), b"\1\2"), ANY),
        Case("an option twice: one of them holds",
             options(bfc("QUEUES", u32(8)), bfc("QUEUES", u32(16)))),
        Case("an option twice, one bad", options(bfc("QUEUES", u32(8)), bfc("QUEUES", u32(0))), ANY),
        # elide
        Case("ELIDE empty", options(nest(N["TCA_BFC_ELIDE"], b""))),
        Case("ELIDE without the nest flag", options(bfc("ELIDE", attr(ifindex, u32(1)))), ANY),
        Case("ELIDE that is a number", options(bfc("ELIDE", u32(1), NLA_F_NESTED)), ANY),
        Case("ELIDE of one byte", options(bfc("ELIDE", b"\1", NLA_F_NESTED)), ANY),
        Case("ELIDE of zeroes", options(bfc("ELIDE", bytes(16), NLA_F_NESTED)), ANY_OR_NONE),
        Case("ELIDE of random length", options(bfc("ELIDE", b"\xff" * 33, NLA_F_NESTED)), ANY),
        Case("ELIDE with an unknown attribute",
             options(nest(N["TCA_BFC_ELIDE"], attr(7, u32(1)))), ANY),
        Case("ELIDE ifindex of 2 bytes",
             options(nest(N["TCA_BFC_ELIDE"], attr(ifindex, u16(1)))), ANY),
        Case("ELIDE ifindex of 8 bytes",
             options(nest(N["TCA_BFC_ELIDE"], attr(ifindex, u64(1)))), ANY),
        Case("ELIDE ifindex 0", options(nest(N["TCA_BFC_ELIDE"], attr(ifindex, u32(0)))),
             "^bfc: elide: no such device$"),
        Case("ELIDE ifindex 2^32-1",
             options(nest(N["TCA_BFC_ELIDE"], attr(ifindex, u32(0xFFFFFFFF)))),
             "^bfc: elide: no such device$"),
        Case("ELIDE 64 devices", options(nest(N["TCA_BFC_ELIDE"], attr(ifindex, u32(1)) * 64))),
        Case("ELIDE 65 devices", options(nest(N["TCA_BFC_ELIDE"], attr(ifindex, u32(1)) * 65)),
             "^bfc: elide: at most 64 devices$"),
        Case("ELIDE 5000 devices", options(nest(N["TCA_BFC_ELIDE"], attr(ifindex, u32(1)) * 5000)),
             "^bfc: elide: at most 64 devices$"),
        Case("ELIDE twice", options(nest(N["TCA_BFC_ELIDE"], attr(ifindex, u32(1))),
                                    nest(N["TCA_BFC_ELIDE"], b""))),
        Case("good options, then a bad one",
             options(bfc("ROLE", u8(1)), bfc("QUEUES", u32(8)), bfc("HOLD", u64(1))), "^bfc: hold: "),
    ]
    return out


PFC = options(bfc("FC", u8(N["BFC_FC_PFC"])), bfc("XOFF", u32(70_000)), bfc("XON", u32(50_000)),
              bfc("HOLD", u64(77_000_000)), bfc("BUFFER", b"b\0"),
              bfc("BUFFER_SIZE", u32(900_000)))

# What the kernel refuses after it has made the qdisc: the one that was there goes on, and
# so must its port.
LATE = [
    Case("none", options(bfc("FC", u8(N["BFC_FC_NONE"])), bfc("HOLD", u64(33_000_000)))),
    Case("another buffer", options(bfc("BUFFER", b"c\0"), bfc("FC", u8(N["BFC_FC_PFC"])))),
    Case("the same buffer, larger",
         options(bfc("BUFFER", b"b\0"), bfc("BUFFER_SIZE", u32(2_000_000)),
                 bfc("FC", u8(N["BFC_FC_PFC"])))),
    Case("the same buffer, all of it reserved",
         options(bfc("BUFFER", b"b\0"), bfc("BUFFER_SIZE", u32(2_000_000)),
                 bfc("RESERVE", u32(100_000)), bfc("FC", u8(N["BFC_FC_PFC"])))),
    Case("fafc", options(bfc("FC", u8(N["BFC_FC_FAFC"])), bfc("QUEUES", u32(64)))),
    Case("role nic", options(bfc("FC", u8(N["BFC_FC_PFC"])), bfc("ROLE", u8(1)))),
]
REFUSED = [
    ("rate estimator", attr(TCA_RATE, struct.pack("=bB", 100, 1))),
    ("size table", nest(TCA_STAB, b"")),
]
PORT_STATS = ("XOFF", "XON", "HEADROOM", "REFRESH", "HOLD", "BUFFER_SIZE", "PEER_STATE")


class Bench:
    """One device in a namespace of its own."""

    def __init__(self) -> None:
        libc = ctypes.CDLL(None, use_errno=True)
        if libc.unshare(CLONE_NEWNET):
            raise OSError(ctypes.get_errno(), "unshare")
        subprocess.run(["ip", "-batch", "-"], check=True, encoding="utf-8",
                       input=f"link set lo up\nlink add {DEVICE} type dummy\n"
                             f"link set {DEVICE} up\n")
        self.ifindex = socket.if_nametoindex(DEVICE)
        self.route = Route()

    def message(self, kind: int, top: bytes, flags: int) -> bytes:
        return tc_message(kind, [attr(TCA_KIND, b"bfc\0"), top], self.ifindex,
                          flags=NLM_F_REQUEST | NLM_F_ACK | flags)

    def add(self, top: bytes) -> Answer:
        return self.route.request(self.message(RTM_NEWQDISC, top, NLM_F_CREATE | NLM_F_EXCL))

    def change(self, top: bytes) -> Answer:
        return self.route.request(self.message(RTM_NEWQDISC, top, 0))

    def delete(self) -> Answer:
        return self.route.request(self.message(RTM_DELQDISC, b"", 0))

    def run_add(self, case: Case) -> Tuple[Answer, str]:
        """The kernel's answer, and what is wrong with it."""
        answer = self.add(case.top)
        there = self.route.options(self.ifindex) is not None
        if there:
            self.delete()
        return answer, self.judge(case, answer) or (
            "" if there == (answer.error == 0) else
            f"qdisc is {'there' if there else 'not there'} after {answer}")

    def run_change(self, case: Case) -> Tuple[Answer, str]:
        self.add(options(bfc("HRTT", u64(55_000)), bfc("QUEUES", u32(8)), bfc("ROLE", u8(0)),
                         nest(N["TCA_BFC_ELIDE"], attr(N["TCA_BFC_ELIDE_IFINDEX"], u32(1)))))
        before = self.route.options(self.ifindex)
        answer = self.change(case.top)
        after = self.route.options(self.ifindex)
        self.delete()
        if before is None or after is None:
            return answer, "no qdisc"
        # queues are fixed; all else that is good as a whole may change
        if answer.error and "cannot change on a live qdisc" in answer.text:
            return answer, "" if before == after else "changed all the same"
        return answer, self.judge(case, answer) or (
            "" if not answer.error or before == after else f"changed in spite of {answer}")

    def port(self) -> Dict[str, bytes]:
        """What the port does, by its statistics; those that are 0 are not sent."""
        stats = self.route.stats(self.ifindex)
        return {name: stats.get(N["TCA_BFC_STATS_" + name], b"") for name in PORT_STATS}

    def run_late(self, case: Case, refused: bytes) -> Tuple[Answer, str]:
        """A replace that the kernel refuses at last must change nothing."""
        self.add(PFC)
        before = (self.route.options(self.ifindex), self.port())
        answer = self.route.request(tc_message(
            RTM_NEWQDISC, [attr(TCA_KIND, b"bfc\0"), case.top, refused], self.ifindex,
            handle=0x20000,
            flags=NLM_F_REQUEST | NLM_F_ACK | NLM_F_CREATE | NLM_F_REPLACE))
        after = (self.route.options(self.ifindex), self.port())
        self.delete()
        if not answer.error:
            return answer, "accepted"
        wrong = [f"{name}: {was.hex()} before, {after[1][name].hex()} after"
                 for name, was in before[1].items() if was != after[1][name]]
        if before[0] != after[0]:
            wrong.append("other options")
        return answer, "\n".join(wrong)

    def given_up(self) -> str:
        """What another mode does not use is as if it had never been given."""
        kept = [bfc("HOLD", u64(77_000_000)), bfc("BUFFER", b"b\0"), bfc("BUFFER_SIZE", u32(900_000))]
        self.add(options(*kept))
        want = self.route.options(self.ifindex)
        self.delete()
        self.add(options(*kept, bfc("FC", u8(N["BFC_FC_PFC"])), bfc("XOFF", u32(70_000)),
                         bfc("XON", u32(50_000)), bfc("LOSSLESS", u8(8)), bfc("ECN", u32(9000))))
        answer = self.change(options(bfc("FC", u8(N["BFC_FC_BFC"]))))
        got = self.route.options(self.ifindex)
        self.delete()
        if answer.error or not re.search("have their defaults again", answer.text):
            return f"said: {answer}"
        return "" if got and got == want else f"{got!r}\nwant {want!r}"

    def below(self) -> str:
        """Without options below a qdisc: only what has no handle is a default qdisc."""
        tc = ["tc", "qdisc", "add", "dev", DEVICE, "root", "handle", "1:", "prio"]
        subprocess.run(tc, check=True)
        answer = self.route.request(tc_message(
            RTM_NEWQDISC, [attr(TCA_KIND, b"bfc\0")], self.ifindex, handle=0, parent=0x10001,
            flags=NLM_F_REQUEST | NLM_F_ACK | NLM_F_CREATE | NLM_F_EXCL))
        subprocess.run(["tc", "qdisc", "del", "dev", DEVICE, "root"], check=True)
        return self.judge(Case("", b"", "must be the root"), answer)

    @staticmethod
    def judge(case: Case, answer: Answer) -> str:
        if case.expect == ANY_OR_NONE:
            return ""
        if not case.expect:
            return f"refused: {answer}" if answer.error else ""
        if not answer.error:
            return "accepted"
        if not re.search(case.expect, answer.text):
            return f'answer "{answer}", expected text "{case.expect}"'
        return ""

    def fuzz(self, count: int, seed: int) -> str:
        """Random attributes: all that counts is that the kernel survives."""
        rng = random.Random(seed)
        sizes = [0, 1, 2, 2, 4, 4, 4, 8, 8, 8, 3, 12, 40]
        accepted = 0
        for number in range(count):
            inner = b"".join(
                attr(rng.randrange(N["__TCA_BFC_MAX"] + 2) | rng.choice([0, 0, 0, NLA_F_NESTED]),
                     bytes(rng.choice([0, 0, 1, 2, 255, rng.randrange(256)])
                           for _ in range(rng.choice(sizes))))
                for _ in range(rng.choice([1, 1, 2, 3, 6])))
            if rng.random() < 0.2:
                inner = inner[:rng.randrange(len(inner) + 1)]
            top = nest(TCA_OPTIONS, inner)
            answer = self.change(top) if number & 1 else self.add(top)
            accepted += answer.error == 0
            if number % 8 == 7:
                self.delete()
        self.delete()
        print(f"# {accepted} of {count} accepted")
        left = self.route.options(self.ifindex)
        return "" if left is None else "the qdisc is still there"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--fuzz", type=int, default=2000, help="random requests to send")
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()

    if os.geteuid() != 0:
        print("1..0 # SKIP needs root")
        return SKIP
    subprocess.run(["modprobe", "-q", "sch_bfc"], check=False)
    if not Path("/sys/module/sch_bfc").exists():
        print("1..0 # SKIP no module sch_bfc here")
        return SKIP

    bench = Bench()
    todo = cases()
    ktap = Ktap(2 * len(todo) + len(LATE) * len(REFUSED) + 3)
    for verb, run in (("add", bench.run_add), ("change", bench.run_change)):
        for case in todo:
            answer, wrong = run(case)
            print(f"# {answer}")
            ktap.result(not wrong, f"{verb}: {case.name}", wrong)
    for case in LATE:
        for name, refused in REFUSED:
            answer, wrong = bench.run_late(case, refused)
            print(f"# {answer}")
            ktap.result(not wrong, f"replace: {case.name}, refused for its {name}", wrong)
    wrong = bench.given_up()
    ktap.result(not wrong, "options that another mode does not use", wrong)
    wrong = bench.below()
    ktap.result(not wrong, "no options below another qdisc", wrong)
    wrong = bench.fuzz(args.fuzz, args.seed)
    ktap.result(not wrong, f"{args.fuzz} random requests", wrong)
    return ktap.end()


if __name__ == "__main__":
    sys.exit(main())
