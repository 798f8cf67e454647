# SPDX-License-Identifier: GPL-2.0
"""What an experiment is given, and what it leaves behind."""

import csv
import fcntl
import json
import random
import shutil
import subprocess
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Callable, Dict, Iterable, Iterator, List, Sequence, Tuple, Union, cast

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402

from simulate import TOP, Job, Run, simulate_all  # noqa: E402

Scalar = Union[int, float, str]
Value = Union[Scalar, List[int], List[float], List[str]]
Metrics = Dict[str, float]

# Colours that stay apart for colour-blind readers (Okabe and Ito).
COLOURS = (
    "#0072B2",
    "#D55E00",
    "#009E73",
    "#CC79A7",
    "#E69F00",
    "#56B4E9",
    "#000000",
    "#999999",
)


CALL = "call.json"  # in a directory of results: the seed and parameters of its runs
RESULT = "result.json"


class UsageError(Exception):
    """What the user asked for cannot be done."""


@dataclass
class Experiment:
    name: str
    title: str
    run: Callable[["Context"], Metrics]
    params: Dict[str, Value]  # of the quick size
    full: Dict[str, Value] = field(default_factory=dict)  # what the full size changes
    seconds: int = 10  # that the quick size takes on two cores
    full_seconds: int = 60
    # That only say which runs are made, each with a name of its own: with --resume they
    # may change, and what was run adds up.
    parts: Tuple[str, ...] = ("cases", "schemes", "seeds")

    def settings(self, full: bool, changes: Sequence[str]) -> Dict[str, Value]:
        """The parameters after --full and --set name=value."""
        result = dict(self.params)
        if full:
            result.update(self.full)
        for change in changes:
            name, equals, text = change.partition("=")
            if not equals or name not in result:
                raise UsageError(
                    f'{self.name}: --set "{change}": not NAME=VALUE with one of '
                    + ", ".join(sorted(result))
                )
            result[name] = parse_value(name, text, result[name])
        return result


def parse_value(name: str, text: str, like: Value) -> Value:
    """A value of the same type; lists are separated by commas."""
    try:
        if isinstance(like, list):
            kind = type(like[0])
            return cast(Value, [kind(word) for word in text.split(",")])
        return cast(Value, type(like)(text))
    except ValueError:
        wanted = type(like[0] if isinstance(like, list) else like).__name__
        raise UsageError(f'{name}: "{text}" is not {wanted}') from None


def earlier_call(out: Path) -> Dict[str, Any]:
    """What CALL says of the results that are there; empty: there are none."""
    for name in (CALL, RESULT):
        try:
            return cast(Dict[str, Any], json.loads((out / name).read_text()))
        except (OSError, ValueError):
            continue
    return {}


@dataclass
class Call:
    """An experiment as it was asked for."""

    experiment: Experiment
    params: Dict[str, Value]
    seed: int
    out: Path
    command: str
    resume: bool = False
    replace: bool = False

    def check(self) -> None:
        """Results of other seeds and parameters are not mixed with those of this call."""
        old = earlier_call(self.out)
        if not old or self.replace:
            return
        adds = self.resume or self.params.get("missing") == "skip"
        free = self.experiment.parts if adds else ()
        now: Dict[str, object] = {"seed": str(self.seed), **self.params}
        then: Dict[str, object] = {"seed": str(old["seed"]), **old["parameters"]}
        names = [name for name in {**now, **then} if name not in free]
        changed = [name for name in names if now.get(name) != then.get(name)]
        if changed:
            raise UsageError(
                f"{self.out} has results with another {', '.join(changed)}, of"
                f' "{old["command"]}": --replace removes them, --out DIR leaves them'
            )

    @contextmanager
    def claimed(self) -> Iterator[None]:
        """The directory is this call's, and no other's meanwhile."""
        self.out.mkdir(parents=True, exist_ok=True)
        with open(self.out / CALL, "a", encoding="ascii") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise UsageError(f"{self.out}: another eval/run is at work") from None
            self.check()
            if self.replace:
                remove_results(self.out)
            file.truncate(0)
            known = {
                "command": self.command,
                "seed": str(self.seed),
                "parameters": self.params,
            }
            json.dump(known, file, indent=1)
            file.write("\n")
            file.flush()
            yield


def remove_results(out: Path) -> None:
    """All that calls have left but CALL."""
    if earlier_call(out):
        shutil.rmtree(out / "runs", ignore_errors=True)
        for path in out.iterdir():
            if path.suffix in (".csv", ".svg", ".png", ".md") or path.name == RESULT:
                path.unlink()


