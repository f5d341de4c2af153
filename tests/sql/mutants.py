#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Damaged recordings through perfdata sql: it ends with one of its exit codes, rows are JSON, and records agree with dump.

usage: mutants.py PERFDATA DATA [COUNT]

DATA is the folder of recordings. The mutants are the same each time. Exit status: 0 all is so, 1 not.
"""

import json
import os
import random
import subprocess
import sys
import tempfile

from agree import compare

RECORDINGS = ("hot.data", "hot-multi.data", "hot-pipe.data", "hot-trace.data", "hot-group.data", "hot-records.data", "hot-regs.data",
              "hot-zstd.data")
TABLES = ("samples", "records", "stacks", "frames", "maps", "tasks", "events", "features", "counts", "losses")
STATEMENTS = tuple(f"select * from {table}" for table in TABLES) + (
    "select function, count(*), sum(value) from samples group by function",
    "select s.comm, f.function, stack_text(s.stack) from samples s join stacks using (stack) join frames f using (frame) where s.cpu >= 0",
    "select symbol(ip, pid, time_ns), object(ip), wall_clock(time_ns) from samples where time_ns > 774449500000",
    'select * from "sched:sched_switch"', "@top-inclusive", "@processes", "@off-cpu")
CODES = (0, 1, 2, 3, 5)


def mutant(chance, content):
    content = bytearray(content)
    for _ in range(chance.choice((1, 3, 10, 40))):
        content[chance.randrange(len(content))] = chance.choice((0, 255, chance.randrange(256)))
    return content[:chance.randrange(len(content))] if chance.random() < 0.2 else content


def wrong(done):
    """What is wrong with an answer, or None."""
    if done.returncode not in CODES or b"Sanitizer" in done.stderr:
        return f"exit status {done.returncode}: {done.stderr[-300:]!r}"
    try:
        for line in done.stdout.splitlines():
            json.loads(line)
    except ValueError as error:
        return f"not JSON: {error}"
    return None


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    perfdata, data = (os.path.abspath(word) for word in sys.argv[1:3])
    count, chance, bad = int(sys.argv[3]) if len(sys.argv) > 3 else 200, random.Random(7), 0
    with tempfile.TemporaryDirectory(prefix="perfdata-mutants-") as folder:
        path = os.path.join(folder, "mutant.data")
        for number in range(count):
            name = chance.choice(RECORDINGS)
            with open(os.path.join(data, name), "rb") as source, open(path, "wb") as file:
                file.write(mutant(chance, source.read()))
            statement = chance.choice(STATEMENTS)
            files = chance.choice(((path,), (path,), (os.path.join(data, "hot.data"), path)))
            done = subprocess.run([perfdata, "sql", "--no-symbols", "--format", "json", *files,
                                   statement if statement[0] == "@" else statement + ";"],
                                  cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, timeout=120, check=False)
            why = wrong(done)
            if not why and done.returncode in (0, 1) and number % 4 == 0 and compare(perfdata, path)[1]:
                why = "not what dump --json has"
            if why:
                bad += 1
                print(f"mutant {number} of {name}, {statement}: {why}")
        if set(os.listdir(folder)) != {"mutant.data"}:
            bad += 1
            print("files appeared:", os.listdir(folder))
    print(f"mutants: {count}, {bad} went wrong")
    return bad != 0


if __name__ == "__main__":
    sys.exit(main())
