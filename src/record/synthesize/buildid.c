/* SPDX-License-Identifier: MIT */
/* Build ids: of files by their notes, of the kernel and its modules by those that the kernel shows. */
#include <stdio.h>
#include <string.h>

#include "base/cursor.h"
#include "record/record.h"
#include "object/elf/elf.h"
#include "symbol/lookup.h"

enum {
	KEPT = 20, // bytes; what is longer is cut off, as perf does it
	MOST_NOTES = 1 << 20,
	MOST_READ = 64 << 20 // of one file
};

static bool keep(const struct pd_object_id *id, uint8_t build_id[20], uint8_t *size_out)
{
	memset(build_id, 0, KEPT);
	*size_out = id->size < KEPT ? id->size : KEPT;
	memcpy(build_id, id->bytes, *size_out);
	return *size_out > 0;
}

bool pd_build_id_of_file(const char *path, uint8_t build_id[20], uint8_t *size_out)
{
	struct pd_object_id id = { .size = 0 };
	struct pd_error error;
	struct pd_elf *elf;
	bool found;

	if (pd_elf_open(&elf, path, MOST_READ, &error) < 0)
		return false;
	found = pd_elf_id(elf, &id) && keep(&id, build_id, size_out);
	pd_elf_close(elf);
	return found;
}

static bool of_notes(const char *path, uint8_t build_id[20], uint8_t *size_out)
{
	struct pd_object_id id = { .size = 0 };
	struct pd_image image;
	struct pd_error error;
	uint8_t *notes;
	bool found = false;
	size_t size;

	if (pd_image_open(&image, path, MOST_NOTES, &error) < 0)
		return false;
	if (pd_image_read_all(&image, MOST_NOTES, &notes, &size, &error) >= 0) {
		found = pd_object_id_from_notes(notes, size, PD_HOST_BIG, &id) && keep(&id, build_id, size_out);
		pd_free(notes);
	}
	pd_image_close(&image);
	return found;
}

bool pd_build_id_of_kernel(const char *sysfs, uint8_t build_id[20], uint8_t *size_out)
{
	char path[512];

	snprintf(path, sizeof(path), "%s/kernel/notes", sysfs ? sysfs : "/sys");
	return of_notes(path, build_id, size_out);
}

bool pd_build_id_of_module(const char *sysfs, const char *name, uint8_t build_id[20], uint8_t *size_out)
{
	char path[512];

	snprintf(path, sizeof(path), "%s/module/%s/notes/.note.gnu.build-id", sysfs ? sysfs : "/sys", name);
	return of_notes(path, build_id, size_out);
}

bool pd_build_id_of_vdso(uint8_t build_id[20], uint8_t *size_out)
{
	struct pd_elf *vdso = pd_lookup_own_vdso();
	struct pd_object_id id = { .size = 0 };
	bool found = vdso && pd_elf_id(vdso, &id) && keep(&id, build_id, size_out);

	pd_elf_close(vdso);
	return found;
}
