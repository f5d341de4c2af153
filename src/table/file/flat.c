/* SPDX-License-Identifier: MIT */
#include "table/file/flat.h"

#include "table/file/format.h"

static void align(struct pd_text *text, size_t to, size_t remainder)
{
	pd_put_zeros(text, (to + remainder - text->size % to) % to);
}

void pd_flat_set(struct pd_text *text, size_t at, uint64_t value, unsigned size)
{
	// if there was no memory, nothing is there
	for (unsigned i = 0; i < size && at + i < text->size; i++)
		text->data[at + i] = (char)(value >> 8 * i);
}

void pd_flat_point(struct pd_text *text, size_t at, size_t target)
{
	pd_flat_set(text, at, target - at, 4);
}

size_t pd_flat_table(struct pd_text *text, const uint8_t *sizes, size_t count, size_t *fields_out)
{
	size_t vtable, table, size = 4;

	align(text, 2, 0);
	vtable = text->size;
	pd_put_zeros(text, 4 + 2 * count);
	align(text, 8, 0);
	table = text->size;
	for (size_t i = 0; i < count; i++) {
		if (!sizes[i])
			continue;
		size = (size + sizes[i] - 1) / sizes[i] * sizes[i];
		pd_flat_set(text, vtable + 4 + 2 * i, size, 2);
		fields_out[i] = table + size;
		size += sizes[i];
	}
	pd_put_zeros(text, size);
	pd_flat_set(text, vtable, 4 + 2 * count, 2);
	pd_flat_set(text, vtable + 2, size, 2);
	pd_flat_set(text, table, table - vtable, 4);
	return table;
}

size_t pd_flat_vector(struct pd_text *text, size_t count, size_t item_size)
{
	size_t at;

	align(text, 8, 4);
	at = text->size;
	pd_put_le(text, count, 4);
	pd_put_zeros(text, count * item_size);
	return at;
}

size_t pd_flat_string(struct pd_text *text, const char *string, size_t size)
{
	size_t at;

	align(text, 4, 0);
	at = text->size;
	pd_put_le(text, size, 4);
	pd_text_put(text, string, size);
	pd_text_char(text, 0);
	return at;
}
