#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Python scripts that were written for perf: perfdata script -s and -g.

usage: scripts.py PACKAGE_FOLDER LIBRARY PERFDATA DATA_FOLDER [CORPUS]

With CORPUS a script that prints all that its handlers get is run by perf, too, and both print the same: but for what perf 6.1 alone knows
(datasrc_decode, build ids of files on this machine), and where it names functions otherwise, which tests of names compare. Exit status: 0 all is right; 1 not; 77 CORPUS is given
and there is no perf 6.1 with Python.
"""

import contextlib
import os
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile

folder, library, program, data = map(os.path.abspath, sys.argv[1:5])
ENVIRONMENT = {**os.environ, "PYTHONPATH": folder, "PERFDATA_LIBRARY": library, "LC_ALL": "C.UTF-8"}
WHOLE = '''
import os, sys
sys.path.append(os.environ["PERF_EXEC_PATH"] + "/scripts/python/Perf-Trace-Util/lib/Perf/Trace")
from perf_trace_context import *
from Core import *
from Util import *

NAMES = ("symbol", "symoff", "sym", "sym_off", "dso_map_end", "addr_dso_bid", "addr_symbol", "addr_symoff", "addr_dso_map_end")

def known(value):
    if isinstance(value, dict):
        return {key: known(item) for key, item in value.items() if key not in NAMES}
    if isinstance(value, bytes):
        return value[:64]  # of an attr newer versions have more
    if isinstance(value, (list, tuple)):
        return [known(item) for item in value]
    return value if isinstance(value, (int, str, bool)) else type(value).__name__

def show(name, *values):
    print(name, [known(value) for value in values])

def trace_begin():
    show("begin", sys.argv[1:], nsecs(2, 5), nsecs_nsecs(2000000005), avg(6, 3))

def trace_end():
    show("end")

def process_event(sample):
    show("sample", sample)

def sched__sched_switch(event_name, context, common_cpu, common_secs, common_nsecs, common_pid, common_comm, common_callchain, prev_comm, prev_pid, prev_prio,
                        prev_state, next_comm, next_pid, next_prio, perf_sample_dict):
    show(event_name, common_pc(context), common_flags(context), common_cpu, common_secs, common_nsecs, common_pid, common_comm, common_callchain, prev_comm,
         prev_pid, prev_prio, prev_state, next_comm, next_pid, next_prio, perf_sample_dict)

def trace_unhandled(event_name, context, fields, perf_sample_dict):
    show(event_name, common_pc(context), fields, perf_sample_dict)

def throttle(*values):
    show("throttle", *values)

def unthrottle(*values):
    show("unthrottle", *values)

def context_switch(*values):
    show("context_switch", *values)

def stat__interval(*values):
    show("interval", *values)

def counts(*values):
    show("counts", *values)

for event in "cpu-clock", "context-switches", "task-clock", "page-faults":
    globals()["stat__" + event] = counts
'''
TABLES = '''
perf_db_export_mode = True
perf_db_export_calls = False
perf_db_export_callchains = True

def of(name):
    return lambda *values: print(name, values)

for name in ("evsel", "machine", "thread", "comm", "comm_thread", "dso", "symbol", "branch_type", "sample", "call_path", "call_return", "context_switch"):
    globals()[name + "_table"] = of(name)
trace_begin, trace_end, process_event, context_switch = map(of, ("begin", "end", "process_event", "context_switch"))
'''
# What export-to-sqlite.py of perf needs of Qt.
SQL = '''
import sqlite3

class QSqlDatabase:
    @staticmethod
    def addDatabase(kind):
        return QSqlDatabase()

    def setDatabaseName(self, name):
        self.name = name

    def open(self):
        self.connection = sqlite3.connect(self.name, isolation_level=None)
        return True

    def close(self):
        self.connection.close()

class QSqlQuery:
    def __init__(self, database):
        self.connection, self.values = database.connection, []

    def prepare(self, words):
        self.words = words
        return True

    def addBindValue(self, value):
        self.values.append(value)

    def exec_(self, words=None):
        values, self.values = self.values, []
        self.connection.execute(words or self.words, values)
        return True
'''
TABLE_FILES = ("a-switch", "a-sched", "a-bpf", "s390x-threads", "arm64-group", "ppc64le-clock")
FILES = ("a-throttle", "a-switch", "a-sched", "a-kmem", "a-lock", "a-stat-percore", "arm64-group", "all-fields", "basic", "tracepoints-sched", "named-events")

wrong = 0


def require(condition, *what):
    global wrong
    if not condition:
        wrong += 1
        print(*what, sep="\n  ")


def run(*words, **how):
    return subprocess.run([program, *words], env=how.pop("env", ENVIRONMENT), capture_output=True, text=True, errors="replace",
                          stdin=how.pop("stdin", subprocess.DEVNULL), check=False)


def put(name, text):
    with open(name, "w", encoding="utf-8") as file:
        file.write(text)


def check_generated():
    """A script that -g has written runs, and has a handler for each tracepoint."""
    recording = os.path.join(data, "hot-trace.data")
    done = run("script", "-i", recording, "-g", "made.py")
    require(not done.returncode, "-g", done)
    with open("made.py", encoding="utf-8") as file:
        require("def sched__sched_switch(event_name, context, common_cpu," in file.read(), "no handler for sched_switch")
    done = run("script", "-i", recording, "-s", "made.py")
    lines = [line for line in run("script", "-i", recording).stdout.splitlines() if "sched:sched_switch" in line]
    require(lines and done.stdout.count("sched__sched_switch") == len(lines), "-s made.py", done.stdout[:300], done.stderr, len(lines))
    with open(recording, "rb") as pipe:
        require(run("script", "-i", "-", "-s", "made.py", stdin=pipe).stdout == done.stdout, "another text from a pipe")
    with open(recording, "rb") as whole, subprocess.Popen(["cat"], stdin=whole, stdout=subprocess.PIPE) as writer:
        require(run("script", "-s", "made.py", stdin=writer.stdout).stdout == done.stdout, "what is piped in is not read")


def check_words():
    """Arguments, selections, languages and failures."""
    recording = os.path.join(data, "hot.data")
    put("count.py", "import sys\nn = 0\ndef process_event(sample):\n    global n\n    n += sample['comm'] == 'hot-child'\n"
                    "def trace_end():\n    print(sys.argv[1:], n)\n")
    every = run("script", "-i", recording, "-s", "count.py", "a", "b").stdout
    require(every == "['a', 'b'] 40\n", every)
    require(run("script", "-i", recording, "-s", "py:count.py").stdout == "[] 40\n", "a language in front")
    require(run("script", "-i", recording, "count.py").stdout == "[] 40\n", "a script without an option")
    require(run("script", "-i", recording, "--comm", "hot", "-s", "count.py").stdout == "[] 0\n", "--comm")
    for words, said in ((("-i", recording, "-s", "none.py"), "none.py: No such file"), (("-i", "none.data", "-s", "count.py"), "none.data: No such file"),
                        (("a", "b"), "unexpected argument 'b'")):
        done = run("script", *words)
        require(done.returncode and said in done.stderr and "Traceback" not in done.stderr, words, done)
    put("fails.py", "def process_event(sample):\n    raise ValueError('what the script says')\n")
    done = run("script", "-i", recording, "-s", "fails.py")
    require(done.returncode == 1 and "fails.py\", line 2" in done.stderr and "what the script says" in done.stderr, done)
    done = run("script", "-i", recording, "-s", "count.py", env={**ENVIRONMENT, "PYTHONPATH": "/nowhere", "PYTHONSAFEPATH": "1"})
    require("Python package" in done.stderr or not done.returncode, "no package", done)
    require(run("script", "-i", recording, "--comm", "-x", "-s", "count.py", "--", "--", "-y z", "").stdout == "['--', '-y z', ''] 0\n", "words with hyphens and spaces")
    done = run("script", "-i", recording, "-s", "count.py", env={**ENVIRONMENT, "PATH": "/nowhere"})
    require(done.returncode == 3 and "run by python3" in done.stderr, "no python3", done)


def check_folder():
    """Nothing in the current folder is imported: the package is the installed one."""
    os.mkdir("perfdata")
    for name in ("argparse.py", "signal.py", os.path.join("perfdata", "__init__.py"), os.path.join("perfdata", "script.py")):
        put(name, "print('of the current folder')\n")
    os.mkdir("own")
    shutil.copy("count.py", "own")
    done = run("script", "-i", os.path.join(data, "hot.data"), "-s", "own/count.py")
    require(done.stdout == "[] 40\n", "what is in the current folder", done)
    shutil.rmtree("perfdata")
    for name in ("argparse.py", "signal.py"):
        os.remove(name)


def check_ends():
    """Damage is said, as for other output; ^C and readers that end early."""
    recording = os.path.join(data, "hot.data")
    with open(recording, "rb") as whole:
        content = whole.read()
    with open("cut.data", "wb") as cut:
        cut.write(content[:len(content) // 2])
    done, plain = run("script", "-i", "cut.data", "-s", "count.py"), run("script", "-i", "cut.data")
    require(plain.returncode == 1 and done.returncode == 1 and "damage: " in done.stderr and done.stdout.startswith("[]"), "damage", done, plain.stderr)
    for end, code in ((len(content) // 2, 1), (0, 3)):
        with open("cut.data", "wb") as cut:
            cut.write(content[:end])
        with open("cut.data", "rb") as pipe, open("cut.data", "rb") as again:
            done, plain = run("script", "-i", "-", "-s", "count.py", stdin=pipe), run("script", "-i", "-", stdin=again)
        require(done.returncode == code and plain.stderr.splitlines()[0] in done.stderr, "damage of a pipe", done, plain.stderr)
    put("total.py", "n = 0\ndef process_event(sample):\n    global n\n    n += 1\ndef trace_end():\n    print(n)\n")
    with open("damaged.data", "wb") as damaged:  # the callchain of a sample has more entries than there is
        at = 0x4a0
        damaged.write(content[:at] + b"\xff" * 4 + content[at + 4:])
    done = run("script", "-i", "damaged.data", "-s", "total.py")
    require(done.returncode == 1 and done.stdout == "80\n" and "damage: " in done.stderr, "a damaged sample", done)
    put("slow.py", "import time\ndef process_event(sample):\n    print('one', flush=True)\n    time.sleep(0.1)\ndef trace_end():\n    print('end')\n")
    with subprocess.Popen([program, "script", "-i", recording, "-s", "slow.py"], env=ENVIRONMENT, stdout=subprocess.PIPE, text=True) as slow:
        slow.stdout.readline()
        slow.send_signal(signal.SIGINT)
        rest = slow.stdout.read().splitlines()
    require(slow.returncode == 0 and rest[-1:] == ["end"] and len(rest) < 30, "^C", slow.returncode, rest)
    put("long.py", "def process_event(sample):\n    print('x' * 100000)\n")
    os.mkdir("temporary")
    with open(recording, "rb") as pipe, subprocess.Popen([program, "script", "-i", "-", "-s", "long.py"], stdin=pipe, stdout=subprocess.PIPE,
                                                         env={**ENVIRONMENT, "TMPDIR": os.path.abspath("temporary")}) as early:
        early.stdout.readline()
        early.stdout.close()
    require(early.returncode == -signal.SIGPIPE and not os.listdir("temporary"), "a reader that ends", early.returncode, os.listdir("temporary"))


def check_modules():
    """Core and Util have what those of perf have."""
    put("words.py", "from Core import *\nfrom Util import *\ndef trace_end():\n    define_flag_field('e', 'f', '|')\n    define_flag_value('e', 'f', 1, 'A')\n"
                    "    define_flag_value('e', 'f', 2, 'B')\n    print(flag_str('e', 'f', 3), taskState(1), strerror(-2), FUTEX_WAIT, FUTEX_CMD_MASK & 0x181)\n"
                    "    print(EventHeaders(1, 2, 3000, 4, 'comm', []).ts(), defaultdict(int)['x'])\n")
    done = run("script", "-i", os.path.join(data, "hot.data"), "-s", "words.py")
    require(done.stdout == "A | B S ENOENT 0 1\n2000003000 0\n", "Core and Util", done)


def assemble(name, chains):
    """A recording with these call chains, of one address or more, in an object that is not found."""
    head, sample = run("text", os.path.join(data, "hot.data")).stdout.split("\nSAMPLE ", 1)
    head = head.replace("addr: 0x55bbe29cf000", "addr: 0x5500000").replace("/tmp/perfdata-demo/hot", "/nowhere/hot")
    rest = re.search(r", pid: .*callchain: ", sample)[0]
    put("samples.text", "\n".join([head, *(f"SAMPLE misc: user, ip: {chain[0]:#x}{rest}[USER {' '.join(map(hex, chain))}]" for chain in chains), ""]))
    done = run("assemble", "samples.text", "-o", name)
    require(done.returncode == 0, "assemble", done)


def check_samples():
    """A sample is a dict whatever is asked of it first."""
    put("ask.py", """
