#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Unwinds programs of other architectures, instruction by instruction.

usage: foreign.py PERFDATA [--only NAME] [--qemu DIR] [--keep DIR] [--verbose]

foreign.c is compiled by clang for each architecture, and runs in qemu-user, which its debugging port stops after each instruction:
registers and stack become samples of a recording, which perfdata unwinds. Every function has one caller, so at each place all callers are
known. All samples in the innermost function must have them, and those of other functions but for the few at their begin and end
whose rules compilers do not write, and which are not known by their instructions: see WAYS. From a bundle all chains are the same.
loongarch64 is assembled by hand, as no compiler is at hand for it.
Exit status: 0 all is so, 1 not, 77 there is no clang or no qemu-user.
"""

import argparse
import os
import re
import shutil
import socket
import struct
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
CHAIN = ("spin", "inner", "dynamic", "aligned", "saving", "large", "begin", "_start")
STEPS = 900
STACK = 16384
PIECE = 1024  # more does not fit into an answer
COMPILE = "-O1 -ffreestanding -fno-pic -fno-stack-protector -fomit-frame-pointer -nostdlib -static".split()
EH = ["-fasynchronous-unwind-tables"]
DEBUG = ["-g", "-fno-asynchronous-unwind-tables", "-fno-unwind-tables"]
SPLIT = ["-Wl,--build-id"]  # debug information is moved to a file of its own
NO_RULES = ["-fno-asynchronous-unwind-tables", "-fno-unwind-tables"]


def in_order(count, first=0):
    return list(range(first, first + count))


# Where registers of perf are in a packet of the debugging port: numbers of its registers.
X86_64 = in_order(8) + [16] + [None] * 7 + in_order(8, 8)
I386 = [0, 3, 1, 2, 6, 7, 5, 4, 8]
MIPS = [37] + in_order(25, 1) + [None, None] + in_order(4, 28)
RISCV = [32] + in_order(31, 1)
LOONGARCH = [33] + in_order(31, 1)
ARM64 = in_order(33)
S390 = in_order(16, 2) + [None] * 17 + [1]
POWER = in_order(32) + [64] + [None] * 3 + [67]


class Machine:
    """What is asked of an architecture: uname's word, target of clang, emulator, bytes of a word, and registers."""

    def __init__(self, arch, target, qemu, word, registers, big=False, sp=None):
        self.arch, self.target, self.qemu, self.word, self.registers, self.big = arch, target, qemu, word, registers, big
        self.sp = sp


