#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Each list of words stands once in the sources, and each word of it is in help, manual page, completion and docs.

usage: vocabularies.py TOP PERFDATA
"""
import os
import re
import subprocess
import sys

# Name, source, pattern of a word, help of which command, option whose value it may be, page of the docs. A command of None is
# for words that are no values of options.
LISTS = (
    ("sort keys", "src/report/keys/keys.def", r'^KEY\(\w+, HEAD\("(\w+)"', "report", "sort", None),
    ("sample fields", "src/samples/fields.h", r'^\tX\(\w+, \d+, "([\w-]+)"', "script", "fields", None),
    ("metrics", "src/count/events.c", r'^\t\{ "([\w-]+)", ', "stat", "metrics", None),
    ("export formats", "src/export/formats.def", r'^FORMAT\(\w+, "([\w-]+)"', "export", "to", "docs/export.md"),
    ("findings", "src/doctor/findings.def", r'^FINDING\(\w+, "([\w-]+)"', "doctor", None, "docs/doctor.md"),
)
# Columns of perf that hold no value are not offered.
HIDDEN = {"ipc_null"}
KINDS = r'^KIND\(\w+, "(\w+)", "."\)'


def read(top, path):
    with open(os.path.join(top, path), encoding="utf-8") as file:
        return file.read()


def printed(program, *words):
    return subprocess.run([program, *words], capture_output=True, text=True, timeout=60, check=True).stdout


def has(text, word):
    return re.search(rf"(?<![\w-]){re.escape(word)}(?![\w-])", text) is not None


def main():
    top, program = sys.argv[1], os.path.abspath(sys.argv[2])
    shells = {shell: printed(program, "help", "--completion", shell) for shell in ("bash", "zsh", "fish")}
    wrong = []
    count = 0
    for name, source, pattern, command, option, page in LISTS:
        words = [word for word in re.findall(pattern, read(top, source), re.MULTILINE) if word not in HIDDEN]
        if len(words) < 4:
            wrong.append(f"{name}: {source} has {len(words)} words")
        places = {"--help": printed(program, command, "--help"),
                  "the manual page": printed(program, "help", "--man", command).replace("\\-", "-")}
        if option:
            places |= {"completion for " + shell: text for shell, text in shells.items()}
        if page:
            places[page] = read(top, page)
        for word in words:
            count += 1
            wrong += [f"{name}: {word} is not in {place} of {command}" for place, text in places.items() if not has(text, word)]
        # the list is not typed again where it is shown
        for path in ("cli/commands/" + command + ".c", "cli/options/completion.c"):
            again = [word for word in words if re.search(rf'"[^"\n]*(?<![\w-]){re.escape(word)}, [^"\n]*"', read(top, path))]
            if len(again) > len(words) * 2 // 3:
                wrong.append(f"{name}: {path} has the list again: {', '.join(again)}")
    kinds = re.findall(KINDS, read(top, "src/export/page/function_kind.def"), re.MULTILINE)
    colours = read(top, "web/view/ui/colours.ts").split(": Theme = {")[1:3]
    for word in kinds:
        count += 1
        if word != "task" and not all(re.search(rf'\b{word}: "#', theme) for theme in colours):
            wrong.append(f"kinds of functions: {word} has no colour in the page (web/view/ui/colours.ts)")
    if len(kinds) < 5:
        wrong.append("kinds of functions: none found")
    print("\n".join(wrong) or f"{count} words, each where it belongs")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
