# SPDX-License-Identifier: MIT
"""What the comparisons of lists with perf share: a command that prints a few lines for a file."""

import argparse
import collections
import os
import re
import shutil
import subprocess
import sys
import tempfile

import common

WITNESS = "perf 6.1.192"
LARGE = 8 << 20  # bytes; perf is not asked about larger files
VDSO = re.compile(r"/tmp/perf-vdso\.so-\w+")  # perf's copy of its own, for what the file calls [vdso]


TYPE, CONFIG = re.compile(r"(: )type: (\d+)(?: \([^)]*\))?, "), re.compile(r", config: (0x[0-9a-f]+|0)(?: \([^)]*\))?")


def as_older(line):
    """A line of evlist -v as perf 6.1 has it: no type or config that is 0, and only their numbers."""
    line = TYPE.sub(lambda m: m[1] + (f"type: {m[2]}, " if m[2] != "0" else ""), line, count=1)
    return CONFIG.sub(lambda m: f", config: {m[1]}" if m[1] != "0" else "", line, count=1)


class Perf:
    """A perf of the version that made the golden texts, or none."""

    def __init__(self, path):
        self.path = shutil.which(path)
        out = subprocess.run([self.path, "--version"], capture_output=True, text=True).stdout if self.path else ""
        if not re.match(r"perf version 6\.1\b", out):
            self.path = None
        self.home = tempfile.TemporaryDirectory(prefix="perf-home-")
        self.env = {"PATH": os.environ["PATH"], "HOME": self.home.name, "LC_ALL": "C", "TZ": "UTC", "PAGER": "cat",
                    "PERF_CONFIG": "/dev/null", "PERF_BUILDID_DIR": self.home.name}

    def ask(self, words, path, piped):
        """Its lines, or None where it could not read all."""
        stdin = open(path, "rb") if piped else subprocess.DEVNULL
        try:
            done = subprocess.run(
                ["timeout", "20", self.path, *words, "-i", "-" if piped else path],
                stdin=stdin,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env=self.env,
                cwd=self.home.name,
            )
        finally:
            if piped:
                stdin.close()
        return VDSO.sub("[vdso]", done.stdout.decode("utf-8", "backslashreplace")) if done.returncode == 0 else None


def lines_of(data, name):
    """Lines as golden has them: no blanks at the end, no empty ones, the file by its last name."""
    text = VDSO.sub("[vdso]", data.replace(name, os.path.basename(name)))
    return [line for line in (line.rstrip() for line in text.splitlines()) if line]


class Comparison:
    def __init__(self, args, command, section, change):
        self.args, self.command, self.change = args, command, change
        self.known = common.Known(section)
        self.counts = collections.Counter()

    def result(self, path, words, theirs, result, ours):
        if result.crashed or result.status not in (common.FINE, common.DAMAGED, 5):
            ours = [f"exit status {result.status}: {result.err[:200]!r}"]
        if theirs == ours:
            self.counts["equal"] += 1
            return
        reason = self.known.reason(path, " ".join(words) or "plain")
        word = "KNOWN" if reason else "DIFFER"
        self.counts[word] += 1
        if reason and not self.args.verbose:
            return
        print(f"{word} {path} {' '.join(words)} {reason or ''}")
        for number in range(max(len(theirs), len(ours))):
            pair = [side[number] if number < len(side) else None for side in (theirs, ours)]
            if pair[0] != pair[1]:
                print(f"    {pair[0]!r}\n    {pair[1]!r}")
                break

    def ours(self, words, name, piped):
        data = None
        if piped:
            with open(name, "rb") as f:
                data = f.read()
        argv = [self.args.perfdata, self.command, *words, "-q", "-i", "-" if piped else name]
        result = common.run(argv, stdin=data)
        result.text = result.out.decode("utf-8", "backslashreplace")
        return result

    def file(self, corpus, row, key, golden_words, forms, perf):
        path, piped = row["path"], row["mode"] == "pipe"
        golden = common.golden(corpus, path)[WITNESS].get(key)
        asked = perf.path and int(row["size"]) <= LARGE and golden
        if not golden:
            self.counts["not read by perf"] += 1
            return
        with common.Unpacked(corpus, row) as name:
            result = self.ours(golden_words, name, piped)
            self.result(path, golden_words, [VDSO.sub("[vdso]", line) for line in golden], result,
                        [self.change(line) for line in lines_of(result.text, name)])
            for words in forms if asked else ():
                theirs = perf.ask([self.command, *words], name, piped)
                if not theirs:
                    self.counts["not read by perf"] += 1
                    continue
                result = self.ours(words, name, piped)
                self.result(path, words, theirs.split("\n"), result, result.text.split("\n"))


def main(doc, command, section, key, golden_words, forms, change=str):
    """change: from a line of ours with golden_words to one of perf 6.1."""
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("perfdata")
    parser.add_argument("corpus")
    parser.add_argument("--perf", default="perf", help="a perf 6.1; others are not asked")
    parser.add_argument("--only", default="", help="only files whose path has this text")
    parser.add_argument("--verbose", action="store_true", help="show explained differences too")
    args = parser.parse_args()
    args.perfdata, corpus = common.check_arguments(args.perfdata, args.corpus)
    comparison, perf = Comparison(args, command, section, change), Perf(args.perf)
    for row in common.rows(corpus):
        if args.only in row["path"]:
            comparison.file(corpus, row, key, golden_words, forms, perf)
    counts = comparison.counts
    asked = "" if perf.path else "; no perf 6.1 here, other forms were not compared"
    print(", ".join(f"{counts[word]} {word}" for word in ("equal", "KNOWN", "not read by perf", "DIFFER")) + asked)
    if not args.only:
        for row in comparison.known.unused():
            print(f"explained, but equal: {row[0]} {row[1]}")
    return 1 if counts["DIFFER"] or not counts["equal"] else 0
