/* SPDX-License-Identifier: MIT */
/* What has to be known of a recording before it can be joined with others: one walk over its records. */
#include "merge.h"

#include <perfdata/run.h>

#include <stdlib.h>
#include <string.h>

bool room_for(void *items, size_t *room, size_t count, size_t item_size)
{
	void **at = items;
	size_t wanted = *room ? *room : 16;
	void *grown;

	if (count <= *room)
		return true;
	while (wanted < count)
		wanted *= 2;
	grown = realloc(*at, wanted * item_size);
	if (!grown)
		return false;
	*at = grown;
	*room = wanted;
	return true;
}

bool numbers_add(struct numbers *numbers, uint64_t number)
{
	if (!room_for(&numbers->items, &numbers->room, numbers->count + 1, sizeof(number)))
		return false;
	numbers->items[numbers->count++] = number;
	return true;
}

enum pd_status out_of_memory(struct pd_error *error)
{
	*error = (struct pd_error){ .status = PD_ERROR_MEMORY, .offset = PD_NO_OFFSET, .message = "out of memory" };
	return PD_ERROR_MEMORY;
}

const char *source_text(const struct source *source, unsigned feature)
{
	const struct pd_string *text = pd_file_feature(source->input.file, feature);

	return text && text->value.length ? text->value.data : NULL;
}

/* ---- the walk ---- */

static enum pd_status add_map(struct source *source, const char *name, uint64_t start, uint64_t size, uint64_t pgoff,
			      struct pd_error *error)
{
	struct kernel_map map = { .start = start, .end = start + size, .pgoff = pgoff };

	for (size_t i = 0; i < source->map_count; i++)
		if (!strcmp(source->maps[i].name, name))
			return PD_OK;
	map.name = strdup(name);
	if (!map.name || map.end < map.start ||
	    !room_for(&source->maps, &source->map_room, source->map_count + 1, sizeof(map))) {
		free(map.name);
		return map.end < map.start ? PD_OK : out_of_memory(error);
	}
	source->maps[source->map_count++] = map;
	/* the image comes first */
	if (kernel_is_image(name) && source->map_count > 1) {
		source->maps[source->map_count - 1] = source->maps[0];
		source->maps[0] = map;
	}
	return PD_OK;
}

static enum pd_status look_at_map(struct source *source, const struct pd_record *record, struct pd_error *error)
{
	const struct pd_mmap *map = kernel_mmap(record);
	const struct pd_mmap2 *map2 = kernel_mmap2(record);

	if (map)
		return add_map(source, map->filename.data, map->addr, map->len, map->pgoff, error);
	return map2 ? add_map(source, map2->filename.data, map2->addr, map2->len, map2->pgoff, error) : PD_OK;
}

static enum pd_status look(void *self, struct pd_stream *stream, const struct pd_record *record,
			   struct pd_error *error)
{
	struct source *source = self;

	(void)stream;
	if (record->time_ns != PD_NO_TIME && (!source->begin_ns || record->time_ns < source->begin_ns))
		source->begin_ns = record->time_ns;
	if (record->type == PD_RECORD_AUXTRACE)
		source->has_aux = true;
	if (record->type == PD_RECORD_MMAP || record->type == PD_RECORD_MMAP2)
		return look_at_map(source, record, error);
	return PD_OK;
}

/* The rest of the run is not wanted. */
static enum pd_status stop(void *self, struct pd_window *window, struct pd_error *error)
{
	struct source *source = self;

	source->first_ns = window->first_ns;
	source->last_ns = window->last_ns;
	if (source->first_ns && (!source->begin_ns || source->first_ns < source->begin_ns))
		source->begin_ns = source->first_ns;
	error->message[0] = 0;
	return PD_ERROR_STOPPED;
}

static enum pd_status nothing(void *self, struct pd_stream *stream, const struct pd_record *record,
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
	struct source *source = self;

	progress_show(&source->input.progress, done, total);
	return true;
}

static int walk(struct source *source)
{
	const struct pd_sink sink = { .size = sizeof(sink), .self = source, .record = nothing };
	const struct pd_run_options options = { .size = sizeof(options), .threads = 1, .first = look, .ready = stop,
						.self = source, .progress = show_progress };
	struct pd_error error = { 0 };
	enum pd_status status = pd_run(source->input.file, &options, &sink, &error);

	progress_clear(&source->input.progress);
	if (status >= 0 || (status == PD_ERROR_STOPPED && !error.message[0]))
		return CODE_FINE;
	complain("%s", error.message);
	return CODE_UNREADABLE;
}

int source_look(struct source *source, const struct input_options *options, const struct call *call)
{
	const struct call alone = { .values = call->values, .out = call->out };
	const struct pd_tracing_data *tracing;
	struct input_options wanted = *options;
	int code;

	wanted.keep = true;
	code = input_open(&source->input, &wanted, &alone, NULL, NULL);
	if (code != CODE_FINE)
		return code;
	source->name = source->input.name;
	code = walk(source);
	if (code != CODE_FINE)
		return code;
	input_again(&source->input);
	tracing = pd_file_tracing_data(source->input.file);
	source->raw_big_endian = tracing ? tracing->big_endian : pd_file_header(source->input.file)->big_endian;
	return CODE_FINE;
}

int source_close(struct source *source, int code)
{
	for (size_t i = 0; i < source->map_count; i++)
		free(source->maps[i].name);
	free(source->maps);
	free(source->events);
	free(source->ids.items);
	free(source->tracepoints.items);
	free(source->addresses);
	return source->input.file ? input_close(&source->input, code) : code;
}
