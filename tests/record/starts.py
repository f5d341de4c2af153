#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""How much a recording costs before it begins: beside perf, with many processes that sleep.

usage: starts.py PERFDATA [--processes N] [--runs N] [--strict]

Describing what already runs is most of it. Processor time and time passed, the smallest of the runs. Each process that
sleeps must be named in the recording, with all its maps of code as /proc has them. --strict fails where all takes more than half of perf's time, or a command alone more
than a quarter. Exit status: 0; 1; 77 nothing can be recorded here.
"""

import argparse
import json
import mmap
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


def map_odd_code(folder):
    """Maps of code that a process may have besides objects: of a file that is gone, shared, of no file."""
    path = os.path.join(folder, "new\nline")
    with open(path, "w+b") as f:
        f.write(bytes(2 * mmap.PAGESIZE))
        f.flush()
        code = mmap.PROT_READ | mmap.PROT_EXEC
        maps = [mmap.mmap(f.fileno(), mmap.PAGESIZE, flags=mmap.MAP_PRIVATE, prot=code, offset=mmap.PAGESIZE),
                mmap.mmap(f.fileno(), mmap.PAGESIZE, flags=mmap.MAP_SHARED, prot=code),
                mmap.mmap(-1, mmap.PAGESIZE, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, prot=code | mmap.PROT_WRITE)]
    os.unlink(path)
    return maps


def code_of(pid):
    """Maps of code as (start, size, offset, major, minor, inode, prot, flags, path)."""
    found = []
    with open(f"/proc/{pid}/maps", encoding="utf-8") as f:
        for line in f:
            place, rights, offset, device, inode, *path = line.rstrip("\n").split(maxsplit=5)
            start, end = (int(x, 16) for x in place.split("-"))
            prot = sum(bit for letter, bit in zip("rwx", (1, 2, 4)) if letter in rights)
            if prot & 4:
                found.append((start, end - start, int(offset, 16), *(int(x, 16) for x in device.split(":")), int(inode),
                              prot, 1 if "s" in rights else 2, path[0].replace("\\012", "\n") if path else "//anon"))
    return found


def recorded_code(perfdata, path):
    """The same by process, as recorded."""
    found = {}
    words = ("addr", "len", "pgoff", "maj", "min", "ino", "prot", "flags", "filename")
    for line in subprocess.run([perfdata, "dump", "--json", path], capture_output=True, text=True).stdout.splitlines():
        record = json.loads(line)
        if record.get("type") == "MMAP2":
            fields = record["fields"]
            found.setdefault(fields["pid"], []).append(tuple(fields[word] for word in words))
    return found


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
        odd = map_odd_code(folder)
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
            code = recorded_code(perfdata, out)
            others = [p for p in pids if code.get(p) != code_of(p)]
            print(f"{len(pids)} processes with {len(code_of(pids[0]))} maps of code, {len(odd)} of them odd; {len(others)} differ")
            failed += bool(missing) + bool(others)
        finally:
            for pid in pids:
                os.kill(pid, signal.SIGKILL)
            for pid in pids:
                os.waitpid(pid, 0)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
