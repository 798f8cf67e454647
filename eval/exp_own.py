# SPDX-License-Identifier: GPL-2.0
"""Your own flows on a network of your choice: from a file in the format of HPCC's
ns-3 simulator, or drawn from a distribution.
"""

from pathlib import Path
from typing import Callable, Dict, List, Tuple

from clos_runs import flows_job, metrics, report, schemes
from experiment import Context, Experiment, Metrics, UsageError
from schemes import LIMIT
from topology import Topology, clos, dumbbell, fat_tree, line
from workload import Distribution, Flow, all_pairs, open_loop, read_ns3, spread

# What --set topology=NAME:N,N... names, and what the numbers are.
NETWORKS: Dict[str, Tuple[Callable[..., Topology], str]] = {
    "clos": (clos, "RACKS,HOSTS,SPINES"),
    "dumbbell": (dumbbell, "PAIRS"),
    "fat-tree": (fat_tree, "PORTS"),
    "line": (line, "SWITCHES"),
}


def network(text: str) -> Topology:
    name, _, rest = text.partition(":")
    known = ", ".join(f"{name}:{what}" for name, (_, what) in NETWORKS.items())
    try:
        build, what = NETWORKS[name]
        numbers = [int(word) for word in rest.split(",")]
        if len(numbers) != len(what.split(",")) or min(numbers) < 1:
            raise ValueError(f"{what} wanted")
        t: Topology = build(*numbers)
        return t
    except (KeyError, ValueError) as e:
        raise UsageError(f'topology "{text}": not one of {known} ({e})') from None


def drawn(ctx: Context, hosts: int) -> List[Flow]:
    """Between all pairs alike; load is that of the hosts' links."""
    return open_loop(
        ctx.rng("flows"),
        Distribution.load(ctx.text("sizes")),
        all_pairs(hosts),
        100 * hosts * ctx.number("load"),
        round(ctx.number("ms") * 1e6),
    )


def read(ctx: Context, hosts: int) -> List[Flow]:
    """Those that start in the first ms."""
    path = Path(ctx.text("file"))
    try:
        flows = read_ns3(path)
    except (OSError, ValueError) as e:
        raise UsageError(f"file: {e}") from None
    for flow in flows:
        if flow.src == flow.dst or not 0 <= min(flow.src, flow.dst):
            raise UsageError(f"{path}: a flow from {flow.src} to {flow.dst}")
        if max(flow.src, flow.dst) >= hosts:
            raise UsageError(
                f"{path}: host {max(flow.src, flow.dst)}, but the topology has {hosts}"
            )
    limit = ctx.number("ms") * 1e6
    return [flow for flow in flows if flow.start < limit]


def run(ctx: Context) -> Metrics:
    t = network(ctx.text("topology"))
    flows = read(ctx, len(t.hosts)) if ctx.text("file") else drawn(ctx, len(t.hosts))
    if not flows:
        raise UsageError(f"no flow starts in the first {ctx.number('ms'):g} ms")
    flows = spread(ctx.rng("paths"), flows, t.planes)
    duration = round(ctx.number("ms") * 1e6)
    runs = ctx.simulate(
        [
            flows_job(s.name, t, s, flows, duration, ctx.seed, timeout=7200)
            for s in schemes(ctx)
        ]
    )
    named = [("own", one) for one in runs]
    report(ctx, "flows", named)
    return metrics(named, ("short_p99", "all_mean", "all_p99"))


EXPERIMENTS = [
    Experiment(
        "flows",
        "flows from your file, or drawn, on a network of your choice",
        run,
        params={
            "topology": "fat-tree:4",
            "file": "",
            "sizes": "fb-hadoop-bfc",
            "load": 0.4,
            "ms": 0.3,
            "schemes": ["bfc", "ideal-fq"],
            "queues": 32,
            "limit": LIMIT,
        },
        full={"topology": "fat-tree:8", "ms": 2.0},
        seconds=10,
        full_seconds=300,
    )
]
