#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares perfdata evlist with perf evlist on a corpus.

usage: evlist.py PERFDATA CORPUS [--perf PERF] [--only TEXT] [--verbose]

golden/PATH.json has what perf 6.1 printed with -v where it could read the file; perfdata, whose text is that of perf 7.2, must print the same
bytes without what type and config are called. If a
perf 6.1 is installed, it is asked for the other forms too (plain, -F, -g, --trace-fields) and must print the same of
every file that it can read. Pipes are given to both through standard input.

One line for each text that differs: KNOWN (explained in docs/differences.md under "Lists of events") or DIFFER, with
perf's line first. Exit status: 0 all agrees or is explained, 1 something does not, 77 no corpus.
"""

import sys

import lists

FORMS = ((), ("-g",), ("-F", "--trace-fields"))

if __name__ == "__main__":
    sys.exit(lists.main(__doc__, "evlist", "Lists of events", "evlist", ("-v",), FORMS, lists.as_older))
