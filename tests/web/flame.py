#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Opens flame graphs in a browser, from files, and holds what the page shows against what the program counts.

usage: flame.py PERFDATA RECORDINGS [--shots FOLDER]
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import browser

SKIPPED = 77
program, recordings = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2]).resolve()
shots = pathlib.Path(sys.argv[4]) if sys.argv[3:4] == ["--shots"] else None
scratch = tempfile.TemporaryDirectory(prefix="perfdata-flame-")
folder = pathlib.Path(scratch.name)
checks = 0

HOSTILE = [
    "</script><script>window.hurt=1</script>", "\"'><img src=x onerror=window.hurt=1>", "<!-- <script>", "\\u003c/script>",
    "]]>&lt;&amp;", "javascript:alert(1)", "{{constructor}}", "__proto__", "http://192.0.2.1/x.png", "\u202egnp\u2028\u00e9",
    "@@DATA@@@@SCRIPT@@",
]


def check(condition, what):
    global checks
    checks += 1
    if not condition:
        sys.exit(f"FAIL: {what}")


def near(a, b, what, by=1.5):
    check(abs(a - b) <= by, f"{what}: {a} is not {b}")


def run(*arguments, **options):
    return subprocess.run([program, *arguments], stdout=subprocess.PIPE, check=True, **options).stdout


def recording():
    """Two events with call chains: made here if perf can, else the one that is kept."""
    path = folder / "fresh.data"
    work = "for n in 1 2 3; do find /usr/share/doc | sort | cksum; seq 20000 | sort -R | md5sum; done"
    try:
        done = subprocess.run(["perf", "record", "-q", "-F", "997", "-g", "-e", "cpu-clock:u", "-e", "page-faults:u",
                               "-o", str(path), "sh", "-c", work], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                              timeout=60)
    except (FileNotFoundError, subprocess.TimeoutExpired):
        done = None
    if done and done.returncode == 0 and len(event_totals([str(path)])) > 1:
        return [str(path)]
    print("perf records nothing here: the recording that is kept is shown")
    return [str(recordings / "hot-multi.data"), "--no-symbols"]


def opened(page, name, options, source):
    path = folder / f"{name}.html"
    run("flame", "-q", "-o", str(path), *options, *source)
    page.open(path.as_uri())
    check(page.requests == [path.as_uri()], f"{name}: the page asked for {page.requests}")
    check(not page.errors, f"{name}: {page.errors}")
    return path


def shot(page, name):
    if shots:
        shots.mkdir(parents=True, exist_ok=True)
        page.screenshot(shots / f"{name}.png")


def total(page):
    return int(re.match(r"[\d,]+", page.run("document.getElementById('total').textContent"))[0].replace(",", ""))


def event_totals(source):
    """Samples by event, from folded stacks: [event] comes first if there are several."""
    sums = {}
    for line in run("folded", "-q", *source).decode(errors="replace").splitlines():
        stack, count = line.rsplit(" ", 1)
        event = stack.split(";", 1)[0]
        sums[event[1:-1] if event.startswith("[") else ""] = sums.get(event[1:-1] if event.startswith("[") else "", 0) + int(count)
    return sums


def point(page, node):
    """The middle of a node, in pixels of the page, and its place in the graph."""
    return page.run(f"""(() => {{
        const place = window.flame.graph.place({node}), box = window.flame.graph.canvas.getBoundingClientRect();
        return {{ ...place, left: box.left + place.x + place.width / 2, top: box.top + place.y + place.height / 2,
                  page: box.width }};
    }})()""")


def check_totals(page, source):
    sums = event_totals(source)
    names = page.run("window.flame.model.data.events")
    check(len(names) > 1 and sorted(names) == sorted(sums), f"events: {names}, {sums}")
    for index, name in enumerate(names):
        page.run(f"(() => {{ const box = document.getElementById('event'); box.value = '{index}';"
                 " box.dispatchEvent(new Event('change')); })()")
        page.settle()
        check(total(page) == sums[name], f"{name}: the page says {total(page)}, folded {sums[name]}")
    page.run("(() => { const box = document.getElementById('event'); box.value = '-1';"
             " box.dispatchEvent(new Event('change')); })()")
    page.settle()
    check(total(page) == sum(sums.values()), "all events")


