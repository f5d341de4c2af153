/* SPDX-License-Identifier: MIT */
/*
 * ELF files made by hand, 32 and 64 bit, in both byte orders: a header, the contents of sections one after another,
 * segments and section headers.
 */
#ifndef PD_TEST_ELF_IMAGE_H
#define PD_TEST_ELF_IMAGE_H

#include "../image.h"

struct made_section {
	const char *name;
	uint32_t type;
	uint64_t flags;
	uint64_t addr;
	uint32_t link;
	uint32_t info;
	uint64_t align;
	uint64_t entry_size;
	struct image content;
	uint64_t size; // of what has no content
};

struct made_segment {
	uint32_t type, flags;
	uint64_t offset, addr, file_size;
	uint64_t zeroed; // bytes after those of the file
};

struct made_elf {
	bool wide, big;
	uint16_t type, machine;
	uint32_t flags;
	struct made_section sections[12]; // the first one is empty
	size_t section_count;
	struct made_segment segments[4];
	size_t segment_count;
};

static inline void elf_word(struct image *image, bool wide, uint64_t value)
{
	if (wide)
		image_u64(image, value);
	else
		image_u32(image, (uint32_t)value);
}

// Adds a section; its index is the return value. Content goes into sections[index].content.
static inline size_t elf_section(struct made_elf *elf, const char *name, uint32_t type, uint64_t flags, uint64_t addr)
{
	if (!elf->section_count)
		elf->sections[elf->section_count++] = (struct made_section){ .name = "" };
	elf->sections[elf->section_count] =
		(struct made_section){ .name = name, .type = type, .flags = flags, .addr = addr, .align = 1 };
	elf->sections[elf->section_count].content.big = elf->big;
	return elf->section_count++;
}

// Adds a symbol and its name to the tables at two indexes.
static inline void elf_symbol(struct made_elf *elf, size_t table, size_t names, const char *name, unsigned info,
			      unsigned section, uint64_t value, uint64_t size)
{
	struct image *out = &elf->sections[table].content, *text = &elf->sections[names].content;

	elf->sections[table].link = (uint32_t)names;
	elf->sections[table].entry_size = elf->wide ? 24 : 16;
	if (!text->size)
		image_u8(text, 0);
	if (!out->size)
		image_zeros(out, elf->wide ? 24 : 16);
	image_u32(out, (uint32_t)text->size);
	image_text(text, name, strlen(name) + 1);
	if (!elf->wide) {
		image_u32(out, (uint32_t)value);
		image_u32(out, (uint32_t)size);
	}
	image_u8(out, (uint8_t)info);
	image_u8(out, 0);
	image_u16(out, (uint16_t)section);
	if (elf->wide) {
		image_u64(out, value);
		image_u64(out, size);
	}
}

static inline void elf_put_section(struct image *out, const struct made_elf *elf, const struct made_section *s,
				   size_t name, size_t offset)
{
	image_u32(out, (uint32_t)name);
	image_u32(out, s->type);
	elf_word(out, elf->wide, s->flags);
	elf_word(out, elf->wide, s->addr);
	elf_word(out, elf->wide, offset);
	elf_word(out, elf->wide, s->content.size ? s->content.size : s->size);
	image_u32(out, s->link);
	image_u32(out, s->info);
	elf_word(out, elf->wide, s->align);
	elf_word(out, elf->wide, s->entry_size);
}

static inline void elf_put_segment(struct image *out, const struct made_elf *elf, const struct made_segment *s)
{
	image_u32(out, s->type);
	if (elf->wide)
		image_u32(out, s->flags);
	elf_word(out, elf->wide, s->offset);
	elf_word(out, elf->wide, s->addr);
	elf_word(out, elf->wide, s->addr);
	elf_word(out, elf->wide, s->file_size);
	elf_word(out, elf->wide, s->file_size + s->zeroed);
	if (!elf->wide)
		image_u32(out, s->flags);
	elf_word(out, elf->wide, 4096);
}

// Writes the file and gives the contents back.
static inline struct image elf_make(struct made_elf *elf)
{
	struct image out = { .big = elf->big };
	size_t names = elf_section(elf, ".shstrtab", 3, 0, 0), offsets[12], texts[12], head = elf->wide ? 64 : 52;
	struct image *text = &elf->sections[names].content;

	for (size_t i = 0; i < elf->section_count; i++) {
		texts[i] = text->size;
		image_text(text, elf->sections[i].name, strlen(elf->sections[i].name) + 1);
	}
	image_zeros(&out, head + elf->segment_count * (elf->wide ? 56 : 32));
	for (size_t i = 0; i < elf->section_count; i++) {
		offsets[i] = out.size;
		image_bytes(&out, elf->sections[i].content.data, elf->sections[i].content.size);
	}
	struct image front = { .big = elf->big };
	size_t at = out.size;

	image_bytes(&front, "\177ELF", 4);
	image_u8(&front, elf->wide ? 2 : 1);
	image_u8(&front, elf->big ? 2 : 1);
	image_u8(&front, 1);
	image_zeros(&front, 9);
	image_u16(&front, elf->type);
	image_u16(&front, elf->machine);
	image_u32(&front, 1);
	elf_word(&front, elf->wide, 0);
	elf_word(&front, elf->wide, elf->segment_count ? head : 0);
	elf_word(&front, elf->wide, at);
	image_u32(&front, elf->flags);
	image_u16(&front, (uint16_t)head);
	image_u16(&front, elf->wide ? 56 : 32);
	image_u16(&front, (uint16_t)elf->segment_count);
	image_u16(&front, elf->wide ? 64 : 40);
	image_u16(&front, (uint16_t)elf->section_count);
	image_u16(&front, (uint16_t)names);
	for (size_t i = 0; i < elf->segment_count; i++)
		elf_put_segment(&front, elf, &elf->segments[i]);
	memcpy(out.data, front.data, front.size);
	for (size_t i = 0; i < elf->section_count; i++)
		elf_put_section(&out, elf, &elf->sections[i], texts[i], offsets[i]);
	for (size_t i = 0; i < elf->section_count; i++)
		image_free(&elf->sections[i].content);
	image_free(&front);
	return out;
}

#endif
