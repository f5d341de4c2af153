#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares names of threads and of what is mapped with the script texts of a corpus.

usage: tests/unit/state/compare.py STATE_DUMP CORPUS [-v] [PATH...]

CORPUS has manifest.tsv, and golden/PATH.script.zst as perf printed it.  STATE_DUMP is the program
state-dump.  PATH (as in the manifest) limits what is compared.  Prints one line for each file:
samples, comms that differ, objects that differ, and why if it is known.  With -v also the first differences.
"""

import os
import re
import subprocess
import sys
import tempfile
from collections import Counter

HEAD = re.compile(r"^ *(.*?) +(-?\d+)/(-?\d+) +(?:\[[-\d]+\] +)?(?:(\d+)\.(\d{9}):|(?=[\d ]* [\w-]+:|$))(.*)$")
FRAME = re.compile(r"^\s+([0-9a-f]+) (?:\[unknown\]|\S+) \((.*)\)$")
INLINE = re.compile(r"\s([0-9a-f]+) \[unknown\] \((.*?)\)(?:\s|$)")

FORGETS = "perf 7 forgets the name of a thread at its end; samples come later"
SWAPS = "perf does not swap prot of a file of the other byte order, and takes code for data"
LBR = "perf makes the call chain out of the branch stack"
# What differs, and why.
KNOWN = {
    "recorded/na-kwork.data": FORGETS,
    "recorded/na-pipe.data": FORGETS,
    "recorded/nb-sched.data": FORGETS,
    "recorded/riscv64-systemwide.data": FORGETS,
    "recorded/s390x-n-cgroups.data": FORGETS,
    "recorded/s390x-n-systemwide.data": FORGETS,
    "recorded/s390x-all-fields.data": "perf tells kernel from process by the address, which s390x does not allow",
    "recorded/s390x-oddmap.data": SWAPS,
    "recorded/tail-synthesize.data": "perf reads the maps, which stand at the end, too late",
    "thirdparty/covlizer/perf.data": LBR,
    "thirdparty/perfparser/vector_static_gcc.perf.lbr.data": LBR,
}


def unpack(path):
    if path.endswith(".zst"):
        return subprocess.run(["zstd", "-dcq", path], stdout=subprocess.PIPE, check=True).stdout
    with open(path, "rb") as f:
        return f.read()


def wanted(text):
    """The samples of a script text: (time, pid/tid, comm, [dso])."""
    samples = []
    for line in text.decode("utf-8", "replace").split("\n"):
        frame = FRAME.match(line) if line[:1] in "\t" and line else None
        if frame and samples:
            samples[-1][3].append(frame.group(2))
            continue
        if not line or line[0] == "\t":
            continue
        head = HEAD.match(line)
        if not head:
            continue
        comm, pid, tid, seconds, ns, rest = head.groups()
        time = int(seconds) * 10**9 + int(ns) if seconds else 0
        time = 0 if time == 2**64 - 1 else time
        samples.append((time, f"{pid}/{tid}", comm, [m.group(2) for m in INLINE.finditer(rest)]))
    return samples


def unescape(text):
    return re.sub(r"\\x([0-9a-f]{2})", lambda m: chr(int(m[1], 16)), text)


def got(text):
    """(time, pid/tid, comm, [dso], dso of the data address or None)"""
    samples = []
    for line in text.decode("utf-8", "replace").split("\n"):
        if not line:
            continue
        time, task, comm, addr, *frames = line.split("\t")
        objects = [f.split(" ", 1)[1] for f in frames]
        samples.append((int(time), task, unescape(comm), objects, addr.split(" ", 1)[1] if " " in addr else None))
    return samples


def key(sample):
    return sample[0], sample[1]


def compare(ours, theirs, say):
    """Counts (pairs, comms that differ, objects that differ); samples are paired by time and thread."""
    by_key = {}
    for sample in ours:
        by_key.setdefault(key(sample), []).append(sample)
    result = Counter()
    for sample in theirs:
        queue = by_key.get(key(sample))
        if not queue:
            result["alone"] += 1
            say("alone", sample, None)
            continue
        # perf prints a sample once for each member of its group: the last one stays for them
        mine = queue.pop(0) if len(queue) > 1 else queue[0]
        result["pairs"] += 1
        if mine[2].rstrip() != sample[2]:
            result["comm"] += 1
            say("comm", sample, mine)
        frames = sample[3]
        # perf shows the data address of some events, in front
        if not same_frames(mine[3], frames) and not (mine[4] and same_frames([mine[4]] + mine[3], frames)):
            result["dso"] += 1
            say("dso", sample, mine)
    return result


def plain(name):
    """perf names kernel and modules by its table of build ids, where it has them."""
    name = re.sub(r"^.*/([^/]*)\.ko(\.\w+)?$", lambda m: "[" + m[1].replace("-", "_") + "]", name)
    return "[kernel.kallsyms]" if "vmlinux" in name else name


def same_frames(mine, theirs):
    """perf drops frames behind what it cannot walk, and adds those that it unwinds itself."""
    mine, theirs = [plain(n) for n in mine], [plain(n) for n in theirs]
    return mine[: len(theirs)] == theirs or theirs[: len(mine)] == mine


def main(args):
    verbose = "-v" in args
    args = [a for a in args if a != "-v"]
    if len(args) < 2:
        print(__doc__.strip(), file=sys.stderr)
        return 2
    dump, corpus, only = args[0], args[1], args[2:]
    total = Counter()
    with open(os.path.join(corpus, "manifest.tsv"), encoding="utf-8") as f:
        paths = [line.split("\t")[0] for line in f][1:]
    for path in paths:
        golden = os.path.join(corpus, "golden", path + ".script.zst")
        if not os.path.exists(golden) or (only and path not in only):
            continue
        with tempfile.TemporaryDirectory() as scratch:
            name = os.path.join(corpus, path)
            if path.endswith(".zst"):
                name = os.path.join(scratch, "perf.data")
                with open(name, "wb") as f:
                    f.write(unpack(os.path.join(corpus, path)))
            run = subprocess.run([dump, name], stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
        shown = Counter()

        def say(what, theirs, mine):
            shown[what] += 1
            if verbose and shown[what] <= 5:
                print(f"  {what}: perf {theirs}\n  {' ' * len(what)}  here {mine}")

        result = compare(got(run.stdout), wanted(unpack(golden)), say)
        if run.returncode:
            result["failed"] = 1
        good = not (result["comm"] or result["dso"] or result["alone"] or result["failed"])
        known = "" if good else KNOWN.get(path, "")
        result["files"], result["equal"], result["known"] = 1, int(good), int(bool(known))
        total += result
        print(f"{'equal ' if good else 'known ' if known else 'DIFFER'} {path}: {result['pairs']} samples, "
              f"{result['comm']} comms, {result['dso']} objects, {result['alone']} alone"
              + (f"; {known}" if known else "")
              + (f", {run.stderr.decode().strip()}" if result["failed"] else ""))
    print(f"{total['files']} files, {total['equal']} equal, {total['known']} known; {total['pairs']} samples, "
          f"{total['comm']} comms and {total['dso']} objects differ, {total['alone']} alone")
    return 0 if total["files"] == total["equal"] + total["known"] else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
