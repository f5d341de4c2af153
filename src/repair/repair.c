/* SPDX-License-Identifier: MIT */
/*
 * What can be read of a file, written again. Finding it is the work of a careful stream (stream/resync.c) and of
 * opening with `mend` (file/mend.c), writing it that of the writer; here is decided what goes along.
 */
#include <perfdata/repair.h>

#include <string.h>

#include "write/write.h"

enum { RECORDS_PER_STEP = 16384 };

struct repair {
	struct pd_file *file;
	struct pd_writer *writer; // or NULL
	struct pd_repair_options options;
	struct pd_repair_result result;
	uint64_t first_ns, last_ns; // of samples, 0 if there is none
};

static void set_bit(uint64_t bits[4], unsigned feature)
{
	bits[feature / 64] |= UINT64_C(1) << feature % 64;
}

static bool has_bit(const uint64_t bits[4], unsigned feature)
{
	return bits[feature / 64] >> feature % 64 & 1;
}

// ---- events and features ----

// A feature that cannot be taken apart is one that perf would stumble over.
static bool is_whole(struct pd_file *file, unsigned feature)
{
	return !pd_feature_layout(feature) || pd_file_feature(file, feature);
}

static enum pd_status change_feature(void *self, struct pd_file *file, unsigned feature, const void **decoded_out,
				     bool *keep, struct pd_error *error)
{
	(void)self;
	(void)decoded_out;
	(void)error;
	*keep = is_whole(file, feature);
	return PD_OK;
}

// Names that the attrs give: then the feature that has them is made.
static enum pd_status name_event(void *self, const struct pd_event *event, struct pd_attr *attr, const char **name,
				 struct pd_error *error)
{
	(void)self;
	(void)attr;
	(void)error;
	if (!*name)
		*name = event->name;
	return PD_OK;
}

// Whether something that a recorder writes at its end is missing. Of a pipe this is not known before its end.
static bool lacks_end(const struct repair *repair)
{
	const struct pd_header *header = &repair->file->header;

	return header->mode != PD_MODE_PIPE && repair->file->event_count &&
	       (header->unfinished || header->truncated);
}

static enum pd_status carry(struct repair *repair, struct pd_error *error)
{
	struct pd_changes changes = {.size = sizeof(changes), .self = repair, .feature = change_feature};
	enum pd_status status;

	if (lacks_end(repair) && !pd_file_event_desc(repair->file)) {
		changes.event = name_event;
		set_bit(repair->result.made_features, PD_FEATURE_EVENT_DESC);
	}
	if (!repair->writer)
		return PD_OK;
	status = pd_writer_change(repair->writer, &changes, error);
	return status < 0 ? status : pd_writer_carry(repair->writer, repair->file, error);
}

static void count_features(struct repair *repair)
{
	struct pd_feature_section section;

	for (size_t i = 0; pd_file_feature_at(repair->file, i, &section); i++)
		set_bit(is_whole(repair->file, section.number) ? repair->result.kept_features
							       : repair->result.dropped_features,
			section.number);
	// those that the header promises and that are not there
	for (unsigned i = 0; i < PD_FEATURE_LIMIT; i++)
		if (has_bit(repair->file->header.feature_bits, i) && !has_bit(repair->result.kept_features, i))
			set_bit(repair->result.dropped_features, i);
}

// When the first and the last sample were, if a file should say so and does not.
static enum pd_status make_sample_time(struct repair *repair, struct pd_error *error)
{
	const struct pd_sample_time time = {.first_ns = repair->first_ns, .last_ns = repair->last_ns};

	if (!repair->first_ns || has_bit(repair->result.kept_features, PD_FEATURE_SAMPLE_TIME) ||
	    !(lacks_end(repair) || has_bit(repair->result.dropped_features, PD_FEATURE_SAMPLE_TIME)))
		return PD_OK;
	// a pipe has its features in front
	if (repair->writer && repair->writer->mode == PD_MODE_PIPE)
		return PD_OK;
	set_bit(repair->result.made_features, PD_FEATURE_SAMPLE_TIME);
	if (!repair->writer)
		return PD_OK;
	return pd_writer_set_feature(repair->writer, PD_FEATURE_SAMPLE_TIME, &time, error);
}

