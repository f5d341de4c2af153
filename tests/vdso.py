#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Names in the vdso: those of this machine's, if nothing says that another one was recorded.

usage: vdso.py PERFDATA

Each recording has one sample, in a function of the vdso. Exit status: 0 as expected, 1 not, 77 no vdso of 64 bits here.
"""

import ctypes
import os
import platform
import struct
import subprocess
import sys
import tempfile

AT_SYSINFO_EHDR = 33
BASE, LOW = 0x7F0000000000, 0x7F000000
OTHER_ID = "0123456789abcdef0123456789abcdef01234567"
NOTE, DYNSYM = 7, 11


def skip(why):
    print(f"SKIP: {why}")
    sys.exit(77)


class Vdso:
    """What the kernel mapped into this process: size, build id, and the name and address of a function."""

    def __init__(self):
        ask = ctypes.CDLL(None).getauxval
        ask.restype, ask.argtypes = ctypes.c_ulong, [ctypes.c_ulong]
        self.start = ask(AT_SYSINFO_EHDR)
        if not self.start or self.at(0, 6) != b"\x7fELF\2\1":
            skip("no vdso of 64 bits")
        sections_at, entry, count = *struct.unpack("<Q", self.at(40, 8)), *struct.unpack("<HH", self.at(58, 4))
        self.size = sections_at + entry * count
        self.sections = [struct.unpack("<IIQQQQIIQQ", self.at(sections_at + entry * i, 64)) for i in range(count)]
        self.id = next((i for i in map(self.build_id, self.sections) if i), None)
        self.functions = [one for section in self.sections if section[1] == DYNSYM for one in self.symbols(section)]
        if not self.functions:
            skip("the vdso has no functions")
        self.name, self.addr = self.functions[0]

    def at(self, offset, size):
        return ctypes.string_at(self.start + offset, size)

    def build_id(self, section):
        at, end = section[4], section[4] + section[5]
        while section[1] == NOTE and end - at > 12:
            name_size, size, kind = struct.unpack("<III", self.at(at, 12))
            body = at + 12 + (name_size + 3 & ~3)
            if kind == 3 and self.at(at + 12, name_size) == b"GNU\0":
                return self.at(body, size).hex()
            at = body + (size + 3 & ~3)
        return None

    def symbols(self, section):
        names = self.sections[section[6]][4]
        for offset in range(0, section[5], 24):
            name, info, _, shndx, addr, size = struct.unpack("<IBBHQQ", self.at(section[4] + offset, 24))
            if info & 15 == 2 and info >> 4 == 1 and shndx and size > 1:
                yield ctypes.string_at(self.start + names + name).decode(), addr


def stext():
    """Where the kernel is, 0 if it is not shown."""
    with open("/proc/kallsyms", encoding="ascii") as file:
        return next((int(line.split()[0], 16) for line in file if line.split()[2] in ("_stext", "_text")), 0)


class Scene:
    def __init__(self, perfdata, vdso, folder):
        self.perfdata, self.vdso, self.folder, self.failed = perfdata, vdso, folder, 0

    def text(self, host, release, base, build_id, kernel):
        """A recording as text; kernel: (address of its symbol, build id)."""
        at = "sample_id: {pid: 42, tid: 42, time_ns: 1.0}"
        place = f"pid: 42, tid: 42, addr: {base:#x}, len: {(self.vdso.size + 4095) & ~4095:#x}"
        lines = ["event {name: \"cpu-clock\", ids: [7], type: software, sample_period: 1000000",
                 "sample_type: IP|TID|TIME|IDENTIFIER, flags: mmap|mmap2|comm|sample_id_all}"]
        ids = [(OTHER_ID if kernel and kernel[1] else "", "[kernel.kallsyms]", "0x8001", -1), (build_id, "[vdso]", "0x8002", -1)]
        records = [f'{{misc: {misc}, pid: {pid}, build_id: x"{one}", size: 20, filename: "{name}"+64}}'
                   for one, name, misc, pid in ids if one]
        if records:
            lines.append(f"feature BUILD_ID {{records: [{' '.join(records)}]}}")
        lines += [f'feature {name} {{value: "{value}"}}' for name, value in (("HOSTNAME", host), ("OSRELEASE", release)) if value]
        lines.append(f'feature ARCH {{value: "{platform.machine()}"}}')
        if kernel:
            lines.append(f'MMAP misc: kernel, pid: -1, tid: 0, addr: {kernel[0]:#x}, len: 0x1000000, pgoff: {kernel[0]:#x}, '
                         'filename: "[kernel.kallsyms]_stext", sample_id: {time_ns: 0}')
        lines.append(f"COMM misc: user, pid: 42, tid: 42, comm: \"demo\", {at}")
        lines.append(f"MMAP2 misc: user, {place}, prot: READ|EXEC, flags: PRIVATE, filename: \"[vdso]\", {at}")
        lines.append(f"SAMPLE misc: user, ip: {base + self.vdso.addr + 1:#x}, pid: 42, tid: 42, time_ns: 1.1")
        return "\n".join(lines) + "\n"

    def check(self, what, wanted, *words, base=BASE, build_id="", kernel=None, old=False, packed=0, **facts):
        here = os.uname()
        text = self.text(facts.get("host", here.nodename), facts.get("release", here.release), base, build_id, kernel)
        path = os.path.join(self.folder, "one.data")
        subprocess.run([self.perfdata, "assemble", "-o", path, "-"], input=text.encode(), check=True)
        if old:
            os.utime(path, (1, 1))
        for number in range(packed):
            bundle = os.path.join(self.folder, f"{number}.tar")
            subprocess.run([self.perfdata, "pack", "-q", "-o", bundle, path], check=True)
            path = bundle
        words = ("--symfs", self.folder, *words) if packed else words
        done = subprocess.run([self.perfdata, "script", "-q", "-F", "ip,sym", *words, path], stdout=subprocess.PIPE, check=False)
        names = {name for name, addr in self.vdso.functions if addr == self.vdso.addr} if wanted else {"[unknown]"}
        got = done.stdout.decode().split()[1:]
        good = len(got) == 1 and got[0] in names
        self.failed += not good
        print(f"{'ok' if good else 'not ok'} - {what}{'' if good else f': {got} and not one of {names}'}")


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__.split("\n\n")[1])
    vdso = Vdso()
    with tempfile.TemporaryDirectory(prefix="perfdata-vdso-") as folder:
        scene = Scene(os.path.abspath(sys.argv[1]), vdso, folder)
        scene.check("no build id: this machine's", True)
        scene.check("no build id, packed", True, packed=1)
        scene.check("no build id, packed from a bundle", True, packed=2)
        scene.check("no build id, of another machine", False, host="elsewhere")
        scene.check("no build id, of another kernel", False, release="2.6.31")
        scene.check("no build id, of a kernel that is not told", False, release="")
        scene.check("no build id, from before this system was started", False, old=True)
        scene.check("no build id, below another root", False, "--symfs", folder)
        scene.check("no build id, of a program of 32 bits", False, base=LOW)
        scene.check("no build id, the kernel has that of another one", False, kernel=(stext() or 1 << 63, True))
        if stext():
            scene.check("no build id, the kernel is where it was", True, kernel=(stext(), False))
            scene.check("no build id, the kernel was elsewhere", False, kernel=(stext() + 0x200000, False))
        else:
            print("ok - # SKIP the kernel hides its addresses")
        if vdso.id:
            scene.check("its build id", True, build_id=vdso.id)
            scene.check("its build id, of another machine", True, build_id=vdso.id, host="elsewhere", release="2.6.31")
        scene.check("another build id", False, build_id=OTHER_ID)
    return 1 if scene.failed else 0


if __name__ == "__main__":
    sys.exit(main())
