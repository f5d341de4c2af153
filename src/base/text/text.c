/* SPDX-License-Identifier: MIT */
#include "base/text/text.h"

#include <math.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <perfdata/text.h>

#include "base/error.h"
#include "base/memory.h"

struct pd_text *pd_text_new(void)
{
	// several threads write, each a text of its own
	return pd_alloc_padded(sizeof(struct pd_text));
}

void pd_text_free(struct pd_text *text)
{
	if (!text)
		return;
	pd_free(text->data);
	pd_free(text);
}

void pd_text_clear(struct pd_text *text)
{
	text->size = 0;
}

struct pd_bytes pd_text_bytes(const struct pd_text *text)
{
	return (struct pd_bytes){ .data = (const uint8_t *)text->data, .size = text->size };
}

bool pd_text_failed(const struct pd_text *text)
{
	return text->failed;
}

void pd_text_set_sink(struct pd_text *text, pd_text_sink_fn *sink, void *self)
{
	text->sink = sink;
	text->sink_self = self;
	text->sink_failed = false;
}

enum {
	PASSED = 1 << 16,
	LARGE = 1 << 17
};

static void flush_text(struct pd_text *text)
{
	if (!text->sink_failed)
		text->sink_failed = !text->sink(text->sink_self, text);
}

void pd_text_pass(struct pd_text *text, char **data, size_t capacity, size_t size)
{
	char *given = *data;

	if (text->sink && text->size && size >= PASSED)
		flush_text(text);
	if (!text->sink || text->size || size < PASSED ||
	    (text->capacity < capacity && !pd_text_reserve(text, capacity))) {
		pd_text_put(text, given, size);
		return;
	}
	*data = text->data;
	text->data = given;
	text->capacity = capacity;
	text->size = size;
	flush_text(text);
}

bool pd_text_flush(struct pd_text *text)
{
	if (text->sink && text->size)
		flush_text(text);
	return !text->sink_failed && !text->failed;
}

bool pd_text_flush_large(struct pd_text *text)
{
	if (text->sink && (text->size >= LARGE || text->failed))
		flush_text(text);
	return !text->sink_failed && !text->failed;
}

enum pd_status pd_text_flush_or_fail(struct pd_text *text, struct pd_error *error)
{
	if (pd_text_flush_large(text))
		return PD_OK;
	return text->sink_failed ? pd_fail(error, PD_ERROR_OUTPUT, PD_NO_OFFSET, "the output cannot be written") :
				   pd_fail_memory(error);
}

bool pd_text_reserve(struct pd_text *text, size_t size)
{
	if (size > SIZE_MAX - text->size || !pd_grow((void **)&text->data, &text->capacity, text->size + size, 1)) {
		text->failed = true;
		return false;
	}
	return true;
}

void pd_text_add(struct pd_text *text, const char *string)
{
	pd_text_put(text, string, strlen(string));
}

void pd_text_printf(struct pd_text *text, const char *format, ...)
{
	enum {
		USUAL = 128
	};
	va_list args;
	int size;

	if (!pd_text_reserve(text, USUAL))
		return;
	va_start(args, format);
	size = vsnprintf(text->data + text->size, text->capacity - text->size, format, args);
	va_end(args);
	if (size >= 0 && (size_t)size >= text->capacity - text->size) {
		if (!pd_text_reserve(text, (size_t)size + 1))
			return;
		va_start(args, format);
		vsnprintf(text->data + text->size, (size_t)size + 1, format, args);
		va_end(args);
	}
	if (size < 0)
		text->failed = true;
	else
		text->size += (size_t)size;
}

static const char hex_digits[] = "0123456789abcdef";

