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

static size_t take_packed(struct pd_cursor *c, uint32_t *items, size_t count, unsigned width, uint64_t groups)
{
	size_t wanted = groups < count / 8 + 1 ? (size_t)groups * 8 : count;
	const uint8_t *at = groups <= UINT32_MAX ? pd_cursor_take(c, groups * width) : NULL;
	uint64_t word = 0;
	unsigned bits = 0;

	if (!at) {
		pd_cursor_fail(c, "a run extends past the end");
		return count;
	}
	wanted = wanted < count ? wanted : count;
	for (size_t i = 0; i < wanted; i++) {
		for (; bits < width; bits += 8)
			word |= (uint64_t)*at++ << bits;
		items[i] = (uint32_t)(word & (((uint64_t)1 << width) - 1));
		word >>= width;
		bits -= width;
	}
	return wanted;
}

static size_t take_equal(struct pd_cursor *c, uint32_t *items, size_t count, unsigned width, uint64_t length)
{
	const uint8_t *at = pd_cursor_take(c, (width + 7) / 8);
	size_t wanted = length < count ? (size_t)length : count;
	uint32_t value = 0;

	for (unsigned i = 0; at && i < (width + 7) / 8; i++)
		value |= (uint32_t)at[i] << 8 * i;
	for (size_t i = 0; i < wanted; i++)
		items[i] = value;
	return wanted;
}

void pd_take_runs(struct pd_cursor *c, uint32_t *items, size_t count, unsigned width)
{
	if (width > 32)
		pd_cursor_fail(c, "numbers have too many bits");
	while (count && !c->failed) {
		uint64_t head = pd_proto_take_varint(c);
		size_t taken = head & 1 ? take_packed(c, items, count, width, head >> 1) :
					  take_equal(c, items, count, width, head >> 1);

		if (!taken)
			pd_cursor_fail(c, "a run is empty");
		items += taken;
		count -= taken;
	}
}
