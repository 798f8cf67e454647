# SPDX-License-Identifier: GPL-2.0
"""BFC Fig. 9, 10, 11 and 22: the Clos under Google's and Facebook's flows."""

from typing import Dict

from clos_runs import figure, params
from experiment import Experiment, Value


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
        figure("fig9", ["incast"]),
        params=params("google", 0.2),
        full=full(3.0),
        seconds=7,
        full_seconds=240,
    ),
    Experiment(
        "bfc-fig10",
        "Google's flows, 60 % load",
        figure("fig10", ["noincast"]),
        params=params("google", 0.2),
        full=full(3.0),
        seconds=6,
        full_seconds=240,
    ),
    Experiment(
        "bfc-fig11",
        "Facebook's flows with and without incast",
        figure(
            "fig11",
            ["noincast", "incast"],
            (
                *("short_mean", "short_p95", "short_p99", "short_over2"),
                *("long_mean", "all_mean", "all_p99"),
            ),
        ),
        params={
            **params("fb-hadoop-bfc", 0.4),
            "cases": ["noincast", "incast"],
            "schemes": ["bfc", "ideal-fq", "dctcp", "single"],
        },
        full=full(10.0, "bfc-128", "dctcp"),
        seconds=15,
        full_seconds=900,
    ),
    Experiment(
        "bfc-fig22",
        "Facebook's flows, so many of them in their rack that all links are alike",
        figure("fig22", ["noincast", "incast"]),
        params={**params("fb-hadoop-bfc", 0.3), "pairs": "even"},
        full=full(10.0, "dctcp"),
        seconds=12,
        full_seconds=1800,
    ),
]
