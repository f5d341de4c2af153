/* SPDX-License-Identifier: MIT */
/*
 * Places of a definition by debug information: of a function, of all its inlined copies, of lines. The rules are those of perf
 * 6.1: which of several functions of a name, which copies, which of the addresses of a line.
 */
#include "probe/find/finder.h"

#include <fnmatch.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

// ---- one place ----

static bool is_pattern(const char *name)
{
	return strpbrk(name, "*?[") != NULL;
}

static bool matches(const struct pd_die *die, const char *pattern)
{
	const char *name = pd_die_name(die);

	if (name && fnmatch(pattern, name, 0) == 0)
		return true;
	name = pd_die_linkage_name(die);
	return name && fnmatch(pattern, name, 0) == 0;
}

// Where the frame of the function is, as a register and an offset.
static void find_frame(struct pd_probe_finder *f)
{
	struct pd_die_location location;
	const struct pd_unwind_rule *rule;
	uint32_t number;

	f->has_frame = pd_die_location_at(&f->function, PD_AT_FRAME_BASE, &f->debug->locations, f->addr, &location) &&
		       pd_die_operation(&f->function, location.expression, &f->frame);
	if (!f->has_frame || f->frame.code != PD_OP_CALL_FRAME_CFA || !f->frame.is_only)
		return;
	number = f->debug->has_rules ? pd_unwind_table_find(&f->debug->rules, f->addr) : 0;
	rule = number ? pd_unwind_table_at(&f->debug->rules, number) : NULL;
	f->has_frame = rule && rule->kind == PD_CFA_REGISTER;
	if (f->has_frame)
		f->frame = (struct pd_die_operation){ .code = PD_OP_BREGX,
						      .number = rule->cfa_register,
						      .offset = rule->cfa };
}

// scope: the function that was asked for, which may be inlined.
static enum pd_status take_place(struct pd_probe_finder *f, const struct pd_die *scope)
{
	const struct pd_die *function = scope;

	if (!pd_probe_is_defined(scope))
		function = pd_probe_function_at(&f->unit, f->addr);
	if (!function)
		return pd_fail(f->error, PD_ERROR_NO_MATCH, PD_NO_OFFSET, "'%s': no function has the address %#" PRIx64,
			       f->definition->text, f->addr);
	f->scope = *scope;
	f->function = *function;
	find_frame(f);
	return f->found(f);
}

enum pd_status pd_probe_place(struct pd_probe_finder *f, struct pd_probe_point *point)
{
	const char *name = pd_die_name(&f->function), *scope = pd_die_name(&f->scope);
	struct pd_symbol symbol;
	uint64_t entry;

	if (!pd_die_has_pc(&f->function, f->addr))
		return pd_fail(f->error, PD_ERROR_NO_MATCH, PD_NO_OFFSET, "'%s': the offset is outside of %s",
			       f->definition->text, name ? name : "the function");
	if (!pd_die_entry_pc(&f->function, false, &entry)) {
		const struct pd_symtab *table = pd_probe_debug_symbols(f->debug);

		if (!table || !pd_symtab_find(table, f->addr, &symbol))
			return pd_fail(f->error, PD_ERROR_NO_MATCH, PD_NO_OFFSET,
				       "'%s': no symbol has the address %#" PRIx64, f->definition->text, f->addr);
		entry = symbol.start;
		name = symbol.name;
	}
	if (f->definition->is_return && entry != f->addr)
		return pd_fail(f->error, PD_ERROR_NO_MATCH, PD_NO_OFFSET, "'%s': an inlined function has no return",
			       f->definition->text);
	name = name ? name : scope;
	*point = (struct pd_probe_point){
		.symbol = name ? pd_arena_text(f->arena, name, strlen(name)) : NULL,
		.function = scope ? pd_arena_text(f->arena, scope, strlen(scope)) : NULL,
		.addr = f->addr,
		.offset = f->addr - entry,
		.is_user = f->is_user,
		.is_return = f->definition->is_return,
	};
	return point->symbol ? PD_OK : pd_fail_memory(f->error);
}

// ---- lines ----

struct lines {
	struct pd_probe_finder *finder;
	const uint32_t *numbers; // instead of the line of the finder, or NULL
	size_t count;
	enum pd_status status;
};

struct best {
	const struct pd_probe_finder *finder;
	struct pd_die die;
	bool found;
	uint32_t distance;
};

// A function at the address; true if it is the one that was asked for.
static bool take_scope(struct pd_probe_finder *f, struct best *best, const struct pd_die *die)
{
	const char *file;
	uint32_t line;

	if (!pd_probe_declared(&f->unit, die, &file, &line) || (f->file && strcmp(f->file, file) != 0))
		return false;
	if (f->definition->function) {
		if (!matches(die, f->definition->function))
			return false;
		best->die = *die;
		best->found = true;
		return true;
	}
	if (line < f->line && f->line - line < best->distance) {
		best->distance = f->line - line;
		best->die = *die;
		best->found = true;
	}
	return false;
}

