#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""perf's own shell tests, with perfdata called as perf, beside perf itself.

usage: shell.py PERFDATA [--source FOLDER] [--perf PERF] [TEST...]

FOLDER has the tests (tools/perf/tests/shell of a kernel's source). Without it, the source is that of /usr/src, else the package
linux-source-6.1 is downloaded to a temporary folder. PERF is the perf to compare with: that of the same version as the tests. Prints
a table. Exit status: 0 all that passes with perf passes with
perfdata, but for what LEFT_OUT names; 1 otherwise; 77 the tests or perf are not here.
"""

import argparse
import glob
import os
import shutil
import subprocess
import sys
import tempfile

SKIPPED = 77
PACKAGE_FOLDER = os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))), "python")
PACKAGE = "linux-source-6.1"
INSIDE = "tools/perf/tests/shell"
SECONDS = 300  # for one test; as long as that it hangs
WORDS = {0: "passes", 2: "skips", None: "hangs"}
# Tests that need what perfdata does not have, with the reason.
LEFT_OUT = {
    "record_offcpu.sh": "perf bench",
}


def unpack(archive, folder):
    subprocess.run(["tar", "-xf", archive, "-C", folder, "--wildcards", f"*/{INSIDE}/*"], check=True)
    return glob.glob(os.path.join(folder, "*", INSIDE))[0]


def download(folder):
    """The archive in the package; None if it cannot be had."""
    if not shutil.which("apt-get") or not shutil.which("dpkg-deb"):
        return None
    done = subprocess.run(["apt-get", "download", PACKAGE], cwd=folder, capture_output=True, check=False)
    packages = glob.glob(os.path.join(folder, "*.deb"))
    if done.returncode or not packages:
        return None
    subprocess.run(["dpkg-deb", "-x", packages[0], folder], check=True)
    return next(iter(glob.glob(os.path.join(folder, "usr/src/linux-source-*.tar.xz"))), None)


def find_tests(source, folder):
    if source:
        return source
    archives = sorted(glob.glob("/usr/src/linux-source-6.1*.tar.xz"))
    archive = archives[0] if archives else download(folder)
    return unpack(archive, folder) if archive else None


def python_package(program):
    """Of the build folder that a program is in, for its script -s."""
    library = os.path.join(os.path.dirname(os.path.realpath(program)), "src", "libperfdata.so.0")
    return f'export PYTHONPATH="{PACKAGE_FOLDER}" PERFDATA_LIBRARY="{library}"\n' if os.path.exists(library) else ""


def put_program(path, program, perf):
    """The program as perf. Workloads of the tests (perf test -w) are perf's own."""
    with open(path, "w", encoding="utf-8") as file:
        file.write(f'#!/bin/sh\n[ "$1" = test ] && exec "{os.path.realpath(perf)}" "$@"\n{python_package(program)}exec "{os.path.realpath(program)}" "$@"\n')
    os.chmod(path, 0o755)


def run(test, program, perf, folder):
    """Exit code of a test with a program as perf; None if it did not end."""
    home = os.path.join(folder, "home")
    there = os.path.join(folder, "bin")
    for path in (home, there):
        shutil.rmtree(path, ignore_errors=True)
        os.makedirs(path)
    put_program(os.path.join(there, "perf"), program, perf)
    environment = {**os.environ, "PATH": f"{there}:{os.environ['PATH']}", "HOME": home, "LC_ALL": "C"}
    child = subprocess.Popen(["bash", test], cwd=home, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                             stderr=subprocess.STDOUT, start_new_session=True)
    try:
        output, _ = child.communicate(timeout=SECONDS)
    except subprocess.TimeoutExpired:
        os.killpg(child.pid, 9)
        return None, child.communicate()[0]
    return child.returncode, output


def word(code):
    return WORDS.get(code, "fails")


def judge(name, code, ours):
    """What is wrong, or None."""
    if name in LEFT_OUT:
        return f"{name} passes: it is not left out any more" if code == ours == 0 else None
    return f"{name} passes with perf only" if code == 0 and ours != 0 else None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("perfdata")
    parser.add_argument("tests", nargs="*")
    parser.add_argument("--source")
    parser.add_argument("--perf", default="perf")
    options = parser.parse_intermixed_args()
    perf = shutil.which(options.perf)
    if not perf:
        print("no perf here")
        return SKIPPED
    wrong = []
    with tempfile.TemporaryDirectory(prefix="perfdata-shell-") as folder:
        shell = find_tests(options.source, folder)
        if not shell:
            print(f"no tests of perf here, and the package {PACKAGE} cannot be had; see --source")
            return SKIPPED
        print(f"| test | perf | perfdata | |\n| --- | --- | --- | --- |")
        for test in sorted(glob.glob(os.path.join(shell, "*.sh"))):
            name = os.path.basename(test)
            if options.tests and name not in options.tests:
                continue
            (theirs, _), (ours, output) = run(test, perf, perf, folder), run(test, options.perfdata, perf, folder)
            print(f"| {name} | {word(theirs)} | {word(ours)} | {'needs ' + LEFT_OUT[name] if name in LEFT_OUT else ''} |", flush=True)
            problem = judge(name, theirs, ours)
            if problem:
                wrong.append(problem)
                sys.stderr.write(output.decode("utf-8", "replace")[-4000:])
    for problem in wrong:
        print(problem, file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
