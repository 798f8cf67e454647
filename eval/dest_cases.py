# SPDX-License-Identifier: GPL-2.0
"""Where queues run short: the cases of exp_dest.py, each a network, flows and which of
these are to share the fate of an incast.
"""

import random
from dataclasses import dataclass, replace
from typing import Callable, Dict, FrozenSet, List, Optional, Tuple

from clos_runs import INCAST_BYTES, INCAST_EVERY, data_center
from exp_control import mice_and_elephants
from exp_fafc_clos import WINDOW, make_flows, network
from exp_fafc_clos import full as fafc_full
from exp_fafc_clos import params as fafc_params
from experiment import Context, Value
from schemes import PACKET, Scheme, delay_based, make
from topology import GBIT, US, Topology, clos
from workload import (
    Distribution,
    Flow,
    all_pairs,
    incasts_together,
    one_of,
    open_loop,
    spread,
)

FACEBOOK, GOOGLE = "fb-hadoop-bfc", "google"
SCHEMES = ("bfc", "bfc-dynamic", "bfc-paper", "bfc-128", "ideal-fq")
SPRAYED = 0  # number of the "incast" that flows are which fill a link on purpose


@dataclass
class Work:
    """What is to be simulated."""

    topology: Topology
    flows: List[Flow]  # by start
    duration: int  # ns in which flows start
    # Groups of flows that go where it is congested; none: those that begin while an
    # incast to the same host is under way.
    toward: FrozenSet[str] = frozenset()


Build = Callable[[Context, bool, int], Work]  # of a seed's context; full; ns
Adapt = Callable[[str, int], Scheme]  # of a scheme's name and the queues of a port


@dataclass(frozen=True)
class Case:
    title: str
    build: Build
    ms: float  # of the full size
    quick_ms: float
    queues: int = 32
    quick_queues: int = 32
    adapt: Adapt = make
    timeout: int = 3600  # s of the host


# ---- incasts on BFC's Clos ----

FULL, QUICK = (8, 16, 8), (4, 8, 4)
OVER, SMALL_OVER = (8, 16, 4), (4, 8, 2)  # 4:1
Size = Tuple[int, int, int]


def incast_case(
    degree: int,
    sizes: str = FACEBOOK,
    load: float = 0.55,
    full: Size = FULL,
    quick: Size = QUICK,
) -> Build:
    """The flows that bfc-fig9, 11 and 13 have with the same seed. degree: of incasts
    on a network with 64 links to the core.
    """

    def build(ctx: Context, big: bool, duration: int) -> Work:
        size = full if big else quick
        rng = ctx.rng("clos", load, 0.05, 0, degree)
        flows = data_center(
            rng, size, Distribution.load(sizes), load, duration, 0.05, degree
        )
        return Work(clos(*size), flows, duration)

    return build


def together_case(together: int, degree: int) -> Build:
    """So many incasts at once, to hosts of one rack, each of degree senders and 20 MB
    (of the full network); so rarely that they are 5 % as well.
    """

    def build(ctx: Context, big: bool, duration: int) -> Work:
        racks, per_rack, spines = FULL if big else QUICK
        scale = racks * spines / (FULL[0] * FULL[2])
        rng = ctx.rng("together", together, degree)
        load = 100 * racks * spines * 0.55
        hosts = racks * per_rack
        flows = open_loop(
            rng, Distribution.load(FACEBOOK), all_pairs(hosts), load, duration
        )
        flows += incasts_together(
            rng,
            (racks, per_rack),
            together,
            max(2, round(degree * scale)),
            round(INCAST_BYTES * scale),
            INCAST_EVERY * together,
            duration,
        )
        return Work(
            clos(racks, per_rack, spines), spread(rng, flows, spines), duration
        )

    return build


# ---- Fig. 15: mice beside elephants ----


def mice_case(elephants: int, size: Size, settle: float) -> Build:
    """The flows that bfc-fig15 has with the same seed. settle: ms before the mice."""

    def build(ctx: Context, big: bool, duration: int) -> Work:
        del big
        values: Dict[str, Value] = {
            "clos": list(size),
            "settle": settle,
            "ms": duration / 1e6,
        }
        flows = mice_and_elephants(replace(ctx, params=values), elephants, 0)
        return Work(clos(*size), flows, flows[-1].start, frozenset({"direct"}))

    return build


# ---- FAFC's Clos, over DCTCP ----


