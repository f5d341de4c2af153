#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares unwound call chains with those of perf script of a corpus, sample by sample.

usage: unwind.py PERFDATA CORPUS [--only TEXT] [--verbose] [--witness PROGRAM]

CORPUS/unwind has recordings with copied user stacks, the objects they are of, and what perf printed with --no-inline:
6.1 (libunwind) and 7.2 (libdw). A frame is its object and its address; those of 7.2 are virtual ones, of which only the part
below a page counts. LIMITS says which perf is believed for which file and how many samples may be otherwise.

One line for each file: samples that are equal; equal but for a last frame of perf's that is in no object, such as the
ffffffffffffffff that perf 6.1 adds where a stack is cut; longer, where ours go on after perf's end; shorter; different. With --verbose the first of each. Chains must be the
same from other forms of the recording, and with an index of rules; with that of an earlier run no call frame information is read. A witness is tests/unwind/witness.c, which has frames of libdwfl for the same samples. At least
99.5 % of the copies that are long enough must end in the outermost function. Exit status: 0 within the
limits, 1 not, 77 no corpus.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

import common

FRAME = re.compile(r"^\t\s*([0-9a-f]+) (.*) \((.*)\)$")
PAGE = 4096

# name: (perf, most samples that are shorter, most that are different), for the reason that a comment gives.
LIMITS = {
    "omit-8k": ("6.1", 0, 0),
    "omit-32k": ("6.1", 0, 0),
    "omit-1k": ("6.1", 0, 0),
    "deep": ("6.1", 0, 0),
    "plt": ("6.1", 0, 0),
    "vdso": ("6.1", 0, 0),
    "caml": ("6.1", 0, 0),
    "cfi": ("6.1", 0, 0),
    "sig": ("7.2", 0, 0),
    "rusty": ("6.1", 0, 0),
    "omit-debugframe": ("7.2", 0, 0),
    "omit-debuglink": ("7.2", 0, 0),
    "omit-musl": ("7.2", 0, 0),
    "gop": ("7.2", 0, 0),
    "callgraph-dwarf": ("6.1", 0, 0),
    "callgraph-dwarf-small": ("6.1", 0, 0),
    "callgraph-dwarf-max": ("6.1", 0, 0),
    "mixed-sample-types": ("6.1", 0, 0),
    "arm64-callgraph-dwarf": ("7.2", 0, 0),
    "s390x-callgraph-dwarf": ("7.2", 0, 0),
    "riscv64-callgraph-dwarf": ("7.2", 0, 1),  # perf repeats one frame of the dynamic linker, which has a wrong rule
    "ppc64le-callgraph-dwarf": ("7.2", 0, 0),
}
SYSROOTS = {"arm64": "aarch64", "s390x": "s390x", "riscv64": "riscv64", "ppc64le": "ppc64le"}
# Most samples in which libdwfl has more frames, and other ones.
WITNESS = {
    "omit-musl": (7, 0),  # code without rules: it takes any word for a frame pointer
    "riscv64-callgraph-dwarf": (0, 1),  # as above
    "ppc64le-callgraph-dwarf": (0, 1),  # code without rules: it has one more, by the link register
}
NO_RULES = {"omit-musl"}
NO_BUILD_ID = {"omit-musl"}  # the index is by build id
ENOUGH = 0.995
KINDS = ("equal", "added", "longer", "shorter", "different")


def samples(text):
    """Chains of a text of perf script: lists of (address, name, object)."""
    found = []
    for line in text.split("\n"):
        frame = FRAME.match(line)
        if frame:
            found[-1][1].append((frame[1].lstrip("0") or "0", frame[2], frame[3]))
        elif line and not line.startswith("\t"):
            found.append((line, []))
    return found


def same_frame(ours, theirs, perf):
    if os.path.basename(ours[2]) != os.path.basename(theirs[2]):
        return False
    if perf == "6.1":
        return ours[0] == theirs[0]
    return int(ours[0], 16) % PAGE == int(theirs[0], 16) % PAGE


