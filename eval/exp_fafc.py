# SPDX-License-Identifier: GPL-2.0
"""FAFC §IV-A and IV-B: two switches, a link between them, and an incast.

HA1 and HA2 send long flows to HC1 and HC2 over the link between the switches; all
other hosts send a burst to HC2 at once. The way from HA1 to HC1 is not congested:
it is the victim if the link is paused.

The paper does not say how large a burst is. With 1.5 MB long flows over infinite
buffers take 1.9 times as long as alone, and 1.86 times in its Table III: without an
incast that would be 2, for they share a link, and during an incast HA2 leaves most
of it to HA1; the larger the burst, the smaller the factor.

Table III contradicts itself: "All" should be the mean of 19 incast and 2 long flows.
That it is for the infinite buffer (16.088512). PFC's (17.142368) it is of what is
printed as FAFC's incast and long flows (18.750172, 1.868229), to the last digit; of
what is printed as PFC's it would be 17.0948, and FAFC's (16.104492) fits neither: it
wants incast flows at 17.603. So "All" is what may be compared: FAFC is 6 % below PFC.
"""

from typing import Callable, Dict, List, Sequence, Tuple, Union

import numpy as np

from experiment import COLOURS, Context, Experiment, Metrics, Value
from fafc import LABELS, RATE, bandwidth_delay, by_scheme, key, make
from metrics import mean, percentile
from simulate import Job, Run
from topology import fafc_dumbbell
from workload import Flow

TO_SW1 = "e11"  # P12 of SW2
RECEIVERS = ("e4", "e5")  # P5 and P6
WINDOW = bandwidth_delay(RATE, 3)
Row = List[Union[str, int, float]]
Step = Tuple[int, int, int]  # every, from, to; ns


# ---- Table III, Fig. 3 and 4: a burst ----


def burst_flows(ctx: Context, number: int) -> List[Flow]:
    t = fafc_dumbbell()
    rng = ctx.rng("fafc burst", number)
    flows = [
        Flow(
            t.number(f"ha{i}"),
            t.number(f"hc{i}"),
            ctx.integer("long"),
            rng.randrange(1000),
            group="long",
        )
        for i in (1, 2)
    ]
    start = round(ctx.number("start") * 1000)
    senders = [f"ha{i}" for i in (3, 4, 5)] + [f"hb{i + 1}" for i in range(16)]
    flows += [
        Flow(
            t.number(name),
            t.number("hc2"),
            ctx.integer("burst"),
            start + rng.randrange(1000),
            incast=0,
            group="incast",
        )
        for name in senders
    ]
    return sorted(flows, key=lambda f: f.start)


def burst_runs(ctx: Context, until: int, samples: bool = False) -> Dict[str, List[Run]]:
    """Of every scheme, as many as there are seeds."""
    step: Step = (round(ctx.number("every") * 1000), 0, until) if samples else (0, 0, 0)
    jobs = [
        Job(
            name=f"{name}-{number}",
            topology=fafc_dumbbell(),
            scheme=make(
                name,
                ctx.integer("ecn"),
                ctx.integer("threshold"),
                ctx.integer("xoff"),
                ctx.integer("window"),
                ctx.text("bounded") == "yes",
            ),
            flows=burst_flows(ctx, number),
            until=until,
            seed=ctx.seed * 1000 + number,
            samples=step if samples else None,
            mem=512,
        )
        for name in ctx.texts("schemes")
        for number in range(ctx.integer("seeds"))
    ]
    return by_scheme(ctx.simulate(jobs))


KINDS = ("all", "incast", "long")


def burst_slowdowns(run: Run, kind: str) -> List[float]:
    return [f.slowdown for f in run.done() if kind in ("all", f.group)]


