#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""A neighbour made of Python: sends crafted control frames, shows what comes.

  bfcframe.py ANSWER     read commands from standard input; the result of each
                         goes to the file ANSWER as JSON, then "ok" or "error
                         TEXT" to standard output: Python starts slowly in an
                         emulated machine, so one process does it all

A neighbour is an end of a link in a namespace of "ip netns", known by a NAME:

  open NAME NS DEV          from now on it notes what arrives
  close                     all of them: a socket keeps its namespace alive
  set NAME FIELD=VALUE...   what its control frames say from now on (id, nonce,
                            epoch, seq, role, queues ...)
  hello NAME [FIELD=VALUE...]   send one HELLO, or count of them; the fields hold for
                            it only; nonce=random: another one in each
  pause NAME [FIELD=VALUE...]   send one PAUSE; bits=0,5,7 are paused; roots=1,2,3 are
                            ids behind the bitmap, with the flag that says so; first:
                            queue that they begin at; nroots: another count of them
  talk NAME PERIOD          HELLO every PERIOD seconds, 0 = silence
  keep NAME PERIOD [FIELD=VALUE...]     as pause, every PERIOD seconds, 0 = no more;
                            pfc=ENABLE: as pfc, with the longest quanta
  loop NAME [COUNT]         send the newest HELLO back as it came
  raw NAME HEX [COUNT]      any frame
  pfc NAME ENABLE QUANTA... send one frame of IEEE 802.1Qbb about the priorities in
                            ENABLE: eight quanta, or one for each of these
  udp NAME FIELD=VALUE...   UDP datagrams in frames of their own: dst, src
                            (MAC; src=random: another one in each frame), from, to
                            (addresses), span (that count up from these: so many
                            flows, of count datagrams each), sport, dport, count,
                            size (of the payload), tags=88a8:5,8100:7 (outermost
                            first), tos (traffic class), label (IPv6), gap (seconds), options (words of
                            IP options that do nothing: 4 bytes; 8 with IPv6,
                            where it is 1 at most), wrap=ipip, gre, pppoe or
                            batadv (the datagram is in such a tunnel), via (the
                            address that the tunnel ends at, IPv4 or IPv6; with
                            batadv MAC)
  fuzz NAME COUNT SEED      random and mutated control frames
  clear NAME                forget what arrived
  seen NAME [FIELD=VALUE...]    what arrived, all that has these fields
  wait NAME SECONDS N [FIELD=VALUE...]  until N frames with these fields arrived
  count NAME FIELD [FIELD=VALUE...]     how many, by the value of FIELD

