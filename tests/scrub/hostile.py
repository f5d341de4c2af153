#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""perfdata scrub on damaged recordings: it ends well, and what it writes has no name that the recording had before it was
damaged.

    hostile.py PERFDATA COUNT SEED FILE...
"""

import os
import random
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "corpus"))
import common
import mutants

ENDS_WELL = (0, 1, 3)
TIMEOUT = 300
LEAST = 8  # bytes: what damage moves into a number stays there as a number, and that may be a short name


def try_mutant(program, folder, rng, original):
    """What went wrong with one, or None."""
    with open(original, "rb") as f:
        mutant = bytearray(f.read())
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
        return f"{said}; left something behind" if os.path.exists(result) else None
    verified = common.run([program, "scrub", "--verify", "--min-length", str(LEAST), original, result], timeout=TIMEOUT)
    # with nothing but damage there may be no event, and so no file that can be opened
    if verified.crashed or verified.status not in (0, 3):
        return f"{said}; --verify: {verified.status}: {(verified.out + verified.err).decode('utf-8', 'replace')[:1500]}"
    return None


def main():
    program, count, seed = os.path.abspath(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
    originals = sys.argv[4:]
    failures = 0
    with tempfile.TemporaryDirectory(prefix="scrub-") as folder:
        for number in range(count):
            rng = random.Random(f"{seed}/{number}")
            result = os.path.join(folder, "result")
            if os.path.exists(result):
                os.unlink(result)
            wrong = try_mutant(program, folder, rng, originals[number % len(originals)])
            if wrong:
                failures += 1
                print(f"mutant {number} of {originals[number % len(originals)]}: {wrong}")
    print(f"{count} damaged recordings, {failures} failures")
    sys.exit(failures != 0)


if __name__ == "__main__":
    main()
