# SPDX-License-Identifier: MIT
"""Records one after another: of files, and of pipes while they are written; and files that are written from them."""

import ctypes
import json
import os
import weakref
from typing import Any, Dict, Iterator, List, Optional, Union

from ._errors import Error, Problem, check, problem_of, text
from ._layout import Struct
from ._library import (END, NO_OFFSET, OK, ORDERS, PROBLEM, PULL, CError, CFilterNames, CChanges, COpenOptions, CRecord, CStreamOptions,
                       CThreadId, CWriterOptions, lib)
from ._profile import Printed

Path = Union[str, bytes, "os.PathLike[str]", "os.PathLike[bytes]"]
ASKS_COMM, ASKS_PLACES = 1, 2 | 4
SYSTEM_ERROR, ARGUMENT_ERROR = -2, -5
COMM, FORK = 3, 7
MODES = {"file": 0, "pipe": 1, "directory": 2}
ENDIANS = {None: 0, "little": 1, "big": 2}
PACKINGS = {"keep": 0, "same": 1, "none": 2, "zstd": 3, "zstd2": 4}


class Event:
    """An event of a recording: its name, unit, ids and all fields of its attr."""

    def __init__(self, event) -> None:
        self.index: int = event.index
        self.name: str = text(event.name)
        self.unit: Optional[str] = text(event.unit)
        self.scale: float = event.scale
        printed = Printed()
        lib.pd_json_layout(printed.pointer, lib.pd_layout_by_name(b"attr"), event.attr, None)
        self.attr: Dict[str, Any] = json.loads(printed.take())

    def __repr__(self):
        return f"Event({self.name!r})"


class Record:
    """A record of a stream. It is read when it is asked for something, so it is valid until the next one; copy() is not. Fields can be
    set, for a writer: record["pid"] = 1, record["sample_id.cpu"] = 0."""

    def __init__(self, stream: "Stream") -> None:
        self._stream, self._number = stream, stream._number
        self._fields: Optional[Dict[str, Any]] = None
        self._changed: Optional[Struct] = None
        record = stream._record.contents
        self.misc: int = record.misc
        self.offset: int = record.offset
        self.index: int = record.index
        self.time_ns: Optional[int] = None if record.time_ns == NO_OFFSET else record.time_ns
        self._type: int = record.type

    def _still_there(self):
        if self._number != self._stream._number:
            raise Error("the stream has gone on to another record", "argument")

    @property
    def _record(self):
        self._still_there()
        return self._stream._record

    @property
    def type(self) -> str:
        """Its name, "MMAP2", or the number of a type that is not known."""
        return text(lib.pd_record_name(self._type)) or str(self._type)

    @property
    def event(self) -> Optional[str]:
        """The name of its event."""
        event = self._record.contents.event
        return text(event.contents.name) if event else None

    @property
    def size(self) -> int:
        """In bytes, as stored."""
        return self._record.contents.bytes.size

    @property
    def bytes(self) -> bytes:
        """As stored, header included."""
        raw = self._record.contents.bytes
        return ctypes.string_at(raw.data, raw.size)

    @property
    def fields(self) -> Dict[str, Any]:
        """All fields, as they were read; empty if the record is damaged, which is a problem."""
        if self._fields is None:
            lib.pd_json_record(self._stream._printed.pointer, self._record)
            self._fields = json.loads(self._stream._printed.take()).get("fields")
        return self._fields or {}

    def __getitem__(self, name: str) -> Any:
        value: Any = self.fields
        for part in name.split("."):
            value = value[part]
        return value

    def get(self, name: str, default: Any = None) -> Any:
        """A field, or default if the record has none of that name."""
        try:
            return self[name]
        except (KeyError, TypeError):
            return default

    def __setitem__(self, name: str, value: Any) -> None:
        if self._changed is None:
            self._changed = _decoded(self)
        self._still_there()
        self._changed.put(name, value)

    @property
    def comm(self) -> Optional[str]:
        """The name of its thread, as far as it was recorded before."""
        return self._stream._comm_of(self._record)

    def copy(self) -> Dict[str, Any]:
        """The record as a dict that stays."""
        return {"type": self.type, "misc": self.misc, "offset": self.offset, "index": self.index, "time_ns": self.time_ns,
                "event": self.event, "fields": self.fields}

    def __repr__(self):
        return f"Record({self.type}, offset={self.offset}, time_ns={self.time_ns})"


