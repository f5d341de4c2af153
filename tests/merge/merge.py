#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Cuts recordings into pieces in each way that there is, puts them together again, and holds that against the recording.

usage: merge.py PERFDATA COMPARE CORPUS|FILE... [--with FILE]... [--only TEXT] [--every N]

COMPARE is the program of compare.c. A folder with a manifest.tsv is a corpus. Samples must have the same bytes and be
in the order of time; other records must be the same, or for pieces of tasks none must be new. Each recording is also
joined with one of another machine and byte order. Exit status: 0 everything is equal; 1 not; 77 no corpus.
"""

import collections
import os
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "corpus"))

import common  # noqa: E402  (needs the path above)

USAGE, NOTHING, NO_SAMPLES = 2, 5, 6  # exit statuses of perfdata
READ = (common.FINE, common.DAMAGED)
MOST_PIECES = 200
# of tasks: what is known of other tasks is left out
OF_TASKS = ("pid", "comm", "cgroup")


class Trip:
    """What is done with one recording."""

    def __init__(self, perfdata, compare, path, name, numbers):
        self.perfdata, self.compare, self.path, self.name, self.numbers = perfdata, compare, path, name, numbers
        self.failures = []

    def fail(self, step, what):
        self.failures.append(f"{self.name}: {step}: {what}")

    def run(self, step, arguments, also=()):
        """Status of perfdata, or None if it is none of those that are fine."""
        result = common.run([self.perfdata, *arguments], timeout=300)
        if result.crashed or (result.status not in READ and result.status not in also):
            message = result.err.decode("utf-8", "replace").strip()
            self.fail(step, f"{arguments[0]}: exit status {result.status}: {message[:300]}")
            return None
        return result.status

    def hold(self, step, *arguments):
        self.numbers["comparisons"] += 1
        result = common.run([self.compare, *arguments], timeout=300)
        if result.status != 0:
            text = (result.out + result.err).decode("utf-8", "replace")
            self.fail(step, text.strip().replace("\n", "; ")[:500])

    def facts(self):
        result = common.run([self.compare, "--facts", self.path], timeout=300)
        return [int(word) for word in result.out.split()] if result.status == 0 else None

    def there_and_back(self, folder, by, options, source):
        step = " ".join([by, *options])
        parts, merged = os.path.join(folder, "parts"), os.path.join(folder, "merged")
        status = self.run(step, ["split", "-q", "--by", by, *options, "-o", parts, source], (USAGE, NOTHING, NO_SAMPLES))
        if status in (None, USAGE, NOTHING, NO_SAMPLES):
            self.numbers["not there"] += status is not None
            return
        pieces = sorted(os.path.join(parts, name) for name in os.listdir(parts))
        if by.startswith("size="):
            for piece in pieces:
                if not options and os.path.getsize(piece) > int(by[5:]):
                    self.fail(step, f"a piece has {os.path.getsize(piece)} bytes")
        if len(pieces) <= MOST_PIECES:
            self.numbers["pieces"] += len(pieces)
            if self.run(step, ["merge", "-q", "-o", merged, *pieces]) is not None:
                self.hold(step, *(["--subset"] if by in OF_TASKS else []), self.path, merged)
                os.remove(merged)
        for piece in pieces:
            os.remove(piece)
        os.rmdir(parts)

    def cut(self, folder, first, last):
        """Ranges of time that adjoin: the last one of cut belongs to it."""
        middle = first + (last - first) // 2
        pieces = [os.path.join(folder, name) for name in ("a", "b")]
        def at(ns):
            return f"{ns // 10**9}.{ns % 10**9:09}"
        for piece, times in zip(pieces, (f",{at(middle)}", f"{at(middle + 1)},")):
            if self.run("cut", ["cut", "-q", "--time", times, "-o", piece, self.path], (NOTHING, NO_SAMPLES)) not in READ:
                return
        merged = os.path.join(folder, "merged")
        if self.run("cut", ["merge", "-q", "-o", merged, *pieces]) is not None:
            self.hold("cut", "--subset", self.path, merged)

    def join(self, folder, other):
        """With another recording: as many samples of each event as in both."""
        merged = os.path.join(folder, "joined")
        for step, files in (("join", (self.path, other)), ("join behind", (other, self.path))):
            arguments = ["merge", "-q", "--kernels", "keep", "--drop-aux", "-o", merged, *files]
            if self.run(step, arguments, (USAGE,)) in READ:
                self.hold(step, "--sum", *files, merged)

    def go(self, others):
        if common.run([self.perfdata, "dump", "-q", "--stats", self.path]).status not in READ:
            return False
        facts = self.facts()
        if not facts:
            return False
        count, size, first, last = facts
        ways = [(by, []) for by in ("event", "pid", "comm", "cpu", "cgroup")]
        ways.append(("event", ["--to", "pipe"]))
        if last > first:
            ways += [(f"time={(last - first) // 3 + 1}ns", []), (f"time={(last - first) // 2 + 1}ns", ["-z"])]
        whole = os.path.getsize(self.path) if os.path.isfile(self.path) else size
        ways.append((f"size={max(whole - size // 2, 1) + 16384}", []))
        with tempfile.TemporaryDirectory(prefix="merge-") as folder:
            if count:
                for by, options in ways:
                    self.there_and_back(folder, by, options, self.path)
            if last > first:
                self.cut(folder, first, last)
            for other in others:
                self.join(folder, other)
            left = [n for n in os.listdir(folder) if ".new-" in n]
            if left:
                self.fail("all", f"left behind: {left}")
        return True


def main():
    parser = common.recordings_parser(__doc__, "compare")
    parser.add_argument("--with", dest="others", action="append", default=[], metavar="FILE", help="is joined with each one")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="only each N-th file of a corpus")
    arguments = parser.parse_args()
    perfdata, compare = arguments.perfdata, arguments.compare
    numbers = collections.Counter()
    with tempfile.TemporaryDirectory(prefix="merge-") as folder:
        others = []
        for i, other in enumerate(arguments.others):
            made = os.path.join(folder, f"other-{i}")
            common.run([perfdata, "convert", "-q", "--byte-order", "big" if i % 2 else "little", "-o", made, other])
            others.append(made)
        for path, name in common.recordings(arguments.files, arguments.only, arguments.every):
            trip = Trip(perfdata, compare, path, name, numbers)
            numbers["recordings"] += 1
            if not trip.go(others):
                numbers["refused"] += 1
            numbers["different"] += bool(trip.failures)
            for line in trip.failures:
                print(line)
                sys.stdout.flush()
    print(f"{numbers['recordings']} recordings, {numbers['refused']} refused: {numbers['pieces']} pieces, "
          f"{numbers['comparisons']} comparisons, {numbers['not there']} ways that the recording does not have; "
          f"{numbers['different']} differ")
    return 1 if numbers["different"] or not numbers["comparisons"] else 0


if __name__ == "__main__":
    sys.exit(main())
