#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares perfdata lock with perf lock, on recordings made here and on made up ones.

usage: locks.py PERFDATA

Both programs must print the same bytes. Exit status: 0 all agrees, 1 something does not, 77 no perf 6.1.
"""

import os
import random
import sys
import tempfile

from agreement import SKIPPED, Agreement
from made import Recording, functions, kernel_line
from timehist import has_perf, output

WAITED = tuple(f"lock contention{options}" for options in (
    "", " -t", " -k wait_max", " -k avg_wait -E 3", " -k contended", " -k wait_min -F wait_min,contended", " --max-stack 4", " --stack-skip 0",
    " --stack-skip 5", " -F wait_max", " -t -F contended", " -q", " --max-stack 0", " -E 0"))
TAKEN = tuple(f"lock report{options}" for options in (
    "", " -t", " -c", " -c -t", " -k wait_total", " -k wait_min -c", " -k avg_wait -E 2", " -F acquired,wait_max", " -k contended -F wait_min", " -q", " -E 0"))
LISTS = ("lock info -t", "lock info -m", "lock info -t -m", "lock info -m -t")
DEPENDENCIES = ("void *", "lockdep_addr", 16, 8, 0)
NAME = ("__data_loc char[]", "name", 8, 4, 0)
EVENTS = (
    ("lock:contention_begin", (("void *", "lock_addr", 8, 8, 0), ("unsigned int", "flags", 16, 4, 0))),
    ("lock:contention_end", (("void *", "lock_addr", 8, 8, 0), ("int", "ret", 16, 4, 1))),
    ("lock:lock_acquire", (("unsigned int", "flags", 8, 4, 0), ("__data_loc char[]", "name", 12, 4, 0), DEPENDENCIES)),
    ("lock:lock_acquired", (NAME, DEPENDENCIES)),
    ("lock:lock_contended", (NAME, DEPENDENCIES)),
    ("lock:lock_release", (NAME, DEPENDENCIES)),
)


def compare(agreement, perfdata, path, lines):
    for line in lines:
        agreement.compare(["perf", *line.split(), "-i", path], [perfdata, *line.split(), path], told=True)


def make_up(perfdata, path, seed, kernel, waits):
    """Locks in any order of events, right ones more often than wrong ones."""
    rng = random.Random(seed)
    calls = functions("_raw_spin_lock", "mutex_lock", "schedule", "__schedule", "vfs_read", "vfs_write", "do_sys_openat2", "kfree", "do_exit")
    addresses = [rng.getrandbits(60) for _ in range(12)]
    recording = Recording(EVENTS[:2] if waits else EVENTS, kernel)
    recording.comm(100, "first")
    recording.comm(101, "a-long-long-name")
    time_ns = 10**9
    for _ in range(600):
        time_ns += int(10 ** rng.uniform(0, 13 if rng.random() < 0.02 else 6))
        addr = rng.choice(addresses)
        number = rng.choice((0, 1) if waits else (0, 1, 2, 2, 3, 3, 4, 5, 5))
        chain = [call + rng.choice((0, 4)) for call in rng.choices(calls, k=rng.randint(0, 9))] if waits else ()
        recording.sample(number, time_ns, rng.choice((100, 101, 102)), 0, chain, lock_addr=addr, lockdep_addr=addr, ret=0,
                         flags=rng.choice((0, 1, 2, 3, 4, 5, 8, 10, 12, 18, 20, 32, 33, 64)) if not number else rng.choice((0, 0, 1, 2)),
                         name=("short", "&mm->mmap_lock", "a_name_of_more_than_twenty_letters")[addr % 3])
    recording.write(perfdata, path)


def main():
    if not has_perf():
        print("no perf of version 6.1")
        return SKIPPED
    perfdata, agreement = sys.argv[1], Agreement()
    with tempfile.TemporaryDirectory() as folder:
        path, kernel = os.path.join(folder, "lock.data"), kernel_line(perfdata)
        for which in ([], ["-a"]):
            if output(["perf", "lock", "record", *which, "-o", path, "--", "perf", "bench", "sched", "messaging", "-g", "1", "-l", "50"])[0] == 0:
                compare(agreement, perfdata, path, WAITED + TAKEN + LISTS)
        for seed in range(4):
            make_up(perfdata, path, seed, kernel, seed % 2)
            compare(agreement, perfdata, path, WAITED + TAKEN + LISTS if seed % 2 else TAKEN + LISTS)
    return agreement.conclude()


if __name__ == "__main__":
    sys.exit(main())
