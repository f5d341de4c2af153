/* SPDX-License-Identifier: MIT */
/* ELF files: headers, sections, segments, notes, and what file offsets are as addresses. */
#include "object/elf/elf.h"

#include <string.h>

#include "base/cursor.h"
#include "file/codec.h"

enum {
	IDENT_SIZE = 16,
	SEGMENT_LOAD = 1,
	SEGMENT_NOTE = 4,
	SEGMENT_EXEC = 1,
	NOTE_BUILD_ID = 3,
	MANY = 0xffff, // the real index or count stands in section 0
	LONGEST_NAME = 64 << 10,
	KEPT_ID = 20,
	NOTES = 64 << 10 // most that are looked through in one place
};

static const size_t default_limit = (size_t)1 << 30;

static uint64_t word(struct pd_cursor *c, bool wide)
{
	return wide ? pd_cursor_u64(c) : pd_cursor_u32(c);
}

bool pd_elf_name(struct pd_bytes names, uint64_t offset, const char **name_out, uint32_t *length_out)
{
	const char *name;
	size_t limit, length;

	if (!names.data || offset >= names.size)
		return false;
	name = (const char *)names.data + offset;
	limit = names.size - (size_t)offset;
	limit = limit < LONGEST_NAME ? limit : LONGEST_NAME;
	length = strnlen(name, limit);
	if (length == limit)
		return false;
	*name_out = name;
	*length_out = (uint32_t)length;
	return true;
}

// ---- headers ----

struct header {
	uint64_t segments_at;
	uint64_t sections_at;
	uint16_t segment_size;
	uint16_t section_size;
	uint32_t segment_count;
	uint32_t section_count;
	uint32_t names;
};

static bool read_header(struct pd_elf *elf, struct header *h)
{
	uint8_t data[64];
	size_t size = pd_image_copy(&elf->image, 0, data, sizeof(data));
	struct pd_cursor c;

	if (size < IDENT_SIZE || memcmp(data, "\177ELF", 4) != 0 || data[4] < 1 || data[4] > 2 || data[5] < 1 ||
	    data[5] > 2)
		return false;
	elf->wide = data[4] == 2;
	elf->big = data[5] == 2;
	c = pd_cursor(data, size, elf->big);
	pd_cursor_take(&c, IDENT_SIZE);
	elf->type = pd_cursor_u16(&c);
	elf->machine = pd_cursor_u16(&c);
	pd_cursor_u32(&c); // version
	elf->entry = word(&c, elf->wide);
	h->segments_at = word(&c, elf->wide);
	h->sections_at = word(&c, elf->wide);
	elf->flags = pd_cursor_u32(&c);
	pd_cursor_u16(&c); // size of this header
	h->segment_size = pd_cursor_u16(&c);
	h->segment_count = pd_cursor_u16(&c);
	h->section_size = pd_cursor_u16(&c);
	h->section_count = pd_cursor_u16(&c);
	h->names = pd_cursor_u16(&c);
	return !c.failed;
}

static struct pd_elf_section read_section(const struct pd_elf *elf, struct pd_cursor *c, uint32_t *name_out)
{
	struct pd_elf_section s = { .name = "" };

	*name_out = pd_cursor_u32(c);
	s.type = pd_cursor_u32(c);
	s.flags = word(c, elf->wide);
	s.addr = word(c, elf->wide);
	s.offset = word(c, elf->wide);
	s.size = word(c, elf->wide);
	s.link = pd_cursor_u32(c);
	s.info = pd_cursor_u32(c);
	s.align = word(c, elf->wide);
	s.entry_size = word(c, elf->wide);
	s.placed = elf->type != PD_ELF_TYPE_REL;
	return s;
}

// Counts that do not fit the header stand in section 0.
static void read_large_counts(const struct pd_elf *elf, struct header *h)
{
	uint8_t data[64];
	size_t size = pd_image_copy(&elf->image, h->sections_at, data, elf->wide ? 64 : 40);
	struct pd_cursor c = pd_cursor(data, size, elf->big);
	struct pd_elf_section first;
	uint32_t name;

	if (!h->sections_at)
		return;
	first = read_section(elf, &c, &name);
	if (c.failed)
		return;
	if (!h->section_count)
		h->section_count = first.size < UINT32_MAX ? (uint32_t)first.size : 0;
	if (h->names == MANY)
		h->names = first.link;
	if (h->segment_count == MANY)
		h->segment_count = first.info;
}

