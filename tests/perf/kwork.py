#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares perfdata kwork with perf kwork, on recordings made here and on made up ones.

usage: kwork.py PERFDATA [--new PERF]

Both programs must print the same bytes. perf 6.1 has no kwork top: PERF, a perf 7.2, is asked for it. Exit status: 0 all agrees, 1 something
does not, 77 no perf 6.1.
"""

import argparse
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
TOP = ("top", "top -s tid", "top -s tid,rate", "top -s runtime,rate", "top -n t2", "top -C 1", "top --time 1.05,1.2", "top -C 0,3 -n t0 -s rate,tid")
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
    ("sched:sched_switch", (("char", "prev_comm[16]", 8, 16, 0), ("pid_t", "prev_pid", 24, 4, 1), ("int", "prev_prio", 28, 4, 1),
                            ("long", "prev_state", 32, 8, 1), ("char", "next_comm[16]", 40, 16, 0), ("pid_t", "next_pid", 56, 4, 1),
                            ("int", "next_prio", 60, 4, 1))),
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


def compare_top(agreement, perfdata, perf, path):
    """perf 7.2 says which feature the file lacks, too."""
    for line in TOP:
        for kinds in ("", "sched", "irq,sched", "softirq,sched", "irq", "workqueue,sched"):
            chosen = ["-k", kinds] if kinds else []
            agreement.compare([perf, "kwork", *chosen, *line.split(), "-i", path], [perfdata, "kwork", *line.split(), *chosen, path])


def switches(perfdata, path, seed, kernel):
    """Threads that take turns on four CPUs, interrupts in them, and some events that are missing."""
    rng = random.Random(seed)
    recording = Recording(EVENTS, kernel, {2: ACTION, 3: ACTION, 4: ACTION})
    time_ns, running = 10**9, [0] * 4
    for _ in range(800):
        time_ns += rng.randint(0, 10**6)
        cpu = rng.randrange(4)
        number, tid = rng.choice((0, 1, 3, 4, 8, 8, 8)), running[cpu]
        if rng.random() < 0.1:
            continue
        then = rng.choice((0, 1, 2, 3, 1000000)) if number == 8 else tid
        recording.sample(number, time_ns, tid, cpu, irq=4, name="disk", vec=1, prev_pid=tid, next_pid=then,
                         **{"prev_comm[16]": f"t{tid}", "next_comm[16]": f"t{then}"})
        running[cpu] = rng.choice((then, then, then, then, 1))
    recording.write(perfdata, path)


def make_up(perfdata, path, seed, kernel):
    """Events in any order."""
    rng = random.Random(seed)
    recording = Recording(EVENTS, kernel, {2: ACTION, 3: ACTION, 4: ACTION})
    calls = functions("vmstat_update", "blk_mq_run_work_fn", "do_exit") + [12345]
    time_ns = 10**9
    for _ in range(600):
        time_ns += rng.randint(0, 10**6)
        number, irq = rng.randrange(len(EVENTS)), rng.choice((4, 36))
        recording.sample(number, time_ns, rng.choice((0, 1, 2)), rng.choice((0, 1)), (), prev_pid=rng.randrange(3), next_pid=rng.randrange(3), irq=irq, name=f"disk{irq}", vec=rng.choice((0, 1, 2, 9)), ret=0,
                         work=rng.choice((0x1000, 0x2000)), function=rng.choice(calls))
    recording.write(perfdata, path)


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("perfdata")
    parser.add_argument("--new", metavar="PERF")
    args = parser.parse_args()
    if not has_perf():
        print("no perf of version 6.1")
        return SKIPPED
    perfdata, agreement = args.perfdata, Agreement()
    with tempfile.TemporaryDirectory() as folder:
        path, kernel = os.path.join(folder, "kwork.data"), kernel_line(perfdata)
        if output(["perf", "kwork", "record", "-o", path, "--", "sh", "-c", "ls -R /usr/share/doc >/dev/null; sleep 0.3"])[0] == 0:
            compare(agreement, perfdata, path)
        for seed in range(2):
            make_up(perfdata, path, seed, kernel)
            compare(agreement, perfdata, path)
            if args.new:
                compare_top(agreement, perfdata, args.new, path)
                switches(perfdata, path, seed, kernel)
                compare_top(agreement, perfdata, args.new, path)
    return agreement.conclude()


if __name__ == "__main__":
    sys.exit(main())
