#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Ways of recording that went wrong once, and those with several files, threads and speakers.

usage: ways.py PERFDATA BUSY PRELOAD [--only TEXT]   PRELOAD: the library of the failing writes

Exit status: 0 all fine; 1 not; 77 nothing can be recorded here.
"""

import argparse
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time

SKIPPED = 77
# A process of which a thread soon ends, and which goes on
ENDING = ("import threading, time, sys\n"
          "t = threading.Thread(target=time.sleep, args=(1.0,))\n"
          "t.start()\n"
          "print('there', flush=True)\n"
          "e = time.monotonic() + 4\n"
          "while time.monotonic() < e: time.sleep(0.01)\n")


class Ways:
    def __init__(self, perfdata, busy, preload, folder):
        self.perfdata, self.busy, self.preload, self.folder, self.failures = perfdata, busy, preload, folder, 0
        self.out = os.path.join(folder, "out.data")

    def expect(self, holds, what):
        if not holds:
            self.failures += 1
            print("not ok:", what)
            sys.stdout.flush()

    def words(self, *options):
        return [self.perfdata, "record", "-e", "cpu-clock", "-o", self.out, *options]

    def record(self, *options, **more):
        return subprocess.run(self.words(*options), capture_output=True, text=True, stdin=subprocess.DEVNULL, **more)

    def info(self, path=None):
        return json.loads(subprocess.run([self.perfdata, "info", "--json", path or self.out], capture_output=True, text=True,
                                         check=True).stdout)

    def checked(self, what, path=None):
        result = subprocess.run([self.perfdata, "check", path or self.out], capture_output=True, text=True)
        fine = "no problem" in result.stdout or "damage 0, warning 0" in result.stdout
        self.expect(result.returncode == 0 and fine, f"{what}: {result.stdout.strip()[:200]}")

    def times(self, path):
        result = subprocess.run([self.perfdata, "script", "-F", "time", "--ns", "-i", path], capture_output=True, text=True)
        return [int(t.rstrip(":").replace(".", "")) for t in result.stdout.split()]

    def thread_that_ends(self):
        """The descriptor of a thread that ended is always ready: who waits for it must not turn around forever."""
        work = subprocess.Popen([sys.executable, "-c", ENDING], stdout=subprocess.PIPE)
        work.stdout.readline()
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        result = self.record("-q", "-p", str(work.pid), "--per-thread")
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        work.wait()
        self.expect(result.returncode == 0, f"a thread that ends: {result.stderr}")
        # it would be three seconds
        self.expect(used < 1.5, f"a thread that ends: {used:.1f} s of processor time")
        self.checked("a thread that ends")

    def switched_files(self):
        """The times in the header of each file are those of its samples, and no file begins before the last one ended."""
        self.record("-q", "-F", "500", "--switch-output=1s", "--", self.busy, "3.5")
        names = sorted(n for n in os.listdir(self.folder) if n.startswith("out.data.2"))
        self.expect(len(names) >= 2, f"--switch-output=1s: {len(names)} files")
        last = 0
        for name in names:
            path = os.path.join(self.folder, name)
            times, about = self.times(path), self.info(path)["time"]
            self.checked(name, path)
            if not times:
                continue
            self.expect((about["first_ns"], about["last_ns"]) == (min(times), max(times)), f"{name}: {about}")
            header = subprocess.run([self.perfdata, "dump", "--features", path], capture_output=True, text=True).stdout
            self.expect(f"first_ns: {min(times) / 1e9:.9f}" in header or f"first_ns: {min(times)}" in header,
                        f"{name}: SAMPLE_TIME does not begin at {min(times)}")
            self.expect(min(times) > last, f"{name}: begins before the last file ended")
            last = max(times)
        for name in names:
            os.unlink(os.path.join(self.folder, name))

    def switched_by_an_event(self):
        """Each event begins the next file; it is in none of them."""
        result = self.record("--switch-output-event", "cpu-clock", "--", "true")
        self.expect(result.returncode == 2 and "period" in result.stderr, f"an event without a period: {result.stderr}")
        for options in ([], ["-a"]):
            event = "page-faults/period=20000/"
            allocate = "import time\nfor i in range(4):\n bytearray(b'1') * (100 << 20)\n time.sleep(0.4)"
            result = self.record("-q", "-F", "500", "--switch-output-event", event, *options, "--", sys.executable, "-c", allocate)
            names = sorted(n for n in os.listdir(self.folder) if n.startswith("out.data.2"))
            self.expect(result.returncode == 0 and len(names) >= 4, f"--switch-output-event {options}: {names} {result.stderr}")
            for name in names:
                path = os.path.join(self.folder, name)
                events = [event["name"] for event in self.info(path)["events"]]
                self.expect("cpu-clock" in events[0] and not any("page-faults" in n for n in events), f"{name}: {events}")
                self.checked(name, path)
                os.unlink(path)

    def same_twice(self):
        """CPUs, processes and threads that are named twice are recorded once."""
        self.record("-q", "-C", "0,0,0-0", "--", "true")
        self.expect(self.info()["events"][0]["ids"] == 1, "-C 0,0,0-0: more than one descriptor")
        work = subprocess.Popen(["sleep", "20"])
        for option in ("-p", "-t"):
            self.record("-q", "--per-thread", option, f"{work.pid},{work.pid}", "--duration", "200ms")
            self.expect(self.info()["events"][0]["ids"] == 1, f"{option} twice: more than one descriptor")
        work.kill()
        work.wait()

    def answers_unread(self):
        """Who speaks and does not listen must not keep a recording from ending."""
        in_read, in_write = os.pipe()
        out_read, out_write = os.pipe()
        process = subprocess.Popen(self.words("-q", "-a", "--control", f"fd:{in_read},{out_write}"), pass_fds=(in_read, out_write),
                                   stdin=subprocess.DEVNULL)
        os.close(in_read)
        # more answers than a pipe holds
        os.set_blocking(in_write, False)
        for _ in range(60):
            try:
                os.write(in_write, b"ping\n" * 800)
            except BlockingIOError:
                time.sleep(0.02)
        time.sleep(0.3)
        process.send_signal(signal.SIGINT)
        try:
            process.wait(60)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            self.expect(False, "answers that nobody reads keep a recording from ending")
        for fd in (in_write, out_read, out_write):
            os.close(fd)
        self.checked("unread answers")

    def fifo(self):
        """A recording that is spoken to by FIFOs, from its begin to its end."""
        paths = [os.path.join(self.folder, n) for n in ("speak", "listen")]
        for path in paths:
            os.mkfifo(path)
        process = subprocess.Popen(self.words("-q", "-a", "-D", "-1", "--control", "fifo:" + ",".join(paths)),
                                   stdin=subprocess.DEVNULL)
        speak, listen = open(paths[0], "wb", buffering=0), open(paths[1], "rb")
        for line, wanted in (("ping", ["ack"]), ("evlist", ["cpu-clock", "dummy:HG", "ack"]), ("enable", ["ack"]),
                             ("disable cpu-clock", ["ack"]), ("enable cpu-clock", ["ack"])):
            speak.write(line.encode() + b"\n")
            got = [listen.readline().decode().strip() for _ in wanted]
            self.expect(got == wanted, f"--control fifo: {line} is answered by {got}")
            if line.startswith("enable"):
                subprocess.run([self.busy, "0.2"], stdout=subprocess.DEVNULL, check=True)
        speak.write(b"stop\n")
        self.expect(listen.readline() == b"ack\n", "--control fifo: stop is not answered")
        speak.close()
        listen.close()
        self.expect(process.wait(60) == 0, "--control fifo: exit status")
        self.checked("--control fifo")
        self.expect(self.info()["events"][0]["samples"] > 10, "--control fifo: no samples after enable")

    def stops(self):
        """"stop" is answered, however soon the recording is over."""
        paths = [os.path.join(self.folder, n) for n in ("say", "hear")]
        for path in paths:
            os.mkfifo(path)
        for late in (0, 200000, 600000):
            process = subprocess.Popen(self.words("-q", "-a", "-e", "dummy", "--control", "fifo:" + ",".join(paths)),
                                       stdin=subprocess.DEVNULL,
                                       env=dict(os.environ, LD_PRELOAD=self.preload, LATE_ANSWER=str(late)))
            with open(paths[0], "wb", buffering=0) as speak, open(paths[1], "rb") as listen:
                speak.write(b"stop\n")
                self.expect(listen.readline() == b"ack\n", f"--control fifo: stop is not answered, {late} us late")
            self.expect(process.wait(60) == 0, "--control fifo: exit status after stop")

    def build_ids(self):
        """Names in lists of build ids are padded to a multiple of 64, as perf's: quipper counts on some of it."""
        merged, injected = (os.path.join(self.folder, n) for n in ("merged.data", "injected.data"))
        other = os.path.join(self.folder, "other.data")
        self.record("-q", "--", self.busy, "0.1")
        shutil.copy(self.out, other)
        self.record("-q", "--", self.busy, "0.1")
        for words in (["merge", self.out, other, "-o", merged], ["inject", "--buildid-all", "-i", self.out, "-o", injected]):
            subprocess.run([self.perfdata, *words], capture_output=True, check=True)
        for path in (self.out, merged, injected):
            lines = subprocess.run([self.perfdata, "dump", "--json", "--features", path], capture_output=True, text=True,
                                   check=True).stdout.splitlines()
            features = {one["feature"]["name"]: one["feature"]["decoded"] for one in map(json.loads, lines) if "feature" in one}
            data, at = bytes.fromhex(features["BUILD_ID"]["records"]), 0
            while at < len(data):
                size = int.from_bytes(data[at + 6:at + 8], sys.byteorder)
                self.expect(size > 36 and (size - 36) % 64 == 0, f"build ids of {path}: a record of {size} bytes")
                padding = data[at + 36:at + size].partition(b"\0")[2]
                self.expect(not any(padding), f"build ids of {path}: padded with {padding}")
                at += max(size, 8)
            self.expect(at == len(data) and at > 0, f"build ids of {path}: {len(data)} bytes")

    def cached_objects(self):
        """What ran is kept by build id: once, beside what others keep there, and nothing through links that lead elsewhere."""
        cache, outside = (os.path.join(self.folder, name) for name in ("cache", "outside"))
        more = {"env": dict(os.environ, PERF_BUILDID_DIR=cache)}
        kept = []
        for foreign in (False, True):
            if foreign:
                os.makedirs(os.path.join(cache, ".build-id", "00"), exist_ok=True)
                os.symlink("../../x/" + "00" * 20, os.path.join(cache, ".build-id", "00", "00" * 19))
            self.expect(self.record("-q", "--", self.busy, "0.1", **more).returncode == 0, "recording with a cache")
            listed = subprocess.run([self.perfdata, "buildid-cache", "-l"], capture_output=True, text=True, check=True, **more).stdout
            digits = [line.split()[0] for line in listed.splitlines() if line.endswith(self.busy)]
            self.expect(len(digits) == 1, f"in the cache: {listed}")
            file = os.stat(os.path.join(cache, self.busy.lstrip("/"), digits[0], "elf"))
            kept.append((digits, file.st_ino, file.st_mtime_ns))
        self.expect(kept[0] == kept[1], f"an object is kept again: {kept}")
        shutil.rmtree(cache)
        os.mkdir(outside)
        os.mkdir(cache)
        os.symlink(outside, os.path.join(cache, ".build-id"))
        self.record("-q", "--", self.busy, "0.1", **more)
        self.expect(not os.listdir(outside), f"written through a link: {os.listdir(outside)}")
        result = self.record("-q", "--", self.busy, "0.1", env=dict(os.environ, PERF_BUILDID_DIR="/proc/nowhere"))
        self.expect(result.returncode == 0 and result.stderr.count("not kept") == result.stderr.count("\n") == 1
                    and "/proc/nowhere: No such file" in result.stderr, f"a cache that cannot be written: {result.stderr}")

    def time_of_day(self):
        """Known for the kernel's own clock, too, without another one in the events."""
        for options in ([], ["-k", "mono"], ["-o", "-"]):
            before = time.time_ns()
            with open(self.out, "wb") as out:
                subprocess.run(self.words("-q", *options, "--", self.busy, "0.2"), stdout=out, check=True)
            first, now = self.info()["time"]["first_wall_clock_ns"], time.time_ns()
            self.expect(first is not None and before <= first <= now, f"time of day, {options}: {before} {first} {now}")

    def packing(self):
        """Plain without -z, as with perf; the configuration can compress."""
        config = os.path.join(self.folder, "config")
        for options, key, packed in (([], "", False), (["-z"], "", True), (["-z0"], "", False), (["-z", "0"], "", False),
                                     (["-z", "3"], "", True), (["--compression-level=19"], "", True),
                                     ([], "compression-level = 1", True), ([], "compression-level", True),
                                     ([], "compression-level = 0", False), (["-z0"], "compression-level = 1", False)):
            with open(config, "w", encoding="utf-8") as f:
                f.write(f"[record]\n{key}\n")
            result = self.record(*options, "--", self.busy, "0.1", env=dict(os.environ, PERF_CONFIG=config))
            info = self.info()
            self.expect(result.returncode == 0 and (info["compressed"]["stored_bytes"] > 0) == packed,
                        f"record {options}, [record] {key}: {result.stderr}")
            self.expect(("--no-compress" in result.stderr) == packed, f"record {options}: {result.stderr}")
        for key in ("compression-level = x", "compression-level = 23"):
            with open(config, "w", encoding="utf-8") as f:
                f.write(f"[record]\n{key}\n")
            result = self.record("--", "true", env=dict(os.environ, PERF_CONFIG=config))
            self.expect(result.returncode == 2 and "record.compression-level" in result.stderr, f"[record] {key}: {result.stderr}")

    def flush(self):
        """Rings that are left alone until they hold so much: nothing is lost, also where that is more than a ring."""
        for size in ("4K", "64K", "1G"):
            self.record("-q", "-m", "128K", "--mmap-flush", size, "-F", "2000", "--", self.busy, "1")
            info = self.info()
            self.checked(f"--mmap-flush {size}")
            self.expect(info["events"][0]["samples"] > 200 and not info["lost"]["records"], f"--mmap-flush {size}: {info['lost']}")

    def ring(self, *options):
        """Bytes of the largest ring, as the recorded command sees them in its parent, without the page in front."""
        maps = os.path.join(self.folder, "maps")
        open(maps, "w", encoding="utf-8").close()  # not those of the call before
        self.record("-q", *options, "--", "sh", "-c", f"cat /proc/$PPID/maps >{maps}")
        with open(maps, encoding="utf-8") as file:
            ends = [line.split()[0].split("-") for line in file if "[perf_event]" in line]
        return max((int(end, 16) - int(begin, 16) for begin, end in ends), default=0) - os.sysconf("SC_PAGESIZE")

    def rings(self):
        """What is known to come slowly gets less memory; of what comes at any rate, or is kept, as much as there may be."""
        usual = self.ring("-e", "page-faults", "-c", "1")
        slow = self.ring("-F", "100")
        # where there is little memory for each CPU, all are small
        small = slow < usual or usual <= 4 << 20
        self.expect(0 < slow <= 4 << 20 and slow <= usual and small, f"rings of a slow clock: {slow} of {usual} bytes")
        self.expect(self.ring("-F", "100", "-m", "1M") == 1 << 20, "-m 1M")
        for options in (["-c", "1000", "-g"], ["-F", "100", "--call-graph", "dwarf"], ["-F", "100", "--switch-events"],
                        ["-F", "100", "--overwrite"], ["-F", "100", "-e", "page-faults"]):
            self.expect(self.ring(*options) == usual, f"rings of {options}: {self.ring(*options)} of {usual} bytes")

    def threads(self):
        """Several threads write a directory, which is read as one file, by perf too."""
        for spec in ("", "=cpu", "=core", "=package", "=numa"):
            self.record("-q", "--threads" + spec, "-a", "-F", "1000", "--", self.busy, "0.3", "2")
            self.checked(f"--threads{spec}")
            info = self.info()
            self.expect(info["file"]["mode"] == "directory" and info["events"][0]["samples"] > 50, f"--threads{spec}: {info['file']}")
            if shutil.which("perf"):
                result = subprocess.run(["perf", "script", "-F", "time", "-i", self.out], capture_output=True, text=True,
                                        env=dict(os.environ, HOME=self.folder))
                self.expect(not result.stderr and len(result.stdout.split()) == info["events"][0]["samples"],
                            f"--threads{spec}: perf: {result.stderr[:200]}")
        cpus = self.info()["host"]["cpus_online"]
        for spec in ("x", "", "0", "0/", "/0", "0-", "0/0:0/0", "0/99999", ":"):
            if spec:
                result = self.record("--threads=" + spec, "-a", "--", "true")
                self.expect(result.returncode != 0 and "perfdata: " in result.stderr, f"--threads={spec}: {result.returncode}")
        if cpus > 1:
            result = self.record(f"--threads=0/0:1-{cpus - 1}/1", "-a", "--", "true")
            self.expect(result.returncode == 0, f"--threads=0/0:1-...: {result.stderr}")
        for options in (["--switch-output"], ["--overwrite"], ["--per-thread"], ["-o", "-"]):
            result = self.record("--threads", *options, "--", "true")
            self.expect(result.returncode == 3, f"--threads {options}: {result.returncode}")
        process = subprocess.Popen(self.words("-q", "--threads", "-a"), stdin=subprocess.DEVNULL)
        time.sleep(2)
        process.kill()
        process.wait()
        self.expect(self.info()["events"][0]["samples"] > 0, "--threads, killed: no samples")
        # a directory that is none of ours stays
        other = os.path.join(self.folder, "other")
        os.makedirs(os.path.join(other, "sub"))
        result = subprocess.run([*self.words("-q"), "-o", other, "--", "true"], capture_output=True, text=True)
        self.expect(result.returncode != 0 and os.path.isdir(os.path.join(other, "sub")), "a directory that is no recording")

    def priority(self):
        """With --unwind-now only the thread that empties the rings has the priority: who unwinds could keep it from them."""
        try:
            os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
        except PermissionError:
            print("no priorities here: not looked at")
            return
        os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))
        out = os.path.join(self.folder, "priority.data")
        process = subprocess.Popen([self.perfdata, "record", "-q", "-e", "cpu-clock", "-o", out, "-r", "5", "--call-graph", "dwarf",
                                    "--unwind-now", "--", "sleep", "60"], stdin=subprocess.DEVNULL)
        tasks, found = f"/proc/{process.pid}/task", {}
        for _ in range(600):
            try:
                found = {int(tid): os.sched_getscheduler(int(tid)) for tid in os.listdir(tasks)}
            except OSError:  # a thread that has ended
                continue
            if len(found) == 2 and found[process.pid] == os.SCHED_OTHER and os.SCHED_FIFO in found.values():
                break
            time.sleep(0.05)
        else:
            self.expect(False, f"threads with -r 5 --unwind-now: {found}")
        process.send_signal(signal.SIGINT)
        process.wait(60)
        self.checked("-r 5 --unwind-now", out)

    def runs(self):
        """Two commands in turn, every other round beginning with the second one; a run that fails ends it all."""
        log = os.path.join(self.folder, "log")
        note = ["sh", "-c", f"echo $0 >> {log}"]
        result = self.record("--runs", "3", "--", *note, "old", "--vs", *note, "new")
        names = [f"out-{side}-{run}.data" for side in "ab" for run in (1, 2, 3)]
        with open(log, encoding="utf-8") as file:
            self.expect(file.read().split() == ["old", "new", "new", "old", "old", "new"], "commands are not in turn")
        self.expect(result.returncode == 0 and all(os.path.exists(os.path.join(self.folder, name)) for name in names),
                    f"files of runs: {result.stderr}")
        lists = [word for word in result.stderr.split() if word.endswith("-3.data")]
        compared = subprocess.run([self.perfdata, "diff", "--per", "run", "-s", "comm", *lists[-2:]], capture_output=True, text=True)
        self.expect(compared.returncode == 0 and "3 and 3 runs" in compared.stdout, f"runs compared: {compared.stderr}")
        os.unlink(log)
        result = self.record("--runs", "3", "--", "sh", "-c", f"echo >> {log}; exit 3")
        self.expect(result.returncode == 3 and os.path.getsize(log) == 1, "a run that fails is not the last one")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("perfdata")
    parser.add_argument("busy")
    parser.add_argument("preload")
    parser.add_argument("--only", default="", metavar="TEXT")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="ways-") as folder:
        ways = Ways(os.path.abspath(arguments.perfdata), os.path.abspath(arguments.busy),
                    shutil.copy(arguments.preload, folder), folder)
        probe = ways.record("-a", "--", "true")
        if probe.returncode != 0:
            print("nothing can be recorded here:", probe.stderr.strip())
            return SKIPPED
        for way in (ways.thread_that_ends, ways.switched_files, ways.switched_by_an_event, ways.same_twice, ways.answers_unread, ways.fifo, ways.stops,
                    ways.build_ids, ways.cached_objects, ways.time_of_day, ways.packing, ways.flush, ways.rings,
                    ways.threads, ways.priority, ways.runs):
            if arguments.only in way.__name__:
                way()
                print(f"{way.__name__}: {ways.failures} failures so far")
                sys.stdout.flush()
        return 1 if ways.failures else 0


if __name__ == "__main__":
    sys.exit(main())
