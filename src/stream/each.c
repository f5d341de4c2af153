/* SPDX-License-Identifier: MIT */
#include "stream/each.h"

#include "base/error.h"
#include "base/text/text.h"

enum {
	RECORDS_PER_STEP = 16384 // between two calls of the progress function
};

static void show_progress(const struct pd_each *each, const struct pd_stream *stream)
{
	uint64_t done, total;

	if (!each->progress)
		return;
	pd_stream_progress(stream, &done, &total);
	each->progress(each->progress_self, done, total);
}

static bool is_live(const struct pd_file *file, const struct pd_each *each)
{
	const struct pd_header *header = pd_file_header(file);

	return each->live && header->mode == PD_MODE_PIPE && !header->file_size;
}

enum pd_status pd_each_record(struct pd_file *file, const struct pd_each *each, pd_each_fn *function, void *self,
			      struct pd_error *error)
{
	const struct pd_stream_options options = { .size = sizeof(options),
						   .order = each->order,
						   .verify = !each->trusts };
	const struct pd_record *record;
	struct pd_stream *stream = NULL;
	enum pd_status status = pd_stream_open(file, &options, &stream, error);
	bool live = is_live(file, each);
	uint64_t count = 0;

	while (status == PD_OK) {
		status = pd_stream_next(stream, &record, error);
		if (status == PD_OK && function)
			status = function(self, stream, record, error);
		if (status == PD_OK && live && record->type == PD_RECORD_FINISHED_ROUND && !pd_text_flush(each->live))
			status = pd_fail(error, PD_ERROR_OUTPUT, PD_NO_OFFSET, "the output cannot be written");
		if (status == PD_OK && ++count % RECORDS_PER_STEP == 0)
			show_progress(each, stream);
	}
	pd_stream_close(stream);
	return status < 0 ? status : PD_OK;
}
