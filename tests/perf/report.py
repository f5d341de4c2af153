#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares the rows of perfdata report with those of perf report, on recordings made here and on a corpus.

usage: report.py PERFDATA [--all] [--only PATTERNS] [--variant PATTERNS] [--folder FOLDER] [--corpus CORPUS] [--table FILE] [--verbose]

Both programs get the same words and --stdio -t. For each event the name, the number of samples, the sum of periods, the
columns and every cell of every row must be the same, in the same order. The variants "text ..." and "folded ..." ask for no
separator, and every line of the output but advice must be the same, call graphs as they are drawn too. With --corpus the
files of a corpus are compared, which perf of this machine reads, without any symbol.

The recordings are those of record.py, the variants are below. One line for each that differs, with the first thing that
does, perf's first; KNOWN ones are explained in docs/differences.md under "Report rows"; refused ones are those where perf
itself ends with an error, and perfdata need only end well. A table at the end. Exit status: 0 all agrees or is explained, 1
something does not, 77 no perf that can record.
"""

import collections
import functools
import os
import re
import sys
import tempfile

import compare
import common
import record
import script

SECTION = "Report rows"
SEPARATOR = "~"
STUB = re.compile(rb"[^ ]*@plt\b|\[\.\] \.plt\b")

QUICK_RECORDINGS = {"chain", "alone", "deleted", "cpp", "jit", "events", "two-groups", "branches"}
QUICK_VARIANTS = {"default", "sym", "folded", "text", "text no-children", "children dso", "dsos relative", "time"}

# name: words for both programs; {names} come from script.Facts
VARIANTS = {
    # keys
    "default": "-g none -n",
    "no-children": "-g none -n --no-children",
    "period": "-g none --no-children -F overhead,sample,period,comm,dso,sym",
    "comm": "-g none -n --no-children -s comm",
    "dso": "-g none -n --no-children -s dso",
    "sym": "-g none -n --no-children -s sym",
    "comm,dso": "-g none -n --no-children -s comm,dso",
    "dso,sym": "-g none -n --no-children -s dso,sym",
    "sym,comm": "-g none -n --no-children -s sym,comm",
    "pid": "-g none -n --no-children -s pid",
    "pid,sym": "-g none -n --no-children -s pid,sym",
    "cpu": "-g none -n --no-children -s cpu",
    "cpu,comm": "-g none -n --no-children -s cpu,comm",
    "plus pid": "-g none -n --no-children -s +pid",
    "trace": "-g none -n --no-children -s trace",
    "srcline": "-g none -n --no-children -s srcline",
    "socket": "-g none -n --no-children -s socket",
    "weight": "-g none -n --no-children -s local_weight,weight,sym",
    "latency": "-g none -n --no-children -s local_ins_lat,ins_lat,comm",
    "stage": "-g none -n --no-children -s local_p_stage_cyc,p_stage_cyc,comm",
    "tgid": "-g none -n --no-children -s tgid,dso",
    "pages": "-g none -n --no-children -s code_page_size,comm",
    "transaction": "-g none -n --no-children -s transaction,comm",
    "mem": "-g none --mem-mode -F sample,mem,comm",
    "mem parts": "-g none --mem-mode -F sample,snoop,tlb,locked,blocked,data_page_size",
    "time key": "-g none -n --no-children -s time",
    "cgroup": "-g none -n --no-children -s comm,cgroup_id,cgroup",
    "time ns": "-g none -n --no-children -s time --ns",
    "source paths": "-g none -n --no-children -s srcline --full-source-path",
    "srcfile": "-g none -n --no-children -d work -s dso,srcfile", # addr2line knows no included files
    "symbol size": "-g none -n --no-children -s dso,symbol,symbol_size",
    "sorted by sym": "-g none --no-children -s sym,overhead",
    "fields": "-g none --no-children -F overhead,sym",
    "fields sample": "-g none --no-children -F sample,comm,sym",
    "fields period": "-g none --no-children -F period,dso",
    "fields and keys": "-g none --no-children -F overhead,sample,period -s dso,sym",
    "fields modes": "-g none --no-children -F overhead,overhead_sys,overhead_us,comm",
    # children
    "children": "-g none -n --children",
    "children comm": "-g none -n --children -s comm",
    "children dso": "-g none -n --children -s dso",
    "children sym": "-g none -n --children -s sym",
    "children dso,sym": "-g none -n --children -s dso,sym",
    "children period": "-g none --children -F overhead_children,overhead,sample,period,sym",
    # filters
    # where threads share a row, perf lets the first of its samples say whether all of them count
    "comms": "-g none -n --no-children --comms {comm} -s comm,dso,sym",
    "comms relative": "-g none -n --no-children --comms {comm} --percentage relative -s comm,dso,sym",
    "comms two": "-g none -n --no-children --comms {comm},no-such-name,other -s comm,dso,sym",
    "dsos": "-g none -n --no-children --dsos work",
    "dsos relative": "-g none -n --no-children --dsos work,[kernel.kallsyms] --percentage relative",
    "dsos absolute": "-g none -n --no-children --dsos work,[kernel.kallsyms] --percentage absolute",
    "symbol": "-g none -n --no-children -S spin",
    "symbols": "-g none -n --no-children -S spin,clear_page_erms --percentage relative",
    "elided": "-g none --no-children -d work -s dso",
    "elided two": "-g none --no-children -c {comm} -d work -s comm,dso",
    "pid filter": "-g none -n --no-children --pid {pid} -s pid,comm,dso,sym",
    "tid filter": "-g none -n --no-children --tid {tid} -s pid,comm,dso,sym",
    "pid relative": "-g none -n --no-children --pid {pid} --percentage relative -s pid,comm,dso,sym",
    "cpu filter": "-g none -n --no-children --cpu 0",
    "socket filter": "-g none -n --no-children --socket-filter 0 -s comm,socket,sym",
    # perf filters rows only if commands are a key
    "symbol filter": "-g none -n --no-children --no-group --symbol-filter pi",
    "symbol filter relative": "-g none -n --no-children --no-group --symbol-filter page --percentage relative",
    "symbol filter children": "-g none -n --children --no-group --symbol-filter spin",
    "no-skip-empty": "-g none -n --no-children --no-skip-empty",
    "demangle-kernel": "-g none -n --no-children --demangle-kernel -s dso,sym",
    "modules": "-g none -n --no-children -m -s dso,sym",
    "time": "-g none -n --no-children --time {times[0]},{times[1]}",
    "time from": "-g none -n --no-children --time {times[1]},",
    "time 10%-20%": "-g none -n --no-children --time 10%-20%",
    "time 10%/2": "-g none -n --no-children --time 10%/2",
    "time slices": "-g none -n --no-children --time 0%-10%,30%-40%",
    "percent-limit": "-g none -n --no-children --percent-limit 3",
    "children limit": "-g none -n --children --percent-limit 10",
    "hide unresolved": "-g none -n --no-children -U",
    "hide unresolved children": "-g none -n --children -U",
    "no group": "-g none -n --no-children --no-group",
    "group": "-g none -n --no-children --group",
    "group by another event": "-g none -n --no-children --group --group-sort-idx 1 -s comm,dso",
    "no-demangle": "-g none -n --no-children --no-demangle",
    "no symbols": "-g none -n --no-children --symfs {empty} --kallsyms {empty}/kallsyms",
    "no symbols children": "-g none -n --children --symfs {empty} --kallsyms {empty}/kallsyms",
    # call chains
    "folded": "-g folded,0.5,callee --no-children",
    "folded all": "-g folded,0,callee --no-children",
    "folded caller": "-g folded,0.5,caller --no-children",
    "folded count": "-g folded,0,callee,function,count --no-children",
    "folded period": "-g folded,0,callee,function,period --no-children",
    "folded children": "-g folded,0.5,caller --children",
    "folded children callee": "-g folded,0.5,callee --children",
    "folded address": "-g folded,0,callee,address,period --no-children --symfs {empty} --kallsyms {empty}/kallsyms",
    "folded sym": "-g folded,0 --no-children -s sym",
    "folded lines": "-g folded,0,callee,address --no-children",
    "text lines sym": "-g graph,0.5,caller,address --no-children -s sym",
    "max-stack": "-g folded,0 --no-children --max-stack 3",
    "max-stack children": "-g none -n --children --max-stack 3",
    # as it is drawn
    "text": "",
    "text no graph": "-g none --no-children -n",
    "text no-children": "--no-children",
    "text caller": "--no-children -g caller",
    "text sym": "--no-children -g callee -s sym",
    "text sym caller": "--children -g caller -s sym",
    "text symbol": "--no-children -s symbol",
    "text comm,dso,symbol": "-g none --no-children -s comm,dso,symbol",
    "text at most": "--no-children -g graph,0.5,2,callee",
    "text at most sym": "--no-children -g caller,0.5,3 -s sym",
    "text utilization": "-g none --no-children --show-cpu-utilization --show-total-period -n",
    "text unresolved": "-g none --no-children -U -s dso,sym",
    "text unresolved callers": "--no-children -U",
    "text -G": "--no-children -G",
    "text callee": "--children -g callee",
    "text fractal": "--no-children -g fractal",
    "text fractal caller": "-g fractal,0.5,caller",
    "text flat": "--no-children -g flat",
    "text folded": "--no-children -g folded",
    "text count": "--no-children -g graph,0.5,callee,function,count",
    "text period": "-g graph,2,caller,function,period",
    "text limit": "--percent-limit 5",
    "text comm": "-s comm",
    "text comms": "--comms {comm} -s comm,dso,sym",
    "text widths": "-g none -w 12,30,8",
    "text separator": "-g none -n -t ,",
}
# without symbols: rows of callers are told apart by addresses, and perf shows those as they were recorded
CORPUS_VARIANTS = ("no-children", "period", "comm", "dso", "sym", "sym,comm", "pid,sym", "cpu,comm", "socket", "weight", "latency", "stage", "tgid", "pages", "transaction", "mem", "mem parts",
                   "time key", "children comm", "children dso", "comms", "dsos relative", "time 10%-20%", "text no graph")
# of files with branch stacks, which perf then shows in place of samples
BRANCH_VARIANTS = {
    "branches": "-n",
    "branches period": "-F overhead,sample,period,comm,dso_from",
    "branches objects": "-n -s comm,dso_from,dso_to",
    "branches functions": "-n -s symbol_from,symbol_to",
    "branches symbol": "-n -s sym",
    # not both: perf has (null) for the line of an end that it did not look at while it sorted
    "branches lines from": "-n -s srcline_from",
    "branches lines to": "-n -s srcline_to",
    "branches cycles": "-n -s cycles,dso_to",
    "branches weights": "-n -s local_weight,weight,dso_to",
    "branches threads": "-n -s pid,cpu,dso_to",
    "branches where to": "-n -s dso",
    "branches cpu": "-n -s dso_from,dso_to --cpu 0",
    "branches asked for": "-b -n -s dso_from,dso_to",
    "branches unresolved": "-n -s dso_from,dso_to -U",
    # perf lets the first sample of a row say whether all of them count: rows of one thread, or of one sample
    "branches comms": "-n -s comm,dso_from,dso_to --comms {comm}",
    "branches dsos": "-n -s time,pid,dso_from,dso_to --time-quantum 1ns --dsos work,[kernel.kallsyms],chrome",
    # perf has no order of these, so that a row can come to stand in several places
    "branches foreseen": "-F sample,dso_from,mispredict",
    "branches flags": "-F sample,in_tx,abort,cycles",
}
# Both take 127 frames if they are not told how many, the outermost with --children, and so leaves out where samples were
WHOLE_CHAINS = ["--max-stack", "2000"]
NO_SYMBOLS = ["--symfs", "{empty}", "--kallsyms", "{empty}/kallsyms"]



def as_text(variant):
    """True for variants that are compared line by line: -t takes the lines of call chains apart in other ways."""
    return variant.startswith(("text", "folded", "max-stack"))


SAMPLES = re.compile(r"^# Samples: (.*) of events? '(.*)'(.*)$")
COUNT = re.compile(r"^# Event count \(approx\.\): (\d+)")


class Reader:
    """What stands in the output with -t: for each event what its head says, and rows."""

    def __init__(self, text):
        self.events, self.rows, self.heading = [], None, False
        for line in text.decode("utf-8", "replace").split("\n"):
            self.line(line)

    def line(self, line):
        samples, count = SAMPLES.match(line), COUNT.match(line)
        if samples:
            self.rows = []
            self.events.append({"event": samples[2] + samples[3], "samples": samples[1].strip(), "rows": self.rows})
        elif count and self.events:
            self.events[-1]["count"] = count[1]
        elif line.startswith("#"):
            self.head(line)
        elif self.rows is not None and SEPARATOR in line:
            self.rows.append([cell.strip() for cell in line.split(SEPARATOR)])

    def head(self, line):
        if line.startswith("# Processor Socket"):
            self.events[-1]["socket"] = line
            return
        if line.startswith(("# Total weight", "# Sort order")): # of --mem-mode
            return
        words = [word.strip() for word in line[1:].split(SEPARATOR)]
        if self.events and "columns" not in self.events[-1] and words[0] and not words[0].startswith("("):
            self.events[-1]["columns"] = words


def same_cell(theirs, ours):
    """perf cuts names to the longest that threads had at their ends, or that has symbols; lines are those of script.py."""
    return (theirs == ours or (len(theirs) >= 7 and ours.startswith(theirs)) or is_included(theirs, ours) or
            (theirs, ours) == NO_TIME)


def is_included(theirs, ours):
    return script.of_included(f"  {theirs}".encode(), f"  {ours}".encode())


def same_row(theirs, ours):
    return len(theirs) == len(ours) and all(same_cell(one, other) for one, other in zip(theirs, ours))


def same_rows(theirs, ours):
    """True if the rows agree in some order."""
    left = list(ours)
    for row in theirs:
        match = next((at for at, other in enumerate(left) if same_row(row, other)), None)
        if match is None:
            return False
        del left[match]
    return not left


def without_stubs(theirs, ours):
    """Both texts without the lines of stubs, which perf 6.1 names by their order."""
    if record.perf_names_stubs():
        return theirs, ours
    return tuple(b"\n".join(line for line in text.split(b"\n") if not STUB.search(line)) for text in (theirs, ours))


def without_lines(event):
    """Leaves out rows of code without lines, of which perf says one of several things."""
    event["rows"] = [row for row in event["rows"] if not any(NO_LINE.match(cell) for cell in row)]


def without_cycles(event):
    """Leaves out the column of instructions per cycle, which perf adds to functions."""
    columns = event.get("columns", [])
    if columns and columns[-1].startswith("IPC"):
        event["columns"] = columns[:-1]
        event["rows"] = [row[:-1] for row in event["rows"]]


def without_levels(event):
    """The letter of a branch's end: perf has that of the first sample."""
    event["rows"] = [[LEVEL.sub("", cell) for cell in row] for row in event["rows"]]


