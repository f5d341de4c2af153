/* SPDX-License-Identifier: MIT */
/**
 * run.h - passes all records of a file to a sink, on several threads.
 *
 * The file is read twice. The first pass calls `first` for every record but samples (threads, mappings) and splits
 * the file into chunks; then the records are passed to the sink. A sink with a fork function gets a clone for each
 * thread; each clone processes whole chunks in file order, and the clones are joined at the end. Chunks are assigned to
 * clones in any order, so results must not depend on it. A sink without a fork function gets every record on the
 * calling thread, in the requested order.
 *
 * The functions may query events and features of the file from any thread, and must not seek streams
 * (pd_stream_seek). Except in time order, the index of a record is its number in the file.
 *
 * Example:
 *
 *	const struct pd_sink sink = { .size = sizeof(sink), .self = &count, .record = count_record };
 *
 *	if (pd_run(file, NULL, &sink, &error) == PD_OK)
 *		printf("%u records\n", count);
 */
#ifndef PERFDATA_RUN_H
#define PERFDATA_RUN_H

#include <perfdata/stream.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Consumer of records. All functions may return an error, which ends the run. */
struct pd_sink {
	size_t size; /* sizeof(struct pd_sink) */
	void *self;  /* first argument of the functions */
	enum pd_status (*record)(void *self, struct pd_stream *stream, const struct pd_record *record,
				 struct pd_error *error);
	/* Makes a clone for another thread; NULL: single-threaded. PD_ERROR_MEMORY. */
	enum pd_status (*fork)(void *self, void **clone_out, struct pd_error *error);
	/* Merges a clone into self and frees the clone. Called on the calling thread for every clone, also after a
	 * failure. */
	enum pd_status (*join)(void *self, void *clone, struct pd_error *error);
	/* Called after the last record of self or of a clone, on its thread: for work that can run in parallel. Not
	 * necessarily called after a failure. May be NULL. */
	void (*finish)(void *self);
	/* For a sink that can be forked and needs time order: samples are passed in time slices. Each slice goes to
	 * self or to one clone, in order, between these two calls. Slices begin in the order of their numbers, from 0
	 * without gaps, and each is ended, also after a failure: end_part may wait for lower numbers. If there is
	 * only one slice, self gets the other records, too. Both or neither. */
	enum pd_status (*begin_part)(void *self, uint64_t number, struct pd_error *error);
	enum pd_status (*end_part)(void *self, uint64_t number, struct pd_error *error);
};

/** The requested time range. */
struct pd_window {
	uint64_t from_ns;
	uint64_t to_ns;             /* inclusive; 0: open */
	uint64_t first_ns, last_ns; /* oldest and newest timestamp of a sample; 0: none */
	int whole;                  /* not 0: a single slice, for sinks with begin_part */
};

/** Zero is the default for each member; NULL means all defaults. */
struct pd_run_options {
	size_t size;         /* sizeof(struct pd_run_options) */
	unsigned threads;    /* 0: one for each CPU; 1: the calling thread only */
	enum pd_order order; /* for sinks that cannot be forked */
	/* Called for every record that is not a sample (but see first_samples), in file order, before the sink; on the
	 * calling thread. May be NULL. */
	enum pd_status (*first)(void *self, struct pd_stream *stream, const struct pd_record *record,
				struct pd_error *error);
	/* Called between the first pass and the sink: finalize a state, choose a time range. May change from_ns and
	 * to_ns of *window, which are set as below. May be NULL. */
	enum pd_status (*ready)(void *self, struct pd_window *window, struct pd_error *error);
	void *self; /* first argument of first, ready and progress */
	/* Samples outside this time range need not be passed: chunks without samples in it are skipped. */
	uint64_t from_ns;
	uint64_t to_ns; /* inclusive; 0: open */
	/* Called periodically on the calling thread with bytes done and in total (0 if unknown); false stops with
	 * PD_ERROR_STOPPED. May be NULL. */
	bool (*progress)(void *self, uint64_t done, uint64_t total);
	/* Threads of the first pass, if the sink can be forked; 0: as `threads`. One uses less CPU time in total. */
	unsigned first_threads;
	/* Called between ready and the sink with a small part of the samples, from all over the file, to see what is frequent; at
	 * the end with NULL. Not for small files, nor for what can only be read in one piece. May be NULL. */
	void (*peek)(void *self, const struct pd_record *record);
	bool quiet; /* does not report the problems of the file: another run has */
	/* `first` is called for samples, too. Then the first pass is on one thread, and takes longer. */
	bool first_samples;
};

/** Passes all records of a file to a sink. A pipe must have been opened with pd_open_options.keep; else
 * PD_ERROR_ARGUMENT.
 * Errors: those of pd_stream_next and of the functions. */
PD_API enum pd_status pd_run(struct pd_file *file, const struct pd_run_options *options, const struct pd_sink *sink,
			     struct pd_error *error);

#ifdef __cplusplus
}
#endif
#endif
