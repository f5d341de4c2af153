#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes flame.built.html, the page of flame graphs, from its parts in this folder, and kinds.ts from src/flame/kind.def.
Needs tsc.

usage: web/build.py [--check]

The result is committed, so that the program can be built without TypeScript. --check compares instead of writing and
is a test; without tsc it is skipped.
"""
import base64
import hashlib
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
BUILT = HERE / "flame.built.html"
KINDS = HERE / "kinds.ts"
KIND = re.compile(r'^KIND\(\w+,\s*\'(.)\',\s*"[^"]*",\s*"([^"]*)",\s*(\d+),\s*(\d+)\)$', re.MULTILINE)
SKIPPED = 77


def kinds() -> str:
    """The list of kinds of frames, as the program has it."""
    lines = (HERE / ".." / "src" / "flame" / "kind.def").read_text()
    found = KIND.findall(lines)
    if len(found) != lines.count("\nKIND("):
        sys.exit("src/flame/kind.def: a line that is not understood here")
    return ("// SPDX-License-Identifier: MIT\n// Kinds of frames and their colours. Made from src/flame/kind.def by build.py.\n\n"
            "interface Kind {\n\tletter: string;\n\tlabel: string;\n\thue: number;\n\tsaturation: number;\n}\n\n"
            "const KINDS: readonly Kind[] = [\n"
            + "".join(f'\t{{ letter: "{letter}", label: "{label}", hue: {hue}, saturation: {saturation} }},\n'
                      for letter, label, hue, saturation in found) + "];\n")


def compiled() -> str:
    """The scripts as one, in the order of tsconfig.json, in a function of their own."""
    names = json.loads((HERE / "tsconfig.json").read_text())["files"]
    with tempfile.TemporaryDirectory() as folder:
        result = subprocess.run(["tsc", "--project", str(HERE), "--outDir", folder], text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        if result.returncode:
            sys.exit(f"{result.stdout}tsc failed")
        parts = [(pathlib.Path(folder) / name).with_suffix(".js").read_text() for name in names]
    parts = [part.replace('"use strict";\n', "", 1) for part in parts]
    script = '"use strict";\n(() => {\n' + "".join(parts) + "})();\n"
    if "</script" in script.lower() or "<!--" in script:
        sys.exit("the script has something that ends a script element")
    return script


def policy_hash(text: str) -> str:
    return "'sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() + "'"


def page() -> str:
    script = "\n" + compiled()
    style = "\n" + (HERE / "flame.css").read_text()
    policy = "; ".join(["default-src 'none'", "script-src " + policy_hash(script), "style-src " + policy_hash(style),
                        "base-uri 'none'", "form-action 'none'"])
    text = (HERE / "flame.html").read_text()
    for mark, value in ("POLICY", policy), ("STYLE", style), ("SCRIPT", script):
        if text.count(f"@@{mark}@@") != 1:
            sys.exit(f"flame.html: @@{mark}@@ must be there once")
        text = text.replace(f"@@{mark}@@", value)
    return text


def main() -> int:
    check = sys.argv[1:] == ["--check"]
    if sys.argv[1:] and not check:
        sys.exit("usage: web/build.py [--check]")
    if check and KINDS.read_text() != kinds():
        print("web/kinds.ts is not what src/flame/kind.def says; run web/build.py")
        return 1
    if not shutil.which("tsc"):
        print("web/build.py: tsc is not installed (tools/setup web)")
        return SKIPPED if check else 1
    if not check:
        KINDS.write_text(kinds())
    text = page()
    if not check:
        BUILT.write_text(text)
    elif not BUILT.exists() or BUILT.read_text() != text:
        print("web/flame.built.html is not what the parts in web/ make; run web/build.py")
        return 1
    return 0


sys.exit(main())
