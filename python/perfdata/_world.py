# SPDX-License-Identifier: MIT
"""What ran and what was mapped at any time, and what an address is called."""

import ctypes
import operator
from typing import Any, Iterator, List, NamedTuple, Optional, Tuple

from ._errors import Error, check, text
from ._library import (END, CError, CLine, CLocation, CMoment, CRecord, CStreamOptions, CThreadName, CView, lib)
from ._symbols import open_symbols

SAMPLE = 9
NEVER = NO_ORDER = 2**64 - 1
UNKNOWN = 2**32 - 1
MODES = {"user": 2, "kernel": 1, "hypervisor": 3, "guest-kernel": 4, "guest-user": 5, None: 0}
KINDS = ("file", "kernel", "module", "ksymbol", "vdso", "vsyscall", "anon")
LINES_AT_ONCE = 16


class ThreadName(NamedTuple):
    """A name of a thread, and since when; exec: a program was executed then. Times are in ns, 0 is before everything that has a time."""

    comm: str
    from_ns: int
    exec: bool


class Thread(NamedTuple):
    """A thread, from its fork to its exit; ppid and ptid are who forked it, None if that was not recorded, as an end_ns of None."""

    pid: int
    tid: int
    ppid: Optional[int]
    ptid: Optional[int]
    begin_ns: int
    end_ns: Optional[int]
    names: Tuple[ThreadName, ...]

    @property
    def comm(self) -> Optional[str]:
        """Its last name, None if it is not known."""
        return self.names[-1].comm if self.names else None


class Process(NamedTuple):
    """A process: its threads in the order in which they began. A pid that was used again is another process."""

    pid: int
    ppid: Optional[int]
    comm: Optional[str]
    begin_ns: int
    end_ns: Optional[int]
    threads: Tuple[Thread, ...]


class Mapping(NamedTuple):
    """A mapping as it was recorded: later ones may hide parts of it. end is exclusive; pid is None for the kernel and its modules; kind is
    "file", "kernel", "module", "ksymbol" (code that the kernel made), "vdso", "vsyscall" or "anon"."""

    pid: Optional[int]
    start: int
    end: int
    offset: int
    path: Optional[str]
    kind: Optional[str]
    build_id: Optional[str]
    from_ns: int
    executable: bool


class Line(NamedTuple):
    """A line of source, of a function that may be inlined into the one of the next line."""

    function: str
    file: Optional[str]
    line: Optional[int]
    inlined: bool


class Symbol(NamedTuple):
    """What an address is called: function and object, None if they are not known, the address in the object, and how far it is from the
    begin of the function. str() is what perf prints."""

    function: Optional[str]
    object: Optional[str]
    path: Optional[str]
    address: int
    offset: Optional[int]
    lines: Tuple[Line, ...]
    name: str

    def __str__(self) -> str:
        return self.name


def _number(value):
    return None if value == UNKNOWN else value


def _end_of(moment):
    return None if moment.time_ns == NEVER else moment.time_ns


def _unsigned(name, value, bits):
    if not 0 <= operator.index(value) < 2**bits:
        raise Error(f"{name} is {value}, which is no unsigned number of {bits} bits", "argument")
    return value


def _moment(time_ns):
    """After everything of a time; None is the end."""
    return CMoment(NEVER if time_ns is None else _unsigned("time_ns", time_ns, 64), NO_ORDER)


def _where(pid, address):
    return _unsigned("pid", pid, 32), _unsigned("address", address, 64)


def _mode(mode):
    if mode not in MODES:
        raise Error(f"mode is '{mode}', not one of {', '.join(filter(None, MODES))}", "argument")
    return MODES[mode]


def _mapping_of(found) -> Mapping:
    thing = found.object.contents if found.object else None
    build_id = bytes(thing.build_id[:thing.build_id_size]).hex() if thing else ""
    return Mapping(_number(found.pid), found.start, found.end, found.pgoff, text(thing.path) if thing else None, KINDS[thing.kind] if thing else None,
                   build_id or None, found.begin.time_ns, found.executable)


