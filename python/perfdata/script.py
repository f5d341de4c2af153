# SPDX-License-Identifier: MIT
"""Runs Python scripts that were written for perf script: python3 -m perfdata.script [--input FILE] SCRIPT [ARGUMENT]...

The handlers of a script are called as perf 6.1 calls them: trace_begin(), trace_end(), process_event(dict) for samples, SYSTEM__EVENT(...) or
trace_unhandled(...) for tracepoints, throttle, unthrottle, context_switch, stat__EVENT and stat__interval. perf_trace_context, Core and Util
can be imported without perf. --generate FILE writes a script with a handler for each tracepoint of the recording.
"""

import argparse
import contextlib
import itertools
import os
import re
import shutil
import signal
import stat
import sys
import tempfile
import traceback
import types
from typing import Any, Callable, Dict, Iterator, List, Optional

from . import _perf_installed, _perf_modules
from ._errors import Error, Problem
from ._perf_samples import ALL, Format, Formats, Kind, Kinds, Places, Row, Sample, counts_of, parsed, rows_of
from ._perf_tables import SWITCH_OUT, SWITCH_PREEMPTED, Tables
from ._recording import open as open_recording
from ._select import WORDS

RECORDS = ("THROTTLE", "UNTHROTTLE", "SWITCH", "SWITCH_CPU_WIDE", "STAT_ROUND", "THREAD_MAP", "STAT")  # that handlers are called for
RECORD_HANDLERS = ("throttle", "unthrottle", "context_switch", "context_switch_table")
SAMPLE = 9
COUNTS = ("value", "time_enabled_ns", "time_running_ns")
PROBLEMS_SHOWN = 20  # of each kind
USAGE, UNREADABLE, DAMAGED = 2, 3, 1  # exit codes of perfdata


class Tracepoint:
    """The handler of a tracepoint, and how it is called."""

    COMMON = ("common_cpu", "common_s", "common_ns", "common_pid", "common_comm", "common_callchain")

    def __init__(self, name: str, format: Format, handler: Any, context: _perf_modules.Context) -> None:
        self.name, self._format, self._context = name, format, context
        self._handler, self._has_own = handler
        code = getattr(self._handler, "__code__", None)
        given = 2 + len(self.COMMON) + len(format.own) if self._has_own else 3
        self._wants_dict = code is not None and code.co_argcount > given
        self._pid_at = format.names.index("common_pid") if "common_pid" in format.names else None

    def call(self, sample: Sample) -> None:
        row, format = sample.row, self._format
        values = format.values(row.raw or b"")
        self._context.put(format.names, values)
        seconds, rest = divmod(row.time_ns or 0, 10**9)
        first = [ALL if row.cpu is None else row.cpu & ALL, seconds, rest, sample.tid if self._pid_at is None else values[self._pid_at], sample.thread.comm, sample.chain()]
        arguments = [self.name, self._context]
        if self._has_own:
            arguments += first
            arguments += format.own_values(values)
        else:
            arguments.append({**dict(zip(self.COMMON, first)), **dict(zip(format.own, format.own_values(values)))})
        if self._wants_dict:
            arguments.append(sample)
        self._handler(*arguments)


class Counters:
    """Counts of perf stat record, which go on from round to round; a script gets those of each."""

    def __init__(self, call: Callable[..., Any], by_id: Dict[int, Kind]) -> None:
        self._call, self._by_id = call, by_id
        self._threads: Dict[int, int] = {}  # by index
        self._round: Dict[str, Dict[Any, List[int]]] = {}  # by event, CPU and thread
        self._last_round: Dict[Any, List[int]] = {}

    def counted(self, record: Any) -> None:
        fields = record.fields
        kind = self._by_id.get(fields.get("id"))
        if kind:
            counts = self._round.setdefault("stat__" + kind.name.replace(":", "_"), {})
            where = fields.get("cpu"), fields.get("thread")
            counts[where] = [fields.get(field, 0) for field in COUNTS]

    def mapped_threads(self, record: Any) -> None:
        self._threads = {index: entry["pid"] for index, entry in enumerate(record.fields.get("entries", ()))}

    def ended_round(self, record: Any) -> None:
        time_ns = record.fields.get("time_ns")
        for name, counts in self._round.items():
            for (cpu, thread), values in counts.items():
                before = self._last_round.get((name, cpu, thread), (0, 0, 0))
                self._last_round[name, cpu, thread] = values
                self._call(name, cpu, self._threads.get(thread, thread), time_ns, *(value - last for value, last in zip(values, before)))
        self._call("stat__interval", time_ns)