def without_size_of_init(event):
    """_init has no size: perf lets it go on to the next function, we to the end of its section."""
    columns = event.get("columns", [])
    if "Symbol size" not in columns:
        return
    at = columns.index("Symbol size")
    for row in event["rows"]:
        if "[.] _init" in row:
            row[at] = ""


def without_count(event):
    """perf adds up weights in this mode."""
    event.pop("count", None)


def added_up(event):
    """Makes one row of those that are equal but for their first cell, a number."""
    sums = collections.Counter()
    for number, *cells in event["rows"]:
        sums[tuple(cells)] += int(number)
    event["rows"] = sorted([str(number), *cells] for cells, number in sums.items())


# what is done to both sides of a variant before they are compared
PREPARED = {
    "mem": [without_count],
    "mem parts": [without_count],
    "srcline": [without_lines],
    "source paths": [without_lines],
    "symbol size": [without_size_of_init],
    "branches": [without_cycles],
    "branches functions": [without_cycles],
    "branches lines from": [without_lines],
    "branches lines to": [without_lines],
    "branches symbol": [without_cycles, without_levels],
    "branches foreseen": [added_up],
    "branches flags": [added_up],
}


def first_event(events, variant):
    """As perf, which filters the rows of the first event only."""
    return events[:1] if variant.startswith("symbol filter") else events


