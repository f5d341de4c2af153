#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Opens pages of perfdata view in a browser, from files, and holds the numbers of each view against those of perfdata report
and script of the same recording and selection.

usage: view.py PERFDATA RECORDINGS [--shots FOLDER]
"""
import collections
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.parse

import browser

SKIPPED = 77
KEPT = ("hot.data", "hot-multi.data", "hot-group.data", "hot-zstd.data", "hot-trace.data", "hot-regs.data")
VIEWS = ("overview", "timeline", "heat", "flame", "chart", "tree", "functions", "sandwich", "samples", "source")
HOSTILE = ["</script><script>window.hurt=1</script>", "\"'><img src=x onerror=window.hurt=1>", "<!-- <script>", "__proto__",
           "javascript:alert(1)", "@@DATA@@@@SCRIPT@@", "\u202egnp\u2028\u00e9", "constructor", "x" * 65536]

DEMO = pathlib.Path(__file__).resolve().parent.parent / "demo"
program, recordings = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2]).resolve()
shots = pathlib.Path(sys.argv[4]) if sys.argv[3:4] == ["--shots"] else None
scratch = tempfile.TemporaryDirectory(prefix="perfdata-view-")
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


def check_functions(view, source, event, options, what):
    view.update({"view": "functions"})
    self, total = page_functions(view)
    wanted = by_function(report(source, "--no-children", "-s", "symbol,dso", *options).get(event, []), self)
    check(self == wanted, f"{what}: self {dict(self - wanted)} more and {dict(wanted - self)} less than report")
    check(view.run("perfdataView.app.session.counts.samples") == sum(wanted.values()), f"{what}: samples")
    check_besides(view, source, options, what)
    return self, total


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


def check_tree(view, self, what):
    """Inverted, the roots are the functions with their own samples."""
    view.update({"view": "tree", "invert": True})
    view.run("[...document.querySelectorAll('.tree .view-tools button')].at(-1).click()")
    view.page.settle()
    rows = view.run("[...document.querySelectorAll('.tree .row')].map((row) => [row.children[0].textContent, row.querySelector('b').textContent])")
    check(rows, f"{what}: no row of the tree")
    for value, name in rows:
        check(count(value) <= self[name], f"{what}: the inverted tree has {value} of {name}, report {self[name]}")
    check(count(rows[0][0]) == max(self.values()) or len(set(self)) < len(self), f"{what}: {rows[0]} is not the largest")
    check_tree_besides(view, what)
    view.update({"invert": False})


def check_tree_besides(view, what):
    """The inverted tree has of other events what the table of functions has."""
    others = view.run("perfdataView.app.session.otherEvents.slice(0, 3)")
    wait(view, f"document.querySelectorAll('.tree .head .beside').length === {len(others)}", f"{what}: other events in the tree")
    wrong = view.run("perfdataView.app.session.otherEvents.slice(0, 3).flatMap((event) => { const { session } = perfdataView.app, { nodes } = session, { twin } = session.nodesBeside(event);"
                     " return nodes.children(0).filter((node) => twin.value(node) !== session.beside(event).self[nodes.func(node)]); })")
    check(wrong == [], f"{what}: other events in the tree: {wrong}")


def check_flame(view, self, what):
    view.update({"view": "flame"})
    # they come a moment later
    label = f"all, {sum(self.values()):,} "
    wait(view, f"document.querySelector('[role=tree] [role=treeitem]')?.textContent.startsWith('{label}')", f"{what}: the root {label!r}")
    sums = view.run("""(() => {
        const { nodes } = perfdataView.app.session;
        return nodes.children(0).reduce((sum, node) => sum + nodes.value(node), 0);
    })()""")
    check(sums == sum(self.values()), f"{what}: the frames above the root are {sums}")


def check_sandwich(view, self, total, what):
    name = max((one for one in total if self[one]), key=lambda one: total[one])
    view.update({"view": "sandwich", "func": view.run(f"perfdataView.app.recording.functionOf({json.dumps(name)})")})
    check(count(view.texts("#between-self")[0][5:]) <= self[name], f"{what}: self of {name}")
    middle = view.run("(() => { const v = perfdataView.app.current; return [v.callers, v.callees].map((g) => g.boxes[0].value); })()")
    check(middle[0] == middle[1] == count(view.texts("#between-total")[0][6:]), f"{what}: {name} between {middle}")
    view.update({"func": -1})


def check_times(view, source, event, self, what):
    view.update({"view": "timeline", "lanes": "process"})
    lanes = view.run("perfdataView.app.current.set.lanes.map((lane) => [lane.pid, lane.end - lane.first])")
    whole = view.run("perfdataView.app.session.samples.count")
    check(sum(number for _, number in lanes) == whole, f"{what}: lanes have {lanes} of {whole}")
    view.update({"view": "heat"})
    cells = view.run("[...perfdataView.app.current.cells].reduce((sum, one) => sum + one, 0)")
    check(cells == whole, f"{what}: the heat map has {cells} of {whole}")
    view.update({"view": "samples"})
    check(count(view.texts(".samples .note")[0]) == sum(self.values()), f"{what}: the list has {view.texts('.samples .note')}")
    rows = view.run("[...document.querySelectorAll('.samples .row')].map((row) => [...row.children].map((one) => one.textContent))")
    lines = run("script", "-q", "--ns", "-F", "tid,time,event", str(source)).decode(errors="replace").splitlines()
    found = [re.match(r"\s*(\d+)\s+(\d+\.\d+):\s+(\S+):", line) for line in lines]
    wanted = {(one[1], one[2]) for one in found if one and one[3] == event}
    check(wanted, f"{what}: script prints no {event}")
    for row in rows[:30]:
        check((row[1].split()[-1], row[0]) in wanted, f"{what}: script does not print {row}")


def check_selections(view, source, what):
    """All, a part of the time, and one thread."""
    events = view.run("perfdataView.app.recording.header.events")
    for index, event in enumerate(events):
        if event["samples"] == 0:
            continue
        where = f"{what} {event['name']}"
        view.open(f"#1&e={urllib.parse.quote(event['name'], safe='').replace('-', '%2D')}&w=samples&in=0")
        check(view.state()["event"] == index, f"{where}: the event")
        self, total = check_functions(view, source, event["name"], [], where)
        check_tree(view, self, where)
        check_flame(view, self, where)
        check_sandwich(view, self, total, where)
        check_times(view, source, event["name"], self, where)
        check_part(view, source, event["name"], where, self)
        check_thread(view, source, event["name"], where)


def seconds(view, tick):
    ns = int(view.run("perfdataView.app.recording.header.time.start")) + tick
    return f"{ns // 10**9}.{ns % 10**9:09}"


def check_change(view, self, always, what):
    """How much larger shares are than at all other times."""
    inside, outside = max(sum(self.values()), 1), max(sum(always.values()) - sum(self.values()), 1)
    rows = view.run("[...document.querySelectorAll('.functions .row')].map((row) => [row.children[4].textContent, row.children[5].textContent])")
    names = collections.Counter(view.run("(() => { const { recording } = perfdataView.app, all = []; for (let f = 0; f < recording.functionCount; f++) all.push(recording.name(f)); return all; })()"))
    for change, name in rows:
        if names[name] == 1:
            wanted = 100 * (self[name] / inside - (always[name] - self[name]) / outside)
            check(abs(float(change.replace("\u2212", "-")) - wanted) < 0.006, f"{what}: {name} has changed by {change}, not {wanted}")


def check_part(view, source, event, what, always):
    times = view.run("(() => { const { time, count } = perfdataView.app.session.samples; return [time[count >> 2], time[count - 1 - (count >> 2)]]; })()")
    view.update({"ranges": [{"from": times[0], "to": times[1]}]})
    options = ["--time", f"{seconds(view, int(times[0]))},{seconds(view, int(times[1]))}"]
    self, _ = check_functions(view, source, event, options, f"{what} from {times}")
    check_change(view, self, always, f"{what} from {times}")
    check_tree(view, self, f"{what} from {times}")
    view.update({"ranges": []})


def check_thread(view, source, event, what):
    task = view.run("(() => { const { recording, samples } = perfdataView.app.session; return recording.tasks[recording.threads[samples.thread[0]].task]; })()")
    view.update({"threads": [f"{task['pid']}:{task['tid']}"]})
    self, _ = check_functions(view, source, event, ["--tid", str(task["tid"])], f"{what} of {task['tid']}")
    check_flame(view, self, f"{what} of {task['tid']}")
    check_chart(view, self, f"{what} of {task['tid']}")
    view.update({"threads": []})


def check_chart(view, self, what):
    """All samples of a thread over time: each is in the outermost box of its stack, where it has one."""
    view.update({"view": "chart", "window": []})
    view.page.settle()
    check(count(view.texts("main .view-tools .note")[0]) == sum(self.values()), f"{what}: the chart has {view.texts('main .view-tools .note')}, report {sum(self.values())}")
    boxes = view.run("perfdataView.app.current.pieces.filter((one) => one.depth === 0).reduce((sum, one) => sum + one.samples, 0)")
    check(0 <= boxes <= sum(self.values()), f"{what}: the outermost boxes have {boxes} samples")


def check_overview(view, source):
    view.open("")
    trust = json.loads(run("report", "-q", "--json", str(source)))["trust"]
    shown = dict(view.run("[...document.querySelectorAll('[data-fact]')].map((one) => [one.dataset.fact, one.querySelector('b').textContent])"))
    check(count(shown["samples"]) == trust["samples"], f"samples {shown} {trust}")
    check(count(shown["lost"]) == trust["lost"] + trust["lost_samples"], f"lost {shown} {trust}")
    check(count(shown["throttled"]) == trust["throttled"], f"throttled {shown} {trust}")
    check(shown["unresolved"] == f"{100 * trust['unknown_functions'] / max(trust['samples'], 1):.2f} %", f"unresolved {shown} {trust}")
    if trust["copied_stacks"] == 0:
        check(shown["truncated stacks"] == f"{100 * trust['cut_stacks'] / max(trust['samples'], 1):.2f} %", f"truncated {shown} {trust}")
    events = view.run("[...document.querySelectorAll('[data-event]')].map((row) => [row.dataset.event, row.children[1].textContent])")
    for name, rows in report(source, "-s", "symbol", "--no-children").items():
        check(sum(row["amounts"][0]["samples"] for row in rows) == count(dict(events)[name]), f"{name}: {events}")


def check_link(view):
    """A link restores the state, whatever it is."""
    view.open("#1&w=samples")
    view.page.size(1300, 800)
    total = view.run("perfdataView.app.session.counts.samples")
    view.update({"view": "flame"})
    view.run("perfdataView.app.current.graph.choose(perfdataView.app.session.nodes.children(0)[0])")
    view.page.settle()
    view.run("perfdataView.app.current.element.querySelector('.graph').focus()")
    view.page.type_key("f")
    check(len(view.state()["transforms"]) == 1, "f focuses on the function")
    crumbs = view.texts(".crumb small")
    left = view.run("perfdataView.app.session.sums.total[0]")
    gone = view.run("perfdataView.app.session.taken().before.samples")
    check(count(crumbs[0].replace("\u2212", "")) + left + gone == total, f"{crumbs} were taken away and {left} are left of {total}")
    view.update({"search": "a b", "ranges": [{"from": 0, "to": 10**9}], "colour": "object", "sort": "name", "invert": True})
    time.sleep(0.4)
    state, fragment = view.state(), view.run("location.hash")
    view.open(fragment)
    check(view.state() == state, f"{fragment}: {view.state()} is not {state}")
    view.run("document.querySelector('.crumb .cross[aria-label^=\"Remove: Focus\"]').click()")
    view.page.settle()
    check(view.state()["transforms"] == [], "the cross removes the crumb")
    view.run("perfdataView.app.undo()")
    time.sleep(0.3)
    check(len(view.state()["transforms"]) == 1, "back brings it again")
    view.open("#1&v=zzz&zz=1&x=ff-nobody&fp=other")
    check("not understood" in view.texts(".warning")[0].lower(), "what is wrong in a link is said")


def taken(view):
    """What each crumb says that it took away."""
    return [count(text.replace("\u2212", "")) for text in view.texts(".crumb small")]


def check_crumbs(view):
    """What crumbs took away and what is left are together the whole; each can be taken out."""
    view.open("#1&v=flame&w=samples")
    whole, last = view.run("(() => { const { session } = perfdataView.app; return [session.samples.count, session.samples.time[session.samples.count - 1]]; })()")
    task = view.run("(() => { const { recording, samples } = perfdataView.app.session; return recording.tasks[recording.threads[samples.thread[0]].task]; })()")
    cpu = view.run("perfdataView.app.session.samples.cpu[0]")
    view.update({"ranges": [{"from": 0, "to": last // 2}, {"from": last // 8, "to": last // 2}], "threads": [f"{task['pid']}:{task['tid']}"], "cpus": [cpu],
                 "transforms": [{"key": "df", "func": view.run("perfdataView.app.session.functions.self.findIndex((self) => self > 0)")}]})
    amounts = taken(view)
    check(len(amounts) == 5 and all(amounts[:2]), f"crumbs took {amounts}")
    left = view.run("perfdataView.app.session.sums.total[0] + perfdataView.app.session.taken().before.samples")
    check(sum(amounts) + left == whole, f"{amounts} and {left} are not {whole}")
    for number in range(5, 0, -1):
        check(len(taken(view)) == number, f"{number} crumbs")
        view.run("document.querySelector('.crumb .cross').click()")
        view.page.settle()
    check(view.run("perfdataView.app.session.counts.samples") == whole, "all is there again")


SHOWN = """(() => {
    const { session, current } = perfdataView.app, { samples, state, stage: { tree, leafRow } } = session;
    let wanted = 0;
    for (let index = 0; index < samples.count; index++) {
        let has = false;
        for (let row = leafRow[samples.leaf[index]]; row > 0; row = tree.parent[row]) has ||= tree.func[row] === WANTED;
        wanted += has && (state.cpus.length === 0 || state.cpus.includes(samples.cpu[index])) ? 1 : 0;
    }
    const cells = state.view === "heat" ? [...current.cells] : current.set.lanes.flatMap((_, lane) => [...current.strip(lane).counts]);
    return [wanted, cells.reduce((sum, one) => sum + one, 0), samples.count];
})()"""


def check_shown(view):
    """Timeline, heat map and list of samples obey transforms, search and CPUs as the graphs do."""
    view.open("#1&v=heat&w=samples&in=0")
    func = view.run("""(() => {
        const { functions: { total }, samples: { count } } = perfdataView.app.session;
        return [...total.keys()].filter((func) => total[func] < count / 2).sort((one, other) => total[other] - total[one])[0];
    })()""")
    cpu = view.run("perfdataView.app.session.samples.cpu[0]")
    name = view.run(f"perfdataView.app.recording.name({func})")
    alone = view.run(f"[...Array(perfdataView.app.recording.functionCount).keys()].filter((one) => perfdataView.app.session.searching.matches({json.dumps(name)})[one]).length === 1")
    for change in {"transforms": [{"key": "ff", "func": func}]}, {"transforms": [{"key": "ff", "func": func}], "cpus": [cpu]}, {"search": name}:
        if "search" in change and not alone:
            continue
        view.update({"transforms": [], "cpus": [], "search": "", "lanes": "thread", **change})
        for name in "heat", "timeline":
            view.update({"view": name})
            wanted, got, whole = view.run(SHOWN.replace("WANTED", str(func)))
            check(0 < wanted < whole and got == wanted, f"{name} with {change}: {got} samples, not {wanted} of {whole}")
        view.update({"view": "samples"})
        check(count(view.texts(".samples .note")[0]) == wanted, f"samples with {change}: {view.texts('.samples .note')}, not {wanted}")


def check_saved(view):
    """Each view that is drawn can be saved as a picture, and what is selected for other tools."""
    view.open("#1&v=flame")
    view.run("globalThis.saved = []; const make = URL.createObjectURL; URL.createObjectURL = (blob) => { saved.push(blob); return make.call(URL, blob); }; "
             "HTMLAnchorElement.prototype.click = () => {}")
    kinds = {"flame": ["Folded stacks", "speedscope", "SVG", "PNG"], "sandwich": ["SVG", "PNG"], "chart": ["SVG", "PNG"], "timeline": ["PNG"], "heat": ["PNG"]}
    for name, labels in kinds.items():
        view.update({"view": name})
        time.sleep(0.1)
        for label in labels:
            view.run("saved.length = 0")
            view.page.type_key("o")
            view.run(f"[...document.querySelectorAll('dialog button')].find((one) => one.textContent === '{label}').click()")
            wait(view, f"saved.some((one) => one.type === 'image/png' || '{label}' !== 'PNG')", f"{label} of {name}")
            text = view.run("saved.at(-1).text()") if label != "PNG" else ""
            check(label != "SVG" or (text.startswith("<svg") and text.count("<rect") > 2), f"{label} of {name}: {text[:200]}")
            check(view.run("saved.at(-1).size") > 50, f"{label} of {name} is empty")
    check(not view.page.errors, f"{view.page.errors}")


def check_keys(view):
    view.open("#1&v=overview")
    for index, name in enumerate(VIEWS):
        view.page.type_key(str((index + 1) % 10))
        check(view.state()["view"] == name, f"view {index + 1} shows {view.state()['view']}")
    view.page.type_key("?")
    check(view.texts("dialog h2") == ["Keys"], "? shows the keys")
    view.page.key("Escape")
    check(view.texts("dialog h2") == [], "Escape closes")
    view.page.type_key("i")
    check(view.state()["invert"], "i inverts")
    view.page.type_key("t")
    check(view.texts("dialog h2") == ["Processes, threads and CPUs"], "t shows the tasks")
    view.page.key("Escape")
    view.page.key("/")
    view.page.type("no such function")
    check(view.texts(".found") == ["0.00 % in 0 functions"], f"{view.texts('.found')}")
    view.page.key("Escape")
    check(view.state()["search"] == "", "Escape ends the search")


def check_bytes(page, view, dumped):
    """From what is selected anywhere to the first sample that has it, by one key."""
    view.run("perfdataView.app.update({ ranges: [], transforms: [] })")
    for at in "flame", "functions", "tree":
        for invert in (False, True):
            # a node of the tree, its path and function
            view.run(f"""(() => {{
                const {{ app }} = perfdataView;
                app.update({{ view: "{at}", invert: {json.dumps(invert)}, path: [], zoom: [], func: -1 }});
                const nodes = app.session.nodes, path = [];
                for (let node = 0, depth = 0; depth < 3 && nodes.hasChildren(node); depth++) path.push(nodes.func((node = nodes.children(node)[0])));
                app.select("{at}" === "functions" ? [] : path, path[path.length - 1]);
            }})()""")
            page.settle()
            page.type_key("b")
            wait(view, "perfdataView.app.session.state.view === 'records'", f"the file after {at}")
            record = view.state()["record"]
            wanted = view.run("""(async () => {
                const { app: { session, recording } } = perfdataView, { state, stage: { tree, leafRow }, samples } = session;
                const records = await recording.recordsOf(state.event);
                for (let index = 0; index < samples.count; index++) {
                    const stack = [];
                    for (let row = leafRow[samples.leaf[index]]; row > 0; row = tree.parent[row]) stack.push(tree.func[row]);
                    if (!state.invert) stack.reverse();
                    if (state.path.length > 0 ? state.path.every((func, level) => stack[level] === func) : stack.includes(state.func)) return records[index];
                }
            })()""")
            check(record == wanted, f"{at}, inverted {invert}: record {record}, not {wanted}")
            check(json.loads(dumped[record])["type"] == "SAMPLE", f"{at}: record {record} is a sample")
    view.run("perfdataView.app.update({ invert: false, path: [], func: -1 })")


def record_by_key(page, view, what):
    page.type_key("b")
    wait(view, "perfdataView.app.session.state.view === 'records'", f"the file after {what}")
    return view.state()["record"]


def check_places(page, view):
    """From a place in the timeline, the flame chart, between callers and callees, or in the code to a sample that is there."""
    record_of = "perfdataView.app.recording.recordsOf(perfdataView.app.session.state.event).then((records) => records[INDEX])"
    view.update({"view": "timeline", "lanes": "thread", "ranges": [], "window": [], "func": -1, "path": []})
    x, y, least = view.run("""(() => {
        const { current, session } = perfdataView.app, { samples } = session, { left, top } = current.canvas.getBoundingClientRect();
        const lane = current.set.lanes[0], index = current.set.order[(lane.first + lane.end) >> 1];
        return [left + current.x(samples.time[index]), top + current.top(0) + 8, samples.time[index]];
    })()""")
    page.click(x, y)
    index = view.run("perfdataView.app.current.sample()")
    near = view.run(f"[Math.abs(perfdataView.app.session.samples.time[{index}] - {least}), (perfdataView.app.session.whole.to * 5) / perfdataView.app.current.width]")
    check(near[0] <= near[1], f"the sample at a place of the timeline: {near}")
    page.type_key("]")
    following = view.run("perfdataView.app.current.sample()")
    check(following > index, f"the next sample after {index} is {following}")
    check(record_by_key(page, view, "the timeline") == view.run(record_of.replace("INDEX", str(following))), "the record of a sample of the timeline")
    view.update({"view": "chart", "window": [], "func": -1, "path": []})
    page.settle()
    row, begin, tid = view.run("""(() => {
        const { current } = perfdataView.app, piece = current.pieces[current.pieces.length >> 1];
        current.choose(piece);
        return [piece.row, piece.from, current.thread.value];
    })()""")
    record = record_by_key(page, view, "the flame chart")
    found = view.run(f"""(async () => {{
        const {{ session: {{ samples, stage: {{ tree, leafRow }}, state }}, recording }} = perfdataView.app, index = (await recording.recordsOf(state.event)).indexOf({record});
        const {{ pid, tid }} = recording.tasks[recording.threads[samples.thread[index]].task], rows = [];
        for (let row = leafRow[samples.leaf[index]]; row > 0; row = tree.parent[row]) rows.push(row);
        return [rows.includes({row}), samples.time[index], `${{pid}}:${{tid}}`];
    }})()""")
    check(found == [True, begin, tid], f"the sample of a box of the chart: {found}, not at {begin} of {tid}")
    check_places_of_functions(page, view)


STACK_OF = """(async () => {{
    const {{ session: {{ samples, stage: {{ tree, leafRow }}, state }}, recording }} = perfdataView.app, index = (await recording.recordsOf(state.event)).indexOf({record});
    const leaf = samples.leaf[index], table = await recording.addresses();
    return [[...pathOf(tree, leafRow[leaf])], String(table.address[recording.leafAddress[leaf]] ?? "")];
    function pathOf(tree, row) {{ const path = []; for (; row > 0; row = tree.parent[row]) path.unshift(tree.func[row]); return path; }}
}})()"""


def check_places_of_functions(page, view):
    top = view.run("(() => { const { functions: { total }, nodes } = perfdataView.app.session; return nodes.func(nodes.children(nodes.children(0)[0])[0] ?? nodes.children(0)[0]); })()")
    for graph in "callers", "callees":
        view.update({"view": "sandwich", "func": top, "path": []})
        page.settle()
        path = view.run(f"""(() => {{
            const {{ current }} = perfdataView.app, graph = current.{graph}, {{ nodes }} = graph, path = [];
            graph.element.focus();
            for (let node = 0; nodes.hasChildren(node) && path.length < 3;) path.push(nodes.func((node = nodes.children(node)[0])));
            current.mark(graph, path);
            return path;
        }})()""")
        record = record_by_key(page, view, graph)
        stack, _ = view.run(STACK_OF.format(record=record))
        turned = stack if graph == "callees" else stack[::-1]
        at = stack.index(path[0])
        around = stack[at:] if graph == "callees" else stack[:at + 1][::-1]
        check(around[:len(path)] == path, f"{graph}: the stack {turned} has not {path}")
    view.update({"view": "source", "func": view.run("(() => { const { functions: { self } } = perfdataView.app.session; return [...self.keys()].sort((one, other) => self[other] - self[one])[0]; })()")})
    wait(view, "/sample/.test(document.querySelector('.source .between .note')?.textContent)", "code")
    line = view.run("perfdataView.app.current.lines.findIndex((line) => line.samples > 0)")
    if line < 0:
        return
    address = view.run(f"(() => {{ const {{ current }} = perfdataView.app; current.at = current.lines[{line}]; return current.lines[{line}].address; }})()")
    record = record_by_key(page, view, "the code")
    check(int(view.run(STACK_OF.format(record=record))[1]) == int(address, 16), f"the sample of {address}")


def check_back(page, view):
    """From a record to the very sample, although others are of the same moment, and whatever was selected."""
    records = view.run("perfdataView.app.recording.recordsOf(0).then((records) => [records[0], records[records.length >> 1], records[records.length - 1]])")
    for record in records:
        view.update({"view": "records", "record": record, "event": 0, "search": "no such function"})
        wait(view, f"document.querySelector('.record-detail h2')?.textContent.startsWith('{record:,} ')", f"record {record}")
        view.run("document.querySelector('.record-detail button').click()")
        wait(view, "perfdataView.app.session.state.view === 'samples' && perfdataView.app.current.sample() !== undefined", f"the sample of record {record}")
        again = view.run("perfdataView.app.recording.recordsOf(0).then((records) => records[perfdataView.app.current.sample()])")
        check(again == record, f"the sample of record {record} is {again}")
    view.update({"ranges": [], "search": "", "record": -1, "func": -1, "path": []})


def check_buttons(page, view):
    """What keys do can be done by pointing, too: from a function between its callers to a sample's bytes, and to its code."""
    for label, name in ("Bytes", "records"), ("Code", "source"):
        view.update({"view": "sandwich", "path": [], "func": -1})
        view.run(f"[...document.querySelectorAll('.sandwich .between button')].find((one) => one.textContent === '{label}').click()")
        wait(view, f"perfdataView.app.session.state.view === '{name}'", f"{label} of a function")
        check(view.state()["func"] >= 0, f"{label}: the function is selected")


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


