#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Records with perfdata and with the perf of this machine, with the same options, and compares.

usage: attrs.py PERFDATA [--only TEXT] [--from LINE] [--table] [--options] [--markdown FILE]

For each line of options: the attrs of both (perf evlist -v), whether perf reads ours without a word on stderr (script,
report --stats, --header-only -I), whether perfdata check finds nothing, and whether both find as many samples in it. --options:
not these lines, but one for each option of perfdata record. --table prints a line for each; --markdown writes the table of all
options. Exit status: 0 all agree; 1 not; 77 nothing can be recorded here.
"""

import argparse
import atexit
import glob
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
    "-g --user-callchains", "-g --kernel-callchains", "-g -e cpu-clock:u", "-a --call-graph dwarf -F 50", "-a -c 1000",
    "-a -F 50", "-e cpu-clock:I", "-e cpu-clock:ppp", "-e {cpu-clock:k,task-clock:u}:H", "-a -e cpu-clock:k -d",
    "-d", "-W", "-T", "-P", "-R", "-s", "-n", "-i", "--phys-data", "--data-page-size", "--code-page-size",
    "--sample-cpu", "--sample-identifier", "--transaction", "-d --phys-data", "-W -d", "-T -P",
    "--user-regs=ip,sp", "--user-regs", "-I", "--intr-regs=ax,bx", "--user-regs=ip -I",
    "-k mono", "-k CLOCK_MONOTONIC_RAW", "-k boottime", "-k realtime", "-k tai", "-k 1",
    "-m 64", "-m 1M", "--switch-events", "--switch-events -a", "--namespaces", "--namespaces -a", "--all-cgroups",
    "--all-cgroups -a", "--overwrite", "--overwrite -a", "--no-bpf-event", "--buildid-mmap", "--buildid-mmap -a",
    "--all-user", "--all-kernel", "--per-thread", "--per-thread -g", "-D 10", "-D 1 -a", "--no-inherit",
    "--tail-synthesize", "--synth no", "--synth task", "--synth mmap", "--synth all -a", "--max-size 100K -a -F 20000",
    "--strict-freq -F 100", "-F 10000000", "--strict-freq -F 10000000", "-k 77", "-k CLOCK_BOOTTIME", "--mmap-flush 4K", "-z", "-z3", "--compression-level=2", "-B", "-N", "--buildid-all",
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

# Each option of perfdata record by a line that has it. PID is a process that runs, OURS what perf (this one) does not have.
OPTIONS = {
    "event": "-e cpu-clock,page-faults", "filter": "TRACE -e sched:sched_switch -a --filter prev_pid!=0",
    "exclude-perf": "TRACE -e sched:sched_switch -a --exclude-perf", "group": "--group -e cpu-clock,task-clock", "all-cpus": "-a",
    "pid": "-p PID", "tid": "-t PID", "uid": "-u USER", "cpu": "-C 0", "cgroup": "-a -e cpu-clock -G /", "no-inherit": "-i",
    "freq": "-F 100", "count": "-c 100000 -e cpu-clock", "g": "-g", "call-graph": "--call-graph dwarf,4096",
    "max-stack": "OURS -g --max-stack 8", "branch-any": "-b", "branch-filter": "-j any,u", "data": "-d", "phys-data": "--phys-data",
    "data-mmap": "OURS --data-mmap", "sample-mem-info": "OURS --sample-mem-info",
    "data-page-size": "--data-page-size", "code-page-size": "--code-page-size", "weight": "-W", "transaction": "--transaction",
    "raw-samples": "-R", "timestamp": "-T", "period": "-P", "sample-cpu": "--sample-cpu",
    "sample-identifier": "--sample-identifier", "user-regs": "--user-regs=ip,sp", "intr-regs": "--intr-regs=ax,bx",
    "all-user": "--all-user", "all-kernel": "--all-kernel", "user-callchains": "-g --user-callchains",
    "kernel-callchains": "-g --kernel-callchains", "clockid": "-k mono", "mmap-pages": "-m 64", "namespaces": "--namespaces -a",
    "all-cgroups": "--all-cgroups -a", "switch-events": "--switch-events -a", "latency": "OURS --latency", "no-bpf-event": "--no-bpf-event",
    "buildid-mmap": "--buildid-mmap", "strict-freq": "--strict-freq -F 100", "output": "-o -", "compression-level": "-z3",
    "no-samples": "-n", "stat": "-s", "running-time": "--running-time", "per-thread": "--per-thread", "off-cpu": "OURS --off-cpu -a",
    "unwind-now": "OURS --unwind-now --call-graph dwarf", "runs": "OURS --runs 1", "for": "OURS --for sched",
    "store": "OURS --store fleet.db", "label": "OURS --store fleet.db --label service=web",
    "delay": "-D 10", "control": "--control fd:0 -a", "overwrite": "--overwrite -a", "switch-output": "--switch-output=20K -a",
    "switch-output-event": "TRACE --switch-output-event sched:sched_process_exit -a", "no-buffering": "--no-buffering -a",
    "vmlinux": "--vmlinux /proc/version",
    "switch-max-files": "--switch-output=20K --switch-max-files 1 -a", "timestamp-filename": "--timestamp-filename",
    "timestamp-boundary": "--timestamp-boundary", "tail-synthesize": "--tail-synthesize", "synth": "--synth task -a",
    "max-size": "--max-size 100K -a -F 20000", "duration": "OURS --duration 100ms -a", "mmap-flush": "--mmap-flush 4K",
    "realtime": "-r 5", "threads": "--threads -a", "no-buildid": "-B", "no-buildid-cache": "-N", "buildid-all": "--buildid-all",
    "dry-run": "--dry-run", "verbose": "-v", "force": "OURS -f", "quiet": "-q",
    "aio": "--aio=2", "affinity": "--affinity cpu", "num-thread-synthesize": "--num-thread-synthesize 2 -a",
    "proc-map-timeout": "--proc-map-timeout 500",
}
MARKDOWN = """# Options of perfdata record