def is_leaderless(event):
    """True for a group whose first event has no samples; perf shows nothing of it."""
    return "group" in event["event"] and all(row[0].split()[0] == "0.00%" for row in event["rows"])


def difference(theirs, ours, variant):
    """None, or the first difference."""
    theirs, ours = without_stubs(theirs, ours)
    theirs, ours = Reader(NOWHERE.sub(b"[?]", theirs)).events, Reader(NOWHERE.sub(b"[?]", ours)).events
    theirs, ours = first_event(theirs, variant), first_event(ours, variant)
    for event in [*theirs, *ours]:
        for prepare in PREPARED.get(variant, ()):
            prepare(event)
    if len(theirs) < len(ours):
        ours = [event for event in ours if not is_leaderless(event)]
    for wanted, got in zip(theirs, ours):
        for word in ("event", "samples", "count", "socket", "columns"):
            if wanted.get(word) != got.get(word):
                return compare.Difference(f"{word}\n    {wanted.get(word)!r}\n    {got.get(word)!r}")
        for number, (one, other) in enumerate(zip(wanted["rows"], got["rows"])):
            if not same_row(one, other):
                order = same_rows(wanted["rows"], got["rows"])
                return compare.Difference(f"{wanted['event']}, row {number + 1}\n    {one!r}\n    {other!r}", order)
        if len(wanted["rows"]) != len(got["rows"]):
            return compare.Difference(f"{wanted['event']}: {len(wanted['rows'])} rows, {len(got['rows'])} rows")
    if len(theirs) != len(ours):
        names = [[one["event"] for one in events] for events in (theirs, ours)]
        return compare.Difference(f"events\n    {names[0]}\n    {names[1]}")
    return None


