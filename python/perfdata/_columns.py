# SPDX-License-Identifier: MIT
"""Batches of columns: as lists, as NumPy arrays over the same memory, and as streams for other libraries."""

import ctypes
import json
import threading
from itertools import repeat

from ._errors import check
from ._library import (BYTES, GET_ERROR, GET_NEXT, GET_SCHEMA, JSON, NAME, NUMBERS, RELEASE_STREAM, Array, CError, Stream, lib)

try:
    from _collections import _tuplegetter as item_of  # what named tuples have
except ImportError:
    from operator import itemgetter

    def item_of(index, doc):
        return property(itemgetter(index), doc=doc)


SIZES = {"I": 4, "i": 4, "Q": 8, "q": 8, "d": 8}
DTYPES = {"I": "uint32", "i": "int32", "Q": "uint64", "q": "int64", "d": "float64"}


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
        kind = type("Memory", (ctypes.c_ubyte * size,), {"owner": None})
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


class Late:
    """A column that is read when a row is asked for it, in a pass of its own."""

    def __init__(self, column, open_batches):
        self.column, self._open, self._batches = column, open_batches, None
        self._at, self._rest, self._lock = 0, [], threading.Lock()

    def _skip_to(self, row):
        """Until the row is among those that were read and are not used."""
        if self._batches is None or row < self._at:
            self._batches, self._at, self._rest = self._open(), 0, []
        while self._at + len(self._rest) <= row:
            self._at += len(self._rest)
            batch = next(self._batches)
            self._rest = batch.values(self.column.name) if self._at + len(batch) > row else range(len(batch))

    def read(self, first, length):
        """Values of some rows, a list."""
        with self._lock:
            self._skip_to(first)
            while self._at + len(self._rest) < first + length:
                self._rest = self._rest + next(self._batches).values(self.column.name)
            begin, end = first - self._at, first - self._at + length
            found, self._rest = self._rest[begin:end], self._rest[end:]
            self._at += end
            return found


class Page:
    """Rows that were read at once: what is late of them, once it was asked for."""

    __slots__ = ("_late", "_first", "_length", "_values")

    def __init__(self, late, first, length):
        self._late, self._first, self._length, self._values = late, first, length, {}

    def cell(self, late, row):
        values = self._values.get(late)
        if values is None:
            values = self._values[late] = self._late[late].read(self._first, self._length)
        return values[row]


def rows_of(table, batches_of, late):
    """The rows of a table as objects. batches_of: opens a stream of some columns; late: columns that wait."""
    names = [column.name for column in table.columns if column not in late]
    waiting = [Late(column, lambda column=column: batches_of([column])) for column in late]
    first = 0
    for batch in batches_of([column for column in table.columns if column not in late]):
        if late:
            yield from map(table.row, zip(*batch.columns(names), repeat(Page(waiting, first, len(batch))), range(len(batch))))
        else:
            yield from map(table.row, zip(*batch.columns(names)))
        first += len(batch)


def _late_item(late, place):
    """The late-th column of those that wait; a row has its page and its number there at place and behind."""
    page_at, number_at = item_of(place, None).__get__, item_of(place + 1, None).__get__
    return lambda self: page_at(self).cell(late, number_at(self))


def _parsed(cell_of, doc):
    def get(self):
        cell = cell_of(self)
        return None if cell is None else json.loads(cell)

    return property(get, doc=doc)


def row_class(name, doc, columns, late):
    """A class for rows: sequences whose items have the names of the columns. JSON is parsed when it is asked for by its name."""
    present = [column for column in columns if column not in late]
    cells, members = [], {"__slots__": (), "__doc__": doc, "_fields": tuple(column.name for column in columns)}
    for column in columns:
        if column in late:
            cell_of = _late_item(late.index(column), len(present))
            member = property(cell_of, doc=column.doc)
        else:
            member = item_of(present.index(column), column.doc)
            cell_of = member.__get__
        cells.append(cell_of)
        members[column.name] = _parsed(cell_of, column.doc) if column.type == JSON else member
    members["_asdict"] = lambda self: {field: getattr(self, field) for field in self._fields}
    members["__repr__"] = lambda self: f"{name}({', '.join(f'{k}={v!r}' for k, v in self._asdict().items() if v is not None)})"
    if late:
        items = tuple(cells)
        members["__len__"] = lambda self: len(items)
        members["__iter__"] = lambda self: (cell_of(self) for cell_of in items)
        members["__getitem__"] = lambda self, index: items[index](self) if isinstance(index, int) else tuple(self)[index]
        members["__eq__"] = lambda self, other: tuple(self) == tuple(other) if isinstance(other, tuple) else NotImplemented
        members["__ne__"] = lambda self, other: not self == other
        members["__hash__"] = lambda self: hash(tuple(self))
        members["__reduce__"] = lambda self: (tuple, (tuple(self),))
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

_exported = {}
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
_released = []


@ctypes.PYFUNCTYPE(None, ctypes.c_void_p)
def _destroy(capsule):
    address = _pointer_of(capsule, _NAME)
    stream = Stream.from_address(address)
    if stream.release:
        stream.release(stream)
    _unused.append(address)


# Structs whose capsule is gone; what was moved out of them still calls their functions until it is released.
_unused = []


def capsule_of(stream, owner):
    for address in [a for a in _unused if _exported[a].owner is None]:
        _unused.remove(address)
        del _exported[address]
    _released.clear()
    outer = _Outer(stream, owner)
    address = ctypes.addressof(outer.struct)
    _exported[address] = outer
    return _new_capsule(address, _NAME, ctypes.cast(_destroy, ctypes.c_void_p))
