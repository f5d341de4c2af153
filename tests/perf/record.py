#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes recordings with the perf of this machine, to compare with.

usage: record.py FOLDER [--only PATTERN] [--list]

The programs that are recorded are compiled from the sources beside this file. Each recording is FOLDER/NAME.data
(or a folder of this name) and says why if it cannot be made here: what the kernel, the machine or perf does not have.
FOLDER/home is the home of perf, so that nothing comes from, or goes to, the cache of the user.
"""

import argparse
import collections
import fnmatch
import functools
import os
import re
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
TRACEFS = "/sys/kernel/tracing"

# name, how it is recorded, tools that are needed. P is perf record with an output file, R perf record without.
Recording = collections.namedtuple("Recording", "name command needs")
CHAIN = "-e cpu-clock -F 2000 -g"
RECORDINGS = [
    # programs
    Recording("plain", "P -e cpu-clock -F 2000 $BIN/work 200 alone", ""),
    Recording("chain", f"P {CHAIN} $BIN/work 300 alone threads forks faults", ""),
    Recording("alone", f"P {CHAIN} $BIN/work 200 alone", ""),
    Recording("threads", f"P {CHAIN} $BIN/work 300 threads", ""),
    Recording("forks", f"P {CHAIN} $BIN/work 300 forks", ""),
    Recording("many-forks", "P -e cpu-clock -F 4000 $BIN/work 100 many", ""),
    Recording("no-pie", f"P {CHAIN} $BIN/work-no-pie 150", ""),
    Recording("static", f"P {CHAIN} $BIN/work-static 150", "static"),
    Recording("static-pie", f"P {CHAIN} $BIN/work-static-pie 150", "static"),
    Recording("stripped", f"P {CHAIN} $BIN/work-stripped 150", ""),
    Recording("no-build-id", f"P {CHAIN} $BIN/work-no-build-id 150", ""),
    Recording("debug-file", f"P {CHAIN} $BIN/work-debug-file 150", ""),
    Recording("inline", f"P {CHAIN} $BIN/inline", ""),
    Recording("cpp", f"P {CHAIN} $BIN/names", "g++"),
    Recording("rust", f"P {CHAIN} $BIN/names-rust", "rustc"),
    Recording("rust-legacy", f"P {CHAIN} $BIN/names-rust-legacy", "rustc"),
    Recording("library", f"P {CHAIN} $BIN/load $BIN/library.so", ""),
    Recording("jit", f"P {CHAIN} $BIN/jit", ""),
    Recording("vdso", f"P {CHAIN} $BIN/work 150 clock", ""),
    # perf does not note the build id of the vdso with these
    Recording("vdso-zstd", f"P {CHAIN} -z $BIN/work 150 clock", ""),
    Recording("vdso-mmap", f"P {CHAIN} --buildid-mmap $BIN/work 150 clock", ""),
    Recording("vdso-no-build-ids", f"P {CHAIN} -B $BIN/work 150 clock", ""),
    Recording("exit", f"P {CHAIN} $BIN/work 150 exit || true", ""),
    Recording("deleted", f"cp $BIN/work $BIN/gone; P {CHAIN} $BIN/gone 150 deleted", ""),
    Recording("kernel", "P -e cpu-clock:k -F 4000 -g $BIN/work 300 faults write", ""),
    Recording("user", "P -e cpu-clock:u -F 4000 -g $BIN/work 150 alone clock", ""),
    Recording("kernel-chains", "P -e cpu-clock -F 2000 -g --kernel-callchains $BIN/work 150 faults", ""),
    Recording("user-chains", "P -e cpu-clock -F 2000 -g --user-callchains $BIN/work 150 faults", ""),
    Recording("dwarf", "P -e cpu-clock -F 500 --call-graph dwarf,2048 $BIN/work 100 alone", ""),
    # events
    Recording("events", "P -e cpu-clock,task-clock,page-faults,context-switches -F 1000 -g $BIN/work 200 alone faults write", ""),
    Recording("no-samples", "P -e cpu-clock,cpu-migrations,emulation-faults -F 1000 $BIN/work 100", ""),
    Recording("group", "P -e '{cpu-clock,task-clock,page-faults}' -F 1000 $BIN/work 200 alone faults", ""),
    Recording("group-chain", "P -e '{cpu-clock,page-faults}' -F 1000 -g $BIN/work 200 alone faults", ""),
    Recording("leader", "P -e '{cpu-clock,task-clock,page-faults}:S' -F 1000 -g $BIN/work 200 alone faults", ""),
    Recording("two-groups", "P -e '{cpu-clock,page-faults},{task-clock,context-switches}' -F 500 $BIN/work 200 faults write", ""),
    Recording("names", "P -e 'cpu-clock/name=first_event/,task-clock/period=3000000,name=second/' -F 800 $BIN/work 200", ""),
    Recording("period", "P -e cpu-clock -c 700000 -d --period $BIN/work 150", ""),
    Recording("faults", "P -e page-faults -c 1 -d $BIN/work 50 faults", ""),
    Recording("sched", "P -e sched:sched_switch,sched:sched_process_fork,sched:sched_process_exec,sched:sched_process_exit,sched:sched_wakeup $BIN/work 100 write forks", "tracefs"),
    Recording("syscalls", "P -e syscalls:sys_enter_write,syscalls:sys_exit_write,syscalls:sys_enter_openat -g $BIN/work 60 write", "tracefs"),
    Recording("raw-syscalls", "P -e 'raw_syscalls:*' $BIN/work 60 write", "tracefs"),
    Recording("trace-and-clock", "P -e cpu-clock,sched:sched_switch -F 1000 -g $BIN/work 150 write alone", "tracefs"),
    Recording("kmem", "P -e kmem:kmalloc,kmem:mm_page_alloc,irq:softirq_entry,timer:hrtimer_start -c 3 $BIN/work 30 faults", "tracefs"),
    Recording("trace-pipe", "R -e sched:sched_switch -o - $BIN/work 60 write >$OUT", "tracefs"),
    # fields
    Recording("uregs", "P -e cpu-clock -F 1000 --user-regs=ip,sp,bp,ax -g $BIN/work 100", ""),
    Recording("iregs", "P -e cpu-clock -F 1000 --intr-regs=ip,flags,ax,r9 $BIN/work 100 alone faults", ""),
    Recording("all-regs", "P -e cpu-clock -F 500 -I $BIN/work 100", ""),
    Recording("addresses", "P -e page-faults -c 1 -d --phys-data --data-page-size --code-page-size -W $BIN/work 50 faults", ""),
    Recording("weights", "P -e cpu-clock -F 1000 -W -d --data-page-size --code-page-size $BIN/work 100", ""),
    Recording("switches", "P -e cpu-clock -F 1000 --switch-events $BIN/work 150 write threads", ""),
    Recording("namespaces", "P -e cpu-clock -F 1000 --namespaces $BIN/work 150 forks", ""),
    Recording("cgroups", "P -e cpu-clock -F 1000 --all-cgroups $BIN/work 100 alone", ""),
    Recording("read", "P -e cpu-clock,page-faults -F 1000 -s -T $BIN/work 150 threads", ""),
    Recording("no-inherit", "P -e cpu-clock -F 1000 -n $BIN/work 100", ""),
    Recording("sample-cpu", "P -e cpu-clock -F 1000 --sample-cpu -g $BIN/work 150 threads", ""),
    Recording("identifier", "P -e cpu-clock,task-clock -F 1000 --sample-identifier $BIN/work 100", ""),
    Recording("clock", "P -e cpu-clock -F 1000 -k CLOCK_MONOTONIC $BIN/work 100", ""),
    Recording("branches", f"R -o chains.data {CHAIN} $BIN/work 200 alone threads faults && "
              "$SRC/branches.py $PERFDATA chains.data $OUT && rm chains.data", "perfdata"),
    # whom
    Recording("everybody", "$BIN/work 500 threads & P -a -e cpu-clock -F 500 -g sleep 0.4; wait", "root"),
    Recording("everybody-switches", "$BIN/work 300 write & P -a -e cpu-clock -F 500 --switch-events --namespaces --all-cgroups sleep 0.3; wait", "root"),
    Recording("process", "$BIN/work 5000 alone & sleep 0.1; P -e cpu-clock -F 500 -g -p $! sleep 0.3; kill $!; wait", ""),
    Recording("thread", "P -e cpu-clock -F 1000 --per-thread $BIN/work 100", ""),
    # forms
    Recording("pipe", f"R {CHAIN} -o - $BIN/work 150 alone forks >$OUT", ""),
    Recording("pipe-events", "R -e cpu-clock,page-faults -F 1000 -o - $BIN/work 100 faults | cat >$OUT", ""),
    Recording("zstd", f"P {CHAIN} -z $BIN/work 200 alone faults", ""),
    Recording("zstd-pipe", f"R {CHAIN} -z -o - $BIN/work 150 alone faults >$OUT", ""),
    Recording("directory", "P -e cpu-clock -F 2000 -g --threads $BIN/work 150 threads", "root"),
    Recording("buildid-mmap", f"P {CHAIN} --buildid-mmap $BIN/work 100", ""),
    Recording("buildid-all", f"P {CHAIN} --buildid-all $BIN/work 100", ""),
    Recording("no-cache", f"P {CHAIN} -N $BIN/work 100", ""),
    Recording("no-build-ids", f"P {CHAIN} -B $BIN/work 100", ""),
    Recording("synth", f"$BIN/work 5000 alone & sleep 0.1; P {CHAIN} --synth=no -p $! sleep 0.3; kill $!; wait", ""),
]

FRAMES = "-O1 -g -fno-omit-frame-pointer -fno-optimize-sibling-calls"
WORK = f"gcc {FRAMES} -pthread $SRC/work.c"
PROGRAMS = {
    "work": f"{WORK} -o work",
    "work-no-pie": f"{WORK} -no-pie -o work-no-pie",
    "work-static": f"{WORK} -static -o work-static",
    "work-static-pie": f"{WORK} -static-pie -o work-static-pie",
    "work-stripped": f"{WORK} -DSTRIPPED -s -Wl,--build-id=sha1 -Wl,-O1 -o work-stripped",
    "work-no-build-id": f"{WORK} -Wl,--build-id=none -o work-no-build-id",
    "work-debug-file": f"{WORK} -Wl,--hash-style=sysv -o work-debug-file && "
    "objcopy --only-keep-debug work-debug-file work-debug-file.debug && "
    "objcopy --strip-all --add-gnu-debuglink=work-debug-file.debug work-debug-file",
    "inline": "gcc -O2 -g -fno-omit-frame-pointer $SRC/inline.c -o inline",
    "names": "g++ -O1 -g -fno-omit-frame-pointer $SRC/names.cc -o names",
    "names-rust": "rustc -O -g -C force-frame-pointers=yes -C symbol-mangling-version=v0 $SRC/names.rs -o names-rust",
    "names-rust-legacy": "rustc -O -g -C force-frame-pointers=yes $SRC/names.rs -o names-rust-legacy",
    "library.so": f"gcc {FRAMES} -shared -fPIC $SRC/library.c -o library.so",
    "load": f"gcc {FRAMES} $SRC/load.c -ldl -o load",
    "jit": f"gcc {FRAMES} $SRC/jit.c -o jit",
}


def perf_missing():
    """Why nothing can be recorded here, or None."""
    perf = shutil.which("perf")
    if not perf:
        return "perf is not installed"
    if not shutil.which("gcc"):
        return "gcc is not installed"
    probe = subprocess.run([perf, "record", "-q", "-e", "cpu-clock", "-o", "/dev/null", "true"],
                           stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False)
    if probe.returncode != 0:
        lines = [line.strip() for line in probe.stderr.decode("utf-8", "replace").splitlines() if line.strip(" :\n")]
        return f"perf cannot record here: {' '.join(lines)[:200]}"
    return None


@functools.lru_cache(None)
def perf_names_stubs():
    """Whether perf names stubs by the slots that they jump to, as since 6.3."""
    return tuple(int(number) for number in re.findall(r"\d+", perf_version())[:2]) >= (6, 3)


def perf_version():
    text = subprocess.run(["perf", "version"], stdout=subprocess.PIPE, check=False).stdout.decode()
    return text.split()[-1] if text.split() else ""


def tracefs():
    """True if tracepoints can be read, after an attempt to make them so."""
    if not os.path.isdir(f"{TRACEFS}/events") and os.geteuid() == 0:
        subprocess.run(["mount", "-t", "tracefs", "tracefs", TRACEFS], stderr=subprocess.DEVNULL, check=False)
    return os.access(f"{TRACEFS}/events/sched/sched_switch/format", os.R_OK)


def environment(home):
    """Of perf and perfdata: a home of their own, no colours, no pager."""
    mine = {key: value for key, value in os.environ.items() if not key.startswith(("PERF", "DEBUGINFOD", "XDG_"))}
    return {**mine, "HOME": home, "LC_ALL": "C", "TERM": "dumb", "PAGER": "cat"}


class Recorder:
    """Recordings in a folder. get() makes one, with the programs that it needs."""

    def __init__(self, folder, perfdata=None):
        self.perfdata = perfdata
        self.folder = os.path.abspath(folder)
        self.bin = os.path.join(self.folder, "bin")
        self.home = os.path.join(self.folder, "home")
        for name in (self.folder, self.bin, self.home):
            os.makedirs(name, exist_ok=True)
        self.built = {}
        self.has_tracefs = None

    def environment(self):
        return environment(self.home)

    def build(self, program):
        """Why a program cannot be compiled, or None."""
        if program not in self.built:
            done = subprocess.run(["bash", "-c", PROGRAMS[program]], cwd=self.bin, env={**os.environ, "SRC": HERE},
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
            text = done.stdout.decode("utf-8", "replace").strip().splitlines()
            self.built[program] = f"{program} cannot be compiled: {text[0] if text else ''}" if done.returncode else None
        return self.built[program]

    def missing(self, recording):
        """What a recording lacks here, or None."""
        for need in recording.needs.split():
            if need == "tracefs":
                if self.has_tracefs is None:
                    self.has_tracefs = tracefs()
                if not self.has_tracefs:
                    return f"tracepoints cannot be read: no {TRACEFS}"
            elif need == "perfdata":
                if not self.perfdata:
                    return "needs perfdata"
            elif need == "root":
                if os.geteuid() != 0:
                    return "needs root"
            elif need != "static" and not shutil.which(need):
                return f"{need} is not installed"
        for program in PROGRAMS:
            words = recording.command.replace(";", " ").split()
            if f"$BIN/{program}" in words:
                why = self.build(program)
                if why:
                    return why
        return None

    def get(self, recording):
        """(path, None) of a recording that is there now, or (None, why it is not)."""
        path = os.path.join(self.folder, f"{recording.name}.data")
        if os.path.exists(path):
            return path, None
        why = self.missing(recording)
        if why:
            return None, why
        script = f'P() {{ perf record -q -o "$OUT" "$@"; }}; R() {{ perf record -q "$@"; }}; {recording.command}'
        done = subprocess.run(["bash", "-c", script], cwd=self.folder, stdin=subprocess.DEVNULL,
                              env={**self.environment(), "BIN": self.bin, "OUT": path,
                                   "SRC": HERE, "PERFDATA": self.perfdata or ""},
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60, check=False)
        if done.returncode != 0 or not os.path.exists(path):
            if os.path.isdir(path):
                shutil.rmtree(path)
            elif os.path.exists(path):
                os.unlink(path)
            text = [line.strip() for line in done.stderr.decode("utf-8", "replace").splitlines()]
            return None, f"perf record: {' '.join(line for line in text if line)[:200]}"
        return path, None


def chosen(only):
    """Recordings whose name fits one of the patterns, separated by commas."""
    return [one for one in RECORDINGS if any(fnmatch.fnmatch(one.name, word) for word in only.split(","))]


def size_of(path):
    if not os.path.isdir(path):
        return os.path.getsize(path)
    return sum(os.path.getsize(os.path.join(path, name)) for name in os.listdir(path))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder")
    parser.add_argument("--only", default="*", help="only recordings whose name fits this pattern")
    parser.add_argument("--list", action="store_true", help="say what would be recorded")
    args = parser.parse_args()
    if args.list:
        for one in chosen(args.only):
            print(f"{one.name:20} {one.command}")
        return 0
    why = perf_missing()
    if why:
        print(f"SKIP: {why}")
        return 77
    recorder = Recorder(args.folder)
    for one in chosen(args.only):
        path, why = recorder.get(one)
        print(f"{one.name:20} {size_of(path) if path else why}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
