#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Counts the samples that other programs read in files by every command that writes one.

usage: readers.py PERFDATA RECORDING [--keep FOLDER] [--table] [--corpus CORPUS] [--only READERS]

Each command writes a file from RECORDING; each reader that is here reads it. Where the reader takes the form of the file
("limits" of a reader say where not), the samples that it reads must be as many as were written; `convert --for READER` must always
be read. Recordings of a corpus by newer perfs, which the perf of this machine refuses, must be read after `convert
--for`. --table prints the page docs/readers.md.

Readers that are not here are named on a line that says how to have them:
  perf          the perf of the machine; perf-7 another one: PERFDATA_PERF7=ROOT, a Debian of that version (debootstrap sid ROOT,
                with linux-perf in it), read by chroot
  quipper       perf_converter of google/perf_data_converter in PATH, or in PERFDATA_QUIPPER=FOLDER; or built into
                --keep FOLDER by ../shared/readers/build-quipper where that is (needs protobuf-compiler, libprotobuf-dev, libabsl-dev)
  hotspot       Debian's package hotspot (its hotspot-perfparser)
  samply        crate samply in PATH, or in PERFDATA_SAMPLY=PROGRAM
  perf2bolt     Debian's package bolt-16 or later, with perfdata as perf: tests/readers/bolt.py

