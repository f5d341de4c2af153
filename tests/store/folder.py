#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A folder with files of Parquet as a store: its rows are those of a store of SQLite with the same recordings.

usage: folder.py PERFDATA RECORDING... [--packages FOLDER]

Rows are read by pyarrow, if it is there or in FOLDER; without it the files alone are looked at. Exit status: 0 all is so, 1 not, 77 with
--packages if there is no pyarrow.
"""

import argparse
import os
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
import urllib.parse

failures = []
TABLES = {
    "frames": "select frame, function, linker_name, object, path, build_id, kind, source, line from frames",
    "stacks": "select stack, parent, frame, depth from stacks",
    "labels": "select profile, key, value from labels",
    "samples": "select s.time, (select host from profiles p where p.profile = s.profile), s.profile, s.event, s.comm, s.pid, s.tid, s.stack, "
               "s.count, s.value from samples s",
    "profiles": "select profile, name, start_ns, finish_ns, host, arch, kernel, perf_version, command, samples, lost from profiles",
}
HASHES = {"frames": (0,), "stacks": (0, 1, 2), "samples": (7,)}


def require(condition, *what):
    if not condition:
        failures.append(" ".join(map(str, what)))


def run(*words, **options):
    return subprocess.run([perfdata, "store", *words], capture_output=True, text=True, errors="replace", timeout=120, **options)


def files(folder, suffix=".parquet"):
    return sorted(os.path.relpath(os.path.join(where, name), folder) for where, _, names in os.walk(folder) for name in names
                  if name.endswith(suffix))


def content(folder):
    found = {}
    for path in files(folder):
        with open(os.path.join(folder, path), "rb") as file:
            found[path] = file.read()
    return found


def store_rows(path, table):
    database = sqlite3.connect(path)
    rows = []
    for row in database.execute(TABLES[table]):
        rows.append(tuple(value % (1 << 64) if index in HASHES.get(table, ()) and value is not None else value for index, value in enumerate(row)))
    database.close()
    return sorted(rows, key=repr)


def folder_rows(folder, table, parquet):
    rows = []
    for path in files(os.path.join(folder, table)):
        data = parquet.ParquetFile(os.path.join(folder, table, path)).read()
        rows += list(zip(*[column.to_pylist() for column in data.columns]))
    return sorted(set(rows) if table in ("frames", "stacks") else rows, key=repr)


def rows_are_those_of_sqlite(scratch, recordings, parquet):
    store, folder, odd = os.path.join(scratch, "all.db"), os.path.join(scratch, "fleet") + "/", "a/b c=\"'%\u00e4"
    for index, path in enumerate(recordings):
        service = ("web", odd, "")[index % 3]
        labels = ["--label", f"service={service}"] if service else []
        require(run("add", store, path, "--no-symbols", *labels).returncode in (0, 1), "add to SQLite", path)
        done = run("add", folder, path, "--no-symbols", *labels)
        require(done.returncode in (0, 1), "add", path, done.returncode, done.stderr)
    require(run("ls", folder).stdout == run("ls", store).stdout and run("ls", store).stdout, "ls")
    for path in files(folder):
        with open(os.path.join(folder, path), "rb") as file:
            data = file.read()
        require(data[:4] == data[-4:] == b"PAR1", path, "is no Parquet")
    database = sqlite3.connect(store)
    parts = {(time.strftime("%Y-%m-%d", time.gmtime(day * 86400)), service or "", profile) for day, service, profile in database.execute(
        "select distinct time / 86400, (select value from labels l where l.profile = s.profile and key = 'service'), profile from samples s")}
    database.close()
    found = set()
    for path in files(os.path.join(folder, "samples")):
        date, service, name = path.split("/")
        escaped, service = service, urllib.parse.unquote(service.split("=", 1)[1]).replace("__HIVE_DEFAULT_PARTITION__", "")
        # Hive, and Spark with it, takes each escaped byte for a letter
        wanted = "".join(letter if ord(letter) > 127 else urllib.parse.quote(letter, safe="") for letter in service)
        require(not service or escaped == f"service={wanted}", "name of a partition", escaped, wanted)
        found.add((date.split("=", 1)[1], service, name[:-len(".parquet")]))
    require(found == parts, "partitions", found ^ parts)
    for table in TABLES if parquet else ():
        wanted, got = store_rows(store, table), folder_rows(folder, table, parquet)
        require(wanted == got, table, len(wanted), len(got), [row for row in got if row not in wanted][:2], [row for row in wanted if row not in got][:2])
    if parquet:
        import pyarrow.dataset  # pylint: disable=import-outside-toplevel
        whole = pyarrow.dataset.dataset(os.path.join(folder, "samples"), partitioning="hive").to_table()
        require(sum(whole["count"].to_pylist()) == sum(row[8] for row in store_rows(store, "samples")), "sum over partitions")
        require({"date", "service"} <= set(whole.column_names), "columns of partitions", whole.column_names)


def once_is_enough(scratch, recordings):
    folder = os.path.join(scratch, "once") + "/"
    run("add", folder, recordings[0], "--label", "service=web")
    before = content(folder)
    require(run("add", folder, recordings[0], "--label", "service=other").returncode == 0 and content(folder) == before, "twice")
    require(not files(folder, ".db") or files(folder, ".db") == ["_store.db"], "what is left", files(folder, ".db"))
    require([name for name in os.listdir(folder) if name.startswith(".")] == [], "hidden files", os.listdir(folder))


def killed_at_any_time(scratch, recordings):
    whole, folder = os.path.join(scratch, "whole") + "/", os.path.join(scratch, "killed") + "/"
    run("add", whole, recordings[0])
    for turn in range(25):
        child = subprocess.Popen([perfdata, "store", "add", folder, recordings[0]], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(turn * 0.002)
        child.send_signal(signal.SIGKILL)
        child.wait()
    done = run("add", folder, recordings[0])
    require(done.returncode == 0, "add after kills", done.stderr)
    found, wanted = content(folder), content(whole)
    require(found == wanted, "killed", sorted(set(found) ^ set(wanted)), [path for path in found if found[path] != wanted.get(path)])


def others_are_refused(scratch, recordings):
    other = os.path.join(scratch, "other")
    os.mkdir(other)
    with open(os.path.join(other, "file"), "w", encoding="utf-8") as file:
        file.write("x")
    done = run("add", other, recordings[0])
    require(done.returncode == 3 and os.listdir(other) == ["file"], "a folder with something else", done.returncode, os.listdir(other))
    require(run("add", os.path.join(other, "file", "x/"), recordings[0]).returncode == 4, "no folder")
    require("samples/date=" in run("schema", "parquet").stdout and run("schema", "x").returncode == 2, "schema")


QUESTIONS = (("report", "--stdio", "-g", "none"), ("report", "--stdio", "-g", "none", "--no-children"), ("folded",), ("top",), ("top", "service=web"),
             ("report", "--stdio", "-g", "none", "service=web", "2000-01-01..2100-01-01"), ("report", "--stdio", "..2000-01-01"), ("top", "7d.."), ("top", "service=x' OR '1'='1"),
             ("sql", "select event, sum(count), sum(value) from samples group by event order by 1"),
             ("sql", "select event, service, sum(count), sum(value) from samples_hour group by 1, 2 order by 1, 2"),
             ("sql", "select count(*), sum(depth) from stacks"), ("sql", "select function, object, kind, line from frames order by 1, 2, 3, 4"),
             ("diff", "service=web", "color=red"), ("diff", "service=none", "color=red"))


def is_asked_like_a_file(scratch, recordings):
    store, folder = os.path.join(scratch, "file.db"), os.path.join(scratch, "asked") + "/"
    for number, path in enumerate(recordings):
        labels = ["--label", "service=web"] if number % 2 else ["--label", "color=red"]
        for name in (store, folder):
            run("add", name, path, *labels)
    for words in QUESTIONS:
        done = [run(words[0], name, *words[1:]) for name in (store, folder)]
        outputs = [(one.returncode, sorted(one.stdout.replace(name, "STORE").splitlines()), one.stderr.replace(name, "STORE")) for one, name in zip(done, (store, folder))]
        require(outputs[0] == outputs[1], "asked:", words, outputs[0][0], [line for line in outputs[0][1] if line not in outputs[1][1]][:3], outputs[1][0],
                [line for line in outputs[1][1] if line not in outputs[0][1]][:3], outputs[1][2])
    gets = [subprocess.run([perfdata, "store", "get", name, "-o", "-"], capture_output=True).stdout for name in (store, folder)]
    require(len(gets[0]) == len(gets[1]) > 100, "get", len(gets[0]), len(gets[1]))
    require(run("report", folder[:-1]).stdout == run("report", folder).stdout, "without a slash")


def names_must_be_there(scratch, recordings):
    folder = os.path.join(scratch, "names") + "/"
    run("add", folder, recordings[0])
    path = os.path.join(folder, "frames", os.listdir(os.path.join(folder, "frames"))[0])
    os.rename(path, path + ".gone")
    done = run("report", folder)
    require(done.returncode != 0 and "frames/" in done.stderr, "names that are gone", done.returncode, done.stderr)
    os.mkfifo(path)
    done = run("report", folder)
    require(done.returncode != 0 and "no regular file" in done.stderr, "a pipe", done.returncode, done.stderr)
    os.remove(path)
    os.rename(path + ".gone", path)
    require(run("report", folder).returncode in (0, 1), "names are back")


def old_days_go(scratch, recordings):
    folder = os.path.join(scratch, "pruned") + "/"
    for path in recordings:
        run("add", folder, path)
    before, sums = files(folder), run("sql", folder, "select sum(count) from samples where time >= 86400 * (strftime('%s') / 86400 - 1)", "--format", "csv").stdout
    require(run("prune", folder, "--days", "100000").returncode == 0 and files(folder) == before, "nothing is that old")
    require(run("prune", folder, "--days", "1").returncode == 0, "prune")
    require(run("sql", folder, "select sum(count) from samples", "--format", "csv").stdout == sums, "what is left", sums)
    days = [part for part in os.listdir(os.path.join(folder, "samples")) if part < time.strftime("date=%Y-%m-%d", time.gmtime(time.time() - 86400))]
    require(not days, "old days", days)
    require(run("ls", folder).stdout.count("\n") >= len(recordings), "the list")
    for path in recordings:
        run("add", folder, path)
    require(run("sql", folder, "select sum(count) from samples", "--format", "csv").stdout == sums, "what was pruned comes back")


def damaged_files_are_refused(scratch, recordings):
    """Each byte of a file may be another one: it is read, or refused with a sentence that names the file."""
    folder, random = os.path.join(scratch, "damaged") + "/", __import__("random").Random(7)
    run("add", folder, recordings[0])
    for path in files(folder):
        full = os.path.join(folder, path)
        with open(full, "rb") as file:
            data = file.read()
        for turn in range(turns):
            with open(full, "wb") as file:
                file.write(mutant(data, turn, random))
            done = run("report", folder)
            require(done.returncode >= 0 and "Sanitizer" not in done.stderr, "a crash:", path, turn, done.returncode, done.stderr[-600:])
            require(done.returncode in (0, 1) or "perfdata: " in done.stderr, "no sentence:", path, turn, done.returncode, done.stderr)
        with open(full, "wb") as file:
            file.write(data)
    require(run("report", folder).returncode in (0, 1), "all is as before")


def mutant(data, turn, random):
    if turn % 4 == 0:
        return data[:random.randrange(len(data) + 1)]
    changed = bytearray(data)
    for _ in range(1 + turn % 3):
        # mostly in the footer, which says where all else is
        low = random.choice((0, max(0, len(data) - 400)))
        changed[random.randrange(low, len(data))] = random.choice((0, 255, 127, 128, random.randrange(256)))
    return bytes(changed)


def main():
    global perfdata, turns  # pylint: disable=global-statement
    parser = argparse.ArgumentParser()
    parser.add_argument("perfdata")
    parser.add_argument("recordings", nargs="+")
    parser.add_argument("--packages")
    parser.add_argument("--mutants", type=int, default=12, metavar="N", help="of each file")
    args = parser.parse_args()
    turns = args.mutants
    perfdata = os.path.abspath(args.perfdata)
    recordings = [os.path.abspath(path) for path in args.recordings]
    if args.packages:
        sys.path.insert(0, args.packages)
    try:
        import pyarrow.parquet as parquet  # pylint: disable=import-outside-toplevel
    except ImportError:
        parquet = None
    if args.packages and not parquet:
        print("skipped: no pyarrow (tools/setup viewers)")
        return 77
    with tempfile.TemporaryDirectory(prefix="perfdata-folder-", dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None) as scratch:
        rows_are_those_of_sqlite(scratch, recordings, parquet)
        for test in (once_is_enough, killed_at_any_time, others_are_refused, is_asked_like_a_file, names_must_be_there, old_days_go, damaged_files_are_refused):
            test(scratch, recordings)
    print("\n".join(failures) or f"{len(recordings)} recordings: {'rows' if parquet else 'files'} are as in SQLite")
    return bool(failures)


if __name__ == "__main__":
    sys.exit(main())
