/* SPDX-License-Identifier: MIT */
/* A block is a head, rows, pieces, scopes and texts, in the byte order of the machine. */
#include "symbol/unit_table.h"

#include <stdlib.h>
#include <string.h>

enum {
	DEEPEST = 1024, // scopes that are looked at for one address
	FIRST_SLOTS = 256,
	ITEMS_OF_STEP = 4,
	FAR = 16 << 10 // areas with code lie further apart
};

static const size_t default_limit = (size_t)1 << 30;

struct head {
	uint32_t row_count, piece_count, scope_count, texts_size;
};

// ---- making ----

static bool is_within(struct pd_unit_maker *m)
{
	size_t limit = m->limit ? m->limit : default_limit;

	// doubling, and the pieces of the spans, included
	if (m->row_count > limit / 2 / sizeof(*m->rows) || m->scope_count > limit / 4 / sizeof(*m->scopes) ||
	    m->span_count > limit / 8 / sizeof(*m->spans) || m->texts_size > limit / 4)
		m->failed = true;
	return !m->failed;
}

static uint32_t hash_of(const char *text, size_t size)
{
	uint32_t hash = 2166136261u;

	for (size_t i = 0; i < size; i++)
		hash = (hash ^ (uint8_t)text[i]) * 16777619u;
	return hash;
}

static void put_slot(struct pd_unit_maker *m, uint32_t hash, uint32_t text)
{
	size_t at = hash & (m->slot_count - 1);

	while (m->slots[at])
		at = (at + 1) & (m->slot_count - 1);
	m->slots[at] = text + 1;
}

static bool grow_slots(struct pd_unit_maker *m)
{
	size_t count = m->slot_count ? 2 * m->slot_count : FIRST_SLOTS;
	uint32_t *slots = pd_alloc(count * sizeof(*slots));

	if (!slots)
		return false;
	pd_free(m->slots);
	m->slots = slots;
	m->slot_count = count;
	for (size_t at = 1; at < m->texts_size;) {
		size_t length = strlen(m->texts + at);

		put_slot(m, hash_of(m->texts + at, length), (uint32_t)at);
		at += length + 1;
	}
	return true;
}

static uint32_t find_text(const struct pd_unit_maker *m, const char *text, uint32_t hash)
{
	for (size_t at = hash & (m->slot_count - 1); m->slots[at]; at = (at + 1) & (m->slot_count - 1))
		if (strcmp(m->texts + m->slots[at] - 1, text) == 0)
			return m->slots[at] - 1;
	return PD_NO_TEXT;
}

uint32_t pd_unit_maker_text(struct pd_unit_maker *m, const char *text)
{
	size_t length;
	uint32_t hash, at;

	if (!text || m->failed || !is_within(m))
		return PD_NO_TEXT;
	// the empty text is number 0, without being looked for
	length = strlen(text);
	if (!length)
		return 0;
	hash = hash_of(text, length);
	at = m->slot_count ? find_text(m, text, hash) : PD_NO_TEXT;
	if (at != PD_NO_TEXT)
		return at;
	if (length >= UINT32_MAX / 2 || m->texts_size + length >= UINT32_MAX / 2 ||
	    (2 * m->text_count >= m->slot_count && !grow_slots(m)) ||
	    !PD_GROW(m->texts, m->texts_capacity, m->texts_size + length + 2)) {
		m->failed = true;
		return PD_NO_TEXT;
	}
	if (!m->texts_size)
		m->texts[m->texts_size++] = 0;
	at = (uint32_t)m->texts_size;
	memcpy(m->texts + at, text, length + 1);
	m->texts_size += length + 1;
	m->text_count++;
	put_slot(m, hash, at);
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
	m->spans[m->span_count++] = (struct pd_span){start, end, scope};
}

void pd_unit_maker_fini(struct pd_unit_maker *m)
{
	pd_free(m->rows);
	pd_free(m->scopes);
	pd_free(m->spans);
	pd_free(m->texts);
	pd_free(m->slots);
	*m = (struct pd_unit_maker){.limit = m->limit};
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
		rows[i] = (struct ordered_row){m->rows[i], i};
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
		sequences[count++] = (struct sequence){m->rows[first].addr, m->rows[i].addr, first, i + 1 - first};
		first = i + 1;
	}
	*sequences_out = sequences;
	*count_out = count;
	return first == m->row_count;
}

static bool lie_apart(const struct sequence *sequences, size_t count)
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
		if (lie_apart(sequences, count))
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

// ---- tables ----

static void *put(void *at, const void *data, size_t size)
{
	if (size)
		memcpy(at, data, size);
	return (uint8_t *)at + size;
}

static bool is_within_words(const struct pd_unit_maker *m, size_t piece_count)
{
	return m->row_count < UINT32_MAX && piece_count < UINT32_MAX;
}