def run_table3(ctx: Context) -> Metrics:
    found = burst_runs(ctx, 500_000_000)
    metrics: Metrics = {}
    rows: List[Row] = []
    for name, runs in found.items():
        for kind in KINDS:
            means = [mean(burst_slowdowns(run, kind)) for run in runs]
            tail = [s for run in runs for s in burst_slowdowns(run, kind)]
            rows.append(
                [
                    name,
                    kind,
                    len(runs),
                    mean(means),
                    min(means),
                    max(means),
                    percentile(tail, 95),
                    percentile(tail, 99),
                    max(tail),
                ]
            )
            short = {"all": "all", "incast": "incast", "long": "large"}[kind]
            metrics[f"{key(name)}_{short}"] = mean(means)
    ctx.table(
        "table3",
        ["scheme", "flows", "seeds", "mean", "mean_min", "mean_max"]
        + ["p95", "p99", "max"],
        rows,
    )
    write_pauses(ctx, "table3-pauses", found)
    everything = [run for runs in found.values() for run in runs]
    metrics["drops"] = sum(run.drops() for run in everything)
    metrics["unfinished"] = sum(run.unfinished() for run in everything)
    return metrics


# ---- Fig. 3: who is paused, and for how long ----


def paused_us(run: Run, port: str) -> float:
    """How long the neighbour at a port of SW2 has been silent for it. PFC and FAFC:
    its one priority. BFC: all its queues together.
    """
    far = neighbour(run, port)
    row = run.port(far, run.job.topology.port(far, "sw2"))
    return int(row["paused_ns" if run.job.scheme.tagged else "prio_paused_ns"]) / 1000


def neighbour(run: Run, port: str) -> str:
    """All links of SW2 begin at the neighbour."""
    t = run.job.topology
    number = next(n for n in t.nodes if n.name == "sw2").ports[int(port[1:])]
    return t.nodes[t.links[number].a].name


def sw2_ports(run: Run) -> List[str]:
    rows = [row["port"] for row in run.totals if row["node"] == "sw2"]
    return sorted(rows, key=lambda port: int(port[1:]))


def write_pauses(ctx: Context, name: str, found: Dict[str, List[Run]]) -> None:
    rows: List[Row] = []
    for scheme, runs in found.items():
        for port in sw2_ports(runs[0]):
            far = neighbour(runs[0], port)
            values = [paused_us(run, port) for run in runs]
            rows.append(
                [
                    scheme,
                    f"P{int(port[1:]) + 1}",
                    far,
                    mean(values),
                    min(values),
                    max(values),
                    mean([int(r.port("sw2", port)["pause_tx"]) for r in runs]),
                    max(int(r.port("sw2", port)["prio_held_peak"]) for r in runs)
                    / 1000,
                ]
            )
    ctx.table(
        name,
        ["scheme", "port", "neighbour", "pause_us", "pause_min_us", "pause_max_us"]
        + ["pauses", "held_peak_kb"],
        rows,
    )


def run_fig3(ctx: Context) -> Metrics:
    found = burst_runs(ctx, round(ctx.number("ms") * 1e6))
    write_pauses(ctx, "fig3", found)
    metrics: Metrics = {}
    pauses = {
        name: {p: mean([paused_us(run, p) for run in runs]) for p in sw2_ports(runs[0])}
        for name, runs in found.items()
    }
    # One scale for all: they differ by a factor of a thousand.
    longest = max(max(values.values()) for values in pauses.values())
    with ctx.figure("fig3", len(found), 4.0) as axes:
        for axis, (name, values) in zip(np.atleast_1d(axes), pauses.items()):
            ports = list(values)
            queues = ", its queues together" if name.startswith("bfc") else ""
            axis.bar(
                [int(p[1:]) + 1 for p in ports],
                [values[p] for p in ports],
                color=[COLOURS[p == TO_SW1] for p in ports],
            )
            axis.set(
                title=LABELS.get(name, name) + queues,
                xlabel="port of SW2 (12: to SW1)",
                ylabel="pause time, µs",
                yscale="log",
                ylim=(1, 3 * max(longest, 1)),
                xticks=[1, 5, 6, 12, 19],
            )
            axis.yaxis.set_major_formatter("{x:g}")
            others = [values[p] for p in ports if p not in (TO_SW1, *RECEIVERS)]
            prefix = key(name)
            metrics[f"{prefix}_link_us"] = values[TO_SW1]
            metrics[f"{prefix}_others_min_us"] = min(others)
            metrics[f"{prefix}_others_max_us"] = max(others)
            metrics[f"{prefix}_receivers_us"] = max(values[p] for p in RECEIVERS)
    metrics["drops"] = sum(run.drops() for runs in found.values() for run in runs)
    return metrics


