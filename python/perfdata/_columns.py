# SPDX-License-Identifier: MIT
"""Batches of columns: as lists, as NumPy arrays over the same memory, and as streams for other libraries."""

from __future__ import annotations

import ctypes
import functools
import threading
from itertools import repeat

from ._errors import check
from ._library import (BYTES, GET_ERROR, GET_NEXT, GET_SCHEMA, JSON, NAME, NUMBERS, RELEASE_STREAM, Array, CError, Stream, lib)

TYPE_CHECKING = False  # as in typing, which takes longer to import than all of this
if TYPE_CHECKING:
    from typing import Any, Dict, List

try:
    from _collections import _tuplegetter as item_of  # type: ignore[import-not-found]  # what named tuples have
except ImportError:
    from operator import itemgetter

    def item_of(index, doc):
        return property(itemgetter(index), doc=doc)


SIZES = {"I": 4, "i": 4, "Q": 8, "q": 8, "d": 8}
DTYPES = {"I": "uint32", "i": "int32", "Q": "uint64", "q": "int64", "d": "float64"}


@functools.lru_cache(maxsize=64)
def _memory_of(size):
    """A type for so many bytes, with an owner; most batches have as many rows."""
    return type("Memory", (ctypes.c_ubyte * size,), {"owner": None})