class Runner:
    """A script with its handlers, and the recording."""

    def __init__(self, path: str, selection: Dict[str, str]) -> None:
        self._path, self.recording = path, open_recording(path)
        self._selected = self.recording.select(**selection) if selection else self.recording
        self.places = Places(self.recording.world)
        self.kinds = Kinds(self._file())
        self.handlers: Dict[str, Any] = {}
        self._tracepoints: Dict[int, Optional[Tracepoint]] = {}  # by the number of the event
        self._formats: Optional[Formats] = None
        self._counted_before: Dict[Any, int] = {}
        self._counters = Counters(self.call, self.kinds.by_id)
        self._context = _perf_modules.Context()
        self._tables: Optional[Tables] = None
        self._stopped = False

    def _file(self) -> Any:
        return self.recording._opened().file

    @property
    def problems(self) -> List[Problem]:
        """What is wrong with the recording."""
        return self._selected.problems

    def stop(self, *_: Any) -> None:
        """For SIGINT: what was read until now is all, and trace_end follows, as in perf. The next one ends the program."""
        self._stopped = True
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
        os.environ.setdefault("PERF_EXEC_PATH", os.path.dirname(os.path.abspath(__file__)))
        sys.modules.update(_perf_modules.modules())
        exec(code, module.__dict__)  # pylint: disable=exec-used
        self.handlers = module.__dict__
        if self.handlers.get("perf_db_export_mode"):
            self._tables = Tables(self.call, self.places, bool(self.handlers.get("perf_db_export_callchains")), self.kinds.know_exec)

    def call(self, name: str, *arguments: Any) -> None:
        handler = self.handlers.get(name)
        if callable(handler):
            handler(*arguments)

    # ---- samples ----

    def _tracepoint_of(self, kind: Kind) -> Optional[Tracepoint]:
        """None if nobody wants to know of it."""
        name = _handler_name(kind.name)
        own, others = self.handlers.get(name), self.handlers.get("trace_unhandled")
        if not callable(own) and not callable(others):
            return None
        if self._formats is None:
            self._formats = Formats(self._file())
        self._define_values(name, kind)
        return Tracepoint(name, self._formats.of(kind.pointer), (own, True) if callable(own) else (others, False), self._context)

    def _define_values(self, name: str, kind: Kind) -> None:
        """Names of values, for scripts that have these functions of Core."""
        for field, delimiter, value, word in self._formats.value_names(kind.pointer):
            if delimiter is None:
                self.call("define_symbolic_field", name, field)
                self.call("define_symbolic_value", name, field, value, word)
            else:
                self.call("define_flag_field", name, field, delimiter)
                self.call("define_flag_value", name, field, value, word)

    def deliver(self, row: Row, kind: Kind, period: Optional[int]) -> None:
        if kind.is_tracepoint:
            if kind.index not in self._tracepoints:
                self._tracepoints[kind.index] = self._tracepoint_of(kind)
            tracepoint = self._tracepoints[kind.index]
            if tracepoint:
                tracepoint.call(Sample(row, kind, period, self.places))
        elif self._tables:
            self._tables.sample(Sample(row, kind, period, self.places))
        elif callable(self.handlers.get("process_event")):
            self._context.put((), ())
            self.handlers["process_event"](Sample(row, kind, period, self.places))

    def sample(self, row: Row) -> None:
        kind = self.kinds.of(row)
        if kind is None or self.kinds.is_damaged(row, kind):
            return
        counts = counts_of(parsed(row.read)) if row.read else ()
        if not counts:
            self.deliver(row, kind, None)
        for count in counts:
            period = count.get("value", 0) - self._counted_before.get(count.get("id"), 0)
            self._counted_before[count.get("id")] = count.get("value", 0)
            if period:
                self.deliver(row, self.kinds.by_id.get(count.get("id"), kind), period)

    # ---- other records ----

    def throttled(self, record: Any) -> None:
        fields, where = record.fields, record.get("sample_id", {})
        self.call(record.type.lower(), fields.get("time_ns"), fields.get("id"), fields.get("stream_id"), where.get("cpu", -1), where.get("pid", -1), where.get("tid", -1))

    def switched(self, record: Any) -> None:
        if self._tables:
            self._tables.switched(record)
            return
        fields, where, out = record.fields, record.get("sample_id", {}), bool(record.misc & SWITCH_OUT)
        self.call("context_switch", record.time_ns or 0, where.get("cpu", -1), where.get("pid", -1), where.get("tid", -1), fields.get("next_prev_pid", -1),
                  fields.get("next_prev_tid", -1), -1, out, out and bool(record.misc & SWITCH_PREEMPTED), 0, -1)

    def _records(self) -> Iterator[Any]:
        """Records other than samples that the script has handlers for, in the order of time, and how many samples are before them."""
        if not any(callable(self.handlers.get(name)) for name in RECORD_HANDLERS) and not any(name.startswith("stat__") for name in self.handlers):
            return
        with self.recording.stream(order="time") as stream:
            for record in stream:
                if record._type == SAMPLE:
                    yield record._record.contents.place, None
                elif record.type in RECORDS:
                    yield None, record

    def _in_order(self) -> Iterator[Any]:
        """Functions with what they are called for."""
        kinds = {"THROTTLE": self.throttled, "UNTHROTTLE": self.throttled, "SWITCH": self.switched, "SWITCH_CPU_WIDE": self.switched,
                 "STAT_ROUND": self._counters.ended_round, "THREAD_MAP": self._counters.mapped_threads, "STAT": self._counters.counted}
        rows, row = rows_of(self._selected), None
        for place, record in self._records():
            row = row or next(rows, None)
            if record is not None:
                yield kinds[record.type], record
            elif row is not None and row.record == place:
                yield self.sample, row
                row = None
        yield from zip(itertools.repeat(self.sample), rows if row is None else itertools.chain((row,), rows))

    def run(self) -> None:
        signal.signal(signal.SIGINT, self.stop)
        self.call("trace_begin")
        if self._tables:
            self._tables.begin()
        for function, subject in self._in_order():
            if self._stopped:
                break
            function(subject)
        self.call("trace_end")


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
    recording, done = open_recording(path), set()  # type: ignore[var-annotated]
    file = recording._opened().file
    formats = Formats(file)
    with open(script, "w", encoding="utf-8") as out:
        out.write(HEAD)
        for kind in Kinds(file).all:
            name = _handler_name(kind.name)
            if not kind.is_tracepoint or name in done or not re.fullmatch(r"\w+", name):
                continue
            done.add(name)
            names = formats.of(kind.pointer).own
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


