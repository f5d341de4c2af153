/* SPDX-License-Identifier: MIT */
// All records of a file to a writer, in the order of the file or of time. The form is a matter of the writer.
#include <perfdata/convert.h>

#include <string.h>

#include "base/error.h"
#include "stream/each.h"
#include "write/write.h"

enum {
	RECORDS_PER_ROUND = 65536 // of sorted output, so that readers need not keep all of it
};

struct convert {
	struct pd_convert_options options;
	struct pd_writer *writer;
	uint64_t passed; // since the last round
	bool late;       // the order of time is not kept
};

static enum pd_status end_round(struct convert *convert, struct pd_error *error)
{
	const struct pd_finished_round round = { 0 };

	convert->passed = 0;
	if (convert->late)
		return PD_OK;
	return pd_writer_add(convert->writer, PD_RECORD_FINISHED_ROUND, 0, &round, 0, error);
}

static enum pd_status convert_record(void *self, struct pd_stream *stream, const struct pd_record *record,
				     struct pd_error *error)
{
	struct convert *convert = self;
	enum pd_status status = PD_OK;

	if (convert->options.sort) {
		convert->late |= record->flags & PD_RECORD_LATE;
		// rounds say how far the order of the input was from that of time
		if (record->type == PD_RECORD_FINISHED_ROUND)
			return PD_OK;
		if (++convert->passed > RECORDS_PER_ROUND)
			status = end_round(convert, error);
	}
	if (status >= 0)
		status = pd_writer_pass(convert->writer, stream, record, error);
	if (!convert->options.sort)
		pd_writer_pass_following(convert->writer, stream);
	return pd_writer_output_status(status, error);
}

enum pd_status pd_convert(struct pd_file *file, struct pd_writer *writer, const struct pd_convert_options *options,
			  struct pd_error *error)
{
	struct convert convert = { .writer = writer };
	struct pd_each each = { 0 };

	if (options && !options->size)
		return pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET, "the size member of the options is 0");
	if (options)
		memcpy(&convert.options, options,
		       options->size < sizeof(convert.options) ? options->size : sizeof(convert.options));
	each.order = convert.options.sort ? PD_ORDER_TIME : PD_ORDER_FILE;
	each.progress = convert.options.progress;
	each.progress_self = convert.options.self;
	return pd_each_record(file, &each, convert_record, &convert, error);
}
