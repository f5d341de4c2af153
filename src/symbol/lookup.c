/* SPDX-License-Identifier: MIT */
/* Places: what the user of symbols calls. */
#include "symbol/lookup.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "file/file.h"

static const size_t default_limit = (size_t)1 << 30;
static const char *const default_debug[] = { "/usr/lib/debug" };

// ---- archives ----

// PD_FIND_ARCHIVES has room for those of the file.
enum {
	ARCHIVES_MOST = 12
};

static void take_archives_of_file(struct pd_symbols *symbols, bool has_symfs)
{
	struct pd_find_places *places = &symbols->places;
	struct pd_archive *own[2];
	size_t count = pd_file_archives(symbols->file, own);

	for (size_t i = 0; i < count; i++)
		places->archives[places->archive_count++] = own[i];
	places->ids_only = places->archive_count && !has_symfs;
}

static enum pd_status open_archives(struct pd_symbols *symbols, const struct pd_symbols_options *o,
				    struct pd_error *error)
{
	struct pd_find_places *places = &symbols->places;

	if (o->archive_count > ARCHIVES_MOST)
		return pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET, "more than %d archives", ARCHIVES_MOST);
	for (size_t i = 0; i < o->archive_count; i++) {
		enum pd_status status = pd_archive_open(o->archives[i], NULL, &symbols->archives[i], error);

		if (status)
			return status;
		places->archives[places->archive_count++] = symbols->archives[i];
		symbols->archive_count = i + 1;
	}
	return PD_OK;
}

static const struct pd_archive *open_spare(void *self)
{
	struct pd_symbols *symbols = self;

	if (!symbols->spare_asked &&
	    pd_archive_open(symbols->spare_path, NULL, &symbols->spare, NULL) == PD_ERROR_MEMORY)
		symbols->failed = true;
	symbols->spare_asked = true;
	return symbols->spare;
}

static void close_archives(struct pd_symbols *symbols)
{
	for (size_t i = 0; i < symbols->archive_count; i++)
		pd_archive_close(symbols->archives[i]);
	pd_archive_close(symbols->spare);
}

// ---- options ----

static bool keep_text(struct pd_symbols *symbols, const char *text, const char **kept_out)
{
	*kept_out = text ? pd_arena_text(&symbols->kept, text, strlen(text)) : NULL;
	return !text || *kept_out;
}

static bool keep_debug_paths(struct pd_symbols *symbols, const struct pd_symbols_options *o)
{
	size_t count = o->debug_paths ? o->debug_path_count : 1;
	const char **paths = pd_arena_alloc(&symbols->kept, (count + 1) * sizeof(*paths));

	if (!paths)
		return false;
	for (size_t i = 0; i < count; i++)
		if (!keep_text(symbols, o->debug_paths ? o->debug_paths[i] : default_debug[i], &paths[i]))
			return false;
	symbols->places.debug = paths;
	symbols->places.debug_count = count;
	return true;
}

// The running kernel's code belongs to files below the real root only.
static bool is_root(const char *path)
{
	return path[strspn(path, "/")] == 0;
}

static bool take_options(struct pd_symbols *symbols, const struct pd_symbols_options *o)
{
	struct pd_find_places *places = &symbols->places;

	symbols->flags = o->flags;
	symbols->fetch = o->fetch;
	symbols->fetch_self = o->fetch_self;
	symbols->limit = o->memory_limit && o->memory_limit < SIZE_MAX ? (size_t)o->memory_limit : default_limit;
	places->limit = symbols->limit;
	places->spare = o->spare_archive ? open_spare : NULL;
	places->spare_self = symbols;
	symbols->own_machine = !o->symfs || is_root(o->symfs);
	return keep_text(symbols, o->symfs && o->symfs[0] ? o->symfs : "/", &places->symfs) &&
	       keep_text(symbols, o->build_id_cache, &places->cache) && keep_text(symbols, o->index, &symbols->index) &&
	       keep_text(symbols, o->kallsyms, &symbols->kallsyms_path) &&
	       keep_text(symbols, o->vmlinux, &symbols->vmlinux_path) &&
	       keep_text(symbols, o->spare_archive, &symbols->spare_path) && keep_debug_paths(symbols, o);
}