# ---- Fig. 4: what the switches hold ----


def run_fig4(ctx: Context) -> Metrics:
    until = round(ctx.number("ms") * 1e6)
    found = burst_runs(ctx, until, samples=True)
    start = ctx.number("start")
    rows: List[Row] = []
    metrics: Metrics = {}
    with ctx.figure("fig4", 2) as axes:
        for colour, (name, runs) in zip(COLOURS, found.items()):
            run = runs[0]
            for axis, node in zip(axes, ("sw1", "sw2")):
                sampled = run.samples[node]
                times = sampled.time / 1000 - start  # us
                held = sampled.backlog.sum(axis=1) / 1000
                axis.plot(
                    times, held, color=colour, label=LABELS.get(name, name), lw=0.9
                )
                rows += [
                    [name, node, float(a), float(b)] for a, b in zip(times, held)
                ]
                meanwhile = held[times >= 0]
                prefix = f"{key(name)}_{node}"
                metrics[f"{prefix}_peak_kb"] = float(meanwhile.max())
                metrics[f"{prefix}_mean_kb"] = float(meanwhile.mean())
        for axis, node in zip(axes, ("SW1", "SW2")):
            axis.set(
                xlabel="time since the burst, µs",
                ylabel=f"bytes in {node}, KB",
                ylim=0,
            )
            axis.grid(alpha=0.3)
        axes[0].legend(fontsize="small")
    ctx.table("fig4", ["scheme", "switch", "time_us", "held_kb"], rows)
    metrics["drops"] = sum(run.drops() for runs in found.values() for run in runs)
    return metrics


# ---- Table IV: a victim's latency ----


