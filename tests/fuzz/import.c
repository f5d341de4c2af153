/* SPDX-License-Identifier: MIT */
/* Bytes as a file of each format that can be imported. What comes out can be opened and walked through. */
#include <perfdata/import.h>
#include <perfdata/text.h>
#include <perfdata/writer.h>

#include <string.h>

#include "walk.h"

enum {
	PIECE = 777 // bytes at a time: everything is cut anywhere
};

struct given {
	const uint8_t *data;
	size_t size;
};

static enum pd_status pull(void *self, void *data, size_t size, size_t *got_out, struct pd_error *error)
{
	struct given *given = self;
	size_t got = given->size < PIECE ? given->size : PIECE;

	(void)error;
	got = got < size ? got : size;
	if (got)
		memcpy(data, given->data, got);
	given->data += got;
	given->size -= got;
	*got_out = got;
	return PD_OK;
}

struct made {
	uint8_t *data;
	size_t size;
};

static enum pd_status put(void *self, const void *data, size_t size, struct pd_error *error)
{
	struct made *made = self;

	(void)error;
	made->data = realloc(made->data, made->size + size + 1);
	REQUIRE(made->data);
	if (size)
		memcpy(made->data + made->size, data, size);
	made->size += size;
	return PD_OK;
}

static void import(const uint8_t *data, size_t size, const char *format)
{
	struct given given = { data, size };
	struct made made = { NULL, 0 };
	const struct pd_writer_options how = { .size = sizeof(how), .mode = PD_MODE_PIPE };
	const struct pd_import_options options = {
		.size = sizeof(options), .format = format, .pull = pull, .self = &given
	};
	struct pd_import_result result;
	struct pd_writer *writer;
	struct pd_error error;
	struct walk walk = { 0 };
	struct pd_open_options open = walk_options(&walk);
	enum pd_status status = pd_writer_open_put(put, &made, "memory", &how, &writer, &error);

	REQUIRE(status == PD_OK);
	status = pd_import_run(&options, writer, &result, &error);
	if (status < 0) {
		if (status != PD_ERROR_NO_SAMPLES)
			walk_require_error(status, &error);
		pd_writer_abort(writer);
	} else {
		REQUIRE(result.records >= result.samples && result.records);
		REQUIRE(pd_writer_finish(writer, &error) == PD_OK);
		status = walk_memory(made.data, made.size, &open, &walk, &error);
		REQUIRE(status >= 0);
		REQUIRE(walk.records >= result.records);
	}
	free(made.data);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct pd_import_format format;

	for (size_t i = 0; pd_import_format(i, &format); i++)
		import(data, size, format.name);
	return 0;
}
