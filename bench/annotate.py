#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""perfdata annotate beside perf annotate --stdio: CPU time with that of child processes, the least of N runs.

usage: annotate.py PERFDATA [--runs N] [--perf-runs N] [--frequency HZ] [-- COMMAND...]

COMMAND (default: a compiler) is recorded with perf, and all functions that have 0.1 % of the samples or more are annotated. Then the
largest function of the largest object with samples, of which one sample is made.
"""

import argparse
import os
import re
import resource
import subprocess
import sys
import tempfile

SOURCE = "#include <algorithm>\n#include <map>\n#include <regex>\n#include <string>\n#include <vector>\n" + "".join(
    f"int f{i}(std::vector<std::map<std::string, int>> &v) {{ std::sort(v.begin(), v.end()); return (int)v.size() + {i}; }}\n"
    f"bool g{i}(const std::string &s) {{ return std::regex_match(s, std::regex(\"a+{i}\")); }}\n" for i in range(40))
LIMIT = "0.1"


def spent(argv, runs):
    """Least CPU time in seconds, and the last output."""
    least, output = None, b""
    for _ in range(runs):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        output = subprocess.run(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False).stdout
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        time = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
        least = time if least is None else min(least, time)
    return least, output


def titles(output):
    return len(re.findall(rb"Source code & Disassembly of", output))


def largest_object(perfdata, data):
    """Path of the largest object with samples."""
    text = subprocess.run([perfdata, "buildid-list", "-i", data], capture_output=True, text=True, check=False).stdout
    paths = set(re.findall(r"(/\S+)", text))
    return max((path for path in paths if os.path.isfile(path)), key=os.path.getsize, default=None)


def largest_function(path):
    """Name, address and size by the tables of symbols; None without any."""
    text = subprocess.run(["readelf", "-sW", path], capture_output=True, text=True, errors="replace", check=False).stdout
    rows = re.findall(r"^ *\d+: ([0-9a-f]+) +(\d+) FUNC +\w+ +\w+ +\d+ (\S+)", text, re.M)
    return max(((int(size), int(addr, 16), name) for addr, size, name in rows), default=None)


def offset_of(path, addr):
    text = subprocess.run(["readelf", "-lW", path], capture_output=True, text=True, check=False).stdout
    for offset, start, size in re.findall(r"LOAD +0x([0-9a-f]+) 0x([0-9a-f]+) 0x[0-9a-f]+ 0x([0-9a-f]+)", text):
        if int(start, 16) <= addr < int(start, 16) + int(size, 16):
            return addr - int(start, 16) + int(offset, 16)
    return addr


def one_sample(perfdata, folder, path, addr):
    """A recording with one sample at an address of an object."""
    text, data = os.path.join(folder, "one.txt"), os.path.join(folder, "one.data")
    offset = offset_of(path, addr)
    with open(text, "w", encoding="utf-8") as f:
        f.write(f"""event {{
	name: "cpu-clock:u"
	ids: [7]
	type: software
	sample_period: 4000
	sample_type: IP|TID|TIME|PERIOD|IDENTIFIER
	flags: mmap|comm|sample_id_all
}}
feature ARCH {{value: "{os.uname().machine}"}}
MMAP misc: user, pid: 42, tid: 42, addr: 0x7f0000000000, len: {hex(os.path.getsize(path))}, pgoff: 0x0, filename: "{path}", sample_id: {{time_ns: 1.0}}
SAMPLE misc: user, ip: {hex(0x7f0000000000 + offset)}, pid: 42, tid: 42, time_ns: 1.001, period: 4000
""")
    subprocess.run([perfdata, "assemble", "-o", data, text], check=True)
    return data


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("perfdata")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--perf-runs", type=int, default=1)
    parser.add_argument("--frequency", default="10000")
    parser.add_argument("command", nargs="*")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        source, data = os.path.join(folder, "work.cc"), os.path.join(folder, "perf.data")
        with open(source, "w", encoding="utf-8") as f:
            f.write(SOURCE)
        command = args.command or ["clang++", "-O2", "-c", "-o", os.path.join(folder, "work.o"), source]
        if subprocess.run(["perf", "record", "-q", "-e", "cpu-clock:u", "-F", args.frequency, "-o", data, "--", *command], check=False).returncode:
            print("cannot record")
            return 77
        ours, output = spent([args.perfdata, "annotate", "--stdio", "--percent-limit", LIMIT, "-i", data], args.runs)
        theirs, expected = spent(["perf", "annotate", "--stdio", "--percent-limit", LIMIT, "-i", data], args.perf_runs)
        print(f"functions of {LIMIT} % and more: perfdata {titles(output)} in {ours:.3f} s, perf {titles(expected)} in {theirs:.3f} s: "
              f"{theirs / max(ours, 1e-9):.0f} times")
        path = largest_object(args.perfdata, data)
        largest = path and largest_function(path)
        if largest:
            size, addr, name = largest
            one = one_sample(args.perfdata, folder, path, addr)
            time, output = spent([args.perfdata, "annotate", "--stdio", "--no-source", "-i", one], args.runs)
            print(f"largest function of {path}: {name[:60]}, {size} bytes, {len(output.splitlines())} lines: {time * 1000:.1f} ms")
    return 0


if __name__ == "__main__":
    sys.exit(main())
