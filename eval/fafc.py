# SPDX-License-Identifier: GPL-2.0
"""What FAFC's experiments share: schemes, and runs with several seeds as one.

All schemes have the same senders, DCTCP, HPCC or TIMELY, which start at line rate
(FAFC §IV), and the same flows. What the paper compares is the switches: none that
pauses, PFC and FAFC. BFC goes beyond the paper, over the same senders.
"""

from dataclasses import dataclass, replace
from typing import Any, Dict, List, Optional, Sequence

import numpy as np

from schemes import PACKET, Hpcc, Rated, Scheme, bfc, delay_based
from simulate import Run, Sampled

RATE = 25 * 10**9  # of hosts' links, bit/s
DELAY = "1us"  # of every link: the paper's T_hop
HRTT = "2us"
NIC = "queues 1024 flows 65536 limit 1Gb"  # a queue for each connection
# A switch has a queue for each of the eight priorities, or for each of them and
# each port that packets come in through (FAFC §IV: "port-based WFQ").
PRIORITIES, INGRESSES = 8, 64
UNLIMITED, LIMIT = "1Gb", "64Mb"  # of a switch port's memory; neither decides
STICKY = "20us"
NEVER = 400_000_000  # bytes, as a threshold; XOFF is twice that


@dataclass(frozen=True)
class Control:
    """Congestion control of the hosts."""

    source: str  # as in Scheme
    congestion: str
    ecn: bool  # do switches mark?


# TIMELY and HPCC have no use for marks.
CONTROLS: Dict[str, Control] = {
    "dctcp": Control("tcp", "dctcp", True),
    "hpcc": Control("tcp", "bfc_window", False),
    "timely": Control("tcp", "bfc_timely", False),
}

# Schemes by name, as --set schemes=... has it.
LABELS = {
    "inf": "infinite buffer",
    "inf-wfq": "infinite buffer, WFQ",
    "pfc": "PFC",
    "pfc-wfq": "PFC, WFQ",
    "fafc": "FAFC",
    "bfc": "BFC",
    "bfc-sticky": "BFC, sticky 20 µs",
    "bfc-open": "BFC, no congestion control",
    "bfc-cc": "BFC, delay-based control",
}
NAMES = tuple(LABELS)


def _mode(name: str, threshold: int, xoff: int) -> str:
    """What the switches do, without marks and memory."""
    fair = f"queues {PRIORITIES * INGRESSES} hrtt {HRTT} thop {DELAY}"
    if name == "inf":
        return f"bfc fc pfc lossless none queues {PRIORITIES} hrtt {HRTT}"
    if name == "pfc":
        return f"bfc fc pfc queues {PRIORITIES} hrtt {HRTT} xoff {xoff}b"
    if name == "inf-wfq":
        return f"bfc fc fafc {fair} threshold {NEVER}b xoff {NEVER}b"
    if name == "pfc-wfq":
        # Its predictions pause no port, and its backstop is PFC.
        return f"bfc fc fafc {fair} threshold {NEVER}b xoff {xoff}b"
    if name == "fafc":
        return f"bfc fc fafc {fair} threshold {threshold}b"
    raise ValueError(f"no scheme {name}; there are {', '.join(NAMES)}")


