#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks that no module includes a header of a floor above it, and that what a module keeps to itself stays there.

usage: tools/floors.py [top of the tree]
       tools/floors.py --self-test
"""

import os
import re
import sys
import tempfile

from links import ORDER

# From the ground up, as tools/links.py has it.
FLOORS = tuple((folder.split("/")[1],) for folder in ORDER if folder.startswith("src/")) + (("cli", "manual", "server", "web"),)
PLACE = {m: (f, i) for f, row in enumerate(FLOORS) for i, m in enumerate(row)}

# These are users of the library like any other.
OUTSIDE = FLOORS[-1]

# Of cli; some of src are called the same.
CLI_FOLDERS = ("front", "options", "files", "record", "report", "stat", "scrub", "top", "commands")
# Folders of their own that cli uses.
CLI_USES = ("manual", "server")

# Adapters to foreign libraries: they see everything, nobody sees them.
DEPS = "deps"
# What takes the place of the system in builds without parts, likewise.
WITHOUT = "without"
APART = (DEPS, WITHOUT)

FOREIGN = re.compile(
    r"(zstd|zstd_errors|zdict|zlib|zconf|lzma|bzlib|libelf|gelf|dwarf|sqlite3|sqlite3ext)\.h$"
    r"|(lzma|elfutils|libdwarf)/"
)
HTTP = "microhttpd.h"
HTTP_USER = "server"
KERNEL = "linux/perf_event.h"
KERNEL_USER = "record"

# A header of this name is for its own module and the unit tests of that.
PRIVATE = "inside.h"
# Structs that others reach by functions only, and the private header that has their members.
OPAQUE = {
    "pd_file": "src/file/inside.h",
    "pd_stream": "src/stream/read/inside.h",
    "pd_scratch": "src/stream/read/inside.h",
    "pd_writer": "src/write/inside.h",
}

SUFFIXES = (".c", ".h", ".def", ".inc")
ROOTS = ("src", "cli", "manual", "server", "web", "include")
# Looked at for private headers alone.
TESTS = "tests"

# Literals are matched so that a comment sign inside one starts no comment.
TOKEN = re.compile(
    r"""/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'""", re.DOTALL
)
INCLUDE = re.compile(r"^[ \t]*#[ \t]*include\b[ \t]*(.*?)[ \t]*$", re.MULTILINE)
NAME = re.compile(r'(?:<([^>]+)>|"([^"]+)")$')
MEMBERS = re.compile(r"^struct (\w+) \{", re.MULTILINE)


def without_comments(text):
    def blank(match):
        token = match.group()
        if token[0] != "/":
            return token
        return " " + "\n" * token.count("\n")

    return TOKEN.sub(blank, text)


def module_of(path):
    """The module of a file, None for a file of src which is in none."""
    parts = path.split("/")
    if parts[0] == "src":
        module = parts[1] if len(parts) > 2 else None
        return module if module in PLACE or module in APART else None
    return parts[0]


def judge(module, target):
    """Why a file of the module may not have this include, or None."""
    match = NAME.match(target)
    if not match:
        return "computed include"
    quoted = match.group(2) is not None
    name = match.group(1) or match.group(2)
    first = name.split("/")[0] if "/" in name else None

    if FOREIGN.match(name):
        return None if module == DEPS else f"foreign header {name} outside src/deps"
    if name == HTTP:
        return None if module == HTTP_USER else f"{name} outside {HTTP_USER}"
    if name == KERNEL:
        return None if module == KERNEL_USER else f"{name} outside src/{KERNEL_USER}"
    if ".." in name.split("/"):
        return f"path {name} is not written from src"
    if first == "perfdata":
        return f"public header {name} in quotes" if quoted and module != "include" else None

    ours = first in PLACE or first in APART
    if not quoted and not ours:
        return None
    if module in OUTSIDE:
        if first == module or (quoted and first is None):
            return None
        if module == "cli" and quoted and first in CLI_FOLDERS + CLI_USES:
            return None
        return f"{module} includes {name}, which is not public"
    if module == "include":
        return f"public header includes {name}, which is not public" if ours else None
    if not ours:
        return f"{name} is in no module"
    if module in APART or first == module:
        return None
    if first in APART:
        return f"{module} includes {name} of {first}"
    here, there = PLACE[module], PLACE[first]
    if there[0] > here[0]:
        return f"step upward: {module} (floor {here[0]}) includes {name} (floor {there[0]})"
    return None


