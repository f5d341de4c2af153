/* SPDX-License-Identifier: MIT */
/*
 * Entries of one chunk by time. Recorders drain one ring after another, and what is in a ring is in order: so a chunk is made of
 * runs, and runs that follow one another are piled up. Then there are as many piles as there were rings, and these are merged.
 * Where there are too many, runs are merged with their neighbours until one is left.
 */
#include "stream/order/entry.h"

#include <string.h>

enum {
	PILES = 32
};

struct pd_entry_run {
	uint32_t end;
	uint32_t pile;
};

struct pile {
	size_t last; // entry
	size_t size; // entries; then where the next one goes
};

void pd_entry_sorter_fini(struct pd_entry_sorter *sorter)
{
	pd_free(sorter->spare);
	pd_free(sorter->runs);
	*sorter = (struct pd_entry_sorter){ 0 };
}

// End of the ascending run that begins at i.
static size_t run_end(const struct pd_entry *entries, size_t count, size_t i)
{
	for (i++; i < count; i++)
		if (entries[i].time_ns <= entries[i - 1].time_ns && pd_entry_is_before(&entries[i], &entries[i - 1]))
			break;
	return i;
}

// No two are equal.
static inline bool is_older(const struct pd_entry *a, const struct pd_entry *b)
{
	uint64_t x = (uint64_t)pd_entry_rank(a) << 32 | a->at, y = (uint64_t)pd_entry_rank(b) << 32 | b->at;

	return (a->time_ns < b->time_ns) | ((a->time_ns == b->time_ns) & (x < y));
}

// No branch depends on which is older: that cannot be foreseen.
static void merge(const struct pd_entry *a, size_t a_count, const struct pd_entry *b, size_t b_count,
		  struct pd_entry *out)
{
	const struct pd_entry *a_end = a + a_count, *b_end = b + b_count;

	while (a < a_end && b < b_end) {
		bool second = is_older(b, a);

		*out++ = *(second ? b : a);
		b += second;
		a += !second;
	}
	memcpy(out, a < a_end ? a : b, (size_t)(a_end - a + b_end - b) * sizeof(*out));
}

// Merges neighbours of runs that end at ends. Returns how many are left.
static size_t merge_pairs(const struct pd_entry *in, struct pd_entry_run *runs, size_t count, struct pd_entry *out)
{
	size_t begin = 0, left = 0;

	for (size_t i = 0; i < count; i += 2) {
		size_t middle = runs[i].end, end = i + 1 < count ? runs[i + 1].end : middle;

		merge(in + begin, middle - begin, in + middle, end - middle, out + begin);
		runs[left++].end = (uint32_t)(begin = end);
	}
	return left;
}

// ---- piles ----

// The pile that the run from i on continues best; a new one if there is none. PILES: too many.
static size_t find_pile(const struct pd_entry *entries, struct pile *piles, size_t *count, size_t i)
{
	size_t best = PILES;

	for (size_t at = 0; at < *count; at++)
		if (!pd_entry_is_before(&entries[i], &entries[piles[at].last]) &&
		    (best == PILES || pd_entry_is_before(&entries[piles[best].last], &entries[piles[at].last])))
			best = at;
	if (best == PILES && *count < PILES) {
		best = (*count)++;
		piles[best].size = 0;
	}
	return best;
}

// Finds runs, and the piles that they are of as long as these are not too many. Returns how many runs there are. False if there
// is no memory.
static bool find_runs(const struct pd_entry *entries, size_t count, struct pd_entry_sorter *sorter, size_t *run_count,
		      struct pile *piles, size_t *pile_count)
{
	bool piled = true;

	*run_count = *pile_count = 0;
	for (size_t i = 0, end; i < count; i = end) {
		size_t pile = piled ? find_pile(entries, piles, pile_count, i) : PILES;

		end = run_end(entries, count, i);
		if (!PD_GROW(sorter->runs, sorter->run_capacity, *run_count + 1))
			return false;
		sorter->runs[(*run_count)++] = (struct pd_entry_run){ (uint32_t)end, (uint32_t)pile };
		piled = pile < PILES;
		if (piled) {
			piles[pile].last = end - 1;
			piles[pile].size += end - i;
		}
	}
	*pile_count = piled ? *pile_count : 0;
	return true;
}

// Moves runs to their piles, one pile after another: these are the runs then.
static void pile_up(const struct pd_entry *entries, struct pd_entry_sorter *sorter, size_t run_count,
		    struct pile *piles, size_t pile_count)
{
	size_t begin = 0, end = 0;

	for (size_t i = 0; i < pile_count; i++) {
		size_t size = piles[i].size;

		piles[i].size = end;
		end += size;
	}
	for (size_t i = 0; i < run_count; i++) {
		struct pile *pile = &piles[sorter->runs[i].pile];
		size_t size = sorter->runs[i].end - begin;

		memcpy(sorter->spare + pile->size, entries + begin, size * sizeof(*entries));
		pile->size += size;
		begin = sorter->runs[i].end;
	}
	for (size_t i = 0; i < pile_count; i++)
		sorter->runs[i].end = (uint32_t)piles[i].size;
}

static void swap_spare(struct pd_entry **entries, size_t *capacity, struct pd_entry_sorter *sorter)
{
	struct pd_entry *spare = sorter->spare;
	size_t spare_capacity = sorter->capacity;

	sorter->spare = *entries;
	sorter->capacity = *capacity;
	*entries = spare;
	*capacity = spare_capacity;
}

bool pd_entries_sort(struct pd_entry **entries, size_t *capacity, size_t count, struct pd_entry_sorter *sorter)
{
	struct pile piles[PILES];
	size_t runs, pile_count;

	if (count < 2 || run_end(*entries, count, 0) == count)
		return true;
	if (!PD_GROW(sorter->spare, sorter->capacity, count) ||
	    !find_runs(*entries, count, sorter, &runs, piles, &pile_count))
		return false;
	if (pile_count) {
		pile_up(*entries, sorter, runs, piles, pile_count);
		swap_spare(entries, capacity, sorter);
		runs = pile_count;
	}
	while (runs > 1) {
		runs = merge_pairs(*entries, sorter->runs, runs, sorter->spare);
		swap_spare(entries, capacity, sorter);
	}
	return true;
}
