#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Modules of the kernel in bundles: plain and compressed ones, named as the kernel does it, of a tree made on the spot.

usage: modules.py PERFDATA CC...

What report, script and folded print with the tree beside the recording is what they print of the bundle where there is no
tree. Exit status: 0 it is; 1 not; 77 objects cannot be linked here.
"""

import os
import shutil
import subprocess
import sys
import tempfile

RELEASE = "6.1.0-test"
HOME = f"lib/modules/{RELEASE}/kernel/drivers"
BASE = 0xFFFFFFFFC0000000
SIZE = 0x4000
SOURCE = """
__attribute__((noinline)) int {name}_inner(int x) {{ int s = 0; while (x) s += x--; return s; }}
__attribute__((noinline)) int {name}_outer(int x) {{ return {name}_inner(x) + 1; }}
"""
PACKERS = {"ko": None, "ko.xz": ["xz", "--check=crc32"], "ko.gz": ["gzip"], "ko.zst": ["zstd", "-q", "--rm"]}
LIBRARIES = {"ko.xz": "liblzma", "ko.gz": "zlib", "ko.zst": "zstd"}
COMMANDS = (
    ["report", "-q", "--no-children", "-g", "none", "-s", "dso,sym"],
    ["script", "-F", "comm,ip,sym,symoff,dso"],
    ["folded"],
)


def run(words, **more):
    return subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False, **more)


def make_module(cc, folder, name, kind):
    """(build id, offset of the inner function) of a module in the tree, or None."""
    path = os.path.join(folder, "tree", HOME, name + ".ko")
    source = os.path.join(folder, name + ".c")
    with open(source, "w", encoding="utf-8") as f:
        f.write(SOURCE.format(name=name))
    made = run([*cc, "-O1", "-g", "-r", "-nostdlib", "-fno-pic", "-Wl,--build-id=sha1", "-o", path, source])
    notes = run(["readelf", "-n", path]).stdout.decode()
    symbols = run(["readelf", "-sW", path]).stdout.decode()
    if made.returncode or "Build ID:" not in notes:
        return None
    inner = next(line.split() for line in symbols.splitlines() if line.endswith(f" {name}_inner"))
    if PACKERS[kind] and run([*PACKERS[kind], path]).returncode:
        return None
    return notes.split("Build ID:")[1].split()[0], int(inner[1], 16)


def recording(modules):
    """Text for perfdata assemble. modules: (name, kind, build id, offset)."""
    text = [
        "header form: file, byte_order: little",
        'event {name: "cpu-clock", type: software, sample_period: 1000, sample_type: IP|TID|TIME|PERIOD, '
        "flags: mmap|comm|task|sample_id_all|mmap2}",
        f'feature OSRELEASE {{value: "{RELEASE}"}}',
        'MMAP misc: kernel pid: -1, tid: 0, addr: 0xffffffff81000000, len: 0x1000000, pgoff: 0xffffffff81000000, '
        'filename: "[kernel.kallsyms]_text"',
        'COMM pid: 7, tid: 7, comm: "busy", sample_id: {pid: 7, tid: 7, time_ns: 0.000000001}',
    ]
    for number, (name, kind, build_id, offset) in enumerate(modules):
        base = BASE + number * 2 * SIZE
        text.append(
            f'MMAP2 misc: kernel|MMAP_BUILD_ID pid: -1, tid: 0, addr: {base:#x}, len: {SIZE:#x}, pgoff: 0x0, '
            f'build_id_size: {len(build_id) // 2}, build_id: x"{build_id}", prot: READ|EXEC, flags: PRIVATE, '
            f'filename: "/{HOME}/{name}.{kind}", sample_id: {{pid: 0, tid: 0, time_ns: 0.000000002}}'
        )
        text += [
            f"SAMPLE misc: kernel ip: {base + offset + at:#x}, pid: 7, tid: 7, time_ns: 0.00000{number}1{at:02}, period: 1000"
            for at in (0, 1, 4)
        ]
    return "\n".join(text) + "\n"


def main():
    perfdata, cc = os.path.abspath(sys.argv[1]), sys.argv[2:]
    built = run([perfdata, "version", "--build"]).stdout.decode()
    kinds = [kind for kind in PACKERS if kind not in LIBRARIES or f"\n{LIBRARIES[kind]} " in built]
    kinds = [kind for kind in kinds if not PACKERS[kind] or shutil.which(PACKERS[kind][0])]
    failures = 0
    with tempfile.TemporaryDirectory(prefix="modules-") as folder:
        os.makedirs(os.path.join(folder, "tree", HOME))
        os.mkdir(os.path.join(folder, "empty"))
        modules = []
        for number, kind in enumerate(kinds):
            made = make_module(cc, folder, f"module{number}", kind)
            if not made:
                print(f"SKIP: {kind}: no module can be made here")
                continue
            modules.append((f"module{number}", kind, *made))
        if not modules:
            sys.exit(77)
        data, bundle = (os.path.join(folder, name) for name in ("perf.data", "perf.tar"))
        made = run([perfdata, "assemble", "-o", data, "-"], input=recording(modules).encode())
        packed = run([perfdata, "pack", "--symfs", os.path.join(folder, "tree"), "--no-index", "-o", bundle, data])
        if made.returncode or packed.returncode:
            sys.exit((made.stderr + packed.stderr).decode())
        for command in COMMANDS:
            here = run([perfdata, *command, "--no-index", "--symfs", os.path.join(folder, "tree"), "-i", data])
            there = run([perfdata, *command, "--no-index", "--symfs", os.path.join(folder, "empty"), "-i", bundle])
            names = [name for name, *_ in modules if f"{name}_inner".encode() not in here.stdout]
            if here.returncode or names:
                failures += 1
                print(f"{' '.join(command)}: not found here: {names}: {here.stdout.decode()[:500]}{here.stderr.decode()[:500]}")
            if here.stdout != there.stdout or there.returncode:
                failures += 1
                print(f"{' '.join(command)}: elsewhere: {there.stdout.decode()[:1000]}{there.stderr.decode()[:500]}")
    print(f"{len(modules)} modules ({', '.join(kind for _, kind, *_ in modules)}), {len(COMMANDS)} commands, {failures} failures")
    sys.exit(bool(failures))


if __name__ == "__main__":
    main()
