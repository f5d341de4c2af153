#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares perfdata trace -s with perf trace -s, on recordings made here.

usage: pairs.py PERFDATA

Both programs must print the same bytes. Exit status: 0 all agrees, 1 something does not, 77 no perf 6.1 that can record system calls.
"""

import os
import sys
import tempfile

from agreement import SKIPPED, Agreement
from timehist import has_perf, output

WORK = ("for i in 1 2 3 4 5 6; do (sleep 0.01; ls / /no >/dev/null 2>&1; sleep 0.05) & done; wait", "ls -R /usr/share/doc/lib* >/dev/null")
OPTIONS = ("trace -s", "trace -s --errno-summary")


def main():
    if not has_perf():
        print("no perf of version 6.1")
        return SKIPPED
    agreement = Agreement()
    with tempfile.TemporaryDirectory() as folder:
        for i, work in enumerate(WORK):
            for which in ([], ["-a"]):
                path = os.path.join(folder, f"trace{i}{len(which)}.data")
                if output(["perf", "trace", "record", *which, "-o", path, "--", "sh", "-c", work])[0] == 0:
                    for line in OPTIONS:
                        agreement.compare(["perf", *line.split(), "-i", path], [sys.argv[1], *line.split(), path], told=True)
    return agreement.conclude()


if __name__ == "__main__":
    sys.exit(main())
