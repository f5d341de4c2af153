#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Recordings made while another recorder asks for build ids: kernels then mark devices and inodes as build ids.

usage: together.py PERFDATA

No mapping of a recording that did not ask for build ids may have one, and each must have the device and inode that the file has.
Exit status: 0; 1; 77 nothing can be recorded here.
"""

import json
import os
import subprocess
import sys
import tempfile
import time

WORK = ["sh", "-c", "i=0; while [ $i -lt 20 ]; do ls / >/dev/null; i=$((i+1)); done"]


class Other:
    """A recorder of the whole machine that wants build ids."""

    def __init__(self, perfdata, folder):
        self.path = os.path.join(folder, "other.data")
        self.process = subprocess.Popen([perfdata, "record", "-q", "-o", self.path, "-a", "--buildid-mmap", "-e", "dummy", "--", "sleep", "1000"],
                                        cwd=folder, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, start_new_session=True)
        while self.process.poll() is None and not self.records():
            time.sleep(0.05)

    def records(self):
        """Whether it has begun: the file has more than a header."""
        return os.path.exists(self.path) and os.path.getsize(self.path) > 4096

    def end(self):
        if self.process.poll() is None:
            os.killpg(self.process.pid, 15)
        self.process.communicate()


def maps(perfdata, path):
    text = subprocess.run([perfdata, "dump", "--json", path], capture_output=True, check=True).stdout.decode("utf-8", "replace")
    return [record["fields"] for record in map(json.loads, text.splitlines()) if record.get("type") == "MMAP2"]


def wrong_maps(perfdata, path):
    """Words about mappings that are not as stat has the file; how many were looked at."""
    wrong, seen = [], 0
    for record in maps(perfdata, path):
        name = record["filename"]
        if "build_id" in record:
            wrong.append(f"{name} has a build id: {record}")
        elif os.path.isfile(name):
            seen += 1
            if os.stat(name).st_ino != record["ino"]:
                wrong.append(f"{name}: inode {record['ino']}, not {os.stat(name).st_ino}")
    return wrong, seen


def main():
    perfdata = os.path.abspath(sys.argv[1])
    with tempfile.TemporaryDirectory(prefix="perfdata-together-") as folder:
        other = Other(perfdata, folder)
        if other.process.poll() is not None:
            print("the whole machine cannot be recorded here")
            return 77
        path = os.path.join(folder, "our.data")
        subprocess.run([perfdata, "record", "-q", "-o", path, "-e", "dummy", "--", *WORK], cwd=folder, check=True, stdin=subprocess.DEVNULL)
        other.end()
        wrong, seen = wrong_maps(perfdata, path)
    print("\n".join(wrong[:5]))
    print(f"{seen} mappings of files, {len(wrong)} wrong")
    return 1 if wrong or seen < 20 else 0


if __name__ == "__main__":
    sys.exit(main())
