#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The Python package: examples of its documentation, errors, and every column beside dump --json.

usage: run.py PACKAGE_FOLDER LIBRARY PERFDATA DATA_FOLDER

What needs NumPy or pyarrow is left out where they are not installed.
"""

import doctest
import gc
import importlib
import json
import os
import subprocess
import sys

folder, library, program, data = map(os.path.abspath, sys.argv[1:5])
os.environ["PERFDATA_LIBRARY"] = library
sys.path.insert(0, folder)
import perfdata  # noqa: E402

wrong = 0


def require(condition, *what):
    global wrong
    if not condition:
        wrong += 1
        print(*what)


def run_examples():
    os.chdir(data)
    for name in ("perfdata", "perfdata._recording", "perfdata._columns", "perfdata._errors"):
        module = importlib.import_module(name)
        result = doctest.testmod(module, extraglobs={"path": "hot.data"}, optionflags=doctest.IGNORE_EXCEPTION_DETAIL)
        require(not result.failed, name, result)
        if name == "perfdata":
            require(result.attempted > 8, "examples were not run")


def compare_objects(path):
    """Records and samples as objects, beside dump --json."""
    dump = subprocess.run([program, "dump", "-q", "--json", path], stdout=subprocess.PIPE, check=False).stdout
    expected = [json.loads(line) for line in dump.splitlines()]
    with perfdata.open(path, symbols=False) as recording:
        records = list(recording.records())
        samples = iter(recording.samples())
    require(len(records) == len(expected), path, len(records), len(expected))
    for row, record in zip(records, expected):
        for name in ("offset", "size", "misc", "time_ns", "event"):
            require(getattr(row, name) == record.get(name), path, row, name)
        require(row.fields == record.get("fields"), path, row, "fields")
        if record["type"] != "SAMPLE":
            continue
        sample = next(samples)
        for name, value in record.get("fields", {}).items():
            cell = getattr(sample, name)
            require((cell.hex() if isinstance(cell, bytes) else cell) == value, path, name, cell, value)
    require(next(samples, None) is None, path, "more samples than records")


def compare_numpy(path):
    try:
        import numpy
    except ImportError:
        return
    with perfdata.open(path, symbols=False) as recording:
        table = recording.samples()
        arrays = {}
        for batch in table.batches():
            for column in table.columns:
                try:
                    array = batch.numpy(column.name)
                except TypeError:
                    continue
                require(array.base is not None and not array.flags.owndata, column.name, "is a copy")
                valid = batch.valid(column.name)
                values = [value if there else None for value, there in zip(array.tolist(), valid.tolist())]
                if column.type == 5:
                    names = batch.names(column.name)
                    values = [None if value is None else names[value] for value in values]
                require(values == batch.values(column.name), path, column.name)
                arrays[column.name] = array
            del batch
            gc.collect()
        # views outlive their batch
        require(all(len(array.tolist()) for array in arrays.values()), path)
        require(isinstance(table.numpy("ip"), numpy.ndarray), path)


def compare_arrow(path):
    try:
        import pyarrow
    except ImportError:
        return
    recording = perfdata.open(path, symbols=False)
    for name in recording.tables:
        table = recording.table(name)
        taken = pyarrow.table(table)
        taken.validate(full=True)
        rows = list(table)
        require(taken.num_rows == len(rows) and taken.column_names == [c.name for c in table.columns], path, name)
        for i, column in enumerate(table.columns):
            require(taken.column(i).to_pylist() == [tuple.__getitem__(row, i) for row in rows], path, name, column.name)
    reader = pyarrow.RecordBatchReader.from_stream(recording.samples(columns=["ip", "comm"]))
    del recording
    gc.collect()
    require(reader.read_all().num_rows > 0, "a stream does not outlive its recording")


def check_errors():
    try:
        perfdata.open("/dev/null")
        require(False, "an empty file was opened")
    except perfdata.Error as error:
        require(error.code == "format", error.code)
    recording = perfdata.open("hot.data", symbols=False)
    for call, code in ((lambda: recording.table("nothing"), "argument"), (lambda: recording.samples(columns=["nothing"]), "argument"),
                       (lambda: recording.samples(order="none"), "argument"), (lambda: recording.sql("select absent"), "argument"),
                       (lambda: recording.sql("attach 'x' as x"), "argument")):
        try:
            call()
            require(False, "no error", code)
        except perfdata.Error as error:
            if error.code == "unsupported":
                continue
            require(error.code == code, error, error.code)
    table = recording.samples(columns=["ip"])
    recording.close()
    require(len(list(table)) == 81, "a table does not outlive its recording")
    try:
        recording.samples()
        require(False, "a closed recording was read")
    except perfdata.Error:
        pass


def check_problems():
    with open("hot.data", "rb") as whole:
        content = bytearray(whole.read())
    content[1144 + 6:1144 + 8] = b"\x09\x00"
    with open(os.path.join(os.environ.get("TMPDIR", "/tmp"), f"perfdata-{os.getpid()}.data"), "wb") as damaged:
        damaged.write(content)
    try:
        with perfdata.open(damaged.name, symbols=False) as recording:
            require(any(problem.severity == "damage" and problem.offset for problem in recording.problems), recording.problems)
    finally:
        os.unlink(damaged.name)


run_examples()
check_errors()
check_problems()
for each in ("hot.data", "hot-group.data", "hot-records.data", "hot-regs.data", "hot-trace.data", "hot-zstd.data", "hot-pipe.data"):
    compare_objects(each)
    compare_numpy(each)
    compare_arrow(each)
print(f"{wrong} differences")
sys.exit(1 if wrong else 0)
