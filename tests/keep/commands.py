#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Do the options that choose samples choose the same ones in every command that has them?

usage: commands.py PERFDATA CORPUS|FILE... [--only TEXT] [--every N] [--choices N] [--record]

For each recording and each of --time (from and to, open, in parts, by the wall clock), --comm, --pid, --tid, --cpu, --dso,
--symbol, --event and --where, with values from the recording, and for some of them together: filter makes a recording of
what is chosen; script, report, folded and flame must say of it, without options, what they say of the whole with them, and
report must count as many samples as script prints. Recordings whose samples have counts (READ) are left out: what such a sample
stands for depends on the one before it. --record makes a recording with symbols by perf, and takes that too.
Exit status: 0 all is so; 1 not; 77 no corpus.
"""

import argparse
import csv
import io
import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "corpus"))

import common  # noqa: E402  (needs the path above)

FINE = (common.FINE, common.DAMAGED)
NOTHING, NO_SAMPLES = 5, 6
FIELDS = "comm,pid,tid,time,ip,sym,dso"
ROW = re.compile(r"^ *(.*?) +(-?\d+)/(-?\d+) +(\d+\.\d+): +[0-9a-f]+ (.*) \((.*)\)$")
# how long the recording was, and that it had more than one event
WHOLE = re.compile(rb'<text class="facts".*|^\[[^]]*\];(?=.* \d+$)', re.M)
# what is said of a part and of the whole in the same words
VIEWS = (
    ("script", "-G", "--ns", "-F", "comm,pid,tid,time,event,ip,sym,dso"),
    # what stands in a pipe is known too late to choose columns by it
    ("report", "--csv", "-s", "comm,dso,symbol", "--no-children", "-g", "none", "--percentage", "relative"),
    ("folded",),
    ("flame", "--format", "svg"),
    ("export", "--to", "csv"),
)


class Recording:
    """A recording, and what stands in it."""

    def __init__(self, perfdata, path, folder):
        self.perfdata, self.path, self.folder = perfdata, path, folder
        self.part = os.path.join(folder, "part", os.path.basename(path))
        os.makedirs(os.path.dirname(self.part), exist_ok=True)
        events = self.ask(("evlist", "-v"), self.path).out
        self.counts, self.events = b"|READ" in events, events.count(b"\n")
        out = self.ask(("script", "-G", "--ns", "-F", FIELDS), self.path).out.decode("utf-8", "replace")
        self.rows = [found.groups() for found in map(ROW.match, out.splitlines()) if found]

    def ask(self, words, path, options=()):
        return common.run([self.perfdata, *words, "-q", *options, "-i", path], timeout=300)

    def options(self):
        """What to choose by, from what is there."""
        if not self.rows or self.counts:
            return
        comms, pids, tids, times, symbols, objects = (sorted(set(column)) for column in zip(*self.rows))
        third, half = times[len(times) // 3], times[len(times) // 2]
        yield from (("--time", time) for time in (f"{third},{half}", f"{half},", f",{third}", "25%/2", "0%-20%,50%-70%"))
        yield from (("--comm", comms[0]), ("--comms", ",".join(comms[-2:])), ("--pid", pids[-1]), ("--tid", tids[0]),
                    ("--cpu", "0"), ("--dso", os.path.basename(objects[0])), ("--dso", objects[-1]))
        yield from (("--symbol", name) for name in [name for name in symbols if name != "[unknown]"][:2])
        yield from (("--where", "ip % 3 == 0"), ("--where", f"comm == '{comms[0]}' || time > {half}s"),
                    ("--time", "30%-90%", "--comm", comms[-1]), ("--tid", tids[-1], "--dso", objects[0]))
        yield from (("--time", time) for time in self.wall_clocks())

    def wall_clocks(self):
        """Halves of the recording by the wall clock, where it has one."""
        done = self.ask(("script", "-F", "time"), self.path, ("--time", "2000-01-01,2099-01-01"))
        if done.status not in FINE:
            return
        out = self.ask(("info",), self.path).out.decode("utf-8", "replace")
        found = re.search(r"(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d)", out)
        if found:
            yield f"{found[1]},"
            yield f"{found[1]} {found[2]},"

    def compare(self, options):
        """Texts of what is wrong."""
        if os.path.exists(self.part):
            os.unlink(self.part)
        done = self.ask(("filter",), self.path, (*options, "-o", self.part))
        if done.status not in (*FINE, NOTHING, NO_SAMPLES, 2):
            yield f"filter: exit status {done.status}: {done.err[:200]!r}"
        for words in VIEWS:
            whole = self.ask(words, self.path, options)
            if words[0] == "flame" and self.events > 1:
                continue
            if done.status not in FINE:
                if whole.status in FINE and whole.out:
                    yield f"{words[0]}: finds samples, filter says {done.err[:200]!r}"
                continue
            part = self.ask(words, self.part)
            if (whole.status not in FINE) != (part.status not in FINE):
                yield f"{words[0]}: exit status {whole.status}, of what filter kept {part.status}: {whole.err[:200]!r}"
            elif WHOLE.sub(b"", whole.out) != WHOLE.sub(b"", part.out):
                yield f"{words[0]}: {first_difference(whole.out, part.out)}"
            elif words is VIEWS[1] and whole.status in FINE:
                yield from self.count(options, whole.out)

    def count(self, options, table):
        printed = self.ask(("script", "-G", "-F", "event,tid,ip"), self.path, options).out.count(b"\n")
        rows = csv.DictReader(io.StringIO(table.decode("utf-8", "replace")))
        counted = sum(int(row["samples"]) for row in rows)
        if printed != counted:
            yield f"script prints {printed} samples, report counts {counted}"


def first_difference(whole, part):
    whole, part = whole.split(b"\n"), part.split(b"\n")
    for one, other in zip(whole, part):
        if one != other:
            return f"\n    {one[:200]!r}\n    {other[:200]!r}"
    return f"{len(whole)} lines, of what filter kept {len(part)}"


def recorded(folder):
    """A recording by perf, of a program with symbols; None where it cannot be made."""
    if not shutil.which("perf") or not shutil.which("gcc"):
        return None
    source = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "perf", "work.c")
    program, path = os.path.join(folder, "work"), os.path.join(folder, "work.data")
    for argv in (["gcc", "-O1", "-g", "-fno-omit-frame-pointer", "-pthread", source, "-o", program],
                 ["perf", "record", "-q", "-k", "CLOCK_MONOTONIC", "-e", "cpu-clock,page-faults", "-F", "2000", "-g", "-o", path, program,
                  "100", "alone", "threads", "forks"]):
        if subprocess.run(argv, capture_output=True, check=False).returncode:
            return None
    return path


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("\n\n")[1][len("usage: ") :])
    parser.add_argument("perfdata")
    parser.add_argument("files", nargs="*")
    parser.add_argument("--only", default="")
    parser.add_argument("--every", type=int, default=1, help="only each N-th file of a corpus")
    parser.add_argument("--choices", type=int, default=1, help="only each N-th choice of options")
    parser.add_argument("--record", action="store_true")
    args = parser.parse_args()
    perfdata = os.path.abspath(args.perfdata)
    files = choices = wrong = 0
    with tempfile.TemporaryDirectory(prefix="commands-") as folder:
        os.environ["HOME"] = folder
        made = [recorded(folder)] if args.record else []
        if made == [None]:
            common.skip("perf cannot record here")
        for path, name in common.recordings([*args.files, *made], args.only, args.every):
            if os.path.isdir(path):
                continue
            recording = Recording(perfdata, path, folder)
            files += 1
            # each file begins with another choice, so that all have their turn
            for options in list(recording.options())[files % args.choices :: args.choices]:
                choices += 1
                for text in recording.compare(options):
                    wrong += 1
                    print(f"{name}: {' '.join(options)}: {text}", flush=True)
    print(f"{files} recordings, {choices} choices in {len(VIEWS)} views: {wrong} wrong")
    return 1 if wrong or not choices else 0


if __name__ == "__main__":
    sys.exit(main())