class Batch:
    """Some rows of a table. Columns that are NumPy arrays keep its memory."""

    def __init__(self, table, columns, array):
        self._table, self._columns, self._array = table, columns, array

    def __del__(self):
        if self._array.release:
            self._array.release(self._array)

    def __len__(self):
        return self._array.length

    def _child(self, name):
        for i, column in enumerate(self._columns):
            if column.name == name:
                return column, self._array.children[i].contents
        raise KeyError(name)

    def _memory(self, address, size):
        """Bytes that keep the batch alive."""
        kind = _memory_of(size)
        memory = kind.from_address(address) if address and size else kind()
        memory.owner = self
        return memory

    def _buffer(self, array, index, size):
        return memoryview(self._memory(array.buffers[index], size)).cast("B")

    def _texts(self, array, is_text):
        ends = self._buffer(array, 1, 4 * (array.length + 1)).cast("i")
        data = bytes(self._buffer(array, 2, ends[array.length]))
        pieces = [data[ends[i]:ends[i + 1]] for i in range(array.length)]
        return [piece.decode() for piece in pieces] if is_text else pieces

    def _validity(self, array):
        return self._buffer(array, 0, (array.length + 7) // 8) if array.null_count else None

    def values(self, name):
        """A column as a list; what is null is None, and JSON a string."""
        column, array = self._child(name)
        if array.null_count == array.length:
            return [None] * array.length
        if column.type in NUMBERS:
            letter = NUMBERS[column.type]
            values = self._buffer(array, 1, SIZES[letter] * array.length).cast(letter).tolist()
        elif column.type == NAME:
            names = self._texts(array.dictionary.contents, True)
            numbers = self._buffer(array, 1, 4 * array.length).cast("i").tolist()
            values = [names[i] for i in numbers]
        else:
            values = self._texts(array, column.type != BYTES)
        bits = self._validity(array)
        if bits is not None:
            values = [value if bits[i >> 3] >> (i & 7) & 1 else None for i, value in enumerate(values)]
        return values

    def numpy(self, name):
        """A column of numbers as a NumPy array over the memory of the batch; what is null is 0, see valid. Of names, the numbers that
        names(name) is an array of."""
        import numpy

        column, array = self._child(name)
        if column.type == NAME:
            letter = "i"
        elif column.type in NUMBERS:
            letter = NUMBERS[column.type]
        else:
            raise TypeError(f"{name} is not a column of numbers; see values()")
        return numpy.frombuffer(self._memory(array.buffers[1], SIZES[letter] * array.length), dtype=DTYPES[letter])

    def names(self, name):
        """The strings that the numbers of a column of names stand for, a list."""
        column, array = self._child(name)
        if column.type != NAME:
            raise TypeError(f"{name} is not a column of names")
        return self._texts(array.dictionary.contents, True)

    def valid(self, name):
        """Which rows are not null, as a NumPy array of bool."""
        import numpy

        array = self._child(name)[1]
        bits = self._validity(array)
        if bits is None:
            return numpy.ones(array.length, dtype=bool)
        return numpy.unpackbits(numpy.frombuffer(bits, dtype="uint8"), count=array.length, bitorder="little").astype(bool)

    def columns(self, names):
        """Columns as lists, or None again and again."""
        for name in names:
            array = self._child(name)[1]
            yield repeat(None, array.length) if array.null_count == array.length else self.values(name)


def arrays_of(columns, all_batches):
    """Batches put together. Numbers of names are those of a batch, so the names stand there themselves."""
    import numpy

    for column in columns:
        if column.type not in NUMBERS and column.type != NAME:
            raise TypeError(f"{column.name} is not a column of numbers or names; see batches()")
    pieces = {column.name: [] for column in columns}
    for batch in all_batches:
        for column in columns:
            array = batch.numpy(column.name)
            if column.type == NAME:
                array = numpy.array(batch.names(column.name) + [None], dtype=object)[numpy.where(batch.valid(column.name), array, -1)]
            pieces[column.name].append(array)
    return {column.name: numpy.concatenate(pieces[column.name]) if pieces[column.name] else
            numpy.zeros(0, dtype=DTYPES.get(NUMBERS.get(column.type), object)) for column in columns}


class Late:
    """Columns that are read when a row is asked for them, in a pass of their own."""

    def __init__(self, columns, open_batches):
        self.columns, self._open, self._batches = columns, open_batches, None
        self._at, self._length, self._rest, self._lock = 0, 0, None, threading.Lock()

    def _lists_of(self, batch):
        return [batch.values(column.name) for column in self.columns]

    def _skip_to(self, row):
        """Until the row is among those that were read and are not used."""
        if self._batches is None or row < self._at:
            self._batches, self._at, self._length = self._open(self.columns), 0, 0
        while self._at + self._length <= row:
            batch = next(self._batches)
            self._at, self._length = self._at + self._length, len(batch)
            self._rest = self._lists_of(batch) if self._at + self._length > row else None

    def read(self, first, length):
        """Values of some rows by the names of the columns, lists."""
        with self._lock:
            self._skip_to(first)
            while self._at + self._length < first + length:
                batch = next(self._batches)
                self._length += len(batch)
                self._rest = [rest + values for rest, values in zip(self._rest, self._lists_of(batch))]
            begin, end = first - self._at, first - self._at + length
            found = {column.name: rest[begin:end] for column, rest in zip(self.columns, self._rest)}
            self._rest = [rest[end:] for rest in self._rest]
            self._at, self._length = self._at + end, self._length - end
            return found


class Lates:
    """Late columns of rows: the first few that are asked for are read one by one, then all others at once."""

    def __init__(self, columns, open_batches):
        self.alone, self._columns, self._open, self._of = 3, columns, open_batches, {}

    def read(self, name, first, length):
        if name not in self._of:
            columns = [column for column in self._columns if column.name not in self._of]
            if len(self._of) < self.alone:
                columns = [column for column in columns if column.name == name]
            late = Late(columns, self._open)
            self._of.update((column.name, late) for column in columns)
        return self._of[name].read(first, length)


class Page:
    """Rows that were read at once: what is late of them, once it was asked for."""

    __slots__ = ("_lates", "_first", "_length", "values", "_rows", "_names")

    def __init__(self, lates, first, length, names, values):
        self._lates, self._first, self._length, self._names, self.values, self._rows = lates, first, length, names, values, None

    def column(self, name):
        if name not in self.values:
            self.values.update(self._lates.read(name, self._first, self._length))
        return self.values[name]

    def row(self, number):
        """All of a row."""
        if self._rows is None:
            self._lates.alone = 0
            self._rows = list(zip(*map(self.column, self._names)))
        return self._rows[number]


def rows_of(table, batches_of, late):
    """The rows of a table as objects. batches_of: opens a stream of some columns; late: columns that wait."""
    present = [column for column in table.columns if column not in late]
    names = [column.name for column in present]
    lates, order, first = Lates(late, batches_of), [column.name for column in table.columns], 0
    for batch in batches_of(present):
        if late:
            lists = [batch.values(name) for name in names]
            page = Page(lates, first, len(batch), order, dict(zip(names, lists)))
            yield from map(table.row, zip(*lists, repeat(page), range(len(batch))))
        else:
            yield from map(table.row, zip(*batch.columns(names)))
        first += len(batch)


def _late_cell(name, place):
    """A column that waits; a row has its page and its number there at place and behind."""
    page_of, number_of = item_of(place, None).__get__, item_of(place + 1, None).__get__

    def cell_of(self):
        page = page_of(self)
        return (page.values.get(name) or page.column(name))[number_of(self)]

    return cell_of


def _parsed(cell_of, doc):
    def get(self):
        import json  # which takes a while the first time, and nothing for most programs

        cell = cell_of(self)
        return None if cell is None else json.loads(cell)

    return property(get, doc=doc)


def _sequence_of(length, place):
    """What makes a row with a page a sequence of all columns."""
    page_of, number_of = item_of(place, None).__get__, item_of(place + 1, None).__get__

    def whole(self):
        return page_of(self).row(number_of(self))

    return {"__len__": lambda self: length, "__iter__": lambda self: iter(whole(self)), "__getitem__": lambda self, index: whole(self)[index],
            "__eq__": lambda self, other: whole(self) == tuple(other) if isinstance(other, tuple) else NotImplemented,
            "__ne__": lambda self, other: not self == other, "__hash__": lambda self: hash(whole(self)),
            "__reduce__": lambda self: (tuple, (whole(self),))}


def row_class(name, doc, columns, late):
    """A class for rows: sequences whose items have the names of the columns. JSON is parsed when it is asked for by its name."""
    present = [column for column in columns if column not in late]
    members = {"__slots__": (), "__doc__": doc, "_fields": tuple(column.name for column in columns)}
    for column in columns:
        if column in late:
            cell_of = _late_cell(column.name, len(present))
            member = property(cell_of, doc=column.doc)
        else:
            member = item_of(present.index(column), column.doc)
            cell_of = member.__get__
        members[column.name] = _parsed(cell_of, column.doc) if column.type == JSON else member
    members["_asdict"] = lambda self: {field: getattr(self, field) for field in self._fields}
    members["__repr__"] = lambda self: f"{name}({', '.join(f'{k}={v!r}' for k, v in self._asdict().items() if v is not None)})"
    if late:
        members.update(_sequence_of(len(columns), len(present)))
    return type(name, (tuple,), members)


def batches(table, columns, stream, lock):
    """Reads a stream to its end, and releases it."""
    error = CError()
    try:
        while True:
            array = Array()
            with lock:
                failed = stream.get_next(stream, array)
            if failed:
                check(lib.pd_table_stream_error(stream, error), error)
            if not array.release:
                return
            yield Batch(table, columns, array)
    finally:
        with lock:
            stream.release(stream)


# ---- streams that others read: they may live longer than all of this ----

_exported: Dict[int, Any] = {}
_NAME = b"arrow_array_stream"
_new_capsule = ctypes.pythonapi.PyCapsule_New
_new_capsule.restype = ctypes.py_object
_new_capsule.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
_pointer_of = ctypes.pythonapi.PyCapsule_GetPointer
_pointer_of.restype = ctypes.c_void_p
_pointer_of.argtypes = [ctypes.c_void_p, ctypes.c_char_p]


class _Outer:
    """A stream that keeps what the inner one reads."""

    def __init__(self, inner, owner):
        self.inner, self.owner, self.lock = inner, owner, owner.lock
        self.functions = (GET_SCHEMA(lambda stream, out: inner.get_schema(inner, out)), GET_NEXT(self.get_next),
                          GET_ERROR(lambda stream: inner.get_last_error(inner)), RELEASE_STREAM(self.release))
        self.struct = Stream(*self.functions, None)

    def get_next(self, stream, out):
        with self.lock:
            return self.inner.get_next(self.inner, out)

    def release(self, stream):
        with self.lock:
            if self.inner.release:
                self.inner.release(self.inner)
        stream.contents.release = RELEASE_STREAM()
        _released.append(self.owner)
        self.owner = None


# What the owners of released streams have is given back outside of the callback, which may run anywhere.
_released: List[Any] = []


@ctypes.PYFUNCTYPE(None, ctypes.c_void_p)
def _destroy(capsule):
    address = _pointer_of(capsule, _NAME)
    stream = Stream.from_address(address)
    if stream.release:
        stream.release(stream)
    _unused.append(address)


# Structs whose capsule is gone; what was moved out of them still calls their functions until it is released.
_unused: List[int] = []


def capsule_of(stream, owner):
    for address in [a for a in _unused if _exported[a].owner is None]:
        _unused.remove(address)
        del _exported[address]
    _released.clear()
    outer = _Outer(stream, owner)
    address = ctypes.addressof(outer.struct)
    _exported[address] = outer
    return _new_capsule(address, _NAME, ctypes.cast(_destroy, ctypes.c_void_p))
