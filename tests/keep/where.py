#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Conditions made by chance, asked of perfdata and of what dump --json says about the same records.

usage: where.py PERFDATA CORPUS|FILE... [--only TEXT] [--every N] [--count N] [--seed SEED]

Fields, operators and constants are those that the recording has. Exit status: 0 all answers are equal; 1 not; 77 no
corpus.
"""

import argparse
import json
import operator
import os
import random
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "corpus"))
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import common  # noqa: E402  (needs the path above)
import keep  # noqa: E402

COMPARE = {"==": operator.eq, "!=": operator.ne, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}
MODES = ["unknown", "kernel", "user", "hypervisor", "guest_kernel", "guest_user"]
# records whose size has more than their bytes, and the registers of samples, which stand there by name
OTHER_SIZE = ("AUXTRACE", "HEADER_TRACING_DATA", "HEADER_FEATURE")
NO_FIELDS = ("user_regs", "intr_regs", "rest", "wire_size")
SAFE = re.compile(r"[ -&(-\[\]-~]*$")  # neither quotes nor backslashes


def values_of(part, names):
    """All values at the end of a path, through lists."""
    if isinstance(part, list):
        return [value for item in part for value in values_of(item, names)]
    if names:
        return values_of(part[names[0]], names[1:]) if isinstance(part, dict) and names[0] in part else []
    return [] if isinstance(part, dict) else [2**64 - 1 if part is None else part]


def thread_of(record):
    """pid, tid and cpu of a record; what it does not say is not there."""
    fields = record.get("fields", {})
    trailer = fields.get("sample_id", {})
    own = [fields["pid"], fields["tid"]] if "pid" in fields and "tid" in fields else []
    found = dict(zip(("pid", "tid"), own or ([trailer["pid"], trailer["tid"]] if "pid" in trailer else [])))
    cpu = fields.get("cpu") if record["type"] == "SAMPLE" else trailer.get("cpu")
    if cpu is not None:
        found["cpu"] = cpu
    return found


def ask(record, path):
    """What a name of a condition stands for in a record: a list of values."""
    if path in ("type", "misc", "size", "offset"):
        return [record[path]]
    if path == "cpumode":
        return [record["misc"] & 7]
    if path == "time":
        return [record["time_ns"]] if record.get("time_ns") is not None else []
    if path == "event":
        return [record["event"]] if record.get("event") else []
    if path in ("pid", "tid", "cpu"):
        found = thread_of(record)
        return [found[path]] if path in found else []
    names = path.split(".")
    fields = record.get("fields", {})
    if names[0] == "sample_id":
        return values_of(fields.get("sample_id", {}), names[1:])
    return values_of(fields, names[1:]) if record["type"].lower() == names[0] else []


def paths_of(part, prefix):
    if isinstance(part, list):
        for item in part[:3]:
            yield from paths_of(item, prefix)
    elif isinstance(part, dict):
        for name, value in part.items():
            if name not in NO_FIELDS and not (name == "sample_id" and prefix.count(".") == 0):
                yield from paths_of(value, f"{prefix}.{name}")
    else:
        yield prefix


def all_paths(records):
    found = {"type", "misc", "cpumode", "time", "event", "pid", "tid", "cpu", "size", "offset"}
    for record in records:
        fields = record.get("fields", {})
        found.update(paths_of(fields, record["type"].lower()))
        found.update(paths_of(fields.get("sample_id", {}), "sample_id"))
    return sorted(found)


def fits(glob, text):
    pattern = "".join({"*": ".*", "?": "."}.get(letter, re.escape(letter)) for letter in glob)
    return re.fullmatch(pattern, text, re.S) is not None


class Maker:
    """Makes conditions: their text, and a function that asks a record."""

    def __init__(self, chance, records):
        self.chance = chance
        self.records = records
        self.paths = all_paths(records)
        self.some = {path: [v for r in records[:3000] for v in ask(r, path)][:5000] for path in self.paths}
        self.paths = [path for path in self.paths if self.some[path]]

    def number(self, value):
        """A constant as text, in one of the ways to write it."""
        if value < 0:
            return str(value)
        forms = [str(value), hex(value)]
        if value < 2**63:
            forms += [f"{value}ns", f"{value // 10**9}.{value % 10**9:09}s"]
        return self.chance.choice(forms)

    def text(self, value):
        quote = self.chance.choice("'\"")
        return f"{quote}{value}{quote}"

    def glob(self, value):
        value = list(value)
        for _ in range(self.chance.randint(1, 3)):
            at = self.chance.randint(0, len(value))
            value[at : at + self.chance.choice((0, 1, 1, 3, 30))] = [self.chance.choice("*?*")]
        return "".join(value)

    def test(self):
        path = self.chance.choice(self.paths)
        value = self.chance.choice(self.some[path])
        if isinstance(value, bool) or isinstance(value, float):
            return self.test()
        if path == "type":
            op = self.chance.choice(("==", "!="))
            return f"type {op} {value.lower()}", lambda r: COMPARE[op](r["type"], value)
        if path == "cpumode" and value < len(MODES):
            return f"cpumode == {MODES[value]}", lambda r: r["misc"] & 7 == value
        if isinstance(value, str):
            return self.text_test(path, value)
        return self.number_test(path, value)

    def text_test(self, path, value):
        if len(value) > 1000 or not SAFE.match(value) or "*" in value or "?" in value:
            return self.test()
        op = self.chance.choice(("==", "!=", "=~", "in"))
        if op == "=~":
            glob = self.glob(value)
            return f"{path} =~ {self.text(glob)}", lambda r: any(fits(glob, v) for v in ask(r, path))
        if op == "in":
            return f"{path} in ({self.text('x')}, {self.text(value)})", lambda r: any(v in ("x", value) for v in ask(r, path))
        return f"{path} {op} {self.text(value)}", lambda r: any(COMPARE[op](v, value) for v in ask(r, path))

    def number_test(self, path, value):
        kind = self.chance.choice(("compare", "compare", "bits", "bits =", "in", "other", "true"))
        op = self.chance.choice(sorted(COMPARE))
        if kind == "true":
            return path, lambda r: any(ask(r, path))
        if kind == "in":
            more = [value + self.chance.randint(-2, 2), value, -5]
            more = [one for one in more if -(2**63) < one < 2**64]
            return (f"{path} in ({','.join(map(self.number, more))})", lambda r: any(v in more for v in ask(r, path)))
        if kind == "other":
            # beside misc, cpumode is the name of its bits
            others = [p for p in self.paths if isinstance(self.some[p][0], int) and p not in ("type", "cpumode")]
            other = self.chance.choice(others)
            return (f"{path} {op} {other}",
                    lambda r: any(COMPARE[op](v, w) for v in ask(r, path) for w in ask(r, other)))
        if kind == "compare":
            return f"{path} {op} {self.number(value)}", lambda r: any(COMPARE[op](v, value) for v in ask(r, path))
        mask = (value & self.chance.getrandbits(64)) or 1 << self.chance.randint(0, 31)
        if kind == "bits":
            return f"{path} & {hex(mask)}", lambda r: any(v & mask for v in ask(r, path))
        wanted = value & mask & (2**64 - 1)
        return (f"{path} & {hex(mask)} {op} {self.number(wanted)}",
                lambda r: any(COMPARE[op](v & mask, wanted) for v in ask(r, path)))

    def condition(self, depth):
        kind = self.chance.choice(("test", "&&", "||", "!")) if depth else "test"
        if kind == "test":
            return self.test()
        left, ask_left = self.condition(depth - 1)
        if kind == "!":
            return f"{self.chance.choice(('!', 'not '))}({left})", lambda r: not ask_left(r)
        right, ask_right = self.condition(depth - 1)
        both, sign = (all, self.chance.choice(("&&", "and"))) if kind == "&&" else (any, self.chance.choice(("||", "or")))
        return f"({left}) {sign} {right}" if kind == "||" else f"({left}) {sign} ({right})", \
            lambda r: both((ask_left(r), ask_right(r)))


def check(perfdata, path, count, seed):
    """Lines about what is wrong, and how many conditions were asked."""
    result = common.run([perfdata, "dump", "--json", path])
    records = [json.loads(line) for line in result.out.splitlines()]
    if result.status not in keep.FINE or not records or len(records) > 20000:
        return [], 0
    records = [record for record in records if "fields" in record and record["type"] not in OTHER_SIZE]
    if not records:
        return [], 0
    maker = Maker(random.Random(f"{seed} {os.path.basename(path)}"), records)
    wrong = []
    for _ in range(count):
        text, holds = maker.condition(3)
        wanted = {record["index"] for record in records if holds(record)}
        done = common.run([perfdata, "dump", "--json", "--where", text, path])
        if done.status not in keep.FINE + (keep.NOTHING,):
            wrong.append(f"{text}: {done.err.decode('utf-8', 'replace')}")
            continue
        found = {r["index"] for r in map(json.loads, done.out.splitlines()) if "fields" in r and r["type"] not in OTHER_SIZE}
        if found != wanted:
            wrong.append(f"{text}: {len(found)} records, {len(wanted)} wanted; {sorted(found ^ wanted)[:5]} differ")
    return wrong, count


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("perfdata")
    parser.add_argument("what", nargs="+")
    parser.add_argument("--only", default="")
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--count", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    perfdata = os.path.abspath(arguments.perfdata)
    total = failed = 0
    for name, at in keep.files(arguments):
        if arguments.only not in name:
            continue
        if isinstance(at, dict):
            with common.Unpacked(arguments.what[0], at) as path:
                wrong, count = check(perfdata, path, arguments.count, arguments.seed)
        else:
            wrong, count = check(perfdata, at, arguments.count, arguments.seed)
        total += count
        failed += len(wrong)
        for problem in wrong:
            print(f"{name}: {problem}")
    print(f"{total} conditions, {failed} answers differ")
    return 1 if failed or not total else 0


if __name__ == "__main__":
    sys.exit(main())
