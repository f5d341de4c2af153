#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs the examples of README.md and compares what they print with what stands there.

usage: tests/readme.py PERFDATA

Each console block is one command behind "$ " and its output. The time of modification is that of
the checkout, so its line is left out.
"""

import os
import re
import subprocess
import sys
import tempfile

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def lines(text):
    return [line for line in text.rstrip("\n").split("\n") if not line.startswith("modified ")]


def main(perfdata):
    with open(os.path.join(TOP, "README.md"), encoding="utf-8") as file:
        blocks = re.findall(r"```console\n\$ (.*)\n((?:.*\n)*?)```", file.read())
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        os.symlink(os.path.abspath(perfdata), os.path.join(folder, "perfdata"))
        env = dict(os.environ, PATH=folder + os.pathsep + os.environ["PATH"], LC_ALL="C", TZ="UTC")
        for command, expected in blocks:
            done = subprocess.run(command, shell=True, cwd=TOP, env=env, text=True, stdout=subprocess.PIPE,
                                  stderr=subprocess.DEVNULL, check=False)
            if lines(done.stdout) != lines(expected):
                failed += 1
                print(f"$ {command}\n--- README.md\n{expected}--- now\n{done.stdout}")
    print(f"readme: {len(blocks)} examples, {failed} differ")
    return 1 if failed or not blocks else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
