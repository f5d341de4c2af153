#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes a file as an array of C, ended by a NUL.

usage: embed.py NAME INPUT OUTPUT
"""
import pathlib
import sys

name, source, target = sys.argv[1:]
data = pathlib.Path(source).read_bytes()
lines = ["".join(f"0x{byte:02x}," for byte in data[at:at + 20]) for at in range(0, len(data), 20)]
pathlib.Path(target).write_text(
    "/* made by web/embed.py */\n"
    f"extern const char {name}[];\nextern const unsigned {name}_size;\n"
    f"const char {name}[] = {{\n" + "\n".join(lines) + "\n0 };\n"
    f"const unsigned {name}_size = {len(data)};\n")
