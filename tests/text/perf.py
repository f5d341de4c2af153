#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""perf reads what was written by hand: the example of docs/text.md, as a file, a pipe, compressed.

usage: perf.py PERFDATA
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SKIPPED = 77
WANTED = [
    "demo 42 1.000000: PERF_RECORD_COMM exec: demo:42/42",
    "demo 42 1.001000: 1000000 cpu-clock:",
    "100 [unknown] (/usr/bin/demo)",
    "200 [unknown] (/usr/bin/demo)",
    "demo 42 1.002000: 1000000 cpu-clock:",
    "180 [unknown] (/usr/bin/demo)",
    "200 [unknown] (/usr/bin/demo)",
    "demo 0 1.003000: PERF_RECORD_EXIT(42:42):(1:1)",
]


def perf(*words):
    result = subprocess.run(["perf", *words], stdin=subprocess.DEVNULL, capture_output=True, text=True)
    lines = [" ".join(line.split()) for line in result.stdout.splitlines()]
    return result.returncode, [line for line in lines if line], result.stderr.strip()


def main():
    perfdata = os.path.abspath(sys.argv[1])
    if not shutil.which("perf"):
        print("SKIP: no perf")
        return SKIPPED
    with open(os.path.join(TOP, "docs", "text.md"), encoding="utf-8") as f:
        text = re.search(r"^# Two functions.*?^EXIT.*?\n", f.read(), re.M | re.S)[0]
    failures = 0
    with tempfile.TemporaryDirectory(prefix="text-") as folder:
        made = os.path.join(folder, "made")
        for options in ([], ["--to", "pipe"], ["-z"], ["--byte-order", "big"]):
            subprocess.run([perfdata, "assemble", *options, "-o", made], input=text, text=True, check=True)
            code, lines, errors = perf("script", "--show-task-events", "-i", made)
            if code or errors or lines != WANTED:
                print(f"{options}: exit status {code}, {errors}\n" + "\n".join(lines))
                failures += 1
    print(f"4 forms of a text written by hand, {failures} that perf reads otherwise")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
