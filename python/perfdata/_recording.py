# SPDX-License-Identifier: MIT
"""Recordings and their tables."""

import ctypes
import json
import os
from typing import Any, Dict, Iterator, List, NamedTuple, Optional, Sequence, Tuple

from ._columns import Batch, batches, capsule_of, row_class
from ._errors import Error, Problem, check, problem_of, text
from ._library import (NO_FILES, NO_OFFSET, ORDERS, PROBLEM, SYMBOLS, CError, COpenOptions, CQuery, CSqlOptions, CSymbolsOptions,
                       CTableOptions, Stream, lib)

_JSON_LINES = 2  # of pd_sql_format


class Column(NamedTuple):
    """A column of a table; doc is one line."""

    name: str
    doc: str
    type: int


class _Symbols:
    """Symbols that open no file, once they are asked for."""

    def __init__(self, file):
        self.file, self.pointer = file, ctypes.c_void_p()
        self.function = SYMBOLS(self._open)

    def _open(self, _, state):
        options = CSymbolsOptions(ctypes.sizeof(CSymbolsOptions), NO_FILES)
        lib.pd_symbols_new(self.file, state, options, self.pointer, None)
        return self.pointer.value

    def close(self):
        lib.pd_symbols_free(self.pointer)


class _Handle:
    """The file and what was opened over it. Whoever reads has a reference to it."""

    def __init__(self, path, recover, symbols, unwind):
        error = CError()
        self.file, self.set, self.sql, self.symbols = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p(), None
        self.problems: List[Problem] = []
        self._problem = PROBLEM(self._take)
        options = COpenOptions(size=ctypes.sizeof(COpenOptions), problem=self._problem, keep=True, recover=recover)
        check(lib.pd_file_open(os.fsencode(path), options, self.file, error), error)
        self.options = CTableOptions(size=ctypes.sizeof(CTableOptions), no_unwind=not unwind)
        if not symbols:
            self.symbols = _Symbols(self.file)
            self.options.symbols = self.symbols.function
        check(lib.pd_table_set_new(self.file, self.options, self.set, error), error)

    def _take(self, _, problem):
        self.problems.append(problem_of(problem.contents))
        return True

    def __del__(self):
        if self.sql:
            lib.pd_sql_free(self.sql)
        if self.set:
            lib.pd_table_set_free(self.set)
        if self.symbols:
            self.symbols.close()
        if self.file:
            lib.pd_file_close(self.file)


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
        self.row = row_class(self.name.title().rstrip("s").replace(":", "_"), self.doc, self.columns)
        self._handle, self._pointer, self._order, self._time = handle, pointer, ORDERS[order], time or (None, None)

    def _stream(self):
        names = (ctypes.c_char_p * len(self.columns))(*(column.name.encode() for column in self.columns))
        query = CQuery(ctypes.sizeof(CQuery), names, len(self.columns), self._order, self._time[0] or 0, self._time[1] or 0)
        stream, error = Stream(), CError()
        check(lib.pd_table_stream(self._handle.set, self._pointer, query, stream, error), error)
        return stream

    def batches(self) -> Iterator[Batch]:
        """Some thousand rows at once, as columns."""
        return batches(self, self.columns, self._stream())

    def __iter__(self) -> Iterator[Any]:
        for batch in self.batches():
            yield from batch.rows()

    def numpy(self, name: str):
        """All of a column of numbers as a NumPy array, which is a copy; see batches() for views."""
        import numpy

        only = Table(self._handle, self._pointer, [name])
        only._order, only._time = self._order, self._time
        arrays = [batch.numpy(name) for batch in only.batches()]
        return numpy.concatenate(arrays) if arrays else numpy.zeros(0)

    def __arrow_c_stream__(self, requested_schema=None):
        """For pyarrow.table(...), polars.from_arrow(...), duckdb.sql(...) and others."""
        return capsule_of(self._stream(), self._handle)


class Recording:
    """An open recording; it can be used as a context manager."""

    def __init__(self, path, recover: bool = False, symbols: bool = True, unwind: bool = True):
        self.path = path
        self._handle: Any = _Handle(path, recover, symbols, unwind)
        self._tables = {}
        while True:
            pointer = lib.pd_table_at(self._handle.set, len(self._tables))
            if not pointer:
                break
            self._tables[text(pointer.contents.name)] = pointer

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self) -> None:
        """What is still being read keeps the file open until it is released."""
        self._handle = None

    def _opened(self):
        if self._handle is None:
            raise Error(f"{self.path}: the recording is closed", "argument")
        return self._handle

    @property
    def problems(self) -> List[Problem]:
        """What was found to be wrong so far."""
        return list(self._opened().problems)

    @property
    def tables(self) -> List[str]:
        """Names of the tables; those of tracepoints are called as their events."""
        return list(self._tables)

    def table(self, name: str, columns: Optional[Sequence[str]] = None, order: str = "file",
              time: Optional[Tuple[Optional[int], Optional[int]]] = None) -> Table:
        """A table: all columns, or these; records in the order of the file or of time; those of a time, (from, to) in ns, both
        included."""
        if name not in self._tables:
            raise Error(f"{self.path}: there is no table '{name}'", "argument")
        if order not in ORDERS:
            raise Error(f"order is '{order}', not file or time", "argument")
        return Table(self._opened(), self._tables[name], columns, order, time)

    def samples(self, **how) -> Table:
        """The table of samples; arguments are those of table()."""
        return self.table("samples", **how)

    def records(self, **how) -> Table:
        """The table of all records."""
        return self.table("records", **how)

    def stack_text(self, stack: int) -> str:
        """The functions of a stack, outermost first, separated by semicolons."""
        return text(lib.pd_table_stack_text(self._opened().set, stack))

    def wall_clock(self, time_ns: int) -> Optional[int]:
        """Wall clock in ns since 1970; None if the file does not say."""
        wall = lib.pd_file_wall_clock(self._opened().file, time_ns)
        return None if wall == NO_OFFSET else wall

    def sql(self, statements: str) -> List[Dict[str, Any]]:
        """Rows of statements, see perfdata sql. Unsigned numbers above 2^63 are negative there."""
        handle, error = self._opened(), CError()
        output = ctypes.c_void_p(lib.pd_text_new())
        try:
            if not handle.sql:
                options = CSqlOptions(ctypes.sizeof(CSqlOptions), handle.options, 0)
                files = (ctypes.c_void_p * 1)(handle.file)
                check(lib.pd_sql_new(files, 1, options, handle.sql, error), error)
            check(lib.pd_sql_run(handle.sql, statements.encode(), _JSON_LINES, output, error), error)
            if lib.pd_text_failed(output):
                raise Error("out of memory", "memory")
            found = lib.pd_text_bytes(output)
            lines = ctypes.string_at(found.data, found.size) if found.size else b""
        finally:
            lib.pd_text_free(output)
        return [json.loads(line) for line in lines.splitlines()]


def open(path, recover: bool = False, symbols: bool = True, unwind: bool = True) -> Recording:
    """Opens a recording: a file, a FIFO or a directory. recover: look for what a damaged header says wrongly. symbols: look for
    names of functions in the programs on this machine. unwind: unwind copied user stacks."""
    return Recording(path, recover, symbols, unwind)
