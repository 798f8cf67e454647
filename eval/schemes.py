# SPDX-License-Identifier: GPL-2.0
"""Schemes: what the ports run and how the flows are sent.

Sizes are those of frames on the wire, so the header that is taken off a packet
depends on the scheme: only BFC's frames carry a tag.
"""

import re
from dataclasses import dataclass, replace
from typing import Dict, Optional, Tuple

PACKET = 1000
ETHERNET, TAG, IP_UDP, IP_TCP = 14, 4, 28, 52  # TCP with time stamps
# 100 Gbit/s x 8.34 us: the base round trip of 8 us and the serialization of a
# packet and of its ACK on four hops. With less, a lone flow has 96 % of its link.
BDP = 105_000  # bytes
LIMIT = "64Mb"  # of a switch port's memory: more than is ever used


@dataclass(frozen=True)
class Pipe:
    """The ingress pipeline of each switch (lab/wire/wire_pipe.c)."""

    rate: int  # packets/s
    delay: int  # ns
    buffer: int  # bytes of a port's priority
    xoff: int = 0
    xon: int = 0
    stall: int = 0

    def describe(self) -> str:
        return (
            f"rate {self.rate} delay {self.delay} buffer {self.buffer} "
            f"xoff {self.xoff} xon {self.xon} stall {self.stall}"
        )


@dataclass(frozen=True)
class Hpcc:
    """HPCC at hosts, and INT at switches (bfcctl(8), hpcc on)."""

    rate: int  # bit/s of hosts' links
    rtt: int  # T, ns
    hops: int = 1  # switches of the longest path: what packets have room for
    flows: int = 100  # for W_AI
    wai: Optional[int] = None  # bytes, instead
    eta: int = 950  # thousandths
    react: str = "both"
    rx: bool = False

    @property
    def window(self) -> int:
        """W_init, bytes"""
        return self.rate * self.rtt // 8_000_000_000

    @property
    def option(self) -> int:
        """Bytes of TCP's option"""
        return 4 + 8 * self.hops

    def describe(self, headers: int) -> str:
        """Arguments of hpcc on. headers: of a full frame, bytes."""
        increase = f"flows {self.flows}" if self.wai is None else f"wai {self.wai}"
        return (
            f"rate {self.rate / 1e9:g}gbit rtt {self.rtt}ns {increase} eta {self.eta} "
            f"react {self.react} headers {headers}"
        ) + (" rx-rate" if self.rx else "")


@dataclass(frozen=True)
class Delay:
    """The delay-based control that BFC may be combined with (BFC App. A.1, Alg. 1)."""

    rate: int  # bit/s of hosts' links
    rtt: int  # of the empty network, ns
    target: int = 2500  # thousandths of it

    def describe(self, packet: int) -> str:
        """Parameters of module bfc_simcc. packet: bytes of a full frame."""
        return (
            f"base_ns={self.rtt} rate={self.rate // 8} "
            f"factor={self.target} packet={packet}"
        )


# What is under way at most, of those whose control is a rate: nothing says, the rate
# itself x T, and the link's.
UNBOUNDED, VARIABLE, FIXED = range(3)


@dataclass(frozen=True)
class Rated:
    """TIMELY and DCQCN: rates of their own (lab/simcc/simcc_rate.c), with the values of
    HPCC's simulator, which grow with the links.
    """

    rate: int  # bit/s of hosts' links
    rtt: int  # T, ns
    window: int = UNBOUNDED
    least: int = 10**9  # bit/s
    more: str = ""  # other parameters of module bfc_simcc

    def describe(self, packet: int) -> str:
        """Parameters of module bfc_simcc. packet: bytes of a full frame."""
        least = min(self.least, self.rate)
        return (
            f"base_ns={self.rtt} rate={self.rate // 8} packet={packet} "
            f"window={self.window} min_rate={least // 8} {self.more}"
        ).strip()


