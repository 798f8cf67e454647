#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Do other programs read the PFC frames of sch_bfc, and does it read those of them?

  frames_pfc.py PROGRAM [--frames N] [--seed N]

PROGRAM is frames_pfc, the functions of bfc_pfc_wire.h behind a pipe. Frames that
it writes are given to tshark and to scapy, frames that scapy builds to it: PFC,
PAUSE of IEEE 802.3x, other MAC control, PFC behind a VLAN tag, and anything.
KTAP; exit code 1 if a test failed, 4 if tshark or scapy is not installed.
"""
import random
import struct
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, List, Sequence, Tuple

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tc"))
sys.dont_write_bytecode = True

from bfc_uapi import Ktap  # noqa: E402
from frames import ask, begin, write_pcap  # noqa: E402

SOURCE = "021122334455"
GROUP = "01:80:c2:00:00:01"
Pfc = Tuple[int, List[int]]     # class-enable vector, quanta


def random_pfc(count: int) -> List[Pfc]:
    """All vectors with one priority, none and all, then anything."""
    edge = [0, 1, 0x00ff, 0xff00, 0x8000, 0xffff]
    some = [(1 << p, [edge[(p + q) % 6] for q in range(8)]) for p in range(8)]
    some += [(0, [0xffff] * 8), (255, [0] * 8), (255, list(range(1, 9)))]
    while len(some) < count:
        some.append((random.randrange(256),
                     [random.choice(edge + [random.randrange(65536)]) for _ in range(8)]))
    return some


def seen(pfc: Pfc) -> Pfc:
    """What arrives: quanta of priorities that are not enabled are zero."""
    return pfc[0], [q if pfc[0] >> p & 1 else 0 for p, q in enumerate(pfc[1])]


def answer(pfc: Pfc) -> str:
    enable, quanta = seen(pfc)
    return f"pfc {enable} {' '.join(map(str, quanta))}"


def tshark(frames: Sequence[bytes]) -> List[List[str]]:
    """Of each frame: what tshark has to complain of, then its numbers."""
    fields = ["_ws.expert.message", "_ws.malformed", "frame.protocols", "eth.dst", "eth.src",
              "frame.len", "macc.opcode", "macc.cbfc.enbv"]
    fields += [f"macc.cbfc.enbv.c{p}" for p in range(8)]
    fields += [f"macc.cbfc.pause_time.c{p}" for p in range(8)]
    with tempfile.NamedTemporaryFile(suffix=".pcap") as pcap:
        write_pcap(pcap.name, frames)
        args = ["tshark", "-n", "-r", pcap.name, "-T", "fields", "-E", "separator=;"]
        for field in fields:
            args += ["-e", field]
        out = subprocess.run(args, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                             text=True, check=True).stdout
    return [line.split(";") for line in out.splitlines()]


def number(text: str) -> int:
    """A field; from tshark 4.2 on bits are False and True."""
    words = {"": -1, "False": 0, "True": 1}
    return words[text] if text in words else int(text, 0)


def check_tshark(frames: Sequence[bytes], pfcs: Sequence[Pfc]) -> List[str]:
    bad = []
    rows = tshark(frames)
    if len(rows) != len(frames):
        return [f"{len(rows)} lines for {len(frames)} frames"]
    for row, pfc in zip(rows, pfcs):
        enable, quanta = seen(pfc)
        numbers = [number(x) for x in row[5:]]
        want = [60, 0x0101, enable] + [enable >> p & 1 for p in range(8)] + quanta
        if row[:5] != ["", "", "eth:ethertype:macc", GROUP, "02:11:22:33:44:55"]:
            bad.append(f"{pfc}: {row[:5]}")
        elif numbers != want:
            bad.append(f"{pfc}: {numbers}")
    return bad


def scapy_pfc(mac: Any, pfc: Pfc) -> Any:
    fields = {f"c{p}_enabled": pfc[0] >> p & 1 for p in range(8)}
    fields.update({f"c{p}_pause_time": pfc[1][p] for p in range(8)})
    return mac.MACControlClassBasedFlowControl(**fields)


def check_scapy(mac: Any, l2: Any, frames: Sequence[bytes], pfcs: Sequence[Pfc]) -> List[str]:
    bad = []
    for f, pfc in zip(frames, pfcs):
        packet = l2.Ether(f)
        if not packet.haslayer(mac.MACControlClassBasedFlowControl):
            bad.append(f"{pfc}: {packet.summary()}")
            continue
        layer = packet[mac.MACControlClassBasedFlowControl]
        got = (sum(getattr(layer, f"c{p}_enabled") << p for p in range(8)),
               [getattr(layer, f"c{p}_pause_time") for p in range(8)])
        if got != seen(pfc) or packet.dst != GROUP or packet.src != "02:11:22:33:44:55":
            bad.append(f"{pfc}: {got}")
        # And byte by byte: it would have written the same.
        built = bytes(l2.Ether(dst=GROUP, src=packet.src) / scapy_pfc(mac, seen(pfc)))
        if built != f:
            bad.append(f"{pfc}: {built.hex()} is not {f.hex()}")
    return bad


def compare(program: str, frames: Sequence[bytes], want: Sequence[str]) -> List[str]:
    got = ask(program, [f"get {f.hex()}" for f in frames])
    return [f"{f.hex()}: {g}, not {w}" for f, g, w in zip(frames, got, want) if g != w]


def reference(f: bytes) -> str:
    """A decoder by other means, for bytes of any kind."""
    if len(f) < 14 or f[12:14] != b"\x88\x08":
        return "none"
    if len(f) < 16 or f[:6] != bytes.fromhex(GROUP.replace(":", "")):
        return "other"
    opcode = struct.unpack("!H", f[14:16])[0]
    if opcode == 1:
        return "pause"
    if opcode != 0x101:
        return "other"
    if len(f) < 34:
        return "short"
    return answer((f[17], list(struct.unpack("!8H", f[18:34]))))


def fuzzed(frames: Sequence[bytes], count: int) -> List[bytes]:
    out = []
    for _ in range(count):
        f = bytearray(random.choice(frames))
        for _ in range(random.randrange(4)):
            f[random.randrange(len(f))] = random.randrange(256)
        if random.randrange(3) == 0:
            del f[random.randrange(len(f) + 1):]
        out.append(bytes(f))
    return out


def main() -> int:
    args, (l2, mac, packets) = begin(2000, ["layers.l2", "contrib.mac_control", "packet"])

    ktap = Ktap(8)

    def result(name: str, bad: List[str]) -> None:
        ktap.result(not bad, name, "\n".join(bad[:8]))

    pfcs = random_pfc(args.frames)
    frames = [bytes.fromhex(x) for x in ask(args.program, [
        f"put {SOURCE} {enable} {' '.join(map(str, quanta))}" for enable, quanta in pfcs])]
    result("frames: tshark reads our PFC frames, without complaint", check_tshark(frames, pfcs))
    result("frames: scapy reads our PFC frames, and writes the same",
           check_scapy(mac, l2, frames, pfcs))

    ether = l2.Ether(dst=GROUP, src="02:11:22:33:44:55")
    of_scapy = [bytes(ether / scapy_pfc(mac, p)) for p in pfcs]
    result("frames: we read scapy's PFC frames",
           compare(args.program, of_scapy, [answer(p) for p in pfcs]))
    result("frames: not those sent to an address of a station",
           compare(args.program, [bytes.fromhex(SOURCE) + f[6:] for f in of_scapy],
                   ["other"] * len(pfcs)))
    times = [0, 1, 255, 256, 0x0101, 65535] + [random.randrange(65536) for _ in range(200)]
    pauses = [bytes(ether / mac.MACControlPause(pause_time=t)) for t in times]
    result("frames: PAUSE of 802.3x is not taken for PFC",
           compare(args.program, pauses, ["pause"] * len(pauses)))
    others = [bytes(ether / layer) for layer in (
        mac.MACControlGate(timestamp=0x01010101), mac.MACControlReport(),
        mac.MACControlRegisterReq(), mac.MACControlRegister(), mac.MACControlRegisterAck())]
    result("frames: other MAC control is neither PFC nor PAUSE",
           compare(args.program, others, ["other"] * len(others)))
    tagged = [bytes(ether / l2.Dot1Q(vlan=5, prio=3) / scapy_pfc(mac, p)) for p in pfcs[:100]]
    plain = [bytes(ether / packets.Raw(b"\x01\x01" * 40)), bytes(ether / l2.ARP())]
    result("frames: what is tagged, or no MAC control at all, stays in the stream",
           compare(args.program, tagged + plain, ["none"] * (len(tagged) + len(plain))))
    anything = fuzzed(of_scapy + pauses + others + tagged, 5 * args.frames)
    result("frames: mutilated ones, against another decoder",
           compare(args.program, anything, [reference(f) for f in anything]))
    return ktap.end()


if __name__ == "__main__":
    sys.exit(main())
