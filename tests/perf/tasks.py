#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares perfdata report --tasks and --mmaps with perf report, on recordings made here and on a corpus.

usage: tasks.py PERFDATA [CORPUS]

Files that perf refuses are left out. --tasks must be the same, byte for byte; --mmaps too, except for what docs/differences.md says
under "Trees of threads". Exit status: 0 all agrees, 1 something does not, 77 no perf that can record.
"""

import os
import re
import subprocess
import sys
import tempfile

import compare
import common
import record

COMMANDS = {
    "forks": ["sh", "-c", "ls > /dev/null; (true | cat); sh -c 'true; true' & wait"],
    "one": ["true"],
}
MEMORY = re.compile(rb"^/tmp/perf-\d+\.map$|^\[stack\]$|^\[heap\]$|^/SYSV.*|^/dev/zero.*|^/anon_hugepage.*")
RANGE = re.compile(rb"^( +)([0-9a-f]+)-([0-9a-f]+) (\S{4}) ([0-9a-f]+) (\d+) (.*)$")


def fresh(folder):
    """Recordings by name."""
    for name, command in COMMANDS.items():
        path = os.path.join(folder, name)
        subprocess.run(["perf", "record", "-q", "-o", path, "--", *command], check=True, stderr=subprocess.DEVNULL)
        yield name, path, False


def stored(corpus, folder):
    for row in common.rows(corpus):
        if not row["path"].startswith("recorded/") or "pipe" in row["path"]:
            continue
        with common.Unpacked(corpus, row) as path:
            yield row["path"], path, True
    del folder


def coarse(text):
    """The lines, those of ranges without rights and inode, which perf reads in the wrong byte order or out of a build id, and
    with one name for memory, which depends on the rights."""
    found = []
    for line in text.split(b"\n"):
        match = RANGE.match(line)
        found.append(b" ".join([*match.group(1, 2, 3, 5), MEMORY.sub(b"//anon", match[7])]) if match else line)
    return found


def is_part(ours, theirs):
    """True if theirs has all of our lines in this order; perf keeps what was mapped before exec."""
    rest = iter(theirs)
    return all(line in rest for line in ours)


def difference(perfdata, path, option, loose):
    theirs = compare.ask(["perf", "report", "--stdio", option, "-i", path], os.environ)
    ours = compare.ask([perfdata, "report", "-q", option, "-i", path], os.environ)
    if theirs.status != 0 or b"pid" not in theirs.out:
        return "refused"
    if not ours.crashed and ours.out == theirs.out:
        return "equal"
    if loose and option == "--mmaps" and is_part(coarse(ours.out), coarse(theirs.out)):
        return "part"
    return f"{path} {option}: exit status {ours.status}, {len(ours.out.splitlines())} lines, perf {len(theirs.out.splitlines())}"


def main():
    perfdata = os.path.abspath(sys.argv[1])
    corpus = sys.argv[2] if len(sys.argv) > 2 else None
    why = record.perf_missing()
    if why:
        common.skip(why)
    counts, wrong = {}, []
    with tempfile.TemporaryDirectory(prefix="perfdata-tasks-") as folder:
        for name, path, loose in [*fresh(folder)] if not corpus else stored(corpus, folder):
            for option in ("--tasks", "--mmaps"):
                found = difference(perfdata, path, option, loose)
                counts[found if " " not in found else "DIFFER"] = counts.get(found if " " not in found else "DIFFER", 0) + 1
                wrong += [f"{name}: {found}"] if " " in found else []
    print("\n".join([*wrong, " ".join(f"{name} {count}" for name, count in sorted(counts.items()))]))
    return 1 if wrong or not counts.get("equal") else 0


if __name__ == "__main__":
    sys.exit(main())
