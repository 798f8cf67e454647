# SPDX-License-Identifier: GPL-2.0
"""HPCC §5.2: the micro-benchmarks of Fig. 9, on one switch.

The testbed has links of 25 Gbit/s and 5.4 us within a rack; T is 9 us. The paper has
HPCC and DCQCN; quick runs have DCTCP in its place, which reacts to marks as well.
"""

from typing import Any, Dict, List, Tuple, Union

import numpy as np

from experiment import COLOURS, Context, Experiment, Metrics
from fafc import by_scheme, key
from hpcc import ALL, RAMPED, jain, make, queue, rate
from metrics import mean, percentile
from schemes import Scheme
from simulate import Job, Run
from topology import GBIT, Topology, star
from workload import Flow

RATE = 25 * GBIT
# A packet and its ACK, over two links: 5.4 us
DELAY = 1160  # ns
T = 9000  # ns
INCREASE = 80  # bytes, W_AI
BEGIN = 500_000  # ns: when the long flows have been alone for so long
Row = List[Union[str, int, float]]
Part = Tuple[Topology, List[Flow], int, Tuple[str, ...], int]


def capacity(ns: float) -> int:
    """What a link takes in so long, bytes."""
    return int(ns * RATE / 8e9)


def long_short(ctx: Context) -> Part:
    """h1 joins h0 with 1 MB and leaves."""
    del ctx
    flows = [
        Flow(0, 2, capacity(1_600_000), 0, group="long"),
        Flow(1, 2, 1_000_000, BEGIN, group="short"),
    ]
    return star(3, DELAY, RATE), flows, 2_000_000, ("s", "h0", "h1"), 2000


def incast(ctx: Context) -> Part:
    """Seven start at once to where h0 is sending."""
    rng = ctx.rng("hpcc incast")
    size = ctx.integer("incast")
    flows = [Flow(0, 8, capacity(1_000_000), 0, group="long")]
    flows += [
        Flow(i, 8, size, BEGIN + rng.randrange(1000), group="incast")
        for i in range(1, 8)
    ]
    flows.sort(key=lambda f: f.start)
    return star(9, DELAY, RATE), flows, 2_000_000, ("s",), 1000


