# SPDX-License-Identifier: MIT
"""Tables for databases, as perf gives them to Python scripts with perf_db_export_mode: rows, and what they refer to by numbers before them.

Functions of the script that are called evsel_table, machine_table, thread_table, comm_table, comm_thread_table, dso_table, symbol_table,
branch_type_table, call_path_table, sample_table and context_switch_table get the columns of a row.
"""

from typing import Any, Callable, Dict, List, NamedTuple, Optional, Tuple

from ._errors import text
from ._library import CDso, lib
from ._perf_samples import ALL, CONTEXTS, NO_CONTEXT, Mode, Places, Sample, Space, parsed, place_of
from ._world import ThreadName, _moment

MACHINE = 1
CHAIN_MOST = 127  # entries
SWITCH_OUT, SWITCH_PREEMPTED = 0x2000, 0x4000
# Bits of a branch: it is one, a call, a return, conditional, of a system call, asynchronous, of an interrupt ...
BRANCH, CALL, RETURN, CONDITIONAL, SYSCALL, ASYNC, INTERRUPT, ABORT, BEGIN, END = (1 << bit for bit in range(10))
VM_ENTRY, VM_EXIT = 1 << 11, 1 << 12
BRANCHES = (
    (0, "no branch"), (BRANCH | CALL, "call"), (BRANCH | RETURN, "return"), (BRANCH | CONDITIONAL, "conditional jump"), (BRANCH, "unconditional jump"),
    (BRANCH | CALL | INTERRUPT, "software interrupt"), (BRANCH | RETURN | INTERRUPT, "return from interrupt"), (BRANCH | CALL | SYSCALL, "system call"),
    (BRANCH | RETURN | SYSCALL, "return from system call"), (BRANCH | ASYNC, "asynchronous branch"), (BRANCH | CALL | ASYNC | INTERRUPT, "hardware interrupt"),
    (BRANCH | ABORT, "transaction abort"), (BRANCH | BEGIN, "trace begin"), (BRANCH | END, "trace end"), (BRANCH | CALL | VM_ENTRY, "vm entry"),
    (BRANCH | CALL | VM_EXIT, "vm exit"))
NEVER_BOTH = (BRANCH, BRANCH | BEGIN, BRANCH | END)  # with the begin or end of a trace


def _signed(value: int) -> int:
    """Databases have signed numbers of 64 bits."""
    return value - 2**64 if value >= 2**63 else value


class Task(NamedTuple):
    """A thread at a time: what it is known by, and the names that it had until then."""

    key: Any
    pid: int
    tid: int
    names: List[ThreadName]

    @property
    def program(self) -> int:
        """The number of the name that its last exec has set; without one of the first that is its own."""
        executed = [i for i, name in enumerate(self.names) if name.exec]
        if executed:
            return executed[-1]
        return 1 if len(self.names) > 1 and not self.names[0].from_ns and self.pid == self.tid else 0


class Location(NamedTuple):
    """Numbers of an object and a function, and the distance from its begin; 0: nothing is known."""

    dso: int
    symbol: int
    offset: int


NOWHERE = Location(0, 0, 0)


