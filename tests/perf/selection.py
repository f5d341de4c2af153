#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Holds the options that select samples against perf script, on a recording made on the spot.

usage: selection.py PERFDATA

Every form of --time, --comms, --pid, --tid and --cpu that perf takes must give the same lines; what perf refuses may
be refused, or stand in MORE. Wall clocks are held against the times of day that perf script -F tod prints. Skipped
where perf cannot record.
"""
import os
import re
import subprocess
import sys
import tempfile

SKIPPED = 77
WORK = "for i in 1 2 3 4; do sleep 0.05; find /usr/share/doc | sort | cksum; seq 20000 | sort -R | wc; done >/dev/null"
FIELDS = "comm,pid,tid,time,cpu,event,ip"
# perf refuses a time by itself, and reads no more than the first of parts that blanks divide
MORE = ("alone", "blanks")


def ask(argv, folder, env):
    return subprocess.run(argv, cwd=folder, env=env, capture_output=True, text=True, errors="backslashreplace")


def lines_of(program, words, folder, env):
    done = ask([program, "script", "--ns", "-F", FIELDS, "-i", "perf.data", *words], folder, env)
    return [line.rstrip() for line in done.stdout.splitlines() if line.strip()]


def forms(rows):
    """(kind, words) of all that is compared; rows are (comm, pid, tid, seconds, cpu)."""
    times = [row[3] for row in rows]
    first, last = times[0], times[-1]
    third, half = (times[len(times) * n // 6] for n in (2, 3))
    comms = sorted({row[0] for row in rows})
    pids, tids = (sorted({row[at] for row in rows}) for at in (1, 2))
    yield "all", []
    for time in (f"{first},{half}", f"{half},", f",{half}", f"{first},{third} {half},{last}", f" {first},{half}",
                 f"{first}, {half}", f"{half[:-4]},{last}", f"{half},{half}", "10%", "10%/2", "0%-10%", "25%/4",
                 "0%-10%,30%-40%", "10%/1,10%/2", "10%/1,10%/3,10%/10", "100%", "33.3%/2", "50%/3", "40%-30%",
                 f"{last},{first}", "x", ""):
        yield "time", ["--time", time]
    yield "alone", ["--time", half]
    yield "blanks", ["--time", "0%-10% 20%-30%"]
    for words in (["--comms", comms[0]], ["-c", ",".join(comms[:2])], ["--comms", "nobody"], ["--comm", comms[-1]],
                  ["--comms", "file://names"], ["--comms", f"{comms[0]},file://names"], ["--pid", pids[0]],
                  ["--pid", ",".join(pids)], ["--tid", ",".join(tids[:2])], ["--cpu", "0"], ["-C", "0-1"], ["-C", "1"],
                  ["--comms", comms[0], "--time", "50%/2", "-C", "0"]):
        yield "thread", words


def compare(perfdata, folder, env):
    rows = [re.match(r" *(.*?) +(-?\d+)/(-?\d+) +\[(\d+)\] +(\d+\.\d+):", line)
            for line in lines_of("perf", [], folder, env)]
    rows = [(m[1], m[2], m[3], m[5], m[4]) for m in rows if m]
    with open(os.path.join(folder, "names"), "w", encoding="utf-8") as f:
        f.write("find\nsort\n")
    wrong = count = 0
    for kind, words in forms(rows):
        theirs, ours = (lines_of(program, words, folder, env) for program in ("perf", perfdata))
        count += 1
        if theirs == ours or (kind in MORE and len(ours) > len(theirs)):
            continue
        wrong += 1
        print(f"{' '.join(words)!r}: perf {len(theirs)} lines, perfdata {len(ours)}")
    return wrong, count, len(rows)


def compare_clock(perfdata, folder, env):
    """Halves of the time by the wall clock are what perf's own times of day say."""
    done = ask(["perf", "script", "--ns", "-F", "tod,time", "-i", "perf.data"], folder, env)
    rows = [line.split() for line in done.stdout.splitlines()]
    middle = rows[len(rows) // 2]
    wanted = [row[2] for row in rows if (row[0], row[1]) >= (middle[0], middle[1])]
    wrong = 0
    for time in (f"{middle[0]} {middle[1]},", f"{middle[0]}T{middle[1]},", f"{middle[1]},"):
        done = ask([perfdata, "script", "--ns", "-F", "time", "-i", "perf.data", "--time", time], folder, env)
        if done.stdout.split() != wanted:
            wrong += 1
            print(f"--time {time!r}: {len(done.stdout.split())} lines, {len(wanted)} wanted")
    return wrong


def main():
    perfdata = os.path.abspath(sys.argv[1])
    with tempfile.TemporaryDirectory(prefix="select-") as folder:
        env = dict(os.environ, HOME=folder, LC_ALL="C", TZ="Europe/Vienna", PERF_CONFIG="/dev/null")
        command = ["perf", "record", "-q", "-a", "-o", "perf.data", "-k", "CLOCK_MONOTONIC", "-F", "999", "-e", "cpu-clock"]
        try:
            done = ask([*command, "--", "sh", "-c", WORK], folder, env)
        except FileNotFoundError:
            print("SKIP: there is no perf")
            return SKIPPED
        if not os.path.exists(os.path.join(folder, "perf.data")):
            print(f"SKIP: perf cannot record here: {done.stderr[:200]}")
            return SKIPPED
        wrong, count, samples = compare(perfdata, folder, env)
        wrong += compare_clock(perfdata, folder, env)
    print(f"{samples} samples, {count + 3} forms, {wrong} differ")
    return 1 if wrong or not samples else 0


if __name__ == "__main__":
    sys.exit(main())
