# SPDX-License-Identifier: GPL-2.0
"""BFC Fig. 3 and 4: how many flows are active at a fairly shared link.

Sixteen senders and one receiver around a switch with a queue for every flow and
no backpressure; the switch's non-empty queues are looked at ever so often. Queues have turns,
or (Fig. 4) the flow with the least left is served first. With FIFO, the paper's third panel,
flows have no queues that could be counted.
"""

from typing import Dict, List, Tuple, Union

import numpy as np
import numpy.typing as npt

from experiment import COLOURS, Context, Experiment, Metrics
from metrics import PACKET
from schemes import make
from simulate import Job, Run
from topology import GBIT, Topology
from workload import Distribution, Flow, one_of, open_loop

SENDERS = 16
Counts = npt.NDArray[np.float64]
# Which queue is next: schemes, and what the paper calls them.
SCHEDULERS = {"fq": ("ideal-fq-open", "fair queueing"), "srf": ("ideal-srf-open", "SRF")}


def star(rate: int) -> Topology:
    """The receiver's link is the bottleneck whatever the speed: senders that
    could not exceed it would queue flows in their own NICs.
    """
    t = Topology()
    t.switch("s")
    for h in range(SENDERS):
        t.host(f"h{h}")
        t.link(f"h{h}", "s", 100 * GBIT)
    t.host("r")
    t.link("r", "s", rate)
    return t


