# SPDX-License-Identifier: MIT
"""Records one after another: of files, and of pipes while they are written; and files that are written from them."""

import ctypes
import io
import json
import os
import threading
import weakref
from typing import Any, Dict, Iterator, List, Optional, Union

from ._errors import Error, Problem, check, problem_of, text
from ._layout import Struct, number_of_misc, record_struct
from ._library import (END, NO_OFFSET, OK, ORDERS, PROBLEM, PULL, CError, CFilterNames, CChanges, COpenOptions, CRecord, CStreamOptions,
                       CThreadId, CWriterOptions, lib)
from ._profile import Printed

Path = Union[str, bytes, "os.PathLike[str]", "os.PathLike[bytes]"]
ASKS_COMM, ASKS_PLACES = 1, 2 | 4
SYSTEM_ERROR = -2
COMM, FORK = 3, 7
MODES = {"file": 0, "pipe": 1, "directory": 2}
ENDIANS = {None: 0, "little": 1, "big": 2}
FEATURES = {text(lib.pd_feature_name(number)) for number in range(256)} - {None}
PACKINGS = {"keep": 0, "same": 1, "none": 2, "zstd": 3, "zstd2": 4}


class _Turn:
    """A lock of one thread at a time. inside is how often that one has it: more than once where a call has called back, or a signal came."""

    def __init__(self) -> None:
        self._lock, self.inside = threading.RLock(), 0

    def __enter__(self) -> None:
        self._lock.acquire()
        self.inside += 1

    def __exit__(self, *_: Any) -> None:
        self.inside -= 1
        self._lock.release()

    def refuse_inside(self) -> None:
        """For what must not happen within another call."""
        if self.inside > 1:
            raise Error("the stream is in use by the caller", "argument")


class _Caller:
    """What is raised in a function that the library calls is raised again where the library was called."""

    _failure: Optional[BaseException] = None

    def _failed(self, failure, error):
        self._failure = failure
        error.contents.status, error.contents.offset = SYSTEM_ERROR, NO_OFFSET
        error.contents.message = str(failure).encode("utf-8", "replace")[:999]
        return SYSTEM_ERROR

    def _check(self, status, error):
        failure, self._failure = self._failure, None
        if failure is not None:
            raise failure
        check(status, error)


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
        self._wanted = True
        self._fields: Optional[Dict[str, Any]] = None
        self._changed: Optional[Struct] = None
        record = stream._record.contents
        self._misc: int = record.misc
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
    def misc(self) -> int:
        """Flags of its header, which can be set for a writer."""
        return self._misc

    @misc.setter
    def misc(self, value: int) -> None:
        self._misc = number_of_misc(value)

    @property
    def event(self) -> Optional[str]:
        """The name of its event."""
        with self._stream._turn:
            event = self._record.contents.event
            return text(event.contents.name) if event else None

    @property
    def size(self) -> int:
        """In bytes, as stored."""
        with self._stream._turn:
            return self._record.contents.bytes.size

    @property
    def bytes(self) -> bytes:
        """As stored, header included."""
        with self._stream._turn:
            raw = self._record.contents.bytes
            return ctypes.string_at(raw.data, raw.size)

    @property
    def fields(self) -> Dict[str, Any]:
        """All fields, as they were read; empty if the record is damaged, which is a problem."""
        with self._stream._turn:
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
        with self._stream._turn:
            self._still_there()
            self._change().put(name, value)

    def _change(self) -> Struct:
        """Its fields, to be changed: a copy of what the library has decoded."""
        if self._changed is None:
            decoded, error = ctypes.c_void_p(), CError()
            check(lib.pd_record_decode(self._record, decoded, error), error)
            self._changed = record_struct(self._type, decoded.value)
        return self._changed

    @property
    def comm(self) -> Optional[str]:
        """The name of its thread, as far as it was recorded before."""
        with self._stream._turn:
            return self._stream._comm_of(self._record)

    def copy(self) -> Dict[str, Any]:
        """The record as a dict that stays."""
        with self._stream._turn:
            return {"type": self.type, "misc": self.misc, "offset": self.offset, "index": self.index, "time_ns": self.time_ns,
                    "event": self.event, "fields": self.fields}

    def __repr__(self):
        return f"Record({self.type}, offset={self.offset}, time_ns={self.time_ns})"