def judge_private(path, target):
    """Why a file may not have this include of what may be a private header, or None."""
    match = NAME.match(target)
    name = (match.group(1) or match.group(2)) if match else ""
    owner = name.split("/")[0]
    if not name.endswith("/" + PRIVATE) or path.startswith((f"src/{owner}/", f"{TESTS}/unit/{owner}/")):
        return None
    return f"{name} is private to src/{owner}"


def judge_struct(path, name):
    """Why a file may not define this struct, or None."""
    where = OPAQUE.get(name, path)
    return None if path == where else f"members of struct {name} outside {where}"


def check(top):
    """Returns the numbers of files and includes, and (file, line, reason)s."""
    files = includes = 0
    violations = []
    for root in ROOTS + (TESTS,):
        for folder, folders, names in os.walk(os.path.join(top, root)):
            folders.sort()
            for name in sorted(names):
                if not name.endswith(SUFFIXES):
                    continue
                full = os.path.join(folder, name)
                path = os.path.relpath(full, top).replace(os.sep, "/")
                files += 1
                module = module_of(path)
                if module is None:
                    violations.append((path, 1, "file is in no module"))
                    continue
                with open(full, encoding="utf-8") as f:
                    text = without_comments(f.read())
                found = []
                for match in INCLUDE.finditer(text):
                    includes += 1
                    reason = None if root == TESTS else judge(module, match.group(1))
                    found.append((match, reason or judge_private(path, match.group(1))))
                found += [(match, judge_struct(path, match.group(1))) for match in MEMBERS.finditer(text)]
                for match, reason in found:
                    if reason:
                        violations.append((path, text.count("\n", 0, match.start()) + 1, reason))
    return files, includes, violations


GOOD = {
    "src/base/cursor.h": "#include <stdint.h>\n#include <perfdata/perfdata.h>\n",
    "src/base/cursor.c": '#include "base/cursor.h"\n/*\n#include "state/state.h"\n*/\n',
    "src/base/text.c": 'static const char s[] = "/*";\n#include <string.h>\n',
    "src/record/kernel.c": '#include <linux/perf_event.h>\n#include "stream/stream.h"\n',
    "src/symbol/lookup.c": '#include "state/state.h"\n#include "object/elf/elf.h"\n',
    "src/deps/zstd.c": '#include <zstd.h>\n#include "file/unpack.h"\n#include "deps/deps.h"\n',
    "src/export/text.c": '#include "profile/tree.h"\n#include "base/cursor.h"\n',
    "cli/main.c": '#include <perfdata/perfdata.h>\n#include "cmd.h"\n#include "cli/out.h"\n',
    "cli/view.c": '#include "front/cli.h"\n#include "manual/manual.h"\n#include "server/server.h"\n',
    "server/http.c": '#include <microhttpd.h>\n#include <perfdata/viewer.h>\n#include "server/server.h"\n',
    "src/file/inside.h": "struct pd_file {\n\tint fd;\n};\n",
    "src/file/open.c": '#include "file/inside.h"\n',
    "tests/unit/file/open.c": '#include "file/inside.h"\n#include "test.h"\n',
    "web/serve.c": '#include "web/http.h"\n',
    "include/perfdata/perfdata.h": "#include <perfdata/error.h>\n#include <stddef.h>\n",
    "include/perfdata/table/all.def": '#include "one.def"\n',
}

