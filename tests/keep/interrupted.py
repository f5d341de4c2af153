#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A signal ends a command that writes, at any moment, and leaves nothing of what it has begun.

usage: interrupted.py PERFDATA FILE [--rounds N] [--seed N]

FILE is grown to a size that takes a while, and damaged so that a while is spent in looking for the next record. A signal
comes as soon as something is written, N times (3) at a random moment, and, for some, as soon as the output has its name.
What was there before stays, unless the signal came too late for that: then it is what a command makes that nobody
interrupts. What came through a pipe, which cannot be read again, stays and can be read.
"""

import argparse
import filecmp
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

SIZE = 128 << 20
GAP = 64 << 20
TEXT_SIZE = 64 << 20
TRIES = 20
EARLIER = b"an earlier output\n"

# LARGE, DAMAGED, TEXT and BUNDLE are inputs; what is behind the arguments says what is written: a file, which may be
# there already, a directory, or pieces that get their names one after another.
COMMANDS = (
    ("cut --time 0,99999999 LARGE", "file"),
    ("filter --where period LARGE", "file"),
    ("sample LARGE 1/1", "file"),
    ("tail -n 1000000 LARGE", "file"),
    ("scrub --key hex:00112233445566778899aabbccddeeff LARGE", "file"),
    ("inject -b LARGE", "file"),
    ("convert LARGE", "file"),
    ("convert -z LARGE", "file"),
    ("convert --sort LARGE", "file"),
    ("convert DAMAGED", "file"),
    ("convert --to dir LARGE", "directory"),
    ("split --by event LARGE", "pieces"),
    ("split --by event DAMAGED", "pieces"),
    ("merge LARGE", "file"),
    ("repair DAMAGED", "file"),
    ("assemble TEXT", "file"),
    ("text LARGE", "file"),
    ("pack LARGE", "file"),
    ("unpack BUNDLE", "directory"),
)
# One for each way in which an output gets its name.
LATE = ("convert LARGE", "convert --to dir LARGE", "split --by event LARGE", "pack LARGE", "unpack BUNDLE")
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


def damage(source, path):
    """The same with a gap that nothing can be found in, in the midst of the records."""
    shutil.copyfile(source, path)
    with open(path, "r+b") as f:
        f.seek(SIZE // 4)
        for _ in range(GAP >> 20):
            f.write(bytes(range(1, 256)) * 4112 + b"\1" * 16)


def make_inputs(perfdata, source, folder):
    inputs = {name: os.path.join(folder, name) for name in ("LARGE", "DAMAGED", "TEXT", "BUNDLE")}
    grow(source, inputs["LARGE"])
    damage(inputs["LARGE"], inputs["DAMAGED"])
    subprocess.run([perfdata, "text", "-q", "-o", inputs["TEXT"], source], check=True)
    with open(inputs["TEXT"], "r+", encoding="utf-8") as f:
        last = [line for line in f if line.startswith("SAMPLE ")][-1]
        f.write(last * (TEXT_SIZE // len(last)))
    # no compression: it has to be written, not thought about
    subprocess.run(["tar", "-cf", inputs["BUNDLE"], "-C", folder, "LARGE", "DAMAGED"], check=True)
    return inputs


def is_unfinished(folder):
    """What was begun, with something in it."""
    for where, _, names in os.walk(folder):
        for name in names:
            path = os.path.join(where, name)
            if path != os.path.join(folder, "out") and os.path.exists(path) and os.path.getsize(path) > 4096:
                return True
    return False


def end_early(words, number, is_time, stdin=subprocess.DEVNULL):
    """Status of a command that got a signal, or None if it was faster."""
    # who waits for it comes first
    slowly = ["nice", "-n", "19", *words]
    with subprocess.Popen(slowly, stdin=stdin, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as child:
        while child.poll() is None and not is_time():
            time.sleep(0.0005)
        if child.poll() is None:
            child.send_signal(number)
        status = child.wait()
    return None if status >= 0 else -status


def left_in(folder):
    return sorted(os.path.relpath(os.path.join(where, name), folder)
                  for where, folders, names in os.walk(folder) for name in [*folders, *names])


def is_same(path, other):
    """The same file, or the same files in a directory."""
    if os.path.isdir(path):
        return left_in(path) == left_in(other) and all(is_same(os.path.join(path, name), os.path.join(other, name))
                                                       for name in os.listdir(path))
    return os.path.isfile(other) and filecmp.cmp(path, other, shallow=False)


def has_name(folder, kind):
    """The output is no longer what it was before."""
    out = os.path.join(folder, "out")
    if kind == "file":
        return os.path.getsize(out) != len(EARLIER)
    return os.path.exists(out) and (kind == "directory" or any(".new-" not in name for name in os.listdir(out)))


class Interrupted:
    def __init__(self, perfdata, inputs, random_numbers, folder):
        self.perfdata, self.inputs, self.random = perfdata, inputs, random_numbers
        self.whole = os.path.join(folder, "whole")
        self.late = 0  # signals that came when the output had its name

    def make_whole(self, words):
        """What the command writes if nobody interrupts it; the one before goes."""
        if os.path.isdir(self.whole):
            shutil.rmtree(self.whole)
        elif os.path.exists(self.whole):
            os.unlink(self.whole)
        subprocess.run([self.perfdata, *words, "-o", self.whole], check=False, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL)

    def is_whole(self, words, out, kind):
        """Nothing that was begun is left in it: the signal came too late for the name."""
        self.late += 1
        self.make_whole(words)
        if kind == "pieces":
            return all(is_same(os.path.join(out, name), os.path.join(self.whole, name)) for name in os.listdir(out))
        return is_same(out, self.whole)

    def once(self, command, kind, number, is_time_of):
        """What is wrong with a run that got a signal, "" if nothing, None if it was faster, and how long it took."""
        with tempfile.TemporaryDirectory(prefix="interrupted-") as folder:
            out = os.path.join(folder, "out")
            if kind == "file":
                with open(out, "wb") as f:
                    f.write(EARLIER)
            words = [self.inputs.get(word, word) for word in command.split()]
            begin = time.monotonic()
            status = end_early([self.perfdata, *words, "-o", out], number, is_time_of(folder))
            took = time.monotonic() - begin
            if status is None:
                return None, took
            left = left_in(folder)
            if status != number:
                return f"{command}: ended by {status} after signal {number}", took
            if any(name.split(os.sep)[0] != "out" for name in left) or (kind == "file" and not left):
                return f"{command}: left behind after signal {number}: {left}", took
            if left and has_name(folder, kind) and not self.is_whole(words, out, kind):
                return f"{command}: neither the earlier output nor a whole one after signal {number}: {left}", took
            if kind == "pieces" and left == ["out"]:
                return f"{command}: left an empty directory after signal {number}", took
            return "", took

    def all_moments(self, command, kind, rounds):
        numbers = list(SIGNALS)
        self.random.shuffle(numbers)
        wrong = []
        for _ in range(TRIES):
            said, took = self.once(command, kind, numbers[0], lambda folder: lambda: is_unfinished(folder))
            if said is not None:
                break
        else:
            wrong.append(f"{command}: was always faster than the signal")
        wrong += [said] if said else []
        for i in range(rounds):
            # whenever it is, it may come before anything is watched for, or too late
            end = time.monotonic() + self.random.random() * 2 * took
            said, _ = self.once(command, kind, numbers[i % 3], lambda folder: lambda: time.monotonic() >= end)
            wrong += [said] if said else []
        if command in LATE:
            said, _ = self.once(command, kind, numbers[0], lambda folder: lambda: has_name(folder, kind))
            wrong += [said] if said else []
        return wrong


def check_pipe(perfdata, large):
    """What comes once stays."""
    with tempfile.TemporaryDirectory(prefix="interrupted-") as folder:
        ends = os.pipe()
        with open(ends[0], "rb") as reading, open(ends[1], "wb") as writing:
            with subprocess.Popen([perfdata, "convert", "-q", "--to", "pipe", "-o", "-", large], stdout=writing) as source:
                words = [perfdata, "filter", "-q", "--where", "period", "-o", os.path.join(folder, "out"), "-"]
                status = end_early(words, signal.SIGTERM, lambda: is_unfinished(folder), stdin=reading)
                source.kill()
        left = [os.path.join(folder, name) for name in left_in(folder)]
        if status is None:
            return None
        readable = len(left) == 1 and subprocess.run([perfdata, "dump", "-q", "--stats", left[0]], check=False,
                                                     stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode
        return None if len(left) == 1 and readable in (0, 1) else f"through a pipe: status {status}, left {left}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("perfdata")
    parser.add_argument("file")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seed", type=int, default=int.from_bytes(os.urandom(4), "little"))
    args = parser.parse_args()
    perfdata = os.path.abspath(args.perfdata)
    for number in SIGNALS:
        # what is ignored by who runs the tests, as with nohup, would be ignored by the commands
        signal.signal(number, signal.SIG_DFL)
    wrong = []
    with tempfile.TemporaryDirectory(prefix="interrupted-") as folder:
        inputs = make_inputs(perfdata, args.file, folder)
        test = Interrupted(perfdata, inputs, random.Random(args.seed), folder)
        for command, kind in COMMANDS:
            wrong += test.all_moments(command, kind, args.rounds)
        wrong += filter(None, [check_pipe(perfdata, inputs["LARGE"])])
    for line in wrong:
        print(line)
    print(f"{len(COMMANDS)} commands interrupted, {test.late} signals too late to keep what was there, seed {args.seed}, "
          f"{len(wrong)} failures")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
