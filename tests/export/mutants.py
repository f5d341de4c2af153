#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Damaged recordings through every format of perfdata export, and damaged files of other formats through every one of import.

usage: mutants.py PERFDATA RECORDING... [--corpus CORPUS] [-n N] [--seed SEED] [--first N] [--save DIR] [--jobs J] [--seconds S]

Each of N mutants (200) is a recording with some of its bytes changed, exported to one of the formats in turn; each fourth one is a
file of another format, imported. What is exported must be well-formed by the reader of its format; what is imported must be a
recording that perfdata check finds no damage in. Right are the exit statuses of commands and a message for each that is not 0;
wrong are signals, reports of a sanitizer, silence, and what does not end in ten minutes. Mutants that go wrong are kept in DIR.
The same SEED gives the same mutants; --first leaves out the first ones; after S seconds no more are begun. Exit status: 0 all went right, 1 not.
"""

import argparse
import collections
import concurrent.futures
import os
import random
import struct
import subprocess
import sys
import tempfile
import time

import ctf
import formats

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "corpus"))
import common  # noqa: E402
import mutants  # noqa: E402

SIZE_MOST = 200 << 10
TIMEOUT = 600
FOLDERS = ("arrow", "arrow-stream", "parquet", "rowbinary", "sqlite")
IMPORTED = ("quipper", "quipper-text", "folded", "pprof", "speedscope", "perf-script")
ENDS = (0, 1, 3, 5, 6)  # fine, damaged, unreadable, nothing there, no samples
WAYS_OF_IMPORT = 4   # each so many mutants one is imported


def run(*words):
    done = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, timeout=TIMEOUT, check=False)
    return done.returncode, done.stdout, done.stderr


def ended_well(code, said, allowed=ENDS):
    """What is wrong with how it ended, or None."""
    if code not in allowed or b"Sanitizer" in said or b"runtime error" in said:
        return f"exit status {code}: {said.decode(errors='replace')[-600:]}"
    return f"exit status {code} in silence" if code and not said.strip() else None


class Tester:
    def __init__(self, perfdata, args, recordings):
        self.perfdata, self.args, self.recordings, self.foreign = perfdata, args, recordings, {}
        self.ends = 0.0
        said = run(perfdata, "export")[2].decode().splitlines()[1:]
        self.formats = [line.split(":", 1)[1].split()[0] for line in said]

    def make_foreign(self, folder):
        """Files of other formats, each of some recordings."""
        for name in IMPORTED:
            self.foreign[name] = []
            for number, (label, data) in enumerate(self.recordings[:8]):
                path, out = os.path.join(folder, "source.data"), os.path.join(folder, "foreign")
                with open(path, "wb") as file:
                    file.write(data)
                if name == "perf-script":
                    code, text, _ = run(self.perfdata, "script", "-q", path)
                    with open(out, "wb") as file:
                        file.write(text)
                else:
                    code = run(self.perfdata, "export", "-q", "--to", name, "-o", out, path)[0]
                if code not in (0, 1) or not os.path.getsize(out) or os.path.getsize(out) > 4 * SIZE_MOST:
                    continue
                with open(out, "rb") as file:
                    self.foreign[name].append((f"{label} {number}", file.read()))

    def export(self, name, path, folder):
        if name == "ctf":
            return ctf_is_wrong(self.perfdata, path, os.path.join(folder, "trace"))
        if name in FOLDERS:
            # what they hold is compared elsewhere; here they have to end well
            code, _, said = run(self.perfdata, "export", "--to", name, "-o", os.path.join(folder, "out"), path)
            return ended_well(code, said)
        code, out, said = run(self.perfdata, "export", "--to", name, path)
        wrong = ended_well(code, said)
        if wrong or code not in (0, 1):
            return wrong
        try:
            formats.read(name, out)
        except formats.Malformed as error:
            return f"malformed: {str(error)[:300]}"
        return None

    def imports(self, name, path, folder):
        out = os.path.join(folder, "imported.data")
        code, _, said = run(self.perfdata, "import", "--from", name, "-o", out, path)
        wrong = ended_well(code, said)
        if wrong or not os.path.exists(out):
            return wrong
        code, said, more = run(self.perfdata, "check", out)
        # PerfDataProto has records as they are, damaged ones, too
        return ended_well(code, said + more, (0, 1) if name.startswith("quipper") else (0,))

    def try_one(self, number, folder):
        """(what was done, to what, what went wrong or None, bytes), or None if time is over"""
        if self.ends and time.monotonic() > self.ends:
            return None
        chance = random.Random(f"{self.args.seed}/{number}")
        imported = number % WAYS_OF_IMPORT == WAYS_OF_IMPORT - 1
        if imported:
            name = IMPORTED[number // WAYS_OF_IMPORT % len(IMPORTED)]
            label, data = chance.choice(self.foreign[name])
        else:
            name = self.formats[(number - number // WAYS_OF_IMPORT) % len(self.formats)]
            label, data = chance.choice(self.recordings)
        mutant = bytearray(data)
        way = mutants.mutate(chance, mutant)
        with tempfile.TemporaryDirectory(dir=folder) as own:
            path = os.path.join(own, "mutant.data")
            with open(path, "wb") as file:
                file.write(mutant)
            try:
                wrong = self.imports(name, path, own) if imported else self.export(name, path, own)
            except subprocess.TimeoutExpired:
                wrong = "does not end"
        return f"{'import' if imported else 'export'} {name}", f"{label} {way}", wrong, mutant


def ctf_is_wrong(perfdata, path, folder):
    code, _, said = run(perfdata, "export", "--to", "ctf", "-o", folder, path)
    wrong = ended_well(code, said)
    if wrong or code not in (0, 1):
        return wrong
    try:
        ctf.Trace(folder)
    except (ctf.Malformed, ValueError, KeyError, IndexError, AttributeError, struct.error) as error:
        return f"malformed: {str(error)[:300]}"
    return None


def recordings_of(args):
    found = []
    for path in args.recordings:
        if os.path.isfile(path) and os.path.getsize(path) <= SIZE_MOST:
            with open(path, "rb") as file:
                found.append((os.path.basename(path), file.read()))
    if args.corpus:
        found += [source for source in mutants.sources(args.corpus) if len(source[1]) <= SIZE_MOST]
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("perfdata")
    parser.add_argument("recordings", nargs="+")
    parser.add_argument("--corpus")
    parser.add_argument("-n", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--save", default="mutants-wrong")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=0)
    args = parser.parse_args()
    tester = Tester(os.path.abspath(args.perfdata), args, recordings_of(args))
    counts, wrong = collections.Counter(), 0
    with tempfile.TemporaryDirectory(prefix="perfdata-mutants-") as folder:
        os.environ["HOME"] = folder  # for the tables of symbols
        tester.make_foreign(folder)
        tester.ends = args.seconds and time.monotonic() + args.seconds
        with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
            jobs = {pool.submit(tester.try_one, number, folder): number for number in range(args.first, args.first + args.n)}
            for job in concurrent.futures.as_completed(jobs):
                if not job.result():
                    continue
                what, label, text, mutant = job.result()
                counts[what] += 1
                if not text:
                    continue
                wrong += 1
                os.makedirs(args.save, exist_ok=True)
                name = os.path.join(args.save, f"{args.seed}-{jobs[job]}.data")
                with open(name, "wb") as file:
                    file.write(mutant)
                print(f"{name} ({what}, {label}): {text}", flush=True)
    missing = [name for name in tester.formats if not counts[f"export {name}"]] if args.n >= 200 and not args.seconds else []
    print(f"{sum(counts.values())} mutants of {len(tester.recordings)} recordings, {len(counts)} ways: {wrong} went wrong")
    for name in missing:
        print(f"{name}: never tried")
    return 1 if wrong or missing else 0


if __name__ == "__main__":
    sys.exit(main())
