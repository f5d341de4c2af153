/* SPDX-License-Identifier: MIT */
/*
 * Sorting is by radix, because tables of a million symbols are met. Pieces come from a sweep over the addresses with
 * a heap of the symbols that are open at a place; its top is the one that has the address.
 */
#include "object/symbols/inside.h"

#include <string.h>

#include "base/lookup/heap.h"
#include "base/lookup/search.h"
#include "base/radix.h"
#include "object/demangle/demangle.h"

enum {
	PAGE = 4096
};

static const size_t default_limit = (size_t)1 << 30;
static const uint32_t no_entry = PD_NO_SYMBOL;

struct pd_symtab_item {
	struct pd_symbol symbol;
	uint32_t rank; // of those that cover an address, the highest has it
	bool is_open;  // the size is not known; end is the most it can be
	// of the name as it is shown, counted up to the most that fits; no length: not counted yet
	uint8_t shown_underscores;
	uint16_t shown_length;
};

// Where something of unknown size ends if nothing else says so.
static uint64_t page_after(uint64_t addr)
{
	return addr > UINT64_MAX - 2 * PAGE ? UINT64_MAX : (addr + 2 * PAGE - 1) & -(uint64_t)PAGE;
}

static bool is_too_much(const struct pd_symtab_maker *maker, size_t name_length)
{
	size_t limit = maker->limit ? maker->limit : default_limit;
	size_t names = maker->name_bytes + name_length + 1;

	// sorting takes an item twice, a table less than that
	return maker->count >= limit / (2 * sizeof(struct pd_symtab_item)) || maker->count >= no_entry / 2 ||
	       names > limit || names > UINT32_MAX;
}

void pd_symtab_add(struct pd_symtab_maker *maker, const struct pd_symbol *symbol, uint64_t most)
{
	struct pd_symtab_item item = { .symbol = *symbol,
				       .rank = (uint32_t)maker->count,
				       .is_open = symbol->end <= symbol->start };

	if (maker->out_of_memory || maker->over_limit)
		return;
	// the last address of all cannot be covered, since an end stands after it
	if ((symbol->kind != PD_SYMBOL_BOUND && !symbol->name_length) || symbol->start == UINT64_MAX)
		return;
	if (item.is_open && most && most <= symbol->start)
		return;
	if (item.is_open)
		item.symbol.end = most ? most : UINT64_MAX;
	if (is_too_much(maker, symbol->name_length))
		maker->over_limit = true;
	else if (!PD_GROW(maker->items, maker->capacity, maker->count + 1))
		maker->out_of_memory = true;
	if (maker->out_of_memory || maker->over_limit)
		return;
	maker->items[maker->count++] = item;
	maker->name_bytes += symbol->name_length + 1u;
}

void pd_symtab_maker_fini(struct pd_symtab_maker *maker)
{
	pd_free(maker->items);
	pd_free(maker->shown.data);
	maker->shown = (struct pd_text){ .data = NULL };
	pd_arena_fini(&maker->names);
	maker->items = NULL;
	maker->count = maker->capacity = maker->name_bytes = 0;
	maker->out_of_memory = maker->over_limit = false;
}

// ---- sorting ----

static uint64_t start_of(const void *item)
{
	return ((const struct pd_symtab_item *)item)->symbol.start;
}

// By start; those that start together stay in the order in which they came.
static bool sort_items(struct pd_symtab_maker *maker)
{
	struct pd_symtab_item *spare, *sorted;

	if (pd_radix_is_sorted(maker->items, maker->count, sizeof(*maker->items), start_of))
		return true;
	spare = pd_realloc(NULL, maker->count * sizeof(*spare));
	if (!spare)
		return false;
	sorted = pd_radix_sort(maker->items, spare, maker->count, sizeof(*spare), start_of);
	pd_free(sorted == spare ? maker->items : spare);
	maker->items = sorted;
	maker->capacity = maker->count;
	return true;
}

