#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Which configuration files a command reads, and what it says of them.

usage: configuration.py PERFDATA
"""
import os
import subprocess
import sys
import tempfile


def main():
    program = os.path.abspath(sys.argv[1])
    failures = 0

    def check(name, expected, **env):
        """What `version` says on stderr with these variables; each of expected is a part of it, none means nothing."""
        nonlocal failures
        own = {key: value for key, value in os.environ.items() if key not in ("PERF_CONFIG", "HOME")}
        result = subprocess.run([program, "version"], env=dict(own, **env), capture_output=True, timeout=60, check=False)
        said = result.stderr.decode()
        if result.returncode != 0 or not result.stdout or any(part not in said for part in expected) or (said and not expected):
            print(f"{name}: exit status {result.returncode}, said {said!r} instead of {expected}")
            failures += 1

    with tempfile.TemporaryDirectory(prefix="perfdata-configuration-") as home:
        usual = os.path.join(home, ".perfconfig")
        other = os.path.join(home, "other")
        missing = os.path.join(home, "missing")
        check("no file", [], HOME=home)
        check("no home", [])
        check("a home that is no folder", [], HOME=os.path.join(home, ".perfconfig", "x"))
        with open(usual, "w", encoding="ascii") as file:
            file.write("[a]\nkey = 1\n\n? wrong\n")
        with open(other, "w", encoding="ascii") as file:
            file.write("also wrong\n")
        check("a wrong line", [f"{usual}:4: expected [section] or key = value; the rest of the file is ignored"], HOME=home)
        check("only the file that PERF_CONFIG names", [f"{other}:1: "], HOME=home, PERF_CONFIG=other)
        check("none", [], HOME=home, PERF_CONFIG="")
        check("an empty one", [], HOME=home, PERF_CONFIG="/dev/null")
        check("a missing one", [f"{missing}: No such file or directory"], HOME=home, PERF_CONFIG=missing)
        if os.geteuid() == 0:
            os.chown(usual, 12345, 12345)
            check("somebody else's", [f"{usual}: not owned by the current user or root; ignored"], HOME=home)
        os.unlink(usual)
        os.mkfifo(usual)
        check("a FIFO", [], HOME=home)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
