#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares perfdata script with the texts of perf script of a corpus.

usage: script.py PERFDATA CORPUS [--only TEXT] [--verbose]

golden/PATH.script.zst is what perf printed with --ns and the fields that golden/PATH.json names. perfdata is
asked for the same fields. Where perf 6.1 made the text it must be equal byte for byte. Newer perfs have other columns,
other addresses in call chains and a short form of sched_switch, so there spaces and the addresses of call chains do not
count and the short form is made of the long one. Pipes are read from standard input too. Where a user stack was copied,
perfdata prints the address of the sample; perf, which had no object to unwind it with, printed none.

One line for each file: equal, KNOWN (explained in docs/differences.md under "Script text"), partial (perf stopped
early; what it printed is equal) or DIFFER, with the first line that differs, perf's first. Exit status: 0 all
agrees or is explained, 1 something does not, 77 no corpus.
"""

import argparse
import collections
import fnmatch
import re
import sys

import common

SECTION = "Script text"
EXACT = "perf 6.1.192"
NO_SAMPLES = 6
NOTHING = 5
COPIED = re.compile(rb": (\d+) of \d+ samples have a copied user stack")
UNREAD = b"Too big: nr"  # perf gave up on the pipe
BRANCH_NAME = re.compile(rb"(0x[0-9a-f]+) (\()")
BRANCH_END = re.compile(rb"(/[-MP]/[-X]/[-A]/\d+/)[-A-Z_]*(?:/[-A-Z_]*)*(?= |$)")
SWITCH = re.compile(
    rb"prev_comm=(.*) prev_pid=(\d+) prev_prio=(\d+) prev_state=([^ +]*)\+? ==> "
    rb"next_comm=(.*) next_pid=(\d+) next_prio=(\d+)"
)
SWITCH_STATE = re.compile(rb"(:\d+ \[\d+\]) \S+ ==>")  # letters mean other states in each kernel
CHAIN = re.compile(rb"^\t *[0-9a-f]+")


def lines_of(text):
    return text.split(b"\n")


def loosened(line):
    line = BRANCH_END.sub(rb"\1", BRANCH_NAME.sub(rb"\1\2", line))
    line = SWITCH_STATE.sub(rb"\1 ==>", SWITCH.sub(rb"\1:\2 [\3] \4 ==> \5:\6 [\7]", line))
    line = line.replace(b"LVL N/A or N/A", b"LVL N/A").replace(b":HG: ", b": ")
    return b" ".join(CHAIN.sub(b"\tX", line).split())


def without_copied(theirs, ours, count):
    """Our lines without the addresses of samples whose stack was copied, at most so many, where perf has none."""
    kept, at = [], 0
    for line in ours:
        if count and line.startswith(b"\t") and at < len(theirs) and not theirs[at].startswith(b"\t"):
            count -= 1
            continue
        kept.append(line)
        at += 1
    return kept


def first_difference(theirs, ours, exact, partial, copied):
    """(number, perf's line, our line) of the first lines that differ, or None."""
    theirs, ours = lines_of(theirs), lines_of(ours)
    ours = without_copied(theirs, ours, copied)
    if partial:
        theirs = theirs[:-2]
        ours = ours[: len(theirs)]
    for number, (wanted, got) in enumerate(zip(theirs, ours)):
        if wanted == got:
            continue
        if not exact and loosened(wanted) == loosened(got):
            continue
        return number + 1, wanted, got
    if len(theirs) != len(ours):
        at = min(len(theirs), len(ours))
        return at + 1, theirs[at] if at < len(theirs) else None, ours[at] if at < len(ours) else None
    return None


def ask(perfdata, path, fields, stdin=None):
    return common.run([perfdata, "script", "--no-symbols", "--unwind=no", "--ns", "-F", fields, "-i", path], stdin=stdin)


class Comparison:
    def __init__(self, args):
        self.args, self.known = args, common.Known(SECTION)
        self.counts = collections.Counter()

    def tell(self, word, path, why=""):
        self.counts[word] += 1
        if word != "equal" or self.args.verbose:
            print(f"{word:8} {path}{': ' if why else ''}{why}", flush=True)

    def result(self, path, what, result, theirs, witness, partial):
        name = path if not what else f"{path} ({what})"
        if result.crashed or result.status not in (common.FINE, common.DAMAGED, NO_SAMPLES, NOTHING):
            found = (0, b"", f"exit status {result.status}: {result.err[:200]!r}".encode())
        else:
            copied = COPIED.search(result.err)
            found = first_difference(theirs, result.out, witness == EXACT, partial, int(copied[1]) if copied else 0)
        if not found:
            self.tell("partial" if partial else "equal", name)
            return
        reason = self.known.reason(path, "text")
        if reason:
            self.tell("KNOWN", name, reason)
            return
        self.tell("DIFFER", name, f"{witness}, line {found[0]}\n    {found[1]!r}\n    {found[2]!r}")

    def file(self, corpus, row):
        path = row["path"]
        text = f"{corpus}/golden/{path}.script.zst"
        golden = common.golden(corpus, path)
        witness = golden.get("text_from")
        if not witness or not common.os.path.exists(text):
            return
        theirs = common.unzstd(text)
        if theirs.startswith(UNREAD):
            self.tell("unread", path, "perf could not read the pipe")
            return
        partial = bool(golden[witness].get("partial_text"))
        fields = golden[witness]["fields"]
        with common.Unpacked(corpus, row) as name:
            self.result(path, "", ask(self.args.perfdata, name, fields), theirs, witness, partial)
            if row["mode"] == "pipe":
                with open(name, "rb") as f:
                    data = f.read()
                piped = ask(self.args.perfdata, "-", fields, data)
                self.result(path, "from a pipe", piped, theirs, witness, partial)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("perfdata")
    parser.add_argument("corpus")
    parser.add_argument("--only", default="*", help="only files whose path has this text, or fits this pattern")
    parser.add_argument("--verbose", action="store_true", help="name the files that are equal too")
    args = parser.parse_args()
    args.perfdata, corpus = common.check_arguments(args.perfdata, args.corpus)
    comparison = Comparison(args)
    for row in common.rows(corpus):
        if args.only in row["path"] or fnmatch.fnmatch(row["path"], args.only):
            comparison.file(corpus, row)
    counts = comparison.counts
    print(", ".join(f"{counts[word]} {word}" for word in ("equal", "partial", "KNOWN", "unread", "DIFFER")))
    if args.only == "*":
        for row in comparison.known.unused():
            print(f"explained, but equal: {row[0]} {row[1]}")
    return 1 if counts["DIFFER"] else 0


if __name__ == "__main__":
    sys.exit(main())
