#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What other formats say of a recording, imported: the same totals and functions, which perf reads, too.

usage: imports.py PERFDATA RECORDING... [--corpus CORPUS]

Each recording is exported to every format that can be imported, imported again, and exported to folded stacks: they are those of
the recording. perf report of the result has the same functions, where perf is installed. Exit status: 0 all agrees, 1 not.
"""

import argparse
import collections
import os
import re
import shutil
import subprocess
import sys
import tempfile

# of a corpus: call graphs, inlined functions, several threads, kernel
CORPUS = ("a-threads", "v-cpp", "arm64-callgraph-dwarf", "a-module", "sample-raw-bpf", "v-aio", "s390x-callgraph-fp", "switch-events", "i386-basic")
FORMATS = ("folded", "pprof", "speedscope")
FINE = (0, 1)
SHARE = re.compile(r"^ +(\d+\.\d\d)% .*?\[k\] (.*)$")


def run(*words):
    done = subprocess.run(words, capture_output=True, timeout=300)
    return done.returncode, done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace")


def stacks_of(text):
    """Values by stack. Brackets that folded stacks double are single."""
    found = collections.Counter()
    for line in text.splitlines():
        stack, _, value = line.rpartition(" ")
        # a thread without a name has its number, which formats write in ways of their own
        stack = re.sub(r"^:[^;]*", ":", stack.replace("[[", "[").replace("]]", "]"))
        found[stack] += int(value)
    return found


class Tester:
    def __init__(self, perfdata, folder):
        self.perfdata, self.folder, self.failures, self.counted = perfdata, folder, [], 0

    def imported(self, name, source, label):
        out = os.path.join(self.folder, "imported.data")
        code, _, said = run(self.perfdata, "import", "--from", name, "-o", out, source)
        if code != 0:
            self.failures.append(f"{label}: exit code {code}: {said.strip()}")
            return None
        code, said, _ = run(self.perfdata, "check", out)
        if code != 0:
            self.failures.append(f"{label}: {said.strip()[:200]}")
        return out

    def through(self, name, recording, label):
        source = os.path.join(self.folder, "exported")
        if run(self.perfdata, "export", "-q", "--to", name, "-o", source, recording)[0] not in FINE:
            return
        out = self.imported(name, source, label)
        if not out:
            return
        self.counted += 1
        expected, got = (stacks_of(run(self.perfdata, "folded", "-q", "--full-names", path)[1]) for path in (recording, out))
        if expected != got:
            missing, more = list((expected - got).items())[:2], list((got - expected).items())[:2]
            self.failures.append(f"{label}: stacks {missing} became {more}")
        self.read_by_perf(out, got, label)

    def read_by_perf(self, path, stacks, label):
        """Its own shares of functions are those of the stacks."""
        if not shutil.which("perf"):
            return
        code, text, said = run("perf", "report", "-i", path, "--stdio", "-g", "none", "--no-children", "-s", "sym", "--percent-limit", "0")
        if code != 0:
            self.failures.append(f"{label}: perf report: {said[:200]}")
            return
        own = collections.Counter()
        for stack, value in stacks.items():
            own[stack.rsplit(";", 1)[-1]] += value
        total = sum(own.values())
        shares = {m.group(2).strip().replace("[[", "[").replace("]]", "]"): float(m.group(1)) for m in map(SHARE.match, re.sub(r"(?m)^ +(\S+%) +(\[k\])", r"     \1  x \2", text).splitlines()) if m}
        for function, value in own.most_common(10):
            if abs(shares.get(function, 0) - 100 * value / total) > 0.011:
                self.failures.append(f"{label}: perf report: {function}: {shares.get(function)}, expected {100 * value / total:.2f}")
                return

    def script(self, recording, label):
        """The text of perf script, ours or perf's."""
        source = os.path.join(self.folder, "script.txt")
        code, text, _ = run(self.perfdata, "script", "-q", "-F", "comm,tid,cpu,time,period,event,ip,sym,dso", recording)
        if code not in FINE or not text:
            return
        with open(source, "w", encoding="utf-8", errors="replace") as f:
            f.write(text)
        out = self.imported("perf-script", source, f"{label}: perf-script")
        if not out:
            return
        self.counted += 1
        code, again, _ = run(self.perfdata, "script", "-q", out)
        expected, got = (re.findall(r"(?m)^ *(\S.*?)\s+(-?\d+) +(.*?) *(\d+\.\d+): +(\d+) +(\S+):", t) for t in (text, again))
        if len(expected) != len(got) or not got or any(a[:2] + a[3:] != b[:2] + b[3:] for a, b in zip(expected, got)):
            self.failures.append(f"{label}: perf-script: {len(expected)} samples became {len(got)}")
        frames = [re.findall(r"(?m)(?:^\t|: ) *[0-9a-f]+ (?!.*: +[0-9a-f]+ )(.*?)(?:\+0x[0-9a-f]+)? \(", t) for t in (text, again)]
        if frames[0] != frames[1]:
            self.failures.append(f"{label}: perf-script: frames differ: "
                                 f"{[pair for pair in zip(*frames) if pair[0] != pair[1]][:2] or [len(f) for f in frames]}")


