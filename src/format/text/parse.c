/* SPDX-License-Identifier: MIT */
#include "format/text/parse.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

struct pd_parser pd_parser(const char *text, size_t size, struct pd_arena *arena)
{
	return (struct pd_parser){ .start = text, .at = text, .end = size ? text + size : text, .scope.arena = arena };
}

void pd_parse_fail(struct pd_parser *p, const char *at, const char *format, ...)
{
	va_list args;

	if (p->failed_at)
		return;
	p->failed_at = at;
	p->status = PD_ERROR_FORMAT;
	va_start(args, format);
	vsnprintf(p->reason, sizeof(p->reason), format, args);
	va_end(args);
	p->at = p->end;
}

void *pd_parse_memory(struct pd_parser *p, size_t size)
{
	void *memory = pd_arena_alloc(p->scope.arena, size);

	if (!memory && !p->failed_at) {
		pd_parse_fail(p, p->at, "no memory");
		p->status = PD_ERROR_MEMORY;
	}
	return memory;
}

// ---- characters and words ----

bool pd_parse_more(struct pd_parser *p)
{
	while (p->at < p->end) {
		char c = *p->at;

		if (c == '#') {
			const char *line_end = memchr(p->at, '\n', (size_t)(p->end - p->at));

			p->at = line_end ? line_end : p->end;
		} else if (c == ' ' || c == '\n' || c == '\t' || c == ',' || c == '\r') {
			p->at++;
		} else {
			return true;
		}
	}
	return false;
}

bool pd_parse_take(struct pd_parser *p, char c)
{
	if (!pd_parse_more(p) || *p->at != c)
		return false;
	p->at++;
	return true;
}

void pd_parse_want(struct pd_parser *p, char c)
{
	if (pd_parse_take(p, c))
		return;
	if (p->at == p->end)
		pd_parse_fail(p, p->at, "'%c' is missing", c);
	else
		pd_parse_fail(p, p->at, "expected '%c'", c);
}

