#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Functions whose names changed are joined by their place in the source, and what a caller has taken in is said, by perfdata diff.

usage: places.py PERFDATA CC...

Variants of a small program are built; recordings with as many samples in each function as are given are assembled, and compared as JSON.
Exit status: 0 all is so, 1 not, 77 nothing can be built here.
"""

import json
import os
import re
import subprocess
import sys
import tempfile

OWN = "__attribute__((noinline)) "
PROGRAM = """
volatile unsigned result;
{inserted}
OWN void first(void) {{ for (unsigned i = 0; i < 9; i++) result += i; }}
OWN void second(void) {{ for (unsigned i = 0; i < 9; i++) result ^= i; }}



{between}
OWN void third(void) {{ for (unsigned i = 0; i < 9; i++) result *= i + 3; }}




OWN void fourth(void) {{ for (unsigned i = 0; i < 9; i++) result -= i * 5; }}
int main(void) {{ first(); second(); third(); fourth(); return 0; }}
"""
HEAD = """event {
	name: "cycles:u"
	ids: [7]
	type: hardware
	sample_period: 1000
	sample_type: IP|TID|TIME|PERIOD|IDENTIFIER
	flags: mmap|comm|sample_id_all
}
COMM misc: user|COMM_EXEC, pid: 42, tid: 42, comm: "made", sample_id: {pid: 42, tid: 42, time_ns: 1.0}
"""


def output(argv, **more):
    return subprocess.run(argv, stdin=None if "input" in more else subprocess.DEVNULL, stdout=subprocess.PIPE, check=True, **more).stdout


class Variant:
    """A program with samples: of each function as many as are said."""

    def __init__(self, perfdata, compiler, folder, text, samples, name="made.c"):
        os.mkdir(folder)
        source, program = os.path.join(folder, name), os.path.join(folder, "made")
        with open(source, "w", encoding="utf-8") as f:
            f.write(text.replace("OWN ", OWN))
        output([*compiler, "-O2", "-g", "-no-pie", "-fno-pie", "-o", program, source])
        addrs = {match[2]: int(match[1], 16) for match in re.finditer(r"([0-9a-f]+) [Tt] (\w+)", output(["nm", program]).decode())}
        self.paths = []
        for run in range(3):
            lines = [HEAD]
            low = min(addrs[name] for name in samples) & ~0xfff
            offset = segment_offset(program, low)
            lines.append(f'MMAP misc: user, pid: 42, tid: 42, addr: {low:#x}, len: 0x2000, pgoff: {offset:#x}, '
                         f'filename: "{program}", sample_id: {{time_ns: 1.0}}\n')
            at = 0
            for name, count in samples.items():
                for _ in range(count + run % 2):
                    at += 1
                    lines.append(f"SAMPLE misc: user, ip: {addrs[name] + 4:#x}, pid: 42, tid: 42, time_ns: 1.{1000 + at:06}, period: 1000\n")
            path = os.path.join(folder, f"run{run}.data")
            output([perfdata, "assemble", "-o", path, "-"], input="".join(lines).encode())
            self.paths.append(path)


def segment_offset(program, addr):
    for line in output(["readelf", "-lW", program]).decode().split("\n"):
        words = line.split()
        if len(words) > 5 and words[0] == "LOAD" and int(words[2], 16) <= addr < int(words[2], 16) + int(words[4], 16):
            return int(words[1], 16) + addr - int(words[2], 16)
    raise ValueError(program)


def rows(perfdata, old, new):
    argv = [perfdata, "diff", "--json", "-q", ",".join(old.paths), ",".join(new.paths)]
    found = {}
    for row in json.loads(output(argv))["tables"][0]["rows"]:
        name = row["symbol"].split()[-1]
        found[name] = ([joined.split()[-1] for joined in row.get("joined", [])], row.get("inlined_into"))
    return found


def main():
    perfdata, *compiler = sys.argv[1:]
    plain = PROGRAM.format(inserted="", between="")
    moved = PROGRAM.format(inserted="int more;\n" * 40, between="int other;\n" * 9)
    even = {"first": 100, "second": 100, "third": 100, "fourth": 100}
    failed = False

    def check(what, found, expected):
        nonlocal failed
        found = {name: how for name, how in found.items() if how != ([], None)}
        if found != expected:
            print(f"{what}: {found}, expected {expected}")
            failed = True

    with tempfile.TemporaryDirectory() as folder:
        def variant(name, text, samples, source="made.c"):
            return Variant(perfdata, compiler, os.path.join(folder, name), text, samples, source)
        try:
            old = variant("old", plain, even)
        except (OSError, subprocess.CalledProcessError):
            print("nothing can be built here")
            return 77
        renamed = dict(even, novel=100)
        del renamed["third"]
        check("nothing changed", rows(perfdata, old, variant("same", plain, even)), {})
        check("renamed", rows(perfdata, old, variant("renamed", plain.replace("third", "novel"), renamed)), {"third": (["novel"], None)})
        check("renamed and moved", rows(perfdata, old, variant("moved", moved.replace("third", "novel"), renamed)),
              {"third": (["novel"], None)})
        both = {"first": 100, "fourth": 100, "late": 100, "novel": 100}
        saved = os.path.join(folder, "old.profile")
        output([perfdata, "profile", "save", "-o", saved, ",".join(old.paths)])
        old.paths, paths = [saved], old.paths
        check("saved", rows(perfdata, old, variant("saved", moved.replace("third", "novel"), renamed)), {"third": (["novel"], None)})
        old.paths = paths
        check("two renamed", rows(perfdata, old, variant("two", plain.replace("third", "novel").replace("second", "late"), both)),
              {"third": (["novel"], None), "second": (["late"], None)})
        check("another file", rows(perfdata, old, variant("file", plain.replace("third", "novel"), renamed, "other.c")), {})
        crowd = plain.replace("OWN void third", "OWN void twin(void) { result += 4; } OWN void third").replace("third", "novel")
        check("two at one place", rows(perfdata, old, variant("crowd", crowd, dict(renamed, twin=100))), {})
        inlined = plain.replace("OWN void third", "static inline __attribute__((always_inline)) void third")
        gone = {"first": 100, "second": 100, "fourth": 100, "main": 100}
        check("inlined", rows(perfdata, old, variant("inlined", inlined, gone)), {"third": ([], "main")})
    return failed


if __name__ == "__main__":
    sys.exit(main())