# path: content, line of the violation, words of its reason
BAD = (
    ("src/base/up.c", '\n#include "format/header.h"\n', 2, "step upward"),
    ("src/file/up.h", '/* a\nb */ # include "state/state.h" // c\n', 2, "step upward"),
    ("src/state/right.c", '#include "record/record.h"\n', 1, "step upward"),
    ("src/profile/right.c", '#include "export/text.h"\n', 1, "step upward"),
    ("src/file/angle.c", "#include <state/state.h>\n", 1, "step upward"),
    ("src/record/deps.c", '#include "deps/deps.h"\n', 1, "of deps"),
    ("src/symbol/foreign.c", "#include <elfutils/libdw.h>\n", 1, "foreign header"),
    ("src/file/foreign.c", '#include "zstd.h"\n', 1, "foreign header"),
    ("src/file/zlib.c", "#include <zlib.h>\n", 1, "foreign header"),
    ("src/file/lzma.c", "#include <lzma.h>\n", 1, "foreign header"),
    ("src/symbol/dwarf.c", "#include <dwarf.h>\n", 1, "foreign header"),
    ("src/export/sqlite.c", "#include <sqlite3.h>\n", 1, "foreign header"),
    ("src/state/kernel.c", "#include <linux/perf_event.h>\n", 1, "outside src/record"),
    ("src/base/short.c", '#include "cursor.h"\n', 1, "in no module"),
    ("src/base/dots.c", '#include "../file/file.h"\n', 1, "not written from src"),
    ("src/base/public.c", '#include "perfdata/perfdata.h"\n', 1, "in quotes"),
    ("src/base/macro.c", "#include HEADER\n", 1, "computed"),
    ("src/loose.c", "int x;\n", 1, "file is in no module"),
    ("src/attic/old.c", "int x;\n", 1, "file is in no module"),
    ("cli/private.c", '#include "base/cursor.h"\n', 1, "not public"),
    ("cli/foreign.c", "#include <zstd.h>\n", 1, "foreign header"),
    ("cli/kernel.c", "#include <linux/perf_event.h>\n", 1, "outside src/record"),
    ("cli/http.c", "#include <microhttpd.h>\n", 1, "outside server"),
    ("manual/cli.c", '#include "options/options.h"\n', 1, "not public"),
    ("server/manual.c", '#include "manual/manual.h"\n', 1, "not public"),
    ("server/cli.c", '#include "front/cli.h"\n', 1, "not public"),
    ("server/private.c", '#include "view/view.h"\n', 1, "not public"),
    ("web/private.c", '#include "cli/out.h"\n', 1, "not public"),
    ("src/stream/private.c", '#include "file/file.h"\n#include "file/inside.h"\n', 2, "private to src/file"),
    ("src/file/members.h", "struct pd_file;\n\nstruct pd_file {\n\tint fd;\n};\n", 3, "members of struct pd_file"),
    ("tests/unit/stream/private.c", '#include "file/inside.h"\n', 1, "private to src/file"),
    ("include/perfdata/leak.h", '#include "base/cursor.h"\n', 1, "not public"),
)


def self_test():
    with tempfile.TemporaryDirectory() as top:
        contents = dict(GOOD)
        contents.update({path: text for path, text, _, _ in BAD})
        for path, text in contents.items():
            full = os.path.join(top, path)
            os.makedirs(os.path.dirname(full), exist_ok=True)
            with open(full, "w", encoding="utf-8") as f:
                f.write(text)
        files, _, violations = check(top)
    wrong = 0
    for path, _, line, words in BAD:
        found = [v for v in violations if v[0] == path]
        if len(found) != 1 or found[0][1] != line or words not in found[0][2]:
            print(f"self-test: {path}:{line}: expected '{words}', found {found}")
            wrong += 1
    for path, line, reason in violations:
        if path in GOOD:
            print(f"self-test: {path}:{line}: no violation, but: {reason}")
            wrong += 1
    if files != len(contents):
        print(f"self-test: {files} files read of {len(contents)}")
        wrong += 1
    print(f"floors: self-test, {len(BAD)} violations looked for, {wrong} wrong")
    return 1 if wrong else 0


def main(args):
    if args == ["--self-test"]:
        return self_test()
    if len(args) > 1 or (args and args[0].startswith("-")):
        print(__doc__.strip(), file=sys.stderr)
        return 2
    top = args[0] if args else os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
    files, includes, violations = check(top)
    for path, line, reason in violations:
        print(f"{path}:{line}: {reason}")
    print(f"floors: {files} files, {includes} includes, {len(violations)} violations")
    if not files:
        print("floors: nothing to read here", file=sys.stderr)
    return 1 if violations or not files else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
