/* SPDX-License-Identifier: MIT */
/*
 * Makes tables: rows and scopes of a unit as they come out of its debug information become entries, one for each address where
 * either of them changes, and links, which are chains of scopes written down one after another.
 */
#include "object/dwarf/unit_table.h"

#include <stdlib.h>
#include <string.h>

enum {
	FAR = 16 << 10, // ranges with code lie further apart, if there are few
	FEW_RANGES = 8,
	COPIES_OF_SCOPE = 4 // about the most links for each scope
};

static const size_t default_limit = (size_t)1 << 30;

// ---- making ----

static bool is_within(struct pd_unit_maker *m)
{
	size_t limit = m->limit ? m->limit : default_limit;

	// doubling, and the pieces of the spans, included
	if (m->row_count > limit / 4 / sizeof(*m->rows) || m->scope_count > limit / 4 / sizeof(*m->scopes) ||
	    m->span_count > limit / 8 / sizeof(*m->spans) || m->texts_size > limit / 4)
		m->failed = true;
	return !m->failed;
}

static uint32_t find_text(const struct pd_unit_maker *m, const char *text, uint64_t hash)
{
	size_t at = (uint32_t)hash;

	for (uint32_t i; (i = pd_index_next(&m->index, hash, &at)) != PD_INDEX_END;)
		if (strcmp(m->texts + i, text) == 0)
			return i;
	return PD_NO_TEXT;
}

uint32_t pd_unit_maker_text(struct pd_unit_maker *m, const char *text)
{
	size_t length;
	uint64_t hash;
	uint32_t at;

	if (!text || m->failed || !is_within(m))
		return PD_NO_TEXT;
	// the empty text is number 0, without being looked for
	length = strlen(text);
	if (!length)
		return 0;
	hash = pd_hash((uintptr_t)m, text, length);
	at = find_text(m, text, hash);
	if (at != PD_NO_TEXT)
		return at;
	if (length >= UINT32_MAX / 2 || m->texts_size + length >= UINT32_MAX / 2 ||
	    !PD_GROW(m->texts, m->texts_capacity, m->texts_size + length + 2)) {
		m->failed = true;
		return PD_NO_TEXT;
	}
	if (!m->texts_size)
		m->texts[m->texts_size++] = 0;
	at = (uint32_t)m->texts_size;
	if (!pd_index_add(&m->index, hash, at)) {
		m->failed = true;
		return PD_NO_TEXT;
	}
	memcpy(m->texts + at, text, length + 1);
	m->texts_size += length + 1;
	return at;
}

void pd_unit_maker_row(struct pd_unit_maker *m, const struct pd_unit_row *row)
{
	if (m->failed || !is_within(m))
		return;
	if (!PD_GROW(m->rows, m->row_capacity, m->row_count + 1)) {
		m->failed = true;
		return;
	}
	m->rows[m->row_count++] = *row;
}

uint32_t pd_unit_maker_scope(struct pd_unit_maker *m, const struct pd_unit_scope *scope)
{
	if (m->failed || !is_within(m))
		return PD_NO_SCOPE;
	if (m->scope_count >= PD_NO_SCOPE - 1 || !PD_GROW(m->scopes, m->scope_capacity, m->scope_count + 1)) {
		m->failed = true;
		return PD_NO_SCOPE;
	}
	m->scopes[m->scope_count] = *scope;
	return (uint32_t)m->scope_count++;
}

void pd_unit_maker_span(struct pd_unit_maker *m, uint64_t start, uint64_t end, uint32_t scope)
{
	if (m->failed || end <= start || scope == PD_NO_SCOPE || !is_within(m))
		return;
	if (!PD_GROW(m->spans, m->span_capacity, m->span_count + 1)) {
		m->failed = true;
		return;
	}
	m->spans[m->span_count++] = (struct pd_span){ start, end, scope };
}

