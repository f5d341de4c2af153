#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares perfdata script with perf script, symbols included, on recordings made here.

usage: script.py PERFDATA [--all] [--only PATTERNS] [--variant PATTERNS] [--folder FOLDER] [--table FILE] [--verbose]

Both programs get the same words and must print the same bytes. The recordings are those of record.py, the variants are
below. One line for each that differs, with the first line that does, perf's first; KNOWN ones are explained in
docs/differences.md under "Script with symbols"; refused ones are those where perf itself ends with an error, and
perfdata need only end well. A table at the end. Exit status: 0 all agrees or is explained, 1 something does not, 77 no
perf that can record.
"""

import functools
import re
import sys

import compare
import record

SECTION = "Script with symbols"

QUICK_RECORDINGS = {
    "chain", "forks", "no-pie", "static", "deleted", "cpp", "library", "jit", "events", "sched", "addresses", "switches", "pipe",
}
QUICK_VARIANTS = {"default", "no chain", "shown", "time", "kernel path"}

# perf prints samples out of order with --show-round-events; see docs/differences.md
ROUND = b"PERF_RECORD_FINISHED_ROUND"
# what addr2line, which perf asks, and what we say of code without lines
NO_LINE = re.compile(rb"^  \S*:0$")
NO_LINE_HERE = re.compile(rb"^  \S+(?:\[[0-9a-f]+\]|\+\d+)$")
SOURCE = re.compile(rb"^  (\S+)\.([ch]):(\d+)$")
# perf's own copy of a vdso, whose build id was not recorded
VDSO = re.compile(rb"\(/tmp/perf-vdso\.so-\w{6}\)")
# what perf calls the first entries of a table of linkage by chance, and what we call them
INIT = re.compile(rb" _init(?:\+0x[0-9a-f]+)?(?= |$)")
LINKAGE = re.compile(rb" (?:[^ ]+@plt|\.plt)(?:\+0x[0-9a-f]+)?(?= |$)")
# the same by perf 6.1, which names entries by their order, and has no name for what stands before them
ORDERED = re.compile(rb" (?:_init|[^ ]*@plt|\[unknown\])(?:\+0x[0-9a-f]+)?(?= |$)")
TWICE = re.compile(rb"^  ((?:\./)?[^/]+/)\1")


def in_order(text):
    """Lines of samples by time, those of rounds at the end."""
    return b"\n".join(sorted(text.split(b"\n"), key=lambda line: (line == ROUND, line)))


def of_included(theirs, ours):
    """True where addr2line has the right line of an included file with the name of the file that includes it."""
    one, other = SOURCE.match(theirs), SOURCE.match(ours)
    return one and other and one[2] == b"c" and one[3] == other[3]


def comparable_lines(theirs, ours):
    """Both texts without the lines that say that there is no line, and with our names of included files; see docs/differences.md."""
    theirs = [TWICE.sub(rb"  \1", line) for line in theirs.split(b"\n")]
    theirs, ours = (
        [line for line in lines if not NO_LINE.match(line) and not NO_LINE_HERE.match(line)]
        for lines in (theirs, ours.split(b"\n"))
    )
    if len(theirs) == len(ours):
        theirs = [other if of_included(one, other) else one for one, other in zip(theirs, ours)]
    return b"\n".join(theirs), b"\n".join(ours)


def with_linkage(theirs, ours):
    """perf's text with our names of entries of a table of linkage where it has others; see docs/differences.md."""
    theirs, other = theirs.split(b"\n"), ours.split(b"\n")
    if b"plt" not in ours or len(theirs) != len(other):
        return b"\n".join(theirs)
    known = INIT if record.perf_names_stubs() else ORDERED
    return b"\n".join(there if one != there and LINKAGE.search(there) and known.sub(b"", one) == LINKAGE.sub(b"", there) else one
                      for one, there in zip(theirs, other))


