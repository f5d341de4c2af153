#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""perf-json compared with perf data convert --to-json, byte for byte where both have names, and every format on recordings made now.

usage: perf.py PERFDATA RECORDING...

Recordings made now: several events, tracepoints, context switches with off-CPU time, a call graph by frame pointers, copied stacks that are
unwound, code that was made while the program ran. Those of perf that it fails to convert itself (6.1 crashes where a header feature is
missing) are left out. Exit status: 0 all agrees, 1 not, 77 there is no perf that converts.
"""

import csv
import glob
import io
import json
import os
import shutil
import subprocess
import sys
import tempfile

import export

SKIPPED = 77
WORK = "import hashlib, time\nfor i in range(40):\n hashlib.sha256(bytes(200000)).digest()\n time.sleep(0.001)\n"
# One function that calls another one, and a map for perf with their names; of x86.
JIT = """import ctypes, mmap, os
memory = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
address = ctypes.addressof(ctypes.c_char.from_buffer(memory))
memory[0:12] = bytes.fromhex("55 48 89 e5 48 ff cf 75 fb 5d c3 90")
memory[64:75] = bytes.fromhex("55 48 89 e5 e8 b7 ff ff ff 5d c3")
with open(f"/tmp/perf-{os.getpid()}.map", "w") as file:
    file.write(f"{address:x} c jit_loop\\n{address + 64:x} b jit_caller\\n")
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


def run(words):
    return subprocess.run(words, capture_output=True, timeout=120)


def same_but_names(ours, theirs):
    """Equal, but for a few addresses that have a name here and none in perf, or are in the PLT, where perf sees other symbols."""
    more = entries = 0
    for one, other in zip(ours["samples"], theirs["samples"]):
        for entry, plain in zip(one["callchain"], other["callchain"]):
            entries += 1
            if "symbol" not in plain and "symbol" in entry:
                more += 1
                del entry["symbol"], entry["dso"]
            elif "symbol" in plain and entry.get("symbol", "").endswith(("@plt", ".plt")):
                more += entry["symbol"] != plain["symbol"]
                entry["symbol"] = plain["symbol"]
    return ours == theirs and more <= entries // 50


def difference(ours, theirs):
    """The first two samples that differ."""
    if len(ours) != len(theirs):
        return f"{len(ours)} samples, perf has {len(theirs)}"
    at = next((i for i, pair in enumerate(zip(ours, theirs)) if pair[0] != pair[1]), None)
    if at is None:
        return "headers differ"
    return f"sample {at} of {len(ours)}: {ours[at]}, perf has {theirs[at]}"


def same_as_perf(perfdata, folder, path, failures):
    """True if perf could convert the file."""
    theirs = os.path.join(folder, "perf.json")
    if os.path.exists(theirs):
        os.unlink(theirs)
    done = run(["perf", "data", "convert", "--to-json", theirs, "--force", "-i", path])
    if done.returncode or not os.path.exists(theirs) or not os.path.getsize(theirs):
        return False
    done = run([perfdata, "export", "-q", "--to", "perf-json", path])
    if done.returncode == 6:
        return False
    ours = done.stdout
    with open(theirs, "rb") as file:
        expected = file.read()
    if ours != expected and not same_but_names(json.loads(ours), json.loads(expected)):
        failures.append(f"{os.path.basename(path)}: {difference(json.loads(ours)['samples'], json.loads(expected)['samples'])}")
    return True


def same_traces(perfdata, path, failures):
    """Fields of tracepoints in JSON lines and CSV are those of script."""
    lines = run([perfdata, "export", "-q", "--to", "jsonl", path]).stdout.decode().splitlines()
    ours = [sample["trace"] for sample in map(json.loads, lines) if "trace" in sample]
    rows = csv.DictReader(io.StringIO(run([perfdata, "export", "-q", "--to", "csv", path]).stdout.decode()))
    cells = [row["trace"] for row in rows if row["trace"]]
    text = run([perfdata, "script", "-F", "trace:event,trace", path]).stdout.decode(errors="replace")
    theirs = [line.split(": ", 1)[1].strip() for line in text.splitlines() if ": " in line]
    if [line.strip() for line in ours] != theirs or [cell.strip() for cell in cells] != theirs:
        failures.append(f"{os.path.basename(path)}: {len(ours)}, {len(cells)} traces, script has {len(theirs)}: {ours[:1]} {theirs[:1]}")
    return len(theirs)


def remove_maps():
    """What the JIT has left for readers."""
    for path in glob.glob("/tmp/perf-*.map"):
        with open(path, "rb") as file:
            ours = b"jit_caller" in file.read()
        if ours:
            os.unlink(path)


def main():
    perfdata, recordings = os.path.abspath(sys.argv[1]), sys.argv[2:]
    if not shutil.which("perf"):
        print("no perf")
        return SKIPPED
    failures = []
    compared = made = 0
    with tempfile.TemporaryDirectory(prefix="perfdata-export-") as folder:
        fresh = []
        for name, (options, work) in RECORDINGS.items():
            path = os.path.join(folder, name.replace(" ", "-") + ".data")
            done = run([perfdata, "record", "-q", *options, "-o", path, sys.executable, "-c", work])
            if done.returncode == 0 and os.path.exists(path):
                fresh.append(path)
            else:
                print(f"not recorded here: {name}: {done.stderr.decode().strip().splitlines()[-1:]}")
        for path in fresh:
            for format_name in export.all_formats(perfdata):
                export.judge(perfdata, format_name, path, failures)
                made += 1
        for path in (path for path in fresh if "tracepoints" in path):
            same_traces(perfdata, path, failures)
        for path in (path for path in fresh if "JIT" in path):
            if b"jit_caller;jit_loop" not in run([perfdata, "folded", "-q", path]).stdout:
                failures.append("JIT: the names of its map are missing")
        remove_maps()
        for path in [*recordings, *fresh]:
            compared += same_as_perf(perfdata, folder, path, failures)
    print("\n".join(failures) or f"{compared} files are those of perf; {made} exports of recordings made now agree with them")
    return 1 if failures else 0 if compared else SKIPPED


if __name__ == "__main__":
    sys.exit(main())
