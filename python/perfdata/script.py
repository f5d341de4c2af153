# SPDX-License-Identifier: MIT
"""Runs Python scripts that were written for perf script: python3 -m perfdata.script [--input FILE] SCRIPT [ARGUMENT]...

The handlers of a script are called as perf 6.1 calls them: trace_begin(), trace_end(), process_event(dict) for samples, SYSTEM__EVENT(...) or
trace_unhandled(...) for tracepoints, throttle, unthrottle, context_switch, stat__EVENT and stat__interval. perf_trace_context, Core and Util
can be imported without perf. --generate FILE writes a script with a handler for each tracepoint of the recording.
"""

import argparse
import contextlib
import ctypes
import os
import re
import shutil
import signal
import stat
import sys
import tempfile
import traceback
import types
from typing import Any, Callable, Dict, List, Optional

from . import _perf_modules
from ._errors import Error, Problem, check, text
from ._library import CError, CTraceField, lib
from ._recording import open as open_recording
from ._select import WORDS
from ._stream import Stream
from ._world import MODES, _moment

PERF_FOLDERS = ("/usr/libexec/perf-core", "/usr/lib/perf-core")  # an installed perf has more modules
SOFTWARE, TRACEPOINT = 1, 2
STEADY = ("SAMPLE", "SWITCH", "SWITCH_CPU_WIDE", "FINISHED_ROUND", "THROTTLE", "UNTHROTTLE", "LOST", "STAT")  # that map nothing
COUNTS = ("value", "time_enabled_ns", "time_running_ns")
PLACES_MOST = 1 << 16
PAGE_FAULTS = (2, 5, 6)  # all, minor, major
FREQ = 1 << 10  # of the flags of an attr
NO_CONTEXT = 2**64 - 4096  # markers of call chains are not below
MODE_NAMES = {number: name for name, number in MODES.items() if name}
BINDINGS = {b"l": 0, b"g": 1, b"w": 2}
SWITCH_OUT, SWITCH_PREEMPTED = 0x2000, 0x4000
NOT_AVAILABLE = 0x5080021  # of data_src
ALL = UNKNOWN_CPU = 2**32 - 1
RECORD_HEADER = 8  # bytes
PROBLEMS_SHOWN = 20  # of each kind
USAGE, UNREADABLE, DAMAGED = 2, 3, 1  # exit codes of perfdata


class _Formats:
    """The fields of tracepoints, out of raw data."""

    def __init__(self, file: Any) -> None:
        self._trace, error = ctypes.c_void_p(), CError()
        self._fields: Dict[int, List[Any]] = {}
        self._order = "big" if lib.pd_file_header(file).contents.big_endian else "little"
        check(lib.pd_trace_new(file, None, self._trace, error), error)

    def __del__(self):
        lib.pd_trace_free(self._trace)

    def fields(self, event: Any) -> List[Any]:
        """Name, type, offset, size, is_string and is_common of each field."""
        known = self._fields.get(event.contents.index)
        if known is not None:
            return known
        found, field = [], CTraceField()
        while lib.pd_trace_field_at(self._trace, event, len(found), field):
            found.append((text(field.name), text(field.type), field.offset, field.size, field.is_string, field.is_signed, field.is_common))
        self._fields[event.contents.index] = found
        return found

    def _number(self, raw: bytes, signed: bool) -> int:
        # perf has a sign of numbers of eight bytes only
        return int.from_bytes(raw, self._order, signed=signed and len(raw) == 8)

    def value(self, field: Any, raw: bytes) -> Any:
        _, kind, offset, size, is_string, signed, _ = field
        part = raw[offset:offset + size]
        if kind.startswith(("__data_loc", "__rel_loc")) and len(part) == 4:
            place = self._number(part, False)
            start = (place & 0xffff) + (offset + size if kind.startswith("__rel_loc") else 0)
            part = raw[start:start + (place >> 16)]
        if is_string:
            return part.split(b"\0")[0].decode("utf-8", "surrogateescape")
        if part and size not in (1, 2, 4, 8):
            return bytearray(part)
        return self._number(part, signed)

    def values(self, event: Any, raw: bytes) -> Dict[str, Any]:
        return {field[0]: self.value(field, raw) for field in self.fields(event)}


