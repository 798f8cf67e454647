# SPDX-License-Identifier: GPL-2.0
"""Command lines for plugin_test.py: what becomes of them."""

import re
from typing import List, Tuple

from bfc_spec import KEYWORDS, OPTIONS
from bfc_uapi import N, attr, of_classes, prio_map, s32, u8, u16, u32, u64

AUTO64 = (1 << 64) - 1

# Command line, what is encoded. "if77": a device known by its index only.
ENCODE: List[Tuple[str, List[Tuple[str, bytes]]]] = [
    ("", []),
    ("fc bfc", [("FC", u8(N["BFC_FC_BFC"]))]),
    ("fc none", [("FC", u8(N["BFC_FC_NONE"]))]),
    ("fc pfc", [("FC", u8(N["BFC_FC_PFC"]))]),
    ("fc capfc-max", [("FC", u8(N["BFC_FC_CAPFC_MAX"]))]),
    ("fc capfc-cal", [("FC", u8(N["BFC_FC_CAPFC_CAL"]))]),
    ("fc fafc", [("FC", u8(N["BFC_FC_FAFC"]))]),
    ("role switch", [("ROLE", u8(N["BFC_ROLE_SWITCH"]))]),
    ("role nic", [("ROLE", u8(N["BFC_ROLE_NIC"]))]),
    ("peer auto", [("PEER", u8(N["BFC_PEER_AUTO"]))]),
    ("peer on", [("PEER", u8(N["BFC_PEER_ON"]))]),
    ("peer off", [("PEER", u8(N["BFC_PEER_OFF"]))]),
    ("queues 32", [("QUEUES", u32(32))]),
    ("queues 0", [("QUEUES", u32(0))]),
    ("queues 4294967295", [("QUEUES", u32(0xFFFFFFFF))]),
    ("flows 3200", [("FLOWS", u32(3200))]),
    ("flows auto", [("FLOWS", u32(0))]),
    ("ways 1", [("WAYS", u32(1))]),
    ("new-first on", [("NEW_FIRST", u8(1))]),
    ("new-first off", [("NEW_FIRST", u8(0))]),
    ("assign dynamic", [("ASSIGN", u8(N["BFC_ASSIGN_DYNAMIC"]))]),
    ("assign destination", [("ASSIGN", u8(N["BFC_ASSIGN_DESTINATION"]))]),
    ("assign stochastic", [("ASSIGN", u8(N["BFC_ASSIGN_STOCHASTIC"]))]),
    ("assign single", [("ASSIGN", u8(N["BFC_ASSIGN_SINGLE"]))]),
    ("assign similar", [("ASSIGN", u8(N["BFC_ASSIGN_SIMILAR"]))]),
    ("sched drr", [("SCHED", u8(N["BFC_SCHED_DRR"]))]),
    ("sched srf", [("SCHED", u8(N["BFC_SCHED_SRF"]))]),
    ("dst-prefix 0", [("DST_PREFIX", u32(0))]),
    ("dst-prefix 24", [("DST_PREFIX", u32(24))]),
    ("dst-prefix 4294967295", [("DST_PREFIX", u32(0xFFFFFFFF))]),   # the kernel's to refuse
    ("dst-prefix6 64 dst-prefix 32", [("DST_PREFIX", u32(32)), ("DST_PREFIX6", u32(64))]),
    ("avoid-paused on", [("AVOID_PAUSED", u8(1))]),
    ("avoid-paused off", [("AVOID_PAUSED", u8(0))]),
    ("sticky 0", [("STICKY", u64(0))]),
    ("sticky 1.5ms", [("STICKY", u64(1_500_000))]),
    ("sticky auto", [("STICKY", u64(AUTO64))]),
    ("hrtt 1s", [("HRTT", u64(1_000_000_000))]),
    ("hrtt 3ms", [("HRTT", u64(3_000_000))]),
    ("hrtt 12usecs", [("HRTT", u64(12_000))]),
    ("hrtt 12.345us", [("HRTT", u64(12_345))]),
    ("hrtt 101ns", [("HRTT", u64(101))]),
    ("hrtt 0.25us", [("HRTT", u64(250))]),
    ("hrtt auto", [("HRTT", u64(0))]),
    ("hrtt-max 4ms", [("HRTT_MAX", u64(4_000_000))]),
    ("hrtt-max auto", [("HRTT_MAX", u64(0))]),
    ("threshold 10000b", [("THRESHOLD", u32(10000))]),
    ("threshold 80kbit", [("THRESHOLD", u32(10240))]),
    ("threshold 64Kb", [("THRESHOLD", u32(65536))]),
    ("threshold auto", [("THRESHOLD", u32(0))]),
    ("resume early", [("RESUME", u8(N["BFC_RESUME_EARLY"]))]),
    ("resume drained", [("RESUME", u8(N["BFC_RESUME_DRAINED"]))]),
    ("rate 10gbit", [("RATE", u64(1_250_000_000))]),
    ("rate 1Tbit", [("RATE", u64(125_000_000_000))]),
    ("rate 1000Bps", [("RATE", u64(1000))]),
    ("rate 8kbit", [("RATE", u64(1000))]),
    ("rate link", [("RATE", u64(0))]),
    ("limit 16Mb", [("LIMIT", u32(16 << 20))]),
    ("limit 4294967295b", [("LIMIT", u32(0xFFFFFFFF))]),
    ("quantum 1514b", [("QUANTUM", u32(1514))]),
    ("quantum auto", [("QUANTUM", u32(0))]),
    ("refresh 20us", [("REFRESH", u64(20_000))]),
    ("refresh auto", [("REFRESH", u64(0))]),
    ("hold 50ms", [("HOLD", u64(50_000_000))]),
    ("hold auto", [("HOLD", u64(0))]),
    ("split-gso on", [("SPLIT_GSO", u8(N["BFC_SPLIT_GSO_ON"]))]),
    ("split-gso off", [("SPLIT_GSO", u8(N["BFC_SPLIT_GSO_OFF"]))]),
    ("split-gso auto", [("SPLIT_GSO", u8(N["BFC_SPLIT_GSO_AUTO"]))]),
    ("tpid 88a8", [("TPID", u16(0x88A8))]),
    ("tpid 8100", [("TPID", u16(0x8100))]),
    ("accept-pause on", [("ACCEPT_PAUSE", u8(1))]),
    ("accept-pause off", [("ACCEPT_PAUSE", u8(0))]),
    ("elide lo", [("ELIDE", attr(1, u32(1)))]),
    ("elide if77,lo,if78", [("ELIDE", attr(1, u32(77)) + attr(1, u32(1)) + attr(1, u32(78)))]),
    ("elide none", [("ELIDE", b"")]),
    ("elide " + ",".join(f"if{i}" for i in range(1000, 1065)),      # 65: the kernel's to refuse
     [("ELIDE", b"".join(attr(1, u32(i)) for i in range(1000, 1065)))]),
    # port-level modes
    ("prio pcp", [("PRIO", u8(N["BFC_PRIO_PCP"]))]),
    ("prio dscp", [("PRIO", u8(N["BFC_PRIO_DSCP"]))]),
    ("prio skb", [("PRIO", u8(N["BFC_PRIO_SKB"]))]),
    ("map auto", [("PRIO_MAP", prio_map({}))]),
    ("map 0:7", [("PRIO_MAP", prio_map({0: 7}))]),
    ("map 63:0,46:5,008:01", [("PRIO_MAP", prio_map({63: 0, 46: 5, 8: 1}))]),
    ("map " + ",".join(f"{i}:{i % 8}" for i in range(64)),
     [("PRIO_MAP", bytes(i % 8 for i in range(64)))]),
    # traffic classes
    ("classes 4 class-queues 16,8,8", [("CLASSES", u32(4)), ("CLASS_QUEUES", of_classes(16, 8, 8))]),
    ("class-queues even weights equal", [("CLASS_QUEUES", of_classes()), ("WEIGHTS", of_classes())]),
    ("weights 1,2,3,4,5,6,007,65535", [("WEIGHTS", of_classes(1, 2, 3, 4, 5, 6, 7, 65535))]),
    ("weights 1,2 keep-class off weights 3", [("WEIGHTS", of_classes(3)), ("KEEP_CLASS", u8(0))]),
    ("lossless all", [("LOSSLESS", u8(0xFF))]),
    ("lossless none", [("LOSSLESS", u8(0))]),
    ("lossless 0", [("LOSSLESS", u8(1))]),
    ("lossless 7,3,3", [("LOSSLESS", u8(0x88))]),
    ("lossless 0,1,2,3,4,5,6,7", [("LOSSLESS", u8(0xFF))]),
    ("xoff 100Kb", [("XOFF", u32(102_400))]),
    ("xoff auto", [("XOFF", u32(0))]),
    ("xon 80000b", [("XON", u32(80_000))]),
    ("xon auto", [("XON", u32(0))]),
    ("max 1Mb", [("MAX_BYTES", u32(1 << 20))]),
    ("max auto", [("MAX_BYTES", u32(0))]),
    ("dynamic 11%", [("DYNAMIC", u32(N["BFC_DYNAMIC_HPCC"]))]),
    ("dynamic 11.0000000%", [("DYNAMIC", u32(110_000))]),
    ("dynamic 0.0001%", [("DYNAMIC", u32(1))]),
    ("dynamic .5%", [("DYNAMIC", u32(5000))]),
    ("dynamic 102400%", [("DYNAMIC", u32(1024 * 1_000_000))]),
    ("dynamic 429496.7295%", [("DYNAMIC", u32(0xFFFFFFFF))]),
    ("dynamic off", [("DYNAMIC", u32(0))]),
    ("egress-xoff 25Kb", [("EGRESS_XOFF", u32(25_600))]),
    ("egress-xoff auto", [("EGRESS_XOFF", u32(0))]),
    ("egress-xon 20Kb", [("EGRESS_XON", u32(20_480))]),
    ("egress-xon auto", [("EGRESS_XON", u32(0))]),
    ("egress-max 60Kb", [("EGRESS_MAX", u32(61_440))]),
    ("egress-max auto", [("EGRESS_MAX", u32(0))]),
    ("warn 20Kb", [("WARN", u32(20_480))]),
    ("warn auto", [("WARN", u32(0))]),
    ("cut 80%", [("CUT", u8(80))]),
    ("cut 100.0%", [("CUT", u8(100))]),
    ("cut 255%", [("CUT", u8(255))]),       # the kernel's to refuse
    ("thop 50us", [("T_HOP", u64(50_000))]),
    ("thop auto", [("T_HOP", u64(0))]),
    ("alpha 0.8", [("ALPHA", u32(800))]),
    ("alpha 1", [("ALPHA", u32(1000))]),
    ("alpha .125", [("ALPHA", u32(125))]),
    ("beta 0.100", [("BETA", u32(100))]),
    ("beta 4294967.295", [("BETA", u32(0xFFFFFFFF))]),
    ("fdec 0.5000", [("FDEC", u32(500))]),
    ("fdec 0", [("FDEC", u32(0))]),
    ("congested 30000b", [("CONGESTED", u32(30_000))]),
    ("congested auto", [("CONGESTED", u32(0))]),
    ("ecn 40000b", [("ECN", u32(40_000))]),
    ("ecn off", [("ECN", u32(0))]),
    ("kmax 400Kb", [("KMAX", u32(409_600))]),
    ("kmax off", [("KMAX", u32(0))]),
    ("pmax 20%", [("PMAX", u32(200_000))]),
    ("pmax 0.0001%", [("PMAX", u32(1))]),
    ("pmax 150%", [("PMAX", u32(1_500_000))]),      # the kernel's to refuse
    ("watchdog 200ms", [("WATCHDOG", u64(200_000_000))]),
    ("watchdog off", [("WATCHDOG", u64(0))]),
    ("watchdog auto", [("WATCHDOG", u64(2**64 - 1))]),
    ("watchdog 2e6us", [("WATCHDOG", u64(2_000_000_000))]),
    ("buffer a", [("BUFFER", b"a\0")]),
    ("buffer chip0_5678-abcd", [("BUFFER", b"chip0_5678-abcd\0")]),
    ("buffer none", [("BUFFER", b"\0")]),
    ("size 12Mb", [("BUFFER_SIZE", u32(12 << 20))]),
    ("size keep", [("BUFFER_SIZE", u32(0))]),
    ("reserve 0", [("RESERVE", u32(0))]),
    ("reserve 4Kb", [("RESERVE", u32(4096))]),
    ("headroom 64Kb", [("HEADROOM", u32(65_536))]),
    ("headroom auto", [("HEADROOM", u32(0))]),
    ("share 12.5%", [("SHARE", u32(125_000))]),
    ("share 800%", [("SHARE", u32(8_000_000))]),
    ("share off", [("SHARE", u32(0))]),
    ("stamp native", [("STAMP", u8(0))]),
    ("stamp pinned /shim/prog", [("STAMP", u8(1)), ("STAMP_FD", s32(77))]),
    # as tc prints it
    ("stamp pinned id 12 name bfc_stamp tag 0123456789abcdef queues 4",
     [("QUEUES", u32(4)), ("STAMP", u8(1)), ("STAMP_FD", s32(77))]),
    ("stamp pinned id 12 tag 0123456789abcdef", [("STAMP", u8(1)), ("STAMP_FD", s32(77))]),
    ("stamp pinned id 12", [("STAMP", u8(1)), ("STAMP_FD", s32(77))]),
    ("stamp native stamp pinned /shim/prog queues 4",
     [("QUEUES", u32(4)), ("STAMP", u8(1)), ("STAMP_FD", s32(77))]),
    ("stamp pinned /shim/prog stamp native", [("STAMP", u8(0))]),
    # The last one of several wins.
    ("map 1:1 map 2:2", [("PRIO_MAP", prio_map({2: 2}))]),
    ("map 1:1 map auto", [("PRIO_MAP", prio_map({}))]),
    ("buffer a buffer none", [("BUFFER", b"\0")]),
    ("lossless 1 lossless 2", [("LOSSLESS", u8(4))]),
    ("strict none", [("STRICT", u8(0))]),
    ("strict all", [("STRICT", u8(0xFF))]),
    ("strict 6,7", [("STRICT", u8(0xC0))]),
    ("sample 50%", [("SAMPLE", u8(50))]),
    ("sample 0%", [("SAMPLE", u8(0))]),     # the kernel's to refuse, as the next but two
    ("incast dscp:46", [("INCAST", u64(46))]),
    ("incast dscp:0x2e", [("INCAST", u64(46))]),
    # Decimal, as in a map: no octal
    ("incast dscp:010", [("INCAST", u64(10))]),
    ("incast dscp:08", [("INCAST", u64(8))]),
    ("incast mark:010/0X0f", [("INCAST", u64(0xF << 32 | 10))]),
    ("incast dscp:64", [("INCAST", u64(64))]),
    ("incast mark:7", [("INCAST", u64(0xFFFFFFFF00000007))]),
    ("incast mark:0x10/0xf0", [("INCAST", u64(0xF0 << 32 | 0x10))]),
    ("incast mark:0xffffffff incast off", [("INCAST", u64(0))]),
    ("queues 8 queues 16", [("QUEUES", u32(16))]),
    ("hrtt 1ms queues 8 hrtt 2ms", [("QUEUES", u32(8)), ("HRTT", u64(2_000_000))]),
    ("elide lo,if77 elide if78", [("ELIDE", attr(1, u32(78)))]),
    ("elide lo elide none", [("ELIDE", b"")]),
    ("elide none elide lo", [("ELIDE", attr(1, u32(1)))]),
    ("sticky auto sticky 1us", [("STICKY", u64(1000))]),
]