In hello and pause, next to the fields of the frame: dst, src, ethertype, magic,
version, type, length, cut (send so many bytes only). Sequence numbers count up
by themselves, and echo is the nonce heard last. Times are ns; t, when a frame
arrived, is seconds. Numbers may be written in hexadecimal.
"""
from __future__ import annotations

import ctypes
import ipaddress
import json
import random
import selectors
import socket
import struct
import sys
import threading
import time
from typing import Any, Callable, Dict, List, Optional, Tuple

ETH_P_ALL = 3
SOL_PACKET = 263
PACKET_AUXDATA = 8
PACKET_OUTGOING = 4
STATUS_VLAN_VALID = 0x10
STATUS_VLAN_TPID_VALID = 0x40
SO_SNDBUFFORCE = 32
SO_RCVBUFFORCE = 33
SO_TIMESTAMPNS = 35

GROUP = "01:80:c2:00:00:0e"
PFC_GROUP = "01:80:c2:00:00:01"
ETHERTYPE = 0x88b5
MAGIC = 0x42464331
HELLO = 1
PAUSE = 2
BYE = 1
NONE = 0xffff
TAGS = (0x88a8, 0x8100)
FLOW_MAGIC = 0x42464355     # of udpflow

Fields = Dict[str, Any]
libc = ctypes.CDLL(None, use_errno=True)


def in_ns(ns: str, make: Callable[[], socket.socket]) -> socket.socket:
    """What make() returns when called in namespace ns."""
    with open("/proc/self/ns/net", encoding="ascii") as home, \
            open("/run/netns/" + ns, encoding="ascii") as there:
        if libc.setns(there.fileno(), 0):
            raise OSError(ctypes.get_errno(), "setns " + ns)
        try:
            return make()
        finally:
            libc.setns(home.fileno(), 0)


def mac_bytes(text: str) -> bytes:
    return bytes.fromhex(text.replace(":", ""))


def mac_text(data: bytes) -> str:
    return data.hex(":")


# ---- the layout: by the comment of sch_bfc/pure/bfc_wire.h, offset by offset ----

HEADER = [("magic", 14, "I"), ("version", 18, "B"), ("type", 19, "B"),
          ("length", 20, "H"), ("epoch", 22, "I"), ("seq", 26, "I")]
HELLO_BODY = [("role", 30, "B"), ("flags", 31, "B"), ("queues", 32, "H"),
              ("classes", 34, "B"), ("reserved", 35, "B"),
              ("incast", 36, "H"), ("reserved2", 38, "H"), ("id", 40, "Q"),
              ("nonce", 48, "I"), ("echo", 52, "I"), ("modes", 56, "I"),
              ("sent", 60, "Q"), ("echo_sent", 68, "Q"), ("held", 76, "Q")]
PAUSE_BODY = [("hold", 30, "I"), ("queues", 34, "H"), ("flags", 36, "H"),
              *((f"prio{i}", 38 + 4 * i, "I") for i in range(8)),
              ("drained", 70, "Q"), ("limit", 78, "Q")]
F_ROOTS = 1
HELLO_END = 84
BITMAP = 86
SHORTEST = 60


def roots_length(roots: List[int]) -> int:
    return 4 + 4 * len(roots)


def control_frame(f: Fields, body: List[Tuple[str, int, str]],
                  end: int) -> bytes:
    frame = bytearray(max(end, SHORTEST))
    frame[0:6] = mac_bytes(f["dst"])
    frame[6:12] = mac_bytes(f["src"])
    struct.pack_into("!H", frame, 12, f["ethertype"])
    for name, offset, code in HEADER + body:
        struct.pack_into("!" + code, frame, offset, f[name])
    for bit in f.get("bits", []):
        frame[BITMAP + bit // 8] |= 1 << (bit % 8)
    if "roots" in f:
        struct.pack_into(f"!HH{len(f['roots'])}I", frame,
                         end - roots_length(f["roots"]), f.get("first", 0),
                         f.get("nroots", len(f["roots"])), *f["roots"])
    return bytes(frame[:f.get("cut", len(frame))])


def decode_control(frame: bytes) -> Fields:
    f: Fields = {}
    if len(frame) < 30:
        return {"kind": "short"}
    for name, offset, code in HEADER:
        f[name] = struct.unpack_from("!" + code, frame, offset)[0]
    if f["type"] == HELLO and len(frame) >= HELLO_END:
        f["kind"] = "hello"
        body = HELLO_BODY
    elif f["type"] == PAUSE and len(frame) >= BITMAP:
        f["kind"] = "pause"
        body = PAUSE_BODY
    else:
        f["kind"] = "unknown"
        return f
    for name, offset, code in body:
        f[name] = struct.unpack_from("!" + code, frame, offset)[0]
    if f["kind"] == "hello":
        f["id"] = f"{f['id']:016x}"     # too long a number for jq
    if f["kind"] == "pause":
        end = BITMAP + (f["queues"] + 7) // 8
        bitmap = frame[BITMAP:end]
        if f["flags"] & F_ROOTS:
            f["first"], number = struct.unpack_from("!HH", frame, end)
            f["roots"] = list(struct.unpack_from(f"!{number}I", frame, end + 4))
        f["bits"] = [8 * i + b for i, byte in enumerate(bitmap)
                     for b in range(8) if byte >> b & 1]
        f["npaused"] = len(f["bits"])
    return f


def decode_ip(data: bytes, f: Fields) -> None:
    """UDP ports, udpflow's numbers, and where a fragment belongs; sound: the IPv4
    header's checksum is right."""
    if len(data) >= 28 and data[0] >> 4 == 4 and data[9] == 17:
        at = 4 * (data[0] & 15)
        f["tos"] = data[1]
        f["sound"] = checksum(data[:at]) == 0
        f["ipid"] = struct.unpack_from("!H", data, 4)[0]
        word = struct.unpack_from("!H", data, 6)[0]
        if word & 0x3fff:
            f["fragment"] = 8 * (word & 0x1fff)
        if word & 0x1fff:
            return
    elif len(data) >= 48 and data[0] >> 4 == 6 and data[6] == 17:
        at = 40
        f["tos"] = struct.unpack_from("!H", data)[0] >> 4 & 0xff
    else:
        return
    f["sport"], f["dport"] = struct.unpack_from("!HH", data, at)
    if len(data) >= at + 24:
        magic, flow, seq = struct.unpack_from("=IIQ", data, at + 8)
        if magic == FLOW_MAGIC:
            f["flow"] = flow
            f["flow_seq"] = seq


