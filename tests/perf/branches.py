#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes a recording with branch stacks of one with call chains, where no processor records branches.

usage: branches.py PERFDATA INPUT OUTPUT

Each call of a chain becomes a branch from the caller to the callee. Their flags are made up, so that every kind is there:
foreseen and not foreseen, in and out of transactions, aborted, and some numbers of cycles. Where neither is known, perf says
the same as in the row before.
"""

import re
import subprocess
import sys

CHAIN = re.compile(r"callchain: \[([^]]*)\]")
FLAGS = ("predicted", "predicted|cycles({0})", "mispred|cycles({0})", "predicted|in_tx|cycles({0})", "mispred|in_tx|abort")


def branch(number, came_from, went_to):
    flags = FLAGS[number % len(FLAGS)].format(1 + number % 7)
    return f"{{from: {came_from}, to: {went_to}, flags: {flags}}}"


class Maker:
    def __init__(self):
        self.count = 0

    def stack(self, found):
        places = [word for word in found[1].split() if word.startswith("0x")]
        calls = list(zip(places[1:], places))
        entries = [branch(self.count + at, *call) for at, call in enumerate(calls)]
        self.count += len(calls)
        return f"branch_stack: {{entries: [{', '.join(entries)}]}}"

    def line(self, line):
        if line.startswith("SAMPLE"):
            return CHAIN.sub(self.stack, line)
        if line.startswith("\tsample_type:"):
            return line.replace("CALLCHAIN", "BRANCH_STACK") + "\n\tbranch_sample_type: ANY"
        if line.startswith("feature SAMPLE_TIME"):
            return f"feature BRANCH_STACK {{}}\n{line}"
        return line


def main():
    perfdata, source, target = sys.argv[1:]
    text = subprocess.run([perfdata, "text", source], stdout=subprocess.PIPE, check=True).stdout.decode()
    maker = Maker()
    made = "\n".join(maker.line(line) for line in text.split("\n"))
    subprocess.run([perfdata, "assemble", "-", "-o", target], input=made.encode(), check=True)


if __name__ == "__main__":
    main()
