#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""What can be tested of the evaluation without running a simulation."""

import csv
import math
import os
import random
import subprocess
import sys
import tempfile
import unittest
from dataclasses import replace
from pathlib import Path
from typing import Dict, List, Optional, Tuple

EVAL = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(EVAL))
sys.dont_write_bytecode = True

import exp_capfc  # noqa: E402
import exp_choices  # noqa: E402
import exp_clos  # noqa: E402
import exp_fafc_clos  # noqa: E402
import exp_own  # noqa: E402
import exp_variants  # noqa: E402
import fafc  # noqa: E402
import hpcc  # noqa: E402
import metrics  # noqa: E402
import schemes  # noqa: E402
import topology  # noqa: E402
import workload  # noqa: E402
from clos_runs import assigning, data_center, measured, slowdowns  # noqa: E402
from exp_variants import collision_shares  # noqa: E402
from exp_hpcc_choices import swings  # noqa: E402
from experiment import Context, Experiment, UsageError  # noqa: E402
from simulate import (  # noqa: E402
    BATCH,
    SMALL,
    STAMP,
    Job,
    batches,
    describe,
    describe_hpcc,
    options,
    read_samples,
)
from topology import Topology  # noqa: E402

BUILD = EVAL.parent / "build" / "eval"


class Sizes(unittest.TestCase):
    def test_quantiles_are_linear_between_points(self) -> None:
        d = workload.Distribution([(0, 0), (100, 0.5), (300, 1)])
        self.assertAlmostEqual(d.quantile(0.25), 50)
        self.assertAlmostEqual(d.quantile(0.75), 200)
        self.assertAlmostEqual(d.quantile(1), 300)

    def test_mean_is_exact(self) -> None:
        d = workload.Distribution([(0, 0), (100, 0.5), (300, 1)])
        self.assertAlmostEqual(d.mean(), 0.5 * 50 + 0.5 * 200)

    def test_a_jump_in_the_distribution(self) -> None:
        d = workload.Distribution([(0, 0), (10, 0), (10, 0.9), (20, 1)])
        self.assertEqual(d.quantile(0.5), 10)

    def test_samples_have_the_mean_of_the_paper(self) -> None:
        # (mean, median) of the workloads as published
        for name, mean, median in (
            ("google", 2900, 257),
            ("fb-hadoop-bfc", 122_000, 655),
            ("fb-hadoop", 120_000, 700),
            ("websearch", 1_700_000, 73_000),
        ):
            d = workload.Distribution.load(name)
            self.assertLess(abs(d.mean() / mean - 1), 0.03, name)
            self.assertLess(abs(d.quantile(0.5) / median - 1), 0.03, name)
            rng = random.Random(1)
            drawn = [d.sample(rng) for _ in range(100_000)]
            self.assertLess(abs(sum(drawn) / len(drawn) / d.mean() - 1), 0.1, name)

    def test_nonsense_is_refused(self) -> None:
        for points in (
            [(0.0, 0.0)],
            [(0.0, 0.0), (10.0, 0.9)],
            [(10.0, 0.0), (5.0, 1.0)],
            [(0.0, 0.1), (10.0, 1.0)],
        ):
            with self.assertRaises(ValueError):
                workload.Distribution(points)