// The eight last digits at once, the first of them in the low byte: each step divides all numbers of a word into halves.
static uint64_t eight_digits(uint32_t value)
{
	uint64_t fours = value / 10000 | (uint64_t)(value % 10000) << 32;
	uint64_t upper = fours * 10486 >> 20 & UINT64_C(0x0000007f0000007f); // a hundredth
	uint64_t twos = upper | (fours - upper * 100) << 16;

	upper = twos * 103 >> 10 & UINT64_C(0x000f000f000f000f); // a tenth
	return upper | (twos - upper * 10) << 8;
}

static void put_eight(char *to, uint64_t digits)
{
	digits += UINT64_C(0x3030303030303030);
	for (unsigned i = 0; i < 8; i++)
		to[i] = (char)(digits >> 8 * i);
}

// As many as are needed, in front of others that mean nothing. value is less than 10^8.
static size_t put_digits(char *to, uint32_t value)
{
	uint64_t digits = eight_digits(value);
	size_t zeros = digits ? (size_t)__builtin_ctzll(digits) / 8 : 7;

	put_eight(to, digits >> 8 * zeros);
	return 8 - zeros;
}

// A program may have chosen a locale with another point.
static void put_point(char *number)
{
	char *point = number + strspn(number, "-0123456789");
	size_t length = strcspn(point, "0123456789e");

	if (!length)
		return;
	memmove(point + 1, point + length, strlen(point + length) + 1);
	*point = '.';
}

void pd_text_double(struct pd_text *text, double value)
{
	enum {
		SURE = 17 // digits are always enough
	};
	char number[32];
	int digits = 15;

	do
		snprintf(number, sizeof(number), "%.*g", digits, value);
	while (digits++ < SURE && strtod(number, NULL) != value);
	if (isfinite(value))
		put_point(number);
	pd_text_add(text, number);
}

void pd_text_u64(struct pd_text *text, uint64_t value)
{
	enum {
		EIGHT = 100000000,
		MOST = 24 // three times eight
	};
	char *to;

	if (text->capacity - text->size < MOST && !pd_text_reserve(text, MOST))
		return;
	to = text->data + text->size;
	if (value < EIGHT) {
		to += put_digits(to, (uint32_t)value);
	} else {
		uint64_t before = value / EIGHT;

		if (before < EIGHT) {
			to += put_digits(to, (uint32_t)before);
		} else {
			to += put_digits(to, (uint32_t)(before / EIGHT));
			put_eight(to, eight_digits((uint32_t)(before % EIGHT)));
			to += 8;
		}
		put_eight(to, eight_digits((uint32_t)(value % EIGHT)));
		to += 8;
	}
	text->size = (size_t)(to - text->data);
}

static void put_spaces(struct pd_text *text, size_t count)
{
	if (text->capacity - text->size < count && !pd_text_reserve(text, count))
		return;
	if (count)
		memset(text->data + text->size, ' ', count);
	text->size += count;
}

void pd_text_right(struct pd_text *text, const char *string, size_t width)
{
	size_t length = strlen(string);

	put_spaces(text, length < width ? width - length : 0);
	pd_text_put(text, string, length);
}

void pd_text_left(struct pd_text *text, const char *string, size_t width)
{
	size_t length = strlen(string);

	pd_text_put(text, string, length);
	put_spaces(text, length < width ? width - length : 0);
}

void pd_text_number(struct pd_text *text, uint64_t value, unsigned width)
{
	unsigned digits = 1;

	for (uint64_t left = value; left >= 10; left /= 10)
		digits++;
	put_spaces(text, digits < width ? width - digits : 0);
	pd_text_u64(text, value);
}

