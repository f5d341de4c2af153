#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What is true of a type of record is a column of a table, and bytes are read by the tables or the cursor.

usage: tests/columns.py TOP

Fails where a `case PD_RECORD_` or a load at an offset computed by hand stands in a file that is not listed below, and where
a listed file has none any more. The lists say why a file may.
"""

import glob
import os
import re
import sys

SWITCHES = {
    "src/record/ring/offcpu.c": "raw records of the kernel's ring, before anything is decoded",
    "src/stream/read/stream.c": "the records that have others in them, on the way of every record",
}

LOADS = {
    "src/file": "file headers, which come before any record",
    "src/filter/match.c": "raw data of tracepoints, by formats that the file brings",
    "src/interval/raw.h": "raw data of tracepoints, by formats that the file brings",
    "src/interval/tracepoints.c": "the same, several fields at once",
    "src/object/elf/elf.c": "ELF",
    "src/profile/collect/spans.c": "samples of one event, at offsets that the event's attr gives",
    "src/record/open.c": "an attr on its way to the kernel",
    "src/record/ring": "records in a ring, before anything is decoded",
    "src/state/known.c": "MMAP2 records that are like one that was decoded, but for process and address",
    "src/stream": "heads of records, and the ids and times that say what a record belongs to",
    "src/trace/print.c": "raw data of tracepoints, by formats that the file brings",
    "src/unwind/memory.h": "words of a copied stack, at addresses",
    "src/unwind/ends/ends.c": "instructions, at addresses",
    "src/write": "records that are passed unchanged but for an id or a size",
}


def files(top):
    for folder in ("src", "cli", "manual", "server"):
        for path in sorted(glob.glob(os.path.join(top, folder, "**", "*.[ch]"), recursive=True)):
            name = os.path.relpath(path, top)
            if not name.startswith(("src/format/", "src/base/")):
                with open(path, encoding="utf-8") as file:
                    yield name, file.read()


def listed(name, names):
    """The entry of a list that covers a file: the file, or a folder above it."""
    return next((entry for entry in names if name == entry or name.startswith(entry + "/")), None)


def check(what, found, names, wrong):
    used = set()
    for name, count in found.items():
        entry = listed(name, names)
        used.add(entry)
        if not entry:
            wrong.append(f"{name}: {count} {what}: make it a column of src/format/traits.def, or list the file with a reason")
    wrong.extend(f"{entry}: has no {what} any more; take it off the list" for entry in names if entry not in used)


def main():
    top = sys.argv[1]
    switches, loads, wrong = {}, {}, []
    for name, text in files(top):
        count = len(re.findall(r"\bcase PD_RECORD_", text))
        if count:
            switches[name] = count
        count = len(re.findall(r"\bpd_load_u(?:16|32|64)\(", text))
        if count:
            loads[name] = count
    check("case PD_RECORD_", switches, SWITCHES, wrong)
    check("pd_load_", loads, LOADS, wrong)
    total = sum(switches.values())
    if total >= 10:
        wrong.append(f"{total} lines with case PD_RECORD_ outside src/format; there are to be fewer than 10")
    print("\n".join(wrong) or f"{total} case PD_RECORD_ and {sum(loads.values())} pd_load_ outside src/format and src/base")
    return 1 if wrong else 0


sys.exit(main())
