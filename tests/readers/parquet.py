#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A store that is a folder of Parquet files, asked by other programs: sums and the top functions are those of a store of SQLite.

usage: parquet.py PERFDATA PACKAGES RECORDING...

The recordings, and one that is made now if that is possible, are added to both stores as those of three services. Each reader that is here, or in the folder PACKAGES, must find the same
sums by service and event, and the same 50 largest functions of the largest event. Readers that are not here are named on a line. pyspark
needs Java. Exit status: 0 all is equal, 1 not, 77 no reader at all.
"""

import importlib.util
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time

SKIPPED = 77
SERVICES = ("web", "build", "a/b c=\"'%\u00e4")
TOP = """select f.function, sum(s.value) as v from {samples} s join {stacks} k on s.stack = k.stack join {frames} f on k.frame = f.frame
where s.event = '{event}' group by f.function order by v desc, f.function limit 50"""
SUMS = "select service, event, sum(count) as c, sum(value) as v from {samples} group by service, event order by service, event"
# names and stacks come again with each recording
NUMBERS = {"stacks": "stack, frame", "frames": "frame, function"}


WORK = "import json, re\nfor i in range(3000): re.findall(r'(\\w+)=', json.dumps({str(n): [n, None] for n in range(i % 200)}))"


# ---- readers: sums and functions, as lists of rows ----

def by_sqlite(store, event):
    database = sqlite3.connect(store)
    database.execute("create temp view labelled as select s.event, s.stack, s.count, s.value, l.value as service from samples s join labels l "
                     "on l.profile = s.profile and l.key = 'service'")
    return [database.execute(query.format(event=event, samples="labelled", stacks="stacks", frames="frames")).fetchall() for query in (SUMS, TOP)]


def by_pyarrow(folder, event):
    import pyarrow.compute as pc  # pylint: disable=import-outside-toplevel
    import pyarrow.dataset as dataset  # pylint: disable=import-outside-toplevel
    samples = dataset.dataset(f"{folder}/samples", partitioning="hive").to_table(columns=["service", "event", "stack", "count", "value"])
    sums = samples.group_by(["service", "event"]).aggregate([("count", "sum"), ("value", "sum")]).to_pylist()
    own = samples.filter(pc.equal(samples["event"], event)).group_by(["stack"]).aggregate([("value", "sum")])
    for table, columns in NUMBERS.items():
        columns = columns.split(", ")
        names = dataset.dataset(f"{folder}/{table}").to_table(columns=columns)
        own = own.join(names.group_by(columns).aggregate([]), columns[0])
    top = own.group_by(["function"]).aggregate([("value_sum", "sum")]).to_pylist()
    return [sorted((row["service"], row["event"], row["count_sum"], row["value_sum"]) for row in sums),
            sorted(((row["function"], row["value_sum_sum"]) for row in top if row["function"] is not None), key=lambda row: (-row[1], row[0]))[:50]]


def by_duckdb(folder, event):
    import duckdb  # pylint: disable=import-outside-toplevel
    names = {table: f"(select distinct {columns} from '{folder}/{table}/*.parquet')" for table, columns in NUMBERS.items()}
    names["samples"] = f"read_parquet('{folder}/samples/**/*.parquet', hive_partitioning = true)"
    return [duckdb.sql(query.format(event=event, **names)).fetchall() for query in (SUMS, TOP)]


def by_chdb(folder, event):
    import chdb  # pylint: disable=import-outside-toplevel
    names = {table: f"(select distinct {columns} from file('{folder}/{table}/*.parquet', Parquet))" for table, columns in NUMBERS.items()}
    names["samples"] = (f"(select *, decodeURLComponent(extract(_path, 'service=([^/]*)')) as service "
                        f"from file('{folder}/samples/*/*/*.parquet', Parquet))")
    settings = " settings use_hive_partitioning = 0"
    return [[tuple(int(cell) if cell.isdigit() else cell for cell in line.split("\t")) for line in
             str(chdb.query(query.format(event=event, **names) + settings, "TabSeparatedRaw")).splitlines()] for query in (SUMS, TOP)]


def by_pyspark(folder, event):
    import pyspark.sql  # pylint: disable=import-outside-toplevel
    spark = pyspark.sql.SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").config("spark.sql.shuffle.partitions", "1")
    spark = spark.config("spark.ui.showConsoleProgress", "false").config("spark.driver.bindAddress", "127.0.0.1").config("spark.driver.host", "127.0.0.1").getOrCreate()
    try:
        spark.sparkContext.setLogLevel("ERROR")
        spark.read.parquet(f"{folder}/samples").createOrReplaceTempView("samples")
        for table, columns in NUMBERS.items():
            spark.read.parquet(f"{folder}/{table}").select(*columns.split(", ")).distinct().createOrReplaceTempView(table)
        return [[tuple(int(cell) if not isinstance(cell, str) else cell for cell in row) for row in
                 spark.sql(query.format(event=event, samples="samples", stacks="stacks", frames="frames")).collect()] for query in (SUMS, TOP)]
    finally:
        spark.stop()


READERS = (by_pyarrow, by_duckdb, by_chdb, by_pyspark)


def missing(reader):
    """Why a reader is not here, or None."""
    package = reader.__name__[3:]
    if importlib.util.find_spec(package) is None:
        return f"no package {package} of pip"
    if reader is by_pyspark and not (shutil.which("java") or os.environ.get("JAVA_HOME")):
        return "no Java"
    return None


def agree(store, folder):
    """Asks all readers, and prints what they say. How many there are, and whether all found what SQLite has."""
    event = sqlite3.connect(store).execute("select event from samples group by event order by sum(value) desc, event").fetchone()[0]
    wanted, same, count = [list(map(tuple, rows)) for rows in by_sqlite(store, event)], True, 0
    for reader in READERS:
        name, begin, reason = reader.__name__[3:], time.time(), missing(reader)
        if reason:
            print(f"{name:14} is not here: {reason}", flush=True)
            continue
        found = [[tuple(row) for row in rows] for rows in reader(folder.rstrip("/"), event)]
        equal = found == wanted
        count += 1
        same &= equal
        print(f"{name:14} {len(found[0])} sums, {len(found[1])} functions, {time.time() - begin:.1f} s: {'equal' if equal else 'DIFFERENT'}", flush=True)
        for rows, others in zip(found, wanted) if not equal else ():
            print([row for row in rows if row not in others][:3], [row for row in others if row not in rows][:3])
    return count, same


def record(perfdata, path):
    """A recording with many functions."""
    return subprocess.run([perfdata, "record", "-g", "-F", "4999", "-o", path, "--", sys.executable, "-c", WORK], capture_output=True, check=False).returncode == 0


def main():
    perfdata, packages, *recordings = sys.argv[1:]
    sys.path.insert(0, packages)
    with tempfile.TemporaryDirectory(prefix="perfdata-parquet-") as scratch:
        store, folder = os.path.join(scratch, "all.db"), os.path.join(scratch, "fleet") + "/"
        fresh = os.path.join(scratch, "fresh.data")
        if record(perfdata, fresh):
            recordings.append(fresh)
        for index, path in enumerate(recordings):
            for one in (store, folder):
                done = subprocess.run([perfdata, "store", "add", one, path, "--label", f"service={SERVICES[index % len(SERVICES)]}"],
                                      capture_output=True, text=True, errors="replace", check=False)
                if done.returncode not in (0, 1):
                    print(f"store add {one} {path}: {done.returncode}: {done.stderr}")
                    return 1
        count, same = agree(store, folder)
    if not count:
        print("skipped: no reader is here (tools/setup readers)")
        return SKIPPED
    return not same


if __name__ == "__main__":
    sys.exit(main())
