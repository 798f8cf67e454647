# SPDX-License-Identifier: GPL-2.0
"""BFC App. A.2, Fig. 17 to 19: shortest remaining flow first.

Homa, which the paper compares with, does not exist here. Ideal-SRF is the paper's
IdealSRF+ECMP: a queue for each flow and no pauses.
"""

from typing import Callable, Dict, List

from clos_runs import CASES, Named, flows_job, make_job, metrics, params, report, schemes
from experiment import Context, Experiment, Metrics, Value
from simulate import Run
from topology import clos
from workload import Distribution, Pair, one_of, open_loop, spread

SCHEMES = ["bfc-srf", "bfc-srf-similar", "bfc-srf-random", "bfc-srf-paper", "bfc"]
IDEAL = "ideal-srf"
WORKLOADS = ["google", "fb-hadoop-bfc"]
MEASURES = ("short_mean", "short_p99", "all_mean", "long_mean")
RACK = 16  # hosts of Fig. 18


def workloads(name: str, runs: Callable[[Context, str], List[Run]]) -> Callable[[Context], Metrics]:
    """An experiment that compares schemes on flows of several sizes. runs: of all
    schemes, of those sizes.
    """

    def run(ctx: Context) -> Metrics:
        named: Named = [(sizes, r) for sizes in ctx.texts("sizes") for r in runs(ctx, sizes)]
        report(ctx, name, named)
        return metrics(named, MEASURES)

    return run


def on_clos(case: str) -> Callable[[Context, str], List[Run]]:
    """case: of CASES."""

    def runs(ctx: Context, sizes: str) -> List[Run]:
        return ctx.simulate(
            [
                make_job(ctx, f"{sizes}-{s.name}", s, *CASES[case], sizes=sizes)
                for s in schemes(ctx)
            ]
        )

    return runs


def one_receiver(ctx: Context, sizes: str) -> List[Run]:
    """All hosts of a rack send to one of them."""
    duration = round(ctx.number("ms") * 1e6)
    load = 100 * CASES["noincast"][0] * ctx.number("scale")
    pairs: List[Pair] = [(src, 0) for src in range(1, RACK)]
    rng = ctx.rng("receiver", load)
    flows = open_loop(rng, Distribution.load(sizes), one_of(pairs), load, duration)
    spread(rng, flows, 1)
    t = clos(1, RACK, 1)
    return ctx.simulate(
        [
            flows_job(f"{sizes}-{s.name}", t, s, flows, duration, ctx.seed * 1000)
            for s in schemes(ctx)
        ]
    )


def of_srf(ms: float, *without: str) -> Dict[str, Value]:
    """Parameters of the small network."""
    return {
        **params("", ms, "sizes", *without),
        "sizes": list(WORKLOADS),
        "schemes": [*SCHEMES, IDEAL],
    }


FULL: Dict[str, Value] = {"clos": [8, 16, 8], "ms": 3.0}

EXPERIMENTS = [
    Experiment(
        "bfc-fig17",
        "shortest remaining flow first; Google's and Facebook's flows, 60 % load",
        workloads("fig17", on_clos("noincast")),
        params=of_srf(0.3, "degree"),
        full=FULL,
        seconds=40,
        full_seconds=3000,
    ),
    Experiment(
        "bfc-fig18",
        "the same, one receiver and senders in its rack",
        workloads("fig18", one_receiver),
        params=of_srf(1.0, "degree", "clos", "pairs"),
        full={"ms": 20.0},
        seconds=30,
        full_seconds=900,
    ),
    Experiment(
        "bfc-fig19",
        "shortest remaining flow first where queues run short: 55 % load and 5 % incast",
        workloads("fig19", on_clos("incast")),
        # As many senders as at the paper's size, on a quarter of its links.
        params={**of_srf(0.3), "degree": 400},
        full={**FULL, "degree": 100},
        seconds=50,
        full_seconds=3000,
    ),
]
