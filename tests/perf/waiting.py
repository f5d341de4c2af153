#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""How long threads waited, compared with what they measured themselves, and by tracepoints compared with SWITCH records.

usage: waiting.py PERFDATA

Records tests/perf/waits.c once with sched_switch, wakeups and SWITCH records together. The waiting of each thread is within 1 % of
what the thread says, and the same within 0.1 % by SWITCH records alone. Exit status: 0 all agrees, 1 something does not, 77 the
scheduler's events cannot be recorded here.
"""

import collections
import os
import subprocess
import sys
import tempfile

EVENTS = "sched:sched_switch,sched:sched_waking,sched:sched_wakeup_new"
HERE = os.path.dirname(os.path.abspath(__file__))


def run(*argv):
    done = subprocess.run(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    return done.returncode, done.stdout.decode(errors="replace")


def waiting(perfdata, path):
    """ns by name of a thread."""
    sums = collections.Counter()
    for line in run(perfdata, "folded", "-q", "--waiting", path)[1].splitlines():
        stack, _, count = line.rpartition(" ")
        # before they run for the first time, threads have the name of their parent
        sums[stack.split(";")[0]] += int(count)
    return sums


def without_tracepoints(perfdata, path, folder):
    """The same recording, whose tracepoints are called something else."""
    other = os.path.join(folder, "switches.data")
    text = run(perfdata, "text", path)[1].replace("sched:sched_", "sched:other_")
    subprocess.run([perfdata, "assemble", "-o", other, "-"], input=text.encode(), check=True)
    return other


def compare(what, wanted, got, limit):
    """Number of threads that differ by more than a share."""
    failed = 0
    for name, ns in sorted(wanted.items()):
        error = abs(got[name] - ns) / ns
        failed += error > limit
        print(f"{what} {name}: {ns / 1e6:.3f} ms, in the recording {got[name] / 1e6:.3f} ms, {100 * error:.3f} %")
    return failed


def main():
    perfdata = os.path.abspath(sys.argv[1])
    with tempfile.TemporaryDirectory() as folder:
        program, path = os.path.join(folder, "waits"), os.path.join(folder, "waits.data")
        subprocess.run(["cc", "-O1", "-pthread", "-o", program, os.path.join(HERE, "waits.c")], check=True)
        status, said = run(perfdata, "record", "-q", "-e", EVENTS, "--switch-events", "-g", "-a", "-o", path, "--", program)
        if status or not said:
            print("the scheduler's events cannot be recorded here")
            return 77
        measured = {name: int(ns) for name, ns in (line.split() for line in said.splitlines())}
        found = waiting(perfdata, path)
        failed = compare("measured", measured, found, 0.01)
        found = {name: ns for name, ns in found.items() if name.startswith("w-")}
        failed += compare("tracepoints", found, waiting(perfdata, without_tracepoints(perfdata, path, folder)), 0.001)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
