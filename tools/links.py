#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks by the object files of a build which file uses which: no circle of files, no folder that uses one above it
or includes a public header that is implemented above it, no folder or file that is too large.

usage: tools/links.py BUILD [--picture | --write | --list | --shrink | --ties FILE...]
       tools/links.py --self-test

tools/floors.py reads includes, which say what a file could use; the symbols of its object file say what it does use.
--picture prints lines and arrows of all folders as a table, --write puts those of the upper folders into docs/architecture.md,
which is compared without it; --list prints what is wrong; --ties the names that hold a circle together. --shrink takes what is
no longer wrong out of the list. What is still wrong is listed in tools/links.known, a line each; a line that is no longer true
is a failure, so the list only shrinks.
"""

import collections
import os
import re
import subprocess
import sys

TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
KNOWN = os.path.join(TOP, "tools", "links.known")
# Where the documentation has who uses whom, and between which lines.
PAGE = os.path.join(TOP, "docs", "architecture.md")
BEGIN, END = "<!-- begin: tools/links.py --write -->\n\n", "\n<!-- end -->\n"

# From the ground up: a folder uses only those before it. Of src/edit and cli, folders below count each.
ORDER = (
    "src/base", "src/format", "src/file", "src/stream", "src/object", "src/trace", "src/header", "src/filter", "src/state", "src/interval",
    "src/dump",
    "src/symbol", "src/sched", "src/pairs", "src/lock", "src/kmem", "src/kwork", "src/timechart",
    "src/unwind", "src/probe",
    "src/profile", "src/mem", "src/blocks", "src/annotate", "src/type", "src/report", "src/diff", "src/flame", "src/samples", "src/doctor", "src/write", "src/quipper", "src/import", "src/edit", "src/stack", "src/table", "src/sql", "src/store", "src/export", "src/view",
    "src/record",
    "src/daemon", "src/count", "src/top", "src/tracer", "src/vocabulary", "manual", "server", "cli",
)
# Structs of functions that other folders declare: nobody calls them by name but through those.
PLUGS = "src/deps"

FILES_MOST = 20
# One file for each command.
ANY_NUMBER = ("cli/commands",)
LINES_MOST = {"src": 700, "manual": 500, "server": 500, "cli": 500}


def sources():
    found = []
    for root in LINES_MOST:
        for folder, folders, names in os.walk(os.path.join(TOP, root)):
            folders.sort()
            found += [os.path.relpath(os.path.join(folder, name), TOP) for name in sorted(names) if name.endswith((".c", ".h"))]
    return found


def object_files(build, paths):
    """Object file of each source that this build has."""
    found = {}
    for path in paths:
        if not path.endswith(".c"):
            continue
        if path.startswith("src/"):
            at = os.path.join(build, "src", "libperfdata.a.p", path[len("src/"):].replace("/", "_") + ".o")
        else:
            at = os.path.join(build, "perfdata.p", path.replace("/", "_") + ".o")
        if os.path.exists(at):
            found[path] = at
    return found


def read_symbols(objects):
    """Names that each file defines for others, and names that it needs."""
    defines, needs = {}, collections.defaultdict(set)
    by_object = {os.path.abspath(at): path for path, at in objects.items()}
    out = subprocess.run(["nm", "-A", "-P", *by_object], check=True, capture_output=True, text=True).stdout
    for line in out.splitlines():
        at, _, rest = line.partition(": ")
        name, kind = rest.split()[:2]
        if kind == "U":
            needs[by_object[at]].add(name)
        elif kind.isupper():
            defines[name] = by_object[at]
    return defines, needs


def arrows_of(defines, needs):
    """file: {other file: names}"""
    arrows = collections.defaultdict(lambda: collections.defaultdict(set))
    for path, names in needs.items():
        for name in names:
            other = defines.get(name)
            if other and other != path:
                arrows[path][other].add(name)
    return arrows


def circles(arrows):
    """Strongly connected components of more than one file (Tarjan, without recursion)."""
    order, low, stack, on_stack, found = {}, {}, [], set(), []
    for start in sorted(arrows):
        if start in order:
            continue
        work = [(start, None, iter(sorted(arrows[start])))]
        order[start] = low[start] = len(order)
        stack.append(start)
        on_stack.add(start)
        while work:
            node, parent, others = work[-1]
            for other in others:
                if other not in order:
                    order[other] = low[other] = len(order)
                    stack.append(other)
                    on_stack.add(other)
                    work.append((other, node, iter(sorted(arrows.get(other, ())))))
                    break
                if other in on_stack:
                    low[node] = min(low[node], order[other])
            else:
                work.pop()
                if parent is not None:
                    low[parent] = min(low[parent], low[node])
                if low[node] == order[node]:
                    group = set()
                    while node not in group:
                        group.add(stack.pop())
                    on_stack -= group
                    if len(group) > 1:
                        found.append(tuple(sorted(group)))
    return sorted(found)


def floor_of(path):
    for i, folder in enumerate(ORDER):
        if path.startswith(folder + "/"):
            return i
    return None


def upward(arrows):
    for path, others in sorted(arrows.items()):
        for other, names in sorted(others.items()):
            here, there = floor_of(path), floor_of(other)
            if here is not None and there is not None and there > here:
                yield path, other, sorted(names)


def header_floors(defines):
    """The lowest floor that has a function of each public header."""
    floors = {}
    folder = os.path.join(TOP, "include", "perfdata")
    for name in sorted(os.listdir(folder)):
        if not name.endswith(".h"):
            continue
        with open(os.path.join(folder, name), encoding="utf-8") as f:
            words = re.findall(r"\b(pd_\w+)\(", f.read())
        found = [floor_of(defines[word]) for word in words if word in defines]
        floors[name] = min((floor for floor in found if floor is not None), default=0)
    return floors


def upward_headers(paths, floors):
    """Files that include a public header whose functions are all above them."""
    for path in paths:
        here = floor_of(path)
        if here is None or not path.startswith("src/"):
            continue
        with open(os.path.join(TOP, path), encoding="utf-8") as f:
            for name in re.findall(r"#include <perfdata/(\w+\.h)>", f.read()):
                if floors.get(name, 0) > here:
                    yield path, name, ORDER[floors[name]]


def count_lines(path):
    with open(os.path.join(TOP, path), encoding="utf-8") as f:
        return sum(1 for _ in f)


def too_large(paths, lines):
    folders = collections.Counter(os.path.dirname(path) for path in paths)
    for folder, count in sorted(folders.items()):
        if count > FILES_MOST and folder not in ANY_NUMBER:
            yield f"folder {folder}"
    for path in paths:
        if lines[path] > LINES_MOST[path.split("/")[0]]:
            yield f"long {path}"


def faults(build):
    """Every fault as the line that links.known has for it, with details."""
    paths = sources()
    objects = object_files(build, paths)
    defines, needs = read_symbols(objects)
    arrows = arrows_of(defines, needs)
    lines = {path: count_lines(path) for path in paths}
    found = {}
    for group in circles(arrows):
        for path in group:
            found[f"circle {path}"] = f"in a circle of {len(group)} files: {' '.join(group)}"
    for path, other, names in upward(arrows):
        found[f"upward {path} {other}"] = ", ".join(names)
    for path, name, folder in upward_headers(paths, header_floors(defines)):
        found[f"header {path} {name}"] = f"its functions are in {folder}"
    for line in too_large(paths, lines):
        found[line] = str(lines.get(line.split()[1], "more files than a folder may have"))
    return found, arrows, lines, objects


def read_known():
    if not os.path.exists(KNOWN):
        return []
    with open(KNOWN, encoding="utf-8") as f:
        return [line.strip() for line in f if line.strip() and not line.startswith("#")]


def check(build, list_them=False):
    found, arrows, _, objects = faults(build)
    known = read_known()
    new = sorted(set(found) - set(known))
    gone = sorted(set(known) - set(found))
    if list_them:
        print(*sorted(found), sep="\n")
        return 0
    for line in new:
        print(f"{line}: {found[line]}")
    for line in gone:
        print(f"{line}: no longer so; take it out of tools/links.known")
    count = collections.Counter(line.split()[0] for line in found)
    is_shown = drawn(arrows) in page_parts()
    if not is_shown:
        print("docs/architecture.md: folders use others than it shows; run: tools/docs PERFDATA")
    print(f"links: {len(objects)} object files; {count['circle']} files in circles, {count['upward'] + count['header']} arrows upward, "
          f"{count['folder']} large folders, {count['long']} long files; {len(new)} new, {len(gone)} to be taken off the list")
    return 1 if new or gone or not objects or not is_shown else 0


def shrink(build):
    found = faults(build)[0]
    with open(KNOWN, encoding="utf-8") as f:
        lines = [line for line in f if line.startswith("#") or line.strip() in found]
    with open(KNOWN, "w", encoding="utf-8") as f:
        f.writelines(lines)
    return check(build)


def folder_of(path):
    return os.path.dirname(path)


def picture(build):
    _, arrows, lines, _ = faults(build)
    total, uses = collections.Counter(), collections.defaultdict(set)
    files = collections.Counter()
    for path, count in lines.items():
        total[folder_of(path)] += count
        files[folder_of(path)] += 1
    for path, others in arrows.items():
        uses[folder_of(path)] |= {folder_of(other) for other in others} - {folder_of(path)}

    def key(folder):
        floor = floor_of(folder + "/")
        return (len(ORDER) if floor is None else floor, folder)

    print("| folder | files | lines | uses |\n| --- | ---: | ---: | --- |")
    for folder in sorted(total, key=key):
        names = ", ".join(name.removeprefix("src/") for name in sorted(uses[folder], key=key))
        print(f"| `{folder}` | {files[folder]} | {total[folder]} | {names} |")
    return 0


def upper(path):
    """The folder of ORDER, or deps, in which a file is."""
    return "/".join(path.split("/")[: 2 if path.startswith("src/") else 1])


def drawn(arrows):
    """Which upper folders use which, as a table; no numbers, so that it changes when the design does."""
    uses = collections.defaultdict(set)
    for path, others in arrows.items():
        uses[upper(path)] |= {upper(other) for other in others} - {upper(path)}
    rows = []
    for folder in [*ORDER, PLUGS]:
        names = [name.removeprefix("src/") for name in [*ORDER, PLUGS] if name in uses[folder]]
        if names:
            rows.append(f"| `{folder}` | {', '.join(names)} |\n")
    return "| folder | uses |\n| --- | --- |\n" + "".join(rows)


def page_parts():
    """The page before, in and after the picture."""
    with open(PAGE, encoding="utf-8") as f:
        text = f.read()
    before, begin, rest = text.partition(BEGIN)
    inside, end, after = rest.partition(END)
    if not begin or not end:
        sys.exit(f"docs/architecture.md: no lines {BEGIN.strip()} and {END.strip()}")
    return before, inside, after


def write(build):
    _, arrows, _, objects = faults(build)
    if not objects:
        sys.exit(f"{build}: no object files")
    before, _, after = page_parts()
    with open(PAGE, "w", encoding="utf-8") as f:
        f.write(before + BEGIN + drawn(arrows) + END + after)
    return 0


def ties(build, paths):
    _, arrows, _, _ = faults(build)
    for group in circles(arrows):
        if paths and not set(paths) & set(group):
            continue
        print(f"{len(group)} files: {' '.join(group)}")
        for path in group:
            for other in sorted(set(arrows[path]) & set(group)):
                print(f"  {path} -> {other}: {', '.join(sorted(arrows[path][other]))}")
    return 0


def self_test():
    arrows = {"a": {"b": "x"}, "b": {"c": "y"}, "c": {"a": "z"}, "d": {"a": "w"}, "e": {"f": "v"}, "f": {"e": "u"}, "g": {}}
    assert circles(arrows) == [("a", "b", "c"), ("e", "f")], circles(arrows)
    assert circles({"a": {"b": "x"}, "b": {}}) == []
    up = {"src/base/a.c": {"src/format/b.c": {"n"}}, "src/write/c.c": {"src/base/a.c": {"m"}}, "src/deps/z.c": {"cli/x.c": {"o"}}}
    assert list(upward(up)) == [("src/base/a.c", "src/format/b.c", ["n"])], list(upward(up))
    many = [f"src/base/{i}.c" for i in range(FILES_MOST + 1)] + ["cli/front/long.c", "src/file/long.c"]
    large = list(too_large(many, {path: 501 for path in many}))
    assert large == ["folder src/base", "long cli/front/long.c"], large
    high = list(upward_headers(["src/symbol/lookup.h"], {"symbol.h": ORDER.index("src/write")}))
    assert high == [("src/symbol/lookup.h", "symbol.h", "src/write")], high
    assert not list(upward_headers(["src/symbol/lookup.h"], {"symbol.h": ORDER.index("src/symbol")}))
    rows = drawn(up).splitlines()[2:]
    assert rows == ["| `src/base` | format |", "| `src/write` | base |", "| `src/deps` | cli |"], rows
    defined = arrows_of({"n": "a.c", "m": "b.c"}, {"a.c": {"m", "n", "printf"}, "b.c": set()})
    assert {path: dict(others) for path, others in defined.items()} == {"a.c": {"b.c": {"m"}}}, defined
    print("links: self-test passed")
    return 0


def main(arguments):
    if arguments == ["--self-test"]:
        return self_test()
    if not arguments or arguments[0].startswith("-"):
        print(__doc__, file=sys.stderr)
        return 2
    build, *rest = arguments
    if rest == ["--list"]:
        return check(build, True)
    if rest == ["--shrink"]:
        return shrink(build)
    if rest == ["--picture"]:
        return picture(build)
    if rest == ["--write"]:
        return write(build)
    if rest[:1] == ["--ties"]:
        return ties(build, rest[1:])
    return check(build)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
