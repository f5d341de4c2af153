# SPDX-License-Identifier: MIT
"""Samples added up: flame graphs and call trees, and the tables of a report."""

import ctypes
import html
import json
from typing import Any, Dict, Iterator, List, NamedTuple, Optional

from ._errors import Error, check, text
from ._library import SYMBOLS, CError, CFlameNode, CFlameOptions, CFlameSummary, CProfileOptions, CReportOptions, lib
from ._select import Selection
from ._symbols import open_symbols

ROOTS = {None: 0, "comm": 1, "pid": 2, "tid": 3, "cpu": 4}
WEIGHTS = {None: 0, "samples": 1, "period": 2, "latency": 3}


class Printed:
    """A text of the library, for functions that print into one."""

    def __init__(self):
        self.pointer = ctypes.c_void_p(lib.pd_text_new())

    def take(self) -> bytes:
        """What was printed since the last time."""
        if not self.pointer or lib.pd_text_failed(self.pointer):
            raise Error("out of memory", "memory")
        found = lib.pd_text_bytes(self.pointer)
        taken = ctypes.string_at(found.data, found.size) if found.size else b""
        lib.pd_text_clear(self.pointer)
        return taken

    def __del__(self):
        lib.pd_text_free(self.pointer)


class _Profile:
    """Samples of a file by stack, with names."""

    def __init__(self, handle, options):
        self.handle, self.pointer, self.symbols = handle, ctypes.c_void_p(), ctypes.c_void_p()
        self.selection = Selection(handle.file, handle.words)
        options.size = ctypes.sizeof(options)
        options.choose, options.ready, options.self = self.selection.choose, self.selection.ready, self.selection.pointer
        options.symbols, options.no_unwind = SYMBOLS(self._open_symbols), handle.options.no_unwind
        error = CError()
        check(lib.pd_profile_read(handle.file, options, self.pointer, error), error)
        check(lib.pd_profile_name(self.pointer, self._of_state(lib.pd_profile_state(self.pointer)), error), error)

    def _of_state(self, state):
        if not self.symbols:
            open_symbols(self.handle.file, state, self.handle.symbols.without_files, self.symbols)
        return self.symbols

    def _open_symbols(self, _, state):
        return self._of_state(state).value

    def __del__(self):
        with self.handle.lock:
            if self.pointer:
                lib.pd_profile_free(self.pointer)
            if self.symbols:
                lib.pd_symbols_free(self.symbols)


class Node:
    """A frame of a call tree: name, object, kind ("user", "kernel", "inlined", "jit" ...), total with everything that it called, self_total
    without, and children, sorted by name."""

    __slots__ = ("name", "object", "kind", "depth", "total", "children")

    def __init__(self, name: str, object: str, kind: str, depth: int, total: int):
        self.name, self.object, self.kind, self.depth, self.total = name, object, kind, depth, total
        self.children: List["Node"] = []

    @property
    def self_total(self) -> int:
        """What was sampled in the function itself."""
        return self.total - sum(child.total for child in self.children)

    def walk(self) -> Iterator["Node"]:
        """The node and all below it, callers first."""
        waiting = [self]
        while waiting:
            node = waiting.pop()
            yield node
            waiting.extend(reversed(node.children))

    def __repr__(self):
        return f"Node({self.name!r}, total={self.total}, children={len(self.children)})"


class FlameSummary(NamedTuple):
    """Numbers of a flame graph: samples, and those with a truncated or damaged stack or of an unknown function."""

    samples: int
    samples_in_file: int
    truncated: int
    damaged: int
    unknown: int
    copied: int
    unit: Optional[str]


