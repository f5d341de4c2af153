#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares what perfdata counts in each corpus file with what real perf counted there.

usage: stats.py PERFDATA CORPUS [--table FILE] [--only TEXT]

What is compared is named in the table by these words:
  self      dump --stats agrees with dump --json; reading the stored .zst or standard input gives the same
  types     number of records of each type
  events    number of events and their names
  samples   number of samples of each event; a group read counts for each member, as perf does
  period    sum of the periods of each event
  times     first and last sample time of each event
  records   place, size, type, time and main fields of each record, as "perf report -D" prints them
  buildids  build ids and names in the feature BUILD_ID
  scan      records by type outside of compressed ones, as the scan in the manifest found them

The witness is the oldest perf that could read all of the file. Where none could, perf must have found
nothing that we did not find. Differences that are no fault of ours stand in docs/differences.md under
"Record counts". Exit status: 0 all agrees or is explained, 1 something is not, 77 no corpus.
"""

import argparse
import collections
import os
import re
import sys

import common

SOUND = ("ok", "warnings")
NO_TIME = 2**64 - 1
TOOL_FIRST = 64

# Words of sample_type and read_format that decide what a sample stands for.
HAS_READ = 1 << 4
HAS_PERIOD = 1 << 8
READ_GROUP = 1 << 3


# ---- our side ----


class Ours:
    """What perfdata says of one file."""

    def __init__(self, perfdata, path, pipe):
        self.perfdata, self.path = perfdata, path
        self.types = collections.Counter()
        self.outer = collections.Counter()
        self.records = []
        self.samples = []  # (time, event name, sample, event)
        self.pipe = pipe
        self.stats = self.read_stats(path)
        self.events = common.events_of(perfdata, path)
        self.read_records()

    def read_stats(self, path, stdin=None):
        return common.ask(self.perfdata, ["dump", "--stats"], path, stdin)[0]

    def read_records(self):
        for record in common.ask(self.perfdata, ["dump"], self.path):
            name = type_name(record["type"])
            self.types[name] += 1
            if not record.get("inflated"):
                self.outer[name] += 1
            fields = record.get("fields") or {}
            self.records.append(record_key(record, name, fields, self.pipe))
            if name == "SAMPLE":
                self.samples.append((record.get("time_ns", NO_TIME), record, fields))

    def sample_counts(self):
        counts = collections.Counter()
        for event in self.stats["events"]:
            counts[event["name"]] += event["samples"]
        return counts

    def deliveries(self):
        """(event name, period, time) of each sample as perf hands it on: sorted by time, a read of
        counters becoming one sample for each counter that has moved."""
        last = collections.Counter()
        by_id = {i: event for event in self.events for i in event["ids"]}
        for time, record, fields in sorted(self.samples, key=lambda sample: sample[0]):
            event = self.event_of(record, fields, by_id)
            if event is None:
                continue
            attr = event["attr"]
            if not attr["sample_type"] & HAS_READ:
                yield event["name"], fields.get("period", attr["sample_period"]), time
                continue
            read = fields.get("read") or {}
            values = read.get("members", []) if attr["read_format"] & READ_GROUP else [read]
            for value in values:
                member = by_id.get(value.get("id"))
                moved = (value["value"] - last[value.get("id")]) % 2**64
                last[value.get("id")] = value["value"]
                if member and moved:
                    yield member["name"], moved, time

    def event_of(self, record, fields, by_id):
        if len(self.events) == 1:
            return self.events[0]
        event = by_id.get(fields.get("identifier") or fields.get("id"))
        if event is None and record.get("event"):
            event = next((e for e in self.events if e["name"] == record["event"]), None)
        return event


def type_name(record_type):
    """Name of a type as in perf's counts."""
    if isinstance(record_type, int):
        return f"UNKNOWN({record_type})"
    return record_type.removeprefix("HEADER_")


def signed(value, bits=32):
    value &= 2**bits - 1
    return value - 2**bits if value >> (bits - 1) else value


def record_key(record, name, fields, pipe):
    """A record as the line that perf report -D prints for it, as far as it is compared."""
    # perf counts offsets in a pipe from behind its header.
    offset = record["offset"] - (16 if pipe else 0)
    time = record.get("time_ns")
    return offset, record["size"], name, time, main_fields(name, record, fields)


def main_fields(name, record, fields):
    try:
        return MAIN_FIELDS[name](record, fields)
    except KeyError:
        return None


