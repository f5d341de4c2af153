#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Gives perfdata tar files that nobody sound makes.

usage: hostile.py PERFDATA DATA

DATA is a recording. Each case says what a command must print on stderr, its exit code, and which files unpacking makes.
Nothing may be written outside of the directory that unpack makes, and memory stays small. Exit status: 0 all is so, 1 not.
"""

import io
import json
import os
import resource
import subprocess
import sys
import tarfile
import tempfile

FILE, HARD, SYMBOLIC, FOLDER, DEVICE = tarfile.REGTYPE, tarfile.LNKTYPE, tarfile.SYMTYPE, tarfile.DIRTYPE, tarfile.CHRTYPE
MEMORY = 300 << 20  # bytes of address space that are enough for 100,000 members


def member(name, data=b"", kind=FILE, link="", pax=None, size=None, **more):
    info = tarfile.TarInfo(name)
    info.size = len(data)
    info.type = kind
    info.linkname = link
    info.pax_headers = pax or {}
    for key, value in more.items():
        setattr(info, key, value)
    return info, data, size


def fix(block):
    """With the right checksum."""
    block = bytearray(block)
    block[148:156] = b" " * 8
    block[148:156] = b"%06o\0 " % sum(block)
    return bytes(block)


def tar(members, end=True):
    out = io.BytesIO()
    for info, data, size in members:
        head = info.tobuf(tarfile.PAX_FORMAT if info.pax_headers else tarfile.GNU_FORMAT)
        if size is not None:
            head = head[:-512] + fix(head[-512:][:124] + size + head[-512:][136:])
        out.write(head + data + b"\0" * (-len(data) % 512))
    return out.getvalue() + b"\0" * (1024 if end else 0)


def sparse(name, real, numbers, data=b""):
    text = "".join(f"{n}\n" for n in numbers).encode()
    pax = {"GNU.sparse.major": "1", "GNU.sparse.minor": "0", "GNU.sparse.name": name, "GNU.sparse.realsize": str(real)}
    return member("GNUSparseFile.0/x", text + b"\0" * (-len(text) % 512) + data, pax=pax)


class Test:
    def __init__(self, tool, data, folder):
        self.tool, self.folder = tool, folder
        with open(data, "rb") as f:
            self.data = f.read()
        self.count = self.wrong = 0

    def run(self, *words):
        limit = None if os.environ.get("ASAN_OPTIONS") or b"__asan_init" in open(self.tool, "rb").read() else MEMORY
        return subprocess.run([self.tool, *words], cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False,
                              env={**os.environ, "HOME": f"{self.folder}/home", "LC_ALL": "C"}, text=True, errors="replace",
                              preexec_fn=limit and (lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit))))

    def expect(self, what, done, code, *parts):
        self.count += 1
        lost = [part for part in parts if part not in done.stderr + done.stdout]
        if done.returncode != code or lost:
            self.wrong += 1
            print(f"FAIL {what}: exit code {done.returncode}, wanted {code}; lacks {lost}\n{done.stderr[:600]}")

    def put(self, content):
        with open(f"{self.folder}/x.tar", "wb") as f:
            f.write(content)

    def opens(self, what, members, code, *parts, end=True):
        """perfdata info of an archive."""
        self.put(tar(members, end))
        self.expect(what, self.run("info", "x.tar"), code, *parts)

    def unpacks(self, what, members, code, files, *parts):
        """Names and contents that unpack makes; a content of None is a link's."""
        self.put(tar(members))
        place = f"{self.folder}/made"
        subprocess.run(["rm", "-rf", place], check=True)
        before = self.outside()
        self.expect(what, self.run("unpack", "x.tar", "-o", "made"), code, *parts)
        made = {}
        for folder, _, names in os.walk(place):
            for name in names:
                path = os.path.join(folder, name)
                made[os.path.relpath(path, place)] = None if os.path.islink(path) else open(path, "rb").read()
        self.count += 1
        if made != files or self.outside() != before:
            self.wrong += 1
            print(f"FAIL {what}: made {made}, wanted {files}; outside {sorted(self.outside() ^ before)}")

    def outside(self):
        return {name for name in os.listdir(self.folder) if name != "made"} | set(os.listdir(f"{self.folder}/target"))


