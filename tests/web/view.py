#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Opens pages of perfdata view in a browser, from files, and holds the numbers of each view against those of perfdata report
and script of the same recording and selection.

usage: view.py PERFDATA RECORDINGS [--shots FOLDER]
"""
import collections
import json
import pathlib
import re
import shutil
import subprocess
import sys
import time
import urllib.parse

import browser
import pages
from pages import (Page, check, check_functions, check_widths, count, folder, fresh, program, recordings, report,
                   run, shots, wait)

SKIPPED = 77
KEPT = ("hot.data", "hot-multi.data", "hot-group.data", "hot-zstd.data", "hot-trace.data", "hot-regs.data")
VIEWS = ("overview", "timeline", "heat", "flame", "chart", "tree", "functions", "sandwich", "samples", "source")
HOSTILE = ["</script><script>window.hurt=1</script>", "\"'><img src=x onerror=window.hurt=1>", "<!-- <script>", "__proto__",
           "javascript:alert(1)", "@@DATA@@@@SCRIPT@@", "\u202egnp\u2028\u00e9", "constructor", "x" * 65536]


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
    left = view.run("perfdataView.app.session.sums.all")
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
    left = view.run("perfdataView.app.session.sums.all + perfdataView.app.session.taken().before.samples")
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


OPEN = """(() => {
    const open = [], path = [];
    for (const row of document.querySelectorAll('.tree .row')) {
        const level = Number(row.getAttribute('aria-level'));
        path.splice(level, Infinity, row.querySelector('b').textContent);
        if (row.getAttribute('aria-expanded') === 'true') open.push(path.join(';'));
    }
    return open;
})()"""


def check_open(view):
    """What was open in the call tree is open there again, whatever was merged and dropped in other views meanwhile."""
    view.open("#1&v=tree")
    funcs = view.run("(({ self }) => [...self.keys()].filter((func) => self[func] > 0).sort((one, other) => self[one] - self[other]))(perfdataView.app.session.functions)")
    for invert in False, True:
        merged = {"transforms": [{"key": "mf", "func": funcs[0]}], "path": []}
        view.update({"view": "tree", "invert": invert, **merged})
        view.run("document.querySelector('.tree .view-tools button').click()")
        view.page.settle()
        was = view.run(OPEN)
        check(was, "nodes of the call tree are open")
        for func in funcs[:8]:
            for key in "df", "cf", "rr":
                view.update({"view": "flame", "transforms": [{"key": key, "func": func}]})
        view.update({"view": "tree", **merged})
        check(view.run(OPEN) == was, f"open: {view.run(OPEN)}, before it was {was}")


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
        view.page.settle()  # the view has found it when it is drawn
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


def check_callers(view, what):
    """Callers stand at their function, also when the text between has grown."""
    wait(view, "document.querySelector('#between-threads').textContent", f"{what}: threads of a function")
    view.page.settle()
    below = view.run("(({ scrollHeight, scrollTop, clientHeight }) => scrollHeight - scrollTop - clientHeight)(document.querySelector('.sandwich .graph'))")
    check(below <= 2, f"{what}: {below} pixels of the callers are below their place")


def check_looks(page, path, what):
    view = Page(page, path)
    for label, width, height, dark in ("light", 1600, 900, False), ("dark", 1600, 900, True), ("narrow", 390, 780, False):
        page.size(width, height, 1, dark)
        for name in VIEWS:
            view.open(f"#1&v={name}")
            check(view.run("document.documentElement.scrollWidth") <= width, f"{label} {name}: wider than the window")
            if name == "sandwich":
                check_callers(view, label)
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
        check_open(Page(page, folder / "hot.data.html"))
        check_keys(Page(page, first))
        check_served(page, sources[0])
        check_timeline(page)
        latency = check_live(page)
        check_hostile(page)
        check_looks(page, first, "view")
    print(f"{pages.checks} checks passed, {len(sources)} recordings{latency}")
    return 0


sys.exit(main())
