/* SPDX-License-Identifier: MIT */
/* What several debug files share (dwz): each names the file that has it, and its build id. */
#include <stdio.h>
#include <string.h>

#include "object/find/find.h"
#include "object/find/root.h"

struct shared_link {
	const char *name;
	struct pd_object_id id;
};

static bool find_link(struct pd_elf *elf, struct shared_link *link)
{
	const struct pd_elf_section *section = pd_elf_section_by_name(elf, ".gnu_debugaltlink");
	bool is_standard = !section;
	struct pd_bytes bytes;
	uint32_t length;
	size_t at = 0;

	if (!section)
		section = pd_elf_section_by_name(elf, ".debug_sup");
	if (!section)
		return false;
	bytes = pd_elf_section_bytes(elf, section);
	// version, and whether this is the shared file itself
	at += is_standard ? 3 : 0;
	if (!pd_elf_name(bytes, at, &link->name, &length))
		return false;
	at += length + 1;
	// the length of the id, which takes one byte
	at += is_standard ? 1 : 0;
	if (at >= bytes.size || bytes.size - at > sizeof(link->id.bytes))
		return false;
	link->id.size = (uint8_t)(bytes.size - at);
	memcpy(link->id.bytes, bytes.data + at, link->id.size);
	return true;
}

static struct pd_elf *check(struct pd_image *image, const struct pd_find_places *places,
			    const struct pd_object_id *wanted)
{
	struct pd_object_id id = { .size = 0 };
	struct pd_elf *elf = NULL;

	if (pd_elf_open_image(&elf, image, "", places->limit, NULL))
		return NULL;
	if (pd_elf_id(elf, &id) && pd_object_id_equal(&id, wanted))
		return elf;
	pd_elf_close(elf);
	return NULL;
}

static struct pd_elf *try_shared(const struct pd_find_places *places, const char *root, const char *path,
				 const struct pd_object_id *wanted)
{
	struct pd_image image;
	int fd = root ? pd_root_open(root, path) : -1;

	if (fd < 0 || pd_image_open_fd(&image, fd, "", places->limit, NULL))
		return NULL;
	return check(&image, places, wanted);
}

static bool path_of_id(const struct pd_object_id *id, const char *suffix, char *out, size_t size)
{
	int at = snprintf(out, size, ".build-id/");

	for (size_t i = 0; i < id->size; i++)
		at += snprintf(out + at, size - (size_t)at, i == 1 ? "/%02x" : "%02x", id->bytes[i]);
	snprintf(out + at, size - (size_t)at, "%s", suffix);
	return id->size > 1;
}

// As it is named by an absolute path, below the directories of debug files, or by its build id.
struct pd_elf *pd_find_shared(const struct pd_find_places *places, struct pd_elf *elf)
{
	char by_id[2 * 64 + 32];
	struct shared_link link;
	struct pd_elf *shared = NULL;
	struct pd_image image;
	const char *below;

	if (!find_link(elf, &link))
		return NULL;
	below = strstr(link.name, ".dwz/");
	if (path_of_id(&link.id, "/debug", by_id, sizeof(by_id)) && pd_find_in_archives(places, by_id, &image))
		shared = check(&image, places, &link.id);
	if (!shared && link.name[0] == '/')
		shared = try_shared(places, places->symfs, link.name, &link.id);
	for (size_t i = 0; !shared && i < places->debug_count; i++) {
		if (path_of_id(&link.id, ".debug", by_id, sizeof(by_id)))
			shared = try_shared(places, places->debug[i], by_id, &link.id);
		if (!shared && below)
			shared = try_shared(places, places->debug[i], below, &link.id);
	}
	return shared;
}
