#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Recordings in real servers of ClickHouse: one, and two of them behind a Distributed table, of which one is killed in the middle.

usage: clickhouse.py PERFDATA SERVER RECORDING...

SERVER is the program clickhouse-server, its name, or the root of packages that were unpacked. Debian's is of 2018: it has no LowCardinality
and no TTL, which are taken out of the tables. Exit status: 0 all is so, 1 not, 77 without the server or libcurl.
"""

import json
import os
import re
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request

SKIPPED = 77
perfdata = os.path.abspath(sys.argv[1])
recordings = [os.path.abspath(path) for path in sys.argv[3:]]
failures = []
CONFIG = """<yandex><logger><level>warning</level><log>{folder}/log</log><errorlog>{folder}/errors</errorlog></logger>
<http_port>{http}</http_port><tcp_port>{tcp}</tcp_port><interserver_http_port>{inter}</interserver_http_port><listen_host>127.0.0.1</listen_host>
<path>{folder}/data/</path><tmp_path>{folder}/tmp/</tmp_path><users_config>{folder}/users.xml</users_config><default_profile>default</default_profile>
<default_database>default</default_database><mark_cache_size>67108864</mark_cache_size><max_concurrent_queries>20</max_concurrent_queries>
<timezone>UTC</timezone><remote_servers><fleet>{shards}</fleet></remote_servers></yandex>"""
SHARD = "<shard><internal_replication>true</internal_replication><replica><host>127.0.0.1</host><port>{}</port><user>default</user></replica></shard>"
USERS = """<yandex><profiles><default><max_memory_usage>1000000000</max_memory_usage></default></profiles><quotas><default></default></quotas>
<users><default><password></password><networks><ip>127.0.0.1</ip></networks><profile>default</profile><quota>default</quota></default>
<fleet><password>s3cret</password><networks><ip>127.0.0.1</ip></networks><profile>default</profile><quota>default</quota></fleet></users></yandex>"""


def require(condition, *what):
    if not condition:
        failures.append(" ".join(map(str, what)))


def find_server(named):
    """The program, and where its libraries are."""
    if os.path.isdir(named):
        program = os.path.join(named, "usr/sbin/clickhouse-server")
        return (program, ":".join(os.path.join(named, part, "lib/x86_64-linux-gnu") for part in ("usr", ""))) if os.path.exists(program) else (None, "")
    return shutil.which(named), ""


def free_ports(count):
    sockets = [socket.socket() for _ in range(count)]
    for one in sockets:
        one.bind(("127.0.0.1", 0))
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports


class Server:
    def __init__(self, program, folder, ports, tcp_ports):
        self.program, self.folder, self.process = program, folder, None
        self.http, self.tcp, inter = ports
        os.makedirs(os.path.join(folder, "tmp"))
        os.makedirs(os.path.join(folder, "data"))
        shards = "".join(SHARD.format(port) for port in tcp_ports)
        for name, text in (("config.xml", CONFIG.format(folder=folder, http=self.http, tcp=self.tcp, inter=inter, shards=shards)), ("users.xml", USERS)):
            with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
                file.write(text)

    def start(self):
        path, libraries = self.program
        env = dict(os.environ, TZ="UTC", LD_LIBRARY_PATH=libraries + ":" + os.environ.get("LD_LIBRARY_PATH", ""))
        with open(os.path.join(self.folder, "out"), "ab") as out:
            self.process = subprocess.Popen([path, f"--config-file={self.folder}/config.xml"], stdout=out, stderr=out, env=env, cwd=self.folder)
        while self.process.poll() is None:
            try:
                return self.run("SELECT 1") == "1\n"
            except (urllib.error.URLError, OSError):
                time.sleep(0.2)
        return False

    def run(self, statement, database="default"):
        url = f"http://127.0.0.1:{self.http}/?" + urllib.parse.urlencode({"database": database})
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        try:
            return opener.open(url, statement.encode()).read().decode()
        except urllib.error.HTTPError as error:
            return "FAILED " + error.read().decode()

    def rows(self, statement, database):
        return [line.split("\t") for line in self.run(statement + " FORMAT TSV", database).splitlines()]

    def kill(self, number=signal.SIGKILL):
        if self.process:
            self.process.send_signal(number)
            self.process.wait()
        self.process = None

    def make_tables(self, database):
        schema = subprocess.run([perfdata, "store", "schema", "clickhouse"], capture_output=True, text=True, check=True).stdout
        is_old = self.run("SELECT version()").startswith("18.")
        if is_old:
            schema = re.sub(r" TTL [^;]*", "", re.sub(r"LowCardinality\((\w+)\)", r"\1", schema))
        self.run(f"CREATE DATABASE {database}")
        plain = [line for line in schema.splitlines() if not line.startswith("--")]
        cluster = [line[3:] for line in schema.splitlines() if line.startswith("-- CREATE")]
        for line in plain:
            answer = self.run(line.rstrip(";"), database)
            require(not answer, "schema", answer, line)
        return cluster


def add(spool, url, path, credentials=""):
    env = {key: value for key, value in os.environ.items() if not key.lower().endswith("_proxy")}
    return subprocess.run([perfdata, "store", "add", url, "--no-symbols", "--label", "service=web", path], capture_output=True, text=True,
                          env=dict(env, PERFDATA_STORE_SPOOL=spool, PERFDATA_STORE_CREDENTIALS=credentials))


def store_of(folder, paths):
    store = os.path.join(folder, f"expected-{len(paths)}.db")
    if not os.path.exists(store):
        for path in paths:
            subprocess.run([perfdata, "store", "add", store, "--no-symbols", "--label", "service=web", path], capture_output=True, check=False)
    return sqlite3.connect(store)


SUMS = "select event, comm, sum(count), sum(value), count(*) from samples group by event, comm order by event, comm"
TOP = ("select event, function, sum(value) from samples s left join stacks k using (stack) left join frames f using (frame) "
       "group by event, function order by event, function")
# innermost frame first; a JOIN at a time, which old servers want
SERVER_TOP = ("SELECT event, function, sum(value) FROM (SELECT event, frames[1] AS frame, value FROM (SELECT event, stack, sum(value) AS value "
              "FROM samples GROUP BY event, stack) ANY LEFT JOIN (SELECT stack, frames FROM stacks) USING stack) ANY LEFT JOIN "
              "(SELECT frame, function FROM frames) USING frame GROUP BY event, function ORDER BY event, function")


def text_rows(rows):
    return [[str(value) if value is not None else "" for value in row] for row in rows]


def check(server, database, stored, what):
    found = server.rows("SELECT event, comm, sum(count), sum(value), count() FROM samples GROUP BY event, comm ORDER BY event, comm", database)
    wanted = text_rows(stored.execute(SUMS))
    require(sorted(found) == sorted(wanted), what, "sums", found[:3], wanted[:3])
    found = server.rows(SERVER_TOP, database)
    require(sorted(found) == sorted(text_rows(stored.execute(TOP))), what, "functions", found[:3])
    found = server.rows("SELECT sum(count), sum(value) FROM samples_hour", database) if database == "one" else None
    require(found is None or found == text_rows(stored.execute("select sum(count), sum(value) from samples_hour")), what, "hours", found)
    found = server.rows("SELECT DISTINCT profile, samples, lost FROM profiles ORDER BY profile", database)
    require(found == text_rows(stored.execute("select profile, samples, lost from profiles order by profile")), what, "profiles", found)


def is_asked_like_a_file(url, store, what, credentials=""):
    for words in (("report", "--stdio", "-g", "none"), ("folded",), ("top",), ("top", "service=web"),
                  ("report", "--stdio", "-g", "none", "2000-01-01..2100-01-01"), ("top", "service=x' OR '1'='1"),
                  ("top", "service=x\\\\' OR 1=1 --")):
        answers = [subprocess.run([perfdata, "store", words[0], name, *words[1:]], capture_output=True, text=True,
                                  env=dict(os.environ, PERFDATA_STORE_CREDENTIALS=credentials)) for name in (store, url)]
        outputs = [(done.returncode, sorted(done.stdout.replace(name, "STORE").splitlines())) for done, name in zip(answers, (store, url))]
        require(outputs[0] == outputs[1], what, words, outputs[0][0], outputs[1][0], outputs[1][1][:3], answers[1].stderr)


def one_server(server, folder):
    server.make_tables("one")
    url, spool = f"clickhouse://127.0.0.1:{server.http}/one", os.path.join(folder, "spool-one")
    for path in recordings:
        done = add(spool, url, path, "fleet:s3cret")
        require(done.returncode in (0, 1), "one:", done.stderr)
        require(add(spool, url, path, "fleet:s3cret").returncode in (0, 1), "twice")
    check(server, "one", store_of(folder, recordings), "one server")
    is_asked_like_a_file(url, os.path.join(folder, f"expected-{len(recordings)}.db"), "one server", "fleet:s3cret")
    lists = []
    for store in (url, os.path.join(folder, f"expected-{len(recordings)}.db")):
        done = subprocess.run([perfdata, "store", "ls", store, "--format", "json"], capture_output=True, text=True)
        lists.append([{key: str(row[key]) for key in ("profile", "start", "samples", "lost", "labels", "name")}
                      for row in map(json.loads, done.stdout.splitlines())])
    require(lists[0] == lists[1] and len(lists[0]) == len(recordings), "ls", lists)
    done = subprocess.run([perfdata, "store", "sql", url, "select count() as rows from profiles;", "--format", "csv"], capture_output=True, text=True)
    require(done.stdout == f'"rows"\n{len(recordings)}\n', "sql", done.stdout, done.stderr)
    done = subprocess.run([perfdata, "store", "sql", url, "drop table profiles"], capture_output=True, text=True)
    require(done.returncode == 4 and server.run("SELECT count() FROM profiles", "one") == f"{len(recordings)}\n", "sql changes", done.stderr)
    done = add(spool, url, recordings[0], "fleet:wrong")
    require(done.returncode == 4 and "wrong" not in done.stderr, "a wrong password", done.returncode, done.stderr)
    # killed while it takes something, again and again
    server.make_tables("killed")
    url, spool = f"clickhouse://127.0.0.1:{server.http}/killed", os.path.join(folder, "spool-killed")
    for turn, path in enumerate(recordings):
        child = subprocess.Popen([perfdata, "store", "add", url, "--no-symbols", "--label", "service=web", path], stdout=subprocess.DEVNULL,
                                 stderr=subprocess.DEVNULL, env=dict(os.environ, PERFDATA_STORE_SPOOL=spool))
        time.sleep(0.01 * (turn + 1))
        server.kill()
        child.wait()
        require(server.start(), "start again")
    for path in recordings:
        require(add(spool, url, path).returncode in (0, 1), "after kills")
    check(server, "killed", store_of(folder, recordings), "killed")
    done = subprocess.run([perfdata, "store", "prune", url, "--days", "1"], capture_output=True, text=True)
    left = server.run("SELECT count() FROM samples WHERE time < now() - 172800", "killed")
    require(done.returncode == 0 and left == "0\n", "prune", done.stderr, left)


def two_servers(servers, folder):
    for server in servers:
        cluster = server.make_tables("part")
    for line in cluster:
        answer = servers[0].run(line.rstrip(";"), "part")
        require(not answer, "cluster", answer, line)
    url, spool = f"clickhouse://127.0.0.1:{servers[0].http}/fleet", os.path.join(folder, "spool-two")
    require(add(spool, url, recordings[0]).returncode in (0, 1), "two servers")
    servers[1].kill()
    done = add(spool, url, recordings[1])
    require(done.returncode == 4 and "it waits as" in done.stderr, "one of two is gone", done.returncode, done.stderr)
    require(servers[1].start(), "start the second one")
    for path in recordings[2:]:
        done = add(spool, url, path)
        require(done.returncode in (0, 1), "after that", done.stderr)
    check(servers[0], "fleet", store_of(folder, recordings), "two servers")
    is_asked_like_a_file(url, os.path.join(folder, f"expected-{len(recordings)}.db"), "two servers")
    counts = [int(server.run("SELECT count() FROM samples", "part")) for server in servers]
    require(all(counts), "rows of each server", counts)


def main():
    program = find_server(sys.argv[2])
    if not program[0]:
        print("no clickhouse-server")
        return SKIPPED
    with tempfile.TemporaryDirectory(prefix="perfdata-clickhouse-") as folder:
        if "libcurl" in add(os.path.join(folder, "probe"), "clickhouse://127.0.0.1:1/x", recordings[0]).stderr:
            print("no libcurl")
            return SKIPPED
        ports = free_ports(6)
        servers = [Server(program, os.path.join(folder, f"server-{number}"), ports[3 * number:3 * number + 3], ports[1::3]) for number in range(2)]
        try:
            if not all(server.start() for server in servers):
                print("the servers do not start")
                return 1
            one_server(servers[0], folder)
            two_servers(servers, folder)
        finally:
            for server in servers:
                server.kill()
    print("\n".join(failures) or f"{len(recordings)} recordings, in one server and in two: each arrives once")
    return bool(failures)


if __name__ == "__main__":
    sys.exit(main())
