#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares perfdata kmem stat with perf kmem stat, on recordings made here and on made up ones.

usage: kmem.py PERFDATA

Both programs must print the same bytes. perf 6.1 adds the begin of the kernel to callers of the page allocator, which then have no names: where
there are such, that column is compared as perf would have it. Exit status: 0 all agrees, 1 something does not, 77 no perf 6.1.
"""

import os
import random
import re
import sys
import tempfile

from agreement import SKIPPED, Agreement
from made import Recording, functions, kernel_line
from timehist import has_perf, output

SLAB = tuple(f"--slab{options}" for options in (
    "", " --caller", " --alloc", " --caller -l 3", " --alloc -l 5", " --caller --raw-ip", " --caller -s hit", " --caller -s pingpong,bytes",
    " --alloc -s ptr", " --alloc -s pingpong,frag -l 20", " --caller -s callsite -l 1",
    " --caller --alloc --time 1.1,1.3"))
PAGE = tuple(f"--page{options}" for options in (
    "", " --caller", " --alloc", " --caller -l 2", " --alloc -l 5", " --caller -s hit,order", " --caller -s migtype,gfp,bytes", " --alloc -s page",
    " --live", " --live --caller", " --live --alloc", " --alloc -s order,bytes -l 7", " --slab",
    " --caller --alloc --time 1.1,1.3"))
# The allocator that stands last before them decides which keys there are.
BOTH = ("--page --slab --alloc -s ptr", "--slab --page --caller -s migtype,gfp,bytes", "--caller -s hit --page -s hit,order",
        "--alloc --page -s page --slab -s pingpong,frag")
WRONG = ("--slab --page -s ptr", "--page --slab -s gfp", "-s page --page", "--page -s ptr --slab")
ALLOCATED = (("unsigned long", "call_site", 8, 8, 0), ("const void *", "ptr", 16, 8, 0), ("size_t", "bytes_req", 24, 8, 0),
             ("size_t", "bytes_alloc", 32, 8, 0), ("gfp_t", "gfp_flags", 40, 4, 0), ("int", "node", 44, 4, 1))
FREED = ALLOCATED[:2]
EVENTS = (
    ("kmem:kmalloc", ALLOCATED),
    ("kmem:kmem_cache_alloc", ALLOCATED),
    ("kmem:kfree", FREED),
    ("kmem:kmem_cache_free", FREED),
    ("kmem:mm_page_alloc", (("unsigned long", "pfn", 8, 8, 0), ("unsigned int", "order", 16, 4, 0), ("gfp_t", "gfp_flags", 20, 4, 0),
                            ("int", "migratetype", 24, 4, 1))),
    ("kmem:mm_page_free", (("unsigned long", "pfn", 8, 8, 0), ("unsigned int", "order", 16, 4, 0))),
)
SHORT = ("GFP_TRANSHUGE GFP_TRANSHUGE_LIGHT GFP_HIGHUSER_MOVABLE GFP_HIGHUSER GFP_USER GFP_KERNEL_ACCOUNT GFP_KERNEL GFP_NOFS GFP_ATOMIC GFP_NOIO "
         "GFP_NOWAIT GFP_DMA __GFP_HIGHMEM GFP_DMA32 __GFP_HIGH __GFP_ATOMIC __GFP_IO __GFP_FS __GFP_NOWARN __GFP_RETRY_MAYFAIL __GFP_NOFAIL "
         "__GFP_NORETRY __GFP_COMP __GFP_ZERO __GFP_NOMEMALLOC __GFP_MEMALLOC __GFP_HARDWALL __GFP_THISNODE __GFP_RECLAIMABLE __GFP_MOVABLE "
         "__GFP_ACCOUNT __GFP_WRITE").split()


def without_callers(text):
    """The last column of tables of pages."""
    return re.sub(rb"(?m)^( .*\| +(?:UNMOVABL|RECLAIM|MOVABLE|RESERVED|CMA/ISLT|UNKNOWN) \| .*\| ).*$", rb"\1", text)


def compare(agreement, perfdata, path, lines):
    for line in lines:
        agreement.compare(["perf", "kmem", *line.split(), "-i", path, "stat"], [perfdata, "kmem", *line.split(), "stat", path], without_callers)


def refused(agreement, perfdata, path):
    for line in WRONG:
        theirs, ours = output(["perf", "kmem", *line.split(), "-i", path, "stat"]), output([perfdata, "kmem", "stat", *line.split(), path])
        if not theirs[0] or ours[0] != 2:
            agreement.other += 1
            print(f"{line}: exit status {theirs[0]} of perf, {ours[0]} here")


def make_up(perfdata, path, seed, kernel):
    rng = random.Random(seed)
    calls = functions("vfs_read", "vfs_write", "do_sys_openat2", "do_exit", "schedule")
    addresses = [rng.getrandbits(60) for _ in range(40)]
    pages = [rng.getrandbits(20) for _ in range(40)] + [2**64 - 1]
    orders = {page: rng.randint(0, 10) for page in pages}
    flags = [1 << i for i in range(32)] + [3, 5, 0x11]
    recording = Recording(EVENTS, kernel, {4: 'gfp_flags=%s", __print_flags(REC->gfp_flags, "|", ' +
                                           ", ".join(f'{{{1 << i}UL, "{name}"}}' for i, name in enumerate(SHORT)) + ")"})
    time_ns, live = 10**9, set()
    for _ in range(800):
        time_ns += rng.randint(0, 10**6)
        number, page = rng.choice((0, 1, 2, 3, 4, 4, 5)), rng.choice(pages)
        if number == 4 and page in live:  # perf gives up then
            number = 5
        (live.add if number == 4 else live.discard if number == 5 else int)(page)
        requested = rng.randint(1, 3000)
        chain = [call + rng.choice((0, 4)) for call in rng.choices(calls, k=rng.randint(1, 4))]
        recording.sample(number, time_ns, rng.choice((100, 101)), rng.choice((0, 1)), chain, call_site=chain[0], ptr=rng.choice(addresses),
                         bytes_req=requested, bytes_alloc=requested + rng.choice((0, 0, 5, 100)), node=rng.choice((-1, 0, 1)),
                         gfp_flags=rng.choice(flags), pfn=page, order=orders[page], migratetype=rng.randint(0, 4))
    recording.write(perfdata, path)


def main():
    if not has_perf():
        print("no perf of version 6.1")
        return SKIPPED
    perfdata, agreement = sys.argv[1], Agreement()
    with tempfile.TemporaryDirectory() as folder:
        path, kernel = os.path.join(folder, "kmem.data"), kernel_line(perfdata)
        events = "kmem:kmalloc,kmem:kfree,kmem:kmem_cache_alloc,kmem:kmem_cache_free"
        if output(["perf", "record", "-q", "-m", "1024", "-e", events, "-a", "-g", "-o", path, "--", "ls", "/"])[0] == 0:
            compare(agreement, perfdata, path, SLAB)
        for seed in range(3):
            make_up(perfdata, path, seed, kernel)
            compare(agreement, perfdata, path, SLAB + PAGE + BOTH)
        refused(agreement, perfdata, path)
    return agreement.conclude()


if __name__ == "__main__":
    sys.exit(main())
