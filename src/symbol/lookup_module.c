/* SPDX-License-Identifier: MIT */
/*
 * Modules of the kernel: from the list of symbols of the kernel that was recorded, if they are still where they were then;
 * at another boot they are anywhere, and only their files help, which modules.dep lists.
 */
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

#include "base/lookup/search.h"
#include "object/find/root.h"
#include "symbol/lookup.h"

enum {
	LIST_LIMIT = 256 << 20,
	PATH_SIZE = 4096
};

static bool same_module_name(const char *a, const char *b, size_t length)
{
	for (size_t i = 0; i < length; i++)
		if (!a[i] || (a[i] == '-' ? '_' : a[i]) != (b[i] == '-' ? '_' : b[i]))
			return false;
	return true;
}

// The number of a module in a list of symbols, or 0.
static uint16_t owner_of(const struct pd_kallsyms *kallsyms, const char *name, size_t length)
{
	for (size_t i = 0; i < kallsyms->module_count; i++)
		if (same_module_name(kallsyms->modules[i], name, length) && !kallsyms->modules[i][length])
			return (uint16_t)(i + 1);
	return 0;
}

// True if the list has a symbol of the module inside of the mapping: then it stands where it was recorded.
static bool is_inside(const struct pd_kallsyms *kallsyms, uint16_t owner, const struct pd_mapping *mapping)
{
	size_t low;

	PD_SEARCH(low, 0, pd_symtab_count(kallsyms->table), i, pd_symtab_at(kallsyms->table, i).start < mapping->start);
	for (; low < pd_symtab_count(kallsyms->table); low++) {
		struct pd_symbol symbol = pd_symtab_at(kallsyms->table, low);

		if (symbol.start >= mapping->end)
			return false;
		if (symbol.owner == owner)
			return true;
	}
	return false;
}

static bool load_from_list(struct pd_symbols *symbols, struct pd_dso_full *dso, const struct pd_location *location)
{
	struct pd_kernel *kernel = pd_lookup_kernel_of(symbols, dso->machine);
	const char *name;
	size_t length;
	uint16_t owner;

	if (!kernel || !kernel->has_kallsyms || kernel->moved || !pd_lookup_module(dso->path, &name, &length) ||
	    !pd_lookup_kernel_load_list(symbols, kernel))
		return false;
	owner = owner_of(&kernel->kallsyms, name, length);
	if (!owner || !is_inside(&kernel->kallsyms, owner, location->mapping))
		return false;
	dso->kallsyms = &kernel->kallsyms;
	dso->table = kernel->kallsyms.table;
	dso->owner = owner;
	dso->terms = PD_TERMS_MOVED;
	pd_lookup_report(symbols, dso, PD_DSO_SYMBOLS, "%s", kernel->detail);
	return true;
}

// The path of a module in a list of lines "kernel/fs/name.ko.xz: ..."; NULL if it is not there.
static const char *find_in_list(struct pd_symbols *symbols, const char *folder, struct pd_bytes list, const char *name,
				size_t length)
{
	const char *text = (const char *)list.data, *end = text + list.size;

	for (const char *line = text, *next; line < end; line = next) {
		const char *stop = memchr(line, '\n', (size_t)(end - line));
		const char *colon, *module;
		char path[PATH_SIZE];
		size_t module_length;

		stop = stop ? stop : end;
		next = stop + (stop < end);
		colon = memchr(line, ':', (size_t)(stop - line));
		if (!colon ||
		    (size_t)snprintf(path, sizeof(path), "%s/%.*s", folder, (int)(colon - line), line) >= sizeof(path))
			continue;
		if (pd_lookup_module(path, &module, &module_length) && module_length == length &&
		    same_module_name(module, name, length))
			return pd_arena_text(&symbols->kept, path, strlen(path));
	}
	return NULL;
}

// Where the file of a module is of which the name alone was recorded: [ext4], not /lib/modules/.../ext4.ko.
static const char *find_by_name(struct pd_symbols *symbols, const char *name, size_t length)
{
	struct utsname here;
	char folder[PATH_SIZE / 4], path[PATH_SIZE];
	struct pd_bytes list = { NULL, 0 };
	const char *found = NULL;
	struct pd_image image;
	uint8_t *text;
	int fd, n = snprintf(folder, sizeof(folder), "/lib/modules/%s", pd_lookup_kernel_release(symbols, &here));

	if (n < 0 || (size_t)n >= sizeof(folder))
		return NULL;
	snprintf(path, sizeof(path), "%s/modules.dep", folder);
	fd = pd_root_open(symbols->places.symfs, path);
	if (fd < 0 || pd_image_open_fd(&image, fd, path, symbols->limit, NULL))
		return NULL;
	if (pd_image_read_all(&image, LIST_LIMIT, &text, &list.size, NULL) == PD_OK) {
		list.data = text;
		found = find_in_list(symbols, folder, list, name, length);
		pd_free(text);
	}
	pd_image_close(&image);
	return found;
}

void pd_lookup_load_module(struct pd_symbols *symbols, struct pd_dso_full *dso, const struct pd_location *location)
{
	const char *name, *path;
	size_t length;

	dso->is_module = true;
	if (load_from_list(symbols, dso, location))
		return;
	if (dso->path[0] == '[' && dso->dso.long_name[0] == '/')
		dso->path = dso->dso.long_name;
	if (dso->path[0] == '[' && pd_lookup_module(dso->path, &name, &length)) {
		path = find_by_name(symbols, name, length);
		dso->path = path ? path : dso->path;
	}
	pd_lookup_load_file(symbols, dso);
}
