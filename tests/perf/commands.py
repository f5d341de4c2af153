#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares the options of perf's commands with those of perfdata: the same words, the same lines, by the table in commands.txt.

usage: commands.py PERFDATA [CORPUS] [--only PATTERNS] [--table FILE] [--verbose] [--folder FOLDER]

A line of the table has files, by the names of RECORDINGS or as paths in the corpus, and a command with options; {comm}, {tid} and the like
are those of the recording, {empty} is an empty folder. What both print is compared: standard output, or standard error where perf
prints nothing else. Words that begin with "inject" or "data" write a file, which is compared by what perf (or cat) prints of it;
words that begin with "live" count or watch something, so numbers, and how often a line comes, are not compared. Differences that docs/differences.md explains
under "Options of commands" are known. An option of perf that is here, and is in no line, is a failure.
Exit status: 0 all is equal or explained; 1 not; 77 no perf that can record.
"""

import collections
import fnmatch
import os
import re
import shlex
import shutil
import sys
import tempfile

import compare
import lists
import options
import record
import script

HERE = os.path.dirname(os.path.abspath(__file__))
SECTION = "Options of commands"
NEW = [
    record.Recording("scheduler", "perf sched record -q -o $OUT -- $BIN/work 80 write forks", "tracefs"),
    record.Recording("locks", "P -a -e lock:contention_begin,lock:contention_end -g $BIN/work 200 threads write faults", "tracefs root"),
    record.Recording("allocations", "perf kmem --slab --page record -q -o $OUT -- $BIN/work 30 faults", "tracefs root"),
    record.Recording("interrupts", "perf kwork record -q -o $OUT -- $BIN/work 80 write", "tracefs root"),
    record.Recording("calls", "perf trace record -q -o $OUT -- $BIN/work 60 write faults", "tracefs root"),
    record.Recording("counts", "perf stat record -e task-clock,page-faults,context-switches -a -o $OUT -- $BIN/work 50 faults", "root"),
    record.Recording("intervals", "perf stat record -I 50 -e task-clock,page-faults -o $OUT -- $BIN/work 200 faults", ""),
    record.Recording("older", "P -e cpu-clock -F 2000 $BIN/work 200 alone forks", ""),
]
BY_NAME = {one.name: one for one in [*record.RECORDINGS, *NEW]}
# What the program that runs, or where something was written, says differently each time.
OWN = [(re.compile(rb"(?:theirs|ours)\.out"), b"OUT"), (re.compile(rb"#.*(?:perf|perfdata)/?\S* version.*"), b""), (re.compile(rb"[ \t]+\n"), b"\n")]
# What perf says of how it read a file, and what only perfdata says.
SAID = re.compile(rb"No kallsyms or vmlinux with build-id .* was found|build id event received for .*|  INFO: use \d+ atom pages|"
                  rb"pmu capabilities not available|Looking at the vmlinux_path .*|symsrc__init: .*|Using .* for symbols|"
                  rb"# (?:To display|Profile quality|\(Tip|Total Lost|Sort order).*")
# What is printed now and then: the share of the time that an event was counted, and how runs differ.
SOMETIMES = re.compile(rb" +\(\d+\.\d+%\)| +\( \+- *\d[\d.]*% \)")
NUMBER = re.compile(rb"\d+(?:\.\d+)*(?:e[-+]\d+)?%?(?:[;, ]? *[KMG]?/sec)?|<not \w+>|nan|(?<=\x22)[KMG]?/sec(?=\x22)|\([ +-]*\d[\d.]*%\)")
BAR = re.compile(rb"\([-+]N\) *#*$")
Line = collections.namedtuple("Line", "files words")


def table():
    with open(os.path.join(HERE, "commands.txt"), encoding="utf-8") as file:
        for line in file:
            files, _, words = line.strip().partition("|")
            if words and not line.startswith("#"):
                yield Line(files.split(), words.strip())


def lines_of(text):
    for pattern, plain in OWN:
        text = pattern.sub(plain, text)
    return [line for line in text.strip(b"\n").split(b"\n") if not SAID.fullmatch(line)]


def plain(line):
    """A line as words, in which numbers are alike; with two separators together they are of a table."""
    line = BAR.sub(b"", NUMBER.sub(b"N", SOMETIMES.sub(b"", line)))
    return b" ".join((line if b",," in line else re.sub(rb"N(?:,N)+", b"N", line)).split())


def without_numbers(text):
    return b"\n".join(dict.fromkeys(map(plain, text.split(b"\n"))))


def content(path):
    """Bytes of a file, or the names of files of a folder."""
    if os.path.isdir(path):
        return "\n".join(sorted(os.listdir(path))).encode()
    with open(path, "rb") as file:
        return file.read()


class Comparison:
    def __init__(self, perfdata, recorder, corpus, verbose):
        self.perfdata, self.recorder, self.corpus = perfdata, recorder, corpus
        self.table = compare.Table(SECTION, verbose)
        self.facts = {}

    def path(self, name):
        """A file of the table; None if it cannot be had here."""
        if name == "-":
            return None, None
        if "/" in name:
            return (os.path.join(self.corpus, name), None) if self.corpus else (None, "no corpus")
        return self.recorder.get(BY_NAME[name])

    def facts_of(self, path):
        if path not in self.facts:
            self.facts[path] = vars(script.Facts(path, self.recorder.environment())) if path else {}
        return self.facts[path]

    def words(self, line, path):
        empty = compare.empty_folder(self.recorder.home)
        words = [word.format(empty=empty, bin=self.recorder.bin, path=path, self=os.getpid(), image=os.path.join(self.recorder.bin, "work-static"), **self.facts_of(path)) for word in shlex.split(line)]
        return words if not path or path in words else [*words, "-i", path]

    def written(self, words, env, folder):
        """What both programs write, as perf prints it."""
        answers = []
        for who in ("perf", self.perfdata):
            out = os.path.join(folder, "theirs.out" if who == "perf" else "ours.out")
            answer = compare.ask([who, *(word.replace("OUT", out) for word in words)], env)
            if words[0] == "data" and os.path.exists(out):
                answer.out = content(out)
            elif os.path.exists(out):
                shown = [compare.ask(["perf", *command, "-i", out], env).out
                         for command in (["script", "--show-mmap-events", "--show-task-events"], ["evlist", "-v"], ["buildid-list"])]
                answer.out = b"\n".join(shown)
            shutil.rmtree(out) if os.path.isdir(out) else os.path.exists(out) and os.unlink(out)
            answers.append(answer)
        return answers

    def asked(self, words, env):
        with tempfile.TemporaryDirectory(dir=self.recorder.folder) as folder:
            if "OUT" in words:
                return self.written(words, env, folder)
            live = words[0] == "live"
            words = words[live:]
            theirs = compare.ask(["perf", *words], env)
            ours = compare.ask([self.perfdata, *(compare.without_symbols(words) if "--symfs" in words and "--kallsyms" in words else words)], env)
        if live:
            for answer in (theirs, ours):
                answer.out, answer.err = without_numbers(answer.out), without_numbers(answer.err)
        return theirs, ours

    def judge(self, name, variant, words):
        theirs, ours = self.asked(words, self.recorder.environment())
        if ours.crashed:
            self.table.tell("DIFFER", name, variant, f"exit status {ours.status}: {ours.err[-200:]!r}")
            return
        wanted = theirs.out if theirs.out.strip() else theirs.err
        got = ours.out if theirs.out.strip() or ours.out.strip() else ours.err
        if words[0] == "evlist":
            got = b"\n".join(lists.as_older(line.decode("utf-8", "surrogateescape")).encode("utf-8", "surrogateescape") for line in got.split(b"\n"))
        if words[0] == "script":
            wanted = script.with_linkage(wanted, got)
        if theirs.crashed or not wanted.strip() or (not theirs.out.strip() and (theirs.status or ours.status)):
            self.table.tell("refused", name, variant, f"{theirs.status} {wanted[:160]!r}; ours {ours.status} {(ours.out + ours.err)[:160]!r}")
            return
        wanted, got = lines_of(wanted), lines_of(got)
        found = compare.first_difference(b"\n".join(wanted), b"\n".join(got))
        text = found and f"line {found[0]}\n    {found[1]!r}\n    {found[2]!r} {ours.err[:160] if not ours.out else b''!r}"
        self.table.result(name, variant, text and compare.Difference(text, sorted(wanted) == sorted(got)))

    def line(self, line):
        for name in line.files:
            path, why = self.path(name)
            if why:
                self.table.tell("missing", name, line.words, why)
            else:
                self.judge(name, line.words, self.words(line.words, path))


def command_of(words):
    """The name of options.COMMANDS, and where its options may be."""
    words = [word for word in words.split() if word != "live"]
    family = [command for command in options.COMMANDS if "-" in command and command.split("-")[0] == words[0]]
    member = next((command for command in family if command.split("-")[1] in words[1:]), None)
    return member or words[0]


# Options with a test of their own: parents.py, tests/text, script.py.
ELSEWHERE = {("script", "per-event-dump"), ("script", "D"), ("script", "show-round-events")}


def untold(lines):
    """Options of perf that are here and in no line."""
    absent = {(command, one) for command, name, letter, _ in options.table(os.path.dirname(os.path.dirname(HERE))) for one in (name, letter) if one}
    wrong = []
    for command in sorted({command_of(line.words) for line in lines}):
        words = {word for line in lines if command_of(line.words) == command for word in line.words.split()}
        long = {word[2:].split("=")[0] for word in words if word.startswith("--")}
        long |= {name[3:] for name in long if name.startswith("no-")}
        short = {word[1] for word in words if re.match(r"-[a-zA-Z]", word)}
        for letter, name in options.options_of_perf("perf", options.COMMANDS.get(command, [])):
            if name not in long and letter not in short and not {(command, name), (command, letter)} & (absent | ELSEWHERE):
                wrong.append(f"{command}: {letter and '-' + letter} {name and '--' + name}: in no line of commands.txt")
    return wrong


def main():
    parser = compare.arguments(__doc__)
    parser.add_argument("corpus", nargs="?", help="a folder with a corpus")
    args = parser.parse_args()
    args.perfdata = os.path.abspath(args.perfdata)
    why = record.perf_missing()
    if why or not record.perf_version().startswith("6.1."):
        print(f"SKIP: {why or 'this perf is not 6.1'}")
        return 77
    if args.corpus and not os.path.exists(os.path.join(args.corpus, "manifest.tsv")):
        args.corpus = None
    lines = list(table())
    wrong = untold(lines)
    with tempfile.TemporaryDirectory(prefix="perfdata-commands-") as scratch:
        recorder = record.Recorder(args.folder or scratch, args.perfdata)
        comparison = Comparison(args.perfdata, recorder, args.corpus, args.verbose)
        for line in lines:
            if not args.only or fnmatch.fnmatch(line.words, args.only):
                comparison.line(line)
        if not args.folder:
            compare.forget_maps(recorder)
    print("\n".join(wrong))
    return comparison.table.end(not args.only and args.corpus, args.table) or bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
