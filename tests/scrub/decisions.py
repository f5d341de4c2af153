#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""That nothing new slips through perfdata scrub: with a record, a feature, a layout or a member more in the tables of the
format, and none in src/edit/scrub/scrub.def, it does not compile.

    decisions.py TOP COMPILER...
"""

import os
import shutil
import subprocess
import sys
import tempfile

# table, before which line, what is new, the word that the compiler must name
ADDED = [
    ("record.def", "END(lost)", '\tFIELD(U32, brand_new, DEC, ALWAYS, "a number")\n', "brand_new"),
    ("record.def", "END(comm)", '\tTEXT(STR0, brand_new, ALWAYS, "a text")\n', "brand_new"),
    ("sample.def", "END(sample)", '\tARRAY(U8, brand_new, LEADING(U64), HEX, ALWAYS, "bytes")\n', "brand_new"),
    ("part.def", "END(branch)", '\tFLAGS(U64, brand_new, branch_flags, ALWAYS, "bits")\n', "brand_new"),
    ("feature.def", "END(cache)", '\tLIST(cache_level, brand_new, LEADING(U32), ALWAYS, "parts")\n', "brand_new"),
    ("feature.def", "END(cache)", '\tONE(cache_level, brand_new, ALWAYS, "a part")\n', "brand_new"),
    ("record.def", "BODY(lost,", 'RECORD(BRAND_NEW, brand_new, 60, comm, KERNEL, "a record")\n', "of_brand_new"),
    ("feature.def", "PART(pmu_cap,", 'FEATURE(BRAND_NEW, brand_new, 60, string, "a feature")\n', "of_brand_new"),
    ("part.def", "PART(count,", 'PART(brand_new, "a layout")\n\tFIELD(U8, x, DEC, ALWAYS, "x")\nEND(brand_new)\n', "brand_new"),
    # and the other way round: a member that went, with its decision left
    ("record.def", '\tFIELD(U64, lost, DEC, ALWAYS, "number of records, of any type")\n', None, "lost"),
]


def compile_walk(top, include, compiler):
    command = [*compiler, "-std=gnu11", "-D_GNU_SOURCE", "-fsyntax-only", "-I", include, "-I", os.path.join(top, "src"),
               os.path.join(top, "src", "edit", "scrub", "fields.c")]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return done.returncode, done.stdout


def change(path, before, new):
    with open(path, encoding="utf-8") as f:
        text = f.read()
    if text.count(before) != 1:
        sys.exit(f"{path}: '{before.strip()}' stands there {text.count(before)} times")
    with open(path, "w", encoding="utf-8") as f:
        f.write(text.replace(before, "" if new is None else new + before))


def main():
    top, compiler = os.path.abspath(sys.argv[1]), sys.argv[2:]
    include = os.path.join(top, "include")
    status, out = compile_walk(top, include, compiler)
    if status:
        sys.exit(f"it does not compile as it is:\n{out}")
    failures = 0
    for table, before, new, word in ADDED:
        with tempfile.TemporaryDirectory(prefix="scrub-") as folder:
            copy = os.path.join(folder, "include")
            shutil.copytree(include, copy)
            change(os.path.join(copy, "perfdata", "table", table), before, new)
            status, out = compile_walk(top, copy, compiler)
        if not status or word not in out:
            failures += 1
            print(f"{table}: {'a line less' if new is None else new.strip()}: compiles, or does not say '{word}'\n{out[:500]}")
    print(f"{len(ADDED)} changes of the tables, {failures} failures")
    sys.exit(failures != 0)


if __name__ == "__main__":
    main()
