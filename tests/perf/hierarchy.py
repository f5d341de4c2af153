#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""report --hierarchy beside perf report --hierarchy, byte for byte but for what only perfdata says.

usage: hierarchy.py PERFDATA RECORDING

Exit status: 0 all are equal, 1 otherwise, 77 no perf here.
"""

import shutil
import subprocess
import sys

SKIPPED = 77
VARIANTS = (
    "--no-children -g none -s comm,dso,sym",
    "--no-children -g none -s dso,sym,comm",
    "--no-children -g none -s sym,dso",
    "--no-children -g none -s {sym,dso},comm",
    "--no-children -g none -s comm,{dso,sym}",
    "--no-children -g none -s comm",
    "-g none",
    "-g none --percent-limit 5",
    "-g none --percent-limit 60",
    "-g none -n --show-total-period --show-cpu-utilization -s comm,dso",
    "-g none -s cpu,comm,sym --percent-limit 10",
    "-g none -s pid,sym -c hot",
    "-g none -s time,comm",
    "-g none -s sym,pid,cpu -w 5,6",
)
ONLY_PERF = ("# To display the perf.data header info", "# (Tip: ")
ONLY_OURS = ("# Profile quality: ",)


def rows(words, own):
    done = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, encoding="utf-8", errors="replace", check=False)
    lines = [line for line in done.stdout.split("\n") if line != "#" and not line.startswith(own)]
    return "\n".join(lines).strip("\n")


def main():
    perfdata, recording = sys.argv[1:]
    perf = shutil.which("perf")
    if not perf:
        print("no perf here")
        return SKIPPED
    wrong = 0
    for variant in VARIANTS:
        theirs = rows([perf, "report", "--stdio", "-i", recording, "--hierarchy", *variant.split()], ONLY_PERF)
        ours = rows([perfdata, "report", "--no-index", "-i", recording, "--hierarchy", *variant.split()], ONLY_OURS)
        if theirs != ours or not theirs:
            wrong += 1
            print(f"--- {variant}\n{theirs}\n+++\n{ours}")
    print(f"{len(VARIANTS)} variants, {wrong} differ")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
