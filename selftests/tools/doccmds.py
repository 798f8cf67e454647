#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Finds the commands that pages of documentation give, so that a test can run them.

  doccmds.py blocks FILE...     all statements of code blocks
  doccmds.py tc FILE...         each tc command, of code blocks, text and tables
  doccmds.py conf FILE...       each bfc.conf

FILE is Markdown or a manual page. Each is printed as FILE:LINE, a newline, the text, and a
NUL. A statement has all its lines: those of a loop, and those behind a backslash. A tc command is
cut out of the loop or the sentence that it is in, and is one line.
"""

import re
import sys
from typing import Iterator, List, NamedTuple, Set, Tuple


class Found(NamedTuple):
    """A piece of a page."""
    line: int
    text: str


def plain(line: str) -> str:
    """A line of a manual page as man prints it."""
    line = re.sub(r"^\.(?:[BI]|BR|IR|RB|RI|BI|IB)\s+", "", line)
    line = re.sub(r"\\f.", "", line)
    return line.replace("\\-", "-").replace("\\e", "\\")


def blocks(path: str, lines: List[str]) -> Iterator[Found]:
    """The code blocks, with the indentation of their first line taken off."""
    block: List[str] = []
    start = 0
    inside = False              # a manual page's .nf; in Markdown a blank line and an indented one
    blank, fenced = True, False
    for number, line in enumerate(lines + [""], 1):
        if is_man(path):
            was, inside = inside, line.startswith(".nf") or inside and not line.startswith(".fi")
            code = was and inside
            line = plain(line)
        else:
            fence = line.startswith("```")
            fenced ^= fence
            inside = line.startswith("    ") and (inside or blank)
            code = not fence and (fenced or inside)
            blank = not line.strip()
        if code:
            start = start or number
            block.append(line)
        elif block:
            indent = len(block[0]) - len(block[0].lstrip())
            yield Found(start, "\n".join(line[indent:] for line in block))
            block, start = [], 0


def statements(block: Found) -> Iterator[Found]:
    """A block's, without prompts. What a program printed looks like a statement, too."""
    text: List[str] = []
    start = 0
    for number, line in enumerate(block.text.split("\n"), block.line):
        if not text:
            line = re.sub(r"^(?:\w+# +|# (?=tc |bfcctl |for )|\$ )", "", line)
        start = start if text else number
        text.append(line)
        words = re.findall(r"\b(?:do|done)\b", re.sub(r"#.*", "", "\n".join(text)))
        if not line.endswith("\\") and words.count("do") == words.count("done"):
            if line.strip() and not line.startswith("#"):
                yield Found(start, "\n".join(text))
            text = []


COMMAND = re.compile(r"(?:^|(?<=\s))tc (?:-\S+ )*(?:qdisc|class|filter) \w.*")


def tc_in(text: str) -> Iterator[str]:
    """The tc commands of a line."""
    for line in text.split("`") if "`" in text else [text]:
        for found in COMMAND.findall(line):
            command = re.split(r" #|[;|]", found)[0]
            yield re.sub(r"\s+", " ", command).strip().rstrip(".,:")


def tc_commands(path: str, lines: List[str]) -> Iterator[Found]:
    """Those of code blocks come first."""
    in_code: Set[int] = set()
    for block in blocks(path, lines):
        in_code.update(range(block.line, block.line + block.text.count("\n") + 1))
        for found in statements(block):
            joined = found.text.replace("\\\n", " ")
            for line in joined.split("\n"):
                yield from (Found(found.line, command) for command in tc_in(line))
    for number, line in enumerate(lines, 1):
        if number in in_code:
            continue
        if is_man(path):
            bold = re.match(r"\.[BI]+ .*\btc .*", line)
            quoted = [plain(bold[0])] if bold else [
                plain(text) for text in re.findall(r"\\f[BI](tc .*)\\fR", line)]
        else:
            quoted = re.findall(r"`([^`]*)`", line)
        for text in quoted:
            yield from (Found(number, command) for command in tc_in(text))


def is_man(path: str) -> bool:
    """By its name."""
    return re.search(r"\.\d$", path) is not None


def find(what: str, path: str) -> Iterator[Found]:
    """All pieces of a page."""
    with open(path, encoding="utf-8") as file:
        lines = file.read().split("\n")
    if what == "tc":
        yield from tc_commands(path, lines)
        return
    for block in blocks(path, lines):
        is_conf = re.search(r"^\[(?:port|host)\b", block.text, re.M) is not None
        if what == "conf" and is_conf:
            yield block
        elif what == "blocks" and not is_conf:
            yield from statements(block)


def main() -> int:
    """Returns the exit code."""
    if len(sys.argv) < 3 or sys.argv[1] not in ("blocks", "tc", "conf"):
        print(__doc__, file=sys.stderr)
        return 2
    pieces: List[Tuple[str, Found]] = []
    for path in sys.argv[2:]:
        pieces += [(path, found) for found in find(sys.argv[1], path)]
    sys.stdout.write("".join(f"{path}:{found.line}\n{found.text}\0" for path, found in pieces))
    return 0


if __name__ == "__main__":
    sys.exit(main())
