# SPDX-License-Identifier: GPL-2.0
"""HPCC §5.2 and §5.3: the flows of data centers, Fig. 10 to 12.

Fig. 10 is on the testbed: 64 ports of 25 Gbit/s in four racks, each with four links of
100 Gbit/s to the same switch. Fig. 11 and 12 are on a fat tree of three tiers in the
paper: 320 hosts at 100 Gbit/s, links of 400 Gbit/s between switches, nothing
oversubscribed, 12 us for a packet and its ACK. Paths of five switches do not fit into
TCP's options (linux/bfc_int.h); so the upper two tiers are one, whose links are twice
as long.

Loads are of what all hosts can send; arrivals are Poisson, between any two hosts.
"""

from dataclasses import dataclass
from typing import Callable, Dict, List, Sequence, Tuple

import numpy as np
from matplotlib.lines import Line2D

from clos_runs import VALUES, Row, held, plain_log
from experiment import COLOURS, Context, Experiment, Metrics, UsageError
from fafc import key
from hpcc import ALL, BUFFER, CHOICES, make
from metrics import PACKET, by_size, percentile
from schemes import Scheme
from simulate import Job, Run
from topology import GBIT, Topology, clos, pod
from workload import Distribution, Flow, all_pairs, incasts, open_loop, spread

Bins = List[Tuple[str, int]]
Named = List[Tuple[str, Run]]  # with their case

# Share of the hosts' capacity: flows, and incasts.
CASES: Dict[str, Tuple[float, float]] = {
    "load30": (0.3, 0.0),
    "load50": (0.5, 0.0),
    "incast": (0.3, 0.02),
}
INCREASE = 80  # bytes, W_AI
DRAIN = 200_000_000  # ns: for flows under way when no more are started
SHORT, SMALL = 3_000, 120_000  # bytes: "flows shorter than" in the text


@dataclass(frozen=True)
class Network:
    topology: Topology
    per_rack: int
    rate: int  # of hosts, Gbit/s
    rtt: int  # T, ns

    @property
    def capacity(self) -> float:
        """What all hosts can send, bytes/ns."""
        return len(self.topology.hosts) * self.rate / 8

    def apart(self, src: int, dst: int) -> bool:
        """Whether two hosts are in different racks."""
        return src // self.per_rack != dst // self.per_rack


def testbed(ctx: Context) -> Network:
    """A packet and its ACK take 5.4 us in a rack and 8.5 us between racks."""
    racks, per_rack, uplinks = ctx.integers("pod")
    t = pod(racks, per_rack, uplinks, 25 * GBIT, 100 * GBIT, 1160, 745)
    return Network(t, per_rack, 25, 9_000)


def fabric(ctx: Context) -> Network:
    """A packet and its ACK take 12 us between racks."""
    racks, per_rack, spines = ctx.integers("clos")
    t = clos(racks, per_rack, spines, 100 * GBIT, 400 * GBIT, 2000)
    return Network(t, per_rack, 100, 13_000)


def deciles(sizes: Distribution) -> Bins:
    """Bins with a tenth of all flows each; fewer where many have the same size."""
    bins: Bins = []
    for i in range(1, 11):
        largest = round(sizes.quantile(i / 10))
        if not bins or largest > bins[-1][1]:
            bins.append((size_text(largest), largest))
    return bins


def size_text(size: int) -> str:
    for unit, text in ((10**6, "M"), (10**3, "K")):
        if size >= unit:
            return f"{size / unit:.3g}{text}"
    return str(size)


def make_flows(ctx: Context, network: Network, case: str) -> List[Flow]:
    """The same for all schemes."""
    load, incast = CASES[case]
    hosts = len(network.topology.hosts)
    duration = round(ctx.number("ms") * 1e6)
    rng = ctx.rng(ctx.experiment.name, case)
    flows = open_loop(
        rng,
        Distribution.load(ctx.text("sizes")),
        all_pairs(hosts),
        network.capacity * 8 * load,
        duration,
        sigma=0,
    )
    if incast:
        degree = ctx.integer("degree")
        total = degree * ctx.integer("burst")
        every = round(total / (network.capacity * incast))
        flows += incasts(rng, hosts, degree, total, every, duration)
    return spread(rng, flows, network.topology.planes)


