/* SPDX-License-Identifier: MIT */
/*
 * One recording as several. A first pass counts what would be in each piece, so that all names are known before anything is
 * written; then pieces are written, so many at a time as there are bits in a mask.
 */
#include <inttypes.h>
#include <string.h>

#include "edit/split/split.h"
#include "file/file.h"
#include "format/traits.h"
#include "stream/each.h"
#include "write/write.h"

enum {
	COPIED_TIMES_MAX = 64, // as much as the file has of what is no sample
	COPIED_BYTES_MAX = 1 << 29
};

// ---- before anything is written ----

static enum pd_status plan(struct pd_split *split, struct pd_error *error)
{
	const char *name = pd_file_name(split->file);
	enum pd_status status = pd_split_count_all(split, error);
	bool is_known = split->result.sample_count > split->result.unknown_count;

	if (status < 0)
		return status;
	if (!split->piece_count)
		return pd_fail(error, PD_ERROR_NO_SAMPLES, PD_NO_OFFSET, "%s: there are no samples%s", name,
			       split->result.lost_count ? " that can be read" : "");
	if (!is_known || (split->options.by == PD_SPLIT_TIME && !split->window.last_ns))
		return pd_fail(error, PD_ERROR_NO_MATCH, PD_NO_OFFSET, "%s: %s", name, pd_split_unknown_reason(split));
	if (split->piece_count > PD_SPLIT_MAX_PIECES)
		return pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET, "%zu files would be written, the limit is %d",
			       split->piece_count, PD_SPLIT_MAX_PIECES);
	pd_split_sort_pieces(split);
	return pd_split_name_pieces(split, error);
}

enum pd_status pd_split_new(struct pd_file *file, const struct pd_split_options *options, struct pd_split **split_out,
			    struct pd_error *error)
{
	struct pd_split *split;
	enum pd_status status;
	bool is_sized;

	if (options && !options->size)
		return pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET, "pd_split_options.size is 0");
	split = pd_alloc(sizeof(*split));
	if (!split)
		return pd_fail_memory(error);
	if (options)
		memcpy(&split->options, options, options->size < sizeof(*options) ? options->size : sizeof(*options));
	split->file = file;
	split->by_key.seed = split->needs.seed = pd_file_secret(file);
	is_sized = split->options.by == PD_SPLIT_TIME || split->options.by == PD_SPLIT_SIZE;
	status = is_sized && !split->options.amount ?
			 pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET, "pd_split_options.amount is 0") :
			 plan(split, error);
	if (status < 0)
		pd_split_free(split);
	else
		*split_out = split;
	return status < 0 ? status : PD_OK;
}

void pd_split_free(struct pd_split *split)
{
	if (!split)
		return;
	pd_state_free(split->state);
	pd_free(split->pieces);
	pd_u64_map_fini(&split->by_key);
	pd_arena_fini(&split->names);
	pd_free(split->tasks.items);
	pd_free(split->parents.items);
	pd_free(split->referenced);
	pd_u64_map_fini(&split->needs);
	pd_free(split);
}

void pd_split_count(const struct pd_split *split, struct pd_split_result *result_out)
{
	*result_out = split->result;
}

// ---- records ----

static uint64_t slice_begin(const struct pd_split *split, const struct pd_split_output *piece)
{
	return split->window.first_ns + piece->key * split->options.amount;
}

// What tells who runs is needed by all that comes later; a slice lasts until the next one that has samples.
static uint64_t pieces_of_time(const struct pd_split *split, const struct pd_record *record)
{
	bool is_state = pd_record_is(record->type, PD_TRAIT_STATE);
	uint64_t bits = 0;

	for (size_t i = 0; i < split->open_count; i++) {
		const struct pd_split_output *piece = &split->pieces[split->first + i];
		bool is_last = piece == &split->pieces[split->piece_count - 1];

		if ((is_last || record->time_ns < slice_begin(split, piece + 1)) &&
		    (is_state || piece == split->pieces || record->time_ns >= slice_begin(split, piece)))
			bits |= UINT64_C(1) << i;
	}
	return bits;
}

// The open pieces that a record goes into, as bits.
static uint64_t pieces_of(const struct pd_split *split, const struct pd_record *record)
{
	if (pd_split_by_tasks(split))
		return pd_split_pieces_of_task(split, record);
	if (split->options.by == PD_SPLIT_TIME && record->time_ns != PD_NO_TIME && record->type < 64)
		return pieces_of_time(split, record);
	return split->open_count < 64 ? (UINT64_C(1) << split->open_count) - 1 : UINT64_MAX;
}

// What all pieces need makes many files of a small one, and a file can be made to need more than there is memory for.
static enum pd_status check_copied(struct pd_split *split, uint64_t bytes, struct pd_error *error)
{
	const uint64_t max = COPIED_BYTES_MAX + COPIED_TIMES_MAX * split->common_bytes;

