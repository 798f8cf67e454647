#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Runs tests in the format of the kernel's tc-testing (tdc).

The kernel's own tdc.py runs bfc*.json, too (with its nsPlugin); this one needs
nothing but Python and iproute2, gives every case a network namespace of its
own, with the veth pair $DEV0, $DEV1 in it if it is used, and prints KTAP.

  tdc_run.py [-e ID...] [-l] [FILE...]

$TC_LIB_DIR tells tc where q_bfc.so is; default: build/tc of this repository, if
it is there. Exit code 4: the qdisc is not available here.
"""

import argparse
import ctypes
import json
import os
import re
import string
import subprocess
import sys
from pathlib import Path
from typing import Any, Dict, List, Tuple, Union

from bfc_uapi import TOP, Ktap

CLONE_NEWNET = 0x40000000
TIMEOUT_S = 24
SKIP = 4
OR_TRUE = " || /bin/true"

NAMES = {
    "TC": "tc",
    "IP": "ip",
    "DEV0": "v0p0",
    "DEV1": "v0p1",
    "DUMMY": "dummy1",
}

Case = Dict[str, Any]
Step = Union[str, List[Any]]        # a command, or [command, exit codes...]


def run(command: str) -> Tuple[int, str]:
    """Exit code, and what tdc looks at: stderr of a failure, else stdout.

    Starting programs is what takes the time in an emulated machine, so the
    shell is left out where the command needs none.
    """
    command = string.Template(command).safe_substitute(NAMES)
    forgiven = command.endswith(OR_TRUE)
    plain = command[:-len(OR_TRUE)] if forgiven else command
    shell = bool(set("|&;<>()$`\\\"'*?[]#~=%!{}\n") & set(plain))
    try:
        done = subprocess.run(command if shell else plain.split(), shell=shell,
                              timeout=TIMEOUT_S, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              encoding="utf-8", errors="replace", check=False)
    except subprocess.TimeoutExpired:
        return 255, f'Command "{command}" timed out\n'
    if forgiven and not shell:
        return 0, done.stdout
    failed = done.returncode != 0 and done.stderr
    return done.returncode, done.stderr if failed else done.stdout


def steps(stage: str, commands: List[Step]) -> str:
    for step in commands:
        command, *codes = step if isinstance(step, list) else [step]
        if not command:
            continue
        code, output = run(command)
        if code not in (codes or [0]):
            return f'{stage}: "{command}" exited with {code}\n{output}'
    return ""


def new_namespace(with_veth: bool) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(CLONE_NEWNET):
        raise OSError(ctypes.get_errno(), "unshare")
    if not with_veth:
        return
    subprocess.run(["ip", "-batch", "-"], check=True, encoding="utf-8",
                   input=f"link add {NAMES['DEV0']} type veth peer name {NAMES['DEV1']}\n"
                         f"link set {NAMES['DEV0']} up\n"
                         f"link set {NAMES['DEV1']} up\n")


def verify(case: Case) -> str:
    code, output = run(case["cmdUnderTest"])
    if code != int(case["expExitCode"]):
        return f"exited with {code}, expected {case['expExitCode']}\n{output}"
    _, output = run(case["verifyCmd"])
    found = len(re.findall(str(case["matchPattern"]), output, re.DOTALL | re.MULTILINE))
    if found != int(case["matchCount"]):
        return (f"{found} matches, expected {case['matchCount']}\n"
                f"pattern: {case['matchPattern']}\n{case['verifyCmd']}: {output}")
    return ""


def run_case(case: Case) -> str:
    """Returns what is wrong, or ""."""
    NAMES["TESTID"] = case["id"]
    new_namespace("$DEV" in json.dumps(case))
    wrong = steps("setup", case["setup"])
    if wrong:
        return wrong
    wrong = verify(case)
    # The namespace takes everything along: a failed teardown hurts nobody else.
    left = steps("teardown", case["teardown"])
    return wrong or left


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", metavar="FILE", type=Path,
                        default=sorted(Path(__file__).resolve().parent.glob("bfc*.json")))
    parser.add_argument("-e", "--execute", nargs="+", metavar="ID", help="only these")
    parser.add_argument("-l", "--list", action="store_true", help="names of the cases")
    args = parser.parse_args()

    cases: List[Case] = []
    for path in args.files:
        cases += json.loads(path.read_text(encoding="utf-8"))
    ids = [case["id"] for case in cases]
    if len(set(ids)) != len(ids):
        sys.exit("some id is there twice")
    if args.execute:
        cases = [case for case in cases if case["id"] in args.execute]
    if args.list:
        for case in cases:
            print(case["id"], case["name"])
        return 0

    built = TOP / "build/tc"
    if built.is_dir():
        os.environ.setdefault("TC_LIB_DIR", str(built))
    if os.geteuid() != 0:
        print("1..0 # SKIP needs root")
        return SKIP
    subprocess.run(["modprobe", "-q", "sch_bfc"], check=False)
    if not Path("/sys/module/sch_bfc").exists():
        print("1..0 # SKIP no module sch_bfc here")
        return SKIP

    ktap = Ktap(len(cases))
    for case in cases:
        if case.get("skip") == "yes":
            ktap.result(True, f"{case['id']} {case['name']} # SKIP")
            continue
        wrong = run_case(case)
        ktap.result(not wrong, f"{case['id']} {case['name']}", wrong)
    return ktap.end()


if __name__ == "__main__":
    sys.exit(main())
