/* SPDX-License-Identifier: MIT */
/* Symbols of a dso from files: which are tried, what is said of each, tables from the index or from the object, and the vdso
 * of this process. */
#include "symbol/lookup.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>

#include "object/index/index_file.h"

enum {
	DETAIL_MOST = 2000,
	SEGMENT_LOAD = 1,
	SEGMENT_EXEC = 1,
	// tables with variables in the index
	INDEX_COMPLETE = 1,
	INDEX_STRIPPED = 2, // of the object alone: not used any more when there is a debug file
	OPEN_TABLES_MOST = 64
};

// ---- what is reported ----

void pd_lookup_report(struct pd_symbols *symbols, struct pd_dso_full *dso, enum pd_dso_state state, const char *format,
		      ...)
{
	char text[DETAIL_MOST];
	const char *detail;
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	if (n < 0)
		n = 0;
	detail = pd_arena_text(&symbols->kept, text, (size_t)n < sizeof(text) ? (size_t)n : sizeof(text) - 1);
	dso->dso.state = state;
	if (detail)
		dso->dso.detail = detail;
	else
		symbols->failed = true;
}

static void put_text(struct pd_text *text, const char *string)
{
	pd_text_put(text, string, strlen(string));
}

static void put_path(struct pd_text *text, const char *root, const char *path)
{
	size_t length = strlen(root);

	// the slash between them once
	pd_text_put(text, root, length && root[length - 1] == '/' ? length - 1 : length);
	if (path[0] != '/')
		pd_text_char(text, '/');
	put_text(text, path);
}

bool pd_lookup_tries(struct pd_text *text, const struct pd_found *found)
{
	bool mismatch = false;

	for (size_t i = 0; i < found->try_count; i++) {
		const struct pd_find_try *try = &found->tries[i];

		if (try->action == PD_FIND_USED)
			continue;
		mismatch |= try->other_id;
		if (text->size)
			PD_TEXT_LITERAL(text, "; ");
		put_path(text, try->root, try->path);
		PD_TEXT_LITERAL(text, ": ");
		put_text(text, try->reason);
	}
	return mismatch;
}

// ---- places in the terms of the symbols ----

static void put_span(struct pd_dso_full *dso, uint64_t offset, uint64_t size, uint64_t addr)
{
	if (size)
		dso->spans[dso->span_count++] = (struct pd_loaded){ offset, size, addr };
}

bool pd_lookup_take_spans(struct pd_symbols *symbols, struct pd_dso_full *dso, const struct pd_elf *elf)
{
	size_t count = 2 * elf->segment_count + (elf->type == PD_ELF_TYPE_REL ? elf->section_count : 0);

	dso->span_count = 0;
	dso->spans = pd_arena_alloc(&symbols->kept, count * sizeof(*dso->spans) + 1);
	if (!dso->spans)
		return false;
	// code first where several segments hold a place
	for (size_t i = 0; i < 2 * elf->segment_count; i++) {
		const struct pd_elf_segment *s = &elf->segments[i % elf->segment_count];

		if (s->type == SEGMENT_LOAD && !(s->flags & SEGMENT_EXEC) == (i >= elf->segment_count))
			put_span(dso, s->offset, s->file_size, s->addr);
	}
	for (size_t i = 0; elf->type == PD_ELF_TYPE_REL && i < elf->section_count; i++) {
		const struct pd_elf_section *s = &elf->sections[i];

		if (s->placed && s->type != PD_ELF_SECTION_NOBITS)
			put_span(dso, s->offset, s->size, s->addr);
	}
	// the last page of a segment goes on with zeroed memory, which takes what nothing of the file is at
	for (size_t i = 0; i < elf->segment_count; i++) {
		const struct pd_elf_segment *s = &elf->segments[i];

		if (s->type == SEGMENT_LOAD && s->memory_size > s->file_size)
			put_span(dso, s->offset + s->file_size, s->memory_size - s->file_size, s->addr + s->file_size);
	}
	dso->terms = PD_TERMS_SPANS;
	return true;
}

// ---- objects in files ----

struct pd_elf *pd_lookup_fetch(struct pd_symbols *symbols, const struct pd_object_id *id, bool debug)
{
	struct pd_object_id has = { .size = 0 };
	struct pd_elf *elf = NULL;
	enum pd_status status;
	const char *path;

