#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""perfdata inject beside perf inject, on recordings that are made here, both results read by perf.

usage: perf.py PERFDATA [--perf PERF] [--folder FOLDER]

What differs, and why:
- the running kernel: perf inject does not find its build id, perfdata does;
- the vdso: perf names the temporary file that it copied it to; in pipes perfdata sends its id with --buildid-all only;
- ids and zstd, where the recording has ids in its maps, or is compressed: perf lists other objects than it does
  otherwise, and in compressed ones none; there only the scripts are compared;
- -b of a recording with call chains: perf 6.1 lists what the samples' own addresses are in, perfdata (and newer perfs)
  what is in the chains too;
- --buildid-all: perf writes records into the data, perfdata the list in the header, so the records of the one are
  held against the list of the other;
- --jit: perf's objects have no addresses in their debug information, so its scripts show no lines; inodes and, if
  asked for, the folder of the objects are others;
- --sched-stat: perf 6.1 writes raw data that it cannot print, so it is left out of the comparison.
Exit status: 0 all is equal but for that; 1 not; 77 perf cannot record here.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path += [os.path.join(os.path.dirname(HERE), "perf"), os.path.join(os.path.dirname(HERE), "corpus")]

import common  # noqa: E402 pylint: disable=wrong-import-position
import record  # noqa: E402 pylint: disable=wrong-import-position

KERNEL = "[kernel.kallsyms]"
VDSO = re.compile(r"^/tmp/perf-vdso\.so-\w+$")
RECORDINGS = [
    record.Recording("plain", "P -B -e cpu-clock -F 2000 $BIN/work 200 alone threads forks faults clock", ""),
    record.Recording("chain", "P -B -e cpu-clock -F 2000 -g $BIN/work 200 alone threads forks faults", ""),
    record.Recording("ids", "P --buildid-mmap -e cpu-clock -F 2000 $BIN/work 150 alone faults", ""),
    record.Recording("zstd", "P -B -z -e cpu-clock -F 2000 $BIN/work 150 alone faults", ""),
    record.Recording("pipe", "R -e cpu-clock -F 2000 -o - $BIN/work 150 alone faults >$OUT", ""),
    record.Recording("sched", "P -B -g -e sched:sched_switch,sched:sched_process_exit,sched:sched_stat_runtime,cpu-clock "
                              "$BIN/work 100 write forks", "tracefs"),
]