class Flame:
    """The stacks of a recording as a tree; a notebook shows it as a drawing."""

    _pointer: Any = None  # until it is read

    def __init__(self, handle, name: str, root: Optional[str], weight: Optional[str], reverse: bool, percent_limit: float,
                 max_stack: int):
        if root not in ROOTS or weight not in WEIGHTS:
            raise Error(f"root is one of {', '.join(filter(None, ROOTS))}; weight of {', '.join(filter(None, WEIGHTS))}", "argument")
        self._lock = handle.lock
        self._pointer = ctypes.c_void_p()
        self._name = name.encode("utf-8", "surrogateescape")
        options = CFlameOptions(size=ctypes.sizeof(CFlameOptions), root=ROOTS[root], weight=WEIGHTS[weight], reverse=reverse,
                                percent_limit=percent_limit, max_stack=max_stack, name=self._name)
        profile = CProfileOptions(size=ctypes.sizeof(CProfileOptions), latency=weight == "latency")
        lib.pd_flame_profile_options(options, profile)
        self._profile = _Profile(handle, profile)
        selection = self._profile.selection
        options.wanted, options.self = selection.has_place, selection.pointer
        self._options, error = options, CError()
        check(lib.pd_flame_read(self._profile.pointer, self._profile.symbols, options, self._pointer, error), error)

    def __del__(self):
        if self._pointer:
            with self._lock:
                lib.pd_flame_free(self._pointer)

    @property
    def summary(self) -> FlameSummary:
        """How many samples there are, and what they are."""
        found = CFlameSummary()
        with self._lock:
            lib.pd_flame_summary(self._pointer, found)
            return FlameSummary(found.samples, found.samples_in_file, found.cut, found.damaged, found.unknown, found.copied,
                                text(found.unit))

    @property
    def tree(self) -> Node:
        """The root of the call tree."""
        path: List[Node] = []
        with self._lock:
            for node in self._nodes():
                del path[node.depth:]
                if path:
                    path[-1].children.append(node)
                path.append(node)
        if not path:
            raise Error("out of memory", "memory")
        return path[0]

    def _nodes(self) -> Iterator[Node]:
        found, index = CFlameNode(), 0
        while lib.pd_flame_node(self._pointer, index, found):
            yield Node(text(found.name), text(found.object), text(found.kind), found.depth, found.total)
            index += 1

    def folded(self) -> List[str]:
        """A line for each stack with samples of its own, "main;work;read 12"."""
        lines: List[str] = []
        names: List[str] = []
        for node in self.tree.walk():
            del names[max(node.depth - 1, 0):]
            if node.depth:
                names.append(node.name.replace(";", ":"))
            if node.self_total and names:
                lines.append(f"{';'.join(names)} {node.self_total}")
        return lines

    def svg(self, width: float = 1000, min_width: float = 0.5) -> str:
        """The flame graph as a picture; what is narrower than min_width pixels is not drawn."""
        printed, error = Printed(), CError()
        with self._lock:
            check(lib.pd_flame_print_svg(self._pointer, width, min_width, printed.pointer, error), error)
        return text(printed.take())

    def _repr_html_(self) -> str:
        """In a frame of its own, so that nothing of the notebook reaches into it."""
        picture = self.svg()
        height = picture.split('height="', 1)[1].split('"', 1)[0] if 'height="' in picture[:500] else "600"
        page = f"<!DOCTYPE html><meta charset=utf-8><body style=margin:0>{picture[picture.index('<svg'):]}"
        return (f'<iframe sandbox title="flame graph" style="border:0;width:100%;height:{int(float(height)) + 8}px" '
                f'srcdoc="{html.escape(page)}"></iframe>')


class Report:
    """Tables as perf report has them: one for each event, as dicts, with rows by sort keys; a notebook shows them."""

    def __init__(self, handle, sort: Optional[str], children: bool):
        error, self._pointer = CError(), ctypes.c_void_p()
        self._sort = sort.encode() if sort else None
        options = CReportOptions(size=ctypes.sizeof(CReportOptions), sort=self._sort, no_children=not children, show_samples=True,
                                 show_period=True)
        chosen = Selection(handle.file, handle.words)
        if chosen:
            lib.pd_report_select(options, chosen.pointer)
        check(lib.pd_report_new(handle.file, options, self._pointer, error), error)
        try:
            profile = CProfileOptions(size=ctypes.sizeof(CProfileOptions))
            lib.pd_report_ask(self._pointer, profile)
            read = _Profile(handle, profile)
            check(lib.pd_report_build(self._pointer, handle.file, read.pointer, read.symbols, error), error)
            printed = Printed()
            check(lib.pd_report_json(self._pointer, printed.pointer, error), error)
            found = json.loads(printed.take())
        finally:
            lib.pd_report_free(self._pointer)
        self.quality: Dict[str, Any] = found["trust"]
        self.tables: List[Dict[str, Any]] = found["tables"]

    @property
    def rows(self) -> List[Dict[str, Any]]:
        """The rows of all tables."""
        return [row for table in self.tables for row in table["rows"]]

    def _repr_html_(self) -> str:
        parts = []
        for table in self.tables:
            names = [name for name, value in (table["rows"] or [{}])[0].items() if not isinstance(value, (dict, list))]
            head = "".join(f"<th>{html.escape(name)}</th>" for name in names)
            body = "".join("<tr>" + "".join(f"<td>{html.escape(str(row.get(name, '')))}</td>" for name in names) + "</tr>"
                           for row in table["rows"][:50])
            rest = len(table["rows"]) - 50
            more = f"<p>{rest} more rows</p>" if rest > 0 else ""
            parts.append(f"<h4>{html.escape(str(table.get('name') or table.get('event') or ''))}</h4>"
                         f"<table><tr>{head}</tr>{body}</table>{more}")
        return "".join(parts)