def run_cases(
    ctx: Context, network: Network, schemes: Sequence[Scheme]
) -> Named:
    """Every scheme on the flows of every case."""
    duration = round(ctx.number("ms") * 1e6)
    todo = [(case, s) for case in ctx.some_of("cases", CASES) for s in schemes]
    runs = ctx.simulate(
        [
            Job(
                name=f"{case}-{s.name}",
                topology=network.topology,
                scheme=s,
                flows=make_flows(ctx, network, case),
                until=duration + DRAIN,
                seed=ctx.seed,
                samples=(round(ctx.number("every") * 1000), 0, duration),
                mem=1536 if len(network.topology.hosts) <= 32 else 6144,
                timeout=7200,
            )
            for case, s in todo
        ]
    )
    return [(case, run) for (case, _), run in zip(todo, runs)]


# ---- what is measured ----


def slowdowns(run: Run, least: int, most: int) -> List[float]:
    """Of flows larger than the first, up to the second size, without incasts."""
    return [f.slowdown for f in run.done() if f.incast < 0 and least < f.size <= most]


def latencies(run: Run, network: Network) -> List[float]:
    """Network latency, us: what flows of a single packet between racks take, and an
    ACK that nothing holds up.
    """
    return [
        f.fct / 1000
        for f in run.done()
        if f.incast < 0 and f.size <= PACKET and network.apart(f.src, f.dst)
    ]


def queues(run: Run) -> List[float]:
    """What each port of the switches held, at all times, KB."""
    found = np.concatenate([s.backlog.ravel() for s in run.samples.values()])
    return [float(v) / 1000 for v in found]


def pausing(run: Run) -> float:
    """The share of the time that ports of switches keep their neighbour paused, %."""
    nodes = run.job.topology.switches()
    ports = sum(1 for row in run.totals if row["node"] in nodes)
    return 100 * run.total("prio_pausing_ns", nodes) / (ports * run.lasted())


def lost(runs: Named, metrics: Metrics) -> Metrics:
    metrics["drops"] = sum(run.drops() for _, run in runs)
    metrics["unfinished"] = sum(run.unfinished() for _, run in runs)
    return metrics


def prefix(case: str, run: Run) -> str:
    return f"{key(run.job.scheme.name)}_{case}"


def report(ctx: Context, name: str, network: Network, runs: Named) -> None:
    """Tables."""
    bins = deciles(Distribution.load(ctx.text("sizes")))
    rows: List[Row] = []
    others: List[Row] = []
    for case, run in runs:
        scheme = run.job.scheme.name
        done = run.done()
        for kind, some in (
            ("normal", [f for f in done if f.incast < 0]),
            ("incast", [f for f in done if f.incast >= 0]),
        ):
            for label, s in by_size(some, bins) + by_size(some, [("all", 1 << 62)]):
                values = (s[k] for k in ("mean", "p50", "p95", "p99", "max"))
                rows.append([scheme, case, kind, label, int(s["n"]), *values])
        inside, waiting = held(run), queues(run)
        latency = latencies(run, network)
        others.append(
            [
                *(scheme, case),
                *(percentile(waiting, p) for p in (50, 95, 99, 100)),
                float(inside.max()) / 1000,
                *(percentile(latency, p) for p in (50, 95, 99)),
                pausing(run),
                *(run.drops(), run.total("marked"), int(run.resent.sum())),
                run.unfinished(),
            ]
        )
    ctx.table(
        f"{name}-slowdown",
        ["scheme", "case", "flows", "up_to", "n", "mean", "p50", "p95", "p99", "max"],
        rows,
    )
    ctx.table(
        f"{name}-network",
        ["scheme", "case", "queue_p50_kb", "queue_p95_kb", "queue_p99_kb"]
        + ["queue_max_kb", "switch_max_kb", "latency_p50_us", "latency_p95_us"]
        + ["latency_p99_us", "pausing_pct", "drops", "marked", "resent", "unfinished"],
        others,
    )