enum pd_status pd_symbols_new(struct pd_file *file, const struct pd_state *state,
			      const struct pd_symbols_options *options, struct pd_symbols **symbols_out,
			      struct pd_error *error)
{
	static uint64_t last_serial;
	struct pd_symbols_options o = { .size = sizeof(o) };
	struct pd_symbols *symbols;
	enum pd_status status;

	if (options && !options->size)
		return pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET, "the size member of the options is 0");
	if (options)
		memcpy(&o, options, options->size < sizeof(o) ? options->size : sizeof(o));
	symbols = pd_alloc(sizeof(*symbols));
	if (!symbols)
		return pd_fail_memory(error);
	symbols->file = file;
	symbols->state = state;
	symbols->serial = __atomic_add_fetch(&last_serial, 1, __ATOMIC_RELAXED);
	symbols->seed = pd_hash_secret();
	status = take_options(symbols, &o) ? PD_OK : pd_fail_memory(error);
	take_archives_of_file(symbols, o.symfs && o.symfs[0]);
	if (status == PD_OK && !(symbols->flags & PD_SYMBOLS_NO_FILES))
		status = open_archives(symbols, &o, error);
	if (status == PD_OK && !(symbols->flags & PD_SYMBOLS_NO_FILES))
		status = pd_lookup_kernel_given(symbols, error);
	if (status)
		pd_symbols_free(symbols);
	else
		*symbols_out = symbols;
	return status;
}

void pd_symbols_free(struct pd_symbols *symbols)
{
	if (!symbols)
		return;
	for (size_t i = 0; i < symbols->dso_count; i++)
		pd_lookup_unload(symbols->dsos[i]);
	pd_lookup_kernels_fini(symbols);
	pd_lookup_codes_fini(symbols->codes);
	pd_lookup_dumps_fini(symbols);
	close_archives(symbols);
	pd_lookup_names_fini(&symbols->kernel_names);
	pd_index_fini(&symbols->by_pid);
	pd_index_fini(&symbols->by_name);
	pd_index_fini(&symbols->inlined);
	pd_free(symbols->by_object);
	pd_free(symbols->dsos);
	pd_free(symbols->functions);
	pd_free(symbols->jit_marks);
	pd_free(symbols->scratch.data);
	pd_arena_fini(&symbols->kept);
	pd_free(symbols);
}

bool pd_symbols_failed(const struct pd_symbols *symbols)
{
	return symbols->failed || symbols->scratch.failed;
}

const struct pd_dso *pd_symbols_dso(const struct pd_symbols *symbols, size_t index)
{
	return index < symbols->dso_count ? &symbols->dsos[index]->dso : NULL;
}

const struct pd_function *pd_symbols_function(const struct pd_symbols *symbols, size_t index)
{
	return index < symbols->function_count ? &symbols->functions[index]->function : NULL;
}

static const struct pd_function *add_symbol(struct pd_symbols *symbols, const struct pd_dso_full *dso, uint64_t number,
					    const struct pd_symbol *symbol)
{
	static const char binds[] = { [PD_BIND_LOCAL] = 'l', [PD_BIND_WEAK] = 'w', [PD_BIND_GLOBAL] = 'g' };
	// stubs are called after what they jump to
	size_t tail = symbol->kind == PD_SYMBOL_PLT ? strlen("@plt") : 0;
	struct pd_function function = {
		.name = pd_lookup_readable(symbols, dso, symbol->name, symbol->name_length, tail),
		.linker_name = symbol->name,
		.start = symbol->start,
		.end = symbol->end,
		.bind = binds[symbol->bind % sizeof(binds)],
		.data = symbol->kind == PD_SYMBOL_DATA,
		.nameless = symbol->kind == PD_SYMBOL_NAMELESS,
	};
	struct pd_function_full *full = pd_lookup_add_function(symbols, dso, &function);

	if (full)
		full->number = number;
	return full ? &full->function : NULL;
}

