#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""record --store: each file is added to the store, and none is lost when that fails.

usage: stored.py PERFDATA BUSY

Exit status: 0 all fine; 1 not; 77 nothing can be recorded here.
"""

import json
import os
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time

SKIPPED = 77
DEADLINE_S = 60


def wait_until(holds):
    deadline = time.monotonic() + DEADLINE_S
    while not holds() and time.monotonic() < deadline:
        time.sleep(0.05)


class Stored:
    def __init__(self, perfdata, busy, folder):
        self.perfdata, self.busy, self.folder, self.failures, self.turn = perfdata, busy, folder, 0, 0
        self.next()

    def next(self):
        """A folder for each way."""
        self.turn += 1
        self.here = os.path.join(self.folder, str(self.turn))
        os.mkdir(self.here)
        self.out, self.store = os.path.join(self.here, "out.data"), os.path.join(self.here, "fleet.db")

    def expect(self, holds, *what):
        if not holds:
            self.failures += 1
            print("not ok:", *what)
            sys.stdout.flush()

    def words(self, *options):
        return [self.perfdata, "record", "-e", "cpu-clock", "-o", self.out, *options]

    def record(self, *options):
        return subprocess.run(self.words(*options), capture_output=True, text=True, stdin=subprocess.DEVNULL)

    def rows(self, *words):
        result = subprocess.run([self.perfdata, "store", *words, "--format", "json"], capture_output=True, text=True)
        self.expect(result.returncode == 0, words, result.stderr)
        return [json.loads(line) for line in result.stdout.splitlines()]

    def stored(self):
        return self.rows("ls", self.store)

    def files(self):
        return sorted(os.path.join(self.here, name) for name in os.listdir(self.here) if name.startswith("out"))

    def samples(self, path):
        info = subprocess.run([self.perfdata, "info", "--json", path], capture_output=True, text=True, check=True).stdout
        return sum(event["samples"] for event in json.loads(info)["events"])

    def is_all_stored(self, what):
        """The store has the files, with their samples and names."""
        rows, files = self.stored(), self.files()
        self.expect(sorted(row["name"] for row in rows) == files, what, "names", [row["name"] for row in rows], files)
        self.expect(sorted(row["samples"] for row in rows) == sorted(map(self.samples, files)), what, "samples")
        total = self.rows("sql", self.store, "select coalesce(sum(count), 0) as count from samples")
        self.expect(total[0]["count"] == sum(map(self.samples, files)), what, "sums", total)

    def one_file(self):
        result = self.record("-q", "-F", "500", "--store", self.store, "--label", "service=web", "--label", "a=b", "--", self.busy, "0.5")
        self.expect(result.returncode == 0 and not result.stderr, "one file:", result.returncode, result.stderr)
        self.is_all_stored("one file")
        self.expect([row["labels"] for row in self.stored()] == ["a=b service=web"], "labels")

    def switched_files(self):
        result = self.record("-q", "-F", "500", "--switch-output=1s", "--store", self.store, "--", self.busy, "3.5")
        self.expect(result.returncode == 0 and not result.stderr, "switched files:", result.stderr)
        self.expect(len(self.files()) >= 2, "switched files:", self.files())
        self.is_all_stored("switched files")

    def few_are_kept(self):
        self.record("-q", "-F", "500", "--switch-output=1s", "--switch-max-files=1", "--store", self.store, "--", self.busy, "3.5")
        self.expect(len(self.files()) == 1 and len(self.stored()) >= 2, "few are kept:", self.files())

    def runs(self):
        result = self.record("-q", "--runs", "3", "--store", self.store, "--", self.busy, "0.2")
        self.expect(result.returncode == 0 and len(self.files()) == 3, "runs:", result.stderr)
        self.is_all_stored("runs")

    def unwound(self):
        result = self.record("-q", "--call-graph", "dwarf", "--unwind-now", "--store", self.store, "--", self.busy, "0.3")
        self.expect(result.returncode == 0, "unwound:", result.stderr)
        self.is_all_stored("unwound")

    def exit_code_is_that_of_the_command(self):
        result = self.record("-q", "--store", self.store, "--", "sh", "-c", "exit 7")
        self.expect(result.returncode == 7 and len(self.stored()) == 1, "exit code", result.returncode)

    def switch(self, process):
        """Has another file begun, and waits until the one before is complete."""
        known = set(self.files())
        process.send_signal(signal.SIGUSR2)
        wait_until(lambda: process.poll() is not None or set(self.files()) - known - {self.out})

    def has_any(self):
        """Not while the store is made."""
        listed = subprocess.run([self.perfdata, "store", "ls", self.store, "--format", "json"], capture_output=True, text=True)
        return listed.returncode == 0 and listed.stdout.strip() != ""

    def destroy(self):
        """Overwrites the store while nobody adds to it: what is added meanwhile would be written over it, all of it if the store is new."""
        locked = sqlite3.connect(self.store, timeout=DEADLINE_S, isolation_level=None)
        locked.execute("BEGIN EXCLUSIVE")
        with open(self.store, "wb") as file:
            file.write(b"x" * 5000)
        locked.close()

    def broken_meanwhile(self, *options):
        """What cannot be added stays, and is named."""
        process = subprocess.Popen(self.words("-q", "-a", "--switch-output=signal", "--store", self.store, *options),
                                   stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        wait_until(lambda: process.poll() is not None or os.path.exists(self.out))
        self.switch(process)
        wait_until(lambda: process.poll() is not None or self.has_any())
        added = {row["name"] for row in self.stored()}
        self.expect(len(added) == 1, "broken meanwhile: added before", added)
        self.destroy()
        for _ in range(3):
            self.switch(process)
        process.send_signal(signal.SIGINT)
        said = process.stderr.read()
        process.wait()
        self.expect(process.returncode == 4, "broken meanwhile: code", process.returncode)
        missing = [path for path in self.files() if path not in added and f"{path} is kept, but not in the store" not in said]
        self.expect(not missing and "perfdata store add" in said, "broken meanwhile: not named", missing, said)
        self.expect(len(self.files()) >= 3, "broken meanwhile:", self.files())
        os.remove(self.store)
        result = subprocess.run([self.perfdata, "store", "add", self.store, *self.files()], capture_output=True, text=True)
        self.expect(result.returncode == 0, "added later:", result.stderr)
        self.is_all_stored("added later")

    def broken_with_few(self):
        self.broken_meanwhile("--switch-max-files=1")

    def to_a_folder(self):
        folder = os.path.join(self.here, "fleet") + "/"
        result = self.record("-q", "-F", "500", "--switch-output=1s", "--store", folder, "--label", "service=web", "--", self.busy, "2.5")
        names = [row["name"] for row in self.rows("ls", folder)]
        found = [name for where, _, names_there in os.walk(os.path.join(folder, "samples")) for name in names_there if "service=web" in where]
        self.expect(result.returncode == 0 and sorted(names) == self.files() and len(names) >= 2, "to a folder:", result.stderr, names)
        # a file without samples has none there
        self.expect(1 <= len(found) <= len(names), "files of samples:", found)

    def to_a_dead_server(self):
        spool = os.path.join(self.here, "spool")
        result = subprocess.run(self.words("-q", "--store", "clickhouse://127.0.0.1:1/x", "--", self.busy, "0.3"), capture_output=True, text=True,
                                stdin=subprocess.DEVNULL, env=dict(os.environ, PERFDATA_STORE_SPOOL=spool))
        if "libcurl" in result.stderr:
            return
        waiting = [os.path.join(where, name) for where, _, names in os.walk(spool) for name in names if name.endswith(".db")]
        self.expect(result.returncode == 4 and len(waiting) == 1 and waiting[0] in result.stderr, "to a dead server:", result.stderr)
        self.expect(self.files() == [self.out] and [row["name"] for row in self.rows("ls", waiting[0])] == [self.out], "what waits:", self.files())

    def refused_before(self):
        """What cannot work is said before anything is recorded."""
        with open(self.store, "wb") as file:
            file.write(b"x" * 5000)
        for code, options in ((3, ["--store", self.store]), (2, ["--store", self.store + "2", "--label", "x"]), (2, ["--label", "a=b"]),
                              (4, ["--store", os.path.join(self.here, "no", "x.db")]), (2, ["-o", "-", "--store", self.store + "2"])):
            result = self.record(*options, "--", "touch", os.path.join(self.here, "ran"))
            self.expect(result.returncode == code and "perfdata: " in result.stderr, "refused:", options, result.returncode, result.stderr)
        self.expect(not self.files() and not os.path.exists(os.path.join(self.here, "ran")), "refused, but recorded")


def main():
    with tempfile.TemporaryDirectory(prefix="stored-") as folder:
        stored = Stored(os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2]), folder)
        probe = stored.record("-a", "--", "true")
        if probe.returncode != 0:
            print("nothing can be recorded here:", probe.stderr.strip())
            return SKIPPED
        probe = subprocess.run([stored.perfdata, "store", "ls", os.path.join(folder, "none")], capture_output=True, text=True)
        if "SQLite" in probe.stderr:
            print("no SQLite")
            return SKIPPED
        for way in (stored.one_file, stored.switched_files, stored.few_are_kept, stored.runs, stored.unwound,
                    stored.exit_code_is_that_of_the_command, stored.broken_meanwhile, stored.broken_with_few, stored.to_a_folder, stored.to_a_dead_server,
                    stored.refused_before):
            stored.next()
            way()
            print(f"{way.__name__}: {stored.failures} failures so far")
            sys.stdout.flush()
        return 1 if stored.failures else 0


if __name__ == "__main__":
    sys.exit(main())
