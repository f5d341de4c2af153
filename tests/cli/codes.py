#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Exit codes: each that the help of a command lists can be had, and the golden outputs beside this file show no other.

usage: codes.py PERFDATA DATA

DATA is the folder of recordings. What needs events of the kernel is left out where none can be opened.
Exit status: 0 all is so, 1 not.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
SIGNALS = range(129, 160)

# What has every command: help, an option that there is not, and nowhere to write to.
USUAL = ((0, "--help"), (2, "--no-such-option"))
# Commands, and by code the words behind their name. good, bad (damaged), empty (no samples) ... are files that make_files makes; no is
# not there, and out is free.
WORK = {1: "badwork", 3: "no", 6: "empty"}
LOCKS = {1: "badlocks", 3: "no", 6: "empty"}
SWITCHES = {1: "badswitches", 3: "no", 6: "empty"}
READS = {1: "bad", 3: "no"}
CHOOSES = {**READS, 5: "good --where period<0", 6: "empty"}
KEEPS = {1: "-o out bad", 3: "-o out no", 4: "-o no/out good", 6: "-o out empty"}
WAYS = {
    "record": {4: "-o no/out -e cpu-clock -- true", 3: "-o out -e cpu-clock -p 4194304", 127: "-o out -e cpu-clock -- ./no",
               128: "-o out -e cpu-clock -- sh -c kill\\ -9\\ $$"},
    "stat": {1: "report -i badcounts", 3: "report -i no", 4: "-e cpu-clock -o no/out -- true", 5: "report -i good",
             127: "-e cpu-clock -- ./no", 128: "-e cpu-clock -- sh -c kill\\ -9\\ $$"},
    "top": {1: "--input bad", 3: "--input no"},
    "daemon": {3: "--base good", 4: "start --base no", 5: "--base ."},
    "list": {5: "no-such-event-anywhere"},
    "probe": {3: "-x no -F", 5: "-x good.o -D nothing"},
    "info": READS,
    "report": CHOOSES,
    "script": {**CHOOSES, 5: "good --event nothing"},
    "folded": CHOOSES,
    "flame": {**CHOOSES, 4: "-o no/out good"},
    "view": {1: "-o out bad", 3: "-o out no", 4: "-o no/out good", 5: "-o out good --where period<0", 6: "-o out empty",
             127: "--no-browser --live -i out -- -e cpu-clock ./no"},
    "doctor": {**READS, 6: "empty"},
    "evlist": {**READS, 5: "nothing"},
    "buildid-list": {**READS, 5: "nothing"},
    "buildid-cache": {1: "-M bad", 3: "-M no", 5: "-r good.o"},
    "config": {3: "--user", 5: "no.such-key"},
    "kallsyms": {3: "--kallsyms no x", 5: "--kallsyms symbols no-such-name"},
    "annotate": {1: "-i bad", 3: "-i no", 5: "-i good --where period<0", 6: "-i empty"},
    "diff": {1: "good bad", 3: "good no", 5: "good good --where period<0", 6: "good empty", 7: "good good --fail-on change<1"},
    "sched-timehist": SWITCHES,
    "sched-latency": SWITCHES,
    "sched-map": SWITCHES,
    "lock-contention": LOCKS,
    "lock-report": LOCKS,
    "lock-info": LOCKS,
    "kmem-stat": {1: "badslabs", 3: "no", 6: "empty"},
    "mem-report": CHOOSES,
    "c2c-report": {1: "bad", 3: "no"},
    "kwork-report": WORK,
    "kwork-latency": WORK,
    "kwork-timehist": WORK,
    "kwork-top": WORK,
    "timechart": {1: "-o - badswitches", 3: "no", 4: "-o no/out switches", 6: "empty"},
    "trace": {1: "-s badcalls", 3: "-i no", 6: "-s empty", 127: "no"},
    "waiting": {1: "badwakeups", 3: "no", 6: "empty"},
    "profile": {1: "save -o out bad", 3: "save -o out no", 4: "save -o no/out good", 5: "save -o out good --where period<0",
                6: "save -o out empty"},
    "sql": {1: "bad .tables", 3: "no .tables", 4: "good -o no/out", 5: "good --event nothing .tables"},
    "store": {1: "add out bad", 3: "ls no", 4: "add no/out good", 5: "get storedb --label a=b -o out"},
    "export": {1: "--to csv bad", 3: "--to csv no", 4: "--to csv -o no/out good", 5: "--to csv good --where period<0", 6: "--to csv empty"},
    "open": {1: "--no-start bad", 3: "no", 4: "--no-start -o no/out good", 5: "--no-start good --where period<0", 6: "--no-start empty"},
    "import": {1: "--from quipper-text -o out large.txt", 3: "--from folded -o out no", 4: "--from folded -o no/out good.folded",
               6: "--from folded -o out empty.folded"},
    "data": {1: "convert --to-json out bad", 3: "convert --to-json out no", 4: "convert --to-json no/out good",
             6: "convert --to-json out empty"},
    "dump": {**READS, 5: "--record 100000 good"},
    "check": READS,
    "check-feature": {5: "no-such-feature"},
    "explain": {5: "nothing-has-this-name"},
    "convert": {1: "-o out bad", 3: "-o out no", 4: "-o no/out good"},
    "repair": {1: "-o out bad", 3: "-o out no", 4: "-o no/out good", 5: "-o out nothing"},
    "text": READS,
    "assemble": {3: "-o out good", 4: "-o no/out good.txt"},
    "inject": {1: "-o out bad", 3: "-o out no", 4: "-o no/out good"},
    "cut": {**{code: f"--time 0%-100% {line}" for code, line in KEEPS.items()}, 5: "--time 1,2 -o out good", 6: "--time 1,2 -o out empty"},
    "filter": {**{code: f"--where period>0 {line}" for code, line in KEEPS.items()}, 5: "--where period<0 -o out good"},
    "sample": {1: "1/2 -o out bad", 3: "1/2 -o out no", 4: "1/2 -o no/out good", 5: "1/1000000 -o out good",
               6: "1/2 -o out empty"},
    "head": {**{code: f"-n 1000 {line}" for code, line in KEEPS.items()}, 5: "--seconds 1 -o out timeless"},
    "tail": {**{code: f"-n 1000 {line}" for code, line in KEEPS.items()}, 5: "--seconds 1 -o out timeless"},
    "merge": {1: "-o out good bad", 3: "-o out no", 4: "-o no/out good"},
    "split": {1: "--by pid -o out bad", 3: "--by pid -o out no", 4: "--by pid -o no/out/x good", 5: "--by cgroup -o out good",
              6: "--by pid -o out empty"},
    "scrub": {1: "-o out bad", 3: "-o out no", 4: "-o no/out good"},
    "pack": {1: "--no-symbols -o out bad", 3: "--no-symbols -o out no", 4: "--no-symbols -o no/out good",
             5: "--no-symbols -o out unfit"},
    "archive": {1: "--no-symbols bad", 3: "--no-symbols no", 5: "--no-symbols unfit"},
    "unpack": {1: "-o out badtar", 3: "-o out no", 4: "-o no/out tar"},
}
NEEDS_EVENTS = {("record", 127), ("record", 128), ("record", 4), ("view", 127), ("stat", 127), ("stat", 128), ("stat", 4)}


