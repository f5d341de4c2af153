#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A fleet that is simulated: recordings of many services in each kind of store; what they take, and whether all say the same.

usage: bench/fleet.py PERFDATA SCRATCH RECORDING... [--files N,N,...] [--services N] [--clickhouse URL] [--packages FOLDER]

RECORDINGs are parts of a real one (perfdata split --by size=1000000 -o FOLDER FILE), or made one after another (perfdata record -a -g
--switch-output=400ms -- sleep 420). They are added with labels of services in turn, 50 a day, by their time of modification, which is
changed. For each N: rows, bytes and CPU seconds (user and system) of SQLite and of a folder of Parquet files, and of a server, whose
own seconds are not there. Then questions to the largest ones, and sums and the top 50 functions by the readers of
tests/readers/parquet.py, as far as they are there or in FOLDER. Exit status: 0 all are equal, 1 not.
"""

import argparse
import os
import resource
import subprocess
import sys
import time

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(TOP, "tests", "readers"))
import parquet  # pylint: disable=wrong-import-position

BEGIN, A_DAY, DAY = 1780272000, 50, 86400  # 2026-06-01


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
    return not (parquet.agree(store, folder)[1] and same)


if __name__ == "__main__":
    sys.exit(main())
