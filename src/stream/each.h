/* SPDX-License-Identifier: MIT */
/* All records of a file to a function, in the requested order, for those who read a file from its start to its end. */
#ifndef PD_STREAM_EACH_H
#define PD_STREAM_EACH_H

#include <perfdata/stream.h>

struct pd_each {
	enum pd_order order;
	bool trusts; // records are not validated
	// Called periodically with bytes done and in total (0 if unknown). May be NULL.
	void (*progress)(void *self, uint64_t done, uint64_t total);
	void *progress_self;
	// Written out where a pipe that is being recorded ends a round: who reads it waits for what is printed. May be NULL.
	struct pd_text *live;
};

// Anything but PD_OK ends the pass: PD_END without an error.
typedef enum pd_status pd_each_fn(void *self, struct pd_stream *stream, const struct pd_record *record,
				  struct pd_error *error);

// function: NULL where only problems are of interest. Records are validated (pd_stream_options.verify), unless they are trusted. Errors: those of the stream and of the function.
enum pd_status pd_each_record(struct pd_file *file, const struct pd_each *each, pd_each_fn *function, void *self,
			      struct pd_error *error);

#endif
