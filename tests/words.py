#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Names use the terms of the field: a word that was replaced does not come back, and no static function has a bare verb as its name.

usage: tests/words.py TOP

The words are in tests/words.gone. Strings and comments are not looked at, nor struct members of the kernel.
"""

import glob
import os
import re
import sys

FOLDERS = ("src", "cli", "manual", "server", "include")
SKIPPED = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'', re.S)
STATIC = re.compile(r"^static\b[^;={]*?\b(\w+)\(", re.M)


def read_words(path):
    """The replacements by word, the names that may have it, and the replacements of bare verbs."""
    words, allowed, verbs = {}, set(), {}
    with open(path, encoding="utf-8") as file:
        for line in file:
            line, _, names = line.rstrip("\n").partition("[")
            word, _, replacement = line.partition(" ")
            if word == "static":
                verb, _, replacement = replacement.partition(" ")
                verbs[verb] = replacement
            elif word and not word.startswith("#"):
                words[word] = replacement.strip()
                allowed.update(names.rstrip("]").split())
    return words, allowed, verbs


def main():
    top = sys.argv[1]
    words, allowed, verbs = read_words(os.path.join(top, "tests", "words.gone"))
    found = names = 0
    for path in sorted(p for folder in FOLDERS for p in glob.glob(os.path.join(top, folder, "**", "*.[ch]"), recursive=True)):
        shown = os.path.relpath(path, top)
        with open(path, encoding="utf-8") as file:
            code = SKIPPED.sub(lambda match: "\n" * match[0].count("\n"), file.read())
        places = [(match[0], code.count("\n", 0, match.start()) + 1) for match in re.finditer(r"[A-Za-z_]\w*", code)]
        places.append((re.sub(r"\W", "_", os.path.basename(path)), 1))
        names += len(places)
        for name, line in places:
            for part in name.lower().split("_"):
                gone = part if part in words else part[:-1] if part.endswith("s") else ""
                if gone in words and name not in allowed:
                    found += 1
                    print(f"{shown}:{line}: {name}: the word is {words[gone]} (tests/words.gone)")
        for match in STATIC.finditer(code):
            if match[1] in verbs:
                found += 1
                line = code.count("\n", 0, match.start()) + 1
                print(f"{shown}:{line}: static function {match[1]}: say what it acts on ({verbs[match[1]]})")
    print(f"{names} names, {found} have a word that is gone")
    return 1 if found or not names else 0


if __name__ == "__main__":
    sys.exit(main())
