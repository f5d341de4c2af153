#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares perfdata diff with perf diff, on recordings made here: two builds of a program, one without symbols, several events.

usage: diff.py PERFDATA [CC...] [--all]

Both programs get the same words, and the whole output must be equal, byte for byte. By default a choice of variants and pairs,
each pair and variant at least once; with --all every pair in every variant. One line for each that differs, with the first line
that does, perf's first; what perf itself refuses need only end well here. Exit status: 0 all are equal, 1 one is not, 77 no perf that can record, or no compiler.
"""

import os
import subprocess
import sys
import tempfile

import compare
import common
import record

RECORDINGS = {
    "old": "-e cpu-clock -F 1999 old/changed 120",
    "new": "-e cpu-clock -F 1999 new/changed 120",
    "again": "-e cpu-clock -F 1999 new/changed 120",
    "faults": "-e cpu-clock,page-faults -F 1999 old/changed 60",
    "tasks": "-g -e task-clock,cpu-clock -F 1999 new/changed 60",
    "counts": "-B -e cpu-clock -c 700000 old/changed 60",
    "bare": "-B -e cpu-clock -F 1999 bare/changed 60",
    "short": "-e cpu-clock -F 1999 old/changed 5",
}

# What perf 6.1 prints of some entries of .plt.got; it changes rows and the width of their column.
NAMELESS = b"[.] @plt"

PAIRS = ("old new", "old new again", "faults tasks", "tasks faults", "old bare", "bare again", "counts new", "new again", "old old",
         "short old", "faults new", "new tasks short", "again counts", "bare short", "short faults", "tasks old again new",
         "again old", "counts bare", "faults faults", "short tasks")

VARIANTS = (
    "", "-c delta", "-c ratio", "-c wdiff:1,2", "-c wdiff:-3,2 -o 0", "-p -F", "-p -F -c ratio", "-p -F -c wdiff:1,1", "-o 0",
    "-o 0 -c ratio", "-b", "-b -c ratio -p", "-q", "-t ,", "-t , -p -F -c ratio", "-s comm", "-s dso", "-s sym,dso",
    "-s comm,dso,sym", "-s pid", "-s pid,sym", "-s cpu,sym", "-S second", "-d changed", "-d changed --percentage relative",
    "-C changed --percentage relative", "--time 0%-50%", "-d [kernel.kallsyms] -s sym", "-s dso -c delta -p",
)


def build(folder, cc):
    """Why the programs cannot be compiled, or None."""
    for name, words in (("old", ["-g"]), ("new", ["-g", "-DFACTOR=15"]), ("bare", ["-s", "-DFACTOR=11"])):
        os.mkdir(os.path.join(folder, name))
        argv = [*cc, "-O2", *words, os.path.join(record.HERE, "changed.c"), "-o", os.path.join(folder, name, "changed")]
        if subprocess.run(argv, check=False).returncode != 0:
            return f"{cc[0]} cannot compile"
    return None


def record_all(folder, env):
    for name, words in RECORDINGS.items():
        argv = ["perf", "record", "-q", "-o", f"{name}.data", *words.split()]
        done = subprocess.run(argv, cwd=folder, env=env, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False)
        if done.returncode != 0:
            common.skip(f"perf record: {done.stderr[:200]!r}")


def differs(perfdata, folder, env, words):
    """True, with a line on standard output, if the programs do not print the same."""
    theirs, ours = ({"argv": [program, "diff", *words], "answer": None} for program in ("perf", perfdata))
    for one in (theirs, ours):
        one["answer"] = subprocess.run(one["argv"], cwd=folder, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                       stderr=subprocess.PIPE, timeout=compare.TIMEOUT, check=False)
    if theirs["answer"].returncode != 0 and 0 <= ours["answer"].returncode < 126:
        print(f"refused by perf: {' '.join(words)}")
        return False
    if theirs["answer"].returncode != 0 or ours["answer"].returncode != 0:
        print(f"DIFFER {' '.join(words)}: exit status {theirs['answer'].returncode}, {ours['answer'].returncode}: "
              f"{ours['answer'].stderr[-200:]!r}")
        return True
    found = compare.first_difference(theirs["answer"].stdout, ours["answer"].stdout)
    if found and NAMELESS in theirs["answer"].stdout:
        print(f"explained, perf has no name for an entry of a PLT: {' '.join(words)}")
        return False
    if found:
        print(f"DIFFER {' '.join(words)}: line {found[0]}\n    {found[1]!r}\n    {found[2]!r}")
    return bool(found)


def chosen(every):
    if every:
        return [(variant, pair) for pair in PAIRS for variant in VARIANTS]
    most = max(len(VARIANTS), len(PAIRS))
    return [(VARIANTS[at % len(VARIANTS)], PAIRS[at % len(PAIRS)]) for at in range(most)]


def main():
    words = [word for word in sys.argv[1:] if word != "--all"]
    if not words:
        sys.exit(__doc__)
    perfdata, cc = os.path.abspath(words[0]), words[1:] or ["cc"]
    why = record.perf_missing()
    if why:
        common.skip(why)
    with tempfile.TemporaryDirectory(prefix="perfdata-diff-") as folder:
        env = record.environment(folder)
        why = build(folder, cc)
        if why:
            common.skip(why)
        record_all(folder, env)
        jobs = chosen("--all" in sys.argv)
        bad = 0
        for variant, pair in jobs:
            files = [f"{name}.data" for name in pair.split()]
            bad += differs(perfdata, folder, env, [*variant.split(), *files])
    print(f"diff: {len(jobs)} comparisons, {bad} differ")
    return bad != 0


if __name__ == "__main__":
    sys.exit(main())
