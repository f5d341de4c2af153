#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What the tests of perfdata stat share: running it, a program that does what it is told, files of counts as text."""

import os
import subprocess
import sys

SKIPPED = 77
HERE = os.path.dirname(os.path.abspath(__file__))

HARDWARE = ["cycles", "instructions", "cache-references", "cache-misses", "branches", "branch-misses", "bus-cycles",
            "stalled-cycles-frontend", "stalled-cycles-backend", "ref-cycles"]
SOFTWARE = ["cpu-clock", "task-clock", "page-faults", "context-switches"]
CACHES = ["L1-dcache", "L1-icache", "LLC", "dTLB", "iTLB"]
# Of one CPU or another, by names in sysfs: numbers of their own are nothing to who reads the file.
RAW = ["slots", "topdown-retiring", "topdown-bad-spec", "topdown-fe-bound", "topdown-be-bound", "topdown-total-slots",
       "topdown-slots-issued", "topdown-slots-retired", "topdown-fetch-bubbles", "topdown-recovery-bubbles", "cpu/cycles-t/",
       "cpu/tx-start/", "cpu/el-start/", "cpu/cycles-ct/"]
BY_CLUSTER, BY_CACHE = 4, 5  # numbers of perf 6.9 and later, in files that have a level of caches
GLOBAL, BY_CPU, BY_SOCKET, BY_DIE, BY_CORE, BY_THREAD, BY_NODE = 1, 0, 2, 3, 4, 5, 7


class Tests:
    def __init__(self):
        self.count = self.failed = 0

    def expect(self, condition, what):
        self.count += 1
        if not condition:
            self.failed += 1
            print("not ok:", what)
            sys.stdout.flush()
        return condition

    def end(self, about):
        print(f"{about}: {self.count} checks, {self.failed} failed")
        return 1 if self.failed else 0


def run(arguments, **more):
    more.setdefault("stdin", subprocess.DEVNULL)
    return subprocess.run(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=120,
                          env=dict(os.environ, LC_ALL="C", PAGER="cat"), **more)


def build_work(folder, compiler="cc"):
    """The program that is counted."""
    path = os.path.join(folder, "work")
    subprocess.run([*compiler.split(), "-O1", "-o", path, os.path.join(HERE, "work.c")], check=True)
    return path


def event_type(name):
    if name in RAW:
        return "raw", 0x8000 + RAW.index(name)
    name = name.split(":")[0]
    if name in HARDWARE:
        return "hardware", HARDWARE.index(name)
    if name in SOFTWARE:
        return "software", SOFTWARE.index(name)
    for i, cache in enumerate(CACHES):
        number = [0, 1, 2, 3, 4][i]
        if name == cache + "-loads":
            return "hw-cache", number
        if name == cache + "-load-misses":
            return "hw-cache", number | 1 << 16
    raise ValueError(name)


def event_text(name, ids):
    kind, config = event_type(name)
    flags = ["disabled", "inherit", "exclude_guest"]
    flags += {"": [], "u": ["exclude_kernel", "exclude_hv"], "k": ["exclude_user", "exclude_hv"]}[
        name.partition(":")[2]]
    return (f'event {{\n\tname: "{name}"\n\tids: [{" ".join(map(str, ids))}]\n\ttype: {kind}\n\tsize: 128\n'
            f'\tconfig: 0x{config:x}\n\tsample_type: IDENTIFIER\n'
            f'\tread_format: TOTAL_TIME_ENABLED|TOTAL_TIME_RUNNING\n\tflags: {"|".join(flags)}\n}}')


