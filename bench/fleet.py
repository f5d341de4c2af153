#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A fleet that is simulated: recordings of many services in each kind of store; what they take, and whether all say the same.

usage: bench/fleet.py PERFDATA SCRATCH RECORDING... [--files N,N,...] [--services N] [--clickhouse URL] [--packages FOLDER]

RECORDINGs are parts of real ones (perfdata split --by time=1s -o FOLDER FILE). They are added with labels of services in turn, 50 a day, by
their time of modification, which is changed. For each N: rows, bytes and CPU seconds (user and system) of SQLite and of a folder of
Parquet files, and of a server, whose own seconds are not there. Then questions to the largest ones, and sums and the top 50 functions by
pyarrow, DuckDB, chDB and PySpark, as far as they are there or in FOLDER. Exit status: 0 all are equal, 1 not.
"""

import argparse
import os
import resource
import sqlite3
import subprocess
import sys
import time

BEGIN, A_DAY, DAY = 1780272000, 50, 86400  # 2026-06-01
TOP = """select f.function, sum(s.value) as v from {samples} s join {stacks} k on s.stack = k.stack join {frames} f on k.frame = f.frame
where s.event = '{event}' group by f.function order by v desc, f.function limit 50"""
SUMS = "select service, event, sum(count) as c, sum(value) as v from {samples} group by service, event order by service, event"
NUMBERS = {"stacks": "stack, frame", "frames": "frame, function"}


def cpu(argv):
    """Seconds of CPU and of the clock of a command; what it prints."""
    before, begin = resource.getrusage(resource.RUSAGE_CHILDREN), time.time()
    done = subprocess.run(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode not in (0, 1):
        sys.exit(f"{' '.join(argv[:4])} ...: {done.returncode}: {done.stderr}")
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, time.time() - begin, done.stdout


def kind_of(store):
    return "ClickHouse" if "://" in store else "Parquet" if store.endswith("/") else "SQLite"


def bytes_of(perfdata, store):
    if "://" in store:
        query = "select sum(bytes_on_disk) from system.parts where active and database = currentDatabase()"
        return int(subprocess.run([perfdata, "store", "sql", store, query, "--format", "csv"], stdout=subprocess.PIPE, text=True, check=True).stdout.split()[1])
    if not os.path.isdir(store):
        return os.path.getsize(store) if os.path.exists(store) else 0
    return sum(os.path.getsize(os.path.join(where, name)) for where, _, names in os.walk(store) for name in names)


def rows_of(perfdata, store):
    if store.startswith("clickhouse"):
        query = "select (select count() from samples) as a, (select count() from profiles) as b"
    elif store.endswith("/"):
        return None
    else:
        query = "select (select count(*) from samples) a, (select count(*) from profiles) b, (select count(*) from stacks) c, (select count(*) from frames) d"
    return subprocess.run([perfdata, "store", "sql", store, query, "--format", "csv"], stdout=subprocess.PIPE, text=True, check=True).stdout.split()[1]


def add_some(args, store, first, last):
    """Those of a service are one command, as a collector would have it."""
    total = wall = 0
    for service in range(args.services):
        paths = [path for index, path in enumerate(args.recordings[first:last], first) if index % args.services == service]
        if paths:
            seconds, clock, _ = cpu([args.perfdata, "store", "add", store, "--label", f"service=s{service:02}", *paths])
            total, wall = total + seconds, wall + clock
    return total, wall


def grow(args, store):
    total = done = 0
    for count in args.files:
        seconds, clock = add_some(args, store, done, count)
        total, done = total + seconds, count
        size = bytes_of(args.perfdata, store)
        print(f"{kind_of(store):14} {count:5} files: {total:8.1f} s CPU, last {clock:7.1f} s, "
              f"{size / 1e6:8.1f} MB, rows {rows_of(args.perfdata, store)}", flush=True)


def ask(args, stores):
    questions = (["ls"], ["top"], ["top", "service=s03"], ["report", "service=s03"], ["report"])
    answers = {}
    for words in questions:
        for store in stores:
            seconds, clock, text = cpu([args.perfdata, "store", words[0], store, *words[1:], *(["--format", "csv"] if words[0] != "report" else [])])
            rows = sorted(line for line in text.replace(store, "STORE").splitlines() if line and not line.startswith("#"))
            same = words[0] == "ls" or answers.setdefault(tuple(words), rows) == rows
            print(f"{' '.join(words):20} {kind_of(store):14} {seconds:7.2f} s CPU {clock:7.2f} s{'' if same else '  DIFFERS'}", flush=True)
            yield same


# ---- readers of Parquet ----

def by_duckdb(folder, event):
    import duckdb  # pylint: disable=import-outside-toplevel
    names = {table: f"(select distinct {columns} from '{folder}/{table}/*.parquet')" for table, columns in NUMBERS.items()}
    names["samples"] = f"read_parquet('{folder}/samples/**/*.parquet', hive_partitioning = true)"
    return [duckdb.sql(query.format(event=event, **names)).fetchall() for query in (SUMS, TOP)]


def by_chdb(folder, event):
    import chdb  # pylint: disable=import-outside-toplevel
    names = {table: f"(select distinct {columns} from file('{folder}/{table}/*.parquet', Parquet))" for table, columns in NUMBERS.items()}
    names["samples"] = f"(select *, extract(_path, 'service=([^/]*)') as service from file('{folder}/samples/*/*/*.parquet', Parquet))"
    settings = " settings use_hive_partitioning = 0"
    return [[tuple(int(cell) if cell.isdigit() else cell for cell in line.split("\t")) for line in
             str(chdb.query(query.format(event=event, **names) + settings, "TabSeparatedRaw")).splitlines()] for query in (SUMS, TOP)]


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


def by_pyspark(folder, event):
    import pyspark.sql  # pylint: disable=import-outside-toplevel
    spark = pyspark.sql.SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").config("spark.sql.shuffle.partitions", "4").getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    spark.read.parquet(f"{folder}/samples").createOrReplaceTempView("samples")
    for table, columns in NUMBERS.items():
        spark.read.parquet(f"{folder}/{table}").select(*columns.split(", ")).distinct().createOrReplaceTempView(table)
    answers = [[tuple(int(cell) if not isinstance(cell, str) else cell for cell in row) for row in
                spark.sql(query.format(event=event, samples="samples", stacks="stacks", frames="frames")).collect()] for query in (SUMS, TOP)]
    spark.stop()
    return answers


def by_sqlite(store, event):
    database = sqlite3.connect(store)
    database.execute("create temp view labelled as select s.*, l.value as service from (select * from samples) s join labels l "
                     "on l.profile = s.profile and l.key = 'service'".replace("s.*", "s.event, s.stack, s.count, s.value"))
    return [database.execute(query.format(event=event, samples="labelled", stacks="stacks", frames="frames")).fetchall() for query in (SUMS, TOP)]


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("usage: ")[1].split("\n", 1)[0])
    parser.add_argument("perfdata")
    parser.add_argument("scratch")
    parser.add_argument("recordings", nargs="+")
    parser.add_argument("--files", default="10,100,1000", type=lambda text: [int(word) for word in text.split(",")])
    parser.add_argument("--services", type=int, default=20)
    parser.add_argument("--clickhouse", metavar="URL")
    parser.add_argument("--packages", metavar="FOLDER")
    args = parser.parse_args()
    args.recordings = sorted(args.recordings)[:max(args.files)]
    args.files = [count for count in args.files if count <= len(args.recordings)] or [len(args.recordings)]
    if args.packages:
        sys.path.insert(0, args.packages)
    for index, path in enumerate(args.recordings):
        moment = BEGIN + index // A_DAY * DAY + index % A_DAY * (DAY // A_DAY)
        os.utime(path, (moment, moment))
    store, folder = os.path.join(args.scratch, "fleet.db"), os.path.join(args.scratch, "fleet") + "/"
    stores = [store, folder] + ([args.clickhouse] if args.clickhouse else [])
    for one in stores:
        grow(args, one)
    same = all(list(ask(args, stores)))
    event = sqlite3.connect(store).execute("select event from samples group by event order by sum(value) desc").fetchone()[0]
    wanted = by_sqlite(store, event)
    for reader in (by_pyarrow, by_duckdb, by_chdb, by_pyspark):
        begin = time.time()
        try:
            found = [[tuple(row) for row in rows] for rows in reader(folder.rstrip("/"), event)]
        except ImportError as missing:
            print(f"{reader.__name__[3:]:14} is not there: {missing}")
            continue
        equal = found == wanted
        same &= equal
        print(f"{reader.__name__[3:]:14} {len(found[0])} sums, {len(found[1])} functions, {time.time() - begin:.1f} s: {'equal' if equal else 'DIFFERENT'}", flush=True)
        for rows, others in zip(found, wanted) if not equal else ():
            print([row for row in rows if row not in others][:3], [row for row in others if row not in rows][:3])
    return not same


if __name__ == "__main__":
    sys.exit(main())
