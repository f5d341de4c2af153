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

#include "failing.h"
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

// The folder and all that is in it are gone.
static inline void clean_folder(void)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -r %s", folder);
	CHECK(system(command) == 0);
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