static bool read_sections(struct pd_elf *elf, const struct header *h)
{
	const uint8_t *table = NULL;
	uint32_t *names;

	if (h->section_size >= (elf->wide ? 64 : 40))
		table = pd_image_part(&elf->image, h->sections_at, (uint64_t)h->section_count * h->section_size);
	if (!table || !h->section_count)
		return true;
	elf->sections = pd_arena_alloc(&elf->arena, h->section_count * sizeof(*elf->sections));
	names = pd_arena_alloc(&elf->arena, h->section_count * sizeof(*names));
	if (!elf->sections || !names)
		return false;
	for (size_t i = 0; i < h->section_count; i++) {
		struct pd_cursor c = pd_cursor(table + i * h->section_size, h->section_size, elf->big);

		elf->sections[i] = read_section(elf, &c, &names[i]);
	}
	elf->section_count = h->section_count;
	if (h->names < elf->section_count) {
		struct pd_bytes texts = pd_elf_section_bytes(elf, &elf->sections[h->names]);
		uint32_t length;

		for (size_t i = 0; i < elf->section_count; i++)
			pd_elf_name(texts, names[i], &elf->sections[i].name, &length);
	}
	return true;
}

static struct pd_elf_segment read_segment(const struct pd_elf *elf, struct pd_cursor *c)
{
	struct pd_elf_segment s = { .type = pd_cursor_u32(c) };

	if (elf->wide)
		s.flags = pd_cursor_u32(c);
	s.offset = word(c, elf->wide);
	s.addr = word(c, elf->wide);
	word(c, elf->wide); // physical address
	s.file_size = word(c, elf->wide);
	s.memory_size = word(c, elf->wide);
	if (!elf->wide)
		s.flags = pd_cursor_u32(c);
	s.align = word(c, elf->wide);
	return s;
}

static bool read_segments(struct pd_elf *elf, const struct header *h)
{
	const uint8_t *table = NULL;

	if (h->segment_size >= (elf->wide ? 56 : 32))
		table = pd_image_part(&elf->image, h->segments_at, (uint64_t)h->segment_count * h->segment_size);
	if (!table || !h->segment_count)
		return true;
	elf->segments = pd_arena_alloc(&elf->arena, h->segment_count * sizeof(*elf->segments));
	if (!elf->segments)
		return false;
	for (size_t i = 0; i < h->segment_count; i++) {
		struct pd_cursor c = pd_cursor(table + i * h->segment_size, h->segment_size, elf->big);

		elf->segments[i] = read_segment(elf, &c);
	}
	elf->segment_count = h->segment_count;
	return true;
}

// Where the kernel puts the code of a module: section after section, each aligned; what is only needed while it loads
// stands elsewhere.
static void place_sections(struct pd_elf *elf)
{
	const uint64_t wanted = PD_ELF_FLAG_ALLOC | PD_ELF_FLAG_EXEC;
	uint64_t at = 0;

	for (size_t i = 0; elf->type == PD_ELF_TYPE_REL && i < elf->section_count; i++) {
		struct pd_elf_section *s = &elf->sections[i];
		uint64_t align = s->align > 1 && !(s->align & (s->align - 1)) ? s->align : 1;

		if ((s->flags & wanted) != wanted || strncmp(s->name, ".init", 5) == 0)
			continue;
		s->addr = (at + align - 1) & -align;
		s->placed = true;
		at = s->addr + s->size;
	}
}

// ---- opening ----

// A whole file in a codec is inflated first.
static enum pd_status unpack(struct pd_image *image, size_t limit, struct pd_error *error)
{
	uint8_t head[6], *packed, *data;
	size_t size = pd_image_copy(image, 0, head, sizeof(head)), packed_size;
	const struct pd_stamp stamp = image->stamp;
	enum pd_status status;

	for (size_t i = 0; pd_codecs[i]; i++) {
		const struct pd_codec *codec = pd_codecs[i];

		if (size < codec->magic_size || memcmp(head, codec->magic, codec->magic_size) != 0)
			continue;
		status = pd_image_read_all(image, limit, &packed, &packed_size, error);
		if (status)
			return status;
		status = pd_image_inflate(codec->name, packed, packed_size, limit, &data, &size, error);
		pd_free(packed);
		if (status)
			return status;
		pd_image_close(image);
		pd_image_take_memory(image, data, size);
		image->stamp = stamp;
		return PD_OK;
	}
	return PD_OK;
}

