#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The Python package: examples of its documentation, errors, and every column beside dump --json.

usage: run.py PACKAGE_FOLDER LIBRARY PERFDATA DATA_FOLDER [--rewrite] [--corpus CORPUS]

The page of the package, docs/python.md, has to be what its docstrings say; --rewrite writes it. --corpus compares the objects, NumPy arrays
and SQL rows of each table of each recording of a corpus, and those of samples and records with dump --json, and of tracepoints by what their formats say, instead of all else. What
needs NumPy, pyarrow or nbclient is left out where they are not installed.
"""

import ast
import doctest
import gc
import importlib
import inspect
import json
import os
import re
import subprocess
import sys
import tempfile
import textwrap
import threading

folder, library, program, data = map(os.path.abspath, sys.argv[1:5])
top = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
os.environ["PERFDATA_LIBRARY"] = library
sys.path.insert(0, folder)
import misuse  # noqa: E402
import perfdata  # noqa: E402

wrong = 0


def require(condition, *what):
    global wrong
    if not condition:
        wrong += 1
        print(*what)


def run_examples(scratch):
    for name in ("perfdata", "perfdata._recording", "perfdata._columns", "perfdata._errors", "perfdata._profile", "perfdata._stream",
                 "perfdata._select", "perfdata._layout", "perfdata._world"):
        module = importlib.import_module(name)
        result = doctest.testmod(module, extraglobs={"path": "hot.data", "scratch": scratch}, optionflags=doctest.IGNORE_EXCEPTION_DETAIL)
        require(not result.failed, name, result)
        if name == "perfdata":
            require(result.attempted > 8, "examples were not run")


def check_imports():
    """Columns need few modules; all names are there, whoever asks."""
    begin = f"import sys; sys.path.insert(0, {folder!r}); import perfdata; "
    columns = "len(list(perfdata.open('hot.data').samples(columns=['ip', 'comm']).batches())); "
    for code in (columns + "print(sorted({'typing', 'json', 're', 'perfdata._world'} & set(sys.modules)))",
                 "print([name for name in perfdata.__all__ if name not in dir(perfdata)])",
                 "from perfdata import *; print([name for name in perfdata.__all__ if globals()[name] is not getattr(perfdata, name)])"):
        done = subprocess.run([sys.executable, "-S", "-c", begin + code], stdout=subprocess.PIPE, text=True, check=False)
        require(done.stdout == "[]\n", code, done.stdout)
    require(not hasattr(perfdata, "Nothing"), "a name that there is not")


def compare_objects(path):
    """Records and samples as objects, beside dump --json."""
    dump = subprocess.run([program, "dump", "-q", "--json", path], stdout=subprocess.PIPE, check=False).stdout
    expected = [json.loads(line) for line in dump.splitlines()]
    with perfdata.open(path, symbols=False) as recording:
        records = list(recording.records())
        samples = iter(recording.samples())
    require(len(records) == len(expected), path, len(records), len(expected))
    for row, record in zip(records, expected):
        for name in ("offset", "size", "misc", "time_ns", "event"):
            require(getattr(row, name) == record.get(name), path, row, name)
        require(row.fields == record.get("fields"), path, row, "fields")
        if record["type"] != "SAMPLE":
            continue
        sample = next(samples)
        for name, value in record.get("fields", {}).items():
            cell = getattr(sample, name)
            require((cell.hex() if isinstance(cell, bytes) else cell) == value, path, name, cell, value)
    require(next(samples, None) is None, path, "more samples than records")


def compare_numpy(path):
    try:
        import numpy
    except ImportError:
        return
    with perfdata.open(path, symbols=False) as recording:
        table = recording.samples()
        arrays = {}
        for batch in table.batches():
            for column in table.columns:
                try:
                    array = batch.numpy(column.name)
                except TypeError:
                    continue
                require(array.base is not None and not array.flags.owndata, column.name, "is a copy")
                valid = batch.valid(column.name)
                values = [value if there else None for value, there in zip(array.tolist(), valid.tolist())]
                if column.type == 5:
                    names = batch.names(column.name)
                    values = [None if value is None else names[value] for value in values]
                require(values == batch.values(column.name), path, column.name)
                arrays[column.name] = array
            del batch
            gc.collect()
        # views outlive their batch
        require(all(len(array.tolist()) for array in arrays.values()), path)
        compare_arrays(path, recording, numpy)


def compare_arrays(path, recording, numpy):
    """Whole columns at once, and one of them."""
    table = recording.samples()
    rows = list(table)
    numbers = [column.name for column in table.columns if column.type < 6]
    arrays = recording.samples(columns=numbers).arrays()
    require(list(arrays) == numbers, path, list(arrays))
    for name, column in ((column.name, column) for column in table.columns if column.name in arrays):
        wanted = [getattr(row, name) for row in rows]
        wanted = wanted if column.type == 5 else [value or 0 for value in wanted]
        for array in (arrays[name], table.numpy(name)):
            require(isinstance(array, numpy.ndarray) and array.tolist() == wanted, path, name, "as an array")
    try:
        table.numpy("callchain")
    except TypeError:
        return
    require(False, path, "a list as an array of numbers")


def compare_arrow(path):
    try:
        import pyarrow
    except ImportError:
        return
    recording = perfdata.open(path, symbols=False)
    for name in recording.tables:
        table = recording.table(name)
        taken = pyarrow.table(table)
        taken.validate(full=True)
        rows = list(table)
        require(taken.num_rows == len(rows) and taken.column_names == [c.name for c in table.columns], path, name)
        for i, column in enumerate(table.columns):
            require(taken.column(i).to_pylist() == [row[i] for row in rows], path, name, column.name)
    reader = pyarrow.RecordBatchReader.from_stream(recording.samples(columns=["ip", "comm"]))
    del recording
    gc.collect()
    require(reader.read_all().num_rows > 0, "a stream does not outlive its recording")


def check_errors():
    try:
        perfdata.open("/dev/null")
        require(False, "an empty file was opened")
    except perfdata.Error as error:
        require(error.code == "format", error.code)
    recording = perfdata.open("hot.data", symbols=False)
    for call, code in ((lambda: recording.table("nothing"), "argument"), (lambda: recording.samples(columns=["nothing"]), "argument"),
                       (lambda: recording.samples(order="none"), "argument"), (lambda: recording.sql("select absent"), "argument"),
                       (lambda: recording.sql("attach 'x' as x"), "argument")):
        try:
            call()
            require(False, "no error", code)
        except perfdata.Error as error:
            if error.code == "unsupported":
                continue
            require(error.code == code, error, error.code)
    table = recording.samples(columns=["ip"])
    recording.close()
    require(len(list(table)) == 81, "a table does not outlive its recording")
    try:
        recording.samples()
        require(False, "a closed recording was read")
    except perfdata.Error:
        pass


def check_problems():
    with open("hot.data", "rb") as whole:
        content = bytearray(whole.read())
    content[1144 + 6:1144 + 8] = b"\x09\x00"
    with open(os.path.join(os.environ.get("TMPDIR", "/tmp"), f"perfdata-{os.getpid()}.data"), "wb") as damaged:
        damaged.write(content)
    try:
        with perfdata.open(damaged.name, symbols=False) as recording:
            require(any(problem.severity == "damage" and problem.offset for problem in recording.problems), recording.problems)
    finally:
        os.unlink(damaged.name)


def program_output(*arguments):
    return subprocess.run([program, *arguments], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True).stdout


def check_late_columns():
    """Columns that are read when they are asked for, in any order of rows, beside those that were asked for at first."""
    recording = perfdata.open("hot.data", symbols=False)
    names = [column.name for column in recording.samples().columns]
    expected = [tuple(row) for row in recording.samples(columns=names)]
    require([tuple(row) for row in recording.samples()] == expected, "late columns")
    rows = list(recording.samples())
    require([rows[i].stack for i in reversed(range(len(rows)))] == [row[names.index("stack")] for row in reversed(expected)], "late, backwards")
    require(rows[3] == expected[3] and hash(rows[3]) == hash(expected[3]) and len(rows[3]) == len(names), "rows are sequences")
    records = list(recording.records())
    recording.close()
    require(rows[5].function == expected[5][names.index("function")] and records[0].fields, "late columns do not outlive their recording")


def folded_of(*arguments):
    return program_output("folded", "-q", "--no-symbols", *arguments).decode().splitlines()


def check_selections():
    recording = perfdata.open("hot.data", symbols=False)
    for words in ({"comm": "hot-child"}, {"comm": ["hot", "hot-thread"]}, {"tid": 4403}, {"pid": [4400, 4402]}, {"dso": "hot"}, {"time": "10%-40%"},
                  {"event": "cpu-*"}, {"where": "sample.tid == 4403"}, {"time": (774449515422, None), "comm": "hot"}, {"dso": "nothing"}):
        chosen = recording.select(**words)
        options = []
        for name, value in words.items():
            if name == "time" and not isinstance(value, str):
                value = f"{value[0] // 10**9}.{value[0] % 10**9:09},"
            options.append(f"--{name}={','.join(map(str, value)) if isinstance(value, list) else value}")
        output = subprocess.run([program, "export", "-q", "--no-symbols", "--to", "jsonl", "hot.data", *options], stdout=subprocess.PIPE,
                                stderr=subprocess.DEVNULL, check=False).stdout
        expected = [json.loads(line)["time_ns"] for line in output.splitlines() if b"time_ns" in line]
        rows = [row.time_ns for row in chosen.samples(order="time")]
        require(rows == expected, words, len(rows), len(expected))
        require(chosen.sql("select count(*) n from samples") == [{"n": len(rows)}], words, "sql")
        if rows:
            require(chosen.flame().summary.samples == len(rows), words, "flame")
    require(len(list(recording.select(comm="hot").select(tid=1).samples())) == 0, "a selection of a selection")
    for call in (lambda: recording.select(nothing=1), lambda: recording.select(where="sample.nothing == 1"), lambda: recording.select(cpu="x")):
        try:
            call()
            require(False, "a wrong selection")
        except perfdata.Error as error:
            require(error.code in ("argument", "no-match"), error, error.code)


def check_flame():
    for name, options in (("hot.data", {}), ("hot-group.data", {"reverse": True}), ("hot-trace.data", {"root": "comm"})):
        recording = perfdata.open(name, symbols=False)
        flame = recording.flame(**options)
        tree = flame.tree
        require(sum(node.self_total for node in tree.walk()) == tree.total > 0, name, "totals")
        require(flame.summary.samples > 0 and flame.svg().endswith("</svg>\n"), name)
        shown = flame._repr_html_()
        require(shown.startswith("<iframe sandbox") and "<svg" not in shown and "&lt;svg" in shown, name, shown[:100])
    recording = perfdata.open("hot.data", symbols=False)
    require(recording.flame(root="comm").tree.total == sum(row.period for row in recording.samples()), "the total of the tree")
    report = recording.report("comm")
    expected = json.loads(program_output("report", "-q", "--no-symbols", "--json", "-s", "comm", "hot.data"))
    require([(row["comm"], row["amounts"][0]["period"]) for row in report.rows] ==
            [(row["comm"], row["amounts"][0]["period"]) for table in expected["tables"] for row in table["rows"]], "report")
    require("<table>" in report._repr_html_() and report.quality["samples"] == 81, "report in a notebook")
    try:
        recording.select(dso="nothing").flame()
        require(False, "a flame of nothing")
    except perfdata.Error as error:
        require(error.code, error)


def check_world():
    """Threads and mappings beside the tables of tasks and maps; names of addresses beside the columns of samples."""
    for name in ("hot.data", "hot-pipe.data", "hot-multi.data", "hot-records.data"):
        recording = perfdata.open(name)
        world = recording.world
        threads = [(t.pid, t.tid) for t in world.threads]
        require(sorted(threads) == sorted((row.pid, row.tid) for row in recording.table("tasks")), name, threads)
        require(sorted((t.pid, t.tid) for p in world.processes for t in p.threads) == sorted(threads), name, "threads of processes")
        require(all(p.begin_ns <= t.begin_ns for p in world.processes for t in p.threads), name, "begins")
        wanted = sorted((row.start, row.end) for row in recording.table("maps"))
        require(sorted((m.start, m.end) for m in world.mappings) == wanted, name, "mappings")
        for row in recording.samples(columns=["pid", "tid", "ip", "time_ns", "comm", "function", "object", "cpumode"]):
            if row.ip is None or row.cpumode not in ("user", "kernel"):
                continue
            symbol = world.symbol(row.pid, row.ip, row.time_ns, row.cpumode)
            function = row.function if not row.function.startswith("[") else None
            require((symbol.function, symbol.object) == (function, row.object), name, row, symbol)
            require(world.comm(row.pid, row.tid, row.time_ns) in (row.comm, None), name, row)
            mapping = world.mapping(row.pid, row.ip, row.time_ns, row.cpumode)
            require(not mapping or mapping.start <= row.ip < mapping.end, name, row, mapping)
            require(bool(mapping) == bool(symbol.object), name, row, mapping)
        require(world.symbol(1, 0).function is None and world.symbol(1, 0).name == "0x0", name, world.symbol(1, 0))
        require(is_argument_error(lambda: world.symbol(1, 0, mode="nothing")), "a mode that there is not")
        for wrong in ((2**40, 0), (-1, 0), (1, -1), (1, 2**64), (1, 0, -5), (1, 0, 2**64)):
            for function in (world.symbol, world.mapping, world.comm):
                require(is_argument_error(lambda function=function, wrong=wrong: function(*wrong)), function, wrong, "numbers that are too large or negative")
        del recording
        gc.collect()
        require(len(world.threads) == len(threads), "a world does not outlive its recording")


def is_argument_error(call):
    try:
        call()
    except perfdata.Error as error:
        return error.code == "argument"
    return False


def dump_of(path):
    return [json.loads(line) for line in program_output("dump", "-q", "--json", path).splitlines()]


def check_streams(scratch):
    for name in ("hot.data", "hot-pipe.data", "hot-zstd.data", "hot-trace.data", "hot-regs.data"):
        with perfdata.open_stream(name) as stream:
            found = [record.copy() for record in stream]
            events = [event.name for event in stream.events]
        expected = [record for record in dump_of(name) if "fields" in record]
        require([(r["type"], r["offset"], r["fields"]) for r in found] == [(r["type"], r["offset"], r["fields"]) for r in expected], name)
        require(events == [event.name for event in perfdata.open(name, symbols=False).table("events")], name, events)
    with open("hot-pipe.data", "rb") as file, perfdata.open_stream(file, where="comm == 'hot-child' && type == SAMPLE") as stream:
        require(sum(1 for _ in stream) == 20, "a condition on the name of a thread")
    check_live(scratch)


def check_live(scratch):
    """Records arrive while the pipe is still written; an exception of what is read reaches the reader."""
    with open("hot-pipe.data", "rb") as file:
        content = file.read()
    read_end, write_end = os.pipe()
    os.write(write_end, content[:len(content) // 2])
    with perfdata.open_stream(read_end) as stream:
        records = iter(stream)
        first = [next(records).type for _ in range(10)]
        rest = threading.Thread(target=lambda: (os.write(write_end, content[len(content) // 2:]), os.close(write_end)))
        rest.start()
        count = len(first) + sum(1 for _ in records)
        rest.join()
    os.close(read_end)
    require(count == len([record for record in dump_of("hot-pipe.data") if "fields" in record]), "a pipe that is written meanwhile", count)

    class Broken:
        def read(self, size):
            raise KeyError("broken")

    try:
        list(perfdata.open_stream(Broken()))
        require(False, "an exception of read() was lost")
    except KeyError:
        pass


def check_writer(scratch):
    path = os.path.join(scratch, "new.data")
    for name in ("hot.data", "hot-pipe.data", "hot-zstd.data", "hot-trace.data", "hot-group.data"):
        with perfdata.open_stream(name) as stream, stream.writer(path) as writer:
            for record in stream:
                writer.write(record)
        require([r["fields"] for r in dump_of(path) if r["type"] == "SAMPLE"] == [r["fields"] for r in dump_of(name) if r["type"] == "SAMPLE"],
                name, "copied")
        features = {feature.name for feature in perfdata.open(path, symbols=False).table("features")}
        require(features >= {feature.name for feature in perfdata.open(name, symbols=False).table("features")} - {"COMPRESSED", "EVENT_DESC"},
                name, "features", features)
    with perfdata.open_stream("hot.data") as stream, stream.writer(path, endian="big", features={"HOSTNAME": {"value": "elsewhere"},
                                                                                                "CMDLINE": None}) as writer:
        for record in stream:
            if record.type == "SAMPLE" and record["tid"] == 4403:
                continue
            if record.type == "SAMPLE":
                record["callchain"], record["pid"] = [1, 2, 3], 77
            elif record.type == "COMM":
                record["comm"], record["sample_id.tid"] = "x" + record["comm"], 9
            writer.write(record)
        writer.add("COMM", {"pid": 5, "tid": 6, "comm": "new", "sample_id": {"pid": 5, "tid": 6, "time_ns": 1}})
    with perfdata.open_stream("hot.data") as stream:
        for fields in ({"value": "x"}, None):
            require(is_argument_error(lambda: stream.writer(path, features={"HOSTNMAE": fields})), "a feature that there is not")
    changed = perfdata.open(path, symbols=False)
    require({(row.pid, tuple(row.callchain)) for row in changed.samples()} == {(77, (1, 2, 3))}, "samples that were changed")
    require(len(list(changed.samples())) == 81 - 20, "samples that were left out")
    comms = [record.fields for record in changed.records() if record.type == "COMM"]
    require(comms[-1]["comm"] == "new" and all(c["comm"].startswith("x") and c["sample_id"]["tid"] == 9 for c in comms[:-1]), comms)
    features = {feature.name: feature.fields for feature in changed.table("features")}
    require(features["HOSTNAME"] == {"value": "elsewhere"} and "CMDLINE" not in features and "ARCH" in features, features)
    require(not changed.problems, changed.problems)
    check_gone_threads(path)
    check_wrong_writes(path)


def check_gone_threads(path):
    """Threads that have exited have the number -1, and the name that reports give them."""
    with perfdata.open_stream("hot.data") as stream, stream.writer(path) as writer:
        for record in stream:
            if record.type == "SAMPLE":
                record["tid"] = (1 << 32) - 1
            writer.write(record)
    with perfdata.open(path, symbols=False) as recording:
        require({row.comm for row in recording.samples()} == {row["comm"] for row in recording.report("comm").rows} == {":-1"}, "gone threads")


def check_wrong_writes(path):
    for fields in ({"nothing": 1}, {"tid": 1 << 40}, {"tid": "x"}, {"comm": 5}, {"sample_id.nothing": 1}, {"pid.tid": 1}):
        with perfdata.open_stream("hot.data") as stream:
            record = next(r for r in stream if r.type == "COMM")
            for name, value in fields.items():
                try:
                    record[name] = value
                    require(False, fields, "was set")
                except perfdata.Error as error:
                    require(error.code == "argument", error)
            next(iter(stream))
            try:
                record.fields
                require(record._fields, "a record that is gone was read")
                record["tid"] = 1
                require(False, "a record that is gone was changed")
            except perfdata.Error:
                pass
    try:
        with perfdata.open_stream("hot.data") as stream, stream.writer(path + ".not") as writer:
            raise KeyError
    except KeyError:
        pass
    require(not os.path.exists(path + ".not"), "a file appeared that was not finished")
    stream = perfdata.open_stream("hot.data")
    writer = stream.writer(path + ".not")
    stream.close()
    try:
        writer.finish()
        require(False, "a writer without its stream")
    except perfdata.Error:
        pass


def check_threads():
    """Others run during long calls, and several threads may read one recording."""
    recording = perfdata.open("hot.data", symbols=False)
    sums = []

    def read():
        for _ in range(20):
            sums.append(sum(row.period for row in recording.samples()))

    threads = [threading.Thread(target=read) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    require(len(set(sums)) == 1 and len(sums) == 80, "threads read something else", set(sums))
    read_end, write_end = os.pipe()
    opened = threading.Thread(target=lambda: list(perfdata.open_stream(read_end)))
    opened.start()  # waits for the pipe in the library; this thread goes on
    with open("hot-pipe.data", "rb") as file:
        os.write(write_end, file.read())
    os.close(write_end)
    opened.join(60)
    require(not opened.is_alive(), "a call that waits keeps the others from running")
    os.close(read_end)


def check_notebook():
    """What a notebook shows, run without a browser."""
    try:
        import nbclient
        import nbformat
    except ImportError:
        return
    cells = [f"import sys; sys.path.insert(0, {folder!r}); import perfdata; recording = perfdata.open('hot.data', symbols=False)",
             "recording.flame(root='comm')", "recording.report('comm,dso')", "recording.sql('select count(*) n from samples')"]
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    nbclient.NotebookClient(notebook, timeout=300, resources={"metadata": {"path": data}}).execute()
    shown = [[output.get("data", {}) for output in cell.outputs] for cell in notebook.cells]
    require(shown[1] and shown[1][0].get("text/html", "").startswith("<iframe sandbox") and "hot-child" in shown[1][0]["text/html"], shown[1])
    require(shown[2] and "<table>" in shown[2][0].get("text/html", ""), shown[2])
    require(shown[3] and "81" in shown[3][0].get("text/plain", ""), shown[3])


# ---- the page ----

def signature_of(name, thing):
    """As it is in the source, without self."""
    function = ast.parse(textwrap.dedent(inspect.getsource(thing))).body[0]
    function.args.args = [argument for argument in function.args.args if argument.arg != "self"]
    result = f" -> {ast.unparse(function.returns)}" if function.returns else ""
    return f"{name}({ast.unparse(function.args)}){result}"


def members_of(kind):
    """Public methods and properties that have something to say."""
    for name, member in vars(kind).items():
        doc = inspect.getdoc(member) if callable(member) or isinstance(member, property) else None
        if doc and not name.startswith("_"):
            yield f"`{name}`" if isinstance(member, property) else f"`{signature_of(name, member)}`", " ".join(doc.split())


def page():
    """docs/python.md."""
    parts = ["# Python package\n\nMade from the docstrings of the package, whose examples are run by its test.\n\n" + examples_of(perfdata.__doc__)]
    for name in perfdata.__all__:
        thing = getattr(perfdata, name)
        title = name if inspect.isclass(thing) else signature_of(name, thing)
        parts.append(f"\n## `{title}`\n\n{inspect.getdoc(thing)}\n")
        if inspect.isclass(thing):
            lines = [f"- {head}: {doc}\n" for head, doc in members_of(thing)]
            parts.append("\n" + "".join(lines) if lines else "")
    return "".join(parts)


def examples_of(doc):
    """Examples as blocks of code between the sentences."""
    found, block = [], False
    for line in doc.strip().splitlines():
        starts = line.startswith(">>>")
        if starts and not block:
            found.append("```python")
            block = True
        elif block and not line:
            found.append("```")
            block = False
        found.append(line)
    return "\n".join(found + ["```"] * block) + "\n"


def check_page():
    path, text = os.path.join(top, "docs", "python.md"), page()
    if "--rewrite" in sys.argv:
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
    with open(path, encoding="utf-8") as file:
        require(file.read() == text, "docs/python.md is not what the docstrings say: run.py ... --rewrite")


def write_in_object(path, object_path):
    """A recording whose samples are all over an object of this machine."""
    found, begin = os.stat(object_path), 0x10000000
    ip, number = begin + found.st_size // 12, {"maj": os.major(found.st_dev), "min": os.minor(found.st_dev), "ino": found.st_ino}
    with perfdata.open_stream("hot.data") as stream, stream.writer(path) as writer:
        for record in stream:
            if record.type == "SAMPLE":
                record["ip"], record["callchain"] = ip, []
                ip += found.st_size // 300
            elif record.type == "MMAP2":
                record["filename"], record["addr"], record["len"], record["pgoff"] = object_path, begin, 1 << 28, 0
                for name, value in {**number, "ino_generation": 0}.items():
                    record[name] = value
            writer.write(record)


def check_symbols(scratch):
    """Functions are those of a command: tables that were read are kept, and objects that are gone are in perf's cache by build id."""
    path, named, both, moved, debug = (os.path.join(scratch, name) for name in ("program.data", "named.data", "both.data", "moved.so", "debug"))
    with open(library, "rb") as source, open(moved, "wb") as copy:
        copy.write(source.read())
    os.utime(moved, (10**9, 10**9))
    os.mkdir(os.path.join(scratch, "cache"))
    write_in_object(path, os.path.realpath(sys.executable))  # what changed a moment ago is not kept
    write_in_object(named, moved)
    program_output("inject", "-q", "-b", "-i", named, "-o", both)
    program_output("--buildid-dir", debug, "buildid-cache", "--add", moved)
    before = {name: os.environ.get(name) for name in ("XDG_CACHE_HOME", "PERF_BUILDID_DIR")}
    os.environ.update(XDG_CACHE_HOME=os.path.join(scratch, "cache"), PERF_BUILDID_DIR=debug)
    try:
        functions = {sample.function for sample in perfdata.open(path).samples(columns=["function"])}
        kept = [name for _, _, names in os.walk(os.path.join(scratch, "cache")) for name in names]
        require(functions and any(name.split(".")[1:2] == ["symbols"] for name in kept), "tables of symbols that were kept", kept)
        first = [sample.function for sample in perfdata.open(both).samples(columns=["function"])]
        os.unlink(moved)
        expected = program_output("sql", "-q", "--format", "csv", both, "select function from samples").decode().split("\n")[1:-1]
        recording = perfdata.open(both)
        found = [sample.function for sample in recording.samples(columns=["function"])]
        by_sql = [row["function"] for row in recording.sql("select function from samples")]
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name)
            else:
                os.environ[name] = value
    require(len(set(found)) > 10 and first == found == by_sql, "functions of an object in the cache", first[:3], found[:3], by_sql[:3])
    require([name or "" for name in found] == [name.strip('"') for name in expected], "functions of a command", found[:3], expected[:3])


