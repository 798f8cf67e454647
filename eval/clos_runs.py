# SPDX-License-Identifier: GPL-2.0
"""Flows of a data center on BFC's Clos: what Fig. 9 to 13, 22 to 28 share."""

import random
from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple, Union

import numpy as np

from experiment import COLOURS, Context, Metrics, UsageError, Value
from metrics import BINS, Done, by_size, mean, percentile, share_over
from schemes import ASSIGN, LIMIT, Scheme, make
from simulate import Job, Run
from topology import Topology, clos
from workload import (
    Distribution,
    Flow,
    all_pairs,
    even_share,
    incasts,
    neighbours,
    open_loop,
    spread,
)

CORE_LINKS = 64  # of the paper's Clos: what its incast is scaled to
INCAST_DEGREE, INCAST_BYTES, INCAST_EVERY = 100, 20_000_000, 500_000
SAMPLE_EVERY = 5_000  # ns
DRAIN = 50_000_000  # ns: for flows under way when no more are started
SHORT = 3000  # bytes: the largest of the paper's short flows

# Load and incast, 60 % together.
CASES: Dict[str, Tuple[float, float]] = {
    "noincast": (0.60, 0.0),
    "incast": (0.55, 0.05),
}

Row = List[Union[str, int, float]]
Named = List[Tuple[str, Run]]  # with their case


def data_center(
    rng: random.Random,
    size: Tuple[int, int, int],
    sizes: Distribution,
    load: float,
    duration: int,
    incast: float = 0.0,
    degree: int = INCAST_DEGREE,
    pairs: str = "uniform",
) -> List[Flow]:
    """size: of the Clos. pairs: see docs/evaluation.md, "Load". uniform: load
    is a share of the capacity of the core, all flows together (BFC §6.2.1: "X %
    load on the links in the core"; like its authors we do not take out the
    flows that stay in their rack). even: load is that of every link (App. A.5).
    incast: a share of the core's capacity, from all racks.
    """
    racks, per_rack, spines = size
    hosts, core = racks * per_rack, racks * spines
    if pairs == "uniform":
        draw, links = all_pairs(hosts), core
    elif pairs == "even":
        leaving = even_share(racks, per_rack, spines)
        draw, links = neighbours(racks, per_rack, leaving), hosts
    else:
        raise UsageError(f"pairs: {pairs} is neither uniform nor even")
    flows = open_loop(rng, sizes, draw, 100 * links * load, duration)
    if incast:
        # The paper's 5 % are 20 MB every 500 us for 64 links. A smaller network
        # has smaller incasts, equally often.
        scale = core / CORE_LINKS
        total = round(INCAST_BYTES * scale * incast / 0.05)
        flows += incasts(
            rng, hosts, max(2, round(degree * scale)), total, INCAST_EVERY, duration
        )
    return spread(rng, flows, spines)


def params(sizes: str, ms: float, *without: str) -> Dict[str, Value]:
    """What these experiments can be told, with a small network; without what
    has no effect there.
    """
    everything: Dict[str, Value] = {
        "schemes": ["bfc", "ideal-fq"],
        "sizes": sizes,
        "pairs": "uniform",
        "clos": [4, 8, 4],
        "queues": 32,
        "limit": LIMIT,
        "ms": ms,
        "scale": 1.0,  # of all loads
        "degree": INCAST_DEGREE,  # of the incasts on a network of CORE_LINKS
    }
    return {name: v for name, v in everything.items() if name not in without}


def flows_job(
    name: str,
    t: Topology,
    scheme: Scheme,
    flows: List[Flow],
    duration: int,
    seed: int,
    timeout: int = 3600,
    first: int = 0,
) -> Job:
    """Flows that start for some ns, then time for them to end; all switches are
    looked at meanwhile, from the first ns on. timeout: s of the host.
    """
    return Job(
        name=name,
        topology=t,
        scheme=scheme,
        flows=flows,
        until=duration + DRAIN,
        seed=seed,
        samples=(SAMPLE_EVERY, first, duration),
        mem=1536 if len(t.hosts) <= 32 else 6144,
        timeout=timeout,
    )


