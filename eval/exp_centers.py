# SPDX-License-Identifier: GPL-2.0
"""BFC Fig. 26 (App. A.9): two data centers with a long link between them.

Each is a Clos of its own. A gateway at all of its spines has the link to the other one, with
a delay of 200 us, so that loops of 2 and of 400 us meet in it. Some flows go from one center
to the other for the whole time; beside them hosts send within their center.

HRTT is measured by each port (`hrtt auto`). Paths between the centers have six switches, too
many for INT in TCP's options (linux/bfc_int.h): HPCC is not among the schemes.
"""

import random
from typing import Dict, List, Sequence, Tuple, Union

from clos_runs import HEADER, SHORT, draw_sizes, flows_job, held, schemes, slowdown_rows
from experiment import COLOURS, Context, Experiment, Metrics, Value
from metrics import Done, mean, percentile
from schemes import LIMIT, Scheme
from simulate import Job, Run
from topology import GBIT, GATEWAYS, US, two_centers
from workload import Distribution, Flow, all_pairs, open_loop, spread

# Flows within the centers only, or those between them as well.
CASES = ("local", "both")
LONG = "long"  # group of flows from one center to the other


def local_flows(ctx: Context, center: int, first: int, last: int) -> List[Flow]:
    """Flows within a center that start from one time on, until another (ns)."""
    racks, per_rack, spines = ctx.integers("clos")
    hosts = racks * per_rack
    flows = open_loop(
        ctx.rng("centers", center),
        Distribution.load(ctx.text("sizes")),
        all_pairs(hosts),
        100 * racks * spines * ctx.number("load"),  # of the core, as in clos_runs
        last - first,
    )
    for flow in flows:
        flow.src += center * hosts
        flow.dst += center * hosts
        flow.start += first
    return flows


def long_flows(rng: random.Random, hosts: int, flows: int, size: int) -> List[Flow]:
    """As many flows each way, from all hosts and to all hosts in turn. hosts: of a center."""
    result: List[Flow] = []
    for center in (0, 1):
        senders = rng.sample(range(hosts), hosts)
        receivers = rng.sample(range(hosts), hosts)
        result += [
            Flow(
                center * hosts + senders[i % hosts],
                (1 - center) * hosts + receivers[i % hosts],
                size,
                rng.randrange(US),
                group=LONG,
            )
            for i in range(flows)
        ]
    return result


def make_job(ctx: Context, case: str, scheme: Scheme) -> Job:
    racks, per_rack, spines = ctx.integers("clos")
    hosts = racks * per_rack
    gbit = ctx.integer("gbit")
    t = two_centers(racks, per_rack, spines, gbit * GBIT, round(ctx.number("delay") * US))
    first = round(ctx.number("lead") * 1e6)
    last = first + round(ctx.number("ms") * 1e6)
    # The same flows for all schemes, and within the centers for both cases.
    flows = [f for center in (0, 1) for f in local_flows(ctx, center, first, last)]
    if case == "both":
        count = ctx.integer("flows")
        # Enough to fill the link until no more are started within the centers
        size = round(1.2 * last * gbit / 8 / count)
        flows += long_flows(ctx.rng("between"), hosts, count, size)
    flows = spread(ctx.rng("paths"), flows, spines)
    return flows_job(f"{case}-{scheme.name}", t, scheme, flows, last, ctx.seed, 7200, first)


def utilisation(run: Run) -> List[float]:
    """The link between the centers while flows are started within them, a direction each: %."""
    t = run.job.topology
    ends = [t.find(name) for name in GATEWAYS]
    rate = next(link.rate for link in t.links if [link.a, link.b] == ends)
    result: List[float] = []
    for here, there in (GATEWAYS, GATEWAYS[::-1]):
        sampled = run.samples[here]
        sent = sampled.sent[:, int(t.port(here, there)[1:])]
        lasted = sampled.time[-1] - sampled.time[0]
        result.append(100 * 8e9 * float(sent[-1] - sent[0]) / float(lasted) / rate)
    return result


