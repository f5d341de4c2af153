#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes the pages from their parts in this folder: flame.built.html, flame graphs, and view.built.html, which perfdata view
shows; and kinds.ts from src/flame/kind.def. Needs tsc, and for the second page esbuild.

usage: web/build.py [--check]
       web/build.py --site FOLDER LIBRARY

The results are committed, so that the program can be built without TypeScript. --check compares instead of writing and
is a test; without the compilers it is skipped. --site makes FOLDER/index.html, the page that reads recordings itself, with
the module of WebAssembly in it (tools/site makes both).
"""
import base64
import gzip
import hashlib
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
KINDS = HERE / "kinds.ts"
KIND = re.compile(r'^KIND\(\w+,\s*\'(.)\',\s*"[^"]*",\s*"([^"]*)",\s*(\d+),\s*(\d+)\)$', re.MULTILINE)
TOOLS = ("tsc", "esbuild")
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


def tool(*command: str, folder: pathlib.Path = HERE) -> None:
    result = subprocess.run(command, cwd=folder, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if result.returncode:
        sys.exit(f"{result.stdout}{command[0]} failed")


def flame_script() -> str:
    """The scripts of flame graphs as one, in the order of tsconfig.json, in a function of their own."""
    names = json.loads((HERE / "tsconfig.json").read_text())["files"]
    with tempfile.TemporaryDirectory() as folder:
        tool("tsc", "--project", str(HERE), "--outDir", folder)
        parts = [(pathlib.Path(folder) / name).with_suffix(".js").read_text() for name in names]
    parts = [part.replace('"use strict";\n', "", 1) for part in parts]
    return '"use strict";\n(() => {\n' + "".join(parts) + "})();\n"


def bundle(folder: str, main: str, *more: str) -> str:
    """Modules as one script in lines, which are short where esbuild knows how. The names of files in it are relative to the folder."""
    with tempfile.TemporaryDirectory() as scratch:
        made = pathlib.Path(scratch) / "made.js"
        tool("esbuild", main, "--bundle", "--minify-syntax", "--format=iife", "--target=es2022", "--charset=ascii", "--legal-comments=none",
             "--log-level=warning", *more, f"--outfile={made}", folder=HERE / folder)
        return with_tabs(made)


def with_tabs(made: pathlib.Path) -> str:
    """Tabs instead of pairs of blanks, and none for the function around all: the page is smaller by a twelfth. That no text changed is seen
    without all blanks."""
    tabbed = made.with_suffix(".tabs.js")
    text = re.sub(r"^(?:  )+", lambda found: "\t" * (len(found[0]) // 2 - 1), made.read_text(), flags=re.MULTILINE)
    tabbed.write_text(text)
    for script in made, tabbed:
        tool("esbuild", str(script), "--minify", "--log-level=warning", f"--outfile={script}.small")
    if pathlib.Path(f"{made}.small").read_text() != pathlib.Path(f"{tabbed}.small").read_text():
        sys.exit("web/build.py: a text has blanks at the beginning of a line")
    return text


def view_script() -> str:
    tool("tsc", "--project", "view")
    return bundle("view", "main.ts")


def policy_hash(text: str) -> str:
    return "'sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() + "'"


def page(template: pathlib.Path, style: pathlib.Path, script: str, *more: str, scripts: str = "") -> str:
    if "</script" in script.lower() or "<!--" in script:
        sys.exit(f"{template.name}: the script has something that ends a script element")
    script, rules = "\n" + script, "\n" + style.read_text()
    policy = "; ".join(["default-src 'none'", "script-src " + policy_hash(script) + scripts, "style-src " + policy_hash(rules),
                        *more, "base-uri 'none'", "form-action 'none'"])
    text = template.read_text()
    for mark, value in ("POLICY", policy), ("STYLE", rules), ("SCRIPT", script):
        if text.count(f"@@{mark}@@") != 1:
            sys.exit(f"{template.name}: @@{mark}@@ must be there once")
        text = text.replace(f"@@{mark}@@", value)
    return text


def site(folder: pathlib.Path, library: pathlib.Path) -> None:
    tool("tsc", "--project", "site")
    styles = [(HERE / "view" / "page.css").read_text(), (HERE / "site" / "site.css").read_text()]
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        style = pathlib.Path(scratch) / "style.css"
        style.write_text("\n".join(styles))
        text = page(HERE / "site" / "page.html", style, bundle("site", "main.ts", "--minify"), "img-src data: blob:",
                    "worker-src blob:", scripts=" 'wasm-unsafe-eval'")
    worker = bundle("site", "worker.ts", "--minify")
    if "</script" in worker.lower() or "<!--" in worker:
        sys.exit("web/site/worker.ts: it has something that ends a script element")
    packed = base64.b64encode(gzip.compress(library.read_bytes(), 9, mtime=0)).decode()
    (folder / "index.html").write_text(text.replace("@@WORKER@@", worker).replace("@@LIBRARY@@", packed))


def pages() -> dict:
    return {
        HERE / "flame.built.html": page(HERE / "flame.html", HERE / "flame.css", flame_script()),
        HERE / "view.built.html": page(HERE / "view" / "page.html", HERE / "view" / "page.css", view_script(),
                                       "img-src data: blob:", "connect-src 'self'"),
    }


def main() -> int:
    if sys.argv[1:2] == ["--site"] and len(sys.argv) == 4:
        site(pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3]))
        return 0
    check = sys.argv[1:] == ["--check"]
    if sys.argv[1:] and not check:
        sys.exit("usage: web/build.py [--check]")
    if check and KINDS.read_text() != kinds():
        print("web/kinds.ts is not what src/flame/kind.def says; run web/build.py")
        return 1
    missing = [name for name in TOOLS if not shutil.which(name)]
    if missing:
        print(f"web/build.py: {' and '.join(missing)}: not installed (tools/setup web)")
        return SKIPPED if check else 1
    if not check:
        KINDS.write_text(kinds())
    for path, text in pages().items():
        if not check:
            path.write_text(text)
        elif not path.exists() or path.read_text() != text:
            print(f"web/{path.name} is not what the parts in web/ make; run web/build.py")
            return 1
    return 0


sys.exit(main())