def topology(cpus):
    """Two CPUs share a socket, a die and a node."""
    n = len(cpus) if cpus != [65535] else 2
    pairs = [f'{{cpus: "{i}-{min(i + 1, n - 1)}"}}' for i in range(0, n, 2)]
    return [f"feature NRCPUS {{available: {n}, online: {n}}}",
            "feature CPU_TOPOLOGY {core_lists: [" + " ".join(pairs) + "] thread_lists: [" +
            " ".join(f'{{cpus: "{i}"}}' for i in range(n)) + "] places: [" +
            " ".join(f"{{core_id: {i % 2}, package_id: {i // 2}}}" for i in range(n)) + "] die_lists: [" +
            " ".join(pairs) + "] die_ids: [" + " ".join(str(i // 2) for i in range(n)) + "]}",
            "feature NUMA_TOPOLOGY {nodes: [" + " ".join(
                f'{{node: {i // 2}, total_kib: 1, free_kib: 1, cpus: "{i}-{min(i + 1, n - 1)}"}}'
                for i in range(0, n, 2)) + "]}"]


def counts_text(events, rounds, cpus=(65535,), threads=((100, "a"),), by=GLOBAL, interval=0, scale=1,
                level=None, caches=()):
    """A perf.data as text. rounds: (seconds, {event: [(thread, index of the CPU, value, enabled, running)]})"""
    cpus = list(cpus)
    cells = len(cpus) * len(threads)
    ids = {name: [1000 * (i + 1) + j for j in range(cells)] for i, name in enumerate(events)}
    lines = ["header form: file, byte_order: little"]
    lines += [event_text(name, ids[name]) for name in events]
    lines += ['feature HOSTNAME {value: "h"}', 'feature OSRELEASE {value: "6"}', 'feature ARCH {value: "x86_64"}',
              'feature CMDLINE {arguments: [{value: "stat"} {value: "record"} {value: "true"}]}']
    lines += topology(cpus) + ["feature STAT {}"]
    if caches:
        lines.append("feature CACHE {version: 1, levels: [" + " ".join(
            f'{{level: {number}, line_size: 64, sets: 64, ways: 8, type: "Unified", size: "1M", map: "{shared}"}}'
            for number, shared in caches) + "]}")
    for name in events:
        if name.split(":")[0] in SOFTWARE[:2]:
            lines.append(f'EVENT_UPDATE type: unit, id: {ids[name][0]}, unit: "msec"+24')
            lines.append(f"EVENT_UPDATE type: scale, id: {ids[name][0]}, scale: 1e-06")
    lines.append("THREAD_MAP entries: [" + " ".join(f'{{pid: {pid}, comm: "{comm}"}}' for pid, comm in threads) + "]")
    size = 12 + 2 * len(cpus)
    lines.append(f"CPU_MAP cpus: {{kind: cpus, cpus: [{' '.join(map(str, cpus))}]}}" +
                 (f', rest: x"{"00" * (-size % 8)}"' if size % 8 else ""))
    lines.append(f"STAT_CONFIG entries: [{{tag: aggr_mode, value: {by}}}, {{tag: interval, value: {interval}}}, "
                 f"{{tag: scale, value: {scale}}}" +
                 ("" if level is None else f", {{tag: aggr_level, value: {level}}}") + "]")
    for i, (seconds, counts) in enumerate(rounds):
        for name, values in counts.items():
            for thread, cpu, value, enabled, running in values:
                number = -1 if cpus == [65535] else cpus[cpu]
                lines.append(f"STAT id: {ids[name][thread * len(cpus) + cpu]}, cpu: {number}, thread: {thread}, "
                             f"value: {value}, time_enabled_ns: {enabled}, time_running_ns: {running}")
        last = i + 1 == len(rounds) and not interval
        lines.append(f"STAT_ROUND type: {'final' if last else 'interval'}, time_ns: {seconds:.9f}")
    return "\n".join(lines) + "\n"


def assemble(perfdata, text, path):
    result = run([perfdata, "assemble", "-", "-o", path], stdin=None, input=text)
    if result.returncode:
        sys.exit(f"assemble: {result.stderr}")
    return path


ALL = HARDWARE + ["task-clock", "page-faults"] + [c + w for c in CACHES for w in ("-loads", "-load-misses")]
SECOND = 10 ** 9


def metric_files(perfdata, folder):
    """Files that have each metric, each way to sum up, scaling, what is missing: (name, path)."""
    def one(values, factor=1, running=10 ** 8):
        return {name: [(0, 0, v * factor, 10 ** 8 * factor, running * factor)] for name, v in values.items()}

    values = dict(zip(ALL, [900000000, 1234567890, 3000000, 40000, 200000000, 1234567, 5, 30000000, 60000000, 888,
                            300000000, 1234] + [1000 * (i + 1) for i in range(10)]))
    some = {"cycles": 900, "instructions": 1234, "stalled-cycles-frontend": 30, "cpu-clock": 10 ** 8, "branches": 500,
            "branch-misses": 20}
    lone = dict.fromkeys(["instructions", "branch-misses", "cycles", "cache-misses", "stalled-cycles-frontend",
                          "stalled-cycles-backend", "L1-dcache-load-misses", "page-faults", "bus-cycles"], 5)
    zero = {"task-clock": 10 ** 8, "cycles": 0, "instructions": 0, "stalled-cycles-frontend": 0,
            "stalled-cycles-backend": 0, "branches": 0, "branch-misses": 0, "page-faults": 0}
    rights = dict(zip(["cycles:u", "instructions", "instructions:u", "cycles:k", "instructions:k", "branches:u",
                       "branch-misses", "task-clock:u", "page-faults", "cycles"],
                      [1000, 2000, 3000, 4000, 5000, 600, 70, 10 ** 8, 9, 777]))
    def raw(first, *counts):
        return dict(zip(RAW[RAW.index(first):], counts))

    clocks = {"task-clock": 10 ** 8, "instructions": 2000, "cycles": 1000}
    special = {"topdown": raw("slots", 1000, 100, 50, 150, 650), "topdown-part": raw("slots", 1000, 400, 100),
               "slots": raw("topdown-total-slots", 1000, 600, 400, 200), "slots-of-none": raw("topdown-total-slots", 0, 0, 0, 0),
               # perf's words for the last one depend on the machine that reads
               "slots-all": raw("topdown-total-slots", 1000, 600, 400, 200, 50),
               "transactions": {**clocks, **raw("cpu/cycles-t/", 300, 7, 3, 200)},
               "transactions-none": {**clocks, **raw("cpu/cycles-t/", 300, 0, 0, 400)}}
    texts = {
        **{name: counts_text(list(counts), [(0.5, one(counts))]) for name, counts in special.items()},
        "all": counts_text(list(values), [(0.5, one(values))]),
        "lone": counts_text(list(lone), [(0.5, one(lone))]),
        "zero": counts_text(list(zero), [(0.5, one(zero))]),
        "rights": counts_text(list(rights), [(0.5, one(rights))]),
        "scaled": counts_text(list(some), [(0.5, one(some, 3, 7 * 10 ** 7))]),
        "unscaled": counts_text(list(some), [(0.5, one(some, 3, 7 * 10 ** 7))], scale=0),
        "missing": counts_text(list(some), [(0.5, {k: v for k, v in one(some).items() if "branch" not in k})]),
        "never": counts_text(list(some), [(0.5, {k: [(0, 0, 0, 10 ** 8, 0)] for k in some})]),
        "many": counts_text(["cpu-clock"], [(0.1 * i, one({"cpu-clock": 10 ** 8}, i)) for i in range(1, 30)],
                            interval=100),
        "threads": counts_text(list(some), [(0.5, {k: [(t, 0, v * (3 - t) + t, 10 ** 8, 10 ** 8) for t in range(3)]
                                                   for k, v in some.items()})],
                               threads=((11, "one"), (12, "twolonger"), (13, "threethreethre")), by=BY_THREAD),
    }
    for by, name in ((BY_CPU, "cpu"), (BY_CORE, "core"), (BY_SOCKET, "socket"), (BY_DIE, "die"), (BY_NODE, "node"),
                     (GLOBAL, "global")):
        def cells(k, running=10 ** 8):
            return {e: [(0, c, k * v * (c + 1), k * 10 ** 8, k * (running if e == "instructions" else 10 ** 8))
                        for c in (0, 1)] for e, v in some.items()}

        whole = dict(cpus=(0, 1), threads=((-1, ""),), by=by)
        texts[f"by-{name}"] = counts_text(list(some), [(0.5, cells(1, 7 * 10 ** 7))], **whole)
        texts[f"interval-{name}"] = counts_text(list(some), [(0.1 * k, cells(k)) for k in (1, 2)], interval=100,
                                                **whole)
    for name, text in texts.items():
        yield name, assemble(perfdata, text, os.path.join(folder, name + ".data"))


# Ways to sum up files of newer_files.
NEWER_WAYS = ["--per-cache", "--per-cache=L1", "--per-cache=l2", "--per-cache=L3", "--per-cache=L4", "--per-cluster"]


def newer_files(perfdata, folder):
    """Files with clusters and caches, which perf 6.1 does not know: (name, path, number of CPUs)."""
    own = [(1, "0"), (1, "1"), (2, "0"), (2, "1"), (3, "0-1")]
    shared = [(1, "0"), (1, "1"), (1, "2"), (1, "3"), (2, "0-1"), (2, "2"), (3, "0-2")]

    def cells(cpus, k):
        return {name: [(0, c, k * v * (c + 1), k * 10 ** 8, k * 10 ** 8) for c in cpus]
                for name, v in (("cycles", 900), ("instructions", 1234))}

    for name, cpus, by, level, caches in (
            ("cluster", (0, 1), BY_CLUSTER, 5, own), ("cache", (0, 1), BY_CACHE, 5, own), ("cache-2", (0, 1), BY_CACHE, 2, own),
            ("cache-99", (0, 1), BY_CACHE, 99, own), ("cache-none", (0, 1), BY_CACHE, 5, ()), ("cache-one", (0, 1), BY_CACHE, 5, [(2, "1")]),
            ("caches", (0, 1, 2, 3), BY_CACHE, 5, shared), ("clusters", (0, 1, 2, 3), BY_CLUSTER, 5, shared)):
        more = dict(cpus=cpus, threads=((-1, ""),), by=by, level=level, caches=caches)
        texts = {"by-" + name: counts_text(["cycles", "instructions"], [(0.5, cells(cpus, 1))], **more)}
        if name in ("cluster", "cache"):
            texts["interval-" + name] = counts_text(["cycles", "instructions"], [(0.1 * k, cells(cpus, k)) for k in (1, 2)], interval=100, **more)
        for given, text in texts.items():
            yield given, assemble(perfdata, text, os.path.join(folder, given + ".data")), len(cpus)