@dataclass(frozen=True)
class Scheme:
    name: str
    nic: str  # qdisc of hosts
    switch: str  # qdisc of switch ports
    marks: int = 0  # ECN there: from so many bytes for each Gbit/s of the port on
    ramp: int = 0  # and a share that grows up to RAMP at so many times that; 0: all
    source: str = "open"  # open, window or tcp
    congestion: str = ""  # tcp: congestion control
    window: int = BDP
    bounded: bool = False  # tcp: window is also the most
    slow_start: bool = False  # tcp: from Linux' own initial window of 10 packets
    rto: int = 1_000_000  # ns, source window
    rto_min: int = 1  # ms, source tcp
    handshake: int = 50_000  # ns that a connection needs, source tcp
    ecn: bool = False  # tcp: ECN of RFC 3168, whatever the congestion control
    packet: int = PACKET  # bytes of a full frame
    quickack: bool = False  # tcp: an ACK for every packet
    sack: bool = True  # tcp: selective acknowledgements
    back: bool = False  # tcp: go-back-N, without SACK and with a control of bfc_simcc
    hpcc: Optional[Hpcc] = None  # tcp: windows, with congestion bfc_window
    delay: Optional[Delay] = None  # tcp: windows, with congestion bfc_delay
    rated: Optional[Rated] = None  # tcp: with congestion bfc_timely or bfc_dcqcn
    pipe: Optional[Pipe] = None
    tagged: bool = False
    deaf_hosts: bool = False  # they do not speak BFC, the switches do
    incast_dscp: int = 0  # label of an incast's flows
    offload: bool = True  # open: large pieces, where the NIC's qdisc cuts them
    label: str = ""

    @property
    def header(self) -> int:
        return (
            ETHERNET
            + (IP_TCP if self.source == "tcp" else IP_UDP)
            + (TAG if self.tagged else 0)
            + (self.hpcc.option if self.hpcc else 0)
        )

    @property
    def module(self) -> Optional[str]:
        """Parameters of module bfc_simcc, where it is needed."""
        if not self.congestion.startswith("bfc_"):
            return None
        control = self.delay or self.rated
        words = control.describe(self.packet) if control else ""
        return f"{words} gbn={int(self.back)}".strip()

    @property
    def mtu(self) -> int:
        """So that a full frame, with its tag, has as many bytes: the quantum of
        DRR and the floor of Th follow from it.
        """
        return self.packet - ETHERNET - (TAG if self.tagged else 0)

    @property
    def gso(self) -> bool:
        """A host's bfc cuts all at enqueue (Topology.describe()). Elsewhere a piece
        of 64 KB would be served as one packet.
        """
        return (
            self.offload and self.source == "open" and self.nic.startswith("bfc")
        )


def bfc(
    queues: int = 32,
    nic_queues: int = 0,
    hrtt: str = "2us",
    options: str = "",
    limit: str = LIMIT,
    table: int = 0,
    name: str = "bfc",
    label: str = "BFC",
) -> Scheme:
    """hrtt: two propagation delays. The default sticky time, twice that, then
    exceeds the real pause loop, which has serialization in it. table: entries of
    the flow table for each queue.
    """

    def port(count: int, more: str, options: str) -> str:
        flows = f"flows {table * count} " if table else ""
        return f"queues {count} hrtt {hrtt} {more} {flows}{options}".strip()

    # Hosts count nothing, so that there is nothing to resume.
    of_nic = re.sub(r"\bresume \w+ *", "", options)

    return Scheme(
        name=name,
        label=label,
        nic="bfc role nic " + port(nic_queues or queues, "limit 1Gb", of_nic),
        switch="bfc " + port(queues, f"limit {limit}", options),
        tagged=True,
    )


# How a flow gets its queue, where queues have turns; the module's default first.
ASSIGN = ("destination", "root", "dynamic", "stochastic", "single")