def decode_mac(frame: bytes, f: Fields) -> None:
    """IEEE 802.1Qbb; paused is the set of priorities with quanta."""
    opcode, enable = struct.unpack_from("!HH", frame, 14)
    if opcode != 0x0101:
        return
    quanta = struct.unpack_from("!8H", frame, 18)
    f["kind"] = "pfc"
    f["enable"] = enable
    f["quanta"] = list(quanta)
    f["paused"] = sum(1 << i for i in range(8) if quanta[i])


def decode(when: float, frame: bytes, length: int,
           tag: Optional[Tuple[int, int]]) -> Fields:
    """Tags stand as [type, VLAN id, priority], outermost first; vid is the
    outermost S-tag's."""
    f: Fields = {"t": round(when, 6), "dst": mac_text(frame[0:6]),
                 "src": mac_text(frame[6:12]), "len": length, "kind": "data"}
    tags = [] if tag is None else [tag]
    at = 12
    while True:
        ethertype = struct.unpack_from("!H", frame, at)[0]
        if ethertype not in TAGS or len(frame) < at + 6:
            break
        tags.append((ethertype, struct.unpack_from("!H", frame, at + 2)[0]))
        at += 4
    f["ethertype"] = f"{ethertype:04x}"
    f["tags"] = [[f"{tpid:04x}", tci & 0xfff, tci >> 13] for tpid, tci in tags]
    f["ntags"] = len(tags)
    f["vid"] = tags[0][1] & 0xfff if tags else None
    if ethertype == ETHERTYPE and len(frame) >= at + 6 and \
            struct.unpack_from("!I", frame, at + 2)[0] == MAGIC:
        f.update(decode_control(frame[:12] + frame[at:]))
    elif ethertype == 0x8808 and len(frame) >= 34:
        decode_mac(frame, f)
    elif ethertype in (0x0800, 0x86dd):
        decode_ip(frame[at + 2:], f)
    return f


def pfc_frame(mac: str, enable: int, quanta: List[int]) -> bytes:
    if len(quanta) == 1:
        quanta = [quanta[0] * (enable >> i & 1) for i in range(8)]
    return mac_bytes(PFC_GROUP) + mac_bytes(mac) + \
        struct.pack("!3H8H26x", 0x8808, 0x0101, enable, *quanta)


def checksum(data: bytes) -> int:
    total: int = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xffff) + (total >> 16)
    return ~total & 0xffff


