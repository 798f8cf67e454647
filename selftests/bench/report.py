#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""What inside.sh has measured, as tables and as lines.

report.py CYCLES INSTRUCTIONS: what it printed in the two machines

  bench NAME cycles=C instructions=I ratio_fq_codel=R ratio_instructions=R
      enqueue and dequeue of a packet, with 32 queues; means over the numbers of
      flows (geometric ones of the ratios). What stamps (bfc-stamp-*) also has
      ratio_none and ratio_none_instructions, to the same packets with fc none. Of
      programs that were interpreted, where the kernel has no JIT, cycles are called
      cycles_interpreted, and there is no ratio of them
  bench NAME queues=N growth=R    cycles with most flows divided by those with one
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

    def __str__(self) -> str:
        return f"{self.name}, {self.queues}" if self.queues else self.name

    def words(self) -> str:
        return f"{self.name} queues={self.queues}" if self.queues else self.name


class Cost(NamedTuple):
    enqueue: int
    dequeue: int

    @property
    def total(self) -> int:
        return self.enqueue + self.dequeue


Costs = Dict[Tuple[Key, int], Cost]  # by flows


class Machine(NamedTuple):
    costs: Costs
    memory: Dict[Key, int]
    jit: bool

    def interprets(self, key: Key) -> bool:
        return key.name in PROGRAMS and not self.jit

    def ratio(self, key: Key, n: int, peer: Key) -> float:
        return self.costs[(key, n)].total / self.costs[(peer, n)].total


def read(path: str) -> Machine:
    costs: Costs = {}
    memory: Dict[Key, int] = {}
    jit = False
    with open(path, encoding="ascii") as file:
        for line in file:
            words = line.split()
            if words[:1] == ["packet"]:
                key = Key(words[1], int(words[2]))
                costs[(key, int(words[3]))] = Cost(int(words[4]), int(words[5]))
            elif words[:1] == ["memory"]:
                memory[Key(words[1], int(words[2]))] = int(words[3])
            elif words == ["jit"]:
                jit = True
    if not costs or not memory:
        sys.exit(f"report: {path}: no measurement")
    return Machine(costs, memory, jit)


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


def summary(key: Key, flows: Sequence[int], machines: Dict[str, Machine]) -> str:
    """The line of a qdisc, or of a way to stamp."""
    means: List[str] = []
    ratios: List[str] = []
    peers = {"fq_codel": Key(PEER, 0)}
    if key.name.startswith(STAMPS) and key.name != STAMPS_BASE:
        peers["none"] = Key(STAMPS_BASE, key.queues)
    for what, machine in machines.items():
        mean = sum(machine.costs[(key, n)].total for n in flows) / len(flows)
        if machine.interprets(key):
            means.append(f"{what}_interpreted={mean:.0f}")
            continue
        means.append(f"{what}={mean:.0f}")
        for name, peer in peers.items():
            by = geometric_mean([machine.ratio(key, n, peer) for n in flows])
            if what == "cycles":
                ratios.append(f"ratio_{name}={by:.2f}")
            elif name == "fq_codel":
                ratios.append(f"ratio_{what}={by:.2f}")
            else:
                ratios.append(f"ratio_{name}_{what}={by:.2f}")
    return f"bench {key.name} " + " ".join(means + ratios)


def main(argv: List[str]) -> int:
    if len(argv) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    machines = {"cycles": read(argv[0]), "instructions": read(argv[1])}
    costs = machines["cycles"].costs
    keys = sorted({key for key, _ in costs}, key=lambda k: ("bfc" in k.name, k))
    flows = sorted({n for _, n in costs})
    peer = Key(PEER, 0)

    for what, machine in machines.items():

        def cell(key: Key, n: int, machine: Machine = machine) -> str:
            cost = machine.costs[(key, n)]
            ratio = f"{machine.ratio(key, n, peer):.2f}"
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
            print(summary(key, flows, machines))
    for key in keys:
        if key.name.startswith(STAMPS):
            continue
        growth = costs[(key, flows[-1])].total / costs[(key, flows[0])].total
        print(f"bench {key.words()} growth={growth:.2f}")
    # Of a real kernel: pages and slabs are not User-Mode Linux's.
    for key, size in machines["instructions"].memory.items():
        print(f"bench {key.words()} bytes_per_port={size}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