Exit status: 0 all that, 1 not, 77 no reader at all.
"""

import argparse
import collections
import glob
import json
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
SHARED = os.path.join(HERE, "..", "..", "..", "shared")
SKIPPED = 77


def run(words, **more):
    return subprocess.run(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False, **more)


# ---- readers: each returns the samples that it read, or None if it refused ----

# "limits" are the forms that a reader does not take, which is no error of the file: zstd, zstd2, directory, big, pipe

class Perf:
    name, consumer = "perf", "perf-6.1"
    how = "package linux-perf"
    limits = set()

    def __init__(self, _):
        self.words = ["perf"] if shutil.which("perf") else None
        if self.words:
            version = run(["perf", "--version"]).stdout.decode().split()[-1]
            self.name = "perf " + ".".join(version.split(".")[:2])
            number = tuple(int(part) for part in re.findall(r"\d+", version)[:2])
            if number < (6, 1):
                self.words = None
            if number < (6, 16):
                self.limits = {"zstd2"}

    def place(self, path):
        return path

    def __call__(self, path):
        done = run([*self.words, "report", "-f", "--stats", "-i", self.place(path)])
        found = re.search(rb"SAMPLE events: *(\d+)", done.stdout)
        return int(found[1]) if found and not done.returncode else None


class Perf7(Perf):
    name, consumer = "perf 7", "perf-7.2"
    how = "PERFDATA_PERF7=ROOT with a Debian of that version"

    def __init__(self, _):
        self.root = os.environ.get("PERFDATA_PERF7")
        self.words = ["chroot", self.root, "perf"] if self.root and os.geteuid() == 0 else None

    def place(self, path):
        """A copy in the root."""
        copy = os.path.join(self.root, "tmp", "perfdata-readers")
        if os.path.isdir(copy):
            shutil.rmtree(copy)
        elif os.path.exists(copy):
            os.remove(copy)
        (shutil.copytree if os.path.isdir(path) else shutil.copy)(path, copy)
        return "/tmp/perfdata-readers"


class Quipper:
    name = consumer = "quipper"
    how = "perf_converter in PATH or PERFDATA_QUIPPER, or packages protobuf-compiler libprotobuf-dev libabsl-dev beside ../shared"
    limits = {"zstd", "zstd2", "directory", "big"}

    def __init__(self, args):
        folder = os.environ.get("PERFDATA_QUIPPER", "")
        script = os.path.join(SHARED, "readers", "build-quipper")
        self.words = shutil.which("perf_converter", path=folder or None)
        if not self.words and not folder and args.keep and os.path.exists(script) and shutil.which("protoc"):
            run([script, os.path.join(args.keep, "quipper")])
            self.words = shutil.which("perf_converter", path=os.path.join(args.keep, "quipper"))

    def __call__(self, path):
        out = os.path.join(os.path.dirname(path), "quipper.text")
        done = run([self.words, "-i", path, "-I", "perf", "-o", out, "-O", "text"])
        if done.returncode:
            return None
        with open(out, encoding="utf-8", errors="replace") as text:
            return sum(line.count("sample_event {") for line in text)


class Hotspot:
    name = consumer = "hotspot"
    how = "package hotspot"
    limits = {"zstd", "zstd2", "directory"}
    SAMPLES = (13, 14)  # kinds of messages: samples, and those of tracepoints

    def __init__(self, _):
        found = glob.glob("/usr/lib/*/libexec/hotspot-perfparser")
        self.words = shutil.which("hotspot-perfparser") or (found[0] if found else None)

    def __call__(self, path):
        out = os.path.join(os.path.dirname(path), "hotspot.out")
        if run([self.words, "--input", path, "--output", out]).returncode:
            return None
        with open(out, "rb") as stream:
            data = stream.read()
        at, count = data.find(b"QPERFSTREAM") + 16, 0
        while 16 <= at <= len(data) - 5:
            count += data[at + 4] in self.SAMPLES
            at += 4 + struct.unpack_from("<I", data, at)[0]
        return count


class Samply:
    name = consumer = "samply"
    how = "crate samply: cargo install samply"
    limits = {"zstd", "zstd2", "directory", "big", "pipe"}

    def __init__(self, _):
        self.words = os.environ.get("PERFDATA_SAMPLY") or shutil.which("samply")

    def __call__(self, path):
        out = os.path.join(os.path.dirname(path), "samply.json")
        if os.path.exists(out):
            os.remove(out)
        done = run([self.words, "import", path, "--save-only", "-o", out])
        if done.returncode or not os.path.exists(out):
            return None
        with open(out, encoding="utf-8") as text:
            return sum(thread["samples"]["length"] for thread in json.load(text)["threads"])


READERS = (Perf, Perf7, Quipper, Hotspot, Samply)

# ---- commands that write ----

class Writer:
    """Writes files by commands; each has a label, a path and its forms."""

    def __init__(self, perfdata, recording, folder):
        self.perfdata, self.recording, self.folder = perfdata, recording, folder
        self.files = []

    def path(self, name):
        return os.path.join(self.folder, name)

    def run(self, *words, **more):
        done = run([self.perfdata, *words], **more)
        if done.returncode not in (0, 1):
            sys.exit(f"{' '.join(words)}: exit status {done.returncode}: {done.stderr.decode(errors='replace')}")
        return done.stdout

    def add(self, label, *words, forms=(), path=None):
        path = path or self.path(re.sub(r"\W+", "-", label) + ".data")
        self.run(*[path if word == "OUT" else word for word in words])
        self.files.append((label, path, set(forms)))

    def piece(self, label, path):
        self.files.append((label, path, set()))

    def write(self):
        source = self.recording
        self.add("convert", "convert", "-o", "OUT", source)
        self.add("convert -z", "convert", "-z", "-o", "OUT", source, forms=["zstd"])
        self.add("convert --compress2", "convert", "--compress2", "-o", "OUT", source, forms=["zstd2"])
        self.add("convert --to pipe", "convert", "--to", "pipe", "-o", "OUT", source, forms=["pipe"])
        self.add("convert --to dir", "convert", "--to", "dir", "-o", "OUT", source, forms=["directory"])
        self.add("convert --byte-order big", "convert", "--byte-order", "big", "-o", "OUT", source, forms=["big"])
        self.add("convert --sort", "convert", "--sort", "-o", "OUT", source)
        self.add("inject", "inject", "-q", "-b", "-o", "OUT", source)
        self.add("merge", "merge", "-q", "--machines", "different", "-o", "OUT", source, source)
        self.add("cut", "cut", "-q", "--time", "10%-60%", "-o", "OUT", source)
        self.add("filter", "filter", "-q", "--where", "ip > 0xffffffff", "-o", "OUT", source)
        self.add("sample", "sample", "-q", "1/3", "-o", "OUT", source)
        self.add("head", "head", "-q", "-n", "20", "-o", "OUT", source)
        self.add("tail", "tail", "-q", "-n", "20", "-o", "OUT", source)
        self.add("scrub", "scrub", "-q", "-o", "OUT", source)
        self.run("split", "-q", "--by", "time=6ms", "-o", self.path("pieces"), source)
        pieces = sorted(glob.glob(self.path("pieces/*.data")))
        self.piece("split", pieces[0])
        self.unfinished()
        self.texts()
        self.bundle()
        self.records()

    def unfinished(self):
        """As a recorder leaves it that was killed: no features, the end torn off."""
        cut = self.path("cut")
        with open(self.recording, "rb") as whole, open(cut, "wb") as part:
            part.write(whole.read(8000))
        self.add("repair", "repair", "-q", "-o", "OUT", cut)

    def texts(self):
        text = self.path("text")
        with open(text, "wb") as out:
            out.write(self.run("text", self.recording))
        self.add("assemble", "assemble", "-o", "OUT", text)

    def bundle(self):
        bundle, folder = self.path("bundle.tar"), self.path("unpacked")
        self.run("pack", "-q", "-o", bundle, self.recording)
        self.run("unpack", "-q", "-o", folder, bundle)
        found = [path for path in glob.glob(os.path.join(folder, "**", "*"), recursive=True)
                 if os.path.isfile(path) and open(path, "rb").read(8) == b"PERFILE2"]
        self.piece("unpack", found[0])

    def records(self):
        path = self.path("record.data")
        loop = "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done"
        done = run([self.perfdata, "record", "-q", "-e", "cpu-clock:u", "-o", path, "--", "sh", "-c", loop])
        if done.returncode:
            print(f"record: skipped, this machine does not allow it: {done.stderr.decode(errors='replace').strip()[:100]}")
            return
        self.files.append(("record", path, set()))

    def samples(self, path):
        # no such record: another exit status
        return run([self.perfdata, "dump", "-q", "--type", "SAMPLE", "--json", path]).stdout.count(b"\n")


# ---- all ----

def judge(reader, label, path, forms, count, failures):
    """The cell of the table; notes what must not be."""
    read = reader(path)
    if not forms & reader.limits and read != count:
        failures.append(f"{label}: {reader.name} reads {read} of {count} samples")
    return "refuses" if read is None else f"{read} of {count}" if read != count else "all"


def for_readers(writer, readers, failures):
    """Files that are made for a reader, from one that has all that is hard."""
    hard = writer.path("hard.data")
    writer.run("convert", "--compress2", "--byte-order", "little", "-o", hard, writer.recording)
    cells = {}
    for reader in readers:
        path = writer.path(f"for-{reader.consumer}.data")
        writer.run("convert", "-q", "--for", reader.consumer, "-o", path, hard)
        cells[reader.name] = judge(reader, f"convert --for {reader.consumer}", path, set(), writer.samples(path), failures)
    return cells


def newer(writer, readers, corpus, failures):
    """Recordings by perf 7 for the perf of this machine, and for quipper what that can read of them."""
    perf = [reader for reader in readers if reader.consumer == "perf-6.1"]
    opened = collections.Counter()
    for path in sorted(glob.glob(os.path.join(corpus, "recorded", "n*-*.data"))) if perf else ():
        count = writer.samples(path)
        if not count:
            continue
        out = writer.path("older.data")
        writer.run("convert", "-q", "--for", "perf-6.1", "-o", out, path)
        opened["recordings"] += 1
        opened["before"] += perf[0](path) == count
        read = perf[0](out)
        opened["after"] += read == count
        if read != count:
            failures.append(f"{os.path.basename(path)} --for perf-6.1: {read} of {count} samples")
    return opened


HEAD = """# Which programs read what perfdata writes

