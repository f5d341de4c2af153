#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The findings of the doctor stand in one list: the page of the docs has its lines, and each is made somewhere.

usage: tests/findings.py TOP
"""

import glob
import os
import re
import sys


def read(*path):
    with open(os.path.join(*path), encoding="utf-8") as file:
        return file.read()


def main():
    top = sys.argv[1]
    listed = re.findall(r'^FINDING\((\w+), "([^"]+)", "([^"]+)"\)$', read(top, "src", "doctor", "findings.def"), re.MULTILINE)
    shown = re.findall(r"^\| `([^`]+)` \| (.+) \|$", read(top, "docs", "doctor.md"), re.MULTILINE)
    source = "".join(read(path) for path in glob.glob(os.path.join(top, "src", "doctor", "*.c")))
    wrong = [f"{code}: docs/doctor.md says otherwise, or nothing" for _, code, doc in listed if (code, doc) not in shown]
    wrong += [f"{code}: in docs/doctor.md, and not in findings.def" for code, _ in shown if code not in [c for _, c, _ in listed]]
    wrong += [f"{name}: no check makes it" for name, _, _ in listed if not re.search(rf"\bPD_FINDING_{name}\b", source)]
    print("\n".join(wrong) or f"{len(listed)} findings")
    return 1 if wrong or not listed else 0


sys.exit(main())
