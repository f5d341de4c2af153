#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The extension for programs that have SQLite: its tables are those of perfdata sql.

usage: extension.py PERFDATA EXTENSION RECORDING...

By the module sqlite3 of Python, or by the program sqlite3. Exit status: 0 all is so, 1 not, 77 without either.
"""

import csv
import io
import os
import shutil
import sqlite3
import subprocess
import sys

SKIPPED = 77
perfdata, extension = map(os.path.abspath, sys.argv[1:3])
failures = []
TABLES = ("samples", "stacks", "frames", "tasks", "events", "records")


def require(condition, *what):
    if not condition:
        failures.append(" ".join(map(str, what)))


def by_module(statements):
    database = sqlite3.connect(":memory:")
    database.enable_load_extension(True)
    database.load_extension(extension)
    try:
        for statement in statements[:-1]:
            database.execute(statement)
        return [["" if cell is None else str(cell) for cell in row] for row in database.execute(statements[-1])]
    except sqlite3.Error as error:
        return str(error)


def by_program(statements):
    done = subprocess.run(["sqlite3", "-batch", "-csv", ":memory:"], input=f".load {extension}\n" + ";\n".join(statements) + ";\n", capture_output=True,
                          text=True, timeout=120)
    return list(csv.reader(io.StringIO(done.stdout))) if done.returncode == 0 else done.stderr


def main():
    ask = by_module if hasattr(sqlite3.Connection, "enable_load_extension") else by_program if shutil.which("sqlite3") else None
    if not ask:
        print("neither Python nor sqlite3 loads extensions")
        return SKIPPED
    for path in map(os.path.abspath, sys.argv[3:]):
        name = path.replace("'", "''")
        for table in TABLES:
            columns = "*" if table != "records" else "count(*), sum(size), min(time_ns)"
            done = subprocess.run([perfdata, "sql", "-q", "--format", "csv", path, f"select {columns} from {table};"], capture_output=True, text=True)
            wanted = list(csv.reader(io.StringIO(done.stdout)))[1:]
            found = ask([f"create virtual table temp.t using perfdata('{name}', '{table}')", f"select {columns} from t"])
            require(isinstance(found, list) and len(found) == len(wanted), path, table, found if isinstance(found, str) else len(found), len(wanted))
        sums = "select sum(value), count(*), count(distinct function), max(length(comm)), min(time_ns) from "
        done = subprocess.run([perfdata, "sql", "-q", "--format", "csv", path, sums + "samples;"], capture_output=True, text=True)
        found = ask([f"create virtual table temp.t using perfdata('{name}', 'samples')", sums + "t"])
        require(found == list(csv.reader(io.StringIO(done.stdout)))[1:], path, "sums", found, done.stdout)
        found = ask([f"create virtual table temp.t using perfdata('{name}')", f"create virtual table temp.k using perfdata(\"{name}\", stacks)",
                     "select count(*) from t left join k using (stack)"])
        alone = ask([f"create virtual table temp.t using perfdata('{name}')", "select count(*) from t"])
        require(isinstance(found, list) and found == alone, path, "a join", found, alone)
        require("has no table 'x'" in str(ask([f"create virtual table temp.t using perfdata('{name}', 'x')", "select 1"])), "no such table")
    require("No such file" in str(ask(["create virtual table temp.t using perfdata('/none')", "select 1"])), "no such file")
    require("perfdata('FILE', 'TABLE')" in str(ask(["create virtual table temp.t using perfdata", "select 1"])), "no arguments")
    print("\n".join(failures) or f"{len(sys.argv) - 3} recordings: tables are those of perfdata sql")
    return bool(failures)


if __name__ == "__main__":
    sys.exit(main())
