# SPDX-License-Identifier: GPL-2.0
"""BFC Fig. 24 and 25: the incast label, partial deployment, sampling."""

from typing import Dict

from clos_runs import figure, params
from experiment import Experiment, Value

# A small network with as many senders in an incast as the paper's largest.
CROWDED: Dict[str, Value] = {"degree": 400}
FULL: Dict[str, Value] = {"clos": [8, 16, 8], "ms": 4.0}

EXPERIMENTS = [
    Experiment(
        "bfc-fig24",
        "incast flows with a label of their own, or shares of destinations, or neither",
        figure(
            "fig24",
            ["incast"],
            ("short_p99", "short_over2", "long_mean"),
        ),
        params={
            **params("fb-hadoop-bfc", 0.5),
            **CROWDED,
            "schemes": ["bfc-dynamic", "bfc-label-dynamic", "bfc", "bfc-label"],
        },
        full={**FULL, "degree": 400},
        seconds=12,
        full_seconds=600,
    ),
    Experiment(
        "bfc-fig25",
        "hosts without BFC, and packets that are only sampled; Facebook's flows and incast",
        figure(
            "fig25",
            ["incast"],
            ("short_p99", "short_over2", "long_mean"),
        ),
        params={
            **params("fb-hadoop-bfc", 0.5),
            "schemes": [
                "bfc",
                "bfc-sample50",
                "bfc-sample10",
                "bfc-window",
                "bfc-no-nic",
                "bfc-no-nic-open",
                "bfc-no-nic-dynamic",
            ],
        },
        full=FULL,
        seconds=15,
        full_seconds=900,
    ),
]
