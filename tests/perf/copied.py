#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Unwinds stacks that are copied on the spot, and compares them with what is known of the program, and with perf.

usage: copied.py PERFDATA [--witness PROGRAM] [--only NAME]

The programs of copied* are compiled without frame pointers and recorded by perf and by perfdata. Of each way through a
program it is known which functions lead to spin(). Asked of each recording: at least 99.5 % of the samples in spin() have just
these, and end in the outermost function where the copy is long enough; perf script has no frame that is not ours, and perf's
answer is the same for the recording after inject --unwind, which is at least 20 times smaller for copies of 8 KiB; perf report of
it has our rows of the original, with graphs if no stack is truncated, apart from the order of branches that have as much. A witness is
tests/unwind/witness.c, which has frames of libdwfl for the same samples: they are ours in nearly all.
Exit status: 0 all is so, 1 not, 77 perf cannot record or there is no compiler.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(os.path.join(os.path.dirname(HERE), "corpus"))

import common  # noqa: E402 pylint: disable=wrong-import-position
import unwind as corpus  # noqa: E402 pylint: disable=wrong-import-position

COMPILE = "-O2 -g -fomit-frame-pointer -fasynchronous-unwind-tables -fno-optimize-sibling-calls"
START = "in_thread main .* _start"
# name: program, its options, bytes to copy, functions from spin outwards.
WAYS = {
    "nested": ("plain", "nested", 8192, f"spin inner nested {START}"),
    "deep": ("plain", "deep", 16384, f"spin inner nested (recursive ){{13}}deep {START}"),
    "deep, 1 KiB": ("plain", "deep", 1024, "spin inner nested (recursive ?){1,3}"),
    "deep, 32 KiB": ("plain", "deep", 32768, f"spin inner nested (recursive ){{13}}deep {START}"),
    "dynamic": ("plain", "dynamic", 8192, f"spin inner dynamic {START}"),
    "aligned": ("plain", "aligned", 8192, f"spin inner aligned {START}"),
    "sorted": ("plain", "sorted", 8192, f"spin inner nested compare .*sorted {START}"),
    "signal": ("plain", "signal", 8192, f"spin in_handler handle __restore_rt .*signalled {START}"),
    "other stack": ("plain", "other", 8192, "spin in_handler handle __restore_rt \\S+"),
    "thread": ("plain", "thread", 8192, "spin inner nested in_thread (start_thread|\\S+) (__GI___clone3|__clone3|clone3|\\S+)"),
    "static": ("static", "deep", 16384, f"spin inner nested (recursive ){{13}}deep {START}"),
    "debug_frame": ("debug-frame", "deep", 16384, f"spin inner nested (recursive ){{13}}deep {START}"),
    "compressed": ("compressed", "deep", 16384, f"spin inner nested (recursive ){{13}}deep {START}"),
    "SFrame": ("sframe", "sorted", 8192, f"spin inner nested compare .*sorted {START}"),
    "32 bits": ("32", "", 8192, "spin inner dynamic aligned (recursive ){6}begin _start"),
    "exceptions": ("exceptions", "", 8192, "spin (guard::~guard .*thrower )?catcher main .* _start"),
    "inlines": ("exceptions", "inlined", 8192,
                r"spin operator\(\) middle\S+ wrapper outer main .* _start"),
    "by hand": ("hand", "hand", 8192,
                f"spin by_tail hand_value by_value hand_expression by_expression hand_register by_hand {START}"),
    "loaded": ("plain", "loaded", 8192, f"spin inner nested in_library loaded {START}"),
    "Rust": ("rust", "", 8192, r"copied::spin (copied::recursive |\S*Guard\S* copied::panics copied::catches )+copied::main .* _start"),
    "Go": ("go", "", 8192,
           r"main\.spin main\.inner ((main\.recursive ){7}|main\.sorted\.func1 (sort\S+ )+main\.sorted )main\.main\.func1 "
           r"runtime\.goexit\S*"),
    "node": ("node", "", 16384, r"JS:.spin\S+ JS:.inner\S+ (JS:.recursive\S+ ){7}JS:.begin.* _start"),
    "jitdump": ("jit", "", 8192, "spin jitted_7 jitted_6 jitted_5 jitted_4 jitted_3 jitted_2 jitted_1 jitted_0 main .* _start"),
    "Python": ("python", "", 65528, r"_PyEval_EvalFrameDefault .*Py_BytesMain .*_start"),
    "musl": ("musl", "deep", 8192, r"spin inner nested (recursive ){13}deep in_thread main libc_start_main_stage2"),
}
PROGRAMS = {
    "plain": f"cc {COMPILE} -o $BIN/plain $SRC/copied.c -pthread",
    "static": f"cc {COMPILE} -static -o $BIN/static $SRC/copied.c -pthread",
    "debug-frame": f"cc {COMPILE} -fno-asynchronous-unwind-tables -o $BIN/debug-frame $SRC/copied.c -pthread",
    "compressed": f"cc {COMPILE} -fno-asynchronous-unwind-tables -gz=zlib -o $BIN/compressed $SRC/copied.c -pthread",
    "32": f"cc -m32 {COMPILE} -nostdlib -static -fno-stack-protector -fcf-protection=none -o $BIN/32 $SRC/copied32.c",
    "exceptions": f"c++ {COMPILE} -o $BIN/exceptions $SRC/copied.cc",
    "hand": f"cc {COMPILE} -DBY_HAND -o $BIN/hand $SRC/copied.c $SRC/copied_hand.S -pthread",
    "library": f"cc {COMPILE} -shared -fPIC -o $BIN/library.so $SRC/copied_library.c",
    "rust": "rustc -O -g -o $BIN/rust $SRC/copied.rs",
    "go": "go build -o $BIN/go $SRC/copied.go",
    "musl": f"musl-gcc {COMPILE} -static -o $BIN/musl $SRC/copied.c",
    "sframe": f"cc {COMPILE} -Wa,--gsframe -o $BIN/sframe $SRC/copied.c -pthread && objcopy -g -R .eh_frame -R .eh_frame_hdr $BIN/sframe",
    "jit": f"cc {COMPILE} -o $BIN/jit $SRC/copied_jit.c",
    "node": "node --version",
    "python": "python3 --version",
}
COMMANDS = {
    "node": "node --perf-basic-prof --interpreted-frames-native-stack $SRC/copied.js",
    "python": "python3 $SRC/copied_script.py",
}
# perf 6.1 does not read these rules or such tasks, and of a return address in a register it makes one in the stack
ALONE = {"debug_frame", "compressed", "SFrame", "32 bits", "Go", "by hand", "jitdump"}
# nor libdwfl: registers that are carried through other frames, code without an object
UNSEEN = {"SFrame", "32 bits", "node", "jitdump"}
ENOUGH = 0.995
# script prints no more frames, as perf; imports of Python have more
MOST_FRAMES = 127
STUB = re.compile(r"@plt$| \.plt$")


