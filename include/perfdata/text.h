/* SPDX-License-Identifier: MIT */
/**
 * text.h - a growing buffer of text, which everything that prints fills.
 *
 * Example:
 *
 *	pd_text_printf(text, "%d records", 3);
 *	fwrite(pd_text_bytes(text).data, 1, pd_text_bytes(text).size, stdout);
 */
#ifndef PERFDATA_TEXT_H
#define PERFDATA_TEXT_H

#include <perfdata/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A growing text buffer. */
struct pd_text;
/** An empty text, or NULL if memory ran out. */
PD_API struct pd_text *pd_text_new(void);
PD_API void pd_text_free(struct pd_text *text);
/** Removes the contents. */
PD_API void pd_text_clear(struct pd_text *text);
/** The contents; valid until the next call with this text. Not NUL-terminated. */
PD_API struct pd_bytes pd_text_bytes(const struct pd_text *text);
/** True if memory ran out; the text is then incomplete. */
PD_API bool pd_text_failed(const struct pd_text *text);
/** Writes the contents away and clears the text; false if that failed. */
typedef bool pd_text_sink_fn(void *self, struct pd_text *text);
/** Where text goes that is too large to be kept: functions that print much call sink now and then, in the thread that prints.
 * The contents left at the end are the caller's to write. sink NULL: all text is kept. */
PD_API void pd_text_set_sink(struct pd_text *text, pd_text_sink_fn *sink, void *self);
/** Calls the sink if the text has become large. False if the sink or memory failed: stop printing then. */
PD_API bool pd_text_flush_large(struct pd_text *text);
/** Adds a string, or text with a format as printf has it. */
PD_API void pd_text_add(struct pd_text *text, const char *string);
PD_API void pd_text_printf(struct pd_text *text, const char *format, ...) PD_PRINTF(2, 3);
/** A whole string as a number, decimal or hexadecimal with 0x; false if it is none. */
PD_API bool pd_number_parse(const char *string, uint64_t *value_out);
/** Adds a quoted JSON string; invalid UTF-8 becomes U+FFFD, control characters and direction overrides become \uNNNN. */
PD_API void pd_text_json_string(struct pd_text *text, const char *string, size_t length);
/** Size in bytes of the first character of a string if it is harmless to print; 0 if it is a control character, a direction
 * override or invalid UTF-8. */
PD_API size_t pd_text_plain(const char *string, size_t length);
/** Adds bytes with what pd_text_plain rejects escaped as \xNN. */
PD_API void pd_text_escaped(struct pd_text *text, const char *string, size_t length);
/** "512 bytes", "9.8 KiB", "1.2 GiB". Returns string. */
PD_API const char *pd_size_string(uint64_t bytes, char string[32]);

/** Adds lines that end at the edge of a screen of so many columns: what is behind it is left out, but for colours. *column is where the
 * first of them goes on, 0 at first, and becomes where the last one ends. */
PD_API void pd_text_clipped(struct pd_text *text, struct pd_bytes lines, unsigned columns, unsigned *column);
/** Adds words, so that lines end before a width, and begin after an indent; an empty line parts paragraphs. column: where the first
 * one begins. Ends the last line. */
PD_API void pd_text_wrapped(struct pd_text *text, const char *words, size_t width, size_t column, size_t indent);

#ifdef __cplusplus
}
#endif
#endif
