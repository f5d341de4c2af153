/* SPDX-License-Identifier: MIT */
/* Lines of places: of objects by their debug information, of code that programs made by what their dumps say. */
#include <string.h>

#include "symbol/lookup.h"
#include "object/dwarf/unit_table.h"
#include "symbol/sources.h"

enum {
	FRAMES = 64
}; // that are inlined into each other

// ---- opening ----

static void open_kernel_files(struct pd_dso_full *dso, const struct pd_find_places *places)
{
	struct pd_find_wanted wanted = { .path = dso->kernel->image_path,
					 .name = dso->kernel->image_path,
					 .id = dso->id };

	if (!dso->kernel->image_path)
		return;
	if (pd_find(places, &wanted, &dso->line_files, NULL))
		dso->symbols->failed = true;
}

// The files of an object are found anew, since nothing of them was kept.
static void find_files(struct pd_dso_full *dso)
{
	struct pd_symbols *symbols = dso->symbols;
	struct pd_find_places places = symbols->places;
	struct pd_find_wanted wanted = pd_lookup_wanted(dso);
	struct pd_found *files = &dso->line_files;

	places.always_debug = true;
	if (dso->kernel)
		open_kernel_files(dso, &places);
	else if (pd_find(&places, &wanted, files, NULL))
		symbols->failed = true;
	if (!files->debug && !(files->object && pd_elf_section_by_name(files->object, ".debug_info")))
		files->debug = pd_lookup_fetch(symbols, &dso->file_id, true);
}

// For pd_lines.
static void open_files(void *self, struct pd_elf **object_out, struct pd_elf **debug_out)
{
	struct pd_dso_full *dso = self;
	struct pd_found *files = &dso->line_files;

	find_files(dso);
	*object_out = files->object;
	*debug_out = files->debug;
	if (dso->kernel && !dso->kernel->image_path && !files->debug)
		*object_out = dso->symbols->given_image;
}

// What the index has of them is asked for first, so they are closed again. Debug files that several share are looked for in
// archives, too.
static void find_origin(struct pd_dso_full *dso)
{
	struct pd_symbols *symbols = dso->symbols;
	struct pd_file_origin *origin = &dso->line_origin;

	if (!symbols->index || symbols->places.archive_count)
		return;
	find_files(dso);
	*origin = pd_found_origin(&dso->line_files, &symbols->places);
	if (dso->kernel && !dso->kernel->image_path && !dso->line_files.debug && symbols->given_image) {
		origin->place = symbols->vmlinux_path;
		origin->files[0] = symbols->given_image->image.stamp;
	}
	if (origin->place)
		origin->place = pd_arena_text(&symbols->kept, origin->place, strlen(origin->place));
	pd_found_close(&dso->line_files);
}

static struct pd_lines *lines_of(struct pd_symbols *symbols, struct pd_dso_full *dso)
{
	struct pd_lines_source source = {
		.id = dso->file_id,
		.origin = &dso->line_origin,
		.files = open_files,
		.self = dso,
		.places = &symbols->places,
		.index = symbols->index,
		.limit = symbols->limit,
	};

	if (!dso->lines_asked && dso->has_file)
		find_origin(dso);
	if (!dso->lines_asked && dso->has_file && pd_lines_open(&dso->lines, &source, NULL))
		symbols->failed = true;
	dso->lines_asked = true;
	return dso->lines;
}

bool pd_lookup_has_lines(struct pd_symbols *symbols, const struct pd_dso_full *dso)
{
	struct pd_lines *lines = lines_of(symbols, symbols->dsos[dso->dso.index]);

	return lines && pd_lines_any(lines);
}

void pd_lookup_lines_fini(struct pd_dso_full *dso)
{
	pd_lines_close(dso->lines);
	pd_found_close(&dso->line_files);
}

// ---- functions that have no place of their own ----

// With its scope where names are for people; perf has none.
static const char *scoped_name(struct pd_symbols *symbols, const char *name)
{
	const char *mark = strchr(name, PD_SCOPE_MARK);
	struct pd_text *text = &symbols->scratch;

	if (!mark)
		return name;
	if (!(symbols->flags & PD_SYMBOLS_SHORT_NAMES))
		return mark + 1;
	text->size = 0;
	pd_text_put(text, name, (size_t)(mark - name));
	pd_text_put(text, mark + 1, strlen(mark + 1) + 1);
	name = text->failed ? NULL : pd_arena_text(&symbols->kept, text->data, text->size - 1);
	symbols->failed |= !name;
	return name ? name : mark + 1;
}

