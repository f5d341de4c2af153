/* SPDX-License-Identifier: MIT */
#include "stream/order/split.h"

#include <stdlib.h>

#include "base/lookup/search.h"

static int compare_pieces(const void *a, const void *b)
{
	const struct pd_piece *left = a, *right = b;

	if (left->times.oldest_ns != right->times.oldest_ns)
		return left->times.oldest_ns < right->times.oldest_ns ? -1 : 1;
	return (left->place > right->place) - (left->place < right->place);
}

static bool has_samples(const struct pd_piece *piece)
{
	return piece->times.oldest_ns <= piece->times.newest_ns;
}

static bool is_timed(const struct pd_pieces *pieces)
{
	for (size_t i = 0; i < pieces->count; i++)
		if (pieces->items[i].timeless)
			return false;
	return !pieces->once;
}

static void sort_pieces(struct pd_split *split)
{
	const struct pd_pieces *pieces = split->pieces;
	uint64_t newest_ns = 0;

	for (size_t i = 0; i < pieces->count; i++)
		if (has_samples(&pieces->items[i]))
			split->by_age[split->piece_count++] = pieces->items[i];
	qsort(split->by_age, split->piece_count, sizeof(*split->by_age), compare_pieces);
	for (size_t i = 0; i < split->piece_count; i++) {
		const struct pd_piece *piece = &split->by_age[i];

		newest_ns = piece->times.newest_ns > newest_ns ? piece->times.newest_ns : newest_ns;
		split->newest_ns[i] = newest_ns;
	}
}

static void place_seams(struct pd_split *split, uint64_t bytes)
{
	uint64_t done = 0;

	for (size_t i = 0; i < split->piece_count; i++) {
		const struct pd_piece *piece = &split->by_age[i];

		if (!split->count || (done >= bytes && piece->times.oldest_ns > split->begin_ns[split->count - 1])) {
			split->begin_ns[split->count] = split->count ? piece->times.oldest_ns : 0;
			split->count++;
			done = 0;
		}
		done += piece->end - piece->begin;
	}
	split->begin_ns[split->count] = UINT64_MAX;
}

bool pd_split_make(struct pd_split *split, const struct pd_pieces *pieces, uint64_t bytes)
{
	*split = (struct pd_split){ .pieces = pieces };
	if (!is_timed(pieces))
		return true;
	split->by_age = pd_alloc(pieces->count * sizeof(*split->by_age) + 1);
	split->newest_ns = pd_alloc(pieces->count * sizeof(*split->newest_ns) + 1);
	split->begin_ns = pd_alloc((pieces->count + 1) * sizeof(*split->begin_ns));
	if (!split->by_age || !split->newest_ns || !split->begin_ns)
		return false;
	sort_pieces(split);
	place_seams(split, bytes);
	return true;
}

void pd_split_fini(struct pd_split *split)
{
	pd_free(split->by_age);
	pd_free(split->newest_ns);
	pd_free(split->begin_ns);
	*split = (struct pd_split){ 0 };
}

// The first piece with which one that is as new as that was among those up to it.
static size_t first_with(const struct pd_split *split, uint64_t time_ns)
{
	size_t low;

	PD_SEARCH(low, 0, split->piece_count, i, split->newest_ns[i] < time_ns);
	return low;
}

bool pd_split_part(const struct pd_split *split, size_t part, struct pd_pieces *pieces_out, uint64_t *from_ns_out,
		   uint64_t *to_ns_out)
{
	uint64_t from_ns = split->begin_ns[part], to_ns = split->begin_ns[part + 1];

	*from_ns_out = from_ns;
	*to_ns_out = to_ns;
	// what the pass reported is shared
	*pieces_out = *split->pieces;
	pieces_out->items = NULL;
	pieces_out->count = pieces_out->capacity = 0;
	for (size_t i = first_with(split, from_ns); i < split->piece_count && split->by_age[i].times.oldest_ns < to_ns;
	     i++) {
		if (split->by_age[i].times.newest_ns < from_ns)
			continue;
		if (!PD_GROW(pieces_out->items, pieces_out->capacity, pieces_out->count + 1)) {
			pd_free(pieces_out->items);
			return false;
		}
		pieces_out->items[pieces_out->count++] = split->by_age[i];
	}
	return true;
}
