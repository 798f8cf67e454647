# SPDX-License-Identifier: GPL-2.0
"""Who waits where queues run short: flows that go elsewhere and flows under the incast,
for every case of dest_cases.py, scheme and seed.
"""

import math
from dataclasses import dataclass, field, replace
from typing import Dict, List, Sequence, Tuple

from clos_runs import KINDS, Row, flows_job, held
from dest_cases import CASES, SCHEMES, Case, Work, find, seeded
from experiment import Context, Experiment, Metrics, UsageError
from metrics import Done, deviation, mean, percentile, share_over, toward_incast
from simulate import Job, Run, has_finished
from workload import Flow

# Student's t, two-sided 95 %, for 1 to 30 degrees of freedom.
T95 = (
    *(12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228),
    *(2.201, 2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086),
    *(2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042),
)

# Columns of the two tables: measure and heading.
SHORT = (
    ("all_p99", "all short: p99"),
    ("else_n", "elsewhere: flows"),
    ("else_p50", "p50"),
    ("else_p99", "p99"),
    ("else_p999", "p99.9"),
    ("else_over5", "over 5, %"),
    ("toward_n", "toward: flows"),
    ("toward_mean", "mean"),
    ("toward_p50", "p50"),
    ("toward_p95", "p95"),
    ("toward_p99", "p99"),
    ("toward_pooled", "p99 of all seeds"),
)
COUNTS = ("else_n", "toward_n")  # of all seeds together
BESIDE = (
    ("medium_mean", "medium elsewhere: mean"),
    ("long_mean", "long: mean"),
    ("incast_mean", "incast: mean"),
    ("held_mb", "most held, MB"),
    ("collisions_pct", "collisions, %"),
    ("drops", "drops"),
    ("unfinished", "unfinished"),
)
# Of which the last line tells.
TOLD = (
    *("all_p99", "else_p50", "else_p99", "else_p999", "else_over5"),
    *("toward_mean", "toward_p50", "toward_p99", "long_mean", "held_mb"),
)

Values = Dict[str, float]


@dataclass
class Found:
    """Of a case and a scheme: every measure, a value a seed."""

    case: str
    scheme: str
    seeds: List[int] = field(default_factory=list)
    values: Dict[str, List[float]] = field(default_factory=dict)
    under: List[float] = field(default_factory=list)  # slowdowns, of all seeds

    def add(self, seed: int, values: Values, under: Sequence[float] = ()) -> None:
        """under: of short flows toward an incast. They are few in a single run."""
        self.seeds.append(seed)
        self.under += under
        for name, value in values.items():
            self.values.setdefault(name, []).append(value)

    def cell(self, name: str) -> str:
        if name == "toward_pooled":
            return cell([percentile(self.under, 99)])
        if name in COUNTS:
            return f"{sum(self.values[name]):.0f}"
        return cell(self.values[name])


def split(
    done: Sequence[Done], work: Work, missing: Sequence[Flow] = ()
) -> Tuple[List[Done], List[Done]]:
    """The flows that are not incast: those that go elsewhere, those toward one. missing:
    flows that have not arrived, which are in neither.
    """
    if work.toward:
        there = [f.group in work.toward for f in done]
    else:
        there = toward_incast(done, missing)
    normal = [(f, t) for f, t in zip(done, there) if f.incast < 0]
    return [f for f, t in normal if not t], [f for f, t in normal if t]


def of_kind(flows: Sequence[Done], kind: str) -> List[float]:
    above, most = KINDS[kind]
    return [f.slowdown for f in flows if above < f.size <= most]


def measure(run: Run, work: Work) -> Tuple[Values, List[float]]:
    """And the slowdowns of the short flows toward an incast."""
    done = run.done()
    elsewhere, toward = split(done, work, run.missing())
    other, under = of_kind(elsewhere, "short"), of_kind(toward, "short")
    switches = run.job.topology.switches()
    assigned = run.total("assigned", switches)
    values: Values = {
        "all_p99": percentile(other + under, 99),
        "else_n": len(other),
        "else_p50": percentile(other, 50),
        "else_p99": percentile(other, 99),
        "else_p999": percentile(other, 99.9),
        "else_over5": 100 * share_over(other, 5),
        "toward_n": len(under),
        "toward_mean": mean(under),
        "toward_p50": percentile(under, 50),
        "toward_p95": percentile(under, 95),
        "toward_p99": percentile(under, 99),
        "medium_mean": mean(of_kind(elsewhere, "middle")),
        "long_n": len(of_kind(elsewhere + toward, "long")),
        "long_mean": mean(of_kind(elsewhere + toward, "long")),
        "incast_mean": mean([f.slowdown for f in done if f.incast >= 0]),
        "held_mb": float(held(run).max()) / 1e6,
        "collisions_pct": 100 * run.total("collisions", switches) / max(1, assigned),
        "drops": run.drops(),
        "unfinished": run.unfinished(),
    }
    return values, under


# ---- what is run ----


def job_of(ctx: Context, name: str, work: Work, scheme: str, full: bool) -> Job:
    case = CASES[name]
    queues = case.queues if full else case.quick_queues
    job = flows_job(
        f"{name}-{scheme}-{ctx.seed}",
        work.topology,
        case.adapt(scheme, queues),
        work.flows,
        work.duration,
        1000 * ctx.seed,
        case.timeout,
    )
    # Elephants are done in half as long again, if they get the whole link.
    return replace(job, until=max(job.until, 4 * work.duration + 50_000_000))


def wanted(ctx: Context, jobs: List[Job]) -> List[Job]:
    if ctx.text("missing") == "run":
        return jobs
    return [job for job in jobs if has_finished(job, ctx.out / "runs")]


