#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Recordings as text and back: what `perfdata assemble` makes of `perfdata text` is, byte for byte, what `perfdata convert`
makes of the recording, and has the content of the recording. What `convert` wrote comes back as it is.

usage: text.py PERFDATA COMPARE RECORDING_OR_CORPUS... [--only TEXT]
"""

import collections
import filecmp
import os
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "corpus"))
import common  # noqa: E402

def data_of(folder):
    """Files with records. Copies of the kernel beside them (kcore_dir) are no part of a text."""
    return sorted(n for n in os.listdir(folder) if n.startswith("data"))


def same(a, b):
    if os.path.isdir(a):
        names = data_of(a)
        return names == data_of(b) and all(
            filecmp.cmp(os.path.join(a, n), os.path.join(b, n), shallow=False) for n in names)
    return os.path.isfile(b) and filecmp.cmp(a, b, shallow=False)


def form_of(path):
    if os.path.isdir(path):
        return "dir"
    with open(path, "rb") as f:
        start = f.read(16)
    sizes = (start[8:16] in (b"\x10" + b"\0" * 7, b"\0" * 7 + b"\x10"))
    return "pipe" if sizes and start[:8] in (b"PERFILE2", b"2ELIFREP") else "file"


class Trip:
    def __init__(self, perfdata, compare, path, name, folder):
        self.perfdata, self.compare, self.path, self.name, self.folder = perfdata, compare, path, name, folder
        self.failures = []

    def fail(self, step, what):
        self.failures.append(f"{self.name}: {step}: {what}")

    def at(self, name):
        return os.path.join(self.folder, name)

    def run(self, step, *words):
        result = common.run([self.perfdata, *words], timeout=300)
        if result.crashed or result.status not in (common.FINE, common.DAMAGED):
            self.fail(step, f"exit status {result.status}: {result.err.decode('utf-8', 'replace').strip()[:300]}")
            return False
        return True

    def through_text(self, step, source, options=()):
        """Name of what the text of source makes, or None."""
        text, made = self.at(step + ".txt"), self.at(step)
        if not self.run(step, "text", "-q", *options, "-o", text, source):
            return None
        return made if self.run(step, "assemble", "-o", made, text) else None

    def check_content(self, step, made):
        how = ["--pipe"] if form_of(self.path) == "pipe" else []
        result = common.run([self.compare, *how, self.path, made], timeout=300)
        if result.status != 0:
            text = (result.out + result.err).decode("utf-8", "replace").replace(self.folder + "/", "")
            self.fail(step, text.replace(self.path, self.name).strip()[:800])

    def go(self):
        """False if the recording is refused."""
        if common.run([self.perfdata, "dump", "-q", "--stats", self.path]).status not in (common.FINE, common.DAMAGED):
            return False
        form = form_of(self.path)
        canonical = self.at("canonical")
        if not self.run("convert", "convert", "-q", "-i", self.path, "--to", form, "-o", canonical):
            return True
        # a directory with a file for each CPU
        parts = self.at("parts")
        if form == "file" and self.run("dir", "convert", "-q", "-i", self.path, "--to", "dir", "-o", parts):
            made = self.through_text("parts-again", parts, ["--packed"])
            if made and not same(parts, made):
                self.fail("parts", "not the same bytes")
        made = self.through_text("text", self.path)
        if made:
            self.check_content("text", made)
        made = self.through_text("packed", self.path, ["--packed"])
        if made and not same(canonical, made):
            self.fail("packed", "not the bytes of a conversion")
        made = self.through_text("canonical-again", canonical, ["--packed"])
        if made and not same(canonical, made):
            self.fail("canonical", "does not come back byte for byte")
        # the text of what was made is the text that it was made of, once the layout is that of the writer
        again = os.path.exists(self.at("text")) and self.through_text("again", self.at("text"))
        if again and self.through_text("third", again):
            if not filecmp.cmp(self.at("again.txt"), self.at("third.txt"), shallow=False):
                self.fail("again", "another text")
        return True


def main():
    parser = common.recordings_parser(__doc__, "compare")
    arguments = parser.parse_args()
    numbers = collections.Counter()
    for path, name in common.recordings(arguments.files, arguments.only):
        with tempfile.TemporaryDirectory(prefix="text-") as folder:
            trip = Trip(arguments.perfdata, arguments.compare, path, name, folder)
            numbers["recordings"] += 1
            numbers["refused"] += not trip.go()
        numbers["different"] += bool(trip.failures)
        for line in trip.failures:
            print(line)
            sys.stdout.flush()
    print(f"{numbers['recordings']} recordings: {numbers['refused']} refused, {numbers['different']} differ")
    return 1 if numbers["different"] or not numbers["recordings"] else 0


if __name__ == "__main__":
    sys.exit(main())