def make_job(
    ctx: Context,
    name: str,
    scheme: Scheme,
    load: float,
    incast: float = 0.0,
    number: int = 0,
    degree: int = 0,
    sizes: str = "",
) -> Job:
    """degree: of the incasts, sizes: of flows, if it is not the experiment's parameter."""
    racks, per_rack, spines = ctx.integers("clos")
    duration = round(ctx.number("ms") * 1e6)
    load, incast = load * ctx.number("scale"), incast * ctx.number("scale")
    degree = degree or (ctx.integer("degree") if incast else INCAST_DEGREE)
    # The same flows for all schemes.
    rng = ctx.rng("clos", load, incast, number, degree)
    flows = data_center(
        rng,
        (racks, per_rack, spines),
        Distribution.load(sizes or ctx.text("sizes")),
        load,
        duration,
        incast,
        degree,
        ctx.text("pairs"),
    )
    t = clos(racks, per_rack, spines)
    seed = ctx.seed * 1000 + number
    return flows_job(name, t, scheme, flows, duration, seed)


def schemes(ctx: Context) -> List[Scheme]:
    queues, limit = ctx.integer("queues"), ctx.text("limit")
    return [make(name, queues, limit=limit) for name in ctx.texts("schemes")]


def assigning(ctx: Context) -> str:
    """The qdisc's words for parameter `assign`; none for the default."""
    assign = ctx.text("assign")
    if assign not in ASSIGN:
        raise UsageError(f"assign: {assign} is not one of {', '.join(ASSIGN)}")
    return "" if assign == ASSIGN[0] else f"assign {assign}"


def run_cases(ctx: Context, cases: Sequence[str], some: Sequence[Scheme]) -> Named:
    """Every scheme on the flows of every case."""
    todo = [(case, s) for case in cases for s in some]
    runs = ctx.simulate(
        [make_job(ctx, f"{case}-{s.name}", s, *CASES[case]) for case, s in todo]
    )
    return [(case, run) for (case, _), run in zip(todo, runs)]


def figure(
    name: str,
    cases: Sequence[str],
    measures: Sequence[str] = ("short_p99", "long_mean"),
    shown: Tuple[str, str] = ("mean", "p99"),
) -> Callable[[Context], Metrics]:
    """An experiment that compares schemes."""

    def run(ctx: Context) -> Metrics:
        some = ctx.some_of("cases", cases) if "cases" in ctx.params else cases
        runs = run_cases(ctx, some, schemes(ctx))
        report(ctx, name, runs, shown)
        return metrics(runs, measures)

    return run


# ---- what is reported ----

HEADER = [
    "scheme",
    "case",
    "flows",
    "bin",
    "n",
    "mean",
    "p50",
    "p95",
    "p99",
    "max",
    "over_2_pct",
]


def slowdown_rows(
    case: str, run: Run, some_of: Optional[Sequence[Done]] = None
) -> List[Row]:
    """For the flows of incasts and for all others, by size and together. some_of: of the
    run's flows; None: all that have arrived.
    """
    rows: List[Row] = []
    done = run.done() if some_of is None else some_of
    for what, some in (
        ("normal", [f for f in done if f.incast < 0]),
        ("incast", [f for f in done if f.incast >= 0]),
    ):
        if not some:
            continue
        bins = [
            *by_size(some),
            *by_size([f for f in some if f.size <= SHORT], [("short", SHORT)]),
            *by_size(some, [("all", 1 << 62)]),
        ]
        for name, s in bins:
            rows.append(
                [
                    run.job.scheme.name,
                    case,
                    what,
                    name,
                    int(s["n"]),
                    *(s[k] for k in ("mean", "p50", "p95", "p99", "max")),
                    100 * s["over2"],
                ]
            )
    return rows