@dataclass
class Context:
    experiment: Experiment
    params: Dict[str, Value]
    seed: int
    out: Path
    parallel: int
    command: str
    source: str  # the commit
    resume: bool = False
    runs: List[Run] = field(default_factory=list)
    files: List[str] = field(default_factory=list)

    # ---- parameters ----

    def integer(self, name: str) -> int:
        return int(cast(int, self.params[name]))

    def number(self, name: str) -> float:
        return float(cast(float, self.params[name]))

    def text(self, name: str) -> str:
        return str(self.params[name])

    def integers(self, name: str) -> List[int]:
        return cast(List[int], self.params[name])

    def numbers(self, name: str) -> List[float]:
        return [float(v) for v in cast(List[float], self.params[name])]

    def texts(self, name: str) -> List[str]:
        return cast(List[str], self.params[name])

    def some_of(self, name: str, known: Iterable[str]) -> List[str]:
        """A parameter's words, each of which has to be a known one."""
        words, known = self.texts(name), list(known)
        for word in words:
            if word not in known:
                raise UsageError(f"{name}: {word} is not one of {', '.join(known)}")
        return words

    def rng(self, *what: Scalar) -> random.Random:
        """Random numbers that depend on the seed and on what they are for."""
        return random.Random(f"{self.seed} " + " ".join(map(str, what)))

    # ---- work and results ----

    def simulate(self, jobs: Sequence[Job], alone: bool = False) -> List[Run]:
        """alone: nothing runs beside a run, whose speed is measured."""
        parallel = 1 if alone else self.parallel
        # What was measured on a machine that did other things is not taken over.
        resume = self.resume and not alone
        runs = simulate_all(jobs, self.out / "runs", parallel, resume)
        self.runs += runs
        return runs

    def speed(self) -> str:
        """How many packets went over how many links, and how fast."""
        hops = sum(run.hops() for run in self.runs)
        seconds = sum(run.flow_seconds for run in self.runs)
        return f"{hops / 1e6:.2f} million packet-hops in {seconds:.0f} s of flows" + (
            f", {hops / seconds / 1000:.0f} thousand a second" if seconds else ""
        )

    def table(
        self, name: str, header: Sequence[str], rows: Sequence[Sequence[Scalar]]
    ) -> None:
        """A CSV whose first lines say where it is from."""
        with open(self.out / f"{name}.csv", "w", newline="", encoding="ascii") as file:
            for key, value in self.origin().items():
                file.write(f"# {key}: {value}\n")
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(header)
            for row in rows:
                writer.writerow(
                    [f"{v:.6g}" if isinstance(v, float) else v for v in row]
                )
        self.files.append(f"{name}.csv")

    @contextmanager
    def figure(self, name: str, columns: int = 1, width: float = 5.0) -> Iterator[Any]:
        """Axes (an array if there are several columns), saved as SVG and PNG."""
        fig, axes = plt.subplots(1, columns, figsize=(width * columns, 3.6))
        yield axes
        fig.tight_layout()
        # No date, and names that do not change: the same data, the same file.
        with matplotlib.rc_context({"svg.hashsalt": name}):
            fig.savefig(self.out / f"{name}.svg", metadata={"Date": None})
        fig.savefig(self.out / f"{name}.png", dpi=110)
        plt.close(fig)
        self.files += [f"{name}.svg", f"{name}.png"]

    def origin(self) -> Dict[str, str]:
        kernels = sorted({run.kernel for run in self.runs})
        return {
            "command": self.command,
            "seed": str(self.seed),
            "source": self.source,
            "kernel": ", ".join(kernels),
        }

    def save(self, metrics: Metrics, seconds: float) -> None:
        result = {
            "experiment": self.experiment.name,
            "title": self.experiment.title,
            **self.origin(),
            "parameters": self.params,
            "metrics": metrics,
            "seconds": round(seconds, 1),
            "runs": [
                {
                    "name": run.job.name,
                    "scheme": run.job.scheme.name,
                    "nic": run.job.scheme.nic,
                    "switch": run.job.scheme.switch,
                    "seed": run.job.seed,
                    "flows": len(run.job.flows),
                    "unfinished": run.unfinished(),
                    "drops": run.drops(),
                    "seconds": round(run.seconds, 1),
                    "packet_hops": run.hops(),
                    "packet_hops_per_s": round(
                        run.hops() / max(run.flow_seconds, 1e-9)
                    ),
                }
                for run in self.runs
            ],
            "files": self.files,
        }
        with open(self.out / RESULT, "w", encoding="ascii") as file:
            json.dump(result, file, indent=1)
            file.write("\n")


def describe_source() -> str:
    """The commit, and whether there is more than it."""
    done = subprocess.run(
        ["git", "describe", "--always", "--dirty", "--abbrev=12"],
        cwd=TOP,
        capture_output=True,
        text=True,
        check=False,
    )
    return done.stdout.strip() or "unknown"


def result_line(name: str, metrics: Metrics) -> str:
    words = [f"{key}={value:.4g}" for key, value in metrics.items()]
    return f"{name}: " + " ".join(words)
