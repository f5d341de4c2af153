# SPDX-License-Identifier: MIT
"""Readers of the formats that perfdata export writes, by what their specifications say: for tests.

read(NAME, bytes) checks that all of a file is well-formed, and returns a list of Stack, one for each sample or sum of samples.
"""

import collections
import csv
import io
import json
import re
import struct
import zlib

import page_format
import quipper_text

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
    member = zlib.decompressobj(31)
    message = member.decompress(data)
    need(member.eof and not member.unused_data, "it is more than one member of gzip, which some readers do not see")
    profile = Message(message).only(1, 2, 3, 4, 5, 6, 9, 10, 11, 12, 14)
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


def read_speedscope(data):
    top = strict_json(data.decode())
    need(top["$schema"] == "https://www.speedscope.app/file-format-schema.json", "the schema")
    frames = [frame["name"] for frame in top["shared"]["frames"]]
    need(0 <= top["activeProfileIndex"] < len(top["profiles"]), "the active profile")
    stacks = []
    for profile in top["profiles"]:
        need(profile["type"] == "sampled" and profile["unit"] in ("nanoseconds", "none"), "a profile")
        need(len(profile["samples"]) == len(profile["weights"]), "samples and weights")
        need(profile["startValue"] == 0 and profile["endValue"] == sum(profile["weights"]), "the values")
        thread, _, event = profile["name"].partition(" (")
        for sample, weight in zip(profile["samples"], profile["weights"]):
            need(sample, "an empty stack")
            stacks.append(Stack(event[:-1] if event else None, thread, [frames[i] for i in sample], weight, 1))
    return stacks


def columns(table, length, *optional):
    """The rows of a table that is column by column."""
    for key, column in table.items():
        need(not isinstance(column, list) or len(column) == length, f"length of column {key}")
    return length


def read_firefox(data):
    top = strict_json(data.decode())
    meta, shared = top["meta"], top["shared"]
    need(meta["preprocessedProfileVersion"] == 66 and any(c["color"] == "grey" for c in meta["categories"]), "meta")
    strings = shared["stringArray"]
    for name in ("stackTable", "frameTable", "funcTable", "resourceTable", "nativeSymbols", "sources", "sourceLocationTable"):
        columns(shared[name], shared[name]["length"])
    stacks, frames, funcs, resources = (shared[n + "Table"] for n in ("stack", "frame", "func", "resource"))
    need(all(-1 <= r < resources["length"] for r in funcs["resource"]), "resources")
    need(all(r < len(top["libs"]) for r in resources["lib"]) and all(len(lib["breakpadId"]) == 33 for lib in top["libs"]), "libraries")
    need(all(s is None or s < shared["sources"]["length"] for s in funcs["source"]), "sources")
    need(all(0 <= c < len(meta["categories"]) for c in frames["category"]) and all(-1 <= a < 2**53 for a in frames["address"]), "frames")
    names = [strings[funcs["name"][frames["func"][f]]] for f in stacks["frame"]]
    chains = []
    for row, (name, offset) in enumerate(zip(names, stacks["prefixOffset"])):
        need(0 <= offset <= row, "a prefix comes later")
        chains.append((chains[row - offset] if offset else []) + [name])
    schemas = {schema["name"]: {field["key"] for field in schema["fields"]} for schema in meta["markerSchema"]}
    found = Samples()
    for counter in top["counters"]:
        samples = counter["samples"]
        need(columns(samples, samples["length"]) and samples["time"] == sorted(samples["time"]) and samples["time"][0] >= 0, "times of a counter")
        need(top["threads"][counter["mainThreadIndex"]]["pid"] == counter["pid"] and counter["display"]["tooltipRows"], "a counter")
        found.counters[counter["name"]] += sum(samples["count"])
    for thread in top["threads"]:
        samples, marks = thread["samples"], thread["markers"]
        columns(samples, samples["length"])
        columns(marks, marks["length"])
        need(samples["time"] == sorted(samples["time"]) and min(samples["time"]) >= 0, "times of samples")
        need(all(set(data) - {"type"} == schemas[data["type"]] for data in marks["data"]), "data of markers")
        need(all(time >= 0 for time in marks["startTime"]) and all(0 <= name < len(strings) for name in marks["name"]), "markers")
        comm, _, event = thread["name"].partition(" (")
        scale = 1000000 if samples["weightType"] == "tracing-ms" else 1
        found += [Stack(event[:-1] or None, comm, chains[stack], round(weight * scale), 1) for stack, weight in zip(samples["stack"], samples["weight"])]
    return found