Each option, recorded once by perfdata and by perf {version} on one machine without hardware counters. *Attrs*: both request the
same attributes from the kernel. *perf reads*: perf script, report and report --header print nothing to standard error for our file.
*Samples*: perf and perfdata find the same number of samples in it. `tests/record/attrs.py --options --markdown` generates this
table; without `--options` it compares longer command lines.

| option | recorded with | attrs | perf reads | samples |
| --- | --- | --- | --- | --- |
"""


class Sides:
    def __init__(self, perfdata, folder):
        self.perfdata, self.folder = perfdata, folder
        self.env = dict(os.environ, HOME=folder, LC_ALL="C")
        self.busy = subprocess.Popen(["sh", "-c", "while :; do :; done"], stdin=subprocess.DEVNULL, preexec_fn=self.become)
        atexit.register(self.end)

    @staticmethod
    def become():
        """A user with one process only, where that can be."""
        os.nice(10)
        if os.getuid() == 0:
            os.setuid(65534)

    def end(self):
        self.busy.kill()
        self.busy.wait()

    def run(self, words, **more):
        return subprocess.run(words, cwd=self.folder, env=self.env, capture_output=True, text=True, errors="replace",
                              timeout=1200, stdin=subprocess.DEVNULL, **more)

    def record(self, words, name):
        path = os.path.join(self.folder, name)
        for old in glob.glob(glob.escape(path) + "*"):
            shutil.rmtree(old) if os.path.isdir(old) else os.unlink(old)
        target = ["--", "sleep", "0.05"] if {"-a", "-C", "-p", "-t", "-u"} & set(words) else ["--", *WORK]
        tool = ["perf", "record"] if name == "perf.data" else [self.perfdata, "record"]
        words = [{"PID": str(self.busy.pid), "USER": str(os.stat(f"/proc/{self.busy.pid}").st_uid)}.get(w, w) for w in words]
        if "-o" in words:
            with open(path, "wb") as out:
                return subprocess.run([*tool, "-q", *words, *target], stdout=out, stderr=subprocess.PIPE, text=True, cwd=self.folder,
                                      env=self.env, stdin=subprocess.DEVNULL, timeout=1200)
        result = self.run([*tool, "-q", "-o", name, *words, *target])
        stamped = sorted(glob.glob(glob.escape(path) + ".2*"))
        if stamped and not os.path.exists(path):
            os.rename(stamped[-1], path)
        return result

    def attrs(self, name):
        """Lines of perf evlist -v without what differs from run to run."""
        result = self.run(["perf", "evlist", "-v", "-i", name])
        text = [l for l in result.stdout.splitlines() if l and not l.startswith("#")]
        return [re.sub(r", aux_watermark: \d+", "", line) for line in text]


def words_of(line):
    return [word for word in line.split() if word not in ("TRACE", "OURS")]


def samples(sides, name):
    """How many perf finds, and how many we do."""
    theirs = sides.run(["perf", "report", "--stats", "-i", name]).stdout
    ours = sides.run([sides.perfdata, "check", "--json", name]).stdout
    found = re.search(r'"samples": ?(\d+)', ours)
    counts = re.search(r"(?m)^ *SAMPLE events: +(\d+)", theirs)
    return int(counts[1]) if counts else 0, int(found[1]) if found else None


def read_by_perf(sides, name):
    """What perf says on stderr about a file of ours; empty if it reads it in silence."""
    said = []
    for words in (["script", "-i", name], ["report", "--stats", "-i", name],
                  ["report", "--header-only", "-I", "-i", name]):
        result = sides.run(["perf", *words])
        if result.returncode != 0 or result.stderr.strip():
            said.append(f"perf {words[0]}: {result.returncode} {result.stderr.strip()[:200]}")
    return said


def read_by_both(sides):
    """What is wrong with our file alone."""
    wrong = []
    said = read_by_perf(sides, "our.data")
    # what perf says of its own file is not ours to be blamed for
    if said and not (os.path.exists(os.path.join(sides.folder, "perf.data")) and read_by_perf(sides, "perf.data")):
        wrong += said
    check = sides.run([sides.perfdata, "check", "our.data"])
    if check.returncode != 0 or "warning 0" not in check.stdout + "warning 0" * ("no problem" in check.stdout):
        wrong.append("check: " + check.stdout.strip()[:300])
    counts = samples(sides, "our.data")
    if counts[0] != counts[1]:
        wrong.append(f"samples: perf finds {counts[0]}, perfdata {counts[1]}")
    return wrong


def has_some(path):
    return os.path.isdir(path) or (os.path.exists(path) and os.path.getsize(path) > 0)


def compare(sides, line):
    """(what differs, note)"""
    words = words_of(line)
    ours = sides.record(words, "our.data")
    if "--runs" in words and ours.returncode == 0:
        os.replace(os.path.join(sides.folder, "our-1.data"), os.path.join(sides.folder, "our.data"))
    if line.startswith("OURS"):
        return read_by_both(sides) if ours.returncode == 0 else [ours.stderr], "not in perf"
    theirs = sides.record(words, "perf.data")
    if "--dry-run" in words and theirs.returncode == ours.returncode == 0:
        left = [name for name in ("perf.data", "our.data") if os.path.exists(os.path.join(sides.folder, name))]
        return [f"{name} was made" for name in left], "no file"
    if not has_some(os.path.join(sides.folder, "perf.data")):
        if ours.returncode != 0:
            return [], "refused by both: " + ours.stderr.strip().splitlines()[-1][:100]
        return [], "refused by perf: " + (theirs.stderr.strip().splitlines() or [""])[-1][:100]
    if ours.returncode != 0 and theirs.returncode == 0:
        return [f"exit status {ours.returncode}: {ours.stderr.strip()[:300]}"], ""
    wrong = []
    left, right = sides.attrs("perf.data"), sides.attrs("our.data")
    if "*" in line:  # the order of folders on one side, of names on the other
        left, right = sorted(left), sorted(right)
    if "/4:rw" in line:  # perf names it without what is behind the address
        left = [l.replace("mem:0x1000:", "mem:0x1000/4:rw:", 1) for l in left]
    if left != right:
        wrong += [f"attrs:\n  perf {a}\n  ours {b}" for a, b in zip(left + [""] * 9, right + [""] * 9) if a != b]
    wrong += read_by_both(sides)
    return wrong, ""


def can_record(sides):
    return shutil.which("perf") and sides.record(["-e", "cpu-clock"], "perf.data").returncode == 0


# options of all commands, which say nothing about recording
EVERYWHERE = {"help", "color", "no-pager"}


def not_here(perfdata):
    """Options without a line."""
    text = subprocess.run([perfdata, "record", "--help"], capture_output=True, text=True, check=True).stdout
    return sorted(set(re.findall(r"(?m)^ +(?:-., )?--([a-z-]+)", text)) - set(OPTIONS) - EVERYWHERE)


def row(option, line, wrong, note):
    """Of the table for people."""
    cells = {"": ["same", "yes", "same"], "not in perf": ["not in perf", "yes", "same"], "no file": ["no file is written", "", ""]}
    shown = cells.get(note, ["not supported on this machine, by both", "", ""])
    if wrong:
        shown = ["differs: " + " ".join(wrong)[:60], "", ""]
    words = " ".join(words_of(line)).replace("|", "\\|")
    return f"| `--{option}` | `{words}` | {' | '.join(shown)} |\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("perfdata")
    parser.add_argument("--only", default="", metavar="TEXT")
    parser.add_argument("--from", dest="first", metavar="LINE", help="that line of options and those behind it")
    parser.add_argument("--table", action="store_true")
    parser.add_argument("--options", action="store_true")
    parser.add_argument("--markdown", metavar="FILE")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="attrs-") as folder:
        sides = Sides(os.path.abspath(arguments.perfdata), folder)
        if not can_record(sides):
            print("perf is not here, or may not record here")
            return SKIPPED
        trace = os.access("/sys/kernel/tracing/events/sched", os.R_OK)
        named = OPTIONS if arguments.options or arguments.markdown else dict(zip(LINES, LINES))
        named = {n: l for n, l in named.items() if arguments.only in l and (trace or "TRACE" not in l)}
        if arguments.first:
            named = dict(list(named.items())[list(named).index(arguments.first):])
        differ = refused = 0
        rows = []
        for name, line in named.items():
            wrong, note = compare(sides, line)
            rows.append(row(name, line, wrong, note))
            differ += bool(wrong)
            refused += bool(note) and not wrong
            if arguments.table or wrong:
                print(f"{'DIFFERS' if wrong else note or 'equal':10} {line}")
            for what in wrong:
                print("   ", what)
            sys.stdout.flush()
        for option in not_here(sides.perfdata) if named and named.items() <= OPTIONS.items() else []:
            print(f"--{option} has no line here")
            differ += 1
        if arguments.markdown:
            version = subprocess.run(["perf", "--version"], capture_output=True, text=True).stdout.split()[-1]
            with open(arguments.markdown, "w", encoding="utf-8") as file:
                file.write(MARKDOWN.format(version=version) + "".join(rows))
        print(f"{len(named)} lines of options: {len(named) - differ - refused} equal, {refused} not compared, {differ} differ"
              + ("" if trace else "; no tracefs"))
        return 1 if differ else 0


if __name__ == "__main__":
    sys.exit(main())
