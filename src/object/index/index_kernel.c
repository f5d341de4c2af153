/* SPDX-License-Identifier: MIT */
/*
 * The image of a kernel in the index. Its symbols do not change until the next boot, and then their addresses do, which
 * the head of the list shows. Modules and what else comes and goes stand elsewhere and are not kept.
 */
#include "object/index/index_file.h"

#include <string.h>

#include "object/index/index_pages.h"

struct list {
	uint64_t first, end;
	uint64_t text_addr, stext_addr;
	uint64_t image_from, image_to;
	uint64_t sections[PD_KERNEL_SECTIONS];
	uint8_t head[PD_KALLSYMS_HEAD];
};

// ---- reading ----

// The list, and after it which pages there are. Takes over the file, if it succeeds.
static bool take_list(struct pd_kallsyms *kallsyms, struct pd_image *file, const struct pd_index_content *content,
		      const uint8_t head[PD_KALLSYMS_HEAD])
{
	struct pd_index_pages *pages;
	struct list list;

	if (content->size < sizeof(list))
		return false;
	memcpy(&list, content->data, sizeof(list));
	if (memcmp(list.head, head, sizeof(list.head)) != 0 || list.image_from >= list.image_to)
		return false;
	pages = pd_index_pages_new(file, content->end, content->data + sizeof(list), content->size - sizeof(list));
	if (!pages)
		return false;
	*kallsyms = (struct pd_kallsyms){
		.image = pages,
		.first = list.first,
		.end = list.end,
		.text_addr = list.text_addr,
		.stext_addr = list.stext_addr,
		.image_from = list.image_from,
		.image_to = list.image_to,
	};
	memcpy(kallsyms->sections, list.sections, sizeof(list.sections));
	return true;
}

bool pd_index_read_kernel(struct pd_image *file, const struct pd_index_key *key, const uint8_t head[PD_KALLSYMS_HEAD],
			  size_t limit, struct pd_kallsyms *kallsyms_out)
{
	struct pd_index_content content;
	bool ok;

	if (!pd_index_first(file, key, limit ? limit : SIZE_MAX, &content))
		return false;
	ok = take_list(kallsyms_out, file, &content, head);
	pd_free(content.block);
	return ok;
}

bool pd_index_load_kernel(const char *index, const struct pd_object_id *id, const uint8_t head[PD_KALLSYMS_HEAD],
			  size_t limit, struct pd_kallsyms *kallsyms_out)
{
	struct pd_index_key key = { id, PD_INDEX_KERNEL, 0, NULL };
	struct pd_image file;

	if (!pd_index_open(index, &key, &file))
		return false;
	if (pd_index_read_kernel(&file, &key, head, limit, kallsyms_out))
		return true;
	pd_image_close(&file);
	return false;
}

// ---- writing ----

// Pages of the symbols of the image alone. False if others are among them, or there is no memory.
static bool make_pages(struct pd_index_pages_maker *maker, const struct pd_kallsyms *kallsyms)
{
	for (size_t i = 0; i < pd_symtab_count(kallsyms->table); i++) {
		struct pd_symbol symbol = pd_symtab_at(kallsyms->table, i);

		if (symbol.start < kallsyms->image_from || symbol.start >= kallsyms->image_to)
			continue;
		if (symbol.owner || symbol.end > kallsyms->image_to)
			return false;
		pd_index_pages_add(maker, &symbol);
	}
	return pd_index_pages_end(maker) && maker->count;
}

static void write_pages(const char *index, const struct pd_index_key *key, const struct list *list,
			const struct pd_index_pages_maker *maker)
{
	struct pd_index_part parts[] = { { .size = sizeof(*list) + maker->count * sizeof(*maker->pages) },
					 { .data = maker->bytes, .size = maker->size } };
	uint8_t *first = pd_realloc(NULL, (size_t)parts[0].size);

	if (!first)
		return;
	memcpy(first, list, sizeof(*list));
	memcpy(first + sizeof(*list), maker->pages, maker->count * sizeof(*maker->pages));
	parts[0].data = first;
	pd_index_write(index, key, parts, sizeof(parts) / sizeof(parts[0]));
	pd_free(first);
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
	struct pd_index_pages_maker maker = { .table = { .rule = PD_SYMTAB_INNER } };

	if (!index || kallsyms->hidden || list.image_from >= list.image_to)
		return;
	memcpy(list.head, head, sizeof(list.head));
	memcpy(list.sections, kallsyms->sections, sizeof(list.sections));
	if (make_pages(&maker, kallsyms))
		write_pages(index, &key, &list, &maker);
	pd_index_pages_maker_fini(&maker);
}
