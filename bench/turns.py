# SPDX-License-Identifier: MIT
"""The commands of every day, of perf and of perfdata in turns, on one recording: CPU time of one thread, and memory."""

import os
import shlex
import shutil
import signal
import subprocess
import time

MOST_S = 600  # a command that needs longer is ended
LONG_S = 30  # a command that needs longer runs once
POLL_S = 0.5  # how often memory is looked at

# name, arguments of both, works that it is for
COMMANDS = (
    ("report --no-children -g none", ["report", "--no-children", "-g", "none"], "real forks busy build"),
    ("report --no-children -g graph", ["report", "--no-children", "-g", "graph"], "real forks busy build"),
    ("report --children -g graph", ["report", "--children", "-g", "graph"], "real forks busy build"),
    ("report -s comm", ["report", "--no-children", "-g", "none", "-s", "comm"], "real forks busy build sched"),
    ("script", ["script"], "real forks busy build sched"),
    ("folded", ["folded"], "real forks busy build"),
    ("flame", ["flame"], "real forks busy build"),
    ("sched timehist", ["sched", "timehist"], "sched"),
    ("sched timehist -s", ["sched", "timehist", "-s"], "sched"),
    ("sched latency", ["sched", "latency"], "sched"),
    ("trace -s", ["trace", "-s"], "syscalls"),
    ("kmem stat", ["kmem", "stat"], "kmem"),
    ("kmem stat --caller -l 10", ["kmem", "--caller", "-l", "10", "stat"], "kmem"),
    ("lock contention", ["lock", "contention"], "locks"),
)
# what has one thread anyway, and no option for it
ALONE = ("sched", "trace", "kmem", "lock")
ONE = ["--threads", "1"]
# perf draws and folds nothing: its part of the work is to print the samples
ONLY_OURS = {"folded": "script", "flame": "script"}


class Run:
    """What a command took."""

    def __init__(self, wall, cpu, rss):
        self.wall, self.cpu, self.rss = wall, cpu, rss


def memory_most():
    """Bytes that a command may have: perf report --children takes a hundred times the size of a recording."""
    with open("/proc/meminfo", encoding="utf-8") as file:
        fields = dict(line.split(":", 1) for line in file)
    return int(fields["MemAvailable"].split()[0]) * 1024 // 4 * 3


def memory_of_children(pid):
    """Bytes that the children of a process have now."""
    total = 0
    try:
        with open(f"/proc/{pid}/task/{pid}/children", encoding="utf-8") as file:
            children = file.read().split()
        for child in children:
            with open(f"/proc/{child}/statm", encoding="utf-8") as file:
                total += int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, IndexError):
        pass
    return total


class TooMuch(Exception):
    """A command was ended: it took too long, or too much memory."""


def once(tool, argv, most=None):
    """Runs a command without its output; with a limit of seconds, and of memory then."""
    child = subprocess.Popen([tool, *argv], stdout=subprocess.PIPE, text=True, start_new_session=True)
    end, bytes_most = time.monotonic() + (most or 0), memory_most() if most else 0
    while True:
        try:
            words = child.communicate(timeout=POLL_S if most else None)[0].split()
            break
        except subprocess.TimeoutExpired:
            late, large = time.monotonic() > end, memory_of_children(child.pid) > bytes_most
        if late or large:
            os.killpg(child.pid, signal.SIGKILL)
            child.communicate()
            raise TooMuch(f"> {bytes_most >> 30} GiB" if large else f"> {most}")
    if child.returncode or words[3] != "0":
        raise RuntimeError(f"{shlex.join(argv)} failed")
    return Run(float(words[0]), float(words[1]), int(words[2]))


class Side:
    """The least of several runs of a command, which come in turns with those of another one."""

    def __init__(self, tool, argv, before=None):
        self.tool, self.argv, self.before = tool, argv, before
        self.least, self.end = None, ""

    def run_again(self):
        """One more run, unless the command is known to need long."""
        if not self.argv or self.end or (self.least and self.least.wall > LONG_S):
            return
        if self.before:
            self.before()
        try:
            run = once(self.tool, self.argv, MOST_S)
        except TooMuch as reason:
            self.end = str(reason)
            return
        if not self.least or run.cpu < self.least.cpu:
            self.least = run


class Row:
    """One command: perf, perfdata, how many times faster."""

    def __init__(self, name, theirs, ours, of):
        self.name, self.theirs, self.ours, self.of = name, theirs, ours, of

    def cells(self):
        """Name, seconds and MiB of perf, seconds and MiB of perfdata, ratio."""
        theirs, ours = self.theirs.least, self.ours.least
        ratio = f"{theirs.cpu / max(ours.cpu, 1e-6):.1f}" if theirs and ours else "-"
        shown = [self.theirs.end, "-"] if self.theirs.end and not self.of else figures(None if self.of else theirs)
        return [self.name, *shown, *figures(ours), f"{ratio} of {self.of}" if self.of and theirs else ratio]


