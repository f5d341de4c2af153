/* SPDX-License-Identifier: MIT */
/*
 * Kernels of several boots in one recording, which has one space of kernel addresses. What is the same kernel, placed
 * elsewhere, is moved onto the first one, image and modules by their names. What is another kernel is moved to where
 * nothing is, and gets names of its own. So no address is taken for something that it is not.
 */
#include "merge.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	PAGE = 4096,
	NAME_BYTES = 256
};

/* Addresses below this are of processes, or of a machine whose kernel has a space of its own. */
static const uint64_t kernel_half = UINT64_C(1) << 63;

struct moves {
	struct pd_address_change *items;
	size_t count, room;
};

static int compare_maps(const void *a, const void *b)
{
	const struct kernel_map *left = a, *right = b;

	return left->start < right->start ? -1 : left->start > right->start;
}

static int compare_moves(const void *a, const void *b)
{
	const struct pd_address_change *left = a, *right = b;

	return left->start < right->start ? -1 : left->start > right->start;
}

/* Maps by address, none into the next one. */
static struct kernel_map *sorted_maps(const struct source *source)
{
	struct kernel_map *maps = malloc((source->map_count + 1) * sizeof(*maps));

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

bool kernel_is_image(const char *name)
{
	return !strncmp(name, "[kernel.kallsyms]", 17);
}

const struct pd_mmap *kernel_mmap(const struct pd_record *record)
{
	const struct pd_mmap *map = (record->misc & 7) == PD_CPUMODE_KERNEL ? pd_as_mmap(record) : NULL;

	return map && map->pid == UINT32_MAX ? map : NULL;
}

const struct pd_mmap2 *kernel_mmap2(const struct pd_record *record)
{
	const struct pd_mmap2 *map = (record->misc & 7) == PD_CPUMODE_KERNEL ? pd_as_mmap2(record) : NULL;

	return map && map->pid == UINT32_MAX ? map : NULL;
}

struct kernel_map *kernel_find(const struct source *source, const char *name)
{
	for (size_t i = 0; i < source->map_count; i++)
		if (!strcmp(source->maps[i].name, name))
			return &source->maps[i];
	return NULL;
}

/* perf takes two equal maps of a kernel for one that ends where the other begins. */
bool kernel_map_is_written(const struct merge *merge, const struct source *source, const char *name, uint64_t start,
			   uint64_t pgoff)
{
	struct kernel_map *own = kernel_find(source, name);

	if (!own || own->start != start || own->pgoff != pgoff)
		return false;
	for (size_t i = 0; i < merge->source_count && !own->written; i++) {
		const struct source *other = &merge->sources[i];
		const struct kernel_map *map = other == source ? NULL : kernel_find(other, name);

		if (map && map->written && map->start == start && map->pgoff == pgoff)
			return true;
	}
	own->written = true;
	return false;
}

/* ---- where to ---- */

static bool add_move(struct moves *moves, uint64_t start, uint64_t end, uint64_t to)
{
	if (start >= end || start == to)
		return true;
	if (!room_for(&moves->items, &moves->room, moves->count + 1, sizeof(*moves->items)))
		return false;
	moves->items[moves->count++] = (struct pd_address_change){ start, end, to };
	return true;
}

/* A place where nothing is: below all that was placed so far. */
static uint64_t free_place(struct merge *merge, uint64_t size)
{
	uint64_t room = (size + 2 * PAGE - 1) & ~(uint64_t)(PAGE - 1);

	if (merge->kernel_free - kernel_half < room)
		return 0;
	return merge->kernel_free -= room;
}

static bool move_away(struct merge *merge, struct moves *moves, uint64_t start, uint64_t end)
{
	uint64_t to = start < end ? free_place(merge, end - start) : 0;

	return start >= end || (to && add_move(moves, start, end, to));
}

/* Addresses of the source that are in a map of the first one, but in none of its own. */
static bool move_rest(struct merge *merge, struct moves *moves, const struct kernel_map *own, size_t own_count,
		      const struct kernel_map *first, size_t first_count)
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

static bool plan_moves(struct merge *merge, struct source *source, const struct source *first, struct moves *moves)
{
	struct kernel_map *own = sorted_maps(source), *others = sorted_maps(first);
	bool done = own && others;

	for (size_t i = 0; i < source->map_count && done; i++) {
		const struct kernel_map *same = source->kernel_apart ? NULL : kernel_find(first, own[i].name);

		if (same)
			done = add_move(moves, own[i].start, own[i].end, same->start);
		else
			done = move_away(merge, moves, own[i].start, own[i].end);
	}
	done = done && move_rest(merge, moves, own, source->map_count, others, first->map_count);
	free(own);
	free(others);
	return done;
}

/* ---- which kernel it is ---- */

static bool same_text(const struct source *a, const struct source *b, unsigned feature)
{
	const char *left = source_text(a, feature), *right = source_text(b, feature);

	return left && right && !strcmp(left, right);
}

/* Build id of the kernel by the feature, or of size 0. */
static struct pd_bytes kernel_build_id(const struct source *source, bool *big)
{
	const struct pd_build_ids *ids = pd_file_build_id(source->input.file);
	struct pd_bytes left = ids ? ids->records : (struct pd_bytes){ 0 };