class Stream(_Caller):
    """Records, one after another, as they come; it can be used as a context manager. Threads that iterate over one stream share its
    records: each gets others."""

    _file: Any = None  # until it is opened

    def __init__(self, source: Any, order: str = "file", where: Optional[str] = None, recover: bool = False) -> None:
        self._turn = _Turn()  # of whoever uses the stream, its record or its writers
        self._file, self._stream, self._filter = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p()
        self._record, self._number = ctypes.POINTER(CRecord)(), 0
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
        self._open_file(source, recover, error)
        options = CStreamOptions(size=ctypes.sizeof(CStreamOptions), order=ORDERS[order])
        check(lib.pd_stream_open(self._file, options, self._stream, error), error)
        if where is not None:
            self._open_filter(where, error)

    # ---- opening ----

    def _open_file(self, source, recover, error):
        options = COpenOptions(size=ctypes.sizeof(COpenOptions), problem=self._problem, recover=recover)
        if type(source) is io.FileIO:  # others have read bytes of their descriptor already, or change them
            source = source.fileno()
        if isinstance(source, int):
            status = lib.pd_file_open_fd(source, options, self._file, error)
        elif hasattr(source, "read"):
            self._pull, name = PULL(self._read), str(getattr(source, "name", "stream"))
            status = lib.pd_file_open_pull(self._pull, None, name.encode("utf-8", "replace"), options, self._file, error)
        else:
            status = lib.pd_file_open(os.fsencode(source), options, self._file, error)
        self._check(status, error)

    def _open_filter(self, where, error):
        check(lib.pd_filter_new(where.encode(), self._filter, error), error)
        if lib.pd_filter_asks(self._filter) & ASKS_PLACES:
            raise Error("objects and functions are known of a recording that was opened, not of a stream", "argument")

    def _piece(self, size):
        """The next bytes of an object with read(); read1() does not wait for all of them."""
        try:
            piece = getattr(self._source, "read1", self._source.read)(size)
        except io.UnsupportedOperation:
            piece = self._source.read(size)
        if piece is None:
            raise BlockingIOError("read() has no bytes yet, and the stream has not ended")
        piece = bytes(memoryview(piece))
        if len(piece) > size:
            raise ValueError(f"read({size}) has returned {len(piece)} bytes")
        return piece

    def _read(self, _, data, size, got_out, error):
        try:
            piece = self._piece(size)
            ctypes.memmove(data, piece, len(piece))
            got_out[0] = len(piece)
            return OK
        except BaseException as failure:
            return self._failed(failure, error)

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

    def _next(self, error) -> Optional[Record]:
        self._turn.refuse_inside()
        self._number += 1
        status = lib.pd_stream_next(self._stream, self._record, error) if self._stream else END
        self._check(status, error)
        if status == END:
            return None
        record = Record(self)
        self._note_thread(record)
        record._wanted = self._is_wanted(error)
        return record

    def __iter__(self) -> Iterator[Record]:
        error = CError()
        while True:
            with self._turn:
                record = self._next(error)
            if record is None:
                return
            if record._wanted:
                yield record

    @property
    def events(self) -> List[Event]:
        """Events; of a pipe those that came so far."""
        with self._turn:
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
        """Ends it, and the writers that are not finished; a descriptor stays open. A thread that waits for a record gets it before."""
        with self._turn:
            self._turn.refuse_inside()
            self._number += 1
            for writer in list(self._writers):
                writer._free()
            for pointer, close in ((self._filter, lib.pd_filter_free), (self._stream, lib.pd_stream_close),
                                   (self._file, lib.pd_file_close)):
                if pointer:
                    close(pointer)
                    pointer.value = None

    def __enter__(self) -> "Stream":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def __del__(self):
        if self._file:
            self.close()


