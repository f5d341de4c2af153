/* SPDX-License-Identifier: MIT */
/* Lines that end at the edge of a screen: cut, or broken between words. */
#include <string.h>

#include "base/text/text.h"

// ---- cut ----

// An escape sequence of colours: ESC [ ... m
static size_t sequence_length(const char *at, const char *end)
{
	const char *m = at + 1 < end && at[0] == '\033' && at[1] == '[' ? memchr(at, 'm', (size_t)(end - at)) : NULL;

	return m ? (size_t)(m - at) + 1 : 0;
}

// How many bytes of a line fit. Characters count, not their bytes.
static size_t fitting_length(const char *text, size_t length, unsigned columns, unsigned *column)
{
	const char *at = text, *end = text + length;

	while (at < end) {
		size_t sequence = sequence_length(at, end);

		if (!sequence && ((unsigned char)*at & 0xc0) != 0x80 && ++*column > columns)
			break;
		at += sequence ? sequence : 1;
	}
	return (size_t)(at - text);
}

// After the edge only sequences count: they may take a colour back.
static void add_sequences(struct pd_text *text, const char *at, const char *end)
{
	while (at < end && (at = memchr(at, '\033', (size_t)(end - at))) != NULL) {
		size_t length = sequence_length(at, end);

		pd_text_put(text, at, length);
		at += length ? length : 1;
	}
}

void pd_text_clipped(struct pd_text *text, struct pd_bytes lines, unsigned columns, unsigned *column)
{
	const char *at = (const char *)lines.data, *end = lines.size ? at + lines.size : at;

	while (at < end) {
		const char *line_end = memchr(at, '\n', (size_t)(end - at));
		size_t length = (size_t)((line_end ? line_end : end) - at);
		size_t fits = fitting_length(at, length, columns, column);

		pd_text_put(text, at, fits);
		add_sequences(text, at + fits, at + length);
		if (line_end) {
			pd_text_char(text, '\n');
			*column = 0;
		}
		at += length + (line_end != NULL);
	}
}

// ---- broken ----

void pd_text_wrapped(struct pd_text *text, const char *words, size_t width, size_t column, size_t indent)
{
	while (*words) {
		size_t length = strcspn(words, " \n");
		size_t blanks = strspn(words + length, " \n");
		bool paragraph = words[length] == '\n';

		pd_text_put(text, words, length);
		column += length;
		words += length + blanks;
		if (!*words)
			break;
		if (paragraph || column + 1 + strcspn(words, " \n") > width) {
			pd_text_printf(text, "%s%*s", paragraph ? "\n\n" : "\n", (int)indent, "");
			column = indent;
		} else {
			pd_text_char(text, ' ');
			column++;
		}
	}
	pd_text_char(text, '\n');
}
