#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Formats of tracepoints and raw data that are wrong, through the commands that sum up pairs of events.

usage: mutants.py PERFDATA [NUMBER OF MUTANTS]

Sizes, offsets and signs of fields are changed, fields are missing, raw data is cut or changed. Each command ends with one of its exit codes, and
says something if it is not 0; with --json it prints JSON if it is, and pictures are XML. Exit status: 0 all do, 1 one does not.
"""

import json
import os
import random
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

import kmem
import kwork
import locks
import mem
import pairs
from made import Recording

PAIR = "begin=raw_syscalls:sys_enter,end=raw_syscalls:sys_exit,key=tid+id"
SCHED = (
    ("sched:sched_switch", (("pid_t", "prev_pid", 8, 4, 1), ("long", "prev_state", 16, 8, 1), ("pid_t", "next_pid", 24, 4, 1))),
    ("sched:sched_waking", (("pid_t", "pid", 8, 4, 1), ("int", "target_cpu", 12, 4, 1))),
    ("sched:sched_migrate_task", (("pid_t", "pid", 8, 4, 1), ("int", "orig_cpu", 12, 4, 1), ("int", "dest_cpu", 16, 4, 1))),
    ("sched:sched_stat_runtime", (("pid_t", "pid", 8, 4, 1), ("u64", "runtime", 16, 8, 0))),
)
CALL = (("long", "ret", 8, 8, 1),)
POWER = (
    SCHED[0],
    ("power:cpu_idle", (("u32", "state", 8, 4, 0), ("u32", "cpu_id", 12, 4, 0))),
    ("power:cpu_frequency", (("u32", "state", 8, 4, 0), ("u32", "cpu_id", 12, 4, 0))),
    ("syscalls:sys_enter_read", CALL), ("syscalls:sys_exit_read", CALL), ("syscalls:sys_enter_poll", CALL), ("syscalls:sys_exit_poll", CALL),
)
COMMANDS = {
    SCHED: ("sched timehist -M -w -n", "sched timehist -s", "sched timehist -p 1-3 -t 1 -w -M --no-symbols", "sched timehist -C 0,3 -S -I",
            "sched timehist --time 0.000005,2000 -S --max-stack 1 --no-symbols", "sched timehist -S -V -I --state", "sched latency", "sched latency -p", "sched latency -C 0", "sched map",
            "sched map --compact --color-pids 1", "waiting --no-symbols", "waiting --why 1 --no-symbols", "waiting --from 0.000001 --to 2000 -n 2 --no-symbols", "folded --waiting --no-symbols", "timechart -o -", "timechart -w 77 -n 1 --highlight 1 -p 1,x -o -"),
    POWER: ("timechart -o -", "timechart -w 3 -T -n 1 --io-skip-eagain -o -", "timechart -P -o -"),
    locks.EVENTS: ("lock contention --no-symbols", "lock contention -t --no-symbols", "lock report -c --no-symbols",
                   "lock info --no-symbols", "lock info -m --no-symbols"),
    kmem.EVENTS: ("kmem stat --slab --page --caller --alloc --no-symbols", "kmem stat --page --live --caller --no-symbols", "kmem stat --no-symbols",
                  "kmem stat --caller --raw-ip --no-symbols"),
    pairs.EVENTS: (f"folded --no-symbols --pair {PAIR}", f"report --no-symbols --pair {PAIR},owner=id --waiting=1us-", "trace", "trace -s", "trace -S --duration 0.001", "trace --failure -T"),
    kwork.EVENTS: ("kwork report -S --no-symbols", "kwork latency --no-symbols", "kwork timehist --no-symbols", "kwork report -C 0,3 -n x --no-symbols",
                   "kwork latency --time 0.000005,2000 --no-symbols", "kwork top", "kwork top --json -C 0-9 -n x"),
}
MEM = ("mem report --no-symbols", "mem report -D", "mem report -p -t store --no-symbols -s symbol_daddr,dcacheline,phys_daddr,data_page_size", "c2c report --no-symbols",
       "c2c report --stats", "c2c report -d rmt --show-all -c pid,tid,iaddr,dso --no-symbols")
KERNEL = ('MMAP misc: kernel, pid: -1, tid: 0, addr: 0xffffffff81000000, len: 0x1000000, pgoff: 0xffffffff81000000, filename: '
          '"[kernel.kallsyms]_text"',)


def make_up(events, rng):
    """Text of a recording, whose values are small so that events meet."""
    recording = Recording(events, KERNEL)
    time_ns = 1000
    for _ in range(60):
        time_ns += rng.choice((0, 1, 5000, 10**12))
        number = rng.randrange(len(events))
        values = {field[1]: rng.choice((0, 1, 2, 7)) for field in events[number][1]}
        recording.sample(number, time_ns, rng.choice((0, 1, 100)), rng.choice((0, 1, 3)), (0xffffffff81000010, 0xffffffff81000020), **values)
    return recording.text()


def change_format(match, rng):
    name, offset, size = match.group(1), int(match.group(2)), int(match.group(3))
    which = rng.randrange(5)
    if which == 0:
        name = "other"
    elif which == 1:
        offset = rng.choice((0, 3, 9, 4096, 2**31, 2**32 - 1))
    elif which == 2:
        size = rng.choice((0, 1, 2, 3, 4, 8, 16, 2**31))
    elif which == 3:
        return ""
    return f" {name};\\toffset:{offset};\\tsize:{size};\\tsigned:{rng.randrange(2)};"


def change(text, rng):
    fields = r" ([\w\[\]]+);\\toffset:(\d+);\\tsize:(\d+);\\tsigned:[01];"
    place = rng.randrange(len(re.findall(fields, text)))
    count = iter(range(10**6))
    text = re.sub(fields, lambda match: change_format(match, rng) if next(count) == place else match.group(), text)

    def raw(match):
        data = bytearray.fromhex(match.group(1))
        if rng.random() < 0.1:
            data = data[:4 + 8 * rng.randrange(len(data) // 8)]
        elif rng.random() < 0.3:
            data[rng.randrange(8, len(data))] = rng.choice((0, 1, 0x7f, 0x80, 0xff))
        return f'raw: x"{data.hex()}"'

    return re.sub(r'raw: x"([0-9a-f]+)"', raw, text)


def with_json(lines):
    return (*lines, *(f"{line} --json" for line in lines if not line.startswith(("folded", "timechart", "report", "mem report -D", "c2c report --stats"))))


def run_all(perfdata, lines, path, seed, codes):
    """Number of command lines that end in a way that none should; codes counts how they end."""
    wrong = 0
    for line in with_json(lines):
        done = subprocess.run([perfdata, *line.split(), path], capture_output=True, check=False)
        codes[done.returncode] = codes.get(done.returncode, 0) + 1
        if not done.returncode and line.endswith("--json"):
            json.loads(done.stdout.decode(errors="replace"))
        if not done.returncode and line.startswith("timechart"):
            xml.etree.ElementTree.fromstring(done.stdout)
        if done.returncode not in (0, 1, 3, 6) or (done.returncode and not done.stderr) or b"runtime error" in done.stderr:
            wrong += 1
            print(f"{line}, seed {seed}: exit status {done.returncode}\n{done.stderr.decode(errors='replace')[-800:]}")
    return wrong


def damage(path, rng):
    """Some bytes of some samples."""
    with open(path, "rb") as file:
        data = bytearray(file.read())
    for _ in range(rng.choice((1, 10, 300))):
        at = rng.randrange(104, len(data))
        data[at] = rng.choice((0, 1, 0x7f, 0x80, 0xff, data[at] ^ 1 << rng.randrange(8)))
    with open(path, "wb") as file:
        file.write(data)


def memory_accesses(perfdata, wanted, path, codes):
    """Damaged recordings of memory accesses."""
    wrong = 0
    mem.functions = lambda path: range(0x30000, 0x40000, 0x400)
    for seed in range(wanted if os.path.exists(mem.LIBC) else 0):
        rng = random.Random(seed)
        mem.Made(seed, few=rng.random() < 0.3, arch=rng.choice(("x86_64", "aarch64", "ppc64le"))).write(perfdata, path)
        damage(path, rng)
        wrong += run_all(perfdata, MEM, path, seed, codes)
    return wrong


def main():
    perfdata, wanted = os.path.abspath(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 15
    wrong = 0
    codes = {}
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "mutant.data")
        for events, lines in COMMANDS.items():
            for seed in range(wanted):
                rng = random.Random(seed)
                text = change(make_up(events, rng), rng)
                if subprocess.run([perfdata, "assemble", "-o", path, "-"], input=text.encode(), capture_output=True, check=False).returncode:
                    continue
                wrong += run_all(perfdata, lines, path, seed, codes)
        wrong += memory_accesses(perfdata, wanted, path, codes)
    runs = sum(codes.values())
    print(f"{runs} runs, {wrong} wrong; exit codes: {codes}")
    return 1 if wrong or not runs else 0


if __name__ == "__main__":
    sys.exit(main())
