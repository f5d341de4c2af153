/* SPDX-License-Identifier: MIT */
// What has to be known of a recording before it can be merged with others: one pass over its records.
#include "edit/merge/merge.h"

#include <perfdata/run.h>

#include <stdlib.h>
#include <string.h>

static enum pd_status add_map(struct pd_merge_source *source, const char *name, uint64_t start, uint64_t size,
			      uint64_t pgoff, struct pd_error *error)
{
	struct pd_kernel_map map = { .start = start, .end = start + size, .pgoff = pgoff };

	for (size_t i = 0; i < source->map_count; i++)
		if (!strcmp(source->maps[i].name, name))
			return PD_OK;
	map.name = strdup(name);
	if (!map.name || map.end < map.start || !PD_GROW(source->maps, source->map_capacity, source->map_count + 1)) {
		free(map.name);
		return map.end < map.start ? PD_OK : pd_fail_memory(error);
	}
	source->maps[source->map_count++] = map;
	// the image comes first
	if (pd_kernel_is_image(name) && source->map_count > 1) {
		source->maps[source->map_count - 1] = source->maps[0];
		source->maps[0] = map;
	}
	return PD_OK;
}

static enum pd_status note_map(struct pd_merge_source *source, const struct pd_record *record, struct pd_error *error)
{
	const struct pd_mmap *map = pd_kernel_mmap(record);
	const struct pd_mmap2 *map2 = pd_kernel_mmap2(record);

	if (map)
		return add_map(source, map->filename.data, map->addr, map->len, map->pgoff, error);
	return map2 ? add_map(source, map2->filename.data, map2->addr, map2->len, map2->pgoff, error) : PD_OK;
}

static enum pd_status note_record(void *self, struct pd_stream *stream, const struct pd_record *record,
				  struct pd_error *error)
{
	struct pd_merge_source *source = self;

	(void)stream;
	if (record->time_ns != PD_NO_TIME && (!source->begin_ns || record->time_ns < source->begin_ns))
		source->begin_ns = record->time_ns;
	if (record->type == PD_RECORD_AUXTRACE)
		source->has_aux = true;
	if (record->type == PD_RECORD_MMAP || record->type == PD_RECORD_MMAP2)
		return note_map(source, record, error);
	return PD_OK;
}

// The rest of the run is not wanted.
static enum pd_status end_run(void *self, struct pd_window *window, struct pd_error *error)
{
	struct pd_merge_source *source = self;

	source->first_ns = window->first_ns;
	source->last_ns = window->last_ns;
	if (source->first_ns && (!source->begin_ns || source->first_ns < source->begin_ns))
		source->begin_ns = source->first_ns;
	source->scanned = true;
	pd_fail(error, PD_ERROR_STOPPED, PD_NO_OFFSET, "%s: was read", source->name);
	return PD_ERROR_STOPPED;
}

static enum pd_status skip_record(void *self, struct pd_stream *stream, const struct pd_record *record,
				  struct pd_error *error)
{
	(void)self;
	(void)stream;
	(void)record;
	(void)error;
	return PD_OK;
}

static bool show_progress(void *self, uint64_t done, uint64_t total)
{
	const struct pd_merge_source *source = self;
	const struct pd_merge_options *options = &source->merge->options;

	if (options->progress)
		options->progress(options->self, source->index, done, total);
	return true;
}

enum pd_status pd_merge_scan(struct pd_merge_source *source, struct pd_error *error)
{
	const struct pd_sink sink = { .size = sizeof(sink), .self = source, .record = skip_record };
	const struct pd_run_options options = { .size = sizeof(options),
						.threads = 1,
						.first = note_record,
						.ready = end_run,
						.self = source,
						.progress = show_progress };
	const struct pd_tracing_data *tracing;
	struct pd_error own;
	enum pd_status status = pd_run(source->file, &options, &sink, &own);

	if (status < 0 && !(status == PD_ERROR_STOPPED && source->scanned)) {
		if (error)
			*error = own;
		return status;
	}
	tracing = pd_file_tracing_data(source->file);
	source->raw_big_endian = tracing ? tracing->big_endian : pd_file_header(source->file)->big_endian;
	return PD_OK;
}
