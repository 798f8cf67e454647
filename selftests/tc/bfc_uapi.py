# SPDX-License-Identifier: GPL-2.0
"""What the tests know of the bfc qdisc's netlink interface.

The numbers are read from include/uapi/linux/pkt_sch_bfc.h, so that no test has
a copy of them that can grow old.
"""

import re
import struct
from pathlib import Path
from typing import Dict, Iterable, List, Tuple

TOP = Path(__file__).resolve().parents[2]
HEADER = TOP / "include/uapi/linux/pkt_sch_bfc.h"

NLA_F_NESTED = 0x8000
NLA_TYPE_MASK = 0x3FFF

# linux/rtnetlink.h
RTM_NEWQDISC = 36
RTM_NEWTCLASS = 40
TCA_KIND = 1
TCA_OPTIONS = 2
TCA_RATE = 5
TCA_STATS2 = 7
TCA_STAB = 8
TCA_STATS_APP = 4
TC_H_ROOT = 0xFFFFFFFF

Attr = Tuple[int, bytes]


def read_numbers(path: Path = HEADER) -> Dict[str, int]:
    """All enumerators of the header, and its macros that are plain numbers."""
    text = re.sub(r"/\*.*?\*/", "", path.read_text(encoding="utf-8"), flags=re.S)
    numbers: Dict[str, int] = {}
    for body in re.findall(r"\benum\s*\{(.*?)\}", text, flags=re.S):
        value = 0
        for item in body.split(","):
            match = re.fullmatch(r"\s*(\w+)\s*(?:=\s*(\w+)\s*)?", item)
            if match is None:
                continue
            if match[2] is not None:
                value = int(match[2], 0)
            numbers[match[1]] = value
            value += 1
    for name, value_text in re.findall(
            r"^#define\s+(\w+)\s+(0x[0-9a-fA-F]+|\d+)[UL]*\s*$", text, flags=re.M):
        numbers[name] = int(value_text, 0)
    return numbers


N = read_numbers()


def attr(kind: int, payload: bytes) -> bytes:
    """One netlink attribute, padded."""
    return (struct.pack("=HH", len(payload) + 4, kind) + payload
            + bytes(-len(payload) % 4))


def nest(kind: int, inner: bytes) -> bytes:
    return attr(kind | NLA_F_NESTED, inner)


def u8(value: int) -> bytes:
    return struct.pack("=B", value)


def u16(value: int) -> bytes:
    return struct.pack("=H", value)


def u32(value: int) -> bytes:
    return struct.pack("=I", value)


def s32(value: int) -> bytes:
    return struct.pack("=i", value)


def u64(value: int) -> bytes:
    return struct.pack("=Q", value)


def prio_map(entries: Dict[int, int]) -> bytes:
    """TCA_BFC_PRIO_MAP"""
    return bytes(entries.get(i, N["BFC_PRIO_AUTO"]) for i in range(N["BFC_PRIO_VALUES"]))


def of_classes(*numbers: int) -> bytes:
    """TCA_BFC_CLASS_QUEUES, TCA_BFC_WEIGHTS"""
    return b"".join(u16(n) for n in numbers).ljust(2 * N["BFC_LIST"], b"\0")


def attrs(data: bytes) -> List[Attr]:
    """The attributes of a nest as (number without flags, payload)."""
    found: List[Attr] = []
    at = 0
    while at + 4 <= len(data):
        length, kind = struct.unpack_from("=HH", data, at)
        if length < 4 or at + length > len(data):
            raise ValueError(f"attribute of length {length} at {at}")
        found.append((kind & NLA_TYPE_MASK, data[at + 4:at + length]))
        at += length + (-length % 4)
    return found


def tc_message(message_type: int, body: Iterable[bytes], ifindex: int = 1,
               handle: int = 0x10000, parent: int = TC_H_ROOT,
               flags: int = 0, seq: int = 0) -> bytes:
    """A netlink message with struct tcmsg in front of the attributes."""
    payload = struct.pack("=BBHiIII", 0, 0, 0, ifindex, handle, parent, 1)
    payload += b"".join(body)
    return struct.pack("=IHHII", 16 + len(payload), message_type, flags, seq, 0) + payload


class Ktap:
    """The test results, in the form that the kernel's tests print."""

    def __init__(self, plan: int) -> None:
        self.number = 0
        self.failed = 0
        print("KTAP version 1")
        print(f"1..{plan}", flush=True)

    def result(self, passed: bool, name: str, why: str = "") -> None:
        self.number += 1
        if not passed:
            self.failed += 1
            for line in why.rstrip().splitlines():
                print(f"# {line}")
        print(f"{'ok' if passed else 'not ok'} {self.number} {name}", flush=True)

    def end(self) -> int:
        """Totals; returns the exit code."""
        print(f"# Totals: pass:{self.number - self.failed} fail:{self.failed}", flush=True)
        return 1 if self.failed else 0