Made by `tests/readers/readers.py --table`, which is also the test `./test readers`: every command that writes wrote a file from one recording,
and every reader read it. *all*: as many samples as were written. A reader that does not take a form refuses it, or reads
no sample: these cells are no failure, and `convert --for READER` (last line) writes what it reads.
`perfdata convert --for help` lists the readers that it knows, some of which are not tested here.

Only samples are counted. Of big-endian files quipper misreads event types and header features, and samply threads: for both, `--for` writes
little-endian files.
"""


def print_table(readers, rows):
    print(HEAD)
    print("| command | " + " | ".join(reader.name for reader in readers) + " |")
    print("| --- |" + " --- |" * len(readers))
    for label, cells in rows:
        print(f"| `{label}` | " + " | ".join(cells[reader.name] for reader in readers) + " |")


def find_readers(args):
    readers = []
    for kind in READERS:
        reader = kind(args)
        if args.only and reader.consumer not in args.only.split(","):
            continue
        if reader.words:
            readers.append(reader)
        elif not args.table:
            print(f"{reader.name}: skipped, not here ({reader.how})")
    return readers


def main():
    parser = argparse.ArgumentParser(add_help=True)
    parser.add_argument("perfdata", type=os.path.abspath)
    parser.add_argument("recording", type=os.path.abspath)
    parser.add_argument("--keep")
    parser.add_argument("--table", action="store_true")
    parser.add_argument("--corpus")
    parser.add_argument("--only")
    args = parser.parse_args()
    readers = find_readers(args)
    if not readers:
        return SKIPPED
    failures, rows = [], []
    with tempfile.TemporaryDirectory(prefix="perfdata-readers-") as folder:
        writer = Writer(args.perfdata, args.recording, folder)
        writer.write()
        for label, path, forms in writer.files:
            count = writer.samples(path)
            if not count:
                failures.append(f"{label}: wrote no sample")
            rows.append((label, {reader.name: judge(reader, label, path, forms, count, failures) for reader in readers}))
        rows.append(("convert --for READER", for_readers(writer, readers, failures)))
        opened = newer(writer, readers, args.corpus, failures) if args.corpus and os.path.isdir(args.corpus) else {}
    print_table(readers, rows)
    if opened:
        print(f"\nRecordings by perf 7.2 with samples: {opened['recordings']}. The perf above reads all samples of {opened['before']} as they "
              f"are, and of {opened['after']} after `convert --for perf-6.1`.")
    for failure in failures:
        print(f"FAIL {failure}", file=sys.stderr)
    return 1 if failures else 0


sys.exit(main())
