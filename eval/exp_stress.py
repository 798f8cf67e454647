# SPDX-License-Identifier: GPL-2.0
"""BFC Fig. 12 and 13: high load, and incasts of many senders."""

from typing import Callable, Dict, List, Union

from clos_runs import (
    BUFFER_HEADER,
    buffer_row,
    make_job,
    params,
    schemes,
    slowdowns,
)
from experiment import COLOURS, Context, Experiment, Metrics
from metrics import mean, percentile
from schemes import Scheme
from simulate import Job


def load_job(ctx: Context, scheme: Scheme, load: float) -> Job:
    return make_job(ctx, f"{scheme.name}-{load:g}", scheme, load)


def degree_job(ctx: Context, scheme: Scheme, degree: float) -> Job:
    name = f"{scheme.name}-{degree:g}"
    return make_job(ctx, name, scheme, 0.55, 0.05, degree=round(degree))


def sweep(
    figure: str, label: str, job: Callable[[Context, Scheme, float], Job]
) -> Callable[[Context], Metrics]:
    def run(ctx: Context) -> Metrics:
        points = ctx.numbers("points")
        todo = [(s, x) for s in schemes(ctx) for x in points]
        runs = ctx.simulate([job(ctx, s, x) for s, x in todo])
        rows: List[List[Union[str, float]]] = []
        found: Dict[str, List[List[float]]] = {}
        metrics: Metrics = {}
        for (scheme, x), one in zip(todo, runs):
            done = one.done()
            short, long = slowdowns(done, "short"), slowdowns(done, "long")
            values = [percentile(short, 99), mean(long)]
            found.setdefault(scheme.label, []).append(values)
            rows.append([scheme.name, x, len(short), len(long), *values])
            metrics[f"{scheme.name.replace('-', '_')}_short_p99_at_{x:g}"] = values[0]
        ctx.table(
            figure,
            ["scheme", label, "short_n", "long_n", "short_p99", "long_mean"],
            rows,
        )
        ctx.table(
            f"{figure}-buffer",
            BUFFER_HEADER,
            [buffer_row(f"{x:g}", one) for (_, x), one in zip(todo, runs)],
        )
        draw(ctx, figure, label, points, found)
        metrics["drops"] = sum(one.drops() for one in runs)
        metrics["unfinished"] = sum(one.unfinished() for one in runs)
        return metrics

    return run


def draw(
    ctx: Context,
    figure: str,
    label: str,
    points: List[float],
    found: Dict[str, List[List[float]]],
) -> None:
    titles = ("99th percentile, <= 3 KB", "mean, > 3 MB")
    with ctx.figure(figure, 2) as axes:
        for colour, (name, values) in zip(COLOURS, found.items()):
            for i, axis in enumerate(axes):
                axis.plot(
                    points, [v[i] for v in values], color=colour, marker=".", label=name
                )
        for axis, title in zip(axes, titles):
            axis.set(xlabel=label, ylabel=f"FCT slowdown, {title}", yscale="log")
            axis.grid(alpha=0.3)
        axes[0].legend(fontsize="small")


EXPERIMENTS = [
    Experiment(
        "bfc-fig12",
        "slowdown against load, Facebook's flows",
        sweep("fig12", "load", load_job),
        params={**params("fb-hadoop-bfc", 0.3, "degree"), "points": [0.5, 0.8]},
        full={
            "schemes": ["bfc", "bfc-paper", "bfc-128", "ideal-fq"],
            "clos": [8, 16, 8],
            "ms": 10.0,
            "points": [0.5, 0.6, 0.7, 0.8, 0.9, 0.95],
        },
        seconds=9,
        full_seconds=5400,
    ),
    Experiment(
        "bfc-fig13",
        "slowdown against the senders of an incast, Facebook's flows",
        sweep("fig13", "senders", degree_job),
        params={**params("fb-hadoop-bfc", 0.3, "degree"), "points": [100.0, 400.0]},
        full={
            "schemes": ["bfc", "bfc-paper", "bfc-128", "ideal-fq"],
            "clos": [8, 16, 8],
            "ms": 10.0,
            "points": [10.0, 50.0, 100.0, 400.0, 1000.0, 2000.0],
        },
        seconds=10,
        full_seconds=1900,
    ),
]
