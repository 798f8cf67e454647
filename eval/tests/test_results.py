#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""What --resume takes over."""

import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

EVAL = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(EVAL))
sys.dont_write_bytecode = True

import simulate  # noqa: E402
from clos_runs import flows_job  # noqa: E402
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


if __name__ == "__main__":
    unittest.main()
