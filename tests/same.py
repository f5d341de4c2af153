#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""tools/same finds no difference between a program and itself, and each one between it and a program that changes its
output, its exit code or a file.

usage: tests/same.py TOOL PERFDATA RECORDING
"""

import os
import subprocess
import sys
import tempfile

# Commands whose lines must differ, and what of them does.
CHANGES = {"folded": "standard output", "evlist": "exit code", "info": "standard error", "tail": "files"}
OTHER = """#!/bin/sh
'{perfdata}' "$@"
code=$?
case $1 in
folded) echo more ;;
evlist) code=77 ;;
info) echo more >&2 ;;
tail) echo more >>out.data ;;
esac
exit $code
"""


def main():
    tool, perfdata, recording = (os.path.abspath(path) for path in sys.argv[1:])
    with tempfile.TemporaryDirectory() as folder:
        other = os.path.join(folder, "other")
        with open(other, "w", encoding="utf-8") as f:
            f.write(OTHER.format(perfdata=perfdata))
        os.chmod(other, 0o755)
        commands = [word for name in (*CHANGES, "check") for word in ("--command", name)]
        same, changed = (subprocess.run([tool, *commands, perfdata, program, recording], capture_output=True, text=True,
                                        check=False) for program in (perfdata, other))
    assert same.returncode == 0 and same.stdout.count("\n") == 1, same.stdout + same.stderr
    assert changed.returncode == 1, changed.stdout + changed.stderr
    found = {tuple(line.split(": ")[0].split()[:1]) + (line.split(": ")[-1],) for line in changed.stdout.splitlines()[:-1]}
    assert found == set(CHANGES.items()), found


main()