def fafc_case(sizes: str) -> Build:
    def build(ctx: Context, big: bool, duration: int) -> Work:
        values = fafc_params(sizes, duration / 1e6, "dctcp")
        if big:
            values.update(fafc_full(duration / 1e6, 1))
        ctx = replace(ctx, params=values)
        return Work(network(ctx), make_flows(ctx, 0), duration)

    return build


def over_dctcp(name: str, queues: int) -> Scheme:
    """All schemes have the same senders: DCTCP's, of which none is told by marks."""
    return replace(
        make(name, queues),
        source="tcp",
        congestion="dctcp",
        window=WINDOW,
        bounded=True,
    )


# ---- variants of the schemes on Fig. 11's flows ----


def with_control(name: str, queues: int) -> Scheme:
    """Fig. 16: delay-based control over BFC; Ideal-FQ has a window anyway."""
    scheme = make(name, queues)
    return replace(delay_based(scheme), name=name) if scheme.tagged else scheme


def with_table(times: int) -> Adapt:
    """Fig. 28: entries of the flow table for each queue."""

    def port(qdisc: str) -> str:
        words = qdisc.split()
        queues = int(words[words.index("queues") + 1])
        return f"{qdisc} flows {times * queues}"

    def adapt(name: str, queues: int) -> Scheme:
        scheme = make(name, queues)
        if not scheme.tagged:
            return scheme
        return replace(scheme, nic=port(scheme.nic), switch=port(scheme.switch))

    return adapt


# ---- one host against all others ----

ADDRESSES = 256  # of each host


def spray_network(obedient: bool) -> Topology:
    """p0 ... at sw1, q0 ... at sw2, and r0 ... behind a slow link at sw3. p0 is the
    sprayer; one that does not obey has no bfc at its NIC.
    """
    t = Topology(planes=ADDRESSES)
    for name in ("sw1", "sw2", "sw3"):
        t.switch(name)
    for prefix, switch in (("p", "sw1"), ("q", "sw2"), ("r", "sw3")):
        for i in range(8):
            t.host(f"{prefix}{i}")
            t.link(f"{prefix}{i}", switch)
    t.link("sw1", "sw2")
    t.link("sw2", "sw3", rate=25 * GBIT, delay=US)
    if not obedient:
        t.nodes[t.hosts[t.number("p0")]].nic = "pfifo limit 10000000"
    return t


def sprayed(
    rng: random.Random, t: Topology, count: int, total: int, start: int, spoof: bool
) -> List[Flow]:
    """p0 opens so many flows at once, to all addresses of r0 ...; from all of its own,
    if it spoofs.
    """
    source = t.number("p0")
    sinks = [t.number(f"r{i}") for i in range(8)]
    return [
        Flow(
            source,
            rng.choice(sinks),
            total // count,
            start + rng.randrange(1000),
            incast=SPRAYED,
            plane=rng.randrange(ADDRESSES),
            ack_plane=rng.randrange(ADDRESSES) if spoof else 0,
            group="spray",
        )
        for _ in range(count)
    ]


def beside(
    rng: random.Random, senders: List[int], t: Topology, duration: int
) -> List[Flow]:
    """To q0 ... and to r0 ..., where it is congested: Facebook's flows and, since in
    a few ms these are few, mice.
    """
    facebook = Distribution.load(FACEBOOK)
    mice = Distribution([(PACKET, 0), (PACKET, 1)])
    flows: List[Flow] = []
    for prefix, group, sizes, rate in (  # Gbit/s
        ("q", "elsewhere", facebook, 35),
        ("q", "elsewhere", mice, 5),
        ("r", "toward", facebook, 4),
        ("r", "toward", mice, 1),
    ):
        sinks = [h for h in range(len(t.hosts)) if t.name(h).startswith(prefix)]
        draw = one_of([(s, d) for s in senders for d in sinks])
        for flow in open_loop(rng, sizes, draw, rate, duration, sigma=0):
            flow.group = group
            flows.append(flow)
    return flows