class _Sample:
    """A sample as the dict that perf gives to scripts; of a group of events each member has one."""

    def __init__(self, runner: "Runner", record: Any, event: Any, period: Optional[int]) -> None:
        self.fields, self.event, self.time_ns, self.period = record.fields, event, record.time_ns, period
        self.mode = record.misc & 7
        self.runner, self.pid, self.tid = runner, self.fields.get("pid", 0) & ALL, self.fields.get("tid", 0) & ALL
        self.raw = bytes.fromhex(self.fields.get("raw") or "")
        comm = runner.world.comm(self.pid, self.tid, self.time_ns)
        self.comm = f":{self.tid - (self.tid == ALL) * 2**32}" if comm is None else comm

    def place(self, address: int, mode: int) -> Dict[str, Any]:
        """What is at an address, in the words of the sample; those of call chains are others. It is the same until something is mapped."""
        places, key = self.runner.places, (self.pid, mode, address)
        if key not in places:
            if len(places) == PLACES_MOST:
                places.clear()
            places[key] = self._find_place(address, mode)
        return places[key]

    def _find_place(self, address: int, mode: int) -> Dict[str, Any]:
        runner, found = self.runner, {}
        place = lib.pd_symbols_place(runner.world._symbols, self.pid, mode, _moment(self.time_ns), address)
        mapping = runner.world.mapping(self.pid, address, self.time_ns, MODE_NAMES.get(mode))
        if place.dso:
            found["dso"] = text(place.dso.contents.long_name)
        if mapping:
            found.update(dso_bid=mapping.build_id or runner.build_ids.get(mapping.path, ""), dso_map_start=mapping.start, dso_map_end=mapping.end)
        if place.function and not place.function.contents.nameless:
            function = place.function.contents
            found.update(symbol=text(function.name), symoff=place.addr - function.start, function=function)
        return found

    def chain(self) -> List[Dict[str, Any]]:
        called, mode = [], self.mode
        for address in self.fields.get("callchain") or ():
            if address >= NO_CONTEXT:
                mode = {2**64 - 128: 1, 2**64 - 512: 2, 2**64 - 32: 3}.get(address, mode)
                continue
            place, entry = self.place(address, mode), {"ip": address}
            function = place.get("function")
            if function is not None:
                entry["sym"] = {"start": function.start, "end": function.end, "binding": BINDINGS.get(function.bind, 0), "name": text(function.name)}
                entry["sym_off"] = place["symoff"]
            if "dso" in place:
                entry["dso"] = place["dso"]
            called.append(entry)
        return called

    def _period(self, attr: Dict[str, Any]) -> int:
        if self.period is not None:
            return self.period
        return self.fields.get("period", 0 if attr.get("flags", 0) & FREQ else attr.get("sample_period", 0))

    def numbers(self) -> Dict[str, Any]:
        fields, attr = self.fields, self.runner.attrs[self.event.contents.index]
        found = {"pid": self.pid, "tid": self.tid, "cpu": fields.get("cpu", UNKNOWN_CPU), "ip": fields.get("ip", 0),
                 "time": self.time_ns if "time_ns" in fields else 0,
                 "period": self._period(attr),
                 "phys_addr": fields.get("phys_addr", 0), "addr": fields.get("addr", 0)}
        read, read_format = fields.get("read") or {}, attr.get("read_format", 0)
        for bit, name in enumerate(("time_enabled", "time_running")):
            if read_format >> bit & 1:
                found[name] = read.get(name + "_ns", read.get(name, 0))
        found["values"] = [(item.get("id", 0), item.get("value", 0), item.get("lost", 0)) for item in _counts(read)] or [(0, 0, 0)]
        weight = fields.get("weight", fields.get("weight_struct", 0))
        found.update(weight=weight & 0xffffffff if "weight_struct" in fields else weight, transaction=fields.get("transaction", 0),
                     datasrc=fields.get("data_src", NOT_AVAILABLE), cpumode=self.mode)
        return found

    def data_place(self) -> Dict[str, Any]:
        """What is at the address that a page fault was for."""
        attr = self.runner.attrs[self.event.contents.index]
        if attr["type"] != SOFTWARE or attr["config"] not in PAGE_FAULTS or "addr" not in self.fields:
            return {}
        words = ("dso", "dso_bid", "dso_map_start", "dso_map_end", "symbol", "symoff")
        place = self.place(self.fields["addr"], 0)
        return {"addr_correlates_sym": True, **{"addr_" + word: place[word] for word in words if word in place}}

    def branches(self) -> List[Dict[str, Any]]:
        found = []
        for branch in (self.fields.get("branch_stack") or {}).get("entries", ()):
            flags = branch.get("flags") or {}
            flags = flags if isinstance(flags, dict) else dict.fromkeys(flags, 1)
            ends = {name: self.place(branch[name], 0).get("dso", "") for name in ("from", "to")}
            found.append({"from": branch["from"], "from_dsoname": ends["from"], "to": branch["to"], "to_dsoname": ends["to"],
                          "mispred": bool(flags.get("mispred")), "predicted": bool(flags.get("predicted")), "in_tx": bool(flags.get("in_tx")),
                          "abort": bool(flags.get("abort")), "cycles": flags.get("cycles", 0)})
        return found

    def branch_symbols(self) -> List[Dict[str, Any]]:
        found = []
        for branch in self.branches():
            ends = {name: self.place(branch[name], 0) for name in ("from", "to")}
            found.append({name: f"{end['symbol']}+{end['symoff']:#x}" if "symbol" in end else "" for name, end in ends.items()})
            found[-1].update(pred="M" if branch["mispred"] else "P" if branch["predicted"] else "-", in_tx="X" if branch["in_tx"] else "-",
                             abort="A" if branch["abort"] else "-")
        return found

    def registers(self, name: str) -> str:
        regs = (self.fields.get(name) or {}).get("regs") or {}
        return "".join(f"{register:>5}:0x{value:x} " for register, value in regs.items())

    def whole(self, chain: List[Dict[str, Any]]) -> Dict[str, Any]:
        index = self.event.contents.index
        found = {"ev_name": text(self.event.contents.name), "attr": self.runner.attr_bytes[index], "sample": self.numbers(), "raw_buf": self.raw,
                 "comm": self.comm}
        place = self.place(self.fields["ip"], self.mode) if "ip" in self.fields else {}
        place = {word: value for word, value in place.items() if word != "function"}
        found["sample"].update(self.data_place())
        return {**found, **place, "callchain": chain, "brstack": self.branches(), "brstacksym": self.branch_symbols(), "iregs": self.registers("intr_regs"), "uregs": self.registers("user_regs")}


