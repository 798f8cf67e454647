# SPDX-License-Identifier: GPL-2.0
"""BFC App. A.3, Fig. 20: four priority classes of equal load."""

from dataclasses import replace
from typing import List, Sequence

from clos_runs import (
    CASES,
    HEADER,
    data_center,
    draw_sizes,
    flows_job,
    params,
    slowdown_rows,
    slowdowns,
)
from experiment import Context, Experiment, Metrics, UsageError
from metrics import Done, percentile
from schemes import FAIR_NIC, LIMIT, Scheme, hpcc, make
from topology import clos
from workload import Distribution

CLASSES = 4
# The highest goes first; a class is in the class selector of a packet's DSCP.
STRICT = f"classes {CLASSES} prio dscp strict 1,2,3"
# DCTCP's and HPCC's: one queue for each class.
PLAIN = f"bfc fc none queues {CLASSES} assign single new-first off {STRICT} limit {LIMIT}"
MARKS = 100  # KB in a queue of a class


def classful(name: str, queues: int) -> Scheme:
    """A scheme whose hosts and switches serve classes."""
    nic = f"{FAIR_NIC} {STRICT}"
    if name in ("bfc", "bfc-dynamic"):
        below = make(name, queues)
        return replace(
            below,
            name=f"{name}-{queues}",
            label=f"{below.label}, {queues // CLASSES} queues a class",
            nic=f"{below.nic} {STRICT}",
            switch=f"{below.switch} {STRICT}",
        )
    if name == "dctcp":
        # Each priority has a queue of its own there, and its own marks.
        port = f"bfc fc pfc lossless none prio dscp strict all ecn {MARKS}000b limit 12Mb"
        return replace(make(name), nic=nic, switch=port)
    if name == "hpcc":
        return replace(hpcc(), nic=nic, switch=PLAIN)
    raise UsageError(f"schemes: {name} is not one of bfc, bfc-dynamic, dctcp, hpcc")


def per_scheme(ctx: Context) -> List[Scheme]:
    """BFC with each number of queues, the others once."""
    counts = ctx.integers("queues")
    bad = [n for n in counts if n % CLASSES or n < CLASSES]
    if bad:
        raise UsageError(f"queues: {bad[0]} is not a multiple of {CLASSES}")
    return [
        classful(name, n)
        for name in ctx.texts("schemes")
        for n in (counts if name.startswith("bfc") else counts[:1])
    ]


def by_class(done: Sequence[Done]) -> List[List[Done]]:
    """The flows of class 0, of class 1, ..."""
    return [[f for f in done if f.group == str(c)] for c in range(CLASSES)]


def run(ctx: Context) -> Metrics:
    racks, per_rack, spines = ctx.integers("clos")
    duration = round(ctx.number("ms") * 1e6)
    load = CASES["noincast"][0] * ctx.number("scale")
    rng = ctx.rng("classes", load)
    size = (racks, per_rack, spines)
    flows = data_center(rng, size, Distribution.load(ctx.text("sizes")), load, duration)
    for flow in flows:
        number = rng.randrange(CLASSES)
        flow.group, flow.dscp = str(number), number << 3
    t = clos(*size)
    runs = ctx.simulate(
        [flows_job(s.name, t, s, flows, duration, ctx.seed * 1000) for s in per_scheme(ctx)]
    )
    found = [(one, by_class(one.done())) for one in runs]
    highest_first = range(CLASSES - 1, -1, -1)
    ctx.table(
        "fig20-slowdown",
        HEADER,
        [
            row
            for one, classes in found
            for c in highest_first
            for row in slowdown_rows(f"class {c}", one, classes[c])
        ],
    )
    with ctx.figure("fig20", CLASSES, 4.2) as axes:
        for axis, c in zip(axes, highest_first):
            curves = [(one.job.scheme.label, classes[c]) for one, classes in found]
            draw_sizes(axis, curves, "p99")
            axis.set(title=f"class {c}")
        axes[0].legend(fontsize="small")
    result: Metrics = {}
    for one, classes in found:
        for c, some in enumerate(classes):
            name = f"{one.job.scheme.name.replace('-', '_')}_class{c}"
            for kind in ("short", "long"):
                result[f"{name}_{kind}_p99"] = percentile(slowdowns(some, kind), 99)
    result["drops"] = sum(one.drops() for one in runs)
    result["unfinished"] = sum(one.unfinished() for one in runs)
    return result


EXPERIMENTS = [
    Experiment(
        "bfc-fig20",
        "four priority classes, Facebook's flows at 60 %",
        run,
        params={
            **params("fb-hadoop-bfc", 0.5, "pairs", "degree", "limit"),
            "schemes": ["bfc", "dctcp"],
            "queues": [32, 128],
        },
        full={
            "clos": [8, 16, 8],
            "ms": 4.0,
            "schemes": ["bfc", "bfc-dynamic", "dctcp", "hpcc"],
        },
        seconds=20,
        full_seconds=1800,
    ),
]
