#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What perfdata scrub promises, on recordings.

    scrub.py PERFDATA FILE...
    scrub.py PERFDATA --corpus CORPUS [N]    (only each N-th recording)

Nothing of the original is in the bytes of the result, at the levels addresses and all: by a search of this program, with
the texts that perfdata dump finds, and by scrub --verify. The result is sound where the original is, has the same
records but for those that are dropped, and reports have the same rows: by thread, name and object, with the same numbers,
and with the same names once they are looked up in the map. The same key gives the same bytes, another one others.
"""

import collections
import json
import os
import re
import shutil
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "corpus"))
import common

LEAST = 4  # bytes of a text that is searched for
KEYS = ("hex:" + "5c" * 32, "hex:" + "a7" * 32)
FORMS = (["--to", "pipe"], ["--compress"], ["--byte-order", "big"])
SORTS = ("pid", "comm", "dso", "comm,dso")
ABOUT_FILE = {"HEADER_BUILD_ID", "HEADER_EVENT_TYPE", "EVENT_UPDATE"}  # of a pipe, in a file elsewhere

TOP = common.TOP


def known_words():
    """Texts that may stay, as scrub_words.c lists them; what a text is made of may be a part of one."""
    with open(os.path.join(TOP, "src", "edit", "scrub", "words.c"), encoding="utf-8") as f:
        source = re.sub(r"/\*.*?\*/", "", f.read(), flags=re.S)
    return set(re.findall(r'"((?:[^"\\]|\\.)*)"', source))


KNOWN = known_words()


def dropped_records():
    """Types of records that scrub.def does not keep."""
    with open(os.path.join(TOP, "src", "edit", "scrub", "scrub.def"), encoding="utf-8") as f:
        return {name.upper() for name, fate in re.findall(r"^RECORD_AS\((\w+), (\w+)\)", f.read(), re.M) if fate != "KEEP"}


DROPPED = dropped_records()


PMUS = {word for word in KNOWN if re.fullmatch(r"[a-z0-9_]{3,}", word)}


class Failed(Exception):
    pass


class Refused(Exception):
    """A file so damaged that names in it cannot be recognized."""


def perfdata(program, *arguments, expect=(common.FINE, common.DAMAGED)):
    result = common.run([program, *arguments], timeout=600)
    if result.crashed or result.status not in expect:
        err = result.err.decode("utf-8", "replace").strip()[-400:]
        if result.status == common.UNREADABLE and "cannot be anonymized" in err:
            raise Refused(err)
        raise Failed(f"{' '.join(arguments)}: exit status {result.status}: {err}")
    return result


# ---- texts of the original ----


def fields_of(record):
    """(member, value) of all texts in the fields of a record, however deep."""
    todo = [record]
    while todo:
        item = todo.pop()
        if isinstance(item, dict):
            for key, value in item.items():
                if isinstance(value, str):
                    yield key, value
                else:
                    todo.append(value)
        elif isinstance(item, list):
            todo += item


NAMES = {"comm", "filename", "path"}
MACHINE = {"CPUDESC", "CPUID", "CPU_PMU_CAPS", "PMU_CAPS", "PMU_MAPPINGS"}  # which stay below level all


def texts_of(program, path):
    """Names in records and features of a file: comms, paths, the host, functions, the command line."""
    found, machine = set(), set()
    out = perfdata(program, "dump", "--json", "-i", path).out
    for line in out.splitlines():
        record = json.loads(line)
        kind = record.get("type")
        for member, value in fields_of(record.get("fields", {})):
            if member in NAMES or (member == "name" and kind == "KSYMBOL") or (member == "prog_name"):
                found.add(value)
    out = perfdata(program, "dump", "--features", "--json", "-i", path).out
    for line in out.splitlines():
        feature = json.loads(line)["feature"]
        decoded = feature.get("decoded")
        if decoded and feature["name"] in ("HOSTNAME", "CMDLINE"):
            found.update(value for member, value in fields_of(decoded))
        if decoded and feature["name"] in MACHINE:
            machine.update(value for member, value in fields_of(decoded))
        if decoded and feature["name"] == "BUILD_ID":
            for order in ("little", "big"):
                found.update(name.decode("utf-8", "replace") for *_, name in common.build_ids(decoded, order))
    for line in perfdata(program, "dump", "--header", "--json", "-i", path).out.splitlines():
        found.add(json.loads(line).get("event", {}).get("name") or "")
    return found, machine


SYSTEMS = {word for word in KNOWN if re.fullmatch(r"[a-z0-9_]+", word)}


def is_known(text, tracepoints):
    """Made of words that may stay: known ones, tracepoints of the kernel, PMUs, short numbers, raw events."""
    words = re.findall(r"[\w.%-]+", text)
    return all(
        any(word in known for known in KNOWN)
        or any(word in tracepoint for tracepoint in tracepoints)
        or any(re.fullmatch(known + r"_[_0-9a-z]*|" + known + r"[0-9]+", word) for known in PMUS)
        or re.fullmatch(r"r[0-9a-f]*[0-9][0-9a-f]*|(0x)?[0-9a-f]{1,7}|[0-9.]{1,16}|[ukhGHpPSDIWeb]{1,4}", word)
        or re.fullmatch(r"(L1-[di]cache|LLC|[di]TLB|branch|node)-(load|store|prefetch)e?(s|-misses|-refs)?", word)
        for word in words
    )


def parts_of(texts, machine):
    """Texts and their parts that must be gone. A part that lies inside of a known word cannot be told from it."""
    parts, tracepoints = set(), set()
    for text in texts:
        if "\ufffd" in text:  # not what the bytes were
            continue
        pieces = {text, *re.split(r"[/\[\]:,= ]", text)}
        parts |= pieces | {piece.split(".")[0] for piece in pieces}
        tracepoints |= {event for system, event in re.findall(r"(\w+):([\w-]+)", text) if system in SYSTEMS}
    return {
        part
        for part in parts
        if len(part.encode()) >= LEAST and not is_known(part, tracepoints) and not any(part in text for text in machine)
    }


def bytes_of(path):
    if os.path.isdir(path):
        data = b""
        for name in sorted(os.listdir(path)):
            with open(os.path.join(path, name), "rb") as f:
                data += f.read()
        return data
    with open(path, "rb") as f:
        return f.read()


# ---- what a result has to be ----


def counts_of(program, path):
    """Records by type, without those that are dropped or that a writer makes anew."""
    counts = collections.Counter()
    for line in perfdata(program, "dump", "--json", "-i", path).out.splitlines():
        kind = json.loads(line).get("type")
        if kind and kind not in DROPPED | ABOUT_FILE:
            counts[kind] += 1
    return counts


def rows_of(program, path, sort):
    """For each event the rows of a report: names, samples and period."""
    result = perfdata(
        program, "report", "--json", "--no-children", "--no-symbols", "-g", "none", "--sort", sort, "-i", path,
        expect=(common.FINE, common.DAMAGED, 5, 6),
    )
    if result.status in (5, 6):
        return []
    report = json.loads(result.out)
    return [
        [
            (
                tuple(row.get(key) for key in sort.split(",")),
                tuple((amount["samples"], amount["period"]) for amount in row["amounts"]),
            )
            for row in table["rows"]
        ]
        for table in report["tables"]
    ]


def names_back(map_path):
    """Names of threads by what took their place."""
    back = {}
    with open(map_path, encoding="utf-8", errors="replace") as f:
        for line in f:
            kind, now, was = line.rstrip("\n").split("\t")
            if kind == "COMM":
                back[now] = re.sub(r"\\x([0-9a-f]{2})", lambda m: chr(int(m[1], 16)), was)
    return back


def nameless(comm):
    """Threads whose name is not known are called by their number, which the level all changes."""
    return ":" if re.fullmatch(r":-?\d+", comm) else comm


def compare_reports(program, original, result, map_path):
    back = names_back(map_path)
    for sort in SORTS:
        before, after = rows_of(program, original, sort), rows_of(program, result, sort)
        if [sorted(n for _, n in table) for table in before] != [sorted(n for _, n in table) for table in after]:
            raise Failed(f"report --sort {sort}: other numbers")
        if sort != "comm":
            continue
        named = [sorted((back.get(names[0], nameless(names[0])), n) for names, n in table) for table in after]
        if named != [sorted((nameless(names[0]), n) for names, n in table) for table in before]:
            raise Failed("report --sort comm: other names than the map says")


def check_of(program, path):
    out = perfdata(program, "check", "--json", "-i", path).out
    return common.check_of(out)


def check_level(program, original, level, folder, texts, sound):
    mode = "dir" if os.path.isdir(original) else "file"
    result, again, other = (os.path.join(folder, name) for name in ("result", "again", "other"))
    names = os.path.join(folder, "names")
    form = ["--to", mode, "--no-compress", "--hide", level, "-q"]
    for path, key in ((result, KEYS[0]), (again, KEYS[0]), (other, KEYS[1])):
        shutil.rmtree(path, ignore_errors=True)
        extra = ["--map", names] if path == result else []
        perfdata(program, "scrub", *form, *extra, "--key", key, "-o", path, "-i", original)
    data = bytes_of(result)
    if data != bytes_of(again):
        raise Failed("the same key gives other bytes")
    if texts and sound and data == bytes_of(other):
        raise Failed("another key gives the same bytes")
    found = sorted(text for text in texts if text.encode() in data)
    if found:
        raise Failed(f"still there: {found[:8]}")
    verified = common.run([program, "scrub", "--verify", original, result], timeout=600)
    if verified.status != common.FINE:
        raise Failed(f"--verify: exit status {verified.status}: {verified.out.decode('utf-8', 'replace')[:400]}")
    return result, names


def check_file(program, original, forms):
    """forms: with what options results are written besides plainly, by level."""
    texts = parts_of(*texts_of(program, original))
    before_problems = {line["code"] for line in check_of(program, original)[0]}
    before = counts_of(program, original)
    with tempfile.TemporaryDirectory(prefix="scrub-") as folder:
        for level in ("addresses", "all"):
            result, names = check_level(program, original, level, folder, texts, not before_problems)
            problems = {line["code"] for line in check_of(program, result)[0]}
            # of a file that holds nothing but damage nothing is left
            if problems - before_problems - ({"unfinished", "no-events", "no-samples"} if before_problems else set()):
                raise Failed(f"new problems: {sorted(problems - before_problems)}")
            after = counts_of(program, result)
            lost = before - after
            if not before_problems and (lost or after - before):
                raise Failed(f"other records: {dict(lost)} went, {dict(after - before)} came")
            compare_reports(program, original, result, names)
            for form in forms.get(level, ()):
                check_form(program, original, level, form, folder, texts)
            if len(forms) > 1:
                check_pipes(program, original, level)
    return len(texts)


def check_form(program, original, level, form, folder, texts):
    """A pipe and compressed records hide as much, inside of compressed records too."""
    path, plain = (os.path.join(folder, name) for name in ("form", "plain"))
    perfdata(program, "scrub", "-q", *form, "--hide", level, "--key", KEYS[0], "-o", path, "-i", original)
    perfdata(program, "convert", "-q", "--to", "file", "--no-compress", "-o", plain, path)
    data = bytes_of(path) + bytes_of(plain)
    found = sorted(text for text in texts if text.encode() in data)
    if found:
        raise Failed(f"{' '.join(form)}: still there: {found[:8]}")
    verified = common.run([program, "scrub", "--verify", original, path], timeout=600)
    if verified.status != common.FINE:
        raise Failed(f"{' '.join(form)}: --verify: {verified.out.decode('utf-8', 'replace')[:400]}")
    for sort in ("comm", "dso"):
        before, after = rows_of(program, original, sort), rows_of(program, path, sort)
        if [sorted(n for _, n in t) for t in before] != [sorted(n for _, n in t) for t in after]:
            raise Failed(f"{' '.join(form)}: report --sort {sort}: other numbers")


def check_pipes(program, original, level):
    """Through standard input and output."""
    if os.path.isdir(original):
        return
    with open(original, "rb") as f:
        data = f.read()
    piped = common.run([program, "scrub", "-q", "--hide", level, "--key", KEYS[0], "-o", "-", "-i", "-"], stdin=data)
    if piped.status not in (common.FINE, common.DAMAGED) or not piped.out.startswith((b"PERFILE2", b"2ELIFREP")):
        raise Failed(f"through pipes: exit status {piped.status}: {piped.err[:300]}")


def key_rows(program, path, sort):
    """Samples and period by name, of all events."""
    rows = collections.defaultdict(list)
    for table in rows_of(program, path, sort):
        for names, amounts in table:
            rows[names] += amounts
    return rows


def joined_rows(program, paths, sort):
    """Pairs of what two files say of each name, without the name; and how many names both have."""
    first, second = (key_rows(program, path, sort) for path in paths)
    pairs = sorted((first.get(names, []), second.get(names, [])) for names in first.keys() | second.keys())
    return pairs, len(first.keys() & second.keys())


def totals(program, path, sort):
    """Samples and period by name, of all events together."""
    return {names: tuple(sum(column) for column in zip(*amounts)) for names, amounts in key_rows(program, path, sort).items()}


def check_merged(program, folder, level, originals, results):
    """Scrubbed files merge as their originals do: as many samples and periods, and for each name what both had."""
    merged = []
    for name, pair in (("before", originals), ("after", results)):
        merged.append(os.path.join(folder, name))
        perfdata(program, "merge", "-q", "--machines", "same", "--align", "none", "-o", merged[-1], *pair)
    for sort in ("comm", "dso", "comm,dso"):
        before, after = (totals(program, path, sort) for path in merged)
        if sorted(before.values()) != sorted(after.values()):
            raise Failed(f"--hide {level}: report --sort {sort} of merged files has other numbers")
        parts = [totals(program, path, sort) for path in results]
        wanted = {
            names: tuple(sum(numbers) for numbers in zip(*(part[names] for part in parts if names in part)))
            for names in parts[0].keys() | parts[1].keys()
        }
        if after != wanted:
            raise Failed(f"--hide {level}: report --sort {sort} of merged files has other names than both")


def check_pair(program, first, second):
    """Two files with one key have the same names for the same things: they compare and merge."""
    for level in ("names", "addresses", "all"):
        with tempfile.TemporaryDirectory(prefix="scrub-") as folder:
            results = [os.path.join(folder, str(number)) for number in (0, 1)]
            for path, original in zip(results, (first, second)):
                perfdata(program, "scrub", "-q", "--hide", level, "--key", KEYS[0], "-o", path, "-i", original)
            for sort in SORTS[1:] + (("comm,dso,sym",) if level == "names" else ()):
                before, common_names = joined_rows(program, (first, second), sort)
                after, still_common = joined_rows(program, results, sort)
                if not common_names:
                    raise Failed("the two files have nothing in common: nothing was tested")
                # joined by their names, the rows are the same pairs of numbers
                if before != after or common_names != still_common:
                    raise Failed(f"--hide {level}: rows of two files with one key do not join by {sort} as those of the originals do")
            check_merged(program, folder, level, (first, second), results)


def corpus_files(program, corpus, every):
    program, corpus = common.check_arguments(program, corpus)
    failures = files = searched = refused = 0
    for row in list(common.rows(corpus))[::every]:
        with common.Unpacked(corpus, row) as path:
            probe = common.run([program, "check", "-q", "-i", path], timeout=600)
            if probe.status not in (common.FINE, common.DAMAGED):
                continue
            files += 1
            try:
                searched += check_file(program, path, {"addresses": (["--compress"],)})
            except Refused:
                refused += 1
            except Failed as why:
                failures += 1
                print(f"{row['path']}: {why}")
            except Exception as why:  # a result that cannot be read
                failures += 1
                print(f"{row['path']}: {type(why).__name__}: {why}")
    print(f"{files} files, {refused} too damaged, {searched} texts searched for at two levels, {failures} failures")
    return failures


def main():
    program = os.path.abspath(sys.argv[1])
    if sys.argv[2] == "--corpus":
        every = int(sys.argv[4]) if len(sys.argv) > 4 else 1
        sys.exit(corpus_files(program, sys.argv[3], every) != 0)
    failures = searched = 0
    for path in sys.argv[2:]:
        try:
            searched += check_file(program, path, {level: FORMS for level in ("addresses", "all")})
        except Failed as why:
            failures += 1
            print(f"{path}: {why}")
    try:
        check_pair(program, *[p for p in sys.argv[2:] if os.path.basename(p) in ("hot.data", "hot-zstd.data")])
    except Failed as why:
        failures += 1
        print(f"two files: {why}")
    print(f"{len(sys.argv) - 2} files, {searched} texts searched for at two levels, {failures} failures")
    sys.exit(failures != 0 or not searched)


if __name__ == "__main__":
    main()
