# SPDX-License-Identifier: GPL-2.0
"""CaPFC §IV: a fat tree at 1 Gbit/s, three kinds of traffic, four kinds of PFC.

The switch is CaPFC's (§II-A): an ingress pipeline of so many packets a second and
25 us, an input buffer for each port and priority before it, a queue for each port and
priority behind it (wire_pipe.c is the first half, the qdisc the second).

  pfc-drop   a packet whose egress queue is full is dropped
  pfc        as the module has it: what came in through a port counts as held until it
             has left the switch, and MAX is of that; no egress queue is ever full
  pfc-stop   the pipeline stands still until there is room for it
  capfc-max  egress queues pause who fills them (Alg. 1), and drop if that is too late
  capfc-cal  (Alg. 2)
  bfc        beyond the paper: pauses of single queues, without priorities

With all of them ports pause their neighbours by PFC as the input buffer fills.
"""

from dataclasses import dataclass, replace
from typing import Callable, Dict, List, Tuple, Union

from experiment import COLOURS, Context, Experiment, Metrics, UsageError, Value
from metrics import mean, percentile
from schemes import Pipe, Scheme, bfc
from simulate import Job, Run
from topology import GBIT, fat_tree
from workload import Flow, Pair, all_pairs, gaps, spread

RATE = GBIT
PACKET = 1500
DELAY = 25_000  # ns, of a switch: Table II
KB = 1000
NEVER = 400_000_000  # bytes, as a threshold
# Packets take the pipeline and up to two frames' time on each side of the link.
HRTT = "75us"
DRAIN = 3_000_000_000  # ns: time-outs double
HOSTS = 128  # of the paper: what its arrivals are for
LONG, QUERY, SHORT = "long", "query", "short"
KINDS = (QUERY, SHORT, LONG)
# What each kind is told apart by, as a class selector.
PRIORITY = {LONG: 0, QUERY: 1, SHORT: 2}
LABELS = {
    "pfc-drop": "PFC with drop",
    "pfc-stop": "PFC with stop",
    "pfc": "PFC, shared accounts",
    "capfc-max": "CaPFC max",
    "capfc-cal": "CaPFC cal",
    "bfc": "BFC",
}
NAMES = list(LABELS)
Row = List[Union[str, int, float]]


@dataclass(frozen=True)
class Scenario:
    """A line of Table I; strict: the kind with a strict priority, if any."""

    pps: int
    short: int  # bytes
    query: int
    strict: str


SCENARIOS: Dict[int, Scenario] = {
    1: Scenario(1_000_000, 64 * KB, 16 * KB, SHORT),
    2: Scenario(1_000_000, 16 * KB, 16 * KB, SHORT),
    3: Scenario(1_000_000, 64 * KB, 32 * KB, SHORT),
    4: Scenario(1_000_000, 64 * KB, 16 * KB, QUERY),
    5: Scenario(1_000_000, 64 * KB, 16 * KB, ""),
    6: Scenario(500_000, 64 * KB, 16 * KB, SHORT),
}
LONG_BYTES = 1_000_000
DEGREE = 40  # of a query


@dataclass(frozen=True)
class Memory:
    """Thresholds, bytes: Table II; §IV-C 7 for a switch whose ports share memory."""

    in_max: int
    in_xoff: int
    in_xon: int
    out_max: int
    out_xoff: int
    out_xon: int  # and WARN
    shared: str = ""  # options of the shared buffer


DEDICATED = Memory(60 * KB, 50 * KB, 40 * KB, 60 * KB, 25 * KB, 20 * KB)


def shared(ports: int) -> Memory:
    """8 KB of each priority queue are its own, at most 80 KB more from 350 KB that
    all share. Three priorities are in use, but the switch reserves for all eight.
    """
    reserve = 8 * KB
    size = 350 * KB + ports * 8 * (reserve + 1)
    options = f"buffer chip size {size}b reserve {reserve}b headroom 1b share off"
    return Memory(88 * KB, 30 * KB, 20 * KB, 88 * KB, 50 * KB, 35 * KB, options)


ECN = 20 * KB