def make_job(
    ctx: Context,
    name: str,
    sizes: str,
    load: float,
    gbit: float,
    long_flow: bool,
    scheduler: str = "fq",
) -> Job:
    t = star(round(gbit * GBIT))
    receiver = t.number("r")
    rng = ctx.rng("active", sizes, load, gbit)
    # Slower links: as many flows, so longer.
    duration = round(ctx.number("ms") * 1e6 * 100 / gbit)
    first = 1 if long_flow else 0
    flows = open_loop(
        rng,
        Distribution.load(sizes),
        one_of([(h, receiver) for h in range(first, SENDERS)]),
        gbit * load,
        duration,
    )
    if long_flow:
        size = round(duration * gbit / 8 * 1.2)
        flows.insert(0, Flow(0, receiver, size, 0, group="long"))
    every = round(PACKET * 8 / gbit * 10.7)  # ten packets; not in step
    return Job(
        name=name,
        topology=t,
        scheme=make(SCHEDULERS[scheduler][0]),
        flows=flows,
        until=duration,
        seed=ctx.seed,
        samples=(every, duration // 10, duration),
        mem=1024,
    )


def active(run: Run) -> Tuple[Counts, Counts]:
    """Times in ns and flows with packets at the receiver's port."""
    sampled = run.samples["s"]
    port = int(run.job.topology.port("s", "r")[1:])
    return sampled.time.astype(float), sampled.occupied[:, port].astype(float)


# ---- Fig. 4 ----


def run_fig4(ctx: Context) -> Metrics:
    schedulers, loads = ctx.some_of("schedulers", SCHEDULERS), ctx.numbers("loads")
    keys = [(s, g, load) for s in schedulers for g in ctx.numbers("gbit") for load in loads]
    runs = ctx.simulate(
        [
            # The same flows for both.
            make_job(ctx, f"{s}-{g:g}g-{load:g}", ctx.text("sizes"), load, g, False, s)
            for s, g, load in keys
        ]
    )
    rows: List[List[Union[str, float]]] = []
    metrics: Metrics = {}
    found: Dict[Tuple[str, float, float], Counts] = {}
    for (s, g, load), one in zip(keys, runs):
        _, n = active(one)
        found[(s, g, load)] = n
        p50, p99 = (float(np.percentile(n, p)) for p in (50, 99))
        over = float((n > 32).mean())
        # M/G/1-PS with Poisson arrivals (BFC §2.3).
        rows.append(
            [s, g, load, float(n.mean()), load / (1 - load), p50, p99, float(n.max()), over]
        )
        metrics[f"{s}_active_mean_at_{load:g}_{g:g}g"] = float(n.mean())
        metrics[f"{s}_active_p99_at_{load:g}_{g:g}g"] = p99
        metrics[f"{s}_over_32_pct_at_{load:g}_{g:g}g"] = 100 * over
    ctx.table(
        "fig4",
        ["scheduler", "gbit", "load", "mean", "mean_poisson", "p50", "p99", "max"]
        + ["share_over_32"],
        rows,
    )
    panels = [(s, g) for s in schedulers for g in ctx.numbers("gbit")]
    with ctx.figure("fig4", len(panels)) as axes:
        for axis, (s, g) in zip(np.atleast_1d(axes), panels):
            for colour, load in zip(COLOURS, loads):
                shares = np.linspace(0, 100, 401)
                axis.plot(
                    np.percentile(found[(s, g, load)], shares),
                    shares / 100,
                    color=colour,
                    label=f"{load:.0%}",
                )
            axis.axvline(32, color="#999999", linewidth=0.8, label="32 queues")
            axis.set_xscale("symlog", linthresh=1, linscale=0.3)
            axis.set(
                xlim=(0, 150),
                xlabel=f"active flows, {SCHEDULERS[s][1]}, {g:g} Gbit/s",
                ylabel="CDF",
            )
            ticks = (0, 1, 2, 5, 10, 20, 50, 100)
            axis.set_xticks(ticks, [str(tick) for tick in ticks])
            axis.minorticks_off()
            axis.legend(fontsize="x-small", loc="lower right")
    return metrics


# ---- Fig. 3 ----


def fair_share_change(time: Counts, n: Counts, interval: float) -> float:
    """Mean of |f(t + I) - f(t)| / f(t) in %, f = C / N."""
    step = max(1, round(interval / float(np.median(np.diff(time)))))
    if step >= len(n):
        return float("nan")
    share = 1 / np.maximum(n, 1)
    return float(100 * np.mean(np.abs(share[step:] - share[:-step]) / share[:-step]))


def run_fig3(ctx: Context) -> Metrics:
    keys = [(s, g) for s in ctx.texts("sizes") for g in ctx.numbers("gbit")]
    runs = ctx.simulate(
        [make_job(ctx, f"{s}-{g:g}g", s, 0.6, g, True) for s, g in keys]
    )
    intervals = ctx.numbers("intervals")
    rows: List[List[Union[str, float]]] = []
    metrics: Metrics = {}
    for (sizes, g), one in zip(keys, runs):
        time, n = active(one)
        changes = [fair_share_change(time, n, i * 1000) for i in intervals]
        rows.append([sizes, g, *changes])
        metrics[f"{sizes.replace('-', '_')}_{g:g}g_pct"] = changes[-1]
    ctx.table("fig3", ["sizes", "gbit", *(f"{i:g}us_pct" for i in intervals)], rows)
    with ctx.figure("fig3") as axis:
        for i, row in enumerate(rows):  # more of them than colours
            axis.plot(
                intervals,
                row[2:],
                color=COLOURS[i % len(COLOURS)],
                linestyle="--" if i >= len(COLOURS) else "-",
                marker=".",
                label=f"{row[0]}, {row[1]:g}G",
            )
        axis.set(xlabel="interval, µs", ylabel="mean change of the fair share, %", ylim=0)
        axis.legend(fontsize="x-small")
    return metrics


EXPERIMENTS = [
    Experiment(
        "bfc-fig4",
        "active flows at a fairly shared link",
        run_fig4,
        params={
            "schedulers": list(SCHEDULERS),
            "sizes": "google",
            "loads": [0.5, 0.8],
            "gbit": [100.0],
            "ms": 2.0,
        },
        full={
            "loads": [0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.95],
            "gbit": [10.0, 100.0],
            "ms": 50.0,
        },
        seconds=4,
        full_seconds=240,
    ),
    Experiment(
        "bfc-fig3",
        "how fast the fair share of a long flow changes",
        run_fig3,
        params={
            "sizes": ["google", "fb-hadoop-bfc"],
            "gbit": [100.0],
            "intervals": [2.0, 4.0, 8.0, 16.0],
            "ms": 2.0,
        },
        full={
            "sizes": ["google", "fb-hadoop-bfc", "websearch"],
            "gbit": [10.0, 40.0, 100.0],
            "intervals": [2.0, 4.0, 8.0, 12.0, 16.0, 24.0, 32.0],
            "ms": 20.0,
        },
        seconds=4,
        full_seconds=180,
    ),
]
