#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Answers of the queries that go by a name, computed a second time in Python from the JSON lines of export and dump.

usage: queries.py PERFDATA FILE... [--corpus CORPUS]

Each row of an answer has to be one that is computed here, and an answer that is not cut off has to have all of them. Switches,
wakeups and system calls are read from the printed text of tracepoints. Exit status: 0 all is so, 1 not.
"""

import argparse
import collections
import json
import os
import re
import subprocess
import sys

# of a corpus: chains of user code only, halves of a microsecond, system calls, tracepoints of other machines
CORPUS = ("callgraph-user", "v-callgraph-user", "i386-tracepoints", "riscv64-systemwide", "a-threads", "pipe-tracepoints")
LIMIT = 20  # the least of the limits of queries: shorter answers are complete


def lines(perfdata, *arguments):
    done = subprocess.run([perfdata, *arguments], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
    return [json.loads(line) for line in done.stdout.splitlines()]


def last_part(path):
    return None if path is None else path if path.startswith("[") else path.rsplit("/", 1)[-1]


def short(path):
    """Short name of an object, as the tables and perf have it."""
    name = last_part(path)
    runtime, module = re.match(r"perf-(\d+)\.map$", name or ""), re.match(r"(.*)\.ko(?:\.\w+)?$", name or "")
    if runtime:
        return f"[JIT] tid {runtime[1]}"
    return "[kernel.vmlinux]" if name and name.startswith("vmlinux") else f"[{module[1].replace('-', '_')}]" if module else name


def function_of(frame):
    """Functions that are not known go by their object."""
    name = last_part(frame.get("object"))
    if "function" in frame:
        return frame["function"]
    return "[unknown]" if name is None else name if name.startswith("[") else f"[{name}]"


def fields_of(sample):
    """prev_comm=a b prev_pid=1 ... as a dict."""
    return dict(re.findall(r"(\w+)=(.*?)(?= \w+=| ==>|$)", sample.get("trace", "")))


def sums(samples, key):
    """Number and value of samples by a key."""
    found = collections.defaultdict(lambda: [0, 0])
    for sample in samples:
        found[key(sample)][0] += 1
        found[key(sample)][1] += sample["value"]
    return {(*key, *both) for key, both in found.items()}


def counts(keys):
    return {(*key, count) for key, count in collections.Counter(keys).items()}


def inclusive(samples):
    found = collections.defaultdict(lambda: [0, 0])
    for sample in samples:
        for frame in {(function_of(frame), short(frame.get("object"))) for frame in sample["stack"]}:
            found[sample["event"], *frame][0] += 1
            found[sample["event"], *frame][1] += sample["value"]
    return {(*key, *both) for key, both in found.items()}


OWN = re.compile(r" *(-?\d+) +(\d+)\.(\d{9}): +[0-9a-f]+ \((.*)\)$")


def own_frames(perfdata, path, samples, records):
    """The sampled place of each sample. Chains without those of the kernel begin elsewhere: then script says which object it is in."""
    sampled = {(fields.get("time_ns"), fields.get("tid")): int(str(fields.get("ip")), 0)
               for fields in (record["fields"] for record in records if record["type"] == "SAMPLE" and record.get("fields")) if fields.get("ip")}
    others = {key for key, stack in (((s.get("time_ns"), s["tid"]), s["stack"]) for s in samples)
              if sampled.get(key) not in (None, int(stack[0]["ip"], 0))}
    objects = {}
    if others:
        text = subprocess.run([perfdata, "script", "-q", "--no-symbols", "-G", "--ns", "-F", "tid,time,ip,dso", path], stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, check=False).stdout.decode(errors="replace")
        for line in filter(None, map(OWN.match, text.splitlines())):
            objects[int(line[2]) * 10**9 + int(line[3]), int(line[1])] = line[4]
    frames = []
    for sample in samples:
        key = sample.get("time_ns"), sample["tid"]
        frames.append({"object": objects[key]} if key in others else sample["stack"][0])
    return frames


def milliseconds(ns):
    """Rounded to three decimals as in school: a half goes up, which floating point knows only of some."""
    return (ns + 500) // 1000 / 1000


def processes(samples):
    by_pid, first = collections.defaultdict(list), min(sample["time_ns"] for sample in samples)
    for sample in samples:
        by_pid[sample["pid"]].append(sample)
    return {(pid, max(s["comm"] for s in some), len(some), len({s["tid"] for s in some}),
             milliseconds(min(s["time_ns"] for s in some) - first), milliseconds(max(s["time_ns"] for s in some) - first))
            for pid, some in by_pid.items()}


def heat_map(samples):
    first, last = min(s["time_ns"] for s in samples), max(s["time_ns"] for s in samples)
    return counts(((s["time_ns"] - first) * 100 // (last - first + 1), s.get("cpu")) for s in samples)


def off_cpu(switches):
    """Switched out and blocked until switched in, by thread."""
    out, found = {}, collections.defaultdict(list)
    for sample in sorted(switches, key=lambda s: s["time_ns"]):
        fields = fields_of(sample)
        following, before = int(fields["next_pid"]), int(fields["prev_pid"])
        if following in out:
            found[fields["next_comm"], following].append(sample["time_ns"] - out.pop(following))
        if before and not fields["prev_state"].startswith("R"):
            out[before] = sample["time_ns"]
        else:
            out.pop(before, None)  # it was not blocked the last time
    return {(*key, len(times), milliseconds(sum(times)), milliseconds(max(times))) for key, times in found.items() if key[1]}


def switches_of(switches):
    found = collections.defaultdict(lambda: [0, 0, 0])
    for sample in switches:
        fields = fields_of(sample)
        key = fields["prev_comm"], int(fields["prev_pid"])
        preempted = fields["prev_state"].startswith("R")
        for i, more in enumerate((1, preempted, not preempted)):
            found[key][i] += more
    return {(*key, *some) for key, some in found.items() if key[1]}


def expected_of(perfdata, path):
    """Rows of each query that the file has what is needed for."""
    samples = lines(perfdata, "export", "-q", "--no-symbols", "--to", "jsonl", path)
    records = lines(perfdata, "dump", "-q", "--json", path)
    named = collections.defaultdict(list)
    for sample in samples:
        named[sample["event"]].append(sample)
    sizes = collections.defaultdict(lambda: [0, 0])
    for record in records:
        sizes[str(record["type"])][0] += 1
        sizes[str(record["type"])][1] += record["size"]
    expected = {"record-types": {(name, *both) for name, both in sizes.items()}}
    # export makes samples of counter values, which are rows of another table
    if any(record.get("fields", {}).get("read") for record in records if record["type"] == "SAMPLE"):
        samples = []
    if samples and all(s.get("stack") for s in samples):
        for sample, frame in zip(samples, own_frames(perfdata, path, samples, records)):
            sample["own"] = frame
        expected |= {
            "top-functions": sums(samples, lambda s: (s["event"], function_of(s["own"]), short(s["own"].get("object")))),
            "top-objects": sums(samples, lambda s: (s["event"], short(s["own"].get("object")))),
            "top-threads": sums(samples, lambda s: (s["event"], s["comm"], s["pid"], s["tid"])),
            "samples-by-cpu": sums(samples, lambda s: (s["event"], s.get("cpu"))),
            "top-stacks": sums(samples, lambda s: (s["event"], ";".join(function_of(f) for f in reversed(s["stack"])))),
            "top-inclusive": inclusive(samples)}
        if all(s.get("time_ns") is not None for s in samples):
            expected |= {"processes": processes(samples), "heat-map": heat_map(samples)}
    if named["sched:sched_switch"]:
        expected["off-cpu"] = off_cpu(named["sched:sched_switch"])
        expected["context-switches"] = switches_of(named["sched:sched_switch"])
    if named["sched:sched_waking"]:
        expected["wakers"] = counts((s["comm"], s["tid"], fields_of(s)["comm"], int(fields_of(s)["pid"]))
                                    for s in named["sched:sched_waking"])
    if named["sched:sched_migrate_task"]:
        expected["migrations"] = counts((fields_of(s)["comm"], *(int(fields_of(s)[name]) for name in ("pid", "orig_cpu", "dest_cpu")))
                                        for s in named["sched:sched_migrate_task"])
    return expected


def row_of(name, row):
    """The cells that are computed here, in this order."""
    values = {key: value for key, value in row.items() if key != "percent"}
    if name == "top-stacks":
        return values["event"], values["stack"], values["samples"], values["value"]
    return tuple(values.values())


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("perfdata")
    parser.add_argument("recordings", nargs="+")
    parser.add_argument("--corpus")
    args = parser.parse_args()
    perfdata, wrong, compared = args.perfdata, 0, collections.Counter()
    paths = [os.path.join(args.corpus, "recorded", name + ".data") for name in CORPUS] if args.corpus else []
    paths = args.recordings + [path for path in paths if os.path.exists(path)]
    for path in paths:
        for name, expected in expected_of(perfdata, path).items():
            rows = [row_of(name, row) for row in lines(perfdata, "sql", "-q", "--no-symbols", "--format", "json", path, f"@{name}")]
            bad = [row for row in rows if row not in expected]
            missing = [] if len(rows) >= LIMIT else sorted(expected - set(rows), key=str)
            compared[name] += len(rows)
            if bad or missing:
                wrong += 1
                print(f"{path}: @{name}: {len(bad)} other rows, as {bad[:2]}; {len(missing)} missing, as {missing[:2]}")
    print(f"{len(paths)} files, {sum(compared.values())} rows of {len(compared)} queries, {wrong} answers differ")
    return 1 if wrong or not compared else 0


if __name__ == "__main__":
    sys.exit(main())