def within(run: Run) -> List[Done]:
    return [f for f in run.done() if f.group != LONG]


def draw(ctx: Context, cases: Sequence[str], runs: Sequence[Tuple[str, Run]]) -> None:
    shown = [case for case in CASES if case in cases]
    with ctx.figure("fig26", len(shown) + 1) as axes:
        for axis, case in zip(axes, shown):
            some = [(run.job.scheme.label, within(run)) for c, run in runs if c == case]
            draw_sizes(axis, some, "p99")
            axis.set(xlabel="local flows only" if case == "local" else "with flows between")
        axes[0].legend(fontsize="small")
        both = [run for case, run in runs if case == "both"]
        for i, (colour, run) in enumerate(zip(COLOURS, both)):
            axes[-1].bar(i, mean(utilisation(run)), color=colour)
        axes[-1].set_xticks(range(len(both)), [r.job.scheme.label for r in both], rotation=45)
        axes[-1].set(ylabel="use of the link between, %", ylim=(0, 105))


def run(ctx: Context) -> Metrics:
    cases = ctx.some_of("cases", CASES)
    todo = [(case, s) for case in cases for s in schemes(ctx)]
    results = ctx.simulate([make_job(ctx, case, s) for case, s in todo])
    runs = [(case, one) for (case, _), one in zip(todo, results)]
    rows: List[List[Union[str, int, float]]] = []
    found: Metrics = {}
    for case, one in runs:
        t = one.job.topology
        name = f"{one.job.scheme.name.replace('-', '_')}_{case}"
        local = within(one)
        short = [f.slowdown for f in local if f.size <= SHORT]
        inside, between = (
            float(held(one, nodes).max()) / 1000
            for nodes in ([s for s in t.switches() if s not in GATEWAYS], GATEWAYS)
        )
        used = utilisation(one)
        rows.append(
            [
                one.job.scheme.name,
                case,
                *used,
                *(inside, between),
                *(one.total("pauses"), one.total("pauses", GATEWAYS), one.drops()),
                int(one.resent.sum()),
                sum(1 for f in one.missing() if f.group != LONG),
            ]
        )
        found[f"{name}_short_p99"] = percentile(short, 99)
        found[f"{name}_p99"] = percentile([f.slowdown for f in local], 99)
        found[f"{name}_held_kb"] = inside
        if case == "both":
            found[f"{name}_used_pct"] = min(used)
    ctx.table(
        "fig26-slowdown",
        HEADER,
        [row for case, one in runs for row in slowdown_rows(case, one, within(one))],
    )
    ctx.table(
        "fig26-link",
        ["scheme", "case", "there_pct", "back_pct", "center_max_kb", "gateway_max_kb"]
        + ["pauses", "gateway_pauses", "drops", "resent", "unfinished"],
        rows,
    )
    draw(ctx, cases, runs)
    found["drops"] = sum(one.drops() for _, one in runs)
    found["unfinished"] = sum(int(row[-1]) for row in rows)
    return found


PARAMS: Dict[str, Value] = {
    "schemes": ["bfc-hrtt", "dcqcn"],
    "cases": list(CASES),
    "sizes": "fb-hadoop-bfc",
    "load": 0.6,
    "clos": [2, 4, 2],  # of each center
    "gbit": 100,  # of the link between them
    "delay": 200.0,  # us, of that link
    "flows": 8,  # each way
    "queues": 32,
    "limit": LIMIT,
    "lead": 2.0,  # ms that flows between the centers are ahead
    "ms": 0.5,
}

EXPERIMENTS = [
    Experiment(
        "bfc-fig26",
        "two data centers with a long link between them, Facebook's flows",
        run,
        params=PARAMS,
        full={
            "schemes": ["bfc-hrtt", "ideal-fq-open", "dctcp-ss", "dcqcn"],
            "clos": [4, 16, 8],
            "gbit": 200,
            "flows": 20,
            "lead": 8.0,
            "ms": 4.0,
        },
        seconds=15,
        full_seconds=1800,
    ),
]