def varint(number):
    number &= (1 << 64) - 1
    out = b""
    while number > 127:
        out, number = out + bytes([number & 127 | 128]), number >> 7
    return out + bytes([number])


def message(number, *parts):
    """A field with bytes, or with a message of numbers (field, value) and bytes."""
    body = b"".join(part if isinstance(part, bytes) else varint(part[0] << 3) + varint(part[1]) for part in parts)
    return varint(number << 3 | 2) + varint(len(body)) + body


def simpleperf(tester):
    """A report of simpleperf, written by its specification."""
    def entry(address, file, symbol):
        return message(3, (1, address), (2, file), (3, symbol))

    records = [
        message(1, (1, 1000), (2, 11), entry(16, 0, 1), entry(32, 0, 0), (4, 5), (5, 0)),
        message(1, (1, 2000), (2, 12), entry(48, 1, -1), entry(32, 0, 0), (4, 7), (5, 0)),
        message(3, (1, 0), message(2, b"/system/lib/libc.so"), message(3, b"main"), message(3, b"work(int)")),
        message(3, (1, 1), message(2, b"/data/app/lib.so")),
        message(4, (1, 11), (2, 10), message(3, b"demo")),
        message(4, (1, 12), (2, 10), message(3, b"two words")),
        message(5, message(1, b"cpu-cycles"), message(2, b"app")),
    ]
    source = os.path.join(tester.folder, "report")
    with open(source, "wb") as f:
        f.write(b"SIMPLEPERF\x01\x00" + b"".join(len(r).to_bytes(4, "little") + r for r in records) + bytes(4))
    out = tester.imported("simpleperf", source, "simpleperf")
    if not out:
        return
    tester.counted += 1
    code, text, _ = run(tester.perfdata, "folded", "-q", "--full-names", out)
    expected = ["demo;main;work(int) 5", "two_words;main;[lib.so] 7"]
    if code != 0 or text.splitlines() != expected:
        tester.failures.append(f"simpleperf: {text.splitlines()}, expected {expected}")


def negative_weights(tester):
    """Of differences: no sample has such a weight. What is no list of weights is an error."""
    profile = ('{"shared":{"frames":[{"name":"main"},{"name":"work"}]},"profiles":[{"type":"sampled","name":"x","unit":"none",'
               '"samples":[[0,1],[0],[0]],"weights":%s}]}')
    for weights, expected in (("[2, -1, 3]", ["x;main 3", "x;main;work 2"]), ('"none"', None), ("[2]", None)):
        source, out = os.path.join(tester.folder, "x.json"), os.path.join(tester.folder, "x.data")
        with open(source, "w", encoding="utf-8") as f:
            f.write(profile % weights)
        code, _, said = run(tester.perfdata, "import", "--from", "speedscope", "-o", out, source)
        text = run(tester.perfdata, "folded", "-q", "--full-names", out)[1].splitlines() if code in FINE else None
        tester.counted += 1
        if text != expected or (not expected and "no file of speedscope" not in said):
            tester.failures.append(f"speedscope: weights {weights}: {text} {said.strip()}, expected {expected}")