// The function with a number among those of a dso, made at first.
static const struct pd_function *function_of(struct pd_symbols *symbols, struct pd_dso_full *dso, uint64_t number,
					     const struct pd_symbol *symbol)
{
	const struct pd_function *function = pd_u64_map_find_pointer(&dso->functions, number);

	if (function)
		return function;
	function = add_symbol(symbols, dso, number, symbol);
	if (function && !pd_u64_map_add_pointer(&dso->functions, number, function))
		symbols->failed = true;
	return function;
}

// Of a symbol of a table, whose symbols have numbers from there on; those of other modules are not the dso's own.
static const struct pd_function *function_in(struct pd_symbols *symbols, struct pd_dso_full *dso,
					     const struct pd_symtab *table, uint64_t numbers, uint32_t which)
{
	const struct pd_function *function;
	struct pd_symbol symbol;

	if (which == PD_NO_SYMBOL)
		return NULL;
	// most were made before, and then their symbols need not be looked at
	function = pd_u64_map_find_pointer(&dso->functions, numbers + which);
	if (function)
		return function;
	symbol = pd_symtab_at(table, which);
	if (PD_UNLIKELY(!symbol.name)) {
		table = pd_lookup_reread_table(symbols, dso);
		if (!table)
			return NULL;
		symbol = pd_symtab_at(table, which);
	}
	if (dso->kallsyms && symbol.owner != dso->owner)
		return NULL;
	return function_of(symbols, dso, numbers + which, &symbol);
}

static const struct pd_function *find_function(struct pd_symbols *symbols, struct pd_dso_full *dso, uint64_t addr)
{
	const struct pd_symtab *table = dso->table;
	uint64_t numbers = 0;

	if (!table && !dso->has_pages)
		return NULL;
	if (dso->kernel)
		table = pd_lookup_kernel_table(symbols, dso->kernel, addr, &numbers);
	return table ? function_in(symbols, dso, table, numbers, pd_symtab_find_index(table, addr)) : NULL;
}

bool pd_lookup_number(struct pd_symbols *symbols, const struct pd_dso_full *dso, uint64_t addr, uint64_t *number_out)
{
	const struct pd_symtab *table = dso->table;
	uint64_t numbers = 0;
	uint32_t which;

	if (dso->kernel)
		table = pd_lookup_kernel_table(symbols, dso->kernel, addr, &numbers);
	which = table ? pd_symtab_find_index(table, addr) : PD_NO_SYMBOL;
	*number_out = numbers + which;
	return which != PD_NO_SYMBOL && (!dso->kallsyms || pd_symtab_at(table, which).owner == dso->owner);
}

void pd_lookup_prefetch_number(const struct pd_dso_full *dso, uint64_t addr, unsigned stage)
{
	// a kernel's are in small tables
	if (dso->table && !dso->kernel)
		pd_symtab_prefetch(dso->table, addr, stage);
}

// Code that the kernel made has one symbol, which was recorded.
static const struct pd_function *find_recorded(struct pd_symbols *symbols, struct pd_dso_full *dso,
					       const struct pd_mapping *mapping)
{
	struct pd_symbol symbol = {
		.start = mapping->start,
		.end = mapping->end,
		.name = mapping->object->path,
		.name_length = (uint32_t)strlen(mapping->object->path),
		.bind = PD_BIND_GLOBAL,
	};

	// numbers of tables are small
	return function_of(symbols, dso, mapping->start | UINT64_C(1) << 63, &symbol);
}

// The same place may have had other code at another time.
static const struct pd_function *find_jitted(struct pd_symbols *symbols, struct pd_dso_full *dso, struct pd_moment when,
					     uint64_t addr)
{
	uint64_t time = when.time_ns ? when.time_ns : PD_NO_TIME;
	struct pd_symbol symbol = { .bind = PD_BIND_GLOBAL };
	struct pd_jit_code code;

	for (size_t i = 0; dso->jits[i]; i++) {
		if (!pd_jitdump_find(dso->jits[i], PD_JIT_ANY_PID, addr, time, &code))
			continue;
		symbol.start = code.addr;
		symbol.end = code.addr + code.size;
		symbol.name = code.name;
		symbol.name_length = (uint32_t)strlen(code.name);
		return function_of(symbols, dso, pd_lookup_jit_number(i, code.number), &symbol);
	}
	return NULL;
}

// ---- places ----

