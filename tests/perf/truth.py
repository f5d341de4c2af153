#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""How long threads were blocked by the kernel, compared with what they measured themselves: by the disk, by a lock whose holder has no CPU, by
locks of the kernel.

usage: truth.py PERFDATA

Records tests/perf/blocked.c. Sums by thread are within 1 % of what the thread says. Exit status: 0 all agrees, 1 something does not, 77 the
events of the scheduler cannot be recorded here; what else cannot be done here is printed and left out.
"""

import collections
import json
import os
import sys
import tempfile

from waiting import build, compare, never_idle, run, waiting

# some kernels record tracepoints in the context of some threads only
SWITCHES = ("waiting", "record", "--switch-events")
LEAST_NS = 20 * 10**6  # what waited for less says nothing


class Program:
    """What a run of the program said, and its recording."""

    def __init__(self, perfdata, folder, what, words):
        self.path = os.path.join(folder, what + ".data")
        program = build(folder, "blocked")
        self.status, said = run(perfdata, *words, "-q", "-o", self.path, "--", program, what, cwd=folder)
        lines = [line.split() for line in said.splitlines() if not line.startswith("skipped")]
        self.waited = {words[0]: int(words[1]) for words in lines}
        self.ran = {words[0]: int(words[2]) for words in lines}
        self.tids = {words[0]: words[3] for words in lines}
        self.skipped = [line for line in said.splitlines() if line.startswith("skipped")]
        for line in self.skipped:
            print(f"{what}: {line}")


TIMES = 3


def check_disk(perfdata, folder):
    """The best of some runs: interrupts while the kernel copies are waiting to the thread, and not to the kernel."""
    for _ in range(TIMES):
        failed = try_disk(perfdata, folder)
        if not failed:
            break
    return failed


def try_disk(perfdata, folder):
    disk = Program(perfdata, folder, "disk", SWITCHES)
    if disk.status:
        return None
    if sum(disk.waited.values()) < LEAST_NS:
        print("disk: skipped: the disk is too fast, or none")
        return 0
    return compare("disk", disk.waited, waiting(perfdata, disk.path), 0.01)


def check_inversion(perfdata, folder):
    """The thread of high priority waits while the one in the middle runs, as the one that has its lock does not."""
    threads = Program(perfdata, folder, "inversion", SWITCHES)
    if not threads.waited:
        return 0
    failed = compare("inversion", threads.waited, waiting(perfdata, threads.path), 0.01)
    why = {name: json.loads(run(perfdata, "waiting", "-q", "--json", "--why", threads.tids[name], threads.path)[1]) for name in ("w-high", "w-low")}
    spent = {(part["thread"]["comm"], part["reason"]): part["total_ns"] for part in why["w-high"]["spent"]}
    by = collections.Counter({part["by"]["comm"]: part["total_ns"] for part in why["w-low"]["preempted"]})
    wanted = {"w-middle": threads.ran["w-middle"]}
    failed += compare("what w-high waited for: w-low without a CPU, because of", wanted, {"w-middle": spent.get(("w-low", "waited for a CPU"), 0)}, 0.01)
    return failed + compare("who took the CPU of w-low:", wanted, by, 0.01)


def check_locks(perfdata, folder):
    locks = Program(perfdata, folder, "locks", ("lock", "record"))
    if locks.status:
        print("locks: skipped: the kernel has no events of locks that are waited for")
        return 0
    rows = json.loads(run(perfdata, "lock", "contention", "-q", "-t", "--json", locks.path)[1])["rows"]
    found = collections.Counter({row["thread"]["comm"]: row["wait_total_ns"] for row in rows})
    wanted = {name: ns for name, ns in locks.waited.items() if ns >= LEAST_NS}
    print(f"locks: {len(locks.waited) - len(wanted)} of {len(locks.waited)} threads waited too little to be compared")
    return compare("locks", wanted, found, 0.01)


def main():
    perfdata = os.path.abspath(sys.argv[1])
    with tempfile.TemporaryDirectory() as folder, never_idle():
        failed = check_disk(perfdata, folder)
        if failed is None:
            print("the scheduler's events cannot be recorded here")
            return 77
        failed += check_inversion(perfdata, folder)
        failed += check_locks(perfdata, folder)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
