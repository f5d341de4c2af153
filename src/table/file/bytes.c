/* SPDX-License-Identifier: MIT */
#include "table/file/format.h"

#include "write/packer.h"

void pd_put_le(struct pd_text *text, uint64_t value, unsigned size)
{
	char bytes[8];

	for (unsigned i = 0; i < size; i++)
		bytes[i] = (char)(value >> 8 * i);
	pd_text_put(text, bytes, size);
}

void pd_put_le_items(struct pd_text *text, const void *items, size_t count, unsigned size)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	pd_text_put(text, items, count * size);
#else
	for (size_t i = 0; i < count; i++)
		pd_put_le(text, size == 8 ? ((const uint64_t *)items)[i] : ((const uint32_t *)items)[i], size);
#endif
}

void pd_put_zeros(struct pd_text *text, size_t count)
{
	static const char zeros[64];

	for (; count > sizeof(zeros); count -= sizeof(zeros))
		pd_text_put(text, zeros, sizeof(zeros));
	pd_text_put(text, zeros, count);
}

enum pd_status pd_table_file_flush(struct pd_table_file *file, struct pd_error *error)
{
	size_t before = file->text->size;

	if (file->text->failed)
		return pd_fail_memory(error);
	if (!pd_text_flush_large(file->text))
		return file->text->failed ? pd_fail_memory(error) :
					    pd_fail(error, PD_ERROR_OUTPUT, PD_NO_OFFSET, "cannot write");
	file->flushed += before - file->text->size;
	return PD_OK;
}

void pd_table_file_pack(const struct pd_table_file *file, const void *data, size_t size, struct pd_text *text)
{
	const char *reason = NULL;
	size_t bound;

	if (!file->packer || !size) {
		pd_text_put(text, data, size);
		return;
	}
	bound = pd_packer_zstd.bound(size);
	if (text->capacity - text->size < bound && !pd_text_reserve(text, bound))
		return;
	bound = pd_packer_zstd.finish(file->packer, data, size, text->data + text->size, bound, &reason);
	text->failed |= reason != NULL;
	text->size += reason ? 0 : bound;
}

uint32_t pd_name_list_number(struct pd_name_list *list, uint32_t string)
{
	if (string >= list->capacity) {
		size_t before = list->capacity;

		if (!PD_GROW(list->number_of, list->capacity, (size_t)string + 1))
			return UINT32_MAX;
		memset(list->number_of + before, 0, (list->capacity - before) * sizeof(*list->number_of));
	}
	if (!list->number_of[string]) {
		if (!PD_GROW(list->items, list->item_capacity, list->count + 1))
			return UINT32_MAX;
		list->items[list->count++] = string;
		list->number_of[string] = (uint32_t)list->count;
	}
	return list->number_of[string] - 1;
}

void pd_name_list_clear(struct pd_name_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		list->number_of[list->items[i]] = 0;
	list->count = 0;
}

void pd_name_list_fini(struct pd_name_list *list)
{
	pd_free(list->number_of);
	pd_free(list->items);
	*list = (struct pd_name_list){ 0 };
}
