# SPDX-License-Identifier: GPL-2.0
"""What BFC's paper leaves open: the module's defaults, and one thing changed.

All variants get the same flows: Facebook's, 55 % load and 5 % incast.
"""

from typing import Any, Dict, List

from clos_runs import (
    BUFFER_HEADER,
    CASES,
    Row,
    assigning,
    buffer_row,
    make_job,
    params,
    slowdowns,
)
from experiment import Context, Experiment, Metrics
from metrics import mean, percentile
from schemes import ASSIGN, LIMIT, PAPER, Scheme, bfc
from simulate import Run

# Arguments of bfc(). Defaults: "resume early", "avoid-paused on", queues shared by
# destination, sticky 4 us, 32 queues in the NICs, a table of 100 x queues in sets of 4, Th
# divided by the active queues. The floor of Th, one full frame, is fixed in the module.
VARIANTS: Dict[str, Dict[str, Any]] = {
    "base": {},
    "resume-drained": {"options": "resume drained"},
    "dynamic": {"options": "assign dynamic"},
    "any-empty": {"options": "assign dynamic avoid-paused off"},
    "paper": {"options": PAPER},
    "stochastic": {"options": "assign stochastic"},
    "new-in-turn": {"options": "new-first off"},
    "sticky-0": {"options": "sticky 0"},
    "sticky-2us": {"options": "sticky 2us"},
    "sticky-8us": {"options": "sticky 8us"},
    "nic-8": {"nic_queues": 8},
    "nic-128": {"nic_queues": 128},
    # The paper's table: one entry where a flow can be
    "table-1x": {"table": 1, "options": "ways 1"},
    "table-10x": {"table": 10, "options": "ways 1"},
    "table-100x": {"options": "ways 1"},
    # The one-hop BDP, 100 Gbit/s x 2 us, whatever the number of active queues
    "th-fixed": {"options": "threshold 25000b"},
}


def variant(name: str, queues: int, limit: str = LIMIT, assign: str = "") -> Scheme:
    """assign: the qdisc's words for how flows get queues, where a variant has none."""
    changes = dict(VARIANTS[name])
    options = str(changes.get("options", ""))
    if "assign" not in options:
        changes["options"] = f"{options} {assign}".strip()
    return bfc(queues, limit=limit, name=name, label=name, **changes)


def run(ctx: Context) -> Metrics:
    seeds = range(ctx.integer("seeds"))
    names = ctx.texts("variants")
    assign = assigning(ctx)
    runs = ctx.simulate(
        [
            make_job(
                ctx,
                f"{name}-{seed}",
                variant(name, ctx.integer("queues"), ctx.text("limit"), assign),
                *CASES["incast"],
                number=seed,
            )
            for name in names
            for seed in seeds
        ]
    )
    rows: List[Row] = []
    result: Metrics = {}
    for i, name in enumerate(names):
        some = runs[i * len(seeds) : (i + 1) * len(seeds)]
        row = summary(some)
        rows.append([name, len(seeds), *row])
        result[f"{name.replace('-', '_')}_short_p99"] = row[0]
    ctx.table("choices", HEADER, rows)
    ctx.table(
        "choices-runs",
        BUFFER_HEADER,
        [buffer_row(str(i % len(seeds)), one) for i, one in enumerate(runs)],
    )
    result["drops"] = sum(one.drops() for one in runs)
    result["unfinished"] = sum(one.unfinished() for one in runs)
    return result


HEADER = [
    "variant",
    "seeds",
    "short_p99",
    "short_p99_min",
    "short_p99_max",
    "long_mean",
    "buffer_p99_kb",
    "collisions",
    "drops",
]


def summary(runs: List[Run]) -> List[float]:
    """A row: means over the seeds; collisions and drops of all together."""
    short = [percentile(slowdowns(one.done(), "short"), 99) for one in runs]
    rows = [dict(zip(BUFFER_HEADER, buffer_row("", one))) for one in runs]
    return [
        mean(short),
        min(short),
        max(short),
        mean([mean(slowdowns(one.done(), "long")) for one in runs]),
        mean([float(row["buffer_p99_kb"]) for row in rows]),
        *(sum(int(row[column]) for row in rows) for column in ("collisions", "drops")),
    ]


EXPERIMENTS = [
    Experiment(
        "bfc-choices",
        "what the paper leaves open, one choice at a time",
        run,
        params={
            **params("fb-hadoop-bfc", 0.5, "schemes"),
            "degree": 400,  # 100 senders here: more than there are queues
            "variants": list(VARIANTS),
            "assign": ASSIGN[0],
            "seeds": 1,
        },
        full={"clos": [8, 16, 8], "ms": 5.0, "degree": 100, "seeds": 2},
        seconds=16,
        full_seconds=700,
    )
]
