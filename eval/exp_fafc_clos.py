# SPDX-License-Identifier: GPL-2.0
"""FAFC §IV-B and IV-C: the spine-leaf network of 288 hosts, Fig. 6 to 9.

12 switches with 24 hosts each at 25 Gbit/s, and 6 above them at 100 Gbit/s. 30 % of
Facebook's or Google's flows, Poisson, and 2 % of incasts: 60 hosts send 500 kB each
to one. Both shares are of what all hosts can send, as HPCC's simulator counts, which
FAFC's is made from.

Fig. 6 is with TIMELY, Fig. 7 and 9 with HPCC, Fig. 8 with DCTCP, or with what control
says (fafc.CONTROLS).
"""

from typing import Dict, List, Tuple

import numpy as np

from clos_runs import (
    BUFFER_HEADER,
    HEADER,
    MEASURES,
    Row,
    buffer_row,
    draw,
    flows_job,
    held,
    slowdown_rows,
    slowdowns,
)
from experiment import COLOURS, Context, Experiment, Metrics, UsageError, Value
from fafc import CONTROLS, LABELS, NAMES, RATE, by_scheme, key, make, pooled
from schemes import Hpcc, Rated, Scheme
from simulate import Job, Run
from topology import GBIT, Topology, clos
from workload import Distribution, Flow, all_pairs, incasts, open_loop, spread

# 8 us between racks, and frames: 25 packets fill a lone flow's way.
WINDOW = 28_000
T = 9_000  # ns, HPCC's: a packet and its ACK take 8.9 us; the paper does not say
ECN = {250_000: 150_000, 350_000: 200_000}  # th_p: th_e, as in the paper


def network(ctx: Context) -> Topology:
    racks, per_rack, spines = ctx.integers("clos")
    return clos(racks, per_rack, spines, RATE)


def incast_every(ctx: Context) -> int:
    """ns, so that incasts are their share of what all hosts can send."""
    racks, per_rack, _ = ctx.integers("clos")
    capacity = racks * per_rack * RATE / (8 * GBIT) * ctx.number("incast")  # bytes/ns
    return round(ctx.integer("degree") * ctx.integer("burst") / capacity)


def make_flows(ctx: Context, number: int) -> List[Flow]:
    """The same for all schemes."""
    racks, per_rack, spines = ctx.integers("clos")
    hosts = racks * per_rack
    duration = round(ctx.number("ms") * 1e6)
    sizes = ctx.text("sizes")
    rng = ctx.rng("fafc clos", sizes, number)
    flows = open_loop(
        rng,
        Distribution.load(sizes),
        all_pairs(hosts),
        RATE / GBIT * hosts * ctx.number("load"),
        duration,
        sigma=0,
    )
    degree = ctx.integer("degree")
    total = degree * ctx.integer("burst")
    if ctx.number("incast"):
        flows += incasts(rng, hosts, degree, total, incast_every(ctx), duration)
    return spread(rng, flows, spines)


