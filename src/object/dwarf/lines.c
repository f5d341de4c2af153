/* SPDX-License-Identifier: MIT */
/*
 * An object's units: where each has code, and the tables of those that were asked for. A table comes from memory, else
 * from the index, else from the debug information, which is opened at the first unit that needs it.
 *
 * A file of the index has as its first part which units there are, where each has code, and where in the file the
 * tables stand that were made so far, each with its checksum.
 */
#include "object/dwarf/lines.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "base/cursor.h"
#include "object/dwarf/dwarf.h"
#include "object/index/index_file.h"

static const size_t default_limit = (size_t)1 << 30;

// Tables of a large file of the index stand side by side in large pages, as far as there is room: they come into memory
// sooner, and addresses in no order wait less.
enum {
	LARGE_PAGE = 2 << 20,
	LARGE_FILE = 1 << 20,
	POOL_MOST = 32 << 20
};

enum unit_state {
	UNIT_UNKNOWN, // nobody asked, or it is in the index
	UNIT_READ,
	UNIT_MISSING
};

// As it stands in a file, too.
struct directory {
	uint64_t image_sum; // of the debug information
	uint32_t unit_count;
	uint32_t piece_count;
};

struct unit {
	uint64_t number; // in the debug information
	uint64_t at;     // of the table in the file; 0: not there
	uint64_t size;
	uint64_t sum;
};

struct pd_lines {
	struct pd_lines_source source;
	struct pd_index_key key;
	size_t limit;
	size_t used; // of tables and images
	bool failed;

	bool has_directory;
	uint64_t image_sum;
	struct unit *units;
	uint8_t *states;
	struct pd_unit_table *tables;
	size_t unit_count;
	struct pd_addr_piece *pieces;
	size_t piece_count;
	size_t last_piece; // that was asked for; the next address is often in it, too

	struct pd_image file; // of the index; fd is -1 if there is none
	uint8_t *pool;        // for tables from it, or NULL
	size_t pool_used, pool_size;
	bool pool_tried;
	bool stale;  // it does not belong to the debug information
	bool is_new; // there is something to save

	bool tried; // to open debug information
	struct pd_debug_image image, shared_image;
	struct pd_dwarf *dwarf, *shared;
	struct pd_elf *shared_elf;
};

// ---- opening ----

static bool allocate_units(struct pd_lines *l, size_t count)
{
	l->units = pd_alloc(count * sizeof(*l->units));
	l->states = pd_alloc(count * sizeof(*l->states));
	l->tables = pd_alloc(count * sizeof(*l->tables));
	l->unit_count = l->units && l->states && l->tables ? count : 0;
	return l->unit_count == count;
}

static void drop_units(struct pd_lines *l)
{
	for (size_t i = 0; i < l->unit_count; i++)
		pd_unit_table_fini(&l->tables[i]);
	pd_free(l->units);
	pd_free(l->states);
	pd_free(l->tables);
	pd_free(l->pieces);
	l->units = NULL;
	l->states = NULL;
	l->tables = NULL;
	l->pieces = NULL;
	l->unit_count = l->piece_count = 0;
	l->has_directory = false;
}

static bool take_directory(struct pd_lines *l, const uint8_t *data, size_t size, uint64_t tables_offset)
{
	struct directory head;
	size_t pieces_size;

	if (size < sizeof(head))
		return false;
	memcpy(&head, data, sizeof(head));
	pieces_size = (size_t)head.piece_count * sizeof(*l->pieces);
	if (size - sizeof(head) != (uint64_t)head.unit_count * sizeof(*l->units) + pieces_size)
		return false;
	l->pieces = pd_realloc(NULL, pieces_size);
	if (!allocate_units(l, head.unit_count) || !l->pieces)
		return false;
	memcpy(l->units, data + sizeof(head), head.unit_count * sizeof(*l->units));
	memcpy(l->pieces, data + sizeof(head) + head.unit_count * sizeof(*l->units), pieces_size);
	l->piece_count = head.piece_count;
	l->image_sum = head.image_sum;
	for (size_t i = 0; i < l->unit_count; i++) {
		const struct unit *u = &l->units[i];

		if (u->at && (u->at < tables_offset || u->at > l->file.size || u->size > l->file.size - u->at))
			return false;
	}
	for (size_t i = 0; i < l->piece_count; i++)
		if (l->pieces[i].value >= l->unit_count && l->pieces[i].value != PD_PIECE_NONE)
			return false;
	l->has_directory = true;
	return true;
}

