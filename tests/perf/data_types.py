#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares the types of data that perf 7.2 finds with those of perfdata: sort keys type, typeoff and typecln, and annotate --data-type.

usage: data_types.py PERFDATA [--new PERF] [--verbose] [--instructions N]

PERF is a perf 7.2; without one nothing is compared. Programs are compiled, recorded while they run, and the samples counted whose
text (-s symoff,typeoff) is the same; the tables of each key, and the texts of annotate, must be equal line by line where all of them are. One
recording has a group of events. Then N instructions of libc that access
memory, each with a sample of its own. Differences are explained in docs/differences.md, "Types of data".
Exit status: 0 at least 95 % of the samples of each recording agree, 1 not, 77 no perf 7.2, or one that cannot record.
"""

import argparse
import collections
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "unit", "type"))

import made  # noqa: E402

LIBC = "/usr/lib/x86_64-linux-gnu/libc.so.6"
LEAST = 95.0

LISTS = r"""
#include <stdlib.h>
#include <stdio.h>
#include <string.h>
struct item { struct item *next; long key; char name[40]; struct { int low, high; } range; unsigned kind : 4, seen : 12; };
struct table { struct item *slots[256]; long count; double weight; };
static struct table table; static long sums[64];
static __attribute__((noinline)) struct item *find(struct table *t, long key)
{
	for (struct item *i = t->slots[key & 255]; i; i = i->next)
		if (i->key == key)
			return i;
	return NULL;
}
static __attribute__((noinline)) void add(struct table *t, long key)
{
	struct item *i = calloc(1, sizeof(*i));
	i->key = key; i->next = t->slots[key & 255]; i->range.high = (int)key; snprintf(i->name, sizeof(i->name), "item %ld", key);
	t->slots[key & 255] = i; t->count++; t->weight += 0.5;
}
static __attribute__((noinline)) int compare(const void *a, const void *b)
{
	const struct item *x = *(struct item *const *)a, *y = *(struct item *const *)b;
	return x->range.high < y->range.high ? -1 : x->range.high > y->range.high;
}
int main(int argc, char **argv)
{
	long rounds = argc > 1 ? atol(argv[1]) : 1, sum = 0;
	for (long k = 0; k < 4000; k++) add(&table, k * 7);
	for (long r = 0; r < rounds; r++) {
		for (long k = 0; k < 20000; k++) {
			struct item *i = find(&table, k);
			if (i) { i->seen++; i->range.low += i->name[5]; sums[k & 63] += i->range.low; sum += sums[k & 31]; }
		}
		struct item *all[4000]; long n = 0;
		for (int s = 0; s < 256; s++) for (struct item *i = table.slots[s]; i; i = i->next) all[n++] = i;
		qsort(all, n, sizeof(all[0]), compare);
		sum += all[n / 2]->key + (long)strlen(all[1]->name);
	}
	printf("%ld\n", sum);
	return 0;
}
"""

SHAPES = r"""
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>
struct Shape { double x, y; virtual double area() const = 0; virtual ~Shape() {} };
struct Box : Shape { double w, h; Box(double a, double b) { x = a; y = b; w = a + 1; h = b + 2; } double area() const override { return w * h; } };
struct Disc : Shape { double r; explicit Disc(double a) { x = y = a; r = a; } double area() const override { return 3.14 * r * r; } };
struct Cell { int count; std::string name; union { long whole; struct { short a, b; } parts; } u; };
int main(int argc, char **argv)
{
	long rounds = argc > 1 ? atol(argv[1]) : 1; double sum = 0;
	std::vector<Shape *> shapes; std::map<int, Cell> cells;
	for (int i = 0; i < 2000; i++) { if (i & 1) shapes.push_back(new Box(i, 2)); else shapes.push_back(new Disc(i)); }
	for (long r = 0; r < rounds; r++) {
		for (Shape *s : shapes) { sum += s->area(); s->x += 1; }
		for (int i = 0; i < 3000; i++) { Cell &c = cells[i * 37 & 1023]; c.count++; c.u.parts.b += c.count; c.name = "cell"; c.name += char('a' + i % 20); sum += c.name.size(); }
	}
	printf("%f\n", sum);
	return 0;
}
"""

# name, source, compiler, options, rounds
PROGRAMS = (
    ("lists-O0", LISTS, "gcc", "-O0", 100), ("lists-O1", LISTS, "gcc", "-O1", 200), ("lists-O2", LISTS, "gcc", "-O2", 200),
    ("lists-frames", LISTS, "gcc", "-O0 -fno-asynchronous-unwind-tables", 100), ("lists-dwarf4", LISTS, "gcc", "-O3 -gdwarf-4", 200),
    ("shapes-O0", SHAPES, "g++", "-O0", 100), ("shapes-O2", SHAPES, "g++", "-O2", 500), ("lists-clang", LISTS, "clang", "-O2 -gdwarf-4", 200),
    ("lists-group", LISTS, "gcc", "-O2", 200),
)
GROUPS = {"lists-group": ("{cpu-clock:u,task-clock:u,dummy:u}", "300000")}


class Both:
    """A recording, read by both programs."""

    def __init__(self, perfdata, perf, data):
        self.commands = {"perfdata": [perfdata, "report"], "perf": [perf, "report", "--stdio", "--percent-limit", "0"]}
        self.data = data

    def report(self, program, *options, command=None):
        done = subprocess.run([*(command or self.commands[program]), "-i", self.data, *options], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
        return done.stdout.decode(errors="replace")

    def samples(self, program):
        """Samples by function, offset and type."""
        wide = ("-w", "0,0,300,400") if program == "perf" else ()
        rows = made.rows(self.report(program, "-n", "--no-demangle", "-s", "symoff,typeoff", "-t", "|", *wide))
        return collections.Counter({(row[1], row[2]): sum(map(int, row[0].split())) for row in rows if len(row) == 3})

    def agreement(self):
        theirs, ours = self.samples("perf"), self.samples("perfdata")
        same = sum(min(count, ours[row]) for row, count in theirs.items())
        data = sum(count for (_, kind), count in theirs.items() if not kind.startswith("("))
        return same, sum(theirs.values()), data, theirs - ours, ours - theirs

    def tables(self):
        """Keys whose whole tables differ."""
        return [key for key in ("type", "typeoff", "typecln", "dso,type", "type,typeoff") if self.lines("perf", key) != self.lines("perfdata", key)]

    def texts(self):
        """Options of annotate whose text differs."""
        choices = (("--type-stat", "--insn-stat"), ("-n",), ("--show-total-period", "--skip-empty"), ("--percent-limit", "2"))
        return [" ".join(options) for options in choices if self.annotated("perf", options) != self.annotated("perfdata", options)]

    def annotated(self, program, options):
        command = [self.commands[program][0], "annotate", "--stdio"]
        lines = self.report(program, "--data-type", *options, command=command).splitlines()
        # perf reads something else as the operand of a jump through memory
        jumps = [line.split() for line in lines if re.match(r" +\d+ : no_(mem_ops|cuinfo|var)$", line)]
        return [line for line in lines if line.split() not in jumps] + [sum(int(words[0]) for words in jumps)]

    def lines(self, program, key):
        # perf leaves columns of a group out where an event has no samples; perf 6.1 and perfdata do not
        whole = ("--no-skip-empty",) if program == "perf" else ()
        return [line for line in self.report(program, "-s", key, *whole).splitlines() if line.strip() and not line.startswith("#")]


def show(name, both, verbose):
    same, count, data, missing, more = both.agreement()
    share = 100 * same / count if count else 0.0
    tables = both.tables() + both.texts()
    print(f"{name:16} {same:6} of {count:6} samples equal ({share:6.2f} %), perf has types for {data}{', other tables: ' + ' '.join(tables) if tables else ''}", flush=True)
    beside = {place: kind for place, kind in more}
    for (place, kind), number in sorted(missing.items(), key=lambda item: -item[1])[:None if verbose else 3]:
        print(f"    {number} at {place}: {kind} | {beside.get(place)}")
    return count > 0 and share >= LEAST and (same < count or not tables)


def record(perf, folder, name, source, compiler, options, rounds):
    """The recording of a program, or None."""
    path, program = os.path.join(folder, name + (".cc" if compiler == "g++" else ".c")), os.path.join(folder, name)
    with open(path, "w", encoding="utf-8") as f:
        f.write(source)
    if not shutil.which(compiler) or subprocess.run([compiler, "-w", "-g", *options.split(), "-o", program, path], check=False).returncode:
        return None
    events, period = GROUPS.get(name, ("cpu-clock:u", "100000"))
    done = subprocess.run([perf, "record", "-q", "-e", events, "-c", period, "-o", program + ".data", program, str(rounds)], stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL, check=False)
    return program + ".data" if done.returncode == 0 else None


def instructions(perfdata, folder, number):
    """A sample at each of some instructions of libc that access memory."""
    found = []
    for line in made.output("objdump", "-d", "--no-show-raw-insn", LIBC).splitlines():
        match = re.match(r"\s+([0-9a-f]+):\t(?!nop|lea|data16|cs)(.*\(.*)$", line)
        if match:
            found.append(int(match[1], 16))
    data = os.path.join(folder, "libc.data")
    made.record(perfdata, LIBC, sorted(random.Random(7).sample(found, min(number, len(found)))), data)
    return data


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("perfdata")
    parser.add_argument("--new", metavar="PERF", help="a perf 7.2")
    parser.add_argument("--verbose", action="store_true", help="name all that differs")
    parser.add_argument("--instructions", type=int, default=0, metavar="N", help="of libc; perf needs a minute for 2000")
    args = parser.parse_args()
    args.perfdata = os.path.abspath(args.perfdata)
    if not args.new:
        print("SKIP: no perf 7.2 (--new PERF), and perf 6.1 knows no types")
        return 77
    right = []
    with tempfile.TemporaryDirectory(prefix="perfdata-types-") as folder:
        os.environ["HOME"] = folder
        for name, *program in PROGRAMS:
            data = record(args.new, folder, name, *program)
            if data:
                right.append(show(name, Both(args.perfdata, args.new, data), args.verbose))
            else:
                print(f"no {name}: it cannot be compiled or recorded here")
        if args.instructions and os.path.exists(LIBC):
            data = instructions(args.perfdata, folder, args.instructions)
            right.append(show("libc", Both(args.perfdata, args.new, data), args.verbose))
    if not right:
        return 77
    print(f"{right.count(True)} of {len(right)} recordings agree")
    return 0 if all(right) else 1


if __name__ == "__main__":
    sys.exit(main())
