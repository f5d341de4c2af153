#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Opens flame graphs in a browser, from files, and holds what the page shows against what the program counts.

usage: flame.py PERFDATA RECORDINGS [--shots FOLDER]
"""
import json
import re
import sys
import time

import browser
import pages
from pages import Page, check, folder, fresh, recordings, run, shots, wait

SKIPPED = 77
HOSTILE = [
    "</script><script>window.hurt=1</script>", "\"'><img src=x onerror=window.hurt=1>", "<!-- <script>", "\\u003c/script>",
    "]]>&lt;&amp;", "javascript:alert(1)", "{{constructor}}", "__proto__", "http://192.0.2.1/x.png", "\u202egnp\u2028\u00e9",
    "@@DATA@@@@SCRIPT@@",
]
GRAPH = "perfdataView.app.current.graph"
SESSION = "perfdataView.app.session"


def near(a, b, what, by=1.5):
    check(abs(a - b) <= by, f"{what}: {a} is not {b}")


def event_totals(source):
    """Amounts by event, from folded stacks: [event] comes first if there are several."""
    sums = {}
    for line in run("folded", "-q", *source).decode(errors="replace").splitlines():
        stack, count = line.rsplit(" ", 1)
        event = stack.split(";", 1)[0]
        name = event[1:-1] if event.startswith("[") else ""
        sums[name] = sums.get(name, 0) + int(count)
    return sums


def recording():
    """Two events with call chains: made here if perf can, else the one that is kept."""
    made = fresh()
    if made and len(event_totals([str(made)])) > 1:
        return [str(made)]
    print("perf records nothing here: the recording that is kept is shown")
    return [str(recordings / "hot-multi.data"), "--no-symbols"]


def opened(page, name, options, source):
    path = folder / f"{name}.html"
    run("flame", "-q", "-o", str(path), *options, *source)
    view = Page(page, path)
    view.open("")
    check(view.state()["view"] == "flame", f"{name}: the page opens with {view.state()['view']}")
    return view


def shot(page, name):
    if shots:
        shots.mkdir(parents=True, exist_ok=True)
        page.screenshot(shots / f"flame-{name}.png")


def total(view):
    return view.run(f"{SESSION}.sums.all")


def events(view):
    return view.run("[...document.querySelectorAll('label')].find((one) => one.textContent.startsWith('Event')).querySelector('select').options.length"
                    f" && {SESSION}.recording.header.events.map((one) => one.name)")


def choose_event(view, index):
    view.update({"event": index})
    wait(view, f"{SESSION}.samples.total === {SESSION}.recording.header.events[{index}].samples", f"event {index}")


def check_totals(view, source):
    sums, names = event_totals(source), events(view)
    check(len(names) > 2 and sorted(names) == sorted([*sums, "all events"]), f"events: {names}, {sums}")
    for index, name in enumerate(names):
        choose_event(view, index)
        wanted = sums.get(name, sum(sums.values()))
        check(total(view) == wanted, f"{name}: the page says {total(view)}, folded {wanted}")
        check(view.texts("#selected") == [f"{wanted:,} samples"], f"{name}: {view.texts('#selected')}")
    choose_event(view, 0)


def check_units(page, source):
    """Without --weight an event has its own unit, and events of different units are not added up."""
    view = opened(page, "units", [], source)
    sums, names = event_totals(source), events(view)
    check(sorted(names) == sorted(sums), f"there is a graph of all events: {names}")
    counts = event_totals([*source, "--weight", "samples"])
    for index, name in enumerate(names):
        choose_event(view, index)
        check(total(view) == sums[name], f"{name}: {total(view)}, {sums[name]}")
        unit = view.run(f"{SESSION}.unit")
        check(unit == ("ns" if name.startswith("cpu-clock") else "events"), f"{name} is in {unit}")
        view.update({"weight": "samples"})
        check(total(view) == counts[name] and view.run(f"{SESSION}.unit") == "samples", f"{name}: {total(view)} samples, {counts[name]}")
        view.update({"weight": "period"})


def place(view, index):
    """The middle of a box, in pixels of the page, and its place in the graph."""
    return view.run(f"""(() => {{
        const place = {GRAPH}.place({index}), box = {GRAPH}.element.querySelector("canvas").getBoundingClientRect();
        return {{ ...place, left: box.left + place.x + place.width / 2, top: box.top + place.y + place.height / 2, page: box.width }};
    }})()""")


def double_click(page, at):
    page.click(at["left"], at["top"])
    page.mouse("mousePressed", at["left"], at["top"], 2, 1)
    page.mouse("mouseReleased", at["left"], at["top"], 2)
    page.settle()


def check_zoom(page, view):
    """The second level, as the root of the stacks is the task."""
    index, node, name = view.run(f"""(() => {{
        const {{ boxes, nodes }} = {GRAPH}, index = boxes.findIndex((one) => one.depth === 2 && one.node >= 0);
        return [index, boxes[index].node, {SESSION}.recording.name(nodes.func(boxes[index].node))];
    }})()""")
    before = place(view, index)
    double_click(page, before)
    check(view.run(f"{GRAPH}.zoom") == node, "a double click zooms")
    near(place(view, 0)["width"], before["page"], "the zoomed frame fills the width")
    path = view.texts(".flame .path button")
    check(path[-1] == name and len(path) == 3, f"the path has the zoomed frame and its callers: {path}")
    shot(page, "zoomed")
    view.run(f"{GRAPH}.element.focus()")
    page.type_key("0")
    near(place(view, index)["width"], before["width"], "0 goes back")
    double_click(page, before)
    page.key("Escape")
    page.key("Escape")
    near(place(view, index)["width"], before["width"], "Escape goes back")
    double_click(page, before)
    view.run("document.querySelector('.flame .path button').click()")
    page.settle()
    near(place(view, index)["width"], before["width"], "the path goes back")
    page.mouse("mouseMoved", 1, 1)
    page.mouse("mouseMoved", before["left"], before["top"])
    page.settle()
    tip = " ".join(view.texts(".tip"))
    check(name in tip and " of all" in tip, f"the tip names the frame and has its share: {tip}")


def check_keys(page, view):
    view.run(f"perfdataView.app.select([], -1), {GRAPH}.element.focus()")
    page.settle()
    page.key("ArrowUp")
    largest = view.run(f"{GRAPH}.nodes.children(0)[0]")
    check(view.run(f"{GRAPH}.selected") == largest, "up goes to the largest child")
    name = view.run(f"{SESSION}.recording.name({GRAPH}.nodes.func({largest}))")
    check(view.texts(".status")[0].startswith(name), "the selected frame is described")
    page.type_key("+")
    check(view.run(f"{GRAPH}.zoom") == largest, "+ zooms")
    page.type_key("0")
    check(view.run(f"{GRAPH}.zoom") == 0, "0 goes back")
    page.key("Escape")


def matched(folded, pattern):
    """Percent of samples with a name that matches."""
    found = sum(count for names, count in folded if any(re.search(pattern, name, re.I) for name in names))
    return 100 * found / sum(count for _, count in folded)


def common_name(folded):
    """The plain name that has the largest share which is not all."""
    names = sorted({name for stack, _ in folded for name in stack if re.fullmatch(r"\w+", name)})
    return max((share, name) for name in names[:300] if (share := matched(folded, f"^{name}$")) < 90)[1]


def check_search(page, view, name, folded):
    """A regular expression between slashes. The page matches names with those of their objects behind a blank."""
    view.update({"event": view.run(f"{SESSION}.recording.header.events.length - 1")})
    wait(view, f"{SESSION}.samples.total === {SESSION}.recording.header.events.at(-1).samples", "all events")
    view.run(f"{GRAPH}.element.focus()")
    page.key("/")
    check(view.run("document.activeElement.type") == "search", "/ goes to the search")
    page.type(f"/^{name} |^{name}$/")
    text, share = view.texts(".found")[0], matched(folded, f"^{name}$")
    near(float(text.split()[0]), share, f"the matched share: '{text}'", 0.06)
    check(0 < share < 100, f"{name} matches {share} %: the test says nothing")
    shot(page, "search")
    view.run("(() => { const box = document.querySelector('input[type=search]'); box.value = '/('; box.dispatchEvent(new Event('input')); })()")
    page.settle()
    check(view.texts(".found") == ["not a regular expression"], f"/( is no expression: {view.texts('.found')}")
    check(view.run("document.querySelector('input[type=search]').getAttribute('aria-invalid')") == "true", "the box says so")
    page.key("Escape")
    check(view.texts(".found") == [""] and view.state()["search"] == "", "Escape ends the search")
    check(not view.run("document.querySelector('input[type=search]').hasAttribute('aria-invalid')"), "nothing is wrong any more")
    choose_event(view, 0)


def check_time(page, view):
    whole = total(view)
    slices = view.run(f"{SESSION}.recording.header.aggregated.slices")
    check(slices > 1, "there are slices of time")
    sums = view.run("[...perfdataView.app.strip.bins]")
    check(len(sums) == slices and sum(sums) == whole, "the slices have all samples")
    box = view.run("(() => { const b = document.querySelector('.strip canvas').getBoundingClientRect(); return [b.left, b.top, b.width, b.height]; })()")
    page.drag(box[0] + 1, box[1] + box[3] / 2, box[0] + box[2] / 2)
    chosen = view.state()["ranges"]
    check(len(chosen) == 1 and chosen[0]["from"] < chosen[0]["to"], f"dragging chose {chosen}")
    ns = view.run(f"{SESSION}.whole.to + 1") / slices
    inside = [value for at, value in enumerate(sums) if chosen[0]["from"] <= at * ns + ns // 2 <= chosen[0]["to"]]
    check(total(view) == sum(inside) < whole, f"the chosen time has {total(view)}, not {sum(inside)} of {whole}")
    check(abs(len(inside) - slices / 2) <= 1, f"half of the width is {len(inside)} of {slices} slices")
    shot(page, "time")
    view.run("document.querySelector('.strip canvas').focus()")
    page.key("ArrowRight")
    check(view.state()["ranges"][0]["from"] > chosen[0]["from"], "an arrow moves the chosen time")
    view.run("document.querySelector('.crumb .cross').click()")
    page.settle()
    check(total(view) == whole, "all is all again")


def check_views(view, source):
    """Views of stacks are there, with the same sums; those of single samples are not."""
    tabs = view.run("perfdataView.app.tabs.map((one) => one.view)")
    check(tabs == ["overview", "flame", "tree", "functions", "sandwich"], f"views: {tabs}")
    whole, facts = total(view), view.texts(".facts li")
    check(any("lost" in fact for fact in facts) and any("over " in fact for fact in facts), f"the quality of the profile: {facts}")
    for name in tabs:
        view.open(f"#1&v={name}&w=samples")
        check(view.state()["view"] == name and total(view) == whole, f"{name}: {total(view)}, {whole}")
        check(view.texts(".facts li") == facts, f"{name}: {view.texts('.facts li')}")
        check(view.run("document.querySelector('main').textContent.length") > 0, f"{name} is empty")
        check("Code" not in view.texts("button"), f"{name} leads to code that the page has not")
    view.open("#1&v=timeline")
    check(not view.page.errors and view.run("document.querySelector('.overview') !== null"), "another view than there is")


def check_turned(page, source):
    """Options that turn the graph, and how stacks hang then."""
    for options, invert, down in ((["--reverse"], True, False), (["--reverse", "--inverted"], True, True), (["--inverted"], False, True)):
        view = opened(page, "turned", options, source)
        check(view.state()["invert"] == invert and view.run(f"{GRAPH}.down") == down, f"{options}: {view.state()}")
    view.run(f"{GRAPH}.element.focus()")
    page.type_key("1")
    view.open(f"{view.run('location.hash')}")
    check(view.state()["view"] == "overview", "the link of another view is not that of the graph")


def check_difference(page, source):
    view = opened(page, "difference", ["--weight", "samples", "--diff", source[0], "--comm", "sort,find,hot"], source)
    check(view.state()["colour"] == "change" and "compare" in view.run("perfdataView.app.tabs.map((one) => one.view)"), "colours by change")
    check(view.texts(".change-legend span")[0].strip() == "shrank", "the legend of changes")
    wait(view, "perfdataView.app.comparison.isReady", "the comparison")
    check(view.run("perfdataView.app.comparison.functions(false).every((one) => Math.abs(one.after - one.before) < 1e-9)"),
          "the same recording has changed")


def check_hostile(page):
    text = "".join(f"task;{name.replace(';', ':')};end {index + 1}\n" for index, name in enumerate(HOSTILE))
    (folder / "hostile.folded").write_text(text)
    source = ["--folded", str(folder / "hostile.folded")]
    view = opened(page, "hostile", ["--title", HOSTILE[0]], source)
    check(page.run("window.hurt === undefined && ({}).constructor === Object"), "a name was run")
    names = view.run(f"(() => {{ const {{ recording }} = {SESSION}, all = []; for (let f = 0; f < recording.functionCount; f++) all.push(recording.name(f)); return all; }})()")
    for name in HOSTILE:
        wanted = name.replace(";", ":").replace("\u202e", "\ufffd" * 3)  # a byte each
        check(wanted in names, f"{name!r} is not there: {names}")
    check(page.run("document.title").startswith(HOSTILE[0]) and view.texts("h1") == [HOSTILE[0]], "the title")
    check(page.run("document.querySelectorAll('script').length") <= 2, "there are more scripts than the page's")
    path = folder / "hostile.svg"
    run("flame", "--format", "svg", "-o", str(path), "--title", HOSTILE[0], *source)
    page.open(path.as_uri())
    check(page.requests == [path.as_uri()] and not page.errors, f"hostile.svg: {page.requests} {page.errors}")
    check(page.run("document.querySelectorAll('script, img, parsererror').length") == 0, "the picture has foreign elements")
    titles = page.run("[...document.querySelectorAll('g > title')].map((one) => one.textContent)")
    check(any(one.startswith(HOSTILE[0].replace(";", ":")) for one in titles), "the picture has no such frame")


def check_policy(page):
    """What the policy must refuse, were it ever tried."""
    refused = page.run("""(async () => {
        const answers = [];
        document.addEventListener('securitypolicyviolation', (event) => answers.push(event.effectiveDirective));
        await fetch('http://192.0.2.1/').catch(() => 0);
        const image = new Image();
        image.src = 'http://192.0.2.1/x.png';
        const script = document.createElement('script');
        script.textContent = 'window.hurt = 1';
        document.body.append(script);
        await new Promise((done) => setTimeout(done, 200));
        return [window.hurt === undefined, ...answers.map((one) => one.replace('-elem', '')).sort()];
    })()""")
    check(refused == [True, "connect-src", "img-src", "script-src"], f"the policy refused {refused}")


def check_looks(page, source):
    for name, width, height, ratio, dark in (("light", 1600, 900, 1, False), ("dark", 1300, 800, 2, True), ("narrow", 390, 760, 1, False)):
        page.size(width, height, ratio, dark)
        view = opened(page, name, [], source)
        check(page.run("document.documentElement.scrollWidth") <= width, f"{name}: the page is wider than the window")
        canvas = view.run(f"{GRAPH}.element.querySelector('canvas').width")
        near(canvas, view.run(f"{GRAPH}.element.clientWidth") * ratio, f"{name}: the canvas has the screen's pixels")
        near(place(view, 0)["width"], place(view, 0)["page"], f"{name}: the root fills the width")
        shot(page, name)
    page.size(1300, 800)


def check_large(page):
    """A deep stack and many frames."""
    lines = ["t;" + ";".join(f"f{n}" for n in range(3000)) + " 5\n"]
    lines += [f"t;wide{n % 300};x{n};y{n % 7};z{n % 11} 1\n" for n in range(25000)]
    (folder / "large.folded").write_text("".join(lines))
    view = opened(page, "large", [], ["--folded", str(folder / "large.folded")])
    check(total(view) == 25005, "all counts are there")
    check(view.run(f"{SESSION}.stage.tree.count") > 100000 - 25000, "all frames are there")
    took = view.run(f"(() => {{ const start = performance.now(); {GRAPH}.draw(); return performance.now() - start; }})()")
    check(took < 500, f"drawing took {took} ms")
    deepest = view.run(f"""(() => {{
        const {{ parent }} = {SESSION}.stage.tree, depth = new Int32Array(parent.length);
        for (let row = 1; row < parent.length; row++) depth[row] = depth[parent[row]] + 1;
        return depth.reduce((most, one) => Math.max(most, one));
    }})()""")
    check(deepest == 3001, f"the deepest frame is {deepest}")


def check_counts(page):
    """Counts beyond what 32 bits hold, and no time."""
    (folder / "counts.folded").write_text("t;a 3000000000000\nt;b 1000000000000\n")
    view = opened(page, "counts", ["--title", json.dumps("counts")], ["--folded", str(folder / "counts.folded")])
    check(view.texts("#selected") == ["4,000,000,000,000 counts"], f"{view.texts('#selected')}")
    check(view.run("document.querySelector('.strip').hidden"), "there is a time to select")
    view.run(f"{GRAPH}.choose({GRAPH}.nodes.children({GRAPH}.nodes.children(0)[0])[0])")
    page.settle()
    check("3,000,000,000,000 counts, 75.00 % of all" in view.texts(".status")[0], f"{view.texts('.status')}")
    page.type_key("x")
    time.sleep(0.1)
    check(view.texts("#selected, .crumb small")[-1].startswith("\u22123,000,000,000,000"), f"{view.texts('.crumb small')}")


def main():
    if not browser.program():
        print("no chromium is installed (tools/setup web)")
        return SKIPPED
    recorded = recording()
    source = [*recorded, "--weight", "samples"]
    folded = [([name for name in line.rsplit(" ", 1)[0].split(";")[1:]], int(line.rsplit(" ", 1)[1]))
              for line in run("folded", "-q", "--short-names", *source).decode(errors="replace").splitlines()]
    with browser.Browser() as page:
        page.size(1300, 800)
        check_units(page, recorded)
        view = opened(page, "multi", [], source)
        check_totals(view, source)
        check_zoom(page, view)
        check_keys(page, view)
        check_search(page, view, common_name(folded), folded)
        check_time(page, view)
        check_policy(page)
        check_views(view, source)
        check_turned(page, source)
        check_difference(page, recorded)
        check_hostile(page)
        check_large(page)
        check_counts(page)
        check_looks(page, source)
    print(f"{pages.checks} checks passed")
    return 0


sys.exit(main())