def make(
    name: str,
    ecn: int,
    threshold: int,
    xoff: int,
    window: int,
    bounded: bool = True,
    control: str = "dctcp",
    queues: int = 32,
    called: str = "",
    label: str = "",
    hpcc: Optional[Hpcc] = None,
    rated: Optional[Rated] = None,
) -> Scheme:
    """ecn, threshold (FAFC's) and xoff (PFC's): bytes. window: of a sender, bytes,
    in the beginning and, if bounded, at most. queues: of BFC. called: its name in the
    results. hpcc, rated: with control hpcc and timely; the window is theirs then.
    """
    if control not in CONTROLS:
        raise ValueError(f"no control {control}; there are {', '.join(CONTROLS)}")
    if (control == "hpcc") != bool(hpcc):
        raise ValueError(f"parameters of HPCC are for control hpcc, not {control}")
    if (control == "timely") != bool(rated):
        raise ValueError(f"parameters of a rate are for control timely, not {control}")
    how = CONTROLS[control]
    called = called or name
    label = label or LABELS.get(name, name)
    if name in ("bfc", "bfc-sticky", "bfc-open", "bfc-cc"):
        # A flow that waits for ACKs has gaps in which it would lose its queue,
        # paused as that is, and take the next: STICKY is longer than they are.
        keep = f"sticky {STICKY}" if name == "bfc-sticky" else ""
        scheme = bfc(queues, hrtt=HRTT, options=keep, name=called, label=label)
        if name == "bfc-open":
            return scheme
        if name == "bfc-cc":  # instead of control: BFC hides queues from marks
            scheme = delay_based(scheme, RATE, window * 8 * 10**9 // RATE)
            return replace(scheme, name=called, label=label)
        return replace(
            scheme,
            source=how.source,
            congestion=how.congestion,
            window=hpcc.window if hpcc else window,
            bounded=bounded,
            quickack=bool(hpcc or rated),
            hpcc=hpcc,
            rated=rated,
        )
    switch = _mode(name, threshold, xoff)
    fafc = switch.startswith("bfc fc fafc")
    unlimited = name in ("inf", "inf-wfq")
    lossless = "lossless none " if name == "inf" else ""
    pace = f"fc fafc hrtt {HRTT} thop {DELAY}" if fafc else f"fc pfc hrtt {HRTT}"
    marks = f" ecn {ecn}b" if how.ecn else ""
    return Scheme(
        name=called,
        label=label,
        nic=f"bfc role nic {pace} {lossless}{NIC}",
        switch=f"{switch}{marks} limit {UNLIMITED if unlimited else LIMIT}",
        source=how.source,
        congestion=how.congestion,
        window=hpcc.window if hpcc else window,
        bounded=bounded,
        quickack=bool(hpcc or rated),
        hpcc=hpcc,
        rated=rated,
    )


def bandwidth_delay(rate: int, hops: int) -> int:
    """The window with which a lone flow fills links of so many bit/s with a delay
    of 1 us: whole packets, bytes.
    """
    packet = PACKET * 8e9 / rate  # ns
    round_trip = 2000 * hops + packet * (hops + 1)
    return PACKET * -(-round(round_trip * rate / 8e9) // PACKET)


def pooled(runs: Sequence[Run]) -> Run:
    """Runs of one scheme that differ in their seed, as if they were one."""
    first = runs[0]

    def joined(name: str) -> Any:
        return np.concatenate([getattr(run, name) for run in runs])

    return Run(
        job=replace(first.job, flows=[f for run in runs for f in run.job.flows]),
        start=joined("start"),
        last=joined("last"),
        acked=joined("acked"),
        got=joined("got"),
        reordered=joined("reordered"),
        resent=joined("resent"),
        got_bytes=joined("got_bytes"),
        measured=joined("measured"),
        totals=[row for run in runs for row in run.totals],
        samples={
            node: Sampled(
                *(
                    np.concatenate([getattr(run.samples[node], name) for run in runs])
                    for name in ("time", "backlog", "occupied", "sent")
                )
            )
            for node in first.samples
        },
        kernel=first.kernel,
        seconds=sum(run.seconds for run in runs),
        flow_seconds=sum(run.flow_seconds for run in runs),
    )


def by_scheme(runs: Sequence[Run]) -> Dict[str, List[Run]]:
    """In their order."""
    result: Dict[str, List[Run]] = {}
    for run in runs:
        result.setdefault(run.job.scheme.name, []).append(run)
    return result


def key(scheme: str) -> str:
    """A scheme's name in a metric: "infbuf" for the paper's infinite buffer."""
    return scheme.replace("inf", "infbuf", 1).replace("-", "_")
