/* SPDX-License-Identifier: MIT */
/**
 * print.h - prints records and features as text and JSON.
 *
 * Example:
 *
 *	while (pd_stream_next(stream, &record, &error) == PD_OK) {
 *		pd_print_record(text, record);
 *		pd_json_record(text, record);
 *	}
 */
#ifndef PERFDATA_PRINT_H
#define PERFDATA_PRINT_H

#include <perfdata/stream.h>
#include <perfdata/text.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Prints a record: a line with offset, type, size, time and event, then one line per field. Strings are escaped. */
PD_API void pd_print_record(struct pd_text *text, const struct pd_record *record);
/** Prints a record as a JSON object without a newline: {"offset":...,"type":"MMAP2",...,"fields":{...}}. */
PD_API void pd_json_record(struct pd_text *text, const struct pd_record *record);
/** The same with the bytes of the current record of a stream and those that follow it, as a hex dump; of more than 4096 that
 * follow, only the number. */
PD_API void pd_print_record_bytes(struct pd_text *text, struct pd_stream *stream, const struct pd_record *record);
/** The same with the members "bytes" and, up to 4096 of them, "tail". */
PD_API void pd_json_record_bytes(struct pd_text *text, struct pd_stream *stream, const struct pd_record *record);
/** Prints a decoded struct, indented by indent levels. file provides register names; may be NULL. */
PD_API void pd_print_layout(struct pd_text *text, const struct pd_layout *layout, const void *decoded, unsigned indent,
			    struct pd_file *file);
/** Prints a decoded struct as a JSON object. */
PD_API void pd_json_layout(struct pd_text *text, const struct pd_layout *layout, const void *decoded,
			   struct pd_file *file);
/** Prints a hex dump: offset, hexadecimal and ASCII. */
PD_API void pd_print_hex(struct pd_text *text, struct pd_bytes bytes, uint64_t offset);
/** Prints the parts of data_src of a sample with their names, as perf script (6.1) behind the number: "|OP LOAD|LVL L1 hit|...". */
PD_API void pd_print_data_src(struct pd_text *text, uint64_t data_src);

#ifdef __cplusplus
}
#endif
#endif
