#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A server as a store: whatever it answers, or does not, each recording arrives once, with all of its rows.

usage: server.py PERFDATA RECORDING...

The server is one that this program starts: it takes what is sent apart by the tables that store schema prints, and fails on purpose.
Exit status: 0 all is so, 1 not, 77 without libcurl or SQLite.
"""

import calendar
import http.server
import os
import re
import sqlite3
import struct
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse

SKIPPED = 77
perfdata = os.path.abspath(sys.argv[1])
recordings = [os.path.abspath(path) for path in sys.argv[2:]]
failures = []


def require(condition, *what):
    if not condition:
        failures.append(" ".join(map(str, what)))


# ---- a server ----

class Bytes:
    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, size):
        if self.at + size > len(self.data):
            raise ValueError("the body ends in a row")
        self.at += size
        return self.data[self.at - size:self.at]

    def number(self):
        value = shift = 0
        while True:
            byte = self.take(1)[0]
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    def value(self, kind):
        kind = re.sub(r"^LowCardinality\((.*)\)$", r"\1", kind)
        if kind == "String":
            return self.take(self.number()).decode()
        if kind.startswith("Array("):
            return tuple(self.value(kind[6:-1]) for _ in range(self.number()))
        form = {"UInt32": "<I", "Int32": "<i", "UInt64": "<Q", "Int64": "<q", "DateTime": "<I"}[kind]
        return struct.unpack(form, self.take(struct.calcsize(form)))[0]


def pack(kind, value):
    kind = re.sub(r"^LowCardinality\((.*)\)$", r"\1", kind)
    if kind == "String":
        size, head, data = len(value.encode()), b"", value.encode()
        while size > 127:
            head, size = head + bytes([size & 127 | 128]), size >> 7
        return head + bytes([size]) + data
    if kind.startswith("Array("):
        assert len(value) < 128
        return bytes([len(value)]) + b"".join(struct.pack("<Q", one) for one in value)
    if kind.startswith("U"):
        return (value % (1 << 64)).to_bytes(int(kind[4:]) // 8, "little")
    return struct.pack({"Int32": "<i", "Int64": "<q"}[kind], value)


class Server:
    """Tables, and what is to go wrong: a word for the next request that a condition is true of."""

    def __init__(self):
        schema = subprocess.run([perfdata, "store", "schema", "clickhouse"], capture_output=True, text=True, check=True).stdout
        self.types = {}
        for table, columns in re.findall(r"^CREATE TABLE (\w+) \((.*)\) ENGINE", schema, re.M):
            self.types[table] = dict(column.split(" ", 1) for column in re.split(r", (?![^(]*\))", columns))
        self.tables = {table: [] for table in self.types}
        self.requests, self.fail, self.credentials, self.errors = [], None, None, []
        self.http = http.server.ThreadingHTTPServer(("127.0.0.1", 0), self.handler())
        self.http.handle_error = lambda request, address: None  # a client that was killed
        self.http.daemon_threads = True
        self.port = self.http.server_port
        threading.Thread(target=self.http.serve_forever, daemon=True).start()
        self.url = f"clickhouse://127.0.0.1:{self.port}/fleet"

    def stop(self):
        self.http.shutdown()
        self.http.server_close()

    def insert(self, table, columns, body, how):
        data, rows = Bytes(body), []
        types = [self.types[table][column] for column in columns]
        while data.at < len(body):
            rows.append(dict(zip(columns, [data.value(kind) for kind in types])))
        if how == "half":  # as one of two servers would
            rows = [row for row in rows if row.get("stack", 0) % 2]
        self.tables[table] += rows
        return b""

    def rows(self, words):
        table, profile, begin, end = words
        return [row for row in self.tables[table] if row["profile"] == profile and (not begin or int(begin) <= row["time"] < int(end))]

    def count(self, words):
        return f"{len(self.rows(words))}\n"

    def database(self):
        """The tables for SQLite, whose integers are signed."""
        signed = lambda value: value - (1 << 64) if isinstance(value, int) and value >= 1 << 63 else value  # noqa: E731
        database = sqlite3.connect(":memory:")
        for table, types in self.types.items():
            names = [name for name in types if name != "frames"]
            database.execute(f"create table {table}({', '.join(names)})")
            database.executemany(f"insert into {table} values({', '.join('?' * len(names))})",
                                 [[signed(row[name]) for name in names] for row in self.tables[table]])
        database.execute("create table parts(stack, part)")
        database.executemany("insert into parts values(?, ?)", [(signed(row["stack"]), signed(frame)) for row in self.tables["stacks"]
                                                                 for frame in row["frames"]])
        return database

    def read(self, query):
        """What is asked for a report, by SQLite."""
        found = re.fullmatch(r"SELECT (.*?) FROM (\w+) WHERE (.*?)( ORDER BY [\w, ]+)?( FORMAT RowBinary)?", query, re.S)
        columns, table, where = found.groups()[:3]
        where = re.sub(r"'((?:\\.|[^'\\])*)'", lambda text: "'" + re.sub(r"\\(.)", r"\1", text[1]).replace("'", "''") + "'", where)
        where = where.replace("SELECT arrayJoin(frames) FROM stacks WHERE stack", "SELECT part FROM parts WHERE stack").replace("GLOBAL IN", "IN")
        where = re.sub(r"toDateTime\((\d+)\)", r"\1", where).replace("substring(", "substr(")
        names = re.findall(r"(?:^|, )\w+\((?:x -> toUInt64\(x\), |toUnixTimestamp\()?(\w+)\)", columns)
        if columns == "count()":
            return f"{self.database().execute(f'select count(*) from {table} where {where}').fetchone()[0]}\n".encode()
        chains = {row["stack"]: row["frames"] for row in self.tables["stacks"]}
        wanted = ", ".join("stack" if name == "frames" else name for name in names)
        data = b""
        for row in self.database().execute(f"select {wanted} from {table} where {where}"):
            for name, value in zip(names, row):
                data += pack("Int64" if name == "time" else self.types[table][name], chains[value % (1 << 64)] if name == "frames" else value)
        return data

    def run(self, query, body, how):
        found = re.fullmatch(r"INSERT INTO (\w+) \(([\w, ]+)\) FORMAT RowBinary", query)
        if found:
            return self.insert(found[1], found[2].split(", "), body, how)
        found = re.fullmatch(r"SELECT count\(\) FROM (\w+) WHERE profile = '([0-9a-f]{32})'"
                             r"(?: AND toUnixTimestamp\(time\) >= (\d+) AND toUnixTimestamp\(time\) < (\d+))?", query)
        if found:
            return self.count(found.groups()).encode()
        if query.startswith("ALTER TABLE samples DROP PARTITION"):
            day = calendar.timegm(time.strptime(query.split("'")[1], "%Y-%m-%d"))
            self.tables["samples"] = [row for row in self.tables["samples"] if not day <= row["time"] < day + 86400]
            return b""
        found = re.fullmatch(r"SELECT toString\(toDate\(time\)\) AS day FROM samples GROUP BY day HAVING max\(time\) < toDateTime\((\d+)\)", query)
        if found:
            days = {row["time"] // 86400 for row in self.tables["samples"]}
            return "".join(time.strftime("%Y-%m-%d\n", time.gmtime(day * 86400)) for day in days if max(
                row["time"] for row in self.tables["samples"] if row["time"] // 86400 == day) < int(found[1])).encode()
        if "GLOBAL IN" in query or re.match(r"SELECT .* FROM (profiles|labels) WHERE 1", query):
            return self.read(query)
        found = re.fullmatch(r"SELECT DISTINCT stack FROM (\w+) WHERE profile = '([0-9a-f]{32})'"
                             r" AND toUnixTimestamp\(time\) >= (\d+) AND toUnixTimestamp\(time\) < (\d+) FORMAT RowBinary", query)
        return b"".join(struct.pack("<Q", stack) for stack in {row["stack"] for row in self.rows(found.groups())})

    def handler(self):
        server = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def answer(self, code, data):
                data = data.encode() if isinstance(data, str) else data
                self.send_response(code)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def do_POST(self):  # pylint: disable=invalid-name
                words = dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(self.path).query))
                size, query = int(self.headers["Content-Length"]), words["query"]
                server.requests.append(query)
                how = server.fail(len(server.requests) - 1, query) if server.fail else None
                if how == "cut":
                    self.rfile.read(size // 2)
                    self.close_connection = True
                    self.connection.close()
                    return
                body = self.rfile.read(size)
                if words["database"] != "fleet":
                    server.errors.append(self.path)
                if server.credentials and (self.headers["X-ClickHouse-User"], self.headers["X-ClickHouse-Key"]) != server.credentials:
                    self.answer(403, "Code: 516. DB::Exception: Authentication failed")
                elif how == "busy":
                    self.answer(503, "wait")
                elif how == "refuse":
                    self.answer(404, "Code: 60. DB::Exception: Table fleet.samples doesn't exist\x1b[31m")
                elif how == "exception":
                    self.answer(200, "Code: 241. DB::Exception: Memory limit exceeded")
                else:
                    try:
                        data = server.run(query, body, how)
                    except (ValueError, TypeError, AttributeError, KeyError, UnicodeDecodeError, sqlite3.Error) as wrong:
                        server.errors.append(f"{query}: {wrong!r}")
                        self.answer(400, "Code: 62. DB::Exception: Syntax error")
                        return
                    if how == "half" and query.startswith("INSERT INTO samples"):
                        self.answer(500, "Code: 279. DB::Exception: All connection tries failed")
                        return
                    if how == "drop":  # after it was done
                        self.close_connection = True
                        self.connection.close()
                        return
                    self.answer(200, data)

            def log_message(self, *_):
                pass

        return Handler


# ---- what is there ----

def run(spool, *words, **environment):
    env = {key: value for key, value in os.environ.items() if not key.lower().endswith("_proxy")}
    return subprocess.run([perfdata, *words], capture_output=True, text=True, errors="replace", timeout=300,
                          env=dict(env, PERFDATA_STORE_SPOOL=spool, **environment))


def add(spool, url, path, *words, **environment):
    return run(spool, "store", "add", url, path, "--no-symbols", *words, **environment)


def store_of(folder, paths, *words):
    store = os.path.join(folder, f"expected-{len(os.listdir(folder))}.db")
    for path in paths:
        subprocess.run([perfdata, "store", "add", store, path, "--no-symbols", *words], capture_output=True, check=False)
    return sqlite3.connect(store)


def unsigned(value):
    return (value or 0) % (1 << 64)


def chain(parents, stack):
    frames = []
    while stack is not None:
        frames.append(unsigned(parents[stack][1]))
        stack = parents[stack][0]
    return tuple(frames)


def expected(database):
    text = lambda value: value if value is not None else ""  # noqa: E731
    parents = {stack: (parent, frame) for stack, parent, frame in database.execute("select stack, parent, frame from stacks")}
    services = dict(database.execute("select profile, value from labels where key = 'service'"))
    hosts = dict(database.execute("select profile, host from profiles"))
    return {
        "samples": sorted((time, services.get(profile, ""), text(hosts[profile]), profile, event, text(comm), pid, tid, unsigned(stack), count,
                           unsigned(value)) for profile, time, event, comm, pid, tid, stack, count, value in
                          database.execute("select * from samples")),
        "frames": sorted((unsigned(row[0]), *map(text, row[1:8]), row[8] or 0) for row in database.execute(
            "select frame, function, linker_name, object, path, build_id, kind, source, line from frames")),
        "stacks": sorted((unsigned(stack), chain(parents, stack)) for stack, in database.execute(
            "select distinct stack from samples where stack is not null")),
        "labels": sorted(database.execute("select profile, key, value from labels")),
        "profiles": sorted(tuple(value if value is not None else (0 if index in (2, 3, 9, 10) else "") for index, value in enumerate(row))
                           for row in database.execute("select profile, name, start_ns, finish_ns, host, arch, kernel, perf_version, command, "
                                                       "samples, lost from profiles"))}


def check(server, database, what):
    """Names and stacks may have arrived several times: they are merged by the server."""
    require(not server.errors, what, server.errors[:3])
    server.errors = []
    for table, rows in expected(database).items():
        found = sorted(tuple(row.values()) for row in server.tables[table])
        if table in ("frames", "stacks", "labels"):
            found = sorted(set(found))
        require(found == rows, what, table, len(found), len(rows), [row for row in found if row not in rows][:2],
                [row for row in rows if row not in found][:2])


# ---- what it is for ----

def all_arrives_once(folder):
    server, spool = Server(), os.path.join(folder, "once")
    odd = "it's \"x\"; \\ \u00e4"
    for path in recordings:
        done = add(spool, server.url, path, "--label", f"service={odd}", "--label", "a=b")
        require(done.returncode in (0, 1), "add", path, done.stderr)
    database = store_of(folder, recordings, "--label", f"service={odd}", "--label", "a=b")
    check(server, database, "all")
    require(all(not name.endswith(".db") for _, _, names in os.walk(spool) for name in names), "something waits")
    before = len(server.requests)
    require(add(spool, server.url, recordings[0]).returncode == 0, "again")
    require(len(server.requests) == before + 1, "what is there is sent again", server.requests[before:])
    check(server, database, "twice")
    server.stop()


def whatever_fails(folder):
    """Each request fails in each way; in the end everything is there once."""
    database = store_of(folder, recordings[:1])
    plain = Server()
    require(add(os.path.join(folder, "plain"), plain.url, recordings[0]).returncode == 0, "plain")
    count = len(plain.requests)
    plain.stop()
    require(count >= 7, "requests", count)
    for how in ("busy", "cut", "drop", "refuse", "exception"):
        for number in range(count):
            server, spool = Server(), os.path.join(folder, f"fails-{how}-{number}")
            server.fail = lambda at, query, number=number, how=how: how if at == number else None
            done = add(spool, server.url, recordings[0])
            if done.returncode:
                require(done.returncode == 4 and "it waits as" in done.stderr and "\x1b" not in done.stderr, how, number, done.stderr)
                require(how in ("refuse", "exception"), how, number, "was not tried again", done.stderr)
                require(add(spool, server.url, recordings[0]).returncode == 0, how, number, "the second time")
            check(server, database, f"{how} {number}")
            server.stop()


def dead_servers_lose_nothing(folder):
    server, spool = Server(), os.path.join(folder, "dead")
    server.stop()
    for path in recordings[:2]:
        done = add(spool, server.url, path, "--label", "service=web")
        require(done.returncode == 4 and f"127.0.0.1:{server.port}" in done.stderr and spool in done.stderr, "dead", done.returncode, done.stderr)
    waiting = sorted(os.path.join(where, name) for where, _, names in os.walk(spool) for name in names if name.endswith(".db"))
    require(len(waiting) == 2, "waiting", waiting)
    require(waiting and run(spool, "store", "report", waiting[0]).returncode == 0, "what waits is a store")
    alive = Server()
    os.rename(os.path.dirname(waiting[0]), os.path.dirname(waiting[0]).replace(str(server.port), str(alive.port)))
    done = add(spool, alive.url, recordings[2], "--label", "service=web")
    require(done.returncode in (0, 1), "alive", done.stderr)
    check(alive, store_of(folder, recordings[:3], "--label", "service=web"), "after the dead one")
    require(not [name for _, _, names in os.walk(spool) for name in names if name.endswith(".db")], "something still waits")
    alive.stop()


def poisoned_recordings_do_not_block(folder):
    """One that the server refuses keeps none of the others."""
    server, spool = Server(), os.path.join(folder, "poison")
    server.fail = lambda at, query: "refuse" if query.startswith("INSERT INTO samples") else None
    require(add(spool, server.url, recordings[0]).returncode == 4, "refused")
    server.fail = None
    waiting = [os.path.join(where, name) for where, _, names in os.walk(spool) for name in names if name.endswith(".db")]
    with open(os.path.join(os.path.dirname(waiting[0]), "0" * 32 + ".db"), "wb") as file:
        file.write(b"x" * 5000)
    require(add(spool, server.url, recordings[1]).returncode in (0, 1), "the next one")
    check(server, store_of(folder, recordings[:2]), "beside a poisoned one")
    require(run(spool, "store", "add", server.url).returncode != 0, "a poisoned one is said")
    os.remove(os.path.join(os.path.dirname(waiting[0]), "0" * 32 + ".db"))
    require(run(spool, "store", "add", server.url).returncode == 0, "nothing waits")
    server.stop()


def halves_become_whole(folder):
    """Several servers behind one: some of them have got their rows when it fails."""
    server, spool = Server(), os.path.join(folder, "half")
    server.fail = lambda at, query: "half"
    require(add(spool, server.url, recordings[0]).returncode == 4, "a half")
    half = len(server.tables["samples"])
    server.fail = None
    require(add(spool, server.url, recordings[0]).returncode == 0, "the other half")
    check(server, store_of(folder, recordings[:1]), "halves")
    require(0 < half < len(server.tables["samples"]), "a half is none", half)
    server.stop()


def killed_at_any_time(folder):
    database = store_of(folder, recordings[:1])
    server, spool = Server(), os.path.join(folder, "killed")
    for turn in range(12):
        child = subprocess.Popen([perfdata, "store", "add", server.url, "--no-symbols", recordings[0]], stdout=subprocess.DEVNULL,
                                 stderr=subprocess.DEVNULL, env=dict(os.environ, PERFDATA_STORE_SPOOL=spool))
        try:
            child.wait(turn * 0.01)
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()
    done = add(spool, server.url, recordings[0])
    # a row that the server takes while its client dies is there
    require(done.returncode == 0, "after kills", done.stderr)
    check(server, database, "killed")
    server.stop()


def secrets_are_kept(folder):
    server, spool = Server(), os.path.join(folder, "secret")
    server.credentials = ("fleet", "s3cret:word")
    path = os.path.join(folder, "pass")
    with open(path, "w", encoding="utf-8") as file:
        file.write("fleet:s3cret:word\nmore\n")
    for credentials, code in (("fleet:wrong", 4), ("", 4), ("nocolon", 2), ("@" + path + "x", 3), ("a:b\nc", 2), ("@" + path, 0), ("fleet:s3cret:word", 0)):
        done = add(spool, server.url, recordings[0], PERFDATA_STORE_CREDENTIALS=credentials)
        require(done.returncode == code, "credentials", credentials, done.returncode, done.stderr)
        require("wrong" not in done.stderr and "s3cret" not in done.stdout + done.stderr, "shown:", done.stderr)
    done = add(spool, f"clickhouse://fleet:s3cret@127.0.0.1:{server.port}/fleet", recordings[0])
    require(done.returncode == 2 and "s3cret" not in done.stderr, "in the URL", done.returncode, done.stderr)
    server.stop()


def answers_are_shown(folder):
    """What a server says is for a terminal, whatever is in it; and more than there is room for is not taken."""
    server, spool = Server(), os.path.join(folder, "answers")
    server.run = lambda query, body, how: b"a\tb\x1b[31m\n\xff" if "select 1" in query else b"\n" * 4096
    done = run(spool, "store", "sql", server.url, "select 1 ; ")
    require(done.returncode == 0 and done.stdout == "a\\x09b\\x1b[31m\n\\xff\n", "an answer", done.returncode, repr(done.stdout))
    require(server.requests[-1].startswith("select 1 FORMAT "), "a question", server.requests[-1])
    require(run(spool, "store", "ls", server.url).returncode == 0, "ls")
    server.stop()


QUESTIONS = (("report", "--stdio", "-g", "none"), ("report", "--stdio", "-g", "none", "--no-children"), ("folded",), ("top",), ("top", "service=web"), ("report", "--stdio", "-g", "none", "a=b"),
             ("report", "--stdio", "-g", "none", "2000-01-01..2100-01-01"))
ODD = "it's \"x\"; \\' or 1=1 --\\"


def is_asked_like_a_file(folder):
    """The rows of a server give the tables that those of a file give, whatever is in names and conditions."""
    server, spool, store = Server(), os.path.join(folder, "asked"), os.path.join(folder, "asked.db")
    for number, path in enumerate(recordings):
        labels = ("--label", "service=web", "--label", "a=b") if number % 2 else ("--label", f"service={ODD}", "--label", f"{ODD}=c")
        require(add(spool, server.url, path, *labels).returncode in (0, 1), "add", path)
        run(spool, "store", "add", store, path, "--no-symbols", *labels)
    escaped = ODD.replace("\\", "\\\\").replace(",", "\\,")
    asked = QUESTIONS + (("top", f"service={escaped}"), ("top", "service=x' OR '1'='1"), ("top", "service=x\\\\' OR 1=1 --"), ("report", "-g", "none", f"{escaped}=c"))
    for words in asked:
        answers = [run(spool, "store", words[0], name, *words[1:]) for name in (store, server.url)]
        outputs = [(done.returncode, sorted(done.stdout.replace(name, "STORE").splitlines())) for done, name in zip(answers, (store, server.url))]
        require(outputs[0] == outputs[1], "asked", words, outputs[0][0], outputs[1], answers[1].stderr)
    require(run(spool, "store", "top", server.url, "service=x' OR '1'='1").stdout.count("\n") <= 2, "a condition is not what it says")
    require(not server.errors, "asked", server.errors[:2])
    for cut in (b"", b"\x01", b"\xff" * 40):
        server.read = lambda query, cut=cut: cut if "RowBinary" in query else b"3\n"
        done = run(spool, "store", "report", server.url)
        require(done.returncode in (3, 4, 5, 6, 7, 8) or not cut, "a damaged answer", cut, done.returncode)
        require(done.returncode > 0 and "perfdata: " in done.stderr, "a damaged answer", cut, done.stderr)
    del server.read
    require(run(spool, "store", "prune", server.url, "--days", "1").returncode == 0 and not [
        row for row in server.tables["samples"] if row["time"] // 86400 < time.time() // 86400 - 1], "prune")
    server.stop()


def wrong_names(folder):
    spool = os.path.join(folder, "wrong")
    for url in ("clickhouse://", "clickhouse://x", "clickhouse:///x", "clickhouse://x/", "clickhouse://x/a;b", "clickhouse://x y/a",
                "clickhouse://x/a?b", "clickhouse://x/a/b"):
        require(add(spool, url, recordings[0]).returncode == 2, url)
    for words in (("report",), ("ls",), ("top",), ("prune", "--days", "1")):
        done = run(spool, "store", words[0], "clickhouse://127.0.0.1:1/x", *words[1:])
        require(done.returncode in (3, 4) and "perfdata: " in done.stderr, words, done.returncode, done.stderr)
    os.makedirs(spool, exist_ok=True)
    os.chmod(spool, 0o777)
    require(add(spool, "clickhouse://127.0.0.1:1/x", recordings[0]).returncode == 4, "a spool that others can write to")
    done = run(spool, "store", "add", os.path.join(folder, "plain.db"), recordings[0], LD_DEBUG="files")
    require("libcurl" not in done.stderr and "libsqlite" in done.stderr, "libcurl is loaded without a server")


def main():
    with tempfile.TemporaryDirectory(prefix="perfdata-server-", dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None) as folder:
        probe = add(os.path.join(folder, "probe"), "clickhouse://127.0.0.1:1/x", recordings[0])
        if "libcurl" in probe.stderr or "SQLite" in probe.stderr:
            print(probe.stderr)
            return SKIPPED
        for test in (all_arrives_once, whatever_fails, dead_servers_lose_nothing, poisoned_recordings_do_not_block, halves_become_whole, killed_at_any_time,
                     secrets_are_kept, answers_are_shown, is_asked_like_a_file, wrong_names):
            test(folder)
    print("\n".join(failures) or f"{len(recordings)} recordings: each arrives once")
    return bool(failures)


if __name__ == "__main__":
    sys.exit(main())
