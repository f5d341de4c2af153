#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Damaged objects through perfdata annotate: it ends with one of its exit codes, and what it calls JSON is JSON.

usage: mutants.py PERFDATA CC... [--count N]

A small program is built and recorded; copies of it with changed bytes are found in its place. The mutants are the same each time. Exit
status: 0 all is so, 1 not, 77 nothing can be recorded here.
"""

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile

PROGRAM = r"""
static unsigned __attribute__((noinline)) work(unsigned n)
{
	unsigned s = 0;
	for (unsigned i = 0; i < n; i++)
		s = s * 31 + (i ^ s >> 3);
	return s;
}
int main(void) { return (int)(work(100000000) & 1); }
"""
OPTIONS = ((), ("--json",), ("-l", "--asm-raw"), ("--no-source", "-n"))
CODES = range(8)


def run(argv):
    return subprocess.run(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60, check=False)


def mutant(chance, content, parts):
    """Bytes anywhere, or in one of the parts that are looked at: headers, tables, debug information."""
    content = bytearray(content)
    start, end = chance.choice(parts)
    for _ in range(chance.choice((1, 3, 10, 40))):
        content[chance.randrange(start, end)] = chance.choice((0, 255, chance.randrange(256)))
    return content[:chance.randrange(len(content))] if chance.random() < 0.1 else content


def wrong(done, options):
    """What is wrong with an answer, or None."""
    if done.returncode not in CODES or b"Sanitizer" in done.stderr:
        return f"exit status {done.returncode}: {done.stderr[-300:]!r}"
    if "--json" in options and done.stdout:
        try:
            json.loads(done.stdout)
        except ValueError as error:
            return f"not JSON: {error}"
    return None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("perfdata")
    parser.add_argument("compiler", nargs="+")
    parser.add_argument("--count", type=int, default=150)
    args = parser.parse_args()
    chance = random.Random(21)
    failures, answers = 0, 0
    with tempfile.TemporaryDirectory() as folder:
        source, program, data = (os.path.join(folder, name) for name in ("work.c", "work", "perf.data"))
        with open(source, "w", encoding="utf-8") as f:
            f.write(PROGRAM)
        if run([*args.compiler, "-O1", "-g", "-o", program, source]).returncode != 0:
            return 77
        if run([args.perfdata, "record", "-q", "-e", "cpu-clock", "-o", data, "--", program]).returncode not in (0, 1):
            print("nothing can be recorded here")
            return 77
        with open(program, "rb") as f:
            content = f.read()
        root = os.path.join(folder, "root")
        place = root + program
        os.makedirs(os.path.dirname(place))
        parts = [(0, 64), (64, 800), (800, len(content)), (len(content) * 3 // 4, len(content)), (len(content) - 2048, len(content))]
        for i in range(args.count):
            with open(place, "wb") as f:
                f.write(content if not i else mutant(chance, content, parts))
            options = OPTIONS[i % len(OPTIONS)]
            done = run([args.perfdata, "annotate", "--symfs", root, "-i", data, *options])
            answers += b"work" in done.stdout
            error = wrong(done, options)
            if error:
                failures += 1
                print(f"mutant {i} {' '.join(options)}: {error}")
            if not i and b"imul" not in done.stdout and b"shr" not in done.stdout:
                failures += 1
                print(f"the undamaged object: {done.stdout[-300:]!r} {done.stderr[-300:]!r}")
    print(f"{args.count} mutants, {answers} still annotated, {failures} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
