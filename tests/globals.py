#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The library has no variables that calls could change behind each other's back, but for those that base.h names.

usage: globals.py LIBRARY.a BASE.H
"""
import re
import subprocess
import sys


def main():
    with open(sys.argv[2], encoding="utf-8") as file:
        state = re.search(r"^ \* - State\.(.*?)(?=^ \* - |\*/)", file.read(), re.DOTALL | re.MULTILINE).group(1)
    named = set(re.findall(r"`(\w+)`", state))
    table = subprocess.run(["objdump", "-t", sys.argv[1]], capture_output=True, text=True, check=True).stdout
    found = {}
    unit = ""
    for line in table.splitlines():
        if line.endswith(":     file format elf64-x86-64") or ": " in line and "file format" in line:
            unit = line.split(":")[0]
        match = re.match(r"[0-9a-f]+ .{7} (\.t?(?:data|bss)\S*|\*COM\*)\s+[0-9a-f]+\s+(?:\.hidden )?(\S+)$", line)
        # a foreign library that is built from its source
        if "capstone-5" in unit:
            continue
        # tables of pointers are constant once the library is loaded
        if match and not match.group(1).startswith(".data.rel.ro") and not match.group(2).startswith("."):
            found[match.group(2).split(".")[0]] = unit
    wrong = [f"{name} in {unit}: a variable that base.h does not name" for name, unit in found.items() if name not in named]
    wrong += [f"{name}: base.h names it, and there is none" for name in named if name not in found]
    if "SYMBOL TABLE" not in table:
        wrong.append("objdump shows no symbols")
    print("\n".join(wrong) or f"{len(found)} variables, each with its reason")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