def figures(run):
    """Seconds and MiB as text."""
    return [f"{run.cpu:.3f}" if run.cpu < 1 else f"{run.cpu:.2f}", f"{run.rss / 2**20:.0f}"] if run else ["-", "-"]


def measure(tool, tools, path, work, runs, only):
    """Rows of all commands that are for a work."""
    theirs = {}
    for name, words, works in COMMANDS:
        if work not in works.split() or only not in name:
            continue
        stdio = ["--stdio"] if words[0] == "report" else []
        # options of kmem stand before its second word
        last = -1 if words[0] == "kmem" else len(words)
        perf = tools["perf"] and name not in ONLY_OURS and [tools["perf"], *words[:last], *stdio, "-i", path, *words[last:]]
        side = theirs[name] = Side(tool, perf) if name not in ONLY_OURS else theirs.get(ONLY_OURS[name], Side(tool, None))
        one = [] if words[0] in ALONE else ONE
        ours = Side(tool, [tools["perfdata"], *words, *stdio, *one, "-i", path])
        for _ in range(runs):
            if name not in ONLY_OURS:
                side.run_again()
            ours.run_again()
        yield Row(name, side, ours, ONLY_OURS.get(name))


# commands by work that are measured with an index of symbols and unwind rules from an earlier run, and without one; folded beside perf script
START = (["report", "--no-children", "-g", "none"], ["report", "--no-children", "-g", "graph"], ["script"])
STACKS = (
    ["script", "--no-inline", *ONE],
    ["report", "--no-inline", "--no-children", "-g", "graph", *ONE],
    ["folded", "--no-inline", *ONE],
)
INDEXED = {"start": START, "stacks": STACKS}


def perf_side(tool, perf, words, path, script):
    """perf with the same arguments, less those that it has not; folding begins with its script."""
    if not perf or words[0] == "folded":
        return script or Side(tool, None)
    words = [word for word in words if word not in ONE]
    return Side(tool, [perf, *words, *(["--stdio"] if words[0] == "report" else []), "-i", path])


def measure_indexed(tool, tools, path, work, runs, only, scratch):
    """Rows of commands with an index from an earlier run, and without one."""
    script = None
    for words in INDEXED[work]:
        name = shlex.join(words).removesuffix(" --threads 1")
        if only not in name:
            continue
        stdio = ["--stdio"] if words[0] == "report" else []
        warm, cold = (os.path.join(scratch, word) for word in ("warm", "cold"))
        theirs = perf_side(tool, tools["perf"], words, path, script)
        script = theirs if words[0] == "script" else script
        indexed = [tools["perfdata"], *words, *stdio, "--index-dir", warm, "-i", path]
        Side(tool, indexed).run_again()  # which makes it
        sides = [
            (f"{name}, index", Side(tool, indexed)),
            (
                f"{name}, no index yet",
                Side(
                    tool,
                    [tools["perfdata"], *words, *stdio, "--index-dir", cold, "-i", path],
                    lambda folder=cold: shutil.rmtree(folder, ignore_errors=True),
                ),
            ),
        ]
        for _ in range(runs):
            if words[0] != "folded":
                theirs.run_again()
            for _, side in sides:
                side.run_again()
        of = "script" if words[0] == "folded" else None
        yield from (Row(label, theirs, side, of) for label, side in sides)


def cat(tool, path, runs):
    """The time to read the file, which nothing can be faster than."""
    side = Side(tool, ["cat", path])
    for _ in range(runs + 1):
        side.run_again()
    return side.least


HEAD = ["", "perf s", "MiB", "perfdata s", "MiB", "ratio"]


def print_text(rows):
    """Columns, each line as soon as it is known."""
    layout = "{:<46} {:>8} {:>6} {:>11} {:>6} {:>7}"
    print(layout.format(*HEAD))
    for row in rows:
        print(layout.format(*row.cells()), flush=True)


def print_table(rows):
    """Markdown, for a README."""
    print("| | perf | | perfdata | | perf : perfdata |\n| --- | --- | --- | --- | --- | --- |")
    for row in rows:
        name, their_s, their_mib, our_s, our_mib, ratio = row.cells()
        cells = ((their_s, " s"), (their_mib, " MiB"), (our_s, " s"), (our_mib, " MiB"))
        units = "".join(f" {text if '>' in text else text + unit} |" if text != "-" else " |" for text, unit in cells)
        print(f"| `{name}` |{units} {ratio} |", flush=True)
