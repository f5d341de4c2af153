#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Prints what the page of a flame graph holds, as text: its title, what it opens with, what is said of the profile, and the sums of each
event by stack, with their times.

usage: page_text.py [FILE]
"""
import sys

import page_format


def show(page):
    header = page.header
    print(f"{header['name']}: {header['link']}")
    print("facts:", " \u00b7 ".join(fact["text"] + (" (bad)" if fact["bad"] else "") for fact in header["facts"]))
    time, strings = header["time"], page.of("strings")
    print(f"time: {time['start']} to {time['end']}, {header['aggregated']['slices']} slices" if time["known"] else "time: not known")
    kinds = [header["kinds"][kind]["name"] for kind in page.of("functions.kind")]
    objects = [strings[name] for name in page.of("objects.name")]
    print("functions:", ", ".join(sorted(
        f"{strings[name]}{f' ({objects[of]})' if of else ''}: {kind}"
        for name, of, kind in zip(page.of("functions.name"), page.of("functions.object"), kinds))))
    for number, event in enumerate(header["events"]):
        print(f"{event['name']}: {event['samples']} samples, {event['sum']} {event['unit']}")
        stacks = {}
        for _, weight, count, stack in page.sums(number):
            known = stacks.setdefault(";".join(stack), [0, 0, 0])
            for at, value in enumerate((weight, count, 1)):
                known[at] += value
        for stack, (weight, count, times) in sorted(stacks.items()):
            print(f"  {stack} {weight}, {count} samples, {times} times")


def main():
    with open(sys.argv[1], encoding="utf-8") if sys.argv[1:] else sys.stdin as file:
        for page in page_format.containers_of(file.read()):
            show(page)
    return 0


sys.exit(main())
