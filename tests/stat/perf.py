#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""perfdata stat beside the perf of this machine.

usage: perf.py PERFDATA [--only TEXT] [--table] [--corpus FOLDER]

Lines of options: both count the same program; what they print is the same text but for the numbers. Counts that are the
same each time: those of perf. Files of counts: what both print of files of either, and of such that hold what this
machine cannot count, letter for letter. Exit status: 0 all agree; 1 not; 77 there is no perf that can count.
"""

import argparse
import csv
import os
import re
import shutil
import subprocess
import sys
import tempfile

import common

WAYS = ["-A", "--per-core", "--per-socket", "--per-die", "--per-node"]

# W is the program, busy for 60 ms; SLEEP waits. TRACE needs tracefs.
LINES = [
    "W", "-d W", "-d -d W", "-ddd W", "-e task-clock W", "-e task-clock,page-faults,cs W", "-e cpu-clock:u,page-faults:u W",
    "-e task-clock -e page-faults -e faults,minor-faults,major-faults W", "-e cpu-migrations,migrations,cgroup-switches W",
    "-e alignment-faults,emulation-faults,dummy,bpf-output W", "-e {task-clock,page-faults} W",
    "-e {task-clock,page-faults},cs W", "-e cycles,instructions,branches W", "-e r11,cycles:u,instructions:k W",
    "-e L1-dcache-load-misses,LLC-loads,node-loads W", "-e task-clock/name=hello/ W", "-e mem:0x1234:w W", "-g -e task-clock,cs W",
    "-e page-faults W", "-e task-clock:u,page-faults:k W",
    "-n W", "-r 3 W", "-r 3 -e task-clock,page-faults W", "-r 2 -n W", "-r 2 -n --table W", "-r 3 -x, W", "-r 2 -j W",
    "-x, W", "-x; -e task-clock,cycles W", "-x \\t -e task-clock W", "-j W", "-j -e task-clock,cycles W", "-x, -n W", "-j -n W",
    "-B W", "--no-big-num W", "--scale W", "--no-scale W", "-i W", "-S -e task-clock W", "--all-user W", "--all-kernel -e task-clock,page-faults W",
    "-v -e task-clock W", "--quiet W", "--no-merge -e task-clock W", "--metric-no-group -e task-clock,cs W", "--metric-no-merge --metric-no-group -e task-clock W",
    "-a SLEEP", "-a -e cpu-clock,page-faults SLEEP", "-C 0 -e cpu-clock SLEEP", "-a -C 0 -e cpu-clock SLEEP",
    "-a -A -e cpu-clock,cycles SLEEP", "-a --per-core SLEEP", "-a --per-socket -e cpu-clock,cycles,page-faults SLEEP",
    "-a --per-die -e cpu-clock SLEEP", "-a --per-node -e cpu-clock SLEEP", "-a -A -x, -e cpu-clock,cycles SLEEP",
    "-a --per-core -x, -e cpu-clock,cycles SLEEP", "-a --per-socket -j -e cpu-clock,cycles SLEEP",
    "-a --per-die -j -e cpu-clock SLEEP", "-a --per-node -x, -e cpu-clock SLEEP", "-a -A -j -e cpu-clock,cycles SLEEP",
    "-a -A --percore-show-thread -e cpu-clock/percore/,cs SLEEP", "-a -A --percore-show-thread -x, -e cpu-clock/percore/,cs SLEEP",
    "-a -A --percore-show-thread -j -e cpu-clock/percore/ SLEEP", "-a --per-core -e cpu-clock/percore/ SLEEP", "-a --per-core -r 2 -e cpu-clock SLEEP", "-a --per-core --per-socket -e cpu-clock SLEEP", "-a --per-socket -A -e cpu-clock SLEEP",
    "-p SELF -e cpu-clock SLEEP", "-p SELF --per-thread -e dummy,cs SLEEP", "-t SELF -e dummy SLEEP", "-p SELF -x, -e dummy SLEEP",
    "-I 20 -e task-clock,page-faults W", "-I 20 -x, -e task-clock W", "-I 20 -j -e task-clock W", "-I 20 -a -A -e cpu-clock SLEEP",
    "-I 20 -a --per-core -e cpu-clock,cycles SLEEP", "-I 20 -a --per-socket -e cpu-clock SLEEP", "-I 20 -a --per-die -e cpu-clock SLEEP",
    "-I 20 -a --per-node -e cpu-clock SLEEP", "-I 20 --summary -e task-clock W", "-I 20 --summary -x, -e task-clock W",
    "-I 20 --summary --no-csv-summary -x, -e task-clock W", "-I 20 --summary -j -e task-clock W",
    "-I 20 --interval-count 1 -e task-clock W", "-I 20 --interval-count 2 -a -e cpu-clock SLEEP",
    "--timeout 100 -a -e cpu-clock", "--timeout 100 -e task-clock LONG",
    "-D 10 -e task-clock W", "-D -1 -e task-clock W", "--pre true --post true -e task-clock W",
    "TRACE -e syscalls:sys_enter_getppid W", "TRACE -e syscalls:sys_enter_getppid,task-clock W",
    "TRACE -e syscalls:sys_enter_getpp* W", "TRACE -x, -e sched:sched_switch -a SLEEP",
    "TRACE -a -A -e sched:sched_switch,cpu-clock SLEEP",
    "CGROUP -a -e cpu-clock,cs -G / SLEEP", "CGROUP -a -e cpu-clock,cs -G / -x, SLEEP",
    "CGROUP -a -e cpu-clock,cs -j -G / SLEEP", "CGROUP -a --for-each-cgroup / -e cpu-clock,cs SLEEP", "CGROUP -a --for-each-cgroup /,/ -e cpu-clock,cs SLEEP",
    "CGROUP -a --for-each-cgroup /,/ SLEEP",
    "CGROUP -a -e cs -G / -e cpu-clock SLEEP", "CGROUP -a -e cs -G / -e cpu-clock -x, SLEEP", "CGROUP -a -e cs -G / -e cpu-clock -j SLEEP",
    "CGROUP -a -e cpu-clock,cs,faults -G ,/ SLEEP", "CGROUP -a -e cpu-clock,cs,faults -G /,, -A SLEEP",
    "CGROUP -a -e cpu-clock,cs -G / -e faults -G / --per-core -x, SLEEP",
    "-e duration_time,task-clock W", "-x, -e duration_time,cs W", "-j -e duration_time,task-clock W", "-r 2 -e duration_time,cs W",
    "-a -A -e duration_time,cpu-clock SLEEP", "-I 20 -e duration_time,cs W", "-e duration_time:u,cs W",
    "MSR -a -A -e msr/tsc/ SLEEP", "MSR -e msr/tsc/,task-clock W", "MSR -j -e msr/tsc/ W",
]

# What a count is called, and the line of options: the same with both.
EXACT = [
    ("syscalls:sys_enter_getppid", "TRACE", [1000, 0, 0, 0]), ("syscalls:sys_exit_getppid", "TRACE", [77, 0, 0, 0]),
    ("raw_syscalls:sys_enter", "TRACE", [500, 0, 0, 0]), ("syscalls:sys_enter_clock_nanosleep", "TRACE", [0, 0, 13, 0]),
    ("page-faults", "", [0, 500, 0, 0]), ("minor-faults", "", [0, 900, 0, 0]), ("page-faults:u", "", [0, 300, 0, 0]),
    ("major-faults", "", [0, 10, 0, 0]), ("dummy", "", [10, 0, 0, 0]), ("alignment-faults", "", [10, 0, 0, 0]),
]

RECORDINGS = ["-e task-clock,page-faults W", "W", "-r 1 -e task-clock W", "-e {task-clock,page-faults},cs W",
              "-I 20 -e task-clock,page-faults W", "-a --per-core -e cpu-clock,cs SLEEP", "-a -A -e cpu-clock,cycles SLEEP",
              "-a --per-socket -e cpu-clock SLEEP", "-a --per-node -I 20 -e cpu-clock,cs SLEEP", "-a --per-die SLEEP",
              "-p SELF --per-thread -e dummy SLEEP", "-C 0 -e cpu-clock SLEEP", "TRACE -e sched:sched_switch -a SLEEP",
              "-e duration_time,user_time,task-clock W", "-a -e duration_time,cpu-clock SLEEP"]


def masked(text):
    """Numbers and what follows from them (units, deviations) out of the text, columns in it."""
    text = re.sub(r"(?m)^(# started on ).*$", r"\1", text)
    # indented by as many digits as the deviation of the times asks for
    text = re.sub(r"(?m)^ +(?=# (Table of individual|Final result))", "", text)
    text = re.sub(r"  \( \+-[ \d.]+% \)", "", text)
    text = re.sub(r"(?m)\) #+$", ") #", text)
    text = re.sub(r"<not counted>(?=,)", "0", text)
    text = re.sub(r" +<not counted>", lambda m: " " * (len(m[0]) - 1) + "0", text)
    text = re.sub(r"[KMG]/sec ", "/sec  ", text)
    text = re.sub(r"[KMG](/sec)", r"\1", text)
    text = re.sub(r"[ (+-]*\d[\d.]*", lambda m: "N" if m[0].strip() != m[0].strip(" (+-") else "N" * len(m[0]), text)
    return re.sub(r'("?)N+(?=[",%}]|\s|$)', r"\1N", text) if "{" in text or "," in text[:60] else text


def comparable(text, options):
    if "CGROUP" in options:  # the kernel's times of cgroups are not those of their events
        text = re.sub(r"(?m)  \([\d.]+%\)$", "", text)
    lines = [re.sub(r"N{2,}", "N", line) if "+-" in line or "seconds" in line else line
             for line in masked(text).split("\n")]
    # perf tells by the way what it looks at, and that short times cost
    lines = [line for line in lines if not re.match(r"Using CPUID|Control descriptor|Warning:|timeout <|failed to read", line)
             and not re.search(r"event is not supported by the kernel", line)]
    if "-I" in options:
        lines = sorted(set(lines))
    return lines


class Sides(common.Tests):
    def __init__(self, perfdata, folder):
        super().__init__()
        self.perfdata, self.folder = perfdata, folder
        self.work = common.build_work(folder)

    def words(self, line):
        words = {"W": [self.work, "100", "50", "0", "60"], "SLEEP": ["sleep", "0.06"], "LONG": ["sleep", "5"],
                 "SELF": [str(os.getpid())]}
        found = []
        for word in line.split():
            found += words.get(word, [word]) if word not in ("TRACE", "CGROUP", "MSR") else []
        return found

    def may(self, line):
        if line.startswith("TRACE"):
            return os.access("/sys/kernel/tracing/events/syscalls", os.R_OK)
        if line.startswith("CGROUP"):
            return os.path.isdir("/sys/fs/cgroup") and self.perf(["stat", "-a", "-e", "cs", "-G", "/", "true"]).returncode == 0
        if line.startswith("MSR"):
            return os.path.isdir("/sys/bus/event_source/devices/msr")
        return True

    def perf(self, words):
        return common.run(["perf", *words])

    def ours(self, words):
        return common.run([self.perfdata, *words])

    def line(self, line):
        """Both print the same, but for the numbers; what passes by chance may have another try."""
        for attempt in range(3):
            theirs, ours = self.perf(["stat", *self.words(line)]), self.ours(["stat", *self.words(line)])
            one, other = comparable(theirs.stderr, line), comparable(ours.stderr, line)
            if one == other and theirs.returncode == ours.returncode:
                break
        ok = self.expect(theirs.returncode == ours.returncode, f"{line}: exit {theirs.returncode} {ours.returncode}")
        if not self.expect(one == other, f"stat {line}"):
            for x, y in zip(one, other):
                if x != y:
                    print(f"    perf {x!r}\n    ours {y!r}")
            print(f"    {len(one)} and {len(other)} lines")
            ok = False
        return ok

    def count_of(self, text, event):
        for row in csv.reader(text.splitlines()):
            if len(row) > 2 and row[2] == event:
                return int(row[0]) if row[0].isdigit() else row[0]
        return None

    def exact(self, event, arguments):
        words = ["stat", "-x,", "-e", event, self.work, *map(str, arguments)]
        theirs, ours, rounds = [], [], 8
        # the number of pages of a program that is loaded differs by chance, so a few runs may have no number in common
        while rounds and not set(theirs) & set(ours):
            theirs += [self.count_of(self.perf(words).stderr, event) for _ in range(4)]
            ours += [self.count_of(self.ours(words).stderr, event) for _ in range(4)]
            rounds -= 1
        fits = all(isinstance(x, int) for x in ours + theirs) and set(theirs) & set(ours)
        return self.expect(fits, f"{event} {arguments}: perf {theirs}, ours {ours}")

    def report(self, name, path, ways=WAYS, formats=((), ("-x,",), ("-j",))):
        for form in formats:
            for way in [None, *ways]:
                words = ["stat", *form, "report", "-i", path, *([way] if way else [])]
                theirs, ours = self.perf(words), self.ours(words)
                wanted = [x for x in theirs.stderr.splitlines() if not re.match("interpreting|warning: processing", x)]
                if theirs.returncode:
                    continue
                if not self.expect(wanted == ours.stdout.splitlines(), f"report of {name} {form} {way}"):
                    for x, y in zip(wanted, ours.stdout.splitlines()):
                        if x != y:
                            print(f"    perf {x!r}\n    ours {y!r}")
                            break

    def metrics_only(self, name, path):
        """The same values in each line; headings, and what is none, are not perf's."""
        def rows(words, tool):
            result = common.run([tool, "stat", "-x,", "--metric-only", "report", "-i", path, *words])
            lines = [line.strip(" ").split(",") for line in (result.stderr if tool == "perf" else result.stdout).splitlines()]
            return [[cell for cell in line if cell] for line in lines if any(re.fullmatch(r"[\d.]+", cell) for cell in line[1:])]

        # perf has a line for each event and thread, and no thread in it; and lines without a value
        if name in ("threads", "many"):
            return
        theirs, ours = rows([], "perf"), rows([], self.perfdata)
        for words in (["-A"], ["--per-core"], ["--per-node"]) if name == "by-global" else ():
            theirs, ours = theirs + rows(words, "perf"), ours + rows(words, self.perfdata)
        self.expect(theirs == ours, f"metrics of {name}:\n    perf {theirs}\n    ours {ours}")

    def newer(self):
        """Files that perf 6.1 does not know: the same lines, but for what is worked out of them."""
        def lines(text):
            text = re.sub(r"(?m) +#  .*$| +$", "", re.sub(r', "metric-value".*', "}", text))
            text = re.sub(r"(?m)(,100\.00),.*$", r"\1", text)
            # of the intervals after the first, perf 7.2 adds each CPU once more; it does not indent times in CSV
            return [re.sub(r"^ +(?=\d+\.\d{9},)", "", line) for line in text.splitlines() if "0.200000000" not in line]

        for name, path, cpus in common.newer_files(self.perfdata, self.folder):
            # perf reads no counts of CPUs that are not here
            if cpus > (os.cpu_count() or 1):
                continue
            for form in ((), ("-x,",), ("-j",)):
                for way in [None, *common.NEWER_WAYS]:
                    words = ["stat", *form, "report", "-i", path, *([way] if way else [])]
                    theirs, ours = lines(self.perf(words).stderr), lines(self.ours(words).stdout)
                    self.expect(theirs == ours, f"report of {name} {form} {way}\n    perf {theirs}\n    ours {ours}")

    def recording(self, line):
        for tool, name in ((["perf"], "theirs"), ([self.perfdata], "ours")):
            path = os.path.join(self.folder, name + ".data")
            result = common.run([*tool, "stat", "record", "-o", path, *self.words(line)])
            if not self.expect(result.returncode == 0, f"{name}: record {line}: {result.stderr[-200:]}"):
                return
            self.report(f"{name}: {line}", path, ways=["-A", "--per-socket"])
            attrs = common.run(["perf", "evlist", "-v", "-i", path]).stdout
            # values of both are read one by one here, groups are at once there
            attrs = re.sub(r"\|?(ID|GROUP)\b", "", re.sub(r"(?<=, )id: .*?(, |$)", "", attrs))
            if name == "theirs":
                wanted = attrs
                continue
            # without TRACING_DATA perf names no attr of tracepoints
            self.expect(attrs == wanted or not wanted, f"record {line}: attrs\n    perf {wanted}\n    ours {attrs}")
            check = common.run([self.perfdata, "check", path])
            self.expect(check.returncode == 0 and "no problem" in check.stdout, f"record {line}: check: {check.stdout}")
            for words in (["script"], ["report", "--header-only"]):
                read = self.perf([*words, "-i", path])
                self.expect(read.returncode == 0 and not read.stderr.strip(), f"record {line}: perf {words}: {read.stderr}")

    def pipes(self):
        words = ["-e", "task-clock,page-faults", "-I", "20", "--quiet", self.work, "0", "0", "0", "60"]
        for tool in ("perf", self.perfdata):
            path = os.path.join(self.folder, "pipe.data")
            with open(path, "wb") as out:
                subprocess.run([tool, "stat", "record", "-o", "-", *words], stdout=out, stderr=subprocess.DEVNULL, check=False)
            self.report(f"pipe of {os.path.basename(tool)}", path, ways=[])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("perfdata")
    parser.add_argument("--only", default="")
    parser.add_argument("--table", action="store_true")
    parser.add_argument("--corpus")
    arguments = parser.parse_args()
    perfdata = os.path.abspath(arguments.perfdata)
    if not shutil.which("perf") or not shutil.which("cc"):
        print("SKIP: there is no perf, or no compiler")
        return common.SKIPPED
    if common.run(["perf", "stat", "-a", "-e", "cpu-clock", "true"]).returncode:
        print("SKIP: nothing can be counted here")
        return common.SKIPPED
    with tempfile.TemporaryDirectory() as folder:
        sides = Sides(perfdata, folder)
        for line in LINES:
            if arguments.only in line and sides.may(line):
                ok = sides.line(line)
                if arguments.table:
                    print("same  " if ok else "DIFFER", line)
        for event, needs, given in EXACT:
            if arguments.only in event and sides.may(needs):
                sides.exact(event, given)
        if not arguments.only:
            for name, path in common.metric_files(perfdata, folder):
                if name == "slots-all":
                    continue
                sides.report(name, path)
                sides.metrics_only(name, path)
            if "--per-cluster" in sides.perf(["stat", "-h"]).stderr:
                sides.newer()
            for line in RECORDINGS:
                if sides.may(line):
                    sides.recording(line)
            sides.pipes()
        return sides.end(f"{len(LINES)} lines of options")


if __name__ == "__main__":
    sys.exit(main())
