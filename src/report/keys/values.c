/* SPDX-License-Identifier: MIT */
/* Tables of values and of sets of values: hash tables whose numbers are in the order in which values were added. */
#include "report/keys/values.h"

#include <string.h>

static uint64_t hash_identity(struct identity id)
{
	uint64_t identity = id.a ^ (id.b << 32 | id.b >> 32) ^ id.b;

	identity *= UINT64_C(0x9e3779b97f4a7c15);
	identity = (identity ^ identity >> 32) * UINT64_C(0xd6e8feb86659fd93);
	return identity ^ identity >> 32;
}

/* More slots for numbers; what they number is not read. False if there is no memory. */
static bool grow_slots(struct number_slot **slots, size_t *slot_count)
{
	size_t count = *slot_count ? *slot_count * 4 : 64;
	struct number_slot *more = pd_alloc(count * sizeof(*more));

	if (!more)
		return false;
	for (size_t i = 0; i < *slot_count; i++) {
		size_t at = (*slots)[i].hash & (count - 1);

		if (!(*slots)[i].number)
			continue;
		while (more[at].number)
			at = (at + 1) & (count - 1);
		more[at] = (*slots)[i];
	}
	pd_free(*slots);
	*slots = more;
	*slot_count = count;
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
	uint32_t hash = (uint32_t)hash_identity(id);
	size_t at;

	*new_out = false;
	if (table->in_slots * 2 >= table->slot_count && !grow_slots(&table->slots, &table->slot_count))
		return false;
	for (at = hash & (table->slot_count - 1); table->slots[at].number; at = (at + 1) & (table->slot_count - 1)) {
		*value_out = table->slots[at].number - 1;
		if (table->slots[at].hash == hash && table->items[*value_out].a == id.a &&
		    table->items[*value_out].b == id.b)
			return true;
	}
	if (!pd_value_add(table, id, value_out))
		return false;
	*new_out = true;
	table->slots[at] = (struct number_slot){ hash, *value_out + 1 };
	table->in_slots++;
	return true;
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

void pd_value_table_fini(struct value_table *table)
{
	pd_free(table->items);
	pd_free(table->slots);
	pd_arena_fini(&table->texts);
	for (size_t i = 0; i < table->part_count; i++)
		pd_arena_fini(&table->part_texts[i]);
	pd_free(table->part_texts);
	pd_free(table->by_index);
	pd_free(table->ranks);
	pd_free(table->fine);
}

/* ---- sets of values ---- */

static size_t hash_values(const uint32_t *values, size_t count)
{
	uint64_t hash = 0;

	for (size_t i = 0; i < count; i++) {
		hash = (hash ^ values[i]) * UINT64_C(0x9e3779b97f4a7c15);
		hash ^= hash >> 29;
	}
	return (size_t)hash;
}

static bool add_set(struct value_sets *sets, const uint32_t *values, size_t keys)
{
	if (sets->count == sets->capacity) {
		size_t capacity = sets->capacity ? sets->capacity * 2 : 256;
		/* There may be no keys. */
		uint32_t *more = pd_realloc(sets->values, capacity * keys * sizeof(*more) + 1);

		if (!more)
			return false;
		sets->values = more;
		sets->capacity = capacity;
	}
	memcpy(&sets->values[sets->count++ * keys], values, keys * sizeof(*values));
	return true;
}

bool pd_value_set_find(struct value_sets *sets, const uint32_t *values, size_t keys, uint32_t *number_out)
{
	uint32_t hash = (uint32_t)hash_values(values, keys);
	size_t at;

	if (sets->count * 2 >= sets->slot_count && !grow_slots(&sets->slots, &sets->slot_count))
		return false;
	for (at = hash & (sets->slot_count - 1); sets->slots[at].number; at = (at + 1) & (sets->slot_count - 1)) {
		*number_out = sets->slots[at].number - 1;
		if (sets->slots[at].hash == hash &&
		    memcmp(&sets->values[*number_out * keys], values, keys * sizeof(*values)) == 0)
			return true;
	}
	*number_out = (uint32_t)sets->count;
	sets->slots[at] = (struct number_slot){ hash, *number_out + 1 };
	return add_set(sets, values, keys);
}

void pd_value_sets_fini(struct value_sets *sets)
{
	pd_free(sets->values);
	pd_free(sets->slots);
}
