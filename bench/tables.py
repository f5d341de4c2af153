#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""How long questions to a recording take: in SQL, by the Python package, and by perf script that is parsed in Python.

usage: bench/tables.py PERFDATA LIBRARY FILE [--runs N] [--perf PERF] [--exporter SCRIPT]

With --perf also beside perf: its text parsed in Python for the same answers, and a Python script that it runs for each sample. SCRIPT is
its export-to-sqlite.py, which a statement then asks, and beside sql -o, which writes all tables; it needs QtSql of PySide2.

CPU time (user and system) of one thread, the least of N runs; MB/s of the file. A slice is beside what opening takes, which every
statement needs: a pass over the file for who ran and what was mapped. In a process that goes on it is the mean of 100 slices.
"""

import argparse
import os
import resource
import subprocess
import sys
import tempfile

# What is read of the text of perf script: {fields} of its options, {lines} what is done with it. Its CPU time counts once it was waited for.
SCRIPT = r"""
import collections, re, subprocess, sys
with subprocess.Popen([sys.argv[1], "script", {fields}, "-i", sys.argv[2]], stdout=subprocess.PIPE,
                      stderr=subprocess.DEVNULL, text=True, errors="replace") as script:
{lines}
"""
FUNCTIONS = r"""    functions = collections.Counter()
    for line in script.stdout:
        functions[line.rsplit(None, 1)[-1]] += 1
"""
STACKS = r"""    stacks, frames = collections.Counter(), []
    for line in script.stdout:
        if line[0] in " \t":
            frames.append(line.split(None, 1)[1])
        elif line[0] == "\n":
            stacks[tuple(frames)] += 1
            frames = []
"""
AS_COLUMNS = r"""    lists = [], [], [], [], []
    for line in script.stdout:
        tid, cpu, time, period, ip = line.split()
        for values, value in zip(lists, (int(tid), int(cpu[1:-1]), float(time[:-1]), int(period), int(ip, 16))):
            values.append(value)
"""
EXPORTED = r"""
import sqlite3, subprocess, sys
subprocess.run([sys.argv[1], "script", "-i", sys.argv[2], "-s", sys.argv[3], sys.argv[4]], check=True)
statement = "select name, count(*) n from samples join symbols on symbol_id = symbols.id group by name order by n desc limit 20"
print(sqlite3.connect(sys.argv[4]).execute(statement).fetchall())
"""
SLICES = r"""
import perfdata, sys, time
recording, by_function, first, last = perfdata.open(sys.argv[1]), *sys.argv[2:3], *map(int, sys.argv[3:])
def cpu_of(condition):
    before = time.process_time()
    recording.sql(by_function.format(condition))
    return time.process_time() - before
