#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""PerfDataProto: the values of quipper, and recordings that come back from it.

usage: quipper.py PERFDATA RECORDING... [--corpus CORPUS] [--converter PROGRAM]

For every recording: its proto, imported and exported again, is the same but for bits of metadata_mask whose features the proto
does not hold; binary and text import to the same file; records that the proto has all fields of come back byte for byte. For every
file of the corpus with the text of quipper: the same values, see quipper_text.py. With quipper's perf_converter: it reads ours,
and we read its. Mutants of protos never crash. Exit status: 0 all is so, 1 not.
"""

import argparse
import glob
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "corpus"))

import common  # noqa: E402
import quipper_text  # noqa: E402

LARGEST = 4 << 20  # of a recording of the corpus
MUTANTS = 40
# Fields of records that the proto lacks.
LACKED = {"AUXTRACE_ERROR": ("fmt", "time_ns")}
FINE = (0, 1)  # exit codes: all is well, or the recording is damaged


class Tester:
    def __init__(self, perfdata, folder):
        self.perfdata, self.folder, self.failures, self.counted = perfdata, folder, [], 0

    def path(self, name):
        return os.path.join(self.folder, name)

    def run(self, *words):
        done = subprocess.run([self.perfdata, *words], capture_output=True, timeout=300)
        if done.returncode < 0 or b"Sanitizer" in done.stderr:
            self.failures.append(f"{words}: crashed: {done.stderr[:300]}")
        return done.returncode

    def text(self, recording):
        out = self.path("out.txt")
        code = self.run("export", "-q", "--to", "quipper-text", "-o", out, recording)
        if code not in FINE:
            return None
        with open(out, encoding="ascii") as f:
            return f.read()

    def imported(self, format_name, source, name):
        out = self.path(name)
        return out if self.run("import", "--from", format_name, "-o", out, source) in FINE else None

    # ---- what is asked ----

    def round_trip(self, recording, label):
        first = self.text(recording)
        if first is None or "events {" not in first:
            return
        self.counted += 1
        shutil.copy(self.path("out.txt"), self.path("first.txt"))
        from_text = self.imported("quipper-text", self.path("first.txt"), "from-text.data")
        if self.run("export", "-q", "--to", "quipper", "-o", self.path("first.pb"), recording) not in FINE:
            self.failures.append(f"{label}: no binary proto")
            return
        from_binary = self.imported("quipper", self.path("first.pb"), "from-binary.data")
        if not from_text or not from_binary:
            self.failures.append(f"{label}: cannot be imported")
            return
        with open(from_text, "rb") as a, open(from_binary, "rb") as b:
            if a.read() != b.read():
                self.failures.append(f"{label}: text and binary import to different files")
        second = self.text(from_text)
        if second is None:
            self.failures.append(f"{label}: cannot be exported again")
            return
        self.compare(first, second, label)
        self.compare_records(recording, from_text, label)

    def compare(self, first, second, label):
        masks = [[int(line.split()[1]) for line in text.splitlines() if line.startswith("metadata_mask")]
                 for text in (first, second)]
        if masks[1][0] & ~masks[0][0]:
            self.failures.append(f"{label}: metadata_mask {masks[0]} became {masks[1]}")
        plain = ["\n".join(line for line in text.splitlines() if not line.startswith("metadata_mask"))
                 for text in (first, second)]
        if plain[0] != plain[1]:
            found = quipper_text.differences(*plain, exact=True)
            self.failures.append(f"{label}: {found[:2] or 'the same values in another order'}")

    def records(self, recording):
        """Types and contents in the order of the file."""
        done = subprocess.run([self.perfdata, "dump", "--json", recording], capture_output=True, timeout=300)
        found = []
        for line in done.stdout.decode(errors="replace").splitlines():
            try:
                record = json.loads(line.rstrip(","))
            except ValueError:
                continue
            if isinstance(record, dict) and "type" in record:
                for name in LACKED.get(record["type"], ()):
                    record["fields"].pop(name, None)
                found.append({key: value for key, value in record.items() if key in ("type", "size", "misc", "fields")})
        return found

    def compare_records(self, recording, made, label):
        """Record for record, for those that the proto has all fields of."""
        original, came_back = self.records(recording), self.records(made)
        kinds = {json.dumps(record["type"]) for record in came_back}
        original = [record for record in original if json.dumps(record["type"]) in kinds]
        if len(original) != len(came_back):
            self.failures.append(f"{label}: {len(original)} records became {len(came_back)}")
            return
        for a, b in zip(original, came_back):
            text = json.dumps(a)
            if a != b and not any(name in text for name in ("user_regs", "user_stack", "intr_regs", '"aux"')):
                self.failures.append(f"{label}: a record became another: {text[:300]} / {json.dumps(b)[:300]}")
                return

    def expected(self, recording, text, label):
        self.counted += 1
        ours = self.text(recording)
        found = quipper_text.differences(ours, text) if ours is not None else ["cannot be exported"]
        self.failures += [f"{label}: {line}" for line in found[:5]]

    def converter(self, program, recording, label):
        """quipper itself reads what we write."""
        self.counted += 1
        if self.run("export", "-q", "--to", "quipper", "-o", self.path("ours.pb"), recording) not in FINE:
            return
        done = subprocess.run([program, "-i", self.path("ours.pb"), "-I", "proto", "-o", self.path("theirs.txt"), "-O", "text"],
                              capture_output=True, timeout=300)
        if done.returncode:
            self.failures.append(f"{label}: perf_converter: {done.stderr.decode(errors='replace')[-300:]}")
            return
        with open(self.path("theirs.txt"), encoding="ascii") as theirs:
            found = quipper_text.differences(self.text(recording), theirs.read())
        self.failures += [f"{label}: perf_converter reads {line}" for line in found[:3]]

    def remapped(self, recording, label):
        """Each address is as far in its mapping as before, and all mappings are in a space as large as they are."""
        out = self.path("remapped.txt")
        original = self.text(recording)
        if original is None or self.run("export", "-q", "--to", "quipper-text", "--remap", "-o", out, recording) not in FINE:
            return
        with open(out, encoding="ascii") as f:
            remapped = f.read()
        self.counted += 1
        # by time, as each alone would be
        pairs = list(zip(*(sorted((value for name, value in quipper_text.parsed(text) if name == "events"), key=quipper_text.time_of)
                           for text in (original, remapped))))
        total, known, failed = 0, [], 0
        for before, after in pairs:
            if quipper_text.is_mapping(before):
                (_, start, end), (_, new, new_end) = quipper_text.span(before), quipper_text.span(after)
                start += end - start - (new_end - new)  # the kernel begins later than its mapping
                known.append((quipper_text.one_of(before, "events/mmap_event/pid"), start, end, new))
                total += end - start + 4096
                failed += new > total
            ip, new = (int(quipper_text.one_of(event, "events/sample_event/ip", "-1")) for event in (before, after))
            pid = quipper_text.one_of(before, "events/sample_event/pid")
            inside = [to + ip - start for owner, start, end, to in known if owner in (pid, "4294967295") and start <= ip < end]
            failed += ip >= 0 and inside != [] and new not in inside
        if failed or "did_remap: true" not in remapped:
            self.failures.append(f"{label}: {failed} addresses are not where they belong")

    def mutants(self, recording, label):
        """Whatever the bytes are, there is an answer."""
        for name in ("quipper", "quipper-text"):
            if self.run("export", "-q", "--to", name, "-o", self.path("whole"), recording) not in FINE:
                continue
            with open(self.path("whole"), "rb") as f:
                whole = f.read()
            chance = random.Random(label + name)
            for _ in range(MUTANTS):
                data = bytearray(whole)
                for _ in range(chance.randrange(1, 9)):
                    at = chance.randrange(len(data))
                    data[at:at + chance.randrange(3)] = bytes(chance.randrange(256) for _ in range(chance.randrange(3)))
                with open(self.path("mutant"), "wb") as f:
                    f.write(data)
                self.imported(name, self.path("mutant"), "mutant.data")
                self.counted += 1


def unpacked(path, folder):
    """The file, and its name without .zst."""
    if not path.endswith(".zst"):
        return path
    out = os.path.join(folder, os.path.basename(path)[:-4])
    with open(out, "wb") as f:
        subprocess.run(["zstd", "-dcq", path], stdout=f, check=True)
    return out


def corpus_files(corpus):
    """All that quipper wrote texts for, and others; fewer of these where the environment says so, as ./test does."""
    for name, every in (("thirdparty/perf_data_converter", 1), ("recorded", common.limits()[1])):
        for path in (sorted(glob.glob(os.path.join(corpus, name, "perf.data.*"))) +
                     sorted(glob.glob(os.path.join(corpus, name, "*.data"))))[::every]:
            plain = path[:-4] if path.endswith(".zst") else path
            if os.path.isfile(path) and os.path.getsize(path) < LARGEST and not plain.endswith((".pb_text", ".buildids")):
                yield path, plain


def from_corpus(tester, corpus, converter):
    for path, plain in corpus_files(corpus):
        label = os.path.basename(plain)
        recording = unpacked(path, tester.folder)
        texts = [name for name in (plain + ".pb_text", plain + ".pb_text.zst") if os.path.exists(name)]
        if texts:
            with open(unpacked(texts[0], tester.folder), encoding="ascii") as f:
                tester.expected(recording, f.read(), label)
            tester.remapped(recording, label)
            if converter:
                tester.converter(converter, recording, label)
        tester.round_trip(recording, label)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("perfdata")
    parser.add_argument("recordings", nargs="*")
    parser.add_argument("--corpus")
    parser.add_argument("--converter")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        tester = Tester(os.path.abspath(args.perfdata), folder)
        for recording in args.recordings:
            tester.round_trip(recording, os.path.basename(recording))
            tester.remapped(recording, os.path.basename(recording))
            tester.mutants(recording, os.path.basename(recording))
        if args.corpus and os.path.isdir(args.corpus) and shutil.which("zstd"):
            from_corpus(tester, args.corpus, args.converter if args.converter and os.path.exists(args.converter) else None)
    print("\n".join(tester.failures[:40]) or f"{tester.counted} protos have the values of their recordings, and come back")
    return 1 if tester.failures or not tester.counted else 0


if __name__ == "__main__":
    sys.exit(main())
