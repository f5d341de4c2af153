/* SPDX-License-Identifier: MIT */
/**
 * run.h - all records of a file through a sink, on as many threads as help.
 *
 * A file that can be read twice is: a first walk tells who ran and what was mapped (every record but
 * samples is shown to the function `first`) and finds where the file can be cut; then the records
 * go to the sink. A sink that can be forked gets a twin for each thread, which sees whole pieces of the
 * file, each in the order of the file, and joins them at the end; pieces come to twins in any order, so
 * what a sink collects must not depend on it. A sink that cannot be forked sees every record on the
 * calling thread, in the order that was asked for.
 *
 * The functions may ask the file for events and features from any thread, and must not move
 * streams (pd_stream_seek). But for the order of time, the index of a record is its place in the file.
 */
#ifndef PERFDATA_RUN_H
#define PERFDATA_RUN_H

#include <perfdata/stream.h>

#ifdef __cplusplus
extern "C" {
#endif

/** What takes records. All functions may fail with a status and an error, which ends the run. */
struct pd_sink {
	size_t size; /* sizeof(struct pd_sink) */
	void *self;  /* first argument of the functions */
	enum pd_status (*record)(void *self, struct pd_stream *stream, const struct pd_record *record,
				 struct pd_error *error);
	/* A twin, for another thread; NULL: it cannot be forked. PD_ERROR_MEMORY. */
	enum pd_status (*fork)(void *self, void **twin_out, struct pd_error *error);
	/* Adds what a twin has to self and frees the twin. It is called on the calling thread for every twin, also
	 * after a failure. */
	enum pd_status (*join)(void *self, void *twin, struct pd_error *error);
	/* Behind the last record of self or of a twin, on the thread that saw its records: what can be done beside the
	 * others. It need not be called after a failure. May be NULL. */
	void (*finish)(void *self);
	/* For a sink that can be forked and needs the order of time: it sees samples by parts of the time. Each part goes
	 * to self or to one twin, in order, between these two. Parts are begun in the order of their numbers, from 0 on
	 * without gaps, and each that is begun is ended, also after a failure: end_part may wait until those of lower numbers
	 * are. Where all is one part, that of self, it has the other records too. Both or neither. */
	enum pd_status (*begin_part)(void *self, uint64_t number, struct pd_error *error);
	enum pd_status (*end_part)(void *self, uint64_t number, struct pd_error *error);
};

/** The part of the time that is wanted. */
struct pd_window {
	uint64_t from_ns;
	uint64_t to_ns; /* belongs to it; 0: open */
	uint64_t first_ns, last_ns; /* oldest and newest time of a sample; 0 if no sample has one */
	int whole; /* not 0: all is one part, for sinks that see parts of the time */
};

/** Zero is the default for each member; NULL means all defaults. */
struct pd_run_options {
	size_t size;         /* sizeof(struct pd_run_options) */
	unsigned threads;    /* 0: as many as there are processors; 1: the calling one only */
	enum pd_order order; /* for sinks that cannot be forked */
	/* Sees every record that is no sample, in the order of the file, before the sink sees anything; on
	 * the calling thread. May be NULL. */
	enum pd_status (*first)(void *self, struct pd_stream *stream, const struct pd_record *record,
				struct pd_error *error);
	/* Called between the first walk and the sink: settle a world, choose times. It may change from_ns and to_ns of
	 * *window, which come as below. May be NULL. */
	enum pd_status (*ready)(void *self, struct pd_window *window, struct pd_error *error);
	void *self;          /* first argument of first, ready and progress */
	/* Samples outside of this time need not be shown: pieces of the file without any inside are left out. */
	uint64_t from_ns;
	uint64_t to_ns;      /* belongs to it; 0: open */
	/* Called now and then on the calling thread with bytes done and in all (0 if not known); false stops with
	 * PD_ERROR_STOPPED. May be NULL. */
	bool (*progress)(void *self, uint64_t done, uint64_t total);
	/* Of the first walk, if the sink can be forked; 0: threads. One takes less processor time in all, which counts
	 * where little else is read. */
	unsigned first_threads;
};

/** Shows all records of a file to a sink. What comes once (a pipe) must have been opened with
 * pd_open_options.keep to be read twice; else PD_ERROR_ARGUMENT.
 * Errors: those of pd_stream_next and of the functions. */
PD_API enum pd_status pd_run(struct pd_file *file, const struct pd_run_options *options,
			     const struct pd_sink *sink, struct pd_error *error);

#ifdef __cplusplus
}
#endif
#endif