def victim_flows(ctx: Context, number: int) -> List[Flow]:
    """HA1 writes to HC1, one message after the other; 4 + 20 hosts write to HC2
    all the time (burst 0, as ib_write_bw does) or have bursts, again and again.
    """
    t = fafc_dumbbell(5, 20)
    rng = ctx.rng("fafc victim", number)
    every = round(ctx.number("message_every") * 1000)
    end = ctx.integer("messages") * every
    flows = [
        Flow(
            t.number("ha1"),
            t.number("hc1"),
            ctx.integer("message"),
            # Not in step with anything, and not before the last has arrived.
            start + rng.randrange(every // 4),
            group="victim",
        )
        for start in range(0, end, every)
    ]
    senders = [f"ha{i}" for i in range(2, 6)] + [f"hb{i}" for i in range(1, 21)]
    size = ctx.integer("burst")
    again = round(ctx.number("burst_every") * 1000)
    if not size:
        size, again = end * RATE // (8 * 10**9), end
    for burst, start in enumerate(range(0, end, again)):
        flows += [
            Flow(
                t.number(name),
                t.number("hc2"),
                size,
                start + rng.randrange(1000),
                incast=burst,
                group="incast",
            )
            for name in senders
        ]
    return sorted(flows, key=lambda f: f.start)


def victim_us(run: Run) -> List[float]:
    """From the first byte being sent to the last having come."""
    return [
        float(run.last[i] - run.start[i]) / 1000
        for i, flow in enumerate(run.job.flows)
        if flow.group == "victim" and run.last[i] >= 0
    ]


MEASURES: Tuple[Tuple[str, Callable[[Sequence[float]], float]], ...] = (
    ("mean", mean),
    ("p99", lambda values: percentile(values, 99)),
    ("p999", lambda values: percentile(values, 99.9)),
)


def run_table4(ctx: Context) -> Metrics:
    """The testbed's NICs had DCQCN, which starts at line rate and has no window:
    the first 30 us or so of a burst are under way before it hears of congestion.
    window stands for that.
    """
    until = round((ctx.integer("messages") + 50) * ctx.number("message_every") * 1000)
    jobs = [
        Job(
            name=f"{name}-{number}",
            topology=fafc_dumbbell(5, 20),
            scheme=make(
                name,
                ctx.integer("ecn"),
                ctx.integer("threshold"),
                ctx.integer("xoff"),
                ctx.integer("window"),
                ctx.text("bounded") == "yes",
            ),
            flows=victim_flows(ctx, number),
            until=until,
            seed=ctx.seed * 1000 + number,
            mem=512,
        )
        for name in ctx.texts("schemes")
        for number in range(ctx.integer("seeds"))
    ]
    found = by_scheme(ctx.simulate(jobs))
    metrics: Metrics = {}
    rows: List[Row] = []
    with ctx.figure("table4") as axis:
        for colour, (name, runs) in zip(COLOURS, found.items()):
            each = [victim_us(run) for run in runs]
            values = sorted(v for some in each for v in some)
            row: Row = [name, len(runs), len(values)]
            for what, measure in MEASURES:
                metrics[f"{key(name)}_{what}_us"] = measure(values)
                of_seeds = [measure(some) for some in each]
                row += [measure(values), min(of_seeds), max(of_seeds)]
            rows.append([*row, values[-1]])
            axis.plot(
                values,
                1 - np.arange(len(values)) / len(values),
                color=colour,
                label=LABELS.get(name, name),
                drawstyle="steps-post",
            )
        axis.set(
            xlabel="latency of a message of 64 kB, µs",
            ylabel="share of messages that take longer",
            yscale="log",
        )
        axis.grid(alpha=0.3)
        axis.legend(fontsize="small")
    ctx.table(
        "table4",
        ["scheme", "seeds", "messages"]
        + [f"{what}_us{e}" for what, _ in MEASURES for e in ("", "_min", "_max")]
        + ["max_us"],
        rows,
    )
    write_pauses(ctx, "table4-pauses", found)
    everything = [run for runs in found.values() for run in runs]
    metrics["drops"] = sum(run.drops() for run in everything)
    metrics["unfinished"] = len(everything) * ctx.integer("messages") - sum(
        len(victim_us(run)) for run in everything
    )
    return metrics


SCHEMES = ["inf", "pfc", "pfc-wfq", "fafc", "bfc"]
# Half the paper's sizes in half the time: the same slowdowns.
BURST: Dict[str, Value] = {
    "schemes": SCHEMES,
    "seeds": 1,
    "long": 30_000_000,
    "burst": 750_000,
    "start": 500.0,  # us
    "ecn": 200_000,
    "threshold": 350_000,
    "xoff": 50_000,
    "window": WINDOW,
    "bounded": "yes",
}

FULL: Dict[str, Value] = {"long": 60_000_000, "burst": 1_500_000}

EXPERIMENTS = [
    Experiment(
        "fafc-table3",
        "slowdown of a burst from 19 hosts and of two long flows",
        run_table3,
        params=BURST,
        full={**FULL, "schemes": ["inf", "inf-wfq", *SCHEMES[1:]], "seeds": 10},
        seconds=11,
        full_seconds=200,
    ),
    Experiment(
        "fafc-fig3",
        "how long the ports of a switch are paused in a burst",
        run_fig3,
        params={**BURST, "schemes": ["pfc", "fafc"], "ms": 6.0},
        full={**FULL, "schemes": SCHEMES[1:], "seeds": 10, "ms": 12.0},
        seconds=5,
        full_seconds=90,
    ),
    Experiment(
        "fafc-fig4",
        "what two switches hold in a burst",
        run_fig4,
        params={
            **BURST,
            "schemes": ["inf", "pfc", "fafc"],
            "ms": 6.0,
            "every": 5.0,  # us
        },
        full={**FULL, "schemes": SCHEMES, "ms": 12.0, "every": 1.0},
        seconds=6,
        full_seconds=50,
    ),
    Experiment(
        "fafc-table4",
        "latency of a flow that an incast of 24 hosts should not disturb",
        run_table4,
        params={
            "schemes": ["pfc", "fafc", "bfc"],
            "seeds": 1,
            "messages": 100,
            "message": 64_000,
            "message_every": 100.0,  # us
            "burst": 0,
            "burst_every": 5000.0,  # us, if there is a burst
            "ecn": 200_000,
            "threshold": 1_000_000,
            "xoff": 1_000_000,
            "window": 100_000,
            "bounded": "yes",
        },
        full={
            "schemes": SCHEMES,
            "messages": 1000,
            "seeds": 5,
        },
        seconds=6,
        full_seconds=240,
    ),
]