# Those that a message offers to a number that has none.
UNITS = {"size": ("b", "kb"), "time": ("us", "ms"), "timeout": ("us", "ms"),
         "rate": ("mbit", "gbit")}

# What a number may be, by option.
RANGES = {o.keyword: o.message.partition(f"{o.keyword}: ")[2] for o in OPTIONS
          if o.unit in ("number", "size", "time", "timeout", "rate", "share")}


def illegal(option: str, value: str) -> str:
    return f'^bfc: illegal "{option}" value "{re.escape(value)}": give {re.escape(RANGES[option])}\n$'


# Command line, exit code, message (a regular expression).
USAGE = r"Usage: \.\.\. bfc \[ fc bfc\*"
REFUSE: List[Tuple[str, int, str]] = [
    ("help", 1, USAGE),
    ("queues 8 help", 1, USAGE),
    ("help", 1, r"\nSee tc-bfc\(8\)\.\n$"),
    ("nonsense", 1, r'^bfc: unknown option "nonsense", "help" lists those that there are\n$'),
    ("q 8", 1, r'^bfc: unknown option "q", "help" lists those that there are\n$'),
    ("x" * 500, 1, r'^bfc: unknown option "x{500}", "help" lists those that there are\n$'),
    ("fc ecn", 1, r'^bfc: illegal "fc" value "ecn": '
     r'give none, bfc, pfc, capfc-max, capfc-cal or fafc\n$'),
    ("fc capfc", 1, r'^bfc: illegal "fc" value "capfc": give none, bfc, '),
    ("role router", 1, r'^bfc: illegal "role" value "router": give switch or nic\n$'),
    ("peer maybe", 1, r'^bfc: illegal "peer" value "maybe": give auto, on or off\n$'),
    ("assign hash", 1,
     r'^bfc: illegal "assign" value "hash": give dynamic, stochastic, single, destination, root or similar\n$'),
    # What is no number, or not one of the type.
    *((f"{option} {value}", 1, illegal(option, value)) for option, values in (
        ("dst-prefix", "/24 10.0.0.0/8"),
        ("dst-prefix6", "-1 4294967296"),
        ("queues", "4294967296 -1 1.5 auto"),
        ("flows", "many"),
        ("sticky", "-1us 0.1ns"),
        ("hrtt", "1min automatic 1e30s 1e16us 0.0001ns nan inf"),
        ("hrtt-max", "1min"),
        ("refresh", "0.5ns"),
        ("hold", "ms"),
        ("threshold", "4Gb -1 0.5b"),
        ("limit", "4294967296b 5Xb auto"),
        ("quantum", "1e20b"),
        ("rate", "fast -1mbit 1bit 1e30gbit 10gb"),
        ("xoff", "0.5b"),
        ("max", "4Gb"),
        ("size", "none"),
        ("reserve", "auto"),
        ("ecn", "auto"),
        ("kmax", "auto 4Gb 0.5b"),
        ("thop", "0.4ns"),
        ("watchdog", "never 0.1ns"))
      for value in values.split()),
    # Zero is not "automatic": that has a word.
    *((f"{o.keyword} {zero}", 1, illegal(o.keyword, zero))
      for o in OPTIONS if o.keyword in RANGES and (o.or_zero or o.unit == "timeout")
      for zero in {"number": ["0"], "size": ["0", "0b", "0kb"], "time": ["0", "0.00", "0ms"],
                   "timeout": ["0", "0s"], "rate": ["0", "0gbit"],
                   "share": ["0%", "0.0000%"]}[o.unit]),
    ("resume late", 1, r'^bfc: illegal "resume" value "late": give drained or early\n$'),
    ("avoid-paused 1", 1, r'^bfc: illegal "avoid-paused" value "1": give on or off\n$'),
    ("split-gso yes", 1, r'^bfc: illegal "split-gso" value "yes": give off, on or auto\n$'),
    ("accept-pause auto", 1, r'^bfc: illegal "accept-pause" value "auto": give on or off\n$'),
    ("tpid 9100", 1, r'^bfc: illegal "tpid" value "9100": give 88a8 or 8100\n$'),
    ("tpid 0x88a8", 1, r'^bfc: illegal "tpid" value "0x88a8": give 88a8 or 8100\n$'),
    ("elide no-such-dev", 1, r'^Cannot find device "no-such-dev"\n$'),
    ("elide lo,no-such-dev", 1, r'^Cannot find device "no-such-dev"\n$'),
    ("elide lo,", 1, r'^bfc: illegal "elide" value "lo,": give none, or names of'),
    ("elide ,lo", 1, r'^bfc: illegal "elide" value ",lo": give none, or names of'),
    ("elide lo,,lo", 1, r'^bfc: illegal "elide" value "lo,,lo": give none, or names of'),
    ("elide " + "x" * 200, 1, r'^bfc: illegal "elide" value "x{200}": give none, or names of'),
    ("elide " + ",".join(["lo"] * 300), 1, r'^bfc: "elide" takes at most 64 devices\n$'),
    ("stamp", 255, r'^Command line is not complete'),
    ("stamp on", 1, r'^bfc: illegal "stamp" value "on": '
     r'give native, or pinned and the path of a program\n$'),
    ("stamp pinned", 255, r'^Command line is not complete'),
    ("stamp pinned /no/such/prog", 1, r'^bfc: "stamp": cannot get the program at '
     r'"/no/such/prog": No such file or directory \(tc -n and ip netns exec hide '),
    ("stamp pinned /shim/text", 1, r': Invalid argument \(nothing pinned: not on a bpffs\)\n$'),
    ("stamp pinned /shim/secret", 1, r': Operation not permitted \(needs root, or CAP_BPF'),
    ("stamp pinned id", 255, r'^Command line is not complete'),
    *((f"stamp pinned id {value}", 1, f'^bfc: illegal "stamp pinned id" value "{value}": give the '
       r'number of a program, or pinned and a path\n$')
      for value in ("x", "-1", "12x", "4294967296", "/shim/prog")),
    ("stamp pinned id 13", 1, r'^bfc: "stamp": there is no program 13 any more: give the path of '
     r'one that is pinned\n$'),
    ("stamp pinned id 14", 1, r'^bfc: "stamp": cannot get program 14: Operation not permitted '
     r'\(by its id only root can, that is CAP_SYS_ADMIN: give its path\)\n$'),
    ("stamp pinned id 12 name bfc_stamp tag 0123456789abcdee", 1, r'^bfc: "stamp": program 12 is '
     r'another one now: its tag is 0123456789abcdef, not 0123456789abcdee; give a path\n$'),
    ("stamp pinned id 12 name", 1, r'^bfc: unknown option "name"'),
    ("prio vlan", 1, r'^bfc: illegal "prio" value "vlan": give pcp, dscp or skb\n$'),
    ("map 46", 1, r'^bfc: illegal "map" value "46": give auto or VALUE:PRIO as in '
     r'46:5,48:7, values from 0 to 63, priorities from 0 to 7\n$'),
    ("map 46:5,46:5", 1, r'^bfc: "map" has the value 46 twice\n$'),
    *((f"incast {value}", 1, f'^bfc: illegal "incast" value "{value}": give off, a DSCP from 1 '
       r'to 63 as in dscp:46, or a mark as in mark:0x10 or mark:0x10/0xf0\n$')
      for value in ("46", "dscp", "dscp:", "dscp:0", "dscp:ef", "dscp:46/63", "dscp:-1", "mark:",
                    "mark:1/", "mark:1/0", "mark:0x", "mark:4294967296", "mark:1/4294967296",
                    "mark:1/2/3", "mark:1 ".strip() + "x", "on", "pcp:3")),
    ("map 1:0,2:0,01:3", 1, r'^bfc: "map" has the value 1 twice\n$'),
    ("buffer " + "x" * 16, 1, r'^bfc: illegal "buffer" value "x{16}": '
     r'give none or a name of at most 15 characters, no blanks\n$'),
    ("buffer \u00fc", 1, r'^bfc: illegal "buffer" value "\u00fc": give none or a name'),
    ("buffer a\x01", 1, r'^bfc: illegal "buffer" value "a\x01": give none or a name'),
] + [("map " + value, 1, f'^bfc: illegal "map" value "{value}": give auto or VALUE:PRIO')
     for value in ("64:0", "0:8", "1:255", "4294967296:0", "1:4294967296", "-1:0", "1:-1", "1:1,",
                   ",1:1", "1:", ":1", "1:1:1", "1=1", "1:1;2:2", "none", "1:auto", "0x1:1")
] + [(f"{option} {value}", 1, f'^bfc: illegal "{option}" value "{value}": '
      f'give at most eight numbers above 0 as in 1,2,4, or {word}\n$')
     for option, word in (("class-queues", "even"), ("weights", "equal"))
     for value in ("0", "1,0", "1,", ",1", "1,,2", "-1", "1.5", "65536", "4294967297", "1,2,3,4,5,6,7,8,9", f"1,{word}")
] + [(f"{option} {value}", 1, f'^bfc: illegal "{option}" value "{value}": '
      'give all, none or priorities from 0 to 7 as in 3,4\n$')
     for option in ("lossless", "strict")
     for value in ("8", "-1", "3,", ",3", "3,,4", "3-4", "all,1", "1,none", "auto", "0x18",
                   "4294967296")
] + [(f"{option} {value}", 1, illegal(option, value))
     for option in ("dynamic", "share", "pmax")
     for value in ("11", "0.11", "-1%", "0.00001%", "1.00005%", "429496.7296%", "1e9999%", "%", ".%",
                   "1.2.3%", "1e1%", "inf%", "nan%", "1%%", "auto", "99999999999999999999%")
] + [("share " + value, 1, f'^bfc: illegal "share" value "{value}": give off, or '
      r'0\.0001% to 102400% with at most four decimals\n$')
     for value in ("0%", "0.0%", ".0000%", "00.00000%")
] + [(f"{o.keyword} {value}", 1, f'^bfc: illegal "{o.keyword}" value "{value}": '
      f'give a whole percentage from {o.low}% to {o.high}% as in 80%\n$')
     for o in OPTIONS if o.unit == "percent"
     for value in ("80", "0.8", "80.5%", "256%", "-1%", "auto", "%")
] + [(f"{o.keyword} {value}", 1, f'^bfc: illegal "{o.keyword}" value "{value}": give a number '
      f'from {o.low / 1000:g} to {o.high / 1000:g} with at most three decimals as in 0.8\n$')
     for o in OPTIONS if o.unit == "permille"
     for value in ("0.8005", "0.0001", "80%", "-0.8", "1e-1", "4294967.296", ".", "auto", "0,8")
] + [(f"{wrong} 8", 1, f'^bfc: unknown option "{wrong}", did you mean "{near}"\\?\n$')
     for wrong, near in (
         ("querres", "queues"), ("queue", "queues"), ("Queues", "queues"), ("qeuues", "queues"),
         ("hrtt_max", "hrtt-max"), ("thresh", "threshold"), ("treshold", "threshold"),
         ("egress_xof", "egress-xoff"), ("rat", "rate"), ("watchdgo", "watchdog"),
         ("prefix6", "dst-prefix6"), ("bufer", "buffer"), ("los", "lossless"), ("loss", "lossless"),
         # a word without its option
         ("pfc", "fc pfc"), ("nic", "role nic"), ("destination", "assign destination"))
] + [(f"{o.keyword} {number}", 1, f'^bfc: {o.keyword} needs a unit, '
      f'as {number}{UNITS[o.unit][0]} or {number}{UNITS[o.unit][1]}\n$')
     for o in OPTIONS if o.unit in UNITS for number in ("40", "0.5", "1", "4294967296", "1e3")
] + [(option, 255, r'^Command line is not complete\. Try option "help"\n$') for option in KEYWORDS]
