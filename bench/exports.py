#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Measures each format of perfdata export beside the usual way with perf to the same file, in one run.

usage: exports.py RECORDING... [--build DIR] [--runs N] [--readers DIR] [--only FORMAT]

Both take turns; the least CPU time (user and system, of all processes) of N runs counts, and the peak memory of the largest process.
The usual way is the text of perf script, through stackcollapse-perf.pl for folded stacks where that is installed; perf data convert;
or perf_converter and perf_to_profile, which DIR (default: build-quipper) may have. Where perf has no way, perf script is
what every converter begins with. Output goes to files in a scratch folder.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SECONDS_MOST = 600
# Names of formats, and what is measured beside them; IN and OUT stand for files.
SCRIPT = "perf script -i IN >OUT"
WAYS = {
    "perf-json": "perf data convert --force --to-json OUT -i IN",
    "quipper": "READERS/perf_converter -i IN -I perf -O proto -o OUT",
    "quipper-text": "READERS/perf_converter -i IN -I perf -O text -o OUT",
    "pprof": "READERS/perf_to_profile -f -i IN -o OUT",
}


class Took:
    def __init__(self, seconds, kib, size):
        self.seconds, self.kib, self.size = seconds, kib, size


def once(command, out):
    """A shell command in a process of its own, whose children are counted."""
    if os.path.exists(out):
        os.unlink(out)
    child = os.fork()
    if not child:
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, 1)
        os.dup2(null, 2)
        os.execvp("timeout", ["timeout", str(SECONDS_MOST), "sh", "-c", command])
    _, status, used = os.wait4(child, 0)
    return None if status else Took(used.ru_utime + used.ru_stime, used.ru_maxrss, os.path.getsize(out) if os.path.exists(out) else 0)


def usual(name, readers):
    way = WAYS.get(name, SCRIPT)
    if "READERS" in way and not os.path.exists(os.path.join(readers, way.split()[0].split("/")[1])):
        way = SCRIPT
    if name == "folded" and shutil.which("stackcollapse-perf.pl"):
        way = "perf script -i IN | stackcollapse-perf.pl >OUT"
    return way.replace("READERS", readers)


def measure(recording, names, perfdata, args, folder):
    out = os.path.join(folder, "out")
    print(f"\n{recording}: {os.path.getsize(recording) / 1e6:.1f} MB\n")
    print("| format | perfdata | MB written | peak MB | the usual way | s | peak MB | ratio |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    for name in names:
        ours = f"{perfdata} export -q --to {name} -o OUT {recording}"
        theirs = usual(name, args.readers)
        commands = [command.replace("IN", recording).replace("OUT", out) for command in (ours, theirs)]
        best = [None, None]
        for _ in range(args.runs):
            for side, command in enumerate(commands):
                took = once(command, out)
                if took and (not best[side] or took.seconds < best[side].seconds):
                    best[side] = took
        if not best[0]:
            print(f"| {name} | nothing to export | | | | | | |")
            continue
        label = theirs.replace(" -i IN", "").replace(" >OUT", "").replace(" OUT", "").replace("-o OUT", "")
        label = label.replace(args.readers + "/", "")
        other = f"{best[1].seconds:.2f} | {best[1].kib / 1024:.0f} | {best[1].seconds / best[0].seconds:.1f}" if best[1] else "fails | |"
        print(f"| {name} | {best[0].seconds:.2f} | {best[0].size / 1e6:.1f} | {best[0].kib / 1024:.0f} | {label} | {other} |", flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("recordings", nargs="+")
    parser.add_argument("--build", default=os.path.join(TOP, "build"))
    parser.add_argument("--readers", default=os.path.join(TOP, "build-quipper"))
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--only")
    args = parser.parse_args()
    perfdata = os.path.join(args.build, "perfdata")
    said = subprocess.run([perfdata, "export"], capture_output=True, text=True, check=False).stderr.splitlines()[1:]
    names = [line.split(":", 1)[1].split()[0] for line in said]
    with tempfile.TemporaryDirectory() as folder:
        for recording in args.recordings:
            measure(os.path.abspath(recording), [n for n in names if not args.only or args.only == n], perfdata, args, folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
