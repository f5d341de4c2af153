#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What real perf reads in conversions of a recording, held against what it reads in the recording.

usage: perf.py PERFDATA CORPUS|FILE... [--only TEXT] [--every N] [--perf COMMAND]

For each conversion that keeps the byte order: report --stats, script and report --header-only. Recordings that perf
refuses are left out. --perf: another perf, such as one in a root of its own ("chroot ROOT perf"; TMPDIR and the corpus must
have the same names there). docs/differences.md says why some differ. Exit status: 0 all is equal or explained; 1 not; 77
no perf or no corpus.
"""

import collections
import os
import re
import shlex
import shutil
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "corpus"))

import common  # noqa: E402  (needs the path above)

STEPS = (
    ("file", []),
    ("pipe", ["--to", "pipe"]),
    ("z", ["-z"]),
    ("plain", ["--no-compress"]),
    ("dir", ["--to", "dir"]),
    ("sort", ["--sort", "--no-compress"]),
)
# Lines about how a file is laid out, or when it was written.
LAYOUT = re.compile(
    r"# (captured on|header version|data offset|data size|feat offset|compressed|missing features|"
    r"directory data version|contains (stat data|samples with branch stack|AUX area data))\b|^# =+$"
)
LAYOUT_TYPES = re.compile(
    r" *(TOTAL|ATTR|FEATURE|TRACING_DATA|BUILD_ID|COMPRESSED2?|FINISHED_ROUND|EVENT_TYPE|EVENT_UPDATE|\S*HEADER_\S*) events:"
)


# About the end of the list of features in pipes, which perf 7 takes for a feature of its own, in pipes that older perfs
# wrote too.
BESIDE = "HEADER_CPU_DOMAIN_INFO"
PERF = ["perf"]


def perf(arguments, path):
    """Text of perf, or None if it fails; what it complains of, which depends on where a form has build ids. A pipe is read as
    one."""
    result = common.run([*PERF, *arguments, "-i", path], timeout=120)
    complaints = common.complaints(result, path, BESIDE)
    return None if result.status != 0 else result.out.decode("utf-8", "replace"), complaints


def stats(text):
    """Numbers of the first part, without what says how the file is laid out."""
    first = text.split("\n\n")[0] if text else ""
    # names of events, which perf makes up here in pipes, are those of script
    return [re.sub(r"\(.*\)", "", line).rstrip() for line in first.splitlines()
            if not LAYOUT_TYPES.match(line) and not line.endswith(" stats:")]


def header(text):
    return sorted(line for line in (text or "").splitlines() if line.strip() and not LAYOUT.match(line))


def script(text):
    """Lines of samples; those of their frames have names for which perf looks only in files."""
    return [line for line in (text or "").splitlines() if line[:1] not in ("\t", "") and not line.startswith("  " * 8)]


VIEWS = (
    ("stats", ["report", "--stats"], stats),
    ("script", ["script", "--ns", "-F", "comm,pid,tid,cpu,time,event,ip,sym,period,addr"], script),
    ("header", ["report", "--header-only"], header),
)
# Without options, for what the fields above are not in.
PLAIN_SCRIPT = ("script", ["script"], script)


def is_pipe(path):
    with open(os.path.join(path, "data") if os.path.isdir(path) else path, "rb") as f:
        return int.from_bytes(f.read(16)[8:], "little") == 16


def views_of(path, awkward):
    """What perf reads. In a pipe report --stats of perf 6.1 stops at tracing data and compressed records, also in pipes
    that perf wrote."""
    found = {"warnings": set()}
    for name, arguments, clean in VIEWS:
        if name == "stats" and awkward and is_pipe(path):
            found[name] = None
            continue
        text, complaints = perf(arguments, path)
        if text is None and name == "script":
            text, complaints = perf(PLAIN_SCRIPT[1], path)
        found[name] = None if text is None else clean(text)
        found["warnings"] |= complaints
    return found


def times_of(lines):
    return [m[1] for m in (re.search(r"\s(\d+\.\d+): ", line) for line in lines) if m]


def are_equal(step, view, before, got):
    """What is of one time has no order in a directory; where time decides there is no order of the file to keep."""
    if got == before or view != "script" or step not in ("dir", "sort"):
        return got == before
    return sorted(got) == sorted(before) and (step == "sort" or times_of(got) == times_of(before))


def first_difference(a, b):
    for left, right in zip(a, b):
        if left != right:
            return f"'{left[:90]}' became '{right[:90]}'"
    return f"{len(a)} lines became {len(b)}"


class Judge:
    def __init__(self, perfdata):
        self.perfdata = perfdata
        version = common.run([*PERF, "--version"]).out.decode().split()[-1]
        self.known = [common.Known("Conversions in perf")]
        if int(version.split(".")[0]) >= 7:
            self.known.append(common.Known("Conversions in perf 7"))
        self.numbers = collections.Counter()

    def differs(self, name, step, view, what):
        if any(known.reason(name, f"{step} {view}") or known.reason(name, view) for known in self.known):
            self.numbers["explained"] += 1
            return
        self.numbers["differ"] += 1
        print(f"{name}: {step}: {view}: {what}")
        sys.stdout.flush()

    def compare(self, name, step, wanted, got, no_stats):
        fresh = sorted(got["warnings"] - wanted["warnings"])
        if fresh:
            self.differs(name, step, "warnings", fresh[0][:200])
        for view, before in wanted.items():
            if view == "warnings":
                continue
            # what perf cannot read at all may be better read afterwards
            if not before or (view == "stats" and no_stats):
                continue
            self.numbers["views"] += 1
            if got[view] is None:
                self.differs(name, step, view, "perf refuses it")
            elif not are_equal(step, view, before, got[view]):
                self.differs(name, step, view, first_difference(before, got[view]))

    def look(self, path, name):
        features = common.run([self.perfdata, "dump", "-q", "--features", path]).out
        awkward = any(word in features for word in (b"TRACING_DATA", b"COMPRESSED"))
        wanted = views_of(path, awkward)
        if not (wanted["stats"] or wanted["script"] or wanted["header"]):
            self.numbers["refused"] += 1
            return
        self.numbers["recordings"] += 1
        with tempfile.TemporaryDirectory(prefix="convert-") as folder:
            for step, options in STEPS:
                made = os.path.join(folder, step)
                result = common.run([self.perfdata, "convert", "-q", "-i", path, *options, "-o", made], timeout=120)
                if result.status not in (common.FINE, common.DAMAGED):
                    self.differs(name, step, "convert", result.err.decode("utf-8", "replace").strip()[:200])
                    continue
                self.compare(name, step, wanted, views_of(made, awkward or step == "z"), is_pipe(made) and awkward)


def is_asked(row):
    return row["byteorder"] == "little" and int(row["size"]) < 4 << 20


def main():
    parser = common.recordings_parser(__doc__)
    parser.add_argument("--every", type=int, default=1, metavar="N", help="only each N-th file of a corpus")
    parser.add_argument("--perf", default="perf", metavar="COMMAND")
    arguments = parser.parse_args()
    PERF[:] = shlex.split(arguments.perf)
    if not shutil.which(PERF[0]):
        common.skip(f"no {PERF[0]}")
    judge = Judge(arguments.perfdata)
    for path, name in common.recordings(arguments.files, arguments.only, arguments.every, is_asked):
        judge.look(path, name)
    numbers = judge.numbers
    print(f"{numbers['recordings']} recordings, {numbers['refused']} that perf refuses, {numbers['views']} texts of perf: "
          f"{numbers['explained']} differ as docs/differences.md says, {numbers['differ']} differ")
    return 1 if numbers["differ"] or not numbers["recordings"] else 0


if __name__ == "__main__":
    sys.exit(main())
