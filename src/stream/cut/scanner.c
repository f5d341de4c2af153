/* SPDX-License-Identifier: MIT */
#include "stream/cut/scanner.h"

#include <stdatomic.h>
#include <string.h>

#include "base/threads.h"

enum {
	LEAST_REGION = 512 << 10,
	SCANNERS_MAX = 63,
	LARGEST = 65535, // a record; so long must be what a guess is built on
	GUESS_WINDOW = 4 * LARGEST,
	MOST_OTHERS = 32 << 20, // bytes that are kept for the pass
};

struct member {
	struct pd_scanner found;
	struct pd_scanners *pool;
	uint64_t from, to; // the region
	struct pd_worker thread;
	bool has_begun; // a start was found
};

struct pd_scanners {
	struct pd_file *view; // the file as it was; the pass may learn more about it meanwhile
	struct member members[SCANNERS_MAX];
	size_t count, next;
	atomic_bool ended;
};

// ---- where a record may begin ----

static bool may_be_sample(const struct pd_file *file, const uint8_t *at, size_t size)
{
	const struct pd_event_full *full = pd_file_first_event(file);
	size_t id = PD_RECORD_HEADER_SIZE + 8 * (size_t)full->sample_id;

	if (pd_file_event_count(file) == 1 || full->sample_id == PD_FIELD_MISSING)
		return true;
	return id + 8 <= size && pd_file_find_event(file, pd_load_u64(at + id, pd_file_is_swapped(file)));
}

// Records one after another, more than could stand inside of one.
static bool is_chain(const struct pd_file *file, const uint8_t *at, const uint8_t *end)
{
	const uint8_t *start = at;
	bool swap = pd_file_is_swapped(file);

	while ((size_t)(end - at) >= PD_RECORD_HEADER_SIZE && at - start <= LARGEST) {
		struct pd_record_head head = pd_record_head(at, swap);

		if (head.size > (size_t)(end - at) || !pd_head_is_plausible(file, &head) ||
		    (head.type == PD_RECORD_SAMPLE && !may_be_sample(file, at, (size_t)head.size)))
			return false;
		at += head.size;
	}
	return at - start > LARGEST;
}

static bool guess(struct member *member, struct pd_stream *stream)
{
	struct pd_reader *reader = &stream->reader;
	const struct pd_file *file = member->pool->view;
	struct pd_error error;

	if (pd_stream_open_range(stream, 0, member->from, pd_file_part(file, 0)->end, &error) < 0 ||
	    pd_reader_fill(reader, GUESS_WINDOW, &error) < 0)
		return false;
	for (size_t skip = 0; skip <= LARGEST && skip < reader->available; skip++)
		if (is_chain(file, reader->at + skip, reader->at + reader->available)) {
			pd_reader_advance(reader, skip);
			return true;
		}
	return false;
}

// ---- from there on ----

// Whether the pass can take a record from a copy, and nothing about the file changes by it.
static bool is_plain(const struct pd_stream *stream, const struct pd_record *record)
{
	if (record->type == PD_RECORD_SAMPLE)
		return record->event && !stream->unknown_ids;
	return !record->tail_size && !pd_holds_records(record->type) && record->type != PD_RECORD_AUXTRACE &&
	       record->type != PD_RECORD_HEADER_TRACING_DATA && record->type != PD_RECORD_SIMPLEPERF_EVENT_ID &&
	       record->type != PD_RECORD_SIMPLEPERF_SPLIT_END;
}

// False if there is no memory.
static bool note_record(struct pd_scanner *found, struct pd_cut *cut, const struct pd_record *record)
{
	bool is_sample = record->type == PD_RECORD_SAMPLE;

	if (!pd_cut_take(cut, record) || (!is_sample && !pd_batch_add(&found->others, record, (struct pd_bytes){ 0 })))
		return false;
	pd_cut_pass(cut);
	found->end = cut->piece->end;
	found->pieces.record_count = cut->stream->index;
	return true;
}