import copy, json, pickle
WORDS = ("ev_name", "attr", "sample", "raw_buf", "comm", "dso", "dso_bid", "dso_map_start", "dso_map_end", "symbol", "symoff", "callchain", "brstack", "brstacksym", "iregs", "uregs")
ASK = (len, list, dict, repr, copy.copy, copy.deepcopy, lambda s: {**s}, lambda s: s.items(), lambda s: pickle.loads(pickle.dumps(s)), lambda s: list(reversed(s)),
       lambda s: json.dumps(s, default=str), lambda s: s.setdefault("comm"), lambda s: s | {}, lambda s: s == 1, lambda s: s.get("callchain"), lambda s: "symbol" in s)
n = 0
def process_event(sample):
    global n
    asked, key = ASK[n % len(ASK)](sample), WORDS[n % len(WORDS)]
    n += 1
    assert not isinstance(asked, dict) or asked == dict(sample), asked
    assert list(sample) == [word for word in WORDS if word in sample], list(sample)
    assert ("none" in sample, sample.get("none"), sample.get("none", 2)) == (False, None, 2)
    sample["own"], sample["callchain"] = 1, []
    assert list(sample)[-1] == "own" and sample["callchain"] == []
    if key in sample:
        del sample[key]
    try:
        raise ValueError(sample[key])
    except KeyError:
        pass
