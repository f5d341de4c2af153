#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Objects that claim the build id of another one: the index must never show what one of them says for the other.

usage: poison.py PERFDATA RECORDING CC [ARGUMENT]...

RECORDING has samples in an object that is not here. The compiler makes several with its build id, each with one
function of its own name from a source of its own name. All runs share one index. Exit status: 0 each report shows what
it was given, 1 not.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

CODE = """
	.text
	.globl {name}
	.type {name}, %function
{name}:
	nop
	.skip 0x100000
	.size {name}, . - {name}
"""


class Case:
    def __init__(self, perfdata, recording, compiler, folder):
        self.perfdata, self.recording, self.compiler, self.folder = perfdata, recording, compiler, folder
        listed = subprocess.run([perfdata, "buildid-list", recording], text=True, stdout=subprocess.PIPE,
                                check=True).stdout
        self.build_id, self.path = re.search(r"^([0-9a-f]{40}) (\S*/hot)$", listed, re.M).groups()
        self.index = os.path.join(folder, "home", ".cache", "perfdata")
        self.wrong = []

    def make(self, name, where, strip=None):
        os.makedirs(os.path.dirname(where), exist_ok=True)
        source = os.path.join(self.folder, name + ".s")
        with open(source, "w", encoding="utf-8") as f:
            f.write(CODE.format(name=name))
        subprocess.run([*self.compiler, "-shared", "-nostdlib", "-g", f"-Wl,--build-id=0x{self.build_id}", "-o", where,
                        source], check=True)
        if strip:
            subprocess.run(["strip", *strip, where], check=True)

    def root(self, name):
        """The folder of a system whose object has that function."""
        folder = os.path.join(self.folder, name)
        if not os.path.exists(folder):
            self.make(name, folder + self.path)
        return folder

    def run(self, *arguments):
        environment = dict(os.environ, HOME=os.path.join(self.folder, "home"))
        environment.pop("XDG_CACHE_HOME", None)
        done = subprocess.run([self.perfdata, *arguments], text=True, env=environment, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, check=False)
        if done.returncode:
            self.wrong.append(f"{arguments}: {done.returncode} {done.stderr}")
        return done.stdout

    def expect(self, what, name, *arguments):
        """Twice, since what the first run keeps is what the second one may find."""
        for turn in "first", "second":
            shown = self.run("script", "-F", "ip,sym,srcline", *arguments)
            functions = set(re.findall(r"^\s*[0-9a-f]+ (\w+_code)\b", shown, re.M))
            sources = set(re.findall(r"(\w+_code)\.s:", shown))
            if functions != ({name} if name else set()) or not sources <= {name}:
                self.wrong.append(f"{what}, {turn} run: functions {functions}, sources {sources}, wanted {name}")

    def forget(self):
        shutil.rmtree(self.index, ignore_errors=True)


def settle():
    """Files that were changed just now are not kept in the index: their next change might bear the same time."""
    time.sleep(0.1)


def from_elsewhere(case):
    good, evil = case.root("good_code"), case.root("evil_code")
    bundle = os.path.join(case.folder, "evil.tar")
    case.run("pack", "--symfs", evil, "-o", bundle, case.recording)
    case.forget()
    cache = os.path.join(case.folder, "cache")
    place = os.path.join(cache, ".build-id", case.build_id[:2], case.build_id[2:])
    os.makedirs(place)
    shutil.copy(evil + case.path, os.path.join(place, "elf"))
    debug = os.path.join(case.folder, "debug")
    os.makedirs(debug + os.path.dirname(case.path))
    shutil.copy(evil + case.path, debug + case.path)
    settle()
    nothing = os.path.join(case.folder, "nothing")
    ways = {
        "bundle": [bundle],
        "--archive": ["--symfs", nothing, "--archive", bundle, case.recording],
        "--symfs": ["--symfs", evil, case.recording],
        "--buildid-dir": ["--symfs", nothing, "--buildid-dir", cache, case.recording],
        "--debug-path": ["--symfs", nothing, "--debug-path", debug, case.recording],
    }
    for what, arguments in ways.items():
        case.forget()
        case.expect(what, "evil_code", *arguments)
        case.expect(f"after {what}", "good_code", "--symfs", good, case.recording)
        case.expect(f"{what} again", "evil_code", *arguments)
        case.expect(f"nothing after {what}", None, "--symfs", nothing, case.recording)


def replaced(case):
    """In place, of the same size, and with the time of before."""
    root = os.path.join(case.folder, "replaced")
    path = root + case.path
    case.make("good_code", path)
    settle()
    case.forget()
    case.expect("before it is replaced", "good_code", "--symfs", root, case.recording)
    before = os.stat(path)
    with open(path, "r+b") as f:
        data = f.read()
        f.seek(0)
        f.write(data.replace(b"good_code", b"evil_code"))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    if os.stat(path).st_size != before.st_size:
        case.wrong.append("the test changed the size")
    settle()
    case.expect("after it was replaced", "evil_code", "--symfs", root, case.recording)
    os.remove(path)
    case.expect("after it went, as it was last", "evil_code", "--symfs", root, case.recording)


def other_debug_file(case):
    """A stripped object takes its names from a debug file: another one of the same build id is another one."""
    root = os.path.join(case.folder, "stripped")
    case.make("good_code", root + case.path, ["--strip-all"])
    debug = {}
    for name in "good_code", "evil_code":
        debug[name] = os.path.join(case.folder, "debug-" + name)
        case.make(name, f"{debug[name]}/.build-id/{case.build_id[:2]}/{case.build_id[2:]}.debug", ["--only-keep-debug"])
    settle()
    case.forget()
    for name in "evil_code", "good_code", "evil_code":
        case.expect(f"debug file of {name}", name, "--symfs", root, "--debug-path", debug[name], case.recording)
    # what the object exports
    case.expect("no debug file", "good_code", "--symfs", root, "--debug-path", os.path.join(case.folder, "nothing"),
                case.recording)


def written_by_others(case):
    """What others may write is not believed."""
    good = case.root("good_code")
    settle()
    case.forget()
    case.expect("the own index", "good_code", "--symfs", good, case.recording)
    names = os.listdir(case.index) if os.path.isdir(case.index) else []
    kept = [os.path.join(case.index, name) for name in names if name.startswith(case.build_id)]
    if not kept:
        case.wrong.append("nothing was kept")
    before = {path: os.stat(path).st_mtime_ns for path in kept}
    for path in kept:
        os.chmod(path, 0o666)
        os.utime(path, ns=(0, 0))
    case.expect("an index that all may write", "good_code", "--symfs", good, case.recording)
    for path in kept:
        # using a file notes the time, and writing it anew makes it private again
        if os.stat(path).st_mode & 0o022:
            case.wrong.append(f"a file that all may write was used: {os.path.basename(path)}, {before[path]}")


def main():
    if len(sys.argv) < 4:
        sys.exit(__doc__.split("\n\n")[1])
    perfdata, recording, *compiler = sys.argv[1:]
    wrong = []
    for test in from_elsewhere, replaced, other_debug_file, written_by_others:
        with tempfile.TemporaryDirectory(prefix="perfdata-poison-") as folder:
            case = Case(perfdata, os.path.abspath(recording), compiler, folder)
            test(case)
            wrong += case.wrong
    print("\n".join(wrong) or "each report shows what it was given")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