class Facts:
    """What the variants need to know of a recording: its first and last time, a name, a thread."""

    LINE = re.compile(rb"^ *(.*?) +(-?\d+)/(-?\d+)(?: +(\d+\.\d+):)? *$")

    def __init__(self, path, env):
        rows = self.lines(path, env, "comm,pid,tid,time") or self.lines(path, env, "comm,pid,tid")
        middle = rows[len(rows) // 2] if rows else None
        self.rows = len(rows)
        self.comm, self.pid, self.tid = (middle.group(i).decode() for i in (1, 2, 3)) if middle else ("none", "1", "1")
        first, last = (float(rows[at].group(4) or 0) if rows else 0.0 for at in (0, -1))
        self.times = [f"{first + (last - first) * share:.6f}" for share in (0.3, 0.6)]

    def lines(self, path, env, fields):
        answer = compare.ask(["perf", "script", "-G", "--ns", "-F", fields, "-i", path], env)
        return [found for found in map(self.LINE.match, answer.out.splitlines()) if found]


# name: words for both programs; {names} come from Facts
VARIANTS = {
    "default": "",
    "ns": "--ns",
    "fields": "-F comm,pid,tid,time,cpu,event,period,ip,sym,symoff,dso",
    "no cpu": "-F comm,pid,tid,time,event,period,ip,sym,symoff,dso",
    "stop": "--stop-bt __libc_start_call_main,do_syscall_64,spin",
    "stop unmapped": "-F ip,sym --stop-bt main,entry_SYSCALL_64_after_hwframe",
    "ip,sym": "-F ip,sym",
    "ip,sym,symoff": "-F ip,sym,symoff",
    "ip,sym,dso": "-F ip,sym,dso",
    "ip,dso": "-F ip,dso",
    "sym": "-F comm,tid,ip,sym,symoff,dso -G",
    "addr": "-F comm,tid,time,event,addr,ip,sym,dso",
    "plus addr": "-F +addr",
    "plus srcline": "-F +srcline",
    "srcline": "-F ip,sym,srcline",
    "plus misc": "-F +misc",
    "plus period": "-F +period,+symoff,+pid",
    "minus more": "-F -tid,-event,-period,-cpu",
    "minus symbols": "-F -ip,-sym,-symoff,-dso",
    "software": "-F sw:comm,tid,time,event,ip,sym",
    "software and trace": "-F sw:comm,ip,sym -F trace:time,event,trace",
    "plus of one type": "-F sw:+symoff,-dso",
    "plus flags": "-F +flags",
    "plus phys_addr": "-F +phys_addr",
    "plus pages": "-F +data_page_size,+code_page_size",
    "plus weight": "-F +weight,+data_src",
    "plus iregs": "-F +iregs",
    "plus uregs": "-F +uregs",
    "minus": "-F -comm,-time,-dso",
    "trace": "-F trace:comm,tid,time,event,trace",
    "event,trace": "-F event,trace",
    "insn": "-F comm,event,ip,insn,insnlen",
    "no chain": "-G",
    "max-stack": "--max-stack 3",
    "max-stack 1": "--max-stack 1 -F +symoff",
    "tasks": "--show-task-events",
    "mmaps": "--show-mmap-events",
    "shown": "--show-task-events --show-mmap-events --show-switch-events --show-namespace-events --show-cgroup-events "
    "--show-lost-events",
    "tasks of comm": "--show-task-events --comms {comm}",
    "mmaps in time": "--show-mmap-events --time 10%-20%",
    "shown times": "--show-task-events --show-mmap-events --show-switch-events --ns -F comm,tid,time,event",
    "bpf": "--show-bpf-events --show-text-poke-events",
    # perf does not sort then, so it may have a sample before the maps of its process: chains would have no names
    "rounds": "--show-round-events -G -F tid,time,event",
    "time": "--time {times[0]},{times[1]}",
    "time from": "--time {times[1]},",
    "time to": "--time ,{times[0]}",
    "time 10%-20%": "--time 10%-20%",
    "time 10%/2": "--time 10%/2",
    "time slices": "--time 0%-10%,30%-40%",
    "time parts": "--time 10%/2,10%/4",
    "comms": "--comms {comm}",
    "pid": "--pid {pid}",
    "tid": "--tid {tid}",
    "cpu": "--cpu 0 -F comm,cpu,event",
    "dsos": "--dsos work,[kernel.kallsyms]",
    "symbol": "-S spin",
    "symbols": "-S spin,clear_page_erms,no_such_symbol",
    "reltime": "--reltime",
    "latency": "-L",
    "latency fields": "-L -a --ns --show-task-events -F comm,pid,tid,cpu,time,event",
    "deltatime": "--deltatime",
    "deltatime ns": "--deltatime --ns -F comm,tid,time",
    "comm,time": "--reltime -F comm,time",
    "no-demangle": "--no-demangle",
    "no-inline": "--no-inline",
    "kernel path": "--show-kernel-path",
    "full path": "-F +srcline --full-source-path",
    "no symbols": "--symfs {empty} --kallsyms {empty}/kallsyms",
    "inline": "--inline --demangle",
    "dsos of symbol": "--dsos work -S spin,middle",
    "header": "--header-only",
    "header and info": "--header-only -I",
}


class Comparison:
    def __init__(self, args):
        self.args, self.table = args, compare.Table(SECTION, args.verbose)

    def wanted(self, variant):
        if self.args.variant:
            return compare.fits(variant, self.args.variant)
        return self.args.all or variant in QUICK_VARIANTS

    def one(self, path, env, words):
        theirs = compare.ask(["perf", "script", *words, "-i", path], env)
        ours = compare.ask([self.args.perfdata, "script", "-q", *compare.without_symbols(words), "-i", path], env)
        return theirs, ours

    def recording(self, recorder, name, path, why):
        if why:
            self.table.tell("missing", name, "all", why)
            return
        env = recorder.environment()
        facts = vars(Facts(path, env))
        empty = compare.empty_folder(recorder.home)
        names = [variant for variant in VARIANTS if self.wanted(variant)]
        jobs = [
            functools.partial(self.one, path, env, [word.format(empty=empty, **facts) for word in VARIANTS[variant].split()])
            for variant in names
        ]
        for variant, (theirs, ours) in zip(names, compare.side_by_side(jobs)):
            self.told(name, variant, theirs, ours)

    def told(self, name, variant, theirs, ours):
        if ours.crashed:
            self.table.tell("DIFFER", name, variant, f"exit status {ours.status}: {ours.err[-200:]!r}")
        elif theirs.status != 0:
            self.table.tell("refused", name, variant, theirs.err[:120].decode("utf-8", "replace").strip())
        else:
            if variant == "rounds":
                theirs.out, ours.out = (in_order(one.out) for one in (theirs, ours))
            if "srcline" in VARIANTS[variant]:
                theirs.out, ours.out = comparable_lines(theirs.out, ours.out)
            if variant == "kernel path":
                theirs.out = VDSO.sub(b"([vdso])", theirs.out)
            theirs.out = with_linkage(theirs.out, ours.out)
            found = compare.first_difference(theirs.out, ours.out)
            if found and not ours.out and ours.err:
                found = (found[0], found[1], ours.err[:200])
            text = found and f"line {found[0]}\n    {found[1]!r}\n    {found[2]!r}"
            self.table.result(name, variant, text and compare.Difference(text))


def main():
    args = compare.arguments(__doc__).parse_args()
    comparison = Comparison(args)
    compare.with_recordings(args, QUICK_RECORDINGS, comparison.recording)
    return comparison.table.end(args.all and not args.only and not args.variant, args.table)


if __name__ == "__main__":
    sys.exit(main())
