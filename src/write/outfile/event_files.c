/* SPDX-License-Identifier: MIT */
/* A file of text for each event. */
#include <perfdata/outfile.h>

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/write_all.h"

struct event_file {
	struct pd_event_file head; // its path is owned
	struct pd_text *text;
	struct pd_outfile *file; // NULL: could not be made, or is finished
	int failure;             // errno
};

struct pd_event_files {
	const char *prefix;
	struct event_file **items; // their texts point to them
	size_t count, capacity;
	struct pd_error error; // the first, of those that were added while something was printed
	enum pd_status status;
};

static bool write_text(void *self, struct pd_text *text)
{
	struct event_file *one = self;
	struct pd_bytes bytes = pd_text_bytes(text);

	if (!one->failure && !pd_write_all(pd_outfile_fd(one->file), bytes.data, bytes.size))
		one->failure = errno;
	one->head.bytes += bytes.size;
	pd_text_clear(text);
	return !one->failure;
}

// What the name of an event has in it may be anything.
static char *path_of(const char *prefix, const char *event)
{
	char *path = NULL;

	if (asprintf(&path, "%s.%s.dump", prefix, event) < 0)
		return NULL;
	for (char *at = path + strlen(prefix) + 1; *at; at++)
		if (*at == '/' || (unsigned char)*at < ' ' || *at == 0x7f)
			*at = '_';
	return path;
}

static void free_one(struct event_file *one)
{
	pd_outfile_abort(one->file);
	pd_text_free(one->text);
	free((char *)one->head.path);
	pd_free(one);
}

static struct event_file *find(const struct pd_event_files *files, const char *path)
{
	for (size_t i = 0; i < files->count; i++)
		if (strcmp(files->items[i]->head.path, path) == 0)
			return files->items[i];
	return NULL;
}

static enum pd_status open_one(struct pd_event_files *files, char *path, const struct pd_outfile_options *options,
			       struct event_file **one_out, struct pd_error *error)
{
	struct event_file *one = PD_GROW(files->items, files->capacity, files->count + 1) ? pd_alloc(sizeof(*one)) :
											    NULL;
	enum pd_status status;

	*one_out = one;
	if (!one) {
		free(path);
		return pd_fail_memory(error);
	}
	one->head.path = path;
	one->text = pd_text_new();
	status = one->text ? pd_outfile_open(path, options, &one->file, error) : pd_fail_memory(error);
	if (status < 0) {
		free_one(one);
		return status;
	}
	pd_text_set_sink(one->text, write_text, one);
	files->items[files->count++] = one;
	return PD_OK;
}

static enum pd_status get(struct pd_event_files *files, const char *event, const struct pd_outfile_options *options,
			  struct event_file **one_out, struct pd_error *error)
{
	char *path = path_of(files->prefix, event);

	if (!path)
		return pd_fail_memory(error);
	*one_out = find(files, path);
	if (!*one_out)
		return open_one(files, path, options, one_out, error);
	free(path);
	return PD_OK;
}

enum pd_status pd_event_files_new(const char *prefix, struct pd_event_files **files_out, struct pd_error *error)
{
	*files_out = pd_alloc(sizeof(**files_out));
	if (!*files_out)
		return pd_fail_memory(error);
	(*files_out)->prefix = prefix;
	return PD_OK;
}

enum pd_status pd_event_files_add(struct pd_event_files *files, const char *event,
				  const struct pd_outfile_options *options, struct pd_error *error)
{
	struct event_file *one;

	return get(files, event, options, &one, error);
}

struct pd_text *pd_event_files_text(struct pd_event_files *files, const char *event)
{
	struct event_file *one = NULL;

	if (files->status < 0)
		return NULL;
	files->status = get(files, event, NULL, &one, &files->error);
	if (files->status < 0)
		return NULL;
	one->head.samples++;
	return one->text;
}

const struct pd_event_file *pd_event_files_at(const struct pd_event_files *files, size_t index)
{
	return index < files->count ? &files->items[index]->head : NULL;
}

static enum pd_status finish_one(struct event_file *one, struct pd_error *error)
{
	struct pd_outfile *file = one->file;

	if (pd_text_failed(one->text))
		return pd_fail_memory(error);
	if (!write_text(one, one->text))
		return pd_fail_system(error, one->failure, "%s", one->head.path);
	one->file = NULL;
	return pd_outfile_finish(file, error);
}

enum pd_status pd_event_files_finish(struct pd_event_files *files, struct pd_error *error)
{
	enum pd_status status = files->status;

	if (status < 0 && error)
		*error = files->error;
	for (size_t i = 0; i < files->count && status >= 0; i++)
		status = finish_one(files->items[i], error);
	return status;
}

void pd_event_files_print(struct pd_text *text, const struct pd_event_files *files)
{
	for (size_t i = 0; i < files->count; i++) {
		const struct pd_event_file *one = &files->items[i]->head;

		pd_text_printf(text, "[ perfdata script: Wrote %.3f MB ", (double)one->bytes / (1 << 20));
		pd_text_escaped(text, one->path, strlen(one->path));
		pd_text_printf(text, " (%" PRIu64 " samples) ]\n", one->samples);
	}
}

void pd_event_files_free(struct pd_event_files *files)
{
	for (size_t i = 0; files && i < files->count; i++)
		free_one(files->items[i]);
	if (files)
		pd_free(files->items);
	pd_free(files);
}
