#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares perfdata mem report and c2c report with perf mem report and perf c2c report, on recordings that are made up, so that every level of
memory, snoop, TLB, lock ... appears, and on those of a corpus.

usage: mem.py PERFDATA [CORPUS]

Both programs must print the same lines. Exit status: 0 all agrees, 1 something does not, 77 no perf 6.1.
"""

import os
import random
import re
import subprocess
import sys
import tempfile

from agreement import SKIPPED, Agreement
from timehist import has_perf

LIBC = "/usr/lib/x86_64-linux-gnu/libc.so.6"
KEYS = "symbol_daddr dso_daddr,sym mem,sym dcacheline,dcacheline,sym phys_daddr,sym symbol_iaddr data_page_size,sym snoop,tlb,locked,blocked".split()
MEM = tuple(f"{options} -g none".strip() for options in (
    "", "-p", "-t store", "-t load", "--data-page-size -p", "-t store -p", "-F overhead,sample,mem", "-s +cpu", "-t store -s +cpu", "-x ,",
    *(f"-s {key}" for key in KEYS)))
RAW = ("-D", "-D -p", "-D -p --data-page-size", "-D -x ,", "-D -U")
C2C = tuple(f"--no-source {options}" for options in (
    "", "--stats", "-d lcl", "-d rmt", "-d peer", "-d tot", "--show-all", "-c pid", "-c tid", "-c pid,iaddr", "-c dso", "--full-symbols",
    "-c pid,tid,dso -d rmt --show-all"))
FIELDS = {"IP": "ip", "TID": "pid", "ADDR": "addr"}


def sections(path):
    """Loaded parts of a shared object: file offset, address, size, whether it is code."""
    lines = subprocess.run(["readelf", "-lW", path], capture_output=True, check=True).stdout.decode().splitlines()
    loads = [line.split() for line in lines if line.strip().startswith("LOAD")]
    return [(int(load[1], 16), int(load[2], 16), int(load[5], 16), "E" in load[6:]) for load in loads]


def functions(path):
    """Addresses of some functions that the dynamic linker knows: their names are distinct, so the order of rows is certain."""
    lines = subprocess.run(["nm", "-D", "--defined-only", path], capture_output=True, check=True).stdout.decode().splitlines()
    found = sorted({int(words[0], 16) for words in map(str.split, lines) if len(words) == 3 and words[1] == "T"})
    return found[::len(found) // 40]


def data_source(rng):
    """Mostly what a machine says, sometimes anything. perf tells rows apart by some of the bits and shows all of them: the others follow from these."""
    if rng.random() < 0.1:
        op, level, snoop = rng.getrandbits(5), 1 << rng.randint(0, 13), rng.randint(0, 3) << rng.randint(0, 3)
    else:
        op = rng.choice((2, 2, 2, 4, 4, 1, 8, 6))
        level = rng.choice((0x2, 0x2, 0x2, 0x4, 0x0)) | rng.choice((1, 8, 0x10, 0x20, 0x40, 0x40, 0x80, 0x100, 0x200, 0x400, 0x800, 0x1000, 0x2000))
        snoop = rng.choice((0, 1, 2, 4, 8, 16, 16))
    follows = random.Random(level)
    number = follows.choice((0, 0, follows.randint(0, 15)))
    remote, hops = follows.choice((0, 0, 0, 1)), follows.choice((0, 0, 0, 1, 3))
    lock, tlb, blocked = rng.choice((0, 1, 2)), rng.choice((0, 1, 2 | 8, 4 | 16, 2 | 32, 64)), rng.choice((0, 0, 1, 2, 4))
    return (op | level << 5 | snoop << 19 | lock << 24 | tlb << 26 | number << 33 | remote << 37 | (snoop * 7 % 3) << 38 | blocked << 40 |
            hops << 43)


class Made:
    """A recording of a program with memory accesses. few: it says little of itself and of its samples."""

    def __init__(self, seed, few=False, arch="x86_64"):
        rng = random.Random(seed)
        kinds = "IP|TID|TIME|ADDR|ID|CPU|DATA_SRC|WEIGHT" + ("" if few else "|PHYS_ADDR|DATA_PAGE_SIZE|CODE_PAGE_SIZE")
        event = ("ids: [%d], type: raw, size: 128, config: 0x1cd, sample_period: 1000, sample_type: " + kinds +
                 ", read_format: ID, flags: disabled|inherit|mmap|comm|task|mmap_data|sample_id_all|mmap2")
        self.lines = ["header form: file, byte_order: little"]
        for i, name in enumerate(("cpu/mem-loads,ldlat=30/P", "cpu/mem-stores/P")):
            self.lines.append(f'event {{name: "{name}", {event % (i + 1)}}}')
        self.lines += [f'feature ARCH {{value: "{arch}"}}', "feature NRCPUS {available: 8, online: 8}",
                       'feature NUMA_TOPOLOGY {nodes: [{node: 0, total_kib: 1000, free_kib: 1, cpus: "0-3"} '
                       '{node: 1, total_kib: 1000, free_kib: 1, cpus: "4-7"}]}']
        if not few:
            self.lines.append("feature MEM_TOPOLOGY {version: 1, block_size_bytes: 0x8000000, nodes: ["
                              "{node: 0, size: 64, bitmap_size: 64, bitmap: [0x3]} {node: 1, size: 64, bitmap_size: 64, bitmap: [0xc]}]}")
        self.rng, self.few = rng, few
        self.code, self.data = [], []
        for pid in (100, 200):
            self.start(pid)
        for i in range(1500):
            self.sample(i)

    def start(self, pid):
        self.lines.append(f'COMM misc: COMM_EXEC, pid: {pid}, tid: {pid}, comm: "prog", sample_id: {{pid: {pid}, tid: {pid}}}')
        for tid in (pid + 1, pid + 2):
            self.lines.append(f"FORK pid: {pid}, ppid: {pid}, tid: {tid}, ptid: {pid}, sample_id: {{pid: {pid}, tid: {tid}}}")
        base = 0x7f0000000000 + pid * 0x10000000
        self.code += [(pid, base + addr) for addr in functions(LIBC)]
        for offset, addr, size, is_code in sections(LIBC):
            first, end = addr & ~0xfff, (addr + size + 0xfff) & ~0xfff
            self.map(pid, base + first, end - first, offset & ~0xfff, LIBC, 5 if is_code else 3, 2, "maj: 8, min: 1, ino: 77")
            if not is_code:
                self.data.append((pid, base + first, end - first))
        self.map(pid, 0x10000000, 0x10000, 0x10000000, "//anon", 3, 2, "")
        self.map(pid, 0x20000000, 0x10000, 0, "[heap]", 3, 2, "")
        self.map(pid, 0x30000000, 0x10000, 0x1000, "/dev/shm/shared", 3, 1, "maj: 0, min: 22, ino: 5")
        self.data += [(pid, 0x10000000, 0x1000), (pid, 0x20000000, 0x800), (pid, 0x30000000, 0x400), (pid, 0x70000000, 0x100)]

    def map(self, pid, start, size, offset, name, prot, flags, place):
        misc = "user" if prot & 4 else "user|MMAP_DATA"
        self.lines.append(f'MMAP2 misc: {misc}, pid: {pid}, tid: {pid}, addr: {start:#x}, len: {size:#x}, pgoff: {offset:#x}, {place} prot: {prot}, '
                          f'flags: {flags}, filename: "{name}", sample_id: {{pid: {pid}, tid: {pid}}}')

    def sample(self, number):
        rng = self.rng
        pid, ip = rng.choice(self.code)
        _, at, most = rng.choice([data for data in self.data if data[0] == pid])
        ip += rng.choice((0, 0, 4))
        addr = at + rng.randrange(0, min(most, 0x200), 8) if rng.random() < 0.95 else 0
        more = "" if self.few else (f", phys_addr: {rng.choice((0, addr & 0xffff | rng.randint(0, 3) << 27)):#x}, data_page_size: "
                                    f"{rng.choice((0, 4096, 1 << 21))}, code_page_size: 4096")
        self.lines.append(f"SAMPLE event: {number % 2}, misc: user, ip: {ip:#x}, pid: {pid}, tid: {pid + rng.randint(0, 2)}, "
                          f"time_ns: {10**9 + number * 1000}, addr: {addr:#x}, id: {number % 2 + 1}, cpu: {rng.randint(0, 7)}, "
                          f"weight: {rng.choice((0, 1, 7, rng.randint(10, 900)))}, data_src: {data_source(rng):#x}{more}")

    def write(self, perfdata, path):
        subprocess.run([perfdata, "assemble", "-o", path, "-"], input="\n".join(self.lines).encode() + b"\n", check=True)


def rows(text):
    """Without what only one of them prints, and blanks at the end of lines."""
    kept = [line.rstrip() for line in text.splitlines()]
    return b"\n".join(line for line in kept if line and line != b"#" and not line.startswith((b"# To display", b"# (Tip", b"# Profile quality")))


def lines_of_files(text):
    """A line that two processes have mapped has the address of either of them."""
    return re.sub(rb"\+0xf[0-9a-f]*|\+0x[0-9a-f]{8,}", b"+", rows(text))


def raw(text):
    """perf prints the first sample in other widths, and 016 in front of its address."""
    lines = text.splitlines()
    return b"\n".join(lines[:1] + lines[2:])


def compare(agreement, perfdata, path):
    for line in MEM:
        agreement.compare(["perf", "mem", "report", "-i", path, "--stdio", *line.split()], [perfdata, "mem", "report", *line.split(), path],
                          lines_of_files if "dcacheline" in line else rows)
    for line in RAW:
        agreement.compare(["perf", "mem", "report", "-i", path, *line.split()], [perfdata, "mem", "report", *line.split(), path], raw)
    for line in C2C:
        agreement.compare(["perf", "c2c", "report", "-i", path, "--stdio", *line.split()], [perfdata, "c2c", "report", *line.split(), path])


def main():
    if not has_perf() or not os.path.exists(LIBC):
        print("no perf of version 6.1")
        return SKIPPED
    perfdata, agreement = sys.argv[1], Agreement()
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "mem.data")
        for made in (Made(1), Made(2), Made(3, few=True), Made(4, arch="aarch64")):
            made.write(perfdata, path)
            compare(agreement, perfdata, path)
    return agreement.conclude()


if __name__ == "__main__":
    sys.exit(main())
