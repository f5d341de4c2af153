#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares perfdata buildid-list with perf buildid-list on a corpus.

usage: buildid.py PERFDATA CORPUS [--perf PERF] [--only TEXT] [--verbose]

golden/PATH.json has what perf 6.1 printed where it could read the file; perfdata must print the same bytes. If a perf 6.1
is installed, it is asked with -H too. Pipes are given to both through standard input.

One line for each text that differs: KNOWN (explained in docs/differences.md under "Lists of build ids") or DIFFER,
with perf's line first. Exit status: 0 all agrees or is explained, 1 something does not, 77 no corpus.
"""

import sys

import lists

if __name__ == "__main__":
    sys.exit(lists.main(__doc__, "buildid-list", "Lists of build ids", "buildids", (), (("-H",),)))
