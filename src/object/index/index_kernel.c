/* SPDX-License-Identifier: MIT */
/*
 * The image of a kernel in the index. Its symbols do not change until the next boot, and then their addresses do, which
 * the head of the list shows. Modules and what else comes and goes stand elsewhere and are not kept.
 */
#include "object/index/index_file.h"

#include <string.h>

struct list {
	uint64_t first, end;
	uint64_t text_addr, stext_addr;
	uint64_t image_from, image_to;
	uint8_t head[PD_KALLSYMS_HEAD];
};

// ---- reading ----

// Takes over the block of the content, if it succeeds.
static bool take_list(struct pd_kallsyms *kallsyms, const struct pd_index_content *content,
		      const uint8_t head[PD_KALLSYMS_HEAD])
{
	struct list list;

	if (content->size < sizeof(list))
		return false;
	memcpy(&list, content->data, sizeof(list));
	if (memcmp(list.head, head, sizeof(list.head)) != 0 || list.image_from >= list.image_to)
		return false;
	*kallsyms = (struct pd_kallsyms){
		.first = list.first,
		.end = list.end,
		.text_addr = list.text_addr,
		.stext_addr = list.stext_addr,
		.image_from = list.image_from,
		.image_to = list.image_to,
	};
	return pd_symtab_unpack(&kallsyms->image, content->block, content->data + sizeof(list),
				content->size - sizeof(list));
}

bool pd_index_read_kernel(const struct pd_image *image, const struct pd_index_key *key,
			  const uint8_t head[PD_KALLSYMS_HEAD], size_t limit, struct pd_kallsyms *kallsyms_out)
{
	struct pd_index_content content;

	if (!pd_index_first(image, key, limit ? limit : SIZE_MAX, &content))
		return false;
	if (take_list(kallsyms_out, &content, head))
		return true;
	pd_free(content.block);
	return false;
}

bool pd_index_load_kernel(const char *index, const struct pd_object_id *id, const uint8_t head[PD_KALLSYMS_HEAD],
			  size_t limit, struct pd_kallsyms *kallsyms_out)
{
	struct pd_index_key key = { id, PD_INDEX_KERNEL, 0, NULL };
	struct pd_image image;
	bool ok;

	if (!pd_index_open(index, &key, &image))
		return false;
	ok = pd_index_read_kernel(&image, &key, head, limit, kallsyms_out);
	pd_image_close(&image);
	return ok;
}

// ---- writing ----

// The symbols of the image alone; NULL if others are among them, or there is no memory.
static struct pd_symtab *table_of_image(const struct pd_kallsyms *kallsyms)
{
	struct pd_symtab_maker maker = { .rule = PD_SYMTAB_INNER };
	struct pd_symtab *table = NULL;
	bool others = false;

	for (size_t i = 0; i < pd_symtab_count(kallsyms->table); i++) {
		struct pd_symbol symbol = pd_symtab_at(kallsyms->table, i);

		if (symbol.start < kallsyms->image_from || symbol.start >= kallsyms->image_to)
			continue;
		others |= symbol.owner || symbol.end > kallsyms->image_to;
		pd_symtab_add(&maker, &symbol, 0);
	}
	if (others || pd_symtab_make(&maker, &table, NULL))
		table = NULL;
	pd_symtab_maker_fini(&maker);
	return table;
}

static void write_list(const char *index, const struct pd_index_key *key, const struct list *list,
		       const struct pd_symtab *table)
{
	struct pd_index_part part = { .size = sizeof(*list) + pd_symtab_packed_size(table) };
	uint8_t *data;

	if (part.size > pd_index_file_limit() || !(data = pd_realloc(NULL, (size_t)part.size)))
		return;
	memcpy(data, list, sizeof(*list));
	pd_symtab_pack(table, data + sizeof(*list));
	part.data = data;
	pd_index_write(index, key, &part, 1);
	pd_free(data);
}

void pd_index_save_kernel(const char *index, const struct pd_object_id *id, const uint8_t head[PD_KALLSYMS_HEAD],
			  const struct pd_kallsyms *kallsyms)
{
	struct pd_index_key key = { id, PD_INDEX_KERNEL, 0, NULL };
	struct list list = {
		.first = kallsyms->first,
		.end = kallsyms->end,
		.text_addr = kallsyms->text_addr,
		.stext_addr = kallsyms->stext_addr,
		.image_from = kallsyms->image_from,
		.image_to = kallsyms->image_to,
	};
	struct pd_symtab *table;

	if (!index || kallsyms->hidden || list.image_from >= list.image_to || !(table = table_of_image(kallsyms)))
		return;
	memcpy(list.head, head, sizeof(list.head));
	write_list(index, &key, &list, table);
	pd_symtab_free(table);
}
