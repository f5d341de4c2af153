/* SPDX-License-Identifier: MIT */
/* A unit of debug information: its functions, its lines, and where both meet. */
#include "probe/find/unit.h"

#include <stdlib.h>
#include <string.h>

#include "base/lookup/search.h"
#include "object/dwarf/pieces.h"

// ---- functions ----

// Tags whose entries can have functions in them.
static bool holds_functions(uint32_t tag)
{
	switch (tag) {
	case PD_TAG_CLASS:
	case PD_TAG_STRUCTURE:
	case PD_TAG_UNION:
	case PD_TAG_INLINED:
	case PD_TAG_FUNCTION:
	case PD_DWARF_TAG_NAMESPACE:
	case 0x0b: // a block
	case 0x1e: // a module
		return true;
	default:
		return false;
	}
}

static void read_functions(struct pd_probe_unit *unit)
{
	struct pd_die_walk walk = { .die = unit->die };
	bool into = true;

	while (!unit->failed && pd_die_next(&walk, into)) {
		into = holds_functions(pd_die_tag(&walk.die));
		if (pd_die_tag(&walk.die) != PD_TAG_FUNCTION)
			continue;
		if (!PD_GROW(unit->functions, unit->function_capacity, unit->function_count + 1))
			unit->failed = true;
		else
			unit->functions[unit->function_count++] = walk.die;
	}
}

struct spans {
	struct pd_span *items;
	size_t count, capacity;
	uint32_t value;
	bool failed;
};

static bool take_span(void *self, uint64_t start, uint64_t end)
{
	struct spans *spans = self;

	if (!PD_GROW(spans->items, spans->capacity, spans->count + 1)) {
		spans->failed = true;
		return false;
	}
	spans->items[spans->count++] = (struct pd_span){ start, end, spans->value };
	return true;
}

// Of functions that overlap the first one has an address.
static void index_functions(struct pd_probe_unit *unit)
{
	struct spans spans = { .items = NULL };

	if (unit->has_pieces)
		return;
	unit->has_pieces = true;
	for (size_t i = 0; i < unit->function_count && !spans.failed; i++) {
		spans.value = (uint32_t)(unit->function_count - 1 - i);
		pd_die_spans(&unit->functions[i], take_span, &spans);
	}
	if (spans.failed || !pd_pieces_make(spans.items, spans.count, &unit->pieces, &unit->piece_count))
		unit->failed = true;
	pd_free(spans.items);
}

const struct pd_die *pd_probe_function_at(struct pd_probe_unit *unit, uint64_t addr)
{
	const struct pd_addr_piece *piece;

	index_functions(unit);
	piece = pd_pieces_at(unit->pieces, unit->piece_count, addr);
	if (!piece || piece->value == PD_PIECE_NONE)
		return NULL;
	return &unit->functions[unit->function_count - 1 - piece->value];
}

bool pd_probe_inlined_at(const struct pd_die *die, uint64_t addr, struct pd_die *die_out)
{
	struct pd_die_walk walk = { .die = *die };

	while (pd_die_next(&walk, true)) {
		if (pd_die_tag(&walk.die) == PD_TAG_INLINED && pd_die_has_pc(&walk.die, addr)) {
			*die_out = walk.die;
			return true;
		}
	}
	return false;
}

bool pd_probe_is_instance(const struct pd_die *die)
{
	uint64_t addr;

	return (pd_die_tag(die) == PD_TAG_FUNCTION || pd_die_tag(die) == PD_TAG_INLINED) &&
	       (pd_die_has(die, PD_AT_RANGES) || pd_die_entry_pc(die, false, &addr));
}

bool pd_probe_is_defined(const struct pd_die *die)
{
	uint64_t addr;

	return pd_die_tag(die) == PD_TAG_FUNCTION && !pd_die_has(die, PD_AT_DECLARATION) &&
	       (pd_die_has(die, PD_AT_INLINE) || pd_die_entry_pc(die, true, &addr));
}

// ---- rows ----

static void take_row(void *self, const struct pd_dwarf_row *row)
{
	struct pd_probe_unit *unit = self;

	if (unit->failed || !PD_GROW(unit->rows, unit->row_capacity, unit->row_count + 1)) {
		unit->failed = true;
		return;
	}
	unit->rows[unit->row_count] = (struct pd_probe_row){
		.addr = row->addr,
		// the texts may yet move: the number of the file for now
		.file = (const char *)(uintptr_t)row->file,
		.line = row->line,
		.order = (uint32_t)unit->row_count,
		.is_statement = row->is_statement,
		.is_after_prologue = row->is_after_prologue,
		.ends = row->ends,
	};
	unit->row_count++;
}

