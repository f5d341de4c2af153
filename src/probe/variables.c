/* SPDX-License-Identifier: MIT */
/* The variables that have a value at a place. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "probe/set.h"

enum {
	DEEPEST = 64 // blocks in each other
};

struct names {
	char **items; // in an arena of their own
	size_t count, capacity;
};

struct showing {
	struct pd_probes *probes;
	struct pd_text *text; // what is printed
	uint64_t *addrs;      // that were shown
	size_t count, capacity;
};

// ---- where a variable has a value ----

struct ranges {
	struct pd_text *text;
	const char *function;
	uint64_t entry;
	bool any;
};

static bool put_range(void *self, uint64_t start, uint64_t end)
{
	struct ranges *r = self;

	if (r->any)
		pd_text_printf(r->text, ",%" PRIu64 "-%" PRIu64, start - r->entry, end - r->entry);
	else
		pd_text_printf(r->text, "@<%s+[%" PRIu64 "-%" PRIu64, r->function, start - r->entry, end - r->entry);
	r->any = true;
	return true;
}

struct placing {
	struct ranges ranges;
	const struct pd_die *block; // that the variable is in
};

static bool put_location(void *self, const struct pd_die_location *location)
{
	struct placing *p = self;

	if (location->end)
		return put_range(&p->ranges, location->start, location->end);
	// it is there in all of its block
	pd_die_spans(p->block, put_range, &p->ranges);
	return false;
}

static void put_ranges(struct pd_text *text, struct pd_probe_finder *f, const struct pd_die *variable,
		       const struct pd_die *block)
{
	struct placing placing = { .ranges = { .text = text, .function = pd_die_name(&f->function) }, .block = block };

	if (!placing.ranges.function || !pd_die_entry_pc(&f->function, true, &placing.ranges.entry))
		return;
	pd_die_each_location(variable, PD_AT_LOCATION, &f->debug->locations, put_location, &placing);
	if (placing.ranges.any)
		pd_text_add(text, "]>");
}

// ---- variables ----

static bool add_name(struct pd_probe_finder *f, struct names *names, const struct pd_text *line)
{
	char *copy = line->failed ? NULL : pd_arena_text(f->arena, line->data, line->size);

	if (!copy || !PD_GROW(names->items, names->capacity, names->count + 1))
		return false;
	names->items[names->count++] = copy;
	return true;
}

// "type\tname", with --range also whether it is valid here, and where it is.
static bool add_variable(struct pd_probe_finder *f, struct names *names, const struct pd_die *variable,
			 const struct pd_die *block, bool is_external)
{
	const struct showing *s = f->self;
	bool ranges = s->probes->options.ranges, ok;
	enum pd_probe_found found = pd_probe_locate(f, variable, ranges, NULL);
	struct pd_text line = { .data = NULL };
	const char *name = pd_die_name(variable);

	if (found != PD_PROBE_FOUND && found != PD_PROBE_ELSEWHERE)
		return true;
	// a constant has no range
	if (ranges && !is_external && !pd_die_has(variable, PD_AT_LOCATION))
		return true;
	if (ranges)
		pd_text_add(&line, is_external ? "[EXT]\t" : found == PD_PROBE_FOUND ? "[VAL]\t" : "[INV]\t");
	if (!pd_probe_put_type(&line, variable))
		pd_text_add(&line, "(unknown_type)");
	pd_text_printf(&line, "\t%s", name ? name : "(null)");
	if (ranges && !is_external) {
		pd_text_char(&line, '\t');
		put_ranges(&line, f, variable, block);
	}
	ok = add_name(f, names, &line);
	pd_free(line.data);
	return ok;
}

static bool is_variable(const struct pd_die *die)
{
	return pd_die_tag(die) == PD_TAG_PARAMETER || pd_die_tag(die) == PD_TAG_VARIABLE;
}

static bool add_local(struct pd_probe_finder *f, struct names *names)
{
	struct pd_die_walk walk = { .die = f->scope };
	struct pd_die blocks[DEEPEST] = { f->scope };
	bool into = true;

	while (pd_die_next(&walk, into)) {
		unsigned depth = walk.depth < DEEPEST ? walk.depth : DEEPEST - 1;

		blocks[depth] = walk.die;
		if (is_variable(&walk.die) && !add_variable(f, names, &walk.die, &blocks[depth - 1], false))
			return false;
		into = pd_die_has_pc(&walk.die, f->addr);
	}
	return true;
}

static bool add_global(struct pd_probe_finder *f, struct names *names)
{
	struct pd_die_walk walk = { .die = f->unit.die };

	while (pd_die_next(&walk, false))
		if (is_variable(&walk.die) && !add_variable(f, names, &walk.die, &f->unit.die, true))
			return false;
	return true;
}

// ---- printing ----

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static void print_names(const struct showing *s, const struct names *names)
{
	const char *filter = s->probes->options.filter ? s->probes->options.filter : "!__k???tab_* & !__crc_*";
	size_t shown = 0;

	for (size_t i = 0; i < names->count; i++) {
		const char *name = strchr(names->items[i], '\t');

		if ((i && strcmp(names->items[i], names->items[i - 1]) == 0) || !name ||
		    !pd_probe_filter(filter, name + 1))
			continue;
		pd_text_printf(s->text, "\t\t%s\n", names->items[i]);
		shown++;
	}
	if (!shown)
		pd_text_add(s->text, "\t\t(No matched variables)\n");
}

static enum pd_status show_place(struct pd_probe_finder *f)
{
	struct showing *s = f->self;
	struct names names = { .items = NULL };
	struct pd_probe_point point;
	enum pd_status status;
	bool ok;

	for (size_t i = 0; i < s->count; i++)
		if (s->addrs[i] == f->addr)
			return PD_OK;
	status = pd_probe_place(f, &point);
	if (status)
		return status;
	if (!PD_GROW(s->addrs, s->capacity, s->count + 1))
		return pd_fail_memory(f->error);
	s->addrs[s->count++] = f->addr;
	f->count = s->count;
	ok = add_local(f, &names) && (!s->probes->options.externs || add_global(f, &names));
	pd_text_printf(s->text, "\t@<%s+%" PRIu64 ">\n", point.symbol, point.offset);
	if (names.count)
		qsort(names.items, names.count, sizeof(*names.items), compare_names);
	print_names(s, &names);
	pd_free(names.items);
	return ok ? PD_OK : pd_fail_memory(f->error);
}

enum pd_status pd_print_probe_variables(struct pd_text *text, struct pd_probes *probes, const char *definition,
					struct pd_error *error)
{
	struct showing s = { .probes = probes, .text = text };
	struct pd_probe_definition d;
	struct pd_probe_finder finder;
	enum pd_status status = pd_probe_parse(&probes->arena, definition, &d, error);
	size_t start;

	if (!status)
		status = pd_probe_need_information(probes, definition, error);
	if (status)
		return status;
	start = text->size;
	pd_text_add(text, "Available variables at ");
	pd_probe_put_place(text, &d);
	pd_text_char(text, '\n');
	finder = pd_probe_finder_of(probes, &d, error);
	finder.found = show_place;
	finder.self = &s;
	status = pd_probe_find_or_alias(probes, &finder);
	if (!status && !s.count)
		status = pd_fail(error, PD_ERROR_NO_MATCH, PD_NO_OFFSET, "'%s': no such place in %s", definition,
				 probes->path ? probes->path : "the kernel");
	if (!s.count)
		text->size = start;
	pd_free(s.addrs);
	return status;
}
