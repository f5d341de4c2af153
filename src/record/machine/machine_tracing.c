/* SPDX-License-Identifier: MIT */
/* The feature TRACING_DATA: what tracefs says of the tracepoints that are recorded, without which nobody can read them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cursor.h"
#include "base/error.h"
#include "record/event/events.h"
#include "record/machine/procfile.h"
#include "record/record.h"

struct tracing {
	const char *tracefs;
	struct pd_arena arena;
	struct pd_tracing_data data;
	struct pd_tracing_system *systems;
	size_t system_count;
	struct pd_procfile file;
};

// A file of tracefs that lives as long as the arena; empty if it is not there.
static bool take_file(struct tracing *tracing, const char *path, struct pd_bytes *bytes_out)
{
	char full[2048];

	*bytes_out = (struct pd_bytes){ 0 };
	snprintf(full, sizeof(full), "%s/%s", tracing->tracefs, path);
	if (!pd_procfile_read(&tracing->file, full) || !tracing->file.size)
		return true;
	*bytes_out = (struct pd_bytes){ pd_arena_copy(&tracing->arena, tracing->file.data, tracing->file.size),
					tracing->file.size };
	return bytes_out->data != NULL;
}

static struct pd_tracing_system *system_of(struct tracing *tracing, const char *name, size_t length, size_t most)
{
	struct pd_tracing_system *system;

	for (size_t i = 0; i < tracing->system_count; i++)
		if (tracing->systems[i].name.length == length &&
		    memcmp(tracing->systems[i].name.data, name, length) == 0)
			return &tracing->systems[i];
	system = &tracing->systems[tracing->system_count];
	system->name = (struct pd_str){ pd_arena_text(&tracing->arena, name, length), (uint32_t)length, 0 };
	system->formats.items = pd_arena_alloc(&tracing->arena, most * sizeof(struct pd_sized_text));
	system->formats.stride = sizeof(struct pd_sized_text);
	if (!system->name.data || !system->formats.items)
		return NULL;
	tracing->system_count++;
	return system;
}

// "system:name", perhaps with modifiers. Each format once.
static bool take_event(struct tracing *tracing, const char *name, size_t most)
{
	const char *colon = strchr(name, ':');
	struct pd_tracing_system *system;
	struct pd_sized_text *texts;
	struct pd_bytes format;
	char path[1024];
	size_t length;

	if (!colon)
		return true;
	length = strcspn(colon + 1, ":");
	system = system_of(tracing, name, (size_t)(colon - name), most);
	snprintf(path, sizeof(path), "events/%.*s/%.*s/format", (int)(colon - name), name, (int)length, colon + 1);
	if (!system || !take_file(tracing, path, &format))
		return false;
	texts = (struct pd_sized_text *)system->formats.items;
	for (size_t i = 0; i < system->formats.count; i++)
		if (texts[i].data.size == format.size && memcmp(texts[i].data.data, format.data, format.size) == 0)
			return true;
	if (format.size)
		texts[system->formats.count++].data = format;
	return true;
}

static bool take_all(struct tracing *tracing, const struct pd_machine_options *options)
{
	static const uint8_t magic[10] = { 0x17, 0x08, 0x44, 't', 'r', 'a', 'c', 'i', 'n', 'g' };
	struct pd_tracing_data *data = &tracing->data;
	bool done = true;

	data->magic = (struct pd_bytes){ magic, sizeof(magic) };
	data->version = (struct pd_str){ "0.6", 3, 0 };
	data->big_endian = PD_HOST_BIG;
	data->long_size = sizeof(long);
	data->page_size = (uint32_t)sysconf(_SC_PAGESIZE);
	data->header_page_name = (struct pd_str){ "header_page", 11, 0 };
	data->header_event_name = (struct pd_str){ "header_event", 12, 0 };
	data->has_cmdlines = true;
	tracing->systems = pd_arena_alloc(&tracing->arena, (options->event_count + 1) * sizeof(*tracing->systems));
	done = tracing->systems && take_file(tracing, "events/header_page", &data->header_page) &&
	       take_file(tracing, "events/header_event", &data->header_event) &&
	       take_file(tracing, "printk_formats", &data->printk_formats) &&
	       take_file(tracing, "saved_cmdlines", &data->saved_cmdlines);
	for (size_t i = 0; i < options->event_count && done; i++)
		if (options->attrs[i].type == PD_TYPE_TRACEPOINT)
			done = take_event(tracing, options->names[i], options->event_count);
	data->systems = (struct pd_list){ tracing->systems, tracing->system_count, sizeof(*tracing->systems) };
	return done;
}

enum pd_status pd_machine_tracing(struct pd_writer *writer, const struct pd_machine_options *options,
				  struct pd_error *error)
{
	char *found = options->tracefs ? NULL : pd_tracefs_find();
	struct tracing tracing = { .tracefs = options->tracefs ? options->tracefs : found };
	enum pd_status status = PD_OK;

	if (tracing.tracefs)
		status = take_all(&tracing, options) ?
				 pd_writer_set_feature(writer, PD_FEATURE_TRACING_DATA, &tracing.data, error) :
				 pd_fail_memory(error);
	pd_procfile_fini(&tracing.file);
	pd_arena_fini(&tracing.arena);
	free(found);
	return status;
}
