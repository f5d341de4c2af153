/* SPDX-License-Identifier: MIT */
/*
 * Reads the sections with debug information into one block of memory. What is compressed is inflated, and what a kernel
 * module leaves to its loader is put in, with its code at the addresses that pd_elf_addr gives.
 */
#include "object/dwarf/dwarf.h"

#include <string.h>

#include "base/buffer.h"
#include "file/codec.h"

enum {
	FLAG_COMPRESSED = 0x800,
	COMPRESSED_ZLIB = 1,
	COMPRESSED_ZSTD = 2,
	SECTION_RELA = 4,
	SECTION_REL = 9,
	HIGHEST_RATIO = 1032, // of zlib; nothing that compresses better is debug information
	STEP = 64 << 10,
	ALIGN = 16
};

// Where the code of a module is that is discarded once it runs: an address that is never looked up.
static const uint64_t discarded_addr = (uint64_t)1 << 62;

static const char *const wanted[] = {
	[PD_DEBUG_INFO] = "info",         [PD_DEBUG_ABBREV] = "abbrev",     [PD_DEBUG_LINE] = "line",
	[PD_DEBUG_STR] = "str",           [PD_DEBUG_LINE_STR] = "line_str", [PD_DEBUG_RANGES] = "ranges",
	[PD_DEBUG_RNGLISTS] = "rnglists", [PD_DEBUG_ADDR] = "addr",         [PD_DEBUG_STR_OFFSETS] = "str_offsets",
	[PD_DEBUG_ARANGES] = "aranges",
};

struct part {
	const struct pd_elf_section *section; // NULL if there is none
	uint64_t skip;                        // bytes in front of what is compressed
	uint64_t size;                        // inflated
	const char *codec;                    // NULL if it is not compressed
	size_t at;                            // in the image
};

struct making {
	struct pd_elf *elf;
	struct part parts[PD_DEBUG_SECTIONS];
	uint8_t *data;
	size_t size;
};

// ---- what is there ----

static bool is_named(const char *name, const char *prefix, const char *which)
{
	size_t length = strlen(prefix);

	return strncmp(name, prefix, length) == 0 && strcmp(name + length, which) == 0;
}

static struct part part_of(const struct pd_elf *elf, const struct pd_elf_section *section)
{
	struct part part = { .section = section, .size = section->size };
	uint8_t head[24];
	size_t size = pd_image_copy(&elf->image, section->offset, head,
				    section->size < sizeof(head) ? (size_t)section->size : sizeof(head));
	struct pd_cursor c = pd_cursor(head, size, elf->big);
	uint32_t type;

	if (strncmp(section->name, ".z", 2) == 0 && size >= 12 && memcmp(head, "ZLIB", 4) == 0) {
		c = pd_cursor(head + 4, 8, true);
		part.codec = "gzip";
		part.size = pd_cursor_u64(&c);
		part.skip = 12;
	} else if (section->flags & FLAG_COMPRESSED) {
		type = pd_cursor_u32(&c);
		if (elf->wide)
			pd_cursor_u32(&c);
		part.size = elf->wide ? pd_cursor_u64(&c) : pd_cursor_u32(&c);
		part.skip = elf->wide ? 24 : 12;
		part.codec = type == COMPRESSED_ZLIB ? "gzip" : type == COMPRESSED_ZSTD ? "zstd" : "";
	}
	if (c.failed || part.skip > section->size ||
	    (part.codec && (!pd_codec_by_name(part.codec) || part.size / HIGHEST_RATIO > section->size)))
		part.section = NULL;
	return part;
}

static bool is_debug(const struct pd_elf_section *section, const char *which)
{
	return is_named(section->name, ".debug_", which) || is_named(section->name, ".zdebug_", which);
}

static bool is_in_file(const struct pd_elf *elf, const struct pd_elf_section *section)
{
	return section->type != PD_ELF_SECTION_NOBITS && section->offset <= elf->image.size &&
	       section->size <= elf->image.size - section->offset;
}

static void find_parts(struct making *m)
{
	for (size_t i = 0; i < m->elf->section_count; i++) {
		const struct pd_elf_section *s = &m->elf->sections[i];

		for (size_t w = 0; is_in_file(m->elf, s) && w < PD_DEBUG_SECTIONS; w++)
			if (!m->parts[w].section && is_debug(s, wanted[w]))
				m->parts[w] = part_of(m->elf, s);
	}
}

// ---- bytes ----

