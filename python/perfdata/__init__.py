# SPDX-License-Identifier: MIT
"""Recordings of Linux perf: records and samples as objects, as columns, and in SQL.

>>> import perfdata
>>> recording = perfdata.open(path, symbols=False)
>>> sample = next(iter(recording.samples()))
>>> sample.event, sample.comm, sample.tid, sample.period
('cpu-clock', 'hot', 4400, 500000)
>>> sample.callchain
[18446744073709551104, 140350296993984]

Every field of the format is an attribute, None if it is not recorded. Records of any type have their fields, too:

>>> [record.fields["filename"] for record in recording.records() if record.type == "MMAP2"][:2]
['/tmp/perfdata-demo/hot', '/usr/lib/x86_64-linux-gnu/ld-linux-x86-64.so.2']

Tables are read in batches. NumPy arrays are views of the memory of their batch; pandas, polars, pyarrow, DuckDB and others take a table
as it is (it has __arrow_c_stream__):

>>> table = recording.table("samples", columns=["time_ns", "ip"], order="time")
>>> sum(len(batch) for batch in table.batches())
81

Questions in SQL have rows that are dicts:

>>> recording.sql("select comm, count(*) n from samples group by comm order by n desc limit 1")
[{'comm': 'hot-child', 'n': 40}]

Samples are selected as by the options of every command, and added up:

>>> child = recording.select(comm="hot-child", where="sample.period > 1000")
>>> len(list(child.samples()))
40
>>> flame = recording.flame(root="comm")            # a notebook shows the flame graph
>>> [(node.name, node.total) for node in flame.tree.children]
[('hot', 10500000), ('hot-child', 20000000), ('hot-thread', 10000000)]
>>> [(row["comm"], row["amounts"][0]["samples"]) for row in recording.report("comm").rows]
[('hot-child', 40), ('hot', 21), ('hot-thread', 20)]

What ran and was mapped at any time, and what addresses are called:

>>> world = recording.world
>>> [(process.pid, process.comm, [thread.comm for thread in process.threads]) for process in world.processes if process.pid]
[(4400, 'hot', ['hot', 'hot-thread']), (4402, 'hot-child', ['hot-child'])]
>>> world.mapping(sample.pid, sample.ip, sample.time_ns).path
'/usr/lib/x86_64-linux-gnu/ld-linux-x86-64.so.2'
>>> str(world.symbol(sample.pid, sample.ip, sample.time_ns))        # with its function, where symbols are looked for
'0x90c0 (ld-linux-x86-64.so.2)'

Streams have records while they are written (perfdata record -o - ... | python3 script.py, which opens sys.stdin.buffer), and a
writer takes those that it is given, changed or not, with the events and features of the input:

>>> with perfdata.open_stream(path) as stream, stream.writer(scratch) as writer:
...     for record in stream:
...         if record.type == "SAMPLE" and record.comm != "hot":
...             continue
...         if record.type == "COMM":
...             record["comm"] = record["comm"].upper()
...         writer.write(record)
>>> perfdata.open(scratch, symbols=False).sql("select comm, count(*) n from samples group by comm")
[{'comm': 'HOT', 'n': 21}]

What goes wrong is an exception with code, offset and field; what is wrong with a file is in Recording.problems.

>>> perfdata.open("nothing.data")
Traceback (most recent call last):
perfdata._errors.Error: nothing.data: cannot open: No such file or directory
"""

from ._errors import Error, Problem
from ._library import lib as _lib
from ._recording import Recording, Table, open

TYPE_CHECKING = False  # as in typing, which takes longer to import than all of this
if TYPE_CHECKING:
    from ._profile import Flame, FlameSummary, Node, Report
    from ._stream import Event, Record, Stream, Writer, open_stream
    from ._world import Line, Mapping, Process, Symbol, Thread, ThreadName, World

__all__ = ["Error", "Event", "Flame", "FlameSummary", "Line", "Mapping", "Node", "Problem", "Process", "Record", "Recording", "Report",
           "Stream", "Symbol", "Table", "Thread", "ThreadName", "World", "Writer", "open", "open_stream"]
__version__ = _lib.pd_version().decode()


def __getattr__(name):
    """What tables and statements do not need is imported when it is first asked for."""
    if name in __all__:
        from . import _profile, _stream, _world

        for module in (_profile, _stream, _world):
            if hasattr(module, name):
                globals()[name] = getattr(module, name)
                return globals()[name]
    raise AttributeError(f"module '{__name__}' has no attribute '{name}'")


def __dir__():
    return sorted({*globals(), *__all__})
