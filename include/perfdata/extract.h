/* SPDX-License-Identifier: MIT */
/**
 * extract.h - copies a part of a recording: samples that match conditions, those of a time range, one of every N, the first
 * or the last ones, with everything that is needed to understand them.
 *
 * What describes the file (events, features) is always copied. Which other records are copied depends on the way to
 * extract. Records keep their order.
 *
 * Threads: one at a time for each of them and its file.
 *
 * Example:
 *
 *	const struct pd_extract_options options = { .size = sizeof(options), .by = PD_EXTRACT_FIRST, .sample_count = 1000 };
 *	struct pd_extract *extract;
 *	struct pd_extract_result result;
 *
 *	if (pd_extract_new(file, &options, &extract, &error) == PD_OK) {
 *		pd_extract_write(extract, writer, &result, &error);
 *		pd_extract_free(extract);
 *	}
 */
#ifndef PERFDATA_EXTRACT_H
#define PERFDATA_EXTRACT_H

#include <perfdata/select.h>
#include <perfdata/symbol.h>
#include <perfdata/text.h>
#include <perfdata/writer.h>

#ifdef __cplusplus
extern "C" {
#endif

enum pd_extract_by {
	/* Samples that `select` selects. Other records are all copied, unless `records` or `prune` say otherwise. */
	PD_EXTRACT_MATCHING,
	/* Samples in the time range of `select`; other records with a time in it, and state (names, mappings, forks, changes
	 * of kernel code) up to its end. What has no time is copied. */
	PD_EXTRACT_TIME,
	/* One of every `rate` samples of each event, with `rate` times the period, so that sums stay statistically the same;
	 * all other records. */
	PD_EXTRACT_RATE,
	/* The first samples by time, and other records up to the last of them. A file that can be read only once is read
	 * in time order, up to the last of them. */
	PD_EXTRACT_FIRST,
	/* The last samples by time, other records from the first of them on, and older state. */
	PD_EXTRACT_LAST
};

/** Zero is the default for each member. */
struct pd_extract_options {
	size_t size; /* sizeof(struct pd_extract_options); 0 is PD_ERROR_ARGUMENT */
	enum pd_extract_by by;
	/* For MATCHING and TIME, required: made by pd_select_new, made ready by the extraction, and freed by the caller
	 * after it. Of TIME, only the ranges of time are used. */
	struct pd_select *select;
	bool records; /* MATCHING: the condition (where) is applied to all records; so it is if it names fields of others */
	bool prune;    /* MATCHING: drop records of processes that have no copied sample, nor a descendant with one */
	uint64_t rate; /* RATE: at least 1 */
	bool random;   /* RATE: choose samples at random, by `seed`, instead of every rate-th one */
	uint64_t seed;
	/* FIRST, LAST: the number of samples, or, if not 0, the span of time. Memory: 16 bytes per sample of the number. */
	uint64_t sample_count;
	uint64_t span_ns;
	/* MATCHING by object or function: opens symbols for the state. They are the caller's, and are closed before
	 * pd_extract_free. NULL: pd_symbols_new without options. */
	enum pd_status (*symbols)(void *self, struct pd_file *file, const struct pd_state *state,
				  struct pd_symbols **symbols_out, struct pd_error *error);
	/* Called periodically with bytes done and in total (0 if unknown). May be NULL. */
	void (*progress)(void *self, uint64_t done, uint64_t total);
	/* Called after each pass over the file before pd_extract_write; the next reports the same problems again. May be
	 * NULL. */
	void (*pass_end)(void *self);
	void *self; /* first argument of the functions */
};

struct pd_extract_result {
	uint64_t sample_count, kept_sample_count;
	/* Records that are not samples, nor rounds, nor the description of the file. */
	uint64_t other_count, kept_other_count;
	uint64_t first_ns, last_ns; /* times of copied samples; 0: none has a time */
	uint64_t unscaled_count; /* RATE: copied samples of events with a frequency that have no period to multiply */
	uint64_t overflow_count; /* RATE: periods that do not fit and were set to the maximum */
	bool records;            /* MATCHING: the condition was applied to all records */
	bool ended;              /* FIRST: the file was not read to its end, so the counts are of what was read */
};

struct pd_extract;

/** Whether the file is read more than once, so that a pipe must be opened with pd_open_options.keep. */
PD_API bool pd_extract_reads_twice(const struct pd_extract_options *options);
/** Reads what must be known before anything is written. The file must remain open. Errors: PD_ERROR_MEMORY;
 * PD_ERROR_ARGUMENT; PD_ERROR_NO_MATCH if the file lacks what the options refer to, such as times for span_ns; those of
 * pd_stream_next, pd_select_ready and of symbols. */
PD_API enum pd_status pd_extract_new(struct pd_file *file, const struct pd_extract_options *options,
				     struct pd_extract **extract_out, struct pd_error *error);
/** NULL is ignored. */
PD_API void pd_extract_free(struct pd_extract *extract);
/** Writes the part to an unused writer, once. Its packing must not be PD_PACK_KEEP. No error if it has no samples: see
 * the result. The caller finishes the writer, or aborts it after an error. Errors: those of pd_stream_next;
 * PD_ERROR_OUTPUT and PD_ERROR_ARGUMENT of the writer. */
PD_API enum pd_status pd_extract_write(struct pd_extract *extract, struct pd_writer *writer,
				       struct pd_extract_result *result_out, struct pd_error *error);

/** What was kept, after pd_extract_write: a line of text, or a JSON object on a line. */
PD_API void pd_extract_text(const struct pd_extract *extract, struct pd_text *text);
PD_API void pd_extract_json(const struct pd_extract *extract, struct pd_text *text);
/** What is to be known about sums of what was kept with RATE: lines, or nothing. */
PD_API void pd_extract_weights_text(const struct pd_extract *extract, struct pd_text *text);

#ifdef __cplusplus
}
#endif
#endif