static const struct pd_function *new_inlined(struct pd_symbols *symbols, struct pd_dso_full *dso, const char *name)
{
	uint64_t hash = pd_hash(symbols->seed ^ dso->dso.index, name, strlen(name));
	struct pd_function function = { .bind = 'u' };
	struct pd_function_full *full;
	size_t at = (uint32_t)hash;

	for (uint32_t i; (i = pd_index_next(&symbols->inlined, hash, &at)) != PD_INDEX_END;)
		if (symbols->functions[i]->dso == dso && strcmp(symbols->functions[i]->function.linker_name, name) == 0)
			return &symbols->functions[i]->function;
	function.linker_name = pd_arena_text(&symbols->kept, name, strlen(name));
	if (!function.linker_name) {
		symbols->failed = true;
		return NULL;
	}
	function.name = pd_lookup_readable(symbols, dso, function.linker_name, strlen(name), 0);
	full = pd_lookup_add_function(symbols, dso, &function);
	if (full && !pd_index_add(&symbols->inlined, hash, (uint32_t)full->function.index))
		symbols->failed = true;
	return full ? &full->function : NULL;
}

// A name stands once in the table of a unit, so where it stands distinguishes most of them without looking at it.
static const struct pd_function *inlined_function(struct pd_symbols *symbols, struct pd_dso_full *dso, const char *name)
{
	const struct pd_function *function = pd_u64_map_find_pointer(&dso->inlined, (uintptr_t)name);

	if (function)
		return function;
	function = new_inlined(symbols, dso, scoped_name(symbols, name));
	if (function && !pd_u64_map_add_pointer(&dso->inlined, (uintptr_t)name, function))
		symbols->failed = true;
	return function;
}

// ---- asking ----

static size_t lines_of_object(struct pd_symbols *symbols, struct pd_dso_full *dso, const struct pd_place *place,
			      struct pd_line *lines_out, size_t capacity)
{
	bool no_inline = symbols->flags & PD_SYMBOLS_NO_INLINE;
	struct pd_lines *lines = lines_of(symbols, dso);
	struct pd_lines_frame frames[FRAMES];
	size_t count = lines ? pd_lines_find(lines, place->addr, frames, FRAMES) : 0, out = 0;

	count = count < FRAMES ? count : FRAMES;
	for (size_t i = no_inline && count ? count - 1 : 0; i < count; i++) {
		const struct pd_function *function = place->function;

		// the last one is the function, however many there were; nobody sees the names of those that have no room
		if (i + 1 < count && out < capacity && frames[i].inlined && frames[i].name)
			function = inlined_function(symbols, dso, frames[i].name);
		if (!function)
			continue;
		if (out < capacity)
			lines_out[out] = (struct pd_line){ function, frames[i].file, frames[i].line, i + 1 < count };
		out++;
	}
	return out;
}

static size_t line_of_jit(const struct pd_dso_full *dso, const struct pd_place *place, struct pd_line *line_out)
{
	const struct pd_function_full *full = (const struct pd_function_full *)place->function;
	struct pd_jit_code code;
	struct pd_jit_line line;
	size_t dump, number;

	if (!pd_lookup_jit_of(full->number, &dump, &number))
		return 0;
	code = pd_jitdump_code(dso->jits[dump], number);
	if (!pd_jitdump_line(dso->jits[dump], &code, place->addr, &line))
		return 0;
	*line_out = (struct pd_line){ .function = place->function, .file = line.file, .line = line.line };
	return 1;
}

bool pd_lookup_jit_code(struct pd_symbols *symbols, const struct pd_function *function, struct pd_jitdump **jit_out,
			struct pd_jit_code *code_out)
{
	const struct pd_dso_full *dso = symbols->dsos[function->dso->index];
	const struct pd_function_full *full = (const struct pd_function_full *)function;
	size_t dump, number;

	if (!dso->jits || !pd_lookup_jit_of(full->number, &dump, &number))
		return false;
	*jit_out = dso->jits[dump];
	*code_out = pd_jitdump_code(dso->jits[dump], number);
	return true;
}

bool pd_lookup_innermost(struct pd_symbols *symbols, const struct pd_dso *dso, uint64_t addr,
			 struct pd_lines_frame *frame_out)
{
	struct pd_lines *lines = lines_of(symbols, symbols->dsos[dso->index]);
	const char *mark;

	if (!lines || !pd_lines_find(lines, addr, frame_out, 1))
		return false;
	mark = frame_out->name ? strchr(frame_out->name, PD_SCOPE_MARK) : NULL;
	if (mark)
		frame_out->name = mark + 1;
	return true;
}

size_t pd_symbols_lines(struct pd_symbols *symbols, const struct pd_place *place, struct pd_line *lines_out,
			size_t capacity)
{
	struct pd_line line = { .function = place->function };
	struct pd_dso_full *dso;
	size_t count = 0;

	if (!place->function || !place->dso)
		return 0;
	dso = symbols->dsos[place->dso->index];
	if (dso->jits)
		line_of_jit(dso, place, &line);
	else
		count = lines_of_object(symbols, dso, place, lines_out, capacity);
	if (count)
		return count;
	if (capacity)
		lines_out[0] = line;
	return 1;
}