def names(test):
    perf = member("perf.data", test.data)
    out = "name outside of the archive"
    test.unpacks("names that lead out", [member("../up", b"1"), member("a/../../up", b"2"), member("/root", b"3"), member("./x//y/", kind=FOLDER),
                                         member("./x//y/./z", b"4")], 1, {"root": b"3", "x/y/z": b"4"}, "../up: skipped: " + out, "a/../../up")
    test.unpacks("links that lead out", [member("a", kind=SYMBOLIC, link="/etc"), member("b", kind=SYMBOLIC, link="../target"), member("c", kind=SYMBOLIC, link="d/../../target"),
                                         member("e/f", kind=SYMBOLIC, link="../c"), member("e/g", kind=SYMBOLIC, link="../../target")], 1, {"e/f": None},
                 "a: skipped: link to outside of the directory", "b: skipped", "c: skipped", "e/g: skipped")
    test.unpacks("files below links", [member("a", kind=SYMBOLIC, link="../target"), member("a/evil", b"1"), member("b", kind=SYMBOLIC, link="c"), member("b/evil", b"2")], 1,
                 {"a/evil": b"1", "b/evil": b"2"}, "b: skipped")
    test.unpacks("files below files", [member("a", b"1"), member("a/b", b"2"), member("c/d", b"3"), member("c", b"4")], 1, {"a": b"1", "c/d": b"3"}, "a/b: skipped", "c: skipped")
    test.unpacks("several of one name", [member("a", b"1"), member("./a", b"2"), member("a", kind=HARD, link="a"), member("b", kind=HARD, link="a"), member("a", b"333")], 0,
                 {"a": b"333", "b": b"2"})
    test.unpacks("hard links", [member("a", kind=HARD, link="b"), member("b", b"1"), member("c", kind=HARD, link="../target/x"), member("d", kind=HARD, link="d")], 1, {"b": b"1"},
                 "a: skipped: link to a missing file", "c: skipped: link to outside of", "d: skipped")
    test.unpacks("devices", [member("null", kind=DEVICE, devmajor=1, devminor=3), member("fifo", kind=tarfile.FIFOTYPE), member("old", b"", kind=b"S"), member("odd", b"", kind=b"Q")], 1, {},
                 "null: skipped: device file", "fifo: skipped", "old: skipped: sparse file of", "odd: skipped: unknown type")
    test.unpacks("long names", [member("x" * 300, b"1"), member("d/" * 120 + "e", b"2")], 1, {"d/" * 120 + "e": b"2"}, "File name too long")
    test.opens("links in a circle", [member("perf.data", kind=SYMBOLIC, link="a"), member("a", kind=SYMBOLIC, link="perf.data")], 3, "a tar file without perf.data")
    test.opens("a link to the recording", [member("perf.data", kind=SYMBOLIC, link="x/y/../z"), member("x/z", test.data)], 0, "host")
    test.opens("the last one counts", [member("perf.data", b"no recording"), perf], 0, "host")
    test.opens("a device", [member("perf.data", kind=DEVICE)], 3, "a tar file without perf.data")


def sizes(test):
    perf = member("perf.data", test.data)
    test.opens("larger than the file", [member("perf.data", test.data[:512], size=b"77777777777\0")], 1, "damaged-archive: the archive is truncated", end=False)
    test.opens("exabytes", [perf, member("y", b"1", size=b"\x80" + b"\0" * 3 + b"\x7f" + b"\xff" * 7)], 1, "damaged-archive: the archive is truncated")
    test.opens("negative", [perf, member("y", b"1", size=b"\xff" * 12)], 1, "damaged-archive: invalid header")
    test.opens("no digits", [perf, member("y", b"1", size=b"12x45678901\0")], 1, "damaged-archive: invalid header")
    test.opens("pax size", [member("perf.data", test.data, pax={"size": "18446744073709551615"}), perf], 0, "host")
    whole = tar([perf])
    for cut in (100, 512, 600, 5000):
        test.put(whole[:cut])
        test.expect(f"cut at {cut}", test.run("info", "x.tar"), 3 if cut < 600 else 1, "x.tar: ")
    test.put(whole[:700] + b"\xff" * 512 + whole[1212:])
    test.expect("damaged inside", test.run("check", "x.tar"), 1)
    test.put(fix(whole[:512])[:100] + b"\1" + fix(whole[:512])[101:] + whole[512:])
    test.expect("wrong checksum", test.run("info", "x.tar"), 3, "not a perf.data")
    test.opens("a large pax header", [member("x", pax={"comment": "y" * (2 << 20)}), perf], 3, "damaged-archive: a header is too large")


