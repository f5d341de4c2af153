#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Every option that perf's own help has is an option of the command of the same name, or stands in cli/options/absent.def.

usage: options.py PERFDATA TOP

Without perf, it is checked that the options of the table are refused with its words, and that docs/perf-options.md has them.
Exit status: 0 nothing is missing, 1 otherwise, 77 no perf 6.1, after these checks passed.
"""

import os
import re
import subprocess
import sys

# of perf: the command, and the words that ask for its help
COMMANDS = {name: [name] for name in ("report", "script", "record", "stat", "top", "list", "inject", "evlist", "buildid-list", "diff", "annotate",
                                        "trace", "probe")}
COMMANDS["data"] = ["data", "convert"]
TABLE = re.compile(r'^ABSENT\(([\w-]+), "([^"]*)", "(.*)"\)$', re.MULTILINE)
OPTION = re.compile(r"^    (?:-(\S)(?:, | |$)|(?:    )?(?=--))(?:--([a-zA-Z0-9][\w-]*))?", re.MULTILINE)
OWN = re.compile(r"^ {2,6}(?:-(\S), |    )?--([\w-]+)", re.MULTILINE)


def ask(words):
    done = subprocess.run(words, capture_output=True, encoding="utf-8", errors="replace", check=False)
    return done.returncode, done.stdout + done.stderr


def table(top):
    with open(os.path.join(top, "cli", "options", "absent.def"), encoding="utf-8") as file:
        lines = TABLE.findall(file.read())
    return [(command, name, letter, instead) for command, names, instead in lines
            for name, _, letter in (word.partition("/") for word in names.split())]


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


def documented(top, lines):
    with open(os.path.join(top, "docs", "perf-options.md"), encoding="utf-8") as file:
        page = file.read()
    return [f"{command} --{name}: not in docs/perf-options.md" for command, name, letter, instead in lines
            if f"`{'' if command == 'perf' else '--'}{name}`" not in page and f"`-{letter}`" not in page or f"| {instead} |" not in page]


def missing(perfdata, lines):
    """Options of perf that are neither here nor in the table."""
    known = {(command, name) for command, name, _, _ in lines}
    letters = {(command, letter) for command, _, letter, _ in lines}
    count, wrong = 0, []
    for name in ask(["perf", "--list-cmds"])[1].split():
        if ("perf", name) not in known and "unknown command" in ask([perfdata, name, "--help"])[1]:
            wrong.append(f"{name}: neither a command nor in cli/options/absent.def")
    for command, words in COMMANDS.items():
        own = OWN.findall(ask([perfdata, command, "--help"])[1])
        names = {name for _, name in own} | {name[3:] for _, name in own if name.startswith("no-")}
        names |= {f"no-{name}" for name in names}
        for letter, name in OPTION.findall(ask(["perf", *words, "-h"])[1]):
            count += bool(letter or name)
            if name and name not in names and (command, name) not in known:
                wrong.append(f"{command} --{name}: neither an option nor in cli/options/absent.def")
            if letter and letter not in {one for one, _ in own} and (command, letter) not in letters:
                wrong.append(f"{command} -{letter}: neither an option nor in cli/options/absent.def")
    return count, wrong


def main():
    perfdata, top = sys.argv[1:3]
    lines = table(top)
    wrong = refused(perfdata, lines) + documented(top, lines)
    if not lines or wrong:
        print("\n".join(wrong) or "no table")
        return 1
    try:
        code, text = ask(["perf", "version"])
    except OSError:
        code, text = 1, ""
    if code or " 6.1" not in text:
        print(f"{len(lines)} lines of the table; no perf 6.1 to compare with")
        return 77
    count, wrong = missing(perfdata, lines)
    print("\n".join(wrong) or f"{count} options of perf, {len(lines)} of them are not here, as the table says")
    return 1 if wrong or count < 100 else 0


sys.exit(main())
