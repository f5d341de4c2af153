# SPDX-License-Identifier: MIT
"""Scripts of an installed perf, which are shell scripts in pairs: NAME-record records what NAME-report runs a Python or Perl script on.

They call perf, which is perfdata there.
"""

import os
import subprocess
from typing import Dict, List, NamedTuple, Optional

from ._errors import Error

FORMS = ("record", "report")
# Functions of a shell are found before programs, and are known in subshells.
SHELL = 'perf() { "$PERFDATA_PROGRAM" "$@"; }; script=$1; shift; . "$script"'


class Script(NamedTuple):
    """Where the two parts are, and what the second one says of itself."""

    paths: Dict[str, str]
    arguments: str = ""
    description: str = ""


def _about(path: str) -> Dict[str, str]:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            lines = [line.lstrip()[1:].strip() for line in file if line.lstrip().startswith("#")]
    except OSError:  # said when it is run
        lines = []
    found = {}
    for line in lines:
        for word in "description", "args":
            if line.startswith(word + ":"):
                found[word] = line[len(word) + 1:].lstrip()
    return found


def scripts(folder: str) -> Dict[str, Script]:
    """All scripts below a folder by their names."""
    found: Dict[str, Script] = {}
    root = os.path.join(folder, "scripts")
    for language in sorted(os.listdir(root)) if os.path.isdir(root) else ():
        bin_folder = os.path.join(root, language, "bin")
        for file in sorted(os.listdir(bin_folder)) if os.path.isdir(bin_folder) else ():
            path, (name, _, form) = os.path.join(bin_folder, file), file.rpartition("-")
            if form in FORMS and os.path.isfile(path):
                found.setdefault(name, Script({})).paths.setdefault(form, path)
    for name, script in list(found.items()):
        about = _about(script.paths["report"]) if "report" in script.paths else {}
        found[name] = script._replace(arguments=about.get("args", ""), description=about.get("description", ""))
    return found


def print_list(folder: str) -> None:
    """As perf script -l, in the order of languages and names."""
    print("List of available trace scripts:")
    for name, script in scripts(folder).items():
        if "report" in script.paths:
            print(f"  {name + ' ' + script.arguments if script.arguments else name:<36} {script.description}")


def _line(path: str, arguments: List[str]) -> List[str]:
    return ["/bin/sh", "-c", SHELL, "perf", path, *arguments]


def _run(line: List[str]) -> int:
    os.execv(line[0], line)
    return 0


def _live(script: Script, words: List[str], has_command: bool) -> int:
    """What is recorded is reported at once. Arguments that the script must have come first, and those of the recording after them."""
    name, *arguments = words
    count = len(arguments) if name.endswith("top") else script.arguments.count("<")
    if len(arguments) < count:
        raise Error(f"`{name}' script requires options: {script.arguments}", "argument")
    has_command = has_command and len(arguments) > count and not name.endswith("top")
    record = [] if has_command else ["-a"]
    with subprocess.Popen(_line(script.paths["record"], [*record, "-q", "-o", "-", *arguments[count:]]), stdout=subprocess.PIPE) as recorder:
        done = subprocess.run(_line(script.paths["report"], [*arguments[:count], "-i", "-"]), stdin=recorder.stdout, check=False)
        if recorder.stdout:
            recorder.stdout.close()
    return done.returncode if done.returncode >= 0 else 128 - done.returncode


def run(folder: str, mode: str, program: str, words: List[str], has_command: bool) -> int:
    """Runs a script by its name: what follows "record" or "report", or in front of all in the mode "live"."""
    os.environ["PERFDATA_PROGRAM"] = program
    known = scripts(folder)
    name = words[0] if mode == "live" else words[1]
    script = known.get(name, Script({}))
    if mode == "record":
        if "record" not in script.paths:  # as perf: it is a recording like others
            return _run([program, "record", *words[1:]])
        return _run(_line(script.paths["record"], ([] if has_command else ["-a"]) + words[2:]))
    if "report" not in script.paths:
        raise Error(f"there is no script '{name}' of perf that reports; perfdata script -l lists them", "argument")
    if mode == "report":
        return _run(_line(script.paths["report"], words[2:]))
    if "record" not in script.paths:
        raise Error(f"{name} records nothing; use perfdata script report {name}", "argument")
    return _live(script, words, has_command)
