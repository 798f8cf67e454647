#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""A hop that passes frames on, and writes what it likes into records of INT in TCP.

  intliar.py NS DEV DEV [QLEN]

Frames that come in through either device of the namespace leave through the other one. QLEN: the
length of the queue, as docs/wire-format.md has it in TCP, that each record that has been filled
tells then.
"""
import selectors
import socket
import struct
import sys
from typing import Tuple

from bfcframe import in_ns
from intflow import ones, pseudo

ETH_P_ALL = 3
SOL_PACKET = 263
PACKET_VNET_HDR = 15
PACKET_OUTGOING = 4
VNET_LEN = 10
VNET_NEEDS_CSUM = 1
RECORD, EXIDS = 253, (0xbfc1, 0xbfc2)


def open_device(ns: str, dev: str) -> socket.socket:
    def make() -> socket.socket:
        s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
        # Who leaves the checksum to a device is to find one that computes it.
        s.setsockopt(SOL_PACKET, PACKET_VNET_HDR, 1)
        s.bind((dev, ETH_P_ALL))
        return s
    return in_ns(ns, make)


def records(options: bytes) -> Tuple[int, int]:
    """Where they begin, and their bytes"""
    at = 0
    while at + 2 <= len(options) and options[at] != 0:
        if options[at] == 1:
            at += 1
            continue
        length = options[at + 1]
        if options[at] == RECORD and struct.unpack_from("!H", options, at + 2)[0] in EXIDS:
            return at + 4, length - 4
        at += max(length, 2)
    return 0, 0


def lie(frame: bytes, qlen: int) -> bytes:
    """With the header of PACKET_VNET_HDR"""
    ip = VNET_LEN + 14
    if frame[ip - 2:ip] != b"\x08\x00" or frame[ip + 9] != socket.IPPROTO_TCP:
        return frame
    tcp = ip + 4 * (frame[ip] & 15)
    end = ip + struct.unpack_from("!H", frame, ip + 2)[0]
    options = frame[tcp + 20:tcp + 4 * (frame[tcp + 12] >> 4)]
    start, length = records(options)
    new = bytearray(frame)
    for at in range(tcp + 20 + start, tcp + 20 + start + length, 8):
        if new[at + 7] & 15:
            new[at + 6] = qlen >> 4
            new[at + 7] = (qlen & 15) << 4 | new[at + 7] & 15
    if length and not frame[0] & VNET_NEEDS_CSUM:
        new[tcp + 16:tcp + 18] = bytes(2)
        head = pseudo(4, frame[ip:tcp], socket.IPPROTO_TCP, end - tcp)
        struct.pack_into("!H", new, tcp + 16, ~ones(head + bytes(new[tcp:end])) & 0xffff)
    return bytes(new)


def main() -> None:
    ns, *devs = sys.argv[1:4]
    ends = [open_device(ns, dev) for dev in devs]
    selector = selectors.DefaultSelector()
    for end, other in (ends, ends[::-1]):
        selector.register(end, selectors.EVENT_READ, other)
    while True:
        for key, _ in selector.select():
            frame, address = key.fileobj.recvfrom(65536)    # type: ignore[union-attr]
            if address[2] == PACKET_OUTGOING:
                continue
            if len(sys.argv) > 4:
                frame = lie(frame, int(sys.argv[4], 0))
            key.data.send(frame)


if __name__ == "__main__":
    main()