def read_chrome(data):
    top = strict_json(data.decode())
    names = {}
    opened = collections.defaultdict(list)
    last = collections.defaultdict(int)
    for event in top["traceEvents"]:
        track = event["pid"], event["tid"]
        if event["ph"] == "M":
            names[track] = event["args"]["name"]
            continue
        need(event["ph"] in "BE" and event["ts"] >= last[track], f"an event: {event}")
        last[track] = event["ts"]
        if event["ph"] == "B":
            opened[track].append(event["name"])
        else:
            need(opened[track] and opened[track].pop() == event["name"], "slices do not nest")
    need(not any(opened.values()), "a slice has no end")
    frames = top["stackFrames"]
    tids = {tid: name for (pid, tid), name in names.items()}
    return [Stack(sample["name"], tids[sample["tid"]], chrome_stack(frames, sample["sf"]), sample["weight"], 1) for sample in top["samples"]]


def chrome_stack(frames, number):
    names = []
    while number is not None:
        names.append(frames[number]["name"])
        parent = frames[number].get("parent")
        need(parent is None or int(parent) < int(number), "a parent comes later")
        number = parent
    return names[::-1]


def read_perf_json(data):
    top = strict_json(data.decode())
    need(top["linux-perf-json-version"] == 1 and top["headers"]["header-version"] == 1, "the version")
    stacks = []
    for sample in top["samples"]:
        need({"timestamp", "pid", "tid", "comm", "callchain"} <= set(sample), "keys of a sample")
        names = [entry.get("symbol", "?") for entry in reversed(sample["callchain"])]
        stacks.append(Stack(None, sample["comm"], names, 1, 1))
    return stacks


def any_value(message):
    value = message.only(1, 3)
    return value.text(1) if 1 in value.fields else value.signed(3)


def read_otlp(data):
    top = Message(data).only(1, 2)
    tables = top.message(2).only(1, 2, 3, 4, 5, 6, 7)
    strings = tables.texts(5)
    need(strings[0] == "" and all(tables.fields[table] for table in (1, 2, 3, 4, 6, 7)), "tables begin with an empty element")
    need(not any(tables.fields[table][0] for table in (1, 2, 3, 6, 7)), "the first element is not empty")
    functions = [strings[f.only(1, 2, 3).number(1)] for f in tables.messages(3)]
    attributes = [(strings[a.number(1)], any_value(a.message(2))) for a in tables.messages(6)]
    mappings = tables.messages(1)
    for mapping in mappings[1:]:
        need(strings[mapping.number(4)], "a mapping without a name")
        need(all(attributes[i][0] == "process.executable.build_id.gnu" for i in mapping.numbers(5)), "attributes of a mapping")
    locations = []
    for location in tables.messages(2):
        need(location.only(1, 2, 3).number(1) < len(mappings), "an unknown mapping")
        locations.append([functions[line.only(1, 2).number(1)] for line in reversed(location.messages(3))])
    stacks = [[name for i in reversed(stack.numbers(1)) for name in locations[i]] for stack in tables.messages(7)]
    found = []
    ids = set()
    for scope in top.message(1).only(1, 2).messages(2):
        for profile in scope.messages(2):
            profile.only(1, 2, 3, 4, 5, 6, 7)
            ids.add(profile.fields[7][0])
            event = strings[profile.message(1).number(1)]
            for sample in profile.messages(2):
                thread = dict(attributes[i] for i in sample.only(1, 2, 4).numbers(2))
                need({"thread.name", "thread.id", "process.pid"} <= set(thread), "attributes of a sample")
                need(sample.number(1) and len(sample.numbers(4)) == 1, "a sample")
                found.append(Stack(event, thread["thread.name"], stacks[sample.number(1)], sample.numbers(4)[0], None))
        need(len(ids) == len(scope.messages(2)) and all(len(i) == 16 for i in ids), "ids of profiles")
    return found


class Sequence:
    """What packets of one sequence have told."""

    def __init__(self):
        self.event = None
        self.tables = collections.defaultdict(dict)
        self.totals = collections.Counter()

    def intern(self, data):
        for field, known in self.tables_of(data.only(5, 6, 7, 16, 17, 18, 19)):
            for message in data.messages(field):
                need(message.number(1) and message.number(1) not in known, "an id that is 0 or known")
                known[message.number(1)] = message

    def tables_of(self, data):
        return [(field, self.tables[field]) for field in data.fields]

    def stack(self, number):
        names = []
        for frame in self.tables[7][number].numbers(2):
            frame = self.tables[6][frame]
            names.append(self.tables[5][frame.number(2)].text(2))
            if frame.number(3):
                mapping = self.tables[19][frame.number(3)]
                need(mapping.number(2) in self.tables[16] and mapping.number(7) in self.tables[17], "strings of a mapping")
            need(not frame.number(5) or frame.number(5) in self.tables[18], "a source path")
        return names


