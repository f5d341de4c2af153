#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Recordings with many of one thing: the work of every command must grow with their number, not with its square.

usage: scale.py PERFDATA [--size N] [--only TEXT] [--table] [--commands TEXT]

Each recording is made with N (10000) and with 4 N of one thing: mappings, names, events, ids, processes ... The user CPU
time of a command (not the time that passes) may be 8 times as much for the larger one: work that is linear takes 4
times as much, quadratic work 16 times. What takes less than a third of a second is not looked at. --table prints all
times. Exit status: 0 all is so, 1 not.
"""

import argparse
import os
import resource
import shutil
import struct
import subprocess
import sys
import tempfile

SHORT = 0.33    # seconds of user CPU that say nothing
MOST = 8

IP, TID, TIME, ID, CPU, PERIOD, CALLCHAIN, STREAM_ID, RAW, CGROUP = 1, 2, 4, 64, 128, 256, 32, 512, 1024, 1 << 21
IDENTIFIER = 1 << 16
KERNEL, USER = 1, 2
SAMPLE_TYPE = IDENTIFIER | IP | TID | TIME | CPU | PERIOD | CGROUP
ATTR_SIZE = 136
NOWHERE = 0xFFFFFFFF


def attr(kind=1, config=0, sample_type=SAMPLE_TYPE):
    flags = 1 << 18 | 1 << 8 | 1 << 9 | 1 << 13 | 1 << 23  # sample_id_all, mmap, comm, task, mmap2
    data = struct.pack("<IIQQQQQ", kind, ATTR_SIZE, config, 1000, sample_type, 4, flags)
    return data.ljust(ATTR_SIZE, b"\0")


def text(string):
    data = string.encode() + b"\0"
    return data.ljust((len(data) + 7) & ~7, b"\0")


class Recording:
    def __init__(self, events=1, ids_each=1):
        self.events, self.ids_each = events, ids_each
        self.records, self.features, self.time = [], {}, 1000
        self.comm(1, 1, "first")
        self.mmap(1, 0x400000, 0x1000, "/bin/first")

    def add(self, kind, misc, body, trailer=True, pid=1, event=0):
        self.time += 1
        if trailer:
            # what sample_type has: tid, time, cpu, identifier
            body += struct.pack("<IIQIIQ", pid, pid, self.time, 0, 0, event * self.ids_each + 1)
        self.records.append(struct.pack("<IHH", kind, misc, 8 + len(body)) + body)

    def comm(self, pid, tid, name, misc=0):
        self.add(3, misc, struct.pack("<II", pid, tid) + text(name), pid=pid)

    def mmap(self, pid, start, size, name, misc=USER):
        self.add(10, misc, struct.pack("<IIQQQIIQQII", pid, pid, start, size, 0, 8, 1, start >> 12, 0, 5, 2) + text(name),
                 pid=pid)

    def task(self, kind, pid, ppid, tid=None):
        self.add(kind, 0, struct.pack("<IIIIQ", pid, ppid, tid or pid, ppid, self.time), pid=pid)

    def ksymbol(self, start, size, name):
        self.add(17, KERNEL, struct.pack("<QIHH", start, size, 1, 0) + text(name))

    def cgroup(self, number, path):
        self.add(19, 0, struct.pack("<Q", number) + text(path))

    def sample(self, pid, ip, event=0, misc=USER, cgroup=1, identifier=None):
        self.time += 1
        identifier = event * self.ids_each + 1 if identifier is None else identifier
        body = struct.pack("<QQIIQIIQQ", identifier, ip, pid, pid, self.time, 0, 0, 1000, cgroup)
        self.records.append(struct.pack("<IHH", 9, misc, 8 + len(body)) + body)

    def write(self, path):
        head = 104
        ids = b"".join(struct.pack("<Q", i + 1) for i in range(self.events * self.ids_each))
        attrs_at = head + len(ids)
        attrs = b"".join(attr(config=i % 8) + struct.pack("<QQ", head + 8 * i * self.ids_each, 8 * self.ids_each)
                         for i in range(self.events))
        data_at = attrs_at + len(attrs)
        data = b"".join(self.records)
        bits = bytearray(32)
        table, contents, at = b"", b"", data_at + len(data) + 16 * len(self.features)
        for number in sorted(self.features):
            bits[number // 8] |= 1 << number % 8
            table += struct.pack("<QQ", at, len(self.features[number]))
            contents += self.features[number]
            at += len(self.features[number])
        with open(path, "wb") as f:
            f.write(b"PERFILE2" + struct.pack("<QQQQQQQQ", head, ATTR_SIZE + 16, attrs_at, len(attrs), data_at, len(data),
                                              0, 0) + bits + ids + attrs + data + table + contents)


def build_id(i):
    return struct.pack("<QQI", i, i * 3, 7)


def build_id_entry(i, name, misc=USER):
    name = text(name)
    name = name.ljust(64, b"\0")
    return struct.pack("<IHHi", 67, misc, 36 + len(name), -1) + build_id(i) + struct.pack("<I", 20) + name


def string(value):
    return struct.pack("<I", len(value) + 1) + value.encode() + b"\0"


# ---- the recordings: n of one thing, and samples ----

def maps(n):
    r = Recording()
    for i in range(n):
        r.mmap(1, 0x10000000 + i * 0x1000, 0x1000, f"/lib/object-{i}.so")
    for i in range(n):
        r.sample(1, 0x10000000 + i * 0x1000 + 0x10)
    return r


def maps_over(n):
    """Each takes the place of the middle of what was there."""
    r = Recording()
    for i in range(n):
        r.mmap(1, 0x10000000 + i * 0x1000, (2 * n - 2 * i) * 0x1000, f"/lib/object-{i % 7}.so")
        r.sample(1, 0x10000000 + n * 0x1000)
    return r


def kernel_maps(n):
    r = Recording()
    for i in range(n):
        r.mmap(NOWHERE, 0xffffffffc0000000 + i * 0x1000, 0x1000, f"[module_{i}]", KERNEL)
    for i in range(n):
        r.sample(1, 0xffffffffc0000000 + i * 0x1000 + 4, misc=KERNEL)
    return r


def comms(n):
    """One thread with another name each time."""
    r = Recording()
    for i in range(n):
        r.comm(1, 1, f"name-{i}")
        r.sample(1, 0x400010)
    return r


def processes(n):
    r = Recording()
    for i in range(2, n + 2):
        r.task(7, i, 1)
        r.comm(i, i, f"p{i}")
        r.sample(i, 0x400010)
        r.task(4, i, 1)
    return r


def threads(n):
    r = Recording()
    for i in range(2, n + 2):
        r.task(7, 1, 1, i)
        r.sample(1, 0x400010)
    return r


def chain(n):
    """Each process is forked by the one before."""
    r = Recording()
    for i in range(2, n + 2):
        r.task(7, i, i - 1)
    for i in range(2, n + 2):
        r.sample(i, 0x400010)
    return r


def one_pid(n):
    """One number is forked again and again, by others."""
    r = Recording()
    for i in range(2, n + 2):
        r.task(7, 2, i + 1)
        r.sample(2, 0x400010)
    return r


def events(n):
    r = Recording(events=n)
    for i in range(n):
        r.sample(1, 0x400010, i)
    return r


def named_events(n):
    r = Recording(events=n)
    desc = struct.pack("<II", n, ATTR_SIZE)
    for i in range(n):
        desc += attr(config=i % 8) + struct.pack("<I", 1) + string(f"event-{i}") + struct.pack("<Q", i + 1)
        r.sample(1, 0x400010, i)
    r.features[12] = desc
    return r


def ids(n):
    r = Recording(ids_each=n)
    for i in range(n):
        r.sample(1, 0x400010, identifier=i + 1)
    return r


def build_ids(n):
    r = Recording()
    r.features[2] = b"".join(build_id_entry(i, f"/lib/object-{i}.so") for i in range(n))
    for i in range(n):
        r.mmap(1, 0x10000000 + i * 0x1000, 0x1000, f"/lib/object-{i}.so")
        r.sample(1, 0x10000000 + i * 0x1000)
    return r


def build_ids_of_one(n):
    """One name, in maps that say build ids."""
    r = Recording()
    for i in range(n):
        body = struct.pack("<IIQQQBBH", 1, 1, 0x10000000 + i * 0x1000, 0x1000, 0, 20, 0, 0) + build_id(i)
        r.add(10, USER | 1 << 14, body + struct.pack("<II", 5, 2) + text("/lib/one.so"))
        r.sample(1, 0x10000000 + i * 0x1000)
    return r


def ksymbols(n):
    r = Recording()
    for i in range(n):
        r.ksymbol(0xffffffffc0000000 + i * 0x100, 0x100, f"bpf_prog_{i}")
    for i in range(n):
        r.sample(1, 0xffffffffc0000000 + i * 0x100, misc=KERNEL)
    return r


def ksymbols_of_one(n):
    """Registered at one address again and again."""
    r = Recording()
    for i in range(n):
        r.ksymbol(0xffffffffc0000000, 0x100, f"bpf_prog_{i}")
        r.sample(1, 0xffffffffc0000000, misc=KERNEL)
    return r


def cgroups(n):
    r = Recording()
    for i in range(n):
        r.cgroup(i + 1, f"/group-{i}")
        r.sample(1, 0x400010, cgroup=i + 1)
    return r


def addresses(n):
    r = Recording()
    for i in range(n):
        r.sample(1, 0x400000 + i % 0x1000)
        r.sample(1, 0x7f0000000000 + i * 64)
    return r


def lost(n):
    r = Recording()
    for i in range(n):
        r.add(2, 0, struct.pack("<QQ", 1, 1))
        r.sample(1, 0x400010)
    return r


def reverse(n):
    """Records in the reverse order of time."""
    r = Recording()
    for i in range(n):
        r.time = 10 * (n - i)
        r.sample(1, 0x400010)
    return r


def unknown(n):
    """Records of types that nobody knows."""
    r = Recording()
    for i in range(n):
        r.records.append(struct.pack("<IHHQ", 1000 + i, 0, 16, i))
    return r


def torn(n):
    """Every other record has a size that cannot be."""
    r = Recording()
    for i in range(n):
        r.sample(1, 0x400010)
        r.records.append(struct.pack("<IHHQ", 9, 0, 4, i))
        r.sample(1, 0x400010)
        r.sample(1, 0x400010)
    return r


def names_of_features(n):
    """The command line and the topology have many texts."""
    r = Recording()
    r.features[11] = struct.pack("<I", n) + b"".join(string(f"word{i}") for i in range(n))
    r.features[13] = struct.pack("<I", n) + b"".join(string(str(i)) for i in range(n)) + struct.pack("<I", 0)
    r.features[15] = struct.pack("<I", n) + b"".join(struct.pack("<I", i) + string(f"pmu{i}") for i in range(n))
    r.sample(1, 0x400010)
    return r


def attrs_in_pipe(n):
    """As through a pipe, where each event comes as a record."""
    r = Recording()
    head = b"".join(struct.pack("<IHH", 64, 0, 8 + ATTR_SIZE + 8) + attr(config=i % 8) + struct.pack("<Q", i + 1)
                    for i in range(n))
    for i in range(n):
        r.sample(1, 0x400010, identifier=i + 1)
    data = b"".join(r.records)

    def write(path):
        with open(path, "wb") as f:
            f.write(b"PERFILE2" + struct.pack("<Q", 16) + head + data)
    r.write = write
    return r


KINDS = (maps, maps_over, kernel_maps, comms, processes, threads, chain, one_pid, events, named_events, ids, build_ids,
         build_ids_of_one, ksymbols, ksymbols_of_one, cgroups, addresses, lost, reverse, unknown, torn, names_of_features,
         attrs_in_pipe)

COMMANDS = (
    "info IN", "report --no-symbols IN", "report --no-symbols -g IN", "report --no-symbols --sort pid,comm,dso,sym IN",
    "report --no-symbols --sort cgroup IN", "report --header-only IN", "report -D IN", "report --no-symbols -T IN", "script --no-symbols IN", "folded --no-symbols IN",
    "flame --no-symbols -o OUT IN", "doctor --no-index --symfs /nowhere IN", "evlist -v IN", "buildid-list IN", "buildid-list -H IN", "dump IN",
    "dump --stats IN", "dump --sort IN", "check IN", "convert -o OUT IN", "convert --sort -o OUT IN",
    "convert --to pipe --byte-order big -o OUT IN", "repair -o OUT IN", "cut --time 10%-90% -o OUT IN",
    "filter --where ip>0 -o OUT IN", "sample 1/2 -o OUT IN", "tail -n 100 -o OUT IN", "merge IN IN2 -o OUT",
    "split --by event -o OUT IN", "split --by pid -o OUT IN", "split --by comm -o OUT IN", "split --by cgroup -o OUT IN",
    "split --by size=4M -o OUT IN",
    "export --no-symbols --to pprof -o OUT IN", "export --no-symbols --to firefox -o OUT IN", "export --no-symbols --to chrome -o OUT IN",
    "export --no-symbols --to callgrind -o OUT IN", "export --no-symbols --to perfetto -o OUT IN", "export --no-symbols --to otlp -o OUT IN",
    "export --no-symbols --to speedscope -o OUT IN", "export --no-symbols --to jsonl -o OUT IN",
    "text -o OUT IN", "inject -b -o OUT IN", "scrub -o OUT IN", "pack --no-index --symfs /nowhere -o OUT IN",
)


# What is of many times one name or group is needed by each of the files; split says how much it writes at most.
BOUNDED = {("comms", "split --by comm -o OUT IN"), ("cgroups", "split --by cgroup -o OUT IN")}


def remove(path):
    if os.path.isdir(path):
        shutil.rmtree(path)
    elif os.path.exists(path):
        os.remove(path)


class Scale:
    def __init__(self, perfdata, folder, size):
        self.perfdata, self.folder, self.size = perfdata, folder, size
        self.wrong, self.rows = [], []

    def path(self, name):
        return os.path.join(self.folder, name)

    def spent(self, command, data):
        """User CPU seconds and exit status; every command may fail, but none may crash."""
        out = self.path("out")
        words = [{"IN": data, "IN2": self.path("other.data"), "OUT": out}.get(word, word) for word in command.split()]
        before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
        done = subprocess.run([self.perfdata, *words], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL, check=False, env=dict(os.environ, HOME=self.folder))
        took = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
        size = sum(os.path.getsize(os.path.join(where, name)) for where, _, names in os.walk(out) for name in names) \
            if os.path.isdir(out) else os.path.getsize(out) if os.path.exists(out) else 0
        remove(out)
        if done.returncode < 0:
            self.wrong.append(f"{command}: ended by signal {-done.returncode}")
        return took, size

    def try_kind(self, kind, commands):
        small, large = self.path("small.data"), self.path("large.data")
        kind(self.size).write(small)
        kind(4 * self.size).write(large)
        for command in commands:
            more, more_bytes = self.spent(command, large)
            less, less_bytes = self.spent(command, small) if more > SHORT or more_bytes > 1 << 26 else (more, more_bytes)
            self.rows.append((kind.__name__, command, less, more))
            if (kind.__name__, command) in BOUNDED:
                continue
            if more > SHORT and more > MOST * less:
                self.wrong.append(f"{kind.__name__}, {command}: {less:.2f} s for {self.size}, {more:.2f} s for 4 times as many")
            if more_bytes > 1 << 26 and more_bytes > MOST * less_bytes:
                self.wrong.append(f"{kind.__name__}, {command}: {less_bytes} bytes for {self.size}, {more_bytes} for 4 times "
                                  "as many")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("perfdata")
    parser.add_argument("--size", type=int, default=10000)
    parser.add_argument("--only", default="")
    parser.add_argument("--commands", default="")
    parser.add_argument("--table", action="store_true")
    args = parser.parse_args()
    kinds = [kind for kind in KINDS if args.only in kind.__name__]
    commands = [command for command in COMMANDS if args.commands in command]
    with tempfile.TemporaryDirectory(prefix="perfdata-scale-") as folder:
        scale = Scale(os.path.abspath(args.perfdata), folder, args.size)
        lost(10).write(scale.path("other.data"))
        for kind in kinds:
            scale.try_kind(kind, commands)
            if args.table:
                for name, command, less, more in scale.rows:
                    print(f"{name:18} {command:45} {less:7.2f} {more:7.2f} {more / max(less, 0.01):6.1f}", flush=True)
                scale.rows = []
    for line in scale.wrong:
        print(line)
    print(f"{len(kinds)} recordings, {len(commands)} commands: {len(scale.wrong)} grow faster than they should")
    sys.exit(bool(scale.wrong))


if __name__ == "__main__":
    main()