// What an inflated section lacks is zeros.
static void inflate_part(const struct making *m, const struct part *part)
{
	const struct pd_codec *codec = pd_codec_by_name(part->codec);
	struct pd_codec_run run = { .out = m->data + part->at, .out_size = (size_t)part->size };
	uint64_t at = part->section->offset + part->skip, end = part->section->offset + part->section->size;
	uint8_t *step = pd_realloc(NULL, STEP);
	void *state = step ? codec->start() : NULL;
	enum pd_codec_result result = PD_CODEC_OK;
	size_t before;

	while (state && result == PD_CODEC_OK && run.out_size && at < end) {
		run.in = step;
		run.in_size = pd_image_copy(&m->elf->image, at, step, end - at < STEP ? (size_t)(end - at) : STEP);
		if (!run.in_size)
			break;
		at += run.in_size;
		do {
			before = run.in_size + run.out_size;
			result = codec->run(state, &run);
		} while (result == PD_CODEC_OK && run.in_size + run.out_size != before);
	}
	if (state)
		codec->close(state);
	pd_free(step);
	if (run.out_size)
		memset(run.out, 0, run.out_size);
}

static void copy_parts(const struct making *m)
{
	for (size_t w = 0; w < PD_DEBUG_SECTIONS; w++) {
		const struct part *part = &m->parts[w];
		size_t got;

		if (!part->section)
			continue;
		m->data[part->at + part->size] = 0;
		if (part->codec) {
			inflate_part(m, part);
			continue;
		}
		got = pd_image_copy(&m->elf->image, part->section->offset, m->data + part->at, (size_t)part->size);
		memset(m->data + part->at + got, 0, (size_t)part->size - got);
	}
}

// ---- what the loader puts in ----

struct absolute {
	uint16_t machine;
	uint16_t type; // of a relocation
	uint8_t size;  // of an address that is put in as it is
};

static const struct absolute absolutes[] = {
	{ 3, 1, 4 },   { 62, 1, 8 },  { 62, 10, 4 }, { 62, 11, 4 }, { 40, 2, 4 }, { 183, 257, 8 }, { 183, 258, 4 },
	{ 22, 4, 4 },  { 22, 22, 8 }, { 21, 1, 4 },  { 21, 38, 8 }, { 20, 1, 4 }, { 243, 1, 4 },   { 243, 2, 8 },
	{ 258, 1, 4 }, { 258, 2, 8 }, { 8, 2, 4 },   { 8, 18, 8 },  { 43, 3, 4 }, { 43, 32, 8 },   { 43, 54, 8 },
};

static unsigned size_of_relocation(const struct pd_elf *elf, uint32_t type)
{
	for (size_t i = 0; i < sizeof(absolutes) / sizeof(absolutes[0]); i++)
		if (absolutes[i].machine == elf->machine && absolutes[i].type == type)
			return absolutes[i].size;
	return 0;
}

struct relocating {
	const struct making *m;
	const struct part *part;
	struct pd_bytes symbols;
	bool has_addend;
};

static uint64_t value_of_symbol(const struct relocating *r, uint64_t index)
{
	const struct pd_elf *elf = r->m->elf;
	size_t size = elf->wide ? 24 : 16;
	struct pd_cursor c;
	uint64_t value;
	uint16_t section;

	if (index >= r->symbols.size / size)
		return 0;
	c = pd_cursor(r->symbols.data + index * size, size, elf->big);
	pd_cursor_u32(&c); // name
	if (elf->wide) {
		pd_cursor_u16(&c); // info, other
		section = pd_cursor_u16(&c);
		value = pd_cursor_u64(&c);
	} else {
		value = pd_cursor_u32(&c);
		pd_cursor_u32(&c); // size
		pd_cursor_u16(&c);
		section = pd_cursor_u16(&c);
	}
	if (section >= elf->section_count)
		return value;
	if (elf->sections[section].placed)
		return value + elf->sections[section].addr;
	return elf->sections[section].flags & PD_ELF_FLAG_ALLOC ? value + discarded_addr : value;
}

static void relocate(const struct relocating *r, struct pd_cursor *c)
{
	const struct pd_elf *elf = r->m->elf;
	uint64_t offset = elf->wide ? pd_cursor_u64(c) : pd_cursor_u32(c);
	uint64_t info = elf->wide ? pd_cursor_u64(c) : pd_cursor_u32(c);
	uint64_t addend = !r->has_addend ? 0 : elf->wide ? pd_cursor_u64(c) : (uint64_t)(int32_t)pd_cursor_u32(c);
	uint64_t symbol = elf->wide ? info >> 32 : info >> 8;
	unsigned size = size_of_relocation(elf, elf->wide ? (uint32_t)info : (uint8_t)info);
	uint8_t *at = r->m->data + r->part->at;
	struct pd_cursor old;
	struct pd_buffer buffer;

	if (c->failed || !size || offset > r->part->size || size > r->part->size - offset)
		return;
	old = pd_cursor(at + offset, size, elf->big);
	if (!r->has_addend)
		addend = size == 8 ? pd_cursor_u64(&old) : pd_cursor_u32(&old);
	buffer = pd_buffer(at + offset, size, elf->big);
	addend += value_of_symbol(r, symbol);
	if (size == 8)
		pd_buffer_u64(&buffer, addend);
	else
		pd_buffer_u32(&buffer, (uint32_t)addend);
}

