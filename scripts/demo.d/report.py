#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Table, picture and conclusion of scripts/demo.

report.py RAW OUT: reads what scripts/demo.d/run left in RAW, writes table.txt,
demo.svg and demo.png to OUT, and the table to stdout. Its last line says in
words what was measured.
"""

import csv
import json
import math
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Dict, List, Tuple

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402

# What to call a scheme, and what it does about congestion.
NAMES = {
    "pfifo_fast": ("pfifo_fast", "one queue, drops"),
    "fq_codel": ("fq_codel", "fair queues, drops"),
    "pfc": ("PFC", "one queue, all are paused"),
    "fafc": ("FAFC", "a queue for each port,\nports are paused"),
    "bfc-single": ("BFC single", "one queue, backpressure"),
    "bfc": ("BFC", "a queue for each flow,\nbackpressure"),
    "bfc-few-dynamic": ("BFC dynamic, few", "4 queues,\nshared by any flows"),
    "bfc-few": ("BFC, few", "4 queues,\nshared by destination"),
}
# These lose packets when there is congestion; the others pause.
LOSSY = ("pfifo_fast", "fq_codel")
# A processor busier than this delays packets more than the links do.
BUSY = 0.8

# Colours that stay apart for colour-blind readers (Okabe and Ito).
ORANGE, BLUE, GREEN, GREY = "#D55E00", "#0072B2", "#009E73", "#666666"


@dataclass
class Port:
    """A port over time, from sample.c."""

    time: List[float] = field(default_factory=list)  # s, 0 = group 1 begins
    backlog: List[int] = field(default_factory=list)  # bytes
    sent: List[int] = field(default_factory=list)  # bytes since the start


@dataclass
class Scheme:
    name: str
    ports: Dict[str, Port]
    done: List[float]  # s, finished transfers
    unfinished: List[float]  # s until the end of the measurement
    tcp: float  # Mbit/s, iperf3's clients together
    udp: float
    udp_lost: int  # packets
    udp_sent: int
    clients_failed: int
    drops: int
    pauses: int
    busy: float  # share of the processors' time

    @property
    def label(self) -> str:
        return NAMES[self.name][0]

    @property
    def times(self) -> List[float]:
        """Completion times; of unfinished transfers the least it can be."""
        return self.done + self.unfinished

    @property
    def mean(self) -> float:
        return sum(self.times) / len(self.times)

    @property
    def p99(self) -> float:
        return sorted(self.times)[math.ceil(0.99 * len(self.times)) - 1]

    @property
    def peak(self) -> int:
        return max(max(port.backlog) for port in self.ports.values())


def read_setup(path: Path) -> Dict[str, str]:
    pairs = (line.split("=", 1) for line in path.read_text().splitlines())
    return {name: value for name, value in pairs}


def read_iperf3(path: Path) -> Tuple[str, Dict[str, Any]]:
    """Protocol and totals as the receiver saw them; {} if there are none."""
    try:
        result = json.loads(path.read_text())
    except ValueError:
        return "", {}
    end = result.get("end", {})
    if "error" in result or not end:
        return "", {}
    proto = result["start"]["test_start"]["protocol"].lower()
    return proto, end["sum_received"]


def read_scheme(directory: Path) -> Scheme:
    done: List[float] = []
    unfinished: List[float] = []
    starts: List[float] = []
    for path in sorted(directory.glob("g1-*.txt")):
        for line in path.read_text().splitlines():
            words = line.split()
            starts.append(float(words[0]))
            (unfinished if len(words) > 2 else done).append(float(words[1]))
    if not starts:
        sys.exit(f"report: no transfers in {directory}")
    begin = min(starts)

    ports: Dict[str, Port] = {}
    with open(directory / "samples.csv", newline="", encoding="ascii") as file:
        for row in csv.DictReader(file):
            port = ports.setdefault(row["port"], Port())
            port.time.append(float(row["time"]) - begin)
            port.backlog.append(int(row["backlog"]))
            port.sent.append(int(row["sent"]))

    drops = pauses = 0
    with open(directory / "totals.csv", newline="", encoding="ascii") as file:
        for row in csv.DictReader(file):
            drops += int(row["drops"])
            pauses += int(row["pauses"])

    rate = {"tcp": 0.0, "udp": 0.0}
    lost = sent = failed = 0
    for path in sorted(directory.glob("g[23]-*.json")):
        proto, total = read_iperf3(path)
        if not total:
            failed += 1
            continue
        rate[proto] += total["bits_per_second"] * 1e-6
        if proto == "udp":
            lost += total["lost_packets"]
            sent += total["packets"]

    cpu = [int(word) for word in (directory / "cpu").read_text().split()]
    return Scheme(
        name=directory.name,
        ports=ports,
        done=done,
        unfinished=unfinished,
        tcp=rate["tcp"],
        udp=rate["udp"],
        udp_lost=lost,
        udp_sent=sent,
        clients_failed=failed,
        drops=drops,
        pauses=pauses,
        busy=(cpu[2] - cpu[0]) / max(1, cpu[3] - cpu[1]),
    )


def rate_over_time(port: Port, step: float, end: float) -> Tuple[List[float], List[float]]:
    """Mbit/s in steps from 0 to end, each at its middle."""
    times: List[float] = []
    rates: List[float] = []
    last_time, last_sent = 0.0, -1
    for time, sent in zip(port.time, port.sent):
        if time < 0 or time > end + 0.05:
            continue
        if last_sent < 0:
            last_time, last_sent = time, sent
        elif time - last_time >= step:
            times.append((time + last_time) / 2)
            rates.append((sent - last_sent) * 8e-6 / (time - last_time))
            last_time, last_sent = time, sent
    return times, rates


def mean_rate(port: Port, end: float) -> float:
    inside = [(t, s) for t, s in zip(port.time, port.sent) if 0 <= t <= end]
    (t0, s0), (t1, s1) = inside[0], inside[-1]
    return (s1 - s0) * 8e-6 / (t1 - t0)


def fair_share(setup: Dict[str, str]) -> float:
    """What max-min fairness gives group 1 in all, Mbit/s: what group 2, held
    back by its own bottleneck at receiver 2, leaves of the shared link."""
    rate = float(setup["RATE_MBIT"])
    n1, n2, n3 = (int(setup[f"GROUP{i}"]) for i in (1, 2, 3))
    return rate * max(1 - n2 / (n2 + n3), n1 / (n1 + n2))


def seconds(value: float) -> str:
    if value < 1:
        return f"{value * 1e3:.0f} ms"
    return f"{value:.1f} s"


def size(value: float) -> str:
    if value < 1e6:
        return f"{value / 1e3:.0f} KB"
    return f"{value / 1e6:.1f} MB"


def transfer_size(setup: Dict[str, str]) -> str:
    return f"{int(setup['BYTES']) // 1024} KB"


def at_least(scheme: Scheme, value: float) -> str:
    """Transfers that did not finish make mean and p99 lower bounds."""
    return ("> " if scheme.unfinished else "") + seconds(value)


def make_table(schemes: List[Scheme], setup: Dict[str, str]) -> List[str]:
    end = float(setup["SECONDS_EACH"])
    n1, n2, n3 = (int(setup[f"GROUP{i}"]) for i in (1, 2, 3))
    udp = int(setup["GROUP2_UDP"]) + int(setup["GROUP3_UDP"])
    head = [
        ["", "group 1:", "", "", "", "groups 2, 3:", "", "", "all ports:", "switches:", "all:"],
        ["", "Mbit/s", "transfers", "mean", "p99", "TCP", "UDP", "UDP lost", "drops",
         "peak queue", "pauses"],
    ]
    rows = [
        [
            s.label,
            f"{mean_rate(s.ports['sw2/r1'], end):.2f}",
            f"{len(s.done)}",
            at_least(s, s.mean),
            at_least(s, s.p99),
            f"{s.tcp:.2f}",
            f"{s.udp:.2f}",
            f"{100 * s.udp_lost / max(1, s.udp_sent):.1f} %",
            f"{s.drops}",
            size(s.peak),
            "-" if s.name in LOSSY else f"{s.pauses}",
        ]
        for s in schemes
    ]
    widths = [max(len(row[i]) for row in head + rows) for i in range(len(head[0]))]
    lines: List[str] = []
    for row in head + rows:
        cells = [row[0].ljust(widths[0])]
        cells += [cell.rjust(width) for cell, width in zip(row[1:], widths[1:])]
        lines.append("  ".join(cells).rstrip())
    lines.insert(2, "-" * max(len(line) for line in lines))
    lines += [
        "",
        f"All links {setup['RATE_MBIT']} Mbit/s. Group 1: {n1} senders, {transfer_size(setup)} by"
        f" TCP again and again; its fair share is {fair_share(setup):.2f} Mbit/s.",
        f"Groups 2 and 3: {n2} and {n3} long iperf3 flows, {udp} of them UDP offering"
        f" {setup['UDP_MBIT']} Mbit/s each. Rates in Mbit/s.",
        f"Each scheme for {end:.0f} s; processor busy"
        f" {100 * max(s.busy for s in schemes):.0f} % at most.",
    ]
    for s in schemes:
        if s.unfinished:
            lines.append(
                f"{s.label}: transfers not done when the measurement ended:"
                f" {len(s.unfinished)}. Mean and p99 take the time until then as their duration."
            )
        if s.clients_failed:
            lines.append(
                f"{s.label}: {s.clients_failed} iperf3 clients gave no result"
                " (their control connection failed)."
            )
    return lines


def conclusion(schemes: List[Scheme], setup: Dict[str, str]) -> str:
    """What was seen, in one line, from the numbers alone."""
    bfc = next(s for s in schemes if s.name == "bfc")
    few = next(s for s in schemes if s.name == "bfc-few")
    others = sorted((s for s in schemes if s not in (bfc, few)), key=lambda s: s.mean)
    got = mean_rate(bfc.ports["sw2/r1"], float(setup["SECONDS_EACH"]))
    ratios = []
    for s in others:
        time = at_least(s, s.mean) if s.done else f"not done after {seconds(s.mean)}"
        more = "more than " if s.unfinished else ""
        ratios.append(f"{more}{s.mean / bfc.mean:.1f} times as long with {s.label} ({time})")
    text = (
        f"Seen: with {bfc.label} the innocent group 1 got {got:.2f} of its fair"
        f" {fair_share(setup):.2f} Mbit/s, and its {transfer_size(setup)} transfers took"
        f" {seconds(bfc.mean)} (p99 {seconds(bfc.p99)}), {at_least(few, few.mean)} with"
        f" {setup['FEW_QUEUES']} queues for all flows of a port, but " + ", ".join(ratios) + "; "
    )
    lossy = ", ".join(f"{s.label} {s.drops}" for s in others if s.name in LOSSY)
    ports = ", ".join(
        f"{s.label} {s.drops}" for s in others if not (s.name in LOSSY or s.name.startswith("bfc"))
    )
    dropped = sum(s.drops for s in schemes if s.name.startswith("bfc"))
    text += (
        f"BFC dropped {dropped or 'no'} packets ({lossy}, {ports}) and never held more than"
        f" {size(bfc.peak)} at a switch port."
    )
    if others[0].mean < 1.1 * max(bfc.mean, few.mean) or dropped or bfc.unfinished:
        text += " This is NOT what BFC should do: something is wrong."
    if max(s.busy for s in schemes) > BUSY:
        text += " But this processor was too slow for it: do not trust the numbers."
    return text


def draw_topology(axes: Any, setup: Dict[str, str]) -> None:
    """Senders, switches and receivers, after BFC Fig. 6."""
    axes.set_xlim(0, 100)
    axes.set_ylim(0, 10)
    axes.axis("off")
    up, mid, low = 8.2, 5.0, 1.4
    xs = {"s": 13, "sw1": 29, "sw2": 51, "r": 69}

    def box(x: float, y: float, text: str, color: str, fill: str = "white") -> None:
        axes.text(x, y, text, ha="center", va="center", fontsize=9.5, color=color,
                  bbox={"boxstyle": "round,pad=0.35", "facecolor": fill, "edgecolor": color})

    def path(points: List[Tuple[float, float]], color: str) -> None:
        axes.plot([p[0] for p in points], [p[1] for p in points], color=color, lw=2.2,
                  solid_capstyle="round", zorder=0)

    path([(xs["s"], up), (xs["sw1"], 6.9), (xs["sw2"], 5.3), (xs["r"], up)], GREEN)
    path([(xs["s"], mid), (xs["sw1"], 6.3), (xs["sw2"], 4.7), (xs["r"], low)], ORANGE)
    path([(xs["s"], low), (xs["sw1"], 1.4), (xs["sw2"], 4.2), (xs["r"], low - 0.5)], BLUE)
    n = {i: setup[f"GROUP{i}"] for i in (1, 2, 3)}
    box(xs["s"], up, f"group 1: {n[1]} innocent flows", GREEN)
    box(xs["s"], mid, f"group 2: {n[2]} long flows", ORANGE)
    box(xs["s"], low, f"group 3: {n[3]} long flows", BLUE)
    box(xs["sw1"], 6.6, "switch 1", "black", "#eeeeee")
    box(xs["sw1"], 1.4, "switch 3", "black", "#eeeeee")
    box(xs["sw2"], mid, "switch 2", "black", "#eeeeee")
    box(xs["r"], up, "receiver 1", "black")
    box(xs["r"], low, "receiver 2", "black")
    axes.annotate("the bottleneck: groups 2 and 3\nwant more than this link carries",
                  xy=(61.5, 2.6), xytext=(73.5, 4.8), fontsize=10, va="center", color=GREY,
                  arrowprops={"arrowstyle": "->", "color": GREY})
    axes.annotate("the link that groups 1 and 2 share", xy=(40, 6.2), xytext=(40, 8.8), fontsize=10,
                  ha="center", va="center", color=GREY,
                  arrowprops={"arrowstyle": "->", "color": GREY})


def draw(schemes: List[Scheme], setup: Dict[str, str], out: Path) -> None:
    end = float(setup["SECONDS_EACH"])
    share = fair_share(setup)
    plt.rcParams.update({"font.size": 10, "svg.hashsalt": "demo", "axes.spines.top": False,
                         "axes.spines.right": False})
    columns = len(schemes)
    figure = plt.figure(figsize=(2.6 * columns + 0.8, 8.6))
    grid = figure.add_gridspec(3, columns, height_ratios=[0.8, 1.4, 1.4], hspace=0.28, wspace=0.1,
                               left=0.07, right=0.985, top=0.94, bottom=0.065)
    draw_topology(figure.add_subplot(grid[0, :]), setup)

    tops: List[Any] = []
    bottoms: List[Any] = []
    for i, s in enumerate(schemes):
        first = (tops[0], bottoms[0]) if tops else (None, None)
        top = figure.add_subplot(grid[1, i], sharex=first[0], sharey=first[0])
        bottom = figure.add_subplot(grid[2, i], sharex=top, sharey=first[1])
        tops.append(top)
        bottoms.append(bottom)
        top.set_title(s.label, fontweight="bold", fontsize=13, pad=32)
        top.text(0.5, 1.03, NAMES[s.name][1], transform=top.transAxes, ha="center", va="bottom",
                 color=GREY)

        for name, color, label in (("sw2/r2", BLUE, "switch 2 \N{RIGHTWARDS ARROW} receiver 2"),
                                   ("sw1/sw2", ORANGE, "switch 1 \N{RIGHTWARDS ARROW} switch 2")):
            port = s.ports[name]
            # An empty queue has no place on a logarithmic axis: one packet.
            top.plot(port.time, [max(1.5, b / 1e3) for b in port.backlog], color=color, lw=1.3,
                     label=label)
        top.set_yscale("log")
        top.text(0.5, 0.03, "no packet dropped" if not s.drops else f"{s.drops:,} packets dropped",
                 transform=top.transAxes, ha="center", va="bottom",
                 color="black" if not s.drops else "#CC0000", fontweight="bold")

        times, rates = rate_over_time(s.ports["sw2/r1"], 0.25, end)
        bottom.fill_between(times, rates, color=GREEN, alpha=0.35, lw=0)
        bottom.plot(times, rates, color=GREEN, lw=1.5)
        bottom.axhline(share, color="black", ls="--", lw=1)
        if s.done:
            text = f"{transfer_size(setup)} in {at_least(s, s.mean)}\np99 {at_least(s, s.p99)}"
        else:
            text = f"{transfer_size(setup)} not done\nafter {seconds(max(s.times))}"
        bottom.text(0.5, 0.96, text, transform=bottom.transAxes, ha="center", va="top",
                    fontsize=12, fontweight="bold")
        bottom.set_xlabel("time, s")
        top.tick_params(labelbottom=False)
        if i:
            top.tick_params(labelleft=False)
            bottom.tick_params(labelleft=False)
        for axes in (top, bottom):
            axes.grid(True, axis="y", color="#dddddd", lw=0.6)
            axes.set_axisbelow(True)

    tops[0].set_xlim(0, end)
    peak = max(s.peak for s in schemes) / 1e3
    tops[0].set_ylim(1.4, peak * 3)
    tops[0].yaxis.set_major_locator(matplotlib.ticker.LogLocator(numticks=10))
    tops[0].yaxis.set_major_formatter(matplotlib.ticker.FuncFormatter(
        lambda kb, _: f"{kb:g} KB" if kb < 1000 else f"{kb / 1000:g} MB"))
    tops[0].yaxis.set_minor_locator(matplotlib.ticker.NullLocator())
    tops[0].set_ylabel("queue at the port")
    tops[-1].legend(loc="upper right", frameon=False, fontsize=9)
    bottoms[0].set_ylim(0, float(setup["RATE_MBIT"]))
    bottoms[0].set_ylabel("throughput of group 1, Mbit/s")
    bottoms[0].annotate("its fair share", xy=(end * 0.98, share), xytext=(0, -3),
                        textcoords="offset points", ha="right", va="top")
    figure.suptitle("What congestion at receiver 2 does to flows that do not go there", fontsize=14,
                    fontweight="bold", y=0.985)
    # No date, so that the same data give the same file.
    figure.savefig(out / "demo.svg", metadata={"Date": None})
    figure.savefig(out / "demo.png", dpi=110, pil_kwargs={"optimize": True})


def main() -> int:
    if len(sys.argv) != 3:
        sys.exit("usage: report.py RAW OUT")
    raw, out = Path(sys.argv[1]), Path(sys.argv[2])
    setup = read_setup(raw / "setup")
    schemes = [read_scheme(raw / name) for name in setup["SCHEMES"].split()]
    table = make_table(schemes, setup)
    draw(schemes, setup, out)
    last = conclusion(schemes, setup)
    (out / "table.txt").write_text("\n".join(table + ["", last]) + "\n", encoding="utf-8")
    print("\n".join(["", *table, "", f"Picture: {out / 'demo.svg'}, {out / 'demo.png'}", last]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