def wrapped(f: Fields, ethertype: int, ip: bytes) -> Tuple[int, bytes]:
    """EtherType and data of a tunnel with an IP packet in it."""
    if f["wrap"] == "pppoe":
        return 0x8864, struct.pack("!BBHHH", 0x11, 0, 1, 2 + len(ip),
                                   0x21 if ethertype == 0x0800 else 0x57) + ip
    if f["wrap"] == "batadv":
        return 0x4305, bytes([0x40, 15, 50, 0]) + mac_bytes(f["via"]) + bytes(12) + \
            struct.pack("!H", ethertype) + ip
    protocol = 4 if ethertype == 0x0800 else 41
    if f["wrap"] == "gre":
        protocol = 47
        ip = struct.pack("!HH", 0, ethertype) + ip
    via = ipaddress.ip_address(f["via"])
    if via.version == 6:
        source = ipaddress.ip_address("2001:db8::1")
        return 0x86dd, struct.pack("!IHBB", 6 << 28, len(ip), protocol, 64) + \
            source.packed + via.packed + ip
    head = struct.pack("!BBHHHBBH", 0x45, 0, 20 + len(ip), 0, 0x4000, 64,
                       protocol, 0) + ipaddress.ip_address("192.0.2.1").packed + via.packed
    return 0x0800, head[:10] + struct.pack("!H", checksum(head)) + head[12:] + ip


def udp_frame(f: Fields) -> bytes:
    """Its UDP checksum is 0: no program looks at it."""
    payload = bytes(f["size"])
    udp = struct.pack("!HHHH", f["sport"], f["dport"], 8 + len(payload), 0)
    source = ipaddress.ip_address(f["from"])
    to = ipaddress.ip_address(f["to"])
    words: int = f["options"]
    if source.version == 4:
        ethertype = 0x0800
        ip = struct.pack("!BBHHHBBH", 0x45 + words, f["tos"],
                         28 + 4 * words + len(payload), 0, 0x4000, 64, 17,
                         0) + source.packed + to.packed + words * bytes(4 * [1])
        ip = ip[:10] + struct.pack("!H", checksum(ip)) + ip[12:]
    else:
        ethertype = 0x86dd
        # A header of destination options: UDP follows, padding of 4 bytes
        more = words * bytes([17, 0, 1, 4, 0, 0, 0, 0])
        ip = struct.pack("!IHBB", 6 << 28 | f["tos"] << 20 | f["label"],
                         8 + len(more) + len(payload), 60 if more else 17,
                         64) + source.packed + to.packed + more
    ip += udp + payload
    if f["wrap"]:
        ethertype, ip = wrapped(f, ethertype, ip)
    tags = b"".join(struct.pack("!HH", tpid, tci) for tpid, tci in f["tags"])
    return mac_bytes(f["dst"]) + mac_bytes(f["src"]) + tags + \
        struct.pack("!H", ethertype) + ip


# ---- a neighbour ----

