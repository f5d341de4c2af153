#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Damaged code and debug information through perfdata report -s type,typeoff,typecln: it ends with one of its exit codes, in time.

usage: mutants.py PERFDATA CC... [--count N] [--seed N]

A program is compiled, and a recording has a sample at each address of its functions; copies of it with changed bytes are found in its
place. The mutants are the same each time. Exit status: 0 all is so, 1 not, 77 no compiler for x86-64.
"""

import argparse
import os
import random
import subprocess
import sys
import tempfile

import expected
import made

SECONDS = 60
CODES = range(8)
SECTIONS = (".text", ".debug_info", ".debug_abbrev", ".debug_loclists", ".debug_loc", ".debug_rnglists", ".debug_frame", ".symtab", ".debug_str")


def sections(program):
    """Where the bytes of the sections of interest are in the file."""
    found = []
    for line in made.output("readelf", "-SW", program).splitlines():
        words = line.replace("[", " ").replace("]", " ").split()
        if len(words) > 5 and words[1] in SECTIONS:
            start, size = int(words[4], 16), int(words[5], 16)
            found.append((start, start + size))
    return found


def mutant(chance, content, parts):
    content = bytearray(content)
    start, end = chance.choice(parts)
    for _ in range(chance.choice((1, 3, 10, 40, 200))):
        content[chance.randrange(start, end)] = chance.choice((0, 1, 0x7f, 0x80, 255, chance.randrange(256)))
    return content


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("perfdata")
    parser.add_argument("compiler", nargs="+")
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=25)
    args = parser.parse_args()
    chance, failures, answers = random.Random(args.seed), 0, 0
    with tempfile.TemporaryDirectory() as folder:
        programs = [expected.Made(args.perfdata, folder, f"C{i}", expected.C, args.compiler, options)
                    for i, options in enumerate((("-O2",), ("-O0", "-fno-asynchronous-unwind-tables"), ("-O1", "-gdwarf-4")))]
        if not all(program.compiled for program in programs) or "X86-64" not in made.output("readelf", "-h", programs[0].program):
            print("no compiler for x86-64")
            return 77
        root = os.path.join(folder, "root")
        os.makedirs(root + os.path.realpath(folder))
        for i in range(args.count):
            program = programs[i % len(programs)]
            with open(program.program, "rb") as f:
                content = f.read()
            with open(root + os.path.realpath(program.program), "wb") as f:
                f.write(mutant(chance, content, sections(program.program)) if i >= len(programs) else content)
            done = subprocess.run([args.perfdata, "report", "--symfs", root, "-i", program.data, "-s", "type,typeoff,typecln"], stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, timeout=SECONDS, check=False)
            answers += b"struct " in done.stdout
            if done.returncode not in CODES or b"Sanitizer" in done.stderr or b"runtime error" in done.stderr:
                failures += 1
                print(f"mutant {i}: exit status {done.returncode}: {done.stderr.decode(errors='replace')[-300:]}")
    print(f"{args.count} mutants, {answers} of them with types of structures, {failures} failures")
    return 1 if failures or answers < args.count // 4 else 0


if __name__ == "__main__":
    sys.exit(main())
