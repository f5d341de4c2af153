#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What perfdata export writes, read back: well-formed, with the samples, the values and the functions of the recording.

usage: export.py PERFDATA RECORDING... [--corpus CORPUS]

Each format is read by formats.py. Values by event and function, alone and with what was called, are compared with the stacks of
perfdata folded, and with perfdata report for functions that have names. A recording is made whose samples are in code that
their chains leave out. Exit status: 0 all agrees, 1 not.
"""

import argparse
import collections
import json
import os
import re
import subprocess
import sys
import tempfile

import formats

# of a corpus: call graphs, several events, tracepoints, off-CPU time, several machines, losses, pipes
CORPUS = ("a-threads", "a-sched", "a-module", "a-switch", "a-throttle", "a-pipe", "arm64-callgraph-dwarf", "s390x-callgraph-fp",
          "tracepoints-callgraph", "v-cpp", "group-leader-sampling", "v-weight", "all-fields", "v-lost.data.zst", "v-aio", "sample-raw-bpf",
          "mips-pipe-tracepoints", "arm64-jit-injected", "callgraph-user", "v-callgraph-user", "zstd-pipe", "oddmap")
TOP = 50
# Functions of the kernel and of a program under the names that KSYMBOL gives; chains have callers of the program alone. Of the precise
# samples of the second event one is in another function than what interrupted it, one in the same, and one nowhere.
LEFT_OUT = """event {
	name: "cpu-clock:uu"
	ids: [7]
	type: software
	sample_period: 4000
	sample_type: IP|TID|TIME|PERIOD|CALLCHAIN|IDENTIFIER
	flags: mmap|comm|sample_id_all|exclude_callchain_kernel|ksymbol
}
event {
	name: "cycles:P"
	ids: [8]
	type: hardware
	sample_period: 4000
	sample_type: IP|TID|TIME|PERIOD|CALLCHAIN|IDENTIFIER
	flags: sample_id_all|precise_ip(2)
}
COMM pid: 42, tid: 42, comm: "work", sample_id: {time_ns: 1.0, identifier: 7}
MMAP misc: user, pid: 42, tid: 42, addr: 0x400000, len: 0x1000, pgoff: 0, filename: "/bin/work", sample_id: {time_ns: 1.1, identifier: 7}
"""
USER, KERNEL = "0xfffffffffffffe00", "0xffffffffffffff80"


def left_out(perfdata, folder):
    """That recording."""
    text = LEFT_OUT
    for i, name in enumerate(("page_fault", "clear_page", "do_exit")):
        text += (f'KSYMBOL misc: kernel, addr: {0xffffffffc0000000 + (i << 8):#x}, len: 0x100, ksym_type: bpf, flags: 0, name: "{name}", '
                 "sample_id: {time_ns: 1.2, identifier: 7}\n")
    samples = [("kernel", 0xffffffffc0000010, 7, 5, [USER, "0x400010", "0x400020"]), ("kernel", 0xffffffffc0000110, 7, 6, [USER, "0x400010"]),
               ("kernel", 0xffffffffc0000210, 7, 7, []), ("user", 0x400010, 7, 8, [USER, "0x400010", "0x400020"]),
               ("kernel", 0xffffffffc0000010, 8, 9, [KERNEL, "0xffffffffc0000120", "0xffffffffc0000220"]),
               ("kernel", 0xffffffffc0000010, 8, 10, [KERNEL, "0xffffffffc0000020", "0xffffffffc0000220", USER, "0x400010"]),
               ("user", 0, 8, 11, [USER, "0x400010", "0x400020"])]
    for i, (misc, ip, number, period, chain) in enumerate(samples):
        text += (f"SAMPLE misc: {misc}, identifier: {number}, ip: {ip:#x}, pid: 42, tid: 42, time_ns: 2.{i}, period: {period}, "
                 f"callchain: [{', '.join(chain)}]\n")
    path = os.path.join(folder, "left-out.data")
    subprocess.run([perfdata, "assemble", "-o", path], input=text.encode(), check=True)
    return path


def run(words):
    done = subprocess.run(words, capture_output=True)
    return done.returncode, done.stdout, done.stderr.decode(errors="replace")


def plain(name):
    """As folded stacks write it: without quotes and what has a meaning there, and a question mark for what cannot be shown."""
    name = name.replace("\ufffd", "?").replace('"', "").replace("'", "")
    return name.replace(";", ":").replace("[[", "[").replace("]]", "]")


class Sums:
    """Values by event and function."""

    def __init__(self):
        self.total, self.own, self.all = collections.Counter(), collections.Counter(), collections.Counter()

    def add(self, event, frames, value):
        names = [plain(name) for name in frames]
        self.total[event] += value
        self.own[event, names[-1]] += value
        for name in set(names):
            self.all[event, name] += value

    def differences(self, other):
        for what, ours, theirs in (("total", self.total, other.total), ("self", self.own, other.own), ("with callees", self.all, other.all)):
            for key, value in theirs.most_common(TOP):
                if ours[key] != value:
                    yield f"{what} {key}: {ours[key]}, expected {value}"
            for key, value in ours.most_common(TOP):
                if theirs[key] != value:
                    yield f"{what} {key}: {value}, expected {theirs[key]}"


def folded_sums(perfdata, path, options):
    code, out, _ = run([perfdata, "folded", "--full-names", *options, path])
    sums = Sums()
    events = set()
    for line in out.decode().splitlines():
        stack, _, value = line.rpartition(" ")
        names = stack.split(";")
        events.add(names[0])
        sums.add(None, names[1:], int(value))
    return code, sums


def report_tables(perfdata, path, options):
    code, out, _ = run([perfdata, "report", "--json", "-g", "none", "--no-branch-stack", "--no-group", "-s", "sym", *options, path])
    return json.loads(out)["tables"] if code in (0, 1) and out else []


def report_sums(perfdata, path, options, by_event, unit=None):
    """What report has of each function that has a name, in one unit or that of each event. Names of several rows have no sum with callees:
    a stack may have both. Of a pipe report, as perf, has no sums with callees."""
    sums = Sums()
    for table in report_tables(perfdata, path, ["--children", *options]):
        event = table["events"][0]
        name, kind = event["event"] if by_event else None, unit or event["unit"]
        seen = collections.Counter()
        if event["samples"]:
            sums.total[name] += value_of(event, kind)
        with_callees = any("children_period" in row["amounts"][0] or "children_samples" in row["amounts"][0] for row in table["rows"])
        for row in table["rows"]:
            symbol = name, plain(row["symbol"])
            if re.fullmatch("0x[0-9a-f]+|[0-9a-f]{16}", row["symbol"]):
                continue
            seen[symbol] += 1
            sums.own[symbol] += value_of(row["amounts"][0], kind)
            sums.all[symbol] += value_of(row["amounts"][0], kind, "children_") if with_callees else 0
        for symbol, rows in seen.items():
            if rows > 1:
                sums.all[symbol] = 0
    return sums


def report_differences(expected, sums):
    """Of what report has, in the order of its size."""
    for what, ours, theirs in (("total", sums.total, expected.total), ("self", sums.own, expected.own), ("with callees", sums.all, expected.all)):
        for key, value in theirs.most_common(TOP):
            if value and ours[key] != value:
                yield f"report: {what} {key}: {ours[key]}, expected {value}"


def value_of(amounts, unit, which=""):
    """Where nothing has callees there is what is without."""
    name = "samples" if unit == "samples" else "period"
    return amounts.get(which + name, amounts[name])


def chain_differences(perfdata, path, stacks):
    """Of perf's layout, which has chains alone: without where a sample was taken, unless they begin there."""
    lines = run([perfdata, "export", "-q", "--to", "jsonl", "--no-inline", "--unwind=no", path])[1].decode().splitlines()
    wholes = [[frame.get("function", "?") for frame in reversed(json.loads(line)["stack"])] for line in lines]
    chains = [stack.frames for stack in stacks]
    if chains == wholes:
        expected = report_sums(perfdata, path, ["--no-inline", "--unwind=no"], False, "samples")
        yield from report_differences(expected, sums_of(stacks, False))
    for number, (chain, whole) in enumerate(zip(chains, wholes)):
        if chain not in (whole, whole[:-1]):
            yield f"chain {number}: {chain}, expected {whole}"


