#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares every sort key and column of perf report, and options that choose or arrange rows, with perfdata report: the same words, the
same lines, on recordings that have something to show for each, and on files of a corpus.

usage: keys.py PERFDATA [CORPUS] [--new PERF] [--only PATTERNS] [--table FILE] [--verbose]

Which keys there are says perf's own -h. PERF is a perf 7.2, which is asked for what perf 6.1 does not know; without one these keys are
left out. Recordings are made on the spot: sampled ones with and without call chains, tracepoints, cgroups, and, assembled from text,
memory accesses, weights with transactions, branches, threads that run at once. A table says for each key and file whether the text
is equal (=), equal with nothing to show (.), differs as docs/differences.md explains under "Sort keys and columns" (k), is one that
perf prints nothing of (-), or is asked of another kind of file (blank).
Exit status: 0 all is equal or explained, and each key has something to show somewhere; 1 not; 77 no perf that can record.
"""

import collections
import os
import random
import re
import subprocess
import sys
import tempfile

import compare
import latency
import mem
import record

CORPUS = {"corpus tracepoints": "recorded/a-sched.data", "corpus cgroups": "recorded/a-all-cgroups.data", "corpus fields": "recorded/all-fields.data",
          "corpus program": "recorded/basic.data", "corpus threads": "recorded/n-latency.data", "corpus branches": "thirdparty/perf_data_converter/perf.data.branch-4.14"}
RECORDED = {"samples": "alone", "chains": "chain", "tracepoints": "sched", "control groups": "cgroups", "addresses": "addresses", "branches": "branches",
            "groups": "two-groups"}

# What is not here by name; see src/report/keys/absent.def.
ABSENT = {"simd", "ipc_lbr", "callchain_branch_predicted", "callchain_branch_abort", "callchain_branch_cycles", "overhead_guest_sys",
          "overhead_guest_us"}
# Compared by data_types.py, on programs with debug information.
ELSEWHERE = {"type", "typeoff", "typecln"}
# perf's help has a key that it refuses.
REFUSED = {"ipc_null"}
# perf 6.1 ends with a signal for these; perf 7.2 counts samples, not branches, in the head, and has instructions per cycle in a column more.
ONLY_NEW = {"symbol_from", "symbol_to"}
CYCLES = re.compile(r" +(?:IPC   \[IPC Coverage\]|\.{20}|[\d.]+ +\[ *[\d.]+%\]|- +-)$")
OF_BRANCHES = {"dso_from", "dso_to", "symbol_from", "symbol_to", "mispredict", "abort", "in_tx", "cycles", "srcline_from", "srcline_to", "addr_from",
               "addr_to"}
OF_MEMORY = {"symbol_daddr", "dso_daddr", "locked", "tlb", "mem", "snoop", "dcacheline", "symbol_iaddr", "phys_daddr", "data_page_size", "blocked"}
# Columns: the words that show them.
COLUMNS = {
    "overhead": "-F overhead,comm,dso", "overhead_sys": "-F overhead_sys,comm,dso", "overhead_us": "-F overhead_us,comm,dso",
    "overhead_children": "--children -F overhead_children,overhead,sym", "sample": "-F sample,dso", "period": "-F period,dso",
    "latency": "-F overhead,latency,comm", "latency_children": "--latency -s sym", "parallelism": "-s latency,parallelism",
    "weight1": "-s sym -F +weight1", "weight2": "-s sym -F +weight2", "weight3": "-s sym -F +weight3", "op": "--mem-mode -s dso -F overhead,op",
    "cache": "--mem-mode -s dso -F overhead,cache,op", "memory": "--mem-mode -s sym -F overhead,memory", "dtlb": "--mem-mode -s sym -F overhead,dtlb",
    "parent": "-p main -s parent,dso", "symbol_from": "-s symbol_from,symbol_to", "symbol_to": "-s symbol_to,symbol_from",
}
# Fields of tracepoints, of which perf's -h says nothing.
FIELDS = {"trace_fields": "-s trace_fields", "[event.]field": "-s next_comm,sched_switch.next_pid", "field/raw": "-s prev_state/raw", "%1.field": "-s %1.prev_pid"}
OF_TRACEPOINTS = {"trace", *FIELDS}
# Options that choose or arrange rows.
OPTIONS = {name: name for name in (
    "--hierarchy -s comm,dso", "--hierarchy -s {comm,dso},cpu", "--hierarchy -s comm,sym -c work", "--hierarchy -s comm,next_comm", "--hierarchy -s trace_fields",
    "--hierarchy -s {comm,next_comm},pid", "--hierarchy -s pid,{next_pid,next_comm}", "--group", "--group-sort-idx 1 -s comm,dso", "--skip-empty", "--no-skip-empty", "--percentage relative -d work",
    "--symbol-filter a -s comm,sym", "--socket-filter 0 -s comm,socket", "-U -s dso", "-w 12,20 -s comm,dso", "-t | -s comm,dso", "--percent-limit 10 -s dso",
    "--ns -s time", "--time 10%-30% -s comm", "--time 10%/2 -s comm", "--show-total-period -n -s comm", "--showcpuutilization -s dso", "--full-source-path -s srcline",
    "--exclude-other -s dso", "-p main -s parent,dso", "-p main -x -s dso", "--ignore-callees spin -s sym", "--demangle -s dso", "--no-demangle -s dso",
    "--demangle-kernel -s dso", "-c work -s comm,dso", "-d [kernel.kallsyms] -s dso", "-S main -s dso", "--time-quantum 1ms -s time", "--raw-trace -s trace", "--raw-trace -s trace_fields", "--raw-trace -s next_comm,prev_state", "--percent-type local-hits -s dso", "--samples 3 -s dso",
    "--disable-order -s dso", "--ignore-vmlinux -s dso", "--stdio-color always -s dso", "--stdio-color never -s dso", "--pretty raw -s dso", "-q -s dso", "-v -s dso",
    "--tasks", "--mmaps", "--stats", "--header-only", "-D", "--inline -s dso", "--no-inline -s dso", "--max-stack 3 -s dso", "-G -s dso", "-g caller -s sym", "-g folded -s sym", "--mem-mode -s dso", "--total-cycles", "--branch-stack -s dso_from", "--branch-history -s pid", "--branch-history --no-children -s comm --max-stack 9", "--branch-history -s comm -g graph,5,callee", "--branch-history -s dso -g folded,2", "--no-branch-stack -s dso", "-T -s dso", "-M -s dso", "-m -s dso")}
LEFT_OUT = {"-D", "-T", "-M", "-v", "--showcpuutilization", "--header-only"}

NOTHING = {"", "0", "N/A", "[unknown]", "unknown", "0.0", "-", "-      -", "0.00%", "[other]", "Unknown", "N", ".", "0/0x0", "???"}

SECTION = "Sort keys and columns"

# What perf 6.1 may call an entry of the PLT, and what changes with the length of a name, or where rows have as much.
PLT = re.compile(r"@plt\b|\[\.\] \.plt\b")
NAMED_BY_ORDER = re.compile(rf"{PLT.pattern}|\b_init\b|\[unknown\]|\b0x[0-9a-f]+ *$|@plt")
DRAWN = re.compile(r"[ .|-]+")


class Transactions(mem.Made):
    """Memory accesses with three weights, and transactions that ended in every way."""

    def __init__(self, seed):
        super().__init__(seed)
        rng = random.Random(seed)
        self.lines = [re.sub(r"weight: (\d+)", lambda found: self.parts(rng, int(found[1])), line.replace("|WEIGHT", "|WEIGHT_STRUCT|TRANSACTION"))
                      for line in self.lines]

    @staticmethod
    def parts(rng, weight):
        transaction = rng.choice((0, 0, 3, 5, 6, 10, 18, 34, 66, 130, 0x7 << 32 | 2))
        return f"weight_struct: {weight | rng.choice((0, 12, 40)) << 32 | rng.choice((0, 3, 9)) << 48:#x}, transaction: {transaction:#x}"


def keys_of(perf):
    """Names that perf's own help has; none if there is no such perf."""
    try:
        done = subprocess.run([perf, "report", "-h"], capture_output=True, text=True, check=False)
    except OSError:
        return []
    found = re.search(r"--sort <key.*?sort by key\(s\):(.*?)\n    -", done.stdout + done.stderr, re.DOTALL)
    return list(dict.fromkeys(found[1].split())) if found else []


