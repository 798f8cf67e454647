# SPDX-License-Identifier: GPL-2.0
"""HPCC's experiments: its schemes (HPCC §5.1), and what is seen of a run.

All have the same switches: PFC with a threshold that is 11 % of what is free of the
buffer, which they share with all their ports. HPCC's stamp INT, DCTCP's and DCQCN's mark.

What is in PFC's place (§5.3, Fig. 12) loses packets: a port that they came in through
may fill as much of the buffer as is left free (alpha = 1).
"""

from dataclasses import replace
from typing import Any, Optional, Sequence, Tuple

import numpy as np

from schemes import (
    FAIR_NIC,
    FIXED,
    PACKET,
    RATED,
    UNBOUNDED,
    VARIABLE,
    Hpcc,
    Rated,
    Scheme,
    red,
)
from simulate import Run

BUFFER = "32Mb"
# Bytes for each Gbit/s: DCTCP's Kmin = Kmax = 30 KB at 10 Gbit/s, and DCQCN's Kmin =
# 100 KB at 25 Gbit/s.
MARKS = {"dctcp": 3000, "dcqcn": 4000}

LABELS = {
    "hpcc": "HPCC",
    "hpcc-rx": "HPCC-rxRate",
    "hpcc-ack": "HPCC, per ACK",
    "hpcc-rtt": "HPCC, per RTT",
    "dctcp": "DCTCP",
    **RATED,
}
ALL = ["hpcc", "dctcp", *RATED]  # §5.1

# Marks of these are a ramp, by `kmax` of bfc: NAME-ramp.
RAMPED = [name for name in RATED if name.startswith("dcqcn")]
LABELS.update((f"{name}-ramp", f"{RATED[name]}, ramp") for name in RAMPED)
TIMES = 4  # Kmax: 400 KB where Kmin is 100


# Flow control, and the switch's words for it; with losses, how TCP repairs them.
CHOICES = {
    "pfc": ("lossless 0 dynamic 11%", "PFC"),
    "sack": ("lossless none", "SACK"),
    "gbn": ("lossless none", "go-back-N"),
    "nosack": ("lossless none", "no SACK"),
}


def make(
    name: str,
    rate: int,
    rtt: int,
    hops: int = 1,
    wai: Optional[int] = None,
    choice: str = "pfc",
    buffer: str = BUFFER,
    ramp: bool = False,
) -> Scheme:
    """rate: of hosts' links, bit/s. rtt: T, ns: all begin with what a link takes in
    this time, also DCTCP, and without slow start. hops: switches of the longest path.
    wai: W_AI, bytes; without, that for 100 flows. choice: of flow control. buffer: of
    a switch. ramp: DCQCN's marks become more between Kmin and Kmax, as in the paper, by
    RED, which pauses nothing: for where nothing would be paused. The same with bfc and
    its pauses: `NAME-ramp`.
    """
    if name not in LABELS:
        raise ValueError(f"no scheme {name}; there are {', '.join(LABELS)}")
    if choice not in CHOICES:
        raise ValueError(f"no choice {choice}; there are {', '.join(CHOICES)}")
    if choice == "gbn" and name == "dctcp":
        raise ValueError("dctcp has no go-back-N (gbn): nosack is TCP's own way")
    if ramp and (choice != "pfc" or name not in RAMPED):
        raise ValueError("a ramp is for dcqcn in place of pfc")
    words, repair = CHOICES[choice]
    switch = (
        f"bfc fc pfc queues 8 {words} hrtt 4us buffer chip size {buffer} "
        "share 100% limit 64Mb"
    )
    control = Hpcc(
        rate,
        rtt,
        hops,
        wai=wai,
        react={"hpcc-ack": "per-ack", "hpcc-rtt": "per-rtt"}.get(name, "both"),
        rx=name == "hpcc-rx",
    )
    plain = name.removesuffix("-ramp")
    base = plain.split("-", 1)[0]
    rated = None
    if plain in RATED:
        rated = Rated(rate, rtt, VARIABLE if plain.endswith("-win") else UNBOUNDED)
    scheme = Scheme(
        name=name,
        label=LABELS[name],
        nic=FAIR_NIC.replace("fc none", "role nic fc pfc hrtt 4us"),
        switch=switch,
        marks=MARKS.get(base, 0),
        ramp=TIMES if plain != name else 0,
        source="tcp",
        congestion={"hpcc": "bfc_window", "dctcp": "dctcp"}.get(base, f"bfc_{base}"),
        window=max(control.window, PACKET),
        quickack=True,
        hpcc=control if base == "hpcc" else None,
        rated=rated,
    )
    if ramp:
        return replace(scheme, switch=red(100 * rate // (25 * 10**9)), marks=0)
    if choice == "pfc":
        return scheme
    # IRN, which repairs single packets as SACK does, bounds the window as well.
    if choice == "sack" and rated and rated.window == UNBOUNDED:
        scheme = replace(scheme, rated=replace(rated, window=FIXED))
    return replace(
        scheme,
        name=f"{name}-{choice}",
        label=f"{LABELS[name]}, {repair}",
        sack=choice == "sack",
        bounded=choice == "sack",
        back=choice == "gbn",
    )


def queue(run: Run, receiver: int, node: str = "s") -> Tuple[Any, Any]:
    """What waits for a host at its switch: times in us, KB."""
    port = run.job.topology.port(node, run.job.topology.name(receiver))
    sampled = run.samples[node]
    return sampled.time / 1000, sampled.backlog[:, int(port[1:])] / 1000


def rate(run: Run, node: str, port: int = 0, over: int = 1) -> Tuple[Any, Any]:
    """What a port sends: times in us, Gbit/s, each averaged over so many samples."""
    sampled = run.samples[node]
    time, sent = sampled.time, sampled.sent[:, port]
    passed = time[over:] - time[:-over]
    return time[over:] / 1000, (sent[over:] - sent[:-over]) * 8 / passed


def jain(values: Sequence[float]) -> float:
    """1: all alike; 1/n: one has everything."""
    a = np.asarray(values, dtype=float)
    return float(a.sum() ** 2 / (len(a) * (a**2).sum())) if a.any() else 0.0
