#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""record --data-mmap and --sample-mem-info: what is in the file with them and without, and the same of perf 7.2 where there is one.

usage: data.py PERFDATA [PERF]

A program maps a file that is no code and reads it. PERF is a perf that has both options. Exit status: 0 all is there and equal, 1 not, 77
nothing can be recorded here.
"""

import os
import re
import subprocess
import sys
import tempfile

PROGRAM = """
import mmap
with open("data-that-is-read", "r+b") as file:
    view = mmap.mmap(file.fileno(), 0)
sum(view[at] for _ in range(200) for at in range(0, len(view), 64))
"""
# Options, whether mappings of data are recorded, whether sources of data are.
LINES = (("", False, False), ("--data-mmap", True, False), ("--sample-mem-info", False, True), ("--data-mmap --sample-mem-info", True, True), ("-d", True, True))


class Data:
    def __init__(self, perfdata, perf, folder):
        self.perfdata, self.perf, self.folder = perfdata, perf, folder
        with open(os.path.join(folder, "data-that-is-read"), "wb") as file:
            file.write(bytes(1 << 16))

    def record(self, program, words):
        return subprocess.run([program, "record", "-q", "-e", "cpu-clock:u", "-o", "out.data", *words, "--", sys.executable, "-c", PROGRAM], cwd=self.folder,
                              capture_output=True, text=True, check=False)

    def text(self):
        done = subprocess.run([self.perfdata, "text", "out.data"], cwd=self.folder, capture_output=True, check=True)
        return done.stdout.decode("utf-8", "replace")

    def found(self):
        """What a recording has: the mapping of the file, its mark in the event, and sources of data in samples."""
        text = self.text()
        return {"mapping": bool(re.search(r"^MMAP2? .*MMAP_DATA.*data-that-is-read", text, re.M)), "mmap_data": bool(re.search(r"^\tflags: .*\bmmap_data\b", text, re.M)),
                "sample_type": re.search(r"^\tsample_type: (.*)", text, re.M)[1], "samples with a source": len(re.findall(r"^SAMPLE .*data_src: ", text, re.M)) > 0}

    def compare(self, line, maps, sources):
        words = line.split()
        done = self.record(self.perfdata, words)
        if done.returncode:
            return [f"{line}: {done.stderr}"]
        ours = self.found()
        wanted = {"mapping": maps, "mmap_data": maps, "samples with a source": sources}
        wrong = [f"{line}: {name}: {ours[name]}, not {value}" for name, value in wanted.items() if ours[name] != value]
        if ("DATA_SRC" in ours["sample_type"]) != sources:
            wrong.append(f"{line}: sample_type {ours['sample_type']}")
        if self.perf and not wrong:
            self.record(self.perf, words)
            theirs = self.found()
            wrong += [f"{line}: {name}: {ours[name]}, of perf {theirs[name]}" for name in ours if theirs[name] != ours[name]]
        return wrong


def main():
    perfdata, perf = os.path.abspath(sys.argv[1]), (sys.argv[2:] or [None])[0]
    with tempfile.TemporaryDirectory(prefix="perfdata-data-") as folder:
        data = Data(perfdata, perf, folder)
        if data.record(perfdata, []).returncode:
            print("nothing can be recorded here")
            return 77
        wrong = [problem for line in LINES for problem in data.compare(*line)]
    print("\n".join(wrong) or f"{len(LINES)} lines of options, {'with' if perf else 'without'} perf")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