static void read_index(struct pd_lines *l)
{
	struct pd_index_content content;

	if (pd_index_first(&l->file, &l->key, l->limit, &content)) {
		if (!take_directory(l, content.data, content.size, content.end))
			drop_units(l);
		pd_free(content.block);
	}
	if (!l->has_directory)
		pd_image_close(&l->file);
}

enum pd_status pd_lines_open_index(struct pd_lines **lines_out, const struct pd_lines_source *source,
				   struct pd_image *file, struct pd_error *error)
{
	struct pd_lines *l = pd_alloc(sizeof(*l));

	if (!l) {
		pd_image_close(file);
		return pd_fail_memory(error);
	}
	l->source = *source;
	l->limit = source->limit ? source->limit : default_limit;
	l->key = (struct pd_index_key){ .id = &l->source.id, .kind = PD_INDEX_LINES, .origin = source->origin };
	l->file = *file;
	*file = (struct pd_image){ .fd = -1 };
	if (l->file.size)
		read_index(l);
	*lines_out = l;
	return PD_OK;
}

enum pd_status pd_lines_open(struct pd_lines **lines_out, const struct pd_lines_source *source, struct pd_error *error)
{
	struct pd_index_key key = { .id = &source->id, .kind = PD_INDEX_LINES, .origin = source->origin };
	struct pd_image file = { .fd = -1 };

	if (!pd_index_open(source->index, &key, &file))
		file = (struct pd_image){ .fd = -1 };
	return pd_lines_open_index(lines_out, source, &file, error);
}

// ---- debug information ----

static void open_shared(struct pd_lines *l, struct pd_elf *elf)
{
	if (l->source.places)
		l->shared_elf = pd_find_shared(l->source.places, elf);
	if (l->shared_elf && pd_debug_image_make(l->shared_elf, l->limit - l->used, &l->shared_image, NULL) == PD_OK) {
		l->used += l->shared_image.size;
		pd_dwarf_open(&l->shared, &l->shared_image, NULL, NULL);
	}
}

static void make_directory(struct pd_lines *l, struct pd_dwarf_code *code)
{
	bool ok = pd_dwarf_code(l->dwarf, code) && code->count < PD_PIECE_NONE &&
		  pd_pieces_make(code->spans, code->span_count, &l->pieces, &l->piece_count) &&
		  allocate_units(l, code->count);

	if (!ok) {
		l->failed = true;
		drop_units(l);
		return;
	}
	for (size_t i = 0; i < l->unit_count; i++)
		l->units[i].number = code->units[i];
	l->image_sum = l->image.sum ^ l->shared_image.sum;
	l->has_directory = true;
}

static struct pd_elf *with_debug_information(struct pd_elf *object, struct pd_elf *debug)
{
	struct pd_elf *elves[] = { debug, object };

	for (size_t i = 0; i < 2; i++) {
		const struct pd_elf_section *s = NULL;

		if (elves[i])
			s = pd_elf_section_by_name(elves[i], ".debug_info");
		if (elves[i] && !s)
			s = pd_elf_section_by_name(elves[i], ".zdebug_info");
		if (s && s->type != PD_ELF_SECTION_NOBITS)
			return elves[i];
	}
	return NULL;
}

static void try_debug_information(struct pd_lines *l)
{
	struct pd_elf *object = NULL, *debug = NULL, *elf;
	struct pd_dwarf_code code = { .units = NULL };
	enum pd_status status;

	l->source.files(l->source.self, &object, &debug);
	elf = with_debug_information(object, debug);
	if (!elf)
		return;
	status = pd_debug_image_make(elf, l->limit - l->used, &l->image, NULL);
	if (status) {
		l->failed = status != PD_ERROR_UNSUPPORTED;
		return;
	}
	l->used += l->image.size;
	open_shared(l, elf);
	if (pd_dwarf_open(&l->dwarf, &l->image, l->shared, NULL)) {
		l->failed = true;
		return;
	}
	if (!l->has_directory) {
		make_directory(l, &code);
		pd_free(code.units);
		pd_free(code.spans);
	} else if (l->image_sum != (l->image.sum ^ l->shared_image.sum)) {
		// answers stay what they were in this run; the next one begins anew
		l->stale = true;
	}
}

