/* SPDX-License-Identifier: MIT */
/*
 * Numbers and strings for the lines of samples.
 */
#include "samples/line.h"

#include "base/cursor.h"
#include "base/memory.h"

#include <stdio.h>

enum {
	ADDR_SIZE = 16,
	DIGITS_MOST = 24 /* of a number with its sign, and of a width that is filled at once */
};

bool pd_line_init(struct pd_line_buffer *line)
{
	line->bytes = pd_alloc(PD_LINE_ALLOCATED);
	return line->bytes != NULL;
}

void pd_line_fini(struct pd_line_buffer *line)
{
	pd_free(line->bytes);
	line->bytes = NULL;
}

void pd_line_flush(struct pd_line_buffer *line)
{
	if (line->take)
		line->take(line->self, line);
	else
		pd_text_pass(line->text, &line->bytes, PD_LINE_ALLOCATED, line->used);
	line->used = 0;
	line->flushes++;
}

void pd_line_bytes(struct pd_line_buffer *line, const char *bytes, size_t size)
{
	while (size) {
		size_t part = size < PD_LINE_CAPACITY / 2 ? size : PD_LINE_CAPACITY / 2;

		if (line->used + part + PD_LINE_PIECE >= PD_LINE_CAPACITY)
			pd_line_flush(line);
		memcpy(line->bytes + line->used, bytes, part);
		line->used += part;
		bytes += part;
		size -= part;
	}
}

void pd_line_spaces(struct pd_line_buffer *line, size_t count)
{
	while (count) {
		size_t part = count < PD_LINE_PIECE ? count : PD_LINE_PIECE;

		memset(pd_line_piece(line), ' ', part);
		line->used += part;
		count -= part;
	}
}

static bool is_plain(const char *string, size_t length)
{
	for (size_t i = 0; i < length; i++) {
		unsigned char c = (unsigned char)string[i];

		if (c < 0x20 || c >= 0x7f || c == '\\')
			return false;
	}
	return true;
}

static void add_foreign(struct pd_line_buffer *line, const char *string, size_t length)
{
	if (line->escape && !is_plain(string, length)) {
		pd_line_flush(line);
		pd_text_escaped(line->text, string, length);
		return;
	}
	pd_line_bytes(line, string, length);
}

void pd_line_foreign(struct pd_line_buffer *line, const char *string, size_t width)
{
	size_t length = strlen(string);

	if (length < width)
		pd_line_spaces(line, width - length);
	add_foreign(line, string, length);
}

void pd_line_foreign_left(struct pd_line_buffer *line, const char *string, size_t width)
{
	size_t length = strlen(string);

	add_foreign(line, string, length);
	if (length < width)
		pd_line_spaces(line, width - length);
}

/* Adds count digits; DIGITS_MOST bytes can be read there. Copies and fills more than there is to, which is faster. */
static inline void add_digits(struct pd_line_buffer *line, const char *first, size_t count, unsigned width, char fill)
{
	size_t missing = count < width ? width - count : 0;
	char *at;

	for (; missing > DIGITS_MOST; missing--)
		pd_line_char(line, fill);
	at = pd_line_piece(line);
	memset(at, fill, DIGITS_MOST);
	memcpy(at + missing, first, DIGITS_MOST);
	line->used += missing + count;
}

_Static_assert(2 * (int)DIGITS_MOST <= (int)PD_LINE_PIECE, "digits and what is before them are a piece");

static char *decimal(char *end, uint64_t value)
{
	static const char pairs[] = "00010203040506070809"
				    "10111213141516171819"
				    "20212223242526272829"
				    "30313233343536373839"
				    "40414243444546474849"
				    "50515253545556575859"
				    "60616263646566676869"
				    "70717273747576777879"
				    "80818283848586878889"
				    "90919293949596979899";

	while (value >= 100) {
		end -= 2;
		memcpy(end, pairs + value % 100 * 2, 2);
		value /= 100;
	}
	if (value >= 10) {
		end -= 2;
		memcpy(end, pairs + value * 2, 2);
	} else {
		*--end = (char)('0' + value);
	}
	return end;
}

