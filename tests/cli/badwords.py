#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Bad words: every option of every command with values that it cannot have, unknown keys, recordings of another architecture, and wrong
lines and values in ~/.perfconfig.

usage: badwords.py PERFDATA DATA [--verbose]

Each ends in time, without a signal or a report of a sanitizer, and says something if its exit status is not 0 (doctor has findings). Options that take no
value and have one are named in what is said. A table in the end. Exit status: 0 all is so, 1 not.
"""

import collections
import os
import re
import shutil
import subprocess
import sys
import tempfile

OPTION = re.compile(r"^ {2,6}(?:-(\S), )?--([\w-]+)(=|\[=)?", re.MULTILINE)
VALUES = ("", "-1", "x", "99999999999999999999999", "1,,2", "\x01\xff", "%n%s", "../../no/where", "a:b:c=d{", "0x", "1.5.5")
THOROUGH = 1  # commands for each option
# They wait for somebody, or change what is not theirs.
LEFT_OUT = {"daemon", "open", "top", "view", "config", "help", "store"}
CONFIGURATIONS = {
    "no section": "key = 1\n", "no end": "[report\nkey = 1\n", "no value": "[report]\n=\n", "binary": "\x00\x01\x02[\x7f]\n", "deep": "[" * 5000,
    "long": "[report]\nsort_order = " + "x" * 100000 + "\n", "quotes": '[a "b]\nc = "d\n', "escapes": "[report]\nx = \\\\\\", "empty": "", "only comment": "# x",
    "wrong values": "[report]\ngroup = perhaps\npercent-limit = x\nqueue-size = -5\nchildren = 7\nsort_order = bogus\n[top]\nchildren = x\ncall-graph = 9\n"
                    "[call-graph]\nrecord-mode = dwarf,x\nprint-type = 7\nprint-limit = x\nthreshold = x\norder = sideways\nsort-key = x\n[core]\nproc-map-timeout = x\n"
                    "[buildid]\ndir = \n[record]\nbuild-id = perhaps\ncompression-level = x\n[stat]\nbig-num = x\n[colors]\ntop = red\n[diff]\norder = x\ncompute = x\n"
                    "[annotate]\nhide_src_code = x\nobjdump = \n[script]\nx = y\n[trace]\nadd_events = x\n[kmem]\ndefault = x\n[alias]\nx = y\n",
}


class Checks:
    def __init__(self, program, folder):
        self.program, self.folder = program, folder
        self.counts = collections.defaultdict(collections.Counter)
        self.wrong = []
        self.seen = collections.Counter()  # by option

    def values(self, name):
        """All for the first commands that have an option, then one in turn: most have it from the same table."""
        self.seen[name] += 1
        return VALUES if self.seen[name] <= THOROUGH else (VALUES[self.seen[name] % len(VALUES)],)

    def run(self, words, config=""):
        home = os.path.join(self.folder, "home")
        os.makedirs(home, exist_ok=True)
        with open(os.path.join(home, ".perfconfig"), "w", encoding="latin-1") as file:
            file.write(config)
        env = {**os.environ, "HOME": home, "PAGER": "cat"}
        env.pop("PERF_CONFIG", None)
        try:
            done = subprocess.run([self.program, *words], env=env, cwd=self.folder, stdin=subprocess.DEVNULL, capture_output=True, timeout=120, check=False)
        except subprocess.TimeoutExpired:
            return None, "it hangs"
        said = done.stderr.decode("utf-8", "replace")
        return done.returncode, said or ("findings" if done.returncode == 1 and done.stdout.strip() else "")

    def check(self, command, kind, words, config="", named=None):
        """named: what a message has to have in it, if there is one about the words."""
        code, said = self.run(words, config)
        self.counts[command][kind] += 1
        if code is None or code < 0 or code > 127 or "Sanitizer" in said or "runtime error" in said:
            self.wrong.append(f"{words}: exit status {code}: {said[-300:]!r}")
        elif code and not said.strip():
            self.wrong.append(f"{words}: exit status {code} without a word")
        elif code == 2 and named and named not in said:
            self.wrong.append(f"{words}: {said[:200]!r} does not name {named}")

    def options(self, command, recording):
        """Every option that takes a value."""
        for _, name, value in OPTION.findall(self.help(command)):
            if not value and self.values(f"{name}=") != VALUES:
                continue
            if not value:
                self.check(command, "values for options without", [command, f"--{name}=x", "-i", recording], named=f"--{name}")
                continue
            for bad in self.values(name):
                self.check(command, "values", [command, f"--{name}={bad}", *(["-i", recording] if command != "record" else ["--", "true"])])

    def help(self, command):
        return subprocess.run([self.program, command, "--help"], capture_output=True, text=True, check=False).stdout


def commands(program):
    text = subprocess.run([program, "help"], capture_output=True, text=True, check=False).stdout
    return [name for name in re.findall(r"^  ([a-z][\w-]*) {2,}", text, re.MULTILINE) if name not in LEFT_OUT]


def check_keys(checks, recording):
    for command, option in (("report", "-s"), ("report", "-F"), ("diff", "-s"), ("script", "-F"), ("kmem-stat", "-s"), ("kwork-report", "-s"), ("kwork-top", "-s"), ("sched-latency", "-s"),
                            ("lock-contention", "-k"), ("lock-contention", "-F"), ("lock-report", "-F"), ("c2c-report", "-c"), ("c2c-report", "-d"), ("mem-report", "-s")):
        for key in ("bogus", "comm,bogus", "", ",", "comm," * 100 + "comm", "{comm", "comm}", "%1.", "a.b/c", "+", "-", "bogus\x1b[31m"):
            checks.check(command, "unknown keys", [command, option, key, "-i", recording])


def main():
    program, data = (os.path.abspath(word) for word in sys.argv[1:3])
    with tempfile.TemporaryDirectory(prefix="perfdata-badwords-") as folder:
        checks = Checks(program, folder)
        # copies: archives are written beside their recording
        recordings = [shutil.copy(os.path.join(data, name), folder) for name in sorted(os.listdir(data)) if name.endswith(".data")]
        hot = os.path.join(folder, "hot.data")
        elf = os.path.join(folder, "other.elf")
        with open(elf, "wb") as file:  # s390x, big endian, and nothing in it
            file.write(b"\x7fELF\x02\x02\x01" + bytes(9) + b"\x00\x02\x00\x16" + b"\xff" * 44)
        for command in commands(program):
            checks.options(command, hot)
            if "--verbose" in sys.argv:
                print(command, dict(checks.counts[command]), len(checks.wrong), flush=True)
            for name, text in CONFIGURATIONS.items():
                checks.check(command, "configurations", [command, *(["-o", "out.data", "true"] if command == "record" else ["-i", hot])], text)
            for one in (*recordings[:3], elf, "/dev/null", folder):
                checks.check(command, "other files", [command, "-i", one] if command != "record" else [command, "-o", "out.data", "-e", one, "true"])
        check_keys(checks, hot)
        print("| command | checked |\n| --- | --- |")
        for command, counts in checks.counts.items():
            print(f"| {command} | {', '.join(f'{count} {kind}' for kind, count in counts.items())} |")
        print(f"{sum(sum(counts.values()) for counts in checks.counts.values())} checked, {len(checks.wrong)} wrong")
        print("\n".join(checks.wrong[:60]))
    return 1 if checks.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
