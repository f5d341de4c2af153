#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares the header that perfdata prints for each corpus file with the one of real perf.

usage: header.py PERFDATA CORPUS [--only TEXT] [--verbose]

`perfdata report --header-only -I` is asked for each file, and for pipes also with the file on standard
input. The witness is perf 6.1; where that could not read the features or does not know them, perf 7.2
in the words of 6.1; where neither could, only the lines that need no features are compared.
Lines that differ are printed in pairs, perf's first. Those that are no fault of ours stand in
docs/differences.md under "Header text": files, lines of perf or of perfdata, why. Exit status: 0 all
agrees or is explained, 1 something does not, 77 no corpus.
"""

import argparse
import collections
import difflib
import fnmatch
import os
import re
import sys

import common

SECTION = "Header text"
OLD, NEW = "perf 6.1.192", "perf 7.2.13"
NEW_FEATURES = ("CPU_DOMAIN_INFO", "E_MACHINE", "CLN_SIZE")
# Not in the recorded answers: the date of the file, and the frame.
DROPPED = re.compile(r"captured on|^# *$|^# =+$")
UNREAD = re.compile(r"\(null\)|event desc: not available")
FAILED = re.compile(r"header: (failed|.*failed to process)")
NEEDS_NO_FEATURES = re.compile(r"# (header version|data offset|data size|feat offset|event|missing features) *:")
PAIRS_SHOWN = 10


def kept(text):
    lines = [line.rstrip() for line in text.splitlines()]
    return [line for line in lines if line and not DROPPED.search(line)]


# ---- perf's side ----


def in_old_words(line):
    """A line of perf 7.2 as perf 6.1 writes it, or None if that prints no such line."""
    if line in ("# bpf_prog_info empty", "# btf info empty"):
        return None
    if line.startswith("# event : "):
        line = re.sub(r", type = 0 \([^)]*\)", "", line)
        line = re.sub(r", config = 0( \([^)]*\))?(?=,|$)", "", line)
        line = re.sub(r"(, (?:type|config) = \w+) \([^)]*\)", r"\1", line)
    if line.startswith("# missing features: "):
        line = " ".join(word for word in line.split() if word not in NEW_FEATURES)
    return line


class Witness:
    """What the header should be. lines is None if no perf could tell."""

    def __init__(self, golden, features):
        old, new = (
            [line for line in golden[name].get("header", []) if line.startswith("#")] for name in (OLD, NEW)
        )
        unread = any(UNREAD.search(line) for line in old)
        failed = any(FAILED.match(line) for line in golden[OLD].get("errors", []))
        has_new = any(name in features for name in NEW_FEATURES)
        self.lines, self.name, self.part = old or None, OLD, False
        if new and (not old or unread or failed or has_new):
            lines = [in_old_words(line) for line in new]
            self.lines, self.name = [line for line in lines if line is not None], NEW
        elif unread:
            self.part = True
            self.lines = self.comparable(old)

    def comparable(self, lines):
        return [line for line in lines if NEEDS_NO_FEATURES.match(line)] if self.part else lines


# ---- comparing ----


class Explained:
    """Rows (files, lines, why) of the table."""

    def __init__(self):
        rows = common.known_differences(SECTION)
        self.rows = [(files, lines.strip("`"), why) for files, lines, why in rows]
        self.used = set()

    def why(self, path, pair):
        for row in self.rows:
            if fnmatch.fnmatch(path, row[0]) and any(line and fnmatch.fnmatch(line, row[1]) for line in pair):
                self.used.add(row)
                return row[2]
        return None

    def unused(self):
        """Rows that explain nothing any more; a part of the corpus cannot tell."""
        return [row for row in self.rows if row not in self.used] if common.limits()[1] == 1 else []


def pairs(wanted, got):
    """(perf's line, our line) of each difference; one of them may be None."""
    found = []
    matcher = difflib.SequenceMatcher(None, wanted, got, autojunk=False)
    for tag, a, b, c, d in matcher.get_opcodes():
        if tag == "equal":
            continue
        for i in range(max(b - a, d - c)):
            found.append((wanted[a + i] if a + i < b else None, got[c + i] if c + i < d else None))
    return found


def ask(perfdata, path, stdin):
    """Our lines, or None and what went wrong."""
    argv = [perfdata, "report", "--header-only", "-I", "-q", "-i", "-" if stdin else path]
    data = None
    if stdin:
        with open(path, "rb") as f:
            data = f.read()
    result = common.run(argv, stdin=data)
    if result.crashed:
        return None, f"crashed: {result.status}: {result.err.decode('utf-8', 'replace')[:200]}"
    if result.status not in (0, 1):
        return None, "refused: " + result.err.decode("utf-8", "replace").strip()
    return kept(result.out.decode("utf-8", "backslashreplace")), None


class Run:
    def __init__(self, perfdata, corpus, verbose):
        self.perfdata, self.corpus, self.verbose = perfdata, corpus, verbose
        self.explained = Explained()
        self.figures = collections.Counter()

    def file(self, row):
        witness = Witness(common.golden(self.corpus, row["path"]), row["features"])
        for stdin in (False, True) if row["mode"] == "pipe" else (False,):
            with common.Unpacked(self.corpus, row) as path:
                got, complaint = ask(self.perfdata, path, stdin)
            name = row["path"] + (" (standard input)" if stdin else "")
            if witness.lines is None:
                self.alone(name, got, complaint)
            else:
                self.compared(name, row["path"], witness, got, complaint)

    def alone(self, name, got, complaint):
        """No perf could read it: only a crash is wrong."""
        crashed = complaint and complaint.startswith("crashed")
        self.figures["differing" if crashed else "perf cannot"] += 1
        if crashed or self.verbose:
            print(f"{name}: perf cannot; perfdata: {complaint or f'{len(got)} lines'}")

    def compared(self, name, path, witness, got, complaint):
        found = [(None, complaint)] if got is None else pairs(witness.lines, witness.comparable(got))
        reasons = [self.explained.why(path, pair) for pair in found]
        kind = "equal" if not found else "explained" if all(reasons) else "differing"
        self.figures[kind] += 1
        self.figures[witness.name] += 1
        self.figures["part"] += witness.part
        if kind == "differing" or self.verbose:
            print(f"{name}: {kind}, {len(found)} lines ({witness.name}{', in part' if witness.part else ''})")
            self.show(found, reasons)

    def show(self, found, reasons):
        shown = [(pair, why) for pair, why in zip(found, reasons) if self.verbose or not why]
        for (perf, ours), why in shown[:PAIRS_SHOWN]:
            print(f"  - {perf}\n  + {ours}" + (f"\n    {why}" if why else ""), flush=True)
        if len(shown) > PAIRS_SHOWN:
            print(f"  {len(shown) - PAIRS_SHOWN} more")

    def summary(self):
        f = self.figures
        print(
            f"{f['equal']} equal, {f['explained']} explained, {f['differing']} differing, "
            f"{f['perf cannot']} perf cannot; "
            f"{f[OLD]} compared with {OLD}, {f[NEW]} with {NEW}, {f['part']} in part"
        )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("perfdata")
    parser.add_argument("corpus")
    parser.add_argument("--only", default="", help="only files with this text in their path")
    parser.add_argument("--verbose", action="store_true", help="name the equal files and explained lines too")
    args = parser.parse_args()
    os.environ["TZ"] = "UTC"  # as the answers were recorded
    run = Run(*common.check_arguments(args.perfdata, args.corpus), args.verbose)
    for row in common.rows(args.corpus):
        if args.only in row["path"]:
            run.file(row)
    unused = [] if args.only else run.explained.unused()
    for row in unused:
        print(f"docs/differences.md: {SECTION}: explains nothing: {row[0]} {row[1]}")
    run.summary()
    return 1 if run.figures["differing"] or unused else 0


if __name__ == "__main__":
    sys.exit(main())
