#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares perfdata trace of a command, or of a process, with perf trace of the same one, run one after the other.

usage: traced.py PERFDATA

Both must print the same lines and tables, but for numbers that differ from one run to the next: times, numbers of threads, addresses;
and for what docs/differences.md says of them. Exit status: 0 all agrees, 1 something does not, 77 no perf 6.1 that can trace.
"""

import os
import re
import signal
import subprocess
import sys
import tempfile
import time

from agreement import SKIPPED, Agreement
from timehist import first_difference, has_perf

# what happens only now and then, or depends on who was there before
WORK = (["cat", "/etc/hostname"], ["ls", "-l", "/usr"], ["cp", "/etc/passwd", "copy"], ["sh", "-c", "kill -USR1 $$"],
        ["sh", "-c", "echo 1; cd /nowhere 2>/dev/null || read line </etc/group; exit 3"])
OPTIONS = ("", "-e close,open*", "-e !mmap,close,futex", "--failure", "--no-comm", "-S -e read", "-e write --max-events 1",
           "-e close,sched:sched_process_exec", "-e sched:sched_process_ex*,signal:*", "-e syscalls:sys_enter_exit_group",
           "-e syscalls:sys_exit_close --no-comm", "-F maj -e close", "--call-graph fp -e close,openat", "--call-graph fp --kernel-syscall-graph -e read",
           "--call-graph fp --max-stack 2 -e mmap", "--call-graph fp --min-stack 3 -e mmap,close", "--call-graph fp -e sched:sched_process_exit",
           "--switch-on syscalls:sys_enter_exit_group -e syscalls:sys_enter_exit_group,exit_group,close", "--syscalls -e sched:sched_process_exit -e read", "--duration 1000")
PATIENCE = 8  # runs of perf until one ends well
TABLES = ("-s", "-s -e read,close", "-s --errno-summary")


def run(words, folder):
    """Exit code, and what is printed of the trace and by the command."""
    for name in os.listdir(folder):
        os.unlink(os.path.join(folder, name))
    done = subprocess.run(words, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, timeout=60, check=False)
    return done.returncode, done.stderr, done.stdout


def without_numbers(text):
    text = re.sub(rb"fd: (\d+)<[^>]*>", rb"fd: \1", text)
    # a name that is not recorded, which perf prints as an empty one
    text = re.sub(rb'filename: (""|0x[0-9a-f]+)', b"filename", text)
    text = re.sub(rb"0x[0-9a-f]+", b"0x", text)
    # what is left in the register of an argument that this request of prctl does not have
    text = re.sub(rb"(arg\d): \d{12,}", rb"\1: LEFT", text)
    text = re.sub(rb"/\d+ ", b"/TID ", text)
    text = re.sub(rb"(?m)^( +[\d.?]+ (\([^)]*\): )?)\d+ ", rb"\1TID ", text)
    text = re.sub(rb"pid: \d+( \([^)]*\))?", b"pid: PID", text)
    text = re.sub(rb"= \d+ \([a-z0-9]+\)", b"= PID", text)
    # perf 6.1 prints the number of a parent only if it has heard of it
    text = re.sub(rb"getppid\(\) += (\d+)?( \([^)]*\))?", b"getppid()", text)
    text = re.sub(rb"(get[a-z]*id\(\)) += \d+", rb"\1 = ID", text)
    # words that perf 6.1 does not have, or has in another place
    text = re.sub(rb".*(SETFD|GETFD).*\n", b"", text)
    text = re.sub(rb"flags: [A-Z_|]*, mask: [A-Z_|]*", b"flags", text)
    text = re.sub(rb"(?m)^ +([\d.]+|\?) ", b"TIME ", text)
    text = re.sub(rb"(?m)( \d+)( +\d+\.\d+){4} .*%$", rb"\1", text)
    text = re.sub(rb"\( *[\d.]+ ms\)", b"(DURATION)", text)
    text = re.sub(rb" \(\d+\), \d+ events, [\d.]+%", b" (TID)", text)
    return re.sub(rb" +", b" ", text)


def table_rows(text):
    """Names, calls and errors of a table, in one order: times are others in each run."""
    rows = [line.split()[:3] for line in text.split(b"\n") if line.endswith(b"%") and b"events" not in line]
    errors = sorted(line.strip() for line in text.split(b"\n") if re.match(rb"\t+E[A-Z]+: \d+$", line))
    return b"\n".join(sorted(b" ".join(row) for row in rows) + errors)


def run_perf(words, folder):
    """perf 6.1 now and then ends by an assertion of its own."""
    for _ in range(PATIENCE):
        done = run(["perf", *words], folder)
        if done[0] >= 0:
            break
    return done


def compare(agreement, ours, options, work, shown, folder):
    words = ["trace", *options.split(), "--", *work]
    theirs, mine = run_perf(words, folder), run([ours, *words], folder)
    same = shown(theirs[1]) == shown(mine[1]) and theirs[0] == mine[0] and theirs[2] == mine[2]
    agreement.same += same
    agreement.other += not same
    if not same:
        print(f"{' '.join(words)}: exit codes {theirs[0]} and {mine[0]}\n  {first_difference(shown(theirs[1]), shown(mine[1]))}")


def trace_process(program, folder):
    """Lines of a process that runs already, until the tracer is interrupted."""
    child = subprocess.Popen([sys.executable, "-c", "import os, time\nwhile True: os.getppid(); time.sleep(0.02)"], cwd=folder)
    time.sleep(0.5)
    tracer = subprocess.Popen([program, "trace", "-e", "getppid", "-p", str(child.pid)], stderr=subprocess.PIPE, stdout=subprocess.PIPE)
    time.sleep(2)
    tracer.send_signal(signal.SIGINT)
    _, text = tracer.communicate(timeout=30)
    child.kill()
    child.wait()
    return tracer.returncode, len(text.split(b"\n")) > 20, set(without_numbers(text).split(b"\n"))


def refuse(agreement, ours, folder):
    """What cannot be traced: both say why. A command that cannot be run is told by the exit status here only."""
    for words, named, codes in ((["--", "no-such-command"], b"no-such-command: No such file or directory\n", (0, 127)),
                                (["-e", "!no-such-call", "true"], b"no-such-call", (None, 2)),
                                (["-e", "no:such_event", "true"], b"no", (None, 2)), (["-p", "4000000"], b"", (None, 3))):
        for program, code in (("perf", codes[0]), (ours, codes[1])):
            status, text, printed = run([program, "trace", *words], folder)
            holds = bool(named in text and not printed and (status == code if code is not None else text))
            agreement.same += holds
            agreement.other += not holds
            if not holds:
                print(f"{program} trace {' '.join(words)}: exit code {status}, {text[-200:]}")


def main():
    ours = os.path.abspath(sys.argv[1])
    os.environ["LC_ALL"] = "C"
    agreement = Agreement()
    with tempfile.TemporaryDirectory() as folder:
        if not has_perf() or b"exit_group" not in run(["perf", "trace", "--", "true"], folder)[1]:
            print("no perf of version 6.1 that can trace")
            return SKIPPED
        for work in WORK:
            for options in OPTIONS:
                compare(agreement, ours, options, work, without_numbers, folder)
            for options in TABLES:
                compare(agreement, ours, options, work, table_rows, folder)
        refuse(agreement, ours, folder)
        theirs, mine = trace_process("perf", folder), trace_process(ours, folder)
        agreement.same += theirs == mine
        agreement.other += theirs != mine
        if theirs != mine:
            print("a process:", theirs, mine)
    return agreement.conclude()


if __name__ == "__main__":
    sys.exit(main())
