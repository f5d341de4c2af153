#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes that fail, for every command that writes: to a file, a directory and standard output.

usage: failing.py PERFDATA PRELOAD DATA [--calls N] [--input FILE] [--only TEXT] [--verbose]

PRELOAD is the library of preload.c, DATA the folder of recordings. Each call that changes something (write, close, rename
...) fails in turn or is met by a signal, at most N of them for a command and a form (all: 0); outputs are full devices, small file
systems (as root) and pipes that nobody reads. Asked each time: an exit code that says so, a message with the name, inputs
and an earlier output untouched, nothing left behind but what is documented, no crash. Exit status: 0 all is so, 1 not, 77
the library cannot be loaded into this build.
"""

import argparse
import collections
import errno
import glob
import hashlib
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile

DAMAGED, OUTPUT = 1, 4  # exit codes: the input is damaged; the output could not be written
EARLIER = b"an earlier output\n"

# name, arguments, kind of output. IN, SECOND, DAMAGED, TEXT and TAR are inputs, OUT is what is written.
#   recording: a perf.data
#   new: a directory or several files, which have no earlier output
#   plain: any other file
#   unpacked: a directory that is kept beside its name when a write fails, which is told
# A signal leaves nothing of what was begun.
WRITES = (
    ("convert", "convert IN -o OUT", "recording"),
    ("convert-pipe", "convert IN --to pipe -o OUT", "recording"),
    ("convert-big", "convert IN --byte-order big -o OUT", "recording"),
    ("convert-z", "convert IN -z -o OUT", "recording"),
    ("convert-sort", "convert IN --sort -o OUT", "recording"),
    ("convert-dir", "convert IN --to dir -o OUT", "new"),
    ("repair", "repair DAMAGED -o OUT", "recording"),
    ("cut", "cut IN --time 20%-80% -o OUT", "recording"),
    ("filter", "filter IN --where ip>0 -o OUT", "recording"),
    ("sample", "sample IN 1/2 -o OUT", "recording"),
    ("head", "head IN -n 50 -o OUT", "recording"),
    ("tail", "tail IN -n 50 -o OUT", "recording"),
    ("merge", "merge IN SECOND -o OUT", "recording"),
    ("split", "split SECOND --by event -o OUT", "new"),
    ("scrub", "scrub IN -o OUT", "recording"),
    ("inject", "inject -b IN -o OUT", "recording"),
    ("assemble", "assemble TEXT -o OUT", "recording"),
    ("text", "text IN -o OUT", "plain"),
    ("flame", "flame --no-symbols IN -o OUT", "plain"),
    ("export", "export --no-symbols --to firefox IN -o OUT", "plain"),
    ("quipper", "export -q --to quipper IN -o OUT", "plain"),
    ("import", "import --from quipper-text PROTO -o OUT", "recording"),
    ("pack", "pack IN -o OUT", "plain"),
    ("unpack", "unpack TAR -o OUT", "unpacked"),
)
# Standard output; recordings are told where one is given, texts by what is there.
STREAMS = tuple((name, words.replace("OUT", "-"), kind) for name, words, kind in WRITES
                if kind in ("recording", "plain")) + (
    ("report", "report --no-symbols IN", "plain"),
    ("script", "script --no-symbols IN", "plain"),
    ("folded", "folded --no-symbols IN", "plain"),
    ("dump", "dump IN", "plain"),
    ("info", "info IN", "plain"),
    ("check", "check IN", "plain"),
    ("evlist", "evlist IN", "plain"),
    ("buildid-list", "buildid-list IN", "plain"),
    ("explain", "explain COMM", "plain"),
)


def content(path):
    """Names and contents of what is there."""
    if not os.path.isdir(path):
        with open(path, "rb") as f:
            return hashlib.sha256(f.read()).hexdigest()
    return {name: content(os.path.join(path, name)) for name in sorted(os.listdir(path))}


class Ran:
    def __init__(self, status, err):
        self.status, self.err = status, err

    @property
    def crashed(self):
        return (self.status < 0 and -self.status not in (signal.SIGINT, signal.SIGTERM, signal.SIGPIPE)) or \
            "Sanitizer" in self.err or "runtime error:" in self.err


class Matrix:
    def __init__(self, perfdata, preload, folder, calls, verbose):
        self.perfdata, self.preload, self.folder, self.calls, self.verbose = perfdata, preload, folder, calls, verbose
        self.inputs = os.path.join(folder, "in")
        self.out_dir = os.path.join(folder, "out")
        self.log = os.path.join(folder, "log")
        self.numbers = collections.Counter()
        self.failures = 0

    # ---- running ----

    def words(self, text, out):
        names = {"IN": "in.data", "SECOND": "second.data", "DAMAGED": "damaged.data", "TEXT": "in.txt", "PROTO": "in.proto", "TAR": "in.tar"}
        return [os.path.join(self.inputs, names[w]) if w in names else out if w == "OUT" else w for w in text.split()]

    def run(self, words, stdout=subprocess.DEVNULL, fail=None, ignore_pipe=False, stderr=subprocess.PIPE, limit=None):
        environment = dict(os.environ, HOME=os.path.join(self.folder, "home"), XDG_CACHE_HOME=os.path.join(self.folder, "home"))
        if fail is not None:
            environment.update(LD_PRELOAD=self.preload, FAIL_BELOW=self.out_dir, FAIL_LOG=self.log, **fail)
        if os.path.exists(self.log):
            os.unlink(self.log)

        def set_up():
            signal.signal(signal.SIGPIPE, signal.SIG_IGN if ignore_pipe else signal.SIG_DFL)
            # Python ignores it
            signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
            if limit is not None:
                resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

        done = subprocess.run([self.perfdata, *words], stdin=subprocess.DEVNULL, stdout=stdout, stderr=stderr,
                              env=environment, timeout=120, check=False, preexec_fn=set_up, restore_signals=False)
        return Ran(done.returncode, (done.stderr or b"").decode("utf-8", "replace"))

    def seen(self):
        """Letters of the calls that were watched."""
        if not os.path.exists(self.log):
            return ""
        with open(self.log, encoding="ascii") as f:
            return f.read()

    # ---- what must be so ----

    def fail(self, where, what, ran):
        self.failures += 1
        print(f"{where}: {what} (exit status {ran.status}; {ran.err.strip()[-300:]!r})")
        sys.stdout.flush()

    def check_left(self, where, ran, kind, out, interrupted):
        """An earlier output is as it was; what is left behind is documented."""
        for path in sorted(glob.glob(os.path.join(glob.escape(self.out_dir), "*"))):
            name = os.path.basename(path)
            if path == out:
                if kind in ("new", "unpacked"):
                    self.check_pieces(where, ran, path)
                elif content(path) != hashlib.sha256(EARLIER).hexdigest():
                    # a signal at the very end comes too late
                    if not (interrupted and kind == "recording" and self.run(["check", "-q", path]).status == 0):
                        self.fail(where, "the earlier output is another", ran)
            elif kind == "unpacked" and path in ran.err:
                pass
            else:
                self.fail(where, f"{name} is left behind", ran)
        if kind not in ("new", "unpacked") and not os.path.exists(out):
            self.fail(where, "the earlier output is gone", ran)

    def check_pieces(self, where, ran, path):
        """Of several files some may be there, each of them whole."""
        for piece in sorted(glob.glob(os.path.join(glob.escape(path), "*"))):
            if ".new-" in piece:
                self.fail(where, f"{os.path.basename(piece)} is left behind", ran)
            elif self.run(["check", "-q", piece]).status != 0:
                self.fail(where, f"{os.path.basename(piece)} is not whole", ran)

    def check(self, where, ran, out):
        """Common to all: an exit code that says that it could not be written, a message, inputs as before."""
        self.numbers["runs"] += 1
        if self.verbose:
            print(f"{where}: {ran.status} {ran.err.strip()!r}")
        if ran.crashed:
            self.fail(where, "crashed", ran)
        elif ran.status >= 0 and ran.status != OUTPUT:
            self.fail(where, "the exit code does not say it", ran)
        if ran.status >= 0 and out not in ran.err:
            self.fail(where, f"no message with {out}", ran)
        if content(self.inputs) != self.before:
            self.fail(where, "an input was changed", ran)
            self.make_inputs()

    # ---- the cases ----

    def fresh(self, kind):
        """An empty output folder, with an earlier output where there can be one."""
        out = os.path.join(self.out_dir, "x")
        for path in glob.glob(os.path.join(glob.escape(self.out_dir), "*")):
            shutil.rmtree(path) if os.path.isdir(path) else os.unlink(path)
        if kind in ("recording", "plain"):
            with open(out, "wb") as f:
                f.write(EARLIER)
        return out

    def chosen(self, count):
        """Numbers of calls that fail: all, or the first, the last ones and some between."""
        if not self.calls or count <= self.calls:
            return list(range(count))
        last = self.calls // 2
        between = self.calls - last - 2
        middle = {2 + i * (count - last - 2) // between for i in range(between)}
        return sorted({0, 1} | middle | set(range(count - last, count)))

    def each_call(self, name, text, kind):
        """Each call fails, or a signal comes before it."""
        out = self.fresh(kind)
        ran = self.run(self.words(text, out), fail={})
        calls = self.seen()
        if ran.status not in (0, DAMAGED):
            self.fail(name, "fails without a failure", ran)
            return
        if not calls:
            self.numbers["not loaded"] += 1
            return
        for number in self.chosen(len(calls)):
            where = f"{name}: call {number} of {calls[:40]}"
            for how in ({"FAIL_WITH": str(errno.ENOSPC if number % 2 else errno.EIO)},
                        {"FAIL_SIGNAL": str(int(signal.SIGTERM if number % 2 else signal.SIGINT))}):
                out = self.fresh(kind)
                ran = self.run(self.words(text, out), fail={"FAIL_AT": str(number), **how})
                interrupted = "FAIL_SIGNAL" in how
                if interrupted and ran.status >= 0:
                    self.fail(f"{where}: signal", "was not ended by the signal", ran)
                # split names its files on standard output, last of all
                told = "standard output" if name == "split" and number == len(calls) - 1 else out
                self.check(f"{where}: {'signal' if interrupted else 'error'}", ran, told)
                self.check_left(where, ran, kind, out, interrupted)

    def each_call_stream(self, name, text, kind):
        """The same for standard output, of which only what is said can be right."""
        out = os.path.join(self.out_dir, "stream")
        self.fresh("new")
        with open(out, "wb") as f:
            ran = self.run(self.words(text, out), stdout=f, fail={})
        calls = self.seen()
        if ran.status not in (0, DAMAGED) or not calls:
            self.fail(name, "fails without a failure, or writes nothing", ran)
            return
        for number in self.chosen(len(calls)):
            with open(out, "wb") as f:
                ran = self.run(self.words(text, out), stdout=f,
                               fail={"FAIL_AT": str(number), "FAIL_WITH": str(errno.ENOSPC)})
            self.check(f"{name}: standard output: call {number} of {calls[:40]}", ran, "standard output")

    def full(self, name, text, kind):
        """A device that is full, as a name and as standard output."""
        if kind in ("recording", "plain"):
            self.fresh("new")
            self.check(f"{name}: /dev/full", self.run(self.words(text, "/dev/full")), "/dev/full")

    def full_stream(self, name, text):
        with open("/dev/full", "wb") as f:
            self.check(f"{name}: standard output to /dev/full", self.run(self.words(text, ""), stdout=f), "standard output")

    def closed(self, name, text):
        """A pipe that nobody reads: ended by SIGPIPE in silence, also where whoever starts the program ignores it."""
        for ignored in (False, True):
            read, write = os.pipe()
            os.close(read)
            ran = self.run(self.words(text, ""), stdout=write, ignore_pipe=ignored)
            os.close(write)
            where = f"{name}: closed pipe{', SIGPIPE ignored' if ignored else ''}"
            if ran.status != -signal.SIGPIPE:
                self.fail(where, "was not ended by SIGPIPE", ran)
            if "Broken pipe" in ran.err:
                self.fail(where, "is not silent", ran)
            self.check(where, ran, "standard output")

    def unheard(self, name, text, kind):
        """Messages that nobody reads cost no output."""
        out = self.fresh(kind)
        status = self.run(self.words(text, out)).status
        # scrub takes another secret each time
        expected = content(out) if name != "scrub" else None
        out = self.fresh(kind)
        read, write = os.pipe()
        os.close(read)
        ran = self.run(self.words(text, out), stderr=write)
        os.close(write)
        if ran.status != status or (expected and content(out) != expected):
            self.fail(f"{name}: closed pipe of messages", "the output is another", ran)

    def limited(self, name, text, kind):
        """A limit of the size of files (ulimit -f): the write fails, no signal ends the command."""
        out = self.fresh(kind)
        for limit in (1, 4096):
            ran = self.run(self.words(text, out), limit=limit)
            where = f"{name}: files of at most {limit} bytes"
            if ran.status == 0 and not any(os.path.getsize(p) > limit for p in glob.glob(out + "*")):
                continue
            self.check(where, ran, out)
            self.check_left(where, ran, kind, out, False)
            out = self.fresh(kind)

    def small_disk(self, name, text, kind):
        """File systems that are too small by more and less."""
        self.fresh(kind)
        out = os.path.join(self.out_dir, "x")
        self.run(self.words(text, out))
        # what unpack writes has holes where the code was, which take no pages
        pages = sum(os.lstat(p).st_blocks * 512 // 4096 for p in glob.glob(self.out_dir + "/**", recursive=True) if os.path.isfile(p))
        for room in sorted({1, 2, pages // 2, pages - 1}):
            if room < 1 or room >= pages:
                continue
            # what was there before takes a page
            room += kind in ("recording", "plain")
            subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={room * 4096}", "tmpfs", self.out_dir], check=True)
            try:
                out = self.fresh(kind)
                ran = self.run(self.words(text, out))
                where = f"{name}: a disk of {room} pages, {pages} are needed"
                self.check(where, ran, out)
                self.check_left(where, ran, kind, out, False)
            finally:
                subprocess.run(["umount", self.out_dir], check=True)

    # ---- all ----

    def make_inputs(self):
        """In a folder of their own, made again if something changed them."""
        shutil.rmtree(self.inputs, ignore_errors=True)
        os.makedirs(self.inputs)
        for name, source in (("in.data", "hot.data"), ("second.data", "hot-multi.data"), ("damaged.data", "hot.data")):
            source = self.large if self.large and source == "hot.data" else os.path.join(self.data, source)
            shutil.copy(source, os.path.join(self.inputs, name))
        # a feature is lost, no record is
        at = os.path.join(self.inputs, "damaged.data")
        os.truncate(at, os.path.getsize(at) - 64)
        for words, name in ((["text", "-q", "IN", "-o", "OUT"], "in.txt"), (["pack", "-q", "IN", "-o", "OUT"], "in.tar"),
                            (["export", "-q", "--to", "quipper-text", "IN", "-o", "OUT"], "in.proto")):
            out = os.path.join(self.inputs, name)
            ran = self.run(self.words(" ".join(words), out))
            if ran.status != 0:
                sys.exit(f"{words[0]}: {ran.err}")
        self.before = content(self.inputs)

    def prepare(self, data, large):
        self.data, self.large = data, large
        os.makedirs(self.out_dir)
        os.makedirs(os.path.join(self.folder, "home"))
        self.make_inputs()

    def go(self, only):
        can_mount = self.can_mount()
        for name, text, kind in WRITES:
            if only in name:
                self.each_call(name, text, kind)
                self.full(name, text, kind)
                self.unheard(name, text, kind)
                self.limited(name, text, kind)
                if can_mount:
                    self.small_disk(name, text, kind)
        for name, text, kind in STREAMS:
            if only in name:
                self.each_call_stream(name, text, kind)
                self.full_stream(name, text)
                self.closed(name, text)

    def can_mount(self):
        made = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4096", "tmpfs", self.out_dir], check=False,
                              stderr=subprocess.DEVNULL).returncode == 0
        if made:
            subprocess.run(["umount", self.out_dir], check=True)
        else:
            print("SKIP: small file systems: they cannot be mounted here")
        return made


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("perfdata")
    parser.add_argument("preload")
    parser.add_argument("data")
    parser.add_argument("--calls", type=int, default=10, metavar="N", help="most calls that fail in turn; 0: all")
    parser.add_argument("--input", metavar="FILE", help="a recording that takes more writes than the one of DATA")
    parser.add_argument("--only", default="", metavar="TEXT", help="only commands whose name has TEXT")
    parser.add_argument("--verbose", action="store_true")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="failing-") as folder:
        folder = os.path.realpath(folder)
        # LD_PRELOAD has no way to quote spaces, which the folder of the build may have
        matrix = Matrix(os.path.abspath(arguments.perfdata), shutil.copy(arguments.preload, folder), folder,
                        arguments.calls, arguments.verbose)
        matrix.prepare(os.path.abspath(arguments.data), arguments.input)
        matrix.go(arguments.only)
    if matrix.numbers["not loaded"]:
        print("SKIP: the library is not loaded into this build")
        sys.exit(77)
    print(f"{matrix.numbers['runs']} failing writes, {matrix.failures} wrong")
    return 1 if matrix.failures or not matrix.numbers["runs"] else 0


if __name__ == "__main__":
    sys.exit(main())
