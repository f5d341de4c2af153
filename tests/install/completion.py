#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Completes command lines in the shells that are here.

usage: completion.py PERFDATA

zsh completes what is typed at a terminal, fish when it is asked for. (What bash completes is in cli/help.sh.) Exit
status: 0 as expected, 1 not, 77 with neither shell.
"""

import os
import pty
import re
import shutil
import subprocess
import sys
import tempfile

SKIPPED = 77
# What is typed, and what it becomes.
CASES = [
    ("dum", "dump"), ("buildid-l", "buildid-list"), ("dump --js", "dump --json"), ("dump --type MMAP2", "dump --type MMAP2"),
    ("dump --type NAMESP", "dump --type NAMESPACES"), ("explain truncated-r", "explain truncated-record"),
    ("help --completion fi", "help --completion fish"), ("help exit", "help exit-codes"), ("info only-", "info only-file"),
    ("report --no-symb", "report --no-symbols"),
]
ZSH = """PS1= PROMPT_EOL_MARK= fpath=(FOLDER $fpath)
autoload -U compinit && compinit -u -D
perfdata() { print -r -- "RESULT:$*:END" }
stty -echo
print -r -- READY
"""


def complain(shell, typed, wanted, got):
    print(f"{shell}: perfdata {typed}<Tab>: '{got}', expected '{wanted}'")
    return 1


def read_until(fd, pattern):
    seen = ""
    while True:
        found = re.search(pattern, seen)
        if found:
            return found
        try:
            seen += os.read(fd, 65536).decode("utf-8", "replace")
        except OSError:
            sys.exit(f"zsh ended: {seen}")


def check_zsh(folder):
    with open(os.path.join(folder, ".zshrc"), "w", encoding="utf-8") as f:
        f.write(ZSH.replace("FOLDER", folder))
    child, fd = pty.fork()
    if child == 0:
        os.chdir(folder)
        os.environ.update({"ZDOTDIR": folder, "TERM": "dumb", "LC_ALL": "C"})
        os.execvp("zsh", ["zsh", "-d", "-i"])
    read_until(fd, "READY")
    wrong = 0
    for typed, wanted in CASES:
        os.write(fd, f"perfdata {typed}\t\n".encode())
        got = read_until(fd, r"RESULT:(.*?):END")[1].strip()
        if got != wanted:
            wrong += complain("zsh", typed, wanted, got)
    os.write(fd, b"exit\n")
    os.close(fd)
    os.waitpid(child, 0)
    return wrong


def check_fish(folder):
    wrong = 0
    for typed, wanted in CASES:
        script = f"source {folder}/perfdata.fish; complete -C 'perfdata {typed}'"
        done = subprocess.run(["fish", "--no-config", "-c", script], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              cwd=folder, env={**os.environ, "HOME": folder, "LC_ALL": "C"}, check=True)
        names = [line.split("\t")[0] for line in done.stdout.splitlines()]
        if wanted.split()[-1] not in names:
            wrong += complain("fish", typed, wanted, " ".join(names))
    return wrong


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__.split("\n\n")[1])
    shells = {"zsh": ("_perfdata", check_zsh), "fish": ("perfdata.fish", check_fish)}
    here = [shell for shell in shells if shutil.which(shell)]
    for shell in shells.keys() - set(here):
        print(f"SKIP: no {shell} here")
    wrong = 0
    with tempfile.TemporaryDirectory(prefix="completion-") as folder:
        with open(os.path.join(folder, "only-file"), "w", encoding="utf-8"):
            pass
        for shell in here:
            name, check = shells[shell]
            with open(os.path.join(folder, name), "wb") as f:
                subprocess.run([sys.argv[1], "help", "--completion", shell], stdout=f, check=True)
            wrong += check(folder)
    print(f"{len(CASES)} lines in {' and '.join(here) or 'no shell'}, {wrong} wrong")
    return 1 if wrong else 0 if here else SKIPPED


if __name__ == "__main__":
    sys.exit(main())