STYLES = {"p50": ":", "p95": "-", "p99": "--"}


def draw(
    ctx: Context,
    name: str,
    runs: Named,
    shown: Sequence[str],
    label: str,
    values: Callable[[Run], List[float]],
) -> None:
    """For each case, slowdowns against sizes, and the CDF of something else."""
    bins = deciles(Distribution.load(ctx.text("sizes")))
    place = {text: i for i, (text, _) in enumerate(bins)}
    for case in ctx.texts("cases"):
        some = [run for c, run in runs if c == case]
        with ctx.figure(f"{name}-{case}", 2) as axes:
            for colour, run in zip(COLOURS, some):
                found = by_size([f for f in run.done() if f.incast < 0], bins)
                for value in shown:
                    axes[0].plot(
                        [place[text] for text, _ in found],
                        [s[value] for _, s in found],
                        color=colour,
                        linestyle=STYLES[value],
                        marker=".",
                    )
                distribution = values(run)
                if not distribution:
                    continue
                shares = np.linspace(0, 100, 401)
                axes[1].plot(
                    np.percentile(distribution, shares),
                    shares / 100,
                    color=colour,
                    label=run.job.scheme.label,
                )
            plain_log(axes[0])
            axes[0].set_xticks(range(len(bins)), [b for b, _ in bins], rotation=45)
            axes[0].set(xlabel="flows up to, bytes", ylabel="FCT slowdown")
            axes[0].grid(alpha=0.3)
            axes[1].set(xlabel=label, ylabel="CDF", ylim=(0, 1.01))
            # Where a CDF leaves room: the styles are those of the other axes.
            handles, _ = axes[1].get_legend_handles_labels()
            handles += [
                Line2D([], [], color="#999999", ls=STYLES[value], label=VALUES[value])
                for value in shown
            ]
            axes[1].legend(handles=handles, fontsize="small", loc="lower right")
            axes[1].grid(alpha=0.3)


# ---- the figures ----


def run_fig10(ctx: Context) -> Metrics:
    network = testbed(ctx)
    schemes = [
        make(name, 25 * GBIT, network.rtt, 3, INCREASE) for name in ctx.texts("schemes")
    ]
    runs = run_cases(ctx, network, schemes)
    report(ctx, "fig10", network, runs)
    draw(ctx, "fig10", runs, ("p50", "p95", "p99"), "queue of a port, KB", queues)
    metrics: Metrics = {}
    for case, run in runs:
        short = slowdowns(run, 0, SHORT)
        if short:  # there are few among WebSearch's
            metrics[f"{prefix(case, run)}_short_p99"] = percentile(short, 99)
        everything = slowdowns(run, 0, 1 << 62)
        metrics[f"{prefix(case, run)}_all_p50"] = percentile(everything, 50)
        metrics[f"{prefix(case, run)}_queue_p95_kb"] = percentile(queues(run), 95)
        metrics[f"{prefix(case, run)}_queue_p99_kb"] = percentile(queues(run), 99)
        metrics[f"{prefix(case, run)}_pausing_pct"] = pausing(run)
    return lost(runs, metrics)