def blocks(lines):
    """Rows, each with the lines of its graph, in an order that does not depend on the order of equal ones."""
    found = [[]]
    for line in lines:
        if ROW.match(line):
            found.append([])
        if line.strip(b" |"):
            found[-1].append(line.lstrip(b" |-"))
    return sorted(sorted(block) for block in found)


def text_difference(theirs, ours, variant):
    """As difference(), of the lines as they are but for the comments that are advice."""
    theirs, ours = without_stubs(theirs, ours)
    if "lines" in variant:
        theirs, ours = (FRAME_NO_LINE.sub(b" :0", INCLUDED.sub(rb" :\1", text)) for text in (theirs, ours))
    kept = [[line for line in NOWHERE.sub(b"[?]", text).rstrip(b"\n").split(b"\n") if not line.startswith(b"#") or line.startswith(KEPT)]
            for text in (theirs, ours)]
    found = compare.first_difference(*(b"\n".join(lines).rstrip(b"\n") for lines in kept))
    if not found:
        return None
    order = blocks(kept[0]) == blocks(kept[1])
    return compare.Difference(f"line {found[0]}\n    {found[1]!r}\n    {found[2]!r}", order)


# the letter of an address where nothing is: perf takes that of the frame before
NO_TIME = ("18446744073.", "0.000000")  # of samples without time
LEVEL = re.compile(r"^\[.\] ")
# code without lines, in the words of perf and of perfdata
NO_LINE = re.compile(r"^(?:\S*:0|.+\[[0-9a-f]+\]|.+\+\d+)$")
# the same behind a name in a graph; and an included file, which addr2line calls by the name of the one that includes it
FRAME_NO_LINE = re.compile(rb" (?:\?\?:0|\+\d+|\S*:0)(?=$|;)", re.M)
INCLUDED = re.compile(rb" \S+\.[ch]:([1-9]\d*)(?=$|;)", re.M)
NOWHERE = re.compile(rb"\[[k.]\](?= 0{16}\b)")
ROW = re.compile(rb"^ +\d+\.\d\d%  ")
KEPT = (b"# Samples:", b"# Event count", b"# Overhead", b"# Children", b"# .", b"#  ")


