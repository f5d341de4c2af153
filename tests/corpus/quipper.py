#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares what perfdata decodes with what other readers published for files of the corpus.

usage: quipper.py PERFDATA CORPUS [--only TEXT]

The answers are in CORPUS/thirdparty:
  perf_data_converter/*.pb_text    quipper: events with all their fields, attrs, metadata, build ids
  perf_data_converter/*.buildids   quipper: build ids and their files
  linux-perf-file-reader/*.dump.txt, perfparser/*.expected.txt, LinuxTracepoints-Net/*.expected.json

What quipper changes on purpose is undone or left out here, each at its place below: it sorts records by
time, drops records that only perf's own processing needs, joins mappings that huge pages had torn apart,
marks addresses in call chains that it could not map, and gives attrs its own size.
Exit status: 0 all agrees, 1 something differs, 77 no corpus.
"""

import argparse
import collections
import datetime
import hashlib
import os
import re
import sys

import common

U32 = 2**32 - 1
U64 = 2**64 - 1


# ---- protobuf's text format ----

ESCAPE = re.compile(rb"\\(?:([0-7]{1,3})|x([0-9a-fA-F]{1,2})|(.))", re.DOTALL)
SIMPLE = {b"n": b"\n", b"t": b"\t", b"r": b"\r", b"a": b"\a", b"b": b"\b", b"f": b"\f", b"v": b"\v"}


def unescape(text):
    def one(match):
        if match[1]:
            return bytes([int(match[1], 8) & 255])
        if match[2]:
            return bytes([int(match[2], 16)])
        return SIMPLE.get(match[3], match[3])

    return ESCAPE.sub(one, text[1:-1].encode("utf-8"))


def scalar(text):
    if text[0] in "\"'":
        return unescape(text)
    if text in ("true", "false"):
        return text == "true"
    try:
        return int(text, 0)
    except ValueError:
        return text


class Message(dict):
    """Values by name; each is a list, since any field may stand more than once."""

    def one(self, name, default=None):
        return self[name][0] if name in self else default

    def all(self, name):
        return self.get(name, [])


def parse(text):
    """A Message out of protobuf text with one field or bracket on each line, as printers write it."""
    root = Message()
    stack = [root]
    for number, line in enumerate(text.splitlines(), 1):
        line = line.strip()
        if not line or line.startswith("#"):
            continue
        if line == "}":
            stack.pop()
        elif line.endswith("{"):
            inner = Message()
            stack[-1].setdefault(line[:-1].rstrip(": "), []).append(inner)
            stack.append(inner)
        else:
            name, colon, value = line.partition(":")
            if not colon or not stack:
                raise ValueError(f"line {number}: {line[:60]}")
            stack[-1].setdefault(name, []).append(scalar(value.strip()))
    if len(stack) != 1:
        raise ValueError("brackets do not close")
    return root


# ---- our side ----


class Ours:
    def __init__(self, perfdata, path):
        self.records = common.ask(perfdata, ["dump"], path)
        self.events = common.events_of(perfdata, path)
        self.features = common.features_of(perfdata, path)

    def feature(self, name):
        """Decoded feature, or None if the file has not got it."""
        return self.features.get(name)


class Differences:
    """Collects what differs, a few of each sort."""

    def __init__(self):
        self.compared = 0
        self.kinds = collections.Counter()
        self.examples = {}

    def check(self, kind, ours, theirs, where=""):
        self.compared += 1
        if ours != theirs:
            self.add(kind, f"{ours!r:.120}, not {theirs!r:.120} {where}")

    def add(self, kind, text):
        self.kinds[kind] += 1
        self.examples.setdefault(kind, text)

    def items(self):
        return [(kind, count, self.examples[kind]) for kind, count in self.kinds.items()]


def md5_prefix(text):
    """quipper keeps the first eight bytes of names' MD5, to compare names that it hides."""
    return int.from_bytes(hashlib.md5(text).digest()[:8], "big")


def printable(data):
    """Bytes as JSON of perfdata shows them."""
    return re.sub("\ufffd+", "\ufffd", data.decode("utf-8", "replace"))


def u32(value):
    return None if value is None else value & U32


def u64(value):
    return None if value is None else value & U64


# ---- quipper: records ----

# Field of quipper and of perfdata, and the width both are cut to.
SAMPLE_ID = (
    ("pid", "pid", U32),
    ("tid", "tid", U32),
    ("sample_time_ns", "time_ns", U64),
    ("cpu", "cpu", U32),
    ("stream_id", "stream_id", U64),
)
SAMPLE = (
    ("ip", "ip", U64),
    ("pid", "pid", U32),
    ("tid", "tid", U32),
    ("sample_time_ns", "time_ns", U64),
    ("addr", "addr", U64),
    ("stream_id", "stream_id", U64),
    ("cpu", "cpu", U32),
    ("period", "period", U64),
    ("weight", "weight", U64),
    ("data_src", "data_src", U64),
    ("transaction", "transaction", U64),
    ("physical_addr", "phys_addr", U64),
    ("cgroup", "cgroup", U64),
    ("data_page_size", "data_page_size", U64),
    ("code_page_size", "code_page_size", U64),
)
BRANCH = (("from_ip", "from", U64), ("to_ip", "to", U64))
BRANCH_FLAGS = (
    ("mispredicted", 0, 1),
    ("predicted", 1, 1),
    ("in_transaction", 2, 1),
    ("abort", 3, 1),
    ("cycles", 4, 16),
    ("type", 20, 4),
    ("spec", 24, 2),
)
PLAIN = {
    "mmap_event": (
        ("pid", "pid", U32), ("tid", "tid", U32), ("start", "addr", U64), ("len", "len", U64),
        ("pgoff", "pgoff", U64), ("maj", "maj", U32), ("min", "min", U32), ("ino", "ino", U64),
        ("ino_generation", "ino_generation", U64), ("prot", "prot", U32), ("flags", "flags", U32),
    ),
    "comm_event": (("pid", "pid", U32), ("tid", "tid", U32)),
    "fork_event": (
        ("pid", "pid", U32), ("ppid", "ppid", U32), ("tid", "tid", U32), ("ptid", "ptid", U32),
        ("fork_time_ns", "time_ns", U64),
    ),
    "lost_samples_event": (("num_lost", "lost", U64),),
    "lost_event": (("id", "id", U64), ("lost", "lost", U64)),
    "throttle_event": (("time_ns", "time_ns", U64), ("id", "id", U64), ("stream_id", "stream_id", U64)),
    "aux_event": (("aux_offset", "aux_offset", U64), ("aux_size", "aux_size", U64)),
    "itrace_start_event": (("pid", "pid", U32), ("tid", "tid", U32)),
    "context_switch_event": (("next_prev_pid", "next_prev_pid", U32), ("next_prev_tid", "next_prev_tid", U32)),
    "namespaces_event": (("pid", "pid", U32), ("tid", "tid", U32)),
    "auxtrace_event": (
        ("size", "size", U64), ("offset", "offset", U64), ("reference", "reference", U64),
        ("idx", "idx", U32), ("tid", "tid", U32), ("cpu", "cpu", U32),
    ),
    "auxtrace_info_event": (("type", "type", U32),),
    "time_conv_event": (
        ("time_shift", "time_shift", U64), ("time_mult", "time_mult", U64), ("time_zero", "time_zero", U64),
        ("time_cycles", "time_cycles", U64), ("time_mask", "time_mask", U64),
        ("cap_user_time_zero", "cap_user_time_zero", 1), ("cap_user_time_short", "cap_user_time_short", 1),
    ),
    "thread_map_event": (),
    "sample_event": SAMPLE,
}
PLAIN["exit_event"] = PLAIN["fork_event"]
MISC_SWITCH_OUT = 1 << 13
AUX_FLAGS = (("is_truncated", 1), ("is_overwrite", 2), ("is_partial", 4))


def names(differences, kind, ours, theirs, name):
    """A text and its MD5."""
    differences.check(f"{kind}.{name}", ours, printable(theirs.one(name, b"")))
    prefix = theirs.one(name + "_md5_prefix")
    # What is no UTF-8 has lost its bytes in JSON.
    if prefix is not None and "\ufffd" not in ours:
        differences.check(f"{kind}.{name}_md5_prefix", md5_prefix(ours.encode()), prefix)


def plain(differences, kind, table, ours, theirs):
    for their_name, our_name, mask in table:
        mine, yours = ours.get(our_name), theirs.one(their_name)
        differences.check(
            f"{kind}.{their_name}",
            None if mine is None else mine & mask,
            None if yours is None else int(yours) & mask,
        )


def sample_id(differences, kind, ours, theirs):
    info = theirs.one("sample_info")
    differences.check(f"{kind}.sample_info", ours is not None, info is not None)
    if ours is not None and info is not None:
        plain(differences, f"{kind}.sample_info", SAMPLE_ID, ours, info)
        mine = ours.get("identifier", ours.get("id"))
        differences.check(f"{kind}.sample_info.id", mine, info.one("id"))


def branches(differences, ours, theirs):
    stack = ours.get("branch_stack") or {}
    mine, yours = stack.get("entries", []), theirs.all("branch_stack")
    differences.check("sample.branch_stack size", len(mine), len(yours))
    for one, other in zip(mine, yours):
        plain(differences, "sample.branch_stack", BRANCH, one, other)
        for name, shift, width in BRANCH_FLAGS:
            if name in other:
                differences.check(
                    f"sample.branch_stack.{name}", one["flags"] >> shift & ((1 << width) - 1), int(other.one(name))
                )
    if "branch_stack_hw_idx" in theirs:
        index = stack.get("hw_idx")
        if theirs.one("no_hw_idx"):
            differences.check("sample.no_hw_idx", index, None)
        else:
            differences.check("sample.branch_stack_hw_idx", u64(index), u64(theirs.one("branch_stack_hw_idx")))


UNMAPPED = 1 << 63


def marked(mine, yours):
    """Our call chain with the top bit set where quipper set it, which means that it knew no mapping."""
    if len(mine) != len(yours):
        return mine
    return [one | UNMAPPED if one | UNMAPPED == other else one for one, other in zip(mine, yours)]


def sample(differences, _record, ours, theirs):
    differences.check("sample.id", ours.get("identifier", ours.get("id")), theirs.one("id"))
    yours = theirs.all("callchain")
    differences.check("sample.callchain", marked(ours.get("callchain", []), yours), yours)
    branches(differences, ours, theirs)
    if "raw" in theirs or "raw" in ours:
        differences.check("sample.raw", ours.get("raw"), theirs.one("raw", b"").hex())
        differences.check("sample.raw_size", len(ours.get("raw", "")) // 2, theirs.one("raw_size"))
    if "weight_struct" in ours:
        weight = theirs.one("weight_struct") or Message()
        word = ours["weight_struct"]
        for name, shift, width in (("var1_dw", 0, 32), ("var2_w", 32, 16), ("var3_w", 48, 16)):
            differences.check(f"sample.weight.{name}", word >> shift & ((1 << width) - 1), weight.one(name, 0))


def mmap(differences, _record, ours, theirs):
    names(differences, "mmap", ours["filename"], theirs, "filename")


def comm(differences, _record, ours, theirs):
    names(differences, "comm", ours["comm"], theirs, "comm")


def switch(differences, record, _ours, theirs):
    differences.check("context_switch.is_out", bool(record["misc"] & MISC_SWITCH_OUT), theirs.one("is_out"))


def aux(differences, _record, ours, theirs):
    for name, bit in AUX_FLAGS:
        differences.check(f"aux.{name}", bool(ours["flags"] & bit), theirs.one(name))


def namespaces(differences, _record, ours, theirs):
    mine = [(link["dev"], link["inode"]) for link in ours["links"]]
    differences.check("namespaces.link_info", mine, [(i.one("dev"), i.one("ino")) for i in theirs.all("link_info")])


def auxtrace_info(differences, _record, ours, theirs):
    differences.check("auxtrace_info.priv", ours["priv"], theirs.all("unparsed_binary_blob_priv_data"))


def thread_map(differences, _record, ours, theirs):
    mine = [(u64(entry["pid"]), entry["comm"]) for entry in ours["entries"]]
    yours = [(e.one("pid"), printable(e.one("comm"))) for e in theirs.all("entries")]
    differences.check("thread_map.entries", mine, yours)


MORE = {
    "sample_event": sample,
    "mmap_event": mmap,
    "comm_event": comm,
    "context_switch_event": switch,
    "aux_event": aux,
    "namespaces_event": namespaces,
    "auxtrace_info_event": auxtrace_info,
    "thread_map_event": thread_map,
}


def event(differences, record, theirs):
    """Compares a record with a message of quipper."""
    header, fields = theirs.one("header"), record["fields"]
    body = next((name for name in theirs if name not in ("header", "timestamp")), None)
    kind = (body or "header").removesuffix("_event")
    differences.check(f"{kind}.header.size", record["size"], header.one("size"))
    differences.check(f"{kind}.header.misc", record["misc"], header.one("misc"))
    if body is None:
        return
    if body not in PLAIN:
        differences.add("unknown body", body)
        return
    plain(differences, kind, PLAIN[body], fields, theirs.one(body))
    if body in MORE:
        MORE[body](differences, record, fields, theirs.one(body))
    if body != "sample_event":
        sample_id(differences, kind, fields.get("sample_id"), theirs.one(body))


def by_type(items, type_of):
    groups = collections.defaultdict(list)
    for item in items:
        groups[type_of(item)].append(item)
    return groups


MAPPINGS = (1, 10)


def joined(records, messages):
    """Our mappings with the //anon behind a file joined to it where quipper did that: huge pages hide
    what they were made of. quipper keeps the first record and only makes it longer."""
    found, left = [], iter(records)
    for message in messages:
        record = next(left, None)
        if record is None:
            break
        fields = dict(record["fields"])
        whole = message.one("mmap_event")
        while fields["addr"] == whole.one("start") and fields["len"] < whole.one("len"):
            more = next(left, {"fields": {}})["fields"]
            end = (fields["addr"] + fields["len"], "//anon", fields["pid"])
            if (more.get("addr"), more.get("filename"), more.get("pid")) != end:
                break
            fields["len"] += more["len"]
        found.append(dict(record, fields=fields))
    return found + list(left)


def events(differences, ours, theirs):
    """quipper sorts by time, keeping the order of what is equal, so each type is in that order too."""
    records = sorted(ours.records, key=lambda record: record.get("time_ns") or 0)
    mine = by_type(records, lambda record: common.TYPE_NUMBERS[record["type"]])
    yours = by_type(theirs.all("events"), lambda message: message.one("header").one("type"))
    for number in sorted(set(mine) | set(yours)):
        if not yours.get(number) and number in LEFT_OUT:
            continue
        if number in MAPPINGS:
            mine[number] = joined(mine[number], yours[number])
        differences.check(f"number of records of type {number}", len(mine[number]), len(yours[number]))
        for record, message in zip(mine[number], yours[number]):
            event(differences, record, message)


# Types that quipper turns into something else (attrs, metadata, build ids) or does not keep.
LEFT_OUT = (64, 65, 66, 67, 68, 69, 74, 78, 80, 81)


# ---- quipper: attrs and metadata ----

ATTR_FIELDS = (
    ("type", "type"), ("config", "config"), ("sample_period", "sample_period"),
    ("sample_type", "sample_type"), ("read_format", "read_format"), ("wakeup_events", "wakeup_events"),
    ("bp_type", "bp_type"), ("bp_addr", "config1"), ("bp_len", "config2"),
    ("branch_sample_type", "branch_sample_type"), ("sample_regs_user", "sample_regs_user"),
    ("sample_stack_user", "sample_stack_user"),
)
ATTR_FLAGS = (
    ("disabled", 0), ("inherit", 1), ("pinned", 2), ("exclusive", 3), ("exclude_user", 4),
    ("exclude_kernel", 5), ("exclude_hv", 6), ("exclude_idle", 7), ("mmap", 8), ("comm", 9), ("freq", 10),
    ("inherit_stat", 11), ("enable_on_exec", 12), ("task", 13), ("watermark", 14), ("mmap_data", 17),
    ("sample_id_all", 18), ("exclude_host", 19), ("exclude_guest", 20), ("exclude_callchain_kernel", 21),
    ("exclude_callchain_user", 22), ("mmap2", 23), ("comm_exec", 24), ("use_clockid", 25),
    ("context_switch", 26), ("write_backward", 27), ("namespaces", 28), ("ksymbol", 29), ("cgroup", 32),
)


def file_attrs(differences, ours, theirs):
    yours = theirs.all("file_attrs")
    differences.check("number of attrs", len(ours.events), len(yours))
    for one, other in zip(ours.events, yours):
        attr, their_attr = one["attr"], other.one("attr")
        for name, member in ATTR_FIELDS:
            differences.check(f"attr.{name}", attr.get(member, 0), their_attr.one(name, 0))
        for name, bit in ATTR_FLAGS:
            if name in their_attr:
                differences.check(f"attr.{name}", bool(attr["flags"] >> bit & 1), their_attr.one(name))
        differences.check("attr.precise_ip", attr["flags"] >> 15 & 3, their_attr.one("precise_ip"))
        differences.check("attr.ids", one["ids"], other.all("ids"))


STRINGS = (
    ("hostname", "HOSTNAME"), ("kernel_version", "OSRELEASE"), ("perf_version", "VERSION"),
    ("architecture", "ARCH"), ("cpu_description", "CPUDESC"), ("cpu_id", "CPUID"),
)


def metadata(differences, ours, theirs):
    strings = theirs.one("string_metadata") or Message()
    for name, feature in STRINGS:
        value, entry = ours.feature(feature), strings.one(name)
        differences.check(f"metadata.{name}", value and value["value"], entry and printable(entry.one("value")))
    tokens = strings.all("perf_command_line_token")
    if tokens:
        words = [argument["value"] for argument in ours.feature("CMDLINE")["arguments"]]
        differences.check("metadata.perf_command_line", words, [printable(t.one("value")) for t in tokens])
    for entry in theirs.all("uint32_metadata"):
        cpus = ours.feature("NRCPUS")
        differences.check("metadata.nrcpus", [cpus["available"], cpus["online"]], entry.all("data"))
    for entry in theirs.all("uint64_metadata"):
        differences.check("metadata.total_mem", [ours.feature("TOTAL_MEM")["kib"]], entry.all("data"))
    topology(differences, ours, theirs)


def topology(differences, ours, theirs):
    for entry in theirs.all("cpu_topology"):
        mine = ours.feature("CPU_TOPOLOGY")
        lists = (("core_siblings", "core_lists"), ("thread_siblings", "thread_lists"))
        for name, member in lists:
            differences.check(
                f"cpu_topology.{name}", [c["cpus"] for c in mine[member]], [printable(c) for c in entry.all(name)]
            )
        places = [(u32(p["core_id"]), u32(p["package_id"])) for p in mine.get("places", [])]
        yours = [(c.one("core_id"), c.one("socket_id")) for c in entry.all("available_cpus")]
        differences.check("cpu_topology.available_cpus", places, yours)
    nodes = [
        (n["node"], n["total_kib"], n["free_kib"], n["cpus"])
        for n in (ours.feature("NUMA_TOPOLOGY") or {}).get("nodes", [])
    ]
    if theirs.all("numa_topology"):
        yours = [
            (n.one("id"), n.one("total_memory"), n.one("free_memory"), printable(n.one("cpu_list")))
            for n in theirs.all("numa_topology")
        ]
        differences.check("numa_topology", nodes, yours)
    if theirs.all("pmu_mappings"):
        yours = [(p.one("type"), printable(p.one("name"))) for p in theirs.all("pmu_mappings")]
        mine = [(p["type"], p["name"]) for p in ours.feature("PMU_MAPPINGS")["pmus"]]
        differences.check("pmu_mappings", mine, yours)
    if theirs.all("group_desc"):
        yours = [
            (printable(g.one("name")), g.one("leader_idx"), g.one("num_members")) for g in theirs.all("group_desc")
        ]
        mine = [(g["name"], g["leader_index"], g["nr_members"]) for g in ours.feature("GROUP_DESC")["groups"]]
        differences.check("group_desc", mine, yours)
    if theirs.all("hybrid_topology"):
        yours = [(printable(h.one("pmu_name")), printable(h.one("cpus"))) for h in theirs.all("hybrid_topology")]
        mine = [(h["name"], h["cpus"]) for h in ours.feature("HYBRID_TOPOLOGY")["pmus"]]
        differences.check("hybrid_topology", mine, yours)


# ---- build ids ----


def build_ids(differences, ours, theirs):
    yours = [
        (u32(b.one("pid")), b.one("misc"), b.one("build_id_hash").hex(), b.one("filename"))
        for b in theirs.all("build_ids")
    ]
    differences.check("build_ids", common.build_ids(ours.feature("BUILD_ID")), yours)


def build_id_list(differences, ours, text):
    """A .buildids file: what perf buildid-list prints, each file once."""
    yours = {tuple(line.split(" ", 1)) for line in text.splitlines() if line}
    mine = {(build_id, printable(name)) for _pid, _misc, build_id, name in common.build_ids(ours.feature("BUILD_ID"))}
    differences.check("buildids", sorted(mine), sorted(yours))


def quipper(differences, ours, text):
    theirs = parse(text)
    file_attrs(differences, ours, theirs)
    events(differences, ours, theirs)
    metadata(differences, ours, theirs)
    build_ids(differences, ours, theirs)


# ---- other readers ----


def file_reader(differences, ours, text):
    """linux-perf-file-reader: records in the order of the file."""
    yours, mine = [], []
    for line in text[text.index("\nEvents:") :].splitlines():
        words = re.findall(r"(\w[\w ]*?): ?([0-9a-f]+)\b", line)
        fields = {name.strip(): value for name, value in words}
        if m := re.match(r" (Mmap2?|Comm|Exit|Fork|Sample):", line):
            fields["kind"] = m[1].upper()
            fields["text"] = line.split(" - ", 1)[-1] if " - " in line else line.rsplit("comm: ", 1)[-1]
            yours.append(reader_key(fields))
    for record in ours.records:
        if record["type"] in ("MMAP", "MMAP2", "COMM", "EXIT", "FORK", "SAMPLE"):
            mine.append(our_reader_key(record["type"], record["fields"]))
    differences.check("number of records", len(mine), len(yours))
    for one, other in zip(mine, yours):
        differences.check(one[0], one, other)


def reader_key(f):
    number = lambda name, base=10: int(f[name], base)
    kind = f["kind"]
    if kind in ("MMAP", "MMAP2"):
        return kind, number("pid"), number("tid"), number("addr", 16), number("len"), number("pgoff", 16), f["text"]
    if kind == "COMM":
        return kind, number("pid"), number("tid"), f["text"]
    if kind == "SAMPLE":
        return kind, number("ip", 16), number("pid"), number("tid"), number("time"), number("period")
    return kind, number("pid"), number("ppid"), number("tid"), number("ptid"), number("time")


def our_reader_key(kind, f):
    if kind in ("MMAP", "MMAP2"):
        return kind, u32(f["pid"]), u32(f["tid"]), f["addr"], f["len"], f["pgoff"], f["filename"]
    if kind == "COMM":
        return kind, f["pid"], f["tid"], f["comm"]
    if kind == "SAMPLE":
        return kind, f["ip"], f["pid"], f["tid"], f["time_ns"], f["period"]
    return kind, f["pid"], f["ppid"], f["tid"], f["ptid"], f["time_ns"]


def perfparser(differences, ours, text):
    """perfparser: command, pid, tid and time of each sample, then events and their periods, then the
    frames, whose addresses come out of unwinding and are not compared."""
    head = re.compile(r"^(\S[^\t]*)\t(\d+)\t(\d+)\t(\d+)\.(\d+)\n((?:\t[^\n]+: \d+\n)*)", re.MULTILINE)
    yours = []
    for m in head.finditer(text):
        costs = tuple(re.findall(r"\t(.*): (\d+)\n", m[6]))
        yours.append((int(m[2]), int(m[3]), int(m[4]) * 10**9 + int(m[5]), costs))
    mine = []
    samples = [record for record in ours.records if record["type"] == "SAMPLE"]
    for record in sorted(samples, key=lambda record: record["time_ns"]):
        f = record["fields"]
        period = f.get("period", ours.events[0]["attr"]["sample_period"])
        name = record["event"].split(":")[0]
        mine.append((f["pid"], f["tid"], f["time_ns"], ((name, str(period)),)))
    differences.check("number of samples", len(mine), len(yours))
    for one, other in zip(mine, yours):
        differences.check("sample", one, (*other[:3], tuple((n.split(":")[0], p) for n, p in other[3])))


def tracepoints(differences, ours, text):
    """LinuxTracepoints-Net: size of each record, and wall-clock time in units of 100 ns, CPU and pid of
    each sample, in the order of the file."""
    part = text[: text.index("Events in Time order")]
    item = re.compile(r'"NonSample": "(\w+)",\s*"size": (\d+)|"meta": \{\s*"time": "([^"]*)"([^}]*)\}')
    yours = []
    for m in item.finditer(part):
        if m[1]:
            yours.append((m[1].upper(), int(m[2])))
        else:
            rest = dict(re.findall(r'"(\w+)": (\d+)', m[4]))
            yours.append(("SAMPLE", m[3], int(rest["cpu"]), int(rest["pid"]) & U32))
    clock = ours.feature("CLOCK_DATA")
    offset = clock["wall_clock_ns"] - clock["clockid_time_ns"]
    mine = []
    for record in ours.records:
        f = record["fields"]
        if record["type"] == "SAMPLE":
            mine.append(("SAMPLE", ticks(record["time_ns"] + offset), f["cpu"], u32(f["pid"])))
        else:
            mine.append((record["type"].replace("_", ""), record["size"]))
    differences.check("number of records", len(mine), len(yours))
    for one, other in zip(mine, yours):
        differences.check(one[0], one, other)


def ticks(time_ns):
    """Time as .NET prints it: seven digits, zeros at the end dropped."""
    when = datetime.datetime.fromtimestamp(time_ns // 10**9, datetime.timezone.utc)
    fraction = f"{time_ns % 10**9 // 100:07d}".rstrip("0")
    return f"{when:%Y-%m-%dT%H:%M:%S}{'.' + fraction if fraction else ''}Z"


READERS = (
    ("thirdparty/perf_data_converter/", ".pb_text", quipper),
    ("thirdparty/perf_data_converter/", ".buildids", build_id_list),
    ("thirdparty/linux-perf-file-reader/", ".dump.txt", file_reader),
    ("thirdparty/perfparser/", ".expected.txt", perfparser),
    ("thirdparty/LinuxTracepoints-Net/", ".expected.json", tracepoints),
)


def answers(corpus, row):
    """(reader, text) of each published answer for a file."""
    path = row["path"].removesuffix(".zst")
    for folder, suffix, reader in READERS:
        if path.startswith(folder):
            text = common.text_of(os.path.join(corpus, path + suffix))
            if text is not None:
                yield reader, text


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("perfdata")
    parser.add_argument("corpus")
    parser.add_argument("--only", default="", help="only files with this text in their path")
    args = parser.parse_args()
    perfdata, corpus = common.check_arguments(args.perfdata, args.corpus)
    known = common.Known("Other readers")
    compared = files = wrong = explained = 0
    for row in common.rows(corpus):
        found = list(answers(corpus, row)) if args.only in row["path"] else []
        if not found:
            continue
        with common.Unpacked(corpus, row) as path:
            ours = Ours(perfdata, path)
        for reader, text in found:
            differences = Differences()
            reader(differences, ours, text)
            files += 1
            compared += differences.compared
            verdict = "agrees"
            lines = []
            for kind, count, example in differences.items():
                reason = known.reason(row["path"], kind)
                lines.append(f"  {kind}: {count} of them, first: {example}: {reason or 'UNEXPLAINED'}")
                explained += bool(reason)
                wrong += not reason
                verdict = "differs"
            print(f"{verdict}\t{row['path']}\t{reader.__name__}\t{differences.compared} comparisons", flush=True)
            print("\n".join(lines), end="\n" if lines else "")
    print(f"{files} answers of other readers, {compared} comparisons: {wrong} kinds of differences, "
          f"{explained} explained")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