static void relocate_part(const struct making *m, const struct part *part, const struct pd_elf_section *from)
{
	struct pd_elf *elf = m->elf;
	struct relocating r = { .m = m, .part = part, .has_addend = from->type == SECTION_RELA };
	struct pd_bytes bytes = pd_elf_section_bytes(elf, from);
	struct pd_cursor c = pd_cursor(bytes.data, bytes.size, elf->big);
	size_t size = (elf->wide ? 8 : 4) * (r.has_addend ? 3 : 2);

	if (from->link >= elf->section_count)
		return;
	r.symbols = pd_elf_section_bytes(elf, &elf->sections[from->link]);
	while (pd_cursor_left(&c) >= size)
		relocate(&r, &c);
}

static void relocate_parts(const struct making *m)
{
	for (size_t i = 0; m->elf->type == PD_ELF_TYPE_REL && i < m->elf->section_count; i++) {
		const struct pd_elf_section *s = &m->elf->sections[i];

		if (s->type != SECTION_RELA && s->type != SECTION_REL)
			continue;
		for (size_t w = 0; w < PD_DEBUG_SECTIONS; w++)
			if (m->parts[w].section && m->parts[w].section == m->elf->sections + s->info)
				relocate_part(m, &m->parts[w], s);
	}
}

// ---- all of it ----

// Where everything will be; false if it is more than the limit.
static bool lay_out(struct making *m, size_t limit)
{
	for (size_t w = 0; w < PD_DEBUG_SECTIONS; w++) {
		struct part *part = &m->parts[w];

		if (!part->section)
			continue;
		if (part->size > limit || m->size > limit - (size_t)part->size)
			return false;
		part->at = m->size;
		// one for the NUL after it
		m->size = (m->size + (size_t)part->size + 1 + ALIGN - 1) & ~(size_t)(ALIGN - 1);
	}
	return m->size <= limit;
}

static uint64_t first_addr(const struct pd_elf *elf)
{
	const uint64_t code = PD_ELF_FLAG_ALLOC | PD_ELF_FLAG_EXEC;
	uint64_t first = UINT64_MAX;

	for (size_t i = 0; i < elf->section_count; i++)
		if ((elf->sections[i].flags & code) == code && elf->sections[i].addr < first)
			first = elf->sections[i].addr;
	return first == UINT64_MAX ? 0 : first;
}

static uint64_t sum_of(const struct making *m)
{
	uint64_t sum = 0;

	for (size_t w = 0; w < PD_DEBUG_SECTIONS; w++)
		sum = (sum ^ m->parts[w].size) * 0x9e3779b97f4a7c15u;
	return sum;
}

enum pd_status pd_debug_image_make(struct pd_elf *elf, size_t limit, struct pd_debug_image *image_out,
				   struct pd_error *error)
{
	struct making m = { .elf = elf };

	find_parts(&m);
	if (!m.parts[PD_DEBUG_INFO].section || !m.parts[PD_DEBUG_ABBREV].section)
		return pd_fail(error, PD_ERROR_UNSUPPORTED, PD_NO_OFFSET, "no debug information");
	if (!lay_out(&m, limit))
		return pd_fail(error, PD_ERROR_LIMIT, PD_NO_OFFSET, "more debug information than the limit");
	m.data = pd_realloc(NULL, m.size);
	if (!m.data)
		return pd_fail_memory(error);
	copy_parts(&m);
	relocate_parts(&m);
	*image_out = (struct pd_debug_image){
		.data = m.data,
		.size = m.size,
		.big = elf->big,
		.first_addr = first_addr(elf),
		.sum = sum_of(&m),
	};
	for (size_t w = 0; w < PD_DEBUG_SECTIONS; w++)
		if (m.parts[w].section)
			image_out->sections[w] = (struct pd_bytes){ m.data + m.parts[w].at, (size_t)m.parts[w].size };
	return PD_OK;
}

// ---- one section ----

enum pd_status pd_debug_section_read(struct pd_elf *elf, const char *name, size_t limit, uint8_t **data_out,
				     size_t *size_out, struct pd_error *error)
{
	struct making m = { .elf = elf };

	for (size_t i = 0; i < elf->section_count && !m.parts[0].section; i++)
		if (is_in_file(elf, &elf->sections[i]) && is_debug(&elf->sections[i], name))
			m.parts[0] = part_of(elf, &elf->sections[i]);
	if (!m.parts[0].section || !m.parts[0].size)
		return pd_fail(error, PD_ERROR_UNSUPPORTED, PD_NO_OFFSET, "no section .debug_%s", name);
	if (!lay_out(&m, limit))
		return pd_fail(error, PD_ERROR_LIMIT, PD_NO_OFFSET, "section .debug_%s is larger than the limit", name);
	m.data = pd_realloc(NULL, m.size);
	if (!m.data)
		return pd_fail_memory(error);
	copy_parts(&m);
	relocate_parts(&m);
	*data_out = m.data;
	*size_out = (size_t)m.parts[0].size;
	return PD_OK;
}
