#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Packs recordings here and reads the bundles where nothing else is: both must show the same.

usage: pack.py PERFDATA [--only PATTERNS] [--folder FOLDER]

Recordings are made on the spot, of tests/perf/record.py and some more. Each is packed; then the commands below run here
on the recording, and in an empty root (chroot) that has perfdata, its libraries and the bundle under the name of the
recording. Their outputs must be the same bytes. Also:

- the bundle again, packed a second time, is the same bytes; a bundle packed from the bundle has the same members;
- tar and Python read it, what tar unpacks is what perfdata unpack makes, and perfdata reads that with --symfs;
- real perf finds symbols in it by --buildid-dir when the programs are gone;
- the other forms: compressed, from a pipe, with --objects full, with --all;
- what perf archive makes is read beside the recording, and by --archive.

Exit status: 0 all that, 1 not, 77 no perf that can record, or no way to change the root.
"""

import argparse
import difflib
import fnmatch
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "perf"))
import record  # noqa: E402

COMMANDS = {
    "report": ["report"],
    "report callers": ["report", "--no-children", "-g", "caller"],
    "report srcline": ["report", "--no-children", "-g", "none", "-s", "comm,dso,sym,srcline"],
    "script": ["script"],
    "script lines": ["script", "-F", "+srcline"],
    "script all": ["script", "-F", "comm,pid,tid,cpu,time,event,ip,sym,symoff,dso"],
    "folded": ["folded"],
    "folded inlined": ["folded", "--inline"],
    "flame": ["flame"],
    "info": ["info"],
    "check": ["check"],
}
# Words that some recordings need
MORE = {"addresses": {"script addresses": ["script", "-F", "+addr"]}}
NAMES = ("chain,inline,cpp,jit,jitdump,python,stripped,no-build-id,debug-file,deleted,vdso,library,kernel,dwarf,events,"
         "addresses,zstd,pipe,directory,no-build-ids,everybody")

PYTHON = """
import ctypes, mmap, os, platform
code = {"x86_64": "4889f848ffc875fbc3", "aarch64": "000400f1e1ffff54c0035fd6"}[platform.machine()]
memory = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
memory.write(bytes.fromhex(code))
address = ctypes.addressof(ctypes.c_char.from_buffer(memory))
with open(f"/tmp/perf-{os.getpid()}.map", "w") as f:
    f.write(f"{address:x} 10 py::spin in python\\n")
spin = ctypes.CFUNCTYPE(ctypes.c_long, ctypes.c_long)(address)
for i in range(20):
    spin(10000000)