# BFC as published: resume when drained, any empty queue, one place in the flow
# table for each flow, plain round robin; and how a flow gets its queue.
WITHOUT_TURNS = "resume drained avoid-paused off ways 1"
RULES = f"{WITHOUT_TURNS} new-first off"
PAPER = f"{RULES} assign dynamic"
# Hosts of schemes without BFC: NICs serve their flows in turn, as with BFC.
FAIR_NIC = "bfc fc none assign dynamic queues 1024 flows 65536 limit 1Gb"
IDEAL = f"{FAIR_NIC} new-first off"  # the paper's: plain round robin

# Which queue a flow joins that finds none empty, where queues are served by remaining size: the
# paper leaves it open (BFC App. A.2).
SRF_JOINS = {
    "bfc-srf-random": ("sched srf assign dynamic", "BFC-SRF, joins any"),
    "bfc-srf": ("sched srf", "BFC-SRF, by destination"),
    "bfc-srf-similar": ("sched srf assign similar", "BFC-SRF, similar size"),
    "bfc-srf-paper": (f"{WITHOUT_TURNS} assign dynamic sched srf", "BFC-SRF, paper's rules"),
}


# HPCC on BFC's networks: queues of a port, by scheme (BFC §6.2.2, §6.3).
HPCC_QUEUES = {
    "hpcc": ("queues 1 assign single new-first off", "HPCC"),
    "hpcc-sfq": ("queues {queues} assign stochastic new-first off", "HPCC + SFQ"),
    "hpcc-dqa": ("queues {queues} assign dynamic new-first off", "HPCC + dynamic queues"),
}
INCAST_DSCP = 46
HPCC_T = 8500  # ns: what BDP stands for, and a bit


def hpcc(name: str = "hpcc", queues: int = 32, eta: int = 950) -> Scheme:
    """name: one of HPCC_QUEUES. eta: thousandths."""
    options, label = HPCC_QUEUES[name]
    control = Hpcc(rate=100 * 10**9, rtt=HPCC_T, hops=3, eta=eta)
    return Scheme(
        name=name,
        label=label,
        nic=FAIR_NIC,
        switch=f"bfc fc none {options.format(queues=queues)} limit {LIMIT}",
        source="tcp",
        congestion="bfc_window",
        window=control.window,
        quickack=True,
        hpcc=control,
    )


def labelled(scheme: Scheme, name: str, label: str) -> Scheme:
    """Flows of incasts have a label, and a queue of each switch port in common (BFC
    App. A.7).
    """
    return replace(
        scheme,
        name=name,
        label=label,
        switch=f"{scheme.switch} incast dscp:{INCAST_DSCP}",
        incast_dscp=INCAST_DSCP,
    )


def without_nics(scheme: Scheme, name: str, window: int, label: str) -> Scheme:
    """Hosts serve their flows in turn and obey no pause (BFC App. A.8). window: bytes of a
    flow in flight at most; 0: any number.
    """
    return replace(
        scheme,
        name=name,
        label=label,
        nic=FAIR_NIC,
        deaf_hosts=True,
        source="window" if window else "open",
        window=window,
        rto=10_000_000_000,  # buffers suffice: nothing is lost
    )


def red(kmin: int) -> str:
    """Marks between kmin and four times that, KB: 100 and 400 in BFC §6.2.1; 20 %
    there, as in HPCC's simulator.
    """
    # A burst of min / avpkt packets makes RED's average follow the queue within two
    # packets. bandwidth is for the average's decay in an empty queue only, and tc
    # takes no more than 34 Gbit/s.
    return (
        f"red limit 12000000 min {kmin}000 max {4 * kmin}000 avpkt 1000 "
        f"burst {kmin} probability 0.2 bandwidth 30gbit ecn"
    )


# RDMA's congestion controls, with rates: HPCC §5.1.
RATED = {
    "dcqcn": "DCQCN",
    "dcqcn-win": "DCQCN + win",
    "timely": "TIMELY",
    "timely-win": "TIMELY + win",
}