void pd_text_fixed(struct pd_text *text, double value, unsigned width, unsigned decimals)
{
	static const unsigned powers[] = { 1, 10, 100, 1000, 10000, 100000, 1000000 };
	double scaled = value * powers[decimals], rest;
	uint64_t number;
	unsigned after;

	// what is near to the middle between two numbers is left to those who know all bits of the value
	if (!(scaled >= 0 && scaled < 1e12)) {
		pd_text_printf(text, "%*.*f", (int)width, (int)decimals, value);
		return;
	}
	number = (uint64_t)scaled;
	rest = scaled - (double)number;
	if ((rest > 0.499 && rest < 0.501) || (value == 0 && signbit(value))) {
		pd_text_printf(text, "%*.*f", (int)width, (int)decimals, value);
		return;
	}
	number += rest > 0.5;
	after = decimals ? decimals + 1 : 0;
	pd_text_number(text, number / powers[decimals], width > after ? width - after : 0);
	if (!decimals)
		return;
	pd_text_char(text, '.');
	pd_text_digits(text, number % powers[decimals], decimals);
}

void pd_text_digits(struct pd_text *text, uint64_t value, unsigned count)
{
	char digits[20];

	for (unsigned i = count; i--; value /= 10)
		digits[i] = (char)('0' + value % 10);
	pd_text_put(text, digits, count);
}

void pd_text_s64(struct pd_text *text, int64_t value)
{
	if (value < 0) {
		pd_text_char(text, '-');
		pd_text_u64(text, 0 - (uint64_t)value);
	} else {
		pd_text_u64(text, (uint64_t)value);
	}
}

// Eight digits at once: each half byte gets a byte, and those from 10 on are a to f.
static void put_half(char *digits, uint32_t value)
{
	const uint64_t ones = UINT64_C(0x0101010101010101);
	uint64_t wide = value, high;

	wide = (wide | wide << 16) & UINT64_C(0x0000ffff0000ffff);
	wide = (wide | wide << 8) & UINT64_C(0x00ff00ff00ff00ff);
	wide = (wide | wide << 4) & (ones * 15);
	high = (wide + ones * 6) >> 4 & ones;
	wide += ones * '0' + high * ('a' - '0' - 10);
	for (unsigned i = 0; i < 8; i++)
		digits[i] = (char)(wide >> (56 - 8 * i));
}

size_t pd_hex_digits(uint64_t value, char digits[16])
{
	size_t count = value ? (67 - (size_t)__builtin_clzll(value)) / 4 : 1;

	// the first of them comes first
	value <<= 64 - 4 * count;
	put_half(digits, (uint32_t)(value >> 32));
	put_half(digits + 8, (uint32_t)value);
	return count;
}

void pd_text_hex(struct pd_text *text, uint64_t value)
{
	enum {
		MOST = 18
	};

	if (text->capacity - text->size < MOST && !pd_text_reserve(text, MOST))
		return;
	memcpy(text->data + text->size, "0x", 2);
	text->size += 2 + pd_hex_digits(value, text->data + text->size + 2);
}

void pd_text_hex_bytes(struct pd_text *text, const uint8_t *data, size_t size)
{
	if (size > SIZE_MAX / 2 || (text->capacity - text->size < size * 2 && !pd_text_reserve(text, size * 2)))
		return;
	for (size_t i = 0; i < size; i++) {
		text->data[text->size++] = hex_digits[data[i] >> 4];
		text->data[text->size++] = hex_digits[data[i] & 15];
	}
}

void pd_text_time(struct pd_text *text, uint64_t ns)
{
	uint32_t rest = (uint32_t)(ns % 1000000000);
	char digits[10] = ".";

	pd_text_u64(text, ns / 1000000000);
	for (unsigned i = 9; i > 0; i--) {
		digits[i] = (char)('0' + rest % 10);
		rest /= 10;
	}
	pd_text_put(text, digits, sizeof(digits));
}

void pd_text_indent(struct pd_text *text, unsigned steps)
{
	while (steps--)
		PD_TEXT_LITERAL(text, "  ");
}