void pd_unit_maker_fini(struct pd_unit_maker *m)
{
	pd_free(m->rows);
	pd_free(m->scopes);
	pd_free(m->spans);
	pd_free(m->texts);
	pd_index_fini(&m->index);
	*m = (struct pd_unit_maker){ .limit = m->limit };
}

// ---- rows ----

// Rows come in sequences, each ended by a row without code: whole sequences are put in order where they lie apart.
struct sequence {
	uint64_t start, end; // addresses of the first and the last row
	size_t first, count;
};

static int compare_sequences(const void *a, const void *b)
{
	const struct sequence *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	if (x->end != y->end)
		return x->end < y->end ? -1 : 1;
	return (x->first > y->first) - (x->first < y->first);
}

struct ordered_row {
	struct pd_unit_row row;
	size_t order;
};

static int compare_rows(const void *a, const void *b)
{
	const struct ordered_row *x = a, *y = b;

	if (x->row.addr != y->row.addr)
		return x->row.addr < y->row.addr ? -1 : 1;
	// where one sequence ends another one may begin
	if ((x->row.file == PD_NO_TEXT) != (y->row.file == PD_NO_TEXT))
		return x->row.file == PD_NO_TEXT ? -1 : 1;
	return (x->order > y->order) - (x->order < y->order);
}

static bool sort_single_rows(struct pd_unit_maker *m)
{
	struct ordered_row *rows = pd_realloc(NULL, m->row_count * sizeof(*rows));

	if (!rows)
		return false;
	for (size_t i = 0; i < m->row_count; i++)
		rows[i] = (struct ordered_row){ m->rows[i], i };
	qsort(rows, m->row_count, sizeof(*rows), compare_rows);
	for (size_t i = 0; i < m->row_count; i++)
		m->rows[i] = rows[i].row;
	pd_free(rows);
	return true;
}

// False if rows of a sequence go back, or memory ran out.
static bool find_sequences(const struct pd_unit_maker *m, struct sequence **sequences_out, size_t *count_out)
{
	struct sequence *sequences = NULL;
	size_t capacity = 0, count = 0, first = 0;

	for (size_t i = 0; i < m->row_count; i++) {
		if (i > first && m->rows[i].addr < m->rows[i - 1].addr)
			break;
		if (m->rows[i].file != PD_NO_TEXT && i + 1 < m->row_count)
			continue;
		if (!PD_GROW(sequences, capacity, count + 1))
			break;
		sequences[count++] = (struct sequence){ m->rows[first].addr, m->rows[i].addr, first, i + 1 - first };
		first = i + 1;
	}
	*sequences_out = sequences;
	*count_out = count;
	return first == m->row_count;
}

static bool are_disjoint(const struct sequence *sequences, size_t count)
{
	for (size_t i = 1; i < count; i++)
		if (sequences[i].start < sequences[i - 1].end)
			return false;
	return true;
}

static bool sort_rows(struct pd_unit_maker *m)
{
	struct sequence *sequences;
	struct pd_unit_row *rows = NULL;
	size_t count, n = 0;

	if (!m->row_count)
		return true;
	if (find_sequences(m, &sequences, &count)) {
		qsort(sequences, count, sizeof(*sequences), compare_sequences);
		if (are_disjoint(sequences, count))
			rows = pd_realloc(NULL, m->row_count * sizeof(*rows));
	}
	for (size_t i = 0; rows && i < count; n += sequences[i++].count)
		memcpy(rows + n, m->rows + sequences[i].first, sequences[i].count * sizeof(*rows));
	pd_free(sequences);
	if (!rows)
		return sort_single_rows(m);
	pd_free(m->rows);
	m->rows = rows;
	m->row_capacity = m->row_count;
	return true;
}

// One row for each address, and none that says the same as the one before it.
static void keep_last_rows(struct pd_unit_maker *m)
{
	size_t kept = 0;

	for (size_t i = 0; i < m->row_count; i++) {
		const struct pd_unit_row *row = &m->rows[i], *next = i + 1 < m->row_count ? row + 1 : NULL;

		if (next && next->addr == row->addr)
			continue;
		if (kept && m->rows[kept - 1].file == row->file && m->rows[kept - 1].line == row->line)
			continue;
		m->rows[kept++] = *row;
	}
	m->row_count = kept;
}

