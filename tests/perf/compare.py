# SPDX-License-Identifier: MIT
"""What script.py and report.py share: both programs side by side, differences that are known, the table at the end."""

import argparse
import collections
import concurrent.futures
import fnmatch
import os
import resource
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(os.path.join(os.path.dirname(HERE), "corpus"))

import common  # noqa: E402 pylint: disable=wrong-import-position
import record  # noqa: E402 pylint: disable=wrong-import-position

JOBS = 2
TIMEOUT = 120
NOTHING = (5, 6)  # exit statuses of perfdata: nothing of what was asked for, no samples


class Known:
    """Rows of a section of docs/differences.md: pattern of files, patterns of variants, why."""

    def __init__(self, section):
        self.rows = common.known_differences(section)
        self.used = set()

    def reason(self, name, variant):
        for row in self.rows:
            words = [word.strip().strip("`") for word in row[1].split(",")]
            if fnmatch.fnmatch(name, row[0]) and any(fnmatch.fnmatch(variant, word) for word in words):
                self.used.add(row)
                return row[2]
        return None

    def unused(self):
        return [row for row in self.rows if row not in self.used]


class Difference:
    """What the first difference is; order: there is none but the order of lines."""

    def __init__(self, text, order=False):
        self.text, self.order = text, order


class Answer:
    """What a program said."""

    def __init__(self, status, out, err):
        self.status, self.out, self.err = status, out, err

    @property
    def crashed(self):
        return self.status is None or self.status < 0 or self.status >= 126 or b"Sanitizer" in self.err


def ask(argv, env, stdin=None):
    """Runs a program; stdin is the name of a file."""
    with open(stdin or os.devnull, "rb") as source:
        try:
            done = subprocess.run(argv, env=env, stdin=source, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                  timeout=TIMEOUT, check=False)
            return Answer(done.returncode, done.stdout, done.stderr)
        except subprocess.TimeoutExpired as late:
            return Answer(None, late.stdout or b"", late.stderr or b"")


def empty_folder(home):
    """A folder with nothing but an empty list of kernel symbols."""
    path = os.path.join(home, "empty")
    os.makedirs(path, exist_ok=True)
    with open(os.path.join(path, "kallsyms"), "wb"):
        pass
    return path


def without_symbols(words):
    """perfdata has one word for what perf needs an empty folder and an empty list for."""
    found = [word for word in words if "/empty" not in word and word not in ("--symfs", "--kallsyms")]
    return words if len(found) == len(words) else [*found, "--no-symbols"]


def first_difference(theirs, ours):
    """(line, perf's, ours) of the first lines that differ, or None."""
    if theirs == ours:
        return None
    theirs, ours = theirs.split(b"\n"), ours.split(b"\n")
    for number, (wanted, got) in enumerate(zip(theirs, ours)):
        if wanted != got:
            return number + 1, wanted, got
    at = min(len(theirs), len(ours))
    return at + 1, theirs[at] if at < len(theirs) else None, ours[at] if at < len(ours) else None