def compare(ours, theirs, perf):
    added = bool(theirs) and theirs[-1][2] == "[unknown]"
    if added:
        theirs = theirs[:-1]
    same = 0
    while same < min(len(ours), len(theirs)) and same_frame(ours[same], theirs[same], perf):
        same += 1
    if same == len(ours) == len(theirs):
        return "added" if added else "equal"
    if same == len(theirs):
        return "longer"
    return "shorter" if same == len(ours) else "different"


def show(kind, ours, theirs):
    print(f"  {kind}: {ours[0]}")
    for i in range(max(len(ours[1]), len(theirs[1]))):
        mine = " ".join(ours[1][i]) if i < len(ours[1]) else "-"
        other = " ".join(theirs[1][i]) if i < len(theirs[1]) else "-"
        print(f"    {'  ' if mine == other else '! '}{mine:60} {other}")


def run(perfdata, words, index, sysroot, recording):
    command = [perfdata, *words, *index, "--no-inline", "--debug-path", "/nonexistent", "--buildid-dir", "/nonexistent",
               "--symfs", sysroot, "-i", recording]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout.decode("utf-8", "replace")


def script(perfdata, sysroot, recording, index=("--no-index",)):
    return run(perfdata, ["script"], index, sysroot, recording)


def index_serves(perfdata, sysroot, recording, text, scratch):
    """Whether the second run has all rules from the index of the first one, and the same frames."""
    index = ["--index-dir", os.path.join(scratch, "index")]
    shutil.rmtree(index[1], ignore_errors=True)
    words = ["report", "--stats=unwind", "--json", "--threads", "1"]
    stats = [json.loads(run(perfdata, words, index, sysroot, recording)) for _ in range(2)]
    if stats[0]["compiled_objects"] == 0 or stats[1]["compiled_objects"] or stats[0]["indexed_objects"]:
        return False
    if stats[1]["indexed_objects"] != stats[0]["compiled_objects"] or script(perfdata, sysroot, recording, index) != text:
        return False
    same = ("missing_objects", "rows", "samples", "frames", "repeated_frames", "cached_rules", "searched_rules")
    return all(stats[0][key] == stats[1][key] for key in same) and stats[1]["frames"] > 0


# Other forms of a recording, of which chains must be the same.
FORMS = {
    "little-endian": "convert --byte-order little",
    "big-endian": "convert --byte-order big",
    "compressed": "convert -z",
    "a pipe": "convert --to pipe",
    "unwound": "inject --unwind --symfs SYSROOT",
    "unwound as a pipe": "convert --to pipe | inject --unwind --symfs SYSROOT",
}


def places(text):
    return [[frame[:2] for frame in chain] for _, chain in samples(text)]


def differing_forms(perfdata, sysroot, recording, text, scratch):
    found = []
    for form, words in FORMS.items():
        output, source = os.path.join(scratch, "form.data"), recording
        for i, step in enumerate(words.replace("SYSROOT", sysroot).split("|")):
            output = os.path.join(scratch, f"form{i}.data")
            subprocess.run([perfdata, *step.split(), "-q", "-f", "-o", output, "-i", source], check=True, stderr=subprocess.DEVNULL)
            source = output
        # modules of the kernel have other names in pipes
        if places(script(perfdata, sysroot, output)) != places(text):
            found.append(form)
        os.remove(output)
    return found


def judge(name, ours, theirs, verbose):
    perf, most_shorter, most_different = LIMITS[name]
    counts = dict.fromkeys(KINDS, 0)
    for mine, other in zip(ours, theirs):
        kind = compare(mine[1], other[1], perf)
        if verbose and (verbose > 1 or not counts[kind]) and kind in ("longer", "shorter", "different"):
            show(kind, mine, other)
        counts[kind] += 1
    frames = sum(len(chain) for _, chain in ours) / max(len(ours), 1)
    bad = (len(ours) != len(theirs) or not ours or counts["shorter"] > most_shorter
           or counts["different"] > most_different)
    print(f"{'DIFFER' if bad else 'ok':6} {name:24} {len(ours):4} samples, {frames:5.2f} frames: "
          + ", ".join(f"{counts[kind]} {kind}" for kind in KINDS) + f" (perf {perf})", flush=True)
    return not bad


