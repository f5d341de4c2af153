/* SPDX-License-Identifier: MIT */
/* Symbols in the index: what an object looks like in memory, then its table. */
#include "object/index/index_file.h"

#include <string.h>

struct shape {
	uint32_t segment_count;
	uint32_t section_count; // placed ones, of a module
	uint32_t flags;
	uint16_t type;
	uint16_t machine;
	uint8_t big;
	uint8_t wide;
	uint8_t zero[6];
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

static struct pd_elf *take_shape(const uint8_t **at, size_t *left)
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
		return elf;
	}
	pd_elf_close(elf);
	return NULL;
}

bool pd_index_read_symbols(const struct pd_image *image, const struct pd_index_key *key, size_t limit,
			   struct pd_elf **shape_out, struct pd_symtab **table_out)
{
	struct pd_elf *shape = NULL;
	struct pd_index_content content;
	const uint8_t *at;
	size_t left;

	if (!pd_index_first(image, key, limit ? limit : SIZE_MAX, &content))
		return false;
	at = content.data;
	left = content.size;
	// what stands before the table is of multiples of 8 bytes
	shape = take_shape(&at, &left);
	if (shape && pd_symtab_unpack(table_out, content.block, at, left)) {
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

static uint8_t *put_shape(uint8_t *at, const struct pd_elf *elf, size_t section_count)
{
	struct shape shape = {
		.segment_count = (uint32_t)elf->segment_count,
		.section_count = (uint32_t)section_count,
		.flags = elf->flags,
		.type = elf->type,
		.machine = elf->machine,
		.big = elf->big,
		.wide = elf->wide,
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

void pd_index_save_symbols(const char *index, const struct pd_object_id *id, const struct pd_file_origin *origin,
			   uint32_t variant, const struct pd_elf *object, const struct pd_symtab *table)
{
	struct pd_index_key key = { id, PD_INDEX_SYMBOLS, variant, origin };
	struct pd_index_part part = { .size = sizeof(struct shape) + object->segment_count * sizeof(struct segment) };
	size_t sections = 0;
	uint8_t *data;

	for (size_t i = 0; i < object->section_count; i++)
		sections += is_kept(object, &object->sections[i]);
	part.size += sections * sizeof(struct section) + pd_symtab_packed_size(table);
	if (!index || part.size > pd_index_file_limit())
		return;
	data = pd_realloc(NULL, (size_t)part.size);
	if (!data)
		return;
	pd_symtab_pack(table, put_shape(data, object, sections));
	part.data = data;
	pd_index_write(index, &key, &part, 1);
	pd_free(data);
}
