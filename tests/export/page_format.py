# SPDX-License-Identifier: MIT
"""Reader of the data of the page, by docs/page.md: header and columns, and the samples that they stand for."""

import base64
import json
import re
import struct
import zlib

MAGIC = b"PDPAGE1\n"
INTEGERS = "uwtd"


class Wrong(ValueError):
    pass


def need(condition, why):
    if not condition:
        raise Wrong(why)


def leb128(raw, count):
    """All first bytes, then the second bytes of the numbers that go on, and so on."""
    values, going, at, shift = [0] * count, range(count), 0, 0
    while going:
        need(shift < 70 and at + len(going) <= len(raw), "a number without an end")
        place = raw[at:at + len(going)]
        for index, byte in zip(going, place):
            values[index] |= (byte & 127) << shift
        at += len(place)
        going = [index for index, byte in zip(going, place) if byte > 127]
        shift += 7
    need(at == len(raw), "bytes of no number")
    return values


def numbers(raw, code, count):
    values, last = [], 0
    for value in leb128(raw, count):
        need(value < 1 << (64 if code == "w" else 53), "a number that is too large")
        step = value >> 1 ^ -(value & 1) if code == "d" else value
        last = last + step if code in "td" else step
        need(last >= 0, "a negative number")
        values.append(last)
    return values


def column(data, about):
    code, count = about["code"], about["count"]
    if code == "c":
        return [about["value"]] * count
    block = data[about["at"]:about["at"] + about["size"]]
    unpacker = zlib.decompressobj(31)
    raw = unpacker.decompress(block)
    need(unpacker.eof and not unpacker.unused_data and len(raw) == about["bytes"], "a block")
    if code == "b":
        values = list(raw)
    elif code == "s":
        values = raw.decode().split("\0")
        need(values.pop() == "", "strings without an end")
    else:
        need(code in INTEGERS, f"code {code}")
        values = numbers(raw, code, count)
    need(len(values) == count, "a column of another length")
    return values


def containers_of(text):
    """Those of a page, which is one HTML file."""
    found = re.search(r'<script type="application/octet-stream" id="data"[^>]*>([^<]*)</script>', text)
    need(found, "no data in the page")
    return [Page(base64.b64decode(one, validate=True)) for one in found[1].split(",")]