uint64_t pd_lookup_addr(const struct pd_dso_full *dso, uint64_t offset, bool by_offset, uint64_t recorded)
{
	if (dso->terms == PD_TERMS_MOVED)
		return recorded - dso->moved;
	if (dso->terms == PD_TERMS_SPANS && by_offset)
		for (size_t i = 0; i < dso->span_count; i++)
			if (offset - dso->spans[i].offset < dso->spans[i].size)
				return offset - dso->spans[i].offset + dso->spans[i].addr;
	return offset;
}

static uint64_t place_in(const struct pd_dso_full *dso, const struct pd_location *location, uint64_t addr)
{
	const struct pd_mapping *mapping = location->mapping;

	// memory files have no file to be looked for, but places in it
	if (dso->terms != PD_TERMS_MOVED && location->object->kind == PD_OBJECT_ANON &&
	    !pd_lookup_has_no_file(location))
		return addr - mapping->start + mapping->pgoff;
	return pd_lookup_addr(dso, location->offset, mapping->by_offset, addr);
}

struct pd_place pd_symbols_at(struct pd_symbols *symbols, const struct pd_location *location, struct pd_moment when,
			      uint64_t addr)
{
	struct pd_place place = { .addr = addr, .recorded = addr };
	struct pd_dso_full *dso = pd_lookup_dso(symbols, location);

	if (!dso)
		return place;
	if (dso->dso.state == PD_DSO_UNUSED)
		pd_lookup_load(symbols, dso, location);
	place.dso = &dso->dso;
	place.addr = place_in(dso, location, addr);
	if (dso->jits)
		place.function = find_jitted(symbols, dso, when, addr);
	if (!place.function)
		place.function = find_function(symbols, dso, place.addr);
	if (!place.function && location->ksymbol && !(symbols->flags & PD_SYMBOLS_NO_FILES))
		place.function = find_recorded(symbols, dso, location->ksymbol);
	return place;
}

struct pd_place pd_symbols_place(struct pd_symbols *symbols, uint32_t pid, unsigned cpumode, struct pd_moment when,
				 uint64_t addr)
{
	struct pd_location location;

	if (!pd_state_locate(symbols->state, pid, cpumode, when, addr, &location) &&
	    ((cpumode != PD_CPUMODE_KERNEL && cpumode != PD_CPUMODE_UNKNOWN) ||
	     !pd_lookup_kernel_past_end(symbols, addr, &location)))
		return (struct pd_place){ .addr = addr, .recorded = addr };
	return pd_symbols_at(symbols, &location, when, addr);
}

// ---- many places ----

const struct pd_dso_full *pd_lookup_loaded(const struct pd_symbols *symbols, size_t object)
{
	const struct pd_dso_full *dso = object < symbols->by_object_count ? symbols->by_object[object] : NULL;

	return dso && dso->dso.state != PD_DSO_UNUSED ? dso : NULL;
}

void pd_lookup_open(struct pd_symbols *symbols, const struct pd_location *location)
{
	struct pd_dso_full *dso = pd_lookup_dso(symbols, location);

	if (dso && dso->dso.state == PD_DSO_UNUSED)
		pd_lookup_load(symbols, dso, location);
}

void pd_lookup_prefetch(const struct pd_symbols *symbols, const struct pd_place *place, uint32_t which)
{
	const struct pd_dso_full *dso = symbols->dsos[place->dso->index];

	if (which != PD_LOOKUP_ASK)
		pd_u64_map_prefetch(&dso->functions, which);
}

uint32_t pd_lookup_symbol(const struct pd_dso_full *dso, uint64_t addr)
{
	if (!dso->table && !dso->has_pages)
		return PD_NO_SYMBOL;
	// more of it may have to be loaded
	if (dso->kernel)
		return PD_LOOKUP_ASK;
	return pd_symtab_find_index(dso->table, addr);
}

const struct pd_function *pd_lookup_function(struct pd_symbols *symbols, const struct pd_place *place, uint32_t which)
{
	struct pd_dso_full *dso = symbols->dsos[place->dso->index];

	return which == PD_LOOKUP_ASK ? find_function(symbols, dso, place->addr) :
					function_in(symbols, dso, dso->table, 0, which);
}
