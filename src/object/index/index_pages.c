/* SPDX-License-Identifier: MIT */
#include "object/index/index_pages.h"

#include <string.h>

#include "base/lookup/search.h"
#include "object/index/index_file.h"

enum {
	PAGE_SYMBOLS = 256,
	PAGE_SIZE_MOST = 16 << 20,
	NUMBERS_MOST = INT32_MAX,
};

struct pd_index_pages {
	struct pd_image file;
	uint64_t begin;
	struct pd_index_page *items;
	struct pd_symtab **tables; // by page; NULL: not read yet, or damaged
	size_t count;
	size_t bytes;
	bool failed;
};

// ---- reading ----

static bool are_valid(const struct pd_index_pages *pages)
{
	uint64_t size = pages->file.size - pages->begin;

	for (size_t i = 0; i < pages->count; i++) {
		const struct pd_index_page *page = &pages->items[i];

		if (page->size > PAGE_SIZE_MOST || page->offset > size || page->size > size - page->offset ||
		    page->number > NUMBERS_MOST)
			return false;
		if (i && (page->start <= page[-1].start || page->number <= page[-1].number))
			return false;
	}
	return true;
}

struct pd_index_pages *pd_index_pages_new(struct pd_image *file, uint64_t begin, const uint8_t *list, size_t size)
{
	struct pd_index_pages *pages;

	if (!size || size % sizeof(*pages->items) || begin > file->size || !(pages = pd_alloc(sizeof(*pages))))
		return NULL;
	pages->file = *file;
	pages->begin = begin;
	pages->count = size / sizeof(*pages->items);
	pages->items = pd_realloc(NULL, size);
	pages->tables = pd_alloc(pages->count * sizeof(struct pd_symtab *));
	pages->bytes = sizeof(*pages) + size + pages->count * sizeof(struct pd_symtab *);
	if (pages->items)
		memcpy(pages->items, list, size);
	if (pages->items && pages->tables && are_valid(pages)) {
		*file = (struct pd_image){ .fd = -1 };
		return pages;
	}
	pages->file = (struct pd_image){ .fd = -1 };
	pd_index_pages_free(pages);
	return NULL;
}

void pd_index_pages_free(struct pd_index_pages *pages)
{
	if (!pages)
		return;
	for (size_t i = 0; pages->tables && i < pages->count; i++)
		pd_symtab_free(pages->tables[i]);
	pd_image_close(&pages->file);
	pd_free(pages->items);
	pd_free(pages->tables);
	pd_free(pages);
}

static struct pd_symtab *read_page(const struct pd_index_pages *pages, const struct pd_index_page *page)
{
	uint8_t *data = pd_realloc(NULL, page->size);
	struct pd_symtab *table;

	if (!data)
		return NULL;
	if (pd_image_copy(&pages->file, pages->begin + page->offset, data, page->size) == page->size &&
	    pd_index_sum(data, page->size) == page->sum && pd_symtab_unpack(&table, data, data, page->size))
		return table;
	pd_free(data);
	return NULL;
}

const struct pd_symtab *pd_index_pages_find(struct pd_index_pages *pages, uint64_t addr, uint64_t *number_out)
{
	size_t at;

	PD_SEARCH(at, 0, pages->count, i, pages->items[i].start <= addr);
	if (!at--)
		return NULL;
	*number_out = pages->items[at].number;
	if (pages->tables[at])
		return pages->tables[at];
	pages->tables[at] = read_page(pages, &pages->items[at]);
	if (pages->tables[at])
		pages->bytes += pd_symtab_bytes(pages->tables[at]);
	else
		pages->failed = true;
	return pages->tables[at];
}

bool pd_index_pages_failed(const struct pd_index_pages *pages)
{
	return pages->failed;
}

size_t pd_index_pages_bytes(const struct pd_index_pages *pages)
{
	return pages->bytes;
}

// ---- making ----

// The symbols that wait become a page.
static void end_page(struct pd_index_pages_maker *maker)
{
	struct pd_index_page page = { .start = maker->start, .offset = maker->size, .number = maker->number };
	struct pd_symtab *table = NULL;
	size_t size;

	if (!maker->table_count || maker->failed)
		return;
	maker->failed = pd_symtab_make(&maker->table, &table, NULL) != PD_OK;
	size = maker->failed ? 0 : pd_symtab_packed_size(table);
	if (maker->failed || size > PAGE_SIZE_MOST ||
	    !PD_GROW(maker->bytes, maker->bytes_capacity, maker->size + size) ||
	    !PD_GROW(maker->pages, maker->capacity, maker->count + 1)) {
		maker->failed = true;
		pd_symtab_free(table);
		return;
	}
	pd_symtab_pack(table, maker->bytes + maker->size);
	page.size = (uint32_t)size;
	page.sum = pd_index_sum(maker->bytes + maker->size, size);
	maker->pages[maker->count++] = page;
	maker->size += size;
	maker->number += (uint32_t)pd_symtab_count(table);
	maker->table_count = 0;
	pd_symtab_free(table);
}

void pd_index_pages_add(struct pd_index_pages_maker *maker, const struct pd_symbol *symbol)
{
	// no symbol reaches into the next page
	if (maker->table_count >= PAGE_SYMBOLS && maker->end <= symbol->start)
		end_page(maker);
	if (!maker->table_count) {
		maker->start = symbol->start;
		maker->end = symbol->end;
	}
	maker->end = symbol->end > maker->end ? symbol->end : maker->end;
	pd_symtab_add(&maker->table, symbol, 0);
	maker->table_count++;
}

bool pd_index_pages_end(struct pd_index_pages_maker *maker)
{
	end_page(maker);
	return !maker->failed;
}

void pd_index_pages_maker_fini(struct pd_index_pages_maker *maker)
{
	pd_symtab_maker_fini(&maker->table);
	pd_free(maker->pages);
	pd_free(maker->bytes);
}
