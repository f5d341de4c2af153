#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Every column of samples, records and tracepoints, as SQL reads it, against dump --json and script of the same file.

usage: agree.py PERFDATA FILE... [--script]

Rows of both are read side by side, so a file of any size is compared. With --script also fields of samples as script prints them, each by
how often it has which value; fields that script refuses are left out. Exit status: 0 all is equal, 1 not.
"""

import collections
import json
import subprocess
import sys

# Columns that no field of the format is behind.
OWN = {"record", "offset", "event", "comm", "cpumode", "function", "object", "stack", "value", "file"}
HARMFUL = dict.fromkeys(list(range(32)) + list(range(127, 160)) + [0x200E, 0x200F, 0x061C, *range(0x202A, 0x202F), *range(0x2066, 0x206A)], "\ufffd")


def signed(value):
    """As SQLite has unsigned numbers."""
    return value - (1 << 64) if isinstance(value, int) and value >= 1 << 63 else value


def lines(perfdata, *arguments):
    with subprocess.Popen([perfdata, *arguments], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        for line in process.stdout:
            yield json.loads(line)
    if process.returncode not in (0, 1, 3, 4, 5, 6):
        raise RuntimeError(f"{arguments}: exit status {process.returncode}")


def rows(perfdata, path, statement):
    return lines(perfdata, "sql", "-q", "--no-symbols", "--format", "json", path, statement)


class Differences:
    def __init__(self, path):
        self.path, self.count = path, 0

    def report(self, *what):
        self.count += 1
        if self.count <= 5:
            print(self.path, *what)


def harmless(value):
    return value.translate(HARMFUL) if isinstance(value, str) else value


def as_column(value):
    """A field of the dump as a column has it: parts, lists and arrays are JSON."""
    return value if isinstance(value, (int, float, str, type(None))) else value


def same_field(cell, field):
    if isinstance(cell, str) and isinstance(field, (dict, list)):
        return json.loads(cell) == field
    return cell == signed(field) or harmless(cell) == harmless(field)


def compare_sample(differences, row, record):
    fields = record.get("fields", {})
    for name, cell in row.items():
        if name in OWN:
            continue
        # what is not decoded has no columns but those of the brief form, and hidden fields are 0
        if not same_field(cell, fields.get(name)) and ("error" not in record or cell is not None):
            differences.report("sample", record["index"], name, cell, fields.get(name))
    for name in set(fields) - set(row) - {"rest", "sample_id"}:
        differences.report("sample", record["index"], name, "has no column")
    for name, key in (("offset", "offset"), ("event", "event")):
        if harmless(row[name]) != harmless(record.get(key)):
            differences.report("sample", record["index"], name, row[name], record.get(key))


def compare_record(differences, row, record):
    for name in ("offset", "inner_offset", "size", "misc", "time_ns", "event", "tail_size", "cpumode"):
        if harmless(signed(row[name])) != harmless(signed(record.get(name))):
            differences.report("record", record["index"], name, row[name], record.get(name))
    if row["part"] != record.get("part", 0):
        differences.report("record", record["index"], "part", row["part"])
    if row["type"] != str(record["type"]):
        differences.report("record", record["index"], "type", row["type"], record["type"])
    if (json.loads(row["fields"]) if row["fields"] else None) != record.get("fields"):
        differences.report("record", record["index"], "fields", row["fields"], record.get("fields"))
    if harmless(row["error"]) != harmless(record.get("error")):
        differences.report("record", record["index"], "error", row["error"], record.get("error"))


def compare(perfdata, path):
    differences = Differences(path)
    records = rows(perfdata, path, "select * from records")
    samples = rows(perfdata, path, "select * from samples")
    count = 0
    for record in lines(perfdata, "dump", "-q", "--json", path):
        if "offset" not in record or "fields" not in record and "error" not in record:
            continue
        row = next(records, None)
        count += 1
        if row is None:
            differences.report("record", record["index"], "is not in records")
            break
        compare_record(differences, row, record)
        if record["type"] == "SAMPLE":
            row = next(samples, None)
            if row is None:
                differences.report("sample", record["index"], "is not in samples")
                break
            compare_sample(differences, row, record)
    if next(records, None) is not None or next(samples, None) is not None:
        differences.report("more rows than records")
    return count, differences.count


def nameless(name):
    """What is in no function is called after its object, and unknown to script."""
    return "[unknown]" if name.startswith("[") else name


# Columns of samples: fields of script, and a value as script prints it.
SCRIPT = {
    "comm": ("comm", lambda value: harmless(value).strip()),
    "pid": ("pid", str),
    "tid": ("tid", str),
    "cpu": ("cpu", "[{:03}]".format),
    "time_ns": ("time", lambda value: f"{value // 10**9}.{value % 10**9:09}:"),
    "period": ("period", lambda value: str(value % (1 << 64))),
    "event": ("event", lambda value: harmless(value).strip() + ":"),
    "ip": ("ip", lambda value: f"{value % (1 << 64):x}"),
    "function": ("ip,sym", nameless),
}


def is_of_groups(perfdata, path):
    """Whether script prints each member of a group where its leader was sampled."""
    groups = "select count(*) n from events where read_format & 8 and sample_type & 16"
    return any(row["n"] for row in lines(perfdata, "sql", "-q", "--format", "json", path, groups))


def compare_script(perfdata, path):
    """How many columns were compared, and how many are not equal. What is null may be printed as anything."""
    differences, count = Differences(path), 0
    if is_of_groups(perfdata, path):
        return 0, 0
    for column, (fields, text_of) in SCRIPT.items():
        done = subprocess.run([perfdata, "script", "-q", "-G", "--ns", "-F", fields, "-i", path], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                              check=False)
        if done.returncode == 2 or not done.stdout:
            continue
        printed = (harmless(line).strip() for line in done.stdout.decode("utf-8", "replace").split("\n")[:-1])
        if column == "function":
            printed = (nameless(line.partition(" ")[2].strip()) for line in printed)
        values = [row[column] for row in lines(perfdata, "sql", "-q", "--format", "json", path, f"select {column} from samples")]
        found = collections.Counter(text_of(value) for value in values if value is not None)
        expected = collections.Counter(printed)
        count += bool(found)
        # counts of perf stat are all that is printed of a file without samples
        if found - expected or (values and sum(expected.values()) != len(values)):
            differences.report("samples", column, list((found - expected).items())[:3], list((expected - found).items())[:3])
    return count, differences.count


def main():
    perfdata, paths, with_script = sys.argv[1], [path for path in sys.argv[2:] if path != "--script"], "--script" in sys.argv
    total = wrong = compared = 0
    for path in paths:
        count, different = compare(perfdata, path)
        total += count
        wrong += different
        if with_script:
            count, different = compare_script(perfdata, path)
            compared += count
            wrong += different
    print(f"{len(paths)} files, {total} records, {compared} columns beside script, {wrong} differences")
    return 1 if wrong or not total else 0


if __name__ == "__main__":
    sys.exit(main())
