#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares perfdata annotate with perf annotate --stdio, on recordings made here.

usage: annotate.py PERFDATA CC... [--verbose]

A small program is built and recorded. With each set of options, every function must have the same title, the same instructions
at the same addresses and in the same words, and the same values beside them; with made branch stacks also the shares of branches. Only which symbol names an address ("<name+0x10>"), and
which place in the source -l prints ("// hot.c:12"), may be another one, in 5 of 100 instructions, of which there are fewer where fewer functions were met; with --no-source in any, as objdump does not have the symbols of debug files then. Exit status: 0
all agrees, 1 something does not, 77 no perf 6.1 with objdump that can record here, or no disassembler in this build.
"""

import argparse
import json
import os
import random
import re
import subprocess
import sys
import tempfile

PROGRAM = r"""
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static volatile double sink;
static inline unsigned mix(unsigned h, unsigned c)
{
	h ^= c;
	return h * 16777619u;
}
__attribute__((noinline)) unsigned hash(const char *s, unsigned n)
{
	unsigned h = 2166136261u;
	for (unsigned i = 0; i < n; i++)
		h = mix(h, (unsigned char)s[i]);
	return h;
}
__attribute__((noinline)) double sum(const double *a, int n)
{
	double s = 0;
	for (int i = 0; i < n; i++)
		s += a[i] / (i + 1);
	return s;
}
static int compare(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}
int main(void)
{
	static char text[4096];
	static double numbers[4096];
	static int items[4096];
	unsigned h = 1;
	memset(text, 'x', sizeof(text));
	for (int k = 0; k < 4000; k++) {
		h += hash(text, sizeof(text));
		numbers[k & 4095] = h;
		sink = sum(numbers, 4096);
		for (int i = 0; i < 256; i++)
			items[i] = (int)(h = h * 1103515245 + 12345);
		qsort(items, 256, sizeof(*items), compare);
	}
	printf("%u\n", h);
	return 0;
}
"""
KERNEL = r"""
__asm__(".globl _text\n.text\n_text:\nnop\n");
__attribute__((noinline)) unsigned hash(const char *s, unsigned n)
{
	unsigned h = 2166136261u;
	for (unsigned i = 0; i < n; i++)
		h = (h ^ (unsigned char)s[i]) * 16777619u;
	return h;
}
__attribute__((noinline)) void copy(long *to, const long *from, unsigned n)
{
	while (n--)
		*to++ = *from++ + hash((const char *)from, n);
}
"""
KERNEL_AT = 0xFFFFFFFF81000000
VERSION = "6.1."
OPTIONS = ("", "-n", "--show-total-period", "--percent-type global-period", "--percent-type local-hits", "--no-source", "-l", "-P", "--group")
EVENTS = (("cpu-clock",), ("cpu-clock", "page-faults"))
TITLE = re.compile(r"^ (Percent|Samples|Period) *\|\t")
INSTRUCTION = re.compile(r"^((?: +[0-9.]+)+) : +([0-9a-f]+): *(.*)$")
NAME = re.compile(r"(?<=[0-9a-f]) <.*>(?=$| // |\t# )| // .*$")
SAME_NAMES = 0.95


def output(argv):
    done = subprocess.run(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=300, check=False)
    return done.returncode, done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace")


def can_compare():
    try:
        return output(["perf", "--version"])[1].split()[-1].startswith(VERSION) and output(["objdump", "--version"])[0] == 0
    except (OSError, IndexError):
        return False


def functions(text):
    """Blocks by title: values and texts by address."""
    found, block = {}, None
    for line in text.split("\n"):
        if TITLE.match(line):
            block = found.setdefault(line, {})
        match = INSTRUCTION.match(line)
        if match and block is not None:
            block[int(match[2], 16)] = (match[1].split(), match[3].rstrip())
    return found


def compare(perfdata, path, options, verbose):
    """Instructions, those with another name of an address, and what differs."""
    theirs = functions(output(["perf", "annotate", "--stdio", *options, "-i", path])[1])
    ours = functions(output([perfdata, "annotate", "--stdio", *options, "-i", path])[1])
    wrong, count, names = [], 0, 0
    for title, block in theirs.items():
        other = ours.get(title)
        if other is None:
            wrong.append(f"missing: {title.strip()}")
            continue
        if set(block) != set(other):
            wrong.append(f"{title.strip()}: addresses {sorted(set(block) ^ set(other))[:4]}")
        for addr, (values, text) in block.items():
            if addr not in other:
                continue
            count += 1
            if values != other[addr][0]:
                wrong.append(f"{title.strip()}: {addr:x}: {values} {other[addr][0]}")
            if NAME.sub("", text) != NAME.sub("", other[addr][1]):
                wrong.append(f"{title.strip()}: {addr:x}: {text}\n   here: {other[addr][1]}")
            elif text != other[addr][1]:
                names += 1
                if verbose:
                    print(f"{addr:x}: {text}\n   here: {other[addr][1]}")
    if path.endswith(".branches") and not any("\t# " in text for block in theirs.values() for _, text in block.values()):
        wrong.append("no shares of branches")
    return count, names, wrong


def with_branches(perfdata, path, made):
    """Copies a recording with branch stacks that go from one instruction of a function to another of it."""
    chance = random.Random(1)
    code = json.loads(output([perfdata, "annotate", "--json", "-i", path])[1])["tables"][0]["functions"]
    functions = [[int(line["addr"], 16) for line in function["code"]] for function in code if function["dso"].endswith("/hot")]

    def stack(_):
        entries, addrs = [], chance.choice(functions)
        for _ in range(chance.randrange(16)):
            onward = chance.choice(functions)
            flags = f"{chance.choice(('predicted', 'mispred'))}|cycles({chance.randrange(1, 30)})"
            entries.append(f"{{from: {chance.choice(addrs):#x}, to: {chance.choice(onward):#x}, flags: {flags}}}")
            addrs = onward
        return f", branch_stack: {{entries: [{', '.join(reversed(entries))}]}}"

    text = output([perfdata, "text", path])[1]
    text = re.sub(r"^(SAMPLE .*)$", lambda found: found[1] + stack(found), text, flags=re.M)
    text = re.sub(r"^(\tsample_type: .*)$", r"\1|BRANCH_STACK\n\tbranch_sample_type: USER|ANY", text, flags=re.M)
    subprocess.run([perfdata, "assemble", "-o", made, "-"], input=text.encode(), check=True)


def with_kernel(perfdata, folder, compiler):
    """A small image at the place of a kernel, and a recording with samples in its functions; None if it cannot be built."""
    source, image, path = (os.path.join(folder, name) for name in ("kernel.c", "vmlinux-1", "kernel.data"))
    with open(source, "w", encoding="utf-8") as f:
        f.write(KERNEL)
    flags = ("-O2", "-g", "-ffreestanding", "-nostdlib", "-static", "-no-pie", "-mcmodel=kernel", "-fno-pic", "-fcf-protection=none",
             f"-Wl,-Ttext={KERNEL_AT:#x},-e,_text,--build-id=sha1")
    if output([*compiler, *flags, "-o", image, source])[0] != 0:
        return None
    build_id = re.search(r"Build ID: (\w+)", output(["readelf", "-n", image])[1])[1]
    addrs = re.findall(r"^ *([0-9a-f]{16}):", output(["objdump", "-d", image])[1], re.M)
    addrs = [addr for addr in addrs if int(addr, 16) >= KERNEL_AT + 16]
    at = "sample_id: {pid: 42, tid: 42, time_ns: 1.0}"
    lines = ['event {name: "cpu-clock", ids: [7], type: software, sample_period: 1000000', "sample_type: IP|TID|TIME|IDENTIFIER, "
             "flags: mmap|mmap2|comm|sample_id_all}", f'feature BUILD_ID {{records: [{{misc: 0x8001, pid: -1, build_id: x"{build_id}", '
             'size: 20, filename: "[kernel.kallsyms]"+64}]}', 'feature ARCH {value: "x86_64"}',
             f"MMAP misc: kernel, pid: -1, tid: 0, addr: {KERNEL_AT:#x}, len: 0x1000, pgoff: {KERNEL_AT:#x}, "
             'filename: "[kernel.kallsyms]_text", sample_id: {time_ns: 0}', f'COMM misc: user, pid: 42, tid: 42, comm: "demo", {at}']
    chance = random.Random(2)
    lines += [f"SAMPLE misc: kernel, ip: 0x{addr}, pid: 42, tid: 42, time_ns: {1000 + i}"
              for i, addr in enumerate(chance.choices(addrs, k=400))]
    subprocess.run([perfdata, "assemble", "-o", path, "-"], input="\n".join(lines).encode() + b"\n", check=True)
    return path, image


def compare_all(args, path, events, more=()):
    failed = False
    for options in OPTIONS:
        count, names, wrong = compare(args.perfdata, path, [*options.split(), *more], args.verbose)
        same = 1 - names / max(count, 1)
        print(f"{','.join(events)} {options}: {count} instructions, {names} with another name of an address, {len(wrong)} differences")
        for line in wrong[:10]:
            print(f"  {line}")
        failed |= bool(wrong) or count < 30 or (same < SAME_NAMES and options != "--no-source")
    return failed


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("perfdata")
    parser.add_argument("compiler", nargs="+")
    parser.add_argument("--verbose", action="store_true")
    args = parser.parse_args()
    if not can_compare() or "disassembl" not in "".join(
            line for line in output([args.perfdata, "version", "--build"])[1].split("\n") if "capstone 5" in line):
        print("needs perf 6.1, objdump, and a disassembler in this build")
        return 77
    failed = False
    with tempfile.TemporaryDirectory() as folder:
        source, program = os.path.join(folder, "hot.c"), os.path.join(folder, "hot")
        with open(source, "w", encoding="utf-8") as f:
            f.write(PROGRAM)
        if output([*args.compiler, "-O2", "-g", "-no-pie", "-o", program, source])[0] != 0:
            print("no program could be built")
            return 77
        for events in EVENTS:
            path = os.path.join(folder, "perf.data")
            if output(["perf", "record", "-q", "-F", "2000", "-e", ",".join(events), "-o", path, program])[0] != 0:
                print("cannot record")
                return 77
            failed |= compare_all(args, path, events)
            with_branches(args.perfdata, path, path + ".branches")
            failed |= compare_all(args, path + ".branches", (*events, "branches"))
        kernel = with_kernel(args.perfdata, folder, args.compiler)
        if kernel:
            failed |= compare_all(args, kernel[0], ("kernel",), ("-k", kernel[1]))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
