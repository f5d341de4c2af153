#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Holds perfdata folded against perf script, folded here by the rules that stackcollapse-perf.pl goes by.

usage: folded.py PERFDATA

Records a few programs on the spot; skipped where perf cannot record.
"""
import collections
import os
import re
import subprocess
import sys
import tempfile

SKIPPED = 77
HEAD = re.compile(r"^(\S.*?|)\s+(-?\d+)/(-?\d+)\s+.*?(\d+) +(\S+):\s*$")
FRAME = re.compile(r"^\s+[0-9a-f]+ (.*) \((.*)\)$")
WORK = "for n in 1 2; do find /usr/share/doc | sort | cksum; seq 30000 | sort -R | gzip -c | wc; done; sleep 0.01"
RECORDINGS = {
    "clock": ["-F", "1500", "-g", "-e", "cpu-clock"],
    "user": ["-F", "1500", "-g", "-e", "cpu-clock:u"],
    "events": ["-F", "700", "-g", "-e", "cpu-clock", "-e", "page-faults", "-e", "context-switches"],
}


def tidy(name):
    """As the script does: no arguments, no quotes, no semicolons."""
    name = name.replace(";", ":")
    if not re.search(r"\.\(.*\)\.", name):
        name = re.sub(r"\((?!anonymous namespace\)).*", "", name)
    return name.replace('"', "").replace("'", "")


def frame_name(name, module, marks):
    java = re.fullmatch(r"/tmp/perf-\d+\.map", module)
    mark = ""
    name = re.sub(r"\+0x[0-9a-f]+$", "", name)
    if module == "inlined":
        mark = "_[i]" if marks else ""
    elif marks and (module.startswith("[") or module.endswith("vmlinux")) and module not in ("[unknown]", "[vdso]"):
        mark = "_[k]"
    elif marks and java:
        mark = "_[j]"
    if name == "[unknown]":
        return ("[unknown]" if module == "[unknown]" else f"[{module.rsplit('/', 1)[-1]}]") + mark
    return tidy(name) + mark


def collapse(text, root, marks, weighed):
    """Periods or numbers of samples by event and stack."""
    sums = collections.Counter()
    event, stack = None, []
    for line in text.split("\n"):
        head, frame = HEAD.match(line), FRAME.match(line)
        if not line.strip():
            if event:
                sums[event, ";".join([stack[0]] + stack[:0:-1])] += int(period) if weighed else 1
            event, stack = None, []
        elif frame and event:
            stack.append(frame_name(frame[1], frame[2], marks))
        elif head:
            comm, pid, tid, period, event = head.groups()
            comm = comm.strip().replace(" ", "_")
            stack = [{"comm": comm, "pid": f"{comm}-{pid}", "tid": f"{comm}-{pid}/{tid}"}[root]]
    return sums


def expected(path, root, marks, weighed):
    text = subprocess.run(["perf", "script", "-i", path, "--no-inline", "-F", "comm,pid,tid,time,period,event,ip,sym,dso"],
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True).stdout
    sums = collapse(text.decode(errors="replace"), root, marks, weighed)
    several = len({event for event, _ in sums}) > 1
    return "".join(f"{f'[{event}];' if several else ''}{stack} {count}\n" for (event, stack), count in sums.items())


def counted(text):
    """Lines as counts by stack, without what is not of folding: perf 6.1 names entries of the PLT by their order, and of two
    names of one function of the kernel either may be shown."""
    sums = collections.Counter()
    for line in text.splitlines():
        stack, count = line.rsplit(" ", 1)
        stack = re.sub(r";(?:[^;]*@plt|\.plt)", ";@plt", stack)
        sums[re.sub(r"__(ia32|x64)_sys_", "__sys_", stack)] += int(count)
    return sums


def is_plt_entry(ours, theirs):
    """Whether a stack has a name only here, where perf 6.1 has none: of the head of the PLT, or of an entry in .plt.got."""
    ours, theirs = ours.split(";"), theirs.split(";")
    return len(ours) == len(theirs) and all(a == b or (a == "@plt" and re.fullmatch(r"\[\S+\]", b)) for a, b in zip(ours, theirs))


def match_plt_entries(ours, theirs):
    """Takes out of both what differs by such names; of few stacks only."""
    rest = list(ours - theirs)
    for stack in rest if len(rest) <= 2 + len(ours) // 100 else []:
        for other in theirs - ours:
            if is_plt_entry(stack, other) and ours[stack] - theirs[stack] == theirs[other] - ours[other]:
                ours[other] += ours[stack] - theirs[stack]
                ours[stack] = theirs[stack]
                break


def main():
    program = os.path.abspath(sys.argv[1])
    compared = 0
    with tempfile.TemporaryDirectory(prefix="perfdata-folded-") as folder:
        for name, options in RECORDINGS.items():
            path = os.path.join(folder, name + ".data")
            try:
                done = subprocess.run(["perf", "record", "-q", *options, "-o", path, "sh", "-c", WORK],
                                      stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=60, check=False)
            except FileNotFoundError:
                print("perf is not installed")
                return SKIPPED
            if done.returncode or not os.path.exists(path):
                print(f"perf cannot record {name} here")
                return SKIPPED
            for root, marks, weighed in ("comm", False, True), ("pid", True, False), ("tid", False, True):
                arguments = ["folded", "--no-inline", "--no-index"] + (["--all"] if marks else []) + \
                    ([] if root == "comm" else [f"--by-{root}"]) + ([] if weighed else ["--weight", "samples"])
                ours = [subprocess.run([program, *arguments, *threads, path], stdout=subprocess.PIPE, check=True).stdout
                        for threads in ([], ["--threads", "1"], ["--threads", "3"])]
                if len(set(ours)) != 1:
                    sys.exit(f"{name}: what is printed depends on the number of threads")
                theirs, got = expected(path, root, marks, weighed), ours[0].decode(errors="replace")
                stacks = [line.rsplit(" ", 1)[0].encode() for line in got.splitlines()]
                if stacks != sorted(set(stacks)):
                    sys.exit(f"{name} by {root}: the stacks are not sorted, or come twice")
                theirs, got_sums = counted(theirs), counted(got)
                match_plt_entries(got_sums, theirs)
                if +theirs != +got_sums:
                    wrong = sorted(stack for stack in theirs | got_sums if theirs[stack] != got_sums[stack])
                    sys.exit(f"{name} by {root}: {len(wrong)} stacks differ, such as\n" + "\n".join(
                        f"perf {theirs[stack]}, ours {got_sums[stack]}: {stack}" for stack in wrong[:10]))
                compared += got.count("\n")
    print(f"{compared} stacks agree")
    return 0 if compared else 1


sys.exit(main())
