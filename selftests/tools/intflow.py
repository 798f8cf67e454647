#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Frames with room for INT, from one end of a network to the other.

  intflow.py NS:DEV NS:DEV [NS:DEV:DEV] [FIELD=VALUE...] [+ FIELD=VALUE...]...

Sends frames out of the first device, whatever qdisc it has, and looks at what
comes in through the second, tags included. Several kinds of frames can be given,
with + between them; the fields of the first hold for the others, too. Prints JSON:
a list of what came of each kind, the packets in the order in which they came.
Fragments of IPv4 are put together as far as they came: pieces has their offsets.
With NS:DEV:DEV as third end, frames go through a router with these two ports.

  carrier=tcp|udp|plain  plain: UDP without INT
  port=N                 UDP destination port of INT (default 49089)
  count=N gap=SECONDS    packets, and the time between two
  size=N                 bytes of payload
  version=4|6            of IP
  proto=N                that IP tells, if not as it should be
  slots=N                records that the TCP option has room for (default 3)
  nops=N                 NOPs before it; and with ts=1 timestamps before these
  kind=N optlen=N exid=N of the TCP option, if not as it should be
  echoes=N               of 4 bytes, behind it
  doff=N                 of the TCP header, if not as it should be
  syn=1                  the segment is a SYN
  sum=ok|none|partial|gso  transport checksum: there; 0 (carrier=udp has none if
                         nothing is said); left to the device; also segments of
                         mss=N bytes for the device to cut
  nhop=N path=N          in the head that is sent with UDP; in TCP, N records that
                         are not empty
  junk=1                 these are junk
  records=N              of them that are sent already, with UDP (default nhop)
  vlan=ID                a C-tag in the packet, stag=ID an S-tag around it
  ipopts=WORDS           IP options that do nothing
  tos=N                  of IPv4
  ttl=N                  of IP
  icmp=TYPE cut=N        an ICMP error, or redirect, that quotes the packet, of its transport
                         header and payload N bytes (default 60); has the same IP options,
                         tags and sum
  fragment=1             says that more fragments follow
  ethertype=N            and a payload that is none of IP's
  wait=SECONDS           for the last packet (default 3)

The decoder is written from HPCC's Fig. 7 and docs/wire-format.md, not from
<linux/bfc_int.h>. In TCP nhop is the number of records that are not empty, and one
more if the option says that there were more hops; path is their ids, the first one
last.
"""
from __future__ import annotations

import errno
import ipaddress
import json
import socket
import struct
import sys
import time
from typing import Any, Dict, List, Optional, Tuple

from bfcframe import in_ns, mac_bytes

ETH_P_ALL = 3
SOL_PACKET = 263
PACKET_AUXDATA = 8
PACKET_VNET_HDR = 15
PACKET_OUTGOING = 4
STATUS_CSUM_NOT_READY = 0x08
STATUS_VLAN_VALID = 0x10
SO_RCVBUFFORCE = 33
INT_PORT = 0xbfc1
PLAIN_PORT = 5000
ICMP, TCP, UDP, ICMP6 = 1, 6, 17, 58
REDIRECT6 = 137
SOURCES = ipaddress.IPv4Address("10.0.0.1").packed, ipaddress.IPv6Address("fd00::1").packed
VNET_NEEDS_CSUM = 1
VNET_GSO = {4: 1, 6: 4}

Fields = Dict[str, Any]
DEFAULT: Fields = {
    "carrier": "tcp", "port": INT_PORT, "count": 1, "gap": 0.0,
    "size": 100, "version": 4, "proto": None, "slots": 3, "nops": 0,
    "ts": 0, "kind": 253, "exid": 0xbfc1, "optlen": None, "echoes": 0, "doff": None,
    "syn": 0, "sum": None, "mss": 0, "nhop": 0, "path": 0,
    "records": None, "junk": 0, "vlan": None, "stag": None, "ipopts": 0, "fragment": 0, "tos": 0, "ethertype": 0,
    "ttl": 64, "icmp": None, "cut": 60, "wait": 3.0,
}


def ones(data: bytes, start: int = 0) -> int:
    """The Internet checksum's sum, not complemented."""
    if len(data) % 2:
        data += b"\0"
    total: int = start + sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xffff) + (total >> 16)
    return total