def check_units(page, source):
    """Without --weight an event has its own unit, and events of different units are not added up."""
    opened(page, "units", [], source)
    sums, units = event_totals(source), page.run("window.flame.model.data.units")
    options = page.run("[...document.getElementById('event').options].map((one) => one.textContent)")
    check(options == page.run("window.flame.model.data.events"), f"there is a graph of all events: {options}")
    for index, name in enumerate(options):
        page.run(f"(() => {{ const box = document.getElementById('event'); box.value = '{index}';"
                 " box.dispatchEvent(new Event('change')); })()")
        page.settle()
        text = page.run("document.getElementById('total').textContent")
        wanted = sums[name] / (1e9 if text.endswith(" s") else 1e6 if text.endswith(" ms") else 1)
        near(float(text.split()[0].replace(",", "")), wanted, f"{name}: {text}", 0.001)
        check(units[index] == ("ns" if name.startswith("cpu-clock") else "events"), f"{name} is in {units[index]}")
    check(page.run("window.flame.model.unit") == units[-1], "the unit is that of the chosen event")


def check_zoom(page):
    node = page.run("(() => { const m = window.flame.model; return m.largest(m.largest(0)); })()")
    before = point(page, node)
    page.click(before["left"], before["top"])
    after = point(page, node)
    near(after["width"], before["page"] - 16, "the zoomed frame fills the width")
    name = page.run(f"window.flame.model.name({node})")
    check(page.run("[...document.querySelectorAll('#path button')].map((one) => one.textContent)")[-1] == name,
          "the path ends with the zoomed frame")
    check(page.run("document.querySelectorAll('#path button').length") == 3, "the path has the zoomed frame's callers")
    shot(page, "zoomed")
    page.key("Escape")
    near(point(page, node)["width"], before["width"], "Escape goes back")
    page.click(before["left"], before["top"])
    page.run("document.querySelector('#path button').click()")
    page.settle()
    near(point(page, node)["width"], before["width"], "the path goes back")
    page.mouse("mouseMoved", before["left"], before["top"])
    page.settle()
    check(name in page.run("document.getElementById('tip').textContent"), "the tip names the frame")
    check(" of all" in page.run("document.getElementById('tip').textContent"), "the tip has the share")


def check_keys(page):
    page.run("window.flame.graph.canvas.focus()")
    page.key("ArrowUp")
    check(page.run("window.flame.graph.focus") == page.run("window.flame.model.largest(0)"), "up goes to the largest child")
    check(page.run("document.getElementById('detail').textContent").startswith(
        page.run("window.flame.model.name(window.flame.graph.focus)")), "the focused frame is described")
    page.key("Enter")
    check(page.run("window.flame.graph.zoom") == page.run("window.flame.graph.focus") != 0, "Enter zooms")
    page.key("Escape")
    check(page.run("window.flame.graph.zoom") == 0, "Escape goes back")


def matched(folded, pattern):
    """Percent of samples with a name that matches."""
    found = sum(count for names, count in folded if any(re.search(pattern, name, re.I) for name in names))
    return 100 * found / sum(count for _, count in folded)


def common_name(folded):
    """The plain name that has the largest share which is not all."""
    names = sorted({name for stack, _ in folded for name in stack if re.fullmatch(r"\w+", name)})
    return max((share, name) for name in names[:300] if (share := matched(folded, name)) < 90)[1]


def check_search(page, pattern, folded):
    page.run("window.flame.graph.canvas.focus()")
    page.key("/")
    check(page.run("document.activeElement.id") == "search", "/ goes to the search")
    page.type(pattern)
    text = page.run("document.getElementById('matched').textContent")
    share = matched(folded, pattern)
    near(float(text.split()[0]), share, f"the matched share: '{text}'", 0.06)
    check(0 < share < 100, f"{pattern} matches {share} %: the test says nothing")
    shot(page, "search")
    page.run("(() => { const box = document.getElementById('search'); box.value = '(';"
             " box.dispatchEvent(new Event('input')); })()")
    check(page.run("document.getElementById('search').getAttribute('aria-invalid')") == "true", "( is no expression")
    page.key("Escape")
    check(page.run("document.getElementById('matched').textContent") == "", "Escape ends the search")