// Of the functions that have the address, inlined ones too, the one that the line belongs to, else the outermost one.
static bool find_scope(struct pd_probe_finder *f, struct pd_die *scope_out)
{
	struct best best = { .finder = f, .distance = UINT32_MAX };
	const struct pd_die *function = pd_probe_function_at(&f->unit, f->addr);
	struct pd_die at;

	if (!function)
		return false;
	at = *function;
	while (!take_scope(f, &best, &at) && pd_probe_inlined_at(&at, f->addr, &at))
		;
	*scope_out = best.found ? best.die : *function;
	return true;
}

// The address may be that of another line, which has it when it is looked up.
static enum pd_status check_line(struct pd_probe_finder *f, const char *file, uint32_t line)
{
	const char *other, *name = NULL;
	uint32_t number, declared;
	struct pd_die scope;

	if (!pd_probe_line_at(&f->unit, f->addr, &other, &number) || strcmp(file, other) != 0 || number == line)
		return PD_OK;
	if (f->definition->function && find_scope(f, &scope) && matches(&scope, f->definition->function) &&
	    pd_probe_declared(&f->unit, &scope, &file, &declared) && strcmp(file, other) == 0 && number >= declared) {
		name = pd_die_name(&scope);
		number -= declared;
	}
	return pd_fail(f->error, PD_ERROR_NO_MATCH, PD_NO_OFFSET,
		       "'%s': this line has its address in common with others; use %s:%d", f->definition->text,
		       name ? name : other, (int)number);
}

static bool take_line(void *self, const char *file, uint32_t line, uint64_t addr)
{
	struct lines *lines = self;
	struct pd_probe_finder *f = lines->finder;
	struct pd_die scope;
	bool wanted = lines->numbers ? false : line == f->line;

	for (size_t i = 0; i < lines->count && !wanted; i++)
		wanted = lines->numbers[i] == line;
	if (!wanted || !pd_probe_same_tail(file, f->file))
		return true;
	f->addr = addr;
	if (lines->numbers)
		f->line = line;
	else
		lines->status = check_line(f, file, line);
	if (!lines->status)
		lines->status = find_scope(f, &scope) ? take_place(f, &scope) :
							pd_fail(f->error, PD_ERROR_NO_MATCH, PD_NO_OFFSET,
								"'%s': no function has line %" PRIu32 " at %#" PRIx64,
								f->definition->text, line, addr);
	return !lines->status;
}

static enum pd_status find_line(struct pd_probe_finder *f)
{
	struct lines lines = { .finder = f };

	pd_probe_each_line(&f->unit, NULL, take_line, &lines);
	return lines.status;
}

// root: a function, or NULL for the unit.
static enum pd_status find_pattern(struct pd_probe_finder *f, const struct pd_die *root)
{
	const char *folder = pd_die_find_text(&f->unit.die, PD_AT_FOLDER);
	const char *path = pd_probe_source(f->arena, f->file, folder, f->options->source);
	struct lines lines = { .finder = f };
	uint32_t *numbers = NULL;

	if (!path)
		return pd_fail(f->error, PD_ERROR_NO_MATCH, PD_NO_OFFSET, "'%s': source file %s not found",
			       f->definition->text, f->file);
	lines.status = pd_probe_match_lines(path, f->definition->pattern, &numbers, &lines.count, f->error);
	lines.numbers = numbers;
	if (!lines.status && lines.count)
		pd_probe_each_line(&f->unit, root, take_line, &lines);
	pd_free(numbers);
	return lines.status;
}

// ---- functions ----

// As perf: where a variable of the unit has a list of places, which version 5 of DWARF may call otherwise. Else parameters are on the
// stack only after the first lines.
static bool is_optimized(const struct pd_die *unit)
{
	struct pd_die_walk walk = { .die = *unit };
	struct pd_dwarf_value value;

	while (pd_die_next(&walk, true))
		if ((pd_die_tag(&walk.die) == PD_TAG_PARAMETER || pd_die_tag(&walk.die) == PD_TAG_VARIABLE) &&
		    pd_die_find_value(&walk.die, PD_AT_LOCATION, &value, NULL) && value.form == PD_FORM_SEC_OFFSET)
			return true;
	return false;
}

static bool wants_variables(const struct pd_probe_definition *d)
{
	for (size_t i = 0; i < d->argument_count; i++)
		if (pd_probe_is_variable(&d->arguments[i]) || strcmp(d->arguments[i].variable, "$vars") == 0 ||
		    strcmp(d->arguments[i].variable, "$params") == 0)
			return true;
	return false;
}

