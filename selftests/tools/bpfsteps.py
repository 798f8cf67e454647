#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""How many instructions the verifier has looked at for a program (x86-64 only).

  bpfsteps.py PIN   where the program is in the bpf file system
"""
from __future__ import annotations

import ctypes
import os
import struct
import sys

SYS_BPF = 321
BPF_OBJ_GET = 7


def steps(pin: str) -> int:
    path = ctypes.create_string_buffer(os.fsencode(pin))
    attr = ctypes.create_string_buffer(struct.pack("=QII", ctypes.addressof(path), 0, 0), 16)
    libc = ctypes.CDLL(None, use_errno=True)
    fd = libc.syscall(SYS_BPF, BPF_OBJ_GET, attr, len(attr))
    if fd < 0:
        err = ctypes.get_errno()
        raise OSError(err, os.strerror(err), pin)
    with open(f"/proc/self/fdinfo/{fd}", encoding="ascii") as info:
        for line in info:
            name, value = line.split(":")
            if name == "verified_insns":
                return int(value)
    raise SystemExit("bpfsteps: this kernel does not tell")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    print(steps(sys.argv[1]))