class Writer(_Caller):
    """A perf.data file that is made from the records of a stream: those that are written, changed or not, with the events and
    features of the stream. It gets its name when it is finished; as a context manager that is at the end, unless there was an exception.

    mode: "file", "pipe" or "directory"; endian: "little" or "big", None as the input; packing: "none", "zstd", "zstd2", "same" or "keep";
    features: fields of features by name, {"HOSTNAME": {"value": "host"}}, None leaves one out."""

    _pointer: Any = None  # until it is opened

    def __init__(self, path: Path, stream: Stream, mode: str = "file", endian: Optional[str] = None, packing: str = "none",
                 features: Optional[Dict[str, Optional[Dict[str, Any]]]] = None) -> None:
        for word, known in ((mode, MODES), (endian, ENDIANS), (packing, PACKINGS)):
            if word not in known:
                raise Error(f"'{word}' is none of {', '.join(filter(None, known))}", "argument")
        self._features = {name.upper(): fields for name, fields in (features or {}).items()}
        for name in self._features:
            if name not in FEATURES:
                raise Error(f"there is no feature '{name}'", "argument")
        self._pointer, self._from = ctypes.c_void_p(), stream
        self._kept: Dict[str, Struct] = {}
        self._feature = type(CChanges().feature)(self._change_feature)
        self._changes = CChanges(size=ctypes.sizeof(CChanges), feature=self._feature)
        options = CWriterOptions(size=ctypes.sizeof(CWriterOptions), mode=MODES[mode], endian=ENDIANS[endian], packing=PACKINGS[packing])
        with stream._turn:
            self._open(os.fsencode(path), options)

    def _open(self, path, options):
        options.inputs, options.input_count = (ctypes.c_void_p * 1)(self._from._opened()), 1
        error = CError()
        check(lib.pd_writer_open(path, options, self._pointer, error), error)
        self._from._writers.add(self)
        try:
            if self._features:
                self._check(lib.pd_writer_change(self._pointer, self._changes, error), error)
            self._check(lib.pd_writer_copy_metadata(self._pointer, self._from._file, error), error)
        except BaseException:
            self._free()
            raise

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
        except BaseException as failure:
            return self._failed(failure, error)

    def write(self, record: Record) -> None:
        """Writes the present record of the stream, with the fields that were set."""
        if record._stream is not self._from:
            raise Error("the record is of another stream", "argument")
        error = CError()
        with self._from._turn:
            writer, stream, stored = self._opened(), self._from._stream, record._record
            if record._changed is None and record.misc == stored.contents.misc:
                status = lib.pd_writer_pass(writer, stream, stored, error)
            else:
                status = lib.pd_writer_pass_changed(writer, stream, stored, record.misc, record._change().address, error)
            check(status, error)

    def add(self, type: str, fields: Dict[str, Any], misc: int = 0, event: int = 0) -> None:
        """Writes a new record; event is the number of the event that says which fields a sample has."""
        number = ctypes.c_uint32()
        if not lib.pd_record_type_by_name(type.encode(), number):
            raise Error(f"there is no record '{type}'", "argument")
        struct, error = record_struct(number.value), CError()
        struct.update(fields)
        with self._from._turn:
            check(lib.pd_writer_add(self._opened(), number, number_of_misc(misc), struct.address, event, error), error)

    def _opened(self):
        if not self._pointer:
            raise Error("the writer is closed", "argument")
        return self._pointer

    def finish(self) -> None:
        """Writes the rest, and gives the file its name."""
        with self._from._turn:
            self._from._turn.refuse_inside()
            pointer, self._pointer, error = self._opened(), None, CError()
            check(lib.pd_writer_finish(pointer, error), error)

    def abort(self) -> None:
        """Removes what was written."""
        with self._from._turn:
            self._from._turn.refuse_inside()
            self._free()

    def _free(self):
        pointer, self._pointer = self._pointer, None
        if pointer:
            lib.pd_writer_abort(pointer)

    def __enter__(self) -> "Writer":
        return self

    def __exit__(self, kind: Any, *_: Any) -> None:
        if kind is None and self._pointer:
            self.finish()
        self.abort()

    def __del__(self):
        self._free()


def open_stream(source: Any, order: str = "file", where: Optional[str] = None, recover: bool = False) -> Stream:
    """Records of a path, of a descriptor, or of anything with read() as it is positioned: read once, while they come, and nothing is
    kept. order: "file" or "time"; where: a condition, "sample.period > 1000 && comm == 'gcc'", see docs/selecting.md; recover: look for
    what a damaged header says wrongly."""
    return Stream(source, order, where, recover)