"""
RECORDINGS = [
    record.Recording("jitdump", f"P {record.CHAIN} -k CLOCK_MONOTONIC $BIN/jitdump $BIN", ""),
    record.Recording("python", f"P {record.CHAIN} python3 $BIN/spin.py", ""),
]
record.PROGRAMS["jitdump"] = f"gcc {record.FRAMES} {HERE}/../inject/program.c -o jitdump"


def run(words, **more):
    return subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False, **more)


class Elsewhere:
    """A root with nothing but perfdata."""

    def __init__(self, perfdata, root):
        self.root = root
        self.words = ([] if os.geteuid() == 0 else ["unshare", "-r"]) + [shutil.which("chroot") or "/usr/sbin/chroot", root]
        os.makedirs(os.path.join(root, "tmp"))
        shutil.copy(perfdata, os.path.join(root, "perfdata"))
        for path in re.findall(r"(/\S+)", run(["ldd", perfdata]).stdout.decode()):
            os.makedirs(os.path.dirname(root + path), exist_ok=True)
            shutil.copy(path, root + path)

    def works(self):
        return run([*self.words, "/perfdata", "version"]).returncode == 0

    def put(self, path, name):
        target = os.path.join(self.root, name)
        if os.path.isdir(target) and not os.path.islink(target):
            shutil.rmtree(target)
        shutil.copy(path, target)

    def perfdata(self, words, **more):
        env = {"LC_ALL": "C", "TERM": "dumb", "HOME": "/home", "TZ": "UTC"}
        return run([*self.words, "/perfdata", *words], env=env, **more)


class Test:
    def __init__(self, perfdata, recorder, elsewhere):
        self.tool = perfdata
        self.recorder = recorder
        self.elsewhere = elsewhere
        self.wrong = 0
        self.compared = 0
        self.cases = 0

    def fail(self, what, why):
        self.wrong += 1
        print(f"FAIL {what}: {why}", flush=True)

    def same(self, what, here, there):
        """Results of the same command in both places."""
        self.compared += 1
        if here.returncode != there.returncode:
            why = there.stderr.decode("utf-8", "replace").strip()
            self.fail(what, f"exit code {there.returncode}, here {here.returncode}: {why[:300]}")
        elif here.stdout != there.stdout:
            lines = difflib.unified_diff(here.stdout.decode("utf-8", "replace").splitlines(),
                                         there.stdout.decode("utf-8", "replace").splitlines(), "here", "there", "", "", 0, "")
            self.fail(what, "\n".join(list(lines)[:12]))

    def home(self, words, **more):
        env = {**self.recorder.environment(), "TZ": "UTC"}
        return run([self.tool, *words], cwd=self.recorder.folder, env=env, **more)

    def pack(self, name, output, *words, **more):
        done = self.home(["pack", "-q", "-o", output, *words, *([] if "-i" in words else [name])], **more)
        if done.returncode:
            self.fail(f"{name} pack", done.stderr.decode("utf-8", "replace")[:300])
        return done.returncode == 0

    def member(self, bundle, name):
        with tarfile.open(os.path.join(self.recorder.folder, bundle)) as archive:
            return archive.extractfile(name).read()

    # ---- one recording ----

    def compare(self, what, name, commands):
        for title, words in commands.items():
            self.same(f"{what} {title}", self.home([*words, "-i", name]), self.elsewhere.perfdata([*words, "-i", name]))

    def recording(self, recording):
        path, why = self.recorder.get(recording)
        if not path:
            print(f"SKIP {recording.name}: {why}")
            return
        name, bundle = os.path.basename(path), f"{recording.name}.tar"
        if not self.pack(name, bundle):
            return
        self.cases += 1
        self.elsewhere.put(os.path.join(self.recorder.folder, bundle), name)
        self.compare(recording.name, name, {**COMMANDS, **MORE.get(recording.name, {})})
        self.again(name, bundle)
        self.manifest(name, bundle)

    def again(self, name, bundle):
        """The same bytes each time, and no loss from bundle to bundle."""
        folder = self.recorder.folder
        if not self.pack(name, "again.tar") or not self.pack(bundle, "copy.tar"):
            return
        self.compared += 2
        with open(f"{folder}/{bundle}", "rb") as a, open(f"{folder}/again.tar", "rb") as b:
            if a.read() != b.read():
                self.fail(f"{name} again", "the second bundle has other bytes")
        with tarfile.open(f"{folder}/{bundle}") as a, tarfile.open(f"{folder}/copy.tar") as b:
            left, right = ({m.name: (m.size, m.linkname, a_or_b.extractfile(m).read() if m.isreg() else None)
                            for m in a_or_b if m.name != "manifest.json"} for a_or_b in (a, b))
            different = {n for n in {**left, **right} if left.get(n) != right.get(n)}
            if different:
                self.fail(f"{name} copy", f"differ: {sorted(different)[:8]}")

    def manifest(self, name, bundle):
        """It says what is there, and what is missing is nothing that symbols were found for here."""
        self.compared += 1
        manifest = json.loads(self.member(bundle, "manifest.json"))
        with tarfile.open(f"{self.recorder.folder}/{bundle}") as archive:
            names = set(archive.getnames())
        listed = {f["name"] for o in manifest["objects"] for f in o["files"] if f["name"]}
        files = {n for n in names if not n.startswith("perf.data") and n != "manifest.json"}
        for lost in sorted(listed - names):
            self.fail(f"{name} manifest", f"{lost} is not in the bundle")
        for extra in sorted(files - listed):
            with tarfile.open(f"{self.recorder.folder}/{bundle}") as archive:
                if not archive.getmember(extra).issym():
                    self.fail(f"{name} manifest", f"{extra} is not in the manifest")

    # ---- the other forms ----

    def forms(self, recording):
        """Compressed, from a pipe, full, all."""
        path, _ = self.recorder.get(recording)
        name = os.path.basename(path)
        kept = {title: COMMANDS[title] for title in ("report", "script lines")}
        forms = {"x.tar.zst": [], "z.tar": ["-z", "--level", "19"], "full.tar": ["--objects", "full"], "all.tar": ["--all"],
                 "threads.tar": ["--threads", "1"]}
        for output, words in forms.items():
            if self.pack(name, output, *words):
                self.elsewhere.put(os.path.join(self.recorder.folder, output), name)
                self.compare(f"{recording.name} {output}", name, kept)
        with open(path, "rb") as data:
            if self.pack("-", "piped.tar", "-i", "-", stdin=data):
                self.elsewhere.put(os.path.join(self.recorder.folder, "piped.tar"), "piped.tar")
                script = [*COMMANDS["script lines"], "-i"]
                self.same(f"{recording.name} from a pipe", self.home([*script, name]), self.elsewhere.perfdata([*script, "piped.tar"]))
        with open(os.path.join(self.recorder.folder, "x.tar.zst"), "rb") as bundle:
            self.same(f"{recording.name} to a pipe", self.home(["script", "-i", name]),
                      self.elsewhere.perfdata(["script", "-i", "-"], stdin=bundle))
        written = self.home(["pack", "-q", "-o", "-", name])
        self.compared += 1
        if not self.pack(name, "file.tar"):
            return
        with open(f"{self.recorder.folder}/file.tar", "rb") as f:
            if written.stdout != f.read():
                self.fail(f"{recording.name} standard output", "other bytes than in a file")

    def unpacked(self, recording):
        """Directories that tar and perfdata make, and perfdata with --symfs in them."""
        folder, bundle = self.recorder.folder, f"{recording.name}.tar"
        for made in ("by-tar", "by-perfdata"):
            shutil.rmtree(f"{folder}/{made}", ignore_errors=True)
        os.mkdir(f"{folder}/by-tar")
        done = [run(["tar", "xf", bundle, "-C", "by-tar"], cwd=folder), self.home(["unpack", "-q", bundle, "-o", "by-perfdata"]),
                run(["diff", "-r", "--no-dereference", "by-tar", "by-perfdata"], cwd=folder)]
        self.compared += 1
        for one in done:
            if one.returncode or one.stdout or one.stderr:
                self.fail(f"{recording.name} {one.args[0]}", (one.stdout + one.stderr).decode("utf-8", "replace")[:300])
        if done[1].returncode:
            return
        for there in ("by-tar", "by-perfdata"):
            shutil.rmtree(f"{self.elsewhere.root}/{there}", ignore_errors=True)
            shutil.copytree(f"{folder}/{there}", f"{self.elsewhere.root}/{there}", symlinks=True)
            words = ["script", "-F", "+srcline", "--symfs", there, "--buildid-dir", there, "-i"]
            self.same(f"{recording.name} --symfs {there}", self.home(["script", "-F", "+srcline", "-i", f"{recording.name}.data"]),
                      self.elsewhere.perfdata([*words, f"{there}/perf.data"]))

    def by_perf(self, recording):
        """Real perf, when the program is gone, must name its functions from what was unpacked."""
        folder = self.recorder.folder
        program = recording.command.split("$BIN/")[1].split()[0]
        words = ["script", "-F", "ip,sym", "-i"]
        env = {**self.recorder.environment(), "HOME": "/nonexistent"}
        here = run(["perf", *words, f"{recording.name}.data"], cwd=folder, env=self.recorder.environment())
        os.rename(f"{folder}/bin/{program}", f"{folder}/bin/hidden")
        there = run(["perf", "--buildid-dir", f"{folder}/by-tar", *words, "by-tar/perf.data"], cwd=folder, env=env)
        without = run(["perf", "--buildid-dir", "/nonexistent", *words, "by-tar/perf.data"], cwd=folder, env=env)
        os.rename(f"{folder}/bin/hidden", f"{folder}/bin/{program}")
        self.same(f"{recording.name} by perf", here, there)
        self.compared += 1
        if without.stdout == here.stdout:
            self.fail(f"{recording.name} by perf", "perf needs nothing of the bundle")

    # ---- what perf archive makes ----

    def archive(self, recording):
        path, _ = self.recorder.get(recording)
        name, folder = os.path.basename(path), self.recorder.folder
        done = run(["perf", "archive", name], cwd=folder, env={**self.recorder.environment(), "PERF_BUILDID_DIR": f"{self.recorder.home}/.debug"})
        made = f"{folder}/{name}.tar.bz2"
        if done.returncode or not os.path.exists(made):
            print(f"SKIP perf archive: {done.stderr.decode('utf-8', 'replace').strip()[:100]}")
            return
        words = ["script", "-F", "comm,tid,time,event,ip,sym,symoff,dso"]
        # only the cache has what perf archive takes
        here = self.home([*words, "--no-index", "--symfs", f"{folder}/none", "--debug-path", f"{folder}/none", "-i", name])
        self.elsewhere.put(path, name)
        self.elsewhere.put(made, "symbols.tar.bz2")
        alone = self.elsewhere.perfdata([*words, "--no-index", "-i", name])
        self.same(f"{recording.name} perf archive by --archive", here,
                  self.elsewhere.perfdata([*words, "--no-index", "--archive", "symbols.tar.bz2", "-i", name]))
        self.elsewhere.put(made, f"{name}.tar.bz2")
        self.same(f"{recording.name} perf archive beside", here, self.elsewhere.perfdata([*words, "--no-index", "-i", name]))
        # as perf archive --all has it
        run(["cp", made, "perf.symbols.tar.bz2"], cwd=folder)
        run(["tar", "cjf", "all.tar.bz2", name, "perf.symbols.tar.bz2"], cwd=folder)
        self.elsewhere.put(f"{folder}/all.tar.bz2", "all.tar.bz2")
        self.same(f"{recording.name} perf archive --all", here, self.elsewhere.perfdata([*words, "--no-index", "-i", "all.tar.bz2"]))
        self.compared += 1
        if alone.stdout == here.stdout:
            self.fail(f"{recording.name} perf archive", "the recording alone shows as much")
        os.unlink(f"{self.elsewhere.root}/{name}.tar.bz2")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("perfdata", type=os.path.abspath)
    parser.add_argument("--only", default=NAMES)
    parser.add_argument("--folder")
    args = parser.parse_args()
    why = record.perf_missing()
    if why:
        print(f"SKIP: {why}")
        return 77
    with tempfile.TemporaryDirectory(prefix="perfdata-pack-") as temporary:
        recorder = record.Recorder(args.folder or f"{temporary}/recordings")
        with open(f"{recorder.bin}/spin.py", "w", encoding="utf-8") as f:
            f.write(PYTHON)
        elsewhere = Elsewhere(args.perfdata, f"{temporary}/root")
        if not elsewhere.works():
            print("SKIP: the root cannot be changed here")
            return 77
        test = Test(args.perfdata, recorder, elsewhere)
        every = {one.name: one for one in record.RECORDINGS + RECORDINGS}
        wanted = args.only.split(",")
        for name, one in every.items():
            if any(fnmatch.fnmatch(name, word) for word in wanted):
                test.recording(one)
        for name in ("debug-file", "inline"):
            if name in wanted and recorder.get(every[name])[0]:
                test.forms(every[name])
                test.unpacked(every[name])
        if "inline" in wanted and recorder.get(every["inline"])[0]:
            test.by_perf(every["inline"])
        if "chain" in wanted and recorder.get(every["chain"])[0]:
            test.archive(every["chain"])
        print(f"{test.cases} recordings, {test.compared} comparisons, {test.wrong} wrong")
        return 1 if test.wrong or not test.cases else 0


if __name__ == "__main__":
    sys.exit(main())
