# SPDX-License-Identifier: GPL-2.0
"""End-to-end control on BFC's Clos: HPCC with BFC's queues (BFC Fig. 14), its and
DCTCP's parameters (Fig. 21), and a simple delay-based control over BFC (App. A.1,
Fig. 15 and 16).
"""

from dataclasses import replace
from typing import Dict, List, Sequence

from clos_runs import Row, figure, flows_job, metrics, params, report, run_cases, schemes
from experiment import COLOURS, Context, Experiment, Metrics, Value
from metrics import PACKET, percentile
from schemes import LIMIT, Scheme, dctcp, hpcc
from simulate import Job, Run
from topology import clos
from workload import Distribution, Flow, one_of, open_loop, spread

# ---- Fig. 21: parameters ----


def variants(ctx: Context) -> List[Scheme]:
    """HPCC with each eta, DCTCP with each Kmin (Kmax is four times that)."""
    found = [
        replace(
            hpcc("hpcc", eta=eta),
            name=f"hpcc-{eta}",
            label=f"HPCC, η {eta / 10:g} %",
        )
        for eta in ctx.integers("eta")
    ]
    return found + [
        replace(
            dctcp(kmin=kmin),
            name=f"dctcp-{kmin}",
            label=f"DCTCP, K {kmin} to {4 * kmin} KB",
        )
        for kmin in ctx.integers("kmin")
    ]


def run_fig21(ctx: Context) -> Metrics:
    runs = run_cases(ctx, ["noincast"], variants(ctx))
    report(ctx, "fig21", runs, ("mean", "p99"))
    return metrics(runs, ("short_mean", "short_p99", "long_mean", "long_p99"))


# ---- Fig. 15: long flows, and mice beside them ----

LOAD = 0.03  # of a link: mice of each kind
KINDS = ("direct", "indirect")


def mice_and_elephants(ctx: Context, elephants: int, seed: int) -> List[Flow]:
    """Elephants to host 0 from all other racks, for as long as mice come; mice to it
    (direct), and to its neighbour (indirect), from anywhere there. The same for all
    schemes.
    """
    racks, per_rack, spines = ctx.integers("clos")
    begin = round(ctx.number("settle") * 1e6)
    duration = round(ctx.number("ms") * 1e6)
    hosts = range(per_rack, racks * per_rack)
    rng = ctx.rng("fig15", elephants, seed)
    first = rng.randrange(len(hosts))
    # Half as much again as the link can take.
    size = round((begin + duration) * 12.5 * 1.5 / elephants)
    flows = [
        Flow(hosts[(first + i) % len(hosts)], 0, size, rng.randrange(1000), group="long")
        for i in range(elephants)
    ]
    mouse = Distribution([(PACKET, 0), (PACKET, 1)])
    for receiver, kind in enumerate(KINDS):
        draw = one_of([(host, receiver) for host in hosts])
        for f in open_loop(rng, mouse, draw, 100 * LOAD, duration, sigma=0):
            flows.append(Flow(f.src, f.dst, f.size, begin + f.start, group=kind))
    return spread(rng, flows, spines)


def fig15_job(ctx: Context, scheme: Scheme, elephants: int, seed: int) -> Job:
    flows = mice_and_elephants(ctx, elephants, seed)
    job = flows_job(
        f"{scheme.name}-{elephants}-{seed}",
        clos(*ctx.integers("clos")),
        scheme,
        flows,
        flows[-1].start,
        ctx.seed + seed,
    )
    # Elephants are done in half as long again, if they get the whole link.
    job.until = 4 * flows[-1].start + 50_000_000
    job.samples = None
    return job


def mice(runs: Sequence[Run], kind: str) -> List[float]:
    return [f.slowdown for run in runs for f in run.done() if f.group == kind]


