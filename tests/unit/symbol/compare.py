#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares symbols with those that nm shows: at each address of code the library has a name that nm has there.

usage: compare.py SYMBOL-DUMP OBJECT...
"""

import shutil
import subprocess
import sys


def lines(*command):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
    return done.stdout.decode("utf-8", "surrogateescape").splitlines()


def wanted(path, *options):
    """address: {name: kind} of functions as nm shows them."""
    found = {}
    for line in lines("nm", "--no-demangle", *options, path):
        address, _, rest = line.partition(" ")
        kind, _, name = rest.partition(" ")
        if address.strip() and kind in "TtWwi":
            found.setdefault(int(address, 16), {})[name.split("@")[0]] = kind
    return found


def compare(dump, path):
    have = {}
    for line in lines(dump, path):
        start, end, _, kind, name = line.split(" ", 4)
        have[int(start, 16)] = (name, int(end, 16), int(kind))
    want = wanted(path) or wanted(path, "-D")
    ends = section_ends(path)
    # nm does not say whether what is weak is code
    sure = [a for a, names in want.items() if set(names.values()) & set("Tti")]
    missing = [a for a in sure if a not in have and a not in ends]
    other = [a for a in want if a in have and have[a][2] == 0 and have[a][0] not in want[a]]
    empty = [a for a, (_, end, _) in have.items() if end <= a]
    for a in (missing + other)[:5]:
        print(f"# {path}: {a:x}: nm has {sorted(want[a])}, the library {have.get(a)}")
    print(f"# {path}: {len(have)} symbols, {len(want)} addresses of nm")
    return len(want) > 0 and not missing and not other and not empty


def section_ends(path):
    """Marks such as _etext stand behind the last byte of code and name nothing."""
    ends = set()
    for line in lines("readelf", "-SW", path):
        words = line.replace("[ ", "[").split()
        if len(words) > 6 and words[0].startswith("[") and words[0] != "[Nr]":
            try:
                ends.add(int(words[3], 16) + int(words[5], 16))
            except ValueError:
                pass
    return ends


def main(args):
    if not shutil.which("nm") or not shutil.which("readelf"):
        print("1..0 # SKIP no nm or readelf here")
        return 0
    print(f"1..{len(args) - 1}")
    failed = 0
    for i, path in enumerate(args[1:], 1):
        ok = compare(args[0], path)
        failed += not ok
        print(f"{'ok' if ok else 'not ok'} {i} - {path}")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
