#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Measures the page: time to its first picture, and the time that its main thread is busy with each of some actions.

usage: speed.py PAGE.html [ROUNDS]

The actions begin when the page has made ready what it can in idle time. Wall times jitter when other programs run; the
least of some rounds does not. What is drawn is there after two frames, so that its time is not below 17 ms.
"""
import pathlib
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import browser

SESSION = "perfdataView.app.session"
UPDATE = "perfdataView.app.update"
FIND_TOP = f"globalThis.topFunction = (() => {{ const t = {SESSION}.functions.total; let best = 1; for (let i = 2; i < t.length; i++) if (t[i] > t[best]) best = i; return best; }})()"
TOP = "topFunction"
ACTIONS = [
    ("flame graph", f"{UPDATE}({{ view: 'flame' }})", None),
    ("range of 75 %", f"{UPDATE}({{ ranges: [{{ from: 4e6, to: 30e6 }}] }})", f"{UPDATE}({{ ranges: [] }})"),
    ("range moved by 1 %", f"perfdataView.app.preview({{ from: 4.35e6, to: 30.35e6 }})", f"perfdataView.app.preview({{ from: 4e6, to: 30e6 }})"),
    ("end of the drag", "perfdataView.app.preview(undefined)", f"{UPDATE}({{ ranges: [] }})"),
    ("search of three letters", f"{UPDATE}({{ search: '_12' }})", f"{UPDATE}({{ search: '' }})"),
    ("zoom", f"{UPDATE}({{ zoom: [0] }})", f"{UPDATE}({{ zoom: [] }})"),
    ("one thread", f"{UPDATE}({{ threads: ['100:100'] }})", f"{UPDATE}({{ threads: [] }})"),
    ("one CPU", f"{UPDATE}({{ cpus: [1] }})", f"{UPDATE}({{ cpus: [] }})"),
    ("focus function", f"{UPDATE}({{ transforms: [{{ key: 'ff', func: {TOP} }}] }})", f"{UPDATE}({{ transforms: [] }})"),
    ("merge function", f"{UPDATE}({{ transforms: [{{ key: 'mf', func: {TOP} }}] }})", f"{UPDATE}({{ transforms: [] }})"),
    ("hide kernel", f"{UPDATE}({{ transforms: [{{ key: 'hk', kind: 0 }}] }})", f"{UPDATE}({{ transforms: [] }})"),
    ("collapse object", f"{UPDATE}({{ transforms: [{{ key: 'co', object: 2 }}] }})", f"{UPDATE}({{ transforms: [] }})"),
    ("invert", f"{UPDATE}({{ invert: true }})", f"{UPDATE}({{ invert: false }})"),
    ("functions", f"{UPDATE}({{ view: 'functions' }})", f"{UPDATE}({{ view: 'flame' }})"),
    ("call tree", f"{UPDATE}({{ view: 'tree' }})", f"{UPDATE}({{ view: 'flame' }})"),
    ("callers and callees", f"{UPDATE}({{ view: 'sandwich', func: {TOP} }})", f"{UPDATE}({{ view: 'flame', func: -1 }})"),
    ("timeline", f"{UPDATE}({{ view: 'timeline' }})", f"{UPDATE}({{ view: 'flame' }})"),
    ("timeline zoomed", f"{UPDATE}({{ view: 'timeline', window: [{{ from: 5e6, to: 6e6 }}] }})", f"{UPDATE}({{ view: 'timeline', window: [] }})"),
    ("heat map", f"{UPDATE}({{ view: 'heat' }})", f"{UPDATE}({{ view: 'flame' }})"),
    ("timeline of a search", f"{UPDATE}({{ view: 'timeline', search: '_12' }})", f"{UPDATE}({{ view: 'flame', search: '' }})"),
    ("heat map of a search", f"{UPDATE}({{ view: 'heat', search: '_12' }})", f"{UPDATE}({{ view: 'flame', search: '' }})"),
    ("samples", f"{UPDATE}({{ view: 'samples' }})", f"{UPDATE}({{ view: 'flame' }})"),
    ("samples of a CPU", f"{UPDATE}({{ view: 'samples', cpus: [1] }})", f"{UPDATE}({{ view: 'flame', cpus: [] }})"),
    ("thread and CPU", f"{UPDATE}({{ threads: ['100:100'], cpus: [1] }})", f"{UPDATE}({{ threads: [], cpus: [] }})"),
    ("flame chart", f"{UPDATE}({{ view: 'chart' }})", f"{UPDATE}({{ view: 'flame' }})"),
    ("overview", f"{UPDATE}({{ view: 'overview' }})", f"{UPDATE}({{ view: 'flame' }})"),
    ("overview of 75 %", f"{UPDATE}({{ view: 'overview', ranges: [{{ from: 4e6, to: 30e6 }}] }})", f"{UPDATE}({{ view: 'flame', ranges: [] }})"),
]


def busy(page):
    metrics = page.send("Performance.getMetrics")["metrics"]
    return next(one["value"] for one in metrics if one["name"] == "ThreadTime") * 1000


def memory(page):
    pids = [one["id"] for one in page.browser("SystemInfo.getProcessInfo")["processInfo"] if one["type"] == "renderer"]
    def size(pid):
        lines = pathlib.Path(f"/proc/{pid}/status").read_text().splitlines()
        return next((int(line.split()[1]) for line in lines if line.startswith("VmRSS")), 0)
    return max(map(size, pids), default=0) // 1024


def main():
    path = pathlib.Path(sys.argv[1]).resolve()
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 5
    with browser.Browser() as page:
        page.send("Performance.enable")
        page.size(1600, 900)
        firsts = []
        for _ in range(min(rounds, 3)):
            page.open(f"{path.as_uri()}#1&v=flame")
            while not page.run("globalThis.perfdataView?.picture ?? 0"):
                time.sleep(0.05)
            firsts.append(page.run("perfdataView.picture"))
            page.open("about:blank")
        page.open(f"{path.as_uri()}#1&v=flame")
        while not page.run("globalThis.perfdataView?.picture ?? 0"):
            time.sleep(0.05)
        while not page.run("perfdataView.app.isPrepared"):
            time.sleep(0.05)
        print(f"{path.name}: {path.stat().st_size / 1e6:.1f} MB; first picture {min(firsts):.0f} ms; memory {memory(page)} MB")
        page.run(FIND_TOP)
        for name, act, back in ACTIONS:
            best, first, wall = 1e9, None, 1e9
            for _ in range(rounds):
                before, begin = busy(page), time.monotonic()
                page.run(f"void {act}")
                page.settle()
                wall = min(wall, (time.monotonic() - begin) * 1000)
                took = busy(page) - before
                first = took if first is None else first
                best = min(best, took)
                if back:
                    page.run(f"void {back}")
                    page.settle()
            print(f"{name:26} {best:6.1f} ms, the first time {first:6.1f} ms; {wall:6.1f} ms until it is drawn")
        print(f"memory at the end {memory(page)} MB")


if __name__ == "__main__":
    main()
