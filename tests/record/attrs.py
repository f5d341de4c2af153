#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Records with perfdata and with the perf of this machine, with the same options, and compares.

usage: attrs.py PERFDATA [--only TEXT] [--from LINE] [--table]

For each line of options: the attrs of both (perf evlist -v), whether perf reads ours without a word on stderr (script,
report --stats, --header-only -I), whether perfdata check finds nothing, and that there is what the option asks for.
--table prints a line for each. Exit status: 0 all agree; 1 not; 77 nothing can be recorded here.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile

SKIPPED = 77
# What a file has that was recorded with a clock of its own, in another process, is not the same twice.
WORK = ["sh", "-c", "i=0; while [ $i -lt 3000 ]; do i=$((i+1)); done; ls / > /dev/null"]

# options of both; TRACE needs tracefs
LINES = [
    "", "-g", "-a", "-a -g", "-C 0", "-C 0-1", "-e cpu-clock", "-e cpu-clock:u", "-e cpu-clock:k", "-e cpu-clock:uk",
    "-e cpu-clock:p", "-e cpu-clock:pp", "-e cpu-clock:H", "-e cpu-clock:G", "-e cpu-clock:HG", "-e cpu-clock:uH",
    "-e cpu-clock,task-clock", "-e cpu-clock -e page-faults",
    "-e {cpu-clock,task-clock}", "-e {cpu-clock,task-clock}:S", "-e {cpu-clock,page-faults}:u", "-e cpu-clock:D",
    "--group -e cpu-clock,task-clock", "-e {cpu-clock,task-clock},page-faults",
    "-e page-faults -c 1", "-e context-switches", "-e cs", "-e faults", "-e migrations -c 1", "-e minor-faults -c 1",
    "-e major-faults", "-e alignment-faults", "-e emulation-faults", "-e dummy", "-e cgroup-switches -a",
    "-F 100", "-F 999 -e cpu-clock", "-c 100000 -e cpu-clock", "-c 1 -e page-faults",
    "--call-graph fp", "--call-graph dwarf", "--call-graph dwarf,4096", "--call-graph dwarf,4096 -e cpu-clock",
    "-g --user-callchains", "-g --kernel-callchains", "-g -e cpu-clock:u", "-a --call-graph dwarf", "-a -c 1000",
    "-a -F 50", "-e cpu-clock:I", "-e cpu-clock:ppp", "-e {cpu-clock:k,task-clock:u}:H", "-a -e cpu-clock:k -d",
    "-d", "-W", "-T", "-P", "-R", "-s", "-n", "-i", "--phys-data", "--data-page-size", "--code-page-size",
    "--sample-cpu", "--sample-identifier", "--transaction", "-d --phys-data", "-W -d", "-T -P",
    "--user-regs=ip,sp", "--user-regs", "-I", "--intr-regs=ax,bx", "--user-regs=ip -I",
    "-k mono", "-k CLOCK_MONOTONIC_RAW", "-k boottime", "-k realtime", "-k tai", "-k 1",
    "-m 64", "-m 1M", "--switch-events", "--switch-events -a", "--namespaces", "--namespaces -a", "--all-cgroups",
    "--all-cgroups -a", "--overwrite", "--overwrite -a", "--no-bpf-event", "--buildid-mmap", "--buildid-mmap -a",
    "--all-user", "--all-kernel", "--per-thread", "--per-thread -g", "-D 10", "-D 1 -a", "--no-inherit",
    "--tail-synthesize", "--synth no", "--synth task", "--synth mmap", "--synth all -a", "--max-size 100K -a -F 20000",
    "--strict-freq -F 100", "--mmap-flush 4K", "-z", "-z3", "--compression-level=2", "-B", "-N", "--buildid-all",
    "--timestamp-boundary", "-e cpu-clock/freq=50/", "-e cpu-clock/period=20000/",
    "-e cpu-clock/call-graph=fp/,task-clock", "-e cpu-clock/name=hello/",
    "-e cpu-clock/freq=77,call-graph=dwarf,stack-size=1024/", "-e cpu-clock/no-inherit/", "-e cpu-clock/max-stack=8/ -g",
    "-e mem:0x1000:x", "-e mem:0x1000/4:rw", "-e mem:0x1000", "-e mem:0x1000:w",
    "TRACE -e sched:sched_switch", "TRACE -e sched:sched_switch -a", "TRACE -e sched:sched_switch -a -g",
    "TRACE -e sched:sched_sw*,cpu-clock", "TRACE -e sched:sched_process_* -a", "TRACE -e sched:sched_switch -R",
    "TRACE -e sched:sched_switch -c 3", "TRACE -e syscalls:sys_enter_openat -g", "TRACE -e raw_syscalls:* -a -c 100",
    "TRACE -e sched:sched_switch -a --filter prev_pid!=0", "TRACE -e {sched:sched_switch,cpu-clock}",
    "TRACE -e sched:sched_wakeup:u",
]


