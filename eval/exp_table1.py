# SPDX-License-Identifier: GPL-2.0
"""BFC Table 1: a long flow against 60 % cross traffic on one link.

The link is that of a receiver in BFC's Clos; the cross traffic comes from all
other racks. The long flow's throughput is given as a share of what the cross
traffic leaves: the raw share depends on how much the seed happens to draw from
a distribution whose largest flows are 10 MB. Queueing delay is that of flows of
a single packet, whose FCT is nothing but that and the base delay.
"""

from typing import Dict, List, Tuple, Union

from experiment import Context, Experiment, Metrics
from metrics import PACKET, mean, percentile
from schemes import make
from simulate import Job, Run
from topology import clos
from workload import Distribution, Flow, one_of, open_loop, spread

RATE = 12.5  # bytes per ns


def make_job(ctx: Context, scheme: str, number: int) -> Job:
    duration = round(ctx.number("ms") * 1e6)
    racks, per_rack, spines = ctx.integers("clos")
    t = clos(racks, per_rack, spines)
    receiver, sender = 0, per_rack
    rng = ctx.rng("table1", number)
    others = [h for h in range(per_rack, len(t.hosts)) if h != sender]
    flows = open_loop(
        rng,
        Distribution.load(ctx.text("sizes")),
        one_of([(h, receiver) for h in others]),
        100 * ctx.number("load"),
        duration,
    )
    for flow in flows:
        flow.group = "cross"
    flows.append(Flow(sender, receiver, round(duration * RATE * 1.2), 0, group="long"))
    return Job(
        name=f"{scheme}-{number}",
        topology=t,
        scheme=make(scheme, ctx.integer("queues")),
        flows=spread(rng, flows, t.planes),
        until=duration,
        seed=ctx.seed * 1000 + number,
        window=(duration // 20, duration),
    )


def measure(run: Run) -> Tuple[float, float, List[float]]:
    """Shares of the link: the long flow's, the cross traffic's; delays in us."""
    assert run.job.window
    begin, end = run.job.window
    room = (end - begin) * RATE
    sent = {"long": 0, "cross": 0}
    for i, flow in enumerate(run.job.flows):
        sent[flow.group] += int(run.measured[i])
    delays = [
        f.delay / 1000 for f in run.done() if f.group == "cross" and f.size <= PACKET
    ]
    return sent["long"] / room, sent["cross"] / room, delays


def run(ctx: Context) -> Metrics:
    seeds = ctx.integer("seeds")
    schemes = ctx.texts("schemes")
    runs = ctx.simulate([make_job(ctx, s, n) for s in schemes for n in range(seeds)])
    rows: List[List[Union[str, int, float]]] = []
    of_rest: Dict[str, List[float]] = {}
    delays: Dict[str, List[float]] = {}
    for i, one in enumerate(runs):
        scheme = schemes[i // seeds]
        long, cross, waits = measure(one)
        of_rest.setdefault(scheme, []).append(100 * long / (1 - cross))
        delays.setdefault(scheme, []).extend(waits)
        rows.append(
            [
                scheme,
                i % seeds,
                100 * long,
                100 * cross,
                100 * long / (1 - cross),
                len(waits),
                percentile(waits, 50),
                percentile(waits, 99),
                one.drops(),
            ]
        )
    ctx.table(
        "table1",
        [
            "scheme",
            "seed",
            "long_pct",
            "cross_pct",
            "long_of_rest_pct",
            "single_packet_flows",
            "delay_p50_us",
            "delay_p99_us",
            "drops",
        ],
        rows,
    )
    first = schemes[0]
    metrics: Metrics = {
        "throughput_pct": mean(of_rest[first]),
        "delay_p99_us": percentile(delays[first], 99),
    }
    for scheme in schemes[1:]:
        name = scheme.replace("-", "_")
        metrics[f"{name}_throughput_pct"] = mean(of_rest[scheme])
        metrics[f"{name}_delay_p99_us"] = percentile(delays[scheme], 99)
    metrics["drops"] = sum(one.drops() for one in runs)
    return metrics


EXPERIMENTS = [
    Experiment(
        "bfc-table1",
        "a long flow against 60 % cross traffic on one link",
        run,
        params={
            "schemes": ["bfc", "bfc-paper"],
            "sizes": "fb-hadoop-bfc",
            "load": 0.6,
            "clos": [4, 4, 2],
            "queues": 32,
            "ms": 4.0,
            "seeds": 1,
        },
        full={
            "schemes": ["bfc", "bfc-paper", "ideal-fq"],
            "clos": [8, 16, 8],
            "ms": 50.0,
            "seeds": 4,
        },
        seconds=4,
        full_seconds=300,
    )
]
