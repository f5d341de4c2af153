/* SPDX-License-Identifier: MIT */
/* Punycode (RFC 3492) as Rust writes it: '_' in front of the coded part. */
#include <string.h>

#include "object/demangle/demangle.h"

// The next difference of the code (RFC 3492), or -1.
static int64_t read_delta(const char **at, const char *end, uint32_t bias)
{
	uint64_t delta = 0, weight = 1;

	for (uint32_t k = 36;; k += 36) {
		uint32_t threshold = k <= bias ? 1 : k >= bias + 26 ? 26 : k - bias, digit;
		char c = *at < end ? *(*at)++ : 0;

		if (c >= 'a' && c <= 'z')
			digit = (uint32_t)(c - 'a');
		else if (c >= '0' && c <= '9')
			digit = (uint32_t)(c - '0') + 26;
		else
			return -1;
		delta += digit * weight;
		if (digit < threshold)
			return (int64_t)delta;
		weight *= 36 - threshold;
		if (delta > UINT32_MAX || weight > UINT32_MAX)
			return -1;
	}
}

static uint32_t next_bias(uint64_t delta, size_t count, bool is_first)
{
	uint32_t k = 0;

	delta /= is_first ? 700 : 2;
	for (delta += delta / count; delta > 35 * 26 / 2; k += 36)
		delta /= 35;
	return k + (uint32_t)(36 * delta / (delta + 38));
}

size_t pd_punycode_decode(const char *text, size_t size, uint32_t code_points[PD_PUNYCODE_MAX])
{
	const char *at = text, *end = at + size;
	const char *mark = memrchr(at, '_', size);
	uint32_t code_point = 0x80, bias = 72;
	uint64_t place = 0;
	size_t count = 0;

	if (mark && (size_t)(mark - at) >= PD_PUNYCODE_MAX)
		return 0;
	for (; mark && at < mark; at++)
		code_points[count++] = (uint8_t)*at;
	at += mark != NULL;
	while (at < end) {
		int64_t delta = read_delta(&at, end, bias);
		bool is_first = bias == 72 && code_point == 0x80 && place == 0;

		if (delta < 0 || count == PD_PUNYCODE_MAX)
			return 0;
		place += (uint64_t)delta;
		count++;
		bias = next_bias((uint64_t)delta, count, is_first);
		code_point += (uint32_t)(place / count < 0x110000 ? place / count : 0x110000);
		place %= count;
		if (code_point >= 0x110000 || (code_point >= 0xd800 && code_point < 0xe000))
			return 0;
		memmove(&code_points[place + 1], &code_points[place], (count - 1 - place) * sizeof(*code_points));
		code_points[place++] = code_point;
	}
	return count;
}
