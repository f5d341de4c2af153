#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What cut, filter, sample, head and tail keep, held against the recording itself.

usage: keep.py PERFDATA CORPUS|FILE... [--only TEXT] [--every N] [--perf]

For each recording:
- cuts of adjoining times hold each of its samples once, byte by byte;
- a filtered recording prints as the recording does with the same options of script, with and without them;
- each N-th sample is there, and its weight is N times as much;
- head and tail are the first and the last samples in the order of time;
- all of that as a pipe too, and what was written reads without a new problem.
With --perf, real perf has to read what was written without a word that it does not say of the recording.
Exit status: 0 all is so; 1 not; 77 no corpus.
"""

import argparse
import collections
import json
import os
import re
import shutil
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "corpus"))

import common  # noqa: E402  (needs the path above)

FINE = (common.FINE, common.DAMAGED)
NOTHING = 5
NO_SAMPLES = 6
BYTES = re.compile(rb'"bytes":"([0-9a-f]*)"')
TIME = re.compile(rb'"time_ns":(\d+)')
RATE = 4


class Wrong(Exception):
    """Something is not as it should be."""


class Recording:
    """A recording, and what is made of it."""

    def __init__(self, perfdata, path, folder, perf):
        self.perfdata, self.path, self.folder = perfdata, path, folder
        self.out = os.path.join(folder, "out.data")
        self.perf = perf
        self.problems = self.problems_of(path)
        self.samples = self.samples_of(path)
        self.words = self.words_of_perf(path) if perf and self.is_for_perf() else None

    def run(self, *arguments, stdin=None):
        result = common.run([self.perfdata, *arguments], stdin=stdin, timeout=300)
        if result.crashed:
            raise Wrong(f"{' '.join(arguments)}: ended with {result.status}: {result.err[-300:]}")
        return result

    def is_for_perf(self):
        """False if perf reads it as a pipe only: its events may be too large for files of that perf."""
        self.run("convert", "-q", "-o", self.out, "-i", self.path)
        return os.path.exists(self.out) and self.words_of_perf(self.out) is not None

    def problems_of(self, path):
        """Codes of problems."""
        result = self.run("check", "--json", path)
        return {json.loads(line).get("code") for line in result.out.splitlines() if b'"code"' in line}

    def samples_of(self, path):
        """(time, bytes) of each sample, in the order of the file; 0 is none."""
        result = self.run("dump", "--json", "--hex", "--type", "SAMPLE", path)
        found = []
        for line in result.out.splitlines():
            data, time = BYTES.search(line), TIME.search(line)
            if data:
                found.append((int(time[1]) if time else 0, data[1]))
        return found

    def words_of_perf(self, path):
        """Lines that perf says about a recording, numbers left out; None if it refuses it."""
        words = set()
        for arguments in (["report", "--stats"], ["script", "--show-task-events", "--show-mmap-events", "-F", "comm,tid,time,event"]):
            result = common.run(["perf", *arguments, "-i", path], timeout=120)
            if result.status != 0:
                return None
            words.update(re.sub(r"[0-9]+|0x[0-9a-f]+", "N", line) for line in result.err.decode("utf-8", "replace").splitlines())
        return words

    def make(self, *arguments, expect=FINE + (NOTHING, NO_SAMPLES)):
        """Runs a command that writes self.out, which has to be sound."""
        if os.path.exists(self.out):
            os.unlink(self.out)
        result = self.run(*arguments, "-o", self.out, "-i", self.path)
        if result.status not in expect or not os.path.exists(self.out):
            raise Wrong(f"{' '.join(arguments)}: status {result.status}: {result.err[-300:].decode('utf-8', 'replace')}")
        more = self.problems_of(self.out) - self.problems - {"no-samples"}
        if more:
            raise Wrong(f"{' '.join(arguments)}: new problems {sorted(more)}")
        if self.words is not None:
            said = self.words_of_perf(self.out)
            if said is None or said - self.words:
                raise Wrong(f"{' '.join(arguments)}: perf says {'no' if said is None else sorted(said - self.words)}")
        return result

    def kept(self, *arguments):
        self.make(*arguments)
        return self.samples_of(self.out)


def same(found, wanted, what):
    """Holds lists of samples together, whatever their order."""
    found, wanted = collections.Counter(found), collections.Counter(wanted)
    if found != wanted:
        more, less = sum((found - wanted).values()), sum((wanted - found).values())
        raise Wrong(f"{what}: {more} samples too many, {less} are missing")


def seconds(ns):
    return f"{ns // 10**9}.{ns % 10**9:09}"


# ---- cut ----


def check_cuts(recording):
    timed = [sample for sample in recording.samples if sample[0]]
    if not timed:
        return 0
    times = sorted(time for time, _ in timed)
    middle, third = times[len(times) // 2], times[len(times) // 3]
    cuts = (
        [f",{seconds(middle)}", f"{seconds(middle + 1)},"],
        [f",{seconds(third - 1)}", f"{seconds(third)},{seconds(middle)}", f"{seconds(middle + 1)},"],
        ["25%/1", "25%/2", "25%/3", "25%/4"],
        ["0%-33.3%", "33.3%-66.6%", "66.6%-100%"],
        ["0%-10%,20%-100%", "10%-20%"],
    )
    for row in cuts:
        found = []
        for time in row:
            found += [sample for sample in recording.kept("cut", "--time", time) if sample[0]]
        # the recorder's notes may leave samples out: parts are of the time that was noted
        noted = [sample for sample in timed if "%" not in row[0] or noted_range(recording, sample)]
        same(found, noted, f"cut {row}")
    return len(cuts)


def noted_range(recording, sample):
    if not hasattr(recording, "noted"):
        features = common.features_of(recording.perfdata, recording.path)
        recording.noted = features.get("SAMPLE_TIME")
    noted = recording.noted
    if not noted or not noted["last_ns"] or noted["first_ns"] is None or noted["first_ns"] > noted["last_ns"]:
        return True
    return noted["first_ns"] <= sample[0] <= noted["last_ns"]


# ---- filter ----


def most_common(values):
    return collections.Counter(values).most_common(1)[0][0]


def questions(recording):
    """Options of filter, and of script if they differ."""
    result = recording.run("dump", "--json", "--type", "SAMPLE", recording.path)
    samples = [json.loads(line) for line in result.out.splitlines()][:20000]
    fields = [sample["fields"] for sample in samples if "fields" in sample]
    events = [sample["event"] for sample in samples if sample.get("event")]
    for name in ("pid", "tid", "cpu"):
        values = [field[name] for field in fields if name in field]
        if values:
            value = most_common(values)
            yield [f"--{name}", str(value)]
            yield ["--where", f"{name} == {value}"]
            yield ["--where", f"!(sample.{name} != {value})"]
    if events and all(isinstance(event, str) for event in events):
        name = most_common(events)
        yield ["--event", name]
        yield ["--where", f"event == '{name}'"]
    times = sorted(sample["time_ns"] for sample in samples if sample.get("time_ns"))
    if times:
        yield ["--time", f"{seconds(times[len(times) // 4])},{seconds(times[len(times) // 2])}"]
        yield ["--where", f"time >= {times[len(times) // 4]} && sample.time_ns < {seconds(times[len(times) // 2])}s"]
        yield ["--time", "30%/2"]
    comms = recording.run("script", "--no-symbols", "-G", "-F", "comm,time", "-i", recording.path).out.decode("utf-8", "replace")
    comms = re.findall(r"^ *(\S.*?) +[0-9]+\.[0-9]+:", comms, re.M)
    name = most_common(comms) if comms else ","
    if not re.search(r"[,'\\ ]", name):
        yield ["--comm", name]
        yield ["--comm", name, "--prune"]
        yield ["--where", f"comm == '{name}' && cpumode in (USER, kernel)"]
    places = recording.run("script", "--no-symbols", "-G", "-F", "ip,dso", "-i", recording.path).out.decode("utf-8", "replace")
    names = re.findall(r"\(([^()\s,']+)\)$", places, re.M)
    if names:
        yield ["--dso", most_common(names)]
    if any(field.get("callchain") for field in fields):
        yield ["--where", "sample.callchain.count > 5 || sample.period & 1"]


def lines_of(recording, path, arguments):
    result = recording.run("script", "--no-symbols", "--ns", *arguments, "-i", path)
    if result.status not in FINE + (NOTHING, NO_SAMPLES):
        raise Wrong(f"script {arguments}: status {result.status}: {result.err[-200:]}")
    return result.out


def check_filters(recording):
    # values of counters are differences between samples: fewer samples, other differences
    attrs = [event["attr"] for event in common.events_of(recording.perfdata, recording.path)]
    differences = any(attr["sample_type"] & 16 for attr in attrs)
    count = 0
    for arguments in [] if differences else questions(recording):
        own = ["--no-symbols"] if "--dso" in arguments else []
        script = [word for word in arguments if word != "--prune"]
        wanted = lines_of(recording, recording.path, script)
        recording.make("filter", *arguments, *own)
        count += 1
        for again in ([], [] if "%" in str(script) else script):
            if lines_of(recording, recording.out, again) != wanted:
                raise Wrong(f"filter {arguments}: script {again} prints other lines")
    return count


# ---- sample, head, tail ----


def check_sample(recording):
    found = recording.kept("sample", f"1/{RATE}")
    events = collections.Counter()
    for line in recording.run("dump", "--json", "--type", "SAMPLE", recording.path).out.splitlines():
        events[json.loads(line).get("event")] += 1
    wanted = sum((count + RATE - 1 - RATE // 2) // RATE for event, count in events.items() if event)
    if "unknown-id" not in recording.problems and len(found) != wanted:
        raise Wrong(f"sample 1/{RATE}: {len(found)} samples, not {wanted}")
    same(recording.kept("sample", "1/1"), recording.samples, "sample 1/1")
    return 2


def check_ends(recording):
    order = sorted(range(len(recording.samples)), key=lambda at: (recording.samples[at][0], at))
    for count in (1, 7):
        same(recording.kept("head", "-n", str(count)), [recording.samples[at] for at in order[:count]], f"head {count}")
        same(recording.kept("tail", "-n", str(count)), [recording.samples[at] for at in order[-count:]], f"tail {count}")
    return 4


# ---- pipes ----


def check_pipes(recording):
    """From a pipe into a pipe, the same samples as from a file into a file."""
    if os.path.isdir(recording.path):
        return 0
    with open(recording.path, "rb") as f:
        data = f.read()
    steps = (["sample", f"1/{RATE}"], ["tail", "-n", "5"], ["filter", "--where", "size > 0 && type == SAMPLE"])
    for step in steps:
        wanted = recording.kept(*step)
        result = recording.run(*step, "-i", "-", "-o", "-", stdin=data)
        with open(recording.out, "wb") as f:
            f.write(result.out)
        if wanted:
            same(recording.samples_of(recording.out), wanted, f"{step[0]} through pipes")
    return len(steps)


CHECKS = (check_cuts, check_filters, check_sample, check_ends, check_pipes)


def check(perfdata, path, perf):
    """Number of what was held together, and what is wrong."""
    wrong, count = [], 0
    with tempfile.TemporaryDirectory(prefix="keep-") as folder:
        try:
            recording = Recording(perfdata, path, folder, perf)
        except Wrong as problem:
            return 0, [str(problem)]
        if not recording.samples:
            return 0, []
        for one in CHECKS:
            try:
                count += one(recording)
            except (Wrong, common.Unreadable) as problem:
                wrong.append(str(problem))
    return count, wrong


def files(arguments):
    """(name, path or row)"""
    if len(arguments.what) == 1 and os.path.exists(os.path.join(arguments.what[0], "manifest.tsv")):
        for row in common.rows(arguments.what[0])[:: arguments.every]:
            yield row["path"], row
        return
    if len(arguments.what) == 1 and not os.path.exists(arguments.what[0]):
        common.skip(f"no corpus at {arguments.what[0]}")
    for path in arguments.what:
        yield os.path.basename(path), path


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("perfdata")
    parser.add_argument("what", nargs="+")
    parser.add_argument("--only", default="")
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--perf", action="store_true")
    arguments = parser.parse_args()
    if arguments.perf and not shutil.which("perf"):
        common.skip("there is no perf")
    perfdata = os.path.abspath(arguments.perfdata)
    total = read = failed = 0
    for name, at in files(arguments):
        if arguments.only not in name:
            continue
        if isinstance(at, dict):
            with common.Unpacked(arguments.what[0], at) as path:
                count, wrong = check(perfdata, path, arguments.perf)
        else:
            count, wrong = check(perfdata, at, arguments.perf)
        total += count
        read += count > 0
        failed += bool(wrong)
        for problem in wrong:
            print(f"{name}: {problem}")
    print(f"{read} recordings, {total} steps, {failed} recordings differ")
    return 1 if failed or not read else 0


if __name__ == "__main__":
    sys.exit(main())
