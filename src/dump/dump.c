/* SPDX-License-Identifier: MIT */
// Records as they are, one after another, or counts of them, or what stands in front. Everything comes from the format's table;
// this file only selects.
#include <perfdata/dump.h>

#include <inttypes.h>
#include <string.h>

#include <perfdata/header.h>
#include <perfdata/print.h>
#include <perfdata/record_stats.h>

#include "base/error.h"
#include "stream/each.h"

struct dump {
	struct pd_dump_options options;
	struct pd_file *file;
	struct pd_text *text;
	struct pd_stats *stats;
	size_t events_known; // by the condition
	uint64_t found;
	uint64_t before, before_end; // the last record before the wanted offset
};

static bool is_selective(const struct pd_dump_options *options)
{
	return options->one_record || options->one_offset || options->type_count || options->where;
}

static bool is_selected(const struct dump *dump, const struct pd_record *record)
{
	const struct pd_dump_options *options = &dump->options;
	bool fits = options->type_count == 0;

	for (size_t i = 0; i < options->type_count && !fits; i++)
		fits = options->types[i] == record->type;
	return fits && (!options->one_record || record->index == options->record) &&
	       (!options->one_offset || record->offset == options->offset) &&
	       (!options->where || pd_filter_takes(options->where, record, NULL));
}

// True if no later record can be selected.
static bool is_last(const struct dump *dump, const struct pd_record *record)
{
	const struct pd_dump_options *options = &dump->options;

	if (options->one_record && record->index >= options->record)
		return true;
	return options->one_offset && !options->by_time && record->offset > options->offset &&
	       pd_file_part_count(dump->file) == 1;
}

// ---- records ----

static void print_record(struct dump *dump, struct pd_stream *stream, const struct pd_record *record)
{
	bool json = dump->options.json;

	if (dump->options.hex)
		(json ? pd_json_record_bytes : pd_print_record_bytes)(dump->text, stream, record);
	else
		(json ? pd_json_record : pd_print_record)(dump->text, record);
	if (json)
		pd_text_add(dump->text, "\n");
}

// Fields of tracepoints are those of the events so far; in a pipe there may be more.
static enum pd_status learn_events(struct dump *dump, struct pd_error *error)
{
	size_t count = pd_file_event_count(dump->file);
	bool pipe = pd_file_header(dump->file)->mode == PD_MODE_PIPE;

	if (!dump->options.where || dump->events_known == count)
		return PD_OK;
	dump->events_known = count;
	return pd_filter_bind(dump->options.where, dump->file, !pipe, error);
}

static enum pd_status flush(struct pd_text *text, struct pd_error *error)
{
	if (pd_text_flush_large(text))
		return PD_OK;
	return pd_text_failed(text) ? pd_fail_memory(error) :
				      pd_fail(error, PD_ERROR_OUTPUT, PD_NO_OFFSET, "the output cannot be written");
}

static enum pd_status dump_record(void *self, struct pd_stream *stream, const struct pd_record *record,
				  struct pd_error *error)
{
	struct dump *dump = self;
	bool last = is_last(dump, record);
	enum pd_status status = learn_events(dump, error);

	if (status < 0)
		return status;
	if (record->offset < dump->options.offset) {
		dump->before = record->offset;
		dump->before_end = record->offset + record->bytes.size + record->tail_size;
	}
	if (is_selected(dump, record)) {
		dump->found++;
		if (dump->stats)
			pd_stats_count(dump->stats, record);
		else
			print_record(dump, stream, record);
		status = flush(dump->text, error);
	}
	return status == PD_OK && last ? PD_END : status;
}

static enum pd_status count_record(void *self, struct pd_stream *stream, const struct pd_record *record,
				   struct pd_error *error)
{
	struct dump *dump = self;

	(void)error;
	pd_stats_count(dump->stats, record);
	pd_stats_count_following(dump->stats, stream, record);
	return PD_OK;
}

static enum pd_status read_all(struct dump *dump, pd_each_fn *function, struct pd_error *error)
{
	const struct pd_each each = { .order = dump->options.by_time ? PD_ORDER_TIME : PD_ORDER_FILE,
				      .trusts = true,
				      .progress = dump->options.progress,
				      .progress_self = dump->options.self,
				      .live = dump->text };

	return pd_each_record(dump->file, &each, function, dump, error);
}

static enum pd_status print_selected(struct dump *dump, struct pd_error *error)
{
	uint64_t wanted = dump->options.offset;
	enum pd_status status = read_all(dump, dump_record, error);

	if (status < 0 || dump->found || !is_selective(&dump->options))
		return status;
	if (dump->options.one_offset && wanted < dump->before_end)
		return pd_fail(error, PD_ERROR_NO_MATCH, PD_NO_OFFSET,
			       "no record begins at 0x%" PRIx64 ": it is inside the record at 0x%" PRIx64, wanted,
			       dump->before);
	return pd_fail(error, PD_ERROR_NO_MATCH, PD_NO_OFFSET, "no such record");
}

static enum pd_status print_stats(struct dump *dump, struct pd_error *error)
{
	enum pd_status status = pd_stats_new(dump->file, &dump->stats, error);

	if (status < 0)
		return status;
	status = read_all(dump, is_selective(&dump->options) ? dump_record : count_record, error);
	// up to an error
	if (dump->options.json) {
		pd_json_stats(dump->text, dump->stats);
		pd_text_add(dump->text, "\n");
	} else {
		pd_print_stats(dump->text, dump->stats);
	}
	if (pd_stats_failed(dump->stats))
		status = pd_fail(error, PD_ERROR_MEMORY, PD_NO_OFFSET, "out of memory: the counts are too low");
	pd_stats_free(dump->stats);
	return status;
}

// ---- header and features ----

static enum pd_status print_front(struct dump *dump, struct pd_error *error)
{
	const struct pd_dump_options *options = &dump->options;
	struct pd_feature_section section;
	enum pd_status status = PD_OK;

	// in a pipe events and features are records: all of it must have passed
	if (pd_file_header(dump->file)->mode == PD_MODE_PIPE)
		status = read_all(dump, NULL, error);
	if (options->header)
		(options->json ? pd_json_header : pd_print_header)(dump->text, dump->file);
	for (size_t i = 0; options->features && pd_file_feature_at(dump->file, i, &section); i++) {
		(options->json ? pd_json_feature : pd_print_feature)(dump->text, dump->file, &section, options->hex);
		if (!pd_text_flush_large(dump->text))
			return flush(dump->text, error);
	}
	return status;
}

// ---- all of it ----

enum pd_status pd_dump(struct pd_text *text, struct pd_file *file, const struct pd_dump_options *options,
		       struct pd_error *error)
{
	struct dump dump = { .file = file, .text = text };
	enum pd_status status;

	if (options && !options->size)
		return pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET, "pd_dump_options.size is 0");
	if (options)
		memcpy(&dump.options, options,
		       options->size < sizeof(dump.options) ? options->size : sizeof(dump.options));
	status = dump.options.header || dump.options.features ? print_front(&dump, error) :
		 dump.options.stats                           ? print_stats(&dump, error) :
								print_selected(&dump, error);
	if (status >= 0 && pd_text_failed(text))
		return pd_fail_memory(error);
	return status < 0 ? status : PD_OK;
}
