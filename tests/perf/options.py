#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Every option that perf's own help has is an option of the command of the same name, or stands in src/vocabulary/absent.def.

usage: options.py PERFDATA TOP [--perf PERF] [--print]

PERF may be another perf, of any version. Without one, it is checked that the options of the table are refused with its words, and that
docs/perf-options.md has them. --print lists each option of perf with what is here.
Exit status: 0 nothing is missing, 1 otherwise, 77 no perf, after these checks passed.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys

# Of perf: the command, and the words that ask for its help. Options of a command of two words may stand before the second one.
COMMANDS = {name: [[name]] for name in ("report", "script", "record", "stat", "top", "list", "inject", "evlist", "buildid-list", "buildid-cache",
                                          "diff", "annotate", "trace", "probe", "kallsyms", "config", "version")}
COMMANDS["timechart"] = [["timechart"]]
COMMANDS["data"] = [["data", "convert"]]
COMMANDS["daemon"] = [["daemon", *words] for words in ([], ["start"], ["stop"], ["signal"], ["ping"])]
for family, members in {"sched": ("timehist", "latency", "map"), "lock": ("report", "info", "contention"), "kmem": ("stat",),
                        "kwork": ("report", "latency", "timehist", "top"), "mem": ("report",), "c2c": ("report",)}.items():
    for member in members:
        COMMANDS[f"{family}-{member}"] = [[family], [family, member]]
TABLE = re.compile(r'^ABSENT\(([\w -]+), "([^"]*)", "(.*)"\)$', re.MULTILINE)
OPTION = re.compile(r"^    (?:-(\S)(?:, | |$)|(?:    )?(?=--))(?:--([a-zA-Z0-9][\w-]*))?", re.MULTILINE)
OWN = re.compile(r"^ {2,6}(?:-(\S), |    )?--([\w-]+)", re.MULTILINE)


def ask(words):
    done = subprocess.run(words, capture_output=True, encoding="utf-8", errors="replace", check=False)
    return done.returncode, done.stdout + done.stderr


def members(family):
    """The commands that a word of the table stands for."""
    return [command for command in COMMANDS if command == family or command.startswith(family + "-")] or [family]


def table(top):
    with open(os.path.join(top, "src", "vocabulary", "absent.def"), encoding="utf-8") as file:
        lines = TABLE.findall(file.read())
    return [(command, name, letter, instead) for commands, names, instead in lines for family in commands.split()
            for command in members(family) for name, _, letter in (word.partition("/") for word in names.split())]


def refused(perfdata, lines):
    """Lines of the table that are not what the program says."""
    wrong = []
    for command, name, letter, instead in lines:
        if command == "perf":
            code, text = ask([perfdata, name])
            if code != 2 or f"perf {name} is not here: {instead}" not in text:
                wrong.append(f"perfdata {name}: in the table of what is not here, and says: {text.splitlines()[:1]}")
            continue
        for word in [*([f"--{name}"] if name else []), *([f"-{letter}"] if letter else [])]:
            code, text = ask([perfdata, command, word])
            if code != 2 or f"of perf is not here: {instead}" not in text:
                wrong.append(f"perfdata {command} {word}: in the table of what is not here, and says: {text.splitlines()[:1]}")
    return wrong


def documented_keys(top):
    """Sort keys that are not here have a line, too."""
    with open(os.path.join(top, "src", "report", "keys", "absent.def"), encoding="utf-8") as file:
        keys = re.findall(r'^ABSENT_KEY\("(\w+)", "(.*)"\)$', file.read(), re.MULTILINE)
    with open(os.path.join(top, "docs", "perf-options.md"), encoding="utf-8") as file:
        page = file.read()
    return [f"sort key {name}: not in docs/perf-options.md" for name, instead in keys if f"| `{name}` | {instead} |" not in page]


