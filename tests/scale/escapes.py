#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A recording whose every text wants to be obeyed by a terminal, through every command, to a terminal and to a pipe.

usage: escapes.py PERFDATA

Names of threads, objects, symbols, events, cgroups, hosts and arguments have escape sequences, C1 controls, overrides of the
direction, line ends and bytes that are no UTF-8. Nothing of them may come to a terminal but escaped. Through a pipe script prints
what was recorded, as perf does; JSON and pages are UTF-8 without controls, and cells of CSV begin with nothing that a
spreadsheet takes for a formula. Exit status: 0 all is so, 1 not.
"""

import csv
import io
import os
import pty
import re
import struct
import subprocess
import sys
import tempfile
import threading

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import scale  # noqa: E402

# each has a letter of its own in front, to find what is left of it
HOSTILE = {
    "ESC": b"\x1b]0;owned\x07", "CSI": b"\x1b[8m", "C1": b"\xc2\x9b31m", "raw C1": b"\x9b31m", "RLO": "\u202e".encode(),
    "LRI": "\u2066".encode(), "BEL": b"\x07", "CR": b"\rowned", "DEL": b"\x7f", "invalid": b"\xff\xfe", "BS": b"\x08\x08",
}
TEXT = b"x" + b"".join(HOSTILE.values()) + b"y"
# what a terminal gets from us: tabs, line ends, colours
OWN = re.compile(rb"\x1b\[[0-9;]*m")
BAD = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")


def padded(data, size=8):
    data += b"\0"
    return data.ljust((len(data) + size - 1) // size * size, b"\0")


def string(data):
    return struct.pack("<I", len(data) + 1) + data + b"\0"


def hostile(lead=b""):
    r = scale.Recording(events=2)
    name = lead + TEXT
    r.add(3, 0, struct.pack("<II", 1, 1) + padded(name[:15]))
    r.add(3, 0, struct.pack("<II", 7, 7) + padded(name), pid=7)
    r.add(10, scale.USER, struct.pack("<IIQQQIIQQII", 7, 7, 0x400000, 0x1000, 0, 8, 1, 2, 0, 5, 2) + padded(b"/bin/" + name), pid=7)
    r.add(17, scale.KERNEL, struct.pack("<QIHH", 0xffffffffc0000000, 0x100, 1, 0) + padded(name))
    r.add(19, 0, struct.pack("<Q", 5) + padded(b"/" + name))
    for i in range(4):
        r.sample(7, 0x400010, event=i % 2, cgroup=5)
        r.sample(7, 0xffffffffc0000010, event=i % 2, cgroup=5, misc=scale.KERNEL)
    desc = struct.pack("<II", 2, scale.ATTR_SIZE)
    for i in range(2):
        desc += scale.attr(config=i) + struct.pack("<I", 1) + string(name + str(i).encode()) + struct.pack("<Q", i + 1)
    for feature in (3, 4, 5, 6, 8, 9, 14):
        r.features[feature] = string(name)
    r.features[11] = struct.pack("<I", 2) + string(name) * 2
    r.features[12] = desc
    r.features[15] = struct.pack("<II", 1, 4) + string(name)
    entry = padded(b"/bin/" + name, 64)
    r.features[2] = struct.pack("<IHHi", 67, scale.USER, 36 + len(entry), -1) + scale.build_id(1) + struct.pack("<I", 20) + entry
    return r


COMMANDS = (
    "info IN", "info --json IN", "report --no-symbols IN", "report IN --stdio", "report -g caller IN", "report --header IN",
    "report --csv IN", "report -t , IN", "report --csv -s comm,dso,sym,cgroup IN", "report --json IN", "report -s comm,dso,sym,cgroup IN", "report --header-only IN", "script IN",
    "script --header IN", "script -F comm,ip,sym,dso,event,cgroup IN", "script --show-task-events --show-mmap-events IN",
    "folded IN", "folded --all IN", "flame -o - IN", "flame --format svg -o - IN", "doctor IN", "doctor --json IN", "evlist IN",
    "export --to csv IN", "export --to jsonl IN", "export --to speedscope IN", "export --to firefox IN", "export --to chrome IN",
    "export --to callgrind IN", "export --to folded IN", "export --to perf-json IN", "data convert --to-json OUT IN",
    "sql IN @top-stacks", "sql --format json IN @record-types", "sql IN .schema", "sql IN .tables", "sql IN @processes", "sql IN @NAME",
    "evlist -v IN", "evlist --json IN", "buildid-list IN", "buildid-list -H IN", "buildid-list --json -H IN", "dump IN", "dump --json IN", "dump --stats IN",
    "dump --features IN", "dump --hex IN", "check IN", "check --json IN", "check -v IN", "text IN", "stat report -i IN",
    "split --by comm -o OUT IN", "split --by event --json -o OUT IN", "cut --time 0,1 --json -o OUT IN", "filter --where comm=='x' -o OUT IN",
    "filter --where nothing==1 -o OUT IN", "scrub -o OUT IN", "scrub --report IN", "repair -o OUT IN", "merge IN IN -o OUT",
    "inject -b -o OUT IN", "pack -o OUT IN", "report --comms nobody IN", "script --time nowhere IN", "explain NAME", "NAME",
    "report -s NAME IN", "report NAME", "dump --NAME IN", "list NAME", "list --unit NAME", "report -D IN", "report -T IN", "script -D IN",
)


def on_pty(words, folder):
    """What a terminal gets, standard error included."""
    ours, theirs = pty.openpty()
    got = []

    def read():
        while True:
            try:
                data = os.read(ours, 65536)
            except OSError:
                return
            if not data:
                return
            got.append(data)

    thread = threading.Thread(target=read)
    thread.start()
    environment = dict(os.environ, HOME=folder, TERM="xterm", PAGER="cat", COLUMNS="200")
    done = subprocess.run(words, stdin=subprocess.DEVNULL, stdout=theirs, stderr=theirs, env=environment, cwd=folder, check=False)
    os.close(theirs)
    thread.join()
    os.close(ours)
    return done.returncode, b"".join(got)


def in_pipe(words, folder):
    done = subprocess.run(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          env=dict(os.environ, HOME=folder), cwd=folder, check=False)
    return done.returncode, done.stdout, done.stderr


def what_is_bad(data):
    """The first thing in it that a terminal would obey, or None."""
    data = OWN.sub(b"", re.sub(rb"\r+\n", b"\n", data).replace(b"\x1b[K", b""))
    if HOSTILE["CSI"] in data:
        return "the sequence of the file"
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        return f"bytes that are no UTF-8: {data[error.start - 10:error.start + 10]!r}"
    # progress
    found = BAD.search(re.sub("\rperfdata: +[0-9]+%?[^\n]*?\r", "", text))
    return None if not found else f"{text[max(0, found.start() - 20):found.start() + 10]!r}"


class Escapes:
    def __init__(self, perfdata, folder):
        self.perfdata, self.folder, self.wrong, self.runs = perfdata, folder, [], 0

    def words(self, command):
        self.runs += 1
        replaced = {"IN": self.data, "OUT": os.path.join(self.folder, f"out{self.runs}"), "NAME": os.fsdecode(TEXT)}
        return [self.perfdata] + [replaced.get(word, word.replace("NAME", replaced["NAME"])) for word in command.split()]

    def run_all(self, lead):
        # the path, too
        self.data = os.path.join(os.fsencode(self.folder), lead + TEXT.replace(b"/", b"") + b".data")
        self.data = os.fsdecode(self.data)
        hostile(lead).write(self.data)
        for command in COMMANDS:
            status, terminal = on_pty(self.words(command), self.folder)
            bad = what_is_bad(terminal)
            if status < 0:
                self.wrong.append(f"{command}: ended by signal {-status}")
            if bad:
                self.wrong.append(f"{command}: a terminal gets {bad}")
            _, out, err = in_pipe(self.words(command), self.folder)
            bad = what_is_bad(err)
            if bad:
                self.wrong.append(f"{command}: standard error gets {bad}")
            if "--json" in command or "flame" in command or "folded" in command or "top" in command or "export" in command:
                bad = what_is_bad(out)
                if bad:
                    self.wrong.append(f"{command}: through a pipe: {bad}")

    def spreadsheets(self):
        for lead in b"=", b"+", b"-", b"@", b"\t=", b"\r=":
            self.data = os.path.join(self.folder, "cells.data")
            r = hostile(lead + b"cmd|' /C calc'!A0,\"")
            r.write(self.data)
            for command in ("export --to csv IN", "report --csv -s comm,dso,sym,cgroup IN", "report --csv -s comm,overhead,sample,period IN"):
                _, out, _ = in_pipe(self.words(command), self.folder)
                rows = list(csv.reader(io.StringIO(out.decode("utf-8", "replace"))))
                if len(rows) < 2:
                    self.wrong.append(f"{command}: no rows")
                for cell in [cell for row in rows for cell in row]:
                    if cell[:1] in ("=", "+", "-", "@", "\t", "\r") and not re.fullmatch(r"-?[0-9.]+%?", cell):
                        self.wrong.append(f"{command}: a cell begins with {cell[:10]!r}")


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__.split("\n\n")[1])
    with tempfile.TemporaryDirectory(prefix="perfdata-escapes-") as folder:
        escapes = Escapes(os.path.abspath(sys.argv[1]), folder)
        for lead in b"", b"\x1b[31m":
            escapes.run_all(lead)
        escapes.spreadsheets()
    for line in dict.fromkeys(escapes.wrong):
        print(line)
    print(f"{escapes.runs} runs, {len(escapes.wrong)} wrong")
    sys.exit(bool(escapes.wrong))


if __name__ == "__main__":
    main()