// ---- names of one address ----

static void count_name(struct pd_symtab_item *item, const char *name, size_t length)
{
	size_t underscores = 0;

	while (underscores < length && name[underscores] == '_')
		underscores++;
	item->shown_underscores = underscores < UINT8_MAX ? (uint8_t)underscores : UINT8_MAX;
	item->shown_length = length < UINT16_MAX ? (uint16_t)length : UINT16_MAX;
}

// perf takes names apart before it compares them.
static void count_shown_name(struct pd_symtab_maker *maker, struct pd_symtab_item *item)
{
	const struct pd_symbol *symbol = &item->symbol;

	if (item->shown_length)
		return;
	maker->shown.size = 0;
	if (pd_demangle(&maker->shown, symbol->name, symbol->name_length))
		count_name(item, maker->shown.data, maker->shown.size);
	else
		count_name(item, symbol->name, symbol->name_length);
	maker->out_of_memory |= maker->shown.failed;
}

// Constructors, or destructors, of one class that are only of another kind ("C1", "C2") are shown by one name. Most
// names that share an address are these.
static bool have_one_shown_name(const struct pd_symbol *a, const struct pd_symbol *b)
{
	size_t i = 0;

	if (a->name_length != b->name_length)
		return false;
	while (i < a->name_length && a->name[i] == b->name[i])
		i++;
	return i && i < a->name_length && (a->name[i - 1] == 'C' || a->name[i - 1] == 'D') && a->name[i] >= '0' &&
	       a->name[i] <= '4' && b->name[i] >= '0' && b->name[i] <= '4' &&
	       memcmp(a->name + i + 1, b->name + i + 1, a->name_length - i - 1) == 0;
}

static int compare_shown_names(struct pd_symtab_maker *maker, struct pd_symtab_item *a, struct pd_symtab_item *b)
{
	int underscores;

	if (have_one_shown_name(&a->symbol, &b->symbol))
		return 0;
	count_shown_name(maker, a);
	count_shown_name(maker, b);
	underscores = (a->shown_underscores < b->shown_underscores) - (a->shown_underscores > b->shown_underscores);
	return underscores ? underscores : (a->shown_length > b->shown_length) - (a->shown_length < b->shown_length);
}

static bool begins(const struct pd_symtab_item *item, const char *prefix)
{
	size_t length = strlen(prefix);

	return item->symbol.name_length >= length && memcmp(item->symbol.name, prefix, length) == 0;
}

// Larger is better, the first that differs decides. a came before b; what has no size goes to the next start, so that of
// those at one address only the last one is not empty.
static int compare_names(struct pd_symtab_maker *maker, struct pd_symtab_item *a, struct pd_symtab_item *b,
			 bool b_is_last)
{
	bool a_alias = begins(a, "SyS") || begins(a, "compat_SyS");
	bool both_open = a->is_open && b->is_open && a->symbol.kind != PD_SYMBOL_BOUND &&
			 b->symbol.kind != PD_SYMBOL_BOUND;
	int differ[] = {
		(a->symbol.kind != PD_SYMBOL_BOUND) - (b->symbol.kind != PD_SYMBOL_BOUND),
		!a->is_open - (!b->is_open || b_is_last),
		-both_open,
		(a->symbol.bind != PD_BIND_WEAK) - (b->symbol.bind != PD_BIND_WEAK),
		(a->symbol.bind == PD_BIND_GLOBAL) - (b->symbol.bind == PD_BIND_GLOBAL),
	};
	int shown;

	for (size_t i = 0; i < sizeof(differ) / sizeof(differ[0]); i++)
		if (differ[i])
			return differ[i];
	shown = compare_shown_names(maker, a, b);
	return shown ? shown : a_alias ? -1 : 1;
}

size_t pd_symtab_maker_count(const struct pd_symtab_maker *maker)
{
	return maker->count;
}