def rated(name: str) -> Scheme:
    """name: one of RATED. DCQCN's marks are those of DCTCP (BFC §6.2.1)."""
    control, _, win = name.partition("-")
    return Scheme(
        name=name,
        label=RATED[name],
        nic=FAIR_NIC,
        switch=(
            red(100)
            if control == "dcqcn"
            else f"bfc fc none queues 1 assign single new-first off limit {LIMIT}"
        ),
        source="tcp",
        congestion=f"bfc_{control}",
        quickack=True,
        rated=Rated(100 * 10**9, HPCC_T, VARIABLE if win else UNBOUNDED),
    )


def dctcp(slow_start: bool = False, kmin: int = 100) -> Scheme:
    """kmin: of red()."""
    return Scheme(
        name="dctcp-ss" if slow_start else "dctcp",
        label="DCTCP + slow start" if slow_start else "DCTCP",
        nic=FAIR_NIC,
        switch=red(kmin),
        source="tcp",
        congestion="dctcp",
        slow_start=slow_start,
    )


def delay_based(
    scheme: Scheme, rate: int = 100 * 10**9, rtt: int = BDP * 8 // 100
) -> Scheme:
    """BFC (CC): a scheme of BFC with windows from the round-trip time. Nothing is
    lost, and packets may be paused for long: a time-out would be wrong. rate, rtt:
    of Delay.
    """
    return replace(
        scheme,
        name=f"{scheme.name}-cc",
        label=f"{scheme.label} (CC)",
        source="tcp",
        congestion="bfc_delay",
        quickack=True,
        rto_min=200,
        delay=Delay(rate=rate, rtt=rtt),
    )


MORE_QUEUES = ("bfc-128", "bfc-128-dynamic", "bfc-256", "bfc-1024")
# Linux' congestion controls over BFC.
BELOW_TCP = (
    "bfc-dctcp",
    "bfc-cubic",
    "bfc-128-cubic",
    "bfc-dynamic-cubic",
    "bfc-128-dynamic-cubic",
)