bool pd_unit_table_make(struct pd_unit_maker *m, struct pd_unit_table *table_out)
{
	struct pd_piece *pieces = NULL;
	size_t piece_count = 0, size;
	void *block = NULL, *at;

	if (!m->failed && sort_rows(m) && pd_pieces_make(m->spans, m->span_count, &pieces, &piece_count) &&
	    is_within_words(m, piece_count)) {
		struct head head;

		keep_last_rows(m);
		head = (struct head){(uint32_t)m->row_count, (uint32_t)piece_count, (uint32_t)m->scope_count,
				     (uint32_t)m->texts_size};
		size = sizeof(head) + m->row_count * sizeof(*m->rows) + piece_count * sizeof(*pieces) +
		       m->scope_count * sizeof(*m->scopes) + m->texts_size;
		block = pd_realloc(NULL, size);
		if (block) {
			at = put(block, &head, sizeof(head));
			at = put(at, m->rows, m->row_count * sizeof(*m->rows));
			at = put(at, pieces, piece_count * sizeof(*pieces));
			at = put(at, m->scopes, m->scope_count * sizeof(*m->scopes));
			put(at, m->texts, m->texts_size);
		}
	}
	pd_free(pieces);
	pd_unit_maker_fini(m);
	return block && pd_unit_table_take(table_out, block, size);
}

static bool is_text(const struct pd_unit_table *t, uint32_t text)
{
	return text < t->texts_size || text == 0 || text == PD_NO_TEXT;
}

static bool is_sound(const struct pd_unit_table *t)
{
	if (t->texts_size && t->texts[t->texts_size - 1])
		return false;
	for (uint32_t i = 0; i < t->row_count; i++)
		if (!is_text(t, t->rows[i].file))
			return false;
	for (uint32_t i = 0; i < t->piece_count; i++)
		if (t->pieces[i].value >= t->scope_count && t->pieces[i].value != PD_PIECE_NONE)
			return false;
	for (uint32_t i = 0; i < t->scope_count; i++) {
		const struct pd_unit_scope *s = &t->scopes[i];

		if (!is_text(t, s->name) || !is_text(t, s->call_file) || (s->parent >= i && s->parent != PD_NO_SCOPE))
			return false;
	}
	return true;
}

// Rows and pieces are alike, as far as their start goes.
static uint64_t start_of(const void *items, size_t index)
{
	uint64_t start;

	_Static_assert(sizeof(struct pd_unit_row) == sizeof(struct pd_piece), "both are as large");
	_Static_assert(!offsetof(struct pd_piece, start) && !offsetof(struct pd_unit_row, addr), "and begin with it");
	memcpy(&start, (const struct pd_piece *)items + index, sizeof(start));
	return start;
}

// The areas, and how long they are together. Starts that go back are hostile, and begin no area.
static uint64_t find_areas(struct pd_unit_steps *steps, const void *items, size_t count)
{
	uint64_t start = start_of(items, 0), before = start, sum = 0;

	steps->areas[steps->area_count++].start = start;
	for (size_t i = 1; i < count; i++, before = start) {
		start = start_of(items, i);
		if (start < before || start - before > UINT64_MAX / 4)
			continue;
		if (start - before > FAR && steps->area_count < PD_UNIT_AREAS && start > steps->areas[steps->area_count - 1].start)
			steps->areas[steps->area_count++].start = start;
		else
			sum += sum < UINT64_MAX / 4 ? start - before : 0;
	}
	return sum;
}

static void size_steps(struct pd_unit_steps *steps, const void *items, size_t count)
{
	uint64_t sum, end;

	if (!count)
		return;
	sum = find_areas(steps, items, count);
	while (steps->shift < 63 && sum >> steps->shift > count / ITEMS_OF_STEP)
		steps->shift++;
	end = start_of(items, count - 1);
	for (unsigned i = 0; i < steps->area_count; i++) {
		struct pd_unit_area *area = &steps->areas[i];
		uint64_t last = i + 1 < steps->area_count ? steps->areas[i + 1].start - 1 : end, length;

		// what is far behind the last start of an area needs no steps
		length = last > area->start ? (last - area->start) >> steps->shift : 0;
		area->first = steps->count;
		area->count = (uint32_t)(length < count / ITEMS_OF_STEP ? length : count / ITEMS_OF_STEP) + 1;
		steps->count += area->count;
	}
}

// A step is the last element that starts up to its first address.
static void fill_steps(struct pd_unit_steps *steps, const void *items, size_t count)
{
	size_t item = 0;

	for (unsigned a = 0; a < steps->area_count; a++) {
		const struct pd_unit_area *area = &steps->areas[a];

		for (uint32_t i = 0; i < area->count; i++) {
			uint64_t from = area->start + ((uint64_t)i << steps->shift);

			while (item + 1 < count && start_of(items, item + 1) <= from)
				item++;
			steps->items[area->first + i] = (uint32_t)item;
		}
	}
}

