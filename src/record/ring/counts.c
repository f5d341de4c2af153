/* SPDX-License-Identifier: MIT */
/*
 * What is learned from records on their way to the file: how many there are, what was lost, and which files were
 * mapped. Only headers are looked at, but for those few records. One mistake of the kernel is mended on the way: where another
 * recorder asks for build ids, it says that our records have one, too; see pd_mmap2_recover().
 */
#include "record/inside.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "format/record.h"

enum {
	MISC = 4,        // offset of misc in a header
	MMAP_PATH = 40,  // offset of the path in an MMAP record
	MMAP2_PATH = 72, // in an MMAP2 record
	LOST_COUNT = 16, // in a LOST record
	LOST_SAMPLES_COUNT = 8,
	NEAR = 2048 // bytes
};

// A record in one piece.
static const uint8_t *whole(struct pd_ring_counts *counts, const struct pd_ring_view *view, size_t at, size_t size)
{
	const struct pd_bytes *first = &view->pieces[0];
	struct pd_made *copy = &counts->copy;
	size_t head;

	if (at >= first->size)
		return view->pieces[1].data + (at - first->size);
	if (size <= first->size - at)
		return first->data + at;
	if (!PD_GROW(copy->data, copy->capacity, size))
		return NULL;
	head = first->size - at;
	memcpy(copy->data, first->data + at, head);
	memcpy(copy->data + head, view->pieces[1].data, size - head);
	return copy->data;
}

enum pd_status pd_ring_counts_path(struct pd_ring_counts *counts, const char *path, size_t length,
				   struct pd_error *error)
{
	if (!counts->paths.count)
		counts->paths.seed = pd_hash_secret();
	return pd_strings_add(&counts->paths, &counts->arena, path, length) == PD_INDEX_END ? pd_fail_memory(error) :
											      PD_OK;
}

static enum pd_status take_map(struct pd_ring_counts *counts, const uint8_t *record, size_t size, size_t offset,
			       struct pd_error *error)
{
	const char *path = (const char *)record + offset;
	size_t length;

	if (size <= offset)
		return PD_OK;
	length = strnlen(path, size - offset);
	// what is no file has no build id
	if (path[0] != '/' || strncmp(path, "//anon", 6) == 0)
		return PD_OK;
	return pd_ring_counts_path(counts, path, length, error);
}

static enum pd_status take_other(struct pd_ring_counts *counts, const struct pd_ring_view *view, size_t at,
				 uint32_t type, size_t size, struct pd_error *error)
{
	const uint8_t *record = whole(counts, view, at, size);

	if (!record)
		return pd_fail_memory(error);
	if (type == PD_RECORD_MMAP2)
		return take_map(counts, record, size, MMAP2_PATH, error);
	if (type == PD_RECORD_MMAP)
		return take_map(counts, record, size, MMAP_PATH, error);
	if (type == PD_RECORD_LOST && size >= LOST_COUNT + 8)
		counts->lost += pd_load_u64(record + LOST_COUNT, false);
	if (type == PD_RECORD_LOST_SAMPLES && size >= LOST_SAMPLES_COUNT + 8)
		counts->lost_samples += pd_load_u64(record + LOST_SAMPLES_COUNT, false);
	return PD_OK;
}

// Rings are in order but for a few records, so the ends of what is there tell the time.
static void take_times(struct pd_ring_counts *counts, const struct pd_ring_view *view, size_t first, size_t last)
{
	size_t at[2] = { first, last };

	for (unsigned i = 0; i < 2; i++) {
		const uint8_t *record = whole(counts, view, at[i], counts->time_at + 8);
		uint64_t time = record ? pd_load_u64(record + counts->time_at, false) : 0;

		if (!time)
			continue;
		if (!counts->first_ns || time < counts->first_ns)
			counts->first_ns = time;
		if (time > counts->last_ns)
			counts->last_ns = time;
	}
}

static bool mark(struct pd_ring_counts *counts, size_t at)
{
	if (!PD_GROW(counts->marked, counts->marked_capacity, counts->marked_count + 1))
		return false;
	counts->marked[counts->marked_count++] = at;
	return true;
}

// The kernel lets nobody write to a ring.
enum pd_status pd_ring_counts_unmark(struct pd_ring_counts *counts, struct pd_bytes *piece, size_t until,
				     struct pd_error *error)
{
	struct pd_made *copy = &counts->copy;

	if (!PD_GROW(copy->data, copy->capacity, piece->size))
		return pd_fail_memory(error);
	memcpy(copy->data, piece->data, piece->size);
	for (size_t i = 0; i < counts->marked_count; i++) {
		uint8_t *at = copy->data + (counts->marked[i] - (until - piece->size)) + MISC;
		uint16_t misc = pd_load_u16(at, false) & (uint16_t)~PD_MASK(PD_MISC_MMAP_BUILD_ID);

		memcpy(at, &misc, sizeof(misc));
	}
	counts->marked_count = 0;
	piece->data = copy->data;
	return PD_OK;
}

// Records begin at multiples of 8, so a header is never torn.
enum pd_status pd_ring_counts_add(struct pd_ring_counts *counts, const struct pd_ring_view *view, size_t *at_io,
				  size_t until, struct pd_error *error)
{
	size_t total = view->pieces[0].size + view->pieces[1].size;
	size_t first = SIZE_MAX, last = 0, at = *at_io;
	enum pd_status status = PD_OK;

	while (at < until && at + PD_RECORD_HEADER_SIZE <= total && status >= 0) {
		const uint8_t *head = at < view->pieces[0].size ? view->pieces[0].data + at :
								  view->pieces[1].data + (at - view->pieces[0].size);
		uint32_t type = pd_load_u32(head, false);
		size_t size = pd_load_u16(head + 6, false);

		// the next ones: large records are often of one size, small ones stand close together
		__builtin_prefetch(head + (size < NEAR / 4 ? NEAR : 4 * size));
		if (size < PD_RECORD_HEADER_SIZE || size > total - at)
			return pd_fail(error, PD_ERROR_FORMAT, PD_NO_OFFSET,
				       "the kernel handed over a record of %zu bytes and type %u", size, type);
		if (type == PD_RECORD_SAMPLE) {
			counts->samples++;
			first = first == SIZE_MAX ? at : first;
			last = at;
		} else {
			if (type == PD_RECORD_MMAP2 &&
			    pd_load_u16(head + MISC, false) & PD_MASK(PD_MISC_MMAP_BUILD_ID) && !mark(counts, at))
				return pd_fail_memory(error);
			status = take_other(counts, view, at, type, size, error);
		}
		at += size;
	}
	if (first != SIZE_MAX && counts->time_at)
		take_times(counts, view, first, last);
	*at_io = at;
	return status;
}

void pd_ring_counts_move_counts(struct pd_ring_counts *to, struct pd_ring_counts *from)
{
	to->samples += from->samples;
	to->lost += from->lost;
	to->lost_samples += from->lost_samples;
	if (from->first_ns && (!to->first_ns || from->first_ns < to->first_ns))
		to->first_ns = from->first_ns;
	if (from->last_ns > to->last_ns)
		to->last_ns = from->last_ns;
	from->samples = from->lost = from->lost_samples = 0;
}

void pd_ring_counts_fini(struct pd_ring_counts *counts)
{
	pd_strings_fini(&counts->paths);
	pd_arena_fini(&counts->arena);
	pd_made_fini(&counts->copy);
	pd_free(counts->marked);
	*counts = (struct pd_ring_counts){ 0 };
}
