#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What real perf reads in recordings that were cut up, put together and joined, held against what it reads before.

usage: perf.py PERFDATA FILE... [--all CORPUS] [--only TEXT]

Pieces must open without a word that the recording does not give. What is put together again must have the same samples,
in `perf script`, and the same totals, in `perf report --stats`. Recordings of two programs, made on the spot, must have as
many samples of each event and name together as alone. What docs/differences.md explains is counted apart. Exit
status: 0 all is equal; 1 not; 77 no perf.
"""

import argparse
import collections
import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "corpus"))

import common  # noqa: E402  (needs the path above)

SECTION = "Split and merged"
WAYS = ("event", "pid", "comm", "time=7ms")
# Totals that say how a file is laid out; pieces of an event say its ids only.
LAYOUT = re.compile(r" *(TOTAL|ATTR|FEATURE|TRACING_DATA|BUILD_ID|COMPRESSED|FINISHED_ROUND|EVENT_UPDATE|ID_INDEX) events:")
# Totals of tasks, which pieces of other tasks leave out.
OF_TASKS = re.compile(r" *(MMAP|MMAP2|COMM|FORK|EXIT|NAMESPACES) events:")
PROGRAMS = (
    ("first", "i=0; while [ $i -lt 60000 ]; do i=$((i+1)); done"),
    ("second", "for i in 1 2 3 4 5 6 7 8; do ls / >/dev/null; done; i=0; while [ $i -lt 30000 ]; do i=$((i+1)); done"),
)
EVENTS = (
    ("plain", ["-e", "cpu-clock", "-F", "999"]),
    ("chain", ["-e", "cpu-clock", "-F", "999", "-g"]),
    ("two", ["-e", "cpu-clock,page-faults", "-F", "499"]),
    ("group", ["-e", "{cpu-clock,page-faults}:S", "-F", "499"]),
    ("clock", ["-k", "CLOCK_MONOTONIC", "-e", "cpu-clock", "-F", "499", "-g"]),
    ("zstd", ["-z", "-e", "task-clock", "-F", "499"]),
    ("trace", ["-e", "sched:sched_switch,sched:sched_process_exec"]),
    ("other trace", ["-e", "sched:sched_process_exec,sched:sched_process_fork", "-e", "cpu-clock"]),
)


def perf(arguments, path):
    return common.run(["perf", *arguments, "-i", path], timeout=120)


def text(result):
    return None if result.status != 0 else result.out.decode("utf-8", "replace")


def complaints(result):
    return {re.sub(r"/\S+|[0-9.]+", "", line) for line in result.err.decode("utf-8", "replace").splitlines() if line.strip()}


def lines_of(out):
    """Lines, whose columns are as wide as the longest name of an event."""
    return collections.Counter(b" ".join(line.split()) for line in out.splitlines())


class Judge:
    def __init__(self, perfdata):
        self.perfdata = perfdata
        self.numbers = collections.Counter()
        self.known = common.Known(SECTION)

    def fail(self, name, step, what):
        if self.known.reason(name, step):
            self.numbers["known"] += 1
            return
        self.numbers["failures"] += 1
        print(f"{name}: {step}: {what}")
        sys.stdout.flush()

    def make(self, name, step, arguments):
        result = common.run([self.perfdata, *arguments], timeout=120)
        if result.status not in (common.FINE, common.DAMAGED):
            if result.crashed or result.status not in (5, 6):
                self.fail(name, step, f"exit status {result.status}: {result.err.decode('utf-8', 'replace')[:300]}")
            return False
        return True

    def stats(self, path, by):
        out = text(perf(["report", "--stats"], path))
        if out is None:
            return None
        lines = [re.sub(r"\(.*\)", "", line).rstrip() for line in out.split("\n\n")[0].splitlines()]
        if by == "event":
            lines.sort()  # pieces of events were put together in the order of their names
        return [line for line in lines if not LAYOUT.match(line) and not (by in ("pid", "comm") and OF_TASKS.match(line))]

    def as_file(self, folder, path, name):
        """Pieces are files, of which perf knows more than of a pipe."""
        with open(os.path.join(path, "data") if os.path.isdir(path) else path, "rb") as f:
            pipe = int.from_bytes(f.read(16)[8:], "little") == 16
        made = os.path.join(folder, "file")
        return made if pipe and self.make(name, "convert", ["convert", "-q", "-o", made, path]) else path

    def piece_by_piece(self, folder, path, name):
        path = self.as_file(folder, path, name)
        before = perf(["script"], path)
        if before.status != 0 or not before.out:
            return
        self.numbers["recordings"] += 1
        for by in WAYS:
            parts, merged = os.path.join(folder, "parts"), os.path.join(folder, "merged")
            shutil.rmtree(parts, ignore_errors=True)
            if not self.make(name, by, ["split", "-q", "--by", by, "-o", parts, path]):
                continue
            pieces = sorted(os.path.join(parts, piece) for piece in os.listdir(parts))
            for piece in pieces:
                self.numbers["pieces"] += 1
                after = perf(["script"], piece)
                new = complaints(after) - complaints(before)
                if after.status != 0 or new or not after.out:
                    self.fail(name, "piece", f"{by}: {os.path.basename(piece)}: exit status {after.status}: {sorted(new)[:3]}")
            if not self.make(name, by, ["merge", "-q", "-o", merged, *pieces]):
                continue
            after = perf(["script"], merged)
            if lines_of(after.out) != lines_of(before.out):
                self.fail(name, by, "perf script has other lines: " + self.difference(before.out, after.out))
            if complaints(after) - complaints(before):
                self.fail(name, by, f"perf says {sorted(complaints(after) - complaints(before))[:3]}")
            # perf 6.1 stops at the tracing data of a pipe here, also in pipes of its own
            wanted = self.stats(path, by)
            if wanted and any("SAMPLE" in line for line in wanted) and self.stats(merged, by) != wanted:
                self.fail(name, by, f"totals {self.stats(merged, by)} were {wanted}")

    @staticmethod
    def difference(before, after):
        gone, new = lines_of(before) - lines_of(after), lines_of(after) - lines_of(before)
        return f"{sum(gone.values())} gone, {sum(new.values())} new: {list(gone)[:2]} {list(new)[:2]}"

    # ---- made on the spot ----

    def counts(self, path):
        """Samples of each event and name."""
        result = perf(["script", "-F", "comm,event", "-G"], path)
        return None if result.status != 0 else collections.Counter(
            " ".join(line.split()) for line in result.out.decode("utf-8", "replace").splitlines() if line.strip())

    def join(self, folder, left, right):
        merged = os.path.join(folder, "joined")
        step = f"{os.path.basename(left)} and {os.path.basename(right)}"
        if not self.make("on the spot", step, ["merge", "-q", "--align", "none", "-o", merged, left, right]):
            return
        self.numbers["joined"] += 1
        wanted, got = self.counts(left) + self.counts(right), self.counts(merged)
        if got is None:
            self.fail("on the spot", step, "perf refuses it: " + perf(["script"], merged).err.decode()[:200])
        elif got != wanted:
            self.fail("on the spot", step, f"{dict(got - wanted)} more, {dict(wanted - got)} less")
        new = complaints(perf(["script"], merged)) - complaints(perf(["script"], left)) - complaints(perf(["script"], right))
        if new:
            self.fail("on the spot", step, f"perf says {sorted(new)[:3]}")

    def on_the_spot(self, folder):
        made = []
        for how, options in EVENTS:
            for name, script in PROGRAMS:
                path = os.path.join(folder, f"{how}-{name}.data")
                result = subprocess.run(["perf", "record", "-q", "-o", path, *options, "--", "sh", "-c", script],
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
                if result.returncode == 0 and self.counts(path):
                    made.append(path)
        for i, left in enumerate(made):
            self.join(folder, left, made[(i + 5) % len(made)])
        for path in made[::4]:
            self.piece_by_piece(folder, path, os.path.basename(path))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("perfdata")
    parser.add_argument("files", nargs="+")
    parser.add_argument("--all", metavar="CORPUS", help="also all recordings of a corpus that perf reads")
    parser.add_argument("--only", default="", metavar="TEXT", help="only files of a corpus whose path has TEXT")
    arguments = parser.parse_args()
    if not shutil.which("perf"):
        common.skip("no perf")
    judge = Judge(os.path.abspath(arguments.perfdata))
    with tempfile.TemporaryDirectory(prefix="merge-") as folder:
        for path in arguments.files:
            judge.piece_by_piece(folder, path, os.path.basename(path))
        if not arguments.only:
            judge.on_the_spot(folder)
        for row in common.rows(arguments.all) if arguments.all else []:
            if arguments.only in row["path"] and row["byteorder"] == "little" and int(row["size"]) < 4 << 20:
                with common.Unpacked(arguments.all, row) as path:
                    judge.piece_by_piece(folder, path, row["path"])
    numbers = judge.numbers
    print(f"{numbers['recordings']} recordings in {numbers['pieces']} pieces and again as one, "
          f"{numbers['joined']} joined with others: {numbers['failures']} failures, "
          f"{numbers['known']} known differences")
    return 1 if numbers["failures"] or not numbers["recordings"] else 0


if __name__ == "__main__":
    sys.exit(main())
