# SPDX-License-Identifier: MIT
"""Recordings that are made up: a sample at every address of the code of an x86-64 program, or at some of them."""

import os
import subprocess

BASE = 0x10000000
HEAD = ("header form: file, byte_order: little",
        'event {name: "cpu-clock:u", ids: [1], type: software, size: 128, sample_period: 1, sample_type: IP|TID|TIME, read_format: ID, '
        "flags: disabled|mmap|comm|task|sample_id_all|mmap2}",
        'feature CPUID {value: "GenuineIntel,6,207,2"}',
        'COMM misc: COMM_EXEC, pid: 100, tid: 100, comm: "prog", sample_id: {pid: 100, tid: 100}')


def output(*argv):
    return subprocess.run(argv, stdout=subprocess.PIPE, check=True).stdout.decode(errors="replace")


def functions(program):
    """Address and size of each function of the program, by name."""
    found = {}
    for line in output("nm", "-S", "--defined-only", program).splitlines():
        words = line.split()
        if len(words) == 4 and words[2] in "tTwW":
            found[words[3]] = int(words[0], 16), int(words[1], 16)
    return found


def record(perfdata, program, addrs, path, arch="x86_64"):
    """Writes a recording of the program, loaded at BASE, with a sample at each address."""
    lines = [*HEAD, f'feature ARCH {{value: "{arch}"}}']
    for line in output("readelf", "-lW", program).splitlines():
        words = line.split()
        if not words or words[0] != "LOAD" or "E" not in words[6:]:
            continue
        offset, addr, size = int(words[1], 16), int(words[2], 16), int(words[5], 16)
        start, end = addr & ~0xfff, (addr + size + 0xfff) & ~0xfff
        lines.append(f"MMAP2 misc: user, pid: 100, tid: 100, addr: {BASE + start:#x}, len: {end - start:#x}, pgoff: {offset & ~0xfff:#x}, maj: 8, min: 1, "
                     f'ino: 77, prot: 5, flags: 2, filename: "{os.path.realpath(program)}", sample_id: {{pid: 100, tid: 100}}')
    lines += [f"SAMPLE event: 0, misc: user, ip: {BASE + addr:#x}, pid: 100, tid: 100, time_ns: {10**9 + i * 1000}" for i, addr in enumerate(addrs)]
    with open(path + ".text", "w", encoding="utf-8") as f:
        f.write("\n".join(lines) + "\n")
    subprocess.run([perfdata, "assemble", "-o", path, path + ".text"], check=True)


def rows(text):
    """Values of the columns after the share, of each row that -t '|' printed."""
    return [[cell.strip() for cell in line.split("|")[1:]] for line in text.splitlines() if "|" in line and not line.startswith("#")]
