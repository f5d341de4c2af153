#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Every format of export on recordings made now: totals, and the largest functions by themselves and with callees, are those of report.

usage: fresh.py PERFDATA

The recordings are made by perfdata record: several events, tracepoints, context switches with off-CPU time, a call graph by frame
pointers, copied stacks that are unwound, code that was made while the program ran. Each is exported to every format, read back by
formats.py (ctf.py, sqlite3), and compared as export.py does. What cannot be recorded here is named. Exit status: 0 all agrees,
1 not, 77 nothing can be recorded.
"""

import csv
import glob
import io
import json
import os
import sqlite3
import sys
import tempfile

import ctf
import export
import formats

SKIPPED = 77
WORK = "import hashlib, time\nfor i in range(40):\n hashlib.sha256(bytes(200000)).digest()\n time.sleep(0.001)\n"
# One function that calls another one, and a map for perf with their names; of x86.
JIT = """import ctypes, mmap, os, sys
memory = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
address = ctypes.addressof(ctypes.c_char.from_buffer(memory))
memory[0:12] = bytes.fromhex("55 48 89 e5 48 ff cf 75 fb 5d c3 90")
memory[64:75] = bytes.fromhex("55 48 89 e5 e8 b7 ff ff ff 5d c3")
with open(f"/tmp/perf-{os.getpid()}.map", "w") as file:
    file.write(f"{address:x} c jit_loop\\n{address + 64:x} b jit_caller\\n")
    file.write(f"{address + 4095:x} 1 made_for_{sys.argv[1]}\\n")
call = ctypes.CFUNCTYPE(ctypes.c_long, ctypes.c_long)(address + 64)
for i in range(40):
    call(5000000)
"""
# what is recorded, by options of perfdata record, and the work
RECORDINGS = {
    "several events": (["-g", "-F", "1500", "-e", "cpu-clock,page-faults,context-switches"], WORK),
    "a call graph": (["-g", "-F", "3000", "-e", "task-clock"], WORK),
    "off-CPU time": (["-g", "-F", "1000", "-e", "cpu-clock", "--off-cpu"], WORK),
    "tracepoints": (["-g", "-e", "sched:sched_switch,syscalls:sys_enter_write"], WORK),
    "unwound stacks": (["--call-graph", "dwarf,16384", "-F", "300", "-e", "cpu-clock"], WORK),
}
if os.uname().machine == "x86_64":
    RECORDINGS["JIT"] = ["-g", "-F", "1000", "-e", "cpu-clock"], JIT
# what each must have, else it is not the recording that it is to be
EVENTS = {"several events": {"cpu-clock", "page-faults"}, "off-CPU time": {"cpu-clock", "offcpu-time"}, "tracepoints": {"sched:sched_switch"}}


def record(perfdata, folder):
    """Paths by what they are recordings of."""
    made = {}
    for name, (options, work) in RECORDINGS.items():
        path = os.path.join(folder, name.replace(" ", "-") + ".data")
        code, _, said = export.run([perfdata, "record", "-q", *options, "-o", path, sys.executable, "-c", work, str(os.getpid())])
        if code == 0 and os.path.exists(path):
            made[name] = path
        else:
            print(f"not recorded here: {name}: {said.strip().splitlines()[-1:]}")
    return made


def events_of(perfdata, path):
    tables = export.report_tables(perfdata, path, [])
    return {table["events"][0]["event"] for table in tables if table["events"][0]["samples"]}


def same_traces(perfdata, path, failures):
    """Fields of tracepoints in JSON lines and CSV are those of script."""
    lines = export.run([perfdata, "export", "-q", "--to", "jsonl", path])[1].decode().splitlines()
    ours = [sample["trace"] for sample in map(json.loads, lines) if "trace" in sample]
    rows = csv.DictReader(io.StringIO(export.run([perfdata, "export", "-q", "--to", "csv", path])[1].decode()))
    cells = [row["trace"] for row in rows if row["trace"]]
    text = export.run([perfdata, "script", "-F", "trace:event,trace", path])[1].decode(errors="replace")
    theirs = [line.split(": ", 1)[1].strip() for line in text.splitlines() if ": " in line]
    if not theirs or [line.strip() for line in ours] != theirs or [cell.strip() for cell in cells] != theirs:
        failures.append(f"{os.path.basename(path)}: {len(ours)}, {len(cells)} traces, script has {len(theirs)}: {ours[:1]} {theirs[:1]}")


def remove_maps():
    """What the JIT has left for readers of this test."""
    for path in glob.glob("/tmp/perf-*.map"):
        with open(path, "rb") as file:
            ours = b"made_for_%d\n" % os.getpid() in file.read()
        if ours:
            os.unlink(path)


def sqlite_stacks(path):
    """Samples of the tables of an SQLite file, with their stacks."""
    database = sqlite3.connect(path)
    functions = dict(database.execute("SELECT frame, coalesce(function, object, '?') FROM frames"))
    links = {stack: (parent, frame) for stack, parent, frame in database.execute("SELECT stack, parent, frame FROM stacks")}
    for event, comm, value, stack in database.execute("SELECT event, comm, value, stack FROM samples"):
        frames = []
        while stack is not None:
            stack, frame = links[stack]
            frames.append(functions[frame])
        yield formats.Stack(event, comm, frames[::-1] or ["?"], value, 1)
    database.close()


def judge_folders(perfdata, label, path, folder, failures):
    """What is no single file of one format: a trace of CTF, and a database."""
    tables = export.report_tables(perfdata, path, [])
    samples = sum(table["events"][0]["samples"] for table in tables)
    failures += ctf.differences(perfdata, path, os.path.join(folder, label + ".ctf"), samples)
    database = os.path.join(folder, label + ".sqlite")
    code, _, said = export.run([perfdata, "export", "-q", "--to", "sqlite", "-o", database, path])
    if code not in (0, 1):
        failures.append(f"sqlite: {label}: {said}")
        return
    expected = export.report_sums(perfdata, path, ["--no-inline"], True)
    failures += [f"sqlite: {label}: {text}" for text in export.report_differences(expected, export.sums_of(sqlite_stacks(database), True))]


def judge(perfdata, name, path, folder, failures):
    """All formats of one recording; how many there are."""
    missing = EVENTS.get(name, set()) - events_of(perfdata, path)
    if missing:
        failures.append(f"{name}: no samples of {missing}")
    names = export.all_formats(perfdata)
    for format_name in names:
        export.judge(perfdata, format_name, path, failures)
    judge_folders(perfdata, name, path, folder, failures)
    if name == "tracepoints":
        same_traces(perfdata, path, failures)
    if name == "JIT" and b"jit_caller;jit_loop" not in export.run([perfdata, "folded", "-q", path])[1]:
        failures.append("JIT: the names of its map are missing")
    return len(names) + 2


def main():
    perfdata = os.path.abspath(sys.argv[1])
    failures = []
    exports = 0
    with tempfile.TemporaryDirectory(prefix="perfdata-fresh-") as folder:
        made = record(perfdata, folder)
        for name, path in made.items():
            exports += judge(perfdata, name, path, folder, failures)
        remove_maps()
    print("\n".join(failures) or f"{exports} exports of {len(made)} recordings made now agree with report: {', '.join(made)}")
    return 1 if failures else 0 if made else SKIPPED


if __name__ == "__main__":
    sys.exit(main())
