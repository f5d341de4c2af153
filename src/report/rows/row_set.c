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

void pd_row_set_fini(struct row_set *set)
{
	pd_free(set->rows);
	pd_free(set->amounts);
	pd_free(set->firsts);
	pd_u64_map_fini(&set->numbers);
}

void pd_row_set_prefetch(const struct row_set *set, uint32_t who, uint32_t place)
{
	if (place >= set->first_count)
		return;
	__builtin_prefetch(&set->firsts[place]);
	pd_u64_map_prefetch(&set->numbers, key_of(who, place));
}

uint32_t pd_row_set_find(const struct row_set *set, uint32_t who, uint32_t place)
{
	const struct first_row *first = place < set->first_count ? &set->firsts[place] : NULL;

	if (first && first->who == who && first->row_plus_1)
		return first->row_plus_1 - 1;
	return (uint32_t)pd_u64_map_find(&set->numbers, key_of(who, place)) - 1;
}

static bool grow_firsts(struct row_set *set, uint32_t place)
{
	size_t count = place < 128 ? 256 : (size_t)place * 2;
	struct first_row *firsts = pd_realloc(set->firsts, count * sizeof(*firsts));

	if (!firsts)
		return false;
	memset(firsts + set->first_count, 0, (count - set->first_count) * sizeof(*firsts));
	set->firsts = firsts;
	set->first_count = count;
	return true;
}

bool pd_row_set_reserve(struct row_set *set, size_t count)
{
	struct pd_report_amounts *amounts;
	struct row *rows;

	if (count <= set->capacity)
		return true;
	rows = pd_realloc(set->rows, count * sizeof(*rows));
	if (!rows)
		return false;
	set->rows = rows;
	amounts = pd_realloc(set->amounts, count * set->event_count * sizeof(*amounts));
	if (!amounts)
		return false;
	set->amounts = amounts;
	set->capacity = count;
	return true;
}

static bool grow_rows(struct row_set *set)
{
	return pd_row_set_reserve(set, set->capacity ? set->capacity * 2 : 256);
}

/* The number of the row with these values. False if there is no memory. */
bool pd_row_set_add(struct row_set *set, uint32_t who, uint32_t place, uint32_t *row_out)
{
	struct first_row *first;

	*row_out = pd_row_set_find(set, who, place);
	if (*row_out != UINT32_MAX)
		return true;
	if ((set->count == set->capacity && !grow_rows(set)) || (place >= set->first_count && !grow_firsts(set, place)))
		return false;
	first = &set->firsts[place];
	if (!first->row_plus_1)
		*first = (struct first_row){ who, (uint32_t)set->count + 1 };
	else if (!pd_u64_map_add(&set->numbers, key_of(who, place), set->count + 1))
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