def lines_of(text):
    """Lines of tables without what only one of them prints, and blanks at the end."""
    kept = [line.rstrip() for line in text.decode("utf-8", "replace").split("\n")]
    return [line for line in kept if line.strip("#") and not re.match(r"# (To display|\(Tip|Profile quality|Total Lost|Sort order|Latency: )", line)]


def without_plt(lines):
    """Lines that are not of entries of the PLT, without their graphs and widths, sorted."""
    return sorted(DRAWN.sub(" ", line) for line in lines if not NAMED_BY_ORDER.search(line))


def differs_by_plt(wanted, got):
    return not record.perf_names_stubs() and any(PLT.search(line) for line in got) and without_plt(wanted) == without_plt(got)


def without_places(lines):
    """Graphs by address without what differs in others, too: addr2line knows no included files, and perf prints addresses as recorded."""
    lines = [re.sub(r" [^ ;]+\.[chS]:(\d+)", r" :\1", line) for line in lines]
    return [re.sub(r"\b0x[0-9a-f]*([0-9a-f]{3})\b", r"0x\1", line) for line in lines]


def has_rows(lines):
    return any(not line.startswith("#") for line in lines)


def shows(lines, key, words):
    """Whether a table has anything to say of a key: some cell that is not one of those that mean nothing."""
    rows = [line for line in lines if not line.startswith("#")]
    if key in OPTIONS or "-F" in words:
        return bool(rows)
    cells = [row.split("%", 1)[-1].strip() for row in rows]
    return any(cell not in NOTHING for cell in cells)