class Stream:
    """Records, one after another, as they come; it can be used as a context manager."""

    def __init__(self, source: Any, order: str = "file", where: Optional[str] = None) -> None:
        self._file, self._stream, self._filter = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p()
        self._record, self._number, self._failure = ctypes.POINTER(CRecord)(), 0, None
        self._printed, self._known_events = Printed(), 0
        self._comms: Dict[int, Optional[str]] = {}
        self._problems: List[Problem] = []
        self._source = source
        self._writers: "weakref.WeakSet[Writer]" = weakref.WeakSet()
        self._names = CFilterNames(None, type(CFilterNames().name)(self._name_of))
        self._name = b""
        self._problem = PROBLEM(self._take_problem)
        if order not in ORDERS:
            raise Error(f"order is '{order}', not file or time", "argument")
        error = CError()
        self._open_file(source, error)
        options = CStreamOptions(size=ctypes.sizeof(CStreamOptions), order=ORDERS[order])
        check(lib.pd_stream_open(self._file, options, self._stream, error), error)
        if where is not None:
            self._open_filter(where, error)

    # ---- opening ----

    def _open_file(self, source, error):
        options = COpenOptions(size=ctypes.sizeof(COpenOptions), problem=self._problem)
        if isinstance(source, int):
            status = lib.pd_file_open_fd(source, options, self._file, error)
        elif hasattr(source, "fileno") and not hasattr(source, "getvalue"):
            status = lib.pd_file_open_fd(source.fileno(), options, self._file, error)
        elif hasattr(source, "read"):
            self._pull = PULL(self._read)
            status = lib.pd_file_open_pull(self._pull, None, str(getattr(source, "name", "stream")).encode(), options, self._file, error)
        else:
            status = lib.pd_file_open(os.fsencode(source), options, self._file, error)
        self._check(status, error)

    def _open_filter(self, where, error):
        check(lib.pd_filter_new(where.encode(), self._filter, error), error)
        if lib.pd_filter_asks(self._filter) & ASKS_PLACES:
            raise Error("objects and functions are known of a recording that was opened, not of a stream", "argument")

    def _read(self, _, data, size, got_out, error):
        """For the library: the next bytes of an object with read()."""
        try:
            piece = self._source.read(size) or b""
            ctypes.memmove(data, piece, len(piece))
            got_out[0] = len(piece)
            return OK
        except BaseException as failure:  # it is raised again where the record was asked for
            self._failure = failure
            error.contents.status, error.contents.offset, error.contents.message = SYSTEM_ERROR, NO_OFFSET, str(failure).encode()[:999]
            return SYSTEM_ERROR

    def _check(self, status, error):
        if self._failure is not None:
            failure, self._failure = self._failure, None
            raise failure
        check(status, error)

    def _take_problem(self, _, problem):
        self._problems.append(problem_of(problem.contents))
        return True

    # ---- names of threads ----

    def _thread_of(self, record):
        thread = CThreadId()
        lib.pd_record_thread(record, thread)
        return thread.tid if thread.known else None

    def _comm_of(self, record):
        tid = self._thread_of(record)
        return None if tid is None else self._comms.get(tid)

    def _name_of(self, _, record, what):
        comm = self._comm_of(record) if what == ASKS_COMM else None
        if comm is None:
            return None
        self._name = ctypes.create_string_buffer(comm.encode("utf-8", "surrogateescape"))
        return ctypes.addressof(self._name)

    def _note_thread(self, record):
        if record._type == COMM:
            self._comms[record.fields.get("tid")] = record.fields.get("comm")
        elif record._type == FORK:
            self._comms[record.fields.get("tid")] = self._comms.get(record.fields.get("ptid"))

    # ---- reading ----

    def _is_wanted(self, error):
        if not self._filter:
            return True
        events = self._event_count()
        if events != self._known_events:
            self._known_events = events
            check(lib.pd_filter_bind(self._filter, self._file, False, error), error)
        return lib.pd_filter_takes(self._filter, self._record, self._names)

    def _event_count(self):
        count = self._known_events
        while lib.pd_file_event(self._file, count):
            count += 1
        return count

    def __iter__(self) -> Iterator[Record]:
        error = CError()
        while self._stream:
            self._number += 1
            status = lib.pd_stream_next(self._stream, self._record, error)
            self._check(status, error)
            if status == END:
                return
            record = Record(self)
            self._note_thread(record)
            if self._is_wanted(error):
                yield record

    @property
    def events(self) -> List[Event]:
        """Events; of a pipe those that came so far."""
        return [Event(lib.pd_file_event(self._opened(), i).contents) for i in range(self._event_count())]

    @property
    def problems(self) -> List[Problem]:
        """What was found to be wrong so far."""
        return list(self._problems)

    def _opened(self):
        if not self._stream:
            raise Error("the stream is closed", "argument")
        return self._file

    def writer(self, path: Path, **how: Any) -> "Writer":
        """A file with the events and features of this one, for records of this stream; arguments are those of Writer."""
        return Writer(path, self, **how)

    def close(self) -> None:
        """Ends it, and the writers that are not finished; a descriptor stays open."""
        self._number += 1
        for writer in list(self._writers):
            writer.abort()
        for pointer, close in ((self._filter, lib.pd_filter_free), (self._stream, lib.pd_stream_close), (self._file, lib.pd_file_close)):
            if pointer:
                close(pointer)
                pointer.value = None

    def __enter__(self) -> "Stream":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def __del__(self):
        self.close()


