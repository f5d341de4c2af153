#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A store has what its recordings have, whatever is added twice, pruned, interrupted, damaged or hostile.

usage: store.py PERFDATA RECORDING...

Exit status: 0 all is so, 1 not.
"""

import collections
import gzip
import json
import os
import random
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time

perfdata = os.path.abspath(sys.argv[1])
recordings = [os.path.abspath(path) for path in sys.argv[2:]]
failures = []


def require(condition, *what):
    if not condition:
        failures.append(" ".join(map(str, what)))


def run(*words, **options):
    return subprocess.run([perfdata, *words], capture_output=True, timeout=120, **options)


def rows(*words):
    done = run(*words)
    return [json.loads(line) for line in done.stdout.splitlines()] if done.returncode in (0, 1) else []


BY_FUNCTION = "select event, function, sum(count) as count, sum(value) as value from {} group by 1, 2"
OF_STORE = BY_FUNCTION.format("samples left join stacks using (stack) left join frames using (frame)")
OF_FILE = BY_FUNCTION.format("(select event, stack, 1 as count, value from samples) left join stacks using (stack) left join frames using (frame)")


def sums(found, with_count=True):
    total = collections.Counter()
    for row in found:
        total[row["event"], row["function"], "value"] += row["value"]
        if with_count:
            total[row["event"], row["function"], "count"] += row["count"]
    return {key: value for key, value in total.items() if value}


def store_sums(store, **options):
    return sums(rows("store", "sql", store, OF_STORE, "--format", "json"), **options)


def file_sums(paths, **options):
    return sums([row for path in paths for row in rows("sql", "-q", "--format", "json", path, OF_FILE)], **options)


def content(store):
    database = sqlite3.connect(store)
    tables = ("profiles", "labels", "frames", "stacks", "samples", "samples_hour")
    found = {table: sorted(map(repr, database.execute(f"select * from {table}"))) for table in tables}
    require(database.execute("pragma integrity_check").fetchone() == ("ok",), "integrity")
    database.close()
    return found


# ---- what it is for ----

def sums_are_those_of_the_files(folder):
    store = os.path.join(folder, "all.db")
    for path in recordings:
        code = run("store", "add", store, "--label", "service=web", path).returncode
        require(code in (0, 1), "add", path, code)
    require(store_sums(store) == file_sums(recordings), "sums of the store")
    hours = rows("store", "sql", store, "select sum(count) as count, sum(value) as value from samples_hour", "--format", "json")
    details = rows("store", "sql", store, "select sum(count) as count, sum(value) as value from samples", "--format", "json")
    require(hours == details and details, "sums of hours", hours, details)
    got = os.path.join(folder, "got.data")
    require(run("store", "get", store, "-o", got).returncode == 0, "get")
    require(file_sums([got], with_count=False) == store_sums(store, with_count=False), "sums of what is got")
    require(len(rows("store", "ls", store, "--format", "json")) == len(recordings), "ls")


def once_is_enough(folder):
    store = os.path.join(folder, "twice.db")
    run("store", "add", store, "--label", "service=web", recordings[0], recordings[0])
    before = content(store)
    packed = os.path.join(folder, "packed.gz")
    with open(recordings[0], "rb") as plain, gzip.open(packed, "wb") as out:
        out.write(plain.read())
    require(run("store", "add", store, "--label", "other=label", packed).returncode == 0, "add again")
    for number, words in enumerate((("--to", "pipe"), ("-z",), ("--to", "dir"))):
        other = os.path.join(folder, f"form-{number}.data")
        require(run("convert", "-q", *words, recordings[0], "-o", other).returncode == 0, "convert", words)
        require(run("store", "add", store, other).returncode == 0, "add", words)
    require(content(store) == before, "adding twice changes something")
    require(len(before["profiles"]) == 1, "profiles")


def labels_choose(folder):
    store = os.path.join(folder, "labels.db")
    odd = "it's \"x\"; drop table samples --"
    run("store", "add", store, "--label", "service=web", recordings[0])
    run("store", "add", store, "--label", f"service={odd}", recordings[1])
    got = os.path.join(folder, "labelled.data")
    require(run("store", "get", store, "--label", f"service={odd}", "-o", got).returncode == 0, "get by an odd label")
    require(file_sums([got], with_count=False) == file_sums([recordings[1]], with_count=False), "sums of one label")
    require(run("store", "get", store, "--label", "service=x", "-o", got + "2").returncode == 5 and not os.path.exists(got + "2"), "nothing fits")
    for label in ("service", "=x", ""):
        require(run("store", "add", store, "--label", label, recordings[0]).returncode == 2, "label", label)


def hours_remain(folder):
    store = os.path.join(folder, "pruned.db")
    paths = [os.path.join(folder, f"old-{number}.data") for number in range(2)]
    for path, original in zip(paths, recordings):
        shutil.copyfile(original, path)
        os.utime(path, (1600000000, 1600000000))
    run("store", "add", store, *paths)
    before = content(store)
    require({row["start"][:10] for row in rows("store", "ls", store, "--format", "json")} == {"2020-09-13"}, "time of a file")
    require(run("store", "add", store, recordings[2]).returncode in (0, 1), "add a new one")
    whole = content(store)
    for days in ("10000", "20700", "21000", "30000", "1000000"):
        require(run("store", "prune", store, "--days", days).returncode == 0 and content(store) == whole, "prune nothing", days)
    require(run("store", "get", store, "--days", "1000000", "-o", os.path.join(folder, "old.got")).returncode == 0, "get of all days")
    require(content(store)["samples"] != before["samples"], "what is new")
    require(run("store", "prune", store, "--days", "1").returncode == 0, "prune")
    after = content(store)
    new = content(store + ".new") if run("store", "add", store + ".new", recordings[2]).returncode in (0, 1) else {}
    require(after["samples"] == new["samples"] and len(after["samples_hour"]) == len(before["samples_hour"]) + len(new["samples_hour"]),
            "what remains")
    require(len(after["profiles"]) == 3 and after["stacks"], "names and profiles remain")
    run("store", "add", store, *paths)
    require(content(store) == after, "what was pruned comes back")
    require(run("store", "prune", store).returncode == 2 and run("store", "prune", store + ".no", "--days", "1").returncode == 3, "prune what")
    require(not os.path.exists(store + ".no"), "prune makes a store")


# ---- what is asked of files ----

def events(*words):
    """What report prints of each event, without what is said of the quality."""
    done = run(*words)
    require(done.returncode in (0, 1, 6), words, done.returncode, done.stderr)
    lines = [line for line in done.stdout.decode().splitlines() if not line.startswith("# Profile quality")]
    return sorted(block.rstrip("\n#") for block in "\n".join(lines).split("# Samples: ")[1:])


def quality(*words):
    """Samples, lost ones, and the share that is unresolved, as report says it."""
    line = next((line for line in run(*words).stdout.decode().splitlines() if line.startswith("# Profile quality")), "")
    found = re.search(r"\((\d+) samples?, (\d+) lost.* ([\d.]+) % unresolved", line)
    return found.groups() if found else line


def quality_is_that_of_the_file(folder):
    """Also of what has no functions, and of what was lost."""
    lossy = os.path.join(folder, "lossy.data")
    text = run("text", recordings[0]).stdout
    at = text.index(b"\nSAMPLE")
    with open(os.path.join(folder, "lossy.text"), "wb") as out:
        out.write(text[:at] + b"\nLOST_SAMPLES lost: 7, sample_id: {pid: 4400, tid: 4400, time_ns: 774.448518024}" + text[at:])
    require(run("assemble", os.path.join(folder, "lossy.text"), "-o", lossy).returncode == 0, "assemble losses")
    for number, path in enumerate([lossy, *recordings]):
        for words in ((), ("--no-symbols",)):
            store = os.path.join(folder, f"quality-{number}-{len(words)}.db")
            run("store", "add", store, path, *words)
            expected, found = quality("report", path, *words), quality("store", "report", store)
            # samples of groups are counted once for each event
            same = slice(1, None) if any("group" in event for event in events("report", path, *words)) else slice(None)
            require(len(found) == 3 and expected[same] == found[same] or expected == found, "quality", path, *words, expected, found)
    require(quality("report", lossy)[1] == "7", "what was lost")
    require(quality("store", "report", os.path.join(folder, "quality-0-1.db"))[2] != "0.0", "what is unresolved")
    both = os.path.join(folder, "losses.db")
    run("store", "add", both, "--label", "part=1", lossy)
    run("store", "add", both, "--label", "part=2", recordings[1])
    require([quality("store", "report", both, *words)[1] for words in ([], ["part=1"], ["part=2"])] == ["7", "7", "0"], "lost by label")
    got = os.path.join(folder, "losses.data")
    require(run("store", "get", both, "-o", got).returncode == 0 and quality("report", got)[1] == "7", "what is got says what was lost")


def folded(*words):
    found = collections.Counter()
    for line in run(*words).stdout.decode().splitlines():
        stack, value = line.rsplit(" ", 1)
        found[stack] += int(value)
    return found


def imported(folder, name, lines):
    text, path = os.path.join(folder, name + ".folded"), os.path.join(folder, name + ".data")
    with open(text, "w", encoding="utf-8") as file:
        file.write("".join(f"{stack} {count}\n" for stack, count in lines))
    require(run("import", "--from", "folded", text, "-o", path).returncode == 0, "import", name)
    return path


def report_is_that_of_the_file(folder):
    named = imported(folder, "named", [(f"a;main;f{i % 7};g{i}", i * i + 1) for i in range(90)] + [("b;main;g1", 5)])
    for number, path in enumerate([path for path in recordings if events("report", path)] + [named]):
        store = os.path.join(folder, f"one-{number}.db")
        run("store", "add", store, path)
        for words in (("-s", "comm,dso"), ("-s", "pid"), ("-s", "comm,tid,dso")):
            words += ("--no-children", "-g", "none")
            expected = events("report", path, *words)
            if not any("group" in event for event in expected):
                require(events("store", "report", store, *words) == expected, "report", path, *words)
    require(events("report", store) == events("report", named) and len(events("report", store)) == 1, "report with names")
    require(run("annotate", store).returncode >= 0 and run("store", "flame", store, "-o", store + ".html").returncode == 0, "flame")


def order_is_not_seen(folder):
    """Callers without an object, of samples of the kernel and of others, whatever was added first."""
    text = run("text", recordings[0]).stdout.decode()
    kernel = "misc: kernel, ip: 0xffffffff81000100", "[KERNEL 0xffffffff81000100 USER 0x10]"
    user = "misc: user, ip: 0x55bbe29cf218", "[USER 0x55bbe29cf218 0x10]"
    paths = []
    for number, (head, chain) in enumerate((kernel, user)):
        changed = re.sub(r"(?m)^SAMPLE misc: \w+, ip: \w+(.*callchain: ).*$", lambda match, head=head, chain=chain: f"SAMPLE {head}{match[1]}{chain}", text)
        with open(os.path.join(folder, "order.text"), "w", encoding="utf-8") as out:
            out.write(changed)
        paths.append(os.path.join(folder, f"order-{number}.data"))
        require(run("assemble", os.path.join(folder, "order.text"), "-o", paths[-1]).returncode == 0, "assemble", head)
    reports = []
    for number, order in enumerate((paths, reversed(paths))):
        store = os.path.join(folder, f"order-{number}.db")
        for path in order:
            run("store", "add", store, "--no-symbols", path)
        lines = run("store", "report", store).stdout.decode().splitlines()
        reports.append(sorted(line for line in lines if line and not line.startswith("#")))
    unknown = [line.split()[-2] for line in reports[0] if "[unknown]" in line]
    require(reports[0] == reports[1], "a report by order", [line for line in reports[0] if line not in reports[1]])
    require({"[k]", "[.]"} <= set(unknown), "callers without an object", unknown)


def stores_are_their_files(folder):
    store = os.path.join(folder, "both.db")
    odd = "a,b=c\\'\""
    escaped = odd.replace("\\", "\\\\").replace(",", "\\,")
    paths = [imported(folder, f"part-{i}", [(f"p{i};main;f{n % (20 + i)}", n + i + 1) for n in range(60)]) for i in range(3)]
    for i, path in enumerate(paths):
        run("store", "add", store, path, "--label", f"part={i}", "--label", f"odd={odd}", "--label", f"last={int(i == 2)}")
    require(folded("folded", store) == sum((folded("folded", path) for path in paths), collections.Counter()), "sums of all")
    for words in (["last=0"], [f"last=0,odd={escaped}"], ["last=0", "2000-01-01..2100-01-01"]):
        require(folded("store", "folded", store, *words) == folded("folded", paths[0]) + folded("folded", paths[1]), "sums of", words)
    hashes = [row["profile"] for row in rows("store", "ls", store, "--format", "json")]
    whole = sum((folded("store", "folded", store, digits) for digits in hashes), collections.Counter())
    require(len(hashes) == 3 and whole == folded("folded", store), "one by one")
    for words, code in ((["last=2"], 5), (["..2000-01-01"], 5), (["nothing"], 2), (["x..y"], 2), (["=x"], 2), (["last=0", "1d..x"], 2)):
        require(run("store", "report", store, *words).returncode == code, "code of", words)
    require(run("report", paths[0], paths[1]).returncode == 2, "two files")
    found = run("store", "diff", store, "last=0", "last=1")
    require(found.returncode == 0 and b"2 and 1 runs" in found.stdout and b"# Old: last=0" in found.stdout, "diff", found.stdout)
    require(run("store", "diff", store, "last=0", "last=7").returncode == 5, "diff with nothing")


def top_has_all(folder):
    lines = [(f"p;main;f{n}", n + 1) for n in range(120)]
    store = os.path.join(folder, "top.db")
    run("store", "add", store, imported(folder, "top", lines))
    found = rows("store", "top", store, "--format", "json")
    require(sum(row["value"] for row in found) == sum(value for _, value in lines), "sum of top")
    require([row["function"] for row in found[:50]] == [f"f{n}" for n in range(119, 69, -1)], "the top 50")
    require(len(found) == 51 and found[50]["function"] == "70 other functions", "the others")


# ---- what may go wrong ----

def reading_changes_nothing(folder):
    store = os.path.join(folder, "read.db")
    run("store", "add", store, recordings[0])
    before = content(store)
    for statement in ("delete from samples", "attach 'x' as y", "create table x(y)", "pragma user_version = 7", "vacuum into 'x'",
                      "select load_extension('x')", "drop table samples"):
        require(run("store", "sql", store, statement, cwd=folder).returncode != 0, "allowed:", statement)
    require(content(store) == before and not os.path.exists(os.path.join(folder, "x")), "reading changed something")


def others_are_refused(folder):
    path = os.path.join(folder, "other.db")
    for kind in ("text", "database", "recording"):
        if kind == "text":
            with open(path, "w", encoding="utf-8") as file:
                file.write("x" * 5000)
        elif kind == "recording":
            with open(recordings[0], "rb") as source, open(path, "wb") as file:
                file.write(source.read())
        else:
            os.remove(path)
            database = sqlite3.connect(path)
            database.execute("create table samples(x)")
            database.commit()
            database.close()
        with open(path, "rb") as file:
            before = file.read()
        codes = [run("store", *words).returncode for words in (("add", path, recordings[0]), ("ls", path), ("get", path, "-o", "-"),
                                                              ("prune", path, "--days", "1"))]
        require(codes == [3, 3, 3, 3], kind, codes)
        with open(path, "rb") as file:
            require(file.read() == before, kind, "was changed")
    require(run("store", "add", os.path.join(folder, "no", "x.db"), recordings[0]).returncode == 4, "no such folder")


def all_or_nothing(folder):
    """Killed at any time: what is not there can be added, and then it is as ever."""
    whole = os.path.join(folder, "whole.db")
    run("store", "add", whole, *recordings[:2])
    expected = content(whole)
    store = os.path.join(folder, "killed.db")
    for turn in range(30):
        child = subprocess.Popen([perfdata, "store", "add", store, *recordings[:2]], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(turn * 0.002)
        child.send_signal(signal.SIGKILL)
        child.wait()
        if turn % 5 == 4:
            run("store", "add", store, *recordings[:2])
            require(content(store) == expected, "killed", turn)
            os.remove(store)


def unfinished_changes_are_undone(folder):
    """A program that was killed leaves a journal: whoever reads the store next undoes what it did."""
    store = os.path.join(folder, "unfinished.db")
    run("store", "add", store, *recordings[:3])
    before = run("store", "top", store).stdout
    code = ("import os, sqlite3, sys\ndb = sqlite3.connect(sys.argv[1], isolation_level=None)\n"
            "for words in ('pragma cache_size = 1', 'begin immediate', 'update samples set value = value + 1000000',\n"
            "  'with recursive n(x) as (select 1 union all select x + 1 from n where x < 20000) insert into frames select x, x, x, x, x, x, x, x, x from n'):\n"
            "    db.execute(words)\nos.kill(os.getpid(), 9)\n")
    subprocess.run([sys.executable, "-c", code, store], check=False)
    require(os.path.exists(store + "-journal"), "there is no journal")
    with open(store + "-journal", "rb") as file:
        journal = file.read()
    other = os.path.join(folder, "important")
    with open(other, "w", encoding="utf-8") as file:
        file.write("x")
    name = other.encode()
    with open(store + "-journal", "ab") as file:  # that of another file, which SQLite would delete
        file.write(b"\x00" * 4 + name + len(name).to_bytes(4, "big") + (sum(name) % (1 << 32)).to_bytes(4, "big") + bytes.fromhex("d9d505f920a163d7"))
    require(run("store", "top", store).returncode == 3 and os.path.exists(other), "a hostile journal")
    with open(store + "-journal", "wb") as file:
        file.write(journal)
    done = run("store", "top", store)
    require(done.returncode == 0 and done.stdout == before, "after a journal", done.returncode, done.stderr)
    require(run("store", "add", store, recordings[0]).returncode in (0, 1), "add after a journal")


def several_at_once(folder):
    store = os.path.join(folder, "at-once.db")
    running = [subprocess.Popen([perfdata, "store", "add", store, path], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
               for path in recordings for _ in range(2)]
    codes = {child.wait() for child in running}
    require(codes <= {0, 1} and store_sums(store) == file_sums(recordings), "at once", codes)


def others_are_added(folder):
    """What is wrong with one recording does not keep those after it."""
    store, cut = os.path.join(folder, "others.db"), os.path.join(folder, "cut.data")
    with open(recordings[0], "rb") as file, open(cut, "wb") as out:
        out.write(file.read()[:-2000])
    require(run("store", "add", store, cut, recordings[1]).returncode == 1 and len(content(store)["profiles"]) == 2, "after a damaged one")
    require(run("store", "add", store, os.path.join(folder, "nothing"), recordings[2]).returncode == 3, "one is missing")
    require(len(content(store)["profiles"]) == 3, "after a missing one")


def damage_is_survived(folder):
    store, path = os.path.join(folder, "good.db"), os.path.join(folder, "mutant.db")
    run("store", "add", store, recordings[0])
    with open(store, "rb") as file:
        data = file.read()
    for number in range(60):
        chosen = random.Random(number)
        mutant = bytearray(data)
        for _ in range(chosen.randrange(1, 30)):
            mutant[chosen.randrange(len(data))] = chosen.randrange(256)
        with open(path, "wb") as file:
            file.write(mutant[:chosen.randrange(len(data))] if number % 5 == 0 else mutant)
        for words in (("ls", path), ("get", path, "-o", "-"), ("report", path), ("top", path), ("diff", path, "..2100-01-01", "2000-01-01.."), ("add", path, recordings[1]), ("prune", path, "--days", "1")):
            code = run("store", *words).returncode
            require(0 <= code <= 5, "mutant", number, words[0], code)


def hostile_stores_end(folder):
    """A circle of stacks, and triggers and views that want to be run."""
    store = os.path.join(folder, "circle.db")
    run("store", "add", store, recordings[0])
    database = sqlite3.connect(store)
    database.execute("update stacks set parent = stack")
    database.execute("create trigger evil after insert on profiles begin delete from samples; end")
    database.commit()
    before = database.execute("select count(*) from samples").fetchone()
    database.close()
    got = os.path.join(folder, "circle.data")
    require(run("store", "get", store, "-o", got).returncode == 0, "a circle")
    require(run("store", "report", store).returncode in (0, 1), "report of a circle")
    run("store", "add", store, recordings[1])
    database = sqlite3.connect(store)
    require(database.execute("select count(*) from samples").fetchone() >= before, "a trigger ran")
    database.close()


def hostile_rows_are_read(folder):
    """What no recording has: huge counts, negative values, names with anything in them, numbers of other kinds."""
    store = os.path.join(folder, "rows.db")
    run("store", "add", store, recordings[0])
    database = sqlite3.connect(store)
    name, odd = "x" * 65536, "a\x00b;\x1b[31m\n'\""
    database.execute("update frames set function = ?, linker_name = ?, object = ?, path = null where rowid % 2", (name, odd, name))
    database.execute("update frames set function = ?, linker_name = x'ff00fe', object = ?, kind = 'kernel' where not rowid % 2", (odd, "[heap]"))
    database.execute("insert into samples select profile, time, ?, ?, -1, -1, stack, 1 << 62, -value from samples", (odd, name))
    database.execute("insert into samples select profile, time, x'ff', null, 'a', 2.5, 'b', null, null from samples")
    database.commit()
    database.close()
    for words in (("report", store), ("report", store, "--json"), ("flame", store, "-o", store + ".html"), ("folded", store), ("top", store),
                  ("diff", store, "..2100-01-01", "..2100-01-01"), ("get", store, "-o", store + ".data")):
        code = run("store", *words).returncode
        require(code in (0, 1), "hostile rows", words[0], code)


def sums_have_no_limit(folder):
    """Sums beyond 64 bits: exact as far as these go, then about right; what is kept is the largest number there is."""
    store = os.path.join(folder, "large.db")
    huge = [(f"p;main;f{n}", (1 << 63) - 1 - n) for n in range(6)]
    parts = [[huge[0], ("p;main;f0", 5), ("p;main;small", 1)], *([one] for one in huge[1:])]  # a recording has no more than 64 bits
    paths = [imported(folder, f"large{number}", part) for number, part in enumerate(parts)]
    require(run("store", "add", store, *paths).returncode == 0, "add of large numbers")
    found = rows("store", "top", store, "--format", "json")
    total = sum(value for _, value in huge) + 6
    require(len(found) == 7 and abs(sum(row["value"] for row in found) - total) < total * 1e-9, "sum of large numbers", found)
    require(found and found[-1]["function"] == "small" and found[-1]["value"] == 1, "the small one", found)
    hours = rows("store", "sql", store, "select max(value) as most, typeof(max(value)) as type from samples_hour", "--format", "json")
    require(hours == [{"most": (1 << 63) - 1, "type": "integer"}], "hours", hours)
    done = run("store", "sql", store, "select sum(value) from samples")
    require(done.returncode == 2 and b"total()" in done.stderr, "what SQL cannot add up", done.stderr)
    database = sqlite3.connect(store)
    database.execute("update profiles set lost = 9223372036854775807")
    database.execute("insert into profiles select profile || 'x', name, start_ns, finish_ns, host, arch, kernel, perf_version, command, "
                     "samples, lost, 0 from profiles")
    database.execute("insert into samples select profile || 'x', time, event, comm, pid, tid, stack, count, value from samples")
    database.commit()
    database.close()
    for words in (("report", store), ("top", store), ("ls", store)):
        require(run("store", *words).returncode in (0, 1), "many are lost", words[0])


def main():
    with tempfile.TemporaryDirectory(prefix="perfdata-store-") as folder:
        for test in (sums_are_those_of_the_files, once_is_enough, labels_choose, hours_remain, report_is_that_of_the_file, quality_is_that_of_the_file, order_is_not_seen, stores_are_their_files,
                     top_has_all, reading_changes_nothing, others_are_refused,
                     all_or_nothing, unfinished_changes_are_undone, several_at_once, others_are_added, damage_is_survived, hostile_stores_end, hostile_rows_are_read, sums_have_no_limit):
            test(folder)
    print("\n".join(failures) or f"{len(recordings)} recordings: as they are in the files")
    return bool(failures)


if __name__ == "__main__":
    sys.exit(main())
