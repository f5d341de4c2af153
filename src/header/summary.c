/* SPDX-License-Identifier: MIT */
// Notes what one pass over the records tells; only the few that tell of losses, compression or traces are decoded.
#include "file/file.h"
#include "header/summary.h"

#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "stream/each.h"

static void note_time(struct pd_summary *summary, const struct pd_record *record)
{
	bool is_sample = record->type == PD_RECORD_SAMPLE;

	/* Records that perf made up have the time 0. */
	if (record->time_ns == PD_NO_TIME || (!is_sample && record->time_ns == 0))
		return;
	if (summary->times_of_samples && !is_sample)
		return;
	if (summary->numbers.first_ns == PD_NO_TIME || summary->times_of_samples != is_sample) {
		summary->times_of_samples = is_sample;
		summary->numbers.first_ns = record->time_ns;
		summary->numbers.last_ns = record->time_ns;
	}
	if (record->time_ns < summary->numbers.first_ns)
		summary->numbers.first_ns = record->time_ns;
	if (record->time_ns > summary->numbers.last_ns)
		summary->numbers.last_ns = record->time_ns;
}

static void note_lost(struct pd_summary *summary, const struct pd_record *record)
{
	const struct pd_lost *lost = pd_as_lost(record);

	summary->numbers.lost_records += lost ? lost->lost : 0;
}

static void note_lost_samples(struct pd_summary *summary, const struct pd_record *record)
{
	const struct pd_lost_samples *lost = pd_as_lost_samples(record);

	summary->numbers.lost_samples += lost ? lost->lost : 0;
}

static void note_throttle(struct pd_summary *summary, const struct pd_record *record)
{
	(void)record;
	summary->numbers.throttle_count++;
}

static void note_mmap2(struct pd_summary *summary, const struct pd_record *record)
{
	const struct pd_mmap2 *map;
	struct pd_mmap2 mended;

	if (summary->maps_have_build_ids || !(record->misc & PD_MASK(PD_MISC_MMAP_BUILD_ID)))
		return;
	map = pd_as_mmap2(record);
	if (map) {
		mended = *map;
		summary->maps_have_build_ids = !pd_mmap2_recover(record, &mended);
	}
}

static void note_tracing_data(struct pd_summary *summary, const struct pd_record *record)
{
	(void)record;
	summary->has_tracing_record = true;
}

static void note_auxtrace(struct pd_summary *summary, const struct pd_record *record)
{
	summary->numbers.aux_bytes += record->tail_size;
}

static void note_compressed(struct pd_summary *summary, const struct pd_record *record)
{
	const struct pd_compressed *compressed = pd_as_compressed(record);

	summary->numbers.compressed_bytes += compressed ? compressed->data.size : 0;
}

static void note_compressed2(struct pd_summary *summary, const struct pd_record *record)
{
	const struct pd_compressed2 *compressed = pd_as_compressed2(record);

	summary->numbers.compressed_bytes += compressed ? compressed->data.size : 0;
}

static void (*const note_by_type[])(struct pd_summary *, const struct pd_record *) = {
	[PD_RECORD_LOST] = note_lost,
	[PD_RECORD_THROTTLE] = note_throttle,
	[PD_RECORD_MMAP2] = note_mmap2,
	[PD_RECORD_LOST_SAMPLES] = note_lost_samples,
	[PD_RECORD_HEADER_TRACING_DATA] = note_tracing_data,
	[PD_RECORD_AUXTRACE] = note_auxtrace,
	[PD_RECORD_COMPRESSED] = note_compressed,
	[PD_RECORD_COMPRESSED2] = note_compressed2,
};

static enum pd_status note_record(void *self, struct pd_stream *stream, const struct pd_record *record,
				  struct pd_error *error)
{
	struct pd_summary *summary = self;

	(void)stream;
	(void)error;
	pd_stats_count(summary->stats, record);
	note_time(summary, record);
	if (record->flags & PD_RECORD_INFLATED)
		summary->numbers.inflated_bytes += record->bytes.size;
	if (record->type < sizeof(note_by_type) / sizeof(note_by_type[0]) && note_by_type[record->type])
		note_by_type[record->type](summary, record);
	return PD_OK;
}

enum pd_status pd_summary_read(struct pd_file *file, const struct pd_summary_options *options,
			       struct pd_summary **summary_out, struct pd_error *error)
{
	struct pd_summary *summary = pd_alloc(sizeof(*summary));
	struct pd_summary_options all = { 0 };
	struct pd_each each = { 0 };
	enum pd_status status;