MACHINES = {
    "x86-64": Machine("x86_64", "x86_64-linux-gnu", "qemu-x86_64", 8, X86_64, sp=7),
    "i386": Machine("i686", "i386-linux-gnu", "qemu-i386", 4, I386, sp=7),
    "arm": Machine("armv7l", "armv7-linux-gnueabihf", "qemu-arm", 4, in_order(16), sp=13),
    "arm64": Machine("aarch64", "aarch64-linux-gnu", "qemu-aarch64", 8, ARM64, sp=31),
    "riscv64": Machine("riscv64", "riscv64-linux-gnu", "qemu-riscv64", 8, RISCV, sp=2),
    "mips": Machine("mips", "mips-linux-gnu", "qemu-mips", 4, MIPS, big=True, sp=29),
    "mipsel": Machine("mips", "mipsel-linux-gnu", "qemu-mipsel", 4, MIPS, sp=29),
    "mips64el": Machine("mips64", "mips64el-linux-gnuabi64", "qemu-mips64el", 8, MIPS, sp=29),
    "ppc64le": Machine("ppc64le", "powerpc64le-linux-gnu", "qemu-ppc64le", 8, POWER, sp=1),
    "s390x": Machine("s390x", "s390x-linux-gnu", "qemu-s390x", 8, S390, big=True, sp=15),
    "loongarch64": Machine("loongarch64", None, "qemu-loongarch64", 8, LOONGARCH, sp=3),
}
# name: machine, options, share of samples of all functions that must be right (those of spin are always all).
WAYS = {
    "x86-64": ("x86-64", EH, 1),
    "x86-64, .debug_frame": ("x86-64", DEBUG, 1),
    "i386": ("i386", EH, 1),
    "arm, .ARM.exidx": ("arm", ["-funwind-tables"], 1),
    "arm, .debug_frame": ("arm", DEBUG, 1),
    "arm, Thumb, .ARM.exidx": ("arm", ["-funwind-tables", "-mthumb"], 1),
    "arm, Thumb, .debug_frame": ("arm", DEBUG + ["-mthumb"], 1),
    "arm, frame pointers, no rules": ("arm", NO_RULES + ["-fno-omit-frame-pointer"], 0.6),
    "arm, Thumb, frame pointers, no rules": ("arm", NO_RULES + ["-fno-omit-frame-pointer", "-mthumb"], 0.6),
    "arm64": ("arm64", EH, 1),
    "arm64, .debug_frame in another file": ("arm64", DEBUG + SPLIT, 1),
    "arm64, signed return addresses": ("arm64", EH + ["-mbranch-protection=pac-ret+leaf", "-march=armv8.3-a"], 1),
    "arm64, frame pointers, no rules": ("arm64", NO_RULES + ["-fno-omit-frame-pointer"], 0.6),
    "riscv64": ("riscv64", EH, 0.998),
    "riscv64, .debug_frame": ("riscv64", DEBUG + ["-mno-relax"], 0.998),
    "mips": ("mips", EH + ["-mno-abicalls", "-mno-gpopt"], 1),
    "mipsel, .debug_frame": ("mipsel", DEBUG + ["-mno-abicalls", "-mno-gpopt"], 1),
    "mips64el": ("mips64el", EH + ["-mno-abicalls", "-mno-gpopt"], 1),
    "ppc64le": ("ppc64le", EH, 1),
    "ppc64le, back chain, no rules": ("ppc64le", NO_RULES, 0.6),
    "s390x": ("s390x", EH, 1),
    "loongarch64": ("loongarch64", None, 1),
}

# LoongArch: RA is 1, SP is 3, FP is 22.
NOP = 0x03400000


def loongarch_program():
    """An assembler text of bytes, with rules: the assembler is that of this machine."""

    def addi(to, of, value):
        return 0x02C00000 | (value & 0xFFF) << 10 | of << 5 | to

    def store(reg, value):
        return 0x29C00000 | (value & 0xFFF) << 10 | 3 << 5 | reg

    def load(reg, value):
        return 0x28C00000 | (value & 0xFFF) << 10 | 3 << 5 | reg

    lines, place = [], {}
    ret = 0x4C000020
    functions = [("spin", [NOP] * 4, 0)]
    for number, name in enumerate(CHAIN[1:-2]):
        functions.append((name, None, 32 + 16 * number))
    functions += [("begin", "loop", 16), ("_start", "start", 0)]
    at = 0
    for name, kind, size in functions:
        words = []
        callee = CHAIN[CHAIN.index(name) - 1]

        def call(offset):
            delta = (place[callee] - offset) // 4 & 0x3FFFFFF
            return 0x54000000 | (delta & 0xFFFF) << 10 | delta >> 16

        lines += [f".globl {name}", f".type {name}, @function", f"{name}:", ".cfi_startproc simple", ".cfi_return_column 1",
                  ".cfi_def_cfa 3, 0"]
        place[name] = at
        if kind == "start":
            lines.append(".cfi_undefined 1")
            words = [call(at), NOP]
            lines += [f".long {w:#x}" for w in words]
        elif isinstance(kind, list):
            words = kind + [ret]
            lines += [f".long {w:#x}" for w in words]
        else:
            first = [addi(3, 3, -size), store(1, size - 8), store(22, size - 16), addi(22, 3, size)]
            last = [load(22, size - 16), load(1, size - 8), addi(3, 3, size), ret]
            middle = [call(at + 16), NOP]
            if kind == "loop":
                # goes on at its call
                back = -3 & 0x3FFFFFF
                last = [NOP, 0x50000000 | (back & 0xFFFF) << 10 | back >> 16]
            words = first + middle + last
            lines += [f".long {first[0]:#x}", f".cfi_def_cfa_offset {size}", f".long {first[1]:#x}", ".cfi_offset 1, -8",
                      f".long {first[2]:#x}", ".cfi_offset 22, -16", f".long {first[3]:#x}", ".cfi_def_cfa 22, 0"]
            lines += [f".long {w:#x}" for w in middle]
            if kind == "loop":
                lines += [f".long {w:#x}" for w in last]
            else:
                lines += [".cfi_def_cfa 3, " + str(size), f".long {last[0]:#x}", ".cfi_restore 22", f".long {last[1]:#x}",
                          ".cfi_restore 1", f".long {last[2]:#x}", ".cfi_def_cfa_offset 0", f".long {last[3]:#x}"]
        lines += [".cfi_endproc", f".size {name}, .-{name}"]
        at += 4 * len(words)
    return "\n".join(lines) + "\n"