begins = [first + (last - first) * i // 100 for i in range(100)]
cold, whole = cpu_of(""), min(cpu_of("") for _ in range(3))
slices = [cpu_of(f" where time_ns between {begin} and {begin + (last - first) // 100}") for begin in begins]
print(f"{whole:.3f} s, 1 % of the time {sum(slices) / 100:.4f} s: {sum(slices) / 100 / whole:.1%}; names and symbols {cold - whole:.3f} s")
"""
SCRIPTED = """import collections
functions = collections.Counter()
def process_event(sample):
    functions[sample.get("symbol")] += 1
def trace_unhandled(event, context, fields, sample):
    functions[sample.get("symbol")] += 1
def trace_end():
    print(sum(functions.values()))
"""
COUNTED = """import collections, perfdata, sys
functions = collections.Counter()
for batch in perfdata.open(sys.argv[1]).samples(columns=['function']).batches():
    functions.update(batch.values('function'))
"""
OBJECTS = "import perfdata, sys; n = sum(1 for s in perfdata.open(sys.argv[1]).samples({columns}){condition})"
ASKED = " if s.time_ns and s.ip and s.tid and s.cpu is not None and s.comm"
COLUMNS = "import perfdata, sys; n = sum(len(b) for b in perfdata.open(sys.argv[1]).samples(columns=['time_ns', 'ip', 'tid', 'cpu', 'period']).batches())"


def cpu_of(argv, environment, database):
    """CPU time of a command and its children, in seconds. What it writes is a new database."""
    if os.path.exists(database):
        os.unlink(database)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(argv, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True, env=environment)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def peers_of(options, python, script, database):
    """Name, the questions that it answers, and command."""
    if not options.perf:
        return []

    def text(fields, lines):
        return python + [SCRIPT.format(fields=fields, lines=lines), options.perf, options.file]

    peers = [
        ("perf script, parsed: functions", ("count(*) by function", "python: count by function"), text('"-F", "comm,tid,time,ip,sym", "-G"', FUNCTIONS)),
        ("perf script, parsed: stacks", ("count(*) by stack",), text('"-F", "comm,tid,time,ip,sym,event"', STACKS)),
        ("perf script, parsed: columns", ("python: columns",), text('"-F", "tid,cpu,time,period,ip", "-G"', AS_COLUMNS)),
        ("perf's Python: functions", ("count(*) by function", "python: count by function"), [options.perf, "script", "-i", options.file, "-s", script]),
        ("perf's Python: objects", ("python: objects", "python: five attributes of each"), [options.perf, "script", "-i", options.file, "-s", script]),
    ]
    if options.exporter:
        peers.append(("perf's exporter, then SQL", ("count(*) by function", "python: count by function"),
                      python + [EXPORTED, options.perf, options.file, options.exporter, database]))
        peers.append(("perf's exporter to SQLite", ("sql -o",), [options.perf, "script", "-i", options.file, "-s", options.exporter, database]))
    return peers


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("usage: ")[1].split("\n", 1)[0])
    parser.add_argument("perfdata")
    parser.add_argument("library")
    parser.add_argument("file")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--perf")
    parser.add_argument("--exporter")
    options = parser.parse_args()
    top = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    folders = [os.path.join(top, "python"), *os.environ.get("PYTHONPATH", "").split(os.pathsep)]
    environment = dict(os.environ, PERFDATA_LIBRARY=os.path.abspath(options.library), PYTHONPATH=os.pathsep.join(filter(None, folders)))
    size = os.path.getsize(options.file) / 1e6

    def sql(statement, *more):
        return [options.perfdata, "sql", "-q", *more, options.file, statement + ";"]

    ends = subprocess.run(sql("select min(time_ns), max(time_ns), count(*) from samples", "--format", "csv"), stdout=subprocess.PIPE,
                          check=True, text=True).stdout.split()[1]
    first, last, samples = map(int, ends.split(","))
    slice_from = first + (last - first) // 2
    in_slice = f" where time_ns between {slice_from} and {slice_from + (last - first) // 100}"
    by_function = "select function, count(*) n from samples{} group by function order by n desc limit 20"
    python = [sys.executable, "-c"]
    questions = [
        ("opening", sql("select 1")),
        ("count(*)", sql("select count(*) from samples")),
        ("count(*) by function", sql(by_function.format(""))),
        ("the same, 1 % of the time", sql(by_function.format(in_slice))),
        ("count(*) by stack", sql("select stack_text(stack), count(*) n from samples group by stack order by n desc limit 20")),
        ("top-inclusive", sql("@top-inclusive")[:-1] + ["@top-inclusive"]),
        ("samples as Parquet", [options.perfdata, "export", "-q", "--to", "parquet", "--table", "samples", options.file]),
        ("samples as Arrow IPC", [options.perfdata, "export", "-q", "--to", "arrow", "--table", "samples", options.file]),
        ("samples as RowBinary", [options.perfdata, "export", "-q", "--to", "rowbinary", "--table", "samples", options.file]),
        ("python: opening", python + ["import perfdata, sys; perfdata.open(sys.argv[1])", options.file]),
        ("python: count by function", python + [COUNTED, options.file]),
        ("python: columns", python + [COLUMNS, options.file]),
        ("python: objects, 5 columns", python + [OBJECTS.format(columns="columns=['time_ns', 'ip', 'tid', 'cpu', 'comm']", condition=""), options.file]),
        ("python: objects", python + [OBJECTS.format(columns="", condition=""), options.file]),
        ("python: five attributes of each", python + [OBJECTS.format(columns="", condition=ASKED), options.file]),
        ("python: function of each", python + [OBJECTS.format(columns="", condition=" if s.function"), options.file]),
        ("python: all attributes of each", python + [OBJECTS.format(columns="", condition=" if tuple(s)"), options.file]),
    ]
    scratch = tempfile.TemporaryDirectory(prefix="tables-")
    script, database = os.path.join(scratch.name, "count.py"), os.path.join(scratch.name, "out.db")
    with open(script, "w", encoding="utf-8") as file:
        file.write(SCRIPTED)
    peers = peers_of(options, python, script, database)
    if options.exporter:
        questions.append(("sql -o", sql("", "-o", database)[:-1]))
    print(f"{options.file}: {size:.0f} MB, {samples} samples")
    took = {}
    for name, argv in questions + [(name, argv) for name, _, argv in peers]:
        took[name] = seconds = min(cpu_of(argv, environment, database) for _ in range(options.runs))
        print(f"{name:38} {seconds:7.3f} s {size / max(seconds, 0.001):7.0f} MB/s {seconds / samples * 1e6:7.3f} s for a million samples", flush=True)
    slices = subprocess.run(python + [SLICES, options.file, by_function, str(first), str(last)], stdout=subprocess.PIPE, check=True, text=True,
                            env=environment)
    print("in a process that goes on, by function:", slices.stdout, end="")
    whole, part = (took[name] - took["opening"] for name in ("count(*) by function", "the same, 1 % of the time"))
    print(f"beyond opening, 1 % of the time takes {part / whole:.1%} of the whole")
    for name, answers, _ in peers:
        print(f"{name:38} " + ", ".join(f"{took[name] / took[ours]:.1f} times {ours}" for ours in answers))


if __name__ == "__main__":
    main()
