/* SPDX-License-Identifier: MIT */
/* Finds the files of an object once more, all of them: those of its symbols and those of its lines. */
#include "symbol/sources.h"

#include <stdio.h>
#include <string.h>

#include "symbol/lookup.h"

enum {
	TEXT_LIMIT = 256 << 20,
	PATH_SIZE = 4096
};

struct listing {
	struct pd_symbols *symbols;
	const struct pd_dso_full *dso;
	pd_source_fn *each;
	void *self;
	bool stopped;
};

static void report_source(struct listing *l, const struct pd_symbol_source *source)
{
	if (!l->stopped && !l->each(l->self, source))
		l->stopped = true;
}

// ---- objects ----

static void used_path(const struct pd_found *found, enum pd_find_kind kind, char out[PATH_SIZE])
{
	out[0] = 0;
	for (size_t i = 0; i < found->try_count; i++) {
		const struct pd_find_try *try = &found->tries[i];

		if (try->kind == kind && try->action == PD_FIND_USED)
			snprintf(out, PATH_SIZE, "%s%s%s", strcmp(try->root, "/") != 0 ? try->root : "",
				 try->path[0] == '/' ? "" : "/", try->path);
	}
}

// What an object is looked for by: what was recorded, else what it says itself; a vdso without an id is found by its name.
static struct pd_object_id id_of(const struct listing *l, const struct pd_object_id *recorded, struct pd_elf *elf)
{
	struct pd_object_id id = *recorded;

	if (!id.size && elf && l->dso->dso.object->kind != PD_OBJECT_VDSO)
		pd_elf_id(elf, &id);
	return id;
}

static void list_elf(struct listing *l, enum pd_source_kind kind, struct pd_elf *elf, const char *path,
		     const struct pd_object_id *id, const char *from, const char *link)
{
	const struct pd_symbol_source source = {
		.kind = kind, .image = &elf->image, .elf = elf, .from = from, .path = path, .link = link, .id = *id
	};

	report_source(l, &source);
}

static void list_shared(struct listing *l, struct pd_elf *elf)
{
	struct pd_object_id id = { .size = 0 };
	struct pd_elf *shared = elf ? pd_find_shared(&l->symbols->places, elf) : NULL;

	if (shared && pd_elf_id(shared, &id))
		list_elf(l, PD_SOURCE_SHARED, shared, "", &id, "by its build id", NULL);
	pd_elf_close(shared);
}

static void list_found(struct listing *l, struct pd_found *found, const char *path, const struct pd_object_id *recorded)
{
	struct pd_object_id id = id_of(l, recorded, found->object ? found->object : found->debug);
	const char *link = NULL;
	char from[PATH_SIZE];
	uint32_t crc;

	if (found->object) {
		used_path(found, PD_FIND_OBJECT, from);
		list_elf(l, PD_SOURCE_OBJECT, found->object, path, &id, from[0] ? from : "downloaded by build id",
			 NULL);
		list_shared(l, found->object);
	}
	if (found->debug) {
		used_path(found, PD_FIND_DEBUG, from);
		if (!id.size && found->object)
			pd_elf_debuglink(found->object, &link, &crc);
		list_elf(l, PD_SOURCE_DEBUG, found->debug, path, &id, from[0] ? from : "downloaded by build id", link);
		list_shared(l, found->debug);
	}
}

static bool has_lines(const struct pd_elf *elf)
{
	const struct pd_elf_section *s = elf ? pd_elf_section_by_name(elf, ".debug_info") : NULL;

	return s && s->type != PD_ELF_SECTION_NOBITS;
}

// As for symbols, and then as for lines.
static void list_file(struct listing *l, const struct pd_find_wanted *wanted, const char *path)
{
	struct pd_find_places places = l->symbols->places;
	struct pd_found found;

	places.always_debug = true;
	if (pd_find(&places, wanted, &found, NULL)) {
		l->symbols->failed = true;
		return;
	}
	if (!found.object && !found.debug)
		found.object = pd_lookup_fetch(l->symbols, &wanted->id, false);
	if (found.object && !found.debug && !has_lines(found.object)) {
		struct pd_object_id id = id_of(l, &wanted->id, found.object);

		found.debug = pd_lookup_fetch(l->symbols, &id, true);
	}
	list_found(l, &found, path, &wanted->id);
	pd_found_close(&found);
}

static void list_object(struct listing *l)
{
	const struct pd_dso_full *dso = l->dso;
	struct pd_find_wanted wanted = pd_lookup_wanted(dso);
	struct pd_elf *vdso;

	if (dso->has_file || dso->dso.object->kind != PD_OBJECT_VDSO) {
		list_file(l, &wanted, dso->dso.object->path);
		return;
	}
	vdso = dso->table ? pd_lookup_own_vdso_of(l->symbols, dso) : NULL;
	if (vdso)
		list_elf(l, PD_SOURCE_OBJECT, vdso, dso->dso.object->path, &dso->id, "the vdso of this system", NULL);
	pd_elf_close(vdso);
}

