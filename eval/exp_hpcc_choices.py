# SPDX-License-Identifier: GPL-2.0
"""HPCC §3.4 and §5.4: what it measures (Fig. 6), what it reacts to (Fig. 13) and by how
much it increases (Fig. 14). Hosts that all send to one, at once, through a switch.

The links have 100 Gbit/s and 1 us. For T the paper gives "4 us"; here it is what a packet
and its ACK take, 4.2 us, and a bit.
"""

from typing import Any, Dict, List, Optional, Sequence, Tuple, Union

import numpy as np

from experiment import COLOURS, Context, Experiment, Metrics
from exp_hpcc import with_losses
from fafc import key
from hpcc import jain, make, queue, rate
from metrics import percentile
from simulate import Job, Run
from topology import GBIT, star
from workload import Flow

RATE = 100 * GBIT
T = 4300  # ns
INCREASE = 25  # bytes, W_AI: for 100 flows
BEGIN = 100_000  # ns
Row = List[Union[str, int, float]]
# What a run is called, its scheme and W_AI
Variant = Tuple[str, str, Optional[int]]


def runs_of(
    ctx: Context,
    variants: Sequence[Variant],
    senders: int,
    length: int,
    every: int = 1000,
    sampled: Sequence[str] = ("s",),
) -> Dict[str, Run]:
    """Flows that last for length ns and longer; ports are looked at every so many ns,
    flows are measured in the second half.
    """
    size = int(length * RATE / 8e9 / senders * 2)
    rng = ctx.rng(ctx.experiment.name)
    flows = [
        Flow(i, senders, size, BEGIN + rng.randrange(1000)) for i in range(senders)
    ]
    flows.sort(key=lambda f: f.start)
    jobs = [
        Job(
            name=name,
            topology=star(senders + 1, rate=RATE),
            scheme=make(scheme, RATE, T, wai=wai),
            flows=flows,
            until=BEGIN + length,
            seed=ctx.seed,
            window=(BEGIN + length // 2, BEGIN + length),
            samples=(every, BEGIN, BEGIN + length),
            sampled=sampled,
            mem=512,
        )
        for name, scheme, wai in variants
    ]
    return {run.job.name: run for run in ctx.simulate(jobs)}


def since(times: Any) -> Any:
    """us since the flows began"""
    return times - BEGIN / 1000


def losses(runs: Dict[str, Run]) -> Metrics:
    """The flows go on until after the last sample."""
    metrics = with_losses({}, list(runs.values()))
    del metrics["unfinished"]
    return metrics


# ---- Fig. 6 ----


def swings(held: Any, least: float) -> int:
    """How often a queue has grown by so much after it had shrunk by so much."""
    count, low, high, down = 0, held[0], held[0], False
    for value in held:
        low, high = min(low, value), max(high, value)
        if not down and high - value >= least:
            down, low = True, value
        elif down and value - low >= least:
            count, down, high = count + 1, False, value
    return count


def run_fig6(ctx: Context) -> Metrics:
    length = round(ctx.number("us") * 1000)
    names = ctx.texts("schemes")
    runs = runs_of(ctx, [(n, n, INCREASE) for n in names], 2, length)
    metrics: Metrics = {}
    rows: List[Row] = []
    with ctx.figure("fig6") as axis:
        for colour, (name, run) in zip(COLOURS, runs.items()):
            times, held = queue(run, 2)
            times = since(times)
            axis.plot(times, held, color=colour, lw=0.9, label=run.job.scheme.label)
            rows += [[name, float(a), float(b)] for a, b in zip(times, held)]
            prefix = key(name)
            metrics[f"{prefix}_peak_kb"] = float(held.max())
            metrics[f"{prefix}_swings"] = swings(held, 5)
            # Behind the first drain, which all have.
            top = int(np.argmax(held))
            first = top + int(np.argmax(held[top:] < 5))
            metrics[f"{prefix}_second_peak_kb"] = float(held[first:].max())
            metrics[f"{prefix}_later_sd_kb"] = float(held[first:].std())
        axis.set(xlabel="time, µs", ylabel="queue, KB", xlim=(0, 100), ylim=0)
        axis.legend(fontsize="small")
    ctx.table("fig6", ["scheme", "time_us", "queue_kb"], rows)
    return {**metrics, **losses(runs)}


# ---- Fig. 13 ----


def run_fig13(ctx: Context) -> Metrics:
    length = round(ctx.number("us") * 1000)
    senders = ctx.integer("senders")
    names = ctx.texts("schemes")
    runs = runs_of(ctx, [(n, n, INCREASE) for n in names], senders, length)
    metrics: Metrics = {}
    rows: List[Row] = []
    with ctx.figure("fig13", 2) as axes:
        for colour, (name, run) in zip(COLOURS, runs.items()):
            times, held = queue(run, senders)
            label = run.job.scheme.label
            axes[1].plot(since(times), held, color=colour, lw=0.9, label=label)
            # Every 5 us, as often as once an RTT
            at, sent = rate(run, "s", senders, over=5)
            axes[0].plot(since(at), sent, color=colour, lw=0.9, label=label)
            rows += [
                [name, float(t), float(q), float(g)]
                for t, q, g in zip(since(at), held[5:], sent)
            ]
            top = int(np.argmax(held))
            drained = times[top:][held[top:] < ctx.number("drained")]
            busy = sent[since(at) > 20]
            prefix = key(name)
            metrics[f"{prefix}_peak_kb"] = float(held[top])
            if len(drained):  # DCTCP's is not
                metrics[f"{prefix}_drained_us"] = float(since(drained[0]))
            metrics[f"{prefix}_mean_gbps"] = float(busy.mean())
            metrics[f"{prefix}_min_gbps"] = float(busy.min())
            metrics[f"{prefix}_p95_kb"] = percentile(list(held), 95)
        axes[0].set(xlabel="time, µs", ylabel="aggregate rate, Gbit/s", ylim=0)
        axes[1].set(xlabel="time, µs", ylabel="queue, KB", ylim=0)
        axes[1].legend(fontsize="small")
    ctx.table("fig13", ["scheme", "time_us", "queue_kb", "rate_gbps"], rows)
    return {**metrics, **losses(runs)}


# ---- Fig. 14 ----


def run_fig14(ctx: Context) -> Metrics:
    length = round(ctx.number("ms") * 1e6)
    every = round(ctx.number("every") * 1000)
    senders = ctx.integer("senders")
    # Looking at all hosts takes longer than all else.
    hosts = [f"h{i}" for i in range(senders) if ctx.text("rates") == "yes"]
    variants: List[Variant] = [(f"wai{n}", "hpcc", n) for n in ctx.integers("wai")]
    runs = runs_of(ctx, variants, senders, length, every, ("s", *hosts))
    metrics: Metrics = {}
    rows: List[Row] = []
    with ctx.figure("fig14", 2) as axes:
        for colour, (name, run) in zip(COLOURS, runs.items()):
            times, held = queue(run, senders)
            # Without the burst at the beginning, which is the same for all.
            held = np.sort(held[since(times) > 100])
            share = np.arange(1, len(held) + 1) / len(held)
            axes[1].plot(held, share, color=colour, label=f"{name[3:]} bytes")
            over = max(1, 100_000 // every)
            for host in hosts:
                at, sent = rate(run, host, over=over)
                axes[0].plot(since(at), sent, color=colour, lw=0.5)
            rates = [float(m) * 8 / (length - length // 2) for m in run.measured]
            p50, p95 = (percentile(list(held), p) for p in (50, 95))
            metrics[f"{name}_p95_kb"] = p95
            metrics[f"{name}_jain"] = jain(rates)
            metrics[f"{name}_gbps"] = sum(rates)
            row: Row = [int(name[3:]), p50, p95, float(held[-1])]
            rows.append([*row, jain(rates), sum(rates), min(rates), max(rates)])
        axes[0].set(xlabel="time, µs", ylabel="flows, Gbit/s over 100 µs", ylim=0)
        axes[1].set(xlabel="queue, KB", ylabel="share of time")
        axes[1].legend(title="W_AI", fontsize="small")
    ctx.table(
        "fig14",
        ["wai", "p50_kb", "p95_kb", "max_kb", "jain", "total_gbps"]
        + ["min_gbps", "max_gbps"],
        rows,
    )
    return {**metrics, **losses(runs)}


EXPERIMENTS = [
    Experiment(
        "hpcc-fig6",
        "queue of two flows: what went out, or what came in",
        run_fig6,
        params={"schemes": ["hpcc", "hpcc-rx"], "us": 300.0},
        full={"us": 1000.0},
        seconds=6,
        full_seconds=10,
    ),
    Experiment(
        "hpcc-fig13",
        "incast of 16: reactions to each ACK, each round trip, and both",
        run_fig13,
        params={
            "schemes": ["hpcc", "hpcc-ack", "hpcc-rtt", "dctcp"],
            "senders": 16,
            "us": 400.0,
            "drained": 20.0,  # KB
        },
        full={"us": 2000.0},
        seconds=10,
        full_seconds=25,
    ),
    Experiment(
        "hpcc-fig14",
        "incast of 16: queue and fairness by additive increase",
        run_fig14,
        params={
            "wai": [25, 150, 300],
            "senders": 16,
            "ms": 1.0,
            "every": 1.0,  # us
            "rates": "no",  # of each flow over time
        },
        full={
            "wai": [25, 50, 100, 150, 300],
            "ms": 10.0,
            "every": 5.0,
            "rates": "yes",
        },
        seconds=18,
        full_seconds=120,
    ),
]