class Arrivals(unittest.TestCase):
    def test_load_is_what_was_asked_for(self) -> None:
        d = workload.Distribution([(500, 0), (1500, 1)])
        for sigma in (0.0, workload.SIGMA):
            flows = workload.open_loop(
                random.Random(2), d, workload.one_of([(0, 1)]), 40, 20_000_000, sigma
            )
            load = sum(f.size for f in flows) * 8 / 20_000_000
            self.assertLess(abs(load / 40 - 1), 0.05, sigma)

    def test_lognormal_gaps(self) -> None:
        rng = random.Random(3)
        gaps = iter(workload.gaps(rng, 100, 2.0))
        logs = [math.log(next(gaps)) for _ in range(50_000)]
        self.assertAlmostEqual(metrics.deviation(logs), 2, delta=0.03)
        self.assertAlmostEqual(metrics.mean(logs), math.log(100) - 2, delta=0.03)

    def test_same_seed_same_flows(self) -> None:
        d = workload.Distribution.load("google")
        one, two = (
            data_center(random.Random(5), (2, 4, 2), d, 0.5, 100_000, 0.05)
            for _ in range(2)
        )
        self.assertEqual(one, two)
        self.assertTrue(all(a.start <= b.start for a, b in zip(one, one[1:])))

    def test_incast(self) -> None:
        flows = workload.incasts(random.Random(1), 8, 20, 1_000_000, 1000, 3000)
        self.assertEqual({f.incast for f in flows}, {0, 1, 2})
        for number in range(3):
            some = [f for f in flows if f.incast == number]
            self.assertEqual(len(some), 20)
            self.assertEqual(len({f.dst for f in some}), 1)
            self.assertEqual({f.size for f in some}, {50_000})
            self.assertNotIn(some[0].dst, {f.src for f in some})
            self.assertEqual(len({f.src for f in some}), 7)

    def test_incast_is_its_share_of_the_load(self) -> None:
        d = workload.Distribution.load("google")
        flows = data_center(random.Random(1), (4, 8, 4), d, 0.0001, 10_000_000, 0.05)
        size = sum(f.size for f in flows if f.incast >= 0)
        self.assertAlmostEqual(size * 8 / 10_000_000 / 1600, 0.05, delta=0.001)


    def test_share_that_leaves_its_rack(self) -> None:
        for size, share in (
            ((8, 16, 8), 0.5),
            ((4, 8, 4), 0.5),
            ((2, 4, 4), 1.0),
            ((2, 2, 4), 1.0),  # the core has more links than it needs
            ((1, 4, 4), 0.0),
            ((3, 1, 1), 1.0),
        ):
            self.assertEqual(workload.even_share(*size), share, size)

    def test_load_is_the_same_on_all_links(self) -> None:
        size = (4, 8, 4)
        flows = data_center(
            random.Random(1),
            size,
            workload.Distribution([(999, 0), (1000, 1)]),
            0.5,
            5_000_000,
            pairs="even",
        )
        # Bytes in each direction of a host's links, a plane's links of a rack
        found: Dict[Tuple[str, int, int], int] = {}
        for f in flows:
            ends = [("host up", f.src, 0), ("host down", f.dst, 0)]
            if f.src // 8 != f.dst // 8:
                ends += [("up", f.src // 8, f.plane), ("down", f.dst // 8, f.plane)]
            for end in ends:
                found[end] = found.get(end, 0) + f.size
        self.assertEqual(len(found), 2 * 32 + 2 * 16)
        for end, size_sent in found.items():
            self.assertLess(abs(size_sent * 8 / 5_000_000 / 50 - 1), 0.1, end)

    def test_neighbours_stay_or_leave(self) -> None:
        rng = random.Random(4)
        for leaving in (0.0, 1.0):
            draw = workload.neighbours(3, 4, leaving)
            drawn = {draw(rng) for _ in range(4000)}
            self.assertTrue(all(s != d for s, d in drawn))
            self.assertEqual({s // 4 == d // 4 for s, d in drawn}, {leaving == 0})
            self.assertEqual(len(drawn), 12 * (8 if leaving else 3))
        for racks, per_rack, leaving in ((1, 4, 0.5), (4, 1, 0.5)):
            with self.assertRaises(ValueError):
                workload.neighbours(racks, per_rack, leaving)

    def test_pairs(self) -> None:
        d = workload.Distribution.load("google")
        with self.assertRaises(UsageError):
            data_center(random.Random(1), (2, 4, 2), d, 0.5, 1000, pairs="odd")


class Files(unittest.TestCase):
    def write(self, text: str) -> Path:
        with tempfile.NamedTemporaryFile("w", delete=False, suffix=".txt") as file:
            file.write(text)
        self.addCleanup(os.unlink, file.name)
        return Path(file.name)

    def test_ns3(self) -> None:
        flows = workload.read_ns3(
            self.write("2\n3 4 3 100 5000 2.000001\n1 2 3 100 700 2\n")
        )
        self.assertEqual(
            [(f.src, f.dst, f.size, f.start) for f in flows],
            [(1, 2, 700, 2_000_000_000), (3, 4, 5000, 2_000_001_000)],
        )

    def test_ns3_errors(self) -> None:
        for text in ("", "1 2 3\n", "2\n1 2 3 100 700 2\n", "1\n1 2 3\n"):
            with self.assertRaises(ValueError):
                workload.read_ns3(self.write(text))

    def test_peers(self) -> None:
        flows = workload.read_peers(
            self.write("# c\n17 106 769000 5 0 5 4 4\n14 2 9 22 3 -1 -1 6\n")
        )
        self.assertEqual((flows[0].plane, flows[0].ack_plane), (5, 4))
        self.assertEqual((flows[1].plane, flows[1].incast), (0, 3))
        self.assertEqual(flows[0].incast, workload.NO_INCAST)

    def test_the_peers_own_file(self) -> None:
        flows = workload.read_peers(workload.DATA / "fb60" / "flows_fb60.txt.gz")
        self.assertEqual(len(flows), 78_100)


class Slowdown(unittest.TestCase):
    def test_formula(self) -> None:
        # One packet over four hops of 1 us at 100 Gbit/s: 8 us and four times 80 ns.
        self.assertAlmostEqual(metrics.ideal_fct(1000, 4, 1000, 100), 8000 + 4 * 80)
        # A short one is shorter on each hop.
        self.assertAlmostEqual(metrics.ideal_fct(100, 2, 1000, 100), 4000 + 2 * 8)
        # Ten packets: the last leaves after ten, and crosses three more links.
        self.assertAlmostEqual(metrics.ideal_fct(10_000, 4, 1000, 100), 8000 + 13 * 80)
        # 9001 bytes are ten packets as well.
        self.assertEqual(
            metrics.ideal_fct(9001, 4, 1000, 100), metrics.ideal_fct(10_000, 4, 1000, 100)
        )

    def test_links_of_two_speeds(self) -> None:
        # 25, 100, 100 and 25 Gbit/s: a packet takes 320, 80, 80 and 320 ns.
        t = topology.clos(2, 2, 1, 25 * topology.GBIT)
        rates = [t.links[n].rate / 1e9 for n in t.path(0, 3)]
        self.assertEqual(rates, [25, 100, 100, 25])
        further = sum(25 / rate for rate in rates) - 1
        self.assertAlmostEqual(
            metrics.ideal_fct(1000, 4, 1000, 25, further), 8000 + 2 * (320 + 80)
        )
        self.assertAlmostEqual(
            metrics.ideal_fct(3000, 4, 1000, 25, further), 8000 + 4 * 320 + 2 * 80
        )

    def test_percentiles_are_observed_values(self) -> None:
        values = list(map(float, range(1, 101)))
        self.assertEqual(metrics.percentile(values, 50), 50)
        self.assertEqual(metrics.percentile(values, 99), 99)
        self.assertEqual(metrics.percentile([7.0], 99), 7)
        self.assertEqual(metrics.percentile([float(n) for n in range(1, 5001)], 99.9), 4995)
        self.assertTrue(math.isnan(metrics.percentile([], 99)))

    def test_bins(self) -> None:
        flows = [
            metrics.Done(size, 1.0, float(size), 0.0, -1, "", 0, 1)
            for size in (1, 1000, 1001, 5_000_000)
        ]
        found = dict(metrics.by_size(flows))
        self.assertEqual(set(found), {"<=1KB", "1-3KB", ">3MB"})
        self.assertEqual(found["<=1KB"]["n"], 2)
        self.assertEqual(found["<=1KB"]["max"], 1000)

    def test_kinds_of_flows(self) -> None:
        flows = [
            metrics.Done(size, 1.0, float(size), 0.0, incast, "", 0, 1)
            for size in (3000, 3001, 30_000, 300_000, 3_000_000, 3_000_001)
            for incast in (-1, 0)
        ]
        self.assertEqual(slowdowns(flows, "short"), [3000])
        self.assertEqual(slowdowns(flows, "middle"), [300_000])
        self.assertEqual(slowdowns(flows, "long"), [3_000_001])
        self.assertEqual(len(slowdowns(flows, "all")), 6)
        # A kind without flows is left out.
        names = ["short_mean", "long_mean", "all_p50"]
        self.assertEqual(list(measured(flows, names)), names)
        short = measured(flows[:2], names)
        self.assertEqual(short, {"short_mean": 3000, "all_p50": 3000})

    def test_over_two_is_more_than_two(self) -> None:
        self.assertEqual(metrics.share_over([1.0, 2.0, 2.1, 9.0], 2), 0.5)
        self.assertTrue(math.isnan(metrics.share_over([], 2)))

    def test_an_experiment_can_be_told_its_cases(self) -> None:
        (e,) = [e for e in exp_clos.EXPERIMENTS if e.name == "bfc-fig11"]
        ctx = Context(e, e.settings(False, ["cases=calm"]), 1, Path(), 1, "", "")
        with self.assertRaisesRegex(UsageError, "calm is not one of"):
            e.run(ctx)

    def test_collisions_are_a_share_of_a_ports_assignments(self) -> None:
        rows = [
            {"assigned": str(assigned), "collisions": str(collisions)}
            for assigned, collisions in ((10, 5), (0, 0), (4, 1), (7, 0))
        ]
        self.assertEqual(collision_shares(rows), [0, 0.25, 0.5])
        self.assertEqual(collision_shares([]), [])

    def test_app_c(self) -> None:
        # BFC App. C: 20 % at x = 2, 7.6 % at x = 1.1.
        self.assertAlmostEqual(metrics.app_c(2), 0.2)
        self.assertAlmostEqual(metrics.app_c(1.1), 0.076, places=3)

    def test_deviation(self) -> None:
        self.assertAlmostEqual(metrics.deviation([1.0, 3.0]), math.sqrt(2))
        self.assertEqual(metrics.deviation([1.0]), 0)


class Networks(unittest.TestCase):
    def check_paths(self, t: Topology, planes: int, longest: int) -> None:
        hosts = len(t.hosts)
        for src in range(0, hosts, max(1, hosts // 8)):
            for dst in range(hosts):
                if src == dst:
                    continue
                for plane in range(planes):
                    links = t.path(src, dst, plane)
                    self.assertLessEqual(len(links), longest)
                    self.assertEqual(len(set(links)), len(links))

    def test_clos(self) -> None:
        t = topology.clos()
        self.assertEqual((len(t.hosts), len(t.switches())), (128, 16))
        self.assertEqual(len(t.links), 128 + 64)
        self.check_paths(t, 8, 4)
        self.assertEqual(len(t.path(0, 15)), 2)
        # Each plane has its spine.
        self.assertEqual(len({tuple(t.path(0, 127, p)) for p in range(8)}), 8)

    def test_fat_tree(self) -> None:
        t = topology.fat_tree(8)
        self.assertEqual((len(t.hosts), len(t.switches())), (128, 80))
        self.check_paths(t, t.planes, 6)
        self.assertEqual(len({tuple(t.path(0, 127, p)) for p in range(16)}), 16)

    def test_oversubscribed_fat_tree(self) -> None:
        t = topology.fat_tree(8, 2, topology.GBIT)
        self.assertEqual((len(t.hosts), len(t.switches())), (128, 32 + 16 + 4))
        self.check_paths(t, t.planes, 6)
        self.assertEqual(len({tuple(t.path(0, 127, p)) for p in range(4)}), 4)
        self.assertEqual({link.rate for link in t.links}, {topology.GBIT})
        for up in (-1, 5):
            with self.assertRaises(ValueError):
                topology.fat_tree(8, up)

    def test_two_centers(self) -> None:
        t = topology.two_centers(2, 4, 2)
        self.assertEqual((len(t.hosts), len(t.switches())), (16, 2 * (2 + 2 + 1)))
        self.check_paths(t, t.planes, 7)
        # Within a center as in a Clos: the gateway is no way round.
        self.assertEqual(len(t.path(8, 15)), 4)
        link = t.links[t.path(0, 8)[3]]
        self.assertEqual((link.rate, link.delay), (200 * topology.GBIT, 200_000))
        self.assertEqual({t.name(h)[0] for h in range(8)}, {"a"})

    def test_line_and_dumbbell(self) -> None:
        self.assertEqual(len(topology.line(3).path(0, 1)), 4)
        t = topology.dumbbell(2)
        self.assertEqual(len(t.path(0, 2)), 3)
        self.assertEqual(len(t.path(0, 1)), 2)

    def test_fafc_dumbbell(self) -> None:
        t = topology.fafc_dumbbell()
        self.assertEqual(len(t.hosts), 5 + 18)
        # FAFC Fig. 3: P5, P6 and P12 of SW2.
        for peer, port in (("hc1", "e4"), ("hc2", "e5"), ("sw1", "e11")):
            self.assertEqual(t.port("sw2", peer), port)
        self.assertEqual(t.port("sw2", "hb16"), "e18")
        self.assertEqual(len(t.path(t.number("ha1"), t.number("hc1"))), 3)
        self.assertEqual(len(t.path(t.number("hb9"), t.number("hc2"))), 2)

    def test_by_name(self) -> None:
        self.assertEqual(len(exp_own.network("clos:2,3,4").hosts), 6)
        self.assertEqual(len(exp_own.network("line:2").switches()), 2)
        for text in ("clos", "clos:2,3", "ring:3", "line:x", "line:0", "fat-tree:3"):
            with self.assertRaises(UsageError, msg=text):
                exp_own.network(text)

    def test_fig6(self) -> None:
        t = topology.fig6((2, 4, 8))
        b, r2 = t.number("b0"), t.number("r2")
        self.assertEqual(len(t.path(b, r2)), 3)
        shared = set(t.path(b, r2)) & set(t.path(t.number("a0"), t.number("r1")))
        self.assertEqual(len(shared), 1)  # sw1 - sw2
        shared = set(t.path(b, r2)) & set(t.path(t.number("c0"), r2))
        self.assertEqual(len(shared), 1)  # sw2 - r2

    def routes(self, t: Topology) -> Dict[str, List[Tuple[int, int, str]]]:
        """The routes as written for evaltopo: node -> (prefix, length, port)."""
        found: Dict[str, List[Tuple[int, int, str]]] = {}
        for line in t.describe("", "q").splitlines():
            words = line.split()
            if words[0] == "route":
                ip, length = words[2].split("/")
                number = 0
                for part in ip.split("."):
                    number = number << 8 | int(part)
                found.setdefault(words[1], []).append((number, int(length), words[3]))
        return found

    def test_written_routes_follow_the_paths(self) -> None:
        """Longest prefix match over what is written gives path()."""
        for t in (
            topology.clos(3, 5, 2),
            topology.pod(3, 5, 2),
            topology.two_centers(2, 3, 2),
            topology.fat_tree(4),
            topology.fig6((2, 3, 2)),
        ):
            routes = self.routes(t)
            for src in range(len(t.hosts)):
                for dst in range(len(t.hosts)):
                    for plane in range(t.planes):
                        if src != dst:
                            self.follow(t, routes, src, dst, plane)

    def follow(
        self,
        t: Topology,
        routes: Dict[str, List[Tuple[int, int, str]]],
        src: int,
        dst: int,
        plane: int,
    ) -> None:
        ip = 0
        for part in t.address(dst, plane).split("."):
            ip = ip << 8 | int(part)
        node = t.hosts[src]
        for number in t.path(src, dst, plane):
            best: Optional[Tuple[int, int, str]] = None
            for route in routes[t.nodes[node].name]:
                shift = 32 - route[1]
                if ip >> shift == route[0] >> shift and (
                    best is None or route[1] > best[1]
                ):
                    best = route
            link = t.links[number]
            port = link.port_a if link.a == node else link.port_b
            self.assertIsNotNone(best)
            assert best
            self.assertEqual(best[2], port)
            node = link.a + link.b - node

    def test_no_way(self) -> None:
        t = Topology()
        t.switch("s0")
        t.switch("s1")
        for h in range(2):
            t.host(f"h{h}")
            t.link(f"h{h}", f"s{h}")
        with self.assertRaises(ValueError):
            t.path(0, 1)


class Fafc(unittest.TestCase):
    def context(self, number: int, *changes: str) -> Context:
        e = exp_fafc_clos.EXPERIMENTS[number]
        return Context(e, e.settings(False, changes), 1, Path(), 1, "", "")

    def test_incasts_are_their_share(self) -> None:
        ctx = self.context(0, "clos=12,24,6", "degree=60", "burst=500000", "ms=20")
        flows = exp_fafc_clos.make_flows(ctx, 0)
        capacity = 288 * 25 / 8 * 20e6
        burst = sum(f.size for f in flows if f.incast >= 0) / capacity
        load = sum(f.size for f in flows if f.incast < 0) / capacity
        self.assertAlmostEqual(burst, 0.02, delta=0.002)
        self.assertAlmostEqual(load, 0.3, delta=0.04)
        self.assertEqual({f.size for f in flows if f.incast >= 0}, {500_000})

    def test_names_of_schemes(self) -> None:
        ctx = self.context(0, "control=dctcp")
        for name, words in (
            ("pfc-250", "fc pfc queues 8 hrtt 2us xoff 250000b ecn 150000b"),
            ("pfc-wfq-350", "threshold 400000000b xoff 350000b ecn 200000b"),
            ("fafc-350", "threshold 350000b ecn 200000b"),
            ("inf", "lossless none"),
            ("bfc-sticky", "sticky 20us"),
        ):
            scheme = exp_fafc_clos.scheme(ctx, name)
            self.assertEqual(scheme.name, name)
            self.assertIn(words, scheme.switch)
            self.assertEqual((scheme.source, scheme.bounded), ("tcp", True))
        for name in ("pfc-x", "hpcc-350"):
            with self.assertRaises(UsageError):
                exp_fafc_clos.scheme(ctx, name)
        with self.assertRaises(UsageError):
            exp_fafc_clos.scheme(self.context(0, "control=swift"), "pfc-350")

    def test_one_bandwidth_delay_product(self) -> None:
        # 3 hops: 6 us and four packets of 320 ns.
        self.assertEqual(fafc.bandwidth_delay(25 * topology.GBIT, 3), 23_000)


class Capfc(unittest.TestCase):
    def test_schemes(self) -> None:
        first = exp_capfc.SCENARIOS[1]
        for name in exp_capfc.NAMES:
            scheme = exp_capfc.scheme(name, first, exp_capfc.DEDICATED, 10)
            self.assertEqual(scheme.mtu + 14 + (4 if name == "bfc" else 0), 1500)
            self.assertTrue(scheme.pipe and scheme.pipe.rate == first.pps)
            assert scheme.pipe
            # Only PFC with stop stops, and it is the only one that never drops at
            # an egress of limited length.
            self.assertEqual(scheme.pipe.stall > 0, name == "pfc-stop")
            limited = "egress-max" in scheme.switch
            self.assertEqual(limited, name in ("pfc-drop", "capfc-max", "capfc-cal"))
            self.assertEqual("strict 2" in scheme.switch, name != "bfc")
        with self.assertRaises(UsageError):
            exp_capfc.scheme("pfc-maybe", first, exp_capfc.DEDICATED, 10)
        equal = exp_capfc.scheme("pfc-drop", exp_capfc.SCENARIOS[5], exp_capfc.DEDICATED, 10)
        self.assertNotIn("strict", equal.switch)

    def test_flows(self) -> None:
        e = exp_capfc.EXPERIMENTS[0]
        ctx = Context(e, e.settings(True, ["ms=1000"]), 1, Path("."), 1, "", "")
        flows = exp_capfc.make_flows(ctx, exp_capfc.SCENARIOS[3], 8, 2)
        kinds: Dict[str, List[workload.Flow]] = {}
        for f in flows:
            kinds.setdefault(f.group, []).append(f)
        for kind, size, count in (("long", 10**6, 1000), ("short", 64_000, 1000)):
            self.assertEqual({f.size for f in kinds[kind]}, {size})
            self.assertLess(abs(len(kinds[kind]) / count - 1), 0.15)
        queries: Dict[int, List[workload.Flow]] = {}
        for f in kinds["query"]:
            queries.setdefault(f.incast, []).append(f)
        self.assertLess(abs(len(queries) - 100), 30)
        for some in queries.values():
            self.assertEqual(len({f.src for f in some}), 40)
            self.assertEqual({(f.size, f.dst, f.start) for f in some},
                             {(32_000, some[0].dst, some[0].start)})
        self.assertEqual({f.dscp for f in flows}, {0, 8, 16})
        self.assertEqual([f.start for f in flows], sorted(f.start for f in flows))


class Schemes(unittest.TestCase):
    def test_all_names(self) -> None:
        for name in schemes.NAMES:
            s = schemes.make(name)
            self.assertEqual(s.name, name)
            # A full frame with its tag is a packet: the formula counts those.
            tag = 4 if s.tagged else 0
            self.assertEqual(s.mtu + 14 + tag, schemes.PACKET)

    def test_unknown(self) -> None:
        with self.assertRaises(ValueError):
            schemes.make("tcp")

    def test_schemes_of_papers_say_how_flows_get_queues(self) -> None:
        """A paper's scheme is what it is, whatever the module's default becomes."""
        for name in schemes.NAMES:
            s = schemes.make(name)
            for qdisc in (s.nic, s.switch):
                words = f"{qdisc} "
                if " fc none " in words or schemes.WITHOUT_TURNS in words:
                    self.assertIn(" assign ", words, name)
            if "dynamic" in name:
                self.assertIn(" assign dynamic", s.switch, name)

    def test_table_grows_with_the_queues_of_a_port(self) -> None:
        s = schemes.bfc(32, nic_queues=8, table=10, options="resume drained")
        self.assertIn(" queues 32 ", s.switch)
        self.assertIn(" flows 320 resume drained", s.switch)
        self.assertIn(" queues 8 ", s.nic)
        self.assertTrue(s.nic.endswith(" flows 80"))
        self.assertNotIn("flows", schemes.bfc().switch)

    def test_a_variant_changes_one_thing(self) -> None:
        base = set(exp_choices.variant("base", 32).switch.split())
        for name in exp_choices.VARIANTS:
            s = exp_choices.variant(name, 32)
            self.assertEqual(s.name, name)
            changed = set(s.switch.split()) ^ base
            self.assertEqual(not changed, name in ("base", "nic-8", "nic-128"), name)

    def test_every_scheme_is_documented(self) -> None:
        page = (EVAL.parent / "docs" / "evaluation.md").read_text(encoding="utf-8")
        for name in schemes.NAMES:
            self.assertIn(f"`{name}`", page)

    def test_assign_can_be_another_one(self) -> None:
        """In experiments that take no schemes."""

        def context(e: Experiment, *changes: str) -> Context:
            return Context(e, e.settings(False, changes), 1, Path(), 1, "", "")

        (fig28,) = [e for e in exp_variants.EXPERIMENTS if e.name == "bfc-fig28"]
        (choices,) = exp_choices.EXPERIMENTS
        for s in exp_variants.tables(context(fig28)):
            self.assertNotIn("assign", s.switch)
        for s in exp_variants.tables(context(fig28, "assign=dynamic")):
            for qdisc in (s.nic, s.switch):
                self.assertTrue(qdisc.endswith(" assign dynamic"), qdisc)
        words = assigning(context(choices, "assign=dynamic"))
        for name in exp_choices.VARIANTS:
            plain = exp_choices.variant(name, 32)
            other = exp_choices.variant(name, 32, assign=words)
            for qdisc in (other.nic, other.switch):
                self.assertEqual(f"{qdisc} ".count(" assign "), 1, qdisc)
            if " assign " in f"{plain.switch} ":
                self.assertEqual(other, plain)
            else:
                self.assertEqual(other.switch, f"{plain.switch} assign dynamic")
        for e in (fig28, choices):
            self.assertEqual(assigning(context(e)), "")
            with self.assertRaisesRegex(UsageError, "assign: fair is not one of dest"):
                e.run(context(e, "assign=fair"))

    def test_large_pieces_only_where_the_qdisc_cuts_them(self) -> None:
        for name, gso in (
            ("bfc", True),
            ("ideal-fq-open", True),
            ("ideal-fq", False),
            ("pfifo-open", False),
            ("bfc-dctcp", False),
        ):
            self.assertEqual(schemes.make(name).gso, gso, name)
        self.assertFalse(replace(schemes.make("bfc"), offload=False).gso)

    def test_slow_start_is_all_that_differs(self) -> None:
        """Where TCP starts, and where its slow start ends, is left to Linux."""
        jobs = [
            Job("a", topology.line(), schemes.make(name), [], 1)
            for name in ("dctcp", "dctcp-ss")
        ]
        texts = [describe(job) for job in jobs]
        self.assertIn(" initcwnd 105 rto-min 1\n", texts[0])
        self.assertNotIn("initcwnd", texts[1])
        self.assertEqual(texts[0].replace(" initcwnd 105", ""), texts[1])
        words = [options(job) for job in jobs]
        self.assertIn(" --ssthresh 105", words[0])
        self.assertEqual(words[0].replace(" --ssthresh 105", ""), words[1])


class Hpcc(unittest.TestCase):
    """HPCC's hosts, and what is seen of its runs."""

    def job(self, name: str) -> Job:
        rate = 25 * topology.GBIT
        return Job(
            name="a",
            topology=topology.star(3, rate=rate),
            scheme=hpcc.make(name, rate, 9000, 2, 80),
            flows=[],
            until=1,
        )

    def test_options(self) -> None:
        job = self.job("hpcc-rx")
        lines = describe_hpcc(job).splitlines()
        self.assertEqual(lines[0], "hops 2")
        # Ethernet, IPv4, TCP with time stamps, and two hops
        self.assertEqual(
            lines[1],
            "rate 25gbit rtt 9000ns wai 80 eta 950 react both headers 86 rx-rate",
        )
        self.assertEqual(lines[2:], [STAMP])
        # All ports of the switch, none of the hosts
        stamping = [t for t in describe(job).splitlines() if t.endswith(STAMP)]
        self.assertEqual([t.split()[1] for t in stamping], ["s", "s", "s"])
        self.assertIn(" initcwnd 28 rto-min 1 quickack 1\n", describe(job))
        self.assertNotIn("--ssthresh", options(job))

    def test_dctcp_differs_in_marks(self) -> None:
        with_int, dctcp = self.job("hpcc").scheme, self.job("dctcp").scheme
        self.assertEqual(dctcp.switch, with_int.switch)
        self.assertEqual(describe(self.job("dctcp")).count(" ecn 75000b\n"), 3)
        self.assertNotIn(" ecn ", describe(self.job("hpcc")))
        self.assertEqual(dctcp.nic, with_int.nic)
        self.assertEqual(dctcp.header, with_int.header - 20)
        self.assertEqual(dctcp.mtu, with_int.mtu)
        with self.assertRaises(ValueError):
            self.job("swift")

    def test_queues_on_the_networks_of_bfc(self) -> None:
        """Paths of three switches, and frames as long as with other schemes."""
        for name, words in (
            ("hpcc", "bfc fc none queues 1 assign single "),
            ("hpcc-sfq", "bfc fc none queues 32 assign stochastic "),
            ("hpcc-dqa", "bfc fc none queues 32 assign dynamic "),
        ):
            s = schemes.make(name)
            self.assertTrue(s.switch.startswith(words), s.switch)
            self.assertEqual(s.header, schemes.make("dctcp").header + 4 + 3 * 8)
            self.assertEqual(s.window, 106_250)

    def test_jain(self) -> None:
        self.assertAlmostEqual(hpcc.jain([3, 3, 3]), 1)
        self.assertAlmostEqual(hpcc.jain([3, 0, 0]), 1 / 3)
        self.assertEqual(hpcc.jain([0, 0]), 0)

    def test_swings(self) -> None:
        self.assertEqual(swings([0, 50, 20, 3, 1, 2, 0, 1], 5), 0)
        self.assertEqual(swings([0, 50, 0, 20, 0, 4, 0, 5, 0], 5), 2)


class Samples(unittest.TestCase):
    def test_a_sample_that_was_cut_off(self) -> None:
        for rest in ("30,s,5/0/9,7/0", "30,s,5/0/9,", "30,s,5/0/9,7/0/1"):
            with tempfile.TemporaryDirectory() as name:
                path = Path(name) / "samples"
                path.write_text(f"10,s,1/0/2,3/0/4\n20,s,5/0/6,7/0/8\n{rest}")
                s = read_samples(path)["s"]
            self.assertEqual(list(s.time), [10, 20])
            self.assertEqual(s.backlog.tolist(), [[1, 3], [5, 7]])
            self.assertEqual(s.sent.tolist(), [[2, 4], [6, 8]])


class Batches(unittest.TestCase):
    def job(self, name: str, mem: int) -> Job:
        return Job(
            name, topology.line(), schemes.make("bfc"), [], 1_000_000, mem=mem
        )

    def test_small_runs_share_a_machine(self) -> None:
        small = [self.job(f"s{i}", SMALL) for i in range(BATCH + 1)]
        large = [self.job(f"l{i}", SMALL + 1) for i in range(2)]
        sizes = [len(b) for b in batches([*small, *large, *small[:2]])]
        self.assertEqual(sizes, [BATCH, 1, 1, 1, 2])

    def test_options_have_three_lines(self) -> None:
        job = self.job("a", SMALL)
        self.assertEqual(len(options(job).splitlines()), 3)
        job.samples = (1, 2, 3)
        self.assertTrue(options(job).startswith("1 2 3\n"))


class Settings(unittest.TestCase):
    experiment = Experiment(
        "e", "", lambda ctx: {}, {"a": 1, "b": [1.0], "c": "x"}, {"a": 5}
    )

    def test_values_keep_their_type(self) -> None:
        got = self.experiment.settings(True, ["b=2,3", "c=y"])
        self.assertEqual(got, {"a": 5, "b": [2.0, 3.0], "c": "y"})

    def test_errors(self) -> None:
        for change in ("d=1", "a", "a=x", "b=1,x"):
            with self.assertRaises(UsageError):
                self.experiment.settings(False, [change])


class Programs(unittest.TestCase):
    """The C programs refuse bad input in words."""

    def refuse(self, command: List[str], text: str, wanted: str) -> None:
        with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
            file.write(text)
            file.flush()
            words = [file.name if w == "FILE" else w for w in command]
            words[0] = str(BUILD / words[0])
            done = subprocess.run(words, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 2, (text, done.stderr))
        self.assertIn(wanted, done.stderr)

    def test_topology(self) -> None:
        two = "node a\nnode b\n"
        for text, wanted in (
            ("", "no nodes"),
            ("host a\n", ':1: what is "host"?'),
            ("node a\nnode a\n", ':2: a second node "a"'),
            ("node a/b\n", "is not a name"),
            ("node a b\n", 'only "forward"'),
            ("node\n", "name is missing"),
            ("link a e0 b e0\n", 'no node "a" above'),
            (two + "link a e0 b\n", "port is missing"),
            (two + "link a e0 b e0 rate 5\n", "is not a number from 10000"),
            (two + "link a e0 b e0 delay -1\n", "is not a number"),
            (two + "link a e0 b e0 speed 5\n", 'what is "speed"?'),
            (two + "link a e0 b e0 kind tin\n", "neither wire nor veth"),
            (two + "link a e0 b e0\nlink a e0 b e1\n", "a second port"),
            (two + "addr a e0 1.2.3.4/32\n", 'no port "e0" of a'),
            (two + "link a e0 b e0\naddr a e0 1.2.3/32\n", "not an IPv4 address"),
            (two + "link a e0 b e0\naddr a e0 1.2.3.4/8\n", "is not ADDRESS/32"),
            (two + "link a e0 b e0\nroute a 1.2.3.4/8 e0\n", "beyond the prefix"),
            (two + "link a e0 b e0\nroute a 1.0.0.0/33 e0\n", "prefix length"),
            (two + "link a e0 b e0\nroute a 1.0.0.0/8 e0 mtu 1\n", 'what is "mtu"?'),
            (
                two + "link a e0 b e0\nroute a 1.0.0.0/8 e0 quickack 2\n",
                "is not a number from 0 to 1",
            ),
            ("node a\npipe a delay 5\n", "rate is missing"),
            ("node a\npipe a\n", "rate is missing"),
            ("node a\npipe a rate 0\n", "is not a number from 1 to"),
            ("node a\npipe a rate 5 stall 2000000000\n", "is not a number from 0"),
            ("node a\npipe a rate 5 speed 5\n", 'what is "speed"?'),
            ("pipe a rate 5\n", 'no node "a" above'),
            ("node a\nsysctl a kernel/x 1\n", "is not net/"),
            ("node a\nsysctl a net/../x 1\n", "is not net/"),
            ("node a\ntc a\n", "what to tell tc is missing"),
            ("node " + "x" * 40 + "\n", "is not a name"),
            ("node a " + "w " * 70 + "\n", "more than 64 words"),
        ):
            self.refuse(["evaltopo", "-n", "FILE"], text, wanted)
        self.refuse(["evaltopo", "-x", "FILE"], "node a\n", "usage:")

    def test_topology_good(self) -> None:
        t = topology.clos(2, 2, 2)
        with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
            file.write(t.describe("bfc role nic", "bfc", "ring 1 mtu 982"))
            file.flush()
            done = subprocess.run(
                [str(BUILD / "evaltopo"), "-n", file.name],
                capture_output=True,
                text=True,
                check=False,
            )
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertTrue(done.stdout.startswith("8 nodes, 8 links"), done.stdout)

    def test_flows(self) -> None:
        good = "flow a 10.0.0.1 b 10.0.0.2 1000 0\n"
        for text, wanted in (
            ("", "no flows"),
            ("flow a 10.0.0.1 b 10.0.0.2 1000\n", ":1: a line is: flow SRC"),
            ("flow a 10.0.0.1 a 10.0.0.2 1000 0\n", "sends to itself"),
            ("flow a 10.0.0.1 b 10.0.0 1000 0\n", "not an IPv4 address"),
            ("flow a 10.0.0.1 b 10.0.0.2 0 0\n", "BYTES"),
            ("flow a 10.0.0.1 b 10.0.0.2 1e3 0\n", "BYTES"),
            ("flow a 10.0.0.1 b 10.0.0.2 1000 x\n", "START"),
            ("flow a 10.0.0.1 b 10.0.0.2 1000 9\n" + good, ":2: starts before"),
            ("flow a/b 10.0.0.1 b 10.0.0.2 1000 0\n", "is not the name of a host"),
        ):
            self.refuse(
                ["evalflow", "--flows", "FILE", "--out", "/dev/null", "--source", "open"],
                text,
                wanted,
            )

    def test_options(self) -> None:
        good = "flow a 10.0.0.1 b 10.0.0.2 1000 0\n"
        base = ["evalflow", "--flows", "FILE", "--out", "/dev/null"]
        cases: List[Tuple[List[str], str]] = [
            ([], "usage:"),
            (["--source", "rfc1149"], "is not open, window or tcp"),
            (["--source", "open", "--packet", "9"], "packet"),
            (["--source", "open", "--until", "soon"], "until"),
            (["--source", "open", "--header", "60"], "leaves no room"),
            (["--source", "open", "extra"], "usage:"),
            (["--source", "open"], "no host a"),
        ]
        for more, wanted in cases:
            self.refuse(base + more, good, wanted)
        self.refuse(["evalstat", "dance"], "", "usage:")
        self.refuse(["evalstat", "clock", "x"], "", "is not a number")


class Data(unittest.TestCase):
    def test_peers_table_has_our_bins(self) -> None:
        with open(EVAL / "data" / "fb60" / "fb60_ns3.csv", newline="") as file:
            bins = {row["bin"] for row in csv.DictReader(file)}
        self.assertIn("bytes:<=1KB", bins)
        self.assertIn("bytes:>1MB", bins)


if __name__ == "__main__":
    if not (BUILD / "evalflow").exists():
        sys.exit("build the programs first: make -C eval/net")
    unittest.main()