def build_by_hand(scratch):
    source, program = os.path.join(scratch, "hand.s"), os.path.join(scratch, "program")
    with open(source, "w", encoding="ascii") as file:
        file.write(loongarch_program())
    subprocess.run(["as", "--64", "-o", source + ".o", source], check=True)
    subprocess.run(["ld", "-z", "max-page-size=0x10000", "-o", program, source + ".o"], check=True)
    with open(program, "r+b") as file:
        file.seek(18)
        file.write(struct.pack("<H", 258))
        file.seek(48)
        file.write(struct.pack("<I", 0x43))
    return program


def build(machine, options, scratch):
    if not machine.target:
        return build_by_hand(scratch)
    program = os.path.join(scratch, "program")
    linker, place = "lld", "--image-base=0x10000"
    if machine.arch == "s390x":  # which lld of LLVM 14 does not know
        linker = shutil.which("s390x-linux-gnu-ld")
        if not linker:
            raise RuntimeError("no linker")
        place = "-Ttext-segment=0x10000"
    command = ["clang", f"--target={machine.target}", *COMPILE, f"-fuse-ld={linker}", *options, f"-Wl,{place},-e,_start", "-o", program,
               os.path.join(HERE, "foreign.c")]
    done = subprocess.run(command, stderr=subprocess.PIPE, check=False)
    if done.returncode:
        raise RuntimeError("clang: " + done.stderr.decode("utf-8", "replace")[-300:])
    if options[-1:] == SPLIT:
        split(program)
    return program


def split(program):
    debug = program + ".debug"
    objcopy = shutil.which("llvm-objcopy") or "llvm-objcopy-14"
    subprocess.run([objcopy, "--only-keep-debug", program, debug], check=True)
    subprocess.run([objcopy, "--strip-debug", f"--add-gnu-debuglink={debug}", program], check=True)


class Port:
    """The debugging port of qemu: the remote protocol of gdb."""

    def __init__(self, path):
        for _ in range(200):
            try:
                self.socket = socket.socket(socket.AF_UNIX)
                self.socket.connect(path)
                break
            except OSError:
                time.sleep(0.02)
        else:
            raise RuntimeError("qemu does not listen")
        self.rest = b""

    def ask(self, text):
        data = text.encode()
        self.socket.sendall(b"$" + data + b"#%02x" % (sum(data) & 0xFF))
        while True:
            found = re.search(rb"\$([^#]*)#..", self.rest, re.S)
            if found:
                self.rest = self.rest[found.end():]
                self.socket.sendall(b"+")
                return found[1].decode("latin-1")
            more = self.socket.recv(65536)
            if not more:
                raise RuntimeError("qemu has ended")
            self.rest += more