# Flows larger than the first size, up to the second: the paper's short and long
# ones, and those that an initial window of 10 packets slows down most.
KINDS = {
    "short": (0, SHORT),
    "middle": (30_000, 300_000),
    "long": (3_000_000, 1 << 62),
    "all": (0, 1 << 62),
}


def slowdowns(done: Sequence[Done], kind: str) -> List[float]:
    """Of the flows that are not incast."""
    above, most = KINDS[kind]
    return [f.slowdown for f in done if f.incast < 0 and above < f.size <= most]


MEASURES: Dict[str, Callable[[List[float]], float]] = {
    "mean": mean,
    "p50": lambda values: percentile(values, 50),
    "p95": lambda values: percentile(values, 95),
    "p99": lambda values: percentile(values, 99),
    "over2": lambda values: 100 * share_over(values, 2),  # %
}


def measured(done: Sequence[Done], measures: Sequence[str]) -> Metrics:
    """KIND_MEASURE of flows; without those of a kind that no flow is of, as may be in a
    short run.
    """
    result: Metrics = {}
    for name in measures:
        kind, measure = name.split("_")
        values = slowdowns(done, kind)
        if values:
            result[name] = MEASURES[measure](values)
    return result


def metrics(runs: Named, measures: Sequence[str]) -> Metrics:
    """What is measured for every scheme, and the most that a switch was seen to hold;
    what was lost in all runs together.
    """
    result: Metrics = {}
    several = len({case for case, _ in runs}) > 1
    for case, run in runs:
        prefix = run.job.scheme.name.replace("-", "_")
        if several:
            prefix += "_" + case.replace("-", "_")
        for name, value in measured(run.done(), measures).items():
            result[f"{prefix}_{name}"] = value
        result[f"{prefix}_held_max_kb"] = float(held(run).max()) / 1000
    result["drops"] = sum(run.drops() for _, run in runs)
    result["unfinished"] = sum(run.unfinished() for _, run in runs)
    return result


BUFFER_HEADER = [
    "scheme",
    "case",
    "buffer_p50_kb",
    "buffer_p99_kb",
    "buffer_p99.9_kb",
    "buffer_max_kb",
    "active_p50",
    "active_p99",
    "active_max",
    "collisions",
    "assigned",
    "pauses",
    "paused_ms",
    "drops",
    "marked",
    "resent",
    "reordered",
    "unfinished",
]


def held(run: Run, nodes: Optional[Sequence[str]] = None) -> Any:
    """Bytes in a switch, all its ports together: those of all switches, or of some, always."""
    some = run.samples.values() if nodes is None else [run.samples[n] for n in nodes]
    return np.concatenate([s.backlog.sum(axis=1) for s in some])


def buffer_row(case: str, run: Run) -> Row:
    """Bytes held per switch, non-empty queues per port (bfc), totals."""
    backlog = held(run)
    active = np.concatenate([s.occupied.ravel() for s in run.samples.values()])
    switches = run.job.topology.switches()
    return [
        run.job.scheme.name,
        case,
        *(float(np.percentile(backlog, p)) / 1000 for p in (50, 99, 99.9, 100)),
        *(float(np.percentile(active, p)) for p in (50, 99, 100)),
        run.total("collisions", switches),
        run.total("assigned", switches),
        run.total("pauses"),
        run.total("paused_ns") / 1e6,
        run.drops(),
        run.total("marked"),
        int(run.resent.sum()),
        int(run.reordered.sum()),
        run.unfinished(),
    ]


LINK_HEADER = [
    "scheme",
    "case",
    "node",
    "port",
    "utilisation_pct",
    "paused_queue_ms",
    "pauses",
    "backlog_peak_kb",
    "queue_peak_kb",
    "collisions",
    "drops",
]


