#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""perf2bolt with perfdata as perf: it runs perf script and perf buildid-list, and parses what they print.

usage: bolt.py PERFDATA

A program is built, recorded by perfdata, and converted by each perf2bolt that is here, with a link named perf in PATH that
leads to perfdata. All samples must be read, and the profile must be that with the real perf, if the machine has it.
Exit status: 0 so it is, 1 not, 77 no perf2bolt (package bolt-16 or later), gcc or way to record.
"""

import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile

SKIPPED = 77
SOURCE = """
#include <stdio.h>
__attribute__((noinline)) static long work(long n)
{
	long sum = 0;
	for (long i = 0; i < n; i++)
		sum = i % 3 ? sum + i : sum ^ i;
	return sum;
}
int main(void)
{
	long sum = 0;
	for (int i = 0; i < 1500; i++)
		sum += work(100000 + i);
	return printf("%ld\\n", sum) < 0;
}
"""


def run(words, **more):
    return subprocess.run(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False, **more)


def skip(why):
    print(f"skipped: {why}")
    return SKIPPED


def convert(bolt, folder, path):
    out = os.path.join(folder, "out.fdata")
    done = run([bolt, "-p", os.path.join(folder, "data"), "-o", out, "-nl", os.path.join(folder, "program")],
               env={**os.environ, "PATH": path})
    read = re.search(rb"read (\d+) samples", done.stdout)
    if done.returncode or not read:
        return None, done.stdout.decode(errors="replace")
    with open(out, "rb") as profile:
        return (int(read[1]), profile.read()), ""


def main():
    perfdata = os.path.abspath(sys.argv[1])
    bolts = sorted(glob.glob("/usr/lib/llvm-*/bin/perf2bolt")) or [found for found in [shutil.which("perf2bolt")] if found]
    if not bolts or not shutil.which("gcc"):
        return skip("no perf2bolt (package bolt-16) or gcc")
    with tempfile.TemporaryDirectory(prefix="perfdata-bolt-") as folder:
        source, program = os.path.join(folder, "program.c"), os.path.join(folder, "program")
        with open(source, "w", encoding="utf-8") as text:
            text.write(SOURCE)
        subprocess.run(["gcc", "-O2", "-no-pie", "-Wl,-q", "-o", program, source], check=True)
        data = os.path.join(folder, "data")
        if run([perfdata, "record", "-q", "-e", "cpu-clock:u", "-o", data, program]).returncode:
            return skip("this machine does not allow to record")
        count = run([perfdata, "dump", "-q", "--type", "SAMPLE", "--json", data]).stdout.count(b"\n")
        os.mkdir(os.path.join(folder, "bin"))
        os.symlink(perfdata, os.path.join(folder, "bin", "perf"))
        wrong = 0
        for bolt in bolts:
            ours, why = convert(bolt, folder, os.path.join(folder, "bin") + ":" + os.environ["PATH"])
            theirs = convert(bolt, folder, os.environ["PATH"])[0] if shutil.which("perf") else None
            fine = ours and ours[0] == count and b" work" in ours[1] and (not theirs or theirs == ours)
            wrong += not fine
            print(f"{bolt}: {ours[0] if ours else 'none'} of {count} samples"
                  f"{', the same profile as with perf' if theirs and theirs == ours else ''}{'' if fine else ' FAIL ' + why[-400:]}")
    return 1 if wrong else 0


sys.exit(main())