def scheme(name: str, scenario: Scenario, memory: Memory, rto: int) -> Scheme:
    """rto: of TCP, at least; ms."""
    strict = PRIORITY.get(scenario.strict)
    first = f" strict {strict}" if strict is not None else ""
    prio = f"prio dscp hrtt {HRTT}{first}"
    pipe = Pipe(
        scenario.pps, DELAY, memory.in_max, memory.in_xoff, memory.in_xon
    )
    # Only the egress decides: the input buffers, which the qdisc does not see, pause
    # by themselves.
    port = f"{prio} queues 8 limit 64Mb xoff {NEVER}b ecn {ECN}b {memory.shared}"
    drop = (
        f"egress-max {memory.out_max}b egress-xon {memory.out_xon}b "
        f"warn {memory.out_xon}b"
    )
    switches = {
        # No port is blamed between XOFF and MAX if there is nothing between them.
        "pfc-drop": f"bfc fc capfc-max {port} {drop} egress-xoff {memory.out_max - 1}b",
        "pfc-stop": f"bfc fc pfc {port}",
        "pfc": "bfc fc pfc "
        + port.replace(
            f"xoff {NEVER}b", f"xoff {memory.in_xoff}b xon {memory.in_xon}b"
        ),
        "capfc-max": f"bfc fc capfc-max {port} {drop} egress-xoff {memory.out_xoff}b",
        "capfc-cal": f"bfc fc capfc-cal {port} {drop} egress-xoff {memory.out_xoff}b cut 80%",
    }
    if name == "bfc":
        options = memory.shared.replace("headroom 1b ", "")  # of port-level modes
        base = bfc(hrtt=HRTT, options=options, name=name, label=LABELS[name])
    elif name in switches:
        nic = f"bfc fc pfc role nic {prio} queues 1024 flows 65536 limit 1Gb"
        base = Scheme(name, nic, switches[name].strip(), label=LABELS[name])
    else:
        raise UsageError(f"schemes: {name} is not one of {', '.join(NAMES)}")
    return replace(
        base,
        source="tcp",
        congestion="cubic",
        slow_start=True,
        ecn=True,
        rto_min=rto,
        handshake=1_000_000,
        packet=PACKET,
        pipe=replace(pipe, stall=memory.out_max) if name == "pfc-stop" else pipe,
    )


def make_flows(ctx: Context, scenario: Scenario, ports: int, up: int) -> List[Flow]:
    """The same for all schemes. Gaps are of the whole network; a smaller one has
    fewer long and short flows, and as many queries.
    """
    hosts = ports**3 // 4
    duration = ctx.number("ms") * 1e6
    flows: List[Flow] = []
    rng = ctx.rng("capfc", scenario.short, scenario.query)

    def start(kind: str, size: int, pair: Pair, when: float, query: int = -1) -> None:
        flows.append(
            Flow(*pair, size, int(when), query, group=kind, dscp=PRIORITY[kind] << 3)
        )

    def times(gap: float) -> List[float]:
        found: List[float] = []
        now = 0.0
        for one in gaps(rng, gap, 0):
            now += one
            if now >= duration:
                return found
            found.append(now)
        raise AssertionError

    draw = all_pairs(hosts)
    for kind, size in ((LONG, LONG_BYTES), (SHORT, scenario.short)):
        for now in times(ctx.number(f"{kind}_gap") * 1000 * HOSTS / hosts):
            start(kind, size, draw(rng), now)
    for number, now in enumerate(times(ctx.number("query_gap") * 1000)):
        dst = rng.randrange(hosts)
        others = [h for h in range(hosts) if h != dst]
        senders: List[int] = []
        while len(senders) < DEGREE:
            rng.shuffle(others)
            senders += others[: DEGREE - len(senders)]
        for src in senders:
            start(QUERY, scenario.query, (src, dst), now, number)
    return spread(rng, flows, up * up)


def make_job(ctx: Context, number: int, name: str, memory: Memory) -> Job:
    ports, up = ctx.integer("ports"), ctx.integer("up")
    scenario = SCENARIOS.get(number)
    if not scenario:
        raise UsageError(f"scenarios: {number} is not 1 to {len(SCENARIOS)}")
    return Job(
        name=f"{number}-{name}",
        topology=fat_tree(ports, up, RATE),
        scheme=scheme(name, scenario, memory, ctx.integer("rto")),
        flows=make_flows(ctx, scenario, ports, up),
        until=round(ctx.number("ms") * 1e6) + DRAIN,
        seed=ctx.seed,
        mem=512 if ports <= 4 else 3072,
        timeout=3600,
    )


Runs = Dict[Tuple[int, str], Run]  # by scenario and scheme


def simulate(ctx: Context, memory: Memory) -> Runs:
    keys = [(n, s) for n in ctx.integers("scenarios") for s in ctx.texts("schemes")]
    runs = ctx.simulate([make_job(ctx, n, s, memory) for n, s in keys])
    return dict(zip(keys, runs))


def fcts(run: Run, kind: str) -> List[float]:
    """ms"""
    return [f.fct / 1e6 for f in run.done() if f.group == kind]


def peak(run: Run, column: str) -> int:
    return max(int(row[column]) for row in run.totals)