def registers_of(machine, port):
    """Values by the numbers of perf."""
    order = "big" if machine.big else "little"
    # all at once is more than qemu can say of POWER
    single = machine.arch == "ppc64le"
    data = b"" if single else bytes.fromhex(port.ask("g").replace("x", "0"))
    values = []
    for number in machine.registers:
        if number is None:
            values.append(None)
        elif single:
            values.append(int.from_bytes(bytes.fromhex(port.ask(f"p{number:x}")), order))
        else:
            values.append(int.from_bytes(data[machine.word * number:machine.word * (number + 1)], order))
    return values


def pc_of(machine, values):
    index = {"x86_64": 8, "i686": 8, "armv7l": 15, "aarch64": 32, "ppc64le": 32, "s390x": 33}.get(machine.arch, 0)
    return values[index]


def end_of_stack(port, sp):
    page = sp & ~4095
    while not port.ask(f"m{page:x},1").startswith("E"):
        page += 4096
    return page


def memory_of(port, address, size):
    pieces = [port.ask(f"m{address + at:x},{min(PIECE, size - at):x}") for at in range(0, size, PIECE)]
    if any(piece.startswith("E") for piece in pieces):
        raise RuntimeError(f"no memory at {address:x}")
    return "".join(pieces)


def steps(machine, qemu, program, scratch):
    """Registers and stack after each instruction, from the first call on."""
    path = os.path.join(scratch, "port")
    if os.path.exists(path):
        os.unlink(path)
    with subprocess.Popen([qemu, "-g", path, program], stdin=subprocess.DEVNULL) as process:
        try:
            port = Port(path)
            port.ask("?")
            # else some have no registers
            port.ask("qXfer:features:read:target.xml:0,ffb")
            top = 0
            for _ in range(STEPS):
                values = registers_of(machine, port)
                sp = values[machine.sp]
                top = top or end_of_stack(port, sp)
                yield values, memory_of(port, sp, min(top - sp, STACK))
                port.ask("s")
        finally:
            process.kill()


def text_of(machine, program, samples):
    mask = sum(1 << i for i, number in enumerate(machine.registers) if number is not None)
    form = "big" if machine.big else "little"
    lines = [f"header form: file, byte_order: {form}", "event {", '\tname: "cpu-clock"', "\tids: [7]", "\ttype: software", "\tsize: 128",
             "\tsample_period: 1", "\tsample_type: IP|TID|TIME|CALLCHAIN|REGS_USER|STACK_USER", "\tflags: sample_id_all",
             f"\tsample_regs_user: {mask:#x}", f"\tsample_stack_user: {STACK}", "}",
             f'feature ARCH {{value: "{machine.arch}"}}',
             'COMM pid: 5, tid: 5, comm: "foreign", sample_id: {pid: 5, tid: 5, time_ns: 1.0}']
    for address, size, offset in code_of(program):
        lines.append(f"MMAP2 misc: user, pid: 5, tid: 5, addr: {address:#x}, len: {size:#x}, pgoff: {offset:#x}, prot: READ|EXEC, "
                     f'flags: PRIVATE, filename: "{program}", sample_id: {{pid: 5, tid: 5, time_ns: 1.1}}')
    abi = "64-bit" if machine.word == 8 else "32-bit"
    for i, (values, memory) in enumerate(samples):
        regs = " ".join(f"{v:#x}" for v in values if v is not None)
        lines.append(f"SAMPLE misc: user, ip: {pc_of(machine, values):#x}, pid: 5, tid: 5, time_ns: {2 + i / 1e6:.9f}, callchain: [], "
                     f'user_regs: {{abi: "{abi}", regs: [{regs}]}}, '
                     f'user_stack: {{data: x"{memory}"' + (f", dyn_size: {len(memory) // 2}" if memory else "") + "}")
    return "\n".join(lines) + "\n"