def fields(perfdata, top, perf):
    """Fields of perf script that are neither here nor in the table, and those of the table that are not what the program says."""
    with open(os.path.join(top, "src", "samples", "absent.def"), encoding="utf-8") as file:
        text = file.read()
    with open(os.path.join(top, "docs", "perf-options.md"), encoding="utf-8") as file:
        page = file.read()
    absent = dict(re.findall(r'^ABSENT_FIELD\("(\w+)", "(.*)"\)$', text, re.MULTILINE))
    wrong = [f"field {name}: not in docs/perf-options.md" for name, instead in absent.items() if f"| `{name}` | {instead} |" not in page]
    wrong += [f"field {name}: {told[:100]}" for name, instead in absent.items()
              if f"the field {name} of perf is not here: {instead}" not in (told := ask([perfdata, "script", "-F", name, "-i", "/dev/null"])[1])]
    known = re.search(r"Fields: (\S+)", ask([perf, "script", "-h"])[1]) if perf else None
    return wrong + [f"field {name}: neither here nor in src/samples/absent.def" for name in (known[1].split(",") if known else ())
                    if name not in absent and "unknown field" in ask([perfdata, "script", "-F", name, "-i", "/dev/null"])[1]]


def documented(top, lines):
    with open(os.path.join(top, "docs", "perf-options.md"), encoding="utf-8") as file:
        page = file.read()
    return [f"{command} --{name}: not in docs/perf-options.md" for command, name, letter, instead in lines
            if f"`{'' if command == 'perf' else '--'}{name}`" not in page and f"`-{letter}`" not in page or f"| {instead} |" not in page]


def options_of_perf(perf, lists):
    """Letter and name of each option, either of which may be empty."""
    found = {}
    for words in lists:
        for letter, name in OPTION.findall(ask([perf, *words, "-h"])[1]):
            if letter or name:
                found[letter, name] = True
    return list(found)


def missing(perfdata, perf, lines, show):
    """Options of perf that are neither here nor in the table."""
    known = {(command, name): instead for command, name, _, instead in lines}
    letters = {(command, letter): instead for command, _, letter, instead in lines}
    count, wrong = 0, []
    for name in ask([perf, "--list-cmds"])[1].split():
        if ("perf", name) not in known and "unknown command" in ask([perfdata, name, "--help"])[1]:
            wrong.append(f"{name}: neither a command nor in src/vocabulary/absent.def")
    for command, lists in COMMANDS.items():
        own = OWN.findall(ask([perfdata, command, "--help"])[1])
        names = {name for _, name in own} | {name[3:] for _, name in own if name.startswith("no-")}
        names |= {f"no-{name}" for name in names}
        short = {one for one, _ in own}
        for letter, name in options_of_perf(perf, lists):
            count += 1
            instead = known.get((command, name)) if name else None
            if name and name not in names and instead is None:
                wrong.append(f"{command} --{name}: neither an option nor in src/vocabulary/absent.def")
            instead = instead or (letters.get((command, letter)) if letter and letter not in short else None)
            if letter and letter not in short and instead is None:
                wrong.append(f"{command} -{letter}: neither an option nor in src/vocabulary/absent.def")
            if show:
                words = ", ".join(([f"-{letter}"] if letter else []) + ([f"--{name}"] if name else []))
                print(f"{command:16} {words:32} {instead and f'not here: {instead}' or 'here'}")
    return count, wrong


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("perfdata")
    parser.add_argument("top")
    parser.add_argument("--perf", default="perf")
    parser.add_argument("--print", action="store_true")
    options = parser.parse_args()
    lines = table(options.top)
    wrong = refused(options.perfdata, lines) + documented(options.top, lines) + documented_keys(options.top)
    wrong += fields(options.perfdata, options.top, shutil.which(options.perf))
    if not lines or wrong:
        print("\n".join(wrong) or "no table")
        return 1
    if not shutil.which(options.perf) or ask([options.perf, "version"])[0]:
        print(f"{len(lines)} lines of the table; no perf to compare with")
        return 77
    count, wrong = missing(options.perfdata, options.perf, lines, options.print)
    print("\n".join(wrong) or f"{count} options of perf, {len(lines)} of them are not here, as the table says")
    return 1 if wrong or count < 100 else 0


if __name__ == "__main__":
    sys.exit(main())
