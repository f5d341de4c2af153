/* SPDX-License-Identifier: MIT */
/* Tables of values and of sets of values, numbered in the order in which they were added. */
#include "report/keys/values.h"

#include <string.h>

/* Values come from the recording; identities of its strings have a seed of their own that no file can know. */
static const uint64_t hash_seed = UINT64_C(0x9e3779b97f4a7c15);

bool pd_value_reserve(struct value_table *table, size_t count, size_t addr_count)
{
	struct value *more;

	pd_index_reserve(&table->index, addr_count);
	if (count <= table->capacity)
		return true;
	more = pd_realloc(table->items, count * sizeof(*more));
	if (!more)
		return false;
	table->items = more;
	table->capacity = count;
	return true;
}

bool pd_value_add(struct value_table *table, struct identity id, uint32_t *value_out)
{
	if (!PD_GROW(table->items, table->capacity, table->count + 1))
		return false;
	*value_out = (uint32_t)table->count;
	table->items[table->count++] = (struct value){ .a = id.a, .b = id.b };
	return true;
}

bool pd_value_find(struct value_table *table, struct identity id, uint32_t *value_out, bool *new_out)
{
	uint64_t hash = pd_hash_u64(pd_hash_u64(hash_seed, id.a), id.b);
	size_t at = (uint32_t)hash;

	*new_out = false;
	while ((*value_out = pd_index_next(&table->index, hash, &at)) != PD_INDEX_END)
		if (table->items[*value_out].a == id.a && table->items[*value_out].b == id.b)
			return true;
	*new_out = true;
	return pd_value_add(table, id, value_out) && pd_index_add(&table->index, hash, *value_out);
}

uint32_t *pd_value_indexed(struct value_table *table, size_t index)
{
	if (index >= table->index_count) {
		size_t count = index < 32 ? 64 : index * 2;
		uint32_t *more = pd_realloc(table->by_index, count * sizeof(*more));

		if (!more)
			return NULL;
		memset(more + table->index_count, 0, (count - table->index_count) * sizeof(*more));
		table->by_index = more;
		table->index_count = count;
	}
	return &table->by_index[index];
}

uint64_t pd_value_word(const char *text)
{
	uint64_t word = 0;

	for (unsigned i = 0; i < sizeof(word); i++) {
		word = word << 8 | (unsigned char)*text;
		text += *text != 0;
	}
	return word;
}

bool pd_value_set_text(struct value_table *table, uint32_t number, struct pd_bytes text, uint64_t order)
{
	struct value *value = &table->items[number];
	const char *copy = text.size > UINT32_MAX ?
				   NULL :
				   pd_arena_text(&table->texts, text.size ? text.data : (const void *)"", text.size);

	if (!copy)
		return false;
	value->text = copy;
	value->length = (uint32_t)text.size;
	value->order = order;
	if (!value->by_addr)
		value->word = pd_value_word(copy + value->unsorted);
	return true;
}

bool pd_value_find_text(struct value_table *table, const char *text, uint64_t order, uintptr_t seed,
			uint32_t *value_out)
{
	struct identity id = { (UINT64_C(0xcbf29ce484222325) ^ seed) + order, 0 };
	bool fresh;

	for (const char *at = text; *at; at++)
		id.a = (id.a ^ (unsigned char)*at) * UINT64_C(0x100000001b3);
	/* Strings with the same hash get the next free identity. */
	for (;; id.b++) {
		if (!pd_value_find(table, id, value_out, &fresh))
			return false;
		if (fresh ||
		    (table->items[*value_out].order == order && strcmp(table->items[*value_out].text, text) == 0))
			break;
	}
	return !fresh ||
	       pd_value_set_text(table, *value_out, (struct pd_bytes){ (const uint8_t *)text, strlen(text) }, order);
}

bool pd_value_find_number(struct value_table *table, uint64_t number, uint64_t order, const char *text,
			  uint32_t *value_out)
{
	bool fresh;

	if (!pd_value_find(table, (struct identity){ number, 0 }, value_out, &fresh))
		return false;
	return !fresh ||
	       pd_value_set_text(table, *value_out, (struct pd_bytes){ (const uint8_t *)text, strlen(text) }, order);
}

void pd_value_table_close(struct value_table *table)
{
	pd_index_fini(&table->index);
	pd_free(table->by_index);
	table->by_index = NULL;
	table->index_count = 0;
}

void pd_value_table_fini(struct value_table *table)
{
	pd_value_table_close(table);
	pd_free(table->items);
	pd_arena_fini(&table->texts);
	for (size_t i = 0; i < table->part_count; i++)
		pd_arena_fini(&table->part_texts[i]);
	pd_free(table->part_texts);
	pd_free(table->ranks);
	pd_free(table->exact);
}

/* ---- sets of values ---- */

bool pd_value_sets_reserve(struct value_sets *sets, size_t keys, size_t count)
{
	uint32_t *more;

	if (count <= sets->capacity)
		return true;
	/* There may be no keys. */
	more = pd_realloc(sets->values, count * keys * sizeof(*more) + 1);
	if (!more)
		return false;
	sets->values = more;
	sets->capacity = count;
	return true;
}

static bool add_set(struct value_sets *sets, const uint32_t *values, size_t keys)
{
	if (sets->count == sets->capacity &&
	    !pd_value_sets_reserve(sets, keys, sets->capacity ? sets->capacity * 2 : 256))
		return false;
	memcpy(&sets->values[sets->count++ * keys], values, keys * sizeof(*values));
	return true;
}

/* Where the first set with a value is. NULL if there is no memory. */
static uint32_t *first_of(struct value_sets *sets, uint32_t value)
{
	if (value >= sets->first_count) {
		size_t count = value < 32 ? 64 : (size_t)value * 2;
		uint32_t *more = pd_realloc(sets->firsts, count * sizeof(*more));

		if (!more)
			return NULL;
		memset(more + sets->first_count, 0, (count - sets->first_count) * sizeof(*more));
		sets->firsts = more;
		sets->first_count = count;
	}
	return &sets->firsts[value];
}

static bool find_other(struct value_sets *sets, const uint32_t *values, size_t keys, uint32_t *number_out)
{
	uint64_t hash = pd_hash(hash_seed, values, keys * sizeof(*values));
	size_t at = (uint32_t)hash;

	while ((*number_out = pd_index_next(&sets->index, hash, &at)) != PD_INDEX_END)
		if (memcmp(&sets->values[*number_out * keys], values, keys * sizeof(*values)) == 0)
			return true;
	*number_out = (uint32_t)sets->count;
	return add_set(sets, values, keys) && pd_index_add(&sets->index, hash, *number_out);
}

bool pd_value_set_find(struct value_sets *sets, const uint32_t *values, size_t keys, size_t by, uint32_t *number_out)
{
	uint32_t *first = first_of(sets, keys ? values[by] : 0);

	if (!first)
		return false;
	if (!*first) {
		*number_out = (uint32_t)sets->count;
		*first = *number_out + 1;
		return add_set(sets, values, keys);
	}
	*number_out = *first - 1;
	return memcmp(&sets->values[*number_out * keys], values, keys * sizeof(*values)) == 0 ||
	       find_other(sets, values, keys, number_out);
}

void pd_value_sets_close(struct value_sets *sets)
{
	pd_index_fini(&sets->index);
	pd_free(sets->firsts);
	sets->firsts = NULL;
	sets->first_count = 0;
}

void pd_value_sets_fini(struct value_sets *sets)
{
	pd_value_sets_close(sets);
	pd_free(sets->values);
}