class File:
    """A recording: which keys make sense for it."""

    def __init__(self, name, path, kinds, symbols=True):
        self.name, self.path, self.kinds, self.symbols = name, path, kinds, symbols

    def words(self, key):
        """What shows a key of this file; None: the key is of other files."""
        of_branches = "branches" in self.kinds
        if "threads" in self.kinds and key not in ("latency", "latency_children", "parallelism"):
            return None
        if key in OPTIONS and re.search("next_|trace_fields|-s trace", key) and "tracepoints" not in self.kinds:
            return None
        if key in OPTIONS:
            return OPTIONS[key].split() if ("cycles" in key or "--branch" in key) <= of_branches else None
        if (key in OF_BRANCHES) > of_branches or (key in OF_TRACEPOINTS) > ("tracepoints" in self.kinds):
            return None
        if (key in ("op", "cache", "memory", "dtlb") or key in OF_MEMORY) > ("memory" in self.kinds):
            return None
        if key in ("latency", "latency_children", "parallelism") and "threads" not in self.kinds:
            return None
        if key in COLUMNS or key in FIELDS:
            words = (COLUMNS.get(key) or FIELDS[key]).split()
        else:
            words = ["-s", key, *(["--mem-mode"] if key in OF_MEMORY else [])]
        if of_branches and key not in OF_BRANCHES:
            words.append("--no-branch-stack")
        return words


class Comparison:
    WORDS = {"=": "equal", ".": "equal, nothing to show", "o": "equal but for the order of equal rows", "k": "explained", "X": "DIFFERS", "-": "perf prints nothing"}

    def __init__(self, perfdata, env, old, new, verbose):
        self.perfdata, self.env, self.old, self.new, self.verbose = perfdata, env, old, new, verbose
        self.reasons_known = compare.Known(SECTION)
        self.known = {perf: set(keys_of(perf)) for perf in (old, new) if perf}
        self.cells = collections.defaultdict(dict)
        self.reasons = collections.Counter()

    def perf_for(self, key):
        if key in ONLY_NEW:
            return self.new
        if key in OPTIONS or key in FIELDS or key in self.known[self.old]:
            return self.old
        return self.new

    def all_keys(self):
        keys = dict.fromkeys(key for perf in self.known for key in sorted(self.known[perf]))
        return [key for key in [*keys, *FIELDS, *OPTIONS] if key not in ABSENT | REFUSED | ELSEWHERE and key.split()[0] not in LEFT_OUT]

    def absent(self, path):
        """What is wrong with keys that are not here: each is refused by name."""
        wrong = []
        for key in sorted(ABSENT & set().union(*self.known.values())):
            answer = compare.ask([self.perfdata, "report", "-s", key, "-i", path], self.env)
            if answer.status != 2 or f"the sort key {key} of perf is not here: ".encode() not in answer.err:
                wrong.append(f"{key}: {answer.err[:100]!r}")
        return wrong

    def one(self, file, key):
        """A letter for a key of a file, and what differs."""
        words = file.words(key)
        perf = self.perf_for(key)
        if words is None or not perf:
            return None, ""
        graph = [] if key.startswith(("-g", "-G", "-p", "--max-stack", "--branch-history")) else ["-g", "none"]
        if graph and key not in ("overhead_children", "latency_children"):
            graph.append("--no-children")
        empty = compare.empty_folder(self.env["HOME"])
        hidden = [] if file.symbols else ["--symfs", empty, "--kallsyms", f"{empty}/kallsyms"]
        theirs = compare.ask(["env", "--ignore-signal=PIPE", perf, "report", "--stdio", *hidden, *graph, *words, "-i", file.path], self.env)
        ours = compare.ask([self.perfdata, "report", "--stdio", *([] if file.symbols else ["--no-symbols"]), *graph, *words, "-i", file.path], self.env)
        if ours.crashed:
            return "X", f"exit status {ours.status}: {ours.err[-200:]!r}"
        wanted, got = lines_of(theirs.out), lines_of(ours.out)
        if key in ONLY_NEW:
            wanted, got = ([CYCLES.sub("", line) for line in lines if not line.startswith("# Samples:")] for lines in (wanted, got))
        if key.startswith("--branch-history"):
            wanted, got = without_places(wanted), without_places(got)
        if wanted == got and wanted:
            return "=" if shows(got, key, words) else ".", ""
        if not wanted:
            return "-", ""
        if not has_rows(wanted) and not has_rows(got):
            return ".", ""
        reason = self.reasons_known.reason(file.name, key)
        if sorted(DRAWN.sub(" ", line) for line in wanted) == sorted(DRAWN.sub(" ", line) for line in got):
            return "o", ""
        if not reason and differs_by_plt(wanted, got):
            reason = "perf 6.1 names entries of the PLT by their order"
        if reason:
            self.reasons[reason] += 1
            return "k", reason
        at = next((i for i, pair in enumerate(zip(wanted, got)) if pair[0] != pair[1]), min(len(wanted), len(got)))
        return "X", f"line {at + 1}\n    {(wanted + [None])[at]!r}\n    {(got + [None])[at]!r} {ours.err[:160]!r}"

    def file(self, file, only):
        for key in self.all_keys():
            if not compare.fits(key, only):
                continue
            letter, why = self.one(file, key)
            if letter:
                self.cells[key][file.name] = letter
            if letter == "X" or (self.verbose and letter):
                print(f"{self.WORDS[letter]:12} {file.name} [{key}]: {why}", flush=True)

    def table(self, names):
        numbers = {name: str(number + 1) for number, name in enumerate(names)}
        lines = [f"{number}: {name}" for name, number in numbers.items()] + [f"{letter}: {words}" for letter, words in self.WORDS.items()]
        lines += ["", f"| key or option | {' | '.join(numbers.values())} |", f"| --- |{' --- |' * len(names)}"]
        lines += [f"| `{key}` | {' | '.join(cells.get(name, '') for name in names)} |" for key, cells in self.cells.items()]
        return "\n".join([*lines, "", *(f"{count} k: {reason}" for reason, count in self.reasons.most_common())]) + "\n"

    def unseen(self):
        """Keys that no file has anything to show for."""
        return [key for key, cells in self.cells.items() if key not in OPTIONS and not set(cells.values()) & set("=ok")]