class Runner:
    """A script with its handlers, and the recording."""

    def __init__(self, path: str, selection: Dict[str, str]) -> None:
        recording = open_recording(path)
        self.world, self.handlers = recording.world, {}  # type: ignore[var-annotated]
        self.build_ids = {mapping.path: mapping.build_id for mapping in self.world.mappings if mapping.build_id}
        self.wanted = {row.record for row in recording.select(**selection).table("samples", ["record"])} if selection else None
        self.stream = Stream(path, order="time")
        self.attrs: List[Any] = []
        self.events: Dict[int, Any] = {}  # by id
        self.counted_before: Dict[Any, int] = {}
        self.places: Dict[Any, Dict[str, Any]] = {}  # by process, mode and address
        self.threads: Dict[int, int] = {}  # of counts, by index
        self.round: Dict[str, Dict[Any, List[int]]] = {}  # counts by event, CPU and thread
        self.last_round: Dict[Any, List[int]] = {}
        self.attr_bytes: List[bytes] = []
        self.formats: Optional[_Formats] = None
        self.context = _perf_modules.Context()
        self.stopped = False

    def stop(self, *_: Any) -> None:
        """For SIGINT: what was read until now is all, and trace_end follows, as in perf. The next one ends the program."""
        self.stopped = True
        signal.signal(signal.SIGINT, signal.SIG_DFL)

    def load(self, script: str, arguments: List[str]) -> None:
        """Runs what is outside of its functions, as __main__."""
        with open(script, "rb") as file:
            code = compile(file.read(), script, "exec")
        module = types.ModuleType("__main__")
        module.__dict__.update(__file__=script, __builtins__=__builtins__)
        sys.modules["__main__"] = module
        sys.argv = [script, *arguments]
        sys.path.insert(0, os.path.dirname(os.path.abspath(script)))
        os.environ.setdefault("PERF_EXEC_PATH", next(filter(os.path.isdir, PERF_FOLDERS), os.path.dirname(os.path.abspath(__file__))))
        sys.modules.update(_perf_modules.modules())
        exec(code, module.__dict__)  # pylint: disable=exec-used
        self.handlers = module.__dict__
        if self.handlers.get("perf_db_export_mode"):
            raise Error(f"{script}: perf_db_export_mode: there is no such export; use perfdata export --format sqlite", "argument")

    def call(self, name: str, *arguments: Any) -> bool:
        handler = self.handlers.get(name)
        if callable(handler):
            handler(*arguments)
        return callable(handler)

    def _learn_events(self) -> None:
        if not lib.pd_file_event(self.stream._file, len(self.attrs)):
            return
        for event in self.stream.events[len(self.attrs):]:
            pointer = lib.pd_file_event(self.stream._file, event.index)
            ids = pointer.contents.ids
            self.events.update(dict.fromkeys((ctypes.c_uint64 * ids.size).from_address(ids.data) if ids.size else (), pointer))
            self.attrs.append(event.attr)
            self.attr_bytes.append(_attr_bytes(pointer.contents.attr))

    # ---- what is called ----

    def tracepoint(self, sample: _Sample, name: str) -> None:
        if self.formats is None:
            self.formats = _Formats(self.stream._file)
        fields = self.formats.values(sample.event, sample.raw)
        common = {field[0] for field in self.formats.fields(sample.event) if field[6]}
        own = {name: value for name, value in fields.items() if name not in common}
        self.context.fields = fields
        seconds, rest = divmod(sample.time_ns or 0, 10**9)
        chain = sample.chain()
        first = [sample.fields.get("cpu", UNKNOWN_CPU), seconds, rest, fields.get("common_pid", sample.tid), sample.comm, chain]
        handler = self.handlers.get(name)
        if callable(handler):
            self._with_dict(handler, [name, self.context, *first, *own.values()], sample, chain)
            return
        handler = self.handlers.get("trace_unhandled")
        words = ("common_cpu", "common_s", "common_ns", "common_pid", "common_comm", "common_callchain")
        if callable(handler):
            self._with_dict(handler, [name, self.context, {**dict(zip(words, first)), **own}], sample, chain)

    @staticmethod
    def _with_dict(handler: Callable[..., Any], arguments: List[Any], sample: _Sample, chain: List[Any]) -> None:
        """The sample as a dict comes last, if the handler has a parameter for it."""
        code = getattr(handler, "__code__", None)
        if code is not None and code.co_argcount > len(arguments):
            arguments = [*arguments, sample.whole(chain)]
        handler(*arguments)

    def sample(self, record: Any) -> None:
        if self.wanted is not None and record._record.contents.place not in self.wanted:
            return
        if not record.fields and record.size > RECORD_HEADER:  # damaged, which is a problem of the stream
            return
        counts = _counts(record.fields.get("read") or {})
        if not counts:
            self.deliver(record, record._record.contents.event, None)
        for count in counts:
            period = count.get("value", 0) - self.counted_before.get(count.get("id"), 0)
            self.counted_before[count.get("id")] = count.get("value", 0)
            if period:
                self.deliver(record, self.events.get(count.get("id")) or record._record.contents.event, period)

    def deliver(self, record: Any, event: Any, period: Optional[int]) -> None:
        if not event:
            return
        if self.attrs[event.contents.index].get("type") == TRACEPOINT:
            name = _handler_name(text(event.contents.name))
            if callable(self.handlers.get(name)) or callable(self.handlers.get("trace_unhandled")):
                self.tracepoint(_Sample(self, record, event, period), name)
        elif callable(self.handlers.get("process_event")):
            sample = _Sample(self, record, event, period)
            self.context.fields = {}
            self.handlers["process_event"](sample.whole(sample.chain()))

    def throttled(self, record: Any) -> None:
        fields, where = record.fields, record.get("sample_id", {})
        self.call(record.type.lower(), fields.get("time_ns"), fields.get("id"), fields.get("stream_id"), where.get("cpu", -1), where.get("pid", -1), where.get("tid", -1))

    def switched(self, record: Any) -> None:
        fields, where, out = record.fields, record.get("sample_id", {}), bool(record.misc & SWITCH_OUT)
        self.call("context_switch", record.time_ns or 0, where.get("cpu", -1), where.get("pid", -1), where.get("tid", -1), fields.get("next_prev_pid", -1),
                  fields.get("next_prev_tid", -1), -1, out, out and bool(record.misc & SWITCH_PREEMPTED), 0, -1)

    def run(self) -> None:
        kinds = {"SAMPLE": self.sample, "THROTTLE": self.throttled, "UNTHROTTLE": self.throttled, "SWITCH": self.switched, "SWITCH_CPU_WIDE": self.switched,
                 "STAT_ROUND": self.ended_round, "THREAD_MAP": self.mapped_threads, "STAT": self.counted}
        signal.signal(signal.SIGINT, self.stop)
        self.call("trace_begin")
        for record in self.stream:
            if self.stopped:
                break
            handler = kinds.get(record.type)
            if record.type not in STEADY:
                self.places.clear()
            if handler:
                self._learn_events()
                handler(record)
        self.call("trace_end")

    def counted(self, record: Any) -> None:
        fields = record.fields
        event = self.events.get(fields.get("id"))
        if event:
            name = "stat__" + text(event.contents.name).replace(":", "_")
            counts = self.round.setdefault(name, {})
            where = fields.get("cpu"), fields.get("thread")
            counts[where] = [fields.get(field, 0) for field in COUNTS]

    def mapped_threads(self, record: Any) -> None:
        self.threads = {index: entry["pid"] for index, entry in enumerate(record.fields.get("entries", ()))}

    def ended_round(self, record: Any) -> None:
        """Counts go on from round to round; a script gets those of each."""
        time_ns = record.fields.get("time_ns")
        for name, counts in self.round.items():
            for (cpu, thread), values in counts.items():
                before = self.last_round.get((name, cpu, thread), (0, 0, 0))
                self.last_round[name, cpu, thread] = values
                self.call(name, cpu, self.threads.get(thread, thread), time_ns, *(value - last for value, last in zip(values, before)))
        self.call("stat__interval", time_ns)


