# SPDX-License-Identifier: MIT
"""The functions and structs of libperfdata that the package uses, by ctypes. Calls release the GIL."""

import ctypes
import os
from ctypes import CFUNCTYPE, POINTER, Structure, c_bool, c_char, c_char_p, c_double, c_int, c_int64, c_size_t, c_uint, c_uint8, c_uint16, c_uint32, c_uint64, c_void_p

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


READY = CFUNCTYPE(c_int, c_void_p, c_void_p, POINTER(CError))
PULL = CFUNCTYPE(c_int, c_void_p, c_void_p, c_size_t, POINTER(c_size_t), POINTER(CError))


class COpenOptions(Structure):
    _fields_ = [("size", c_size_t), ("problem", PROBLEM), ("self", c_void_p), ("memory_limit", c_uint64),
                ("inflate_limit", c_uint64), ("temp_dir", c_char_p), ("keep", c_bool), ("recover", c_bool)]


class CSymbolsOptions(Structure):
    _fields_ = [("size", c_size_t), ("flags", c_uint32), ("symfs", c_char_p), ("kallsyms", c_char_p), ("vmlinux", c_char_p),
                ("build_id_cache", c_char_p), ("debug_paths", c_void_p), ("debug_path_count", c_size_t), ("index", c_char_p)]


class CTableOptions(Structure):
    _fields_ = [("size", c_size_t), ("choose", c_void_p), ("ready", READY), ("symbols", SYMBOLS), ("self", c_void_p),
                ("max_stack", c_uint32), ("no_unwind", c_bool)]


class CColumn(Structure):
    _fields_ = [("name", c_char_p), ("doc", c_char_p), ("type", c_int)]


class CTable(Structure):
    _fields_ = [("name", c_char_p), ("doc", c_char_p), ("columns", POINTER(CColumn)), ("column_count", c_size_t)]


class CQuery(Structure):
    _fields_ = [("size", c_size_t), ("columns", POINTER(c_char_p)), ("column_count", c_size_t), ("order", c_int),
                ("from_ns", c_uint64), ("to_ns", c_uint64)]


class CSqlOptions(Structure):
    _fields_ = [("size", c_size_t), ("tables", CTableOptions), ("self_stride", c_size_t), ("choose_place", c_void_p)]


class CBytes(Structure):
    _fields_ = [("data", c_void_p), ("size", c_size_t)]


class CStr(Structure):
    _fields_ = [("data", c_void_p), ("length", c_uint32), ("size", c_uint32)]


class CList(Structure):
    _fields_ = [("items", c_void_p), ("count", c_size_t), ("stride", c_size_t)]


class CSelectOptions(Structure):
    _fields_ = [("size", c_size_t), ("time", c_char_p), ("comms", c_char_p), ("comm", c_char_p), ("pid", c_char_p), ("tid", c_char_p),
                ("cpu", c_char_p), ("event", c_char_p), ("dsos", c_char_p), ("dso", c_char_p), ("symbols", c_char_p),
                ("symbol", c_char_p), ("where", c_char_p), ("socket", c_char_p), ("addr_range", c_char_p), ("switch_on", c_char_p),
                ("switch_off", c_char_p), ("show_switches", c_bool), ("parallelism", c_char_p)]


class CEvent(Structure):
    _fields_ = [("index", c_size_t), ("attr", c_void_p), ("name", c_char_p), ("ids", CBytes), ("unit", c_char_p), ("scale", c_double),
                ("attr_offset", c_uint64)]


class CRecord(Structure):
    _fields_ = [("type", c_uint32), ("misc", c_uint16), ("flags", c_uint16), ("offset", c_uint64), ("inner_offset", c_uint64),
                ("index", c_uint64), ("time_ns", c_uint64), ("event", POINTER(CEvent)), ("bytes", CBytes), ("tail_size", c_uint64),
                ("part", c_uint32), ("scratch", c_void_p), ("place", c_uint64)]


class CHeader(Structure):  # the rest is not asked for
    _fields_ = [("mode", c_int), ("version", c_uint), ("big_endian", c_bool)]


