# SPDX-License-Identifier: MIT
"""Samples as perf gives them to Python scripts: dicts, and the fields of tracepoints, out of rows of a table.

What samples have in common, names of addresses and formats of events, is looked up once. Each call of a handler gets dicts and lists of its own.
"""

import bisect
import ctypes
import functools
import json
import re
import struct
from typing import Any, Callable, Dict, Iterator, List, NamedTuple, Optional, Tuple

from ._errors import check, text
from ._library import CDso, CError, CFunction, CLocation, CTraceField, CTraceValueName, CView, lib
from ._profile import Printed
from ._world import MODES, UNKNOWN, _mapping_of, _moment

SOFTWARE, TRACEPOINT = 1, 2
PAGE_FAULTS = (2, 5, 6)  # all, minor, major
FREQ, COMM_EXEC = 1 << 10, 1 << 24  # of the flags of an attr
PLACES_MOST = 1 << 18
USUAL = 1 | 2 | 4  # of sample_type: address, thread and time
NO_CONTEXT = 2**64 - 4096  # markers of call chains are not below
CONTEXTS = {2**64 - 128: 1, 2**64 - 512: 2, 2**64 - 32: 3}
KERNEL = MODES["kernel"]
BINDINGS = {b"l": 0, b"g": 1, b"w": 2}
NOT_AVAILABLE = 0x5080021  # of data_src
ALL, LAST = UNKNOWN, 2**64 - 1
_scan = json.JSONDecoder().scan_once
NUMBERS = {1: "B", 2: "H", 4: "I", 8: "Q"}  # perf has a sign of numbers of eight bytes only


class Row(NamedTuple):
    """A sample as the table has it; what was not recorded is None."""

    record: int
    event: str
    cpumode: Optional[str]
    ip: Optional[int]
    pid: Optional[int]
    tid: Optional[int]
    time_ns: Optional[int]
    addr: Optional[int]
    identifier: Optional[int]
    id: Optional[int]
    cpu: Optional[int]
    period: Optional[int]
    read: Optional[str]
    callchain: Optional[str]
    raw: Optional[bytes]
    branch_stack: Optional[str]
    user_regs: Optional[str]
    weight: Optional[int]
    weight_struct: Optional[int]
    data_src: Optional[int]
    transaction: Optional[int]
    intr_regs: Optional[str]
    phys_addr: Optional[int]


# ---- tracepoints ----

class Field(NamedTuple):
    """A field of raw data."""

    name: str
    type: str
    offset: int
    size: int
    is_string: bool
    is_signed: bool
    is_common: bool

    @property
    def is_elsewhere(self) -> bool:
        return self.size == 4 and self.type.startswith(("__data_loc", "__rel_loc"))


def _string(part: bytes) -> str:
    return part.split(b"\0")[0].decode("utf-8", "surrogateescape")


class Format:
    """The fields of a tracepoint, and how they are read."""

    def __init__(self, fields: List[Field], order: str) -> None:
        self.order, named = order, {field.name: field for field in fields}  # of two with one name the last counts
        self.fields = list(named.values())
        self.names = list(named)
        self.own = [field.name for field in self.fields if not field.is_common]
        self.common_count = len(self.names) - len(self.own)
        self.has_common_first = self.own == self.names[self.common_count:]
        self._fixed = self._struct_of() if self.has_common_first else None
        self._later = [(i, field) for i, field in enumerate(self.fields) if field.is_string or field.is_elsewhere or field.size not in NUMBERS]

    def _struct_of(self) -> Optional[struct.Struct]:
        """All fields at once; None where they are not one after another."""
        letters, end = [{"big": ">", "little": "<"}[self.order]], 0
        for field in self.fields:
            if field.offset < end:
                return None
            letter = NUMBERS.get(field.size) if not field.is_string or field.is_elsewhere else None
            letters.append("x" * (field.offset - end) + (f"{field.size}s" if letter is None else letter.lower() if field.size == 8 and field.is_signed else letter))
            end = field.offset + field.size
        return struct.Struct("".join(letters)) if end < 1 << 16 else None

    def _number(self, part: bytes, signed: bool = False) -> int:
        return int.from_bytes(part, self.order, signed=signed and len(part) == 8)  # type: ignore[arg-type]

    def value(self, field: Field, raw: bytes) -> Any:
        part = raw[field.offset:field.offset + field.size]
        if field.is_elsewhere and len(part) == 4:
            place = self._number(part)
            start = (place & 0xffff) + (field.offset + field.size if field.type.startswith("__rel_loc") else 0)
            part = raw[start:start + (place >> 16)]
        if field.is_string:
            return _string(part)
        if part and field.size not in NUMBERS:
            return bytearray(part)
        return self._number(part, field.is_signed)

    def values(self, raw: bytes) -> List[Any]:
        """As many as there are names."""
        if self._fixed is None or len(raw) < self._fixed.size:
            return [self.value(field, raw) for field in self.fields]
        values = list(self._fixed.unpack_from(raw))
        for i, field in self._later:
            values[i] = self.value(field, raw)
        return values

    def own_values(self, values: List[Any]) -> List[Any]:
        if self.has_common_first:
            return values[self.common_count:]
        return [value for field, value in zip(self.fields, values) if not field.is_common]


