# SPDX-License-Identifier: MIT
"""Readers of the formats that perfdata export writes, by what their specifications say: for tests.

read(NAME, bytes) checks that all of a file is well-formed, and returns a list of Stack, one for each sample or sum of samples.
"""

import collections
import csv
import gzip
import io
import json
import struct

# frames are names, outermost first; event is None where the format does not say it; samples is None where it has one value
Stack = collections.namedtuple("Stack", "event thread frames value samples")


class Malformed(Exception):
    pass


def need(condition, why):
    if not condition:
        raise Malformed(why)


def strict_json(text):
    """JSON without what Python lets pass: NaN, a name that comes twice, characters that are controls."""
    def once(pairs):
        need(len(dict(pairs)) == len(pairs), "a name twice in an object")
        return dict(pairs)

    def refuse(word):
        raise Malformed("number " + word)

    return json.loads(text, object_pairs_hook=once, parse_constant=refuse)


# ---- protocol buffers ----

def varint(data, at):
    value = shift = 0
    while True:
        need(at < len(data) and shift < 70, "a varint has no end")
        value |= (data[at] & 127) << shift
        at += 1
        if data[at - 1] < 128:
            return value, at
        shift += 7


class Message:
    """Fields of a message: numbers and bytes by their number, all of them in order."""

    def __init__(self, data):
        self.fields = collections.defaultdict(list)
        at = 0
        while at < len(data):
            tag, at = varint(data, at)
            number, wire = tag >> 3, tag & 7
            need(number, "field 0")
            if wire == 0:
                value, at = varint(data, at)
            elif wire == 1:
                need(at + 8 <= len(data), "a number has no end")
                value, at = struct.unpack_from("<Q", data, at)[0], at + 8
            else:
                need(wire == 2, f"wire type {wire}")
                size, at = varint(data, at)
                need(at + size <= len(data), "a field has no end")
                value, at = data[at:at + size], at + size
            self.fields[number].append(value)

    def number(self, field):
        values = self.fields.get(field, [0])
        need(isinstance(values[-1], int), f"field {field} is no number")
        return values[-1]

    def signed(self, field):
        value = self.number(field)
        return value - (1 << 64) if value >> 63 else value

    def numbers(self, field):
        """Packed or not."""
        found = []
        for value in self.fields.get(field, []):
            if isinstance(value, int):
                found.append(value)
                continue
            at = 0
            while at < len(value):
                one, at = varint(value, at)
                found.append(one)
        return found

    def messages(self, field):
        return [Message(value) for value in self.fields.get(field, [])]

    def message(self, field):
        values = self.messages(field)
        return values[-1] if values else Message(b"")

    def text(self, field):
        return self.fields.get(field, [b""])[-1].decode()

    def texts(self, field):
        return [value.decode() for value in self.fields.get(field, [])]

    def only(self, *fields):
        need(set(self.fields) <= set(fields), f"unknown fields {set(self.fields) - set(fields)}")
        return self


# ---- formats ----

def read_folded(data):
    stacks = []
    for line in data.decode().splitlines():
        frames, _, value = line.rpartition(" ")
        need(frames and value.isdigit(), f"not a folded stack: {line!r}")
        names = frames.split(";")
        stacks.append(Stack(None, names[0], names[1:], int(value), None))
    need([line for line in data.splitlines()] == sorted(data.splitlines()), "lines are not sorted")
    return stacks


def read_pprof(data):
    need(data[4:8] == b"\0\0\0\0" and data[3] == 0, "the gzip header has a time or a name")
    profile = Message(gzip.decompress(data)).only(1, 2, 3, 4, 5, 6, 10, 11, 12, 14)
    strings = profile.texts(6)
    need(strings[0] == "" and len(set(strings)) == len(strings), "the string table")
    types = [(strings[t.number(1)], strings[t.number(2)]) for t in profile.messages(1)]
    functions = {f.number(1): strings[f.only(1, 2, 3, 4).number(2)] for f in profile.messages(5)}
    mappings = {m.number(1): m for m in profile.messages(3)}
    locations = {}
    for location in profile.messages(4):
        location.only(1, 2, 3, 4)
        mapping = location.number(2)
        need(not mapping or mapping in mappings, "an unknown mapping")
        lines = [functions[line.only(1, 2).number(1)] for line in location.messages(4)]
        need(lines and location.number(1) not in locations, "a location")
        locations[location.number(1)] = list(reversed(lines))
    need(0 not in functions and 0 not in locations and 0 not in mappings, "an id is 0")
    need(all(strings[m.number(5)] for m in mappings.values()), "a mapping without a name")
    return [pprof_sample(sample.only(1, 2, 3), types, locations, strings) for sample in profile.messages(2)]


def pprof_sample(sample, types, locations, strings):
    values = sample.numbers(2)
    need(len(values) == len(types), "values of a sample")
    labels = {strings[label.number(1)]: strings[label.number(2)] or label.signed(3) for label in sample.messages(3)}
    need({"comm", "pid", "tid"} <= set(labels) | {"pid", "tid", "comm"}, "labels")
    frames = [name for location in reversed(sample.numbers(1)) for name in locations[location]]
    counts = [i for i, (name, unit) in enumerate(types) if unit == "count" and name.split(":")[0] == "samples" and values[i]]
    need(len(counts) == 1, "samples of one event")
    at = counts[0]
    only = types[at][0] == "samples"
    follows = at + 1 < len(types) and (only or types[at + 1][0] == types[at][0][len("samples:"):])
    event = None if only else types[at][0][len("samples:"):]
    return Stack(event, labels.get("comm"), frames, values[at + 1] if follows else values[at], values[at])


def read_jsonl(data):
    stacks = []
    last = 0
    for line in data.decode().splitlines():
        sample = strict_json(line)
        if sample["time_ns"] is not None:
            need(sample["time_ns"] >= last, "time goes back")
            last = sample["time_ns"]
        frames = [frame.get("function") or unnamed(frame.get("object", "unknown")) for frame in reversed(sample["stack"])]
        need(frames, "an empty stack")
        stacks.append(Stack(sample["event"], sample["comm"], frames, sample["value"], 1))
    return stacks


def unnamed(path):
    name = path.rsplit("/", 1)[-1] or path
    return name if name.startswith("[") else f"[{name}]"


def read_csv(data):
    rows = list(csv.reader(io.StringIO(data.decode(), newline=""), strict=True))
    need(all(len(row) == len(rows[0]) for row in rows), "rows differ in length")
    need(not any(cell[:1] in "=+-@\t\r" for row in rows for cell in row if cell), "a cell is a formula")
    found = []
    for row in rows[1:]:
        row = dict(zip(rows[0], row))
        stack = row["stack"].lstrip("'") if row["stack"][:1] == "'" else row["stack"]
        found.append(Stack(row["event"], row["comm"], stack.split(";"), int(row["value"]), 1))
    return found


# Their values are not samples, or no samples can be told apart.
WITHOUT_SAMPLES = {"folded", "callgrind"}

READERS = {name[len("read_"):].replace("_", "-"): function for name, function in globals().items() if name.startswith("read_")}


def read(name, data):
    try:
        return READERS[name](data)
    except (KeyError, IndexError, ValueError, TypeError, EOFError, gzip.BadGzipFile, csv.Error) as error:
        raise Malformed(f"{type(error).__name__}: {error}") from error
