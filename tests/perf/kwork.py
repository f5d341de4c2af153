#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares perfdata kwork with perf kwork, on recordings made here and on made up ones.

usage: kwork.py PERFDATA

Both programs must print the same bytes. Exit status: 0 all agrees, 1 something does not, 77 no perf 6.1.
"""

import os
import random
import re
import sys
import tempfile

from agreement import SKIPPED, Agreement
from made import Recording, functions, kernel_line
from timehist import has_perf, output

OPTIONS = ("report", "report -S", "report -s max", "report -s count,runtime -S", "report -C 1 -S", "report -n TIMER", "latency", "latency -s max",
           "latency -s count", "latency -C 0", "timehist", "timehist -C 1", "timehist -n RCU", "report --time 1.05,1.2 -S", "latency --time 1.05,1.2",
           "timehist --time 1.05,1.2")
KINDS = ("", "irq", "softirq", "workqueue,irq")
IRQ = ("int", "irq", 8, 4, 1)
VECTOR = (("unsigned int", "vec", 8, 4, 0),)
WORK = (("void *", "work", 8, 8, 0), ("void *", "function", 16, 8, 0))
EVENTS = (
    ("irq:irq_handler_entry", (IRQ, ("__data_loc char[]", "name", 12, 4, 0))),
    ("irq:irq_handler_exit", (IRQ, ("int", "ret", 12, 4, 1))),
    ("irq:softirq_raise", VECTOR),
    ("irq:softirq_entry", VECTOR),
    ("irq:softirq_exit", VECTOR),
    ("workqueue:workqueue_activate_work", WORK),
    ("workqueue:workqueue_execute_start", WORK),
    ("workqueue:workqueue_execute_end", WORK),
)
ACTION = 'vec=%u [action=%s]", REC->vec, __print_symbolic(REC->vec, { 0, "HI" }, { 1, "TIMER" }, { 2, "NET_TX" }, { 9, "RCU" })'


def shown(text):
    """Without names of functions: perf 6.1 prints them after it gave their memory back. tests/unit/kwork has them."""
    return re.sub(rb"\(w\).*? *(?=\|| \d+\.\d{3} )", b"(w)", text)


def compare(agreement, perfdata, path):
    for line in OPTIONS:
        for kinds in KINDS:
            chosen = ["-k", kinds] if kinds else []
            agreement.compare(["perf", "kwork", *chosen, *line.split(), "-i", path], [perfdata, "kwork", *line.split(), *chosen, path], shown)


def make_up(perfdata, path, seed, kernel):
    """Events in any order."""
    rng = random.Random(seed)
    recording = Recording(EVENTS, kernel, {2: ACTION, 3: ACTION, 4: ACTION})
    calls = functions("vmstat_update", "blk_mq_run_work_fn", "do_exit") + [12345]
    time_ns = 10**9
    for _ in range(600):
        time_ns += rng.randint(0, 10**6)
        number, irq = rng.randrange(len(EVENTS)), rng.choice((4, 36))
        recording.sample(number, time_ns, 100, rng.choice((0, 1)), (), irq=irq, name=f"disk{irq}", vec=rng.choice((0, 1, 2, 9)), ret=0,
                         work=rng.choice((0x1000, 0x2000)), function=rng.choice(calls))
    recording.write(perfdata, path)


def main():
    if not has_perf():
        print("no perf of version 6.1")
        return SKIPPED
    perfdata, agreement = sys.argv[1], Agreement()
    with tempfile.TemporaryDirectory() as folder:
        path, kernel = os.path.join(folder, "kwork.data"), kernel_line(perfdata)
        if output(["perf", "kwork", "record", "-o", path, "--", "sh", "-c", "ls -R /usr/share/doc >/dev/null; sleep 0.3"])[0] == 0:
            compare(agreement, perfdata, path)
        for seed in range(2):
            make_up(perfdata, path, seed, kernel)
            compare(agreement, perfdata, path)
    return agreement.conclude()


if __name__ == "__main__":
    sys.exit(main())
