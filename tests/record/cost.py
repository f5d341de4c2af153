#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What recording costs: processor time of perfdata record and of perf record, with the same options, on the same work.

usage: cost.py PERFDATA BUSY [--long] [--compress] [--only TEXT] [--runs N]

Time of a recorder is what it and all it started used, less what the work used to its end: the kernel's part of taking a
sample is charged to the work, and is the same on both sides. Sides take turns; the smallest of the runs counts.
The short form checks that all comes out and prints; there is no limit on time. Exit status: 0; 1 a recording
failed or lost samples where perf did not; 77 nothing can be recorded here.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile

SKIPPED = 77

# Switches between two processes: the least that makes tracepoints as fast as they come. Nothing of it is slept.
SWITCHES = ("import os,sys\n"
            "a,b=os.pipe(),os.pipe()\n"
            "n=int(sys.argv[1])\n"
            "child=os.fork()==0\n"
            "i,o=(a[0],b[1]) if child else (b[0],a[1])\n"
            "for _ in range(n):\n"
            "  if child: os.read(i,1); os.write(o,b'x')\n"
            "  else: os.write(o,b'x'); os.read(i,1)\n"
            "if child: os._exit(0)\n"
            "os.wait()\n")
PYTHON = ("import json,sys,time\n"
          "def f(n):\n"
          "  return g(n-1) if n else json.loads(json.dumps({str(i):[i,i*.5,'x'*(i%9)] for i in range(300)}))\n"
          "def g(n):\n"
          "  return max((f(n) for _ in range(1)),key=len)\n"
          "s=float(sys.argv[1])\n"
          "while time.process_time()<s: f(12)\n")

# name, options, work: "busy WORDS", "python", "switches"; short and long argument of the work
CASES = [
    ("sched tracepoints, -a", "-e sched:* -a", "switches", 20000, 300000),
    ("syscall tracepoints", "-e raw_syscalls:*", "switches", 20000, 300000),
    ("cpu-clock -g 1 kHz", "-e cpu-clock -F 1000 -g", "busy", 0.5, 10),
    ("cpu-clock -g 4 kHz", "-e cpu-clock -F 4000 -g", "busy", 0.5, 10),
    ("cpu-clock -g 10 kHz", "-e cpu-clock -F 10000 -g", "busy", 0.5, 5),
    ("cpu-clock -g 25 kHz", "-e cpu-clock -F 25000 -g", "busy", 0.5, 5),
    ("cpu-clock -g 50 kHz", "-e cpu-clock -F 50000 -g", "busy", 0.5, 5),
    ("cpu-clock 50 kHz", "-e cpu-clock -F 50000", "busy", 0.5, 5),
    ("dwarf 1 kHz", "-e cpu-clock -F 1000 --call-graph dwarf", "busy", 0.5, 10),
    ("dwarf 4 kHz", "-e cpu-clock -F 4000 --call-graph dwarf", "busy", 0.5, 10),
    ("dwarf 4 kHz, python", "-e cpu-clock -F 4000 --call-graph dwarf", "python", 0.5, 10),
    ("cpu-clock -g 4 kHz, python", "-e cpu-clock -F 4000 -g", "python", 0.5, 10),
]


class Cost:
    def __init__(self, perfdata, busy, folder, long, compress):
        self.busy, self.folder, self.long = busy, folder, long
        self.timed = os.path.join(os.path.dirname(busy), "timed")
        self.tools = {"perf": ["perf", "record"], "ours": [perfdata, "record"]}
        self.more = ["-z"] if compress else []
        self.env = dict(os.environ, HOME=folder, PERF_CONFIG="/dev/null", LC_ALL="C")

    def work(self, case):
        _, _, kind, short, long = case
        size = str(long if self.long else short)
        if kind == "busy":
            return [self.busy, size]
        return [sys.executable, "-c", SWITCHES if kind == "switches" else PYTHON, size]

    def run(self, side, case):
        """(seconds of the recorder, samples, lost), or None if it failed."""
        out = os.path.join(self.folder, side + ".data")
        said = os.path.join(self.folder, "said")
        words = self.tools[side] + ["-q", *self.more, "-o", out, *case[1].split(), "--", self.timed, said, *self.work(case)]
        for name in (out, out + ".old", said):
            if os.path.exists(name):
                os.unlink(name)
        pid = os.fork()
        if pid == 0:
            null = os.open("/dev/null", os.O_RDWR)
            for fd in (0, 1, 2):
                os.dup2(null, fd)
            os.chdir(self.folder)
            os.execvpe(words[0], words, self.env)
        _, status, usage = os.wait4(pid, 0)
        if status != 0 or not os.path.exists(said):
            return None
        with open(said, encoding="ascii") as f:
            own = float(f.read())
        samples, lost = self.counts(out)
        return usage.ru_utime + usage.ru_stime - own, samples, lost, os.path.getsize(out)

    def counts(self, path):
        result = subprocess.run([self.tools["ours"][0], "info", "--json", path], capture_output=True, text=True)
        info = json.loads(result.stdout)
        return info["records"]["types"].get("SAMPLE", 0), info["lost"]["records"] + info["lost"]["samples"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("perfdata")
    parser.add_argument("busy")
    parser.add_argument("--long", action="store_true", help="enough work that the figures mean something")
    parser.add_argument("--compress", action="store_true", help="both with -z")
    parser.add_argument("--only", default="", metavar="TEXT")
    parser.add_argument("--runs", type=int, default=1)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="cost-") as folder:
        cost = Cost(os.path.abspath(arguments.perfdata), os.path.abspath(arguments.busy), folder, arguments.long, arguments.compress)
        if not shutil.which("perf") or not cost.run("perf", CASES[2]) or not cost.run("ours", CASES[2]):
            print("perf is not here, or nothing can be recorded here")
            return SKIPPED
        trace = os.access("/sys/kernel/tracing/events/sched", os.R_OK)
        failed = 0
        print(f"{'':28} {'perf':>35}  {'perfdata':>35}   share")
        for case in CASES:
            if arguments.only not in case[0] or (not trace and "tracepoint" in case[0]):
                continue
            best = {}
            for _ in range(arguments.runs):
                for side in cost.tools:
                    got = cost.run(side, case)
                    if got and (side not in best or got[0] / max(got[1], 1) < best[side][0] / max(best[side][1], 1)):
                        best[side] = got
            if len(best) < 2:
                failed += 1
                print(f"{case[0]:28} failed: {sorted(best)} came out")
                continue
            each = {side: 1e9 * t / max(n, 1) for side, (t, n, _, _) in best.items()}
            cells = [f"{n:8} samples {lost:5} lost {size / 1e6:6.1f} MB {each[side]:7.0f} ns"
                     for side, (_, n, lost, size) in best.items()]
            failed += best["ours"][1] == 0 or (best["ours"][2] > 0 and best["perf"][2] == 0)
            print(f"{case[0]:28} {cells[0]}  {cells[1]}   {each['ours'] / each['perf']:.2f}")
            sys.stdout.flush()
        return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
