#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Converts recordings there and back, and holds each step against the original.

usage: convert.py PERFDATA COMPARE CORPUS|FILE... [--only TEXT]

COMPARE is the program of compare.c. A folder with a manifest.tsv is a corpus. Exit status: 0 everything is equal;
1 not; 77 no corpus.
"""

import collections
import filecmp
import os
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "corpus"))

import common  # noqa: E402  (needs the path above)

# name, where from, options, options of the comparison with the original
STEPS = (
    ("file", None, [], []),
    ("again", "file", [], []),
    ("pipe", None, ["--to", "pipe"], ["--pipe"]),
    ("pipe-file", "pipe", [], ["--pipe"]),
    ("other", None, ["--byte-order", "OTHER"], []),
    ("other-back", "other", ["--byte-order", "OWN"], []),
    ("other-pipe", "pipe", ["--byte-order", "OTHER"], ["--pipe"]),
    ("other-pipe-back", "other-pipe", ["--byte-order", "OWN"], ["--pipe"]),
    ("z", None, ["-z"], []),
    ("z-back", "z", ["--no-compress"], []),
    ("z-pipe", "z", ["--to", "pipe"], ["--pipe"]),
    ("z-other", "z", ["--byte-order", "OTHER"], []),
    ("z2", None, ["--compress2"], []),
    ("z2-back", "z2", ["--no-compress"], []),
    ("dir", None, ["--to", "dir"], ["--spread"]),
    ("dir-again", "dir", ["--to", "dir"], ["--spread"]),
    ("dir-back", "dir", [], ["--spread"]),
    ("dir-z", None, ["--to", "dir", "-z"], ["--spread"]),
    ("sort", None, ["--sort", "--no-compress"], ["--sorted"]),
)


class Trip:
    """The steps of one recording."""

    def __init__(self, perfdata, compare, path, name, order):
        self.perfdata, self.compare, self.path, self.name = perfdata, compare, path, name
        self.orders = {"OWN": order, "OTHER": "little" if order == "big" else "big"}
        self.failures = []

    def fail(self, step, what):
        self.failures.append(f"{self.name}: {step}: {what}")

    def one(self, folder, step, source, options, how):
        made = os.path.join(folder, step)
        options = [self.orders.get(word, word) for word in options]
        result = common.run([self.perfdata, "convert", "-q", "-i", source, *options, "-o", made], timeout=120)
        if result.crashed or result.status not in (common.FINE, common.DAMAGED):
            self.fail(step, f"exit status {result.status}: {result.err.decode('utf-8', 'replace').strip()[:300]}")
            return
        compared = common.run([self.compare, *how, self.path, made], timeout=120)
        if compared.status != 0:
            text = (compared.out + compared.err).decode("utf-8", "replace").replace(folder + "/", "")
            self.fail(step, text.replace(self.path, self.name).strip()[:800])

    def go(self):
        """False if the recording is refused."""
        if common.run([self.perfdata, "dump", "-q", "--stats", self.path]).status not in (common.FINE, common.DAMAGED):
            return False
        with tempfile.TemporaryDirectory(prefix="convert-") as folder:
            for step, source, options, how in STEPS:
                source = os.path.join(folder, source) if source else self.path
                if os.path.exists(source):
                    self.one(folder, step, source, options, how)
            file, again = os.path.join(folder, "file"), os.path.join(folder, "again")
            if os.path.exists(again) and not filecmp.cmp(file, again, shallow=False):
                self.fail("again", "other bytes")
            left = [n for n in os.listdir(folder) if ".new-" in n]
            if left:
                self.fail("all", f"left behind: {left}")
        return True


def order_of(path):
    if os.path.isdir(path):
        path = os.path.join(path, "data")
    with open(path, "rb") as f:
        start = f.read(24)
    if start[:8] == b"PERFFILE":
        return "little" if int.from_bytes(start[16:24], "little") < 1000 else "big"
    return "big" if start[:8] == b"2ELIFREP" else "little"


def main():
    parser = common.recordings_parser(__doc__, "compare")
    arguments = parser.parse_args()
    numbers = collections.Counter()
    for path, name in common.recordings(arguments.files, arguments.only):
        trip = Trip(arguments.perfdata, arguments.compare, path, name, order_of(path))
        numbers["recordings"] += 1
        if not trip.go():
            numbers["refused"] += 1
        numbers["different"] += bool(trip.failures)
        for line in trip.failures:
            print(line)
            sys.stdout.flush()
    print(f"{numbers['recordings']} recordings, {len(STEPS)} conversions of each: "
          f"{numbers['refused']} refused, {numbers['different']} differ")
    return 1 if numbers["different"] or not numbers["recordings"] else 0


if __name__ == "__main__":
    sys.exit(main())