static void explore(struct member *member, struct pd_stream *stream)
{
	struct pd_scanner *found = &member->found;
	const struct pd_record *record;
	struct pd_error error;
	struct pd_cut cut;

	if (!guess(member, stream))
		return;
	pd_cut_init(&cut, &found->pieces, stream);
	cut.limit = member->to;
	found->begin = found->end = stream->reader.offset;
	member->has_begun = true;
	while (member->has_begun && !atomic_load_explicit(&member->pool->ended, memory_order_relaxed) &&
	       pd_stream_next(stream, &record, &error) == PD_OK) {
		// bytes that are left out are reported by the pass
		if (record->offset != found->end || record->offset >= member->to || found->others.size > MOST_OTHERS ||
		    !is_plain(stream, record))
			break;
		member->has_begun = note_record(found, &cut, record);
	}
}

static void scan(void *self)
{
	struct member *member = self;
	struct pd_stream *stream;
	struct pd_error error;

	if (pd_stream_new(member->pool->view, &stream, &error) < 0)
		return;
	stream->quiet = true;
	stream->finalized = true;
	explore(member, stream);
	pd_stream_close(stream);
}

// ---- all of them ----

static bool is_of_use(const struct pd_file *file)
{
	return pd_file_mode(file) != PD_MODE_PIPE && pd_file_event_count(file) && pd_file_part_count(file) &&
	       pd_file_part(file, 0)->source->seekable && pd_file_part(file, 0)->end != UINT64_MAX &&
	       !pd_file_has_feature(file, PD_FEATURE_COMPRESSED);
}

static void start(struct pd_scanners *scanners, const struct pd_part *part, uint64_t region)
{
	for (size_t i = 0; i < scanners->count; i++) {
		struct member *member = &scanners->members[i];

		member->pool = scanners;
		member->from = part->begin + (i + 1) * region;
		member->to = i + 1 < scanners->count ? member->from + region : part->end;
		pd_worker_start(&member->thread, scan, member); // a region without one is left to the pass
	}
}

struct pd_scanners *pd_scanners_start(const struct pd_file *file, size_t threads)
{
	const struct pd_part *part;
	struct pd_scanners *scanners;
	uint64_t size;

	if (threads < 2 || !is_of_use(file))
		return NULL;
	part = pd_file_part(file, 0);
	if (part->end <= part->begin)
		return NULL;
	size = part->end - part->begin;
	if (threads > SCANNERS_MAX + 1)
		threads = SCANNERS_MAX + 1;
	if (threads > size / LEAST_REGION)
		threads = (size_t)(size / LEAST_REGION);
	if (threads < 2 || !(scanners = pd_alloc(sizeof(*scanners))))
		return NULL;
	scanners->view = pd_file_view_new(file);
	if (!scanners->view) {
		pd_free(scanners);
		return NULL;
	}
	scanners->count = threads - 1;
	start(scanners, part, size / threads);
	return scanners;
}

uint64_t pd_scanners_limit(const struct pd_scanners *scanners)
{
	const struct member *member = &scanners->members[scanners->next];

	if (scanners->next == scanners->count)
		return UINT64_MAX;
	return member->thread.started || !member->has_begun ? member->from : member->found.begin;
}

struct pd_scanner *pd_scanners_at(struct pd_scanners *scanners, uint64_t offset)
{
	while (scanners->next < scanners->count && pd_scanners_limit(scanners) <= offset) {
		struct member *member = &scanners->members[scanners->next];

		pd_worker_join(&member->thread);
		if (member->has_begun && member->found.begin > offset)
			break;
		scanners->next++;
		if (member->has_begun && member->found.begin == offset)
			return &member->found;
	}
	return NULL;
}

void pd_scanners_end(struct pd_scanners *scanners)
{
	if (!scanners)
		return;
	atomic_store(&scanners->ended, true);
	for (size_t i = 0; i < scanners->count; i++) {
		pd_worker_join(&scanners->members[i].thread);
		pd_pieces_fini(&scanners->members[i].found.pieces);
		pd_batch_fini(&scanners->members[i].found.others);
	}
	pd_file_view_free(scanners->view);
	pd_free(scanners);
}
