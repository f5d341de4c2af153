#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Damaged recordings through every command that writes one.

usage: writers.py PERFDATA COUNT SEED FILE... [--number N] [--save DIR] [--jobs J]
       writers.py PERFDATA COUNT SEED --corpus CORPUS ...

Each of COUNT mutants of a recording goes through cut, filter, sample, head, tail, split, merge (with the recording it was
made of, and that with it), scrub, inject, pack, unpack, convert, repair, and text and assemble; options differ by chance. Each has to
end, with a status that says how it went and words for what went wrong, and has to leave nothing behind where it failed. What
it wrote has to be readable, and check must not find damage in it that it does not find in what it was made of; none at all in
what repair wrote. No sample gets lost: what check counts in the input is what it counts in the output and what the command
says that it left out. The status is 0 only if that of check is, for info too; head need not see what is behind its last sample.
The same SEED gives the same mutants; --number makes one of them again. Files above 300 KiB are left out.
Exit status: 0 all is so; 1 not; 77 no corpus.
"""

import argparse
import collections
import concurrent.futures
import os
import random
import re
import shutil
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "corpus"))

import common  # noqa: E402  (needs the path above)
import mutants  # noqa: E402

TIMEOUT = 300
FINE = (common.FINE, common.DAMAGED)
USAGE, NOTHING, NO_SAMPLES = 2, 5, 6
NOT_DONE = (common.UNREADABLE, NOTHING, NO_SAMPLES)
# merge says what cannot be joined as a wrong command line
REFUSED = (*NOT_DONE, USAGE)
FORMS = ([], [], ["--to", "pipe"], ["-z"], ["--byte-order", "big"], ["--byte-order", "little", "--compress2"], ["--no-compress"])

COMMANDS = {
    "cut": (["--time", "20%-60%"], ["--time", "10%/2"], ["--time", "0%-10%,90%-100%"], ["--time", "1,"]),
    "filter": (
        ["--where", "period > 0"],
        ["--where", "type != SAMPLE || pid & 1"],
        ["--comm", "hot"],
        ["--prune", "--where", "tid & 1"],
        ["--no-symbols", "--dso", "hot"],
    ),
    "sample": (["1/3"], ["-n", "5"]),
    "head": (["-n", "3"], ["--seconds", "0.001"]),
    "tail": (["-n", "3"], ["--seconds", "0.001"]),
    "split": (["--by", "event"], ["--by", "pid"], ["--by", "comm"], ["--by", "cpu"], ["--by", "size=16384"], ["--by", "time=1ms"]),
    "merge": (["--kernels", "keep"], ["--machines", "different"], ["--machines", "same", "--drop-aux"], ["--align", "first"]),
    "scrub": (["--hide", "names"], ["--hide", "addresses"], ["--hide", "all"], ["--keep-data", "raw,regs,stack,aux"]),
    "inject": (["-b"], ["--buildid-all"], ["-s"], ["--strip"], ["-j"], ["--mmap2-buildids"]),
    "pack": ([], ["--no-symbols"]),
    "convert": ([], ["--sort"], ["--sort"]),
    "repair": ([],),
    "text": ([], ["--packed"]),
}
# What stands at the end of a record of unknown type may be an id, which is looked at where there are several events.
NO_ID = "unknown-id at the end of a record of unknown type"
HIDDEN = {"merge": {NO_ID}}
WITHOUT_FORM = ("pack", "repair", "text")

# What commands say of samples: those that were written, those that they saw, those that were left out. One that says nothing
# has written all.
NUMBER = r"([\d,]+)"
SAID = {
    "kept": re.compile(rf"kept {NUMBER} of {NUMBER} samples?"),
    "split": re.compile(rf"{NUMBER} of {NUMBER} samples? in "),
    "joined": re.compile(rf"merged: {NUMBER} samples?"),
    "unfit": re.compile(rf"\({NUMBER} samples?\) that cannot be decoded"),
    "scrub": re.compile(rf"kept {NUMBER} samples? and .* dropped {NUMBER} samples?"),
    "repair": re.compile(rf"kept .*\({NUMBER} samples?\)"),
    "first": re.compile(r"kept the first "),
}


def said(err, what):
    """The numbers of such a line, or None."""
    found = SAID[what].search(err.decode("utf-8", "replace"))
    return [int(number.replace(",", "")) for number in found.groups()] if found else None


class Wrong(Exception):
    """Something is not as it should be."""


def shown(data):
    return data.decode("utf-8", "replace").strip()[-1500:]


class Mutant:
    """A damaged recording, and what commands make of it."""

    def __init__(self, perfdata, folder, origin, data, rng):
        self.perfdata, self.folder, self.rng = perfdata, folder, rng
        self.original = os.path.join(folder, "original.data")
        self.path = os.path.join(folder, "mutant.data")
        mutant = bytearray(data)
        self.name = f"{origin} {mutants.mutate(rng, mutant)}"
        for path, content in ((self.original, data), (self.path, mutant)):
            with open(path, "wb") as f:
                f.write(content)
        self.statuses = []
        self.damage, self.samples = {}, {}
        for path in (self.path, self.original):
            self.damage[path], self.samples[path] = self.look(path)

    def run(self, *arguments, stdin=None):
        result = common.run([self.perfdata, *arguments], stdin=stdin, timeout=TIMEOUT)
        if result.status is None:
            raise Wrong(f"{' '.join(arguments)}: took more than {TIMEOUT} s")
        if result.crashed or (result.status and not result.err.strip() and not result.out.strip()):
            raise Wrong(f"{' '.join(arguments)}: status {result.status}: {shown(result.err)}")
        return result

    def look(self, path):
        """Codes of damage and number of samples, or None twice if the file is refused."""
        result = self.run("check", "--json", path)
        if result.status not in FINE:
            return None, None
        problems, summary = common.check_of(result.out)
        unknown = {problem.get("offset") for problem in problems if problem["code"] == "unknown-record"}
        return {self.code_of(problem, unknown) for problem in problems if problem["severity"] == "damage"}, summary["samples"]

    @staticmethod
    def code_of(problem, unknown):
        if problem["code"] == "unknown-id" and problem["offset"] in unknown:
            return NO_ID
        # a sample of no event is told twice: its id, and that it cannot be decoded
        return "unknown-id" if problem["message"].endswith("unknown event") else problem["code"]

    def hold(self, step, path, inputs):
        """Looks at what was written; returns the number of samples in it."""
        found, samples = self.look(path)
        if found is None:
            raise Wrong(f"{step}: what was written cannot be read: {shown(self.run('check', path).err)}")
        before = set().union(*(self.damage[one] or set() for one in inputs)) if step != "repair" else set()
        if found - before - HIDDEN.get(step.split()[0], set()):
            raise Wrong(f"{step}: new damage: {sorted(found - before)}")
        return samples

    def hold_samples(self, step, result, inputs, written):
        """Samples that were there are written, or said to be left out."""
        command, err = step.split()[0], result.err
        there = None if None in (self.samples[one] for one in inputs) else sum(self.samples[one] for one in inputs)
        kept = said(err, "split" if command == "split" else "kept")
        if command == "repair":
            expected, (there,) = said(err, "repair"), said(err, "repair")
            expected = expected[0]
        elif command == "merge" and not said(err, "joined"):
            raise Wrong(f"{step}: says no number of samples: {shown(err)}")
        elif command == "merge":
            expected, seen = said(err, "joined")[0], said(err, "joined")[0] + sum(said(err, "unfit") or [0])
        elif command == "scrub":
            expected, seen = said(err, "scrub")[0], sum(said(err, "scrub"))
        elif kept:
            expected, seen = kept
        elif said(err, "first"):
            return
        else:
            expected, seen = there, there
        if command != "repair" and there is not None and seen != there:
            raise Wrong(f"{step}: says {seen} samples, there are {there}: {shown(err)}")
        if written != expected:
            raise Wrong(f"{step}: {written} samples were written, {expected} should be: {shown(err)}")

    def hold_status(self, step, result, inputs):
        if result.status == common.FINE and any(self.damage[one] != set() for one in inputs) and not said(result.err, "first"):
            raise Wrong(f"{step}: status 0, but check finds {[sorted(self.damage[one] or ['no recording']) for one in inputs]}")

    def ended(self, step, result, out, refused):
        """True if something has to be there."""
        self.statuses.append((step[0], result.status))
        left = [name for name in os.listdir(self.folder) if ".new-" in name]
        if left:
            raise Wrong(f"{' '.join(step)}: left behind: {left}")
        if result.status in FINE:
            if not os.path.exists(out):
                raise Wrong(f"{' '.join(step)}: status {result.status}, but nothing was written: {shown(result.err)}")
            return True
        if result.status not in refused:
            raise Wrong(f"{' '.join(step)}: status {result.status}: {shown(result.err)}")
        if os.path.exists(out) and result.status in (USAGE, common.UNREADABLE):
            raise Wrong(f"{' '.join(step)}: status {result.status}, but something was written: {shown(result.err)}")
        return os.path.exists(out)

    def write(self, command, options, inputs):
        out = os.path.join(self.folder, "out")
        form = [] if command in WITHOUT_FORM else self.rng.choice(FORMS)
        step = [command, *options, *form]
        result = self.run(*step, "-o", out, *inputs)
        refused = REFUSED if command in ("merge", "split") else NOT_DONE
        if self.ended(step, result, out, refused):
            paths = sorted(os.path.join(out, name) for name in os.listdir(out)) if command == "split" else [out]
            step = " ".join(step)
            written = sum(self.hold(step, path, inputs) for path in paths)
            self.hold_samples(step, result, inputs, written)
            self.hold_status(step, result, inputs)
        self.remove(out)

    @staticmethod
    def remove(path):
        if os.path.isdir(path):
            shutil.rmtree(path)
        elif os.path.exists(path):
            os.unlink(path)

    def through_text(self, options):
        """What text says of it is assembled again."""
        out = os.path.join(self.folder, "out")
        text = self.run("text", *options, self.path)
        self.statuses.append(("text", text.status))
        if text.status not in FINE:
            return
        step = ["assemble"]
        # damage may say what no text can say
        result = self.run(*step, "-o", out, "-", stdin=text.out)
        if self.ended(step, result, out, (common.UNREADABLE,)):
            written = self.hold("text and assemble", out, [self.path])
            self.hold_samples("text and assemble", result, [self.path], written)
        self.hold_status("text", text, [self.path])
        self.remove(out)

    def unpack(self):
        """What was packed comes out as it was; of a damaged bundle, what is read in it."""
        out, bundle = os.path.join(self.folder, "out"), os.path.join(self.folder, "bundle.tar")
        packed = self.run("pack", "--no-symbols", "-o", bundle, self.path)
        if packed.status not in FINE:
            return
        self.unpack_one(bundle, out, 0)
        with open(self.path, "rb") as mutant, open(os.path.join(out, "perf.data"), "rb") as f:
            if mutant.read() != f.read():
                raise Wrong("unpack: the recording is another one")
        self.remove(out)
        with open(bundle, "r+b") as f:
            data = bytearray(f.read())
            what = mutants.mutate(self.rng, data)
            f.seek(0)
            f.truncate()
            f.write(data)
        status = self.unpack_one(bundle, out)
        inside = os.path.join(out, "perf.data")
        there, samples = self.look(bundle)
        if status in FINE and there is not None and os.path.exists(inside):
            found, written = self.look(inside)
            if status == common.FINE and "damaged-archive" in there:
                raise Wrong(f"unpack, bundle {what}: status 0, but check finds a damaged archive")
            if written != samples or found != there - {"damaged-archive"}:
                raise Wrong(f"unpack, bundle {what}: {written} samples, damage {found}; in the bundle {samples}, {there}")
        self.remove(out)

    def unpack_one(self, bundle, out, wanted=None):
        result = self.run("unpack", "-o", out, bundle)
        self.ended(["unpack"], result, out, (common.UNREADABLE,))
        left = [name for name in os.listdir(self.folder) if name.startswith("out.")]
        if left or wanted not in (None, result.status):
            raise Wrong(f"unpack: status {result.status}, left behind: {left}: {shown(result.err)}")
        return result.status

    def inform(self):
        result = self.run("info", self.path)
        self.statuses.append(("info", result.status))
        self.hold_status("info", result, [self.path])

    def steps(self):
        yield "info", self.inform
        yield "unpack", self.unpack
        for command, choices in COMMANDS.items():
            options = self.rng.choice(choices)
            if command == "text":
                yield command, lambda options=options: self.through_text(options)
            elif command == "merge":
                for inputs in ([self.path, self.original], [self.original, self.path]):
                    yield command, lambda options=options, inputs=inputs: self.write("merge", options, inputs)
            else:
                yield command, lambda command=command, options=options: self.write(command, options, [self.path])

    def go(self):
        wrong = []
        for _, step in self.steps():
            try:
                step()
            except (Wrong, ValueError, KeyError) as problem:
                wrong.append(f"{type(problem).__name__}: {problem}" if not isinstance(problem, Wrong) else str(problem))
                self.remove(os.path.join(self.folder, "out"))
                for name in os.listdir(self.folder):
                    if ".new-" in name:
                        self.remove(os.path.join(self.folder, name))
        return wrong


def recordings(arguments):
    """(name, bytes)"""
    if arguments.corpus:
        common.check_arguments(arguments.perfdata, arguments.corpus)
        return mutants.sources(arguments.corpus)
    found = []
    for path in arguments.files:
        with open(path, "rb") as f:
            found.append((os.path.basename(path), f.read()))
    return found


def try_one(perfdata, number, seed, origin, data, save):
    """(number, name, what went wrong, statuses)"""
    rng = random.Random(f"{seed}/{number}")
    with tempfile.TemporaryDirectory(prefix="writers-") as folder:
        try:
            mutant = Mutant(perfdata, folder, origin, data, rng)
        except Wrong as problem:
            return number, origin, [str(problem)], []
        wrong = mutant.go()
        if wrong and save:
            os.makedirs(save, exist_ok=True)
            shutil.copy(mutant.path, os.path.join(save, f"{seed}-{number}.data"))
        return number, mutant.name, wrong, mutant.statuses


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("perfdata")
    parser.add_argument("count", type=int)
    parser.add_argument("seed")
    parser.add_argument("files", nargs="*")
    parser.add_argument("--corpus")
    parser.add_argument("--number", type=int, help="only this mutant")
    parser.add_argument("--save", metavar="DIR", help="keeps mutants that went wrong")
    parser.add_argument("--jobs", type=int, default=1)
    arguments = parser.parse_args()
    perfdata = os.path.abspath(arguments.perfdata)
    files = recordings(arguments)
    numbers = range(arguments.count) if arguments.number is None else [arguments.number]
    statuses, wrong = collections.Counter(), 0
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        jobs = []
        for number in numbers:
            origin, data = files[random.Random(f"{arguments.seed}:{number}").randrange(len(files))]
            jobs.append(pool.submit(try_one, perfdata, number, arguments.seed, origin, data, arguments.save))
        for job in concurrent.futures.as_completed(jobs):
            number, name, problems, ended = job.result()
            statuses.update(ended)
            wrong += bool(problems)
            for problem in problems:
                print(f"{number} ({name}): {problem}", flush=True)
    for command in sorted({command for command, _ in statuses}):
        counts = ", ".join(f"{status}: {count}" for (name, status), count in sorted(statuses.items()) if name == command)
        print(f"{command:9} {counts}")
    print(f"{len(numbers)} mutants of {len(files)} files, {sum(statuses.values())} commands: {wrong} mutants went wrong")
    return 1 if wrong or not statuses else 0


if __name__ == "__main__":
    sys.exit(main())
