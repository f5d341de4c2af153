#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Holds runs on several threads against plain streams, over a corpus.

usage: run.py RUNS CORPUS [--only TEXT]

RUNS is the program of tests/unit/stream/runs.c, CORPUS a folder with a manifest.tsv. Exit status: 0 all files give
the same, 1 not, 77 no corpus.
"""

import argparse
import os
import sys

import common


def try_row(binary, corpus, row):
    """What went wrong with a file, and whether it was refused."""
    with common.Unpacked(corpus, row) as path:
        result = common.run([binary, path], timeout=120)
    if result.crashed or result.status not in (0, 3):
        text = (result.out + result.err).decode("utf-8", "replace").replace(path, row["path"])
        return f"{row['path']}: exit status {result.status}: {text.strip()[:1000]}", False
    return None, result.status == 3


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("binary", metavar="RUNS")
    parser.add_argument("corpus", metavar="CORPUS")
    parser.add_argument("--only", default="", metavar="TEXT", help="only files whose path has TEXT")
    arguments = parser.parse_args()
    binary, corpus = common.check_arguments(arguments.binary, arguments.corpus)
    files = refused = wrong = 0
    for row in common.rows(corpus):
        if arguments.only not in row["path"]:
            continue
        problem, was_refused = try_row(binary, corpus, row)
        files += 1
        refused += was_refused
        if problem:
            wrong += 1
            print(problem)
    if not files:
        sys.exit("no such file in the corpus")
    print(f"{files} files, {refused} refused, {wrong} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    os.environ.setdefault("LC_ALL", "C")
    sys.exit(main())
