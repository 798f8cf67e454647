# SPDX-License-Identifier: GPL-2.0
"""Options and statistics of the qdisc. Generated from spec/bfc.yaml by spec/generate.py."""

from __future__ import annotations

from typing import NamedTuple


class Option(NamedTuple):
    keyword: str        # of tc; JSON has _ for -
    attr: int           # TCA_BFC_*
    width: int          # of the attribute, bytes
    low: int            # smallest and largest value
    high: int
    or_zero: bool       # 0 is allowed besides
    also: int | None    # a value out of the range that means "auto"
    unit: str           # how tc writes it
    used_by: str        # modes; "": all
    message: str        # of the kernel about a value out of range


# Every option that is a number.
OPTIONS = [
    Option('fc', 2, 1, 0, 5, False,
           None, 'word', '',
           'bfc: fc: none, bfc, pfc, capfc-max, capfc-cal or fafc'),
    Option('role', 3, 1, 0, 1, False,
           None, 'word', '',
           'bfc: role: switch or nic'),
    Option('peer', 4, 1, 0, 2, False,
           None, 'word', 'all',
           'bfc: peer: auto, on or off'),
    Option('queues', 5, 4, 1, 1024, False,
           None, 'number', '',
           'bfc: queues: 1 to 1024'),
    Option('flows', 6, 4, 16, 4194304, True,
           None, 'number', '',
           'bfc: flows: 16 to 4194304, or auto'),
    Option('assign', 7, 1, 0, 5, False,
           None, 'word', '',
           'bfc: assign: dynamic, destination, root, similar, stochastic or single'),
    Option('avoid-paused', 8, 1, 0, 1, False,
           None, 'switch', '',
           'bfc: avoid-paused: 0 or 1'),
    Option('sticky', 9, 8, 0, 10000000000, False,
           18446744073709551615, 'time', '',
           'bfc: sticky: at most 10 s, or auto'),
    Option('hrtt', 10, 8, 100, 1000000000, True,
           None, 'time', '',
           'bfc: hrtt: 100 ns to 1 s, or auto'),
    Option('threshold', 11, 4, 1, 1073741824, True,
           None, 'size', 'bfc-fafc',
           'bfc: threshold: 1 to 1073741824 bytes, or auto'),
    Option('resume', 12, 1, 0, 1, False,
           None, 'word', 'bfc-pauser',
           'bfc: resume: drained or early'),
    Option('rate', 13, 8, 1000, 125000000000, True,
           None, 'rate', '',
           'bfc: rate: 8 kbit to 1 tbit, or link'),
    Option('limit', 14, 4, 65536, 1073741824, False,
           None, 'size', '',
           'bfc: limit: 65536 to 1073741824 bytes'),
    Option('quantum', 15, 4, 256, 1048576, True,
           None, 'size', '',
           'bfc: quantum: 256 to 1048576 bytes, or auto'),
    Option('refresh', 16, 8, 10000, 1000000000, True,
           None, 'time', 'all',
           'bfc: refresh: 10 us to 1 s, or auto'),
    Option('hold', 17, 8, 1000000, 4000000000, True,
           None, 'time', 'all',
           'bfc: hold: 1 ms to 4 s, or auto'),
    Option('split-gso', 18, 1, 0, 2, False,
           None, 'word', '',
           'bfc: split-gso: off, on or auto'),
    Option('accept-pause', 20, 1, 0, 1, False,
           None, 'switch', 'bfc-fafc',
           'bfc: accept-pause: 0 or 1'),
    Option('ways', 22, 4, 1, 8, False,
           None, 'number', '',
           'bfc: ways: 1 to 8'),
    Option('new-first', 23, 1, 0, 1, False,
           None, 'switch', 'drr',
           'bfc: new-first: 0 or 1'),
    Option('prio', 24, 1, 0, 2, False,
           None, 'word', 'port-buffer-or-classes',
           'bfc: prio: pcp, dscp or skb'),
    Option('lossless', 26, 1, 0, 255, False,
           None, 'prios', 'port',
           'bfc: lossless: 8 bits'),
    Option('xoff', 27, 4, 1, 1073741824, True,
           None, 'size', 'pauser',
           'bfc: xoff: 1 to 1073741824 bytes, or auto'),
    Option('xon', 28, 4, 1, 1073741824, True,
           None, 'size', 'pauser',
           'bfc: xon: 1 to 1073741824 bytes, or auto'),
    Option('max', 29, 4, 1, 1073741824, True,
           None, 'size', 'pauser',
           'bfc: max: 1 to 1073741824 bytes, or auto'),
    Option('dynamic', 30, 4, 1, 1024000000, True,
           None, 'share', 'pauser',
           'bfc: dynamic: off, or 0.0001% to 102400% with at most four decimals'),
    Option('egress-xoff', 31, 4, 1, 1073741824, True,
           None, 'size', 'capfc',
           'bfc: egress-xoff: 1 to 1073741824 bytes, or auto'),
    Option('egress-xon', 32, 4, 1, 1073741824, True,
           None, 'size', 'capfc',
           'bfc: egress-xon: 1 to 1073741824 bytes, or auto'),
    Option('egress-max', 33, 4, 1, 1073741824, True,
           None, 'size', 'capfc',
           'bfc: egress-max: 1 to 1073741824 bytes, or auto'),
    Option('warn', 34, 4, 1, 1073741824, True,
           None, 'size', 'capfc',
           'bfc: warn: 1 to 1073741824 bytes, or auto'),
    Option('cut', 35, 1, 1, 100, False,
           None, 'percent', 'capfc-cal',
           'bfc: cut: 1 to 100 per cent'),
    Option('thop', 36, 8, 100, 1000000000, True,
           None, 'time', 'fafc',
           'bfc: thop: 100 ns to 1 s, or auto'),
    Option('alpha', 37, 4, 100, 1000, False,
           None, 'permille', 'fafc-pauser',
           'bfc: alpha: 0.1 to 1'),
    Option('beta', 38, 4, 100, 1000, False,
           None, 'permille', 'fafc-pauser',
           'bfc: beta: 0.1 to 1'),
    Option('fdec', 39, 4, 100, 1000, False,
           None, 'permille', 'fafc-pauser',
           'bfc: fdec: 0.1 to 1'),
    Option('congested', 40, 4, 1, 1073741824, True,
           None, 'size', 'fafc-pauser',
           'bfc: congested: 1 to 1073741824 bytes, or auto'),
    Option('ecn', 41, 4, 1, 1073741824, True,
           None, 'size', 'port',
           'bfc: ecn: 1 to 1073741824 bytes, or off'),
    Option('watchdog', 42, 8, 1000000, 60000000000, True,
           18446744073709551615, 'timeout', 'all',
           'bfc: watchdog: 1 ms to 60 s, off or auto'),
    Option('size', 44, 4, 65536, 1073741824, True,
           None, 'size', '',
           'bfc: size: 65536 to 1073741824 bytes, or keep'),
    Option('reserve', 45, 4, 0, 1073741824, False,
           None, 'size', 'buffer',
           'bfc: reserve: at most 1073741824 bytes'),
    Option('headroom', 46, 4, 1, 1073741824, True,
           None, 'size', 'pauser',
           'bfc: headroom: 1 to 1073741824 bytes, or auto'),
    Option('share', 47, 4, 1, 1024000000, True,
           None, 'share', 'buffer',
           'bfc: share: off, or 0.0001% to 102400% with at most four decimals'),
    Option('strict', 48, 1, 0, 255, False,
           None, 'prios', 'port-or-classes',
           'bfc: strict: 8 bits'),
    Option('stamp', 49, 1, 0, 1, False,
           None, 'stamp', '',
           'bfc: stamp: native or pinned'),
    Option('dst-prefix', 54, 4, 0, 32, False,
           None, 'number', 'destination',
           'bfc: dst-prefix: 0 to 32'),
    Option('dst-prefix6', 55, 4, 0, 128, False,
           None, 'number', 'destination',
           'bfc: dst-prefix6: 0 to 128'),
    Option('txqs', 56, 1, 0, 2, False,
           None, 'word', '',
           'bfc: txqs: auto, one or each'),
    Option('sync', 57, 8, 10000, 1000000000, False,
           None, 'time', 'not-fafc',
           'bfc: sync: 10 us to 1 s'),
    Option('hrtt-max', 58, 8, 100, 1000000000, True,
           None, 'time', 'measured',
           'bfc: hrtt-max: 100 ns to 1 s, or auto'),
    Option('sample', 59, 1, 1, 100, False,
           None, 'percent', 'bfc',
           'bfc: sample: 1 to 100 per cent'),
    Option('incast', 60, 8, 1, 18446744073709551615, True,
           None, 'label', 'label',
           'bfc: incast: a DSCP from 1 to 63, or a mark that is not 0 and in its mask'),
    Option('classes', 61, 4, 1, 8, False,
           None, 'number', 'bfc-none',
           'bfc: classes: 1 to 8'),
    Option('keep-class', 64, 1, 0, 1, False,
           None, 'switch', 'bfc',
           'bfc: keep-class: 0 or 1'),
    Option('sched', 65, 1, 0, 1, False,
           None, 'word', 'bfc-none',
           'bfc: sched: drr or srf'),
    Option('kmax', 66, 4, 1, 1073741824, True,
           None, 'size', 'ecn',
           'bfc: kmax: 1 to 1073741824 bytes, or off'),
    Option('pmax', 67, 4, 1, 1000000, False,
           None, 'share', 'kmax',
           'bfc: pmax: 0.0001% to 100% with at most four decimals'),
]

