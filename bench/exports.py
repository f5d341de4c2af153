#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Measures each format of perfdata export beside the usual way with perf to the same file, in one run.

usage: exports.py RECORDING... [--build DIR] [--runs N] [--readers DIR] [--only FORMAT]

Both take turns; the least CPU time (user and system, of all processes) of N runs counts, and the peak memory of the largest process.
The usual way is the text of perf script, through stackcollapse-perf.pl for folded stacks, or bench/collapse.pl where that is not installed;
perf data convert; or perf_converter and perf_to_profile, which DIR (default: build-quipper) may have. Where perf has no way, perf script is
what every converter begins with. Output goes to files in a scratch folder; "cat" is what copying them takes, which no exporter can go below.
"""

import argparse
import os
import re
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
    remove(out)
    child = os.fork()
    if not child:
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, 1)
        os.dup2(null, 2)
        os.execvp("timeout", ["timeout", str(SECONDS_MOST), "sh", "-c", command])
    _, status, used = os.wait4(child, 0)
    return None if status else Took(used.ru_utime + used.ru_stime, used.ru_maxrss, size_of(out))


def usual(name, readers):
    way = WAYS.get(name, SCRIPT)
    if "READERS" in way and not os.path.exists(os.path.join(readers, way.split()[0].split("/")[1])):
        way = SCRIPT
    if name == "folded":
        way = f"perf script -i IN | {shutil.which('stackcollapse-perf.pl') or os.path.join(TOP, 'bench', 'collapse.pl')} >OUT"
    return way.replace("READERS", readers)


def remove(path):
    if os.path.isdir(path):
        shutil.rmtree(path)
    elif os.path.exists(path):
        os.unlink(path)


def size_of(path):
    if os.path.isdir(path):
        return sum(entry.stat().st_size for entry in os.scandir(path))
    return os.path.getsize(path) if os.path.exists(path) else 0


def turns(commands, out, runs):
    """The least of each command, and of copying what the first one has written; None: it fails."""
    best = [None, None, None]
    for _ in range(runs):
        for side, command in enumerate(commands):
            took = [(side, once(command, out))]
            if not side and os.path.isfile(out):
                took.append((2, once(f"cat {out} >{out}.copy", out + ".copy")))
            for which, run in took:
                if run and (not best[which] or run.seconds < best[which].seconds):
                    best[which] = run
    return best


def measure(recording, names, perfdata, args, folder):
    out = os.path.join(folder, "out")
    print(f"\n{recording}: {os.path.getsize(recording) / 1e6:.1f} MB\n")
    print("| format | perfdata | peak MB | MB written | cat | the usual way | s | peak MB | ratio |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    for name in names:
        ours = f"{perfdata} export -q --to {name} -o OUT {recording}"
        theirs = usual(name, args.readers)
        own, other, copy = turns([command.replace("IN", recording).replace("OUT", out) for command in (ours, theirs)], out, args.runs)
        if not own:
            print(f"| {name} | nothing to export | | | | | | | |")
            continue
        label = re.sub(r" -i IN| >OUT| -o OUT| OUT", "", theirs).replace(args.readers + "/", "").replace(TOP + "/", "")
        beside = f"{other.seconds:.2f} | {other.kib / 1024:.0f} | {other.seconds / own.seconds:.1f}" if other else "fails | |"
        copied = f"{copy.seconds:.2f}" if copy else ""
        print(f"| {name} | {own.seconds:.2f} | {own.kib / 1024:.0f} | {own.size / 1e6:.1f} | {copied} | {label} | {beside} |", flush=True)


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
