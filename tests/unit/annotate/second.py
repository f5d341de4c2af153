#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A second opinion on instructions: those of an object by capstone and by libLLVM.

usage: second.py DISASSEMBLE [OBJECT...]

Of each instruction both must say how long it is, and spell the operation alike but for suffixes, prefixes and few aliases. Objects are those given,
else the C library here. Exit status: 0 they agree in all but a few, 1 not, 77 there is no libLLVM, or nothing to compare.
"""

import collections
import os
import re
import subprocess
import sys

PLACES = ("/lib/x86_64-linux-gnu/libc.so.6", "/lib/aarch64-linux-gnu/libc.so.6", "/usr/aarch64-linux-gnu/lib/libc.so.6",
          "/usr/riscv64-linux-gnu/lib/libc.so.6", "/usr/s390x-linux-gnu/lib/libc.so.6")
# Of lengths, and of operations.
LEAST_LENGTHS, LEAST_OPERATIONS = 0.9999, 0.97


def output(argv):
    return subprocess.run(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)


def instructions(done):
    found = {}
    for line in done.stdout.decode(errors="replace").split("\n"):
        addr, _, text = line.partition("\t")
        if text:
            found[int(addr, 16)] = text
    return found


def operation(text):
    """The first word without the prefix of x86, and without the letter of a size."""
    words = re.sub(r"^(?:lock|rep[a-z]*|bnd|notrack|data16|cs|ds|es|ss|fs|gs|rex\S*|xacquire|xrelease)\s+", "", text).split()
    return re.sub(r"[bwlq]$", "", words[0]) if words else ""


def compare(disassemble, path):
    """Shares of equal lengths and of equal operations, or None."""
    second = output([disassemble, "--llvm", path])
    if second.returncode != 0:
        return None
    ours, theirs = instructions(output([disassemble, path])), instructions(second)
    both = ours.keys() & theirs.keys()
    other = collections.Counter()
    for addr in both:
        mine, his = operation(ours[addr]), operation(theirs[addr])
        if mine != his:
            other[mine, his] += 1
    lengths, equal = len(both) / max(len(ours), 1), 1 - sum(other.values()) / max(len(both), 1)
    print(f"{path}: {len(ours)} instructions, {lengths:.4%} of one length, {equal:.2%} of one name; else {other.most_common(6)}")
    return lengths, equal


def main():
    disassemble, *objects = sys.argv[1:]
    results = [compare(disassemble, path) for path in objects or PLACES if os.path.exists(path)]
    results = [result for result in results if result]
    if not results:
        print("there is no libLLVM here, or no object")
        return 77
    return any(lengths < LEAST_LENGTHS or equal < LEAST_OPERATIONS for lengths, equal in results)


if __name__ == "__main__":
    sys.exit(main())
