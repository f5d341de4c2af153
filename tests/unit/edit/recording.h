/* SPDX-License-Identifier: MIT */
/*
 * Recordings from text, for the tests of what makes one file of others; and allocations that fail, each in turn. The
 * program is linked with --wrap for malloc, calloc and realloc.
 */
#ifndef PD_TEST_RECORDING_H
#define PD_TEST_RECORDING_H

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <perfdata/perfdata.h>

#include "test.h"

static char folder[] = "/tmp/perfdata-edit-XXXXXX";

static inline const char *path_of(const char *name)
{
	static char paths[4][128];
	static unsigned next;
	char *path = paths[next++ % 4];

	snprintf(path, sizeof(paths[0]), "%s/%s", folder, name);
	return path;
}

// ---- memory that runs out ----

static long left = -1; // allocations until the one that fails; -1: none does
static bool has_failed;

static inline bool fails(void)
{
	if (left < 0 || left-- > 0)
		return false;
	has_failed = true;
	return true;
}

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *memory, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *memory, size_t size);

void *__wrap_malloc(size_t size)
{
	return fails() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
	return fails() ? NULL : __real_calloc(count, size);
}

void *__wrap_realloc(void *memory, size_t size)
{
	return fails() ? NULL : __real_realloc(memory, size);
}

// ---- recordings ----

static inline enum pd_status open_writer(void *self, const struct pd_writer_options *said,
					 struct pd_writer **writer_out, struct pd_error *error)
{
	enum pd_status status = pd_writer_open(path_of("assembled"), said, writer_out, error);

	*(struct pd_writer **)self = status < 0 ? NULL : *writer_out;
	return status;
}

// A file with the content of a text; NULL, with a message, if it is wrong.
static inline struct pd_file *open_text(const char *text)
{
	struct pd_writer *writer = NULL;
	const struct pd_assembler_options options = {
		.size = sizeof(options), .open = open_writer, .self = &writer, .name = "text"
	};
	struct pd_assembler *assembler;
	struct pd_file *file = NULL;
	struct pd_error error;
	enum pd_status status = pd_assembler_new(&options, &assembler, &error);

	if (status >= 0)
		status = pd_assembler_take(assembler, text, strlen(text), &error);
	if (status >= 0)
		status = pd_assembler_finish(assembler, &error);
	pd_assembler_free(assembler);
	if (status >= 0)
		status = pd_writer_finish(writer, &error);
	if (status >= 0)
		status = pd_file_open(path_of("assembled"), NULL, &file, &error);
	if (status < 0)
		printf("# %s\n", error.message);
	unlink(path_of("assembled"));
	return file;
}

// Whether a text has these words.
static inline bool text_has(const struct pd_text *text, const char *words)
{
	struct pd_bytes bytes = pd_text_bytes(text);

	return bytes.size && memmem(bytes.data, bytes.size, words, strlen(words));
}

// Number of records of a type.
static inline uint64_t count_records(struct pd_file *file, uint32_t type)
{
	const struct pd_record *record;
	struct pd_stream *stream;
	uint64_t count = 0;

	if (pd_stream_open(file, NULL, &stream, NULL) < 0)
		return 0;
	while (pd_stream_next(stream, &record, NULL) == PD_OK)
		count += record->type == type;
	pd_stream_close(stream);
	return count;
}

#endif