def run_fig11(ctx: Context) -> Metrics:
    network = fabric(ctx)
    schemes = [
        make(name, 100 * GBIT, network.rtt, 3, INCREASE) for name in ctx.texts("schemes")
    ]
    runs = run_cases(ctx, network, schemes)
    report(ctx, "fig11", network, runs)
    draw(
        *(ctx, "fig11", runs, ("p95",), "latency between racks, µs"),
        lambda run: latencies(run, network),
    )
    metrics: Metrics = {}
    for case, run in runs:
        small, large = slowdowns(run, 0, SMALL), slowdowns(run, SMALL, 1 << 62)
        metrics[f"{prefix(case, run)}_small_p95"] = percentile(small, 95)
        metrics[f"{prefix(case, run)}_large_p95"] = percentile(large, 95)
        latency = percentile(latencies(run, network), 95)
        metrics[f"{prefix(case, run)}_latency_p95_us"] = latency
        metrics[f"{prefix(case, run)}_pausing_pct"] = pausing(run)
    return lost(runs, metrics)


def run_fig12(ctx: Context) -> Metrics:
    network = fabric(ctx)
    choices, buffer = ctx.some_of("choices", CHOICES), ctx.text("buffer")
    if "gbn" in choices and "dctcp" in ctx.texts("schemes"):
        raise UsageError("choices: dctcp has no gbn, only nosack; --set schemes=hpcc,dcqcn")
    schemes = [
        make(name, 100 * GBIT, network.rtt, 3, INCREASE, choice, buffer)
        for name in ctx.texts("schemes")
        for choice in choices
    ]
    runs = run_cases(ctx, network, schemes)
    report(ctx, "fig12", network, runs)
    draw(ctx, "fig12", runs, ("p95",), "queue of a port, KB", queues)
    metrics: Metrics = {}
    for case, run in runs:
        everything = slowdowns(run, 0, 1 << 62)
        metrics[f"{prefix(case, run)}_all_p95"] = percentile(everything, 95)
        metrics[f"{prefix(case, run)}_drops"] = run.drops()
        metrics[f"{prefix(case, run)}_pausing_pct"] = pausing(run)
    return lost(runs, metrics)


EXPERIMENTS = [
    Experiment(
        "hpcc-fig10",
        "the testbed under WebSearch's flows",
        run_fig10,
        params={
            "schemes": ["hpcc", "dctcp"],
            "cases": ["load30", "load50"],
            "sizes": "websearch",
            "pod": [4, 4, 1],
            "ms": 3.0,
            "every": 5.0,  # us: queues are looked at
        },
        full={
            "schemes": ["hpcc", "dcqcn", "dctcp"],
            "pod": [4, 16, 4],
            "ms": 150.0,
            "every": 50.0,
        },
        seconds=10,
        full_seconds=1800,
    ),
    Experiment(
        "hpcc-fig11",
        "a fabric of 100 and 400 Gbit/s under Facebook's flows and incast",
        run_fig11,
        params={
            "schemes": ["hpcc", "dctcp"],
            "cases": ["incast", "load50"],
            "sizes": "fb-hadoop",
            "clos": [2, 8, 2],
            "degree": 8,
            "burst": 100_000,
            "ms": 0.5,
            "every": 2.0,
        },
        full={
            "schemes": ALL,
            "clos": [20, 16, 4],
            "degree": 60,
            "burst": 500_000,
            "ms": 8.0,
            "every": 5.0,
        },
        seconds=8,
        full_seconds=4500,
    ),
    Experiment(
        "hpcc-fig12",
        "the same, with PFC and with losses",
        run_fig12,
        params={
            "schemes": ["hpcc", "dctcp"],
            "choices": ["pfc", "sack", "nosack"],
            "cases": ["incast"],
            "sizes": "fb-hadoop",
            "clos": [2, 8, 2],
            "degree": 15,
            "burst": 200_000,
            "buffer": "1200Kb",  # so little that it matters what is done without
            "ms": 0.5,
            "every": 2.0,
        },
        full={
            "schemes": ["hpcc", "dcqcn"],
            "choices": ["pfc", "gbn", "sack"],
            "cases": ["incast", "load50"],
            "clos": [8, 16, 4],
            "degree": 60,
            "burst": 500_000,
            "buffer": BUFFER,
            "ms": 5.0,
            "every": 5.0,
        },
        seconds=8,
        full_seconds=900,
    ),
]
