/* SPDX-License-Identifier: MIT */
/* The probes that are in the kernel: back from their addresses to functions and lines, and out of it. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "probe/kernel.h"

// ---- from an address to a place ----

struct reverse {
	struct pd_probes *probes; // of the object that the last probe was in
	struct pd_arena *arena;
	const struct pd_probe_options *options;
	const char *module; // that it is, or NULL
};

static const char *keep(const struct reverse *r, const char *text)
{
	return text ? pd_arena_text(r->arena, text, strlen(text)) : NULL;
}

// As perf: how the linker calls a function, not what it is called in the source.
static const char *listed_name(const struct pd_die *function)
{
	const char *linkage = pd_die_linkage_name(function);

	return linkage ? linkage : pd_die_name(function);
}

// Goes from a function into those that were inlined at an address: the line counts from the last one, unless the address is
// where that begins; then it is where it was called.
static void go_inwards(struct pd_probe_unit *unit, struct pd_die *function, uint64_t addr, const char **name,
		       uint32_t *base, const char **file, uint32_t *line)
{
	struct pd_die inlined;
	const char *own;
	uint64_t entry;
	uint32_t declared;

	while (pd_probe_inlined_at(function, addr, &inlined)) {
		if (pd_die_entry_pc(&inlined, true, &entry) && entry == addr) {
			pd_probe_called(unit, &inlined, file, line);
			return;
		}
		if (!pd_die_name(&inlined) || !pd_probe_declared(unit, &inlined, &own, &declared))
			return;
		*name = pd_die_name(&inlined);
		*base = declared;
		*function = inlined;
	}
}

static bool place_in_unit(struct reverse *r, struct pd_probe_unit *unit, uint64_t addr, struct pd_probe_definition *d)
{
	const struct pd_die *outer = pd_probe_function_at(unit, addr);
	const char *file = NULL, *name = NULL, *outer_name, *own;
	uint32_t line = 0, base = 0, ignored;
	struct pd_die function;
	uint64_t entry = 0;

	pd_probe_line_at(unit, addr, &file, &line);
	outer_name = outer ? listed_name(outer) : NULL;
	name = outer_name;
	if (outer_name && pd_die_entry_pc(outer, true, &entry) && pd_probe_declared(unit, outer, &own, &base)) {
		function = *outer;
		if (addr == entry) {
			file = own;
			line = base;
		} else {
			go_inwards(unit, &function, addr, &name, &base, &file, &line);
			if (!pd_probe_declared(unit, &function, &own, &ignored) || (file && strcmp(own, file) != 0))
				line = 0;
		}
	} else {
		line = 0;
	}
	if (line) {
		d->line = line - base;
	} else if (outer_name) {
		d->offset = addr - entry;
		name = outer_name;
	}
	d->function = keep(r, name);
	d->file = keep(r, file);
	return name || file;
}

static bool place_by_debug_information(struct reverse *r, uint64_t addr, struct pd_probe_definition *d)
{
	struct pd_probe_debug *debug = &r->probes->debug;
	struct pd_probe_unit unit = { .functions = NULL };
	bool found = false;

	for (size_t i = 0; debug->dwarf && i < debug->dwarf->unit_count && !found; i++)
		if (pd_die_unit(debug->dwarf, i, &unit.die) && pd_die_has_pc(&unit.die, addr) &&
		    pd_probe_unit_read(debug, i, &unit))
			found = place_in_unit(r, &unit, addr, d);
	pd_probe_unit_fini(&unit);
	return found;
}

static bool place_by_symbol(const struct reverse *r, const struct pd_symtab *table, uint64_t addr,
			    struct pd_probe_definition *d)
{
	struct pd_symbol symbol;

	if (!table || !pd_symtab_find(table, addr, &symbol))
		return false;
	d->function = keep(r, symbol.name);
	d->offset = addr - symbol.start;
	return true;
}

static void place_by_point(struct reverse *r, const struct pd_probe_point *point, struct pd_probe_definition *d)
{
	struct pd_text text = { .data = NULL };

	d->function = point->symbol;
	d->offset = point->symbol ? point->offset : 0;
	if (d->function)
		return;
	pd_text_printf(&text, "0x%" PRIx64, point->addr);
	d->function = text.failed ? NULL : pd_arena_text(r->arena, text.data, text.size);
	pd_free(text.data);
}

// Opens the object of a probe, if it is not that of the one before.
static bool open_object(struct reverse *r, const struct pd_probe_point *point)
{
	struct pd_probe_options options = *r->options;

	if (r->probes && r->module == point->module)
		return true;
	if (r->probes && r->module && point->module && strcmp(r->module, point->module) == 0)
		return true;
	pd_probes_close(r->probes);
	r->probes = NULL;
	options.object = point->is_user ? point->module : NULL;
	options.module = point->is_user ? NULL : point->module;
	r->module = point->module;
	return pd_probes_open(&options, &r->probes, NULL) == PD_OK;
}

static void place_in_object(struct reverse *r, const struct pd_probe_point *point, struct pd_probe_definition *d)
{
	uint64_t addr;

	if (open_object(r, point) && r->probes->debug.object &&
	    pd_elf_addr(r->probes->debug.object, point->addr, &addr) &&
	    (place_by_debug_information(r, addr, d) ||
	     place_by_symbol(r, pd_probe_debug_symbols(&r->probes->debug), addr, d)))
		return;
	place_by_point(r, point, d);
}

static bool running_addr(const struct pd_kallsyms *kallsyms, const struct pd_probe_point *point, uint64_t *addr_out)
{
	struct pd_symbol symbol;

	*addr_out = point->addr;
	if (!point->symbol)
		return true;
	if (strcmp(point->symbol, "_text") == 0)
		*addr_out = kallsyms->text_addr + point->offset;
	else if (pd_probe_kernel_symbol(kallsyms, point->symbol, &symbol))
		*addr_out = symbol.start + point->offset;
	else
		return false;
	return true;
}

static void place_in_kernel(struct reverse *r, const struct pd_probe_point *point, struct pd_probe_definition *d)
{
	const struct pd_kallsyms *kallsyms = open_object(r, point) ? pd_probe_kallsyms(r->probes) : NULL;
	uint64_t addr, image, running;
	const char *name;

	if (kallsyms && !point->module && running_addr(kallsyms, point, &addr)) {
		if (r->probes->debug.dwarf && pd_probe_reference(r->probes, &name, &running) &&
		    pd_elf_symbol_addr(r->probes->debug.object, name, &image) &&
		    place_by_debug_information(r, addr - running + image, d))
			return;
		if (place_by_symbol(r, kallsyms->table, addr, d))
			return;
	}
	place_by_point(r, point, d);
}

// ---- listing ----

static bool is_wanted(const struct pd_probe_point *point, const char *filter)
{
	char name[512];
	struct pd_text text = { .data = NULL };
	bool wanted;

	if (!filter || pd_probe_filter(filter, point->event))
		return true;
	pd_text_printf(&text, "%s:%s", point->group, point->event);
	wanted = !text.failed && text.size < sizeof(name);
	if (wanted) {
		memcpy(name, text.data, text.size);
		name[text.size] = 0;
		wanted = pd_probe_filter(filter, name);
	}
	pd_free(text.data);
	return wanted;
}

static bool copy_arguments(struct reverse *r, const struct pd_probe_point *point, struct pd_probe_definition *d)
{
	d->arguments = pd_arena_alloc(r->arena, (point->value_count + 1) * sizeof(*d->arguments));
	if (!d->arguments)
		return false;
	for (size_t i = 0; i < point->value_count; i++)
		d->arguments[i].name = point->values[i].name;
	d->argument_count = point->value_count;
	return true;
}

static enum pd_status print_event(struct pd_text *text, struct reverse *r, const struct pd_probe_point *point,
				  struct pd_error *error)
{
	struct pd_probe_definition d = { .text = "" };

	if (point->is_user)
		place_in_object(r, point, &d);
	else
		place_in_kernel(r, point, &d);
	d.is_return = point->is_return;
	if (!copy_arguments(r, point, &d))
		return pd_fail_memory(error);
	pd_probe_put_event(text, point, &d);
	return PD_OK;
}

typedef enum pd_status event_fn(void *self, const struct pd_probe_point *point, struct pd_error *error);

static int compare_points(const void *a, const void *b)
{
	const struct pd_probe_point *x = a, *y = b;

	return strcmp(x->line, y->line);
}

// Calls a function with each event that matches, in the order of their lines, as perf.
static enum pd_status each_event(struct pd_arena *arena, const char *lines, const char *filter, event_fn *each,
				 void *self, struct pd_error *error)
{
	struct pd_probe_point *points = NULL;
	size_t count = 0, capacity = 0;
	enum pd_status status = PD_OK;

	for (const char *at = lines; at && *at && !status;) {
		size_t length = strcspn(at, "\n");
		struct pd_probe_point point;
		bool is_one = pd_probe_parse_event(arena, at, length, &point);

		if (arena->failed || (is_one && !PD_GROW(points, capacity, count + 1)))
			status = pd_fail_memory(error);
		else if (is_one && is_wanted(&point, filter))
			points[count++] = point;
		at += length + (at[length] == '\n');
	}
	if (count)
		qsort(points, count, sizeof(*points), compare_points);
	for (size_t i = 0; i < count && !status; i++)
		status = each(self, &points[i], error);
	pd_free(points);
	return status;
}

struct listing {
	struct reverse reverse;
	struct pd_text *text;
	const char *tracefs;
	bool is_user;
	struct pd_probe_point *removed; // all of a name go at once
	size_t removed_count, removed_capacity;
};

static enum pd_status list_event(void *self, const struct pd_probe_point *point, struct pd_error *error)
{
	struct listing *l = self;

	return print_event(l->text, &l->reverse, point, error);
}

static enum pd_status remove_event(void *self, const struct pd_probe_point *point, struct pd_error *error)
{
	struct listing *l = self;
	struct pd_text line = { .data = NULL };
	enum pd_status status;

	for (size_t i = 0; i < l->removed_count; i++)
		if (strcmp(l->removed[i].group, point->group) == 0 && strcmp(l->removed[i].event, point->event) == 0)
			return PD_OK;
	if (!PD_GROW(l->removed, l->removed_capacity, l->removed_count + 1))
		return pd_fail_memory(error);
	l->removed[l->removed_count++] = *point;
	pd_text_printf(&line, "-:%s/%s\n", point->group, point->event);
	pd_text_char(&line, 0);
	status = line.failed ? pd_fail_memory(error) : pd_probe_events_write(l->tracefs, l->is_user, line.data, error);
	pd_free(line.data);
	if (!status)
		pd_text_printf(l->text, "Removed event: %s:%s\n", point->group, point->event);
	return status;
}

// Both files, one after another.
static enum pd_status each_file(struct pd_text *text, const struct pd_probe_options *options, const char *filter,
				event_fn *each, size_t *count_out, struct pd_error *error)
{
	struct pd_probe_options own;
	struct pd_arena arena = { .limit = 0 };
	enum pd_status status = pd_probe_take_options(options, &own, error);
	char *tracefs = status ? NULL : pd_probe_tracefs(&own);
	struct listing l = { .reverse = { .arena = &arena, .options = &own }, .text = text, .tracefs = tracefs };
	bool any = false;

	if (!status && !tracefs)
		status = pd_fail(error, PD_ERROR_NO_MATCH, PD_NO_OFFSET,
				 "tracefs is not mounted, or may not be read; probes need root");
	for (int i = 0; i < 2 && !status; i++) {
		char *lines = pd_probe_events_read(tracefs, i == 1);

		l.is_user = i == 1;
		any |= lines != NULL;
		status = each_event(&arena, lines, filter, each, &l, error);
		pd_free(lines);
	}
	if (!status && !any)
		status = pd_fail(error, PD_ERROR_NO_MATCH, PD_NO_OFFSET,
				 "%s: no kprobe_events and no uprobe_events; this kernel has no probes", tracefs);
	pd_probes_close(l.reverse.probes);
	pd_arena_fini(&arena);
	pd_free(tracefs);
	*count_out = l.removed_count;
	pd_free(l.removed);
	return status;
}

enum pd_status pd_print_probes(struct pd_text *text, const struct pd_probe_options *options, const char *filter,
			       struct pd_error *error)
{
	size_t count;

	return each_file(text, options, filter, list_event, &count, error);
}

enum pd_status pd_probes_remove(struct pd_text *text, const struct pd_probe_options *options, const char *filter,
				struct pd_error *error)
{
	size_t count;
	enum pd_status status = each_file(text, options, filter, remove_event, &count, error);

	if (!status && !count)
		return pd_fail(error, PD_ERROR_NO_MATCH, PD_NO_OFFSET, "'%s': no such event", filter);
	return status;
}