def trace_end():
    print(n)
""")
    done = run("script", "-i", os.path.join(data, "hot.data"), "-s", "ask.py")
    require(done.stdout == "81\n" and not done.stderr, "a sample that is asked", done)
    assemble("equal.data", [[0x5500010, 0x5500020]] * 4 + [[0x5500030]])
    put("equal.py", "kept = []\nprocess_event = kept.append\ndef trace_end():\n    one, same, another, third, other = kept\n"
                    "    print(one == same, another != third, other in kept[:4], other == one, dict(one) == third)\n")
    done = run("script", "-i", "equal.data", "-s", "equal.py")
    require(done.stdout == "True False False False True\n", "equal samples", done)


def check_tables():
    """Rows of tables follow what they refer to."""
    put("tables.py", TABLES)
    done = run("script", "-i", os.path.join(data, "hot.data"), "-s", "tables.py")
    lines = done.stdout.splitlines()
    require(lines[:2] == ["begin ()", "branch_type (0, 'no branch')"] and lines[-1] == "end ()" and not done.stderr, "tables", done)
    known = set()
    for line in lines[1:-1]:
        name, values = line.split(" ", 1)
        values = eval(values)  # pylint: disable=eval-used
        known.add((name, values[0]))
        if name == "sample":
            needed = list(zip(("evsel", "machine", "thread", "comm", "dso", "symbol"), values[1:7])) + [("call_path", values[21])]
            require(all(not number or (table, number) in known for table, number in needed) and len(values) == 25, "a sample", line)
    require(sum(name == "sample" for name, _ in known) == 81, "samples", len(known))
    check_unknown_callers()


def check_unknown_callers():
    """A caller without a name is a symbol at its address, and the one of samples there as soon as there are some, as in perf."""
    assemble("callers.data", [[0x5500010, 0x5500020], [0x5500020], [0x5500010, 0x5500020]])
    lines = [line.split(" ", 1) for line in run("script", "-i", "callers.data", "-s", "tables.py").stdout.splitlines()]
    symbols, paths, samples = ([eval(values) for word, values in lines if word == name] for name in ("symbol", "call_path", "sample"))  # pylint: disable=eval-used
    require([row[2] for row in symbols] == [0x1010, 0x5500020, 0x1020], "symbols", symbols)
    of_path = {number: symbols[symbol - 1][2] if symbol else None for number, _, symbol, _ in paths}
    callers = {number: of_path.get(parent) for number, parent, _, _ in paths}
    steps = [(of_path[row[21]], callers[row[21]]) for row in samples]
    require(steps == [(0x1010, 0x5500020), (0x1020, None), (0x1010, 0x1020)], "callers", steps)


def check_installed():
    """Scripts of an installed perf, by their names. perf is perfdata there."""
    folder = os.path.abspath("core")
    os.makedirs(os.path.join(folder, "scripts/python/bin"))
    put("core/scripts/python/count.py", "import sys\nn = 0\ndef process_event(sample):\n    global n\n    n += 1\ndef trace_end():\n    print(sys.argv[1:], n > 0)\n")
    put("core/scripts/python/bin/counted-record", "#!/bin/bash\n(perf record -e cpu-clock \"$@\")\n")
    put("core/scripts/python/bin/counted-report",
        "#!/bin/bash\n# description: counts samples\n# args: [word]\nperf script \"$@\" -s \"$PERF_EXEC_PATH\"/scripts/python/count.py -- a b\n")
    how = {"env": {**ENVIRONMENT, "PERF_EXEC_PATH": folder}}
    require(run("script", "-l", **how).stdout == f"List of available trace scripts:\n  {'counted [word]':<36} counts samples\n", "script -l")
    os.mkdir("core/scripts/python/bin/folder-report")
    os.symlink("/nowhere", "core/scripts/python/bin/nowhere-report")
    require(run("script", "-l", **how).stdout.count("\n") == 2, "script -l beside what is no file")
    shutil.copy(os.path.join(data, "hot.data"), "perf.data")
    require(run("script", "report", "counted", **how).stdout == "['a', 'b'] True\n", "script report")
    require(run("script", "rep", "counted", "--comm", "none", **how).stdout == "['a', 'b'] False\n", "script report with options")
    done = run("script", "report", "none", **how)
    require(done.returncode == 2 and "'none'" in done.stderr, "no such script", done)
    require(run("script", "report", **how).returncode == 2, "no name")
    done = run("script", "none", **how)
    require(done.returncode == 3 and "none: cannot open" in done.stderr, "no file", done)
    put("none-such", "not a recording")
    require("none-such" in run("script", "none-such", **how).stderr, "a file is a file")
    if run("record", "-o", "can.data", "true").returncode == 0:
        done = run("script", "record", "counted", "-o", "own.data", "true", **how)
        require(done.returncode == 0 and os.path.exists("own.data"), "script record", done)
        done = run("script", "counted", "python3", "-c", "sum(range(10**7))", **how)
        require(done.returncode == 0 and "['a', 'b'] True\n" in done.stdout, "a script by its name", done)
    os.remove("perf.data")


def check_flags():
    """Names of values come from the formats of events."""
    recording = os.path.join(data, "hot-trace.data")
    put("flags.py", "from Core import *\nfound = set()\ndef sched__sched_switch(*words):\n    found.add(flag_str(words[0], 'prev_state', words[-4]))\n"
                    "def trace_end():\n    print(sorted(found), flag_str('none', 'none', 1) == symbol_str('none', 'none', 1) == '')\n")
    done = run("script", "-i", recording, "-s", "flags.py")
    require(done.stdout == "['', 'S'] True\n", "flags", done)


def has_python(perf):
    told = subprocess.run([perf, "version", "--build-options"], capture_output=True, text=True, check=False).stdout if perf else ""
    return "perf version 6.1" in told and re.search(r"libpython: \[ on", told)


def both(perf, path, *words):
    """What perf prints and what is printed here, without the advice that Util of perf has first."""
    theirs = subprocess.run([perf, "script", "-i", path, *words], env=ENVIRONMENT, capture_output=True, text=True, errors="replace", stdin=subprocess.DEVNULL,
                            check=False).stdout.splitlines()
    done = run("script", "-i", path, *words)
    return theirs[next((i for i, line in enumerate(theirs) if line.startswith("begin")), 0):], done.stdout.splitlines(), done.stderr


def compare_tables(perf, corpus):
    """Tables, and the database that a script of perf makes of them."""
    put("tables.py", TABLES)
    os.mkdir("PySide2")
    put("PySide2/__init__.py", "")
    put("PySide2/QtSql.py", SQL)
    exporter = os.path.join("/usr/lib/perf-core/scripts/python/export-to-sqlite.py")
    for name in TABLE_FILES:
        path = os.path.join(corpus, "recorded", name + ".data")
        theirs, ours, said = both(perf, path, "-s", "tables.py")
        require(len(theirs) > 40 and theirs == ours, "tables of " + name, len(theirs), len(ours), next((pair for pair in zip(theirs, ours) if pair[0] != pair[1]), said))
        if not os.path.exists(exporter):
            continue
        dumps = []
        for program_name, database in ((perf, "theirs.db"), (program, "ours.db")):
            subprocess.run([program_name, "script", "-i", path, "-s", exporter, database, "all", "calls", "callchains"], check=False, capture_output=True,
                           env={**ENVIRONMENT, "PYTHONPATH": folder + ":" + os.path.abspath(".")}, stdin=subprocess.DEVNULL)
            with contextlib.closing(sqlite3.connect(database)) as made:
                dumps.append(list(made.iterdump()))
            os.remove(database)
        require(len(dumps[0]) > 80 and dumps[0] == dumps[1], "database of " + name, *map(len, dumps), next((pair for pair in zip(*dumps) if pair[0] != pair[1]), ""))


def compare(perf, corpus):
    put("whole.py", WHOLE)
    for name in FILES:
        path = os.path.join(corpus, "recorded", name + ".data")
        theirs, ours, said = both(perf, path, "-s", "whole.py", "x")
        require(len(theirs) > 2, name, "perf prints nothing")
        different = [pair for pair in zip(theirs, ours) if pair[0] != pair[1]]
        require(len(theirs) == len(ours) and not different, name, len(theirs), len(ours), len(different), *(line[:1500] for line in (different or [()])[0]), said[-300:])
    compare_tables(perf, corpus)


def main():
    perf, corpus = shutil.which("perf"), os.path.abspath(sys.argv[5]) if len(sys.argv) > 5 else None
    if corpus and not has_python(perf):
        print("no perf 6.1 with Python here")
        return 77
    with tempfile.TemporaryDirectory(prefix="perfdata-scripts-") as scratch:
        os.chdir(scratch)
        if corpus:
            compare(perf, corpus)
        else:
            check_generated()
            check_words()
            check_folder()
            check_ends()
            check_modules()
            check_samples()
            check_tables()
            check_flags()
            check_installed()
        os.chdir("/")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
