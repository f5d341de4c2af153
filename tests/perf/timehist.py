#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares perfdata sched timehist, latency and map with those of perf, on recordings made here and on a corpus.

usage: timehist.py PERFDATA [CORPUS] [--new PERF] [--verbose]

Both programs must print the same bytes with each set of options. Files that this perf cannot open are counted and left out; a
comparison in which perf prints nothing for all files fails. What perf 6.1 does not know is compared with a perf 7.2, by its columns alone:
delays and names have other rules there. Exit status: 0 all agrees, 1 something does not, 77 no perf 6.1 that
can record the scheduler's events.
"""

import argparse
import glob
import json
import os
import re
import subprocess
import sys
import tempfile

TIMEHIST = ("", "-s", "-S", "-w", "-n", "-M", "-V", "-I", "--state", "-s --state", "-s -M", "-s -I", "-S -M -I", "-w -n -M -V --state")
CHOSEN = ("-p {pid}", "-t {tid}", "-s -p {pid},1", "-S -w -M -t {tid}", "-I -S -p {pid}", "-C 0", "-s -C 1", "-S -w -M -C 0", "-I -S -C 0",
          "--time {begin},{end}", "-s --time {begin},", "-S -w -M --time ,{end}", "-I -S --time {begin},{end}", "-s --state --time {begin},{end} -p {pid}",
          "-s --time 0,1", "-w -n -V --state -p {pid} --time {begin},{end}")
LATENCY = ("", "-p", "-s max", "-s runtime,avg", "-p -s switch", "-s pid", "-C 0", "-p -C 1 -s max")
CHAINS = ("", "-g -S -w -n -V -M --state", "--max-stack 0", "--max-stack 2", "--max-stack 30", "-I -S", "-I -s")
NEW = ("", "--prio 120", "--prio 0-99,120-139")
MAP = ("", "--compact", "--cpus 1", "--compact --cpus 0", "--color-pids 1")
# busy, idle, and threads that come and go
WORK = ("for i in 1 2 3 4 5 6; do (sleep 0.01; ls / >/dev/null; sleep 0.05) & done; wait", "sleep 0.3",
        "i=0; while [ $i -lt 100 ]; do i=$((i+1)); /bin/true; done")
VERSION = "6.1."


def output(argv):
    done = subprocess.run(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120, check=False)
    return done.returncode, done.stdout, done.stderr


def has_perf():
    try:
        return output(["perf", "--version"])[1].decode().split()[-1].startswith(VERSION)
    except (OSError, IndexError):
        return False


def record(folder):
    """Recordings of the whole machine, and of one program alone."""
    made = []
    for i, work in enumerate(WORK):
        path = os.path.join(folder, f"sched{i}.data")
        if output(["perf", "sched", "record", "-o", path, "--", "sh", "-c", work])[0] == 0:
            made.append(path)
    path = os.path.join(folder, "all.data")
    if output(["perf", "record", "-q", "-e", "sched:*", "-a", "-o", path, "sh", "-c", WORK[2]])[0] == 0:
        made.append(path)
    path = os.path.join(folder, "chains.data")
    if output(["perf", "sched", "record", "-g", "-o", path, "--", "sh", "-c", WORK[0]])[0] == 0:
        made.append(path)
    path = os.path.join(folder, "wakeup.data")
    if output(["perf", "record", "-q", "-e", "sched:sched_switch,sched:sched_wakeup,sched:sched_migrate_task", "-a", "-o", path, "sleep",
               "0.1"])[0] == 0:
        made.append(path)
    return made


def first_difference(theirs, ours):
    for one, other in zip(theirs.split(b"\n"), ours.split(b"\n")):
        if one != other:
            return f"perf: {one.decode(errors='replace')}\n  here: {other.decode(errors='replace')}"
    return f"{theirs.count(10)} lines of perf, {ours.count(10)} here"


def events_of(perfdata, path):
    return output([perfdata, "evlist", "-q", path])[1].decode(errors="replace").split()


def chosen(perfdata, path):
    """Options for a thread that is met, and for the middle of the time."""
    events = [event for event in json.loads(output([perfdata, "sched", "timehist", "-q", "--json", path])[1])["events"] if event["thread"].get("pid", 0) > 0]
    if not events:
        return []
    thread = events[len(events) // 2]["thread"]
    begin, end = (f"{events[len(events) * part // 4]['time_ns'] / 1e9:.6f}" for part in (1, 3))
    return [options.format(pid=thread["pid"], tid=thread["tid"], begin=begin, end=end) for options in CHOSEN]


def command_lines(perfdata, path, here):
    """Commands with options that can be compared for a file; call chains if it is of this machine, whose functions perf takes."""
    lines = [f"timehist --no-call-graph {options}" for options in (*TIMEHIST, *chosen(perfdata, path))]
    if here:
        lines += [f"timehist {options}" for options in CHAINS]
    # perf 6.1 does not know sched_waking there, and takes the number of CPUs of the machine that reads
    if "sched:sched_wakeup" in events_of(perfdata, path):
        lines += [f"latency {options}" for options in LATENCY]
    if f"# nrcpus avail : {os.cpu_count()}\n".encode() in output([perfdata, "report", "--header-only", path])[1]:
        lines += [f"map {options}" for options in MAP]
    return lines


def compare(perfdata, path, here, verbose):
    """Number of command lines that agree, and that do not; None if perf cannot open the file."""
    same = other = 0
    for line in command_lines(perfdata, path, here):
        status, theirs, told = output(["perf", "sched", *line.split(), "-i", path])
        if status != 0 or b"incompatible file format" in told:
            return None
        status, ours, told = output([perfdata, "sched", *line.split(), path])
        if theirs == ours and status in (0, 1):
            same += 1
            continue
        other += 1
        print(f"{path} {line}: exit status {status}\n  {first_difference(theirs, ours)}")
    if verbose:
        print(f"{path}: {same} equal, {other} not")
    return same, other


def columns(output):
    """When, on which CPU, priority, wait time, run time and time before a migration of each switch."""
    rows = []
    for line in output.decode(errors="replace").splitlines()[3:]:
        found = re.match(r" *(\d+\.\d+ \[\d+\]) .* (-?\d+(?:->-?\d+)?) +([\d.]+) +[\d.]+ +([\d.]+) +([\d.]+) *$", line)
        rows.append(found.groups() if found else ("?", line))
    return rows


def compare_new(perf, perfdata, path):
    """Options that only a newer perf has; those of which nothing is printed are no agreement. perf 7.2 forgets what it knew of a thread
    earlier: times before a migration are compared where both know when it was switched out, which must be so for half of the lines that have
    such a time."""
    same = other = 0
    for options in NEW:
        line = ["sched", "timehist", "--no-call-graph", "--show-prio", "-P", *options.split()]
        theirs = columns(output([perf, *line, "-i", path])[1])
        ours = columns(output([perfdata, *line, path])[1])
        pairs = list(zip(theirs, ours))
        right = theirs and len(theirs) == len(ours) and all(a[0] != "?" and a[:2] + a[3:4] == b[:2] + b[3:4] for a, b in pairs)
        known = [a[4] == b[4] for a, b in pairs if right and a[2] == b[2] != "0.000"]
        if right and all(known) and 2 * len(known) >= sum(b[2] != "0.000" for b in ours):
            same += 1
            continue
        other += 1
        print(f"{path} {options}: {len(theirs)} lines of perf, {len(ours)} here",
              *[f"\n  perf: {a}\n  here: {b}" for a, b in pairs if a != b][:1])
    return same, other


def of_corpus(perfdata, corpus):
    """Files with switches."""
    paths = sorted(glob.glob(os.path.join(corpus, "recorded", "*.data"))) if corpus else []
    return [path for path in paths if "sched:sched_switch" in events_of(perfdata, path)]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("perfdata")
    parser.add_argument("corpus", nargs="?")
    parser.add_argument("--new", metavar="PERF", help="a perf 7.2")
    parser.add_argument("--verbose", action="store_true")
    args = parser.parse_args()
    if not has_perf():
        print("no perf of version 6.1")
        return 77
    same = other = refused = 0
    with tempfile.TemporaryDirectory() as folder:
        made = record(folder)
        if not made:
            print("perf cannot record the scheduler's events here")
            return 77
        for path in made + of_corpus(args.perfdata, args.corpus):
            counts = compare(args.perfdata, path, path in made, args.verbose)
            refused += counts is None
            same += counts[0] if counts else 0
            other += counts[1] if counts else 0
        for path in made if args.new else ():
            counts = compare_new(args.new, args.perfdata, path)
            same, other = same + counts[0], other + counts[1]
    print(f"{same} outputs are equal, {other} are not; perf opens {refused} of the files not")
    return 1 if other or not same else 0


if __name__ == "__main__":
    sys.exit(main())
