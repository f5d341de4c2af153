#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Shares of wall time: report, folded and flame beside a count made here, and beside perf 6.15 or newer where there is one.

usage: latency.py PERFDATA [PERF]

PERF is a perf that knows record --latency; else the one of this machine, if it does. Recordings are assembled from text, with
threads that run and wait at random. Exit status: 0 equal, 1 not, 77 the recordings cannot be made.
"""

import collections
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile

HEAD = """event {{
	name: "cpu-clock"
	ids: [7]
	type: software
	sample_period: 1000000
	sample_type: IP|TID|TIME|CPU|PERIOD|IDENTIFIER
	flags: mmap|comm|sample_id_all|context_switch
}}
feature ARCH {{value: "x86_64"}}
feature NRCPUS {{available: {cpus}, online: {cpus}}}
"""
TIDS = range(42, 47)
# What perf prints equally; --no-children, as these have no call chains.
WAYS = (["-s", "parallelism", "--latency"], ["-F", "overhead,latency,parallelism"], ["--latency", "-s", "sym"],
        ["-s", "latency,parallelism", "--hierarchy"], ["--latency", "--parallelism", "2-3", "-s", "parallelism,sym"],
        ["--parallelism", "1,3-4", "-F", "overhead,latency,parallelism", "--percentage", "relative"])


def make(rng, cpus):
    """The text of a recording, and what each number of threads has: periods and their shares."""
    lines, now, level, running = [], 10**9, 1, {42}
    periods, latencies = collections.Counter(), collections.Counter()

    def trailer(tid):
        return f"sample_id: {{pid: 42, tid: {tid}, time_ns: {now}, cpu: {tid % cpus}, identifier: 7}}"

    lines.append(f'COMM misc: user|COMM_EXEC, pid: 42, tid: 42, comm: "demo", {trailer(42)}')
    lines.append(f'MMAP misc: user, pid: 42, tid: 42, addr: 0x400000, len: 0x1000, filename: "/usr/bin/demo", {trailer(42)}')
    alive = set(TIDS)
    for _ in range(400):
        now += rng.randint(10**5, 10**6)
        choice, tid = rng.random(), rng.choice(sorted(alive))
        if choice < 0.35:
            out = tid in running
            running ^= {tid}
            level += -1 if out else 1
            lines.append(f"SWITCH misc: {'SWITCH_OUT' if out else 0}, {trailer(tid)}")
        elif choice < 0.36 and tid in running and len(alive) > 2:
            alive.discard(tid)
            running.discard(tid)
            level -= 1
            lines.append(f"EXIT pid: 42, ppid: 42, tid: {tid}, ptid: 42, time_ns: {now}, {trailer(tid)}")
        else:
            period, shown = rng.randint(1, 10) * 100000, max(1, min(level, cpus))
            periods[shown] += period
            latencies[shown] += period * 1000 // shown
            lines.append(f"SAMPLE misc: user, ip: {0x400100 + 16 * rng.randint(0, 3):#x}, pid: 42, tid: {tid}, time_ns: {now}, "
                         f"cpu: {tid % cpus}, period: {period}, identifier: 7")
    return HEAD.format(cpus=cpus) + "\n".join(lines) + "\n", periods, latencies


def run(*command):
    return subprocess.run(command, capture_output=True, text=True, check=False, env={**os.environ, "LC_ALL": "C"}).stdout


def counted(perfdata, path, periods, latencies):
    """What is wrong with the tables of a recording, as a list."""
    wrong = []
    table = json.loads(run(perfdata, "report", "--json", "--latency", "-s", "parallelism", "-i", path))["tables"][0]
    for row in table["rows"]:
        level, amounts = int(row["parallelism"]), row["amounts"][0]
        if amounts["period"] != periods[level]:
            wrong.append(f"{level} threads: period {amounts['period']}, not {periods[level]}")
        if abs(amounts["latency"] - 100 * latencies[level] / sum(latencies.values())) > 0.001:
            wrong.append(f"{level} threads: latency {amounts['latency']}")
    if len(table["rows"]) != len(periods):
        wrong.append(f"{len(table['rows'])} rows, not {len(periods)}")
    folded = run(perfdata, "folded", "--weight", "latency", path)
    total = sum(int(line.rsplit(" ", 1)[1]) for line in folded.splitlines())
    if abs(total - sum(latencies.values()) / 1000) > 1000:
        wrong.append(f"folded: {total} ns of {sum(latencies.values()) / 1000}")
    part = run(perfdata, "folded", "--parallelism", "2", path)
    total = sum(int(line.rsplit(" ", 1)[1]) for line in part.splitlines())
    if total != periods[2]:
        wrong.append(f"folded --parallelism 2: {total}, not {periods[2]}")
    return wrong


def plain(text):
    """Without comments, whose titles perf has in other lines, and empty lines."""
    lines = [line.rstrip() for line in text.splitlines() if not line.startswith("#") or re.match(r"# +(Latency|Overhead|Paral)", line)]
    lines = [line for line in lines if line and not line.startswith("# Latency:")]
    return lines if not all(line.startswith("#") for line in lines) else []


def beside_perf(perfdata, perf, path):
    wrong = []
    for way in WAYS:
        theirs = plain(run(perf, "report", "--stdio", "--no-children", "-i", path, *way))
        ours = plain(run(perfdata, "report", "--no-children", "-i", path, *way))
        if theirs != ours:
            wrong.append(f"{' '.join(way)}:\n" + "\n".join(theirs) + "\n---\n" + "\n".join(ours))
    return wrong


def main():
    perfdata, perf = sys.argv[1], (sys.argv[2:] or [shutil.which("perf")])[0]
    if perf and "--latency" not in subprocess.run([perf, "report", "-h"], capture_output=True, text=True, check=False).stderr:
        perf = None
    rng, wrong = random.Random(20), []
    with tempfile.TemporaryDirectory(prefix="perfdata-latency-") as folder:
        for cpus in (1, 2, 3, 8, 128):
            source, path = os.path.join(folder, "text"), os.path.join(folder, f"{cpus}.data")
            text, periods, latencies = make(rng, cpus)
            with open(source, "w", encoding="utf-8") as file:
                file.write(text)
            if subprocess.run([perfdata, "assemble", "-o", path, source], check=False).returncode:
                return 77
            wrong += counted(perfdata, path, periods, latencies)
            if perf:
                wrong += beside_perf(perfdata, perf, path)
    for problem in wrong:
        print(problem)
    print(f"{'with' if perf else 'without'} perf, {len(wrong)} differences")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
