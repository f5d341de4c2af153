/* SPDX-License-Identifier: MIT */
// The first pass: what all pieces have in common, and how many samples each has.
#include <inttypes.h>

#include "edit/split/split.h"
#include "format/traits.h"

enum {
	MARGIN_BYTES = 1024, // around records, that the writer makes itself
	EVENT_BYTES = 160,
	RECORD_BYTES = 64 // of a feature or an event: what is around it
};

uint64_t pd_split_record_bytes(const struct pd_stream *stream, const struct pd_record *record)
{
	uint64_t done, total;

	if (!record->tail_size)
		return record->bytes.size;
	pd_stream_progress(stream, &done, &total);
	return record->bytes.size + (total && record->tail_size > total ? total : record->tail_size);
}

static bool is_compressed(const struct pd_record *record)
{
	return pd_record_is(record->type, PD_TRAIT_COMPRESSED) && !(record->flags & PD_RECORD_INFLATED);
}

static enum pd_status count_other(void *self, struct pd_stream *stream, const struct pd_record *record,
				  struct pd_error *error)
{
	struct pd_split *split = self;
	const struct pd_task *task;

	if (!is_compressed(record))
		split->common_bytes += pd_split_record_bytes(stream, record);
	if (split->options.by == PD_SPLIT_EVENT && record->event && !pd_record_is(record->type, PD_TRAIT_OF_EVENT) &&
	    !pd_split_note_event(split, record))
		return pd_fail_memory(error);
	task = pd_split_by_tasks(split) ? pd_as_fork(record) : NULL;
	if (task && task->pid != task->ppid &&
	    !pd_task_pairs_add(&split->parents, (struct pd_task_pair){ task->pid, task->ppid }))
		return pd_fail_memory(error);
	return split->state ? pd_state_take(split->state, record, error) : PD_OK;
}

static enum pd_status begin_samples(void *self, struct pd_window *window, struct pd_error *error)
{
	struct pd_split *split = self;
	struct pd_feature_section section;

	split->window = *window;
	pd_task_pairs_sort(&split->parents);
	split->common_bytes += MARGIN_BYTES + RECORD_BYTES * pd_file_event_count(split->file);
	for (size_t i = 0; pd_file_feature_at(split->file, i, &section); i++)
		split->common_bytes += section.size + RECORD_BYTES;
	for (size_t i = 0; i < pd_file_event_count(split->file); i++)
		split->common_bytes += 8 * pd_file_event(split->file, i)->ids.count + EVENT_BYTES;
	if (split->options.by == PD_SPLIT_SIZE && split->common_bytes >= split->options.amount)
		return pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET,
			       "%s: what every piece must have takes %" PRIu64
			       " bytes, which is not less than %" PRIu64,
			       pd_file_name(split->file), split->common_bytes, split->options.amount);
	return split->state ? pd_state_finalize(split->state, error) : PD_OK;
}

static void note_time(struct pd_split_piece *piece, uint64_t time_ns)
{
	if (time_ns == PD_NO_TIME)
		return;
	if (!piece->first_ns || time_ns < piece->first_ns)
		piece->first_ns = time_ns;
	if (time_ns > piece->last_ns)
		piece->last_ns = time_ns;
}

static enum pd_status count_sample(void *self, struct pd_stream *stream, const struct pd_record *record,
				   struct pd_error *error)
{
	struct pd_split *split = self;
	struct pd_brief brief;
	struct pd_split_output *piece;
	uint64_t key;
	bool missing;

	(void)stream;
	if (record->type != PD_RECORD_SAMPLE)
		return PD_OK;
	if (!pd_split_key(split, record, &key, &missing)) {
		split->result.lost_count++;
		return PD_OK;
	}
	if (split->options.by == PD_SPLIT_SIZE && record->bytes.size > split->options.amount - split->common_bytes)
		return pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET,
			       "%s: a sample of %zu bytes and the %" PRIu64
			       " bytes that every piece must have are more than %" PRIu64,
			       pd_file_name(split->file), record->bytes.size, split->common_bytes,
			       split->options.amount);
	split->result.sample_count++;
	split->result.unknown_count += missing;
	piece = pd_split_add_piece(split, key);
	if (!piece)
		return pd_fail_memory(error);
	piece->shown.sample_count++;
	note_time(&piece->shown, record->time_ns);
	if (pd_split_by_tasks(split) && pd_record_brief(record, &brief) &&
	    !pd_task_pairs_add(&split->tasks, (struct pd_task_pair){ brief.pid, key }))
		return pd_fail_memory(error);
	return PD_OK;
}

static bool show_progress(void *self, uint64_t done, uint64_t total)
{
	const struct pd_split *split = self;

	if (split->options.progress)
		split->options.progress(split->options.self, done, total);
	return true;
}

enum pd_status pd_split_count_all(struct pd_split *split, struct pd_error *error)
{
	const struct pd_sink sink = { .size = sizeof(sink), .self = split, .record = count_sample };
	const struct pd_run_options options = { .size = sizeof(options),
						.threads = 1,
						.first = count_other,
						.ready = begin_samples,
						.self = split,
						.progress = show_progress };
	enum pd_status status = PD_OK;

	if (split->options.by == PD_SPLIT_COMM || split->options.by == PD_SPLIT_CGROUP)
		status = pd_state_new(NULL, &split->state, error);
	if (status >= 0)
		status = pd_run(split->file, &options, &sink, error);
	pd_task_pairs_sort(&split->tasks);
	return status;
}
