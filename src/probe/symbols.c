/* SPDX-License-Identifier: MIT */
/* Places by symbols, where debug information is not needed or not there; and which functions there are. */
#include <fnmatch.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "probe/set.h"

// ---- one function ----

// Names of symbols may have a version, which a definition need not have.
static bool matches(const char *pattern, const char *name, struct pd_arena *arena)
{
	const char *version = strchr(pattern, '@') ? NULL : strchr(name, '@');

	if (version)
		name = pd_arena_text(arena, name, (size_t)(version - name));
	return name && fnmatch(pattern, name, 0) == 0;
}

static enum pd_status fail_missing(const struct pd_probes *probes, const struct pd_probe_definition *d,
				   struct pd_error *error)
{
	return pd_fail(error, PD_ERROR_NO_MATCH, PD_NO_OFFSET, "'%s': no function '%s' in %s%s", d->text, d->function,
		       probes->path  ? probes->path :
		       probes->where ? probes->where :
				       "the kernel",
		       probes->debug.object || !probes->path ? "" : ", which has no symbols");
}

// What is given to the kernel as it is.
static bool copy_arguments(struct pd_probes *probes, const struct pd_probe_definition *d, struct pd_probe_point *point)
{
	point->values = pd_arena_alloc(&probes->arena, (d->argument_count + 1) * sizeof(*point->values));
	if (!point->values)
		return false;
	for (size_t i = 0; i < d->argument_count; i++)
		point->values[i] = (struct pd_probe_value){
			.name = d->arguments[i].name,
			.value = d->arguments[i].variable,
			.type = d->arguments[i].type,
		};
	point->value_count = d->argument_count;
	return true;
}

static bool is_known(const struct pd_probe_item *item, uint64_t addr)
{
	for (size_t i = 0; i < item->count; i++)
		if (item->points[i].addr == addr)
			return true;
	return false;
}

static enum pd_status add_symbol(struct pd_probes *probes, struct pd_probe_item *item, const struct pd_symbol *symbol,
				 uint64_t addr, struct pd_error *error)
{
	const struct pd_probe_definition *d = &item->definition;
	struct pd_probe_point point = {
		.module = probes->where,
		.addr = addr,
		.offset = d->offset,
		.is_user = probes->path != NULL,
		.is_return = d->is_return,
	};
	const char *reference;
	uint64_t start;

	if (is_known(item, addr))
		return PD_OK;
	if (d->offset > symbol->end - symbol->start)
		return pd_fail(error, PD_ERROR_NO_MATCH, PD_NO_OFFSET, "'%s': the offset is outside of %s", d->text,
			       symbol->name);
	point.function = point.symbol = pd_arena_text(&probes->arena, symbol->name, symbol->name_length);
	if (!point.symbol || !copy_arguments(probes, d, &point))
		return pd_fail_memory(error);
	if (!point.is_user && !point.module && (!d->is_return || probes->features.has_return_offsets)) {
		if (!pd_probe_reference(probes, &reference, &start))
			return pd_fail(error, PD_ERROR_NO_MATCH, PD_NO_OFFSET,
				       "the kernel hides its addresses, see kernel.kptr_restrict");
		point.symbol = reference;
		point.offset = addr - start;
	}
	return pd_probe_item_add(probes, item, &point, error);
}

// ---- in an object ----

static enum pd_status add_in_object(struct pd_probes *probes, struct pd_probe_item *item,
				    const struct pd_symbol *symbol, struct pd_error *error)
{
	uint64_t offset;

	if (!pd_elf_offset(probes->debug.object, symbol->start, &offset))
		return PD_OK;
	return add_symbol(probes, item, symbol, offset + item->definition.offset, error);
}

// Of several names of one function a table has one.
static enum pd_status add_other_name(struct pd_probes *probes, struct pd_probe_item *item,
				     const struct pd_symtab *table, struct pd_error *error)
{
	struct pd_elf *files[] = { probes->debug.files.debug, probes->debug.object };
	struct pd_symbol symbol;
	uint64_t addr;

	for (size_t i = 0; i < 2; i++)
		if (files[i] && pd_elf_symbol_addr(files[i], item->definition.function, &addr) &&
		    pd_symtab_find(table, addr, &symbol) && symbol.start == addr && symbol.kind == PD_SYMBOL_FUNCTION)
			return add_in_object(probes, item, &symbol, error);
	return PD_OK;
}

static enum pd_status find_in_object(struct pd_probes *probes, struct pd_probe_item *item, struct pd_error *error)
{
	const struct pd_symtab *table = pd_probe_debug_symbols(&probes->debug);
	enum pd_status status = PD_OK;

