# SPDX-License-Identifier: GPL-2.0
"""BFC Fig. 9, 10 and 11: the Clos under Google's and Facebook's flows."""

from typing import Callable, Dict, List, Tuple

from clos_runs import make_job, report, schemes, small_and_long
from experiment import Context, Experiment, Metrics, Value
from metrics import mean, percentile
from simulate import Run

# With and without incast: 60 % in all.
CASES: Dict[str, Tuple[float, float]] = {
    "noincast": (0.60, 0.0),
    "incast": (0.55, 0.05),
}


def run_cases(name: str, cases: List[str]) -> Callable[[Context], Metrics]:
    def run(ctx: Context) -> Metrics:
        todo = [(case, s) for case in cases for s in schemes(ctx)]
        runs = ctx.simulate(
            [
                make_job(
                    ctx,
                    f"{case}-{s.name}",
                    s,
                    CASES[case][0] * ctx.number("scale"),
                    CASES[case][1] * ctx.number("scale"),
                )
                for case, s in todo
            ]
        )
        named = [(case, one) for (case, _), one in zip(todo, runs)]
        report(ctx, name, named)
        return metrics(cases, named)

    return run


def metrics(cases: List[str], runs: List[Tuple[str, Run]]) -> Metrics:
    """p99 of short flows and the mean of long ones, scheme by scheme."""
    result: Metrics = {}
    for case, run in runs:
        prefix = run.job.scheme.name.replace("-", "_")
        if len(cases) > 1:
            prefix += f"_{case}"
        short, long = small_and_long(run.done())
        result[f"{prefix}_short_p99"] = percentile(short, 99)
        result[f"{prefix}_long_mean"] = mean(long)
    result["drops"] = sum(run.drops() for _, run in runs)
    result["unfinished"] = sum(run.unfinished() for _, run in runs)
    return result


def params(sizes: str, ms: float) -> Dict[str, Value]:
    return {
        "schemes": ["bfc", "ideal-fq"],
        "sizes": sizes,
        "clos": [4, 8, 4],
        "queues": 32,
        "ms": ms,
        "scale": 1.0,
    }


def full(ms: float, *more: str) -> Dict[str, Value]:
    return {
        "schemes": ["bfc", "bfc-paper", "stochastic", "ideal-fq", *more],
        "clos": [8, 16, 8],
        "ms": ms,
    }


# No TCP with Google's flows: half a million of them, a connection each.
EXPERIMENTS = [
    Experiment(
        "bfc-fig9",
        "Google's flows, 55 % load and 5 % incast",
        run_cases("fig9", ["incast"]),
        params=params("google", 0.5),
        full=full(3.0),
        seconds=30,
        full_seconds=600,
    ),
    Experiment(
        "bfc-fig10",
        "Google's flows, 60 % load",
        run_cases("fig10", ["noincast"]),
        params=params("google", 0.5),
        full=full(3.0),
        seconds=30,
        full_seconds=600,
    ),
    Experiment(
        "bfc-fig11",
        "Facebook's flows with and without incast",
        run_cases("fig11", ["noincast", "incast"]),
        params=params("fb-hadoop-bfc", 1.0),
        full=full(10.0, "dctcp"),
        seconds=60,
        full_seconds=2400,
    ),
]