static bool make_steps(struct pd_unit_table *t)
{
	size_steps(&t->row_steps, t->rows, t->row_count);
	size_steps(&t->piece_steps, t->pieces, t->piece_count);
	t->steps = pd_realloc(NULL, ((size_t)t->row_steps.count + t->piece_steps.count) * sizeof(*t->steps));
	if (!t->steps)
		return false;
	t->row_steps.items = t->steps;
	t->piece_steps.items = t->steps + t->row_steps.count;
	fill_steps(&t->row_steps, t->rows, t->row_count);
	fill_steps(&t->piece_steps, t->pieces, t->piece_count);
	return true;
}

bool pd_unit_table_take(struct pd_unit_table *table_out, void *block, size_t size)
{
	struct pd_unit_table t = {.block = block, .size = size};
	const uint8_t *at = block;
	struct head head;
	uint64_t need;

	if (size >= sizeof(head)) {
		memcpy(&head, block, sizeof(head));
		need = sizeof(head) + (uint64_t)head.row_count * sizeof(*t.rows) +
		       (uint64_t)head.piece_count * sizeof(*t.pieces) + (uint64_t)head.scope_count * sizeof(*t.scopes) +
		       head.texts_size;
		if (need == size) {
			// the block is aligned, and each part is a multiple of the next one's alignment
			t.rows = (const void *)(at + sizeof(head));
			t.pieces = (const void *)(t.rows + head.row_count);
			t.scopes = (const void *)(t.pieces + head.piece_count);
			t.texts = (const void *)(t.scopes + head.scope_count);
			t.row_count = head.row_count;
			t.piece_count = head.piece_count;
			t.scope_count = head.scope_count;
			t.texts_size = head.texts_size;
		}
	}
	if (!t.rows || !is_sound(&t) || !make_steps(&t)) {
		pd_free(block);
		return false;
	}
	*table_out = t;
	return true;
}

void pd_unit_table_fini(struct pd_unit_table *table)
{
	pd_free(table->block);
	pd_free(table->steps);
	*table = (struct pd_unit_table){.block = NULL};
}

// ---- lookup ----

// Where the last element that starts up to an address is among, by the steps; false if there is none.
static bool find_step(const struct pd_unit_steps *steps, size_t count, uint64_t addr, size_t *first_out,
		      size_t *count_out)
{
	const struct pd_unit_area *area = steps->areas + steps->area_count;
	uint64_t step;

	do {
		if (area == steps->areas)
			return false;
		area--;
	} while (addr < area->start);
	step = (addr - area->start) >> steps->shift;
	step = area->first + (step < area->count ? step : area->count - 1);
	*first_out = steps->items[step];
	*count_out = (step + 1 < steps->count ? steps->items[step + 1] + 1u : count) - *first_out;
	return true;
}

static const struct pd_unit_row *find_row(const struct pd_unit_table *t, uint64_t addr)
{
	const struct pd_unit_row *at = t->rows;
	size_t first, count;

	if (!find_step(&t->row_steps, t->row_count, addr, &first, &count))
		return NULL;
	at += first;
	while (count > 1) {
		size_t half = count / 2;

		at += at[half].addr <= addr ? half : 0;
		count -= half;
	}
	return at->file == PD_NO_TEXT ? NULL : at;
}

static uint32_t find_scope(const struct pd_unit_table *t, uint64_t addr)
{
	size_t first, count;

	if (!find_step(&t->piece_steps, t->piece_count, addr, &first, &count))
		return PD_NO_SCOPE;
	return pd_pieces_find(t->pieces + first, count, addr);
}

static const char *text_at(const struct pd_unit_table *t, uint32_t text)
{
	return text == PD_NO_TEXT || text == 0 ? NULL : t->texts + text;
}

size_t pd_unit_table_find(const struct pd_unit_table *t, uint64_t addr, struct pd_lines_frame *frames_out,
			  size_t capacity)
{
	const struct pd_unit_row *row = find_row(t, addr);
	uint32_t which = find_scope(t, addr);
	struct pd_lines_frame frame = {.name = NULL};
	size_t n = 0;

	if (row) {
		frame.file = text_at(t, row->file);
		frame.line = row->line;
	}
	if (which == PD_NO_SCOPE) {
		if (row && capacity)
			frames_out[0] = frame;
		return row != NULL;
	}
	while (which != PD_NO_SCOPE && n < DEEPEST) {
		const struct pd_unit_scope *scope = &t->scopes[which];

		frame.name = text_at(t, scope->name);
		frame.inlined = scope->parent != PD_NO_SCOPE;
		if (n < capacity)
			frames_out[n] = frame;
		n++;
		frame.file = text_at(t, scope->call_file);
		frame.line = scope->call_line;
		which = scope->parent;
	}
	return n;
}