// Length of the UTF-8 sequence at data, or 0 if it is none.
static size_t utf8_length(const uint8_t *data, size_t size)
{
	uint8_t c = data[0];
	size_t length = c < 0x80              ? 1 :
			c >= 0xc2 && c < 0xe0 ? 2 :
			c >= 0xe0 && c < 0xf0 ? 3 :
			c >= 0xf0 && c < 0xf5 ? 4 :
						0;

	if (!length || length > size)
		return 0;
	for (size_t i = 1; i < length; i++)
		if ((data[i] & 0xc0) != 0x80)
			return 0;
	// overlong forms, surrogates, past U+10FFFF
	if ((c == 0xe0 && data[1] < 0xa0) || (c == 0xed && data[1] >= 0xa0) || (c == 0xf0 && data[1] < 0x90) ||
	    (c == 0xf4 && data[1] >= 0x90))
		return 0;
	return length;
}

// U+200E, U+200F, U+202A to U+202E, U+2066 to U+2069: with them a name can look like another one.
static bool turns_text(const uint8_t *data)
{
	if (data[0] != 0xe2)
		return false;
	return data[1] == 0x80 ? data[2] == 0x8e || data[2] == 0x8f || (data[2] >= 0xaa && data[2] <= 0xae) :
				 data[1] == 0x81 && data[2] >= 0xa6 && data[2] <= 0xa9;
}

// Controls, also C1 ones (c2 80 to c2 9f).
static bool is_control(const uint8_t *data, size_t step)
{
	return data[0] < 0x20 || data[0] == 0x7f || (step == 2 && data[0] == 0xc2 && data[1] < 0xa0);
}

size_t pd_text_plain(const char *string, size_t length)
{
	const uint8_t *data = (const uint8_t *)string;
	size_t step = length ? utf8_length(data, length) : 0;

	return !step || is_control(data, step) || (step == 3 && turns_text(data)) ? 0 : step;
}

void pd_text_harmless(struct pd_text *text, const char *string)
{
	pd_text_harmless_bytes(text, string, strlen(string));
}

// How many bytes at the beginning are characters of ASCII that can be seen.
static size_t ascii_run(const char *string, size_t size)
{
	size_t i = 0;

	while (i < size && string[i] >= 0x20 && string[i] < 0x7f)
		i++;
	return i;
}

void pd_text_harmless_bytes(struct pd_text *text, const char *string, size_t size)
{
	for (size_t plain; size; string += plain, size -= plain) {
		plain = ascii_run(string, size);
		plain = plain ? plain : pd_text_plain(string, size);
		if (plain) {
			pd_text_put(text, string, plain);
		} else {
			PD_TEXT_LITERAL(text, "\xef\xbf\xbd");
			plain = 1;
		}
	}
}

void pd_text_escaped(struct pd_text *text, const char *string, size_t length)
{
	for (size_t i = 0; i < length;) {
		size_t step = pd_text_plain(string + i, length - i);

		if (step) {
			pd_text_put(text, string + i, step);
		} else {
			PD_TEXT_LITERAL(text, "\\x");
			pd_text_hex_bytes(text, (const uint8_t *)string + i, 1);
		}
		i += step ? step : 1;
	}
}

void pd_text_escaped_lines(struct pd_text *text, struct pd_bytes lines)
{
	const char *at = (const char *)lines.data, *end = at + lines.size;

	while (at < end) {
		const char *stop = at;

		while (stop < end && *stop != '\n' && *stop != '\t')
			stop++;
		pd_text_escaped(text, at, (size_t)(stop - at));
		if (stop < end)
			pd_text_char(text, *stop);
		at = stop + 1;
	}
}

void pd_text_html(struct pd_text *text, const char *string, size_t length)
{
	for (size_t i = 0; i < length;) {
		size_t step = pd_text_plain(string + i, length - i);
		char c = string[i];

		if (c == '<' || c == '>' || c == '&' || !step)
			pd_text_add(text, c == '<' ? "&lt;" : c == '>' ? "&gt;" : c == '&' ? "&amp;" : " ");
		else
			pd_text_put(text, string + i, step);
		i += step ? step : 1;
	}
}

