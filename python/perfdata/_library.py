# SPDX-License-Identifier: MIT
"""The functions and structs of libperfdata that the package uses, by ctypes. Calls release the GIL."""

import ctypes
import ctypes.util
import os
from ctypes import CFUNCTYPE, POINTER, Structure, c_bool, c_char, c_char_p, c_int, c_int64, c_size_t, c_uint32, c_uint64, c_void_p

OK, END = 0, 1
NO_OFFSET = 2**64 - 1
SEVERITIES = {1: "info", 2: "warning", 3: "damage"}
NO_FILES = 1  # of symbols: nothing but the recording is opened
ORDERS = {"file": 0, "time": 1}
# Of pd_column_type: the letter of the array module, or what texts are.
U32, S32, U64, S64, F64, NAME, TEXT, BYTES, JSON = range(9)
NUMBERS = {U32: "I", S32: "i", U64: "Q", S64: "q", F64: "d"}


class CError(Structure):
    _fields_ = [("status", c_int), ("os_errno", c_int), ("offset", c_uint64), ("message", c_char * 1000)]


class CProblem(Structure):
    _fields_ = [("offset", c_uint64), ("severity", c_int), ("code", c_char_p), ("field", c_char_p), ("message", c_char_p),
                ("advice", c_char_p)]


PROBLEM = CFUNCTYPE(c_bool, c_void_p, POINTER(CProblem))
SYMBOLS = CFUNCTYPE(c_void_p, c_void_p, c_void_p)


class COpenOptions(Structure):
    _fields_ = [("size", c_size_t), ("problem", PROBLEM), ("self", c_void_p), ("memory_limit", c_uint64),
                ("inflate_limit", c_uint64), ("temp_dir", c_char_p), ("keep", c_bool), ("recover", c_bool)]


class CSymbolsOptions(Structure):
    _fields_ = [("size", c_size_t), ("flags", c_uint32)]


class CTableOptions(Structure):
    _fields_ = [("size", c_size_t), ("choose", c_void_p), ("ready", c_void_p), ("symbols", SYMBOLS), ("self", c_void_p),
                ("max_stack", c_uint32), ("no_unwind", c_bool)]


class CColumn(Structure):
    _fields_ = [("name", c_char_p), ("doc", c_char_p), ("type", c_int)]


class CTable(Structure):
    _fields_ = [("name", c_char_p), ("doc", c_char_p), ("columns", POINTER(CColumn)), ("column_count", c_size_t)]


class CQuery(Structure):
    _fields_ = [("size", c_size_t), ("columns", POINTER(c_char_p)), ("column_count", c_size_t), ("order", c_int),
                ("from_ns", c_uint64), ("to_ns", c_uint64)]


class CSqlOptions(Structure):
    _fields_ = [("size", c_size_t), ("tables", CTableOptions), ("self_stride", c_size_t)]


class CBytes(Structure):
    _fields_ = [("data", c_void_p), ("size", c_size_t)]


class Schema(Structure):
    pass


class Array(Structure):
    pass


class Stream(Structure):
    pass


RELEASE_SCHEMA = CFUNCTYPE(None, POINTER(Schema))
RELEASE_ARRAY = CFUNCTYPE(None, POINTER(Array))
GET_SCHEMA = CFUNCTYPE(c_int, POINTER(Stream), POINTER(Schema))
GET_NEXT = CFUNCTYPE(c_int, POINTER(Stream), POINTER(Array))
GET_ERROR = CFUNCTYPE(c_void_p, POINTER(Stream))
RELEASE_STREAM = CFUNCTYPE(None, POINTER(Stream))

Schema._fields_ = [("format", c_char_p), ("name", c_char_p), ("metadata", c_char_p), ("flags", c_int64), ("n_children", c_int64),
                   ("children", POINTER(POINTER(Schema))), ("dictionary", POINTER(Schema)), ("release", RELEASE_SCHEMA),
                   ("private_data", c_void_p)]
Array._fields_ = [("length", c_int64), ("null_count", c_int64), ("offset", c_int64), ("n_buffers", c_int64), ("n_children", c_int64),
                  ("buffers", POINTER(c_void_p)), ("children", POINTER(POINTER(Array))), ("dictionary", POINTER(Array)),
                  ("release", RELEASE_ARRAY), ("private_data", c_void_p)]
Stream._fields_ = [("get_schema", GET_SCHEMA), ("get_next", GET_NEXT), ("get_last_error", GET_ERROR), ("release", RELEASE_STREAM),
                   ("private_data", c_void_p)]

FUNCTIONS = {
    "pd_version": (c_char_p, []),
    "pd_status_name": (c_char_p, [c_int]),
    "pd_file_open": (c_int, [c_char_p, POINTER(COpenOptions), POINTER(c_void_p), POINTER(CError)]),
    "pd_file_close": (None, [c_void_p]),
    "pd_file_wall_clock": (c_uint64, [c_void_p, c_uint64]),
    "pd_symbols_new": (c_int, [c_void_p, c_void_p, POINTER(CSymbolsOptions), POINTER(c_void_p), POINTER(CError)]),
    "pd_symbols_free": (None, [c_void_p]),
    "pd_table_set_new": (c_int, [c_void_p, POINTER(CTableOptions), POINTER(c_void_p), POINTER(CError)]),
    "pd_table_set_free": (None, [c_void_p]),
    "pd_table_at": (POINTER(CTable), [c_void_p, c_size_t]),
    "pd_table_stack_text": (c_char_p, [c_void_p, c_uint64]),
    "pd_table_stream": (c_int, [c_void_p, POINTER(CTable), POINTER(CQuery), POINTER(Stream), POINTER(CError)]),
    "pd_table_stream_error": (c_int, [POINTER(Stream), POINTER(CError)]),
    "pd_sql_new": (c_int, [POINTER(c_void_p), c_size_t, POINTER(CSqlOptions), POINTER(c_void_p), POINTER(CError)]),
    "pd_sql_free": (None, [c_void_p]),
    "pd_sql_run": (c_int, [c_void_p, c_char_p, c_int, c_void_p, POINTER(CError)]),
    "pd_text_new": (c_void_p, []),
    "pd_text_free": (None, [c_void_p]),
    "pd_text_bytes": (CBytes, [c_void_p]),
    "pd_text_failed": (c_bool, [c_void_p]),
}


def _candidates():
    if os.environ.get("PERFDATA_LIBRARY"):
        yield os.environ["PERFDATA_LIBRARY"]
    yield os.path.join(os.path.dirname(os.path.abspath(__file__)), "libperfdata.so.0")
    yield "libperfdata.so.0"


def _load():
    reasons = []
    for path in _candidates():
        try:
            library = ctypes.CDLL(path)
        except OSError as error:
            reasons.append(str(error))
            continue
        for name, (result, arguments) in FUNCTIONS.items():
            function = getattr(library, name)
            function.restype, function.argtypes = result, arguments
        return library
    raise ImportError("libperfdata cannot be loaded: " + "; ".join(reasons))


lib = _load()
