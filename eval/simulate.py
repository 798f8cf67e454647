# SPDX-License-Identifier: GPL-2.0
"""One run in the simulated machine, and several side by side."""

import csv
import functools
import hashlib
import json
import os
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Dict, List, Optional, Sequence, Tuple

import numpy as np

from metrics import Done, ideal_fct
from schemes import Scheme
from topology import Topology
from workload import NO_INCAST, Flow

TOP = Path(__file__).resolve().parent.parent
MS = 1_000_000  # ns
LEAD = 50 * MS  # before the flows
# Runs that need no more memory (MB) share a machine, so many at a time: starting
# one takes longer than they do.
SMALL, BATCH = 512, 8
# Linux' TCP for data centers: no memory of earlier connections.
TCP_SYSCTLS = (("net/ipv4/tcp_no_metrics_save", "1"),)
TCP_ECN = ("net/ipv4/tcp_ecn", "1")
TCP_NO_SACK = ("net/ipv4/tcp_sack", "0")
# One ACK out of turn is a request to go back (lab/simcc/simcc_gbn.c), and no time-out is
# taken for spurious.
TCP_GO_BACK = (
    TCP_NO_SACK,
    ("net/ipv4/tcp_reordering", "1"),
    ("net/ipv4/tcp_max_reordering", "1"),
    ("net/ipv4/tcp_frto", "0"),
)
FINISHED = "finished"  # file of a batch's first run, with what decided its results
STAMP = "/sys/fs/bpf/bfc_stamp"  # the program that stamps INT at switches


class RunError(Exception):
    """A run failed; the text says where its log is."""


@dataclass
class Job:
    name: str
    topology: Topology
    scheme: Scheme
    flows: List[Flow]
    until: int  # ns: give up
    seed: int = 1
    window: Optional[Tuple[int, int]] = None  # ns: where throughput is measured
    samples: Optional[Tuple[int, int, int]] = None  # every, from, to; ns
    sampled: Sequence[str] = ()  # nodes; empty: all switches
    mem: int = 2048  # MB
    timeout: int = 1800  # s of the host


@dataclass
class Sampled:
    """Ports of a switch over time: rows are times, columns ports."""

    time: Any  # ns
    backlog: Any  # bytes
    occupied: Any  # non-empty queues, of bfc
    sent: Any  # bytes