class CTraceField(Structure):
    _fields_ = [("name", c_char_p), ("type", c_char_p), ("offset", c_uint32), ("size", c_uint32), ("is_signed", c_bool), ("is_string", c_bool),
                ("is_common", c_bool)]


class CTraceValueName(Structure):
    _fields_ = [("field", c_char_p), ("is_flag", c_bool), ("delimiter", c_char_p), ("value", c_int64), ("name", c_char_p)]


class CMoment(Structure):
    _fields_ = [("time_ns", c_uint64), ("order", c_uint64)]


class CObject(Structure):
    _fields_ = [("index", c_size_t), ("path", c_char_p), ("kind", c_int), ("machine", c_uint32), ("build_id_size", c_uint8),
                ("build_id", c_uint8 * 20), ("maj", c_uint32), ("min", c_uint32), ("ino", c_uint64), ("ino_generation", c_uint64)]


class CMapping(Structure):
    _fields_ = [("start", c_uint64), ("end", c_uint64), ("pgoff", c_uint64), ("object", POINTER(CObject)), ("symbol", c_char_p),
                ("pid", c_uint32), ("tid", c_uint32), ("prot", c_uint32), ("flags", c_uint32), ("executable", c_bool), ("anonymous", c_bool),
                ("by_offset", c_bool), ("begin", CMoment)]


class CLocation(Structure):
    _fields_ = [("mapping", POINTER(CMapping)), ("object", POINTER(CObject)), ("ksymbol", POINTER(CMapping)), ("before_exec", c_bool),
                ("offset", c_uint64), ("begin", c_uint64), ("end", c_uint64)]


class CThread(Structure):
    _fields_ = [("index", c_size_t), ("pid", c_uint32), ("tid", c_uint32), ("ppid", c_uint32), ("ptid", c_uint32), ("begin", CMoment),
                ("end", CMoment)]


class CThreadName(Structure):
    _fields_ = [("comm", c_char_p), ("begin", CMoment), ("exec", c_bool)]


class CView(Structure):
    _fields_ = [("begin", CMoment), ("until", CMoment), ("comm", c_char_p), ("maps", c_uint64)]


class CDso(Structure):
    _fields_ = [("index", c_size_t), ("name", c_char_p), ("long_name", c_char_p), ("object", POINTER(CObject)), ("kernel", c_bool),
                ("state", c_int), ("detail", c_char_p)]


class CFunction(Structure):
    _fields_ = [("index", c_size_t), ("dso", POINTER(CDso)), ("name", c_char_p), ("linker_name", c_char_p), ("start", c_uint64),
                ("end", c_uint64), ("bind", c_char), ("data", c_bool), ("nameless", c_bool)]


class CPlace(Structure):
    _fields_ = [("dso", POINTER(CDso)), ("function", POINTER(CFunction)), ("addr", c_uint64), ("recorded", c_uint64)]


class CLine(Structure):
    _fields_ = [("function", POINTER(CFunction)), ("file", c_char_p), ("line", c_uint32), ("inlined", c_bool)]


class CThreadId(Structure):
    _fields_ = [("pid", c_uint32), ("tid", c_uint32), ("cpu", c_uint32), ("known", c_bool)]


class CStreamOptions(Structure):
    _fields_ = [("size", c_size_t), ("order", c_int), ("careful", c_bool), ("verify", c_bool)]


class CFilterNames(Structure):
    _fields_ = [("self", c_void_p), ("name", CFUNCTYPE(c_void_p, c_void_p, POINTER(CRecord), c_int))]


class CWriterOptions(Structure):
    _fields_ = [("size", c_size_t), ("mode", c_int), ("endian", c_int), ("packing", c_int), ("level", c_int), ("inputs", POINTER(c_void_p)),
                ("input_count", c_size_t), ("save_bytes", c_uint64)]


class CChanges(Structure):
    _fields_ = [("size", c_size_t), ("self", c_void_p), ("event", c_void_p),
                ("feature", CFUNCTYPE(c_int, c_void_p, c_void_p, c_uint32, POINTER(c_void_p), POINTER(c_bool), POINTER(CError))),
                ("id", c_void_p)]