def duration_of(ctx: Context, case: Case, full: bool) -> int:
    ms = ctx.number("ms") or (case.ms if full else case.quick_ms)
    return round(ms * 1e6)


def run(ctx: Context) -> Metrics:
    unknown = find(ctx.texts("cases"))
    if unknown is not None:
        raise UsageError(f"cases: {unknown} is not one of {', '.join(CASES)}")
    if ctx.text("missing") not in ("run", "skip"):
        raise UsageError(f"missing: {ctx.text('missing')} is neither run nor skip")
    full = ctx.text("size") == "full"
    if ctx.text("missing") == "skip":
        ctx.resume = True
    found: List[Found] = []
    for name in ctx.texts("cases"):
        here = {s: Found(name, s) for s in ctx.texts("schemes")}
        found += here.values()
        for number in range(ctx.integer("seeds")):
            one = seeded(ctx, number)
            work = CASES[name].build(one, full, duration_of(ctx, CASES[name], full))
            jobs = [job_of(one, name, work, s, full) for s in here]
            for done in ctx.simulate(wanted(ctx, jobs)):
                # Their names may differ: the scheme is what was asked for.
                scheme = done.job.name[len(name) + 1 : -len(f"-{one.seed}")]
                here[scheme].add(one.seed, *measure(done, work))
                done.samples = {}  # of hundreds of runs they do not fit into memory
            write(ctx, [f for f in found if f.seeds])
    found = [f for f in found if f.seeds]
    if not found:
        raise UsageError("missing=skip: nothing has been run yet")
    print(markdown(found))
    return told(found)


# ---- what is reported ----


def interval(values: Sequence[float]) -> Tuple[float, float, float, float]:
    """Mean, smallest, largest, and half of the 95 % confidence interval of the mean;
    of the values that are numbers.
    """
    known = [v for v in values if not math.isnan(v)]
    if not known:
        return math.nan, math.nan, math.nan, math.nan
    half = math.nan
    if len(known) > 1:
        # With more values it is a bit too wide.
        t = T95[min(len(known) - 1, len(T95)) - 1]
        half = t * deviation(known) / math.sqrt(len(known))
    return mean(known), min(known), max(known), half


def number(value: float) -> str:
    if value and abs(value) < 1:
        return f"{value:.2g}"
    if abs(value) >= 100:
        return f"{value:.0f}"
    return f"{value:.2f}" if abs(value) < 10 else f"{value:.1f}"


def cell(values: Sequence[float]) -> str:
    """Mean and range; of how many seeds, if not of all: those without such flows have none."""
    middle, low, high, _ = interval(values)
    if math.isnan(middle):
        return "–"
    known = len(values) - sum(map(math.isnan, values))
    some = "" if known == len(values) else f"of {known}"
    texts = [number(v) for v in (middle, low, high)]
    spread = "" if len(set(texts)) == 1 else f"{texts[1]}–{texts[2]}"
    beside = ", ".join(text for text in (spread, some) if text)
    return f"{texts[0]} ({beside})" if beside else texts[0]


def markdown(found: Sequence[Found]) -> str:
    lines: List[str] = []
    for columns in (SHORT, BESIDE):
        head = ["case", "scheme", "seeds", *(title for _, title in columns)]
        lines += ["", "| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
        for f in found:
            words = [f.case, f.scheme, str(len(f.seeds))]
            words += [f.cell(name) for name, _ in columns]
            lines.append("| " + " | ".join(words) + " |")
    return "\n".join(lines[1:]) + "\n"


def write(ctx: Context, found: Sequence[Found]) -> None:
    """All tables so far: a run that is broken off has left what it found."""
    rows: List[Row] = []
    single: List[Row] = []
    for f in found:
        for name, values in f.values.items():
            known = len(values) - sum(map(math.isnan, values))
            rows.append([f.case, f.scheme, name, known, *interval(values)])
            single += [[f.case, f.scheme, s, name, v] for s, v in zip(f.seeds, values)]
    for table in ("dest.csv", "dest-seeds.csv"):
        if table in ctx.files:
            ctx.files.remove(table)
    header = ["case", "scheme", "measure", "seeds", "mean", "min", "max", "half_ci95"]
    ctx.table("dest", header, rows)
    ctx.table("dest-seeds", ["case", "scheme", "seed", "measure", "value"], single)
    (ctx.out / "dest.md").write_text(markdown(found), encoding="utf-8")


def told(found: Sequence[Found]) -> Metrics:
    result: Metrics = {}
    for f in found:
        prefix = f"{f.scheme}_{f.case}".replace("-", "_")
        for name in TOLD:
            value = interval(f.values[name])[0]
            if not math.isnan(value):
                result[f"{prefix}_{name}"] = value
    for name in ("drops", "unfinished"):
        result[name] = sum(sum(f.values[name]) for f in found)
    return result


QUICK_CASES = ["fig13-400", "spray", "fig15-64s"]

EXPERIMENTS = [
    Experiment(
        "dest",
        "short flows elsewhere and under incasts, where queues run short",
        run,
        params={
            "cases": QUICK_CASES,
            "schemes": ["bfc", "bfc-dynamic", "ideal-fq"],
            "seeds": 1,  # from --seed on
            "ms": 0.0,  # 0: each case's own
            "size": "quick",
            "missing": "run",  # skip: report what --resume finds, and run nothing
        },
        full={
            "cases": list(CASES),
            "schemes": list(SCHEMES),
            "seeds": 5,
            "size": "full",
        },
        seconds=20,
        full_seconds=40000,
        parts=("cases", "schemes", "seeds", "seed", "missing"),
    ),
]
