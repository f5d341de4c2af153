#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs a static perfdata in a root in which nothing else is.

usage: static.py PERFDATA SOURCE

What it prints of a recording there, compressed in each way, is what it prints here; it finds the names of a C++ program
and of a user; it records. Exit status: 0 all of this, 1 not, 77 where no other root may be had.
"""

import bz2
import gzip
import lzma
import os
import re
import shutil
import subprocess
import sys
import tempfile

SKIPPED = 77
PROGRAM = """namespace deep { struct Thing { int value; int work(int, const char *) const; }; }
int deep::Thing::work(int n, const char *) const { return n + value; }
// This name keeps some versions of the demangler busy for ever: its thread is stopped.
extern "C" int endless() asm("_ZclDTsrclDv4_fDTD0rs");
int endless() { return 1; }
int main() { return deep::Thing{0}.work(0, ""); }
"""
NAMES = {"_ZNK4deep5Thing4work": "deep::Thing::work", "_ZclDTsrclDv4_fDTD0rs": "_ZclDTsrclDv4_fDTD0rs"}
RECORDING = """event {name: "cpu-clock" ids: [7] type: software sample_period: 1000 sample_type: IP|TID|TIME flags: mmap|comm}
MMAP misc: user, pid: 42, tid: 42, addr: 0x400000, len: 0x100000, filename: "/program"
"""
SAMPLE = "SAMPLE misc: user, ip: 0x{ip}, pid: 42, tid: 42, time_ns: 1.0\n"
COMMANDS = [
    ["version"], ["help"], ["explain", "MMAP2"], ["info", "hot.data"], ["script", "--no-symbols", "hot.data"],
    ["report", "--no-symbols", "hot.data"], ["folded", "--no-symbols", "--threads", "2", "hot.data"],
    ["flame", "--no-symbols", "-o", "-", "hot.data"], ["dump", "--json", "hot-zstd.data"],
    ["check", "hot.data.gz"], ["check", "hot.data.xz"], ["check", "hot.data.bz2"], ["dump", "--stats", "hot.data.gz"],
]

wrong = []


def complain(text):
    wrong.append(text)
    print(text)


def run(command, **more):
    environment = {"LC_ALL": "C", "TZ": "UTC", "HOME": "/"}
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False, env=environment, **more)


class Root:
    """A folder that is the root of the program in it."""

    def __init__(self, folder, program):
        self.folder = folder
        self.words = ([] if os.geteuid() == 0 else ["/usr/bin/unshare", "-r"]) + [shutil.which("chroot") or "/usr/sbin/chroot", folder]
        shutil.copy(program, os.path.join(folder, "perfdata"))

    def write(self, name, content):
        with open(os.path.join(self.folder, name), "wb") as f:
            f.write(content)

    def perfdata(self, words):
        return run([*self.words, "/perfdata", *words])

    def same_as_here(self, words):
        here, there = run([os.path.join(self.folder, "perfdata"), *words], cwd=self.folder), self.perfdata(words)
        if not there.stdout or (here.returncode, here.stdout) != (there.returncode, there.stdout):
            complain(f"perfdata {' '.join(words)}: not as here: {there.returncode} {there.stderr.decode()}")


def fill(root, data):
    for name in ["hot.data", "hot-zstd.data"]:
        shutil.copy(os.path.join(data, name), root.folder)
    with open(os.path.join(data, "hot.data"), "rb") as f:
        content = f.read()
    for ending, pack in {"gz": gzip, "xz": lzma, "bz2": bz2}.items():
        root.write("hot.data." + ending, pack.compress(content))


def check_libraries(program):
    """No interpreter and no library is asked for."""
    found = re.findall(r"\(NEEDED\).*|.*INTERP.*", run(["/usr/bin/readelf", "-ld", program]).stdout.decode())
    if found:
        complain(f"the program is not static: {found}")


def check_names(root):
    compiler = shutil.which("g++") or shutil.which("clang++")
    if not compiler:
        print("no C++ compiler here: no names of C++")
        return
    program = os.path.join(root.folder, "program")
    subprocess.run([compiler, "-x", "c++", "-", "-no-pie", "-Wl,--build-id=none", "-o", program], input=PROGRAM, text=True,
                   check=True)
    listed = subprocess.run(["nm", program], stdout=subprocess.PIPE, text=True, check=True).stdout
    samples = [SAMPLE.format(ip=re.search(rf"(\w+) T {symbol}", listed)[1]) for symbol in NAMES]
    root.write("program.txt", (RECORDING + "".join(samples)).encode())
    made = root.perfdata(["assemble", "-o", "/program.data", "/program.txt"])
    there = root.perfdata(["script", "-F", "ip,sym", "/program.data"])
    for name in NAMES.values():
        if name not in there.stdout.decode():
            complain(f"no {name}: {(made.stderr + there.stdout + there.stderr).decode()}")


def check_recording(root):
    """Of a user by name, and of a command, if anything may be recorded here."""
    os.mkdir(os.path.join(root.folder, "etc"))
    root.write("etc/passwd", b"root:x:0:0::/:/bin/sh\nsomebody:x:4242:4242::/:/bin/sh\n")
    if b"somebody" in root.perfdata(["record", "-o", "/user.data", "-u", "somebody", "/perfdata", "version"]).stderr:
        complain("-u: a user in /etc/passwd is not known")
    recorded = root.perfdata(["record", "-o", "/made.data", "-e", "cpu-clock", "/perfdata", "explain"])
    if recorded.returncode:
        print(f"nothing was recorded: {recorded.stderr.decode().strip()}")
    elif root.perfdata(["check", "/made.data"]).returncode not in (0, 6):
        complain("what was recorded there is damaged")


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__.split("\n\n")[1])
    program, source = sys.argv[1:]
    check_libraries(program)
    with tempfile.TemporaryDirectory(prefix="static-") as folder:
        root = Root(folder, program)
        if root.perfdata(["version"]).returncode:
            print("SKIP: no other root may be had here")
            return 1 if wrong else SKIPPED
        fill(root, os.path.join(source, "tests/data"))
        for words in COMMANDS:
            root.same_as_here(words)
        check_names(root)
        check_recording(root)
    print(f"static program in an empty root: {len(COMMANDS)} commands, {len(wrong)} failures")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