	*summary_out = NULL;
	if (options)
		memcpy(&all, options, options->size < sizeof(all) ? options->size : sizeof(all));
	if (!summary)
		return pd_fail_memory(error);
	status = options && !options->size ?
			 pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET, "pd_summary_options.size is 0") :
			 pd_stats_new(file, &summary->stats, error);
	if (status < 0) {
		pd_summary_free(summary);
		return status;
	}
	summary->file = file;
	summary->numbers.first_ns = summary->numbers.last_ns = PD_NO_TIME;
	each.progress = all.progress;
	each.progress_self = all.self;
	*summary_out = summary;
	status = pd_each_record(file, &each, note_record, summary, error);
	if (status >= 0 && pd_stats_failed(summary->stats))
		return pd_fail(error, PD_ERROR_MEMORY, PD_NO_OFFSET, "out of memory: the counts are too low");
	return status;
}

void pd_summary_free(struct pd_summary *summary)
{
	if (!summary)
		return;
	pd_stats_free(summary->stats);
	pd_free(summary);
}

const struct pd_summary_numbers *pd_summary_numbers(const struct pd_summary *summary)
{
	return &summary->numbers;
}

const struct pd_stats *pd_summary_stats(const struct pd_summary *summary)
{
	return summary->stats;
}

/* ---- what is missing ---- */

static bool lacks_host(const struct pd_summary *summary)
{
	return !pd_file_has_feature(summary->file, PD_FEATURE_HOSTNAME) &&
	       !pd_file_has_feature(summary->file, PD_FEATURE_OSRELEASE);
}

static bool lacks_machine(const struct pd_summary *summary)
{
	return !pd_file_has_feature(summary->file, PD_FEATURE_ARCH) &&
	       !pd_file_has_feature(summary->file, PD_FEATURE_E_MACHINE);
}

static bool lacks_command(const struct pd_summary *summary)
{
	return !pd_file_has_feature(summary->file, PD_FEATURE_CMDLINE);
}

static bool lacks_event_names(const struct pd_summary *summary)
{
	return !pd_file_has_feature(summary->file, PD_FEATURE_EVENT_DESC) &&
	       !pd_file_has_feature(summary->file, PD_FEATURE_SIMPLEPERF_META_INFO) &&
	       !pd_stats_of_type(summary->stats, PD_RECORD_EVENT_UPDATE);
}

static bool lacks_build_ids(const struct pd_summary *summary)
{
	return pd_stats_of_type(summary->stats, PD_RECORD_SAMPLE) &&
	       !pd_file_has_feature(summary->file, PD_FEATURE_BUILD_ID) &&
	       !pd_stats_of_type(summary->stats, PD_RECORD_HEADER_BUILD_ID) && !summary->maps_have_build_ids;
}

static bool lacks_tracing_data(const struct pd_summary *summary)
{
	bool wanted = false;

	for (size_t i = 0; i < pd_file_event_count(summary->file); i++)
		wanted |= pd_file_event(summary->file, i)->attr->type == PD_TYPE_TRACEPOINT;
	return wanted && !summary->has_tracing_record && !pd_file_has_feature(summary->file, PD_FEATURE_TRACING_DATA) &&
	       !pd_stats_of_type(summary->stats, PD_RECORD_SIMPLEPERF_TRACING_DATA);
}

static bool is_unfinished(const struct pd_summary *summary)
{
	return pd_file_header(summary->file)->unfinished;
}

static bool is_truncated(const struct pd_summary *summary)
{
	return pd_file_header(summary->file)->truncated;
}

static bool is_damaged(const struct pd_summary *summary)
{
	return pd_file_problem_count(summary->file, PD_DAMAGE) > 0;
}

static const struct missing {
	bool (*applies)(const struct pd_summary *summary);
	const char *text;
} missing[] = {
	{ is_unfinished, "end of the file: the recording was not finished" },
	{ is_truncated, "end of the file: it is truncated" },
	{ is_damaged, "corrupt parts: see perfdata check" },
	{ lacks_host, "host and kernel" },
	{ lacks_machine, "architecture" },
	{ lacks_command, "command line of the recorder" },
	{ lacks_event_names, "event names as given to the recorder" },
	{ lacks_build_ids, "build ids: object versions cannot be verified" },
	{ lacks_tracing_data, "tracing data: tracepoint fields cannot be decoded" },
};

const char *pd_summary_missing(const struct pd_summary *summary, size_t index)
{
	for (size_t i = 0; i < sizeof(missing) / sizeof(missing[0]); i++) {
		if (missing[i].applies(summary) && index-- == 0)
			return missing[i].text;
	}
	return NULL;
}
