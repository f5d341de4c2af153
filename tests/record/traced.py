#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""perfdata trace while commands and processes run: what they print, what is printed of them, and how it ends.

usage: traced.py PERFDATA

Exit status: 0 all fine; 1 not; 77 system calls cannot be traced here.
"""

import json
import os
import re
import signal
import struct
import subprocess
import sys
import tempfile
import time

SKIPPED = 77
WRITES = 3000
# Writes of growing sizes, one after another, on two threads: the tracer has to keep the order of each
WRITER = ("import os, threading\n"
          "null = os.open('/dev/null', os.O_WRONLY)\n"
          "def work():\n"
          f"    for size in range(1, {WRITES} + 1): os.write(null, b'x' * size)\n"
          "other = threading.Thread(target=work)\n"
          "other.start(); work(); other.join()\n")
WAITER = "import os, time\nwhile True: os.getppid(); time.sleep(0.01)\n"


class Traced:
    def __init__(self, perfdata, folder):
        self.perfdata, self.folder, self.failures = perfdata, folder, 0

    def expect(self, holds, what):
        if not holds:
            self.failures += 1
            print("not ok:", what, flush=True)

    def trace(self, *words, **more):
        return subprocess.run([self.perfdata, "trace", *words], cwd=self.folder, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              timeout=120, **more)

    def test_command(self):
        done = self.trace("-e", "write", "--", "sh", "-c", "echo out; echo err >&2; exit 3")
        self.expect(done.returncode == 0 and done.stdout == "out\n", f"what a command prints: {done}")
        self.expect("err\n" in done.stderr and len(re.findall(r"write\(fd: [12], .*count: 4\) += 4\n", done.stderr)) == 2,
                    f"its calls: {done.stderr}")
        missing = self.trace("--", "no-such-command")
        self.expect(missing.returncode == 127 and missing.stderr == "perfdata: no-such-command: No such file or directory\n", str(missing))
        empty = self.trace("--", "")
        self.expect(empty.returncode == 127 and empty.stderr == "perfdata: : No such file or directory\n", str(empty))

    def test_order(self):
        done = self.trace("-e", "write", "--", sys.executable, "-c", WRITER)
        times = [float(line.split()[0]) for line in done.stderr.splitlines() if "write(" in line and "continued" not in line]
        by_thread = {}
        for tid, size in re.findall(r"python3?[^/]*/(\d+) .*write\(.*\) += (\d+)$", done.stderr, re.M):
            by_thread.setdefault(tid, []).append(int(size))
        self.expect("lost" not in done.stderr.lower(), "nothing is lost")
        self.expect(sorted(map(len, by_thread.values())) == [WRITES] * 2, f"all writes: {[len(sizes) for sizes in by_thread.values()]}")
        self.expect(all(sizes == sorted(sizes) for sizes in by_thread.values()) and len(times) > WRITES, "in their order")

    def test_losses(self):
        """Where the ring is too small it is said how much was lost, where and at the end."""
        child = subprocess.Popen([sys.executable, "-c", "import os\nos.read(0, 1)\nfor _ in range(3000000): os.getppid()"], stdin=subprocess.PIPE)
        tracer = subprocess.Popen([self.perfdata, "trace", "-m", "1", "-e", "getppid", "-p", str(child.pid), "-o", "lost.txt"], cwd=self.folder,
                                  stderr=subprocess.PIPE, text=True)
        time.sleep(0.5)
        child.communicate(b"x")
        _, text = tracer.communicate(timeout=120)
        with open(os.path.join(self.folder, "lost.txt"), encoding="utf-8") as file:
            places = [int(number) for number in re.findall(r"LOST (\d+) events!\n", file.read())]
        told = re.search(r"(\d+) events lost", text)
        self.expect(told and places and sum(places) <= int(told[1]), f"losses: {text} {len(places)}")

    def test_output(self):
        path = os.path.join(self.folder, "out.txt")
        for word in ("one", "two"):
            done = self.trace("-S", "-o", "out.txt", "-e", "write", "--", "echo", word)
            self.expect(done.stderr == "" and done.stdout == f"{word}\n", str(done))
        with open(path, encoding="utf-8") as file, open(f"{path}.old", encoding="utf-8") as before:
            lines, old = file.read(), before.read()
        self.expect("write(fd: 1" in lines and " Summary of events:\n\n echo (" in lines and "write(fd: 1" in old, f"{lines} {old}")
        value = json.loads(self.trace("-j", "-S", "-e", "write,sched:sched_process_exit", "--", "true").stderr)
        self.expect([call.get("event") for call in value["calls"]] == ["sched:sched_process_exit"], str(value))
        self.expect(value["calls"][0]["fields"]["comm"] == "true", str(value))

    def test_recording(self):
        """Of a recording: lists add up, and what cannot be chosen of it is refused; it is not written over."""
        made = subprocess.run([self.perfdata, "trace", "record", "-o", "calls.data", "--", "ls"], cwd=self.folder, stdin=subprocess.DEVNULL,
                              capture_output=True, check=False)
        self.expect(made.returncode == 0, str(made))
        both = self.trace("-e", "read,close", "-i", "calls.data")
        self.expect("read(" in both.stdout and "close(" in both.stdout, str(both))
        self.expect(self.trace("-e", "read", "-e", "close", "-i", "calls.data").stdout == both.stdout, "two lists")
        others = self.trace("-e", "!read", "--expr", "!close", "-i", "calls.data").stdout
        self.expect("mmap(" in others and "read(" not in others and "close(" not in others, others)
        for words in (("-u", "0"), ("-C", "0"), ("-G", "a"), ("--filter", "id == 1"), ("-e", "sched:sched_switch"), ("-e", "read", "-e", "!close")):
            done = self.trace(*words, "-i", "calls.data")
            self.expect(done.returncode == 2 and not done.stdout and done.stderr.startswith("perfdata: option --"), f"{words}: {done}")
        for words in (("-i", "calls.data"), ("calls.data",)):
            done = self.trace("-o", "calls.data", *words)
            self.expect(done.returncode == 4 and "this is the input" in done.stderr, str(done))
        self.expect(self.trace("-e", "read,close", "-i", "calls.data").stdout == both.stdout, "the recording is still there")

    def test_damaged(self):
        """What was read of a damaged recording is written to a file, too."""
        subprocess.run([self.perfdata, "trace", "record", "-o", "whole.data", "--", "ls"], cwd=self.folder, stdin=subprocess.DEVNULL,
                       capture_output=True, check=True)
        with open(os.path.join(self.folder, "whole.data"), "rb") as file:
            data = bytearray(file.read())
        at, size = struct.unpack_from("<QQ", data, 40)
        end = at + size // 2
        while at < end:
            at += struct.unpack_from("<H", data, at + 6)[0]
        data[at + 6:at + 8] = bytes(2)
        with open(os.path.join(self.folder, "damaged.data"), "wb") as file:
            file.write(data)
        shown, written = self.trace("-s", "-i", "damaged.data"), self.trace("-s", "-o", "damaged.txt", "-i", "damaged.data")
        self.expect(shown.returncode == written.returncode == 1 and shown.stdout, f"{shown} {written}")
        with open(os.path.join(self.folder, "damaged.txt"), encoding="utf-8") as file:
            self.expect(file.read() == shown.stdout, "the same text")

    def test_wrong(self):
        """What is wrong is told before a file is replaced."""
        path = os.path.join(self.folder, "kept.txt")
        with open(path, "w", encoding="utf-8") as file:
            file.write("kept")
        subprocess.run([self.perfdata, "trace", "record", "-o", "few.data", "--", "true"], cwd=self.folder, stdin=subprocess.DEVNULL,
                       capture_output=True, check=True)
        for words in (("-e", "nosuchcall", "-i", "few.data"), ("-e", "nosuchcall", "--", "true"), ("-F", "many", "--", "true"),
                      ("--call-graph", "dwarf", "--", "true"), ("--switch-on", "sched:nothing", "--", "true"), ("-e", "!close,nosuch", "few.data"),
                      ("-e", "sched:sched_switch", "--filter", "nofield == 1", "--", "true")):
            done = self.trace("-o", "kept.txt", *words)
            with open(path, encoding="utf-8") as file:
                kept = file.read()
            self.expect(done.returncode and done.stderr.startswith("perfdata: ") and kept == "kept", f"{words}: {done} {kept}")
        self.expect(not os.path.exists(f"{path}.old"), "nothing was replaced")
        done = self.trace("-o", "none/there.txt", "--", "true")
        self.expect(done.returncode == 4 and done.stderr == "perfdata: none/there.txt: No such file or directory\n", str(done))

    def test_faults(self):
        done = self.trace("-F", "all", "--", "true")
        lines = done.stderr.splitlines()
        self.expect(any(re.search(r"\( 0\.000 ms\): true/\d+ minfault \[[^]]+\+0x[0-9a-f]+\] => /.*@0x[0-9a-f]+ \(d\.\)$", line)
                        for line in lines) and not any("(fd: " in line for line in lines), done.stderr)
        both = self.trace("-F", "min", "--syscalls", "--", "true").stderr
        self.expect("minfault" in both and "exit_group(" in both, both)
        value = json.loads(self.trace("-j", "-S", "-F", "min", "--", "true").stderr)
        self.expect(value["threads"][0]["minor_faults"] == len(value["calls"]) and value["calls"][0]["fault"] == "minor", str(value)[:300])
        self.expect(re.search(r", \d+ minfaults$", self.trace("-s", "-F", "min", "--", "true").stderr, re.M), "a table")

    def test_chains(self):
        done = self.trace("--call-graph", "fp", "-e", "close", "--", "true").stderr
        self.expect(re.search(r"close\(.*= 0\n {39}[^ ]+ \(/[^)]+\)\n", done) and "kernel" not in done, done)
        kernel = self.trace("--call-graph", "fp", "--kernel-syscall-graph", "-e", "close", "--", "true").stderr
        self.expect(re.search(r"= 0\n {39}[^ ]+ \(\[kernel.kallsyms\]\)\n", kernel), kernel)
        short = self.trace("--call-graph", "fp", "--max-stack", "1", "-e", "close", "--", "true").stderr
        self.expect(re.search(r"= 0\n {39}.*\n {0,20}[\d.]+ ", short), short)
        self.expect("close(" not in self.trace("--call-graph", "fp", "--min-stack", "90", "-e", "close", "--", "true").stderr, "no long chains")
        # what was mapped before lines that are not printed
        failed = self.trace("--call-graph", "fp", "--failure", "--", "sh", "-c", "true; exec cat none").stderr
        self.expect(re.search(r"openat\(.*ENOENT.*\n {39}[^ ]+ \(/[^)]*libc[^)]*\)\n", failed), failed)

    def test_switches(self):
        words = ("-e", "sched:sched_process_exit,exit_group,close")
        whole, after = self.trace(*words, "--", "true").stderr, self.trace("--switch-on", "sched:sched_process_exit", *words, "--", "true").stderr
        shown = self.trace("--switch-on", "sched:sched_process_exit", "--show-on-off-events", *words, "--", "true").stderr
        until = self.trace("--switch-off", "sched:sched_process_exit", *words, "--", "true").stderr
        self.expect("close(" in whole and not after and "close(" not in shown and "sched_process_exit(" in shown, f"{whole} {after} {shown}")
        self.expect("close(" in until and "sched_process_exit(" not in until, until)

    def test_switches_of_recording(self):
        """Events that are no lines switch, too, and in their order where only tables are printed; they are not counted."""
        events = "raw_syscalls:sys_enter,raw_syscalls:sys_exit,sched:sched_process_fork,sched:sched_process_exit"
        made = subprocess.run([self.perfdata, "record", "-o", "switches.data", "-e", events, "--", "sh", "-c", "/bin/true; /bin/true"],
                              cwd=self.folder, capture_output=True, text=True, check=False)
        self.expect(made.returncode == 0, str(made))
        on, off = ("--switch-on", "sched:sched_process_fork"), ("--switch-off", "sched:sched_process_exit")
        lines = [self.trace(*words, "-i", "switches.data").stdout.count("\n") for words in ((), on, on + off)]
        self.expect(lines[0] > lines[1] > lines[2] > 0, str(lines))
        tables = [json.loads(self.trace("-sj", *words, "-i", "switches.data").stdout) for words in ((), on, on + off)]
        counts = [sum(thread["events"] for thread in table["threads"]) for table in tables]
        self.expect(counts[0] > counts[1] > counts[2] > 0, str(counts))
        for words in (("-o", "switches.data"), ("-o", "-")):
            with open(os.path.join(self.folder, "piped.data"), "wb") as file:
                made = subprocess.run([self.perfdata, "record", *words, "-e", events, "--", "true"], cwd=self.folder, stdout=file,
                                      stderr=subprocess.DEVNULL, check=False)
            name = "piped.data" if words[1] == "-" else words[1]
            listed = subprocess.run([self.perfdata, "script", "-i", name], cwd=self.folder, capture_output=True, text=True, check=False).stdout
            told = json.loads(self.trace("-sj", "-i", name).stdout)["events"]
            self.expect(told == len(re.findall(r" raw_syscalls:sys_", listed)) > 0, f"{name}: {told}")

    def test_runtime(self):
        table = self.trace("-s", "--sched", "--", sys.executable, "-c", "sum(range(3000000))").stderr
        told = re.search(r" events, [\d.]+%, ([\d.]+) msec$", table, re.M)
        self.expect(told and float(told[1]) > 0, table)

    def test_unread(self):
        """Who does not read what is printed does not keep the tracer from ending."""
        reader, writer = os.pipe()
        tracer = subprocess.Popen([self.perfdata, "trace", "-e", "getppid", "--", sys.executable, "-c", "import os\nwhile True: os.getppid()"],
                                  stderr=writer)
        os.close(writer)
        time.sleep(1)
        tracer.send_signal(signal.SIGTERM)
        self.expect(tracer.wait(timeout=60) == 4, f"exit code {tracer.returncode}")
        os.close(reader)

    def test_most(self):
        begin = time.monotonic()
        done = self.trace("--max-events", "3", "--", sys.executable, "-c", WAITER)
        self.expect(done.returncode == 0 and done.stderr.count("\n") == 3 and time.monotonic() - begin < 60, str(done))

    def test_process(self):
        child = subprocess.Popen([sys.executable, "-c", WAITER])
        time.sleep(0.3)
        for words, line in ((("-p", str(child.pid)), r" ms\): getppid\(\)"),
                            (("-p", str(child.pid), "--follow"), rf" ms\): python3?[^/]*/{child.pid} getppid\(\)")):
            tracer = subprocess.Popen([self.perfdata, "trace", "-S", "-e", "getppid", *words], stderr=subprocess.PIPE, text=True)
            seen = [tracer.stderr.readline() for _ in range(5)]  # before it ends
            tracer.send_signal(signal.SIGINT)
            rest = tracer.communicate(timeout=30)[1]
            self.expect(all(re.search(line, text) for text in seen[1:]), f"{words}: {seen}")
            self.expect(tracer.returncode == 0 and f"({child.pid})," in rest, f"{words}: the table at the end: {rest[-300:]}")
        child.kill()
        child.wait()

    def test_all(self):
        done = self.trace("-as", "--summary-mode=total", "--", sys.executable, "-c", WRITER)
        rows = [line.split()[:2] for line in done.stderr.splitlines()]
        self.expect(any(row[0] == "write" and int(row[1]) >= 2 * WRITES for row in rows if len(row) == 2), done.stderr[-500:])

    def test_rights(self):
        if os.geteuid():
            return
        done = self.trace("-e", "close", "true", user=65534, group=65534, extra_groups=[])
        self.expect(done.returncode in (2, 3) and "no permission" in done.stderr and "run mount -o remount" in done.stderr, str(done))


def main():
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        os.chmod(folder, 0o777)
        traced = Traced(os.path.abspath(sys.argv[1]), folder)
        if "exit_group" not in traced.trace("--", "true").stderr:
            print("system calls cannot be traced here:", traced.trace("--", "true").stderr)
            return SKIPPED
        for name in [name for name in dir(traced) if name.startswith("test_")]:
            getattr(traced, name)()
    print(f"{traced.failures} failed")
    return 1 if traced.failures else 0


if __name__ == "__main__":
    sys.exit(main())
