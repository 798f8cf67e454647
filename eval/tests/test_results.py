#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""What a call finds of earlier ones: in --out, and with --resume."""

import json
import math
import subprocess
import sys
import tempfile
import unittest
from dataclasses import replace
from pathlib import Path
from typing import Any, Dict, List, Tuple
from unittest import mock

EVAL = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(EVAL))
sys.dont_write_bytecode = True

import exp_clos  # noqa: E402
import exp_dest  # noqa: E402
import simulate  # noqa: E402
from clos_runs import flows_job  # noqa: E402
from experiment import CALL, Call, Experiment, UsageError  # noqa: E402
from schemes import make  # noqa: E402
from topology import star  # noqa: E402
from workload import Flow  # noqa: E402


def fingerprint(scheme: str) -> str:
    job = flows_job("a", star(2), make(scheme), [Flow(0, 1, 1000, 0)], 1000, 1)
    return simulate._fingerprint([job], [simulate.inputs(job)])


class Programs(unittest.TestCase):
    def setUp(self) -> None:
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.top = Path(directory.name)
        patch = mock.patch.object(simulate, "TOP", self.top)
        patch.start()
        self.addCleanup(patch.stop)

    def write(self, name: str, text: str) -> None:
        path = self.top / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="ascii")

    def test_each_counts_as_it_is_now(self) -> None:
        """eBPF is built when the first run needs it, and a build may come between."""
        known = {fingerprint("hpcc")}
        for number, name in enumerate(
            (
                "build/bpf/bfc_stamp.bpf.o",
                "build/bpf/bfcctl",
                "build/eval/evalflow",
                "build/tc/q_bfc.so",
                "build/modules/6.1-sim-plain-0/sch_bfc/sch_bfc.ko",
                "build/modules/6.1-sim-plain-0/lab/simcc/bfc_simcc.ko",
                "build/sim/6.1-plain-0/linux",
                "eval/inside",
                "scripts/guest/run",
                "scripts/machine.sh",
                "scripts/sim",
            )
        ):
            for text in ("old", "another"):
                self.write(name, text)
                known.add(fingerprint("hpcc"))
                self.assertEqual(len(known), 2 + 2 * number + (text != "old"), name)

    def test_ebpf_counts_where_it_is_used(self) -> None:
        before = fingerprint("bfc")
        self.write("build/bpf/bfc_stamp.bpf.o", "new")
        self.assertEqual(fingerprint("bfc"), before)


class Calls(unittest.TestCase):
    def setUp(self) -> None:
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.out = Path(directory.name) / "results"

    def call(
        self, *changes: str, e: Experiment = exp_clos.EXPERIMENTS[0], full: bool = False
    ) -> Call:
        return Call(e, e.settings(full, changes), 1, self.out, "eval/run")

    def refused(self, call: Call) -> str:
        with self.assertRaises(UsageError) as caught:
            with call.claimed():
                pass
        return str(caught.exception)

    def others(self) -> List[Call]:
        return [
            replace(self.call(), seed=2),
            self.call(full=True),
            self.call("ms=0.5"),
        ]

    def test_of_one_seed_and_size(self) -> None:
        with self.call().claimed():
            pass
        with self.call().claimed():
            pass
        with replace(self.call(), resume=True).claimed():
            pass
        for other in self.others():
            self.assertIn("--replace", self.refused(other))
            self.assertIn("--replace", self.refused(replace(other, resume=True)))
        self.assertIn("another seed, of", self.refused(replace(self.call(), seed=2)))
        # As a call of before there was such a file left it
        known = json.loads((self.out / CALL).read_text())
        (self.out / CALL).write_text("")
        (self.out / "result.json").write_text(json.dumps({**known, "metrics": {}}))
        self.refused(replace(self.call(), seed=2))

    def test_parts_add_up(self) -> None:
        some = self.call("schemes=bfc")
        with some.claimed():
            pass
        self.refused(self.call())
        with replace(self.call(), resume=True).claimed():
            pass
        dest = exp_dest.EXPERIMENTS[0]
        self.out = self.out.parent / "dest"
        with self.call("cases=two", e=dest).claimed():
            pass
        for change in ("cases=four", "seeds=3", "schemes=bfc"):
            self.refused(self.call(change, e=dest))
            more = replace(self.call(change, e=dest), seed=2, resume=True)
            with more.claimed():
                pass
        with self.call("missing=skip", e=dest).claimed():
            pass
        self.refused(replace(self.call("size=full", e=dest), resume=True))

    def test_replace(self) -> None:
        with self.call().claimed():
            pass
        (self.out / "runs" / "a").mkdir(parents=True)
        for name in ("fig9-incast.svg", "own"):
            (self.out / name).touch()
        for other in self.others():
            with replace(other, replace=True).claimed():
                pass
            self.assertEqual({p.name for p in self.out.iterdir()}, {CALL, "own"})
            with other.claimed():
                pass

    def test_one_at_a_time(self) -> None:
        with self.call().claimed():
            self.assertIn("at work", self.refused(replace(self.call(), replace=True)))
        with self.call().claimed():
            pass


class Left(unittest.TestCase):
    def test_what_is_wrong_with_results(self) -> None:
        """selftests/sim/results.py, as eval.sh calls it."""
        run: Dict[str, Any] = {"scheme": "bfc-32", "packet_hops": 7}
        good: Dict[str, Any] = {
            "parameters": {"schemes": ["bfc"]},
            "metrics": {"bfc_short_p99": 1.02, "drops": 0},
            "runs": [run],
            "files": ["a.csv"],
        }
        two = {"schemes": ["bfc", "bfc-32"]}
        table = "# seed: 1\nx,y\n"
        cases: Tuple[Tuple[Dict[str, Any], str, str], ...] = (
            ({}, "1,2\n", ""),
            ({"metrics": {}}, "1,2\n", "no metrics"),
            ({"metrics": {"a": math.nan}}, "1,2\n", "a is nan"),
            ({"metrics": {"a": math.inf}}, "1,2\n", "a is inf"),
            ({"metrics": {"bfc_short_p99": 0.5}}, "1,2\n", "faster"),
            ({"parameters": {"schemes": ["pfifo"]}}, "1,2\n", "no run of pfifo"),
            ({"parameters": two}, "1,2\n", "no run of bfc sent"),
            ({"runs": [{**run, "packet_hops": 0}]}, "1,2\n", "no run sent"),
            ({"files": []}, "1,2\n", "no table"),
            ({}, "", "no rows"),
            ({}, "1\n", "another width"),
        )
        for change, rows, said in cases:
            with tempfile.TemporaryDirectory() as name:
                out = Path(name)
                (out / "a.csv").write_text(table + rows)
                (out / "result.json").write_text(json.dumps({**good, **change}))
                program = EVAL.parent / "selftests" / "sim" / "results.py"
                done = subprocess.run(
                    [sys.executable, str(program), name],
                    capture_output=True,
                    text=True,
                    check=False,
                )
                self.assertEqual(done.returncode, int(bool(said)), done.stderr)
                self.assertIn(said, done.stdout)
                self.assertEqual(bool(done.stdout), bool(said))


if __name__ == "__main__":
    unittest.main()
