#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Damaged recordings and saved profiles through perfdata diff, on either side: it ends with one of its exit codes, and what it
calls JSON or XML is that.

usage: mutants.py PERFDATA DATA [COUNT]

DATA is the folder of recordings. The mutants are the same each time. Exit status: 0 all is so, 1 not.
"""

import json
import os
import random
import subprocess
import sys
import tempfile
import xml.dom.minidom
import xml.parsers.expat

RECORDINGS = ("hot.data", "hot-multi.data", "hot-pipe.data", "hot-trace.data", "hot-group.data", "hot-records.data")
OPTIONS = ((), ("--json",), ("--junit", "--fail-on", "change > 0"), ("--markdown",), ("--significance", "--fail-on", "maybe"), ("-p", "-F", "-c", "ratio"),
           ("-s", "comm,pid,cpu,sym"), ("-b", "-c", "wdiff:1,2", "-t", ","))
CODES = range(8)


def mutant(chance, content):
    content = bytearray(content)
    for _ in range(chance.choice((1, 3, 10, 40))):
        content[chance.randrange(len(content))] = chance.choice((0, 255, chance.randrange(256)))
    return content[:chance.randrange(len(content))] if chance.random() < 0.2 else content


def wrong(done, options):
    """What is wrong with an answer, or None."""
    if done.returncode not in CODES or b"Sanitizer" in done.stderr:
        return f"exit status {done.returncode}: {done.stderr[-300:]!r}"
    if "--junit" in options and done.stdout:
        try:
            xml.dom.minidom.parseString(done.stdout)
        except xml.parsers.expat.ExpatError as error:
            return f"not XML: {error}"
    if "--json" in options and done.stdout:
        try:
            json.loads(done.stdout)
        except ValueError as error:
            return f"not JSON: {error}"
    return None


def mutated_lines(chance, content):
    """Of a saved profile: lines gone, repeated or moved, numbers changed."""
    lines = content.split(b"\n")
    for _ in range(chance.choice((1, 2, 5))):
        at = chance.randrange(len(lines))
        way = chance.randrange(4)
        if way == 0:
            del lines[at]
        elif way == 1:
            lines.insert(chance.randrange(len(lines)), lines[at])
        else:
            fields = lines[at].split(b"\t")
            fields[chance.randrange(len(fields))] = chance.choice((b"18446744073709551615", b"0", b"-1", b"", b"1e308", b"\\x01", b"7"))
            lines[at] = b"\t".join(fields)
        if not lines:
            break
    return b"\n".join(lines)


def saved_mutants(perfdata, folder, data, chance, count):
    """Number of damaged profiles that go wrong."""
    whole, path, bad = os.path.join(folder, "whole.profile"), os.path.join(folder, "mutant.profile"), 0
    names = ",".join(os.path.join(data, name) for name in RECORDINGS[:2])
    subprocess.run([perfdata, "profile", "save", "--no-symbols", "-o", whole, names], check=True, stdin=subprocess.DEVNULL)
    with open(whole, "rb") as file:
        content = file.read()
    for number in range(count):
        with open(path, "wb") as file:
            file.write(mutated_lines(chance, content) if number % 2 else mutant(chance, content))
        options = chance.choice(((), ("--json",), ("--per", "run"), ("--significance",), ("-p", "-F", "-c", "ratio")))
        sides = chance.choice(((path, whole), (whole, path), (path, path), (f"{whole},{path}", path)))
        done = subprocess.run([perfdata, "diff", "--no-symbols", *options, *sides], cwd=folder, stdin=subprocess.DEVNULL,
                              capture_output=True, timeout=120, check=False)
        why = wrong(done, options)
        if why:
            bad += 1
            print(f"profile {number}, {' '.join(options)}: {why}")
    return bad


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    perfdata, data = (os.path.abspath(word) for word in sys.argv[1:3])
    count, chance, bad = int(sys.argv[3]) if len(sys.argv) > 3 else 300, random.Random(5), 0
    hot, multi = os.path.join(data, "hot.data"), os.path.join(data, "hot-multi.data")
    with tempfile.TemporaryDirectory(prefix="perfdata-mutants-") as folder:
        path = os.path.join(folder, "mutant.data")
        sides = ((path, hot), (hot, path), (f"{hot},{path}", f"{path},{multi}"))
        for number in range(count):
            name = chance.choice(RECORDINGS)
            with open(os.path.join(data, name), "rb") as source, open(path, "wb") as file:
                file.write(mutant(chance, source.read()))
            options = chance.choice(OPTIONS)
            done = subprocess.run([perfdata, "diff", "--no-symbols", *options, *chance.choice(sides)], cwd=folder,
                                  stdin=subprocess.DEVNULL, capture_output=True, timeout=120, check=False)
            why = wrong(done, options)
            if why:
                bad += 1
                print(f"mutant {number} of {name}, {' '.join(options)}: {why}")
        bad += saved_mutants(perfdata, folder, data, chance, count)
    print(f"mutants: {count} recordings and {count} profiles, {bad} went wrong")
    return bad != 0


if __name__ == "__main__":
    sys.exit(main())
