#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""How often perfdata diff finds changes that were planted, and how often it finds some where nothing changed: runs are recorded in
turn, then drawn again and again.

usage: changes.py PERFDATA [--runs N] [--draws N] [--side N]... [--rounds N] [--freq HZ] [--cc CC]

--runs: of each kind, to draw from; --side: of each side of a comparison (of each number of them). Rows are those of knobs.c. In
theory: what one test of the row would find, without adjustment, if runs differed by chance alone. Exit status: 0, or 1 if more than
5 % of the comparisons without a change call a row real, or A against A or against half of its samples does.
"""

import argparse
import json
import math
import os
import random
import statistics
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
# What is recorded: the program (options of the compiler), its arguments, the row that changes, and by how much (None: not said)
KINDS = {
    "same": ("", "", None, None),
    "large +2 %": ("", "large=1.02", "large", 0.02),
    "large +5 %": ("", "large=1.05", "large", 0.05),
    "large +10 %": ("", "large=1.1", "large", 0.1),
    "small +10 %": ("", "small=1.1", "small", 0.1),
    "small +20 %": ("", "small=1.2", "small", 0.2),
    "small moved to middle": ("-DMOVED", "", "middle", None),
    "small renamed": ("-DRENAMED", "", "small", 0.0),  # joined by its line
    "small inlined": ("-DINLINED", "", "main", None),
    "large -O0": ("-O0", "", "large", None),
}


def build(arguments, folder):
    for flags in {kind[0] for kind in KINDS.values()}:
        where = os.path.join(folder, f"bin{flags}")
        os.mkdir(where)
        subprocess.run([arguments.cc, "-O2", "-g", *flags.split(), "-o", os.path.join(where, "knobs"), os.path.join(HERE, "knobs.c")],
                       check=True)


def record(arguments, folder):
    """Paths of the runs of each kind, which are recorded in turn."""
    runs = {name: [] for name in KINDS}
    for number in range(arguments.runs):
        for name, (flags, words, _, _) in [*KINDS.items(), ("same", KINDS["same"])]:
            path = os.path.join(folder, f"{len(runs[name])}-{name.replace(' ', '')}.data")
            program = os.path.join(folder, f"bin{flags}", "knobs")
            subprocess.run([arguments.perfdata, "record", "-q", "-N", "-e", "cpu-clock", "-F", str(arguments.freq), "-o", path, "--",
                            program, str(arguments.rounds), *words.split()], check=True)
            runs[name].append(path)
    return runs


def compare(arguments, old, new, *options):
    done = subprocess.run([arguments.perfdata, "diff", "--json", "-q", "-s", "sym", *options, ",".join(old), ",".join(new)],
                          capture_output=True, text=True, check=True)
    return json.loads(done.stdout)["tables"][0]


def named(rows, name):
    return [row for row in rows if row["symbol"].endswith(" " + name)]


def false_alarms(arguments, side, chance, runs, options):
    """Share of tables with a row that is called real, and of tests with a chance below 5 %."""
    tables = low = tests = 0
    for _ in range(arguments.draws):
        drawn = chance.sample(runs, 2 * side)
        rows = [row for row in compare(arguments, drawn[:side], drawn[side:], *options)["rows"] if row["rating"]]
        tables += any(row["rating"] == "real" for row in rows)
        tests += len(rows)
        low += sum(row["p"] < 0.05 for row in rows)
    return tables / arguments.draws, low / max(tests, 1)


def in_theory(share, growth, samples, is_amount):
    """How often one test of a row, at 5 % and without adjustment, would find this if runs differed by chance alone."""
    if is_amount:
        change, deviation = math.log1p(growth), math.sqrt(2 / (samples * share))
    else:
        change = math.asin(math.sqrt(share * (1 + growth) / (1 + share * growth))) - math.asin(math.sqrt(share))
        deviation = math.sqrt(2 / (4 * samples))
    return statistics.NormalDist().cdf(change / deviation - 1.96)


def found(arguments, side, chance, runs, name, options):
    """How often the row is called real, its mean growth and share, and the samples of a side."""
    row_name, real, growth, share, samples = KINDS[name][2], 0, [], [], []
    draws = max(arguments.draws // 4, 1)
    for _ in range(draws):
        table = compare(arguments, chance.sample(runs["same"], side), chance.sample(runs[name], side), *options)
        rows = named(table["rows"], row_name)
        real += any(row["rating"] == "real" for row in rows)
        growth += [row["change"] / row["old_share"] for row in rows if row["old_share"]]
        share += [row["old_share"] for row in rows]
        samples.append(sum(run["samples"] for run in table["old"]))
    mean = f"{100 * sum(growth) / len(growth):+.1f} %" if growth else "new"
    return real / draws, mean, sum(share) / max(len(share), 1), sum(samples) / draws


def halves(arguments, folder, path):
    """Two recordings, each with about half of the samples of a recording, by chance."""
    out = os.path.join(folder, "half.data")
    subprocess.run([arguments.perfdata, "sample", "--seed", "1", "1/2", "-o", out, path], check=True, capture_output=True)
    return out


def table(arguments, side, chance, runs):
    """Print what is found with so many runs a side. True: too many false alarms."""
    bad = False
    print(f"\n{side} runs a side\n\n| compared | change | share | mean | called real | in theory |\n| --- | --- | --- | --- | --- | --- |")
    for label, options in (("shares", ()), ("amounts", ("--per", "run"))):
        tables, low = false_alarms(arguments, side, chance, runs["same"], options)
        bad |= tables > 0.05
        print(f"| {label} | none, {arguments.draws} comparisons | | | {100 * tables:.1f} % of tables; {100 * low:.1f} % of rows by chance alone | |")
        for name in list(KINDS)[1:]:
            real, mean, share, samples = found(arguments, side, chance, runs, name, options)
            planted = KINDS[name][3]
            theory = f"{100 * in_theory(share, planted, samples, label == 'amounts'):.0f} %" if planted else ""
            print(f"| {label} | {name} | {100 * share:.0f} % | {mean} | {100 * real:.0f} % | {theory} |")
            sys.stdout.flush()
    return bad


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("perfdata", type=os.path.abspath)
    parser.add_argument("--runs", type=int, default=12)
    parser.add_argument("--draws", type=int, default=200)
    parser.add_argument("--side", type=int, action="append")
    parser.add_argument("--rounds", type=int, default=400)
    parser.add_argument("--freq", type=int, default=4000)
    parser.add_argument("--cc", default="cc")
    arguments = parser.parse_args()
    sides, chance, bad = arguments.side or [5], random.Random(1), False
    with tempfile.TemporaryDirectory(prefix="changes-") as folder:
        build(arguments, folder)
        runs = record(arguments, folder)
        some = runs["same"][:max(sides)]
        same = [row for row in compare(arguments, some, some)["rows"] if row["change"] or row["rating"] == "real"]
        half = [row for row in compare(arguments, some[:1], [halves(arguments, folder, some[0])])["rows"] if row["rating"] in ("real", "maybe")]
        bad |= bool(same) or bool(half)
        print(f"A against A: {len(same)} rows changed; against half of A: {len(half)} rows are not noise")
        for side in sides:
            bad |= table(arguments, side, chance, runs)
    return bad


if __name__ == "__main__":
    sys.exit(main())