def of_sample(record, f):
    return (record["misc"], signed(f.get("pid", -1)), signed(f.get("tid", -1)), f.get("ip", 0),
            f.get("addr", 0))


def first_line(text):
    """perf prints line ends in names as they are; its texts are read line by line."""
    return odd_bytes(text.split("\n")[0])


def odd_bytes(text):
    """Bytes that are no UTF-8: U+FFFD in our JSON, \\xNN in the texts of perf."""
    return re.sub(r"(?:\ufffd|\\x[89a-f][0-9a-f])+", "?", text)


def of_comm(_record, f):
    return odd_bytes(f["comm"]), signed(f["pid"]), signed(f["tid"])


def of_map(_record, f):
    return (signed(f["pid"]), signed(f["tid"]), f["addr"], f["len"], f["pgoff"], first_line(f["filename"]))


def of_task(_record, f):
    return signed(f["pid"]), signed(f["tid"]), signed(f["ppid"]), signed(f["ptid"])


MAIN_FIELDS = {
    "SAMPLE": of_sample,
    "COMM": of_comm,
    "MMAP": of_map,
    "MMAP2": of_map,
    "FORK": of_task,
    "EXIT": of_task,
}


# ---- perf's side ----

PERF_TYPES = {type_name(name) for name in common.TYPE_NUMBERS}
STOPPED = re.compile(
    r"[Ff]ailed|[Cc]an't parse|aborting|corrupt|Invalid|unexpected|bad event|wrong feature|incompatible"
)

LINE = re.compile(r"^((?:-?\d+ ){0,2})(0x[0-9a-f]+|0) \[(0x[0-9a-f]+|0)\]: PERF_RECORD_([A-Z0-9_]+)(.*)$")
SAMPLE = re.compile(
    r"^\(IP, (0x[0-9a-f]+|0)\): (-?\d+)/(-?\d+): (0x[0-9a-f]+|0) period: \d+ addr: (0x[0-9a-f]+|0)"
)
COMM = re.compile(r"^(?: exec)?: (.*):(-?\d+)/(-?\d+)$")
MAP = re.compile(r"^ (-?\d+)/(-?\d+): \[(0x[0-9a-f]+|0)\((0x[0-9a-f]+|0)\) @ (0x[0-9a-f]+|0)[^\]]*\]: \S+ (.*)$")
TASK = re.compile(r"^\((-?\d+):(-?\d+)\):\((-?\d+):(-?\d+)\)$")


def number(text):
    return int(text, 16) if text.startswith("0x") else int(text)


def perf_fields(name, rest):
    if name == "SAMPLE" and (m := SAMPLE.match(rest)):
        return (number(m[1]), int(m[2]), int(m[3]), number(m[4]), number(m[5]))
    if name == "COMM" and (m := COMM.match(rest)):
        return odd_bytes(m[1]), int(m[2]), int(m[3])
    if name in ("MMAP", "MMAP2") and (m := MAP.match(rest)):
        return (int(m[1]), int(m[2]), number(m[3]), number(m[4]), number(m[5]), odd_bytes(m[6]))
    if name in ("FORK", "EXIT") and (m := TASK.match(rest)):
        return int(m[1]), int(m[2]), int(m[3]), int(m[4])
    return None


def whole_name(name):
    """perf does not end some lines, so the next one's first capitals follow the name of the type."""
    while name and name not in PERF_TYPES:
        name = name[:-1]
    return name


def perf_records(text, mode):
    found = []
    for line in text.split("\n"):
        m = LINE.match(line)
        # In a file nothing is at 0 but what perf makes up itself.
        if m and (mode != "file" or m[2] != "0"):
            prefix, name = m[1].split(), whole_name(m[4])
            time = int(prefix[-1]) % 2**64 if prefix else None
            found.append((number(m[2]), number(m[3]), name, time, perf_fields(name, m[5])))
    return found


def event_name(line):
    """Name in a line of perf evlist -v."""
    return re.split(r": (?:type|size|config|\{)", line)[0]


