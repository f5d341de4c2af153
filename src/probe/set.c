/* SPDX-License-Identifier: MIT */
/* Sets of probes: from an object and definitions to events, and into the kernel. */
#include <string.h>

#include "probe/kernel.h"

// ---- opening ----

static void set_places(struct pd_probes *probes)
{
	static const char *const debug_paths[] = { "/usr/lib/debug" };
	const struct pd_probe_options *o = &probes->options;

	probes->places = (struct pd_find_places){
		.symfs = o->symfs ? o->symfs : "/",
		.cache = o->build_id_cache,
		.debug = o->debug_path_count ? o->debug_paths : debug_paths,
		.debug_count = o->debug_path_count ? o->debug_path_count : 1,
	};
}

static enum pd_status open_object(struct pd_probes *probes, struct pd_error *error)
{
	struct pd_find_wanted wanted = { .path = NULL };

	probes->path = pd_probe_absolute(&probes->arena, &probes->options, probes->options.object);
	if (!probes->path)
		return pd_fail_memory(error);
	if (strpbrk(probes->path, " \t\n"))
		return pd_fail(error, PD_ERROR_UNSUPPORTED, PD_NO_OFFSET, "%s: the kernel takes no path with blanks",
			       probes->path);
	probes->where = probes->path;
	wanted.path = probes->path;
	return pd_probe_debug_open(&probes->debug, &wanted, &probes->places, error);
}

enum pd_status pd_probes_open(const struct pd_probe_options *options, struct pd_probes **probes_out,
			      struct pd_error *error)
{
	struct pd_probes *probes = pd_alloc(sizeof(*probes));
	enum pd_status status;

	if (!probes)
		return pd_fail_memory(error);
	status = pd_probe_take_options(options, &probes->options, error);
	if (!status) {
		set_places(probes);
		probes->tracefs = pd_probe_tracefs(&probes->options);
		probes->features = pd_probe_features_read(probes->tracefs);
		status = probes->options.object ? open_object(probes, error) : pd_probe_open_kernel(probes, error);
	}
	if (status) {
		pd_probes_close(probes);
		return status;
	}
	*probes_out = probes;
	return PD_OK;
}

void pd_probes_close(struct pd_probes *probes)
{
	if (!probes)
		return;
	pd_probe_debug_close(&probes->debug);
	if (probes->has_kallsyms)
		pd_kallsyms_close(&probes->kallsyms);
	for (size_t i = 0; i < probes->count; i++)
		pd_free(probes->items[i].points);
	pd_free(probes->items);
	pd_free(probes->tracefs);
	pd_arena_fini(&probes->arena);
	pd_free(probes);
}

size_t pd_probes_count(const struct pd_probes *probes)
{
	size_t count = 0;

	for (size_t i = 0; i < probes->count; i++)
		count += probes->items[i].count;
	return count;
}

// ---- definitions ----

struct pd_probe_finder pd_probe_finder_of(struct pd_probes *probes, const struct pd_probe_definition *definition,
					  struct pd_error *error)
{
	return (struct pd_probe_finder){
		.arena = &probes->arena,
		.debug = &probes->debug,
		.definition = definition,
		.features = probes->features,
		.is_user = probes->path != NULL,
		.options = &probes->options,
		.error = error,
	};
}

struct adding {
	struct pd_probes *probes;
	struct pd_probe_item *item;
};

static enum pd_status take_place(struct pd_probe_finder *finder)
{
	const struct adding *adding = finder->self;
	struct pd_probe_point point;
	enum pd_status status;

	for (size_t i = 0; i < adding->item->count; i++)
		if (adding->item->points[i].addr == finder->addr)
			return PD_OK;
	status = pd_probe_place(finder, &point);
	if (!status)
		status = pd_probe_values(finder, &point);
	if (!status)
		status = pd_probe_item_add(adding->probes, adding->item, &point, finder->error);
	finder->count = adding->item->count;
	return status;
}

