#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Holds what programs are compiled against - structs, enumerators, constants, functions - against abi.golden.

usage: abi.py [--rewrite] GOLDEN INCLUDE CC [ARGUMENT]...

Everything is taken from the public headers as the compiler sees them, so nothing can be forgotten. A
struct may get members at its end, an enum new names, the library new functions: they are printed and are
fine. Nothing that stands in the golden file may change or go. --rewrite writes the file anew. Constants are macros
that stand for a number, but for the version, and the members of enums without a name.
Exit status: 0 nothing changed, 1 something did, 77 pointers do not have 64 bits here.
"""

import os
import re
import shlex
import subprocess
import sys
import tempfile

SKIPPED = 77
STRUCT = re.compile(r"\bstruct (pd_\w+) \{([^{}]*)\}\s*;")
ENUM = re.compile(r"\benum (pd_\w+) \{([^{}]*)\}\s*;")
FUNCTION = re.compile(r'__attribute__\(\(visibility\("default"\)\)\)\s*([^;{}]*?\b(pd_\w+)\([^;{}]*\))\s*(?:__attribute__[^;]*)?;')
MEMBER = re.compile(r"\(\*(\w+)\)\(|(\w+)\s*(?:\[[^\]]*\])*$")
SENTINEL = re.compile(r"PD_(MISC_)?(BIT|VALUE)_END$")
NAMELESS = re.compile(r"\benum \{([^{}]*)\}")
MACRO = re.compile(r"^#define (PD_\w+) (\S.*)$", re.M)
# Macros that stand for a type or an attribute.
NO_NUMBER = re.compile(r"(struct|union|enum|const) |(u?int\d+_t|double|bool)$|__attribute__")
VERSION = re.compile(r"PD_VERSION_\w+$")
CONSTANTS = "constants"


def preprocessed(compiler, include):
    source = "#include <perfdata/perfdata.h>\n"
    names = sorted(n for n in os.listdir(os.path.join(include, "perfdata")) if n.endswith(".h"))
    source += "".join(f"#include <perfdata/{name}>\n" for name in names)
    result = subprocess.run([*compiler, "-E", "-P", f"-I{include}", "-xc", "-"], input=source, text=True,
                            stdout=subprocess.PIPE, check=True)
    return re.sub(r"\s+", " ", result.stdout), source


def members_of(body):
    """Names of the members of a struct."""
    found = []
    for declaration in body.split(";"):
        for declarator in re.split(r",(?![^()]*\))", declaration):
            if not declarator.strip():
                continue
            match = MEMBER.search(declarator.strip())
            if not match:
                sys.exit(f"cannot read the member: {declaration}")
            found.append(match[1] or match[2])
    return found


def structs_of(text):
    return {name: members_of(body) for name, body in STRUCT.findall(text)}


def enumerators_of(body):
    names = [part.split("=")[0].strip() for part in re.split(r",(?![^()]*\))", body)]
    return [n for n in names if n and not SENTINEL.match(n)]


def enums_of(text):
    return {name: enumerators_of(body) for name, body in ENUM.findall(text)}


def constants_of(compiler, include, source, text):
    """Names of all numbers that are in no enum with a name. text is the preprocessed source; headers of the system are in it.

    Macros are asked for alone: between the lines of the source compilers print them in different places.
    """
    result = subprocess.run([*compiler, "-E", "-dM", f"-I{include}", "-xc", "-"], input=source, text=True,
                            stdout=subprocess.PIPE, check=True)
    found = {name for name, value in MACRO.findall(result.stdout) if not NO_NUMBER.match(value)}
    for body in NAMELESS.findall(text):
        found.update(name for name in enumerators_of(body) if name.startswith("PD_"))
    return sorted(found)


def without_comments(text):
    return re.sub(r"/\*.*?\*/", "", text, flags=re.S)


def program_for(source, structs, enums, constants):
    lines = [source, "#include <stdio.h>", "#include <stddef.h>", "int main(void)", "{"]
    lines.append('\tif (sizeof(void *) != 8)\n\t\treturn %d;' % SKIPPED)
    for name, members in sorted(structs.items()):
        lines.append(f'\tprintf("struct {name}: %zu bytes\\n", sizeof(struct {name}));')
        for member in members:
            place = f"offsetof(struct {name}, {member}), sizeof(((struct {name} *)0)->{member})"
            lines.append(f'\tprintf("\\t{member} at %zu, %zu bytes\\n", {place});')
    for name, values in sorted(enums.items()):
        lines.append(f'\tprintf("enum {name}\\n");')
        lines += [f'\tprintf("\\t{value} %lld\\n", (long long){value});' for value in values]
    lines.append(f'\tprintf("{CONSTANTS}\\n");')
    lines += [f'\tprintf({name} < 0 ? "\\t{name} %lld\\n" : "\\t{name} %llu\\n", (long long){name});' for name in constants]
    return "\n".join(lines + ["\treturn 0;", "}"]) + "\n"


def run_program(compiler, include, program):
    wrapper = shlex.split(os.environ.get("MESON_EXE_WRAPPER", ""))
    with tempfile.TemporaryDirectory(prefix="abi-") as folder:
        path = os.path.join(folder, "abi")
        subprocess.run([*compiler, f"-I{include}", "-xc", "-", "-o", path], input=program, text=True, check=True)
        result = subprocess.run([*wrapper, path], stdout=subprocess.PIPE, text=True)
    if result.returncode == SKIPPED:
        print("SKIP: pointers do not have 64 bits")
        sys.exit(SKIPPED)
    if result.returncode != 0:
        sys.exit(f"the program that prints the structs ended with {result.returncode}")
    return result.stdout


def described(compiler, include):
    """The whole ABI as text: a line for each thing, what belongs to it indented."""
    text, source = preprocessed(compiler, include)
    structs, enums = structs_of(text), enums_of(text)
    if not structs or not enums:
        sys.exit("no struct or no enum was found in the headers")
    constants = [name for name in constants_of(compiler, include, source, text) if not VERSION.match(name)]
    if not constants:
        sys.exit("no constant was found in the headers")
    functions = sorted((name, signature.strip()) for signature, name in FUNCTION.findall(text))
    out = run_program(compiler, include, program_for(source, structs, enums, constants))
    return out + "".join(f"function {name}\n\t{signature}\n" for name, signature in functions)


def blocks_of(text):
    """Lines under their heading; the size of a struct is no part of the heading."""
    blocks = {}
    for line in text.splitlines():
        if not line or line.startswith("#"):
            continue
        if line.startswith("\t"):
            blocks[heading].append(line.strip())
        else:
            heading = line.split(":")[0]
            blocks[heading] = []
    return blocks


def compare(golden, now):
    """Changes that break programs, and what is new."""
    broken, new = [], []
    for heading, lines in golden.items():
        if heading not in now:
            broken.append(f"{heading}: gone")
            continue
        if heading.startswith("enum") or heading == CONSTANTS:
            broken += [f"{heading}: {line}: changed or gone" for line in lines if line not in now[heading]]
            new += [f"{heading}: {line}" for line in now[heading] if line not in lines]
            continue
        for i, line in enumerate(lines):
            got = now[heading][i] if i < len(now[heading]) else "nothing"
            if got != line:
                broken.append(f"{heading}: {line}: is now: {got}")
        new += [f"{heading}: {line}" for line in now[heading][len(lines):]]
    new += [f"{heading}" for heading in now if heading not in golden]
    return broken, new


HEAD = """# What programs are compiled against: made by tests/abi.py --rewrite from the public headers, for pointers of 64 bits.
# Lines may be added, but none may change or go.
"""


def main():
    arguments = sys.argv[1:]
    rewrite = arguments[:1] == ["--rewrite"]
    arguments = arguments[rewrite:]
    if len(arguments) < 3:
        sys.exit(__doc__.split("\n\n")[1])
    path, include, *compiler = arguments
    text = described(compiler, include)
    golden = ""
    if os.path.exists(path):
        with open(path, encoding="utf-8") as f:
            golden = f.read()
    elif not rewrite:
        sys.exit(f"{path}: not there")
    broken, new = compare(blocks_of(golden), blocks_of(text))
    for line in broken:
        print(f"changed: {line}")
    for line in new:
        print(f"new: {line}")
    if rewrite:
        with open(path, "w", encoding="utf-8") as f:
            f.write(HEAD + text)
        return 0
    print(f"{len(broken)} changed, {len(new)} new")
    if broken:
        print("before a release that may break programs: tests/abi.py --rewrite tests/abi.golden include gcc")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
