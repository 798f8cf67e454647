# SPDX-License-Identifier: GPL-2.0
"""BFC Fig. 7: two flows, one link: queues and utilisation against Th.

Two equal flows fall into step with each other, and then small things decide how
often both queues run dry at once. So there is a little traffic in the other
direction: a pause frame has to wait for the packet that is being sent there (up
to 80 ns), as it would in any real network. Every point is a band over seeds.
"""

from typing import Dict, List, Tuple, Union

import numpy as np

from experiment import COLOURS, Context, Experiment, Metrics
from metrics import band, mean
from schemes import PAPER, Scheme, bfc
from simulate import Job, Run
from topology import fig6
from workload import Distribution, Flow, one_of, open_loop

RULES = {
    "early": "",  # the module's default
    "drained": PAPER,
}
RATE = 12.5  # bytes per ns at 100 Gbit/s
Key = Tuple[str, str, float, float]  # rule, delays, HRTT, Th


def scheme(rule: str, hrtt: float, th: float) -> Scheme:
    """Th in us: what two active queues divide between them. The sticky time
    stays at twice the real loop, which serialization makes a bit longer.
    """
    sticky = round(2 * (hrtt + 0.1) * 1000)
    return bfc(
        32, 0, f"{round(th * 1000)}ns", f"sticky {sticky}ns {RULES[rule]}".strip()
    )


def make_job(ctx: Context, key: Key, number: int, duration: int) -> Job:
    rule, delays, hrtt, th = key
    delay = round(hrtt * 1000 / 2)
    t = fig6((0, 1, 1), delay, delay if delays == "equal" else delay // 2)
    b, c, r2 = t.number("b0"), t.number("c0"), t.number("r2")
    rng = ctx.rng("fig7", number)
    size = round(duration * RATE * 1.2)
    flows = [Flow(s, r2, size, rng.randrange(1000), group="long") for s in (b, c)]
    small = Distribution([(64, 0), (1000, 1)])
    for host in (b, c):
        flows += open_loop(
            rng,
            small,
            one_of([(r2, host)]),
            100 * ctx.number("jitter"),
            duration,
            sigma=0,
        )
    flows.sort(key=lambda f: f.start)
    return Job(
        name=f"{rule}-{delays}-{hrtt:g}us-{th:g}us-{number}",
        topology=t,
        scheme=scheme(rule, hrtt, th),
        flows=flows,
        until=duration,
        seed=ctx.seed * 1000 + number,
        window=(duration // 4, duration),
        # Not in step with anything.
        samples=(211, duration // 4, duration),
        sampled=("sw2",),
        mem=512,
    )


def queue_column(run: Run) -> int:
    """sw2's port to r2 among its ports."""
    t = run.job.topology
    return int(t.port("sw2", "r2")[1:])


def measure(run: Run) -> Tuple[float, float, float]:
    """Utilisation in %, queue of a flow in KB: average and peak."""
    assert run.job.window
    begin, end = run.job.window
    sent = sum(
        int(run.measured[i]) for i, f in enumerate(run.job.flows) if f.group == "long"
    )
    backlog = run.samples["sw2"].backlog[:, queue_column(run)]
    port = run.port("sw2", run.job.topology.port("sw2", "r2"))
    return (
        100 * sent / ((end - begin) * RATE),
        float(np.mean(backlog)) / 2 / 1000,
        int(port["queue_peak"]) / 1000,
    )


def run(ctx: Context) -> Metrics:
    duration = round(ctx.number("ms") * 1e6)
    keys: List[Key] = [
        (rule, delays, hrtt, th)
        for rule in ctx.texts("rules")
        for delays in ctx.texts("delays")
        for hrtt in ctx.numbers("hrtt")
        for th in ctx.numbers("th")
    ]
    seeds = range(ctx.integer("seeds"))
    jobs = [make_job(ctx, key, n, duration) for key in keys for n in seeds]
    runs = ctx.simulate(jobs)
    found: Dict[Key, List[Tuple[float, float, float]]] = {}
    for i, one in enumerate(runs):
        found.setdefault(keys[i // len(seeds)], []).append(measure(one))

    rows: List[List[Union[str, float]]] = []
    for key, values in found.items():
        bands = [band([v[i] for v in values]) for i in range(3)]
        rows.append([*key, len(values), *(x for b in bands if b for x in b)])
    names = ("util_pct", "avg_queue_kb", "peak_queue_kb")
    ctx.table(
        "fig7",
        ["rule", "delays", "hrtt_us", "th_us", "seeds"]
        + [f"{n}_{e}" for n in names for e in ("min", "mean", "max")],
        rows,
    )
    with ctx.figure("fig7", 2) as axes:
        for colour, (rule, delays) in zip(
            COLOURS, [(r, d) for r in ctx.texts("rules") for d in ctx.texts("delays")]
        ):
            hrtt = max(ctx.numbers("hrtt"))
            th = ctx.numbers("th")
            for axis, what in zip(axes, (0, 1)):
                points = [
                    [v[what] for v in found[(rule, delays, hrtt, x)]] for x in th
                ]
                axis.plot(
                    th,
                    [mean(v) for v in points],
                    color=colour,
                    label=f"resume {rule}, {delays} delays",
                )
                axis.fill_between(
                    th,
                    [min(v) for v in points],
                    [max(v) for v in points],
                    color=colour,
                    alpha=0.2,
                    linewidth=0,
                )
        axes[0].set(xlabel="Th, µs", ylabel="utilisation, %")
        axes[1].set(xlabel="Th, µs", ylabel="average queue of a flow, KB")
        axes[0].legend(fontsize="small")

    # HRTT 2 us, Th 2 us, equal delays: the paper's working point.
    metrics: Metrics = {}
    for rule, prefix in (("early", ""), ("drained", "paper_")):
        point = found.get((rule, "equal", 2.0, 2.0))
        if not point:
            continue
        metrics[f"{prefix}util_pct_at_2us"] = mean([v[0] for v in point])
        metrics[f"{prefix}avg_queue_kb_at_2us"] = mean([v[1] for v in point])
        metrics[f"{prefix}peak_queue_kb_at_2us"] = max(v[2] for v in point)
    metrics["drops"] = sum(one.drops() for one in runs)
    return metrics


EXPERIMENTS = [
    Experiment(
        "bfc-fig7",
        "two flows on one link: queues and utilisation against Th",
        run,
        params={
            "rules": ["early", "drained"],
            "delays": ["equal"],
            "hrtt": [2.0],
            "th": [1.0, 2.0, 4.0],
            "seeds": 1,
            "ms": 1.0,
            "jitter": 0.05,
        },
        full={
            "delays": ["equal", "unequal"],
            "hrtt": [0.5, 1.0, 2.0],
            "th": [0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 3.5, 4.0],
            "seeds": 3,
        },
        seconds=7,
        full_seconds=600,
    )
]