static int compare_rows(const void *a, const void *b)
{
	const struct pd_probe_row *x = a, *y = b;

	if (x->addr != y->addr)
		return x->addr < y->addr ? -1 : 1;
	// where one sequence ends another one may begin
	if (x->ends != y->ends)
		return x->ends ? -1 : 1;
	return (x->order > y->order) - (x->order < y->order);
}

// Sequences that the linker left out are below all code, or at the very end.
static void drop_sequences(struct pd_probe_unit *unit)
{
	uint64_t last = unit->die.unit->addr_size == 4 ? UINT32_MAX : UINT64_MAX;
	uint64_t first = unit->die.dwarf->image->first_addr;
	size_t kept = 0, start = 0;

	for (size_t i = 0; i < unit->row_count; i++) {
		uint64_t addr = unit->rows[start].addr;

		if (!unit->rows[i].ends)
			continue;
		if (addr >= first && addr < last - 1) {
			memmove(unit->rows + kept, unit->rows + start, (i + 1 - start) * sizeof(*unit->rows));
			kept += i + 1 - start;
		}
		start = i + 1;
	}
	unit->row_count = kept;
}

static const char *file_at(struct pd_probe_unit *unit, uint64_t number)
{
	return pd_probe_file_at(&unit->texts, &unit->files, number);
}

// Makes all paths first, as each may move those before.
static void name_files(struct pd_probe_unit *unit)
{
	for (size_t i = 0; i < unit->files.count; i++)
		pd_dwarf_file_text(&unit->files, i);
	unit->failed |= unit->texts.failed;
	for (size_t i = 0; i < unit->row_count; i++)
		unit->rows[i].file = file_at(unit, (uint64_t)(uintptr_t)unit->rows[i].file);
}

static void read_rows(struct pd_probe_unit *unit)
{
	struct pd_dwarf *d = unit->die.dwarf;
	struct pd_dwarf_entry entry;

	if (unit->has_rows)
		return;
	unit->has_rows = true;
	if (!pd_dwarf_unit_entry(d, unit->die.unit, &entry))
		return;
	unit->files = (struct pd_dwarf_files){
		.maker = &unit->texts,
		.folder = pd_dwarf_text(d, unit->die.unit, &entry.values[PD_USE_FOLDER]),
		.row = take_row,
		.row_self = unit,
	};
	if (entry.values[PD_USE_LINES].form)
		pd_dwarf_lines(d, unit->die.unit, entry.values[PD_USE_LINES].number, &unit->files);
	// as perf: only what has no folder of its own is where the compiler ran
	unit->files.folder = NULL;
	drop_sequences(unit);
	if (unit->row_count)
		qsort(unit->rows, unit->row_count, sizeof(*unit->rows), compare_rows);
	name_files(unit);
}

bool pd_probe_unit_read(struct pd_probe_debug *debug, size_t number, struct pd_probe_unit *unit)
{
	pd_probe_unit_fini(unit);
	unit->debug = debug;
	if (!pd_die_unit(debug->dwarf, number, &unit->die))
		return false;
	read_functions(unit);
	return !unit->failed;
}

void pd_probe_unit_fini(struct pd_probe_unit *unit)
{
	pd_free(unit->functions);
	pd_free(unit->pieces);
	pd_free(unit->rows);
	pd_dwarf_files_fini(&unit->files);
	pd_unit_maker_fini(&unit->texts);
	*unit = (struct pd_probe_unit){ .functions = NULL };
}

// ---- files ----

const char *pd_probe_unit_file(struct pd_probe_unit *unit, uint64_t number)
{
	read_rows(unit);
	return file_at(unit, number);
}

bool pd_probe_same_tail(const char *a, const char *b)
{
	size_t x = strlen(a), y = strlen(b), length = x < y ? x : y;

	return memcmp(a + x - length, b + y - length, length) == 0;
}

const char *pd_probe_unit_file_by_tail(struct pd_probe_unit *unit, const char *tail)
{
	read_rows(unit);
	for (size_t i = 0; i < unit->files.count; i++) {
		const char *file = pd_probe_unit_file(unit, i);

		if (file && pd_probe_same_tail(file, tail))
			return file;
	}
	return NULL;
}

static bool file_and_line(struct pd_probe_unit *unit, const struct pd_die *die, unsigned file, unsigned line,
			  const char **file_out, uint32_t *line_out)
{
	struct pd_dwarf_value number;
	struct pd_die owner;
	uint64_t value;

	if (!pd_die_find_number(die, line, &value) || value > INT32_MAX)
		return false;
	*line_out = (uint32_t)value;
	if (!pd_die_find_value(die, file, &number, &owner))
		return false;
	if (owner.unit == unit->die.unit)
		*file_out = pd_probe_unit_file(unit, number.number);
	else if (!pd_probe_other_file(unit->debug, &owner, number.number, file_out))
		unit->failed = true;
	return !unit->failed && *file_out != NULL;
}