# ---- a corpus ----

def signed(value):
    return value - (1 << 64) if isinstance(value, int) and value >= 1 << 63 else value


def compare_sql(path):
    """Each table by objects and by SQL."""
    with perfdata.open(path, symbols=False) as recording:
        for name in recording.tables:
            table = recording.table(name)
            found = [[signed(row[i]) for i in range(len(table.columns))] for row in table]
            expected = [list(row.values())[:-1] for row in recording.sql(f'select * from "{name}"')]
            for row in found:
                row[:] = [cell.hex() if isinstance(cell, bytes) else cell for cell in row]
            for row in expected:
                row[:] = [bytes.fromhex(cell).hex() if column.type == 7 and cell is not None else cell for cell, column in zip(row, table.columns)]
            require(found == expected, path, name, len(found), len(expected),
                    next(((table.columns[i].name, a[i], b[i]) for a, b in zip(found, expected) for i in range(len(a)) if a[i] != b[i]), None))


FIELD = re.compile(r"\tfield:(?P<type>[^;]*?)(?P<name>\w+)(?P<array>\[\w*\])?;\toffset:(?P<offset>\d+);\tsize:(?P<size>\d+);(?:\tsigned:(?P<signed>\d+);)?")


def formats_of(recording):
    """Fields of each tracepoint by its number, and the byte order of raw data."""
    data = next((feature.fields for feature in recording.table("features") if feature.name == "TRACING_DATA"), None) or {}
    found = {}
    for system in data.get("systems") or []:
        for each in system.get("formats") or []:
            text = bytes.fromhex(each["data"]).decode("utf-8", "replace")
            number = re.search(r"^ID: (\d+)", text, re.M)
            if number:
                found[int(number[1])] = [match.groupdict() for match in FIELD.finditer(text)]
    return found, "big" if data.get("big_endian") else "little"