	*big = pd_file_header(source->input.file)->big_endian;
	while (left.size >= 36) {
		size_t size = *big ? (size_t)left.data[6] << 8 | left.data[7] : (size_t)left.data[7] << 8 | left.data[6];
		size_t room = size > 36 && size <= left.size ? size - 36 : 0;

		if (room >= 17 && !memcmp(left.data + 36, "[kernel.kallsyms]", 17))
			return (struct pd_bytes){ left.data + 12, 20 };
		if (size < 36 || size > left.size)
			break;
		left.data += size;
		left.size -= size;
	}
	return (struct pd_bytes){ 0 };
}

static bool is_same_kernel(const struct source *a, const struct source *b)
{
	bool big;
	struct pd_bytes left = kernel_build_id(a, &big), right = kernel_build_id(b, &big);

	if (left.size && right.size)
		return !memcmp(left.data, right.data, left.size);
	return same_text(a, b, PD_FEATURE_OSRELEASE) && same_text(a, b, PD_FEATURE_ARCH);
}

/* True if the maps of both say the same of each address. */
static bool is_same_place(const struct source *a, const struct source *b)
{
	for (size_t i = 0; i < b->map_count; i++) {
		const struct kernel_map *map = kernel_find(a, b->maps[i].name);

		if (map && (map->start != b->maps[i].start || map->pgoff != b->maps[i].pgoff))
			return false;
		for (size_t j = 0; !map && j < a->map_count; j++)
			if (b->maps[i].start < a->maps[j].end && a->maps[j].start < b->maps[i].end)
				return false;
	}
	return true;
}

/* ---- names of another kernel ---- */

void kernel_rename(const struct source *source, const char *name, char *renamed, size_t size)
{
	const char *host = source_text(source, PD_FEATURE_HOSTNAME);
	const char *end = strchr(name, ']');
	char number[24];

	snprintf(number, sizeof(number), "%zu", source->machine + 1);
	host = host && *host && !strchr(host, ']') ? host : number;
	if (kernel_is_image(name))
		snprintf(renamed, size, "[kernel-%s]", host);
	else if (name[0] == '[' && end)
		snprintf(renamed, size, "%.*s-%s]", (int)(end - name), name, host);
	else
		snprintf(renamed, size, "%s", name);
}

/* ---- all ---- */

static bool is_movable(const struct source *source)
{
	for (size_t i = 0; i < source->map_count; i++)
		if (source->maps[i].start < kernel_half)
			return false;
	return true;
}

static int place_kernel(struct merge *merge, struct source *source, const struct source *first)
{
	struct moves moves = { 0 };

	source->kernel_apart = !is_same_kernel(first, source);
	if (!source->kernel_apart && is_same_place(first, source))
		return CODE_FINE;
	if (merge->kernels == KERNELS_KEEP)
		return CODE_FINE;
	if (merge->kernels == KERNELS_REFUSE || !is_movable(source) || !is_movable(first)) {
		complain("%s: kernel differs from that of %s, or is at a different address; choose with --kernels",
			 source->name, first->name);
		return CODE_USAGE;
	}
	if (!plan_moves(merge, source, first, &moves)) {
		free(moves.items);
		complain("%s: no free address range for its kernel", source->name);
		return CODE_UNREADABLE;
	}
	if (moves.count)
		qsort(moves.items, moves.count, sizeof(*moves.items), compare_moves);
	source->addresses = moves.items;
	source->address_count = moves.count;
	source->join.addresses = source->addresses;
	source->join.address_count = source->address_count;
	if (merge->quiet)
		return CODE_FINE;
	if (source->kernel_apart) {
		char name[NAME_BYTES];

		kernel_rename(source, source->maps[0].name, name, sizeof(name));
		complain("%s: different kernel than %s: named %s and moved to free addresses", source->name,
			 first->name, name);
	} else {
		complain("%s: same kernel as %s at a different address: kernel addresses are moved", source->name,
			 first->name);
	}
	return CODE_FINE;
}

int merge_kernels(struct merge *merge)
{
	const struct source *first = NULL;
	int code = CODE_FINE;

	merge->kernel_free = UINT64_MAX & ~(uint64_t)(PAGE - 1);
	for (size_t i = 0; i < merge->source_count; i++) {
		const struct source *source = &merge->sources[i];

		first = first || !source->map_count ? first : source;
		for (size_t j = 0; j < source->map_count; j++)
			if (source->maps[j].start >= kernel_half && source->maps[j].start < merge->kernel_free)
				merge->kernel_free = source->maps[j].start & ~(uint64_t)(PAGE - 1);
	}
	for (size_t i = 0; i < merge->source_count && first && code == CODE_FINE; i++) {
		struct source *source = &merge->sources[i];

		if (source->map_count && source->machine != first->machine)
			code = place_kernel(merge, source, first);
	}
	return code;
}
