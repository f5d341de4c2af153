#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Installs into an empty folder and builds and runs every example against what is there.

usage: install.py BUILD SOURCE MESON

Headers: each file of include/ is installed, and no other. Examples: as C11, C++17 and C++20, by each compiler that is
here, with the flags of pkg-config alone: against the shared library, and against the static one with what pkg-config
--static adds. Whatever built it, an example prints the same. Also: manual pages and completions are where man,
bash, zsh and fish look for them, and the program runs. Exit status: 0 all of this, 1 not, 77 without pkg-config.
"""

import concurrent.futures
import filecmp
import glob
import os
import shutil
import subprocess
import sys
import tempfile

SKIPPED = 77
MADE = os.path.join("perfdata", "plain.h")
STRICT = ["-Wall", "-Wextra", "-Werror"]
# Members that are left out of an initializer are zero, which is what options are made for.
C = [*STRICT, "-std=c11"]
CXX = [*STRICT, "-Wno-missing-field-initializers", "-x", "c++"]
COMPILERS = [
    ("gcc", C), ("clang", C),
    ("g++", [*CXX, "-std=c++17"]), ("g++", [*CXX, "-std=c++20"]),
    ("clang++", [*CXX, "-std=c++17"]), ("clang++", [*CXX, "-std=c++20"]),
]
LOOP = "i=0; while [ $i -lt 30000 ]; do i=$((i+1)); done"
# Arguments of each example; how much time a command takes differs from run to run.
ARGUMENTS = {
    "callers": ["RECORDING"], "events": ["RECORDING"], "functions": ["RECORDING"], "problems": ["RECORDING"], "report": ["RECORDING"],
    "samples": ["RECORDING"],
    "write": ["OUTPUT"], "live": ["sh", "-c", LOOP],
}
DIFFERS = {"live"}
CANNOT_RECORD = 77
COMPLETIONS = ["bash-completion/completions/perfdata", "zsh/site-functions/_perfdata",
               "fish/vendor_completions.d/perfdata.fish"]
PAGES = ["man1/perfdata.1", "man1/perfdata-report.1", "man5/perf.data.5"]

wrong = []


def complain(text):
    wrong.append(text)
    print(text)


def run(command, **more):
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False, **more)


def only(root, pattern):
    """The one file of that pattern under a folder."""
    found = glob.glob(os.path.join(root, "**", pattern), recursive=True)
    if len(found) != 1:
        complain(f"{pattern}: {len(found)} installed, 1 expected")
    return found[0] if found else None


def files_under(folder):
    return sorted(os.path.relpath(os.path.join(at, name), folder)
                  for at, _, names in os.walk(folder) for name in names if not name == "meson.build")


def check_headers(source, made, installed):
    """All of include/, and what is made of it when the library is built."""
    for name in sorted({*files_under(source), *files_under(installed), MADE}):
        if name == MADE:
            if not os.path.exists(os.path.join(installed, name)) or not filecmp.cmp(made, os.path.join(installed, name), shallow=False):
                complain(f"include/{name}: not installed as it was made")
        elif not os.path.exists(os.path.join(installed, name)):
            complain(f"include/{name}: not installed")
        elif not os.path.exists(os.path.join(source, name)):
            complain(f"{name}: installed, but not in include/")
        elif not filecmp.cmp(os.path.join(source, name), os.path.join(installed, name), shallow=False):
            complain(f"{name}: installed with another content")
    return len(files_under(installed))


def check_data(root):
    share = os.path.dirname(os.path.dirname(only(root, "man/man1/perfdata.1") or "") or root)
    share = os.path.dirname(share)
    for name in [os.path.join("man", page) for page in PAGES] + COMPLETIONS:
        path = os.path.join(share, name)
        if not os.path.exists(path) or not os.path.getsize(path):
            complain(f"share/{name}: not installed")


def flags(pc, prefix, *more):
    """What pkg-config says, of an installation that has been moved."""
    environment = {**os.environ, "PKG_CONFIG_PATH": os.path.dirname(pc)}
    done = run(["pkg-config", f"--define-variable=prefix={prefix}", *more, "--cflags", "--libs", "libperfdata"],
               env=environment)
    if done.returncode:
        complain(f"pkg-config: {done.stdout}")
    return done.stdout.split()


class Way:
    """An example, built by one compiler with the flags of one kind of library, and run."""

    def __init__(self, compiler, example, kind, options, folder, libraries):
        self.name = " ".join(["example", example, kind, *(o for o in compiler[1] if "std=" in o), compiler[0]])
        self.compiler, self.example, self.kind = compiler, example, kind
        self.options, self.folder, self.libraries = options, folder, libraries

    def arguments(self, recording, output):
        return [{"RECORDING": recording, "OUTPUT": output}.get(a, a) for a in ARGUMENTS[self.example]]

    def needs_library(self, program):
        return "libperfdata" in run(["readelf", "-d", program]).stdout

    def __call__(self, source):
        program = os.path.join(self.folder, self.name.replace(" ", "-"))
        path = os.path.join(source, "examples", self.example + ".c")
        command = [self.compiler[0], *self.compiler[1], path, "-x", "none", "-o", program, *self.options]
        done = run(command)
        if done.returncode:
            return f"{self.name}: {' '.join(command)}\n{done.stdout}", None
        if self.needs_library(program) != (self.kind == "shared"):
            return f"{self.name}: linked to the other library", None
        environment = {k: v for k, v in os.environ.items() if k != "LD_LIBRARY_PATH"}
        if self.kind == "shared":
            environment["LD_LIBRARY_PATH"] = self.libraries
        output = program + ".data"
        done = run([program, *self.arguments(os.path.join(source, "tests/data/hot.data"), output)], env=environment)
        if done.returncode == CANNOT_RECORD and self.example == "live":
            return None, "cannot record"
        if done.returncode or self.example not in {"write"} and not done.stdout:
            return f"{self.name}: exit status {done.returncode}, output: {done.stdout}", None
        return None, done.stdout.replace(output, "OUTPUT")


def check_examples(source, folder, kinds):
    examples = sorted(name[:-2] for name in os.listdir(os.path.join(source, "examples")) if name.endswith(".c"))
    for name in sorted({*examples} ^ {*ARGUMENTS}):
        complain(f"example {name}: {'no arguments for it in this test' if name in examples else 'not there'}")
    compilers = [c for c in COMPILERS if shutil.which(c[0])]
    for name in sorted({c[0] for c in COMPILERS} - {c[0] for c in compilers}):
        print(f"no {name} here")
    ways = [Way(compiler, example, kind, options, folder, libraries)
            for example in examples if example in ARGUMENTS
            for kind, options, libraries in kinds for compiler in compilers]
    printed = {}
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for way, (failure, text) in zip(ways, pool.map(lambda way: way(source), ways)):
            if failure:
                complain(failure)
            elif way.example not in DIFFERS and printed.setdefault(way.example, text) != text:
                complain(f"{way.name}: prints something else than the first one")
    return len(ways)


def main():
    if len(sys.argv) != 4:
        sys.exit(__doc__.split("\n\n")[1])
    build, source, meson = sys.argv[1:]
    if not shutil.which("pkg-config"):
        print("SKIP: no pkg-config here")
        return SKIPPED
    with tempfile.TemporaryDirectory(prefix="install-") as root:
        there = os.path.join(root, "there")
        done = run([meson, "install", "-C", build, "--no-rebuild", "--quiet", "--destdir", there])
        if done.returncode:
            sys.exit(f"meson install: {done.stdout}")
        include = os.path.dirname(os.path.dirname(only(there, "include/perfdata/perfdata.h")))
        headers = check_headers(os.path.join(source, "include"), os.path.join(build, "include", "plain.h"), include)
        check_data(there)
        version = run([only(there, "bin/perfdata"), "version"])
        if version.returncode:
            complain(f"perfdata version: {version.stdout}")
        pc, archive = only(there, "libperfdata.pc"), only(there, "libperfdata.a")
        # The macros of base.h are what the program prints, meson.build what pkg-config does.
        modversion = run(["pkg-config", "--modversion", pc]).stdout.strip()
        if version.stdout.split()[-1:] != [modversion]:
            complain(f"perfdata version: {version.stdout.strip()}, but {modversion} for pkg-config")
        prefix = os.path.dirname(include)
        kinds = [("shared", flags(pc, prefix), os.path.dirname(only(there, "libperfdata.so")))]
        if archive:
            # Where both are found a linker takes the shared one.
            alone = os.path.join(root, "alone")
            os.mkdir(alone)
            shutil.copy(archive, alone)
            options = flags(pc, prefix, "--static")
            kinds.append(("static", [f"-L{alone}" if "-L" + os.path.dirname(archive) == o else o for o in options], None))
        ways = check_examples(source, root, kinds)
        print(f"{headers} headers, {ways} ways to build and run an example, {len(wrong)} failures")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