class Witness:
    """What libdwfl says, and how many copies end in the outermost function."""

    def __init__(self, program):
        self.program = program
        self.long_enough = self.outermost = 0

    def agrees(self, name, recording, sysroot):
        if not self.program:
            return True
        output = subprocess.run([self.program, recording, sysroot], stdout=subprocess.PIPE, check=True).stdout.decode()
        counts = {kind: int(number) for number, kind in re.findall(r"(\d+) (equal|longer|shorter|different)", output)}
        whole = re.search(r"of (\d+) others (\d+) end in the outermost", output)
        shorter, different = WITNESS.get(name, (0, 0))
        bad = not counts or counts["shorter"] > shorter or counts["different"] > different
        if name not in NO_RULES:
            self.long_enough += int(whole[1])
            self.outermost += int(whole[2])
        print(f"{'DIFFER' if bad else 'ok':6} {name:24} libdwfl: {output.strip()}", flush=True)
        return not bad

    def ends_well(self):
        if not self.long_enough:
            return True
        print(f"{self.outermost} of {self.long_enough} copies that are long enough end in the outermost function")
        return self.outermost >= self.long_enough * ENOUGH


def recording_of(folder, corpus, name, scratch):
    path = os.path.join(folder, "recorded", name + ".data.zst")
    if not os.path.exists(path):
        return os.path.join(corpus, "recorded", name + ".data")
    unpacked = os.path.join(scratch, name + ".data")
    with open(unpacked, "wb") as f:
        f.write(common.unzstd(path))
    return unpacked


def check_jitted(perfdata, folder, corpus):
    """Of code from a jitdump neither perf gets to the end. The functions call each other by number, the last is called by main."""
    with tempfile.TemporaryDirectory() as scratch:
        subprocess.run(["tar", "-C", scratch, "-xf", os.path.join(folder, "sysroot-x86_64.tar.zst")], check=True)
        ours = samples(script(perfdata, scratch, recording_of(folder, corpus, "jitu", scratch)))
    bad = 0
    for _, chain in ours:
        names = [name.split("+")[0] for _, name, _ in chain]
        jitted = [int(name[len("jitted_"):]) for name in names if name.startswith("jitted_")]
        whole = jitted == list(range(jitted[0], 12)) if jitted else False
        bad += not (whole and "main" in names and names[-1] == "_start")
    print(f"{'DIFFER' if bad or not ours else 'ok':6} jitu                     {len(ours):4} samples, {bad} are not whole")
    return bool(ours) and not bad


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("perfdata")
    parser.add_argument("corpus")
    parser.add_argument("--only", default="")
    parser.add_argument("--witness")
    parser.add_argument("--verbose", action="count", default=0)
    args = parser.parse_args()
    perfdata, corpus = common.check_arguments(args.perfdata, args.corpus)
    folder = os.path.join(corpus, "unwind")
    if not os.path.isdir(folder):
        common.skip(f"no recordings with objects at {folder}")
    good = args.only not in "jitu" or check_jitted(perfdata, folder, corpus)
    witness = Witness(args.witness)
    with tempfile.TemporaryDirectory() as scratch:
        for name in LIMITS:
            if args.only not in name:
                continue
            arch = SYSROOTS.get(name.split("-")[0], "x86_64")
            sysroot = os.path.join(scratch, arch)
            if not os.path.isdir(sysroot):
                os.mkdir(sysroot)
                subprocess.run(["tar", "-C", sysroot, "-xf", os.path.join(folder, f"sysroot-{arch}.tar.zst")], check=True)
            golden = common.text_of(os.path.join(folder, "golden", name + (".script" if LIMITS[name][0] == "6.1" else ".script-7.2")))
            recording = recording_of(folder, corpus, name, scratch)
            text = script(perfdata, sysroot, recording)
            good &= judge(name, samples(text), samples(golden), args.verbose)
            good &= witness.agrees(name, recording, sysroot)
            others = differing_forms(perfdata, sysroot, recording, text, scratch)
            if name not in NO_BUILD_ID and not index_serves(perfdata, sysroot, recording, text, scratch):
                others.append("with an index")
            if others:
                print(f"DIFFER {name}: {', '.join(others)}")
                good = False
    good &= bool(args.only) or witness.ends_well()
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
