/* SPDX-License-Identifier: MIT */
/*
 * The pass over a recording that is still being made. Records wait, as copies, until the state is final for them: ring buffers are
 * read one after another, so a mapping that is older than a sample may come one round after it, but never two.
 */
#include "edit/inject/inject.h"

#include <string.h>

#include "stream/read/batch.h"

enum {
	ENOUGH = 16 << 20, // bytes that wait before they are worth finalizing the state
	MOST = 512 << 20   // that may wait where no round ends
};

struct late {
	struct pd_inject *inject;
	struct pd_stream *stream, *shown; // what is read, and what has waited
	struct pd_batch waiting;
	size_t last_round; // where it begins in waiting
	bool (*each)(void *self, struct pd_stream *stream, const struct pd_record *record);
	void *self;
};

static void drop_first(struct pd_batch *batch, size_t size)
{
	memmove(batch->data, batch->data + size, batch->size - size);
	batch->size -= size;
}

// Delivers what has waited, up to a place. PD_END if nothing more is wanted.
static enum pd_status deliver_records(struct late *late, size_t end, struct pd_error *error)
{
	enum pd_status status = pd_inject_unwind_settle(late->inject, error);

	for (size_t at = 0; at < end && status == PD_OK; at += pd_kept_step(pd_kept_at(&late->waiting, at))) {
		const struct pd_record *record = pd_stream_replay(late->shown, pd_kept_at(&late->waiting, at));

		if (!late->each(late->self, late->shown, record))
			status = PD_END;
	}
	pd_stream_end_replay(late->shown);
	if (end)
		drop_first(&late->waiting, end);
	return status;
}

static enum pd_status keep_record(struct late *late, const struct pd_record *record, struct pd_error *error)
{
	enum pd_status status = PD_OK;
	struct pd_bytes tail = { NULL, 0 };

	if (record->type != PD_RECORD_SAMPLE)
		status = pd_state_take(late->inject->unwind->state, record, error);
	if (status >= 0 && record->tail_size)
		status = pd_stream_tail(late->stream, &tail, error);
	if (status < 0)
		return status;
	if (!pd_batch_add(&late->waiting, record, tail))
		return pd_fail_memory(error);
	if (record->type != PD_RECORD_FINISHED_ROUND && late->waiting.size - late->last_round < MOST)
		return PD_OK;
	if (late->last_round >= ENOUGH)
		status = deliver_records(late, late->last_round, error);
	late->last_round = late->waiting.size;
	return status;
}

static enum pd_status read_all(struct late *late, struct pd_error *error)
{
	const struct pd_record *record;
	enum pd_status status;

	while ((status = pd_stream_next(late->stream, &record, error)) == PD_OK) {
		status = keep_record(late, record, error);
		if (status != PD_OK)
			return status < 0 ? status : PD_OK;
	}
	if (status < 0)
		return status;
	// nothing follows that could be older
	status = deliver_records(late, late->waiting.size, error);
	return status < 0 ? status : PD_OK;
}

enum pd_status pd_inject_each_late(struct pd_inject *inject,
				   bool (*each)(void *self, struct pd_stream *stream, const struct pd_record *record),
				   void *self, struct pd_error *error)
{
	struct late late = { .inject = inject, .each = each, .self = self };
	enum pd_status status =
		pd_stream_new(inject->file, &late.shown, error); // reads nothing, so the pipe has not begun

	if (status >= 0)
		status = pd_stream_open(inject->file, NULL, &late.stream, error);
	if (status >= 0)
		status = read_all(&late, error);
	pd_stream_close(late.shown);
	pd_stream_close(late.stream);
	pd_batch_fini(&late.waiting);
	return status;
}
