# SPDX-License-Identifier: MIT
"""Recordings and their tables."""

from __future__ import annotations

import ctypes
import os
import threading
from collections import namedtuple

from ._columns import Batch, arrays_of, batches, capsule_of, row_class, rows_of
from ._errors import Error, Problem, check, problem_of, text
from ._library import NO_OFFSET, ORDERS, PROBLEM, CError, COpenOptions, CQuery, CSqlOptions, CTableOptions, Stream, lib
from ._select import Selection, words_of
from ._symbols import Symbols

TYPE_CHECKING = False  # as in typing, which takes longer to import than all of this
if TYPE_CHECKING:
    from typing import Any, Dict, Iterator, List, Optional, Sequence, Tuple

    from ._profile import Flame, Report
    from ._stream import Path
    from ._stream import Stream as RecordStream
    from ._world import World

_JSON_LINES = 2  # of pd_sql_format
# Of the many columns of samples these are read with each row, and the others when a row is asked for them.
_EARLY = ("record", "event", "comm", "ip", "pid", "tid", "time_ns", "cpu", "period")


class Column(namedtuple("Column", "name doc type")):
    """A column of a table; doc is one line."""

    __slots__ = ()
    name: str
    doc: str
    type: int


class _File:
    """An open file, and what is wrong with it. One thread at a time uses it and what was opened over it."""

    def __init__(self, path: Path, recover: bool) -> None:
        error = CError()
        self.pointer, self.recover = ctypes.c_void_p(), recover
        self.lock = threading.RLock()
        self.problems: Dict[Problem, None] = {}
        self._problem = PROBLEM(self._take)
        options = COpenOptions(size=ctypes.sizeof(COpenOptions), problem=self._problem, keep=True, recover=recover)
        check(lib.pd_file_open(os.fsencode(path), options, self.pointer, error), error)

    def _take(self, _, problem):
        self.problems[problem_of(problem.contents)] = None
        return True

    def __del__(self):
        if self.pointer:
            lib.pd_file_close(self.pointer)


class _Handle:
    """A selection of a file, and what was opened over it. Whoever reads has a reference to it."""

    def __init__(self, owner, words, symbols, unwind):
        error = CError()
        self.owner, self.file, self.lock, self.words = owner, owner.pointer, owner.lock, words
        self.set, self.sql, self.symbols = ctypes.c_void_p(), ctypes.c_void_p(), Symbols(self.file, not symbols)
        self.selection = Selection(self.file, words)
        self.options = CTableOptions(size=ctypes.sizeof(CTableOptions), choose=self.selection.choose, ready=self.selection.ready,
                                     symbols=self.symbols.function, self=self.selection.pointer, no_unwind=not unwind)
        with self.lock:
            check(lib.pd_table_set_new(self.file, self.options, self.set, error), error)
            if self.selection.by_place:
                lib.pd_table_choose_place(self.set, self.selection.has_place)

    def sql_handle(self, error):
        """Tables for statements, once they are asked for."""
        if not self.sql:
            options = CSqlOptions(ctypes.sizeof(CSqlOptions), self.options, 0, self.selection.has_place)
            files = (ctypes.c_void_p * 1)(self.file)
            check(lib.pd_sql_new(files, 1, options, self.sql, error), error)
        return self.sql

    def __del__(self):
        with self.lock:
            if self.sql:
                lib.pd_sql_free(self.sql)
            if self.set:
                lib.pd_table_set_free(self.set)
            self.symbols.close()


class Table:
    """A table, or some columns of it in an order and of a time. Iterating over it gives rows as objects."""

    def __init__(self, handle, pointer, columns: Optional[Sequence[str]] = None, order: str = "file",
                 time: Optional[Tuple[Optional[int], Optional[int]]] = None):
        table = pointer.contents
        known = {}
        for i in range(table.column_count):
            column = Column(text(table.columns[i].name), text(table.columns[i].doc), table.columns[i].type)
            known[column.name] = column
        self.name, self.doc = text(table.name), text(table.doc)
        missing = [name for name in columns or () if name not in known]
        if missing:
            raise Error(f"{self.name} has no column '{missing[0]}'", "argument")
        self.columns = [known[name] for name in columns] if columns is not None else list(known.values())
        self._late = [column for column in self.columns if columns is None and self._is_late(column)]
        self.row = row_class(self.name.title().rstrip("s").replace(":", "_"), self.doc, self.columns, self._late)
        self._handle, self._pointer, self._order, self._time = handle, pointer, ORDERS[order], time or (None, None)

    def _is_late(self, column):
        return self.name == "samples" and column.name not in _EARLY

    def _stream(self, columns):
        names = (ctypes.c_char_p * len(columns))(*(column.name.encode() for column in columns))
        query = CQuery(ctypes.sizeof(CQuery), names, len(columns), self._order, self._time[0] or 0, self._time[1] or 0)
        stream, error = Stream(), CError()
        with self._handle.lock:
            check(lib.pd_table_stream(self._handle.set, self._pointer, query, stream, error), error)
        return stream

    def _batches(self, columns):
        return batches(self, columns, self._stream(columns), self._handle.lock)

    def batches(self) -> Iterator[Batch]:
        """Some thousand rows at once, as columns."""
        return self._batches(self.columns)

    def __iter__(self) -> Iterator[Any]:
        return rows_of(self, self._batches, self._late)

    def arrays(self) -> Dict[str, Any]:
        """All columns as NumPy arrays by their names, read at once: numbers, 0 where there is none, and names as objects, None where
        there is none. They are copies; see batches() for views. Other columns are a TypeError: choose columns."""
        return arrays_of(self.columns, self.batches())

    def numpy(self, name: str):
        """One column, as arrays() has it."""
        only = Table(self._handle, self._pointer, [name])
        only._order, only._time = self._order, self._time
        return only.arrays()[name]

    def __arrow_c_stream__(self, requested_schema=None):
        """For pyarrow.table(...), polars.from_arrow(...), duckdb.sql(...) and others."""
        return capsule_of(self._stream(self.columns), self._handle)


