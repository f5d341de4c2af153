/* SPDX-License-Identifier: MIT */
/*
 * What stays of objects in a bundle says what they said: the same symbols, build id, places, and the same bytes of debug
 * and unwind information; and no section claims bytes that are holes.
 * usage: test-kept OBJECT...    (what is no object is left out)
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "edit/bundle/bundle.h"
#include "fuzz/walk.h"

enum {
	STEP = 1 << 16
};

static unsigned wrong;

static void fail(const char *path, const char *what)
{
	printf("FAIL %s: %s\n", path, what);
	wrong++;
}

static struct pd_archive *pack(struct pd_elf *elf, const struct pd_keep *keep)
{
	const struct pd_open_options options = { .size = sizeof(options) };
	const struct pd_stretch all = { 0, elf->image.size };
	const struct pd_tar_member m = { "x", NULL, elf->image.size, keep->stretches, keep->count, false };
	int fd = memfd_create("bundle", 0);
	struct pd_archive *archive = NULL;
	uint8_t *step = malloc(STEP);
	struct pd_error error;
	struct pd_tar tar;

	REQUIRE(fd >= 0 && step && pd_tar_init(&tar, fd, "memory", 0, NULL) == PD_OK &&
		pd_tar_begin(&tar, &m, NULL) == PD_OK);
	for (size_t i = 0; i < (keep->stretches ? keep->count : 1); i++) {
		const struct pd_stretch *s = keep->stretches ? &keep->stretches[i] : &all;

		for (uint64_t at = s->offset; at < s->offset + s->size; at += STEP) {
			uint64_t left = s->offset + s->size - at;
			size_t part = left < STEP ? (size_t)left : STEP;

			REQUIRE(pd_image_copy(&elf->image, at, step, part) == part);
			pd_keep_change(keep, at, step, part);
			REQUIRE(pd_tar_put(&tar, step, part, NULL) == PD_OK);
		}
	}
	REQUIRE(pd_tar_pad(&tar, NULL) == PD_OK && pd_tar_end(&tar, NULL) == PD_OK && lseek(fd, 0, SEEK_SET) == 0);
	REQUIRE(pd_archive_open_fd(dup(fd), &options, &archive, &error) == PD_OK);
	pd_tar_fini(&tar);
	free(step);
	close(fd);
	return archive;
}

static void compare_symbols(const char *path, struct pd_elf *elf, struct pd_elf *other)
{
	const struct pd_elf_symbol_options options = { .data = true };
	struct pd_symtab *a = NULL, *b = NULL;

	REQUIRE(pd_elf_symtab(elf, NULL, &options, &a, NULL) == PD_OK &&
		pd_elf_symtab(other, NULL, &options, &b, NULL) == PD_OK);
	if (pd_symtab_count(a) != pd_symtab_count(b))
		fail(path, "another number of symbols");
	for (size_t i = 0; i < pd_symtab_count(a) && i < pd_symtab_count(b); i++) {
		struct pd_symbol x = pd_symtab_at(a, i), y = pd_symtab_at(b, i);

		if (x.start != y.start || x.end != y.end || x.kind != y.kind || x.bind != y.bind ||
		    strcmp(x.name, y.name) != 0) {
			fail(path, "another symbol");
			break;
		}
	}
	pd_symtab_free(a);
	pd_symtab_free(b);
}

static bool is_needed(const struct pd_elf_section *s)
{
	return strncmp(s->name, ".debug_", 7) == 0 || strncmp(s->name, ".eh_frame", 9) == 0 ||
	       s->type == PD_ELF_SECTION_NOTE || strncmp(s->name, ".gnu_debug", 10) == 0 ||
	       s->type == PD_ELF_SECTION_SYMTAB || s->type == PD_ELF_SECTION_DYNSYM;
}

// What has its bytes has the right ones; what is needed has them.
static void compare_sections(const char *path, struct pd_elf *elf, struct pd_elf *other)
{
	for (size_t i = 0; i < elf->section_count; i++) {
		const struct pd_elf_section *a = &elf->sections[i], *b = &other->sections[i];
		uint8_t *x, *y;

		if (b->type == PD_ELF_SECTION_NOBITS && a->type != PD_ELF_SECTION_NOBITS && is_needed(a))
			fail(path, a->name);
		if (b->type == PD_ELF_SECTION_NOBITS || b->offset > elf->image.size ||
		    b->size > elf->image.size - b->offset)
			continue;
		x = malloc(b->size + 1);
		y = malloc(b->size + 1);
		REQUIRE(x && y && pd_image_copy(&elf->image, a->offset, x, b->size) == b->size);
		REQUIRE(pd_image_copy(&other->image, b->offset, y, b->size) == b->size);
		if (memcmp(x, y, b->size) != 0)
			fail(path, b->name);
		free(x);
		free(y);
	}
}

static void compare(const char *path, struct pd_elf *elf, struct pd_elf *other)
{
	struct pd_object_id id = { .size = 0 }, other_id = { .size = 0 };
	uint64_t a = 0, b = 0;

	REQUIRE(elf->section_count == other->section_count && elf->segment_count == other->segment_count);
	if (pd_elf_id(elf, &id) != pd_elf_id(other, &other_id) || (id.size && !pd_object_id_equal(&id, &other_id)))
		fail(path, "another build id");
	for (uint64_t at = 0; at < elf->image.size; at += 4096)
		if (pd_elf_addr(elf, at, &a) != pd_elf_addr(other, at, &b) || a != b)
			fail(path, "another place");
	compare_symbols(path, elf, other);
	compare_sections(path, elf, other);
}

int main(int argc, char **argv)
{
	uint64_t sizes = 0, kept = 0;
	unsigned count = 0;

	for (int i = 1; i < argc; i++) {
		struct pd_elf *elf = NULL, *other = NULL;
		struct pd_archive *archive;
		struct pd_image image;
		struct pd_keep keep;

		if (pd_elf_open(&elf, argv[i], 0, NULL) != PD_OK)
			continue;
		REQUIRE(pd_keep_make(&keep, elf, false));
		if (keep.count == 1 && keep.stretches[0].size == elf->image.size)
			keep.count = 0;
		archive = pack(elf, &(struct pd_keep){ keep.count ? keep.stretches : NULL, keep.count, 0, keep.headers,
						       keep.headers_at, keep.headers_size });
		pd_image_open_member(&image, archive, pd_archive_find(archive, "x"), 0);
		REQUIRE(pd_elf_open_image(&other, &image, argv[i], 0, NULL) == PD_OK);
		compare(argv[i], elf, other);
		sizes += elf->image.size;
		for (size_t k = 0; k < keep.count; k++)
			kept += keep.stretches[k].size;
		count++;
		pd_elf_close(other);
		pd_archive_close(archive);
		pd_keep_fini(&keep);
		pd_elf_close(elf);
	}
	printf("%u objects, %u wrong; %llu of %llu KiB kept\n", count, wrong, (unsigned long long)kept >> 10,
	       (unsigned long long)sizes >> 10);
	return wrong || !count;
}
