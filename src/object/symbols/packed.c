/* SPDX-License-Identifier: MIT */
/*
 * Tables as bytes: whole, or in two parts. The first one is what finds the symbol of an address. The second one says what the
 * symbols are, in pages of some dozens, which are read when one of them is first asked for: a recording has few of the functions of
 * a large object. Bytes may be hostile.
 */
#include "object/symbols/inside.h"

#include <string.h>

enum {
	PAGE_SYMBOLS = 32,
	PAGE_SIZE_MOST = 16 << 20
};

struct packed {
	uint64_t count;
	uint64_t piece_count;
	uint64_t bucket_count;
	uint64_t bucket_shift;
	uint64_t base;
	uint64_t is_near;
	uint64_t names_size; // 0 of a table in pages
	uint64_t page_count; // 0 of a whole one
};

static size_t page_count_of(size_t symbols)
{
	return (symbols + PAGE_SYMBOLS - 1) / PAGE_SYMBOLS;
}

static size_t symbols_of_page(const struct pd_symtab *table, size_t page)
{
	size_t left = table->count - page * PAGE_SYMBOLS;

	return left < PAGE_SYMBOLS ? left : PAGE_SYMBOLS;
}

static uint64_t page_begin(const struct pd_symtab *table, size_t page)
{
	return page ? table->page_ends[page - 1] : 0;
}

static size_t page_size(const struct pd_symtab *table, size_t page)
{
	return (size_t)(table->page_ends[page] - page_begin(table, page));
}

static size_t bytes_of_lookup(const struct pd_symtab *table)
{
	return table->piece_count * pd_symtab_piece_size(table) + table->bucket_count * sizeof(*table->buckets);
}

static size_t bytes_of_pages(const struct pd_symtab *table)
{
	size_t pages = page_count_of(table->count),
	       bytes = pages * (sizeof(*table->page_ends) + sizeof(*table->loaded));

	for (size_t i = 0; i < pages; i++)
		bytes += table->loaded[i] ? page_size(table, i) : 0;
	return bytes;
}

size_t pd_symtab_bytes(const struct pd_symtab *table)
{
	return sizeof(*table) + bytes_of_lookup(table) +
	       (table->loaded ? bytes_of_pages(table) : table->names_size + table->count * sizeof(*table->entries));
}

// ---- packing ----

static uint8_t *pack(uint8_t *at, const void *data, size_t size)
{
	if (size)
		memcpy(at, data, size);
	return at + size;
}

static uint8_t *pack_lookup(const struct pd_symtab *table, uint8_t *at)
{
	at = pack(at, table->near ? (const void *)table->near : table->pieces,
		  table->piece_count * pd_symtab_piece_size(table));
	return pack(at, table->buckets, table->bucket_count * sizeof(*table->buckets));
}

size_t pd_symtab_packed_size(const struct pd_symtab *table)
{
	return pd_symtab_bytes(table) - sizeof(*table) + sizeof(struct packed);
}

static struct packed packed_of(const struct pd_symtab *table)
{
	return (struct packed){
		.count = table->count,
		.piece_count = table->piece_count,
		.bucket_count = table->bucket_count,
		.bucket_shift = table->bucket_shift,
		.base = table->base,
		.is_near = table->near != NULL,
	};
}

void pd_symtab_pack(const struct pd_symtab *table, uint8_t *data)
{
	struct packed packed = packed_of(table);

	packed.names_size = table->names_size;

	data = pack(data, &packed, sizeof(packed));
	data = pack(data, table->entries, table->count * sizeof(*table->entries));
	data = pack_lookup(table, data);
	pack(data, table->names, table->names_size);
}

bool pd_symtab_is_large(const struct pd_symtab *table)
{
	const size_t large = 32 << 10;

	return table->names_size + table->count * sizeof(*table->entries) >= large;
}

size_t pd_symtab_page_count(const struct pd_symtab *table)
{
	return page_count_of(table->count);
}

size_t pd_symtab_first_size(const struct pd_symtab *table)
{
	// ends of pages come before the buckets, so that they are 8-aligned
	return sizeof(struct packed) + page_count_of(table->count) * sizeof(uint64_t) + bytes_of_lookup(table);
}

size_t pd_symtab_pages_size(const struct pd_symtab *table)
{
	return table->count * sizeof(*table->entries) + table->names_size;
}

