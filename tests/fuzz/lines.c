/* SPDX-License-Identifier: MIT */
/* Objects with debug information: what their code says of itself, also as what several debug files share. */
#include <string.h>

#include "object/dwarf/lines.h"
#include "walk.h"

static struct pd_elf *object;

static void bring(void *self, struct pd_elf **object_out, struct pd_elf **debug_out)
{
	(void)self;
	*object_out = object;
	*debug_out = NULL;
}

static void check_addr(struct pd_lines *lines, uint64_t addr)
{
	struct pd_lines_frame frames[4];
	size_t count = pd_lines_find(lines, addr, frames, 4);

	for (size_t i = 0; i < count && i < 4; i++) {
		REQUIRE(!frames[i].name || (frames[i].name[0] && strlen(frames[i].name) < SIZE_MAX / 2));
		REQUIRE(!frames[i].file || (frames[i].file[0] && strlen(frames[i].file) < SIZE_MAX / 2));
		// only what is not inlined ends a chain that was not cut off
		REQUIRE(i + 1 == count || frames[i].inlined);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct pd_lines_source source = { .files = bring, .limit = 16 << 20 };
	struct pd_lines *lines = NULL;
	struct pd_image image;

	object = NULL;
	pd_image_open_memory(&image, data, size);
	if (pd_elf_open_image(&object, &image, "input", 4 << 20, NULL))
		return 0;
	REQUIRE(pd_lines_open(&lines, &source, NULL) == PD_OK);
	for (size_t i = 0; i < object->section_count && i < 64; i++) {
		const struct pd_elf_section *s = &object->sections[i];

		for (uint64_t at = 0; s->flags & PD_ELF_FLAG_EXEC && at < s->size && at < 2048; at += 3)
			check_addr(lines, s->addr + at);
	}
	check_addr(lines, 0);
	check_addr(lines, UINT64_MAX);
	pd_lines_close(lines);
	pd_elf_close(object);
	return 0;
}
