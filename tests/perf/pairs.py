#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares perfdata trace -s with perf trace -s, on recordings made here.

usage: pairs.py PERFDATA

Both programs must print the same bytes. Exit status: 0 all agrees, 1 something does not, 77 no perf 6.1 that can record system calls.
"""

import os
import sys
import tempfile

from timehist import first_difference, has_perf, output

WORK = ("for i in 1 2 3 4 5 6; do (sleep 0.01; ls / /no >/dev/null 2>&1; sleep 0.05) & done; wait", "ls -R /usr/share/doc/lib* >/dev/null")
OPTIONS = ("trace -s", "trace -s --errno-summary")


def compare(perfdata, path):
    """Number of command lines that agree, and that do not."""
    same = other = 0
    for line in OPTIONS:
        # perf prints the summary to standard error
        status, theirs, told = output(["perf", *line.split(), "-i", path])
        theirs += told
        if status != 0:
            continue
        status, ours, told = output([perfdata, *line.split(), path])
        if theirs == ours and status == 0:
            same += 1
            continue
        other += 1
        print(f"{path} {line}: exit status {status}\n  {first_difference(theirs, ours)}")
    return same, other


def main():
    if not has_perf():
        print("no perf of version 6.1")
        return 77
    same = other = 0
    with tempfile.TemporaryDirectory() as folder:
        for i, work in enumerate(WORK):
            for which in ([], ["-a"]):
                path = os.path.join(folder, f"trace{i}{len(which)}.data")
                if output(["perf", "trace", "record", *which, "-o", path, "--", "sh", "-c", work])[0] == 0:
                    counts = compare(sys.argv[1], path)
                    same, other = same + counts[0], other + counts[1]
    print(f"{same} outputs are equal, {other} are not")
    return 77 if not same and not other else 1 if other else 0


if __name__ == "__main__":
    sys.exit(main())
