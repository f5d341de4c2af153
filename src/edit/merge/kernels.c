/* SPDX-License-Identifier: MIT */
/*
 * Kernels of several boots in one recording, which has one space of kernel addresses. What is the same kernel, placed
 * elsewhere, is moved onto the first one, image and modules by their names. What is another kernel is moved to where
 * nothing is, and gets names of its own. So no address is taken for something that it is not.
 */
#include "edit/merge/merge.h"

#include <stdlib.h>
#include <string.h>

enum {
	PAGE = 4096,
	NAME_BYTES = 256
};

// Addresses below this are of processes, or of a machine whose kernel has a space of its own.
static const uint64_t kernel_half = UINT64_C(1) << 63;

struct moves {
	struct pd_address_change *items;
	size_t count, capacity;
};

static int compare_maps(const void *a, const void *b)
{
	const struct pd_kernel_map *left = a, *right = b;

	return left->start < right->start ? -1 : left->start > right->start;
}

static int compare_moves(const void *a, const void *b)
{
	const struct pd_address_change *left = a, *right = b;

	return left->start < right->start ? -1 : left->start > right->start;
}

// Maps by address, none into the next one.
static struct pd_kernel_map *sorted_maps(const struct pd_merge_source *source)
{
	struct pd_kernel_map *maps = pd_alloc((source->map_count + 1) * sizeof(*maps));

	if (!maps)
		return NULL;
	if (source->map_count)
		memcpy(maps, source->maps, source->map_count * sizeof(*maps));
	qsort(maps, source->map_count, sizeof(*maps), compare_maps);
	for (size_t i = 0; i + 1 < source->map_count; i++)
		if (maps[i].end > maps[i + 1].start)
			maps[i].end = maps[i + 1].start;
	return maps;
}

// ---- where to ----

static bool add_move(struct moves *moves, uint64_t start, uint64_t end, uint64_t to)
{
	if (start >= end || start == to)
		return true;
	if (!PD_GROW(moves->items, moves->capacity, moves->count + 1))
		return false;
	moves->items[moves->count++] = (struct pd_address_change){ start, end, to };
	return true;
}

// A place where nothing is: below all that was placed so far.
static uint64_t free_place(struct pd_merge *merge, uint64_t size)
{
	uint64_t padded = (size + 2 * PAGE - 1) & ~(uint64_t)(PAGE - 1);

	if (merge->kernel_free - kernel_half < padded)
		return 0;
	return merge->kernel_free -= padded;
}

static bool move_away(struct pd_merge *merge, struct moves *moves, uint64_t start, uint64_t end)
{
	uint64_t to = start < end ? free_place(merge, end - start) : 0;

	return start >= end || (to && add_move(moves, start, end, to));
}

// Addresses of the source that are in a map of the first one, but in none of its own.
static bool move_rest(struct pd_merge *merge, struct moves *moves, const struct pd_kernel_map *own, size_t own_count,
		      const struct pd_kernel_map *first, size_t first_count)
{
	size_t at = 0;

	for (size_t i = 0; i < first_count; i++) {
		uint64_t start = first[i].start;

		while (at < own_count && own[at].end <= start)
			at++;
		for (size_t j = at; j < own_count && own[j].start < first[i].end; j++) {
			if (!move_away(merge, moves, start, own[j].start))
				return false;
			start = own[j].end > start ? own[j].end : start;
		}
		if (!move_away(merge, moves, start, first[i].end))
			return false;
	}
	return true;
}

static bool plan_moves(struct pd_merge *merge, struct pd_merge_source *source, const struct pd_merge_source *first,
		       struct moves *moves)
{
	struct pd_kernel_map *own = sorted_maps(source), *others = sorted_maps(first);
	bool done = own && others;

	for (size_t i = 0; i < source->map_count && done; i++) {
		const struct pd_kernel_map *same = source->other_kernel ? NULL : pd_kernel_find(first, own[i].name);

		if (same)
			done = add_move(moves, own[i].start, own[i].end, same->start);
		else
			done = move_away(merge, moves, own[i].start, own[i].end);
	}
	done = done && move_rest(merge, moves, own, source->map_count, others, first->map_count);
	pd_free(own);
	pd_free(others);
	return done;
}

// ---- which kernel it is ----

static bool same_text(const struct pd_merge_source *a, const struct pd_merge_source *b, unsigned feature)
{
	const char *left = pd_merge_text(a, feature), *right = pd_merge_text(b, feature);

	return left && right && !strcmp(left, right);
}

