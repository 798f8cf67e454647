#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Run a program on a terminal of its own, press keys, and look at the screen.

  screen.py ROWSxCOLUMNS STEP... -- COMMAND...

Steps, one after the other:
  see TEXT      the screen shows it, within ten seconds
  gone TEXT     the screen does not show it any more, likewise
  key KEY       press it; ^C is one
  size RxC      the window has another size from now on
  signal NAME   as SIGTERM
  run COMMAND   by a shell, with {pid} for the program's process; it must succeed
  said TEXT     the program has written it on the first screen
  screen        print what the screen shows now
  ends CODE     the program ends with this exit code, and leaves the terminal as it was:
                its settings, the cursor, the first screen

It understands the sequences that bfcctl top uses; others, a line longer than the window, and a
screen that scrolls are errors. Exit code 1, and a line that says why, if anything is not so.
"""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time

PATIENCE = 10.0     # seconds
SEQUENCE = re.compile(r"\x1b\[(\??)([0-9;]*)([A-Za-z])")


class Wrong(Exception):
    pass


class Screen:
    """What the program has drawn."""

    def __init__(self, rows: int, columns: int) -> None:
        self.other = False      # the second screen is shown
        self.cursor = True
        self.row = self.column = 0
        self.pending = ""
        self.said = ""
        self.errors: list[str] = []
        self.resize(rows, columns)

    def resize(self, rows: int, columns: int) -> None:
        self.rows, self.columns = rows, columns
        self.lines = [""] * rows
        self.row = self.column = 0

    def text(self) -> str:
        return "\n".join(self.lines)

    def feed(self, data: str) -> None:
        text = self.pending + data
        self.pending = ""
        while text:
            if text[0] != "\x1b":
                self.put(text[0])
                text = text[1:]
                continue
            match = SEQUENCE.match(text)
            if match:
                self.control(match[1], match[2], match[3])
                text = text[match.end():]
            elif len(text) < 16:
                self.pending = text
                return
            else:
                raise Wrong(f"what is {text[:16]!r}?")

    def put(self, char: str) -> None:
        if char == "\r":
            self.column = 0
        elif char == "\n":
            self.row += 1
            if self.row == self.rows and self.other:
                self.errors.append("the screen scrolls")
            self.row = min(self.row, self.rows - 1)
        elif not self.other:
            self.said += char   # messages
        elif char < " " or char > "~":
            self.errors.append(f"character {char!r}")
        elif self.column >= self.columns:
            self.errors.append(f"longer than the window: {self.lines[self.row]}")
        else:
            line = self.lines[self.row].ljust(self.column)
            self.lines[self.row] = line[:self.column] + char + line[self.column + 1:]
            self.column += 1

    def control(self, private: str, numbers: str, letter: str) -> None:
        what = private + numbers + letter
        if what in ("?1049h", "?1049l"):
            self.other = letter == "h"
        elif what in ("?25h", "?25l"):
            self.cursor = letter == "h"
        elif what == "H":
            self.row = self.column = 0
        elif what == "K":
            self.lines[self.row] = self.lines[self.row][:self.column]
        elif what == "J":
            self.control("", "", "K")
            self.lines[self.row + 1:] = [""] * (self.rows - self.row - 1)
        elif what not in ("m", "7m"):
            raise Wrong(f"what is {what!r}?")


class Program:
    def __init__(self, rows: int, columns: int, command: list[str]) -> None:
        self.screen = Screen(rows, columns)
        self.status: int | None = None
        self.master, slave = pty.openpty()
        # Kept open, so that the settings can be read when the program has ended.
        self.slave = slave
        self.set_size(rows, columns)
        self.before = termios.tcgetattr(slave)
        self.pid = os.fork()
        if not self.pid:
            os.setsid()
            fcntl.ioctl(slave, termios.TIOCSCTTY, 0)
            for fd in range(3):
                os.dup2(slave, fd)
            os.close(self.master)
            try:
                os.execvp(command[0], command)
            finally:
                os._exit(127)

    def set_size(self, rows: int, columns: int) -> None:
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def read(self, seconds: float) -> None:
        if select.select([self.master], [], [], seconds)[0]:
            self.screen.feed(os.read(self.master, 65536).decode())
        if self.screen.errors:
            raise Wrong(f"{self.screen.errors[0]}\n{self.screen.text()}")

    def wait_for(self, text: str, shown: bool) -> None:
        end = time.monotonic() + PATIENCE
        while (text in self.screen.text()) != shown:
            if time.monotonic() > end:
                raise Wrong(f"{'no' if shown else 'still'} {text!r} on the screen:\n"
                            f"{self.screen.text()}")
            self.read(0.1)

    def wait_for_end(self, code: int) -> None:
        end = time.monotonic() + PATIENCE
        while self.status is None:
            if time.monotonic() > end:
                raise Wrong("does not end")
            self.read(0.1)
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self.status = os.waitstatus_to_exitcode(status)
        while select.select([self.master], [], [], 0.1)[0]:
            self.read(0)
        if self.status != code:
            raise Wrong(f"exit code {self.status} instead of {code}")
        if self.screen.other or not self.screen.cursor:
            raise Wrong("the terminal has another screen, or no cursor")
        if termios.tcgetattr(self.slave) != self.before:
            raise Wrong("the terminal has other settings")

    def step(self, what: str, arg: str) -> None:
        if what in ("see", "gone"):
            self.wait_for(arg, what == "see")
        elif what == "key":
            os.write(self.master, b"\x03" if arg == "^C" else arg.encode())
        elif what == "size":
            rows, columns = (int(n) for n in arg.split("x"))
            while select.select([self.master], [], [], 0)[0]:   # what is for the old one
                self.read(0)
            self.screen.resize(rows, columns)
            self.set_size(rows, columns)
        elif what == "signal":
            os.kill(self.pid, signal.Signals[arg])
        elif what == "run":
            subprocess.run(arg.format(pid=self.pid), shell=True, check=True)
        elif what == "said":
            if arg not in self.screen.said:
                raise Wrong(f"said {self.screen.said!r}, not {arg!r}")
        elif what == "screen":
            print(self.screen.text())
        elif what == "ends":
            self.wait_for_end(int(arg))
        else:
            raise Wrong(f"no such step: {what}")


ARGUMENTS = {"see": 1, "gone": 1, "key": 1, "size": 1, "signal": 1, "run": 1, "said": 1,
             "screen": 0, "ends": 1}


def main() -> int:
    args = sys.argv[1:]
    if "--" not in args or args[0].count("x") != 1:
        print(__doc__, file=sys.stderr)
        return 2
    steps, command = args[1:args.index("--")], args[args.index("--") + 1:]
    rows, columns = (int(n) for n in args[0].split("x"))
    program = Program(rows, columns, command)
    try:
        while steps:
            what, steps = steps[0], steps[1:]
            n = ARGUMENTS.get(what, 0)
            program.step(what, steps[0] if n else "")
            steps = steps[n:]
    except Wrong as wrong:
        print(wrong)
        return 1
    finally:
        if program.status is None:
            os.kill(program.pid, signal.SIGKILL)
    return 0


if __name__ == "__main__":
    sys.exit(main())
