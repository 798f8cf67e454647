# SPDX-License-Identifier: GPL-2.0
"""What frames_pfc.py and frames_bfc.py share: the program behind a pipe, captures."""
import argparse
import importlib
import random
import shutil
import struct
import subprocess
from typing import Any, List, Sequence, Tuple


def ask(program: str, commands: Sequence[str]) -> List[str]:
    done = subprocess.run([program], input="\n".join(commands) + "\n", text=True,
                          stdout=subprocess.PIPE, check=True)
    answers = done.stdout.splitlines()
    assert len(answers) == len(commands), (len(answers), len(commands))
    return answers


def write_pcap(path: str, frames: Sequence[bytes]) -> None:
    with open(path, "wb") as pcap:
        pcap.write(struct.pack("<IHHiIII", 0xa1b2c3d4, 2, 4, 0, 0, 65535, 1))
        for frame in frames:
            pcap.write(struct.pack("<IIII", 0, 0, len(frame), len(frame)) + frame)


def begin(count: int, names: Sequence[str]) -> Tuple[argparse.Namespace, List[Any]]:
    """The command line, with so many frames by default, and scapy's modules of these names.

    Ends the program with 4 if scapy or tshark is not installed.
    """
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--frames", type=int, default=count)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    random.seed(args.seed)
    try:
        modules = [importlib.import_module("scapy." + name) for name in names]
    except ImportError:
        print("1..0 # SKIP no scapy: scripts/install-deps checks")
        raise SystemExit(4) from None
    if not shutil.which("tshark"):
        print("1..0 # SKIP no tshark: scripts/install-deps checks")
        raise SystemExit(4)
    return args, modules
