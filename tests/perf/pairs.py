#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares perfdata trace with perf trace -i, on recordings made here and on made up ones.

usage: pairs.py PERFDATA

Both programs must print the same bytes of tables, and of lines but for what docs/differences.md says of them. Exit status: 0 all agrees, 1 something does not, 77 no perf 6.1 that can record system calls.
"""

import os
import random
import re
import sys
import tempfile

from agreement import SKIPPED, Agreement
from made import Recording
from timehist import has_perf, output

WORK = ("for i in 1 2 3 4 5 6; do (sleep 0.01; ls / /no >/dev/null 2>&1; sleep 0.05) & done; wait", "ls -R /usr/share/doc/lib* >/dev/null")
WORK += ("python3 -c 'import socket, subprocess; socket.socket().close(); subprocess.run([\"true\"])'",)
OPTIONS = ("trace -s", "trace -s --errno-summary")
LINES = tuple(f"trace{options}" for options in ("", " -T", " -S", " --failure", " --duration 0.02", " --no-comm", " --failure --duration 0.01"))
# of recordings with call chains and page faults
PLACES = tuple(f"trace{options}" for options in ("", " --max-stack 3", " --min-stack 8", " --max-stack 4 --min-stack 4", " -F all", " -S"))
EVENTS = (("raw_syscalls:sys_enter", (("long", "id", 8, 8, 1), ("unsigned long", "args[6]", 16, 48, 0))),
          ("raw_syscalls:sys_exit", (("long", "id", 8, 8, 1), ("long", "ret", 16, 8, 1))))
# system calls of x86-64 whose arguments depend on each other or have words, with values of some
CALLS = ((2, (0x7000, (0, 0x40, 0x241, 0x80000, 0x410002), 0o644)), (9, ((0, 0x1000), 4096, (1, 3, 5), (2, 0x22, 0x32, 1, 0x28), -1, 0)),
         (41, ((1, 2, 10, 16), (1, 2, 3, 0x80801), (0, 6, 17))), (56, ((0x1200011, 0x3d0f00, 17), 0x1000, 0x2000, 0x3000, 0x4000)),
         (72, (3, (0, 3, 4, 5, 8, 9, 1030, 99), (0, 0x802))), (202, (0x1000, tuple(128 + i for i in (0, 1, 3, 6, 8)), 7, 0x2000, 0x3000)),
         (157, ((1, 2, 4, 15, 28, 36, 35, 99), 12, 16, 17, 18)), (16, (3, (0x5401, 0x2400, 0xae80, 0xc0186d00), 0x1234)),
         (62, (100, (0, 9, 17, 40))), (90, (0x1000, (0, 0o644, 0o755, 0o777, 0o7777, 0o100600, 0o4711, 0o6777))), (47, (3, 0x1000, (0, 0x40, 0x4000))),
         (257, ((-100, 4), 0x7000, (0, 0x80000))), (321, ((0, 5, 40), 0x1000, 72)), (28, (0x1000, 4096, (1, 4, 25))))


def without_losses(text):
    """Without what perf says of events that were lost, as happens on a busy machine."""
    return re.sub(rb"Warning:\nProcessed .*\n\n(Check IO/CPU overload!\n\n)?", b"", text)


def without_known(text):
    """Names of processes that this machine has now, columns after them, what perf 6.1 prints wrong."""
    text = without_losses(text)
    text = re.sub(rb"(: |= )(\d+) \([^)]*\)", rb"\1\2", text)
    text = re.sub(rb".*(SETFD|GETFD|fcntl\(\)).*\n", b"", text)
    text = re.sub(rb"flags: [A-Z_|]*, mask: [A-Z_|]*", b"", text)
    text = re.sub(rb"flags:( DROPPABLE)?\|", b"flags: |", text)  # of Linux 6.11
    text = re.sub(rb"((getppid|wait4|waitid|clone|getpgid)\(.*)= .*", rb"\1", text)
    text = re.sub(rb"-1 \(unknown\) .*", b"", text)
    return re.sub(rb" +", b" ", re.sub(rb"val3: 0x[0-9a-f]*", b"", text))


def without_plt(text):
    """perf 6.1 may call an entry of the PLT otherwise."""
    return re.sub(rb"[^ \[]*@plt\b|\[0x[0-9a-f]+\]", b"PLT", without_known(text))


def make_up(perfdata, path, seed):
    """Calls of two threads, which begin and end in any order."""
    rng = random.Random(seed)
    recording = Recording(EVENTS)
    recording.lines.insert(0, 'feature ARCH {value: "x86_64"}')
    recording.comm(100, "first")
    recording.comm(101, "a-long-long-name")
    recording.comm(102, "ends")
    time_ns, inside = 10**9, {}
    for _ in range(1500):
        time_ns += rng.randint(1, 10**5)
        tid = rng.choice((100, 101))
        if tid in inside:
            recording.sample(1, time_ns, tid, 0, (), id=inside.pop(tid), ret=rng.choice((0, 3, -2, -11, 0x7000)))
            continue
        inside[tid], given = rng.choice(CALLS)
        given = [rng.choice(value) if isinstance(value, tuple) else value for value in given]
        recording.sample(0, time_ns, tid, 0, (), id=inside[tid], **{"args[6]": given + [0] * (6 - len(given))})
    # one whose only call does not end
    recording.sample(0, time_ns + 1, 102, 0, (), id=231, **{"args[6]": [0] * 6})
    recording.write(perfdata, path)


def compare(agreement, path):
    for line in OPTIONS:
        agreement.compare(["perf", *line.split(), "-i", path], [sys.argv[1], *line.split(), path], without_losses, told=True)
    for line in LINES:
        agreement.compare(["perf", *line.split(), "-i", path], [sys.argv[1], *line.split(), path], without_known, told=True)


def main():
    if not has_perf():
        print("no perf of version 6.1")
        return SKIPPED
    agreement = Agreement()
    with tempfile.TemporaryDirectory() as folder:
        for i, work in enumerate(WORK):
            for which in ([], ["-a"]):
                path = os.path.join(folder, f"trace{i}{len(which)}.data")
                if output(["perf", "trace", "record", *which, "-o", path, "--", "sh", "-c", work])[0] == 0:
                    compare(agreement, path)
        path = os.path.join(folder, "places.data")
        events = ("-e", "raw_syscalls:*", "-e", "minor-faults", "-c", "1", "-d")
        if output(["perf", "record", *events, "-g", "-o", path, "--", "ls", "-l", "/"])[0] == 0:
            for line in PLACES:
                agreement.compare(["perf", *line.split(), "-i", path], [sys.argv[1], *line.split(), path], without_plt, told=True)
        for seed in range(3):
            path = os.path.join(folder, "made.data")
            make_up(sys.argv[1], path, seed)
            compare(agreement, path)
    return agreement.conclude()


if __name__ == "__main__":
    sys.exit(main())
