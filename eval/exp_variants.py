# SPDX-License-Identifier: GPL-2.0
"""BFC Fig. 23, 27 and 28: variants of the schemes on Fig. 11's flows."""

from typing import Dict, List, Sequence

import numpy as np

from clos_runs import (
    Named,
    Row,
    assigning,
    figure,
    metrics,
    params,
    report,
    run_cases,
    schemes,
)
from experiment import COLOURS, Context, Experiment, Metrics, Value
from schemes import ASSIGN, Scheme, bfc
from simulate import Run

# ---- Fig. 27: collisions ----


def collision_shares(rows: Sequence[Dict[str, str]]) -> List[float]:
    """Of the times that a flow was given a queue, the share in which there were
    packets of others in it: one value a port, in order; idle ports left out.
    """
    return sorted(
        int(row["collisions"]) / int(row["assigned"])
        for row in rows
        if int(row["assigned"])
    )


def switch_rows(run: Run) -> List[Dict[str, str]]:
    switches = set(run.job.topology.switches())
    return [row for row in run.totals if row["node"] in switches]


def run_fig27(ctx: Context) -> Metrics:
    runs = run_cases(ctx, ["incast"], schemes(ctx))
    report(ctx, "fig27", runs)
    result = metrics(runs, ("short_p99",))
    shares: Dict[str, List[float]] = {}
    for _, run in runs:
        rows = switch_rows(run)
        shares[run.job.scheme.label] = collision_shares(rows)
        assigned = sum(int(row["assigned"]) for row in rows)
        collisions = sum(int(row["collisions"]) for row in rows)
        name = run.job.scheme.name.replace("-", "_")
        result[f"{name}_collisions_pct"] = 100 * collisions / max(1, assigned)
    write_collisions(ctx, runs, shares)
    return result


def write_collisions(
    ctx: Context, runs: Named, shares: Dict[str, List[float]]
) -> None:
    rows: List[Row] = []
    for _, run in runs:
        found = shares[run.job.scheme.label]
        rows += [
            [run.job.scheme.name, (i + 1) / len(found), 100 * share]
            for i, share in enumerate(found)
        ]
    ctx.table("fig27b", ["scheme", "share_of_ports", "collisions_pct"], rows)
    with ctx.figure("fig27b") as axis:
        for colour, (label, found) in zip(COLOURS, shares.items()):
            axis.step(
                [100 * share for share in found],
                np.arange(1, len(found) + 1) / len(found),
                where="post",
                color=colour,
                label=label,
            )
        axis.set(xlabel="assignments that collide, %", ylabel="CDF of switch ports")
        axis.legend(fontsize="small")


# ---- Fig. 28: the flow table ----


def tables(ctx: Context) -> List[Scheme]:
    """BFC with flow tables of every size and every number of ways."""
    queues, assign = ctx.integer("queues"), assigning(ctx)
    return [
        bfc(
            queues,
            limit=ctx.text("limit"),
            options=f"ways {ways} {assign}".strip(),
            table=n,
            name=f"bfc-{n}x-{ways}",
            label=f"{n} x queues, {ways} way" + "s"[: ways > 1],
        )
        for n in ctx.integers("tables")
        for ways in ctx.integers("ways")
    ]


def run_fig28(ctx: Context) -> Metrics:
    runs = run_cases(ctx, ["incast"], tables(ctx))
    report(ctx, "fig28", runs)
    return metrics(runs, ("short_p99", "long_mean"))


FULL: Dict[str, Value] = {"clos": [8, 16, 8], "ms": 10.0}
# A small network with as many senders in an incast as the paper's: more than
# there are queues.
CROWDED: Dict[str, Value] = {"degree": 400}

EXPERIMENTS = [
    Experiment(
        "bfc-fig23",
        "DCTCP with and without slow start, Facebook's flows",
        figure(
            "fig23",
            ["noincast", "incast"],
            ("short_p50", "short_p99", "middle_p50"),
            ("p50", "p99"),
        ),
        params={
            **params("fb-hadoop-bfc", 0.5),
            "schemes": ["bfc", "dctcp", "dctcp-ss"],
        },
        full=FULL,
        seconds=13,
        full_seconds=450,
    ),
    Experiment(
        "bfc-fig27",
        "collisions under two queue assignments, Facebook's flows and incast",
        run_fig27,
        params={
            **params("fb-hadoop-bfc", 0.5),
            **CROWDED,
            "schemes": ["bfc", "bfc-paper", "stochastic"],
        },
        full={**FULL, "degree": 100},
        seconds=7,
        full_seconds=180,
    ),
    Experiment(
        "bfc-fig28",
        "the size of the flow table, Facebook's flows and incast",
        run_fig28,
        params={
            **params("fb-hadoop-bfc", 0.5, "schemes"),
            **CROWDED,
            "tables": [1, 10, 100, 1000],
            "ways": [1, 4],  # the paper's, the module's
            "assign": ASSIGN[0],
        },
        full={**FULL, "degree": 100},
        seconds=8,
        full_seconds=200,
    ),
]
