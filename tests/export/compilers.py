#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Branch stacks as compilers want them: exact counts, and what perf2bolt and llvm-profgen make of them.

usage: compilers.py PERFDATA

A program is built as a position independent executable and as one with a fixed address, by the linkers that are here; a recording
with branch stacks of its loop is assembled, as if the loader had put it somewhere. The counts are those that were recorded, at
the addresses that each format has; perf2bolt and llvm-profgen, where they are installed, find the function and its counts. Exit
status: 0 so it is, 1 not, 77 no compiler.
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
__attribute__((noinline)) long work(long n)
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
SAMPLES, ENTRIES, MISPREDICTED = 50, 4, 7
HEAD = """event {
	name: "cycles:u"
	ids: [7]
	type: hardware
	sample_period: 4000
	sample_type: IP|TID|TIME|PERIOD|BRANCH_STACK|IDENTIFIER
	branch_sample_type: USER|ANY
	flags: mmap|comm|sample_id_all
}
feature ARCH {value: "x86_64"}
feature NRCPUS {available: 1, online: 1}
feature BRANCH_STACK {}
COMM misc: user|COMM_EXEC, pid: 42, tid: 42, comm: "program", sample_id: {pid: 42, tid: 42, time_ns: 1.0}
"""


def run(words, **more):
    return subprocess.run(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False, **more)


def tools(name):
    return sorted(glob.glob(f"/usr/lib/llvm-*/bin/{name}")) or [found for found in [shutil.which(name)] if found]


def code_segment(path):
    """Offset, address and size of what the loader maps executable."""
    for line in run(["readelf", "-lW", path]).stdout.splitlines():
        found = re.match(r"\s+LOAD\s+(0x\w+) (0x\w+) 0x\w+ (0x\w+) 0x\w+ R E", line)
        if found:
            return [int(number, 16) for number in found.groups()]
    return None


def loop_of(path):
    """The branch back in work: from and to, as linked."""
    text = run(["objdump", "-d", "--no-show-raw-insn", path]).stdout.partition("<work>:")[2].partition("\n\n")[0]
    for at, to in re.findall(r"^\s*([0-9a-f]+):\s+j\w+\s+([0-9a-f]+) <work", text, re.MULTILINE):
        if int(to, 16) < int(at, 16):
            return int(at, 16), int(to, 16)
    return None


def recording(perfdata, folder, program, bias):
    offset, address, size = code_segment(program)
    source, target = loop_of(program)
    page = address & -4096
    text = HEAD + (f"MMAP misc: user, pid: 42, tid: 42, addr: {bias + page:#x}, len: {(size + address - page + 4095) & -4096:#x}, "
                   f"pgoff: {offset & -4096:#x}, filename: \"{program}\", sample_id: {{time_ns: 1.0}}\n")
    for i in range(SAMPLES):
        flag = "mispred" if i < MISPREDICTED else "predicted"
        entry = f"\t{{from: {bias + source:#x}, to: {bias + target:#x}, flags: {flag}}}\n"
        text += (f"SAMPLE misc: user, ip: {bias + source:#x}, pid: 42, tid: 42, time_ns: 1.{i + 1:03}, period: 4000, branch_stack: "
                 f"{{entries: [\n{entry * ENTRIES}]}}\n")
    plain, data = os.path.join(folder, "x.txt"), os.path.join(folder, "x.data")
    with open(plain, "w", encoding="utf-8") as file:
        file.write(text)
    done = run([perfdata, "assemble", "-o", data, plain])
    if done.returncode:
        raise SystemExit(f"assemble: {done.stdout}")
    return data, source, target, page - (offset & -4096), page


