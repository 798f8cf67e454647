#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Traffic for wire.sh.

  frames.py flood NS DEV LEN     send until the device is gone
  frames.py serve                read the commands below from standard input,
                                 answer each with "ok RESULT" or "error TEXT":
                                 Python starts slowly in an emulated VM

  send NS DEV TYPE COUNT LEN     send COUNT frames of LEN bytes
  span NS DEV NS DEV COUNT LEN   send, and say how many frames arrived and the
                                 nanoseconds from the first arrival to the last
  tcp NS NS ADDRESS BYTES MSS    transfer from the first namespace to ADDRESS in
                                 the second, compare, and say bytes per second

EtherType in hexadecimal. Namespaces are those of "ip netns". No socket is left
open: it would keep its namespace alive.
"""
import ctypes
import errno
import random
import socket
import struct
import sys
import threading
import time
from typing import Callable

SO_SNDBUFFORCE = 32
SO_RCVBUFFORCE = 33
SO_TIMESTAMPNS = 35
ETH_P_TEST = 0x88b5
libc = ctypes.CDLL(None, use_errno=True)


def in_ns(ns: str, make: Callable[[], socket.socket]) -> socket.socket:
    """The socket that make() makes, in namespace ns."""
    with open("/proc/self/ns/net") as home, open("/run/netns/" + ns) as there:
        if libc.setns(there.fileno(), 0):
            raise OSError(ctypes.get_errno(), "setns " + ns)
        try:
            return make()
        finally:
            libc.setns(home.fileno(), 0)


def packet_socket(ns: str, dev: str, proto: int) -> socket.socket:
    def make() -> socket.socket:
        s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
        s.setsockopt(socket.SOL_SOCKET, SO_SNDBUFFORCE, 1 << 26)
        s.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 1 << 26)
        s.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
        s.bind((dev, proto))
        return s
    return in_ns(ns, make)


def frame(ethertype: int, length: int) -> bytes:
    head = b"\xff" * 6 + b"\x02\x00\x00\x00\x00\x01"
    return (head + struct.pack("!H", ethertype)).ljust(length, b"\0")


def send(ns: str, dev: str, ethertype: str, count: str, length: str) -> str:
    data = frame(int(ethertype, 16), int(length))
    with packet_socket(ns, dev, 0) as s:
        for _ in range(int(count)):
            s.send(data)
    return ""


def flood(ns: str, dev: str, length: str) -> None:
    s = packet_socket(ns, dev, 0)
    data = frame(ETH_P_TEST, int(length))
    while True:
        try:
            s.send(data)
        except OSError as e:
            if e.errno == errno.ENXIO:      # unbound: the device is gone
                return
            time.sleep(0.001)               # down, or no memory: go on


def span(ns_a: str, dev_a: str, ns_b: str, dev_b: str, count: str,
         length: str) -> str:
    times: list[int] = []
    with packet_socket(ns_b, dev_b, ETH_P_TEST) as rx:
        send(ns_a, dev_a, "88b5", count, length)
        rx.settimeout(10)
        while len(times) < int(count):
            try:
                anc = rx.recvmsg(16, 256)[1]
            except socket.timeout:
                break
            sec, nsec = struct.unpack("@qq", anc[0][2][:16])
            times.append(sec * 10**9 + nsec)
    return f"{len(times)} {times[-1] - times[0] if times else 0}"


def tcp(ns_a: str, ns_b: str, address: str, size: str, max_seg: str) -> str:
    mss = int(max_seg)
    data = random.Random(1).randbytes(int(size))

    def make() -> socket.socket:
        s = socket.socket()
        s.setsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG, mss)
        s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        s.settimeout(60)
        return s

    # Single segments: those TCP sends as clones of what it keeps.
    def sender(client: socket.socket) -> None:
        with client:
            client.connect((address, 5001))
            for at in range(0, len(data), mss - 100):
                client.sendall(data[at:at + mss - 100])

    with in_ns(ns_b, make) as listener:
        listener.bind((address, 5001))
        listener.listen()
        thread = threading.Thread(target=sender, args=(in_ns(ns_a, make),),
                                  daemon=True)
        thread.start()
        with listener.accept()[0] as server:
            server.settimeout(60)
            start = time.monotonic()
            got = bytearray()
            while chunk := server.recv(1 << 16):
                got += chunk
            seconds = time.monotonic() - start
        thread.join()
    if got != data:
        raise ValueError(f"data differ; {len(got)} of {size} bytes came")
    return f"{len(data) / seconds:.0f}"


def serve() -> None:
    commands: dict[str, Callable[..., str]] = {"send": send, "span": span, "tcp": tcp}
    for line in sys.stdin:
        words = line.split()
        try:
            answer = "ok " + commands[words[0]](*words[1:])
        except Exception as e:          # whatever it is, it is the answer
            answer = f"error {e!r}"
        print(answer, flush=True)


if __name__ == "__main__":
    if sys.argv[1:] == ["serve"]:
        serve()
    elif len(sys.argv) == 5 and sys.argv[1] == "flood":
        flood(*sys.argv[2:])
    else:
        sys.exit(__doc__)