@dataclass
class Run:
    job: Job
    start: Any  # arrays with an entry for each flow; ns, bytes
    last: Any
    acked: Any
    got: Any
    reordered: Any
    resent: Any
    got_bytes: Any
    measured: Any
    totals: List[Dict[str, str]]
    samples: Dict[str, Sampled]
    kernel: str
    seconds: float  # of the host
    flow_seconds: float  # of them, from the first flow to the end of the last

    def hops(self) -> int:
        """Packets that all ports have sent, ACKs and control frames included."""
        return self.total("packets")

    def total(self, column: str, nodes: Optional[Sequence[str]] = None) -> int:
        """A statistic summed over all ports (of some nodes)."""
        return sum(
            int(row[column])
            for row in self.totals
            if nodes is None or row["node"] in nodes
        )

    def port(self, node: str, port: str) -> Dict[str, str]:
        for row in self.totals:
            if row["node"] == node and row["port"] == port:
                return row
        raise KeyError(f"{node} {port}")

    def lasted(self) -> int:
        """Until the last flow had ended, not only while flows were started: ns."""
        assert self.job.samples
        return max(self.job.samples[2], *map(int, self.last), 0)

    def done(self) -> List[Done]:
        """The flows that have arrived. An FCT lasts until the last ACK would be
        back if nothing held it up: open-loop sources have none.
        """
        result: List[Done] = []
        packet = self.job.scheme.packet
        ways: Dict[Tuple[int, int], Tuple[int, int, float, float]] = {}
        for i, flow in enumerate(self.job.flows):
            if self.last[i] < 0:
                continue
            way = ways.get((flow.src, flow.dst))
            if way is None:
                links = [
                    self.job.topology.links[n]
                    for n in self.job.topology.path(flow.src, flow.dst, flow.plane)
                ]
                slowest = min(link.rate for link in links)
                way = (
                    len(links),
                    sum(link.delay for link in links),
                    slowest / 1e9,
                    sum(slowest / link.rate for link in links) - 1,
                )
                ways[(flow.src, flow.dst)] = way
            hops, delay, rate, further = way
            best = ideal_fct(flow.size, hops, delay // hops, rate, further, packet)
            fct = float(self.last[i] - self.start[i]) + delay
            result.append(
                Done(
                    flow.size,
                    fct,
                    fct / best,
                    fct - best,
                    flow.incast,
                    flow.group,
                    flow.src,
                    flow.dst,
                    float(self.start[i]),
                )
            )
        return result

    def write_fct(self, path: Path) -> None:
        """Completion time and slowdown, a line a flow that has arrived."""
        with open(path, "w", encoding="ascii") as file:
            file.write("src,dst,bytes,incast,group,fct_ns,slowdown,start_ns\n")
            for f in self.done():
                file.write(
                    f"{f.src},{f.dst},{f.size},{f.incast},{f.group},"
                    f"{f.fct:.0f},{f.slowdown:.4f},{f.start:.0f}\n"
                )

    def missing(self) -> List[Flow]:
        """The flows that have not arrived."""
        return [f for f, last in zip(self.job.flows, self.last) if last < 0]

    def unfinished(self) -> int:
        return int((self.last < 0).sum())

    def drops(self) -> int:
        return self.total("drops")


@dataclass
class Stopwatch:
    """Of one run, s of the host."""

    begin: float = 0.0
    end: float = 0.0
    first: float = 0.0  # sign of flows; 0: none yet
    last: float = 0.0

    def flows_go_on(self) -> None:
        self.last = time.monotonic()
        self.first = self.first or self.last


class Progress:
    """A bar on stderr, with the time that is left; silent without a terminal
    but for one line a minute.
    """

    def __init__(self, names: Sequence[str]) -> None:
        self.part = {name: 0.0 for name in names}
        self.begin = time.monotonic()
        self.lock = threading.Lock()
        self.shown = 0.0
        self.tty = sys.stderr.isatty()

    def update(self, name: str, part: float) -> None:
        with self.lock:
            self.part[name] = max(self.part[name], min(part, 1.0))
            self._show()

    def _show(self, final: bool = False) -> None:
        now = time.monotonic()
        if not final and now - self.shown < (0.5 if self.tty else 60):
            return
        self.shown = now
        done = sum(self.part.values()) / max(1, len(self.part))
        spent = now - self.begin
        left = f"{spent / done * (1 - done):.0f} s left" if done > 0.01 else "..."
        bar = "#" * round(30 * done)
        text = f"[{bar:<30}] {100 * done:3.0f} %  {spent:.0f} s, {left}"
        sys.stderr.write(f"\r{text}\x1b[K" if self.tty else text + "\n")
        sys.stderr.flush()

    def close(self) -> None:
        if self.tty:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()


def describe(job: Job) -> str:
    scheme = job.scheme
    link = f"ring 1 mtu {scheme.mtu}"
    if scheme.source != "tcp":
        return job.topology.describe(scheme.nic, scheme.switch, link)
    route = f"rto-min {scheme.rto_min}"
    if not scheme.slow_start:
        route = f"initcwnd {scheme.window // scheme.packet} {route}"
    if scheme.quickack:
        route += " quickack 1"
    sysctls: Tuple[Tuple[str, str], ...] = TCP_SYSCTLS
    if scheme.ecn:
        sysctls += (TCP_ECN,)
    if scheme.back:
        sysctls += TCP_GO_BACK
    elif not scheme.sack:
        sysctls += (TCP_NO_SACK,)
    # Without segmentation offload: a NIC serves its flows packet by packet.
    return job.topology.describe(
        scheme.nic,
        scheme.switch + (f" stamp pinned {STAMP}" if scheme.hpcc else ""),
        f"{link} gso-segs 1",
        route,
        sysctls,
        scheme.pipe.describe() if scheme.pipe else "",
        scheme.marks,
        scheme.ramp,
    )


def dscp_of(flow: Flow, scheme: Scheme) -> int:
    """An incast's flows have the scheme's label."""
    return scheme.incast_dscp if flow.incast != NO_INCAST and scheme.incast_dscp else flow.dscp


def inputs(job: Job) -> Dict[str, str]:
    """The files of a run's directory that eval/inside reads."""
    t = job.topology
    files = {
        "topology": describe(job),
        "nodes": "\n".join(n.name for n in t.nodes) + "\n",
        "waited": "\n".join(t.attentive(job.scheme.deaf_hosts)) + "\n",
        "options": options(job),
        "sampled": "\n".join(job.sampled or t.switches()) + "\n",
        "flows": "".join(
            f"flow {t.name(f.src)} {t.address(f.src, f.ack_plane)} "
            f"{t.name(f.dst)} {t.address(f.dst, f.plane)} {f.size} {f.start}"
            + (f" {dscp}\n" if (dscp := dscp_of(f, job.scheme)) else "\n")
            for f in job.flows
        ),
    }
    if job.scheme.hpcc:
        files["hpcc"] = describe_hpcc(job)
    if job.scheme.module is not None:
        files["simcc"] = job.scheme.module + "\n"
    return files


def write_inputs(texts: Dict[str, str], directory: Path) -> None:
    directory.mkdir(parents=True, exist_ok=True)
    for old in directory.iterdir():
        if old.is_file():
            old.unlink()
    for name, text in texts.items():
        (directory / name).write_text(text, encoding="ascii")


def describe_hpcc(job: Job) -> str:
    """The file hpcc, see eval/inside."""
    hpcc = job.scheme.hpcc
    assert hpcc
    return f"hops {hpcc.hops}\n{hpcc.describe(job.scheme.header)}\n{STAMP}\n"


def options(job: Job) -> str:
    """The file options, see eval/inside."""
    scheme = job.scheme
    lead = LEAD + (scheme.handshake * len(job.flows) if scheme.source == "tcp" else 0)
    words: List[object] = [
        *("--source", scheme.source, "--header", scheme.header),
        *("--packet", scheme.packet, "--until", job.until),
    ]
    if job.window:
        words += ["--from", job.window[0], "--to", job.window[1]]
    if scheme.gso:
        words.append("--gso")
    if scheme.source == "window":
        words += ["--window", scheme.window, "--rto", scheme.rto]
    if scheme.source == "tcp":
        words += ["--congestion", scheme.congestion]
        if scheme.hpcc or scheme.delay or scheme.rated:
            pass  # the congestion control sets the window
        elif scheme.bounded:
            words += ["--bound", scheme.window // scheme.packet]
        elif not scheme.slow_start:
            words += ["--ssthresh", scheme.window // scheme.packet]
    samples = " ".join(map(str, job.samples)) if job.samples else ""
    return f"{samples}\n{lead}\n" + " ".join(map(str, words)) + "\n"


def read_samples(path: Path) -> Dict[str, Sampled]:
    rows: Dict[str, List[List[int]]] = {}
    with open(path, encoding="ascii") as file:
        for line in file:
            # The sampler is ended when the flows have: the last line may be short.
            if not line.endswith("\n"):
                break
            words = line.strip().split(",")
            values = [int(words[0])]
            for word in words[2:]:
                values += map(int, word.split("/"))
            rows.setdefault(words[1], []).append(values)
    result: Dict[str, Sampled] = {}
    for node, values_of_node in rows.items():
        table = np.array(values_of_node)
        result[node] = Sampled(
            table[:, 0], table[:, 1::3], table[:, 2::3], table[:, 3::3]
        )
    return result


def _read_results(job: Job, directory: Path, clock: Stopwatch) -> Run:
    columns = ("start", "got", "reordered", "resent", "last", "acked", "got_bytes")
    with open(directory / "flows.csv", encoding="ascii") as file:
        header = file.readline().strip().split(",")
        wanted = [header.index(c) for c in (*columns, "measured")]
        table = np.loadtxt(
            file, delimiter=",", usecols=wanted, dtype=np.int64, ndmin=2
        )
    with open(directory / "totals", newline="", encoding="ascii") as file:
        totals = list(csv.DictReader(file))
    by_name = {name: table[:, i] for i, name in enumerate((*columns, "measured"))}
    return Run(
        job=job,
        totals=totals,
        samples=read_samples(directory / "samples") if job.samples else {},
        kernel=(directory / "kernel").read_text().strip(),
        seconds=clock.end - clock.begin,
        flow_seconds=clock.last - clock.first,
        **by_name,
    )


def batches(jobs: Sequence[Job]) -> List[List[Job]]:
    """Small runs share a machine. How many must not depend on how many machines
    there are side by side: the seed is that of a batch's first run.
    """
    found: List[List[Job]] = []
    for job in jobs:
        small = job.mem <= SMALL
        if small and found and len(found[-1]) < BATCH and found[-1][0].mem <= SMALL:
            found[-1].append(job)
        else:
            found.append([job])
    return found


def _start(batch: Sequence[Job], directory: Path) -> List[str]:
    places = [str(directory / job.name) for job in batch]
    return [
        *("scripts/sim", "--no-unload", "--seed", str(batch[0].seed)),
        *("--mem", str(max(j.mem for j in batch))),
        *("--timeout", str(sum(j.timeout for j in batch)), "--out", str(directory)),
        *("--log", f"{places[0]}/console", "--", "eval/inside", *places),
    ]


# ---- runs of an earlier call ----


MACHINE = (
    *("build/sim/*-plain-*/linux", "build/modules/*-sim-plain-*/**/*.ko"),
    *("build/eval/*", "build/tc/*.so", "eval/inside"),
    *("scripts/sim", "scripts/machine.sh", "scripts/guest/*"),
)
EBPF = ("build/bpf/*",)


@functools.lru_cache(maxsize=None)
def _hash(paths: Sequence[Path], seen: Sequence[Tuple[int, int]]) -> str:
    """Of files. seen: their time and size, with which a hash is made once."""
    digest = hashlib.sha256()
    for path in paths:
        digest.update(f"{path.relative_to(TOP)}\n".encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()


def _programs(hpcc: bool) -> str:
    """A hash of what runs in the machine, kernel included, as it is now: eBPF is built
    only before the first run that needs it.
    """
    patterns = MACHINE + EBPF if hpcc else MACHINE
    paths = [p for name in patterns for p in sorted(TOP.glob(name)) if p.is_file()]
    stats = [path.stat() for path in paths]
    return _hash(tuple(paths), tuple((s.st_mtime_ns, s.st_size) for s in stats))


def _fingerprint(batch: Sequence[Job], texts: Sequence[Dict[str, str]]) -> str:
    """What decides the results of runs that share a machine. texts: inputs() of each."""
    hpcc = any(job.scheme.hpcc for job in batch)
    digest = hashlib.sha256(_programs(hpcc).encode())
    for job, files in zip(batch, texts):
        digest.update(f"{job.name} {job.seed} {job.mem}\n".encode())
        for name, text in files.items():
            digest.update(f"{name} {len(text)}\n{text}".encode())
    return digest.hexdigest()


def _mark_finished(runs: Sequence[Run], directory: Path, fingerprint: str) -> None:
    finished = {
        "fingerprint": fingerprint,
        "seconds": [[run.seconds, run.flow_seconds] for run in runs],
    }
    (directory / runs[0].job.name / FINISHED).write_text(json.dumps(finished) + "\n")


def finished_runs(
    batch: Sequence[Job], directory: Path, fingerprint: str
) -> Optional[List[Run]]:
    """What an earlier call left of these very runs, if that is all of them."""
    try:
        text = (directory / batch[0].name / FINISHED).read_text()
        found = json.loads(text)
        if found["fingerprint"] != fingerprint:
            return None
        return [
            _read_results(
                job, directory / job.name, Stopwatch(end=total, first=0.0, last=flows)
            )
            for job, (total, flows) in zip(batch, found["seconds"])
        ]
    except (OSError, ValueError, KeyError):
        return None


def has_finished(job: Job, directory: Path) -> bool:
    """Has an earlier call left this very run, one that shares no machine?"""
    try:
        text = (directory / job.name / FINISHED).read_text()
        known: str = json.loads(text)["fingerprint"]
        return known == _fingerprint([job], [inputs(job)])
    except (OSError, ValueError, KeyError):
        return False


def simulate(
    batch: Sequence[Job], directory: Path, progress: Progress, resume: bool = False
) -> List[Run]:
    """Some runs in one machine, one after the other."""
    texts = [inputs(job) for job in batch]
    fingerprint = _fingerprint(batch, texts)
    old = finished_runs(batch, directory, fingerprint) if resume else None
    if old is not None:
        for job in batch:
            progress.update(job.name, 1.0)
        return old
    for job, files in zip(batch, texts):
        write_inputs(files, directory / job.name)
    log_file = directory / batch[0].name / "log"
    clocks, current = [Stopwatch() for _ in batch], -1
    clocks[0].begin = time.monotonic()  # it boots the machine
    with open(log_file, "w", encoding="utf-8") as log:
        with subprocess.Popen(
            _start(batch, directory),
            cwd=TOP,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
            errors="replace",
        ) as process:
            assert process.stdout
            for line in process.stdout:
                words = line.split()
                if words[:1] == ["progress"] and len(words) == 5:
                    clocks[current].flows_go_on()
                    t, until, done, flows = map(int, words[1:])
                    progress.update(batch[current].name, max(t / until, done / flows))
                elif words[:1] == ["run"]:
                    if current >= 0:
                        progress.update(batch[current].name, 1.0)
                        clocks[current].end = time.monotonic()
                        clocks[current + 1].begin = clocks[current].end
                    current += 1
                log.write(line)
            process.wait()
    clocks[current].end = time.monotonic()
    if process.returncode:
        tail = log_file.read_text(errors="replace").splitlines()[-5:]
        raise RunError(
            f"{batch[max(current, 0)].name}: exit code {process.returncode}, "
            f"see {os.path.relpath(log_file)}\n  " + "\n  ".join(tail)
        )
    progress.update(batch[current].name, 1.0)
    runs = [
        _read_results(job, directory / job.name, clock)
        for job, clock in zip(batch, clocks)
    ]
    for run in runs:
        run.write_fct(directory / run.job.name / "fct.csv")
    # Not with programs that were built meanwhile.
    if _fingerprint(batch, texts) == fingerprint:
        _mark_finished(runs, directory, fingerprint)
    return runs


def simulate_all(
    jobs: Sequence[Job], directory: Path, parallel: int, resume: bool = False
) -> List[Run]:
    """Runs in the order of the jobs, so many machines at a time. resume: those that an
    earlier call has finished are not repeated.
    """
    names = [job.name for job in jobs]
    if len(set(names)) != len(names):
        raise ValueError("two jobs have the same name")
    directory.mkdir(parents=True, exist_ok=True)
    if any(job.scheme.hpcc for job in jobs):
        # Not with the rest: it needs more than those who have no use for it have.
        subprocess.run(["make", "-s", "-C", "bpf"], cwd=TOP, check=True)
    progress = Progress(names)
    try:
        with ThreadPoolExecutor(parallel) as pool:
            futures = [
                pool.submit(simulate, batch, directory, progress, resume)
                for batch in batches(jobs)
            ]
            try:
                return [run for future in futures for run in future.result()]
            except BaseException:
                for future in futures:
                    future.cancel()
                raise
    finally:
        progress.close()
