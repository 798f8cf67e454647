# SPDX-License-Identifier: GPL-2.0
"""BFC Fig. 8: what queue assignment does to flows that are not congested.

Groups 1 and 2 share the link sw1 - sw2. Group 2 and group 3 meet at r2's link
and are paused; group 1 goes to r1 and should not notice.
"""

from typing import Dict, List, Tuple

from experiment import COLOURS, Context, Experiment, Metrics
from metrics import deviation, mean, percentile
from schemes import PAPER, RULES, bfc
from simulate import Job, Run
from topology import fig6
from workload import Flow

SIZE = 1_500_000
OPTIONS = {
    "destination": "",  # the module's defaults
    "dynamic": "assign dynamic",
    "dynamic-paper": PAPER,
    "stochastic": f"{RULES} assign stochastic",
    "single": f"{RULES} assign single",
}


def make_job(ctx: Context, assign: str, group2: int, number: int) -> Job:
    t = fig6((2, group2, 8))
    rng = ctx.rng("fig8", group2, number)
    flows = []
    for prefix, count, to in (("a", 2, "r1"), ("b", group2, "r2"), ("c", 8, "r2")):
        for i in range(count):
            flows.append(
                Flow(
                    t.number(f"{prefix}{i}"),
                    t.number(to),
                    SIZE,
                    rng.randrange(1000),
                    group=prefix,
                )
            )
    flows.sort(key=lambda f: f.start)
    return Job(
        name=f"{assign}-{group2}-{number}",
        topology=t,
        scheme=bfc(ctx.integer("queues"), options=OPTIONS[assign]),
        flows=flows,
        until=100_000_000,
        seed=ctx.seed * 1000 + number,
        mem=512,
    )


def group1(run: Run) -> List[float]:
    """FCT in us of the flows that only share the link."""
    done = [f.fct / 1000 for f in run.done() if f.group == "a"]
    if len(done) != 2:
        raise RuntimeError(f"{run.job.name}: group 1 has not finished")
    return done


def run(ctx: Context) -> Metrics:
    seeds = ctx.integer("seeds")
    keys: List[Tuple[str, int]] = [
        (assign, n) for assign in ctx.texts("assign") for n in ctx.integers("group2")
    ]
    jobs = [make_job(ctx, a, n, s) for a, n in keys for s in range(seeds)]
    runs = ctx.simulate(jobs)
    fct: Dict[Tuple[str, int], List[float]] = {}
    collisions: Dict[Tuple[str, int], int] = {}
    for i, one in enumerate(runs):
        key = keys[i // seeds]
        fct.setdefault(key, []).extend(group1(one))
        # At sw1's port to sw2, where group 1 meets group 2.
        port = one.port("sw1", one.job.topology.port("sw1", "sw2"))
        collisions[key] = collisions.get(key, 0) + int(port["collisions"])
    ctx.table(
        "fig8",
        [
            "assign",
            "group2",
            "seeds",
            "mean_us",
            "sd_us",
            "sd_of_runs_us",
            "p50_us",
            "min_us",
            "max_us",
            "collisions",
        ],
        [
            [
                *key,
                seeds,
                mean(v),
                deviation(v),
                # The two flows of a run are not independent.
                deviation([mean(v[i : i + 2]) for i in range(0, len(v), 2)]),
                percentile(v, 50),
                min(v),
                max(v),
                collisions[key],
            ]
            for key, v in fct.items()
        ],
    )
    with ctx.figure("fig8") as axis:
        for colour, assign in zip(COLOURS, ctx.texts("assign")):
            counts = ctx.integers("group2")
            axis.errorbar(
                counts,
                [mean(fct[(assign, n)]) for n in counts],
                yerr=[deviation(fct[(assign, n)]) for n in counts],
                color=colour,
                capsize=3,
                label=assign,
            )
        axis.set(xlabel="group 2 flows", ylabel="FCT of group 1, µs", ylim=0)
        axis.legend(fontsize="small")

    metrics: Metrics = {}
    at = ctx.integer("at")
    for assign in ctx.texts("assign"):
        values = fct.get((assign, at))
        if not values:
            continue
        name = assign.replace("-", "_")
        metrics[f"{name}_mean_us"] = mean(values)
        metrics[f"{name}_sd_us"] = deviation(values)
    metrics["drops"] = sum(one.drops() for one in runs)
    return metrics


EXPERIMENTS = [
    Experiment(
        "bfc-fig8",
        "FCT of group 1 under four queue assignments, 16 queues",
        run,
        params={
            "assign": [
                "destination",
                "dynamic",
                "dynamic-paper",
                "stochastic",
                "single",
            ],
            "group2": [4, 12],
            "seeds": 3,
            "queues": 16,
            "at": 12,
        },
        full={"group2": [4, 8, 12, 16, 20], "seeds": 10},
        seconds=12,
        full_seconds=240,
    )
]