class Tables:
    """What was given to the script, and what follows."""

    def __init__(self, call: Callable[..., None], places: Places, with_chains: bool, knows_exec: bool) -> None:
        self._call, self._places, self._with_chains, self._knows_exec = call, places, with_chains, knows_exec
        self._numbers: Dict[str, Dict[Any, int]] = {}  # by table and key
        self._counts: Dict[str, int] = {}  # rows of tables that nothing is asked of again
        self._located: Dict[Tuple[Mode, int], Location] = {}
        self._callers: Dict[Tuple[Mode, int], Tuple[int, Any]] = {}

    # ---- numbers ----

    def _number(self, table: str, key: Any) -> Tuple[int, bool]:
        """The number of a row, and whether it is new."""
        known = self._numbers.setdefault(table, {})
        count = len(known)
        return known.setdefault(key, count + 1), len(known) != count

    def _row(self, table: str, key: Any, *columns: Any) -> int:
        number, is_new = self._number(table, key)
        if is_new:
            self._call(table + "_table", number, *columns)
        return number

    def _next(self, table: str) -> int:
        number = self._counts[table] = self._counts.get(table, 0) + 1
        return number

    # ---- threads ----

    def _task(self, tid: int, pid: int, time_ns: int) -> Task:
        pointer = lib.pd_state_find_thread(self._places.state, tid, _moment(time_ns))
        if not pointer:
            return Task(tid, pid, tid, [])
        thread = self._places.thread_of(pointer)
        names = [name for name in thread.names if name.from_ns <= time_ns]
        if thread.begin_ns and thread.ptid is not None and (not names or names[0].from_ns > thread.begin_ns):
            inherited = self._places.comm(pid, tid, thread.begin_ns)
            names[:0] = [ThreadName(inherited, thread.begin_ns, False)] if inherited else []
        return Task((tid, thread.begin_ns), pid, tid, names)

    def _thread(self, task: Task, main: Optional[Task]) -> Tuple[int, bool]:
        number, is_new = self._number("thread", task.key)
        if is_new:
            leader = 0 if main is None else self._number("thread", main.key)[0]
            self._call("thread_table", number, MACHINE, leader, *(each - 2**32 if each == ALL else each for each in (task.pid, task.tid)))
        return number, is_new

    def _comm(self, task: Task, at: int) -> Tuple[int, bool]:
        number, is_new = self._number("comm", (task.key, at))
        if is_new:
            name = task.names[at] if task.names else ThreadName(f":{task.tid - (task.tid == ALL) * 2**32}", 0, False)
            self._call("comm_table", number, name.comm, self._number("thread", task.key)[0], _signed(name.from_ns), int(name.exec))
        return number, is_new

    def _comm_thread(self, comm: int, thread: int) -> None:
        self._call("comm_thread_table", self._next("comm_thread"), comm, thread)

    def _main_of(self, task: Task, time_ns: int) -> Optional[Task]:
        if task.pid == task.tid:
            return task
        main = None if task.pid == ALL else self._task(task.pid, task.pid, time_ns)
        return main if main and (main.names or main.key in self._numbers.get("thread", ())) else None

    def _threads(self, task: Task, time_ns: int) -> Tuple[int, int]:
        """Numbers of a thread and of the program that its process runs."""
        main, program = self._main_of(task, time_ns), 0
        if main is not None:
            leader, _ = self._thread(main, main)
            program, is_new = self._comm(main, main.program if self._knows_exec else max(len(main.names) - 1, 0))
            if is_new:
                self._comm_thread(program, leader)
        number, is_new = self._thread(task, main)
        if is_new and program and task is not main:
            self._comm_thread(program, number)
        self._comm(task, max(len(task.names) - 1, 0))
        return number, program

    # ---- places ----

    def _dso(self, pointer: int, mode: Mode, address: int) -> int:
        number, is_new = self._number("dso", pointer)
        if is_new:
            dso, words = CDso.from_address(pointer), mode.place(address)[0] or {}
            self._call("dso_table", number, MACHINE, text(dso.name), text(dso.long_name), words.get("dso_bid", ""))
        return number

    def _unknown(self, dso: int, address: int, of: Any = None) -> int:
        return self._row("symbol", (dso, address, of), dso, _signed(address), _signed(address), 0, "unknown")

    def _symbol(self, dso: int, pointer: Optional[int], address: int, shift: int) -> Tuple[int, int]:
        """Its number and its begin. What is not known is a symbol of its own, unknown."""
        function = self._places.function(pointer, shift)[0] if pointer else None
        if function is None:
            return self._unknown(dso, address), address
        number, is_new = self._number("symbol", pointer)
        if is_new:
            self._call("symbol_table", number, dso, _signed(function["start"]), _signed(function["end"]), function["binding"], function["name"])
        return number, function["start"]

    def _location(self, mode: Mode, address: int) -> Location:
        key = mode, address
        if key not in self._located:
            place = place_of(self._places.symbols, *mode.where, address)
            found = NOWHERE
            if place.dso:
                dso, offset = self._dso(place.dso, mode, address), address + mode.range(address).shift
                symbol, start = self._symbol(dso, place.function, offset, offset - place.addr)
                found = Location(dso, symbol, max(offset - start, 0))
            self._located[key] = found
        return self._located[key]

    def _find_caller(self, mode: Mode, address: int) -> Tuple[int, Any]:
        place = place_of(self._places.symbols, *mode.where, address)
        if not place.dso:
            return 0, None
        dso, offset = self._dso(place.dso, mode, address), address + mode.range(address).shift
        sampled = dso, offset, None
        symbol = self._numbers.get("symbol", {}).get(sampled)
        return (self._symbol(dso, place.function, address, offset - place.addr)[0] if symbol is None else symbol), sampled

    def _caller(self, mode: Mode, address: int) -> int:
        """The symbol of a caller. One that is not known is at its address, and at its offset in the object once a sample was there, as in perf."""
        key = mode, address
        if key not in self._callers:
            self._callers[key] = self._find_caller(mode, address)
        symbol, sampled = self._callers[key]
        return self._numbers.get("symbol", {}).get(sampled, symbol)

    def _call_path(self, space: Space, addresses: List[int], mode: int) -> int:
        """Call paths begin at the outermost caller; 1 is their root."""
        path, steps, parent = [], [], 0
        for address in addresses:
            if address >= NO_CONTEXT:
                mode = CONTEXTS.get(address, mode)
            elif len(path) < CHAIN_MOST:
                path.append((address, space.mode(mode)))
        for address, of_mode in reversed(path):
            symbol = self._caller(of_mode, address)
            steps.append((symbol, 0 if symbol else address))
        for symbol, address in [(0, 0), *steps] if steps else ():
            parent = self._row("call_path", (parent, symbol, address), parent, symbol, _signed(address))
        return parent

    def _data(self, sample: Sample, before: int) -> Location:
        """Where a page fault was for. A place without a name that this sample has brought up has another number there, as in perf."""
        address = sample.row.addr
        if not sample.kind.is_page_fault or address is None:
            return NOWHERE
        symbols = self._numbers.get("symbol", {})
        mode, count = sample.thread.space.mode(0), len(symbols)
        found = self._location(mode, address)
        offset = address + mode.range(address).shift
        if before < found.symbol <= count and symbols.get((found.dso, offset, None)) == found.symbol:
            return found._replace(symbol=self._unknown(found.dso, offset, sample.row.record))
        return found

    # ---- rows ----

    def begin(self) -> None:
        for bits, name in BRANCHES:
            self._call("branch_type_table", bits, name)
        for bits, name in BRANCHES:
            if bits not in NEVER_BOTH:
                self._call("branch_type_table", bits | BEGIN, f"trace begin / {name}")
                self._call("branch_type_table", bits | END, f"{name} / trace end")

    def sample(self, sample: Sample) -> None:
        row, numbers, space = sample.row, sample.numbers(), sample.thread.space
        event = self._row("evsel", sample.kind.index, sample.kind.name)
        self._row("machine", MACHINE, -1, "")
        thread, program = self._threads(self._task(sample.tid, sample.pid, numbers["time"]), numbers["time"])
        number, symbols = self._next("sample"), len(self._numbers.get("symbol", ()))
        place = NOWHERE if row.ip is None else self._location(space.mode(sample.mode), row.ip)
        path = self._call_path(space, parsed(row.callchain), sample.mode) if self._with_chains and row.callchain else 0
        data = self._data(sample, symbols)
        self._call("sample_table", number, event, MACHINE, thread, program, *place, _signed(numbers["ip"]), _signed(numbers["time"]), _cpu(row.cpu), *data,
                   _signed(numbers["addr"]), _signed(numbers["period"]), _signed(numbers["weight"]), _signed(numbers["transaction"]), _signed(numbers["datasrc"]),
                   0, 0, path, 0, 0, 0)

    def switched(self, record: Any) -> None:
        """A context switch, if a thread is known besides the idle one."""
        fields, where, time_ns, out = record.fields, record.get("sample_id", {}), record.time_ns or 0, record.misc & SWITCH_OUT
        self._row("machine", MACHINE, -1, "")
        one = self._known(where.get("pid", -1), where.get("tid", -1), time_ns)
        other = self._known(fields["next_prev_pid"], fields["next_prev_tid"], time_ns) if "next_prev_tid" in fields else (0, 0, False)
        if not (one[0] and not one[2]) and not (other[0] and not other[2]):
            return
        before, after = (one, other) if out else (other, one)
        flags = (1 if out else 0) | (2 if out and record.misc & SWITCH_PREEMPTED else 0)
        self._call("context_switch_table", self._next("context_switch"), MACHINE, _signed(time_ns), _cpu(where.get("cpu")), *before[:2], *after[:2], flags)

    def _known(self, pid: int, tid: int, time_ns: int) -> Tuple[int, int, bool]:
        """Thread, program, and whether it is the idle one."""
        task = self._task(tid & ALL, pid & ALL, time_ns)
        return (*self._threads(task, time_ns), not pid and not tid) if task.names else (0, 0, False)


def _cpu(number: Optional[int]) -> int:
    return -1 if number is None or number == ALL else number
