/* SPDX-License-Identifier: MIT */
// All records of a file to a writer, in the order of the file or of time. The form is a matter of the writer.
#include <perfdata/convert.h>

#include <string.h>

#include "base/error.h"
#include "write/write.h"

enum {
	RECORDS_PER_STEP = 16384, // between two calls of the progress function
	RECORDS_PER_ROUND = 65536 // of sorted output, so that readers need not keep all of it
};

struct convert {
	struct pd_convert_options options;
	struct pd_writer *writer;
	struct pd_error *error;
	uint64_t passed; // since the last round
	bool late;       // the order of time is not kept
};

static enum pd_status end_round(struct convert *convert)
{
	const struct pd_finished_round round = { 0 };

	convert->passed = 0;
	if (convert->late)
		return PD_OK;
	return pd_writer_add(convert->writer, PD_RECORD_FINISHED_ROUND, 0, &round, 0, convert->error);
}

static enum pd_status convert_record(struct convert *convert, struct pd_stream *stream, const struct pd_record *record)
{
	enum pd_status status = PD_OK;

	if (convert->options.sort) {
		convert->late |= record->flags & PD_RECORD_LATE;
		// rounds say how far the order of the input was from that of time
		if (record->type == PD_RECORD_FINISHED_ROUND)
			return PD_OK;
		if (++convert->passed > RECORDS_PER_ROUND)
			status = end_round(convert);
	}
	if (status >= 0)
		status = pd_writer_pass(convert->writer, stream, record, convert->error);
	if (!convert->options.sort)
		pd_writer_pass_following(convert->writer, stream);
	return pd_writer_output_status(status, convert->error);
}

static void show_progress(const struct convert *convert, const struct pd_stream *stream)
{
	uint64_t done, total;

	if (!convert->options.progress)
		return;
	pd_stream_progress(stream, &done, &total);
	convert->options.progress(convert->options.self, done, total);
}

enum pd_status pd_convert(struct pd_file *file, struct pd_writer *writer, const struct pd_convert_options *options,
			  struct pd_error *error)
{
	struct convert convert = { .writer = writer, .error = error };
	struct pd_stream_options reading = { .size = sizeof(reading), .verify = true };
	const struct pd_record *record;
	struct pd_stream *stream = NULL;
	enum pd_status status;
	uint64_t count = 0;

	if (options && !options->size)
		return pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET, "the size member of the options is 0");
	if (options)
		memcpy(&convert.options, options,
		       options->size < sizeof(convert.options) ? options->size : sizeof(convert.options));
	reading.order = convert.options.sort ? PD_ORDER_TIME : PD_ORDER_FILE;
	status = pd_stream_open(file, &reading, &stream, error);
	while (status == PD_OK) {
		status = pd_stream_next(stream, &record, error);
		if (status == PD_OK)
			status = convert_record(&convert, stream, record);
		if (status == PD_OK && ++count % RECORDS_PER_STEP == 0)
			show_progress(&convert, stream);
	}
	pd_stream_close(stream);
	return status < 0 ? status : PD_OK;
}