def link_rows(case: str, run: Run) -> List[Row]:
    """Every direction of every link; paused_queue_ms adds up its queues."""
    t = run.job.topology
    rates = {
        (t.nodes[node].name, port): link.rate
        for link in t.links
        for node, port in ((link.a, link.port_a), (link.b, link.port_b))
    }
    duration = run.lasted()
    return [
        [
            run.job.scheme.name,
            case,
            row["node"],
            row["port"],
            800e9 * int(row["bytes"]) / duration / rates[(row["node"], row["port"])],
            int(row["paused_ns"]) / 1e6,
            int(row["pauses"]),
            int(row["backlog_peak"]) / 1000,
            int(row["queue_peak"]) / 1000,
            int(row["collisions"]),
            int(row["drops"]),
        ]
        for row in run.totals
    ]


def report(
    ctx: Context, name: str, runs: Named, shown: Tuple[str, str] = ("mean", "p99")
) -> None:
    """Tables and figures of runs that are named by their case."""
    ctx.table(
        f"{name}-slowdown",
        HEADER,
        [row for case, run in runs for row in slowdown_rows(case, run)],
    )
    ctx.table(
        f"{name}-buffer", BUFFER_HEADER, [buffer_row(case, run) for case, run in runs]
    )
    ctx.table(
        f"{name}-links",
        LINK_HEADER,
        [row for case, run in runs for row in link_rows(case, run)],
    )
    cases = list(dict.fromkeys(case for case, _ in runs))
    for case in cases:
        draw(ctx, f"{name}-{case}", [run for c, run in runs if c == case], shown)


def plain_log(axis: Any) -> None:
    """A logarithmic scale with numbers that can be read."""
    axis.set_yscale("log")
    low, high = axis.get_ylim()
    steps: Tuple[float, ...] = (1, 1.2, 1.5, 2, 3, 5, 7, 10, 20, 30, 50, 100, 200)
    if high > 25 * low:  # no room for so many
        steps = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)
    ticks = [tick for tick in steps if low <= tick <= high]
    axis.set_yticks(ticks, [f"{tick:g}" for tick in ticks])
    axis.minorticks_off()


VALUES = {
    "mean": "mean",
    "p50": "median",
    "p95": "95th percentile",
    "p99": "99th percentile",
}


def draw_sizes(
    axis: Any, curves: Sequence[Tuple[str, Sequence[Done]]], value: str
) -> None:
    """A curve for each of some labels and flows. value: of VALUES."""
    sizes: Dict[str, int] = {label: i for i, (label, _) in enumerate(BINS)}
    for colour, (label, done) in zip(COLOURS, curves):
        bins = by_size(done)
        axis.plot(
            [sizes[b] for b, _ in bins],
            [s[value] for _, s in bins],
            color=colour,
            marker=".",
            label=label,
        )
    plain_log(axis)
    axis.set_xticks(range(len(BINS)), [b for b, _ in BINS], rotation=45)
    axis.set(ylabel=f"FCT slowdown, {VALUES[value]}")
    axis.grid(alpha=0.3)


def draw(
    ctx: Context, name: str, runs: Sequence[Run], shown: Tuple[str, str]
) -> None:
    normal = [
        (run.job.scheme.label, [f for f in run.done() if f.incast < 0]) for run in runs
    ]
    with ctx.figure(name, 3, 4.6) as axes:
        for axis, value in zip(axes, shown):
            draw_sizes(axis, normal, value)
        shares = np.linspace(0, 100, 401)
        for colour, run in zip(COLOURS, runs):
            axes[2].plot(
                np.percentile(held(run), shares) / 1e6,
                shares / 100,
                color=colour,
                label=run.job.scheme.label,
            )
        axes[2].set(xlabel="bytes in a switch, MB", ylabel="share of the time")
        # A CDF leaves room there; slowdowns may be anywhere.
        axes[2].legend(fontsize="small", loc="lower right")
