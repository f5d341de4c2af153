/* SPDX-License-Identifier: MIT */
#include "stream/order/merge.h"

#include <string.h>

#include "base/lookup/search.h"

enum {
	AT_ONCE = 4096,  // entries that are merged, about
	LEAST_EACH = 256 // of a chunk: many chunks are not searched for a few entries
};

void pd_merged_fini(struct pd_merging *merge)
{
	pd_free(merge->items);
	pd_free(merge->spare);
	pd_free(merge->ends);
	*merge = (struct pd_merging){ 0 };
}

// ---- how many ----

// Where a frontier is in a chunk.
static size_t find_end(const struct pd_chunk *chunk, struct pd_frontier frontier)
{
	const struct pd_entry *entries = chunk->memory.entries;
	int most = chunk->ordinal < frontier.ordinal ? 0 : -1;
	size_t end = chunk->count;

	// mostly all or nothing
	if (end > chunk->next && pd_key_compare(pd_entry_key(&entries[end - 1]), frontier.key) > most)
		PD_SEARCH(end, chunk->next, chunk->count, i,
			  pd_key_compare(pd_entry_key(&entries[i]), frontier.key) <= most);
	return end;
}

// Sets where the part of each chunk ends. Returns how many entries these are.
static size_t find_ends(struct pd_chunk *const *chunks, size_t count, struct pd_frontier frontier)
{
	size_t total = 0;

	for (size_t i = 0; i < count; i++) {
		chunks[i]->end = find_end(chunks[i], frontier);
		total += chunks[i]->end - chunks[i]->next;
	}
	return total;
}

// No chunk gives more than so many: the first entry that is left over is the frontier.
static size_t narrow_ends(struct pd_chunk *const *chunks, size_t count, size_t most)
{
	struct pd_chunk *nearest = NULL;
	size_t total;

	for (size_t i = 0; i < count; i++)
		if (chunks[i]->end - chunks[i]->next > most &&
		    (!nearest ||
		     pd_entry_compare(pd_chunk_first(chunks[i]) + most, pd_chunk_first(nearest) + most) < 0))
			nearest = chunks[i];
	if (!nearest)
		return SIZE_MAX;
	total = find_ends(chunks, count,
			  (struct pd_frontier){ pd_entry_key(pd_chunk_first(nearest) + most), nearest->ordinal });
	total -= nearest->end - nearest->next;
	nearest->end = nearest->next + most;
	return total + most;
}

// ---- merging ----

static struct pd_merged *take_rest(struct pd_merged *out, struct pd_chunk *chunk)
{
	const struct pd_entry *entries = chunk->memory.entries;

	while (chunk->next < chunk->end)
		*out++ = (struct pd_merged){ entries[chunk->next++], chunk };
	return out;
}

// The left one comes first in the file. No branch depends on which is older: that cannot be foreseen.
static struct pd_merged *merge_chunks(struct pd_merged *out, struct pd_chunk *left, struct pd_chunk *right)
{
	const struct pd_entry *a = pd_chunk_first(left), *a_end = a + (left->end - left->next);
	const struct pd_entry *b = pd_chunk_first(right), *b_end = b + (right->end - right->next);

	while (a < a_end && b < b_end) {
		bool is_right = pd_entry_is_before(b, a);

		out->entry = *(is_right ? b : a);
		out->chunk = is_right ? right : left;
		out++;
		b += is_right;
		a += !is_right;
	}
	left->next = left->end - (size_t)(a_end - a);
	right->next = right->end - (size_t)(b_end - b);
	return take_rest(take_rest(out, left), right);
}

static void merge_items(struct pd_merged *out, const struct pd_merged *a, size_t a_count, const struct pd_merged *b,
			size_t b_count)
{
	const struct pd_merged *a_end = a + a_count, *b_end = b + b_count;

	while (a < a_end && b < b_end) {
		bool is_right = pd_entry_is_before(&b->entry, &a->entry);

		*out++ = *(is_right ? b : a);
		b += is_right;
		a += !is_right;
	}
	memcpy(out, a < a_end ? a : b, (size_t)(a_end - a + b_end - b) * sizeof(*out));
}

// Pairs of chunks; returns how many runs these are.
static size_t merge_pairs(struct pd_merging *merge, struct pd_chunk *const *chunks, size_t count)
{
	struct pd_merged *out = merge->items;
	struct pd_chunk *left = NULL;
	size_t runs = 0;

	for (size_t i = 0; i < count; i++) {
		if (chunks[i]->next == chunks[i]->end)
			continue;
		if (!left) {
			left = chunks[i];
			continue;
		}
		out = merge_chunks(out, left, chunks[i]);
		merge->ends[runs++] = (size_t)(out - merge->items);
		left = NULL;
	}
	if (left) {
		out = take_rest(out, left);
		merge->ends[runs++] = (size_t)(out - merge->items);
	}
	return runs;
}

// Pairs of runs. Returns how many are left.
static size_t merge_runs(struct pd_merging *merge, size_t runs)
{
	struct pd_merged *items = merge->items;
	size_t begin = 0, left = 0, capacity = merge->capacity;

	for (size_t i = 0; i < runs; i += 2) {
		size_t middle = merge->ends[i], end = i + 1 < runs ? merge->ends[i + 1] : middle;

		merge_items(merge->spare + begin, items + begin, middle - begin, items + middle, end - middle);
		merge->ends[left++] = begin = end;
	}
	merge->items = merge->spare;
	merge->capacity = merge->spare_capacity;
	merge->spare = items;
	merge->spare_capacity = capacity;
	return left;
}

bool pd_merged_fill(struct pd_merging *merge, struct pd_chunk *const *chunks, size_t count, struct pd_frontier frontier)
{
	size_t each = count < AT_ONCE / LEAST_EACH ? AT_ONCE / (count + !count) : LEAST_EACH;
	size_t total = find_ends(chunks, count, frontier), runs;

	merge->count = merge->next = 0;
	if (total > each * count)
		total = narrow_ends(chunks, count, each);
	if (!total)
		return true;
	if (!PD_GROW(merge->items, merge->capacity, total) || !PD_GROW(merge->ends, merge->end_capacity, count))
		return false;
	if (count > 2 && !PD_GROW(merge->spare, merge->spare_capacity, total))
		return false;
	runs = merge_pairs(merge, chunks, count);
	while (runs > 1)
		runs = merge_runs(merge, runs);
	merge->count = total;
	return true;
}
