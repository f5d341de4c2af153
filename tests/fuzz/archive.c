/* SPDX-License-Identifier: MIT */
/*
 * Bytes as a tar file: its list, its members, the recording in it, the objects in it; what stays of these is packed again
 * and must read as it was.
 */
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "edit/bundle/bundle.h"
#include "file/archive.h"
#include "object/find/find.h"
#include "walk.h"

enum {
	MEMBERS_READ = 64,
	LIMIT = 8 << 20
};

static struct pd_open_options limits(void)
{
	return (struct pd_open_options){ .size = sizeof(struct pd_open_options),
					 .memory_limit = LIMIT,
					 .inflate_limit = 1 << 20 };
}

// Mutants keep the checksums of their headers, else few would be looked into.
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed)
{
	char digits[8];

	(void)seed;
	size = LLVMFuzzerMutate(data, size, max_size);
	for (size_t at = 0; at + PD_TAR_BLOCK <= size; at += PD_TAR_BLOCK) {
		unsigned sum = 8 * ' ';

		if (memcmp(data + at + 257, "ustar", 5) != 0)
			continue;
		for (size_t i = 0; i < PD_TAR_BLOCK; i++)
			sum += i - 148 < 8 ? 0 : data[at + i];
		snprintf(digits, sizeof(digits), "%06o", sum);
		memcpy(data + at + 148, digits, 7);
	}
	return size;
}

// Nothing leads out.
static void check_name(const struct pd_member *member)
{
	const char *name = member->name;

	if (member->kind == PD_MEMBER_REFUSED) {
		REQUIRE(member->reason);
		return;
	}
	while (*name) {
		size_t length = strcspn(name, "/");

		REQUIRE(length && strncmp(name, "..", length < 2 ? 2 : length) != 0 &&
			!(length == 1 && name[0] == '.'));
		name += length + (name[length] == '/');
		REQUIRE(*name || name[-1] != '/');
	}
}

// The stretches are in order, and what is between them is zeros.
static void check_bytes(const struct pd_archive *archive, const struct pd_member *member)
{
	uint64_t start, size, after = 0;
	uint8_t bytes[100];
	size_t got;

	for (uint64_t at = 0, i = 0; i < 1000 && pd_archive_extent(archive, member, at, &start, &size); i++) {
		REQUIRE(start >= after && start <= member->size && size <= member->size - start && start + size > at);
		if (start > after) {
			REQUIRE(pd_archive_read(archive, member, after, bytes, 1, &got, NULL) == PD_OK && got == 1 &&
				!bytes[0]);
			REQUIRE(pd_archive_read(archive, member, start - 1, bytes, sizeof(bytes), &got, NULL) ==
					PD_OK &&
				!bytes[0]);
		}
		REQUIRE(pd_archive_read(archive, member, start, bytes, sizeof(bytes), &got, NULL) == PD_OK);
		REQUIRE(got == (member->size - start < sizeof(bytes) ? member->size - start : sizeof(bytes)));
		after = at = start + size;
	}
	REQUIRE(pd_archive_read(archive, member, member->size, bytes, sizeof(bytes), &got, NULL) == PD_OK && !got);
}

static void check_members(const struct pd_archive *archive)
{
	const struct pd_member *member, *found;

	for (size_t i = 0; (member = pd_archive_member(archive, i)) != NULL; i++) {
		check_name(member);
		found = pd_archive_find(archive, member->name);
		REQUIRE(!found || found->kind == PD_MEMBER_FILE);
		if (member->kind == PD_MEMBER_FILE && i < MEMBERS_READ)
			check_bytes(archive, member);
	}
}

// ---- objects ----

static void put_object(struct pd_tar *tar, struct pd_elf *elf, const struct pd_keep *keep)
{
	const struct pd_tar_member m = {
		.name = "x", .size = elf->image.size, .stretches = keep->stretches, .stretch_count = keep->count
	};
	uint8_t bytes[4096];

	REQUIRE(pd_tar_begin(tar, &m, NULL) == PD_OK);
	for (size_t i = 0; i < keep->count; i++) {
		uint64_t at = keep->stretches[i].offset, left = keep->stretches[i].size;

		REQUIRE(i == 0 || at > keep->stretches[i - 1].offset + keep->stretches[i - 1].size);
		REQUIRE(at < m.size && left && left <= m.size - at);
		while (left) {
			size_t part = left < sizeof(bytes) ? (size_t)left : sizeof(bytes);

			REQUIRE(pd_image_copy(&elf->image, at, bytes, part) == part);
			pd_keep_change(keep, at, bytes, part);
			REQUIRE(pd_tar_put(tar, bytes, part, NULL) == PD_OK);
			at += part;
			left -= part;
		}
	}
	REQUIRE(pd_tar_pad(tar, NULL) == PD_OK && pd_tar_end(tar, NULL) == PD_OK);
}