def more_differences(perfdata, name, path, stacks, tables):
    """What a format has besides stacks: counters of events that are no time, and each tracepoint once."""
    if name == "firefox":
        for event in (table["events"][0] for table in tables if table["events"][0]["unit"] != "ns"):
            if stacks.counters[event["event"]] != value_of(event, event["unit"]):
                yield f"counter {event['event']}: {stacks.counters[event['event']]}, expected {value_of(event, event['unit'])}"
    if name == "perfetto":
        samples = map(json.loads, run([perfdata, "export", "-q", "--to", "jsonl", path])[1].decode().splitlines())
        expected = collections.Counter(sample["event"] for sample in samples if "trace" in sample)
        if stacks.switches + stacks.instants != expected or set(stacks.switches) & set(stacks.instants):
            yield f"tracepoints {stacks.switches} {stacks.instants}, expected {expected}"


def read_back(perfdata, name, path, options):
    """The stacks of an export; None and why if there is none."""
    code, out, said = run([perfdata, "export", "--to", name, *options, path])
    if code not in (0, 1):
        return None, f"exit code {code}: {said.strip()}"
    again = run([perfdata, "export", "--to", name, *options, path])[1]
    if again != out:
        return None, "two exports differ"
    try:
        return formats.read(name, out), said
    except formats.Malformed as error:
        return None, f"malformed: {error}"