class Page:
    """A container: its header, and columns by name."""

    def __init__(self, data):
        need(data[:8] == MAGIC, "the first bytes")
        size = struct.unpack_from("<I", data, 8)[0]
        self.header = json.loads(data[12:12 + size])
        need(self.header["format"] == "perfdata-page" and self.header["version"] == 3, "format and version")
        self.sizes = {name: about.get("size", 0) for name, about in self.header["columns"].items()}
        self.columns = {name: column(data[12 + size:], about) for name, about in self.header["columns"].items()}
        need(sum(self.sizes.values()) == len(data) - 12 - size, "bytes that are no block")
        self.check_tables()
        self.ends = self.subtree_ends()

    def of(self, name):
        return self.columns.get(name, [])

    def check_tables(self):
        """Columns of a table have one length, and numbers are those of something."""
        tables = {}
        for name, values in self.columns.items():
            table = name.rpartition(".")[0] or name
            need(tables.setdefault(table, len(values)) == len(values), f"{name} is longer or shorter than its table")
        self.counts = tables
        count = {"functions": 0, "tasks": 0, "threads": 0, **tables}
        for name, most in (("functions.name", "strings"), ("functions.file", "strings"), ("functions.object", "objects"),
                           ("objects.name", "strings"), ("objects.path", "strings"), ("objects.build_id", "strings"),
                           ("rows.function", "functions"), ("addresses.function", "functions"), ("addresses.file", "strings"),
                           ("tasks.comm", "strings"), ("tasks.process", "strings"), ("threads.task", "tasks"),
                           ("threads.comm", "strings"), ("cgroups.path", "strings")):
            need(all(value < count[most] for value in self.of(name)), name)
        for name, most in (("leaves.row", "rows"), ("leaves.address", "addresses"), ("tasks.parent", "tasks"),
                           ("markers.task", "tasks"), ("intervals.task", "tasks")):
            need(all(value <= count.get(most, 0) for value in self.of(name)), name)
        need(sum(self.of("code.lines")) == len(self.of("lines.kind")), "lines of code")
        need(all(value < len(self.header["lines"]) for value in self.of("lines.kind")), "a line")
        need(all(value < len(self.header["flows"]) for value in self.of("lines.flow")), "a flow")
        need(all(value < count["strings"] for name in ("text", "file") for value in self.of("lines." + name)), "a line's string")
        need(all(value < count["functions"] for value in self.of("code.function")), "a function with code")
        need(all(value < len(self.header["kinds"]) for value in self.of("functions.kind")), "a kind")
        need(all(value < len(self.header["markers"]) for value in self.of("markers.kind")), "a marker")
        need(all(value < len(self.header["intervals"]) for value in self.of("intervals.kind")), "an interval")
        for event, _ in enumerate(self.header["events"]):
            self.check_samples(f"samples.{event}")

    def check_samples(self, table):
        need(all(value < self.counts["leaves"] for value in self.of(table + ".leaf")), "a leaf")
        need(all(value < self.counts["threads"] for value in self.of(table + ".thread")), "a thread")
        need(all(value <= self.counts.get("cgroups", 0) for value in self.of(table + ".cgroup")), "a cgroup")

    def subtree_ends(self):
        """Rows are depth first: each row but the first is below the one before it, or below a row that contains that one."""
        parents, open_rows, ends, siblings = self.of("rows.parent"), [], [0] * self.counts.get("rows", 0), set()
        for row, distance in enumerate(parents):
            need(distance <= row, "a caller that is not there")
            parent = row - distance if distance else -1
            while open_rows and open_rows[-1] != parent:
                ends[open_rows.pop()] = row
            need(parent == -1 or open_rows, "rows are not depth first")
            open_rows.append(row)
            key = parent, self.of("rows.function")[row], self.of("rows.inlined")[row]
            need(key not in siblings, "a row that is there twice")
            siblings.add(key)
        for row in open_rows:
            ends[row] = len(parents)
        return ends

    def name(self, function):
        return self.of("strings")[self.of("functions.name")[function]]

    def stack(self, row):
        """Functions from the outermost to a row, with whether they are inlined."""
        functions = []
        while row >= 0:
            functions.append((self.of("rows.function")[row], bool(self.of("rows.inlined")[row])))
            distance = self.of("rows.parent")[row]
            row = row - distance if distance else -1
        return functions[::-1]

    def samples(self, event):
        """(time, thread, cpu or None, weight, row or None, address or None) of each sample."""
        table = f"samples.{event}."
        for time, thread, cpu, weight, leaf in zip(*(self.of(table + name) for name in ("time", "thread", "cpu", "weight", "leaf"))):
            row, address = self.of("leaves.row")[leaf] - 1, self.of("leaves.address")[leaf] - 1
            yield (time, thread, cpu - 1 if cpu else None, weight, row if row >= 0 else None, address if address >= 0 else None)

    def sums(self, event):
        """(time, weight, samples, names of functions from the outermost on) of each entry of a page whose samples are sums."""
        table = f"samples.{event}."
        for time, weight, count, leaf in zip(*(self.of(table + name) for name in ("time", "weight", "count", "leaf"))):
            row = self.of("leaves.row")[leaf] - 1
            yield time, weight, count, [self.name(function) for function, _ in self.stack(row)]

    def thread(self, thread):
        """Name, pid and tid."""
        task = self.of("threads.task")[thread]
        return self.of("strings")[self.of("threads.comm")[thread]], self.of("tasks.pid")[task], self.of("tasks.tid")[task]
