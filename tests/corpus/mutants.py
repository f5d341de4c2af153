#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs perfdata on damaged copies of corpus files.

usage: mutants.py PERFDATA CORPUS [N] [SEED] [--all] [--first N] [--save DIR] [--jobs J]

Each of N mutants (2000) is a corpus file below 300 KiB with some of its bytes flipped, words overwritten, pieces cut out,
doubled or inserted, or its end cut off. It goes through perfdata check --json and perfdata dump, and with --all through the
commands that understand samples too, with conditions, filters, keys and call graphs. Each may take 1 GB of address space
(not a build with sanitizers) and 60 seconds of processor time. Right is: exit status 0 or 1, with damage named in the JSON
exactly when it is 1, or 3 with a message that names the file. Wrong is everything else: signals, reports of a sanitizer,
other statuses, silence, damage that only dump finds. Mutants that go wrong are kept in DIR. The same SEED gives the same
mutants. --first N leaves out the first ones.
Exit status: 0 all went right, 1 not, 77 no corpus.
"""

import argparse
import collections
import concurrent.futures
import os
import random
import re
import sys
import tempfile

import common

LIMIT = 300 * 1024
MEMORY = 1000000 << 10
CPU_SECONDS = 60
TIMEOUT = 1200  # for what waits; a machine may be busy
SLOW_SECONDS = 1.0
WORDS = (0, 1, 2, 7, 8, 0x7F, 0x80, 0xFF, 0x7FFF, 0x8000, 0xFFFF, 0x10000, 0x7FFFFFFF, 0x80000000,
         0xFFFFFFFF, 0x7FFFFFFFFFFFFFFF, 0x8000000000000000, 0xFFFFFFFFFFFFFFFF, 0xFFFFFFFFFFFFFFF8)


SHOWN = [f"--show-{kind}-events" for kind in ("task", "mmap", "switch", "namespace", "cgroup", "lost", "round", "bpf")]

# What they say of a mutant is not compared, only that they end well.
UNDERSTANDING = (
    ["report"],
    ["report", "--no-children", "-g", "fractal", "-s", "pid,dso,sym,cpu"],
    ["report", "--children", "-g", "caller", "-s", "comm,dso,sym,srcline", "--percentage", "relative", "--time", "10%-80%"],
    ["report", "-g", "flat,0", "-s", "time,trace,cgroup,weight,socket,symbol_size", "--group", "-n", "--max-stack", "5"],
    ["report", "-g", "folded,0", "--no-children", "-F", "overhead_sys,overhead_us,sample,period,tgid,srcfile,local_weight"],
    ["report", "--json"],
    ["report", "--csv", "--where", "period >= 1 && cpumode == user || comm =~ '*o*'"],
    ["report", "--header", "-I"],
    ["report", "--stats"],
    ["report", "-D"],
    ["report", "-T", "--no-symbols"],
    ["script"],
    ["script", "-D", "-F", "comm,tid,time,event,ip,sym,dso"],
    ["script", "-F", "+misc,+srcline,+flags", "--ns", *SHOWN],
    ["script", "--where", "size > 8 && (pid != 1 || symbol =~ '*a*') && dso =~ '*'", "--reltime"],
    ["folded"],
    ["folded", "--where", "type == SAMPLE && tid >= 0", "--time", "20%-90%"],
    ["flame"],
    ["flame", "--format", "svg", "--where", "event =~ '*c*' && !(misc & 0x4000)"],
    ["export", "--to", "pprof"],
    ["export", "--to", "firefox"],
    ["export", "--to", "perfetto"],
    ["export", "--to", "callgrind"],
    ["export", "--to", "csv"],
    ["doctor"],
    ["doctor", "--json"],
    ["evlist", "-v"],
    ["evlist", "-F", "--trace-fields"],
    ["buildid-list"],
    ["buildid-list", "-H"],
)
ENDS_WELL = (0, 1, 3, 5, 6)

# ---- ways to damage ----


def place(rng, data):
    """An offset, more often in the header or at a multiple of 8 than elsewhere."""
    end = min(len(data), 512) if rng.random() < 0.3 else len(data)
    at = rng.randrange(max(end, 1))
    return at & ~7 if rng.random() < 0.7 else at


def flip(rng, data):
    for _ in range(rng.choice((1, 1, 2, 8, 64))):
        if data:
            data[place(rng, data) % len(data)] ^= 1 << rng.randrange(8)


def overwrite(rng, data):
    for _ in range(rng.choice((1, 1, 1, 4))):
        at, size = place(rng, data), rng.choice((1, 2, 4, 8))
        value = rng.choice(WORDS) & ((1 << 8 * size) - 1)
        order = rng.choice(("little", "little", "big"))
        data[at : at + size] = value.to_bytes(size, order)


def nudge(rng, data):
    at = place(rng, data)
    if at + 8 <= len(data):
        value = int.from_bytes(data[at : at + 8], "little") + rng.choice((-8, -1, 1, 8, 4096))
        data[at : at + 8] = (value % 2**64).to_bytes(8, "little")


def cut(rng, data):
    del data[rng.randrange(len(data) + 1) :]


def remove(rng, data):
    at = place(rng, data)
    del data[at : at + rng.choice((1, 4, 8, 16, 64, 1024))]


def insert(rng, data):
    at, size = place(rng, data), rng.choice((1, 4, 8, 16, 64, 1024))
    data[at:at] = rng.randbytes(size) if rng.random() < 0.5 else bytes(size)


def double(rng, data):
    at, size = place(rng, data), rng.choice((8, 16, 64, 256, 4096))
    data[at:at] = data[at : at + size]


def swap(rng, data):
    one, two, size = place(rng, data), place(rng, data), rng.choice((2, 8, 40))
    data[one : one + size], data[two : two + size] = data[two : two + size], data[one : one + size]


WAYS = (flip, overwrite, overwrite, nudge, cut, remove, insert, double, swap)


def mutate(rng, data):
    names = []
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        way = rng.choice(WAYS)
        way(rng, data)
        names.append(way.__name__)
    return "+".join(names)


# ---- running ----


def sources(corpus):
    """Names and bytes of the files that mutants are made of."""
    found = []
    for row in common.rows(corpus):
        if row["mode"] == "dir" or int(row["size"]) >= LIMIT:
            continue
        with common.Unpacked(corpus, row) as path, open(path, "rb") as f:
            found.append((row["path"], f.read()))
    return found


def judge_check(result):
    """What is wrong with a run of check --json, or None."""
    if result.status == common.UNREADABLE:
        return None if b":" in result.err else "refused without a message"
    if result.status not in (common.FINE, common.DAMAGED):
        return f"check: exit status {result.status}"
    try:
        problems, summary = common.check_of(result.out)
    except (ValueError, KeyError, IndexError) as error:
        return f"check: no JSON: {error!r}"
    damage = sum(problem["severity"] == "damage" for problem in problems)
    if bool(damage) != (result.status == common.DAMAGED) or damage != summary["damage"]:
        return f"check: exit status {result.status} with {damage} problems of severity damage"
    return None


def judge_dump(result):
    if result.status not in (common.FINE, common.DAMAGED, common.UNREADABLE):
        return f"dump: exit status {result.status}"
    if result.status and not result.err.strip():
        return f"dump: exit status {result.status} in silence"
    return None


def judge(name, result):
    if result.status is None:
        return f"{name}: did not end"
    if result.crashed:
        return f"{name}: crashed, status {result.status}: {result.err.decode('utf-8', 'replace')[:300]}"
    return judge_check(result) if name == "check" else judge_dump(result)


def understand(perfdata, memory, path, ended):
    """What is wrong with the commands that understand samples, or None; and the longest time. ended gets the statuses."""
    slow = 0.0
    for arguments in UNDERSTANDING:
        result = common.run([perfdata, *arguments, "-i", path], timeout=TIMEOUT, memory=memory, cpu=CPU_SECONDS, discard=True)
        name = " ".join(arguments)
        ended.append((name, result.status))
        slow = max(slow, result.seconds)
        if result.status is None:
            return f"{name}: did not end", slow
        # what was not recorded cannot be asked for
        refused = result.status == 2 and not {"-F", "-s", "--where"}.isdisjoint(arguments)
        if result.crashed or not (refused or result.status in ENDS_WELL):
            return f"{name}: status {result.status}: {result.err.decode('utf-8', 'replace')[:300]}", slow
        # what doctor finds is its output
        if result.status and arguments[0] != "doctor" and not result.err.strip():
            return f"{name}: exit status {result.status} in silence", slow
    return None, slow


def never_fine(ended):
    """Commands that were run often and never ended well: the words are wrong. Doctor ends well when nothing is damaged."""
    runs = collections.Counter(name for name, _ in ended if not name.startswith("doctor"))
    fine = {name for name, status in ended if status == common.FINE}
    return [name for name, count in runs.items() if count >= 20 and name not in fine]


def try_mutant(perfdata, memory, number, seed, origin, data, folder, everything, ended):
    """(number, text of what went wrong or None, statuses, seconds, mutant's bytes, way). ended gets the statuses of --all."""
    rng = random.Random(f"{seed}/{number}")
    mutant = bytearray(data)
    way = mutate(rng, mutant)
    path = os.path.join(folder, f"{number}.data")
    with open(path, "wb") as f:
        f.write(mutant)
    wrong, statuses, slow = None, [], 0.0
    for name, arguments, discard in (("check", ["check", "--json"], False), ("dump", ["dump"], True)):
        result = common.run([perfdata, *arguments, "-i", path], timeout=TIMEOUT, memory=memory, cpu=CPU_SECONDS, discard=discard)
        wrong = wrong or judge(name, result)
        statuses.append(result.status)
        slow = max(slow, result.seconds)
    if statuses == [common.FINE, common.DAMAGED]:
        wrong = wrong or f"dump found damage that check did not: {result.err.decode('utf-8', 'replace')[:300]}"
    if everything:
        text, seconds = understand(perfdata, memory, path, ended)
        wrong = wrong or text
        slow = max(slow, seconds)
    os.unlink(path)
    return number, wrong, tuple(statuses), slow, bytes(mutant), f"{origin} {way}"


def has_sanitizer(perfdata):
    with open(perfdata, "rb") as f:
        return re.search(rb"__asan_init|__tsan_init|__ubsan_handle", f.read()) is not None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("perfdata")
    parser.add_argument("corpus")
    parser.add_argument("n", nargs="?", type=int, default=2000)
    parser.add_argument("seed", nargs="?", type=int, default=1)
    parser.add_argument("--all", action="store_true", help="through the commands that understand samples too")
    parser.add_argument("--first", type=int, default=0, help="number of the first mutant")
    parser.add_argument("--save", default="mutants-wrong", help="folder for mutants that went wrong")
    parser.add_argument("--jobs", type=int, default=2)
    args = parser.parse_args()
    perfdata, corpus = common.check_arguments(args.perfdata, args.corpus)
    memory = 0 if has_sanitizer(perfdata) else MEMORY
    files = sources(corpus)
    statuses, wrong, slow, ended = collections.Counter(), 0, [], []
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        os.environ["HOME"] = folder  # for the tables of symbols
        with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
            jobs = []
            for number in range(args.first, args.first + args.n):
                origin, data = files[random.Random(f"{args.seed}:{number}").randrange(len(files))]
                jobs.append(pool.submit(try_mutant, perfdata, memory, number, args.seed, origin, data, folder, args.all, ended))
            for job in concurrent.futures.as_completed(jobs):
                number, text, codes, seconds, mutant, what = job.result()
                statuses[codes] += 1
                if seconds > SLOW_SECONDS:
                    slow.append((seconds, number, what))
                if text or seconds > SLOW_SECONDS:
                    os.makedirs(args.save, exist_ok=True)
                    name = os.path.join(args.save, f"{args.seed}-{number}.data")
                    with open(name, "wb") as f:
                        f.write(mutant)
                    print(f"{name} ({what}): {text or f'took {seconds:.1f} s'}", flush=True)
                wrong += bool(text)
    for codes, count in statuses.most_common():
        print(f"{count:6} mutants: check {codes[0]}, dump {codes[1]}")
    for name in never_fine(ended):
        wrong += 1
        print(f"{name}: never ended well")
    print(f"{args.n} mutants of {len(files)} files, seed {args.seed}: {wrong} went wrong, "
          f"{len(slow)} took more than {SLOW_SECONDS:.0f} s")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
