#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Did an experiment of eval/run leave results? Prints what is wrong with a directory.

Usage: results.py DIRECTORY
"""

import csv
import json
import math
import re
import sys
from pathlib import Path
from typing import List

# Multiples of the ideal time; without a unit behind.
SLOWDOWN = re.compile(r"(short|middle|long|all|toward|else)_(mean|p50|p95|p99|p999)$")
LEAST = 0.9  # a short last packet is counted as a full one: a little less than 1


def wrong(out: Path) -> List[str]:
    result = json.loads((out / "result.json").read_text())
    found: List[str] = []
    runs, metrics = result["runs"], result["metrics"]
    if not metrics:
        found.append("no metrics")
    for name, value in metrics.items():
        if not math.isfinite(value):
            found.append(f"{name} is {value}")
        elif SLOWDOWN.search(name) and value < LEAST:
            found.append(f"{name} is {value}, faster than light")
    # A variant of a scheme has its name and more.
    ran = [run["scheme"] for run in runs if run["packet_hops"]]
    schemes = result["parameters"].get("schemes", [])
    for scheme in schemes:
        more = [n for n in ran if n.startswith(f"{scheme}-") and n not in schemes]
        if scheme not in ran and not more:
            found.append(f"no run of {scheme} sent a packet")
    if not ran:
        found.append("no run sent a packet")
    for name in result["files"]:
        if not (out / name).stat().st_size:
            found.append(f"{name} is empty")
        elif name.endswith(".csv"):
            lines = (out / name).read_text(encoding="ascii").splitlines()
            rows = list(csv.reader(line for line in lines if not line.startswith("#")))
            if len(rows) < 2 or any(len(row) != len(rows[0]) for row in rows):
                found.append(f"{name} has no rows, or some of another width")
    if not any(name.endswith(".csv") for name in result["files"]):
        found.append("no table")
    return found


if __name__ == "__main__":
    problems = wrong(Path(sys.argv[1]))
    for problem in problems:
        print(problem)
    sys.exit(bool(problems))