def spray_case(spoof: bool = False, obedient: bool = True) -> Build:
    """p1 ... send to q0 ... over the link that the sprayer fills, and to r0 ..."""

    def build(ctx: Context, big: bool, duration: int) -> Work:
        t = spray_network(obedient)
        rng = ctx.rng("spray", spoof, obedient)
        flows = beside(rng, [t.number(f"p{i}") for i in range(1, 8)], t, duration)
        # What the sprayer's link carries meanwhile.
        total = round(duration * 12.5)
        count = 4000 if big else 1000
        flows += sprayed(rng, t, count, total, duration // 20, spoof)
        flows.sort(key=lambda f: f.start)
        return Work(t, flows, duration, frozenset({"toward"}))

    return build


# ---- a full link between two switches ----

BEHIND = 64  # hosts r0 ..., of which prefix 26 makes one destination
SENDERS = 8


def chain_network() -> Topology:
    """p0 ... at sw1, q0 ... at sw2, and r0 ... at sw3, behind a slow link."""
    t = Topology()
    for name in ("sw1", "sw2", "sw3"):
        t.switch(name)
    for prefix, switch, count in (
        ("r", "sw3", BEHIND),  # first: their addresses are a prefix
        ("q", "sw2", SENDERS),
        ("p", "sw1", SENDERS),
    ):
        for i in range(count):
            t.host(f"{prefix}{i}")
            t.link(f"{prefix}{i}", switch)
    t.link("sw1", "sw2")
    t.link("sw2", "sw3", rate=25 * GBIT, delay=US)
    return t


def chain_case(ctx: Context, big: bool, duration: int) -> Work:
    """Each of p0 ... opens a flow to each of r0 ... at once: together they fill the slow
    link as long as others begin, and none of r0 ... is a bottleneck.
    """
    del big
    t = chain_network()
    rng = ctx.rng("chain")
    senders = [t.number(f"p{i}") for i in range(SENDERS)]
    flows = beside(rng, senders, t, duration)
    total = duration * 25 // 8
    flows += [
        Flow(
            source,
            t.number(f"r{i}"),
            total // (SENDERS * BEHIND),
            duration // 20 + rng.randrange(1000),
            incast=SPRAYED,
            group="full",
        )
        for source in senders
        for i in range(BEHIND)
    ]
    flows.sort(key=lambda f: f.start)
    return Work(t, flows, duration, frozenset({"toward"}))


OPEN_BYTES, OPEN_RATE = 50_000, 30.0  # of a flow; Gbit/s of all: 1.2 times the link's


def chain_open_case(ctx: Context, big: bool, duration: int) -> Work:
    """The same, but these flows begin one after the other, from any to any."""
    del big
    t = chain_network()
    rng = ctx.rng("chain-open")
    senders = [t.number(f"p{i}") for i in range(SENDERS)]
    sinks = [t.number(f"r{i}") for i in range(BEHIND)]
    flows = beside(rng, senders, t, duration)
    draw = one_of([(s, d) for s in senders for d in sinks])
    size = Distribution([(OPEN_BYTES, 0), (OPEN_BYTES, 1)])
    for flow in open_loop(rng, size, draw, OPEN_RATE, duration, sigma=0):
        flow.incast = SPRAYED
        flow.group = "full"
        flows.append(flow)
    flows.sort(key=lambda f: f.start)
    return Work(t, flows, duration, frozenset({"toward"}))


# ---- full links to a rack ----

HOT, QUICK_HOT = (4, 32, 4), (4, 8, 2)  # prefix 26 covers the rack and an idle one


def hot_case(ctx: Context, big: bool, duration: int) -> Work:
    """Each host of other racks opens a flow to each of rack 0 at once, which together fill
    all links from the spines to it as long as others begin: the links are the roots, and
    no host.
    """
    size = HOT if big else QUICK_HOT
    racks, per_rack, spines = size
    rng = ctx.rng("hot")
    hosts = range(racks * per_rack)
    hot, others = hosts[:per_rack], hosts[per_rack:]
    total = round(duration * spines * 12.5)
    count = len(hot) * len(others)
    flows = [
        Flow(
            source,
            sink,
            total // count,
            duration // 20 + rng.randrange(1000),
            incast=SPRAYED,
            group="full",
        )
        for source in others
        for sink in hot
    ]
    facebook = Distribution.load(FACEBOOK)
    mice = Distribution([(PACKET, 0), (PACKET, 1)])
    elsewhere = [
        (s, d) for s in others for d in others if s // per_rack != d // per_rack
    ]
    toward = [(s, d) for s in others for d in hot]
    for group, pairs, sizes, rate in (  # Gbit/s
        ("elsewhere", elsewhere, facebook, 35 * spines),
        ("elsewhere", elsewhere, mice, 5 * spines),
        ("toward", toward, facebook, 4 * spines),
        ("toward", toward, mice, spines),
    ):
        for flow in open_loop(rng, sizes, one_of(pairs), rate, duration, sigma=0):
            flow.group = group
            flows.append(flow)
    return Work(
        clos(*size), spread(rng, flows, spines), duration, frozenset({"toward"})
    )


def against_rude(name: str, queues: int) -> Scheme:
    """No window holds the sprayer back. Its NIC does not cut large pieces."""
    if name == "ideal-fq":
        return replace(make("ideal-fq-open"), name=name, label="Ideal-FQ", offload=False)
    return replace(make(name, queues), offload=False)


CASES: Dict[str, Case] = {
    "fig13-400": Case("incasts of 400", incast_case(400), 2.0, 0.4, quick_queues=8),
    "two": Case("two incasts of 200 into a rack", together_case(2, 200), 2.0, 0.3, 32, 8),
    "four": Case("four incasts of 200 into a rack", together_case(4, 200), 2.0, 0.3, 32, 8),
    "spray": Case("one host to 2048 addresses", spray_case(), 2.0, 0.4),
    "spoof": Case("the same from 256", spray_case(spoof=True), 2.0, 0.4),
    "rude": Case(
        "the same, and obeys no pause",
        spray_case(spoof=True, obedient=False),
        2.0,
        0.4,
        adapt=against_rude,
    ),
    "chain": Case("a full link to 64 hosts", chain_case, 2.0, 0.4),
    "chain-open": Case(
        "the same, by flows that begin all the time", chain_open_case, 2.0, 0.4
    ),
    "hot": Case("full links to a rack of 32", hot_case, 1.0, 0.2),
    "fig15-4s": Case(
        "mice beside 4 elephants, 8 queues", mice_case(4, (3, 4, 2), 1), 2.0, 0.3, 8, 8
    ),
    "fig15-64s": Case(
        "mice beside 64, 8 queues", mice_case(64, (3, 4, 2), 1), 2.0, 0.3, 8, 8
    ),
    "fig15-64": Case("mice beside 64", mice_case(64, FULL, 10), 5.0, 0.1),
    "fig15-256": Case("mice beside 256", mice_case(256, FULL, 10), 5.0, 0.1),
    "fig16": Case(
        "incasts of 100, delay-based control",
        incast_case(100),
        2.0,
        0.3,
        adapt=with_control,
    ),
    "fig11": Case("incasts of 100", incast_case(100), 2.0, 0.3),
    "4to1": Case(
        "4:1, incasts of 100",
        incast_case(200, full=OVER, quick=SMALL_OVER),
        2.0,
        0.3,
    ),
    "4to1-90": Case(
        "4:1, 85 % and incasts of 100",
        incast_case(200, load=0.85, full=OVER, quick=SMALL_OVER),
        2.0,
        0.3,
    ),
    "256": Case(
        "256 hosts, incasts of 500",
        incast_case(250, full=(16, 16, 8)),
        2.0,
        0.3,
        timeout=7200,
    ),
    "fig13-10": Case("incasts of 10", incast_case(10), 2.0, 0.3),
    "fig13-1000": Case("incasts of 1000", incast_case(1000), 2.0, 0.3),
    "fig13-2000": Case("incasts of 2000", incast_case(2000), 2.0, 0.3, timeout=7200),
    "fig9": Case("Google's flows, incasts of 100", incast_case(100, GOOGLE), 1.0, 0.1),
    "fig28-1x": Case(
        "incasts of 100, flow table 1 x queues",
        incast_case(100),
        2.0,
        0.3,
        adapt=with_table(1),
    ),
    "fig28-10x": Case(
        "incasts of 100, flow table 10 x",
        incast_case(100),
        2.0,
        0.3,
        adapt=with_table(10),
    ),
    "fafc-fig8": Case(
        "FAFC's Clos, Google's flows, DCTCP",
        fafc_case(GOOGLE),
        1.0,
        0.2,
        adapt=over_dctcp,
    ),
    "fafc-fig9": Case(
        "FAFC's Clos, Hadoop's flows, DCTCP",
        fafc_case("fb-hadoop"),
        3.0,
        0.6,
        adapt=over_dctcp,
    ),
}


def seeded(ctx: Context, number: int) -> Context:
    """The context of one seed of several."""
    return replace(ctx, seed=ctx.seed + number)


def find(names: List[str]) -> Optional[str]:
    """The first that is no case."""
    return next((name for name in names if name not in CASES), None)
