# SPDX-License-Identifier: MIT
"""PerfDataProto as text: parsed without protocol buffers, and two of them compared value by value.

usage: quipper_text.py OURS EXPECTED

What the text of perfdata may differ in from one that quipper wrote, and why:
- timestamp_sec: when quipper ran;
- stats.num_sample_events_mapped: needs addresses to be mapped, which perfdata does on request only;
- the order of events: quipper's parser sorts them by time, perfdata keeps the order of the file;
- YOUNGER: fields that quipper did not have yet when it wrote the text;
- mappings that quipper's parser joined: anonymous ones (huge pages) with those of the file beside them. Each must be
  the same mappings of perfdata side by side, and stats.num_mmap_events is less by as many;
- addresses of call chains and branches in no mapping: the quipper of 2014 set their highest bit.
"""

import os
import re
import sys

JUSTIFIED = {"timestamp_sec", "stats/num_sample_events_mapped"}
YOUNGER = {"events/mmap_event/root_path", "events/mmap_event/root_path_md5_prefix",
           *(f"events/sample_event/{name}" for name in
             ("branch_stack/type", "branch_stack/spec", "branch_stack/cycles", "branch_stack_hw_idx", "no_hw_idx"))}
YOUNGER_FLAGS = {f"file_attrs/attr/{name}" for name in
                 ("ksymbol", "cgroup", "namespaces", "write_backward", "context_switch", "use_clockid")}
MMAP = "events/mmap_event/"
MARKED = re.compile(r"events/sample_event/(callchain|branch_stack/(from|to)_ip)$")
MARK = 1 << 63


def parsed(text):
    """The top-level fields as (name, value); a message is a tuple of (path of names, value)."""
    fields, path, lines = [], [], []
    for line in text.splitlines():
        line = line.strip()
        if line.endswith("{"):
            path.append(line[:-1].strip().rstrip(":"))
        elif line == "}":
            name = path.pop()
            if path:
                lines.append(("/".join([*path, name]), "{}"))
            else:
                fields.append((name, tuple(sorted(lines, key=lambda item: item[0]))))
                lines = []
        elif line:
            name, value = line.split(":", 1)
            if path:
                lines.append(("/".join([*path, name]), value.strip()))
            else:
                fields.append((name, value.strip()))
    return fields


def by_name(text):
    found = {}
    for name, value in parsed(text):
        if name not in JUSTIFIED:
            found.setdefault(name, []).append(value)
    return found


def without(messages, names):
    return [tuple(line for line in message if line[0] not in names) if isinstance(message, tuple) else message
            for message in messages]


def one_of(message, name, default="0"):
    return next((value for key, value in message if key == name), default)


def is_mapping(event):
    return any(name.startswith(MMAP) for name, value in event)


def time_of(event):
    return int(one_of(event, "events/timestamp"))


def split_mappings(events):
    events = sorted(events, key=time_of)
    return [e for e in events if is_mapping(e)], [e for e in events if not is_mapping(e)]


def span(mapping):
    pid, start, length = (int(one_of(mapping, MMAP + name)) for name in ("pid", "start", "len"))
    return pid, start, start + length


def mapping_differences(ours, theirs):
    """Each of theirs is one of ours, or several of ours side by side."""
    left, found = set(ours), []
    begins = {}
    for mapping in ours:
        begins.setdefault(span(mapping)[:2], []).append(mapping)
    for index, mapping in enumerate(theirs):
        if mapping in left:
            continue
        pid, at, end = span(mapping)
        names = []
        while at < end and (pid, at) in begins:
            part = begins[pid, at][-1]
            names.append(one_of(part, MMAP + "filename"))
            if span(part)[2] <= at:
                break
            at = span(part)[2]
        if at != end or one_of(mapping, MMAP + "filename") not in names:
            found.append(f"mapping {index}: {mapping}")
    if len(ours) < len(theirs):
        found.append(f"mappings: {len(ours)} and {len(theirs)}")
    return found


def marked_alike(ours, theirs):
    """Whether two samples differ in nothing but the mark of unmapped addresses."""
    return len(ours) == len(theirs) and all(
        a == b or (MARKED.match(a[0]) and a[0] == b[0] and int(a[1]) | MARK == int(b[1]))
        for a, b in zip(ours, theirs))


def list_differences(name, ours, theirs, exact):
    found = [] if len(ours) == len(theirs) else [f"{name}: {len(ours)} and {len(theirs)}"]
    for index, (a, b) in enumerate(zip(ours, theirs)):
        if a != b and (exact or not isinstance(a, tuple) or not marked_alike(a, b)):
            found.append(f"{name} {index}: {sorted(set(a) - set(b))[:3]} / {sorted(set(b) - set(a))[:3]}"
                         if isinstance(a, tuple) else f"{name} {index}: {a} / {b}")
    return found


def differences(ours, theirs, exact=False):
    """Sentences, none if all values are equal but for what may differ. exact: nothing may, except the time of writing."""
    ours, theirs = by_name(ours), by_name(theirs)
    if not exact:
        known = {name for messages in theirs.values() for m in messages if isinstance(m, tuple) for name, _ in m}
        gone = JUSTIFIED | {name for name in YOUNGER | YOUNGER_FLAGS if name not in known}
        ours, theirs = ({k: without(v, gone) for k, v in side.items()} for side in (ours, theirs))
    found = []
    for name in sorted(set(ours) | set(theirs)):
        a, b = ours.get(name, []), theirs.get(name, [])
        if name == "events" and not exact:
            (mine, a), (others, b) = split_mappings(a), split_mappings(b)
            found += mapping_differences(mine, others)
            joined = len(mine) - len(others)
            ours["stats"] = [tuple((key, str(int(value) - joined) if key == "stats/num_mmap_events" else value)
                                   for key, value in message) for message in ours.get("stats", [])]
        found += list_differences(name, a, b, exact)
    return found


if __name__ == "__main__":
    with open(sys.argv[1], encoding="ascii") as ours, open(sys.argv[2], encoding="ascii") as theirs:
        lines = differences(ours.read(), theirs.read())
    print("\n".join(lines) if lines else f"{os.path.basename(sys.argv[2])}: the same values")
    sys.exit(bool(lines))
