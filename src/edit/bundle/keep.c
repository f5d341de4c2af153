/* SPDX-License-Identifier: MIT */
/*
 * What stays of an object: headers, and all sections but those with the code and data of the program. Every byte that
 * stays keeps its place, so that segments, symbols and unwind information mean what they meant; sections without
 * their bytes are marked as such (NOBITS), so that nobody takes holes for code.
 */
#include "edit/bundle/bundle.h"

#include <stdlib.h>
#include <string.h>

#include "base/cursor.h"
#include "file/archive.h"

enum {
	SECTION_PROGBITS = 1,
	SECTION_RELA = 4,
	SECTION_REL = 9,
	SECTION_INIT_ARRAY = 14,
	SECTION_FINI_ARRAY = 15,
	SECTION_RELR = 19,
	SEGMENT_NOTE = 4,
	IDENT_SIZE = 16,
	HEADER_SIZE_WIDE = 64,
	HEADER_SIZE = 52,
	TYPE_AT = 4
};

// Of what is loaded and is code or data by its type: unwinding, stubs (tools read them), function descriptors, texts.
static const char *const wanted[] = { ".eh_frame", ".plt", ".opd", ".ARM.ex", ".note", ".interp", ".gnu_debug" };

static bool begins(const char *text, const char *with)
{
	return strncmp(text, with, strlen(with)) == 0;
}

static bool is_relocation(const struct pd_elf_section *s)
{
	return s->type == SECTION_RELA || s->type == SECTION_REL || s->type == SECTION_RELR;
}

static bool is_dropped(const struct pd_elf *elf, const struct pd_elf_section *s)
{
	// for code that is not there
	if (!(s->flags & PD_ELF_FLAG_ALLOC))
		return is_relocation(s) && s->info && s->info < elf->section_count &&
		       !is_relocation(&elf->sections[s->info]) && is_dropped(elf, &elf->sections[s->info]);
	// those of the slots that stubs jump to name the stubs
	if (is_relocation(s))
		return !strstr(s->name, "plt") && !(strstr(s->name, "dyn") && pd_elf_section_by_name(elf, ".plt.got"));
	if (s->type != SECTION_PROGBITS && s->type != SECTION_INIT_ARRAY && s->type != SECTION_FINI_ARRAY)
		return false;
	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++)
		if (begins(s->name, wanted[i]))
			return false;
	return true;
}

static bool keep_range(struct pd_keep *keep, const struct pd_elf *elf, uint64_t offset, uint64_t size)
{
	if (offset >= elf->image.size || !size)
		return true;
	if (size > elf->image.size - offset)
		size = elf->image.size - offset;
	// whole blocks: GNU tar begins each stretch at a block of the archive
	size += offset % PD_TAR_BLOCK;
	offset -= offset % PD_TAR_BLOCK;
	size += -size % PD_TAR_BLOCK;
	if (size > elf->image.size - offset)
		size = elf->image.size - offset;
	if (!PD_GROW(keep->stretches, keep->capacity, keep->count + 1))
		return false;
	keep->stretches[keep->count++] = (struct pd_stretch){ offset, size };
	return true;
}

static int by_offset(const void *a, const void *b)
{
	const struct pd_stretch *x = a, *y = b;

	return x->offset < y->offset ? -1 : x->offset > y->offset;
}

// Those that touch become one.
static void merge(struct pd_keep *keep)
{
	size_t out = 0;

	qsort(keep->stretches, keep->count, sizeof(*keep->stretches), by_offset);
	for (size_t i = 0; i < keep->count; i++) {
		struct pd_stretch *last = out ? &keep->stretches[out - 1] : NULL, *s = &keep->stretches[i];
		uint64_t end = s->offset + s->size;

		if (!last || s->offset > last->offset + last->size)
			keep->stretches[out++] = *s;
		else if (end > last->offset + last->size)
			last->size = end - last->offset;
	}
	keep->count = out;
}

