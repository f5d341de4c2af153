#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs tools/demo where it can record, and where it cannot.

usage: demo.py DEMO PERFDATA
"""

import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "export"))
import page_format  # noqa: E402

# doctor's exit status says that the profile is poor
REFUSES = """#!/bin/sh
[ "$1" != record ] || { echo "perfdata: not permitted" >&2; exit 1; }
[ "$1" != doctor ] || { "$PERFDATA" "$@"; exit 1; }
exec "$PERFDATA" "$@"
"""


def demo(script, perfdata, folder):
    """The output of tools/demo, after what holds in any case."""
    result = subprocess.run([script, perfdata, folder], stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if result.returncode or result.stderr:
        sys.exit(f"exit status {result.returncode}: {result.stderr}\n{result.stdout}")
    rows = [line for line in result.stdout.splitlines() if line.endswith("[.] burn_mul")]
    if not rows or not 20 < float(rows[0].split("%")[0]) < 90:
        sys.exit(f"burn_mul is not in the report with its share:\n{result.stdout}")
    with open(os.path.join(folder, "flame.html"), encoding="utf-8") as page:
        pages = page_format.containers_of(page.read())
    if "burn_mul" not in pages[0].of("strings"):
        sys.exit("burn_mul is not in the flame graph")
    return result.stdout


def main():
    script, perfdata = (os.path.abspath(path) for path in sys.argv[1:])
    with tempfile.TemporaryDirectory(prefix="perfdata demo ") as folder:
        refusing = os.path.join(folder, "perfdata")
        with open(refusing, "w", encoding="utf-8") as file:
            file.write(REFUSES)
        os.chmod(refusing, 0o755)
        os.environ["PERFDATA"] = perfdata
        text = demo(script, refusing, folder)
        if "Cannot record here: perfdata: not permitted" not in text or "hot.tar.zst" not in text:
            sys.exit(f"the recording in the tree is not shown:\n{text}")
        text = demo(script, perfdata, folder)
        if ("Recorded a small program" in text) == ("Cannot record here" in text):
            sys.exit(f"neither recorded nor said why not:\n{text}")


if __name__ == "__main__":
    main()
