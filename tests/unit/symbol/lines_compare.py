#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares functions and lines with those of addr2line, at each byte of code of small programs.

usage: lines_compare.py LINES-DUMP OBJECT...
"""

import re
import shutil
import subprocess
import sys


def run(command, text):
    done = subprocess.run(command, input=text, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False, text=True)
    return done.stdout.splitlines()


def answers(command, text):
    """address: its lines."""
    found = {}
    for line in run(command, text):
        if re.fullmatch(r"0x[0-9a-f]{16}", line):
            here = found[line] = []
        else:
            # of paths the last part: addr2line puts the first folder of version 5 in front twice
            here.append(re.sub(r" \(discriminator \d+\)$", "", line).rsplit("/", 1)[-1])
    return found


def functions(path):
    """Addresses in the functions of the sample."""
    for line in run(["nm", "-S", path], ""):
        words = line.split()
        if len(words) == 4 and words[3] in ("outer", "plain", "main"):
            start, size = int(words[0], 16), int(words[1], 16)
            yield from range(start, start + size)


def compare(dump, path):
    text = "".join(f"{address:x}\n" for address in functions(path))
    ours = answers([dump, path], text)
    theirs = answers(["addr2line", "-a", "-i", "-f", "-e", path], text)
    wrong = [address for address in ours if ours[address] != theirs.get(address)]
    for address in wrong[:5]:
        print(f"# {path}: {address}: {ours[address]}, addr2line has {theirs.get(address)}")
    print(f"# {path}: {len(ours)} addresses, {len(wrong)} differ")
    return len(ours) > 20 and not wrong


def main(args):
    if len(args) < 2:
        print(__doc__.strip(), file=sys.stderr)
        return 2
    if not shutil.which("nm") or not shutil.which("addr2line"):
        print("1..0 # SKIP nm or addr2line is missing")
        return 0
    print(f"1..{len(args) - 1}")
    for number, path in enumerate(args[1:], 1):
        print(f"{'ok' if compare(args[0], path) else 'not ok'} {number} - {path}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