def check_time(page):
    whole = total(page)
    count = page.run("window.flame.model.data.sliceCount")
    check(count > 1, "there are slices of time")
    sums = page.run("[...window.flame.model.density()]")
    check(sum(sums) == whole, "the slices have all samples")
    box = page.run("(() => { const b = document.getElementById('time').getBoundingClientRect();"
                   " return [b.left, b.top, b.width, b.height]; })()")
    page.drag(box[0] + 1, box[1] + box[3] / 2, box[0] + box[2] / 2)
    first, last = page.run("[window.flame.model.first, window.flame.model.last]")
    check(first == 0 and abs(last - count // 2) <= 1, f"dragging chose {first} to {last} of {count}")
    check(total(page) == sum(sums[first:last + 1]) < whole, "the chosen time has fewer samples")
    shot(page, "time")
    page.run("document.getElementById('time').focus()")
    page.key("ArrowRight")
    check(page.run("window.flame.model.first") == 1, "an arrow moves the chosen time")
    check(total(page) == sum(sums[1:last + 2]), "the moved time has its own samples")
    page.run("document.getElementById('time-all').click()")
    check(total(page) == whole, "all is all again")


def check_hostile(page):
    text = "".join(f"task;{name.replace(';', ':')};end {index + 1}\n" for index, name in enumerate(HOSTILE))
    (folder / "hostile.folded").write_text(text)
    source = ["--folded", str(folder / "hostile.folded")]
    opened(page, "hostile", ["--title", HOSTILE[0]], source)
    check(page.run("window.hurt === undefined && ({}).constructor === Object"), "a name was run")
    names = page.run("(() => { const m = window.flame.model; return [...Array(m.count).keys()].map((n) => m.name(n)); })()")
    for name in HOSTILE:
        check(name.replace(";", ":") in names, f"{name!r} is not there as it is")
    check(page.run("document.title") == page.run("document.getElementById('title').textContent") == HOSTILE[0], "the title")
    check(page.run("document.querySelectorAll('script').length") == 2, "there are more scripts than the page's")
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
    for name, width, height, ratio, dark in (("light", 1300, 800, 1, False), ("dark", 1300, 800, 2, True),
                                             ("narrow", 400, 760, 1, False)):
        page.size(width, height, ratio, dark)
        opened(page, name, [], source)
        check(page.run("document.documentElement.scrollWidth") <= width, f"{name}: the page is wider than the window")
        check(page.run("window.flame.graph.canvas.width") == width * ratio, f"{name}: the canvas has the screen's pixels")
        near(point(page, 0)["width"], width - 16, f"{name}: the root fills the width")
        shot(page, name)


def check_large(page):
    """A deep stack and many frames."""
    lines = ["t;" + ";".join(f"f{n}" for n in range(3000)) + " 5\n"]
    lines += [f"t;wide{n % 300};x{n};y{n % 7};z{n % 11} 1\n" for n in range(25000)]
    (folder / "large.folded").write_text("".join(lines))
    opened(page, "large", [], ["--folded", str(folder / "large.folded")])
    check(page.run("window.flame.model.count") > 100000 - 25000, "all frames are there")
    took = page.run("""(() => { const start = performance.now(); window.flame.graph.draw(); return performance.now() - start; })()""")
    check(took < 500, f"drawing took {took} ms")
    deep = page.run("(() => { const m = window.flame.model; let n = 0; for (let i = 1; i < m.count; i++)"
                    " if (m.depth[i] > m.depth[n]) n = i; return n; })()")
    check(page.run(f"window.flame.model.depth[{deep}]") == 3001, "the deepest frame")


def main():
    if not browser.program():
        print("no chromium is installed (tools/setup web)")
        return SKIPPED
    recorded = recording()
    source = [*recorded, "--weight", "samples"]
    folded = [([name for name in line.rsplit(" ", 1)[0].split(";")[1:]], int(line.rsplit(" ", 1)[1]))
              for line in run("folded", "-q", "--full-names", *source).decode().splitlines()]
    with browser.Browser() as page:
        page.size(1300, 800)
        check_units(page, recorded)
        opened(page, "multi", [], source)
        check_totals(page, source)
        check_zoom(page)
        check_keys(page)
        check_search(page, common_name(folded), folded)
        check_time(page)
        check_policy(page)
        check_hostile(page)
        check_large(page)
        check_looks(page, source)
    print(f"{checks} checks passed")
    return 0


sys.exit(main())
