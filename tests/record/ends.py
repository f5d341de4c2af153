#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Ends recordings in every way, and looks at what is left.

usage: ends.py PERFDATA [--kills N] [--seed N] [--no-clock]

Killed at random moments, by signals, by a full disk, a closed pipe, a command that cannot be run or ends at once, limits.
--no-clock leaves out what a machine under load may do late. Exit status: 0 all fine; 1 not; 77 nothing can be recorded here.
"""

import argparse
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

SKIPPED = 77
BUSY = ["sh", "-c", "while :; do :; done"]
UNFINISHED = {"unfinished", "truncated-record", "no-samples", "no-build-ids"}


class Run:
    """A recorder with what it starts, all of which is gone when it was waited for."""

    def __init__(self, words, folder, stdout=subprocess.DEVNULL):
        self.said = open(os.path.join(folder, "said"), "w+")
        self.process = subprocess.Popen(words, stdout=stdout, stderr=self.said, stdin=subprocess.DEVNULL, cwd=folder,
                                        start_new_session=True)

    def send_signal(self, number):
        self.process.send_signal(number)

    def wait(self, timeout=30):
        """(exit status, what it said)"""
        try:
            status = self.process.wait(timeout)
        except subprocess.TimeoutExpired:
            status = "it does not end"
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.process.wait()
        self.said.seek(0)
        return status, self.said.read()


class Ends:
    def __init__(self, perfdata, folder):
        self.perfdata, self.folder, self.failures = perfdata, folder, []
        self.out = os.path.join(folder, "perf.data")

    def expect(self, holds, what):
        if not holds:
            self.failures.append(what)
            print("not ok:", what)
            sys.stdout.flush()

    def start(self, options, command, **more):
        return Run([self.perfdata, "record", "-e", "cpu-clock", "-F", "2000", "-o", self.out, *options, "--", *command],
                   self.folder, **more)

    def check(self, path=None):
        """(codes of problems, samples)"""
        result = subprocess.run([self.perfdata, "check", "--json", path or self.out], capture_output=True, text=True)
        codes, samples = set(), 0
        for line in result.stdout.splitlines():
            entry = json.loads(line)
            if "code" in entry and entry["severity"] != "info":
                codes.add(entry["code"])
            samples = entry.get("summary", {}).get("samples", samples)
        return codes, samples, result.returncode

    def newest(self):
        """Time of the last sample, in s."""
        result = subprocess.run([self.perfdata, "script", "-F", "time", "-i", self.out], capture_output=True, text=True)
        lines = result.stdout.split()
        return float(lines[-1].rstrip(":")) if lines else 0

    def read_by_perf(self, path, samples, when):
        """Expects that the perf of this machine, if there is one, reads as many samples in silence."""
        if not shutil.which("perf"):
            return
        result = subprocess.run(["perf", "script", "-F", "time", "-i", path], capture_output=True, text=True,
                                env=dict(os.environ, HOME=self.folder))
        said = result.stderr.strip()
        self.expect(result.returncode == 0 and not said, f"{when}: perf: {result.returncode} {said[:200]}")
        lines = len(result.stdout.split())
        self.expect(lines == samples, f"{when}: perf has {lines} samples, not {samples}")

    def killed(self, after):
        for name in (self.out, self.out + ".old"):
            if os.path.exists(name):
                os.unlink(name)
        process = self.start(["-k", "mono", "-a"], ["sleep", "20"])
        time.sleep(after)
        process.send_signal(signal.SIGKILL)
        end = time.clock_gettime(time.CLOCK_MONOTONIC)
        process.wait()
        if not os.path.exists(self.out) or os.path.getsize(self.out) == 0:
            self.expect(after < 0.5, f"killed after {after:.2f} s: there is no file")
            return None
        codes, samples, status = self.check()
        self.expect(codes <= UNFINISHED, f"killed after {after:.2f} s: {sorted(codes)}")
        missing = end - self.newest() if samples else after
        self.expect(missing < 2.0 or after < 1.5, f"killed after {after:.2f} s: {missing:.2f} s are missing")
        fixed = os.path.join(self.folder, "fixed.data")
        subprocess.run([self.perfdata, "repair", "-q", "-f", "-i", self.out, "-o", fixed], capture_output=True)
        if os.path.exists(fixed):
            codes, again, status = self.check(fixed)
            self.expect(not codes and again >= samples, f"killed after {after:.2f} s, repaired: {sorted(codes)}, {again}")
            self.read_by_perf(fixed, again, f"killed after {after:.2f} s, repaired")
            os.unlink(fixed)
        else:
            self.expect(False, f"killed after {after:.2f} s: repair makes no file")
        return missing

    def by_signal(self, number, twice=False):
        process = self.start([], BUSY)
        time.sleep(0.7)
        process.send_signal(number)
        if twice:
            process.send_signal(number)
        status, said = process.wait()
        codes, samples, _ = self.check()
        self.expect(status == 128 + number, f"signal {number}: exit status {status}")
        self.expect(not codes and samples > 10, f"signal {number}: {sorted(codes)}, {samples} samples, {said}")

    def commands(self):
        for command, wanted in ((["nosuchcommand"], 127), (["true"], 0), (["false"], 1), (["sh", "-c", "exit 7"], 7),
                                (["sh", "-c", "kill -15 $$"], 143)):
            process = self.start([], command)
            status, said = process.wait()
            codes, _, _ = self.check()
            self.expect(status == wanted, f"{command}: exit status {status}: {said}")
            self.expect(not codes, f"{command}: {sorted(codes)}")
            if wanted == 127:
                self.expect(said.count("\n") == 1, f"{command}: {said}")

    def beside_a_command(self):
        """A process that runs is recorded until a command ends, which is not recorded itself."""
        busy = subprocess.Popen(BUSY, stdin=subprocess.DEVNULL)
        try:
            for option in ("-p", "-t"):
                status, said = self.start([option, str(busy.pid)], ["sleep", "0.4"]).wait()
                codes, samples, _ = self.check()
                self.expect(status == 0 and not codes and samples > 10, f"{option} with a command: {status}, {samples} samples: {said}")
        finally:
            busy.kill()
            busy.wait()

    def old_is_kept(self):
        with open(self.out, "wb") as f:
            f.write(b"something of before")
        self.start([], ["true"]).wait()
        with open(self.out + ".old", "rb") as f:
            self.expect(f.read() == b"something of before", "what was there is not kept as .old")

    def as_nobody(self, *words):
        """(exit status, what it said) of a recorder without rights, or None if there is no other user here."""
        def become():
            os.setgroups([])
            os.setgid(65534)
            os.setuid(65534)

        if os.getuid() != 0:
            return None
        os.chmod(self.folder, 0o755)
        try:
            result = subprocess.run([self.perfdata, "record", "-o", "-", *words], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                                    stdin=subprocess.DEVNULL, cwd="/", text=True, preexec_fn=become, timeout=60)
        except PermissionError:
            return None
        return result.returncode, result.stderr

    def rights(self):
        """What is refused is said as it is at this level of kernel.perf_event_paranoid."""
        with open("/proc/sys/kernel/perf_event_paranoid", encoding="ascii") as file:
            level = int(file.read())
        if self.as_nobody("true") is None:
            print("no other user can be had here: what is refused is left out")
            return
        for words in (["-p", "1"], ["-t", "1"], ["-u", "root"], ["-e", "cpu-clock:u", "-p", "1"]):
            status, said = self.as_nobody(*words, "--", "true")
            self.expect(status == 3 and said.startswith("perfdata: processes of other users can be recorded only by root") and
                        said.count("\n") == 1, f"{words} without rights: {status}: {said}")
        status, said = self.as_nobody("-e", "cpu-clock", "--", "true")
        self.expect(status == 0 and ("only user space" in said) == (level > 1), f"own, level {level}: {status}: {said}")
        for words, most in ((["-a"], 0), (["-C", "0"], 0), (["-e", "cpu-clock:k"], 1), (["--all-kernel"], 1), (["--off-cpu"], 1)):
            status, said = self.as_nobody("-e", "cpu-clock", *words, "--", "true")
            refused = f"kernel.perf_event_paranoid is {level})" in said and f"sysctl kernel.perf_event_paranoid={most}" in said
            self.expect(refused and status == 3 if level > most else status == 0, f"{words}, level {level}: {status}: {said}")

    def limits(self):
        self.start(["--max-size", "200K", "-z0", "-a"], ["sleep", "10"]).wait()
        self.expect(100_000 < os.path.getsize(self.out) < 3_000_000, f"--max-size: {os.path.getsize(self.out)} bytes")
        begin = time.monotonic()
        self.start(["--duration", "1s", "-a"], ["sleep", "10"]).wait()
        self.expect(time.monotonic() - begin < 6, "--duration")
        codes, _, _ = self.check()
        self.expect(not codes, f"limits: {sorted(codes)}")

    def full_disk(self):
        small = os.path.join(self.folder, "small")
        os.mkdir(small)
        if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4m", "none", small], capture_output=True).returncode != 0:
            print("no file system can be mounted here: a full disk is left out")
            return
        try:
            out = os.path.join(small, "perf.data")
            process = self.start(["-z0", "-F", "250", "--call-graph", "dwarf", "-o", out], BUSY)
            status, said = process.wait()
            self.expect(status == 4 and "No space" in said, f"full disk: {status}: {said}")
            codes, samples, status = self.check(out)
            self.expect(status in (0, 1) and samples > 0, f"full disk: {sorted(codes)}, {samples} samples")
        finally:
            subprocess.run(["umount", small])

    def closed_pipe(self):
        reader, writer = os.pipe()
        process = Run([self.perfdata, "record", "-e", "cpu-clock", "-a", "-o", "-", "--", "sleep", "5"], self.folder,
                      stdout=writer)
        os.close(writer)
        os.read(reader, 4096)
        os.close(reader)
        begin = time.monotonic()
        status, said = process.wait()
        self.expect(time.monotonic() - begin < 4, f"closed pipe: it goes on: {said}")
        self.expect(status == 4, f"closed pipe: {status}: {said}")


def main():
    # what is ignored is inherited, and record leaves it ignored: under nohup it would not end
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("perfdata")
    parser.add_argument("--kills", type=int, default=5)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--no-clock", action="store_true")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="ends-") as folder:
        ends = Ends(os.path.abspath(arguments.perfdata), folder)
        probe = ends.start(["-a"], ["true"])
        status, said = probe.wait()
        if status != 0:
            print("nothing can be recorded here:", said.strip())
            return SKIPPED
        dice = random.Random(arguments.seed)
        ends.commands()
        ends.old_is_kept()
        ends.rights()
        ends.beside_a_command()
        if arguments.no_clock:
            print(f"commands: {len(ends.failures)} failures")
            return 1 if ends.failures else 0
        missing = [ends.killed(dice.uniform(0.05, 4)) for _ in range(arguments.kills)]
        missing = [m for m in missing if m is not None]
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            ends.by_signal(number)
        ends.by_signal(signal.SIGINT, twice=True)
        ends.limits()
        ends.full_disk()
        ends.closed_pipe()
        print(f"{arguments.kills} kills, at most {max(missing, default=0):.2f} s missing; {len(ends.failures)} failures")
        return 1 if ends.failures else 0


if __name__ == "__main__":
    sys.exit(main())
