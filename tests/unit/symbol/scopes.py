#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Inlined functions that only their file can see have no name of the linker: their scope comes from where they are declared.

usage: scopes.py LINES-DUMP [COMPILER OPTION...]
"""
import os
import subprocess
import sys
import tempfile

SAMPLE = """
#define INLINE inline __attribute__((always_inline))
volatile unsigned sink;
namespace { INLINE void hidden() { sink += 1; }
struct Thing { INLINE Thing() { sink += 2; } INLINE void get() const { sink += 3; } }; }
namespace app { namespace deep { static INLINE void still() { sink += 4; } INLINE void seen() { sink += 5; } } }
static INLINE void bare() { sink += 6; }
int main() { hidden(); Thing().get(); app::deep::still(); app::deep::seen(); bare(); }
"""
# A mark stands between scope and name. Some compilers have names of the linker for all of them.
WANTED = [{"(anonymous namespace)::\1hidden", "_ZN12_GLOBAL__N_16hiddenEv"},
          {"(anonymous namespace)::Thing::\1get", "_ZNK12_GLOBAL__N_15Thing3getEv"},
          {"app::deep::\1still", "_ZN3app4deepL5stillEv"}, {"_ZN3app4deep4seenEv"}, {"bare", "_ZL4barev"}, {"main"}]


def names(dump, path):
    for line in subprocess.run(["nm", "-S", path], stdout=subprocess.PIPE, check=True, text=True).stdout.splitlines():
        words = line.split()
        if words[-1] == "main":
            start, size = int(words[0], 16), int(words[1], 16)
            text = "".join(f"{address:x}\n" for address in range(start, start + size))
            return set(subprocess.run([dump, path], input=text, stdout=subprocess.PIPE, check=True, text=True).stdout.split("\n"))
    return set()


def main(dump, command):
    if not command:
        print("1..0 # SKIP no C++ compiler")
        return 0
    with tempfile.TemporaryDirectory() as folder:
        source, path = os.path.join(folder, "scopes.cc"), os.path.join(folder, "scopes")
        with open(source, "w", encoding="ascii") as file:
            file.write(SAMPLE)
        subprocess.run([*command, "-O1", "-g", "-o", path, source], check=True)
        found = names(dump, path)
    missing = [names for names in WANTED if not names & found]
    print(f"1..1\n{'not ok' if missing else 'ok'} 1 - scopes {missing}")
    return 0


sys.exit(main(sys.argv[1], sys.argv[2:]))
