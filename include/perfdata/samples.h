/* SPDX-License-Identifier: MIT */
/**
 * samples.h - the samples of a file as text, byte for byte as perf script (6.1).
 *
 * Set a sink for the text (pd_text_set_sink) unless all of it fits in memory.
 *
 * Example:
 *
 *	const struct pd_samples_options options = { .size = sizeof(options), .max_stack = PD_SAMPLES_STACK };
 *	struct pd_samples *samples;
 *
 *	if (pd_samples_new(&options, text, &samples, &error) == PD_OK) {
 *		pd_samples_run(samples, file, &error);
 *		fwrite(pd_text_bytes(text).data, 1, pd_text_bytes(text).size, stdout);
 *		pd_samples_free(samples);
 *	}
 */
#ifndef PERFDATA_SAMPLES_H
#define PERFDATA_SAMPLES_H

#include <perfdata/filter.h>
#include <perfdata/profile.h>
#include <perfdata/select.h>
#include <perfdata/text.h>
#include <perfdata/unwind.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
	PD_SAMPLES_STACK = 127 /* entries of a call chain that perf prints */
};

/** The index-th field that can be printed, in the order of the help, and what it is; NULL past the end. */
PD_API const char *pd_samples_field(size_t index, const char **doc_out);

/** A sample that may be printed; of a group, one of its members. */
struct pd_samples_candidate {
	const struct pd_record *record;
	const struct pd_event *event; /* the member */
	const struct pd_brief *brief;
	const char *comm;
	const struct pd_filter_names *names; /* for pd_filter_takes: names are looked up when they are requested */
};

/** Whether each record is printed as perf's -D does, bytes first, before what else is printed of it. */
enum pd_samples_raw {
	PD_RAW_NO,
	PD_RAW_SCRIPT, /* as perf script -D */
	PD_RAW_REPORT  /* as perf report -D: no lines of samples, and counts of records at the end */
};

/** All functions may be NULL. */
struct pd_samples_options {
	size_t size; /* sizeof(struct pd_samples_options) */
	/* Lists of fields, one after another, as arguments of perf script -F: "comm,ip", "+misc", "sw:comm,ip". */
	const char *const *fields;
	size_t field_count;
	uint64_t max_stack;              /* entries of a call chain that are printed; see PD_SAMPLES_STACK */
	bool no_chains;                  /* only the address of the sample is printed */
	bool kernel_paths, source_paths; /* of modules and source files, in full */
	bool nanoseconds;
	bool relative, delta; /* times since the first or the previous sample; at most one of them */
	bool escape;          /* strings of the file are escaped, for a terminal */
	uint64_t types;       /* bit n: records of type n are printed too; bit 0: FINISHED_ROUND */
	unsigned threads;     /* as in pd_run_options */
	unsigned first_threads;
	/* Whether a sample is printed; and of those, by the location of its address. From any thread. */
	bool (*choose)(const void *self, const struct pd_samples_candidate *candidate);
	bool (*choose_place)(const void *self, const struct pd_place *place);
	/* See pd_run_options. */
	enum pd_status (*ready)(void *self, struct pd_window *window, struct pd_error *error);
	bool (*progress)(void *self, uint64_t done, uint64_t total);
	/* A pipe has more events than before. */
	enum pd_status (*learn)(void *self, struct pd_file *file, struct pd_error *error);
	/* Opens the symbols for this state, once. They are the caller's, and are closed before pd_samples_free. NULL:
	 * those of pd_symbols_new without options. */
	enum pd_status (*symbols)(void *self, struct pd_file *file, const struct pd_state *state,
				  struct pd_symbols **symbols_out, struct pd_error *error);
	pd_warn_fn *warn;
	void *self;     /* first argument of the functions */
	bool no_unwind; /* call chains as they were recorded: copied user stacks are not unwound */
	/* Whether a call chain ends with what is at a place. From any thread. */
	bool (*stops_at)(const void *self, const struct pd_place *place);
	bool stitch_lbr; /* see pd_unwind_options; by one thread */
	/* Where a sample of an event is printed; NULL: where other records are, in the text of pd_samples_new. By one thread. */
	struct pd_text *(*text_of)(void *self, const struct pd_event *event);
	enum pd_samples_raw raw; /* by one thread, and all records, whatever is selected */
	bool short_start; /* names of threads in eight characters, and CPUs without brackets, as perf script -L */
};

struct pd_samples_result {
	uint64_t sample_count;  /* samples read; 0 also if the file has none */
	uint64_t printed_count; /* samples, other records and counts that were printed */
	uint64_t copied_count;  /* printed samples with a copied user stack that was not unwound, for no_unwind */
	const struct pd_unwinder
		*unwinder; /* has counted how unwinding ended; NULL: there was nothing to unwind. Valid as
					     * long as the samples */
};

struct pd_samples;

/** Parses the options. text gets what is printed and must outlive samples. Errors: PD_ERROR_MEMORY; PD_ERROR_ARGUMENT for
 * fields. */
PD_API enum pd_status pd_samples_new(const struct pd_samples_options *options, struct pd_text *text,
				     struct pd_samples **samples_out, struct pd_error *error);
/** Prints only samples of a selection, which is made ready; stops, which may be NULL: call chains end with the functions that it has. Both
 * must outlive the samples. To be called before pd_samples_run or pd_samples_begin. The functions of the options are asked, too. */
PD_API void pd_samples_select(struct pd_samples *samples, struct pd_select *select, const struct pd_select *stops);
PD_API void pd_samples_free(struct pd_samples *samples);

/**
 * Prints a whole file, in time order, on several threads where that is possible. Errors: those of pd_run and of the functions
 * in the options; PD_ERROR_ARGUMENT: a requested field is not recorded; PD_ERROR_OUTPUT: the text's sink failed.
 */
PD_API enum pd_status pd_samples_run(struct pd_samples *samples, struct pd_file *file, struct pd_error *error);

/**
 * For a file that can be read only once: begin, then take each record of a stream in time order, which prints it, then flush.
 * Errors: as pd_samples_run.
 */
PD_API enum pd_status pd_samples_begin(struct pd_samples *samples, struct pd_file *file, struct pd_error *error);
PD_API enum pd_status pd_samples_take(struct pd_samples *samples, const struct pd_record *record,
				      struct pd_error *error);
/** What is printed may wait for more: puts it into the text. */
PD_API void pd_samples_flush(struct pd_samples *samples);

/** The same in one call. What is printed is written out where a pipe ends a round. progress is called; ready is not. */
PD_API enum pd_status pd_samples_run_once(struct pd_samples *samples, struct pd_file *file, struct pd_error *error);

/** Counts so far. */
PD_API struct pd_samples_result pd_samples_result(const struct pd_samples *samples);

#ifdef __cplusplus
}
#endif
#endif