def assembled(perfdata, folder):
    """Recordings made of text."""
    for name, maker, kinds in (("memory accesses", mem.Made(1), {"memory"}), ("transactions", Transactions(2), {"memory"})):
        path = os.path.join(folder, f"{name}.data".replace(" ", "-"))
        maker.write(perfdata, path)
        yield File(name, path, kinds)
    path = os.path.join(folder, "threads.data")
    text = latency.make(random.Random(3), 4)[0]
    subprocess.run([perfdata, "assemble", "-o", path, "-"], input=text.encode(), check=True)
    yield File("threads", path, {"threads"}, symbols=False)


def files_of(args, recorder):
    yield from assembled(args.perfdata, recorder.folder)
    for name, wanted in RECORDED.items():
        one = next(recording for recording in record.RECORDINGS if recording.name == wanted)
        path, why = recorder.get(one)
        if why:
            print(f"no {name}: {why}")
            continue
        yield File(name, path, {kind for kind in ("branches", "tracepoints", "memory") if kind == name or (kind, name) == ("memory", "addresses")})
    for name, path in CORPUS.items() if args.corpus else ():
        kinds = {kind for kind in ("branches", "tracepoints", "threads") if kind in name}
        yield File(name, os.path.join(args.corpus, path), kinds, symbols=False)


def main():
    parser = compare.arguments(__doc__)
    parser.add_argument("corpus", nargs="?", help="a folder with a corpus")
    parser.add_argument("--new", metavar="PERF", help="a perf 7.2")
    args = parser.parse_args()
    args.perfdata = os.path.abspath(args.perfdata)
    why = record.perf_missing()
    if why:
        print(f"SKIP: {why}")
        return 77
    if args.corpus and not os.path.exists(os.path.join(args.corpus, "manifest.tsv")):
        args.corpus = None
    with tempfile.TemporaryDirectory(prefix="perfdata-keys-") as scratch:
        recorder = record.Recorder(args.folder or scratch, args.perfdata)
        comparison = Comparison(args.perfdata, recorder.environment(), "perf", args.new, args.verbose)
        names, wrong = [], []
        for file in files_of(args, recorder):
            names.append(file.name)
            wrong = wrong or comparison.absent(file.path)
            comparison.file(file, args.only or "*")
        text = comparison.table(names)
        if args.table:
            with open(args.table, "w", encoding="utf-8") as out:
                out.write(text)
        print(text)
    for key in comparison.unseen():
        wrong.append(f"{key}: nothing to show in any file")
    print("\n".join(wrong))
    counts = collections.Counter(letter for cells in comparison.cells.values() for letter in cells.values())
    print(", ".join(f"{counts[letter]} {words}" for letter, words in comparison.WORDS.items()))
    return 1 if wrong or counts["X"] or not counts["="] else 0


if __name__ == "__main__":
    sys.exit(main())
