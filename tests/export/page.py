#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Sums of the page's columns against perfdata report: by event and function, of its own and with all it called.

usage: page.py PERFDATA RECORDING... [--corpus CORPUS]

Inlined functions are merged into their callers, as a page does it that hides them. Also for a part of the time and for one CPU,
selected in the columns here and by options there. Exit status: 0 all agrees, 1 not.
"""

import argparse
import collections
import json
import os
import re
import struct
import subprocess
import sys
import tempfile

import page_format

# of a corpus: call graphs, several events, tracepoints, several machines, losses
CORPUS = ("a-threads", "a-sched", "a-module", "a-switch", "a-throttle", "arm64-callgraph-dwarf", "s390x-callgraph-fp",
          "tracepoints-callgraph", "v-cpp", "group-leader-sampling", "v-weight", "all-fields")
MARK = "[truncated]"  # stands for callers that are not known


def run(*words):
    return subprocess.run(words, capture_output=True, check=False).stdout


def said(finding):
    """What page and doctor must both say of it."""
    objects = [(one["name"], one["samples"], one["command"]) for one in finding["objects"]]
    return finding["code"], finding["severity"], finding["count"], finding["total"], objects, finding["more_objects"]


class Sums:
    """Samples by function: its own, and all of which it is a caller."""

    def __init__(self):
        self.own, self.all, self.total = collections.Counter(), collections.Counter(), 0


def merged(page, row):
    """Functions of a row's stack, without inlined ones, as (object, name), outermost first."""
    strings, found = page.of("strings"), []
    for function, inlined in page.stack(row):
        if not inlined and page.name(function) == MARK:
            continue
        if not inlined and page.of("functions.known")[function]:
            found.append((strings[page.of("objects.name")[page.of("functions.object")[function]]], page.name(function)))
        elif not inlined:
            found.append(None)
    return found


def sums_of_page(page, event, wanted):
    sums, stacks = Sums(), {}
    for sample in page.samples(event):
        if not wanted(sample):
            continue
        row = sample[4]
        if row not in stacks:
            stacks[row] = merged(page, row) if row is not None else []
        sums.total += 1
        if stacks[row] and stacks[row][-1]:
            sums.own[stacks[row][-1]] += 1
        for function in set(stacks[row]) - {None}:
            sums.all[function] += 1
    return sums


def sums_of_report(table):
    sums = Sums()
    sums.total = table["events"][0]["samples"]
    for row in table["rows"]:
        # an address without a function
        if re.fullmatch("(0x)?[0-9a-f]{16}", row["symbol"]):
            continue
        amounts = row["amounts"][0]
        sums.own[row["dso"], row["symbol"]] += amounts["samples"]
        sums.all[row["dso"], row["symbol"]] += amounts.get("children_samples", 0)
    return sums


