/* SPDX-License-Identifier: MIT */
/* Lines and hex numbers of text that may be hostile: nothing is read past the end, and no NUL is needed there. */
#ifndef PD_OBJECT_SYMBOLS_SCAN_H
#define PD_OBJECT_SYMBOLS_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct pd_scan {
	const char *at;
	const char *end;
};

/** Takes the next line of a text, without its end; false if there is none. */
static inline bool pd_scan_line(struct pd_scan *text, struct pd_scan *line_out)
{
	const char *end;

	if (text->at == text->end)
		return false;
	end = memchr(text->at, '\n', (size_t)(text->end - text->at));
	line_out->at = text->at;
	line_out->end = end ? end : text->end;
	text->at = end ? end + 1 : text->end;
	if (line_out->end > line_out->at && line_out->end[-1] == '\r')
		line_out->end--;
	return true;
}

static inline bool pd_scan_is_blank(const struct pd_scan *s)
{
	return s->at < s->end && (*s->at == ' ' || *s->at == '\t');
}

/** Steps over spaces and tabs; false if there are none. */
static inline bool pd_scan_blanks(struct pd_scan *s)
{
	if (!pd_scan_is_blank(s))
		return false;
	while (pd_scan_is_blank(s))
		s->at++;
	return true;
}

static inline int pd_scan_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

/** Takes a hex number of 1 to 16 digits, with or without 0x; false if there is none. */
static inline bool pd_scan_hex(struct pd_scan *s, uint64_t *value_out)
{
	uint64_t value = 0;
	size_t digits = 0;

	if (s->end - s->at > 2 && s->at[0] == '0' && (s->at[1] == 'x' || s->at[1] == 'X'))
		s->at += 2;
	for (; s->at < s->end && pd_scan_digit(*s->at) >= 0; s->at++, digits++)
		value = value << 4 | (uint64_t)pd_scan_digit(*s->at);
	*value_out = value;
	return digits > 0 && digits <= 16;
}

/** The length of what is left, up to a NUL. */
static inline size_t pd_scan_rest(const struct pd_scan *s)
{
	return strnlen(s->at, (size_t)(s->end - s->at));
}

#endif
