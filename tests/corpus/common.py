# SPDX-License-Identifier: MIT
"""What the corpus tools share: the list of files, unpacking, running perfdata, known differences."""

import argparse
import csv
import fnmatch
import json
import os
import re
import resource
import subprocess
import sys
import tempfile
import time

SKIPPED = 77  # what the test runner takes for "skipped"
FINE, DAMAGED, UNREADABLE = 0, 1, 3  # exit statuses of perfdata
TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

# Programs that crash here are looked at by their saved input, not by their core.
resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def type_numbers():
    """Record types by name, from the tables of the library."""
    found = {}
    for name in ("record.def", "simpleperf.def"):
        with open(os.path.join(TOP, "include", "perfdata", "table", name), encoding="utf-8") as f:
            found.update((m[1], int(m[2])) for m in re.finditer(r"^RECORD\((\w+), \w+, (\d+),", f.read(), re.M))
    return found


TYPE_NUMBERS = type_numbers()
TYPE_NAMES = {number: name for name, number in TYPE_NUMBERS.items()}


def skip(why):
    print(f"SKIP: {why}")
    sys.exit(SKIPPED)


def check_arguments(perfdata, corpus):
    """Absolute paths of both; ends the program where there is nothing to test."""
    if not os.access(perfdata, os.X_OK):
        sys.exit(f"{perfdata}: not a program")
    if not os.path.exists(os.path.join(corpus, "manifest.tsv")):
        skip(f"no corpus at {corpus}")
    return os.path.abspath(perfdata), os.path.abspath(corpus)


def limits():
    """Largest size of the files to be read, 0 for any, and N where each Nth file of them is enough."""
    return int(os.environ.get("PERFDATA_CORPUS_MOST", 0)), int(os.environ.get("PERFDATA_CORPUS_EVERY", 1))


def rows(corpus, kind="data"):
    """Rows of the manifest, as dicts; fewer where the environment says so, as ./test does."""
    with open(os.path.join(corpus, "manifest.tsv"), encoding="utf-8", newline="") as f:
        table = csv.DictReader(f, delimiter="\t", quoting=csv.QUOTE_NONE)
        found = [row for row in table if row["kind"] == kind]
    most, every = limits()
    some = [row for row in found if not most or int(row["size"]) <= most][::every]
    if len(some) < len(found):
        print(f"{len(some)} of {len(found)} files: each {every}. of those up to {most} bytes")
    return some


def unzstd(path):
    """Bytes of a zstd file."""
    return subprocess.run(["zstd", "-dcq", path], check=True, stdout=subprocess.PIPE).stdout


def text_of(path):
    """Text of a file that may be stored as .zst, or None."""
    if os.path.exists(path + ".zst"):
        return unzstd(path + ".zst").decode("utf-8", "replace")
    if os.path.exists(path):
        with open(path, encoding="utf-8", errors="replace") as f:
            return f.read()
    return None


def golden(corpus, path):
    with open(os.path.join(corpus, "golden", path + ".json"), encoding="utf-8") as f:
        return json.load(f)


def golden_text(corpus, path, kind):
    name = os.path.join(corpus, "golden", f"{path}.{kind}.zst")
    return unzstd(name).decode("utf-8", "replace") if os.path.exists(name) else None


class Unpacked:
    """A corpus file as it is before it was stored: `with Unpacked(corpus, row) as path`."""

    def __init__(self, corpus, row):
        self.stored = os.path.join(corpus, row["path"])
        self.temp = None

    def __enter__(self):
        if not self.stored.endswith(".zst"):
            return self.stored
        self.temp = tempfile.TemporaryDirectory(prefix="corpus-")
        path = os.path.join(self.temp.name, os.path.basename(self.stored)[:-4])
        with open(path, "wb") as f:
            f.write(unzstd(self.stored))
        return path

    def __exit__(self, *exc):
        if self.temp:
            self.temp.cleanup()


class Result:
    """How a run ended. status is the exit status, -signal, or None after a timeout."""

    def __init__(self, status, out, err, seconds):
        self.status, self.out, self.err, self.seconds = status, out, err, seconds

    @property
    def crashed(self):
        return (
            self.status is None
            or self.status < 0
            or self.status >= 126
            or b"Sanitizer" in self.err
            or b"runtime error:" in self.err
        )


