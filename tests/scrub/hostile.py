#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""perfdata scrub on damaged recordings: it ends well, and what it writes can be read and says no more than it should.

    hostile.py PERFDATA COUNT SEED FILE...
"""

import json
import os
import random
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "corpus"))
import common
import mutants

ENDS_WELL = (0, 1, 3)
TIMEOUT = 300


def try_mutant(program, folder, rng, data):
    """What went wrong with one, or None."""
    mutant = bytearray(data)
    mutants.mutate(rng, mutant)
    path, result = (os.path.join(folder, name) for name in ("mutant", "result"))
    with open(path, "wb") as f:
        f.write(mutant)
    level, form = rng.choice(("names", "addresses", "all")), rng.choice((["--to", "file"], ["--to", "pipe"], ["-z"]))
    arguments = ["scrub", "-q", *form, "--hide", level, "-o", result, "-i", path]
    done = common.run([program, *arguments], timeout=TIMEOUT)
    said = f"{' '.join(form)} --hide {level}: status {done.status}: {done.err.decode('utf-8', 'replace')[:1500]}"
    if done.crashed or done.status not in ENDS_WELL or (done.status == 3 and not done.err.strip()):
        return said
    if done.status == 3:
        return "left something behind" if os.path.exists(result) else None
    verified = common.run([program, "scrub", "--verify", "--json", path, result], timeout=TIMEOUT)
    # with nothing but damage there may be no event, and so no file that can be opened
    if verified.crashed or verified.status not in (0, 1, 3):
        return f"{said}; --verify: {verified.status}: {verified.err.decode('utf-8', 'replace')[:1500]}"
    found = json.loads(verified.out)["found"] if verified.status == 1 else []
    # numbers that damage made a name of are numbers elsewhere
    found = [item for item in found if item["text"].isascii() and item["text"].isprintable()]
    if found:
        return f"{said}; still there: {found[:4]}"
    os.unlink(result)
    return None


def main():
    program, count, seed = os.path.abspath(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
    originals = []
    for path in sys.argv[4:]:
        with open(path, "rb") as f:
            originals.append(f.read())
    failures = 0
    with tempfile.TemporaryDirectory(prefix="scrub-") as folder:
        for number in range(count):
            rng = random.Random(f"{seed}/{number}")
            wrong = try_mutant(program, folder, rng, originals[number % len(originals)])
            if wrong:
                failures += 1
                print(f"mutant {number} of {sys.argv[4 + number % len(originals)]}: {wrong}")
    print(f"{count} damaged recordings, {failures} failures")
    sys.exit(failures != 0)


if __name__ == "__main__":
    main()
