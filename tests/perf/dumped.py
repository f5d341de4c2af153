#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares perfdata report -D, script -D and report -T with perf, byte for byte, on recordings made here and on some of a corpus.

usage: dumped.py PERFDATA [CORPUS] [--all]

Files that perf 6.1 refuses are left out, damaged ones, and those with hardware traces, which perf decodes. What differs is said in docs/differences.md,
under "Records with their bytes". --all reads all files of the corpus. Exit status: 0 all agrees, 1 something does not, 77 no perf that can record.
"""

import os
import re
import subprocess
import sys
import tempfile

import compare
import common
import record

EVENTS = ["-e", "cpu-clock"]
RECORDINGS = {
    "plain": [*EVENTS, "--", "ls"],
    "chains": [*EVENTS, "-g", "--", "ls"],
    "stacks": [*EVENTS, "--call-graph", "dwarf,512", "--", "ls"],
    "fields": [*EVENTS, "-d", "-W", "--phys-data", "--data-page-size", "--code-page-size", "--user-regs=IP,SP", "--intr-regs=AX,BX", "--", "ls"],
    "several": ["-e", "cpu-clock,page-faults,context-switches", "--", "sh", "-c", "ls; ls"],
    "group": ["-e", "{cpu-clock,page-faults}:S", "--", "ls"],
    "switches": [*EVENTS, "--switch-events", "--namespaces", "--", "sh", "-c", "ls | cat"],
    "counts": [*EVENTS, "-s", "-T", "--", "sh", "-c", "ls"],
    "compressed": [*EVENTS, "-z", "--", "ls"],
}
# Each of another kind: what the kernel writes, what perf stat does, pipes, directories, other byte orders.
CHOSEN = ("a-bpf", "a-pipe", "a-threads", "all-fields", "arm64-group", "armhf-all-fields", "group-s", "i386-pipe", "lost-samples", "mips-all-fields", "oddmap", "read-times",
          "s390x-all-fields", "s390x-oddmap", "s390x-stat", "stat-record-interval", "stat-record-pipe", "switch-output.4", "threads-zstd", "zstd-pipe",
          "thirdparty/perf_data_converter/perf.data.branch-4.14", "thirdparty/perf_data_converter/perf.data.lost_samples-4.4")
# Mappings without rights: perf takes what follows for them. Copied stacks of a program that is not here: how far they are unwound.
LEFT_OUT = ("thirdparty/hotspot/perf.data.true.v2", "thirdparty/perfparser/contentsize")
LARGEST = 400_000
TRACES = re.compile(rb"PERF_RECORD_AUXTRACE(?:_INFO)? (?:type|size):")
WARNING = re.compile(rb"^WARNING: .*\n", re.M)
BYTES = re.compile(rb"^\.  [0-9a-f]{4,}: .*\n", re.M)
VDSO = re.compile(rb"/tmp/perf-vdso\.so-\w+")
OF_HERE = re.compile(rb"^(\t *[0-9a-f]+) .*$", re.M)
UNSWAPPED = re.compile(rb"^\.\.\. scale: .*$|\]: [-r][-w][-x][-ps]|^\.\.\. \w+ regs: mask .*$|^\.{4} \w+ +0x.*$", re.M)
ANONYMOUS = re.compile(rb" (?:/tmp/perf-\d+\.map|//anon|/(?:dev/zero|anon_hugepage|SYSV).*)$", re.M)
BRANCHES = re.compile(rb"^\.\.\. branch (?:stack|callstack): nr:[1-9]", re.M)
OF_EVENT = re.compile(rb"^ +SAMPLE events: +\d+$", re.M)
NOT_YET = (b" ...... dso: <not found>", b" ...... dso: [kernel.kallsyms]")


def fresh(folder):
    """Recordings by name."""
    for name, options in RECORDINGS.items():
        path = os.path.join(folder, name)
        with open(os.devnull, "wb") as nothing:
            made = subprocess.run(["perf", "record", "-q", "-o", path, *options], stdout=nothing, stderr=subprocess.PIPE, check=False)
        if made.returncode != 0:
            raise SystemExit(f"perf record {' '.join(options)}: {made.stderr.decode(errors='replace')}")
        yield name, path, False


def stored(corpus, wants_all):
    for row in common.rows(corpus):
        name = row["path"].removeprefix("recorded/").removesuffix(".data")
        if name in LEFT_OUT or int(row["size"]) > LARGEST or not (wants_all or name in CHOSEN):
            continue
        with common.Unpacked(corpus, row) as path:
            yield name, path, row["byteorder"] == "big"


def normal(text, swapped):
    """Without what perf warns of on standard output, the names of copies of the vDSO, of functions in call chains, which may be of this machine's kernel
    or vDSO, how many branches perf has counted as samples of an event, and what it has swapped or left in the wrong byte order."""
    text = OF_EVENT.sub(b"", text) if BRANCHES.search(text) else text
    text = OF_HERE.sub(rb"\1", VDSO.sub(b"[vdso]", WARNING.sub(b"", text)))
    return ANONYMOUS.sub(b" //anon", UNSWAPPED.sub(b"", BYTES.sub(b"", text))) if swapped else text


def first_difference(ours, theirs):
    """None, or a line of each. Of a mapping that comes after the sample perf does not know yet."""
    ours, theirs = ours.split(b"\n"), theirs.split(b"\n")
    for number, (own, other) in enumerate(zip(ours, theirs)):
        if own != other and (other, own) != NOT_YET:
            return f"line {number + 1}: {own!r}, perf {other!r}"
    return None if len(ours) == len(theirs) else f"{len(ours)} lines, perf {len(theirs)}"


def difference(perfdata, path, command, swapped):
    how = [command, "-D", *(["-F", "comm,tid,time,event"] if command == "script" else []), "-i", path]
    theirs = compare.ask(["perf", *how], os.environ)
    ours = compare.ask([perfdata, *how], os.environ)
    if b": damage: " in ours.err or b"failed to process" in theirs.err:
        return "damaged"
    if theirs.status != 0 or TRACES.search(theirs.out) or not theirs.out.count(b"PERF_RECORD"):
        return "refused"
    if command == "script" and b"PERF_RECORD_STAT_ROUND" in theirs.out:
        return "counts"
    if ours.crashed or ours.status != 0:
        return f"exit status {ours.status}: {ours.err.decode(errors='replace')}"
    return first_difference(normal(ours.out, swapped), normal(theirs.out, swapped)) or "equal"


def thread_table(text):
    """The table at the end of report -T."""
    start = re.search(rb"^# +PID +TID.*$", text, re.M)
    return text[start.start() :] if start else b""


def difference_of_counts(perfdata, path, form):
    theirs = compare.ask(["perf", "report", "--stdio", "-T", "--pretty", form, "-i", path], os.environ)
    ours = compare.ask([perfdata, "report", "-q", "-T", "--pretty", form, "-i", path], os.environ)
    if theirs.status != 0 or not thread_table(theirs.out) or b": damage: " in ours.err:
        return "refused"
    if ours.crashed:
        return f"exit status {ours.status}: {ours.err.decode(errors='replace')}"
    if ours.status == compare.NOTHING[1]:
        return "empty"
    return first_difference(thread_table(ours.out), thread_table(theirs.out)) or "equal"


def main():
    arguments = [word for word in sys.argv[1:] if word != "--all"]
    perfdata = os.path.abspath(arguments[0])
    why = record.perf_missing()
    if why:
        common.skip(why)
    counts, wrong = {}, []
    with tempfile.TemporaryDirectory(prefix="perfdata-dumped-") as folder:
        files = [fresh(folder)]
        if len(arguments) > 1 and os.path.isdir(arguments[1]):
            files.append(stored(arguments[1], "--all" in sys.argv))
        for name, path, swapped in (item for some in files for item in some):
            for command in ("report", "script"):
                found = difference(perfdata, path, command, swapped)
                kind = found if " " not in found else "DIFFER"
                counts[kind] = counts.get(kind, 0) + 1
                wrong += [f"{name}: {command} -D: {found}"] if kind == "DIFFER" else []
            for form in ("normal", "raw"):
                found = difference_of_counts(perfdata, path, form)
                kind = "tables" if found == "equal" else found
                counts[kind] = counts.get(kind, 0) + 1
                wrong += [f"{name}: report -T --pretty {form}: {found}"] if " " in found else []
    print("\n".join([*wrong, " ".join(f"{name} {count}" for name, count in sorted(counts.items()))]))
    return 1 if wrong or not counts.get("equal") or not counts.get("tables") else 0


if __name__ == "__main__":
    sys.exit(main())
