#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""script on several threads, and of parts of the time, over a recording large enough for many parts.

usage: threads.py PERFDATA LARGE RECORDING

LARGE (bench/large.c) repeats the samples of RECORDING. Asked: whatever the number of threads, the same text; of a part of the
time, those lines of the whole text that are in it. Exit status: 0 all is so, 1 not.
"""

import os
import subprocess
import sys
import tempfile

SIZE = 40 * 10**6
THREADS = (2, 3, 4)
CASES = (
    [],
    ["-F", "comm,tid,time,event,ip,sym,symoff,dso"],
    ["--where", "sample.ip > 0x7f0000000000"],
    ["--comm", "hot-thread"],
    ["--reltime"],
    ["--deltatime"],
    ["--show-task-events"],
    ["--time", "10%/3"],
    ["--time", "0%-40% 90%-100%"],
)
TIMES = ((0.3, 0.31), (0, 0.01), (0.995, 1), (0.1, 0.9))


def script(perfdata, path, *options):
    command = [perfdata, "script", "--no-symbols", *options, "-i", path]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    return done.returncode, done.stdout, done.stderr


def wrong_threads(perfdata, path):
    wrong = []
    for case in CASES:
        one = script(perfdata, path, "--threads", "1", *case)
        if one[0] or not one[1]:
            wrong.append(f"{case}: {one[0]} {one[2]}")
        for threads in THREADS:
            if script(perfdata, path, "--threads", str(threads), *case) != one:
                wrong.append(f"{case}: another text with {threads} threads")
    return wrong


def wrong_times(perfdata, path):
    """Lines begin with their time: "  781.557054: "."""
    wrong = []
    options = ["--ns", "-G", "-F", "time,ip"]
    lines = script(perfdata, path, "--threads", "1", *options)[1].splitlines(keepends=True)
    times = [int(line.split(b":")[0].replace(b".", b"")) for line in lines]
    if times != sorted(times) or len(times) < 1000:
        return ["the whole text is out of order"]
    for begin, end in TIMES:
        first, last = (times[0] + int((times[-1] - times[0]) * part) for part in (begin, end))
        wanted = b"".join(line for line, time in zip(lines, times) if first <= time <= last)
        window = ",".join(f"{time // 10**9}.{time % 10**9:09}" for time in (first, last))
        for threads in (1, *THREADS):
            if script(perfdata, path, "--threads", str(threads), *options, "--time", window)[1] != wanted:
                wrong.append(f"--time {window}, {threads} threads: other lines than those of the whole text")
    return wrong


def main():
    perfdata, large, recording = (os.path.abspath(path) for path in sys.argv[1:])
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "large.data")
        subprocess.run([large, recording, path, str(SIZE)], check=True, stdout=subprocess.DEVNULL)
        wrong = wrong_threads(perfdata, path) + wrong_times(perfdata, path)
    for line in wrong:
        print("not ok:", line)
    print(f"{len(CASES) * len(THREADS) + len(TIMES) * (1 + len(THREADS))} looked at, {len(wrong)} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