class Table:
    """Counts and prints what became of each file and variant."""

    WORDS = ("equal", "order", "KNOWN", "refused", "missing", "DIFFER")

    def __init__(self, section, verbose):
        self.known, self.verbose = Known(section), verbose
        self.counts = collections.Counter()
        self.variants = collections.defaultdict(collections.Counter)
        self.files = collections.defaultdict(collections.Counter)
        self.why = collections.defaultdict(dict)
        self.reasons = collections.Counter()

    def tell(self, word, name, variant, why=""):
        self.counts[word] += 1
        self.variants[variant][word] += 1
        self.files[name][word] += 1
        if word in ("DIFFER", "missing") or self.verbose:
            print(f"{word:8} {name} [{variant}]{': ' if why else ''}{why}", flush=True)

    def result(self, name, variant, difference):
        if difference is None:
            self.tell("equal", name, variant)
            return
        word = "order" if difference.order else "KNOWN"
        reason = self.known.reason(name, "order" if difference.order else variant)
        if reason:
            self.reasons[reason] += 1
            self.why[name][reason] = True
        self.tell(word if reason else "DIFFER", name, variant, reason or difference.text)

    def by_file(self):
        """A table in Markdown: what became of the variants of each file, and why some are not equal."""
        reasons = [reason for reason, _ in self.reasons.most_common()]
        words = [word for word in self.WORDS if self.counts[word]]
        lines = [f"| file | {' | '.join(words)} | why |", f"| --- |{' ---: |' * len(words)} --- |"]
        for name, counts in [*self.files.items(), ("all", self.counts)]:
            numbers = " | ".join(str(counts[word] or "") for word in words)
            why = ", ".join(str(number) for number in sorted(reasons.index(reason) + 1 for reason in self.why[name]))
            lines.append(f"| {name} | {numbers} | {why} |")
        lines.append("")
        lines += [f"{number + 1}. {reason}: {self.reasons[reason]}" for number, reason in enumerate(reasons)]
        return "\n".join(lines) + "\n"

    def end(self, all_done, path=None):
        """Prints the table, writes that of files; returns the exit status."""
        if path:
            with open(path, "w", encoding="utf-8") as file:
                file.write(self.by_file())
        wide = max([len(variant) for variant in self.variants] + [8])
        print(f"\n{'variant':{wide}} " + " ".join(f"{word:>8}" for word in self.WORDS))
        for variant, counts in self.variants.items():
            print(f"{variant:{wide}} " + " ".join(f"{counts[word] or '-':>8}" for word in self.WORDS))
        print(f"{'all':{wide}} " + " ".join(f"{self.counts[word]:8}" for word in self.WORDS))
        for reason, count in self.reasons.most_common():
            print(f"{count:8} KNOWN: {reason}")
        if all_done:
            for row in self.known.unused():
                print(f"not needed any more: {row[0]} | {row[1]} | {row[2]}")
        usage = resource.getrusage(resource.RUSAGE_CHILDREN)
        print(f"CPU time of the programs: {usage.ru_utime + usage.ru_stime:.1f} s")
        return 1 if self.counts["DIFFER"] or not self.counts["equal"] else 0


def arguments(doc):
    """A parser with what both tools take."""
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("perfdata")
    parser.add_argument("--all", action="store_true", help="all recordings and variants, not only the quick ones")
    parser.add_argument("--only", default=None, help="only recordings whose name fits one of these patterns")
    parser.add_argument("--variant", default=None, help="only variants whose name fits one of these patterns")
    parser.add_argument("--folder", help="where recordings are made, or were made before; else a temporary one")
    parser.add_argument("--table", metavar="FILE", help="write a table of the files in Markdown")
    parser.add_argument("--verbose", action="store_true", help="name what is equal, known or refused by perf too")
    return parser


def fits(name, patterns):
    return any(fnmatch.fnmatch(name, word) for word in patterns.split(","))


def forget_maps(recorder):
    """Removes the maps of names that the recorded programs left in /tmp."""
    path = os.path.join(recorder.folder, "jit.data")
    if not os.path.exists(path):
        return
    done = ask(["perf", "script", "-i", path, "-F", "pid"], recorder.environment())
    for pid in set(done.out.split()):
        name = f"/tmp/perf-{int(pid)}.map"
        if os.path.exists(name):
            os.unlink(name)


def with_recordings(args, quick, work):
    """Makes the recordings and calls work(recorder, name, path) for each; ends the program where there is no perf."""
    if not os.access(args.perfdata, os.X_OK):
        sys.exit(f"{args.perfdata}: not a program")
    args.perfdata = os.path.abspath(args.perfdata)
    why = record.perf_missing()
    if why:
        common.skip(why)
    with tempfile.TemporaryDirectory(prefix="perfdata-perf-") as scratch:
        recorder = record.Recorder(args.folder or scratch, args.perfdata)
        try:
            for one in record.RECORDINGS:
                wanted = fits(one.name, args.only) if args.only else args.all or one.name in quick
                if wanted:
                    work(recorder, one.name, *recorder.get(one))
        finally:
            if not args.folder:
                forget_maps(recorder)


def side_by_side(jobs):
    """Calls functions without arguments, some at a time; yields their results in order."""
    with concurrent.futures.ThreadPoolExecutor(JOBS) as pool:
        yield from pool.map(lambda job: job(), jobs)


def clock():
    return time.monotonic()
