# SPDX-License-Identifier: GPL-2.0
"""What the papers measure: slowdown, percentiles, bins of flow sizes."""

import math
from dataclasses import dataclass
from typing import Callable, Dict, Iterable, List, Optional, Sequence, Tuple

from workload import Flow

PACKET = 1000  # bytes on the wire

# Names of the bins of flow sizes and the largest size in each, in bytes.
BINS: Tuple[Tuple[str, int], ...] = (
    ("<=1KB", 1000),
    ("1-3KB", 3000),
    ("3-10KB", 10_000),
    ("10-30KB", 30_000),
    ("30-100KB", 100_000),
    ("100-300KB", 300_000),
    ("0.3-1MB", 1_000_000),
    ("1-3MB", 3_000_000),
    (">3MB", 1 << 62),
)


def ideal_fct(
    size: int,
    hops: int,
    delay: int,
    bits_per_ns: float,
    further: Optional[float] = None,
    packet: int = PACKET,
) -> float:
    """The best time in which a flow can be sent and acknowledged, ns.

    The base round trip of an empty network, and the serialization of all its
    packets on one link and of one packet on each further one, as the papers'
    simulators have it (docs/evaluation.md). delay: of one hop, ns; bits_per_ns:
    of the slowest link; further: how many links of that speed take a packet as
    long as all others do, if those are not all alike.
    """
    packets = -(-size // packet)
    frame = min(size, packet)
    if further is None:
        further = hops - 1
    return 2 * hops * delay + frame * 8 / bits_per_ns * (packets + further)


@dataclass
class Done:
    """A flow that has arrived."""

    size: int
    fct: float  # ns, with an undisturbed way back for the last ACK
    slowdown: float
    delay: float  # ns: longer than the ideal
    incast: int
    group: str
    src: int
    dst: int
    start: float = 0.0  # ns


def toward_incast(flows: Sequence[Done], missing: Sequence[Flow] = ()) -> List[bool]:
    """Of each flow: was an incast to the same host under way when it began? missing: the
    flows that have not arrived. With one of them an incast has no end.
    """
    spans: Dict[int, Tuple[int, float, float]] = {}  # host, from, to
    every = [(f.incast, f.dst, f.start, f.start + f.fct) for f in flows]
    every += [(f.incast, f.dst, float(f.start), math.inf) for f in missing]
    for incast, host, start, end in every:
        if incast < 0:
            continue
        _, first, last = spans.get(incast, (host, start, 0.0))
        spans[incast] = (host, min(first, start), max(last, end))
    there: Dict[int, List[Tuple[float, float]]] = {}
    for host, first, last in spans.values():
        there.setdefault(host, []).append((first, last))
    return [
        any(first <= f.start <= last for first, last in there.get(f.dst, []))
        for f in flows
    ]


def percentile(values: Sequence[float], p: float) -> float:
    """Nearest rank, as an observed value; nan if there are none."""
    if not values:
        return math.nan
    ordered = sorted(values)
    # In thousandths: 99.9 / 100 * 5000 is more than 4995.
    rank = -(-round(10 * p) * len(ordered) // 1000)
    return ordered[max(0, rank - 1)]


def mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else math.nan


def share_over(values: Sequence[float], limit: float) -> float:
    """The share of the values that are larger than limit; nan if there are none."""
    if not values:
        return math.nan
    return sum(1 for v in values if v > limit) / len(values)


def deviation(values: Sequence[float]) -> float:
    """Standard deviation of a sample; 0 for fewer than two values."""
    if len(values) < 2:
        return 0.0
    m = mean(values)
    return math.sqrt(sum((v - m) ** 2 for v in values) / (len(values) - 1))


def summary(values: Sequence[float]) -> Dict[str, float]:
    return {
        "n": len(values),
        "mean": mean(values),
        "p50": percentile(values, 50),
        "p95": percentile(values, 95),
        "p99": percentile(values, 99),
        "max": max(values) if values else math.nan,
        "over2": share_over(values, 2),
    }


def by_size(
    flows: Iterable[Done],
    bins: Sequence[Tuple[str, int]] = BINS,
    value: Callable[[Done], float] = lambda f: f.slowdown,
) -> List[Tuple[str, Dict[str, float]]]:
    """A summary for every bin of flow sizes, empty ones left out."""
    values: List[List[float]] = [[] for _ in bins]
    for flow in flows:
        for i, (_, largest) in enumerate(bins):
            if flow.size <= largest:
                values[i].append(value(flow))
                break
    return [(bins[i][0], summary(v)) for i, v in enumerate(values) if v]


def app_c(x: float, th: float = 1.0) -> float:
    """BFC App. C eq. (4): share of the time in which a flow has no packets at
    its bottleneck; th is Th / (HRTT x drain rate), x enqueue / drain rate.
    """
    return (x - 1) / (th * x + x * x - 1)


def band(values: Sequence[float]) -> Optional[Tuple[float, float, float]]:
    """Smallest, mean, largest."""
    return (min(values), mean(values), max(values)) if values else None
