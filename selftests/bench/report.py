#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""What inside.sh has measured, as tables and as lines.

report.py CYCLES INSTRUCTIONS: what it printed in the two machines

  bench NAME flows=N hash=known|erased cycles=C instructions=I ratio_fq_codel=R
      ratio_instructions=R
      enqueue and dequeue of a packet, with 32 queues; flows=mean: means over the
      numbers of flows (geometric ones of the ratios). hash: do packets bring one?
      fq_codel's had the same. What stamps (bfc-stamp-*) also has ratio_none and
      ratio_none_instructions, to the same packets with fc none. Of programs that were
      interpreted, where the kernel has no JIT, cycles are called cycles_interpreted,
      and there is no ratio of them
  bench NAME queues=N hash=known|erased growth=R
      cycles with most flows divided by those with one
  bench NAME full flows=N [queues=N] cycles=C instructions=I ratio_fq_codel=R
      ratio_instructions=R
      enqueue of a packet, with its hash, into a buffer that is full: what it takes to
      drop one. bfc-tags: packets come without upstreamQs
  bench NAME queues=N bytes_per_port=N
"""

import math
import sys
from typing import Callable, Dict, List, NamedTuple, Sequence, Tuple

PEER = "fq_codel"
QUEUES = 32  # bfc's default
STAMPS = "bfc-stamp-"
STAMPS_BASE = STAMPS + "none"
PROGRAMS = (STAMPS + "ebpf", STAMPS + "int")


class Key(NamedTuple):
    name: str
    queues: int  # 0: not bfc
    hash: str  # known or erased

    def __str__(self) -> str:
        queues = f", {self.queues}" if self.queues else ""
        return f"{self.name}{queues}, {self.hash}"

    def words(self) -> str:
        queues = f" queues={self.queues}" if self.queues else ""
        return f"{self.name}{queues} hash={self.hash}"


class Cost(NamedTuple):
    enqueue: int
    dequeue: int

    @property
    def total(self) -> int:
        return self.enqueue + self.dequeue


Costs = Dict[Tuple[Key, int], Cost]  # by flows


Full = Dict[Tuple[str, int, int], int]  # enqueue, by name, queues and flows


class Machine(NamedTuple):
    costs: Costs
    full: Full
    memory: Dict[str, int]
    jit: bool

    def interprets(self, key: Key) -> bool:
        return key.name in PROGRAMS and not self.jit

    def total(self, key: Key, flows: Sequence[int]) -> float:
        return sum(self.costs[(key, n)].total for n in flows) / len(flows)

    def ratio(self, key: Key, flows: Sequence[int], peer: Key) -> float:
        return geometric_mean(
            [self.costs[(key, n)].total / self.costs[(peer, n)].total for n in flows]
        )


def read(path: str) -> Machine:
    costs: Costs = {}
    full: Full = {}
    memory: Dict[str, int] = {}
    jit = False
    with open(path, encoding="ascii") as file:
        for line in file:
            words = line.split()
            if words[:1] == ["packet"]:
                key = Key(words[1], int(words[2]), words[4])
                costs[(key, int(words[3]))] = Cost(int(words[5]), int(words[6]))
            elif words[:1] == ["full"]:
                full[(words[1], int(words[2]), int(words[3]))] = int(words[4])
            elif words[:1] == ["memory"]:
                queues = f" queues={words[2]}" if words[2] != "0" else ""
                memory[words[1] + queues] = int(words[3])
            elif words == ["jit"]:
                jit = True
    if not costs or not full or not memory:
        sys.exit(f"report: {path}: no measurement")
    return Machine(costs, full, memory, jit)


def geometric_mean(values: Sequence[float]) -> float:
    return math.exp(sum(map(math.log, values)) / len(values))


def table(
    title: str, keys: Sequence[Key], flows: Sequence[int], cell: Callable[[Key, int], str]
) -> None:
    width = 1 + max(len(str(key)) for key in keys)
    heads = [f"{n} flow{'s'[:n > 1]}" for n in flows]
    print(f"{title}\n{'':{width}}" + "".join(f"{head:>22}" for head in heads))
    for key in keys:
        print(f"{key!s:{width}}" + "".join(f"{cell(key, n):>22}" for n in flows))
    print()


def fq_codel(key: Key) -> Key:
    """What a qdisc is compared with: the same packets."""
    return Key(PEER, 0, key.hash)


def line(key: Key, flows: Sequence[int], machines: Dict[str, Machine]) -> str:
    """What a qdisc, or a way to stamp, costs with these numbers of flows."""
    costs: List[str] = []
    ratios: List[str] = []
    peers = {"fq_codel": fq_codel(key)}
    if key.name.startswith(STAMPS) and key.name != STAMPS_BASE:
        peers["none"] = key._replace(name=STAMPS_BASE)
    for what, machine in machines.items():
        total = machine.total(key, flows)
        if machine.interprets(key):
            costs.append(f"{what}_interpreted={total:.0f}")
            continue
        costs.append(f"{what}={total:.0f}")
        for name, peer in peers.items():
            by = machine.ratio(key, flows, peer)
            if what == "cycles":
                ratios.append(f"ratio_{name}={by:.2f}")
            elif name == "fq_codel":
                ratios.append(f"ratio_{what}={by:.2f}")
            else:
                ratios.append(f"ratio_{name}_{what}={by:.2f}")
    of = f"flows={flows[0]}" if len(flows) == 1 else "flows=mean"
    return f"bench {key.name} {of} hash={key.hash} " + " ".join(costs + ratios)


def full_line(name: str, queues: int, flows: int, machines: Dict[str, Machine]) -> str:
    """What a packet costs that finds no room."""
    costs: List[str] = []
    ratios: List[str] = []
    for what, machine in machines.items():
        enqueue = machine.full[(name, queues, flows)]
        peer = machine.full[(PEER, 0, flows)]
        costs.append(f"{what}={enqueue}")
        ratios.append(f"ratio_{PEER if what == 'cycles' else what}={enqueue / peer:.2f}")
    of = f" queues={queues}" if queues else ""
    return f"bench {name} full flows={flows}{of} " + " ".join(costs + ratios)


def main(argv: List[str]) -> int:
    if len(argv) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    machines = {"cycles": read(argv[0]), "instructions": read(argv[1])}
    costs = machines["cycles"].costs
    keys = sorted({key for key, _ in costs}, key=lambda k: ("bfc" in k.name, k))
    flows = sorted({n for _, n in costs})

    for what, machine in machines.items():

        def cell(key: Key, n: int, machine: Machine = machine) -> str:
            cost = machine.costs[(key, n)]
            ratio = f"{machine.ratio(key, [n], fq_codel(key)):.2f}"
            if machine.interprets(key):
                ratio = "(interp.)"
            return f"{cost.enqueue}+{cost.dequeue} {ratio:>9}"

        table(
            f"{what} of a packet: enqueue + dequeue, and both by {PEER}'s",
            keys,
            flows,
            cell,
        )
    for key in keys:
        if key.queues in (0, QUEUES):
            for some in [*([n] for n in flows), flows]:
                print(line(key, some, machines))
    for key in keys:
        if key.name.startswith(STAMPS):
            continue
        growth = costs[(key, flows[-1])].total / costs[(key, flows[0])].total
        print(f"bench {key.words()} growth={growth:.2f}")
    for name, queues, n in sorted(machines["cycles"].full):
        print(full_line(name, queues, n, machines))
    # Of a real kernel: pages and slabs are not User-Mode Linux's.
    for name, size in machines["instructions"].memory.items():
        print(f"bench {name} bytes_per_port={size}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
