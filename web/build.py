#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes the page of perfdata view and flame, view.built.html, from its parts in this folder. Needs tsc and esbuild.

usage: web/build.py [--check]
       web/build.py --site FOLDER LIBRARY

The result is committed, so that the program can be built without TypeScript. --check compares instead of writing and
is a test; without the compilers it is skipped. --site makes FOLDER/index.html, the page that reads recordings itself, with
the module of WebAssembly in it (tools/site makes both).
"""
import base64
import gzip
import hashlib
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
TOOLS = ("tsc", "esbuild")
SKIPPED = 77


def tool(*command: str, folder: pathlib.Path = HERE) -> None:
    result = subprocess.run(command, cwd=folder, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if result.returncode:
        sys.exit(f"{result.stdout}{command[0]} failed")


def bundle(folder: str, main: str, *more: str) -> str:
    """Modules as one script in lines, which are short where esbuild knows how. The names of files in it are relative to the folder."""
    with tempfile.TemporaryDirectory() as scratch:
        made = pathlib.Path(scratch) / "made.js"
        tool("esbuild", main, "--bundle", "--minify-syntax", "--minify-identifiers", "--format=iife", "--target=es2022", "--charset=ascii", "--legal-comments=none",
             "--log-level=warning", *more, f"--outfile={made}", folder=HERE / folder)
        return with_tabs(made)


def with_tabs(made: pathlib.Path) -> str:
    """Tabs instead of pairs of blanks, and none for the function around all: the page is smaller by a twelfth. That no text changed is seen
    without all blanks."""
    tabbed = made.with_suffix(".tabs.js")
    text = re.sub(r"^(?:  )+", lambda found: "\t" * (len(found[0]) // 2 - 1), made.read_text(), flags=re.MULTILINE)
    # only in strings, where esbuild writes what the source has escaped
    text = re.sub(r"[\x00-\x08\x0b-\x1f\x7f]", lambda found: f"\\x{ord(found[0]):02x}", text)
    tabbed.write_text(text)
    for script in made, tabbed:
        tool("esbuild", str(script), "--minify", "--log-level=warning", f"--outfile={script}.small")
    if pathlib.Path(f"{made}.small").read_text() != pathlib.Path(f"{tabbed}.small").read_text():
        sys.exit("web/build.py: a text has blanks at the beginning of a line")
    return text


def without_blanks(style: pathlib.Path) -> str:
    """Rules as short as esbuild writes them."""
    with tempfile.TemporaryDirectory() as scratch:
        made = pathlib.Path(scratch) / "made.css"
        tool("esbuild", str(style), "--minify", "--charset=ascii", "--log-level=warning", f"--outfile={made}")
        return made.read_text()


def view_script() -> str:
    tool("tsc", "--project", "view")
    return bundle("view", "main.ts")


def policy_hash(text: str) -> str:
    return "'sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() + "'"


def page(template: pathlib.Path, style: pathlib.Path, script: str, *more: str, scripts: str = "") -> str:
    if "</script" in script.lower() or "<!--" in script:
        sys.exit(f"{template.name}: the script has something that ends a script element")
    script, rules = "\n" + script, "\n" + without_blanks(style)
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
    missing = [name for name in TOOLS if not shutil.which(name)]
    if missing:
        print(f"web/build.py: {' and '.join(missing)}: not installed (tools/setup web)")
        return SKIPPED if check else 1
    for path, text in pages().items():
        if not check:
            path.write_text(text)
        elif not path.exists() or path.read_text() != text:
            print(f"web/{path.name} is not what the parts in web/ make; run web/build.py")
            return 1
    return 0


sys.exit(main())
