# SPDX-License-Identifier: MIT
"""Where names of functions are looked for."""

from __future__ import annotations

import ctypes
import os

from ._library import NO_FILES, SYMBOLS, CSymbolsOptions, lib

TYPE_CHECKING = False  # as in typing, which takes longer to import than all of this
if TYPE_CHECKING:
    from typing import List


def _below(variable, *names):
    """A path below a directory that the environment names, or None."""
    directory = os.environ.get(variable, "")
    return os.fsencode(os.path.join(directory, *names)) if directory.startswith("/") else None


def open_symbols(file, state, without_files, symbols, error=None):
    """Symbols where commands look for them: in perf's cache, too, and in tables that were read before."""
    options = CSymbolsOptions(size=ctypes.sizeof(CSymbolsOptions), flags=NO_FILES if without_files else 0)
    options.build_id_cache = os.fsencode(os.environ.get("PERF_BUILDID_DIR", "")) or _below("HOME", ".debug")
    options.index = _below("XDG_CACHE_HOME", "perfdata") or _below("HOME", ".cache", "perfdata")
    return lib.pd_symbols_new(file, state, options, symbols, error)


class Symbols:
    """Symbols that are opened once they are asked for, for tables and for statements."""

    def __init__(self, file, without_files):
        self.file, self.without_files = file, without_files
        self._opened: List[ctypes.c_void_p] = []
        self.function = SYMBOLS(self._open)

    def _open(self, _, state):
        symbols = ctypes.c_void_p()
        open_symbols(self.file, state, self.without_files, symbols)
        self._opened.append(symbols)
        return symbols.value

    def close(self):
        for symbols in self._opened:
            lib.pd_symbols_free(symbols)