class World:
    """Threads, processes and mappings of a recording, and names of addresses, at any time: those of all records, whatever is
    selected. A time is in ns as samples have it, None is the end of the recording."""

    def __init__(self, handle) -> None:
        self._handle, self._state, self._symbols = handle, ctypes.c_void_p(), ctypes.c_void_p()
        with handle.lock:
            self._read(CError())

    def _read(self, error):
        check(lib.pd_state_new(None, self._state, error), error)
        self._take_records(error)
        check(lib.pd_state_take_features(self._state, self._handle.file, error), error)
        check(lib.pd_state_finalize(self._state, error), error)
        check(open_symbols(self._handle.file, self._state, self._handle.symbols.without_files, self._symbols, error), error)

    def _take_records(self, error):
        stream, record = ctypes.c_void_p(), ctypes.POINTER(CRecord)()
        check(lib.pd_stream_open(self._handle.file, CStreamOptions(size=ctypes.sizeof(CStreamOptions)), stream, error), error)
        try:
            while True:
                status = lib.pd_stream_next(stream, record, error)
                check(status, error)
                if status == END:
                    return
                if record.contents.type == SAMPLE:
                    lib.pd_stream_pass(stream)
                else:
                    check(lib.pd_state_take(self._state, record, error), error)
        finally:
            lib.pd_stream_close(stream)

    def __del__(self):
        with self._handle.lock:
            if self._symbols:
                lib.pd_symbols_free(self._symbols)
            if self._state:
                lib.pd_state_free(self._state)

    def _thread_of(self, pointer):
        thread, found = pointer.contents, lib.pd_state_thread_names(self._state, pointer)
        names = (CThreadName.from_address(found.items + i * found.stride) for i in range(found.count))
        return Thread(thread.pid, thread.tid, _number(thread.ppid), _number(thread.ptid), thread.begin.time_ns, _end_of(thread.end),
                      tuple(ThreadName(text(name.comm), name.begin.time_ns, name.exec) for name in names))

    def _each(self, function):
        i = 0
        while True:
            pointer = function(self._state, i)
            if not pointer:
                return
            yield pointer
            i += 1

    @property
    def threads(self) -> List[Thread]:
        """All threads, by tid and time."""
        with self._handle.lock:
            return [self._thread_of(pointer) for pointer in self._each(lib.pd_state_thread)]

    @property
    def processes(self) -> List[Process]:
        """All processes, by pid and time."""
        return list(_processes_of(self.threads))

    @property
    def mappings(self) -> List[Mapping]:
        """All mappings in the order in which they were recorded. Where path is None code of the kernel was removed."""
        with self._handle.lock:
            return [_mapping_of(pointer.contents) for pointer in self._each(lib.pd_state_mapping)]

    def comm(self, pid: int, tid: int, time_ns: Optional[int] = None) -> Optional[str]:
        """The name of a thread at a time, None if it is not known."""
        view, when = CView(), _moment(time_ns)
        with self._handle.lock:
            lib.pd_state_view(self._state, _unsigned("pid", pid, 32), _unsigned("tid", tid, 32), when, view)
            return text(view.comm)

    def mapping(self, pid: int, address: int, time_ns: Optional[int] = None, mode: Optional[str] = None) -> Optional[Mapping]:
        """What is mapped at an address of a process, None if nothing is. mode: "user", "kernel", "hypervisor", "guest-kernel" or
        "guest-user"; None looks in the process before the kernel."""
        number, when, found = _mode(mode), _moment(time_ns), CLocation()
        pid, address = _where(pid, address)
        with self._handle.lock:
            there = lib.pd_state_locate(self._state, pid, number, when, address, found)
            return _mapping_of(found.mapping.contents) if there else None

    def _lines_of(self, place):
        room = LINES_AT_ONCE
        while True:
            lines = (CLine * room)()
            count = lib.pd_symbols_lines(self._symbols, place, lines, room)
            if count <= room:
                return lines[:count]
            room = count

    def symbol(self, pid: int, address: int, time_ns: Optional[int] = None, mode: Optional[str] = None) -> Symbol:
        """What an address of a process is called, with lines of source and inlined functions, innermost first; mode as for mapping().
        Callers are at the address that they return to, which is after the call."""
        number, when = _mode(mode), _moment(time_ns)
        pid, address = _where(pid, address)
        with self._handle.lock:
            place = lib.pd_symbols_place(self._symbols, pid, number, when, address)
            lines = self._lines_of(place)
            name = ctypes.create_string_buffer(lib.pd_place_name(place, None, 0) + 1)
            lib.pd_place_name(place, name, len(name))
            if lib.pd_symbols_failed(self._symbols):
                raise Error("out of memory", "memory")
            dso, function = place.dso.contents if place.dso else None, place.function.contents if place.function else None
            return Symbol(text(function.name) if function else None, text(dso.name) if dso else None, text(dso.long_name) if dso else None, place.addr,
                          place.addr - function.start if function else None,
                          tuple(Line(text(line.function.contents.name), text(line.file), line.line or None, line.inlined) for line in lines),
                          text(name.value))


def _processes_of(threads: List[Thread]) -> Iterator[Process]:
    """Threads belong to the process that had the pid when they began."""
    by_pid: Any = {}
    for thread in threads:
        by_pid.setdefault(thread.pid, []).append(thread)
    for pid, some in sorted(by_pid.items()):
        some.sort(key=lambda thread: (thread.begin_ns, thread.tid != pid, thread.tid))
        begins = [i for i, thread in enumerate(some) if thread.tid == pid and i] + [len(some)]
        first = 0
        for last in begins:
            lives, first = some[first:last], last
            main = next((thread for thread in lives if thread.tid == pid), lives[0])
            ends = [thread.end_ns for thread in lives]
            yield Process(pid, main.ppid, main.comm, min(thread.begin_ns for thread in lives), None if None in ends else max(ends), tuple(lives))
