#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What report and script do while somebody waits: the line of progress, ^C, and a reader that has seen enough.

usage: patience.py PERFDATA SLOW

SLOW is the library of slow.c, which makes reading slow. The recording is made here. Asked: on a terminal the line comes after
half a second, grows and is gone in the end; elsewhere there is none; what is printed is the same. ^C and a closed pipe end
the program by their signal, in silence, and leave no file behind. Exit status: 0 all is so, 1 not, 77 the library cannot be
loaded into this build.
"""

import os
import pty
import re
import select
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time

SAMPLES = 100000
MOST = 60  # seconds, of anything
SHOWN = re.compile(rb"\rperfdata: +(\d+)% of \d+ MiB\x1b\[K")
CLEARED = b"\r\x1b[K"
COMMANDS = (["report", "-q", "--no-symbols"], ["script", "-q", "--no-symbols"], ["report", "-q", "--no-symbols", "--json"])
SLOW_MS = "45"


def recording():
    """A file with one event, IP|TID|TIME, and nothing else."""
    attr = struct.pack("<IIQQQQQ", 1, 128, 0, 1000, 7, 0, 0).ljust(128, b"\0") + struct.pack("<QQ", 0, 0)
    samples = b"".join(
        struct.pack("<IHHQIIQ", 9, 2, 32, 0x1000 + at % 977, 7, 7 + at % 5, 1000000000 + at * 1000) for at in range(SAMPLES)
    )
    start = 104 + len(attr)
    header = struct.pack("<8sQQQQQQQQ", b"PERFILE2", 104, len(attr), 104, len(attr), start, len(samples), 0, 0)
    return header.ljust(104, b"\0") + attr + samples


class Program:
    """A program whose messages go to a terminal of its own, and whose output goes to a pipe."""

    def __init__(self, words, environment, folder):
        self.out, ours = os.pipe()
        self.began = time.monotonic()
        self.pid, self.terminal = pty.fork()
        if self.pid == 0:
            os.dup2(ours, 1)
            os.chdir(folder)
            signal.signal(signal.SIGINT, signal.SIG_DFL)
            signal.signal(signal.SIGPIPE, signal.SIG_DFL)
            os.execve(words[0], words, environment)
        os.close(ours)
        self.printed, self.said, self.open = b"", b"", {self.out, self.terminal}
        self.first_said = None

    def close(self, fd):
        self.open.discard(fd)
        os.close(fd)

    def read(self, until=lambda program: False):
        """Reads until this holds or all is over."""
        while self.open and not until(self) and time.monotonic() < self.began + MOST:
            for fd in select.select(list(self.open), [], [], 0.05)[0]:
                try:
                    data = os.read(fd, 65536)
                except OSError:
                    data = b""
                if not data:
                    self.close(fd)
                elif fd == self.out:
                    self.printed += data
                else:
                    self.first_said = self.first_said or time.monotonic() - self.began
                    self.said += data

    def end(self):
        """Exit status as wait has it."""
        self.read()
        if self.open:
            os.kill(self.pid, signal.SIGKILL)
        return os.waitpid(self.pid, 0)[1]


class Test:
    def __init__(self, perfdata, slow, folder):
        self.perfdata, self.slow, self.folder = os.path.abspath(perfdata), os.path.abspath(slow), folder
        self.failures = self.looked = 0
        with open(os.path.join(folder, "perf.data"), "wb") as file:
            file.write(recording())

    def expect(self, holds, what):
        self.looked += 1
        if not holds:
            self.failures += 1
            print("not ok:", what, flush=True)

    def environment(self, slow):
        more = {"LD_PRELOAD": self.slow, "SLOW_MS": SLOW_MS} if slow else {}
        return {**os.environ, "HOME": self.folder, "XDG_CACHE_HOME": self.folder, "TMPDIR": self.folder, **more}

    def start(self, words, slow=True):
        return Program([self.perfdata, *words], self.environment(slow), self.folder)

    def plain(self, words, slow=False):
        return subprocess.run([self.perfdata, *words], cwd=self.folder, env=self.environment(slow), capture_output=True,
                              stdin=subprocess.DEVNULL, timeout=MOST, check=False)

    def left(self, what):
        names = sorted(os.listdir(self.folder))
        self.expect(names == ["perf.data"], f"{what}: left behind: {names}")

    def progress(self, words):
        what, wanted = " ".join(words), self.plain(words)
        self.expect(wanted.returncode == 0 and not wanted.stderr and wanted.stdout, f"{what}: {wanted.returncode}")
        slow = self.start(words)
        status = slow.end()
        steps = [int(step) for step in SHOWN.findall(slow.said)]
        self.expect(status == 0 and slow.printed == wanted.stdout, f"{what}: status {status}, prints something else")
        self.expect(len(steps) >= 3 and steps == sorted(steps) and steps[-1] <= 100, f"{what}: steps {steps}")
        self.expect(slow.first_said and slow.first_said >= 0.5, f"{what}: progress after {slow.first_said} s")
        self.expect(slow.said.endswith(CLEARED) and not SHOWN.sub(b"", slow.said).replace(CLEARED, b""),
                    f"{what}: says {slow.said[-100:]}")
        elsewhere = self.plain(words, slow=True)
        self.expect(elsewhere.stdout == wanted.stdout and not elsewhere.stderr, f"{what}: says {elsewhere.stderr[:100]}")
        fast = self.start(words, slow=False)
        status = fast.end()
        if time.monotonic() - fast.began < 0.5:
            self.expect(status == 0 and not fast.said, f"{what}: in less than half a second: {fast.said}")
        self.left(what)

    def interrupt(self, words):
        what = "^C: " + " ".join(words)
        program = self.start(words)
        program.read(lambda self: SHOWN.search(self.said))
        os.write(program.terminal, b"\x03")
        status = program.end()
        self.expect(os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGINT, f"{what}: status {status}")
        rest = SHOWN.sub(b"", program.said).replace(CLEARED, b"").replace(b"^C", b"")
        self.expect(not rest.strip(), f"{what}: says {rest}")
        self.left(what)

    def leave(self, words, least):
        """The reader goes after so many bytes."""
        what = "closed pipe: " + " ".join(words)
        program = self.start(words)
        program.read(lambda self: len(self.printed) >= least)
        program.close(program.out)
        status = program.end()
        self.expect(os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGPIPE, f"{what}: status {status}")
        self.expect(not SHOWN.sub(b"", program.said).replace(CLEARED, b""), f"{what}: says {program.said[-100:]}")
        self.left(what)

    def all(self):
        for words in COMMANDS:
            self.progress(words)
            self.interrupt(words)
            self.leave(words, 0)
        self.leave(["script", "-q", "--no-symbols"], 1)


def main():
    perfdata, slow = sys.argv[1:]
    with tempfile.TemporaryDirectory(prefix="perfdata-patience-") as folder, tempfile.TemporaryDirectory() as other:
        # LD_PRELOAD has no way to quote spaces, which the folder of the build may have
        test = Test(perfdata, shutil.copy(slow, other), folder)
        loaded = test.plain(["version"], slow=True)
        if loaded.returncode != 0 or loaded.stderr:
            print("SKIP: this build does not take a library in front of the C library")
            return 77
        test.all()
    print(f"{test.looked} looked at, {test.failures} wrong")
    return 1 if test.failures else 0


if __name__ == "__main__":
    sys.exit(main())
