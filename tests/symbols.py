#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Holds headers, map and shared library against each other.

usage: symbols.py LIBRARY MAP INCLUDE NM CC [ARGUMENT]...

Every function that a public header marks PD_API is in the map, every name of the map is marked in a header,
and the library exports the names of the map and no others. Exit status: 0 that is so, 1 not.
"""

import re
import subprocess
import sys

import abi


def names_of_map(path):
    with open(path, encoding="utf-8") as f:
        text = re.sub(r"/\*.*?\*/", "", f.read(), flags=re.S)
    found = re.search(r"(\w+)\s*\{\s*global:(.*?)local:\s*\*;\s*\}", text, re.S)
    if not found:
        sys.exit(f"{path}: no list of global names that ends with local: *")
    return found[1], [name.strip() for name in found[2].split(";") if name.strip()]


def exported_names(nm, library):
    out = subprocess.run([nm, "-D", "--defined-only", library], stdout=subprocess.PIPE, text=True, check=True).stdout
    return {line.split()[-1].split("@")[0] for line in out.splitlines() if line.split()[-2] != "A"}


def main():
    if len(sys.argv) < 6:
        sys.exit(__doc__.split("\n\n")[1])
    library, path, include, nm, *compiler = sys.argv[1:]
    text, _ = abi.preprocessed(compiler, include)
    declared = {name for _, name in abi.FUNCTION.findall(text)}
    node, listed = names_of_map(path)
    exported = exported_names(nm, library)
    wrong = [f"{name}: twice in the map" for name in sorted(set(listed)) if listed.count(name) > 1]
    wrong += [f"{name}: in a header, but not in the map" for name in sorted(declared - set(listed))]
    wrong += [f"{name}: in the map, but in no header" for name in sorted(set(listed) - declared)]
    wrong += [f"{name}: in the map, but not in the library" for name in sorted(set(listed) - exported)]
    wrong += [f"{name}: exported, but not in the map" for name in sorted(exported - set(listed))]
    for line in wrong:
        print(line)
    print(f"{node}: {len(listed)} names in the map, {len(declared)} in headers, {len(exported)} exported")
    return 1 if wrong or not exported else 0


if __name__ == "__main__":
    sys.exit(main())
