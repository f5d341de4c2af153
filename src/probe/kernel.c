/* SPDX-License-Identifier: MIT */
/* The kernel as an object: its image or a module with debug information, and the symbols of the one that runs. */
#include "probe/kernel.h"

#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

#include "symbol/lookup.h"

// ---- symbols ----

const struct pd_kallsyms *pd_probe_kallsyms(struct pd_probes *probes)
{
	const char *path = probes->options.kallsyms ? probes->options.kallsyms : "/proc/kallsyms";

	if (!probes->has_kallsyms && pd_kallsyms_open(&probes->kallsyms, path, 0, NULL) == PD_OK)
		probes->has_kallsyms = true;
	return probes->has_kallsyms && !probes->kallsyms.hidden ? &probes->kallsyms : NULL;
}

bool pd_probe_kernel_symbol(const struct pd_kallsyms *kallsyms, const char *name, struct pd_symbol *symbol_out)
{
	for (size_t i = 0; i < pd_symtab_count(kallsyms->table); i++) {
		struct pd_symbol symbol = pd_symtab_at(kallsyms->table, i);

		if (symbol.owner == 0 && strcmp(symbol.name, name) == 0) {
			*symbol_out = symbol;
			return true;
		}
	}
	return false;
}

bool pd_probe_reference(struct pd_probes *probes, const char **name_out, uint64_t *addr_out)
{
	const struct pd_kallsyms *kallsyms = pd_probe_kallsyms(probes);

	if (!kallsyms || !kallsyms->text_addr)
		return false;
	*addr_out = kallsyms->text_addr;
	*name_out = "_text";
	return true;
}

// ---- files ----

static enum pd_status open_given(struct pd_probes *probes, struct pd_error *error)
{
	const struct pd_find_wanted wanted = { .path = pd_probe_absolute(&probes->arena, &probes->options,
									 probes->options.vmlinux) };
	enum pd_status status = wanted.path ? pd_probe_debug_open(&probes->debug, &wanted, &probes->places, error) :
					      pd_fail_memory(error);

	probes->is_offline = !status;
	return status;
}

// Without an image symbols are all that is known.
static enum pd_status open_usual(struct pd_probes *probes)
{
	struct pd_find_wanted wanted = { .path = NULL };
	struct utsname machine;
	char path[4096];

	if (uname(&machine) || !pd_lookup_running_id(&wanted.id))
		return PD_OK;
	for (size_t i = 0; pd_lookup_image_path(i, machine.release, path, sizeof(path)); i++) {
		wanted.path = path;
		if (path[0] && pd_probe_debug_open(&probes->debug, &wanted, &probes->places, NULL) == PD_OK)
			return PD_OK;
	}
	return PD_OK;
}

// ---- modules ----

// The name of a module in its path, as the kernel writes it.
static const char *module_name(struct pd_arena *arena, const char *path)
{
	const char *slash = strrchr(path, '/'), *start = slash ? slash + 1 : path;
	char *name = pd_arena_text(arena, start, strcspn(start, "."));

	for (char *at = name; at && *at; at++)
		*at = *at == '-' ? '_' : *at;
	return name;
}

// The path of a module below its folder, by the list of all; NULL if it is not there.
static const char *find_module(struct pd_probes *probes, const char *folder, const char *name)
{
	const char *found = NULL;
	char path[4096];
	uint8_t *data;
	size_t size;

	snprintf(path, sizeof(path), "%s/modules.dep", folder);
	if (pd_image_read_file(path, 64 << 20, &data, &size, NULL))
		return NULL;
	for (char *line = (char *)data, *end; *line && !found; line = end + (*end != 0)) {
		char *colon;
		const char *own;

		end = line + strcspn(line, "\n");
		colon = memchr(line, ':', (size_t)(end - line));
		if (!colon)
			continue;
		*colon = 0;
		own = module_name(&probes->arena, line);
		if (own && strcmp(own, name) == 0) {
			snprintf(path, sizeof(path), "%s/%s", folder, line);
			found = pd_arena_text(&probes->arena, path, strlen(path));
		}
	}
	pd_free(data);
	return found;
}

static enum pd_status open_module(struct pd_probes *probes, struct pd_error *error)
{
	const char *module = probes->options.module;
	struct pd_find_wanted wanted = { .path = pd_probe_absolute(&probes->arena, &probes->options, module) };
	struct utsname machine;
	char folder[512];

	probes->where = module_name(&probes->arena, module);
	if (!probes->where || !wanted.path)
		return pd_fail_memory(error);
	if (!strchr(module, '/')) {
		if (uname(&machine))
			return PD_OK;
		snprintf(folder, sizeof(folder), "/lib/modules/%s", machine.release);
		wanted.path = find_module(probes, folder, probes->where);
		if (!wanted.path)
			return PD_OK;
	}
	return pd_probe_debug_open(&probes->debug, &wanted, &probes->places, error);
}

enum pd_status pd_probe_open_kernel(struct pd_probes *probes, struct pd_error *error)
{
	if (probes->options.module)
		return open_module(probes, error);
	return probes->options.vmlinux ? open_given(probes, error) : open_usual(probes);
}

// ---- where points of debug information are in the kernel ----

static enum pd_status name_offline(struct pd_probes *probes, struct pd_probe_point *point)
{
	const struct pd_symtab *table = pd_probe_debug_symbols(&probes->debug);
	struct pd_symbol symbol;

	if (!table || !pd_symtab_find(table, point->addr, &symbol))
		return PD_OK;
	point->symbol = pd_arena_text(&probes->arena, symbol.name, strlen(symbol.name));
	point->offset = point->addr - symbol.start;
	return point->symbol ? PD_OK : PD_ERROR_MEMORY;
}

enum pd_status pd_probe_place_in_kernel(struct pd_probes *probes, struct pd_probe_point *point, struct pd_error *error)
{
	const char *name = NULL;
	uint64_t running, image;

	point->module = probes->where;
	if (probes->is_offline || probes->where)
		return name_offline(probes, point) ? pd_fail_memory(error) : PD_OK;
	if (point->is_return && !probes->features.has_return_offsets)
		return PD_OK;
	if (!pd_probe_reference(probes, &name, &running) || !pd_elf_symbol_addr(probes->debug.object, name, &image))
		return pd_fail(error, PD_ERROR_NO_MATCH, PD_NO_OFFSET,
			       "the kernel hides its addresses, see kernel.kptr_restrict");
	point->symbol = name;
	point->offset = point->addr - image;
	return PD_OK;
}
