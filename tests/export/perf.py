#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""perf-json compared with perf data convert --to-json, byte for byte where both have names.

usage: perf.py PERFDATA RECORDING...

Also of the recordings that fresh.py makes. Those that perf fails to convert itself (6.1 crashes where a header feature is missing) are
left out. Exit status: 0 all agrees, 1 not, 77 there is no perf that converts.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile

import fresh

SKIPPED = 77


def run(words):
    return subprocess.run(words, capture_output=True, timeout=120)


def same_but_names(ours, theirs):
    """Equal, but for a few addresses that have a name here and none in perf, or are in the PLT, where perf sees other symbols."""
    more = entries = 0
    for one, other in zip(ours["samples"], theirs["samples"]):
        for entry, plain in zip(one["callchain"], other["callchain"]):
            entries += 1
            if "symbol" not in plain and "symbol" in entry:
                more += 1
                del entry["symbol"], entry["dso"]
            elif "symbol" in plain and entry.get("symbol", "").endswith(("@plt", ".plt")):
                more += entry["symbol"] != plain["symbol"]
                entry["symbol"] = plain["symbol"]
    return ours == theirs and more <= entries // 50


def difference(ours, theirs):
    """The first two samples that differ."""
    if len(ours) != len(theirs):
        return f"{len(ours)} samples, perf has {len(theirs)}"
    at = next((i for i, pair in enumerate(zip(ours, theirs)) if pair[0] != pair[1]), None)
    if at is None:
        return "headers differ"
    return f"sample {at} of {len(ours)}: {ours[at]}, perf has {theirs[at]}"


def same_as_perf(perfdata, folder, path, failures):
    """True if perf could convert the file."""
    theirs = os.path.join(folder, "perf.json")
    if os.path.exists(theirs):
        os.unlink(theirs)
    done = run(["perf", "data", "convert", "--to-json", theirs, "--force", "-i", path])
    if done.returncode or not os.path.exists(theirs) or not os.path.getsize(theirs):
        return False
    done = run([perfdata, "export", "-q", "--to", "perf-json", path])
    if done.returncode == 6:
        return False
    ours = done.stdout
    with open(theirs, "rb") as file:
        expected = file.read()
    if ours != expected and not same_but_names(json.loads(ours), json.loads(expected)):
        failures.append(f"{os.path.basename(path)}: {difference(json.loads(ours)['samples'], json.loads(expected)['samples'])}")
    return True


def main():
    perfdata, recordings = os.path.abspath(sys.argv[1]), sys.argv[2:]
    if not shutil.which("perf"):
        print("no perf")
        return SKIPPED
    failures = []
    compared = 0
    with tempfile.TemporaryDirectory(prefix="perfdata-export-") as folder:
        made = fresh.record(perfdata, folder)
        fresh.remove_maps()
        for path in [*recordings, *made.values()]:
            compared += same_as_perf(perfdata, folder, path, failures)
    print("\n".join(failures) or f"{compared} files are those of perf")
    return 1 if failures else 0 if compared else SKIPPED


if __name__ == "__main__":
    sys.exit(main())