def pseudo(version: int, header: bytes, proto: int, length: int) -> bytes:
    if version == 4:
        return header[12:20] + struct.pack("!HH", proto, length)
    return header[8:40] + struct.pack("!IHBB", length, 0, 0, proto)


def payload_of(f: Fields, number: int) -> bytes:
    return struct.pack("!I", number) + bytes((number + 7 * i) & 0xff for i in range(f["size"] - 4))


def segment(f: Fields, number: int) -> Tuple[bytes, int]:
    """TCP header and payload; where the checksum is."""
    filled = bytes((i * 53 + number * 11) * f["junk"] & 0xff | i % 8 // 7
                   for i in range(8 * min(f["nhop"], f["slots"])))
    records = filled.ljust(8 * f["slots"], b"\0")
    option = struct.pack("!BBH", f["kind"], len(records) + 4, f["exid"]) + records
    if f["optlen"] is not None:
        option = option[:1] + bytes([f["optlen"]]) + option[2:]
    options = b"\1\1\x08\x0a\1\2\3\4\5\6\7\x08" * f["ts"] + b"\1" * f["nops"] + option
    options += struct.pack("!BBH", 254, 4, f["exid"]) * f["echoes"]
    options += b"\0" * (-len(options) % 4)
    if len(options) > 40:
        raise ValueError("no room for these options")
    doff = f["doff"] or 5 + len(options) // 4
    header = struct.pack("!HHIIBBHHH", 40000, 5001, 1000 + number * f["size"], 77,
                         doff << 4, 2 if f["syn"] else 0x10, 500, 0, 0)
    return header + options + payload_of(f, number), 16


def datagram(f: Fields, number: int) -> Tuple[bytes, int]:
    data = payload_of(f, number)
    port = PLAIN_PORT
    if f["carrier"] == "udp":
        records = f["nhop"] if f["records"] is None else f["records"]
        data = (struct.pack("!H", f["nhop"] << 12 | f["path"])
                + bytes((i * 37) & 0xff for i in range(8 * records)) + data)
        port = f["port"]
    return struct.pack("!HHHH", 40000, port, 8 + len(data), 0) + data, 6


def ip_header(f: Fields, number: int, proto: int, length: int) -> bytes:
    if f["version"] == 6:
        return struct.pack("!IHBB16s16s", 6 << 28, length, proto, f["ttl"], SOURCES[1],
                           ipaddress.IPv6Address("fd00::100").packed)
    options: bytes = b"\1\1\1\0" * f["ipopts"]
    header = struct.pack("!BBHHHBBH4s4s", 0x45 + f["ipopts"], f["tos"],
                         20 + len(options) + length, number, 0x2000 * f["fragment"], f["ttl"],
                         proto, 0, SOURCES[0], ipaddress.IPv4Address("10.0.0.100").packed) + options
    return header[:10] + struct.pack("!H", 0xffff ^ ones(header)) + header[12:]


def with_sum(f: Fields, body: bytes, at: int, start: int) -> bytes:
    """With the checksum at this offset that begins with that of a pseudo header."""
    if f["sum"] in ("partial", "gso"):
        check = start
    elif f["sum"] == "none":
        check = 0
    else:
        check = 0xffff ^ ones(body, start) or 0xffff
    return body[:at] + struct.pack("!H", check) + body[at + 2:]


