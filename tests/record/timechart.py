#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Which events timechart record chooses, and whether timechart draws them.

usage: timechart.py PERFDATA

-T, -P and -I mean something else to record, so each is given before and after the word. Exit status: 0, 1, 77 nothing can be recorded here.
"""

import os
import subprocess
import sys
import tempfile
import xml.dom.minidom

SKIPPED = 77
SWITCH, STATE, CALL = "sched:sched_switch", "power:cpu_idle", "syscalls:sys_enter_read"
# Words, and which of the three events are recorded.
WAYS = (
    (["record"], (SWITCH, STATE)),
    (["record", "-T"], (SWITCH,)),
    (["-T", "record"], (SWITCH,)),
    (["record", "--tasks-only"], (SWITCH,)),
    (["record", "-P"], (STATE,)),
    (["--power-only", "record"], (STATE,)),
    (["record", "-I"], (CALL,)),
    (["-I", "record"], (CALL,)),
    (["record", "--io-only"], (CALL,)),
)


def run(*words):
    return subprocess.run(words, capture_output=True, text=True, errors="replace", check=False)


def check(perfdata, words, wanted, folder):
    """What is wrong, or None."""
    path, picture = os.path.join(folder, "t.data"), os.path.join(folder, "t.svg")
    made = run(perfdata, "timechart", *words, "-o", path, "--", "sh", "-c", "cat /dev/null; sleep 0.05; cat /dev/null")
    if made.returncode:
        return f"exit status {made.returncode}: {made.stderr[-300:]}"
    events = run(perfdata, "evlist", path).stdout.split()
    found = tuple(event for event in (SWITCH, STATE, CALL) if event in events)
    if found != wanted:
        return f"{found} are recorded"
    drawn = run(perfdata, "timechart", "-o", picture, path)
    # a virtual machine may have no states of CPUs
    if drawn.returncode == 6 and wanted == (STATE,):
        return None
    if drawn.returncode:
        return f"not drawn: {drawn.stderr[-300:]}"
    names = [element.firstChild.data for element in xml.dom.minidom.parse(picture).getElementsByTagName("title")]
    return None if wanted == (STATE,) or any(", thread " in name for name in names) else f"no thread in {names}"


def main():
    perfdata = os.path.abspath(sys.argv[1])
    with tempfile.TemporaryDirectory() as folder:
        if run(perfdata, "record", "-a", "-e", SWITCH, "-o", os.path.join(folder, "x.data"), "true").returncode:
            print("no tracepoints can be recorded here")
            return SKIPPED
        wrong = [(words, check(perfdata, words, wanted, folder)) for words, wanted in WAYS]
    for words, problem in wrong:
        if problem:
            print(" ".join(words), problem, sep=": ")
    print(f"{len(wrong)} ways")
    return any(problem for _, problem in wrong)


if __name__ == "__main__":
    sys.exit(main())
