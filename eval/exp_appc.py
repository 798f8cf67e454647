# SPDX-License-Identifier: GPL-2.0
"""BFC App. C: how often a flow has no packets at its bottleneck.

A flow on a chain of two switches whose second link is slower by x: the share of
the time in which the second switch's queue is empty, against eq. (4). The formula
takes the upstream for always able to send; a real chain resumes a queue that
needs an HRTT, and Th is in whole packets.
"""

from typing import List, Union

from experiment import COLOURS, Context, Experiment, Metrics
from metrics import app_c
from schemes import PAPER, bfc
from simulate import Job, Run
from topology import GBIT, US, Topology
from workload import Flow

RULES = {"drained": PAPER, "early": ""}


def chain(x: float) -> Topology:
    """h0 - s0 - s1 - h1, the last link slower than the others by x."""
    t = Topology()
    t.host("h0")
    t.host("h1")
    t.switch("s0")
    t.switch("s1")
    t.link("h0", "s0")
    t.link("s0", "s1")
    t.link("s1", "h1", rate=round(100 * GBIT / x), delay=US)
    return t


def make_job(ctx: Context, rule: str, x: float) -> Job:
    t = chain(x)
    duration = round(ctx.number("ms") * 1e6)
    # Th follows from the slow link's rate, as in the formula.
    return Job(
        name=f"{rule}-{x:g}",
        topology=t,
        scheme=bfc(32, options=RULES[rule]),
        flows=[Flow(0, 1, round(duration * 12.5), 0)],
        until=duration,
        seed=ctx.seed,
        window=(duration // 5, duration),
        mem=512,
    )


def idle(run: Run, x: float) -> float:
    """Share of the measured time in which the slow link carried nothing."""
    assert run.job.window
    begin, end = run.job.window
    return 1 - int(run.measured[0]) / ((end - begin) * 12.5 / x)


def run(ctx: Context) -> Metrics:
    xs = ctx.numbers("x")
    keys = [(rule, x) for rule in ctx.texts("rules") for x in xs]
    runs = ctx.simulate([make_job(ctx, *key) for key in keys])
    found = {key: idle(one, key[1]) for key, one in zip(keys, runs)}
    rows: List[List[Union[str, float]]] = [
        [x, app_c(x), *(found[(rule, x)] for rule in ctx.texts("rules"))] for x in xs
    ]
    ctx.table("appc", ["x", "eq4", *ctx.texts("rules")], rows)
    with ctx.figure("appc") as axis:
        axis.plot(xs, [app_c(x) for x in xs], color="#999999", label="eq. (4)")
        for colour, rule in zip(COLOURS, ctx.texts("rules")):
            axis.plot(
                xs,
                [found[(rule, x)] for x in xs],
                color=colour,
                marker=".",
                label=f"resume {rule}",
            )
        axis.set(xlabel="x: enqueue rate / drain rate", ylabel="idle share", ylim=0)
        axis.legend(fontsize="small")
    return {
        f"{rule}_idle_at_{x:g}": found[(rule, x)] for rule, x in keys if x in (1.1, 2.0, 8.0)
    }


EXPERIMENTS = [
    Experiment(
        "bfc-appc",
        "idle share of a bottleneck against App. C",
        run,
        params={"rules": ["drained", "early"], "x": [1.1, 2.0, 8.0], "ms": 2.0},
        full={"x": [1.05, 1.1, 1.2, 1.35, 1.5, 1.75, 2.0, 2.5, 3.0, 4.0, 5.0, 8.0]},
        seconds=4,
        full_seconds=15,
    )
]
