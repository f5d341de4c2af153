/* SPDX-License-Identifier: MIT */
/**
 * print.h - prints records and features as text and JSON.
 */
#ifndef PERFDATA_PRINT_H
#define PERFDATA_PRINT_H

#include <perfdata/stream.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A growing text buffer. */
struct pd_text;
PD_API struct pd_text *pd_text_new(void); /* NULL: out of memory */
PD_API void pd_text_free(struct pd_text *text);
PD_API void pd_text_clear(struct pd_text *text);
/** The contents; valid until the next call with this text. Not NUL-terminated. */
PD_API struct pd_bytes pd_text_bytes(const struct pd_text *text);
/** True if memory ran out; the text is then incomplete. */
PD_API bool pd_text_failed(const struct pd_text *text);
PD_API void pd_text_add(struct pd_text *text, const char *string);
PD_API void pd_text_printf(struct pd_text *text, const char *format, ...) PD_PRINTF(2, 3);
/** Adds a quoted JSON string; invalid UTF-8 becomes U+FFFD, control characters and direction overrides become \uNNNN. */
PD_API void pd_text_json_string(struct pd_text *text, const char *string, size_t length);

/** Prints a record: a line with offset, type, size, time and event, then one line per field. Strings are escaped. */
PD_API void pd_print_record(struct pd_text *text, const struct pd_record *record);
/** Prints a record as a JSON object without a newline: {"offset":...,"type":"MMAP2",...,"fields":{...}}. */
PD_API void pd_json_record(struct pd_text *text, const struct pd_record *record);
/** Prints a decoded struct, indented by indent levels. file provides register names; may be NULL. */
PD_API void pd_print_layout(struct pd_text *text, const struct pd_layout *layout, const void *decoded, unsigned indent,
			    struct pd_file *file);
/** Prints a decoded struct as a JSON object. */
PD_API void pd_json_layout(struct pd_text *text, const struct pd_layout *layout, const void *decoded,
			   struct pd_file *file);
/** Prints a hex dump: offset, hexadecimal and ASCII. */
PD_API void pd_print_hex(struct pd_text *text, struct pd_bytes bytes, uint64_t offset);
/** Size in bytes of the first character of a string if it is harmless to print; 0 if it is a control character, a direction
 * override or invalid UTF-8. */
PD_API size_t pd_text_plain(const char *string, size_t length);
/** Adds bytes with what pd_text_plain rejects escaped as \xNN. */
PD_API void pd_text_escaped(struct pd_text *text, const char *string, size_t length);

#ifdef __cplusplus
}
#endif
#endif
