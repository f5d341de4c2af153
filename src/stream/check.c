/* SPDX-License-Identifier: MIT */
/* Reading all of a file for its problems: everything is decoded, and what the format promises is looked at. */
#include <perfdata/check.h>

#include <inttypes.h>

#include "format/text/print.h"
#include "stream/read/inside.h"

struct check {
	struct pd_file *file;
	struct pd_check_result result;
	bool aux_truncated;
	uint64_t misaligned;
	uint64_t misaligned_offset;
};

static void count_losses(struct check *check, const struct pd_record *record)
{
	const struct pd_lost *lost = pd_as_lost(record);
	const struct pd_lost_samples *samples = pd_as_lost_samples(record);
	const struct pd_aux *aux = pd_as_aux(record);

	if (lost)
		check->result.lost_records += lost->lost;
	if (samples)
		check->result.lost_samples += samples->lost;
	if (record->type == PD_RECORD_THROTTLE)
		check->result.throttle_count++;
	if (aux && aux->flags & PD_MASK(PD_AUX_TRUNCATED))
		check->aux_truncated = true;
}

// Records whose place in the file perf 7.2 and later insist on.
static void check_size(struct check *check, const struct pd_record *record)
{
	if (record->bytes.size % 8 == 0 || record->type == PD_RECORD_HEADER_TRACING_DATA ||
	    record->type == PD_RECORD_HEADER_FEATURE || record->type == PD_RECORD_COMPRESSED)
		return;
	if (!check->misaligned++)
		check->misaligned_offset = record->offset;
}

static void check_map(struct check *check, const struct pd_record *record)
{
	const struct pd_mmap2 *map = pd_as_mmap2(record);
	struct pd_mmap2 mended;

	if (!map)
		return;
	mended = *map;
	if (pd_mmap2_recover(record, &mended))
		pd_file_report(check->file, PD_PROBLEM_NO_BUILD_ID, record->offset, "mmap2.build_id",
			       "a device and inode are marked as a build id");
}

static void check_record(struct check *check, const struct pd_record *record)
{
	struct pd_scratch *scratch = record->scratch;
	const struct pd_body_head *body;
	bool promised;

	check->result.record_count++;
	check->result.sample_count += record->type == PD_RECORD_SAMPLE;
	check_size(check, record);
	if (!pd_record_layout(record->type)) {
		check->result.undecoded_count++;
		return;
	}
	body = pd_record_as(record, record->type);
	if (!body) {
		check->result.undecoded_count++;
		return;
	}
	promised = pd_record_group(record->type) == PD_GROUP_KERNEL && scratch->context.event &&
		   scratch->context.event->trailer_size;
	if (promised && !body->sample_id)
		pd_file_report(check->file, PD_PROBLEM_NO_TRAILER, record->offset, NULL, "%s has no sample_id",
			       pd_record_name(record->type));
	// alignment of strings and the slack of some producers are no news
	if (body->rest.size >= 8 && record->type != PD_RECORD_EVENT_UPDATE &&
	    record->type != PD_RECORD_HEADER_TRACING_DATA)
		pd_file_report(check->file, PD_PROBLEM_LEFTOVER, record->offset, NULL, "%s: %zu bytes",
			       pd_record_name(record->type), body->rest.size);
	count_losses(check, record);
	check_map(check, record);
}

static void check_features(struct check *check)
{
	struct pd_feature_section section;

	for (size_t i = 0; pd_file_feature_at(check->file, i, &section); i++) {
		if (!pd_feature_layout(section.number))
			pd_file_report(check->file, PD_PROBLEM_UNKNOWN_FEATURE, section.offset, NULL,
				       "feature %u, %" PRIu64 " bytes", section.number, section.size);
		else
			pd_file_feature(check->file, section.number);
	}
}

static void sum_up(struct check *check)
{
	const struct pd_check_result *result = &check->result;
	bool stat_file = pd_file_stat(check->file) != NULL;

	if (result->lost_records)
		pd_file_report(check->file, PD_PROBLEM_LOST_RECORDS, PD_NO_OFFSET, NULL,
			       "%" PRIu64 " records were lost", result->lost_records);
	if (result->lost_samples)
		pd_file_report(check->file, PD_PROBLEM_LOST_SAMPLES, PD_NO_OFFSET, NULL,
			       "%" PRIu64 " samples were lost", result->lost_samples);
	if (result->throttle_count)
		pd_file_report(check->file, PD_PROBLEM_THROTTLED, PD_NO_OFFSET, NULL,
			       "events were throttled %" PRIu64 " times", result->throttle_count);
	if (check->aux_truncated)
		pd_file_report(check->file, PD_PROBLEM_AUX_TRUNCATED, PD_NO_OFFSET, NULL, "AUX data were truncated");
	if (check->misaligned)
		pd_file_report(check->file, PD_PROBLEM_MISALIGNED_SIZE, check->misaligned_offset, NULL,
			       "%" PRIu64 " records have a size that is not a multiple of 8", check->misaligned);
	if (!result->sample_count && !stat_file)
		pd_file_report(check->file, PD_PROBLEM_NO_SAMPLES, PD_NO_OFFSET, NULL, "the file has no samples");
}

enum {
	RECORDS_PER_CALL = 65536
};

enum pd_status pd_check_with_progress(struct pd_file *file, pd_check_progress_fn *progress, void *self,
				      struct pd_check_result *result_out, struct pd_error *error)
{
	struct check check = { .file = file };
	const struct pd_record *record;
	struct pd_stream *stream;
	enum pd_status status = pd_stream_open(file, NULL, &stream, error);

	if (status < 0)
		return status;
	while ((status = pd_stream_next(stream, &record, error)) == PD_OK) {
		check_record(&check, record);
		if (progress && record->index % RECORDS_PER_CALL == RECORDS_PER_CALL - 1)
			progress(self, stream);
	}
	pd_stream_close(stream);
	if (status < 0)
		return status;
	check_features(&check);
	sum_up(&check);
	for (unsigned i = 0; i < 4; i++)
		check.result.problem_count[i] = pd_file_problem_count(file, i);
	*result_out = check.result;
	return PD_OK;
}

enum pd_status pd_check(struct pd_file *file, struct pd_check_result *result_out, struct pd_error *error)
{
	return pd_check_with_progress(file, NULL, NULL, result_out, error);
}