// The function of a symbol may be called otherwise in the debug information.
static bool find_alias(struct pd_probes *probes, const struct pd_probe_definition *d, struct pd_probe_definition *other)
{
	struct pd_elf *files[] = { probes->debug.files.debug, probes->debug.object };
	struct pd_probe_unit unit = { .functions = NULL };
	bool found = false, known = false;
	uint64_t addr = 0;

	for (size_t i = 0; i < 2 && !known; i++)
		known = files[i] && d->function && pd_elf_symbol_addr(files[i], d->function, &addr);
	for (size_t i = 0; known && !found && i < probes->debug.dwarf->unit_count; i++) {
		const struct pd_die *function;
		const char *file;
		uint32_t line;

		if (!pd_die_unit(probes->debug.dwarf, i, &unit.die) || !pd_die_has_pc(&unit.die, addr) ||
		    !pd_probe_unit_read(&probes->debug, i, &unit))
			continue;
		function = pd_probe_function_at(&unit, addr);
		if (!function || !pd_die_name(function) || !pd_probe_declared(&unit, function, &file, &line))
			continue;
		*other = *d;
		other->function = pd_die_name(function);
		other->file = d->file ? d->file : pd_arena_text(&probes->arena, file, strlen(file));
		found = other->file && strcmp(other->function, d->function) != 0;
	}
	pd_probe_unit_fini(&unit);
	return found;
}

enum pd_status pd_probe_find_or_alias(struct pd_probes *probes, struct pd_probe_finder *finder)
{
	const struct pd_probe_definition *d = finder->definition;
	struct pd_probe_definition other;
	enum pd_status status = pd_probe_find(finder);

	if (status || finder->count || !find_alias(probes, d, &other))
		return status;
	finder->definition = &other;
	status = pd_probe_find(finder);
	finder->definition = d;
	return status;
}

static enum pd_status move_point(struct pd_probes *probes, struct pd_probe_point *point, struct pd_error *error)
{
	uint64_t offset;

	if (!probes->path)
		return pd_probe_place_in_kernel(probes, point, error);
	point->module = probes->path;
	if (!pd_elf_offset(probes->debug.object, point->addr, &offset))
		return pd_fail(error, PD_ERROR_FORMAT, PD_NO_OFFSET, "%s: no code at %#llx", probes->path,
			       (unsigned long long)point->addr);
	point->addr = offset;
	return PD_OK;
}

static enum pd_status by_debug_information(struct pd_probes *probes, struct pd_probe_item *item, struct pd_error *error)
{
	struct pd_probe_finder finder = pd_probe_finder_of(probes, &item->definition, error);
	struct adding adding = { probes, item };
	enum pd_status status;

	finder.found = take_place;
	finder.self = &adding;
	status = pd_probe_find_or_alias(probes, &finder);
	if (!status)
		status = pd_probe_fill(&finder, item->points, item->count);
	for (size_t i = 0; i < item->count && !status; i++)
		status = move_point(probes, &item->points[i], error);
	return status;
}

static bool needs_debug_information(const struct pd_probe_definition *d)
{
	if (d->file || d->line || d->pattern)
		return true;
	for (size_t i = 0; i < d->argument_count; i++)
		if (pd_probe_is_variable(&d->arguments[i]) || strcmp(d->arguments[i].variable, "$vars") == 0 ||
		    strcmp(d->arguments[i].variable, "$params") == 0)
			return true;
	return false;
}

static enum pd_status by_addr(struct pd_probes *probes, struct pd_probe_item *item, struct pd_error *error)
{
	const struct pd_probe_definition *d = &item->definition;
	struct pd_probe_point point = {
		.module = probes->where,
		.addr = d->addr,
		.is_user = probes->path != NULL,
		.is_return = d->is_return,
	};
	struct pd_text name = { .data = NULL };

	pd_text_printf(&name, "abs_%llx", (unsigned long long)d->addr);
	point.function = name.failed ? NULL : pd_arena_text(&probes->arena, name.data, name.size);
	pd_free(name.data);
	point.values = pd_arena_alloc(&probes->arena, (d->argument_count + 1) * sizeof(*point.values));
	if (!point.function || !point.values)
		return pd_fail_memory(error);
	for (size_t i = 0; i < d->argument_count; i++)
		point.values[point.value_count++] = (struct pd_probe_value){
			.name = d->arguments[i].name,
			.value = d->arguments[i].variable,
			.type = d->arguments[i].type,
		};
	return pd_probe_item_add(probes, item, &point, error);
}

