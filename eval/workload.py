# SPDX-License-Identifier: GPL-2.0
"""Flows: sizes from a distribution, arrivals from a process, or from a file."""

import bisect
import gzip
import math
import random
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Callable, Iterable, List, Sequence, Tuple

DATA = Path(__file__).resolve().parent / "data"
SIGMA = 2.0  # of the logarithm of inter-arrival times, BFC §6.2.1
NO_INCAST = -1


@dataclass
class Flow:
    src: int  # host numbers
    dst: int
    size: int  # bytes
    start: int  # ns
    incast: int = NO_INCAST  # number of the incast it belongs to
    plane: int = 0  # path of the data
    ack_plane: int = 0  # path of the ACKs
    group: str = ""  # what an experiment calls it
    dscp: int = 0


class Distribution:
    """Flow sizes: a cumulative distribution, linear between its points."""

    def __init__(self, points: Sequence[Tuple[float, float]]) -> None:
        if len(points) < 2:
            raise ValueError("a distribution needs two points")
        if any(a[0] > b[0] or a[1] > b[1] for a, b in zip(points, points[1:])):
            raise ValueError("sizes and probabilities must not decrease")
        if points[0][1] != 0 or not math.isclose(points[-1][1], 1):
            raise ValueError("probabilities must go from 0 to 1")
        self.sizes = [p[0] for p in points]
        self.cumulative = [p[1] for p in points]

    @classmethod
    def load(cls, name: str) -> "Distribution":
        """name: of a file in eval/data without .cdf, or a path."""
        path = DATA / f"{name}.cdf"
        points: List[Tuple[float, float]] = []
        with open(path if path.exists() else name, encoding="ascii") as file:
            for number, line in enumerate(file, 1):
                words = line.split("#")[0].split()
                if not words:
                    continue
                try:
                    size, share = map(float, words)
                except ValueError:
                    raise ValueError(f"{name}:{number}: not SIZE SHARE") from None
                points.append((size, share))
        return cls(points)

    def quantile(self, share: float) -> float:
        """The size that a share of all flows does not exceed."""
        i = bisect.bisect_left(self.cumulative, share)
        if i == 0:
            return self.sizes[0]
        lo, hi = self.cumulative[i - 1], self.cumulative[i]
        part = (share - lo) / (hi - lo) if hi > lo else 1.0
        return self.sizes[i - 1] + part * (self.sizes[i] - self.sizes[i - 1])

    def sample(self, rng: random.Random) -> int:
        return max(1, round(self.quantile(rng.random())))

    def mean(self) -> float:
        total = 0.0
        for i in range(1, len(self.sizes)):
            share = self.cumulative[i] - self.cumulative[i - 1]
            total += share * (self.sizes[i] + self.sizes[i - 1]) / 2
        return total


def gaps(rng: random.Random, mean: float, sigma: float) -> Iterable[float]:
    """Inter-arrival times: log-normal, or Poisson if sigma is 0."""
    mu = math.log(mean) - sigma * sigma / 2
    while True:
        yield rng.lognormvariate(mu, sigma) if sigma else rng.expovariate(1 / mean)


Pair = Tuple[int, int]  # source and destination, host numbers
Draw = Callable[[random.Random], Pair]


def open_loop(
    rng: random.Random,
    sizes: Distribution,
    draw: Draw,
    bits_per_ns: float,
    duration: int,
    sigma: float = SIGMA,
) -> List[Flow]:
    """Flows between pairs as they are drawn, so many Gbit/s in all."""
    flows: List[Flow] = []
    now = 0.0
    for gap in gaps(rng, sizes.mean() * 8 / bits_per_ns, sigma):
        now += gap
        if now >= duration:
            return flows
        src, dst = draw(rng)
        flows.append(Flow(src, dst, sizes.sample(rng), int(now)))
    return flows


def one_of(pairs: Sequence[Pair]) -> Draw:
    """Some pairs, all alike."""
    return lambda rng: pairs[rng.randrange(len(pairs))]


def all_pairs(hosts: int) -> Draw:
    """All pairs alike."""
    return one_of([(s, d) for s in range(hosts) for d in range(hosts) if s != d])


def neighbours(racks: int, per_rack: int, leaving: float) -> Draw:
    """A share of the flows leaves its rack, for all others alike; the rest stays
    there. All hosts send and receive as much. Host numbers go rack by rack.
    """
    if (leaving > 0 and racks < 2) or (leaving < 1 and per_rack < 2):
        raise ValueError("no host to send to")

    def draw(rng: random.Random) -> Pair:
        src = rng.randrange(racks * per_rack)
        first = src - src % per_rack  # of the rack
        if rng.random() < leaving:
            dst = rng.randrange((racks - 1) * per_rack)
            return src, dst if dst < first else dst + per_rack
        dst = first + rng.randrange(per_rack - 1)
        return src, dst if dst < src else dst + 1

    return draw