class Witness:
    """The answer of one perf."""

    def __init__(self, name, answer, mode):
        self.name, self.status = name, answer["status"]
        self.answer = answer
        stats = dict(answer.get("stats", {}))
        self.total = stats.pop("Aggregated", {})
        self.per_event = {event: counts.get("SAMPLE", 0) for event, counts in stats.items()}
        self.dump = collections.Counter()
        for record_type, count in answer.get("dump", {}).items():
            self.dump[whole_name(record_type)] += count
        self.events = answer.get("events", {})
        self.evlist = [line for line in answer.get("evlist", []) if not line.startswith("#")]
        self.rank, self.older_why = 0, ""  # place among the perfs, oldest first; why the oldest stopped
        # perf's counts of a pipe lack what is compressed and what follows tracing data.
        whole = {name: count for name, count in self.total.items() if name != "TOTAL"}
        self.types = self.dump if mode == "pipe" and len(self.dump) >= len(whole) else whole

        self.sound = bool(self.types) and (self.status in SOUND or not self.failed("stats", "dump", "header"))

    def rename(self, names):
        """Takes other names for the events."""
        self.per_event = {names.get(name, name): count for name, count in self.per_event.items()}
        self.events = {names.get(name, name): event for name, event in self.events.items()}

    def failed(self, *steps):
        """Whether one of these perf commands failed or stopped early."""
        return any(step in self.answer.get("exit", {}) for step in steps) or any(
            line.startswith(steps) and STOPPED.search(line) for line in self.answer.get("errors", [])
        )

    def why(self):
        for line in self.answer.get("errors", []):
            if STOPPED.search(line):
                return line.split(": ", 1)[-1]
        return self.status


def witnesses(golden, mode):
    """Best first: those that read all, then by how much they read."""
    found = [Witness(key, golden[key], mode) for key in golden if key.startswith("perf ")]
    for rank, witness in enumerate(found):
        witness.rank, witness.older_why = rank, found[0].why()
    found.sort(key=lambda w: (not w.sound, -sum(w.types.values()) if not w.sound else 0))
    return found


def scan_counts(features):
    """Counts by type of the records outside of compressed ones, by the scan in the manifest."""
    words = dict(word.split("=", 1) for word in features.split() if "=" in word)
    outer = collections.Counter()
    for item in filter(None, words.get("records", "").split(",")):
        name, _, count = item.rpartition(":")
        # TYPE_32770 is one that the scan had no name for.
        number = int(name[5:]) if name.startswith("TYPE_") else None
        outer[type_name(common.TYPE_NAMES.get(number, number or name))] += int(count)
    return outer


# ---- comparing ----


def difference(ours, theirs, at_least=False):
    """Text that says which keys differ, or None. at_least: ours may be more."""
    words = []
    for key in sorted(set(ours) | set(theirs)):
        mine, yours = ours.get(key, 0), theirs.get(key, 0)
        if mine != yours and not (at_least and mine > yours):
            words.append(f"{key} {mine}, not {yours}")
    return "; ".join(words) or None


