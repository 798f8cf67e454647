# SPDX-License-Identifier: GPL-2.0
"""Stock tc with the plugin, and nl_shim.so instead of the kernel."""

import os
import subprocess
from pathlib import Path
from typing import List, Optional, Tuple

from bfc_uapi import TCA_OPTIONS, TOP, Attr, attrs

HERE = Path(__file__).resolve().parent


class Bench:
    """Stock tc with the plugin and the shim."""

    def __init__(self, tc: str, compiler: str, work: Path) -> None:
        self.tc = tc
        self.compiler = compiler
        self.work = work
        self.shim = work / "nl_shim.so"
        self.compile(self.shim, [HERE / "nl_shim.c"], "-D_GNU_SOURCE")

    def compile(self, output: Path, sources: List[Path], *flags: str) -> None:
        output.parent.mkdir(parents=True, exist_ok=True)
        subprocess.run([self.compiler, "-O1", "-g", "-Wall", "-Wextra", "-Werror", "-fPIC",
                        "-shared", f"-I{TOP}/include/uapi", f"-I{TOP}/lib", *flags, "-o", str(output),
                        *map(str, sources)], check=True)

    def run(self, *args: str, sent: Optional[Path] = None, dump: Optional[bytes] = None,
            plugin: Optional[Path] = None,
            preload: Tuple[str, ...] = ()) -> "subprocess.CompletedProcess[str]":
        env = dict(os.environ)
        env["TC_LIB_DIR"] = str((plugin or self.work / "plain/q_bfc.so").parent)
        env["LD_PRELOAD"] = ":".join([*preload, str(self.shim)])
        env["ASAN_OPTIONS"] = "detect_leaks=0:exitcode=98"
        env["UBSAN_OPTIONS"] = "halt_on_error=1:exitcode=98:print_stacktrace=1"
        if sent is not None:
            env["NL_SHIM_SENT"] = str(sent)
        if dump is not None:
            path = self.work / "dump"
            path.write_bytes(dump)
            env["NL_SHIM_DUMP"] = str(path)
        return subprocess.run([self.tc, *args], env=env, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, encoding="utf-8", errors="replace",
                              timeout=60, check=False)

    def encode(self, options: str) -> Tuple[List[Attr], str]:
        """What tc sends for these options, and its complaints."""
        sent = self.work / "sent"
        sent.unlink(missing_ok=True)
        done = self.run("qdisc", "add", "dev", "lo", "root", "bfc", *options.split(), sent=sent)
        if not sent.exists():
            return [], f"nothing sent, exit code {done.returncode}: {done.stderr}"
        message = sent.read_bytes()
        top = attrs(message[16 + 20:])
        for number, payload in top:
            if number == TCA_OPTIONS:
                return attrs(payload), done.stderr
        return [], "no TCA_OPTIONS"