def packet(f: Fields, number: int) -> Tuple[bytes, bytes, int]:
    """IP header; what follows it; where the checksum is in that."""
    if f["icmp"] is not None:
        return error(f, number)
    proto = TCP if f["carrier"] == "tcp" else UDP
    body, at = segment(f, number) if proto == TCP else datagram(f, number)
    header = ip_header(f, number, f["proto"] or proto, len(body))
    return header, with_sum(f, body, at, ones(pseudo(f["version"], header, proto, len(body)))), at


def error(f: Fields, number: int) -> Tuple[bytes, bytes, int]:
    header, body, _ = packet(dict(f, icmp=None, sum="none" if f["carrier"] == "udp" else "ok"), number)
    quote = header + body[:f["cut"]]
    body = struct.pack("!BBHI", f["icmp"], 4, 0, 1000)
    if f["icmp"] == REDIRECT6:
        quote += bytes(-len(quote) % 8)
        body += SOURCES[1] * 2 + b"\2\1\2\0\0\0\0\1" + struct.pack("!BB6x", 4, 1 + len(quote) // 8)
    body += quote
    proto = ICMP if f["version"] == 4 else ICMP6
    header = ip_header(dict(f, fragment=0), number, proto, len(body))
    start = ones(pseudo(6, header, proto, len(body))) if proto == ICMP6 else 0
    return header, with_sum(dict(f, sum=f["sum"] if f["sum"] == "partial" else "ok"),
                            body, 2, start), 2


def frame(f: Fields, number: int, ends: Fields) -> bytes:
    out = mac_bytes(ends["dst"]) + mac_bytes(ends["src"])
    if f["stag"] is not None:
        out += struct.pack("!HH", 0x88a8, f["stag"])
    if f["vlan"] is not None:
        out += struct.pack("!HH", 0x8100, f["vlan"])
    if f["ethertype"]:
        return bytes(10) + out + struct.pack("!H", f["ethertype"]) + payload_of(f, number)
    header, body, at = packet(f, number)
    left = f["sum"] in ("partial", "gso")
    out += struct.pack("!H", 0x800 if f["version"] == 4 else 0x86dd)
    hlen = len(body) - f["size"]
    vnet = struct.pack("=BBHHHH", VNET_NEEDS_CSUM if left else 0,
                       VNET_GSO[f["version"]] if f["sum"] == "gso" else 0,
                       len(out) + len(header) + hlen if left else 0, f["mss"],
                       len(out) + len(header) if left else 0, at if left else 0)
    whole: bytes = vnet + out + header + body
    return whole


# ---- what came ----

def decode_int(data: bytes, records: int, f: Fields) -> None:
    word = struct.unpack_from("!H", data)[0]
    f["nhop"], f["path"] = word >> 12, word & 0xfff
    f["hops"] = []
    for i in range(records):
        bits = int.from_bytes(data[2 + 8 * i:10 + 8 * i], "big")
        f["hops"].append({"speed": bits >> 60, "ts": bits >> 36 & 0xffffff,
                          "tx": bits >> 16 & 0xfffff, "qlen": bits & 0xffff})


def decode_option(option: bytes, f: Fields) -> None:
    exid = struct.unpack_from("!H", option, 2)[0]
    f["nhop"], f["path"], f["hops"] = 0, 0, []
    for i in range((option[1] - 4) // 8):
        bits = int.from_bytes(option[4 + 8 * i:12 + 8 * i], "big")
        exponent, qlen = bits >> 13 & 7, bits >> 4 & 0x1ff
        if exponent:
            qlen = (qlen + 512) << exponent - 1
        f["hops"].append({"speed": bits >> 60, "ts": bits >> 36 & 0xffffff,
                          "tx": bits >> 16 & 0xfffff, "qlen": qlen})
        f["path"] |= (bits & 15) << 4 * i
        f["nhop"] += bits & 15 > 0
    f["nhop"] += exid == 0xbfc2


def decode_tcp(body: bytes, f: Fields) -> bytes:
    hlen = (body[12] >> 4) * 4
    f["carrier"] = "tcp"
    f["seq"] = struct.unpack_from("!I", body, 4)[0]
    options = body[20:hlen]
    at = 0
    while at < len(options) and options[at]:
        if options[at] == 1:
            at += 1
            continue
        if at + 2 > len(options) or options[at + 1] < 2:
            break
        if options[at] in (253, 254) and at + 4 <= len(options):
            f["option"] = options[at:].hex()
            decode_option(options[at:].ljust(44, b"\0"), f)
        at += options[at + 1]
    return body[hlen:]


def decode_udp(body: bytes, f: Fields) -> bytes:
    f["carrier"] = "plain"
    length = struct.unpack_from("!H", body, 4)[0]
    f["udp_len_ok"] = length == len(body)
    body = body[8:length]
    if struct.unpack_from("!H", f["l4"], 2)[0] != PLAIN_PORT:
        f["carrier"] = "udp"
        records = min(body[0] >> 4, 5)
        decode_int(body, records, f)
        body = body[2 + 8 * records:]
    return body


def quote_at(body: bytes) -> int:
    """Where the quoted packet begins in an ICMP error or redirect."""
    if body[0] != REDIRECT6:
        return 8
    at = 40
    while at + 8 < len(body) and body[at] != 4 and body[at + 1]:
        at += 8 * body[at + 1]
    return at + 8


def decode_error(f: Fields, version: int, header: bytes, body: bytes, status: int) -> None:
    """ICMP; f["quote"] tells of the packet in it, as f does of others."""
    start = ones(pseudo(6, header, ICMP6, len(body))) if version == 6 else 0
    if status & STATUS_CSUM_NOT_READY:
        f["sum"] = "partial" if struct.unpack_from("!H", body, 2)[0] == start else "bad partial"
    else:
        f["sum"] = "ok" if ones(body, start) == 0xffff else "bad"
    f["icmp"], f["body"] = body[0], body
    ip = body[quote_at(body):]
    hlen, proto = ((ip[0] & 15) * 4, ip[9]) if version == 4 else (40, ip[6])
    quote: Fields = {"bytes": len(ip) - hlen, "l4": ip[hlen:].ljust(128, b"\0")}
    if proto in (TCP, UDP):
        (decode_tcp if proto == TCP else decode_udp)(quote["l4"], quote)
    del quote["l4"]
    f["quote"] = quote


def changed(kind: Fields, number: int, body: bytes) -> List[int]:
    """What is not as it was sent in an ICMP error but for its checksum: offsets from the
    transport header in it.
    """
    sent = packet(kind, number)[1]
    l4 = quote_at(sent) + len(ip_header(kind, 0, 0, 0))
    if len(sent) != len(body):
        return [len(body) - l4]
    return [at - l4 for at in range(len(sent)) if sent[at] != body[at] and at not in (2, 3)]


def decode(when: float, data: bytes, aux: Optional[Tuple[int, int, int]]) -> Fields:
    f: Fields = {"t": when, "len": len(data), "tags": []}
    status, tpid, tci = aux or (0, 0, 0)
    if status & STATUS_VLAN_VALID:
        f["tags"].append([tpid, tci])
    at = 12
    while struct.unpack_from("!H", data, at)[0] in (0x88a8, 0x8100):
        f["tags"].append(list(struct.unpack_from("!HH", data, at)))
        at += 4
    ethertype = struct.unpack_from("!H", data, at)[0]
    f["hex"] = data.hex()
    ip = data[at + 2:]
    if ethertype == 0x800 and len(ip) >= 20:
        version, hlen, proto = 4, (ip[0] & 15) * 4, ip[9]
        total = struct.unpack_from("!H", ip, 2)[0]
        f["ip_ok"] = ones(ip[:hlen]) == 0xffff and total <= len(ip)
    elif ethertype == 0x86dd and len(ip) >= 40:
        version, hlen, proto = 6, 40, ip[6]
        total = 40 + struct.unpack_from("!H", ip, 4)[0]
        f["ip_ok"] = total <= len(ip)
    else:
        return f
    cut = version == 4 and struct.unpack_from("!H", ip, 6)[0] & 0x3fff
    f["l3"] = (version, proto, ip[:hlen], ip[hlen:total], status, cut)
    return f


def decode_l4(f: Fields, version: int, proto: int, header: bytes, body: bytes,
              status: int) -> None:
    if proto in (ICMP, ICMP6):
        decode_error(f, version, header, body, status)
    if proto not in (TCP, UDP) or len(body) < 8:
        return
    start = ones(pseudo(version, header, proto, len(body)))
    check = struct.unpack_from("!H", body, 16 if proto == TCP else 6)[0]
    if status & STATUS_CSUM_NOT_READY:
        f["sum"] = "partial" if check == start else "bad partial"
    elif proto == UDP and not check:
        f["sum"] = "none"
    else:
        f["sum"] = "ok" if ones(body, start) == 0xffff else "bad"
    f["l4"] = body
    payload = decode_tcp(body, f) if proto == TCP else decode_udp(body, f)
    del f["l4"]
    f["payload"] = payload


class Packets:
    """What came, fragments put together."""

    def __init__(self) -> None:
        self.done: List[Fields] = []
        self.cut: Dict[bytes, List[Fields]] = {}

    def add(self, f: Fields) -> None:
        if "l3" not in f:
            self.done.append(f)
            return
        version, proto, header, body, status, cut = f["l3"]
        if not cut:
            del f["l3"]
            decode_l4(f, version, proto, header, body, status)
            self.done.append(f)
            return
        pieces = self.cut.setdefault(header[4:6], [])
        pieces.append(f)
        pieces.sort(key=offset)
        if not pieces[-1]["l3"][5] & 0x2000 and len(joined(pieces)) == sum(
                len(piece["l3"][3]) for piece in pieces):
            self.end(header[4:6])

    def end(self, ident: bytes) -> None:
        """No more of this one."""
        pieces = self.cut.pop(ident)
        f = {"t": pieces[-1]["t"], "tags": pieces[0]["tags"], "hex": pieces[0]["hex"],
             "len": sum(piece["len"] for piece in pieces),
             "ip_ok": all(piece["ip_ok"] for piece in pieces),
             "pieces": [offset(piece) for piece in pieces]}
        version, proto, header, _, status, _ = pieces[0]["l3"]
        decode_l4(f, version, proto, header, joined(pieces), status)
        self.done.append(f)

    def all(self) -> List[Fields]:
        for ident in list(self.cut):
            self.end(ident)
        return self.done


def offset(piece: Fields) -> int:
    """Of a fragment, in bytes."""
    at: int = (piece["l3"][5] & 0x1fff) * 8
    return at


def joined(pieces: List[Fields]) -> bytes:
    """From the beginning as far as nothing is missing."""
    body = b""
    for piece in pieces:
        if offset(piece) == len(body):
            body += piece["l3"][3]
    return body


class Sink:
    """An end of the network, listening."""

    def __init__(self, ns: str, dev: str) -> None:
        self.sock = in_ns(ns, lambda: socket.socket(socket.AF_PACKET, socket.SOCK_RAW,
                                                    socket.htons(ETH_P_ALL)))
        self.sock.setsockopt(SOL_PACKET, PACKET_AUXDATA, 1)
        self.sock.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 1 << 24)
        self.sock.bind((dev, 0))

    def collect(self, src: bytes, wanted: int, wait: float, routed: bool) -> List[Fields]:
        """Frames from src: until so many came, or none for a while, whatever others send.
        A router sends others than those that it forwards, too.
        """
        got = Packets()
        end = time.monotonic() + wait
        while len(got.done) < wanted:
            left = end - time.monotonic()
            if left <= 0:
                break
            self.sock.settimeout(left)
            try:
                data, ancillary, _, addr = self.sock.recvmsg(65536, 256)
            except socket.timeout:
                break
            if addr[2] == PACKET_OUTGOING or data[6:12] != src:
                continue
            aux = None
            for level, kind, value in ancillary:
                if level == SOL_PACKET and kind == PACKET_AUXDATA:
                    status, _, _, _, _, tci, tpid = struct.unpack("=IIIHHHH", value[:20])
                    aux = (status, tpid, tci)
            f = decode(time.monotonic(), data, aux)
            if routed and not ("l3" in f and any(ip in f["l3"][2] for ip in SOURCES)):
                continue
            end = time.monotonic() + wait
            got.add(f)
        return got.all()


def parse(args: List[str], base: Fields) -> Fields:
    f = dict(base)
    for arg in args:
        name, value = arg.split("=", 1)
        if name not in f:
            raise ValueError(f"no such field: {name}")
        if name in ("gap", "wait"):
            f[name] = float(value)
        elif name in ("carrier", "sum"):
            f[name] = value
        else:
            f[name] = int(value, 0)
    return f


def checked(f: Fields) -> Fields:
    """RoCEv2 has no UDP checksum."""
    return dict(f, sum=f["sum"] or ("none" if f["carrier"] == "udp" else "ok"))


def send(source: socket.socket, data: bytes) -> None:
    """What the qdisc drops does not come: that is for others to see."""
    try:
        source.send(data)
    except OSError as error:
        if error.errno != errno.ENOBUFS:
            raise


def mac_of(sock: socket.socket) -> bytes:
    address: bytes = sock.getsockname()[4]
    return address


def main() -> int:
    if len(sys.argv) < 3:
        print(__doc__, file=sys.stderr)
        return 2
    ends = [arg.split(":", 1) for arg in sys.argv[1:3]]
    args = sys.argv[3:]
    router = args.pop(0).split(":") if args and ":" in args[0] else None
    groups: List[List[str]] = [[]]
    for arg in args:
        if arg == "+":
            groups.append([])
        else:
            groups[-1].append(arg)
    first = parse(groups[0], DEFAULT)
    kinds = [checked(first)] + [checked(parse(group, first)) for group in groups[1:]]

    source = in_ns(ends[0][0], lambda: socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0))
    source.setsockopt(SOL_PACKET, PACKET_VNET_HDR, 1)
    source.bind((ends[0][1], 0))
    sink = Sink(*ends[1])
    # A source of its own, so that nothing else is taken for an answer.
    src = came_from = bytes.fromhex("0256424643") + b"\1"
    dst = mac_of(sink.sock)
    if router:
        dst, came_from = [mac_of(Sink(router[0], dev).sock) for dev in router[1:]]
    out = []
    for kind in kinds:
        started = time.monotonic()
        for number in range(kind["count"]):
            pause = started + number * kind["gap"] - time.monotonic()
            if pause > 0:
                time.sleep(pause)
            send(source, frame(kind, number, {"dst": dst.hex(), "src": src.hex()}))
        wanted = kind["count"]
        if kind["sum"] == "gso":
            wanted *= -(-kind["size"] // kind["mss"])
        came = sink.collect(came_from, wanted, kind["wait"], router is not None)
        sent = b"".join(payload_of(kind, n) for n in range(kind["count"]))
        for number, f in enumerate(came):
            body = f.pop("body", None)
            if body is not None and kind["icmp"] is not None:
                f["changed"] = changed(kind, number, body)
            payload = f.pop("payload", None)
            if payload is None:
                continue
            # Each packet's number, or with GSO its bytes of the whole.
            number = struct.unpack("!I", payload[:4].rjust(4, b"\xff"))[0]
            f["payload_ok"] = payload in sent if kind["sum"] == "gso" else \
                payload == payload_of(kind, number)
            f["bytes"] = len(payload)
        out.append(came)
    json.dump(out, sys.stdout)
    print()
    return 0


if __name__ == "__main__":
    sys.exit(main())
