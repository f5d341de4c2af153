#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What perfdata inject leaves as it was: without options everything, with build ids the samples and all that is known of
them; and whatever is asked for, what it writes can be read.

usage: copy.py PERFDATA COMPARE CORPUS|FILE... [--only TEXT] [--every N]

COMPARE is the program of convert/compare.c. A folder with a manifest.tsv is a corpus. Exit status: 0 all is so; 1 not;
77 no corpus.
"""

import argparse
import collections
import hashlib
import json
import os
import re
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "corpus"))

import common  # noqa: E402  (needs the path above)

ID = "0123456789abcdef0123456789abcdef01234567"
# name, options, whether samples stay as they are
STEPS = (
    ("list-hit", ["-b"], True),
    ("list-all", ["--buildid-all"], True),
    ("list-pipe", ["-b", "--to", "pipe"], True),
    ("maps-used", ["-B"], True),
    ("maps-all", ["--mmap2-buildid-all"], True),
    ("maps-order", ["--mmap2-buildid-all", "--byte-order", "big", "--to", "pipe"], True),
    ("jit", ["-j", "--jit-dir", "."], True),
    ("sched", ["-s"], False),
    ("strip", ["--strip"], True),
    ("all", ["-j", "-s", "-b", "--strip", "-z", "--jit-dir", "."], False),
)


class Judge:
    def __init__(self, perfdata, compare):
        self.perfdata, self.compare = os.path.abspath(perfdata), os.path.abspath(compare)
        self.numbers = collections.Counter()

    def fail(self, name, step, what):
        self.numbers["failures"] += 1
        print(f"{name}: {step}: {what.strip()[:600]}")
        sys.stdout.flush()

    def run(self, *words):
        return common.run([self.perfdata, *words], timeout=180)

    def inject(self, name, step, source, out, options):
        done = self.run("inject", "-q", *options, "-i", source, "-o", out)
        if done.crashed or done.status not in (common.FINE, common.DAMAGED) or not os.path.exists(out):
            self.fail(name, step, f"exit status {done.status}: {done.err.decode('utf-8', 'replace')}")
            return False
        return True

    def samples(self, path):
        """What samples hold, in order. Names that perf gives to objects depend on the list of build ids."""
        digest = hashlib.sha256()
        for line in self.run("dump", "-q", "--json", "-t", "SAMPLE", path).out.splitlines():
            fields = re.search(rb'"fields":.*', line)
            digest.update(fields[0] if fields else b"?")
        return digest.digest()

    def damage(self, path):
        found = re.search(rb"damage (\d+)", self.run("check", "-q", path).out)
        return int(found[1]) if found else 0

    def paths(self, path):
        out = self.run("dump", "-q", "--json", "-t", "MMAP,MMAP2", path).out
        return {json.loads(line)["fields"]["filename"] for line in out.splitlines()[:200] if line.startswith(b"{")}

    def look(self, path, name):
        if self.run("dump", "-q", "--stats", path).status not in (common.FINE, common.DAMAGED):
            self.numbers["refused"] += 1
            return
        self.numbers["recordings"] += 1
        with tempfile.TemporaryDirectory(prefix="inject-") as folder:
            os.mkdir(os.path.join(folder, "empty"))
            known = os.path.join(folder, "known")
            with open(known, "w", encoding="utf-8") as out:
                out.writelines(f"{ID} {one}\n" for one in sorted(self.paths(path)) if "\n" not in one)
            made = os.path.join(folder, "copy")
            if self.inject(name, "copy", path, made, []):
                done = common.run([self.compare, path, made], timeout=180)
                if done.status != 0:
                    self.fail(name, "copy", (done.out + done.err).decode("utf-8", "replace"))
            self.steps(path, name, folder, known)

    def steps(self, path, name, folder, known):
        before, damage = self.samples(path), self.damage(path)
        for step, options, same in STEPS:
            options = [folder if word == "." else word for word in options]
            made = os.path.join(folder, step)
            options += ["--symfs", os.path.join(folder, "empty")]
            if step[:4] in ("list", "maps"):
                options += ["--known-build-ids", f"file://{known}"]
            if not self.inject(name, step, path, made, options):
                continue
            if same and self.samples(made) != before:
                self.fail(name, step, "other samples")
            if self.damage(made) > damage:
                self.fail(name, step, self.run("check", made).out.decode("utf-8", "replace"))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("perfdata")
    parser.add_argument("compare")
    parser.add_argument("files", nargs="+")
    parser.add_argument("--only", default="", metavar="TEXT", help="only files of a corpus whose path has TEXT")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="only each N-th file of a corpus")
    arguments = parser.parse_args()
    judge = Judge(arguments.perfdata, arguments.compare)
    for argument in arguments.files:
        if os.path.exists(os.path.join(argument, "manifest.tsv")):
            rows = [row for row in common.rows(argument) if arguments.only in row["path"]]
            for row in rows[:: arguments.every]:
                with common.Unpacked(argument, row) as path:
                    judge.look(path, row["path"])
        elif os.path.exists(argument):
            judge.look(argument, os.path.basename(argument))
        else:
            common.skip(f"no {argument}")
    numbers = judge.numbers
    print(f"{numbers['recordings']} recordings, {numbers['refused']} refused, {numbers['failures']} failures")
    return 1 if numbers["failures"] or not numbers["recordings"] else 0


if __name__ == "__main__":
    sys.exit(main())
