#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compiles every public header alone, in the languages its users write; perfdata.h lists and includes all of them.

usage: tools/headers.py INCLUDE_DIR [C COMPILER]...

A compiler is one argument, with its options if it has any ("gcc -m32").
Each is asked for C99 and C11; C++11 is asked of the C++ compiler beside it,
when there is one.  Without a compiler: gcc.
"""

import os
import re
import shlex
import shutil
import subprocess
import sys

WARN = ["-pedantic", "-Wall", "-Wextra", "-Werror", "-fsyntax-only"]

OWN_MACROS = """#define TEXT_OF_(x) #x
#define TEXT_OF(x) TEXT_OF_(x)
extern char own_field[sizeof(TEXT_OF(FIELD)) == sizeof("my own words") ? 1 : -1];
extern char own_end[sizeof(TEXT_OF(END)) == sizeof("its own") ? 1 : -1];
"""


def cxx_of(command):
    """The C++ compiler of the same family, or None."""
    folder, name = os.path.split(command[0])
    if "clang" in name:
        name = name.replace("clang", "clang++", 1)
    else:
        name = re.sub(r"(gcc|cc)(?=$|-[0-9.]+$)", lambda m: {"gcc": "g++", "cc": "c++"}[m[1]], name)
    other = os.path.join(folder, name)
    if other == command[0] or not shutil.which(other):
        return None
    return [other] + command[1:]


def missing_in_list(folder, headers):
    """Headers that perfdata.h does not include, or does not list with what they are for; and what it has too much."""
    with open(os.path.join(folder, "perfdata.h"), encoding="utf-8") as f:
        text = f.read()
    others = set(headers) - {"perfdata.h"}
    listed = re.findall(r"^ \*   (\w+\.h) +\w", text, re.M)
    included = re.findall(r"^#include <perfdata/(\w+\.h)>", text, re.M)
    for what, names in (("listed", listed), ("included", included)):
        for name in sorted(others - set(names)):
            yield f"perfdata.h: {name} is not {what}"
        for name in sorted({name for name in names if names.count(name) > 1 or name not in others}):
            yield f"perfdata.h: {name} is {what}, {'twice' if name in others else 'but not there'}"
    if included != sorted(included):
        yield "perfdata.h: includes are not in the order of the alphabet"


def main(args):
    if not args:
        print(__doc__.strip(), file=sys.stderr)
        return 2
    include, commands = args[0], [shlex.split(a) for a in args[1:]] or [["gcc"]]
    folder = os.path.join(include, "perfdata")
    headers = sorted(n for n in os.listdir(folder) if n.endswith(".h"))

    ways = []
    for command in commands:
        if not shutil.which(command[0]):
            print(f"headers: no {command[0]} here")
            continue
        ways += [command + ["-x", "c", "-std=c99"], command + ["-x", "c", "-std=c11"]]
        cxx = cxx_of(command)
        if cxx:
            ways.append(cxx + ["-x", "c++", "-std=c++11"])
        else:
            print(f"headers: no C++ compiler beside {command[0]}")
    if not headers or not ways:
        print("headers: nothing to compile", file=sys.stderr)
        return 1

    failed = 0
    for line in missing_in_list(folder, headers):
        failed += 1
        print(line)
    for header in headers:
        # Twice: the second time has to be nothing.  The declaration after it
        # keeps a header of macros alone from being an empty unit.
        unit = f"#include <perfdata/{header}>\n" * 2 + "extern int perfdata_header_alone;\n"
        # A program may use the words of the tables as macros of its own.
        unit = "#define FIELD my own words\n#define END its own\n" + unit + OWN_MACROS
        for way in ways:
            command = way + WARN + ["-I", include, "-"]
            done = subprocess.run(command, input=unit, text=True, stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, check=False)
            if done.returncode:
                failed += 1
                print(f"{header}: {shlex.join(command)}\n{done.stdout}")
    print(f"headers: {len(headers)} headers, {len(ways)} ways, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