def mice(ctx: Context) -> Part:
    """Messages of 1 KB beside two elephants."""
    rng = ctx.rng("hpcc mice")
    every = round(ctx.number("every") * 1000)
    end = BEGIN + ctx.integer("mice") * every
    flows = [Flow(i, 3, capacity(end) * 11 // 20, i, group="elephant") for i in (0, 1)]
    flows += [
        Flow(2, 3, 1000, start + rng.randrange(every // 2), group="mouse")
        for start in range(BEGIN, end, every)
    ]
    return star(4, DELAY, RATE), flows, end, ("s",), 1000


SHARES = (
    1 + 1 / 2 + 1 / 3 + 1 / 4,
    1 / 2 + 1 / 3 + 1 / 4 + 1 / 3,
    1 / 3 + 1 / 4 + 1 / 3 + 1 / 2,
    1 / 4 + 1 / 3 + 1 / 2 + 1,
)


def fairness(ctx: Context) -> Part:
    """Four flows join one by one, and leave one by one if they get equal shares of
    what carries payload.
    """
    step = round(ctx.number("step") * 1e6)
    flows = [
        Flow(i, 4, int(capacity(step) * 0.95 * share), i * step, group="long")
        for i, share in enumerate(SHARES)
    ]
    hosts = tuple(f"h{i}" for i in range(4))
    return star(5, DELAY, RATE), flows, 7 * step, ("s", *hosts), step // 200


PARTS = {
    "long_short": long_short,
    "incast": incast,
    "mice": mice,
    "fairness": fairness,
}


def measure_long_short(run: Run, show: Any, colour: str) -> Metrics:
    """How soon the long flow has what it had, when the last of the short one has
    come: 90 % of it, over 20 us.
    """
    times, long = rate(run, "h0", over=10)
    end = float(run.last[1]) / 1000
    # A window has whole frames: the median of them may be more than the link's rate.
    alone = float(np.mean(long[(times > 200) & (times < BEGIN / 1000)]))
    again = times[(times > end) & (long >= 0.9 * alone)]
    show.plot(times, long, color=colour, lw=0.9, label=run.job.scheme.label)
    show.set(xlabel="time, µs", ylabel="long flow, Gbit/s")
    _, held = queue(run, 2)
    return {
        "alone_gbps": alone,
        "recovery_us": float(again[0]) - end if len(again) else np.nan,
        "queue_p95_kb": percentile(list(held), 95),
    }


def measure_incast(run: Run, show: Any, colour: str) -> Metrics:
    """The longest queue, and when it is below 20 KB for the first time after it."""
    times, held = queue(run, 8)
    begin = BEGIN / 1000
    end = max(
        float(run.last[i]) / 1000
        for i, f in enumerate(run.job.flows)
        if f.group == "incast"
    )
    top = int(np.argmax(held))
    short = times[top:][held[top:] < 20]
    meanwhile = held[(times > begin + 100) & (times < end)]
    show.plot(times, held, color=colour, lw=0.9, label=run.job.scheme.label)
    show.set(xlabel="time, µs", ylabel="queue, KB")
    return {
        "peak_kb": float(held[top]),
        "drained_us": float(short[0]) - begin if len(short) else np.nan,
        "later_kb": float(meanwhile.mean()) if len(meanwhile) else np.nan,
        "finished_us": end - begin,
    }


def measure_mice(run: Run, show: Any, colour: str) -> Metrics:
    fct = [f.fct / 1000 for f in run.done() if f.group == "mouse"]
    times, held = queue(run, 3)
    held = held[times > BEGIN / 1000]
    show.plot(
        sorted(fct),
        np.arange(1, len(fct) + 1) / len(fct),
        color=colour,
        drawstyle="steps-post",
        label=run.job.scheme.label,
    )
    show.set(xlabel="mouse, µs", ylabel="share of mice")
    return {
        "p50_us": percentile(fct, 50),
        "p99_us": percentile(fct, 99),
        "queue_mean_kb": float(held.mean()),
        "queue_p95_kb": percentile(list(held), 95),
    }


def measure_fairness(run: Run, show: Any, colour: str) -> Metrics:
    """Jain's index of the flows there are, from their rates in the second half of
    the time that they are as many.
    """
    starts = [f.start for f in run.job.flows]
    ends = [int(t) if t >= 0 else run.job.until for t in run.last]
    marks = sorted([*starts, *ends])
    found: Dict[int, List[float]] = {}
    series = [rate(run, f"h{i}") for i in range(4)]
    for a, b in zip(marks, marks[1:]):
        there = [i for i in range(4) if starts[i] <= a and ends[i] >= b]
        if len(there) < 2 or b - a < starts[1] // 4:
            continue
        rates = []
        for i in there:
            times, values = series[i]
            later = (times > (a + b) / 2000) & (times < b / 1000)
            rates.append(float(values[later].mean()))
        found.setdefault(len(there), []).append(jain(rates))
    for i, (times, values) in enumerate(series):
        # Colours tell schemes apart, shades flows.
        label = run.job.scheme.label if i == 0 else None
        show.plot(
            times / 1000, values, color=colour, alpha=1 - 0.2 * i, lw=0.6, label=label
        )
    show.set(xlabel="time, ms", ylabel="rate, Gbit/s")
    times, held = queue(run, 4)
    return {
        **{f"jain_{n}": min(values) for n, values in sorted(found.items())},
        "queue_p95_kb": percentile(list(held[times > 20]), 95),
    }


TITLES = {
    "long_short": "long, short",
    "fairness": "fairness; lighter: later flows",
}
MEASURES = {
    "long_short": measure_long_short,
    "incast": measure_incast,
    "mice": measure_mice,
    "fairness": measure_fairness,
}


def scheme(name: str) -> Scheme:
    """Nothing is paused here, so DCQCN may have switches that cannot pause."""
    return make(name, RATE, T, wai=INCREASE, ramp=name in RAMPED)


def run_fig9(ctx: Context) -> Metrics:
    jobs = []
    names = ctx.texts("parts")
    for part in names:
        if part not in PARTS:
            raise ValueError(f"no part {part}; there are {', '.join(PARTS)}")
        topology, flows, end, sampled, every = PARTS[part](ctx)
        jobs += [
            Job(
                name=f"{part}-{name}",
                topology=topology,
                scheme=scheme(name),
                flows=flows,
                until=2 * end + 50_000_000,
                seed=ctx.seed,
                samples=(every, 0, 2 * end),
                sampled=sampled,
                mem=512,
            )
            for name in ctx.texts("schemes")
        ]
    runs = ctx.simulate(jobs)
    metrics: Metrics = {}
    rows: List[Row] = []
    with ctx.figure("fig9", len(names), 4.0) as axes:
        for run in runs:
            part = run.job.name.split("-", 1)[0]
            name = run.job.scheme.name
            axis = np.atleast_1d(axes)[names.index(part)]
            colour = COLOURS[ctx.texts("schemes").index(name)]
            for what, value in MEASURES[part](run, axis, colour).items():
                metrics[f"{key(name)}_{part}_{what}"] = value
                rows.append([name, part, what, value])
        for axis, part in zip(np.atleast_1d(axes), names):
            axis.set_title(TITLES.get(part, part))
            if part != "mice":
                axis.set_ylim(bottom=0)
            axis.legend(fontsize="small")
    ctx.table("fig9", ["scheme", "part", "what", "value"], rows)
    return with_losses(metrics, runs)


def with_losses(metrics: Metrics, runs: List[Run]) -> Metrics:
    metrics["drops"] = sum(run.drops() for run in runs)
    metrics["pauses"] = sum(run.total("pause_tx") for run in runs)
    metrics["unfinished"] = sum(run.unfinished() for run in runs)
    return metrics


EXPERIMENTS = [
    Experiment(
        "hpcc-fig9",
        "a short flow, an incast, mice and four flows that come and go",
        run_fig9,
        params={
            "schemes": ["hpcc", "dctcp"],
            "parts": list(PARTS),
            "incast": 200_000,
            "mice": 100,
            "every": 20.0,  # us
            "step": 2.0,  # ms
        },
        full={"schemes": ALL, "incast": 500_000, "mice": 1000, "step": 10.0},
        seconds=15,
        full_seconds=400,
    ),
]