static enum pd_status resolve(struct pd_probes *probes, struct pd_probe_item *item, struct pd_error *error)
{
	const struct pd_probe_definition *d = &item->definition;
	bool needed = needs_debug_information(d);
	enum pd_status status = PD_OK;

	if (d->is_addr && !needed)
		return by_addr(probes, item, error);
	if (needed)
		status = pd_probe_need_information(probes, d->text, error);
	if (status)
		return status;
	if (probes->debug.dwarf && !d->is_return)
		status = by_debug_information(probes, item, error);
	if (!status && item->count)
		return PD_OK;
	if (status == PD_ERROR_MEMORY || needed)
		return status ? status :
				pd_fail(error, PD_ERROR_NO_MATCH, PD_NO_OFFSET, "'%s': no such place in %s", d->text,
					probes->path ? probes->path : "the kernel");
	item->count = 0;
	return pd_probe_by_symbols(probes, item, error);
}

enum pd_status pd_probes_define(struct pd_probes *probes, const char *definition, struct pd_error *error)
{
	struct pd_probe_item item = { .points = NULL };
	enum pd_status status;

	definition = pd_arena_text(&probes->arena, definition, strlen(definition));
	if (!definition)
		return pd_fail_memory(error);
	status = pd_probe_parse(&probes->arena, definition, &item.definition, error);
	if (!status)
		status = resolve(probes, &item, error);
	if (!status && !PD_GROW(probes->items, probes->capacity, probes->count + 1))
		status = pd_fail_memory(error);
	if (status) {
		pd_free(item.points);
		return status;
	}
	probes->items[probes->count++] = item;
	return PD_OK;
}

// ---- printing and adding ----

enum pd_status pd_print_probe_definitions(struct pd_text *text, struct pd_probes *probes, struct pd_error *error)
{
	for (size_t i = 0; i < probes->count; i++) {
		struct pd_probe_item *item = &probes->items[i];
		enum pd_status status = pd_probe_name(probes, item, NULL, true, error);

		if (status)
			return status;
		for (size_t k = 0; k < item->count; k++) {
			pd_probe_put_point(text, &item->points[k]);
			pd_text_char(text, '\n');
		}
	}
	return PD_OK;
}

static enum pd_status add_item(struct pd_probes *probes, struct pd_probe_item *item, struct pd_error *error)
{
	bool is_user = probes->path != NULL;
	char *existing = probes->tracefs ? pd_probe_names(probes->tracefs) : NULL;
	enum pd_status status = pd_probe_name(probes, item, existing, probes->options.force, error);

	pd_free(existing);
	for (size_t i = 0; i < item->count && !status; i++) {
		struct pd_text line = { .data = NULL };

		pd_probe_put_point(&line, &item->points[i]);
		pd_text_add(&line, "\n");
		pd_text_char(&line, 0);
		status = line.failed ? pd_fail_memory(error) :
				       pd_probe_events_write(probes->tracefs, is_user, line.data, error);
		pd_free(line.data);
	}
	return status;
}

enum pd_status pd_probes_add(struct pd_probes *probes, struct pd_error *error)
{
	enum pd_status status = PD_OK;

	for (size_t i = 0; i < probes->count && !status; i++)
		status = add_item(probes, &probes->items[i], error);
	return status;
}

void pd_print_added_probes(struct pd_text *text, const struct pd_probes *probes)
{
	size_t count = pd_probes_count(probes);

	if (!count)
		return;
	pd_text_add(text, count > 1 ? "Added new events:\n" : "Added new event:\n");
	for (size_t i = 0; i < probes->count; i++)
		for (size_t k = 0; k < probes->items[i].count; k++)
			if (probes->items[i].points[k].event)
				pd_probe_put_event(text, &probes->items[i].points[k], &probes->items[i].definition);
}
