# SPDX-License-Identifier: GPL-2.0
"""Networks: hosts, switches, links and the routes between them.

A network has *planes*. A host has one address per plane, and a switch with
several equally good next hops chooses by the plane of the destination: so a
flow's path is chosen once, by the program that picks its addresses (at random: flow
ECMP; from a file: the paths of another run), and its ACKs take the path
of the source address. Host number h has the address 10.PLANE.(h / 256).(h % 256).
"""

from collections import deque
from dataclasses import dataclass, field
from typing import Dict, List, Optional, Tuple

GBIT = 10**9
US = 1000  # ns
RAMP = "20%"  # of packets marked at the top of a ramp: Pmax in HPCC's simulator


@dataclass
class Node:
    name: str
    host: bool
    # Of switches: how many planes share a choice here. 1 next to the hosts;
    # one tier up, the number of choices below.
    stride: int = 1
    ports: List[int] = field(default_factory=list)  # of links
    nic: str = ""  # of a host: a qdisc that differs from the other hosts'


@dataclass
class Link:
    a: int  # node
    b: int
    port_a: str
    port_b: str
    rate: int  # bit/s
    delay: int  # ns


class Topology:
    def __init__(self, planes: int = 1) -> None:
        self.planes = planes
        self.nodes: List[Node] = []
        self.links: List[Link] = []
        self.hosts: List[int] = []  # host number -> node
        self._index: Dict[str, int] = {}
        self._distances: Dict[int, List[int]] = {}

    # ---- building ----

    def _node(self, name: str, host: bool, stride: int) -> int:
        if name in self._index:
            raise ValueError(f"a second node {name}")
        self._index[name] = len(self.nodes)
        self.nodes.append(Node(name, host, stride))
        return len(self.nodes) - 1

    def host(self, name: str) -> int:
        """Adds a host and returns its number among the hosts."""
        self.hosts.append(self._node(name, True, 1))
        return len(self.hosts) - 1

    def switch(self, name: str, stride: int = 1) -> str:
        self._node(name, False, stride)
        return name

    def link(self, a: str, b: str, rate: int = 100 * GBIT, delay: int = US) -> int:
        """Adds a link; ports are e0, e1, ... in the order of the links."""
        na, nb = self._index[a], self._index[b]
        ports = [f"e{len(self.nodes[n].ports)}" for n in (na, nb)]
        self.links.append(Link(na, nb, ports[0], ports[1], rate, delay))
        for n in (na, nb):
            self.nodes[n].ports.append(len(self.links) - 1)
            if self.nodes[n].host and len(self.nodes[n].ports) > 1:
                raise ValueError(f"host {self.nodes[n].name} has two links")
        self._distances.clear()
        return len(self.links) - 1

    # ---- asking ----

    def name(self, host: int) -> str:
        return self.nodes[self.hosts[host]].name

    def find(self, name: str) -> int:
        """The number of a node."""
        return self._index[name]

    def number(self, name: str) -> int:
        return self.hosts.index(self._index[name])

    def address(self, host: int, plane: int = 0) -> str:
        return f"10.{plane}.{host >> 8}.{host & 255}"

    def switches(self) -> List[str]:
        return [n.name for n in self.nodes if not n.host]

    def attentive(self, deaf_hosts: bool = False) -> List[str]:
        """Nodes without a host that has a qdisc of its own, and so perhaps no bfc, at
        any of their ports. deaf_hosts: no host speaks BFC.
        """
        deaf = {
            self._far(host, number)
            for host in self.hosts
            for number in self.nodes[host].ports
            if self.nodes[host].nic or deaf_hosts
        }
        return [n.name for i, n in enumerate(self.nodes) if i not in deaf]

    def _far(self, node: int, link: int) -> int:
        return self.links[link].a + self.links[link].b - node

    def port(self, node: str, peer: str) -> str:
        """The port of a node towards a neighbour."""
        n, p = self._index[node], self._index[peer]
        for number in self.nodes[n].ports:
            if self._far(n, number) == p:
                link = self.links[number]
                return link.port_a if link.a == n else link.port_b
        raise KeyError(f"no link {node} - {peer}")

    def _distance_to(self, target: int) -> List[int]:
        """Hops from every node to a node, through switches only."""
        known = self._distances.get(target)
        if known is not None:
            return known
        far = len(self.nodes) + 1
        dist = [far] * len(self.nodes)
        dist[target] = 0
        queue = deque([target])
        while queue:
            n = queue.popleft()
            for number in self.nodes[n].ports:
                m = self._far(n, number)
                if dist[m] == far:
                    dist[m] = dist[n] + 1
                    if not self.nodes[m].host:
                        queue.append(m)
        self._distances[target] = dist
        return dist

    def next_link(self, node: int, host: int, plane: int) -> Optional[int]:
        """The link by which a node reaches a host in a plane."""
        target = self.hosts[host]
        if node == target:
            return None
        # All hosts of a switch are behind the same next hops.
        edge = self._far(target, self.nodes[target].ports[0])
        if node == edge:
            return self.nodes[target].ports[0]
        dist = self._distance_to(edge)
        best = [
            number
            for number in self.nodes[node].ports
            if dist[self._far(node, number)] == dist[node] - 1
            and not self.nodes[self._far(node, number)].host
        ]
        if self.nodes[node].host:
            best = self.nodes[node].ports
        if not best:
            return None
        return best[plane // self.nodes[node].stride % len(best)]

    def path(self, src: int, dst: int, plane: int = 0) -> List[int]:
        """The links from one host to another."""
        node = self.hosts[src]
        links: List[int] = []
        while node != self.hosts[dst]:
            number = self.next_link(node, dst, plane)
            if number is None or len(links) > len(self.nodes):
                raise ValueError(f"no way from host {src} to host {dst}")
            links.append(number)
            node = self._far(node, number)
        return links

    # ---- the description for evaltopo ----

    def _prefixes(self, node: int, plane: int) -> List[Tuple[str, int]]:
        """Routes of a switch in a plane: prefixes, as few as may be."""
        bits = max(1, (len(self.hosts) - 1).bit_length())
        way = [self.next_link(node, h, plane) for h in range(len(self.hosts))]
        routes: List[Tuple[str, int]] = []

        def cover(first: int, size: int) -> None:
            ways = set(way[first : first + size])
            if not ways or ways == {None}:
                return
            if len(ways) == 1 and None not in ways:
                prefix = f"{self.address(first, plane)}/{32 - size.bit_length() + 1}"
                routes.append((prefix, next(w for w in ways if w is not None)))
                return
            cover(first, size // 2)
            cover(first + size // 2, size // 2)

        cover(0, 1 << bits)
        return routes

    def _port_of(self, node: int, link: int) -> str:
        return (
            self.links[link].port_a
            if self.links[link].a == node
            else self.links[link].port_b
        )

    def describe(
        self,
        nic: str,
        switch: str,
        link_options: str = "",
        route_options: str = "",
        host_sysctls: Tuple[Tuple[str, str], ...] = (),
        pipe: str = "",
        marks: int = 0,
        ramp: int = 0,
    ) -> str:
        """nic and switch: qdiscs of the ports of hosts and switches. pipe: the
        ingress pipeline of switches. marks: where they begin to mark, bytes for each
        Gbit/s of a port. ramp: all are marked from so many times that on, a share that
        grows up to RAMP below; 0: no ramp.
        """
        lines: List[str] = []
        for node in self.nodes:
            lines.append(f"node {node.name}" + ("" if node.host else " forward"))
        for link in self.links:
            lines.append(
                f"link {self.nodes[link.a].name} {link.port_a} "
                f"{self.nodes[link.b].name} {link.port_b} "
                f"rate {link.rate} delay {link.delay} {link_options}".rstrip()
            )
        for h, n in enumerate(self.hosts):
            name = self.nodes[n].name
            for plane in range(self.planes):
                lines.append(f"addr {name} e0 {self.address(h, plane)}/32")
            lines.append(f"route {name} 10.0.0.0/8 e0 {route_options}".rstrip())
            for path, value in host_sysctls:
                lines.append(f"sysctl {name} {path} {value}")
            if nic:
                own = self.nodes[n].nic or nic
                # The papers' hosts send frames.
                own += " split-gso on" if own.startswith("bfc") else ""
                lines.append(f"tc {name} qdisc replace dev e0 root {own}")
        for n, node in enumerate(self.nodes):
            if node.host:
                continue
            if pipe:
                lines.append(f"pipe {node.name} {pipe}")
            for plane in range(self.planes):
                for prefix, number in self._prefixes(n, plane):
                    lines.append(
                        f"route {node.name} {prefix} {self._port_of(n, number)}"
                    )
            for number in node.ports:
                ecn = marks * self.links[number].rate // GBIT
                lines.append(
                    f"tc {node.name} qdisc replace dev "
                    f"{self._port_of(n, number)} root {switch}"
                    + (f" ecn {ecn}b" if ecn else "")
                    + (f" kmax {ramp * ecn}b pmax {RAMP}" if ramp and ecn else "")
                )
        return "\n".join(lines) + "\n"


# ---- the networks of the papers ----


def line(switches: int = 1, delay: int = US, rate: int = 100 * GBIT) -> Topology:
    """h0 - s0 - s1 - ... - h1"""
    t = Topology()
    for h in range(2):
        t.host(f"h{h}")
    names = [t.switch(f"s{i}") for i in range(switches)]
    chain = ["h0", *names, "h1"]
    for a, b in zip(chain, chain[1:]):
        t.link(a, b, rate, delay)
    return t


def star(hosts: int, delay: int = US, rate: int = 100 * GBIT) -> Topology:
    """h0, h1, ... at one switch s; its port to hN is eN."""
    t = Topology()
    t.switch("s")
    for h in range(hosts):
        t.host(f"h{h}")
        t.link(f"h{h}", "s", rate, delay)
    return t


def dumbbell(pairs: int, delay: int = US, rate: int = 100 * GBIT) -> Topology:
    """Hosts h0 ... on the left and as many on the right of one link."""
    t = Topology()
    left, right = t.switch("left"), t.switch("right")
    for side, switch in enumerate((left, right)):
        for i in range(pairs):
            t.host(f"h{side * pairs + i}")
            t.link(f"h{side * pairs + i}", switch, rate, delay)
    t.link(left, right, rate, delay)
    return t


def fig6(
    groups: Tuple[int, int, int], delay: int = US, group3_delay: Optional[int] = None
) -> Topology:
    """BFC Fig. 6: groups 1 and 2 enter sw1, group 3 enters sw3, all meet in sw2.

    Every flow has a sender of its own: aN, bN and cN. group3_delay: that of
    the links of group 3 up to sw2.
    """
    t = Topology()
    for name in ("sw1", "sw2", "sw3"):
        t.switch(name)
    third = delay if group3_delay is None else group3_delay
    for count, prefix, switch, d in (
        (groups[0], "a", "sw1", delay),
        (groups[1], "b", "sw1", delay),
        (groups[2], "c", "sw3", third),
    ):
        for i in range(count):
            t.host(f"{prefix}{i}")
            t.link(f"{prefix}{i}", switch, delay=d)
    t.link("sw1", "sw2", delay=delay)
    t.link("sw3", "sw2", delay=third)
    for name in ("r1", "r2"):
        t.host(name)
        t.link(name, "sw2", delay=delay)
    return t


def _fill_racks(
    t: Topology, tors: List[str], per_rack: int, rate: int, delay: int = US, prefix: str = ""
) -> None:
    for r, tor in enumerate(tors):
        for i in range(per_rack):
            name = f"{prefix}h{r * per_rack + i}"
            t.host(name)
            t.link(name, tor, rate, delay)


def _leaf_spine(
    t: Topology,
    size: Tuple[int, int, int],
    host_rate: int = 100 * GBIT,
    core_rate: int = 100 * GBIT,
    core_delay: int = US,
    prefix: str = "",
) -> List[str]:
    """size: racks, hosts of each, spines. prefix: of all names. Returns the spines."""
    racks, per_rack, spines = size
    tors = [t.switch(f"{prefix}t{r}") for r in range(racks)]
    tops = [t.switch(f"{prefix}s{s}") for s in range(spines)]
    _fill_racks(t, tors, per_rack, host_rate, prefix=prefix)
    for tor in tors:
        for top in tops:
            t.link(tor, top, core_rate, core_delay)
    return tops


def clos(
    racks: int = 8,
    per_rack: int = 16,
    spines: int = 8,
    host_rate: int = 100 * GBIT,
    core_rate: int = 100 * GBIT,
    core_delay: int = US,
) -> Topology:
    """BFC §6.2.1: leaf and spine, a plane per spine. host_rate: of hosts' links,
    25 Gbit/s in FAFC §IV-B. core_rate, core_delay: of the others.
    """
    t = Topology(planes=spines)
    _leaf_spine(t, (racks, per_rack, spines), host_rate, core_rate, core_delay)
    return t


GATEWAYS = ("ga", "gb")


def two_centers(
    racks: int = 4,
    per_rack: int = 16,
    spines: int = 8,
    rate: int = 200 * GBIT,
    delay: int = 200 * US,
) -> Topology:
    """BFC App. A.9: two of the above, each with a gateway that has a link to all spines; rate,
    delay: of the link between the GATEWAYS. The first half of the hosts is of the first one.
    """
    t = Topology(planes=spines)
    for center, gateway in zip("ab", GATEWAYS):
        t.switch(gateway)
        for top in _leaf_spine(t, (racks, per_rack, spines), prefix=center):
            t.link(top, gateway)
    t.link(*GATEWAYS, rate, delay)
    return t


def pod(
    racks: int = 4,
    per_rack: int = 16,
    uplinks: int = 4,
    rate: int = 25 * GBIT,
    core_rate: int = 100 * GBIT,
    delay: int = US,
    core_delay: int = US,
) -> Topology:
    """HPCC §5.1's testbed: switches of racks, each with some links to the same switch
    above. rate, delay: of hosts' links. A plane for each pair of a link up and one
    down.
    """
    t = Topology(planes=uplinks * uplinks)
    tors = [t.switch(f"t{r}") for r in range(racks)]
    agg = t.switch("agg", stride=uplinks)
    _fill_racks(t, tors, per_rack, rate, delay)
    for tor in tors:
        for _ in range(uplinks):
            t.link(tor, agg, core_rate, core_delay)
    return t


def fafc_dumbbell(ha: int = 5, hb: int = 16, rate: int = 25 * GBIT) -> Topology:
    """FAFC Fig. 2 and §IV-A: HA1 ... at SW1, HB1 ..., HC1 and HC2 at SW2.

    The ports of SW2 are in the order of Fig. 3, where P5 and P6 go to the
    receivers HC1 and HC2, and P12 to SW1; port Pn is e(n - 1). Hosts' names are
    those of the paper in lower case.
    """
    t = Topology()
    sw1, sw2 = t.switch("sw1"), t.switch("sw2")
    for i in range(ha):
        t.host(f"ha{i + 1}")
        t.link(f"ha{i + 1}", sw1, rate)
    order = [t.name(t.host(f"hb{i + 1}")) for i in range(hb)]
    for where, name in ((4, "hc1"), (5, "hc2")):
        order.insert(where, t.name(t.host(name)))
    order.insert(11, sw1)
    for name in order:
        t.link(name, sw2, rate)
    return t


def fat_tree(ports: int = 8, up: int = 0, rate: int = 100 * GBIT) -> Topology:
    """Three tiers of switches with so many ports: ports^3 / 4 hosts. up: of the
    ports of a switch, those that lead up: half of them, if it is not given; with
    fewer each tier is oversubscribed, and there are fewer switches above.
    """
    half = ports // 2
    up = up or half
    if ports % 2 or ports < 4:
        raise ValueError("a fat tree needs switches with an even number of ports")
    if not 0 < up <= half:
        raise ValueError("at most half of the ports of a fat tree's switch lead up")
    t = Topology(planes=up * up)
    for pod in range(ports):
        for i in range(half):
            t.switch(f"e{pod}.{i}")
        for i in range(up):
            t.switch(f"a{pod}.{i}", stride=up)
    for core in range(up * up):
        t.switch(f"c{core}")
    for pod in range(ports):
        for edge in range(half):
            for i in range(half):
                number = (pod * half + edge) * half + i
                t.host(f"h{number}")
                t.link(f"h{number}", f"e{pod}.{edge}", rate)
            for agg in range(up):
                t.link(f"e{pod}.{edge}", f"a{pod}.{agg}", rate)
        for agg in range(up):
            for core in range(up):
                t.link(f"a{pod}.{agg}", f"c{agg * up + core}", rate)
    return t