def run_fig15(ctx: Context) -> Metrics:
    """The hash decides which flows share a queue, for as long as a run lasts: the mice
    of several runs are taken together.
    """
    points = ctx.integers("points")
    seeds = range(ctx.integer("seeds"))
    some = schemes(ctx)
    todo = [(s, n) for s in some for n in points]
    runs = ctx.simulate([fig15_job(ctx, s, n, k) for s, n in todo for k in seeds])
    alike = [runs[i : i + len(seeds)] for i in range(0, len(runs), len(seeds))]
    rows: List[Row] = []
    result: Metrics = {}
    found: Dict[str, Dict[str, List[float]]] = {s.label: {} for s in some}
    for (scheme, n), some_runs in zip(todo, alike):
        row: Row = [scheme.name, n]
        for kind in KINDS:
            values = mice(some_runs, kind)
            p50, p90, p99 = (percentile(values, p) for p in (50, 90, 99))
            row += [len(values), p50, p90, p99]
            found[scheme.label].setdefault(kind, []).append(p50)
            name = f"{scheme.name.replace('-', '_')}_{kind}"
            result[f"{name}_p50_at_{n}"] = p50
            result[f"{name}_p90_at_{n}"] = p90
        rows.append(
            [
                *row,
                sum(run.total("collisions") for run in some_runs),
                sum(run.drops() for run in some_runs),
            ]
        )
    ctx.table(
        "fig15",
        ["scheme", "elephants"]
        + [f"{kind}_{what}" for kind in KINDS for what in ("n", "p50", "p90", "p99")]
        + ["collisions", "drops"],
        rows,
    )
    with ctx.figure("fig15", 2) as axes:
        for colour, (label, values_of) in zip(COLOURS, found.items()):
            for axis, kind in zip(axes, KINDS):
                axis.plot(
                    points, values_of[kind], color=colour, marker=".", label=label
                )
        for axis, kind in zip(axes, KINDS):
            axis.set(
                xlabel="long flows",
                ylabel=f"FCT slowdown, {kind} mice, median",
                xscale="log",
                yscale="log",
            )
            axis.grid(alpha=0.3)
        axes[0].legend(fontsize="small")
    result["drops"] = sum(run.drops() for run in runs)
    result["unfinished"] = sum(run.unfinished() for run in runs)
    return result


FULL: Dict[str, Value] = {"clos": [8, 16, 8], "ms": 10.0}

EXPERIMENTS = [
    Experiment(
        "bfc-fig14",
        "HPCC with BFC's queues, Facebook's flows and incast",
        figure(
            "fig14",
            ["incast"],
            ("short_mean", "short_p99", "short_over2", "long_mean"),
        ),
        params={
            **params("fb-hadoop-bfc", 0.5),
            "schemes": ["hpcc", "hpcc-sfq", "hpcc-dqa", "bfc"],
        },
        full={
            **FULL,
            "schemes": ["hpcc", "hpcc-sfq", "hpcc-dqa", "bfc", "bfc-paper", "ideal-fq"],
        },
        seconds=8,
        full_seconds=600,
    ),
    Experiment(
        "bfc-fig15",
        "mice beside many long flows, with and without end-to-end control",
        run_fig15,
        params={
            "schemes": ["bfc-paper", "bfc-paper-cc", "ideal-fq"],
            "clos": [3, 4, 2],
            "queues": 8,
            "limit": LIMIT,
            "points": [4, 64],
            "seeds": 2,
            "settle": 1.0,  # ms, before the mice come
            "ms": 0.3,
        },
        full={
            "schemes": ["bfc", "bfc-paper", "bfc-128", "bfc-cc", "bfc-paper-cc"]
            + ["ideal-fq"],
            "clos": [8, 16, 8],
            "queues": 32,
            "points": [8, 16, 32, 64, 128, 256, 512, 1000],
            "seeds": 1,
            "settle": 20.0,
            "ms": 10.0,
        },
        seconds=8,
        full_seconds=450,
    ),
    Experiment(
        "bfc-fig16",
        "Facebook's flows over BFC with end-to-end control",
        figure("fig16", ["noincast", "incast"], ("short_p99", "long_mean")),
        params={
            **params("fb-hadoop-bfc", 0.3),
            "schemes": ["bfc", "bfc-cc"],
        },
        full={
            **FULL,
            "schemes": ["bfc", "bfc-cc", "bfc-paper", "bfc-paper-cc", "ideal-fq"],
        },
        seconds=8,
        full_seconds=800,
    ),
    Experiment(
        "bfc-fig21",
        "parameters of HPCC and DCTCP, Facebook's flows",
        run_fig21,
        params={
            **params("fb-hadoop-bfc", 0.3, "schemes", "degree", "limit", "queues"),
            "eta": [900, 980],  # thousandths
            "kmin": [50, 200],  # KB
        },
        full={**FULL, "eta": [900, 930, 950, 980], "kmin": [25, 50, 100, 200]},
        seconds=8,
        full_seconds=900,
    ),
]