def holes(test):
    perf = member("perf.data", test.data)
    refused = "damaged sparse map"
    maps = {"more than there is": (10, [2, 0, 5, 5, 5], b"12345"), "overlapping": (10, [2, 0, 5, 4, 5], b"1234567890"), "backwards": (10, [2, 5, 5, 0, 5], b"1234567890"),
            "behind the end": (10, [1, 8, 5], b"12345"), "no numbers": (10, ["x"], b""), "a million": (1 << 30, [1000000], b""), "cut off": (10, [3, 0, 1], b"1"),
            "too large": (1 << 62, [1, 1 << 63, 1], b"1")}
    for what, (real, numbers, data) in maps.items():
        test.unpacks(f"holes: {what}", [sparse("x", real, numbers, data)], 1, {}, f"x: skipped: {refused}")
    test.unpacks("holes: a petabyte", [sparse("x", 1 << 50, [1, 0, 1], b"1")], 1, {}, "x: skipped: sparse file larger than the limit")
    test.unpacks("holes", [sparse("x", 12, [3, 2, 3, 5, 0, 8, 1], b"1234")], 0, {"x": b"\0\0" + b"123" + b"\0\0\0" + b"4" + b"\0\0\0"})
    test.opens("holes in the recording", [sparse("perf.data", 1000, [1, 0, 5], b"12345"), perf], 0, "host")
    test.opens("a recording with holes", [perf, sparse("perf.data", 1000, [1, 0, 5], b"12345")], 3, "perf.data has holes")


def many(test):
    perf = member("perf.data", test.data)
    empty = [member(f"d{i % 100}/{i}") for i in range(100000)]
    test.opens("100,000 members", [*empty, perf], 0, "host")
    test.opens("100,000 of one name", [*([member("x")] * 50000), *([member("x", kind=HARD, link="x")] * 50000), perf], 0, "host")
    links = [member(f"l{i}", kind=SYMBOLIC, link=f"l{i + 1}/l{i + 1}") for i in range(1000)]
    test.opens("1,000 links", [*links, member("perf.data", kind=SYMBOLIC, link="l0"), member("l1000", b"1")], 3, "without perf.data")


def objects(test):
    """What lies in a bundle is as hostile as what lies elsewhere."""
    perf = member("perf.data", test.data)
    places = ["usr/lib/x86_64-linux-gnu/libc.so.6", "[kernel.kallsyms]/kallsyms", "usr/bin/hot"]
    test.put(tar([perf, *[member(place, b"\x7fELF" + os.urandom(100)) for place in places]]))
    test.expect("objects that are none", test.run("report", "-q", "x.tar"), 0, "hot")
    test.put(tar([perf, *[member(place, kind=SYMBOLIC, link="perf.data") for place in places]]))
    test.expect("the recording as object", test.run("report", "-q", "x.tar"), 0, "hot")
    with open(f"{test.folder}/y.data", "wb") as f:
        f.write(test.data)
    test.put(b"no tar")
    test.expect("--archive", test.run("report", "--archive", "x.tar", "y.data"), 3, "x.tar: not a tar file")
    test.expect("--archive of nothing", test.run("report", "--archive", "none.tar", "y.data"), 3, "none.tar: cannot open")
    os.rename(f"{test.folder}/x.tar", f"{test.folder}/y.data.tar.gz")
    test.expect("no archive beside", test.run("report", "-q", "y.data"), 0, "hot")
    os.unlink(f"{test.folder}/y.data.tar.gz")