class Writer:
    """A perf.data file that is made from the records of a stream: those that are written, changed or not, with the events and
    features of the stream. It gets its name when it is finished; as a context manager that is at the end, unless there was an exception.

    mode: "file", "pipe" or "directory"; endian: "little" or "big", None as the input; packing: "none", "zstd", "zstd2", "same" or "keep";
    features: fields of features by name, {"HOSTNAME": {"value": "host"}}, None leaves one out."""

    def __init__(self, path: Path, stream: Stream, mode: str = "file", endian: Optional[str] = None, packing: str = "none",
                 features: Optional[Dict[str, Optional[Dict[str, Any]]]] = None) -> None:
        for word, known in ((mode, MODES), (endian, ENDIANS), (packing, PACKINGS)):
            if word not in known:
                raise Error(f"'{word}' is none of {', '.join(filter(None, known))}", "argument")
        self._pointer, self._from = ctypes.c_void_p(), stream
        self._features = {name.upper(): fields for name, fields in (features or {}).items()}
        self._kept: Dict[str, Struct] = {}
        inputs = (ctypes.c_void_p * 1)(stream._opened())
        options = CWriterOptions(size=ctypes.sizeof(CWriterOptions), mode=MODES[mode], endian=ENDIANS[endian], packing=PACKINGS[packing],
                                 inputs=inputs, input_count=1)
        error = CError()
        check(lib.pd_writer_open(os.fsencode(path), options, self._pointer, error), error)
        stream._writers.add(self)
        self._feature = type(CChanges().feature)(self._change_feature)
        self._changes = CChanges(size=ctypes.sizeof(CChanges), feature=self._feature)
        if self._features:
            self._check(lib.pd_writer_change(self._pointer, self._changes, error), error)
        self._check(lib.pd_writer_copy_metadata(self._pointer, stream._file, error), error)

    def _check(self, status, error):
        if status < 0:
            self.abort()
        check(status, error)

    def _change_feature(self, _, __, number, decoded_out, keep, error):
        name = text(lib.pd_feature_name(number))
        if name not in self._features:
            return OK
        fields = self._features[name]
        if fields is None:
            keep[0] = False
            return OK
        try:
            self._kept[name] = struct = Struct(lib.pd_feature_layout(number))
            struct.update(fields)
            decoded_out[0] = struct.address
            return OK
        except Error as failure:
            error.contents.status, error.contents.offset, error.contents.message = ARGUMENT_ERROR, NO_OFFSET, str(failure).encode()[:999]
            return ARGUMENT_ERROR

    def write(self, record: Record) -> None:
        """Writes the present record of the stream, with the fields that were set."""
        if record._stream is not self._from:
            raise Error("the record is of another stream", "argument")
        error = CError()
        if record._changed is None and record.misc == record._record.contents.misc:
            status = lib.pd_writer_pass(self._opened(), self._from._stream, record._record, error)
        else:
            if record._changed is None:
                record._changed = _decoded(record)
            status = lib.pd_writer_pass_changed(self._opened(), self._from._stream, record._record, record.misc, record._changed.address,
                                                error)
        check(status, error)

    def add(self, type: str, fields: Dict[str, Any], misc: int = 0, event: int = 0) -> None:
        """Writes a new record; event is the number of the event that says which fields a sample has."""
        number = ctypes.c_uint32()
        if not lib.pd_record_type_by_name(type.encode(), number):
            raise Error(f"there is no record '{type}'", "argument")
        struct, error = Struct(lib.pd_record_layout(number)), CError()
        struct.update(fields)
        check(lib.pd_writer_add(self._opened(), number, misc, struct.address, event, error), error)

    def _opened(self):
        if not self._pointer:
            raise Error("the writer is closed", "argument")
        return self._pointer

    def finish(self) -> None:
        """Writes the rest, and gives the file its name."""
        pointer, self._pointer, error = self._opened(), ctypes.c_void_p(), CError()
        check(lib.pd_writer_finish(pointer, error), error)

    def abort(self) -> None:
        """Removes what was written."""
        if self._pointer:
            pointer, self._pointer = self._pointer, ctypes.c_void_p()
            lib.pd_writer_abort(pointer)

    def __enter__(self) -> "Writer":
        return self

    def __exit__(self, kind: Any, *_: Any) -> None:
        if kind is None and self._pointer:
            self.finish()
        self.abort()

    def __del__(self):
        self.abort()


def _decoded(record) -> Struct:
    """A copy of the fields of a record."""
    decoded, error = ctypes.c_void_p(), CError()
    check(lib.pd_record_decode(record._record, decoded, error), error)
    return Struct(lib.pd_record_layout(record._type), decoded.value)


def open_stream(source: Any, order: str = "file", where: Optional[str] = None) -> Stream:
    """Records of a path, of a descriptor or file object, or of anything with read(): read once, while they come, and nothing is kept.
    order: "file" or "time"; where: a condition, "sample.period > 1000 && comm == 'gcc'", see docs/selecting.md."""
    return Stream(source, order, where)
