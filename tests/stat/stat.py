#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""perfdata stat without perf: files of counts against the text that is kept beside this file, and what happens now.

usage: stat.py PERFDATA [--compiler CC] [--rewrite]

golden.txt has what is printed of files that hold what a machine without counters cannot count; perf.py holds the same
text against perf. --rewrite makes it anew. What counts live is left out, with a line that says so, where the kernel does
not allow it. Exit status: 0 all is well; 1 not.
"""

import argparse
import itertools
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import common

GOLDEN = os.path.join(common.HERE, "golden.txt")
FORMS = ([], ["-x,"], ["-j"])


def printed(perfdata, folder):
    """What is printed of each file, in each form."""
    parts = []
    for name, path, *_ in itertools.chain(common.metric_files(perfdata, folder), common.newer_files(perfdata, folder)):
        ways = ["-A", "--per-core", "--per-socket", "--per-die", "--per-node"] if name == "by-global" else []
        ways += common.NEWER_WAYS if name in ("by-cache", "by-caches") else []
        for form in FORMS:
            for way in [None, *ways]:
                for only in ([], ["--metric-only"]):
                    words = ["stat", *form, *only, "report", *([way] if way else []), "-i", path]
                    result = common.run([perfdata, *words])
                    parts.append("== " + " ".join([name, *form, *only, way or ""]).rstrip() + "\n" + result.stdout)
    return "".join(parts)


# What is wrong in a file of counts, as a change of its text.
WRONG = [
    (r"(?m)^THREAD_MAP.*\n", ""), (r"(?m)^CPU_MAP.*\n", ""), (r"(?m)^STAT_CONFIG.*\n", ""), (r"(?m)^STAT_ROUND.*\n", ""),
    (r"(?m)^STAT id.*\n", ""), (r"aggr_mode, value: \d+", "aggr_mode, value: 99"), (r"thread: 0", "thread: 4000000"),
    (r"cpu: 1,", "cpu: 70000,"), (r"value: \d+, time", "value: 18446744073709551615, time"),
    (r"time_running_ns: \d+", "time_running_ns: 1"), (r"time_enabled_ns: \d+", "time_enabled_ns: 0"),
    (r"core_id: \d+", "core_id: 4294967295"), (r'cpus: "0-1"', 'cpus: "0-999999999999"'), (r"(?ms)^feature CPU_TOPOLOGY {.*?^}\n", ""),
    (r"scale: 1e-06", "scale: 0"), (r"scale: 1e-06", "scale: -1e300"), (r"(?m)^(THREAD_MAP.*)$", r"\1\n\1"),
    (r"(?m)^CPU_MAP.*$", 'CPU_MAP cpus: {kind: range, any_cpu: 1, start_cpu: 0, end_cpu: 65535}, rest: x"0000000000"'),
]


def damaged(perfdata, folder, tests):
    """Whatever a file says: an answer, and no crash."""
    for name in ("by-core", "interval-cpu", "threads"):
        text = common.run([perfdata, "text", os.path.join(folder, name + ".data")]).stdout
        for pattern, other in WRONG:
            path = os.path.join(folder, "wrong.data")
            made = common.run([perfdata, "assemble", "-", "-o", path], stdin=None, input=re.sub(pattern, other, text))
            if not tests.expect(made.returncode == 0, f"{name}, {pattern}: {made.stderr}"):
                continue
            for way in ([], ["-A"], ["--per-core"], ["--per-node"]):
                result = common.run([perfdata, "stat", "report", "-i", path, *way])
                tests.expect(result.returncode in (0, 1, 3, 5), f"{name}, {pattern} {way}: {result.returncode} {result.stderr[-500:]}")
            os.unlink(path)


class Live(common.Tests):
    def __init__(self, perfdata, folder, work):
        super().__init__()
        self.perfdata, self.folder, self.work = perfdata, folder, work

    def stat(self, *words, **more):
        """What is said to users who may count user space only is not looked at here."""
        result = common.run([self.perfdata, "stat", *map(str, words)], **more)
        result.stderr = re.sub(r"(?m)^perfdata: only user space is counted: .*\n", "", result.stderr)
        return result

    def values(self, *words):
        """Counts by the name of the event, without the :u of users who may count user space only."""
        result = self.stat("-j", *words)
        lines = [json.loads(line) for line in result.stderr.splitlines() if line.startswith("{")]
        return {line["event"].removesuffix(":u"): float(line["counter-value"]) if line["counter-value"][0] != "<" else None for line in lines}

    def may(self, *words):
        return self.stat("-x,", *words, "true").returncode == 0

    def statuses(self):
        for command, wanted in ((["true"], 0), (["sh", "-c", "exit 7"], 7), (["sh", "-c", "kill -15 $$"], 143),
                                (["nosuchcommand"], 127)):
            result = self.stat("-e", "task-clock", *command)
            self.expect(result.returncode == wanted, f"{command}: exit status {result.returncode}: {result.stderr}")
        for words in (["-I", "10", "--timeout", "100", "true"], ["--interval-count", "1", "true"], ["--timeout", "5", "true"],
                      ["-A", "true"], ["--table", "true"], ["-B", "-x,", "true"], ["-j", "-x,", "true"], ["-r", "101", "true"],
                      ["-e", "nosuchevent", "true"], ["-C", "9999", "true"], ["-M", "nosuch", "true"], ["record", "-r", "2", "true"],
                      ["--per-thread", "true"], ["-a", "-A", "--per-thread"], ["-a", "--per-cache=L5", "true"], ["-a", "--per-cache=3", "true"], ["--per-cluster", "true"],
                      ["-D", "x", "true"],
                      ["-a", "-G", "/", "-e", "cs", "true"], ["-a", "-e", "cs,faults", "-G", "/,/,/", "true"]):
            result = self.stat(*words)
            self.expect(result.returncode == 2 and result.stderr.startswith("perfdata: "), f"{words}: {result}")

    def counts(self):
        few = self.values("-e", "page-faults", self.work, 0, 0)
        many = self.values("-e", "page-faults", self.work, 0, 2000)
        more = many["page-faults"] - few["page-faults"]
        # where the loader puts things makes a few more or less
        self.expect(1990 <= more <= 2030, f"2000 pages are {more} faults more")
        slept = self.values("-e", "context-switches,task-clock", self.work, 0, 0, 30)
        self.expect(slept["context-switches"] is None or slept["context-switches"] >= 0, str(slept))
        if os.access("/sys/kernel/tracing/events/syscalls", os.R_OK):
            for calls in (0, 1, 1234):
                got = self.values("-e", "syscalls:sys_enter_getppid", self.work, calls)
                self.expect(got == {"syscalls:sys_enter_getppid": calls}, f"{calls} calls: {got}")
            got = self.values("-e", "{syscalls:sys_enter_getppid,page-faults}", self.work, 10)
            self.expect(got["syscalls:sys_enter_getppid"] == 10, f"in a group: {got}")
        else:
            print("skipped: tracepoints cannot be read here")
        busy = self.values("-e", "task-clock", self.work, 0, 0, 0, 50)
        self.expect(busy["task-clock"] >= 10, f"busy: {busy}")
        inherited = self.values("-i", "-e", "task-clock", "sh", "-c", f"{self.work} 0 0 0 80; true")
        self.expect(inherited["task-clock"] < 60, f"not inherited: {inherited}")

    def group_without(self):
        """A member that this machine lacks leaves the others their counts."""
        got = self.values("-e", "{page-faults,cycles}", self.work)
        self.expect(got["page-faults"], f"a group: {got}")

    def forms(self):
        csv = self.stat("-x,", "-e", "task-clock,page-faults", self.work).stderr.splitlines()
        self.expect(len(csv) == 2 and all(line.count(",") == 6 for line in csv), f"CSV: {csv}")
        repeated = self.stat("-x,", "-r", "3", "-e", "task-clock", self.work).stderr.splitlines()
        self.expect(len(repeated) == 1 and re.match(r"[\d.]+,msec,task-clock(:u)?,[\d.]+%,\d+,100.00,", repeated[0]), str(repeated))
        text = self.stat("-r", "3", "-e", "page-faults", self.work).stderr
        self.expect("(3 runs)" in text and "+-" in text, f"means: {text}")
        text = self.stat("-n", "true").stderr
        self.expect("seconds time elapsed" in text and "task-clock" not in text, f"null: {text}")
        self.expect(self.stat("--quiet", "true").stderr == "", "quiet")
        for words in (["--metric-no-group"], ["--metric-no-merge"], ["--metric-no-threshold"], ["--affinity"], ["--no-affinity"]):
            lines = self.stat("-x,", *words, "-M", "IPC,frequency", "true").stderr.splitlines()
            names = [line.split(",")[2].removesuffix(":u") for line in lines]
            self.expect(names == ["cycles", "instructions", "task-clock", "cycles"], f"{words}: {lines}")
        out = os.path.join(self.folder, "out.txt")
        for i in (1, 2):
            self.stat("-o", out, "--append", "-e", "page-faults", "true")
            with open(out, encoding="utf-8") as file:
                text = file.read()
            self.expect(text.count("# started on ") == i and text.count("page-faults") == i, f"append: {text}")
        self.stat("-j", "-o", out, "-e", "page-faults,task-clock", "true")
        with open(out, encoding="utf-8") as file:
            events = [json.loads(line)["event"].removesuffix(":u") for line in file]
        self.expect(events == ["page-faults", "task-clock"], f"JSON in a file: {events}")
        began = time.monotonic_ns()
        text = self.stat("-D", "300", "-e", "duration_time", "sleep", "0.5").stderr
        ns, shown = int(re.search(r"(\d+) ns   duration_time", text)[1]), float(re.search(r"([\d.]+) seconds time elapsed", text)[1])
        self.expect(ns == round(shown * 1e9) and 0 < ns <= time.monotonic_ns() - began - 300e6, f"after a delay: {text}")
        # nor does one begin before it
        rounds = self.stat("-D", "300", "-I", "200", "-x,", "-e", "duration_time", "sleep", "0.8").stderr.splitlines()
        rounds = [line.split(",") for line in rounds if "duration_time" in line]
        times = [0, *(round(float(row[0]) * 1e9) for row in rounds)]
        self.expect([int(row[1]) for row in rounds] == [end - begin for begin, end in zip(times, times[1:])] and
                    times == sorted(times), f"intervals after a delay: {rounds}")
        rounds = self.stat("-I", "20", "-e", "task-clock", self.work, 0, 0, 0, 90).stderr.splitlines()
        self.expect(rounds[0].startswith("#           time") and len(rounds) >= 4, f"intervals: {rounds}")
        times = [float(line.split()[0]) for line in rounds if line[0] != "#"]
        self.expect(times == sorted(times), f"intervals: {times}")
        both = self.stat("-I", "20", "--summary", "-x,", "-e", "page-faults", self.work, 0, 500, 0, 50).stderr.splitlines()
        parts = sum(float(line.split(",")[1]) for line in both[:-1] if line.split(",")[1][0] != "<")
        self.expect(both[-1].startswith("         summary,") and float(both[-1].split(",")[1]) == parts, f"summary: {both}")

    def places(self):
        """CPUs that share a cache, or are in a cluster, as sysfs says it; the file has the way that was asked for."""
        if not self.may("-a", "-e", "cpu-clock"):
            print("skipped: the kernel does not let this user count all")
            return
        cpus = [int(c[3:]) for c in os.listdir("/sys/devices/system/cpu") if re.fullmatch(r"cpu\d+", c)]

        def reads(cpu, name, none):
            path = f"/sys/devices/system/cpu/cpu{cpu}/{name}"
            if not os.path.exists(path):
                return none
            with open(path, encoding="ascii") as file:
                return re.match(r"-?\d+", file.read())[0]
        for level in ("1", "2"):
            shared = [int(reads(c, f"cache/index{i}/shared_cpu_list", "-1")) for c in cpus for i in range(9)
                      if reads(c, f"cache/index{i}/level", "") == level]
            lines = self.stat("-x,", "-a", f"--per-cache=L{level}", "-e", "cpu-clock", "true").stderr.splitlines()
            names = {re.match(r"S\d+-D\d+-L(\d)-ID(-?\d+),", line).groups() for line in lines}
            self.expect(names == {(level, str(i)) for i in shared or [-1]}, f"caches of level {level}: {shared} {lines}")
        clusters = {max(0, int(reads(c, "topology/cluster_id", "0"))) for c in cpus}
        lines = self.stat("-j", "-a", "--per-cluster", "-e", "cpu-clock", "true").stderr.splitlines()
        found = {int(json.loads(line)["cluster"].partition("CLS")[2]) for line in lines}
        self.expect(found == clusters, f"clusters {clusters}: {lines}")
        path = os.path.join(self.folder, "places.data")
        for way in ("--per-cache=L2", "--per-cache", "--per-cluster", "--per-core"):
            self.stat("record", "-o", path, "-a", way, "-e", "cpu-clock", "true")
            plain, given = (common.run([self.perfdata, "stat", "-x,", "report", "-i", path, *more]).stdout for more in ([], [way]))
            self.expect(plain == given and plain, f"recorded {way}: {plain!r} {given!r}")

    def cgroups(self):
        """A cgroup is that of the events in front of it."""
        if self.stat("-a", "-e", "cs", "-G", "/", "true").returncode:
            print("skipped: cgroups cannot be counted here")
            return
        for words, wanted in ((["-e", "cs,faults", "-G", "/", "-e", "cs"], ["/", "/", ""]),
                              (["-e", "cs,faults,cs", "-G", ",/"], ["", "/", ""]),
                              (["-e", "cs", "-G", "/", "-e", "cs", "-G", "/"], ["/", "/"]), (["-G", "/"], ["/"] * 8)):
            lines = self.stat("-x,", "-a", *words, "true").stderr.splitlines()
            self.expect([line.split(",")[3] for line in lines] == wanted, f"{words}: {lines}")

    def tools(self):
        """Times of the whole run, without a counter."""
        got = self.values("-e", "duration_time,user_time,system_time,page-faults", self.work, 0, 0, 30, 60)
        # the kernel may share out what a command used by ticks
        used = [got["user_time"], got["system_time"]]
        self.expect(got["duration_time"] >= 90e6 and None not in used and sum(used) > 0 and got["page-faults"], f"times: {got}")
        got = self.values("-e", "{duration_time,page-faults,user_time}", self.work)
        self.expect(got["duration_time"] and got["page-faults"] and got["user_time"] is not None, f"in a group: {got}")
        got = self.values("-p", os.getpid(), "-e", "user_time,duration_time", "--timeout", "20")
        self.expect(got["user_time"] is None and got["duration_time"] >= 20e6, f"without a command: {got}")
        text = self.stat("-e", "duration_time", self.work).stderr
        ns = int(re.search(r"(\d+) ns   duration_time", text)[1])
        self.expect(f"{ns / 1e9:.9f} seconds time elapsed" in text, f"the time is not that of the end: {text}")
        rounds = self.stat("-I", "20", "-x,", "-e", "duration_time", self.work, 0, 0, 0, 90).stderr.splitlines()
        times = [int(line.split(",")[1]) for line in rounds]
        self.expect(abs(sum(times) - float(rounds[-1].split(",")[0]) * 1e9) < 1000, f"rounds: {rounds}")
        path = os.path.join(self.folder, "times.data")
        self.stat("record", "-o", path, "-e", "duration_time,user_time", self.work, 0, 0, 0, 20)
        lines = common.run([self.perfdata, "stat", "-x,", "report", "-i", path]).stdout.splitlines()
        self.expect([line.split(",")[2].removesuffix(":u") for line in lines] == ["duration_time", "user_time"] and
                    int(lines[0].split(",")[0]) > 20e6 and lines[1][0].isdigit(), f"out of a file: {lines}")
        if self.may("-a", "-e", "cpu-clock"):
            for words in (["stat", "-x,", "-a", "-A", "-e", "duration_time,cpu-clock"],
                          ["stat", "-x,", "-a", "--per-socket", "-e", "duration_time,cpu-clock"]):
                lines = common.run([self.perfdata, *words, "sleep", "0.02"]).stderr.splitlines()
                self.expect(sum("duration_time" in line for line in lines) == 1 and "not counted" not in str(lines), f"{words}: {lines}")
        listed = common.run([self.perfdata, "list", "tool"]).stdout
        self.expect(re.findall(r"\w+_time", listed) == ["duration_time", "user_time", "system_time"], f"list: {listed}")

    def metric_only(self):
        result = self.stat("--metric-only", "-e", "task-clock", "true")
        self.expect(result.returncode == 0 and "no metric can be computed" in result.stderr and "seconds time elapsed" in result.stderr,
                    f"without a metric: {result}")
        for option, event in (("--topdown", "slots"), ("-T", "cpu/tx-start/")):
            result = self.stat(option, "-a", "true")
            if result.returncode:
                self.expect(result.returncode == 2 and event in result.stderr and result.stderr.count("\n") == 1, f"{option}: {result}")
            else:
                self.expect("time elapsed" in result.stderr, f"{option}: {result}")

    def ends(self):
        start = time.monotonic()
        result = self.stat("--timeout", "100", "-e", "task-clock", "sleep", "20")
        self.expect(time.monotonic() - start < 10 and "seconds time elapsed" in result.stderr, f"timeout: {result}")
        for words in (["sleep", "20"], ["-p", os.getpid()], ["-I", "50", "sleep", "20"]):
            process = subprocess.Popen([self.perfdata, "stat", "-e", "task-clock", *map(str, words)], stderr=subprocess.PIPE,
                                       text=True)
            time.sleep(0.4)
            process.send_signal(signal.SIGINT)
            said = process.communicate(timeout=20)[1]
            self.expect(process.returncode == 130 and "task-clock" in said, f"SIGINT {words}: {process.returncode} {said}")
        made = os.path.join(self.folder, "made")
        result = self.stat("--pre", "false", "-e", "task-clock", "touch", made)
        self.expect(result.returncode == 127 and "'false' failed" in result.stderr and not os.path.exists(made), f"--pre: {result}")
        short = subprocess.Popen(["sleep", "0.3"])
        reaper = self.stat("-p", short.pid, "-e", "page-faults", "--timeout", "10000") if short.poll() is None else None
        short.wait()
        self.expect(reaper is None or reaper.returncode == 0, f"a process that ends: {reaper}")

    def control(self):
        fifo = os.path.join(self.folder, "control")
        os.mkfifo(fifo)
        process = subprocess.Popen([self.perfdata, "stat", "-x,", "-D", "-1", "--control", f"fifo:{fifo}", "-e", "task-clock",
                                    self.work, "0", "0", "0", "400"], stderr=subprocess.PIPE, text=True)
        time.sleep(0.15)
        with open(fifo, "w", encoding="utf-8") as file:
            file.write("enable\n")
        said = process.communicate(timeout=20)[1]
        self.expect(re.search(r"^[\d.]+,msec,task-clock", said, re.M), f"enabled by control: {said}")

    def file(self):
        path = os.path.join(self.folder, "counts.data")
        for words in (["-e", "task-clock,page-faults"], ["-I", "20", "-e", "task-clock"], []):
            result = self.stat("record", "-o", path, *words, self.work, 0, 100, 0, 50)
            self.expect(result.returncode == 0, f"record {words}: {result.stderr}")
            check = common.run([self.perfdata, "check", path])
            self.expect(check.returncode == 0 and "no problem" in check.stdout, f"record {words}: {check.stdout}")
            report = common.run([self.perfdata, "stat", "-x,", "report", "-i", path]).stdout.splitlines()
            self.expect(report and "task-clock" in report[0], f"report {words}: {report}")
            self.expect("STAT" in common.run([self.perfdata, "dump", path]).stdout, f"dump {words}")
        piped = subprocess.run([self.perfdata, "stat", "record", "-o", "-", "-e", "page-faults", self.work, "0", "100"],
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
        result = subprocess.run([self.perfdata, "stat", "report", "-i", "-"], input=piped.stdout, stdout=subprocess.PIPE, check=False)
        self.expect(b"page-faults" in result.stdout, f"pipe: {result.stdout}")

    def without_rights(self):
        """What users may not count is said as by record, and what they may is counted."""
        def become():
            os.setgroups([])
            os.setgid(65534)
            os.setuid(65534)

        if os.getuid() != 0:
            print("skipped: another user can be had by root only")
            return
        with open("/proc/sys/kernel/perf_event_paranoid", encoding="utf-8") as file:
            paranoid = int(file.read())
        if paranoid != 2:
            print(f"skipped: kernel.perf_event_paranoid is {paranoid}, not 2")
            return
        # that user may not enter the folder of the build, perhaps
        program = shutil.copy(self.perfdata, self.folder)
        own = common.run([program, "stat", "-e", "task-clock", "true"], preexec_fn=become, cwd="/")
        self.expect(own.returncode == 0 and "task-clock:u" in own.stderr and "only user space" in own.stderr, f"own: {own}")
        every = common.run([program, "stat", "-a", "-e", "cpu-clock", "true"], preexec_fn=become, cwd="/")
        self.expect(every.returncode == 3 and "kernel.perf_event_paranoid is 2" in every.stderr, f"-a: {every}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("perfdata")
    parser.add_argument("--compiler", default="cc")
    parser.add_argument("--rewrite", action="store_true")
    arguments = parser.parse_args()
    perfdata = os.path.abspath(arguments.perfdata)
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        text = printed(perfdata, folder)
        if arguments.rewrite:
            with open(GOLDEN, "w", encoding="utf-8") as file:
                file.write(text)
        with open(GOLDEN, encoding="utf-8") as file:
            golden = file.read()
        live = Live(perfdata, folder, common.build_work(folder, arguments.compiler))
        for one, other in zip(golden.split("== "), text.split("== ")):
            live.expect(one == other, f"== {other}\n   in place of\n{one}")
        live.expect(golden == text, "all that golden.txt has")
        damaged(perfdata, folder, live)
        if live.may("-e", "task-clock"):
            for test in (live.statuses, live.counts, live.group_without, live.forms, live.places, live.cgroups, live.tools, live.metric_only, live.ends, live.control, live.file,
                         live.without_rights):
                test()
        else:
            print("skipped: the kernel does not let this user count")
        return live.end("stat")


if __name__ == "__main__":
    sys.exit(main())
