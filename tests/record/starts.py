#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""How much a recording costs before it begins: beside perf, with many processes that sleep.

usage: starts.py PERFDATA [--processes N] [--runs N] [--strict]

Describing what already runs is most of it. Processor time and time passed, the smallest of the runs. Each process that
sleeps must be named in the recording. --strict fails where all takes more than half of perf's time, or a command alone more
than a quarter. Exit status: 0; 1; 77 nothing can be recorded here.
"""

import argparse
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time

SKIPPED = 77


def sleepers(count):
    """Processes that do nothing; each has its own thread group, as any other."""
    pids = []
    for _ in range(count):
        pid = os.fork()
        if pid == 0:
            signal.pause()
            os._exit(0)
        pids.append(pid)
    return pids


def measure(words, folder, runs):
    """(processor time, time passed), or None."""
    best = None
    for _ in range(runs):
        out = os.path.join(folder, "out.data")
        if os.path.exists(out):
            os.unlink(out)
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        begin = time.monotonic()
        result = subprocess.run([*words[:2], "-o", out, *words[2:]], cwd=folder, capture_output=True,
                                env=dict(os.environ, HOME=folder), stdin=subprocess.DEVNULL)
        passed = time.monotonic() - begin
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        if result.returncode != 0:
            return None
        used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        best = (min(used, best[0]), min(passed, best[1])) if best else (used, passed)
    return best


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("perfdata")
    parser.add_argument("--processes", type=int, default=200)
    parser.add_argument("--runs", type=int, default=2)
    parser.add_argument("--strict", action="store_true")
    arguments = parser.parse_args()
    perfdata = os.path.abspath(arguments.perfdata)
    failed = 0
    with tempfile.TemporaryDirectory(prefix="starts-") as folder:
        if not measure([perfdata, "record", "-e", "cpu-clock", "-a", "--", "true"], folder, 1):
            print("nothing can be recorded here")
            return SKIPPED
        pids = sleepers(arguments.processes)
        try:
            for name, options, most in (("all", ["-a"], 0.5), ("a command", [], 0.25)):
                words = ["-e", "cpu-clock", *options, "--", "true"]
                theirs = measure(["perf", "record", *words], folder, arguments.runs) if shutil.which("perf") else None
                ours = measure([perfdata, "record", *words], folder, arguments.runs)
                failed += ours is None
                line = f"{name:10} perfdata {1e3 * ours[0]:7.1f} ms used, {1e3 * ours[1]:7.1f} ms passed"
                if theirs:
                    line += (f"; perf {1e3 * theirs[0]:7.1f} and {1e3 * theirs[1]:7.1f} ms: "
                             f"{ours[0] / theirs[0]:.2f} and {ours[1] / theirs[1]:.2f}")
                    failed += arguments.strict and ours[0] > most * theirs[0]
                print(line)
            out = os.path.join(folder, "all.data")
            subprocess.run([perfdata, "record", "-q", "-e", "cpu-clock", "-a", "-o", out, "--", "true"], check=True)
            text = subprocess.run([perfdata, "script", "--show-task-events", "-i", out], capture_output=True, text=True).stdout
            missing = [p for p in pids if f":{p}/{p}" not in text]
            print(f"{len(pids)} processes, {len(missing)} not named")
            failed += bool(missing)
        finally:
            for pid in pids:
                os.kill(pid, signal.SIGKILL)
            for pid in pids:
                os.waitpid(pid, 0)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
