#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Reads every file of a corpus as a profile, by 1, 2, 4 and 8 threads, beside a plain model.

usage: profile.py PROFILE CORPUS [--only TEXT]

PROFILE is the program of tests/profile, CORPUS a folder with a manifest.tsv. Prints what differs.
Exit status: 0 everything is equal; 1 not; 77 no corpus.
"""

import argparse
import re
import sys

import common


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("\n\n")[1][len("usage: ") :])
    parser.add_argument("profile")
    parser.add_argument("corpus")
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    common.check_arguments(options.profile, options.corpus)
    rows = common.rows(options.corpus)
    equal = refused = sums = 0
    bad = []
    for row in rows:
        if options.only not in row["path"]:
            continue
        with common.Unpacked(options.corpus, row) as path:
            result = common.run([options.profile, path], timeout=120)
        text = result.out.decode("utf-8", "replace").replace(path, row["path"])
        found = re.search(r"(\d+) sums of", text)
        if result.status == 3 and not result.crashed:
            refused += 1
        elif result.status == 0 and found:
            equal += 1
            sums += int(found[1])
        else:
            bad.append(row["path"])
            print(f"{row['path']}: exit status {result.status}\n{text[:2000]}")
    print(f"{equal} files equal ({sums} sums), {refused} cannot be read, {len(bad)} differ")
    return 1 if bad or not equal else 0


if __name__ == "__main__":
    sys.exit(main())