// ---- chains of scopes ----

struct chains {
	const struct pd_unit_maker *maker;
	uint32_t *places; // of scopes among the links; PD_NO_SCOPE: it has none
	struct pd_unit_link *links;
	size_t count, capacity;
};

static bool put_link(struct chains *c, struct pd_unit_link link)
{
	if (c->count >= PD_NO_SCOPE || !PD_GROW(c->links, c->capacity, c->count + 1))
		return false;
	c->links[c->count++] = link;
	return true;
}

static uint32_t known_text(uint32_t text)
{
	return text == PD_NO_TEXT ? 0 : text;
}

// From a scope outwards. What stands around it is written once more, so that a chain is in one place; unless there was too
// much of that, then it goes on where that stands.
static bool put_chain(struct chains *c, uint32_t which)
{
	const struct pd_unit_maker *m = c->maker;

	while (which != PD_NO_SCOPE) {
		const struct pd_unit_scope *scope = &m->scopes[which];
		uint32_t last = scope->parent == PD_NO_SCOPE ? PD_UNIT_LAST : 0;

		if (c->places[which] != PD_NO_SCOPE && c->count / COPIES_OF_SCOPE > m->scope_count)
			return put_link(c, (struct pd_unit_link){ PD_UNIT_JUMP, c->places[which], 0 });
		if (c->places[which] == PD_NO_SCOPE)
			c->places[which] = (uint32_t)c->count;
		if (!put_link(c, (struct pd_unit_link){ known_text(scope->name) | last, known_text(scope->call_file),
							scope->call_line }))
			return false;
		which = scope->parent;
	}
	return true;
}

// Of all scopes that pieces have. Inner ones come later than those around them, and have theirs in their chain.
static bool make_chains(struct chains *c, const struct pd_addr_piece *pieces, size_t count)
{
	uint8_t *is_used = pd_alloc(c->maker->scope_count + 1);
	bool ok;

	c->places = pd_realloc(NULL, (c->maker->scope_count + 1) * sizeof(*c->places));
	ok = is_used && c->places;
	for (size_t i = 0; ok && i < count; i++)
		if (pieces[i].value != PD_PIECE_NONE)
			is_used[pieces[i].value] = 1;
	for (size_t i = 0; ok && i < c->maker->scope_count; i++)
		c->places[i] = PD_NO_SCOPE;
	for (size_t i = c->maker->scope_count; ok && i-- > 0;)
		if (is_used[i] && c->places[i] == PD_NO_SCOPE)
			ok = put_chain(c, (uint32_t)i);
	pd_free(is_used);
	return ok;
}

// ---- entries ----

struct entries {
	struct pd_unit_range *ranges;
	size_t range_count, range_capacity;
	struct pd_unit_entry *items;
	size_t count;
};

// Begins a range where code lies far apart, and where an offset would be too large.
static bool begin_range(struct entries *s, uint64_t addr, uint64_t before)
{
	const struct pd_unit_range *last = s->ranges ? &s->ranges[s->range_count - 1] : NULL;

	if (last && addr - last->start < UINT32_MAX && (s->range_count >= FEW_RANGES || addr - before <= FAR))
		return true;
	if (s->range_count >= PD_UNIT_RANGES || !PD_GROW(s->ranges, s->range_capacity, s->range_count + 1))
		return false;
	s->ranges[s->range_count++] = (struct pd_unit_range){ .start = addr, .first = (uint32_t)s->count };
	return true;
}

static bool same_entry(const struct pd_unit_entry *a, const struct pd_unit_entry *b)
{
	return a->file == b->file && a->line == b->line && a->chain == b->chain;
}