def traced(system, event, field):
    """Samples of a tracepoint, as text."""
    form = f"name: {event}\\nID: 7\\nformat:\\n\\tfield:int {field};\\toffset:8;\\tsize:4;\\tsigned:1;\\n\\nprint fmt: \\\"x\\\"\\n"
    return (f'header form: pipe\nevent {{name: "{system}:{event}", type: 2, config: 7, sample_type: TID|TIME|CPU|RAW, sample_period: 1}}\n'
            'feature TRACING_DATA {magic: x"17084474726163696e67", version: "0.6", long_size: 8, page_size: 4096, header_page_name: '
            '"header_page", header_page: "\\n", header_event_name: "header_event", header_event: "\\n", ftrace_formats: [], systems: '
            f'[{{name: "{system}", formats: [{{data: "{form}"}}]}}], kallsyms: "", printk_formats: "", saved_cmdlines: ""}}\n'
            + 3 * "SAMPLE pid: 1, tid: 1, time_ns: 5\n").encode()


class Codes:
    def __init__(self, perfdata, data, folder):
        self.perfdata, self.folder, self.wrong = perfdata, folder, 0
        self.make_files(data)
        events = self.run("record", "-o out -e cpu-clock -- true")
        self.has_events = events == 0

    def path(self, name):
        return os.path.join(self.folder, name)

    def put(self, name, content):
        with open(self.path(name), "wb") as f:
            f.write(content)

    def make_files(self, data):
        def read(name):
            with open(os.path.join(data, name), "rb") as f:
                return f.read()

        good, counts = read("hot.data"), read("hot-stat.data")
        self.put("good", good)
        self.put("bad", good[:5000])
        self.put("badcounts", counts[: int.from_bytes(counts[0x28:0x30], "little") + 300])
        self.put("nothing", b"PERFILE2" + (16).to_bytes(8, "little"))
        self.put("empty", self.output("filter", "-q --prune --where type==COMM -o out good"))
        self.put("good.txt", self.output("text", "good", standard=True))
        self.put("timeless.txt", b"event {type: 1, sample_type: TID, sample_period: 1}\nSAMPLE pid: 1, tid: 1\n")
        self.put("timeless", self.output("assemble", "-o out timeless.txt"))
        unfit = b"event {type: 1, sample_type: IP|CALLCHAIN, sample_period: 1}\nraw type: 9, body: x\"0000000000000000ffffffff00000000\"\n"
        self.put("unfit.txt", unfit)
        self.put("unfit", self.output("assemble", "-o out unfit.txt"))
        self.put("switches", read("hot-trace.data"))
        self.put("badswitches", self.output("convert", "--to pipe -o out switches")[:-10])
        for name, system, event, field in (("badcalls", "syscalls", "sys_enter_x", "__syscall_nr"), ("badwakeups", "sched", "sched_waking", "pid"),
                                           ("badlocks", "lock", "contention_end", "lock_addr"), ("badslabs", "kmem", "kfree", "ptr"),
                                           ("badwork", "irq", "softirq_exit", "vec")):
            self.put("traced.txt", traced(system, event, field))
            self.put(name, self.output("assemble", "-o out traced.txt")[:-10])
        os.makedirs(self.path("home/.perfconfig"))
        self.put("good.folded", b"a;b 1\n")
        text = self.output("export", "-q --to quipper-text -o out good")
        self.put("large.txt", text.replace(b'"perf-exec"', b'"' + b"x" * 70000 + b'"'))
        self.put("empty.folded", b"")
        self.put("storedb", self.output("store", "add out good"))
        self.put("symbols", b"ffffffff81000000 T _text\nffffffff81000100 T start_kernel\n")
        subprocess.run([sys.executable, os.path.join(os.path.dirname(os.path.abspath(__file__)), "object.py"), self.path("good.o"), "0123"],
                       check=True)
        self.put("tar", self.output("pack", "-q --no-symbols -o out good"))
        with open(self.path("tar"), "rb") as f:
            tar = bytearray(f.read())
        tar[-1500:] = bytes(1500 - 512) + b"\1" * 512
        self.put("badtar", tar[: len(tar) // 2])

    def start(self, command, words):
        line = [word.replace("\\\0", " ") for word in words.replace("\\ ", "\\\0").split()]
        for name in ("out",):
            shutil.rmtree(self.path(name), ignore_errors=True)
            if os.path.lexists(self.path(name)):
                os.unlink(self.path(name))
        return subprocess.run([self.perfdata, command, *line], cwd=self.folder, stdin=subprocess.DEVNULL, capture_output=True,
                              check=False, env={**os.environ, "HOME": self.path("home") if words == "--user" else self.folder, "LC_ALL": "C"})

    def output(self, command, words, standard=False):
        result = self.start(command, words)
        if standard:
            return result.stdout
        with open(self.path("out"), "rb") as f:
            return f.read()

    def run(self, command, words):
        code = self.start(command, words).returncode
        return 128 if code in SIGNALS else code

    def complain(self, text):
        self.wrong += 1
        print(text)

    def documented(self, command):
        found = re.search(r"^exit codes: (.*) \(", self.start("help", command).stdout.decode(), re.M)
        return {int(number.split("+")[0]) for number in found[1].split(", ")} if found else set()

    def try_all(self, command):
        """Each documented code, by a command line; 4 where nothing else is said by a full device."""
        ways = {**dict(USUAL), **WAYS.get(command, {})}
        documented = self.documented(command)
        if set(ways) - documented:
            self.complain(f"{command}: help does not know {sorted(set(ways) - documented)}")
        for code in sorted(documented):
            if (command, code) in NEEDS_EVENTS and not self.has_events:
                continue
            if code == 4 and code not in ways:
                got = self.run_full(command)
            elif code not in ways:
                self.complain(f"{command}: nobody knows how to get {code}")
                continue
            else:
                got = self.run(command, ways[code])
            if got != code:
                self.complain(f"{command} {ways.get(code, '--help >/dev/full')}: {got} in place of {code}")

    def run_full(self, command):
        with open("/dev/full", "w") as full:
            return subprocess.run([self.perfdata, command, "--help"], stdout=full, stderr=subprocess.DEVNULL,
                                  check=False).returncode

    def hold_golden(self, path, documented):
        """Codes that the other tests of this folder expect."""
        with open(path, encoding="utf-8", errors="replace") as f:
            lines = f.read().split("\n")
        command = None
        for line in lines:
            if line.startswith("$ "):
                words = line.split()
                known = words[1] == "perfdata" and len(words) > 2 and words[2] in documented and not re.search(r"[|;&]", line)
                command = words[2] if known else None
            found = re.match(r"exit (\d+)$", line)
            # a signal ends any command
            if found and command and int(found[1]) < 128 and int(found[1]) not in documented[command]:
                self.complain(f"{os.path.basename(path)}: {command} ends with {found[1]}")


def main():
    perfdata, data = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
    with tempfile.TemporaryDirectory(prefix="codes-") as folder:
        codes = Codes(perfdata, data, folder)
        text = codes.start("help", "").stdout.decode()
        commands = [name for name in re.findall(r"^  ([a-z0-9-]+) +\S", text, re.M) if codes.documented(name)]
        for command in commands:
            codes.try_all(command)
        if missing := set(WAYS) - set(commands):
            codes.complain(f"not in help: {sorted(missing)}")
        documented = {command: codes.documented(command) for command in commands}
        for name in sorted(os.listdir(HERE)):
            if name.endswith(".out"):
                codes.hold_golden(os.path.join(HERE, name), documented)
        print(f"{len(commands)} commands, {codes.wrong} things went wrong")
        return 1 if codes.wrong or not commands else 0


if __name__ == "__main__":
    sys.exit(main())
