#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""What inside.sh has measured, as tables and as lines.

report.py CYCLES INSTRUCTIONS: what it printed in the two machines

  bench NAME cycles=C instructions=I ratio_fq_codel=R ratio_instructions=R
      enqueue and dequeue of a packet, with 32 queues; means over the numbers of
      flows (geometric ones of the ratios)
  bench NAME queues=N growth=R    cycles with most flows divided by those with one
  bench NAME queues=N bytes_per_port=N
"""

import math
import sys
from typing import Callable, Dict, List, NamedTuple, Sequence, Tuple

PEER = "fq_codel"
QUEUES = 32  # bfc's default


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


def read(path: str) -> Tuple[Costs, Dict[Key, int]]:
    costs: Costs = {}
    memory: Dict[Key, int] = {}
    with open(path, encoding="ascii") as file:
        for line in file:
            words = line.split()
            if words[:1] == ["packet"]:
                key = Key(words[1], int(words[2]))
                costs[(key, int(words[3]))] = Cost(int(words[4]), int(words[5]))
            elif words[:1] == ["memory"]:
                memory[Key(words[1], int(words[2]))] = int(words[3])
    if not costs or not memory:
        sys.exit(f"report: {path}: no measurement")
    return costs, memory


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


def main(argv: List[str]) -> int:
    if len(argv) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    cycles, _ = read(argv[0])
    # Of a real kernel: pages and slabs are not User-Mode Linux's.
    instructions, memory = read(argv[1])
    keys = sorted({key for key, _ in cycles}, key=lambda k: ("bfc" in k.name, k))
    flows = sorted({n for _, n in cycles})
    peer = Key(PEER, 0)

    def ratio(costs: Costs, key: Key, n: int) -> float:
        return costs[(key, n)].total / costs[(peer, n)].total

    for what, costs in (("cycles", cycles), ("instructions", instructions)):

        def cell(key: Key, n: int, costs: Costs = costs) -> str:
            cost = costs[(key, n)]
            return f"{cost.enqueue}+{cost.dequeue} {ratio(costs, key, n):7.2f}"

        table(
            f"{what} of a packet: enqueue + dequeue, and both by {PEER}'s",
            keys,
            flows,
            cell,
        )
    for key in keys:
        if key.queues not in (0, QUEUES):
            continue
        by_cycles, by_instructions = (
            geometric_mean([ratio(costs, key, n) for n in flows])
            for costs in (cycles, instructions)
        )
        means = [
            sum(costs[(key, n)].total for n in flows) / len(flows)
            for costs in (cycles, instructions)
        ]
        print(
            f"bench {key.name} cycles={means[0]:.0f} instructions={means[1]:.0f} "
            f"ratio_fq_codel={by_cycles:.2f} ratio_instructions={by_instructions:.2f}"
        )
    for key in keys:
        growth = cycles[(key, flows[-1])].total / cycles[(key, flows[0])].total
        print(f"bench {key.words()} growth={growth:.2f}")
    for key, size in memory.items():
        print(f"bench {key.words()} bytes_per_port={size}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