def run(command, **more):
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False, **more)


def compile_programs(folder):
    found = set()
    for name, words in PROGRAMS.items():
        steps = [step.split() for step in words.replace("$BIN", folder).replace("$SRC", HERE).split("&&")]
        if all(shutil.which(step[0]) and run(step).returncode == 0 for step in steps):
            found.add(name)
    return found


def too_many(bad, count):
    """Of few samples, one may be where a stack is being changed."""
    return bad > max(1, count * (1 - ENOUGH))


def plain(name):
    return re.sub(r"\+0x[0-9a-f]+$|@.*| ", "", name)


def names(chain):
    return " ".join(plain(name) for _, name, _ in chain)


def remove_maps(text):
    """What node writes of its functions."""
    for pid in set(re.findall(r"^\S.*?\s(\d+)\s+[\d.]+: ", text, re.M)):
        if os.path.exists(f"/tmp/perf-{pid}.map"):
            os.remove(f"/tmp/perf-{pid}.map")


def with_trampolines(ours, theirs):
    """perf 6.1 looks for the trampoline of a signal one byte before it."""
    return [mine if mine[1].startswith("__restore_rt+") and int(mine[0], 16) - 1 == int(other[0], 16) else other
            for mine, other in zip(ours, theirs)] + theirs[len(ours):]