// Build id of the kernel by the feature. False if it is not there.
static bool kernel_build_id(const struct pd_merge_source *source, struct pd_build_id *id_out)
{
	const struct pd_build_ids *ids = pd_file_build_id(source->file);
	struct pd_build_id_walk walk = { .big_endian = pd_file_header(source->file)->big_endian };
	struct pd_build_id_entry entry;

	if (!ids)
		return false;
	walk.records = ids->records;
	while (pd_build_id_next(&walk, &entry)) {
		if (pd_kernel_is_image(entry.name)) {
			*id_out = entry.id;
			return true;
		}
	}
	return false;
}

static bool is_same_kernel(const struct pd_merge_source *a, const struct pd_merge_source *b)
{
	struct pd_build_id left, right;

	if (kernel_build_id(a, &left) && kernel_build_id(b, &right))
		return !memcmp(left.bytes, right.bytes, sizeof(left.bytes));
	return same_text(a, b, PD_FEATURE_OSRELEASE) && same_text(a, b, PD_FEATURE_ARCH);
}

// True if the maps of both say the same of each address.
static bool is_same_place(const struct pd_merge_source *a, const struct pd_merge_source *b)
{
	for (size_t i = 0; i < b->map_count; i++) {
		const struct pd_kernel_map *map = pd_kernel_find(a, b->maps[i].name);

		if (map && (map->start != b->maps[i].start || map->pgoff != b->maps[i].pgoff))
			return false;
		for (size_t j = 0; !map && j < a->map_count; j++)
			if (b->maps[i].start < a->maps[j].end && a->maps[j].start < b->maps[i].end)
				return false;
	}
	return true;
}

// ---- all ----

static bool is_movable(const struct pd_merge_source *source)
{
	for (size_t i = 0; i < source->map_count; i++)
		if (source->maps[i].start < kernel_half)
			return false;
	return true;
}

static void warn_moved(const struct pd_merge *merge, const struct pd_merge_source *source,
		       const struct pd_merge_source *first)
{
	char name[NAME_BYTES];

	if (merge->options.quiet)
		return;
	if (!source->other_kernel) {
		pd_merge_warn(merge, "%s: same kernel as %s at a different address: kernel addresses are moved",
			      source->name, first->name);
		return;
	}
	pd_kernel_rename(source, source->maps[0].name, name, sizeof(name));
	pd_merge_warn(merge, "%s: different kernel than %s: named %s and moved to free addresses", source->name,
		      first->name, name);
}

static enum pd_status place_kernel(struct pd_merge *merge, struct pd_merge_source *source,
				   const struct pd_merge_source *first, struct pd_error *error)
{
	struct moves moves = { 0 };

	source->other_kernel = !is_same_kernel(first, source);
	if (!source->other_kernel && is_same_place(first, source))
		return PD_OK;
	if (merge->options.kernels == PD_MERGE_KERNELS_KEEP)
		return PD_OK;
	if (merge->options.kernels == PD_MERGE_KERNELS_REFUSE || !is_movable(source) || !is_movable(first))
		return pd_merge_fail(
			merge, error, PD_ERROR_ARGUMENT,
			"%s: kernel differs from that of %s, or is at a different address; choose with --kernels",
			source->name, first->name);
	if (!plan_moves(merge, source, first, &moves)) {
		pd_free(moves.items);
		return pd_merge_fail(merge, error, PD_ERROR_UNSUPPORTED, "%s: no free address range for its kernel",
				     source->name);
	}
	if (moves.count)
		qsort(moves.items, moves.count, sizeof(*moves.items), compare_moves);
	source->addresses = moves.items;
	source->address_count = moves.count;
	source->join.addresses = source->addresses;
	source->join.address_count = source->address_count;
	warn_moved(merge, source, first);
	return PD_OK;
}

enum pd_status pd_merge_plan_kernels(struct pd_merge *merge, struct pd_error *error)
{
	const struct pd_merge_source *first = NULL;
	enum pd_status status = PD_OK;

	merge->kernel_free = UINT64_MAX & ~(uint64_t)(PAGE - 1);
	for (size_t i = 0; i < merge->source_count; i++) {
		const struct pd_merge_source *source = merge->sources[i];

		first = first || !source->map_count ? first : source;
		for (size_t j = 0; j < source->map_count; j++)
			if (source->maps[j].start >= kernel_half && source->maps[j].start < merge->kernel_free)
				merge->kernel_free = source->maps[j].start & ~(uint64_t)(PAGE - 1);
	}
	for (size_t i = 0; i < merge->source_count && first && status >= 0; i++) {
		struct pd_merge_source *source = merge->sources[i];

		if (source->map_count && source->machine != first->machine)
			status = place_kernel(merge, source, first, error);
	}
	return status;
}