def _run(runner: Runner, options: Any, name: str) -> int:
    """What goes wrong in the script is its own: it is printed with its lines."""
    try:
        runner.load(options.script, options.arguments)
        runner.run()
    except OSError:
        traceback.print_exc()
        return 1
    finally:
        damaged = _report(name, runner.problems)
    return damaged


def _run_installed(options: Any) -> int:
    """A script of perf by its name, or the list of them."""
    folder = os.environ.get("PERF_EXEC_PATH", "")
    try:
        if options.by_name == "list":
            _perf_installed.print_list(folder)
            return 0
        return _perf_installed.run(folder, options.by_name, options.program, [options.script, *options.arguments], not options.without_command)
    except OSError as error:
        print(f"perfdata: {error.filename}: {error.strerror}", file=sys.stderr)
        return UNREADABLE
    except Error as error:
        print(f"perfdata: {error}", file=sys.stderr)
        return USAGE


def _joined(words: List[str]) -> List[str]:
    """--comm -x as --comm=-x: what an option is given may begin as options do."""
    joined, rest = [], iter(words)
    for word in rest:
        if not word.startswith("--") or "=" in word or word in ("--", "--help"):
            return [*joined, word, *rest]
        joined.append(word if word == "--without-command" else f"{word}={next(rest, '')}")
    return joined


def main(words: Optional[List[str]] = None) -> int:
    for number in signal.SIGPIPE, signal.SIGINT:  # as of other programs that print
        signal.signal(number, signal.SIG_DFL)
    parser = argparse.ArgumentParser(prog="perfdata script", description="Runs a Python script that was written for perf script.")
    parser.add_argument("--input", default="perf.data")
    parser.add_argument("--generate", metavar="FILE")
    parser.add_argument("--by-name", choices=("record", "report", "live", "list"))
    parser.add_argument("--program", default="perfdata")
    parser.add_argument("--without-command", action="store_true")
    for name in WORDS:
        parser.add_argument("--" + name.replace("_", "-"), dest=name)
    parser.add_argument("script", nargs="?")
    parser.add_argument("arguments", nargs=argparse.REMAINDER)
    options = parser.parse_args(_joined(sys.argv[1:] if words is None else words))
    selection = {name: getattr(options, name) for name in WORDS if getattr(options, name) is not None}
    if options.by_name:
        return _run_installed(options)
    if not options.script and not options.generate:
        parser.error("no script")
    path, name = options.input, "standard input" if options.input == "-" else options.input
    try:
        with contextlib.ExitStack() as keeper:
            path = _whole(options.input, keeper)
            if options.generate:
                generate(path, options.generate)
                return 0
            with open(options.script, "rb"):
                runner = Runner(path, selection)
            return _run(runner, options, name)
    except OSError as error:
        print(f"perfdata: {error.filename}: {error.strerror}" if error.filename else f"perfdata: {error}", file=sys.stderr)
        return UNREADABLE
    except Error as error:
        print(f"perfdata: {str(error).replace(path, name, 1)}", file=sys.stderr)  # not the copy of a pipe
        return USAGE if error.code == "argument" else UNREADABLE


if __name__ == "__main__":
    sys.exit(main())
