/* SPDX-License-Identifier: MIT */
/* Rows by their values, numbered in the order in which they were added. */
#include "report/rows/building.h"

#include <string.h>

enum {
	ROWS_AHEAD = 8
};

static uint64_t key_of(uint32_t who, uint32_t place)
{
	return (uint64_t)who << 32 | place;
}

void pd_row_set_prefetch(const struct row_set *set, uint32_t who, uint32_t place)
{
	pd_u64_map_prefetch(&set->numbers, key_of(who, place));
}

uint32_t pd_row_set_find(const struct row_set *set, uint32_t who, uint32_t place)
{
	return (uint32_t)pd_u64_map_find(&set->numbers, key_of(who, place)) - 1;
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
	uint64_t number = pd_u64_map_find(&set->numbers, key_of(who, place));

	*row_out = (uint32_t)number - 1;
	if (number)
		return true;
	if ((set->count == set->capacity && !grow_rows(set)) ||
	    !pd_u64_map_add(&set->numbers, key_of(who, place), set->count + 1))
		return false;
	*row_out = (uint32_t)set->count++;
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

		if (i + ROWS_AHEAD < more->count)
			pd_row_set_prefetch(set, row[ROWS_AHEAD].who, row[ROWS_AHEAD].place);
		if (!pd_row_set_add(set, row->who, row->place, &numbers[i]))
			return false;
		pd_amounts_add(&set->amounts[numbers[i] * set->event_count], from, set->event_count);
		if (row->depth > set->rows[numbers[i]].depth)
			set->rows[numbers[i]].depth = row->depth;
	}
	return true;
}
