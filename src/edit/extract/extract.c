/* SPDX-License-Identifier: MIT */
/*
 * An extraction from its start to its end: the pass that writes. What the rest is read by (events, features, compression)
 * is always passed, without asking the way to extract.
 */
#include "edit/extract/extract.h"

#include <string.h>

#include "file/file.h"
#include "format/traits.h"
#include "write/write.h"

static const struct pd_extract_way *find_way(const struct pd_extract_options *options)
{
	static const struct pd_extract_way *const ways[] = {
		[PD_EXTRACT_MATCHING] = &pd_extract_match, [PD_EXTRACT_TIME] = &pd_extract_range,
		[PD_EXTRACT_RATE] = &pd_extract_rate,      [PD_EXTRACT_FIRST] = &pd_extract_first,
		[PD_EXTRACT_LAST] = &pd_extract_last,
	};

	return (size_t)options->by < sizeof(ways) / sizeof(ways[0]) ? ways[options->by] : NULL;
}

// ---- features ----

// The times of what is kept are known at the end only, when the features of a pipe are long gone: there it is the requested
// time.
static enum pd_status change_feature(void *self, struct pd_file *file, unsigned feature, const void **decoded_out,
				     bool *keep, struct pd_error *error)
{
	struct pd_extract *extract = self;
	const struct pd_sample_time *noted;

	(void)error;
	if (feature != PD_FEATURE_SAMPLE_TIME || pd_writer_mode(extract->writer) != PD_MODE_PIPE ||
	    (!extract->from_ns && !extract->to_ns) || !(noted = pd_file_sample_time(file)))
		return PD_OK;
	extract->noted = *noted;
	if (extract->from_ns > noted->first_ns)
		extract->noted.first_ns = extract->from_ns;
	if (extract->to_ns && extract->to_ns < noted->last_ns)
		extract->noted.last_ns = extract->to_ns;
	*keep = extract->noted.first_ns <= extract->noted.last_ns;
	*decoded_out = *keep ? &extract->noted : NULL;
	return PD_OK;
}

static enum pd_status write_times(struct pd_extract *extract, struct pd_error *error)
{
	const struct pd_sample_time times = { .first_ns = extract->result.first_ns,
					      .last_ns = extract->result.last_ns };

	if (pd_writer_mode(extract->writer) == PD_MODE_PIPE ||
	    !pd_file_has_feature(extract->file, PD_FEATURE_SAMPLE_TIME))
		return PD_OK;
	return pd_writer_set_feature(extract->writer, PD_FEATURE_SAMPLE_TIME, &times, error);
}

// ---- records ----

static void count_record(struct pd_extract *extract, const struct pd_record *record, bool kept)
{
	struct pd_extract_result *result = &extract->result;
	bool sample = record->type == PD_RECORD_SAMPLE;

	*(sample ? &result->sample_count : &result->other_count) += 1;
	*(sample ? &result->kept_sample_count : &result->kept_other_count) += kept;
	if (kept && record->part < extract->part_count)
		extract->rounds[record->part]++;
	if (!sample || !kept || record->time_ns == PD_NO_TIME)
		return;
	if (!result->first_ns || record->time_ns < result->first_ns)
		result->first_ns = record->time_ns;
	if (record->time_ns > result->last_ns)
		result->last_ns = record->time_ns;
}

// A round in which nothing was kept says nothing.
static enum pd_status pass_round(struct pd_extract *extract, struct pd_stream *stream, const struct pd_record *record,
				 struct pd_error *error)
{
	uint64_t *passed = record->part < extract->part_count ? &extract->rounds[record->part] : NULL;

	if (extract->order == PD_ORDER_TIME || (passed && !*passed))
		return PD_OK;
	if (passed)
		*passed = 0;
	return pd_writer_pass(extract->writer, stream, record, error);
}

static enum pd_status write_chosen(struct pd_extract *extract, struct pd_stream *stream, const struct pd_record *record,
				   struct pd_error *error)
{
	enum pd_extract_action action = PD_EXTRACT_DROP;
	enum pd_status status;