# Every option that tc has.
KEYWORDS = [
    'fc',
    'role',
    'peer',
    'queues',
    'flows',
    'assign',
    'avoid-paused',
    'sticky',
    'hrtt',
    'threshold',
    'resume',
    'rate',
    'limit',
    'quantum',
    'refresh',
    'hold',
    'split-gso',
    'tpid',
    'accept-pause',
    'elide',
    'ways',
    'new-first',
    'prio',
    'map',
    'lossless',
    'xoff',
    'xon',
    'max',
    'dynamic',
    'egress-xoff',
    'egress-xon',
    'egress-max',
    'warn',
    'cut',
    'thop',
    'alpha',
    'beta',
    'fdec',
    'congested',
    'ecn',
    'watchdog',
    'buffer',
    'size',
    'reserve',
    'headroom',
    'share',
    'strict',
    'stamp',
    'dst-prefix',
    'dst-prefix6',
    'txqs',
    'sync',
    'hrtt-max',
    'sample',
    'incast',
    'classes',
    'class-queues',
    'weights',
    'keep-class',
    'sched',
    'kmax',
    'pmax',
]

# The defaults as tc shows them.
DEFAULT_TEXT = (
    "fc bfc "
    "role switch "
    "peer auto "
    "queues 32 "
    "flows auto "
    "ways 4 "
    "sample 100% "
    "assign destination "
    "dst-prefix 32 "
    "dst-prefix6 128 "
    "incast off "
    "avoid-paused on "
    "sticky auto "
    "hrtt auto "
    "hrtt-max auto "
    "threshold auto "
    "resume early "
    "rate link "
    "limit 16Mb "
    "quantum auto "
    "new-first on "
    "sched drr "
    "refresh auto "
    "hold auto "
    "split-gso auto "
    "txqs auto "
    "sync 200us "
    "tpid 88a8 "
    "accept-pause off "
    "elide none "
    "classes 1 "
    "class-queues even "
    "weights equal "
    "keep-class on "
    "prio pcp "
    "map auto "
    "lossless all "
    "strict none "
    "xoff auto "
    "xon auto "
    "max auto "
    "dynamic off "
    "egress-xoff auto "
    "egress-xon auto "
    "egress-max auto "
    "warn auto "
    "cut 80% "
    "thop auto "
    "alpha 0.8 "
    "beta 0.8 "
    "fdec 0.8 "
    "congested auto "
    "ecn off "
    "kmax off "
    "pmax 100% "
    "watchdog auto "
    "buffer none "
    "size keep "
    "reserve 0b "
    "headroom auto "
    "share 100%"
)
DEFAULT_JSON: dict[str, object] = {
    'fc': 'bfc',
    'role': 'switch',
    'peer': 'auto',
    'queues': 32,
    'flows': 'auto',
    'ways': 4,
    'sample': 1,
    'assign': 'destination',
    'dst_prefix': 32,
    'dst_prefix6': 128,
    'incast': 'off',
    'avoid_paused': True,
    'sticky': 'auto',
    'hrtt': 'auto',
    'hrtt_max': 'auto',
    'threshold': 'auto',
    'resume': 'early',
    'rate': 'link',
    'limit': 16777216,
    'quantum': 'auto',
    'new_first': True,
    'sched': 'drr',
    'refresh': 'auto',
    'hold': 'auto',
    'split_gso': 'auto',
    'txqs': 'auto',
    'sync': 200000,
    'tpid': '88a8',
    'accept_pause': False,
    'elide': [],
    'classes': 1,
    'class_queues': [],
    'weights': [],
    'keep_class': True,
    'prio': 'pcp',
    'map': {},
    'lossless': [0, 1, 2, 3, 4, 5, 6, 7],
    'strict': [],
    'xoff': 'auto',
    'xon': 'auto',
    'max': 'auto',
    'dynamic': 'off',
    'egress_xoff': 'auto',
    'egress_xon': 'auto',
    'egress_max': 'auto',
    'warn': 'auto',
    'cut': 0.8,
    'thop': 'auto',
    'alpha': 0.8,
    'beta': 0.8,
    'fdec': 0.8,
    'congested': 'auto',
    'ecn': 'off',
    'kmax': 'off',
    'pmax': 1,
    'watchdog': 'auto',
    'buffer': 'none',
    'size': 'keep',
    'reserve': 0,
    'headroom': 'auto',
    'share': 1,
}


