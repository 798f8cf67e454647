# SPDX-License-Identifier: GPL-2.0
"""`hrtt auto` on the networks of the other experiments: the loop of a pause that switches
use, and what ports measure, as a share of what their cables make: two delays, and the full frame
that the neighbour has begun when the PAUSE arrives. A port that has paused its neighbour a few
times may have met queues that were about to end anyway, and measures less; a switch uses the
longest of its ports, and HELLOs' round trips.
"""

from dataclasses import dataclass
from typing import Dict, Iterator, List, Tuple, Union

import numpy as np

from clos_runs import flows_job
from experiment import Context, Experiment, Metrics, UsageError, Value
from schemes import LIMIT, make
from simulate import Job, Run
from topology import GBIT, Node, Topology, clos, fat_tree, pod
from workload import Distribution, Flow, all_pairs, incasts, open_loop, spread

LOAD = 0.5  # of what all hosts can send
LOOPS = 20  # that a run lasts, at least
LEAST = 500_000  # ns, likewise
NEAR = 0.1  # share by which a loop may differ from that of the cable
OFTEN = 10  # pauses, from which on what a port has measured is looked at by itself


@dataclass(frozen=True)
class Network:
    topology: Topology
    rate: int  # of hosts, Gbit/s
    loop: int  # the longest between switches, ns


def network(name: str, racks: int, per_rack: int) -> Network:
    """name: of CASES. Racks of the paper's networks; a fat tree has its own."""
    spines = per_rack // 2
    if name == "bfc":
        return Network(clos(racks, per_rack, spines), 100, 2_000)
    if name == "fafc":
        t = clos(racks, per_rack, spines, 25 * GBIT, 100 * GBIT)
        return Network(t, 25, 2_000)
    if name == "hpcc-testbed":
        t = pod(racks, per_rack, spines // 2, 25 * GBIT, 100 * GBIT, 1160, 745)
        return Network(t, 25, 1_490)
    if name == "hpcc-fabric":
        t = clos(racks, per_rack, spines, 100 * GBIT, 400 * GBIT, 2_000)
        return Network(t, 100, 4_000)
    if name == "capfc":
        return Network(fat_tree(racks), 100, 2_000)
    if name == "10km":
        t = clos(racks, per_rack, spines, core_delay=50_000)
        return Network(t, 100, 100_000)
    raise UsageError(f"cases: {name} is not one of {', '.join(CASES)}")


CASES = ["bfc", "fafc", "hpcc-testbed", "hpcc-fabric", "capfc", "10km"]


def make_job(ctx: Context, case: str) -> Job:
    """Facebook's flows, and incasts on a host that last for four loops or more."""
    racks, per_rack = ctx.integers("racks")
    net = network(case, racks, per_rack)
    hosts = len(net.topology.hosts)
    duration = max(LEAST, LOOPS * net.loop)
    rng = ctx.rng("hrtt", case)
    flows: List[Flow] = open_loop(
        rng,
        Distribution.load(ctx.text("sizes")),
        all_pairs(hosts),
        hosts * net.rate * LOAD,
        duration,
    )
    every = duration // 4
    flows += incasts(rng, hosts, hosts // 2, every * net.rate // 8, every, duration)
    scheme = make("bfc-hrtt", ctx.integer("queues"), limit=ctx.text("limit"))
    flows = spread(rng, flows, net.topology.planes)
    return flows_job(case, net.topology, scheme, flows, duration, ctx.seed)


Port = Tuple[str, str, float, int, int]


def cables(run: Run) -> Iterator[Tuple[Node, str, Node, float]]:
    """Each port: its node, its name, the node at the other end, and the loop that the cable
    makes (ns).
    """
    t = run.job.topology
    for link in t.links:
        loop = 2 * link.delay + run.job.scheme.packet * 8e9 / link.rate
        a, b = t.nodes[link.a], t.nodes[link.b]
        yield a, link.port_a, b, loop
        yield b, link.port_b, a, loop


def measured(run: Run) -> Iterator[Port]:
    """Ports between switches that have timed a pause: node, port, the cable's loop, what was
    measured (ns), pauses.
    """
    for node, port, other, loop in cables(run):
        if node.host or other.host:
            continue
        row = run.port(node.name, port)
        if int(row["hrtt_samples"]):
            yield node.name, port, loop, int(row["hrtt_measured"]), int(row["hrtt_samples"])


def in_use(run: Run) -> List[float]:
    """The HRTT that each switch uses in the end, as a share of its longest cable's, which may
    be one to a host.
    """
    used: Dict[str, int] = {}
    longest: Dict[str, float] = {}
    for node, port, _, loop in cables(run):
        if not node.host:
            name = node.name
            used[name] = max(used.get(name, 0), int(run.port(name, port)["hrtt"]))
            longest[name] = max(longest.get(name, 0), loop)
    return [used[name] / longest[name] for name in used]


def summary(ratios: List[float]) -> List[float]:
    """Smallest, median, largest, and per cent that are near 1."""
    near = 100 * sum(abs(r - 1) <= NEAR for r in ratios) / len(ratios)
    return [*(float(np.percentile(ratios, p)) for p in (0, 50, 100)), near]


def run(ctx: Context) -> Metrics:
    cases = ctx.texts("cases")
    runs = ctx.simulate([make_job(ctx, case) for case in cases])
    result: Metrics = {}
    ports: List[List[Union[str, int, float]]] = []
    rows: List[List[Union[str, int, float]]] = []
    for case, one in zip(cases, runs):
        found = list(measured(one))
        ports += [[case, *port] for port in found]
        often = [got / loop for _, _, loop, got, n in found if n >= OFTEN]
        name = case.replace("-", "_")
        for what, ratios in (("in use", in_use(one)), ("measured", often)):
            if not ratios:
                continue
            shortest, median, longest, near = summary(ratios)
            rows.append([case, what, len(ratios), shortest, median, longest, near])
            key = f"{name}_{what.replace(' ', '_')}"
            result[f"{key}_median"] = median
            result[f"{key}_longest"] = longest
            result[f"{key}_near_pct"] = near
    ctx.table("hrtt-ports", ["case", "node", "port", "loop_ns", "hrtt_ns", "pauses"], ports)
    ctx.table(
        "hrtt",
        ["case", "what", "n", "shortest", "median", "longest", "near_pct"],
        rows,
    )
    result["drops"] = sum(one.drops() for one in runs)
    result["unfinished"] = sum(one.unfinished() for one in runs)
    return result


PARAMS: Dict[str, Value] = {
    "cases": ["bfc", "10km"],
    "racks": [4, 8],
    "sizes": "fb-hadoop-bfc",
    "queues": 32,
    "limit": LIMIT,
}

EXPERIMENTS = [
    Experiment(
        "hrtt",
        "the loop of a pause as ports measure it, on the networks of the others",
        run,
        params=PARAMS,
        full={"cases": CASES, "racks": [8, 16]},
        seconds=15,
        full_seconds=600,
    )
]
