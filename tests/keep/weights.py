#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Sums over what perfdata sample keeps, held against those of the whole recording.

usage: weights.py PERFDATA FILE... [--seeds N]

Each sample is kept with the chance 1/RATE and then stands for RATE times as much: the sum of periods, by event and by
event and thread name, is expected to be that of all samples. Its mean over seeds has to be nearer than five deviations.
Exit status: 0 all are; 1 not.
"""

import argparse
import json
import math
import os
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "corpus"))

import common  # noqa: E402  (needs the path above)

RATE = 4
DEVIATIONS = 5


def sums(perfdata, path):
    """{(event, comm): period}, with comm None for all of an event."""
    result = common.run([perfdata, "report", "--json", "--no-symbols", "-s", "comm", "-i", path], timeout=300)
    found = {}
    if result.status not in (common.FINE, common.DAMAGED):
        return found
    for table in json.loads(result.out)["tables"]:
        for at, event in enumerate(table["events"]):
            found[event["event"], None] = event["period"]
            for row in table["rows"]:
                if at < len(row["amounts"]):
                    found[event["event"], row["comm"]] = row["amounts"][at]["period"]
    return found


def largest(perfdata, path):
    """The largest period of a sample by event. What has none has that of its event."""
    events = {event["name"]: event["attr"] for event in common.events_of(perfdata, path)}
    found = {name: attr["sample_period"] for name, attr in events.items()}
    for line in common.ask(perfdata, ["dump", "--type", "SAMPLE"], path):
        if line.get("event") and "period" in line.get("fields", {}):
            found[line["event"]] = max(found.get(line["event"], 0), line["fields"]["period"])
    return found


def check(perfdata, path, seeds):
    """Lines about what is wrong, and the number of sums."""
    if any(event["attr"]["sample_type"] & 16 for event in common.events_of(perfdata, path)):
        return [], 0  # these are weighted by differences of counter values
    whole, most = sums(perfdata, path), largest(perfdata, path)
    total, wrong = dict.fromkeys(whole, 0), []
    with tempfile.TemporaryDirectory(prefix="weights-") as folder:
        out = os.path.join(folder, "out.data")
        for seed in range(seeds):
            common.run([perfdata, "sample", f"1/{RATE}", "--seed", str(seed), "-q", "-o", out, "-i", path], timeout=300)
            for key, period in sums(perfdata, out).items():
                total[key] += period
    for key, period in whole.items():
        # sum of squares of periods, which are not larger than the largest, times the variance of a choice
        deviation = math.sqrt(most.get(key[0], 1) * period * (RATE - 1) / seeds)
        if abs(total[key] / seeds - period) > DEVIATIONS * deviation:
            wrong.append(f"{key}: {total[key] / seeds:.0f}, not {period}, deviation {deviation:.0f}")
    return wrong, len(whole)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("perfdata")
    parser.add_argument("files", nargs="+")
    parser.add_argument("--seeds", type=int, default=30)
    arguments = parser.parse_args()
    perfdata = os.path.abspath(arguments.perfdata)
    total = failed = 0
    for path in arguments.files:
        try:
            wrong, count = check(perfdata, path, arguments.seeds)
        except common.Unreadable:
            continue
        total += count
        failed += len(wrong)
        for problem in wrong:
            print(f"{os.path.basename(path)}: {problem}")
    print(f"{total} sums, {failed} are too far off")
    return 1 if failed or not total else 0


if __name__ == "__main__":
    sys.exit(main())