class Statistic(NamedTuple):
    key: str            # in text and JSON
    attr: int           # TCA_BFC_STATS_*
    width: int          # of the attribute, bytes
    block: str          # that tc shows together
    line: str           # of its text


# Those of the qdisc, in the order of tc's output.
STATISTICS = [
    Statistic('occupied', 2, 4, 'general', 'queues'),
    Statistic('active', 3, 4, 'general', 'queues'),
    Statistic('paused', 4, 4, 'general', 'queues'),
    Statistic('upstream_paused', 5, 4, 'general', 'queues'),
    Statistic('counters', 14, 8, 'general', 'queues'),
    Statistic('txqs', 84, 4, 'general', 'queues'),
    Statistic('txqs_sent', 85, 4, 'general', 'queues'),
    Statistic('threshold', 6, 4, 'general', 'effect'),
    Statistic('link_rate', 7, 8, 'general', 'effect'),
    Statistic('hrtt', 48, 8, 'general', 'effect'),
    Statistic('sticky', 8, 8, 'general', 'effect'),
    Statistic('refresh', 9, 8, 'general', 'effect'),
    Statistic('hold', 10, 8, 'general', 'effect'),
    Statistic('watchdog', 97, 8, 'general', 'effect'),
    Statistic('memory', 11, 4, 'general', 'memory'),
    Statistic('memory_peak', 12, 4, 'general', 'memory'),
    Statistic('backlog_peak', 13, 4, 'general', 'memory'),
    Statistic('assigned', 15, 8, 'general', 'assignment'),
    Statistic('collisions', 16, 8, 'general', 'assignment'),
    Statistic('told_to_share', 82, 8, 'general', 'assignment'),
    Statistic('joined', 83, 8, 'general', 'assignment'),
    Statistic('shared', 50, 8, 'general', 'assignment'),
    Statistic('learned', 88, 8, 'general', 'assignment'),
    Statistic('counted', 17, 8, 'general', 'assignment'),
    Statistic('elided', 31, 8, 'general', 'assignment'),
    Statistic('untrusted', 32, 8, 'general', 'assignment'),
    Statistic('unsampled', 91, 8, 'general', 'assignment'),
    Statistic('labelled', 92, 8, 'general', 'assignment'),
    Statistic('sized', 93, 8, 'general', 'assignment'),
    Statistic('drop_limit', 18, 8, 'general', 'drops'),
    Statistic('drop_cap', 19, 8, 'general', 'drops'),
    Statistic('drop_gso', 20, 8, 'general', 'drops'),
    Statistic('pause_tx', 21, 8, 'general', 'pauses'),
    Statistic('resume_tx', 22, 8, 'general', 'pauses'),
    Statistic('pause_rx', 25, 8, 'general', 'pauses'),
    Statistic('resume_rx', 26, 8, 'general', 'pauses'),
    Statistic('expired', 28, 8, 'general', 'pauses'),
    Statistic('paused_time', 89, 8, 'general', 'pauses'),
    Statistic('queue_paused_time', 96, 8, 'general', 'pauses'),
    Statistic('frames_tx', 23, 8, 'general', 'frames'),
    Statistic('refresh_tx', 24, 8, 'general', 'frames'),
    Statistic('frames_rx', 27, 8, 'general', 'frames'),
    Statistic('hello_tx', 29, 8, 'general', 'frames'),
    Statistic('hello_rx', 30, 8, 'general', 'frames'),
    Statistic('tagged_tx', 33, 8, 'general', 'frames'),
    Statistic('tagged_rx', 34, 8, 'general', 'frames'),
    Statistic('refused_rate', 94, 8, 'speed', 'speed'),
    Statistic('ctrl_excess', 81, 8, 'control', 'control'),
    Statistic('pfc_tx', 51, 8, 'port', 'pfc'),
    Statistic('pfc_rx', 52, 8, 'port', 'pfc'),
    Statistic('pfc_bad', 53, 8, 'port', 'pfc'),
    Statistic('mac_pause_rx', 54, 8, 'port', 'pfc'),
    Statistic('drop_max', 55, 8, 'port', 'port-drops'),
    Statistic('drop_buffer', 56, 8, 'port', 'port-drops'),
    Statistic('ecn_mark', 57, 8, 'port', 'port-drops'),
    Statistic('xoff', 58, 4, 'port', 'port-effect'),
    Statistic('xon', 59, 4, 'port', 'port-effect'),
    Statistic('headroom', 60, 4, 'port', 'port-effect'),
    Statistic('beyond', 98, 4, 'port', 'port-effect'),
    Statistic('buffer_size', 61, 4, 'port', 'buffer'),
    Statistic('buffer_used', 62, 4, 'port', 'buffer'),
    Statistic('buffer_peak', 63, 4, 'port', 'buffer'),
    Statistic('buffer_port', 64, 4, 'port', 'buffer'),
    Statistic('solved', 65, 8, 'port', 'fafc'),
    Statistic('unsolved', 66, 8, 'port', 'fafc'),
    Statistic('storms', 67, 8, 'port', 'storms'),
    Statistic('restored', 68, 8, 'port', 'storms'),
    Statistic('storm_tx', 69, 8, 'port', 'storms'),
    Statistic('storm_drops', 70, 8, 'port', 'storms'),
    Statistic('stamp_runs', 72, 8, 'stamp', 'stamp'),
    Statistic('stamp_drops', 73, 8, 'stamp', 'stamp'),
    Statistic('stamp_redirects', 74, 8, 'stamp', 'stamp'),
    Statistic('stamp_grown', 75, 8, 'stamp', 'stamp'),
    Statistic('stamp_shrunk', 76, 8, 'stamp', 'stamp'),
    Statistic('stamp_bad_len', 77, 8, 'stamp', 'stamp'),
    Statistic('stamp_untagged', 78, 8, 'stamp', 'stamp'),
    Statistic('stamp_unknown', 79, 8, 'stamp', 'stamp'),
    Statistic('bad_short', 35, 8, 'bad', 'bad'),
    Statistic('bad_version', 36, 8, 'bad', 'bad'),
    Statistic('bad_epoch', 37, 8, 'bad', 'bad'),
    Statistic('bad_seq', 38, 8, 'bad', 'bad'),
    Statistic('bad_range', 39, 8, 'bad', 'bad'),
    Statistic('bad_role', 40, 8, 'bad', 'bad'),
    Statistic('bad_rate', 41, 8, 'bad', 'bad'),
    Statistic('bad_loop', 42, 8, 'bad', 'bad'),
    Statistic('bad_tag', 43, 8, 'bad', 'bad'),
    Statistic('peer_state', 44, 4, 'peer', 'peer'),
    Statistic('peer_role', 45, 4, 'peer', 'peer'),
    Statistic('peer_queues', 46, 4, 'peer', 'peer'),
    Statistic('peer_id', 47, 8, 'peer', 'peer'),
    Statistic('peer_refused', 80, 4, 'peer', 'peer'),
    Statistic('hello_rtt', 49, 8, 'peer', 'peer'),
    Statistic('hrtt_measured', 86, 8, 'peer', 'peer'),
    Statistic('hrtt_samples', 87, 8, 'peer', 'peer'),
]