// Names of a page begin at 0 in it.
static uint8_t *pack_page(const struct pd_symtab *table, size_t page, uint8_t *at)
{
	const struct pd_symtab_entry *entries = &table->entries[page * PAGE_SYMBOLS];
	size_t count = symbols_of_page(table, page);
	uint32_t name = 0;

	for (size_t i = 0; i < count; i++) {
		struct pd_symtab_entry entry = entries[i];

		entry.name = name;
		name += entry.name_length + 1;
		at = pack(at, &entry, sizeof(entry));
	}
	for (size_t i = 0; i < count; i++)
		at = pack(at, table->names + entries[i].name, entries[i].name_length + 1u);
	return at;
}

void pd_symtab_pack_pages(const struct pd_symtab *table, uint8_t *first, uint8_t *pages, uint64_t *ends_out)
{
	const size_t page_count = page_count_of(table->count);
	struct packed packed = packed_of(table);
	uint8_t *at = pages;

	packed.page_count = page_count;
	for (size_t i = 0; i < page_count; i++) {
		at = pack_page(table, i, at);
		ends_out[i] = (uint64_t)(at - pages);
	}
	first = pack(first, &packed, sizeof(packed));
	first = pack(first, ends_out, page_count * sizeof(*ends_out));
	pack_lookup(table, first);
}

// ---- reading ----

// Passes the next elements; NULL if there are less.
static void *unpack(uint8_t **data, size_t *size, uint64_t count, size_t item_size)
{
	uint8_t *items = *data;

	if (count > *size / item_size)
		return NULL;
	*data += (size_t)count * item_size;
	*size -= (size_t)count * item_size;
	return items;
}

static bool are_valid_entries(const struct pd_symtab_entry *entries, size_t count, const char *names, size_t names_size)
{
	for (size_t i = 0; i < count; i++) {
		const struct pd_symtab_entry *entry = &entries[i];

		if (entry->start >= entry->end || entry->bind > PD_BIND_GLOBAL || entry->kind >= PD_SYMBOL_BOUND ||
		    !entry->name_length || entry->name >= names_size ||
		    entry->name_length >= names_size - entry->name || names[entry->name + entry->name_length])
			return false;
	}
	return true;
}

// All that lookups rely on.
static bool is_valid_lookup(const struct pd_symtab *table)
{
	if (table->bucket_shift > 63 || (table->piece_count && !table->bucket_count))
		return false;
	if (table->piece_count && pd_symtab_piece_start(table, 0) != table->base)
		return false;
	for (size_t i = 0; i < table->piece_count; i++) {
		uint32_t which = pd_symtab_piece_which(table, i);

		if ((which >= table->count && which != PD_NO_SYMBOL) ||
		    (i && pd_symtab_piece_start(table, i) <= pd_symtab_piece_start(table, i - 1)))
			return false;
	}
	for (size_t i = 0; table->piece_count && i < table->bucket_count; i++)
		if (table->buckets[i] >= table->piece_count || (i && table->buckets[i] < table->buckets[i - 1]))
			return false;
	return true;
}

static bool are_valid_pages(const struct pd_symtab *table, uint64_t size)
{
	for (size_t i = 0; i < page_count_of(table->count); i++) {
		uint64_t begin = page_begin(table, i), end = table->page_ends[i];

		if (end < begin || end > size || end - begin > PAGE_SIZE_MOST ||
		    end - begin < symbols_of_page(table, i) * sizeof(struct pd_symtab_entry))
			return false;
	}
	return true;
}

static bool unpack_lookup(struct pd_symtab *table, uint8_t **at, size_t *size, const struct packed *packed)
{
	table->base = packed->base;
	if (packed->is_near)
		table->near = unpack(at, size, packed->piece_count, sizeof(*table->near));
	else
		table->pieces = unpack(at, size, packed->piece_count, sizeof(*table->pieces));
	table->buckets = unpack(at, size, packed->bucket_count, sizeof(*table->buckets));
	table->piece_count = (size_t)packed->piece_count;
	table->bucket_count = (size_t)packed->bucket_count;
	table->bucket_shift = packed->bucket_shift < 64 ? (unsigned)packed->bucket_shift : 64;
	return (table->pieces || table->near) && table->buckets && is_valid_lookup(table);
}

