/* SPDX-License-Identifier: MIT */
/* Texts that several threads make while earlier ones are shown, in order. */
#ifndef PD_BASE_PIPELINE_H
#define PD_BASE_PIPELINE_H

#include <perfdata/text.h>

#include <stdbool.h>
#include <stddef.h>

struct pd_pipeline_job {
	size_t count;   /* of texts */
	size_t threads; /* with the one that shows; 0: as many as there are processors */
	void *self;
	/* What a thread needs for itself; NULL: there is no memory. */
	void *(*begin)(void *self);
	void (*end)(void *scratch);
	/* Makes a text, on any thread. False if there is no memory. */
	bool (*make)(void *self, void *scratch, size_t index, struct pd_text *out);
};

struct pd_pipeline;

/* NULL if there is no memory. */
struct pd_pipeline *pd_pipeline_start(const struct pd_pipeline_job *job);
/* The next text, valid until the next call; NULL if there was no memory. Makes texts itself rather than wait. */
const struct pd_text *pd_pipeline_next(struct pd_pipeline *pipeline);
/* Texts that were not asked for are not made. NULL is fine. */
void pd_pipeline_end(struct pd_pipeline *pipeline);

#endif
