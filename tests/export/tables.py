#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tables that perfdata export writes, read back by other programs: each cell is that of perfdata sql.

usage: tables.py PERFDATA RECORDING... [--corpus CORPUS] [--packages FOLDER] [--hostile]

RowBinary is read here, SQLite by Python; Arrow and Parquet by pyarrow, Parquet also by DuckDB and Arrow by polars, if they are
there or in FOLDER. --hostile: recordings whose names want to break out, and mutants of the first recording. Exit status: 0 all agrees, 1 not, 77 with
--packages if there is no pyarrow.
"""

import argparse
import io
import json
import os
import random
import sqlite3
import struct
import subprocess
import sys
import tempfile

FORMATS = ("arrow", "arrow-stream", "parquet", "rowbinary")
CORPUS = ("a-threads", "a-sched", "a-pipe", "arm64-callgraph-dwarf", "s390x-callgraph-fp", "v-cpp", "group-leader-sampling", "v-weight",
          "all-fields", "v-lost.data.zst")
WIDE = struct.calcsize("q") * 8


def run(words, **options):
    return subprocess.run(words, capture_output=True, timeout=300, **options)


# ---- readers: columns, and rows as lists ----

class RowBinary:
    def __init__(self, data):
        self.data, self.at = data, 0
        self.columns = [self.text() for _ in range(self.leb())]
        self.types = [self.text() for _ in self.columns]
        self.rows = []
        while self.at < len(data):
            self.rows.append([self.cell(kind) for kind in self.types])

    def take(self, size):
        if size > len(self.data) - self.at:
            raise ValueError("truncated")
        self.at += size
        return self.data[self.at - size:self.at]

    def leb(self):
        value = shift = 0
        while True:
            byte = self.take(1)[0]
            value |= (byte & 0x7f) << shift
            shift += 7
            if byte < 0x80:
                return value

    def text(self):
        return self.take(self.leb()).decode()

    def cell(self, kind):
        inner = kind.removeprefix("LowCardinality(").rstrip(")").removeprefix("Nullable(")
        null = self.take(1)[0]
        if null:
            return None
        if inner == "String":
            return self.take(self.leb())
        code = {"UInt32": "<I", "Int32": "<i", "UInt64": "<Q", "Int64": "<q", "Float64": "<d"}[inner]
        return struct.unpack(code, self.take(struct.calcsize(code)))[0]


def read_rowbinary(data):
    read = RowBinary(data)
    return read.columns, read.rows


def of_arrow(table):
    columns = [column.to_pylist() for column in table.columns]
    return table.column_names, [list(row) for row in zip(*columns)]


def readers(folder):
    """By format: functions from the bytes of a file."""
    sys.path[:0] = [folder] if folder else []
    found = {"rowbinary": [read_rowbinary]}
    try:
        import pyarrow
        import pyarrow.ipc
        import pyarrow.parquet
    except ImportError:
        return found

    def read_arrow(data):
        table = pyarrow.ipc.open_file(data).read_all()
        table.validate(full=True)
        return of_arrow(table)

    def read_stream(data):
        table = pyarrow.ipc.open_stream(data).read_all()
        table.validate(full=True)
        return of_arrow(table)

    def read_parquet(data):
        table = pyarrow.parquet.read_table(io.BytesIO(data))
        table.validate(full=True)
        check_statistics(pyarrow.parquet.ParquetFile(io.BytesIO(data)), table)
        return of_arrow(table)

    found.update({"arrow": [read_arrow], "arrow-stream": [read_stream], "parquet": [read_parquet]})
    add_more(found)
    return found


def check_statistics(file, table):
    """The smallest and largest value of each column, of which readers leave out groups of rows."""
    for column in range(file.metadata.num_columns):
        known = [file.metadata.row_group(group).column(column).statistics for group in range(file.metadata.num_row_groups)]
        values = [value for value in table.column(column).to_pylist() if value is not None]
        if sum(one.null_count for one in known) != table.column(column).null_count:
            raise ValueError(f"statistics of {table.column_names[column]}")
        ranges = [(one.min, one.max) for one in known if one.has_min_max]
        if ranges and (min(low for low, _ in ranges), max(high for _, high in ranges)) != (min(values), max(values)):
            raise ValueError(f"range of {table.column_names[column]}")


def add_more(found):
    try:
        import polars
        found["arrow"].append(lambda data: of_polars(polars.read_ipc(io.BytesIO(data))))
        found["parquet"].append(lambda data: of_polars(polars.read_parquet(io.BytesIO(data))))
    except ImportError:
        pass
    try:
        import duckdb
        found["parquet"].append(lambda data: of_duckdb(duckdb, data))
    except ImportError:
        pass


def of_polars(frame):
    return frame.columns, [list(row) for row in frame.rows()]


def of_duckdb(duckdb, data):
    with tempfile.NamedTemporaryFile(suffix=".parquet") as file:
        file.write(data)
        file.flush()
        answer = duckdb.sql(f"select * from read_parquet('{file.name}', binary_as_string=false)")
        return answer.columns, [list(row) for row in answer.fetchall()]


# ---- what is expected ----

def plain(value):
    """As SQL has it in JSON: numbers with a sign, bytes in hexadecimal or as text."""
    if isinstance(value, bytes):
        try:
            return value.decode()
        except UnicodeDecodeError:
            return value.hex()
    if isinstance(value, int) and value >= 1 << (WIDE - 1):
        return value - (1 << WIDE)
    return value


def same(ours, theirs):
    if ours == theirs:
        return True
    # bytes, which SQL prints in hexadecimal
    return isinstance(ours, str) and isinstance(theirs, str) and ours.encode().hex() == theirs


def expected_of(perfdata, path, table):
    done = run([perfdata, "sql", "-q", "--no-symbols", "--format", "json", path, f'select * from "{table}"'])
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    return [{name: value for name, value in row.items() if name != "file"} for row in rows]


def compare(label, columns, rows, expected):
    if len(rows) != len(expected):
        return [f"{label}: {len(rows)} rows, expected {len(expected)}"]
    for ours, theirs in zip(rows, expected):
        if set(columns) != set(theirs):
            return [f"{label}: columns {sorted(set(columns) ^ set(theirs))}"]
        for name, value in zip(columns, ours):
            if not same(plain(value), theirs[name]):
                return [f"{label}.{name}: {plain(value)!r}, expected {theirs[name]!r}"]
    return []


# ---- a recording ----

def tables_of(perfdata, path):
    return run([perfdata, "sql", "-q", "--no-symbols", path, ".tables"]).stdout.decode().split()


def file_of(folder, table, number, suffix):
    for name in (table.replace(":", "."), f"tracepoint-{number}"):
        if os.path.exists(os.path.join(folder, name + suffix)):
            return os.path.join(folder, name + suffix)
    return None


def judge_folder(perfdata, path, name, found, folder, answers):
    failures = []
    done = run([perfdata, "export", "-q", "--no-symbols", "--to", name, "-o", folder, path])
    if done.returncode not in (0, 1):
        return [f"{name}: exit code {done.returncode}: {done.stderr.decode()[:200]}"]
    files = os.listdir(folder)
    if len(files) != len(answers) + (name == "rowbinary"):
        failures.append(f"{name}: {len(files)} files for {len(answers)} tables")
    suffix = {"arrow": ".arrow", "arrow-stream": ".arrows"}.get(name, "." + name)
    for number, (table, expected) in enumerate(answers.items()):
        at = file_of(folder, table, number, suffix)
        if not at:
            failures.append(f"{name}: no file of {table}")
            continue
        with open(at, "rb") as file:
            data = file.read()
        one = run([perfdata, "export", "-q", "--no-symbols", "--to", name, "--table", table, path])
        failures += [f"{name}: {table} alone differs"] if one.stdout != data else []
        for read in found[name]:
            try:
                failures += compare(f"{name}: {table}", *read(data), expected)
            except Exception as error:  # whatever a reader does not like
                failures.append(f"{name}: {table}: {type(error).__name__}: {error}")
    return failures


def judge_sqlite(perfdata, path, target, answers):
    done = run([perfdata, "export", "-q", "--no-symbols", "--to", "sqlite", "-o", target, path])
    if done.returncode not in (0, 1):
        return [f"sqlite: exit code {done.returncode}: {done.stderr.decode()[:200]}"]
    failures = []
    database = sqlite3.connect(target)
    if database.execute("pragma user_version").fetchone() != (1,) or database.execute("pragma integrity_check").fetchone() != ("ok",):
        failures.append("sqlite: version or integrity")
    for table, expected in answers.items():
        cursor = database.execute(f'select * from "{table}"')
        columns = [column[0] for column in cursor.description]
        keep = [i for i, name in enumerate(columns) if name != "file"]
        rows = [[row[i] for i in keep] for row in cursor]
        failures += compare(f"sqlite: {table}", [columns[i] for i in keep], rows, expected)
    database.close()
    return failures


def judge(perfdata, path, found, scratch):
    answers = {table: expected_of(perfdata, path, table) for table in tables_of(perfdata, path)}
    if not answers:
        return []
    failures = []
    for name in FORMATS:
        if name in found:
            with tempfile.TemporaryDirectory(dir=scratch) as folder:
                failures += judge_folder(perfdata, path, name, found, os.path.join(folder, "out"), answers)
    with tempfile.TemporaryDirectory(dir=scratch) as folder:
        failures += judge_sqlite(perfdata, path, os.path.join(folder, "out.db"), answers)
    return [f"{os.path.basename(path)}: {failure}" for failure in failures]


# ---- names that want to break out, and damage ----

def hostile(perfdata, found, scratch, seed):
    sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "scale"))
    import hostile as names
    failures = []
    path = os.path.join(scratch, "hostile.data")
    for lead in (b"", b"'; drop table samples; --", b'"`\\', b"../../x"):
        names.recording(lead).write(path)
        failures += judge(perfdata, path, found, scratch)
    names.long_recording().write(path)
    failures += judge(perfdata, path, found, scratch)
    with open(seed, "rb") as file:
        data = file.read()
    for number in range(40):
        chosen = random.Random(number)
        bytes_of = bytearray(data)
        for _ in range(chosen.randrange(1, 20)):
            bytes_of[chosen.randrange(len(data))] = chosen.randrange(256)
        with open(path, "wb") as file:
            file.write(bytes_of[:chosen.randrange(len(data))] if number % 4 == 0 else bytes_of)
        failures += judge(perfdata, path, found, scratch)
    return failures


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("perfdata")
    parser.add_argument("recordings", nargs="+")
    parser.add_argument("--corpus")
    parser.add_argument("--packages")
    parser.add_argument("--hostile", action="store_true")
    args = parser.parse_args()
    perfdata = os.path.abspath(args.perfdata)
    found = readers(args.packages)
    if args.packages and "arrow" not in found:
        print("skipped: no pyarrow (tools/setup viewers)")
        return 77
    paths = list(args.recordings)
    if args.corpus and os.path.isdir(args.corpus):
        paths += [os.path.join(folder, name) for folder, _, names in os.walk(args.corpus) for name in names
                  if any(name in (want, want + ".data") for want in CORPUS)]
    failures = []
    with tempfile.TemporaryDirectory(prefix="perfdata-tables-") as scratch:
        if args.hostile:
            failures += hostile(perfdata, found, scratch, paths[0])
        else:
            for path in paths:
                failures += judge(perfdata, path, found, scratch)
    print("\n".join(failures) or f"{len(paths)} recordings, {', '.join(sorted(found))}, sqlite: equal")
    return bool(failures)


if __name__ == "__main__":
    sys.exit(main())