def number_in(raw, field, order):
    at, size = int(field["offset"]), int(field["size"])
    if field["array"] or "__data_loc" in field["type"] or "__rel_loc" in field["type"] or size not in (1, 2, 4, 8) or at + size > len(raw):
        return None
    return int.from_bytes(raw[at:at + size], order, signed=field["signed"] == "1")


def compare_tracepoints(path):
    """Numbers of tracepoints, decoded once more by what the formats say."""
    compared = 0
    with perfdata.open(path, symbols=False) as recording:
        formats, order = formats_of(recording)
        numbers = {event.name: event.config for event in recording.table("events") if event.type == 2}
        raws = {sample.record: sample.raw for sample in recording.samples(columns=["record", "raw"])} if formats else {}
        for name in recording.tables:
            fields = {field["name"]: field for field in formats.get(numbers.get(name), [])}
            for row in recording.table(name) if fields else ():
                for column in row._fields:
                    value = getattr(row, column) if column in fields else None
                    expected = number_in(raws.get(row.record) or b"", fields[column], order) if isinstance(value, int) else None
                    if expected is not None:
                        compared += 1
                        require(value % (1 << 64) == expected % (1 << 64), path, name, row.record,
                                column, value, expected)
    return compared


def compare_corpus(corpus):
    sys.path.insert(0, os.path.join(top, "tests", "corpus"))
    common = importlib.import_module("common")
    count = refused = fields = 0
    for row in common.rows(corpus):
        with common.Unpacked(corpus, row) as path:
            try:
                perfdata.open(path, symbols=False)
            except perfdata.Error:
                refused += 1
                continue
            count += 1
            compare_objects(path)
            compare_numpy(path)
            compare_sql(path)
            fields += compare_tracepoints(path)
    print(f"{count} files, {refused} refused, {fields} fields of tracepoints, {wrong} differences")


if "--corpus" in sys.argv:
    compare_corpus(os.path.abspath(sys.argv[sys.argv.index("--corpus") + 1]))
    sys.exit(1 if wrong else 0)
check_page()
os.chdir(data)
check_imports()
check_errors()
check_problems()
check_late_columns()
check_selections()
check_flame()
check_world()
check_threads()
check_notebook()
with tempfile.TemporaryDirectory() as temporary:
    run_examples(os.path.join(temporary, "example.data"))
    check_streams(temporary)
    check_writer(temporary)
    check_symbols(temporary)
    misuse.run(require, temporary)
for each in ("hot.data", "hot-group.data", "hot-records.data", "hot-regs.data", "hot-trace.data", "hot-zstd.data", "hot-pipe.data"):
    compare_objects(each)
    compare_numpy(each)
    compare_arrow(each)
    compare_sql(each)
    compare_tracepoints(each)
print(f"{wrong} differences")
sys.exit(1 if wrong else 0)
