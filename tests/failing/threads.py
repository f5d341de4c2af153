#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Threads that cannot be created: with none, or one in place of two, every command prints what it prints with all.

usage: threads.py PERFDATA PRELOAD

PRELOAD is the library of threads.c. Exit status: 0 all is so, 1 not, 77 the library cannot be loaded into this build.
"""

import hashlib
import os
import random
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "scale"))
import scale  # noqa: E402

# more than 32 MiB: script takes a thread for each 16
SAMPLES = 520_000
COMMANDS = ("report -g graph IN", "script -F time,ip IN", "flame IN", "folded --time 20%-80% IN", "folded COMPRESSED")


def recording(path):
    r = scale.Recording()
    chance = random.Random(1)
    for pid in range(2, 40):
        r.task(7, pid, 1)
        r.mmap(pid, 0x400000, 0x100000, f"/bin/program-{pid}")
    for _ in range(SAMPLES):
        r.sample(chance.randrange(1, 40), 0x400000 + chance.randrange(0x100000))
    r.write(path)


def run(perfdata, words, folder, preload, most=None):
    """Exit status and output, and a letter for each thread that was asked for."""
    log = os.path.join(folder, "log")
    open(log, "w").close()
    environment = dict(os.environ, LD_PRELOAD=preload, THREADS_LOG=log, HOME=folder, XDG_CACHE_HOME=folder)
    if most is not None:
        environment["THREADS_MOST"] = str(most)
    done = subprocess.run([perfdata, *words], env=environment, stdin=subprocess.DEVNULL, capture_output=True, timeout=300,
                          check=False)
    with open(log, encoding="ascii") as f:
        return (done.returncode, hashlib.sha256(done.stdout).hexdigest(), done.stderr), f.read()


def main():
    perfdata = os.path.abspath(sys.argv[1])
    wrong = asked = 0
    with tempfile.TemporaryDirectory(prefix="threads-") as folder:
        # LD_PRELOAD has no way to quote spaces, which the folder of the build may have
        preload = shutil.copy(sys.argv[2], folder)
        names = {"IN": os.path.join(folder, "in.data"), "COMPRESSED": os.path.join(folder, "compressed.data")}
        recording(names["IN"])
        subprocess.run([perfdata, "convert", "-q", "-z", names["IN"], "-o", names["COMPRESSED"]], check=True)
        for command in COMMANDS:
            words = [*(names.get(word, word) for word in command.split()), "--threads", "3"]
            expected, _ = run(perfdata, words, folder, preload)
            for most in (0, 1):
                got, log = run(perfdata, words, folder, preload, most)
                asked += log.count("f")
                if got != expected or log.count("t") > most:
                    wrong += 1
                    print(f"{command}: with {most} threads the output is another: {expected} {got} {log}")
    if not asked:
        print("SKIP: the library is not loaded into this build")
        return 77
    print(f"{len(COMMANDS)} commands, {asked} threads not created, {wrong} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