def scheme(ctx: Context, name: str) -> Scheme:
    """name: one of fafc.NAMES, with -THRESHOLD in KB if it has one."""
    control = ctx.text("control")
    if control not in CONTROLS:
        raise UsageError(f"control: {control} is not {' or '.join(CONTROLS)}")
    words = name.rsplit("-", 1)
    threshold = 350_000
    label = ""
    if len(words) == 2 and words[1].isdigit():
        threshold = int(words[1]) * 1000
        label = f"{LABELS.get(words[0], words[0])} {words[1]} KB"
    else:
        words = [name]
    if words[0] not in NAMES:
        raise UsageError(f"schemes: {name} is not one of {', '.join(NAMES)}")
    return make(
        words[0],
        ECN.get(threshold, threshold * 4 // 7),
        threshold,
        threshold,
        ctx.integer("window"),
        ctx.text("bounded") == "yes",
        control,
        called=name,
        label=label,
        hpcc=Hpcc(RATE, T, hops=3) if control == "hpcc" else None,
        rated=Rated(RATE, T) if control == "timely" else None,
    )


def make_job(ctx: Context, name: str, number: int) -> Job:
    return flows_job(
        f"{name}-{number}",
        network(ctx),
        scheme(ctx, name),
        make_flows(ctx, number),
        round(ctx.number("ms") * 1e6),
        ctx.seed * 1000 + number,
    )


def simulate(ctx: Context) -> Dict[str, List[Run]]:
    """Of every scheme, as many runs as there are seeds."""
    jobs = [
        make_job(ctx, name, number)
        for name in ctx.texts("schemes")
        for number in range(ctx.integer("seeds"))
    ]
    return by_scheme(ctx.simulate(jobs))


SHOWN = ("all_mean", "all_p95", "all_p99", "short_mean", "short_p95", "long_mean")


def seed_rows(runs: List[Run]) -> List[Row]:
    """Of every run alone: how far seeds are apart."""
    rows: List[Row] = []
    for number, run in enumerate(runs):
        done = run.done()
        values: List[float] = []
        for name in SHOWN:
            kind, measure = name.split("_")
            values.append(MEASURES[measure](slowdowns(done, kind)))
        rows.append([run.job.scheme.name, number, *values])
    return rows


def prio_row(run: Run) -> Row:
    """Pauses of priorities by all switches; of a port, the most that it held."""
    switches = run.job.topology.switches()
    peaks = [int(r["prio_held_peak"]) for r in run.totals if r["node"] in switches]
    return [
        run.job.scheme.name,
        run.total("prio_pausing", switches),
        run.total("prio_pausing_ns", switches) / 1e6,
        run.total("pfc_bad"),
        run.total("solved", switches),
        run.total("unsolved", switches),
        max(peaks) / 1000,
    ]


def report(ctx: Context, name: str, found: Dict[str, List[Run]]) -> Metrics:
    """Tables, and what all experiments here say in their last line."""
    case = ctx.text("sizes")
    joined = [pooled(runs) for runs in found.values()]
    ctx.table(
        f"{name}-slowdown", HEADER, [r for run in joined for r in slowdown_rows(case, run)]
    )
    ctx.table(
        f"{name}-seeds",
        ["scheme", "seed", *SHOWN],
        [row for runs in found.values() for row in seed_rows(runs)],
    )
    ctx.table(f"{name}-buffer", BUFFER_HEADER, [buffer_row(case, run) for run in joined])
    ctx.table(
        f"{name}-pauses",
        ["scheme", "pauses", "pause_ms", "frames_refused", "solved", "unsolved"]
        + ["held_peak_kb"],
        [prio_row(run) for run in joined],
    )
    metrics: Metrics = {}
    for run in joined:
        done = run.done()
        for what in SHOWN[:2] + SHOWN[3:5]:
            kind, measure = what.split("_")
            prefix = key(run.job.scheme.name)
            metrics[f"{prefix}_{what}"] = MEASURES[measure](slowdowns(done, kind))
        metrics[f"{prefix}_held_max_kb"] = float(held(run).max()) / 1000
    return metrics


def totals(metrics: Metrics, found: Dict[str, List[Run]]) -> Metrics:
    everything = [run for runs in found.values() for run in runs]
    metrics["drops"] = sum(run.drops() for run in everything)
    metrics["unfinished"] = sum(run.unfinished() for run in everything)
    return metrics


def run_fig6(ctx: Context) -> Metrics:
    found = simulate(ctx)
    metrics = report(ctx, "fig6", found)
    draw(ctx, "fig6", [pooled(runs) for runs in found.values()], ("mean", "p95"))
    return totals(metrics, found)


def run_fig7(ctx: Context) -> Metrics:
    found = simulate(ctx)
    metrics = report(ctx, "fig7", found)
    draw(ctx, "fig7", [pooled(runs) for runs in found.values()], ("mean", "p95"))
    return totals(metrics, found)


def run_fig8(ctx: Context) -> Metrics:
    found = simulate(ctx)
    metrics = report(ctx, "fig8", found)
    draw(ctx, "fig8", [pooled(runs) for runs in found.values()], ("mean", "p95"))
    return totals(metrics, found)


# ---- Fig. 9: congested ports ----


def congested(run: Run) -> List[int]:
    """Bytes queued at a port to the receiver of an incast, from its start until
    its last flow has arrived.
    """
    t = run.job.topology
    spans: Dict[int, Tuple[int, int, int]] = {}  # of an incast: receiver and time
    for i, flow in enumerate(run.job.flows):
        if flow.incast < 0:
            continue
        end = int(run.last[i]) if run.last[i] >= 0 else run.job.until
        _, start, last = spans.get(flow.incast, (0, flow.start, 0))
        spans[flow.incast] = (flow.dst, min(start, flow.start), max(last, end))
    found: List[int] = []
    for receiver, start, end in spans.values():
        link = t.links[t.nodes[t.hosts[receiver]].ports[0]]
        sampled = run.samples[t.nodes[link.b].name]
        meanwhile = (sampled.time >= start) & (sampled.time <= end)
        found += [int(b) for b in sampled.backlog[meanwhile, int(link.port_b[1:])]]
    return found


def run_fig9(ctx: Context) -> Metrics:
    found = simulate(ctx)
    metrics = report(ctx, "fig9", found)
    rows: List[Row] = []
    with ctx.figure("fig9") as axis:
        for colour, (name, runs) in zip(COLOURS, found.items()):
            values = [v for run in runs for v in congested(run)]
            shares = np.linspace(0, 100, 401)
            points = np.percentile(values, shares) / 1000
            rows += [
                [name, float(share) / 100, float(point)]
                for share, point in zip(shares, points)
            ]
            axis.plot(
                points, shares / 100, color=colour, label=runs[0].job.scheme.label
            )
            for share in (50, 99):
                point = float(np.percentile(values, share)) / 1000
                metrics[f"{key(name)}_port_p{share}_kb"] = point
            # A port that has nothing to send in an incast is a loss.
            empty = 100 * float(np.mean(np.array(values) == 0))
            metrics[f"{key(name)}_port_empty_pct"] = empty
        axis.set(
            xlabel="bytes queued at an incast's receiver, KB",
            ylabel="CDF of the time",
            ylim=(0, 1),
        )
        axis.grid(alpha=0.3)
        axis.legend(fontsize="small")
    ctx.table("fig9-port", ["scheme", "share_of_time", "backlog_kb"], rows)
    return totals(metrics, found)


SCHEMES = [
    *("pfc-250", "pfc-350", "pfc-wfq-350", "fafc-250", "fafc-350"),
    *("bfc", "bfc-sticky"),
]


def params(sizes: str, ms: float, control: str = "hpcc") -> Dict[str, Value]:
    """A third of the racks, with as many hosts for each link to the core."""
    return {
        "schemes": ["pfc-350", "fafc-350", "bfc"],
        "control": control,
        "sizes": sizes,
        "clos": [4, 8, 2],
        "load": 0.3,
        "incast": 0.02,
        "degree": 24,
        "burst": 100_000,
        "window": WINDOW,
        "bounded": "yes",
        "ms": ms,
        "seeds": 1,
    }


def full(ms: float, seeds: int) -> Dict[str, Value]:
    return {
        "schemes": SCHEMES,
        "clos": [12, 24, 6],
        "degree": 60,
        "burst": 500_000,
        "ms": ms,
        "seeds": seeds,
    }


EXPERIMENTS = [
    Experiment(
        "fafc-fig6",
        "FAFC's Clos with TIMELY, Facebook's flows and incast",
        run_fig6,
        params=params("fb-hadoop", 0.6, "timely"),
        full=full(10.0, 2),
        seconds=5,
        full_seconds=2500,
    ),
    Experiment(
        "fafc-fig7",
        "FAFC's Clos with HPCC, Facebook's flows and incast",
        run_fig7,
        params=params("fb-hadoop", 2.4),
        full=full(10.0, 2),
        seconds=10,
        full_seconds=2500,
    ),
    Experiment(
        "fafc-fig8",
        "FAFC's Clos, Google's flows and incast",
        run_fig8,
        params=params("google", 0.4, "dctcp"),
        full=full(2.0, 3),  # TCP has at most 200 000 connections
        seconds=10,
        full_seconds=2500,
    ),
    Experiment(
        "fafc-fig9",
        "FAFC's Clos with HPCC, what ports to receivers of incasts hold",
        run_fig9,
        params=params("fb-hadoop", 1.2),
        full=full(10.0, 2),
        seconds=7,
        full_seconds=2500,
    ),
]