class Formats:
    """The formats of a file."""

    def __init__(self, file: Any) -> None:
        self._trace, error = ctypes.c_void_p(), CError()
        self._order = "big" if lib.pd_file_header(file).contents.big_endian else "little"
        check(lib.pd_trace_new(file, None, self._trace, error), error)

    def __del__(self):
        lib.pd_trace_free(self._trace)

    def of(self, event: Any) -> Format:
        found, field = [], CTraceField()
        while lib.pd_trace_field_at(self._trace, event, len(found), field):
            found.append(Field(text(field.name), text(field.type), field.offset, field.size, field.is_string, field.is_signed, field.is_common))
        return Format(found, self._order)


    def value_names(self, event: Any) -> Iterator[Any]:
        """What values of fields are called: the field, what is between flags or None of a symbol, the value and its name."""
        found, number = CTraceValueName(), 0
        while lib.pd_trace_value_name_at(self._trace, event, number, found):
            yield text(found.field), text(found.delimiter) if found.is_flag else None, max(found.value, 0), text(found.name)
            number += 1


# ---- events ----

def attr_bytes(attr: int) -> bytes:
    """An attr as the kernel has it, in the byte order of this machine."""
    layout, packed, declaration = lib.pd_layout_by_name(b"attr"), b"", ctypes.create_string_buffer(128)
    for i in range(lib.pd_layout_field_count(layout)):
        field = lib.pd_layout_field(layout, i)
        lib.pd_field_c(field, declaration, len(declaration))
        width = re.search(r"int(\d+)_t", text(declaration.value))
        packed += ctypes.string_at(attr + lib.pd_field_offset(field), int(width[1]) // 8) if width else b""
    return packed


class Kind:
    """An event, and what samples of it have in common."""

    def __init__(self, pointer: Any) -> None:
        self.pointer, event = pointer, pointer.contents
        self.index, self.name = event.index, text(event.name)
        printed = Printed()
        lib.pd_json_layout(printed.pointer, lib.pd_layout_by_name(b"attr"), event.attr, None)
        self.attr: Dict[str, Any] = json.loads(printed.take())
        self.attr_bytes = attr_bytes(event.attr)
        self.ids = list((ctypes.c_uint64 * event.ids.size).from_address(event.ids.data)) if event.ids.size else []
        self.has_usual_fields = bool(self.attr["sample_type"] & USUAL)
        self.is_tracepoint = self.attr["type"] == TRACEPOINT
        self.is_page_fault = self.attr["type"] == SOFTWARE and self.attr["config"] in PAGE_FAULTS
        self.period = 0 if self.attr.get("flags", 0) & FREQ else self.attr.get("sample_period", 0)
        self.times = [name for bit, name in enumerate(("time_enabled", "time_running")) if self.attr.get("read_format", 0) >> bit & 1]


class Kinds:
    """The events of a file."""

    def __init__(self, file: Any) -> None:
        self.all, self._by_name, self.by_id = [], {}, {}  # type: ignore[var-annotated]
        while True:
            pointer = lib.pd_file_event(file, len(self.all))
            if not pointer:
                break
            kind = Kind(pointer)
            self.all.append(kind)
            self._by_name.setdefault(kind.name, []).append(kind)
            self.by_id.update(dict.fromkeys(kind.ids, kind))

    @staticmethod
    def is_damaged(row: Row, kind: Kind) -> bool:
        """It has nothing that samples of its event have, which is a problem of the recording."""
        return row[6] is None and row[3] is None and row[4] is None and kind.has_usual_fields

    @property
    def know_exec(self) -> bool:
        """Whether it is recorded that a name was set by exec."""
        return any(kind.attr.get("flags", 0) & COMM_EXEC for kind in self.all)

    def of(self, row: Row) -> Optional[Kind]:
        same = self._by_name.get(row.event)
        if same is None or len(same) == 1:
            return same and same[0]
        return self.by_id.get(row.id if row.identifier is None else row.identifier) or same[0]


# ---- places ----

class RawPlace(ctypes.Structure):
    """A struct pd_place whose pointers are numbers, which is faster."""

    _fields_ = [("dso", ctypes.c_void_p), ("function", ctypes.c_void_p), ("addr", ctypes.c_uint64), ("recorded", ctypes.c_uint64)]


place_of = lib["pd_symbols_place"]
place_of.restype, place_of.argtypes = RawPlace, lib.pd_symbols_place.argtypes

# What is at an address: the mapping as words of a sample, the path of the object, and a function as entries of call chains have it, with the
# distance from its begin. A mapping or function that is not known is None.
Place = Tuple[Optional[Dict[str, Any]], Optional[str], Optional[Dict[str, Any]], int]


class Range(NamedTuple):
    """Addresses with one mapping, or none. What is in an object is the same wherever that is mapped."""

    begin: int
    end: int
    words: Optional[Dict[str, Any]]
    places: Optional[Dict[int, Any]]  # by offset in the object; None: of these addresses only
    shift: int


class Mode:
    """The places that one mode of the processor sees, as long as nothing is mapped there."""

    def __init__(self, owner: "Places", pid: int, mode: int, time_ns: Optional[int]) -> None:
        self._owner, self.where = owner, (pid, mode, _moment(time_ns))
        self.known: Dict[int, Place] = {}
        self._begins: List[int] = []
        self._ranges: List[Range] = []

    def range(self, address: int) -> Range:
        at = bisect.bisect_right(self._begins, address) - 1
        if at >= 0 and address < self._ranges[at].end:
            return self._ranges[at]
        found = self._owner.locate(*self.where, address)
        self._begins.insert(at + 1, found.begin)
        self._ranges.insert(at + 1, found)
        return found

    def place(self, address: int) -> Place:
        there = self.range(address)
        found = None if there.places is None else there.places.get(address + there.shift)
        if found is None:
            found = self._owner.find(self.where, address, address + there.shift)
            if there.places is not None:
                there.places[address + there.shift] = found
        place = self.known[address] = (there.words, *found)
        self._owner.count += 1
        return place


def words_of(place: Place) -> Dict[str, Any]:
    """In the words of a sample; entries of call chains have others."""
    mapping, dso, function, offset = place
    words = {} if dso is None else {"dso": dso}
    if mapping is not None:
        words.update(mapping)
    if function is not None:
        words["symbol"], words["symoff"] = function["name"], offset
    return words


class Space:
    """The addresses of a process, as long as nothing is mapped there."""

    def __init__(self, modes: Callable[[int], Mode]) -> None:
        self._modes, self._known = modes, {}  # type: ignore[var-annotated]

    def mode(self, mode: int) -> Mode:
        known = self._known.get(mode)
        if known is None:
            known = self._known[mode] = self._modes(mode)
        return known

    def place(self, address: int, mode: int) -> Place:
        of_mode = self.mode(mode)
        return of_mode.known.get(address) or of_mode.place(address)

    def words(self, address: int, mode: int) -> Dict[str, Any]:
        return words_of(self.place(address, mode))

    def chain(self, addresses: List[int], mode: int) -> List[Dict[str, Any]]:
        called, of_mode = [], self.mode(mode)
        known = of_mode.known
        for address in addresses:
            if address >= NO_CONTEXT:
                mode = CONTEXTS.get(address, mode)
                of_mode = self.mode(mode)
                known = of_mode.known
                continue
            _, dso, function, offset = known.get(address) or of_mode.place(address)
            entry = {"ip": address} if function is None else {"ip": address, "sym": function.copy(), "sym_off": offset}
            if dso is not None:
                entry["dso"] = dso
            called.append(entry)
        return called


class Thread(NamedTuple):
    """A thread, until its name or the mappings of its process change."""

    until_ns: int
    comm: str
    space: Space


class Places:
    """Threads and addresses at the times of samples, which come in order."""

    def __init__(self, world: Any) -> None:
        self._world, self._build_ids = world, {mapping.path: mapping.build_id for mapping in world.mappings if mapping.build_id}
        self._forget()

    def _forget(self) -> None:
        self.count = 0
        self._threads: Dict[Any, Thread] = {}
        self._spaces: Dict[Any, Space] = {}
        self._kernels: Dict[int, Mode] = {}
        self._in_objects: Dict[int, Dict[int, Any]] = {}
        self._mappings: Dict[int, Any] = {}
        self._dsos: Dict[Optional[int], Optional[str]] = {None: None}
        self._functions: Dict[Optional[int], Any] = {None: (None, 0)}

    def _space(self, pid: int, time_ns: Optional[int], maps: int) -> Space:
        def modes(mode: int) -> Mode:
            kernel = maps & ALL
            if mode != KERNEL:
                return Mode(self, pid, mode, time_ns)
            if kernel not in self._kernels:
                self._kernels[kernel] = Mode(self, pid, mode, time_ns)
            return self._kernels[kernel]

        return Space(modes)

    @property
    def state(self) -> Any:
        return self._world._state

    @property
    def symbols(self) -> Any:
        return self._world._symbols

    def thread_of(self, pointer: Any) -> Any:
        """What is known of a thread of the state."""
        return self._world._thread_of(pointer)

    def comm(self, pid: int, tid: int, time_ns: int) -> Optional[str]:
        return self._world.comm(pid, tid, time_ns)

    def thread(self, pid: int, tid: int, time_ns: Optional[int]) -> Thread:
        found = self._threads.get((pid, tid))
        if found is not None and time_ns is not None and time_ns < found.until_ns:
            return found
        if self.count > PLACES_MOST:
            self._forget()
        view = CView()
        lib.pd_state_view(self._world._state, pid, tid, _moment(time_ns), view)
        space = self._spaces.get((pid, view.maps))
        if space is None:
            space = self._spaces[pid, view.maps] = self._space(pid, time_ns, view.maps)
        comm = text(view.comm)
        found = Thread(view.until.time_ns, f":{tid - (tid == ALL) * 2**32}" if comm is None else comm, space)
        if time_ns is not None:
            self._threads[pid, tid] = found
        return found

    def _mapping(self, pointer: Any) -> Any:
        address = ctypes.addressof(pointer.contents)
        if address not in self._mappings:
            self._mappings[address] = _mapping_of(pointer.contents)
        return self._mappings[address]

    def locate(self, pid: int, mode: int, moment: Any, address: int) -> Range:
        found = CLocation()
        if not lib.pd_state_locate(self._world._state, pid, mode, moment, address, found):
            return Range(found.begin, found.end, None, None, 0)
        mapping = self._mapping(found.mapping)
        words = {"dso_bid": mapping.build_id or self._build_ids.get(mapping.path, ""), "dso_map_start": mapping.start, "dso_map_end": mapping.end}
        alone = found.before_exec or found.ksymbol or mapping.kind not in ("file", "kernel", "module") or found.mapping.contents.anonymous
        places = None if alone else self._in_objects.setdefault(ctypes.addressof(found.object.contents), {})
        return Range(found.begin, found.end, words, places, found.offset - address if found.mapping.contents.by_offset else 0)

    def _dso(self, pointer: int) -> str:
        dso = self._dsos[pointer] = text(CDso.from_address(pointer).long_name)
        return dso

    def function(self, pointer: int, shift: int) -> Any:
        """A function as entries of call chains have it, and its begin. perf has offsets in the file, which are shifted from addresses."""
        function = CFunction.from_address(pointer)
        name = text(function.name)
        binding = 1 if name.endswith("@plt") else BINDINGS.get(function.bind, 0)
        known = {"start": function.start + shift & LAST, "end": function.end + shift & LAST, "binding": binding, "name": name}
        found = self._functions[pointer] = (None if function.nameless else known, function.start)
        return found

    def find(self, where: Any, address: int, offset: int) -> Any:
        """The path of the object, the function, and the distance from its begin."""
        place = place_of(self._world._symbols, *where, address)
        dso, function = place.dso, place.function
        known, start = self._functions.get(function) or self.function(function, offset - place.addr)
        return self._dsos[dso] if dso in self._dsos else self._dso(dso), known, place.addr - start


# ---- samples ----

def counts_of(read: Dict[str, Any]) -> List[Any]:
    """What a sample has read: its event, or all of a group."""
    return read["members"] if "members" in read else [read] if "value" in read else []


def parsed(column: str) -> Any:
    """JSON that the library has printed, without spaces in front."""
    return _scan(column, 0)[0]


def _registers(column: Optional[str]) -> str:
    if not column:
        return ""
    regs = parsed(column).get("regs") or {}
    return "".join(f"{register:>5}:0x{value:x} " for register, value in regs.items())


@functools.lru_cache(maxsize=4096)
def data_src_name(data_src: int) -> str:
    """The parts of a data source with their names."""
    printed = Printed()
    lib.pd_print_data_src(printed.pointer, data_src)
    return text(printed.take())


class Sample(dict):
    """A sample of an event as the dict that perf gives; of a group of events each member has one. Its entries are made when they are first
    asked for by their names, and all of them when anything else is asked of it. mode is that of the processor."""

    __slots__ = ("row", "kind", "period", "pid", "tid", "mode", "thread", "_is_whole")

    def __init__(self, row: Row, kind: Kind, period: Optional[int], places: Places) -> None:
        self.row, self.kind, self.period, self._is_whole = row, kind, period, False
        self.pid, self.tid = pid, tid = (row[4] or 0) & ALL, (row[5] or 0) & ALL
        self.mode = MODES.get(row[2], 0)
        self.thread = places.thread(pid, tid, row[6])
        self["ev_name"] = kind.name

    # ---- a dict ----

    def __missing__(self, key: str) -> Any:
        if not self._is_whole:
            make = ENTRIES.get(key)
            if make:
                value = self[key] = make(self)
                return value
            words = self._words() if key in PLACE_WORDS else {}
            if key in words:
                value = self[key] = words[key]
                return value
        raise KeyError(key)

    def _fill(self) -> None:
        if self._is_whole:
            return
        self._is_whole, present = True, dict(dict.items(self))
        whole = {key: present[key] if key in present else make(self) for key, make in BEFORE_PLACE.items()}
        whole.update(self._words())
        for key, make in BEHIND_PLACE.items():
            whole[key] = present[key] if key in present else make(self)
        whole.update(present)
        dict.clear(self)
        dict.update(self, whole)

    def __contains__(self, key: Any) -> bool:
        return self.get(key, self) is not self

    def get(self, key: Any, default: Any = None) -> Any:
        try:
            return self[key]
        except KeyError:
            return default

    def __reduce__(self) -> Any:
        return dict, (dict(self),)

    # ---- its entries ----

    def _words(self) -> Dict[str, Any]:
        return {} if self.row.ip is None else self.thread.space.words(self.row.ip, self.mode)

    def chain(self) -> List[Dict[str, Any]]:
        addresses = self.row.callchain
        return self.thread.space.chain(parsed(addresses), self.mode) if addresses else []

    def weight_period(self) -> int:
        if self.period is not None:
            return self.period
        return self.kind.period if self.row.period is None else self.row.period

    def numbers(self) -> Dict[str, Any]:
        (_, _, _, ip, _, _, time_ns, addr, _, _, cpu, _, counted, _, _, _, _, weight, weights, data_src, transaction, _, phys_addr) = self.row
        found = {"pid": self.pid, "tid": self.tid, "cpu": ALL if cpu is None else cpu & ALL, "ip": ip or 0, "time": time_ns or 0, "period": self.weight_period(),
                 "phys_addr": phys_addr or 0, "addr": addr or 0}
        read = parsed(counted) if counted else {}
        for name in self.kind.times:
            found[name] = read.get(name + "_ns", read.get(name, 0))
        found["values"] = [(item.get("id", 0), item.get("value", 0), item.get("lost", 0)) for item in counts_of(read)] if read else []
        found["values"] = found["values"] or [(0, 0, 0)]
        found["weight"] = weight or 0 if weights is None else weights & ALL
        found["transaction"] = transaction or 0
        found["datasrc"] = NOT_AVAILABLE if data_src is None else data_src
        found["datasrc_decode"] = data_src_name(found["datasrc"])
        found["cpumode"] = self.mode
        if self.kind.is_page_fault and addr is not None:
            place = self.thread.space.words(addr, 0)
            found["addr_correlates_sym"] = True
            found.update({"addr_" + word: value for word, value in place.items()})
        return found

    def branches(self) -> List[Dict[str, Any]]:
        found, space = [], self.thread.space
        for branch in parsed(self.row.branch_stack).get("entries", ()) if self.row.branch_stack else ():
            flags = branch.get("flags") or {}
            flags = flags if isinstance(flags, dict) else dict.fromkeys(flags, 1)
            ends = {name: space.place(branch[name], 0)[1] or "" for name in ("from", "to")}
            found.append({"from": branch["from"], "from_dsoname": ends["from"], "to": branch["to"], "to_dsoname": ends["to"],
                          "mispred": bool(flags.get("mispred")), "predicted": bool(flags.get("predicted")), "in_tx": bool(flags.get("in_tx")),
                          "abort": bool(flags.get("abort")), "cycles": flags.get("cycles", 0)})
        return found

    def branch_symbols(self) -> List[Dict[str, Any]]:
        found = []
        for branch in self.branches() if self.row.branch_stack else ():
            ends = {name: self.thread.space.words(branch[name], 0) for name in ("from", "to")}
            found.append({name: f"{end['symbol']}+{end['symoff']:#x}" if "symbol" in end else "" for name, end in ends.items()})
            found[-1].update(pred="M" if branch["mispred"] else "P" if branch["predicted"] else "-", in_tx="X" if branch["in_tx"] else "-",
                             abort="A" if branch["abort"] else "-")
        return found


PLACE_WORDS = ("dso", "dso_bid", "dso_map_start", "dso_map_end", "symbol", "symoff")
# The entries of a sample in their order, and what makes them.
BEFORE_PLACE: Dict[str, Callable[[Sample], Any]] = {
    "ev_name": lambda sample: sample.kind.name,
    "attr": lambda sample: sample.kind.attr_bytes,
    "sample": Sample.numbers,
    "raw_buf": lambda sample: sample.row.raw or b"",
    "comm": lambda sample: sample.thread.comm,
}
BEHIND_PLACE: Dict[str, Callable[[Sample], Any]] = {
    "callchain": Sample.chain,
    "brstack": Sample.branches,
    "brstacksym": Sample.branch_symbols,
    "iregs": lambda sample: _registers(sample.row.intr_regs),
    "uregs": lambda sample: _registers(sample.row.user_regs),
}
ENTRIES = {**BEFORE_PLACE, **BEHIND_PLACE}


def _whole(name: str) -> Callable[..., Any]:
    method = getattr(dict, name)

    def call(self: Sample, *arguments: Any, **named: Any) -> Any:
        for sample in (self, *arguments):  # two are compared
            if isinstance(sample, Sample):
                sample._fill()
        return method(self, *arguments, **named)

    return call


for _name in ("__iter__", "__reversed__", "__len__", "__delitem__", "__repr__", "__eq__", "__ne__", "__or__", "__ror__", "__ior__", "clear", "copy", "items", "keys",
              "values", "pop", "popitem", "setdefault", "update"):
    setattr(Sample, _name, _whole(_name))


def rows_of(recording: Any) -> Iterator[Row]:
    """All samples in the order of time."""
    table = recording.table("samples", Row._fields, order="time")
    for batch in table.batches():
        yield from map(Row._make, zip(*batch.columns(Row._fields)))