static bool need_debug_information(struct pd_lines *l)
{
	if (!l->tried && l->source.files && l->used < l->limit) {
		l->tried = true;
		try_debug_information(l);
	}
	return l->dwarf && l->has_directory && !l->stale;
}

// ---- tables ----

static void make_pool(struct pd_lines *l)
{
	size_t size = l->file.size < POOL_MOST ? (size_t)l->file.size : POOL_MOST;
	size_t first;

	l->pool_tried = true;
	// nothing of it is touched before it is used
	l->pool = size < LARGE_FILE || size > l->limit - l->used ? NULL : pd_realloc(NULL, size + 2 * LARGE_PAGE);
	if (!l->pool)
		return;
	first = -(uintptr_t)l->pool & (LARGE_PAGE - 1);
	l->pool_used = first;
	l->pool_size = first + size;
#ifdef MADV_HUGEPAGE
	// where this is refused pages are small
	madvise(l->pool + first, (size + LARGE_PAGE - 1) & ~(size_t)(LARGE_PAGE - 1), MADV_HUGEPAGE);
#endif
}

static uint8_t *pool_block(struct pd_lines *l, size_t size)
{
	uint8_t *block;

	if (!l->pool_tried)
		make_pool(l);
	if (!l->pool || size > l->pool_size - l->pool_used)
		return NULL;
	block = l->pool + l->pool_used;
	l->pool_used += (size + 15) & ~(size_t)15;
	l->pool_used = l->pool_used < l->pool_size ? l->pool_used : l->pool_size;
	return block;
}

static bool is_as_saved(const struct pd_lines *l, const struct unit *u, void *block)
{
	return pd_image_copy(&l->file, u->at, block, (size_t)u->size) == u->size &&
	       pd_index_sum(block, (size_t)u->size) == u->sum;
}

static bool load_table(struct pd_lines *l, size_t which)
{
	const struct unit *u = &l->units[which];
	void *block;

	if (l->file.size == 0 || !u->at || u->size > l->limit - l->used)
		return false;
	block = pool_block(l, (size_t)u->size);
	if (block)
		return is_as_saved(l, u, block) && pd_unit_table_use(&l->tables[which], block, (size_t)u->size);
	block = pd_realloc(NULL, (size_t)u->size);
	if (!block)
		return false;
	if (is_as_saved(l, u, block))
		return pd_unit_table_take(&l->tables[which], block, (size_t)u->size);
	pd_free(block);
	return false;
}

static bool make_table(struct pd_lines *l, size_t which)
{
	struct pd_unit_maker maker = { .limit = l->limit - l->used };
	bool ok;

	if (!need_debug_information(l) || l->used >= l->limit)
		return false;
	maker.limit = l->limit - l->used;
	ok = pd_dwarf_unit(l->dwarf, (uint32_t)l->units[which].number, &maker);
	if (!ok)
		pd_unit_maker_fini(&maker);
	ok = ok && pd_unit_table_make(&maker, &l->tables[which]);
	l->failed = l->failed || !ok;
	l->is_new = l->is_new || ok;
	return ok;
}

static const struct pd_unit_table *table_of(struct pd_lines *l, size_t which)
{
	if (l->states[which] == UNIT_UNKNOWN) {
		bool ok = load_table(l, which) || make_table(l, which);

		l->states[which] = ok ? UNIT_READ : UNIT_MISSING;
		l->used += ok ? l->tables[which].size : 0;
	}
	return l->states[which] == UNIT_READ ? &l->tables[which] : NULL;
}

static bool is_in_piece(const struct pd_lines *l, size_t piece, uint64_t addr)
{
	return piece < l->piece_count && l->pieces[piece].start <= addr &&
	       (piece + 1 == l->piece_count || addr < l->pieces[piece + 1].start);
}

static uint32_t unit_at(struct pd_lines *l, uint64_t addr)
{
	const struct pd_addr_piece *piece;

	if (is_in_piece(l, l->last_piece, addr))
		return l->pieces[l->last_piece].value;
	piece = pd_pieces_at(l->pieces, l->piece_count, addr);
	if (!piece)
		return PD_PIECE_NONE;
	l->last_piece = (size_t)(piece - l->pieces);
	return piece->value;
}

