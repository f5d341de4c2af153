#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Damaged code and debug information through perfdata report -s type,typeoff,typecln and annotate --data-type: they end with one of their
exit codes, in time, and JSON is JSON. Neither blocks that all have the same long list of ranges nor many events take memory for each of these.

usage: mutants.py PERFDATA CC... [--count N] [--seed N]

A program is compiled, and a recording has a sample at each address of its functions; copies of it with changed bytes are found in its
place. The mutants are the same each time. Exit status: 0 all is so, 1 not, 77 no compiler for x86-64.
"""

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile

import expected
import made

SECONDS = 60
CODES = range(8)
COMMANDS = (("report", "-s", "type,typeoff,typecln"), ("annotate", "--data-type", "--json", "--type-stat", "--insn-stat"))
FUNCTIONS, BLOCKS, RANGES = 8, 4000, 1000
EVENTS = 48000
MOST_KIB = 1 << 20
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


def crowded():
    """Assembler text: functions with blocks that share their ranges."""
    code = ["movq (%rdi), %rax", "ret"]
    text = [".text", ".globl _start", "_start:"]
    for i in range(FUNCTIONS):
        text += [f".type f{i}, @function", f"f{i}:", *code, f".size f{i}, .-f{i}"]
    text += [".Lend:", '.section .debug_abbrev,"",@progbits', ".byte 1,0x11,1,0x11,1,0x12,7,0,0", ".byte 2,0x2e,1,3,8,0x11,1,0x12,7,0,0",
             ".byte 3,0x0b,0,0x55,0x17,0,0", ".byte 0", '.section .debug_info,"",@progbits', ".long .Lbehind-.Lunit", ".Lunit: .value 4", ".long .debug_abbrev",
             ".byte 8,1", ".quad _start", ".quad .Lend-_start"]
    for i in range(FUNCTIONS):
        text += [".byte 2", f'.asciz "f{i}"', f".quad f{i}", ".quad 4", f".rept {BLOCKS}", ".byte 3", ".long .debug_ranges", ".endr", ".byte 0"]
    text += [".byte 0", ".Lbehind:", '.section .debug_ranges,"",@progbits', ".set at, 0x10000000"]
    text += [f".rept {RANGES}", ".quad at, at+8", ".set at, at+16", ".endr", ".quad 0,0"]
    return "\n".join(text) + "\n"


def many_events(source):
    """Text of a recording like another one, of a group of events whose samples are at each of its addresses in turn."""
    with open(source + ".text", encoding="utf-8") as f:
        lines = f.read().splitlines()
    addrs = [line.split("ip: ")[1].split(",")[0] for line in lines if line.startswith("SAMPLE")]
    events = [f'event {{name: "e{i}:u", ids: [{i + 1}], type: software, config: {i}, size: 128, sample_period: 1, sample_type: IP|TID|TIME|IDENTIFIER, '
              "read_format: ID, flags: mmap|comm|task|sample_id_all|mmap2}" for i in range(EVENTS)]
    samples = [f"SAMPLE event: {i}, misc: user, ip: {addrs[i % len(addrs)]}, pid: 100, tid: 100, time_ns: {10**9 + i}" for i in range(EVENTS)]
    groups = f'feature GROUP_DESC {{groups: [{{name: "{{anon_group}}", leader_index: 0, nr_members: {EVENTS}}}]}}'
    return [line for line in lines if not line.startswith(("event", "SAMPLE"))][:1] + events + [groups] + [
        line for line in lines[1:] if not line.startswith(("event", "SAMPLE"))] + samples


def takes_little(name, perfdata, *options):
    """Whether it ends well, with little memory."""
    child = subprocess.Popen([perfdata, *options], stdout=subprocess.PIPE)
    said = child.stdout.read()
    status, usage = os.wait4(child.pid, 0)[1:]
    child.returncode = status
    print(f"{name}: status {status}, {len(said)} bytes, {usage.ru_maxrss} KiB")
    return not status and len(said) > 20 and usage.ru_maxrss < MOST_KIB


def large(args, folder, programs):
    """How many of the recordings that could take much memory do so."""
    program, data = os.path.join(folder, "crowded"), os.path.join(folder, "crowded.data")
    with open(program + ".s", "w", encoding="utf-8") as f:
        f.write(crowded())
    subprocess.run([*args.compiler, "-nostdlib", "-static", "-o", program, program + ".s"], stderr=subprocess.PIPE, check=True)
    addrs = [addr for name, (addr, _) in made.functions(program).items() if name.startswith("f")]
    made.record(args.perfdata, program, addrs, data)
    failures = not takes_little("functions with the same ranges", args.perfdata, "report", "-q", "-i", data, "-s", "type")
    with open(data + ".text", "w", encoding="utf-8") as f:
        f.write("\n".join(many_events(programs[0].data)) + "\n")
    subprocess.run([args.perfdata, "assemble", "-o", data, data + ".text"], check=True)
    return failures + (not takes_little("many events in a group", args.perfdata, "annotate", "-i", data, "--data-type=struct node"))


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
            command = COMMANDS[i // len(programs) % len(COMMANDS)]
            done = subprocess.run([args.perfdata, *command, "--symfs", root, "-i", program.data], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                  timeout=SECONDS, check=False)
            answers += b"struct " in done.stdout
            if done.returncode not in CODES or b"Sanitizer" in done.stderr or b"runtime error" in done.stderr:
                failures += 1
                print(f"mutant {i}: {command[0]}: exit status {done.returncode}: {done.stderr.decode(errors='replace')[-300:]}")
            if command[0] == "annotate":
                json.loads(done.stdout.decode(errors="replace"))
        failures += large(args, folder, programs)
    print(f"{args.count} mutants, {answers} of them with types of structures, {failures} failures")
    return 1 if failures or answers < args.count // 4 else 0


if __name__ == "__main__":
    sys.exit(main())
