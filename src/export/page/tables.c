/* SPDX-License-Identifier: MIT */
/* Strings, objects, functions and cgroups of the page. */
#include <string.h>

#include "base/text/path.h"
#include "export/page/page.h"

enum pd_page_kind pd_page_kind(enum frame_kind kind, const char *name, const char *object, const char *path)
{
	switch (pd_frame_kind_by_name(kind == FRAME_INLINED ? FRAME_USER : kind, name, object)) {
	case FRAME_TASK:
	case FRAME_EVENT:
		return PD_PAGE_KIND_TASK;
	case FRAME_KERNEL:
		return PD_PAGE_KIND_KERNEL;
	case FRAME_JIT:
		return PD_PAGE_KIND_JIT;
	case FRAME_JAVA:
		return PD_PAGE_KIND_JAVA;
	case FRAME_PYTHON:
		return PD_PAGE_KIND_PYTHON;
	case FRAME_NODE:
		return PD_PAGE_KIND_NODE;
	case FRAME_UNKNOWN:
		return PD_PAGE_KIND_UNKNOWN;
	default:
		return strstr(pd_path_name(path), ".so") || object[0] == '[' ? PD_PAGE_KIND_LIBRARY : PD_PAGE_KIND_USER;
	}
}

static enum pd_page_kind kind_of(const struct pd_export *self, const struct pd_table_function *function)
{
	const struct pd_table_object *object = &self->tables.objects[function->object];
	const struct pd_dso *dso = object->dso;
	bool jit;

	if (object->kernel)
		return PD_PAGE_KIND_KERNEL;
	if (!function->object || !function->known)
		return PD_PAGE_KIND_UNKNOWN;
	jit = !dso->object || strncmp(dso->name, "jitted-", 7) == 0;
	return pd_page_kind(jit ? FRAME_JIT : FRAME_USER, pd_tables_text_of(&self->tables, function->name), dso->name,
			    dso->long_name);
}

// ---- columns ----

typedef uint64_t cell_fn(const struct pd_export *self, size_t number);

static uint64_t object_name(const struct pd_export *self, size_t number)
{
	return self->tables.objects[number].name;
}

static uint64_t object_path(const struct pd_export *self, size_t number)
{
	return self->tables.objects[number].path;
}

static uint64_t object_build_id(const struct pd_export *self, size_t number)
{
	return self->tables.objects[number].build_id;
}

static uint64_t function_name(const struct pd_export *self, size_t number)
{
	return self->tables.functions[number].name;
}

static uint64_t function_file(const struct pd_export *self, size_t number)
{
	return self->tables.functions[number].file;
}

static uint64_t function_object(const struct pd_export *self, size_t number)
{
	return self->tables.functions[number].object;
}

static uint64_t function_start(const struct pd_export *self, size_t number)
{
	return self->tables.functions[number].start;
}

static uint64_t function_known(const struct pd_export *self, size_t number)
{
	return self->tables.functions[number].known;
}

static uint64_t function_kind(const struct pd_export *self, size_t number)
{
	return kind_of(self, &self->tables.functions[number]);
}

static uint64_t cgroup_id(const struct pd_export *self, size_t number)
{
	return ((const struct pd_page *)self->sink)->cgroups[number];
}

static void put_table_column(struct pd_export *self, const char *name, enum pd_page_code code, size_t count,
			     cell_fn *cell)
{
	struct pd_page *page = self->sink;
	struct pd_page_column column;

	pd_page_begin(&column, &page->blocks, name, code);
	for (size_t i = 0; i < count; i++)
		pd_page_put(&column, cell(self, i));
	pd_page_end(&column);
}

static void put_cgroups(struct pd_export *self)
{
	struct pd_page *page = self->sink;
	struct pd_page_column column;

	if (!page->cgroup_count)
		return;
	put_table_column(self, "cgroups.id", PD_PAGE_WIDE, page->cgroup_count, cgroup_id);
	pd_page_begin(&column, &page->blocks, "cgroups.path", PD_PAGE_NUMBERS);
	for (size_t i = 0; i < page->cgroup_count; i++)
		pd_page_put(&column, pd_tables_text(&self->tables, pd_state_cgroup(self->state, page->cgroups[i])));
	pd_page_end(&column);
}

void pd_page_put_strings(struct pd_page_blocks *blocks, const struct pd_tables *tables)
{
	struct pd_page_column column;

	pd_page_begin(&column, blocks, "strings", PD_PAGE_STRINGS);
	for (size_t i = 0; i < tables->string_count; i++)
		pd_page_put_string(&column, tables->strings[i].text, tables->strings[i].size);
	pd_page_end(&column);
}

void pd_page_put_tables(struct pd_export *self)
{
	size_t objects = self->tables.object_count, functions = self->tables.function_count;

	put_table_column(self, "objects.name", PD_PAGE_NUMBERS, objects, object_name);
	put_table_column(self, "objects.path", PD_PAGE_NUMBERS, objects, object_path);
	put_table_column(self, "objects.build_id", PD_PAGE_NUMBERS, objects, object_build_id);
	put_table_column(self, "functions.name", PD_PAGE_NUMBERS, functions, function_name);
	put_table_column(self, "functions.file", PD_PAGE_NUMBERS, functions, function_file);
	put_table_column(self, "functions.object", PD_PAGE_NUMBERS, functions, function_object);
	put_table_column(self, "functions.start", PD_PAGE_WIDE, functions, function_start);
	put_table_column(self, "functions.kind", PD_PAGE_BYTES, functions, function_kind);
	put_table_column(self, "functions.known", PD_PAGE_BYTES, functions, function_known);
	put_cgroups(self);
	// last: all others have added theirs
	pd_page_put_strings(&((struct pd_page *)self->sink)->blocks, &self->tables);
}
