#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Instructions of whole objects compared with objdump -d of each architecture, word for word.

usage: objdump.py DISASSEMBLE [OBJECT...] [--corpus FOLDER] [--intel] [--verbose]

Objects are those given, else the C library here, those of cross compilers, and those of a corpus. An architecture
whose objdump (2.40) is not installed is left out. What may differ is listed here by architecture, with how much of it; names of addresses
are compared apart. --intel: only x86, in Intel's syntax. Exit status: 0 all agrees, 1 something does not, 77 there was nothing to compare.
"""

import argparse
import collections
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile

VERSION = "2.40"
# By machine of ELF: objdump, and what capstone 5 does not know or does not say
MACHINES = {
    3: ("objdump", r""),
    62: ("objdump", r""),
    183: ("aarch64-linux-gnu-objdump", r""),
    # data in the text that is taken for instructions, coprocessors
    40: ("arm-linux-gnueabihf-objdump", r".*"),
    21: ("powerpc64le-linux-gnu-objdump", r"lxvp|stxvp|vextract\w+m|xs\w+q\w*"),
    22: ("s390x-linux-gnu-objdump", r"vstrs\w+|mvcrl|vl|mvcl|mvc|\.long"),
    243: ("riscv64-linux-gnu-objdump", r""),
    8: ("mips64el-linux-gnuabi64-objdump", r""),
}
LEAST = {40: 0.99}
LEAST_NAMES = 0.97
PLACES = ("/lib/x86_64-linux-gnu/libc.so.6", "/usr/lib32/libc.so.6", "/usr/*-linux-gnu*/lib/libc.so.6")
NAME = re.compile(r" <.*?>+(?=$|\)|  //)")


def output(argv):
    return subprocess.run(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)


def machine_of(path):
    with open(path, "rb") as f:
        head = f.read(20)
    if len(head) < 20 or head[:4] != b"\x7fELF":
        return None
    return int.from_bytes(head[18:20], "little" if head[5] == 1 else "big")


def instructions(text):
    found = {}
    for line in text.split("\n"):
        match = re.match(r" *([0-9a-f]+):?\t(.*)$", line)
        if match:
            found[int(match[1], 16)] = match[2].expandtabs(8).rstrip()
    return found


def compare(disassemble, path, machine, intel, verbose):
    """What is wrong with one object."""
    program, accepted = MACHINES[machine]
    theirs = instructions(output([program, "-d", "-C", "--no-show-raw-insn", *(["-M", "intel"] if intel else []), path]).stdout.decode(errors="replace"))
    ours = instructions(output([disassemble, *(["--intel"] if intel else []), path]).stdout.decode(errors="replace"))
    known = re.compile(f"(?:{accepted})$")
    count = names = other = 0
    wrong, kinds = [], collections.Counter()
    for addr, text in theirs.items():
        mine = ours.get(addr)
        if text == "..." or mine is None:
            continue
        count += 1
        if text == mine:
            continue
        if NAME.sub("", text) == NAME.sub("", mine):
            names += 1
            continue
        other += 1
        word = text.split(" ")[0]
        kinds[word] += 1
        if not accepted or not known.match(word):
            wrong.append(f"{addr:x}: {text}\n   here: {mine}")
    print(f"{path}: {count} of {len(theirs)} instructions, {other} differ, {names} by the name of an address only")
    if verbose:
        print("  " + ", ".join(f"{word} {number}" for word, number in kinds.most_common(40)))
    if other > count * (1 - LEAST.get(machine, 0.999)):
        wrong.append(f"{other} of {count} differ")
    if names > count * (1 - LEAST_NAMES) + 40:
        wrong.append(f"{names} of {count} have other names")
    # where objdump is out of step, it is in step again soon
    if count < len(theirs) * 0.98:
        wrong.append(f"only {count} of {len(theirs)} addresses")
    return wrong


def is_wanted(path):
    machine = os.path.isfile(path) and machine_of(path)
    return bool(machine in MACHINES and shutil.which(MACHINES[machine][0]) and
                VERSION in output([MACHINES[machine][0], "--version"]).stdout.decode().split("\n")[0])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("disassemble")
    parser.add_argument("objects", nargs="*")
    parser.add_argument("--corpus", default="/nowhere")
    parser.add_argument("--intel", action="store_true")
    parser.add_argument("--verbose", action="store_true")
    args = parser.parse_args()
    failed = compared = 0
    with tempfile.TemporaryDirectory() as folder:
        objects = list(args.objects)
        if not objects:
            for archive in glob.glob(args.corpus + "/unwind/sysroot-*.tar.zst"):
                output(["tar", "-C", folder, "--zstd", "-xf", archive])
            places = (*PLACES, args.corpus + "/recorded/bin/*/*", folder + "/**/libc.so*", folder + "/**/hot")
            objects = [path for place in places for path in sorted(glob.glob(place, recursive=True))]
        for path in objects:
            if not is_wanted(path) or (args.intel and machine_of(path) not in (3, 62)):
                continue
            compared += 1
            wrong = compare(args.disassemble, path, machine_of(path), args.intel, args.verbose)
            failed += bool(wrong)
            for line in wrong[:10]:
                print(f"  {line}")
    print(f"{compared} objects compared, {failed} with differences")
    return 1 if failed else 0 if compared else 77


if __name__ == "__main__":
    sys.exit(main())
