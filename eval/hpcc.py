# SPDX-License-Identifier: GPL-2.0
"""HPCC's experiments: its schemes (HPCC §5.1), and what is seen of a run.

All have the same switches: PFC with a threshold that is 11 % of what is free of the
buffer, which they share with all their ports. HPCC's stamp INT, DCTCP's mark.
"""

from typing import Any, Optional, Sequence, Tuple

import numpy as np

from schemes import FAIR_NIC, PACKET, Hpcc, Scheme
from simulate import Run

BUFFER = "32Mb"
DCTCP_KB = 30  # Kmin = Kmax at 10 Gbit/s

LABELS = {
    "hpcc": "HPCC",
    "hpcc-rx": "HPCC-rxRate",
    "hpcc-ack": "HPCC, per ACK",
    "hpcc-rtt": "HPCC, per RTT",
    "dctcp": "DCTCP",
}


def marks_at(rate: int) -> int:
    """DCTCP's threshold with links of so many bit/s, bytes."""
    return DCTCP_KB * 1000 * rate // 10**10


def make(
    name: str, rate: int, rtt: int, hops: int = 1, wai: Optional[int] = None
) -> Scheme:
    """rate: of hosts' links, bit/s. rtt: T, ns: all begin with what a link takes in
    this time, also DCTCP, and without slow start. hops: switches of the longest path.
    wai: W_AI, bytes; without, that for 100 flows.
    """
    if name not in LABELS:
        raise ValueError(f"no scheme {name}; there are {', '.join(LABELS)}")
    switch = (
        f"bfc fc pfc queues 8 hrtt 4us buffer chip size {BUFFER} dynamic 11% "
        "share 100% limit 64Mb"
    )
    nic = FAIR_NIC.replace("fc none", "role nic fc pfc hrtt 4us")
    window = rate * rtt // 8_000_000_000
    if name == "dctcp":
        return Scheme(
            name=name,
            label=LABELS[name],
            nic=nic,
            switch=f"{switch} ecn {marks_at(rate)}",
            source="tcp",
            congestion="dctcp",
            window=window,
            quickack=True,
        )
    hpcc = Hpcc(
        rate,
        rtt,
        hops,
        wai=wai,
        react={"hpcc-ack": "per-ack", "hpcc-rtt": "per-rtt"}.get(name, "both"),
        rx=name == "hpcc-rx",
    )
    return Scheme(
        name=name,
        label=LABELS[name],
        nic=nic,
        switch=switch,
        source="tcp",
        congestion="bfc_window",
        window=max(window, PACKET),
        quickack=True,
        hpcc=hpcc,
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
