#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""End-to-end control: HPCC's flows and BFC's experiments with HPCC and delays, as far
as they can be tested without running a simulation.
"""

import random
import sys
import tempfile
import unittest
from pathlib import Path
from typing import Dict, List, Sequence

import numpy as np

EVAL = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(EVAL))
sys.dont_write_bytecode = True

import exp_control  # noqa: E402
import exp_fafc_clos  # noqa: E402
import exp_hpcc  # noqa: E402
import exp_hpcc_flows as flows  # noqa: E402
import fafc  # noqa: E402
import hpcc  # noqa: E402
import schemes  # noqa: E402
import topology  # noqa: E402
from experiment import Context, Experiment, UsageError  # noqa: E402
from simulate import (  # noqa: E402
    Job,
    Run,
    Sampled,
    describe,
    describe_hpcc,
    options,
    inputs,
    write_inputs,
)
from topology import GBIT, Topology  # noqa: E402
from workload import Distribution, Flow  # noqa: E402


def context(some: Sequence[Experiment], name: str, *changes: str) -> Context:
    e = next(e for e in some if e.name == name)
    return Context(e, e.settings(False, changes), 1, Path(), 1, "", "")


def round_trip(t: Topology, src: int, dst: int) -> float:
    """Of a packet and its ACK (with time stamps and an echo of three hops), us."""
    links = [t.links[n] for n in t.path(src, dst)]
    return sum(2 * li.delay + (1000 + 98) * 8e9 / li.rate for li in links) / 1000


class Networks(unittest.TestCase):
    """HPCC §5.1"""

    def test_testbed(self) -> None:
        network = flows.testbed(
            context(flows.EXPERIMENTS, "hpcc-fig10", "pod=4,16,4")
        )
        t = network.topology
        self.assertEqual((len(t.hosts), len(t.switches())), (64, 5))
        self.assertAlmostEqual(round_trip(t, 0, 1), 5.4, delta=0.1)
        self.assertAlmostEqual(round_trip(t, 0, 63), 8.5, delta=0.1)
        self.assertEqual(network.capacity, 64 * 25 / 8)
        self.assertTrue(network.apart(15, 16))
        self.assertFalse(network.apart(16, 31))

    def test_parallel_links(self) -> None:
        """Each link up with each link down, and no other way."""
        t = topology.pod(3, 2, 4)
        paths = [t.path(0, 5, plane) for plane in range(t.planes)]
        self.assertEqual(t.planes, 16)
        self.assertEqual({len(path) for path in paths}, {4})
        self.assertEqual(len({tuple(path) for path in paths}), 16)
        self.assertEqual(len({path[1] for path in paths}), 4)

    def test_fabric(self) -> None:
        network = flows.fabric(
            context(flows.EXPERIMENTS, "hpcc-fig11", "clos=20,16,4")
        )
        t = network.topology
        self.assertEqual((len(t.hosts), len(t.switches())), (320, 24))
        self.assertAlmostEqual(round_trip(t, 0, 319), 12.0, delta=0.3)
        # T is slightly more than that.
        self.assertLess(round_trip(t, 0, 319), network.rtt / 1000)
        rates = [link.rate for link in t.links if t.nodes[link.a].name == "t0"]
        rates += [link.rate for link in t.links if t.nodes[link.b].name == "t0"]
        self.assertEqual(rates.count(100 * GBIT), 16)
        self.assertEqual(rates.count(400 * GBIT), 4)

    def test_no_longer_than_tcp_has_room_for(self) -> None:
        """Three records beside time stamps."""
        for network in (
            flows.testbed(context(flows.EXPERIMENTS, "hpcc-fig10")),
            flows.fabric(context(flows.EXPERIMENTS, "hpcc-fig11")),
        ):
            t = network.topology
            longest = max(len(t.path(0, h, p)) for h in range(1, 16) for p in (0, 1))
            self.assertEqual(longest - 1, 3)

    def test_marks_follow_the_speed_of_the_port(self) -> None:
        t = topology.clos(2, 2, 1, 100 * GBIT, 400 * GBIT)
        job = Job("a", t, hpcc.make("dctcp", 100 * GBIT, 13_000, 3), [], 1)
        text = describe(job)
        self.assertEqual(text.count(" ecn 300000b\n"), 4)
        self.assertEqual(text.count(" ecn 1200000b\n"), 4)
        self.assertFalse(
            [li for li in text.splitlines() if li.startswith("tc h") and " ecn " in li]
        )


class Flows(unittest.TestCase):
    def test_deciles(self) -> None:
        """A tenth of all flows in each bin."""
        for name in ("websearch", "fb-hadoop"):
            sizes = Distribution.load(name)
            bins = flows.deciles(sizes)
            self.assertEqual(bins[-1][1], round(sizes.quantile(1)))
            self.assertGreaterEqual(len(bins), 8)
            rng = random.Random(1)
            drawn = [sizes.sample(rng) for _ in range(20_000)]
            before = 0
            for (_, largest), i in zip(bins, range(len(bins))):
                share = sum(before < size <= largest for size in drawn) / len(drawn)
                if len(bins) == 10:
                    self.assertAlmostEqual(share, 0.1, delta=0.02, msg=f"{name} {i}")
                before = largest

    def test_deciles_of_a_jump(self) -> None:
        bins = flows.deciles(Distribution([(1000, 0), (1000, 0.75), (2000, 1)]))
        self.assertEqual(bins, [("1K", 1000), ("1.2K", 1200), ("1.6K", 1600), ("2K", 2000)])

    def test_load_is_of_all_hosts(self) -> None:
        ctx = context(flows.EXPERIMENTS, "hpcc-fig11", "clos=4,8,2", "ms=20")
        network = flows.fabric(ctx)
        for case, load, burst in (("load50", 0.5, 0.0), ("incast", 0.3, 0.02)):
            found = flows.make_flows(ctx, network, case)
            total = network.capacity * 20e6
            normal = sum(f.size for f in found if f.incast < 0)
            incast = sum(f.size for f in found if f.incast >= 0)
            self.assertAlmostEqual(normal / total, load, delta=0.1 * load)
            self.assertAlmostEqual(incast / total, burst, delta=0.0005)
        self.assertEqual(found, flows.make_flows(ctx, network, "incast"))

    def test_unknown_words_are_refused(self) -> None:
        for name, change in (
            ("hpcc-fig11", "cases=load70"),
            ("hpcc-fig12", "cases=load70"),
            ("hpcc-fig12", "choices=pfc,none"),
        ):
            ctx = context(flows.EXPERIMENTS, name, change)
            with self.assertRaisesRegex(UsageError, "is not one of"):
                ctx.experiment.run(ctx)


class Measures(unittest.TestCase):
    """What is seen of a run."""

    def run_of(self, some: List[Flow], last: List[int], pauses: Dict[str, int]) -> Run:
        network = flows.fabric(context(flows.EXPERIMENTS, "hpcc-fig11", "clos=2,2,1"))
        t = network.topology
        job = Job("a", t, schemes.make("bfc"), some, 1, samples=(1, 0, 1000))
        nothing = np.zeros(len(some), dtype=np.int64)
        totals = [
            {"node": node.name, "port": f"e{i}", "prio_pausing_ns": "0"}
            for node in t.nodes
            for i in range(len(node.ports))
        ]
        for row in totals:
            row["prio_pausing_ns"] = str(pauses.get(f"{row['node']} {row['port']}", 0))
        ports = {n.name: len(n.ports) for n in t.nodes if not n.host}
        return Run(
            job=job,
            start=np.array([f.start for f in some]),
            last=np.array(last),
            acked=nothing,
            got=nothing,
            reordered=nothing,
            resent=nothing,
            got_bytes=nothing,
            measured=nothing,
            totals=totals,
            samples={
                node: Sampled(
                    np.array([1, 2]),
                    np.array([[0] * n, [1000 * (i + 1) for i in range(n)]]),
                    np.zeros((2, n)),
                    np.zeros((2, n)),
                )
                for node, n in ports.items()
            },
            kernel="",
            seconds=1,
            flow_seconds=1,
        )

    def test_latency(self) -> None:
        """Of single packets between racks: one way as it was, and the way back."""
        network = flows.fabric(context(flows.EXPERIMENTS, "hpcc-fig11", "clos=2,2,1"))
        some = [
            Flow(0, 2, 1000, 0),
            Flow(0, 1, 1000, 0),  # in the rack
            Flow(0, 2, 1001, 0),  # two packets
            Flow(1, 2, 1000, 0, incast=0),
            Flow(1, 3, 300, 500),
            Flow(1, 3, 300, 500),  # has not arrived
        ]
        run = self.run_of(some, [7000, 7000, 7000, 7000, 8500, -1], {})
        self.assertEqual(flows.latencies(run, network), [13.0, 14.0])

    def test_slowdowns_leave_incasts_out(self) -> None:
        some = [Flow(0, 2, 1000, 0), Flow(0, 2, 1000, 0, incast=0), Flow(0, 2, 9000, 0)]
        run = self.run_of(some, [20_000, 20_000, 30_000], {})
        self.assertEqual(len(flows.slowdowns(run, 0, 3000)), 1)
        self.assertEqual(len(flows.slowdowns(run, 0, 1 << 62)), 2)
        self.assertEqual(len(flows.slowdowns(run, 1000, 1 << 62)), 1)

    def test_pausing_is_a_share_of_the_time_of_all_ports(self) -> None:
        # Two racks of two hosts and a link up, and a spine of two: eight ports.
        run = self.run_of([], [], {"t0 e0": 400, "s0 e1": 400, "h0 e0": 900})
        self.assertAlmostEqual(flows.pausing(run), 100 * 800 / (8 * 1000))

    def test_queues_of_ports(self) -> None:
        run = self.run_of([], [], {})
        self.assertEqual(sorted(flows.queues(run)), 8 * [0] + [1, 1, 1, 2, 2, 2, 3, 3])


class Choices(unittest.TestCase):
    """HPCC Fig. 12"""

    def job(self, name: str, choice: str) -> Job:
        scheme = hpcc.make(name, 100 * GBIT, 13_000, 3, 80, choice, "2Mb")
        return Job("a", topology.star(3), scheme, [], 1)

    def test_switches(self) -> None:
        self.assertEqual(self.job("hpcc", "pfc").scheme.name, "hpcc")
        for choice in hpcc.CHOICES:
            switch = self.job("hpcc", choice).scheme.switch
            self.assertIn(" buffer chip size 2Mb ", switch)
            self.assertEqual(" dynamic 11% " in switch, choice == "pfc")
            self.assertEqual(" lossless none " in switch, choice != "pfc")
        with self.assertRaises(ValueError):
            self.job("hpcc", "irn")
        with self.assertRaises(ValueError):
            self.job("dctcp", "gbn")

    def test_hosts(self) -> None:
        for choice, sack in (("pfc", True), ("sack", True), ("nosack", False)):
            for name in ("hpcc", "dctcp"):
                text = describe(self.job(name, choice))
                self.assertEqual(text.count(" net/ipv4/tcp_sack 0\n"), 0 if sack else 3)
        # IRN's bound; HPCC has one of its own.
        self.assertIn(" --bound 162", options(self.job("dctcp", "sack")))
        self.assertIn(" --ssthresh 162", options(self.job("dctcp", "nosack")))
        for choice in hpcc.CHOICES:
            for word in ("--bound", "--ssthresh"):
                self.assertNotIn(word, options(self.job("hpcc", choice)))

    def test_go_back(self) -> None:
        for name in ("hpcc", *schemes.RATED):
            for choice in hpcc.CHOICES:
                job = self.job(name, choice)
                back = choice == "gbn"
                text = describe(job)
                count = 3 if back else 0
                self.assertEqual(text.count(" net/ipv4/tcp_reordering 1\n"), count)
                self.assertEqual(text.count(" net/ipv4/tcp_max_reordering 1\n"), count)
                self.assertEqual(
                    text.count(" net/ipv4/tcp_sack 0\n"),
                    3 if choice in ("gbn", "nosack") else 0,
                )
                words = inputs(job)["simcc"].split()
                self.assertIn(f"gbn={int(back)}", words)


class Rates(unittest.TestCase):
    """HPCC §5.1: DCQCN and TIMELY, with and without a window"""

    def job(self, name: str, choice: str = "pfc") -> Job:
        scheme = hpcc.make(name, 25 * GBIT, 9000, 1, 80, choice)
        return Job("a", topology.star(3, rate=25 * GBIT), scheme, [], 1)

    def module(self, name: str, choice: str = "pfc") -> Dict[str, str]:
        text = inputs(self.job(name, choice))["simcc"]
        self.assertEqual(text.count("\n"), 1)
        return dict(word.split("=") for word in text.split())

    def test_windows(self) -> None:
        for control in ("dcqcn", "timely"):
            for name, choice, window in (
                (control, "pfc", "0"),
                (f"{control}-win", "pfc", "1"),
                (control, "gbn", "0"),
                (control, "sack", "2"),  # IRN's
                (f"{control}-win", "sack", "1"),
            ):
                words = self.module(name, choice)
                self.assertEqual(words["window"], window)
                self.assertEqual(words["rate"], "3125000000")
                self.assertEqual((words["base_ns"], words["packet"]), ("9000", "1000"))
                text = options(self.job(name, choice))
                self.assertIn(f"--congestion bfc_{control}", text)
                self.assertNotIn("--bound", text)
                self.assertNotIn("--ssthresh", text)

    def test_marks(self) -> None:
        # Kmin = 100 KB x bandwidth / 25 Gbit/s; TIMELY has no use for marks.
        for name in ("dcqcn", "dcqcn-win"):
            self.assertEqual(describe(self.job(name)).count(" ecn 100000b\n"), 3)
        for name in ("timely", "timely-win"):
            self.assertNotIn(" ecn ", describe(self.job(name)))

    def test_ramp(self) -> None:
        for name in ("dcqcn", "dcqcn-win"):
            scheme = hpcc.make(name, 25 * GBIT, 9000, ramp=True)
            self.assertEqual((scheme.name, scheme.marks), (name, 0))
            self.assertIn(" min 100000 max 400000 ", scheme.switch)
            self.assertIn(" probability 0.2 ", scheme.switch)
            self.assertEqual(scheme.switch, exp_hpcc.scheme(name).switch)
        for name, choice in (("timely", "pfc"), ("dcqcn", "gbn")):
            with self.assertRaises(ValueError):
                hpcc.make(name, 25 * GBIT, 9000, choice=choice, ramp=True)

    def test_ramp_of_bfc(self) -> None:
        # Kmax = 400 KB x bandwidth / 25 Gbit/s, and pauses all the same
        for name in hpcc.RAMPED:
            words = describe(self.job(f"{name}-ramp"))
            self.assertEqual(words.count(" ecn 100000b kmax 400000b pmax 20%\n"), 3)
            self.assertEqual(words.count(" kmax "), 3)
            self.assertEqual(words.replace(" kmax 400000b pmax 20%", ""),
                             describe(self.job(name)))
            self.assertEqual(self.module(f"{name}-ramp"), self.module(name))
            self.assertIn("bfc fc pfc ", exp_hpcc.scheme(f"{name}-ramp").switch)
        for name in ("timely-ramp", "dctcp-ramp", "dcqcn-ramp-ramp"):
            with self.assertRaises(ValueError):
                hpcc.make(name, 25 * GBIT, 9000)
        with self.assertRaises(ValueError):
            hpcc.make("dcqcn-ramp", 25 * GBIT, 9000, ramp=True)

    def test_least_rate(self) -> None:
        self.assertEqual(self.module("dcqcn")["min_rate"], "125000000")
        slow = schemes.Rated(10**8, 9000).describe(1000).split()
        self.assertIn("min_rate=12500000", slow)

    def test_bfc(self) -> None:
        for name in schemes.RATED:
            scheme = schemes.make(name)
            self.assertEqual(scheme.switch.startswith("red "), name.startswith("dcqcn"))
            assert scheme.rated
            self.assertEqual(scheme.rated.rtt, schemes.HPCC_T)
        self.assertEqual(schemes.make("dcqcn").switch, schemes.make("dctcp").switch)

    def test_fafc(self) -> None:
        ctx = context(exp_fafc_clos.EXPERIMENTS, "fafc-fig6")
        for name in ("pfc-350", "fafc-250", "bfc", "inf"):
            scheme = exp_fafc_clos.scheme(ctx, name)
            self.assertEqual((scheme.congestion, scheme.hpcc), ("bfc_timely", None))
            self.assertNotIn(" ecn ", scheme.switch)
            self.assertTrue(scheme.quickack)
            assert scheme.rated
            self.assertEqual(scheme.rated.window, schemes.UNBOUNDED)
        for name in ("bfc-open", "bfc-cc"):
            self.assertIsNone(exp_fafc_clos.scheme(ctx, name).rated)


class Bfc(unittest.TestCase):
    """BFC Fig. 14 to 16 and 21"""

    def test_delay(self) -> None:
        for name in ("bfc", "bfc-paper"):
            plain, control = schemes.make(name), schemes.make(f"{name}-cc")
            self.assertEqual(control.switch, plain.switch)
            self.assertEqual(control.nic, plain.nic)
            assert control.delay
            words = dict(
                word.split("=") for word in control.delay.describe(1000).split()
            )
            # The window that it begins with (bpf/delay.h): as that of all schemes, 105 packets.
            bytes_ = int(words["rate"]) * int(words["base_ns"]) // 10**9
            self.assertEqual(bytes_ // int(words["packet"]), schemes.BDP // 1000)
            self.assertEqual(words["factor"], "2500")
            job = Job("a", topology.star(2), control, [], 1)
            self.assertIn("--congestion bfc_delay", options(job))
            self.assertNotIn("--ssthresh", options(job))
            self.assertIn(" initcwnd 105 rto-min 200 quickack 1\n", describe(job))

    def test_files(self) -> None:
        """eval/inside goes by which there are."""
        with tempfile.TemporaryDirectory() as name:
            for scheme, there in (
                ("bfc-cc", {"simcc"}),
                ("hpcc", {"hpcc", "simcc"}),
                ("dcqcn", {"simcc"}),
                ("dctcp", set()),
                ("bfc", set()),
            ):
                job = Job("a", topology.star(2), schemes.make(scheme), [], 1)
                write_inputs(inputs(job), Path(name))
                found = {path.name for path in Path(name).iterdir()}
                self.assertEqual(found & {"simcc", "hpcc"}, there)

    def test_parameters(self) -> None:
        ctx = context(exp_control.EXPERIMENTS, "bfc-fig21", "eta=900,985", "kmin=50")
        some = exp_control.variants(ctx)
        self.assertEqual([s.name for s in some], ["hpcc-900", "hpcc-985", "dctcp-50"])
        for scheme, eta in zip(some, (" eta 900 ", " eta 985 ")):
            job = Job("a", topology.star(2), scheme, [], 1)
            self.assertIn(eta, describe_hpcc(job))
            self.assertEqual(scheme.switch, schemes.make("hpcc").switch)
        self.assertIn(" min 50000 max 200000 ", some[2].switch)
        self.assertIn(" burst 50 ", some[2].switch)
        self.assertIn(" min 100000 max 400000 ", schemes.make("dctcp").switch)

    def test_mice_and_elephants(self) -> None:
        ctx = context(
            exp_control.EXPERIMENTS, "bfc-fig15", "clos=3,4,2", "ms=20", "settle=2"
        )
        some = exp_control.mice_and_elephants(ctx, 20, 0)
        kinds: Dict[str, List[Flow]] = {}
        for f in some:
            kinds.setdefault(f.group, []).append(f)
        elephants = kinds["long"]
        self.assertEqual(len(elephants), 20)
        self.assertEqual({f.dst for f in elephants}, {0})
        # From all hosts of other racks, as many from each as may be.
        counts = [sum(f.src == h for f in elephants) for h in range(12)]
        self.assertEqual(counts[:4], [0] * 4)
        self.assertEqual(sorted(counts[4:]), [2, 2, 2, 2, 3, 3, 3, 3])
        # More than the link takes while there are mice.
        self.assertGreater(sum(f.size for f in elephants), 1.4 * 22e6 * 12.5)
        for receiver, kind in enumerate(("direct", "indirect")):
            mice = kinds[kind]
            self.assertEqual({f.dst for f in mice}, {receiver})
            self.assertEqual({f.size for f in mice}, {1000})
            self.assertTrue(all(f.src >= 4 and f.start >= 2_000_000 for f in mice))
            load = sum(f.size for f in mice) / (20e6 * 12.5)
            self.assertAlmostEqual(load, 0.03, delta=0.003)


class Fafc(unittest.TestCase):
    """FAFC Fig. 7 with HPCC's senders"""

    def test_schemes(self) -> None:
        ctx = context(exp_fafc_clos.EXPERIMENTS, "fafc-fig7")
        for name in ("pfc-350", "fafc-250", "bfc", "inf"):
            scheme = exp_fafc_clos.scheme(ctx, name)
            self.assertEqual(scheme.congestion, "bfc_window")
            self.assertNotIn(" ecn ", scheme.switch)
            self.assertTrue(scheme.quickack)
            assert scheme.hpcc
            self.assertEqual(scheme.window, scheme.hpcc.window)
            self.assertEqual((scheme.hpcc.hops, scheme.hpcc.rate), (3, 25 * GBIT))
            self.assertEqual(scheme.mtu + 14 + 4 * scheme.tagged, 1000)
        open_loop = exp_fafc_clos.scheme(ctx, "bfc-open")
        self.assertEqual((open_loop.source, open_loop.hpcc), ("open", None))
        with_delay = exp_fafc_clos.scheme(ctx, "bfc-cc")
        self.assertEqual((with_delay.name, with_delay.hpcc), ("bfc-cc", None))
        assert with_delay.delay
        self.assertEqual((with_delay.delay.rate, with_delay.delay.rtt), (25 * GBIT, 8960))

    def test_base_round_trip(self) -> None:
        t = topology.clos(2, 2, 1, 25 * GBIT)
        self.assertLess(round_trip(t, 0, 3), exp_fafc_clos.T / 1000)
        self.assertGreater(round_trip(t, 0, 3), exp_fafc_clos.T / 1000 - 0.3)

    def test_parameters_go_with_the_control(self) -> None:
        control = schemes.Hpcc(25 * GBIT, 9000)
        with self.assertRaises(ValueError):
            fafc.make("pfc", 1, 1, 1, 1, control="hpcc")
        with self.assertRaises(ValueError):
            fafc.make("pfc", 1, 1, 1, 1, control="dctcp", hpcc=control)


if __name__ == "__main__":
    unittest.main()