def outputs(test):
    """Neither input nor recordings are written over, nor directories that hold something."""
    with open(f"{test.folder}/y.data", "wb") as f:
        f.write(test.data)
    test.expect("pack over a recording", test.run("pack", "-q", "-o", "y.data", "y.data"), 2, "refusing to overwrite a perf.data file")
    test.expect("pack", test.run("pack", "-q", "-o", "z.tar", "y.data"), 0)
    test.expect("pack over its input", test.run("pack", "-q", "-o", "z.tar", "z.tar"), 2, "refusing to overwrite the input file")
    with open(f"{test.folder}/z.data", "wb") as f:
        f.write(test.data)
    test.expect("pack over another recording", test.run("pack", "-q", "-o", "z.data", "y.data"), 2, "refusing to overwrite a perf.data file")
    test.expect("unpack over something", test.run("unpack", "z.tar", "-o", "target"), 4, "target: already exists")
    test.expect("unpack no tar", test.run("unpack", "y.data", "-o", "new"), 3, "not a tar file")
    os.mkdir(f"{test.folder}/empty")
    test.expect("unpack into an empty directory", test.run("unpack", "z.tar", "-o", "empty/"), 0, "unpacked ")
    test.expect("unpack twice", test.run("unpack", "z.tar", "-o", "empty"), 4, "empty: already exists")
    test.expect("what was unpacked", test.run("info", "empty/perf.data"), 0, "host")
    test.count += 1
    if open(f"{test.folder}/empty/perf.data", "rb").read() != test.data:
        test.wrong += 1
        print("FAIL the recording changed")
    test.expect("no output", test.run("pack", "y.data"), 2, "no output given")
    test.expect("no such objects", test.run("pack", "--objects", "some", "-o", "q.tar", "y.data"), 2, "'some' is neither symbols nor full")
    test.expect("no such level", test.run("pack", "--level", "23", "-o", "q.tar", "y.data"), 2, "23 is not between")
    test.expect("no such folder", test.run("pack", "-q", "-o", "none/q.tar", "y.data"), 4, "none/q.tar: No such file")
    test.expect("a full device", test.run("pack", "-q", "-o", "/dev/full", "y.data"), 4, "No space left")


def unnamed(test):
    """An object that has no build id, and a path that cannot be its name in the bundle."""
    with open(test.tool, "rb") as f:
        code = f.read()
    note = b"\x04\0\0\0\x14\0\0\0\x03\0\0\0GNU\0"
    with open(f"{test.folder}/plain.data", "wb") as f:
        f.write(code.replace(note, note[:8] + b"\x77" + note[9:]))
    path = f"{test.folder}/target/../plain.data"
    lines = test.run("text", "y.data").stdout.replace("/tmp/perfdata-demo/hot\"", path + "\"").splitlines()
    with open(f"{test.folder}/text.data", "w", encoding="utf-8") as f:
        f.write("\n".join(line for line in lines if "build_id: x" not in line or path not in line))
    test.expect("a path that leads out", test.run("assemble", "-o", "moved.data", "text.data"), 0)
    done = test.run("pack", "-o", "w.tar", "moved.data")
    test.expect("an object without a name", done, 0, f"not packed: {path}: no build id, and its path is outside of the bundle")
    with tarfile.open(f"{test.folder}/w.tar") as bundle:
        objects = json.load(bundle.extractfile("manifest.json"))["objects"]
    left = [each["missing"] for each in objects if each["name"] == path]
    packed = sum(not each["missing"] for each in objects)
    test.expect("what the manifest says of it", done, 0, f"packed {packed} of {len(objects)} object")
    if left != ["no build id, and its path is outside of the bundle"]:
        test.wrong += 1
        print(f"FAIL the manifest says {left}")


def main():
    tool, data = (os.path.abspath(word) for word in sys.argv[1:])
    with tempfile.TemporaryDirectory(prefix="perfdata-hostile-") as folder:
        os.mkdir(f"{folder}/target")
        with open(f"{folder}/target/x", "wb"):
            pass
        test = Test(tool, data, folder)
        for part in (names, sizes, holes, many, objects, outputs, unnamed):
            part(test)
        left = sorted(name for name in os.listdir(folder) if "." in name and name.split(".")[-1] not in ("tar", "data"))
        if left:
            test.wrong += 1
            print(f"FAIL left behind: {left}")
        print(f"{test.count} checks, {test.wrong} wrong")
        return 1 if test.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