class Comparison:
    def __init__(self, ours, witness, row, golden):
        self.ours, self.witness, self.row, self.golden = ours, witness, row, golden
        self.found = {}  # kind: text of the difference, or None where it agrees

    def types(self):
        # perf leaves out records of unknown types, and its -D does not show compressed ones.
        ours, theirs = dict(self.ours.types), dict(self.witness.types)
        for name in self.ours.types:
            if name.startswith(("UNKNOWN", "SIMPLEPERF_")) or (
                self.witness.types is self.witness.dump and name.startswith("COMPRESSED")
            ):
                del ours[name]
        if theirs:
            self.found["types"] = difference(ours, theirs, not self.witness.sound)

    def events(self, others):
        """Number and names; others are the answers of all perfs, which name nameless events in two ways."""
        names = [event["name"] for event in self.ours.events]
        if not self.witness.evlist:
            return
        if len(names) != len(self.witness.evlist):
            self.found["events"] = f"{len(names)} events, not {len(self.witness.evlist)}"
            return
        wrong = []
        for index, name in enumerate(names):
            theirs = {event_name(w.evlist[index]) for w in others if len(w.evlist) == len(names)}
            # perf evlist does not look at the tracing data of a pipe.
            if name not in theirs and not any(t.startswith("unknown tracepoint") for t in theirs):
                wrong.append(f"{name}, not {' or '.join(sorted(theirs))}")
        self.found["events"] = "; ".join(wrong) or None
        self.witness.rename(dict(zip(map(event_name, self.witness.evlist), names)))

    def samples(self):
        theirs = {name: event["samples"] for name, event in self.witness.events.items()}
        if not theirs and not self.witness.per_event:
            return
        ours = {name: count for name, count in self.ours.sample_counts().items() if count}
        texts = []
        if theirs and not self.witness.failed("script"):
            texts.append(difference(ours, theirs))
        if self.witness.per_event and self.witness.types is not self.witness.dump:
            per_event = {name: count for name, count in self.witness.per_event.items() if count}
            texts.append(difference(ours, per_event))
        if texts:
            self.found["samples"] = "; ".join(filter(None, texts)) or None

    def periods(self):
        if not self.witness.events or self.witness.failed("script"):
            return
        sums, first, last = collections.Counter(), {}, {}
        for name, period, time in self.ours.deliveries():
            sums[name] += period
            first.setdefault(name, time)
            last[name] = time
        theirs = self.witness.events
        self.found["period"] = difference(
            {name: total for name, total in sums.items() if name in theirs},
            {name: event["period"] for name, event in theirs.items()},
        )
        timed = {name: event for name, event in theirs.items() if "first" in event}
        if timed:
            pairs = {name: f"{seconds(first[name])} to {seconds(last[name])}" for name in first}
            self.found["times"] = difference(
                {name: pair for name, pair in pairs.items() if name in timed},
                {name: f"{event['first']} to {event['last']}" for name, event in timed.items()},
            )

    def records(self, text):
        if text is None:
            return
        theirs = [r for r in perf_records(text, self.row["mode"]) if not hidden(r[2])]
        if not theirs:
            return
        sound = self.witness.sound
        mine = collections.Counter((r[0], r[1], r[2]) for r in self.ours.records if not hidden(r[2]))
        yours = collections.Counter((r[0], r[1], r[2]) for r in theirs)
        missing, extra = yours - mine, mine - yours
        words = [f"perf has {size} bytes of {name} at {at:#x}" for at, size, name in list(missing)[:2]]
        if sound:
            words += [f"only we have {size} bytes of {name} at {at:#x}" for at, size, name in list(extra)[:2]]
        words += self.fields(theirs)
        self.found["records"] = "; ".join(words) or None

    def fields(self, theirs):
        """Differences in times and main fields of the records that both have."""
        mine = collections.defaultdict(list)
        for at, size, name, time, fields in self.ours.records:
            mine[at, size, name].append((time, fields))
        words = []
        for at, size, name, time, fields in theirs:
            candidates = mine.get((at, size, name))
            if not candidates:
                continue
            if not any(same(name, c, (time, fields)) for c in candidates):
                words.append(f"{name} at {at:#x} is {candidates[0]}, not {(time, fields)}")
        return words[:2] + ([f"and {len(words) - 2} more"] if len(words) > 2 else [])

    def build_ids(self, features):
        """Without the feature perf buildid-list goes through the samples, which is another question."""
        if self.row["mode"] == "pipe" or "BUILD_ID" not in features or self.witness.failed("buildid-list"):
            return
        mine = common.build_ids(features["BUILD_ID"], self.row["byteorder"])
        ours = {f"{build_id} {odd_bytes(name.decode('utf-8', 'replace'))}" for _pid, _misc, build_id, name in mine}
        theirs = {odd_bytes(line) for line in self.witness.answer.get("buildids", [])}
        self.found["buildids"] = difference(dict.fromkeys(ours, 1), dict.fromkeys(theirs, 1))

    def scan(self):
        outer = scan_counts(self.row["features"])
        if outer and "scan_errors=" not in self.row["features"]:
            self.found["scan"] = difference(self.ours.outer, outer)


def hidden(name):
    """Records that perf -D does not show, or only when it fails on them."""
    return name.startswith(("COMPRESSED", "SIMPLEPERF_", "UNKNOWN"))


def seconds(time_ns):
    return f"{time_ns // 10**9}.{time_ns % 10**9:09d}"


def same(name, mine, yours):
    time, fields = mine
    their_time, their_fields = yours
    if their_fields is not None and fields != their_fields:
        return False
    if their_time in (None, 0, NO_TIME) or name not in MAIN_FIELDS:
        return True
    return time == their_time


# ---- running ----


def self_check(corpus, row, ours):
    """Whether all ways to read a file give the same counts; text of the difference or None."""
    try:
        return ways_to_read(corpus, row, ours)
    except common.Unreadable as error:
        return str(error)


