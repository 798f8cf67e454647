#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""What one processor and what two carry through a port with two TX queues.

In a machine with two processors, for selftests/bench/run.sh:

  cores.py PASSES MS [NAME...]: MS milliseconds for each measurement, PASSES of all; with
      NAMEs only these, and mq-fq_codel

  bench cores-burst-NAME flows=N one=M two=M scaling=R ratio_mq_fq_codel=R
  bench cores-standing-NAME flows=N one=M two=M scaling=R ratio_mq_fq_codel=R
      enqueue and dequeue alone, of packets that have a hash, in bursts that find the queues
      empty and leave them so, or while a backlog stands (cores.c); millions of packets a
      second
  bench cores-pktgen-NAME one=M two=M scaling=R ratio_mq_fq_codel=R
      pktgen's, a thread for each processor, of 64 flows each, through the stack to a dummy
      device; nothing is queued, so that fq_codel is passed by without an enqueue

one, two: processors; scaling: two / one; ratio_mq_fq_codel: two, by what mq-fq_codel had in the
same pass. All are medians over the passes. bfc-tags has a neighbour: packets come with
upstreamQs, are counted if their queue is over Th, and leave with one. NAME-one-lock has one
qdisc for both TX queues, for pktgen only.
"""

import json
import os
import statistics
import subprocess
import sys
from collections import defaultdict
from functools import partial
from pathlib import Path
from typing import Callable, DefaultDict, Dict, List, NoReturn, Tuple

os.environ["TC_LIB_DIR"] = str(Path(__file__).resolve().parents[2] / "build/tc")
RUN = Path("/sys/module/test_cores/parameters/run")
PKTGEN = Path("/proc/net/pktgen")
PEER = "mq-fq_codel"
# As in inside.sh: room enough that nothing is dropped
FQ_CODEL = "fq_codel limit 40000 memory_limit 128Mb target 10s interval 100s"
QDISCS = {
    PEER: "mq",
    "bfc-none": "bfc fc none limit 128m",
    "bfc-tags": "bfc fc bfc peer on limit 128m",
    "fq_codel-one-lock": FQ_CODEL,
    "bfc-tags-one-lock": "bfc fc bfc peer on limit 128m txqs one",
}
FLOWS = (32, 1024)
CORES = (1, 2)

# by measurement and NAME: of each pass, what one processor and what two carried
Results = DefaultDict[Tuple[str, str], List[Tuple[float, ...]]]


def fail(text: str) -> NoReturn:
    sys.exit(f"bench: {text}")


def call(command: str) -> str:
    done = subprocess.run(command.split(), capture_output=True, text=True, check=False)
    if done.returncode:
        fail(f"{command}: {done.stderr.strip()}")
    return done.stdout


def put(name: str) -> None:
    """A new root qdisc on cores0"""
    call(f"tc qdisc replace dev cores0 root handle 1: {QDISCS[name]}")
    if name == PEER:
        for txq in (1, 2):
            call(f"tc qdisc replace dev cores0 parent 1:{txq} {FQ_CODEL}")


def clear() -> None:
    call("tc qdisc del dev cores0 root")


def statistic(name: str) -> int:
    """The sum of both TX queues of cores0"""
    shown = json.loads(call("tc -s -j qdisc show dev cores0"))
    return sum(q.get(name, 0) for q in shown if q.get("root"))


def qdisc_alone(name: str, cores: int, how: str, flows: int, ms: int) -> float:
    tagged = name == "bfc-tags"
    put(name)
    try:
        RUN.write_text(f"cores0 {cores} {flows} {ms} {how}{' cores1' if tagged else ''}")
    except OSError as error:
        fail(f"{name}: {error.strerror}")
    if tagged and not (statistic("tagged_tx") and statistic("counted")):
        fail(f"{name}: nothing was tagged or counted")
    clear()
    return sum(int(n) for n in RUN.read_text().split()) / ms / 1e3


def pktgen(file: str, *lines: str) -> None:
    for line in lines:
        try:
            (PKTGEN / file).write_text(line + "\n")
        except OSError as error:
            fail(f"pktgen: {line}: {error.strerror}")


def through_stack(name: str, cores: int, ms: int) -> float:
    put(name)
    for core in range(cores):
        first = 1 + 64 * core
        pktgen(f"kpktgend_{core}", "rem_device_all", f"add_device cores0@{core}")
        # Some 400 in a millisecond
        pktgen(f"cores0@{core}", "pkt_size 1000", f"count {400 * ms}", "clone_skb 0",
               "delay 0", "dst 10.0.2.1", "dst_mac 02:00:00:00:00:01",
               "flag UDPSRC_RND", f"udp_src_min {first}", f"udp_src_max {first + 64}",
               "xmit_mode queue_xmit", f"queue_map_min {core}", f"queue_map_max {core}")
    pktgen("pgctrl", "start")
    rate = 0.0
    for core in range(cores):
        shown = (PKTGEN / f"cores0@{core}").read_text()
        # Of one qdisc for both a thread may be told that the other has its packet.
        if "pps" not in shown or not ("errors: 0" in shown or name.endswith("one-lock")):
            fail(f"pktgen, {name}: {shown}{call('tc -s qdisc show dev cores0')}")
        rate += int(shown.split("pps")[0].split()[-1]) / 1e6
        pktgen(f"kpktgend_{core}", "rem_device_all")
    clear()
    return rate


def make_ports() -> None:
    for module in ("sch_bfc", "test_cores"):
        call(f"modprobe {module}")
    for dev in ("cores0 numtxqueues 2", "cores1"):
        call(f"ip link add {dev} type dummy")
        call(f"ip link set {dev.split()[0]} up")
    # The port where tagged packets come in
    call("tc qdisc add dev cores1 root bfc fc bfc peer on")
    # Each processor sends through a TX queue of its own.
    for core in range(2):
        Path(f"/sys/class/net/cores0/queues/tx-{core}/xps_cpus").write_text(str(1 << core))


def remove_ports() -> None:
    for dev in ("cores0", "cores1"):
        call(f"ip link del {dev}")


def report(key: str, results: Results) -> None:
    for name in QDISCS:
        own, peer = results[key, name], results[key, PEER]
        if not own:
            continue
        one, two, scaling, ratio = (statistics.median(values) for values in (
            [r[0] for r in own], [r[1] for r in own], [r[1] / r[0] for r in own],
            [a[1] / b[1] for a, b in zip(own, peer)]))
        kind, *flows = key.split()
        print(" ".join(["bench", f"cores-{kind}-{name}", *flows, f"one={one:.3g}",
                        f"two={two:.3g}", f"scaling={scaling:.2f}",
                        f"ratio_mq_fq_codel={ratio:.2f}"]))


def main(passes: int, ms: int, only: List[str]) -> None:
    if os.cpu_count() != len(CORES):
        fail("this needs two processors")
    make_ports()
    measurements: Dict[str, Callable[[str, int], float]] = {
        f"{how} flows={flows}": partial(qdisc_alone, how=how, flows=flows, ms=ms)
        for how in ("burst", "standing") for flows in FLOWS}
    measurements["pktgen"] = partial(through_stack, ms=ms)
    results: Results = defaultdict(list)
    for _ in range(passes):
        for key, measure in measurements.items():
            for name in QDISCS:
                one_lock = name.endswith("one-lock") and "flows" in key
                if not one_lock and (not only or name in only or name == PEER):
                    results[key, name].append(tuple(measure(name, cores) for cores in CORES))
    remove_ports()
    for key in measurements:
        report(key, results)


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit("usage: cores.py PASSES MS [NAME...]")
    main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:])