def code_of(program):
    """Segments of code: address, size, offset, in whole pages."""
    with open(program, "rb") as file:
        data = file.read()
    wide, order = data[4] == 2, ">" if data[5] == 2 else "<"
    if wide:
        at, = struct.unpack_from(order + "Q", data, 32)
        size, count = struct.unpack_from(order + "HH", data, 54)
    else:
        at, = struct.unpack_from(order + "I", data, 28)
        size, count = struct.unpack_from(order + "HH", data, 42)
    for i in range(count):
        if wide:
            kind, flags, offset, address, _, length = struct.unpack_from(order + "IIQQQQ", data, at + i * size)
        else:
            kind, offset, address, _, length, _, flags = struct.unpack_from(order + "7I", data, at + i * size)
        if kind == 1 and flags & 1:
            yield address & ~4095, (address & 4095) + length + 4095 & ~4095, offset & ~4095


def script(perfdata, recording):
    return subprocess.run([perfdata, "script", "--no-index", "--no-inline", "-F", "comm,ip,sym", "-i", recording],
                          stdout=subprocess.PIPE, check=False).stdout.decode()


def check(perfdata, name, machine, options, share, qemu, scratch, verbose):
    program = build(machine, options, scratch)
    samples = list(steps(machine, qemu, program, scratch))
    recording = os.path.join(scratch, "foreign.data")
    text = os.path.join(scratch, "foreign.txt")
    with open(text, "w", encoding="ascii") as file:
        file.write(text_of(machine, program, samples))
    subprocess.run([perfdata, "assemble", "-o", recording, text], check=True)
    printed = script(perfdata, recording)
    found = [re.findall(r"(?m)^\s*[0-9a-f]+ (\S+)", part) for part in printed.split("\n\n") if part.strip()]
    bundle = os.path.join(scratch, "bundle.tar")
    subprocess.run([perfdata, "pack", "-q", "-o", bundle, recording], check=True)
    seen, right = {}, {}
    for chain in found:
        at = chain[0] if chain[0] in CHAIN else "?"
        wanted = list(CHAIN[CHAIN.index(at):]) if at != "?" else None
        seen[at] = seen.get(at, 0) + 1
        # by frame pointers alone the caller of a function without a frame is lost
        lost = wanted[:1] + wanted[2:] if wanted and "no rules" in name else wanted
        right[at] = right.get(at, 0) + (chain in (wanted, lost))
        if verbose and chain != wanted:
            print("   ", " ".join(chain))
    total, good = sum(seen.values()), sum(right.values())
    fine = (len(found) == STEPS and seen.get("spin", 0) > 20 and right.get("spin") == seen.get("spin") and
            len(seen) >= len(CHAIN) and good >= share * total and script(perfdata, bundle) == printed)
    print(f"{'ok    ' if fine else 'DIFFER'} {name}: {good} of {total}, in spin {right.get('spin', 0)} of {seen.get('spin', 0)}", flush=True)
    return fine


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("perfdata")
    parser.add_argument("--only", default="")
    parser.add_argument("--qemu", default="")
    parser.add_argument("--keep")
    parser.add_argument("--verbose", action="store_true")
    options = parser.parse_args()
    if not shutil.which("clang") or not shutil.which("ld.lld"):
        print("SKIP: no clang")
        sys.exit(77)
    ran = bad = 0
    for name, (machine, how, share) in WAYS.items():
        machine = MACHINES[machine]
        qemu = shutil.which(machine.qemu, path=options.qemu or None)
        if options.only not in name or not qemu:
            continue
        with tempfile.TemporaryDirectory() as scratch:
            if options.keep:
                scratch = os.path.join(os.path.abspath(options.keep), re.sub(r"\W+", "-", name))
                os.makedirs(scratch, exist_ok=True)
            try:
                bad += not check(os.path.abspath(options.perfdata), name, machine, how, share, qemu, scratch, options.verbose)
            except (RuntimeError, OSError, subprocess.CalledProcessError) as error:
                print(f"DIFFER {name}: {error}", flush=True)
                bad += 1
        ran += 1
    if not ran:
        print("SKIP: no qemu-user")
        sys.exit(77)
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
