#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Does wireshark/bfc.lua read what the module and its programs write?

  frames_bfc.py PROGRAM [--frames N] [--seed N]

PROGRAM is frames_bfc, the functions of bfc_wire.h and bfc_int.h behind a pipe. What it
writes is given to tshark, and the fields are compared with the numbers that it was made
of; then mutilated frames, which must not disturb the dissector.
KTAP; exit code 1 if a test failed, 4 if tshark or scapy is not installed.
"""
import functools
import json
import random
import struct
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, Dict, List, Sequence, Tuple

TOP = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "selftests/tc"))
sys.dont_write_bytecode = True

from bfc_uapi import Ktap  # noqa: E402
from frames import ask, begin, write_pcap  # noqa: E402

SOURCE = bytes.fromhex("021122334455")
Row = Dict[str, List[str]]
HELLO = ["epoch", "seq", "hello.role", "hello.flags", "hello.classes", "hello.queues",
         "hello.incast_queue", "hello.modes", "hello.id", "hello.nonce", "hello.echo",
         "hello.sent", "hello.echo_sent", "hello.held"]
PAUSE = (["epoch", "seq", "pause.queues"] +
         [f"pause.prio{p}" for p in range(8)] + ["pause.drained", "pause.limit"])
HOP = ["int.speed", "int.ts", "int.tx", "int.qlen"]
SPEEDS = 16


def asked(program: str, commands: Sequence[str]) -> List[bytes]:
    return [bytes.fromhex(answer) for answer in ask(program, commands)]


@functools.lru_cache(maxsize=None)
def info() -> str:
    """The field of the column: with a small letter from Wireshark 4.2 on"""
    done = subprocess.run(["tshark", "-G", "fields"], stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, text=True, check=True)
    return "_ws.col.info" if "\t_ws.col.info\t" in done.stdout else "_ws.col.Info"


def tshark(frames: Sequence[bytes], fields: Sequence[str],
           options: Sequence[str] = ()) -> List[Row]:
    """Of each frame: the values of the fields, with "bfc." in front"""
    names = ["bfc." + f for f in fields] + ["_ws.lua.error", "_ws.expert.message", info(),
                                            "infiniband.bth.opcode", "infiniband.bth.psn"]
    args = [str(TOP / "selftests/tools/tshark-bfc"), "-T", "json", *options]
    for name in names:
        args += ["-e", name]
    with tempfile.NamedTemporaryFile() as pcap:
        write_pcap(pcap.name, frames)
        done = subprocess.run(args, stdin=pcap, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              text=True)
    if done.returncode:
        raise SystemExit(done.stderr)
    if "Lua" in done.stderr or "lua" in done.stderr:
        raise SystemExit(done.stderr)
    return [row["_source"]["layers"] for row in json.loads(done.stdout)]


def numbers(row: Row, field: str) -> List[int]:
    words = {"True": 1, "False": 0}
    return [words[v] if v in words else int(v, 0) for v in row.get("bfc." + field, [])]


def compare(rows: Sequence[Row], fields: Sequence[str], wants: Sequence[Sequence[int]]) -> List[str]:
    bad = []
    if len(rows) != len(wants):
        return [f"{len(rows)} rows for {len(wants)} frames"]
    for row, want in zip(rows, wants):
        for field, value in zip(fields, want):
            if numbers(row, field) != [value]:
                bad.append(f"{field}: {numbers(row, field)}, not {value}")
        bad += row.get("_ws.expert.message", [])
    return bad


def bits(n: int) -> int:
    """Any number of so many bits, and now and then the largest"""
    return random.choice([random.getrandbits(n), random.getrandbits(n), (1 << n) - 1, 0])


def hellos(count: int) -> List[List[int]]:
    return [[bits(32), bits(32), random.randrange(2), random.randrange(8), bits(8),
             random.randint(1, 4094), bits(16), bits(2), bits(64), bits(32), bits(32), bits(64),
             bits(64), bits(64)] for _ in range(count)]


def check_hello(program: str, count: int) -> List[str]:
    wants = hellos(count)
    rows = tshark(asked(program, ["hello " + " ".join(map(str, w)) for w in wants]),
                  HELLO + ["hello.bye", "hello.stranger", "hello.echoed"])
    bad = compare(rows, HELLO, wants)
    for row, want in zip(rows, wants):
        flags = [numbers(row, "hello." + n) for n in ("bye", "stranger", "echoed")]
        if flags != [[want[3] >> b & 1] for b in range(3)]:
            bad.append(f"flags {want[3]}: {flags}")
        said = ("BYE" if want[3] & 1 else "HELLO") + (", echoed" if want[3] & 4 else "") + \
            f", {['switch', 'NIC'][want[2]]}, {want[5]} queues"
        if row[info()] != [said]:
            bad.append(f"{row[info()]}, not {said}")
    return bad


def check_pause(program: str, count: int) -> List[str]:
    wants, holds, sets = [], [], []
    for _ in range(count):
        queues = random.choice([0, 1, 7, 8, 9, 32, random.randint(1, 1024), 4094])
        wants.append([bits(32), bits(32), queues] + [bits(32) for _ in range(8)] +
                     [bits(64), bits(64)])
        holds.append(bits(32))
        sets.append(sorted(random.sample(range(queues), random.randint(0, min(queues, 40)))))
    rows = tshark(asked(program, ["pause " + " ".join(map(str, w[:2] + [h] + w[2:] + s))
                                for w, h, s in zip(wants, holds, sets)]),
                  PAUSE + ["pause.hold", "pause.thop", "pause.paused", "pause.npaused"])
    bad = compare(rows, PAUSE, wants)
    for row, want, hold, paused in zip(rows, wants, holds, sets):
        # Without a bitmap it is FAFC's, which has its T_hop there.
        got, said = [numbers(row, "pause.hold"), numbers(row, "pause.thop")], [[hold], []]
        if got != (said if want[2] else said[::-1]):
            bad.append(f"hold, thop: {got} for {hold} with {want[2]} queues")
        if numbers(row, "pause.paused") != paused:
            bad.append(f"paused: {numbers(row, 'pause.paused')}, not {paused}")
        if numbers(row, "pause.npaused") != [len(paused)]:
            bad.append(f"{numbers(row, 'pause.npaused')} paused, not {len(paused)}")
    return bad


def check_roots(program: str, count: int) -> List[str]:
    """Ids of roots behind the bitmap: each belongs to its queue."""
    commands, wants, lists = [], [], []
    for _ in range(count):
        queues = random.choice([1, 8, 9, 32, random.randint(1, 1024)])
        paused = sorted(random.sample(range(queues), random.randint(1, min(queues, 40))))
        first = random.choice([0, random.randrange(queues)])
        about = [q for q in paused if q >= first]
        ids = [bits(32) for _ in about[:random.randint(0, len(about))]]
        commands.append(" ".join(map(str, ["roots", first, len(ids), *ids, 1, 2, 3, queues] +
                                     [0] * 10 + paused)))
        wants.append([1, 1, first, len(ids)])
        lists.append((ids, paused, [f"PAUSE, {len(paused)} of {queues} queues"]))
    fields = ["pause.flags", "pause.has_roots", "pause.roots_first", "pause.nroots"]
    rows = tshark(asked(program, commands), fields + ["pause.root", "pause.paused"])
    bad = compare(rows, fields, wants)
    for row, want in zip(rows, lists):
        got = (numbers(row, "pause.root"), numbers(row, "pause.paused"), row[info()])
        if got != want:
            bad.append(f"{got}, not {want}")
    return bad


def random_hops(count: int) -> List[List[int]]:
    return [[random.randrange(SPEEDS), bits(24), bits(20), bits(16)] for _ in range(count)]


def check_hops(row: Row, hops: Sequence[Sequence[int]]) -> List[str]:
    want = [[h[0] for h in hops], [h[1] for h in hops], [h[2] * 128 for h in hops],
            [h[3] * 80 for h in hops]]
    got = [numbers(row, f) for f in HOP]
    return [] if got == want else [f"hops: {got}, not {want}"]


def check_udp(program: str, inet: Any, l2: Any, count: int) -> List[str]:
    bth = bytes.fromhex("0440ffff00000011800012340102030405060708")
    frames, wants = [], []
    for i in range(count):
        hops, path = random_hops(i % 6), random.getrandbits(12)
        # After five hops nHop goes on, up to 15.
        nhop = len(hops) if len(hops) < 5 else random.randint(5, 15)
        made = asked(program, [f"head {nhop} {path}"] +
                   ["hop " + " ".join(map(str, h)) for h in hops])
        frames.append(bytes(l2.Ether(src=SOURCE, dst="02:00:00:00:00:01") /
                            inet.IP(src="10.0.0.1", dst="10.0.0.2") /
                            inet.UDP(sport=50000, dport=49089, chksum=0) / (b"".join(made) + bth)))
        wants.append((hops, nhop, path))
    rows = tshark(frames, HOP + ["int.nhop", "int.path"])
    bad = []
    for row, (hops, nhop, path) in zip(rows, wants):
        bad += check_hops(row, hops)
        if (numbers(row, "int.nhop"), numbers(row, "int.path")) != ([nhop], [path]):
            bad.append(f"head: {row}, not {nhop} {path}")
        if row.get("infiniband.bth.opcode") != ["4"] or \
                row.get("infiniband.bth.psn") != ["4660"]:
            bad.append(f"no RoCEv2 behind it: {row}")
    # With a checksum it is not INT.
    with_sum = l2.Ether(frames[1])
    with_sum[inet.UDP].chksum = None
    for row in tshark([bytes(with_sum)], ["int.nhop"]):
        if numbers(row, "int.nhop"):
            bad.append(f"taken for INT: {row}")
    return bad


def tcp_qlen(qlen: int) -> int:
    """What is left of a length in TCP, with 9 bits of mantissa"""
    shift = max(0, qlen.bit_length() - 10)
    return qlen >> shift << shift


def check_tcp(program: str, inet: Any, l2: Any, count: int) -> List[str]:
    frames, wants = [], []
    for i in range(count):
        room, kind = i % 5, random.choice([253, 254])
        hops = random_hops(random.randint(0, room))
        ids = [random.randint(1, 15) for _ in hops]
        records = asked(program, [f"tcp {' '.join(map(str, h))} {(n - 1) * 4096 // 15 + 1}"
                                for h, n in zip(hops, ids)]) if hops else []
        more = random.random() < 0.3
        body = struct.pack("!H", 0xbfc2 if more else 0xbfc1) + b"".join(records)
        body += bytes(2 + 8 * room - len(body))
        options: List[Tuple[Any, Any]] = [(kind, body)]
        if room < 4:
            options = [("NOP", None), ("NOP", None), ("Timestamp", (1, 2)), (kind, body)]
        frames.append(bytes(l2.Ether(src=SOURCE, dst="02:00:00:00:00:01") /
                            inet.IP(src="10.0.0.1", dst="10.0.0.2") /
                            inet.TCP(sport=1, dport=2, flags="A", options=options) / b"data"))
        wants.append(([[*h[:3], tcp_qlen(h[3])] for h in hops], ids, more, kind))
    rows = tshark(frames, HOP + ["int.nhop", "int.id", "int.path", "int.more", "int.kind"])
    bad = []
    for row, (hops, ids, more, kind) in zip(rows, wants):
        bad += check_hops(row, hops)
        path = sum(n << 4 * i for i, n in enumerate(ids[:3])) ^ sum(ids[3:])
        got = [numbers(row, "int." + f) for f in ("id", "nhop", "path", "more")]
        if got != [ids, [len(hops) + more], [path], [int(more)]]:
            bad.append(f"{got}, not {ids} {more}")
        if row.get("bfc.int.kind") != [{253: "record", 254: "echo"}[kind]]:
            bad.append(f"{row}: kind {kind}")
    # Other experiments, and other lengths
    odd = [(253, b"\xbf\xc3" + bytes(8)), (254, b"\xbf\xc1" + bytes(7)), (252, b"\xbf\xc1")]
    for row in tshark([bytes(l2.Ether() / inet.IP() / inet.TCP(options=[o])) for o in odd],
                      ["int.kind"]):
        if "bfc.int.kind" in row:
            bad.append(f"taken for INT: {row}")
    return bad


def check_tags(program: str) -> List[str]:
    def tagged(tpid: int, vid: int) -> bytes:
        return bytes.fromhex("020000000001") + SOURCE + struct.pack("!HHH", tpid, vid, 0x0800) + \
            bytes.fromhex("4500001c000000004001000001010101020202020800f7ff00000000")
    hello = asked(program, ["hello " + " ".join(map(str, hellos(1)[0]))])
    bad = []

    def expect(frames: Sequence[bytes], want: List[List[int]], *options: str) -> None:
        got = [numbers(row, "upstreamq") for row in tshark(frames, ["upstreamq"], options)]
        if got != want:
            bad.append(f"{options}: {got}, not {want}")
    frames = [tagged(0x88a8, 6), *hello, tagged(0x88a8, 1), tagged(0x88a8, 4094),
              tagged(0x88a8, 0), tagged(0x8100, 6), tagged(0x0800, 6)]
    expect(frames, [[], [], [0], [4093], [], [], []])
    expect(frames, [[5], [], [0], [4093], [], [], []], "-o", "bfc.tags:all")
    expect(frames, [[]] * 7, "-o", "bfc.tags:none")
    expect(frames, [[], [], [], [], [], [5], []], "-o", "bfc.tpid:33024")
    return bad


def check_mutilated(program: str, count: int) -> List[str]:
    """Nothing disturbs it, and what is cut is said to be."""
    wants = hellos(20)
    good = asked(program, ["hello " + " ".join(map(str, w)) for w in wants])
    good += asked(program, ["pause 1 2 3 1024 0 0 0 0 0 0 0 0 5 0 7 1023"])
    good += asked(program, ["roots 0 2 77 88 1 2 3 9 0 0 0 0 0 0 0 0 5 0 1 8"])
    bad = []
    cut = [f[:n] for f in (good[0], good[-2], good[-1]) for n in range(18, len(f))]
    for frame, row in zip(cut, tshark(cut, ["type"])):
        if not row.get("_ws.expert.message"):
            bad.append(f"{len(frame)} bytes of {frame[18:20].hex()}: no complaint")
    mutants = []
    for _ in range(count):
        frame = bytearray(random.choice(good))
        for _ in range(random.randint(1, 6)):
            frame[random.randrange(14, len(frame))] = random.getrandbits(8)
        mutants.append(bytes(frame[:random.randint(14, len(frame))]))
    rows = tshark(mutants, ["type"])
    if len(rows) != len(mutants):
        bad.append(f"{len(rows)} rows of {len(mutants)}")
    bad += [str(row) for row in rows if "_ws.lua.error" in row]
    # Without the magic it is another experiment's.
    other = good[0][:14] + b"XXXX" + good[0][18:]
    if "bfc.type" in tshark([other], ["type"])[0]:
        bad.append("a frame without the magic")
    return bad


def main() -> int:
    args, (l2, inet) = begin(300, ["layers.l2", "layers.inet"])
    tests = [
        ("HELLO", check_hello(args.program, args.frames)),
        ("PAUSE", check_pause(args.program, args.frames)),
        ("roots in PAUSE", check_roots(args.program, args.frames)),
        ("INT in RoCEv2", check_udp(args.program, inet, l2, 30)),
        ("INT in TCP", check_tcp(args.program, inet, l2, 60)),
        ("upstreamQ", check_tags(args.program)),
        ("mutilated frames", check_mutilated(args.program, 10 * args.frames)),
    ]
    ktap = Ktap(len(tests))
    for name, bad in tests:
        ktap.result(not bad, f"frames: tshark with bfc.lua: {name}", "\n".join(bad[:8]))
    return ktap.end()


if __name__ == "__main__":
    sys.exit(main())
