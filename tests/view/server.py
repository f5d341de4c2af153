#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The server of perfdata view: who is admitted, what is answered, what is refused, and when it ends.

usage: server.py PERFDATA RECORDING...

Exit status: 0 all is as it should be, 1 not, 77 the program has no server.
"""

import concurrent.futures
import http.client
import json
import os
import random
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "export"))
import page_format  # noqa: E402

SKIPPED = 77
HEADERS = {"X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer", "Cross-Origin-Opener-Policy": "same-origin",
           "Cross-Origin-Resource-Policy": "same-origin", "Cache-Control": "no-store"}


class Served:
    """A running server."""

    def __init__(self, perfdata, *words):
        self.process = subprocess.Popen([perfdata, "view", "-q", "--no-browser", *words], stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, text=True)
        self.url = self.process.stdout.readline().strip()
        found = re.fullmatch(r"http://127\.0\.0\.1:(\d+)/([0-9a-f]{32})/", self.url)
        if not found:
            raise RuntimeError(f"no address: {self.url!r} {self.process.stderr.read()}")
        self.port, self.token = int(found[1]), found[2]

    def ask(self, path, method="GET", headers=None, body=None, token=None):
        """Code, headers and body of an answer; path is below the token."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        connection.request(method, f"/{token or self.token}/{path}", body=body, headers=headers or {})
        answer = connection.getresponse()
        result = answer.status, dict(answer.getheaders()), answer.read()
        connection.close()
        return result

    def raw(self, data, wait=60):
        """What comes back until the connection is closed."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=wait) as connection:
            connection.sendall(data)
            got = b""
            try:
                while piece := connection.recv(1 << 16):
                    got += piece
            except ConnectionError:
                pass
            return got

    def end(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
        self.process.wait()
        return self.process.returncode


# Samples of two cgroups, of none, and of an event that has no cgroups.
CGROUPS = """header form: file, byte_order: little
event {name: "cpu-clock", ids: [7], type: software, sample_period: 1000, sample_type: IP|TID|TIME|PERIOD|IDENTIFIER|CGROUP, flags: sample_id_all|cgroup}
event {name: "page-faults", ids: [8], type: software, config: 2, sample_period: 1, sample_type: IP|TID|TIME|PERIOD|IDENTIFIER, flags: sample_id_all}
CGROUP id: 5, path: "/a/b", sample_id: {pid: 5, tid: 5, time_ns: 1, identifier: 7}
CGROUP id: 6, path: "/a, c", sample_id: {pid: 5, tid: 5, time_ns: 1, identifier: 7}
COMM pid: 5, tid: 5, comm: "one", sample_id: {pid: 5, tid: 5, time_ns: 1, identifier: 7}
SAMPLE misc: user, identifier: 7, ip: 0x100, pid: 5, tid: 5, time_ns: 100, period: 10, cgroup: 5
SAMPLE misc: user, identifier: 7, ip: 0x200, pid: 5, tid: 5, time_ns: 200, period: 20, cgroup: 6
SAMPLE misc: user, identifier: 7, ip: 0x300, pid: 5, tid: 5, time_ns: 300, period: 30, cgroup: 5
SAMPLE misc: user, identifier: 8, ip: 0x400, pid: 5, tid: 5, time_ns: 400, period: 1
"""


def rows_of(text):
    return [line.split() for line in text.splitlines() if line and not line.startswith(b"#")]


class Test:
    def __init__(self, perfdata, recordings):
        self.perfdata, self.recordings, self.wrong, self.count = perfdata, recordings, 0, 0

    def expect(self, what, got, expected):
        self.count += 1
        if got != expected:
            self.wrong += 1
            print(f"{what}: {got!r}, expected {expected!r}")

    def run(self, *words):
        return subprocess.run([self.perfdata, *words], capture_output=True, check=False).stdout

    def codes(self, served, what, expected, **request):
        path = request.pop("path", "data")
        self.expect(what, served.ask(path, **request)[0], expected)

    # ---- who is admitted ----

    def test_admission(self, served):
        here = f"127.0.0.1:{served.port}"
        self.codes(served, "the page", 200, path="")
        self.codes(served, "the data", 200)
        self.codes(served, "HEAD", 200, method="HEAD")
        self.codes(served, "HEAD of the stream, which is no page", 200, path="alive", method="HEAD")
        self.codes(served, "localhost", 200, headers={"Host": f"localhost:{served.port}"})
        for host in ("evil.example", "127.0.0.1", f"127.0.0.1:{served.port + 1}", f"127.0.0.1.evil.example:{served.port}", "",
                     f"evil@{here}", f"{here}:{served.port}"):
            self.codes(served, f"host {host!r}", 403, headers={"Host": host})
        for token in ("0" * 32, served.token[:-1], served.token + "0", served.token.upper() + "x", ""):
            self.codes(served, f"token {token!r}", 404, token=token or "-")
        for origin, code in (("http://evil.example", 403), ("null", 403), (f"http://{here}", 200), (f"https://{here}", 403)):
            self.codes(served, f"origin {origin}", code, headers={"Origin": origin})
        for site, code in (("cross-site", 403), ("same-site", 403), ("same-origin", 200), ("none", 200)):
            self.codes(served, f"site {site}", code, headers={"Sec-Fetch-Site": site})
        link = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}
        self.codes(served, "a link to the page", 200, path="", headers=link)
        self.codes(served, "a link to the data", 403, headers=link)
        for method in ("POST", "PUT", "DELETE", "OPTIONS", "PATCH", "TRACE", "BREW"):
            self.codes(served, method, 405, method=method)
        self.codes(served, "POST with a body", 405, method="POST", body=b"a=b")
        self.expect("GET with a body", served.ask("data", body=b"x" * 100)[0], 413)

    def test_raw(self, served):
        line = f"GET /{served.token}/data HTTP/1.1\r\n".encode()
        here = f"Host: 127.0.0.1:{served.port}\r\n".encode()
        close = b"Connection: close\r\n\r\n"
        self.expect("two hosts", served.raw(line + here + here + close)[:12], b"HTTP/1.1 403")
        self.expect("two hosts, the second evil", served.raw(line + here + b"Host: evil\r\n" + close)[:12], b"HTTP/1.1 403")
        self.expect("no host", served.raw(line + close)[:12], b"HTTP/1.1 400")
        self.expect("the whole address", served.raw(line.replace(b"GET ", b"GET http://evil.example") + here + close)[9:12] in
                    (b"404", b"400"), True)
        self.expect("a large header", served.raw(line + here + b"X: " + b"x" * 40000 + b"\r\n" + close)[9:12], b"431")
        self.expect("rubbish", served.raw(b"\x16\x03\x01\x02\x00\x01\x00" + b"\xff" * 300 + b"\r\n\r\n")[:4] in (b"", b"HTTP"), True)
        for path in ("../data", "..%2fdata", "%2e%2e/data", "data/../data", "data/", "/data", "data%00", "data/1", "records/1",
                     "etc/passwd", "x" * 300, "%", "%zz", "data%2f1", "alive/1"):
            got = served.raw(f"GET /{served.token}/{path} HTTP/1.1\r\n".encode() + here + close)
            self.expect(f"path {path[:30]}", got[9:12] in (b"404", b"400", b"200" if path == "data%00" else b"404"), True)

    def test_headers(self, served):
        for path in ("", "data", "records", "no-such-thing"):
            headers = served.ask(path)[1]
            for name, value in HEADERS.items():
                self.expect(f"{path}: {name}", headers.get(name), value)
            policy = headers.get("Content-Security-Policy", "")
            self.expect(f"{path}: policy", policy.startswith("default-src 'none'") and "frame-ancestors 'none'" in policy, True)
            self.expect(f"{path}: no CORS", [name for name in headers if name.lower().startswith("access-control")], [])

    # ---- answers ----

    def test_answers(self, served, recording):
        page = page_format.Page(served.ask("data")[2])
        records = [json.loads(line) for line in self.run("dump", "--json", "--hex", recording).splitlines()]
        for event, _ in enumerate(page.header["events"]):
            for number in page.of(f"samples.{event}.record")[:3]:
                answer = json.loads(served.ask(f"records?from={number}&count=1")[2])
                self.expect(f"record {number}", answer["records"], [records[number]])
                self.expect(f"record {number} is a sample", answer["records"][0]["type"], "SAMPLE")
        answer = json.loads(served.ask(f"records?from={len(records) - 2}&count=10")[2])
        self.expect("the last records", (answer["records"], answer["end"]), (records[-2:], True))
        self.expect("records beyond the end", json.loads(served.ask("records?from=99999999999")[2]), {"records": [], "end": True})
        for _ in range(30):
            at, count = random.randrange(len(records) + 3), random.randrange(1, 20)
            answer = json.loads(served.ask(f"records?from={at}&count={count}")[2])
            self.expect(f"{count} records from {at}", answer["records"], records[at:at + count])
        script = self.run("script", recording)
        self.expect("script", served.ask("script?count=1000")[2], script)
        pid = str(page.of("tasks.pid")[0])
        self.expect("script of a process", served.ask(f"script?count=1000&pid={pid}")[2], self.run("script", "--pid", pid, recording))
        report = json.loads(self.run("report", "--json", "-g", "none", "--sort", "sym", recording))
        self.expect("report", json.loads(served.ask("report?sort=sym&rows=0")[2]), report)
        few = json.loads(served.ask("report?sort=sym&rows=2")[2])["tables"][0]["rows"]
        self.expect("two rows", few, report["tables"][0]["rows"][:2])
        symbol = max((row for row in report["tables"][0]["rows"]), key=lambda row: row["amounts"][0]["samples"])["symbol"]
        if not symbol.startswith("0x"):
            self.expect("annotate", json.loads(served.ask(f"annotate?symbol={symbol}")[2]),
                        json.loads(self.run("annotate", "--json", "-i", recording, symbol)))
        self.test_selection(served, recording, page)

    def test_selection(self, served, recording, page):
        start, end = int(page.header["time"]["start"]), int(page.header["time"]["end"])
        half = (start + end) // 2
        counts = [sum(json.loads(served.ask(f"report?{query}")[2])["trust"]["samples"] for query in queries)
                  for queries in ([""], [f"to_ns={half}", f"from_ns={half + 1}"])]
        self.expect("two halves are the whole", counts[1], counts[0])
        code, headers, part = served.ask(f"cut?from_ns={half}")
        self.expect("a part", (code, headers.get("Content-Disposition")), (200, 'attachment; filename="part.data"'))
        with tempfile.NamedTemporaryFile() as file:
            file.write(part)
            file.flush()
            self.expect("report of a part", len(self.run("script", file.name).split(b"\n\n")),
                        len(served.ask(f"script?count=1000&from_ns={half}")[2].split(b"\n\n")))

    def test_refusals(self, served):
        for path, code in (("records?from=x", 400), ("records?count=0", 400), ("records?count=1001", 400), ("script?count=-1", 400),
                           ("script?from_ns=18446744073709551616", 400), ("report?sort=nothing", 400), ("annotate", 400),
                           ("report?comm=no-such-program", 404), ("report?comm=file:///etc/passwd", 400), ("report?cpu=x", 400),
                           ("report?pid=a,file:///etc/passwd", 400), ("data?" + "&".join("a=b" for _ in range(100)), 200)):
            got, _, body = served.ask(path)
            self.expect(path[:60], got, code)
            if code != 200:
                self.expect(f"{path[:60]}: error", list(json.loads(body)), ["error"])

    # ---- many, slow, and the end ----

    def test_many(self, served):
        data = served.ask("data")[2]

        def one(_):
            for _ in range(20):
                try:
                    return served.ask("data")[2] == data
                except (ConnectionError, http.client.HTTPException, TimeoutError):
                    # more than are served at once: the client comes again
                    time.sleep(0.1)
            return False

        with concurrent.futures.ThreadPoolExecutor(200) as pool:
            self.expect("200 at once", sum(pool.map(one, range(200))), 200)

    def test_slow(self, served):
        """Others are served while clients say nothing or little, and those are ended."""
        silent = [socket.create_connection(("127.0.0.1", served.port)) for _ in range(20)]
        dripping = socket.create_connection(("127.0.0.1", served.port))
        dripping.settimeout(0.5)
        ended = False
        for byte in (f"GET /{served.token}/data HTTP/1.1\r\nX: " + "x" * 200).encode():
            try:
                dripping.sendall(bytes([byte]))
                if dripping.recv(1) == b"":
                    ended = True
            except TimeoutError:
                continue
            except ConnectionError:
                ended = True
            if ended:
                break
        self.expect("a dripping client is ended", ended, True)
        self.codes(served, "others are served", 200)
        for connection in [*silent, dripping]:
            connection.close()

    def test_silent(self, served):
        """As many connections as are served at once, which say nothing, keep nobody out: the oldest make room."""
        silent = []
        for _ in range(64):
            connection = socket.socket()
            connection.setblocking(False)
            try:
                connection.connect(("127.0.0.1", served.port))
            except BlockingIOError:
                pass
            silent.append(connection)
        self.codes(served, "others are served", 200)
        waiting = 0
        for connection in silent:
            try:
                connection.recv(1)
            except BlockingIOError:
                waiting += 1
            except ConnectionError:
                pass
            connection.close()
        # had the first ones to be slow before there was room, hardly any would be left
        self.expect("the newest still wait", waiting >= 16, True)

    def test_end(self):
        served = Served(self.perfdata, self.recordings[0])
        stream = http.client.HTTPConnection("127.0.0.1", served.port, timeout=60)
        stream.request("GET", f"/{served.token}/alive")
        answer = stream.getresponse()
        self.expect("the stream", (answer.status, answer.getheader("Content-Type")), (200, "text/event-stream"))
        self.expect("a sign of life", answer.read(3), b":\n\n")
        again = http.client.HTTPConnection("127.0.0.1", served.port, timeout=60)
        again.request("GET", f"/{served.token}/alive")
        second = again.getresponse()
        answer.close()
        stream.close()
        self.expect("another sign of life", second.read(9), b":\n\n" * 3)
        self.codes(served, "a page is still open", 200)
        second.close()
        again.close()
        served.process.wait(60)
        self.expect("the last page was closed", served.process.returncode, 0)

    def test_two(self):
        served = Served(self.perfdata, self.recordings[0], self.recordings[-1])
        self.expect("the second recording", page_format.Page(served.ask("data/1")[2]).header["name"],
                    os.path.basename(self.recordings[-1]))
        self.expect("its records", json.loads(served.ask("records/1?count=1")[2])["records"][0],
                    json.loads(self.run("dump", "--json", "--hex", self.recordings[-1]).splitlines()[0]))
        for ending, recording in ("", self.recordings[0]), ("/1", self.recordings[-1]):
            self.expect(f"script{ending}", served.ask(f"script{ending}?count=1000")[2], self.run("script", recording))
            self.expect(f"report{ending}", json.loads(served.ask(f"report{ending}?sort=sym&rows=0")[2]),
                        json.loads(self.run("report", "--json", "-g", "none", "--sort", "sym", recording)))
            self.expect(f"report.txt{ending}", rows_of(served.ask(f"report.txt{ending}?sort=sym&rows=0")[2]),
                        rows_of(self.run("report", "-q", "-g", "none", "--sort", "sym", recording)))
            self.expect(f"info{ending}", served.ask(f"info{ending}")[2].decode(), self.run("info", recording).decode().replace(recording, os.path.basename(recording)))
            self.expect(f"cut{ending}", served.ask(f"cut{ending}")[0], 200)
        self.codes(served, "two recordings", 404, path="records/2")
        self.codes(served, "two recordings", 404, path="info/1/1")
        self.expect("Ctrl-C", served.end(), 0)

    def test_cgroups(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "cgroups.data")
            subprocess.run([self.perfdata, "assemble", "-o", path], input=CGROUPS.encode(), check=True)
            served = Served(self.perfdata, path)
            other = Served(self.perfdata, "--where", "period < 25", path)
        for server, words, expected in (
                (served, "5", ["100", "300"]), (served, "6", ["200"]), (served, "6,5", ["100", "200", "300"]), (served, "none", ["400"]),
                (served, "5,none", ["100", "300", "400"]), (served, "5&event=page-faults", []), (other, "5,none", ["100", "400"]), (other, "7", [])):
            text = server.ask(f"script?cgroup={words}")[2].decode()
            self.expect(f"script of cgroup {words}", re.findall(r": +(\d+) \[unknown\]", text), expected)
        total = json.loads(served.ask("report?sort=sym&cgroup=6")[2])["trust"]["samples"]
        self.expect("report of a cgroup", total, 1)
        for words in ("", "x", "5,", "5,,6", "none,x", "5 || 1", "99999999999999999999999"):
            self.expect(f"cgroup {words!r}", served.ask("report?cgroup=" + words.replace(" ", "%20").replace("|", "%7c"))[0], 400)
        self.expect("Ctrl-C", (served.end(), other.end()), (0, 0))

    def test_usage(self):
        done = subprocess.run([self.perfdata, "view", "--live", "--waiting", "--", "true"], capture_output=True, text=True, check=False)
        self.expect("--live --waiting", (done.returncode, "--waiting" in done.stderr), (2, True))

    def run_all(self):
        self.test_usage()
        for recording in self.recordings:
            served = Served(self.perfdata, recording)
            self.test_answers(served, recording)
            self.expect("Ctrl-C", served.end(), 0)
        served = Served(self.perfdata, self.recordings[0])
        self.test_admission(served)
        self.test_raw(served)
        self.test_headers(served)
        self.test_refusals(served)
        self.test_many(served)
        self.test_slow(served)
        self.test_silent(served)
        self.expect("Ctrl-C", served.end(), 0)
        self.test_end()
        self.test_two()
        self.test_cgroups()


def main():
    perfdata, recordings = os.path.abspath(sys.argv[1]), sys.argv[2:]
    probe = subprocess.run([perfdata, "view", recordings[0] + ".no"], capture_output=True, text=True, check=False)
    if "no server" in probe.stderr:
        print("the program has no server")
        return SKIPPED
    random.seed(1)
    test = Test(perfdata, recordings)
    test.run_all()
    print(f"{test.count} expectations, {test.wrong} wrong")
    return 1 if test.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
