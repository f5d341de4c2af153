# SPDX-License-Identifier: MIT
"""Which samples are wanted, in the words of the options of every command."""

from __future__ import annotations

import ctypes

from ._errors import Error, check
from ._library import READY, CError, CSelectOptions, lib

TYPE_CHECKING = False  # as in typing, which takes longer to import than all of this
if TYPE_CHECKING:
    from typing import Any, Dict

WORDS = ("time", "comm", "pid", "tid", "cpu", "event", "dso", "symbol", "where", "socket", "addr_range", "switch_on", "switch_off")


def _moment(time_ns):
    return "" if time_ns is None else f"{time_ns // 10**9}.{time_ns % 10**9:09}"


def _word(name, value) -> str:
    """A value as a user types it: a list has commas, a time is a range."""
    if isinstance(value, str):
        return value
    if name == "time":
        return ",".join(_moment(end) for end in value)
    if isinstance(value, (list, tuple, set, frozenset, range)):
        return ",".join(str(item) for item in value)
    return str(value)


def words_of(selection: Dict[str, Any]) -> Dict[str, bytes]:
    """The options of a selection. None is not given."""
    for name in selection:
        if name not in WORDS:
            raise Error(f"there is no selection by '{name}', but by {', '.join(WORDS)}", "argument")
    return {name: _word(name, value).encode("utf-8", "surrogateescape") for name, value in selection.items() if value is not None}


class Selection:
    """The selection of one pass over a file: functions and their first argument for options of the library."""

    def __init__(self, file, words):
        self.file, self.pointer, self._words = file, ctypes.c_void_p(), words
        self.ready = READY()
        if not words:
            return
        error = CError()
        check(lib.pd_select_new(CSelectOptions(size=ctypes.sizeof(CSelectOptions), **words), self.pointer, error), error)
        self.ready = READY(lambda _, window, failure: lib.pd_select_ready(self.pointer, self.file, window, failure))

    def __bool__(self):
        return bool(self.pointer)

    @property
    def choose(self):
        """For samples."""
        return ctypes.cast(lib.pd_select_choose, ctypes.c_void_p) if self else None

    @property
    def by_place(self):
        return bool(self) and lib.pd_select_by_place(self.pointer)

    @property
    def has_place(self):
        """For places; None if all are wanted."""
        return ctypes.cast(lib.pd_select_has_place, ctypes.c_void_p) if self.by_place else None

    def __del__(self):
        if self:
            lib.pd_select_free(self.pointer)
