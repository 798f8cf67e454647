#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Packets like those of RoCEv2, as far as INT is concerned: UDP to port 4791 without
a checksum, from a socket that knows nothing of INT to one that does not, either.

  udpint.py send COUNT ADDRESS...   COUNT to each, 1 ms apart, of growing size
  udpint.py other COUNT ADDRESS...  the same, but like those of others: with a
                                    checksum, and to the port that INT has
  udpint.py forged COUNT ADDRESS... to that port without one: INT that no hop has seen
  udpint.py receive COUNT [other]   until so many have come, or none for 10 s;
                                    prints JSON: how many came, how many intact
"""
from __future__ import annotations

import ipaddress
import json
import random
import socket
import sys
import time
from typing import List

PORT = 4791
INT_PORT = 49089
SO_NO_CHECK = 11
UDP_NO_CHECK6_TX = 101
UDP_NO_CHECK6_RX = 102


def payload(number: int) -> bytes:
    return number.to_bytes(4, "big") + random.Random(number).randbytes(60 + 13 * number % 1300)


def send(count: int, addresses: List[str], port: int, summed: bool) -> None:
    for text in addresses:
        six = ipaddress.ip_address(text).version == 6
        with socket.socket(socket.AF_INET6 if six else socket.AF_INET, socket.SOCK_DGRAM) as sock:
            if summed:
                pass
            elif six:
                sock.setsockopt(socket.IPPROTO_UDP, UDP_NO_CHECK6_TX, 1)
            else:
                sock.setsockopt(socket.SOL_SOCKET, SO_NO_CHECK, 1)
            sock.bind(("", 50000))
            for number in range(count):
                sock.sendto(payload(number), (text, port))
                time.sleep(0.001)


def receive(count: int, port: int) -> None:
    packets = intact = 0
    with socket.socket(socket.AF_INET6, socket.SOCK_DGRAM) as sock:
        sock.setsockopt(socket.IPPROTO_UDP, UDP_NO_CHECK6_RX, 1)
        sock.bind(("::", port))
        sock.settimeout(10)
        try:
            while packets < count:
                data = sock.recv(65536)
                packets += 1
                intact += data == payload(int.from_bytes(data[:4], "big"))
        except socket.timeout:
            pass
    print(json.dumps({"packets": packets, "intact": intact}))


if __name__ == "__main__":
    if sys.argv[1:2] in (["send"], ["other"], ["forged"]) and len(sys.argv) > 3:
        send(int(sys.argv[2]), sys.argv[3:], PORT if sys.argv[1] == "send" else INT_PORT,
             sys.argv[1] == "other")
    elif sys.argv[1:2] == ["receive"] and sys.argv[3:] in ([], ["other"]):
        receive(int(sys.argv[2]), INT_PORT if sys.argv[3:] else PORT)
    else:
        sys.exit(__doc__)
