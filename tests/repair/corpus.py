#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Damages the files of a corpus and holds what a repair gets back against them.

usage: corpus.py PROOF CORPUS [--variants N] [--seed N] [--only TEXT] [--verbose] [--save DIR]

PROOF is the program of proof.c, CORPUS a folder with a manifest.tsv. Directories are left out. Exit status: 0 all is as
promised, 1 not, 77 no corpus.
"""

import argparse
import contextlib
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "corpus"))

import common  # noqa: E402  (needs the path above)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("binary", metavar="PROOF")
    parser.add_argument("corpus", metavar="CORPUS")
    parser.add_argument("--variants", default="200", metavar="N", help="of each kind of damage, for each file")
    parser.add_argument("--seed", default="1", metavar="N")
    parser.add_argument("--only", default="", metavar="TEXT", help="only files whose path has TEXT")
    parser.add_argument("--verbose", action="store_true", help="print what was lost")
    parser.add_argument("--save", metavar="DIR", help="keep variants that lost something")
    arguments = parser.parse_args()
    binary, corpus = common.check_arguments(arguments.binary, arguments.corpus)
    command = [binary, "--variants", arguments.variants, "--seed", arguments.seed]
    command += ["--verbose"] if arguments.verbose else []
    command += ["--save", arguments.save] if arguments.save else []
    with contextlib.ExitStack() as stack:
        paths = [
            stack.enter_context(common.Unpacked(corpus, row))
            for row in common.rows(corpus)
            if arguments.only in row["path"] and row["mode"] != "dir"
        ]
        if not paths:
            sys.exit("no such file in the corpus")
        return subprocess.run(command + paths, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