MOST = (1 << 64) - 1
LARGE = ((f"a;b {MOST}\n", None), (f"a;b {MOST + 1}\n", "line 1: its number does not fit into 64 bits"),
         (f"a;b {10 * MOST}\n", "line 1: its number does not fit into 64 bits"), (f"a;b {MOST - 1}\na;c 1\n", None),
         (f"a;b {MOST}\n#\na;c 1\n", "line 3: the numbers up to this one do not fit into 64 bits together"))


def large_numbers(tester):
    """Folded stacks whose numbers, or their sum, have more than 64 bits are refused, by the line; a graph leaves that line out."""
    source, out = os.path.join(tester.folder, "large.folded"), os.path.join(tester.folder, "large.data")
    for text, wrong in LARGE:
        with open(source, "w", encoding="utf-8") as f:
            f.write(text)
        tester.counted += 1
        code, _, said = run(tester.perfdata, "import", "--from", "folded", "-o", out, source)
        if code != (3 if wrong else 0) or (wrong or "") not in said:
            tester.failures.append(f"folded: {text!r}: exit code {code}: {said.strip()}, expected {wrong}")
        elif not wrong and run(tester.perfdata, "folded", "-q", out)[1] != text:
            tester.failures.append(f"folded: {text!r} became {run(tester.perfdata, 'folded', '-q', out)[1]!r}")
        code, _, said = run(tester.perfdata, "flame", "--folded", source, "--format", "svg", "-o", os.path.join(tester.folder, "large.svg"))
        if (wrong or "") not in said or bool(code) != bool(wrong):
            tester.failures.append(f"flame: {text!r}: exit code {code}: {said.strip()}, expected {wrong}")


def without_cpu(tester):
    """perf prints the CPU of samples that have none as -01."""
    text = "demo   310 [-01]  3839.241092:     250000 cpu-clock:      401010 work+0x10 (/bin/demo)\n"
    source = os.path.join(tester.folder, "script.txt")
    with open(source, "w", encoding="utf-8") as f:
        f.write(text)
    out = tester.imported("perf-script", source, "perf-script without a CPU")
    tester.counted += 1
    words = run(tester.perfdata, "script", "-q", "-F", "comm,tid,cpu,time,period,event", out)[1].split() if out else None
    if words != text.split()[:6]:
        tester.failures.append(f"perf-script without a CPU: {text.split()[:6]} became {words}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("perfdata")
    parser.add_argument("recordings", nargs="+")
    parser.add_argument("--corpus")
    args = parser.parse_args()
    paths = list(args.recordings)
    for name in CORPUS if args.corpus else ():
        path = os.path.join(args.corpus, "recorded", name + ".data")
        paths += [path] if os.path.exists(path) else []
    with tempfile.TemporaryDirectory() as folder:
        tester = Tester(os.path.abspath(args.perfdata), folder)
        simpleperf(tester)
        negative_weights(tester)
        large_numbers(tester)
        without_cpu(tester)
        for path in paths:
            code, text, _ = run(tester.perfdata, "export", "-q", "--to", "jsonl", path)
            # of several events folded stacks have the first one only
            if code not in FINE or len(set(re.findall(r'"event":"(.*?)"', text))) != 1:
                continue
            for name in FORMATS:
                tester.through(name, path, f"{os.path.basename(path)}: {name}")
            tester.script(path, os.path.basename(path))
    print("\n".join(tester.failures[:30]) or f"{tester.counted} imports have the stacks of their recordings")
    return 1 if tester.failures or not tester.counted else 0


if __name__ == "__main__":
    sys.exit(main())
