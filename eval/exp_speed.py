# SPDX-License-Identifier: GPL-2.0
"""How fast the simulator is with bfc on every port, against pfifo.

The same flows from the same open-loop senders, packet by packet, so that only
the qdiscs differ; the backpressure that bfc exerts, and its control frames, are
part of its cost. A hop is a flow's packet on a link: a number that follows from
the flows alone. Best of several runs: a computer has other things to do.
"""

from dataclasses import replace
from typing import Dict, List

from clos_runs import Row, make_job, params
from experiment import Context, Experiment, Metrics
from schemes import make
from simulate import Job, Run


def data_hops(run: Run) -> int:
    job = run.job
    return sum(
        int(run.got[i]) * len(job.topology.path(f.src, f.dst, f.plane))
        for i, f in enumerate(job.flows)
    )


def speed_job(ctx: Context, name: str, number: int) -> Job:
    scheme = make(name, ctx.integer("queues"), limit=ctx.text("limit"))
    job = make_job(
        ctx, f"{name}-{number}", replace(scheme, offload=False), ctx.number("load")
    )
    # Looking at the ports takes time as well.
    return replace(job, samples=None)


def run(ctx: Context) -> Metrics:
    names = ["bfc", "pfifo-open"]
    todo = [(name, n) for n in range(ctx.integer("repeat")) for name in names]
    runs = ctx.simulate([speed_job(ctx, *what) for what in todo], alone=True)
    best: Dict[str, float] = {}
    rows: List[Row] = []
    for (name, n), one in zip(todo, runs):
        hops = data_hops(one)
        speed = hops / one.flow_seconds
        best[name] = max(speed, best.get(name, 0))
        rows.append(
            [name, n, hops, one.hops(), one.flow_seconds, speed, one.unfinished()]
        )
    ctx.table(
        "speed",
        ["scheme", "run", "hops", "frames", "seconds", "hops_per_s", "unfinished"],
        rows,
    )
    bfc, pfifo = (best[name] for name in names)
    return {
        "bfc_hops_per_s": bfc,
        "pfifo_hops_per_s": pfifo,
        "ratio": bfc / pfifo,
        "drops": sum(one.drops() for one in runs),
        "unfinished": sum(one.unfinished() for one in runs),
    }


EXPERIMENTS = [
    Experiment(
        "bfc-speed",
        "the simulator's own speed, bfc against pfifo on every port",
        run,
        params={
            **params("fb-hadoop-bfc", 0.5, "schemes", "degree"),
            "load": 0.6,
            "repeat": 2,
        },
        full={"clos": [8, 16, 8], "ms": 2.0, "repeat": 4},
        seconds=12,
        full_seconds=200,
    )
]