	if (pd_record_is(record->type, PD_TRAIT_DESCRIBES))
		return pd_writer_pass(extract->writer, stream, record, error);
	if (record->type == PD_RECORD_FINISHED_ROUND)
		return pass_round(extract, stream, record, error);
	status = extract->way->choose(extract, stream, record, &action, error);
	if (status < 0)
		return status;
	extract->result.ended = action == PD_EXTRACT_END;
	if (action == PD_EXTRACT_END)
		return PD_END;
	count_record(extract, record, action != PD_EXTRACT_DROP);
	return action == PD_EXTRACT_PASS ? pd_writer_pass(extract->writer, stream, record, error) : PD_OK;
}

static enum pd_status write_record(void *self, struct pd_stream *stream, const struct pd_record *record,
				   struct pd_error *error)
{
	return pd_writer_output_status(write_chosen(self, stream, record, error), error);
}

enum pd_status pd_extract_write(struct pd_extract *extract, struct pd_writer *writer,
				struct pd_extract_result *result_out, struct pd_error *error)
{
	const struct pd_changes changes = {
		.size = sizeof(changes), .self = extract, .event = extract->way->event, .feature = change_feature
	};
	const struct pd_each pass = { .order = extract->order,
				      .progress = extract->options.progress,
				      .progress_self = extract->options.self };
	enum pd_status status;

	extract->writer = writer;
	status = pd_writer_change(writer, &changes, error);
	if (status >= 0)
		status = pd_writer_copy_metadata(writer, extract->file, error);
	if (status < 0)
		return pd_writer_output_status(status, error);
	status = pd_each_record(extract->file, &pass, write_record, extract, error);
	if (status >= 0)
		status = pd_writer_output_status(write_times(extract, error), error);
	if (status >= 0 && result_out)
		*result_out = extract->result;
	return status;
}

// ---- start and end ----

static enum pd_status check_options(const struct pd_extract_options *options, struct pd_error *error)
{
	bool by_select = options->by == PD_EXTRACT_MATCHING || options->by == PD_EXTRACT_TIME;

	if (!find_way(options))
		return pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET, "no such way to extract: %d", (int)options->by);
	if (by_select && !options->select)
		return pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET, "the select member of the options is NULL");
	if (options->by == PD_EXTRACT_RATE && !options->rate)
		return pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET, "the rate member of the options is 0");
	return PD_OK;
}

bool pd_extract_reads_twice(const struct pd_extract_options *options)
{
	struct pd_extract_options own = { 0 };

	memcpy(&own, options, options->size < sizeof(own) ? options->size : sizeof(own));
	return check_options(&own, NULL) == PD_OK && find_way(&own)->reads_twice(&own);
}

static enum pd_status prepare(struct pd_extract *extract, struct pd_error *error)
{
	extract->part_count = pd_file_part_count(extract->file);
	extract->rounds = pd_alloc((extract->part_count + 1) * sizeof(*extract->rounds));
	if (!extract->rounds)
		return pd_fail_memory(error);
	return extract->way->prepare ? extract->way->prepare(extract, error) : PD_OK;
}

enum pd_status pd_extract_new(struct pd_file *file, const struct pd_extract_options *options,
			      struct pd_extract **extract_out, struct pd_error *error)
{
	struct pd_extract *extract;
	enum pd_status status;

	if (!options || !options->size)
		return pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET, "the size member of the options is 0");
	extract = pd_alloc(sizeof(*extract));
	if (!extract)
		return pd_fail_memory(error);
	memcpy(&extract->options, options,
	       options->size < sizeof(extract->options) ? options->size : sizeof(extract->options));
	extract->file = file;
	extract->way = find_way(&extract->options);
	status = check_options(&extract->options, error);
	if (status >= 0)
		status = prepare(extract, error);
	if (status < 0)
		pd_extract_free(extract);
	else
		*extract_out = extract;
	return status;
}

void pd_extract_free(struct pd_extract *extract)
{
	if (!extract)
		return;
	if (extract->way && extract->way->free)
		extract->way->free(extract->context);
	pd_free(extract->rounds);
	pd_free(extract);
}