class Samples(list):
    """With what else a format has: names of tracepoints as recorded, by what became of them."""

    def __init__(self):
        super().__init__()
        self.switches, self.instants, self.counters = collections.Counter(), collections.Counter(), collections.Counter()


# Of FtraceEvent, with the fields of each.
FTRACE = {4: ("sched:sched_switch", (1, 2, 3, 4, 5, 6, 7)), 17: ("sched:sched_wakeup", (1, 2, 3, 4, 5)),
          20: ("sched:sched_waking", (1, 2, 3, 4, 5)), 114: ("sched:sched_wakeup_new", (1, 2, 3, 4, 5))}


def read_ftrace(bundle, last):
    """The name of the only event of a bundle."""
    event = bundle.only(1, 2).message(2).only(1, 2, *FTRACE)
    number = next(iter(set(event.fields) & set(FTRACE)))
    need(len(bundle.fields[2]) == 1 and len(event.fields) == 3 and event.number(1) <= last, "an event of ftrace")
    event.message(number).only(*FTRACE[number][1]).text(1)
    return FTRACE[number][0]


def read_perfetto(data):
    sequences = collections.defaultdict(Sequence)
    threads, tracks = {}, set()
    found = Samples()
    last = 0
    for packet in Message(data).only(1).messages(1):
        sequence = sequences[packet.only(1, 6, 8, 10, 11, 12, 13, 45, 58, 59, 60, 66).number(10)]
        need(packet.number(10), "a packet of no sequence")
        if 60 in packet.fields and 4 in packet.message(60).fields:
            thread = packet.message(60).message(4)
            threads[thread.number(1) & 0xffffffff, thread.number(2) & 0xffffffff] = thread.text(5)
            tracks.add(packet.message(60).number(1))
        if 1 in packet.fields:
            found.switches[read_ftrace(packet.message(1), last)] += 1
        if 11 in packet.fields:
            instant = packet.message(11).only(4, 9, 11, 22, 23, 56)
            need(instant.number(9) == 3 and instant.number(11) in tracks and instant.message(4).only(6, 10).text(6), "an instant")
            need(not instant.number(56) or sequence.stack(instant.number(56)), "the stack of an instant")
            found.instants[instant.text(23)] += 1
        if 59 in packet.fields:
            need(packet.number(13) == 3, "flags of a first packet")
            sequence.event = packet.message(59).message(12).message(1).text(10)
        if 12 in packet.fields:
            sequence.intern(packet.message(12))
        if 66 not in packet.fields:
            continue
        need(packet.number(8) >= last and sequence.event, "time goes back")
        last = packet.number(8)
        sample = packet.message(66).only(1, 2, 3, 4, 5, 6)
        cpu = sample.number(1) if 1 in sample.fields else None
        value = sample.number(6) - sequence.totals[cpu]
        sequence.totals[cpu] = sample.number(6)
        found.append(Stack(sequence.event, threads[sample.number(2), sample.number(3)], sequence.stack(sample.number(4)), value, 1))
    return found


class Callgrind:
    """Costs by function, alone and with calls: they are all there is."""

    def __init__(self, data):
        self.own, self.all, self.total = collections.Counter(), collections.Counter(), collections.Counter()
        self.names = collections.defaultdict(dict)
        lines = data.decode().split("\n")
        need(lines[0] == "# callgrind format" and lines[1] == "version: 1", "the first lines")
        self.events = next(line for line in lines if line.startswith("events:")).split()[1:]
        need(len(set(self.events)) == len(self.events), "an event comes twice")
        summary = [int(word) for word in next(line for line in lines if line.startswith("summary:")).split()[1:]]
        body = iter(lines[lines.index(""):])
        function = None
        for line in body:
            key, mark, value = line.partition("=")
            if not line:
                continue
            if not mark:
                self.cost(line, function, True)
            elif key == "calls":
                self.cost(next(body), function, False)
            elif key in ("ob", "fl", "fn", "cob", "cfi", "cfn"):
                name = self.name(key[-2:].replace("fi", "fl"), value)
                function = name if key == "fn" else function
            else:
                raise Malformed(f"line {line!r}")
        for event, value in zip(self.events, summary):
            need(self.all.pop((event, "(root)")) == value and not self.own.pop((event, "(root)"), 0), "the root")
        need(summary == [self.total[event] for event in self.events], "the summary")

    def name(self, kind, value):
        number, _, name = value.partition(" ")
        need(number[0] == "(" and number[-1] == ")" and number[1:-1].isdigit(), f"name {value!r}")
        need(bool(name) != (number in self.names[kind]), f"name {value!r} is new or known")
        return self.names[kind].setdefault(number, name)

    def cost(self, line, function, own):
        address, *numbers = line.split()
        numbers = [int(word) for word in numbers]
        need(re.fullmatch("0x[0-9a-f]+", address) and len(numbers) == len(self.events) + 1 and function, f"line {line!r}")
        for event, value in zip(self.events, numbers[1:]):
            self.all[event, function] += value
            if own:
                self.own[event, function] += value
                self.total[event] += value


