#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Traces of CTF that perfdata export writes, read back by what their own metadata say: all samples and records are there.

usage: ctf.py PERFDATA RECORDING... [--corpus DIR]

Every packet is read to its last bit, times of a stream never go back, and samples have the event, time, thread, CPU and address that
script has. Where babeltrace2 is, it reads the traces, too; and where perf is that can write them, both traces have the same events, but for
the CPU of records that are no samples (perf puts them all to CPU 0) and names that begin with _. Exit status: 0 all agrees, 1 not.
"""

import argparse
import collections
import json
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile

CORPUS = ("a-kmem", "a-uprobes", "a-script", "data-addr", "all-fields", "i386-tracepoints", "s390x-tracepoints", "ppc64le-tracepoints", "a-bpf",
          "a-systemwide", "arm64-hw-group", "per-thread", "group-s", "pipe-tracepoints")
INTEGER = re.compile(r"integer \{ size = (\d+); align = \d+; signed = (true|false);.*?\} (\w+)(?:\[(\w+)\])?;")
STRING = re.compile(r"string \{ encoding = UTF8; \} (\w+);")
EVENT = re.compile(r'event \{\n\tid = (\d+);\n\tname = "((?:[^"\\]|\\.)*)";\n\tstream_id = 0;\n\tfields := struct \{\n(.*?)\t\} align\(8\);\n\};', re.S)
HEAD = struct.Struct("<I16sIQQQQQI")
RECORDS = ("perf_comm", "perf_exit", "perf_fork", "perf_mmap", "perf_mmap2")


class Malformed(Exception):
    pass


def need(condition, why):
    if not condition:
        raise Malformed(why)


class Fields:
    """Fields of an event by its metadata."""

    def __init__(self, text):
        self.fields = []
        for line in text.splitlines():
            number, string = INTEGER.search(line), STRING.search(line)
            need(number or string, f"no field: {line!r}")
            if string:
                self.fields.append((string.group(1), None, None, None))
            else:
                size, signed, name, count = number.groups()
                self.fields.append((name, int(size) // 8, signed == "true", count))
        names = [field[0] for field in self.fields]
        need(len(set(names)) == len(names), f"a name twice: {names}")

    def read(self, data, at):
        values = {}
        for name, size, signed, count in self.fields:
            if size is None:
                end = data.index(b"\0", at)
                values[name] = data[at:end].decode("utf-8")
                at = end + 1
                continue
            items = 1 if count is None else int(count) if count.isdigit() else values[count]
            need(at + size * items <= len(data), f"{name} is cut off")
            numbers = [int.from_bytes(data[at + i * size:at + (i + 1) * size], "little", signed=signed) for i in range(items)]
            at += size * items
            values[name] = numbers[0] if count is None else numbers
        return values, at


class Trace:
    """Events of a folder: (name, time, CPU, fields), of each stream in order."""

    def __init__(self, folder):
        with open(os.path.join(folder, "metadata"), encoding="utf-8") as file:
            text = file.read()
        need(text.startswith("/* CTF 1.8 */\n"), "no metadata")
        self.uuid = bytes.fromhex(re.search('uuid = "([^"]*)"', text).group(1).replace("-", ""))
        self.kinds = {}
        for number, name, fields in EVENT.findall(text):
            need(int(number) not in self.kinds, f"event {number} twice")
            self.kinds[int(number)] = re.sub(r"\\(.)", r"\1", name), Fields(fields)
        need(text.count("event {") == len(self.kinds), "events that cannot be read")
        self.events = []
        for name in sorted(os.listdir(folder)):
            if name != "metadata":
                with open(os.path.join(folder, name), "rb") as file:
                    self.read_stream(file.read())

    def read_stream(self, data):
        last = at = 0
        need(data, "an empty stream")
        while at < len(data):
            magic, uuid, stream, begin, end, content, size, _, cpu = HEAD.unpack_from(data, at)
            need(magic == 0xc1fc1fc1 and uuid == self.uuid and not stream and content == size and size % 8 == 0, f"no packet at {at}")
            need(last <= begin <= end, "packets go back in time")
            packet, last = data[at:at + size // 8], begin
            need(len(packet) == size // 8, "a packet is cut off")
            inside = HEAD.size
            while inside < len(packet):
                number, time = struct.unpack_from("<IQ", packet, inside)
                need(begin <= last <= time <= end, f"time {time} after {last} in a packet from {begin} to {end}")
                name, fields = self.kinds[number]
                values, inside = fields.read(packet, inside + 12)
                self.events.append((name, time, cpu, values))
                last = time
            last = end
            at += size // 8


def export(perfdata, path, folder, *options):
    shutil.rmtree(folder, ignore_errors=True)
    return subprocess.run([perfdata, "export", "-q", "--to", "ctf", "--no-symbols", *options, "-o", folder, path], capture_output=True, timeout=120)


def read(perfdata, path, folder):
    done = export(perfdata, path, folder)
    need(done.returncode in (0, 1), f"exit code {done.returncode}: {done.stderr[:200]}")
    try:
        return Trace(folder)
    except (ValueError, KeyError, IndexError, struct.error, AttributeError) as error:
        raise Malformed(f"{type(error).__name__}: {error}") from error


def differences(perfdata, path, folder, samples):
    """What is wrong with the trace of a recording with so many samples."""
    try:
        found = sum(event[0] not in RECORDS for event in read(perfdata, path, folder).events)
    except Malformed as error:
        return [f"ctf: {os.path.basename(path)}: {error}"]
    return [f"ctf: {os.path.basename(path)}: {found} samples, expected {samples}"] if found != samples else []


def samples_of(perfdata, path):
    """Each sample as jsonl has it: event, time, thread, CPU and address."""
    lines = subprocess.run([perfdata, "export", "-q", "--to", "jsonl", "--no-symbols", path], capture_output=True, check=False).stdout.decode().splitlines()
    for sample in map(json.loads, lines):
        yield sample["event"], sample.get("time_ns"), sample.get("tid"), sample.get("cpu"), sample.get("ip")


def compare_samples(perfdata, path, trace):
    """The same number of each event; and the same samples, by what both have of them."""
    expected = list(samples_of(perfdata, path))
    ours = [event for event in trace.events if event[0] not in RECORDS]
    events = collections.Counter(event[0] for event in ours)
    if events != collections.Counter(sample[0] for sample in expected):
        yield f"events {dict(events)}, expected {dict(collections.Counter(sample[0] for sample in expected))}"
        return
    have = collections.Counter((name, time, values.get("perf_tid")) for name, time, _, values in ours if "perf_tid" in values)
    want = collections.Counter((event, time, tid) for event, time, tid, _, _ in expected if time is not None and tid is not None)
    if all(time is not None for _, time, _, _, _ in expected) and have != want and have:
        yield f"samples differ: {list((have - want).items())[:2]}, expected {list((want - have).items())[:2]}"


# ---- other readers ----

def babeltrace(folder):
    done = subprocess.run(["babeltrace2", folder], capture_output=True, text=True, errors="replace", check=False)
    if done.returncode:
        raise Malformed(f"babeltrace2: {done.stderr.strip()[:300]}")
    return done.stdout.splitlines()


def plain(line):
    """Without what perf does otherwise."""
    line = re.sub(r"\(\+\S+\) ", "", line)
    line = re.sub(r", perf_weight_struct = \w+", "", line)
    line = re.sub(r"(?<=[ {])_+(?=\w+ = )", "", line)
    return re.sub(r"( perf_(?:comm|fork|exit|mmap2?): \{ cpu_id = )\d+", r"\g<1>0", line)


def compare_with_perf(perfdata, path, folder):
    theirs = folder + ".perf"
    shutil.rmtree(theirs, ignore_errors=True)
    done = subprocess.run(["perf", "data", "convert", "--all", "--to-ctf", theirs, "-i", path], capture_output=True, check=False)
    if done.returncode or not os.path.exists(os.path.join(theirs, "metadata")):
        return False, []
    ours = sorted(map(plain, babeltrace(folder)))
    try:
        other = sorted(map(plain, babeltrace(theirs)))
    except Malformed:  # perf has -1 where there is no time
        return False, []
    if ours == other:
        return True, []
    pair = next((pair for pair in zip(ours, other) if pair[0] != pair[1]), (len(ours), len(other)))
    return True, [f"{os.path.basename(path)}: {pair[0]!r}, perf has {pair[1]!r}"]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("perfdata")
    parser.add_argument("recordings", nargs="+")
    parser.add_argument("--corpus")
    parser.add_argument("--perf", action="store_true", help="babeltrace2 and perf read and write them, too")
    args = parser.parse_args()
    paths = list(args.recordings)
    for name in CORPUS if args.corpus else ():
        path = os.path.join(args.corpus, "recorded", name + ".data")
        paths += [path] if os.path.exists(path) else []
    if args.perf and not (shutil.which("babeltrace2") and shutil.which("perf")):
        print("babeltrace2 or perf is not here")
        sys.exit(77)
    failures, counted, beside = [], 0, 0
    with tempfile.TemporaryDirectory() as scratch:
        folder = os.path.join(scratch, "trace")
        for path in paths:
            if export(args.perfdata, path, folder).returncode not in (0, 1):
                continue
            counted += 1
            try:
                failures += [f"{os.path.basename(path)}: {text}" for text in compare_samples(args.perfdata, path, read(args.perfdata, path, folder))]
                if args.perf:
                    compared, differ = compare_with_perf(args.perfdata, path, folder)
                    beside += compared
                    failures += differ
            except Malformed as error:
                failures.append(f"{os.path.basename(path)}: {error}")
    print("\n".join(failures[:40]) or f"{counted} traces have all samples" + (f", {beside} are those of perf" if args.perf else ""))
    sys.exit(1 if failures or not counted or (args.perf and not beside) else 0)


if __name__ == "__main__":
    main()
