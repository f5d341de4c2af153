#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What real perf makes of scrubbed recordings: it ends as with the original, complains of nothing new, counts the same
samples and events, and its report has the same numbers.

    perf.py PERFDATA FILE...
    perf.py PERFDATA --corpus CORPUS
"""

import os
import re
import shutil
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "corpus"))
import common

# Without stacks and raw data perf prints fewer lines; what it says on stderr and its exit status stay.
QUESTIONS = (
    ["report", "--stats"],
    ["report", "--header-only"],
    ["report", "--stdio", "-g", "none", "--no-children", "--sort", "comm,dso", "-n", "-F", "sample,comm,dso"],
    ["script"],
    ["script", "--show-task-events", "--show-mmap-events"],
)


def ask(arguments, path):
    result = common.run(["perf", *arguments, "-f", "-i", path], timeout=300)
    err = {re.sub(r"[0-9a-f]{40}|\S*/\S+|\[[^]]*\]", "", line).strip() for line in result.err.decode("utf-8", "replace").splitlines()}
    return result.status, {line for line in err if line}, result.out.decode("utf-8", "replace")


def numbers(out):
    """First column of the rows of a report."""
    return sorted(int(m[1]) for m in re.finditer(r"^ +([0-9]+) ", out, re.M))


def samples(out):
    """Counts of samples and of records that scrub does not touch."""
    return re.findall(r"^ +(SAMPLE|MMAP2?|COMM|FORK|EXIT|LOST) events: +([0-9]+)", out.split("\n\n")[0], re.M)


def check(program, original, folder):
    for level in ("names", "addresses", "all"):
        path = os.path.join(folder, "result")
        if os.path.isdir(path):
            shutil.rmtree(path)
        elif os.path.exists(path):
            os.unlink(path)
        form = ["--to", "dir"] if os.path.isdir(original) else []
        done = common.run([program, "scrub", "-q", "--hide", level, *form, "-o", path, "-i", original], timeout=300)
        if done.status not in (common.FINE, common.DAMAGED):
            return f"{level}: exit status {done.status}: {done.err[:200]}"
        for question in QUESTIONS:
            before, after = ask(question, original), ask(question, path)
            said = f"{level}: perf {' '.join(question)}"
            if before[0]:
                continue
            if after[0] or after[1] - before[1]:
                return f"{said}: status {after[0]}, {sorted(after[1] - before[1])[:3]}"
            if "--stats" in question and samples(before[2]) and samples(before[2]) != samples(after[2]):
                return f"{said}: {samples(before[2])} became {samples(after[2])}"
            if "--stdio" in question and numbers(before[2]) and numbers(before[2]) != numbers(after[2]):
                return f"{said}: other numbers"
    return None


def corpus_files(corpus):
    for row in common.rows(corpus):
        with common.Unpacked(corpus, row) as path:
            yield row["path"], path


def main():
    program = os.path.abspath(sys.argv[1])
    if not shutil.which("perf"):
        common.skip("there is no perf")
    if sys.argv[2] == "--corpus":
        program, corpus = common.check_arguments(program, sys.argv[3])
        files = corpus_files(corpus)
    else:
        files = ((path, path) for path in sys.argv[2:])
    failures = count = 0
    with tempfile.TemporaryDirectory(prefix="scrub-") as folder:
        for name, path in files:
            count += 1
            wrong = check(program, path, folder)
            if wrong:
                failures += 1
                print(f"{name}: {wrong}")
    print(f"{count} files, {failures} failures")
    sys.exit(failures != 0)


if __name__ == "__main__":
    main()