class Judge:
    def __init__(self, perfdata, perf, folder):
        self.perfdata, self.perf, self.folder = perfdata, perf, folder
        self.home = {**os.environ, "HOME": os.path.join(folder, "home"), "LC_ALL": "C"}
        self.compared = self.failed = 0
        done = subprocess.run([perf, "inject", "-h"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        self.newer = b"mmap2-buildid-all" in done.stdout

    def run(self, *words, stdin=None):
        with open(stdin or os.devnull, "rb") as source:
            return subprocess.run(words, stdin=source, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=self.home,
                                  timeout=120, check=False)

    def text(self, *words, stdin=None):
        return self.run(self.perf, *words, stdin=stdin).stdout.decode("utf-8", "replace")

    def same(self, what, theirs, ours):
        self.compared += 1
        if theirs == ours and theirs:
            return
        self.failed += 1
        print(f"DIFFER {what}")
        if not theirs:
            print("  perf says nothing")
        elif isinstance(theirs, str):
            for a, b in zip(theirs.split("\n"), ours.split("\n")):
                if a != b:
                    print(f"  perf: {a[:200]}\n  ours: {b[:200]}")
                    return
            print(f"  perf has {len(theirs)} letters, ours {len(ours)}")
        else:
            print(f"  only perf: {sorted(set(theirs) - set(ours))[:5]}\n  only ours: {sorted(set(ours) - set(theirs))[:5]}")

    def both(self, name, options, source):
        """What both make of a recording; None where perf fails."""
        theirs, ours = (os.path.join(self.folder, f"{name}.{who}") for who in ("theirs", "ours"))
        done = self.run(self.perf, "inject", *options, "-i", source, "-o", theirs)
        if done.returncode:
            return None
        done = self.run(self.perfdata, "inject", *options, "-i", source, "-o", ours)
        if done.returncode:
            self.failed += 1
            print(f"DIFFER {name}: {done.stderr.decode()[:500]}")
            return None
        return theirs, ours

    def listed(self, path):
        return {line for line in self.text("buildid-list", "-i", path).splitlines() if not line.endswith(KERNEL)}

    def told(self, path):
        """What HEADER_BUILD_ID records say."""
        out = common.json_lines(self.run(self.perfdata, "dump", "-q", "--json", "-t", "HEADER_BUILD_ID", path).stdout)
        fields = (one.get("fields", one) for one in out)
        return {f"{one['build_id']} {VDSO.sub('[vdso]', one['filename'])}" for one in fields if one["filename"] != KERNEL}

    def scripts(self, what, pair):
        for words in (["script"], ["report", "--stdio", "-g", "none"], ["script", "--show-mmap-events", "-F", "comm,pid,tid,time,ip"]):
            theirs, ours = (self.text(*words, "-i", path) for path in pair)
            # report says when a file was made, and by which command
            theirs, ours = (re.sub(r"(?m)^#.*\n", "", text) for text in (theirs, ours))
            self.same(f"{what}: perf {' '.join(words)}", theirs, ours)


def build_ids(judge, name, source):
    pair = judge.both(f"{name}-b", ["-b"], source)
    if pair:
        theirs, ours = map(judge.listed, pair)
        if name not in ("ids", "zstd"):
            judge.same(f"{name} -b: list", theirs, ours & theirs if name in ("chain", "sched") else ours)
        judge.scripts(f"{name} -b", pair)
    pair = judge.both(f"{name}-all", ["--buildid-all"], source)
    if pair:
        ours = {line for line in judge.run(judge.perfdata, "buildid-list", pair[1]).stdout.decode().splitlines()
                if not line.endswith(KERNEL)}
        if name not in ("ids", "zstd"):
            judge.same(f"{name} --buildid-all: ids", judge.told(pair[0]), ours)
        judge.scripts(f"{name} --buildid-all", pair)


def pipes(judge, name, source):
    """From a pipe to a pipe."""
    for option in ("-b", "--buildid-all"):
        paths = []
        for who, program in (("theirs", judge.perf), ("ours", judge.perfdata)):
            done = judge.run(program, "inject", option, "-i", "-", "-o", "-", stdin=source)
            paths.append(os.path.join(judge.folder, f"{name}{option}.{who}"))
            with open(paths[-1], "wb") as out:
                out.write(done.stdout)
        listed = [{line for line in judge.text("buildid-list", "-i", "-", stdin=path).splitlines()
                   if not line.endswith(KERNEL) and "vdso" not in line} for path in paths]
        judge.same(f"{name} {option} by pipes: list", *listed)
        if option == "--buildid-all":
            judge.same(f"{name} {option} by pipes: records", *map(judge.told, paths))
        judge.same(f"{name} {option} by pipes: script", *(judge.text("script", "-i", "-", stdin=path) for path in paths))


def id_of(path):
    done = subprocess.run(["readelf", "-n", path], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
    found = re.search(rb"Build ID: ([0-9a-f]+)", done.stdout)
    return found[1].decode() if found else None


def maps(judge, name, source):
    """Ids in maps: beside a perf that can do so, and beside the same maps without ids."""
    show = ["script", "--show-mmap-events", "-F", "comm,pid,tid,time,ip"]
    if judge.newer:
        pair = judge.both(f"{name}-maps", ["--mmap2-buildid-all"], source)
        if pair:
            theirs, ours = ([line for line in judge.text(*show, "-i", path).splitlines() if KERNEL not in line]
                            for path in pair)
            judge.same(f"{name} --mmap2-buildid-all", theirs, ours)
    out = os.path.join(judge.folder, f"{name}.maps")
    judge.run(judge.perfdata, "inject", "--mmap2-buildid-all", "-i", source, "-o", out)
    before = [line for line in judge.text(*show, "-i", source).splitlines() if "PERF_RECORD_MMAP" in line]
    after = [line for line in judge.text(*show, "-i", out).splitlines() if "PERF_RECORD_MMAP" in line]
    where = re.compile(r"( @ \S+) ([0-9a-f]+:[0-9a-f]+ \d+ \d+|<[0-9a-f]+>)\]")
    ids = 0
    for old, new in zip(before, after):
        path = old.split(" ")[-1]
        if "PERF_RECORD_MMAP2" not in old or not os.path.exists(path):
            continue
        wanted = id_of(path)
        ids += wanted is not None
        judge.same(f"{name}: {path}", where.sub(rf"\1 <{wanted}>]", old) if wanted else old, new)
    judge.same(f"{name}: number of maps", [len(before), True], [len(after), ids > 0])
    # maps that no sample is in are left out, and nothing changes for the samples
    judge.run(judge.perfdata, "inject", "-B", "-i", source, "-o", out)
    judge.same(f"{name} -B: script", judge.text("script", "-i", source), judge.text("script", "-i", out))
    few = [line for line in judge.text(*show, "-i", out).splitlines() if "PERF_RECORD_MMAP" in line]
    judge.same(f"{name} -B: fewer maps", [True], [0 < len(few) < len(before)])


def sched(judge, source):
    pair = judge.both("sched-stat", ["-s"], source)
    if not pair:
        return
    for fields in ("comm,pid,tid,time,period,event,ip,sym,dso", "comm,tid,time,period,event"):
        judge.same(f"sched -s: {fields}", *(judge.text("script", "-F", fields, "-i", path) for path in pair))
    judge.same("sched -s: report", *(re.sub(r"(?m)^#.*\n", "", judge.text("report", "--stdio", "-s", "comm,sym", "-i", path))
                                     for path in pair))
    # raw data are whole: each switch says who went
    lines = [line for line in judge.text("script", "-F", "tid,event,trace", "-i", pair[1]).splitlines()
             if "sched_switch" in line]
    names = [re.search(r"^\s*(\d+) .*prev_pid=(\d+)", line) for line in lines]
    judge.same("sched -s: raw data", [True], sorted({bool(one) and one[1] == one[2] for one in names}))


def jit(judge, recorder):
    program = os.path.join(judge.folder, "program")
    compiler = shutil.which("cc") or shutil.which("gcc")
    if not compiler or subprocess.run([compiler, "-O1", "-o", program, os.path.join(HERE, "program.c")], check=False).returncode:
        print("jit: program.c cannot be compiled here")
        return
    source = os.path.join(judge.folder, "jit.data")
    made = judge.run(judge.perf, "record", "-q", "-k", "mono", "-g", "-e", "cpu-clock", "-F", "2000", "-o", source, "--",
                     program, judge.folder)
    if made.returncode:
        print(f"jit: {made.stderr.decode()[:200]}")
        return
    pair = tuple(os.path.join(judge.folder, f"jit.{who}") for who in ("theirs", "ours"))
    elsewhere = os.path.join(judge.folder, "elsewhere")
    os.makedirs(elsewhere, exist_ok=True)
    # perf 7.2 ends with a signal here
    if judge.run(judge.perf, "inject", "-j", "-i", source, "-o", pair[0]).returncode:
        print("jit: perf inject -j fails")
        return
    done = judge.run(judge.perfdata, "inject", "-j", "--jit-dir", elsewhere, "-i", source, "-o", pair[1])
    judge.same("jit: inject", [0], [done.returncode])
    names = [name for name in os.listdir(elsewhere) if name.endswith(".so")]
    judge.same("jit: objects", sorted(name for name in os.listdir(judge.folder) if name.startswith("jitted-")), sorted(names))
    show = ["script", "--show-mmap-events", "-F", "comm,pid,tid,time,ip,sym"]
    theirs, ours = (judge.text(*show, "-i", path) for path in pair)
    plain = re.compile(r"( @ 0x80) \S+ \d+ 1\]:( \S+ )\S*/")
    judge.same("jit: maps and symbols", plain.sub(r"\1]:\2", theirs), plain.sub(r"\1]:\2", ours))
    for words in (["report", "--stdio", "-g", "none"], ["report", "--stdio", "--no-children", "-s", "sym"]):
        judge.same(f"jit: {' '.join(words)}",
                   *(re.sub(r"(?m)^#.*\n", "", judge.text(*words, "-i", path)) for path in pair))
    # directly, without maps: the same functions
    fields = ["script", "-F", "tid,time,ip,sym"]
    direct = judge.run(judge.perfdata, *fields, "-i", source, "--no-index").stdout.decode()
    symbols = [re.sub(r"^\s*[0-9a-f]+ ", "", line) for line in direct.splitlines() if line.startswith("\t")]
    injected = judge.text("script", "-F", "tid,time,ip,sym", "-i", pair[0])
    judge.same("jit: read directly", [re.sub(r"^\s*[0-9a-f]+ ", "", line) for line in injected.splitlines()
                                      if line.startswith("\t")], symbols)
    lines = set(re.findall(r"(first|other)\.src:(\d+)", judge.text("script", "-F", "ip,sym,srcline", "-i", pair[1])))
    judge.same("jit: lines in perf", {("first", "11"), ("other", "21")}, lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("perfdata")
    parser.add_argument("--perf", default="perf")
    parser.add_argument("--folder", help="where recordings are made; else a temporary one")
    arguments = parser.parse_args()
    why = record.perf_missing()
    if why:
        common.skip(why)
    with tempfile.TemporaryDirectory(prefix="inject-perf-") as scratch:
        folder = os.path.abspath(arguments.folder or scratch)
        recorder = record.Recorder(folder)
        judge = Judge(os.path.abspath(arguments.perfdata), arguments.perf, folder)
        for one in RECORDINGS:
            path, why = recorder.get(one)
            if not path:
                print(f"{one.name}: {why}")
                continue
            if one.name == "pipe":
                pipes(judge, one.name, path)
            else:
                build_ids(judge, one.name, path)
            if one.name in ("plain", "chain"):
                maps(judge, one.name, path)
            if one.name == "sched":
                sched(judge, path)
        jit(judge, recorder)
    print(f"{judge.compared} comparisons, {judge.failed} differ")
    return 1 if judge.failed or not judge.compared else 0


if __name__ == "__main__":
    sys.exit(main())