static bool is_alpha(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

size_t pd_parse_word_length(const struct pd_parser *p)
{
	const char *at = p->at;

	if (at == p->end || !is_alpha(*at))
		return 0;
	while (at < p->end && (is_alpha(*at) || is_digit(*at) || *at == '-' || *at == '.'))
		at++;
	return (size_t)(at - p->at);
}

void pd_parse_word(struct pd_parser *p, char *word, size_t size)
{
	size_t length;

	pd_parse_more(p);
	length = pd_parse_word_length(p);
	snprintf(word, size, "%.*s", length < size ? (int)length : (int)size - 1, p->at);
	p->at += length;
}

bool pd_parse_key(struct pd_parser *p, const char *key)
{
	size_t length = strlen(key);

	if (!pd_parse_more(p) || (size_t)(p->end - p->at) <= length || memcmp(p->at, key, length) != 0 ||
	    p->at[length] != ':')
		return false;
	p->at += length + 1;
	return true;
}

// ---- texts and bytes ----

static int hex_digit(char c)
{
	return is_digit(c) ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

// Where a quoted piece ends: at its second quote. NULL if it does not.
static const char *quote_end(const struct pd_parser *p, const char *at)
{
	for (at++; at < p->end && *at != '"' && *at != '\n'; at++)
		if (*at == '\\')
			at++;
	return at < p->end && *at == '"' ? at : NULL;
}

bool pd_parse_at_bytes(struct pd_parser *p)
{
	if (!pd_parse_more(p))
		return false;
	return *p->at == '"' || (*p->at == 'x' && p->end - p->at > 1 && p->at[1] == '"');
}

static size_t unescape(struct pd_parser *p, const char *from, const char *to, uint8_t *out)
{
	size_t size = 0;

	for (const char *at = from; at < to; at++) {
		int high, low;

		if (*at != '\\') {
			out[size++] = (uint8_t)*at;
			continue;
		}
		at++;
		switch (*at) {
		case 'n':
			out[size++] = '\n';
			break;
		case 't':
			out[size++] = '\t';
			break;
		case '"':
		case '\\':
			out[size++] = (uint8_t)*at;
			break;
		case 'x':
			high = to - at > 2 ? hex_digit(at[1]) : -1;
			low = to - at > 2 ? hex_digit(at[2]) : -1;
			if (high >= 0 && low >= 0) {
				out[size++] = (uint8_t)(high << 4 | low);
				at += 2;
				break;
			}
			// fall through
		default:
			pd_parse_fail(p, at - 1, "escapes are \\n, \\t, \\\", \\\\ and \\x with two digits");
			return 0;
		}
	}
	return size;
}

static size_t unhex(struct pd_parser *p, const char *from, const char *to, uint8_t *out)
{
	size_t size = 0;

	for (const char *at = from; at < to; at++) {
		int high, low;

		if (*at == ' ')
			continue;
		high = hex_digit(*at);
		low = to - at > 1 ? hex_digit(at[1]) : -1;
		if (high < 0 || low < 0) {
			pd_parse_fail(p, at, "expected two hexadecimal digits");
			return 0;
		}
		out[size++] = (uint8_t)(high << 4 | low);
		at++;
	}
	return size;
}

// Takes a piece; what it gives is no longer than itself.
static size_t take_piece(struct pd_parser *p, uint8_t *out)
{
	bool hex = *p->at == 'x';
	const char *begin = p->at + hex;
	const char *end = quote_end(p, begin);
	size_t size;

	if (!end) {
		pd_parse_fail(p, begin, "unterminated string");
		return 0;
	}
	size = hex ? unhex(p, begin + 1, end, out) : unescape(p, begin + 1, end, out);
	if (!p->failed_at)
		p->at = end + 1;
	return size;
}

// The most bytes that the pieces from here on take.
static size_t pieces_capacity(struct pd_parser *p)
{
	const char *before = p->at;
	size_t capacity = 1;

	while (pd_parse_at_bytes(p)) {
		const char *begin = p->at + (*p->at == 'x'), *end = quote_end(p, begin);

		if (!end)
			break;
		capacity += (size_t)(end - begin);
		p->at = end + 1;
	}
	p->at = before;
	return capacity;
}

struct pd_bytes pd_parse_bytes(struct pd_parser *p)
{
	struct pd_bytes bytes = { NULL, 0 };
	uint8_t *out;

	if (!pd_parse_at_bytes(p)) {
		pd_parse_fail(p, p->at, "expected a quoted string or bytes like x\"0a\"");
		return bytes;
	}
	out = pd_parse_memory(p, pieces_capacity(p));
	while (out && !p->failed_at && pd_parse_at_bytes(p))
		bytes.size += take_piece(p, out + bytes.size);
	bytes.data = out;
	return p->failed_at ? (struct pd_bytes){ NULL, 0 } : bytes;
}

struct pd_bytes pd_parse_quoted(struct pd_parser *p)
{
	struct pd_bytes bytes = { NULL, 0 };
	const char *begin;

	if (!pd_parse_more(p) || *p->at != '"') {
		pd_parse_fail(p, p->at, "expected a quoted string");
		return bytes;
	}
	begin = p->at;
	bytes = pd_parse_bytes(p);
	if (bytes.size && memchr(bytes.data, 0, bytes.size))
		pd_parse_fail(p, begin, "a string cannot contain NUL");
	return bytes;
}

const char *pd_parse_text(struct pd_parser *p)
{
	struct pd_bytes bytes = pd_parse_quoted(p);

	// memory is zeroed, and there was room for a quote
	return p->failed_at ? "" : (const char *)bytes.data;
}

// ---- numbers ----

static uint64_t parse_digits(struct pd_parser *p, unsigned base)
{
	const char *begin = p->at;
	uint64_t value = 0;

	for (int digit; p->at < p->end && (digit = hex_digit(*p->at)) >= 0 && digit < (int)base; p->at++) {
		if (value > (UINT64_MAX - (unsigned)digit) / base) {
			pd_parse_fail(p, begin, "the number is too large");
			return 0;
		}
		value = value * base + (unsigned)digit;
	}
	if (p->at == begin)
		pd_parse_fail(p, begin, "expected a number");
	return value;
}

static uint64_t parse_unsigned(struct pd_parser *p)
{
	if (p->end - p->at > 2 && p->at[0] == '0' && (p->at[1] == 'x' || p->at[1] == 'X')) {
		p->at += 2;
		return parse_digits(p, 16);
	}
	return parse_digits(p, 10);
}

// What stands after a number ends it.
static void check_end(struct pd_parser *p)
{
	if (p->at < p->end && (is_alpha(*p->at) || is_digit(*p->at) || *p->at == '.' || *p->at == '"'))
		pd_parse_fail(p, p->at, "unexpected character in a number");
}

uint64_t pd_parse_u64(struct pd_parser *p, uint64_t most)
{
	const char *begin;
	uint64_t value;

	pd_parse_more(p);
	begin = p->at;
	value = parse_unsigned(p);
	check_end(p);
	if (value > most)
		pd_parse_fail(p, begin, "the number is too large, at most %" PRIu64 " fits", most);
	return p->failed_at ? 0 : value;
}

uint64_t pd_parse_sized(struct pd_parser *p, size_t size)
{
	uint64_t most = size >= 8 ? UINT64_MAX : (UINT64_C(1) << size * 8) - 1;
	const char *begin;
	uint64_t value;

	pd_parse_more(p);
	begin = p->at;
	if (!pd_parse_take(p, '-'))
		return pd_parse_u64(p, most);
	value = pd_parse_u64(p, UINT64_MAX);
	if (value > most / 2 + 1)
		pd_parse_fail(p, begin, "the number is too small");
	return (0 - value) & most;
}

uint64_t pd_parse_time(struct pd_parser *p)
{
	const char *begin;
	uint64_t value, part = 0;

	if (pd_parse_more(p) && pd_parse_word_length(p) == 4 && !memcmp(p->at, "none", 4)) {
		p->at += 4;
		return UINT64_MAX;
	}
	begin = p->at;
	value = parse_unsigned(p);
	if (p->at == p->end || *p->at != '.') {
		check_end(p);
		return value;
	}
	p->at++;
	for (unsigned i = 0; i < 9; i++) {
		bool more = p->at < p->end && is_digit(*p->at);

		part = part * 10 + (more ? (unsigned)(*p->at - '0') : 0);
		p->at += more;
	}
	check_end(p);
	if (value > (UINT64_MAX - part) / 1000000000)
		pd_parse_fail(p, begin, "the time is too large");
	return value * 1000000000 + part;
}

double pd_parse_f64(struct pd_parser *p)
{
	char number[64];
	size_t length = 0;
	double value = 0;
	uint64_t bits;
	char *end;

	pd_parse_more(p);
	if (p->end - p->at > 2 && p->at[0] == '0' && p->at[1] == 'x') {
		bits = parse_unsigned(p);
		memcpy(&value, &bits, sizeof(value));
		return value;
	}
	while (p->at + length < p->end && length < sizeof(number) - 1 &&
	       (is_digit(p->at[length]) || strchr("+-.eE", p->at[length])) && p->at[length])
		length++;
	memcpy(number, p->at, length);
	number[length] = '\0';
	value = strtod(number, &end);
	if (!length || *end)
		pd_parse_fail(p, p->at, "expected a number");
	else
		p->at += length;
	return value;
}

// ---- names ----

// A name of a value or bit: a word, or a text in quotes. False if none is next.
static bool parse_name(struct pd_parser *p, char *name, size_t size)
{
	if (!pd_parse_more(p) || (*p->at != '"' && !is_alpha(*p->at)))
		return false;
	if (*p->at == '"')
		snprintf(name, size, "%s", pd_parse_text(p));
	else
		pd_parse_word(p, name, size);
	return true;
}

static void fail_name(struct pd_parser *p, const char *at, const char *name, const struct pd_names *names)
{
	struct pd_nearest nearest = { .word = name };

	for (size_t i = 0; i < names->count; i++)
		pd_nearest_try(&nearest, names->items[i].text);
	if (nearest.best)
		pd_parse_fail(p, at, "%s has no '%s', did you mean '%s'?", names->name, name, nearest.best);
	else
		pd_parse_fail(p, at, "%s has no '%s'", names->name, name);
}

static const struct pd_name *find_name(struct pd_parser *p, const struct pd_names *names, const char *at,
				       const char *name)
{
	for (size_t i = 0; i < names->count; i++)
		if (strcasecmp(names->items[i].text, name) == 0)
			return &names->items[i];
	fail_name(p, at, name, names);
	return NULL;
}

uint64_t pd_parse_value(struct pd_parser *p, const struct pd_names *names, size_t size)
{
	uint64_t most = size >= 8 ? UINT64_MAX : (UINT64_C(1) << size * 8) - 1;
	char name[PD_PARSE_WORD];
	const struct pd_name *found;
	const char *begin;

	pd_parse_more(p);
	begin = p->at;
	if (!parse_name(p, name, sizeof(name)))
		return pd_parse_sized(p, size);
	found = p->failed_at ? NULL : find_name(p, names, begin, name);
	return found ? (uint64_t)found->value & most : 0;
}

static uint64_t parse_bit(struct pd_parser *p, const struct pd_names *names)
{
	char name[PD_PARSE_WORD];
	const struct pd_name *found;
	const char *begin;
	uint64_t value, most;

	pd_parse_more(p);
	begin = p->at;
	if (!parse_name(p, name, sizeof(name)))
		return pd_parse_u64(p, UINT64_MAX);
	found = p->failed_at ? NULL : find_name(p, names, begin, name);
	if (!found)
		return 0;
	most = found->width >= 64 ? UINT64_MAX : (UINT64_C(1) << found->width) - 1;
	if (p->at == p->end || *p->at != '(') {
		if (found->width > 1)
			pd_parse_fail(p, p->at, "%s needs a value in parentheses", found->text);
		return UINT64_C(1) << found->value;
	}
	p->at++;
	begin = p->at;
	if (!found->values)
		value = pd_parse_u64(p, most);
	else if (found->values->bits)
		value = pd_parse_bits(p, found->values);
	else
		value = pd_parse_value(p, found->values, 8);
	if (value > most)
		pd_parse_fail(p, begin, "%s has only %u bits", found->text, found->width);
	pd_parse_want(p, ')');
	return p->failed_at ? 0 : value << found->value;
}

uint64_t pd_parse_bits(struct pd_parser *p, const struct pd_names *names)
{
	uint64_t word = 0;

	if (++p->depth > PD_PARSE_MOST_DEPTH)
		pd_parse_fail(p, p->at, "nested too deeply");
	do
		word |= parse_bit(p, names);
	while (!p->failed_at && pd_parse_take(p, '|'));
	p->depth--;
	return word;
}

static uint16_t misc_word(struct pd_parser *p, uint32_t type, const char *begin, const char *name)
{
	struct pd_nearest nearest = { .word = name };

	for (size_t i = 0; i < pd_names_cpumode.count; i++) {
		const struct pd_name *mode = &pd_names_cpumode.items[i];

		if (strcasecmp(mode->text, name) == 0)
			return (uint16_t)mode->value;
		pd_nearest_try(&nearest, mode->text);
	}
	for (unsigned bit = 12; bit < 16; bit++) {
		const char *text = bit == 12 ? "PROC_MAP_PARSE_TIMEOUT" : pd_misc_bit_name(type, bit);

		if (!text)
			continue;
		if (strcasecmp(text, name) == 0)
			return (uint16_t)(1u << bit);
		pd_nearest_try(&nearest, text);
	}
	if (nearest.best)
		pd_parse_fail(p, begin, "misc of this record has no '%s', did you mean '%s'?", name, nearest.best);
	else
		pd_parse_fail(p, begin, "misc of this record has no '%s'", name);
	return 0;
}

uint16_t pd_parse_misc(struct pd_parser *p, uint32_t type)
{
	char name[PD_PARSE_WORD];
	uint16_t misc = 0;

	do {
		const char *begin;

		pd_parse_more(p);
		begin = p->at;
		if (parse_name(p, name, sizeof(name)))
			misc |= misc_word(p, type, begin, name);
		else
			misc |= (uint16_t)pd_parse_u64(p, UINT16_MAX);
	} while (!p->failed_at && pd_parse_take(p, '|'));
	return misc;
}