class Test:
    def __init__(self, perfdata):
        self.perfdata, self.count, self.wrong = perfdata, 0, 0

    def compare(self, label, ours, theirs, has_callers):
        for what, a, b in (("own", ours.own, theirs.own), *((("all", ours.all, theirs.all),) if has_callers else ())):
            different = [key for key in set(a) | set(b) if a[key] != b[key]]
            self.count += len(set(a) | set(b))
            if different or ours.total != theirs.total:
                self.wrong += 1
                key = different[0] if different else "total"
                print(f"{label}: {len(different)} functions differ in {what}: {key}: {a[key]}, expected {b[key]}; "
                      f"samples {ours.total}, expected {theirs.total}")

    def test_selected(self, path, page, wanted, *options):
        text = run(self.perfdata, "report", "-q", "--json", "-g", "none", "--sort", "dso,sym", *options, path)
        if not text:
            return
        for table in json.loads(text)["tables"]:
            name = table["events"][0]["event"]
            numbers = [i for i, event in enumerate(page.header["events"]) if event["name"] == name]
            if len(table["events"]) > 1 or len(numbers) > 1 or not table["events"][0]["samples"]:
                continue
            has_callers = any("children_samples" in row["amounts"][0] for row in table["rows"])
            self.compare(f"{os.path.basename(path)} {name} {' '.join(options)}", sums_of_page(page, numbers[0], wanted),
                         sums_of_report(table), has_callers)

    def test_file(self, path):
        data = run(self.perfdata, "export", "-q", "--to", "page", path)
        if not data:
            return
        page = page_format.Page(data)
        self.test_findings(path, page)
        self.test_selected(path, page, lambda sample: True)
        if page.header["time"]["known"]:
            start, length = int(page.header["time"]["start"]), int(page.header["time"]["end"]) - int(page.header["time"]["start"])
            first, last = length // 4, length // 2
            times = ",".join(f"{(start + at) // 10**9}.{(start + at) % 10**9:09}" for at in (first, last))
            self.test_selected(path, page, lambda sample: first <= sample[0] <= last, "--time", times)
        cpus = {sample[2] for event, _ in enumerate(page.header["events"]) for sample in page.samples(event)} - {None}
        for cpu in sorted(cpus)[:1]:
            self.test_selected(path, page, lambda sample: sample[2] == cpu, "--cpu", str(cpu))


    def test_findings(self, path, page):
        """What the doctor finds of all of the recording."""
        found = [said(one) for one in page.header["findings"]]
        text = run(self.perfdata, "doctor", "--json", "-q", "-i", path)
        wanted = [said(one) for one in json.loads(text or "{}").get("findings", [])]
        self.count += 1
        if found != wanted:
            self.wrong += 1
            print(f"{path}: findings of the page {found}, of the doctor {wanted}")

    def test_damage(self, path):
        """A file that ends too early is read several times, but its damage is told and counted once."""
        with tempfile.NamedTemporaryFile(suffix=".data") as cut:
            with open(path, "rb") as whole:
                cut.write(whole.read()[:-100])
            cut.flush()
            out = subprocess.run((self.perfdata, "export", "--to", "page", cut.name), capture_output=True, check=False)
            told = [line for line in out.stderr.decode().splitlines() if ": damage:" in line]
            findings = page_format.Page(out.stdout).header["findings"]
            found = [finding["count"] for finding in findings if finding["code"] == "damaged"]
            self.count += 1
            if not told or len(told) != len(set(told)) or found != [len(told)]:
                self.wrong += 1
                print(f"{path} without its end: {len(told)} problems told, {len(set(told))} different, the doctor counts {found}")

    def test_processors(self, folder):
        """A number that no CPU has is that of an unknown one: pages have a place for each CPU up to the largest."""
        fields = 1 | 2 | 4 | 128 | 256  # IP, TID, TIME, CPU, PERIOD
        attr = struct.pack("<IIQQQQQ", 1, 112, 0, 1000000, fields, 0, 0).ljust(128, b"\0")
        given = [0, 1, 65535, 65536, 0x7fffffff, 0x80000000, 0xfffffffe, 0xffffffff]
        data = b"".join(struct.pack("<IHHQIIQIIQ", 9, 2, 48, 0x400000, 7, 7, 1000 + at, cpu, 0, 1) for at, cpu in enumerate(given))
        sizes = 104, len(attr), 104, len(attr), 104 + len(attr), len(data), 0, 0
        path = os.path.join(folder, "processors.data")
        with open(path, "wb") as file:
            file.write(struct.pack("<8s8Q", b"PERFILE2", *sizes).ljust(104, b"\0") + attr + data)
        out = subprocess.run([self.perfdata, "export", "-q", "--to", "page", path], capture_output=True, check=True).stdout
        wanted = [cpu + 1 if cpu < 65536 else 0 for cpu in given]
        self.count += 1
        if page_format.Page(out).of("samples.0.cpu") != wanted:
            self.wrong += 1
            print(f"CPUs {given} are {page_format.Page(out).of('samples.0.cpu')} in a page, which is not {wanted}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("perfdata")
    parser.add_argument("recordings", nargs="+")
    parser.add_argument("--corpus")
    arguments = parser.parse_args()
    paths = list(arguments.recordings)
    for folder, _, names in os.walk(arguments.corpus or ""):
        paths += [os.path.join(folder, name) for name in sorted(names)
                  if name.endswith(".data") and name.removesuffix(".data") in CORPUS]
    test = Test(os.path.abspath(arguments.perfdata))
    for path in paths:
        test.test_file(path)
        if path.endswith("-pipe.data"):
            test.test_damage(path)
    with tempfile.TemporaryDirectory() as folder:
        test.test_processors(folder)
    print(f"{len(paths)} recordings, {test.count} sums, {test.wrong} wrong")
    return 1 if test.wrong or not test.count else 0


if __name__ == "__main__":
    sys.exit(main())
