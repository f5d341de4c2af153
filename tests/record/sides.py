#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Records one run with perf and with perfdata at once, and compares what perf reads in both files.

usage: sides.py PERFDATA BUSY [--only TEXT] [--long]

perf record runs perfdata record, which runs the work; what is of the recorders themselves is left out of both, and so is what
one of them took while the other did not record yet or no more. Stock perf must read our file without a word on stderr. The samples must be spread over commands, objects and functions alike: for each
share that is above 1 %, the difference is within five standard errors of two independent samples, and half a percent. No
more samples may be without a name than in perf's file, within the same bound. Exit status: 0; 1; 77 nothing can be recorded here.
"""

import argparse
import collections
import math
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

SKIPPED = 77
OWN = re.compile(r"perf(data\d*)?$|perf-exec$")
PROGRAM = "\n".join(f"static int f{i}(int x) {{ int s = 0; for (int i = 0; i < x; i++) s += (i * {i}) % 7; return s; }}"
                    for i in range(400)) + "\nint main(int c, char **v) { (void)v; return " + \
          " + ".join(f"f{i}(c)" for i in range(400)) + "; }\n"
PYTHON = "import json\nfor i in range(%d): json.loads(json.dumps({str(j): [j, j * .5] for j in range(200)}))"
NODE = "let s = 0; for (let i = 0; i < %d; i++) s += JSON.stringify({a: i, b: [i, i + 1]}).length; console.log(s)"


def works(busy, long):
    """name, options, words; what is not installed is left out."""
    n = 4 if long else 1
    compile_all = "for i in 1 2 3 4; do " + "gcc -O2 -c work.c -o work$$.o; " * n + "done"
    forks = "i=0; while [ $i -lt %d ]; do i=$((i+1)); /bin/true; done" % (500 * n)
    all_of_it = [
        ("compile", [], ["sh", "-c", compile_all], "gcc"),
        ("threads", [], [busy, str(0.5 * n), "4"], busy),
        ("python", [], [sys.executable, "-c", PYTHON % (3000 * n)], sys.executable),
        ("node", [], ["node", "-e", NODE % (2000000 * n)], "node"),
        ("forks", [], ["sh", "-c", forks], "sh"),
        ("all", ["-a"], ["sh", "-c", forks + "; " + shlex.quote(busy) + " 0.5 4"], "sh"),
    ]
    return [w for w in all_of_it if shutil.which(w[3])]


class Side:
    def __init__(self, folder, name):
        self.folder, self.name = folder, name
        self.env = dict(os.environ, HOME=folder, LC_ALL="C")

    def ask(self, *words):
        return subprocess.run(["perf", *words, "-i", self.name], cwd=self.folder, env=self.env, capture_output=True,
                              text=True, errors="replace", stdin=subprocess.DEVNULL)

    def said(self):
        """What stock perf says about the file."""
        lines = []
        for words in (["report", "--stdio", "-g", "none"], ["script"], ["evlist", "-v"], ["report", "--header-only", "-I"]):
            result = self.ask(*words)
            if result.returncode != 0 or result.stderr.strip():
                lines.append(f"perf {' '.join(words)}: {result.returncode} {result.stderr.strip()[:200]}")
        return lines

    def samples(self):
        """(time, (command, object, function)) of each sample."""
        result = self.ask("script", "-F", "comm,pid,time,ip,sym,dso")
        for line in result.stdout.splitlines():
            match = re.match(r"\s*(.+?)\s+(\d+)\s+(\d+\.\d+):\s+([0-9a-f]+) (.+) \((.+)\)$", line)
            if match:
                yield float(match[3]), (match[1], match[6], match[5])


def counts(ours, theirs):
    """Samples of each while both recorded, by command, object and function, without those of recorders."""
    both = [list(ours.samples()), list(theirs.samples())]
    begin = max(min((time for time, _ in side), default=0) for side in both)
    end = min(max((time for time, _ in side), default=0) for side in both)
    return [collections.Counter(name for time, name in side if begin <= time <= end and not OWN.match(name[0]))
            for side in both]


def differences(ours, theirs, key):
    """Shares that are further apart than they may be, and by how many standard errors they are at most."""
    sums = [collections.Counter(), collections.Counter()]
    for total, counts in zip(sums, (ours, theirs)):
        for name, count in counts.items():
            total[key(name)] += count
    totals = [max(sum(s.values()), 1) for s in sums]
    wrong, worst = [], 0
    for name in set(sums[0]) | set(sums[1]):
        shares = [s[name] / t for s, t in zip(sums, totals)]
        both = (sums[0][name] + sums[1][name]) / sum(totals)
        if max(shares) < 0.01:
            continue
        error = math.sqrt(both * (1 - both) * (1 / totals[0] + 1 / totals[1])) or 1e-9
        away = abs(shares[0] - shares[1])
        worst = max(worst, away / error)
        if away > 5 * error + 0.005:
            wrong.append(f"{name}: {100 * shares[0]:.2f} % and {100 * shares[1]:.2f} %")
    return wrong, worst


def chi_square(ours, theirs):
    """Of the two samples over all functions with ten samples, and how many these are."""
    names = [n for n in set(ours) | set(theirs) if ours[n] + theirs[n] >= 10]
    a, b = sum(ours[n] for n in names), sum(theirs[n] for n in names)
    if not a or not b:
        return 0, 0
    total = 0
    for n in names:
        both = ours[n] + theirs[n]
        for count, size in ((ours[n], a), (theirs[n], b)):
            expected = both * size / (a + b)
            total += (count - expected) ** 2 / expected
    return total, len(names) - 1


def compare(perfdata, folder, work):
    name, options, words, _ = work
    for file in os.listdir(folder):
        if ".data" in file:
            os.unlink(os.path.join(folder, file))
    run = ["perf", "record", "-q", "-N", "-e", "cpu-clock", *options, "-o", "perf.data", "--", perfdata, "record", "-q", "-e",
           "cpu-clock", *options, "-o", "our.data", "--", *words]
    result = subprocess.run(run, cwd=folder, env=dict(os.environ, HOME=folder), capture_output=True, text=True,
                            errors="replace", stdin=subprocess.DEVNULL)
    if result.returncode != 0:
        return [f"exit status {result.returncode}: {result.stderr.strip()[:300]}"], ""
    ours, theirs = Side(folder, "our.data"), Side(folder, "perf.data")
    wrong = ours.said()
    a, b = counts(ours, theirs)
    worst = 0
    for what, key in (("command", lambda n: n[0]), ("object", lambda n: n[1]), ("function", lambda n: n)):
        apart, most = differences(a, b, key)
        worst = max(worst, most)
        wrong += [f"{what} {line}" for line in apart]
    unknown = [sum(c for n, c in s.items() if "[unknown]" in n) for s in (a, b)]
    totals = [max(sum(s.values()), 1) for s in (a, b)]
    shares = [u / t for u, t in zip(unknown, totals)]
    slack = 5 * math.sqrt(max(shares) * (1 - min(shares)) * (1 / totals[0] + 1 / totals[1])) + 0.002
    if shares[0] > shares[1] + slack:
        wrong.append(f"{100 * shares[0]:.2f} % have no name, with perf {100 * shares[1]:.2f} %")
    nobody = sum(c for n, c in a.items() if re.match(r":-?\d+$", n[0]))
    if nobody > sum(c for n, c in b.items() if re.match(r":-?\d+$", n[0])) + 5:
        wrong.append(f"{nobody} samples are of processes without a name")
    chi, degrees = chi_square(a, b)
    return wrong, (f"{totals[0]:7} and {totals[1]:7} samples, chi-square {chi:7.1f} at {degrees:4} degrees, share at most "
                   f"{worst:.1f} errors apart, without name {100 * shares[0]:.2f} % and {100 * shares[1]:.2f} %")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("perfdata")
    parser.add_argument("busy")
    parser.add_argument("--only", default="", metavar="TEXT")
    parser.add_argument("--long", action="store_true")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="sides-") as folder:
        with open(os.path.join(folder, "work.c"), "w", encoding="ascii") as f:
            f.write(PROGRAM)
        probe = shutil.which("perf") and subprocess.run(["perf", "record", "-q", "-e", "cpu-clock", "-o", "/dev/null", "true"],
                                                        capture_output=True).returncode == 0
        if not probe:
            print("perf is not here, or may not record here")
            return SKIPPED
        failed = 0
        for work in works(os.path.abspath(arguments.busy), arguments.long):
            if arguments.only not in work[0]:
                continue
            wrong, line = compare(os.path.abspath(arguments.perfdata), folder, work)
            failed += bool(wrong)
            print(f"{work[0]:8} {'DIFFERS' if wrong else 'alike':8} {line}")
            for what in wrong:
                print("   ", what)
            sys.stdout.flush()
        return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
