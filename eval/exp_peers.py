# SPDX-License-Identifier: GPL-2.0
"""The flows of a run in other simulators, with the same paths, and their results.

eval/data/fb60: flows (Facebook, 60 % load, 20 ms) and what the published ns-3
simulators of DCTCP and HPCC, both with PFC, make of them, in runs that were made for
this comparison.
"""

import csv
from typing import Dict, List, Tuple, Union

from clos_runs import flows_job, report, schemes
from experiment import Context, Experiment, Metrics
from metrics import by_size
from schemes import LIMIT
from simulate import Run
from topology import clos
from workload import DATA, read_peers

# The bins of the others' table.
PEER_BINS: Tuple[Tuple[str, int], ...] = (
    ("<=1KB", 1000),
    ("1-10KB", 10_000),
    ("10-100KB", 100_000),
    ("100KB-1MB", 1_000_000),
    (">1MB", 1 << 62),
)
VALUES = ("mean", "p50", "p95", "p99")


def peer_results() -> Dict[Tuple[str, str], List[str]]:
    """(scheme, bin) -> values, of all flows."""
    found: Dict[Tuple[str, str], List[str]] = {}
    path = DATA / "fb60" / "fb60_ns3.csv"
    with open(path, newline="", encoding="ascii") as file:
        for row in csv.DictReader(file):
            kind, _, name = row["bin"].partition(":")
            if kind == "bytes":
                found[(row["scheme"], name)] = [row[v] for v in VALUES]
    return found


def run(ctx: Context) -> Metrics:
    limit = round(ctx.number("ms") * 1e6)
    t = clos()
    flows = read_peers(DATA / "fb60" / "flows_fb60.txt.gz", limit)
    runs: List[Run] = ctx.simulate(
        [flows_job(s.name, t, s, flows, limit, ctx.seed) for s in schemes(ctx)]
    )
    rows: List[List[Union[str, int, float]]] = []
    metrics: Metrics = {}
    for one in runs:
        name = one.job.scheme.name
        for label, s in by_size(one.done(), PEER_BINS):
            rows.append([name, "linux", label, int(s["n"]), *(s[v] for v in VALUES)])
            if label in ("<=1KB", ">1MB"):
                what = "short" if label == "<=1KB" else "long"
                metrics[f"{name.replace('-', '_')}_{what}_p99"] = s["p99"]
    # The others have run all flows; of a part of them the tail is shorter.
    for (scheme, label), values in peer_results().items():
        rows.append([scheme, "ns-3, 20 ms", label, "", *values])
    ctx.table("peers-beside", ["scheme", "in", "bin", "n", *VALUES], rows)
    report(ctx, "peers", [("fb60", r) for r in runs])
    metrics["drops"] = sum(r.drops() for r in runs)
    metrics["unfinished"] = sum(r.unfinished() for r in runs)
    return metrics


EXPERIMENTS = [
    Experiment(
        "bfc-fb60-peers",
        "the same flows and paths as in ns-3 simulators, beside their results",
        run,
        params={
            "schemes": ["bfc", "ideal-fq"],
            "queues": 32,
            "limit": LIMIT,
            "ms": 0.1,
        },
        full={
            "schemes": ["bfc", "bfc-paper", "stochastic", "ideal-fq", "dctcp"],
            "ms": 20.0,
        },
        seconds=11,
        full_seconds=900,
    )
]
