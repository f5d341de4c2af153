#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Measures speedscope with the profile of a page, beside what speed.py measures of the page: first picture, memory, and how long the main
thread is busy with each of some actions.

usage: beside.py SPEEDSCOPE/dist/release PROFILE.speedscope.json [ROUNDS]

The profile is what the page saves as speedscope ("Save ..."), so that both show the same samples.
"""
import base64
import pathlib
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import browser
from speed import busy, memory

WAIT = 300  # seconds for a first picture
SHOWN = "document.querySelectorAll('canvas').length > 0 || document.body.innerText.includes('Unrecognized')"
WHEEL = {"type": "mouseWheel", "x": 700, "y": 450, "deltaX": 0}
ACTIONS = [
    ("time order", lambda page: page.type_key("1"), lambda page: page.type_key("2")),
    ("left heavy", lambda page: page.type_key("2"), lambda page: page.type_key("1")),
    ("sandwich", lambda page: page.type_key("3"), lambda page: page.type_key("1")),
    ("zoom", lambda page: page.type_key("="), lambda page: page.type_key("0")),
    ("scroll", lambda page: page.send("Input.dispatchMouseEvent", **WHEEL, deltaY=40), lambda page: page.type_key("0")),
]


def opened(page, url):
    """The time of the first picture, in ms since the page was asked for; None: there was none."""
    begin = time.monotonic()
    try:
        page.open(url)
        while not page.run(SHOWN):
            if time.monotonic() - begin > WAIT:
                return None
            time.sleep(0.05)
        page.settle()
    except browser.BrowserError:
        return None
    return 1000 * (time.monotonic() - begin)


def main():
    release, profile = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2])
    rounds = int(sys.argv[3]) if len(sys.argv) > 3 else 5
    with tempfile.TemporaryDirectory(prefix="speedscope-") as folder, browser.Browser(limit=WAIT) as page:
        script = pathlib.Path(folder, "load.js")
        data = base64.b64encode(profile.read_bytes()).decode()
        script.write_text(f"speedscope.loadFileFromBase64('x.speedscope.json', '{data}')", encoding="ascii")
        page.send("Performance.enable")
        page.size(1600, 900)
        first = opened(page, f"{release.as_uri()}/index.html#localProfilePath={script}")
        if first is None:
            sys.exit(f"{profile.name}: nothing is shown after {WAIT} s")
        print(f"{profile.name}: {profile.stat().st_size / 1e6:.1f} MB; first picture {first:.0f} ms; memory {memory(page)} MB")
        for name, act, back in ACTIONS:
            took = []
            for _ in range(rounds):
                before = busy(page)
                act(page)
                page.settle()
                took.append(busy(page) - before)
                back(page)
                page.settle()
            print(f"{name:26} {min(took):6.1f} ms, the first time {took[0]:6.1f} ms")
        print(f"memory at the end {memory(page)} MB")


if __name__ == "__main__":
    main()