def report(ctx: Context, name: str, runs: Runs) -> None:
    rows: List[Row] = []
    for (number, called), run in runs.items():
        for kind in KINDS:
            values = fcts(run, kind)
            rows.append(
                [
                    number,
                    called,
                    kind,
                    len(values),
                    mean(values),
                    percentile(values, 50),
                    percentile(values, 99),
                    max(values, default=float("nan")),
                ]
            )
    ctx.table(
        f"{name}-fct",
        ["scenario", "scheme", "kind", "flows", "mean_ms", "p50_ms", "p99_ms"]
        + ["tail_ms"],
        rows,
    )
    switches = next(iter(runs.values())).job.topology.switches()
    ctx.table(
        f"{name}-switches",
        ["scenario", "scheme", "drops", "input_drops", "input_peak_kb", "input_pauses"]
        + ["pauses", "paused_ms", "stalls", "stall_ms", "storms", "marked", "resent"]
        + ["port_peak_kb", "unfinished"],
        [
            [
                number,
                called,
                run.drops(),
                run.total("pipe_drops"),
                peak(run, "pipe_peak") / 1000,
                run.total("pipe_pfc"),
                run.total("pause_tx", switches),
                run.total("prio_paused_ns" if called != "bfc" else "paused_ns") / 1e6,
                run.total("pipe_stalls"),
                run.total("pipe_stall_ns") / 1e6,
                run.total("storms"),
                run.total("marked", switches),
                int(run.resent.sum()),
                max(int(r["backlog_peak"]) for r in run.totals if r["node"] in switches)
                / 1000,
                run.unfinished(),
            ]
            for (number, called), run in runs.items()
        ],
    )


def draw(ctx: Context, name: str, runs: Runs) -> None:
    numbers = list(dict.fromkeys(number for number, _ in runs))
    names = list(dict.fromkeys(called for _, called in runs))
    with ctx.figure(name, 2, 1.5 + 0.8 * len(numbers)) as axes:
        for axis, kind in zip(axes, (QUERY, SHORT)):
            for i, (colour, called) in enumerate(zip(COLOURS, names)):
                axis.bar(
                    [x + (i - len(names) / 2) * 0.15 for x in range(len(numbers))],
                    [max(fcts(runs[n, called], kind), default=0.0) for n in numbers],
                    0.15,
                    color=colour,
                    label=LABELS[called],
                )
            axis.set(
                title=f"{kind} traffic",
                ylabel="tail FCT, ms",
                xlabel="scenario",
                xticks=range(len(numbers)),
                xticklabels=numbers,
            )
            axis.grid(alpha=0.3)
        axes[0].legend(fontsize="small")


def measures(runs: Runs, kinds: Tuple[str, ...]) -> Metrics:
    """Tail FCT in ms, with the scenario if there are several."""
    metrics: Metrics = {}
    several = len({number for number, _ in runs}) > 1
    for (number, called), run in runs.items():
        prefix = (f"s{number}_" if several else "") + called.replace("-", "_")
        for kind in kinds:
            metrics[f"{prefix}_{kind}_ms"] = max(fcts(run, kind), default=float("nan"))
    for name in dict.fromkeys(called for _, called in runs):
        some = [run for (_, called), run in runs.items() if called == name]
        metrics[f"{name.replace('-', '_')}_drops"] = sum(
            run.drops() + run.total("pipe_drops") for run in some
        )
    metrics["stalls"] = sum(run.total("pipe_stalls") for run in runs.values())
    metrics["unfinished"] = sum(run.unfinished() for run in runs.values())
    return metrics


def experiment(
    name: str, memory: Callable[[Context], Memory], kinds: Tuple[str, ...]
) -> Callable[[Context], Metrics]:
    def run(ctx: Context) -> Metrics:
        runs = simulate(ctx, memory(ctx))
        report(ctx, name, runs)
        draw(ctx, name, runs)
        return measures(runs, kinds)

    return run


# An eighth of the network, not oversubscribed.
PARAMS: Dict[str, Value] = {
    "schemes": NAMES,
    "scenarios": [1],
    "ports": 4,
    "up": 2,  # of a switch's ports, those that lead to the core
    "ms": 40.0,
    "long_gap": 1000.0,  # us, in a network of HOSTS
    "short_gap": 1000.0,
    "query_gap": 10_000.0,
    "rto": 10,  # ms
}
FULL: Dict[str, Value] = {"ports": 8, "up": 2, "ms": 200.0}
ALL = list(SCENARIOS)

EXPERIMENTS = [
    Experiment(
        "capfc-fig8",
        "CaPFC's fat tree: tails of queries and short flows",
        experiment("fig8", lambda ctx: DEDICATED, (QUERY, SHORT)),
        params=PARAMS,
        full={**FULL, "scenarios": ALL},
        seconds=20,
        full_seconds=1800,
    ),
    Experiment(
        "capfc-table3",
        "CaPFC's fat tree: tails of long flows",
        experiment("table3", lambda ctx: DEDICATED, (LONG,)),
        params=PARAMS,
        full={**FULL, "scenarios": ALL},
        seconds=20,
        full_seconds=1800,
    ),
    Experiment(
        "capfc-fig9",
        "CaPFC's fat tree, switches whose ports share memory",
        experiment("fig9", lambda ctx: shared(ctx.integer("ports")), (QUERY, SHORT)),
        # With accounts of the ingress side and a pool for lossless traffic, "pfc"
        # would need headroom that these switches do not have.
        params={**PARAMS, "schemes": [name for name in NAMES if name != "pfc"]},
        full=FULL,
        seconds=20,
        full_seconds=300,
    ),
]