size_t pd_lines_find(struct pd_lines *l, uint64_t addr, struct pd_lines_frame *frames_out, size_t capacity)
{
	const struct pd_unit_table *table;
	uint32_t unit;

	if (!l->has_directory && !need_debug_information(l))
		return 0;
	unit = unit_at(l, addr);
	table = unit == PD_PIECE_NONE ? NULL : table_of(l, unit);
	return table ? pd_unit_table_find(table, addr, frames_out, capacity) : 0;
}

bool pd_lines_any(struct pd_lines *l)
{
	return (l->has_directory || need_debug_information(l)) && l->unit_count;
}

bool pd_lines_failed(const struct pd_lines *l)
{
	return l->failed;
}

// ---- the index ----

// Those of this run first: what is kept from before may find no room.
static size_t put_parts(struct pd_lines *l, struct unit *units, struct pd_index_part *parts, uint64_t at)
{
	size_t count = 1;

	for (size_t i = 0; i < 2 * l->unit_count; i++) {
		size_t which = i % l->unit_count;
		const struct pd_unit_table *table = &l->tables[which];
		bool is_read = l->states[which] == UNIT_READ;
		struct pd_index_part part;

		if (is_read != (i < l->unit_count) || (!is_read && !l->units[which].at))
			continue;
		if (is_read)
			part = (struct pd_index_part){ .data = table->block, .size = table->size };
		else
			part = (struct pd_index_part){ .image = &l->file,
						       .offset = l->units[which].at,
						       .size = l->units[which].size };
		if (part.size > pd_index_file_limit() - at)
			continue;
		units[which].at = at;
		units[which].size = part.size;
		units[which].sum = is_read ? pd_index_sum(part.data, (size_t)part.size) : l->units[which].sum;
		parts[count++] = part;
		at += part.size;
	}
	return count;
}

static void save(struct pd_lines *l, uint8_t *first, size_t first_size, struct unit *units, struct pd_index_part *parts)
{
	struct directory head = { l->image_sum, (uint32_t)l->unit_count, (uint32_t)l->piece_count };
	size_t units_size = l->unit_count * sizeof(*units);
	uint64_t at = pd_index_head_size(&l->key) + first_size;
	size_t count;

	if (at > pd_index_file_limit())
		return;
	for (size_t i = 0; i < l->unit_count; i++)
		units[i] = (struct unit){ .number = l->units[i].number };
	count = put_parts(l, units, parts, at);
	memcpy(first, &head, sizeof(head));
	memcpy(first + sizeof(head), units, units_size);
	memcpy(first + sizeof(head) + units_size, l->pieces, l->piece_count * sizeof(*l->pieces));
	parts[0] = (struct pd_index_part){ .data = first, .size = first_size };
	if (pd_index_write(l->source.index, &l->key, parts, count))
		l->is_new = false;
}

void pd_lines_save(struct pd_lines *l)
{
	size_t first_size =
		sizeof(struct directory) + l->unit_count * sizeof(struct unit) + l->piece_count * sizeof(*l->pieces);
	struct pd_index_part *parts;
	struct unit *units;
	uint8_t *first;

	if (l->stale && l->source.index)
		pd_index_remove(l->source.index, &l->key);
	if (l->stale || !l->is_new || !l->source.index || !l->unit_count)
		return;
	first = pd_realloc(NULL, first_size);
	units = pd_realloc(NULL, l->unit_count * sizeof(*units));
	parts = pd_realloc(NULL, (l->unit_count + 1) * sizeof(*parts));
	if (first && units && parts)
		save(l, first, first_size, units, parts);
	pd_free(first);
	pd_free(units);
	pd_free(parts);
}

void pd_lines_close(struct pd_lines *l)
{
	if (!l)
		return;
	pd_lines_save(l);
	pd_dwarf_close(l->dwarf);
	pd_dwarf_close(l->shared);
	pd_elf_close(l->shared_elf);
	pd_free(l->image.data);
	pd_free(l->shared_image.data);
	drop_units(l);
	pd_free(l->pool);
	pd_image_close(&l->file);
	pd_free(l);
}