def expected(source, target, file_base, page):
    """The texts: taken branches, and as many ranges less one for each sample."""
    taken, ranges = SAMPLES * ENTRIES, SAMPLES * (ENTRIES - 1)
    f, t = source - file_base, target - file_base
    m, n = source - page, target - page
    return {
        "autofdo": f"1\n{t:x}-{f:x}:{ranges}\n1\n{f:x}:{SAMPLES}\n1\n{f:x}->{t:x}:{taken}\n",
        "bolt": f"B {source:x} {target:x} {taken} {MISPREDICTED * ENTRIES}\nF {target:x} {source:x} {ranges}\n",
        "llvm-profgen": f"1\n{n:x}-{m:x}:{ranges}\n1\n{m:x}->{n:x}:{taken}\n",
    }


def by_bolt(tool, folder, program, profile):
    out = os.path.join(folder, "out.fdata")
    done = run([tool, "-pa", "-p", profile, "-o", out, program])
    if done.returncode:
        return done.stdout[-300:]
    with open(out, encoding="utf-8") as file:
        text = file.read()
    taken = re.search(r"^1 work \w+ 1 work \w+ (\d+) (\d+)$", text, re.MULTILINE)
    if not taken or [int(taken[1]), int(taken[2])] != [MISPREDICTED * ENTRIES, SAMPLES * ENTRIES]:
        return f"the branch is not in {text[:200]!r}"
    return None


def by_profgen(tool, folder, program, profile):
    out = os.path.join(folder, "out.prof")
    done = run([tool, "--binary", program, "--unsymbolized-profile", profile, "--output", out, "--format=text"])
    if done.returncode or not os.path.exists(out):
        return done.stdout[-300:]
    with open(out, encoding="utf-8") as file:
        text = file.read()
    found = re.search(r"^work:(\d+):\d+$", text, re.MULTILINE)
    return None if found and int(found[1]) >= SAMPLES * (ENTRIES - 1) else f"work is not in {text[:200]!r}"


def programs(folder):
    """Name, path, and where it is put."""
    source = os.path.join(folder, "program.c")
    with open(source, "w", encoding="utf-8") as text:
        text.write(SOURCE)
    compiler = shutil.which("clang") or shutil.which("gcc")
    for linker in ("bfd", "lld"):
        for kind, bias in (("pie", 0x555555554000), ("no-pie", 0)):
            path = os.path.join(folder, f"program-{linker}-{kind}")
            extra = ["-pie", "-fPIE"] if kind == "pie" else ["-no-pie"]
            done = run([compiler, "-g", "-gdwarf-4", "-O1", f"-fuse-ld={linker}", "-Wl,-q", *extra, "-o", path, source])
            if done.returncode == 0 and code_segment(path) and loop_of(path):
                yield path, bias


def main():
    perfdata = os.path.abspath(sys.argv[1])
    if not (shutil.which("clang") or shutil.which("gcc")) or os.uname().machine != "x86_64":
        print("no compiler for x86_64")
        return SKIPPED
    wrong = []
    checks = 0
    with tempfile.TemporaryDirectory(prefix="perfdata-compilers-") as folder:
        for program, bias in programs(folder):
            data, source, target, file_base, page = recording(perfdata, folder, program, bias)
            for name, text in expected(source, target, file_base, page).items():
                profile = os.path.join(folder, "profile." + name)
                run([perfdata, "export", "-q", "--to", name, "-o", profile, data])
                with open(profile, encoding="utf-8") as file:
                    got = file.read()
                checks += 1
                if got != text:
                    wrong.append(f"{os.path.basename(program)}: {name}: {got!r}, expected {text!r}")
            for kind, reader, name in (("perf2bolt", by_bolt, "bolt"), ("llvm-profgen", by_profgen, "llvm-profgen")):
                for tool in tools(kind):
                    checks += 1
                    why = reader(tool, folder, program, os.path.join(folder, "profile." + name))
                    wrong += [f"{os.path.basename(program)}: {tool}: {why}"] if why else []
        for kind in ("perf2bolt", "llvm-profgen", "create_llvm_prof"):
            print(f"{kind}: {', '.join(tools(kind)) or 'not installed'}")
    print("\n".join(wrong) or f"{checks} profiles are right")
    return 1 if wrong else 0 if checks else SKIPPED


if __name__ == "__main__":
    sys.exit(main())
