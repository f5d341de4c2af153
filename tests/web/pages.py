# SPDX-License-Identifier: MIT
"""What the tests of pages have in common: the program, checks, pages that are opened, and the tables of perfdata report to hold them
against. The command line of each begins with PERFDATA RECORDINGS, and most have [--shots FOLDER] then."""
import collections
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

DEMO = pathlib.Path(__file__).resolve().parent.parent / "demo"
program, recordings = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2]).resolve()
shots = pathlib.Path(sys.argv[4]) if sys.argv[3:4] == ["--shots"] else None
scratch = tempfile.TemporaryDirectory(prefix="perfdata-web-")
folder = pathlib.Path(scratch.name)
checks = 0


def check(condition, what):
    global checks
    checks += 1
    if not condition:
        sys.exit(f"FAIL: {what}")


def run(*arguments):
    return subprocess.run([program, *arguments], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True).stdout


def fresh():
    """A recording of two events with call chains and switches; None if perf cannot record here."""
    path = folder / "fresh.data"
    work = "for n in 1 2 3; do find /usr/share/doc | sort | cksum; seq 20000 | sort -R | md5sum; done"
    try:
        done = subprocess.run(["perf", "record", "-q", "-F", "997", "-g", "--switch-events", "-e", "cpu-clock", "-e", "page-faults",
                               "-o", str(path), "sh", "-c", work], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=60)
    except (FileNotFoundError, subprocess.TimeoutExpired):
        return None
    return path if done.returncode == 0 else None


class Page:
    def __init__(self, page, path):
        self.page, self.path = page, path

    def run(self, expression):
        return self.page.run(expression)

    def open(self, fragment):
        """Another fragment of the same page is no new request: a blank page comes between."""
        self.page.open("about:blank")
        url = self.path.as_uri() + fragment
        self.page.open(url)
        end = time.monotonic() + 60
        while not self.run("globalThis.perfdataView?.picture || document.querySelector('.failed')?.textContent"):
            check(time.monotonic() < end, f"{url} shows nothing")
            time.sleep(0.02)
        self.page.settle()
        check(self.page.requests == [self.path.as_uri()], f"{url}: it asked for {self.page.requests}")
        check(not self.page.errors, f"{url}: {self.page.errors}")

    def update(self, change):
        self.run(f"perfdataView.app.update({json.dumps(change)})")
        self.page.settle()

    def state(self):
        return self.run("perfdataView.app.session.state")

    def texts(self, selector):
        return self.run(f"[...document.querySelectorAll({json.dumps(selector)})].map((one) => one.textContent)")


def count(text):
    """The number at the beginning of a text."""
    found = re.match(r"[\d,]+", text)
    check(found, f"no number in {text!r}")
    return int(found[0].replace(",", ""))


def report(source, *options):
    tables = json.loads(run("report", "-q", "--json", "--no-inline", "-g", "none", "--percent-limit", "0", *options, str(source)))["tables"]
    return {table["name"]: table["rows"] for table in tables if len(table["events"]) == 1} or by_group(tables)


def by_group(tables):
    """Events that were recorded as a group share a table."""
    return {event["event"]: [{**row, "amounts": [row["amounts"][index]]} for row in table["rows"]]
            for table in tables for index, event in enumerate(table["events"])}


def by_function(rows, names, field="samples"):
    """Sums by function, as the page has them: addresses without a name are one function for each object."""
    sums = collections.Counter()
    for row in rows:
        object_name = row["dso"] if row["dso"].startswith("[") else f"[{row['dso']}]"
        name = next((one for one in (row["symbol"], object_name) if one in names), "[unknown]")
        sums[name] += row["amounts"][0][field]
    return +sums


def page_functions(view):
    """Sums by function in the page's table, and those that its rows show."""
    rows = view.run("""(() => {
        const { session } = perfdataView.app, { recording, functions } = session, found = [];
        for (let func = 0; func < functions.total.length; func++)
            if (functions.total[func] > 0) found.push([recording.name(func), functions.self[func], functions.total[func]]);
        return found;
    })()""")
    self, total = collections.Counter(), collections.Counter()
    for name, own, all_of_it in rows:
        self[name] += own
        total[name] += all_of_it
    shown = view.run("[...document.querySelectorAll('.functions .row')].map((row) => [...row.children].filter((one) => !one.classList.contains('beside')).map((one) => one.textContent))")
    check(shown, "no row of the table is shown")
    for own, _, all_of_it, _, *_, name, _ in shown:
        check(count(own) <= self[name] and count(all_of_it) <= total[name], f"{name}: the row shows {own} and {all_of_it}")
    one = max(rows, key=lambda row: (row[1], row[2]))
    check(count(shown[0][0]) == one[1], f"the first row shows {shown[0]}, the largest is {one}")
    return +self, total


def check_besides(view, source, options, what):
    """What functions have of other events, under the same selection."""
    wait(view, "perfdataView.app.session.otherEvents.slice(0, 3).every((event) => perfdataView.app.session.beside(event))", f"{what}: other events")
    view.page.settle()
    events = view.run("perfdataView.app.recording.header.events.map((one) => one.name)")
    others = view.run("perfdataView.app.session.otherEvents.slice(0, 3)")
    heads = view.texts(".functions .head .beside")
    check(heads == [events[event] for event in others], f"{what}: the table has {heads} of {events} beside")
    if not others:
        return
    rows = report(source, "--no-children", "-s", "symbol,dso", *options)
    for column, event in enumerate(others):
        found = view.run(f"[...perfdataView.app.session.beside({event}).self].map((self, func) => [perfdataView.app.recording.name(func), self]).filter(([, self]) => self > 0)")
        self = collections.Counter()
        for name, own in found:
            self[name] += own
        wanted = by_function(rows.get(events[event], []), self)
        check(self == wanted, f"{what}: {events[event]} beside: {dict(self - wanted)} more and {dict(wanted - self)} less than report")
        cells = view.run(f"[...document.querySelectorAll('.functions .row')].map((row) => [row.querySelector('.name b').textContent, row.querySelectorAll('.beside')[{column}].textContent])")
        check(all(text == "" or count(text) <= self[name] for name, text in cells), f"{what}: {events[event]} beside: {cells[:5]}")


def check_functions(view, source, event, options, what):
    view.update({"view": "functions"})
    self, total = page_functions(view)
    wanted = by_function(report(source, "--no-children", "-s", "symbol,dso", *options).get(event, []), self)
    check(self == wanted, f"{what}: self {dict(self - wanted)} more and {dict(wanted - self)} less than report")
    check(view.run("perfdataView.app.session.counts.samples") == sum(wanted.values()), f"{what}: samples")
    check_besides(view, source, options, what)
    return self, total


def wait(view, expression, what):
    end = time.monotonic() + 60
    while not view.run(f"!!(globalThis.perfdataView && ({expression}))"):
        check(time.monotonic() < end, f"{what}: does not come")
        time.sleep(0.05)


def check_widths(page, view, names, what):
    """Nothing is wider than a window, whatever its size."""
    for label, width, height in ("light", 1600, 900), ("narrow", 390, 780):
        page.size(width, height)
        for name in names:
            view.update({"view": name})
            time.sleep(0.3)
            page.settle()
            check(view.run("document.documentElement.scrollWidth") <= width, f"{what}, {label} {name}: wider than the window")
            if shots:
                shots.mkdir(parents=True, exist_ok=True)
                page.screenshot(shots / f"{what}-{label}-{name}.png")
    page.size(1300, 1000)
