/* SPDX-License-Identifier: MIT */
/* Rows by their values: a hash table whose numbers are in the order in which rows were added. */
#include "report/rows/building.h"

#include <string.h>

enum {
	ROWS_AHEAD = 8
};

static size_t first_slot(const struct row_set *set, uint32_t who, uint32_t place)
{
	uint64_t hash = ((uint64_t)who << 32 | place) * UINT64_C(0x9e3779b97f4a7c15);

	hash = (hash ^ hash >> 32) * UINT64_C(0xd6e8feb86659fd93);
	return (hash ^ hash >> 32) & (set->slot_count - 1);
}

void pd_row_set_prefetch(const struct row_set *set, uint32_t who, uint32_t place)
{
	if (set->slot_count)
		__builtin_prefetch(&set->slots[first_slot(set, who, place)]);
}

/* The slot of these values, or where it could be. */
static struct row_slot *slot_of(const struct row_set *set, uint32_t who, uint32_t place)
{
	size_t at = first_slot(set, who, place);

	while (set->slots[at].row && (set->slots[at].who != who || set->slots[at].place != place))
		at = (at + 1) & (set->slot_count - 1);
	return &set->slots[at];
}

uint32_t pd_row_set_find(const struct row_set *set, uint32_t who, uint32_t place)
{
	return set->slot_count ? slot_of(set, who, place)->row - 1 : UINT32_MAX;
}

static bool grow_slots(struct row_set *set)
{
	size_t count = set->slot_count ? set->slot_count * 2 : 1024;
	struct row_slot *slots = pd_alloc(count * sizeof(*slots));

	if (!slots)
		return false;
	pd_free(set->slots);
	set->slots = slots;
	set->slot_count = count;
	for (size_t i = 0; i < set->count; i++)
		*slot_of(set, set->rows[i].who, set->rows[i].place) =
			(struct row_slot){ set->rows[i].who, set->rows[i].place, (uint32_t)i + 1 };
	return true;
}

static bool grow_rows(struct row_set *set)
{
	size_t capacity = set->capacity ? set->capacity * 2 : 256;
	struct row *rows = pd_realloc(set->rows, capacity * sizeof(*rows));
	struct pd_report_amounts *amounts;

	if (!rows)
		return false;
	set->rows = rows;
	amounts = pd_realloc(set->amounts, capacity * set->event_count * sizeof(*amounts));
	if (!amounts)
		return false;
	set->amounts = amounts;
	set->capacity = capacity;
	return true;
}

/* The number of the row with these values. False if there is no memory. */
bool pd_row_set_add(struct row_set *set, uint32_t who, uint32_t place, uint32_t *row_out)
{
	struct row_slot *slot;

	if (set->count * 2 >= set->slot_count && !grow_slots(set))
		return false;
	slot = slot_of(set, who, place);
	*row_out = slot->row - 1;
	if (slot->row)
		return true;
	if (set->count == set->capacity && !grow_rows(set))
		return false;
	*row_out = (uint32_t)set->count++;
	*slot = (struct row_slot){ who, place, *row_out + 1 };
	set->rows[*row_out] = (struct row){ .who = who, .place = place };
	memset(&set->amounts[*row_out * set->event_count], 0, set->event_count * sizeof(struct pd_report_amounts));
	return true;
}

/* Adds the rows of another one, and says what number each has. False if there is no memory. */
bool pd_row_set_join(struct row_set *set, const struct row_set *more, uint32_t *numbers)
{
	for (size_t i = 0; i < more->count; i++) {
		const struct row *row = &more->rows[i];
		const struct pd_report_amounts *from = &more->amounts[i * more->event_count];
		struct pd_report_amounts *to;

		if (i + ROWS_AHEAD < more->count)
			pd_row_set_prefetch(set, row[ROWS_AHEAD].who, row[ROWS_AHEAD].place);
		if (!pd_row_set_add(set, row->who, row->place, &numbers[i]))
			return false;
		to = &set->amounts[numbers[i] * set->event_count];
		for (size_t k = 0; k < set->event_count; k++) {
			to[k].period += from[k].period;
			to[k].samples += from[k].samples;
			to[k].kernel_period += from[k].kernel_period;
			to[k].user_period += from[k].user_period;
			to[k].children_period += from[k].children_period;
			to[k].children_samples += from[k].children_samples;
		}
		if (row->depth > set->rows[numbers[i]].depth)
			set->rows[numbers[i]].depth = row->depth;
	}
	return true;
}