	for (size_t i = 0; table && i < pd_symtab_count(table) && !status; i++) {
		struct pd_symbol symbol = pd_symtab_at(table, i);

		if (symbol.kind == PD_SYMBOL_FUNCTION &&
		    matches(item->definition.function, symbol.name, &probes->arena))
			status = add_in_object(probes, item, &symbol, error);
	}
	if (!status && table && !item->count)
		status = add_other_name(probes, item, table, error);
	return status;
}

// ---- in the kernel ----

// Probes of the kernel itself are in its code only.
static bool is_code(struct pd_probes *probes, const struct pd_kallsyms *kallsyms, const struct pd_symbol *symbol)
{
	struct pd_symbol end;

	if (!kallsyms->stext_addr || !pd_probe_kernel_symbol(kallsyms, "_etext", &end) ||
	    (symbol->start >= kallsyms->stext_addr && symbol->start < end.start))
		return true;
	pd_probe_note(&probes->options, "%s is out of .text, skipped", symbol->name);
	return false;
}

static bool is_of_module(const struct pd_probes *probes, const struct pd_kallsyms *kallsyms,
			 const struct pd_symbol *symbol)
{
	const char *module = pd_kallsyms_module(kallsyms, symbol->owner);

	return probes->where ? module && strcmp(module, probes->where) == 0 : !module;
}

static enum pd_status find_in_kernel(struct pd_probes *probes, struct pd_probe_item *item, struct pd_error *error)
{
	const struct pd_kallsyms *kallsyms = pd_probe_kallsyms(probes);
	enum pd_status status = PD_OK;

	if (!kallsyms)
		return pd_fail(error, PD_ERROR_NO_MATCH, PD_NO_OFFSET,
			       "'%s': the symbols of the kernel cannot be read, see kernel.kptr_restrict",
			       item->definition.text);
	for (size_t i = 0; i < pd_symtab_count(kallsyms->table) && !status; i++) {
		struct pd_symbol symbol = pd_symtab_at(kallsyms->table, i);

		if (symbol.kind != PD_SYMBOL_DATA && is_of_module(probes, kallsyms, &symbol) &&
		    matches(item->definition.function, symbol.name, &probes->arena) &&
		    (probes->where || is_code(probes, kallsyms, &symbol)))
			status = add_symbol(probes, item, &symbol, symbol.start + item->definition.offset, error);
	}
	return status;
}

enum pd_status pd_probe_by_symbols(struct pd_probes *probes, struct pd_probe_item *item, struct pd_error *error)
{
	bool in_object = probes->debug.object && (probes->path || probes->is_offline || probes->where);
	enum pd_status status = in_object ? find_in_object(probes, item, error) : find_in_kernel(probes, item, error);

	if (!status && !item->count)
		return fail_missing(probes, &item->definition, error);
	return status;
}

// ---- all functions ----

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

enum pd_status pd_print_probe_functions(struct pd_text *text, struct pd_probes *probes, struct pd_error *error)
{
	const char *filter = probes->options.filter ? probes->options.filter : "!_* & !*@plt";
	bool in_object = probes->debug.object && (probes->path || probes->is_offline || probes->where);
	const struct pd_kallsyms *kallsyms = in_object ? NULL : pd_probe_kallsyms(probes);
	const struct pd_symtab *table = in_object ? pd_probe_debug_symbols(&probes->debug) :
					kallsyms  ? kallsyms->table :
						    NULL;
	const char **names;
	size_t count = 0;

	if (!table || !pd_symtab_count(table))
		return pd_fail(error, PD_ERROR_NO_MATCH, PD_NO_OFFSET, "no symbols of %s",
			       probes->path ? probes->path : "the kernel");
	names = pd_realloc(NULL, pd_symtab_count(table) * sizeof(*names));
	if (!names)
		return pd_fail_memory(error);
	for (size_t i = 0; i < pd_symtab_count(table); i++) {
		struct pd_symbol symbol = pd_symtab_at(table, i);

		// the head of the PLT, ".plt", is no function
		if (symbol.kind != PD_SYMBOL_DATA && symbol.name[0] != '.' &&
		    (!kallsyms || is_of_module(probes, kallsyms, &symbol)) && pd_probe_filter(filter, symbol.name))
			names[count++] = symbol.name;
	}
	qsort(names, count, sizeof(*names), compare_names);
	for (size_t i = 0; i < count; i++)
		pd_text_printf(text, "%s\n", names[i]);
	pd_free(names);
	return pd_text_failed(text) ? pd_fail_memory(error) : PD_OK;
}