static bool unpack_whole(struct pd_symtab *table, uint8_t *at, size_t size, const struct packed *packed)
{
	table->entries = unpack(&at, &size, packed->count, sizeof(*table->entries));
	table->count = (size_t)packed->count;
	if (!table->entries || !unpack_lookup(table, &at, &size, packed))
		return false;
	table->names = unpack(&at, &size, packed->names_size, 1);
	table->names_size = (size_t)packed->names_size;
	return table->names && !size &&
	       are_valid_entries(table->entries, table->count, table->names, table->names_size);
}

static bool unpack_paged(struct pd_symtab *table, uint8_t *at, size_t size, const struct packed *packed,
			 uint64_t pages_size)
{
	if (packed->count >= PD_NO_SYMBOL || packed->page_count != page_count_of((size_t)packed->count))
		return false;
	table->count = (size_t)packed->count;
	table->page_ends = unpack(&at, &size, packed->page_count, sizeof(*table->page_ends));
	if (!table->page_ends || !unpack_lookup(table, &at, &size, packed) || size ||
	    !are_valid_pages(table, pages_size))
		return false;
	table->loaded = pd_alloc((size_t)packed->page_count * sizeof(struct pd_symtab_entry *));
	return table->loaded;
}

bool pd_symtab_unpack_pages(struct pd_symtab **table_out, void *block, const uint8_t *data, size_t size,
			    const struct pd_symtab_pages *pages)
{
	struct pd_symtab *table = pd_alloc(sizeof(*table));
	uint8_t *at = (uint8_t *)block + (data - (const uint8_t *)block);
	struct packed packed;
	bool ok = table && size >= sizeof(packed);

	if (ok) {
		memcpy(&packed, at, sizeof(packed));
		at += sizeof(packed);
		size -= sizeof(packed);
		ok = !packed.page_count ? unpack_whole(table, at, size, &packed) :
					  pages && unpack_paged(table, at, size, &packed, pages->size);
	}
	if (!ok) {
		pd_free(table);
		return false;
	}
	if (table->loaded)
		table->pages = *pages;
	table->block = block;
	*table_out = table;
	return true;
}

bool pd_symtab_unpack(struct pd_symtab **table_out, void *block, const uint8_t *data, size_t size)
{
	return pd_symtab_unpack_pages(table_out, block, data, size, NULL);
}

bool pd_symtab_is_in_pages(const struct pd_symtab *table)
{
	return table->loaded;
}

// ---- pages ----

static struct pd_symtab_entry *read_page(const struct pd_symtab *table, size_t page)
{
	const struct pd_symtab_pages *pages = &table->pages;
	size_t size = page_size(table, page), count = symbols_of_page(table, page);
	struct pd_symtab_entry *entries = pd_realloc(NULL, size);

	if (entries && pages->read && pages->read(pages->self, page, page_begin(table, page), entries, size) &&
	    are_valid_entries(entries, count, (const char *)&entries[count], size - count * sizeof(*entries)))
		return entries;
	pd_free(entries);
	return NULL;
}

const struct pd_symtab_entry *pd_symtab_load(const struct pd_symtab *table, size_t index, const char **names_out)
{
	size_t page = index / PAGE_SYMBOLS;
	struct pd_symtab_entry *entries = table->loaded[page];

	if (!entries)
		entries = table->loaded[page] = read_page(table, page);
	if (!entries)
		return NULL;
	*names_out = (const char *)&entries[symbols_of_page(table, page)];
	return &entries[index % PAGE_SYMBOLS];
}

static void close_source(struct pd_symtab *table)
{
	if (table->pages.close)
		table->pages.close(table->pages.self);
	table->pages = (struct pd_symtab_pages){ .self = NULL };
}

void pd_symtab_read_pages(struct pd_symtab *table)
{
	const char *names;

	for (size_t i = 0; i < table->count; i += PAGE_SYMBOLS)
		pd_symtab_load(table, i, &names);
	close_source(table);
}

void pd_symtab_close_pages(struct pd_symtab *table)
{
	if (!table->loaded)
		return;
	for (size_t i = 0; i < page_count_of(table->count); i++)
		pd_free(table->loaded[i]);
	pd_free(table->loaded);
	close_source(table);
}
