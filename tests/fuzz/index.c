/* SPDX-License-Identifier: MIT */
/* Files of the index, with heads and checksums that are right: what stands after them may be anything. */
#include <string.h>

#include "object/index/index_file.h"
#include "object/index/index_pages.h"
#include "object/dwarf/lines.h"
#include "object/dwarf/unit_table.h"
#include "walk.h"

static const struct pd_object_id id = { .bytes = { 1, 2, 3, 4, 5, 6, 7, 8 }, .size = 8 };

// The bytes as the file of a key; the first byte says how much of it is the first part.
static uint8_t *seal(const struct pd_index_key *key, const uint8_t *data, size_t size, size_t *size_out)
{
	size_t head = pd_index_head_size(key), after = data[0] * (size_t)4;
	uint8_t *file = pd_alloc(head + size);

	REQUIRE(file);
	memcpy(file + head, data + 1, size - 1);
	after = after < size - 1 ? after : 0;
	*size_out = head + size - 1;
	pd_index_seal(file, key, size - 1 - after, *size_out);
	return file;
}

// What is found may be wrong, but it is something.
static void check_symbol(const struct pd_symtab *table, struct pd_symbol symbol)
{
	struct pd_symbol found;

	REQUIRE(symbol.name_length && !symbol.name[symbol.name_length] && symbol.start < symbol.end);
	if (pd_symtab_find(table, symbol.start, &found))
		REQUIRE(found.name_length && !found.name[found.name_length]);
	pd_symtab_find(table, symbol.end, &found);
}

static void check_symbols(const uint8_t *data, size_t size)
{
	const struct pd_index_key key = { &id, PD_INDEX_SYMBOLS, 0 };
	struct pd_symtab *table = NULL;
	struct pd_elf *shape = NULL;
	struct pd_image image;
	uint64_t value;
	size_t sealed_size;
	uint8_t *sealed = seal(&key, data, size, &sealed_size);

	pd_image_take_memory(&image, sealed, sealed_size);
	if (pd_index_read_symbols(&image, &key, 0, &shape, &table)) {
		for (size_t i = 0; i < pd_symtab_count(table); i++)
			if (pd_symtab_at(table, i).name)
				check_symbol(table, pd_symtab_at(table, i));
		for (uint64_t at = 0; at < size; at += 64)
			if (pd_elf_addr(shape, at, &value))
				pd_elf_offset(shape, value, &value);
	}
	pd_symtab_free(table);
	pd_elf_close(shape);
	pd_image_close(&image);
}

// Pages as they are, whose sums would have to be right in a file.
static bool read_page(void *self, size_t page, uint64_t offset, void *data, size_t size)
{
	const struct pd_bytes *pages = self;

	REQUIRE(offset <= pages->size && size <= pages->size - offset);
	memcpy(data, pages->data + offset, size);
	return page != 7;
}

static void close_pages(void *self)
{
	((struct pd_bytes *)self)->data = NULL;
}

// A table of which the first byte says how much of it is in pages.
static void check_paged(const uint8_t *data, size_t size)
{
	size_t first = size - 1 - data[0] * (size_t)8 % size;
	struct pd_bytes bytes = { data + 1 + first, size - 1 - first };
	const struct pd_symtab_pages pages = { &bytes, bytes.size, read_page, close_pages };
	struct pd_symtab *table;
	uint8_t *block = pd_alloc(first);

	REQUIRE(block);
	memcpy(block, data + 1, first);
	if (!pd_symtab_unpack_pages(&table, block, block, first, &pages)) {
		pd_free(block);
		return;
	}
	for (size_t i = 0; i < pd_symtab_count(table); i++)
		if (pd_symtab_at(table, i).name)
			check_symbol(table, pd_symtab_at(table, i));
	if (pd_symtab_is_in_pages(table)) {
		pd_symtab_read_pages(table);
		REQUIRE(!bytes.data);
	}
	pd_symtab_free(table);
}

static void check_pages(struct pd_index_pages *pages)
{
	for (unsigned step = 0; step < 64; step++) {
		const struct pd_symtab *table;
		uint64_t number;

		table = pd_index_pages_find(pages, (UINT64_C(1) << step) - 1, &number);
		for (size_t i = 0; table && i < pd_symtab_count(table); i++)
			check_symbol(table, pd_symtab_at(table, i));
	}
}

static void check_kernel(const uint8_t *data, size_t size)
{
	const struct pd_index_key key = { &id, PD_INDEX_KERNEL, 0 };
	const uint8_t head[PD_KALLSYMS_HEAD] = { 0 };
	struct pd_kallsyms kallsyms = { 0 };
	struct pd_image image;
	size_t sealed_size;
	uint8_t *sealed = seal(&key, data, size, &sealed_size);

	pd_image_take_memory(&image, sealed, sealed_size);
	if (pd_index_read_kernel(&image, &key, head, 0, &kallsyms)) {
		check_pages(kallsyms.image);
		pd_kallsyms_close(&kallsyms);
	}
	pd_image_close(&image);
}

static void check_frames(const struct pd_lines_frame *frames, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		REQUIRE(!frames[i].name || strlen(frames[i].name) < SIZE_MAX / 2);
		REQUIRE(!frames[i].file || strlen(frames[i].file) < SIZE_MAX / 2);
	}
}

static void check_lines(const uint8_t *data, size_t size)
{
	const struct pd_index_key key = { &id, PD_INDEX_LINES, 0 };
	struct pd_lines_source source = { .id = id };
	struct pd_lines_frame frames[8];
	struct pd_lines *lines = NULL;
	struct pd_image image;
	size_t sealed_size;
	uint8_t *sealed = seal(&key, data, size, &sealed_size);

	pd_image_take_memory(&image, sealed, sealed_size);
	REQUIRE(pd_lines_open_index(&lines, &source, &image, NULL) == PD_OK);
	for (uint64_t addr = 0; addr < 0x2000; addr += 7) {
		size_t count = pd_lines_find(lines, addr, frames, 8);

		check_frames(frames, count < 8 ? count : 8);
	}
	pd_lines_close(lines);
}

static void check_unit(const uint8_t *data, size_t size)
{
	struct pd_lines_frame frames[8];
	struct pd_unit_table table;
	uint8_t *block = pd_alloc(size);

	REQUIRE(block);
	memcpy(block, data, size);
	if (!pd_unit_table_take(&table, block, size))
		return;
	for (uint32_t range = 0; range < table.range_count; range++)
		for (uint32_t i = 0; i < table.entry_count; i++) {
			size_t count = pd_unit_table_find(&table, table.ranges[range].start + table.entries[i].offset,
							  frames, 8);

			check_frames(frames, count < 8 ? count : 8);
		}
	pd_unit_table_fini(&table);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (!size)
		return 0;
	check_symbols(data, size);
	check_paged(data, size);
	check_kernel(data, size);
	check_lines(data, size);
	check_unit(data + 1, size - 1);
	return 0;
}
