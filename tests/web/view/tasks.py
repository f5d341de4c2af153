#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Five questions to a recording, answered on the page by pointing only, as somebody who sees it for the first time would: counts clicks and
drags, and checks the answers. With speedscope, how far the same profile goes there.

usage: tasks.py PERFDATA [SPEEDSCOPE/dist/release]
"""
import base64
import json
import pathlib
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import browser

SECONDS, RATE, LATER = 20, 50, 12
LOST = 321


def recording(program, folder):
    """Two threads of 20 s; in one of them a function becomes hot after second 12. Some records were lost."""
    lines = []
    for number in range(SECONDS * RATE):
        at = number / RATE
        for thread, name in (11, "steady"), (12, "worker"):
            hot = "compress_block" if name == "worker" and at >= LATER else "read_input" if number % 3 else "parse_header"
            frames = [hot, *(["flush_queue"] if hot == "compress_block" else []), f"{name}_loop", "main"]
            lines.append(f"{name} 11/{thread} [{thread - 11:03d}] {100 + at + thread / 10000:.6f}:     20000000 cpu-clock: \n"
                         + "".join(f"\t{0x401000 + 256 * sum(map(ord, frame)):16x} {frame}+0x10 (/bin/tool)\n" for frame in frames) + "\n")
    script, made = folder / "tasks.txt", folder / "made.data"
    script.write_text("".join(lines))
    subprocess.run([program, "import", "--from", "perf-script", "-o", made, script], check=True)
    text = subprocess.run([program, "text", made], stdout=subprocess.PIPE, check=True, text=True).stdout.splitlines()
    text.insert(len(text) // 2, f"LOST id: 1, lost: {LOST}")
    data = folder / "tasks.data"
    subprocess.run([program, "assemble", "-o", data], input="\n".join(text) + "\n", check=True, text=True)
    return data


class Pointer:
    def __init__(self, page):
        self.page, self.count = page, 0

    def place(self, find, within=(0.5, 0.5)):
        """A place of an element: where it is in the window, as parts of its size."""
        script = (f"(() => {{ const one = {find}; one?.scrollIntoView({{ block: 'nearest' }}); const box = one?.getBoundingClientRect();"
                  " return box && [box.left, box.top, box.width, box.height]; })()")
        end = time.monotonic() + 20
        while not (box := self.page.run(script)) or not box[2]:
            if time.monotonic() > end:
                sys.exit(f"not on the page: {find}")
            time.sleep(0.1)
        return box[0] + box[2] * within[0], box[1] + box[3] * within[1]

    def click(self, find, within=(0.5, 0.5)):
        self.count += 1
        self.page.click(*self.place(find, within))
        time.sleep(0.3)
        self.page.settle()

    def drag(self, find, begin, end):
        self.count += 1
        x, y = self.place(find, (begin, 0.5))
        self.page.drag(x, y, self.place(find, (end, 0.5))[0])
        time.sleep(0.3)
        self.page.settle()

    def take(self):
        count, self.count = self.count, 0
        return count


def button(text, within="document"):
    return f"[...{within}.querySelectorAll('button')].find((one) => one.textContent.startsWith({json.dumps(text)}))"


def expect(task, got, wanted):
    if wanted not in got:
        sys.exit(f"{task}: {got!r} has no {wanted!r}")


def on_the_page(program, data):
    """Each question with the number of clicks and what answers it."""
    server = subprocess.Popen([program, "view", "-q", "--no-browser", data], stdout=subprocess.PIPE, text=True)
    url = server.stdout.readline().strip()
    done = []
    with browser.Browser() as page:
        page.size(1300, 900)
        page.open(url)
        while not page.run("!!globalThis.perfdataView?.picture"):
            time.sleep(0.05)
        pointer = Pointer(page)

        def answer(task, find, wanted):
            end = time.monotonic() + 10
            while wanted not in page.run(f"({find})?.textContent ?? ''") and time.monotonic() < end:
                time.sleep(0.1)
            expect(task, page.run(f"({find})?.textContent ?? ''"), wanted)
            done.append((task, pointer.take()))

        answer("what was lost?", "document.querySelector('[data-fact=lost]')", f"{LOST}")
        pointer.drag("document.querySelector('.strip canvas')", LATER / SECONDS, 0.999)
        answer("which function grew after second 12?", "[...document.querySelectorAll('.card')].find((one) => one.textContent.startsWith('Grew most'))?.querySelector('tr')", "compress_block")
        pointer.click(button("compress_block"))
        answer("who calls it?", "document.querySelector('[aria-label=Callers] [role=tree]')", "flush_queue")
        answer("which thread?", "document.querySelector('#between-threads')", "worker 12 100.00 %")
        pointer.click(button("Bytes"))
        answer("show the bytes of that sample", "document.querySelector('.hex')", "00 ")
        expect("bytes", page.run("document.querySelector('.record-detail h2').textContent"), "SAMPLE")
        page.open("about:blank")
    server.wait(30)
    return done


def in_speedscope(program, data, release, folder):
    profile = folder / "tasks.speedscope.json"
    subprocess.run([program, "export", "-q", "--to", "speedscope", "-o", profile, data], check=True)
    script = folder / "load.js"
    script.write_text(f"speedscope.loadFileFromBase64('x.speedscope.json', '{base64.b64encode(profile.read_bytes()).decode()}')")
    names = [one["name"] for one in json.loads(profile.read_text())["profiles"]]
    with browser.Browser() as page:
        page.size(1300, 900)
        page.open(f"{release.as_uri()}/index.html#localProfilePath={script}")
        while not page.run("document.querySelectorAll('canvas').length > 0"):
            time.sleep(0.1)
        pointer = Pointer(page)
        has = "(one.textContent.includes(WHAT) && one.getBoundingClientRect().width > 0)"
        last = f"[...document.body.querySelectorAll('*')].filter((one) => {has} && ![...one.children].some((one) => {has})).pop()"
        text = lambda what: last.replace("WHAT", json.dumps(what))
        pointer.click(text(names[0]))
        pointer.click(text(next(name for name in names if name.startswith("worker"))))
        pointer.click(text("Sandwich"))
        before = page.run("document.querySelectorAll('canvas').length")
        pointer.click(text("compress_block"))
        graphs = page.run("document.querySelectorAll('canvas').length") - before
        return names, pointer.take(), graphs


def main():
    program = pathlib.Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory(prefix="perfdata-tasks-") as name:
        folder = pathlib.Path(name)
        data = recording(program, folder)
        for task, clicks in on_the_page(program, data):
            print(f"{task:42} {clicks}")
        if len(sys.argv) > 2:
            names, clicks, graphs = in_speedscope(program, data, pathlib.Path(sys.argv[2]).resolve(), folder)
            print(f"speedscope, a profile for each thread ({', '.join(names)}): {clicks} to the callers of the function in its thread ({graphs} graphs)")


if __name__ == "__main__":
    main()