def has_no_rows(text):
    """True for tables that perf prints although nothing passes the filters."""
    return not any(event["rows"] for event in Reader(text).events)


def without_mode(words):
    """Keys of memory accesses need no mode here."""
    return [word for word in words if word != "--mem-mode"]


class Comparison:
    def __init__(self, args):
        self.args, self.table = args, compare.Table(SECTION, args.verbose)

    def wanted(self, variant, quick):
        if self.args.variant:
            return compare.fits(variant, self.args.variant)
        return self.args.all or variant in quick

    def one(self, path, env, words):
        theirs = compare.ask(["perf", "report", "--stdio", *WHOLE_CHAINS, *words, "-i", path], env)
        ours = compare.ask([self.args.perfdata, "report", "--stdio", *WHOLE_CHAINS, *without_mode(compare.without_symbols(words)), "-i", path], env)
        return theirs, ours

    def variants(self, name, path, env, names, more=()):
        """Compares a file in these variants, with more words."""
        facts = vars(script.Facts(path, env))
        facts["empty"] = compare.empty_folder(env["HOME"])
        jobs = []
        for variant in names:
            options = BRANCH_VARIANTS.get(variant) or VARIANTS[variant] + " --no-branch-stack"
            words = [word.format(**facts) for word in [*options.split(), *more]]
            if not as_text(variant):
                words += ["-t", SEPARATOR]
            jobs.append(functools.partial(self.one, path, env, words))
        for variant, (theirs, ours) in zip(names, compare.side_by_side(jobs)):
            self.told(name, variant, theirs, ours)

    def recording(self, recorder, name, path, why):
        if why:
            self.table.tell("missing", name, "all", why)
            return
        names = [variant for variant in VARIANTS if self.wanted(variant, QUICK_VARIANTS)]
        if name == "branches":
            names += [variant for variant in BRANCH_VARIANTS if self.wanted(variant, BRANCH_VARIANTS)]
        self.variants(name, path, recorder.environment(), names)

    def corpus(self, corpus, home):
        """All files of the corpus that can be read at once."""
        env = record.environment(home)
        names = [variant for variant in CORPUS_VARIANTS if self.wanted(variant, CORPUS_VARIANTS)]
        for row in common.rows(corpus):
            if self.args.only and not compare.fits(row["path"], self.args.only):
                continue
            branches = [variant for variant in BRANCH_VARIANTS
                        if "BRANCH_STACK" in row["features"] and self.wanted(variant, BRANCH_VARIANTS)]
            with common.Unpacked(corpus, row) as path:
                self.variants(row["path"], path, env, [*names, *branches], NO_SYMBOLS)

    def told(self, name, variant, theirs, ours):
        if ours.crashed:
            self.table.tell("DIFFER", name, variant, f"exit status {ours.status}: {ours.err[-200:]!r}")
        elif theirs.status != 0 or (not Reader(theirs.out).events and (b"rror" in theirs.err or b"problem" in theirs.err)):
            self.table.tell("refused", name, variant, theirs.err[:120].decode("utf-8", "replace").strip())
        else:
            function = text_difference if as_text(variant) else difference
            found = function(theirs.out, ours.out, variant)
            if found and ours.status in compare.NOTHING and has_no_rows(theirs.out):
                found = None
            if found and not ours.out:
                found.text += f"\n    {ours.err[:200]!r}"
            self.table.result(name, variant, found)


def main():
    parser = compare.arguments(__doc__)
    parser.add_argument("--corpus", help="compare the files of this corpus in place of recordings")
    args = parser.parse_args()
    comparison = Comparison(args)
    if args.corpus:
        args.perfdata, corpus = common.check_arguments(args.perfdata, args.corpus)
        if not record.shutil.which("perf"):
            common.skip("perf is not installed")
        with tempfile.TemporaryDirectory(prefix="perfdata-home-") as home:
            comparison.corpus(corpus, home)
    else:
        compare.with_recordings(args, QUICK_RECORDINGS, comparison.recording)
    return comparison.table.end(args.all and not args.only and not args.variant, args.table)


if __name__ == "__main__":
    sys.exit(main())