bool pd_probe_declared(struct pd_probe_unit *unit, const struct pd_die *die, const char **file_out, uint32_t *line_out)
{
	return file_and_line(unit, die, PD_AT_DECL_FILE, PD_AT_DECL_LINE, file_out, line_out);
}

bool pd_probe_called(struct pd_probe_unit *unit, const struct pd_die *die, const char **file_out, uint32_t *line_out)
{
	return file_and_line(unit, die, PD_AT_CALL_FILE, PD_AT_CALL_LINE, file_out, line_out);
}

// ---- lines ----

bool pd_probe_line_at(struct pd_probe_unit *unit, uint64_t addr, const char **file_out, uint32_t *line_out)
{
	const struct pd_die *function = pd_probe_function_at(unit, addr);
	const struct pd_probe_row *rows;
	uint64_t entry;
	size_t at;

	read_rows(unit);
	rows = unit->rows;
	if (function && pd_die_entry_pc(function, true, &entry) && entry == addr)
		return pd_probe_declared(unit, function, file_out, line_out);
	// the first statement of the last address that has rows up to this one
	PD_SEARCH(at, 0, unit->row_count, i, rows[i].addr <= addr);
	if (!at)
		return false;
	for (at--; at && rows[at - 1].addr == addr; at--)
		;
	while (at < unit->row_count && !rows[at].is_statement)
		at++;
	if (at == unit->row_count || rows[at].addr > addr || !rows[at].line || !rows[at].file)
		return false;
	*file_out = rows[at].file;
	*line_out = rows[at].line;
	return true;
}

struct walking {
	struct pd_probe_unit *unit;
	pd_probe_line_fn *each;
	void *self;
	const struct pd_die *root; // NULL: the unit
	const char *file;          // of the root
	uint32_t line;
};

// The innermost inlined function.
static bool innermost_at(const struct pd_die *root, uint64_t addr, struct pd_die *die_out)
{
	struct pd_die at = *root;
	bool found = false;

	while (pd_probe_inlined_at(&at, addr, &at)) {
		*die_out = at;
		found = true;
	}
	return found;
}

// Lines of what was inlined are those of the root where it was called, or if it is the same function.
static bool is_of_root(const struct walking *w, const struct pd_probe_row *row)
{
	const char *file;
	struct pd_die inlined;
	uint32_t line;

	if (!pd_die_has_pc(w->root, row->addr))
		return false;
	if (!innermost_at(w->root, row->addr, &inlined))
		return true;
	if (pd_probe_called(w->unit, &inlined, &file, &line) && strcmp(file, w->file) == 0 && line == row->line)
		return true;
	return pd_probe_declared(w->unit, &inlined, &file, &line) && line == w->line && file == w->file;
}

static bool each_row(const struct walking *w)
{
	for (size_t i = 0; i < w->unit->row_count; i++) {
		const struct pd_probe_row *row = &w->unit->rows[i];

		if (row->ends || !row->is_statement || !row->file || (w->root && !is_of_root(w, row)))
			continue;
		if (!w->each(w->self, row->file, row->line, row->addr))
			return false;
	}
	return true;
}

// Where a function begins and where others were inlined into it, which need not be among the rows.
static bool each_entry(const struct walking *w, const struct pd_die *function, bool all)
{
	struct pd_die_walk walk = { .die = *function };
	const char *file;
	uint64_t addr;
	uint32_t line;
	bool into = true;

	if (pd_probe_declared(w->unit, function, &file, &line) && pd_die_entry_pc(function, true, &addr) &&
	    !w->each(w->self, file, line, addr))
		return false;
	while (pd_die_next(&walk, into)) {
		into = true;
		if (pd_die_tag(&walk.die) != PD_TAG_INLINED)
			continue;
		into = all;
		if (!pd_probe_called(w->unit, &walk.die, &file, &line) || !line ||
		    !pd_die_entry_pc(&walk.die, true, &addr))
			continue;
		if (!w->each(w->self, file, line, addr))
			return false;
		if (all && addr && pd_probe_declared(w->unit, &walk.die, &file, &line) &&
		    !w->each(w->self, file, line, addr))
			return false;
	}
	return true;
}

void pd_probe_each_line(struct pd_probe_unit *unit, const struct pd_die *die, pd_probe_line_fn *each, void *self)
{
	struct walking w = { .unit = unit, .each = each, .self = self, .root = die };

	read_rows(unit);
	if (die && !pd_probe_declared(unit, die, &w.file, &w.line))
		return;
	if (!each_row(&w))
		return;
	if (die) {
		each_entry(&w, die, false);
		return;
	}
	for (size_t i = 0; i < unit->function_count; i++)
		if (!each_entry(&w, &unit->functions[i], true))
			return;
}
