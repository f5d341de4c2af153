#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A signal ends a command that writes perf data, and leaves nothing of what it has begun.

usage: interrupted.py PERFDATA FILE

FILE is grown to a size that takes a while. What came through a pipe, which cannot be read again, stays and can be read.
"""

import os
import signal
import subprocess
import sys
import tempfile
import time

SIZE = 256 << 20
TRIES = 20
COMMANDS = (
    ["cut", "--time", "0,99999999"],
    ["filter", "--where", "period"],
    ["sample", "1/1"],
    ["scrub"],
    ["inject", "-b"],
    ["convert"],
    ["convert", "--to", "dir"],
    ["split", "--by", "event"],
    ["merge"],
)
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def grow(source, path):
    """The records of a file again and again, without features."""
    with open(source, "rb") as f:
        data = f.read()
    begin, size = (int.from_bytes(data[at : at + 8], "little") for at in (40, 48))
    times = SIZE // size + 1
    with open(path, "wb") as f:
        f.write(data[:48] + (size * times).to_bytes(8, "little") + data[56:72] + bytes(32) + data[104:begin])
        for _ in range(times):
            f.write(data[begin : begin + size])


def is_unfinished(folder):
    """What was begun, with something in it."""
    for where, _, names in os.walk(folder):
        for name in names:
            path = os.path.join(where, name)
            if ".new-" in path and os.path.exists(path) and os.path.getsize(path) > 4096:
                return True
    return False


def end_early(words, folder, number, stdin=subprocess.DEVNULL):
    """Status of a command that got a signal while it wrote, or None if it was faster."""
    # who waits for it comes first
    slowly = ["nice", "-n", "19", *words]
    with subprocess.Popen(slowly, stdin=stdin, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as child:
        while child.poll() is None and not is_unfinished(folder):
            time.sleep(0.0005)
        if child.poll() is None:
            child.send_signal(number)
        status = child.wait(timeout=300)
    return None if status >= 0 else -status


def left_in(folder):
    return [os.path.join(where, name) for where, _, names in os.walk(folder) for name in names]


def check_file(perfdata, large, command, number):
    """What is wrong, or None."""
    for _ in range(TRIES):
        with tempfile.TemporaryDirectory(prefix="interrupted-") as folder:
            words = [perfdata, *command, "-q", "-o", os.path.join(folder, "out"), large]
            status = end_early(words, folder, number)
            if status is None:
                continue
            left = left_in(folder)
            # of the pieces that split had ended all are whole
            if status != number or left:
                return f"{' '.join(command)}: ended by {status}, left behind: {left}"
            return None
    return f"{' '.join(command)}: was always faster than the signal"


def check_pipe(perfdata, large):
    """What comes once stays."""
    with tempfile.TemporaryDirectory(prefix="interrupted-") as folder:
        ends = os.pipe()
        with open(ends[0], "rb") as reading, open(ends[1], "wb") as writing:
            with subprocess.Popen([perfdata, "convert", "-q", "--to", "pipe", "-o", "-", large], stdout=writing) as source:
                words = [perfdata, "filter", "-q", "--where", "period", "-o", os.path.join(folder, "out"), "-"]
                status = end_early(words, folder, signal.SIGTERM, stdin=reading)
                source.kill()
        left = left_in(folder)
        if status is None:
            return None
        readable = len(left) == 1 and subprocess.run([perfdata, "dump", "-q", "--stats", left[0]], check=False,
                                                     stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode
        return None if len(left) == 1 and readable in (0, 1) else f"through a pipe: status {status}, left {left}"


def main():
    perfdata = os.path.abspath(sys.argv[1])
    for number in SIGNALS:
        # what is ignored by who runs the tests, as with nohup, would be ignored by the commands
        signal.signal(number, signal.SIG_DFL)
    with tempfile.TemporaryDirectory(prefix="interrupted-") as folder:
        large = os.path.join(folder, "large.data")
        grow(sys.argv[2], large)
        wrong = [check_file(perfdata, large, command, SIGNALS[i % len(SIGNALS)]) for i, command in enumerate(COMMANDS)]
        wrong.append(check_pipe(perfdata, large))
    wrong = [line for line in wrong if line]
    for line in wrong:
        print(line)
    print(f"{len(COMMANDS)} commands interrupted, {len(wrong)} failures")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
