#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Options of report and script that choose by callers and by what happened before, beside perf, on recordings made here.

usage: parents.py PERFDATA PROGRAM

PROGRAM is parents.c. Rows are the same, and so are the functions below them; bytes of script are the same. Exit status: 0 all agrees, 1 something does not, 77
no perf 6.1 that can record.
"""

import os
import re
import sys
import tempfile

from agreement import SKIPPED, Agreement
from timehist import has_perf, output

ON, OFF = "syscalls:sys_enter_getpgid", "syscalls:sys_enter_getsid"
SWITCHES = tuple(f"{switch}{more}" for switch in (
    f"--switch-on {ON}", f"--switch-off {OFF}", f"--switch-on {ON} --switch-off {OFF}", f"--switch-on {ON} --switch-off {OFF} --show-on-off-events",
    "--switch-on cpu-clock", f"--switch-on {ON} --switch-off {ON}", f"--switch-on {ON} --switch-off {ON} --show-on-off-events",
    f"--switch-off {ON} --show-on-off-events") for more in ("", " --time 20%-70%", " --comms parents"))
CALLERS = tuple(f"{options}{graph}" for options in (
    "-s parent", "-s comm,parent", "-p inner", "-p inner -s comm,parent", "-p (inner|middle)", "-p (inner|middle) -s sym", "-p inner -x",
    "-p ^(first|second) -x", "-p ^(first|second) -s parent -x", "-p ^(first|second) -x -s sym --percentage relative", "-s comm,parent -x",
    "-p syscall|middle|main -s parent,sym", "-p first -x --max-stack 3", "-p ^first -n --hierarchy -s comm,parent,sym",
    "--ignore-callees inner", "--ignore-callees main", "--ignore-callees ^(inner|middle)", "--ignore-callees middle -s sym,parent -p inner",
    "--ignore-callees middle --max-stack 4", "--ignore-callees nothing", "--ignore-callees ^first -s dso",
) for graph in ("", " --no-children", " -g none", " --no-children -g none", " --no-children -g caller"))
REPORTS = SWITCHES + CALLERS
SCRIPTS = SWITCHES
GRAPH = re.compile(rb"^ [ |]*-*(?:[\d.]+%)?-*(.*)$")
ROW = re.compile(rb"^ +[\d.]+% +")


def rows(text):
    """Rows, and the functions below each, without an order: branches that are equal have none."""
    found = []
    for line in text.split(b"\n"):
        if ROW.match(line):
            found.append([line.rstrip()])
        elif found and GRAPH.match(line):
            found[-1].append(GRAPH.match(line)[1].strip())
    return b"\n".join(b" ".join([row[0], *sorted(filter(None, row[1:]))]) for row in found)


def record(folder, program):
    path = os.path.join(folder, "parents.data")
    done = output(["perf", "record", "-q", "-F", "1999", "-g", "-e", f"cpu-clock,{ON},{OFF}", "-o", path, "--", program])
    return path if done[0] == 0 else None


def compare_dumps(agreement, perfdata, folder, path):
    """Files of script --per-event-dump."""
    found = {}
    for program in ("perf", perfdata):
        os.chdir(folder)
        for name in (name for name in os.listdir(folder) if name.endswith(".dump")):
            os.remove(name)
        output([program, "script", "--per-event-dump", "-i", os.path.basename(path)])
        found[program] = {name: open(name, "rb").read() for name in os.listdir(folder) if name.endswith(".dump")}
    same = len(found["perf"]) == 3 and found["perf"] == found[perfdata]
    agreement.same += same
    agreement.other += not same
    if not same:
        print(f"--per-event-dump: {sorted(found['perf'])} of perf, {sorted(found[perfdata])} here")


def main():
    perfdata, program = (os.path.abspath(path) for path in sys.argv[1:3])
    if not has_perf():
        print("no perf of version 6.1")
        return SKIPPED
    agreement = Agreement()
    with tempfile.TemporaryDirectory(prefix="parents-") as folder:
        path = record(folder, program)
        if not path:
            print("perf cannot record here")
            return SKIPPED
        for line in REPORTS:
            agreement.compare(["perf", "report", "--stdio", "-i", path, *line.split()],
                              [perfdata, "report", "--no-index", "-i", path, *line.split()], rows)
        for line in SCRIPTS:
            agreement.compare(["perf", "script", "-i", path, *line.split()], [perfdata, "script", "--no-index", "-i", path, *line.split()])
        compare_dumps(agreement, perfdata, folder, path)
        os.chdir("/")
    return agreement.conclude()


if __name__ == "__main__":
    sys.exit(main())