const struct pd_symbol *pd_symtab_maker_at(const struct pd_symtab_maker *maker, size_t index)
{
	return &maker->items[index].symbol;
}

bool pd_symtab_maker_prefers(struct pd_symtab_maker *maker, size_t first, size_t second)
{
	return compare_names(maker, &maker->items[first], &maker->items[second], false) < 0;
}

// Keeps the best symbol of each address. A bound stays only where nothing else starts.
static void keep_best(struct pd_symtab_maker *maker)
{
	struct pd_symtab_item *items = maker->items;
	size_t kept = 0;

	for (size_t i = 0; i < maker->count; i++) {
		struct pd_symtab_item *last = kept ? &items[kept - 1] : NULL;
		bool is_last = i + 1 == maker->count || items[i + 1].symbol.start != items[i].symbol.start;

		if (!last || last->symbol.start != items[i].symbol.start)
			items[kept++] = items[i];
		else if (compare_names(maker, last, &items[i], is_last) < 0)
			*last = items[i];
	}
	maker->count = kept;
}

// ---- ends ----

// What has no size goes to the next start. From one owner to another there may be any distance, and after the last one
// may be nothing: not further than about a page then.
static void end_items(struct pd_symtab_maker *maker)
{
	const struct pd_symbol *next = NULL;

	for (size_t i = maker->count; i-- > 0;) {
		struct pd_symtab_item *item = &maker->items[i];
		struct pd_symbol *symbol = &item->symbol;
		uint64_t page = page_after(symbol->start);

		if (i + 1 < maker->count && item[1].symbol.start != symbol->start)
			next = &item[1].symbol;
		if (!item->is_open)
			continue;
		if (next && next->start < symbol->end)
			symbol->end = next->start;
		if ((!next && symbol->end == UINT64_MAX) || (next && next->owner != symbol->owner))
			symbol->end = page < symbol->end ? page : symbol->end;
	}
}

static void drop_bounds(struct pd_symtab_maker *maker)
{
	size_t kept = 0;

	for (size_t i = 0; i < maker->count; i++)
		if (maker->items[i].symbol.kind != PD_SYMBOL_BOUND)
			maker->items[kept++] = maker->items[i];
	maker->count = kept;
}

// ---- pieces ----

struct sweep {
	struct pd_symtab_item *items;
	struct pd_symtab *table;
	struct pd_heap heap; // items, in the order of their ranks
};

// The item that has the address.
static uint32_t top(const struct sweep *s)
{
	return (uint32_t)s->heap.items[0];
}

static void put_piece(struct pd_symtab *table, uint64_t start, uint32_t which)
{
	size_t n = table->piece_count;

	if (n && table->pieces[n - 1].start == start)
		table->pieces[n - 1].which = which;
	else if (!n || table->pieces[n - 1].which != which)
		table->pieces[table->piece_count++] = (struct pd_symtab_piece){ start, which, 0 };
}

static uint64_t top_end(const struct sweep *s)
{
	return s->items[top(s)].symbol.end;
}

// Closes what ends up to a place.
static void sweep_to(struct sweep *s, uint64_t place)
{
	while (s->heap.count && top_end(s) <= place) {
		uint64_t end = top_end(s);

		while (s->heap.count && top_end(s) <= end)
			pd_heap_pop(&s->heap);
		put_piece(s->table, end, s->heap.count ? top(s) : no_entry);
	}
}

static void sweep(struct sweep *s, size_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		struct pd_symtab_item *item = &s->items[i];

		sweep_to(s, item->symbol.start);
		// a label inside of a function ends with it
		if (item->is_open && s->heap.count && item->symbol.end > top_end(s))
			item->symbol.end = top_end(s);
		pd_heap_push(&s->heap, (uint64_t)item->rank << 32 | i);
		put_piece(s->table, item->symbol.start, top(s));
	}
	sweep_to(s, UINT64_MAX);
}

// ---- the table ----