void pd_line_dec(struct pd_line_buffer *line, uint64_t value, unsigned width, char fill)
{
	char buffer[2 * DIGITS_MOST], *end = buffer + DIGITS_MOST, *first = decimal(end, value);

	add_digits(line, first, (size_t)(end - first), width, fill);
}

void pd_line_signed(struct pd_line_buffer *line, int64_t value, unsigned width, char fill)
{
	char buffer[2 * DIGITS_MOST], *end = buffer + DIGITS_MOST, *first;

	if (value >= 0) {
		pd_line_dec(line, (uint64_t)value, width, fill);
		return;
	}
	first = decimal(end, 0 - (uint64_t)value);
	if (fill == '0') {
		pd_line_char(line, '-');
		add_digits(line, first, (size_t)(end - first), width ? width - 1 : 0, fill);
		return;
	}
	*--first = '-';
	add_digits(line, first, (size_t)(end - first), width, fill);
}

void pd_line_signed_left(struct pd_line_buffer *line, int64_t value, unsigned width)
{
	size_t before, length;

	pd_line_piece(line);
	before = line->used;
	pd_line_signed(line, value, 0, ' ');
	length = line->used - before;
	if (length < width)
		pd_line_spaces(line, width - length);
}

/* The eight digits of a number, the lowest one in the lowest byte, without a branch on any of them. */
static inline uint64_t hex_digits(uint32_t value)
{
	const uint64_t ones = UINT64_C(0x0101010101010101);
	uint64_t digits = value, past_nine;

	digits = (digits | digits << 16) & UINT64_C(0x0000ffff0000ffff);
	digits = (digits | digits << 8) & UINT64_C(0x00ff00ff00ff00ff);
	digits = (digits | digits << 4) & (15 * ones);
	past_nine = (digits + 6 * ones) >> 4 & ones;
	return digits + '0' * ones + ('a' - '0' - 10) * past_nine;
}

/* Writes eight characters, that of the lowest byte last. */
static inline void put_digits(char *out, uint64_t digits)
{
	if (!PD_HOST_BIG)
		digits = __builtin_bswap64(digits);
	memcpy(out, &digits, sizeof(digits));
}

/* Spaces for the highest digits, less than eight. */
static inline uint64_t without_zeros(uint64_t digits, size_t zeros)
{
	const uint64_t spaces = UINT64_C(0x2020202020202020), kept = UINT64_MAX >> 8 * zeros;

	return (digits & kept) | (spaces & ~kept);
}

static inline void put_addr(char *out, uint64_t addr)
{
	size_t zeros = (size_t)__builtin_clzll(addr | 1) / 4;
	uint64_t low = hex_digits((uint32_t)addr);

	if (zeros < 8) {
		put_digits(out, without_zeros(hex_digits((uint32_t)(addr >> 32)), zeros));
	} else {
		memset(out, ' ', 8);
		low = without_zeros(low, zeros - 8);
	}
	put_digits(out + 8, low);
}

void pd_line_addr(struct pd_line_buffer *line, uint64_t addr)
{
	put_addr(pd_line_piece(line), addr);
	line->used += ADDR_SIZE;
}

void pd_line_entry(struct pd_line_buffer *line, uint64_t addr, const char *text, size_t size)
{
	char *out = pd_line_piece(line);

	*out = '\t';
	put_addr(out + 1, addr);
	memcpy(out + 1 + ADDR_SIZE, text, PD_LINE_PIECE);
	line->used += 1 + ADDR_SIZE + size;
}

void pd_line_hex(struct pd_line_buffer *line, uint64_t value, unsigned width, char fill)
{
	char buffer[16 + DIGITS_MOST];
	size_t count = value ? (67 - (size_t)__builtin_clzll(value)) / 4 : 1;

	put_digits(buffer, hex_digits((uint32_t)(value >> 32)));
	put_digits(buffer + 8, hex_digits((uint32_t)value));
	add_digits(line, buffer + 16 - count, count, width, fill);
}

void pd_line_hex_marked(struct pd_line_buffer *line, uint64_t value)
{
	if (value)
		pd_line_word(line, "0x");
	pd_line_hex(line, value, 0, ' ');
}
