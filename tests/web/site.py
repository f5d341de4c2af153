#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Builds the page that reads recordings itself, and holds the reports of the library in it, which is WebAssembly, against those of the
program: of recordings of all kinds under node, and of some in a browser, where they are dropped.

usage: site.py PERFDATA RECORDINGS CORPUS FOLDER [--shots FOLDER]
FOLDER is where the page is built. Without the corpus there are fewer recordings.
Exit status: 77 if there are no compilers or no browser here.
"""
import json
import os
import pathlib
import random
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import time

import browser
import pages
from pages import check

HERE = pathlib.Path(__file__).resolve().parent
TOP = HERE.parent.parent
SKIPPED = 77
REQUEST = "report?rows=0&sort=comm,dso,sym"

program, recordings, corpus, folder = [pathlib.Path(path).resolve() for path in sys.argv[1:5]]
shots = pathlib.Path(sys.argv[6]) if sys.argv[5:6] == ["--shots"] else None
scratch_folder = tempfile.TemporaryDirectory(prefix="perfdata-site-")
scratch = pathlib.Path(scratch_folder.name)
nothing = scratch / "nothing"
nothing.mkdir()


def build():
    """The page; ends the program where it cannot be built."""
    done = subprocess.run([TOP / "tools" / "site", folder], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    print(done.stdout.strip())
    if done.returncode == SKIPPED or not shutil.which("node") or not browser.program():
        print("SKIP: compilers, node and chromium come from tools/setup web")
        sys.exit(SKIPPED)
    check(done.returncode == 0, "the page can be built")
    return folder / "site" / "index.html"


# ---- which recordings ----

def rows():
    path = corpus / "manifest.tsv"
    if not path.exists():
        return []
    lines = path.read_text(encoding="utf-8").split("\n")
    names = lines[0].split("\t")
    found = [dict(zip(names, line.split("\t"))) for line in lines[1:] if line]
    return [row for row in found if row["kind"] == "data" and row["mode"] != "dir" and int(row["size"]) < 3_000_000]


def damaged(paths):
    """Copies that end too early, and copies with wrong bytes here and there."""
    made = []
    for number, path in enumerate(paths):
        data = bytearray(path.read_bytes())
        if number % 2:
            data = data[:len(data) * 2 // 3]
        else:
            chance = random.Random(number)
            for _ in range(8):
                data[chance.randrange(300, len(data))] = chance.randrange(256)
        made.append(scratch / f"damaged-{number}-{path.name}")
        made[-1].write_bytes(data)
    return made


def packed():
    """Whole files compressed by programs."""
    made = []
    for name, command in ("hot.data.gz", ["gzip", "-c"]), ("hot.data.xz", ["xz", "-c"]), ("hot.data.zst", ["zstd", "-qc"]):
        if shutil.which(command[0]):
            made.append(scratch / name)
            made[-1].write_bytes(subprocess.run([*command, recordings / "hot.data"], stdout=subprocess.PIPE, check=True).stdout)
    return made


def samples():
    """Recordings of each kind, and a bundle with names."""
    found = sorted(recordings.glob("*.data"))
    chosen = [TOP / "tests" / "demo" / "hot.tar.zst", *found[:8], *damaged(found[:6]), *packed()]
    kinds = {
        "big-endian": lambda row: row["byteorder"] == "big",
        "compressed": lambda row: "COMPRESSED" in row["features"],
        "pipe": lambda row: row["mode"] == "pipe",
        "simpleperf": lambda row: "/simpleperf/" in row["path"],
        "stack": lambda row: "callgraph" in row["path"],
    }
    table = rows()
    for name, fits in kinds.items():
        some = [corpus / row["path"] for row in table if fits(row)][::3][:7]
        check(some or not table, f"the corpus has nothing that is {name}")
        chosen += [path for path in some if path not in chosen and path.exists()]
    return chosen + sorted((corpus / "defects").glob("*.data"))


# ---- under node ----

def alone():
    """What goes in front of a command, so that debug files of this machine give it no names."""
    debug = "/usr/lib/debug"
    if not os.path.isdir(debug):
        return []
    hidden = ["unshare", "-rm", "sh", "-c", f'mount -t tmpfs none {debug} && exec "$@"', "sh"]
    return hidden if subprocess.run([*hidden, "true"], stderr=subprocess.DEVNULL, check=False).returncode == 0 else []


def native(path):
    """What the program reports; None if it cannot."""
    where = [] if ".tar" in path.name else ["--symfs", nothing]
    done = subprocess.run([*alone(), program, "report", "-q", "--json", "-g", "none", "-s", "comm,dso,sym", *where, "-i", path],
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False, env={**os.environ, "HOME": str(nothing)})
    return json.loads(done.stdout) if done.stdout.strip() else None


def ask(page, questions):
    lines = "".join(json.dumps([str(word) for word in words]) + "\n" for words in questions)
    done = subprocess.run(["node", "--no-warnings", HERE / "site" / "ask.js", page], input=lines, stdout=subprocess.PIPE, text=True, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def first_difference(one, other, where=""):
    if isinstance(one, dict) and isinstance(other, dict):
        for key in [*one, *(key for key in other if key not in one)]:
            if one.get(key) != other.get(key):
                return first_difference(one.get(key), other.get(key), f"{where}.{key}")
    if isinstance(one, list) and isinstance(other, list):
        for index, (left, right) in enumerate(zip(one, other)):
            if left != right:
                return first_difference(left, right, f"{where}[{index}]")
    return f"{where}: {json.dumps(one)[:300]} is not {json.dumps(other)[:300]}"


def check_reports(page):
    paths = samples()
    equal = refused = count = 0
    for path, answer in zip(paths, ask(page, [[REQUEST, path] for path in paths])):
        wanted = native(path)
        if wanted is None:
            text = answer.get("error") or answer["answer"]
            check("it failed" not in text and ("error" in answer or '"error"' in text), f"{path}: only the site reads it: {text[:300]}")
            refused += 1
            continue
        check("answer" in answer, f"{path}: the site cannot read it: {answer.get('error')}")
        got = json.loads(answer["answer"])
        check(got == wanted, f"{path}: {first_difference(got, wanted)}")
        equal += 1
        count += sum(len(table["rows"]) for table in got["tables"])
    print(f"{equal} recordings have the same {count} rows, {refused} cannot be read by either")
    check(equal > 10 and count > 100, "recordings that can be read")


# ---- in a browser ----

class Site:
    def __init__(self, page, path):
        self.page = page
        page.open(path.as_uri())

    def drop(self, *paths, folder=False):
        """What an input of the page is given; waits until something is shown."""
        self.page.run("globalThis.perfdataView = undefined")
        root = self.page.send("DOM.getDocument")["root"]["nodeId"]
        node = self.page.send("DOM.querySelector", nodeId=root, selector=f"label:nth-of-type({2 if folder else 1}) input[type=file]")["nodeId"]
        self.page.send("DOM.setFileInputFiles", nodeId=node, files=[str(path) for path in paths])
        self.wait(paths)

    def drag(self, path):
        """What is dropped by the pointer."""
        self.page.run("globalThis.perfdataView = undefined")
        for kind in "dragEnter", "dragOver", "drop":
            self.page.send("Input.dispatchDragEvent", type=kind, x=300, y=300, data={"items": [], "files": [str(path)], "dragOperationsMask": 1})
        self.wait(path)

    def wait(self, paths):
        end = time.monotonic() + self.page.limit
        while not self.page.run("!!globalThis.perfdataView?.picture || document.querySelector('.refused') !== null"):
            check(time.monotonic() < end, f"{paths}: nothing is shown")
            time.sleep(0.02)
        self.page.settle()

    def ask(self, request):
        return self.page.run(f"perfdataView.app.fetch({json.dumps(request)}).then((answer) => answer.text())")

    def names(self):
        return self.page.run("(() => { const { recording } = perfdataView.app, all = []; for (let f = 0; f < recording.functionCount; f++) all.push(recording.name(f)); return all; })()")


def check_dropped(page, path):
    own = [path.as_uri()]
    for source in [recordings / name for name in ("hot.data", "hot-zstd.data", "hot-pipe.data", "hot-multi.data", "hot-trace.data")] + packed():
        site = Site(page, path)
        site.drop(source)
        check(json.loads(site.ask(REQUEST)) == native(source), f"{source.name}: the report in the browser")
        for request, words in ("info", "format "), ("check", "samples"), ("report.txt", "# Samples"), ("script?count=5", "hot"):
            check(words in site.ask(request), f"{source.name}: {request}: {site.ask(request)[:200]}")
        check(json.loads(site.ask("records?from=0&count=3"))["records"], f"{source.name}: records")
        check(not page.errors, f"{source.name}: {page.errors}")
        check(page.requests[:1] == own and all(one.startswith("blob:") for one in page.requests[1:]), f"{source.name}: requests: {page.requests}")


def check_folder(page, path):
    """A recording that is a folder, alone and below another one."""
    for inside in "folder.data", "below/other.data":
        folder = scratch / "folders" / inside
        folder.parent.mkdir(parents=True, exist_ok=True)
        shutil.copytree(recordings / "hot-dir", folder)
        site = Site(page, path)
        site.drop(folder if inside == "folder.data" else folder.parent, folder=True)
        name = page.run("perfdataView.app.recording.header.name")
        check(name == folder.name, f"its name is {name}")
        check(json.loads(site.ask(REQUEST)) == native(folder), f"{inside}: the report of a folder")
        check("samples" in site.ask("check"), site.ask("check"))
    site = Site(page, path)
    site.drag(recordings / "hot.data")
    check(json.loads(site.ask(REQUEST)) == native(recordings / "hot.data"), "the report of a file that was dragged")
    site = Site(page, path)
    site.drag(recordings / "hot-dir")
    # of a page that is a file itself
    said = page.run("document.querySelector('.refused')?.textContent ?? perfdataView.app.recording.header.name")
    check(said == "hot-dir" or "choose it by the button" in said, said)


def check_names(page, path):
    """Names come from a bundle, or from programs that are dropped later."""
    bundle = TOP / "tests" / "demo" / "hot.tar.zst"
    site = Site(page, path)
    site.drop(bundle)
    check("burn_div" in site.names(), f"the bundle has names: {site.names()}")
    check(json.loads(site.ask(REQUEST)) == native(bundle), "the report of the bundle")
    unpacked = scratch / "unpacked"
    subprocess.run([program, "unpack", "-q", "-o", unpacked, bundle], check=True, stdout=subprocess.DEVNULL)
    plain = scratch / "plain.data"
    subprocess.run([program, "convert", "-q", "--no-compress", "-o", plain, bundle], check=True, stdout=subprocess.DEVNULL)
    site = Site(page, path)
    site.drop(plain)
    check("burn_div" not in site.names(), "names come out of nothing")
    page.run("[...document.querySelectorAll('button')].find((one) => one.textContent.startsWith('Open')).click()")
    objects = [one for one in unpacked.rglob("*") if one.is_file() and one.read_bytes()[:4] == b"\x7fELF"]
    check(objects, "the bundle has programs")
    site.drop(*objects)
    check("burn_div" in site.names(), f"the dropped programs give names: {site.names()}")


IN_MEMORY = """event {
	name: "cpu-clock"
	ids: [7]
	type: software
	sample_period: 1000000
	sample_type: IP|TID|TIME|PERIOD|IDENTIFIER
	flags: mmap|comm|sample_id_all
}
feature ARCH {value: "x86_64"}
MMAP misc: kernel, pid: 4294967295, tid: 0, addr: 0xffffffff81000000, len: 0x1000000, pgoff: 0xffffffff81000000, filename: "[kernel.kallsyms]_text", sample_id: {time_ns: 1.0}
COMM misc: user, pid: 4242, tid: 4242, comm: "runtime", sample_id: {pid: 4242, tid: 4242, time_ns: 1.0}
MMAP misc: user, pid: 4242, tid: 4242, addr: 0x7f0000000000, len: 0x10000, filename: "//anon", sample_id: {time_ns: 1.0}
SAMPLE misc: kernel, identifier: 7, ip: 0xffffffff81000110, pid: 4242, tid: 4242, time_ns: 1.001, period: 1000000
SAMPLE misc: user, identifier: 7, ip: 0x7f0000001010, pid: 4242, tid: 4242, time_ns: 1.002, period: 1000000
"""
MAPS = {"kallsyms": "ffffffff81000000 T _stext\nffffffff81000100 T do_the_work\nffffffff81000200 T other\n", "perf-4242.map": "7f0000001000 100 compiled_loop\n"}


def check_maps(page, path):
    """Names of the kernel come from kallsyms, those of compiled code from the map of its process."""
    data = scratch / "maps.data"
    subprocess.run([program, "assemble", "-o", data], input=IN_MEMORY, text=True, check=True)
    for name, content in MAPS.items():
        (scratch / name).write_text(content)
    for names, wanted in ([], set()), (["kallsyms"], {"do_the_work"}), (["perf-4242.map"], {"compiled_loop"}), (list(MAPS), {"do_the_work", "compiled_loop"}):
        site = Site(page, path)
        site.drop(data, *(scratch / name for name in names))
        check(set(site.names()) & {"do_the_work", "compiled_loop"} == wanted, f"{names} give {site.names()}")


CXX = """namespace shop { template <typename T> struct Basket { __attribute__((noinline)) T sum(T n) {
    volatile T all = 0; for (T i = 0; i < n; i++) all += i; return all; } }; }