def word(name):
    """An event as callgrind has it."""
    return re.sub("[^A-Za-z0-9]", "_", name)


def sums_of(stacks, with_events, tables=()):
    sums = Sums()
    if isinstance(stacks, formats.Callgrind):
        names = {word(table["events"][0]["event"]): table["events"][0]["event"] for table in tables}
        for event in stacks.events:
            name = names.get(event) if with_events else None
            sums.total[name] = stacks.total[event]
            for ours, theirs in ((sums.own, stacks.own), (sums.all, stacks.all)):
                ours.update({(name, plain(function)): value for (e, function), value in theirs.items() if e == event})
        return sums
    for stack in stacks:
        sums.add(stack.event if with_events else None, stack.frames, stack.value)
    return sums


def judge(perfdata, name, path, failures):
    """One format of one recording."""
    before = len(failures)
    if name in formats.FROM_BRANCHES:
        code, _, said = run([perfdata, "export", "--to", name, path])
        if code != 5 or "branch" not in said:
            failures.append(f"{name}: {os.path.basename(path)}: exit code {code} without branch stacks: {said.strip()}")
        return
    stacks, said = read_back(perfdata, name, path, [])
    label = f"{name}: {os.path.basename(path)}"
    if stacks is None:
        failures.append(f"{label}: {said}")
        return
    if name in formats.OF_RECORDS:
        return
    tables = [table for table in report_tables(perfdata, path, []) if table["events"][0]["samples"]]
    failures += [f"{label}: {text}" for text in more_differences(perfdata, name, path, stacks, tables)]
    if name in formats.WITHOUT_VALUES:
        samples = sum(table["events"][0]["samples"] for table in tables)
        failures += [f"{label}: {len(stacks)} samples, expected {samples}"] if len(stacks) != samples else []
        failures += [f"{label}: {text}" for text in chain_differences(perfdata, path, stacks)]
        del failures[before + 5:]
        return
    if len(tables) == 1:
        code, expected = folded_sums(perfdata, path, [])
        failures += [f"{label}: {text}" for text in sums_of(stacks, False).differences(expected)]
    stacks, said = read_back(perfdata, name, path, ["--no-inline"])
    if stacks is None:
        failures.append(f"{label}: {said}")
    elif name != "folded":
        by_event = len(tables) > 1
        expected = report_sums(perfdata, path, ["--no-inline"], by_event)
        failures += [f"{label}: {text}" for text in report_differences(expected, sums_of(stacks, by_event, tables))]
    del failures[before + 5:]


def all_formats(perfdata):
    """As the program names them itself."""
    said = run([perfdata, "export"])[2].splitlines()[1:]
    names = [line.split(":", 1)[1].split()[0] for line in said]
    return [name for name in names if name not in formats.IN_FOLDERS]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("perfdata")
    parser.add_argument("recordings", nargs="+")
    parser.add_argument("--corpus")
    parser.add_argument("--format", action="append")
    args = parser.parse_args()
    names = args.format or all_formats(args.perfdata)
    failures = [f"formats.py does not read {name}" for name in names if name not in formats.READERS]
    paths = list(args.recordings)
    for name in CORPUS if args.corpus else ():
        path = os.path.join(args.corpus, "recorded", name if "." in name else name + ".data")
        paths += [path] if os.path.exists(path) else []
    counted = 0
    with tempfile.TemporaryDirectory(prefix="perfdata-export-") as folder:
        for path in [*paths, left_out(args.perfdata, folder)]:
            if run([args.perfdata, "export", "--to", "jsonl", path])[0] not in (0, 1):
                continue
            for name in names:
                if name in formats.READERS:
                    judge(args.perfdata, name, path, failures)
                    counted += 1
    print("\n".join(failures[:100]) or f"{counted} exports of {len(names)} formats agree with their recordings")
    return 1 if failures or not counted else 0


if __name__ == "__main__":
    sys.exit(main())