def _counts(read: Dict[str, Any]) -> List[Any]:
    """What a sample has read: its event, or all of a group."""
    return read["members"] if "members" in read else [read] if "value" in read else []


def _attr_bytes(attr: int) -> bytes:
    """An attr as the kernel has it, in the byte order of this machine."""
    layout, packed, declaration = lib.pd_layout_by_name(b"attr"), b"", ctypes.create_string_buffer(128)
    for i in range(lib.pd_layout_field_count(layout)):
        field = lib.pd_layout_field(layout, i)
        lib.pd_field_c(field, declaration, len(declaration))
        width = re.search(r"int(\d+)_t", text(declaration.value))
        packed += ctypes.string_at(attr + lib.pd_field_offset(field), int(width[1]) // 8) if width else b""
    return packed


def _handler_name(event: str) -> str:
    return "__".join(event.split(":")[:2])


# ---- a script for a recording ----

HEAD = '''# A script for perfdata script -s, or perf script -s: a handler for each event of a recording.

def trace_begin():
    print("in trace_begin")

def trace_end():
    print("in trace_end")
'''
HANDLER = '''
def {name}({parameters}):
    print(f"{{event_name:<24}} {{common_cpu:5}} {{common_secs:05}}.{{common_nsecs:09}} {{common_pid:8}} {{common_comm:<20}} {values}")
'''
TAIL = '''
def trace_unhandled(event_name, context, event_fields_dict, perf_sample_dict):
    print(event_name, " ".join(f"{name}={value}" for name, value in sorted(event_fields_dict.items())))
'''
PARAMETERS = ["event_name", "context", "common_cpu", "common_secs", "common_nsecs", "common_pid", "common_comm", "common_callchain"]


def generate(path: str, script: str) -> None:
    """Writes a script with a handler for each tracepoint."""
    stream, done = Stream(path), set()
    for _ in stream:  # events and formats of a pipe are records
        if stream._file and path and stream.events:
            break
    formats = _Formats(stream._file)
    with open(script, "w", encoding="utf-8") as out:
        out.write(HEAD)
        for event in stream.events:
            names = [field[0] for field in formats.fields(lib.pd_file_event(stream._file, event.index)) if not field[6]]
            name = _handler_name(event.name)
            if event.attr.get("type") != TRACEPOINT or name in done or not re.fullmatch(r"\w+", name):
                continue
            done.add(name)
            values = ", ".join(f"{field}={{{field}}}" for field in names)
            out.write(HANDLER.format(name=name, parameters=", ".join([*PARAMETERS, *names, "perf_sample_dict"]), values=values))
        out.write(TAIL)


# ---- the program ----

def _whole(path: str, keeper: contextlib.ExitStack) -> str:
    """A file that can be read twice: of a pipe a copy without a name, which nothing leaves behind. SIGINT is for who writes into it."""
    if path != "-" and not stat.S_ISFIFO(os.stat(path).st_mode):
        return path
    signal.signal(signal.SIGINT, lambda *_: signal.signal(signal.SIGINT, signal.SIG_DFL))
    whole = keeper.enter_context(tempfile.TemporaryFile(prefix="perfdata-script-"))
    with sys.stdin.buffer if path == "-" else open(path, "rb") as pipe:
        shutil.copyfileobj(pipe, whole)
    whole.flush()
    return f"/dev/fd/{whole.fileno()}"


def _report(name: str, problems: List[Problem]) -> int:
    """Says what is wrong with the recording, as the program does."""
    shown: Dict[str, int] = {}
    sys.stdout.flush()
    for problem in problems:
        shown[problem.code] = shown.get(problem.code, 0) + (problem.severity != "info")
        if 0 < shown[problem.code] <= PROBLEMS_SHOWN:
            place = "" if problem.offset is None else f"at offset {problem.offset:#x}: "
            field = "" if problem.field is None else f"{problem.field}: "
            print(f"perfdata: {name}: {place}{problem.severity}: {problem.code}: {field}{problem.message}", file=sys.stderr)
    for code, count in shown.items():
        if count > PROBLEMS_SHOWN:
            print(f"perfdata: {name}: {code}: {count - PROBLEMS_SHOWN} more", file=sys.stderr)
    return DAMAGED if any(problem.severity == "damage" for problem in problems) else 0


def _run(runner: Runner, options: Any) -> int:
    """What goes wrong in the script is its own: it is printed with its lines."""
    try:
        runner.load(options.script, options.arguments)
        runner.run()
    except OSError:
        traceback.print_exc()
        return 1
    finally:
        damaged = _report(options.input, runner.stream.problems)
    return damaged


def _joined(words: List[str]) -> List[str]:
    """--comm -x as --comm=-x: what an option is given may begin as options do."""
    joined, rest = [], iter(words)
    for word in rest:
        if not word.startswith("--") or "=" in word or word in ("--", "--help"):
            return [*joined, word, *rest]
        joined.append(f"{word}={next(rest, '')}")
    return joined


def main(words: Optional[List[str]] = None) -> int:
    for number in signal.SIGPIPE, signal.SIGINT:  # as of other programs that print
        signal.signal(number, signal.SIG_DFL)
    parser = argparse.ArgumentParser(prog="perfdata script", description="Runs a Python script that was written for perf script.")
    parser.add_argument("--input", default="perf.data")
    parser.add_argument("--generate", metavar="FILE")
    for name in WORDS:
        parser.add_argument("--" + name.replace("_", "-"), dest=name)
    parser.add_argument("script", nargs="?")
    parser.add_argument("arguments", nargs=argparse.REMAINDER)
    options = parser.parse_args(_joined(sys.argv[1:] if words is None else words))
    selection = {name: getattr(options, name) for name in WORDS if getattr(options, name) is not None}
    if not options.script and not options.generate:
        parser.error("no script")
    try:
        with contextlib.ExitStack() as keeper:
            path = _whole(options.input, keeper)
            if options.generate:
                generate(path, options.generate)
                return 0
            with open(options.script, "rb"):
                runner = Runner(path, selection)
            return _run(runner, options)
    except OSError as error:
        print(f"perfdata: {error.filename}: {error.strerror}" if error.filename else f"perfdata: {error}", file=sys.stderr)
        return UNREADABLE
    except Error as error:
        print(f"perfdata: {error}", file=sys.stderr)
        return USAGE if error.code == "argument" else UNREADABLE


if __name__ == "__main__":
    sys.exit(main())