class CProfileOptions(Structure):
    _fields_ = [("size", c_size_t), ("by", c_uint32), ("threads", c_uint32), ("max_stack", c_uint32), ("slice_ns", c_uint64),
                ("choose", c_void_p), ("ready", READY), ("progress", c_void_p), ("self", c_void_p), ("from_ns", c_uint64),
                ("to_ns", c_uint64), ("slices", c_bool), ("symbols", SYMBOLS), ("unnamed_as_one", c_bool), ("merge_below", c_double),
                ("no_unwind", c_bool), ("stitch_lbr", c_bool), ("keep_merged", c_uint32), ("weights", c_bool), ("parallelism", c_bool),
                ("latency", c_bool), ("places_as_one", c_bool)]


class CFlameOptions(Structure):
    _fields_ = [("size", c_size_t), ("root", c_int), ("weight", c_int), ("event_frame", c_bool), ("reverse", c_bool), ("inverted", c_bool),
                ("slices", c_bool), ("plain_names", c_bool), ("without_arguments", c_bool), ("mark_kernel", c_bool), ("mark_jit", c_bool),
                ("mark_inlined", c_bool), ("join_blanks", c_bool), ("max_stack", c_uint32), ("threads", c_size_t),
                ("percent_limit", c_double), ("name", c_char_p), ("title", c_char_p), ("wanted", c_void_p), ("self", c_void_p),
                ("one_event", c_void_p)]


class CFlameNode(Structure):
    _fields_ = [("name", c_char_p), ("object", c_char_p), ("kind", c_char_p), ("depth", c_uint32), ("total", c_uint64)]


class CFlameSummary(Structure):
    _fields_ = [("samples", c_uint64), ("samples_in_file", c_uint64), ("cut", c_uint64), ("damaged", c_uint64), ("unknown", c_uint64),
                ("copied", c_uint64), ("wrong_lines", c_uint64), ("unit", c_char_p)]


class CGraph(Structure):
    _fields_ = [("kind", c_int), ("value", c_int), ("least_percent", c_double), ("max_lines", c_uint64), ("caller", c_bool),
                ("order_given", c_bool), ("by_address", c_bool)]


