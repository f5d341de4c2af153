/* SPDX-License-Identifier: MIT */
/* Symbols in the index: what an object looks like in memory, then its table. Of a large one what finds a symbol is in the first part, with a
 * checksum of each page; the pages are behind it, and the file stays open for them. */
#include "object/index/index_file.h"

#include <string.h>
#include <unistd.h>

struct shape {
	uint32_t segment_count;
	uint32_t section_count; // placed ones, of a module
	uint32_t flags;
	uint16_t type;
	uint16_t machine;
	uint8_t big;
	uint8_t wide;
	uint8_t zero[2];
	uint32_t page_count; // of the table; 0: it is a whole one
};

struct segment {
	uint64_t offset, addr, file_size, memory_size, align;
	uint32_t type, flags;
};

struct section {
	uint64_t addr, offset, size, flags;
	uint32_t type, zero;
};

// ---- reading ----

// Takes the next bytes; false if there are less.
static bool read_bytes(const uint8_t **at, size_t *left, void *out, size_t size)
{
	if (size > *left)
		return false;
	memcpy(out, *at, size);
	*at += size;
	*left -= size;
	return true;
}

static bool take_segments(struct pd_elf *elf, size_t count, const uint8_t **at, size_t *left)
{
	struct segment s;

	if (count > *left / sizeof(s))
		return false;
	elf->segments = pd_arena_alloc(&elf->arena, count * sizeof(*elf->segments));
	for (size_t i = 0; elf->segments && i < count && read_bytes(at, left, &s, sizeof(s)); i++)
		elf->segments[elf->segment_count++] = (struct pd_elf_segment){
			.type = s.type,
			.flags = s.flags,
			.offset = s.offset,
			.addr = s.addr,
			.file_size = s.file_size,
			.memory_size = s.memory_size,
			.align = s.align,
		};
	return elf->segment_count == count;
}

static bool take_sections(struct pd_elf *elf, size_t count, const uint8_t **at, size_t *left)
{
	struct section s;

	if (count > *left / sizeof(s))
		return false;
	elf->sections = pd_arena_alloc(&elf->arena, count * sizeof(*elf->sections));
	for (size_t i = 0; elf->sections && i < count && read_bytes(at, left, &s, sizeof(s)); i++)
		elf->sections[elf->section_count++] = (struct pd_elf_section){
			.name = "",
			.type = s.type,
			.placed = true,
			.flags = s.flags,
			.addr = s.addr,
			.offset = s.offset,
			.size = s.size,
		};
	return elf->section_count == count;
}

static struct pd_elf *take_shape(const uint8_t **at, size_t *left, size_t *page_count_out)
{
	struct pd_elf *elf = pd_alloc(sizeof(*elf));
	struct shape shape;

	if (!elf)
		return NULL;
	elf->image.fd = -1;
	if (read_bytes(at, left, &shape, sizeof(shape)) && take_segments(elf, shape.segment_count, at, left) &&
	    take_sections(elf, shape.section_count, at, left)) {
		elf->type = shape.type;
		elf->machine = shape.machine;
		elf->flags = shape.flags;
		elf->big = shape.big != 0;
		elf->wide = shape.wide != 0;
		*page_count_out = shape.page_count;
		return elf;
	}
	pd_elf_close(elf);
	return NULL;
}

// What a table in pages reads them from.
struct pages {
	struct pd_image file;
	uint64_t begin;
	size_t count;
	uint64_t sums[];
};

static bool read_page(void *self, size_t page, uint64_t offset, void *data, size_t size)
{
	const struct pages *pages = self;

	return page < pages->count && pd_image_copy(&pages->file, pages->begin + offset, data, size) == size &&
	       pd_index_sum(data, size) == pages->sums[page];
}

static void close_pages(void *self)
{
	struct pages *pages = self;

	pd_image_close(&pages->file);
	pd_free(pages);
}

// The sums stand in front of the table. NULL if they are not there, or without memory.
static struct pages *take_pages(size_t count, uint64_t begin, const uint8_t **at, size_t *left)
{
	struct pages *pages;

	if (count > *left / sizeof(pages->sums[0]))
		return NULL;
	pages = pd_alloc(sizeof(*pages) + count * sizeof(pages->sums[0]));
	if (!pages)
		return NULL;
	pages->file = (struct pd_image){ .fd = -1 };
	pages->begin = begin;
	pages->count = count;
	read_bytes(at, left, pages->sums, count * sizeof(pages->sums[0]));
	return pages;
}

// Others need descriptors, too: a file does not stay open where half of them are taken.
static bool may_stay_open(const struct pd_image *file)
{
	long most = sysconf(_SC_OPEN_MAX);

	return most < 0 || file->fd < most / 2;
}

// Takes over the block, if it succeeds, and the file, if the table is in pages.
static bool take_table(struct pd_image *file, const struct pd_index_content *content, const uint8_t *at, size_t left,
		       size_t page_count, struct pd_symtab **table_out)
{
	struct pages *pages;
	struct pd_symtab_pages source = { .size = file->size - content->end, .read = read_page, .close = close_pages };

	if (!page_count)
		return pd_symtab_unpack(table_out, content->block, at, left);
	source.self = pages = take_pages(page_count, content->end, &at, &left);
	if (!pages)
		return false;
	if (!pd_symtab_unpack_pages(table_out, content->block, at, left, &source)) {
		pd_free(pages);
		return false;
	}
	if (!pd_symtab_is_in_pages(*table_out)) {
		pd_free(pages);
		return true;
	}
	pages->file = *file;
	*file = (struct pd_image){ .fd = -1 };
	if (!may_stay_open(&pages->file))
		pd_symtab_read_pages(*table_out);
	return true;
}

