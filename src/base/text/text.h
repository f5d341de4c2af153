/* SPDX-License-Identifier: MIT */
/* Text that grows; the inside of struct pd_text of text.h. Numbers are written without printf, because dumps
 * consist of them. */
#ifndef PD_BASE_TEXT_H
#define PD_BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <perfdata/text.h>

struct pd_text {
	char *data;
	size_t size;
	size_t capacity;
	bool failed;
	bool sink_failed;
	pd_text_sink_fn *sink; // or NULL
	void *sink_self;
};

// Reserves memory for size more bytes; false (and failed) if there is no memory.
bool pd_text_reserve(struct pd_text *text, size_t size);

static inline void pd_text_put(struct pd_text *text, const char *data, size_t size)
{
	// one byte more, so that there is memory for nothing as well
	if (text->capacity - text->size <= size && !pd_text_reserve(text, size + 1))
		return;
	// an empty text has no data
	if (size)
		memcpy(text->data + text->size, data, size);
	text->size += size;
}

// pd_text_flush_large, however little there is.
bool pd_text_flush(struct pd_text *text);
// pd_text_flush_large as a status. Errors: PD_ERROR_MEMORY; PD_ERROR_OUTPUT.
enum pd_status pd_text_flush_or_fail(struct pd_text *text, struct pd_error *error);

// Puts what is in memory of pd_alloc. If that is much it goes to the sink at once and is not copied: the memory may be another one
// then, of the same capacity.
void pd_text_pass(struct pd_text *text, char **data, size_t capacity, size_t size);

static inline void pd_text_char(struct pd_text *text, char c)
{
	if (text->capacity == text->size && !pd_text_reserve(text, 1))
		return;
	text->data[text->size++] = c;
}

#define PD_TEXT_LITERAL(text, literal) pd_text_put((text), "" literal, sizeof(literal) - 1)

// A string in which what pd_text_plain rejects is the replacement character: for formats whose strings are UTF-8.
void pd_text_harmless(struct pd_text *text, const char *string);
void pd_text_harmless_bytes(struct pd_text *text, const char *string, size_t size);
// Lines for a terminal: pd_text_escaped, but tabs and line ends stay. They are no part of the text itself.
void pd_text_escaped_lines(struct pd_text *text, struct pd_bytes lines);

void pd_text_u64(struct pd_text *text, uint64_t value);
// As few digits as it takes to read the same number again, with a point in every locale; inf and nan, too.
void pd_text_double(struct pd_text *text, double value);
void pd_text_s64(struct pd_text *text, int64_t value);
// The digits that are needed, in front of others that mean nothing; returns their number.
size_t pd_hex_digits(uint64_t value, char digits[16]);
// 0x and the digits that are needed.
void pd_text_hex(struct pd_text *text, uint64_t value);
void pd_text_hex_bytes(struct pd_text *text, const uint8_t *data, size_t size);
// Seconds with nine digits after the point.
void pd_text_time(struct pd_text *text, uint64_t ns);
void pd_text_indent(struct pd_text *text, unsigned steps);
// Between tags of HTML: no markup, and a blank for each control character and byte that is not UTF-8.
void pd_text_html(struct pd_text *text, const char *string, size_t length);
// "1,234,567"
void pd_text_grouped(struct pd_text *text, uint64_t number);
// As %*s, %-*s and %*PRIu64 print them.
void pd_text_right(struct pd_text *text, const char *string, size_t width);
void pd_text_left(struct pd_text *text, const char *string, size_t width);
void pd_text_number(struct pd_text *text, uint64_t value, unsigned width);
// As %*.*f; decimals is 6 at most.
void pd_text_fixed(struct pd_text *text, double value, unsigned width, unsigned decimals);
// The last digits of a number, with zeros in front: as %06u.
void pd_text_digits(struct pd_text *text, uint64_t value, unsigned count);

// What follows a count: "1 file", "2 files"; "1 was", "2 were".
static inline const char *pd_plural(uint64_t count)
{
	return count == 1 ? "" : "s";
}

static inline const char *pd_was_or_were(uint64_t count)
{
	return count == 1 ? "was" : "were";
}

#endif