static enum pd_status open_elf(struct pd_elf *elf, const char *name, struct pd_error *error)
{
	struct header h = { 0 };
	enum pd_status status = unpack(&elf->image, elf->limit, error);

	if (status)
		return status;
	if (!read_header(elf, &h))
		return pd_fail(error, PD_ERROR_FORMAT, 0, "%s: not an ELF file", name);
	read_large_counts(elf, &h);
	if (!read_sections(elf, &h) || !read_segments(elf, &h))
		return pd_fail(error, PD_ERROR_LIMIT, PD_NO_OFFSET, "%s: headers larger than the limit", name);
	place_sections(elf);
	return PD_OK;
}

enum pd_status pd_elf_open_image(struct pd_elf **elf_out, struct pd_image *image, const char *name, size_t limit,
				 struct pd_error *error)
{
	struct pd_elf *elf = pd_alloc(sizeof(*elf));
	enum pd_status status;

	if (!elf) {
		pd_image_close(image);
		return pd_fail_memory(error);
	}
	elf->image = *image;
	*image = (struct pd_image){ .fd = -1 };
	elf->limit = limit ? limit : default_limit;
	elf->arena.limit = elf->limit;
	status = open_elf(elf, name, error);
	if (status)
		pd_elf_close(elf);
	else
		*elf_out = elf;
	return status;
}

enum pd_status pd_elf_open(struct pd_elf **elf_out, const char *path, size_t limit, struct pd_error *error)
{
	struct pd_image image;
	enum pd_status status = pd_image_open(&image, path, limit, error);

	return status ? status : pd_elf_open_image(elf_out, &image, path, limit, error);
}

void pd_elf_close(struct pd_elf *elf)
{
	if (!elf)
		return;
	pd_image_close(&elf->image);
	pd_arena_fini(&elf->arena);
	pd_free(elf);
}

// ---- sections ----

const struct pd_elf_section *pd_elf_section_by_name(const struct pd_elf *elf, const char *name)
{
	for (size_t i = 0; i < elf->section_count; i++)
		if (strcmp(elf->sections[i].name, name) == 0)
			return &elf->sections[i];
	return NULL;
}

struct pd_bytes pd_elf_section_bytes(struct pd_elf *elf, const struct pd_elf_section *section)
{
	const uint8_t *data = NULL;

	if (section->type != PD_ELF_SECTION_NOBITS)
		data = pd_image_part(&elf->image, section->offset, section->size);
	return (struct pd_bytes){ data, data ? (size_t)section->size : 0 };
}

bool pd_elf_debuglink(struct pd_elf *elf, const char **name_out, uint32_t *crc_out)
{
	const struct pd_elf_section *section = pd_elf_section_by_name(elf, ".gnu_debuglink");
	struct pd_bytes bytes = { NULL, 0 };
	struct pd_cursor c;
	const char *name;
	uint32_t length;

	if (section)
		bytes = pd_elf_section_bytes(elf, section);
	if (!pd_elf_name(bytes, 0, &name, &length) || !length)
		return false;
	c = pd_cursor(bytes.data, bytes.size, elf->big);
	pd_cursor_take(&c, (length + 4u) & ~3u);
	*crc_out = pd_cursor_u32(&c);
	*name_out = name;
	return !c.failed;
}

// ---- build id ----

bool pd_object_id_equal(const struct pd_object_id *a, const struct pd_object_id *b)
{
	const struct pd_object_id *shorter = a->size < b->size ? a : b;
	const struct pd_object_id *longer = a->size < b->size ? b : a;

	if (!shorter->size || memcmp(a->bytes, b->bytes, shorter->size) != 0)
		return false;
	if (shorter->size == KEPT_ID)
		return true;
	for (size_t i = shorter->size; i < longer->size; i++)
		if (longer->bytes[i])
			return false;
	return true;
}