// The second row of a function is after its first lines, if the first one is not marked so.
static uint64_t after_prologue(const struct pd_probe_finder *f, const struct pd_die *function, uint64_t entry)
{
	const struct pd_probe_row *rows = f->unit.rows;
	size_t count = f->unit.row_count, first;
	uint64_t end;

	PD_SEARCH(first, 0, count, k, rows[k].addr < entry);
	if (first + 1 >= count || rows[first].addr != entry || !pd_die_high_pc(function, &end) ||
	    rows[first].is_after_prologue || rows[first + 1].addr >= end)
		return entry;
	return rows[first + 1].addr;
}

static void skip_prologue(struct pd_probe_finder *f, const struct pd_die *function)
{
	const struct pd_probe_definition *d = f->definition;
	uint64_t entry = f->addr;

	if (!f->is_user || d->is_return || d->offset || !wants_variables(d) || is_optimized(&f->unit.die))
		return;
	f->addr = after_prologue(f, function, entry);
	if (f->addr != entry)
		pd_probe_note(
			f->options,
			"not optimized: the probe is after the first lines of the function, where its variables are on the "
			"stack; 0x%" PRIx64 " is its very begin",
			entry);
}

// Parameters of copies are where they are at once.
static enum pd_status take_instance(struct pd_probe_finder *f, const struct pd_die *die, bool is_copy)
{
	uint64_t addr = 0;

	if (f->definition->pattern)
		return find_pattern(f, die);
	if (!pd_die_entry_pc(die, true, &addr) || !addr)
		return PD_OK;
	f->addr = addr;
	if (!is_copy)
		skip_prologue(f, die);
	f->addr += f->definition->offset;
	return take_place(f, die);
}

// A copy that was called where the function is declared is the function once more.
static bool is_redundant(struct pd_probe_finder *f, const struct pd_die *inlined, const struct pd_die *origin)
{
	const char *called, *declared;
	uint32_t call_line, line;

	return pd_die_tag(inlined) == PD_TAG_INLINED && pd_probe_called(&f->unit, inlined, &called, &call_line) &&
	       pd_probe_declared(&f->unit, origin, &declared, &line) && call_line == line && called == declared;
}

// All copies of a function that is only declared to be inlined.
static enum pd_status take_instances(struct pd_probe_finder *f, const struct pd_die *origin)
{
	struct pd_die_walk walk = { .die = f->unit.die };
	enum pd_status status = PD_OK;
	struct pd_die other;

	while (!status && pd_die_next(&walk, true)) {
		if (!pd_probe_is_instance(&walk.die) || !pd_die_reference(&walk.die, PD_AT_ORIGIN, &other) ||
		    !pd_die_same(&other, origin) || is_redundant(f, &walk.die, origin))
			continue;
		status = take_instance(f, &walk.die, true);
	}
	return status;
}

static enum pd_status take_function(struct pd_probe_finder *f, const struct pd_die *die, uint32_t line)
{
	if (f->definition->line) {
		f->line = line + (uint32_t)f->definition->line;
		return find_line(f);
	}
	if (pd_probe_is_instance(die))
		return take_instance(f, die, false);
	return f->options->no_inlines ? PD_OK : take_instances(f, die);
}

static enum pd_status find_function(struct pd_probe_finder *f)
{
	const struct pd_probe_definition *d = f->definition;
	enum pd_status status = PD_OK;

	for (size_t i = 0; i < f->unit.function_count && !status; i++) {
		const struct pd_die *die = &f->unit.functions[i];
		const char *file;
		uint32_t line;

		if (!pd_probe_is_defined(die) || !matches(die, d->function) ||
		    !pd_probe_declared(&f->unit, die, &file, &line) || (d->file && !pd_probe_same_tail(d->file, file)))
			continue;
		f->file = file;
		status = take_function(f, die, line);
		// a unit has no other function of the name
		if (!is_pattern(d->function))
			break;
	}
	return status;
}

// ---- all of it ----

static enum pd_status find_in_unit(struct pd_probe_finder *f)
{
	const struct pd_probe_definition *d = f->definition;

	f->file = d->file ? pd_probe_unit_file_by_tail(&f->unit, d->file) : NULL;
	if (d->file && !f->file)
		return PD_OK;
	if (d->function)
		return find_function(f);
	if (d->pattern)
		return find_pattern(f, NULL);
	f->line = (uint32_t)d->line;
	return find_line(f);
}

enum pd_status pd_probe_find(struct pd_probe_finder *f)
{
	struct pd_dwarf *dwarf = f->debug->dwarf;
	enum pd_status status = PD_OK;

	for (size_t i = 0; i < dwarf->unit_count && !status; i++) {
		if (pd_probe_unit_read(f->debug, i, &f->unit))
			status = find_in_unit(f);
		if (!status && f->unit.failed)
			status = pd_fail_memory(f->error);
	}
	pd_probe_unit_fini(&f->unit);
	if (!status && (dwarf->out_of_memory || !dwarf->entry_work))
		status = dwarf->out_of_memory ? pd_fail_memory(f->error) :
						pd_fail(f->error, PD_ERROR_LIMIT, PD_NO_OFFSET,
							"the debug information takes too long to search");
	return status;
}
