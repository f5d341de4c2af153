/* SPDX-License-Identifier: MIT */
/*
 * A file opened from an image, with the problems that were told: what the tests of file/ and
 * stream/ look at.
 */
#ifndef PD_TEST_OPENED_H
#define PD_TEST_OPENED_H

#include <perfdata/check.h>
#include <perfdata/stream.h>

#include "image.h"
#include "test.h"

struct opened {
	enum pd_status status;
	struct pd_error error;
	struct pd_file *file;
	struct pd_stream *stream;
	struct image image;
	// told so far
	struct {
		char code[32];
		uint64_t offset;
	} problems[64];
	size_t problem_count;
	size_t stop_after; // 0: never
};

static inline bool opened_problem(void *self, const struct pd_problem *problem)
{
	struct opened *o = self;

	if (o->problem_count < sizeof(o->problems) / sizeof(o->problems[0])) {
		snprintf(o->problems[o->problem_count].code, sizeof(o->problems[0].code), "%s", problem->code);
		o->problems[o->problem_count].offset = problem->offset;
	}
	o->problem_count++;
	return o->problem_count != o->stop_after;
}

static inline size_t opened_told(const struct opened *o, const char *code)
{
	size_t count = 0;

	for (size_t i = 0; i < o->problem_count && i < sizeof(o->problems) / sizeof(o->problems[0]); i++)
		count += strcmp(o->problems[i].code, code) == 0;
	return count;
}

static inline void opened_close(struct opened *o)
{
	pd_stream_close(o->stream);
	pd_file_close(o->file);
	image_free(&o->image);
	*o = (struct opened){ 0 };
}

// The image is taken over. Limits are the defaults but for memory_limit, if it is not 0.
static inline void opened_open(struct opened *o, struct image *image, uint64_t memory_limit)
{
	struct pd_open_options options = {
		.size = sizeof(options), .problem = opened_problem, .self = o, .memory_limit = memory_limit
	};
	size_t stop_after = o->stop_after;

	opened_close(o);
	o->stop_after = stop_after;
	o->image = *image;
	*image = (struct image){ .big = image->big };
	o->status = pd_file_open_memory(o->image.data, o->image.size, &options, &o->file, &o->error);
}

// The next record, or NULL at the end and after an error, which is in o->status.
static inline const struct pd_record *opened_next(struct opened *o)
{
	const struct pd_record *record;

	if (!o->stream)
		o->status = pd_stream_open(o->file, NULL, &o->stream, &o->error);
	if (o->status >= 0)
		o->status = pd_stream_next(o->stream, &record, &o->error);
	return o->status == PD_OK ? record : NULL;
}

#endif