	if (!symbols->fetch || !id->size)
		return NULL;
	path = symbols->fetch(symbols->fetch_self, id->bytes, id->size, debug);
	status = path ? pd_elf_open(&elf, path, symbols->limit, NULL) : PD_ERROR_SYSTEM;
	symbols->failed |= status == PD_ERROR_MEMORY;
	if (status)
		return NULL;
	if (pd_elf_id(elf, &has) && pd_object_id_equal(&has, id))
		return elf;
	pd_elf_close(elf);
	return NULL;
}

static const char *used_path(struct pd_text *text, const struct pd_found *found, enum pd_find_kind kind)
{
	size_t start = text->size;

	for (size_t i = 0; i < found->try_count; i++) {
		if (found->tries[i].action != PD_FIND_USED || found->tries[i].kind != kind)
			continue;
		put_path(text, found->tries[i].root, found->tries[i].path);
		pd_text_char(text, 0);
		return text->failed ? NULL : text->data + start;
	}
	return NULL;
}

static void list_found(struct pd_symbols *symbols, struct pd_dso_full *dso, const struct pd_found *found, bool fetched)
{
	struct pd_text text = { 0 };
	const char *path;

	if (!found->object && !found->debug) {
		bool mismatch = pd_lookup_tries(&text, found);

		pd_text_char(&text, 0);
		pd_lookup_report(symbols, dso, mismatch ? PD_DSO_MISMATCH : PD_DSO_MISSING, "%s",
				 text.failed   ? "" :
				 text.size > 1 ? text.data :
						 "not a regular file");
		pd_free(text.data);
		return;
	}
	path = used_path(&text, found, found->debug ? PD_FIND_DEBUG : PD_FIND_OBJECT);
	if (!dso->table || !pd_symtab_count(dso->table))
		pd_lookup_report(symbols, dso, PD_DSO_NO_SYMBOLS, "%s has no symbols",
				 path ? path : "the downloaded file");
	else
		pd_lookup_report(symbols, dso, PD_DSO_SYMBOLS, "%s",
				 path && !fetched ? path : "downloaded by build id");
	pd_free(text.data);
}

static bool take_table(struct pd_symbols *symbols, struct pd_dso_full *dso, const struct pd_elf *elf,
		       struct pd_symtab *table)
{
	dso->own_table = table;
	dso->table = table;
	if (!dso->is_module && !pd_lookup_take_spans(symbols, dso, elf))
		symbols->failed = true;
	return true;
}

static bool load_from_index(struct pd_symbols *symbols, struct pd_dso_full *dso, const struct pd_object_id *id,
			    const struct pd_file_origin *origin, uint32_t variant)
{
	struct pd_symtab *table;
	struct pd_elf *shape;

	if (!symbols->index || !id->size ||
	    !pd_index_load_symbols(symbols->index, id, origin, variant, symbols->limit, &shape, &table))
		return false;
	// each of these has a file open
	if (pd_symtab_is_in_pages(table) && symbols->open_tables++ >= OPEN_TABLES_MOST)
		pd_symtab_read_pages(table);
	take_table(symbols, dso, shape, table);
	pd_elf_close(shape);
	return true;
}

// What the index knows an object by: its build id, or, if it has none, its place, as long as there is a file which says that it is
// still that one. Compilers of Rust have libraries of 100 MB without a build id.
static struct pd_object_id index_id(struct pd_dso_full *dso, struct pd_elf *object, const struct pd_file_origin *origin)
{
	static const char mark[8] = "no id";
	struct pd_object_id id = { .size = 0 };
	uint64_t place;

	if (dso->file_id.size || pd_elf_id(object, &dso->file_id))
		return dso->file_id;
	if (!origin->place || !origin->files[0].known)
		return id;
	place = pd_index_sum(origin->place, strlen(origin->place));
	memcpy(id.bytes, mark, sizeof(mark));
	memcpy(id.bytes + sizeof(mark), &place, sizeof(place));
	id.size = sizeof(mark) + sizeof(place);
	return id;
}

static uint32_t variant_of(const struct pd_elf *object, const struct pd_elf *debug)
{
	return pd_elf_has_symtab(object) || debug ? INDEX_COMPLETE : INDEX_STRIPPED;
}

// Reads the symbols of files, and keeps them. NULL if there is no memory.
static struct pd_symtab *make_table(struct pd_symbols *symbols, struct pd_dso_full *dso, struct pd_elf *object,
				    struct pd_elf *debug, const struct pd_file_origin *origin)
{
	const struct pd_elf_symbol_options options = { .data = true, .limit = symbols->limit };
	const struct pd_object_id id = index_id(dso, object, origin);
	struct pd_symtab *table;

