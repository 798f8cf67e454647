#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""A request for a bfc root qdisc, while the kernel finds no memory.

  nomem.py [--percpu] [BEFORE...] REQUEST
  nomem.py --unguarded DEV NS PEER

Each is what tc is told behind "tc qdisc", in the namespace of the caller. First only the first
allocation of the request fails, then only the second, and so on, until none is left to fail; then
the first and all after it, the second and all after it: so that kvmalloc() finds no pages either.
A request that is refused must have changed no qdisc of the namespace, and one that is not must
have done what it does where there is memory. Before each the root qdisc of the device is deleted,
and BEFORE done.

--percpu: before each what alloc_percpu() has set aside is used up, which has no allocation of its
own before. The eBPF program /shim/prog, for "stamp pinned", is one of this process.

--unguarded: makes a veth DEV to PEER in the namespace NS, and again as the next allocation fails,
until it comes without a guard (docs/trust.md).

Prints how many were refused and how many worked, of both kinds. Needs CONFIG_FAILSLAB,
CONFIG_FAIL_PAGE_ALLOC and CONFIG_FAULT_INJECTION_DEBUG_FS, and nl_shim.so.
"""
import ctypes
import errno
import os
import resource
import shlex
import socket
import struct
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Dict, List, NamedTuple, Optional, Tuple

TOP = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "selftests/tc"))
sys.dont_write_bytecode = True

from bfc_uapi import (RTM_NEWQDISC, TCA_KIND, TCA_OPTIONS, attr, attrs,  # noqa: E402
                      tc_message, u32)

RTM_DELQDISC, RTM_GETQDISC = 37, 38
RTM_NEWLINK, RTM_DELLINK = 16, 17
NLM_F_REQUEST, NLM_F_ACK, NLM_F_DUMP, NLM_F_EXCL, NLM_F_CREATE = 0x1, 0x4, 0x300, 0x200, 0x400
IFLA_IFNAME, IFLA_LINKINFO, IFLA_NET_NS_FD = 3, 18, 28
IFLA_INFO_KIND, IFLA_INFO_DATA, VETH_INFO_PEER = 1, 2, 1
NLMSG_ERROR, NLMSG_DONE = 2, 3
NO_MEMORY = (errno.ENOMEM, errno.ENOBUFS)
# As many fail one after the other at most: a page fault of this process is tried again until
# it finds a page.
MOST = 300
SHIM_FD = 77                            # of nl_shim.c
SYS_BPF = 321
BPF_MAP_CREATE, BPF_PROG_LOAD = 0, 5
ARRAY, PERCPU_ARRAY, SCHED_CLS = 2, 6, 3

libc = ctypes.CDLL(None, use_errno=True)
State = Dict[Tuple[int, int], Tuple[int, bytes, bytes]]


def bpf(command: int, attr: bytes) -> int:
    """A file descriptor, or -1 if there is no memory"""
    fd = int(libc.syscall(SYS_BPF, command, attr.ljust(128, bytes(1)), 128))
    if fd < 0 and ctypes.get_errno() != errno.ENOMEM:
        raise OSError(ctypes.get_errno(), "bpf")
    return fd


def load_program() -> None:
    """That of /shim/prog: r0 = 0, exit"""
    code = ctypes.create_string_buffer(bytes([0xb7] + 7 * [0] + [0x95] + 7 * [0]))
    name = ctypes.create_string_buffer(b"GPL")
    fd = bpf(BPF_PROG_LOAD, struct.pack("=IIQQ", SCHED_CLS, 2, ctypes.addressof(code),
                                        ctypes.addressof(name)))
    os.dup2(fd, SHIM_FD)


class Knobs:
    """Of fault injection: which allocations of this process fail."""

    def __init__(self) -> None:
        self.times = []
        for name in ("failslab", "fail_page_alloc"):
            top = Path("/sys/kernel/debug") / name
            for knob, value in {"ignore-gfp-wait": "N", "ignore-gfp-highmem": "N", "min-order": "0",
                                "task-filter": "Y", "interval": "1", "space": "0", "verbose": "0",
                                "probability": "100"}.items():
                if (top / knob).exists():
                    (top / knob).write_text(value, encoding="ascii")
            self.times.append(os.open(top / "times", os.O_WRONLY))
        self.fails = os.open("/proc/self/make-it-fail", os.O_WRONLY)
        self.nth = os.open("/proc/self/fail-nth", os.O_RDWR)

    def arm(self, nth: int, all_after: bool) -> None:
        # Where fail-nth counts, nothing else is asked, and no allocation fails before it is 0.
        # What it has fail counts as one of these times.
        for fd in self.times:
            os.write(fd, b"%d" % (MOST if all_after else 0))
        os.write(self.nth, b"%d" % nth)
        os.write(self.fails, b"1")

    def fill_percpu(self) -> None:
        """Use up what alloc_percpu() has set aside, down to the last 8 bytes, as arrays of one
        value. One without per-CPU data has slabs at hand for the rest of an array. What sets
        more aside is a kworker of this CPU, which does not run before this process sleeps."""
        time.sleep(0.1)                 # what was deleted is free then
        os.sched_setaffinity(0, {0})
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
        _, pages = self.times
        for size in (4096, 1024, 256, 64, 8):
            failed = 0
            while failed < 5:
                bpf(BPF_MAP_CREATE, struct.pack("=4I", ARRAY, 4, 8, 1))
                os.write(pages, b"%d" % MOST)
                os.write(self.fails, b"1")
                fd = bpf(BPF_MAP_CREATE, struct.pack("=4I", PERCPU_ARRAY, 4, size, 1))
                os.write(self.fails, b"0")
                failed = failed + 1 if fd < 0 else 0

    def disarm(self) -> bool:
        """Did any fail?"""
        os.write(self.fails, b"0")
        left = os.pread(self.nth, 20, 0)
        os.write(self.nth, b"0")
        return int(left) == 0

    def release(self) -> None:
        for name in ("failslab", "fail_page_alloc"):
            (Path("/sys/kernel/debug") / name / "probability").write_text("0", encoding="ascii")


class Answer(NamedTuple):
    error: int
    sure: bool          # False: there was no memory for the answer, and it may have worked


class Route:
    """A NETLINK_ROUTE socket."""

    def __init__(self) -> None:
        self.socket = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0)
        self.socket.bind((0, 0))

    def ask(self, message: bytes, knobs: Optional[Knobs] = None, nth: int = 0,
            all_after: bool = False) -> Tuple[Answer, bool]:
        """The answer; did an allocation fail?"""
        send, injected, error = self.socket.send, False, 0
        if knobs:
            knobs.arm(nth, all_after)
        try:
            send(message)
        except OSError as e:
            error = e.errno
        if knobs:
            injected = knobs.disarm()
        if error:
            return Answer(error, True), injected
        try:
            return Answer(-struct.unpack_from("i", self.socket.recv(65536), 16)[0], True), injected
        except OSError as e:
            return Answer(e.errno, False), injected

    def state(self) -> State:
        """Handle, kind and options of each qdisc of the namespace."""
        found: State = {}
        self.socket.send(tc_message(RTM_GETQDISC, [], 0, handle=0, parent=0,
                                    flags=NLM_F_REQUEST | NLM_F_DUMP))
        while True:
            data = self.socket.recv(1 << 20)
            while len(data) >= 16:
                length, kind = struct.unpack_from("=IH", data)
                if kind in (NLMSG_DONE, NLMSG_ERROR):
                    return found
                index, handle, parent = struct.unpack_from("=iII", data, 20)
                top = dict(attrs(data[36:length]))
                found[index, parent] = (handle, top[TCA_KIND], top.get(TCA_OPTIONS, b""))
                data = data[(length + 3) & ~3:]


def differs(want: State, now: State) -> str:
    """In which qdiscs, and where the options differ, in which of these"""
    found = []
    for place in sorted(set(want) | set(now)):
        handle, kind, options = want.get(place, (0, b"", b""))
        other = now.get(place, (0, b"", b""))
        if (handle, kind, options) == other:
            continue
        words = (f"device {place[0]} parent {place[1]:x}: {kind!r} {handle:x}, "
                 f"now {other[1]!r} {other[0]:x}")
        theirs = dict(attrs(other[2]))
        for number, value in attrs(options) if kind == other[1] == b"bfc\0" else []:
            if theirs.get(number) != value:
                words += f", option {number} {value.hex()}, now {theirs.get(number, b'').hex()}"
        found.append(words)
    return "; ".join(found)


def encoded(words: str) -> bytes:
    """The message that tc would send."""
    with tempfile.TemporaryDirectory() as work:
        sent = Path(work) / "sent"
        subprocess.run(["tc", "qdisc", *shlex.split(words)], check=True,
                       env={**os.environ, "NL_SHIM_SENT": str(sent),
                            "LD_PRELOAD": str(TOP / "build/tools/nl_shim.so")})
        return sent.read_bytes()


class Case:
    """A request, and what is done before it"""

    def __init__(self, before: List[str], request: str) -> None:
        self.route = Route()
        self.percpu = False
        self.request = encoded(request)
        self.index, = struct.unpack_from("=i", self.request, 20)
        self.setup = [encoded(words) for words in before]
        self.restore()
        self.was = self.route.state()
        self.must(self.request)
        self.will = self.route.state()
        if self.was == self.will:
            sys.exit("the request changes nothing")
        self.restore()
        if self.route.state() != self.was:
            sys.exit("what was before cannot be restored")

    def must(self, message: bytes) -> None:
        answer, _ = self.route.ask(message)
        if answer.error:
            sys.exit("refused: " + os.strerror(answer.error))

    def restore(self) -> None:
        self.route.ask(tc_message(RTM_DELQDISC, [], self.index, handle=0,
                                  flags=NLM_F_REQUEST | NLM_F_ACK))
        for message in self.setup:
            self.must(message)

    def wrong(self, answer: Answer) -> str:
        """What is wrong after an answer, or nothing."""
        now = self.route.state()
        if answer.error and answer.error not in NO_MEMORY:
            return os.strerror(answer.error)
        if now == self.was and (answer.error or not answer.sure):
            return ""
        if now == self.will and not (answer.error and answer.sure):
            return ""
        return "refused, but: " + differs(self.was, now) if answer.error else \
            "taken, but: " + differs(self.will, now)

    def run(self, knobs: Knobs, all_after: bool) -> Tuple[int, int]:
        """How many were refused, how many worked"""
        refused = worked = 0
        for nth in range(1, 2000):
            if self.percpu:
                knobs.fill_percpu()
            answer, injected = self.route.ask(self.request, knobs, nth, all_after)
            wrong = self.wrong(answer)
            if wrong or not (injected or not answer.error):
                sys.exit(f"allocation {nth}{' and all after it' if all_after else ''}: "
                         f"{wrong or 'refused'}")
            self.restore()
            if not injected:
                return refused, worked + 1
            refused += answer.error != 0
            worked += not answer.error
        sys.exit("it does not end")


def name_of(dev: str) -> bytes:
    return attr(IFLA_IFNAME, dev.encode() + b"\0")


def unguarded(dev: str, ns: str, peer: str) -> None:
    """The kernel's log tells."""
    def about(kind: int, flags: int, *more: bytes) -> bytes:
        body = bytes(16) + name_of(dev) + b"".join(more)
        return struct.pack("=IHHII", 16 + len(body), kind, flags, 0, 0) + body

    there = os.open("/run/netns/" + ns, os.O_RDONLY)
    other = bytes(16) + name_of(peer) + attr(IFLA_NET_NS_FD, u32(there))
    add = about(RTM_NEWLINK, NLM_F_REQUEST | NLM_F_ACK | NLM_F_EXCL | NLM_F_CREATE,
                attr(IFLA_LINKINFO, attr(IFLA_INFO_KIND, b"veth") +
                     attr(IFLA_INFO_DATA, attr(VETH_INFO_PEER, other))))
    delete = about(RTM_DELLINK, NLM_F_REQUEST | NLM_F_ACK)
    log = os.open("/dev/kmsg", os.O_RDONLY | os.O_NONBLOCK)
    os.lseek(log, 0, os.SEEK_END)
    knobs, route, nth = Knobs(), Route(), 0
    for _ in range(3000):
        nth += 1
        answer, injected = route.ask(add, knobs, nth)
        try:
            while b"no memory to guard this device" not in os.read(log, 8192):
                pass
            knobs.release()
            sys.exit(answer.error)
        except BlockingIOError:
            pass
        route.ask(delete)
        if not injected:
            nth = 0     # a slab that needs a page makes it one more, so that one may be left out
    sys.exit("none comes without a guard")


def main(args: List[str]) -> None:
    if args[0] == "--unguarded":
        unguarded(*args[1:])
    percpu = args[0] == "--percpu"
    del args[:percpu]
    resource.setrlimit(resource.RLIMIT_NOFILE, (65536, 65536))
    load_program()
    case = Case(args[:-1], args[-1])
    case.percpu = percpu
    knobs = Knobs()
    try:
        print(*case.run(knobs, False), *case.run(knobs, True))
    finally:
        knobs.release()


if __name__ == "__main__":
    main(sys.argv[1:])
