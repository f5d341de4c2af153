#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Opens what repair makes of damaged files with real perf: it must end well and say nothing that it did not say before.

usage: perf.py PERFDATA CORPUS|FILE... [--variants N] [--seed N] [--only TEXT] [--save DIR]

N variants in all: recordings that perf reads, in turn, are cut, left unfinished or have up to 64 bytes damaged. Asked are
report --stats and script. What says that something is missing in the recording is no complaint: lost formats of
tracepoints, and what perf looks for on this machine. --save keeps the damaged files whose repair differs. Exit status: 0
all is so; 1 not; 77 no perf or no corpus.
"""

import collections
import os
import random
import shutil
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "corpus"))

import common  # noqa: E402  (needs the path above)

VIEWS = (["report", "--stats"], ["script"])
# What says that something is missing in the recording.
BESIDE = ("couldn't parse the header|failed to read event|expected type|libtraceevent|can't open|not found|not yet supported|"
          "CS ETM")


def ask(path):
    """Whether perf ends well, and what it says, without numbers."""
    fine, said = True, set()
    for view in VIEWS:
        result = common.run(["perf", *view, "-i", path], timeout=120)
        fine &= result.status == 0
        said |= common.complaints(result, path, BESIDE)
    return fine, said


def damage(data, chance):
    """A variant: what was done, and the bytes."""
    kind = chance.choice(("cut", "cut", "damage", "damage", "damage", "unfinished"))
    is_file = data[8:16] == b"\x68" + b"\0" * 7
    if kind == "cut":
        at = chance.randrange(16, len(data))
        return f"cut at {at}", data[:at]
    if kind == "unfinished" and is_file:
        return kind, data[:48] + b"\0" * 8 + data[56:]
    size = min(chance.randrange(1, 65), len(data))
    at = chance.randrange(len(data) - size + 1)
    return f"{size} bytes at {at}", data[:at] + chance.randbytes(size) + data[at + size:]


class Proof:
    def __init__(self, perfdata, seed, save):
        self.perfdata = perfdata
        self.save = save
        self.chance = random.Random(seed)
        self.numbers = collections.Counter()
        self.known = {}

    def original(self, path, name):
        """What perf says of the recording, and of it as repair writes it: some pipes it does not take as a file."""
        if name not in self.known:
            with tempfile.TemporaryDirectory(prefix="repair-") as folder:
                made = os.path.join(folder, "made")
                common.run([self.perfdata, "repair", "-q", "-i", path, "-o", made])
                one, other = ask(path), ask(made)
            self.known[name] = (one[0] and other[0], one[1] | other[1])
        return self.known[name]

    def one(self, path, name):
        fine, said = self.original(path, name)
        if not fine:
            return
        with open(path, "rb") as f:
            what, data = damage(f.read(), self.chance)
        with tempfile.TemporaryDirectory(prefix="repair-") as folder:
            broken, made = os.path.join(folder, "broken"), os.path.join(folder, "made")
            with open(broken, "wb") as f:
                f.write(data)
            result = common.run([self.perfdata, "repair", "-q", "-i", broken, "-o", made])
            if not os.path.exists(made):
                self.numbers["without records"] += 1
                return
            self.numbers["opened"] += 1
            ends_well, now = ask(made)
            if result.crashed or not ends_well or now - said:
                self.numbers["differ"] += 1
                print(f"{name}: {what}: {'perf fails' if not ends_well else sorted(now - said)[:1]}")
                sys.stdout.flush()
                if self.save:
                    os.makedirs(self.save, exist_ok=True)
                    shutil.copy(broken, os.path.join(self.save, f"{os.path.basename(name)}-{self.numbers['differ']}"))


def main():
    parser = common.recordings_parser(__doc__)
    parser.add_argument("--variants", type=int, default=300, metavar="N")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--save", metavar="DIR")
    arguments = parser.parse_args()
    if not shutil.which("perf"):
        common.skip("no perf")
    proof = Proof(arguments.perfdata, arguments.seed, arguments.save)
    tried = -1
    while proof.numbers["opened"] < arguments.variants and proof.numbers["opened"] != tried:
        tried = proof.numbers["opened"]
        for path, name in common.recordings(arguments.files, arguments.only):
            # damaged ones are not damaged again, and perf takes long for large ones
            if os.path.isfile(path) and "fuzz/" not in name and os.path.getsize(path) < 1 << 20 and \
                    proof.numbers["opened"] < arguments.variants:
                proof.one(path, name)
    numbers = proof.numbers
    print(f"{numbers['opened']} repaired files opened by perf, {numbers['without records']} had no record left, "
          f"{numbers['differ']} differ")
    return 1 if numbers["differ"] or not numbers["opened"] else 0


if __name__ == "__main__":
    sys.exit(main())