	if (pd_elf_symtab(object, debug, &options, &table, NULL)) {
		symbols->failed = true;
		return NULL;
	}
	if (object->image.failed || (debug && debug->image.failed))
		symbols->failed = true;
	else if (symbols->index && id.size)
		pd_index_save_symbols(symbols->index, &id, origin, variant_of(object, debug), object, table);
	return table;
}

void pd_lookup_read_table(struct pd_symbols *symbols, struct pd_dso_full *dso, struct pd_elf *object,
			  struct pd_elf *debug, const struct pd_file_origin *origin)
{
	const struct pd_object_id id = index_id(dso, object, origin);
	struct pd_symtab *table;

	if (load_from_index(symbols, dso, &id, origin, variant_of(object, debug)))
		return;
	table = make_table(symbols, dso, object, debug, origin);
	if (table)
		take_table(symbols, dso, object, table);
}

struct pd_find_wanted pd_lookup_wanted(const struct pd_dso_full *dso)
{
	return (struct pd_find_wanted){ .path = dso->path,
					.name = dso->dso.object ? dso->dso.object->path : NULL,
					.id = dso->id };
}

const struct pd_symtab *pd_lookup_reread_table(struct pd_symbols *symbols, struct pd_dso_full *dso)
{
	struct pd_find_wanted wanted = pd_lookup_wanted(dso);
	struct pd_file_origin origin;
	struct pd_found found;

	if (dso->reread)
		return dso->reread_table;
	dso->reread = true;
	if (pd_find(&symbols->places, &wanted, &found, NULL)) {
		symbols->failed = true;
		return NULL;
	}
	origin = pd_found_origin(&found, &symbols->places);
	if (found.object || found.debug)
		dso->reread_table =
			make_table(symbols, dso, found.object ? found.object : found.debug, found.debug, &origin);
	pd_found_close(&found);
	// of other symbols than those whose numbers are known, none can be used
	if (dso->reread_table && pd_symtab_count(dso->reread_table) != pd_symtab_count(dso->table)) {
		pd_symtab_free(dso->reread_table);
		dso->reread_table = NULL;
	}
	return dso->reread_table;
}

void pd_lookup_load_file(struct pd_symbols *symbols, struct pd_dso_full *dso)
{
	struct pd_find_wanted wanted = pd_lookup_wanted(dso);
	struct pd_file_origin origin;
	struct pd_elf *object;
	struct pd_found found;
	bool fetched = false;

	if (pd_find(&symbols->places, &wanted, &found, NULL)) {
		symbols->failed = true;
		return;
	}
	if (!found.object && !found.debug) {
		found.object = pd_lookup_fetch(symbols, &dso->id, false);
		fetched = found.object != NULL;
	}
	// stripped, and nothing local helps
	if (found.object && !found.debug && !pd_elf_has_symtab(found.object))
		found.debug = pd_lookup_fetch(symbols, &dso->id, true);
	// a debug file alone has the segments too
	object = found.object ? found.object : found.debug;
	origin = pd_found_origin(&found, &symbols->places);
	if (object)
		pd_lookup_read_table(symbols, dso, object, found.debug, &origin);
	dso->has_file = object || load_from_index(symbols, dso, &dso->file_id, &origin, INDEX_COMPLETE);
	if (dso->has_file && !object)
		pd_lookup_report(symbols, dso, PD_DSO_SYMBOLS, "cached by an earlier run");
	else
		list_found(symbols, dso, &found, fetched);
	pd_found_close(&found);
}

// ---- the vdso ----

struct pd_elf *pd_lookup_own_vdso(void)
{
	const uint8_t *memory = (const uint8_t *)getauxval(AT_SYSINFO_EHDR); // NOLINT: its address is a number
	struct pd_elf *elf = NULL;
	uint16_t section_size, section_count;
	uint64_t sections_at;
	struct pd_image image;

	if (!memory || memory[4] != 2)
		return NULL;
	// it ends with its sections
	memcpy(&sections_at, memory + 40, sizeof(sections_at));
	memcpy(&section_size, memory + 58, sizeof(section_size));
	memcpy(&section_count, memory + 60, sizeof(section_count));
	pd_image_open_memory(&image, memory, sections_at + (size_t)section_size * section_count);
	if (pd_elf_open_image(&elf, &image, "[vdso]", 0, NULL))
		return NULL;
	return elf;
}