def ways_to_read(corpus, row, ours):
    if (text := difference(dict(ours.types), ours.stats["types"])) is not None:
        return f"dump --json and --stats: {text}"
    if sum(ours.types.values()) != ours.stats["total"]:
        return f"total {ours.stats['total']}, not {sum(ours.types.values())}"
    stored = os.path.join(corpus, row["path"])
    if stored.endswith(".zst") and ours.read_stats(stored) != ours.stats:
        return "through .zst other counts"
    if row["mode"] == "pipe":
        with open(ours.path, "rb") as f:
            through = ours.read_stats("-", f.read())
        if through != ours.stats:
            return "through standard input other counts"
    return None


def compare(perfdata, corpus, row, path):
    golden = common.golden(corpus, row["path"])
    asked = witnesses(golden, row["mode"])
    best = asked[0]
    try:
        ours = Ours(perfdata, path, row["mode"] == "pipe")
    except common.Unreadable as error:
        # What no perf reads may be refused.
        return best, {"open": str(error) if best.types else None}, 0
    comparison = Comparison(ours, best, row, golden)
    comparison.found["self"] = self_check(corpus, row, ours)
    comparison.types()
    if best.sound:
        comparison.events(asked)
        comparison.samples()
        comparison.periods()
        comparison.build_ids(common.features_of(perfdata, path))
    if golden.get("text_from", "") == best.name:
        comparison.records(common.golden_text(corpus, row["path"], "records"))
    comparison.scan()
    return best, comparison.found, ours.stats["total"]


class Table:
    """Lines of the table, and the figures of the summary."""

    def __init__(self, known):
        self.known = known
        self.lines = []
        self.figures = collections.Counter()

    def add(self, path, witness, found, total):
        same_kinds = [kind for kind, text in found.items() if text is None]
        bad = []
        for kind, text in found.items():
            if text is None:
                continue
            reason = self.known.reason(path, kind)
            bad.append((kind, text, reason))
        short = not witness.sound
        verdict = self.verdict(bad, short)
        self.figures[verdict] += 1
        self.figures["kinds"] += len(same_kinds)
        self.figures["records"] += total
        self.figures["newer"] += not short and witness.rank > 0
        why = []
        if short:
            why.append(f"{witness.name} stopped ({witness.why()}), we read {total} records")
        elif witness.rank:
            why.append(f"older perf stopped ({witness.older_why})")
        why += [f"{kind}: {reason or 'UNEXPLAINED: ' + text}" for kind, text, reason in bad]
        self.lines.append((verdict, path, witness.name, " ".join(same_kinds), "; ".join(why)))
        return self.lines[-1]

    @staticmethod
    def verdict(bad, short):
        if any(reason is None for _kind, _text, reason in bad):
            return "DIFFERS"
        if bad:
            return "explained"
        return "perf short" if short else "agrees"

    def summary(self):
        f = self.figures
        return (
            f"{len(self.lines)} files, {f['records']} records: {f['agrees']} agree with perf in all (in "
            f"{f['newer']} with a newer perf, since the oldest stopped), {f['perf short']} perf could not read to "
            f"the end, {f['explained']} differ as explained, {f['DIFFERS']} differ; {f['kinds']} comparisons agree"
        )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("perfdata")
    parser.add_argument("corpus")
    parser.add_argument("--table", help="write the table there too, as tab-separated values")
    parser.add_argument("--only", default="", help="only files with this text in their path")
    args = parser.parse_args()
    perfdata, corpus = common.check_arguments(args.perfdata, args.corpus)
    table = Table(common.Known("Record counts"))
    for row in common.rows(corpus):
        if args.only not in row["path"]:
            continue
        with common.Unpacked(corpus, row) as path:
            line = table.add(row["path"], *compare(perfdata, corpus, row, path))
        print("\t".join(line), flush=True)
    if args.table:
        with open(args.table, "w", encoding="utf-8") as f:
            f.write("verdict\tfile\twitness\tagrees in\twhy\n")
            f.writelines("\t".join(line) + "\n" for line in table.lines)
    if not args.only:
        for pattern, kind, _reason in table.known.unused():
            print(f"docs/differences.md: {pattern}, {kind}: not needed any more")
            table.figures["DIFFERS"] += 1
    print(table.summary())
    return 1 if table.figures["DIFFERS"] else 0


if __name__ == "__main__":
    sys.exit(main())