def comparable(rows, ours):
    """perf 6.1 has no names for entries of PLTs, and orders branches that have as much by where objects are in its memory."""
    if any(STUB.search(row) for row in ours):
        rows = [row for row in rows if not STUB.search(row) and not re.search(r"\b0x[0-9a-f]+$", row)]
    return sorted(re.sub(r"[|-]", " ", row) for row in rows) if any("--" in row for row in ours) else rows


class Test:
    def __init__(self, perfdata, folder, witness):
        self.perfdata, self.folder, self.witness = perfdata, folder, witness
        self.environment = {**os.environ, "LIBRARY": os.path.join(folder, "library.so")}
        self.good = True

    def text(self, program, recording, inlines):
        options = ["--no-index", "-q"] if program == self.perfdata else []
        options += [] if inlines else ["--no-inline"]
        return run([program, "script", *options, "-i", recording]).stdout.decode("utf-8", "replace")

    def script(self, program, recording, inlines=False):
        return corpus.samples(self.text(program, recording, inlines))

    def fail(self, name, what, chain=None):
        self.good = False
        print(f"DIFFER {name}: {what}" + (f": {names(chain)}" if chain else ""))

    def check_names(self, name, wanted, samples):
        first = wanted.split()[0]
        spinning = [chain for _, chain in samples if chain and re.fullmatch(first, plain(chain[0][1]))]
        bad = [chain for chain in spinning if len(chain) < MOST_FRAMES and not re.fullmatch(wanted, names(chain))]
        if len(spinning) < 10:
            self.fail(name, f"only {len(spinning)} samples")
        elif too_many(len(bad), len(spinning)):
            self.fail(name, f"{len(bad)} of {len(spinning)} samples have other callers", bad[0])
        return f"{len(spinning) - len(bad)} of {len(spinning)} as known"

    def check_perf(self, name, ours, theirs):
        counts = dict.fromkeys(corpus.KINDS, 0)
        for mine, other in zip(ours, theirs):
            counts[corpus.compare(mine[1], with_trampolines(mine[1], other[1]), "6.1")] += 1
        if len(ours) != len(theirs) or too_many(counts["shorter"] + counts["different"], len(ours)):
            self.fail(name, f"perf has other frames: {counts}")
        return ", ".join(f"{number} {kind}" for kind, number in counts.items() if number)

    def rows(self, program, recording, options):
        options = options + (["--no-index", "-q"] if program == self.perfdata else ["--stdio"])
        output = run([program, "report", *options, "-i", recording]).stdout.decode("utf-8", "replace")
        return [line.rstrip() for line in output.split("\n") if line.strip() and not line.startswith("#")]

    def check_reported(self, name, recording, chains):
        cut = any("[truncated]" in line for line in self.rows(self.perfdata, recording, ["--no-children", "-g", "caller"]))
        for options in ["-g", "none", "--children"], ["--no-children", "-g", "caller"]:
            if cut and "none" not in options:
                continue
            ours = self.rows(self.perfdata, recording, options)
            theirs = self.rows("perf", chains, options)
            if comparable(ours, ours) != comparable(theirs, ours) or not ours:
                self.fail(name, f"perf report {' '.join(options)} of inject --unwind has other rows")

    def check_witness(self, name, recording):
        output = run([self.witness, recording]).stdout.decode()
        counts = {kind: int(number) for number, kind in re.findall(r"(\d+) (equal|longer|shorter|different)", output)}
        if not counts or too_many(counts["shorter"] + counts["different"], sum(counts.values())):
            self.fail(name, f"libdwfl has other frames: {output.strip()}")
        return "libdwfl " + ", ".join(f"{number} {kind}" for kind, number in counts.items() if number)

    def check_injected(self, name, recording, ours, size):
        chains = os.path.join(self.folder, "chains.data")
        run([self.perfdata, "inject", "--unwind", "-q", "-f", "-i", recording, "-o", chains])
        theirs = self.script("perf", chains)
        same = [[frame[0] for frame in chain] for _, chain in ours] == [[frame[0] for frame in chain] for _, chain in theirs]
        if not same:
            self.fail(name, "perf script of inject --unwind has other frames")
        if WAYS[name][0] == "plain":
            self.check_reported(name, recording, chains)
        text = self.text(self.perfdata, chains, False)
        if [chain for _, chain in corpus.samples(text)] != [chain for _, chain in ours]:
            self.fail(name, "script of inject --unwind has other frames")
        before, after = (run([self.perfdata, "folded", "--no-index", "-q", "-i", path]).stdout for path in (recording, chains))
        if sorted(before.split(b"\n")) != sorted(after.split(b"\n")):
            self.fail(name, "folded of inject --unwind has other stacks")
        ratio = os.path.getsize(recording) / os.path.getsize(chains)
        # mappings stay, and this program has some for each time that it loads the library, which fast machines do often
        least = 2 if name == "loaded" else 20
        if size >= 8192 and ratio < least and len(ours) > 300:
            self.fail(name, f"inject --unwind makes it only {ratio:.1f} times smaller")
        return f"{ratio:.0f} times smaller"

    def check_now(self, name):
        """The same as it is recorded: no stack is copied into the file, and nothing is lost at 4 kHz."""
        program, way, size, wanted = WAYS[name]
        recording = os.path.join(self.folder, "now.data")
        run([self.perfdata, "record", "--unwind-now", "-q", "-o", recording, "-e", "cpu-clock:u", "-F", "4000", "--call-graph",
             f"dwarf,{size}", "--", os.path.join(self.folder, program), "250", *way.split()], env=self.environment, cwd=self.folder)
        ours = self.script(self.perfdata, recording)
        if [frame[0] for _, chain in ours for frame in chain] != [frame[0] for _, chain in self.script("perf", recording) for frame in chain]:
            self.fail(name, "perf script of record --unwind-now has other frames")
        stats = run([self.perfdata, "dump", "--stats", recording]).stdout.decode()
        copied = "STACK_USER" in run([self.perfdata, "evlist", "-v", recording]).stdout.decode()
        large = name != "loaded" and os.path.getsize(recording) > len(ours) * size / 8
        if re.search(r"^ *LOST events", stats, re.M) or copied or large:
            self.fail(name, "record --unwind-now lost something, or copied stacks")
        said = self.check_names(name, wanted, ours)
        print(f"{name:14} unwind-now {len(ours):4} samples: {said}", flush=True)

    def check(self, name, recorder):
        program, way, size, wanted = WAYS[name]
        recording = os.path.join(self.folder, "recording.data")
        clock = ["-k", "mono"] if program == "jit" else []
        words = COMMANDS.get(program, os.path.join(self.folder, program)).replace("$SRC", HERE).split()
        command = [recorder, "record", "-q", "-o", recording, "-e", "cpu-clock:u", "-F", "2000", *clock, "--call-graph", f"dwarf,{size}",
                   "--", *words, "250", *way.split()]
        if run(command, env=self.environment, cwd=self.folder).returncode or not os.path.exists(recording):
            common.skip("perf cannot record here")
        ours = self.script(self.perfdata, recording)
        said = [self.check_names(name, wanted, self.script(self.perfdata, recording, True) if name == "inlines" else ours)]
        if name not in ALONE:
            said.append(self.check_perf(name, ours, self.script("perf", recording)))
        if self.witness and name not in UNSEEN:
            said.append(self.check_witness(name, recording))
        said.append(self.check_injected(name, recording, ours, size))
        if program == "node":
            remove_maps(self.text(self.perfdata, recording, False))
        print(f"{name:14} {os.path.basename(recorder):9} {len(ours):4} samples: " + "; ".join(said), flush=True)
        os.remove(recording)


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("perfdata")
    parser.add_argument("--witness")
    parser.add_argument("--only", default="")
    args = parser.parse_args()
    if not shutil.which("perf") or not shutil.which("cc"):
        common.skip("no perf, or no compiler")
    with tempfile.TemporaryDirectory() as folder:
        programs = compile_programs(folder)
        test = Test(os.path.abspath(args.perfdata), folder, args.witness)
        for i, name in enumerate(WAYS):
            if WAYS[name][0] in programs and args.only in name:
                test.check(name, test.perfdata if i % 2 else "perf")
        for name in "nested", "signal", "other stack", "loaded":
            if args.only in name:
                test.check_now(name)
    sys.exit(0 if test.good else 1)


if __name__ == "__main__":
    main()