def run(argv, stdin=None, timeout=60, memory=0, discard=False, cpu=0):
    """Runs a program. stdin is bytes for a pipe; memory limits its address space in bytes, cpu its processor time in seconds;
    discard drops what it writes to stdout."""
    limits = [f"ulimit -v {memory // 1024}"] * bool(memory) + [f"ulimit -t {cpu}"] * bool(cpu)
    if limits:
        argv = ["sh", "-c", f'{" && ".join(limits)} && exec "$0" "$@"', *argv]
    start = time.monotonic()
    with subprocess.Popen(
        argv,
        stdin=subprocess.PIPE if stdin is not None else subprocess.DEVNULL,
        stdout=subprocess.DEVNULL if discard else subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as child:
        try:
            out, err = child.communicate(stdin, timeout=timeout)
            status = child.returncode
        except subprocess.TimeoutExpired:
            child.kill()
            out, err = child.communicate()
            status = None
    return Result(status, out or b"", err, time.monotonic() - start)


def json_lines(out):
    """Objects of JSON lines."""
    return [json.loads(line) for line in out.splitlines() if line]


class Unreadable(Exception):
    """perfdata refused a file or ended badly."""


def ask(perfdata, arguments, path, stdin=None):
    """Objects that perfdata prints as JSON lines; Unreadable if it does not get to the end."""
    result = run([perfdata, *arguments, "--json", "-i", path], stdin=stdin)
    if result.crashed or result.status not in (FINE, DAMAGED):
        message = result.err.decode("utf-8", "replace").strip()
        raise Unreadable(f"{' '.join(arguments)}: exit status {result.status}: {message[:300]}")
    return json_lines(result.out)


def events_of(perfdata, path):
    """Events: dicts with name, ids and attr."""
    return [line["event"] for line in ask(perfdata, ["dump", "--header"], path) if "event" in line]


def features_of(perfdata, path):
    """Decoded features by name; None where one could not be decoded."""
    lines = ask(perfdata, ["dump", "--features"], path)
    return {line["feature"]["name"]: line["feature"]["decoded"] for line in lines}


def build_ids(feature, order="little"):
    """(pid, misc, build id in hexadecimal, name) of each entry of the decoded feature BUILD_ID, which
    perfdata gives as the bytes of whole records."""
    found, at = [], 0
    data = bytes.fromhex(feature["records"]) if feature else b""
    while at + 36 <= len(data):
        misc, size = (int.from_bytes(data[i : i + 2], order) for i in (at + 4, at + 6))
        length = data[at + 32] if misc & 0x8000 else 20
        name = data[at + 36 : at + size].split(b"\0")[0]
        pid = int.from_bytes(data[at + 8 : at + 12], order)
        found.append((pid, misc, data[at + 12 : at + 12 + length].hex(), name))
        at += max(size, 36)
    return found


def check_of(out):
    """Problems and summary that check --json printed."""
    lines = json_lines(out)
    return [line for line in lines if "code" in line], lines[-1]["summary"]


def known_differences(section):
    """Rows (pattern, kind, reason) of a table in docs/differences.md."""
    path = os.path.join(TOP, "docs", "differences.md")
    if not os.path.exists(path):
        return []
    found, inside = [], False
    with open(path, encoding="utf-8") as f:
        for line in f:
            if line.startswith("## "):
                inside = line[3:].strip() == section
            cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
            if inside and line.startswith("|") and len(cells) == 3 and not cells[0].startswith("-"):
                found.append((cells[0].strip("`"), cells[1], cells[2]))
    return found[1:]


class Known:
    """Differences that a section of docs/differences.md explains."""

    def __init__(self, section):
        self.rows = known_differences(section)
        self.used = set()

    def reason(self, path, kind):
        for row in self.rows:
            if fnmatch.fnmatch(path, row[0]) and kind in [word.strip() for word in row[1].split(",")]:
                self.used.add(row)
                return row[2]
        return None

    def unused(self):
        """Rows that explain nothing any more; only the whole corpus can tell."""
        return [row for row in self.rows if row not in self.used] if limits() == (0, 1) else []


def recordings(files, only="", every=1, fits=None):
    """(path, name) of recordings and of those of corpora whose path has `only` and whose row fits; paths are there while the
    generator waits."""
    for argument in files:
        if os.path.exists(os.path.join(argument, "manifest.tsv")):
            chosen = [row for row in rows(argument) if only in row["path"]]
            for row in chosen[::every]:
                if fits and not fits(row):
                    continue
                with Unpacked(argument, row) as path:
                    yield path, row["path"]
        elif os.path.exists(argument):
            yield argument, os.path.basename(argument)
        else:
            skip(f"no {argument}")


def recordings_parser(doc, *programs):
    """Options of what looks at recordings and corpora with perfdata and other programs."""
    parser = argparse.ArgumentParser(description=doc.split("\n")[0])
    for program in ("perfdata", *programs):
        parser.add_argument(program, type=os.path.abspath)
    parser.add_argument("files", nargs="+")
    parser.add_argument("--only", default="", metavar="TEXT", help="only files of a corpus whose path has TEXT")
    return parser


# Complaints of perf about what it looks for on this machine.
LOOKING = r"unwind: target|kallsyms|kptr_restrict|vmlinux|CONFIG_PROC_KCORE|^Error:$"


def complaints(result, path, beside=None):
    """What perf said on stderr, without numbers. beside: a pattern of what does not count."""
    left_out = re.compile(f"{LOOKING}|{beside}" if beside else LOOKING)
    # a directory is complained of by its main file
    text = result.err.decode("utf-8", "replace").replace(path, "FILE").replace("FILE/data", "FILE")
    return {
        re.sub(r"\b(0x)?[0-9a-f]+\b", "N", line)
        for line in text.splitlines()
        if line.strip() and not left_out.search(line)
    }
