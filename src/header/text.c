/* SPDX-License-Identifier: MIT */
/*
 * The frame of the header: numbers of the file, then the features that are there, then the names of
 * those that are not. In a pipe the features are records and come after the frame.
 */
#include <inttypes.h>
#include <time.h>

#include <perfdata/header.h>
#include <perfdata/stream.h>

#include "header/feature.h"

enum {
	LAST_FEATURE = PD_FEATURE_PMU_CAPS /* that perf 6.1 knows, for the list of missing ones */
};

static void print_frame_end(const struct pd_header_print *header)
{
	pd_text_add(header->out, "# ========\n#\n");
}

static void print_frame_start(const struct pd_header_print *header)
{
	const struct pd_header *numbers = pd_file_header(header->file);
	time_t modified = (time_t)pd_file_modified(header->file);
	struct tm tm;
	char day[64] = "?";

	if (localtime_r(&modified, &tm))
		strftime(day, sizeof(day), "%a %b %e %H:%M:%S %Y", &tm);
	pd_text_printf(header->out,
		       "# ========\n# captured on    : %s\n# header version : %u\n"
		       "# data offset    : %" PRIu64 "\n# data size      : %" PRIu64 "\n"
		       "# feat offset    : %" PRIu64 "\n",
		       day, numbers->version - 1, numbers->data_offset, numbers->data_size,
		       numbers->data_offset + numbers->data_size);
}

static bool has_bit(const struct pd_header_print *header, unsigned feature)
{
	return pd_file_header(header->file)->feature_bits[feature / 64] >> feature % 64 & 1;
}

static void print_missing(const struct pd_header_print *header)
{
	pd_text_add(header->out, "# missing features: ");
	for (unsigned i = PD_FEATURE_TRACING_DATA; i <= LAST_FEATURE; i++) {
		if (!has_bit(header, i))
			pd_text_printf(header->out, "%s ", pd_feature_name(i));
	}
	pd_text_add(header->out, "\n");
}

/* What the header promises but could not be read is printed as unknown, unless nothing could. */
static void print_sections(const struct pd_header_print *header)
{
	struct pd_feature_section section;
	bool any = pd_file_feature_at(header->file, 0, &section);

	for (unsigned i = 0; any && i < PD_FEATURE_LIMIT; i++) {
		if (has_bit(header, i))
			pd_header_feature_text(header, i);
	}
	print_missing(header);
}

/* The mark after the last feature of a pipe has no bytes, and a number that depends on the
 * version of perf. */
static bool is_end_mark(const struct pd_header_feature *feature)
{
	const struct pd_layout *layout = pd_feature_layout((unsigned)feature->feat_id);

	return !feature->payload.size && (!layout || pd_layout_min_size(layout) > 0);
}

static enum pd_status print_records(const struct pd_header_print *header, struct pd_error *error)
{
	const struct pd_header_feature *feature;
	const struct pd_record *record;
	struct pd_stream *stream;
	bool printed[PD_FEATURE_LIMIT] = { false };
	enum pd_status status = pd_stream_open(header->file, NULL, &stream, error);

	if (status == PD_OK) {
		while ((status = pd_stream_next(stream, &record, error)) == PD_OK) {
			feature = record->type == PD_RECORD_HEADER_FEATURE ? pd_as_header_feature(record) : NULL;
			if (!feature || feature->feat_id >= PD_FEATURE_LIMIT)
				continue;
			if (is_end_mark(feature))
				break;
			if (!printed[feature->feat_id])
				pd_header_feature_text(header, (unsigned)feature->feat_id);
			printed[feature->feat_id] = true;
		}
		pd_stream_close(stream);
	}
	return status >= 0 ? PD_OK : status;
}

enum pd_status pd_print_perf_header(struct pd_text *text, struct pd_file *file, bool full, struct pd_error *error)
{
	const struct pd_header_print header = { file, text, full };

	print_frame_start(&header);
	if (pd_file_header(file)->mode != PD_MODE_PIPE) {
		print_sections(&header);
		print_frame_end(&header);
		return PD_OK;
	}
	print_frame_end(&header);
	return print_records(&header, error);
}
