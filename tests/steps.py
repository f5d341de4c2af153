#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs ./test with a meson and a ninja that only pretend: which builds and tests it starts, and what counts as a failure.

usage: steps.py TEST
"""

import os
import shutil
import subprocess
import sys
import tempfile

# Every build has one test that passes; FAIL_TEST and FAIL_BUILD name the folder of a build where one fails.
MESON = """#!/bin/sh
case $1 in
setup) mkdir -p "$2/meson-logs" && touch "$2/build.ninja" ;;
test)
	case $* in *--list*) case $* in *nonsense*) exit 1 ;; esac; exit 0 ;; esac
	echo "$*" >>"$LOG"
	echo '{"name": "perfdata:cli / one", "result": "OK", "duration": 1.0}' >"$3/meson-logs/testlog.json"
	[ "$3" = "$FAIL_TEST" ] || exit 0
	echo '{"name": "perfdata:cli / two", "result": "FAIL", "duration": 2.0}' >>"$3/meson-logs/testlog.json"
	echo ' 2/2 perfdata:cli / two     FAIL    2.00s   exit status 1'
	exit 1
	;;
esac
"""
NINJA = """#!/bin/sh
[ "$2" != "$FAIL_BUILD" ]
"""


def write(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    os.chmod(path, 0o755)


def run(folder, *words, **environment):
    """(exit status, last line of the output, what meson test was asked for)"""
    log = os.path.join(folder, "log")
    write(log, "")
    path = os.path.join(folder, "bin") + os.pathsep + os.environ["PATH"]
    result = subprocess.run([os.path.join(folder, "test"), *words], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                            env={**os.environ, "PATH": path, "LOG": log, "FAIL_TEST": "", "FAIL_BUILD": "", **environment})
    with open(log, encoding="utf-8") as file:
        asked = file.read().splitlines()
    return result.returncode, (result.stdout.splitlines() or [""])[-1].partition("] ")[2], asked


def main():
    wrong = 0

    def expect(what, got, wanted):
        nonlocal wrong
        if got != wanted:
            wrong += 1
            print(f"{what}: {got}, not {wanted}")

    with tempfile.TemporaryDirectory(prefix="perfdata steps ") as folder:
        shutil.copy(sys.argv[1], folder)
        write(os.path.join(folder, "tools", "setup"), "#!/bin/sh\n")
        write(os.path.join(folder, "bin", "meson"), MESON)
        write(os.path.join(folder, "bin", "ninja"), NINJA)
        status, last, asked = run(folder)
        expect("no words", (status, last, [words.split()[2] for words in asked]), (0, "1 passed, 0 failed, 0 skipped", ["build"]))
        both = ("clang", "sanitizers")
        status, last, asked = run(folder, *both)
        expect("builds", [words.split()[2] for words in asked], ["build-clang", "build-asan"])
        expect("all pass", (status, last), (0, "2 passed, 0 failed, 0 skipped"))
        expect("a test fails", run(folder, *both, FAIL_TEST="build-clang")[:2], (1, "2 passed, 1 failed, 0 skipped"))
        expect("a build fails", run(folder, *both, FAIL_BUILD="build-asan")[:2], (1, "1 passed, 1 failed, 0 skipped"))
        expect("the first build fails", run(folder, FAIL_BUILD="build")[:2], (1, "0 passed, 1 failed, 0 skipped"))
        status, last, asked = run(folder, "sanitizers", "cli")
        expect("a group of a build", [words.split()[2] + " " + words.split("--print-errorlogs ")[1] for words in asked],
               ["build-asan --suite cli"])
        status, last, asked = run(folder, "web", "cli")
        expect("groups", (status, [words.split("--print-errorlogs ")[1] for words in asked]), (0, ["--suite web --suite cli"]))
        expect("unknown group", run(folder, "nonsense")[0], 2)
        expect("unknown option", run(folder, "--nonsense")[0], 2)
    print(f"{wrong} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
