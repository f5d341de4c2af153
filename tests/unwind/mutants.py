#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Damages the registers and the stacks that samples copied, and unwinds them.

usage: mutants.py PERFDATA CORPUS COUNT [SEED]

Until COUNT samples were damaged: a recording of CORPUS/unwind with its objects, in each of whose samples some words of registers and of
the stack are others: any bits, addresses that occur elsewhere in the stack, small differences. script and folded must end by themselves with a known
exit status, and print the samples. Exit status: 0 all is so, 1 not, 77 no corpus.
"""

import os
import random
import re
import shutil
import struct
import subprocess
import sys
import tempfile

sys.path.append(os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "corpus"))

import common  # noqa: E402 pylint: disable=wrong-import-position
import unwind as corpus  # noqa: E402 pylint: disable=wrong-import-position

SAMPLE, HEADER = 9, 8
TIMEOUT_S = 60


def samples_of(data):
    """Where the records of samples are."""
    begin, size = struct.unpack_from("<QQ", data, 40)
    at = begin
    while at + HEADER <= begin + size:
        kind, _, length = struct.unpack_from("<IHH", data, at)
        if length < HEADER:
            return
        if kind == SAMPLE:
            yield at, length
        at += length


def changed(word, words, rng):
    choice = rng.randrange(6)
    if choice == 0:
        return rng.getrandbits(64)
    if choice == 1:
        return word ^ 1 << rng.randrange(64)
    if choice == 2:
        return (word + rng.choice((-8, 8, -1, 1, 16, -16, 4096))) & (1 << 64) - 1
    if choice == 3:
        return rng.choice((0, 1, (1 << 64) - 1, 1 << 63, (1 << 47) - 8))
    return rng.choice(words)


def damage(data, rng):
    """Changes words after the head of each sample, most of them among the first: registers, and the top of the stack."""
    count = 0
    for at, length in samples_of(data):
        first, last = (at + 64 + 7) // 8 * 8, at + length - 16
        if length < 1024:
            continue
        words = [struct.unpack_from("<Q", data, rng.randrange(first, last - 8) // 8 * 8)[0] for _ in range(16)]
        for _ in range(rng.randrange(1, 12)):
            end = first + 400 if rng.randrange(2) else last
            place = rng.randrange(first, min(end, last) - 8) // 8 * 8
            struct.pack_into("<Q", data, place, changed(struct.unpack_from("<Q", data, place)[0], words, rng))
        count += 1
    return count


def run(perfdata, words, sysroot, recording):
    command = [perfdata, words, "--no-index", "--no-inline", "-q", "--symfs", sysroot, "-i", recording]
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=TIMEOUT_S, check=False)


def check(perfdata, sysroot, path, count):
    """What is wrong with the answers for a damaged recording, or nothing."""
    text = run(perfdata, "script", sysroot, path)
    folded = run(perfdata, "folded", sysroot, path)
    for done in text, folded:
        if done.returncode not in (common.FINE, common.DAMAGED):
            return f"exit status {done.returncode}: {done.stderr.decode('utf-8', 'replace')[-300:]}"
    found = len(re.findall(rb"(?m)^\S", text.stdout))
    # a few have other lengths of their parts now, and are reported as damaged
    return "" if found >= 0.8 * count else f"{found} samples in place of {count}"


def main():
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    perfdata, folder = common.check_arguments(sys.argv[1], sys.argv[2])
    most, seed = int(sys.argv[3]), int(sys.argv[4]) if len(sys.argv) > 4 else 1
    if not os.path.isdir(os.path.join(folder, "unwind")):
        common.skip("no recordings with objects")
    rng = random.Random(seed)
    done = bad = 0
    with tempfile.TemporaryDirectory() as scratch:
        archive = os.path.join(folder, "unwind", "sysroot-x86_64.tar.zst")
        subprocess.run(["tar", "-C", scratch, "-xf", archive], check=True)
        for name in ("omit-8k", "cfi", "sig", "plt", "deep", "gop", "caml", "omit-1k", "rusty") * 1000:
            if done >= most:
                break
            with open(corpus.recording_of(os.path.join(folder, "unwind"), folder, name, scratch), "rb") as file:
                data = bytearray(file.read())
            count = damage(data, rng)
            path = os.path.join(scratch, "damaged.data")
            with open(path, "wb") as file:
                file.write(data)
            wrong = check(perfdata, scratch, path, count)
            if wrong:
                bad += 1
                shutil.move(path, os.path.join(tempfile.gettempdir(), f"damaged-{name}-{seed}-{done}.data"))
                print(f"DIFFER {name} after {done}: {wrong}", flush=True)
            done += count
    print(f"{done} damaged samples, {bad} bad recordings")
    sys.exit(1 if bad or not done else 0)


if __name__ == "__main__":
    main()
