/* SPDX-License-Identifier: MIT */
// The table of pieces.
#include "edit/split/split.h"

#include <stdlib.h>
#include <string.h>

struct pd_split_output *pd_split_find_piece(const struct pd_split *split, uint64_t key)
{
	uint64_t found = pd_u64_map_find(&split->by_key, key);

	return found ? &split->pieces[found - 1] : NULL;
}

struct pd_split_output *pd_split_add_piece(struct pd_split *split, uint64_t key)
{
	struct pd_split_output *piece = pd_split_find_piece(split, key);

	if (piece)
		return piece;
	if (!PD_GROW(split->pieces, split->piece_capacity, split->piece_count + 1) ||
	    !pd_u64_map_add(&split->by_key, key, split->piece_count + 1))
		return NULL;
	piece = &split->pieces[split->piece_count++];
	*piece = (struct pd_split_output){ .key = key };
	return piece;
}

static int compare_keys(const void *a, const void *b)
{
	const struct pd_split_output *left = a, *right = b;

	return left->key < right->key ? -1 : left->key > right->key;
}

// Keys of names are pointers, which say nothing about the order.
static int compare_comms(const void *a, const void *b)
{
	const struct pd_split_output *left = a, *right = b;

	if (left->key == PD_SPLIT_UNKNOWN || right->key == PD_SPLIT_UNKNOWN)
		return compare_keys(a, b);
	return strcmp((const char *)(uintptr_t)left->key, (const char *)(uintptr_t)right->key);
}

void pd_split_sort_pieces(struct pd_split *split)
{
	qsort(split->pieces, split->piece_count, sizeof(*split->pieces),
	      split->options.by == PD_SPLIT_COMM ? compare_comms : compare_keys);
	// all keys are there already, so this needs no memory
	for (size_t i = 0; i < split->piece_count; i++)
		pd_u64_map_set(&split->by_key, split->pieces[i].key, i + 1);
}

size_t pd_split_piece_count(const struct pd_split *split)
{
	return split->piece_count;
}

const struct pd_split_piece *pd_split_piece(const struct pd_split *split, size_t index)
{
	return index < split->piece_count ? &split->pieces[index].shown : NULL;
}