static void compare(struct pd_elf *elf, struct pd_elf *other)
{
	struct pd_object_id id = { .size = 0 }, other_id = { .size = 0 };

	REQUIRE(elf->section_count == other->section_count && elf->segment_count == other->segment_count);
	for (size_t i = 0; i < elf->section_count; i++) {
		const struct pd_elf_section *a = &elf->sections[i], *b = &other->sections[i];

		REQUIRE(strcmp(a->name, b->name) == 0 && a->addr == b->addr && a->offset == b->offset &&
			a->size == b->size);
		REQUIRE(a->type == b->type || b->type == PD_ELF_SECTION_NOBITS);
	}
	REQUIRE(pd_elf_id(elf, &id) == pd_elf_id(other, &other_id) &&
		pd_object_id_equal(&id, &other_id) == (id.size > 0));
}

// What stays, packed and opened again.
static void check_kept(struct pd_elf *elf)
{
	const struct pd_open_options options = limits();
	int fd = memfd_create("bundle", 0);
	struct pd_archive *archive = NULL;
	struct pd_elf *other = NULL;
	struct pd_image image;
	struct pd_keep keep;
	struct pd_tar tar;

	REQUIRE(fd >= 0 && pd_keep_make(&keep, elf, elf->image.size % 2));
	if (keep.count && elf->image.size < LIMIT) {
		REQUIRE(pd_tar_init(&tar, fd, "memory", 0, NULL) == PD_OK);
		put_object(&tar, elf, &keep);
		pd_tar_fini(&tar);
		REQUIRE(lseek(fd, 0, SEEK_SET) == 0 && pd_archive_open_fd(fd, &options, &archive, NULL) == PD_OK);
		REQUIRE(pd_archive_find(archive, "x") && pd_archive_find(archive, "x")->size == elf->image.size);
		pd_image_open_member(&image, archive, pd_archive_find(archive, "x"), LIMIT);
		REQUIRE(pd_elf_open_image(&other, &image, "", LIMIT, NULL) == PD_OK);
		compare(elf, other);
		pd_elf_close(other);
		pd_archive_close(archive);
	}
	pd_keep_fini(&keep);
	close(fd);
}

static void check_objects(const struct pd_archive *archive)
{
	struct pd_find_places places = {
		.limit = LIMIT, .archives = { archive }, .archive_count = 1, .always_debug = true
	};
	const struct pd_member *member;

	for (size_t i = 0; i < 8 && (member = pd_archive_member(archive, i)) != NULL; i++) {
		struct pd_find_wanted wanted = { .path = "/x", .name = member->name };
		struct pd_found found;
		struct pd_elf *shared;

		if (member->kind == PD_MEMBER_REFUSED)
			continue;
		wanted.id.size = i % 2 ? 20 : 0;
		memset(wanted.id.bytes, 0xab, sizeof(wanted.id.bytes));
		wanted.path = i % 2 ? "[kernel.kallsyms]" : "";
		REQUIRE(pd_find(&places, &wanted, &found, NULL) == PD_OK);
		if (found.object) {
			shared = pd_find_shared(&places, found.object);
			pd_elf_close(shared);
			check_kept(found.object);
		}
		pd_found_close(&found);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct pd_open_options options = limits(), file_options;
	struct pd_archive *archive = NULL;
	struct walk walk = { .once = true, .text_limit = 1 << 16 };
	struct pd_error error;
	enum pd_status status = pd_archive_open_memory(data, size, &options, &archive, &error);

	if (status) {
		walk_require_error(status, &error);
		return 0;
	}
	check_members(archive);
	check_objects(archive);
	pd_archive_close(archive);
	file_options = walk_options(&walk);
	file_options.memory_limit = LIMIT;
	file_options.inflate_limit = 1 << 20;
	walk_memory(data, size, &file_options, &walk, &error);
	return 0;
}
