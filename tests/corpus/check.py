#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs perfdata check on every corpus file.

usage: check.py PERFDATA CORPUS [--only TEXT]

A sound file (some perf reads it without failing, and it is not there for its damage) must have nothing
worse than warnings. A damaged one must have damage or a warning, or be refused with a message that says
where. In one that no perf reads to its end both is right. Nothing may crash, end with an undocumented
status, or take more than a second for a file below 3 MB.
Exit status: 0 all is so, 1 not, 77 no corpus.
"""

import argparse
import collections
import os
import re
import sys

import common

SLOW_SECONDS = 1.0
LARGE = 3_000_000
# A pipe whose recorder was killed between two records has nothing that could be noticed.
DAMAGED_NAME = re.compile(r"/(\w+-)?(truncated-|sigkill(?!-pipe))|/fuzz/|corrupted|extrabyte")
PLACE = re.compile(r"offset \d+|offset 0x[0-9a-f]+")


def size_of(path):
    if not os.path.isdir(path):
        return os.path.getsize(path)
    return sum(os.path.getsize(os.path.join(d, f)) for d, _, names in os.walk(path) for f in names)


def kind_of(corpus, row):
    """sound, damaged, or odd: no perf reads it to the end, so we may find damage or not."""
    if DAMAGED_NAME.search("/" + row["path"]):
        return "damaged"
    answers = [v for k, v in common.golden(corpus, row["path"]).items() if k.startswith("perf ")]
    return "sound" if any(a["status"] in ("ok", "warnings") for a in answers) else "odd"


def judge(kind, result, size):
    """What is wrong with a run, as a list of texts, and its problems."""
    wrong = []
    if result.crashed:
        return [f"crashed: {result.status}, {result.err.decode('utf-8', 'replace')[:200]}"], []
    if result.seconds > SLOW_SECONDS and size < LARGE:
        wrong.append(f"{result.seconds:.2f} s for {size} bytes")
    if result.status not in (common.FINE, common.DAMAGED, common.UNREADABLE):
        return wrong + [f"exit status {result.status}"], []
    message = result.err.decode("utf-8", "replace").strip()
    if result.status == common.UNREADABLE:
        if kind == "sound":
            wrong.append(f"refused: {message}")
        elif not PLACE.search(message):
            wrong.append(f"refused without a place: {message}")
        return wrong, []
    problems, summary = common.check_of(result.out)
    damage = [p for p in problems if p["severity"] == "damage"]
    if len(damage) != summary["damage"]:
        wrong.append(f"{len(damage)} problems of severity damage, {summary['damage']} in the summary")
    if bool(damage) != (result.status == common.DAMAGED):
        wrong.append(f"exit status {result.status} with {len(damage)} problems of severity damage")
    if kind == "sound" and damage:
        wrong.append(f"damage in a sound file: {sorted({p['code'] for p in damage})}")
    if kind == "damaged" and all(p["severity"] == "info" for p in problems):
        wrong.append("no damage found")
    return wrong, problems


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("perfdata")
    parser.add_argument("corpus")
    parser.add_argument("--only", default="", help="only files with this text in their path")
    args = parser.parse_args()
    perfdata, corpus = common.check_arguments(args.perfdata, args.corpus)
    known = common.Known("Checks")
    figures, codes = collections.Counter(), collections.Counter()
    slowest = (0.0, "")
    for row in common.rows(corpus):
        if args.only not in row["path"]:
            continue
        with common.Unpacked(corpus, row) as path:
            result = common.run([perfdata, "check", "--json", "-i", path])
            kind = kind_of(corpus, row)
            wrong, problems = judge(kind, result, size_of(path))
        figures[kind, result.status] += 1
        codes.update({problem['code'] for problem in problems})
        slowest = max(slowest, (result.seconds, row["path"]))
        if wrong:
            reason = known.reason(row["path"], "check")
            figures["explained" if reason else "wrong"] += 1
            print(f"{row['path']} ({kind}): {'; '.join(wrong)}: {reason or 'UNEXPLAINED'}", flush=True)
    for (kind, status), count in sorted((k, v) for k, v in figures.items() if isinstance(k, tuple)):
        print(f"{count:4} {kind} files with exit status {status}")
    print("files by problem: " + ", ".join(f"{code} {count}" for code, count in codes.most_common()))
    print(f"slowest: {slowest[0]:.2f} s, {slowest[1]}")
    total = sum(v for k, v in figures.items() if isinstance(k, tuple))
    print(f"{total} files: {figures['wrong']} wrong, {figures['explained']} explained")
    return 1 if figures["wrong"] else 0


if __name__ == "__main__":
    sys.exit(main())
