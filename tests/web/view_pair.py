#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Opens pages of two recordings in a browser, and holds the changes that each view shows and colours against perfdata report and diff.

usage: view_pair.py PERFDATA RECORDINGS [--shots FOLDER]
"""
import collections
import json
import re
import sys
import time

import browser
import pages
from pages import (DEMO, Page, by_function, check, check_functions, check_widths, count, folder, recordings, report, run,
                   wait)

SKIPPED = 77


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
            const queue = [...nodes.children(0)];
            for (let left = 60; queue.length > 0 && left > 0; left--) {{
                const node = queue.shift(), path = [];
                for (let at = node; at > 0; at = nodes.parent(at)) path.unshift(nodes.func(at));
                const got = app.comparison.shares(nodes, node), wanted = sharesOf(names(path), {inverted}, within);
                if (Math.abs(got.before - wanted[0]) > 1e-9 || Math.abs(got.after - wanted[1]) > 1e-9) wrong.push([names(path), got, wanted]);
                queue.push(...nodes.children(node));
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


def main():
    if not browser.program():
        print("no chromium is installed (tools/setup web)")
        return SKIPPED
    with browser.Browser() as page:
        page.size(1300, 1000)
        check_compare(page, recordings / "hot-regs.data", recordings / "hot.data")
        check_colours(page)
    print(f"{pages.checks} checks passed")
    return 0


sys.exit(main())