def even_share(racks: int, per_rack: int, uplinks: int) -> float:
    """The share of flows that must leave their rack for the load to be the same
    on hosts' links and on those of the core. What cannot be is left out: with
    more uplinks than hosts the core carries less, and a single rack, or a host
    without neighbours, has no choice.
    """
    if racks < 2:
        return 0.0
    return 1.0 if per_rack < 2 else min(1.0, uplinks / per_rack)


def incasts(
    rng: random.Random,
    hosts: int,
    degree: int,
    total: int,
    every: int,
    duration: int,
) -> List[Flow]:
    """A new incast every so many ns: total bytes from degree senders to one
    host, all at once. With more senders than hosts some send several flows.
    """
    flows: List[Flow] = []
    for number, start in enumerate(range(0, duration, every)):
        dst = rng.randrange(hosts)
        flows += incast(rng, hosts, degree, total, dst, start, number)
    return flows


def incast(
    rng: random.Random,
    hosts: int,
    degree: int,
    total: int,
    dst: int,
    start: int,
    number: int,
) -> List[Flow]:
    """One incast, with that number."""
    others = [h for h in range(hosts) if h != dst]
    senders: List[int] = []
    while len(senders) < degree:
        rng.shuffle(others)
        senders += others[: degree - len(senders)]
    size = max(1, total // degree)
    return [Flow(src, dst, size, start, incast=number) for src in senders]


def incasts_together(
    rng: random.Random,
    racks: Tuple[int, int],
    together: int,
    degree: int,
    total: int,
    every: int,
    duration: int,
) -> List[Flow]:
    """Every so many ns so many incasts at once, to as many hosts of one rack. racks:
    how many, and the hosts of each.
    """
    hosts = racks[0] * racks[1]
    flows: List[Flow] = []
    number = 0
    for start in range(0, duration, every):
        first = rng.randrange(racks[0]) * racks[1]
        for dst in rng.sample(range(first, first + racks[1]), together):
            flows += incast(rng, hosts, degree, total, dst, start, number)
            number += 1
    return flows


def spread(rng: random.Random, flows: Iterable[Flow], planes: int) -> List[Flow]:
    """Gives every flow a path at random (flow ECMP), and sorts by start."""
    result = sorted(flows, key=lambda f: f.start)
    for flow in result:
        flow.plane = rng.randrange(planes)
        flow.ack_plane = rng.randrange(planes)
    return result


# ---- files ----


def _open(path: Path) -> IO[str]:
    if path.suffix == ".gz":
        return gzip.open(path, "rt", encoding="ascii")
    return open(path, encoding="ascii")


def read_ns3(path: Path) -> List[Flow]:
    """The format of HPCC's ns-3 simulator: a line with the number of flows,
    then "src dst priority dport bytes start", start in seconds.
    """
    with _open(path) as file:
        lines = [line.split() for line in file if line.strip()]
    if not lines or len(lines[0]) != 1:
        raise ValueError(f"{path}: the first line is not the number of flows")
    if len(lines) - 1 != int(lines[0][0]):
        raise ValueError(
            f"{path}: {len(lines) - 1} flows instead of {int(lines[0][0])}"
        )
    flows: List[Flow] = []
    for number, words in enumerate(lines[1:], 2):
        if len(words) != 6:
            raise ValueError(
                f"{path}:{number}: not src dst priority dport bytes start"
            )
        flows.append(
            Flow(int(words[0]), int(words[1]), int(words[4]), round(float(words[5]) * 1e9))
        )
    return sorted(flows, key=lambda f: f.start)


def read_peers(path: Path, limit: int = 1 << 62) -> List[Flow]:
    """Flows with paths: "src dst bytes start incast spine ack-spine ...",
    start in ns and below the limit, spine -1 in a rack.
    """
    flows: List[Flow] = []
    with _open(path) as file:
        for number, line in enumerate(file, 1):
            words = line.split("#")[0].split()
            if not words:
                continue
            if len(words) < 7:
                raise ValueError(f"{path}:{number}: seven columns are wanted")
            src, dst, size, start, incast, plane, back = map(int, words[:7])
            if start < limit:
                flows.append(
                    Flow(
                        src,
                        dst,
                        size,
                        start,
                        NO_INCAST if incast == 0 else incast,
                        max(plane, 0),
                        max(back, 0),
                    )
                )
    return flows