static void put_entries(struct pd_symtab *table, const struct pd_symtab_item *items, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const struct pd_symbol *symbol = &items[i].symbol;

		table->entries[i] = (struct pd_symtab_entry){
			.start = symbol->start,
			.end = symbol->end,
			.name = (uint32_t)table->names_size,
			.name_length = symbol->name_length,
			.owner = symbol->owner,
			.bind = symbol->bind,
			.kind = symbol->kind,
		};
		memcpy(table->names + table->names_size, symbol->name, symbol->name_length);
		table->names_size += symbol->name_length;
		table->names[table->names_size++] = 0;
	}
	table->count = count;
}

static void *shrink(void *memory, size_t size)
{
	void *smaller = pd_realloc(memory, size);

	return smaller ? smaller : memory;
}

// About one bucket for as many pieces as stand in a line of the cache. A bucket has the piece that its first address is in.
static void fill_buckets(struct pd_symtab *table)
{
	const size_t in_line = 64 / sizeof(*table->near);
	uint64_t range = table->piece_count ? table->pieces[table->piece_count - 1].start - table->base : 0;
	size_t piece = 0;

	while (table->bucket_shift < 63 && range >> table->bucket_shift > table->piece_count / in_line)
		table->bucket_shift++;
	table->bucket_count = (size_t)(range >> table->bucket_shift) + 1;
	for (size_t i = 0; i < table->bucket_count; i++) {
		uint64_t from = table->base + ((uint64_t)i << table->bucket_shift);

		while (piece + 1 < table->piece_count && table->pieces[piece + 1].start <= from)
			piece++;
		table->buckets[i] = (uint32_t)piece;
	}
}

// Pieces take half of the memory where they are near. Without memory they stay as they are.
static void bring_near(struct pd_symtab *table)
{
	struct pd_symtab_near *near;

	if (!table->piece_count || table->pieces[table->piece_count - 1].start - table->base > UINT32_MAX)
		return;
	near = pd_realloc(NULL, table->piece_count * sizeof(*near));
	if (!near)
		return;
	for (size_t i = 0; i < table->piece_count; i++)
		near[i] = (struct pd_symtab_near){ (uint32_t)(table->pieces[i].start - table->base),
						   table->pieces[i].which };
	pd_free(table->pieces);
	table->pieces = NULL;
	table->near = near;
}

static bool fill(struct pd_symtab *table, struct pd_symtab_maker *maker)
{
	struct sweep s = { .items = maker->items, .table = table };
	size_t name_bytes = 0;

	for (size_t i = 0; i < maker->count; i++) {
		if (maker->rule == PD_SYMTAB_INNER)
			maker->items[i].rank = (uint32_t)i;
		name_bytes += maker->items[i].symbol.name_length + 1u;
	}
	s.heap.items = pd_realloc(NULL, maker->count * sizeof(*s.heap.items));
	table->entries = pd_realloc(NULL, maker->count * sizeof(*table->entries));
	table->pieces = pd_realloc(NULL, maker->count * 2 * sizeof(*table->pieces));
	table->buckets = pd_realloc(NULL, (maker->count * 2 + 2) * sizeof(*table->buckets));
	table->names = pd_realloc(NULL, name_bytes);
	if (s.heap.items && table->entries && table->pieces && table->buckets && table->names) {
		sweep(&s, maker->count);
		table->base = table->piece_count ? table->pieces[0].start : 0;
		fill_buckets(table);
		put_entries(table, maker->items, maker->count);
	}
	pd_free(s.heap.items);
	if (table->count != maker->count)
		return false;
	// most pieces touch the next one, so that half of the room is left over
	bring_near(table);
	if (table->pieces)
		table->pieces = shrink(table->pieces, table->piece_count * sizeof(*table->pieces));
	table->buckets = shrink(table->buckets, table->bucket_count * sizeof(*table->buckets));
	return true;
}