class CReportOptions(Structure):
    _fields_ = [("size", c_size_t), ("view", c_int), ("sort", c_char_p), ("fields", c_char_p), ("no_children", c_bool),
                ("show_samples", c_bool), ("show_period", c_bool), ("show_levels", c_bool), ("no_empty_columns", c_bool),
                ("all_in_one_table", c_bool), ("no_groups", c_bool), ("relative", c_bool), ("hide_unresolved", c_bool),
                ("least_percent", c_double), ("max_stack", c_size_t), ("slice_ns", c_uint64), ("graph", CGraph), ("threads", c_uint32),
                ("choose", c_void_p), ("has_place", c_void_p), ("filter", c_void_p), ("by_dso", c_bool), ("only_comm", c_char_p),
                ("only_dso", c_char_p), ("only_symbol", c_char_p), ("progress", c_void_p), ("warn", c_void_p), ("self", c_void_p),
                ("symbol_part", c_char_p), ("socket", c_char_p)]


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
    "pd_symbols_place": (CPlace, [c_void_p, c_uint32, c_uint, CMoment, c_uint64]),
    "pd_symbols_lines": (c_size_t, [c_void_p, POINTER(CPlace), POINTER(CLine), c_size_t]),
    "pd_symbols_failed": (c_bool, [c_void_p]),
    "pd_place_name": (c_size_t, [POINTER(CPlace), c_char_p, c_size_t]),
    "pd_state_new": (c_int, [c_void_p, POINTER(c_void_p), POINTER(CError)]),
    "pd_state_free": (None, [c_void_p]),
    "pd_state_take": (c_int, [c_void_p, POINTER(CRecord), POINTER(CError)]),
    "pd_state_take_features": (c_int, [c_void_p, c_void_p, POINTER(CError)]),
    "pd_state_finalize": (c_int, [c_void_p, POINTER(CError)]),
    "pd_state_thread": (POINTER(CThread), [c_void_p, c_size_t]),
    "pd_state_find_thread": (POINTER(CThread), [c_void_p, c_uint32, CMoment]),
    "pd_state_thread_names": (CList, [c_void_p, POINTER(CThread)]),
    "pd_state_mapping": (POINTER(CMapping), [c_void_p, c_size_t]),
    "pd_state_view": (None, [c_void_p, c_uint32, c_uint32, CMoment, POINTER(CView)]),
    "pd_state_locate": (c_bool, [c_void_p, c_uint32, c_uint, CMoment, c_uint64, POINTER(CLocation)]),
    "pd_table_set_new": (c_int, [c_void_p, POINTER(CTableOptions), POINTER(c_void_p), POINTER(CError)]),
    "pd_table_set_free": (None, [c_void_p]),
    "pd_table_choose_place": (None, [c_void_p, c_void_p]),
    "pd_table_at": (POINTER(CTable), [c_void_p, c_size_t]),
    "pd_table_stack_text": (c_char_p, [c_void_p, c_uint64]),
    "pd_table_stream": (c_int, [c_void_p, POINTER(CTable), POINTER(CQuery), POINTER(Stream), POINTER(CError)]),
    "pd_table_stream_error": (c_int, [POINTER(Stream), POINTER(CError)]),
    "pd_sql_new": (c_int, [POINTER(c_void_p), c_size_t, POINTER(CSqlOptions), POINTER(c_void_p), POINTER(CError)]),
    "pd_sql_free": (None, [c_void_p]),
    "pd_sql_run": (c_int, [c_void_p, c_char_p, c_int, c_void_p, POINTER(CError)]),
    "pd_select_new": (c_int, [POINTER(CSelectOptions), POINTER(c_void_p), POINTER(CError)]),
    "pd_select_free": (None, [c_void_p]),
    "pd_select_ready": (c_int, [c_void_p, c_void_p, c_void_p, POINTER(CError)]),
    "pd_select_choose": (c_int, [c_void_p, c_void_p]),
    "pd_select_by_place": (c_bool, [c_void_p]),
    "pd_select_has_place": (c_bool, [c_void_p, c_void_p]),
    "pd_filter_new": (c_int, [c_char_p, POINTER(c_void_p), POINTER(CError)]),
    "pd_filter_free": (None, [c_void_p]),
    "pd_filter_asks": (c_uint32, [c_void_p]),
    "pd_filter_bind": (c_int, [c_void_p, c_void_p, c_bool, POINTER(CError)]),
    "pd_filter_takes": (c_bool, [c_void_p, POINTER(CRecord), POINTER(CFilterNames)]),
    "pd_profile_read": (c_int, [c_void_p, POINTER(CProfileOptions), POINTER(c_void_p), POINTER(CError)]),
    "pd_profile_free": (None, [c_void_p]),
    "pd_profile_state": (c_void_p, [c_void_p]),
    "pd_profile_name": (c_int, [c_void_p, c_void_p, POINTER(CError)]),
    "pd_flame_profile_options": (None, [POINTER(CFlameOptions), POINTER(CProfileOptions)]),
    "pd_flame_read": (c_int, [c_void_p, c_void_p, POINTER(CFlameOptions), POINTER(c_void_p), POINTER(CError)]),
    "pd_flame_free": (None, [c_void_p]),
    "pd_flame_summary": (None, [c_void_p, POINTER(CFlameSummary)]),
    "pd_flame_node": (c_bool, [c_void_p, c_size_t, POINTER(CFlameNode)]),
    "pd_flame_print_svg": (c_int, [c_void_p, c_double, c_double, c_void_p, POINTER(CError)]),
    "pd_report_new": (c_int, [c_void_p, POINTER(CReportOptions), POINTER(c_void_p), POINTER(CError)]),
    "pd_report_free": (None, [c_void_p]),
    "pd_report_select": (None, [POINTER(CReportOptions), c_void_p]),
    "pd_report_ask": (None, [c_void_p, POINTER(CProfileOptions)]),
    "pd_report_build": (c_int, [c_void_p, c_void_p, c_void_p, c_void_p, POINTER(CError)]),
    "pd_report_json": (c_int, [c_void_p, c_void_p, POINTER(CError)]),
    "pd_file_open_pull": (c_int, [PULL, c_void_p, c_char_p, POINTER(COpenOptions), POINTER(c_void_p), POINTER(CError)]),
    "pd_file_open_fd": (c_int, [c_int, POINTER(COpenOptions), POINTER(c_void_p), POINTER(CError)]),
    "pd_file_event": (POINTER(CEvent), [c_void_p, c_size_t]),
    "pd_stream_open": (c_int, [c_void_p, POINTER(CStreamOptions), POINTER(c_void_p), POINTER(CError)]),
    "pd_stream_close": (None, [c_void_p]),
    "pd_stream_pass": (c_uint64, [c_void_p]),
    "pd_stream_next": (c_int, [c_void_p, POINTER(POINTER(CRecord)), POINTER(CError)]),
    "pd_file_header": (POINTER(CHeader), [c_void_p]),
    "pd_trace_new": (c_int, [c_void_p, c_void_p, POINTER(c_void_p), POINTER(CError)]),
    "pd_trace_free": (None, [c_void_p]),
    "pd_trace_field_at": (c_bool, [c_void_p, POINTER(CEvent), c_size_t, POINTER(CTraceField)]),
    "pd_trace_value_name_at": (c_bool, [c_void_p, POINTER(CEvent), c_size_t, POINTER(CTraceValueName)]),
    "pd_print_data_src": (None, [c_void_p, c_uint64]),
    "pd_record_decode": (c_int, [POINTER(CRecord), POINTER(c_void_p), POINTER(CError)]),
    "pd_record_name": (c_char_p, [c_uint32]),
    "pd_record_thread": (None, [POINTER(CRecord), POINTER(CThreadId)]),
    "pd_record_layout": (c_void_p, [c_uint32]),
    "pd_record_group": (c_int, [c_uint32]),
    "pd_record_type_by_name": (c_bool, [c_char_p, POINTER(c_uint32)]),
    "pd_json_record": (None, [c_void_p, POINTER(CRecord)]),
    "pd_json_layout": (None, [c_void_p, c_void_p, c_void_p, c_void_p]),
    "pd_feature_name": (c_char_p, [c_uint32]),
    "pd_feature_layout": (c_void_p, [c_uint32]),
    "pd_layout_by_name": (c_void_p, [c_char_p]),
    "pd_layout_name": (c_char_p, [c_void_p]),
    "pd_layout_struct_size": (c_size_t, [c_void_p]),
    "pd_layout_field_count": (c_size_t, [c_void_p]),
    "pd_layout_field": (c_void_p, [c_void_p, c_size_t]),
    "pd_field_name": (c_char_p, [c_void_p]),
    "pd_field_offset": (c_size_t, [c_void_p]),
    "pd_field_c": (c_size_t, [c_void_p, c_char_p, c_size_t]),
    "pd_field_part": (c_void_p, [c_void_p]),
    "pd_writer_open": (c_int, [c_char_p, POINTER(CWriterOptions), POINTER(c_void_p), POINTER(CError)]),
    "pd_writer_change": (c_int, [c_void_p, POINTER(CChanges), POINTER(CError)]),
    "pd_writer_copy_metadata": (c_int, [c_void_p, c_void_p, POINTER(CError)]),
    "pd_writer_add": (c_int, [c_void_p, c_uint32, c_uint16, c_void_p, c_size_t, POINTER(CError)]),
    "pd_writer_pass": (c_int, [c_void_p, c_void_p, POINTER(CRecord), POINTER(CError)]),
    "pd_writer_pass_changed": (c_int, [c_void_p, c_void_p, POINTER(CRecord), c_uint16, c_void_p, POINTER(CError)]),
    "pd_writer_finish": (c_int, [c_void_p, POINTER(CError)]),
    "pd_writer_abort": (None, [c_void_p]),
    "pd_text_clear": (None, [c_void_p]),
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
