#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""All C files are formatted as .clang-format says.

usage: tests/style.py TOP

Versions of clang-format differ in small things: the test needs 14 and is skipped without it.
"""

import glob
import os
import re
import shutil
import subprocess
import sys

FOLDERS = ("src", "cli", "manual", "server", "include", "tests", "examples", "bench")
VERSION = "14"


def main():
    top = sys.argv[1]
    program = shutil.which("clang-format-14") or shutil.which("clang-format")
    version = program and subprocess.run([program, "--version"], capture_output=True, text=True, check=False).stdout
    found = version and re.search(r"version (\d+)", version)
    if not found or found[1] != VERSION:
        print(f"clang-format {VERSION} is not installed")
        return 77
    files = [path for folder in FOLDERS for path in sorted(glob.glob(os.path.join(top, folder, "**", "*.[ch]"), recursive=True))]
    wrong = set()
    for i in range(0, len(files), 100):
        done = subprocess.run([program, "--dry-run", "--ferror-limit=0", *files[i : i + 100]], capture_output=True, text=True,
                              check=False)
        wrong |= {line.split(":")[0] for line in done.stderr.splitlines() if "[-Wclang-format-violations]" in line}
    for path in sorted(wrong):
        print(f"{os.path.relpath(path, top)}: clang-format -i formats it differently")
    print(f"{len(files)} files, {len(wrong)} are not formatted")
    return 1 if wrong or not files else 0


sys.exit(main())