static bool id_from_notes(const void *notes, size_t size, bool big, uint64_t align, struct pd_object_id *id_out)
{
	struct pd_cursor c = pd_cursor(notes, size, big);
	const uint64_t mask = align == 8 ? 7 : 3;
	const uint8_t *head;

	while ((head = pd_cursor_take(&c, 12)) != NULL) {
		uint64_t name_size = pd_load_u32(head, c.swap), id_size = pd_load_u32(head + 4, c.swap);
		uint32_t type = pd_load_u32(head + 8, c.swap);
		const uint8_t *name, *id;

		// the header is part of what is aligned
		name = pd_cursor_take(&c, ((12 + name_size + mask) & ~mask) - 12);
		id = pd_cursor_take(&c, id_size);
		if (!name || !id)
			return false;
		if (type == NOTE_BUILD_ID && name_size == 4 && memcmp(name, "GNU", 4) == 0 && id_size &&
		    id_size <= sizeof(id_out->bytes)) {
			memcpy(id_out->bytes, id, id_size);
			id_out->size = (uint8_t)id_size;
			return true;
		}
		// the last one may lack its padding
		id_size = -id_size & mask;
		pd_cursor_take(&c, id_size < pd_cursor_left(&c) ? id_size : pd_cursor_left(&c));
	}
	return false;
}

bool pd_object_id_from_notes(const void *notes, size_t size, bool big, struct pd_object_id *id_out)
{
	return id_from_notes(notes, size, big, 4, id_out);
}

static bool id_from_part(struct pd_elf *elf, uint64_t offset, uint64_t size, uint64_t align,
			 struct pd_object_id *id_out)
{
	const uint8_t *data;

	size = size < NOTES ? size : NOTES;
	data = pd_image_part(&elf->image, offset, size);
	return data && id_from_notes(data, (size_t)size, elf->big, align, id_out);
}

bool pd_elf_id(struct pd_elf *elf, struct pd_object_id *id_out)
{
	for (size_t i = 0; i < elf->section_count; i++) {
		const struct pd_elf_section *s = &elf->sections[i];

		if (s->type == PD_ELF_SECTION_NOTE && id_from_part(elf, s->offset, s->size, s->align, id_out))
			return true;
	}
	for (size_t i = 0; i < elf->segment_count; i++) {
		const struct pd_elf_segment *s = &elf->segments[i];

		if (s->type == SEGMENT_NOTE && id_from_part(elf, s->offset, s->file_size, s->align, id_out))
			return true;
	}
	return false;
}

// ---- offsets and addresses ----

static bool is_code(const struct pd_elf_segment *s, bool want)
{
	return s->type == SEGMENT_LOAD && !!(s->flags & SEGMENT_EXEC) == want;
}

static bool is_in(uint64_t value, uint64_t start, uint64_t size)
{
	return value >= start && value - start < size;
}

bool pd_elf_addr(const struct pd_elf *elf, uint64_t offset, uint64_t *addr_out)
{
	for (size_t i = 0; i < 2 * elf->segment_count; i++) {
		const struct pd_elf_segment *s = &elf->segments[i % elf->segment_count];

		if (is_code(s, i < elf->segment_count) && is_in(offset, s->offset, s->file_size)) {
			*addr_out = s->addr + (offset - s->offset);
			return true;
		}
	}
	for (size_t i = 0; elf->type == PD_ELF_TYPE_REL && i < elf->section_count; i++) {
		const struct pd_elf_section *s = &elf->sections[i];

		if (s->placed && s->type != PD_ELF_SECTION_NOBITS && is_in(offset, s->offset, s->size)) {
			*addr_out = s->addr + (offset - s->offset);
			return true;
		}
	}
	return false;
}

bool pd_elf_offset(const struct pd_elf *elf, uint64_t addr, uint64_t *offset_out)
{
	for (size_t i = 0; i < 2 * elf->segment_count; i++) {
		const struct pd_elf_segment *s = &elf->segments[i % elf->segment_count];

		if (is_code(s, i < elf->segment_count) && is_in(addr, s->addr, s->file_size)) {
			*offset_out = s->offset + (addr - s->addr);
			return true;
		}
	}
	for (size_t i = 0; elf->type == PD_ELF_TYPE_REL && i < elf->section_count; i++) {
		const struct pd_elf_section *s = &elf->sections[i];

		if (s->placed && s->type != PD_ELF_SECTION_NOBITS && is_in(addr, s->addr, s->size)) {
			*offset_out = s->offset + (addr - s->addr);
			return true;
		}
	}
	return false;
}