class Recording:
    """An open recording; it can be used as a context manager."""

    def __init__(self, path: Path, file: _File, symbols: bool, unwind: bool, selection: Dict[str, Any]) -> None:
        self.path = path
        self._how = symbols, unwind
        self._selection = selection
        self._world: Optional[World] = None
        self._handle: Any = _Handle(file, words_of(selection), symbols, unwind)
        self._tables: Dict[str, Any] = {}
        while True:
            pointer = lib.pd_table_at(self._handle.set, len(self._tables))
            if not pointer:
                break
            self._tables[text(pointer.contents.name)] = pointer

    def __enter__(self) -> "Recording":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def close(self) -> None:
        """What is still being read keeps the file open until it is released."""
        self._handle = self._world = None

    def _opened(self):
        if self._handle is None:
            raise Error(f"{os.fsdecode(self.path)}: the recording is closed", "argument")
        return self._handle

    @property
    def problems(self) -> List[Problem]:
        """What was found to be wrong so far."""
        return list(self._opened().owner.problems)

    @property
    def tables(self) -> List[str]:
        """Names of the tables; those of tracepoints are called as their events."""
        return list(self._tables)

    def table(self, name: str, columns: Optional[Sequence[str]] = None, order: str = "file",
              time: Optional[Tuple[Optional[int], Optional[int]]] = None) -> Table:
        """A table: all columns, or these; records in the order of the file or of time; those of a time, (from, to) in ns, both
        included."""
        if name not in self._tables:
            raise Error(f"{os.fsdecode(self.path)}: there is no table '{name}'", "argument")
        if order not in ORDERS:
            raise Error(f"order is '{order}', not file or time", "argument")
        return Table(self._opened(), self._tables[name], columns, order, time)

    def samples(self, **how: Any) -> Table:
        """The table of samples; arguments are those of table()."""
        return self.table("samples", **how)

    def records(self, **how: Any) -> Table:
        """The table of all records."""
        return self.table("records", **how)

    def stack_text(self, stack: int) -> str:
        """The functions of a stack, outermost first, separated by semicolons."""
        handle = self._opened()
        with handle.lock:
            return text(lib.pd_table_stack_text(handle.set, stack))

    def wall_clock(self, time_ns: int) -> Optional[int]:
        """Wall clock in ns since 1970; None if the file does not say."""
        handle = self._opened()
        with handle.lock:
            wall = lib.pd_file_wall_clock(handle.file, time_ns)
        return None if wall == NO_OFFSET else wall

    def sql(self, statements: str) -> List[Dict[str, Any]]:
        """Rows of statements, see perfdata sql. Unsigned numbers above 2^63 are negative there."""
        import json

        from ._profile import Printed

        handle, error, printed = self._opened(), CError(), Printed()
        with handle.lock:
            check(lib.pd_sql_run(handle.sql_handle(error), statements.encode(), _JSON_LINES, printed.pointer, error), error)
        return [json.loads(line) for line in printed.take().splitlines()]

    def select(self, **selection: Any) -> "Recording":
        """The same recording with these samples only, by the names and words of the options of every command: time, comm, pid, tid,
        cpu, event, dso, symbol, where ... Lists are lists or strings with commas, a time is a string or (from, to) in ns. What
        was selected before stays selected."""
        return Recording(self.path, self._opened().owner, *self._how, {**self._selection, **selection})

    @property
    def world(self) -> World:
        """Threads, processes, mappings and names of addresses. It is read when it is first asked for."""
        handle = self._opened()
        with handle.lock:
            if self._world is None:
                from ._world import World

                self._world = World(handle)
            return self._world

    def flame(self, root: Optional[str] = None, weight: Optional[str] = None, reverse: bool = False, percent_limit: float = 0,
              max_stack: int = 0) -> Flame:
        """Stacks as a flame graph and call tree. root: comm, pid, tid or cpu stands before the frames; weight: samples, period or latency
        instead of what suits the event; reverse: from functions to their callers."""
        from ._profile import Flame

        handle = self._opened()
        with handle.lock:
            return Flame(handle, os.fsdecode(self.path), root, weight, reverse, percent_limit, max_stack)

    def report(self, sort: Optional[str] = None, children: bool = True) -> Report:
        """Samples added up by sort keys as perf report has them, "comm,dso,sym"; children: with what functions called."""
        from ._profile import Report

        handle = self._opened()
        with handle.lock:
            return Report(handle, sort, children)

    def stream(self, order: str = "file", where: Optional[str] = None) -> RecordStream:
        """Records one after another, which a writer takes: all of them, not only those that were selected. The file is opened again.
        See open_stream."""
        from ._stream import Stream as RecordStream

        return RecordStream(self.path, order, where, self._opened().owner.recover)


def open(path: Path, recover: bool = False, symbols: bool = True, unwind: bool = True, **selection: Any) -> Recording:
    """Opens a recording: a file, a FIFO or a directory. recover: look for what a damaged header says wrongly. symbols: look for
    names of functions in the programs on this machine. unwind: unwind copied user stacks. selection: see Recording.select."""
    return Recording(path, _File(path, recover), symbols, unwind, selection)