class Sides:
    def __init__(self, perfdata, folder):
        self.perfdata, self.folder = perfdata, folder
        self.env = dict(os.environ, HOME=folder, LC_ALL="C")

    def run(self, words, **more):
        return subprocess.run(words, cwd=self.folder, env=self.env, capture_output=True, text=True, errors="replace",
                              timeout=1200, stdin=subprocess.DEVNULL, **more)

    def record(self, words, name):
        if os.path.exists(os.path.join(self.folder, name)):
            os.unlink(os.path.join(self.folder, name))
        target = ["--", "sleep", "0.05"] if "-a" in words or "-C" in words else ["--", *WORK]
        tool = ["perf", "record"] if name == "perf.data" else [self.perfdata, "record"]
        return self.run([*tool, "-q", "-o", name, *words, *target])

    def attrs(self, name):
        """Lines of perf evlist -v without what differs from run to run."""
        result = self.run(["perf", "evlist", "-v", "-i", name])
        text = [l for l in result.stdout.splitlines() if l and not l.startswith("#")]
        return [re.sub(r", aux_watermark: \d+", "", line) for line in text]


def words_of(line):
    return line.replace("TRACE ", "").split()


def read_by_perf(sides, name):
    """What perf says on stderr about a file of ours; empty if it reads it in silence."""
    said = []
    for words in (["script", "-i", name], ["report", "--stats", "-i", name],
                  ["report", "--header-only", "-I", "-i", name]):
        result = sides.run(["perf", *words])
        if result.returncode != 0 or result.stderr.strip():
            said.append(f"perf {words[0]}: {result.returncode} {result.stderr.strip()[:200]}")
    return said


def compare(sides, line):
    """(what differs, note)"""
    words = words_of(line)
    theirs = sides.record(words, "perf.data")
    ours = sides.record(words, "our.data")
    if theirs.returncode != 0 or not os.path.exists(os.path.join(sides.folder, "perf.data")):
        if ours.returncode != 0:
            return [], "refused by both: " + ours.stderr.strip().splitlines()[-1][:100]
        return [], "refused by perf: " + (theirs.stderr.strip().splitlines() or [""])[-1][:100]
    if ours.returncode != 0:
        return [f"exit status {ours.returncode}: {ours.stderr.strip()[:300]}"], ""
    wrong = []
    left, right = sides.attrs("perf.data"), sides.attrs("our.data")
    if "*" in line:  # the order of folders on one side, of names on the other
        left, right = sorted(left), sorted(right)
    if "/4:rw" in line:  # perf names it without what is behind the address
        left = [l.replace("mem:0x1000:", "mem:0x1000/4:rw:", 1) for l in left]
    if left != right:
        wrong += [f"attrs:\n  perf {a}\n  ours {b}" for a, b in zip(left + [""] * 9, right + [""] * 9) if a != b]
    said = read_by_perf(sides, "our.data")
    # what perf says of its own file is not ours to be blamed for
    if said and not read_by_perf(sides, "perf.data"):
        wrong += said
    check = sides.run([sides.perfdata, "check", "our.data"])
    if check.returncode != 0 or "warning 0" not in check.stdout + "warning 0" * ("no problem" in check.stdout):
        wrong.append("check: " + check.stdout.strip()[:300])
    return wrong, ""


def can_record(sides):
    return shutil.which("perf") and sides.record(["-e", "cpu-clock"], "perf.data").returncode == 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("perfdata")
    parser.add_argument("--only", default="", metavar="TEXT")
    parser.add_argument("--from", dest="first", metavar="LINE", help="that line of options and those behind it")
    parser.add_argument("--table", action="store_true")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="attrs-") as folder:
        sides = Sides(os.path.abspath(arguments.perfdata), folder)
        if not can_record(sides):
            print("perf is not here, or may not record here")
            return SKIPPED
        trace = os.access("/sys/kernel/tracing/events/sched", os.R_OK)
        lines = [l for l in LINES if arguments.only in l and (trace or "TRACE" not in l)]
        if arguments.first:
            lines = lines[lines.index(arguments.first):]
        differ = refused = 0
        for line in lines:
            wrong, note = compare(sides, line)
            differ += bool(wrong)
            refused += bool(note)
            if arguments.table or wrong:
                print(f"{'DIFFERS' if wrong else note or 'equal':10} {line}")
            for what in wrong:
                print("   ", what)
            sys.stdout.flush()
        print(f"{len(lines)} lines of options: {len(lines) - differ - refused} equal, {refused} refused, {differ} differ"
              + ("" if trace else "; no tracefs"))
        return 1 if differ else 0


if __name__ == "__main__":
    sys.exit(main())