static bool put_entry(struct entries *s, uint64_t addr, uint64_t before, struct pd_unit_entry entry)
{
	if (!begin_range(s, addr, before))
		return false;
	entry.offset = (uint32_t)(addr - s->ranges[s->range_count - 1].start);
	if (s->count == s->ranges[s->range_count - 1].first || !same_entry(&s->items[s->count - 1], &entry))
		s->items[s->count++] = entry;
	return true;
}

// Rows and pieces, both in order, as one list.
static bool make_entries(struct entries *s, const struct pd_unit_maker *m, const struct pd_addr_piece *pieces,
			 size_t count, const uint32_t *places)
{
	struct pd_unit_entry entry = { .file = PD_NO_TEXT, .chain = PD_NO_SCOPE };
	uint64_t before = 0;

	s->items = pd_realloc(NULL, (m->row_count + count) * sizeof(*s->items) + 1);
	if (!s->items)
		return false;
	for (size_t row = 0, piece = 0; row < m->row_count || piece < count;) {
		uint64_t row_addr = row < m->row_count ? m->rows[row].addr : UINT64_MAX;
		uint64_t piece_addr = piece < count ? pieces[piece].start : UINT64_MAX;
		uint64_t addr = row_addr < piece_addr ? row_addr : piece_addr;

		if (row < m->row_count && row_addr == addr) {
			entry.file = m->rows[row].file;
			entry.line = entry.file == PD_NO_TEXT ? 0 : m->rows[row].line;
			row++;
		}
		if (piece < count && piece_addr == addr) {
			uint32_t scope = pieces[piece++].value;

			entry.chain = scope == PD_PIECE_NONE ? PD_NO_SCOPE : places[scope];
		}
		if (!put_entry(s, addr, before, entry))
			return false;
		before = addr;
	}
	return true;
}

// ---- tables ----

static void *write_bytes(void *at, const void *data, size_t size)
{
	if (size)
		memcpy(at, data, size);
	return (uint8_t *)at + size;
}

static void *make_block(const struct pd_unit_maker *m, const struct entries *s, const struct chains *c,
			size_t *size_out)
{
	struct pd_unit_head head = { (uint32_t)s->range_count, (uint32_t)s->count, (uint32_t)c->count,
				     (uint32_t)m->texts_size };
	size_t size = sizeof(head) + s->range_count * sizeof(*s->ranges) + s->count * sizeof(*s->items) +
		      c->count * sizeof(*c->links) + m->texts_size;
	void *block = pd_realloc(NULL, size), *at = block;

	if (!block)
		return NULL;
	at = write_bytes(at, &head, sizeof(head));
	at = write_bytes(at, s->ranges, s->range_count * sizeof(*s->ranges));
	at = write_bytes(at, s->items, s->count * sizeof(*s->items));
	at = write_bytes(at, c->links, c->count * sizeof(*c->links));
	write_bytes(at, m->texts, m->texts_size);
	*size_out = size;
	return block;
}

static bool is_within_words(const struct pd_unit_maker *m, size_t piece_count)
{
	return m->row_count + piece_count < UINT32_MAX && m->texts_size < PD_UNIT_JUMP;
}

bool pd_unit_table_make(struct pd_unit_maker *m, struct pd_unit_table *table_out)
{
	struct chains chains = { .maker = m };
	struct entries entries = { .items = NULL };
	struct pd_addr_piece *pieces = NULL;
	size_t piece_count = 0, size = 0;
	void *block = NULL;

	if (!m->failed && sort_rows(m) && pd_pieces_make(m->spans, m->span_count, &pieces, &piece_count) &&
	    is_within_words(m, piece_count) && make_chains(&chains, pieces, piece_count)) {
		keep_last_rows(m);
		if (make_entries(&entries, m, pieces, piece_count, chains.places))
			block = make_block(m, &entries, &chains, &size);
	}
	pd_free(pieces);
	pd_free(chains.places);
	pd_free(chains.links);
	pd_free(entries.ranges);
	pd_free(entries.items);
	pd_unit_maker_fini(m);
	return block && pd_unit_table_take(table_out, block, size);
}
