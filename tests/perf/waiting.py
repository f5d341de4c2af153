#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""How long threads waited, compared with what they measured themselves, and by tracepoints compared with SWITCH records; who woke whom.

usage: waiting.py PERFDATA

Records tests/perf/waits.c once with sched_switch, wakeups and SWITCH records together. The waiting of each thread is within 1 % of
what the thread says, and the same within 0.1 % by SWITCH records alone. In a recording of tests/perf/woken.c, waits of the last thread
of a chain lead back to the first one and its timer. Some kernels record nothing in the context of some threads, so no tracepoint tells that
another one follows them: SWITCH records, which do, are recorded in any case. Exit status: 0 all agrees, 1 something does not, 77 the scheduler's
events cannot be recorded here.
"""

import collections
import contextlib
import json
import os
import subprocess
import sys
import tempfile

EVENTS = "sched:sched_switch,sched:sched_waking,sched:sched_wakeup_new"
HERE = os.path.dirname(os.path.abspath(__file__))


def run(*argv, cwd=None):
    done = subprocess.run(argv, cwd=cwd, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
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


def build(folder, name):
    program = os.path.join(folder, name)
    subprocess.run(["cc", "-O1", "-pthread", "-o", program, os.path.join(HERE, name + ".c")], check=True)
    return program


def check_chain(perfdata, folder):
    """Whether the longest waits of the last thread lead back through all others, in order."""
    program, path = build(folder, "woken"), os.path.join(folder, "woken.data")
    tid = run(perfdata, "waiting", "record", "-q", "--switch-events", "-o", path, "--", program)[1].strip()
    found = json.loads(run(perfdata, "waiting", "-q", "--json", "--why", tid, "-n", "10", path)[1])["longest"]
    right = 0
    for wait in found:
        names = [link["thread"]["comm"] for link in wait["wakeups"] if link["kind"] != "preempted"]
        right += names == [f"w-chain{number}" for number in (5, 4, 3, 2, 1)] and wait["wakeups"][-1]["interrupt"]
    print(f"chains of wakeups: {right} of {len(found)} have all five threads in order")
    return right >= len(found) // 2 and right > 0


@contextlib.contextmanager
def never_idle():
    """One CPU for all, which always has something to do: some kernels lack tracepoints of the idle task, and with them wakeups."""
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    idler = "import os\nos.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))\nwhile True: pass"
    with subprocess.Popen([sys.executable, "-c", idler]) as spinning:
        try:
            yield
        finally:
            spinning.kill()


def check(perfdata, folder):
    """What went wrong in one recording of each program; None if nothing can be recorded."""
    program, path = build(folder, "waits"), os.path.join(folder, "waits.data")
    status, said = run(perfdata, "record", "-q", "-e", EVENTS, "--switch-events", "-g", "-a", "-o", path, "--", program)
    if status or not said:
        return None
    measured = {name: int(ns) for name, ns in (line.split() for line in said.splitlines())}
    found = waiting(perfdata, path)
    failed = compare("measured", measured, found, 0.01)
    failed += not check_chain(perfdata, folder)
    found = {name: ns for name, ns in found.items() if name.startswith("w-")}
    return failed + compare("tracepoints", found, waiting(perfdata, without_tracepoints(perfdata, path, folder)), 0.001)


def main():
    perfdata = os.path.abspath(sys.argv[1])
    with tempfile.TemporaryDirectory() as folder, never_idle():
        failed = check(perfdata, folder)
    if failed is None:
        print("the scheduler's events cannot be recorded here")
        return 77
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
