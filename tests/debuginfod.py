#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Names of functions that are fetched by build id: from a folder, as a client of elfutils takes file:// for a server.

usage: debuginfod.py PERFDATA RECORDING CC [ARGUMENT]...

RECORDING has samples in an object that is not here; the compiler makes one with its build id, all of whose code is one
function. Exit status: 0 it is fetched when that is asked for and only then, 1 not, 77 without the library.
"""

import http.server
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading

LIMIT_MIB = 4


class Endless(http.server.BaseHTTPRequestHandler):
    """Sends without end, or says that it has much to send."""
    sent = 0

    def do_GET(self):  # pylint: disable=invalid-name
        self.send_response(200)
        self.send_header("Content-Type", "application/octet-stream")
        if self.path.startswith("/large/"):
            self.send_header("Content-Length", str(1 << 40))
        self.end_headers()
        try:
            while Endless.sent < 1 << 32:
                self.wfile.write(bytes(65536))
                Endless.sent += 65536
        except OSError:
            pass

    def log_message(self, *_):
        pass


def check_limits(perfdata, recording, folder):
    wrong = []
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Endless) as server:
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, daemon=True).start()
        for kind in "endless", "large":
            Endless.sent = 0
            shutil.rmtree(os.path.join(folder, "cache"), ignore_errors=True)
            done = run(perfdata, recording, folder, "--debuginfod", "--debuginfod-limit", str(LIMIT_MIB), "--no-index",
                       servers=f"http://127.0.0.1:{server.server_port}/{kind}")
            left = sum(os.path.getsize(os.path.join(where, name))
                       for where, _, names in os.walk(os.path.join(folder, "cache")) for name in names)
            if done.returncode or "larger than --debuginfod-limit" not in done.stderr:
                wrong.append(f"{kind}: {done.returncode} {done.stderr}")
            # one for each of several files
            if Endless.sent > 1 << 31 or left > 1 << 16:
                wrong.append(f"{kind}: {Endless.sent} bytes were taken, {left} are left in the cache")
        server.shutdown()
    return wrong


CODE = """
	.text
	.globl all_of_it
	.type all_of_it, %function
all_of_it:
	.skip 0x100000
	.size all_of_it, . - all_of_it
"""


def run(perfdata, recording, folder, *options, servers=None):
    environment = {name: value for name, value in os.environ.items() if not name.startswith("DEBUGINFOD")}
    environment.update(HOME=folder, no_proxy="*", DEBUGINFOD_CACHE_PATH=os.path.join(folder, "cache"))
    if servers:
        environment["DEBUGINFOD_URLS"] = servers
    return subprocess.run([perfdata, "script", "--symfs", folder, "-F", "ip,sym", *options, recording], text=True,
                          env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)


def main():
    if len(sys.argv) < 4:
        sys.exit(__doc__.split("\n\n")[1])
    perfdata, recording, *compiler = sys.argv[1:]
    listed = subprocess.run([perfdata, "buildid-list", recording], text=True, stdout=subprocess.PIPE, check=True).stdout
    build_id = re.search(r"^([0-9a-f]{40}) \S*/hot$", listed, re.M)[1]
    wrong = []
    with tempfile.TemporaryDirectory(prefix="perfdata-debuginfod-") as folder:
        place = os.path.join(folder, "server", "buildid", build_id)
        os.makedirs(place)
        source = os.path.join(folder, "all.s")
        with open(source, "w", encoding="utf-8") as f:
            f.write(CODE)
        subprocess.run([*compiler, "-shared", "-nostdlib", f"-Wl,--build-id=0x{build_id}", "-o",
                        os.path.join(place, "executable"), source], check=True)
        server = "file://" + os.path.join(folder, "server")
        done = run(perfdata, recording, folder, "--debuginfod")
        if done.returncode == 0 or done.stdout or "DEBUGINFOD_URLS names no server" not in done.stderr:
            wrong.append(f"without a server: {done.returncode} {done.stderr}")
        done = run(perfdata, recording, folder, servers=server)
        if done.returncode or "all_of_it" in done.stdout or os.path.exists(os.path.join(folder, "cache")):
            wrong.append("fetched without being asked to")
        done = run(perfdata, recording, folder, "--debuginfod", servers=server)
        if done.returncode and "libdebuginfod (elfutils) is needed" in done.stderr:
            print(done.stderr.strip())
            return 1 if wrong else 77
        if done.returncode or "all_of_it" not in done.stdout:
            wrong.append(f"with a server: {done.returncode} {done.stderr} {done.stdout[:400]}")
        done = run(perfdata, recording, folder, "--debuginfod", "--no-index", servers="file:///nowhere/at/all")
        if done.returncode or not done.stdout:
            wrong.append(f"with a server that has nothing: {done.returncode} {done.stderr}")
        wrong += check_limits(perfdata, recording, folder)
    print("\n".join(wrong) or f"{build_id}: fetched when asked for")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
