#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Tests of the tc plugin alone: stock tc, real q_bfc.so, no qdisc, no root.

nl_shim.so stands in for the kernel: it keeps the requests that tc sends and
answers dumps with what this test makes up. So it is checked that
  - each option becomes the right attribute, and what was not given is not sent;
  - what cannot be encoded is refused, with a message that names it;
  - text and JSON show every option and statistic, and the text can be given
    back to tc as options;
  - malformed and unknown attributes do no harm (plugin built with the address
    and undefined-behaviour sanitizers).

  plugin_test.py [--tc PATH] [--cc COMPILER] [--fuzz MESSAGES] [--seed N]
"""

import argparse
import json
import os
import random
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Callable, Dict, List, Optional, Tuple

from bfc_spec import DEFAULT_JSON, DEFAULT_TEXT, STATISTICS
from bfc_uapi import (N, NLA_F_NESTED, RTM_NEWQDISC, RTM_NEWTCLASS, TCA_KIND, TCA_OPTIONS,
                      TCA_STATS2, TCA_STATS_APP, TOP, Ktap, attr, attrs, nest, of_classes,
                      prio_map, s32, tc_message, u8, u16, u32, u64)
from plugin_bench import Bench
from plugin_cases import AUTO64, ENCODE, REFUSE

PLUGIN = sorted((TOP / "tc_bfc").glob("*.c")) + [
    TOP / "lib/bfc_stats.c", TOP / "lib/nearest.c"]

# Options as the kernel dumps them, text, JSON.
Json = Dict[str, object]
DEFAULTS: Dict[str, bytes] = {
    "FC": u8(N["BFC_FC_BFC"]), "ROLE": u8(0), "PEER": u8(0), "QUEUES": u32(32),
    "FLOWS": u32(0), "WAYS": u32(4), "SAMPLE": u8(100), "ASSIGN": u8(N["BFC_ASSIGN_DESTINATION"]),
    "DST_PREFIX": u32(32), "DST_PREFIX6": u32(128), "INCAST": u64(0), "AVOID_PAUSED": u8(1), "STICKY": u64(AUTO64),
    "HRTT": u64(0), "HRTT_MAX": u64(0), "THRESHOLD": u32(0), "RESUME": u8(N["BFC_RESUME_EARLY"]),
    "RATE": u64(0), "LIMIT": u32(16 << 20), "QUANTUM": u32(0), "NEW_FIRST": u8(1), "SCHED": u8(N["BFC_SCHED_DRR"]), "REFRESH": u64(0),
    "HOLD": u64(0), "SPLIT_GSO": u8(N["BFC_SPLIT_GSO_AUTO"]), "TXQS": u8(N["BFC_TXQS_AUTO"]), "SYNC": u64(200_000),
    "TPID": u16(0x88A8), "ACCEPT_PAUSE": u8(0),
    "ELIDE": b"", "CLASSES": u32(1), "CLASS_QUEUES": of_classes(), "WEIGHTS": of_classes(), "KEEP_CLASS": u8(1),
    "PRIO": u8(0), "PRIO_MAP": prio_map({}), "LOSSLESS": u8(0xFF), "STRICT": u8(0), "XOFF": u32(0), "XON": u32(0),
    "MAX_BYTES": u32(0), "DYNAMIC": u32(0), "EGRESS_XOFF": u32(0), "EGRESS_XON": u32(0),
    "EGRESS_MAX": u32(0), "WARN": u32(0), "CUT": u8(80), "T_HOP": u64(0), "ALPHA": u32(800),
    "BETA": u32(800), "FDEC": u32(800), "CONGESTED": u32(0), "ECN": u32(0), "KMAX": u32(0), "PMAX": u32(1_000_000),
    "WATCHDOG": u64(2**64 - 1), "BUFFER": b"\0", "BUFFER_SIZE": u32(0), "RESERVE": u32(0),
    "HEADROOM": u32(0), "SHARE": u32(1_000_000),
}
OTHER: Dict[str, bytes] = {
    "FC": u8(N["BFC_FC_CAPFC_CAL"]), "ROLE": u8(1), "PEER": u8(2), "QUEUES": u32(1024),
    "FLOWS": u32(4194304), "WAYS": u32(1), "SAMPLE": u8(7), "ASSIGN": u8(1),
    "DST_PREFIX": u32(0), "DST_PREFIX6": u32(127), "INCAST": u64(0xF0 << 32 | 0x30), "AVOID_PAUSED": u8(0), "STICKY": u64(0),
    "HRTT": u64(123_456), "HRTT_MAX": u64(7_000_001), "THRESHOLD": u32(65_537), "RESUME": u8(N["BFC_RESUME_DRAINED"]),
    "RATE": u64(1_234_567), "LIMIT": u32(1 << 30), "QUANTUM": u32(1514), "NEW_FIRST": u8(0), "SCHED": u8(N["BFC_SCHED_SRF"]),
    "REFRESH": u64(1_500_000), "HOLD": u64(4_000_000_000), "SPLIT_GSO": u8(0),
    "TXQS": u8(N["BFC_TXQS_ONE"]), "SYNC": u64(1_000_000),
    "TPID": u16(0x8100), "ACCEPT_PAUSE": u8(1), "ELIDE": attr(1, u32(1)) + attr(1, u32(7777)),
    "CLASSES": u32(8), "CLASS_QUEUES": of_classes(1, 2, 3, 4, 5, 6, 7, 996), "WEIGHTS": of_classes(1, 255),
    "KEEP_CLASS": u8(0),
    "PRIO": u8(1), "PRIO_MAP": prio_map({0: 0, 46: 5, 63: 7}), "LOSSLESS": u8(0x18), "STRICT": u8(0xC0),
    "XOFF": u32(102_400), "XON": u32(81_921), "MAX_BYTES": u32(1 << 20), "DYNAMIC": u32(110_000),
    "EGRESS_XOFF": u32(25_000), "EGRESS_XON": u32(20_000), "EGRESS_MAX": u32(60_000),
    "WARN": u32(20_001), "CUT": u8(1), "T_HOP": u64(12_345), "ALPHA": u32(1000), "BETA": u32(125),
    "FDEC": u32(990), "CONGESTED": u32(30_720), "ECN": u32(1), "KMAX": u32(400_001), "PMAX": u32(12_345), "WATCHDOG": u64(0),
    "BUFFER": b"chip0_5678-abcd\0", "BUFFER_SIZE": u32(12 << 20), "RESERVE": u32(4096),
    "HEADROOM": u32(65_537), "SHARE": u32(1_500_001),
}
OTHER_TEXT = (
    "fc capfc-cal role nic peer off queues 1024 flows 4194304 ways 1 sample 7% assign stochastic "
    "dst-prefix 0 dst-prefix6 127 incast mark:0x30/0xf0 avoid-paused off sticky 0ns hrtt 123456ns hrtt-max 7000001ns threshold 65537b resume drained rate 9876536bit limit 1Gb "
    "quantum 1514b new-first off sched srf refresh 1500us hold 4s split-gso off "
    "txqs one sync 1ms tpid 8100 accept-pause on "
    "elide lo,if7777 classes 8 class-queues 1,2,3,4,5,6,7,996 weights 1,255 keep-class off prio dscp map 0:0,46:5,63:7 lossless 3,4 strict 6,7 xoff 100Kb xon 81921b max 1Mb "
    "dynamic 11% egress-xoff 25000b egress-xon 20000b egress-max 60000b warn 20001b cut 1% "
    "thop 12345ns alpha 1 beta 0.125 fdec 0.99 congested 30Kb ecn 1b kmax 400001b pmax 1.2345% watchdog off "
    "buffer chip0_5678-abcd size 12Mb reserve 4Kb headroom 65537b share 150.0001%")
OTHER_JSON: Json = {
    "fc": "capfc-cal", "role": "nic", "peer": "off", "queues": 1024, "flows": 4194304,
    "ways": 1, "sample": 0.07, "assign": "stochastic", "dst_prefix": 0, "dst_prefix6": 127,
    "incast": "mark:0x30/0xf0", "avoid_paused": False, "sticky": 0, "hrtt": 123456,
    "hrtt_max": 7_000_001,
    "threshold": 65537, "resume": "drained", "rate": 1234567, "limit": 1 << 30,
    "quantum": 1514, "new_first": False, "sched": "srf", "refresh": 1500000, "hold": 4000000000, "split_gso": "off",
    "txqs": "one", "sync": 1_000_000,
    "tpid": "8100", "accept_pause": True, "elide": ["lo", "if7777"],
    "classes": 8, "class_queues": [1, 2, 3, 4, 5, 6, 7, 996], "weights": [1, 255], "keep_class": False,
    "prio": "dscp", "map": {"0": 0, "46": 5, "63": 7}, "lossless": [3, 4], "strict": [6, 7], "xoff": 102_400,
    "xon": 81_921, "max": 1 << 20, "dynamic": 0.11, "egress_xoff": 25_000, "egress_xon": 20_000,
    "egress_max": 60_000, "warn": 20_001, "cut": 0.01, "thop": 12_345, "alpha": 1, "beta": 0.125,
    "fdec": 0.99, "congested": 30_720, "ecn": 1, "kmax": 400_001, "pmax": 0.012345, "watchdog": "off", "buffer": "chip0_5678-abcd",
    "size": 12 << 20, "reserve": 4096, "headroom": 65_537, "share": 1.5,
}

# Statistics: attribute, value; keyed as in JSON.
STATS: Dict[str, Tuple[int, int]] = {s.key: (s.attr, s.attr * 1000) for s in STATISTICS}
STATS_U32 = {s.key for s in STATISTICS if s.width == 4}
# Those of the port-level modes.
PORT_STATS = tuple(s.key for s in STATISTICS if s.block == "port")
STAMP_STATS = tuple(key for key in STATS if key.startswith("stamp_"))
PRIO_STATS = ("held", "headroom", "peak", "pausing", "paused", "pause_tx", "pausing_time",
              "pause_rx", "paused_time")


def prio_stats(**values: int) -> bytes:
    """TCA_BFC_PRIO_STATS_* of one priority; what is not given is not there."""
    return b"".join(
        attr(N["TCA_BFC_PRIO_STATS_" + key.replace("_time", "_ns").upper()],
             u32(value) if PRIO_STATS.index(key) < 5 else u64(value))
        for key, value in values.items())


def prios_nest(prios: Dict[int, bytes]) -> bytes:
    return nest(N["TCA_BFC_STATS_PRIOS"],
                b"".join(nest(prio + 1, inner) for prio, inner in prios.items()))


def stats_nest(change: Optional[Dict[str, int]] = None,
               leave_out: Tuple[str, ...] = ()) -> bytes:
    change = change or {}
    out = b""
    for key, (number, value) in STATS.items():
        if key not in leave_out:
            value = change.get(key, value)
            out += attr(number, u32(value) if key in STATS_U32 else u64(value))
    return out


def block_text(block: str, shown: Dict[str, str]) -> str:
    """The lines of a block: values as in shown, else those of STATS."""
    lines: Dict[str, str] = {}
    for s in STATISTICS:
        if s.block == block:
            lines[s.line] = lines.get(s.line, " ") + f" {s.key} {shown.get(s.key, STATS[s.key][1])}"
    return "".join(line + "\n" for line in lines.values())


def options_nest(values: Dict[str, bytes]) -> bytes:
    out = b""
    for name, payload in values.items():
        number = N["TCA_BFC_" + name]
        out += nest(number, payload) if name == "ELIDE" else attr(number, payload)
    return out


def qdisc(options: bytes, xstats: Optional[bytes] = None, nested: int = NLA_F_NESTED) -> bytes:
    body = [attr(TCA_KIND, b"bfc\0"), attr(TCA_OPTIONS | nested, options)]
    if xstats is not None:
        body.append(nest(TCA_STATS2, nest(TCA_STATS_APP, xstats)))
    return tc_message(RTM_NEWQDISC, body)


def tc_class(xstats: bytes) -> bytes:
    return tc_message(RTM_NEWTCLASS,
                      [attr(TCA_KIND, b"bfc\0"), nest(TCA_STATS2, nest(TCA_STATS_APP, xstats))],
                      handle=0x10001, parent=0x10000)


class PluginTest:
    """Each method is one case; returns what is wrong, or ""."""

    def __init__(self, bench: Bench, fuzz: int, seed: int) -> None:
        self.bench = bench
        self.fuzz_messages = fuzz
        self.seed = seed

    def encode(self, options: str, expected: List[Tuple[str, bytes]]) -> str:
        want = [(N["TCA_BFC_" + name], payload) for name, payload in expected]
        got, complaint = self.bench.encode(options)
        if complaint:
            return complaint
        return "" if got == want else f"sent {got}\nwant {want}"

    def refuse(self, options: str, code: int, message: str) -> str:
        sent = self.bench.work / "sent"
        sent.unlink(missing_ok=True)
        done = self.bench.run("qdisc", "add", "dev", "lo", "root", "bfc", *options.split(),
                              sent=sent)
        if sent.exists():
            return "was sent to the kernel"
        if done.returncode != code:
            return f"exit code {done.returncode}, want {code}: {done.stderr}"
        return "" if re.search(message, done.stderr) else f"said: {done.stderr}"

    def refuse_names(self) -> str:
        """Those that encode() would take apart."""
        for name in ("", " ", "a b", "a\tb", "a\n"):
            done = self.bench.run("qdisc", "add", "dev", "lo", "root", "bfc", "buffer", name,
                                  sent=self.bench.work / "never")
            want = f'bfc: illegal "buffer" value "{name}": give none or a name'
            if done.returncode != 1 or want not in done.stderr:
                return f"exit code {done.returncode}: {done.stderr}"
        return ""

    def refuse_class(self) -> str:
        done = self.bench.run("class", "add", "dev", "lo", "parent", "1:", "classid", "1:1",
                              "bfc", "queues", "3")
        want = "bfc: classes are the queues themselves and have no options"
        if done.returncode != 1 or want not in done.stderr:
            return f"exit code {done.returncode}: {done.stderr}"
        return ""

    def show(self, values: Dict[str, bytes], text: str, json_options: Json) -> str:
        message = qdisc(options_nest(values))
        done = self.bench.run("-d", "qdisc", "show", "dev", "lo", dump=message)
        want = f"qdisc bfc 1: root {text} \n"
        if done.stdout != want or done.stderr:
            return f"text {done.stdout}{done.stderr}\nwant {want}"
        for flags in (("-j",), ("-d", "-j")):
            done = self.bench.run(*flags, "qdisc", "show", "dev", "lo", dump=message)
            got = json.loads(done.stdout)[0]["options"]
            if got != json_options:
                return f"JSON {got}\nwant {json_options}"
        return ""

    def show_changed(self) -> str:
        """As text without -d only what is not the default, in JSON all the same."""
        words = OTHER_TEXT.split()
        other = dict(zip(words[::2], words[1::2]))
        cases: List[Tuple[Dict[str, bytes], str]] = [
            (DEFAULTS, ""), ({**DEFAULTS, "STAMP": u8(0)}, ""), (OTHER, OTHER_TEXT + " ")]
        for name, keyword in zip(DEFAULTS, other):
            cases.append(({**DEFAULTS, name: OTHER[name]}, f"{keyword} {other[keyword]} "))
        for values, text in cases:
            message = qdisc(options_nest(values))
            done = self.bench.run("qdisc", "show", "dev", "lo", dump=message)
            want = f"qdisc bfc 1: root {text}\n"
            if done.stdout != want or done.stderr:
                return f"text {done.stdout}{done.stderr}\nwant {want}"
            done = self.bench.run("-j", "qdisc", "show", "dev", "lo", dump=message)
            missing = set(DEFAULT_JSON) - set(json.loads(done.stdout)[0]["options"])
            if missing:
                return f"not in JSON: {missing}"
        return ""

    def paste(self, values: Dict[str, bytes], backwards: bool = False) -> str:
        done = self.bench.run("-d", "qdisc", "show", "dev", "lo", dump=qdisc(options_nest(values)))
        text = done.stdout.split(" root ", 1)[1]
        if backwards:
            words = text.split()
            pairs = list(zip(words[::2], words[1::2]))
            text = " ".join(word for pair in reversed(pairs) for word in pair)
        got, complaint = self.bench.encode(text)
        want = attrs(options_nest(values))
        if got != want or complaint:
            return f"{text} became {got}\nwant {want}\n{complaint}"
        return ""

    def exact(self) -> str:
        """Sizes, times, rates and shares survive the way to text and back."""
        rng = random.Random(self.seed)
        for _ in range(40):
            values = {"LIMIT": u32(rng.getrandbits(rng.randint(17, 30))),
                      "HRTT": u64(rng.randint(100, 10 ** rng.randint(3, 9))),
                      "STICKY": u64(rng.randint(0, 10 ** rng.randint(1, 10))),
                      "RATE": u64(rng.randint(1000, 10 ** rng.randint(4, 11))),
                      "ELIDE": b"",
                      "PRIO_MAP": prio_map({rng.randrange(64): rng.randrange(8)
                                            for _ in range(rng.randint(0, 64))}),
                      "LOSSLESS": u8(rng.getrandbits(8)),
                      "XOFF": u32(rng.getrandbits(rng.randint(0, 30))),
                      "DYNAMIC": u32(rng.getrandbits(rng.randint(0, 32))),
                      "CUT": u8(rng.randint(1, 100)),
                      "T_HOP": u64(rng.randint(100, 10 ** rng.randint(3, 9))),
                      "ALPHA": u32(rng.randint(0, 1000)),
                      "BETA": u32(rng.getrandbits(rng.randint(0, 32))),
                      "SHARE": u32(rng.getrandbits(rng.randint(0, 31)))}
            wrong = self.paste({key: values[key] for key in ("STICKY", "HRTT", "RATE", "LIMIT",
                                                             "ELIDE", "PRIO_MAP", "LOSSLESS",
                                                             "XOFF", "DYNAMIC", "CUT", "T_HOP",
                                                             "ALPHA", "BETA", "SHARE")})
            if wrong:
                return wrong
        return ""

    def unknown_values(self) -> str:
        """A newer kernel's: unknown words as numbers, unknown attributes skipped."""
        nest_ = (attr(N["TCA_BFC_FC"], u8(9)) + attr(N["__TCA_BFC_MAX"] + 5, u32(1))
                 + attr(N["TCA_BFC_QUEUES"], u64(5)) + attr(N["TCA_BFC_HRTT"], u32(7000)))
        done = self.bench.run("qdisc", "show", "dev", "lo", dump=qdisc(nest_))
        want = "qdisc bfc 1: root fc 9 queues 5 hrtt 7us \n"
        return "" if done.stdout == want and not done.stderr else done.stdout + done.stderr

    def odd_values(self) -> str:
        """Maps and names of any length and content: shown, and JSON stays JSON."""
        for payload, text, entries in [
                (b"", "auto", {}), (b"\5", "0:5", {"0": 5}), (b"\xff\7\xff", "1:7", {"1": 7}),
                (b"\xff" * 63 + b"\4\1\2", "63:4", {"63": 4}), (b"\x09\xfe", "0:9,1:254",
                                                               {"0": 9, "1": 254})]:
            wrong = self.show({"PRIO_MAP": payload}, f"elide none map {text}",
                              {"elide": [], "map": entries})
            if wrong:
                return wrong
        lists: List[Tuple[bytes, List[int]]] = [
            (b"", []), (b"\1", []), (u16(3), [3]), (u16(3) + b"\1", [3]),
            (u16(0) + u16(5), []), (u16(65535) * 9, [65535] * 8)]
        for payload, numbers in lists:
            text = ",".join(map(str, numbers)) or "equal"
            wrong = self.show({"WEIGHTS": payload}, f"elide none weights {text}",
                              {"elide": [], "weights": numbers})
            if wrong:
                return wrong
        for payload, name in [(b"", "none"), (b"\0x", "none"), (b"ab", "ab"), (b"ab\0cd\0", "ab"),
                              (b"y" * 40, "y" * 15), (b"\"\\\x01\n\x7f\xc3\0", '"\\????')]:
            wrong = self.show({"BUFFER": payload}, f"elide none buffer {name}",
                              {"elide": [], "buffer": name})
            if wrong:
                return wrong
        programs: List[Tuple[Dict[str, bytes], str, Json]] = [
            ({"STAMP": u8(0)}, "stamp native", {"stamp": "native"}),
            ({"STAMP": u8(1), "STAMP_ID": u32(12), "STAMP_NAME": b"bfc_stamp\0",
              "STAMP_TAG": bytes.fromhex("0123456789abcdef")},
             "stamp pinned id 12 name bfc_stamp tag 0123456789abcdef",
             {"stamp": "pinned", "stamp_id": 12, "stamp_name": "bfc_stamp",
              "stamp_tag": "0123456789abcdef"}),
            ({"STAMP": u8(7), "STAMP_NAME": b"\"\n" + b"z" * 99, "STAMP_TAG": b"\xff" * 20},
             "stamp 7 name \"?" + "z" * 61 + " tag " + "ff" * 8,
             {"stamp": "7", "stamp_name": "\"?" + "z" * 61, "stamp_tag": "ff" * 8}),
            ({"STAMP": u8(1), "STAMP_NAME": b"", "STAMP_TAG": b""},
             "stamp pinned",
             {"stamp": "pinned", "stamp_name": "", "stamp_tag": ""})]
        for program, shown, added in programs:
            wrong = self.show(program, f"elide none {shown}", {"elide": [], **added})
            if wrong:
                return wrong
        return self.show({"LOSSLESS": u32(0x103), "CUT": u32(1000), "FDEC": u8(7), "ECN": b"123",
                          "DYNAMIC": u64(1 << 40)},
                         "elide none lossless 0,1 dynamic 109951162.7776% cut 1000% fdec 0.007",
                         {"elide": [], "lossless": [0, 1], "dynamic": 1.09951e6, "cut": 10,
                          "fdec": 0.007})

    def stats_text(self) -> str:
        message = qdisc(b"", stats_nest({"peer_state": 3, "peer_role": 1, "peer_id": 0xABCDEF,
                                         "peer_queues": 32, "hello_rtt": 12_300,
                                         "threshold": 62_500, "link_rate": 1_250_000_000,
                                         "memory": 65536, "memory_peak": 1 << 20,
                                         "backlog_peak": 1500, "bad_short": 0, "bad_version": 0,
                                         "bad_epoch": 0, "bad_range": 0, "bad_role": 0,
                                         "bad_rate": 0, "bad_tag": 0, "ctrl_excess": 0, "refused_rate": 0,
                                         "hrtt": 100_000, "hrtt_measured": 98_760,
                                         "sticky": 200_000, "refresh": 1_000_000,
                                         "paused_time": 12_345_678,
                                         "queue_paused_time": 23_456_789,
                                         "watchdog": 200_000_000, "hold": 50_000_000}, PORT_STATS + STAMP_STATS))
        done = self.bench.run("-s", "qdisc", "show", "dev", "lo", dump=message)
        want = block_text("general", {
            "threshold": "62500b", "link_rate": "10Gbit", "hrtt": "100us", "sticky": "200us",
            "refresh": "1ms", "hold": "50ms", "watchdog": "200ms", "memory": "64Kb",
            "memory_peak": "1Mb", "backlog_peak": "1500b", "paused_time": "12.3ms",
            "queue_paused_time": "23.5ms"}) + f"""\
  bad_seq {self.stat('bad_seq')} bad_loop {self.stat('bad_loop')}
  peer up role nic queues 32 id 0000000000abcdef rtt 12.3us hrtt 98.8us
"""
        return "" if want in done.stdout and not done.stderr else done.stdout + done.stderr

    def port_text(self) -> str:
        """The block of port-level statistics, and a line for each priority with news."""
        change = {"xoff": 102_400, "xon": 80_000, "headroom": 65_536, "beyond": 2048,
                  "buffer_size": 12 << 20,
                  "refused_rate": 125_000_000, "buffer_used": 0, "buffer_peak": 1 << 20, "buffer_port": 3028}
        prios = {0: prio_stats(**{key: 0 for key in PRIO_STATS}), 2: b"", 7: prio_stats(peak=1),
                 3: prio_stats(held=2048, headroom=1500, peak=4096, pausing=1, paused=0,
                               pause_tx=3, pausing_time=1_234_567, pause_rx=1,
                               paused_time=(1 << 64) - 1)}
        done = self.bench.run("-s", "qdisc", "show", "dev", "lo",
                              dump=qdisc(b"", stats_nest(change) + prios_nest(prios)))
        want = (f" tagged_rx {self.stat('tagged_rx')}\n" + block_text("speed", {"refused_rate": "1Gbit"}) + block_text("control", {})
                + block_text("port", {
                    "xoff": "100Kb", "xon": "80000b", "headroom": "64Kb", "beyond": "2Kb", "buffer_size": "12Mb",
                    "buffer_used": "0b", "buffer_peak": "1Mb", "buffer_port": "3028b"})
                + block_text("stamp", {}) + """\
  prio 3 held 2Kb headroom 1500b peak 4Kb pausing on paused off pause_tx 3 pausing_time 1.23ms \
pause_rx 1 paused_time forever
  prio 7 held 0b headroom 0b peak 1b pausing off paused off pause_tx 0 pausing_time 0ns \
pause_rx 0 paused_time 0ns
  bad_short """)
        return "" if want in done.stdout and not done.stderr else done.stdout + done.stderr

    def port_when(self) -> str:
        """As text if something happened or there are priorities, in JSON always."""
        zeros = {key: 0 for key in STATS}
        for xstats, text, as_prios in [
                (stats_nest(zeros, PORT_STATS), False, False),
                (stats_nest(zeros), False, False),
                (stats_nest(zeros, PORT_STATS[1:]), False, False),
                (stats_nest({**zeros, "storms": 1}, PORT_STATS[:-4]), True, False),
                (stats_nest(zeros, PORT_STATS) + prios_nest({}), True, True),
                (stats_nest(zeros) + prios_nest({4: prio_stats(held=0)}), True, True)]:
            message = qdisc(b"", xstats)
            shown = self.bench.run("-s", "qdisc", "show", "dev", "lo", dump=message).stdout
            got = json.loads(self.bench.run("-s", "-j", "qdisc", "show", "dev", "lo",
                                            dump=message).stdout)[0]
            if ("pfc_tx" in shown) != text or "prio " in shown:
                return shown
            if not all(key in got for key in PORT_STATS) or ("prios" in got) != as_prios:
                return str(got)
        return ""

    def stamp_when(self) -> str:
        """What programs have done: as text if one was run."""
        zeros = {key: 0 for key in STATS}
        for runs in (0, 5):
            message = qdisc(b"", stats_nest({**zeros, "stamp_runs": runs}))
            shown = self.bench.run("-s", "qdisc", "show", "dev", "lo", dump=message).stdout
            if ("stamp_runs 5 stamp_drops 0" in shown) != bool(runs) or "pfc_tx" in shown:
                return shown
            got = json.loads(self.bench.run("-s", "-j", "qdisc", "show", "dev", "lo",
                                            dump=message).stdout)[0]
            if got["stamp_runs"] != runs or got["stamp_unknown"] != 0:
                return str(got)
        return ""

    def port_json(self) -> str:
        """Eight priorities, whatever was sent of them."""
        full = dict(zip(PRIO_STATS, (5, 6, 7, 1, 1, 8, 9, 10, 11)))
        # Twice, unknown, of a wrong length: the first that can be read counts.
        odd = (nest(1, attr(N["TCA_BFC_PRIO_STATS_HELD"], b"123") + attr(99, u32(1))
                    + attr(N["TCA_BFC_PRIO_STATS_PAUSE_TX"], u32(12)))
               + nest(1, prio_stats(held=4)) + nest(9, prio_stats(held=4)) + attr(3, b"\1")
               + nest(0, prio_stats(held=4)) + attr(8, prio_stats(**full)))
        messages: List[Tuple[bytes, Dict[int, Dict[str, int]]]] = [
            (b"", {}), (nest(8, prio_stats(**full)), {7: full}),
            (odd, {0: {"pause_tx": 12}, 7: full}), (b"\1\2\3\4\5", {})]
        for inner, special in messages:
            message = qdisc(b"", nest(N["TCA_BFC_STATS_PRIOS"], inner))
            done = self.bench.run("-s", "-j", "qdisc", "show", "dev", "lo", dump=message)
            got = json.loads(done.stdout)[0]["prios"]
            want = [{"prio": prio,
                     **{key: special.get(prio, {}).get(key, 0) for key in PRIO_STATS}}
                    for prio in range(8)]
            if got != want or {type(got[7][key]) for key in ("pausing", "paused")} != {bool}:
                return f"got  {got}\nwant {want}"
        return ""

    def traffic_classes(self) -> str:
        """As many as there are in a row, with what was sent of them; no classes, no word of them."""
        keys = ("queues", "occupied", "paused", "backlog", "qlen", "bytes", "packets", "drops",
                "exhausted", "pauses", "paused_time")

        def one(number: int, **values: int) -> bytes:
            return nest(number + 1, b"".join(
                attr(N["TCA_BFC_TCLASS_" + key.replace("_time", "_ns").upper()],
                     u32(value) if key in (*keys[:5], "drops") else u64(value))
                for key, value in values.items()))

        full = dict(zip(keys, (8, 3, 1, 3028, 2, 1 << 40, 7, 5, 4, 9, 1_234_567)))
        messages: List[Tuple[Optional[bytes], List[Dict[str, int]]]] = [
            (None, []), (b"", []), (b"\1\2\3\4\5", []), (one(1, **full), []),
            (one(0, queues=4) + one(1, **full) + one(1, queues=9) + one(8, queues=9)
             + one(3, queues=9), [{"queues": 4}, full]),
            (b"".join(one(c, queues=1, bytes=c) for c in range(8)),
             [{"queues": 1, "bytes": c} for c in range(8)])]
        for inner, want in messages:
            message = qdisc(b"", stats_nest() + (b"" if inner is None else
                                                 nest(N["TCA_BFC_STATS_CLASSES"], inner)))
            done = self.bench.run("-s", "-j", "qdisc", "show", "dev", "lo", dump=message)
            got = json.loads(done.stdout)[0].get("classes", [])
            whole = [{"class": c, **{key: w.get(key, 0) for key in keys}}
                     for c, w in enumerate(want)]
            if got != whole:
                return f"got  {got}\nwant {whole}"
            done = self.bench.run("-s", "qdisc", "show", "dev", "lo", dump=message)
            lines = [line for line in done.stdout.splitlines() if line.startswith("  class ")]
            if len(lines) != len(want) or done.stderr:
                return done.stdout + done.stderr
            if want == [{"queues": 4}, full] and lines[1] != (
                    "  class 1 queues 8 occupied 3 paused 1 backlog 3028b qlen 2 "
                    "bytes 1099511627776 packets 7 drops 5 exhausted 4 pauses 9 paused_time 1.23ms"):
                return lines[1]
        return ""

    def pause_times(self) -> str:
        """Those that happened, of what the kernel has and of what it must not have."""
        last = N["BFC_PAUSE_TIMES"]
        ms = 1 << 20
        messages: List[Tuple[bytes, str, List[Dict[str, Optional[int]]]]] = [
            (b"", "", []), (attr(3, u64(0)) + attr(0, u64(5)) + attr(last + 1, u64(6)), "", []),
            (b"\1\2\3\4\5", "", []),
            (attr(1, u64(7)) + attr(11, u64(1 << 40)) + attr(11, u64(2)) + attr(last, u64(9)),
             "  pause_times 1.02us 7 1.05ms 1099511627776 longer 9\n",
             [{"up_to": 1024, "pauses": 7}, {"up_to": ms, "pauses": 1 << 40},
              {"up_to": None, "pauses": 9}]),
            (attr(last - 1, u64(1)) + attr(2, u64(3)), "  pause_times 2.05us 3 1.07s 1\n",
             [{"up_to": 2048, "pauses": 3}, {"up_to": ms << 10, "pauses": 1}])]
        for inner, text, want in messages:
            message = qdisc(b"", stats_nest() + nest(N["TCA_BFC_STATS_PAUSE_TIMES"], inner))
            done = self.bench.run("-s", "qdisc", "show", "dev", "lo", dump=message)
            lines = "".join(line for line in done.stdout.splitlines(keepends=True)
                            if "pause_times" in line)
            if lines != text or done.stderr:
                return f"{done.stdout}{done.stderr}\nwant {text}"
            done = self.bench.run("-s", "-j", "qdisc", "show", "dev", "lo", dump=message)
            got = json.loads(done.stdout)[0]["pause_times"]
            if got != want:
                return f"got  {got}\nwant {want}"
        return ""

    @staticmethod
    def stat(key: str) -> int:
        return STATS[key][1]

    def stats_quiet(self) -> str:
        """No bad frames: no line about them. No peer: nothing said of it."""
        change = {key: 0 for key in STATS}
        done = self.bench.run("-s", "qdisc", "show", "dev", "lo",
                              dump=qdisc(b"", stats_nest(change)))
        if "bad_" in done.stdout or not done.stdout.endswith("\n  peer off\n"):
            return done.stdout
        change["peer_state"] = N["BFC_PEER_STATE_SEARCHING"]
        done = self.bench.run("-s", "qdisc", "show", "dev", "lo",
                              dump=qdisc(b"", stats_nest(change)))
        return "" if done.stdout.endswith("\n  peer searching\n") else done.stdout

    def stats_of_a_txq(self) -> str:
        """The kernel sends no statistics of the port: the qdisc has no neighbour to tell of."""
        message = qdisc(b"", stats_nest(leave_out=("hold", *(s.key for s in STATISTICS
                                                             if s.block == "peer"))))
        done = self.bench.run("-s", "qdisc", "show", "dev", "lo", dump=message)
        lines = [line for line in done.stdout.splitlines() if line.startswith("  peer")]
        if lines or done.stderr:
            return f"lines {lines}{done.stderr}"
        done = self.bench.run("-s", "-j", "qdisc", "show", "dev", "lo", dump=message)
        got = json.loads(done.stdout)[0]
        want: Json = {"peer_state": None, "peer_role": None, "peer_queues": 0, "hello_rtt": 0}
        wrong = {key: got.get(key, "none") for key, value in want.items()
                 if key not in got or got[key] != value}
        return f"got {wrong}" if wrong else ""

    def stats_json(self, leave_out: Tuple[str, ...] = (), refused: int = 2) -> str:
        """Every statistic under its own name; absent ones are zero."""
        done = self.bench.run("-s", "-j", "qdisc", "show", "dev", "lo",
                              dump=qdisc(b"", stats_nest({"peer_state": 3, "peer_role": 0,
                                                          "peer_refused": refused}, leave_out)))
        got = json.loads(done.stdout)[0]
        want: Json = {key: 0 if key in leave_out else value for key, (_, value) in STATS.items()}
        want["peer_state"] = "off" if "peer_state" in leave_out else "up"
        want["peer_role"] = None if "peer_state" in leave_out else "switch"
        want["peer_refused"] = "handles" if refused else None
        peer_id = 0 if "peer_id" in leave_out else STATS["peer_id"][1]
        want["peer_id"] = f"{peer_id:016x}"
        wrong = {key: (got.get(key), value) for key, value in want.items()
                 if key not in got or got[key] != value}
        return f"got, want: {wrong}" if wrong else ""

    def class_stats(self) -> str:
        nest_ = (attr(N["TCA_BFC_CLASS_PAUSED"], u32(1)) + attr(N["TCA_BFC_CLASS_PAUSES"], u64(7))
                 + attr(N["TCA_BFC_CLASS_PAUSED_NS"], u64(1_234_567))
                 + attr(N["TCA_BFC_CLASS_BACKLOG_PEAK"], u32(3000))
                 + attr(N["TCA_BFC_CLASS_DEFICIT"], s32(-1514))
                 + attr(N["TCA_BFC_CLASS_ROOT"], u32(4_000_000_000)))
        done = self.bench.run("-s", "class", "show", "dev", "lo", dump=tc_class(nest_))
        want = ("\n  paused on pauses 7 paused_time 1.23ms backlog_peak 3000b deficit -1514b"
                " root 4000000000")
        if want + " from none\n" not in done.stdout or done.stderr:
            return done.stdout + done.stderr
        for dst, shown in [(b"\n\0\0\7", " dst 10.0.0.7"), (b"\2\0\0\0\0\xfe", " dst 02:00:00:00:00:fe"),
                           (b"\x20\1" + bytes(13) + b"\1", " dst 2001::1"), (b"", ""),
                           (bytes(5), ""), (bytes(17), "")]:
            done = self.bench.run("-s", "class", "show", "dev", "lo", dump=tc_class(
                nest_ + attr(N["TCA_BFC_CLASS_FROM"], u32(1)) + attr(N["TCA_BFC_CLASS_DST"], dst)))
            if f"{want} from lo{shown}\n" not in done.stdout or done.stderr:
                return done.stdout + done.stderr
        return ""

    def unsanitary(self, rng: random.Random) -> bytes:
        """A dump message with something wrong in it."""
        def scramble(data: bytes) -> bytes:
            out = bytearray(data)
            for _ in range(rng.randint(0, 8)):
                if out:
                    out[rng.randrange(len(out))] = rng.choice([0, 1, 3, 4, 5, 8, 0x7F, 0xFF,
                                                               rng.getrandbits(8)])
            return bytes(out[:rng.randint(0, len(out))] if rng.random() < 0.3 else out)

        def random_attrs(numbers: range) -> bytes:
            out = b""
            for _ in range(rng.randint(0, 60)):
                kind = rng.choice(numbers) | rng.choice([0, 0, 0, NLA_F_NESTED, 0x4000])
                out += attr(kind, rng.randbytes(rng.choice([0, 1, 2, 3, 4, 5, 7, 8, 9, 12, 40])))
            return out

        options = rng.choice([options_nest(DEFAULTS), options_nest(OTHER),
                              random_attrs(range(0, N["__TCA_BFC_MAX"] + 10))])
        prios = nest(N["TCA_BFC_STATS_PRIOS"], b"".join(
            nest(rng.randrange(11), random_attrs(range(0, 12))) for _ in range(rng.randrange(10))))
        times = nest(N["TCA_BFC_STATS_PAUSE_TIMES"], random_attrs(range(0, 30)))
        xstats = rng.choice([stats_nest(), stats_nest() + times, random_attrs(range(0, N["__TCA_BFC_STATS_MAX"] + 5)),
                             stats_nest(leave_out=tuple(rng.sample(PORT_STATS, 9))) + prios, prios,
                             random_attrs(range(120, 140)), random_attrs(range(0, 200)),
                             rng.randbytes(rng.randint(0, 100))])
        if rng.random() < 0.8:
            options = scramble(options)
        if rng.random() < 0.8:
            xstats = scramble(xstats)
        return qdisc(options, xstats, rng.choice([0, NLA_F_NESTED]))

    def fuzz(self) -> str:
        rng = random.Random(self.seed)
        plugin = self.bench.work / "sanitized/q_bfc.so"
        sanitizers = "-fsanitize=address,undefined"
        self.bench.compile(plugin, PLUGIN, sanitizers,
                           "-fno-sanitize-recover=undefined", "-fno-omit-frame-pointer")
        libraries = []
        for name in ("libasan.so", "libubsan.so"):
            path = subprocess.run([self.bench.compiler, f"-print-file-name={name}"], check=True,
                                  stdout=subprocess.PIPE, encoding="utf-8").stdout.strip()
            libraries.append(os.path.realpath(path))
        left = self.fuzz_messages
        while left > 0:
            count = min(left, 200)
            left -= count
            dump = b"".join(self.unsanitary(rng) for _ in range(count))
            # The length of a netlink message is padded to 4; those in the nests
            # may be anything.
            for flags in (["-s"], ["-s", "-j"]):
                done = self.bench.run(*flags, "qdisc", "show", "dev", "lo", dump=dump,
                                      plugin=plugin, preload=tuple(libraries))
                if done.returncode or "anitizer" in done.stderr or "runtime error" in done.stderr:
                    return f"exit code {done.returncode}\n{done.stderr[-3000:]}"
                if "-j" in flags and len(json.loads(done.stdout)) != count:
                    return f"{len(json.loads(done.stdout))} of {count} in JSON"
        return ""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tc", default="tc")
    parser.add_argument("--cc", default=os.environ.get("CC", "cc"))
    parser.add_argument("--fuzz", type=int, default=20000, help="malformed messages to try")
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()

    with tempfile.TemporaryDirectory() as directory:
        work = Path(directory)
        bench = Bench(args.tc, args.cc, work)
        bench.compile(work / "plain/q_bfc.so", PLUGIN)
        test = PluginTest(bench, args.fuzz, args.seed)

        cases: List[Tuple[str, Callable[[], str]]] = []
        for options, expected in ENCODE:
            cases.append((f"encode {options[:60] or 'nothing'}",
                          lambda o=options, e=expected: test.encode(o, e)))  # type: ignore[misc]
        for options, code, message in REFUSE:
            cases.append((f"refuse {options[:60]}",
                          lambda o=options, c=code, m=message:               # type: ignore[misc]
                          test.refuse(o, c, m)))
        cases += [
            ("refuse names with blanks", test.refuse_names),
            ("refuse class options", test.refuse_class),
            ("show defaults", lambda: test.show(DEFAULTS, DEFAULT_TEXT, DEFAULT_JSON)),
            ("show what is not the default", test.show_changed),
            ("show other values", lambda: test.show(OTHER, OTHER_TEXT, OTHER_JSON)),
            ("give defaults back", lambda: test.paste(DEFAULTS)),
            ("give other values back", lambda: test.paste(OTHER)),
            ("give other values back in reverse order", lambda: test.paste(OTHER, True)),
            ("give random values back", test.exact),
            ("unknown words and attributes", test.unknown_values),
            ("odd maps, names and widths", test.odd_values),
            ("qdisc statistics as text", test.stats_text),
            ("qdisc statistics, nothing to say", test.stats_quiet),
            ("port-level statistics as text", test.port_text),
            ("port-level statistics, when they are shown", test.port_when),
            ("statistics of stamping, when they are shown", test.stamp_when),
            ("priorities in JSON", test.port_json),
            ("traffic classes", test.traffic_classes),
            ("pauses by their length", test.pause_times),
            ("qdisc statistics in JSON", test.stats_json),
            ("qdisc statistics in JSON, not refused", lambda: test.stats_json(refused=0)),
            ("qdisc statistics of an older kernel",
             lambda: test.stats_json(("hello_rtt", "bad_tag", "peer_id", "peer_state"))),
            ("qdisc statistics of a TX queue", test.stats_of_a_txq),
            ("class statistics", test.class_stats),
            (f"{args.fuzz} malformed messages", test.fuzz),
        ]
        ktap = Ktap(len(cases))
        for name, case in cases:
            try:
                wrong = case()
            except (ValueError, KeyError, IndexError, subprocess.SubprocessError) as error:
                wrong = f"{type(error).__name__}: {error}"
            ktap.result(not wrong, name, wrong)
        return ktap.end()


if __name__ == "__main__":
    sys.exit(main())
