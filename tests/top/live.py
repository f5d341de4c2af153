#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Live recordings: pipelines, perfdata top in a pipe and on a terminal, where threads wait.

usage: live.py PERFDATA DATA KNOWN WAITS [pipes|top|terminal|offcpu]...

DATA is tests/data; KNOWN and WAITS are known.c and waits.c, built. Without a part: all. Exit status: 0 all fine; 1 not; 77
nothing can be recorded here, and what needs no recording was fine.
"""

import fcntl
import json
import os
import pty
import re
import select
import shlex
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "export"))
import page_format  # noqa: E402

SKIPPED = 77
SHARES = {"burn_sixty": 60, "burn_thirty": 30, "burn_ten": 10}
LEAVES = b"\x1b[?25h\x1b[?1049l"
MOST = 60  # seconds, of anything


class Test:
    def __init__(self, perfdata, data, known, waits, folder):
        self.perfdata, self.data, self.known, self.waits, self.folder = perfdata, data, known, waits, folder
        self.failures, self.looked = [], 0

    def expect(self, holds, what):
        self.looked += 1
        if not holds:
            self.failures.append(what)
            print("not ok:", what)
            sys.stdout.flush()

    def run(self, *words, **more):
        return subprocess.run([self.perfdata, *words], capture_output=True, text=True, timeout=MOST, cwd=self.folder,
                              stdin=subprocess.DEVNULL, **more)

    def pipe(self, record, reader, stop=None, file=None):
        """Runs perfdata record | perfdata READER in a process group; stop: seconds after which ^C is pressed."""
        line = '"$0" record -o - ' + record + ' 2>said.record | "$0" ' + reader
        process = subprocess.Popen(["sh", "-c", line, self.perfdata], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   text=True, cwd=self.folder, start_new_session=True)
        if stop:
            time.sleep(stop)
            os.killpg(process.pid, signal.SIGINT)
        try:
            out, said = process.communicate(timeout=MOST)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            out, said = process.communicate()
            self.expect(False, reader + ": does not end")
        return out, said

    def shares(self, rows, what, tolerance=4):
        # asking the clock is work of the kernel
        whole = sum(rows.get(name, 0) for name in SHARES) or 1
        self.expect(whole > 50, f"{what}: all three have {whole:.2f}%")
        for name, share in SHARES.items():
            got = 100 * rows.get(name, 0) / whole
            self.expect(abs(got - share) <= tolerance, f"{what}: {name} has {got:.2f}%, not {share}%")


def rows_of(table):
    return {row.get("symbol"): row["amounts"][0]["overhead"] for row in table["rows"]}


# ---- pipes ----

def test_pipes(test):
    known = shlex.quote(test.known)
    record = f"-g -- {known} 1"
    out, _ = test.pipe(f"-- {known} 1.5", "report -i - --json")
    test.shares(rows_of(json.loads(out)["tables"][0]), "record | report")
    out, _ = test.pipe(record, "folded -i -")
    counts = {name: 0 for name in SHARES}
    for line in out.splitlines():
        for name in SHARES:
            if name in line:
                counts[name] += int(line.rsplit(" ", 1)[1])
    test.expect(counts["burn_sixty"] > counts["burn_thirty"] > counts["burn_ten"] > 0, f"record | folded: {counts}")
    test.pipe(record, "flame -o flame.html -i -")
    with open(os.path.join(test.folder, "flame.html")) as page:
        pages = page_format.containers_of(page.read())
    test.expect("burn_sixty" in pages[0].of("strings"), "record | flame: the page does not know burn_sixty")
    test_script(test)
    for reader in ["report -i -", "script -i -", "folded -i -", "top --input - --batch -d 0.3"]:
        out, said = test.pipe(f"-- {known} 30", reader, stop=1.5)
        test.expect("burn_sixty" in out, f"record | {reader}, ended by ^C: says nothing of burn_sixty: {said}")


def test_script(test):
    """Lines come while it is recorded."""
    record = subprocess.Popen([test.perfdata, "record", "-q", "-o", "-", "--", test.known, "2"], stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, cwd=test.folder)
    script = subprocess.Popen([test.perfdata, "script", "-i", "-", "-F", "comm,time,sym,ip"], stdin=record.stdout,
                              stdout=subprocess.PIPE, text=True)
    record.stdout.close()
    first = script.stdout.readline()
    test.expect(first.strip() and record.poll() is None, "record | script: the first line comes when all is over")
    rest = script.stdout.read()
    test.expect(script.wait(MOST) == 0 and record.wait(MOST) == 0, "record | script: exit status")
    test.expect(rest.count("\n") > 500, "record | script: too few lines")


# ---- top, without a terminal ----

def test_input(test):
    """A recording that has ended: the table is that of report."""
    for name in ["hot-pipe.data", "hot.data"]:
        path = os.path.join(test.data, name)
        top = test.run("top", "--input", path, "--json", "-s", "comm,dso,sym", "--no-symbols", "--no-children")
        report = test.run("report", "-i", path, "--json", "-s", "comm,dso,sym", "--no-symbols", "--no-children", "-g", "none")
        rows = [json.loads(out)["tables"][0]["rows"] for out in (top.stdout.splitlines()[-1], report.stdout)]
        sums = [{}, {}]
        for i in range(2):
            for row in rows[i]:
                key = (row["comm"], row["dso"], row["symbol"])
                sums[i][key] = sums[i].get(key, 0) + row["amounts"][0]["period"]
        test.expect(sums[0] == sums[1] and sums[0], f"top --input {name}: not what report says: {sums}")
    wrong = test.run("top", "-s", "srcline")
    test.expect(wrong.returncode == 2 and "srcline" in wrong.stderr, "top -s srcline: is not refused")
    wrong = test.run("top", "-d", "0")
    test.expect(wrong.returncode == 2, "top -d 0: is not refused")
    wrong = test.run("top", "--input", path, "-a")
    test.expect(wrong.returncode == 2, "top --input and -a: is not refused")


def test_top(test):
    with subprocess.Popen([test.known, "30"]) as known:
        try:
            out = test.run("top", "-p", str(known.pid), "--json", "--iterations", "3", "-d", "1").stdout.splitlines()
            test.expect(len(out) == 3, f"top --iterations 3: {len(out)} tables")
            last = json.loads(out[-1])
            test.shares(rows_of(last["tables"][0]), "top -p")
            test.expect(last["samples"] > 0 and last["all_lost"] == 0, "top: samples and losses")
            text = test.run("top", "-p", str(known.pid), "--batch", "--iterations", "1", "-d", "0.5", "-E", "2", "-n",
                            "-s", "comm,sym").stdout
            test.expect(re.search(r"^ +[\d.]+% +\d+ +known +\[\.\] burn_sixty", text, re.M), "top -n -s comm,sym: " + text)
            test.expect(text.count("burn_") == 2, "top -E 2: " + text)
            graph = test.run("top", "-p", str(known.pid), "-g", "--batch", "--iterations", "1", "-d", "0.5").stdout
            test.expect("Children" in graph and re.search(r"---.*\n? *main|--main|burn_sixty", graph), "top -g: " + graph)
            user = test.run("top", "-p", str(known.pid), "-K", "--json", "--iterations", "1", "-d", "0.5").stdout
            test.expect("[kernel" not in user and "burn_sixty" in user, "top -K: has the kernel")
            zero = test.run("top", "-p", str(known.pid), "-z", "--json", "--iterations", "2", "-d", "0.5").stdout
            tables = [json.loads(line)["tables"] for line in zero.splitlines()]
            test.expect(tables[1] and tables[1][0]["events"][0]["samples"] < 4000, "top -z: keeps what was before")
        finally:
            known.kill()
    ended = test.run("top", "-p", str(os.getpid()), "--batch", "--iterations", "1", "-d", "0.2")
    test.expect(ended.returncode == 0 and "perfdata top:" in ended.stdout, "top of a process that sleeps")
    everything = test.run("top", "--json", "--iterations", "1", "-d", "0.5", "-s", "comm")
    test.expect(everything.returncode == 0 and json.loads(everything.stdout)["cpus"] == os.cpu_count(), "top of all")


# ---- top on a terminal ----

class Terminal:
    """A program on a terminal of its own; feed it keys."""

    def __init__(self, words, size=(24, 80)):
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.execvp(words[0], words)
        self.resize(size)
        self.before = termios.tcgetattr(self.fd)
        self.out, self.status = b"", None

    def resize(self, size):
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", *size, 0, 0))

    def read(self, until, seconds=MOST / 2):
        """Reads until a text is there; what came since the last call, or None."""
        end, at = time.time() + seconds, len(self.out)
        while time.time() < end:
            if select.select([self.fd], [], [], 0.1)[0]:
                try:
                    data = os.read(self.fd, 65536)
                except OSError:
                    break
                if not data:
                    break
                self.out += data
            if until and until in self.out[at:]:
                return self.out[at:]
        return None

    def press(self, keys, until):
        os.write(self.fd, keys)
        return self.read(until)

    def end(self):
        """Reads up to the end; exit status as wait has it, or None."""
        deadline = time.time() + MOST / 2
        while time.time() < deadline:
            self.read(None, 0.2)
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self.read(None, 0.2)
                os.close(self.fd)
                return status
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        return None


def test_terminal(test):
    words = [test.perfdata, "top", "-d", "0.3", "-E", "5"]
    with subprocess.Popen([test.known, "60"]) as known:
        try:
            terminal = Terminal(words + ["-p", str(known.pid)])
            test.expect(terminal.read(b"burn_sixty"), "terminal: no table")
            test.expect(terminal.press(b"n", b"Samples"), "key n: no column")
            test.expect(terminal.press(b"f", b"only rows with this text"), "key f: does not ask")
            shown = terminal.press(b"thirty\n", b"only rows with 'thirty'")
            test.expect(shown, "key f: no filter")
            shown = terminal.read(b"\x1b[J")
            shown = terminal.read(b"\x1b[J")
            test.expect(shown and b"burn_thirty" in shown and b"burn_sixty" not in shown, f"key f: {shown}")
            terminal.press(b"f\n", b"burn_sixty")
            test.expect(terminal.press(b"S", b"sorted by comm,dso,sym"), "key S: other keys")
            test.expect(terminal.press(b"s", b"sort keys") and terminal.press(b"nonsense\n", b"unknown sort key 'nonsense'"),
                        "key s: takes nonsense")
            test.expect(terminal.press(b"scomm,cpu\n", b"CPU"), "key s: a key that samples were not told apart by")
            test.expect(terminal.press(b"p", b"paused"), "key p: is not paused")
            terminal.press(b"p", b"\x1b[J")
            test.expect(terminal.press(b"h", b"Any key goes back"), "key h: no help")
            terminal.press(b"x", b"perfdata top:")
            test.expect(terminal.press(b"d0.2\n", b"\x1b[J"), "key d: nothing is drawn")
            test.expect(terminal.press(b"z", b"\x1b[J"), "key z: nothing is drawn")
            test.expect(terminal.press(b"e", b"\x1b[J"), "key e: nothing is drawn")
            terminal.resize((10, 40))
            os.kill(terminal.pid, signal.SIGWINCH)
            terminal.read(b"\x1b[J")
            lines = (terminal.read(b"\x1b[J") or b"").split(b"\r\n")
            widths = [len(re.sub(rb"\x1b\[[?\d]*[A-Za-z]|\r", b"", line)) for line in lines]
            test.expect(max(widths) <= 40 and len(lines) <= 10, f"a smaller terminal: {lines}")
            os.write(terminal.fd, b"q")
            status = terminal.end()
            test.expect(status == 0 and LEAVES in terminal.out, f"key q: {status}")
        finally:
            known.kill()
    ends = [(signal.SIGINT, 0), (signal.SIGTERM, 0), (signal.SIGHUP, 0), (signal.SIGSEGV, signal.SIGSEGV),
            (signal.SIGABRT, signal.SIGABRT), (signal.SIGQUIT, signal.SIGQUIT)]
    for number, wanted in ends:
        terminal = Terminal(words)
        terminal.read(b"\x1b[J")
        during = termios.tcgetattr(terminal.fd)[3]
        os.kill(terminal.pid, number)
        deadline = time.time() + 10
        while time.time() < deadline and LEAVES not in terminal.out:
            terminal.read(LEAVES, 0.5)
        after = termios.tcgetattr(terminal.fd)[3]
        status = terminal.end()
        test.expect(status is not None and status & 127 == wanted & 127 and LEAVES in terminal.out,
                    f"signal {number}: status {status}")
        test.expect(not during & termios.ECHO and after == terminal.before[3], f"signal {number}: the terminal is not as it was")


# ---- where threads wait ----

def test_offcpu(test):
    data = os.path.join(test.folder, "offcpu.data")
    for options in [[], ["-g"], ["-a", "-g"]]:
        # what others burn meanwhile counts in what the program says, and not in what it waited for
        for attempt in range(5):
            wrong = offcpu_differences(test, data, options)
            if not wrong:
                break
        test.expect(not wrong, f"record --off-cpu {options}: {wrong}")
        check = test.run("check", data)
        test.expect(check.returncode == 0, f"record --off-cpu {options}: {check.stdout}")
        chains = test.run("script", "-i", data, "--event", "offcpu-time", "--comms", "waits", "-F", "ip,sym").stdout
        test.expect(("schedule" in chains) == bool(options), f"record --off-cpu {options}: the kernel's part of stacks")
    for options in (["-p", str(os.getpid()), "--duration", "500ms"], ["--overwrite", "--", "true"], ["--per-thread", "--", "true"],
                    ["-e", "page-faults,cpu-clock", "--", "true"], ["-D", "100", "--", "sh", "-c", "sleep 0.2; sleep 0.2; true"]):
        out = test.run("record", "-q", "--off-cpu", "-o", data, *options)
        test.expect(out.returncode == 0 and test.run("check", data).returncode in (0, 6), f"record --off-cpu {options}: {out.stderr}")
    sleeps = test.run("script", "-i", data, "--event", "offcpu-time", "-F", "comm,period").stdout
    test.expect("sleep" in sleeps, "record --off-cpu -D: nobody sleeps")


def offcpu_differences(test, data, options):
    """What differs by more than 5 % from what the program says, as text."""
    out = test.run("record", "-q", "--off-cpu", *options, "-o", data, "--", test.waits)
    told = {name: int(ns) for name, ns in re.findall(r"^(wait\w+) (\d+)$", out.stdout, re.M)}
    wrong = [] if len(told) == 3 else [out.stderr]
    for tool in [test.perfdata, "perf"] if shutil.which("perf") else [test.perfdata]:
        sums = offcpu_sums(tool, data, test)
        for name, ns in told.items():
            got = sums.get(name, 0)
            if abs(got - ns) > 0.05 * ns:
                wrong.append(f"{tool}: {name} waited {got} ns, not {ns}")
    return "; ".join(wrong)


def offcpu_sums(tool, data, test):
    """Time by function that waited, by summing the periods of the samples whose chain has it."""
    words = [tool, "script", "-i", data, "-F", "comm,period,event,ip,sym"]
    out = subprocess.run(words, capture_output=True, text=True, timeout=MOST, cwd=test.folder, stdin=subprocess.DEVNULL).stdout
    sums = {}
    for block in out.split("\n\n"):
        head = re.search(r"^\s*waits +(\d+) +offcpu-time:", block, re.M)
        for name in set(re.findall(r"\b(wait_\w+)", block)) if head else []:
            sums[name] = sums.get(name, 0) + int(head[1])
    return sums


def main():
    perfdata, data, known, waits = (os.path.abspath(path) for path in sys.argv[1:5])
    parts = sys.argv[5:] or ["pipes", "top", "terminal", "offcpu"]
    tests = {"pipes": test_pipes, "top": test_top, "terminal": test_terminal, "offcpu": test_offcpu}
    with tempfile.TemporaryDirectory(prefix="perfdata-live-") as folder:
        test = Test(perfdata, data, known, waits, folder)
        if "top" in parts:
            test_input(test)
        can = test.run("record", "-q", "-a", "-o", os.path.join(folder, "try.data"), "--", "true")
        for part in parts if can.returncode == 0 else []:
            tests[part](test)
    print(f"{test.looked - len(test.failures)} of {test.looked} hold")
    if test.failures:
        return 1
    if can.returncode != 0:
        print("skipped: nothing can be recorded here:", can.stderr.strip())
        return SKIPPED
    return 0


if __name__ == "__main__":
    sys.exit(main())