	split->copied_bytes += bytes;
	if (split->copied_bytes <= max)
		return PD_OK;
	return pd_fail(error, PD_ERROR_OUTPUT, PD_NO_OFFSET,
		       "%s: stopped: the mappings and names needed in each file take more than %" PRIu64
		       " MiB; filter it first",
		       pd_file_name(split->file), max >> 20);
}

// Compressed records were decoded; events and features of a pipe are in the header of a piece of an event already.
static bool is_left_out(const struct pd_split *split, const struct pd_record *record)
{
	if (pd_record_is(record->type, PD_TRAIT_COMPRESSED))
		return !(record->flags & PD_RECORD_INFLATED);
	return split->options.by == PD_SPLIT_EVENT && pd_record_is(record->type, PD_TRAIT_HEADER) &&
	       pd_file_header(split->file)->mode == PD_MODE_PIPE;
}

static enum pd_status pass_other(struct pd_split *split, struct pd_stream *stream, const struct pd_record *record,
				 struct pd_error *error)
{
	bool by_event = split->options.by == PD_SPLIT_EVENT;
	enum pd_status status;
	uint64_t bits;

	if (is_left_out(split, record))
		return PD_OK;
	bits = pieces_of(split, record);
	status = check_copied(split, pd_split_record_bytes(stream, record) * (uint64_t)__builtin_popcountll(bits),
			      error);
	for (; bits && status >= 0; bits &= bits - 1) {
		const struct pd_split_output *piece = &split->pieces[split->first + (size_t)__builtin_ctzll(bits)];

		status = by_event ? pd_split_pass_of_events(split, piece, stream, record, error) :
				    pd_writer_pass(piece->writer, stream, record, error);
	}
	return pd_writer_output_status(status, error);
}

static enum pd_status pass_record(void *self, struct pd_stream *stream, const struct pd_record *record,
				  struct pd_error *error)
{
	struct pd_split *split = self;
	const struct pd_split_output *piece;
	uint64_t key;
	bool missing;

	if (record->type != PD_RECORD_SAMPLE)
		return pass_other(split, stream, record, error);
	if (!pd_split_key(split, record, &key, &missing))
		return PD_OK;
	piece = pd_split_find_piece(split, key);
	if (!piece || !piece->writer)
		return PD_OK;
	return pd_writer_output_status(pd_writer_pass(piece->writer, stream, record, error), error);
}

// ---- writing ----

static enum pd_status change_feature(void *self, struct pd_file *file, unsigned feature, const void **decoded_out,
				     bool *keep, struct pd_error *error)
{
	struct pd_split_output *piece = self;

	(void)file;
	(void)keep;
	(void)error;
	if (feature == PD_FEATURE_SAMPLE_TIME) {
		piece->times =
			(struct pd_sample_time){ .first_ns = piece->shown.first_ns, .last_ns = piece->shown.last_ns };
		*decoded_out = &piece->times;
	}
	return PD_OK;
}

static enum pd_status open_piece(struct pd_split *split, struct pd_split_output *piece, struct pd_error *error)
{
	const struct pd_changes changes = { .size = sizeof(changes), .self = piece, .feature = change_feature };
	enum pd_status status;

	if (split->options.by == PD_SPLIT_EVENT) {
		status = pd_split_write_events(split, piece, error);
	} else {
		status = pd_writer_change(piece->writer, &changes, error);
		if (status >= 0)
			status = pd_writer_copy_metadata(piece->writer, split->file, error);
	}
	return pd_writer_output_status(status, error);
}

static enum pd_status write_open_pieces(struct pd_split *split, struct pd_error *error)
{
	const struct pd_each each = { .progress = split->options.progress, .progress_self = split->options.self };
	enum pd_status status = PD_OK;

	split->piece_bytes = split->piece_number = 0;
	if (pd_split_by_tasks(split) && !pd_split_note_needs(split))
		return pd_fail_memory(error);
	for (size_t i = 0; i < split->open_count && status >= 0; i++)
		status = open_piece(split, &split->pieces[split->first + i], error);
	return status < 0 ? status : pd_each_record(split->file, &each, pass_record, split, error);
}

enum pd_status pd_split_write(struct pd_split *split, size_t first, struct pd_writer *const *writers, size_t count,
			      struct pd_error *error)
{
	enum pd_status status;

	if (count > PD_SPLIT_AT_ONCE || first > split->piece_count || count > split->piece_count - first)
		return pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET, "there are no such pieces");
	split->first = first;
	split->open_count = count;
	for (size_t i = 0; i < count; i++)
		split->pieces[first + i].writer = writers[i];
	status = write_open_pieces(split, error);
	for (size_t i = 0; i < count; i++)
		split->pieces[first + i].writer = NULL;
	return status;
}
