#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""perfdata daemon with recorders: in the background, asked, signalled, killed, and started again.

usage: daemon.py PERFDATA

Exit status: 0 all fine; 1 not; 77 nothing can be recorded here.
"""

import glob
import os
import signal
import subprocess
import sys
import tempfile
import time

SKIPPED = 77


class Daemon:
    def __init__(self, perfdata, folder):
        self.perfdata, self.folder, self.failures = perfdata, folder, 0
        self.base, self.config = os.path.join(folder, "base"), os.path.join(folder, "config")
        os.mkdir(self.base)

    def expect(self, holds, *what):
        if not holds:
            self.failures += 1
            print("not ok:", *what, flush=True)

    def configure(self, **sessions):
        lines = "".join(f"[session-{name}]\nrun = {run}\n" for name, run in sessions.items())
        with open(self.config + ".new", "w") as file:
            file.write(f"[daemon]\nbase = {self.base}\n{lines}")
        os.rename(self.config + ".new", self.config)

    def run(self, *words):
        return subprocess.run([self.perfdata, "daemon", *words, "--config", self.config], capture_output=True, text=True,
                              stdin=subprocess.DEVNULL)

    def answers(self, session):
        return self.run("ping", "--session", session).stdout.startswith("OK")

    def wait_for(self, session, there=True):
        while self.answers(session) != there:
            time.sleep(0.01)

    def pids(self):
        lines = self.run("-x:").stdout.splitlines()
        return {line.split(":")[1]: int(line.split(":")[0]) for line in lines}

    def read(self, *path):
        with open(os.path.join(self.base, *path)) as file:
            return file.read()


def is_there(pid):
    return os.path.exists(f"/proc/{pid}")


def lives(daemon):
    """Start, list, ping, signal, another configuration, stop."""
    daemon.configure(files="-e cpu-clock --switch-output -m 1 sleep 1000", short="-e cpu-clock -m 1 sleep 0")
    done = daemon.run("start")
    daemon.expect(done.returncode == 0 and not done.stdout + done.stderr, "start", done)
    daemon.wait_for("files")
    pids = daemon.pids()
    daemon.expect(is_there(pids["daemon"]) and is_there(pids["files"]), "pids", pids)
    daemon.expect(daemon.read("lock") == str(pids["daemon"]), "lock", daemon.read("lock"))
    again = daemon.run("start")
    daemon.expect(again.returncode == 4 and again.stderr == f"failed: another perf daemon (pid {pids['daemon']}) owns {daemon.base}\n",
                  "second", again)
    sent = daemon.run("signal")
    daemon.expect(f"signal 12 sent to session 'files [{pids['files']}]'\n" in sent.stdout, "signal", sent)
    while not glob.glob(os.path.join(daemon.base, "session-files", "perf.data.*")):
        time.sleep(0.01)
    while "session 'short'" not in daemon.read("output"):
        time.sleep(0.01)
    daemon.configure(files="-e task-clock -m 1 sleep 1000")
    while is_there(pids["files"]):
        time.sleep(0.01)
    daemon.wait_for("files")
    daemon.expect("task-clock" in daemon.run().stdout, "list", daemon.run())
    pids = daemon.pids()
    stopped = daemon.run("stop")
    daemon.expect(stopped.returncode == 0 and not stopped.stdout + stopped.stderr, "stop", stopped)
    daemon.expect(not is_there(pids["files"]), "a session outlives its daemon")
    nobody = daemon.run("ping")
    daemon.expect(nobody.returncode == 5 and "no daemon runs in" in nobody.stderr, "nobody", nobody)
    recording = os.path.join(daemon.base, "session-files", "perf.data")
    events = subprocess.run([daemon.perfdata, "evlist", recording], capture_output=True, text=True).stdout
    daemon.expect(events == "task-clock\n", "what was recorded", events)


def is_killed(daemon):
    """Sessions of a daemon that is killed end, and another one takes the base."""
    daemon.configure(one="-e cpu-clock -m 1 sleep 1000")
    daemon.expect(daemon.run("start").returncode == 0, "start")
    daemon.wait_for("one")
    pids = daemon.pids()
    os.kill(pids["daemon"], signal.SIGKILL)
    while is_there(pids["one"]) or is_there(pids["daemon"]):
        time.sleep(0.01)
    dead = daemon.run("stop")
    daemon.expect(dead.returncode == 5, "a dead socket", dead)
    daemon.expect(daemon.run("start").returncode == 0, "start again")
    daemon.wait_for("one")
    daemon.expect(daemon.run("stop").returncode == 0, "stop")


def is_interrupted(daemon):
    """In the foreground it ends by a signal, and removes its socket."""
    child = subprocess.Popen([daemon.perfdata, "daemon", "start", "-f", "--config", daemon.config], stdin=subprocess.DEVNULL)
    while not daemon.answers("one"):
        time.sleep(0.01)
    child.send_signal(signal.SIGINT)
    daemon.expect(child.wait() == 0 and not os.path.exists(os.path.join(daemon.base, "control")), "interrupted", child.returncode)


def is_refused(daemon):
    for text, wanted in (("[daemon]\nbase=/no/such\n", "failed: base /no/such: No such file or directory\n"),
                         ("[daemon\n", f"failed: {daemon.config}:1: not a section: expected [name]; the rest of the file is ignored\n")):
        with open(daemon.config, "w") as file:
            file.write(text)
        done = daemon.run("start")
        daemon.expect(done.returncode in (2, 4) and done.stderr == wanted, wanted, done)


def main():
    perfdata = os.path.abspath(sys.argv[1])
    if subprocess.run([perfdata, "stat", "-e", "cpu-clock", "true"], capture_output=True).returncode:
        return SKIPPED
    with tempfile.TemporaryDirectory(prefix="perfdata-daemon-") as folder:
        daemon = Daemon(perfdata, folder)
        for test in (lives, is_killed, is_interrupted, is_refused):
            test(daemon)
    return int(daemon.failures > 0)


if __name__ == "__main__":
    sys.exit(main())
