/* SPDX-License-Identifier: MIT */
/* The one walk over a file that cuts it into pieces, with scanners ahead of it on other threads. */
#include "stream/cut/pieces.h"

#include <inttypes.h>

#include "stream/cut/scanner.h"

enum {
	PROGRESS_STEP = 1 << 20
};

struct walk {
	struct pd_pieces *pieces;
	struct pd_stream *stream;
	const struct pd_visitor *visitor;
	struct pd_scanners *scanners; // NULL: none are left
	struct pd_cut cut;
	uint64_t progress_at;
	uint32_t progress_part;
};

// ---- the walk ----

static enum pd_status show(struct walk *walk, const struct pd_record *record, struct pd_error *error)
{
	struct pd_places *reported = &walk->pieces->reported;
	uint64_t place = record->place;
	enum pd_status status = PD_OK;

	if (walk->visitor && walk->visitor->record)
		status = walk->visitor->record(walk->visitor->self, walk->stream, record, error);
	if (status < 0 || !walk->stream->scratch.reported)
		return status;
	if (!PD_GROW(reported->items, reported->capacity, reported->count + 1))
		return pd_fail_memory(error);
	reported->items[reported->count++] = place;
	return PD_OK;
}

static enum pd_status step(struct walk *walk, const struct pd_record *record, struct pd_error *error)
{
	if (record->part == walk->progress_part && record->offset < walk->progress_at)
		return PD_OK;
	walk->progress_part = record->part;
	walk->progress_at = record->offset + PROGRESS_STEP;
	return walk->visitor->progress(walk->visitor->self, walk->stream, error);
}

static enum pd_status note_record(struct walk *walk, const struct pd_record *record, struct pd_error *error)
{
	if (!pd_cut_take(&walk->cut, record))
		return pd_fail_memory(error);
	if (walk->visitor && walk->visitor->progress) {
		enum pd_status status = step(walk, record, error);

		if (status < 0)
			return status;
	}
	if (record->type != PD_RECORD_SAMPLE)
		return show(walk, record, error);
	pd_cut_pass(&walk->cut);
	return PD_OK;
}

// ---- what scanners found ----

static bool add_pieces(struct pd_pieces *pieces, const struct pd_pieces *more, uint64_t place)
{
	if (!PD_GROW(pieces->items, pieces->capacity, pieces->count + more->count))
		return false;
	for (size_t i = 0; i < more->count; i++) {
		pieces->items[pieces->count] = more->items[i];
		pieces->items[pieces->count++].place += place;
	}
	return true;
}

// Takes over what a scanner found from here on, as if the walk had been there.
static enum pd_status take_over(struct walk *walk, const struct pd_scanner *found, struct pd_error *error)
{
	struct pd_stream *stream = walk->stream;
	uint64_t place = stream->index;
	enum pd_status status = PD_OK;

	if (!add_pieces(walk->pieces, &found->pieces, place))
		return pd_fail_memory(error);
	walk->cut.piece = NULL;
	for (size_t at = 0; status >= 0 && at < found->others.size;) {
		const struct pd_kept *kept = pd_kept_at(&found->others, at);

		status = pd_stream_take_kept(stream, kept, place + kept->place, error);
		if (status >= 0)
			status = show(walk, &stream->record, error);
		at += pd_kept_step(kept);
	}
	return status < 0 ? status : pd_stream_go_on(stream, found->end, place + found->pieces.record_count);
}

// Samples after the next start of a scanner are not passed over, so the walk comes to it if it is one.
static enum pd_status follow_scanners(struct walk *walk, struct pd_error *error)
{
	struct pd_stream *stream = walk->stream;
	enum pd_status status = PD_OK;
	const struct pd_scanner *found;
	uint64_t offset;

	while (status >= 0 && stream->part == 0 && stream->part_open) {
		offset = stream->reader.offset + stream->outer_size + stream->tail_left;
		found = pd_scanners_at(walk->scanners, offset);
		if (!found)
			break;
		status = take_over(walk, found, error);
		if (status >= 0 && walk->visitor && walk->visitor->progress)
			status = walk->visitor->progress(walk->visitor->self, stream, error);
	}
	walk->cut.limit = stream->part == 0 ? pd_scanners_limit(walk->scanners) : UINT64_MAX;
	return status;
}

// What was cut so far is one with the rest.
static void give_up_cutting(struct walk *walk, const struct pd_record *record)
{
	struct pd_pieces *pieces = walk->pieces;

	pieces->once = true;
	pieces->reported_until = record->offset;
	pieces->reported_part = record->part;
	for (size_t i = 0; i < pieces->count; i++)
		pd_times_join(&walk->cut.whole.times, &pieces->items[i].times);
	pieces->count = 0;
	pd_scanners_end(walk->scanners);
	walk->scanners = NULL;
	walk->cut.limit = UINT64_MAX;
}

static enum pd_status walk_all(struct walk *walk, struct pd_error *error)
{
	const struct pd_record *record;
	enum pd_status status;

	for (;;) {
		if (walk->scanners) {
			status = follow_scanners(walk, error);
			if (status < 0)
				return status;
		}
		status = pd_stream_next(walk->stream, &record, error);
		if (status != PD_OK)
			return status;
		// not only files whose features say so are compressed
		if (!walk->pieces->once && pd_holds_records(record->type)) {
			give_up_cutting(walk, record);
			if (!walk->visitor)
				return PD_OK;
		}
		status = note_record(walk, record, error);
		if (status < 0)
			return status;
	}
}

enum pd_status pd_pieces_walk(struct pd_pieces *pieces, struct pd_stream *stream, const struct pd_visitor *visitor,
			      size_t threads, struct pd_error *error)
{
	struct walk walk = { .pieces = pieces, .stream = stream, .visitor = visitor };
	enum pd_status status;

	pd_cut_init(&walk.cut, pieces, stream);
	walk.scanners = pd_scanners_start(stream->file, threads);
	status = walk_all(&walk, error);
	pd_scanners_end(walk.scanners);
	if (status != PD_END)
		return status;
	pieces->reported_until = UINT64_MAX;
	pieces->reported_part = UINT32_MAX;
	pieces->times = walk.cut.whole.times;
	pieces->record_count = stream->index;
	for (size_t i = 0; i < pieces->count; i++)
		pd_times_join(&pieces->times, &pieces->items[i].times);
	return PD_OK;
}
