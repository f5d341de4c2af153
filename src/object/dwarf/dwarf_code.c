/* SPDX-License-Identifier: MIT */
/* Which units have code where, and the names and lines of one unit. */
#include "object/dwarf/dwarf.h"

#include <stdlib.h>
#include <string.h>

// ---- which units have code ----

struct finding {
	struct pd_dwarf *d;
	struct pd_dwarf_code *code;
	size_t work;
	bool *has_code; // of all units
	bool out_of_memory;
};

static bool add_span(void *self, uint64_t start, uint64_t end)
{
	struct finding *f = self;
	struct pd_dwarf_code *code = f->code;

	if (!PD_GROW(code->spans, code->span_capacity, code->span_count + 1)) {
		f->out_of_memory = true;
		return false;
	}
	code->spans[code->span_count++] = (struct pd_span){ start, end, (uint32_t)code->count };
	return true;
}

// Counts the unit that spans were just added for.
static bool add_unit(struct finding *f, size_t which)
{
	if (!PD_GROW(f->code->units, f->code->capacity, f->code->count + 1)) {
		f->out_of_memory = true;
		return false;
	}
	f->code->units[f->code->count++] = (uint32_t)which;
	f->has_code[which] = true;
	return true;
}

static bool is_compile_unit(const struct pd_dwarf_entry *entry)
{
	return entry->abbrev->tag == PD_DWARF_TAG_COMPILE_UNIT || entry->abbrev->tag == PD_DWARF_TAG_SKELETON_UNIT;
}

static void find_own(struct finding *f)
{
	struct pd_dwarf_entry entry;

	for (size_t i = 0; i < f->d->unit_count && !f->out_of_memory && !f->d->out_of_memory; i++) {
		struct pd_dwarf_unit_head *u = &f->d->units[i];
		size_t before = f->code->span_count;

		if (!pd_dwarf_unit_entry(f->d, u, &entry))
			continue;
		pd_dwarf_set_bases(f->d, u, &entry);
		if (!is_compile_unit(&entry))
			continue;
		pd_dwarf_spans(f->d, u, &entry, &f->work, add_span, f);
		if (f->code->span_count != before)
			add_unit(f, i);
	}
}

static int compare_starts(const void *key, const void *unit)
{
	uint64_t x = *(const uint64_t *)key, y = ((const struct pd_dwarf_unit_head *)unit)->start;

	return (x > y) - (x < y);
}

// One set of the list of all code, for a unit that does not say where its code is.
static void find_listed_set(struct finding *f, struct pd_cursor *all)
{
	uint64_t size = pd_cursor_u32(all), start, length;
	unsigned offset_size = 4, addr_size;
	const uint8_t *begin = all->at - 4;
	struct pd_dwarf_unit_head *u;
	struct pd_cursor c;
	size_t before = f->code->span_count, head;

	if (size == UINT32_MAX) {
		size = pd_cursor_u64(all);
		offset_size = 8;
	}
	c = pd_cursor(all->at, size < pd_cursor_left(all) ? (size_t)size : pd_cursor_left(all), all->big);
	pd_cursor_take(all, pd_cursor_left(&c));
	pd_cursor_u16(&c); // version
	start = pd_dwarf_number(&c, offset_size);
	u = f->d->unit_count ? bsearch(&start, f->d->units, f->d->unit_count, sizeof(*u), compare_starts) : NULL;
	addr_size = pd_cursor_u8(&c);
	if (pd_cursor_u8(&c) || !u || c.failed || (addr_size != 4 && addr_size != 8) || f->has_code[u - f->d->units])
		return;
	// entries are aligned to their size, from the beginning of the set
	head = (size_t)(c.at - begin);
	pd_cursor_take(&c, -head & (2 * addr_size - 1));
	for (;;) {
		start = pd_dwarf_number(&c, addr_size);
		length = pd_dwarf_number(&c, addr_size);
		if (c.failed || (!start && !length))
			break;
		if (start >= f->d->image->first_addr && length && start + length > start &&
		    !add_span(f, start, start + length))
			return;
	}
	if (f->code->span_count != before)
		add_unit(f, (size_t)(u - f->d->units));
}

bool pd_dwarf_code(struct pd_dwarf *d, struct pd_dwarf_code *code)
{
	struct finding f = { .d = d, .code = code, .work = d->image->size };
	struct pd_cursor c = pd_dwarf_cursor(d, PD_DEBUG_ARANGES, 0);

	f.has_code = pd_alloc(d->unit_count * sizeof(*f.has_code));
	if (!f.has_code)
		return false;
	find_own(&f);
	while (pd_cursor_left(&c) > 4 && !c.failed && !f.out_of_memory)
		find_listed_set(&f, &c);
	pd_free(f.has_code);
	return !f.out_of_memory && !d->out_of_memory;
}

bool pd_dwarf_unit(struct pd_dwarf *d, uint32_t unit, struct pd_unit_maker *maker)
{
	struct pd_dwarf_files files = { .maker = maker };
	struct pd_dwarf_entry entry;
	struct pd_dwarf_unit_head *u;

	if (unit >= d->unit_count)
		return true;
	u = &d->units[unit];
	if (!pd_dwarf_unit_entry(d, u, &entry))
		return !d->out_of_memory;
	pd_dwarf_set_bases(d, u, &entry);
	files.folder = pd_dwarf_text(d, u, &entry.values[PD_USE_FOLDER]);
	if (entry.values[PD_USE_LINES].form)
		pd_dwarf_lines(d, u, entry.values[PD_USE_LINES].number, &files);
	pd_dwarf_scopes(d, u, &files, maker);
	pd_dwarf_files_fini(&files);
	return !maker->failed && !d->out_of_memory;
}
