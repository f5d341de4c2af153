# SPDX-License-Identifier: MIT
"""What scripts for perf script import: perf_trace_context, Core and Util, with the functions that perf's manual has."""

import collections
import errno
import sys
import types
from typing import Any, Dict, Sequence


class Context:
    """What functions of perf_trace_context are asked about: the sample that a handler was called for."""

    def __init__(self) -> None:
        self._names: Sequence[str] = ()
        self._values: Sequence[Any] = ()

    def put(self, names: Sequence[str], values: Sequence[Any]) -> None:
        """The fields of the next one."""
        self._names, self._values = names, values

    @property
    def fields(self) -> Dict[str, Any]:
        return dict(zip(self._names, self._values))


# ---- perf_trace_context ----

def common_pc(context: Context) -> int:
    """How often preemption was disabled."""
    return context.fields.get("common_preempt_count", 0)


def common_flags(context: Context) -> int:
    return context.fields.get("common_flags", 0)


def common_lock_depth(context: Context) -> int:
    return context.fields.get("common_lock_depth", 0)


# ---- Core ----

FLAGS = {0x00: "NONE", 0x01: "IRQS_OFF", 0x02: "IRQS_NOSUPPORT", 0x04: "NEED_RESCHED", 0x08: "HARDIRQ", 0x10: "SOFTIRQ"}


class Autodict(dict):
    """A dict whose missing entries are such dicts."""

    def __missing__(self, key: Any) -> "Autodict":
        value = self[key] = Autodict()
        return value


def autodict() -> Autodict:
    return Autodict()


flag_fields = Autodict()
symbolic_fields = Autodict()


def define_flag_field(event_name: str, field_name: str, delim: str) -> None:
    flag_fields[event_name][field_name]["delim"] = delim


def define_flag_value(event_name: str, field_name: str, value: int, field_str: str) -> None:
    flag_fields[event_name][field_name]["values"][value] = field_str


def define_symbolic_field(event_name: str, field_name: str) -> None:
    symbolic_fields[event_name][field_name]  # pylint: disable=expression-not-assigned


def define_symbolic_value(event_name: str, field_name: str, value: int, field_str: str) -> None:
    symbolic_fields[event_name][field_name]["values"][value] = field_str


def _flags(value: int, names: Dict[int, str], delimiter: str) -> str:
    """Names of bits, from the lowest on; bits without one are left out. 0 may have a name."""
    words = []
    for bits, word in sorted(names.items()):
        if not value and not bits:
            return delimiter.join([*words, word])
        if bits and value & bits == bits:
            words.append(word)
            value &= ~bits
    return delimiter.join(words)


def flag_str(event_name: str, field_name: str, value: int) -> str:
    """The names of bits, as the format of the event has them or a script has defined."""
    known = flag_fields[event_name][field_name]
    delimiter = known.get("delim")
    return _flags(value, known["values"], f" {delimiter} " if delimiter else "")


def symbol_str(event_name: str, field_name: str, value: int) -> str:
    """The name of a value, as the format of the event has it or a script has defined; empty if it has none."""
    return symbolic_fields[event_name][field_name]["values"].get(value, "")


def trace_flag_str(value: int) -> str:
    """The names of common_flags."""
    return _flags(value, FLAGS, " | ")


def taskState(state: int) -> str:  # pylint: disable=invalid-name
    """The letter of a state that sched_switch has."""
    return {0: "R", 1: "S", 2: "D", 64: "DEAD"}.get(state, "Unknown")


class EventHeaders:
    """What handlers of all tracepoints get, for scripts that keep it."""

    def __init__(self, common_cpu: int, common_secs: int, common_nsecs: int, common_pid: int, common_comm: str, common_callchain: Any) -> None:
        self.cpu, self.secs, self.nsecs = common_cpu, common_secs, common_nsecs
        self.pid, self.comm, self.callchain = common_pid, common_comm, common_callchain

    def ts(self) -> int:
        """In nanoseconds."""
        return nsecs(self.secs, self.nsecs)

    def ts_format(self) -> str:
        return f"{self.secs}.{self.nsecs // 1000}"


# ---- Util ----

NSECS_PER_SEC = 1000000000
FUTEX = {"FUTEX_WAIT": 0, "FUTEX_WAKE": 1, "FUTEX_PRIVATE_FLAG": 128, "FUTEX_CLOCK_REALTIME": 256, "FUTEX_CMD_MASK": ~(128 | 256)}


def avg(total: int, n: int) -> float:
    return total / n


def nsecs(secs: int, nanoseconds: int) -> int:
    return secs * NSECS_PER_SEC + nanoseconds


def nsecs_secs(nanoseconds: int) -> int:
    return nanoseconds // NSECS_PER_SEC


def nsecs_nsecs(nanoseconds: int) -> int:
    return nanoseconds % NSECS_PER_SEC


def nsecs_str(nanoseconds: int) -> str:
    return f"{nsecs_secs(nanoseconds):5}.{nsecs_nsecs(nanoseconds):09}"


def add_stats(table: Dict[Any, Any], key: Any, value: Any) -> None:
    """Least, greatest and average of the last two, and how many, by key."""
    if key not in table:
        table[key] = (value, value, value, 1)
        return
    least, most, average, count = table[key]
    table[key] = (min(least, value), max(most, value), (average + value) / 2, count + 1)


def clear_term() -> None:
    sys.stdout.write("\x1b[H\x1b[2J")


def syscall_name(number: int) -> str:
    """System calls have numbers here: their names depend on the machine that was recorded."""
    return str(number)


def strerror(number: int) -> str:
    """What an errno is called, as a call returns it."""
    return errno.errorcode.get(abs(number), f"Unknown {number} errno")


NAMES = {
    "perf_trace_context": (common_pc, common_flags, common_lock_depth),
    "Core": (autodict, define_flag_field, define_flag_value, define_symbolic_field, define_symbolic_value, flag_str, symbol_str, trace_flag_str, taskState, EventHeaders),
    "Util": (avg, nsecs, nsecs_secs, nsecs_nsecs, nsecs_str, add_stats, clear_term, syscall_name, strerror),
}


def modules() -> Dict[str, types.ModuleType]:
    """For sys.modules."""
    made = {}
    for name, functions in NAMES.items():
        made[name] = types.ModuleType(name)
        made[name].__dict__.update({function.__name__: function for function in functions})
    made["Core"].__dict__.update(flag_fields=flag_fields, symbolic_fields=symbolic_fields, defaultdict=collections.defaultdict)
    made["Util"].__dict__.update(NSECS_PER_SEC=NSECS_PER_SEC, **FUTEX)
    made["perf_trace_context"].__dict__["perf_script_context"] = Context()
    return made