// Of one that is not itself.
static void json_char(struct pd_text *text, uint8_t c)
{
	switch (c) {
	case '"':
		PD_TEXT_LITERAL(text, "\\\"");
		return;
	case '\\':
		PD_TEXT_LITERAL(text, "\\\\");
		return;
	case '\n':
		PD_TEXT_LITERAL(text, "\\n");
		return;
	case '\t':
		PD_TEXT_LITERAL(text, "\\t");
		return;
	default:
		PD_TEXT_LITERAL(text, "\\u00");
		pd_text_hex_bytes(text, &c, 1);
	}
}

// Of a character of two or three bytes.
static void json_escape(struct pd_text *text, const uint8_t *data, size_t step)
{
	unsigned code = step == 2 ? (data[0] & 0x1fu) << 6 | (data[1] & 0x3fu) :
				    (data[0] & 0xfu) << 12 | (data[1] & 0x3fu) << 6 | (data[2] & 0x3fu);
	const uint8_t bytes[2] = { (uint8_t)(code >> 8), (uint8_t)code };

	PD_TEXT_LITERAL(text, "\\u");
	pd_text_hex_bytes(text, bytes, 2);
}

static bool is_itself_in_json(uint8_t c)
{
	return c >= 0x20 && c < 0x7f && c != '"' && c != '\\';
}

// How many bytes at the beginning are themselves in JSON, mostly looked at by eight.
static size_t json_run(const uint8_t *data, size_t length)
{
	const uint64_t ones = UINT64_C(0x0101010101010101), highs = ones << 7;
	size_t i = 0;

	for (uint64_t word, bad; length - i >= sizeof(word); i += sizeof(word)) {
		memcpy(&word, data + i, sizeof(word));
		// what is below 0x20, from 0x7f on, a quotation mark or a backslash has the high bit then
		bad = word | (word + ones) | (word - ones * 0x20) | ((word ^ ones * '"') - ones) |
		      ((word ^ ones * '\\') - ones);
		if (bad & highs)
			break;
	}
	while (i < length && is_itself_in_json(data[i]))
		i++;
	return i;
}

void pd_text_json_string(struct pd_text *text, const char *string, size_t length)
{
	const uint8_t *data = (const uint8_t *)string;

	pd_text_char(text, '"');
	for (size_t i = 0; i < length;) {
		size_t run = json_run(data + i, length - i), step;

		pd_text_put(text, string + i, run);
		i += run;
		if (i == length)
			break;
		step = utf8_length(data + i, length - i);
		if (step == 1)
			json_char(text, data[i]);
		else if (step && !pd_text_plain(string + i, length - i))
			json_escape(text, data + i, step);
		else if (step)
			pd_text_put(text, string + i, step);
		else
			PD_TEXT_LITERAL(text, "\xef\xbf\xbd");
		i += step ? step : 1;
	}
	pd_text_char(text, '"');
}

const char *pd_size_string(uint64_t bytes, char string[32])
{
	static const char *const units[] = { "KiB", "MiB", "GiB", "TiB", "PiB", "EiB" };
	double value = (double)bytes / 1024;
	size_t unit = 0;

	if (bytes < 1024) {
		snprintf(string, 32, "%" PRIu64 " byte%s", bytes, bytes == 1 ? "" : "s");
		return string;
	}
	for (; value >= 1024 && unit + 1 < sizeof(units) / sizeof(units[0]); unit++)
		value /= 1024;
	snprintf(string, 32, "%.1f %s", value, units[unit]);
	return string;
}

void pd_text_grouped(struct pd_text *text, uint64_t number)
{
	char digits[24];
	size_t count = (size_t)snprintf(digits, sizeof(digits), "%" PRIu64, number);

	for (size_t i = 0; i < count; i++) {
		if (i && (count - i) % 3 == 0)
			pd_text_char(text, ',');
		pd_text_char(text, digits[i]);
	}
}