def make(
    name: str,
    queues: int = 32,
    hrtt: str = "2us",
    nic_queues: int = 0,
    limit: str = LIMIT,
) -> Scheme:
    """A scheme by its name, as --set schemes=... has it. limit: of BFC's ports."""
    simple: Dict[str, Tuple[str, str]] = {
        "bfc": ("", "BFC"),
        "bfc-paper": (PAPER, "BFC, paper's rules"),
        "bfc-drained": ("resume drained", "BFC, resume drained"),
        "bfc-prefix": ("dst-prefix 26", "BFC, shares of 64 addresses"),
        "bfc-root": ("assign root", "BFC, shares by root"),
        "bfc-dynamic": ("assign dynamic", "BFC, without shares"),
        "bfc-any": ("assign dynamic avoid-paused off", "BFC, any empty queue"),
        "stochastic": (f"{RULES} assign stochastic", "BFC + stochastic"),
        "single": (f"{RULES} assign single", "BFC + single"),
        **SRF_JOINS,
    }
    if name in simple:
        options, label = simple[name]
        return bfc(queues, nic_queues, hrtt, options, limit, name=name, label=label)
    if name in ("bfc-sample50", "bfc-sample10"):
        share = name[len("bfc-sample") :] + "%"
        return bfc(
            queues, nic_queues, hrtt, f"sample {share}", limit, name=name,
            label=f"BFC, {share} sampled",
        )
    if name in ("bfc-label", "bfc-label-dynamic"):
        below = make("bfc" + name[len("bfc-label") :], queues, hrtt, nic_queues, limit)
        return labelled(below, name, f"{below.label}, incast labelled")
    if name in ("bfc-no-nic", "bfc-no-nic-open", "bfc-no-nic-dynamic"):
        under = "bfc-dynamic" if name.endswith("dynamic") else "bfc"
        below = make(under, queues, hrtt, nic_queues, limit)
        window = 0 if name.endswith("open") else BDP
        how = "one BDP" if window else "no window"
        return without_nics(below, name, window, f"{below.label}, hosts without: {how}")
    if name == "bfc-window":
        # what the window alone makes of it
        return replace(
            make("bfc", queues, hrtt, nic_queues, limit), name=name,
            label="BFC, one BDP", source="window", rto=10_000_000_000,
        )
    if name == "bfc-hrtt":
        return bfc(queues, nic_queues, "auto", "", limit, name=name, label="BFC, HRTT measured")
    if name in MORE_QUEUES:
        many = int(name.split("-")[1])
        options, label = "", f"BFC {many}"
        if name.endswith("dynamic"):
            options, label = "assign dynamic", f"{label}, without shares"
        # NICs of 63, so that the handles suffice for 128 hosts
        return bfc(many, 63, hrtt, options, limit, name=name, label=label)
    if name in ("ideal-fq", "ideal-fq-open"):
        ideal = Scheme(
            name=name,
            label="Ideal-FQ",
            nic=IDEAL,
            switch=IDEAL,
            source="window",
            rto=10_000_000_000,  # nothing is lost: never
        )
        if name == "ideal-fq":
            return ideal
        return replace(ideal, source="open", label="FQ, no window")
    if name in ("ideal-srf", "ideal-srf-open"):
        bounded = name == "ideal-srf"
        return replace(
            make("ideal-fq" if bounded else "ideal-fq-open"),
            name=name,
            label="Ideal-SRF" if bounded else "SRF, no window",
            nic=f"{FAIR_NIC} sched srf",
            switch=f"{FAIR_NIC} sched srf",
        )
    if name in ("dctcp", "dctcp-ss"):
        return dctcp(name == "dctcp-ss")
    if name in HPCC_QUEUES:
        return hpcc(name, queues)
    if name in RATED:
        return rated(name)
    if name in ("bfc-cc", "bfc-dynamic-cc", "bfc-paper-cc"):
        return delay_based(make(name[:-3], queues, hrtt, nic_queues, limit))
    if name == "fq_codel":
        return Scheme(
            name=name,
            label="fq_codel, CUBIC",
            nic=FAIR_NIC,
            switch="fq_codel limit 12000 quantum 1000",
            source="tcp",
            congestion="cubic",
        )
    if name == "pfifo":
        return Scheme(
            name=name,
            label="pfifo, CUBIC",
            nic=FAIR_NIC,
            switch="pfifo limit 12000",
            source="tcp",
            congestion="cubic",
        )
    if name == "pfifo-open":
        # Room for everything: nothing holds the sources back.
        return Scheme(
            name=name,
            label="pfifo, no control",
            nic="pfifo limit 10000000",
            switch="pfifo limit 10000000",
        )
    if name == "pfifo-gbn":
        return Scheme(
            name=name,
            label="pfifo, go-back-N",
            nic=FAIR_NIC,
            switch="pfifo limit 12000",
            source="window",
        )
    if name in BELOW_TCP:
        under, _, congestion = name.rpartition("-")
        below = make(under, queues, hrtt, nic_queues, limit)
        return replace(
            below,
            name=name,
            label=f"{congestion.upper()} over {below.label}",
            source="tcp",
            congestion=congestion,
        )
    raise ValueError(f"no scheme {name}; there are {', '.join(NAMES)}")


NAMES = (
    "bfc",
    "bfc-paper",
    "bfc-drained",
    "bfc-prefix",
    "bfc-root",
    "bfc-hrtt",
    "bfc-dynamic",
    "bfc-any",
    "bfc-sample50",
    "bfc-sample10",
    "bfc-label",
    "bfc-label-dynamic",
    "bfc-no-nic",
    "bfc-no-nic-open",
    "bfc-no-nic-dynamic",
    "bfc-window",
    *MORE_QUEUES,
    "bfc-cc",
    "bfc-dynamic-cc",
    "bfc-paper-cc",
    "stochastic",
    "single",
    "ideal-fq",
    "ideal-fq-open",
    *SRF_JOINS,
    "ideal-srf",
    "ideal-srf-open",
    "dctcp",
    "dctcp-ss",
    "hpcc",
    "hpcc-sfq",
    "hpcc-dqa",
    *RATED,
    "fq_codel",
    "pfifo",
    "pfifo-open",
    "pfifo-gbn",
    *BELOW_TCP,
)