// ---- records ----

static bool is_packed(const struct pd_record *record)
{
	return (record->type == PD_RECORD_COMPRESSED || record->type == PD_RECORD_COMPRESSED2) &&
	       !(record->flags & PD_RECORD_INFLATED);
}

// Events and features of a pipe.
static bool is_about_file(const struct pd_record *record)
{
	return record->type == PD_RECORD_HEADER_ATTR || record->type == PD_RECORD_HEADER_FEATURE ||
	       record->type == PD_RECORD_OLD_FEATURE || record->type == PD_RECORD_HEADER_TRACING_DATA;
}

static void count_record(struct repair *repair, const struct pd_record *record)
{
	if (is_packed(record) || is_about_file(record))
		return;
	repair->result.record_count++;
	if (record->type != PD_RECORD_SAMPLE)
		return;
	repair->result.sample_count++;
	if (record->time_ns == PD_NO_TIME)
		return;
	if (!repair->first_ns || record->time_ns < repair->first_ns)
		repair->first_ns = record->time_ns;
	if (record->time_ns > repair->last_ns)
		repair->last_ns = record->time_ns;
}

// What a pipe says of itself is known before the writer takes it: a part of it may be better than another.
static enum pd_status learn(struct repair *repair, struct pd_error *error)
{
	const struct pd_stream_options careful = {.size = sizeof(careful), .careful = true};
	const struct pd_record *record;
	struct pd_stream *stream;
	enum pd_status status;

	if (repair->file->header.mode != PD_MODE_PIPE || !repair->file->main.seekable)
		return PD_OK;
	status = pd_stream_open(repair->file, &careful, &stream, error);
	if (status < 0)
		return status;
	stream->quiet = true;
	do
		status = pd_stream_next(stream, &record, error);
	while (status == PD_OK && record->type >= 64);
	pd_stream_close(stream);
	return status < 0 ? status : PD_OK;
}

static enum pd_status pass_records(struct repair *repair, struct pd_stream *stream, struct pd_error *error)
{
	const struct pd_record *record;
	uint64_t seen = 0, without_event = 0;
	enum pd_status status;

	while ((status = pd_stream_next(stream, &record, error)) == PD_OK) {
		if (repair->options.progress && ++seen % RECORDS_PER_STEP == 0)
			repair->options.progress(repair->options.self, stream);
		if (record->type == PD_RECORD_SAMPLE && !record->event) {
			without_event++; // which the stream has told
			continue;
		}
		count_record(repair, record);
		if (repair->writer)
			status = pd_writer_pass(repair->writer, stream, record, error);
		if (status < 0)
			return status;
	}
	pd_stream_losses(stream, &repair->result.losses);
	repair->result.losses.records += without_event;
	return status < 0 ? status : PD_OK;
}

enum pd_status pd_repair(struct pd_file *file, struct pd_writer *writer, const struct pd_repair_options *options,
			 struct pd_repair_result *result_out, struct pd_error *error)
{
	const struct pd_stream_options careful = {.size = sizeof(careful), .careful = true};
	struct repair repair = {.file = file, .writer = writer};
	struct pd_stream *stream;
	enum pd_status status;

	if (options && !options->size)
		return pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET, "the size of the options is 0");
	if (options)
		memcpy(&repair.options, options,
		       options->size < sizeof(repair.options) ? options->size : sizeof(repair.options));
	status = learn(&repair, error);
	if (status >= 0)
		status = carry(&repair, error);
	if (status >= 0)
		status = pd_stream_open(file, &careful, &stream, error);
	if (status < 0)
		return status;
	status = pass_records(&repair, stream, error);
	pd_stream_close(stream);
	count_features(&repair);
	if (status >= 0)
		status = make_sample_time(&repair, error);
	if (status >= 0)
		*result_out = repair.result;
	return status < 0 ? status : PD_OK;
}
