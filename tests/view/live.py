#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""perfdata view --live: the page's data follow a recording, and the recorder ends with the page.

usage: live.py PERFDATA

Exit status: 0 all is as it should be, 1 not, 77 nothing can be recorded here, or the program has no server.
"""

import http.client
import os
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "export"))
import page_format  # noqa: E402

SKIPPED = 77
# News at most until the data have grown three times. One can be of data that were fetched already: they came between its
# announcement and the fetch.
NEWS = 30
# a shell whose name changes, and which never ends by itself
PROGRAM = "i=0; while [ $i -lt 30000 ]; do i=$((i + 1)); done; exec sh -c 'while :; do :; done'"


class Page:
    """What a browser does: holds the stream, and fetches when it is told to."""

    def __init__(self, url):
        found = re.fullmatch(r"http://127\.0\.0\.1:(\d+)/([0-9a-f]{32})/", url)
        self.port, self.token = int(found[1]), found[2]
        self.connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        self.connection.request("GET", f"/{self.token}/alive")
        self.stream = self.connection.getresponse()

    def data(self):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        connection.request("GET", f"/{self.token}/data")
        got = page_format.Page(connection.getresponse().read())
        connection.close()
        return got

    def wait(self):
        """Until there are new data."""
        got = b""
        while not got.endswith(b"event: data\ndata: \n\n"):
            byte = self.stream.read(1)
            if not byte:
                raise RuntimeError("the stream ended")
            got += byte

    def close(self):
        self.stream.close()
        self.connection.close()


def refusals(perfdata, folder):
    """What does not begin has the exit code of the recorder, and leaves earlier recordings alone."""
    wrong = []
    for name in ("old.data", "old.data.old"):
        with open(f"{folder}/{name}", "w", encoding="ascii") as file:
            file.write(name)
    for path, words, code in (("old.data", ["--no-such-option", "true"], 2), ("no/new.data", ["true"], 4)):
        done = subprocess.run([perfdata, "view", "--no-browser", "-i", path, "--live", "--", *words], capture_output=True, text=True,
                              check=False, cwd=folder)
        if done.returncode != code or not done.stderr or "nothing was recorded" in done.stderr:
            wrong.append(f"{words}: exit code {done.returncode}, expected {code}: {done.stderr}")
    done = subprocess.run([perfdata, "view", "--no-browser", "--live", "old.data", "--", "true"], capture_output=True, text=True, check=False,
                          cwd=folder)
    if done.returncode != 2 or "unexpected argument 'old.data'" not in done.stderr:
        wrong.append(f"a file before --: exit code {done.returncode}: {done.stderr}")
    for name in ("old.data", "old.data.old"):
        if subprocess.run(["cat", name], capture_output=True, text=True, check=False, cwd=folder).stdout != name:
            wrong.append(f"{name} is not what it was")
    return wrong


def main():
    perfdata = os.path.abspath(sys.argv[1])
    with tempfile.TemporaryDirectory(prefix="live-") as folder:
        probe = subprocess.run([perfdata, "record", "-q", "-e", "cpu-clock", "-o", f"{folder}/probe", "--", "true"], capture_output=True,
                               check=False)
        none = subprocess.run([perfdata, "view", f"{folder}/no"], capture_output=True, text=True, check=False)
        if probe.returncode or "no server" in none.stderr:
            print("nothing can be recorded here, or there is no server")
            return SKIPPED
        wrong = []
        process = subprocess.Popen([perfdata, "view", "--no-browser", "-i", f"{folder}/live.data", "--live", "--", "-e", "cpu-clock", "-g",
                                    "sh", "-c", PROGRAM], stdout=subprocess.PIPE, text=True)
        page = Page(process.stdout.readline().strip())
        samples = [page.data().header["truth"]["samples"]]
        for _ in range(NEWS):
            page.wait()
            samples.append(page.data().header["truth"]["samples"])
            if len(set(samples)) > 3:
                break
        if sorted(samples) != samples or len(set(samples)) <= 3:
            wrong.append(f"samples do not grow: {samples}")
        page.close()
        process.wait(120)
        if process.returncode:
            wrong.append(f"exit code {process.returncode}")
        done = subprocess.run([perfdata, "script", "-F", "comm", f"{folder}/live.data"], capture_output=True, text=True, check=False)
        if done.returncode or len(done.stdout.splitlines()) < samples[-1]:
            wrong.append(f"the recording that remains has {len(done.stdout.splitlines())} samples, expected at least {samples[-1]}")
        empty = subprocess.run([perfdata, "view", "--no-browser", "-i", f"{folder}/none.data", "--live", "--", "./no-such-program"],
                               capture_output=True, text=True, check=False, cwd=folder)
        if empty.returncode != 127:
            wrong.append(f"no such program: exit code {empty.returncode}: {empty.stderr}")
        wrong += refusals(perfdata, folder)
        for line in wrong:
            print(line)
        print(f"samples seen: {samples}; {len(wrong)} wrong")
        return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
