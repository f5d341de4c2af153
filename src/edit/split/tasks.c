/* SPDX-License-Identifier: MIT */
// Which tasks a piece has to know: those that its samples are of, and their ancestors.
#include "edit/split/split.h"

#include <stdlib.h>
#include <string.h>

#include "base/lookup/search.h"
#include "format/traits.h"

// ---- pairs ----

static int compare_pairs(const void *a, const void *b)
{
	const struct pd_task_pair *left = a, *right = b;

	if (left->first != right->first)
		return left->first < right->first ? -1 : 1;
	return left->second < right->second ? -1 : left->second > right->second;
}

void pd_task_pairs_sort(struct pd_task_pairs *pairs)
{
	size_t kept = 0;

	if (pairs->count)
		qsort(pairs->items, pairs->count, sizeof(*pairs->items), compare_pairs);
	for (size_t i = 0; i < pairs->count; i++)
		if (!kept || compare_pairs(&pairs->items[kept - 1], &pairs->items[i]) != 0)
			pairs->items[kept++] = pairs->items[i];
	pairs->count = pairs->sorted = kept;
}

bool pd_task_pairs_add(struct pd_task_pairs *pairs, struct pd_task_pair pair)
{
	if (pairs->count && !compare_pairs(&pairs->items[pairs->count - 1], &pair))
		return true;
	// repeated ones do not need memory for long
	if (pairs->count == pairs->capacity && pairs->count > 2 * pairs->sorted + 4096)
		pd_task_pairs_sort(pairs);
	if (!PD_GROW(pairs->items, pairs->capacity, pairs->count + 1))
		return false;
	pairs->items[pairs->count++] = pair;
	return true;
}

// The first pair of a process; *count_out of them.
static const struct pd_task_pair *find_pairs(const struct pd_task_pairs *pairs, uint64_t first, size_t *count_out)
{
	size_t from, end;

	PD_SEARCH(from, (size_t)0, pairs->count, i, pairs->items[i].first < first);
	for (end = from; end < pairs->count && pairs->items[end].first == first;)
		end++;
	*count_out = end - from;
	return pairs->items ? pairs->items + from : NULL;
}

// ---- needs ----

// A process has what its parent had mapped, and so on, the nearest first. Each piece of a chain of forks would have all of
// the chain before it, so there is a limit. False if there is no memory.
static bool add_ancestors(struct pd_split *split, uint64_t pid, uint64_t bits)
{
	uint64_t queue[1 + PD_SPLIT_MAX_ANCESTORS] = { pid };
	bool too_deep = false;
	size_t count = 1;

	for (size_t next = 0; next < count; next++) {
		uint64_t mask = pd_u64_map_find(&split->needs, queue[next]);
		size_t parents;
		const struct pd_task_pair *pairs = find_pairs(&split->parents, queue[next], &parents);

		if (mask & bits)
			continue;
		if (!pd_u64_map_set(&split->needs, queue[next], mask | bits))
			return false;
		for (size_t i = 0; i < parents && !too_deep; i++) {
			if (pd_u64_map_find(&split->needs, pairs[i].second) & bits)
				continue;
			too_deep = count > PD_SPLIT_MAX_ANCESTORS;
			if (!too_deep)
				queue[count++] = pairs[i].second;
		}
	}
	split->result.deep_count += too_deep;
	return true;
}

bool pd_split_note_needs(struct pd_split *split)
{
	pd_u64_map_fini(&split->needs);
	for (size_t i = 0; i < split->tasks.count; i++) {
		const struct pd_split_output *piece = pd_split_find_piece(split, split->tasks.items[i].second);
		size_t index = (size_t)(piece - split->pieces);

		if (index >= split->first && index - split->first < split->open_count &&
		    !add_ancestors(split, split->tasks.items[i].first, UINT64_C(1) << (index - split->first)))
			return false;
	}
	return true;
}

// The process that a record is about, or UINT32_MAX: it concerns all.
static uint32_t process_of(const struct pd_record *record)
{
	bool names_task = pd_record_is(record->type, PD_TRAIT_TASK);
	const void *decoded = names_task ? pd_record_as(record, record->type) : NULL;
	const struct pd_switch *swap;
	uint32_t pid, tid;

	if (decoded && pd_record_task(record->type, decoded, &pid, &tid))
		return pid;
	swap = names_task ? NULL : pd_as_switch(record);
	return swap && swap->sample_id && swap->sample_id->pid ? swap->sample_id->pid : UINT32_MAX;
}

uint64_t pd_split_pieces_of_task(const struct pd_split *split, const struct pd_record *record)
{
	uint64_t all = split->open_count < 64 ? (UINT64_C(1) << split->open_count) - 1 : UINT64_MAX;
	uint32_t pid = process_of(record);

	return pid == UINT32_MAX ? all : pd_u64_map_find(&split->needs, pid);
}