bool pd_index_read_symbols(struct pd_image *file, const struct pd_index_key *key, size_t limit,
			   struct pd_elf **shape_out, struct pd_symtab **table_out)
{
	struct pd_elf *shape = NULL;
	struct pd_index_content content;
	size_t left, page_count;
	const uint8_t *at;

	if ((limit && file->size > limit) || !pd_index_first(file, key, SIZE_MAX, &content))
		return false;
	at = content.data;
	left = content.size;
	// what stands before the table is of multiples of 8 bytes
	shape = take_shape(&at, &left, &page_count);
	if (shape && take_table(file, &content, at, left, page_count, table_out)) {
		*shape_out = shape;
		return true;
	}
	pd_free(content.block);
	pd_elf_close(shape);
	return false;
}

bool pd_index_load_symbols(const char *index, const struct pd_object_id *id, const struct pd_file_origin *origin,
			   uint32_t variant, size_t limit, struct pd_elf **shape_out, struct pd_symtab **table_out)
{
	struct pd_index_key key = { id, PD_INDEX_SYMBOLS, variant, origin };
	struct pd_image image;
	bool ok;

	if (!pd_index_open(index, &key, &image))
		return false;
	ok = pd_index_read_symbols(&image, &key, limit, shape_out, table_out);
	pd_image_close(&image);
	return ok;
}

// ---- writing ----

static uint8_t *write_bytes(uint8_t *at, const void *data, size_t size)
{
	memcpy(at, data, size);
	return at + size;
}

static bool is_kept(const struct pd_elf *elf, const struct pd_elf_section *section)
{
	return elf->type == PD_ELF_TYPE_REL && section->placed;
}

static uint8_t *put_shape(uint8_t *at, const struct pd_elf *elf, size_t section_count, size_t page_count)
{
	struct shape shape = {
		.segment_count = (uint32_t)elf->segment_count,
		.section_count = (uint32_t)section_count,
		.flags = elf->flags,
		.type = elf->type,
		.machine = elf->machine,
		.big = elf->big,
		.wide = elf->wide,
		.page_count = (uint32_t)page_count,
	};

	at = write_bytes(at, &shape, sizeof(shape));
	for (size_t i = 0; i < elf->segment_count; i++) {
		const struct pd_elf_segment *s = &elf->segments[i];
		struct segment segment = {
			s->offset, s->addr, s->file_size, s->memory_size, s->align, s->type, s->flags
		};

		at = write_bytes(at, &segment, sizeof(segment));
	}
	for (size_t i = 0; i < elf->section_count; i++) {
		const struct pd_elf_section *s = &elf->sections[i];
		struct section section = { s->addr, s->offset, s->size, s->flags, s->type, 0 };

		if (is_kept(elf, s))
			at = write_bytes(at, &section, sizeof(section));
	}
	return at;
}

static size_t shape_size(const struct pd_elf *object, size_t *sections_out)
{
	size_t sections = 0;

	for (size_t i = 0; i < object->section_count; i++)
		sections += is_kept(object, &object->sections[i]);
	*sections_out = sections;
	return sizeof(struct shape) + object->segment_count * sizeof(struct segment) +
	       sections * sizeof(struct section);
}

static void save_whole(const char *index, const struct pd_index_key *key, const struct pd_elf *object,
		       const struct pd_symtab *table)
{
	size_t sections, size = shape_size(object, &sections) + pd_symtab_packed_size(table);
	struct pd_index_part part = { .size = size };
	uint8_t *data = size > pd_index_file_limit() ? NULL : pd_realloc(NULL, size);

	if (!data)
		return;
	pd_symtab_pack(table, put_shape(data, object, sections, 0));
	part.data = data;
	pd_index_write(index, key, &part, 1);
	pd_free(data);
}

// In front of the first part of the table are the sums of pages. False if there is no memory.
static bool put_pages(uint8_t *first, uint8_t *pages, const struct pd_symtab *table)
{
	const size_t count = pd_symtab_page_count(table), sums_size = count * sizeof(uint64_t);
	uint64_t *ends = pd_realloc(NULL, sums_size), begin = 0, sum;

	if (!ends)
		return false;
	pd_symtab_pack_pages(table, first + sums_size, pages, ends);
	for (size_t i = 0; i < count; i++) {
		sum = pd_index_sum(pages + begin, (size_t)(ends[i] - begin));
		first = write_bytes(first, &sum, sizeof(sum));
		begin = ends[i];
	}
	pd_free(ends);
	return true;
}

static void save_pages(const char *index, const struct pd_index_key *key, const struct pd_elf *object,
		       const struct pd_symtab *table)
{
	size_t sections, pages = pd_symtab_page_count(table), pages_size = pd_symtab_pages_size(table);
	size_t size = shape_size(object, &sections) + pages * sizeof(uint64_t) + pd_symtab_first_size(table);
	struct pd_index_part parts[] = { { .size = size }, { .size = pages_size } };
	uint8_t *data = size + pages_size > pd_index_file_limit() ? NULL : pd_realloc(NULL, size + pages_size);

	if (!data)
		return;
	parts[0].data = data;
	parts[1].data = data + size;
	if (put_pages(put_shape(data, object, sections, pages), data + size, table))
		pd_index_write(index, key, parts, sizeof(parts) / sizeof(parts[0]));
	pd_free(data);
}

void pd_index_save_symbols(const char *index, const struct pd_object_id *id, const struct pd_file_origin *origin,
			   uint32_t variant, const struct pd_elf *object, const struct pd_symtab *table)
{
	struct pd_index_key key = { id, PD_INDEX_SYMBOLS, variant, origin };

	if (index && pd_symtab_is_large(table))
		save_pages(index, &key, object, table);
	else if (index)
		save_whole(index, &key, object, table);
}
