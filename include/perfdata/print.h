/* SPDX-License-Identifier: MIT */
/**
 * print.h - records and features as text and as JSON, from the table.
 */
#ifndef PERFDATA_PRINT_H
#define PERFDATA_PRINT_H

#include <perfdata/stream.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Text that grows. */
struct pd_text;
PD_API struct pd_text *pd_text_new(void); /* NULL if there is no memory */
PD_API void pd_text_free(struct pd_text *text);
PD_API void pd_text_clear(struct pd_text *text);
/** What was printed; valid until the next call with this text. Not ended by a NUL. */
PD_API struct pd_bytes pd_text_bytes(const struct pd_text *text);
/** True if memory ran out; the text then lacks its end. */
PD_API bool pd_text_failed(const struct pd_text *text);
PD_API void pd_text_add(struct pd_text *text, const char *string);
PD_API void pd_text_printf(struct pd_text *text, const char *format, ...) PD_PRINTF(2, 3);
/** A JSON string, quoted; bytes that are no UTF-8 become U+FFFD. */
PD_API void pd_text_json_string(struct pd_text *text, const char *string, size_t length);

/** A record in lines: one with offset, type, size, time and event, then one for each field.
 * Text from the file is escaped. */
PD_API void pd_print_record(struct pd_text *text, const struct pd_record *record);
/** A record as one JSON object without a line end: {"offset":...,"type":"MMAP2",...,"fields":{...}}. */
PD_API void pd_json_record(struct pd_text *text, const struct pd_record *record);
/** A decoded struct of a layout in lines, indented by indent steps. file gives register names; may be NULL. */
PD_API void pd_print_layout(struct pd_text *text, const struct pd_layout *layout,
			    const void *decoded, unsigned indent, struct pd_file *file);
/** A decoded struct of a layout as a JSON object. */
PD_API void pd_json_layout(struct pd_text *text, const struct pd_layout *layout,
			   const void *decoded, struct pd_file *file);
/** Bytes as lines of offset, hexadecimal and text. */
PD_API void pd_print_hex(struct pd_text *text, struct pd_bytes bytes, uint64_t offset);
/** Bytes with those that a terminal would obey written as \xNN. */
PD_API void pd_text_escaped(struct pd_text *text, const char *string, size_t length);

#ifdef __cplusplus
}
#endif
#endif