struct tables {
	uint64_t segments_at, sections_at;
	uint16_t segment_size, section_size;
};

static bool read_tables(const struct pd_elf *elf, struct tables *t)
{
	uint8_t data[HEADER_SIZE_WIDE];
	size_t size = pd_image_copy(&elf->image, 0, data, elf->wide ? HEADER_SIZE_WIDE : HEADER_SIZE);
	struct pd_cursor c = pd_cursor(data, size, elf->big);
	size_t word = elf->wide ? 8 : 4;

	pd_cursor_take(&c, IDENT_SIZE + 2 + 2 + 4 + word); // up to the entry
	t->segments_at = elf->wide ? pd_cursor_u64(&c) : pd_cursor_u32(&c);
	t->sections_at = elf->wide ? pd_cursor_u64(&c) : pd_cursor_u32(&c);
	pd_cursor_u32(&c); // flags
	pd_cursor_u16(&c); // size of this header
	t->segment_size = pd_cursor_u16(&c);
	pd_cursor_u16(&c);
	t->section_size = pd_cursor_u16(&c);
	return !c.failed;
}

static bool read_headers(struct pd_keep *keep, const struct pd_elf *elf, const struct tables *t)
{
	keep->headers_at = t->sections_at;
	keep->headers_size = elf->section_count * t->section_size;
	keep->headers = pd_alloc(keep->headers_size + 1);
	return keep->headers &&
	       pd_image_copy(&elf->image, t->sections_at, keep->headers, keep->headers_size) == keep->headers_size;
}

static bool take_sections(struct pd_keep *keep, const struct pd_elf *elf, const struct tables *t, bool with_code)
{
	for (size_t i = 0; i < elf->section_count; i++) {
		const struct pd_elf_section *s = &elf->sections[i];
		uint8_t *type = keep->headers + i * t->section_size + TYPE_AT;

		if (s->type == PD_ELF_SECTION_NOBITS)
			continue;
		if (!is_dropped(elf, s) || (with_code && s->flags & PD_ELF_FLAG_EXEC)) {
			if (!keep_range(keep, elf, s->offset, s->size))
				return false;
			continue;
		}
		memset(type, 0, 4);
		type[elf->big ? 3 : 0] = PD_ELF_SECTION_NOBITS;
	}
	return true;
}

bool pd_keep_make(struct pd_keep *keep, struct pd_elf *elf, bool with_code)
{
	struct tables t;
	bool ok = true;

	*keep = (struct pd_keep){ .stretches = NULL };
	// without sections nobody can tell what is what
	if (!elf->section_count || !read_tables(elf, &t))
		return true;
	ok = read_headers(keep, elf, &t) && keep_range(keep, elf, 0, elf->wide ? HEADER_SIZE_WIDE : HEADER_SIZE) &&
	     keep_range(keep, elf, t.segments_at, (uint64_t)elf->segment_count * t.segment_size) &&
	     keep_range(keep, elf, t.sections_at, keep->headers_size) && take_sections(keep, elf, &t, with_code);
	for (size_t i = 0; ok && i < elf->segment_count; i++)
		if (elf->segments[i].type == SEGMENT_NOTE)
			ok = keep_range(keep, elf, elf->segments[i].offset, elf->segments[i].file_size);
	if (!ok) {
		pd_keep_fini(keep);
		return false;
	}
	merge(keep);
	return true;
}

void pd_keep_fini(struct pd_keep *keep)
{
	pd_free(keep->stretches);
	pd_free(keep->headers);
	*keep = (struct pd_keep){ .stretches = NULL };
}

void pd_keep_change(const struct pd_keep *keep, uint64_t offset, uint8_t *data, size_t size)
{
	uint64_t from = keep->headers_at > offset ? keep->headers_at : offset;
	uint64_t end = keep->headers_at + keep->headers_size, to = end < offset + size ? end : offset + size;

	if (keep->headers && from < to)
		memcpy(data + (from - offset), keep->headers + (from - keep->headers_at), (size_t)(to - from));
}
