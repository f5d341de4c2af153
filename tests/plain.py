#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Holds plain.h, which tools/plain.py makes of the public headers, against these.

usage: plain.py PLAIN MAP INCLUDE LIBRARY CC [ARGUMENT]...

It compiles as C11 and C++20 without a warning. Sizes and offsets of all structs, all enumerators and all constants are those
of the headers, as the compiler sees both, and functions have the same types. Every function of the map is declared. pycparser
parses what is between its two lines, and cffi does and calls LIBRARY ("-": it cannot be loaded here), where Python has them.
Exit status: 0 all of this, 1 not, 77 pointers do not have 64 bits here.
"""

import os
import re
import shutil
import subprocess
import sys

import abi
import symbols

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tools"))
import headers  # noqa: E402

BODY = re.compile(r"/\* -+ declarations begin -+ \*/\n(.*)/\* -+ declarations end -+ \*/\n", re.S)
# What pycparser has to be told, as all that a header includes.
PREFIX = "typedef int bool; typedef unsigned long size_t;\n" + "".join(
    f"typedef {'unsigned ' if name.startswith('u') else ''}{kind} {name};\n"
    for name, kind in (("uint8_t", "char"), ("uint16_t", "short"), ("uint32_t", "int"), ("uint64_t", "long"), ("int32_t", "int"),
                       ("int64_t", "long")))

wrong = []


def complain(text):
    wrong.append(text)
    print(text)


def compiled(command, source):
    done = subprocess.run([*command, "-Wall", "-Wextra", "-Werror", "-pedantic", "-fsyntax-only", "-"], input=source, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    if done.returncode:
        complain(f"{' '.join(command)}:\n{done.stdout}")


def check_languages(path, compiler):
    ways = 0
    for command in [compiler, *([name] for name in ("gcc", "clang") if shutil.which(name) and name not in compiler)]:
        found = [command + ["-std=c11", "-xc"]]
        other = headers.cxx_of(command)
        if other:
            found.append(other + ["-std=c++20", "-xc++"])
        for way in found:
            compiled(way, f'#include "{path}"\n' * 2)
            ways += 1
    return ways


def check_values(path, plain, include, compiler):
    """Both as a program that prints all numbers of it."""
    text, source = abi.preprocessed(compiler, include)
    structs, enums, constants = abi.structs_of(text), abi.enums_of(text), abi.constants_of(compiler, include, source, text)
    here = f'#include "{path}"\n'
    mine = [abi.structs_of(plain), abi.enums_of(plain), abi.constants_of(compiler, include, here, plain)]
    for kind, theirs, ours in zip(("struct", "enum", "constant"), (structs, enums, constants), mine):
        for name in sorted(set(theirs) ^ set(ours)):
            complain(f"{kind} {name}: {'not in plain.h' if name in theirs else 'only in plain.h'}")
    if wrong:
        return 0
    theirs, ours = (abi.run_program(compiler, include, abi.program_for(where, structs, enums, constants)).splitlines()
                    for where in (source, here))
    for expected, got in zip(theirs, ours):
        if expected != got:
            complain(f"{got}: {expected} in the headers")
    return len(theirs)


def check_functions(path, plain, map_path, include, compiler):
    text, _ = abi.preprocessed(compiler, include)
    declared = abi.FUNCTION.findall(text)
    here = set(re.findall(r"\b(pd_\w+)\([^;{}]*\);", plain))
    listed = symbols.names_of_map(map_path)[1]
    for name in sorted(set(listed) - here):
        complain(f"{name}: in the map, but not in plain.h")
    # A compiler takes a second declaration if it says the same.
    again = "".join(f"{signature};\n" for signature, _ in declared)
    compiled([*compiler, "-std=c11", "-xc"], f'#include "{path}"\n{again}')
    return len(listed)


def check_python(plain, library):
    """As bindings are made in Python."""
    try:
        import cffi  # pylint: disable=import-outside-toplevel
        import pycparser  # pylint: disable=import-outside-toplevel
    except ImportError:
        print("no cffi here (Debian: python3-cffi)")
        return
    bare = re.sub(r"/\*.*?\*/", lambda match: "\n" * match[0].count("\n"), plain, flags=re.S)
    bare = re.sub(r"^#define PD_\w+ \d+U?(LL)?$", "", bare, flags=re.M)
    try:
        pycparser.CParser().parse(PREFIX + bare)
    except pycparser.c_parser.ParseError as error:
        complain(f"pycparser: {error}")
    ffi = cffi.FFI()
    ffi.cdef(plain)
    if library == "-":
        return
    loaded = ffi.dlopen(library)
    print(f"version {ffi.string(loaded.pd_version()).decode()} by cffi")
    error = ffi.new("struct pd_error *")
    file_out = ffi.new("struct pd_file **")
    if loaded.pd_file_open(b"/nowhere", ffi.NULL, file_out, error) != loaded.PD_ERROR_SYSTEM or not ffi.string(error.message):
        complain("cffi: a file that is not there can be opened")


def main():
    if len(sys.argv) < 6:
        sys.exit(__doc__.split("\n\n")[1])
    path, map_path, include, library, *compiler = sys.argv[1:]
    with open(path, encoding="utf-8") as f:
        found = BODY.search(f.read())
    if not found:
        sys.exit(f"{path}: no lines where declarations begin and end")
    plain = found[1]
    for word in ("__attribute__", "inline", "PD_API", "PD_PRINTF"):
        if re.search(rf"\b{word}\b", abi.without_comments(plain)):
            complain(f"plain.h has the word {word}")
    ways = check_languages(path, compiler)
    values = check_values(path, abi.without_comments(plain), include, compiler)
    functions = check_functions(path, abi.without_comments(plain), map_path, include, compiler)
    check_python(plain, library)
    print(f"compiled {ways} ways, {values} numbers are those of the headers, {functions} functions; {len(wrong)} wrong")
    return 1 if wrong or not values else 0


if __name__ == "__main__":
    sys.exit(main())