extern "C" __attribute__((noinline)) int _ZlongNameThatIsNone(int n) { volatile int all = 0; while (n--) all += n; return all; }
int main() { int all = 0; for (int i = 0; i < 300; i++) all += shop::Basket<int>().sum(300000) + _ZlongNameThatIsNone(100000); return all == 1; }
"""


def check_cxx(page, path):
    """C++ names are read as the program reads them, where one can be compiled and recorded."""
    source, made, data = scratch / "basket.cpp", scratch / "basket", scratch / "basket.data"
    source.write_text(CXX)
    try:
        subprocess.run(["g++", "-O1", "-o", made, source], check=True, stderr=subprocess.DEVNULL)
        subprocess.run(["perf", "record", "-q", "-e", "cpu-clock:u", "-F", "999", "-o", data, made], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    except (FileNotFoundError, subprocess.CalledProcessError):
        return
    site = Site(page, path)
    site.drop(data, made)
    wanted = subprocess.run([program, "report", "-q", "-F", "sym", "-i", data, "--dsos", "basket"], stdout=subprocess.PIPE, text=True, check=True).stdout
    check("shop::Basket<int>::sum" in wanted, wanted)
    for name in ("shop::Basket<int>::sum", "_ZlongNameThatIsNone"):
        check(name in site.names(), f"{name} is not in {site.names()}")


def check_pair(page, path):
    site = Site(page, path)
    site.drop(recordings / "hot.data", recordings / "hot-multi.data")
    check(page.run("perfdataView.app.comparison !== undefined"), "two recordings are compared")
    last = page.run("perfdataView.app.recording.header.name")
    check(json.loads(site.ask(REQUEST)) == native(recordings / last), f"requests are for the one that is looked at, {last}")
    site = Site(page, path)
    site.drop(HERE / "site.py")
    check("no recording" in page.run("document.querySelector('.refused').textContent"), "what is no recording is refused")
    broken = scratch / "broken.data"
    broken.write_bytes(b"PERFILE2" + bytes(40))
    site.drop(broken)
    check("broken.data" in page.run("document.querySelector('.refused').textContent"), "what cannot be read is refused by name")


LARGE_SAMPLES, LARGE_RECORD = 35000, 65520
LARGE_MOST = 500  # MB of memory


def record(kind, misc, body):
    return struct.pack("<IHH", kind, misc, 8 + len(body)) + body


def large():
    """A recording of more than 2 GiB, whose samples have raw data that are holes in the file."""
    path = scratch / "large.data"
    fields = 1 | 2 | 4 | 128 | 256 | 1024  # IP, TID, TIME, CPU, PERIOD, RAW
    attr = struct.pack("<IIQQQQQ", 1, 112, 0, 1000000, fields, 0, 0).ljust(112, b"\0") + bytes(16)
    begin = 104 + len(attr)
    head = record(3, 0, struct.pack("<II", 7, 7) + b"large\0\0\0") + record(1, 2, struct.pack("<IIQQQ", 7, 7, 0x400000, 0x100000, 0) + b"/bin/large\0".ljust(16, b"\0"))
    size = len(head) + LARGE_SAMPLES * LARGE_RECORD
    raw = LARGE_RECORD - 52
    with path.open("wb") as file:
        file.write(struct.pack("<8sQQQQQQQQ", b"PERFILE2", 104, len(attr), 104, len(attr), begin, size, 0, 0).ljust(104, b"\0") + attr + head)
        for number in range(LARGE_SAMPLES):
            file.seek(begin + len(head) + number * LARGE_RECORD)
            thread = 7 + number * 5 // LARGE_SAMPLES
            file.write(struct.pack("<IHHQIIQIIQI", 9, 2, LARGE_RECORD, 0x400000 + number % 97, 7, thread, 10**9 + number * 10**6, number % 3, 0, 10**6, raw))
        file.truncate(begin + size)
    check(path.stat().st_size > 1 << 31, "it is large")
    return path


def peak(page):
    """The most memory, in MB, that the process of the page had."""
    pids = [one["id"] for one in page.browser("SystemInfo.getProcessInfo")["processInfo"] if one["type"] == "renderer"]
    found = [re.search(r"VmHWM:\s+(\d+)", pathlib.Path(f"/proc/{pid}/status").read_text(encoding="ascii")) for pid in pids]
    return max(int(one[1]) for one in found if one) // 1024


def check_large(page, path):
    """A file that is larger than memory may be is read by slices."""
    if shutil.disk_usage(scratch).free < 4 << 30:
        return "no room for a large file"
    source = large()
    site = Site(page, path)
    site.drop(source)
    check(page.run("perfdataView.app.session.counts.samples") == LARGE_SAMPLES, "samples of a large file")
    check(json.loads(site.ask(REQUEST)) == native(source), "the report of a large file")
    last = json.loads(site.ask(f"records?from={LARGE_SAMPLES + 1}&count=1"))["records"][0]
    check(last["offset"] == source.stat().st_size - LARGE_RECORD, f"the last record of a large file: {str(last)[:200]}")
    memory = peak(page)
    check(memory < LARGE_MOST, f"{memory} MB for a file of {source.stat().st_size >> 20} MB")
    source.unlink()
    return f"{LARGE_SAMPLES * LARGE_RECORD / 1e9:.2f} GB read with {memory} MB"


def check_views(page, path):
    """Each view is drawn without an error, at two widths."""
    site = Site(page, path)
    site.drop(TOP / "tests" / "demo" / "hot.tar.zst")
    for width, height in (1600, 900), (390, 780):
        page.size(width, height)
        for name in page.run("perfdataView.app.tabs.map((tab) => tab.view)"):
            page.run(f"perfdataView.app.update({{ view: '{name}' }}, true)")
            page.settle()
            check(page.run("document.documentElement.scrollWidth") <= width, f"{name}: wider than {width}")
            if shots:
                time.sleep(0.3)
                shots.mkdir(parents=True, exist_ok=True)
                page.screenshot(shots / f"site-{width}-{name}.png")
    check(not page.errors, f"{page.errors}")


def main():
    page_path = build()
    check_reports(page_path)
    with browser.Browser() as page:
        page.size(1300, 900)
        page.send("Network.emulateNetworkConditions", offline=True, latency=0, downloadThroughput=0, uploadThroughput=0)
        check_folder(page, page_path)
        check_dropped(page, page_path)
        check_names(page, page_path)
        check_maps(page, page_path)
        check_cxx(page, page_path)
        check_pair(page, page_path)
        check_views(page, page_path)
    with browser.Browser(limit=900) as page:  # one that has not read anything else
        read = check_large(page, page_path)
    print(f"{pages.checks} checks passed; {read}")
    return 0


sys.exit(main())
