/* SPDX-License-Identifier: MIT */
/* The source of a function or of lines, with the numbers of those that probes can be at. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "object/elf/image.h"
#include "probe/set.h"

enum {
	MOST_SOURCE = 64 << 20,
	MORE_LINES = 2 // after the last one that has a number
};

struct lines {
	struct pd_probes *probes;
	struct pd_probe_unit unit;
	struct pd_probe_range range;
	const char *file;
	uint32_t first, last, base; // base: what numbers are counted from
	const char *path, *folder;
	uint32_t *numbers;
	size_t count, capacity;
	bool found, failed;
};

static uint32_t sum(uint32_t a, uint32_t b)
{
	return b > INT32_MAX - a ? INT32_MAX : a + b;
}

static bool take_line(void *self, const char *file, uint32_t line, uint64_t addr)
{
	struct lines *l = self;
	const char *other;
	uint32_t number;

	if (line < l->first || line > l->last || !pd_probe_same_tail(file, l->file))
		return true;
	// another line has the address when it is looked up, or none
	if (!pd_probe_line_at(&l->unit, addr, &other, &number) || number != line || strcmp(other, file) != 0)
		return true;
	if (!PD_GROW(l->numbers, l->capacity, l->count + 1)) {
		l->failed = true;
		return false;
	}
	if (!l->path)
		l->path = pd_arena_text(&l->probes->arena, file, strlen(file));
	l->numbers[l->count++] = line;
	l->found = true;
	return true;
}

static void take_instances(struct lines *l, const struct pd_die *origin)
{
	struct pd_die_walk walk = { .die = l->unit.die };
	struct pd_die other;

	while (!l->failed && pd_die_next(&walk, true))
		if (pd_probe_is_instance(&walk.die) && pd_die_reference(&walk.die, PD_AT_ORIGIN, &other) &&
		    pd_die_same(&other, origin))
			pd_probe_each_line(&l->unit, &walk.die, take_line, l);
}

static bool has_name(const struct pd_die *die, const char *name)
{
	const char *own = pd_die_name(die), *linkage = pd_die_linkage_name(die);

	return (own && strcmp(own, name) == 0) || (linkage && strcmp(linkage, name) == 0);
}

static void take_function(struct lines *l)
{
	for (size_t i = 0; i < l->unit.function_count; i++) {
		const struct pd_die *die = &l->unit.functions[i];

		if (!has_name(die, l->range.function) || !pd_probe_is_defined(die) ||
		    !pd_probe_declared(&l->unit, die, &l->file, &l->base) ||
		    (l->range.file && !pd_probe_same_tail(l->range.file, l->file)))
			continue;
		l->first = sum(l->base, l->range.first);
		l->last = l->range.last == UINT32_MAX ? INT32_MAX : sum(l->base, l->range.last);
		if (pd_probe_is_instance(die))
			pd_probe_each_line(&l->unit, die, take_line, l);
		else
			take_instances(l, die);
		return;
	}
}

static void take_unit(struct lines *l)
{
	l->file = l->range.file ? pd_probe_unit_file_by_tail(&l->unit, l->range.file) : NULL;
	if (l->range.file && !l->file)
		return;
	if (l->range.function) {
		take_function(l);
	} else {
		l->first = l->range.first;
		l->last = l->range.last == UINT32_MAX ? INT32_MAX : l->range.last;
		pd_probe_each_line(&l->unit, NULL, take_line, l);
	}
	if (l->found) {
		const char *folder = pd_die_find_text(&l->unit.die, PD_AT_FOLDER);

		l->folder = folder ? pd_arena_text(&l->probes->arena, folder, strlen(folder)) : NULL;
	}
}

static int compare_numbers(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

// ---- printing ----

static void print_line(struct pd_text *text, const char **at, const char *end, uint32_t number, bool has_number)
{
	const char *stop = memchr(*at, '\n', (size_t)(end - *at));
	size_t length = (size_t)((stop ? stop : end) - *at);

	if (has_number)
		pd_text_printf(text, "%7" PRIu32 "  ", number);
	else
		pd_text_add(text, "         ");
	pd_text_put(text, *at, length);
	pd_text_char(text, '\n');
	*at = stop ? stop + 1 : end;
}

static enum pd_status print_source(struct pd_text *text, struct lines *l, const char *path, struct pd_error *error)
{
	uint32_t line = 1, last = l->last;
	const char *at, *end;
	uint8_t *data;
	size_t size, next = 0;
	enum pd_status status = pd_image_read_file(path, MOST_SOURCE, &data, &size, error);

	if (status)
		return status;
	if (l->range.function)
		pd_text_printf(text, "<%s@%s:%" PRIu32 ">\n", l->range.function, path, l->first - l->base);
	else
		pd_text_printf(text, "<%s:%" PRIu32 ">\n", path, l->first);
	if (last == INT32_MAX)
		last = l->numbers[l->count - 1] + 1 + MORE_LINES;
	at = (const char *)data;
	end = at + size;
	for (; at < end && line <= last; line++) {
		const char *stop = memchr(at, '\n', (size_t)(end - at));
		bool has_number;

		if (line < l->first) {
			at = stop ? stop + 1 : end;
			continue;
		}
		while (next < l->count && l->numbers[next] < line)
			next++;
		has_number = next < l->count && l->numbers[next] == line;
		print_line(text, &at, end, line - l->base, has_number);
	}
	pd_free(data);
	return pd_text_failed(text) ? pd_fail_memory(error) : PD_OK;
}

static enum pd_status print_found(struct pd_text *text, struct lines *l, const char *range, struct pd_error *error)
{
	const char *path;

	if (l->failed)
		return pd_fail_memory(error);
	if (!l->found)
		return pd_fail(error, PD_ERROR_NO_MATCH, PD_NO_OFFSET, "'%s': no such lines in %s", range,
			       l->probes->path ? l->probes->path : "the kernel");
	path = pd_probe_source(&l->probes->arena, l->path, l->folder, l->probes->options.source);
	if (!path)
		return pd_fail(error, PD_ERROR_NO_MATCH, PD_NO_OFFSET, "%s: not found; see --source", l->path);
	qsort(l->numbers, l->count, sizeof(*l->numbers), compare_numbers);
	return print_source(text, l, path, error);
}

enum pd_status pd_print_probe_lines(struct pd_text *text, struct pd_probes *probes, const char *range,
				    struct pd_error *error)
{
	struct lines l = { .probes = probes };
	struct pd_dwarf *dwarf = probes->debug.dwarf;
	enum pd_status status = pd_probe_parse_range(&probes->arena, range, &l.range, error);

	if (!status)
		status = pd_probe_need_information(probes, range, error);
	for (size_t i = 0; !status && i < dwarf->unit_count && !l.found && !l.failed; i++) {
		if (pd_probe_unit_read(&probes->debug, i, &l.unit))
			take_unit(&l);
		l.failed |= l.unit.failed;
	}
	pd_probe_unit_fini(&l.unit);
	if (!status)
		status = print_found(text, &l, range, error);
	pd_free(l.numbers);
	return status;
}