def read_callgrind(data):
    return Callgrind(data)


def counted_lines(lines, pattern):
    """A number, and as many lines."""
    count = next(lines)
    need(count.isdigit(), f"count {count!r}")
    for _ in range(int(count)):
        line = next(lines)
        need(re.fullmatch(pattern, line), f"line {line!r}")


def read_autofdo(data):
    lines = iter(data.decode("ascii").splitlines())
    for pattern in (r"[0-9a-f]+-[0-9a-f]+:\d+", r"[0-9a-f]+:\d+", r"[0-9a-f]+->[0-9a-f]+:\d+"):
        counted_lines(lines, pattern)
    need(next(lines, None) is None, "lines after the end")
    return []


def read_llvm_profgen(data):
    lines = iter(data.decode("ascii").splitlines())
    for pattern in (r"[0-9a-f]+-[0-9a-f]+:\d+", r"[0-9a-f]+->[0-9a-f]+:\d+"):
        counted_lines(lines, pattern)
    need(next(lines, None) is None, "lines after the end")
    return []


def read_bolt(data):
    for line in data.decode("ascii").splitlines():
        need(re.fullmatch(r"B [0-9a-f]+ [0-9a-f]+ \d+ \d+|F [0-9a-f]+ [0-9a-f]+ \d+", line), f"line {line!r}")
    return []


def read_quipper(data):
    top = Message(data).only(*range(1, 18))
    need(len(top.fields[4]) == 1, "stats")
    found = []
    for event in top.messages(2):
        header = event.message(1).only(1, 2, 3)
        need(header.number(1) and header.number(3) >= 8, "a header of an event")
        need(len(set(event.fields) - {1, 10}) <= 1, "an event is of several kinds")
        if header.number(1) == 9:
            event.message(3)
            found.append(Stack(None, None, ["-"], 1, 1))
    need(len(found) == top.message(4).number(2), "the number of samples")
    return found


def read_quipper_text(data):
    fields = quipper_text.parsed(data.decode("ascii"))
    for _, value in fields:
        for _, text in value if isinstance(value, tuple) else ((None, value),):
            need(re.fullmatch(r'\d+|true|false|\{\}|"([ !#-&(-\[\]-~]|\\[nrt"\'\\]|\\[0-3][0-7][0-7])*"', text), f"a value {text!r}")
    return [Stack(None, None, ["-"], 1, 1) for name, value in fields
            if name == "events" and ("events/header/type", "9") in value]


# From branch stacks, without which there is nothing to write.
FROM_BRANCHES = {"autofdo", "bolt", "llvm-profgen"}
# What they have is the number of samples alone; or their values, and no samples can be told apart.
WITHOUT_VALUES = {"perf-json"}
# All records as they are: quipper.py compares them.
OF_RECORDS = {"quipper", "quipper-text"}
WITHOUT_SAMPLES = {"folded", "otlp", "callgrind"}
# Several files, or a database: tests of their own.
IN_FOLDERS = {"ctf", "arrow", "arrow-stream", "parquet", "rowbinary", "sqlite"}


def read_page(data):
    page = page_format.Page(data)
    stacks, known = [], {}
    for number, event in enumerate(page.header["events"]):
        total = 0
        for _, thread, _, weight, row, _ in page.samples(number):
            if row not in known:
                known[row] = [page.name(function) for function, _ in page.stack(row)] if row is not None else []
            comm, pid, tid = page.thread(thread)
            stacks.append(Stack(event["name"], comm, known[row], weight, 1))
            total += weight
        need(total == int(event["sum"]), "the sum of an event")
    return stacks


READERS = {name[len("read_"):].replace("_", "-"): function for name, function in globals().items() if name.startswith("read_")}


def read(name, data):
    try:
        return READERS[name](data)
    except (KeyError, IndexError, StopIteration, ValueError, TypeError, EOFError, zlib.error, csv.Error) as error:
        raise Malformed(f"{type(error).__name__}: {error}") from error
