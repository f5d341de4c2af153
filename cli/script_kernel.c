/* SPDX-License-Identifier: MIT */
/*
 * What the kernel and its modules are called: as in the table of build ids of the header, where they
 * stand in it, else [kernel.kallsyms] and the name of the module in brackets. The entries of the table
 * are records of type 0 with the layout of HEADER_BUILD_ID.
 */
#include "script.h"

enum { ENTRY_NAME = 36, ENTRY_HEAD = 8 };

static unsigned number16(const struct pd_header *header, const uint8_t *at)
{
	return header->big_endian ? at[0] * 256u + at[1] : at[1] * 256u + at[0];
}

/* The letters of a module's name in its path, without ".ko" and what is behind it. */
static bool module_name(const char *path, const char **name_out, size_t *length_out)
{
	const char *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path;
	const char *end = strstr(name, ".ko");

	*name_out = name;
	*length_out = end ? (size_t)(end - name) : 0;
	return end && (!end[3] || end[3] == '.');
}

/* Modules are loaded with _ for -. */
static bool same_module(const char *a, const char *b)
{
	size_t a_length, b_length;

	if (!module_name(a, &a, &a_length) || !module_name(b, &b, &b_length) || a_length != b_length)
		return false;
	for (size_t i = 0; i < a_length; i++) {
		if ((a[i] == '-' ? '_' : a[i]) != (b[i] == '-' ? '_' : b[i]))
			return false;
	}
	return true;
}

static bool is_module(const char *path)
{
	const char *name;
	size_t length;

	if (*path == '[')
		return strncmp(path, "[kernel.kallsyms", 16) != 0;
	return module_name(path, &name, &length);
}

/* The first entry of the kernel for a module, or for the kernel itself if module is NULL. */
static const char *find_entry(struct pd_file *file, const char *module)
{
	const struct pd_header *header = pd_file_header(file);
	const struct pd_build_ids *ids;
	size_t at = 0;

	if (header->mode == PD_MODE_PIPE)
		return NULL;
	ids = pd_file_build_id(file);
	while (ids && at + ENTRY_NAME < ids->records.size) {
		const uint8_t *entry = ids->records.data + at;
		unsigned misc = number16(header, entry + 4), size = number16(header, entry + 6);
		const char *name = (const char *)entry + ENTRY_NAME;

		if (size < ENTRY_HEAD || size > ids->records.size - at)
			break;
		if (PD_BITS(misc, PD_MISC_CPUMODE) == PD_CPUMODE_KERNEL && size > ENTRY_NAME &&
		    memchr(name, 0, size - ENTRY_NAME) &&
		    (module ? same_module(module, name) : !is_module(name)))
			return name;
		at += size;
	}
	return NULL;
}

static const char *find_name(struct pd_file *file, const struct pd_object *object, char *room,
			     size_t size)
{
	const char *path = object->path;
	const char *entry = find_entry(file, object->kind == PD_OBJECT_MODULE ? path : NULL);
	const char *name;
	size_t length;

	if (entry)
		return entry;
	if (object->kind != PD_OBJECT_MODULE || !module_name(path, &name, &length) ||
	    length + 3 > size)
		return path;
	room[0] = '[';
	for (size_t i = 0; i < length; i++)
		room[i + 1] = name[i] == '-' ? '_' : name[i];
	memcpy(room + length + 1, "]", 2);
	return room;
}

const char *script_kernel_name(struct script *script, const struct pd_object *object)
{
	size_t count = sizeof(script->kernel_names) / sizeof(script->kernel_names[0]);
	struct kernel_name *known = &script->kernel_names[object->index % count];

	if (known->object != object) {
		known->object = object;
		known->name = find_name(script->input.file, object, known->room,
					sizeof(known->room));
	}
	return known->name;
}