// ---- kernels ----

static const struct pd_kernel *kernel_of(const struct listing *l)
{
	const struct pd_kernel *kernel = l->symbols->kernels;

	if (l->dso->kernel)
		return l->dso->kernel;
	while (kernel && &kernel->kallsyms != l->dso->kallsyms)
		kernel = kernel->next;
	return l->dso->kallsyms ? kernel : NULL;
}

// Opens the list once more. Those that were given or are of this system are files of no known size.
static bool open_list(struct listing *l, const struct pd_kernel *kernel, const struct pd_object_id *id,
		      struct pd_image *image)
{
	const char *path = kernel->is_running ? "/proc/kallsyms" : NULL;
	struct pd_find_wanted wanted = { .path = "[kernel.kallsyms]", .id = *id };
	struct pd_found found;
	uint8_t *data;
	size_t size;

	if (kernel->detail == l->symbols->kallsyms_path)
		path = l->symbols->kallsyms_path;
	if (!path && !id->size)
		return pd_find_in_archives(&l->symbols->places, kernel->detail, image);
	if (!path) {
		if (pd_find(&l->symbols->places, &wanted, &found, NULL))
			return false;
		*image = found.kallsyms;
		found.kallsyms = (struct pd_image){ .fd = -1 };
		pd_found_close(&found);
		return pd_image_is_open(image);
	}
	if (pd_image_open(image, path, l->symbols->limit, NULL))
		return false;
	if (pd_image_read_all(image, TEXT_LIMIT, &data, &size, NULL)) {
		pd_image_close(image);
		return false;
	}
	pd_image_close(image);
	pd_image_take_memory(image, data, size);
	return true;
}

static void list_kernel(struct listing *l, const struct pd_kernel *kernel)
{
	struct pd_object_id id = pd_lookup_kernel_id(l->symbols, kernel->machine);
	struct pd_find_wanted wanted = { .path = kernel->image_path, .name = kernel->image_path, .id = id };
	struct pd_symbol_source source = { .kind = PD_SOURCE_KALLSYMS,
					   .from = kernel->detail,
					   .path = "[kernel.kallsyms]" };
	struct pd_image image;

	if (kernel->has_kallsyms && kernel->state == PD_DSO_SYMBOLS && open_list(l, kernel, &id, &image)) {
		source.image = &image;
		source.id = id;
		report_source(l, &source);
		pd_image_close(&image);
	}
	if (kernel->image && kernel->image_path)
		list_file(l, &wanted, "[kernel.kallsyms]");
	else if (kernel->image && l->symbols->given_image && strcmp(kernel->detail, l->symbols->vmlinux_path) == 0)
		list_elf(l, PD_SOURCE_OBJECT, l->symbols->given_image, "[kernel.kallsyms]", &id, kernel->detail, NULL);
	else if (kernel->image)
		list_file(l, &(struct pd_find_wanted){ .path = "", .id = id }, "[kernel.kallsyms]");
}

// ---- code made at run time ----

static void list_own(struct listing *l, enum pd_source_kind kind, const char *path)
{
	struct pd_symbol_source source = { .kind = kind, .from = path, .path = path };
	struct pd_image image;
	const char *reason;

	if (!pd_lookup_open_own(l->symbols, path, &image, &reason))
		return;
	source.image = &image;
	report_source(l, &source);
	pd_image_close(&image);
}

static void list_runtime(struct listing *l)
{
	for (size_t i = 0; l->dso->jits && i < l->symbols->jit_mark_count; i++)
		if (l->symbols->jit_marks[i].pid == l->dso->pid)
			list_own(l, PD_SOURCE_JITDUMP, l->symbols->jit_marks[i].object->path);
	if (l->dso->table)
		list_own(l, PD_SOURCE_PERFMAP, l->dso->path);
}

bool pd_lookup_sources(struct pd_symbols *symbols, const struct pd_dso *dso, pd_source_fn *each, void *self)
{
	struct listing l = { .symbols = symbols, .dso = symbols->dsos[dso->index], .each = each, .self = self };
	const struct pd_kernel *kernel = kernel_of(&l);

	if (dso->state == PD_DSO_UNUSED || (symbols->flags & PD_SYMBOLS_NO_FILES))
		return true;
	if (kernel)
		list_kernel(&l, kernel);
	else if (!dso->object)
		list_runtime(&l);
	else if (dso->object->kind == PD_OBJECT_FILE || dso->object->kind == PD_OBJECT_VDSO ||
		 dso->object->kind == PD_OBJECT_MODULE)
		list_object(&l);
	return !l.stopped && !symbols->failed;
}
