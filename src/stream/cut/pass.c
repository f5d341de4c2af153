/* SPDX-License-Identifier: MIT */
/* The one pass over a file that cuts it into pieces, with scanners ahead of it on other threads. */
#include "stream/cut/pieces.h"

#include <inttypes.h>

#include "stream/cut/scanner.h"

enum {
	PROGRESS_STEP = 1 << 20
};

struct pass {
	struct pd_pieces *pieces;
	struct pd_stream *stream;
	const struct pd_visitor *visitor;
	struct pd_scanners *scanners; // NULL: none are left
	struct pd_cut cut;
	uint64_t progress_at;
	uint32_t progress_part;
};

// ---- the pass ----

static enum pd_status show(struct pass *pass, const struct pd_record *record, struct pd_error *error)
{
	struct pd_places *reported = &pass->pieces->reported;
	uint64_t place = record->place;
	enum pd_status status = PD_OK;

	if (pass->visitor && pass->visitor->record)
		status = pass->visitor->record(pass->visitor->self, pass->stream, record, error);
	if (status < 0 || !pass->stream->scratch.reported)
		return status;
	if (!PD_GROW(reported->items, reported->capacity, reported->count + 1))
		return pd_fail_memory(error);
	reported->items[reported->count++] = place;
	return PD_OK;
}

static enum pd_status step(struct pass *pass, const struct pd_record *record, struct pd_error *error)
{
	if (record->part == pass->progress_part && record->offset < pass->progress_at)
		return PD_OK;
	pass->progress_part = record->part;
	pass->progress_at = record->offset + PROGRESS_STEP;
	return pass->visitor->progress(pass->visitor->self, pass->stream, error);
}

static enum pd_status note_record(struct pass *pass, const struct pd_record *record, struct pd_error *error)
{
	enum pd_status status = PD_OK;

	if (!pd_cut_take(&pass->cut, record))
		return pd_fail_memory(error);
	if (pass->visitor && pass->visitor->progress) {
		status = step(pass, record, error);

		if (status < 0)
			return status;
	}
	if (record->type != PD_RECORD_SAMPLE || (pass->visitor && pass->visitor->samples))
		status = show(pass, record, error);
	if (status >= 0 && !(pass->visitor && pass->visitor->samples))
		pd_cut_pass(&pass->cut);
	return status;
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

// Takes over what a scanner found from here on, as if the pass had been there.
static enum pd_status take_over(struct pass *pass, const struct pd_scanner *found, struct pd_error *error)
{
	struct pd_stream *stream = pass->stream;
	uint64_t place = stream->index;
	enum pd_status status = PD_OK;

	if (!add_pieces(pass->pieces, &found->pieces, place))
		return pd_fail_memory(error);
	pass->cut.piece = NULL;
	for (size_t at = 0; status >= 0 && at < found->others.size;) {
		const struct pd_kept *kept = pd_kept_at(&found->others, at);

		status = pd_stream_take_kept(stream, kept, place + kept->place, error);
		if (status >= 0)
			status = show(pass, &stream->record, error);
		at += pd_kept_step(kept);
	}
	return status < 0 ? status : pd_stream_go_on(stream, found->end, place + found->pieces.record_count);
}

// Samples after the next start of a scanner are not passed over, so the pass comes to it if it is one.
static enum pd_status follow_scanners(struct pass *pass, struct pd_error *error)
{
	struct pd_stream *stream = pass->stream;
	enum pd_status status = PD_OK;
	const struct pd_scanner *found;
	uint64_t offset;

	while (status >= 0 && stream->part == 0 && stream->part_open) {
		offset = stream->reader.offset + stream->outer_size + stream->tail_left;
		found = pd_scanners_at(pass->scanners, offset);
		if (!found)
			break;
		status = take_over(pass, found, error);
		if (status >= 0 && pass->visitor && pass->visitor->progress)
			status = pass->visitor->progress(pass->visitor->self, stream, error);
	}
	pass->cut.limit = stream->part == 0 ? pd_scanners_limit(pass->scanners) : UINT64_MAX;
	return status;
}

// What was cut so far is one with the rest.
static void give_up_cutting(struct pass *pass, const struct pd_record *record)
{
	struct pd_pieces *pieces = pass->pieces;

	pieces->once = true;
	pieces->reported_until = record->offset;
	pieces->reported_part = record->part;
	for (size_t i = 0; i < pieces->count; i++)
		pd_times_join(&pass->cut.whole.times, &pieces->items[i].times);
	pieces->count = 0;
	pd_scanners_end(pass->scanners);
	pass->scanners = NULL;
	pass->cut.limit = UINT64_MAX;
}

static enum pd_status pass_all(struct pass *pass, struct pd_error *error)
{
	const struct pd_record *record;
	enum pd_status status;

	for (;;) {
		if (pass->scanners) {
			status = follow_scanners(pass, error);
			if (status < 0)
				return status;
		}
		status = pd_stream_next(pass->stream, &record, error);
		if (status != PD_OK)
			return status;
		// not only files whose features say so are compressed
		if (!pass->pieces->once && pd_holds_records(record->type)) {
			give_up_cutting(pass, record);
			if (!pass->visitor)
				return PD_OK;
		}
		status = note_record(pass, record, error);
		if (status < 0)
			return status;
	}
}

enum pd_status pd_pieces_pass(struct pd_pieces *pieces, struct pd_stream *stream, const struct pd_visitor *visitor,
			      size_t threads, struct pd_error *error)
{
	struct pass pass = { .pieces = pieces, .stream = stream, .visitor = visitor };
	enum pd_status status;

	pd_cut_init(&pass.cut, pieces, stream);
	pass.scanners = pd_scanners_start(stream->file, threads);
	status = pass_all(&pass, error);
	pd_scanners_end(pass.scanners);
	if (status != PD_END)
		return status;
	pieces->reported_until = UINT64_MAX;
	pieces->reported_part = UINT32_MAX;
	pieces->times = pass.cut.whole.times;
	pieces->record_count = stream->index;
	for (size_t i = 0; i < pieces->count; i++)
		pd_times_join(&pieces->times, &pieces->items[i].times);
	return PD_OK;
}
