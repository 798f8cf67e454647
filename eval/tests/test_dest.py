#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""The cases of eval/exp_dest.py, and what it makes of their results."""

import json
import math
import random
import sys
import tempfile
import unittest
from dataclasses import replace
from pathlib import Path
from typing import Dict, List

EVAL = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(EVAL))
sys.dont_write_bytecode = True

import dest_cases  # noqa: E402
import exp_dest  # noqa: E402
import simulate  # noqa: E402
import workload  # noqa: E402
from clos_runs import flows_job  # noqa: E402
from experiment import Context, UsageError  # noqa: E402
from metrics import Done  # noqa: E402
from schemes import Scheme, make  # noqa: E402
from topology import star  # noqa: E402


def context(*changes: str, seed: int = 1) -> Context:
    e = exp_dest.EXPERIMENTS[0]
    return Context(e, e.settings(False, changes), seed, Path(), 1, "", "")


def work_of(name: str, duration: int, big: bool = False) -> dest_cases.Work:
    return dest_cases.CASES[name].build(context(), big, duration)


class Cases(unittest.TestCase):
    def test_every_case_has_flows_for_every_scheme(self) -> None:
        for name, case in dest_cases.CASES.items():
            work = case.build(context(), False, round(case.quick_ms * 1e6))
            starts = [f.start for f in work.flows]
            self.assertEqual(starts, sorted(starts), name)
            hosts = range(len(work.topology.hosts))
            for flow in work.flows:
                self.assertIn(flow.dst, hosts)
                self.assertNotEqual(flow.src, flow.dst)
            for scheme in dest_cases.SCHEMES:
                job = exp_dest.job_of(context(), name, work, scheme, False)
                self.assertEqual(job.name, f"{name}-{scheme}-1")
                self.assertGreater(job.until, starts[-1])
                # A batch has one fingerprint, and has_finished() knows no batches.
                self.assertGreater(job.mem, simulate.SMALL)

    def test_incasts_that_come_together(self) -> None:
        flows = workload.incasts_together(
            random.Random(1), (4, 8), 3, 20, 10_000, 500, 1000
        )
        by_number: Dict[int, List[workload.Flow]] = {}
        for f in flows:
            by_number.setdefault(f.incast, []).append(f)
        self.assertEqual(sorted(by_number), list(range(6)))
        for first in (0, 3):
            some = [by_number[first + i] for i in range(3)]
            self.assertEqual({f.start for s in some for f in s}, {first // 3 * 500})
            receivers = [s[0].dst for s in some]
            self.assertEqual(len(set(receivers)), 3)
            self.assertEqual(len({r // 8 for r in receivers}), 1)
            for s in some:
                self.assertEqual(len(s), 20)
                self.assertEqual(len({f.dst for f in s}), 1)
                self.assertNotIn(s[0].dst, {f.src for f in s})

    def test_they_are_as_much_as_single_ones(self) -> None:
        def bits(name: str) -> float:
            flows = work_of(name, 8_000_000).flows
            return sum(8 * f.size for f in flows if f.incast >= 0) / 8e6

        for name in ("two", "four"):
            self.assertAlmostEqual(bits(name) / bits("fig13-400"), 1, delta=0.02)

    def test_seeds_differ_and_repeat(self) -> None:
        case = dest_cases.CASES["two"]
        one, two = (
            case.build(dest_cases.seeded(context(), n), False, 200_000).flows
            for n in (0, 1)
        )
        self.assertNotEqual(one, two)
        self.assertEqual(one, case.build(context(), False, 200_000).flows)
        self.assertEqual(two, case.build(context(seed=2), False, 200_000).flows)

    def test_sprayer(self) -> None:
        for name, sources in (("spray", 1), ("spoof", 256)):
            work = work_of(name, 400_000, True)
            t = work.topology
            spray = [f for f in work.flows if f.group == "spray"]
            self.assertEqual(len(spray), 4000)
            self.assertEqual({t.name(f.src) for f in spray}, {"p0"})
            self.assertEqual({t.name(f.dst)[0] for f in spray}, {"r"})
            self.assertGreater(len({t.address(f.dst, f.plane) for f in spray}), 1500)
            self.assertEqual(
                len({t.address(f.src, f.ack_plane) for f in spray}), sources
            )
            for f in work.flows:
                if f.group != "spray":
                    self.assertNotEqual(t.name(f.src), "p0")
                    there = {"elsewhere": "q", "toward": "r"}[f.group]
                    self.assertEqual(t.name(f.dst)[0], there)

    def test_chain(self) -> None:
        for big in (False, True):
            work = work_of("chain", 400_000, big)
            t = work.topology
            behind = [h for h in range(len(t.hosts)) if t.name(h)[0] == "r"]
            # One /26, of which no other host is.
            self.assertEqual({h >> 6 for h in behind}, {0})
            self.assertEqual(len(behind), 64)
            slow = t.links[-1]
            full = [f for f in work.flows if f.group == "full"]
            self.assertEqual({f.dst for f in full}, set(behind))
            self.assertEqual(len({(f.src, f.dst) for f in full}), 512)
            bits = sum(8 * f.size for f in full)
            self.assertAlmostEqual(bits / 400_000, slow.rate / 1e9, delta=0.1)
            for f in work.flows:
                over = len(t.links) - 1 in t.path(f.src, f.dst)
                self.assertEqual(over, f.group != "elsewhere")
                self.assertEqual(t.name(f.src)[0], "p")

    def test_only_the_sprayer_has_another_nic(self) -> None:
        for name, own in (("spray", 0), ("rude", 1)):
            text = work_of(name, 100_000).topology.describe("bfc role nic", "bfc")
            nics = [line for line in text.splitlines() if "root pfifo" in line]
            self.assertEqual(len(nics), own, name)
            self.assertTrue(all(line.startswith("tc p0 ") for line in nics))
            self.assertEqual(text.count("root bfc role nic"), 24 - own)
            heard = work_of(name, 100_000).topology.attentive()
            self.assertEqual("sw1" in heard, not own)
            self.assertEqual(len(heard), 27 - own)

    def test_schemes_of_cases(self) -> None:
        def adapted(case: str, name: str) -> Scheme:
            return dest_cases.CASES[case].adapt(name, 32)

        for name in dest_cases.SCHEMES:
            for case in dest_cases.CASES:
                self.assertEqual(adapted(case, name).name, name)
            self.assertEqual(adapted("fafc-fig8", name).congestion, "dctcp")
            control = adapted("fig16", name)
            self.assertEqual(control.delay is None, name == "ideal-fq")
            self.assertFalse(adapted("rude", name).gso)
        self.assertEqual(adapted("rude", "ideal-fq").source, "open")
        self.assertIn(" flows 1280", adapted("fig28-10x", "bfc-128").switch)
        self.assertIn(" flows 630", adapted("fig28-10x", "bfc-128").nic)
        self.assertEqual(adapted("fig28-1x", "ideal-fq"), make("ideal-fq"))


class Report(unittest.TestCase):
    def flow(self, dst: int, start: float, incast: int = -1, group: str = "") -> Done:
        return Done(1000, 50.0, 1.0, 0.0, incast, group, 0, dst, start)

    def test_split(self) -> None:
        work = work_of("two", 100_000)
        flows = [self.flow(1, 100, 0), self.flow(1, 120), self.flow(2, 120)]
        flows += [self.flow(1, 151), self.flow(1, 99)]
        elsewhere, toward = exp_dest.split(flows, work)
        self.assertEqual(toward, [flows[1]])
        self.assertEqual(elsewhere, flows[2:])
        # Groups, where there are such.
        work = replace(work, toward=frozenset({"direct"}))
        flows = [self.flow(1, 120, -1, "direct"), self.flow(1, 100, 0), flows[1]]
        elsewhere, toward = exp_dest.split(flows, work)
        self.assertEqual((elsewhere, toward), ([flows[2]], [flows[0]]))

    def test_split_with_an_incast_that_does_not_end(self) -> None:
        work = work_of("two", 100_000)
        flows = [self.flow(1, 100, 0), self.flow(1, 151), self.flow(3, 500)]
        missing = [workload.Flow(0, 1, 1000, 90, 0), workload.Flow(0, 2, 1000, 400)]
        self.assertEqual(exp_dest.split(flows, work), (flows[1:], []))
        self.assertEqual(exp_dest.split(flows, work, missing), ([flows[2]], [flows[1]]))
        # None of it has arrived.
        alone = [workload.Flow(0, 3, 1000, 450, 1)]
        self.assertEqual(exp_dest.split(flows, work, alone), ([flows[1]], [flows[2]]))

    def test_student(self) -> None:
        for n, t in enumerate(exp_dest.T95, start=1):
            # Half of the density, by Simpson's rule: 2.5 % are beyond it.
            step = t / 1000
            y = [(1 + (i * step) ** 2 / n) ** (-(n + 1) / 2) for i in range(1001)]
            area = step / 3 * (y[0] + y[-1] + 4 * sum(y[1:-1:2]) + 2 * sum(y[2:-1:2]))
            scale = math.gamma((n + 1) / 2) / math.gamma(n / 2) / math.sqrt(n * math.pi)
            self.assertAlmostEqual(scale * area, 0.475, delta=1e-4)
        for n in (9, 11, 40):
            values = [0.0] * (n - 1) + [float(n)]
            half = exp_dest.interval(values)[3]
            # Their deviation is the root of n.
            self.assertAlmostEqual(half, exp_dest.T95[min(n, 31) - 2], delta=1e-9)

    def test_interval(self) -> None:
        middle, low, high, half = exp_dest.interval([1.0, 2.0, math.nan, 3.0])
        self.assertEqual((middle, low, high), (2, 1, 3))
        self.assertAlmostEqual(half, 4.303 / math.sqrt(3))
        self.assertTrue(math.isnan(exp_dest.interval([])[0]))
        self.assertTrue(math.isnan(exp_dest.interval([1.0])[3]))

    def test_cells(self) -> None:
        for values, text in (
            ([1.041, 1.042], "1.04"),
            ([1.0, 3.0], "2.00 (1.00–3.00)"),
            ([150.4], "150"),
            ([12.34], "12.3"),
            ([0.0123], "0.012"),
            ([0.0], "0.00"),
            ([math.nan], "–"),
            ([math.nan, 2.0, 2.0], "2.00 (of 2)"),
            ([math.nan, 1.0, 3.0], "2.00 (1.00–3.00, of 2)"),
        ):
            self.assertEqual(exp_dest.cell(values), text)

    def test_a_table_has_a_row_for_each_case_and_scheme(self) -> None:
        names = [name for name, _ in exp_dest.SHORT + exp_dest.BESIDE]
        found = exp_dest.Found("two", "bfc")
        for seed in (1, 2):
            found.add(seed, {name: float(seed) for name in names}, [7.0, 8.0])
        self.assertEqual(found.cell("toward_pooled"), "8.00")
        self.assertEqual(found.cell("toward_n"), "3")
        self.assertEqual(found.cell("toward_mean"), "1.50 (1.00–2.00)")
        lines = exp_dest.markdown([found, found]).splitlines()
        rows = [line for line in lines if line.startswith("| two | bfc | 2 | ")]
        self.assertEqual(len(rows), 4)
        self.assertIn("| unfinished |", lines[5])
        self.assertEqual({line.count("|") for line in rows[:2]}, {lines[0].count("|")})

    def test_errors(self) -> None:
        for change in ("cases=fig1", "missing=maybe"):
            with self.assertRaises(UsageError):
                exp_dest.run(context(change))


class Finished(unittest.TestCase):
    def test_the_very_run_only(self) -> None:
        flows = [workload.Flow(0, 1, 1000, 0)]
        job = flows_job("a", star(2), make("bfc"), flows, 1000, 1)
        with tempfile.TemporaryDirectory() as name:
            directory = Path(name)
            self.assertFalse(simulate.has_finished(job, directory))
            (directory / "a").mkdir()
            known = {"fingerprint": simulate._fingerprint([job], [simulate.inputs(job)])}
            (directory / "a" / simulate.FINISHED).write_text(json.dumps(known))
            self.assertTrue(simulate.has_finished(job, directory))
            self.assertFalse(simulate.has_finished(replace(job, seed=2), directory))
            other = replace(job, scheme=make("bfc-dynamic"))
            self.assertFalse(simulate.has_finished(other, directory))


if __name__ == "__main__":
    unittest.main()
