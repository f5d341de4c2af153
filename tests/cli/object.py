#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes an object: usage: object.py [--arm64] FILE BUILD-ID NAME=START-END[,frame|,EXPRESSION]... [@ADDRESS=BYTES]...

An ELF file of 64 bits whose code, 64 KiB from 0x1000 on, is loaded at its offset, with functions by these names. Those of arm64
have constants from 0x4000 on, and rules for unwinding: with a frame the caller is on the stack, with an expression (in hex) it is that value, else in the link
register. BYTES are in hex.
"""
import os
import struct
import sys

CODE, CODE_SIZE, CONSTANTS = 0x1000, 0x10000, 0x4000
FP, LR, SP = 29, 30, 31


def entry_of(content):
    content = content.ljust(-(-len(content) // 8) * 8 + 4, b"\0")
    return struct.pack("<I", len(content)) + content


machine = 62
if sys.argv[1] == "--arm64":
    machine = 183
    del sys.argv[1]
# the stack pointer is where the caller had it; data is counted in steps of -8
rules = entry_of(struct.pack("<IBBBBBBB", 0xFFFFFFFF, 4, 0, 8, 0, 4, 0x78, LR) + bytes((0x0C, SP, 0)))
path, build_id = sys.argv[1], bytes.fromhex(sys.argv[2])
note = struct.pack("<III4s", 4, len(build_id), 3, b"GNU\0") + build_id
strings, symbols = b"\0", bytes(24)
code = bytearray(b"\xcc" * CODE_SIZE)
for word in sys.argv[3:]:
    name, place = word.split("=")
    if name.startswith("@"):
        at = int(name[1:], 16) - CODE
        code[at : at + len(place) // 2] = bytes.fromhex(place)
        continue
    place, _, frame = place.partition(",")
    start, end = (int(n, 16) for n in place.split("-"))
    saved = bytes((0x0E, 16, 0x80 | FP, 2, 0x80 | LR, 1)) if frame else b""
    if frame not in ("", "frame"):
        value = bytes.fromhex(frame)
        saved = bytes((0x0E, 16, 0x16, LR, len(value))) + value
    rules += entry_of(struct.pack("<IQQ", 0, start, end - start) + saved)
    symbols += struct.pack("<IBBHQQ", len(strings), 0x12, 0, 1, start, end - start)
    strings += name.encode() + b"\0"
names = b"\0.text\0.note.gnu.build-id\0.symtab\0.strtab\0.shstrtab\0.debug_frame\0" + (b"" if machine == 62 else b".rodata\0")
behind = CODE + CODE_SIZE
code_end = CODE + CODE_SIZE if machine == 62 else CONSTANTS
parts, tables = [], [bytes(64), struct.pack("<IIQQQQIIQQ", names.index(b".text"), 1, 6, CODE, CODE, code_end - CODE, 0, 0, 16, 0)]
sections = [(b".note.gnu", 7, 2, note, 0, 0, 0), (b".symtab", 2, 0, symbols, 4, 1, 24), (b".strtab", 3, 0, strings, 0, 0, 0),
            (b".shstrtab", 3, 0, names, 0, 0, 0)]
if machine != 62:
    sections.append((b".debug_frame", 1, 0, rules, 0, 0, 0))
for name, kind, flags, data, link, info, entry in sections:
    offset = 120 if name == b".note.gnu" else behind
    tables.append(struct.pack("<IIQQQQIIQQ", names.index(name), kind, flags, offset if flags else 0, offset, len(data), link, info, 8, entry))
    if offset == behind:
        parts.append(data)
        behind += len(data)
if code_end < CODE + CODE_SIZE:
    tables.append(struct.pack("<IIQQQQIIQQ", names.index(b".rodata"), 1, 2, CONSTANTS, CONSTANTS, CODE + CODE_SIZE - CONSTANTS, 0, 0, 16, 0))
head = struct.pack("<16sHHIQQQIHHHHHH", b"\x7fELF\2\1\1", 3, machine, 1, CODE, 64, behind, 0, 64, 56, 1, 64, len(tables), 5)
load = struct.pack("<IIQQQQQQ", 1, 5, 0, 0, 0, CODE + CODE_SIZE, CODE + CODE_SIZE, 0x1000)
content = (head + load + note).ljust(CODE, b"\0") + bytes(code) + b"".join(parts) + b"".join(tables)
os.makedirs(os.path.dirname(path), exist_ok=True)
with open(path, "wb") as f:
    f.write(content)
