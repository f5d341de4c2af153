/* SPDX-License-Identifier: MIT */
/*
 * The running kernel tells its build id in /sys/kernel/notes, its modules theirs below /sys/module. Those are notes as in
 * ELF files, in the byte order of this machine.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include <perfdata/objects.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/text/path.h"
#include "object/elf/note.h"

/* A kernel or a module. */
struct image {
	uint64_t start, end;
	char name[256];
	struct pd_build_id id;
};

static void print_id(struct pd_text *out, const struct pd_build_id *id)
{
	for (size_t i = 0; i < id->size; i++)
		pd_text_printf(out, "%02x", id->bytes[i]);
}

enum pd_status pd_print_running_kernel(struct pd_text *out, struct pd_error *error)
{
	struct pd_build_id id = pd_note_file_build_id("/sys/kernel/notes");

	if (!id.size)
		return pd_fail(error, PD_ERROR_NO_MATCH, PD_NO_OFFSET,
			       "cannot read the build id of the running kernel from /sys/kernel/notes");
	print_id(out, &id);
	pd_text_add(out, "\n");
	return PD_OK;
}

/* ---- maps ---- */

/* Where the code of the kernel is; false if that is hidden. */
static bool read_kernel(struct image *image)
{
	FILE *file = fopen("/proc/kallsyms", "re");
	uint64_t text = 0, data_end = 0, text_end = 0, addr;
	char name[256], line[512];

	while (file && fgets(line, sizeof(line), file)) {
		if (sscanf(line, "%" SCNx64 " %*c %255s", &addr, name) != 2)
			continue;
		if (!strcmp(name, "_text") || (!text && !strcmp(name, "_stext")))
			text = addr;
		else if (!strcmp(name, "_edata"))
			data_end = addr;
		else if (!strcmp(name, "_etext"))
			text_end = addr;
	}
	if (file)
		fclose(file);
	image->start = text;
	image->end = data_end ? data_end : text_end;
	image->id = pd_note_file_build_id("/sys/kernel/notes");
	strcpy(image->name, "[kernel.kallsyms]");
	return text != 0;
}

/* The file that a loaded module came from, by the list that depmod keeps. Loaded modules have _ for -. */
static void find_file(struct image *image, const char *module)
{
	char path[512], line[4096];
	struct utsname host;
	FILE *list;

	uname(&host);
	snprintf(path, sizeof(path), "/lib/modules/%s/modules.dep", host.release);
	list = fopen(path, "re");
	while (list && fgets(line, sizeof(line), list)) {
		size_t length = strcspn(line, ":"), at = 0;
		const char *name;

		line[length] = 0;
		name = pd_path_leaf(line);
		while (module[at] && (name[at] == module[at] || (name[at] == '-' && module[at] == '_')))
			at++;
		if (module[at] || strncmp(name + at, ".ko", 3) != 0)
			continue;
		snprintf(image->name, sizeof(image->name), "/lib/modules/%.100s/%.140s", host.release, line);
		break;
	}
	if (list)
		fclose(list);
}

static bool read_module(const char *line, struct image *image)
{
	char name[128], path[256];
	uint64_t size;

	*image = (struct image){ 0 };
	if (sscanf(line, "%127s %" SCNu64 " %*u %*s %*s %" SCNx64, name, &size, &image->start) != 3 ||
	    strchr(name, '/'))
		return false;
	image->end = image->start + size;
	snprintf(image->name, sizeof(image->name), "[%s]", name);
	find_file(image, name);
	snprintf(path, sizeof(path), "/sys/module/%s/notes/.note.gnu.build-id", name);
	image->id = pd_note_file_build_id(path);
	return true;
}

static int by_start(const void *a, const void *b)
{
	const struct image *left = a, *right = b;

	return (left->start > right->start) - (left->start < right->start);
}

static void print_image(struct pd_text *out, const struct image *image)
{
	print_id(out, &image->id);
	pd_text_printf(out, " %16" PRIx64 " %16" PRIx64 " %s\n", image->start, image->end, image->name);
}

enum pd_status pd_print_running_modules(struct pd_text *out, struct pd_error *error)
{
	struct image *images = pd_alloc(sizeof(*images)), *more;
	size_t count = 1;
	char line[1024];
	FILE *modules;

	if (!images)
		return pd_fail_memory(error);
	if (!read_kernel(images)) {
		pd_free(images);
		return pd_fail(error, PD_ERROR_NO_MATCH, PD_NO_OFFSET,
			       "the kernel hides its addresses: /proc/sys/kernel/kptr_restrict");
	}
	modules = fopen("/proc/modules", "re");
	while (modules && fgets(line, sizeof(line), modules)) {
		more = pd_realloc(images, (count + 1) * sizeof(*images));
		if (!more)
			break;
		images = more;
		count += read_module(line, &images[count]);
	}
	if (modules)
		fclose(modules);
	qsort(images, count, sizeof(*images), by_start);
	for (size_t i = 0; i < count; i++)
		print_image(out, &images[i]);
	pd_free(images);
	return PD_OK;
}