def check_served(page, source):
    """Code and records come from the server, and nothing from elsewhere."""
    server = subprocess.Popen([program, "view", "-q", "--no-browser", str(source)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    url = server.stdout.readline().strip()
    if not url.startswith("http://127.0.0.1:"):
        print(f"no server in this build: {server.communicate()[1].strip()}")
        return
    page.open("about:blank")
    page.open(f"{url}#1&v=samples&w=samples&in=0")
    view = Page(page, pathlib.Path("/"))
    wait(view, "perfdataView.picture", "the served page")
    page.key("ArrowDown")
    wait(view, "document.querySelector('.stack button')", "a sample's stack")
    shown = view.texts(".row.selected")[0]
    view.run("document.querySelector('.stack button').click()")
    wait(view, "document.querySelector('.hex')?.textContent", "its record")
    check(view.texts(".record-detail h2")[0].endswith(" SAMPLE"), f"{view.texts('.record-detail h2')}")
    dumped = run("dump", "--json", str(source)).decode().splitlines()
    offset = count(view.texts(".record-detail dd")[0])
    wanted = [one for one in map(json.loads, dumped) if one.get("offset") == offset]
    check(wanted and wanted[0]["type"] == "SAMPLE", f"dump has no sample at {offset}: {wanted}")
    address = view.run("[...document.querySelectorAll('.record-detail dt')].find((one) => one.textContent === 'ip').nextSibling.textContent")
    check(address == f"0x{wanted[0]['fields']['ip']:x}", f"the address {address} is not that of {wanted[0]}")
    view.run("document.querySelector('.record-detail button').click()")
    wait(view, "perfdataView.app.session.state.view === 'samples'", "the sample again")
    page.settle()
    check(shown[:20] in view.texts(".samples .row")[0], f"{shown} is not {view.texts('.samples .row')}")
    check_bytes(page, view, dumped)
    check_places(page, view)
    check_back(page, view)
    check_buttons(page, view)
    check_code(view, source)
    check_widths(page, view, ("records", "texts", "samples"), "served")
    check(all(one.startswith(url) or one == "about:blank" for one in page.requests), f"requests: {page.requests}")
    # Whether there is a second recording is asked of the server.
    errors = [one for one in page.errors if "404" not in one]
    check(not errors, f"{errors}")
    page.open("about:blank")
    server.wait(30)


def check_code(view, source):
    name = view.run("""(() => {
        const { recording, functions: { self } } = perfdataView.app.session;
        const names = [...self.keys()].sort((one, other) => self[other] - self[one]).map((func) => recording.name(func));
        return names.find((one) => /^\\w+$/.test(one));
    })()""")
    func = view.run(f"perfdataView.app.recording.functionOf({json.dumps(name)})")
    view.update({"view": "source", "ranges": [], "func": func})
    wait(view, "/sample/.test(document.querySelector('.source .between .note')?.textContent)", "code")
    done = subprocess.run([program, "annotate", "--json", "-q", "-i", str(source), name], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    tables = json.loads(done.stdout or b"{}").get("tables", [])
    wanted = sum(one["sums"][0]["samples"] for one in (tables[0]["functions"] if tables else []))
    text = view.texts(".source .between .note")[0]
    check("only" in text or count(text) == wanted, f"code of {name}: {text}, annotate {wanted}")


def wait(view, expression, what):
    end = time.monotonic() + 60
    while not view.run(f"!!(globalThis.perfdataView && ({expression}))"):
        check(time.monotonic() < end, f"{what}: does not come")
        time.sleep(0.05)


def check_compare(page, before, after):
    """Shares of two recordings, each as its own report has them."""
    out = folder / "two.html"
    run("view", "-q", "-o", str(out), str(before), str(after))
    view = Page(page, out)
    view.open("#1&v=compare&w=samples&in=0")
    wait(view, "document.querySelector('.compare .row')", "the comparison")
    view.run("perfdataView.app.current.show()")
    page.settle()
    changes = view.run("perfdataView.app.current.changes.map((one) => [one.name, one.before, one.after])")
    event = view.run("perfdataView.app.recording.header.events[0].name")
    for index, source in (1, before), (2, after):
        shares = collections.Counter()
        for change in changes:
            shares[change[0]] += change[index]
        sums = by_function(report(source, "--no-children", "-s", "symbol,dso")[event], shares)
        all_of_it = sum(sums.values())
        for name, share in shares.items():
            check(abs(share - sums[name] / all_of_it) < 1e-9, f"{source.name}: {name} has {share} of {all_of_it}, report {sums[name]}")
    view.update({"view": "flame", "colour": "change"})
    check(view.run("perfdataView.app.comparison.shares(perfdataView.app.session.nodes, 0).before") == 1, "the root is the root")
    check_changes(page, view)
    check_other(view, before, after)
    check_widths(page, view, ("overview", "compare", "flame", "tree", "functions", "sandwich"), "compared")


def printed(source):
    """Thread, time, address and function of each sample, as script prints them."""
    lines = run("script", "-q", "--ns", "-F", "tid,time,ip,sym", "-G", str(source)).decode(errors="replace").splitlines()
    found = [re.match(r"\s*(\d+)\s+(\d+)\.(\d{9}):\s+([0-9a-f]+)\s+(.+)", line) for line in lines]
    return [(one[1], int(one[2] + one[3]), int(one[4], 16), one[5].split("+0x")[0].strip()) for one in found if one]


def changed_pair():
    """Two recordings with names: one without a function's later samples, and one without the earlier ones of another function."""
    bundle, unpacked = DEMO / "hot.tar.zst", folder / "unpacked"
    run("unpack", "-q", "-o", str(unpacked), str(bundle))
    samples = printed(bundle)
    middle = samples[len(samples) // 2][1]
    made = []
    for name, function, side in ("before", "burn_mul", ">"), ("after", "burn_div", "<"):
        places = sorted({ip for _, _, ip, symbol in samples if symbol == function})
        part, packed = folder / f"{name}.data", folder / f"{name}.tar.zst"
        gone = f"sample.ip >= {places[0]} && sample.ip <= {places[-1]} && sample.time_ns {side} {middle}"
        run("filter", "-q", "-o", str(part), "--where", f"!({gone})", str(bundle))
        run("pack", "-q", "-o", str(packed), "--symfs", str(unpacked), str(part))
        made.append(packed)
    return made


def check_colours(page):
    """Colours of changes in the views that have more than functions."""
    before, after = changed_pair()
    out = folder / "changed.html"
    run("view", "-q", "-o", str(out), str(before), str(after))
    view = Page(page, out)
    view.open("#1&v=heat&in=0&col=change")
    view.run(SHARES)
    check_over_time(page, view, before, after)
    check_code_changes(page, view, before, after)
    view.update({"view": "overview", "colour": "change", "func": -1})
    check_widths(page, view, ("compare", "timeline", "heat", "flame", "chart", "source"), "coloured")


CHANGES_OF_BOTH = ("(() => { const { comparison } = perfdataView.app; return comparison.sync().then(() => comparison.functions(false)"
                   ".filter((one) => one.before + one.after > 0).map((one) => [one.name, one.object, one.before, one.after]).sort()); })()")


def check_other(view, before, after):
    """All views can show either of two recordings; what changed is the same whichever is looked at."""
    view.update({"view": "functions", "ranges": [], "threads": [], "transforms": [], "colour": "kind"})
    changes = view.run(CHANGES_OF_BOTH)
    title = view.run("document.title")
    for at, source in (0, before), (1, after):
        view.run(f"(() => {{ const one = perfdataView.app.toolbar.recording; one.value = '{at}'; one.dispatchEvent(new Event('change')); }})()")
        wait(view, f"perfdataView.app.recording.header.name === '{source.name}'", f"{source.name} instead of the other")
        view.page.settle()
        event = view.run("perfdataView.app.recording.header.events[perfdataView.app.session.state.event].name")
        check_functions(view, source, event, [], f"{source.name} of two")
        check(view.texts(".warning") == [""], f"{source.name} of two: {view.texts('.warning')}")
        got = view.run(CHANGES_OF_BOTH)
        check([one[:2] for one in got] == [one[:2] for one in changes], f"functions of both, looking at {source.name}")
        check(all(abs(one[at] - other[at]) < 1e-9 for one, other in zip(got, changes) for at in (2, 3)), f"changes, looking at {source.name}: {got} {changes}")
        check(view.run("document.title") == title, "the title has the earlier one first")
        view.update({"search": "h"})
        time.sleep(0.4)
        state, fragment = view.state(), view.run("location.hash")
        check(state["earlier"] == (at == 0), f"{source.name}: {state}")
        view.open(fragment)
        check(view.state() == state and view.run("perfdataView.app.recording.header.name") == source.name, f"{fragment} shows another recording")
        view.update({"search": ""})


# Shares of what has a path, stack by stack, before and after: from the root, or from a function on, outwards or inwards.
SHARES = """globalThis.sharesOf = (path, inverted, within) => {
    const { comparison: { main, base } } = perfdataView.app;
    return [base, main].map((session) => {
        const { recording, stage: { tree, leafRow }, counts: { byLeaf } } = session, key = (func) => recording.name(func) + "/" + recording.objectOf(func);
        let all = 0, has = 0;
        leafRow.forEach((leaf, index) => {
            if (leaf <= 0) return;
            let stack = [];
            for (let row = leaf; row > 0; row = tree.parent[row]) stack.push(key(tree.func[row]));
            all += byLeaf[index];
            if (!inverted) stack.reverse();
            if (within !== undefined) {
                const at = stack.indexOf(within);
                if (at < 0) return;
                if (inverted) stack = stack.slice(stack.lastIndexOf(within));
                else stack = stack.slice(at);
            }
            if (path.every((name, level) => stack[level] === name)) has += byLeaf[index];
        });
        return has / all;
    });
}"""


def check_changes(page, view):
    """Changes in the table of functions, the call tree, callers and callees; what was lost before is in the overview."""
    view.run(SHARES)
    names = "(path) => path.map((func) => perfdataView.app.recording.name(func) + '/' + perfdataView.app.recording.objectOf(func))"
    for where, nodes, inverted, within in (("tree", "session.nodes", "false", "undefined"), ("tree", "session.nodes", "true", "undefined"),
                                           ("sandwich", "current.callers.nodes", "true", "TOP"), ("sandwich", "current.callees.nodes", "false", "TOP")):
        top = view.run("(() => { const { self } = perfdataView.app.session.functions; let best = 0; for (let i = 1; i < self.length; i++) if (self[i] > self[best]) best = i; return best; })()")
        view.update({"view": where, "colour": "change", "invert": inverted == "true" and where == "tree", "func": top, "path": []})
        page.settle()
        time.sleep(0.2)
        wrong = view.run(f"""(() => {{
            const {{ app }} = perfdataView, nodes = app.{nodes}, names = {names}, wrong = [];
            const within = {json.dumps(within)} === "TOP" ? names([{top}])[0] : undefined;
            const todo = [...nodes.children(0)];
            for (let left = 60; todo.length > 0 && left > 0; left--) {{
                const node = todo.shift(), path = [];
                for (let at = node; at > 0; at = nodes.parent(at)) path.unshift(nodes.func(at));
                const got = app.comparison.shares(nodes, node), wanted = sharesOf(names(path), {inverted}, within);
                if (Math.abs(got.before - wanted[0]) > 1e-9 || Math.abs(got.after - wanted[1]) > 1e-9) wrong.push([names(path), got, wanted]);
                todo.push(...nodes.children(node));
            }}
            return wrong;
        }})()""")
        check(wrong == [], f"changes of {where}, inverted {inverted}: {wrong[:2]}")
    view.update({"view": "tree", "invert": False, "path": []})
    page.settle()
    time.sleep(0.2)
    check(view.run("document.querySelectorAll('.tree .row').length") > 2, "rows of the tree")
    check(all(re.fullmatch("[+\u2212]?\\d+\\.\\d\\d", one) for one in view.run("[...document.querySelectorAll('.tree .row')].map((row) => row.children[3].textContent)")), "the tree has changes")
    view.update({"view": "functions", "sort": "change"})
    page.settle()
    time.sleep(0.2)
    changes = view.run("(() => { const { current, comparison } = perfdataView.app, byFunc = new Map(comparison.functions(false).map((one) => [one.func, one.after - one.before]));"
                       " return current.order.map((func) => [current.changes[func], byFunc.get(func)]); })()")
    check(len(changes) > 2 and all(abs(one - other) < 1e-9 for one, other in changes), f"changes of functions: {changes[:5]}")
    check([one for one, _ in changes] == sorted((one for one, _ in changes), reverse=True), "what grew most is first")
    view.update({"view": "overview"})
    page.settle()
    lost = view.run("document.querySelector('[data-fact=samples] small').textContent")
    check(count(lost.split()[1]) == view.run("perfdataView.app.comparison.base.recording.header.truth.samples"), f"samples before: {lost}")



def growths(before, after):
    """How functions have grown, by perfdata diff: the part of the larger share that the change is, from -1 to 1. By name; None for a name
    that several have."""
    rows = json.loads(run("diff", "--json", "-s", "symbol", str(before), str(after)))["tables"][0]["rows"]
    grown = {}
    for row in rows:
        old, new = row["old_share"], row["new_share"]
        size = new - old
        name = row["symbol"].split(" ", 1)[1]
        grown[name] = None if name in grown else 0 if abs(size) < 0.0005 else size / max(old, new)
    return grown


def step_of(mean, least=0.05):
    size = abs(mean)
    return 0 if size < least else (3 if size > 0.5 else 2 if size > 0.2 else 1) * (1 if mean > 0 else -1)


def check_over_time(page, view, before, after):
    """Colours of changes over time: of each cell and pixel, by the functions of its samples as script prints them."""
    grown = growths(before, after)
    check(any(one and one > 0.2 for one in grown.values()) and any(one and one < -0.2 for one in grown.values()), f"nothing has changed: {grown}")
    view.update({"view": "heat", "colour": "change", "weight": "period", "invert": False, "func": -1, "path": []})
    page.settle()
    start = int(view.run("perfdataView.app.recording.header.time.start"))
    samples = [(tid, time_ns - start, name) for tid, time_ns, _, name in printed(after)]
    check(len(samples) == view.run("perfdataView.app.session.samples.count"), f"script prints {len(samples)} samples")
    unknown = {name for _, _, name in samples if grown.get(name) is None}
    check(len(unknown) < len(grown), f"diff has not {unknown}")
    check_cells(view, samples, grown)
    check_strips(view, samples, grown)
    check_boxes(view)
    legend = [view.texts(".change-legend")[0]]
    for colour in "kind", "object", "function":
        view.update({"colour": colour})
        legend.append("" if view.run("document.querySelector('.change-legend').hidden") else view.texts(".change-legend")[0])
    check(["shrank" in text for text in legend] == [True, False, False, False], f"the legend of changes is there while colours are by change: {legend}")
    check("user (u)" in legend[1] and legend[2] and not legend[3], f"kinds and objects have legends: {legend}")


def check_cells(view, samples, grown):
    cells = collections.defaultdict(list)
    for _, time_ns, name in samples:
        cells[time_ns * 50 // 10**9].append(grown.get(name))
    got = view.run("[...perfdataView.app.current.cells].map((count, cell) => [count, perfdataView.app.current.growth(cell)])")
    for cell, (number, mean) in enumerate(got):
        check(number == len(cells[cell]), f"cell {cell} has {number} samples, not {len(cells[cell])}")
        if number and None not in cells[cell]:
            wanted = sum(cells[cell]) / number
            check(abs(mean - wanted) < 1e-6, f"cell {cell}: {mean}, diff {wanted}")
    check_pixels(view, """[...current.cells.keys()].filter((cell) => current.cells[cell] > 0).map((cell) => [current.growth(cell),
        52 + Math.floor(cell / 50) * current.cellWidth + 0.5, (49.5 - cell % 50) * current.cellHeight])""", "heat map")


def check_strips(view, samples, grown):
    view.update({"view": "timeline", "lanes": "thread", "window": []})
    view.page.settle()
    lanes = view.run("""perfdataView.app.current.set.lanes.map(({ tid }, lane) => {
        const { counts, means } = perfdataView.app.current.strip(lane);
        return [String(tid), [...counts], [...means]];
    })""")
    whole = view.run("perfdataView.app.session.whole.to")
    for tid, counts, means in lanes:
        pixels = collections.defaultdict(list)
        for own, time_ns, name in samples:
            if own == tid:
                pixels[min(int(time_ns * (len(counts) / whole)), len(counts) - 1)].append(grown.get(name))
        for pixel, (number, mean) in enumerate(zip(counts, means)):
            check(number == len(pixels[pixel]), f"{tid}: pixel {pixel} has {number} samples, not {len(pixels[pixel])}")
            if number and None not in pixels[pixel]:
                check(abs(mean - sum(pixels[pixel]) / number) < 1e-6, f"{tid}: pixel {pixel}: {mean}, diff {pixels[pixel]}")
    check_pixels(view, """[0].flatMap((lane) => [...current.strip(lane).counts.keys()].filter((at) => current.strip(lane).counts[at] > 0)
        .map((at) => [current.strip(lane).means[at], current.left + 2 * at, current.top(lane) + 16]))""", "timeline")


def check_pixels(view, places, what):
    """What is drawn has the colours of the legend. A place is a mean and a point of the canvas; a line of the axis may be over it."""
    wrong = view.run(f"""(() => {{
        const {{ app }} = perfdataView, {{ current }} = app, context = current.canvas.getContext("2d"), ratio = devicePixelRatio;
        const hex = (x, y) => "#" + [...context.getImageData(x * ratio, y * ratio, 1, 1).data].slice(0, 3).map((one) => one.toString(16).padStart(2, "0")).join("").toUpperCase();
        return ({places}).map(([mean, x, y]) => [mean, app.look.step(0), app.look.step(3), app.look.step(2), app.look.step(1), app.look.step(-3), app.look.step(-2), app.look.step(-1), [hex(x, y), hex(x + 1, y)], x, y]);
    }})()""")
    check(len(wrong) > 10, f"{what}: {len(wrong)} places")
    for mean, none, *steps, drawn, x, y in wrong:
        step = step_of(mean)
        wanted = none if step == 0 else steps[3 - step] if step > 0 else steps[6 + step]
        near_edge = any(abs(abs(mean) - edge) < 1e-6 for edge in (0.05, 0.2, 0.5))
        check(near_edge or wanted in drawn, f"{what} at {x}, {y}: {drawn}, a change of {mean} is {wanted}")


def check_boxes(view):
    """Boxes of the flame chart have the shares of their stacks, stack by stack."""
    view.update({"view": "chart", "weight": "samples"})
    view.page.settle()
    time.sleep(0.2)
    wrong = view.run("""(() => {
        const { app } = perfdataView, { changes, current, recording, session: { stage: { tree } } } = app, wrong = [], seen = new Set();
        for (const { row } of current.pieces) {
            if (seen.has(row) || seen.size > 80) continue;
            seen.add(row);
            const path = [];
            for (let at = row; at > 0; at = tree.parent[at]) path.unshift(recording.name(tree.func[at]) + "/" + recording.objectOf(tree.func[at]));
            const { before, after } = changes.shares(changes.stacks, row), wanted = sharesOf(path, false);
            const fill = current.fill(row, tree.func[row]);
            if (Math.abs(before - wanted[0]) > 1e-9 || Math.abs(after - wanted[1]) > 1e-9 || fill !== app.look.change(...wanted)) wrong.push([path, before, after, wanted, fill]);
        }
        return [seen.size, wrong];
    })()""")
    check(wrong[0] > 3 and wrong[1] == [], f"boxes of the flame chart: {wrong[0]}, {wrong[1][:2]}")


def check_code_changes(page, view, before, after):
    """Changes of instructions, by the samples of both as script prints them; together they are what diff says of the function."""
    view.update({"view": "source", "colour": "change", "weight": "period"})
    both = {"before": printed(before), "after": printed(after)}
    rows = json.loads(run("diff", "--json", "-s", "symbol", str(before), str(after)))["tables"][0]["rows"]
    names = view.run("""(() => {
        const { recording, functions: { self } } = perfdataView.app.session;
        return [...self.keys()].filter((func) => self[func] > 0 && func < recording.functionCount).sort((one, other) => self[other] - self[one])
            .slice(0, 3).map((func) => [func, recording.name(func)]);
    })()""")
    for func, name in names:
        view.update({"func": func})
        wait(view, f"document.querySelector('.source .between b')?.textContent === {json.dumps(name)} && /Changes/.test(document.querySelector('.source .between .note')?.textContent)", f"changes of {name}")
        page.settle()
        lines = view.run("perfdataView.app.current.lines.map((line) => [line.address, perfdataView.app.current.shares(line)]).filter(([, shares]) => shares)")
        check(lines, f"{name}: no line has a change")
        check("Changes of instructions" in view.texts(".source .between .note")[0], f"{name}: {view.texts('.source .between .note')}")
        row = next(one for one in rows if one["symbol"].endswith(f" {name}"))
        for key, share in ("before", "old_share"), ("after", "new_share"):
            counts = collections.Counter(ip for _, _, ip, function in both[key] if function == name)
            got = {int(address, 16): shares[key] for address, shares in lines if shares[key] > 0}
            check(got.keys() == counts.keys() and all(abs(got[ip] - counts[ip] / len(both[key])) < 1e-9 for ip in got), f"{name} {key}: {got}, script {counts}")
            check(abs(sum(got.values()) - row[share]) < 1e-9, f"{name} {key}: {sum(got.values())}, diff {row}")
        cells = view.run("[...document.querySelectorAll('.source .row')].map((row) => [row.children[2].textContent, row.children[2].style.backgroundColor])")
        check(any(text and colour for text, colour in cells), f"{name}: no change has a colour: {cells[:5]}")
    view.update({"colour": "kind", "func": -1})


# Another function becomes hot after some seconds, and then the program goes on. It says when that was.
CHANGES = r"""
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static volatile unsigned sum;

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_REALTIME, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

__attribute__((noinline)) static void hot_before(double end)
{
	while (now() < end)
		for (unsigned i = 0; i < 1000000; i++)
			sum += i;
}

__attribute__((noinline)) static void hot_after(void)
{
	for (;;)
		sum *= 3;
}

int main(int argc, char **argv)
{
	double end = now() + atof(argv[1]);
	FILE *file;

	hot_before(end);
	file = fopen(argv[2], "w");
	fprintf(file, "%.3f", now());
	fclose(file);
	hot_after();
}
"""
CHANGES_AFTER = 5  # seconds


def check_live(page):
    """A recording that grows: its newest hot function comes into view by itself, and what was selected stays selected."""
    source, changes, said = folder / "changes.c", folder / "changes", folder / "changed"
    source.write_text(CHANGES)
    if not shutil.which("cc") or not shutil.which("perf"):
        return ""
    subprocess.run(["cc", "-O1", "-g", "-o", str(changes), str(source)], check=True)
    live = subprocess.Popen([program, "view", "--no-browser", "-i", str(folder / "live.data"), "--live", "--", "-e", "cpu-clock", "-F", "997", "-g",
                             str(changes), str(CHANGES_AFTER), str(said)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    url = live.stdout.readline().strip()
    if not url.startswith("http://127.0.0.1:"):
        print(f"no live page: {live.communicate()[1].strip()}")
        return ""
    view = Page(page, pathlib.Path("/"))
    page.open("about:blank")
    page.open(f"{url}#1&v=functions&w=samples&q=hot_")
    shown = "[...document.querySelectorAll('.functions .row .name b')].map((one) => one.textContent)"
    wait(view, f"{shown}.includes('hot_before')", "the function that is hot at first")
    check("hot_after" not in view.run(shown), "the other function is not known yet")
    wait(view, f"{shown}.includes('hot_after')", "the function that is hot then")
    seen = time.time()
    check(live.poll() is None, "the program runs on")
    check(view.state()["search"] == "hot_" and view.state()["view"] == "functions", f"what was selected: {view.state()}")
    check(view.run("perfdataView.updates") > 0, "the page was made anew")
    page.open("about:blank")
    live.wait(60)
    check(live.returncode == 0, f"the recorder ends with the page: {live.returncode}")
    return f", seen {max(seen - float(said.read_text()), 0):.1f} s after it changed"


def check_timeline(page):
    """Counters are lines and tracepoints marks beside the samples of another event; two fingers zoom, one that stays opens the menu."""
    several = folder / "several.data"
    run("merge", "-q", "-o", str(several), str(recordings / "hot-multi.data"), str(recordings / "hot-trace.data"))
    out = folder / "several.html"
    run("view", "-q", "-o", str(out), str(several))
    view = Page(page, out)
    view.open("#1&v=timeline&by=thread")
    wait(view, "perfdataView.app.current.counters.length > 0", "lines of counters")
    check(view.run("perfdataView.app.current.counters.map((one) => one.name)") == ["page-faults/s"], "counters")
    check(view.run("perfdataView.app.current.tracepoints.map((one) => one.name)") == ["sched:sched_switch"], "tracepoints")
    rate = "perfdataView.app.current.counters[0].data({ from: 0, to: perfdataView.app.session.whole.to })"
    sums = view.run(f"(() => {{ const {{ time, value }} = {rate}; return value.reduce((all, one) => all + one, 0) * (time[1] - time[0]) * perfdataView.app.session.tick / 1e9; }})()")
    wanted = [int(one["sum"]) for one in view.run("perfdataView.app.recording.header.events") if one["name"] == "page-faults"]
    check(abs(sums - wanted[0]) < 1e-6 * wanted[0], f"a line has {sums}, the event {wanted}")
    length = "perfdataView.app.current.window.range.to - perfdataView.app.current.window.range.from"
    before = view.run(length)
    page.send("Emulation.setTouchEmulationEnabled", enabled=True)
    for kind, apart in ("touchStart", 100), ("touchMove", 150), ("touchMove", 200), ("touchEnd", 0):
        page.send("Input.dispatchTouchEvent", type=kind, touchPoints=[{"x": 700 - apart, "y": 400, "id": 0}, {"x": 700 + apart, "y": 400, "id": 1}] if apart else [])
        page.settle()
    check(abs(view.run(length) / before - 0.5) < 0.05, f"two fingers twice as far apart: {before} is {view.run(length)}")
    check(view.state()["ranges"] == [], "two fingers select nothing")
    view.open("#1&v=flame&w=samples")
    x, y = view.run("(() => { const box = document.querySelector('.graph').getBoundingClientRect(); return [box.left + 200, box.bottom - 28]; })()")
    page.send("Input.dispatchTouchEvent", type="touchStart", touchPoints=[{"x": x, "y": y}])
    wait(view, "document.querySelector('[role=menu]')?.checkVisibility?.() || !perfdataView.app.menuBox.element.hidden", "the menu of a finger that stays")
    page.send("Input.dispatchTouchEvent", type="touchEnd", touchPoints=[])
    page.send("Emulation.setTouchEmulationEnabled", enabled=False)
    check(not page.errors, f"{page.errors}")


def check_unhurt(view, name):
    check(view.run("window.hurt === undefined && document.querySelectorAll('script').length < 3"), f"{name}: a name was run")
    check(view.run("document.querySelectorAll('img').length") == 0, f"{name}: a name became an element")
    check(view.run("document.documentElement.scrollWidth <= innerWidth"), f"{name}: a long name makes the page wider")


def check_hostile_served(page, data):
    """What only a server has: each record of the file that has names, and what info, report and script print."""
    server = subprocess.Popen([program, "view", "-q", "--no-browser", str(data)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    url = server.stdout.readline().strip()
    if not url:
        return
    page.open("about:blank")
    page.open(f"{url}#1&v=records&r=0")
    view = Page(page, pathlib.Path("/"))
    wait(view, "document.querySelector('.hex')?.textContent", "a record")
    dumped = [json.loads(line) for line in run("dump", "--json", str(data)).splitlines()]
    for index in [index for index, one in enumerate(dumped) if one["type"] in ("COMM", "MMAP", "MMAP2")][:20]:
        view.update({"record": index})
        wait(view, f"document.querySelector('.record-detail h2')?.textContent.startsWith('{index:,} ')", f"record {index}")
        check_unhurt(view, f"record {index}")
    view.update({"view": "texts"})
    for at in range(3):
        view.run(f"document.querySelectorAll('.texts .view-tools button')[{at}].click()")
        wait(view, "document.querySelector('.texts pre')?.textContent", f"text {at}")
        check_unhurt(view, f"text {at}")
    page.open("about:blank")
    server.wait(30)


def check_hostile(page):
    path = folder / "hostile.folded"
    path.write_text("".join(f"task;{name.replace(';', ':')};end {index + 1}\n" for index, name in enumerate(HOSTILE)))
    data = folder / "hostile.data"
    run("import", "--from", "folded", "-o", str(data), str(path))
    out = folder / "hostile.html"
    run("view", "-q", "-o", str(out), "--title", HOSTILE[0], str(data))
    view = Page(page, out)
    for name in VIEWS:
        view.open(f"#1&v={name}")
        check_unhurt(view, name)
    names = view.run("(() => { const { recording } = perfdataView.app, all = []; for (let f = 0; f < recording.functionCount; f++) all.push(recording.name(f)); return all; })()")
    check(any(name.startswith("</script>") for name in names), f"no hostile name: {[name[:40] for name in names]}")
    check_hostile_served(page, data)


def check_looks(page, path, what):
    view = Page(page, path)
    for label, width, height, dark in ("light", 1600, 900, False), ("dark", 1600, 900, True), ("narrow", 390, 780, False):
        page.size(width, height, 1, dark)
        for name in VIEWS:
            view.open(f"#1&v={name}")
            check(view.run("document.documentElement.scrollWidth") <= width, f"{label} {name}: wider than the window")
            if shots and (not dark or name in ("flame", "timeline")):
                shots.mkdir(parents=True, exist_ok=True)
                page.screenshot(shots / f"{what}-{label}-{name}.png")
    page.size(1300, 1000)


def main():
    if not browser.program():
        print("no chromium is installed (tools/setup web)")
        return SKIPPED
    sources = [recordings / name for name in KEPT]
    made = fresh()
    sources = [made, *sources] if made else sources
    with browser.Browser() as page:
        page.size(1300, 1000)
        for source in sources:
            out = folder / f"{source.name}.html"
            run("view", "-q", "-o", str(out), str(source))
            view = Page(page, out)
            check_overview(view, source)
            check_selections(view, source, source.name)
        first = folder / f"{sources[0].name}.html"
        check_link(Page(page, first))
        check_crumbs(Page(page, first))
        check_shown(Page(page, first))
        check_saved(Page(page, first))
        check_keys(Page(page, first))
        check_served(page, sources[0])
        check_compare(page, sources[-1], recordings / "hot.data")
        check_colours(page)
        check_timeline(page)
        latency = check_live(page)
        check_hostile(page)
        check_looks(page, first, "view")
    print(f"{checks} checks passed, {len(sources)} recordings{latency}")
    return 0


sys.exit(main())