class Neighbour:
    """An end of a link, and what its control frames say."""

    def __init__(self, ns: str, dev: str) -> None:
        def make() -> socket.socket:
            s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
            s.setsockopt(SOL_PACKET, PACKET_AUXDATA, 1)
            s.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
            s.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 1 << 24)
            s.setsockopt(socket.SOL_SOCKET, SO_SNDBUFFORCE, 1 << 24)
            s.bind((dev, ETH_P_ALL))
            return s

        self.sock = in_ns(ns, make)
        self.sock.settimeout(0.1)
        self.mac = mac_text(self.sock.getsockname()[4])
        self.lock = threading.Lock()
        self.arrived: List[Tuple[float, bytes, int,
                                 Optional[Tuple[int, int]]]] = []
        self.newest_hello: Optional[bytes] = None
        self.heard: Fields = {}
        self.heard_ns = 0
        self.seq = 0
        self.period = 0.0
        self.keep: Tuple[float, Fields] = (0.0, {})
        self.said = self.kept_at = 0.0
        self.says: Fields = {
            "id": random.getrandbits(64) | 1, "epoch": random.getrandbits(32),
            "nonce": random.getrandbits(32) | 1, "role": 0, "queues": 32}

    def receive(self, buf: bytearray) -> None:
        """One frame, if there is one; raises OSError while the link is down."""
        n, anc, _, addr = self.sock.recvmsg_into([buf], 256)
        if addr[2] == PACKET_OUTGOING:
            return
        tag = None
        when = 0.0
        for _, what, data in anc:
            if what == PACKET_AUXDATA:
                status, _, _, _, _, tci, tpid = \
                    struct.unpack("@IIIHHHH", data[:20])
                if status & STATUS_VLAN_VALID:
                    tag = (tpid if status & STATUS_VLAN_TPID_VALID
                           else 0x8100, tci)
            elif what == SO_TIMESTAMPNS:
                sec, nsec = struct.unpack("@qq", data[:16])
                when = sec + nsec / 1e9
        frame = bytes(buf[:min(n, 700)])
        with self.lock:
            self.arrived.append((when, frame, n, tag))
            if tag is None and n >= HELLO_END and \
                    frame[12:20] == b"\x88\xb5BFC1\x01\x01":
                self.newest_hello = frame
                self.heard = decode_control(frame)
                self.heard_ns = time.monotonic_ns()

    def talk(self) -> None:
        """Send what is due."""
        now = time.monotonic()
        period, f = self.keep
        if period and now - self.kept_at >= period:
            self.kept_at = now
            self.send(self.kept(f))
        if self.period and now - self.said >= self.period:
            self.said = now
            self.send(self.hello({}))

    def send(self, frame: bytes) -> None:
        try:
            self.sock.send(frame)
        except OSError:
            if not self.period and not self.keep[0]:    # talking goes on when the link is back
                raise

    def control(self, kind: int, length: int, f: Fields) -> Fields:
        with self.lock:
            if "seq" in f:
                seq = f["seq"]
            else:
                self.seq += 1
                seq = self.seq
            now = time.monotonic_ns()
            return {"dst": GROUP, "src": self.mac, "ethertype": ETHERTYPE,
                    "magic": MAGIC, "version": 1, "type": kind,
                    "length": length, "flags": 0, "classes": 1, "reserved": 0,
                    "incast": NONE, "reserved2": 0, "modes": 1, "sent": now,
                    "echo": self.heard.get("nonce", 0),
                    "echo_sent": self.heard.get("sent", 0),
                    "held": now - self.heard_ns, "hold": 1000000000,
                    "drained": 0, "limit": 0, "bits": [],
                    **{f"prio{i}": 0 for i in range(8)},
                    **self.says, **f, "seq": seq}

    def hello(self, f: Fields) -> bytes:
        f = self.control(HELLO, HELLO_END, f)
        f["bits"] = []
        return control_frame(f, HELLO_BODY, HELLO_END)

    def pause(self, f: Fields) -> bytes:
        """For as many queues as the other side has, unless told otherwise."""
        if "queues" not in f:
            f["queues"] = self.heard.get("queues", self.says["queues"])
        bitmap = max((f["queues"] + 7) // 8,
                     max(f.get("bits", []), default=0) // 8 + 1)
        end = BITMAP + bitmap
        if "roots" in f:
            f.setdefault("flags", F_ROOTS)
            end += roots_length(f["roots"])
        f = self.control(PAUSE, end, f)
        return control_frame(f, PAUSE_BODY, end)

    def kept(self, f: Fields) -> bytes:
        if "pfc" in f:
            return pfc_frame(self.mac, f["pfc"], [0xffff])
        return self.pause(dict(f))

    def seen(self, want: Fields) -> List[Fields]:
        with self.lock:
            arrived = list(self.arrived)
        frames = [decode(*one) for one in arrived]
        return [f for f in frames
                if all(f.get(k) == v for k, v in want.items())]


class Neighbours:
    """All of them. One thread listens and one talks for all: threads of one process run
    one after the other in the simulator of several processors, and two for each of many
    neighbours leave no time to the rest."""

    def __init__(self) -> None:
        self.by_name: Dict[str, Neighbour] = {}
        self.lock = threading.Lock()    # open and close against the threads
        self.selector = selectors.DefaultSelector()
        for run in (self.listen, self.talk):
            threading.Thread(target=run, daemon=True).start()

    def __getitem__(self, name: str) -> Neighbour:
        return self.by_name[name]

    def open(self, name: str, ns: str, dev: str) -> Neighbour:
        n = Neighbour(ns, dev)
        with self.lock:
            if name in self.by_name:
                self.shut(name)         # one of another test
            self.by_name[name] = n
            self.selector.register(n.sock, selectors.EVENT_READ, n)
        return n

    def shut(self, name: str) -> None:
        n = self.by_name.pop(name)
        self.selector.unregister(n.sock)
        n.sock.close()

    def close(self) -> None:
        with self.lock:
            for name in list(self.by_name):
                self.shut(name)

    def listen(self) -> None:
        buf = bytearray(2048)
        while True:
            ready = self.selector.select()
            with self.lock:
                for key, _ in ready:
                    try:
                        key.data.receive(buf)
                    except OSError:     # the link is down, or it was closed meanwhile
                        continue

    def talk(self) -> None:
        while True:
            with self.lock:
                for n in self.by_name.values():
                    try:
                        n.talk()
                    except OSError:     # the link is down
                        continue
            time.sleep(0.05)


# ---- commands ----

def value(text: str) -> Any:
    """A number if it looks like one."""
    if text == "none":
        return None
    try:
        return int(text, 0)
    except ValueError:
        return text


def fields(words: List[str]) -> Fields:
    f: Fields = {}
    for word in words:
        key, _, text = word.partition("=")
        if key in ("bits", "roots"):
            f[key] = [int(one, 0) for one in text.split(",") if one]
        elif key == "tags":
            f[key] = [(int(tpid, 16), int(tci, 0)) for tpid, tci in
                      (tag.split(":") for tag in text.split(",") if tag)]
        elif key in ("ethertype", "from", "to", "via"):
            f[key] = text
        elif key == "gap":
            f[key] = float(text)
        else:
            f[key] = value(text)
    return f


def control_fields(words: List[str]) -> Fields:
    f = fields(words)
    if "ethertype" in f:
        f["ethertype"] = int(f["ethertype"], 16)
    return f


def fuzz_frame(n: Neighbour, rnd: random.Random,
               samples: List[bytes]) -> bytes:
    kind = rnd.randrange(8)
    if kind == 0:       # noise behind the magic
        return samples[0][:18] + rnd.randbytes(rnd.randrange(0, 1400))
    f = bytearray(rnd.choice(samples))
    n.seq += 1
    struct.pack_into("!I", f, 26, n.seq)
    if kind == 1:       # good as it is
        return bytes(f)
    for _ in range(rnd.randrange(3)):
        f[rnd.randrange(18, len(f))] = rnd.choice((0, 1, 0x80, 0xff))
    if kind == 2:
        f = f[:rnd.randrange(18, len(f))]
    elif kind == 3:
        f += rnd.randbytes(rnd.randrange(1, 900))
    return bytes(f)


class Commands:
    """What standard input can ask for."""

    def __init__(self) -> None:
        self.neighbours = Neighbours()

    def open(self, name: str, ns: str, dev: str) -> Any:
        n = self.neighbours.open(name, ns, dev)
        return {"mac": n.mac, **n.says}

    def close(self) -> Any:
        self.neighbours.close()

    def set(self, name: str, *words: str) -> Any:
        n = self.neighbours[name]
        f = fields(list(words))
        n.seq = f.pop("seq", n.seq)
        n.says.update(f)
        return n.says

    def hello(self, name: str, *words: str) -> Any:
        n = self.neighbours[name]
        f = control_fields(list(words))
        for _ in range(f.pop("count", 1)):
            if f.get("nonce") == "random":
                n.send(n.hello({**f, "nonce": random.getrandbits(32) | 1}))
            else:
                n.send(n.hello(dict(f)))

    def pause(self, name: str, *words: str) -> Any:
        n = self.neighbours[name]
        f = control_fields(list(words))
        for _ in range(f.pop("count", 1)):
            n.send(n.pause(dict(f)))

    def talk(self, name: str, period: str) -> Any:
        self.neighbours[name].period = float(period)

    def keep(self, name: str, period: str, *words: str) -> Any:
        n = self.neighbours[name]
        f = control_fields(list(words))
        n.keep = (0.0, {})
        if float(period):
            n.send(n.kept(f))
        n.keep = (float(period), f)

    def loop(self, name: str, count: str = "1") -> Any:
        n = self.neighbours[name]
        if n.newest_hello is None:
            raise ValueError("no HELLO heard")
        for _ in range(int(count)):
            n.send(n.newest_hello)

    def raw(self, name: str, data: str, count: str = "1") -> Any:
        for _ in range(int(count)):
            self.neighbours[name].send(bytes.fromhex(data))

    def pfc(self, name: str, enable: str, *quanta: str) -> Any:
        n = self.neighbours[name]
        n.send(pfc_frame(n.mac, int(enable, 0), [int(q) for q in quanta]))

    def udp(self, name: str, *words: str) -> Any:
        n = self.neighbours[name]
        f: Fields = {
            "src": n.mac, "sport": 1000, "dport": 9, "count": 1,
            "size": 1000, "tags": [], "tos": 0, "label": 0, "gap": 0.0,
            "options": 0, "span": 1, "along": "from,to", "wrap": "",
            **fields(list(words))}
        forged = f["src"] == "random"
        first = {key: f[key] if key == "sport" else ipaddress.ip_address(f[key])
                 for key in f["along"].split(",")}
        for flow in range(f["span"]):
            for key, start in first.items():
                f[key] = start + flow if key == "sport" else str(start + flow)
            for _ in range(f["count"]):
                if forged:
                    f["src"] = mac_text(b"\x02" + random.randbytes(5))
                n.send(udp_frame(f))
                if f["gap"]:
                    time.sleep(f["gap"])

    def fuzz(self, name: str, count: str, seed: str) -> Any:
        n = self.neighbours[name]
        rnd = random.Random(int(seed))
        samples = [n.hello({})] * 4 + [
            n.pause({"bits": [b for b in range(32) if rnd.random() < share],
                     "hold": hold})
            for share in (0, 0.1, 0.5, 1) for hold in (0, 10**6, 10**9)]
        samples += [n.pause({"bits": list(range(paused)), "hold": 10**6,
                             "roots": [rnd.getrandbits(32) for _ in range(paused)]})
                    for paused in (1, 5, 32)]
        for _ in range(int(count)):
            try:
                n.send(fuzz_frame(n, rnd, samples))
            except OSError:
                time.sleep(0.001)   # the ring is full

    def clear(self, name: str) -> Any:
        n = self.neighbours[name]
        with n.lock:
            n.arrived.clear()

    def seen(self, name: str, *words: str) -> Any:
        return self.neighbours[name].seen(fields(list(words)))

    def wait(self, name: str, seconds: str, number: str, *words: str) -> Any:
        n = self.neighbours[name]
        want = fields(list(words))
        end = time.monotonic() + float(seconds)
        while True:
            frames = n.seen(want)
            if len(frames) >= int(number) or time.monotonic() > end:
                return frames
            time.sleep(0.1)

    def count(self, name: str, field: str, *words: str) -> Any:
        result: Dict[str, int] = {}
        for f in self.neighbours[name].seen(fields(list(words))):
            key = json.dumps(f.get(field)).strip('"')
            result[key] = result.get(key, 0) + 1
        return result


def main() -> None:
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    commands = Commands()
    known = [name for name in vars(Commands) if not name.startswith("_")]
    for line in sys.stdin:
        words = line.split()
        try:
            if not words or words[0] not in known:
                raise ValueError("unknown command")
            result = getattr(commands, words[0])(*words[1:])
            with open(sys.argv[1], "w", encoding="ascii") as answer:
                json.dump(result, answer)
            print("ok", flush=True)
        except Exception as e:  # whatever it is, it is the answer
            print(f"error {e!r}", flush=True)
    commands.close()


if __name__ == "__main__":
    main()