enum pd_status pd_symtab_make(struct pd_symtab_maker *maker, struct pd_symtab **table_out, struct pd_error *error)
{
	struct pd_symtab *table = maker->out_of_memory || maker->over_limit ? NULL : pd_alloc(sizeof(*table));
	bool ok = table && sort_items(maker);
	enum pd_status status = PD_OK;

	if (ok) {
		if (maker->rule == PD_SYMTAB_INNER)
			keep_best(maker);
		end_items(maker);
		drop_bounds(maker);
		ok = !maker->out_of_memory && fill(table, maker);
	}
	if (maker->over_limit)
		status = pd_fail(error, PD_ERROR_LIMIT, PD_NO_OFFSET, "more symbols than the limit");
	else if (!ok)
		status = pd_fail_memory(error);
	if (status == PD_OK)
		*table_out = table;
	else
		pd_symtab_free(table);
	pd_symtab_maker_fini(maker);
	return status;
}

void pd_symtab_free(struct pd_symtab *table)
{
	if (!table)
		return;
	if (!table->block) {
		pd_free(table->entries);
		pd_free(table->pieces);
		pd_free(table->near);
		pd_free(table->buckets);
		pd_free(table->names);
	}
	pd_symtab_close_pages(table);
	pd_free(table->block);
	pd_free(table);
}

struct pd_symbol pd_symtab_at(const struct pd_symtab *table, size_t index)
{
	const struct pd_symtab_entry *entry;
	const char *names = table->names;

	if (!table->loaded)
		entry = &table->entries[index];
	else if (!(entry = pd_symtab_load(table, index, &names)))
		return (struct pd_symbol){ .name = NULL };
	return (struct pd_symbol){
		.start = entry->start,
		.end = entry->end,
		.name = names + entry->name,
		.name_length = entry->name_length,
		.owner = entry->owner,
		.bind = entry->bind,
		.kind = entry->kind,
	};
}

// The last piece that starts at an address or before, of some of which the first one does.
static size_t find_piece(const struct pd_symtab *table, size_t first, size_t count, uint64_t addr)
{
	size_t at;

	if (table->near) {
		const struct pd_symtab_near *near = &table->near[first];

		PD_SEARCH_LAST(at, count, i, near[i].start <= addr - table->base);
	} else {
		const struct pd_symtab_piece *pieces = &table->pieces[first];

		PD_SEARCH_LAST(at, count, i, pieces[i].start <= addr);
	}
	return first + at;
}

uint32_t pd_symtab_find_index(const struct pd_symtab *table, uint64_t addr)
{
	size_t count = table->piece_count, first;
	uint64_t bucket;

	if (!count || addr < table->base)
		return no_entry;
	bucket = (addr - table->base) >> table->bucket_shift;
	if (bucket + 1 < table->bucket_count)
		count = table->buckets[bucket + 1] + 1u;
	bucket = bucket < table->bucket_count ? bucket : table->bucket_count - 1;
	first = table->buckets[bucket];
	return pd_symtab_piece_which(table, find_piece(table, first, count - first, addr));
}

void pd_symtab_prefetch(const struct pd_symtab *table, uint64_t addr, unsigned stage)
{
	uint64_t bucket = table->piece_count ? (addr - table->base) >> table->bucket_shift : 0;

	// addresses before the first one are too large here
	if (bucket >= table->bucket_count)
		return;
	if (!stage)
		__builtin_prefetch(&table->buckets[bucket]);
	else if (table->near)
		__builtin_prefetch(&table->near[table->buckets[bucket]]);
	else
		__builtin_prefetch(&table->pieces[table->buckets[bucket]]);
}

bool pd_symtab_find(const struct pd_symtab *table, uint64_t addr, struct pd_symbol *symbol_out)
{
	uint32_t which = pd_symtab_find_index(table, addr);

	if (which == no_entry)
		return false;
	*symbol_out = pd_symtab_at(table, which);
	return symbol_out->name;
}

size_t pd_symtab_count(const struct pd_symtab *table)
{
	return table->count;
}
