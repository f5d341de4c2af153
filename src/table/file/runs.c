/* SPDX-License-Identifier: MIT */
#include "table/file/runs.h"

#include "table/file/format.h"

unsigned pd_runs_width(size_t count)
{
	unsigned width = 0;

	while (width < 32 && count > (size_t)1 << width)
		width++;
	return width;
}

static size_t run_length(const uint32_t *items, size_t count)
{
	size_t length = 1;

	while (length < count && items[length] == items[0])
		length++;
	return length;
}

// How many are better packed: whole groups, up to the next run that is longer than one; all, if there is none.
static size_t packed_length(const uint32_t *items, size_t count)
{
	size_t length = 0;

	while (length < count && run_length(items + length, count - length < 9 ? count - length : 9) < 9)
		length += 8;
	return length < count ? length : count;
}

static void put_packed(struct pd_text *text, const uint32_t *items, size_t count, unsigned width)
{
	size_t groups = (count + 7) / 8;
	uint64_t word = 0;
	unsigned bits = 0;

	pd_proto_varint(text, groups << 1 | 1);
	for (size_t i = 0; i < groups * 8; i++) {
		word |= (i < count ? (uint64_t)items[i] : 0) << bits;
		for (bits += width; bits >= 8; bits -= 8, word >>= 8)
			pd_text_char(text, (char)word);
	}
}

void pd_put_runs(struct pd_text *text, const uint32_t *items, size_t count, unsigned width)
{
	while (count) {
		size_t length = packed_length(items, count);

		if (length) {
			put_packed(text, items, length, width);
		} else {
			length = run_length(items, count);
			pd_proto_varint(text, length << 1);
			pd_put_le(text, items[0], (width + 7) / 8);
		}
		items += length;
		count -= length;
	}
}
