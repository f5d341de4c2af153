#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares the header that perfdata prints for each corpus file with the one of real perf.

usage: header.py PERFDATA CORPUS [--only TEXT] [--verbose]

`perfdata report --header-only -I` is asked for each file, and for pipes also with the file on standard
input. The witness is perf 6.1; where that could not read the features, perf 7.2 in the words of 6.1.
Lines that differ are printed in pairs, perf's first. Those that are no fault of ours stand in
docs/differences.md under "Header text": files, lines of perf or of perfdata, why. Exit status: 0 all
agrees or is explained, 1 something does not, 77 no corpus.
"""

import argparse
import difflib
import fnmatch
import os
import re
import sys

import common

SECTION = "Header text"
OLD, NEW = "perf 6.1.192", "perf 7.2.13"
# Not in the recorded answers: the date of the file, and the frame.
DROPPED = re.compile(r"captured on|^# *$|^# =+$")


def kept(text):
    lines = [line.rstrip() for line in text.splitlines()]
    return [line for line in lines if line and not DROPPED.search(line)]


# ---- perf's side ----


def in_old_words(line, newer):
    """A line of perf 7.2 as perf 6.1 writes it, or None if that prints no such line."""
    if line in ("# bpf_prog_info empty", "# btf info empty"):
        return None
    if line.startswith("# event : "):
        line = re.sub(r", type = 0 \([^)]*\)", "", line)
        line = re.sub(r", config = 0( \([^)]*\))?(?=,|$)", "", line)
        line = re.sub(r"(, (?:type|config) = \w+) \([^)]*\)", r"\1", line)
    if line.startswith("# missing features: "):
        words = line.split(": ", 1)[1].split()
        line = "# missing features: " + " ".join(w for w in words if w not in newer)
        line = line.rstrip()
    return line


def could_read(answer):
    """Whether the perf of this answer took the features apart: else it prints (null) or its own machine's."""
    lines = answer.get("header") or []
    return bool(lines) and not any("(null)" in line or "not available or unable" in line for line in lines)


def witness(golden):
    """Lines that are wanted and the perf that wrote them; None if no perf could read the file."""
    old, new = golden[OLD], golden[NEW]
    if could_read(old):
        return old["header"], OLD
    if new.get("header"):
        newer = ("CPU_DOMAIN_INFO", "E_MACHINE", "CLN_SIZE")
        lines = [in_old_words(line, newer) for line in new["header"]]
        return [line for line in lines if line is not None], NEW
    if old.get("header"):
        return old["header"], OLD
    return None, None


# ---- comparing ----


class Explained:
    """Rows (files, lines, why) of the table."""

    def __init__(self):
        self.rows = [
            (files, lines.strip("`"), why) for files, lines, why in common.known_differences(SECTION)
        ]
        self.used = set()

    def why(self, path, pair):
        for row in self.rows:
            if fnmatch.fnmatch(path, row[0]) and any(line and fnmatch.fnmatch(line, row[1]) for line in pair):
                self.used.add(row)
                return row[2]
        return None

    def unused(self):
        return [row for row in self.rows if row not in self.used]


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
    argv = [perfdata, "report", "--header-only", "-I", "-q", "-i", "-" if stdin else path]
    data = None
    if stdin:
        with open(path, "rb") as f:
            data = f.read()
    result = common.run(argv, stdin=data)
    if result.crashed:
        return None, f"ended with {result.status}: {result.err.decode('utf-8', 'replace')[:200]}"
    if result.status not in (0, 1):
        return None, "refused: " + result.err.decode("utf-8", "replace").strip()
    return kept(result.out.decode("utf-8", "backslashreplace")), None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("perfdata")
    parser.add_argument("corpus")
    parser.add_argument("--only", default="", help="only files with this text in their path")
    parser.add_argument("--verbose", action="store_true", help="name the equal files and explained lines too")
    args = parser.parse_args()
    perfdata, corpus = common.check_arguments(args.perfdata, args.corpus)
    os.environ["TZ"] = "UTC"  # as the answers were recorded
    explained = Explained()
    equal = differing = with_reason = perf_cannot = from_new = crashed = 0
    for row in common.rows(corpus):
        if args.only not in row["path"]:
            continue
        wanted, who = witness(common.golden(corpus, row["path"]))
        for stdin in (False, True) if row["mode"] == "pipe" else (False,):
            name = row["path"] + (" (standard input)" if stdin else "")
            with common.Unpacked(corpus, row) as path:
                got, complaint = ask(perfdata, path, stdin)
            if wanted is None:
                perf_cannot += 1
                if complaint and complaint.startswith("ended"):
                    crashed += 1
                    print(f"{name}: {complaint}")
                elif args.verbose:
                    print(f"{name}: perf cannot; perfdata: {complaint or f'{len(got)} lines'}")
                continue
            from_new += who == NEW
            found = pairs(wanted, got) if got is not None else [(None, complaint)]
            reasons = [explained.why(row["path"], pair) for pair in found]
            if not found:
                equal += 1
            elif all(reasons):
                with_reason += 1
            else:
                differing += 1
            if args.verbose or not all(reasons):
                print(f"{name}: {'equal' if not found else f'{len(found)} lines differ'} ({who})")
            for pair, reason in zip(found, reasons):
                if args.verbose or not reason:
                    print(f"  - {pair[0]}\n  + {pair[1]}" + (f"\n    {reason}" if reason else ""), flush=True)
    for row in explained.unused() if not args.only else []:
        print(f"docs/differences.md: {SECTION}: matches nothing: {row[0]} {row[1]}")
    print(
        f"{equal} equal, {with_reason} explained, {differing} differing, {perf_cannot} perf cannot"
        f" ({from_new} compared with {NEW})"
    )
    return 1 if differing or crashed or (explained.unused() and not args.only) else 0


if __name__ == "__main__":
    sys.exit(main())
