#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Jitdumps made by hand, with recordings that map them: what perfdata inject --jit makes of them.

usage: jit.py PERFDATA [--mutants N] [--seed N]

Each dump is read three ways: directly, as perfdata does; through the files and maps that inject writes; and, where
readelf is, by a program that checks ELF files. Then dumps with random damage: whatever they hold, inject ends, and what
it writes is a perf.data. Exit status: 0 all is as it should be; 1 not.
"""

import argparse
import os
import random
import re
import shutil
import struct
import subprocess
import sys
import tempfile

LOAD, MOVE, LINES, CLOSE, UNWINDING = range(5)
PID = 4711
CODE = bytes(range(1, 33))
failures = 0


def check(ok, what):
    global failures
    if not ok:
        failures += 1
        print(f"FAIL {what}")


class Dump:
    """The bytes of a jitdump."""

    def __init__(self, big=False, machine=62, pid=PID, flags=0):
        self.order = ">" if big else "<"
        self.data = self.pack("IIIIIIQQ", 0x4A695444, 1, 40, machine, 0, pid, 0, flags)

    def pack(self, form, *values):
        return struct.pack(self.order + form, *values)

    def record(self, kind, time, body):
        self.data += self.pack("IIQ", kind, 16 + len(body), time) + body
        return self

    def load(self, time, name, addr, index, code=CODE, pid=PID):
        return self.record(LOAD, time, self.pack("IIQQQQ", pid, pid, addr, addr, len(code), index)
                           + name.encode() + b"\0" + code)

    def move(self, time, old, new, index, size=len(CODE)):
        return self.record(MOVE, time, self.pack("IIQQQQQ", PID, PID, new, old, new, size, index))

    def lines(self, time, addr, lines):
        entries = b"".join(self.pack("QII", addr + at, line, 0) + file.encode() + b"\0" for at, line, file in lines)
        return self.record(LINES, time, self.pack("QQ", addr, len(lines)) + entries)

    def unwinding(self, time, size, header, mapped):
        return self.record(UNWINDING, time, self.pack("QQQ", size, header, mapped) + b"\x5a" * size)


def usual(**options):
    """What the answers below are about."""
    dump = Dump(**options)
    dump.lines(90, 0x10000, [(0, 10, "a.src"), (8, 11, "a.src"), (16, 20, "b.src")])
    dump.load(100, "first", 0x10000, 1)
    dump.unwinding(150, 44, 20, 44)
    dump.load(200, "second(int)", 0x11000, 2)
    dump.load(300, "in place of first", 0x10000, 3)
    dump.move(400, 0x11000, 0x12000, 2)
    dump.load(500, "again", 0x13000, 1)
    dump.load(600, "late", 0x14000, 9)
    return dump.record(CLOSE, 700, b"")


# time, address, what it is, line
SAMPLES = (
    (110, 0x10004, "first", "a.src:10"),
    (120, 0x10010, "first", "b.src:20"),
    (210, 0x11008, "second(int)", None),
    (310, 0x10004, "in place of first", None),
    (410, 0x12008, "second(int)", None),
    (510, 0x13000, "again", None),
    (610, 0x14004, "late", None),
)


def recording(dump_path, clock="monotonic", pid=PID, order="little", samples=SAMPLES, extra=""):
    """Text for perfdata assemble."""
    flag = "|use_clockid" if clock else ""
    text = [
        f"header form: file, byte_order: {order}",
        'event {', 'name: "cpu-clock"', "type: software", "sample_period: 1000", "sample_type: IP|TID|TIME|PERIOD",
        f"flags: mmap|comm|task|sample_id_all|mmap2{flag}", f"clockid: {clock}" if clock else "", "}",
        extra,
        f'COMM pid: {pid}, tid: {pid}, comm: "maker", sample_id: {{pid: {pid}, tid: {pid}, time_ns: 0.000000001}}',
    ]

    def mmap(time, addr, size, path, prot="READ|EXEC"):
        text.append(f"MMAP2 misc: user pid: {pid}, tid: {pid}, addr: {addr:#x}, len: {size:#x}, pgoff: 0x0, maj: 0x0, min: 0x0, "
                    f'ino: 0, ino_generation: 0, prot: {prot}, flags: PRIVATE, filename: "{path}", '
                    f"sample_id: {{pid: {pid}, tid: {pid}, time_ns: 0.{time:09}}}")

    mmap(50, 0x1000, 0x1000, dump_path)
    mmap(60, 0x10000, 0x5000, "//anon", "READ|WRITE|EXEC")
    for time, addr, _, _ in samples:
        text.append(f"SAMPLE misc: user ip: {addr:#x}, pid: {pid}, tid: {pid}, time_ns: 0.{time:09}, period: 1000")
        if time == 310:
            # memory that becomes executable after its code was told
            mmap(305, 0x10000, 0x5000, "//anon", "READ|EXEC")
            text.append("FINISHED_ROUND")
    return "\n".join(line for line in text if line) + "\n"


def summed(counts):
    sums = {}
    for name, count in counts:
        sums[name] = sums.get(name, 0) + int(count)
    return sums


class Scene:
    """A folder with a dump and a recording of it."""

    def __init__(self, perfdata, folder):
        self.perfdata, self.folder = perfdata, folder
        os.makedirs(folder, exist_ok=True)

    def path(self, name):
        return os.path.join(self.folder, name)

    def run(self, *words, stdin=None):
        return subprocess.run([self.perfdata, *words], input=stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              timeout=60, check=False)

    def make(self, dump, **options):
        name = self.path(f"jit-{PID}.dump")
        with open(name, "wb") as out:
            out.write(dump.data if isinstance(dump, Dump) else dump)
        made = self.run("assemble", "-o", self.path("perf.data"), "-", stdin=recording(name, **options).encode())
        if made.returncode:
            sys.exit(made.stderr.decode())
        return self

    def inject(self, *options):
        return self.run("inject", "-j", *options, "-i", self.path("perf.data"), "-o", self.path("out.data"))

    def answers(self, name):
        """(function, line) of each sample."""
        done = self.run("script", "-i", self.path(name), "--no-index", "-F", "ip,sym,srcline")
        found = []
        for line in done.stdout.decode().splitlines():
            if line.startswith("\t") or re.match(r" +[0-9a-f]+ ", line):
                found.append([re.sub(r"^\s*[0-9a-f]+ ", "", line).strip(), None])
            elif found and re.search(r"\.src:\d+$", line):
                found[-1][1] = line.strip()
        return [tuple(one) for one in found]

    def counts(self, *options):
        """How many samples each function has in a report, and in folded stacks."""
        report = self.run("report", "-q", "--stdio", "--no-index", "-n", "-s", "sym", "-g", "none", "-i", self.path("perf.data"),
                          *options)
        rows = re.findall(r"^ +[0-9.]+% +([0-9]+)  \[.\] (.*?) *$", report.stdout.decode(), re.M)
        folded = self.run("folded", "--no-index", "--weight", "samples", "-i", self.path("perf.data"), *options)
        lines = re.findall(r"^[^;]*;(.*) ([0-9]+)$", folded.stdout.decode(), re.M)
        return summed((name, count) for count, name in rows), summed((name.split("(")[0], count) for name, count in lines)


def counted(whole=True, samples=SAMPLES):
    return summed((name if whole else name.split("(")[0], 1) for _, _, name, _ in samples)


def wanted(samples=SAMPLES):
    return [(name, line) for _, _, name, line in samples]


def look_at_objects(scene, count):
    names = sorted(name for name in os.listdir(scene.folder) if name.endswith(".so"))
    check(len(names) == count, f"{scene.folder}: {count} objects wanted, there are {names}")
    if shutil.which("readelf"):
        for name in names:
            done = subprocess.run(["readelf", "-Wa", "--debug-dump=decodedline,info,abbrev", scene.path(name)],
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
            check(done.returncode == 0 and not done.stderr, f"readelf {name}: {done.stderr.decode()[:300]}")


def try_usual(perfdata, folder):
    for name, options in (("little", {}), ("big", {"big": True, "machine": 22}), ("arm", {"machine": 40}),
                          ("ppc", {"big": True, "machine": 20})):
        scene = Scene(perfdata, os.path.join(folder, name)).make(usual(**options))
        check(scene.answers("perf.data") == wanted(), f"{name}: read directly: {scene.answers('perf.data')}")
        for threads in ("--threads=1", "--threads=4"):
            rows, stacks = scene.counts(threads)
            check(rows == counted(), f"{name} {threads}: report: {rows}")
            check(stacks == counted(whole=False), f"{name} {threads}: folded: {stacks}")
        done = scene.inject()
        check(done.returncode == 0, f"{name}: inject: {done.stderr.decode()}")
        check(scene.answers("out.data") == wanted(), f"{name}: injected: {scene.answers('out.data')}")
        check(re.search(b"6 maps added for code in 5 files, 1 maps? of jitdumps and 2 of anonymous memory dropped", done.stderr),
              f"{name}: {done.stderr.decode()}")
        look_at_objects(scene, 5)
        check(scene.run("check", "-q", scene.path("out.data")).returncode == 0, f"{name}: check")


def try_forms(perfdata, folder):
    """The same maps in a pipe, compressed, and with build ids."""
    scene = Scene(perfdata, os.path.join(folder, "forms")).make(usual())
    for name, options in (("pipe", ["--to", "pipe"]), ("big", ["--byte-order", "big"]), ("ids", ["--buildid-all"]),
                          ("maps", ["--mmap2-buildid-all"]), ("hit", ["-b"]), ("used", ["-B"])):
        done = scene.inject(*options)
        check(done.returncode == 0, f"{name}: {done.stderr.decode()}")
        check(scene.answers("out.data") == wanted(), f"{name}: {scene.answers('out.data')}")
    other = scene.path("elsewhere")
    os.mkdir(other)
    done = scene.inject("--jit-dir", other)
    check(done.returncode == 0 and len(os.listdir(other)) == 5, f"--jit-dir: {done.stderr.decode()}")
    check(scene.answers("out.data") == wanted(), f"--jit-dir: {scene.answers('out.data')}")
    check(os.path.join(other, f"jitted-{PID}-1-4.so") in [os.path.join(other, name) for name in os.listdir(other)],
          "two codes of one number have two files")


def try_refused(perfdata, folder):
    """What is not done, and is told."""
    scene = Scene(perfdata, os.path.join(folder, "clock")).make(usual(), clock=None)
    done = scene.inject()
    check(done.returncode == 1 and b"perf record -k mono" in done.stderr, f"another clock: {done.stderr.decode()}")
    scene.make(usual(flags=1))
    done = scene.inject()
    check(done.returncode == 1 and b"timestamps are TSC values" in done.stderr, f"counter: {done.stderr.decode()}")
    scene.make(usual(flags=1), extra="TIME_CONV time_shift: 1, time_mult: 2, time_zero: 0")
    done = scene.inject()
    check(done.returncode == 0 and scene.answers("out.data") == wanted(), f"converted: {done.stderr.decode()}")
    scene.make(b"no dump at all")
    done = scene.inject()
    check(done.returncode == 1 and b"not a jitdump" in done.stderr, f"no dump: {done.stderr.decode()}")
    scene.make(usual().data[:-40])
    done = scene.inject()
    check(done.returncode == 1 and b"late" in done.stderr and scene.answers("out.data")[:-1] == wanted()[:-1],
          f"cut: {done.stderr.decode()}")
    os.unlink(scene.path(f"jit-{PID}.dump"))
    os.symlink("/etc/hostname", scene.path(f"jit-{PID}.dump"))
    done = scene.inject()
    check(done.returncode == 1, f"a link: {done.stderr.decode()}")


def try_container(perfdata, folder):
    """The program has another number than the recording says."""
    scene = Scene(perfdata, os.path.join(folder, "container")).make(usual(), pid=900)
    done = scene.inject()
    check(done.returncode == 0 and scene.answers("out.data") == wanted(), f"container: {done.stderr.decode()}")


def mutant(data, rng):
    data = bytearray(data)
    for _ in range(rng.choice((1, 1, 2, 5))):
        at = rng.randrange(len(data))
        kind = rng.randrange(4)
        if kind == 0:
            data[at] = rng.randrange(256)
        elif kind == 1:
            data[at:at + 8] = struct.pack("<Q", rng.choice((0, 1, 2 ** 31, 2 ** 63, 2 ** 64 - 1, len(data), 0x10000)))
        elif kind == 2:
            del data[at:at + rng.randrange(1, 64)]
        else:
            data[at:at] = data[at:at + rng.randrange(1, 200)]
        if not data:
            data = bytearray(b"D")
    return bytes(data)


def try_mutants(perfdata, folder, count, seed):
    scene = Scene(perfdata, os.path.join(folder, "mutants"))
    for number in range(count):
        rng = random.Random(f"{seed} {number}")
        big = rng.randrange(2) == 1
        scene.make(mutant(usual(big=big, machine=22 if big else 62).data, rng))
        done = scene.inject()
        told = b"Sanitizer" in done.stderr or b"runtime error" in done.stderr
        check(done.returncode in (0, 1) and not told, f"mutant {number} of seed {seed}: {done.stderr.decode()[-2000:]}")
        read = scene.run("check", "-q", scene.path("out.data"))
        check(read.returncode == 0, f"mutant {number} of seed {seed}: what was written: {read.stdout.decode()[-500:]}")
        for name in os.listdir(scene.folder):
            if name.endswith(".so"):
                os.unlink(scene.path(name))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("perfdata")
    parser.add_argument("--mutants", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    perfdata = os.path.abspath(arguments.perfdata)
    with tempfile.TemporaryDirectory(prefix="inject-jit-") as folder:
        os.environ["HOME"] = folder
        try_usual(perfdata, folder)
        try_forms(perfdata, folder)
        try_refused(perfdata, folder)
        try_container(perfdata, folder)
        try_mutants(perfdata, folder, arguments.mutants, arguments.seed)
    print(f"{arguments.mutants} mutants, {failures} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
