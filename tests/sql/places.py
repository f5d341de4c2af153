#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Rows of perfdata sql under --dsos and --symbols, against the same condition as SQL.

usage: places.py PERFDATA FILE...

Exit status: 0 all is equal, 1 not.
"""

import json
import subprocess
import sys


def rows(perfdata, path, statement, *options):
    done = subprocess.run([perfdata, "sql", "-q", "--no-symbols", "--format", "json", *options, path, statement], stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, check=False)
    return [json.loads(line) for line in done.stdout.splitlines()]


def main():
    perfdata, wrong, compared = sys.argv[1], 0, 0
    for path in sys.argv[2:]:
        every = rows(perfdata, path, "select record, object, function from samples;")
        names = [("--dsos", "object", name) for name in sorted({row["object"] for row in every if row["object"]})[:4] + ["nothing"]]
        names += [("--symbols", "function", name) for name in sorted({row["function"] for row in every if row["function"] and row["function"][0] != "["})[:4]]
        for option, column, name in names:
            expected = [row for row in every if row[column] == name]
            found = rows(perfdata, path, "select record, object, function from samples;", f"{option}={name}")
            compared += len(expected)
            if found != expected:
                wrong += 1
                print(f"{path}: {option}={name}: {len(found)} rows, not {len(expected)}")
    print(f"{len(sys.argv) - 2} files, {compared} rows, {wrong} selections differ")
    return 1 if wrong or not compared else 0


if __name__ == "__main__":
    sys.exit(main())
