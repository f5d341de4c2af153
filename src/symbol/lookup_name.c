/* SPDX-License-Identifier: MIT */
/*
 * What objects are called. The kernel and its modules go by the table of build ids of the header, where they stand in
 * it, else by [kernel.kallsyms] and the name of the module in brackets.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/text/path.h"
#include "symbol/lookup.h"

enum {
	NAME_MOST = 128
};

static bool begins(const char *text, const char *with)
{
	return strncmp(text, with, strlen(with)) == 0;
}

bool pd_lookup_module(const char *path, const char **name_out, size_t *length_out)
{
	const char *name = pd_path_name(path), *end = strstr(name, ".ko");

	if (*path == '[' && !begins(path, "[kernel.kallsyms") && strchr(path, ']')) {
		*name_out = path + 1;
		*length_out = (size_t)(strchr(path, ']') - path - 1);
		return true;
	}
	*name_out = name;
	*length_out = end ? (size_t)(end - name) : 0;
	return end && (!end[3] || end[3] == '.');
}

// "[name]" of a module's file. Modules are loaded with _ for -. NULL if it is none, or there is no memory.
static const char *in_brackets(struct pd_symbols *symbols, const char *path)
{
	const char *name;
	size_t length;
	char text[NAME_MOST];

	if (*path == '[' || !pd_lookup_module(path, &name, &length) || length + 3 > sizeof(text))
		return NULL;
	text[0] = '[';
	for (size_t i = 0; i < length; i++)
		text[i + 1] = name[i] == '-' ? '_' : name[i];
	text[length + 1] = ']';
	return pd_arena_text(&symbols->kept, text, length + 2);
}

// ---- the table of build ids ----

static uint64_t hash_module(const struct pd_symbols *symbols, const char *name, size_t length)
{
	uint64_t hash = symbols->seed;

	for (size_t i = 0; i < length; i++)
		hash = pd_hash_u64(symbols->seed, hash ^ (uint8_t)(name[i] == '-' ? '_' : name[i]));
	return hash;
}

static bool same_module(const char *path, const char *name, size_t length)
{
	const char *other;
	size_t other_length;

	if (!pd_lookup_module(path, &other, &other_length) || other_length != length)
		return false;
	for (size_t i = 0; i < length; i++)
		if ((other[i] == '-' ? '_' : other[i]) != (name[i] == '-' ? '_' : name[i]))
			return false;
	return true;
}

static const char *find_module(const struct pd_symbols *symbols, const char *name, size_t length)
{
	const struct pd_kernel_names *names = &symbols->kernel_names;
	uint64_t hash = hash_module(symbols, name, length);
	size_t at = (uint32_t)hash;

	for (uint32_t i; (i = pd_index_next(&names->index, hash, &at)) != PD_INDEX_END;)
		if (same_module(names->modules[i], name, length))
			return names->modules[i];
	return NULL;
}

// The first entry of each counts.
static void take_entry(struct pd_symbols *symbols, const char *path)
{
	struct pd_kernel_names *names = &symbols->kernel_names;
	const char *name;
	size_t length;

	if (*path == '[' && !begins(path, "[kernel.kallsyms"))
		return;
	if (*path == '[' || !pd_lookup_module(path, &name, &length)) {
		if (!names->kernel)
			names->kernel = path;
		return;
	}
	if (find_module(symbols, name, length))
		return;
	if (!PD_GROW(names->modules, names->capacity, names->count + 1) ||
	    !pd_index_add(&names->index, hash_module(symbols, name, length), (uint32_t)names->count)) {
		symbols->failed = true;
		return;
	}
	names->modules[names->count++] = path;
}

static void read_entries(struct pd_symbols *symbols)
{
	const struct pd_header *header = pd_file_header(symbols->file);
	const struct pd_build_ids *ids = header->mode == PD_MODE_PIPE ? NULL : pd_file_build_id(symbols->file);
	struct pd_build_id_walk walk = { .big_endian = header->big_endian };
	struct pd_build_id_entry entry;

	symbols->kernel_names.read = true;
	if (ids)
		walk.records = ids->records;
	while (pd_build_id_next(&walk, &entry)) {
		if (PD_BITS(entry.misc, PD_MISC_CPUMODE) == PD_CPUMODE_KERNEL)
			take_entry(symbols, entry.name);
	}
}

void pd_lookup_names_fini(struct pd_kernel_names *names)
{
	pd_free(names->modules);
	pd_index_fini(&names->index);
}

// ---- all objects ----

static const char *name_kernel(struct pd_symbols *symbols, const struct pd_object *object)
{
	const struct pd_kernel_names *names = &symbols->kernel_names;
	const char *name = NULL, *module;
	size_t length;

	if (!names->read)
		read_entries(symbols);
	// the table says little of guests
	if (object->machine)
		name = NULL;
	else if (object->kind == PD_OBJECT_KERNEL)
		name = names->kernel;
	else if (object->path[0] != '[' && pd_lookup_module(object->path, &module, &length))
		name = find_module(symbols, module, length);
	if (!name && object->kind == PD_OBJECT_MODULE)
		name = in_brackets(symbols, object->path);
	return name ? name : object->path;
}

const char *pd_lookup_name(struct pd_symbols *symbols, const struct pd_object *object)
{
	if (object->kind == PD_OBJECT_KERNEL || object->kind == PD_OBJECT_MODULE)
		return name_kernel(symbols, object);
	return object->path;
}

const char *pd_lookup_short_name(struct pd_symbols *symbols, const char *name, enum pd_object_kind kind)
{
	const char *module = kind == PD_OBJECT_MODULE ? in_brackets(symbols, name) : NULL;

	if (module)
		return module;
	if (kind == PD_OBJECT_KERNEL && strstr(name, "vmlinux"))
		return "[kernel.vmlinux]";
	return pd_path_name(name);
}

// ---- memory without a file ----

bool pd_lookup_has_no_file(const struct pd_location *location)
{
	static const char *const paths[] = { "//anon", "/dev/zero", "/anon_hugepage", "[stack", "/SYSV", "[heap]" };
	const struct pd_object *object = location->object;

	if (object->kind == PD_OBJECT_KERNEL || object->kind == PD_OBJECT_MODULE || object->kind == PD_OBJECT_KSYMBOL)
		return false;
	if (location->mapping->flags & PD_MASK(PD_MAP_HUGETLB))
		return true;
	for (size_t i = 0; object->kind == PD_OBJECT_ANON && i < sizeof(paths) / sizeof(paths[0]); i++)
		if (begins(object->path, paths[i]))
			return true;
	return false;
}

bool pd_lookup_is_nameless(const struct pd_location *location)
{
	return location->mapping->executable && pd_lookup_has_no_file(location);
}

size_t pd_place_name(const struct pd_place *place, char *name, size_t size)
{
	const struct pd_function *function = place->function;
	const char *object = place->dso ? place->dso->name : NULL;
	int length;

	if (function && function->start < function->end)
		length = snprintf(name, size, "%s+0x%" PRIx64 " (%s)", function->name, place->addr - function->start,
				  function->dso->name);
	else if (function)
		length = snprintf(name, size, "%s (%s)", function->name, function->dso->name);
	else if (object)
		length = snprintf(name, size, "0x%" PRIx64 " (%s)", place->addr, object);
	else
		length = snprintf(name, size, "0x%" PRIx64, place->recorded);
	return length < 0 ? 0 : (size_t)length;
}
